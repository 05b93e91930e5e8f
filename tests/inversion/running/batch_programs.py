"""Programs whose batches are solved, and their inverses."""

import math
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from inversion import choose, invert
from primitives.arrays.domain import Shape


def line(x: float):
    return 2 * x + 3


def softplus(x: float):
    return math.log1p(math.exp(x))


def total(x: float, y: float):
    return x + y


def pair(x: float, y: float):
    return 2 * x, y - 1


def scaled(v: Annotated[NDArray[np.float64], Shape(3)], k: float):
    return v * k


def nested(p: tuple[float, float], z: float):
    return 2 * p[0], p[1] - 1, z * 2


LINE = invert(line)
TOTAL = invert(total)
PAIR = invert(pair)
SCALED = choose(scaled, known=("return", "k"))
VALUES = np.linspace(-4, 9, 24)
