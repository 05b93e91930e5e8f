"""Functions of ours that leave no frame for a program to see, and when they do after all."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any, TypeVar

from overlay.code.own_builtins import __builtins__  # noqa: F401
from overlay.python.frameless import with_frame, without_frame
from overlay.python.kept import WeakObjects
from overlay.table import LOCK

__all__ = ["follow_profiler", "unobserved", "unseen"]

F = TypeVar("F", bound=Callable[..., Any])


def unseen[F: Callable[..., Any]](function: F) -> F:
    """``function`` itself, without a frame. Not for generators and coroutines."""
    assert type(function) is FunctionType
    with LOCK:
        _profiler.functions.add(function)
        if not _profiler.shown:
            _hide(function)
    return function


def unobserved[F: Callable[..., Any]](function: F) -> F:
    """The same, where all that ``function`` calls is ours: a debugger that steps through the
    program does not come here, if it is written in Python, and at the recursion limit there are
    some frames more, since natively there would be no call."""

    @functools.wraps(function)
    def quiet(*args: Any) -> Any:
        tracer = sys.gettrace()
        traced = type(tracer) in (FunctionType, MethodType)
        if traced:
            sys.settrace(None)
        try:
            return function(*args)
        except RecursionError:
            with _room:
                return function(*args)
        finally:
            if traced:
                sys.settrace(tracer)

    return unseen(quiet)  # pyright: ignore[reportReturnType]


def follow_profiler() -> None:
    """Where a run begins with a profiler, our frames are to be seen: without them it would not
    be told of the C functions that they call."""
    if _is_profiled() is not _profiler.shown:
        with LOCK:
            _profiler.shown = not _profiler.shown
            for function in _profiler.functions:
                _show(function) if _profiler.shown else _hide(function)


def _is_profiled() -> bool:
    if sys.getprofile() is not None:
        return True
    monitoring: Any = getattr(sys, "monitoring", None)  # where cProfile is from Python 3.12 on
    return monitoring is not None and monitoring.get_tool(monitoring.PROFILER_ID) is not None


class _Room:
    """More frames than the recursion limit allows, as few as no interpreter dies of."""

    frames = 45

    def __init__(self) -> None:
        self.users = 0

    def __enter__(self) -> None:
        with LOCK:
            limit = sys.getrecursionlimit()
            sys.setrecursionlimit(limit)  # an error where it could not be set back
            if self.users == 0:
                sys.setrecursionlimit(limit + self.frames)
            self.users += 1

    def __exit__(self, *error: object) -> None:
        with LOCK:
            self.users -= 1
            if self.users == 0:
                sys.setrecursionlimit(sys.getrecursionlimit() - self.frames)


_room = _Room()


class _Profiler:
    """Whether frames are shown, and the functions that have none otherwise."""

    def __init__(self) -> None:
        self.shown = False
        self.functions = WeakObjects[FunctionType]()


_profiler = _Profiler()


def _hide(function: FunctionType) -> None:
    function.__code__ = without_frame(function.__code__)


def _show(function: FunctionType) -> None:
    function.__code__ = with_frame(function.__code__)
