"""A context for all later top-level code of an interactive session."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Generator
from types import CodeType
from typing import Any

from overlay.contexts.context import Context
from overlay.contexts.stack import Stack, entered
from overlay.core.errors import OverlayError
from overlay.core.location import caller

__all__ = ["Installed", "Session", "install", "sessions"]

_ATTRIBUTE = "_overlay_session"


class Session:
    """An interactive session: its installed contexts, outermost first."""

    def __init__(self) -> None:
        self.contexts: list[Context] = []

    @contextlib.contextmanager
    def prepared(self, piece: CodeType, namespace: dict[str, Any]) -> Generator[CodeType]:
        """Context manager that puts the contexts in force and yields the code to run instead of
        ``piece``."""
        stack = self._stack()
        if stack is None:
            yield piece
            return
        stack.is_whole_program = True
        engine = stack.python
        engine.settle()
        try:
            with entered(stack):
                yield piece
        except RecursionError as error:
            engine.explain_recursion(error)
            raise
        finally:
            if stack.calls is not None:
                stack.calls.end_run()

    def _stack(self) -> Stack | None:
        stack: Stack | None = None
        for context in self.contexts:
            stack = context._alone if stack is None else stack.push(context)
        return stack


class Installed:
    """Handle of an installed context. ``remove()``, or leaving a ``with`` block, uninstalls it."""

    def __init__(self, session: Session, context: Context) -> None:
        self.context = context
        self._session: Session | None = session
        session.contexts.append(context)

    def __repr__(self) -> str:
        state = "removed" if self._session is None else "in force"
        return f"<Installed {self.context!r}: {state}>"

    def remove(self) -> None:
        """Uninstall the context; later top-level code runs without it. Calling it again does
        nothing."""
        session, self._session = self._session, None
        if session is not None:
            place = next(
                i
                for i in reversed(range(len(session.contexts)))
                if session.contexts[i] is self.context
            )
            del session.contexts[place]

    def __enter__(self) -> Installed:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


sessions: list[Session] = []
"""The sessions of running consoles, innermost last."""


def install(context: Context) -> Installed:
    """Run all later top-level code of this session in ``context``, and return the handle.

    In IPython and Jupyter these are the later cells; in the console of ``python -m overlay run``,
    the later inputs. Contexts that are already installed stay in force, outside of it. Raises
    OverlayError elsewhere: Python's own prompt has no hook for it, and a script is one piece that
    already runs.
    """
    session = _session()
    if session is None:
        raise OverlayError(
            f"cannot install {context!r}: this session does not run code piece by piece in a way "
            "that can be redirected",
            where=caller(),
            help="in a script call ctx(main), or run it by `python -m overlay run --context "
            "package.module:ctx script.py`; for a prompt use IPython, or leave script.py out",
        )
    return Installed(session, context)


def _session() -> Session | None:
    if sessions:
        return sessions[-1]
    ipython: Any = sys.modules.get("IPython")
    shell: Any = None if ipython is None else ipython.get_ipython()
    return None if shell is None else _session_of(shell)


def _session_of(shell: Any) -> Session:
    """The session of an IPython shell, whose method ``run_code`` runs each cell."""
    found = shell.__dict__.get(_ATTRIBUTE)
    if found is not None:
        return found
    session = shell.__dict__[_ATTRIBUTE] = Session()
    native = shell.run_code

    async def run_code(code_obj: CodeType, result: Any = None, *, async_: bool = False) -> Any:
        with session.prepared(code_obj, shell.user_global_ns) as piece:
            return await native(piece, result, async_=async_)

    shell.run_code = run_code
    return session
