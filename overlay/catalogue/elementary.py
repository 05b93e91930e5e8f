"""The elementary functions of real numbers: exponentials, roots, angles, hyperbolic and special
functions, one row for each."""

import math

import numpy as np

from overlay import sets
from overlay.catalogue.math_function import row
from overlay.sets.rounding import LARGEST, TINY

__all__ = ["ERF_SLOPE", "FUNCTIONS", "digamma"]

INF = math.inf
NEAR_1 = 1.0 - 2.0**-53
PI_ABOVE, HALF_PI_ABOVE = 3.1415926535897936, 1.5707963267948968
LOG_2, LOG_10 = math.log(2), math.log(10)
ERF_SLOPE = 2 / math.sqrt(math.pi)
"""The derivative of erf at 0."""

# intervals on which derivatives are tested, and bounds of domains and results
ANY, ANY_ANGLE, QUARTER, MODERATE = (-3.0, 3.0), (-4.0, 4.0), (-1.2, 1.2), (-2.0, 2.0)
POSITIVE, ABOVE_1, WITHIN_1, SMALL = (0.1, 9.0), (1.1, 6.0), (-0.9, 0.9), (0.2, 6.0)
ABOVE_0, FROM_1, TO_1 = (0.0, INF), (1.0, INF), (-1.0, 1.0)


# ---- derivatives --------------------------------------------------------------------------


def _of_tanh(e):
    """The derivative of tanh, from e = exp(-2 |a|): 1 - tanh(a)**2 cancels for large a."""
    return 4 * e / ((1 + e) * (1 + e))


def _of_angle(y, x):
    square = x * x + y * y
    return x / square, -y / square


def digamma(x):
    """The derivative of lgamma, for x that is not a pole, to a few units in the last place; also
    near its positive root. So are its own derivatives."""
    if x < 0:
        angle = math.pi * (x - math.floor(x + 0.5))  # the cotangent has the period pi
        return _digamma_above_0(1 - x) - math.pi * math.cos(angle) / math.sin(angle)
    return _digamma_above_0(x)


def _digamma_above_0(x):
    return _digamma_above_3(x) if x >= 3 else _digamma_below_3(x)


def _digamma_above_3(x):
    """digamma by the recurrence up to 12, then the asymptotic series."""
    shift = 0.0 * x
    while x < 12:
        shift -= 1 / x
        x += 1
    return shift + math.log(x) - 0.5 / x - _digamma_series(x)


def _digamma_below_3(x):
    """digamma as the difference from its value at the root, 0: a sum of terms of one sign."""
    apart = x - ROOT - ROOT_REST
    total = 0.0 * x
    for k in range(12):
        total += apart / ((ROOT + k) * (x + k))
    above, root_above = x + 12, ROOT + 12
    total += math.log1p(apart / root_above) + 0.5 * apart / (above * root_above)
    return total - (_digamma_series(above) - SERIES_AT_ROOT)


def _digamma_series(x):
    """The terms of the asymptotic series from the square on, for x of at least 12."""
    s = 1 / (x * x)
    rest = 1 / 132 - s * (691 / 32760 - s * (1 / 12 - s * (3617 / 8160)))
    return s * (1 / 12 - s * (1 / 120 - s * (1 / 252 - s * (1 / 240 - s * rest))))


# the root of digamma between 1 and 2, as the sum of two numbers
ROOT, ROOT_REST = 1.4616321449683622, 9.549995429965697e-17
SERIES_AT_ROOT = _digamma_series(ROOT + 12)


# ---- enclosures ---------------------------------------------------------------------------


def _cbrt(x):
    return float(np.cbrt(x))  # numba has no math.cbrt


def _cube(a):
    return sets.integer_power(a, 3)


def _power_of_10(a):
    return sets.power((10.0, 10.0), a)


def _no_pole(a):
    """Domain test of gamma, which has poles at 0 and the negative integers: see ``defined`` of
    ``MathFunction``."""
    if a[0] > 0:
        return 1
    if a[0] == a[1] and a[0] == math.floor(a[0]):
        return -1
    return 1 if math.floor(min(a[1], 0.0)) < a[0] and a[1] < 0 else 0


# ---- rows ---------------------------------------------------------------------------------

FUNCTIONS = (
    # exponentials, logarithms and roots
    row(
        math.exp, lambda m: lambda a, ret: (ret,), ANY, numpy=(np.exp,),
        results=ABOVE_0, overflows=True, shape="growing", reach=(-745.0, 709.7), inverse="log",
    ),
    row(
        math.exp2, lambda m: lambda a, ret: (ret * LOG_2,), ANY, numpy=(np.exp2,),
        results=ABOVE_0, overflows=True, shape="growing", reach=(-1074.0, 1023.9), inverse="log2",
    ),
    row(
        math.expm1, lambda m: lambda a: (m.exp(a),), ANY, numpy=(np.expm1,),
        results=(-1.0, INF), overflows=True,
        shape="growing", reach=(-745.0, 709.7), inverse="log1p",
    ),
    row(
        math.log, lambda m: lambda a: (1 / a,), POSITIVE, numpy=(np.log,),
        domain=ABOVE_0, without=(0.0,), shape="growing", reach=(TINY, LARGEST), inverse="exp",
    ),
    row(
        math.log2, lambda m: lambda a: (1 / a / LOG_2,), POSITIVE, numpy=(np.log2,),
        domain=ABOVE_0, without=(0.0,), shape="growing", reach=(TINY, LARGEST), inverse="exp2",
    ),
    row(
        math.log10, lambda m: lambda a: (1 / a / LOG_10,), POSITIVE, numpy=(np.log10,),
        domain=ABOVE_0, without=(0.0,),
        shape="growing", reach=(TINY, LARGEST), inverse=_power_of_10,
    ),
    row(
        math.log1p, lambda m: lambda a: (1 / (1 + a),), POSITIVE, numpy=(np.log1p,),
        domain=(-1.0, INF), without=(-1.0,),
        shape="growing", reach=(-NEAR_1, LARGEST), inverse="expm1",
    ),
    row(
        # programs often compute 1 / ret as well: then one division serves both
        math.sqrt, lambda m: lambda a, ret: (0.5 * (1 / ret),), POSITIVE, numpy=(np.sqrt,),
        domain=ABOVE_0, enclosure=sets.root, shape="growing", inverse=sets.square,
    ),
    row(
        math.cbrt, lambda m: lambda a, ret: (1 / (3 * ret * ret),), POSITIVE, numpy=(np.cbrt,),
        enclosure=sets.growing(_cbrt, (-LARGEST, LARGEST)), shape="growing", inverse=_cube,
    ),
    # angles
    row(
        math.sin, lambda m: lambda a: (m.cos(a),), ANY_ANGLE, numpy=(np.sin,),
        without=(-INF, INF), enclosure=sets.sin,
    ),
    row(
        math.cos, lambda m: lambda a: (-m.sin(a),), ANY_ANGLE, numpy=(np.cos,),
        without=(-INF, INF), enclosure=sets.cos,
    ),
    row(
        math.tan, lambda m: lambda a, ret: (1 + ret * ret,), QUARTER, numpy=(np.tan,),
        without=(-INF, INF), enclosure=sets.tan,
    ),
    row(
        math.asin, lambda m: lambda a: (1 / m.sqrt((1 - a) * (1 + a)),), WITHIN_1,
        numpy=(np.arcsin,), domain=TO_1, results=(-HALF_PI_ABOVE, HALF_PI_ABOVE),
        shape="growing", reach=TO_1, inverse="sin",
    ),
    row(
        math.acos, lambda m: lambda a: (-1 / m.sqrt((1 - a) * (1 + a)),), WITHIN_1,
        numpy=(np.arccos,), domain=TO_1, results=(0.0, PI_ABOVE),
        shape="falling", reach=TO_1, inverse="cos",
    ),
    row(
        math.atan, lambda m: lambda a: (1 / (1 + a * a),), ANY_ANGLE, numpy=(np.arctan,),
        results=(-HALF_PI_ABOVE, HALF_PI_ABOVE), shape="growing",
        inverse=sets.growing(math.tan, (-1.5707963267948, 1.5707963267948)),
    ),
    row(
        math.atan2, lambda m: _of_angle, ANY_ANGLE, ANY_ANGLE, numpy=(np.arctan2,),
        enclosure=sets.atan2,
    ),
    row(
        math.hypot, lambda m: lambda a, b, ret: (a / ret, b / ret), ANY_ANGLE, ANY_ANGLE,
        numpy=(np.hypot,), enclosure=sets.hypot,
    ),
    row(
        math.degrees, lambda m: lambda a: (180 / math.pi,), ANY_ANGLE,
        numpy=(np.degrees, np.rad2deg), shape="growing", reach=(-1e306, 1e306), inverse="radians",
    ),
    row(
        math.radians, lambda m: lambda a: (math.pi / 180,), ANY_ANGLE,
        numpy=(np.radians, np.deg2rad), shape="growing", inverse="degrees",
    ),
    # hyperbolic functions
    row(
        math.sinh, lambda m: lambda a: (m.cosh(a),), ANY, numpy=(np.sinh,),
        overflows=True, shape="growing", reach=(-710.4, 710.4), inverse="asinh",
    ),
    row(
        math.cosh, lambda m: lambda a: (m.sinh(a),), ANY, numpy=(np.cosh,),
        results=FROM_1, overflows=True, shape="even", reach=(0.0, 710.4), inverse="acosh",
    ),
    row(
        math.tanh, lambda m: lambda a: (_of_tanh(m.exp(-2 * m.fabs(a))),), ANY, numpy=(np.tanh,),
        results=TO_1, shape="growing", inverse="atanh",
    ),
    row(
        math.asinh, lambda m: lambda a: (1 / m.hypot(1.0, a),), ANY, numpy=(np.arcsinh,),
        shape="growing", inverse="sinh",
    ),
    row(
        math.acosh, lambda m: lambda a: (1 / m.sqrt(a - 1) / m.sqrt(a + 1),), ABOVE_1,
        numpy=(np.arccosh,), domain=FROM_1, results=ABOVE_0,
        shape="growing", reach=(1.0, LARGEST), inverse="cosh",
    ),
    row(
        math.atanh, lambda m: lambda a: (1 / ((1 - a) * (1 + a)),), WITHIN_1,
        numpy=(np.arctanh,), domain=TO_1, without=TO_1,
        shape="growing", reach=(-NEAR_1, NEAR_1), inverse="tanh",
    ),
    # special functions
    row(
        math.erf, lambda m: lambda a: (ERF_SLOPE * m.exp(-a * a),), MODERATE,
        results=TO_1, shape="growing",
    ),
    row(
        math.erfc, lambda m: lambda a: (-ERF_SLOPE * m.exp(-a * a),), MODERATE,
        results=(0.0, 2.0), shape="falling", reach=(-LARGEST, 26.5), ulps=16,
    ),
    row(
        math.gamma, lambda m: lambda a, ret: (ret * digamma(a),), SMALL,
        without=(-INF,), overflows=True, enclosure=sets.gamma, defined=_no_pole,
    ),
    row(
        math.lgamma, lambda m: lambda a: (digamma(a),), SMALL,
        overflows=True, enclosure=sets.lgamma, defined=_no_pole,
    ),
)  # fmt: skip
"""All rows, grouped by kind."""
