"""Camera calibration: a photograph without distortion.

Field: cameras
Shows: two unknowns guessed at once
Source: D. C. Brown, Close-range camera calibration (1971); the model of OpenCV's calib3d
Question: Which ideal point is seen at x = 0.3, y = -0.2 through a lens with these coefficients?
"""

import math
from typing import Annotated

import numpy as np

from inversion import invert
from primitives import Reals

View = Annotated[float, Reals(-0.8, 0.8)]


def seen(x: View, y: View):
    k1, k2, p1, p2 = -0.28, 0.07, 1e-3, -5e-4
    r2 = x * x + y * y
    radial = 1 + k1 * r2 + k2 * r2 * r2
    return (
        x * radial + 2 * p1 * x * y + p2 * (r2 + 2 * x * x),
        y * radial + p1 * (r2 + 2 * y * y) + 2 * p2 * x * y,
    )


# ---- the question
ideal = invert(seen)
answers = [ideal((0.3, -0.2))]

# ---- the check
print(f"x = {answers[0][0]:.9f}, y = {answers[0][1]:.9f}")
grid = np.linspace(-0.5, 0.5, 5)
for y in grid[::2]:
    print(*("({:7.4f}, {:7.4f})".format(*ideal((x, y))) for x in grid[::2]))


def holds(*point):
    return all(
        math.isclose(a, b, abs_tol=1e-9) for a, b in zip(seen(*point), (0.3, -0.2), strict=True)
    )
