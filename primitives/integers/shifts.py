"""Shifts and xorshift steps of the mathematical integers, by up to 1023 places.

Compiled, the solvers refuse what needs more than 64 bits.
"""

from __future__ import annotations

import operator
from typing import Any

from primitives.domains import Bool, Integer, Integers
from primitives.errors import NoSolution
from primitives.floats.arithmetic import HIGHEST
from primitives.integers.bits import xorshift_right
from primitives.integers.integer_division import MOST, Exponent
from primitives.relation import parametric, relation
from primitives.solver_forms import compiled_forms

__all__ = ["lshift_int", "rshift_int", "xorshift_right_int"]


def up(a: int, k: int) -> int:
    """a << k, refused where the machine would wrap."""
    return a << k


def down(a: int, k: int) -> int:
    """a >> k."""
    return a >> k


def filled(ret: int, k: int, low: int) -> int:
    """``ret`` << k, with the lowest k bits of ``low``."""
    return (ret << k) | (low & ((1 << k) - 1))


@compiled_forms.overlay(up)
def up_64(a: Any, k: Any) -> int:
    if k < 0:
        raise NoSolution("a shift goes by at least 0 places")
    shifted = a << min(k, 63)
    if a != 0 and (k > 63 or shifted >> k != a):
        raise NoSolution("the shifted integer needs more than 64 bits")
    return shifted


@compiled_forms.overlay(down)
def down_64(a: Any, k: Any) -> int:
    if k < 0:
        raise NoSolution("a shift goes by at least 0 places")
    return a >> min(k, 63)


@compiled_forms.overlay(filled)
def filled_64(ret: Any, k: Any, low: Any) -> int:
    if k > 63:
        if (ret == 0 and low >= 0) or (ret == -1 and low < 0):
            return low
        raise NoSolution("the integer needs more than 64 bits")
    mask = HIGHEST if k == 63 else (1 << k) - 1
    return up_64(ret, k) | (low & mask)


def length(a: int) -> int:
    """How many bits an integer has, its sign apart."""
    rest, count = (~a if a < 0 else a), 0
    while rest != 0:
        rest >>= 1
        count += 1
    return count


def zeros(a: int) -> int:
    """How many zeros follow the last 1 of an integer that is not 0."""
    count = 0
    while a & 1 == 0:
        a >>= 1
        count += 1
    return count


def without_zeros(ret: int, k: int) -> int:
    """What << k gives ``ret``."""
    if ret != 0 and zeros(ret) < k:
        raise NoSolution("the lowest bits of a shifted integer are 0")
    return down(ret, k)


def places_up(ret: int, a: int, free: int) -> int:
    """By how many places a is shifted to give ``ret``; ``free`` where both are 0."""
    if a == 0 and ret == 0:
        return free
    if a == 0 or ret == 0:
        raise NoSolution("what is shifted up is 0 where it was, and only there")
    found = zeros(ret) - zeros(a)
    if not 0 <= found <= MOST or down(ret, found) != a:
        raise NoSolution("the result is not the integer, shifted by up to 1023 places")
    return found


def places_down(ret: int, a: int, free: int) -> int:
    """The same to the right; of many, those that leave only the sign, the one near ``free``."""
    found = length(a) - length(ret)
    if not 0 <= found <= MOST or down(a, found) != ret:
        raise NoSolution("the result is not the integer, shifted by up to 1023 places")
    return max(found, free) if ret == 0 or ret == -1 else found


lshift_int = relation(
    operator.lshift, int, int, "return = a << k", domain={"k": Exponent},
    ret=lambda a, k: up(a, k),
    a=lambda ret, k: without_zeros(ret, k),
    k=parametric(
        places_up, free=Exponent, recover=lambda k: (k,), determined_if=lambda a: a != 0,
    ),
    ak=parametric(
        lambda ret, v: (
            (0, v) if ret == 0 else (down(ret, min(v, zeros(ret))), min(v, zeros(ret)))
        ),
        v=Exponent, recover=lambda k: (k,),
    ),
)  # fmt: skip
rshift_int = relation(
    operator.rshift, int, int, "return = a >> k", domain={"k": Exponent},
    ret=lambda a, k: down(a, k),
    a=parametric(
        lambda ret, k, low: filled(ret, k, low), low=Integer,
        recover=lambda a, k: (a & ((1 << k) - 1) if k < 63 else a,), determined_if=lambda k: k == 0,
    ),
    k=parametric(places_down, free=Exponent, recover=lambda k: (k,)),
    ak=parametric(
        lambda ret, v, low: (filled(ret, v, low), v), v=Exponent, low=Integer,
        recover=lambda a, k: (k, a & ((1 << k) - 1) if k < 63 else a),
    ),
)  # fmt: skip

# ---- xorshift of integers -----------------------------------------------------------------


def sum_of_shifts(ret: int, k: int) -> int:
    """``ret`` ^ (``ret`` >> k) ^ (``ret`` >> 2 * k) ^ ..."""
    if k < 1:
        raise NoSolution("a shift by 0 places leaves 0")
    places, bits = k, length(ret)
    while places < bits:
        ret ^= ret >> places
        places *= 2
    return ret


def unshifted(ret: int, k: int, negative: bool) -> int:
    """The integer of this sign whose xorshift is ``ret``; its complement has the same."""
    if ret < 0:
        raise NoSolution("a xorshift to the right clears the sign")
    found = sum_of_shifts(ret, k)
    return ~found if negative else found


def places_of_xorshift(ret: int, x: int, wish: int) -> int:
    """By how many places x is shifted to give ``ret``: the first from ``wish`` on, going round."""
    shifted = x ^ ret
    k = wish
    for _ in range(MOST):
        if down(x, k) == shifted:
            return k
        k = k % MOST + 1
    raise NoSolution("the result is not the integer, changed by a shift of up to 1023 places")


xorshift_right_int = relation(
    xorshift_right, int, int, "return = xorshift_right(x, k)",
    domain={"k": Integers(1, MOST)}, codomain=Integers(0),
    ret=lambda x, k: x ^ down(x, k),
    x=parametric(unshifted, negative=Bool, recover=lambda x: (x < 0,)),
    k=parametric(places_of_xorshift, wish=Integers(1, MOST), recover=lambda k: (k,)),
    xk=parametric(
        lambda ret, v, negative: (unshifted(ret, v, negative), v),
        v=Integers(1, MOST), negative=Bool,
        recover=lambda x, k: (k, x < 0),
    ),
)  # fmt: skip
