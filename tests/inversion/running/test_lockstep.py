"""Functions of numbers over columns: each row has the answer of a call, or is left to calls."""

import math
import random

import numpy as np
import pytest

from inversion import NoSolution, NotInvertible, invert
from inversion.running.lockstep import FEWEST, MOST, Lockstep
from overlay.catalogue import FUNCTIONS
from tests.laws.straight_line import function, random_program, value_of

RNG = np.random.default_rng(3)


def over_columns(f, *given, count):
    """The results of a function over columns, NaN in rows that are left to calls, and
    these rows.
    """
    out = np.full(count, np.nan)
    run = Lockstep(f, fits=True)
    left = [row for start, stop in run.missed(given, [out], 0, count) for row in range(start, stop)]
    return out, left, run


def agrees(f, *given, count, ulps=4):
    """Return whether each row that is not left to calls has the result of a call, and the number of
    these rows.
    """
    out, left, _ = over_columns(f, *given, count=count)
    rows = np.setdiff1d(np.arange(count), left)
    for row in rows:
        args = [g[row].item() if isinstance(g, np.ndarray) else g for g in given]
        wanted = f(*args)  # a call that raised here would be a row that must be left
        assert abs(out[row] - wanted) <= ulps * np.spacing(abs(wanted)), (args, out[row], wanted)
    return len(rows)


@pytest.mark.parametrize("row", [f for f in FUNCTIONS if f.numpy], ids=lambda f: f.name)
def test_functions_of_math_are_numpys(row):
    given = [RNG.uniform(*np.clip(bounds, -50, 50), FEWEST) for bounds in row.between]
    assert agrees(lambda *args: row.function(*args), *given, count=FEWEST) == FEWEST
    for place, column in enumerate(given):
        with_one = [g if i == place else g[0].item() for i, g in enumerate(given)]
        assert agrees(lambda *args: row.function(*args), *with_one, count=FEWEST) == FEWEST
        bad = column.copy()
        bad[7] = math.nan  # no call is asked for it
        assert len(over_columns(row.function, *given[:place], bad, *given[place + 1 :],
                                count=FEWEST)[1]) in (0, FEWEST)  # fmt: skip


VALUES = [0.0, -0.0, 1.0, -1.0, 0.5, 3.0, 800.0, -800.0, 1e-320, 1e308, -1e308, 2.0]
OPERATIONS = {
    "quotient": lambda x: 1.0 / x,
    "hidden infinity": lambda x: 1.0 / (1.0 / x + 1.0),
    "rest": lambda x: x % 3.0,
    "whole part": lambda x: x // 3.0,
    "square": lambda x: x**2,
    "power": lambda x: x**-1.5,
    "power of two": lambda x: 2.0**x,
    "logarithm": lambda x: math.log(x),
    "exponential": lambda x: 1 / (1 + math.exp(x)),
    "overflow": lambda x: x * 10.0 / 1e300,
    "branch": lambda x: x + 1 if 0 < x < 5 else x - 1,
    "and": lambda x: 2.0 * x if x > 0 and x != 3.0 else x,
    "extremes": lambda x: max(0.0, min(x, 2.0)),
    "truth": lambda x: x if x else 7.0,
    "whole number": lambda x: float(int(x)),
    "rounded": lambda x: round(x) + 0.5,
    "floor": lambda x: math.floor(x) + 0.5,
    "sum over all": lambda x: float(np.sum(x)),
    "largest of all": lambda x: np.max(x) + 0.0,
    "sign": lambda x: math.copysign(2.0, x),
    "no function of numpy": lambda x: math.erf(x),
    "constant": lambda x: 4.0,
}


@pytest.mark.parametrize("f", OPERATIONS.values(), ids=OPERATIONS)
def test_a_row_is_that_of_a_call_or_left_to_calls(f):
    agree = 0
    for value in VALUES:  # all alike, then with another among them
        agree += agrees(f, np.full(FEWEST, value), count=FEWEST)
        for other in VALUES:
            column = np.full(2 * FEWEST, value)
            column[5] = other
            agree += agrees(f, column, count=2 * FEWEST)
    mixed = np.array([RNG.choice(VALUES) for _ in range(3 * FEWEST)])
    agrees(f, mixed, count=3 * FEWEST)
    left_out = {"whole number", "rounded", "floor", "sum over all", "largest of all"}
    if f not in map(OPERATIONS.get, (*left_out, "no function of numpy", "sign")):
        assert agree > 0


def test_a_function_may_change_its_argument_as_a_number():
    def f(x):
        y = x
        y += 1.0
        y *= 2.0
        return y - x

    column = np.linspace(0.0, 1.0, FEWEST)
    before = column.copy()
    assert agrees(f, column, count=FEWEST) == FEWEST
    np.testing.assert_array_equal(column, before)


def test_handlers_of_errors_do_not_see_what_rows_differ_in():
    def f(x):
        try:
            return 1.0 / x if x < 2.0 else x
        except Exception:
            return 5.0

    column = np.linspace(0.0, 3.0, 4 * FEWEST)
    assert 0 < agrees(f, column, count=4 * FEWEST) < 4 * FEWEST


def test_few_rows_are_left_to_calls_and_many_are_taken_in_parts():
    assert over_columns(math.sqrt, np.ones(FEWEST - 1), count=FEWEST - 1)[1]
    lengths = []

    def f(x):
        lengths.append(x.size)
        return x + 1.0

    assert over_columns(f, np.ones(5 * MOST), count=5 * MOST)[1] == []
    assert max(lengths) <= MOST


def test_what_needs_a_number_is_not_tried_again():
    _, left, run = over_columns(lambda x: float(x), np.ones(FEWEST), count=FEWEST)
    assert len(left) == FEWEST
    assert not run.fits


def test_random_programs_are_answered_over_columns_as_by_calls():
    answered = tried = 0
    for seed in range(60):
        rng = random.Random(f"columns {seed}")
        source, count = random_program(rng, 0.2)
        f = function(source)
        values = [value_of(f, tuple(rng.uniform(-3, 3) for _ in range(count))) for _ in range(300)]
        values = np.array([value for value in values if value is not None])
        try:
            inverse = invert(f, *[float] * count)
        except NotInvertible:
            continue
        theta = inverse.parameters.default()
        given = [values, *([theta] if len(theta) else [])]
        outs = [np.full(len(values), np.nan) for _ in range(count)]
        run = Lockstep(inverse._code.namespace["inverse"], fits=inverse._code.columns.fits)
        left = [
            row
            for start, stop in run.missed(given, outs, 0, len(values))
            for row in range(start, stop)
        ]
        for row in np.setdiff1d(np.arange(len(values)), left):
            wanted = inverse._at((float(values[row]),), theta)  # raises where it has to be left
            found = [out[row] for out in outs]
            np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-12, err_msg=source)
            answered += 1
        tried += len(values)
    assert answered > tried / 10


def test_refusals_of_rows_are_those_of_calls():
    inverse = invert(lambda x: math.log1p(math.exp(x)), float)
    values = np.linspace(-1.0, 2.0, 1000)
    with pytest.raises(NoSolution) as caught:
        inverse.batch(values)
    with pytest.raises(NoSolution) as called:
        inverse(values[0])
    assert ("row", "0") in caught.value.notes
    assert caught.value.asked == called.value.asked
    (found,) = inverse.batch(values, on_error="nan")
    assert np.isnan(found).tolist() == (values <= 0).tolist()
