"""Operators of arrays, which are calls of numpy's ufuncs.

In the interpreter ``a + b`` of arrays calls ``np.add``, which may be a target. numba has
implementations of its own for these operators: where the ufunc is overlaid, compiled code calls it
in place of them.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from numba.core import types

from overlay.catalogue.operator_ufuncs import UFUNCS
from overlay.compiled import failures
from overlay.compiled.glue import GLUE
from overlay.compiled.numba.numba_types import Type, refused
from overlay.core.target import INPLACE

if TYPE_CHECKING:
    from overlay.compiled.world import World

__all__ = ["ufunc_called"]

_BY_OPERATOR: Final = {id(each): ufunc for each, ufunc in UFUNCS.items()}
# what numpy computes in place of a power with an exponent that is one of Python's numbers
_OF_EXPONENTS: Final = (np.square, np.sqrt, np.reciprocal)


def ufunc_called(world: World, function: Any, args: Sequence[Type]) -> Callable[..., Any] | None:
    """A function that calls the ufunc of an operator of arrays, where that enters a method; None
    for anything else. function: the callable or its numba type."""
    key: Any = getattr(function, "typing_key", function)
    plain, _ = INPLACE.get(id(key), (key, ""))
    ufunc = _BY_OPERATOR.get(id(plain))
    if ufunc is None or not any(isinstance(each, types.Array) for each in args):
        return None
    in_place = plain is not key and isinstance(args[0], types.Array)
    given = (*args, *(args[:1] if in_place else ()))
    if plain is operator.pow and not isinstance(args[-1], types.Array):
        others = [(each, (given[0], *given[2:])) for each in _OF_EXPONENTS]
        entered = [f for f, taken in ((ufunc, given), *others) if _enters(world, f, taken)]
        if entered:
            raise refused(world, failures.power_of_array(entered[0]))
        return None
    return _call_of(ufunc, len(args), in_place=in_place) if _enters(world, ufunc, given) else None


def _enters(world: World, ufunc: Any, args: Sequence[Type]) -> bool:
    """Whether a call of a ufunc with arguments of these types enters a method."""
    if not world.overlays(ufunc):
        return False
    callee = world.stand_ins.callee(ufunc)._numba_type_
    return callee.outcome(args, {}).method is not None


@functools.cache  # a world knows a function that it compiles by its identity
def _call_of(ufunc: Any, count: int, *, in_place: bool) -> Callable[..., Any]:
    """A function of ``count`` arguments that calls a ufunc. in_place: with the first as ``out``."""
    names = ["a", "b"][:count]
    given = ", ".join([*names, "a"] if in_place else names)
    namespace: dict[str, Any] = {"ufunc": ufunc}
    source = f"def operate({', '.join(names)}): return ufunc({given})"
    exec(compile(source, GLUE, "exec"), namespace)
    return namespace["operate"]
