"""Rules of functions of numpy that write into an array."""

from __future__ import annotations

from typing import Any

import numpy as np

from overlay.interpretations.autodiff.rules.array_rule import ArrayRule, defined

__all__ = ["PLACING"]


def _repeated(values: Any, count: int) -> Any:
    """The first so many of values that are repeated."""
    flat = np.ravel(np.asarray(values))
    return flat if len(flat) == count else flat[np.arange(count) % len(flat)]


def _write_at(a: Any, places: Any, values: Any) -> None:
    """Write values to places, which count the elements of an array."""
    if len(places):
        _set_at(a, places, _repeated(values, len(places)))


def _set_at(a: Any, places: Any, values: Any) -> None:
    if np.ndim(a):
        a[np.unravel_index(places, np.shape(a))] = values
    else:
        a[()] = values[-1]  # numpy has no index of arrays there; the last write remains


def _put(a: Any, ind: Any, v: Any, mode: Any = "raise") -> None:
    # numpy raises its errors for places that are out of bounds
    places = np.take(np.arange(np.size(a)), np.ravel(np.asarray(ind)), mode=mode)
    _write_at(a, places, v)


def _place(arr: Any, mask: Any, vals: Any) -> None:
    _write_at(arr, np.nonzero(np.ravel(np.asarray(mask)))[0], vals)


def _putmask(a: Any, mask: Any, values: Any) -> None:
    places = np.nonzero(np.ravel(np.asarray(mask)))[0]
    if len(places):
        flat = np.ravel(np.asarray(values))
        _set_at(a, places, flat[places % len(flat)])


def _copyto(dst: Any, src: Any, casting: str = "same_kind", where: Any = True) -> None:
    if where is True:
        dst[...] = src
        return
    places = np.nonzero(np.ravel(np.broadcast_to(where, np.shape(dst))))[0]
    _write_at(dst, places, np.ravel(np.broadcast_to(src, np.shape(dst)))[places])


def _put_along_axis(arr: Any, indices: Any, values: Any, axis: Any) -> None:
    places = np.reshape(np.arange(np.size(arr)), np.shape(arr))
    found = np.take_along_axis(places, indices, axis)
    _write_at(arr, np.ravel(found), np.ravel(np.broadcast_to(values, np.shape(found))))


def _fill_diagonal(a: Any, val: Any, wrap: bool = False) -> None:
    shape = np.shape(a)
    if len(shape) < 2:
        raise ValueError("array must be at least 2-d")
    if len(shape) > 2 and len({*shape}) > 1:
        raise ValueError("All dimensions of input must be of equal length")
    steps = np.cumprod((1, *shape[:0:-1]))  # from one element of the diagonal to the next
    step, end = int(np.sum(steps)), np.size(a)
    if len(shape) == 2:
        step = shape[1] + 1
        end = end if wrap else min(end, shape[1] * shape[1])
    _write_at(a, np.arange(0, end, step), val)


PLACING: tuple[ArrayRule, ...] = (
    defined(np.put, _put),
    defined(np.place, _place),
    defined(np.putmask, _putmask, parameters="a, mask, values"),
    defined(np.copyto, _copyto, parameters="dst, src, casting='same_kind', where=True"),
    defined(np.put_along_axis, _put_along_axis),
    defined(np.fill_diagonal, _fill_diagonal),
)
