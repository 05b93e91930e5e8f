"""Arguments found by trials, for functions without useful derivatives."""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
import pytest

from inversion import invert
from inversion.solving.trials import cells_of, from_trials
from primitives import Integers, Reals, array_of
from primitives.domains import Strings

Share = Annotated[float, Reals(0.0, 1.0, open_high=True)]


def cell_of_grid(x: Share, y: Share) -> str:
    column, row = math.floor(x * 256), math.floor(y * 256)
    name = ""
    for level in range(8, 0, -1):
        bit = 1 << (level - 1)
        name += "abcd"[(1 if column & bit else 0) + (2 if row & bit else 0)]
    return name


def parities(bits):
    return np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1], [1, 1, 1]]) @ bits % 2


def averages(x):
    d = x[1::2] - x[0::2]
    s = x[0::2] + d // 2
    d[1:] -= (s[1:] - s[:-1]) // 4
    return s, d


def tokens(day: Annotated[int, Integers(1, 31)], low: Annotated[int, Integers(-40, 40)]) -> str:
    def signed(t):
        return f"-{-t:02d}" if t < 0 else f"+{t:02d}"

    return f"D{day:02d}T{signed(low)}{signed(low // 2 + day)}"


def wing(code: str) -> list[tuple[float, float]]:
    camber, place, thick = int(code[0]) / 100, int(code[1]) / 10, int(code[2:]) / 100
    found: list[tuple[float, float]] = []
    for x in (0.1, 0.4, 0.8):
        ahead = camber / place**2 * (2 * place * x - x * x) if x < place else camber * (1 - x)
        found.append((ahead, 5 * thick * (0.3 * math.sqrt(x) - 0.4 * x * x)))
    return found


DIGITS = ["black", "brown", "red", "orange", "yellow", "green", "blue", "violet", "grey", "white"]
TOLERANCE = {"brown": 1, "red": 2, "green": 0.5, "gold": 5, "silver": 10}


def label(bands: tuple[str, str, str, str]) -> str:
    first, second, multiplier, tolerance = bands
    ohms = (DIGITS.index(first) * 10 + DIGITS.index(second)) * 10 ** DIGITS.index(multiplier)
    if ohms >= 1000:
        return f"{ohms / 1000:g} k +/-{TOLERANCE[tolerance]}%"
    return f"{ohms} +/-{TOLERANCE[tolerance]}%"


def either(key: str, high: bool) -> int:
    return TOLERANCE["red"] * DIGITS.index(key) + 3 if high else len(key) * 7 + DIGITS.index(key)


PROGRAMS: dict[str, tuple[Any, tuple[Any, ...], tuple[str, ...], list[tuple[Any, ...]]]] = {
    "cell of a grid": (cell_of_grid, (), (), [(0.3, 0.8), (0.0, 0.999)]),
    "parities": (parities, (array_of(int, (3,)),), (), [(np.array([1, 0, 1]),)]),
    "averages": (averages, (array_of(int, (6,)),), (), [(np.array([9, -4, 70, 71, 200, 3]),)]),
    "tokens": (tokens, (), (), [(24, -13), (1, 0)]),
    "keys of tables": (
        label,
        (),
        (),
        [(("yellow", "violet", "red", "gold"),), (("red", "red", "brown", "green"),)],
    ),
    "a key on both ways": (either, (), (), [("grey", True), ("black", False)]),
    "a code of unknown length": (wing, (), (), [("2412",), ("4415",)]),
}


LONG = ("cell of a grid",)
NAMES = [pytest.param(n, marks=pytest.mark.long if n in LONG else ()) for n in PROGRAMS]


@pytest.mark.parametrize("name", NAMES)
def test_arguments_are_found_where_a_result_is_in_steps_or_in_text(name: str):
    f, types, known, every = PROGRAMS[name]
    inverse = invert(f, *types, known=("return", *known)) if known else invert(f, *types)
    for args in every:
        given = args[len(args) - len(known) :]
        wanted = f(*args)
        found = inverse(wanted, *given)
        np.testing.assert_equal(f(*found, *given), wanted)


@pytest.mark.parametrize(
    ("f", "kinds", "wanted"),
    [
        (lambda a, b: a * 40 + b, (int, int), 123),
        (lambda text: text[::-1].swapcase(), (str,), "Tac"),
        (lambda a, text: f"{text}{a}", (int, str), "xyz7"),
    ],
)
def test_trials_come_nearer_by_changes_of_numbers_and_characters(f, kinds, wanted):
    domains = {int: Integers(0, 9), str: Strings("acxyzTCXYZAt", 3, 3)}
    parts = [(kind, cells_of(kind, domains[kind], None, 3)) for kind in kinds]
    found = next(from_trials(lambda made: f(*made), parts, "return", wanted))
    assert f(*found) == wanted


def test_the_function_is_run_no_more_often_than_is_said():
    count = 0

    def run(made):
        nonlocal count
        count += 1
        return hash((made[0], made[1])) % 1000003

    parts = [(int, cells_of(int, Integers(0, 5000), None, 0))] * 2
    assert not list(from_trials(run, parts, "return", -1, runs=500))
    assert count == 500


@pytest.mark.parametrize("function", [np.any, np.all])
@pytest.mark.parametrize("wanted", [True, False])
def test_truths_of_numpy_are_compared(function, wanted):
    (found,) = invert(lambda x: function(x > 0.5), np.zeros(3))(wanted)
    assert function(found > 0.5) == wanted
