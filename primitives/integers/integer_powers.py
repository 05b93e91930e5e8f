"""Powers of the mathematical integers, with exponents from 0 to 1023: exact roots and
logarithms.
"""

from __future__ import annotations

import operator
from typing import Any

from primitives.domains import Bool, Integer
from primitives.errors import NoSolution
from primitives.integers.exact import HIGHEST, times
from primitives.integers.integer_kinds import MOST, Exponent, magnitude
from primitives.relation import parametric, relation
from primitives.solver_forms import compiled_forms

__all__ = ["power_int"]


def power(a: int, b: int) -> int:
    """``a ** b`` for a non-negative b; raises NoSolution where the machine would wrap."""
    if b < 0:
        raise NoSolution("a negative exponent gives no integer")
    return a**b


@compiled_forms.overlay(power)
def power_64(a: Any, b: Any) -> int:
    if b < 0:
        raise NoSolution("a negative exponent gives no integer")
    found = 1
    for _ in range(b):
        found = times(found, a)
    return found


def reaches(base: int, exponent: int, n: int) -> bool:
    """Return whether base ** exponent is at least n; all are at least 1."""
    return base**exponent >= n


@compiled_forms.overlay(reaches)
def reaches_64(base: Any, exponent: Any, n: Any) -> bool:
    found = 1
    for _ in range(exponent):
        if found >= n:
            return True
        if found > HIGHEST // base:
            return True
        found *= base
    return found >= n


def root(n: int, exponent: int) -> int:
    """The smallest integer whose power is at least n; both are at least 1."""
    if exponent == 1:
        return n
    low, high = 1, 2
    while not reaches(high, exponent, n):
        low, high = high, 2 * high
    while low < high:
        middle = (low + high) // 2
        if reaches(middle, exponent, n):
            high = middle
        else:
            low = middle + 1
    return low


def is_power(n: int, base: int, exponent: int) -> bool:
    """Return whether base ** exponent is n; all are at least 1."""
    if base == 1:
        return n == 1
    count = 0
    while count < exponent and n % base == 0:
        n = n // base
        count += 1
    return count == exponent and n == 1


def base_of(ret: int, b: int, negative: bool, free: int) -> int:
    """The integer whose power is ``ret``; ``free`` if b is 0."""
    if b < 0:
        raise NoSolution("a negative exponent gives no integer")
    if b == 0:
        if ret != 1:
            raise NoSolution("a power with exponent 0 is 1")
        return free
    if ret == 0:
        return 0
    if ret < 0 and b % 2 == 0:
        raise NoSolution("an even power is not negative")
    found = root(magnitude(ret), b)
    if not is_power(magnitude(ret), found, b):
        raise NoSolution("it is not such a power of an integer")
    return -found if (negative if b % 2 == 0 else ret < 0) else found


def exponent_of(ret: int, a: int, free: int) -> int:
    """The exponent for which the power of a is ``ret``; of several exponents the one
    near ``free``.
    """
    if -1 <= a <= 1:
        return exponent_of_unit(ret, a, free)
    if ret == 0:
        raise NoSolution("a power is 0 only if its base is 0")
    count = 0
    while ret % a == 0:
        ret = ret // a
        count += 1
    if ret != 1 or count > MOST:
        raise NoSolution("it is not a power of the base, with an exponent up to 1023")
    return count


def exponent_of_unit(ret: int, a: int, free: int) -> int:
    """The exponent for which the power of a is ``ret``, if a is -1, 0 or 1; of several exponents
    the one near ``free``.
    """
    if a == 1 and ret == 1:
        return free
    if a == 0 and ret == 1:
        return 0
    if a == 0 and ret == 0:
        return max(free, 1)
    if a == -1 and (ret == 1 or ret == -1):
        return free - free % 2 + (0 if ret == 1 else 1)
    raise NoSolution("it is not a power of the base")


def base_and_exponent(ret: int, v: int, negative: bool, free: int) -> tuple[int, int]:
    """A pair with this power, whose exponent is the nearest to v towards 1."""
    if ret == 1 and v == 0:
        return free, 0
    exponent, size = max(v, 1), magnitude(ret)
    while exponent > 1:
        odd = exponent % 2 == 1
        if size <= 1 and (odd or ret >= 0):
            break
        if (odd or ret > 0) and is_power(size, root(size, exponent), exponent):
            break
        exponent -= 1
    return base_of(ret, exponent, negative, free), exponent


power_int = relation(
    operator.pow, int, int, "return = a ** b", domain={"b": Exponent},
    ret=power,
    a=parametric(  # the sign matters if b is even, the free base if b is 0
        base_of, negative=Bool, free=Integer,
        recover=lambda a: (a < 0, a), determined_if=lambda b: b % 2 == 1,
    ),
    b=parametric(
        exponent_of, free=Exponent,
        recover=lambda b: (b,), determined_if=lambda a: abs(a) > 1,
    ),
    ab=parametric(
        base_and_exponent, v=Exponent, negative=Bool, free=Integer,
        recover=lambda a, b: (b, a < 0, a),
    ),
)  # fmt: skip
