"""Kernels run by the interpreter, in numba's GPU simulator."""

from __future__ import annotations

import functools
import sys
import threading
import types as python_types
from collections.abc import Callable
from typing import Any

from numba import cuda
from numba.cuda.simulator.kernel import _get_kernel_context
from numba.cuda.simulator.kernelapi import FakeCUDAAtomic, FakeCUDAShared

from overlay.contexts.context import Context
from overlay.core.table import MethodTable
from overlay.kernels import atomic_add

__all__ = ["simulated"]

_MADE = threading.Lock()
_SIMULATED = MethodTable("simulated kernels")


@_SIMULATED.overlay(atomic_add)
def _added_at_once(array: Any, index: Any, value: Any) -> None:
    FakeCUDAAtomic().add(array, index, value)


_SIMULATION = Context(_SIMULATED)
"""Context of all simulated kernels, below that of each."""


def simulated(context: Context, function: Any) -> Any:
    """A kernel of the simulator in which each thread runs a function in a context."""
    function = getattr(function, "py_func", function)
    # In closure cells: the kernel gets the function's globals instead of these.
    launch, agree, simulation = _get_kernel_context, _agree_on_shared_memory, _SIMULATION

    def run(*args: Any) -> None:
        agree(launch())
        simulation(context, function, *args)

    return cuda.jit(functools.wraps(function)(_among_names_of(function, run)))


def _among_names_of(function: Any, run: Callable[..., None]) -> Any:
    """A copy of ``run`` with the globals of another function, in which the simulator replaces
    ``numba.cuda`` by itself."""
    names = getattr(function, "__globals__", run.__globals__)
    code, cells = run.__code__, run.__closure__
    return python_types.FunctionType(code, names, run.__name__, None, cells)


class _SharedArrays(FakeCUDAShared):
    """Shared memory that makes each array once.

    The simulator's own looks an array up and then makes it, which two threads of a block may do at
    the same time; each of them then waits for values that the other writes elsewhere.
    """

    def array(self, *asked: Any, **named: Any) -> Any:
        """The array of the caller's line; for size 0, the memory that the launch reserves.

        Arguments are forwarded unchanged: numba's own simulator knows no alignment, that of
        numba-cuda does.
        """
        if named.get("shape", asked[0] if asked else None) == 0:
            return super().array(*asked, **named)
        caller = sys._getframe(1)
        line = (caller.f_code.co_filename, caller.f_lineno)
        with _MADE:
            if line not in self._allocations:
                # Made by a separate empty memory, as ``array`` takes its caller, this line, for the
                # key.
                self._allocations[line] = FakeCUDAShared(0).array(*asked, **named)
            return self._allocations[line]


def _agree_on_shared_memory(launch: Any) -> None:
    """Give a launch shared memory that its threads agree on."""
    with _MADE:
        if not isinstance(launch.shared, _SharedArrays):
            launch._shared = _SharedArrays(launch.shared._dynshared_size)
