"""Rules of the elementwise functions of ``scipy.special`` that have several results, or complex
ones."""

import math

import numpy as np
from scipy import special

from overlay.interpretations.autodiff.rules.array_rule import ArrayRule, smooth
from overlay.interpretations.autodiff.rules.drawn_calls import call, complexes, floats, positive
from overlay.interpretations.autodiff.rules.tables.products import summed_to

__all__ = ["ARRAY_RULES"]


def _several(function, slopes, results, *samples):
    """A rule by the derivatives of the results, which ``slopes(ret, x)`` gives."""

    def forward(t, ret, x):
        return tuple(slope * t for slope in slopes(ret, x))

    def back(d, ret, x):
        return sum(each * slope for each, slope in zip(d, slopes(ret, x), strict=True))

    return smooth(function, forward, back, *samples, data=("x",), parameters="x", results=results)


def _holomorphic(function, slope, *samples, **facts):
    """A rule of a function of one complex or real number by its complex derivative."""
    return smooth(
        function, lambda t, ret, x: slope(x, ret) * t,
        lambda d, ret, x: np.conj(slope(x, ret)) * d, *samples, data=("x",), parameters="x",
        **facts)  # fmt: skip


def _elliptic(ret, u, m):
    sn, cn, dn, _ = ret
    return cn * dn, -sn * dn, -m * sn * cn, dn


def _elliptic_forward(t, ret, u, m):
    return tuple(slope * t for slope in _elliptic(ret, u, m))


def _elliptic_back(d, ret, u, m):
    terms = zip(d, _elliptic(ret, u, m), strict=True)
    return summed_to(sum(each * slope for each, slope in terms), np.shape(u))


# ---- spherical harmonics ------------------------------------------------------------------


def _by_polar(n, m, theta, phi):
    """The derivative by the polar angle, from the neighbours in the order."""
    above = np.sqrt(np.maximum((n - m) * (n + m + 1.0), 0.0)) * np.exp(-1j * phi)
    below = np.sqrt(np.maximum((n + m) * (n - m + 1.0), 0.0)) * np.exp(1j * phi)
    harmonic = special.sph_harm_y
    found = above * harmonic(n, m + 1, theta, phi) - below * harmonic(n, m - 1, theta, phi)
    return np.where(np.sin(theta) < 0, -0.5, 0.5) * found  # scipy has harmonics even in the angle


def _by_azimuth(n, m, theta, phi):
    return 1j * m * special.sph_harm_y(n, m, theta, phi)


def _harmonic_forward(slope):
    def forward(t, ret, *args):
        return np.expand_dims(slope(*args) * t, (-2, -1))  # the ufunc's results are matrices

    return forward


def _harmonic_back(slope, place):
    def back(d, ret, *args):
        found = np.real(np.conj(slope(*args)) * d[..., 0, 0])
        return summed_to(found, np.shape(args[place]))

    return back


def _spherical_harmonics():
    """The rule of the ufunc below ``sph_harm_y``, which came in scipy 1.15."""
    harmonics = getattr(special, "sph_harm_y", None)
    if harmonics is None:
        return ()
    return (
        smooth(
            harmonics._resolve_ufunc(diff_n=0),
            (_harmonic_forward(_by_polar), _harmonic_forward(_by_azimuth)),
            (_harmonic_back(_by_polar, 2), _harmonic_back(_by_azimuth, 3)),
            call(2, 1, floats(3), floats(3)),
            call(3, -2, floats(3), floats()), call(2, 2, floats(), floats(3)),
            data=("theta", "phi"), parameters="n, m, theta, phi"),
    )  # fmt: skip


REAL = (call(positive()), call(positive(3)))
# fmt: off
ARRAY_RULES: tuple[ArrayRule, ...] = (
    _several(special.fresnel, lambda ret, x: (
        np.sin(0.5 * math.pi * x * x), np.cos(0.5 * math.pi * x * x)), 2, *REAL, call(floats(3))),
    _several(special.sici, lambda ret, x: (np.sinc(x / math.pi), np.cos(x) / x), 2, *REAL),
    _several(special.shichi, lambda ret, x: (np.sinh(x) / x, np.cosh(x) / x), 2, *REAL),
    _several(special.airy, lambda ret, x: (ret[1], x * ret[0], ret[3], x * ret[2]), 4, *REAL,
             call(floats(3))),
    smooth(special.ellipj, (_elliptic_forward, None), (_elliptic_back, None),
           lambda rng: (rng.normal(size=3), rng.integers(0, 2, 3)), results=4, data=("u", "m"),
           parameters="u, m"),
    _holomorphic(special.wofz, lambda x, ret: -2.0 * x * ret + 2j / math.sqrt(math.pi),
                 call(floats(3)), call(floats()), call(complexes(3)), call(complexes())),
    *_spherical_harmonics(),
)
# fmt: on
