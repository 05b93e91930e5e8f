"""Arrays that numpy makes of known arguments, and arrays of rows."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from overlay import OverlayError
from overlay.interpretations.autodiff.reverse.operands import kind_of_array
from overlay.interpretations.autodiff.reverse.pullbacks import Pullback, call_text, kind_of, of
from overlay.interpretations.autodiff.reverse.reverse_program import (
    FLOAT,
    INT,
    KnownBefore,
    NumberKind,
    ReverseValue,
    Span,
)

if TYPE_CHECKING:
    from overlay.interpretations.autodiff.reverse.calling import Calling

__all__ = ["known_result", "made_of_rows"]

MISSING = object()
_FRESH = (np.zeros, np.ones, np.empty, np.arange, np.copy)
"""Functions whose result is made where the program makes it, since that costs as little."""
MOST_ELEMENTS = 10_000


def known_result(
    lifter: Calling, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
) -> Any:
    """The result of a function of numpy whose arguments are all known before the program runs; None
    for others."""
    module = getattr(function, "__module__", None) or ""
    if not module.startswith("numpy") or module.startswith("numpy.random") or function in _FRESH:
        return None
    given = [_value_of(arg) for arg in args]
    named = {name: _value_of(arg) for name, arg in kwargs.items()}
    if not given or any(value is MISSING for value in (*given, *named.values())):
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = function(*given, **named)
        return _operand_of(lifter, found)
    except Exception:  # the program raises it, if it gets there
        return None


def _value_of(operand: Any) -> Any:
    if isinstance(operand, KnownBefore):
        return operand.value
    if isinstance(operand, ReverseValue):
        memory = operand.memory
        is_kept = operand.constant is not None and memory is not None and memory.version == 0
        return operand.constant if is_kept else MISSING
    parts = operand.parts if isinstance(operand, Span) else operand
    if not isinstance(parts, tuple):
        return MISSING
    values = tuple(map(_value_of, parts))
    if any(value is MISSING for value in values):
        return MISSING
    return slice(*values) if isinstance(operand, Span) else values


def _operand_of(lifter: Calling, value: Any) -> Any:
    """The operand of a known number or array; None for other values."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, (bool, int, float, complex)):
        return KnownBefore(value)
    if type(value) is not np.ndarray or value.size > MOST_ELEMENTS or not value.size:
        return None
    try:
        kind = kind_of_array(value)
    except OverlayError:
        return None
    value = np.ascontiguousarray(value)
    held = lifter.constant(value)
    out = lifter.emit(Pullback(np.copy, kind, "np.copy({0})", (None,)), [held])
    out.constant = value
    return out


def made_of_rows(lifter: Calling, function: Any, args: Sequence[Any]) -> Any:
    """The array of rows that are tuples or arrays; None for other calls."""
    if function not in (np.array, np.asarray, np.vstack) or len(args) != 1:
        return None
    rows = args[0]
    if not isinstance(rows, tuple) or not rows:
        return None
    if not all(isinstance(row, tuple) or _is_array(row) for row in rows):
        return None
    arrays = tuple(row if _is_array(row) else lifter.call(np.array, [row], {}) for row in rows)
    return lifter.call(np.stack, [arrays], {})


def _is_array(operand: Any) -> bool:
    kind = kind_of(operand)
    return kind is not None and kind.ndim > 0


# ---- pullbacks ----------------------------------------------------------------------------


@of(np.eye, np.identity)
def _identity(function: Any, args: Any, kinds: Any, name: Any) -> Pullback | None:
    if kinds not in ([INT], [INT, INT]):
        return None
    text = call_text(name(function), len(args))
    return Pullback(function, NumberKind("f", 2), text, (None,) * len(args))


@of(np.full)
def _filled(function: Any, args: Any, kinds: Any, name: Any) -> Pullback | None:
    if len(args) != 2 or kinds[1] != FLOAT:
        return None
    shape = args[0].value if isinstance(args[0], KnownBefore) else args[0]
    ndim = len(shape) if isinstance(shape, tuple) else 1
    return Pullback(function, NumberKind("f", ndim), "np.full({0}, {1})", (None, "np.sum({d})"))
