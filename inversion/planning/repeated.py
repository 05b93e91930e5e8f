"""Choices that a loop repeats in each iteration, as one coordinate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from inversion.errors import OutsideDomain
from overlay.core.location import caller
from primitives import Domain
from primitives.domains import different_members

__all__ = ["Repeated", "filled", "size_of"]


@dataclass(frozen=True)
class Repeated(Domain):
    """The domain of tuples of at most ``most`` members of a domain, one for each iteration in
    order.

    Missing members of a shorter tuple are the domain's default. In a record of parameters, and in
    compiled code, it is an array of ``most`` values.

    >>> from primitives import Reals
    >>> signs = Repeated(Reals(-1, 1), 3)
    >>> signs.contains((0.5, -1.0)), signs.filled((0.5, -1.0))
    (True, (0.5, -1.0, 1.0))
    """

    each: Domain
    most: int
    kind = tuple

    def contains(self, value: Any) -> bool:
        if isinstance(value, np.ndarray) and value.shape == ():
            return False
        if not isinstance(value, (tuple, list, np.ndarray)):
            return False
        return len(value) <= self.most and all(map(self.each.contains, value))

    def cast(self, value: Any) -> tuple[Any, ...]:
        return tuple(map(self.each.cast, value))

    def filled(self, value: Sequence[Any]) -> tuple[Any, ...]:
        """A member extended to the full length with defaults."""
        lacking = (self.each.default,) * (self.most - len(value))
        whole = (*value, *lacking)
        return tuple(map(self.each.filled, whole)) if isinstance(self.each, Repeated) else whole

    @property
    def size(self) -> int:
        """The number of numbers in a member of full length."""
        return math.prod(self.dtype.shape)

    def spread(self, units: NDArray[np.float64]) -> NDArray[Any]:
        """Members for rows of ``size`` numbers in [0, 1]."""
        shape = (*units.shape[:-1], *self.dtype.shape)
        if self.each.dtype.shape:
            rows = units.reshape((*units.shape[:-1], self.most, size_of(self.each)))
            return self.each.spread(rows).reshape(shape)
        return self.each.spread(units).reshape(shape)

    def from_unit(self, u: Any) -> tuple[Any, ...]:
        """The member for ``size`` numbers in [0, 1]. Raises OutsideDomain for any others."""
        units = np.asarray(u, dtype=np.float64)
        if units.shape != (self.size,) or not np.all((units >= 0) & (units <= 1)):
            raise OutsideDomain(
                f"{u!r} is not {self.size} numbers in [0, 1]",
                where=caller(),
                help="give one number in [0, 1] for each element",
            )
        return self.cast(self.spread(units).tolist())

    def sample(self, rng: np.random.Generator, size: int | None = None) -> Any:
        if size is None:
            return tuple(self.each.sample(rng) for _ in range(self.most))
        values = self.each.sample(rng, size * self.most)
        return np.reshape(values, (size, *self.dtype.shape))

    @property
    def default(self) -> tuple[Any, ...]:
        return ()

    @property
    def edges(self) -> tuple[Any, ...]:
        return ((), *((edge,) * self.most for edge in self.each.edges))

    def condition(self, name: str, kind: type | None = None) -> str:
        """No condition: generated code tests each value in its iteration."""
        return "True"

    def meet(self, other: Domain) -> Domain:
        if not isinstance(other, Repeated) or other.most != self.most:
            raise different_members(self, other)
        return Repeated(self.each.meet(other.each), self.most)

    @property
    def dtype(self) -> np.dtype[Any]:
        inner = self.each.dtype
        return np.dtype((inner.base, (self.most, *inner.shape)))


def size_of(domain: Domain) -> int:
    """The number of numbers in a member of a domain: 1, except for arrays and repeated choices."""
    return math.prod(domain.dtype.shape)


def filled(domain: Domain, value: Any) -> Any:
    """A member in the form that generated code takes: of full length for a repeated choice."""
    return domain.filled(value) if isinstance(domain, Repeated) else value
