"""Rules of integrals and of solutions of differential equations.

An integral is differentiated by the nodes of its Gauss-Kronrod formulas, on the intervals that
``quad`` has chosen for the plain integrand. The solution of a differential equation is computed
again with active values, on the steps that a plain run of a Runge-Kutta method has chosen, and
interpolated as that does: so derivatives are those of the steps themselves, in both modes. Results
keep the values that scipy found; where those of the rule differ by more than the tolerances allow,
the call is refused.
"""

from contextlib import contextmanager
from itertools import pairwise

import numpy as np
from scipy import integrate

from overlay.interpretations.autodiff.applying import is_active, levels_of
from overlay.interpretations.autodiff.duals import Active
from overlay.interpretations.autodiff.errors import refuse_form
from overlay.interpretations.autodiff.plain_values import plain, plainly
from overlay.interpretations.autodiff.rules.array_rule import (
    ArrayRule,
    calling,
    defined,
)
from overlay.interpretations.autodiff.tangent_table import OtherLevel, table_of

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


@contextmanager
def _lent(f):
    """A function that holds f only for a while: solvers are cycles of objects, which would keep the
    active values in f until garbage is collected."""
    held = [f]

    def of(*args):
        return held[0](*args)

    try:
        yield of
    finally:
        held.clear()


def _steps(method, f, y0, start, end, options):
    """The times between steps of a solver."""
    with _lent(f) as fun:
        solver = method(fun, start, y0, end, **options)
        grid = [start]
        while solver.status == "running":
            solver.step()
            grid.append(solver.t)
        return grid if solver.status == "finished" else None


def _padded(weights, count):
    return np.pad(weights, (0, count - len(weights)))


def _weights(method, x):
    """The multiples of the slopes of a step whose sum, times the step, is the change at the part x
    of the step, by the method's interpolation."""
    if x == 1.0:
        return method.B
    if method is not integrate.DOP853:
        return method.P @ x ** np.arange(1.0, method.P.shape[1] + 1)
    count = method.A_EXTRA.shape[1]
    change, first, last = _padded(method.B, count), np.zeros(count), np.zeros(count)
    first[0] = last[method.n_stages] = 1.0
    terms = [change, first - change, 2 * change - last - first, *method.D]
    found = np.zeros(count)
    for i, term in enumerate(reversed(terms)):
        found = (found + term) * (x if i % 2 == 0 else 1 - x)
    return found


def _replayed(run, f, method, y0, grid, times, table):
    """The solution at some times, by the steps between the times of a grid, of y0 with all its
    tangents in a table."""
    y = table.row(y0)
    slopes = table.rows(
        method.A_EXTRA.shape[1] if method is integrate.DOP853 else len(method.B) + 1
    )
    table.fill(slopes, 0, run(f, grid[0], table.value(y)))
    found, sign, place = [], 1.0 if grid[-1] >= grid[0] else -1.0, 0
    while place < len(times) and times[place] == grid[0]:
        found.append(table.value(y))
        place += 1

    def stage(k, weights, t):
        at = table.sum(y, weights, slopes)
        table.fill(slopes, k, run(f, t, table.value(at)))
        return at

    for t, end in pairwise(grid):
        h = end - t
        for k in range(1, method.n_stages):
            stage(k, h * method.A[k, :k], t + method.C[k] * h)
        after = stage(method.n_stages, h * method.B, end)
        inside = []
        while place < len(times) and sign * times[place] <= sign * end:
            inside.append((times[place] - t) / h if times[place] != end else 1.0)
            place += 1
        if method is integrate.DOP853 and any(x != 1.0 for x in inside):
            extra = zip(method.A_EXTRA, method.C_EXTRA, strict=True)
            for k, (row, c) in enumerate(extra, method.n_stages + 1):
                stage(k, h * row[:k], t + c * h)
        for x in inside:
            found.append(table.value(table.sum(y, h * _weights(method, x), slopes)))
        y = after
        table.move(slopes, method.n_stages, 0)
    return found


def _along(run, f, method, y0, grid, times):
    """The solution at some times, by steps between the times of a grid."""
    shape = np.shape(plain(y0))
    levels = levels_of(y0)
    while True:
        try:
            return _replayed(run, f, method, y0, grid, times, table_of(levels, shape))
        except OtherLevel as found:
            levels |= found.levels


def _with_args(event, args):
    """An event without further arguments."""

    def of(t, y):
        return event(t, y, *args)

    of.__dict__.update(event.__dict__)  # whether it is terminal, and its direction
    return of


def _depends(run, f, t, y0):
    return is_active(y0) or is_active(run(f, t, np.asarray(plain(y0), float)))


EXPLICIT = {"RK45": integrate.RK45, "RK23": integrate.RK23, "DOP853": integrate.DOP853}


def _solve_ivp(run, fun, t_span, y0, method="RK45", t_eval=None, dense_output=False, events=None,
               vectorized=False, args=None, **options):  # fmt: skip
    more = tuple(args) if args is not None else ()
    t_span, t_eval = plain(t_span), plain(t_eval)
    watched = events if events is None or callable(events) else list(events)
    start = np.asarray(plain(y0))
    own = EXPLICIT.get(method)

    def f(t, y):
        return fun(t, y, *more)

    depends = _depends(run, f, t_span[0], y0)
    jac = options.get("jac")
    if callable(jac):
        options["jac"] = plainly(run, lambda t, y: jac(t, y, *more))
    if events is not None and more:
        watched = [_with_args(each, more) for each in ([events] if callable(events) else events)]
    with _lent(plainly(run, f)) as lent:
        found = integrate.solve_ivp(
            lent, t_span, start, method, t_eval, dense_output or (depends and own is not None),
            watched, vectorized, **options)  # fmt: skip
    if not found.success or not depends:
        return found
    if events is not None or dense_output:
        refuse_form(integrate.solve_ivp, "events=, dense_output=True", "pass t_eval instead")
    if own is not None:
        grid, found.sol = [float(t) for t in found.sol.ts], None
    else:
        known = {k: options[k] for k in ("rtol", "atol", "max_step") if k in options}
        grid = _steps(integrate.DOP853, plainly(run, f), start.astype(float), *t_span, known)
    if grid is None:
        refuse_form(integrate.solve_ivp, "steps that an explicit method cannot take", "shorten it")
    columns = _along(run, f, own or integrate.DOP853, y0, grid, [float(t) for t in found.t])
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

    first = np.asarray(plain(y0), float)
    with _lent(plainly(run, f)) as lent:
        found = integrate.odeint(
            lent, first, times, (), slope, full_output=full_output, tfirst=True, rtol=rtol,
            atol=atol, **named)  # fmt: skip
    if not _depends(run, f, times[0], y0):
        return found
    values = found[0] if full_output else found
    y0 = y0 if np.ndim(plain(y0)) else run(np.asarray, [y0])
    near = 1.49012e-8
    tolerances = {"rtol": near if rtol is None else rtol, "atol": near if atol is None else atol}
    start = np.atleast_1d(first)
    grid = _steps(integrate.DOP853, plainly(run, f), start, times[0], times[-1], tolerances)
    if grid is None:
        refuse_form(integrate.odeint, "steps that an explicit method cannot take", "shorten it")
    rows = _along(run, f, integrate.DOP853, y0, grid, times.tolist())
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


def _simpson_of_odd(y, h):
    """The integral by an odd number of samples."""
    first, second = h[..., 0::2], h[..., 1::2]
    both, ratio = first + second, first / second
    middle = both * both / (first * second)
    terms = y[..., :-2:2] * (2 - 1 / ratio) + y[..., 1::2] * middle + y[..., 2::2] * (2 - ratio)
    return np.sum(both * terms, axis=-1) / 6


def _samples(y, x, dx, axis):
    """Samples along the last axis, and the distances between them."""
    y = np.moveaxis(y if isinstance(y, np.ndarray) else np.asarray(y), axis, -1)
    if x is None:
        return y, dx * np.ones(np.shape(y)[-1] - 1)
    x = x if isinstance(x, np.ndarray) else np.asarray(x)
    return y, np.diff(x if np.ndim(x) == 1 else np.moveaxis(x, axis, -1))


def _simpson(y, x=None, dx=1.0, axis=-1):
    y, h = _samples(y, x, dx, axis)
    count = np.shape(y)[-1]
    if count % 2:
        return _simpson_of_odd(y, h)
    if count == 2:
        return 0.5 * h[..., 0] * (y[..., 0] + y[..., 1])
    a, b = h[..., -2], h[..., -1]
    last = (2 * b * b + 3 * a * b) / (6 * (a + b)) * y[..., -1]
    last = last + (b * b + 3 * a * b) / (6 * a) * y[..., -2]
    last = last - b**3 / (6 * a * (a + b)) * y[..., -3]
    return _simpson_of_odd(y[..., :-1], h[..., :-1]) + last


def _first_of_two(y, h):
    """The integral between each sample and the next, by the parabola through three."""
    a, both = h[..., :-1], h[..., :-1] + h[..., 1:]
    third = a * a / (both * h[..., 1:])
    terms = (3 - a / both) * y[..., :-2] + (3 + third + a / both) * y[..., 1:-1]
    return a / 6 * (terms - third * y[..., 2:])


def _cumulative_simpson(y, *, x=None, dx=1.0, axis=-1, initial=None):
    count = np.shape(y)[axis]
    if count < 3:
        return integrate.cumulative_trapezoid(y, x, dx, axis, initial)
    y, h = _samples(y, x, dx, axis)
    ahead = _first_of_two(y, h)
    behind = np.flip(_first_of_two(np.flip(y, -1), np.flip(h, -1)), -1)
    places = np.arange(count - 1)
    chosen = np.where((places % 2 == 0) & (places < count - 2), places, places + count - 3)
    found = np.cumsum(np.concatenate((ahead, behind), axis=-1)[..., chosen], axis=-1)
    if initial is not None:
        start = initial + np.zeros((*np.shape(found)[:-1], 1))
        found = np.concatenate((start, initial + found), axis=-1)
    return np.moveaxis(found, -1, axis)


def _array(*shape, **named):
    return lambda rng: (rng.normal(size=shape), *([named] if named else []))


def _spaced(*shape, **named):
    return lambda rng: (
        rng.normal(size=shape), np.cumsum(rng.uniform(0.5, 1.0, shape[-1])),
        *([named] if named else []))  # fmt: skip


def _spaced_named(*shape):
    """Samples with the places as a keyword."""
    return lambda rng: (
        rng.normal(size=shape), {"x": np.cumsum(rng.uniform(0.5, 1.0, shape[-1]))})  # fmt: skip


ARRAY_RULES: tuple[ArrayRule, ...] = (
    calling(integrate.quad, _quad),
    calling(integrate.solve_ivp, _solve_ivp),
    calling(integrate.odeint, _odeint),
    defined(integrate.trapezoid, _trapezoid, _array(5), _spaced(5), _spaced(2, 4),
            _array(3, 4, axis=0, dx=0.5)),
    defined(integrate.simpson, _simpson, _array(5), _array(6), _array(2), _spaced_named(5),
            _spaced_named(2, 6), _array(5, 2, axis=0)),
    defined(integrate.cumulative_simpson, _cumulative_simpson, _array(5), _array(6), _array(2),
            _spaced_named(5), _spaced_named(6), _array(5, 2, axis=0), _array(4, initial=0)),
)  # fmt: skip
