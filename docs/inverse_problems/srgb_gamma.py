"""sRGB: light from the number in a file.

Field: colour
Shows: branches, and a batch of a million pixels
Source: IEC 61966-2-1:1999 (sRGB), the transfer function
Question: How much light does the byte 128 encode?
"""

import math
from typing import Annotated

import numpy as np

from inversion import invert
from primitives import Reals


def encoded(light: Annotated[float, Reals(0.0, 1.0)]):
    if light <= 0.0031308:
        return 12.92 * light * 255
    return (1.055 * light ** (1 / 2.4) - 0.055) * 255


# ---- the question
linear = invert(encoded)
answers = [linear(128.0)]

# ---- the check
print(f"light {answers[0][0]:.10f}")
(pixels,) = linear.batch(np.linspace(0.0, 255.0, 1_000_000))
print(f"a million pixels, whose mean is {pixels.mean():.8f}")


def holds(light):
    return math.isclose(encoded(light), 128.0, rel_tol=1e-9)
