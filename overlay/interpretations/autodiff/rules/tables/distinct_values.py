"""Rules of functions that treat arrays as sets: the distinct elements, in their order.

Each element of a result is that element of the data whose place numpy finds.
"""

import numpy as np

from overlay import nonoverlay
from overlay.interpretations.autodiff.duals import primal
from overlay.interpretations.autodiff.rules.array_rule import defined, takes_lists
from overlay.interpretations.autodiff.rules.drawn_calls import call, floats
from overlay.interpretations.autodiff.rules.tables.order_statistics import taken

__all__ = ["DISTINCT_VALUES"]

# their own code makes arrays, which would be active
_plain_unique, _plain_intersect = nonoverlay(np.unique), nonoverlay(np.intersect1d)
_plain_isin = nonoverlay(np.isin)


def _unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, **named):
    flags = return_inverse, return_counts, axis
    found = _plain_unique(primal(ar), True, *flags, **named)
    values = taken(ar, found[1]) if axis is None else np.take(ar, found[1], axis)
    rest = found[1:] if return_index else found[2:]
    return (values, *rest) if rest else values


def _unique_values(x, /):
    return np.unique(x, equal_nan=False)


def _union1d(ar1, ar2):
    return np.unique(np.concatenate((np.ravel(ar1), np.ravel(ar2))))


def _intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    found = _plain_intersect(primal(ar1), primal(ar2), assume_unique, True)
    values = taken(ar1, found[1])
    return (values, *found[1:]) if return_indices else values


def _setdiff1d(ar1, ar2, assume_unique=False):
    own = np.ravel(ar1) if assume_unique else np.unique(ar1)
    return own[~_plain_isin(primal(own), primal(ar2))]


def _setxor1d(ar1, ar2, assume_unique=False):
    first = np.setdiff1d(ar1, ar2, assume_unique)
    return np.sort(np.concatenate((first, np.setdiff1d(ar2, ar1, assume_unique))))


DISTINCT_VALUES = takes_lists(
    defined(
        np.unique,
        _unique,
        call(floats(4)),
        call(floats(2, 3), axis=1),
        call(floats(3), True, True, True),
    ),
    *(
        defined(np.unique_values, _unique_values, call(floats(4)))
        for _ in range(hasattr(np, "unique_values"))
    ),
    defined(np.union1d, _union1d, call(floats(2), floats(3))),
    defined(np.intersect1d, _intersect1d, call(floats(2), floats(3))),
    defined(np.setdiff1d, _setdiff1d, call(floats(4), np.array([1.0, 2.0]))),
    defined(np.setxor1d, _setxor1d, call(floats(2), floats(3))),
)
