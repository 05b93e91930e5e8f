"""The functions that operator instructions apply."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from overlay.core.own_builtins import __builtins__

__all__ = ["BINARY", "COMPARE", "GIVES_BOOL", "PLAIN", "UNARY"]

BINARY: list[Callable[..., Any]] = [
    *(operator.add, operator.and_, operator.floordiv, operator.lshift, operator.matmul),
    *(operator.mul, operator.mod, operator.or_, operator.pow, operator.rshift),
    *(operator.sub, operator.truediv, operator.xor),
    *(operator.iadd, operator.iand, operator.ifloordiv, operator.ilshift, operator.imatmul),
    *(operator.imul, operator.imod, operator.ior, operator.ipow, operator.irshift),
    *(operator.isub, operator.itruediv, operator.ixor),
]
_PLAIN = {each.__name__.rstrip("_"): each for each in BINARY}
PLAIN: dict[Callable[..., Any], Callable[..., Any]] = {
    each: _PLAIN[name[1:]] for name, each in _PLAIN.items() if name[0] == "i"
}
"""The operator that each in-place operator falls back to."""
COMPARE: dict[str, Callable[..., Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    "==": operator.eq,
    "!=": operator.ne,
    ">": operator.gt,
    ">=": operator.ge,
}
UNARY: dict[str, Callable[..., Any]] = {
    "UNARY_NEGATIVE": operator.neg,
    "UNARY_POSITIVE": operator.pos,
    "UNARY_INVERT": operator.invert,
}
GIVES_BOOL = (operator.contains, operator.not_)
"""The operators whose results the language converts to bool."""
