"""Quaternions: the last rotation.

Field: kinematics
Shows: partly known arguments, a linear system of four unknowns
Source: W. R. Hamilton, Elements of Quaternions (1866), book II (the product)
Question: The attitude was p, and now it is q = s p. Which rotation was s?
"""

import math

from inversion import choose

Quat = tuple[float, float, float, float]


def product(a: Quat, b: Quat):
    aw, ax, ay, az = a
    bw, bx, by, bz = b
    return (
        aw * bw - ax * bx - ay * by - az * bz,
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
    )


before = (0.5, 0.5, -0.5, 0.5)
after = (0.8, 0.0, 0.0, 0.6)

# ---- the question
rotation = choose(product, known=("return", "b"))
answers = [rotation(after, before)[0]]

# ---- the check
(s,) = answers
print("s =", *(f"{part:.6f}" for part in s))
print(f"turned by {2 * math.degrees(math.acos(s[0])):.4f} degrees")


def holds(*s):
    return all(
        math.isclose(a, b, abs_tol=1e-9) for a, b in zip(product(s, before), after, strict=True)
    )
