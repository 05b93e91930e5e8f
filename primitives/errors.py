"""The errors of relations and of the inverses made from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from overlay import OverlayError

__all__ = [
    "BrokenLaw",
    "NoSolution",
    "OutsideDomain",
    "Refusal",
    "TooHard",
    "WrongArguments",
    "reason_of",
]

Notes = Iterable[tuple[str, str]]


class NoSolution(OverlayError):
    """No solution exists, or the search found none; the message names the violated condition.

    A solver of a relation raises it with one constant string, the reason; numba can compile that.

    Attributes
    ----------
    proved : bool
        True if it is proved that no parameters have a solution: by constraint propagation backwards
        through the program, or by exhaustive search. False if a search found no solution, or if the
        given parameters have none.
    searched : str or None
        The extent of the search that found no solution; None if there was no search.
    best : tuple or None
        The closest solution found before ``Inverse.nearest`` reached its time limit; else None.
    later : callable or None
        A function that computes further notes when the message is first read; then None.

    Examples
    --------
    >>> from primitives.integers.conversion import abs_int
    >>> abs_int.mode({"a"}).solver(-1, False)
    Traceback (most recent call last):
    primitives.errors.NoSolution: an absolute value is not negative
    """

    best: Any = None

    def __init__(
        self,
        asked: str,
        *,
        where: str | None = None,
        notes: Notes = (),
        help: str | None = None,
        proved: bool = False,
        searched: str | None = None,
        later: Callable[[], Notes] | None = None,
    ) -> None:
        super().__init__(asked, where=where, notes=notes, help=help)
        self.proved = proved
        self.searched = searched
        self.later = later

    def __str__(self) -> str:
        if self.later is not None:
            later, self.later = self.later, None
            self.notes = (*self.notes, *later())
        return super().__str__()

    def __reduce__(self) -> Any:
        # the function ``later`` cannot be pickled: compute its notes now
        str(self)
        return super().__reduce__()


class BrokenLaw(OverlayError, AssertionError):
    """A mode of a relation returned a wrong solution, or missed one."""


class Refusal(OverlayError):
    """A request that cannot be met; the error has its line and a remedy.

    Parameters
    ----------
    asked : str
        One line with the request and the reason why it cannot be met.
    where : str or None
        ``file:line`` of the refused code; None if a caller sets it later.
    help : str
        The remedy: what to write instead.
    notes : iterable of (str, str)
        Lines with a label.
    """

    def __init__(self, asked: str, *, where: str | None, help: str, notes: Notes = ()) -> None:
        super().__init__(asked, where=where, notes=notes, help=help)


class WrongArguments(Refusal, TypeError):
    """A call has the wrong number or types of values, or names an unknown axis or coordinate.

    It is also a ``TypeError``.

    Examples
    --------
    >>> from primitives import Shape
    >>> try:
    ...     Shape(0, 3)
    ... except TypeError as error:
    ...     print(type(error).__name__, error.asked, sep=": ")
    WrongArguments: an array of shape (0, 3) has no elements
    """


class TooHard(OverlayError):
    """The computation of a solution would take too many steps, such as the factors of a large
    number; a solution may exist.
    """


class OutsideDomain(OverlayError, ValueError):
    """A parameter or a value is outside its domain.

    It is also a ``ValueError``.

    Examples
    --------
    >>> from primitives import Integer
    >>> try:
    ...     Integer.from_unit(1.5)
    ... except ValueError as error:
    ...     print(type(error).__name__, error.asked, sep=": ")
    OutsideDomain: 1.5 is outside [0, 1]
    """


def reason_of(error: Exception) -> str:
    """The first line of an error's message; deferred notes are not made for it."""
    return error.asked if isinstance(error, OverlayError) else str(error)
