"""Rules of the elementwise functions of ``scipy.special``."""

import math

import numpy as np
from scipy import special

from overlay.catalogue import FUNCTIONS, elementwise
from overlay.catalogue.elementary import ERF_SLOPE
from overlay.interpretations.autodiff.rules.rule import rule

__all__ = ["RULES"]

ANY, MODERATE, WITHIN_1 = (-3.0, 3.0), (-2.0, 2.0), (-0.9, 0.9)
ABOVE_0, SMALL, PART = (0.2, 6.0), (0.3, 3.0), (0.05, 0.95)
ORDER, WHOLE = (0.3, 3.5), (1, 4)
ROOT_2, ROOT_2_PI = math.sqrt(2), math.sqrt(2 * math.pi)
PER_DEGREE = math.pi / 180
_OF_MATH = {row.name: row.partials(elementwise) for row in FUNCTIONS}


# ---- gamma and beta functions -------------------------------------------------------------


def _beta(a, b, ret):
    both = special.digamma(a + b)
    return ret * (special.digamma(a) - both), ret * (special.digamma(b) - both)


def _log_beta(a, b):
    both = special.digamma(a + b)
    return special.digamma(a) - both, special.digamma(b) - both


def _density_of_beta(a, b, x):
    return np.exp(special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x) - special.betaln(a, b))


def _density_of_gamma(a, x):
    return np.exp(special.xlogy(a - 1, x) - x - special.gammaln(a))


def _rising(z, m, ret):
    both = special.digamma(z + m)
    return ret * (both - special.digamma(z)), ret * both


def _binomial(n, k, ret):
    rest = special.digamma(n - k + 1)
    return ret * (special.digamma(n + 1) - rest), ret * (rest - special.digamma(k + 1))


def _log_multivariate_gamma(a, d):
    slope = special.digamma(a)
    for i in range(1, d):
        slope = slope + special.digamma(a - 0.5 * i)
    return slope, None


# ---- error functions and normal distributions ---------------------------------------------


def _density(a):
    return np.exp(-0.5 * a * a) / ROOT_2_PI


def _hazard(a):
    """The density of the normal distribution divided by its distribution function."""
    return math.sqrt(2 / math.pi) / special.erfcx(-a / ROOT_2)


def _far(a):
    """1 where a number is so large that the asymptotic series of its error functions is exact."""
    return 1.0 * (a > 50)


def _of_erfcx(a, ret):
    """The derivative of erfcx, which cancels for large numbers."""
    far = _far(a)
    large = far * a + (1.0 - far)
    u = 1 / (large * large)
    series = -0.5 * ERF_SLOPE * u * (1 - u * (1.5 - u * (3.75 - u * 13.125)))
    near = (1.0 - far) * a
    return (far * series + (1.0 - far) * (2 * near * ret - ERF_SLOPE),)


def _of_dawsn(a, ret):
    """The derivative of Dawson's integral, which cancels for large numbers."""
    far = _far(np.abs(a))
    large = far * a + (1.0 - far)
    u = 1 / (large * large)
    series = -0.5 * u * (1 + u * (1.5 + u * (3.75 + u * 13.125)))
    near = (1.0 - far) * a
    return (far * series + (1.0 - far) * (1 - 2 * near * ret),)


def _owens(h, a):
    weight = np.exp(-0.5 * h * h * (1 + a * a)) / (2 * math.pi * (1 + a * a))
    return -special.erf(a * h / ROOT_2) * np.exp(-0.5 * h * h) / (2 * ROOT_2_PI), weight


# ---- powers, exponentials and logarithms --------------------------------------------------


def _of_exprel(a):
    """The derivative of (exp(a) - 1) / a: by its series near 0, where the quotient cancels."""
    is_near = 1.0 * (np.abs(a) < 0.1)
    near, other = is_near * a, (1.0 - is_near) * a + is_near
    series = 1 / 5040 + near * (1 / 45360 + near / 453600)
    for factor in (1 / 840, 1 / 144, 1 / 30, 1 / 8, 1 / 3, 1 / 2):
        series = factor + near * series
    quotient = (np.exp(other) * (other - 1) + 1) / (other * other)
    return is_near * series + (1.0 - is_near) * quotient


def _box_cox(x, power, log):
    """The derivative of (x**power - 1) / power by the power."""
    return log * log * _of_exprel(power * log)


def _inverse_box_cox(y, power, ret):
    by_power = _box_cox(ret, power, np.log(ret))
    slope = ret ** (1 - power)
    return slope, -by_power * slope


def _inverse_box_cox_of_1(y, power, ret):
    by_power = _box_cox(1 + ret, power, np.log1p(ret))
    slope = (1 + ret) ** (1 - power)
    return slope, -by_power * slope


def _log_of_power(x, y):
    return np.log(y), x / y


def _of_spence(a):
    """The derivative of spence, log(a) / (1 - a): by its series near 1."""
    above = a - 1
    is_near = 1.0 * (np.abs(above) < 0.05)
    near, other = is_near * above, (1.0 - is_near) * above + is_near
    series = 1 / 13
    for k in range(12, 0, -1):
        series = 1 / k - near * series
    return (-is_near * series - (1.0 - is_near) * np.log1p(other) / other,)


# ---- losses -------------------------------------------------------------------------------


def _huber(delta, r):
    size = np.abs(r)
    is_far = 1.0 * (size > delta)
    return is_far * (size - delta), (1.0 - is_far) * r + is_far * delta * np.copysign(1.0, r)


def _pseudo_huber(delta, r):
    root = np.sqrt(1 + (r / delta) ** 2)
    return r * r * (root - 1) / (delta * root * (root + 1)), r / root


# ---- Bessel functions and integrals -------------------------------------------------------


def _around(function, below, above):
    """The derivative by the argument of a family of Bessel functions, from its neighbours' signs in
    it: half of their sum."""

    def partials(v, x):
        return None, 0.5 * (below * function(v - 1, x) + above * function(v + 1, x))

    return partials


def _of_expn(n, x):
    is_0 = 1.0 * (n == 0)
    first = np.exp(-x) * (1 + x) / (x * x)
    return None, -(is_0 * first + (1.0 - is_0) * special.expn(np.maximum(n - 1, 0), x))


def _of_ellipkinc(phi, m):
    return 1 / np.sqrt(1 - m * np.sin(phi) ** 2), None


def _of_struve(v, x):
    first = (x / 2) ** v / (math.sqrt(math.pi) * special.gamma(v + 1.5))
    return None, 0.5 * (special.struve(v - 1, x) - special.struve(v + 1, x) + first)


def _density_of_student(df, t):
    log = special.gammaln((df + 1) / 2) - special.gammaln(df / 2)
    return np.exp(log - 0.5 * (df + 1) * np.log1p(t * t / df)) / np.sqrt(df * math.pi)


def _mass_of_poisson(k, m):
    return np.exp(special.xlogy(np.floor(k), m) - m - special.gammaln(np.floor(k) + 1))


def _of_chi_squared(df, x):
    return 0.5 * _density_of_gamma(df / 2, x / 2)


# fmt: off
RULES = (
    # gamma and beta functions
    rule(special.gamma,     lambda a, ret: (ret * special.digamma(a),), SMALL),
    rule(special.gammaln,   lambda a: (special.digamma(a),), ABOVE_0, also=(special.loggamma,)),
    rule(special.rgamma,    lambda a, ret: (-ret * special.digamma(a),), ABOVE_0),
    rule(special.digamma,   lambda a: (special.polygamma(1, a),), ABOVE_0),
    rule(special.polygamma, lambda n, x: (None, special.polygamma(n + 1, x)), WHOLE, ABOVE_0,
         constant=(0,)),
    rule(special.multigammaln, _log_multivariate_gamma, (2.1, 6.0), WHOLE, constant=(1,)),
    rule(special.beta,      _beta, SMALL, SMALL),
    rule(special.betaln,    _log_beta, SMALL, SMALL),
    rule(special.poch,      _rising, SMALL, SMALL),
    rule(special.binom,     _binomial, (3.0, 6.0), (0.5, 2.5), also=(special.comb,)),
    rule(special.factorial, lambda a, ret: (ret * special.digamma(a + 1),), SMALL),
    rule(special.betainc,   lambda a, b, x: (None, None, _density_of_beta(a, b, x)),
         SMALL, SMALL, PART, constant=(0, 1)),
    rule(special.betaincc,  lambda a, b, x: (None, None, -_density_of_beta(a, b, x)),
         SMALL, SMALL, PART, constant=(0, 1)),
    rule(special.betaincinv, lambda a, b, y, ret: (None, None, 1 / _density_of_beta(a, b, ret)),
         (1.1, 3.0), (1.1, 3.0), PART, constant=(0, 1)),
    rule(special.betainccinv, lambda a, b, y, ret: (None, None, -1 / _density_of_beta(a, b, ret)),
         (1.1, 3.0), (1.1, 3.0), PART, constant=(0, 1)),
    rule(special.gammainc,  lambda a, x: (None, _density_of_gamma(a, x)), SMALL, ABOVE_0,
         constant=(0,)),
    rule(special.gammaincc, lambda a, x: (None, -_density_of_gamma(a, x)), SMALL, ABOVE_0,
         constant=(0,)),
    rule(special.gammaincinv, lambda a, y, ret: (None, 1 / _density_of_gamma(a, ret)),
         (1.1, 3.0), PART, constant=(0,)),
    rule(special.gammainccinv, lambda a, y, ret: (None, -1 / _density_of_gamma(a, ret)),
         (1.1, 3.0), PART, constant=(0,)),
    rule(special.zeta,      lambda a, q: (None, -a * special.zeta(a + 1, q)), (1.5, 4.0), ABOVE_0,
         constant=(0,)),
    # error functions, and distribution functions
    rule(special.erf,       _OF_MATH["erf"], MODERATE),
    rule(special.erfc,      _OF_MATH["erfc"], MODERATE),
    rule(special.erfcx,     _of_erfcx, ANY),
    rule(special.erfi,      lambda a: (ERF_SLOPE * np.exp(a * a),), MODERATE),
    rule(special.erfinv,    lambda a, ret: (np.exp(ret * ret) / ERF_SLOPE,), WITHIN_1),
    rule(special.erfcinv,   lambda a, ret: (-np.exp(ret * ret) / ERF_SLOPE,), (0.1, 1.9)),
    rule(special.dawsn,     _of_dawsn, ANY),
    rule(special.ndtr,      lambda a: (_density(a),), ANY),
    rule(special.ndtri,     lambda a, ret: (1 / _density(ret),), PART),
    rule(special.log_ndtr,  lambda a: (_hazard(a),), ANY),
    rule(special.ndtri_exp, lambda a, ret: (1 / _hazard(ret),), (-5.0, -0.1)),
    rule(special.owens_t,   _owens, ANY, ANY),
    rule(special.stdtr,     lambda df, t: (None, _density_of_student(df, t)), SMALL, ANY,
         constant=(0,)),
    rule(special.stdtrit,   lambda df, p, ret: (None, 1 / _density_of_student(df, ret)),
         SMALL, PART, constant=(0,)),
    rule(special.pdtr,      lambda k, m: (None, -_mass_of_poisson(k, m)), WHOLE, ABOVE_0,
         constant=(0,)),
    rule(special.pdtrc,     lambda k, m: (None, _mass_of_poisson(k, m)), WHOLE, ABOVE_0,
         constant=(0,)),
    rule(special.chdtr,     lambda v, x: (None, _of_chi_squared(v, x)), SMALL, ABOVE_0,
         constant=(0,)),
    rule(special.chdtrc,    lambda v, x: (None, -_of_chi_squared(v, x)), SMALL, ABOVE_0,
         constant=(0,)),
    # powers, exponentials and logarithms
    rule(special.expit,     lambda a, ret: (ret * special.expit(-a),), ANY),
    rule(special.logit,     lambda a: (1 / (a * (1 - a)),), PART),
    rule(special.log_expit, lambda a: (special.expit(-a),), ANY),
    rule(special.expm1,     _OF_MATH["expm1"], ANY),
    rule(special.exp2,      _OF_MATH["exp2"], ANY),
    rule(special.exp10,     lambda a, ret: (ret * math.log(10),), MODERATE),
    rule(special.log1p,     _OF_MATH["log1p"], ABOVE_0),
    rule(special.cbrt,      _OF_MATH["cbrt"], ABOVE_0),
    rule(special.exprel,    lambda a: (_of_exprel(a),), ANY),
    rule(special.cosm1,     lambda a: (-np.sin(a),), ANY),
    rule(special.powm1,     lambda a, b, ret: (b * a ** (b - 1), (ret + 1) * np.log(a)),
         ABOVE_0, ANY),
    rule(special.xlogy,     _log_of_power, ABOVE_0, ABOVE_0),
    rule(special.xlog1py,   lambda x, y: (np.log1p(y), x / (1 + y)), ABOVE_0, ABOVE_0),
    rule(special.entr,      lambda a: (-np.log(a) - 1,), ABOVE_0),
    rule(special.rel_entr,  lambda x, y: (np.log(x / y) + 1, -x / y), ABOVE_0, ABOVE_0),
    rule(special.kl_div,    lambda x, y: (np.log(x / y), 1 - x / y), ABOVE_0, ABOVE_0),
    rule(special.boxcox,    lambda x, p: (x ** (p - 1), _box_cox(x, p, np.log(x))), ABOVE_0, ANY),
    rule(special.boxcox1p,  lambda x, p: ((1 + x) ** (p - 1), _box_cox(1 + x, p, np.log1p(x))),
         ABOVE_0, ANY),
    rule(special.inv_boxcox, _inverse_box_cox, SMALL, SMALL),
    rule(special.inv_boxcox1p, _inverse_box_cox_of_1, SMALL, SMALL),
    rule(special.wrightomega, lambda a, ret: (ret / (1 + ret),), ANY),
    rule(special.spence,    _of_spence, ABOVE_0),
    # angles in degrees
    rule(special.sindg,     lambda a: (PER_DEGREE * special.cosdg(a),), (-80.0, 80.0)),
    rule(special.cosdg,     lambda a: (-PER_DEGREE * special.sindg(a),), (-80.0, 80.0)),
    rule(special.tandg,     lambda a, ret: (PER_DEGREE * (1 + ret * ret),), (-80.0, 80.0)),
    rule(special.cotdg,     lambda a, ret: (-PER_DEGREE * (1 + ret * ret),), (10.0, 80.0)),
    # losses
    rule(special.huber,     _huber, (0.5, 2.0), ANY, kink=lambda d, r: abs(r) == d),
    rule(special.pseudo_huber, _pseudo_huber, (0.5, 2.0), ANY),
    # Bessel functions
    rule(special.j0,        lambda a: (-special.j1(a),), ANY),
    rule(special.j1,        lambda a: (0.5 * (special.j0(a) - special.jv(2, a)),), ANY),
    rule(special.jv,        _around(special.jv, 1, -1), ORDER, ABOVE_0, constant=(0,)),
    rule(special.y0,        lambda a: (-special.y1(a),), ABOVE_0),
    rule(special.y1,        lambda a: (0.5 * (special.y0(a) - special.yn(2, a)),), ABOVE_0),
    rule(special.yn,        _around(special.yn, 1, -1), WHOLE, ABOVE_0, constant=(0,)),
    rule(special.yv,        _around(special.yv, 1, -1), ORDER, ABOVE_0, constant=(0,)),
    rule(special.i0,        lambda a: (special.i1(a),), ANY),
    rule(special.i1,        lambda a: (0.5 * (special.i0(a) + special.iv(2, a)),), ANY),
    rule(special.iv,        _around(special.iv, 1, 1), ORDER, ABOVE_0, constant=(0,)),
    rule(special.i0e,       lambda a, ret: (special.i1e(a) - np.sign(a) * ret,), ANY),
    rule(special.i1e,       lambda a, ret: (
         0.5 * (special.i0e(a) + special.ive(2, a)) - np.sign(a) * ret,), ANY),
    rule(special.ive,       lambda v, x, ret: (
         None, 0.5 * (special.ive(v - 1, x) + special.ive(v + 1, x)) - np.sign(x) * ret),
         ORDER, (1.0, 6.0), constant=(0,)),
    rule(special.k0,        lambda a: (-special.k1(a),), ABOVE_0),
    rule(special.k1,        lambda a: (-0.5 * (special.k0(a) + special.kn(2, a)),), ABOVE_0),
    rule(special.kn,        _around(special.kn, -1, -1), WHOLE, ABOVE_0, constant=(0,)),
    rule(special.kv,        _around(special.kv, -1, -1), ORDER, ABOVE_0, constant=(0,)),
    rule(special.k0e,       lambda a, ret: (ret - special.k1e(a),), ABOVE_0),
    rule(special.k1e,       lambda a, ret: (ret - 0.5 * (special.k0e(a) + special.kve(2, a)),),
         ABOVE_0),
    rule(special.kve,       lambda v, x, ret: (
         None, ret - 0.5 * (special.kve(v - 1, x) + special.kve(v + 1, x))),
         ORDER, ABOVE_0, constant=(0,)),
    rule(special.struve,    _of_struve, ORDER, ABOVE_0, constant=(0,)),
    # integrals and hypergeometric functions
    rule(special.exp1,      lambda a: (-np.exp(-a) / a,), ABOVE_0),
    rule(special.expi,      lambda a: (np.exp(a) / a,), ABOVE_0),
    rule(special.expn,      _of_expn, (0, 4), ABOVE_0, constant=(0,)),
    rule(special.ellipk,    lambda m: (math.pi / 8 * special.hyp2f1(1.5, 1.5, 2.0, m),),
         (-3.0, 0.9)),
    rule(special.ellipkm1,  lambda p: (-math.pi / 8 * special.hyp2f1(1.5, 1.5, 2.0, 1 - p),),
         (0.1, 3.0)),
    rule(special.ellipe,    lambda m: (-math.pi / 8 * special.hyp2f1(0.5, 1.5, 2.0, m),),
         (-3.0, 0.9)),
    rule(special.ellipkinc, _of_ellipkinc, ANY, PART, constant=(1,)),
    rule(special.ellipeinc, lambda phi, m: (np.sqrt(1 - m * np.sin(phi) ** 2), None), ANY, PART,
         constant=(1,)),
    rule(special.hyp0f1,    lambda v, z: (None, special.hyp0f1(v + 1, z) / v), SMALL, ANY,
         constant=(0,)),
    rule(special.hyp1f1,    lambda a, b, x: (None, None, a / b * special.hyp1f1(a + 1, b + 1, x)),
         SMALL, SMALL, ANY, constant=(0, 1)),
    rule(special.hyp2f1,    lambda a, b, c, x: (
         None, None, None, a * b / c * special.hyp2f1(a + 1, b + 1, c + 1, x)),
         SMALL, SMALL, SMALL, WITHIN_1, constant=(0, 1, 2)),
    rule(special.hyperu,    lambda a, b, x: (None, None, -a * special.hyperu(a + 1, b + 1, x)),
         SMALL, SMALL, ABOVE_0, constant=(0, 1)),
)
# fmt: on
"""All rules of ``scipy.special``, grouped by family."""
