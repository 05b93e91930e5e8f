"""Counts of the starts of functions: natively by the profiler, in a context by overlays.

A context should see each start, for every caller: an instruction, the interpreter itself or C code,
in this thread or in one that was started in the context.
"""

import dis
import functools
import gc
import importlib
import inspect
import sys
import threading
from collections.abc import Callable
from types import FrameType, FunctionType
from typing import Any

from overlay import MethodTable, call_next

_RESUME = dis.opmap["RESUME"]
_SUSPENDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
_CACHED = type(functools.lru_cache(len))
_IMPORTS = vars(sys.modules["importlib._bootstrap"])["_find_and_load"].__code__
Counts = dict[str, int]


def empty_caches() -> None:
    """Empty the cache of each function that has one, because the caches of a context are empty at
    first.
    """
    for each in gc.get_objects():
        if type(each) is _CACHED:
            each.cache_clear()


def found(name: str) -> FunctionType:
    """The function with the name ``module:qualified.name``, without decorators of classes."""
    module, _, path = name.partition(":")
    holder: Any = importlib.import_module(module)
    for part in path.split("."):
        holder = inspect.getattr_static(holder, part)
    holder = getattr(holder, "fget", holder)
    holder = getattr(holder, "__func__", holder)
    if not isinstance(holder, FunctionType):
        raise TypeError(f"{name} is not a Python function but {holder!r}")
    return holder


def overlay(table: MethodTable, name: str, counts: dict[str, int]) -> None:
    """Add a method to the table that counts the starts of ``name`` and does nothing else."""
    counts[name] = 0
    function = found(name)

    @table.overlay(function)
    def counted(*args: Any, **kwargs: Any) -> Any:
        counts[name] += 1
        try:
            return call_next(*args, **kwargs)
        except TypeError as error:
            counts[name] -= not started(error, function)
            raise


def started(error: TypeError, function: FunctionType) -> bool:
    """Whether an error came from a function's body: otherwise the arguments did not fit it, and
    it did not start."""
    code, trace = function.__code__, error.__traceback__
    place = code.co_filename, code.co_firstlineno
    while trace is not None:
        running = trace.tb_frame.f_code
        if (running.co_filename, running.co_firstlineno) == place:
            return True
        trace = trace.tb_next
    return False


def natively(names: list[str], run: Callable[[Any], Any], argument: Any) -> Counts:
    """Run ``run(argument)`` and count the starts of these functions, in each thread.

    Raises RuntimeError if the run has ended with another profiler, or none: an error in the
    profiler, such as at the limit of recursion, disables it silently.
    """
    starts = Starts(names)
    profiler = starts.event
    threading.setprofile(profiler)
    sys.setprofile(profiler)
    try:
        run(argument)
    finally:
        lost = sys.getprofile() is not profiler
        sys.setprofile(None)
        threading.setprofile(None)
    if lost:
        raise RuntimeError("the profiler was lost in the run")
    return starts.counts


class Starts:
    """Counter of the starts of functions."""

    def __init__(self, names: list[str]) -> None:
        self.counts: Counts = dict.fromkeys(names, 0)
        self.name_of = {id(found(name).__code__): name for name in names}

    def event(self, frame: FrameType, kind: str, argument: Any) -> None:
        """Callback of ``sys.setprofile``."""
        name = self.name_of.get(id(frame.f_code)) if kind == "call" else None
        if name is not None and is_start(frame) and not is_in_import(frame):
            self.counts[name] += 1


def is_start(frame: FrameType) -> bool:
    """Whether a call starts a frame; otherwise it resumes a generator."""
    if not frame.f_code.co_flags & _SUSPENDS:
        return True
    code, at = frame.f_code.co_code, frame.f_lasti
    return at <= 0 or (code[at] == _RESUME and code[at + 1] & 3 == 0)


def is_in_import(frame: FrameType) -> bool:
    """Whether a frame runs because a module is being imported; such code is in no context."""
    outer: FrameType | None = frame
    while outer is not None and outer.f_code is not _IMPORTS:
        outer = outer.f_back
    return outer is not None
