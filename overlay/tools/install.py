"""A context for all later top-level code: of a script, a prompt, a notebook."""

from __future__ import annotations

import atexit
import contextlib
import functools
import sys
import threading
from collections.abc import Generator
from types import CodeType, FrameType
from typing import Any

from overlay.contexts.context import Context
from overlay.contexts.stack import Stack, entered
from overlay.contexts.with_blocks import enter
from overlay.core.errors import OverlayError
from overlay.core.in_force import current_stack, natively
from overlay.core.location import caller

__all__ = ["Installed", "ProgramSession", "Session", "install", "session_of_console"]

_ATTRIBUTE = "_overlay_session"


class Session:
    """A session that runs code piece by piece, each in the stacks of its installed contexts,
    outermost first.
    """

    def __init__(self) -> None:
        self.stacks: list[Stack] = []

    def add(self, context: Context) -> None:
        """Install a context inside those that are installed."""
        outer = self.stacks[-1] if self.stacks else None
        self.stacks.append(Stack.of_program(context, outer))

    def drop(self, context: Context) -> None:
        """Uninstall the innermost entry of a context, and none of those inside it."""
        place = max(i for i, stack in enumerate(self.stacks) if stack.context is context)
        inside = [stack.context for stack in self.stacks[place + 1 :]]
        self._shorten(place)
        for each in inside:
            self.add(each)

    def _shorten(self, count: int) -> None:
        del self.stacks[count:]

    @contextlib.contextmanager
    def prepared(self, piece: CodeType, namespace: dict[str, Any]) -> Generator[CodeType]:
        """Context manager that puts the contexts in force and yields the code to run instead of
        ``piece``."""
        if not self.stacks:
            yield piece
            return
        stack = self.stacks[-1]
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
                engine.quietly(stack.calls.forget)


class ProgramSession(Session):
    """The program that already runs in the main thread: contexts are in force from the next call
    on, as in a ``with`` block that does not end.
    """

    def add(self, context: Context) -> None:
        """Enter a context. Raises OverlayError where the caller is not the program itself."""
        self._refuse_elsewhere(context, "install")
        if not self.stacks:
            atexit.register(self.leave)
        stack = Stack.of_program(context, current_stack())
        enter(context, stack)
        self.stacks.append(stack)

    def drop(self, context: Context) -> None:
        """Leave a context, and enter those again that are installed inside it."""
        self._refuse_elsewhere(context, "remove")
        super().drop(context)
        if not self.stacks:
            atexit.unregister(self.leave)

    def _shorten(self, count: int) -> None:
        while len(self.stacks) > count:
            self.stacks.pop().context.__exit__(None, None, None)

    def leave(self) -> None:
        """Uninstall all contexts, at the end of the program."""
        while self.stacks and self._elsewhere() is None:
            self.drop(self.stacks[-1].context)

    def _refuse_elsewhere(self, context: Context, what: str) -> None:
        place = self._elsewhere()
        if place is not None:
            raise OverlayError(
                f"cannot {what} {context!r} {place}: what is installed holds for the whole program",
                where=caller(),
                help=f"{what} it at the top level of the program, or run a part of it by ctx(f) "
                "or `with ctx:`",
            )

    def _elsewhere(self) -> str | None:
        """The place of the caller, if a context that is entered there would not hold for the
        program."""
        if threading.current_thread() is not threading.main_thread():
            return "in a thread"
        events: Any = sys.modules.get("asyncio.events")
        if events is not None and events._get_running_loop() is not None:
            return "in a task"
        stack = current_stack()
        if self.stacks:
            at_top = stack is self.stacks[-1]
        else:
            at_top = stack is None or stack.is_whole_program
        if at_top:
            return None
        return "outside of its contexts" if stack is None else f"inside {stack.context!r}"


PROGRAM = ProgramSession()


class Installed:
    """Handle of an installed context. ``remove()``, or leaving a ``with`` block, uninstalls it.

    Examples
    --------
    >>> from overlay import Context, current_context, install
    >>> installed = install(Context(metadata=3))
    >>> current_context().metadata
    3
    >>> installed.remove()
    """

    def __init__(self, session: Session, context: Context) -> None:
        self.context = context
        natively(session.add, context)
        self._session: Session | None = session

    def __repr__(self) -> str:
        state = "removed" if self._session is None else "in force"
        return f"<Installed {self.context!r}: {state}>"

    def remove(self) -> None:
        """Uninstall the context; later top-level code runs without it. Calling it again does
        nothing."""
        if self._session is not None:
            natively(self._session.drop, self.context)
            self._session = None

    def __enter__(self) -> Installed:
        return self

    def __exit__(self, *error: object) -> None:
        self.remove()


def install(context: Context) -> Installed:
    """Run all later top-level code in a context.

    In IPython and Jupyter these are the later cells; at a prompt the later inputs; in a script
    all that comes after the call, at top level and in functions that already run, with the
    modules that it imports and the threads and tasks that it starts. Contexts that are already
    installed stay in force, outside of it.

    Parameters
    ----------
    context : Context
        The context that is installed.

    Returns
    -------
    Installed
        The handle: its ``remove()``, or leaving ``with install(context):``, uninstalls.

    Raises
    ------
    OverlayError
        ``context`` is no context. Or a script calls it in a thread, in a task, or inside a
        context that is not installed: there it would end with these.

    Examples
    --------
    >>> import math
    >>> from overlay import Context, MethodTable, install
    >>> table = MethodTable("flat")
    >>> _ = table.overlay(math.sin)(lambda x: 0.0)
    >>> with install(Context(table)):
    ...     math.sin(1.0)
    0.0
    >>> math.sin(0.5) > 0.4
    True
    """
    given: Any = context
    if not isinstance(given, Context):
        raise OverlayError(
            f"install takes a context; {context!r} was given",
            where=caller(),
            help="install(Context(table))",
        )
    return Installed(_session(), context)


def _session() -> Session:
    ipython: Any = sys.modules.get("IPython")
    shell: Any = None if ipython is None else ipython.get_ipython()
    if shell is not None:
        return _session_of_shell(shell)
    consoles: Any = sys.modules.get("code")
    frame: FrameType | None = sys._getframe(1)
    while consoles is not None and frame is not None:
        console = frame.f_locals.get("self") if frame.f_code.co_name == "runcode" else None
        if isinstance(console, consoles.InteractiveInterpreter):
            return session_of_console(console)
        frame = frame.f_back
    return PROGRAM


def session_of_console(console: Any) -> Session:
    """The session of a console of the standard library's ``code``, whose method ``runcode`` runs
    each input. Python's own prompt is one from 3.13 on.
    """
    found = console.__dict__.get(_ATTRIBUTE)
    if found is not None:
        return found
    session = console.__dict__[_ATTRIBUTE] = Session()
    native = console.runcode

    @functools.wraps(native)
    def runcode(piece: CodeType) -> None:
        with session.prepared(piece, console.locals) as prepared:
            native(prepared)

    console.runcode = runcode
    return session


def _session_of_shell(shell: Any) -> Session:
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
