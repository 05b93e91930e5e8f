"""Comparisons, the smaller and the larger of two values, and clipping, of integers and words.

One of two compared values is determined from the other by its *excess*: its distance from the
nearest value for which the comparison has the given result.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, NamedTuple

from primitives.domains import Bool
from primitives.errors import NoSolution
from primitives.integers.integer_kinds import IntegerKind
from primitives.relation import Relation, parametric, relation

__all__ = ["clip", "ordered"]


def clip(a: Any, low: Any, high: Any) -> Any:
    """``a``, clipped to [low, high]; ``high`` if the interval is empty."""
    return min(max(a, low), high)


# ---- comparisons --------------------------------------------------------------------------


def comparisons(kind: IntegerKind) -> tuple[Relation, ...]:
    """The relations of < <= > >=."""
    beside, excess_of = kind.beside, kind.excess_of

    def compared(target: Any, sign: str, up: bool, strict: bool) -> Relation:
        """The relation of a comparison. up: whether it holds for a larger b. strict: whether it
        fails for an equal one.
        """
        return relation(
            target, kind.type, kind.type, f"return = a {sign} b", returns=bool,
            a=parametric(
                lambda ret, b, excess: beside(b, ret != up, ret == strict, excess),
                excess=kind.steps,
                recover=lambda ret, a, b: (excess_of(b, a, ret != up, ret == strict),),
            ),
            b=parametric(
                lambda ret, a, excess: beside(a, ret == up, ret == strict, excess),
                excess=kind.steps,
                recover=lambda ret, a, b: (excess_of(a, b, ret == up, ret == strict),),
            ),
            ab=parametric(
                lambda ret, v, excess: (beside(v, ret != up, ret == strict, excess), v),
                v=kind.domain, excess=kind.steps,
                recover=lambda ret, a, b: (b, excess_of(b, a, ret != up, ret == strict)),
            ),
        )  # fmt: skip

    return (
        compared(operator.lt, "<", True, True),
        compared(operator.le, "<=", True, False),
        compared(operator.gt, ">", False, True),
        compared(operator.ge, ">=", False, False),
    )


def equalities(kind: IntegerKind) -> tuple[Relation, ...]:
    """The relations of == and !=."""
    moved, difference_of = kind.moved, kind.difference_of

    def compared(target: Any, sign: str, equal: bool) -> Relation:
        return relation(
            target, kind.type, kind.type, f"return = a {sign} b", returns=bool,
            a=parametric(  # the difference matters if they are not equal
                lambda ret, b, difference: b if ret == equal else moved(b, difference),
                difference=kind.differences, recover=lambda a, b: (difference_of(b, a),),
            ),
            b=parametric(
                lambda ret, a, difference: a if ret == equal else moved(a, difference),
                difference=kind.differences, recover=lambda a, b: (difference_of(a, b),),
            ),
            ab=parametric(
                lambda ret, v, difference: (v if ret == equal else moved(v, difference), v),
                v=kind.domain, difference=kind.differences,
                recover=lambda a, b: (b, difference_of(b, a)),
            ),
        )  # fmt: skip

    return compared(operator.eq, "==", True), compared(operator.ne, "!=", False)


# ---- the smaller, the larger, the value between -------------------------------------------


def extremes(kind: IntegerKind) -> tuple[Relation, ...]:
    """The relations of min and max."""
    beside, excess_of = kind.beside, kind.excess_of

    def extreme(target: Any, up: bool) -> Relation:
        """The relation of min or max. up: whether the other value is above the result."""

        def other(ret: Any, known: Any, excess: Any) -> Any:
            if known == ret:
                return beside(ret, up, False, excess)
            if (known > ret) != up:
                raise NoSolution("the known value lies beyond the result")
            return ret

        return relation(
            target, kind.type, kind.type, f"return = {target.__name__}(a, b)",
            a=parametric(  # the excess matters if b is the result
                lambda ret, b, excess: other(ret, b, excess), excess=kind.steps,
                recover=lambda ret, a: (excess_of(ret, a, up, False),),
            ),
            b=parametric(
                lambda ret, a, excess: other(ret, a, excess), excess=kind.steps,
                recover=lambda ret, b: (excess_of(ret, b, up, False),),
            ),
            ab=parametric(
                lambda ret, left, excess: (
                    (ret, beside(ret, up, False, excess)) if left
                    else (beside(ret, up, False, excess), ret)
                ),
                left=Bool, excess=kind.steps,
                recover=lambda ret, a, b: (
                    a == ret, excess_of(ret, b if a == ret else a, up, False)
                ),
            ),
        )  # fmt: skip

    return extreme(min, True), extreme(max, False)


class _Clipping(NamedTuple):
    """The solvers of clip, whose result is ``high`` if ``low`` is larger."""

    value: Callable[..., Any]
    lower: Callable[..., Any]
    upper: Callable[..., Any]
    value_and_lower: Callable[..., Any]
    at_least: Callable[..., Any]
    distance: Callable[..., Any]


def _solvers_of_clip(kind: IntegerKind) -> _Clipping:
    beside, excess_of = kind.beside, kind.excess_of

    def away(known: Any, down: Any, excess: Any) -> Any:
        return beside(known, not down, False, excess)

    def distance(known: Any, other: Any) -> Any:
        return excess_of(known, other, other > known, False)

    def clipped(ret: Any, low: Any, high: Any, down: Any, excess: Any) -> Any:
        if low >= high and ret == high:
            return away(ret, down, excess)
        if not low <= ret <= high:
            raise NoSolution("the result lies outside the bounds")
        return ret if low < ret < high else away(ret, ret == low, excess)

    def lower(ret: Any, a: Any, high: Any, down: Any, excess: Any) -> Any:
        if ret > high or (a > ret and ret < high):
            raise NoSolution("the result lies below the value, or above the upper bound")
        if ret == high:
            return away(ret, down and a >= high, excess)
        return away(ret, True, excess) if a == ret else ret

    def upper(ret: Any, larger: Any, excess: Any) -> Any:
        if larger < ret:
            raise NoSolution("the result lies above the value and the lower bound")
        return away(ret, False, excess) if larger == ret else ret

    def value_and_lower(ret: Any, high: Any, left: Any, above: Any, excess: Any) -> tuple[Any, Any]:
        if ret > high:
            raise NoSolution("the result lies above the upper bound")
        larger = away(ret, False, above) if ret == high else ret
        smaller = away(larger, True, excess)
        return (larger, smaller) if left else (smaller, larger)

    def at_least(ret: Any, v: Any, other: Any) -> Any:
        return ret if v < ret and other < ret else v

    return _Clipping(clipped, lower, upper, value_and_lower, at_least, distance)


def clipping(kind: IntegerKind) -> Relation:
    """The relation of clip."""
    clipped, lower, upper, value_and_lower, at_least, distance = _solvers_of_clip(kind)
    return relation(
        clip, kind.type, kind.type, kind.type, "return = clip(a, low, high)",
        ret=lambda a, low, high: clip(a, low, high),
        a=parametric(  # the excess matters at a bound; ``down`` if both bounds are the result
            clipped, down=Bool, excess=kind.steps,
            recover=lambda ret, a: (a < ret, distance(ret, a)),
        ),
        low=parametric(
            lower, down=Bool, excess=kind.steps,
            recover=lambda ret, low: (low < ret, distance(ret, low)),
        ),
        high=parametric(
            lambda ret, a, low, excess: upper(ret, max(a, low), excess), excess=kind.steps,
            recover=lambda ret, high: (distance(ret, high),),
        ),
        alow=parametric(  # ``above``: of the larger one, where the result is the upper bound
            value_and_lower, left=Bool, above=kind.steps, excess=kind.steps,
            recover=lambda ret, a, low: (
                a >= low, distance(ret, max(a, low)), distance(max(a, low), min(a, low))
            ),
        ),
        ahigh=parametric(
            lambda ret, low, v, excess: (
                at_least(ret, v, low), upper(ret, max(at_least(ret, v, low), low), excess)
            ),
            v=kind.domain, excess=kind.steps,
            recover=lambda ret, a, high: (a, distance(ret, high)),
        ),
        lowhigh=parametric(
            lambda ret, a, v, excess: (
                at_least(ret, v, a), upper(ret, max(at_least(ret, v, a), a), excess)
            ),
            v=kind.domain, excess=kind.steps,
            recover=lambda ret, low, high: (low, distance(ret, high)),
        ),
        alowhigh=parametric(
            lambda ret, v, w, excess: (
                at_least(ret, v, w), w, upper(ret, max(at_least(ret, v, w), w), excess)
            ),
            v=kind.domain, w=kind.domain, excess=kind.steps,
            recover=lambda ret, a, low, high: (a, low, distance(ret, high)),
        ),
    )  # fmt: skip


def ordered(kind: IntegerKind) -> tuple[Relation, ...]:
    """The relations of comparisons, min, max and clip."""
    return *comparisons(kind), *equalities(kind), *extremes(kind), clipping(kind)
