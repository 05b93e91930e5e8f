"""Rules of functions that select elements of arrays, insert and delete them."""

from __future__ import annotations

from typing import Any

import numpy as np

from overlay.interpretations.autodiff.rules.array_rule import ArrayRule, defined, rearranging
from overlay.interpretations.autodiff.rules.drawn_calls import call, complexes, floats

__all__ = ["CHOICES"]


def _trimmed(filt: Any, trim: str = "fb", axis: Any = None) -> Any:
    """np.trim_zeros. The bounds are found by comparisons: a place on a tape is no number."""
    a = np.asarray(filt)
    marks = np.asarray(a != 0)
    axes = range(a.ndim) if axis is None else [k % a.ndim for k in np.atleast_1d(axis)]
    where: list[slice] = []
    for k in range(a.ndim):
        others = tuple(j for j in range(a.ndim) if j != k)
        found = np.nonzero(np.any(marks, axis=others))[0]
        size = a.shape[k]
        if k not in axes:
            where.append(slice(None))
        elif not len(found):
            where.append(slice(size, size))
        else:
            first = found[0] if "f" in trim.lower() else 0
            last = found[-1] + 1 if "b" in trim.lower() else size
            where.append(slice(int(first), int(last)))
    return filt[where[0]] if type(filt) in (list, tuple) else a[tuple(where)]


MASK = np.array([True, False, True])
# fmt: off
CHOICES: tuple[ArrayRule, ...] = (
    rearranging(np.take, call(floats(4), [0, 2, 2]), call(floats(2, 3), 1, 1), call(floats(4), 2),
                call(floats(2, 3), np.array([[0, 5]]), mode="wrap"),
                call(floats(2, 3), [0, 1], axis=-1), call(complexes(3), [1, 1]),
                call([floats(), 2.0], 0), compiled=(1, 2),
                parameters="a, indices, axis=None, out=None, mode='raise'"),
    rearranging(np.take_along_axis, call(floats(2, 3), np.array([[0, 2], [1, 1]]), 1),
                call(floats(4), np.array([3, 0]), axis=0),
                call(floats(2, 3), np.array([4, 0, 0]), axis=None), data=("arr",)),
    rearranging(np.choose, call(np.array([0, 1, 0]), [floats(3), floats(3)]),
                call(np.array([0, 2]), [floats(2), 1.0, floats()], mode="clip"),
                call(np.array([1, 0]), floats(2, 2)),
                data=("choices",), parameters="a, choices, out=None, mode='raise'"),
    rearranging(np.compress, call(MASK, floats(3)), call([True, False], floats(2, 3), 0),
                call(MASK, floats(2, 3), axis=1), call([0, 1, 1], floats(2, 3)),
                data=("a",), parameters="condition, a, axis=None, out=None"),
    rearranging(np.extract, call(MASK, floats(3)), call(np.eye(2), floats(2, 2)), data=("arr",)),
    rearranging(np.select, call([MASK, ~MASK], [floats(3), floats(3)]),
                call([MASK], [floats(3)], floats()),
                call([MASK, MASK], [floats(3), 1.0], default=2.0),
                call([np.array([[True], [False]])], [floats(3)], floats(2, 3)),
                data=("choicelist", "default")),
    rearranging(np.insert, call(floats(3), 1, floats()), call(floats(3), [0, 2], floats(2)),
                call(floats(2, 3), 1, floats(2), axis=1), call(floats(2, 3), 2, floats(3), 0),
                call(floats(3), slice(0, 2), 1.0), call(np.array([1.0, 2.0]), 1, floats()),
                call(floats(2), 1, [floats(), 2.0]), data=("arr", "values")),
    rearranging(np.delete, call(floats(3), 1), call(floats(2, 3), [0, 2], 1), call(floats(2, 3), 4),
                call(floats(4), slice(0, 3, 2)), call(floats(2, 3), -1, axis=0), data=("arr",)),
    defined(np.trim_zeros, _trimmed, call(floats(4)), call([0, 0, floats(), 0, floats(), 0]),
            call([0, floats(), 0], "f"), call((0, floats(), 0), trim="b"), call([floats(), 0, 0]),
            parameters="filt, trim='fb', axis=None"),
)
# fmt: on
