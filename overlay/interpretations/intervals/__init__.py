"""Interval arithmetic: programs run on intervals, with results that enclose all real results.

``enclosing``: runs programs on intervals.
``errors``: errors of interval arithmetic.
``following``: undecided branches: refused with an error, or explored on all execution paths.
``interval_arrays``: arrays of intervals, which are object arrays.
``interval_numbers``: intervals as numbers in programs.
``interval_programs``: methods that interpreted programs need besides the rules: plain numbers,
containers, classes.
``interval_rules``: the enclosure of each function: one line for each operator and rounding
function.
``methods``: the methods for intervals: one for each rule and combination of argument types, and
comparisons.
"""

from typing import TYPE_CHECKING

from overlay.core.late_binding import lazy_names
from overlay.interpretations.intervals import interval_numbers
from overlay.interpretations.intervals.errors import Undecided
from overlay.interpretations.intervals.interval_numbers import EMPTY, ENTIRE, Interval
from overlay.sets import NotAnInterval

if TYPE_CHECKING:
    from overlay.interpretations.intervals.enclosing import enclose, intervals
    from overlay.interpretations.intervals.interval_rules import RULES, IntervalRule, rule

__all__ = [
    "EMPTY",
    "ENTIRE",
    "RULES",
    "Interval",
    "IntervalRule",
    "NotAnInterval",
    "Undecided",
    "enclose",
    "intervals",
    "rule",
]

# imported on first access: the tables of methods are slow to make
__getattr__, __dir__ = lazy_names(
    __name__,
    {"enclosing": ("enclose", "intervals"), "interval_rules": ("RULES", "IntervalRule", "rule")},
)


@interval_numbers.outside.bind
def _():
    from overlay.interpretations.intervals.enclosing import OUTSIDE

    return OUTSIDE
