"""The table of translations: relations as terms of z3.

``TRANSLATIONS`` has a function for each target of a relation, or for a class of targets or
relations. The function takes the place of the statement, a ``TranslationSite``, then the values of
the arguments, and returns the value of the result, or a tuple of several. ``at.require`` adds the
condition under which the function does not raise in Python. A relation that is not in the table is
tabulated if all its arguments but one are constants, and that one has few values.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from inversion.solving.smt_values import (
    CODES,
    Never,
    Term,
    Translated,
    Truth,
    Unsized,
    Untranslated,
    Value,
    Word,
    as_number,
    as_value,
    compared,
    equal,
    merged,
    number,
    truth,
    unsized,
    z3,
)
from primitives.errors import NoSolution
from primitives.finite_tables import FiniteTable, Members
from primitives.floats.arithmetic import squared
from primitives.integers.bits import (
    bit_count,
    rotate_left,
    rotate_right,
    xorshift_left,
    xorshift_right,
)
from primitives.integers.ordering import clip
from primitives.sequences.chains import ConcatenationRelation, text_of
from primitives.sequences.items import Apart, FromDigits

__all__ = ["TRANSLATIONS", "TranslationSite", "is_of_bits", "translated"]

MOST_TABULATED = 4096
"""The largest number of values of an argument for which a relation is tabulated."""
MOST_PLACES = 1024
"""The largest number of places by which integers are shifted, and the largest exponent."""
RAISED = (ValueError, ArithmeticError, LookupError, TypeError, NoSolution)
"""The errors with which relations say that arguments have no result."""


@dataclass(frozen=True)
class TranslationSite:
    """A statement that is translated.

    rule: its relation. require: receives the conditions under which it does not raise. size: gives
    an unknown sequence these items, None for unknown ones.
    """

    rule: Any
    require: Callable[[Any], None]
    size: Callable[[Unsized, tuple[Any, ...], str], Translated]


def translated(at: TranslationSite, values: list[Value]) -> tuple[Value, ...]:
    """The results of a relation for these arguments. Raises Untranslated."""
    found = _translation_of(at.rule)
    made = tabulated(at, *values) if found is None else found(at, *values)
    return made if isinstance(made, tuple) else (made,)


def _translation_of(rule: Any) -> Callable[..., Any] | None:
    for key in (rule.target, type(rule.target), type(rule)):
        try:
            if key in TRANSLATIONS:
                return TRANSLATIONS[key]
        except TypeError:  # the value is not hashable
            continue
    return None


def is_of_bits(rule: Any) -> bool:
    """Return whether a relation is an operation of bits; in programs with such operations, integers
    with bounds are terms of bits.
    """
    target = getattr(rule, "target", None)  # structures have none
    return any(target is each for each in OF_BITS)


# ---- sums and products --------------------------------------------------------------------


def _arithmetic(
    apply: Callable[[Any, Any], Any], a: Term, b: Term, ends: Iterable[int | None]
) -> Term:
    """A sum, difference or product of integers, whose bounds are the smallest and
    largest of ends.
    """
    found = list(ends)
    known = [end for end in found if end is not None]
    if len(known) < len(found):
        low = high = None
    else:
        low, high = min(known), max(known)
    if a.known is not None and b.known is not None:
        return as_value(apply(a.known, b.known))
    if a.is_unbounded or b.is_unbounded or low is None or high is None:
        return number(apply(a.integer(), b.integer()), low, high)
    return number(lambda width: apply(a.bits(width), b.bits(width)), low, high)


def _each(apply: Callable[[int, int], int], a: Term, b: Term) -> list[int | None]:
    """The values of an operation at all pairs of bounds."""
    pairs = [(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    return [None if x is None or y is None else apply(x, y) for x, y in pairs]


def _of(apply: Callable[[Any, Any], Any]) -> Callable[..., Value]:
    def translation(at: TranslationSite, a: Value, b: Value) -> Value:
        if isinstance(a, Translated) or isinstance(b, Translated):
            return _of_rows(apply, a, b)
        if isinstance(a, Word):
            return Word(apply(a.term, b.term), a.kind)
        return _arithmetic(apply, a, b, _each(apply, a, b))

    return translation


def _of_rows(apply: Any, a: Value, b: Value) -> Value:
    if apply is operator.add and isinstance(a, Translated) and isinstance(b, Translated):
        return Translated(a.kind, (*a.items, *b.items))
    times = b.known if isinstance(b, Term) else None
    if apply is operator.mul and isinstance(a, Translated) and times is not None:
        return Translated(a.kind, a.items * max(times, 0))
    raise Untranslated("sequences whose lengths are not known", "let their lengths be known")


add, sub, mul = map(_of, (operator.add, operator.sub, operator.mul))


def neg(at: TranslationSite, a: Value) -> Value:
    """-a"""
    return Word(-a.term, a.kind) if isinstance(a, Word) else sub(at, as_value(0), a)


def square(at: TranslationSite, a: Value) -> Value:
    """a * a"""
    found = mul(at, a, a)
    if isinstance(found, Word) or found.term is None:
        return found
    high = None if a.low is None or a.high is None else max(a.low**2, a.high**2)
    if found.is_unbounded:
        return number(found.term, 0, high)
    assert high is not None
    return number(lambda width: a.bits(width) * a.bits(width), 0, high)


# ---- division -----------------------------------------------------------------------------


def divided(at: TranslationSite, a: Value, b: Value) -> tuple[Value, Value]:
    """``divmod(a, b)``, rounded downwards; division by a word 0 gives 0, as in numpy."""
    if isinstance(a, Word):
        return _divided_words(a, b)
    at.require(z3.Not(equal(b, as_value(0))))
    if b.known == 0:
        raise Never
    if a.known is not None and b.known is not None:
        return as_value(a.known // b.known), as_value(a.known % b.known)
    if b.known is not None and b.known > 0 and b.known & (b.known - 1) == 0:
        places = as_value(b.known.bit_length() - 1)
        return rshift(at, a, places), low_bits(a, b.known.bit_length() - 1)
    low, high = _remainders(a, b)
    if a.is_unbounded or b.is_unbounded:
        x, y = a.integer(), b.integer()
        if b.low is not None and b.low > 0:
            return number(x / y, *_quotients(a, b)), number(x % y, low, high)
        quotient = z3.If(y > 0, x / y, -x / -y)
        remainder = z3.If(y > 0, x % y, -(-x % -y))
        return number(quotient, *_quotients(a, b)), number(remainder, low, high)
    (a_low, a_high), (b_low, b_high) = a.bounds, b.bounds
    whole = z3.simplify
    assert low is not None
    assert high is not None
    if a_low >= 0 and b_low >= 0:
        width = max(a.bounds[1].bit_length(), b.bounds[1].bit_length(), 1)
        x, y = a.bits(width), b.bits(width)
        quotient, remainder = z3.UDiv(x, y), z3.URem(x, y)
        signed = False
    else:
        width = max(_signed(a_low, a_high), _signed(b_low, b_high)) + 1
        x, y = a.bits(width), b.bits(width)
        rest = z3.SRem(x, y)
        below = z3.And(rest != 0, (rest < 0) != (y < 0))
        quotient = z3.If(below, x / y - 1, x / y)
        remainder = z3.If(below, rest + y, rest)
        signed = True
    ends = _quotients(a, b)
    return (
        number(lambda bits: _resized(whole(quotient), bits, signed=signed), *ends),
        number(lambda bits: _resized(whole(remainder), bits, signed=signed), low, high),
    )


def _signed(low: int, high: int) -> int:
    """The number of bits of these integers, with a sign."""
    return max((~low if low < 0 else low).bit_length(), high.bit_length()) + 1


def _resized(term: Any, width: int, *, signed: bool) -> Any:
    if term.size() >= width:
        return z3.Extract(width - 1, 0, term) if term.size() > width else term
    return (z3.SignExt if signed else z3.ZeroExt)(width - term.size(), term)


def _quotients(a: Term, b: Term) -> tuple[int | None, int | None]:
    """The bounds of a // b."""
    if a.low is None or a.high is None:
        return None, None
    if b.low is not None and b.low > 0:
        most = a.low if b.high is None else b.high
        if b.high is None:
            ends = [a.low // b.low, a.high // b.low, -1 if a.low < 0 else 0, 0]
        else:
            ends = [x // y for x in (a.low, a.high) for y in (b.low, most)]
        return min(ends), max(ends)
    most = max(abs(a.low), abs(a.high))
    return -most, most


def _remainders(a: Term, b: Term) -> tuple[int | None, int | None]:
    """The bounds of a % b."""
    low = None if b.low is None else min(0, b.low + 1)
    high = None if b.high is None else max(0, b.high - 1)
    if low == 0 and a.low is not None and a.low >= 0 and a.high is not None:
        high = a.high if high is None else min(high, a.high)
    return low, high


def _divided_words(a: Word, b: Word) -> tuple[Value, Value]:
    x, y = a.term, b.term
    if a.kind is np.uint64:
        quotient, remainder = z3.UDiv(x, y), z3.URem(x, y)
    else:
        rest = z3.SRem(x, y)
        below = z3.And(rest != 0, (rest < 0) != (y < 0))
        quotient = z3.If(below, x / y - 1, x / y)
        remainder = z3.If(below, rest + y, rest)
    none = z3.BitVecVal(0, 64)
    return (
        Word(z3.If(y == 0, none, quotient), a.kind),
        Word(z3.If(y == 0, none, remainder), a.kind),
    )


def floordiv(at: TranslationSite, a: Value, b: Value) -> Value:
    """a // b"""
    return divided(at, a, b)[0]


def mod(at: TranslationSite, a: Value, b: Value) -> Value:
    """a % b"""
    return divided(at, a, b)[1]


# ---- bits ---------------------------------------------------------------------------------


def low_bits(a: Term, count: int) -> Term:
    """The lowest bits of an integer, ``count`` of them: ``a % 2**count``."""
    last = 2**count - 1
    if a.low is not None and a.high is not None and 0 <= a.low <= a.high <= last:
        return a
    if a.is_unbounded:
        return number(a.term % 2**count, 0, last)
    if a.known is not None:
        return as_value(a.known & last)
    if a.bounds[0] >= 0:
        last = min(last, 2 ** a.bounds[1].bit_length() - 1)
    return number(lambda width: a.bits(width), 0, last)


def bitwise(apply: Callable[[Any, Any], Any], formula: Any) -> Callable[..., Value]:
    """The translation of a bitwise operation. formula: that of truth values."""

    def translation(at: TranslationSite, a: Value, b: Value) -> Value:
        if isinstance(a, Truth):
            return truth(formula(a.term, b.term))
        if isinstance(a, Word):
            return Word(apply(a.term, b.term), a.kind)
        if a.known is not None and b.known is not None:
            return as_value(apply(a.known, b.known))
        if apply is operator.and_:
            for mask, other in ((a, b), (b, a)):
                if mask.known is not None and mask.known >= 0 and not mask.known & mask.known + 1:
                    return low_bits(other, mask.known.bit_length())
        low, high = _bitwise_bounds(apply, a.bounds, b.bounds)
        return number(lambda width: apply(a.bits(width), b.bits(width)), low, high)

    return translation


def _bitwise_bounds(apply: Any, a: tuple[int, int], b: tuple[int, int]) -> tuple[int, int]:
    natural = [high for low, high in (a, b) if low >= 0]
    if apply is operator.and_ and natural:
        return 0, min(natural)
    width = max(_signed(*a), _signed(*b)) - 1
    return (0 if len(natural) == 2 else -(2**width)), 2**width - 1


and_ = bitwise(operator.and_, z3.And)
or_ = bitwise(operator.or_, z3.Or)
xor = bitwise(operator.xor, z3.Xor)


def invert(at: TranslationSite, a: Value) -> Value:
    """~a"""
    return Word(~a.term, a.kind) if isinstance(a, Word) else sub(at, as_value(-1), a)


def lshift(at: TranslationSite, a: Value, k: Value) -> Value:
    """a << k"""
    if isinstance(a, Word):
        return Word(a.term << k.term, a.kind)
    low, high = _places(at, k)
    if low == high:
        return mul(at, a, as_value(2**low))
    if a.is_unbounded:
        return _by_places(a, k, range(low, high + 1), lambda x, n: x * 2**n, operator.lshift)
    ends = [end << places for end in a.bounds for places in (low, high)]
    return number(lambda width: a.bits(width) << k.bits(width), min(ends), max(ends))


def rshift(at: TranslationSite, a: Value, k: Value) -> Value:
    """a >> k"""
    if isinstance(a, Word):
        shifted = z3.LShR(a.term, k.term) if a.kind is np.uint64 else a.term >> k.term
        return Word(shifted, a.kind)
    if a.low is not None and a.high is not None:
        most = max(abs(a.low), abs(a.high)).bit_length() + 1
        k = _at_most(at, k, most)  # further places have no effect
    low, high = _places(at, k)
    if a.known is not None and low == high:
        return as_value(a.known >> low)
    if a.is_unbounded:
        return _by_places(a, k, range(low, high + 1), lambda x, n: x / 2**n, operator.rshift)
    ends = [end >> places for end in a.bounds for places in (low, high)]
    own = max(_signed(*a.bounds), high.bit_length() + 1)
    shifted = a.bits(own) >> k.bits(own)
    return number(lambda width: _resized(shifted, width, signed=True), min(ends), max(ends))


def _at_most(at: TranslationSite, k: Term, most: int) -> Term:
    """The number of places, at most this many; a negative one stays negative."""
    if k.high is not None and k.high <= most:
        return k
    return minimum(at, k, as_value(most))


def _places(at: TranslationSite, k: Term) -> tuple[int, int]:
    """The smallest and the largest number of places of a shift; it is not negative."""
    at.require(compared(operator.le, z3.ULE, as_value(0), k))
    low, high = (None if k.low is None else max(k.low, 0)), k.high
    if high is None:
        raise Untranslated("a shift by a number of places without bounds", "mask it, as k & 31")
    if high > MOST_PLACES:
        raise Untranslated(f"a shift by up to {high} places", f"mask it, below {MOST_PLACES}")
    return low or 0, max(high, low or 0)


def _by_places(
    a: Term,
    k: Term,
    places: range,
    apply: Callable[[Any, int], Any],
    exact: Callable[[int, int], int],
) -> Term:
    """A shift of an unbounded integer: a choice among the numbers of places.

    apply, exact: the shift of a term, and of an integer.
    """
    found = apply(a.integer(), places[-1])
    for count in reversed(places[:-1]):
        found = z3.If(equal(k, as_value(count)), apply(a.integer(), count), found)
    if a.low is None or a.high is None:
        return number(found, 0 if a.low is not None and a.low >= 0 else None, None)
    ends = [exact(end, count) for end in (a.low, a.high) for count in (places[0], places[-1])]
    return number(found, min(ends), max(ends))


def ones(at: TranslationSite, x: Value) -> Value:
    """The number of ones among the lowest 64 bits."""
    term = x.term if isinstance(x, Word) else x.bits(64)
    one_by_one = [z3.ZeroExt(6, z3.Extract(i, i, term)) for i in range(64)]
    return number(lambda width: sum(one_by_one[1:], one_by_one[0]), 0, 64 + 63)


def shifted_right(at: TranslationSite, x: Value, k: Value) -> Value:
    """x ^ (x >> k)"""
    return xor(at, x, rshift(at, x, k))


def shifted_left(at: TranslationSite, x: Value, k: Value) -> Value:
    """x ^ (x << k)"""
    return xor(at, x, lshift(at, x, k))


def rotated(rotate: Any) -> Callable[..., Value]:
    def translation(at: TranslationSite, x: Word, k: Word) -> Value:
        return Word(rotate(x.term, z3.URem(k.term, z3.BitVecVal(64, 64))), x.kind)

    return translation


# ---- order --------------------------------------------------------------------------------


def comparison(apply: Any, unsigned: str) -> Callable[..., Value]:
    """The translation of a comparison. unsigned: the name of the comparison of bits
    without a sign.
    """

    def translation(at: TranslationSite, a: Value, b: Value) -> Value:
        if isinstance(a, Word):
            has_sign = a.kind is np.int64
            return truth((apply if has_sign else getattr(z3, unsigned))(a.term, b.term))
        return truth(compared(apply, getattr(z3, unsigned), a, b))

    return translation


lt, le = comparison(operator.lt, "ULT"), comparison(operator.le, "ULE")
gt, ge = comparison(operator.gt, "UGT"), comparison(operator.ge, "UGE")


def same(at: TranslationSite, a: Value, b: Value) -> Value:
    """a == b"""
    return truth(equal(a, b))


def differ(at: TranslationSite, a: Value, b: Value) -> Value:
    """a != b"""
    return truth(z3.Not(equal(a, b)))


def minimum(at: TranslationSite, a: Value, b: Value) -> Value:
    """min(a, b)"""
    return _narrowed(merged(le(at, a, b).term, a, b), a, b, min)


def maximum(at: TranslationSite, a: Value, b: Value) -> Value:
    """max(a, b)"""
    return _narrowed(merged(ge(at, a, b).term, a, b), a, b, max)


def _narrowed(found: Value, a: Value, b: Value, ends: Any) -> Value:
    """A minimum or maximum of integers, with its bounds."""
    if not isinstance(found, Term) or found.term is None:
        return found
    low, high = (
        None if None in pair else ends(pair) for pair in ((a.low, b.low), (a.high, b.high))
    )
    if ends is min and high is None:
        high = a.high if b.high is None else b.high
    if ends is max and low is None:
        low = a.low if b.low is None else b.low
    if found.is_unbounded:
        return number(found.term, low, high)
    return number(lambda width: _resized(found.term, width, signed=found.bounds[0] < 0), low, high)


def clipped(at: TranslationSite, a: Value, low: Value, high: Value) -> Value:
    """min(max(a, low), high)"""
    return minimum(at, maximum(at, a, low), high)


def magnitude(at: TranslationSite, a: Value) -> Value:
    """abs(a)"""
    if isinstance(a, Word):
        return Word(z3.If(a.term < 0, -a.term, a.term), a.kind) if a.kind is np.int64 else a
    return maximum(at, a, neg(at, a)) if a.low is None or a.low < 0 else a


# ---- conversion ---------------------------------------------------------------------------


def is_true(at: TranslationSite, a: Value) -> Value:
    """bool(a)"""
    if isinstance(a, Truth):
        return a
    if isinstance(a, Translated):
        return truth(bool(a.items))
    return truth(a.term != 0 if isinstance(a, Word) else z3.Not(equal(a, as_value(0))))


def negated(at: TranslationSite, a: Value) -> Value:
    """not a"""
    return truth(z3.Not(is_true(at, a).term))


def integer(at: TranslationSite, a: Value, *base: Value) -> Value:
    """int(a)"""
    if isinstance(a, Truth):
        return merged(a.term, as_value(1), as_value(0))
    if isinstance(a, Word):
        return as_number(a)
    return a if isinstance(a, Term) and not base else tabulated(at, a, *base)


def word(kind: Any) -> Callable[..., Value]:
    """The translation of a conversion to a word; an integer has to be in the range of the word."""
    info = np.iinfo(kind)
    low, high = as_value(int(info.min)), as_value(int(info.max))

    def translation(at: TranslationSite, a: Value) -> Value:
        if isinstance(a, Truth):
            a = integer(at, a)
        if isinstance(a, Word):
            return Word(a.term, kind)
        at.require(le(at, low, a).term)
        at.require(le(at, a, high).term)
        inside = a if not a.is_unbounded else Term(a.term, low.low, high.high)
        return Word(inside.bits(64), kind)

    return translation


# ---- powers -------------------------------------------------------------------------------


def power(at: TranslationSite, a: Value, b: Value, *modulus: Value) -> Value:
    """``a ** b`` with a constant exponent, or with a constant base and a bounded exponent; and
    ``pow(a, b, n)``.
    """
    if modulus:
        return _power_modulo(at, a, b, modulus[0])
    if b.low is None or b.low < 0:
        raise Untranslated(
            "a power whose exponent may be negative, which gives a float",
            "declare the exponent's domain, as Integers(0, 64)",
        )
    if b.known is not None and 0 <= b.known <= MOST_PLACES:
        return _by_squares(at, a, b.known, lambda x: x)
    if a.known is None or b.low is None or b.high is None or b.high > MOST_PLACES:
        raise Untranslated(
            "a power of an unknown base and exponent",
            "let the exponent be a constant, or the base a constant and declare the exponent's "
            "domain",
        )
    found = as_value(a.known**b.high)
    for count in range(b.high - 1, b.low - 1, -1):
        found = merged(equal(b, as_value(count)), as_value(a.known**count), found)
    return found


def _by_squares(
    at: TranslationSite, a: Value, exponent: int, then: Callable[[Value], Value]
) -> Value:
    found, left = as_value(1), exponent
    while left:
        found = then(mul(at, found, a)) if left & 1 else found
        left >>= 1
        a = then(square(at, a)) if left else a
    return then(found)


def _power_modulo(at: TranslationSite, a: Value, b: Value, n: Value) -> Value:
    if b.known is None or b.known < 0:
        raise Untranslated(
            "a power modulo a number with an unknown or negative exponent",
            "let the exponent be a constant that is not negative",
        )
    at.require(z3.Not(equal(n, as_value(0))))
    return _by_squares(at, a, b.known, lambda x: mod(at, x, n))


# ---- strings and lists --------------------------------------------------------------------


def items(at: TranslationSite, a: Value) -> tuple[Value, ...]:
    """The items of a sequence that a template leaves open."""
    rule: Apart = at.rule
    if isinstance(a, Unsized):
        a = at.size(a, rule.template, rule.letters)
    if len(a.items) != len(rule.template):
        raise Never
    for item, wanted in zip(a.items, rule.template, strict=True):
        if wanted is not None:
            at.require(equal(_as_item(a.kind, item), as_value(wanted)))
    return tuple(_as_item(a.kind, a.items[i]) for i in rule.places)


def _as_item(kind: Any, item: Value) -> Value:
    """An item in the form of Python: an item of a string is a string of one character."""
    return Translated(str, (item,)) if kind is str else item


def joined(at: TranslationSite, *parts: Value) -> Value:
    """The concatenation of strings, or of lists and single items."""
    rule: ConcatenationRelation = at.rule
    found: list[Value] = []
    for part, single in zip(parts, rule.singles, strict=True):
        if single and rule.returns is not str:
            found.append(part)
        else:
            found += _row(part).items
    return Translated(str if rule.returns is str else list, tuple(found))


def _row(value: Value) -> Translated:
    if not isinstance(value, Translated):
        raise unsized(value)
    return value


def digits(at: TranslationSite, *given: Value) -> Value:
    """The number with these digits, the highest first."""
    rule: FromDigits = at.rule
    found = as_value(0)
    last = as_value(rule.base - 1)
    for digit in given:
        at.require(z3.And(le(at, as_value(0), digit).term, le(at, digit, last).term))
        inside = digit if not digit.is_unbounded else number(digit.term, 0, rule.base - 1)
        found = add(at, mul(at, found, as_value(rule.base)), inside)
    if not rule.signed:
        return found
    over = gt(at, found, as_value(rule.high)).term
    return merged(over, sub(at, found, as_value(rule.base**rule.count)), found)


def item(at: TranslationSite, a: Value, i: Value) -> Value:
    """a[i]"""
    row = _row(a)
    count = len(row.items)
    inside = [at_ for at_ in range(-count, count) if _may_be(i, at_)]
    at.require(z3.Or([equal(i, as_value(at_)) for at_ in inside]))
    if not inside:
        raise Never
    found = _as_item(row.kind, row.items[inside[-1]])
    for at_ in inside[:-1]:
        one = _as_item(row.kind, row.items[at_])
        found = merged(equal(i, as_value(at_)), one, found)
    return found


def _may_be(a: Term, value: int) -> bool:
    return (a.low is None or a.low <= value) and (a.high is None or value <= a.high)


def part(at: TranslationSite, a: Value) -> Value:
    """A slice of a sequence."""
    row = _row(a)
    every = range(len(row.items))
    chosen = at.rule.target([*every])
    return Translated(row.kind, tuple(row.items[i] for i in chosen))


def length(at: TranslationSite, a: Value) -> Value:
    """len(a)"""
    return as_value(len(_row(a).items))


def point(at: TranslationSite, a: Value) -> Value:
    """ord(a)"""
    row = _row(a)
    if len(row.items) != 1:
        raise Never
    return row.items[0]


def character(at: TranslationSite, a: Value) -> Value:
    """chr(a)"""
    at.require(z3.And(le(at, as_value(0), a).term, le(at, a, as_value(CODES)).term))
    if not a.is_unbounded:
        return Translated(str, (a,))
    low = 0 if a.low is None else max(a.low, 0)
    return Translated(str, (number(a.term, low, CODES if a.high is None else min(a.high, CODES)),))


def text(at: TranslationSite, a: Value) -> Value:
    """str(a)"""
    return a if isinstance(a, Translated) and a.kind is str else tabulated(at, a)


def begins(at: TranslationSite, a: Value, b: Value) -> Value:
    """a.startswith(b)"""
    return truth(_has_at(_row(a), _row(b), 0))


def ends_with(at: TranslationSite, a: Value, b: Value) -> Value:
    """a.endswith(b)"""
    return truth(_has_at(_row(a), _row(b), len(_row(a).items) - len(_row(b).items)))


def contains(at: TranslationSite, a: Value, b: Value) -> Value:
    """b in a"""
    whole, wanted = _row(a), _row(b)
    starts = range(len(whole.items) - len(wanted.items) + 1)
    return truth(z3.Or([_has_at(whole, wanted, start) for start in starts]))


def _has_at(whole: Translated, wanted: Translated, start: int) -> Any:
    """The formula that a sequence contains another one at a position."""
    if start < 0 or start + len(wanted.items) > len(whole.items):
        return z3.BoolVal(False)
    pairs = zip(whole.items[start:], wanted.items, strict=False)
    return z3.And([equal(x, y) for x, y in pairs])


# ---- tables -------------------------------------------------------------------------------


def entry(at: TranslationSite, key: Value) -> Value:
    """The entry of a table at a key."""
    table: FiniteTable = at.rule.target
    return _chosen(at, key, list(table.held.items()))


def _chosen(at: TranslationSite, key: Value, pairs: list[tuple[Any, Any]]) -> Value:
    """The entry at a key among pairs; one of them has to have the key."""
    near = [(wanted, found) for wanted, found in pairs if _is_near(key, wanted)]
    same_as = [equal(key, as_value(wanted)) for wanted, _ in near]
    at.require(z3.Or(same_as))
    if not near:
        raise Never
    found = as_value(near[-1][1])
    for condition, (_, value) in zip(same_as[:-1], near[:-1], strict=True):
        found = merged(z3.simplify(condition), as_value(value), found)
    return found


def _is_near(key: Value, wanted: Any) -> bool:
    return not isinstance(key, Term) or _may_be(key, wanted)


def member(at: TranslationSite, key: Value) -> Value:
    """Return whether a key is in a finite set."""
    members: Members = at.rule.target
    return truth(z3.Or([equal(key, as_value(wanted)) for wanted in members.held]))


def tabulated(at: TranslationSite, *values: Value) -> Value | tuple[Value, ...]:
    """The results of a relation, computed for all values of the only argument that is
    not constant.
    """
    constants = [_constant(value) for value in values]
    open_ = [i for i, one in enumerate(constants) if one is None]
    if len(open_) > 1:
        raise Untranslated(
            "no translation", "leave out solver='z3', or write it by other operations"
        )
    if not open_:
        return _run(at, [one[0] for one in constants if one is not None])
    (place,) = open_
    pairs: list[tuple[Any, Any]] = []
    for value in _values(values[place]):
        given = [value if one is None else one[0] for one in constants]
        try:
            pairs.append((value, at.rule(*given)))
        except RAISED:
            continue
    if not pairs:
        raise Never
    key = values[place]
    if len(at.rule.outputs) == 1:
        return _chosen(at, key, pairs)
    columns = range(len(at.rule.outputs))
    return tuple(_chosen(at, key, [(v, made[i]) for v, made in pairs]) for i in columns)


def _run(at: TranslationSite, given: list[Any]) -> Value | tuple[Value, ...]:
    try:
        found = at.rule(*given)
    except RAISED:
        raise Never from None
    return as_value(found) if len(at.rule.outputs) == 1 else tuple(map(as_value, found))


def _constant(value: Value) -> tuple[Any] | None:
    """The value of a constant, in a tuple of one; None for any other value."""
    if isinstance(value, Term):
        return None if value.known is None else (value.known,)
    if isinstance(value, Truth):
        return None if value.known is None else (value.known,)
    if isinstance(value, Word):
        found = z3.simplify(value.term)
        if not z3.is_bv_value(found):
            return None
        is_long = value.kind is np.uint64
        return (value.kind(found.as_long() if is_long else found.as_signed_long()),)
    if isinstance(value, Translated):
        parts = [_constant(one) for one in value.items]
        if None in parts:
            return None
        given = [part[0] for part in parts if part is not None]
        if value.kind is str:
            return ("".join(map(chr, given)),)
        return (bytes(given) if value.kind is bytes else given,)
    return None


def _values(value: Value) -> list[Any]:
    """All values of a truth value, a bounded integer or a character. Raises Untranslated if there
    are many.
    """
    if isinstance(value, Truth):
        return [False, True]
    code = value.items[0] if isinstance(value, Translated) and len(value.items) == 1 else value
    if isinstance(code, Term) and code.low is not None and code.high is not None:
        every = range(code.low, min(code.high, code.low + MOST_TABULATED) + 1)
        if len(every) <= MOST_TABULATED:
            return [*map(chr, every)] if isinstance(value, Translated) else [*every]
    raise Untranslated(
        "no translation of an argument with many values",
        f"declare a domain of at most {MOST_TABULATED} values, as Integers(0, 255) or an alphabet, "
        "Strings('0123456789', 4, 4)",
    )


OF_BITS = (
    *(operator.and_, operator.or_, operator.xor, operator.invert, operator.lshift, operator.rshift),
    *(bit_count, rotate_left, rotate_right, xorshift_left, xorshift_right),
)

TRANSLATIONS: dict[Any, Callable[..., Any]] = {
    operator.add: add,
    operator.sub: sub,
    operator.mul: mul,
    operator.neg: neg,
    squared: square,
    operator.floordiv: floordiv,
    operator.mod: mod,
    divmod: divided,
    operator.pow: power,
    pow: power,
    operator.and_: and_,
    operator.or_: or_,
    operator.xor: xor,
    np.logical_and: and_,
    np.logical_or: or_,
    np.logical_xor: xor,
    operator.invert: invert,
    operator.lshift: lshift,
    operator.rshift: rshift,
    bit_count: ones,
    xorshift_right: shifted_right,
    xorshift_left: shifted_left,
    rotate_left: rotated(z3.RotateLeft),
    rotate_right: rotated(z3.RotateRight),
    operator.lt: lt,
    operator.le: le,
    operator.gt: gt,
    operator.ge: ge,
    operator.eq: same,
    operator.ne: differ,
    min: minimum,
    max: maximum,
    clip: clipped,
    abs: magnitude,
    bool: is_true,
    operator.not_: negated,
    int: integer,
    np.int64: word(np.int64),
    np.uint64: word(np.uint64),
    operator.getitem: item,
    operator.itemgetter: part,
    len: length,
    ord: point,
    chr: character,
    str: text,
    str.startswith: begins,
    str.endswith: ends_with,
    operator.contains: contains,
    text_of: joined,
    Apart: items,
    FromDigits: digits,
    ConcatenationRelation: joined,
    FiniteTable: entry,
    Members: member,
}
"""The translation of each relation, by its target, or by the class of its target or of itself."""
