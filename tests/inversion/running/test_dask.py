"""Batches of dask arrays: lazy, chunk by chunk, by threads and processes."""

import numpy as np
import pytest

from inversion import NoSolution, WrongArguments, choose, invert
from inversion.running import rows
from tests.inversion.running.batch_programs import (
    LINE,
    PAIR,
    SCALED,
    TOTAL,
    VALUES,
    line,
    nested,
    softplus,
)

da = pytest.importorskip("dask.array")


def doubled(n: int):
    return 2 * n


def computed(*arrays):
    return [a.compute(scheduler="synchronous") for a in arrays]


def test_dask_arrays_are_answered_by_dask_arrays():
    lazy = LINE.batch(da.from_array(VALUES, chunks=7))
    assert isinstance(lazy, tuple)
    (x,) = lazy
    assert isinstance(x, da.Array)
    assert (x.chunks, x.dtype, type(x._meta)) == (((7, 7, 7, 3),), np.float64, np.ndarray)
    np.testing.assert_array_equal(computed(x)[0], LINE.batch(VALUES)[0])


def test_several_answers_come_from_one_task_for_each_chunk(monkeypatch):
    calls = []
    solve = rows.RowsInverse.answers
    monkeypatch.setattr(rows.RowsInverse, "answers", lambda *a: calls.append(1) or solve(*a))
    values = da.from_array(VALUES, chunks=8)
    lazy = PAIR.batch((values, 2.0))
    assert not calls
    x, y = da.compute(*lazy, scheduler="synchronous")
    assert len(calls) == 3
    np.testing.assert_allclose([x, y], [VALUES / 2, np.full(24, 3.0)])


def test_chunks_are_those_that_known_values_and_theta_have_together():
    thetas = TOTAL.parameters.sample(np.random.default_rng(0), 24)
    values = da.from_array(VALUES.reshape(24, 1), chunks=(6, 1)) + da.zeros((1, 24), chunks=(1, 5))
    lazy = TOTAL.batch(values, theta=da.from_array(thetas, chunks=8))
    assert lazy[0].numblocks == (4, 7)
    wanted = TOTAL.batch(VALUES.reshape(24, 1), theta=thetas)
    np.testing.assert_array_equal(computed(*lazy), wanted)
    for lazy in (
        TOTAL.batch(5.0, theta=da.from_array(thetas, chunks=8)),
        TOTAL.batch(da.full(24, 5.0, chunks=8), theta=thetas),
    ):
        np.testing.assert_array_equal(computed(*lazy), TOTAL.batch(5.0, theta=thetas))
    one = TOTAL.batch(da.from_array(VALUES, chunks=8), theta=(1.5,))
    np.testing.assert_array_equal(computed(*one), TOTAL.batch(VALUES, theta=(1.5,)))


def test_an_axis_that_is_an_array_lies_in_one_chunk():
    known = np.arange(36.0).reshape(12, 3), np.arange(1.0, 13)
    theta = SCALED.parameters.default()
    lazy = SCALED.batch(da.from_array(known[0], chunks=(4, 2)), known[1], theta=theta)
    assert lazy[0].shape == (12, 3)
    assert lazy[0].chunks[1] == (3,)
    np.testing.assert_array_equal(computed(*lazy), SCALED.batch(*known, theta=theta))


def test_integers_and_nested_axes_are_known_and_answered():
    (n,) = computed(*invert(doubled).batch(da.arange(0, 20, 2, chunks=4, dtype=np.int32)))
    assert (n.dtype, n.tolist()) == (np.int64, list(range(10)))
    (p, q), z = invert(nested).batch((da.from_array(VALUES, chunks=9), VALUES, 4.0))
    assert computed(z)[0].tolist() == [2.0] * 24
    np.testing.assert_allclose(computed(p, q), [VALUES / 2, VALUES + 1])


def test_what_does_not_fit_is_refused_at_once():
    values = da.from_array(VALUES, chunks=8)
    for call, message in [
        (lambda: LINE.batch(values, out=np.empty(24)), "of dask arrays out= cannot be given"),
        (lambda: LINE.batch(values, progress=True), "ProgressBar"),
        (lambda: LINE.batch(values.astype(complex)), "complex128"),
        (lambda: invert(doubled).batch(da.arange(4, chunks=2), on_error="nan"), "on_error"),
        (lambda: PAIR.batch((values, values[:3])), "do not broadcast"),
        (lambda: TOTAL.batch(), "theta="),
        (lambda: LINE.batch(values, theta=values), "no θ"),
        (lambda: TOTAL.batch(values, **{TOTAL.parameters.names[0]: values}), "by name"),
        (lambda: SCALED.batch(values, 1.0, theta=SCALED.parameters.default()), "end with"),
        (lambda: choose(line, known=("return", "x")).batch(values, values), "nothing is unknown"),
    ]:
        with pytest.raises(WrongArguments, match=message):
            call()


def test_rows_without_an_answer_are_refused_in_their_task():
    values = da.from_array(np.array([1.0, 2.0, 3.0, -1.0]), chunks=2)
    softened = invert(softplus)
    (nan,) = computed(*softened.batch(values, on_error="nan"))
    assert np.isnan(nan).tolist() == [False, False, False, True]
    with pytest.raises(NoSolution, match="has no solution"):
        computed(*softened.batch(values))


@pytest.mark.parametrize("scheduler", ["threads", "processes"])
def test_chunks_are_solved_by_threads_and_processes(scheduler):
    lazy = LINE.batch(da.from_array(VALUES, chunks=12))
    (found,) = da.compute(*lazy, scheduler=scheduler, num_workers=2)
    np.testing.assert_array_equal(found, LINE.batch(VALUES)[0])
