"""Interval arithmetic: programs run on intervals, which hold every result that numbers lead to."""

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
