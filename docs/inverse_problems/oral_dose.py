"""Pharmacokinetics: the duration of a dose.

Field: pharmacokinetics
Shows: all solutions: the level is reached while rising and while falling
Source: M. Rowland and T. N. Tozer, Clinical Pharmacokinetics, ch. on oral doses (Bateman function)
Question: When is the level in the blood 4 mg/l after a dose of 500 mg?
"""

import math
from typing import Annotated

from inversion import invert
from primitives import Reals


def level(hours: Annotated[float, Reals(0.0, 48.0)]):
    dose, share, volume, ka, ke = 500.0, 0.9, 42.0, 1.2, 0.15
    return (
        dose * share * ka / (volume * (ka - ke)) * (math.exp(-ke * hours) - math.exp(-ka * hours))
    )


# ---- the question
times = invert(level)
answers = sorted(branch.point for branch in times.solutions(4.0))

# ---- the check
print("4 mg/l after", " and ".join(f"{hours:.6f} h" for (hours,) in answers))
more = times.solutions(9.0)
print(f"9 mg/l: {len(more)} times; the search is {more.status}")


def holds(hours):
    return math.isclose(level(hours), 4.0, rel_tol=1e-8)
