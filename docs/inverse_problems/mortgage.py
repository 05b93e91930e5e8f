"""Mortgages: rate or principal, from one formula.

Field: finance
Shows: one axis of a program after the other
Source: numpy-financial, pmt; R. A. Brealey and S. C. Myers, Principles of Corporate Finance, ch. 2
Question: A loan of 250,000 is repaid in 360 months with 1200 a month. What is the rate?
"""

import math
from typing import Annotated

from inversion import choose
from primitives import Reals


def payment(principal: float, rate: Annotated[float, Reals(1e-6, 1)], months: int):
    i = rate / 12
    return principal * i / (1 - (1 + i) ** -months)


# ---- the question
rates = choose(payment, known=("return", "principal", "months"))
answers = [rates(1200.0, 250_000.0, 360)]

# ---- the check
print(f"rate {100 * answers[0][0]:.6f} %")
(principal,) = choose(payment, known=("return", "rate", "months"))(1200.0, 0.04, 360)
print(f"at 4 % one may owe {principal:.2f}")


def holds(rate):
    return math.isclose(payment(250_000.0, rate, 360), 1200.0, rel_tol=1e-8)
