"""Rules of functions that split numbers into a whole part and the rest, and of roundings."""

import numpy as np

from overlay.interpretations.autodiff.duals import primal
from overlay.interpretations.autodiff.rules.array_rule import defined, smooth, takes_lists
from overlay.interpretations.autodiff.rules.drawn_calls import call, complexes, floats, positive

__all__ = ["WHOLE_PARTS"]


def _divmod(a, b):
    return np.floor_divide(a, b), np.remainder(a, b)


def _modf_jvp(t, ret, a):
    return t, 0.0 * t


def _modf_vjp(d, ret, a):
    return d[0]


def _frexp_jvp(t, ret, a):
    return np.ldexp(t, -ret[1]), ret[1]


def _frexp_vjp(d, ret, a):
    return np.ldexp(d[0], -ret[1])


def _level(t, ret, a, decimals=0):
    return 0.0 * t


def _without_nan(x, nan, posinf, neginf):
    plain = primal(x)
    found = np.where(np.isnan(plain), nan, x)
    found = np.where(plain == np.inf, posinf, found)
    return np.where(plain == -np.inf, neginf, found)


def _nan_to_num(x, copy=True, nan=0.0, posinf=None, neginf=None):
    largest = np.finfo(np.float64).max
    rest = nan, largest if posinf is None else posinf, -largest if neginf is None else neginf
    if np.iscomplexobj(x):
        found = _without_nan(np.real(x), *rest) + 1j * _without_nan(np.imag(x), *rest)
    else:
        found = _without_nan(x, *rest)
    if not copy:
        x[...] = found
        return x
    return found if np.ndim(x) else found[()]


def _with_gaps(rng):
    return (np.array([rng.normal(), np.nan, np.inf, -np.inf]), {"nan": 2.0, "posinf": 3.0})


WHOLE_PARTS = takes_lists(
    defined(
        np.divmod,
        _divmod,
        call(positive(3), positive(3)),
        call(floats(2, 3), positive(3)),
        call(floats(), 0.3),
        parameters="a, b",
    ),
    smooth(np.modf, _modf_jvp, _modf_vjp, call(floats(3)), call(floats()), parameters="a"),
    smooth(np.frexp, _frexp_jvp, _frexp_vjp, call(floats(3)), call(floats()), parameters="a"),
    defined(np.nan_to_num, _nan_to_num, _with_gaps, call(complexes(3)), call(floats(), True, 1.0)),
    smooth(np.fix, _level, _level, call(floats(3)), data=("x",)),
    smooth(
        np.round,
        _level,
        _level,
        call(floats(2, 3)),
        call(floats(3), 1),
        call(complexes(3), decimals=1),
        also=(np.around,),
    ),
    smooth(np.spacing, _level, _level, call(floats(3)), data=("x",), parameters="x"),
)
