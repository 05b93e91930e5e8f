"""Kernels, and the tables that show whether a context reaches the calls in them."""

import inspect
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from overlay import Context, MethodTable, call_next

__all__ = ["Kernel", "calls_in_context", "native_calls", "reaching"]

SUSPENDS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


@dataclass(frozen=True)
class Kernel:
    """A small program.

    run: runs it once, for 5 to 40 ms natively; its results can be compared between runs.
    probe: a callable that the program calls, which shows whether a context reaches it.
    arity: the number of positional arguments that the program passes to the probe.
    method: the replacement of the probe, or None for one that calls the probe.
    """

    name: str
    run: Callable[[], Any]
    probe: Callable[..., Any]
    arity: int
    method: Callable[..., Any] | None = None


_GOING_ON = {
    1: lambda a: call_next(a),
    2: lambda a, b: call_next(a, b),
}


def reaching(kernel: Kernel) -> MethodTable:
    """A table with one method of the probe."""
    table = MethodTable("reaching")
    table.overlay(kernel.probe)(kernel.method or _GOING_ON[kernel.arity])
    return table


def calls_in_context(kernel: Kernel) -> int:
    """The number of the probe's calls that a method of it gets in one run."""
    table, count = MethodTable("counting"), 0

    @table.overlay(kernel.probe)
    def counted(*args, **kwargs):
        nonlocal count
        count += 1
        return call_next(*args, **kwargs)

    Context(table)(kernel.run)
    return count


def native_calls(kernel: Kernel) -> int | None:
    """The number of the probe's calls that the interpreter reports in one run with no context; None
    where it also reports resumptions of suspended functions as calls."""
    code, count = getattr(kernel.probe, "__code__", None), 0
    if code is not None and code.co_flags & SUSPENDS:
        return None

    def profile(frame, event, called):
        nonlocal count
        if event == "call" and code is not None:
            count += frame.f_code is code
        elif event == "c_call" and code is None:
            count += called is kernel.probe

    sys.setprofile(profile)
    try:
        kernel.run()
    finally:
        sys.setprofile(None)
    return count
