"""Derivatives of the functions of ``scipy.special`` that reduce arrays: the methods of a level, and
the pullbacks. It is imported where a program has imported ``scipy.special``."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import special  # pyright: ignore[reportMissingTypeStubs]

from overlay import nonoverlay
from overlay.interpretations.autodiff.active_numbers import is_outside
from overlay.interpretations.autodiff.errors import refuse_call
from overlay.interpretations.autodiff.levels import Level, declare, written
from overlay.interpretations.autodiff.reverse.pullbacks import Maker, Pullback
from overlay.interpretations.autodiff.reverse.reverse_program import KnownBefore, NumberKind

__all__ = ["PULLBACKS", "declare_reductions"]


def total(x: Any, axis: Any) -> Any:
    """The sums over an axis, several, or all if it is None, with the axes kept."""
    if axis is None:
        return np.reshape(np.sum(np.reshape(x, (1, -1)), 1), (1,) * x.ndim)
    return np.expand_dims(np.sum(x, axis), axis)


def _summed(x: Any, axis: Any, keepdims: bool) -> Any:
    return total(x, axis) if keepdims else np.sum(x, axis)


def _share(x: Any, axis: Any) -> Any:
    """The softmax, by which the code of scipy is entered outside of the levels."""
    return (_softmax if is_outside(x) else special.softmax)(x, axis=axis)


_softmax = nonoverlay(special.softmax)


# With their parameters after the first, the call, and a tangent; {t} stands for that of the
# argument, `p` for softmax.
METHODS = (
    (
        *(special.logsumexp, "axis=None, b=None, keepdims=False, return_sign=False"),
        *("axis=axis, keepdims=keepdims", "summed(p * {t}, axis, keepdims)"),
    ),
    (special.softmax, "axis=None", "axis=axis", "p * ({t} - total(p * {t}, axis))"),
    (special.log_softmax, "axis=None", "axis=axis", "{t} - total(p * {t}, axis)"),
)


def declare_reductions(level: Level) -> None:
    """Declare the methods of a level."""
    for function, parameters, given, tangent in METHODS:
        level.later(function, _declare, function, parameters, given, tangent)


def _declare(level: Level, function: Any, parameters: str, given: str, tangent: str) -> None:
    refused = "    if b is not None or return_sign:\n        refuse(inside)\n"
    method = written(
        f"def method(a, {parameters}):\n"
        f"{refused if 'return_sign' in parameters else ''}"
        f"    f = function if is_outside(a.value) else inside\n"
        f"    value = strip(f(a.value, {given}))\n"
        f"    p = share(a.value, axis)\n"
        f"    return pack(value, <<{tangent.format(t='a.tangents[#]')}>>)\n",
        level,
        **{"pack": level.pack, "strip": level.strip, "is_outside": is_outside},
        **{"function": nonoverlay(function), "inside": function, "refuse": refuse_call},
        **{"share": _share, "total": total, "summed": _summed},
    )
    declare(level.table, function, method, (level.array,))


# ---- pullbacks ----------------------------------------------------------------------------


def _log_sum(function: Any, args: Sequence[Any], kinds: Any, name: Any) -> Pullback | None:
    known = _known(args, kinds, 5)
    if known is None or known[1] is not None or known[3]:
        return None
    axis, keeps = known[0], bool(known[2])
    lost = kinds[0].ndim if axis is None else len(axis) if isinstance(axis, tuple) else 1
    kind = NumberKind("f", kinds[0].ndim - (0 if keeps else lost))
    spread = "{d}" if keeps or axis is None else f"{name(np.expand_dims)}({{d}}, {axis})"
    back = f"{spread} * {name(_share)}({{0}}, {axis})"
    text = f"{name(function)}({{0}}, axis={axis}, keepdims={keeps})"
    return Pullback(function, kind, text, (back, *[None] * 4))


def _soft(line: str) -> Maker:
    def maker(function: Any, args: Any, kinds: Any, name: Callable[[Any], str]) -> Pullback | None:
        known = _known(args, kinds, 2)
        if known is None:
            return None
        axis = known[0]
        back = line.format(total=name(total), share=name(_share), axis=axis)
        text = f"{name(function)}({{0}}, axis={axis})"
        return Pullback(function, kinds[0], text, (back, None))

    return maker


def _known(args: Sequence[Any], kinds: Any, count: int) -> list[Any] | None:
    """The values of all arguments but the first, an array of floats; None if it is none, or one of
    them is unknown."""
    if len(args) != count or kinds[0] is None or kinds[0].dtype != "f" or not kinds[0].ndim:
        return None
    values = [_value(arg) for arg in args[1:]]
    return None if _UNKNOWN in values else values


def _value(operand: Any) -> Any:
    if isinstance(operand, tuple):
        return tuple(map(_value, operand))
    return operand.value if isinstance(operand, KnownBefore) else _UNKNOWN


_UNKNOWN = object()

PULLBACKS: dict[Any, Maker] = {
    special.logsumexp: _log_sum,
    special.softmax: _soft("{{r}} * ({{d}} - {total}({{d}} * {{r}}, {axis}))"),
    special.log_softmax: _soft("{{d}} - {share}({{0}}, {axis}) * {total}({{d}}, {axis})"),
}
"""By function the maker of its pullback, which is given all its arguments in their places."""
