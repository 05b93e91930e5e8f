"""Reports of compilations: log records, a progress line while one lasts, and the history of a
context, which ``ctx.compilations`` returns.

Records go to the logger ``overlay.compiled``: at INFO each function that is compiled (before
and after) or loaded from disk, at DEBUG each call that is resolved. The line is shown in an
interactive terminal and in notebooks. The environment variable ``OVERLAY_PROGRESS`` overrides this
for any stream: 0 for no, 1 for yes.
"""

from __future__ import annotations

import contextlib
import itertools
import logging
import os
import shutil
import sys
import threading
import time
import weakref
from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TextIO

from overlay.core.in_force import outside

if TYPE_CHECKING:
    from overlay.compiled.basis import CompiledCode
    from overlay.contexts.compilations import Cause, Compilation

__all__ = [
    "FIRST_CALL",
    "IS_INTERACTIVE",
    "LOG",
    "PROGRESS",
    "CompilationHistory",
    "ProgressLine",
    "Why",
    "reported",
    "resolved",
]

LOG: Final = logging.getLogger("overlay.compiled")

PROGRESS: Final = "OVERLAY_PROGRESS"
# Whether the interpreter is interactive; IPython sets sys.ps1 too, also in notebooks.
IS_INTERACTIVE: Final = hasattr(sys, "ps1") or bool(sys.flags.interactive)
FIRST_CALL: Final = "first call with these types"
MOST_RECORDED: Final = 100
"""The most compilations of one function that a history keeps."""
AFTER: Final = 1.0
"""Seconds after which the line of a compilation appears."""
INTERVAL: Final = 0.2
"""Seconds between two updates of the line."""


class Why(NamedTuple):
    """The reason for a compilation, in one line, and the changes since the last one."""

    text: str
    causes: tuple[Cause, ...] = ()


@dataclass(frozen=True)
class _Recorded:
    """A compilation in a history. key: distinguishes the code from other code of the function.
    code: the code, as long as it lives.
    """

    number: int
    key: Hashable
    compilation: Compilation
    code: Callable[[], CompiledCode | None]


class CompilationHistory:
    """The compilations of one compiled context. It holds functions weakly, and stores the last
    compilations of each.
    """

    def __init__(self) -> None:
        self._of: weakref.WeakKeyDictionary[FunctionType, deque[_Recorded]] = (
            weakref.WeakKeyDictionary()
        )

    def last(self, function: FunctionType, key: Hashable) -> _Recorded | None:
        """The last compilation of a function with this key."""
        same = (each for each in reversed(self._of.get(function, ())) if each.key == key)
        return next(same, None)

    def add(
        self,
        function: FunctionType,
        key: Hashable,
        compilation: Compilation,
        code: CompiledCode | None,
    ) -> None:
        """Record a compilation."""
        alive = _nothing if code is None else weakref.ref(code)
        records = self._of.setdefault(function, deque(maxlen=MOST_RECORDED))
        records.append(_Recorded(next(_numbers), key, compilation, alive))

    def of(self, function: FunctionType | None) -> Iterator[tuple[int, Compilation]]:
        """The compilations of a function, and of former ones of its name; None: of all functions.
        Each comes with a number that orders those of several contexts.
        """
        for each, records in list(self._of.items()):
            if function is None or each is function or _has_name_of(each, function):
                yield from ((record.number, record.compilation) for record in list(records))


_numbers: Final = itertools.count()


def _nothing() -> None:
    """The code of a compilation that failed."""


def _has_name_of(one: FunctionType, other: FunctionType) -> bool:
    """Whether one function was, or will be, bound anew by the other one's definition."""

    def name(function: FunctionType) -> tuple[str, str | None, str]:
        return function.__qualname__, function.__module__, function.__code__.co_filename

    return name(one) == name(other) and "<" not in one.__qualname__


@contextmanager
def reported(
    function: FunctionType, types: Iterable[Any], why: str, verb: str = "compiled"
) -> Generator[None]:
    """Report the compilation of a function for argument types, which is the block."""
    name, shown = function.__qualname__, ", ".join(map(str, types))
    if verb == "compiled":
        _log(logging.INFO, "compiling %s(%s): %s", name, shown, why)
    begun = time.perf_counter()
    with _shown(f"compiling {name} for ({shown})"):
        try:
            yield
        except BaseException as error:
            seconds, kind = time.perf_counter() - begun, type(error).__name__
            _log(logging.INFO, "not %s: %s(%s), in %.3f s: %s", verb, name, shown, seconds, kind)
            raise
    _log(
        logging.INFO, "%s %s(%s) in %.3f s: %s",
        verb, name, shown, time.perf_counter() - begun, why,
    )  # fmt: skip


def resolved(call: str, entered: str) -> None:
    """Report the resolution of a call."""
    _log(logging.DEBUG, "%s enters %s", call, entered)


def _log(level: int, message: str, *args: Any) -> None:
    """Log a message. The code of ``logging`` does not run in contexts of the program."""
    if LOG.isEnabledFor(level):
        outside(LOG.log, level, message, *args, stacklevel=4)


# ---- the line -----------------------------------------------------------------------------


def _stream() -> TextIO | None:
    """The stream for the progress line; None where none is shown."""
    asked, stream = os.environ.get(PROGRESS, ""), sys.stderr
    if asked in {"0", "1"}:
        return stream if asked == "1" else None
    is_notebook = type(stream).__module__.partition(".")[0] == "ipykernel"
    return stream if IS_INTERACTIVE and (is_notebook or stream.isatty()) else None


class ProgressLine:
    """A line that is overwritten with the time that a task has taken, and erased at the end.

    clock: the time in seconds. waits: waits for the end, at most so many seconds; returns whether
    the task has ended.
    """

    def __init__(
        self,
        stream: TextIO,
        text: str,
        clock: Callable[[], float] = time.monotonic,
        waits: Callable[[threading.Event, float], bool] = threading.Event.wait,
    ) -> None:
        self._stream, self._text = stream, text
        self._clock, self._waits = clock, waits
        self._ended = threading.Event()
        self._width = 0

    def run(self) -> None:
        """Show the line until the end."""
        with contextlib.suppress(OSError, ValueError):  # of a stream that is closed
            self._run()

    def _run(self) -> None:
        begun = self._clock()
        while not self._waits(self._ended, INTERVAL):
            passed = self._clock() - begun
            if passed >= AFTER:
                self._write(f"{self._text} … {passed:.0f} s")
        if self._width:
            self._write("")
            self._stream.write("\r")
            self._stream.flush()

    def end(self) -> None:
        """Stop and erase the line."""
        self._ended.set()

    def _write(self, text: str) -> None:
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        fits = shutil.get_terminal_size().columns - 1
        text = text.encode(encoding, "replace").decode(encoding)
        if len(text) > fits:
            end = text[-(fits // 3) :]
            text = text[: fits - len(end)] + end
        self._stream.write(f"\r{text.ljust(self._width)}")
        self._stream.flush()
        self._width = len(text)


# held while a line is shown: of nested compilations, and of those in other threads, only one has
# a line
_showing: Final = threading.Lock()


@contextmanager
def _shown(text: str) -> Generator[None]:
    """Show a line while the block runs, unless lines are disabled or one is shown."""
    stream = _stream()
    if stream is None or not _showing.acquire(blocking=False):
        yield
        return
    try:
        line = ProgressLine(stream, text)
        thread = threading.Thread(target=line.run, name="overlay-progress", daemon=True)
        with contextlib.suppress(RuntimeError):  # there are no more threads
            outside(thread.start)
        try:
            yield
        finally:
            line.end()
            if thread.ident is not None:
                outside(thread.join)
    finally:
        _showing.release()
