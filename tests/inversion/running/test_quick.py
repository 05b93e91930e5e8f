"""Batches of floats are solved by code that never raises: with the answers and refusals
of calls.
"""

import math
import tracemalloc

import numpy as np
import pytest

from inversion import NoSolution, invert
from inversion.planning.plan import is_quick
from inversion.running import quick


def line(x: float):
    return 2 * x + 3


def exponential(x: float):
    return 3 * math.exp(2 * x + 1) - 4


def softplus(x: float):
    return math.log1p(math.exp(x))


def chain(x: float):
    return math.expm1(x / 3) ** 3


def saturating(x: float):
    return math.tanh(2 * x + 1)


def quotient(x: float):
    return 1 / (1 / x + 1)


def spread(a: float, b: float):
    return a / b + a


def polar(a: float, b: float):
    return math.sqrt(a * a + b) * 2


PROGRAMS = [line, exponential, softplus, chain, saturating, quotient, spread, polar]
VALUES = [-1e308, -3.0, -1.0, -0.0, 0.0, 1e-300, 0.4, 0.999, 1.0, 2.0, 700.0, 1e10, 1e308]
NOT_NUMBERS = [math.inf, -math.inf, math.nan]


def asked(inverse, value, theta):
    try:
        return inverse(value, *theta)
    except NoSolution:
        return (math.nan,) * len(inverse.unknown)


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_a_batch_answers_and_refuses_as_calls_do(f):
    inverse = invert(f)
    assert is_quick(inverse.program)
    space = inverse.parameters
    thetas = space.sample(np.random.default_rng(0), 6) if len(space) else [None]
    refused = 0
    for theta in thetas:
        given = () if theta is None else (theta,)
        keywords = {} if theta is None else {"theta": theta}
        wanted = [asked(inverse, value, given) for value in VALUES + NOT_NUMBERS]
        found = inverse.batch(np.array(VALUES + NOT_NUMBERS), **keywords, on_error="nan")
        refused += sum(map(math.isnan, found[0]))
        np.testing.assert_allclose(np.transpose(found), wanted, rtol=1e-12, atol=1e-300)
    assert 0 < refused < len(thetas) * len(VALUES + NOT_NUMBERS)


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("f", [saturating, spread, polar], ids=lambda f: f.__name__)
def test_one_theta_for_all_rows_is_one_in_each(f):
    inverse, values = invert(f), np.array(VALUES + NOT_NUMBERS)
    theta = inverse.parameters.sample(np.random.default_rng(1))
    each = np.array([tuple(theta)] * len(values), inverse.parameters.dtype)
    one = inverse.batch(values, theta=theta, on_error="nan")
    np.testing.assert_array_equal(one, inverse.batch(values, theta=each, on_error="nan"))
    with pytest.raises(NoSolution, match="row: "):
        inverse.batch(values, theta=theta)


@pytest.mark.usefixtures("form")
def test_one_theta_takes_no_room():
    inverse, values = invert(saturating), np.linspace(0.1, 0.9, 1_000_000)
    out = np.empty_like(values)
    inverse.batch(values, out=out)  # compiles
    tracemalloc.start()
    inverse.batch(values, out=out)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1_000_000 < out.nbytes


@pytest.mark.usefixtures("form")
def test_the_first_row_without_an_answer_is_named():
    inverse = invert(softplus)
    for bad in (-1.0, math.inf, math.nan):
        with pytest.raises(NoSolution, match="row: 1"):
            inverse.batch(np.array([1.0, bad, 2.0, -1.0]))


@pytest.mark.parametrize(
    ("seen", "pays_after", "parts"),
    [(math.inf, 0.0, 7), (math.inf, math.inf, 2), (1e-9, 0.0, 7), (1e-9, 1e-3, 1)],
)
def test_rows_are_shared_out_where_that_pays(monkeypatch, seen, pays_after, parts):
    monkeypatch.setattr(quick, "PAYS_AFTER", pays_after)
    monkeypatch.setattr(quick, "_cores", lambda: 2)
    values, lengths = np.zeros(200_001), []

    def rows(part):
        part += 1.0
        lengths.append(len(part))
        return len(part)

    assert quick.in_threads(rows, [values], quick.Pace(seen)) == len(values) == sum(lengths)
    assert (values == 1.0).all()
    assert (len(lengths), max(lengths)) == (
        parts, {1: 200_001, 2: 200_001 - quick.ROWS_AT_ONCE}.get(parts, quick.ROWS_AT_ONCE)
    )  # fmt: skip


def test_a_row_takes_the_least_that_it_has_taken(monkeypatch):
    moments = iter([0.0, 3.0, 10.0, 11.0, 20.0, 22.0])
    monkeypatch.setattr(quick.time, "perf_counter", lambda: next(moments))
    pace, seen = quick.Pace(), []
    for _ in range(3):
        assert pace.timed(len, [np.zeros(4)]) == 4
        seen.append(pace.least)
    assert seen == [0.75, 0.25, 0.25]


@pytest.mark.usefixtures("form")
@pytest.mark.parametrize("pays_after", [0.0, math.inf])
def test_rows_that_are_shared_out_are_answered_and_refused_alike(monkeypatch, pays_after):
    monkeypatch.setattr(quick, "PAYS_AFTER", pays_after)
    values = np.linspace(1, 2, 200_001)
    values[123_456] = -1.0
    (found,) = invert(softplus).batch(values, on_error="nan")
    assert np.flatnonzero(np.isnan(found)).tolist() == [123_456]
    found[123_456], values[123_456] = 0.0, math.log(2)
    np.testing.assert_allclose(np.log1p(np.exp(found)), values, rtol=1e-12)


@pytest.mark.usefixtures("form")
def test_an_array_that_must_not_be_written_to_is_taken_as_it_is():
    values = np.linspace(4, 5, 11)
    values.flags.writeable = False
    (found,) = invert(line).batch(values)
    np.testing.assert_allclose(found, (values - 3) / 2)
    (every_other,) = invert(line).batch(values[::2])
    np.testing.assert_array_equal(every_other, found[::2])
