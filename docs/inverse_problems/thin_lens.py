"""Thin lens: the lens or the object for a given image.

Field: optics
Shows: any axis as the unknown, and a family of lenses with a free parameter
Source: E. Hecht, Optics, 5th ed., sec. 5.2 (lensmaker's formula, thin lens)
Question: Which lenses of a glass with n = 1.5168 make an image 200 mm behind them of an object 300
    mm before them? And which glass, if both radii are 120 mm?
"""

import math

from inversion import choose


def image(distance: float, n: float, front: float, back: float):
    power = (n - 1) * (1 / front - 1 / back)
    return 1 / (power - 1 / distance)


# ---- the question
lens = choose(image, known=("return", "distance", "n"))
answers = [lens(200.0, 300.0, 1.5168, front=front) for front in (80.0, 124.0, 300.0, -400.0)]

# ---- the check
print("free:", *lens.parameters.names)
for front, back in answers:
    print(f"front {front:9.4f} mm, back {back:9.4f} mm")
(glass,) = choose(image, known=("return", "distance", "front", "back"))(200.0, 300.0, 120.0, -120.0)
print(f"both radii 120 mm: n = {glass:.6f}")


def holds(front, back):
    return math.isclose(image(300.0, 1.5168, front, back), 200.0, rel_tol=1e-9)
