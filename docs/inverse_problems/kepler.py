"""Kepler's equation: the position of a comet.

Field: orbits
Shows: a root, and a compiled batch of roots
Source: J. Meeus, Astronomical Algorithms, 2nd ed., ch. 30 (equation of Kepler)
Question: Which eccentric anomaly has the mean anomaly 0.2 at an eccentricity of 0.9?
"""

import math

import numpy as np

from inversion import choose


def mean_anomaly(eccentric: float, e: float):
    return eccentric - e * math.sin(eccentric)


# ---- the question
anomaly = choose(mean_anomaly, known=("return", "e"))
answers = [anomaly(0.2, 0.9)]

# ---- the check
print(f"E = {answers[0][0]:.10f}")
means = np.linspace(0, 2 * np.pi, 9)[1:-1]
curves = {e: anomaly.batch(means, np.full(7, e))[0] for e in (0.1, 0.5, 0.9)}
for e, found in curves.items():
    print(f"e = {e}:", *(f"{value:.4f}" for value in found))


def holds(eccentric):
    return math.isclose(mean_anomaly(eccentric, 0.9), 0.2, abs_tol=1e-9)
