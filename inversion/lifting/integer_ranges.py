"""Bounds of integers that follow from the bounds of the arguments of a computation."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from inversion.program.statements import Constant, Operand
from primitives import Domain, Integers, Relation
from primitives.domains import Booleans

__all__ = ["ranges_of"]

Bounds = tuple[int, int]


def ranges_of(
    found: Relation, args: Sequence[Operand], domains: Mapping[Operand, Domain]
) -> Sequence[Domain] | None:
    """The domains of the results of a relation of integers; None if no bounds are known."""
    if found.target is divmod:
        both = [RANGES[target](*_bounds(args, domains)) for target in DIVIDED]
        return None if None in both else [Integers(*ends) for ends in both if ends is not None]
    if found.returns is not int or type(found.target).__hash__ is None:
        return None
    given = RANGES.get(found.target)
    ends = None if given is None else given(*_bounds(args, domains))
    return None if ends is None else [Integers(*ends)]


DIVIDED = (operator.floordiv, operator.mod)


def _bounds(args: Sequence[Operand], domains: Mapping[Operand, Domain]) -> list[Bounds | None]:
    return [_bounds_of(arg, domains) for arg in args]


def _bounds_of(value: Operand, domains: Mapping[Operand, Domain]) -> Bounds | None:
    if isinstance(value, Constant):
        return (value.value, value.value) if isinstance(value.value, int) else None
    domain = domains.get(value)
    if isinstance(domain, Booleans) or value.kind is bool:
        return 0, 1
    if isinstance(domain, Integers) and domain.low is not None and domain.high is not None:
        return domain.low, domain.high
    return None


def _by_ends(target: Callable[[int, int], int]) -> Callable[..., Bounds | None]:
    """The range of a function that is monotone in each argument: its bounds are among the values at
    the ends.
    """

    def found(one: Bounds | None, other: Bounds | None) -> Bounds | None:
        if one is None or other is None:
            return None
        ends = [target(a, b) for a in one for b in other]
        return min(ends), max(ends)

    return found


def _shifted(target: Callable[[int, int], int]) -> Callable[..., Bounds | None]:
    def found(one: Bounds | None, other: Bounds | None) -> Bounds | None:
        if other is None or not 0 <= other[0] <= other[1] <= 1023:
            return None
        return _by_ends(target)(one, other)

    return found


def _quotient(one: Bounds | None, other: Bounds | None) -> Bounds | None:
    if other is None or other[0] <= 0:
        return None
    return _by_ends(operator.floordiv)(one, other)


def _remainder(one: Bounds | None, other: Bounds | None) -> Bounds | None:
    if other is None or other[0] <= 0:
        return None
    if one is not None and 0 <= one[0] <= one[1] < other[0]:
        return one
    return 0, other[1] - 1


def _masked(one: Bounds | None, other: Bounds | None) -> Bounds | None:
    tops = [ends[1] for ends in (one, other) if ends is not None and ends[0] >= 0]
    return (0, min(tops)) if tops else None


def _united(one: Bounds | None, other: Bounds | None) -> Bounds | None:
    if one is None or other is None or min(one[0], other[0]) < 0:
        return None
    return 0, (1 << max(one[1], other[1]).bit_length()) - 1


def _merged(one: Bounds | None, other: Bounds | None) -> Bounds | None:
    found = _united(one, other)
    return (
        None if found is None or one is None or other is None else (max(one[0], other[0]), found[1])
    )


def _negated(one: Bounds | None) -> Bounds | None:
    return None if one is None else (-one[1], -one[0])


def _size(one: Bounds | None) -> Bounds | None:
    if one is None:
        return None
    ends = sorted(map(abs, one))
    return (0 if one[0] <= 0 <= one[1] else ends[0]), ends[1]


def _same(one: Bounds | None) -> Bounds | None:
    return one


def _least(one: Bounds | None, other: Bounds | None) -> Bounds | None:
    return _by_ends(min)(one, other)


def _greatest(one: Bounds | None, other: Bounds | None) -> Bounds | None:
    return _by_ends(max)(one, other)


RANGES: Mapping[Any, Callable[..., Bounds | None]] = {
    operator.add: _by_ends(operator.add),
    operator.sub: _by_ends(operator.sub),
    operator.mul: _by_ends(operator.mul),
    operator.floordiv: _quotient,
    operator.mod: _remainder,
    operator.lshift: _shifted(operator.lshift),
    operator.rshift: _shifted(operator.rshift),
    operator.and_: _masked,
    operator.or_: _merged,
    operator.xor: _united,
    operator.neg: _negated,
    abs: _size,
    int: _same,
    min: _least,
    max: _greatest,
}
"""The bounds of the result of each function, from those of its arguments."""
