"""Sets of numbers: intervals, unions of intervals, and interval extensions of functions.

All parts of the project use them. An interval is a pair ``(low, high)`` of bounds, both included.
The functions here are enclosures: they map intervals of floats to an interval that contains all
real results, rounded outwards. Those of the elementary functions are in ``overlay.catalogue``.
All of them are made of operations on floats, so numba compiles them. A ``NumberSet`` is a union
of intervals, of floats or of integers.

``integer_bounds``: interval arithmetic on integers: the tightest bounds of each operation.
``rounding``: directed rounding: lower and upper bounds of the exact result of an operation on
floats.

>>> from overlay.sets import add, multiply, number_set, sin
>>> add((1.0, 2.0), (0.0, 3.0))
(1.0, 5.0)
>>> add((0.1, 0.1), (0.2, 0.2))
(0.3, 0.30000000000000004)
>>> multiply((-1.0, 2.0), (3.0, 4.0))
(-4.0, 8.0)
>>> sin((1.0, 2.0))[1]
1.0
>>> print(number_set([(0, 3), (6, 9)], whole=True).meet(number_set([(2, 7)], whole=True)))
[2, 3] or [6, 7]
"""

from overlay.sets.bounds import (
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
from overlay.sets.elementary import (
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
from overlay.sets.integer_bounds import Bound, Piece
from overlay.sets.interval import Interval, NotAnInterval
from overlay.sets.number_set import NumberSet, number_set, point
from overlay.sets.rounding import above, below

__all__ = [
    "EMPTY",
    "ENTIRE",
    "Bound",
    "Bounds",
    "Enclosure",
    "Interval",
    "NotAnInterval",
    "NumberSet",
    "Piece",
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
    "number_set",
    "of_integer",
    "point",
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
