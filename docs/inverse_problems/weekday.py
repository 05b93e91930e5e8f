"""Calendars: Fridays the thirteenth.

Field: calendars
Shows: some arguments known, and all solutions
Source: C. Zeller, Kalender-Formeln, Acta Mathematica 9 (1887)
Question: In which months of 2026 is the 13th a Friday?
"""

from typing import Annotated

from inversion import choose
from primitives import Integers


def weekday(year: int, month: Annotated[int, Integers(1, 12)], day: int):
    """0 is a Saturday."""
    if month < 3:
        month += 12
        year -= 1
    return (day + 13 * (month + 1) // 5 + year + year // 4 - year // 100 + year // 400) % 7


# ---- the question
months = choose(weekday, known=("return", "year", "day"))
answers = sorted(branch.point for branch in months.solutions(6, 2026, 13))

# ---- the check
print("months", *(month for (month,) in answers))


def holds(month):
    return weekday(2026, month, 13) == 6
