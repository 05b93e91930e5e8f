"""Rules of exponential functions, logarithms and roots.

m: ``math``, or numpy's elementwise functions under the same names.
"""

import math

from overlay.interpretations.autodiff.rules.rule import rule

__all__ = ["exponential"]

ANY = (-3.0, 3.0)
ABOVE_0 = (0.1, 9.0)
LOG_2, LOG_10 = math.log(2), math.log(10)


# fmt: off
def exponential(m):
    return (
        rule(m.exp,   lambda a, ret: (ret,), ANY),
        rule(m.exp2,  lambda a, ret: (ret * LOG_2,), ANY),
        rule(m.expm1, lambda a: (m.exp(a),), ANY),
        rule(m.log,   lambda a: (1 / a,), ABOVE_0),
        rule(m.log2,  lambda a: (1 / a / LOG_2,), ABOVE_0),
        rule(m.log10, lambda a: (1 / a / LOG_10,), ABOVE_0),
        rule(m.log1p, lambda a: (1 / (1 + a),), ABOVE_0),
        # by 1 / ret, which programs often go on with: then there is one division
        rule(m.sqrt,  lambda a, ret: (0.5 * (1 / ret),), ABOVE_0),
        rule(m.cbrt,  lambda a, ret: (1 / (3 * ret * ret),), ABOVE_0),
    )
# fmt: on
