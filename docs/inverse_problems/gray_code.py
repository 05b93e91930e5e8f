"""Gray code: the position of a shaft.

Field: codes
Shows: the exclusive or of a number with its shifted self
Source: F. Gray, Pulse code communication, US patent 2,632,058 (1953)
Question: The shaft's contacts read 1011 0010. Which position is that?
"""

from inversion import invert


def gray(n: int):
    return n ^ (n >> 1)


# ---- the question
position = invert(gray)
answers = [position(0b1011_0010, negative_n=False)]

# ---- the check
print(f"position {answers[0][0]}")
print("0 to 15 back:", *(position(gray(n), position.recover(n))[0] for n in range(16)))


def holds(n):
    return gray(n) == 0b1011_0010
