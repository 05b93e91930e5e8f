"""Rules of functions that compare arrays with others, find values in them, and format them: their
results are booleans, integers and text, which have no derivative."""

import inspect
from typing import Any

import numpy as np

from overlay.interpretations.autodiff.rules.array_rule import ArrayRule, constant, takes_lists
from overlay.interpretations.autodiff.rules.drawn_calls import call, floats

__all__ = ["COMPARISONS"]

OF_ONE = (
    *("isneginf", "isposinf", "iscomplex", "isreal", "iscomplexobj", "isrealobj", "flatnonzero"),
    *("argwhere", "nonzero", "array2string", "array_repr", "array_str"),
)
OF_TWO = ("isclose", "allclose", "array_equal", "array_equiv", "isin", "in1d")


def _of(name: str, count: int) -> ArrayRule:
    function: Any = getattr(np, name)
    data = tuple(inspect.signature(function).parameters)[:count]
    return constant(function, call(*(floats(3) for _ in data)), data=data)


COMPARISONS = takes_lists(
    *(_of(name, 1) for name in OF_ONE),
    *(_of(name, 2) for name in OF_TWO if hasattr(np, name)),
)
