"""Batches: with given output arrays, with progress, in bounded memory, and in other processes."""

import math
import pickle
import sys
import tracemalloc

import cloudpickle
import numpy as np
import pytest
from typeguard import suppress_type_checks

from inversion import MissingPackage, NoSolution, WrongArguments, choose, invert
from inversion.running import rows
from overlay import Context, MethodTable, OverlayError
from tests.inversion.running.batch_programs import (
    LINE,
    PAIR,
    SCALED,
    VALUES,
    nested,
    softplus,
    total,
)

pytestmark = pytest.mark.usefixtures("form")

# ---- what is given ----

LAYOUTS = {
    "plain": lambda values: values,
    "of two dimensions": lambda values: values.reshape(4, 6),
    "transposed": lambda values: values.reshape(4, 6).T,
    "of one number": lambda values: values[5],
    "of no dimension": lambda values: np.asarray(values[5]),
    "of none": lambda values: values[:0],
    "reversed": lambda values: values[::-1],
    "strided": lambda values: np.repeat(values, 2)[::2],
    "broadcast": lambda values: np.broadcast_to(values, (3, 24)),
    "misaligned": lambda values: np.frombuffer(bytearray(b"." + values.tobytes()), offset=1),
    "of the other byte order": lambda values: values.astype(">f8"),
    "of single precision": lambda values: values.astype(np.float32),
    "of a class below": lambda values: np.ma.masked_array(values),
    "list": lambda values: values.tolist(),
}


@pytest.mark.parametrize("layout", LAYOUTS.values(), ids=LAYOUTS)
def test_any_layout_is_answered_alike(layout):
    values = layout(VALUES)
    (found,) = LINE.batch(values)
    assert (type(found), found.dtype, found.shape) == (np.ndarray, np.float64, np.shape(values))
    np.testing.assert_array_equal(found, (np.asarray(values, np.float64) - 3) / 2)


def test_arrays_of_several_layouts_and_lengths_go_together():
    wanted = np.arange(24.0) / 2, VALUES + 1
    for first in (np.arange(24.0), np.repeat(np.arange(24.0), 2)[::2], list(range(24))):
        np.testing.assert_array_equal(PAIR.batch((first, VALUES)), wanted)
    one = choose(total, known=("return", "x"))
    for value in (2.0, np.array([2.0]), np.full(24, 2.0), np.full(24, 2)):
        np.testing.assert_array_equal(one.batch(VALUES, value)[0], VALUES - 2)
    with pytest.raises(WrongArguments, match="broadcast"):
        one.batch(VALUES, VALUES[:5])
    with pytest.raises(WrongArguments, match=r"\(return, x\), and no θ"):
        one.batch(VALUES)


@pytest.mark.parametrize("given", [math.inf, -math.inf, math.nan])
def test_known_inputs_that_are_not_finite_are_refused_by_all(given):
    one = choose(lambda x, y: x + math.atan(y), float, float, known=("return", "y"))
    for refusing in (
        one,
        one.compile(),
        lambda *values: one.batch(*map(np.array, ([v] for v in values))),
    ):
        with pytest.raises(NoSolution):
            refusing(1.0, given)
    (found,) = one.batch(np.ones(2), np.array([given, 0.0]), on_error="nan")
    np.testing.assert_array_equal(found, [math.nan, 1.0])


def test_arrays_that_compiled_code_takes_are_handed_to_it(monkeypatch):
    one = choose(total, known=("return", "x"))
    monkeypatch.delattr(rows, "kind_columns")  # by which others are looked at
    np.testing.assert_array_equal(LINE.batch(VALUES)[0], (VALUES - 3) / 2)
    np.testing.assert_array_equal(one.batch(VALUES, VALUES / 2)[0], VALUES / 2)
    (found,) = invert(softplus).batch(VALUES.reshape(4, 6), on_error="nan")
    np.testing.assert_array_equal(np.isnan(found), VALUES.reshape(4, 6) < 0)
    with pytest.raises(NoSolution, match="row: 2"):
        invert(softplus).batch(np.array([[1.0, 2.0], [-1.0, -2.0]]))
    with suppress_type_checks(), pytest.raises(WrongArguments, match="on_error"):
        LINE.batch(VALUES, on_error="none")


# ---- out ----


@pytest.mark.parametrize(
    "room",
    [
        np.full((4, 6), -1.0),
        np.full((6, 4), -1.0).T,
        np.full((8, 12), -1.0)[::2, ::2],
        np.full((4, 6), -1.0)[::-1],
    ],
    ids=["plain", "transposed", "strided", "reversed"],
)
def test_answers_are_written_where_they_are_wanted(room, monkeypatch):
    monkeypatch.setattr(rows, "AT_ONCE", 5)  # several ranges
    (found,) = LINE.batch(VALUES.reshape(4, 6), out=room)
    assert found is room
    np.testing.assert_array_equal(room, (VALUES.reshape(4, 6) - 3) / 2)


def test_several_unknown_axes_take_a_tuple_of_arrays():
    out = np.empty(24), np.empty(24)
    found = PAIR.batch((VALUES, VALUES / 2), out=out)
    assert found[0] is out[0]
    assert found[1] is out[1]
    np.testing.assert_allclose(out, [VALUES / 2, VALUES / 2 + 1])


def test_an_axis_of_several_numbers_is_built_of_arrays():
    inverse = invert(nested)
    out = (np.empty(24), np.empty(24)), np.empty(24)
    (p, q), z = inverse.batch((VALUES, VALUES, VALUES), out=out)
    assert (p is out[0][0], q is out[0][1], z is out[1]) == (True, True, True)
    np.testing.assert_allclose([p, q, z], [VALUES / 2, VALUES + 1, VALUES / 2])


def test_what_is_known_may_be_where_the_answers_go():
    values = np.concatenate([VALUES, [-3.0, 1.0, 2.0]])
    wanted = (values - 3) / 2
    assert LINE.batch(values, out=values)[0] is values
    np.testing.assert_array_equal(values, wanted)
    shared = np.arange(10.0)
    (found,) = LINE.batch(shared[:-1], out=shared[1:])
    np.testing.assert_array_equal(found, (np.arange(9.0) - 3) / 2)


def test_rows_that_fail_are_read_from_what_was_given():
    values = np.array([1.0, -1.0, 2.0])
    invert(softplus).batch(values, out=values, on_error="nan")
    assert np.isnan(values).tolist() == [False, True, False]


@pytest.mark.parametrize(
    ("out", "message"),
    [
        (np.empty(3), r"out= for x is an array of float64 of shape \(3,\); .* shape \(24,\)"),
        (np.empty(24, np.float32), "float32"),
        ([0.0] * 24, "out= for x is a list"),
        ((), "answers x"),
        ((np.empty(24), np.empty(24)), "answers x"),
        (np.broadcast_to(np.zeros(()), (24,)), "read-only"),
    ],
    ids=["shape", "dtype", "list", "none", "two", "read-only"],
)
def test_room_that_does_not_fit_is_refused(out, message):
    with pytest.raises(WrongArguments, match=message):
        LINE.batch(VALUES, out=out)


def test_answers_do_not_share_room():
    room = np.empty(30)
    with pytest.raises(WrongArguments, match="shares memory"):
        PAIR.batch((VALUES, VALUES), out=(room[:24], room[6:]))


def test_ranges_of_rows_are_solved_one_after_the_other(monkeypatch):
    thetas = SCALED.parameters.sample(np.random.default_rng(0), 7).reshape(7, 1)
    known = np.arange(15.0).reshape(5, 3), np.arange(1.0, 36).reshape(7, 5)
    (whole,) = SCALED.batch(*known, theta=thetas)
    monkeypatch.setattr(rows, "AT_ONCE", 6)  # two rows at a time
    (parts,) = SCALED.batch(*known, theta=thetas)
    np.testing.assert_array_equal(parts, whole)
    np.testing.assert_allclose(whole * known[1][..., None], np.broadcast_to(known[0], whole.shape))
    with pytest.raises(NoSolution, match="row: 5"):
        invert(softplus).batch(np.array([1.0] * 5 + [-1.0]))


def test_memory_beside_the_answers_is_bounded():
    values = np.broadcast_to(np.linspace(1, 2, 3_000_000, dtype=np.float32), (2, 3_000_000))
    out = np.empty(values.shape)
    LINE.batch(values, out=out)  # compiles, and imports what so many rows need
    tracemalloc.start()
    LINE.batch(values, out=out)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 25e6 < out.nbytes


@pytest.mark.parametrize("one", [float, np.zeros(2)], ids=["numbers", "arrays"])
def test_what_is_not_finite_has_no_answer(one):
    inverse = invert(lambda x: np.tan(x), one)  # of pi / 2 it is large, and finite
    rows = np.array([1.0, math.inf, -math.inf, math.nan, 2.0])
    values = rows if one is float else np.stack([np.ones(5), rows], axis=1)
    (found,) = inverse.batch(values, theta=inverse.parameters.default(), on_error="nan")
    assert np.isfinite(found.reshape(5, -1)).all(axis=1).tolist() == [True, *[False] * 3, True]


# ---- progress ----


def test_a_function_is_told_how_far_a_batch_is(monkeypatch):
    monkeypatch.setattr(rows, "AT_ONCE_REPORTED", 10)
    told = []
    LINE.batch(VALUES, progress=lambda done, total: told.append((done, total)))
    assert told == [(10, 24), (20, 24), (24, 24)]


def test_a_bar_shows_it(capsys):
    pytest.importorskip("tqdm")
    LINE.batch(VALUES, progress=True)
    assert "line: 100%" in capsys.readouterr().err


def test_without_tqdm_a_bar_is_refused(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    with pytest.raises(MissingPackage, match=r"overlay-dispatch\[progress\]"):
        LINE.batch(VALUES, progress=True)
    with (
        suppress_type_checks(),
        pytest.raises(WrongArguments, match="progress is True, False, or a function"),
    ):
        LINE.batch(VALUES, progress="yes")


# ---- in other processes ----


def test_an_inverse_is_pickled_as_what_it_was_made_of():
    for inverse in (LINE, SCALED, choose(total, known=("return", "x"), rtol=1e-6)):
        again = pickle.loads(pickle.dumps(inverse))
        assert again is not inverse
        assert (str(again), again.known, again.tolerance) == (
            str(inverse), inverse.known, inverse.tolerance
        )  # fmt: skip
        assert pickle.loads(pickle.dumps(inverse)) is again  # with what it has compiled


def test_an_inverse_that_is_sent_after_a_change_is_made_anew():
    factor = 2.0

    def scaled(x: float):
        return factor * x

    inverse = invert(scaled)
    first, again = (pickle.loads(cloudpickle.dumps(inverse)) for _ in range(2))
    assert (first is again, first(8.0)) == (True, (4.0,))
    factor = 4.0
    assert pickle.loads(cloudpickle.dumps(inverse))(8.0) == (2.0,)


def test_a_function_without_a_name_is_pickled_by_value_only():
    inverse = invert(lambda x, v: 4 * x + v.sum(), float, np.zeros(2))
    with pytest.raises(OverlayError, match="cannot pickle the inverse of <lambda>") as caught:
        pickle.dumps(inverse)
    assert "cloudpickle" in str(caught.value)
    again = pickle.loads(cloudpickle.dumps(inverse))
    theta = again.recover(1.0, [2.0, 3.0])
    assert again(9.0, theta)[0] == 1.0


def test_a_context_goes_with_it():
    table = MethodTable("linear")

    @table.overlay(math.exp)
    def exp(x: float):
        return 1 + x

    inverse = invert(lambda t: 3 * math.exp(t), float, context=Context(table))
    assert pickle.loads(cloudpickle.dumps(inverse))(6.0) == (1.0,)
