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
# pairs of a length's key and an offset, each of which states ``value <= length + offset``
Ceilings = tuple[tuple[Any, int], ...]


@dataclass(frozen=True)
class Top:
    """Any value."""

    def __repr__(self) -> str:
        return "anything"


@dataclass(frozen=True)
class Bottom:
    """No value: the result of unreachable code."""

    def __repr__(self) -> str:
        return "nothing"


TOP, BOTTOM = Top(), Bottom()


@dataclass(frozen=True)
class Number:
    """Abstract number: an interval of a program's numbers, both ends included.

    Unlike ``overlay.sets.Interval``, a set of real numbers, it represents values of a program.
    Integers are mathematical: results do not hold in compiled code if an integer overflows 64
    bits.

    Attributes
    ----------
    low
        The lower bound; infinite if there is none.
    high
        The upper bound.
    kind
        "int" (booleans included), "float", or "number" for either.
    nan
        Whether it may be a NaN besides.
    nonzero
        Whether it is known not to be zero.
    ceilings
        Known upper bounds by lengths of arrays: pairs of a length's key and an offset.

    Examples
    --------
    >>> from overlay.analysis import Number
    >>> Number(0, 9)
    int [0, 9]
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
        """Whether the number may be zero."""
        return self.low <= 0 <= self.high and not self.nonzero

    def ceiling(self, key: Any) -> int | None:
        """The least known bound of the value by a length.

        Parameters
        ----------
        key : hashable
            The key of the length, as in ``ceilings``.

        Returns
        -------
        int or None
            The least ``k`` such that the value is at most the length plus ``k``; None if none is
            known.

        Examples
        --------
        >>> from overlay.analysis import Number
        >>> Number(0, 9, ceilings=(("n", -1),)).ceiling("n")
        -1
        """
        return dict(self.ceilings).get(key)


def _shown_length(key: Any, offset: int) -> str:
    name = key if isinstance(key, str) else f"len of argument {key[0]}, axis {key[1]}"
    return f"{name} {'+' if offset > 0 else '-'} {abs(offset)}" if offset else name


@dataclass(frozen=True)
class Array:
    """Abstract array or tuple: the length of each axis, and one value for all elements.

    keys: for each axis the key of its length, or None; axes with equal keys have equal lengths.
    """

    shape: tuple[Number, ...]
    item: Any
    keys: tuple[Any, ...]


@dataclass(frozen=True)
class ItemValues:
    """Abstract tuple of known length: a value for each item."""

    items: tuple[Any, ...]


@dataclass(frozen=True)
class Iteration:
    """Abstract range or iterator: one value for all items."""

    item: Any


@dataclass(frozen=True)
class BuiltinObject:
    """Abstract object of a builtin class, such as a list; its contents are not known."""

    cls: Any


class KnownValue:
    """A known object of the program that is not a number: a function, a module, None, a string."""

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
    """Abstract integer between two bounds.

    Parameters
    ----------
    low, high : int or infinity
        The bounds, both included; infinite by default.

    Returns
    -------
    Number
        The abstract value of kind ``"int"``.

    Examples
    --------
    >>> from overlay.analysis import integers
    >>> integers(0, 9)
    int [0, 9]
    """
    return made(low, high, "int")


def floats(low: float = -INF, high: float = INF, nan: bool = False) -> Number:
    """Abstract float between two bounds.

    Parameters
    ----------
    low, high : float
        The bounds, both included; infinite by default.
    nan : bool
        Whether the value may also be a NaN.

    Returns
    -------
    Number
        The abstract value of kind ``"float"``.

    Examples
    --------
    >>> from overlay.analysis import floats
    >>> floats(0.0, 1.0)
    float [0.0, 1.0]
    """
    return made(low, high, "float", nan)


def made(
    low: Bound,
    high: Bound,
    kind: Kind,
    nan: bool = False,
    nonzero: bool = False,
    ceilings: Ceilings = (),
) -> Any:
    """Make a ``Number``, or BOTTOM if it represents no value. If zero is excluded, an integer's
    bound that is zero is moved by one.
    """
    if kind == "int" and nonzero:
        low, high = (1 if low == 0 else low), (-1 if high == 0 else high)
    if low > high or (nonzero and low == high == 0):
        return Number(INF, INF, kind, True) if nan else BOTTOM
    outside = not low <= 0 <= high
    return Number(low, high, kind, nan, nonzero or outside, ceilings)


def number(value: Any) -> Number:
    """The abstract number of one concrete number."""
    if isinstance(value, int):
        return made(int(value), int(value), "int")
    if math.isnan(value):
        return Number(-INF, INF, "float", nan=True)
    return made(value, value, "float")


def array(*lengths: int | str | Number, item: Any = NUMBER) -> Array:
    """Abstract array with one axis for each length.

    Parameters
    ----------
    *lengths : int, Number or str
        A number, an interval, or a name; axes with the same name have the same length.
    item : object
        Abstract value of all elements. It is assumed to hold after writes too; ``prove`` reports
        each write as a site of kind ``"element"``.

    Returns
    -------
    Array
        The abstract value.

    Examples
    --------
    >>> from overlay.analysis import array, prove
    >>> prove(lambda values: values[0], array(3)).proved
    True
    """
    shape = tuple(_length(n) for n in lengths)
    return Array(shape, item, tuple(n if isinstance(n, str) else None for n in lengths))


def _length(given: int | str | Number) -> Number:
    if isinstance(given, str):
        return made(0, INF, "int", ceilings=((given, 0),))
    return made(given, given, "int") if isinstance(given, int) else given
