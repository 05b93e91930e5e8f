"""The operations and functions whose results are rounded."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np

__all__ = ["ARRAY_BINARY", "ARRAY_UNARY", "BINARY", "COMPARISONS", "REDUCTIONS", "UNARY"]

COMPARISONS: Final[tuple[Callable[..., Any], ...]] = (
    *(operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge),
)
ARRAY_BINARY: Final[tuple[Callable[..., Any], ...]] = (
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.pow),
    *(np.add, np.subtract, np.multiply, np.divide, np.power, np.arctan2, np.hypot),
)
"""Of two numbers or arrays, with broadcasting."""
BINARY: Final[tuple[Callable[..., Any], ...]] = (
    *ARRAY_BINARY,
    *(operator.floordiv, operator.mod),
    *(math.atan2, math.hypot, math.pow, math.fmod, math.log),
)
_NAMES: Final = (
    *("sin", "cos", "tan", "sinh", "cosh", "tanh", "exp", "expm1", "log", "log2", "log10"),
    *("log1p", "sqrt"),
)
_INVERSE: Final = ("sin", "cos", "tan", "sinh", "cosh", "tanh")
ARRAY_UNARY: Final[tuple[Callable[..., Any], ...]] = (
    *(getattr(np, name) for name in _NAMES),
    *(getattr(np, f"arc{name}") for name in _INVERSE),
)
UNARY: Final[tuple[Callable[..., Any], ...]] = (
    *ARRAY_UNARY,
    *(getattr(math, name) for name in _NAMES),
    *(getattr(math, f"a{name}") for name in _INVERSE),
    *(math.gamma, math.lgamma, math.erf, math.erfc, math.degrees, math.radians),
)
REDUCTIONS: Final[tuple[Callable[..., Any], ...]] = (np.sum, np.prod, np.mean, np.cumsum)
"""Of one array, as a whole."""
