"""Derivatives of inverses by the implicit function theorem: an inverse called with active numbers
(dual numbers, with tangents) returns active numbers.

The derivative of an answer does not depend on the search for it: it follows from the equation that
the answer solves. One step of Newton's method from the answer, in active numbers, leaves its value
unchanged and computes its tangents.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from inversion.errors import NoSolution, NotInvertible
from overlay import nonoverlay
from overlay.contexts.rules_alone import rules_alone
from overlay.interpretations.autodiff import autodiff
from overlay.interpretations.autodiff.duals import Active
from overlay.interpretations.intervals import Interval, Undecided
from primitives.relation import RETURN

if TYPE_CHECKING:
    from inversion.inverse import Inverse
    from inversion.program.statements import Program
    from inversion.program.trees import Axes

__all__ = ["OTHER", "check_active", "has_active", "with_tangents"]


OTHER = "the function is another one where the derivative is taken"


def has_active(values: Sequence[Any]) -> bool:
    """Return whether any of these values has tangents."""
    return any(isinstance(value, Active) for value in values)


def with_tangents(
    inverse: Inverse, function: Callable[..., Any], values: Sequence[Any], theta: Any = None
) -> tuple[Any, ...]:
    """The answer of an inverse, with tangents, for known values of which some are active.

    function: the inverted function, in its context. theta: the given coordinates; coordinates that
    are searched for count as constant. Raises NotInvertible unless the inverse finds one float from
    one float, or if the known values belong to derivatives of different depths.
    """
    given = dict(zip(inverse.known, values, strict=True))
    active = [value for value in given.values() if isinstance(value, Active)]
    check_active(inverse.axes, inverse.origin, map(type, active))
    plain = [value.value if isinstance(value, Active) else value for value in given.values()]
    (answer,) = inverse(*plain, theta=theta or None)
    (wanted,) = inverse.unknown
    known = dict(zip(inverse.known, plain, strict=True))
    inputs = inverse.axes.inputs
    inside: Any = nonoverlay(rules_alone())  # in which calls take active numbers
    try:
        again = inside(function, *(given.get(axis, answer) for axis in inputs))
        agrees = inverse.is_result(_plain(again), _plain(given[RETURN]))
    except Undecided:
        raise inverse.definition.given_wrong(Interval.__name__, RETURN) from None
    if not agrees:
        raise NoSolution(f"{inverse!r} has no derivative here: {OTHER}", where=inverse.origin.where)
    by_wanted = _of_one(function, inputs.index(wanted), [known.get(axis) for axis in inputs])
    missing = inside(operator.sub, given[RETURN], again)
    change = inside(operator.truediv, missing, inside(autodiff, by_wanted, answer))
    return (inside(operator.add, answer, change),)


def _plain(value: Any) -> Any:
    """The number without its tangents."""
    while isinstance(value, Active):
        value = value.value
    return value


def _of_one(function: Callable[..., Any], at: int, args: Sequence[Any]) -> Callable[..., Any]:
    """The function of the argument at this position, with the others fixed, as code that contexts
    intercept.
    """
    given = ", ".join("x" if i == at else f"args[{i}]" for i in range(len(args)))
    return eval(f"lambda x: function({given})", {"function": function, "args": args})


def check_active(axes: Axes, origin: Program, active: Iterable[type]) -> None:
    """Raise NotInvertible unless the inverse finds one float from one float result, and all active
    known values are of one class.
    """
    trees = [axes.trees[axis] for axis in (RETURN, *axes.unknown)]
    kinds = [origin.operand(tree).kind for tree in trees if isinstance(tree, str)]
    if RETURN not in axes.known or kinds != [float, float] or len(trees) > 2:
        why = "it has to find one float from one result that is a float"
    elif len(set(active)) != 1:
        why = "its known values are active in different derivatives"
    else:
        return
    raise NotInvertible(
        f"the inverse of {origin.name} has no derivative here: {why}",
        where=origin.where,
        help="make other inputs known; inv.log_abs_det is the derivative for several numbers",
    )
