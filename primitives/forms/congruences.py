"""Congruences, integers multiplied, shifted and then reduced, and sums of two multiplied integers,
each as one relation.
"""

from __future__ import annotations

import functools
import math

from primitives.domains import Integer, Integers
from primitives.errors import NoSolution
from primitives.integers.exact import minus, plus, times
from primitives.relation import Relation, parametric, relation

__all__ = ["congruence", "is_numbered", "sum_of_two"]


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


@functools.cache
def sum_of_two(one: int, other: int) -> Relation:
    """The relation ``return = one * a + other * b``, of integers; the factors are not 0 and have no
    common divisor.

    ``k`` numbers the solutions, in ascending order of a: at k = 0, a is the smallest that is not
    negative.

    >>> sum_of_two(5, 7).mode(["a", "b"]).solver(31, 0), 5 * 2 + 7 * 3
    ((2, 3), 31)
    """
    period, turned = abs(other), one if other < 0 else -one
    reciprocal = pow(one, -1, period)

    def weighted_sum(a: int, b: int) -> int:
        return plus(times(one, a), times(other, b))

    def number_of(a: int, b: int) -> tuple[int]:
        return (a // period,)

    def both(ret: int, k: int) -> tuple[int, int]:
        first = times(ret % period, reciprocal) % period
        second = minus(ret, times(one, first)) // other
        return plus(first, times(k, period)), plus(second, times(k, turned))

    def first_of(ret: int, b: int) -> int:
        rest = minus(ret, times(other, b))
        if rest % one != 0:
            raise NoSolution("the rest of the sum is not a multiple of the known factor")
        return rest // one

    def second_of(ret: int, a: int) -> int:
        rest = minus(ret, times(one, a))
        if rest % other != 0:
            raise NoSolution("the rest of the sum is not a multiple of the known factor")
        return rest // other

    return relation(
        weighted_sum, int, int, f"return = {one} * a + {other} * b", codomain=Integer,
        a=first_of, b=second_of, ab=parametric(both, k=Integer, recover=number_of),
    )  # fmt: skip


def is_numbered(rule: object) -> bool:
    """Whether a relation is one of these, whose solutions are numbered in ascending order of the
    first unknown.
    """
    return isinstance(rule, Relation) and getattr(rule.target, "__module__", "") == __name__
