"""Domains: the sets of values that axes and parameters take.

Membership depends on the value, not on its type: 2.0 is an integer, 2 is a real, 1 is a truth
value.

Samples follow a fixed distribution for each kind of domain. ``u`` is uniform in (0, 1):

- Two finite bounds: the uniform distribution.
- One finite bound: the distance from the bound is ``u / (1 - u)``; for integers three times that,
  rounded.
- No finite bound: the standard logistic distribution, ``log(u / (1 - u))``; for integers three
  times that, rounded.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from overlay import OverlayError
from overlay.core.location import caller
from overlay.core.public_names import hides
from overlay.sets import Bounds, NumberSet, number_set
from primitives.errors import OutsideDomain

__all__ = [
    "Bool",
    "Booleans",
    "ByteStrings",
    "Bytes",
    "Complex",
    "ComplexNumbers",
    "Domain",
    "Int64",
    "Integer",
    "Integers",
    "NonNegative",
    "NonZero",
    "Positive",
    "Real",
    "Reals",
    "Strings",
    "Text",
    "WholeFloats",
    "Word64",
    "different_members",
    "domain_of",
    "generator_at",
    "nothing_in_common",
]

_SMALLEST, _LARGEST = 2.0**-53, 1 - 2.0**-53
_NUMBERS = (int, float, np.integer, np.floating)


def different_members(one: Any, other: Any) -> OverlayError:
    """The error for the intersection of two domains whose members have different types."""
    return OverlayError(
        f"{one!r} and {other!r} have members of different types",
        help="give two domains of the same type, such as two intervals or two of strings",
    )


def nothing_in_common(one: Any, other: Any) -> OverlayError:
    """The error for the intersection of two domains that would be empty."""
    return OverlayError(
        f"{one!r} and {other!r} have no members in common",
        help="give domains that overlap, or leave one of them out",
    )


@hides("cast", "closure", "condition", "edges", "spread", "within")
class Domain:
    """A set of values, with membership and sampling.

    Base class of all domains. A subclass defines ``kind``, ``contains``, ``spread``, ``default``,
    ``edges``, ``condition`` and ``meet``.

    Examples
    --------
    >>> from primitives import Integers, Real
    >>> digit = Integers(0, 9)
    >>> digit.contains(10), digit.from_unit(0.5), digit.default
    (False, 5, 0)
    >>> Real.total, digit.total
    (True, False)
    """

    kind: type
    """The type of the members."""

    def contains(self, value: Any) -> bool:
        """Return whether a value is a member; NaN and infinities never are.

        Parameters
        ----------
        value : object
            Any value. A value of another type than the members is compared by its number.

        Returns
        -------
        bool
            True if the value is a member.
        """
        raise NotImplementedError

    def spread(self, units: NDArray[np.float64]) -> NDArray[Any]:
        """Map numbers in [0, 1] to members: uniform numbers give random members.

        Parameters
        ----------
        units : ndarray of float64
            Numbers in [0, 1].

        Returns
        -------
        ndarray
            One member for each number; of an ``Arrays`` domain, one for each row of ``size``
            numbers.
        """
        raise NotImplementedError

    @property
    def default(self) -> Any:
        """A typical member: 1 of reals, 0 of integers, if these are members."""
        raise NotImplementedError

    @property
    def edges(self) -> tuple[Any, ...]:
        """Members that tests should include, such as bounds."""
        raise NotImplementedError

    def condition(self, name: str, kind: type | None = None) -> str:
        """Write a Python expression that is true where the variable ``name`` is a member.

        Parameters
        ----------
        name : str
            The name of the variable.
        kind : type, optional
            The type of the variable, by default that of the members. The expression omits
            conditions that hold for all values of this type.

        Returns
        -------
        str
            The expression; ``"True"`` if no condition remains.
        """
        raise NotImplementedError

    def meet(self, other: Domain) -> Domain:
        """Intersect two domains.

        Parameters
        ----------
        other : Domain
            A domain with members of the same type.

        Returns
        -------
        Domain
            The domain of the common members.

        Raises
        ------
        OverlayError
            The domains have members of different types, or no member in common.
        """
        raise NotImplementedError

    def within(self, numbers: NumberSet) -> Domain:
        """Restrict an interval to the range of a set of numbers.

        Parameters
        ----------
        numbers : NumberSet
            The set.

        Returns
        -------
        Domain
            The restricted interval. It is the domain itself if that is not an interval, or if the
            restriction would change nothing or leave no member.
        """
        return self

    @property
    def closure(self) -> NumberSet | None:
        """A closed set of numbers that contains all members, with bounds that may be infinite; None
        if the members are not real numbers.
        """
        return None

    @property
    def total(self) -> bool:
        """Whether every finite value of the type is a member."""
        return self.condition("x") == "True"

    @property
    def dtype(self) -> np.dtype[Any]:
        """The numpy type of a member in a record of parameters."""
        return np.dtype(self.kind)

    def cast(self, value: Any) -> Any:
        """Convert a member to the type of the domain.

        Parameters
        ----------
        value : object
            A member, of any type that ``contains`` accepts.

        Returns
        -------
        object
            An equal value of type ``kind``.
        """
        return self.kind(value)

    def from_unit(self, u: Any) -> Any:
        """Map a number in [0, 1] to a member.

        Parameters
        ----------
        u : float
            A number in [0, 1]; for ``Arrays`` one for each element.

        Returns
        -------
        object
            The member, of type ``kind``.

        Raises
        ------
        OutsideDomain
            The number is outside [0, 1].
        """
        if not 0 <= u <= 1:
            raise OutsideDomain(
                f"{u!r} is outside [0, 1]", where=caller(), help="give a number from 0 to 1"
            )
        return self.cast(self.spread(np.array([u], dtype=np.float64))[0])

    def sample(self, rng: np.random.Generator, size: int | None = None) -> Any:
        """Draw a random member, or an array of ``size`` of them.

        Parameters
        ----------
        rng : numpy.random.Generator
            The random number generator.
        size : int, optional
            The number of members; by default one member is returned, not an array.

        Returns
        -------
        object or ndarray
            A member, or an array of members along the first axis.
        """
        if size is None:
            return self.from_unit(rng.random())
        return self.spread(rng.random(size))


def _odds(units: NDArray[np.float64]) -> NDArray[np.float64]:
    inside = np.clip(units, _SMALLEST, _LARGEST)
    return inside / (1 - inside)


@hides("ends")
@dataclass(frozen=True)
class Reals(Domain):
    """The real numbers from ``low`` to ``high``, except some points; infinities are not members.

    Bounds may be open and points may be excluded, unlike in ``overlay.sets.Interval``, the interval
    of interval arithmetic. ``closure`` is the closed set.

    Attributes
    ----------
    low, high : float
        The bounds. A bound is a member unless it is open or infinite.
    open_low, open_high : bool
        Whether the bound is excluded.
    without : tuple of float
        Excluded points.

    Raises
    ------
    OverlayError
        The interval would be empty.

    Examples
    --------
    >>> Reals(-1, 1).contains(1.0), Reals(0, 1, open_high=True).contains(1.0)
    (True, False)
    >>> Positive.meet(Reals(-1, 1))
    Reals(0.0, 1.0, open_low=True)
    """

    low: float
    high: float
    open_low: bool = False
    open_high: bool = False
    without: tuple[float, ...] = ()
    kind = float

    def __post_init__(self) -> None:
        shown = f"an interval from {self.low!r} to {self.high!r}"
        object.__setattr__(self, "low", float(self.low))
        object.__setattr__(self, "high", float(self.high))
        object.__setattr__(self, "open_low", self.open_low or self.low == -math.inf)
        object.__setattr__(self, "open_high", self.open_high or self.high == math.inf)
        low, high = self.ends
        while low <= high and low in self.without:
            low = math.nextafter(low, math.inf)
        if not low <= high:
            raise OverlayError(f"{shown} is empty", help="give the lower bound first")

    @property
    def ends(self) -> Bounds:
        """The smallest and the largest float between the bounds."""
        low = math.nextafter(self.low, math.inf) if self.open_low else self.low
        return low, math.nextafter(self.high, -math.inf) if self.open_high else self.high

    def _beside(self, hole: float) -> float:
        """A member next to an excluded point."""
        above = below = hole
        while above in self.without:
            above = math.nextafter(above, math.inf)
        while below in self.without:
            below = math.nextafter(below, -math.inf)
        return above if self.contains(above) else below

    def __repr__(self) -> str:
        if self in _NAMES:
            return _NAMES[self]
        parts = [repr(self.low), repr(self.high)]
        parts += ["open_low=True"] if self.open_low and math.isfinite(self.low) else []
        parts += ["open_high=True"] if self.open_high and math.isfinite(self.high) else []
        parts += [f"without={self.without}"] if self.without else []
        return f"Reals({', '.join(parts)})"

    def contains(self, value: Any) -> bool:
        if not isinstance(value, _NUMBERS):
            return False
        above = self.low < value if self.open_low else self.low <= value
        below = value < self.high if self.open_high else value <= self.high
        return bool(above and below and value not in self.without)

    def spread(self, units: NDArray[np.float64]) -> NDArray[Any]:
        low, high = self.ends
        if math.isfinite(self.low) and math.isfinite(self.high):
            values = low * (1 - units) + high * units
        elif math.isfinite(self.low):
            values = self.low + _odds(units)
        elif math.isfinite(self.high):
            values = self.high - _odds(1 - units)
        else:
            values = np.log(_odds(units))
        values = np.clip(values, low, high)
        for hole in self.without:
            if self.low <= hole <= self.high:
                values = np.where(values == hole, self._beside(hole), values)
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

    def condition(self, name: str, kind: type | None = None) -> str:
        low, high = ("<" if is_open else "<=" for is_open in (self.open_low, self.open_high))
        holes = "".join(f" and {name} != {hole!r}" for hole in self.without)
        return f"{self.low!r} {low} {name} {high} {self.high!r}{holes}"

    def meet(self, other: Domain) -> Domain:
        if isinstance(other, WholeFloats):
            return other.meet(self)
        if not isinstance(other, Reals):
            raise different_members(self, other)
        low, high = max(self.low, other.low), min(self.high, other.high)
        return Reals(
            low,
            high,
            any(d.open_low for d in (self, other) if d.low == low),
            any(d.open_high for d in (self, other) if d.high == high),
            tuple(dict.fromkeys((*self.without, *other.without))),
        )

    def within(self, numbers: NumberSet) -> Domain:
        low, high = max(self.low, float(numbers.low)), min(self.high, float(numbers.high))
        if not low < high or (low == self.low and high == self.high):
            return self
        return self.meet(Reals(low, high))

    @property
    def closure(self) -> NumberSet:
        return NumberSet(((self.low, self.high),))

    @property
    def total(self) -> bool:
        return not self.without and self.low == -math.inf and self.high == math.inf


def _compared(name: str, sign: str, bound: int, kind: type) -> str:
    """The source of a comparison that is exact in compiled code too.

    numba compares a uint64 and a signed literal as floats; the source compares the complements of
    both instead.
    """
    if kind is np.uint64 and 2**53 < bound < 2**63:
        sign = {"<=": ">=", ">=": "<=", "!=": "!="}[sign]
        return f"~{name} {sign} {2**64 - 1 - bound}"
    return f"{name} {sign} {bound}"


def _limits(kind: type) -> tuple[int | None, int | None]:
    """The smallest and the largest value of an integer type; None where it has no bounds."""
    if not issubclass(kind, np.integer):
        return None, None
    return int(np.iinfo(kind).min), int(np.iinfo(kind).max)


@dataclass(frozen=True)
class Integers(Domain):
    """The integers from ``low`` to ``high``, except some.

    ``kind`` is the type of the members: ``int``, or ``numpy.int64`` or ``numpy.uint64``, whose
    arithmetic wraps.

    Attributes
    ----------
    low, high : int or None
        The bounds, which are members; None means no bound.
    without : tuple of int
        Excluded integers.

    Raises
    ------
    OverlayError
        The domain would be empty.

    Examples
    --------
    >>> Integers(0, 9).contains(3.0), Integers(0, 9, without=(3,)).contains(3)
    (True, False)
    """

    low: int | None = None
    high: int | None = None
    without: tuple[int, ...] = ()
    kind: type = int

    def __post_init__(self) -> None:
        low, high = _limits(self.kind)
        if low is not None and high is not None:
            object.__setattr__(self, "low", low if self.low is None else max(low, self.low))
            object.__setattr__(self, "high", high if self.high is None else min(high, self.high))
        if self.low is not None and self.high is not None:
            inside = {hole for hole in self.without if self.low <= hole <= self.high}
            if self.low + len(inside) > self.high:
                raise OverlayError(f"{self!r} is empty", help="give the lower bound first")

    def __repr__(self) -> str:
        if self in _NAMES:
            return _NAMES[self]
        shown = f"{self.low}, {self.high}" + (f", without={self.without}" if self.without else "")
        return f"Integers({shown})"

    def contains(self, value: Any) -> bool:
        if not isinstance(value, _NUMBERS):
            return False
        exact = value.item() if isinstance(value, np.generic) else value
        above = self.low is None or self.low <= exact
        below = self.high is None or exact <= self.high
        return above and below and exact % 1 == 0 and exact not in self.without

    def _ends(self) -> tuple[int, int]:
        """The bounds of samples: members of 64 bits."""
        least, most = np.iinfo(self.dtype).min, np.iinfo(self.dtype).max
        low = least if self.low is None else max(least, self.low)
        high = most if self.high is None else min(most, self.high)
        if low + len(self._holes(low, high)) > high:
            raise OverlayError(
                f"{self!r} has no members of 64 bits",
                where=caller(),
                help="give bounds from -2**63 to 2**64 - 1, or declare the type int",
            )
        return int(low), int(high)

    def _holes(self, low: int, high: int) -> list[int]:
        return sorted({hole for hole in self.without if low <= hole <= high})

    def spread(self, units: NDArray[np.float64]) -> NDArray[Any]:
        low, high = self._ends()
        holes = self._holes(low, high)
        last = high - low - len(holes)
        if self.low is not None and self.high is not None:
            steps = np.floor(np.clip(units, 0, _LARGEST) * (last + 1))
            index = np.minimum(steps.astype(np.uint64), np.uint64(last))
        elif self.low is None is self.high:
            steps = np.rint(3 * np.log(_odds(units)))
            zero = -low - sum(hole < 0 for hole in holes)
            index = steps.astype(np.int64).astype(np.uint64) + np.uint64(zero)
        else:
            steps = np.minimum(np.rint(3 * _odds(units)), 2.0**52).astype(np.uint64)
            steps = np.minimum(steps, np.uint64(last))
            index = steps if self.high is None else np.uint64(last) - steps
        values = (index + np.uint64(low % 2**64)).astype(self.dtype)
        for hole in holes:
            values = values + (values >= hole).astype(self.dtype)
        return values

    def sample(self, rng: np.random.Generator, size: int | None = None) -> Any:
        if self.low is None or self.high is None or self.without:
            return super().sample(rng, size)
        # the generator draws all 64 bits; a number in [0, 1] has only 53
        found = rng.integers(*self._ends(), size, dtype=self.dtype, endpoint=True)
        return self.cast(found) if size is None else found

    @property
    def default(self) -> Any:
        for value in (0, 1, self.low, self.high):
            if self.contains(value):
                return self.cast(value)
        return self.from_unit(0.5)

    @property
    def edges(self) -> tuple[Any, ...]:
        near = (0, 1, -1, 2, -3, 12, 97, 2**31, -(2**53) - 1, 10**15)
        bounds = (self.low, self.high)
        return tuple(self.cast(v) for v in (*near, *bounds) if v is not None and self.contains(v))

    def condition(self, name: str, kind: type | None = None) -> str:
        kind = kind or self.kind
        least, most = _limits(kind)
        parts: list[str] = []
        if self.low is not None and (least is None or least < self.low):
            parts.append(_compared(name, ">=", self.low, kind))
        if self.high is not None and (most is None or self.high < most):
            parts.append(_compared(name, "<=", self.high, kind))
        if not issubclass(kind, (int, np.integer, np.bool_)):
            parts.append(f"{name} % 1 == 0")
        parts += [_compared(name, "!=", hole, kind) for hole in self.without]
        return " and ".join(parts) or "True"

    def meet(self, other: Domain) -> Domain:
        if not isinstance(other, Integers) or other.kind is not self.kind:
            raise different_members(self, other)
        lows = [d.low for d in (self, other) if d.low is not None]
        highs = [d.high for d in (self, other) if d.high is not None]
        return Integers(
            max(lows, default=None),
            min(highs, default=None),
            tuple(dict.fromkeys((*self.without, *other.without))),
            self.kind,
        )

    @property
    def closure(self) -> NumberSet:
        low = -math.inf if self.low is None else self.low
        high = math.inf if self.high is None else self.high
        return number_set([(low, high)], whole=True).without(self.without)


@dataclass(frozen=True)
class Booleans(Domain):
    """The truth values False and True; 0 and 1 of other types are members too.

    Examples
    --------
    >>> Bool.contains(1), Bool.contains(2)
    (True, False)
    """

    kind = bool

    def __repr__(self) -> str:
        return "Bool"

    def contains(self, value: Any) -> bool:
        return isinstance(value, (np.bool_, *_NUMBERS)) and value in (0, 1)

    def spread(self, units: NDArray[np.float64]) -> NDArray[Any]:
        return units >= 0.5

    @property
    def default(self) -> bool:
        return False

    @property
    def edges(self) -> tuple[bool, ...]:
        return False, True

    def condition(self, name: str, kind: type | None = None) -> str:
        if issubclass(kind or self.kind, (bool, np.bool_)):
            return "True"
        return f"{name} == 0 or {name} == 1"

    @property
    def closure(self) -> NumberSet:
        return number_set([(0, 1)], whole=True)

    def meet(self, other: Domain) -> Domain:
        if not isinstance(other, Booleans):
            raise different_members(self, other)
        return self


@dataclass(frozen=True)
class WholeFloats(Domain):
    """The whole numbers from ``low`` to ``high``, as floats; infinities are not members.

    Attributes
    ----------
    low, high : float
        The bounds, which are members if they are finite.

    Raises
    ------
    OverlayError
        The domain would be empty.

    Examples
    --------
    >>> WholeFloats(0, 9).contains(3.0), WholeFloats(0, 9).contains(3.5)
    (True, False)
    """

    low: float = -math.inf
    high: float = math.inf
    kind = float

    def __post_init__(self) -> None:
        shown = f"the domain of whole numbers from {self.low!r} to {self.high!r}"
        low, high = float(self.low), float(self.high)
        object.__setattr__(self, "low", float(math.ceil(low)) if math.isfinite(low) else low)
        object.__setattr__(self, "high", float(math.floor(high)) if math.isfinite(high) else high)
        if not self.low <= self.high:
            raise OverlayError(f"{shown} is empty", help="give the lower bound first")

    def __repr__(self) -> str:
        if not math.isfinite(self.low) and not math.isfinite(self.high):
            return "WholeFloats()"
        return f"WholeFloats({self.low!r}, {self.high!r})"

    def contains(self, value: Any) -> bool:
        if not isinstance(value, _NUMBERS) or not -math.inf < value < math.inf:
            return False
        return bool(self.low <= value <= self.high and value % 1 == 0)

    def spread(self, units: NDArray[np.float64]) -> NDArray[Any]:
        if math.isfinite(self.low) and math.isfinite(self.high):
            steps = np.floor(np.clip(units, 0, _LARGEST) * (self.high - self.low + 1))
            return self.low + steps
        values = np.rint(3 * np.log(_odds(units)))
        return np.clip(values, self.low, self.high)

    @property
    def default(self) -> float:
        return next(v for v in (1.0, 0.0, self.low, self.high) if self.contains(v))

    @property
    def edges(self) -> tuple[float, ...]:
        near = (0.0, -0.0, 1.0, -1.0, 2.0, -3.0, 12.0, 1e9, -1e9, 2.0**53, -(2.0**52) - 1, 1e15)
        return tuple(v for v in (*near, self.low, self.high) if self.contains(v))

    def condition(self, name: str, kind: type | None = None) -> str:
        whole = f"{name} % 1 == 0"  # of an infinity it is NaN
        bounds = f"{self.low!r} <= {name} <= {self.high!r}"
        if not math.isfinite(self.low) and not math.isfinite(self.high):
            return whole
        return f"{bounds} and {whole}"

    def meet(self, other: Domain) -> Domain:
        if not isinstance(other, (Reals, WholeFloats)):
            raise different_members(self, other)
        low, high = other.low, other.high
        if isinstance(other, Reals):
            if other.without:
                raise nothing_in_common(self, other)
            first, last = other.ends
            low, high = first if math.isfinite(low) else low, last if math.isfinite(high) else high
        return WholeFloats(max(self.low, low), min(self.high, high))

    @property
    def closure(self) -> NumberSet:
        return NumberSet(((self.low, self.high),))


@dataclass(frozen=True)
class ComplexNumbers(Domain):
    """The complex numbers with finite parts; 0 is excluded if ``nonzero``.

    ``from_unit`` takes the real part from the leading 26 bits of the number, and the imaginary part
    from the others.

    Attributes
    ----------
    nonzero : bool
        Whether 0 is excluded.

    Examples
    --------
    >>> Complex.contains(0j), ComplexNumbers(nonzero=True).contains(0j)
    (True, False)
    """

    nonzero: bool = False
    kind = complex

    def __repr__(self) -> str:
        return "Complex without 0" if self.nonzero else "Complex"

    def contains(self, value: Any) -> bool:
        if not isinstance(value, (complex, np.complexfloating, *_NUMBERS)):
            return False
        return bool(abs(value.real) < math.inf and abs(value.imag) < math.inf) and not (
            self.nonzero and value == 0
        )

    def spread(self, units: NDArray[np.float64]) -> NDArray[Any]:
        leading = np.floor(np.clip(units, 0, _LARGEST) * 2**26)
        rest = np.clip(units, 0, _LARGEST) * 2**26 - leading
        # the centre of each cell: otherwise 2**25 would give the real part 0
        return self._of(Real.spread((leading + 0.5) / 2**26), Real.spread(rest))

    def _of(self, real: Any, imag: Any) -> Any:
        return real + 1j * imag

    def sample(self, rng: np.random.Generator, size: int | None = None) -> Any:
        values = self._of(Real.sample(rng, size), Real.sample(rng, size))
        return complex(values) if size is None else values

    @property
    def default(self) -> complex:
        return 1 + 0j

    @property
    def edges(self) -> tuple[complex, ...]:
        near = (0j, 1 + 0j, -1 + 0j, 1j, -1j, 1 + 1j, 0.5 - 2j, -3 - 1e-9j, 1e9 + 1j, -1e9j)
        return tuple(v for v in near if self.contains(v))

    def condition(self, name: str, kind: type | None = None) -> str:
        parts = [f"-inf < {name}.real < inf", f"-inf < {name}.imag < inf"]
        return " and ".join([*parts, f"{name} != 0"] if self.nonzero else parts)

    def meet(self, other: Domain) -> Domain:
        if not isinstance(other, ComplexNumbers):
            raise different_members(self, other)
        return ComplexNumbers(self.nonzero or other.nonzero)

    @property
    def total(self) -> bool:
        return not self.nonzero


def generator_at(unit: float) -> np.random.Generator:
    """A random number generator, seeded by a number in [0, 1]."""
    return np.random.default_rng(int(unit * 2**53))


@dataclass(frozen=True)
class Strings(Domain):
    """Strings: all, or those of given characters and lengths.

    A number in [0, 1] seeds a generator that draws the length and the characters. The length is at
    most 24 above the shortest.

    Parameters
    ----------
    alphabet : str
        The characters that a string may have; all characters if it is empty.
    low : int
        The shortest length.
    high : int or None
        The greatest length; None means no bound.

    Raises
    ------
    OverlayError
        The domain would be empty.

    Examples
    --------
    >>> code = Strings("01", 2, 3)
    >>> code.contains("101"), code.contains("1"), code.contains("12")
    (True, False, False)
    """

    alphabet: str = ""
    low: int = 0
    high: int | None = None
    kind = str

    def __post_init__(self) -> None:
        if self.low < 0 or (self.high is not None and self.high < self.low):
            raise OverlayError(
                f"the domain of strings of {self.low} to {self.high} characters is empty",
                help="give the lower bound first",
            )
        object.__setattr__(self, "alphabet", "".join(dict.fromkeys(self.alphabet)))

    def __repr__(self) -> str:
        if self.total:
            return "Text"
        return f"Strings({self.alphabet!r}, {self.low}, {self.high})"

    @property
    def is_fixed(self) -> bool:
        """Whether all members have the same length."""
        return self.low == self.high

    def contains(self, value: Any) -> bool:
        return (
            isinstance(value, str)
            and self.low <= len(value)
            and (self.high is None or len(value) <= self.high)
            and (not self.alphabet or not value.strip(self.alphabet))
        )

    def spread(self, units: NDArray[np.float64]) -> NDArray[Any]:
        found = np.empty(len(units), dtype=object)
        letters = self.alphabet or _CHARACTERS
        for i, unit in enumerate(units):
            rng = generator_at(unit)
            length = self.low + min(int(rng.geometric(0.2)) - 1, 24)
            length = length if self.high is None else min(length, self.high)
            found[i] = "".join(letters[k] for k in rng.integers(len(letters), size=length))
        return found

    @property
    def default(self) -> str:
        return (self.alphabet or "0")[0] * self.low

    @property
    def edges(self) -> tuple[str, ...]:
        cases = "a", "A", "aA", "ß", "SS", "İ", "ΑΣ", "ας", "\u03c3", "ŉ", "ﬃ", "ꭰ"
        numbers = " ", "0", "-7", "+007", " 12 ", "1_0", "\u0661", "1e3", "0.5", "abab", "\n"
        ends = self.default, (self.alphabet or "a")[-1] * self.low
        return tuple(dict.fromkeys(v for v in ("", *cases, *numbers, *ends) if self.contains(v)))

    def condition(self, name: str, kind: type | None = None) -> str:
        parts: list[str] = []
        if self.low == self.high:
            parts.append(f"len({name}) == {self.low}")
        elif self.high is not None:
            parts.append(f"{self.low} <= len({name}) <= {self.high}")
        elif self.low:
            parts.append(f"len({name}) >= {self.low}")
        if self.alphabet:
            parts.append(f"not {name}.strip({self.alphabet!r})")
        return " and ".join(parts) or "True"

    def meet(self, other: Domain) -> Domain:
        if not isinstance(other, Strings):
            raise different_members(self, other)
        letters = self.alphabet or other.alphabet
        if self.alphabet and other.alphabet:
            letters = "".join(c for c in self.alphabet if c in other.alphabet)
        highs = [high for high in (self.high, other.high) if high is not None]
        low, high = max(self.low, other.low), min(highs) if highs else None
        if not letters and (self.alphabet or other.alphabet):
            if low:
                raise nothing_in_common(self, other)
            high = 0
        return Strings(letters, low, high)

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(object)


@dataclass(frozen=True)
class ByteStrings(Domain):
    """Byte strings of given lengths.

    A number in [0, 1] seeds a generator that draws the length and the bytes. The length is at most
    12 above the shortest.

    Parameters
    ----------
    low : int
        The shortest length.
    high : int or None
        The greatest length; None means no bound.

    Raises
    ------
    OverlayError
        The domain would be empty.

    Examples
    --------
    >>> ByteStrings(2, 2).contains(b"ab"), ByteStrings(2, 2).contains(b"abc")
    (True, False)
    """

    low: int = 0
    high: int | None = None
    kind = bytes

    def __post_init__(self) -> None:
        if self.low < 0 or (self.high is not None and self.high < self.low):
            raise OverlayError(
                f"the domain of {self.low} to {self.high} bytes is empty",
                help="give the lower bound first",
            )

    def contains(self, value: Any) -> bool:
        is_long = isinstance(value, bytes) and self.low <= len(value)
        return is_long and (self.high is None or len(value) <= self.high)

    def spread(self, units: NDArray[np.float64]) -> NDArray[Any]:
        found = np.empty(len(units), dtype=object)
        for i, unit in enumerate(units):
            rng = generator_at(unit)
            length = self.low + min(int(rng.geometric(0.3)) - 1, 12)
            length = length if self.high is None else min(length, self.high)
            found[i] = bytes(rng.integers(256, size=length).tolist())
        return found

    @property
    def default(self) -> bytes:
        return bytes(self.low)

    @property
    def edges(self) -> tuple[bytes, ...]:
        ends = bytes(self.low), b"\xff" * self.low, b"\0", b"ab", b"\xc3\xa4", b"\x80"
        return tuple(dict.fromkeys(value for value in ends if self.contains(value)))

    def condition(self, name: str, kind: type | None = None) -> str:
        if self.high is not None:
            return f"{self.low} <= len({name}) <= {self.high}"
        return f"len({name}) >= {self.low}" if self.low else "True"

    def meet(self, other: Domain) -> Domain:
        if not isinstance(other, ByteStrings):
            raise different_members(self, other)
        highs = [high for high in (self.high, other.high) if high is not None]
        return ByteStrings(max(self.low, other.low), min(highs) if highs else None)

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(object)


_CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 .,-+_äßéΣςλİ€"

Real = Reals(-math.inf, math.inf)
"""Domain of all floats."""
Positive = Reals(0, math.inf, open_low=True)
"""Domain of the floats above zero."""
NonNegative = Reals(0, math.inf)
"""Domain of the floats of at least zero."""
NonZero = Reals(-math.inf, math.inf, without=(0.0,))
"""Domain of all floats but zero."""
Integer = Integers()
"""Domain of all integers, of any size."""
Bool = Booleans()
"""Domain of True and False."""
Complex = ComplexNumbers()
"""Domain of all complex numbers."""
Text = Strings()
Bytes = ByteStrings()
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
    (complex, Complex),
    (str, Text),
    (bytes, Bytes),
    (np.int64, Int64),
    (np.uint64, Word64),
)


def domain_of(kind: Any) -> Domain | None:
    """The domain of all values of a type; None if the type has none."""
    if not isinstance(kind, type):
        return None
    own = getattr(kind, "domain", None)  # types of arrays with a known shape, and of lists
    if isinstance(own, Domain):
        return own
    return next((domain for known, domain in _BY_TYPE if issubclass(kind, known)), None)


def common(domains: Iterable[Domain]) -> Domain:
    """The intersection of domains."""
    first, *others = domains
    for other in others:
        first = first.meet(other)
    return first
