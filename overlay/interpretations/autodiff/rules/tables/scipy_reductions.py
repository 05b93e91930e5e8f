"""Rules of the functions of ``scipy.special`` that reduce arrays; imported where a program has
imported that."""

import numpy as np
from scipy import special

from overlay.interpretations.autodiff.rules.array_rule import smooth
from overlay.interpretations.autodiff.rules.drawn_calls import call, floats, positive

__all__ = ["ARRAY_RULES"]


def _shares(a, axis, b):
    """The share of each term in the sum of exponentials."""
    largest = np.max(np.real(a), axis=axis, keepdims=True)
    terms = np.exp(a - largest) if b is None else b * np.exp(a - largest)
    return terms / np.sum(terms, axis=axis, keepdims=True)


def _spread(d, axis, keepdims, a):
    if keepdims or axis is None:
        return d
    return np.expand_dims(d, axis)


def _log_sum_forward(t, ret, a, axis=None, b=None, keepdims=False, return_sign=False):
    return np.sum(_shares(a, axis, b) * t, axis=axis, keepdims=keepdims)


def _log_sum_back(d, ret, a, axis=None, b=None, keepdims=False, return_sign=False):
    return np.conj(_shares(a, axis, b)) * _spread(d, axis, keepdims, a)


def _log_sum_weight_forward(t, ret, a, axis=None, b=None, keepdims=False, return_sign=False):
    return np.sum(_shares(a, axis, b) * t / b, axis=axis, keepdims=keepdims)


def _log_sum_weight_back(d, ret, a, axis=None, b=None, keepdims=False, return_sign=False):
    found = _shares(a, axis, b) / b * _spread(d, axis, keepdims, a)
    while np.ndim(found) > np.ndim(b):
        found = np.sum(found, axis=0)
    for place in range(np.ndim(b)):
        if np.shape(b)[place] == 1 and found.shape[place] != 1:
            found = np.sum(found, axis=place, keepdims=True)
    return found


def _softmax_forward(t, ret, x, axis=None):
    return ret * (t - np.sum(ret * t, axis=axis, keepdims=True))


def _log_softmax_forward(t, ret, x, axis=None):
    return t - np.sum(np.exp(ret) * t, axis=axis, keepdims=True)


def _log_softmax_back(d, ret, x, axis=None):
    return d - np.exp(ret) * np.sum(d, axis=axis, keepdims=True)


# fmt: off
ARRAY_RULES = (
    smooth(special.logsumexp, (_log_sum_forward, _log_sum_weight_forward),
           (_log_sum_back, _log_sum_weight_back), call(floats(4)), call(floats(2, 3), axis=1),
           call(floats(2, 3), axis=0, keepdims=True), call(floats(2, 3), axis=(0, 1)),
           call(floats(2, 3), axis=1, b=positive(2, 3)), call(floats(2, 3), b=positive(3)),
           data=("a", "b"), parameters="a, axis=None, b=None, keepdims=False"),
    smooth(special.softmax, _softmax_forward, _softmax_forward, call(floats(4)),
           call(floats(2, 3), axis=1), call(floats(2, 3), axis=(0, 1)), data=("x",),
           parameters="x, axis=None"),
    smooth(special.log_softmax, _log_softmax_forward, _log_softmax_back, call(floats(4)),
           call(floats(2, 3), axis=1), call(floats(2, 3), axis=-2), data=("x",),
           parameters="x, axis=None"),
)
# fmt: on
