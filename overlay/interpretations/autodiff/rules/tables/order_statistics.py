"""Rules of functions that order the elements of arrays, and of those between them: medians and
quantiles.

Each is the choice of some elements by their order, with the derivatives of these.
"""

import numpy as np

from overlay import nonoverlay
from overlay.interpretations.autodiff.duals import primal
from overlay.interpretations.autodiff.rules.array_rule import constant, defined, takes_lists
from overlay.interpretations.autodiff.rules.drawn_calls import call, complexes, floats, spread

__all__ = ["ORDERING", "chosen_places", "taken"]

_plain_along, _plain_quantile = nonoverlay(np.take_along_axis), nonoverlay(np.quantile)
SLOPES = {
    "linear": (-1.0, 0.0), "weibull": (1.0, 0.0), "hazen": (0.0, 0.0),
    "interpolated_inverted_cdf": (0.0, 0.0), "median_unbiased": (1 / 3, 0.0),
    "normal_unbiased": (1 / 4, 0.0),
}  # fmt: skip
"""The derivative of the place of a quantile by q, less the count of elements, by method."""


def _numbers(a):
    """The place of each element in the array's elements in a row."""
    return np.reshape(np.arange(np.size(a)), np.shape(a))


def taken(a, places):
    """The elements at these places in the array's elements in a row."""
    return np.ravel(a)[places]


def _in_last(x, axis):
    """An array with the elements along the axes in the last one, and its other axes before."""
    if axis is None:
        return np.reshape(x, (-1,))
    axes = axis if isinstance(axis, tuple) else (axis,)
    moved = np.moveaxis(x, axes, tuple(range(-len(axes), 0)))
    return np.reshape(moved, (*np.shape(moved)[: np.ndim(x) - len(axes)], -1))


def _kept(found, a, axis, keepdims):
    """A result without the axes, with them again as axes of length 1 if ``keepdims``."""
    if not keepdims:
        return found
    axes = range(np.ndim(a)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = {k % np.ndim(a) for k in axes}
    return np.reshape(found, [1 if k in axes else n for k, n in enumerate(np.shape(a))])


def chosen_places(a, axis, keepdims, pick, where=True, least=None):
    """The places of the elements that ``pick`` chooses along axes. where: the elements that it
    chooses from; least: the value that it never chooses."""
    plain = primal(a)
    if where is not True:
        plain = np.where(where, plain, least)
    rows = _in_last(_numbers(a), axis)
    chosen = np.expand_dims(pick(_in_last(plain, axis), axis=-1), -1)
    return _kept(_plain_along(rows, chosen, -1)[..., 0], a, axis, keepdims)


def _ordered(a, axis, places_of):
    if axis is None:
        a, axis = np.ravel(a), 0
    chosen = places_of(primal(a), axis)
    return taken(a, _plain_along(_numbers(a), chosen, axis))


def _sort(a, axis=-1, kind=None, order=None, *, stable=None):
    return _ordered(a, axis, lambda plain, axis: np.argsort(plain, axis, kind=kind or "stable"))


def _sort_complex(a):
    return np.sort(a) + 0j


def _msort(a):
    return np.sort(a, axis=0)


def _partition(a, kth, axis=-1, kind="introselect", order=None):
    return _ordered(a, axis, lambda plain, axis: np.argpartition(plain, kth, axis, kind))


# ---- quantiles -----------------------------------------------------------------------------


def _sorted_places(a, axis):
    """The places of the elements along axes in their order, in the last axis."""
    rows, plain = _in_last(_numbers(a), axis), _in_last(primal(a), axis)
    return _plain_along(rows, np.argsort(plain, axis=-1, kind="stable"), -1)


def _between(a, places, at):
    """The values at places between elements of a row in their order: interpolated linearly."""
    before = np.clip(np.floor(primal(at)).astype(int), 0, np.shape(places)[-1] - 1)
    after = np.minimum(before + 1, np.shape(places)[-1] - 1)
    share = at - before
    low = taken(a, places[..., before])
    if np.all(primal(share) == 0) and share is primal(share):
        return low  # also where there is an infinity after it
    high = taken(a, places[..., after])
    return low * (1.0 - share) + high * share


def _place_of_quantile(count, q, method):
    """The place of a quantile in elements in their order."""
    plain = primal(q)
    at = _plain_quantile(np.arange(float(count)), plain, method=method)
    if plain is q or method not in SLOPES:
        return at
    slope = (count + SLOPES[method][0]) * ((at > 0) & (at < count - 1) | (method == "linear"))
    return at + slope * (q - plain)


def _quantile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *,
    weights=None, interpolation=None,
):  # fmt: skip
    method = interpolation or method
    places = _sorted_places(a, axis)
    plain = primal(a)
    if weights is not None:
        rest = {"axis": axis, "method": method, "weights": primal(weights)}
        result = _plain_quantile(plain, primal(q), **rest)
        order = np.ravel(plain)[places]
        ones = np.shape(result)[: np.ndim(q)]
        found = [
            taken(a, _first_equal(places, order, np.reshape(result, (-1, *order.shape[:-1]))[i]))
            for i in range(int(np.prod(ones)))
        ]
        found = np.reshape(np.stack(found), np.shape(result))
        parts = [found] if not ones else list(found)
    else:
        at = _place_of_quantile(np.shape(places)[-1], q, method)
        parts = [_between(a, places, each) for each in (np.ravel(at) if np.ndim(at) else [at])]
        last = taken(a, places[..., -1])
        parts = [np.where(np.isnan(last), last, part) for part in parts]
    parts = [_kept(part, a, axis, keepdims) for part in parts]
    if not np.ndim(q):
        return parts[0] if np.ndim(parts[0]) else parts[0][()]
    return np.reshape(np.stack(parts), (*np.shape(q), *np.shape(parts[0])))


def _first_equal(places, order, result):
    chosen = np.argmax(order == np.expand_dims(result, -1), axis=-1)
    return _plain_along(places, np.expand_dims(chosen, -1), -1)[..., 0]


def _percentile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, **named
):
    return np.quantile(a, q / 100.0, axis=axis, method=method, keepdims=keepdims, **named)


def _median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    return np.quantile(a, 0.5, axis=axis, keepdims=keepdims)


def _nanquantile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *,
    interpolation=None,
):  # fmt: skip
    method = interpolation or method
    places = _sorted_places(a, axis)  # with nan at the end
    plain = np.ravel(primal(a))[places]
    rest = np.shape(places)[:-1]
    counts = np.ravel(np.sum(~np.isnan(plain), axis=-1))
    rows = np.reshape(places, (-1, np.shape(places)[-1]))
    parts = []
    for each in np.ravel(q) if np.ndim(q) else [q]:
        found = [
            _between(a, row[:count], _place_of_quantile(count, each, method)) if count else np.nan
            for row, count in zip(rows, counts, strict=True)
        ]
        parts.append(_kept(np.reshape(np.stack(found), rest), a, axis, keepdims))
    if not np.ndim(q):
        return parts[0] if np.ndim(parts[0]) else parts[0][()]
    return np.reshape(np.stack(parts), (*np.shape(q), *np.shape(parts[0])))


def _nanpercentile(
    a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, **named
):
    return np.nanquantile(a, q / 100.0, axis=axis, method=method, keepdims=keepdims, **named)


def _nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    return np.nanquantile(a, 0.5, axis=axis, keepdims=keepdims)


def _gapped(*rest, **named):
    def sample(rng):
        a = rng.permutation(12).reshape(3, 4) + rng.uniform(0.1, 0.9, (3, 4))
        a[1, 2] = a[0, 0] = a[0, 1] = np.nan
        return (a, *rest, named)

    return sample


METHODS = (
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf",
    "hazen", "weibull", "linear", "median_unbiased", "normal_unbiased", "lower", "higher",
    "midpoint", "nearest",
)  # fmt: skip
LISTED = np.array([0.3, 0.85])
WEIGHTED = (
    [call(spread(2, 3), 0.4, axis=1, weights=np.array([1.0, 2.0, 1.5]), method="inverted_cdf")]
    if np.lib.NumpyVersion(np.__version__) >= "2.0.0"
    else []
)
# fmt: off
ORDERING = takes_lists(
    defined(np.sort, _sort, call(spread(4)), call(spread(2, 3)), call(spread(2, 3), 0),
            call(spread(2, 3), axis=None), call(complexes(4)), call([floats(), floats()])),
    *(defined(np.msort, _msort, call(spread(2, 3))) for _ in range(hasattr(np, "msort"))),
    defined(np.sort_complex, _sort_complex, call(spread(4)), call(complexes(4))),
    defined(np.partition, _partition, call(spread(5), 2), call(spread(2, 4), (1, 2), axis=1),
            call(spread(2, 3), 2, axis=None)),
    defined(np.median, _median, call(spread(4)), call(spread(5)), call(spread(2, 3), 1),
            call(spread(2, 3), axis=(0, 1), keepdims=True), call([floats(), floats(), floats()]),
            call(spread(2, 4, 2), axis=1, keepdims=True)),
    defined(np.quantile, _quantile, call(spread(7), 0.3), call(spread(2, 4), 0.3, 1),
            call(spread(2, 4), LISTED, axis=0), call(spread(2, 4), LISTED, axis=0, keepdims=True),
            call(spread(2, 4), 0.25, axis=(0, 1), keepdims=True),
            *(call(spread(7), 0.37, method=method) for method in METHODS), *WEIGHTED),
    defined(np.percentile, _percentile, call(spread(7), 30.0), call(spread(2, 4), 30.0, 1),
            call(spread(2, 4), 100 * LISTED, axis=0), call(spread(7), 37.0, method="hazen")),
    defined(np.nanmedian, _nanmedian, _gapped(), _gapped(1), _gapped(axis=0, keepdims=True)),
    defined(np.nanquantile, _nanquantile, _gapped(0.3), _gapped(0.3, 1), _gapped(LISTED, axis=0),
            _gapped(LISTED, axis=0, keepdims=True)),
    defined(np.nanpercentile, _nanpercentile, _gapped(30.0), _gapped(100 * LISTED, axis=1)),
    constant(np.argsort, call(spread(2, 3)), call(spread(2, 3), axis=0)),
    constant(np.argpartition, call(spread(2, 3), 1)),
    constant(np.searchsorted, call(np.arange(4.0), floats(3)), call(np.arange(4.0), floats()),
             data=("a", "v")),
    constant(np.digitize, call(floats(3), np.arange(4.0)), data=("x", "bins")),
    constant(np.lexsort, call((floats(3), floats(3))), data=("keys",), parameters="keys, axis=-1"),
)
# fmt: on
