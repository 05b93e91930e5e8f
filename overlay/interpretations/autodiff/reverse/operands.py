"""Operands of lifted programs: their kinds, and the memory they share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from overlay.interpretations.autodiff.reverse.reverse_program import (
    COMPLEX,
    FLOAT,
    Contents,
    Either,
    Growing,
    KnownBefore,
    Local,
    Memory,
    MethodOf,
    NumberKind,
    ReverseValue,
    Span,
    StatementRegion,
)
from overlay.interpretations.autodiff.reverse.structure import Unreadable

__all__ = [
    "LiftedFunction",
    "WithCells",
    "common_kind",
    "copied",
    "has_form",
    "identity",
    "is_function",
    "is_same",
    "kind_of_array",
    "parts_of",
    "rebuilt",
    "shared",
]


def is_function(operand: Any) -> bool:
    """Whether an operand is a function, or one of some."""
    if isinstance(operand, KnownBefore):
        return callable(operand.value)
    return isinstance(operand, (Local, MethodOf, Either))


@dataclass(frozen=True)
class LiftedFunction:
    """A function as a program. arguments: its variables; result: its result."""

    arguments: tuple[ReverseValue, ...]
    region: StatementRegion
    result: Any


class WithCells(dict[Any, Any]):
    """The variables of a function with those that it captures. Assignments to captured names, which
    read the cells, keep the held values."""

    def __init__(self, held: dict[Any, Any], others: dict[Any, Any]) -> None:
        super().__init__(held | others)
        self.held = held

    def __setitem__(self, name: Any, value: Any) -> None:
        super().__setitem__(name, self.held.get(name, value))


def copied(env: dict[Any, Any]) -> dict[Any, Any]:
    if isinstance(env, WithCells):
        return WithCells(env.held, dict(env))
    return dict(env)


def kind_of_array(array: Any) -> NumberKind:
    """The kind of an array of the program. Raises Unreadable for element types other than float64,
    complex128, int64 and bool, and for 0 dimensions."""
    known = {
        **{np.dtype(np.float64): "f", np.dtype(np.int64): "i", np.dtype(np.bool_): "b"},
        np.dtype(np.complex128): "c",
    }
    dtype = known.get(array.dtype)
    if dtype is None or array.ndim == 0:
        raise Unreadable(f"it takes an array of {array.dtype}, with {array.ndim} dimensions")
    return NumberKind(dtype, array.ndim)


def common_kind(a: NumberKind | None, b: NumberKind | None) -> NumberKind | None:
    if a is None or b is None or a.ndim != b.ndim:
        return None
    if a.dtype == b.dtype:
        return a
    if a.ndim or "b" in (a.dtype, b.dtype):
        return None
    return COMPLEX if "c" in (a.dtype, b.dtype) else FLOAT


def shared(operand: Any) -> tuple[tuple[Memory, int], ...]:
    if not isinstance(operand, ReverseValue):
        return ()
    memory = operand.memory
    return operand.shares if memory is None else (*operand.shares, (memory, memory.version))


def identity(operand: Any) -> Any:
    """A key that is equal for operands with the same number, or the same array in the same
    state."""
    match operand:
        case ReverseValue():
            return operand, None if operand.memory is None else operand.memory.version
        case tuple():
            return tuple(map(identity, operand))
        case Span():
            return Span, tuple(map(identity, operand.parts))
        case KnownBefore(value=int() | float() | bool() | None as value):
            return type(value), repr(value)
        case _:
            return object()


def parts_of(operand: Any) -> tuple[Any, ...] | None:
    """The parts of an operand that is made of others; None for other operands."""
    if isinstance(operand, tuple):
        return operand
    if isinstance(operand, Contents):
        return operand.items
    return (operand.length,) if isinstance(operand, Growing) else None


def rebuilt(operand: Any, parts: tuple[Any, ...]) -> Any:
    """An operand with other parts."""
    if isinstance(operand, Contents):
        return Contents(operand.keys, parts)
    if isinstance(operand, Growing):
        return replace(operand, length=parts[0])
    return parts


def has_form(a: Any, b: Any) -> bool:
    """Whether two operands have the same structure."""
    if type(a) is not type(b):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b)
    if isinstance(a, Growing):
        return a.array is b.array and a.whole == b.whole
    return isinstance(a, Contents) and a.keys == b.keys and len(a.items) == len(b.items)


def is_same(a: Any, b: Any) -> bool:
    """Whether two operands are certainly the same."""
    if a is b:
        return True
    if type(a) is not type(b):
        return False
    parts = parts_of(a)
    if parts is not None:
        return has_form(a, b) and all(map(is_same, parts, parts_of(b) or ()))
    match a:
        case KnownBefore():
            plain = type(a.value) is type(b.value) and isinstance(a.value, (int, float, str))
            return a.value is b.value or (plain and repr(a.value) == repr(b.value))
        case MethodOf():
            return a.function is b.function and is_same(a.receiver, b.receiver)
        case Local():
            return a.code is b.code and is_same((a.captured, a.defaults), (b.captured, b.defaults))
        case ReverseValue():
            return False
        case _:
            return a == b
