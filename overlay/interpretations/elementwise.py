"""numpy's elementwise functions under the names that they have in ``math``.

A table of rules that is written for ``math`` serves numpy, too, when it is given this module.
"""

from numpy import arccos as acos
from numpy import arccosh as acosh
from numpy import arcsin as asin
from numpy import arcsinh as asinh
from numpy import arctan as atan
from numpy import arctan2 as atan2
from numpy import arctanh as atanh
from numpy import (
    cbrt,
    copysign,
    cos,
    cosh,
    degrees,
    exp,
    exp2,
    expm1,
    fabs,
    hypot,
    log,
    log1p,
    log2,
    log10,
    radians,
    sin,
    sinh,
    sqrt,
    tan,
    tanh,
)

__all__ = [
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atan2",
    "atanh",
    "cbrt",
    "copysign",
    "cos",
    "cosh",
    "degrees",
    "exp",
    "exp2",
    "expm1",
    "fabs",
    "hypot",
    "log",
    "log1p",
    "log2",
    "log10",
    "radians",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
]
