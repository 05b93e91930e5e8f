"""Normalising flows: the density of a layer without a closed-form inverse.

Field: machine learning
Shows: determinants of inverses, for a change of variables
Source: D. J. Rezende and S. Mohamed, Variational Inference with Normalizing Flows, ICML 2015
Question: A normal variable goes through a planar layer. How dense is the result at (0.5, 1.5)?
"""

import math

from inversion import invert


def planar(a: float, b: float):
    bent = math.tanh(1.1 * a + 0.7 * b - 0.2)
    return a + 0.9 * bent, b - 0.4 * bent


# ---- the question
layer = invert(planar)
answers = [layer((0.5, 1.5))]


def log_density(z):
    a, b = layer(z)
    return -(a * a + b * b) / 2 - math.log(2 * math.pi) + layer.log_abs_det(z)


# ---- the check
print("from", *(f"{x:.8f}" for x in answers[0]), f"log density {log_density((0.5, 1.5)):.8f}")
slices = [sum(math.exp(log_density((x / 2, y / 2))) for x in range(-9, 10)) for y in range(-9, 10)]
print(f"the density sums to {sum(slices) / 4:.4f}")


def holds(*point):
    return all(
        math.isclose(a, b, abs_tol=1e-9) for a, b in zip(planar(*point), (0.5, 1.5), strict=True)
    )
