"""Base classes of abstract domains: lattices of abstract values, with transfer functions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from overlay.core.errors import OverlayError
from overlay.core.table import MethodTable

if TYPE_CHECKING:
    from overlay.analysis.abstract_state import AbstractState
    from overlay.code.body import Apply, Body

__all__ = ["Domain", "Entered", "Lattice", "UnsetVariable"]


class Entered(NamedTuple):
    """The functions that a native function calls, each with its arguments. result: gives the
    native function's result for the join of theirs; None if that is it."""

    calls: Sequence[tuple[Any, tuple[Any, ...]]]
    result: Callable[[Any], Any] | None = None


class UnsetVariable(OverlayError):
    """A variable is read before anything is assigned to it."""

    variable = ""


class Lattice(ABC):
    """Lattice of abstract values, each of which represents a set of values of the program.

    Abstract values are hashable, and equal if they represent the same set in the same form.
    ``top`` represents all values, ``bottom`` none.

    >>> from overlay.analysis import Intervals, integers
    >>> Intervals().is_below(integers(1, 2), integers(0, 9))
    True
    """

    top: Any
    bottom: Any

    @abstractmethod
    def join(self, one: Any, other: Any) -> Any:
        """The join of two abstract values: an upper bound of both."""

    @abstractmethod
    def is_below(self, one: Any, other: Any) -> bool:
        """Whether ``other`` represents every value that ``one`` represents."""

    def widen(self, old: Any, new: Any) -> Any:
        """An upper bound of both, such that every chain of widenings is finite. The default, the
        join, is enough if all chains of the lattice are finite."""
        return self.join(old, new)


class Domain(Lattice):
    """Abstract domain: a lattice with transfer functions, which define the meaning of code in it.

    table: the transfer functions, as methods of ordinary targets; their arguments are abstract
    values, and dispatch is on the classes of these. A call that none accepts is analysed through
    the callee's own code; if there is none, its result is ``top``.

    See ``docs/analysis.md`` for a complete example, a domain of signs.
    """

    table: MethodTable

    @property
    def tables(self) -> tuple[MethodTable, ...]:
        """The tables with transfer functions, of which the first that takes a call has it."""
        return (self.table,)

    def transfer(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """A transfer function of the tables, as it is called; by default itself."""
        return function

    def in_compiled_code(self) -> Domain:
        """This domain for compiled code, where integers wrap around; by default itself."""
        return self

    @abstractmethod
    def constant(self, value: Any) -> Any:
        """The abstract value of one object of the program."""

    def known(self, value: Any) -> tuple[Any] | None:
        """The only object that an abstract value represents, in a tuple of one; None if there may
        be others. Callees are found by it."""
        return None

    def hint(self, value: Any) -> Any:
        """An annotation that holds for all values represented, by which methods are selected: a
        class, if all values are of exactly that class, or a union of such; None if there is
        none."""
        return None

    def parameter(self, place: int, hint: Any) -> Any:
        """The abstract value of a parameter of which only its position and its type are known.
        hint: the type, a class; None if it is not known."""
        return self.top

    def settled(self, function: Callable[..., Any], args: Sequence[Any], value: Any) -> Any:
        """The result of a transfer function, adjusted to the range of the program's numbers."""
        return value

    def alternatives(self, args: Sequence[Any]) -> Sequence[tuple[Any, ...]]:
        """Split the arguments of a call into alternatives, such that each has one callee."""
        return (tuple(args),)

    def check(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        """Raise OverlayError if a non-generic function would raise for such arguments. The
        interpreter records the error, and the call's result is ``bottom``."""

    def instance(self, cls: Any) -> Any:
        """The abstract value of a new object of a class."""
        return self.top

    def generated(self, item: Any) -> Any:
        """The abstract value of a generator. item: the join of its items."""
        return self.top

    def called(self, value: Any) -> None:
        """Raise OverlayError if a value, of which no code is known, can certainly not be called."""

    def manager(self, value: Any, instruction: str) -> tuple[Callable[..., Any] | None, bool]:
        """The method that a ``with`` statement enters a context manager by, None if it is not
        known; and whether the block's exceptions may end there. An OverlayError that is raised is
        recorded."""
        return None, True

    def awaited(self, result: Any) -> Any:
        """The abstract value of a coroutine. result: what it returns."""
        return self.top

    def keywords(self, given: Mapping[str, Any]) -> Any | None:
        """The abstract value of the dict that a parameter ``**names`` is for these keywords; None
        for a dict of which nothing is known."""
        return None

    def unset(self, name: str, body: Body) -> Any:
        """The abstract value of a variable that is read where no path has set it. An UnsetVariable
        that is raised is recorded, unless the line reads it on another path."""
        return self.top

    def applied(self, step: Apply, body: Body, state: AbstractState) -> tuple[Any] | None:
        """The result of a step that follows from its statement, in a tuple of one; else None. It is
        asked before all else. An OverlayError that is raised is recorded."""
        return None

    def entered(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Entered | None:
        """The functions of the program that a native function calls for such arguments; None if
        they are not known, or there are none. It is asked before the transfer functions."""
        return None

    def spread(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Sequence[Any], Mapping[str, Any]] | None:
        """The arguments of a call that unpacks them; None if nothing is known of them. args: the
        unpacked value. kwargs: the unpacked mapping, under ``**``."""
        return None

    def grown(self) -> bool:
        """True if the facts beside the abstract values, such as the contents of objects, have grown
        since the last time. The analysis of a call is repeated until they have not."""
        return False

    def handed(self, values: Iterable[Any]) -> None:
        """Forget what is known of the contents of these values: code that is not analysed has
        them, and may change them."""

    def assume(self, function: Callable[..., Any], args: Sequence[Any], truth: bool) -> Any:
        """Refine the arguments of a condition ``function(*args)`` by its truth; None if that
        truth is impossible. By default they are unchanged."""
        return tuple(args)

    def backwards(self, function: Callable[..., Any], args: Sequence[Any], result: Any) -> Any:
        """Refine the arguments of ``function(*args)`` by its result, which is within ``result``.
        By default they are unchanged."""
        return tuple(args)
