"""Events: operations of instructions that may run a function."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from dis import Positions
from typing import Any

from overlay.code.known_values import Value

__all__ = ["CallEvent", "Event", "Implicit", "Operation"]


@dataclass(frozen=True)
class Event:
    """An operation of an instruction that may run a function. at: its position in the source."""

    at: Positions


@dataclass(frozen=True)
class CallEvent(Event):
    """A call instruction. args: positional, then by keyword; None if they are unpacked: then
    ``spread`` has the keyword arguments whose names are in the source."""

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
