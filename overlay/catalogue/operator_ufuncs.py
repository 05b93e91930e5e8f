"""The ufunc of numpy that computes each operator of arrays."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any, Final

import numpy as np

__all__ = ["UFUNCS"]

UFUNCS: Final[dict[Callable[..., Any], np.ufunc]] = {
    operator.add: np.add, operator.sub: np.subtract, operator.mul: np.multiply,
    operator.truediv: np.true_divide, operator.floordiv: np.floor_divide,
    operator.mod: np.remainder, operator.pow: np.power, operator.matmul: np.matmul,
    operator.and_: np.bitwise_and, operator.or_: np.bitwise_or, operator.xor: np.bitwise_xor,
    operator.lshift: np.left_shift, operator.rshift: np.right_shift, divmod: np.divmod,
    operator.lt: np.less, operator.le: np.less_equal, operator.gt: np.greater,
    operator.ge: np.greater_equal, operator.eq: np.equal, operator.ne: np.not_equal,
    operator.neg: np.negative, operator.pos: np.positive, operator.abs: np.absolute,
    operator.invert: np.invert,
}  # fmt: skip
"""By an operator, the ufunc that it calls for arrays."""
