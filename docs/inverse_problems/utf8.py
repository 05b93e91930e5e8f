"""UTF-8: the character encoded by some bytes.

Field: codes
Shows: integers through shifts, masks and branches; overlong forms have no character
Source: RFC 3629, section 3
Question: Which character do the bytes E2 82 AC encode? And C0 80, an overlong form?
"""

from typing import Annotated

from inversion import NoSolution, invert
from primitives import Integers


def encoded(c: Annotated[int, Integers(0, 0x10FFFF)]):
    if c < 0x80:
        return c, 0, 0, 0
    if c < 0x800:
        return 0xC0 | c >> 6, 0x80 | c & 0x3F, 0, 0
    if c < 0x10000:
        return 0xE0 | c >> 12, 0x80 | c >> 6 & 0x3F, 0x80 | c & 0x3F, 0
    return 0xF0 | c >> 18, 0x80 | c >> 12 & 0x3F, 0x80 | c >> 6 & 0x3F, 0x80 | c & 0x3F


# ---- the question
decoded = invert(encoded)
answers = [decoded((0xE2, 0x82, 0xAC, 0))]

# ---- the check
print(f"U+{answers[0][0]:04X} {chr(answers[0][0])}")
print(*(f"U+{decoded((*text.encode(), 0, 0, 0)[:4])[0]:04X}" for text in ("A", "ß", "音", "𝄞")))
try:
    decoded((0xC0, 0x80, 0, 0))
except NoSolution as error:
    print("C0 80: none,", "proved" if error.proved else "none was found")


def holds(c):
    return encoded(c) == (0xE2, 0x82, 0xAC, 0)
