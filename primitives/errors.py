"""The errors of relations and of the inverses made from them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from overlay import OverlayError

__all__ = ["BrokenLaw", "NoSolution", "OutsideDomain", "WrongArguments", "reason_of"]

Notes = Iterable[tuple[str, str]]


class NoSolution(OverlayError):
    """A value for which there is no answer; says where the domain was left.

    proved: whether there is no solution at all, whatever the parameters: proved by sets pushed
    backwards through the program, or by trying all that is possible. False where none was found,
    or where the parameters that were given are at fault.
    searched: how far was looked where none was found, and what would look further; None where
    nothing was searched.
    best: the closest solution found, where a search for the nearest ran out of time.
    later: more notes, made when the message is first read.

    A solver of a relation raises it with one constant string, the reason: numba compiles that.
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
        # what makes the notes cannot be sent to another process: it is done before
        str(self)
        return super().__reduce__()


class BrokenLaw(OverlayError, AssertionError):
    """A mode of a relation gives an answer that is not one, or misses one."""


class WrongArguments(OverlayError, TypeError):
    """A call does not fit: a wrong number of values or parameters, or names that do not exist."""


class OutsideDomain(OverlayError, ValueError):
    """A parameter or a value lies outside the domain declared for it."""


def reason_of(error: Exception) -> str:
    """The first line of an error's message, without notes that are made when it is read."""
    return error.asked if isinstance(error, OverlayError) else str(error)
