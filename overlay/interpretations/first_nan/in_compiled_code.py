"""NaN checks in compiled code, after each operation whose result is a float."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from overlay import Plugin, call_next
from overlay.core.target import describe
from overlay.interpretations.first_nan.errors import FirstNaN
from overlay.ir import IR, Call

__all__ = ["ChecksFloats", "unchecked"]


def flags_of_number(x: Any, flags: int) -> int:
    if x != x:
        return flags | 1
    if x - x != 0:
        return flags | 2
    return flags


def flags_of_array(xs: Any, flags: int) -> int:
    for x in xs.flat:
        flags = flags_of_number(x, flags)
    return flags


def check_number(result: Any, given: int, infinities: bool, name: str, where: str) -> None:
    stop(flags_of_number(result, 0), given, infinities, name, where)


def check_array(result: Any, given: int, infinities: bool, name: str, where: str) -> None:
    stop(flags_of_array(result, 0), given, infinities, name, where)


def stop(made: int, given: int, infinities: bool, name: str, where: str) -> None:
    if made & 1 and not given & 1:
        raise FirstNaN(name, None, math.nan, where)
    if infinities and made & 2 and not given:
        raise FirstNaN(name, None, math.inf, where)


def unchecked(a: Any, b: Any) -> Any:
    return call_next(a, b)


OWN = (flags_of_number, flags_of_array, check_number, check_array, stop, unchecked)
MAKERS = (np.empty, np.empty_like, float)


class ChecksFloats(Plugin):
    """Inserts a check after each call and operator that returns a float or an array of floats."""

    preserves = frozenset({"values", "types", "calls"})

    def __init__(self, infinities: bool) -> None:
        self.cache_token = infinities

    def enter(self, callee: Any, types: tuple[Any, ...] | None) -> Plugin | None:
        return None if callee in OWN else self

    def after_inference(self, ir: IR) -> None:
        for call in ir.calls():
            flags = _flags(call.result_type)
            if flags is None or call.target in MAKERS or call.kwargs or None in call.args:
                continue
            given: Any = 0
            for argument, kind in _numbers(call):
                given = ir.insert_before(call, kind, argument, given)
            check = check_number if flags is flags_of_number else check_array
            described = describe(call.target), call.where
            ir.insert_after(call, check, call.result, given, self.cache_token, *described)


def _flags(kind: Any) -> Any | None:
    """The function that computes ``flags_of`` for values of a type; None for types without
    floats."""
    if kind in (float, np.float32, np.float64):
        return flags_of_number
    dtype = getattr(kind, "dtype", None)
    return flags_of_array if dtype in (np.float32, np.float64) else None


def _numbers(call: Call) -> Sequence[tuple[Any, Any]]:
    found = [(a, _flags(t)) for a, t in zip(call.args, call.types or (), strict=False)]
    return [(argument, kind) for argument, kind in found if kind is not None]
