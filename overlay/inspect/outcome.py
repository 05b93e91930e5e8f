"""The statically determined outcome of a call."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from overlay.code.known_values import UNKNOWN, Value
from overlay.inspect.entries import Args, EnteredCode

if TYPE_CHECKING:
    from overlay.core.table import Method

__all__ = ["Outcome", "with_first"]


@dataclass(frozen=True)
class Outcome:
    """The statically determined outcome of a call. entries: the code that it enters. untaken: where
    no method applies, those that the target has."""

    target: str
    status: str
    result: Value = UNKNOWN
    methods: tuple[Method, ...] = ()
    note: str = ""
    entries: tuple[EnteredCode, ...] = ()
    untaken: tuple[Method, ...] = ()


def with_first(first: Value, args: Args) -> Args:
    """The arguments with one more in front; None where their number is unknown."""
    return None if args is None else [first, *args]
