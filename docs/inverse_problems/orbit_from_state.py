"""Orbits: the ellipse through a state.

Field: orbits
Shows: a system with shared unknowns, solved by algebra and a root
Source: D. A. Vallado, Fundamentals of Astrodynamics and Applications, ch. 2 (vis-viva, conic)
Question: A satellite is 7000 km from the centre, and moves with 8 km/s, 5 degrees above the
    horizon. Which orbit is it on (semi-latus rectum, eccentricity), and where (true anomaly)?
"""

import math
from typing import Annotated

from inversion import invert
from primitives import Reals

MU = 398600.4418  # of the earth, in km³/s²


def state(
    p: Annotated[float, Reals(1.0, 1e6)],
    e: Annotated[float, Reals(0.0, 1.0, open_high=True)],
    anomaly: Annotated[float, Reals(-math.pi, math.pi)],
):
    outwards = math.sqrt(MU / p) * e * math.sin(anomaly)
    across = math.sqrt(MU / p) * (1 + e * math.cos(anomaly))
    return p / (1 + e * math.cos(anomaly)), outwards, across


# ---- the question
angle = math.radians(5)
known = (7000.0, 8 * math.sin(angle), 8 * math.cos(angle))
answers = [invert(state)(known)]

# ---- the check
p, e, anomaly = answers[0]
print(f"p = {p:.4f} km, e = {e:.8f}, true anomaly {math.degrees(anomaly):.6f} degrees")
print(f"perigee {p / (1 + e):.3f} km, apogee {p / (1 - e):.3f} km")


def holds(*answer):
    return all(math.isclose(a, b, rel_tol=1e-8) for a, b in zip(state(*answer), known, strict=True))
