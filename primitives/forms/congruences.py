"""Congruences: integers, or products of two, that are multiplied, shifted and reduced; and sums of
two multiplied integers; each as one relation.
"""

from __future__ import annotations

import functools
import math

from primitives.domains import Integer, Integers
from primitives.errors import NoSolution
from primitives.integers.exact import minus, plus, times
from primitives.relation import Relation, parametric, relation

__all__ = ["congruence", "congruence_of_product", "is_numbered", "reciprocal", "sum_of_two"]


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
def congruence_of_product(factor: int, shift: int, modulus: int) -> Relation:
    """The relation ``return = (factor * a * b + shift) % modulus``, of integers; modulus > 0.

    ``k`` numbers the values of one where the other is known, which are equidistant: k = 0 is the
    smallest non-negative one.

    >>> congruence_of_product(1, 0, 26).mode(["a"]).solver(3, 5, 0), 11 * 5 % 26
    (11, 3)
    """

    def product_reduced(a: int, b: int) -> int:
        return plus(times(times(factor, a % modulus) % modulus, b % modulus), shift) % modulus

    def period_for(other: int) -> int:
        return modulus // math.gcd(times(factor, other % modulus), modulus)

    def one_for(ret: int, other: int, k: int) -> int:
        if not 0 <= ret < modulus:
            raise NoSolution("a remainder lies between 0 and the divisor")
        multiplied, difference = times(factor, other % modulus), minus(ret, shift)
        shared = math.gcd(multiplied, modulus)
        if difference % shared != 0:
            raise NoSolution("no integer has this remainder after the multiplication")
        period = modulus // shared
        inverse = reciprocal(multiplied // shared % period, period)
        first = times(difference // shared % period, inverse) % period
        return plus(first, times(k, period))

    def first_of(ret: int, b: int, k: int) -> int:
        return one_for(ret, b, k)

    def second_of(ret: int, a: int, k: int) -> int:
        return one_for(ret, a, k)

    def both(ret: int, turn: int, past_one: int) -> tuple[int, int]:
        other = plus(past_one, 1)
        return one_for(ret, other, turn), other

    def first_number(a: int, b: int) -> tuple[int]:
        return (a // period_for(b),)

    def second_number(a: int, b: int) -> tuple[int]:
        return (b // period_for(a),)

    def both_numbers(a: int, b: int) -> tuple[int, int]:
        return a // period_for(b), minus(b, 1)

    return relation(
        product_reduced, int, int, f"return = ({factor} * a * b + {shift}) % {modulus}",
        codomain=Integers(0, modulus - 1),
        a=parametric(first_of, k=Integer, recover=first_number),
        b=parametric(second_of, k=Integer, recover=second_number),
        ab=parametric(both, turn=Integer, past_one=Integer, recover=both_numbers),
    )  # fmt: skip


def reciprocal(a: int, n: int) -> int:
    """The reciprocal of an integer modulo another with which it has no common divisor."""
    found, step, low, high = 0, 1, a, n
    while low != 0:
        found, step, low, high = step, found - high // low * step, high % low, low
    return found % n


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
    """Return whether a relation is one of these, whose solutions are numbered in ascending order of
    the first unknown.
    """
    return isinstance(rule, Relation) and getattr(rule.target, "__module__", "") == __name__
