"""Rules of discrete Fourier transforms."""

import numpy as np

from overlay.interpretations.autodiff.rules.array_rule import (
    defined,
    linear,
    rearranging,
    takes_lists,
)
from overlay.interpretations.autodiff.rules.drawn_calls import call, complexes, floats

__all__ = ["FOURIER", "SWAPPED", "resized"]

SWAPPED = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}
"""The norm with which the inverse is the adjoint."""
NORMS = ("ortho", "forward", "backward")


def resized(d, length, axis):
    """A cotangent cut, or filled with zeros, to a length along an axis."""
    d = np.moveaxis(d, axis, -1)
    missing = length - np.shape(d)[-1]
    if missing > 0:
        d = np.concatenate((d, np.zeros((*np.shape(d)[:-1], missing))), axis=-1)
    return np.moveaxis(d[..., :length], -1, axis)


def _fft_vjp(d, ret, a, n=None, axis=-1, norm=None, out=None):
    return resized(np.fft.ifft(d, axis=axis, norm=SWAPPED[norm]), np.shape(a)[axis], axis)


def _ifft_vjp(d, ret, a, n=None, axis=-1, norm=None, out=None):
    return resized(np.fft.fft(d, axis=axis, norm=SWAPPED[norm]), np.shape(a)[axis], axis)


def _rfft_vjp(d, ret, a, n=None, axis=-1, norm=None, out=None):
    count = np.shape(a)[axis] if n is None else n
    whole = resized(d, count, axis)
    found = np.real(np.fft.ifft(whole, axis=axis, norm=SWAPPED[norm]))
    return resized(found, np.shape(a)[axis], axis)


def _irfft_vjp(d, ret, a, n=None, axis=-1, norm=None, out=None):
    count = np.shape(ret)[axis]
    found = np.moveaxis(np.fft.rfft(d, axis=axis, norm=SWAPPED[norm]), axis, -1)
    twice = np.full(np.shape(found)[-1], 2.0)
    twice[0] = 1.0
    if count % 2 == 0:
        twice[-1] = 1.0
    return resized(np.moveaxis(found * twice, -1, axis), np.shape(a)[axis], axis)


def _hfft_vjp(d, ret, a, n=None, axis=-1, norm=None, out=None):
    return np.conj(_irfft_vjp(d, ret, a, n, axis, SWAPPED[norm]))


def _ihfft_vjp(d, ret, a, n=None, axis=-1, norm=None, out=None):
    return _rfft_vjp(np.conj(d), ret, a, n, axis, SWAPPED[norm])


# ---- of several axes -----------------------------------------------------------------------


def _axes_of(a, s, axes):
    """The axes, and the length along each; None for its own."""
    if axes is None:
        count = np.ndim(a) if s is None else len(s)
        axes = tuple(range(-count, 0))
    lengths = [None] * len(axes) if s is None else [None if n in (-1, None) else n for n in s]
    if len(lengths) != len(axes):
        raise ValueError("Shape and axes have different lengths.")
    return list(axes), lengths


def _one_by_one(transform, a, axes, lengths, norm):
    for axis, n in list(zip(axes, lengths, strict=True))[::-1]:
        a = transform(a, n=n, axis=axis, norm=norm)
    return a


def _several(transform, default):
    """The transform along several axes."""

    def transformed(a, s=None, axes=default, norm=None, out=None):
        return _one_by_one(transform, a, *_axes_of(a, s, axes), norm)

    return transformed


def _several_real(default):
    def transformed(a, s=None, axes=default, norm=None, out=None):
        axes, lengths = _axes_of(a, s, axes)
        a = np.fft.rfft(a, n=lengths[-1], axis=axes[-1], norm=norm)
        return _one_by_one(np.fft.fft, a, axes[:-1], lengths[:-1], norm)

    return transformed


def _several_to_real(default):
    def transformed(a, s=None, axes=default, norm=None, out=None):
        axes, lengths = _axes_of(a, s, axes)
        a = _one_by_one(np.fft.ifft, a, axes[:-1], lengths[:-1], norm)
        return np.fft.irfft(a, n=lengths[-1], axis=axes[-1], norm=norm)

    return transformed


def _of_one(kinds):
    return [
        made
        for kind in kinds
        for made in (
            call(kind(6)), call(kind(5)), call(kind(2, 5), axis=0), call(kind(2, 5), 4),
            call(kind(2, 5), n=7, axis=1), *(call(kind(6), norm=norm) for norm in NORMS),
        )
    ]  # fmt: skip


def _of_several(kinds):
    return [
        made
        for kind in kinds
        for made in (
            call(kind(3, 4)), call(kind(2, 3, 4)), call(kind(3, 4), axes=(1, 0)),
            call(kind(3, 4), s=(2, 5), axes=(0, 1)), call(kind(3, 4), norm="ortho"),
        )
    ]  # fmt: skip


BOTH = (floats, complexes)
# fmt: off
FOURIER = takes_lists(
    linear(np.fft.fft, _fft_vjp, *_of_one(BOTH), call([floats(), 1.0, floats()])),
    linear(np.fft.ifft, _ifft_vjp, *_of_one(BOTH)),
    linear(np.fft.rfft, _rfft_vjp, *_of_one((floats,))),
    linear(np.fft.irfft, _irfft_vjp, *_of_one(BOTH), call(complexes(4), n=7)),
    linear(np.fft.hfft, _hfft_vjp, *_of_one(BOTH)),
    linear(np.fft.ihfft, _ihfft_vjp, *_of_one((floats,))),
    defined(np.fft.fft2, _several(np.fft.fft, (-2, -1)), *_of_several(BOTH)),
    defined(np.fft.ifft2, _several(np.fft.ifft, (-2, -1)), *_of_several(BOTH)),
    defined(np.fft.fftn, _several(np.fft.fft, None), *_of_several(BOTH), call(floats(2, 4))),
    defined(np.fft.ifftn, _several(np.fft.ifft, None), *_of_several(BOTH)),
    defined(np.fft.rfft2, _several_real((-2, -1)), *_of_several((floats,))),
    defined(np.fft.rfftn, _several_real(None), *_of_several((floats,))),
    defined(np.fft.irfft2, _several_to_real((-2, -1)), *_of_several(BOTH)),
    defined(np.fft.irfftn, _several_to_real(None), *_of_several(BOTH)),
    rearranging(np.fft.fftshift, call(floats(5)), call(floats(2, 4), axes=1), call(complexes(4)),
                data=("x",)),
    rearranging(np.fft.ifftshift, call(floats(5)), call(floats(2, 4), axes=(0, 1)), data=("x",)),
)
# fmt: on
