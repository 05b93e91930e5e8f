"""Calendars: the date of a Julian day number.

Field: calendars
Shows: divisions that lose remainders; every triple that the formula accepts for this day
Source: H. F. Fliegel and T. C. Van Flandern, CACM 11(10), 1968
Question: Which date has the Julian day number 2440423?
"""

from typing import Annotated

from inversion import invert
from primitives import Integers


def julian_day(
    year: Annotated[int, Integers(1960, 1979)],
    month: Annotated[int, Integers(1, 12)],
    day: Annotated[int, Integers(1, 31)],
):
    t = int((month - 14) / 12)
    days = 1461 * (year + 4800 + t) // 4
    days += 367 * (month - 2 - 12 * t) // 12
    days -= 3 * ((year + 4900 + t) // 100) // 4
    return days + day - 32075


# ---- the question
answers = [branch.point for branch in invert(julian_day).solutions(2440423)]

# ---- the check
for year, month, day in answers:
    print(f"{year}-{month:02}-{day:02}")


def holds(*date):
    return julian_day(*date) == 2440423
