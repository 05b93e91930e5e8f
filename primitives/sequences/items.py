"""Strings, bytes and lists of known length, split into their items, and digits of an integer.

A sequence of known length is one unknown for its items, so that a program that iterates over them
is solved item by item.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from primitives.domains import ByteStrings, Domain, Integers, Strings, domain_of
from primitives.errors import NoSolution
from primitives.relation import RETURN, Mode, Relation
from primitives.sequences.lists import Lists, element_of_sequence

__all__ = ["Apart", "FromDigits", "apart", "from_bytes"]

CHARACTER = Strings("", 1, 1)
OCTET = Integers(0, 255)


def of_item(kind: type) -> tuple[type, Domain]:
    """The type and the domain of the items of a type of sequences."""
    if kind is str:
        return str, CHARACTER
    if kind is bytes:
        return int, OCTET
    element = element_of_sequence(kind)
    found = domain_of(element)
    assert found is not None
    return element, found


def alone_or_all(values: Sequence[Any]) -> Any:
    """Values as a solver returns them: a single one as it is, several as a tuple."""
    return tuple(values) if len(values) != 1 else values[0]


class Apart(Relation):
    """The relation of a sequence of known length and its items: ``x0, x1 = items(a)``.

    Each set of unknowns has a mode, created on first use. Items that nothing determines are those
    of a coordinate, ``free``.

    kind: the type of the sequence. known: its items, in order; None for those that are axes.
    letters: the characters that these may be; "" for all.
    """

    def __init__(self, kind: type, known: tuple[Any, ...], letters: str = "") -> None:
        self.kind = kind
        self.template = known
        element, domain = of_item(kind)
        self.letters = letters
        self.element = Strings(letters, 1, 1) if letters else domain
        self.places = [i for i, item in enumerate(known) if item is None]
        outputs = tuple(f"x{i}" for i in self.places)
        several = len(outputs) > 1
        super().__init__(
            self.taken,
            (kind,),
            f"{', '.join(outputs) if several else RETURN} = items(a)",
            domain={"a": _whole(kind, len(known))},
            codomain=None if several else self.element,
            returns=(element,) * len(outputs) if several else element,
            where=None,
            edges="free has the items that nothing determines",
            independent=True,
        )
        self.mode(self.outputs)
        self.mode(("a",))
        self.mode((*self.outputs, "a"))

    def taken(self, a: Any) -> Any:
        """The items of a sequence that are not known."""
        return alone_or_all(self.unknown_items(a))

    def unknown_items(self, a: Any) -> tuple[Any, ...]:
        """The items of a sequence that are not known, if it has this length and the known ones."""
        if len(a) != len(self.template):
            raise NoSolution("it has another length")
        for item, wanted in zip(a, self.template, strict=True):
            if wanted is not None and item != wanted:
                raise NoSolution("a known item differs")
        return tuple(a[i] for i in self.places)

    def whole_of(self, items: Iterable[Any]) -> Any:
        """The sequence with these items in the places that are not known."""
        given = iter(items)
        every = [next(given) if item is None else item for item in self.template]
        if self.kind is str:
            if any(len(item) != 1 for item in every):
                raise NoSolution("an item of a string is one character")
            return "".join(every)
        if self.kind is bytes:
            if any(not 0 <= item <= 255 for item in every):
                raise NoSolution("an item of bytes is an integer from 0 to 255")
            return bytes(every)
        return every

    def mode(self, unknown: Iterable[str]) -> Mode | None:
        wanted = frozenset(unknown)
        if wanted not in self.modes and wanted and wanted <= {*self.outputs, "a"}:
            self.modes[wanted] = self._made(wanted)
        return self.modes.get(wanted)

    def _made(self, wanted: frozenset[str]) -> Mode:
        names = tuple(name for name in (*self.outputs, "a") if name in wanted)
        given = tuple(name for name in self.outputs if name not in wanted)
        if "a" not in wanted:
            return Mode(
                names, self._items(wanted, given), ("a", *given), {}, overdetermined=bool(given)
            )
        lacking = len(names) - 1
        free = _whole(self.kind, lacking, self.letters)
        coordinates: dict[str, Domain] = {"free": free} if lacking else {}

        def solve(*values: Any) -> Any:
            items = dict(zip(given, values, strict=False))
            if lacking:
                chosen = values[-1]
                if len(chosen) != lacking:
                    raise NoSolution(
                        "the number of chosen items differs from the number of free ones"
                    )
                items |= zip(names[:-1], chosen, strict=True)
            whole = self.whole_of(items[name] for name in self.outputs)
            return (*(items[name] for name in names[:-1]), whole) if lacking else whole

        def recover(a: Any) -> tuple[Any]:
            items = dict(zip(self.outputs, self.unknown_items(a), strict=True))
            found = [items[name] for name in names[:-1]]
            return ("".join(found) if self.kind is str else free.cast(found),)

        if not lacking:
            return Mode(names, solve, given, {})
        return Mode(names, solve, (*given, "free"), coordinates, recover, ("a",))

    def _items(self, wanted: frozenset[str], given: tuple[str, ...]) -> Callable[..., Any]:
        def solve(a: Any, *known: Any) -> Any:
            items = dict(zip(self.outputs, self.unknown_items(a), strict=True))
            if any(items[name] != value for name, value in zip(given, known, strict=True)):
                raise NoSolution("the items disagree")
            return alone_or_all([items[name] for name in self.outputs if name in wanted])

        return solve


def _whole(kind: type, length: int, letters: str = "") -> Domain:
    """The domain of the sequences of a type and one length."""
    if kind is str:
        return Strings(letters, length, length)
    if kind is bytes:
        return ByteStrings(length, length)
    found = domain_of(kind)
    assert isinstance(found, Lists)
    return Lists(found.element, length)


@functools.lru_cache(maxsize=4096)
def apart(kind: type, known: tuple[Any, ...], letters: str = "") -> Apart:
    """The relation of a sequence and those of its items that are None in a template.

    letters: the characters that these may be.
    """
    return Apart(kind, known, letters)


# ---- digits -------------------------------------------------------------------------------


class FromDigits(Relation):
    """The relation of an integer and its digits to a base, the highest first. Each set of unknown
    digits has a mode.

    signed: whether the highest digit has a sign, as in two's complement.
    """

    def __init__(self, base: int, count: int, *, signed: bool = False) -> None:
        self.base, self.count, self.signed = base, count, signed
        names = tuple(f"d{i}" for i in range(count))
        most = base**count
        self.low, self.high = (-(most // 2), most // 2 - 1) if signed else (0, most - 1)
        super().__init__(
            self.number,
            (int,) * count,
            f"return = number({', '.join(names)})",
            domain=dict.fromkeys(names, Integers(0, base - 1)),
            codomain=Integers(self.low, self.high),
            returns=int,
            where=None,
            joint=True,
        )
        self.modes[frozenset([RETURN])] = Mode((RETURN,), self.number, self.axes, {})
        for unknown in (*((name,) for name in names), names):
            self.mode(unknown)

    def number(self, *digits: int) -> int:
        """The number with these digits."""
        found = 0
        for digit in digits:
            if not 0 <= digit < self.base:
                raise NoSolution("a digit is at least 0, and less than the base")
            found = found * self.base + digit
        return found - self.base**self.count if found > self.high else found

    def digits(self, number: int) -> tuple[int, ...]:
        """The digits of a number."""
        if not self.low <= number <= self.high:
            raise NoSolution("the number has more digits")
        left, found = number % self.base**self.count, list[int]()
        for _ in range(self.count):
            left, digit = divmod(left, self.base)
            found.append(digit)
        return tuple(reversed(found))

    def mode(self, unknown: Iterable[str]) -> Mode | None:
        wanted = frozenset(unknown)
        if wanted not in self.modes and wanted and wanted <= set(self.axes):
            names = tuple(name for name in self.axes if name in wanted)
            given = tuple(name for name in self.axes if name not in wanted)

            def solve(ret: int, *known: int) -> Any:
                digits = dict(zip(self.axes, self.digits(ret), strict=True))
                if any(digits[name] != value for name, value in zip(given, known, strict=True)):
                    raise NoSolution("a known digit differs")
                return alone_or_all([digits[name] for name in names])

            self.modes[wanted] = Mode(
                names, solve, (RETURN, *given), {}, overdetermined=bool(given)
            )
        return self.modes.get(wanted)


@functools.cache
def from_bytes(count: int, *, signed: bool) -> FromDigits:
    """The relation of an integer and its bytes, ``count`` of them, the highest first."""
    return FromDigits(256, count, signed=signed)
