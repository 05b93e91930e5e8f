"""Derivatives at intervals: of functions of numpy whose lists and arrays have interval parts."""

from fractions import Fraction

import numpy as np
import pytest

from overlay.interpretations.autodiff import derivative, gradient
from overlay.interpretations.intervals import Interval, Undecided, enclose

BOX = Interval(0.6999, 0.7001), Interval(0.3999, 0.4001)
INSIDE = 0.7, 0.4

PROGRAMS = {
    # lists with active numbers
    "repeat": lambda x, y: np.repeat([x, y], 2)[1],
    "diff": lambda x, y: np.diff([x, y])[0],
    "append": lambda x, y: np.append([x], y)[0],
    "append a number": lambda x, y: np.append([y], x)[1],
    "delete": lambda x, y: np.delete([x, y], 1)[0],
    "diag": lambda x, y: np.diag([x, y])[0, 0],
    "roll": lambda x, y: np.roll([x, y], 1)[1],
    "flip": lambda x, y: np.flip([x, y])[1],
    "tile": lambda x, y: np.tile([x, y], 2)[2],
    "reshape": lambda x, y: np.reshape([x, y], (2, 1))[0, 0],
    "transpose": lambda x, y: np.transpose([[x, y]])[0, 0],
    "take": lambda x, y: np.take([x, y], 0),
    "extract": lambda x, y: np.extract([True, False], [x, y])[0],
    "triu": lambda x, y: np.triu([[x, y], [y, x]])[0, 0],
    "trace": lambda x, y: np.trace([[x, y], [y, x]]),
    "where": lambda x, y: np.where([True, False], [x, y], [y, x])[0],
    "stack": lambda x, y: np.stack([x, y])[0],
    "concatenate": lambda x, y: np.concatenate([[x], [x * y]])[1],
    "meshgrid": lambda x, y: np.meshgrid([x, y], [y, x])[0][0, 0],
    "array": lambda x, y: np.array([x, y])[0],
    "copy": lambda x, y: np.copy([x, y])[0],
    "cumsum": lambda x, y: np.cumsum([x, y, x])[2],
    "cumprod": lambda x, y: np.cumprod([x, y, x])[2],
    "sum": lambda x, y: np.sum([x, y]),
    "mean": lambda x, y: np.mean([x, y]),
    "prod": lambda x, y: np.prod([x, y, x]),
    "max": lambda x, y: np.max([x, y]),
    "ptp": lambda x, y: np.ptp([x, y]),
    "median": lambda x, y: np.median([x, y, 5.0]),
    "average": lambda x, y: np.average([x, y], weights=[1.0, 2.0]),
    "var": lambda x, y: np.var([x, y]),
    "std": lambda x, y: np.std([x, y]),
    "norm": lambda x, y: np.linalg.norm([x, y]),
    "dot": lambda x, y: np.dot([x, y], [x, 2.0]),
    "vdot": lambda x, y: np.vdot([x, y], [y, x]),
    "inner": lambda x, y: np.inner([x, y], [y, x]),
    "outer": lambda x, y: np.outer([x, y], [y, x])[0, 1],
    "kron": lambda x, y: np.kron([x, y], [y, x])[1],
    "matmul": lambda x, y: np.matmul([x, y], [y, x]),
    "tensordot": lambda x, y: np.tensordot([x, y], [y, x], 1),
    "convolve": lambda x, y: np.convolve([x, y], [y, x])[1],
    "correlate": lambda x, y: np.correlate([x, y], [y, x])[0],
    "trapezoid": lambda x, y: np.trapezoid([x, y]),
    "ediff1d": lambda x, y: np.ediff1d([x, y])[0],
    "clip": lambda x, y: np.clip([x, y], 0.1, 0.9)[0],
    "sort": lambda x, y: np.sort([x, y])[1],
    "vander": lambda x, y: np.vander([x, y])[0, 0],
    "unwrap": lambda x, y: np.unwrap([x, y])[0],
    "hypot": lambda x, y: np.hypot([x], [y])[0],
    "add": lambda x, y: np.add([x, y], x)[0],
    "pad": lambda x, y: np.pad([x, y], 1)[1],
    # active numbers
    "linspace to it": lambda x, y: np.linspace(0, x, 5)[3],
    "linspace from it": lambda x, y: np.linspace(x, y, 5)[3],
    "logspace": lambda x, y: np.logspace(0, x, 5)[3],
    "geomspace": lambda x, y: np.geomspace(1, x, 5)[3],
    "broadcast_to": lambda x, y: np.broadcast_to(x, (3,))[1],
    "full": lambda x, y: np.full(3, x)[0],
    "atleast_2d": lambda x, y: np.atleast_2d(x)[0, 0],
    "expand_dims": lambda x, y: np.expand_dims(x, 0)[0],
    "repeat a number": lambda x, y: np.repeat(x, 2)[0],
    "sum of a number": lambda x, y: np.sum(x) * y,
    "cumsum of a number": lambda x, y: np.cumsum(x)[0] * y,
    "outer of a ufunc": lambda x, y: np.add.outer(x, [x, y])[0],
    "where of numbers": lambda x, y: np.where(x > 0, x, y) * x,
}


def written(x):
    made = np.zeros(3)
    made[0], made[1] = x, 2 * x
    return made


def at_places(x, y):
    made = written(x)
    np.add.at(made, [0, 0], x)
    return np.sum(made) * y


def multiplied_at_places(x, y):
    made = written(x)
    np.multiply.at(made, [0, 1, 0], y)
    return np.sum(made)


def into_another(x, y):
    made, other = written(x), np.zeros(3)
    np.multiply(made, made, out=other)
    return np.sum(other) * y


def in_place(x, y):
    made = written(x)
    made *= x
    made[1:] += y
    made.fill(np.sum(made))
    return made[0]


PROGRAMS |= {f.__name__: f for f in (at_places, multiplied_at_places, into_another, in_place)}
for ufunc in (np.add, np.subtract, np.multiply, np.hypot):
    PROGRAMS |= {
        f"{ufunc.__name__}.reduce": lambda x, y, u=ufunc: u.reduce(written(x) + y),
        f"{ufunc.__name__}.accumulate": lambda x, y, u=ufunc: u.accumulate(written(x) + y)[2],
        f"{ufunc.__name__}.outer": lambda x, y, u=ufunc: u.outer(written(x) + y, [x, y])[1, 0],
        f"{ufunc.__name__}.reduceat": lambda x, y, u=ufunc: u.reduceat(written(x) + y, [0, 2])[0],
    }


def differentiated(f, mode):
    if mode == "forward":
        return lambda x, y: derivative(lambda x: f(x, y))(x)
    return lambda x, y: gradient(lambda x: f(x, y), mode="reverse")(x)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_derivative_at_an_interval_contains_those_at_its_numbers(name, mode):
    slope = differentiated(PROGRAMS[name], mode)
    found = np.asarray(enclose(slope, *BOX), object).item()  # it may be an array of one number
    found = found if isinstance(found, Interval) else Interval(found)
    assert float(slope(*INSIDE)) in found
    assert found.width < 0.1


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_rules_of_arrays_are_computed_with_intervals_too(mode):
    third = enclose(differentiated(lambda x, y: np.linspace(0, x, 4)[1], mode), *BOX)
    assert third.low < Fraction(1, 3) < third.high
    for f in (lambda x, y: np.reciprocal([x])[0], lambda x, y: np.divide([y], [x])[0]):
        with pytest.raises(Undecided, match="has a value is not decided"):
            enclose(differentiated(f, mode), Interval(-1, 1), Interval(1, 2))


def test_lists_without_active_numbers_beside_active_arrays():
    for f in (
        lambda x: np.hypot(x, [0.4, 2.0])[0],
        lambda x: np.hypot([0.4, 2.0], np.array([x, x]))[0],
    ):
        for mode in ("forward", "reverse"):
            slope = gradient(f, mode=mode)
            assert slope(0.7) == pytest.approx(0.7 / np.hypot(0.7, 0.4))
