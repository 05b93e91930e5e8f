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
    """The functions that a native function calls, each with its arguments.

    result: gives the native function's result for the join of theirs; None if the join is the
    result.
    """

    calls: Sequence[tuple[Any, tuple[Any, ...]]]
    result: Callable[[Any], Any] | None = None


class UnsetVariable(OverlayError):
    """A variable is read before anything is assigned to it."""

    variable = ""


class Lattice(ABC):
    """Lattice of abstract values, each of which represents a set of values of the program.

    Abstract values are hashable, and equal if they represent the same set in the same form.

    Attributes
    ----------
    top : object
        The abstract value that represents all values.
    bottom : object
        The abstract value that represents none.

    Examples
    --------
    >>> from overlay.analysis import Intervals, integers
    >>> Intervals().is_below(integers(1, 2), integers(0, 9))
    True

    References
    ----------
    P. Cousot and R. Cousot, "Abstract interpretation: a unified lattice model for static analysis
    of programs by construction or approximation of fixpoints", POPL 1977.
    """

    top: Any
    bottom: Any

    @abstractmethod
    def join(self, one: Any, other: Any) -> Any:
        """The join of two abstract values: an upper bound of both.

        Parameters
        ----------
        one, other : object
            Two abstract values.

        Returns
        -------
        object
            An abstract value that represents every value that one of them represents.

        Examples
        --------
        >>> from overlay.analysis import Intervals, integers
        >>> Intervals().join(integers(0, 3), integers(8, 9))
        int [0, 9]
        """

    @abstractmethod
    def is_below(self, one: Any, other: Any) -> bool:
        """Return whether ``other`` represents every value that ``one`` represents.

        Parameters
        ----------
        one, other : object
            Two abstract values.

        Returns
        -------
        bool
            Whether ``one`` is below ``other`` in the order of the lattice.
        """

    def widen(self, old: Any, new: Any) -> Any:
        """An upper bound of two abstract values, such that every chain of widenings is finite.

        The default, the join, is enough if all chains of the lattice are finite.

        Parameters
        ----------
        old, new : object
            The abstract values of a variable in two successive iterations of a loop.

        Returns
        -------
        object
            The upper bound.

        Examples
        --------
        >>> from overlay.analysis import Intervals, integers
        >>> Intervals().widen(integers(0, 1), integers(0, 2))
        int [0, inf)
        """
        return self.join(old, new)


class Domain(Lattice):
    """Abstract domain: a lattice with transfer functions, which define the meaning of code in it.

    A call that no transfer function accepts is analysed through the callee's own code; if there
    is none, its result is ``top``.

    Attributes
    ----------
    table : MethodTable
        The transfer functions, as methods of ordinary targets. Their arguments are abstract
        values, and dispatch is on the classes of these.

    Examples
    --------
    >>> from overlay.analysis import Intervals
    >>> domain = Intervals()
    >>> domain.constant(3)
    int [3, 3]
    """

    table: MethodTable

    @property
    def tables(self) -> tuple[MethodTable, ...]:
        """The tables with transfer functions; the first that accepts a call is used."""
        return (self.table,)

    def transfer(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Hook: adapt a transfer function of the tables.

        Parameters
        ----------
        function : callable
            The method's function.

        Returns
        -------
        callable
            The function that is called with the abstract arguments; by default ``function``.
        """
        return function

    def in_compiled_code(self) -> Domain:
        """This domain for compiled code, where integers wrap around.

        Returns
        -------
        Domain
            By default this domain.
        """
        return self

    @abstractmethod
    def constant(self, value: Any) -> Any:
        """The abstract value of one object of the program.

        Parameters
        ----------
        value : object
            The object.

        Returns
        -------
        object
            An abstract value that represents at least the object.

        Examples
        --------
        >>> from overlay.analysis import Intervals
        >>> Intervals().constant(3)
        int [3, 3]
        """

    def known(self, value: Any) -> tuple[Any] | None:
        """The only object that an abstract value represents, by which callees are found.

        Parameters
        ----------
        value : object
            An abstract value.

        Returns
        -------
        tuple or None
            The object in a tuple of one; None if there may be others.
        """
        return None

    def hint(self, value: Any) -> Any:
        """An annotation that holds for all values represented, by which methods are selected.

        Parameters
        ----------
        value : object
            An abstract value.

        Returns
        -------
        type or None
            A class, if all values are of exactly that class, or a union of such; None if there is
            none.

        Examples
        --------
        >>> from overlay.analysis import Intervals, floats
        >>> Intervals().hint(floats(0.0, 1.0))
        <class 'float'>
        """
        return None

    def parameter(self, place: int, hint: Any) -> Any:
        """The abstract value of a parameter of which only the position and the type are known.

        Parameters
        ----------
        place : int
            The position, from 0.
        hint : type or None
            The type, a class; None if it is not known.

        Returns
        -------
        object
            By default ``top``.
        """
        return self.top

    def settled(self, function: Callable[..., Any], args: Sequence[Any], value: Any) -> Any:
        """The result of a transfer function, adjusted to the range of the program's numbers.

        Parameters
        ----------
        function : callable
            The callee.
        args : sequence
            The abstract arguments.
        value : object
            The result of the transfer function.

        Returns
        -------
        object
            By default ``value``.
        """
        return value

    def alternatives(self, args: Sequence[Any]) -> Sequence[tuple[Any, ...]]:
        """Split the arguments of a call into alternatives, such that each has one callee.

        Parameters
        ----------
        args : sequence
            The abstract arguments.

        Returns
        -------
        sequence of tuple
            Abstract arguments that together represent at least the same calls.
        """
        return (tuple(args),)

    def check(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        """Raise OverlayError if a non-generic function would raise for such arguments.

        The interpreter records the error, and the call's result is ``bottom``.

        Parameters
        ----------
        function : callable
            The callee.
        args : sequence
            The abstract positional arguments.
        kwargs : mapping
            The abstract keyword arguments.

        Raises
        ------
        OverlayError
            The call fails for every value that the arguments represent.
        """

    def instance(self, cls: Any) -> Any:
        """The abstract value of a new object of a class.

        Parameters
        ----------
        cls : type
            The class.

        Returns
        -------
        object
            By default ``top``.
        """
        return self.top

    def generated(self, item: Any) -> Any:
        """The abstract value of a generator.

        Parameters
        ----------
        item : object
            The join of the abstract values of its items.

        Returns
        -------
        object
            By default ``top``.
        """
        return self.top

    def called(self, value: Any) -> None:
        """Raise OverlayError if a value, of which no code is known, can certainly not be called.

        Parameters
        ----------
        value : object
            The abstract value that a program calls.
        """

    def manager(self, value: Any, instruction: str) -> tuple[Callable[..., Any] | None, bool]:
        """The method by which a ``with`` statement enters a context manager.

        An OverlayError that is raised is recorded.

        Parameters
        ----------
        value : object
            The abstract value of the context manager.
        instruction : str
            The name of the instruction that enters it.

        Returns
        -------
        (callable or None, bool)
            The method, None if it is not known; and whether exceptions of the block may end there.
        """
        return None, True

    def awaited(self, result: Any) -> Any:
        """The abstract value of a coroutine.

        Parameters
        ----------
        result : object
            The abstract value of its result.

        Returns
        -------
        object
            By default ``top``.
        """
        return self.top

    def keywords(self, given: Mapping[str, Any]) -> Any | None:
        """The abstract value of the dict that a parameter ``**names`` is.

        Parameters
        ----------
        given : mapping of str to object
            The abstract values of the keywords that it collects.

        Returns
        -------
        object or None
            None, as by default, for a dict of which nothing is known.
        """
        return None

    def unset(self, name: str, body: Body) -> Any:
        """The abstract value of a variable that is read where no path has set it.

        Parameters
        ----------
        name : str
            The variable.
        body : Body
            The function that reads it.

        Returns
        -------
        object
            By default ``top``.

        Raises
        ------
        UnsetVariable
            The read is an error; it is recorded, unless the line reads the variable on another
            path.
        """
        return self.top

    def applied(self, step: Apply, body: Body, state: AbstractState) -> tuple[Any] | None:
        """The result of a step, where it follows from the statement alone. It is asked first.

        Parameters
        ----------
        step : Apply
            The statement.
        body : Body
            The function that contains it.
        state : AbstractState
            The abstract values of the variables before it.

        Returns
        -------
        tuple or None
            The result in a tuple of one; None where it does not follow.

        Raises
        ------
        OverlayError
            The step fails; the error is recorded.
        """
        return None

    def entered(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Entered | None:
        """The functions of the program that a native function calls. It is asked before the
        transfer functions.

        Parameters
        ----------
        function : callable
            The native function.
        args : sequence
            The abstract positional arguments.
        kwargs : mapping
            The abstract keyword arguments.

        Returns
        -------
        Entered or None
            The calls; None if they are not known, or there are none.
        """
        return None

    def spread(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Sequence[Any], Mapping[str, Any]] | None:
        """The arguments of a call that unpacks them (``f(*args, **kwargs)``).

        Parameters
        ----------
        function : callable
            The callee.
        args : sequence
            The abstract unpacked value.
        kwargs : mapping
            The abstract unpacked mapping, under ``"**"``.

        Returns
        -------
        (sequence, mapping) or None
            The positional and keyword arguments; None if nothing is known of them.
        """
        return None

    def grown(self) -> bool:
        """Return whether the facts beside the abstract values, such as the contents of objects,
        have grown since the last call.

        Returns
        -------
        bool
            True if they have; the analysis of a call is repeated until it is False.
        """
        return False

    def handed(self, values: Iterable[Any]) -> None:
        """Forget the contents of values that are passed to code that is not analysed, which may
        change them.

        Parameters
        ----------
        values : iterable
            The abstract values.
        """

    def assume(self, function: Callable[..., Any], args: Sequence[Any], truth: bool) -> Any:
        """Refine the arguments of a condition ``function(*args)`` by its truth.

        Parameters
        ----------
        function : callable
            The comparison or predicate.
        args : sequence
            The abstract arguments.
        truth : bool
            The outcome of the condition.

        Returns
        -------
        tuple or None
            The refined arguments; None if that outcome is impossible. By default they are
            unchanged.

        Examples
        --------
        >>> import operator
        >>> from overlay.analysis import Intervals, integers
        >>> Intervals().assume(operator.lt, (integers(0, 9), integers(3, 5)), True)
        (int [0, 4], int [3, 5])
        """
        return tuple(args)

    def backwards(self, function: Callable[..., Any], args: Sequence[Any], result: Any) -> Any:
        """Refine the arguments of ``function(*args)`` by its result.

        Parameters
        ----------
        function : callable
            The callee.
        args : sequence
            The abstract arguments.
        result : object
            An abstract value that contains the result.

        Returns
        -------
        tuple
            The refined arguments. By default they are unchanged.
        """
        return tuple(args)
