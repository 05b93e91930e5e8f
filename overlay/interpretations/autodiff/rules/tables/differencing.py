"""Rules of differences, numeric gradients and integrals, interpolation and weighted counts."""

import numpy as np

from overlay import nonoverlay
from overlay.interpretations.autodiff.duals import primal
from overlay.interpretations.autodiff.rules.array_rule import (
    defined,
    linear,
    smooth,
    takes_lists,
)
from overlay.interpretations.autodiff.rules.drawn_calls import call, complexes, floats, spread

__all__ = ["DIFFERENCING"]


# their own code makes arrays, which would be active
_plain_gradient, _plain_histogram = nonoverlay(np.gradient), nonoverlay(np.histogram)
_plain_interp, _plain_histogramdd = nonoverlay(np.interp), nonoverlay(np.histogramdd)


def _own_axes(x, k, ndim):
    """A one-dimensional array along one of several axes."""
    return np.reshape(x, [-1 if i == k % ndim else 1 for i in range(ndim)])


def _summed_differences(d, n, axis):
    """The transpose of ``n`` differences along an axis."""
    d = np.moveaxis(d, axis, -1)
    end = np.zeros((*np.shape(d)[:-1], 1))
    for _ in range(n):
        d = -np.diff(np.concatenate((end, d, end), axis=-1))
    return np.moveaxis(d, -1, axis)


def _part_of_diff(which):
    def vjp(d, ret, a, n=1, axis=-1, prepend=None, append=None):
        whole = np.moveaxis(_summed_differences(d, n, axis), axis, 0)
        given = {"prepend": prepend, "a": a, "append": append}
        lengths = [
            0 if x is None else 1 if np.ndim(x) == 0 else np.shape(x)[axis] for x in given.values()
        ]
        place = list(given).index(which)
        start = sum(lengths[:place])
        part = np.moveaxis(whole[start : start + lengths[place]], 0, axis)
        return np.sum(part) if np.ndim(given[which]) == 0 else part

    return vjp


def _ediff1d_vjp(which):
    def vjp(d, ret, ary, to_end=None, to_begin=None):
        first = 0 if to_begin is None else np.size(to_begin)
        last = first + max(np.size(ary) - 1, 0)
        if which == "to_begin":
            return np.reshape(d[:first], np.shape(to_begin))
        if which == "to_end":
            return np.reshape(d[last:], np.shape(to_end))
        return np.reshape(_summed_differences(d[first:last], 1, 0), np.shape(ary))

    return vjp


def _gradient(f, *varargs, axis=None, edge_order=1):
    ndim = np.ndim(f)
    axes = range(ndim) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = [k % ndim for k in axes]
    steps = [1.0] * len(axes) if not varargs else list(varargs)
    steps = steps * len(axes) if len(steps) == 1 and np.ndim(steps[0]) == 0 else steps
    _plain_gradient(primal(f), *(primal(h) for h in steps), axis=tuple(axes), edge_order=edge_order)
    found = []
    for k, h in zip(axes, steps, strict=True):
        y = np.moveaxis(f, k, 0)
        gaps = np.diff(h) if np.ndim(h) else None
        if gaps is None or (np.all(primal(gaps) == primal(gaps[0])) and gaps is primal(gaps)):
            gaps = np.full(np.shape(y)[0] - 1, 1.0) * (h if gaps is None else gaps[0])
        gaps = _own_axes(gaps, 0, ndim)
        slopes = np.diff(y, axis=0) / gaps
        before, after = gaps[:-1], gaps[1:]
        inner = (slopes[:-1] * after + slopes[1:] * before) / (before + after)
        if edge_order == 1:
            first, last = slopes[:1], slopes[-1:]
        else:
            first = slopes[:1] - (slopes[1:2] - slopes[:1]) * gaps[:1] / (gaps[:1] + gaps[1:2])
            last = slopes[-1:] + (slopes[-1:] - slopes[-2:-1]) * gaps[-1:] / (
                gaps[-1:] + gaps[-2:-1]
            )
        found.append(np.moveaxis(np.concatenate((first, inner, last), axis=0), 0, k))
    if len(found) == 1:
        return found[0]
    return tuple(found) if np.lib.NumpyVersion(np.__version__) >= "2.0.0" else found


def _trapezoid(y, x=None, dx=1.0, axis=-1):
    y = np.moveaxis(y, axis, -1)
    if x is not None:
        dx = np.diff(x) if np.ndim(x) == 1 else np.diff(np.moveaxis(x, axis, -1))
    return np.sum(dx * (y[..., 1:] + y[..., :-1]) / 2.0, axis=-1)


def _unwrap_jvp(t, ret, p, discont=None, axis=-1, *, period=2 * np.pi):
    return t


def _interp(x, xp, fp, left=None, right=None, period=None):
    xp, fp = (np.array(a) if isinstance(a, (list, tuple)) else a for a in (xp, fp))
    _plain_interp(primal(x), primal(xp), primal(fp), period=primal(period))  # or its error
    if period is not None:
        period = abs(period)
        xp = xp % period
        order = np.argsort(primal(xp))
        xp, fp = xp[order], fp[order]
        xp = np.concatenate((xp[-1:] - period, xp, xp[:1] + period))
        fp = np.concatenate((fp[-1:], fp, fp[:1]))
        x = x % period
        left = right = None
    at, knots = primal(x), primal(xp)
    if len(knots) == 1:
        found = fp[0] + 0.0 * x
    else:
        i = np.clip(np.searchsorted(knots, at, side="right") - 1, 0, len(knots) - 2)
        slope = (fp[i + 1] - fp[i]) / (xp[i + 1] - xp[i])
        found = slope * (x - xp[i]) + fp[i]
    found = np.where(at < knots[0], fp[0] if left is None else left, found)
    found = np.where(at > knots[-1], fp[-1] if right is None else right, found)
    return found if np.ndim(x) else found[()]


def _bincount_vjp(d, ret, x, weights=None, minlength=0):
    return d[np.asarray(x)]


def _own_edges(a, bins, range, edges):
    """The edges of bins, which may be active as the extremes of the data are. edges: the plain
    ones."""
    if np.ndim(bins):
        return bins
    low, high = (np.min(a), np.max(a)) if range is None else range
    share = np.arange(bins + 1) / bins
    return edges if primal(low) == primal(high) else low + (high - low) * share


def _histogram(a, bins=10, range=None, density=None, weights=None):
    plain = np.ravel(primal(a))
    if isinstance(bins, str):
        np.histogram_bin_edges(a, bins, range, weights)  # refused
    rest = (primal(bins), range, density, primal(weights))
    counts, edges = _plain_histogram(primal(a), *rest)
    own_edges = _own_edges(a, bins, range, edges)
    if weights is None and not density:
        return counts, own_edges
    weights = np.full(np.shape(a), 1.0) if weights is None else weights
    kept = (plain >= edges[0]) & (plain <= edges[-1])
    # numpy's own way to the bin of a number: by its edges
    bin_of = np.searchsorted(edges, plain[kept], side="right") - 1
    bin_of = np.minimum(bin_of, len(edges) - 2)
    found = np.bincount(bin_of, weights=np.ravel(weights)[kept], minlength=len(edges) - 1)
    return (found / np.diff(own_edges) / np.sum(found) if density else found), own_edges


def _histogramdd(sample, bins=10, range=None, density=None, weights=None):
    if isinstance(sample, (list, tuple)):
        sample = np.stack(sample, axis=-1)
    points = sample if np.ndim(sample) == 2 else np.reshape(sample, (-1, 1))
    plain = primal(points)
    by_axis = isinstance(bins, (list, tuple)) or np.ndim(bins) > 0
    given = [primal(each) for each in bins] if by_axis else bins
    counts, edges = _plain_histogramdd(plain, given, range, density, primal(weights))
    of_axes = bins if by_axis else [bins] * len(edges)
    own = [
        _own_edges(points[:, k], of_axes[k], None if range is None else range[k], plain_edges)
        for k, plain_edges in enumerate(edges)
    ]
    if weights is None and not density:
        return counts, type(edges)(own)
    weights = np.full(len(plain), 1.0) if weights is None else weights
    bins_of, kept = [], np.full(len(plain), 1.0) > 0
    for k, each in enumerate(edges):
        kept = kept & (plain[:, k] >= each[0]) & (plain[:, k] <= each[-1])
        found = np.searchsorted(each, plain[:, k], side="right") - 1
        bins_of.append(np.clip(found, 0, len(each) - 2))
    shape = tuple(len(each) - 1 for each in edges)
    places = np.ravel_multi_index(tuple(each[kept] for each in bins_of), shape)
    found = np.bincount(places, weights=weights[kept], minlength=int(np.prod(shape)))
    found = np.reshape(found, shape)
    if density:
        found = found / np.sum(found)
        for k, each in enumerate(own):
            found = found / _own_axes(np.diff(each), k, len(shape))
    return found, type(edges)(own)


def _histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    if isinstance(bins, (list, tuple)) or np.ndim(bins) > 0:
        if len(bins) == 1:
            bins = (bins[0], bins[0])
        elif len(bins) > 2:
            bins = (np.asarray(bins), np.asarray(bins))
    points = np.stack((x, y), axis=-1)
    found, edges = np.histogramdd(points, bins, range, density, weights)
    return found, edges[0], edges[1]


KNOTS = np.array([0.0, 1.0, 2.5, 4.0])
PLACES = np.array([1, 0, 3, 1])
DATA = np.array([0.1, 0.4, 0.45, 0.9, 1.7])
OTHERS = np.array([2.6, 0.7, 0.3, 0.2, 0.15])
PAIRS = np.stack((DATA[:-1], OTHERS[:-1]), axis=-1)
DIFFERENCING = takes_lists(
    linear(
        np.diff,
        [_part_of_diff(name) for name in ("a", "prepend", "append")],
        call(floats(5)),
        call(floats(2, 5), 2),
        call(floats(4, 3), axis=0),
        call(floats(5), n=0),
        call(complexes(4)),
        call(floats(4), prepend=floats(), append=floats(2)),
        call(floats(2, 3), 2, axis=1, prepend=floats(2, 1), append=floats()),
        call([floats(), floats(), 1.0]),
        data=("a", "prepend", "append"),
        compiled=(0, 0),
    ),
    linear(
        np.ediff1d,
        [_ediff1d_vjp(name) for name in ("ary", "to_end", "to_begin")],
        call(floats(5)),
        call(floats(2, 3)),
        call(floats(4), floats(2), to_begin=floats()),
        call([floats(), floats()]),
        data=("ary", "to_end", "to_begin"),
    ),
    defined(
        np.gradient,
        _gradient,
        call(floats(5)),
        call(floats(5), 0.5),
        call(floats(3, 4)),
        call(floats(3, 4), 0.5, 2.0),
        call(floats(3, 4), axis=1),
        call(floats(4), KNOTS),
        call(floats(4), KNOTS, edge_order=2),
        call(floats(5), edge_order=2),
        call(complexes(4)),
        call([floats(), floats(), floats()]),
    ),
    *(
        defined(
            getattr(np, name),
            _trapezoid,
            call(floats(5)),
            call(floats(2, 5), dx=0.5),
            call(floats(4), KNOTS),
            call(floats(4, 2), KNOTS, axis=0),
            call(floats(2, 4), spread(2, 4)),
            call([floats(), floats()]),
        )
        for name in ("trapezoid", "trapz")
        if hasattr(np, name)
    ),
    smooth(
        np.unwrap,
        _unwrap_jvp,
        _unwrap_jvp,
        lambda rng: (np.array([0.1, 3.0, 6.1, 9.4]),),
        lambda rng: (np.array([[0.1, 3.0, 7.1]]), {"axis": 1, "period": 4.0}),
        data=("p",),
    ),
    defined(
        np.interp,
        _interp,
        call(2.2, KNOTS, floats(4)),
        call(spread(3), KNOTS, complexes(4)),
        call(np.array([-1.0, 0.5, 9.0]), KNOTS, floats(4)),
        call(np.array([-1.0, 0.5, 9.0]), KNOTS, floats(4), left=1.0, right=2.0),
        call(np.array([[-1.3, 0.5], [3.0, 9.1]]), KNOTS, floats(4), period=5.0),
        call(0.5, KNOTS[:1], floats(1)),
        call(floats(3), [-1, 0, 2], [1, 3, 2]),
    ),
    linear(
        np.bincount,
        _bincount_vjp,
        call(PLACES, weights=floats(4)),
        call(PLACES, floats(4), minlength=6),
        data=("weights",),
        parameters="x, /, weights=None, minlength=0",
    ),
    defined(
        np.histogram,
        _histogram,
        call(DATA, 3, weights=floats(5)),
        call(DATA, bins=np.array([0.0, 0.3, 1.0, 1.1]), weights=floats(5)),
        call(DATA, 3, weights=spread(5), density=True),
    ),
)
DIFFERENCING += (
    defined(
        np.histogramdd,
        _histogramdd,
        call(PAIRS, 2, weights=floats(4)),
        call(PAIRS, (np.array([0.0, 0.3, 1.8]), 2), weights=floats(4)),
        call(DATA, 3, weights=spread(5), density=True),
    ),
    defined(
        np.histogram2d,
        _histogram2d,
        call(DATA[:-1], OTHERS[:-1], 2, weights=floats(4)),
        call(DATA[:-1], OTHERS[:-1], [2, 3], weights=spread(4), density=True),
        call(DATA, DATA, np.array([0.0, 0.42, 1.8]), weights=floats(5)),
    ),
)
