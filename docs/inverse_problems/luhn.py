"""Luhn: an unreadable digit.

Field: codes
Shows: all solutions of a check sum
Source: H. P. Luhn, US patent 2,950,048 (1960); ISO/IEC 7812-1, annex B
Question: 7992 7398 71? is a number with its check digit. What is the digit? And which digits are
    possible for two unreadable places?
"""

from typing import Annotated

from inversion import invert
from primitives import Integers

Digit = Annotated[int, Integers(0, 9)]


def check_sum(a: Digit, b: Digit):
    """The Luhn sum, modulo 10, of 7992 a398 71b."""
    total = 0
    for place, digit in enumerate((b, 1, 7, 8, 9, 3, a, 2, 9, 9, 7)):
        double = digit * 2 if place % 2 else digit
        total += double - 9 if double > 9 else double
    return total % 10


# ---- the question
places = invert(check_sum)
answers = sorted(branch.point for branch in places.solutions(0))

# ---- the check
print(*("".join(map(str, answer)) for answer in answers))


def holds(*digits):
    return check_sum(*digits) == 0
