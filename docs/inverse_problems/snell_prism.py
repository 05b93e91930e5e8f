"""Snell's law: two angles of incidence for one deviation.

Field: optics
Shows: all solutions of an equation without a closed form; a proof that there are none
Source: M. Born and E. Wolf, Principles of Optics, 7th ed., sec. 4.7 (dispersion by a prism)
Question: At which angles does a ray enter a prism of 60 degrees, n = 1.5, so that it is deviated by
    40 degrees? And by 35?
"""

import math
from typing import Annotated

from inversion import NoSolution, invert
from primitives import Reals

APEX, INDEX = math.radians(60), 1.5


def deviation(incidence: Annotated[float, Reals(0.49, 1.57)]):
    inside = math.asin(math.sin(incidence) / INDEX)
    return incidence + math.asin(INDEX * math.sin(APEX - inside)) - APEX


# ---- the question
rays = invert(deviation)
answers = [branch.point for branch in rays.solutions(math.radians(40))]

# ---- the check
for (incidence,) in answers:
    print(f"incidence {math.degrees(incidence):.6f} degrees")
try:
    rays(math.radians(35))
except NoSolution as error:
    print("35 degrees: none,", "proved" if error.proved else "none was found")


def holds(incidence):
    return math.isclose(deviation(incidence), math.radians(40), rel_tol=1e-8)
