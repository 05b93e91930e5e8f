"""Rules of roots, minima and fits, by the implicit function theorem.

The search runs with plain values. From the solution, chord steps with active values give the
derivatives: one step gives the first, and each further one those of one more order, which nested
derivatives ask for. A minimum is a root of the gradient; a variable at a bound stays there.
Where the Jacobian is singular, derivatives are nan.
"""

import numpy as np
from scipy import optimize

from overlay.interpretations.autodiff.applying import is_active
from overlay.interpretations.autodiff.duals import Active
from overlay.interpretations.autodiff.errors import refuse_form
from overlay.interpretations.autodiff.plain_values import plain, plainly
from overlay.interpretations.autodiff.rules.array_rule import (
    ArrayRule,
    calling,
    rearranging,
)
from overlay.interpretations.autodiff.rules.tables.linear_algebra import inverse
from overlay.interpretations.autodiff.transformations import gradient, jacobian

__all__ = ["ARRAY_RULES"]

AT_A_BOUND = 1e-7
"""The distance from a bound at which a variable counts as being there, relative to its size."""


def _depth(y):
    """The number of levels of an active value."""
    depth = 0
    while isinstance(y, Active):
        y, depth = y.value, depth + 1
    return depth


def _implied(run, f, x):
    """The root x of f, active where f holds active values."""

    def of(x):
        y = f(x)
        return np.asarray(y) if type(y) in (list, tuple) else y

    first = run(of, x)
    depth = _depth(first)
    if not depth:
        return x
    slope = plain(run(jacobian(of, mode="forward"), x))
    rest = plain(first)
    found = x
    for step in range(depth):
        y = (first if step == 0 else run(of, found)) - rest
        if np.ndim(slope) == 2:
            found = found - inverse(slope) @ y
        else:
            found = found - y / slope if slope else found + y * np.nan
    return found


def _with_args(f, args, named=()):
    args = args if isinstance(args, tuple) else (args,)
    return lambda x: f(x, *args, **dict(named))


# ---- roots --------------------------------------------------------------------------------


def _bracketing(search):
    def by(run, f, a, b, args=(), **named):
        found = search(plainly(run, f), plain(a), plain(b), args, **named)
        if isinstance(found, tuple):
            return (_implied(run, _with_args(f, args), found[0]), found[1])
        return _implied(run, _with_args(f, args), found)

    return by


def _newton(run, func, x0, fprime=None, args=(), tol=1.48e-08, maxiter=50, fprime2=None, x1=None,
            rtol=0.0, full_output=False, disp=True):  # fmt: skip
    found = optimize.newton(
        plainly(run, func), plain(x0), fprime and plainly(run, fprime), args, tol, maxiter,
        fprime2 and plainly(run, fprime2), plain(x1), rtol, full_output, disp)  # fmt: skip
    x = found[0] if isinstance(found, tuple) else found
    if np.ndim(x):
        refuse_form(optimize.newton, "arrays of roots", "call it for each root")
    x = _implied(run, _with_args(func, args), float(x))
    return (x, *found[1:]) if isinstance(found, tuple) else x


def _root_scalar(run, f, args=(), method=None, bracket=None, fprime=None, fprime2=None, x0=None,
                 x1=None, **named):  # fmt: skip
    if fprime is True or fprime2 is True:
        refuse_form(optimize.root_scalar, "fprime=True", "pass the derivative as a function")
    found = optimize.root_scalar(
        plainly(run, f), args, method, plain(bracket), fprime and plainly(run, fprime),
        fprime2 and plainly(run, fprime2), plain(x0), plain(x1), **named)  # fmt: skip
    found.root = _implied(run, _with_args(f, args), found.root)
    return found


def _root(run, fun, x0, args=(), method="hybr", jac=None, **named):
    if jac is True:
        refuse_form(optimize.root, "jac=True", "pass the Jacobian as a function")
    jac = plainly(run, jac) if callable(jac) else jac
    found = optimize.root(plainly(run, fun), _start(x0), args, method, jac, **named)
    found.x = _implied(run, _with_args(fun, args), found.x)
    return found


def _start(x0):
    """A start, which has no influence on derivatives."""
    x0 = plain(x0)
    return np.array(x0) if isinstance(x0, np.ndarray) else x0


def _fsolve(run, func, x0, args=(), fprime=None, full_output=0, **named):
    fprime = fprime and plainly(run, fprime)
    found = optimize.fsolve(plainly(run, func), _start(x0), args, fprime, full_output, **named)
    x = _implied(run, _with_args(func, args), found[0] if full_output else found)
    return (x, *found[1:]) if full_output else x


def _fixed_point(run, func, x0, args=(), **named):
    found = optimize.fixed_point(plainly(run, func), _start(x0), args, **named)
    x = found if np.ndim(found) else float(found)
    return _implied(run, lambda x: func(x, *args) - x, x)


# ---- minima -------------------------------------------------------------------------------


def _stationary(run, h, x, low=None, high=None):
    """The minimum x of h, active where h holds active values."""
    if not isinstance(run(h, x), Active):
        return x
    slopes = gradient(h)
    if low is None and high is None:
        return _implied(run, slopes, x)
    near = AT_A_BOUND * (1.0 + np.abs(x))
    free = np.asarray((x - low > near) & (high - x > near))
    if not np.ndim(x):
        return _implied(run, slopes, x) if free else x
    if not np.any(free):
        return x
    spread = np.eye(len(x))[:, free]
    still = np.where(free, 0.0, x)
    moved = _implied(run, lambda z: slopes(still + spread @ z)[free], x[free])
    return still + spread @ moved


def _bounds(bounds, count, function):
    if bounds is None:
        return None, None
    if is_active(bounds):
        refuse_form(function, "active bounds", "pass plain numbers as bounds")
    if isinstance(bounds, optimize.Bounds):
        return np.broadcast_to(bounds.lb, count), np.broadcast_to(bounds.ub, count)
    pairs = [[-np.inf if low is None else low, np.inf if high is None else high]
             for low, high in bounds]  # fmt: skip
    return tuple(np.array(pairs, dtype=float).T)


def _minimize(run, fun, x0, args=(), method=None, jac=None, hess=None, hessp=None, bounds=None,
              constraints=(), tol=None, callback=None, options=None):  # fmt: skip
    given, value = fun, fun
    if jac is True:

        def value(x, *rest):
            return given(x, *rest)[0]

    slope = plainly(run, jac) if callable(jac) else jac
    second = plainly(run, hess) if callable(hess) else hess
    product = hessp and plainly(run, hessp)
    found = optimize.minimize(
        plainly(run, fun), _start(x0), args, method, slope, second, product, bounds, constraints,
        tol, callback, options)  # fmt: skip
    h = _number(_with_args(value, args))
    if constraints and isinstance(run(h, found.x), Active):
        refuse_form(optimize.minimize, "constraints", "solve the conditions of a minimum by root")
    found.x = _stationary(run, h, found.x, *_bounds(bounds, len(found.x), optimize.minimize))
    found.fun = run(h, found.x)
    return found


def _number(h):
    """A function whose result may be an array of one number."""

    def of(x):
        y = h(x)
        return np.sum(y) if np.ndim(y) else y

    return of


def _minimize_scalar(run, fun, bracket=None, bounds=None, args=(), method=None, **named):
    found = optimize.minimize_scalar(
        plainly(run, fun), plain(bracket), bounds, args, method, **named
    )
    h = _with_args(fun, args)
    low, high = (None, None) if bounds is None else bounds
    found.x = _stationary(run, h, float(found.x), low, high)
    found.fun = run(h, found.x)
    return found


def _least_squares(run, fun, x0, jac="2-point", bounds=(-np.inf, np.inf), args=(),
                   kwargs=None, loss="linear", **named):  # fmt: skip
    if loss != "linear":
        refuse_form(optimize.least_squares, "a loss that is not linear", "minimize the loss")
    named_too = kwargs or {}
    jac = plainly(run, jac) if callable(jac) else jac
    found = optimize.least_squares(
        plainly(run, fun), _start(x0), jac, bounds, args=args, kwargs=named_too, **named
    )
    residuals = _with_args(fun, args, named_too)

    def h(x):
        r = np.asarray(residuals(x))
        return 0.5 * np.sum(r * r)

    if isinstance(bounds, tuple):
        low, high = (np.broadcast_to(np.asarray(b, float), len(found.x)) for b in bounds)
        if np.all(np.isinf(low)) and np.all(np.isinf(high)):
            low = high = None
    else:
        low, high = _bounds(bounds, len(found.x), optimize.least_squares)
    found.x = _stationary(run, h, found.x, low, high)
    found.cost = run(h, found.x)
    found.fun = run(residuals, found.x)
    return found


def _curve_fit(run, f, xdata, ydata, p0=None, sigma=None, absolute_sigma=False, **named):
    if sigma is not None and (is_active(sigma) or np.ndim(sigma) > 1):
        refuse_form(optimize.curve_fit, "this sigma", "pass a plain array of deviations")
    if named.get("bounds") is not None or named.get("full_output"):
        refuse_form(optimize.curve_fit, "bounds or full_output", "call least_squares")
    jac = named.pop("jac", None)
    jac = plainly(run, jac) if callable(jac) else jac
    count = {} if p0 is not None else {"p0": np.ones(_parameters(f))}
    starts = {"p0": _start(p0)} if p0 is not None else count
    fitted, spread = optimize.curve_fit(
        plainly(run, f), plain(xdata), plain(ydata), sigma=sigma, absolute_sigma=absolute_sigma,
        jac=jac, **starts, **named)  # fmt: skip
    weights = 1.0 if sigma is None else 1.0 / np.asarray(sigma, float)

    def residuals(p):
        return (f(xdata, *[p[i] for i in range(len(fitted))]) - ydata) * weights

    def h(p):
        r = residuals(p)
        return 0.5 * np.sum(r * r)

    found = _stationary(run, h, fitted)
    if not isinstance(found, Active):
        return found, spread

    def covariance(p):
        slopes = jacobian(residuals, mode="forward")(p)
        inverted = np.linalg.inv(slopes.T @ slopes)
        m, n = slopes.shape
        return inverted if absolute_sigma or m <= n else inverted * (2.0 * h(p) / (m - n))

    cov = run(covariance, found)
    return found, cov + (spread - plain(cov))


def _parameters(f):
    code = f.__code__
    return code.co_argcount - 1


ARRAY_RULES: tuple[ArrayRule, ...] = (
    *(
        calling(search, _bracketing(search))
        for search in (
            *(optimize.brentq, optimize.brenth, optimize.bisect, optimize.ridder),
            optimize.toms748,
        )
    ),
    calling(optimize.newton, _newton),
    calling(optimize.root_scalar, _root_scalar),
    calling(optimize.root, _root),
    calling(optimize.fsolve, _fsolve),
    calling(optimize.fixed_point, _fixed_point),
    calling(optimize.minimize, _minimize),
    calling(optimize.minimize_scalar, _minimize_scalar),
    calling(optimize.least_squares, _least_squares),
    calling(optimize.curve_fit, _curve_fit),
    rearranging(
        optimize.linear_sum_assignment,
        data=("cost_matrix",),
        parameters="cost_matrix, maximize=False",
    ),
)
