"""The rule of np.pad."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from overlay import nonoverlay
from overlay.interpretations.autodiff.rules.array_rule import ArrayRule, defined
from overlay.interpretations.autodiff.rules.drawn_calls import call, complexes, floats

__all__ = ["PADDING"]

STATISTICS: dict[str, Callable[..., Any]] = {
    "maximum": np.max,
    "minimum": np.min,
    "mean": np.mean,
    "median": np.median,
}


def _pairs(given: Any, ndim: int) -> list[tuple[Any, Any]]:
    """For each axis the two values of a parameter of np.pad."""
    if isinstance(given, dict):
        each = [given.get(k, given.get(k - ndim, 0)) for k in range(ndim)]
        return [tuple(pair) if np.ndim(pair) else (pair, pair) for pair in each]
    if np.ndim(given) == 0:
        return [(given, given)] * ndim
    if np.ndim(given) == 1:
        first, last = (given[0], given[0]) if len(given) == 1 else (given[0], given[1])
        return [(first, last)] * ndim
    rows = [given[0]] * ndim if len(given) == 1 else list(given)
    return [(row[0], row[len(row) - 1]) for row in rows]


def _ramp(end: Any, edge: Any, count: int, axis: int, ascending: bool) -> Any:
    """``count`` slices from an end value towards an edge, or back; the edge itself is left out."""
    shape = [1] * np.ndim(edge)
    shape[axis] = count
    part = np.reshape(np.arange(count) / max(count, 1), shape)
    if not ascending:
        part = np.flip(part, axis)
    return end + (edge - end) * part


def _sides(a: Any, axis: int, pair: Any, mode: str, ends: Any, length: Any) -> list[Any]:
    """An array with its pads along an axis, in an averaging mode or as a ramp."""
    size = a.shape[axis]

    def part(start: int, stop: int) -> Any:
        return a[(slice(None),) * axis + (slice(start, stop),)]

    if mode == "linear_ramp":
        before = _ramp(ends[0], part(0, 1), pair[0], axis, True)
        after = _ramp(ends[1], part(size - 1, size), pair[1], axis, False)
        return [before, a, after]
    counts = [size if n is None else min(int(n), size) for n in length]
    function: Any = STATISTICS[mode]
    before = function(part(0, counts[0]), axis=axis, keepdims=True)
    after = function(part(size - counts[1], size), axis=axis, keepdims=True)
    return [np.repeat(before, pair[0], axis), a, np.repeat(after, pair[1], axis)]


def _reflected_oddly(a: Any, axis: int, pair: Any, mode: str) -> Any:
    """An array padded along an axis by reflections through its edges, in turn."""
    with_edge = mode == "symmetric"
    before, after = pair
    while before > 0 or after > 0:
        size = a.shape[axis]
        if size == 1 and not with_edge:  # numpy repeats the edge
            return np.concatenate(
                [np.repeat(a, before, axis), a, np.repeat(a, after, axis)], axis=axis
            )
        step = size if with_edge else size - 1
        for left in (True, False):
            count = min(before if left else after, step)
            if not count:
                continue
            places = np.arange(count) + (0 if with_edge else 1)
            if left:
                inner, edge = np.take(a, places[::-1], axis), np.take(a, [0], axis)
                a, before = np.concatenate([2 * edge - inner, a], axis=axis), before - count
            else:
                end = a.shape[axis] - 1
                inner, edge = np.take(a, end - places, axis), np.take(a, [end], axis)
                a, after = np.concatenate([a, 2 * edge - inner], axis=axis), after - count
    return a


def _padded_places(shape: Any, pad_width: Any, mode: Any, named: Any) -> Any:
    return np.pad(np.reshape(np.arange(int(np.prod(shape))), shape), pad_width, mode, **named)


def _padded(array: Any, pad_width: Any, mode: Any = "constant", **named: Any) -> Any:
    """np.pad, by functions that have rules."""
    a = np.asarray(array)
    if callable(mode):
        raise TypeError("np.pad with a function as mode writes into arrays that numpy made")
    marks = ("constant_values", "end_values")
    plain = {name: value for name, value in named.items() if name not in marks}
    # places of elements where elements are repeated; numpy raises its errors for a wrong call
    places = nonoverlay(_padded_places)(a.shape, pad_width, mode, plain)
    widths = _pairs(pad_width, a.ndim)
    if mode in ("constant", "empty"):
        values = _pairs(named.get("constant_values", 0), a.ndim)
        for axis, (pair, ends) in enumerate(zip(widths, values, strict=True)):
            parts = [a]
            for k in (0, 1):
                shape = [*a.shape]
                shape[axis] = int(pair[k])
                pad = np.broadcast_to(ends[k], shape)
                parts = [pad, *parts] if k == 0 else [*parts, pad]
            a = np.concatenate(parts, axis=axis)
        return a
    if mode in STATISTICS or mode == "linear_ramp":
        ends = _pairs(named.get("end_values", 0), a.ndim)
        lengths = _pairs(named.get("stat_length"), a.ndim)
        for axis in range(a.ndim):
            parts = _sides(a, axis, widths[axis], mode, ends[axis], lengths[axis])
            a = np.concatenate(parts, axis=axis)
        return a
    if named.get("reflect_type", "even") == "odd":
        for axis in range(a.ndim):
            a = _reflected_oddly(a, axis, widths[axis], mode)
        return a
    return np.ravel(a)[places]


# fmt: off
PADDING: tuple[ArrayRule, ...] = (
    defined(np.pad, _padded, call(floats(3), 2), call(floats(2, 3), (1, 2)),
            call(floats(2, 3), ((1, 0), (0, 2)), mode="constant"),
            call(floats(3), 2, constant_values=floats()),
            call(floats(2, 2), 1, constant_values=((1.0, floats()), (0.0, 2.0))),
            call(floats(2, 3), 1, "edge"), call(floats(4), 2, "reflect"),
            call(floats(3), 7, "reflect"),
            call(floats(2, 3), ((1, 2), (2, 0)), "symmetric"), call(floats(3), 4, mode="wrap"),
            call(floats(2, 3), (1, 2), "linear_ramp"),
            call(floats(3), (2, 1), "linear_ramp", end_values=(floats(), 2.0)),
            call(floats(2, 3), 1, "mean"), call(floats(5), 2, "mean", stat_length=2),
            call(floats(4), 2, "reflect", reflect_type="odd"),
            call(floats(3), (7, 4), "reflect", reflect_type="odd"),
            call(floats(2, 3), 2, "symmetric", reflect_type="odd"),
            call(complexes(3), 2, "mean"), call(complexes(3), 1), call([floats(), 1.0], 1, "edge"),
            parameters="array, pad_width, mode='constant', **kwargs"),
)
# fmt: on
