"""Rules of trigonometric functions.

m: ``math``, or numpy's elementwise functions under the same names.
"""

import math

from overlay.interpretations.autodiff.rules.rule import rule

__all__ = ["trigonometric"]

ANY = (-4.0, 4.0)
WITHIN_1 = (-0.9, 0.9)
QUARTER = (-1.2, 1.2)


def _of_angle(y, x):
    square = x * x + y * y
    return x / square, -y / square


# fmt: off
def trigonometric(m):
    return (
        rule(m.sin,     lambda a: (m.cos(a),), ANY),
        rule(m.cos,     lambda a: (-m.sin(a),), ANY),
        rule(m.tan,     lambda a, ret: (1 + ret * ret,), QUARTER),
        rule(m.asin,    lambda a: (1 / m.sqrt((1 - a) * (1 + a)),), WITHIN_1),
        rule(m.acos,    lambda a: (-1 / m.sqrt((1 - a) * (1 + a)),), WITHIN_1),
        rule(m.atan,    lambda a: (1 / (1 + a * a),), ANY),
        rule(m.atan2,   _of_angle, ANY, ANY),
        rule(m.hypot,   lambda a, b, ret: (a / ret, b / ret), ANY, ANY),
        rule(m.degrees, lambda a: (180 / math.pi,), ANY),
        rule(m.radians, lambda a: (math.pi / 180,), ANY),
    )
# fmt: on
