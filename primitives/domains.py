"""Domains: the sets of values that axes and parameters take.

Sampling from an unbounded domain follows a fixed distribution: a standard logistic variable
on the reals, its rounded threefold on the integers, odds ``u / (1 - u)`` above a bound.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overlay import OverlayError

__all__ = [
    "Bool",
    "Booleans",
    "Domain",
    "Int64",
    "Integer",
    "Integers",
    "Interval",
    "NonNegative",
    "NonZero",
    "Positive",
    "Real",
    "Word64",
    "domain_of",
]

_SMALLEST, _LARGEST = 2.0**-53, 1 - 2.0**-53


class Domain:
    """A set of values: what it contains, how it is sampled, and how generated code tests it."""

    kind: type
    """The type of its members."""

    def contains(self, value: Any) -> bool:
        """Whether a value is a member; NaN never is, infinities only where a bound says so."""
        raise NotImplementedError

    def spread(self, units: NDArray[np.float64]) -> NDArray[Any]:
        """Members for numbers in [0, 1], so that uniform numbers give a sample."""
        raise NotImplementedError

    @property
    def default(self) -> Any:
        """A harmless member: 1 in the reals, 0 in the integers, where these are members."""
        raise NotImplementedError

    @property
    def edges(self) -> tuple[Any, ...]:
        """Members that a test should not miss."""
        raise NotImplementedError

    def condition(self, name: str) -> str:
        """A Python expression that is true where the variable ``name`` is a member."""
        raise NotImplementedError

    def meet(self, other: Domain) -> Domain:
        """The members of both domains."""
        raise NotImplementedError

    @property
    def total(self) -> bool:
        """Whether every finite value of its type is a member."""
        return False

    @property
    def dtype(self) -> np.dtype[Any]:
        """The field type that holds a member in a record of parameters."""
        return np.dtype(self.kind)

    def cast(self, value: Any) -> Any:
        """A member in its own type."""
        return self.kind(value)

    def from_unit(self, u: float) -> Any:
        """The member for a number in [0, 1]."""
        return self.cast(self.spread(np.array([u], dtype=np.float64))[0])

    def sample(self, rng: np.random.Generator, size: int | None = None) -> Any:
        """A random member, or an array of them."""
        if size is None:
            return self.from_unit(rng.random())
        return self.spread(rng.random(size))


def _odds(units: NDArray[np.float64]) -> NDArray[np.float64]:
    inside = np.clip(units, _SMALLEST, _LARGEST)
    return inside / (1 - inside)


@dataclass(frozen=True)
class Interval(Domain):
    """The reals from ``low`` to ``high``, less some points; an infinite bound is never inside.

    >>> Interval(-1, 1).contains(1.0), Interval(0, 1, open_high=True).contains(1.0)
    (True, False)
    >>> Positive.meet(Interval(-1, 1))
    Interval(0.0, 1.0, open_low=True)
    """

    low: float
    high: float
    open_low: bool = False
    open_high: bool = False
    without: tuple[float, ...] = ()
    kind = float

    def __post_init__(self) -> None:
        if not self.low < self.high:
            raise OverlayError(
                f"an interval from {self.low!r} to {self.high!r} is empty",
                help="give the lower bound first",
            )
        object.__setattr__(self, "low", float(self.low))
        object.__setattr__(self, "high", float(self.high))
        object.__setattr__(self, "open_low", self.open_low or self.low == -math.inf)
        object.__setattr__(self, "open_high", self.open_high or self.high == math.inf)

    def __repr__(self) -> str:
        if self in _NAMES:
            return _NAMES[self]
        parts = [repr(self.low), repr(self.high)]
        parts += ["open_low=True"] if self.open_low and math.isfinite(self.low) else []
        parts += ["open_high=True"] if self.open_high and math.isfinite(self.high) else []
        parts += [f"without={self.without}"] if self.without else []
        return f"Interval({', '.join(parts)})"

    def contains(self, value: Any) -> bool:
        if not isinstance(value, (int, float, np.integer, np.floating)):
            return False
        above = self.low < value if self.open_low else self.low <= value
        below = value < self.high if self.open_high else value <= self.high
        return bool(above and below and value not in self.without)

    def spread(self, units: NDArray[np.float64]) -> NDArray[Any]:
        if math.isfinite(self.low) and math.isfinite(self.high):
            low = np.nextafter(self.low, self.high) if self.open_low else self.low
            high = np.nextafter(self.high, self.low) if self.open_high else self.high
            values = np.clip(low + units * (high - low), low, high)
        elif math.isfinite(self.low):
            values = self.low + _odds(units)
        elif math.isfinite(self.high):
            values = self.high - _odds(1 - units)
        else:
            values = np.log(_odds(units))
        for hole in self.without:
            values = np.where(values == hole, np.nextafter(hole, math.inf), values)
        return values

    @property
    def default(self) -> float:
        for value in (1.0, 0.0):
            if self.contains(value):
                return value
        return float(self.from_unit(0.5))

    @property
    def edges(self) -> tuple[float, ...]:
        near = (0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 1e-9, -1e-9, 1e9, -1e9, math.pi)
        bounds = (self.low, self.high, np.nextafter(self.low, 0), np.nextafter(self.high, 0))
        return tuple(float(v) for v in (*near, *bounds) if self.contains(v) and abs(v) < 1e300)

    def condition(self, name: str) -> str:
        low, high = ("<" if is_open else "<=" for is_open in (self.open_low, self.open_high))
        holes = "".join(f" and {name} != {hole!r}" for hole in self.without)
        return f"{self.low!r} {low} {name} {high} {self.high!r}{holes}"

    def meet(self, other: Domain) -> Domain:
        if not isinstance(other, Interval):
            raise OverlayError(f"{self!r} and {other!r} have no members of one type")
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Interval(
            low,
            high,
            any(d.open_low for d in (self, other) if d.low == low),
            any(d.open_high for d in (self, other) if d.high == high),
            tuple(dict.fromkeys((*self.without, *other.without))),
        )

    @property
    def total(self) -> bool:
        return not self.without and self.low == -math.inf and self.high == math.inf


@dataclass(frozen=True)
class Integers(Domain):
    """The integers from ``low`` to ``high`` (None: no bound), less some.

    kind: ``int``, or the numpy type of a fixed width in which arithmetic wraps.
    """

    low: int | None = None
    high: int | None = None
    without: tuple[int, ...] = ()
    kind: type = int

    def __repr__(self) -> str:
        if self in _NAMES:
            return _NAMES[self]
        shown = f"{self.low}, {self.high}" + (f", without={self.without}" if self.without else "")
        return f"Integers({shown})"

    def contains(self, value: Any) -> bool:
        if not isinstance(value, (int, np.integer)):
            return False
        above = self.low is None or self.low <= value
        return bool(above and (self.high is None or value <= self.high)) and (
            value not in self.without
        )

    def spread(self, units: NDArray[np.float64]) -> NDArray[Any]:
        if self.low is not None and self.high is not None:
            count = self.high - self.low + 1
            steps = np.floor(np.clip(units, 0, _LARGEST) * count).astype(np.uint64)
            values = (steps + np.uint64(self.low % 2**64)).astype(self.dtype)
        else:
            steps = np.rint(3 * (np.log(_odds(units)) if self.low is self.high else _odds(units)))
            steps = np.clip(steps, -(2.0**52), 2.0**52).astype(np.int64)
            values = steps if self.low is None else self.low + steps
            values = values if self.high is None else self.high - steps
        for hole in self.without:
            values = np.where(values == hole, values + values.dtype.type(1), values)
        return values

    def sample(self, rng: np.random.Generator, size: int | None = None) -> Any:
        if self.low is None or self.high is None or self.without:
            return super().sample(rng, size)
        # all bits are random, where a number in [0, 1] has 53
        found = rng.integers(self.low, self.high, size, dtype=self.dtype, endpoint=True)
        return self.cast(found) if size is None else found

    @property
    def default(self) -> Any:
        return self.cast(next(v for v in (0, 1, self.low, self.high) if self.contains(v)))

    @property
    def edges(self) -> tuple[Any, ...]:
        near = (0, 1, -1, 2, -3, 12, 97, 2**31, -(2**53) - 1, 10**15)
        bounds = (self.low, self.high)
        return tuple(self.cast(v) for v in (*near, *bounds) if v is not None and self.contains(v))

    def condition(self, name: str) -> str:
        parts = [] if self.low is None else [f"{self.low} <= {name}"]
        parts += [] if self.high is None else [f"{name} <= {self.high}"]
        parts += [f"{name} != {hole}" for hole in self.without]
        return "True" if self.kind is not int else " and ".join(parts) or "True"

    def meet(self, other: Domain) -> Domain:
        if not isinstance(other, Integers) or other.kind is not self.kind:
            raise OverlayError(f"{self!r} and {other!r} have no members of one type")
        lows = [d.low for d in (self, other) if d.low is not None]
        highs = [d.high for d in (self, other) if d.high is not None]
        return Integers(
            max(lows, default=None),
            min(highs, default=None),
            tuple(dict.fromkeys((*self.without, *other.without))),
            self.kind,
        )

    @property
    def total(self) -> bool:
        return not self.without and (self.kind is not int or self.low is None is self.high)


@dataclass(frozen=True)
class Booleans(Domain):
    """False and True."""

    kind = bool

    def __repr__(self) -> str:
        return "Bool"

    def contains(self, value: Any) -> bool:
        return isinstance(value, (bool, np.bool_, int, np.integer)) and value in (0, 1)

    def spread(self, units: NDArray[np.float64]) -> NDArray[Any]:
        return units >= 0.5

    @property
    def default(self) -> bool:
        return False

    @property
    def edges(self) -> tuple[bool, ...]:
        return False, True

    def condition(self, name: str) -> str:
        return "True"

    def meet(self, other: Domain) -> Domain:
        return self

    @property
    def total(self) -> bool:
        return True


Real = Interval(-math.inf, math.inf)
Positive = Interval(0, math.inf, open_low=True)
NonNegative = Interval(0, math.inf)
NonZero = Interval(-math.inf, math.inf, without=(0.0,))
Integer = Integers()
Bool = Booleans()
Int64 = Integers(-(2**63), 2**63 - 1, kind=np.int64)
Word64 = Integers(0, 2**64 - 1, kind=np.uint64)

_NAMES: dict[Domain, str] = {
    Real: "Real",
    Positive: "Positive",
    NonNegative: "NonNegative",
    NonZero: "NonZero",
    Integer: "Integer",
    Int64: "Int64",
    Word64: "Word64",
}
_BY_TYPE: tuple[tuple[type, Domain], ...] = (
    (bool, Bool),
    (np.bool_, Bool),
    (int, Integer),
    (float, Real),
    (np.int64, Int64),
    (np.uint64, Word64),
)


def domain_of(kind: Any) -> Domain | None:
    """All values of a type, or None where the type has no domain here."""
    if not isinstance(kind, type):
        return None
    return next((domain for known, domain in _BY_TYPE if issubclass(kind, known)), None)


def common(domains: Iterable[Domain]) -> Domain:
    """The members that all these domains have."""
    first, *others = domains
    for other in others:
        first = first.meet(other)
    return first
