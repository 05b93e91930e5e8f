"""Congruences: integers multiplied, shifted and then reduced, as one relation."""

from __future__ import annotations

import math

from primitives.domains import Integer, Integers
from primitives.errors import NoSolution
from primitives.integers.exact import minus, plus, times
from primitives.relation import Relation, parametric, relation

__all__ = ["congruence", "is_congruence"]


def congruence(factor: int, shift: int, modulus: int) -> Relation:
    """The relation ``return = (factor * a + shift) % modulus``, of integers; modulus > 0.

    ``k`` numbers the solutions, which are equidistant: k = 0 is the smallest non-negative one.

    >>> congruence(5, 3, 16).mode(["a"]).solver(2, 0), (5 * 3 + 3) % 16
    (3, 2)
    """
    shared = math.gcd(factor, modulus)
    period = modulus // shared
    reciprocal = pow(factor // shared, -1, period)

    def reduced(a: int) -> int:
        return plus(times(factor, a), shift) % modulus

    def number_of(a: int) -> tuple[int]:
        return (a // period,)

    def solved(ret: int, k: int) -> int:
        if not 0 <= ret < modulus:
            raise NoSolution("a remainder lies between 0 and the divisor")
        difference = minus(ret, shift)
        if difference % shared != 0:
            raise NoSolution("no integer has this remainder after the multiplication")
        first = times(difference // shared % period, reciprocal) % period
        return plus(first, times(k, period))

    return relation(
        reduced, int, f"return = ({factor} * a + {shift}) % {modulus}",
        codomain=Integers(0, modulus - 1),
        a=parametric(solved, k=Integer, recover=number_of),
    )  # fmt: skip


def is_congruence(rule: object) -> bool:
    """Whether a relation is a congruence, whose solutions are numbered in ascending order."""
    return isinstance(rule, Relation) and getattr(rule.target, "__module__", "") == __name__
