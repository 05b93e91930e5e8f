"""Abstract values of the interval analysis."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from overlay.sets import Bound, Piece

__all__ = [
    "BOTTOM",
    "FLOAT",
    "INT",
    "NUMBER",
    "TOP",
    "Array",
    "Bottom",
    "BuiltinObject",
    "ItemValues",
    "Iteration",
    "KnownValue",
    "Number",
    "Top",
    "array",
    "floats",
    "integers",
    "number",
]

INF = math.inf
Kind = Literal["int", "float", "number"]
# ``value <= length + offset``, for the length that a name or a place stands for
Ceilings = tuple[tuple[Any, int], ...]


@dataclass(frozen=True)
class Top:
    """Any value."""

    def __repr__(self) -> str:
        return "anything"


@dataclass(frozen=True)
class Bottom:
    """No value: what code that is not reached gives."""

    def __repr__(self) -> str:
        return "nothing"


TOP, BOTTOM = Top(), Bottom()


@dataclass(frozen=True)
class Number:
    """A number from ``low`` to ``high``, both included; infinite where there is no bound.

    Unlike ``overlay.sets.Interval``, a set of real numbers, it stands for values of a program:
    kind: "int" (booleans included), "float", or "number" for either. nan: whether it may be a
    NaN besides. nonzero: whether it is known not to be zero. ceilings: lengths of arrays that it
    is known to lie below. Integers are mathematical: what is found does not hold in compiled
    code where one leaves 64 bits.
    """

    low: Bound
    high: Bound
    kind: Kind = "int"
    nan: bool = False
    nonzero: bool = False
    ceilings: Ceilings = ()

    def __repr__(self) -> str:
        low = "(-inf" if self.low == -INF else f"[{self.low}"
        high = "inf)" if self.high == INF else f"{self.high}]"
        notes = [", not 0"] if self.nonzero and self.low <= 0 <= self.high else []
        notes += [f", <= {_shown_length(key, offset)}" for key, offset in self.ceilings]
        return f"{self.kind} {low}, {high}{''.join(notes)}{' or nan' if self.nan else ''}"

    @property
    def bounds(self) -> Piece:
        """Both bounds."""
        return self.low, self.high

    @property
    def has_zero(self) -> bool:
        """Whether it may be zero."""
        return self.low <= 0 <= self.high and not self.nonzero

    def ceiling(self, key: Any) -> int | None:
        """The least known ``k`` such that the value is at most that length + k."""
        return dict(self.ceilings).get(key)


def _shown_length(key: Any, offset: int) -> str:
    name = key if isinstance(key, str) else f"len of argument {key[0]}, axis {key[1]}"
    return f"{name} {'+' if offset > 0 else '-'} {abs(offset)}" if offset else name


@dataclass(frozen=True)
class Array:
    """An array or a tuple of numbers: the length of each axis, and what its elements are.

    keys: for each axis what its length is known by, or None; arrays of equal keys are as long
    as each other.
    """

    shape: tuple[Number, ...]
    item: Any
    keys: tuple[Any, ...]


@dataclass(frozen=True)
class ItemValues:
    """A tuple, item by item."""

    items: tuple[Any, ...]


@dataclass(frozen=True)
class Iteration:
    """A range, or an iterator: what its items are."""

    item: Any


@dataclass(frozen=True)
class BuiltinObject:
    """An object of a builtin class, such as a list, of which no more is known."""

    cls: Any


class KnownValue:
    """One value of the program that is not a number: a function, a module, None, a string."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return type(other) is KnownValue and other.value is self.value

    def __hash__(self) -> int:
        return id(self.value)

    def __repr__(self) -> str:
        return repr(self.value)


INT = Number(-INF, INF)
FLOAT = Number(-INF, INF, "float", nan=True)
NUMBER = Number(-INF, INF, "number", nan=True)


def integers(low: Bound = -INF, high: Bound = INF) -> Number:
    """An integer in this interval."""
    return made(low, high, "int")


def floats(low: float = -INF, high: float = INF, nan: bool = False) -> Number:
    """A float in this interval."""
    return made(low, high, "float", nan)


def made(
    low: Bound,
    high: Bound,
    kind: Kind,
    nan: bool = False,
    nonzero: bool = False,
    ceilings: Ceilings = (),
) -> Any:
    """An interval, or BOTTOM where no number is in it; ends that are known not to be in it are
    left out."""
    if kind == "int" and nonzero:
        low, high = (1 if low == 0 else low), (-1 if high == 0 else high)
    if low > high or (nonzero and low == high == 0):
        return Number(INF, INF, kind, True) if nan else BOTTOM
    outside = not low <= 0 <= high
    return Number(low, high, kind, nan, nonzero or outside, ceilings)


def number(value: Any) -> Number:
    """The interval of one number."""
    if isinstance(value, int):
        return made(int(value), int(value), "int")
    if math.isnan(value):
        return Number(-INF, INF, "float", nan=True)
    return made(value, value, "float")


def array(*lengths: int | str | Number, item: Any = NUMBER) -> Array:
    """An array, an axis for each length: a number, an interval, or a name, the same for axes of
    the same length. item: what its elements are, whatever is written to it."""
    shape = tuple(_length(n) for n in lengths)
    return Array(shape, item, tuple(n if isinstance(n, str) else None for n in lengths))


def _length(given: int | str | Number) -> Number:
    if isinstance(given, str):
        return made(0, INF, "int", ceilings=((given, 0),))
    return made(given, given, "int") if isinstance(given, int) else given
