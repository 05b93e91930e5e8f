"""Rules of sums, means, products, extremes and other reductions of arrays along axes."""

import numpy as np

from overlay import nonoverlay
from overlay.interpretations.autodiff.duals import primal
from overlay.interpretations.autodiff.rules.array_rule import (
    constant,
    defined,
    linear,
    smooth,
    takes_lists,
)
from overlay.interpretations.autodiff.rules.drawn_calls import call, complexes, floats, spread
from overlay.interpretations.autodiff.rules.tables.order_statistics import chosen_places, taken

__all__ = ["REDUCTIONS", "WITHOUT_NAN", "spread_back"]

FORMS = ({}, {"axis": 0}, {"axis": -1}, {"axis": (0, 2)}, {"axis": 1, "keepdims": True})
"""The forms in which reductions are called."""
MASK = np.array([[True, False, True], [True, True, False]])


def _forms(kind, *shape):
    return [call(kind(*shape), **form) for form in FORMS]


def spread_back(d, a, axis, keepdims):
    """The cotangent of a sum over axes, in the shape of the array that was summed."""
    if axis is not None and not keepdims:
        axes = axis if isinstance(axis, tuple) else (axis,)
        places = sorted(k % np.ndim(a) for k in axes)
        for place in places:
            d = np.expand_dims(d, place)
    return np.broadcast_to(d, np.shape(a))


def _count(a, axis, where):
    return np.sum(np.broadcast_to(where, np.shape(a)), axis=axis, keepdims=True)


def _sum_vjp(d, ret, a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True):
    return np.where(where, spread_back(d, a, axis, keepdims), 0.0)


def _sum_initial_vjp(
    d, ret, a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True
):
    return np.sum(d)


def _mean_vjp(d, ret, a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    spread = spread_back(d, a, axis, keepdims)
    return np.where(where, spread / _count(a, axis, where), 0.0)


# ---- products ------------------------------------------------------------------------------


def _products_of_others(x):
    """The product of all other elements along the last axis, for each element."""
    ones = np.ones_like(x[..., :1])
    before = np.concatenate((ones, np.cumprod(x, axis=-1)[..., :-1]), axis=-1)
    after = np.cumprod(x[..., ::-1], axis=-1)[..., ::-1][..., 1:]
    return before * np.concatenate((after, ones), axis=-1)


def _partials_of_prod(a, axis, where, initial):
    x = np.where(where, a, 1.0)
    if axis is None:
        return initial * np.reshape(_products_of_others(np.ravel(x)), np.shape(a))
    axes = axis if isinstance(axis, tuple) else (axis,)
    last = tuple(range(-len(axes), 0))
    moved = np.moveaxis(x, axes, last)
    shape = np.shape(moved)
    others = _products_of_others(np.reshape(moved, (*shape[: len(shape) - len(axes)], -1)))
    return initial * np.moveaxis(np.reshape(others, shape), last, axes)


def _prod_jvp(t, ret, a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True):
    terms = np.where(where, t * _partials_of_prod(a, axis, where, initial), 0.0)
    return np.sum(terms, axis=axis, keepdims=keepdims)


def _prod_vjp(d, ret, a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True):
    spread = spread_back(d, a, axis, keepdims)
    return np.where(where, spread * np.conj(_partials_of_prod(a, axis, where, initial)), 0.0)


def _prod_initial_jvp(
    t, ret, a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True
):
    return t * np.prod(a, axis=axis, keepdims=keepdims, where=where)


def _prod_initial_vjp(
    d, ret, a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True
):
    return np.sum(d * np.conj(np.prod(a, axis=axis, keepdims=keepdims, where=where)))


# ---- extremes ------------------------------------------------------------------------------


def _extreme(a, axis, keepdims, initial, where, pick, least, larger):
    places = chosen_places(a, axis, bool(keepdims), pick, where, least)
    found = taken(a, places)
    return found if initial is None else larger(found, initial)


def _max(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    return _extreme(a, axis, keepdims, initial, where, np.argmax, -np.inf, np.maximum)


def _min(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    return _extreme(a, axis, keepdims, initial, where, np.argmin, np.inf, np.minimum)


def _nanmax(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    where = where & ~np.isnan(a)
    return _extreme(a, axis, keepdims, initial, where, np.argmax, -np.inf, np.maximum)


def _nanmin(a, axis=None, out=None, keepdims=False, initial=None, where=True):
    where = where & ~np.isnan(a)
    return _extreme(a, axis, keepdims, initial, where, np.argmin, np.inf, np.minimum)


def _ptp(a, axis=None, out=None, keepdims=False):
    most = np.max(a, axis=axis, keepdims=keepdims)
    return most - np.min(a, axis=axis, keepdims=keepdims)


# ---- variances -----------------------------------------------------------------------------


def _deviations(a, axis, where, mean):
    return a - (np.mean(a, axis=axis, keepdims=True, where=where) if mean is None else mean)


def _freedom(a, axis, where, ddof, correction):
    return np.maximum(_count(a, axis, where) - (ddof if correction is None else correction), 0)


def _var_jvp(
    t,
    ret,
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=False,
    *,
    where=True,
    mean=None,
    correction=None,
):
    moved = np.real(np.conj(_deviations(a, axis, where, mean)) * t)
    scaled = 2 * moved / _freedom(a, axis, where, ddof, correction)
    return np.sum(scaled, axis=axis, keepdims=keepdims, where=where)


def _var_vjp(
    d,
    ret,
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=False,
    *,
    where=True,
    mean=None,
    correction=None,
):
    slopes = 2 * _deviations(a, axis, where, mean) / _freedom(a, axis, where, ddof, correction)
    return np.where(where, spread_back(d, a, axis, keepdims) * slopes, 0.0)


def _by_mean(a, axis, where, mean, ddof, correction):
    total = np.sum(_deviations(a, axis, where, mean), axis=axis, keepdims=True, where=where)
    return -2 * total / _freedom(a, axis, where, ddof, correction)


def _without(axis, keepdims, kept):
    """A result in which the axes were kept, in its own form."""
    return kept if keepdims else np.reshape(kept, ()) if axis is None else np.squeeze(kept, axis)


def _var_mean_jvp(
    t,
    ret,
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=False,
    *,
    where=True,
    mean=None,
    correction=None,
):
    slopes = _by_mean(a, axis, where, mean, ddof, correction)
    return _without(axis, keepdims, np.real(np.conj(slopes) * t))


def _var_mean_vjp(
    d,
    ret,
    a,
    axis=None,
    dtype=None,
    out=None,
    ddof=0,
    keepdims=False,
    *,
    where=True,
    mean=None,
    correction=None,
):
    slopes = _by_mean(a, axis, where, mean, ddof, correction)
    return np.reshape(d, np.shape(slopes)) * slopes


def _std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, **named):
    return np.sqrt(np.var(a, axis=axis, dtype=dtype, ddof=ddof, keepdims=keepdims, **named))


_plain_average = nonoverlay(np.average)


def _average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    if weights is None:
        found = np.mean(a, axis=axis, keepdims=keepdims)
        total = np.size(a) / np.size(found)
    else:
        if isinstance(weights, (list, tuple)):
            weights = np.array(weights)
        if np.shape(weights) != np.shape(a):
            _plain_average(primal(a), axis, primal(weights))  # or its error
            axes = tuple(k % np.ndim(a) for k in (axis if isinstance(axis, tuple) else (axis,)))
            weights = np.transpose(weights, np.argsort(axes)) if len(axes) > 1 else weights
            own = [n if k in axes else 1 for k, n in enumerate(np.shape(a))]
            weights = np.broadcast_to(np.reshape(weights, own), np.shape(a))
        total = np.sum(weights, axis=axis, keepdims=keepdims)
        found = np.sum(a * weights, axis=axis, keepdims=keepdims) / total
    if not returned:
        return found
    return found, total + np.zeros(np.shape(found))


# ---- sums so far ---------------------------------------------------------------------------


def _cumsum_vjp(d, ret, a, axis=None, dtype=None, out=None):
    if axis is None:
        return np.reshape(np.cumsum(d[::-1])[::-1], np.shape(a))
    return np.flip(np.cumsum(np.flip(d, axis), axis=axis), axis)


def _rows(a, axis):
    """The parts of an array along an axis, None for that of its elements in a row."""
    return list(np.ravel(a)) if axis is None else list(np.moveaxis(a, axis, 0))


def _joined_rows(rows, axis):
    return np.stack(rows) if axis is None else np.moveaxis(np.stack(rows), 0, axis)


def _cumprod_jvp(t, ret, a, axis=None, dtype=None, out=None):
    found = []
    ts, xs, products = _rows(t, axis), _rows(a, axis), _rows(ret, axis)
    for i, moved in enumerate(ts):
        found.append(found[i - 1] * xs[i] + products[i - 1] * moved if i else moved)
    return _joined_rows(found, axis) if found else ret


def _cumprod_vjp(d, ret, a, axis=None, dtype=None, out=None):
    ds, xs, products = _rows(d, axis), _rows(np.conj(a), axis), _rows(np.conj(ret), axis)
    if not ds:
        return np.zeros(np.shape(a))
    found = []
    total = 0.0
    for i in range(len(ds) - 1, -1, -1):
        total = ds[i] + total
        found.append(total * products[i - 1] if i else total)
        total = total * xs[i]
    changes = _joined_rows(found[::-1], axis)
    return np.reshape(changes, np.shape(a))


def _so_far(function, first):
    def cumulative(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
        if axis is None and np.ndim(x) > 1:
            raise ValueError(
                "For arrays which have more than one dimension ``axis`` argument is required."
            )
        axis = 0 if axis is None else axis
        found = function(x, axis=axis, dtype=dtype)
        if not include_initial:
            return found
        shape = [1 if k == axis % np.ndim(x) else n for k, n in enumerate(np.shape(x))]
        return np.concatenate((np.full(shape, first), found), axis=axis)

    return cumulative


# ---- without nan ---------------------------------------------------------------------------


def _filled(a, value):
    return np.where(np.isnan(a), value, a)


def _nansum(a, axis=None, dtype=None, out=None, keepdims=False, initial=0, where=True):
    rest = {"keepdims": keepdims, "initial": initial, "where": where}
    return np.sum(_filled(a, 0.0), axis=axis, dtype=dtype, **rest)


def _nanprod(a, axis=None, dtype=None, out=None, keepdims=False, initial=1, where=True):
    rest = {"keepdims": keepdims, "initial": initial, "where": where}
    return np.prod(_filled(a, 1.0), axis=axis, dtype=dtype, **rest)


def _nanmean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    valid = where & ~np.isnan(a)
    return np.mean(a, axis=axis, dtype=dtype, keepdims=keepdims, where=valid)


def _nanvar(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, **named):
    valid = where & ~np.isnan(a)
    return np.var(a, axis, dtype, None, ddof, keepdims, where=valid, **named)


def _nanstd(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, **named):
    valid = where & ~np.isnan(a)
    return np.std(a, axis, dtype, None, ddof, keepdims, where=valid, **named)


def _nancumsum(a, axis=None, dtype=None, out=None):
    return np.cumsum(_filled(a, 0.0), axis=axis, dtype=dtype)


def _nancumprod(a, axis=None, dtype=None, out=None):
    return np.cumprod(_filled(a, 1.0), axis=axis, dtype=dtype)


# ---- covariances ---------------------------------------------------------------------------


def _observations(m, rowvar):
    m = np.reshape(m, (1, -1)) if np.ndim(m) < 2 else m
    return np.transpose(m) if not rowvar and np.shape(m)[0] != 1 else m


def _cov(
    m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, *, dtype=None
):
    x = _observations(m, rowvar)
    if y is not None:
        x = np.concatenate((x, _observations(y, rowvar)), axis=0)
    ddof = (0 if bias else 1) if ddof is None else ddof
    w = None
    if fweights is not None:
        w = np.asarray(fweights)
    if aweights is not None:
        w = aweights if w is None else w * aweights
    if w is None:
        freedom = np.shape(x)[1] - ddof
        mean = np.mean(x, axis=1, keepdims=True)
    else:
        total = np.sum(w)
        lost = 0 if ddof == 0 else ddof
        if aweights is not None and ddof != 0:
            lost = ddof * np.sum(w * aweights) / total
        freedom = total - lost
        mean = np.sum(x * w, axis=1, keepdims=True) / total
    deviations = x - mean
    weighted = deviations if w is None else deviations * w
    found = np.matmul(deviations, np.conj(np.transpose(weighted))) / freedom
    return found[0, 0] if np.shape(found) == (1, 1) else found


def _corrcoef(x, y=None, rowvar=True, *, dtype=None):
    c = _cov(x, y, rowvar)
    if np.ndim(c) == 0:
        return c / c
    spread = np.sqrt(np.real(np.diagonal(c)))
    return c / spread[:, None] / spread[None, :]


REDUCTIONS = takes_lists(
    linear(
        np.sum,
        (_sum_vjp, _sum_initial_vjp),
        *_forms(floats, 2, 3, 2),
        *_forms(complexes, 2, 3, 2),
        call(floats()),
        call(floats(2, 3), where=MASK),
        call(floats(2, 3), 0, None),
        call([floats(), 1.0, floats()]),
        call(floats(2, 3), axis=1, dtype=complex),
        call([[floats(), 2.0], [3.0, floats()]], 0),
        call(floats(2, 3), axis=1, initial=floats()),
        data=("a", "initial"),
        compiled=(0, 2),
    ),
    linear(
        np.mean,
        _mean_vjp,
        *_forms(floats, 2, 3, 2),
        *_forms(complexes, 2, 3, 2),
        call(floats()),
        call(floats(2, 3), where=MASK),
        call(floats(2, 3), axis=1, where=MASK),
        call([floats(), floats()]),
        compiled=(0, 2),
    ),
    smooth(
        np.prod,
        (_prod_jvp, _prod_initial_jvp),
        (_prod_vjp, _prod_initial_vjp),
        *_forms(floats, 2, 3, 2),
        *_forms(complexes, 2, 3, 2),
        call(floats()),
        call(floats(2, 3), where=MASK),
        call(floats(3), initial=3.0),
        call(floats(2, 3), axis=1, initial=floats(), keepdims=True),
        call(complexes(3), initial=complexes()),
        call(floats(3), axis=()),
        lambda rng: (np.array([0.0, 2.0, 0.0]),),
        lambda rng: (np.array([0.0, 2.0, 3.0]),),
        call([floats(), floats()]),
        data=("a", "initial"),
    ),
    defined(
        np.max,
        _max,
        *_forms(spread, 2, 3, 2),
        call(floats()),
        call(complexes(2, 3), axis=0),
        call(spread(2, 3), axis=1, where=MASK, initial=-1.0),
        call(spread(3), initial=9.0),
        call([floats(), floats()]),
    ),
    defined(
        np.min,
        _min,
        *_forms(spread, 2, 3, 2),
        call(floats()),
        call(complexes(2, 3), axis=0),
        call(spread(2, 3), axis=1, where=MASK, initial=9.0),
        call([floats(), floats()]),
    ),
    defined(np.ptp, _ptp, *_forms(spread, 2, 3, 2), call([floats(), floats()])),
    smooth(
        np.var,
        (_var_jvp, _var_mean_jvp),
        (_var_vjp, _var_mean_vjp),
        *_forms(floats, 2, 3, 2),
        *_forms(complexes, 2, 3, 2),
        call(floats(3), ddof=1),
        call(floats(2, 3), 1, None, None, 1),
        call(floats(2, 3), axis=0, correction=1),
        call(floats(2, 3), where=MASK),
        call(floats(2, 3), axis=1, mean=floats(2, 1)),
        call(floats(3), mean=floats(1)),
        call([floats(), floats()]),
        data=("a", "mean"),
    ),
    defined(
        np.std,
        _std,
        *_forms(floats, 2, 3, 2),
        *_forms(complexes, 2, 3, 2),
        call(floats(3), ddof=1),
        call(floats(2, 3), axis=1, ddof=1, keepdims=True),
        call(floats(2, 3), where=MASK),
        call(floats(2, 3), axis=1, mean=floats(2, 1)),
        call([floats(), floats()]),
    ),
    defined(
        np.average,
        _average,
        call(floats(2, 3)),
        call(floats(2, 3), axis=1),
        call(floats(2, 3), weights=spread(2, 3)),
        call(floats(2, 3), 1, spread(3)),
        call(floats(2, 3), axis=0, weights=spread(2), returned=True),
        call(floats(2, 3, 2), axis=(0, 2), weights=spread(2, 2), keepdims=True),
        call(floats(2, 3), axis=0, returned=True),
        call([floats(), floats()], weights=[1.0, 3.0]),
    ),
    linear(
        np.cumsum,
        _cumsum_vjp,
        call(floats(4)),
        call(floats(2, 3)),
        call(floats(2, 3), 1),
        call(complexes(2, 3), axis=-1),
        call([floats(), floats()]),
        compiled=(0, 1),
    ),
    smooth(
        np.cumprod,
        _cumprod_jvp,
        _cumprod_vjp,
        call(floats(4)),
        call(floats(2, 3)),
        call(floats(2, 3), 1),
        call(complexes(2, 3), axis=-1),
        call([floats(), floats()]),
        lambda rng: (np.array([2.0, 0.0, 3.0, 0.0]),),
    ),
    *(
        defined(
            getattr(np, name),
            _so_far(function, first),
            call(floats(4)),
            call(floats(2, 3), axis=1),
            call(floats(2, 3), axis=-2, include_initial=True),
            call([floats(), floats()]),
        )
        for name, function, first in (
            ("cumulative_sum", np.cumsum, 0.0),
            ("cumulative_prod", np.cumprod, 1.0),
        )
        if hasattr(np, name)
    ),
    defined(
        np.cov,
        _cov,
        call(floats(2, 4)),
        call(floats(5)),
        call(floats(5), floats(5)),
        call(floats(4, 2), rowvar=False),
        call(floats(2, 4), bias=True),
        call(floats(2, 4), ddof=2),
        call(complexes(2, 4)),
        call(floats(2, 4), fweights=np.array([1, 2, 1, 3])),
        call(floats(2, 4), aweights=spread(4)),
        call(floats(2, 4), fweights=np.array([1, 2, 1, 3]), aweights=spread(4), ddof=0),
    ),
    defined(
        np.corrcoef,
        _corrcoef,
        call(floats(2, 4)),
        call(floats(5), floats(5)),
        call(floats(4, 2), rowvar=False),
        call(complexes(2, 4)),
    ),
    *(
        constant(f, call(floats(2, 3)), call(floats(2, 3), axis=1))
        for f in (
            np.argmax,
            np.argmin,
            np.nanargmax,
            np.nanargmin,
            np.count_nonzero,
            np.any,
            np.all,
        )
    ),
)


def _gaps(*shape):
    def sample(rng):
        a = rng.normal(size=shape)
        a[..., 1] = np.nan
        return a

    return sample


def _gapped(*rest, **named):
    return lambda rng: (_gaps(3, 4)(rng), *rest, named)


WITHOUT_NAN = takes_lists(
    *(
        defined(f, by, _gapped(), _gapped(1), _gapped(axis=-1, keepdims=True), _gapped(axis=(0, 1)))
        for f, by in (
            (np.nansum, _nansum),
            (np.nanprod, _nanprod),
            (np.nanmean, _nanmean),
            (np.nanvar, _nanvar),
            (np.nanstd, _nanstd),
            (np.nanmax, _nanmax),
            (np.nanmin, _nanmin),
        )
    ),
    *(
        defined(f, by, _gapped(), _gapped(1), _gapped(axis=-1))
        for f, by in ((np.nancumsum, _nancumsum), (np.nancumprod, _nancumprod))
    ),
)
