"""Values of programs as terms of z3: integers, words, truth values, strings and lists.

An integer is a term of unbounded integers; if its bounds are known, it is a term of bits, with as
many bits as the bounds need, and each operation has as many as its result needs, so that nothing
overflows. A word has 64 bits, and wraps. A string is a sequence of code points.
"""

from __future__ import annotations

import importlib
import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from overlay.core.errors import reduced
from primitives.domains import ByteStrings, Domain, Integers, Strings, domain_of
from primitives.sequences.lists import Lists, element_of_sequence, is_list, length_of

__all__ = [
    "CODES",
    "Never",
    "Term",
    "Translated",
    "Truth",
    "Unsized",
    "Untranslated",
    "Value",
    "Word",
    "as_value",
    "equal",
    "merged",
    "named",
    "no_term",
    "number",
    "of_model",
    "truth",
    "unsized",
]

z3: Any = importlib.import_module("z3")  # z3 has no type annotations

WIDEST = 4096
"""The largest number of bits of an integer."""
CODES = 0x10FFFF
"""The highest code point."""
WORDS = (np.int64, np.uint64)


class Untranslated(Exception):
    """A value or an operation has no exact translation. remedy: a way to avoid it."""

    def __init__(self, reason: str, remedy: str) -> None:
        super().__init__(reason)
        self.reason = reason
        self.remedy = remedy

    __reduce__ = reduced


class Never(Exception):
    """A statement raises for all arguments: no later statement is reached."""


BOUNDED = (
    "give the domain, which says how many bits there are: domain={'x': Integers(0, 2**32 - 1)}"
)


@dataclass(frozen=True)
class Term:
    """An integer of Python between two bounds; None means no bound. term: of integers or of bits;
    None for a constant.
    """

    term: Any
    low: int | None
    high: int | None

    @property
    def known(self) -> int | None:
        """The value of a constant."""
        return self.low if self.term is None else None

    @property
    def is_unbounded(self) -> bool:
        """Whether it is a term of unbounded integers."""
        return self.term is not None and z3.is_int(self.term)

    @property
    def bounds(self) -> tuple[int, int]:
        """Both bounds. Raises Untranslated if one is missing."""
        if self.low is None or self.high is None:
            raise Untranslated("the bits of an integer without bounds", BOUNDED)
        return self.low, self.high

    def integer(self) -> Any:
        """The integer as a term of unbounded integers."""
        if self.term is None:
            return z3.IntVal(self.low)
        if self.is_unbounded:
            return self.term
        return z3.BV2Int(self.term, is_signed=self.bounds[0] < 0)

    def bits(self, width: int) -> Any:
        """Its lowest bits, ``width`` of them, in two's complement."""
        if width > WIDEST:
            raise Untranslated(
                f"an integer of {width} bits", f"keep integers below 2**{WIDEST}, by % or &"
            )
        if self.term is None:
            return z3.BitVecVal(self.low, width)
        if self.is_unbounded:
            _ = self.bounds
            return z3.Int2BV(self.term, width)
        own = self.term.size()
        if own >= width:
            return self.term if own == width else z3.Extract(width - 1, 0, self.term)
        longer = z3.SignExt if self.bounds[0] < 0 else z3.ZeroExt
        return longer(width - own, self.term)


@dataclass(frozen=True)
class Word:
    """A word of numpy. term: the term of its bits."""

    term: Any
    kind: Any


@dataclass(frozen=True)
class Truth:
    """A truth value. term: a formula."""

    term: Any

    @property
    def known(self) -> bool | None:
        """The value, if it is known."""
        return True if z3.is_true(self.term) else False if z3.is_false(self.term) else None


@dataclass(frozen=True)
class Translated:
    """A string, a bytes object or a list of known length. items: its items; of a string, the code
    points.
    """

    kind: Any
    items: tuple[Value, ...]


@dataclass(frozen=True)
class Unsized:
    """A string, bytes or a list of unknown length, whose items have a domain."""

    name: str
    kind: Any
    domain: Domain | None


Value = Any
"""A Number, Word, Truth, Row or Unsized."""


# ---- constants and unknowns ---------------------------------------------------------------


def number(term: Callable[[int], Any] | Any, low: int | None, high: int | None) -> Term:
    """The number with these bounds; it is a constant if they are equal.

    term: the term of unbounded integers, or a function that makes the term for a width in bits.
    """
    if low is not None and low == high:
        return Term(None, low, low)
    if not callable(term):
        return Term(term, low, high)
    assert low is not None
    assert high is not None
    return Term(term(width_of(low, high)), low, high)


def width_of(low: int, high: int) -> int:
    """The number of bits of all integers from ``low`` to ``high``, with a sign if one has it."""
    if low >= 0:
        return max(1, high.bit_length())
    return max((~low).bit_length(), high.bit_length() if high >= 0 else 0) + 1


def truth(value: bool | Any) -> Truth:
    """A truth value, or a formula, as a value."""
    return Truth(z3.BoolVal(value) if isinstance(value, bool) else z3.simplify(value))


def as_value(value: Any) -> Value:
    """A constant as a value. Raises Untranslated unless it is an integer, word, truth value, string
    or list of these.
    """
    if isinstance(value, (bool, np.bool_)):
        return truth(bool(value))
    if isinstance(value, int):
        return Term(None, value, value)
    if type(value) in WORDS:
        return Word(z3.BitVecVal(int(value), 64), type(value))
    if isinstance(value, str):
        return Translated(str, tuple(Term(None, ord(c), ord(c)) for c in value))
    if isinstance(value, (bytes, list)):
        kind = bytes if isinstance(value, bytes) else list
        return Translated(kind, tuple(map(as_value, value)))
    raise no_term(type(value))


def no_term(kind: Any) -> Untranslated:
    """The refusal of a type without terms."""
    shown = getattr(kind, "__name__", str(kind))
    if kind in (float, complex):
        return Untranslated(
            f"a value of type {shown}, whose rounding has no exact term",
            "leave out solver='z3': inverses of floats are planned without it",
        )
    return Untranslated(
        f"a value of type {shown}",
        "integers, numpy.int64, numpy.uint64, truth values, strings, bytes and lists of these "
        "are translated; leave out solver='z3' for others",
    )


def named(name: str, kind: Any, domain: Domain | None, *, as_bits: bool) -> tuple[Value, list[Any]]:
    """An unknown of a type and a domain, and the conditions that it is in its domain.

    as_bits: whether integers with bounds are terms of bits.
    """
    if kind is bool:
        return Truth(z3.Bool(name)), []
    if kind in WORDS or kind is int:
        return _named_number(name, kind, domain, as_bits=as_bits)
    if kind in (str, bytes) or is_list(kind):
        length = length_of(domain)
        if length is None:
            return Unsized(name, kind, domain), []
        return sized(Unsized(name, kind, domain), (None,) * length, as_bits=as_bits)
    raise no_term(kind)


def _named_number(
    name: str, kind: Any, domain: Domain | None, *, as_bits: bool
) -> tuple[Value, list[Any]]:
    known = domain if domain is not None else domain_of(kind)
    if not isinstance(known, Integers):
        raise Untranslated(f"the domain {known!r} of {name}", "declare it as Integers(low, high)")
    low, high = known.low, known.high
    if kind is not int:
        word = Word(z3.BitVec(name, 64), kind)
        inside = as_number(word)
    elif as_bits and low is not None and high is not None:
        word = inside = number(lambda width: z3.BitVec(name, width), low, high)
    else:
        word = inside = number(z3.Int(name), low, high)
    if inside.term is None:
        return word, []
    whole = Term(inside.term, None, None) if inside.is_unbounded else inside
    conditions = [_at_most(as_value(low), whole)] if low is not None else []
    conditions += [_at_most(whole, as_value(high))] if high is not None else []
    conditions += [z3.Not(equal(whole, as_value(hole))) for hole in known.without]
    return word, conditions


def as_number(word: Word) -> Term:
    """The integer of a word."""
    info = np.iinfo(word.kind)
    return Term(word.term, int(info.min), int(info.max))


def sized(
    whole: Unsized, template: Sequence[Any], *, as_bits: bool, letters: str = ""
) -> tuple[Translated, list[Any]]:
    """The items of an unknown sequence with this template, None for unknown ones, and the
    conditions that they are in their domain.

    letters: the characters that they may be; all if it is empty.
    """
    domain, conditions, items = whole.domain, list[Any](), list[Value]()
    if isinstance(domain, Strings):
        letters = letters or domain.alphabet
        is_long = domain.low <= len(template) <= (domain.high or len(template))
    elif isinstance(domain, ByteStrings):
        is_long = domain.low <= len(template) <= (domain.high or len(template))
    else:
        is_long = not isinstance(domain, Lists) or domain.length in (None, len(template))
    conditions += [] if is_long else [z3.BoolVal(False)]
    for i, item in enumerate(template):
        name = f"{whole.name}[{i}]"
        if item is not None:
            items.append(as_character(item) if whole.kind is str else as_value(item))
            continue
        if whole.kind is str:
            made, inside = _letter(name, letters, as_bits=as_bits)
        elif whole.kind is bytes:
            made, inside = named(name, int, Integers(0, 255), as_bits=as_bits)
        else:
            element = domain.element if isinstance(domain, Lists) else None
            made, inside = named(name, element_of_sequence(whole.kind), element, as_bits=as_bits)
        items.append(made)
        conditions += inside
    kind = whole.kind if whole.kind in (str, bytes) else list
    return Translated(kind, tuple(items)), conditions


def as_character(item: str) -> Term:
    """The code point of a character."""
    return Term(None, ord(item), ord(item))


def _letter(name: str, letters: str, *, as_bits: bool) -> tuple[Value, list[Any]]:
    """An unknown code point among those of some characters."""
    codes = sorted(map(ord, letters)) or [0, CODES]
    made, inside = named(name, int, Integers(codes[0], codes[-1]), as_bits=as_bits)
    if letters and len(codes) < codes[-1] - codes[0] + 1:
        inside.append(z3.Or([equal(made, as_value(code)) for code in codes]))
    return made, inside


# ---- equality and choices -----------------------------------------------------------------


def _at_most(a: Term, b: Term) -> Any:
    return compared(operator.le, z3.ULE, a, b)


def compared(signed: Any, unsigned: Any, a: Term, b: Term) -> Any:
    """The formula of a comparison of two integers. signed, unsigned: the comparisons of bits."""
    if a.known is not None and b.known is not None:
        return z3.BoolVal(bool(signed(a.known, b.known)))
    if a.is_unbounded or b.is_unbounded:
        return signed(a.integer(), b.integer())
    low, high = min(a.bounds[0], b.bounds[0]), max(a.bounds[1], b.bounds[1])
    width = width_of(low, high)
    return (unsigned if low >= 0 else signed)(a.bits(width), b.bits(width))


def equal(a: Value, b: Value) -> Any:
    """The formula that two values are equal."""
    if isinstance(a, Term) and isinstance(b, Term):
        return compared(operator.eq, operator.eq, a, b)
    if isinstance(a, (Truth, Word)) and isinstance(b, (Truth, Word)):
        return a.term == b.term
    if isinstance(a, Translated) and isinstance(b, Translated):
        if len(a.items) != len(b.items):
            return z3.BoolVal(False)
        return z3.And([equal(x, y) for x, y in zip(a.items, b.items, strict=True)])
    raise unsized(a if isinstance(a, Unsized) else b)


def unsized(value: Value) -> Untranslated:
    """The refusal of a sequence of unknown length."""
    name = value.name if isinstance(value, Unsized) else "a value"
    return Untranslated(
        f"{name}, whose length is not known",
        "declare it, as Strings('abc', 4, 4), ByteStrings(4, 4) or Lists(Integers(0, 9), 4)",
    )


def merged(condition: Any, a: Value, b: Value) -> Value:
    """The first value if a condition holds, else the second. Raises Untranslated for sequences of
    different lengths.
    """
    if z3.is_true(condition) or z3.is_false(condition):
        return a if z3.is_true(condition) else b
    if isinstance(a, Term) and isinstance(b, Term):
        return _merged_numbers(condition, a, b)
    if isinstance(a, Truth) and isinstance(b, Truth):
        return truth(z3.If(condition, a.term, b.term))
    if isinstance(a, Word) and isinstance(b, Word):
        return Word(z3.If(condition, a.term, b.term), a.kind)
    if isinstance(a, Translated) and isinstance(b, Translated):
        if len(a.items) != len(b.items):
            raise Untranslated(
                f"a choice between {len(a.items)} and {len(b.items)} items",
                "let both arms have results of one length",
            )
        pairs = zip(a.items, b.items, strict=True)
        return Translated(a.kind, tuple(merged(condition, x, y) for x, y in pairs))
    raise unsized(a if isinstance(a, Unsized) else b)


def _merged_numbers(condition: Any, a: Term, b: Term) -> Term:
    low = None if a.low is None or b.low is None else min(a.low, b.low)
    high = None if a.high is None or b.high is None else max(a.high, b.high)
    if a.is_unbounded or b.is_unbounded or low is None or high is None:
        return number(z3.If(condition, a.integer(), b.integer()), low, high)
    return number(lambda width: z3.If(condition, a.bits(width), b.bits(width)), low, high)


def of_model(model: Any, value: Value) -> Any:
    """A value in a model of z3."""
    if isinstance(value, Translated):
        items = [of_model(model, item) for item in value.items]
        if value.kind is str:
            return "".join(map(chr, items))
        return bytes(items) if value.kind is bytes else items
    if isinstance(value, Unsized):
        raise unsized(value)
    if isinstance(value, Truth):
        return z3.is_true(model.eval(value.term, model_completion=True))
    if isinstance(value, Term):
        return model.eval(value.integer(), model_completion=True).as_long()
    found = model.eval(value.term, model_completion=True)
    return value.kind(found.as_long() if value.kind is np.uint64 else found.as_signed_long())
