"""Pullbacks of functions that rearrange, repeat or sum the elements of arrays."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from overlay.interpretations.autodiff.reverse.pullbacks import Pullback, call_text, kind_of, of
from overlay.interpretations.autodiff.reverse.reverse_program import (
    FLOAT,
    INT,
    KnownBefore,
    NumberKind,
)

__all__ = ["register"]

VECTOR, MATRIX = NumberKind("f", 1), NumberKind("f", 2)
# With the kind of their argument, that of their result, the line of its adjoint, and the order of
# the elements, which the line calls {p}.
# fmt: off
OF_ONE: tuple[tuple[Any, NumberKind, NumberKind, str, str | None], ...] = (
    (np.diff,   VECTOR, VECTOR, "-np.diff(np.concatenate((np.zeros(1), {d}, np.zeros(1))))", None),
    (np.sort,   VECTOR, VECTOR, "{d}[np.argsort({p})]", "np.argsort({0})"),
    (np.trace,  MATRIX, FLOAT,  "{d} * np.eye({0}.shape[0], {0}.shape[1])", None),
    (math.fsum, VECTOR, FLOAT,  "{d}", None),
)
OF_ONE_AND_COUNT: tuple[tuple[Any, NumberKind, str], ...] = (
    (np.roll,   VECTOR, "np.roll({d}, -{1})"),
    (np.repeat, VECTOR, "np.sum(np.reshape({d}, ({0}.size, {1})), axis=1)"),
)
# fmt: on


def _one(function: Any, args: Any, kinds: Any, name: Any) -> Pullback | None:
    given, kind, back, before = next(row[1:] for row in OF_ONE if row[0] is function)
    if kinds != [given]:
        return None
    return Pullback(function, kind, call_text(name(function), 1), (back,), before=before)


def _one_and_count(function: Any, args: Any, kinds: Any, name: Any) -> Pullback | None:
    given, back = next(row[1:] for row in OF_ONE_AND_COUNT if row[0] is function)
    if kinds != [given, INT]:
        return None
    return Pullback(function, given, call_text(name(function), 2), (back, None))


def _counted(function: Any, args: Any, kinds: Any, name: Any) -> Pullback | None:
    """A function of known numbers, which has no derivative."""
    if not all(isinstance(a, KnownBefore) and kind_of(a) in (INT, FLOAT) for a in args):
        return None
    kind = NumberKind("i" if all(each == INT for each in kinds) else "f", 1)
    return Pullback(function, kind, call_text(name(function), len(args)), (None,) * len(args))


def register() -> None:
    """Register the pullbacks of these functions."""
    of(*(row[0] for row in OF_ONE))(_one)
    of(*(row[0] for row in OF_ONE_AND_COUNT))(_one_and_count)
    of(np.arange)(_counted)
