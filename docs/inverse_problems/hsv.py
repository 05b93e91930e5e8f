"""HSV: the inverse of colorsys in the standard library.

Field: colour
Shows: branches with dependent arms: which channel is the largest
Source: CPython, Lib/colorsys.py (rgb_to_hsv); A. R. Smith, Color gamut transform pairs (1978)
Question: Which colour has the hue 0.6, the saturation 0.5 and the value 0.8?
"""

import colorsys
import math

from inversion import invert

# ---- the question
rgb = invert(colorsys.rgb_to_hsv, float, float, float)
answers = [rgb((0.6, 0.5, 0.8))]

# ---- the check
print("r, g, b =", *(f"{part:.6f}" for part in answers[0]))
print("hsv_to_rgb:", *(f"{part:.6f}" for part in colorsys.hsv_to_rgb(0.6, 0.5, 0.8)))


def holds(*colour):
    back = colorsys.rgb_to_hsv(*colour)
    return all(math.isclose(a, b, rel_tol=1e-9) for a, b in zip(back, (0.6, 0.5, 0.8), strict=True))
