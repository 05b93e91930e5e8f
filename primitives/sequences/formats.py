"""Numbers and strings as text by a format: ``format``, digits to a base, padded strings.

A relation is made for each format. The texts of different integers differ, unless they are padded
with digits on the right. A float is found from its text up to the rounding of the format.
"""

from __future__ import annotations

import functools
import re
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from primitives.domains import Domain, Integers, Reals, Strings, Text
from primitives.errors import NoSolution
from primitives.integers.integer_kinds import Natural
from primitives.relation import Relation, parametric, relation

__all__ = ["Format", "digits_in", "formatted", "of_format", "padded", "restored"]

_SPEC = re.compile(
    r"(?:(?P<fill>.)?(?P<align>[<>=^]))?(?P<sign>[-+ ])?(?P<z>z)?(?P<alternate>#)?(?P<zero>0)?"
    r"(?P<width>\d+)?(?P<grouping>[,_])?(?:\.(?P<precision>\d+))?(?P<type>[a-zA-Z%])?",
    re.DOTALL,
)
BASES = {"b": 2, "o": 8, "x": 16, "X": 16, "d": 10, "": 10, "n": 10}
"""The base of each type of format for integers."""
OF_FLOATS = "eEfFgG%"
"""The types of formats for floats, for which integers are converted."""


@dataclass(frozen=True)
class Format:
    """A format specification, parsed. spec: its text."""

    spec: str
    fill: str
    align: str
    sign: str
    alternate: bool
    width: int
    grouping: str
    precision: int | None
    type: str

    @classmethod
    def read(cls, spec: str) -> Format | None:
        """The format of a specification; None if it is not one of the standard ones."""
        found = _SPEC.fullmatch(spec)
        if found is None:
            return None
        zero = bool(found["zero"]) and not found["align"]
        fill = found["fill"] or ("0" if found["zero"] else " ")
        precision = None if found["precision"] is None else int(found["precision"])
        return cls(
            spec, fill, "=" if zero else found["align"] or "", found["sign"] or "",
            bool(found["alternate"]), int(found["width"] or 0), found["grouping"] or "", precision,
            found["type"] or "",
        )  # fmt: skip

    @property
    def is_clear(self) -> bool:
        """Whether the padding cannot be confused with a part of a number."""
        inside = self.fill.isalnum() or self.fill in "+-._," or self.fill == self.type == "%"
        left = self.align in ("", ">", "=") and self.fill == "0"
        return not self.width or left or not inside


def of_format(kind: type, spec: str, within: Domain | None = None) -> Relation | None:
    """The relation of ``format(a, spec)`` for a type; None if it has none.

    within: the domain of the value, from which the length and the characters of its text follow.
    """
    made = Format.read(spec)
    if made is None:
        return None
    try:
        format(kind(1) if kind is not str else "a", spec)
    except (ValueError, TypeError):
        return None
    if kind is str:
        letters = within.alphabet if isinstance(within, Strings) else ""
        return None if made.precision is not None else padded("format", (spec,), letters)
    if kind is int and made.type in BASES:
        return _integer(spec, within if isinstance(within, Integers) else None)
    if kind is float and made.type in ("", *OF_FLOATS) and made.is_clear:
        return _float(spec)
    return None


def formatted(spec: str) -> Callable[[Any], str]:
    """The function that writes a value by a format."""

    def written(a: Any) -> str:
        return format(a, spec)

    written.__name__ = written.__qualname__ = "format"
    return written


# ---- padding ------------------------------------------------------------------------------


def unpadded(ret: str, fill: str) -> Iterator[str]:
    """The texts that become a given one by padding with a character on both sides, the shortest
    first; and those padded after a sign.
    """
    left, right = len(ret) - len(ret.lstrip(fill)), len(ret) - len(ret.rstrip(fill))
    cuts = sorted(
        ((i, j) for i in range(left + 1) for j in range(right + 1) if i + j <= len(ret)),
        key=lambda cut: -sum(cut),
    )
    for i, j in dict.fromkeys(cuts):
        yield ret[i : len(ret) - j]
    if ret[:1] in ("+", "-", " "):
        inner = len(ret) - 1 - len(ret[1:].lstrip(fill))
        yield from (ret[0] + ret[1 + i :] for i in range(inner, 0, -1))


def before_padding(ret: str, forward: Callable[[str], str], fill: str) -> list[str]:
    """All texts that a function pads to a given one, the shortest first."""
    found = dict.fromkeys(text for text in unpadded(ret, fill) if forward(text) == ret)
    return sorted(found, key=len)


PADDING = {"ljust": str.ljust, "rjust": str.rjust, "center": str.center, "zfill": str.zfill}


@functools.lru_cache(maxsize=4096)
def padded(method: str, args: tuple[Any, ...], letters: str = "") -> Relation:
    """The relation of a string that is padded to a width: by a format, or a method of strings.
    letters: the characters that the string may have, "" for all.
    """
    made = Format.read(args[0]) if method == "format" else None
    if made is None:
        width, fill = args[0], "0" if method == "zfill" else (*args, " ")[1]
    else:
        width, fill = made.width, made.fill

    def forward(a: str) -> str:
        return format(a, args[0]) if method == "format" else PADDING[method](a, *args)

    forward.__name__ = forward.__qualname__ = method

    def taken(ret: str, kept: int) -> str:
        found = before_padding(ret, forward, fill)
        if not found:
            raise NoSolution("it is not padded to the width")
        return found[kept % len(found)]

    def place(ret: str, a: str) -> tuple[int]:
        return (before_padding(ret, forward, fill).index(a),)

    return relation(
        forward, str, f"return = {method}(a)", returns=str,
        codomain=Strings(letters and letters + fill, max(width, 0)),
        ret=forward, a=parametric(taken, kept=Natural, recover=place),
        edges="kept numbers the strings that are padded to ret, the shortest first",
    )  # fmt: skip


# ---- integers -----------------------------------------------------------------------------


def digits_in(text: str, base: int) -> int:
    """The number that digits write, with a sign, a prefix and separators between them."""
    return int(text.replace(",", "").replace(" ", ""), base)


def integers_in(ret: str, forward: Callable[[int], str], fill: str, base: int) -> list[int]:
    """The integers that a format writes as this text; the one with the fewest digits first."""
    found: list[int] = []
    for text in unpadded(ret, fill):
        try:
            number = digits_in(text, base)
        except ValueError:
            continue
        if number not in found and forward(number) == ret:
            found.append(number)
    return found


@functools.lru_cache(maxsize=4096)
def _integer(spec: str, within: Integers | None) -> Relation:
    made = Format.read(spec)
    assert made is not None
    forward, base, fill = formatted(spec), BASES[made.type], made.fill

    def one(ret: str) -> int:
        found = integers_in(ret, forward, fill, base)
        if not found:
            raise NoSolution("no integer is written like this by the format")
        return found[0]

    def chosen(ret: str, which: int) -> int:
        found = integers_in(ret, forward, fill, base)
        if not found:
            raise NoSolution("no integer is written like this by the format")
        return found[which % len(found)]

    def place(ret: str, a: int) -> tuple[int]:
        return (integers_in(ret, forward, fill, base).index(a),)

    return relation(
        forward, int, "return = format(a)", returns=str, codomain=_texts(made, base, within),
        ret=forward,
        a=one if made.is_clear else parametric(chosen, which=Natural, recover=place),
        edges="which selects one of several numbers, if digits are padding",
    )  # fmt: skip


def _texts(made: Format, base: int, within: Integers | None) -> Strings:
    """The domain of the texts of integers."""
    digits = "0123456789abcdef"[:base]
    digits = digits.upper() if made.type == "X" else digits
    above = within is not None and within.low is not None and within.low >= 0
    signs = "-" * (not above) + made.sign.replace("-", "") + made.grouping
    prefix = (made.type if base != 10 else "") if made.alternate else ""
    letters = digits + signs + prefix + (made.fill if made.width else "")
    letters = "".join(dict.fromkeys(letters))
    least = max(1 + (2 if prefix else 0), made.width)
    if within is None or within.low is None or within.high is None:
        return Strings(letters, least)
    ends = [len(format(end, made.spec)) for end in (within.low, within.high)]
    if within.low < 0 < within.high:
        return Strings(letters, least, max(ends))
    return Strings(letters, min(ends), max(ends))


# ---- floats -------------------------------------------------------------------------------


def rank(value: float) -> int:
    """The rank of a float in the order of all floats; -0.0 is before 0.0."""
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return bits if bits >= 0 else -(bits & 0x7FFFFFFFFFFFFFFF) - 1


def float_at(place: int) -> float:
    """The float with a rank in the order."""
    (found,) = struct.unpack("<d", struct.pack("<q", place if place >= 0 else 0))
    if place < 0:
        (found,) = struct.unpack("<d", struct.pack("<q", -(place + 1)))
        return -found
    return found


LAST = rank(1.7976931348623157e308)


def float_in(ret: str, made: Format) -> float:
    """The float that the digits of a text denote."""
    for text in unpadded(ret, made.fill) if made.width else (ret,):
        digits = text.replace(",", "").replace(" ", "")
        is_percent = digits.endswith("%")
        try:
            found = float(f"{digits[:-1]}e-2" if is_percent else digits)
        except ValueError:
            continue
        if format(found, made.spec) == ret:
            return found
    raise NoSolution("no number is written like this by the format")


def last_alike(middle: float, ret: str, spec: str, step: int) -> float:
    """The last float, upwards or downwards, that a format writes like another one."""
    near, width = rank(middle), 1
    while abs(near + step * width) <= LAST and format(float_at(near + step * width), spec) == ret:
        near, width = near + step * width, 2 * width
    while width:
        if abs(near + step * width) <= LAST and format(float_at(near + step * width), spec) == ret:
            near += step * width
        width //= 2
    return float_at(near)


def rounded_back(ret: str, u: float, made: Format) -> float:
    """The float at a relative position among those with one text: -0.5 is the lowest, 0.5 the
    highest.
    """
    middle = float_in(ret, made)
    end = last_alike(middle, ret, made.spec, 1 if u > 0 else -1) if u else middle
    found = middle + 2 * abs(u) * (end - middle)
    return found if format(found, made.spec) == ret else middle


def place_among(ret: str, a: float, made: Format) -> float:
    """The relative position of a float among those with its text."""
    middle = float_in(ret, made)
    if a == middle:
        return 0.0
    end = last_alike(middle, ret, made.spec, 1 if a > middle else -1)
    return (a - middle) / (end - middle) / 2 * (1 if a > middle else -1)


@functools.lru_cache(maxsize=4096)
def _float(spec: str) -> Relation:
    made = Format.read(spec)
    assert made is not None
    forward = formatted(spec)
    exact = made.precision is None and made.type == ""
    digits = "0123456789.eE+-infa%, _" + (made.fill if made.width else "")
    letters = "".join(dict.fromkeys(digits + made.sign))

    def one(ret: str) -> float:
        return float_in(ret, made)

    def among(ret: str, u: float) -> float:
        return rounded_back(ret, u, made)

    def place(ret: str, a: float) -> tuple[float]:
        return (place_among(ret, a, made),)

    return relation(
        forward, float, "return = format(a)", returns=str,
        codomain=Strings(letters, max(1, made.width)),
        ret=forward,
        a=one if exact else parametric(among, u=Reals(-0.5, 0.5), recover=place),
        edges="u is the position among the numbers with one text; 0 is the number in the text",
    )  # fmt: skip


# ---- digits of a text to a base -----------------------------------------------------------


def restored(near: str, ret: Any, forward: Callable[[str], Any], plain: str) -> str:
    """``near`` if a function returns ``ret`` for it, else a text for which it does."""
    for text in (near, plain):
        try:
            if forward(text) == ret:
                return text
        except ValueError:
            continue
    raise NoSolution("the function returns this for no text")


def itself(a: str) -> tuple[str]:
    """The coordinate that is the answer."""
    return (a,)


DIGITS = "0123456789abcdefghijklmnopqrstuvwxyz"


def to_base(number: int, base: int) -> str:
    """The digits of an integer to a base."""
    left, found = abs(number), ""
    while left or not found:
        left, digit = divmod(left, base)
        found = DIGITS[digit] + found
    return "-" * (number < 0) + found


@functools.cache
def int_of_base(base: int, width: int | None = None) -> Relation:
    """The relation of ``int(a, base)``.

    width: the length of the string, if it is known: then it has only digits.
    """
    plain = DIGITS[: base or 10]
    letters = "".join(dict.fromkeys(plain + plain.upper()))
    texts: Strings = Text if width is None else Strings(letters, width, width)
    numbers = None if width is None else Integers(0, (base or 10) ** width - 1)

    def number(a: str) -> int:
        if not texts.contains(a):
            raise NoSolution("it has other characters than digits")
        return int(a, base)

    def written(ret: int, near: str) -> str:
        digits = to_base(ret, base or 10)
        if width is not None and len(digits) > width:
            raise NoSolution("the number has more digits than the string")
        long = digits.zfill(len(near) if width is None else width)
        return restored(near, ret, number, long if base else digits)

    number.__name__ = number.__qualname__ = "int"
    return relation(
        number, str, "return = int(a)", returns=int, domain=texts, codomain=numbers,
        ret=number, a=parametric(written, near=texts, recover=itself),
        edges="leading zeros, if near is longer",
    )  # fmt: skip
