"""Rules of the linear filters of ``scipy.ndimage``, by sums over padded arrays."""

import numpy as np
from scipy import ndimage

from overlay import nonoverlay
from overlay.interpretations.autodiff.errors import refuse_form
from overlay.interpretations.autodiff.rules.array_rule import ArrayRule, defined
from overlay.interpretations.autodiff.rules.drawn_calls import call, floats

__all__ = ["ARRAY_RULES"]

PADDING = {
    "reflect": "symmetric", "grid-mirror": "symmetric", "mirror": "reflect", "nearest": "edge",
    "wrap": "wrap", "grid-wrap": "wrap", "constant": "constant", "grid-constant": "constant",
}  # fmt: skip
"""The modes of np.pad."""


def _array(x):
    return np.array(x) if type(x) in (list, tuple) else x


def _correlated(function, a, weights, output, mode, cval, origin):
    """The sum of the elements around each one, times weights."""
    if output is not None:
        refuse_form(function, "output=", "use the result")
    if mode not in PADDING:
        refuse_form(function, f"mode={mode!r}", "pass one mode for all axes")
    weights = _array(weights)
    shape, counts = np.shape(a), np.shape(weights)
    origins = np.broadcast_to(origin, len(counts))
    before = [n // 2 + int(o) for n, o in zip(counts, origins, strict=True)]
    around = [(b, n - 1 - b) for b, n in zip(before, counts, strict=True)]
    more = {"constant_values": cval} if PADDING[mode] == "constant" else {}
    padded = np.pad(a, around, PADDING[mode], **more)
    found = 0.0
    for place in np.ndindex(*counts):
        part = tuple(slice(k, k + n) for k, n in zip(place, shape, strict=True))
        found = found + weights[place] * padded[part]
    return found


def _along(function, a, weights, axis, output, mode, cval, origin):
    """The sum along one axis."""
    shape = [1] * np.ndim(a)
    shape[axis] = len(weights)
    origins = [0] * np.ndim(a)
    origins[axis] = origin
    return _correlated(function, a, np.reshape(weights, shape), output, mode, cval, origins)


def _correlate(input, weights, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    if axes is not None:
        refuse_form(ndimage.correlate, "axes=", "give weights of as many axes as the array")
    return _correlated(ndimage.correlate, _array(input), weights, output, mode, cval, origin)


def _convolve(input, weights, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    if axes is not None:
        refuse_form(ndimage.convolve, "axes=", "give weights of as many axes as the array")
    weights = np.flip(_array(weights))
    shifts = [-o - (1 - n % 2) for o, n in zip(
        np.broadcast_to(origin, np.ndim(weights)), np.shape(weights), strict=True)]  # fmt: skip
    return _correlated(ndimage.convolve, _array(input), weights, output, mode, cval, shifts)


def _correlate_1d(input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    function = ndimage.correlate1d
    return _along(function, _array(input), _array(weights), axis, output, mode, cval, origin)


def _convolve_1d(input, weights, axis=-1, output=None, mode="reflect", cval=0.0, origin=0):
    weights = np.flip(_array(weights))
    origin = -origin - (1 - len(weights) % 2)
    function = ndimage.convolve1d
    return _along(function, _array(input), weights, axis, output, mode, cval, origin)


@nonoverlay  # arrays that are made in the context are active
def _gaussian(sigma, order, truncate, radius):
    """The weights, which the response to one point tells."""
    reach = int(truncate * float(sigma) + 0.5) if radius is None else int(radius)
    point = np.zeros(2 * reach + 1)
    point[reach] = 1.0
    response = ndimage.gaussian_filter1d(
        point, sigma, -1, order, None, "constant", 0.0, truncate, radius=radius
    )
    return np.flip(response)


def _gaussian_filter_1d(input, sigma, axis=-1, order=0, output=None, mode="reflect", cval=0.0,
                        truncate=4.0, *, radius=None):  # fmt: skip
    weights = _gaussian(sigma, order, truncate, radius)
    function = ndimage.gaussian_filter1d
    return _along(function, _array(input), weights, axis, output, mode, cval, 0)


def _each(x, count):
    """A parameter for each of some axes."""
    return [x] * count if x is None or np.ndim(x) == 0 else list(x)


def _gaussian_filter(input, sigma, order=0, output=None, mode="reflect", cval=0.0, truncate=4.0,
                     *, radius=None, axes=None):  # fmt: skip
    if output is not None:
        refuse_form(ndimage.gaussian_filter, "output=", "use the result")
    found = _array(input)
    places = range(np.ndim(found)) if axes is None else axes
    places = [places] if isinstance(places, int) else list(places)
    given = [_each(x, len(places)) for x in (sigma, order, mode, radius)]
    for axis, width, degree, how, reach in zip(places, *given, strict=True):
        if width > 1e-15:
            found = _gaussian_filter_1d(
                found, width, axis, degree, None, how, cval, truncate, radius=reach)  # fmt: skip
    return found


def _uniform_filter(input, size=3, output=None, mode="reflect", cval=0.0, origin=0, *, axes=None):
    if output is not None:
        refuse_form(ndimage.uniform_filter, "output=", "use the result")
    found = _array(input)
    places = range(np.ndim(found)) if axes is None else axes
    places = [places] if isinstance(places, int) else list(places)
    given = [_each(x, len(places)) for x in (size, mode, origin)]
    for axis, count, how, shift in zip(places, *given, strict=True):
        weights = np.full(count, 1.0 / count)
        found = _along(ndimage.uniform_filter, found, weights, axis, None, how, cval, shift)
    return found


MODES = ("reflect", "mirror", "nearest", "wrap", "constant")


# fmt: off
ARRAY_RULES: tuple[ArrayRule, ...] = (
    defined(ndimage.correlate, _correlate, *(
        call(floats(4, 5), floats(2, 3), mode=mode) for mode in MODES)),
    defined(ndimage.convolve, _convolve, *(
        call(floats(4, 5), floats(3, 2), mode=mode) for mode in MODES)),
    defined(ndimage.correlate1d, _correlate_1d, call(floats(5), floats(3)),
            call(floats(2, 5), floats(4), axis=1, origin=1)),
    defined(ndimage.convolve1d, _convolve_1d, call(floats(5), floats(4)),
            call(floats(5, 2), floats(3), axis=0, origin=1)),
    defined(ndimage.gaussian_filter1d, _gaussian_filter_1d, call(floats(6), 1),
            call(floats(2, 7), 1, order=1, mode="mirror"), call(floats(6), 1, mode="wrap")),
    defined(ndimage.gaussian_filter, _gaussian_filter, call(floats(5, 6), 1),
            call(floats(5, 6), (1, 2), order=(0, 1), mode="nearest")),
    defined(ndimage.uniform_filter, _uniform_filter, call(floats(5, 4), 3), call(floats(6), 2)),
)
# fmt: on
