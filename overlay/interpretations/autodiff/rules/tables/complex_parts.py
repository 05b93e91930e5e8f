"""Rules of the parts, absolute values and angles of complex numbers.

Absolute values and signs of real numbers have rules in ``extremes``.
"""

import operator
from typing import Any

import numpy as np

from overlay.interpretations.autodiff.rules.array_rule import linear, smooth, takes_lists
from overlay.interpretations.autodiff.rules.drawn_calls import call, complexes, floats, positive
from overlay.interpretations.autodiff.rules.tables.powers import powers
from overlay.interpretations.autodiff.rules.tables.products import summed_to

__all__ = ["COMPLEX_PARTS", "OF_COMPLEX"]


def _by_tanh(z):
    small = np.exp(-2.0 * np.copysign(1.0, np.real(z)) * z)  # 1 - tanh(z)**2 cancels
    return (4.0 * small / ((1.0 + small) * (1.0 + small)),)


def _by_arcsinh(z):
    return (1.0 / np.sqrt(1.0 + z * z),)


OF_COMPLEX: dict[Any, Any] = {np.tanh: _by_tanh, np.arcsinh: _by_arcsinh}
"""Derivatives by complex numbers of functions whose rules are for real numbers, as they avoid
overflow."""


def _real_vjp(d, ret, val):
    return d


def _imag_vjp(d, ret, val):
    return 1j * d


def _conj_vjp(d, ret, x):
    return np.conj(d)


def _unit(x, ret):
    if not np.iscomplexobj(x):
        return np.copysign(1.0, x)
    return x / np.where(ret == 0, 1.0, ret)


def _absolute_jvp(t, ret, x):
    return np.real(np.conj(_unit(x, ret)) * t)


def _absolute_vjp(d, ret, x):
    return d * _unit(x, ret)


_HAS_COMPLEX_SIGNS = np.lib.NumpyVersion(np.__version__) >= "2.0.0"


def _across(t, ret, x):
    """The part of a tangent across the direction of a complex number, by its absolute value."""
    if not np.iscomplexobj(x) or not _HAS_COMPLEX_SIGNS:
        return 0.0 * t
    size = np.abs(x)
    return (t - ret * np.real(np.conj(ret) * t)) / np.where(size == 0, 1.0, size)


def _turn(z):
    """The derivative of the angle, as the factor of the conjugate of a tangent."""
    return 1j * z / np.real(z * np.conj(z))


def _angle_jvp(t, ret, z, deg=False):
    return np.real(np.conj(_turn(z)) * t) * (180.0 / np.pi if deg else 1.0)


def _angle_vjp(d, ret, z, deg=False):
    return d * _turn(z) * (180.0 / np.pi if deg else 1.0)


def _real_if_close_jvp(t, ret, a, tol=100):
    return t if np.iscomplexobj(ret) else np.real(t)


def _real_if_close_vjp(d, ret, a, tol=100):
    return d


def _by_base(a, b, ret):
    if not np.iscomplexobj(ret):
        return powers(a, b, ret)[0]
    return np.where(b == 0, 0.0, b * a ** np.where(b == 0, 1, b - 1))


def _by_exponent(a, b, ret):
    if not np.iscomplexobj(ret):
        return powers(a, b, ret)[1]
    return ret * np.log(np.where(a == 0, 1.0, a) + 0j)


def _base_jvp(t, ret, a, b):
    return t * _by_base(a, b, ret)


def _base_vjp(d, ret, a, b):
    return summed_to(d * np.conj(_by_base(a, b, ret)), np.shape(a))


def _exponent_jvp(t, ret, a, b):
    return t * _by_exponent(a, b, ret)


def _exponent_vjp(d, ret, a, b):
    return summed_to(d * np.conj(_by_exponent(a, b, ret)), np.shape(b))


FORMS = (call(floats(3)), call(complexes(2, 2)), call(complexes()))
COMPLEX_PARTS = takes_lists(
    linear(np.real, _real_vjp, *FORMS, call([complexes(), floats()]), data=("val",)),
    linear(np.imag, _imag_vjp, *FORMS, data=("val",)),
    linear(np.conjugate, _conj_vjp, *FORMS, data=("x",), parameters="x"),
    smooth(
        np.absolute,
        _absolute_jvp,
        _absolute_vjp,
        *FORMS,
        call(floats()),
        data=("x",),
        parameters="x",
        also=(abs, operator.abs),
    ),
    smooth(np.sign, _across, _across, *FORMS, data=("x",), parameters="x"),
    smooth(
        np.power,
        (_base_jvp, _exponent_jvp),
        (_base_vjp, _exponent_vjp),
        call(complexes(3), 2.5),
        call(complexes(2, 3), complexes(3)),
        call(complexes(), floats()),
        call(complexes(2), 2),
        call(positive(3), complexes()),
        call(positive(2), floats(2)),
        data=("a", "b"),
        parameters="a, b",
        also=(operator.pow, pow, np.float_power),
    ),
    smooth(np.angle, _angle_jvp, _angle_vjp, *FORMS, call(complexes(3), deg=True), data=("z",)),
    smooth(np.real_if_close, _real_if_close_jvp, _real_if_close_vjp, *FORMS),
)
