"""What instructions do that may run a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from dis import Positions
from typing import Any

from overlay.code.known_values import Value

__all__ = ["CallEvent", "Event", "Implicit", "Operation"]


@dataclass(frozen=True)
class Event:
    """Something that an instruction does which may run a function. at: its place in the
    source."""

    at: Positions


@dataclass(frozen=True)
class CallEvent(Event):
    """A call instruction. args: positional, then by keyword; None where they are not counted:
    then ``spread`` has those by keyword, as far as they are written out."""

    callee: Value
    args: tuple[Value, ...] | None
    names: tuple[str, ...] = ()
    spread: Mapping[str, Value] = field(default_factory=dict[str, Value])


@dataclass(frozen=True)
class Operation(Event):
    """An operator, as a function of the module ``operator``."""

    function: Callable[..., Any]
    args: tuple[Value, ...]


@dataclass(frozen=True)
class Implicit(Event):
    """A Python function that the interpreter calls without a call instruction."""

    function: Callable[..., Any]
    args: tuple[Value, ...]
