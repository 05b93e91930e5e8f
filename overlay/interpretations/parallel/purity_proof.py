"""Proofs of purity, and the check whether one still holds."""

from __future__ import annotations

import builtins
from dataclasses import dataclass, field
from types import CodeType, FunctionType, ModuleType
from typing import Any

from overlay.interpretations.parallel.data_kinds import DataKind

__all__ = ["MISSING", "NotProved", "Proof", "Read", "plain_function", "value_of"]


class NotProved(Exception):
    """A function may do more than compute. reason: the operation and its place."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Read:
    """An outer name that a function reads, and its value."""

    name: str
    value: Any


@dataclass
class Proof:
    """A proof that a function only computes from arguments of these kinds.

    kind: of the result. sets: whether sets may be created. functions: all functions that run, with
    the names that they read. attributes: the attributes of modules that they read.
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
        """Whether everything the functions read is unchanged."""
        for function, code, defaults, reads in self.functions.values():
            if function.__code__ is not code or function.__defaults__ is not defaults:
                return False
            for read in reads:
                if value_of(function, read.name) is not read.value:
                    return False
        return all(getattr(m, name, None) is value for m, name, value in self.attributes.values())


MISSING = object()
"""The value of a name that does not exist."""


def value_of(function: FunctionType, name: str) -> Any:
    """The value of an outer name of a function."""
    if name in function.__code__.co_freevars:
        cell = (function.__closure__ or ())[function.__code__.co_freevars.index(name)]
        try:
            return cell.cell_contents
        except ValueError:
            return MISSING
    found = function.__globals__.get(name, MISSING)
    return getattr(builtins, name, MISSING) if found is MISSING else found


def plain_function(callee: Any) -> FunctionType | None:
    """The Python function of a callable: itself, or that of a numba dispatcher; None for others."""
    plain = callee
    if type(callee).__module__.startswith("numba."):
        plain = getattr(callee, "py_func", None)
    return plain if type(plain) is FunctionType else None
