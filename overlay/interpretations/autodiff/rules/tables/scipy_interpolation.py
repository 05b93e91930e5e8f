"""Rules of the interpolations of ``scipy.interpolate``: by the points where they are evaluated, and
by the values.

An interpolation is a combination of basis functions, those of unit vectors of values: its
coefficients are the values themselves, or with them the slopes that the monotone and the Akima
interpolation compute from them.
"""

import numpy as np
from scipy import interpolate

from overlay import nonoverlay
from overlay.interpretations.autodiff.applying import is_active
from overlay.interpretations.autodiff.errors import refuse_form
from overlay.interpretations.autodiff.plain_values import plain
from overlay.interpretations.autodiff.rules.array_rule import ArrayRule, defined, smooth

__all__ = ["ARRAY_RULES"]


class Combination:
    """An interpolation with active values. basis: the basis functions, as one interpolation of
    several values; values: their coefficients along the first axis; axis: the place in results of
    the axes of the points."""

    def __init__(self, basis, values, axis=0):
        self.basis, self.values, self.axis = basis, values, axis

    def __call__(self, x, nu=0, extrapolate=None):
        if type(x) in (list, tuple):
            x = np.array(x)
        return self._placed(self.basis(x, nu, extrapolate), np.ndim(x))

    def _placed(self, weights, count):
        found = np.tensordot(weights, self.values, 1)
        if not self.axis:
            return found
        return np.moveaxis(found, range(count), range(self.axis, self.axis + count))

    def derivative(self, nu=1):
        """The derivative of the interpolation."""
        return Combination(nonoverlay(self.basis.derivative)(nu), self.values, self.axis)

    def antiderivative(self, nu=1):
        """The integral of the interpolation from its first place."""
        return Combination(nonoverlay(self.basis.antiderivative)(nu), self.values, self.axis)

    def integrate(self, a, b, extrapolate=None):
        """The integral between two points."""
        if is_active(a, b):
            whole = self.antiderivative()
            return whole(b) - whole(a)
        return self._placed(nonoverlay(self.basis.integrate)(a, b, extrapolate), 0)


# ---- interpolations with active values ----------------------------------------------------


def _checked(function, x, bc_type=None):
    if is_active(x):
        refuse_form(function, "active places of the values", "interpolate between fixed places")
    if not (bc_type is None or isinstance(bc_type, str)):
        refuse_form(function, "bc_type= of derivatives", "name the condition")


def _values(y, axis):
    y = np.array(y) if type(y) in (list, tuple) else y
    axis = axis % np.ndim(y)
    return (np.moveaxis(y, axis, 0) if axis else y), axis


@nonoverlay  # arrays that are made in the context are active
def _unit(make, count, *args, **named):
    """The interpolation of unit vectors."""
    return make(plain(args[0]), np.eye(count), *args[1:], **named)


def _cubic(x, y, axis=0, bc_type="not-a-knot", extrapolate=None):
    _checked(interpolate.CubicSpline, x, bc_type)
    if bc_type == "periodic":
        refuse_form(interpolate.CubicSpline, "bc_type='periodic'", "repeat the values instead")
    y, axis = _values(y, axis)
    basis = _unit(interpolate.CubicSpline, len(y), x, bc_type=bc_type, extrapolate=extrapolate)
    return Combination(basis, y, axis)


def _b_spline(t, c, k, extrapolate=True, axis=0):
    _checked(interpolate.BSpline, t)
    c, axis = _values(c, axis)
    return Combination(_unit(interpolate.BSpline, len(c), t, k, extrapolate), c, axis)


def _interpolating(x, y, k=3, t=None, bc_type=None, axis=0, check_finite=True):
    _checked(interpolate.make_interp_spline, (x, t), bc_type)
    if bc_type == "periodic":
        refuse_form(
            interpolate.make_interp_spline, "bc_type='periodic'", "repeat the values instead"
        )
    y, axis = _values(y, axis)
    basis = _unit(interpolate.make_interp_spline, len(y), x, k, t, bc_type)
    return Combination(basis, y, axis)


@nonoverlay
def _hermite(x, extrapolate):
    """The basis of values and slopes."""
    n = len(x)
    values, slopes = np.eye(n, 2 * n), np.eye(n, 2 * n, n)
    return interpolate.CubicHermiteSpline(x, values, slopes, 0, extrapolate)


def _by_slopes(function, slopes, x, y, axis, extrapolate):
    _checked(function, x)
    y, axis = _values(y, axis)
    x = np.asarray(plain(x), float)
    steps = np.reshape(x[1:] - x[:-1], (-1,) + (1,) * (np.ndim(y) - 1))
    both = np.concatenate((y, slopes(steps, (y[1:] - y[:-1]) / steps)))
    return Combination(_hermite(plain(x), extrapolate), both, axis)


def _end_slope(h, k, m, n):
    """The slope at an end, of steps h and k with slopes m and n."""
    found = ((2 * h + k) * m - h * n) / (h + k)
    turned = np.sign(m) != np.sign(n)
    found = np.where(turned & (np.abs(found) > 3 * np.abs(m)), 3 * m, found)
    return np.where(np.sign(found) != np.sign(m), 0.0, found)


def _monotone(h, m):
    if len(m) == 1:
        return np.concatenate((m, m))
    flat = m[1:] * m[:-1] <= 0
    w, v = 2 * h[1:] + h[:-1], h[1:] + 2 * h[:-1]
    before, after = np.where(flat, 1.0, m[:-1]), np.where(flat, 1.0, m[1:])
    inner = np.where(flat, 0.0, (w + v) / (w / before + v / after))
    first = _end_slope(h[:1], h[1:2], m[:1], m[1:2])
    last = _end_slope(h[-1:], h[-2:-1], m[-1:], m[-2:-1])
    return np.concatenate((first, inner, last))


def _akima_slopes(method):
    def slopes(h, m):
        if len(m) == 1:
            return np.concatenate((m, m))
        before, after = 2 * m[:1] - m[1:2], 2 * m[-1:] - m[-2:-1]
        every = np.concatenate((2 * before - m[:1], before, m, after, 2 * after - m[-1:]))
        sizes = np.abs(every[1:] - every[:-1])
        if method == "makima":
            sizes = sizes + 0.5 * np.abs(every[1:] + every[:-1])
        first, second = sizes[2:], sizes[:-2]
        both = first + second
        usual = both > 1e-9 * np.max(plain(both), initial=-np.inf)
        mean = (first * every[1:-2] + second * every[2:-1]) / np.where(usual, both, 1.0)
        middle = 0.0 if method == "makima" else 0.5 * (every[3:] + every[:-3])
        return np.where(usual, mean, middle)

    return slopes


def _pchip(x, y, axis=0, extrapolate=None):
    return _by_slopes(interpolate.PchipInterpolator, _monotone, x, y, axis, extrapolate)


def _akima(x, y, axis=0, *, method="akima", extrapolate=None):
    slopes = _akima_slopes(method)
    return _by_slopes(
        interpolate.Akima1DInterpolator, slopes, x, y, axis, bool(extrapolate))  # fmt: skip


def _smoothing(*args, **named):
    refuse_form(interpolate.splrep, "active places or values", "call make_interp_spline")


# ---- points -------------------------------------------------------------------------------


def _axis(self):
    return getattr(self, "axis", 0)


def _points_forward(t, ret, self, x, nu=0, *more):
    slope, start = self(x, nu + 1, *more), _axis(self)
    after = np.ndim(slope) - start - np.ndim(t)
    return slope * np.reshape(t, (1,) * start + np.shape(t) + (1,) * after)


def _points_back(d, ret, self, x, nu=0, *more):
    products, start = d * self(x, nu + 1, *more), _axis(self)
    own = range(start, start + np.ndim(x))
    return np.sum(products, axis=tuple(i for i in range(np.ndim(products)) if i not in own))


def _evaluated(x, tck, der=0, ext=0):
    """The derivative of a spline, which is zero above its degree."""
    if type(tck) not in (tuple, list):
        return tck(x, der + 1, extrapolate=ext == 0)
    if der + 1 > tck[2]:
        return np.zeros(np.shape(x))
    return interpolate.splev(x, tck, der + 1, ext)


def _splev_forward(t, ret, x, tck, der=0, ext=0):
    return _evaluated(x, tck, der, ext) * t


# ---- samples ------------------------------------------------------------------------------

PLACES = np.array([0.0, 0.4, 1.1, 1.6, 2.2, 3.0])


def _points(make, *shape):
    def sample(rng):
        spline = make(PLACES, np.sin(PLACES * np.pi) + PLACES)
        return spline, rng.uniform(0.1, 2.9, shape) if shape else float(rng.uniform(0.1, 2.9))

    return sample


def _columns(x, y):
    return interpolate.CubicSpline(x, np.stack([y, y * y], -1))


def _rows(x, y):
    return interpolate.CubicSpline(x, np.stack([y, y * y]), axis=1)


def _spline_values(rng):
    return rng.uniform(0.1, 2.9, 3), interpolate.splrep(PLACES, np.cos(PLACES))


def _by_points(function, parameters, *samples):
    """The row of a method that evaluates an interpolation."""
    maps = (_points_forward, _points_back)
    return smooth(function, *maps, *samples, data=("x",), parameters=parameters)


# fmt: off
ARRAY_RULES: tuple[ArrayRule, ...] = (
    defined(interpolate.CubicSpline, _cubic),
    defined(interpolate.BSpline, _b_spline),
    defined(interpolate.make_interp_spline, _interpolating),
    defined(interpolate.splrep, _smoothing),
    defined(interpolate.PchipInterpolator, _pchip),
    defined(interpolate.Akima1DInterpolator, _akima),
    _by_points(interpolate.PPoly.__call__, "self, x, nu=0, extrapolate=None",
               _points(interpolate.CubicSpline, 3), _points(interpolate.PchipInterpolator, 2, 2),
               _points(interpolate.CubicSpline), _points(_columns, 3), _points(_rows, 3)),
    _by_points(interpolate.BSpline.__call__, "self, x, nu=0, extrapolate=None",
               _points(interpolate.make_interp_spline, 3),
               _points(interpolate.make_interp_spline)),
    _by_points(interpolate.UnivariateSpline.__call__, "self, x, nu=0, ext=None",
               _points(interpolate.UnivariateSpline, 3)),
    smooth(interpolate.splev, _splev_forward, _splev_forward, _spline_values, data=("x",),
           parameters="x, tck, der=0, ext=0"),
)
# fmt: on
