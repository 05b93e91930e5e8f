"""Operators of arrays, which are calls of numpy's ufuncs.

In the interpreter ``a + b`` of arrays calls ``np.add``, which may be a target. numba has
implementations of its own for these operators: where the ufunc is overlaid, compiled code calls it
in place of them.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numba.core import types
from numba.core.typing.npydecl import (
    NumpyRulesArrayOperator,
    NumpyRulesInplaceArrayOperator,
    NumpyRulesUnaryArrayOperator,
)

from overlay.compiled import failures
from overlay.compiled.glue import GLUE
from overlay.compiled.numba.numba_types import Type, refused

if TYPE_CHECKING:
    from overlay.compiled.world import World

__all__ = ["ufunc_called"]

_IN_PLACE: Final = {
    **NumpyRulesInplaceArrayOperator._op_map,
    operator.imatmul: "matmul",
}
_UFUNCS: Final = {
    **NumpyRulesArrayOperator._op_map,
    **NumpyRulesUnaryArrayOperator._op_map,
    operator.matmul: "matmul",
    **_IN_PLACE,
}
_POWERS: Final = (operator.pow, operator.ipow)
# what numpy computes in place of a power with an exponent that is one of Python's numbers
_OF_EXPONENTS: Final = (np.square, np.sqrt, np.reciprocal)
_made: dict[Any, Callable[..., Any]] = {}


def ufunc_called(world: World, function: Any, args: Sequence[Type]) -> Callable[..., Any] | None:
    """A function that calls the ufunc of an operator of arrays, where that enters a method; None
    for anything else. function: the callable or its numba type."""
    key = getattr(function, "typing_key", function)
    name = next((name for fn, name in _UFUNCS.items() if fn is key), None)
    if name is None or not any(isinstance(each, types.Array) for each in args):
        return None
    in_place = any(key is each for each in _IN_PLACE) and isinstance(args[0], types.Array)
    out = args[:1] if in_place else ()
    if any(key is each for each in _POWERS) and not isinstance(args[-1], types.Array):
        by = [(np.power, (*args, *out)), *((ufunc, (args[0], *out)) for ufunc in _OF_EXPONENTS)]
        entered = [ufunc for ufunc, given in by if _enters(world, ufunc, given)]
        if entered:
            raise refused(world, failures.power_of_array(entered[0]))
        return None
    ufunc = getattr(np, name)
    if not _enters(world, ufunc, (*args, *out)):
        return None
    return _call_of(ufunc, len(args), in_place=in_place)


def _enters(world: World, ufunc: Any, args: Sequence[Type]) -> bool:
    """Whether a call of a ufunc with arguments of these types enters a method."""
    if not world.overlays(ufunc):
        return False
    callee = world.stand_ins.callee(ufunc)._numba_type_
    return callee.outcome(args, {}).method is not None


def _call_of(ufunc: Any, count: int, *, in_place: bool) -> Callable[..., Any]:
    """A function of ``count`` arguments that calls a ufunc. in_place: with the first as ``out``."""
    key = ufunc.__name__, count, in_place
    if key not in _made:
        names = ["a", "b"][:count]
        given = ", ".join([*names, "a"] if in_place else names)
        namespace: dict[str, Any] = {"ufunc": ufunc}
        source = f"def operate({', '.join(names)}): return ufunc({given})"
        exec(compile(source, GLUE, "exec"), namespace)
        _made[key] = namespace["operate"]
    return _made[key]
