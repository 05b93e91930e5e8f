"""Rules of functions that move, repeat, join and select elements of arrays."""

import operator

import numpy as np

from overlay.interpretations.autodiff.rules.array_rule import rearranging

__all__ = ["SHAPES"]


def _array(*shape):
    return lambda rng: (rng.normal(size=shape),)


def _with(shape, *rest, **named):
    """Samples with further arguments."""
    return lambda rng: (rng.normal(size=shape), *rest, *([named] if named else []))


def _parts(*shapes, **named):
    """Samples whose first argument is a list of arrays."""
    return lambda rng: ([rng.normal(size=shape) for shape in shapes], *([named] if named else []))


# fmt: off
SHAPES = (
    rearranging(operator.getitem, _with((3, 4), (slice(1, 3), 2)), _with((4,), np.array([1, 1, 3])),
                parameters="a, b", compiled=(1, 1)),
    rearranging(np.copy, _array(2, 3), _with((2, 3), order="F"),
                parameters="a, order='K', subok=False"),
    rearranging(np.ravel, _array(2, 3), compiled=(0, 0)),
    rearranging(np.reshape, _with((2, 3), (3, 2)), _with((2, 3), -1), compiled=(1, 1)),
    rearranging(np.transpose, _array(2, 3), _with((2, 3, 2), (2, 0, 1)), compiled=(0, 1)),
    rearranging(np.flip, _array(3), _with((2, 3), axis=1), data=("m",), compiled=(0, 1)),
    rearranging(np.roll, _with((2, 3), 1), _with((2, 3), 1, axis=1), compiled=(1, 2)),
    rearranging(np.where, lambda rng: (np.array([True, False]), rng.normal(size=2), 0.5),
                data=("x", "y"), parameters="condition, x, y"),
    rearranging(np.concatenate, _parts((2,), (3,)), _parts((2, 3), (2, 1), axis=1),
                data=("arrays",), parameters="arrays, axis=0, dtype=None, casting='same_kind'"),
    rearranging(np.stack, _parts((2,), (2,)), _parts((2, 3), (2, 3), axis=-1), data=("arrays",)),
    rearranging(np.array, lambda rng: ([[rng.normal(), 1.0], [2.0, rng.normal()]],),
                data=("object",), parameters="object, dtype=None", also=(np.asarray,)),
)
# fmt: on
