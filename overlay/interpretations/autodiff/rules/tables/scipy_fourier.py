"""Rules of the discrete Fourier, cosine and sine transforms of ``scipy.fft``."""

import numpy as np
from scipy import fft

from overlay.interpretations.autodiff.rules.array_rule import ArrayRule, defined, linear
from overlay.interpretations.autodiff.rules.drawn_calls import call, complexes, floats
from overlay.interpretations.autodiff.rules.tables.fourier import SWAPPED, resized

__all__ = ["ARRAY_RULES"]


def _of_one(function):
    """The transform along one axis, by numpy's."""

    def by(x, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, *, plan=None):
        return function(x, n, axis, norm)

    return by


def _of_several(function, default):
    """The transform along several axes, by numpy's."""

    def by(x, s=None, axes=default, norm=None, overwrite_x=False, workers=None, *, plan=None):
        if axes is None and s is not None:
            axes = tuple(range(-len(s), 0))
        return function(x, s, axes, norm)

    return by


# ---- cosine and sine transforms -----------------------------------------------------------

PARTNERS = {1: 1, 2: 3, 3: 2, 4: 4}
"""The type of the inverse, which is that of the transpose."""


def _ends(function, type, count):
    """The factors of the values whose weight is half of that of the others, at the ends of the
    input of a transform."""
    found = np.ones(count)
    if function is fft.dct and type in (1, 3):
        found[0] = 0.5
    if (function is fft.dct and type == 1) or (function is fft.dst and type == 3):
        found[-1] = 0.5
    return found


def _trigonometric(function):
    def back(d, ret, x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None,
             orthogonalize=None):  # fmt: skip
        if (norm == "ortho" and orthogonalize is not False) or orthogonalize:
            # then it is orthogonal up to a factor
            found = function(d, PARTNERS[type], None, axis, norm, orthogonalize=True)
            return resized(found, np.shape(x)[axis], axis)
        count = np.shape(d)[axis]
        shape = [1] * np.ndim(d)
        shape[axis] = count
        partner = PARTNERS[type]
        d = d / np.reshape(_ends(function, partner, count), shape)
        found = function(d, partner, None, axis, norm, orthogonalize=False)
        found = found * np.reshape(_ends(function, type, count), shape)
        return resized(found, np.shape(x)[axis], axis)

    return back


def _inverse(function):
    def by(x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None,
           orthogonalize=None):  # fmt: skip
        if orthogonalize is None:
            orthogonalize = norm == "ortho"
        return function(x, PARTNERS[type], n, axis, SWAPPED[norm], orthogonalize=orthogonalize)

    return by


def _along_axes(function):
    def by(x, type=2, s=None, axes=None, norm=None, overwrite_x=False, workers=None, *,
           orthogonalize=None):  # fmt: skip
        if axes is None:
            axes = range(-np.ndim(x) if s is None else -len(s), 0)
        axes = (axes,) if isinstance(axes, int) else tuple(axes)
        lengths = [None] * len(axes) if s is None else s
        for axis, n in zip(axes, lengths, strict=True):
            x = function(x, type, n, axis, norm, orthogonalize=orthogonalize)
        return x

    return by


BOTH = (call(floats(5)), call(complexes(2, 4), axis=0, norm="ortho"), call(floats(4), n=6))
REAL = (call(floats(5)), call(floats(2, 4), axis=0, norm="ortho"), call(floats(4), n=6))
PLANE = (call(floats(2, 3)), call(floats(2, 3), norm="forward"))
COSINES = (
    *(call(floats(5), type, norm=norm)
      for type in (1, 2, 3, 4) for norm in (None, "ortho", "forward")),
    call(floats(2, 4), 2, axis=0), call(floats(4), 3, n=6), call(floats(6), n=4),
    call(floats(4), orthogonalize=True),
)  # fmt: skip
CUBES = (call(floats(2, 3)), call(floats(2, 3), 3, axes=(1,), norm="ortho"))
TRIGONOMETRIC = "x, type=2, n=None, axis=-1, norm=None, overwrite_x=False, workers=None, " \
    "orthogonalize=None"  # fmt: skip
# fmt: off
ARRAY_RULES: tuple[ArrayRule, ...] = (
    defined(fft.fft, _of_one(np.fft.fft), *BOTH),
    defined(fft.ifft, _of_one(np.fft.ifft), *BOTH),
    defined(fft.rfft, _of_one(np.fft.rfft), *REAL),
    defined(fft.irfft, _of_one(np.fft.irfft), *BOTH),
    defined(fft.hfft, _of_one(np.fft.hfft), *BOTH),
    defined(fft.ihfft, _of_one(np.fft.ihfft), *REAL),
    defined(fft.fft2, _of_several(np.fft.fftn, (-2, -1)), *PLANE),
    defined(fft.ifft2, _of_several(np.fft.ifftn, (-2, -1)), *PLANE),
    defined(fft.fftn, _of_several(np.fft.fftn, None), *PLANE, call(floats(2, 3), (4,))),
    defined(fft.ifftn, _of_several(np.fft.ifftn, None), *PLANE),
    defined(fft.rfft2, _of_several(np.fft.rfftn, (-2, -1)), *PLANE),
    defined(fft.irfft2, _of_several(np.fft.irfftn, (-2, -1)), *PLANE),
    defined(fft.rfftn, _of_several(np.fft.rfftn, None), *PLANE),
    defined(fft.irfftn, _of_several(np.fft.irfftn, None), *PLANE),
    defined(fft.fftshift, lambda x, axes=None: np.fft.fftshift(x, axes), call(floats(2, 3))),
    defined(fft.ifftshift, lambda x, axes=None: np.fft.ifftshift(x, axes), call(floats(5))),
    linear(fft.dct, _trigonometric(fft.dct), *COSINES, data=("x",), parameters=TRIGONOMETRIC),
    linear(fft.dst, _trigonometric(fft.dst), *COSINES, data=("x",), parameters=TRIGONOMETRIC),
    defined(fft.idct, _inverse(fft.dct), *COSINES),
    defined(fft.idst, _inverse(fft.dst), *COSINES),
    defined(fft.dctn, _along_axes(fft.dct), *CUBES),
    defined(fft.dstn, _along_axes(fft.dst), *CUBES),
    defined(fft.idctn, _along_axes(fft.idct), *CUBES),
    defined(fft.idstn, _along_axes(fft.idst), *CUBES),
)
# fmt: on
