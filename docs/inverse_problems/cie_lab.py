"""CIE L*a*b*: the display colour of a measured colour.

Field: colour
Shows: helpers with branches, and a matrix
Source: CIE 15:2004, Colorimetry; IEC 61966-2-1 (sRGB, D65)
Question: Which linear RGB values give the colour L* = 60, a* = 30, b* = 40?
"""

import math

from inversion import invert


def cube_root(t):
    d = 6 / 29
    return t ** (1 / 3) if t > d**3 else t / (3 * d * d) + 4 / 29


def lab(r: float, g: float, b: float):
    x = 0.4124564 * r + 0.3575761 * g + 0.1804375 * b
    y = 0.2126729 * r + 0.7151522 * g + 0.0721750 * b
    z = 0.0193339 * r + 0.1191920 * g + 0.9503041 * b
    fx, fy, fz = cube_root(x / 0.95047), cube_root(y), cube_root(z / 1.08883)
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


# ---- the question
colour = invert(lab)
answers = [colour((60.0, 30.0, 40.0))]

# ---- the check
print("r, g, b =", *(f"{part:.8f}" for part in answers[0]))
for lightness in (2.0, 30.0, 90.0):
    print(
        f"L* = {lightness:.0f}, a* = 5, b* = -5:",
        *(f"{c:.6f}" for c in colour((lightness, 5.0, -5.0))),
    )


def holds(*rgb):
    return all(
        math.isclose(a, b, rel_tol=1e-8) for a, b in zip(lab(*rgb), (60, 30, 40), strict=True)
    )
