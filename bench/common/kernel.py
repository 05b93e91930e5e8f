"""What a kernel is, and what shows that a context gets to the calls in it."""

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

    run: runs it once, for 5 to 40 ms natively; gives a value that two runs can compare.
    probe: a callable that the program calls, by which is shown that a context gets there.
    arity: how many positional arguments the program gives the probe.
    method: what stands in for the probe, or None for one that goes on to the probe.
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
    """How many calls of the probe a method of it sees in one run."""
    table, count = MethodTable("counting"), 0

    @table.overlay(kernel.probe)
    def counted(*args, **kwargs):
        nonlocal count
        count += 1
        return call_next(*args, **kwargs)

    Context(table)(kernel.run)
    return count


def native_calls(kernel: Kernel) -> int | None:
    """How many calls of the probe the interpreter reports in one run with no context; None
    where it reports suspended functions that go on as calls too."""
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
