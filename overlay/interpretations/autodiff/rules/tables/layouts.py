"""Rules of functions that change the axes of arrays, and the order along them."""

from __future__ import annotations

from typing import Any

import numpy as np

from overlay.interpretations.autodiff.rules.array_rule import ArrayRule, linear, rearranging
from overlay.interpretations.autodiff.rules.drawn_calls import call, complexes, floats

__all__ = ["LAYOUTS", "astype"]


def astype(x: Any, dtype: Any, copy: bool = True) -> Any:
    """An array, or a number, with elements of another type."""
    return np.asarray(x).astype(dtype, copy=copy)[()]


def _astype(d: Any, ret: Any, x: Any, dtype: Any, copy: bool = True) -> Any:
    return d


def _spellings_of_astype() -> tuple[Any, ...]:
    found: Any = getattr(np, "astype", None)
    return () if found is None else (found,)


def _newer() -> tuple[ArrayRule, ...]:
    """The rules of functions that numpy 1.26 does not have."""
    found: list[ArrayRule] = []
    transposed: Any = getattr(np, "matrix_transpose", None)
    if transposed is not None:
        given = call(floats(2, 3)), call(floats(2, 2, 3))
        found.append(
            rearranging(transposed, *given, data=("x",), also=(np.linalg.matrix_transpose,))
        )
    return tuple(found)


# fmt: off
LAYOUTS: tuple[ArrayRule, ...] = (
    rearranging(np.atleast_1d, call(floats()), call(floats(2, 2)), call(floats(), floats(3)),
                call(2.0, floats(3)), call([floats(), 1.0]), call(complexes(2)),
                data=("arys",), parameters="*arys", compiled=(0, 0)),
    rearranging(np.atleast_2d, call(floats()), call(floats(3)), call(floats(), floats(3)),
                data=("arys",), parameters="*arys"),
    rearranging(np.atleast_3d, call(floats()), call(floats(3)), call(floats(2, 3)),
                call(floats(), floats(2, 2, 2)), data=("arys",), parameters="*arys"),
    rearranging(np.fliplr, call(floats(2, 3)), call(floats(2, 3, 2)), data=("m",)),
    rearranging(np.flipud, call(floats(3)), call(floats(2, 3)), data=("m",)),
    rearranging(np.rot90, call(floats(2, 3)), call(floats(2, 3), 3), call(floats(2, 3), k=-2),
                call(floats(2, 3, 2), axes=(1, 2)), call(complexes(2, 2)), data=("m",)),
    rearranging(np.swapaxes, call(floats(2, 3), 0, 1), call(floats(2, 3, 2), -1, 0),
                call(floats(2, 3), axis1=0, axis2=1), compiled=(2, 2)),
    rearranging(np.moveaxis, call(floats(2, 3, 2), 0, -1), call(floats(2, 3, 4), [0, 1], [-1, 0]),
                call(floats(2, 3), source=0, destination=1), compiled=(2, 2)),
    rearranging(np.rollaxis, call(floats(2, 3, 4), 2), call(floats(2, 3, 4), 1, start=3)),
    rearranging(np.squeeze, call(floats(1, 3, 1)), call(floats(1, 3, 1), 0), call(floats(1, 1)),
                call(floats(1, 3, 1), axis=(0, -1)), call(complexes(1, 2)), compiled=(0, 1)),
    rearranging(np.expand_dims, call(floats(3), 0), call(floats(2, 3), axis=-1), call(floats(), 0),
                call(floats(2, 3), axis=(0, 2)), compiled=(1, 1)),
    rearranging(np.broadcast_to, call(floats(3), (2, 3)), call(floats(), (2,)),
                call(floats(2, 1), shape=(2, 3)), call([floats(), 2.0], (3, 2)),
                data=("array",), compiled=(1, 1)),
    rearranging(np.broadcast_arrays, call(floats(3), floats(2, 1)), call(floats(), floats(2)),
                call(floats(3), 1.0), call(floats(2), [1.0, floats()]),
                data=("args",), parameters="*args, subok=False"),
    rearranging(np.repeat, call(floats(3), 2), call(floats(2, 3), 2, 1), call(floats(2, 3), 2),
                call(floats(2, 3), np.array([2, 1]), axis=0), call(floats(), 3),
                call([floats(), 1.0], repeats=2), compiled=(1, 2)),
    rearranging(np.tile, call(floats(3), 2), call(floats(2, 3), (2, 1, 2)), call(floats(), 3),
                call(floats(3), reps=[2, 2]), data=("A",), compiled=(1, 1)),
    rearranging(np.resize, call(floats(3), 5), call(floats(2, 3), (2, 2)), call(floats(2), (3, 3))),
    rearranging(np.meshgrid, call(floats(2), floats(3)), call(floats(2), np.array([1.0, 2.0])),
                call(floats(2), floats(3), indexing="ij"), call(floats(2), floats(3), sparse=True),
                call(floats(2), floats(2), floats(2), copy=False), call(floats(2), 1.5),
                data=("xi",), parameters="*xi, copy=True, sparse=False, indexing='xy'"),
    rearranging(np.triu, call(floats(3, 3)), call(floats(2, 3), 1), call(floats(2, 3, 3), k=-1),
                call(complexes(2, 2)), data=("m",), compiled=(0, 1)),
    rearranging(np.tril, call(floats(3, 3)), call(floats(2, 3), 1), call(floats(2, 3, 3), k=-1),
                call(floats(3)), data=("m",), compiled=(0, 1)),
    rearranging(np.diag, call(floats(3)), call(floats(3), 1), call(floats(3, 2)),
                call(floats(3, 3), k=-1), call(complexes(2)), call([floats(), 2.0]),
                data=("v",), compiled=(0, 1)),
    rearranging(np.diagflat, call(floats(3)), call(floats(2, 2), -1), call(floats(2), k=1),
                call([[floats(), 1.0], [2.0, floats()]]), data=("v",)),
    rearranging(np.diagonal, call(floats(3, 3)), call(floats(2, 3), 1),
                call(floats(2, 3, 3), axis1=1, axis2=2),
                call(floats(2, 3), offset=-1), compiled=(0, 0)),
    linear(astype, _astype, call(floats(3), float), call(floats(2), complex),
           call(complexes(2), "D"),
           data=("x",), parameters="x, dtype, copy=True, device=None", also=_spellings_of_astype()),
    *_newer(),
)
# fmt: on
