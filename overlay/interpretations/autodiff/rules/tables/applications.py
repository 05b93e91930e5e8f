"""Rules of functions of numpy that apply a function of Python to parts of arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from overlay.interpretations.autodiff.rules.array_rule import ArrayRule, defined
from overlay.interpretations.autodiff.rules.drawn_calls import call, floats

__all__ = ["APPLICATIONS", "vectorized"]


def vectorized(
    f: Callable[..., Any], args: Sequence[Any], otypes: str | None = None, excluded: Any = ()
) -> Any:
    """The results of a function for each element of broadcast arrays, as np.vectorize gives them.
    excluded: the places of the arguments that are passed whole."""
    spread = [i for i in range(len(args)) if i not in excluded]
    arrays = np.broadcast_arrays(*[args[i] for i in spread]) if spread else []
    shape = np.shape(arrays[0]) if spread else ()
    flat = [np.ravel(each) for each in arrays]
    count = int(np.prod(shape))
    if not count and otypes is None:
        raise ValueError("cannot call `vectorize` on size 0 inputs unless `otypes` is set")
    given, rows = [*args], []
    for k in range(count):
        for i, each in zip(spread, flat, strict=True):
            given[i] = each[k]
        rows.append(f(*given))

    def made(found: list[Any], dtype: str | None) -> Any:
        array = np.reshape(np.array(found), shape)
        return array if dtype is None else array.astype(dtype)

    if rows and isinstance(rows[0], tuple):
        parts = zip(*rows, strict=True)
        return tuple(made([*part], otypes and otypes[i]) for i, part in enumerate(parts))
    return made(rows, otypes and otypes[0])


def _along_axis(func1d: Any, axis: Any, arr: Any, *args: Any, **kwargs: Any) -> Any:
    a = np.asarray(arr)
    axis = range(np.ndim(a))[axis]
    lines = np.moveaxis(a, axis, -1)
    around = np.shape(lines)[:-1]
    if 0 in around:
        raise ValueError("Cannot apply_along_axis when any iteration dimensions are 0")
    found = [func1d(lines[place], *args, **kwargs) for place in np.ndindex(*around)]
    stacked = np.stack([np.asarray(each) for each in found])
    shape = np.shape(stacked)[1:]
    whole = np.reshape(stacked, (*around, *shape))
    ends = range(len(around), len(around) + len(shape))
    return np.moveaxis(whole, [*ends], [axis + k for k in range(len(shape))])


def _over_axes(func: Any, a: Any, axes: Any) -> Any:
    value = np.asarray(a)
    for axis in [int(each) for each in np.ravel(np.asarray(axes))]:
        place = axis % np.ndim(a)
        found = func(value, place)
        if np.ndim(found) < np.ndim(value):
            found = np.expand_dims(found, place)
        if np.ndim(found) != np.ndim(value):
            raise ValueError("function is not returning an array of the correct shape")
        value = found
    return value


def _piecewise(x: Any, condlist: Any, funclist: Any, *args: Any, **kw: Any) -> Any:
    a = np.asarray(x)
    listed = isinstance(condlist, (list, np.ndarray)) and len(condlist)
    if not listed or (not isinstance(condlist[0], (list, np.ndarray)) and np.ndim(a) != 0):
        condlist = [condlist]
    conditions = [np.broadcast_to(np.asarray(each, bool), np.shape(a)) for each in condlist]
    if len(funclist) == len(conditions) + 1:
        conditions.append(~np.any(np.stack(conditions), axis=0))
    elif len(funclist) != len(conditions):
        count = len(conditions)
        raise ValueError(
            f"with {count} condition(s), either {count} or {count + 1} functions are expected"
        )
    flat = np.ravel(a)
    found: list[Any] = [0.0] * len(flat)
    for condition, f in zip(conditions, funclist, strict=True):
        places = np.nonzero(np.ravel(condition))[0]
        if not len(places):
            continue
        values: Any = f(flat[places], *args, **kw) if callable(f) else f
        for i, place in enumerate(places):
            found[place] = values[i] if np.ndim(values) else values
    return np.reshape(np.array(found), np.shape(a))


def _squares(a: Any) -> Any:
    return a * a


def _turned(a: Any, by: float = 1.0) -> Any:
    return a[::-1] * a[0] * by


def _product(a: Any) -> Any:
    return a[0] * a[1]


# fmt: off
APPLICATIONS: tuple[ArrayRule, ...] = (
    defined(np.apply_along_axis, _along_axis, call(_turned, 0, floats(3)),
            call(_turned, 0, floats(2, 3)), call(_turned, -1, floats(2, 3), by=2.0),
            call(np.sum, 1, floats(2, 3, 2)), call(_product, 1, floats(2, 3)),
            call(np.diag, 0, floats(2, 3)), calls_back=True),
    defined(np.apply_over_axes, _over_axes, call(np.sum, floats(2, 3, 2), [0, 2]),
            call(np.sum, floats(2, 3), 1), call(np.mean, floats(2, 3), (0, -1)), calls_back=True),
    defined(np.piecewise, _piecewise,
            lambda rng: (x := rng.normal(size=5), [x < 0, x >= 0.5], [_squares, 3.0, _turned]),
            lambda rng: (x := rng.normal(size=5), [x < 0], [_turned, 0.0], 2.0),
            lambda rng: (x := rng.normal(size=(2, 2)), [x > 0], [np.exp]),
            lambda rng: (float(rng.normal()), [True], [_squares]), calls_back=True),
)
# fmt: on
