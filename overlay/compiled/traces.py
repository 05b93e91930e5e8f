"""Tracebacks of exceptions that are raised in compiled code."""

from __future__ import annotations

import ctypes
import functools
import os
import threading
from types import FrameType, FunctionType, TracebackType
from typing import Final, NamedTuple

import numba

from overlay.compiled.glue import GLUE

__all__ = ["NOTED", "TracePlace", "explain", "forget", "moved", "note", "raised_by_numba"]

SEPARATOR: Final = "\x1f"
# File names of functions that are not of the program.
GENERATED: Final = (GLUE, "<none>")
LIBRARY: Final = os.path.dirname(os.path.abspath(numba.__file__)) + os.sep
# The limit on the calls in a traceback; outer ones are dropped.
MOST: Final = 1000


class TracePlace(NamedTuple):
    """A line of a function, as an entry of a traceback."""

    name: str
    path: str
    line: int

    @classmethod
    def of(cls, function: FunctionType) -> TracePlace:
        """The first line of a function."""
        code = function.__code__
        return cls(code.co_name, code.co_filename, code.co_firstlineno)

    @staticmethod
    def joined(caller: TracePlace, callee: TracePlace | None) -> str:
        """Encode a call as one line of text."""
        return SEPARATOR.join(map(str, (*caller, *(callee or ()))))

    @staticmethod
    def parted(text: str) -> NotedCall:
        """Decode a call from the text of ``joined``."""
        name, path, line, *rest = text.split(SEPARATOR)
        callee = TracePlace(rest[0], rest[1], int(rest[2])) if rest else None
        return TracePlace(name, path, int(line)), callee

    def is_in(self, other: TracePlace) -> bool:
        """Whether both are in one function."""
        return self[:2] == other[:2]


# A call that an exception has left: its line, and the first line of the function that was called,
# or None where that is not known.
NotedCall = tuple[TracePlace, TracePlace | None]


class _Noted(threading.local):
    """The calls that exceptions have left in this thread, innermost first."""

    def __init__(self) -> None:
        self.calls: list[bytes] = []


_noted = _Noted()
# A lower bound of the number of calls noted in all threads: compiled code tests whether there are
# any.
NOTED: Final = ctypes.c_uint64(0)
# Maps file names that were temporary when code was compiled to their names in this process.
_moved: dict[str, str] = {}


def moved(old: str, new: str) -> None:
    """Record that code which was compiled in another process names a file ``old`` that is ``new``
    here."""
    if old != new:
        _moved[old] = new


def note(call: bytes) -> None:
    """Record a call in compiled code that an exception leaves."""
    if len(_noted.calls) < MOST:
        NOTED.value += 1
        _noted.calls.append(call)


def forget() -> None:
    """Drop the calls of an exception that compiled code catches."""
    NOTED.value -= min(len(_noted.calls), NOTED.value)
    _noted.calls.clear()


def explain(error: BaseException, entry: TracePlace) -> None:
    """Add the calls that an exception has left to its traceback.

    entry: the function that Python called.
    """
    calls = [TracePlace.parted(text.decode()) for text in _noted.calls]
    forget()
    is_cut = len(calls) == MOST
    raised = error.__traceback__
    if _moved:
        calls = [(_in_this_process(one), other and _in_this_process(other)) for one, other in calls]
        raised = _with_files_of_this_process(raised)
    chain = _last_chain(calls)
    in_library = raised is not None and _is_library(raised)
    if raised is not None and chain and not in_library:
        callee = chain[0][1]
        if callee is not None and not _raised_in(raised, callee):
            chain = []  # it belongs to an exception that was caught outside
    if raised is None or in_library:
        callee = chain[0][1] if chain else entry
        raised = None if callee is None else _trace(None, callee)
    for caller, _ in chain:
        raised = _trace(raised, caller)
    if is_cut:
        raised = _trace(raised, entry)
    error.__traceback__ = raised


def _in_this_process(place: TracePlace) -> TracePlace:
    return place._replace(path=_moved.get(place.path, place.path))


def _with_files_of_this_process(trace: TracebackType | None) -> TracebackType | None:
    if trace is None:
        return None
    inner = _with_files_of_this_process(trace.tb_next)
    code = trace.tb_frame.f_code
    if code.co_filename not in _moved:
        return TracebackType(inner, trace.tb_frame, trace.tb_lasti, trace.tb_lineno)
    frame = _frame(code.co_name, _moved[code.co_filename])
    return TracebackType(inner, frame, -1, trace.tb_lineno)


def _last_chain(calls: list[NotedCall]) -> list[NotedCall]:
    """The last calls that led to one another, innermost first."""
    chain: list[NotedCall] = []
    for call in reversed(calls):
        callee = chain[-1][1] if chain else None
        if callee is not None and not call[0].is_in(callee):
            break
        chain.append(call)
    return chain[::-1]


def _raised_in(trace: TracebackType, place: TracePlace) -> bool:
    code = trace.tb_frame.f_code
    return (code.co_name, code.co_filename) == place[:2]


def raised_by_numba(error: Exception) -> bool:
    """Whether numba's own code has raised an exception."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and _is_library(trace)


def _is_library(trace: TracebackType) -> bool:
    """Whether an implementation of numba's has raised the exception."""
    return trace.tb_frame.f_code.co_filename.startswith(LIBRARY)


def _trace(inner: TracebackType | None, place: TracePlace) -> TracebackType | None:
    """Add a call around ``inner``, unless its function is a generated one."""
    if place.path in GENERATED:
        return inner
    return TracebackType(inner, _frame(place.name, place.path), -1, place.line)


@functools.lru_cache(maxsize=1000)
def _frame(name: str, path: str) -> FrameType:
    """A finished frame of a function of this name."""
    code = compile("import sys; frame = sys._getframe()", path, "exec")
    namespace: dict[str, FrameType] = {}
    exec(code.replace(co_name=name, co_qualname=name), namespace)
    frame = namespace["frame"]
    frame.clear()
    return frame
