"""Rules of integrals and of solutions of differential equations.

An integral is differentiated by the nodes of its Gauss-Kronrod formulas, on the intervals that
``quad`` has chosen for the plain integrand. The solution of a differential equation is computed
again with active values, on the steps that a plain run of a Runge-Kutta method has chosen: so
derivatives are those of the steps themselves, in both modes. Results keep the values that scipy
found; where those of the rule differ by more than the tolerances allow, the call is refused.
"""

import numpy as np
from scipy import integrate

from overlay.interpretations.autodiff.applying import is_active
from overlay.interpretations.autodiff.duals import Active
from overlay.interpretations.autodiff.errors import refuse_form
from overlay.interpretations.autodiff.plain_values import plain, plainly
from overlay.interpretations.autodiff.rules.array_rule import (
    ArrayRule,
    calling,
    defined,
)

__all__ = ["ARRAY_RULES"]

# of the formula of 21 nodes (Piessens et al., QUADPACK, 1983)
NODES = np.array([
    0.995657163025808080735527280689003, 0.973906528517171720077964012084452,
    0.930157491355708226001207180059508, 0.865063366688984510732096688423493,
    0.780817726586416897063717578345042, 0.679409568299024406234327365114874,
    0.562757134668604683339000099272694, 0.433395394129247190799265943165784,
    0.294392862701460198131126603103866, 0.14887433898163121088482600112972, 0.0,
])  # fmt: skip
WEIGHTS = np.array([
    0.011694638867371874278064396062192, 0.03255816230796472747881897245939,
    0.05475589657435199603138130024458, 0.07503967481091995276704314091619,
    0.093125454583697605535065465083366, 0.109387158802297641899210590325805,
    0.123491976262065851077958109585166, 0.134709217311473325928054001771707,
    0.142775938577060080797094273138717, 0.147739104901338491374841515972068,
    0.149445554002916905664936468389821,
])  # fmt: skip
WORSE = 1e-6
"""The relative difference from scipy's value from which a call is refused."""


def _checked(function, found, value, scale=None):
    """A result with the value that scipy found."""
    difference = np.max(np.abs(np.asarray(plain(found)) - value))
    size = np.max(np.abs(value)) if scale is None else scale
    if not difference <= WORSE * (1.0 + size):
        refuse_form(
            function,
            f"a result that its derivative's steps miss by {difference:.1e}",
            "choose smaller tolerances, or split the range at singularities",
        )
    return found + (value - plain(found))


# ---- integrals ----------------------------------------------------------------------------


def _quad(run, func, a, b, args=(), full_output=0, **named):
    args = args if isinstance(args, tuple) else (args,)
    low, high = plain(a), plain(b)
    found = integrate.quad(plainly(run, func), low, high, args, 1, **named)
    value, facts = found[0], found[2]
    rest = found[1:] if full_output else (found[1],)
    middle = 0.5 if np.isinf(low) and np.isinf(high) else low if np.isinf(high) else high
    tried = run(func, middle if np.isfinite(middle) else 0.0, *args)
    if not (isinstance(tried, Active) or is_active(a, b)):
        return (value, *rest)
    if named.get("weight") or named.get("points") is not None or named.get("complex_func"):
        refuse_form(integrate.quad, "weight=, points= or complex_func=", "split the integral")
    turned = high < low  # as scipy turns it
    if turned:
        a, b, low, high = b, a, high, low
    count = facts["last"]
    pieces = zip(facts["alist"][:count], facts["blist"][:count], strict=True)
    total = 0.0
    for start, end in pieces:
        for x, weight in _nodes(start, end):
            total = total + _term(run, func, args, (a, b), (low, high), x, weight)
    return (_checked(integrate.quad, -total if turned else total, value), *rest)


def _nodes(start, end):
    half, centre = 0.5 * (end - start), 0.5 * (start + end)
    for node, weight in zip(NODES, WEIGHTS, strict=True):
        yield centre + half * node, half * weight
        if node:
            yield centre - half * node, half * weight


def _term(run, func, args, bounds, plain_bounds, x, weight):
    """The value at a node times its weight. On infinite ranges x is QUADPACK's variable between 0
    and 1."""
    (a, b), (low, high) = bounds, plain_bounds
    if np.isfinite(low) and np.isfinite(high):
        if not is_active(a, b):
            return weight * run(func, x, *args)
        stretch = (b - a) / (high - low)
        return weight * stretch * run(func, a + stretch * (x - low), *args)
    far, slope = (1.0 - x) / x, 1.0 / (x * x)
    if np.isinf(low) and np.isinf(high):
        return weight * slope * (run(func, far, *args) + run(func, -far, *args))
    return weight * slope * run(func, a + far if np.isinf(high) else b - far, *args)


# ---- differential equations ---------------------------------------------------------------


def _step(run, f, method, t, y, h, first):
    """One step of an explicit Runge-Kutta method, and the slope at its end."""
    slopes = [first]
    for row, c in zip(method.A[1 : method.n_stages], method.C[1 : method.n_stages], strict=True):
        change = 0.0
        for a, slope in zip(row, slopes, strict=False):
            if a:
                change = change + a * slope
        slopes.append(_slopes(run, f, t + c * h, y + h * change))
    total = 0.0
    for b, slope in zip(method.B, slopes, strict=True):
        if b:
            total = total + b * slope
    return y + h * total


def _slopes(run, f, t, y):
    return run(_as_array, f, t, y)


def _as_array(f, t, y):
    found = f(t, y)
    return np.asarray(found) if type(found) in (list, tuple) else found


def _along(run, f, y0, times, method, rtol, atol, max_step=np.inf):
    """The solution at some times, the first of them that of y0."""
    start = np.asarray(plain(y0), float)
    steps = method(plainly(run, f), times[0], start, times[-1], rtol=rtol, atol=atol,
                   max_step=max_step)  # fmt: skip
    grid = [times[0]]
    while steps.status == "running":
        steps.step()
        grid.append(steps.t)
    if steps.status != "finished":
        return None
    sign = 1.0 if times[-1] >= times[0] else -1.0
    every = sorted({*grid, *times}, key=lambda t: sign * t)
    wanted, found = set(times), {}
    y = run(np.asarray, y0) if type(y0) in (list, tuple) else y0
    y = y + np.zeros(np.shape(start))
    for k, t in enumerate(every):
        if t in wanted:
            found[t] = y
        if k + 1 < len(every):
            y = _step(run, f, method, t, y, every[k + 1] - t, _slopes(run, f, t, y))
    return [found[t] for t in times]


def _depends(run, f, t, y0):
    return is_active(y0) or isinstance(_slopes(run, f, t, np.asarray(plain(y0), float)), Active)


def _solve_ivp(run, fun, t_span, y0, method="RK45", t_eval=None, dense_output=False, events=None,
               vectorized=False, args=None, **options):  # fmt: skip
    more = tuple(args) if args is not None else ()
    t_span, t_eval = plain(t_span), plain(t_eval)
    if options.get("jac") is not None and callable(options["jac"]):
        options["jac"] = plainly(run, options["jac"])
    watched = events if events is None or callable(events) else list(events)
    found = integrate.solve_ivp(
        plainly(run, fun), t_span, np.asarray(plain(y0)), method, t_eval, dense_output, watched,
        vectorized, more or None, **options)  # fmt: skip

    def f(t, y):
        return fun(t, y, *more)

    if not found.success or not _depends(run, f, t_span[0], y0):
        return found
    if events is not None or dense_output or vectorized:
        refuse_form(
            integrate.solve_ivp, "events=, dense_output= or vectorized=", "pass t_eval instead"
        )
    known = {"RK45": integrate.RK45, "RK23": integrate.RK23, "DOP853": integrate.DOP853}
    own = known.get(method, integrate.DOP853)
    times = [float(t) for t in found.t]
    ahead = times if times[0] == t_span[0] else [float(t_span[0]), *times]
    tolerances = options.get("rtol", 1e-3), options.get("atol", 1e-6)
    columns = _along(run, f, y0, ahead, own, *tolerances, options.get("max_step", np.inf))
    if columns is None:
        refuse_form(integrate.solve_ivp, "steps that an explicit method cannot take", "shorten it")
    columns = columns[-len(times) :]
    y = run(np.stack, columns, -1)
    found.y = y + (found.y - plain(y))
    return found


def _odeint(run, func, y0, t, args=(), Dfun=None, full_output=0, tfirst=False,  # noqa: N803
            rtol=None, atol=None, **named):  # fmt: skip
    args = args if isinstance(args, tuple) else (args,)
    times = np.asarray(plain(t), float)
    slope = Dfun and plainly(run, Dfun)

    def f(t, y):
        return func(t, y, *args) if tfirst else func(y, t, *args)

    found = integrate.odeint(
        plainly(run, lambda t, y: f(t, y)), np.asarray(plain(y0), float), times, (), slope,
        full_output=full_output, tfirst=True, rtol=rtol, atol=atol, **named)  # fmt: skip
    if not _depends(run, f, times[0], y0):
        return found
    values = found[0] if full_output else found
    start = y0 if np.ndim(plain(y0)) else run(np.asarray, [y0])
    near = 1.49012e-8
    rows = _along(run, f, start, [float(each) for each in times], integrate.DOP853,
                  near if rtol is None else rtol, near if atol is None else atol)  # fmt: skip
    if rows is None:
        refuse_form(integrate.odeint, "steps that an explicit method cannot take", "shorten it")
    y = _checked(integrate.odeint, run(np.stack, rows), values)
    return (y, found[1]) if full_output else y


# ---- samples of functions -----------------------------------------------------------------


def _spaces(y, x, dx, axis):
    """The distances between samples, in a shape that fits those along an axis."""
    if x is None:
        return dx
    x = x if isinstance(x, np.ndarray) else np.asarray(x)
    low, high = _parts(x, -1 if np.ndim(x) == 1 else axis)
    spaces = high - low
    if np.ndim(x) == 1:
        shape = [1] * np.ndim(y)
        shape[axis] = -1
        spaces = np.reshape(spaces, shape)
    return spaces


def _parts(y, axis):
    """Samples without the last, and without the first, along an axis."""
    all_but = [slice(None)] * np.ndim(y)
    first, last = list(all_but), list(all_but)
    first[axis], last[axis] = slice(None, -1), slice(1, None)
    return y[tuple(first)], y[tuple(last)]


def _trapezoid(y, x=None, dx=1.0, axis=-1):
    y = y if isinstance(y, np.ndarray) else np.asarray(y)
    low, high = _parts(y, axis)
    return np.sum(_spaces(y, x, dx, axis) * (low + high) * 0.5, axis=axis)


def _array(*shape, **named):
    return lambda rng: (rng.normal(size=shape), *([named] if named else []))


def _spaced(*shape, **named):
    return lambda rng: (
        rng.normal(size=shape), np.cumsum(rng.uniform(0.5, 1.0, shape[-1])),
        *([named] if named else []))  # fmt: skip


ARRAY_RULES: tuple[ArrayRule, ...] = (
    calling(integrate.quad, _quad),
    calling(integrate.solve_ivp, _solve_ivp),
    calling(integrate.odeint, _odeint),
    defined(integrate.trapezoid, _trapezoid, _array(5), _spaced(5), _spaced(2, 4),
            _array(3, 4, axis=0, dx=0.5)),
)  # fmt: skip
