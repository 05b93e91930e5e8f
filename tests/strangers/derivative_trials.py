"""One program of strangers differentiated in every way, and compared with finite differences."""

import json
import warnings
from pathlib import Path

import numpy as np

from overlay import Context, OverlayError
from overlay.interpretations.autodiff import autodiff, gradient
from tests.strangers import derivative_programs
from tests.strangers.stranger_trials import TooSlow, within

TABLE = Path(__file__).with_name("derivative_outcomes.json")
POINTS = (np.array([0.77, 0.43, 1.12]), np.array([1.31, 0.68, 0.52]))
LIMIT = 60
RTOL, ATOL = 2e-6, 1e-7
ways = {}
"""The ways of taking a gradient, by name: functions of a program and a point."""


def way(function):
    ways[function.__name__] = function
    return function


@way
def forward(program, point):
    return gradient(program, mode="forward")(point)


@way
def reverse(program, point):
    return gradient(program, mode="reverse")(point)


@way
def compiled(program, point):
    return Context().jit(lambda x: autodiff(program, x))(point)


def programs():
    """All of them, by name."""
    named = vars(derivative_programs).items()
    return {name: each for name, each in named if name[0] == "p" and name[1:].isdigit()}


def table():
    """The outcomes that the table holds: by program, by way."""
    return json.loads(TABLE.read_text())


def by_differences(program, point):
    """The gradient by central differences, extrapolated once."""

    def of(h):
        steps = np.eye(len(point)) * h
        return np.array([(program(point + s) - program(point - s)) / (2 * h) for s in steps])

    return (4 * of(1e-4) - of(2e-4)) / 3


def tried(program, name):
    """The outcome of a program in one way: "right", "refused: " and the error, "too slow", or
    "wrong: " and the gradient that was found."""
    for point in POINTS:
        expected = by_differences(program, point)
        try:
            with within(LIMIT), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = ways[name](program, point.copy())
        except TooSlow:
            return "too slow"
        except OverlayError as error:
            return f"refused: {type(error).__name__}: {error.asked}"
        except Exception as error:
            return f"raised: {type(error).__name__}: {error}"
        if not np.allclose(found, expected, rtol=RTOL, atol=ATOL):
            return f"wrong: {np.asarray(found).tolist()}, not {expected.tolist()}"
    return "right"
