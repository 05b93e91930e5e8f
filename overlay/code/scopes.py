"""Scopes: resolution of the names that code reads from outside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from overlay.code.constants import captured_by, global_constant, nested, stored_in
from overlay.code.known_values import Known, global_value
from overlay.code.versions import require_readable

__all__ = ["Scope", "current_scope", "scope_of", "shared_scope"]


@dataclass(frozen=True)
class Scope:
    """Environment of a code object.

    constant: gives the value of a global or builtin name, in a tuple of one; None if it is not
    known. free: the closure variables with a constant value. cells: those that are read as
    variables of the code. stored: those that are set as variables of the code; the values of
    those that are not among ``cells`` are not known.
    """

    constant: Callable[[str], tuple[Any] | None]
    free: Mapping[str, Any]
    cells: frozenset[str]
    stored: frozenset[str]


def scope_of(function: FunctionType) -> Scope:
    """The scope of a function, with the values that do not change while the program runs.

    Raises UnsupportedPython on a version whose instructions are not known.
    """
    require_readable()
    code, namespace = function.__code__, function.__globals__
    own = frozenset(code.co_cellvars)
    set_by_others = {name for each in nested(code) for name in stored_in(each)}
    return Scope(
        lambda name: global_constant(namespace, name),
        captured_by(function),
        own - set_by_others,
        own,
    )


def shared_scope(function: FunctionType, *, is_inner: bool) -> Scope:
    """The scope of a function whose reader follows its inner functions, too: the variables that it
    shares with them are variables of the code. is_inner: whether it is such a function itself."""
    code, usual = function.__code__, scope_of(function)
    own = frozenset((*code.co_cellvars, *(code.co_freevars if is_inner else ())))
    return Scope(usual.constant, {} if is_inner else usual.free, own, own)


def current_scope(code: CodeType, namespace: dict[str, Any]) -> Scope:
    """The scope of code with the present values of its globals. All closure variables are
    variables of the code: the reader tracks their values."""
    every = frozenset((*code.co_cellvars, *code.co_freevars))
    return Scope(lambda name: _held_now(namespace, name), {}, every, every)


def _held_now(namespace: dict[str, Any], name: str) -> tuple[Any] | None:
    found = global_value(namespace, name)
    return (found.object,) if isinstance(found, Known) else None
