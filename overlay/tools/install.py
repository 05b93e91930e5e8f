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
from overlay.core.errors import OverlayError
from overlay.core.in_force import current_stack, natively
from overlay.core.location import caller

__all__ = ["Installed", "ProgramSession", "Session", "install", "session_of_console"]

_ATTRIBUTE = "_overlay_session"


class Session:
    """A session that runs code piece by piece: its installed contexts, outermost first."""

    def __init__(self, *contexts: Context) -> None:
        self.contexts: list[Context] = [*contexts]

    def add(self, context: Context) -> None:
        """Install a context inside those that are installed."""
        self.contexts.append(context)

    def drop(self, context: Context) -> None:
        """Uninstall the innermost entry of a context."""
        del self.contexts[self._place(context)]

    def _place(self, context: Context) -> int:
        places = reversed(range(len(self.contexts)))
        return next(i for i in places if self.contexts[i] is context)

    @contextlib.contextmanager
    def prepared(self, piece: CodeType, namespace: dict[str, Any]) -> Generator[CodeType]:
        """Context manager that puts the contexts in force and yields the code to run instead of
        ``piece``."""
        stack = self._stack()
        if stack is None:
            yield piece
            return
        engine = stack.python
        engine.settle()
        try:
            with entered(stack), _of_whole_program(stack):
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


@contextlib.contextmanager
def _of_whole_program(stack: Stack) -> Generator[None]:
    """Context manager in which imported modules run in the stack, too."""
    before, stack.is_whole_program = stack.is_whole_program, True
    try:
        yield
    finally:
        stack.is_whole_program = before


class ProgramSession(Session):
    """The program that already runs in the main thread: contexts are in force from the next call
    on, as in a ``with`` block that is not ended."""

    def __init__(self) -> None:
        super().__init__()
        self._blocks: list[tuple[Stack, bool]] = []  # each with what it was before

    def add(self, context: Context) -> None:
        """Enter a context. Raises OverlayError where the caller is not the program itself."""
        self._refuse_elsewhere(context, "install")
        if not self.contexts:
            atexit.register(self.leave)
        context.__enter__()
        stack = current_stack()
        assert stack is not None
        self._blocks.append((stack, stack.is_whole_program))
        self.contexts.append(context)
        stack.is_whole_program = True

    def drop(self, context: Context) -> None:
        """Leave a context, and enter those again that are installed inside it."""
        self._refuse_elsewhere(context, "remove")
        place = self._place(context)
        inside = self.contexts[place + 1 :]
        while len(self._blocks) > place:
            stack, stack.is_whole_program = self._blocks.pop()
            self.contexts.pop().__exit__(None, None, None)
        for each in inside:
            self.add(each)
        if not self.contexts:
            atexit.unregister(self.leave)

    def leave(self) -> None:
        """Uninstall all contexts, at the end of the program."""
        while self.contexts and self._elsewhere() is None:
            self.drop(self.contexts[-1])

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
        if self._blocks:
            at_top = stack is self._blocks[-1][0]
        else:
            at_top = stack is None or stack.is_whole_program
        if at_top:
            return None
        return "outside of its contexts" if stack is None else f"inside {stack.context!r}"


PROGRAM = ProgramSession()


class Installed:
    """Handle of an installed context. ``remove()``, or leaving a ``with`` block, uninstalls it."""

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
    """Run all later top-level code in ``context``, and return the handle.

    In IPython and Jupyter these are the later cells; at a prompt the later inputs; in a script all
    that comes after the call, at top level and in functions that already run, with the modules
    that it imports and the threads and tasks that it starts. Contexts that are already installed
    stay in force, outside of it. Raises OverlayError where a script calls it in a thread, in a
    task, or inside a context that is not installed: there it would end with these.
    """
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
    """The session of a console of the standard library's ``code``, as Python's own prompt is one
    from 3.13 on: its method ``runcode`` runs each input."""
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
