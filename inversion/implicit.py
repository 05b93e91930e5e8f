"""Derivatives of inverses: an inverse that is called with active numbers gives active ones.

How an inverse finds an answer does not matter to its derivative, which is that of the equation
that the answer solves: a step of Newton's method, taken in active numbers from the answer, leaves
the answer where it is and gives it its tangents.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from inversion.errors import NotInvertible
from overlay.interpretations.autodiff import autodiff
from overlay.interpretations.autodiff.duals import Active
from primitives.relation import RETURN

if TYPE_CHECKING:
    from inversion.inverse import Inverse

__all__ = ["has_active", "with_tangents"]


def has_active(values: Sequence[Any]) -> bool:
    """Whether one of these carries tangents."""
    return any(isinstance(value, Active) for value in values)


def with_tangents(
    inverse: Inverse, function: Callable[..., Any], values: Sequence[Any]
) -> tuple[Any, ...]:
    """What an inverse answers, with tangents, for known values some of which are active, and θ.

    function: that is inverted, in its context. Raises NotInvertible unless one float is found from
    one float, and where the known values are active in derivatives of different depths.
    """
    count = len(inverse.known)
    given = dict(zip(inverse.known, values, strict=False))
    active = [value for value in given.values() if isinstance(value, Active)]
    _check(inverse, active)
    plain = [value.value if isinstance(value, Active) else value for value in given.values()]
    (answer,) = inverse(*plain, *values[count:])
    (wanted,) = inverse.unknown
    known = dict(zip(inverse.known, plain, strict=True))
    inputs = inverse.axes.inputs
    inside = active[0].context  # in which calls take active numbers
    again = inside(function, *(given.get(axis, answer) for axis in inputs))
    by_wanted = _of_one(function, inputs.index(wanted), [known.get(axis) for axis in inputs])
    missing = inside(operator.sub, given[RETURN], again)
    change = inside(operator.truediv, missing, inside(autodiff, by_wanted, answer))
    return (inside(operator.add, answer, change),)


def _of_one(function: Callable[..., Any], at: int, args: Sequence[Any]) -> Callable[..., Any]:
    """A function of its argument at this position, the others fixed: code that contexts enter."""
    given = ", ".join("x" if i == at else f"args[{i}]" for i in range(len(args)))
    return eval(f"lambda x: function({given})", {"function": function, "args": args})


def _check(inverse: Inverse, active: Sequence[Active]) -> None:
    leaves = [inverse.axes.trees[axis] for axis in (RETURN, *inverse.unknown)]
    kinds = [inverse.origin.operand(leaf).kind for leaf in leaves if isinstance(leaf, str)]
    if RETURN not in inverse.known or kinds != [float, float] or len(leaves) > 2:
        why = "it is taken where one float is found from one result that is a float"
    elif len(set(map(type, active))) != 1:
        why = "its known values are active in different derivatives"
    else:
        return
    raise NotInvertible(
        f"the inverse of {inverse.origin.name} has no derivative here: {why}",
        where=inverse.origin.where,
        help="make other inputs known; of several numbers there is log_abs_det",
    )
