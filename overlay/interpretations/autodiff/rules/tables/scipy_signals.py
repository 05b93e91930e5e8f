"""Rules of the convolutions and linear filters of ``scipy.signal``."""

import numpy as np
from scipy import signal

from overlay.interpretations.autodiff.errors import refuse_form
from overlay.interpretations.autodiff.rules.array_rule import (
    ArrayRule,
    defined,
    linear,
    multilinear,
    smooth,
)
from overlay.interpretations.autodiff.rules.drawn_calls import call, complexes, floats

__all__ = ["ARRAY_RULES"]


# ---- convolutions -------------------------------------------------------------------------


def _in_full(d, first, second, mode):
    """The cotangent of a convolution as that of the one with all terms."""
    if mode == "full":
        return d
    shapes = zip(np.shape(first), np.shape(second), np.shape(d), strict=True)
    padding = []
    for a, b, count in shapes:
        start = (b - 1) // 2 if mode == "same" else min(a, b) - 1
        padding.append((start, a + b - 1 - start - count))
    return np.pad(d, padding)


def _with_other(d, other):
    return signal.correlate(d, other, "valid")


def _checked_axes(function, axes):
    if axes is not None:
        refuse_form(function, "axes=", "use np.fft")


def _convolve_first(d, ret, in1, in2, mode="full", method="auto"):
    return _with_other(_in_full(d, in1, in2, mode), in2)


def _convolve_second(d, ret, in1, in2, mode="full", method="auto"):
    return _with_other(_in_full(d, in1, in2, mode), in1)


def _fft_convolve(function):
    def by(in1, in2, mode="full", axes=None):
        _checked_axes(function, axes)
        return signal.convolve(in1, in2, mode, "fft")

    return by


def _correlate(in1, in2, mode="full", method="auto"):
    return signal.convolve(in1, np.conj(np.flip(in2)), mode, method)


def _boundary(function, boundary, fillvalue):
    if boundary != "fill" or fillvalue:
        refuse_form(function, "boundary= or fillvalue=", "pad by np.pad and use mode='valid'")


def _convolve_plane(in1, in2, mode="full", boundary="fill", fillvalue=0):
    _boundary(signal.convolve2d, boundary, fillvalue)
    return signal.convolve(in1, in2, mode)


def _correlate_plane(in1, in2, mode="full", boundary="fill", fillvalue=0):
    _boundary(signal.correlate2d, boundary, fillvalue)
    if mode != "same":
        return _correlate(in1, in2, mode)
    starts = [n // 2 for n in np.shape(in2)]
    part = tuple(slice(k, k + n) for k, n in zip(starts, np.shape(in1), strict=True))
    return _correlate(in1, in2)[part]


# ---- filters ------------------------------------------------------------------------------


def _filtered(b, a, x, axis, zi):
    if zi is not None:
        refuse_form(signal.lfilter, "zi=", "put the samples before in front of x")
    return signal.lfilter(b, a, x, axis)


def _filter_b(t, ret, b, a, x, axis=-1, zi=None):
    return _filtered(t, a, x, axis, zi)


def _filter_a(t, ret, b, a, x, axis=-1, zi=None):
    return _filtered(-t, a, ret, axis, zi)


def _filter_x(t, ret, b, a, x, axis=-1, zi=None):
    return _filtered(b, a, t, axis, zi)


def _by_coefficients(d, x, a, count, axis, zi):
    """The sums of a cotangent times a signal that is filtered by 1/a and delayed."""
    past = np.moveaxis(_filtered(np.ones(1), a, x, axis, zi), axis, -1)
    d, length = np.moveaxis(d, axis, -1), np.shape(x)[axis]
    found = [np.sum(d[..., k:] * np.conj(past[..., : max(length - k, 0)])) for k in range(count)]
    return np.array(found)


def _filter_b_back(d, ret, b, a, x, axis=-1, zi=None):
    return _by_coefficients(d, x, a, len(b), axis, zi)


def _filter_a_back(d, ret, b, a, x, axis=-1, zi=None):
    return -_by_coefficients(d, ret, a, len(a), axis, zi)


def _filter_x_back(d, ret, b, a, x, axis=-1, zi=None):
    found = _filtered(np.conj(b), np.conj(a), np.flip(d, axis), axis, zi)
    return np.flip(found, axis)


def _sections_back(d, ret, sos, x, axis=-1, zi=None):
    if zi is not None:
        refuse_form(signal.sosfilt, "zi=", "put the samples before in front of x")
    return np.flip(signal.sosfilt(np.conj(sos), np.flip(d, axis), axis), axis)


def _detrend_back(d, ret, data, axis=-1, type="linear", bp=0, overwrite_data=False):
    return signal.detrend(d, axis, type, bp)  # a projection


def _hilbert(x, N=None, axis=-1):  # noqa: N803 (scipy's name)
    count = np.shape(x)[axis] if N is None else N
    factors = np.zeros(count)
    factors[0] = 1.0
    factors[1 : (count + 1) // 2] = 2.0
    if count % 2 == 0:
        factors[count // 2] = 1.0
    shape = [1] * np.ndim(x)
    shape[axis] = count
    return np.fft.ifft(np.fft.fft(x, count, axis) * np.reshape(factors, shape), axis=axis)


# ---- samples ------------------------------------------------------------------------------

PAIRS = (
    *(call(floats(5), floats(3), mode) for mode in ("full", "same", "valid")),
    call(floats(2), floats(4), "valid"), call(floats(3, 4), floats(2, 2), "same"),
)  # fmt: skip
PLANES = tuple(call(floats(3, 4), floats(2, 2), mode) for mode in ("full", "same", "valid"))
SECTIONS = signal.butter(4, 0.3, output="sos")


def _stable(*shape, **named):
    def sample(rng):
        a = np.concatenate(([1.5], 0.3 * rng.normal(size=2)))
        return rng.normal(size=3), a, rng.normal(size=shape), *([named] if named else [])

    return sample


# fmt: off
ARRAY_RULES: tuple[ArrayRule, ...] = (
    multilinear(signal.convolve, (_convolve_first, _convolve_second), *PAIRS,
                call(complexes(4), complexes(2)), data=("in1", "in2")),
    defined(signal.fftconvolve, _fft_convolve(signal.fftconvolve), *PAIRS),
    defined(signal.oaconvolve, _fft_convolve(signal.oaconvolve), *PAIRS),
    defined(signal.correlate, _correlate, *PAIRS, call(complexes(4), complexes(2))),
    defined(signal.convolve2d, _convolve_plane, *PLANES),
    defined(signal.correlate2d, _correlate_plane, *PLANES),
    smooth(signal.lfilter, (_filter_b, _filter_a, _filter_x),
           (_filter_b_back, _filter_a_back, _filter_x_back), _stable(6), _stable(2, 5),
           _stable(4, 2, axis=0), data=("b", "a", "x")),
    linear(signal.sosfilt, _sections_back, lambda rng: (SECTIONS, rng.normal(size=6)),
           data=("x",)),
    linear(signal.detrend, _detrend_back, call(floats(5)), call(floats(5), type="constant"),
           call(floats(4, 2), axis=0), call(floats(6), bp=3), data=("data",)),
    defined(signal.hilbert, _hilbert, call(floats(5)), call(floats(2, 4)), call(floats(4), N=6)),
)
# fmt: on
