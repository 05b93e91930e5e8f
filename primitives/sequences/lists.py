"""Lists of numbers or strings: their types and domains."""

from __future__ import annotations

import functools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from primitives.domains import (
    ByteStrings,
    Domain,
    Strings,
    different_members,
    domain_of,
    generator_at,
    nothing_in_common,
)

__all__ = [
    "ELEMENTS",
    "Lists",
    "element_of_sequence",
    "is_list",
    "is_sequence",
    "length_of",
    "list_of",
    "type_of_list",
]

ELEMENTS = (float, int, str)
"""The types of elements for which lists have relations."""


class _ListType(type):
    """The metaclass of the types of lists whose elements have one type."""

    element: type

    def __instancecheck__(cls, value: object) -> bool:
        return isinstance(value, list) and all(isinstance(v, cls.element) for v in value)

    @property
    def domain(cls) -> Lists:
        """The domain of all lists of the type."""
        element = domain_of(cls.element)
        assert element is not None
        return Lists(element)


@functools.cache
def list_of(element: type) -> type:
    """The type of lists with elements of this type.

    >>> list_of(float)
    <class 'primitives.sequences.lists.list[float]'>
    >>> isinstance([1.0, 2.0], list_of(float)), isinstance(["a"], list_of(float))
    (True, False)
    """
    parts = {"element": element, "__module__": __name__}
    return _ListType(f"list[{element.__name__}]", (list,), parts)


def type_of_list(value: list[Any]) -> type:
    """The type of a non-empty list, whose items have one type."""
    return list_of(type(value[0]))


def is_list(kind: Any) -> bool:
    """Return whether a type is one of lists with elements of one type."""
    return isinstance(kind, _ListType)


def element_of_sequence(kind: Any) -> Any:
    """The type of the items of strings, or of lists of a type."""
    return str if kind is str else kind.element


def is_sequence(kind: Any) -> bool:
    """Return whether a type is that of strings, or one of lists."""
    return kind is str or is_list(kind)


@dataclass(frozen=True)
class Lists(Domain):
    """The domain of lists, of any length or of one, whose elements lie in a domain.

    A number in [0, 1] seeds a generator that draws the length, at most 12, and the elements.

    >>> from primitives import Reals
    >>> Lists(Reals(0, 1)).contains([0.5, 1.0]), Lists(Reals(0, 1)).contains([2.0])
    (True, False)
    """

    element: Domain
    length: int | None = None
    kind: type = field(init=False, compare=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "kind", list_of(self.element.kind))

    def contains(self, value: Any) -> bool:
        is_long = isinstance(value, list) and self.length in (None, len(value))
        return is_long and all(map(self.element.contains, value))

    def spread(self, units: NDArray[np.float64]) -> NDArray[Any]:
        found = np.empty(len(units), dtype=object)
        for i, unit in enumerate(units):
            rng = generator_at(unit)
            count = min(int(rng.geometric(0.3)) - 1, 12)
            drawn = self.element.sample(rng, count if self.length is None else self.length)
            found[i] = [self.element.cast(value) for value in drawn]
        return found

    @property
    def default(self) -> Any:
        return [self.element.default] * (self.length or 0)

    @property
    def edges(self) -> tuple[Any, ...]:
        first, *others = self.element.edges
        if self.length is not None:
            return [first] * self.length, [*others, first][-1:] * self.length
        return [], [first], [first, first], [first, *others[:3]], [*others[:2], first, others[0]]

    def condition(self, name: str, kind: type | None = None) -> str:
        parts = [] if self.length is None else [f"len({name}) == {self.length}"]
        if not self.element.total:
            inside = self.element.condition("item", getattr(kind, "element", None))
            parts.append(f"all({inside} for item in {name})")
        return " and ".join(parts) or "True"

    def meet(self, other: Domain) -> Domain:
        if not isinstance(other, Lists):
            raise different_members(self, other)
        lengths = {self.length, other.length} - {None}
        if len(lengths) > 1:
            raise nothing_in_common(self, other)
        return Lists(self.element.meet(other.element), *lengths)

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(object)

    def cast(self, value: Any) -> Any:
        return [self.element.cast(item) for item in value]


def length_of(domain: Domain | None) -> int | None:
    """The length of all strings, bytes or lists in a domain; None if they have different lengths.

    >>> from primitives.domains import Strings
    >>> length_of(Strings("01", 8, 8)), length_of(Strings("01"))
    (8, None)
    """
    if isinstance(domain, (Strings, ByteStrings)):
        return domain.low if domain.low == domain.high else None
    return domain.length if isinstance(domain, Lists) else None
