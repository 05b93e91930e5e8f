"""Rules of hyperbolic functions.

m: ``math``, or numpy's elementwise functions under the same names.
"""

from overlay.interpretations.autodiff.rules.rule import rule

__all__ = ["hyperbolic"]

ANY = (-3.0, 3.0)
ABOVE_1 = (1.1, 6.0)
WITHIN_1 = (-0.9, 0.9)


def _of_tanh(e):
    """The derivative of tanh where e is exp(-2 |a|): 1 - tanh(a)**2 has no digits far out."""
    return 4 * e / ((1 + e) * (1 + e))


# fmt: off
def hyperbolic(m):
    return (
        rule(m.sinh,  lambda a: (m.cosh(a),), ANY),
        rule(m.cosh,  lambda a: (m.sinh(a),), ANY),
        rule(m.tanh,  lambda a: (_of_tanh(m.exp(-2 * m.fabs(a))),), ANY),
        rule(m.asinh, lambda a: (1 / m.hypot(1.0, a),), ANY),
        rule(m.acosh, lambda a: (1 / m.sqrt(a - 1) / m.sqrt(a + 1),), ABOVE_1),
        rule(m.atanh, lambda a: (1 / ((1 - a) * (1 + a)),), WITHIN_1),
    )
# fmt: on
