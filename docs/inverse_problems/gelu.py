"""GELU: both inputs of a non-monotonic activation.

Field: machine learning
Shows: all solutions on both sides of a minimum; a proof that there are none below it
Source: D. Hendrycks and K. Gimpel, Gaussian Error Linear Units, arXiv:1606.08415
Question: Which inputs have the activation -0.1? And -0.2?
"""

import math
from typing import Annotated

from inversion import NoSolution, invert
from primitives import Reals


def gelu(x: Annotated[float, Reals(-4.0, 4.0)]):
    return x * (1 + math.erf(x / math.sqrt(2))) / 2


# ---- the question
inputs = invert(gelu)
answers = sorted(branch.point for branch in inputs.solutions(-0.1))

# ---- the check
print("x =", " and ".join(f"{x:.8f}" for (x,) in answers))
try:
    inputs(-0.2)
except NoSolution as error:
    print("-0.2: none,", "proved" if error.proved else "none was found")


def holds(x):
    return math.isclose(gelu(x), -0.1, rel_tol=1e-8)
