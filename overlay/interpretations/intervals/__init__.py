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

from overlay.interpretations.intervals.enclosing import enclose, intervals
from overlay.interpretations.intervals.errors import Undecided
from overlay.interpretations.intervals.interval_numbers import EMPTY, ENTIRE, Interval
from overlay.interpretations.intervals.interval_rules import RULES, IntervalRule, rule
from overlay.sets import NotAnInterval

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
