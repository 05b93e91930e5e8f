"""Base64: the bytes of a text.

Field: codes
Shows: letters of a table, and bits that overlap; a letter outside the alphabet is refused
Source: RFC 4648, section 4
Question: Which three bytes are encoded as "TWFu"?
"""

from typing import Annotated

from inversion import NoSolution, invert
from primitives import Integers

Byte = Annotated[int, Integers(0, 255)]
ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"


def encoded(a: Byte, b: Byte, c: Byte):
    return (
        ALPHABET[a >> 2],
        ALPHABET[(a & 3) << 4 | b >> 4],
        ALPHABET[(b & 15) << 2 | c >> 6],
        ALPHABET[c & 63],
    )


# ---- the question
decoded = invert(encoded)
answers = [decoded(tuple("TWFu"))]

# ---- the check
print(answers[0], bytes(answers[0]))
print(bytes(decoded(tuple("c3Vu"))), bytes(decoded(tuple("+/+/"))))
try:
    decoded(tuple("T?Fu"))
except NoSolution as error:
    print("T?Fu: none,", "proved" if error.proved else "none was found")


def holds(a, b, c):
    return encoded(a, b, c) == tuple("TWFu")
