"""One table, two engines: the same method is chosen for the same value, and a program gives the
same result as with each call written by hand."""

import typing

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, assume, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from overlay import Context, MethodTable
from tests.examples import examples
from tests.overlay.numeric_programs import METADATA, programs

Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]


class Point(typing.NamedTuple):
    x: float
    y: float


VALUES = [
    *(1, True, 2.5, 1j, "text", None),
    *(np.int32(1), np.uint8(1), np.uint64(1), np.float32(1)),
    *(np.zeros(2), np.zeros((2, 2)), np.zeros(2, np.int64), np.zeros((1, 1), np.float32)),
    *((1, 2.5), (1.5, 2), (1, 2, 3), Point(1.0, 2.0)),
]
TABLES = {
    "scalars": [bool, int, float, complex, str, None],
    "numbers without bool": [int, float],
    "numpy scalars": [np.int32, np.uint8, np.uint64, np.float32],
    "arrays": [np.ndarray, NDArray[np.float64], Matrix],
    "arrays of one kind": [Matrix],
    "tuples": [tuple, tuple[int, float], tuple[float, int], Point],
    "unions": [int | str, float | None, tuple | complex],
    "all": [object, typing.Any],
}


def target(x):
    return -1


def use(x):
    return target(x)


def table_of(name, hints):
    """A table whose methods give back the place of their annotation in the list."""
    table = MethodTable(name)
    for place, hint in enumerate(hints):
        scope = {"hint": hint}
        exec(f"def method(x: hint):\n    return {place}", scope)
        table.overlay(target)(scope["method"])
    return table


@pytest.mark.parametrize("name", TABLES)
def test_both_engines_choose_the_same_method(name):
    hints = TABLES[name]
    ctx = Context(table_of(name, hints))
    compiled = ctx.jit(use)
    interpreted = [ctx(use, value) for value in VALUES]
    assert [compiled(value) for value in VALUES] == interpreted
    assert set(interpreted) - {-1}


def test_a_compiled_float_is_taken_for_numpys_where_only_that_has_a_method():
    """numba has one type for both: the one difference in what a scalar matches."""
    ctx = Context(table_of("numpy", [np.float64, np.int64]))
    compiled = ctx.jit(use)
    assert [compiled(np.float64(1)), compiled(np.int64(1))] == [0, 1]
    assert [ctx(use, np.float64(1)), ctx(use, np.int64(1))] == [0, 1]
    assert [compiled(1.0), compiled(1)] == [0, 1]
    assert [ctx(use, 1.0), ctx(use, 1)] == [-1, -1]


# Every attempt to make a failing program shorter compiles it anew.
NO_SHRINKING = [phase for phase in Phase if phase is not Phase.shrink]


@settings(max_examples=examples(20), phases=NO_SHRINKING, suppress_health_check=list(HealthCheck))
@given(programs(), st.sampled_from((0.5, -1.75, 3.0)), st.sampled_from((0, 1, 5)))
def test_programs_mean_what_they_mean_with_each_call_written_by_hand(program, x, n):
    expected = program.by_hand()(x, n)
    assume(program.picked)
    main, tables = program.in_context()
    ctx = Context(*tables, metadata=METADATA)
    assert repr(ctx(main, x, n)) == repr(expected)
    assert repr(ctx.jit(main)(x, n)) == repr(expected)
