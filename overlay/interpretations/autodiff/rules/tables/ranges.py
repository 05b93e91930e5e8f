"""Rules of functions that make arrays of numbers between bounds, and of powers."""

from __future__ import annotations

from typing import Any

import numpy as np

from overlay.interpretations.autodiff.rules.array_rule import ArrayRule, defined, linear, smooth
from overlay.interpretations.autodiff.rules.drawn_calls import call, complexes, floats, positive
from overlay.interpretations.autodiff.rules.tables.products import summed_to

__all__ = ["RANGES"]


def _parts(d: Any, start: Any, stop: Any, num: int, endpoint: bool, axis: int) -> tuple[Any, Any]:
    """The cotangent with the axis of the numbers first, and the part of each number's way."""
    first = np.moveaxis(d, axis, 0)
    part = np.linspace(0.0, 1.0, num, endpoint)
    return first, np.reshape(part, (num,) + (1,) * (np.ndim(first) - 1))


def _start(
    d: Any,
    ret: Any,
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    if retstep:
        count = num - 1 if endpoint else num
        of_step = -d[1] / count if count > 0 else 0.0 * d[1]
        of_numbers = _start(d[0], ret[0], start, stop, num, endpoint, False, dtype, axis)
        return of_numbers + summed_to(of_step, np.shape(start))
    first, part = _parts(d, start, stop, num, endpoint, axis)
    return summed_to(np.sum(first * (1.0 - part), axis=0), np.shape(start))


def _stop(
    d: Any,
    ret: Any,
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    retstep: bool = False,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    if retstep:
        count = num - 1 if endpoint else num
        of_step = d[1] / count if count > 0 else 0.0 * d[1]
        of_numbers = _stop(d[0], ret[0], start, stop, num, endpoint, False, dtype, axis)
        return of_numbers + summed_to(of_step, np.shape(stop))
    first, part = _parts(d, start, stop, num, endpoint, axis)
    return summed_to(np.sum(first * part, axis=0), np.shape(stop))


def _logspace(
    start: Any,
    stop: Any,
    num: int = 50,
    endpoint: bool = True,
    base: Any = 10.0,
    dtype: Any = None,
    axis: int = 0,
) -> Any:
    exponents = np.linspace(start, stop, num, endpoint, axis=axis)
    if np.ndim(base):
        base = np.expand_dims(base, axis)
    found = np.power(base, exponents)
    return found if dtype is None else found.astype(dtype)


def _geomspace(
    start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0
) -> Any:
    # numpy raises its errors, and finds the numbers that the logarithms round
    sign = np.sign(start)
    ratio = np.log(stop / start)
    steps = np.linspace(0.0, 1.0, num, endpoint)
    shape = (num,) + (1,) * np.ndim(ratio)
    found = np.moveaxis(sign * np.abs(start) * np.exp(np.reshape(steps, shape) * ratio), 0, axis)
    return found if dtype is None else found.astype(dtype)


def _kaiser(M: Any, beta: Any) -> Any:  # noqa: N803 (numpy's name)
    if M <= 1:
        return np.ones(max(int(M), 0))
    share = np.linspace(-1.0, 1.0, int(M))
    return np.i0(beta * np.sqrt(1.0 - share * share)) / np.i0(beta)


def _exponents(x: Any, N: Any, increasing: bool) -> Any:  # noqa: N803 (numpy's name)
    found = np.arange(len(x) if N is None else N)
    return found if increasing else found[::-1]


def _slopes(x: Any, N: Any, increasing: bool) -> Any:  # noqa: N803 (numpy's name)
    exponents = _exponents(x, N, increasing)
    return exponents * np.expand_dims(x, -1) ** np.maximum(exponents - 1, 0)


def _vander_jvp(t: Any, ret: Any, x: Any, N: Any = None, increasing: bool = False) -> Any:  # noqa: N803
    return np.expand_dims(t, -1) * _slopes(np.asarray(x), N, increasing)


def _vander_vjp(d: Any, ret: Any, x: Any, N: Any = None, increasing: bool = False) -> Any:  # noqa: N803
    return np.sum(d * np.conj(_slopes(np.asarray(x), N, increasing)), axis=-1)


BOUNDS = ("start", "stop")
# fmt: off
RANGES: tuple[ArrayRule, ...] = (
    linear(np.linspace, (_start, _stop), call(floats(), floats(), 5), call(floats(), 2.0, num=4),
           call(1.0, floats(), 4, False), call(floats(2), floats(), 3),
           call(floats(2), floats(2), 3, axis=-1),
           call(floats(), floats(), 4, retstep=True), call(floats(), floats(), 1),
           call(floats(), floats(), 3, endpoint=False, retstep=True),
           call(complexes(), floats(), 3),
           call([floats(), 1.0], 2.0, 3), data=BOUNDS),
    defined(np.logspace, _logspace, call(floats(), floats(), 4),
            call(floats(), floats(), 4, base=positive()),
            call(floats(2), floats(2), 3, False, axis=1), call(floats(), 1.0, num=3)),
    defined(np.geomspace, _geomspace, call(positive(), positive(), 4), call(positive(), 2.0, num=3),
            call(positive(2), positive(2), 3, False, axis=1)),
    smooth(np.vander, _vander_jvp, _vander_vjp, call(floats(3)), call(floats(3), 2),
           call(floats(2), N=4, increasing=True), call(complexes(2), 3), call([floats(), 2.0], 3),
           data=("x",)),
    defined(np.kaiser, _kaiser, call(5, floats()), call(4, positive()), call(1, floats())),
)
# fmt: on
