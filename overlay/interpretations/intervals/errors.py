"""Errors of interval arithmetic."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextvars import ContextVar
from typing import Any

from overlay import OverlayError
from overlay.core.location import caller

__all__ = ["Undecided", "watched"]

_HELP = (
    "pass narrower intervals, split them with enclose(f, ..., pieces=n), or follow both paths "
    'with enclose(f, ..., undecided="follow")'
)


class Undecided(OverlayError):
    """The numbers of an interval give different answers to a branch, to a conversion to one
    number, or to the question whether a function raises an error.

    Examples
    --------
    >>> from overlay.interpretations.intervals import Interval, enclose
    >>> enclose(lambda x: 1 if x > 0 else 2, Interval(-1, 1))  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    overlay.interpretations.intervals.errors.Undecided: x > 0 is not decided
    """

    def __init__(
        self,
        asked: str,
        *,
        where: str | None = None,
        notes: Iterable[tuple[str, str]] = (),
        help: str | None = _HELP,
    ) -> None:
        super().__init__(asked, where=where or caller(), notes=notes, help=help)
        refusals = _refusals.get()
        if refusals is not None:
            refusals.append(self)


_refusals: ContextVar[list[Undecided] | None] = ContextVar("refusals", default=None)


def watched(run: Callable[[], Any]) -> Any:
    """Run a program and return its result, but raise the first Undecided even if the program, or
    code in C that it calls, caught it or made another error of it."""
    refusals: list[Undecided] = []
    token = _refusals.set(refusals)
    try:
        found = run()
    except OverlayError:
        raise
    except Exception as error:
        if refusals:
            raise refusals[0] from error
        raise
    finally:
        _refusals.reset(token)
    if refusals:
        raise refusals[0]
    return found
