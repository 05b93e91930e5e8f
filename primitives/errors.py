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
    """No solution exists, or none was found; the message says which domain was left.

    A solver of a relation raises it with one constant string, the reason: numba compiles that.

    Attributes
    ----------
    proved
        Whether there is no solution for any parameters, proved by propagating sets backwards
        through the program, or by exhaustive search. False where a search found none, or where
        the given parameters are at fault.
    searched
        The extent of a search that found none, and how to extend it; None without a search.
    best
        The closest solution found, where a search for the nearest ran out of time; else None.
    later
        Makes more notes when the message is first read; None once they are made.

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
        # the function ``later`` cannot be pickled: its notes are made now
        str(self)
        return super().__reduce__()


class BrokenLaw(OverlayError, AssertionError):
    """A mode of a relation returns a wrong solution, or misses one."""


class Refusal(OverlayError):
    """A request that cannot be met as it is; the error says where it stands, and what to do.

    Parameters
    ----------
    where
        ``file:line`` of what is refused; None where only a caller knows it, which then sets it.
    help
        The remedy: what to write instead.
    """

    def __init__(self, asked: str, *, where: str | None, help: str, notes: Notes = ()) -> None:
        super().__init__(asked, where=where, notes=notes, help=help)


class WrongArguments(Refusal, TypeError):
    """A call has a wrong number of values or parameters, or unknown names."""


class TooHard(OverlayError):
    """A solution takes too many steps, as a factor of a large number does; there may be one."""


class OutsideDomain(OverlayError, ValueError):
    """A parameter or a value lies outside the domain declared for it."""


def reason_of(error: Exception) -> str:
    """The first line of an error's message; deferred notes are not made for it."""
    return error.asked if isinstance(error, OverlayError) else str(error)
