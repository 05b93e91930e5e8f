"""Kernels of numba's own making: ``@vectorize`` and ``@guvectorize`` functions.

In a world a kernel is made again, around the same Python function compiled in that world.
"""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from numba import njit
from numba.np.ufunc.dufunc import DUFunc
from numba.np.ufunc.gufunc import GUFunc

from overlay.compiled.resolved_calls import GLUE
from overlay.core.target import is_below

if TYPE_CHECKING:
    from overlay.compiled.numba.dispatchers import InnerDispatcher
    from overlay.compiled.world import World

__all__ = ["compiled_of_kernel", "is_kernel", "kernel_in"]

# What decides the results of the function that a kernel applies.
OPTIONS = ("fastmath", "boundscheck")


def is_kernel(value: Any) -> bool:
    """Whether it is what ``@vectorize`` or ``@guvectorize`` made, to run on one core."""
    kind = type(value)  # isinstance would run code of the value
    return is_below(kind, DUFunc) or is_below(kind, GUFunc)


def compiled_of_kernel(kernel: Any) -> list[Any]:
    """The compiled code of a kernel's function."""
    found = getattr(kernel, "_dispatcher", None)
    return [] if found is None else list(found.overloads.values())


def kernel_in(world: World, kernel: Any) -> tuple[Any, InnerDispatcher]:
    """The same kernel, whose function sees the tables of a world; and what compiles that."""
    make = _vectorized if is_below(type(kernel), DUFunc) else _generalized
    return make(world, kernel)


def _vectorized(world: World, kernel: Any) -> tuple[Any, InnerDispatcher]:
    function, inner = _around(world, kernel._dispatcher.py_func, kernel._dispatcher.targetoptions)
    identity = "reorderable" if kernel.identity is None and kernel.reorderable else kernel.identity
    made = DUFunc(function, identity=identity)
    for code in kernel._dispatcher.overloads.values():
        if kernel._frozen:
            made.add(code.signature)
    if kernel._frozen:
        made.disable_compile()
    return made, inner


def _generalized(world: World, kernel: Any) -> tuple[Any, InnerDispatcher]:
    states = kernel._reduce_states()
    states["py_func"], inner = _around(world, states["py_func"], states["targetoptions"])
    states["cache"] = False
    return GUFunc._rebuild(**states), inner


def _around(world: World, function: Any, options: Any) -> tuple[Any, InnerDispatcher]:
    """A function of as many arguments that calls ``function`` in a world, and what compiles
    that."""
    kept = {name: options[name] for name in OPTIONS if options.get(name)}
    inner = world.dispatcher(njit(error_model="numpy", **kept)(function))
    world.keep(inner)
    names = ", ".join(inspect.signature(function).parameters)
    namespace: dict[str, Any] = {"inner": inner, "__name__": function.__module__}
    source = f"def kernel({names}): return inner({names})"
    exec(compile(source, GLUE, "exec"), namespace)
    made = namespace["kernel"]
    made.__name__ = made.__qualname__ = function.__name__
    return made, inner
