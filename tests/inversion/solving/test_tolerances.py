"""Tolerance of the known result: a relative difference, and an absolute one only at 0."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inversion import NoSolution, invert
from inversion.contraction.variable_sets import around
from inversion.emitting.definition import is_close as is_value_close
from inversion.intrinsics.checks import all_close, is_close, lists_close, margin


def scaled(x: float):
    return x, 1e-14 * x


BOTH = invert(scaled)
GOOD, BAD = (1.0, 1e-14), (1.0, 9e-13)


def source_of(inverse):
    module = {}
    exec(inverse.source, module)
    return module["inverse"]


@pytest.mark.parametrize("form", ["call", "compiled", "source"])
def test_each_component_is_compared_by_its_own_size(form):
    call = {"call": BOTH, "compiled": invert(scaled).compile(), "source": source_of(BOTH)}[form]
    assert call(GOOD) == (1.0,)
    with pytest.raises(Exception, match=r"disagree|has no solution") as caught:
        call(BAD)
    assert type(caught.value).__name__ == "NoSolution"


def test_rows_and_sets_of_solutions_compare_alike():
    columns = tuple(np.array(pair) for pair in zip(GOOD, BAD, strict=True))
    assert np.isnan(BOTH.batch(columns, on_error="nan")[0]).tolist() == [False, True]
    arrays = invert(lambda x: 1e-14 * x + 0 * x, np.zeros(2))
    assert np.allclose(arrays(np.array([1e-14, 2e-14]), *spare(arrays))[0], [1.0, 2.0])


def spare(inverse):
    return (inverse.parameters.default(),) if len(inverse.parameters) else ()


def test_a_small_result_of_digits_that_cancel_is_refused():
    cancels = invert(lambda x: (x + 1.0) - 1.0, float)
    with pytest.raises(NoSolution, match="lost digits"):
        cancels(1.234567e-14)
    assert cancels(0.0) == (0.0,)


def test_0_is_met_within_atol():
    assert invert(math.sin, float)(0.0, (3,)) == (3 * math.pi,)
    with pytest.raises(NoSolution):
        invert(math.sin, float, atol=0.0)(0.0, (3,))


SIZES = st.floats(-1e300, 1e300, allow_subnormal=False)


@given(SIZES, st.floats(-3, 3))
def test_all_comparisons_are_one(wanted, off):
    found = wanted + off * (1e-9 * abs(wanted) if wanted else 1e-12)
    close = bool(abs(found - wanted) <= margin(wanted, 1e-9, 1e-12))
    assert is_close(found, wanted, 1e-9, 1e-12) is close
    assert is_value_close(found, wanted, 1e-9, 1e-12) is close
    assert all_close(np.array([found]), np.array([wanted]), 1e-9, 1e-12) is close
    assert lists_close([found], [wanted], 1e-9, 1e-12) is close
    assert around(wanted, 1e-9, 1e-12).contains(found) or not close
