"""Rules of the densities and distribution functions of ``scipy.stats``.

Each method of a distribution is differentiated by the method of the standard distribution that
scipy defines it by, such as ``_logpdf``, or by a function of this table where that one is no code
of differentiable functions.
"""

import functools
import math

import numpy as np
from scipy import special, stats

from overlay.interpretations.autodiff.errors import refuse_form
from overlay.interpretations.autodiff.plain_values import plain
from overlay.interpretations.autodiff.rules.array_rule import ArrayRule, defined
from overlay.interpretations.autodiff.rules.drawn_calls import floats, positive, spread

__all__ = ["ARRAY_RULES"]

LOG_ROOT_2_PI = 0.5 * math.log(2 * math.pi)


# ---- standard distributions ---------------------------------------------------------------


def _log_student(x, df):
    is_normal = np.isinf(plain(df))
    if np.any(is_normal):
        normal = -0.5 * x * x - LOG_ROOT_2_PI
        return np.where(is_normal, normal, _log_student(x, np.where(is_normal, 1.0, df)))
    log = special.gammaln(0.5 * (df + 1)) - special.gammaln(0.5 * df) - 0.5 * np.log(df * math.pi)
    return log - 0.5 * (df + 1) * np.log1p(x * x / df)


def _log_beta(x, a, b):
    return special.xlogy(a - 1, x) + special.xlog1py(b - 1, -x) - special.betaln(a, b)


def _log_of_log_normal(x, s):
    log = np.log(x)
    return -0.5 * (log / s) ** 2 - log - np.log(s) - LOG_ROOT_2_PI


def _log_binomial(k, n, p):
    log = special.gammaln(n + 1) - special.gammaln(k + 1) - special.gammaln(n - k + 1)
    return log + special.xlogy(k, p) + special.xlog1py(n - k, -p)


def _log_negative_binomial(k, n, p):
    log = special.gammaln(n + k) - special.gammaln(k + 1) - special.gammaln(n)
    return log + n * np.log(p) + special.xlog1py(k, -p)


def _log_f(x, dfn, dfd):
    log = 0.5 * (dfn * np.log(dfn) + dfd * np.log(dfd)) + special.xlogy(0.5 * dfn - 1, x)
    return log - 0.5 * (dfn + dfd) * np.log(dfd + dfn * x) - special.betaln(0.5 * dfn, 0.5 * dfd)


STANDARD = {
    stats.t: {
        "_logpdf": _log_student,
        "_cdf": lambda x, df: special.stdtr(df, x),
        "_sf": lambda x, df: special.stdtr(df, -x),
        "_ppf": lambda q, df: special.stdtrit(df, q),
        "_isf": lambda q, df: -special.stdtrit(df, q),
    },
    stats.beta: {
        "_logpdf": _log_beta,
        "_cdf": lambda x, a, b: special.betainc(a, b, x),
        "_sf": lambda x, a, b: special.betaincc(a, b, x),
        "_ppf": lambda q, a, b: special.betaincinv(a, b, q),
        "_isf": lambda q, a, b: special.betainccinv(a, b, q),
    },
    stats.chi2: {
        "_cdf": lambda x, df: special.gammainc(0.5 * df, 0.5 * x),
        "_sf": lambda x, df: special.gammaincc(0.5 * df, 0.5 * x),
        "_ppf": lambda q, df: 2 * special.gammaincinv(0.5 * df, q),
        "_isf": lambda q, df: 2 * special.gammainccinv(0.5 * df, q),
    },
    stats.f: {
        "_logpdf": _log_f,
        "_cdf": lambda x, m, n: special.betainc(0.5 * m, 0.5 * n, m * x / (m * x + n)),
        "_sf": lambda x, m, n: special.betaincc(0.5 * m, 0.5 * n, m * x / (m * x + n)),
    },
    stats.lognorm: {"_logpdf": _log_of_log_normal},
    stats.cauchy: {"_logpdf": lambda x: -math.log(math.pi) - 2 * np.log(np.hypot(1.0, x))},
    stats.skewnorm: {"_cdf": lambda x, a: special.ndtr(x) - 2 * special.owens_t(x, a)},
    stats.binom: {
        "_logpmf": _log_binomial,
        "_cdf": lambda k, n, p: special.betainc(np.floor(n - k), np.floor(k) + 1, 1 - p),
        "_sf": lambda k, n, p: special.betainc(np.floor(k) + 1, np.floor(n - k), p),
    },
    stats.bernoulli: {
        "_logpmf": lambda k, p: special.xlogy(k, p) + special.xlog1py(1 - k, -p),
        "_cdf": lambda k, p: np.where(k < 1, 1 - p, 1.0),
    },
    stats.nbinom: {
        "_logpmf": _log_negative_binomial,
        "_cdf": lambda k, n, p: special.betainc(n, np.floor(k) + 1, p),
        "_sf": lambda k, n, p: special.betaincc(n, np.floor(k) + 1, p),
    },
}
"""Functions of standard distributions, by the name of the method that each stands for."""
OWN = {type(distribution): methods for distribution, methods in STANDARD.items()}
DERIVED = {
    "_pdf": ("_logpdf", lambda log, *args: np.exp(log(*args))),
    "_pmf": ("_logpmf", lambda log, *args: np.exp(log(*args))),
    "_logpdf": ("_pdf", lambda density, *args: np.log(density(*args))),
    "_logpmf": ("_pmf", lambda mass, *args: np.log(mass(*args))),
    "_sf": ("_cdf", lambda below, *args: 1 - below(*args)),
    "_logcdf": ("_cdf", lambda below, *args: np.log(below(*args))),
    "_logsf": ("_sf", lambda above, *args: np.log(above(*args))),
    "_isf": ("_ppf", lambda quantile, q, *shapes: quantile(1 - q, *shapes)),
}
"""The method by which scipy defines one that a distribution does not have, and how."""
GENERAL = (stats.rv_continuous, stats.rv_discrete, stats.rv_continuous.__mro__[1])


def _of_vectors(method, *args):
    """The result of a method of scipy, which takes vectors of one length."""
    shape = np.broadcast_shapes(*(np.shape(each) for each in args))
    given = [each if np.shape(each) == shape else np.broadcast_to(each, shape) for each in args]
    if len(shape) != 1:
        given = [np.reshape(each, (-1,)) for each in given]
    found = method(*given)
    if len(shape) == 1:
        return found
    return np.reshape(found, shape) if shape else found[0]


def _standard(distribution, name, tried=()):
    """A method of a standard distribution, as a function; None if it has no closed form."""
    own = OWN.get(type(distribution), {})
    if name in own:
        return own[name]
    derived, by = DERIVED.get(name, (None, None))
    if derived not in own and getattr(type(distribution), name) not in (
            vars(kind).get(name) for kind in GENERAL):  # fmt: skip
        return functools.partial(_of_vectors, getattr(distribution, name))
    if derived is None or derived in tried:
        return None
    found = _standard(distribution, derived, (*tried, name))
    return None if found is None else functools.partial(by, found)


# ---- methods of distributions -------------------------------------------------------------


def _found(method, distribution, name):
    found = _standard(distribution, name)
    if found is None:
        refuse_form(
            method,
            f"the distribution {distribution.name!r}, which has no closed form there",
            "differentiate it by quad of its density",
        )
    return found


def _point(distribution, inside, shapes):
    """A point inside of the support."""
    low, high = distribution._get_support(*(plain(each) for each in shapes))
    low, high = np.asarray(low, float), np.asarray(high, float)
    middle = np.where(np.isinf(high), low + 1.0, 0.5 * (low + high))
    middle = np.where(np.isinf(low), np.where(np.isinf(high), 0.0, high - 1.0), middle)
    return np.broadcast_to(middle, np.shape(inside)) if np.shape(inside) else float(middle)


def _between(distribution, x, shapes, scale):
    """Whether parameters are valid, and where points lie: inside of the support, above it."""
    args = tuple(np.asarray(plain(each)) for each in shapes)
    at = np.asarray(plain(x))
    low, high = distribution._get_support(*args)
    valid = distribution._argcheck(*args) & (np.asarray(plain(scale)) > 0)
    return valid & ~np.isnan(at), (at >= low) & (at <= high), at > high


def _masked(distribution, found, x, shapes, scale, below, above):
    """The result of a function of a standard distribution, with constants outside of the
    support."""
    valid, inside, beyond = _between(distribution, x, shapes, scale)
    if np.all(valid & inside):
        return found(x, *shapes)
    outside = np.where(valid, np.where(beyond, above, below), np.nan)
    inside = inside & valid
    if not np.any(inside):
        return outside[()]
    kept = np.where(inside, x, _point(distribution, inside, shapes))
    return np.where(inside, found(kept, *shapes), outside)


def _as_array(x):
    return np.array(x) if type(x) in (list, tuple) else x  # active values are tuples, too


def _parsed(self, x, args, kwds):
    shapes, loc, scale = self._parse_args(*args, **kwds)
    return _as_array(x), tuple(map(_as_array, shapes)), _as_array(loc), _as_array(scale)


def _density(method, name, log):
    def by(self, x, *args, **kwds):
        x, shapes, loc, scale = _parsed(self, x, args, kwds)
        found = _found(method, self, name)
        outside = -np.inf if log else 0.0
        y = _masked(self, found, (x - loc) / scale, shapes, scale, outside, outside)
        return y - np.log(scale) if log else y / scale

    return by


def _probability(method, name, below, above):
    def by(self, x, *args, **kwds):
        x, shapes, loc, scale = _parsed(self, x, args, kwds)
        found = _found(method, self, name)
        return _masked(self, found, (x - loc) / scale, shapes, scale, below, above)

    return by


def _quantile(method, name):
    def by(self, q, *args, **kwds):
        q, shapes, loc, scale = _parsed(self, q, args, kwds)
        return loc + scale * _found(method, self, name)(q, *shapes)

    return by


def _mass(method, name, below, above=None):
    def by(self, k, *args, **kwds):
        k, shapes, loc, _ = _parsed(self, k, args, kwds)
        found = _found(method, self, name)
        k = k - loc
        if above is None:
            whole = np.asarray(plain(k))
            if np.any(whole != np.floor(whole)):
                refuse_form(method, "numbers that are not whole", "round them")
            return _masked(self, found, k, shapes, 1.0, below, below)
        return _masked(self, found, np.floor(k), shapes, 1.0, below, above)

    return by


# ---- distributions of vectors -------------------------------------------------------------


def _log_dirichlet(self, x, alpha):
    self.logpdf(plain(x), plain(alpha))  # raises the errors of scipy
    x, alpha = _as_array(x), _as_array(alpha)
    if np.shape(x)[0] == np.shape(alpha)[0] - 1:
        last = np.expand_dims(1.0 - np.sum(x, axis=0), 0)
        x = np.concatenate((x, last))
    constant = special.gammaln(np.sum(alpha)) - np.sum(special.gammaln(alpha))
    return constant + np.sum(special.xlogy(alpha - 1.0, np.transpose(x)), axis=-1)


def _dirichlet(self, x, alpha):
    return np.exp(_log_dirichlet(self, x, alpha))


def _covariance(cov, count):
    """The covariance as a matrix; of a matrix, as scipy, by its lower triangle."""
    if isinstance(cov, stats.Covariance):
        cov = cov.covariance
    if np.ndim(cov) == 0:
        return cov * np.eye(count)
    if np.ndim(cov) == 1:
        return np.diag(cov)
    return np.tril(cov) + np.transpose(np.tril(cov, -1))


def _log_normal(self, x, mean=None, cov=1, allow_singular=False):
    if not isinstance(cov, stats.Covariance):
        cov = _as_array(cov)
    x, mean = _as_array(x), _as_array(mean)
    self.logpdf(plain(x), plain(mean), plain(cov), allow_singular)  # raises the errors of scipy
    count, given, facts = self._process_parameters(plain(mean), plain(cov), allow_singular)
    if facts.rank < count:
        refuse_form(
            type(self).logpdf, "a singular covariance", "leave out the dimensions without variance"
        )
    matrix = _covariance(cov, count)
    x = x - (given if mean is None else mean)
    if np.ndim(x) == 0:
        x = np.reshape(x, (1,))
    elif np.ndim(x) == 1 and count == 1:
        x = np.expand_dims(x, -1)
    distance = np.sum((x @ np.linalg.inv(matrix)) * x, axis=-1)
    logarithm = np.linalg.slogdet(matrix)[1]
    return -0.5 * (count * 2 * LOG_ROOT_2_PI + logarithm + distance)


def _normal(self, x, mean=None, cov=1, allow_singular=False):
    return np.exp(_log_normal(self, x, mean, cov, allow_singular))


# ---- samples ------------------------------------------------------------------------------


def _unit(*shape):
    return lambda rng: rng.uniform(0.1, 0.9, shape) if shape else float(rng.uniform(0.1, 0.9))


def _of(distribution, x, *shapes, **named):
    """A sample with a distribution, whose shape parameters are drawn."""

    def sample(rng):
        given = [each(rng) if callable(each) else each for each in (x, *shapes)]
        keywords = {name: each(rng) for name, each in named.items()}
        return (distribution, *given, *([keywords] if keywords else []))

    return sample


P = positive
DENSITIES = (
    _of(stats.norm, floats(3), floats(), P()), _of(stats.norm, floats(), loc=floats(3), scale=P(3)),
    _of(stats.t, floats(3), P(3), floats(), P()),
    _of(stats.beta, _unit(3), P(3), P()), _of(stats.gamma, spread(3), P(3), scale=P()),
    _of(stats.chi2, spread(3), P()), _of(stats.expon, spread(3), scale=P()),
    _of(stats.uniform, _unit(3), scale=lambda rng: 2.0),
    _of(stats.lognorm, spread(3), P(3), scale=P()), _of(stats.f, spread(3), P(3), P()),
    _of(stats.laplace, spread(3), scale=P()), _of(stats.logistic, floats(3), floats(), P()),
    _of(stats.cauchy, floats(3), floats(), P()), _of(stats.halfnorm, spread(3), scale=P()),
    _of(stats.invgamma, spread(3), P(), scale=P()), _of(stats.weibull_min, spread(3), P()),
    _of(stats.pareto, lambda rng: rng.uniform(1.5, 3.0, 3), P()),
    _of(stats.gumbel_r, floats(3), floats(), P()),
)  # fmt: skip
PROBABILITIES = (
    _of(stats.norm, floats(3), floats(), P()), _of(stats.t, floats(3), 3, floats(), P()),
    _of(stats.expon, spread(4), scale=P()), _of(stats.lognorm, spread(3), P(3), scale=P()),
    _of(stats.uniform, _unit(3), scale=lambda rng: 2.0),
    _of(stats.logistic, floats(3), floats(), P()), _of(stats.weibull_min, spread(3), P()),
    _of(stats.gumbel_r, floats(3), floats(), P()),
)  # fmt: skip
QUANTILES = (
    _of(stats.norm, _unit(3), floats(), P()), _of(stats.expon, _unit(3), scale=P()),
    _of(stats.lognorm, _unit(3), P(3), scale=P()), _of(stats.logistic, _unit(3), floats(), P()),
    _of(stats.weibull_min, _unit(), P()), _of(stats.uniform, _unit(3), floats(), P()),
)  # fmt: skip
WHOLE = np.array([0, 2, 5])
MASSES = (
    _of(stats.poisson, WHOLE, P(3)), _of(stats.bernoulli, WHOLE // 4, _unit(3)),
    _of(stats.geom, WHOLE + 1, _unit(3)), _of(stats.nbinom, WHOLE, P(), _unit(3)),
    _of(stats.binom, WHOLE, 6, _unit(3)),
)  # fmt: skip
COUNTS = (
    _of(stats.poisson, WHOLE, P(3)),
    _of(stats.geom, WHOLE + 1, _unit(3)),
    _of(stats.nbinom, WHOLE, 3, _unit()),
    _of(stats.binom, WHOLE, 6, _unit(3)),
)


def _definite(rng):
    a = rng.normal(size=(2, 2))
    return a @ a.T + np.eye(2)


def _shares(rng):
    return rng.dirichlet(np.ones(3))


NORMAL, DIRICHLET = type(stats.multivariate_normal), type(stats.dirichlet)
VECTORS = (
    _of(stats.multivariate_normal, floats(2), floats(2), _definite),
    _of(stats.multivariate_normal, floats(3, 2), floats(2), _definite),
    _of(stats.multivariate_normal, floats(3), cov=P()),
    _of(stats.multivariate_normal, floats(2), floats(2), P(2)),
)
# a Dirichlet density is only there on the simplex: its first argument is constant in these samples
SHARES = (lambda rng: (stats.dirichlet, tuple(_shares(rng)[:2]), rng.uniform(0.5, 2.0, 3)),)
CONTINUOUS, DISCRETE = stats.rv_continuous, stats.rv_discrete


def _rows(kind, by, samples, *methods):
    """A row for each method: its name, that of the standard distribution, and further facts."""
    return tuple(
        defined(getattr(kind, name), by(getattr(kind, name), f"_{name}", *facts), *samples)
        for name, *facts in methods
    )


ARRAY_RULES: tuple[ArrayRule, ...] = (
    *_rows(CONTINUOUS, _density, DENSITIES, ("pdf", False), ("logpdf", True)),
    *_rows(CONTINUOUS, _probability, PROBABILITIES, ("cdf", 0.0, 1.0), ("sf", 1.0, 0.0),
           ("logcdf", -np.inf, 0.0), ("logsf", 0.0, -np.inf)),
    *_rows(CONTINUOUS, _quantile, QUANTILES, ("ppf",), ("isf",)),
    *_rows(DISCRETE, _mass, MASSES, ("pmf", 0.0), ("logpmf", -np.inf)),
    *_rows(DISCRETE, _mass, COUNTS, ("cdf", 0.0, 1.0), ("sf", 1.0, 0.0),
           ("logcdf", -np.inf, 0.0), ("logsf", 0.0, -np.inf)),
    defined(DIRICHLET.logpdf, _log_dirichlet, *SHARES),
    defined(DIRICHLET.pdf, _dirichlet, *SHARES),
    defined(NORMAL.logpdf, _log_normal, *VECTORS),
    defined(NORMAL.pdf, _normal, *VECTORS),
)  # fmt: skip
