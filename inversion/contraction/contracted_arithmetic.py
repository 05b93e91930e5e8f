"""Contractors of sums, products, quotients and powers, of floats and of integers."""

from __future__ import annotations

import itertools
import math

from inversion.contraction.contracted_bits import in_blocks
from inversion.contraction.contractor import (
    Contractor,
    enclosed_pairs,
    even,
    image,
    mirrored,
    monotone,
    widened,
)
from overlay import sets
from overlay.sets import Bound, NumberSet, integer_bounds, number_set
from overlay.sets.rounding import LARGEST, TINY

__all__ = [
    "ADD",
    "DIVIDE",
    "FLOOR_DIVIDE",
    "FLOOR_DIVIDE_WHOLE",
    "MULTIPLY",
    "NEGATE",
    "POWER",
    "POWER_WHOLE",
    "REMAINDER",
    "SQUARE",
    "SUBTRACT",
]

INF = math.inf
FINITE = NumberSet(((-LARGEST, LARGEST),))
EVERYTHING = ((-INF, INF),)

_whole_sum = image(integer_bounds.add)
_whole_product = image(integer_bounds.multiply)
_floored = image(integer_bounds.floor_divide)


def _rounded(a: NumberSet) -> NumberSet:
    """The numbers that may round to a member."""
    return a if a.whole else widened(a)


def _over(a: NumberSet, b: NumberSet) -> NumberSet:
    return number_set(enclosed_pairs(sets.divide, a, b))


def _finite_as(ret: NumberSet, found: NumberSet) -> NumberSet:
    """The numbers found, restricted to finite ones if the result is finite: a sum or product with
    an infinite operand is infinite or NaN.
    """
    if ret.whole or found.whole or ret.low == -INF or ret.high == INF:
        return found
    return found.meet(FINITE)


# ---- sums ---------------------------------------------------------------------------------


def _sum(a: NumberSet, b: NumberSet) -> NumberSet:
    if a.whole and b.whole:
        return _whole_sum(a, b)
    # infinities of both signs give NaN
    nan = (a.low == -INF and b.high == INF) or (a.high == INF and b.low == -INF)
    return number_set(enclosed_pairs(sets.add, a, b), nan=nan)


def _difference(a: NumberSet, b: NumberSet) -> NumberSet:
    return _sum(a, mirrored(b))


def _plus(a: NumberSet, b: NumberSet) -> NumberSet:
    return _rounded(_sum(_rounded(a), b)).numbers()


def _minus(a: NumberSet, b: NumberSet) -> NumberSet:
    return _rounded(_difference(_rounded(a), b)).numbers()


ADD = Contractor(
    _sum,
    (
        lambda ret, a, b: _finite_as(ret, _minus(ret, b)),
        lambda ret, a, b: _finite_as(ret, _minus(ret, a)),
    ),
)
SUBTRACT = Contractor(
    _difference,
    (
        lambda ret, a, b: _finite_as(ret, _plus(ret, b)),
        lambda ret, a, b: _finite_as(ret, mirrored(_minus(ret, a))),
    ),
)
NEGATE = Contractor(mirrored, (lambda ret, a: mirrored(ret),))

# ---- products -----------------------------------------------------------------------------


def _product(a: NumberSet, b: NumberSet) -> NumberSet:
    if a.whole and b.whole:
        return _whole_product(a, b)
    # 0 times an infinity is NaN; 0 times any other number is 0
    nan = INF in (a.high, -a.low, b.high, -b.low)
    return number_set(enclosed_pairs(sets.multiply, a, b), nan=nan)


def _without_zero(b: NumberSet) -> NumberSet:
    """The members other than 0, as divisors: floats of at least the smallest magnitude, or
    integers.
    """
    step = 1 if b.whole else TINY
    found: list[tuple[Bound, Bound]] = []
    for low, high in b.pieces:
        found += [(low, min(high, -step)), (max(low, step), high)]
    return number_set(found, whole=b.whole)


def quotients(ret: NumberSet, b: NumberSet) -> NumberSet:
    """The numbers whose product with a member of b is in ``ret``."""
    wide = _rounded(ret)
    if wide.contains(0) and b.contains(0):
        return NumberSet(EVERYTHING, ret.whole)
    divisors = _without_zero(b)
    if ret.whole:
        return _whole_quotients(ret, divisors)
    return _rounded(_over(wide, divisors)).numbers()


def _whole_quotients(ret: NumberSet, b: NumberSet) -> NumberSet:
    found: list[tuple[Bound, Bound]] = []
    for (low, high), (first, last) in itertools.product(ret.pieces, b.pieces):
        if INF in (high, -low):
            return NumberSet(EVERYTHING, whole=True)
        # an infinite divisor gives a quotient of 0
        divisors = [int(d) for d in (first, last) if abs(d) != INF]
        ends = [q for r in (int(low), int(high)) for d in divisors for q in (r // d, -(-r // d))]
        ends += [0] if len(divisors) < 2 else []
        found.append((min(ends), max(ends)))
    return number_set(found, whole=True)


def _quotient(a: NumberSet, b: NumberSet) -> NumberSet:
    """The quotients of members of a by members of b other than 0."""
    found = _over(a, _without_zero(b))
    if not b.contains(0):
        return found
    # a numpy number divided by 0 gives an infinity or NaN
    return found.join(number_set([(INF, INF), (-INF, -INF)], nan=True))


def _divisors(ret: NumberSet, a: NumberSet) -> NumberSet:
    """The numbers that divide a member of a to give one of ``ret``."""
    wide = _rounded(ret)
    if wide.contains(0) and a.contains(0):
        return NumberSet(EVERYTHING)
    found = _rounded(_over(a, _without_zero(wide))).numbers()
    # an infinite divisor gives 0
    ends = [(x, x) for x in (INF, -INF)] if wide.contains(0) else []
    return found.join(number_set(ends))


MULTIPLY = Contractor(
    _product,
    (
        lambda ret, a, b: _finite_as(ret, quotients(ret, b)),
        lambda ret, a, b: _finite_as(ret, quotients(ret, a)),
    ),
)
DIVIDE = Contractor(
    _quotient,
    (
        lambda ret, a, b: _rounded(_product(_rounded(ret), _without_zero(b))).numbers(),
        lambda ret, a, b: _divisors(ret, a),
    ),
)

_root = monotone(sets.square, sets.root, (0.0, INF), (0.0, INF))
_float_square = even(_root)


def _square(a: NumberSet) -> NumberSet:
    if not a.whole:
        assert _float_square.ret is not None
        return _float_square.ret(a)
    sizes = image(integer_bounds.magnitude)(a)
    return number_set(((low * low, high * high) for low, high in sizes.pieces), whole=True)


def _roots(ret: NumberSet, a: NumberSet) -> NumberSet:
    if not ret.whole:
        (back,) = _float_square.arguments
        assert back is not None
        return back(ret, a)
    found: list[tuple[Bound, Bound]] = []
    for low, high in ret.pieces:
        if high >= 0:
            last = high if high == INF else math.isqrt(int(high))
            first = math.isqrt(max(int(low), 1) - 1) + 1 if low > 0 else 0
            found.append((first, last))
    sizes = number_set(found, whole=True)
    return sizes.join(mirrored(sizes))


SQUARE = Contractor(_square, (_roots,))

# ---- division with remainder --------------------------------------------------------------


def _dividends(ret: NumberSet, a: NumberSet, b: NumberSet) -> NumberSet:
    """The numbers whose floored quotient by b is in ``ret``: the exact quotient exceeds it by less
    than 1.
    """
    above = number_set(((low, high + 1) for low, high in ret.pieces), whole=ret.whole)
    product = _product(above if ret.whole else _rounded(above), b)
    return _rounded(product).numbers()


def _floors(a: NumberSet, b: NumberSet) -> NumberSet:
    found = _rounded(_over(a, _without_zero(b)))
    return number_set(map(sets.floor, found.pieces), nan=True)


def _whole_dividends(ret: NumberSet, a: NumberSet, b: NumberSet) -> NumberSet:
    size = _size(b)
    if size is None:
        return _dividends(ret, a, b)
    return number_set(
        ((low * size, high * size + size - 1) for low, high in ret.pieces), whole=True
    )


def _with_remainder(ret: NumberSet, a: NumberSet, b: NumberSet) -> NumberSet:
    size = _size(b)
    return a if size is None else in_blocks(ret, a, size)


def _size(b: NumberSet) -> int | None:
    """The only divisor, if it is known and positive."""
    return int(b.low) if b.low == b.high and 0 < b.low < INF else None


def _remainder(a: NumberSet, b: NumberSet) -> NumberSet:
    """The remainders of floats: between 0 and the divisor."""
    nan = b.contains(0) or INF in (a.high, -a.low, b.high, -b.low)
    return number_set(((min(0, low), max(0, high)) for low, high in b.pieces), nan=nan)


FLOOR_DIVIDE = Contractor(_floors, (_dividends, None))
FLOOR_DIVIDE_WHOLE = Contractor(_floored, (_whole_dividends, None))
REMAINDER = Contractor(_remainder, (None, None))
REMAINDER_WHOLE = Contractor(image(integer_bounds.remainder), (_with_remainder, None))

# ---- powers -------------------------------------------------------------------------------


def _sizes_to_power(a: NumberSet, b: NumberSet) -> NumberSet:
    """The powers of the non-negative members."""
    found = number_set(enclosed_pairs(sets.power, a, b))
    return found.join(number_set([(INF, INF)])) if a.contains(0) and b.low < 0 else found


def _parity(b: NumberSet) -> int | None:
    """0 for a single even exponent, 1 for a single odd one, None for others."""
    whole = b.low == b.high and abs(b.low) < 2**53 and b.low == int(b.low)
    return int(b.low) % 2 if whole else None


def _power(a: NumberSet, b: NumberSet) -> NumberSet:
    right, left = a.meet(number_set([(0.0, INF)])), mirrored(a).meet(number_set([(0.0, INF)]))
    found = _sizes_to_power(right, b)
    if a.low >= 0:
        return found
    of_left = _sizes_to_power(left, b)
    if _parity(b) == 0:
        return found.join(of_left)
    signed = found.join(mirrored(of_left))
    return signed if _parity(b) == 1 else signed.join(of_left).with_nan(True)


def _bases(ret: NumberSet, a: NumberSet, b: NumberSet) -> NumberSet:
    """The bases, for a single exponent other than 0."""
    parity = _parity(b)
    if b.low != b.high or b.low == 0 or (parity is None and a.low < 0):
        return NumberSet(EVERYTHING)
    sizes = _bases_right(ret, float(b.low))
    if a.low >= 0 or parity is None:
        return sizes
    return sizes.join(mirrored(sizes if parity == 0 else _bases_right(mirrored(ret), float(b.low))))


def _bases_right(ret: NumberSet, b: float) -> NumberSet:
    """The non-negative bases whose power is in ``ret``."""
    sizes = _rounded(ret).meet(number_set([(0.0, INF)]))
    root = sets.divide((1.0, 1.0), (b, b))
    found = _rounded(number_set(enclosed_pairs(sets.power, sizes, number_set([root]))))
    return found.join(number_set([(INF, INF)])) if b < 0 and sizes.contains(0) else found


POWER = Contractor(_power, (_bases, None), of_nan=number_set([(1.0, 1.0)]))  # 1**nan, nan**0


def _whole_power(a: NumberSet, b: NumberSet) -> NumberSet:
    if INF in (a.high, -a.low, b.high) or b.low < 0 or b.high > 1024:
        return NumberSet(EVERYTHING, whole=True)
    most = max(abs(int(a.low)), abs(int(a.high))) ** int(b.high)
    if a.low < 0:
        return number_set([(-max(most, 1), max(most, 1))], whole=True)
    return number_set([(min(int(a.low), 1) if b.low == 0 else int(a.low) ** int(b.low),
                    max(most, 1))], whole=True)  # fmt: skip


POWER_WHOLE = Contractor(_whole_power)
