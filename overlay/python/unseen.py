"""Functions of ours that leave no frame for a program to see.

To the interpreter a frame has begun when it has come past its RESUME instruction. One that never
comes to it is in no traceback, no ``f_back`` and no ``sys._getframe``; warnings do not count it,
and trace functions are not told of it.
"""

from __future__ import annotations

import dis
import functools
import inspect
import sys
from collections.abc import Callable, Iterator
from types import CodeType, FunctionType, MethodType, ModuleType
from typing import Any, TypeVar

from overlay.python.kept import WeakObjects
from overlay.python.own_builtins import __builtins__  # noqa: F401
from overlay.table import LOCK

__all__ = ["all_unseen", "follow_profiler", "unobserved", "unseen"]

F = TypeVar("F", bound=Callable[..., Any])

_OLD = sys.version_info[:2] == (3, 11)
_NOP, _RESUME = dis.opmap["NOP"], dis.opmap["RESUME"]
_FORWARD, _BACKWARD = dis.opmap.get("JUMP_FORWARD", 0), dis.opmap.get("JUMP_BACKWARD", 0)
_SUSPENDS = (
    inspect.CO_GENERATOR
    | inspect.CO_COROUTINE
    | inspect.CO_ASYNC_GENERATOR
    | inspect.CO_ITERABLE_COROUTINE
)
_UNITS = 255  # as far as a jump goes without a prefix


def unseen(function: F) -> F:
    """``function`` itself, without a frame. Not for generators and coroutines."""
    assert type(function) is FunctionType
    with LOCK:
        _profiler.functions.add(function)
        if not _profiler.shown:
            _hide(function)
    return function


def unobserved(function: F) -> F:
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


def all_unseen(*modules: ModuleType) -> None:
    """Every function that these modules define, and those made in them, without frames."""
    for module in modules:
        for found in list(vars(module).values()):
            if getattr(found, "__module__", None) != module.__name__:
                continue
            for function in _functions_of(found):
                if _may_hide(function.__code__):
                    unseen(function)


def _functions_of(found: Any) -> Iterator[FunctionType]:
    held = vars(found).values() if isinstance(found, type) else (found,)
    for function in held:
        inner = getattr(function, "__func__", getattr(function, "fget", function))
        if type(inner) is FunctionType:
            yield inner


def follow_profiler() -> int:
    """Where a run begins with a profiler, our frames are to be seen: without them it would not
    be told of the C functions that they call, and before Python 3.12 of their ends alone. The
    number that it gives changes with that: functions made by ours are as they were made."""
    if _is_profiled() is not _profiler.shown:
        with LOCK:
            _profiler.shown = not _profiler.shown
            for function in _profiler.functions:
                _show(function) if _profiler.shown else _hide(function)
            _profiler.turns += 1
    return _profiler.turns


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
        self.turns = 0
        self.functions = WeakObjects[FunctionType]()


_profiler = _Profiler()
_originals: dict[CodeType, CodeType] = {}


def _hide(function: FunctionType) -> None:
    if function.__code__ not in _originals:
        function.__code__ = _without_frame(function.__code__)


def _show(function: FunctionType) -> None:
    function.__code__ = _originals[function.__code__]


@functools.cache
def _without_frame(code: CodeType) -> CodeType:
    assert not code.co_flags & _SUSPENDS
    units = bytearray(code.co_code)
    resume = next(i.offset for i in dis.get_instructions(code) if i.opcode == _RESUME)
    units[resume : resume + 2] = bytes((_NOP, 0))
    if _OLD:
        _keep_warming(units, resume)
    inner = (_without_frame(c) if _may_hide(c) else c for c in code.co_consts)
    hidden = code.replace(co_code=bytes(units), co_consts=tuple(inner))
    _originals[hidden] = code
    return hidden


def _may_hide(constant: Any) -> bool:
    """Whether it is the code of a function that runs through, and does not look at its own frame
    as ``super()`` does."""
    if type(constant) is not CodeType or not constant.co_flags & inspect.CO_OPTIMIZED:
        return False
    return not constant.co_flags & _SUSPENDS and "__class__" not in constant.co_freevars


def _keep_warming(units: bytearray, resume: int) -> None:
    """Until 3.12, RESUME counts the calls after which code is specialised, and so do jumps
    backwards: one comes in its place, behind the end."""
    after = resume + 2
    forward, back = (len(units) - after) // 2, (len(units) - after) // 2 + 1
    if back <= _UNITS:
        units[resume:after] = bytes((_FORWARD, forward))
        units += bytes((_BACKWARD, back))
