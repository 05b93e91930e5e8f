"""Acids: the pH of a solution.

Field: chemistry
Shows: a root over many orders of magnitude
Source: D. C. Harris, Quantitative Chemical Analysis, ch. 9 and 11 (charge balance)
Question: 25 ml of acetic acid, 0.1 molar, are titrated with a base, 0.1 molar. What is the pH after
    20 ml? The charge balance gives the volume for each pH.
"""

import math
from typing import Annotated

from inversion import invert
from primitives import Reals

KA, KW = 10**-4.76, 1e-14


def base_added(ph: Annotated[float, Reals(2.9, 12.5)]):
    h = 10**-ph
    charge = KW / h - h
    acid = KA / (KA + h)
    return 25 * (0.1 * acid + charge) / (0.1 - charge)


# ---- the question
titration = invert(base_added)
answers = [titration(20.0)]

# ---- the check
print(f"pH {answers[0][0]:.8f}")
for volume in (1.0, 12.5, 24.9, 25.0, 25.1, 30.0):
    print(f"{volume:5.1f} ml: pH {titration(volume)[0]:.5f}")


def holds(ph):
    return math.isclose(base_added(ph), 20.0, rel_tol=1e-8)
