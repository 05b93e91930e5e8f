"""Bonds: the yield of a price.

Field: finance
Shows: an unknown that is constant in every iteration of a loop
Source: F. J. Fabozzi, Bond Markets, Analysis, and Strategies, ch. 3 (measuring yield)
Question: A bond of ten years pays a coupon of 4.5 a year in two halves, and costs 93.2. What is its
    yield?
"""

import math
from typing import Annotated

from inversion import invert
from primitives import Reals


def price(y: Annotated[float, Reals(-0.5, 1.0)]):
    total, coupon = 0.0, 4.5
    for k in range(1, 21):
        total += coupon / 2 / (1 + y / 2) ** k
    return total + 100 / (1 + y / 2) ** 20


# ---- the question
yields = invert(price)
answers = [yields(93.2)]

# ---- the check
print(f"yield {100 * answers[0][0]:.6f} %")
for cost in (80.0, 100.0, 120.0):
    print(f"at {cost:.0f}: {100 * yields(cost)[0]:.6f} %")


def holds(y):
    return math.isclose(price(y), 93.2, rel_tol=1e-8)
