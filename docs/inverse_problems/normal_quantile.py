"""Statistics: quantiles from the standard library's distribution function.

Field: statistics
Shows: a method of a class of the standard library; a box of all answers, proved
Source: CPython, Lib/statistics.py (NormalDist.cdf); tables of the normal distribution
Question: Sizes are normal around 100 with deviation 15. Below which size are 97.5 % of them?
"""

import math
import statistics

from inversion import contract, invert
from overlay.interpretations.intervals import Interval

sizes = statistics.NormalDist(100, 15)

# ---- the question
quantile = invert(sizes.cdf, float)
answers = [quantile(0.975)]

# ---- the check
print(f"inverse: {answers[0][0]:.8f}, inv_cdf: {sizes.inv_cdf(0.975):.8f}")
(box,) = contract(sizes.cdf, Interval(0, 300), returns=Interval(0.95, 0.975))
print(f"95 to 97.5 %: between {box.low:.4f} and {box.high:.4f}")


def holds(size):
    return math.isclose(sizes.cdf(size), 0.975, rel_tol=1e-8)
