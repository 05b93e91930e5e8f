"""Interval arithmetic: programs run on intervals, with results that enclose all real results."""

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
