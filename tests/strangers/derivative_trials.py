"""Trial of one program of strangers: differentiated in every mode, and compared with finite
differences.
"""

import json
import warnings
from math import prod
from pathlib import Path

import numpy as np

from overlay import Context, OverlayError
from overlay.interpretations.autodiff import autodiff, gradient
from tests.strangers import derivative_programs
from tests.strangers.stranger_trials import TooSlow, within

TABLE = Path(__file__).with_name("derivative_outcomes.json")
FIRST = Path(__file__).with_name("first_derivative_outcomes.json")
"""The outcomes when the programs were tried first."""
POINTS = (np.array([0.77, 0.43, 1.12]), np.array([1.31, 0.68, 0.52]))
LIMIT = 300
RTOL, ATOL = 2e-6, 1e-7
ways = {}
"""The ways of taking a gradient, by name: functions of a program and its arguments."""


def way(function):
    ways[function.__name__] = function
    return function


@way
def forward(program, *args):
    return gradient(program, mode="forward")(*args)


@way
def reverse(program, *args):
    return gradient(program, mode="reverse")(*args)


@way
def compiled(program, *args):
    return Context().jit(lambda *x: autodiff(program, *x))(*args)


def programs():
    """All of them, by name."""
    named = vars(derivative_programs).items()
    return {name: each for name, each in named if name[0] == "p" and name[1:].isdigit()}


def table(path=TABLE):
    """The outcomes in a table: by program, by mode."""
    return json.loads(path.read_text())


def counts(outcomes):
    """The numbers of programs that are right in each mode, right in every mode, and wrong in some
    mode.
    """
    rows = [*outcomes.values()]
    right = {way: sum(row[way] == "right" for row in rows) for way in ways}
    every = sum(all(said == "right" for said in row.values()) for row in rows)
    wrong = sum(any(said.startswith("wrong") for said in row.values()) for row in rows)
    return {"programs": len(rows), **right, "in every way": every, "wrong": wrong}


def by_differences(program, *args):
    """The gradient by all numbers in the arguments, one after the other, by central differences,
    extrapolated once."""
    shapes = [np.shape(arg) for arg in args]
    point = flat(args)
    bounds = np.cumsum([prod(shape) for shape in shapes])[:-1]

    def at(moved):
        parts = zip(np.split(moved, bounds), shapes, strict=True)
        return program(*(part.reshape(shape) if shape else part[0] for part, shape in parts))

    def of(h):
        steps = np.eye(len(point)) * h
        return np.array([(at(point + s) - at(point - s)) / (2 * h) for s in steps])

    return (4 * of(1e-4) - of(2e-4)) / 3


def flat(parts):
    """The numbers of numbers and arrays, one after the other."""
    return np.concatenate([np.ravel(part) for part in parts])


def tried(program, name):
    """The outcome of a program in one mode, at each point: the first that is not "right"."""
    outcomes = (judged(program, name, point) for point in POINTS)
    return next((said for said in outcomes if said != "right"), "right")


def judged(program, name, *args):
    """The outcome of a program in one way: "right", "refused: " and the error, "raised: " and the
    error, "too slow", or "wrong: " and the gradient that was found."""
    expected = by_differences(program, *args)
    try:
        with within(LIMIT), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = ways[name](program, *(np.copy(a) if np.ndim(a) else a for a in args))
    except TooSlow:
        return "too slow"
    except OverlayError as error:
        return f"refused: {type(error).__name__}: {error.asked}"
    except Exception as error:
        return f"raised: {type(error).__name__}: {error}"
    found = flat(found if isinstance(found, tuple) else (found,))
    if found.shape != expected.shape or not np.allclose(found, expected, rtol=RTOL, atol=ATOL):
        return f"wrong: {found.tolist()}, not {expected.tolist()}"
    return "right"
