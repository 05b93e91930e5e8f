"""What a proof of purity says, and how it is told later that it no longer holds."""

from __future__ import annotations

import builtins
from dataclasses import dataclass, field
from types import CodeType, FunctionType, ModuleType
from typing import Any

from overlay.interpretations.parallel.data_kinds import DataKind

__all__ = ["MISSING", "NotProved", "Proof", "Read", "plain_function", "value_of"]


class NotProved(Exception):
    """A function may do more than compute. reason: what, and where."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Read:
    """A name that a function reads from outside, and what it held."""

    name: str
    value: Any


@dataclass
class Proof:
    """That a function computes from arguments of these kinds and does nothing else.

    kind: of the result. sets: whether sets may be made. functions: all that run, with the names
    that they read. attributes: those of modules that they read.
    """

    kind: DataKind = DataKind.IMMUTABLE
    sets: bool = False
    functions: dict[int, tuple[FunctionType, CodeType, Any, list[Read]]] = field(
        default_factory=dict[int, Any]
    )
    attributes: dict[tuple[int, str], tuple[ModuleType, str, Any]] = field(
        default_factory=dict[Any, Any]
    )

    def holds(self) -> bool:
        """Whether all that the functions read is still what it was."""
        for function, code, defaults, reads in self.functions.values():
            if function.__code__ is not code or function.__defaults__ is not defaults:
                return False
            for read in reads:
                if value_of(function, read.name) is not read.value:
                    return False
        return all(getattr(m, name, None) is value for m, name, value in self.attributes.values())


MISSING = object()
"""What a name holds that is not there."""


def value_of(function: FunctionType, name: str) -> Any:
    """What a function finds under a name from outside."""
    if name in function.__code__.co_freevars:
        cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
        try:
            return cell.cell_contents
        except ValueError:
            return MISSING
    found = function.__globals__.get(name, MISSING)
    return getattr(builtins, name, MISSING) if found is MISSING else found


def plain_function(callee: Any) -> FunctionType | None:
    """The Python function that a callable runs: itself, or that of a numba dispatcher."""
    plain = callee
    if type(callee).__module__.startswith("numba."):
        plain = getattr(callee, "py_func", None)
    return plain if type(plain) is FunctionType else None
