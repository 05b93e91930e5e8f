"""Enclosures: what functions of real numbers give on intervals, rounded outwards.

The arithmetic of intervals that all parts of the project stand on. An interval is a pair of floats
``(low, high)``; each function gives the pair that it stays in. They compile, as all of them are
made of operations on floats. Those of the elementary functions are in ``overlay.catalogue``.

>>> from overlay.enclosures import add, multiply, sin
>>> add((1.0, 2.0), (0.0, 3.0))
(1.0, 5.0)
>>> add((0.1, 0.1), (0.2, 0.2))
(0.3, 0.30000000000000004)
>>> multiply((-1.0, 2.0), (3.0, 4.0))
(-4.0, 8.0)
>>> sin((1.0, 2.0))[1]
1.0
"""

from overlay.enclosures.arithmetic import (
    EMPTY,
    ENTIRE,
    Bounds,
    add,
    ceil,
    copysign,
    divide,
    even_round,
    floor,
    floor_divide,
    hull,
    integer_power,
    intersection,
    is_empty,
    magnitude,
    maximum,
    minimum,
    multiply,
    negative,
    of_integer,
    power,
    reciprocal,
    remainder,
    root,
    scaled,
    square,
    subtract,
    truncate,
    truncated_remainder,
)
from overlay.enclosures.elementary import (
    Enclosure,
    atan2,
    cos,
    even,
    falling,
    gamma,
    growing,
    hypot,
    lgamma,
    sin,
    tan,
)
from overlay.enclosures.rounding import above, below

__all__ = [
    "EMPTY",
    "ENTIRE",
    "Bounds",
    "Enclosure",
    "above",
    "add",
    "atan2",
    "below",
    "ceil",
    "copysign",
    "cos",
    "divide",
    "even",
    "even_round",
    "falling",
    "floor",
    "floor_divide",
    "gamma",
    "growing",
    "hull",
    "hypot",
    "integer_power",
    "intersection",
    "is_empty",
    "lgamma",
    "magnitude",
    "maximum",
    "minimum",
    "multiply",
    "negative",
    "of_integer",
    "power",
    "reciprocal",
    "remainder",
    "root",
    "scaled",
    "sin",
    "square",
    "subtract",
    "tan",
    "truncate",
    "truncated_remainder",
]
