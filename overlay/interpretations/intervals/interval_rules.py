"""The enclosure of each function: one line for each operator and rounding function; those of other
functions are in the catalogue."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from overlay import sets
from overlay.catalogue import FUNCTIONS, everywhere
from overlay.core.public_names import hides
from overlay.core.short_repr import short_repr
from overlay.core.target import describe, refuse_values
from overlay.interpretations.intervals.errors import Undecided
from overlay.sets import Bounds

__all__ = ["RULES", "IntervalRule", "rule"]


@hides("spellings")
class IntervalRule(NamedTuple):
    """Rule for a function on intervals.

    Attributes
    ----------
    function : callable
        The function.
    enclosure : callable
        Maps the bounds of each argument to those of the result.
    arity : int
        The number of arguments.
    defined : callable
        Maps the bounds of each argument to 1 where the function is defined everywhere, -1 where
        it is nowhere, and 0 otherwise.
    raises : type
        The error that the function raises where it is undefined.
    also : tuple of callable
        Other spellings of the function.

    Examples
    --------
    >>> import math
    >>> from overlay.interpretations.intervals import rule
    >>> rule(math.floor, lambda a: (math.floor(a[0]), math.floor(a[1]))).enclosure((0.5, 2.5))
    (0, 2)
    """

    function: Callable[..., Any]
    enclosure: Callable[..., Bounds]
    arity: int
    defined: Callable[..., int]
    raises: type[Exception]
    also: tuple[Callable[..., Any], ...]

    def __repr__(self) -> str:
        return short_repr("IntervalRule", f"for {describe(self.function)}")

    @property
    def spellings(self) -> tuple[Callable[..., Any], ...]:
        """The function and its other spellings."""
        return (self.function, *self.also)


def rule(
    function: Callable[..., Any],
    enclosure: Callable[..., Bounds],
    arity: int = 1,
    defined: Callable[..., int] | None = None,
    raises: type[Exception] = ValueError,
    also: Sequence[Callable[..., Any]] = (),
) -> IntervalRule:
    """Make a rule for a function on intervals.

    Parameters
    ----------
    function : callable
        The function.
    enclosure, arity, raises, also
        As in ``IntervalRule``.
    defined : callable or None
        As in ``IntervalRule``; None: the function is defined everywhere.

    Returns
    -------
    IntervalRule
        The rule.

    Examples
    --------
    >>> import math
    >>> from overlay.interpretations.intervals import rule
    >>> rule(math.floor, lambda a: (math.floor(a[0]), math.floor(a[1]))).arity
    1
    """
    refuse_values(function, "declare a rule for", "name the function, as in rule(f, enclosure)")
    return IntervalRule(function, enclosure, arity, defined or everywhere, raises, tuple(also))


# ---- domains ------------------------------------------------------------------------------


def _not_zero(a: Bounds) -> int:
    return 1 if a[0] > 0 or a[1] < 0 else -1 if a[0] == a[1] == 0 else 0


def _by_nonzero(a: Bounds, b: Bounds) -> int:
    return _not_zero(b)


def _powers(a: Bounds, b: Bounds) -> int:
    """``defined`` of powers: bases >= 0, and negative ones to one integer; 0 has no negative
    power."""
    whole = b[0] == b[1] and b[0] == math.floor(b[0])
    if a[0] > 0 or (whole and b[0] >= 0) or (a[0] == 0 and b[0] >= 0):
        return 1
    if whole:
        return _not_zero(a)
    return -1 if a[1] < 0 and math.floor(b[0]) == math.floor(b[1]) < b[0] else 0


ZERO = ZeroDivisionError


def _itself(a: Bounds) -> Bounds:
    return a


# fmt: off
# ---- arithmetic ---------------------------------------------------------------------------

ARITHMETIC = (
    rule(operator.add,      sets.add, 2, also=(np.add,)),
    rule(operator.sub,      sets.subtract, 2, also=(np.subtract,)),
    rule(operator.mul,      sets.multiply, 2, also=(np.multiply,)),
    rule(operator.truediv,  sets.divide, 2, _by_nonzero, ZERO, (np.true_divide,)),
    rule(operator.floordiv, sets.floor_divide, 2, _by_nonzero, ZERO, (np.floor_divide,)),
    rule(operator.mod,      sets.remainder, 2, _by_nonzero, ZERO, (np.remainder,)),
    rule(math.pow,          sets.power, 2, _powers, also=(np.power,)),
    rule(operator.pow,      sets.power, 2, _powers, Undecided, (pow,)),  # may be complex
    rule(operator.neg,      sets.negative, also=(np.negative,)),
    rule(operator.pos,      _itself, also=(np.positive, float, np.float64)),
    rule(abs,               sets.magnitude,
         also=(operator.abs, math.fabs, np.absolute, np.fabs)),
    rule(math.fmod,         sets.truncated_remainder, 2, _by_nonzero, also=(np.fmod,)),
    rule(np.square,         sets.square),
    rule(np.reciprocal,     sets.reciprocal, 1, _not_zero, ZERO),
)  # fmt: skip


# ---- extremes and rounding ----------------------------------------------------------------

ORDER = (
    rule(min,               sets.minimum, 2, also=(np.minimum, np.fmin)),
    rule(max,               sets.maximum, 2, also=(np.maximum, np.fmax)),
    rule(math.copysign,     sets.copysign, 2, also=(np.copysign,)),
    rule(math.floor,        sets.floor, also=(np.floor,)),
    rule(math.ceil,         sets.ceil, also=(np.ceil,)),
    rule(math.trunc,        sets.truncate, also=(np.trunc,)),
    rule(round,             sets.even_round, also=(np.rint,)),
)


# fmt: on

# ---- the catalogue ------------------------------------------------------------------------

ELEMENTARY = tuple(
    rule(each.function, each.enclosure, each.arity, each.defined, also=each.numpy)
    for each in FUNCTIONS
)

RULES = (*ARITHMETIC, *ORDER, *ELEMENTARY)
"""Rules of the functions that have an enclosure."""
