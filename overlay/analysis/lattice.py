"""Lattices: what an abstract value is to an analysis, and what code does to such values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from overlay.core.table import MethodTable

__all__ = ["Domain", "Lattice"]


class Lattice(ABC):
    """Abstract values with an order: each stands for a set of values of the program.

    Abstract values are hashable, and equal where they stand for the same set by the same means.
    """

    top: Any
    bottom: Any

    @abstractmethod
    def join(self, one: Any, other: Any) -> Any:
        """A value that stands for what either stands for."""

    @abstractmethod
    def is_below(self, one: Any, other: Any) -> bool:
        """Whether ``other`` stands for all that ``one`` stands for."""

    def widen(self, old: Any, new: Any) -> Any:
        """A value above both, such that a chain of these comes to an end. Enough as it is where
        all chains are finite."""
        return self.join(old, new)


class Domain(Lattice):
    """A lattice with the meaning of code in it.

    table: transfer functions, methods of the same targets as any table's; their arguments are
    abstract values, by the classes of which they are chosen. A call that none of them takes is
    analysed through the callee's own code where there is some, and gives ``top`` otherwise.
    """

    table: MethodTable

    def in_compiled_code(self) -> Domain:
        """The same domain for code that is compiled, where integers wrap around."""
        return self

    @abstractmethod
    def constant(self, value: Any) -> Any:
        """The abstract value of a value of the program."""

    def known(self, value: Any) -> tuple[Any] | None:
        """The only value of the program that an abstract value stands for, alone in a tuple;
        None where there may be others. What is called is found by it."""
        return None

    def hint(self, value: Any) -> Any:
        """An annotation that all values meet that an abstract value stands for, by which methods
        are chosen: a class, where they are of just that class, or a union of such. None where
        there is none."""
        return None

    def parameter(self, place: int, hint: Any) -> Any:
        """The abstract value of a function's parameter of which only its place and its type are
        known: a class, or None."""
        return self.top

    def settled(self, function: Callable[..., Any], args: Sequence[Any], value: Any) -> Any:
        """What a transfer function found, as the program's numbers can hold it."""
        return value

    def alternatives(self, args: Sequence[Any]) -> Sequence[tuple[Any, ...]]:
        """The arguments of a call taken apart, such that each part has one callee."""
        return (tuple(args),)

    def check(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        """Raise OverlayError where a function that is no generic one would raise an error for
        such arguments: the interpreter notes that, and such a call gives nothing."""

    def instance(self, cls: Any) -> Any:
        """The abstract value of a new object of a class."""
        return self.top

    def generated(self, item: Any) -> Any:
        """What a call of a generator function gives, where these are its items."""
        return self.top

    def assume(self, function: Callable[..., Any], args: Sequence[Any], truth: bool) -> Any:
        """The arguments where a condition ``function(*args)`` came out so; None where it cannot.
        They are taken as they are, unless this is overridden."""
        return tuple(args)

    def backwards(self, function: Callable[..., Any], args: Sequence[Any], result: Any) -> Any:
        """The arguments where ``function(*args)`` is known to be within ``result``."""
        return tuple(args)
