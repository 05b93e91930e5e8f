import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primitives.errors import NoSolution
from primitives.floats.vector_maths import VECTORISED, log1p
from primitives.solver_forms import compiled_solvers, without_refusals

FORMS = list(VECTORISED.items())


@pytest.mark.parametrize(("exact", "form"), FORMS, ids=lambda f: f.__name__)
@given(x=st.one_of(st.floats(-750, 750), st.floats(-2, 2), st.floats()))
def test_a_vectorised_function_is_that_of_math_or_nan(exact, form, x):
    found = without_refusals(form)(x)
    try:
        wanted = exact(x)
    except (ValueError, OverflowError):
        wanted = math.nan
    if not math.isnan(found):
        assert abs(found - wanted) <= 3 * math.ulp(wanted)


@pytest.mark.parametrize(("exact", "form"), FORMS, ids=lambda f: f.__name__)
def test_ordinary_numbers_have_an_answer(exact, form):
    function = without_refusals(form)
    rows = np.linspace(0.001, 0.999, 1000)
    found = np.array([function(x) for x in rows])
    assert not np.isnan(found).any()
    np.testing.assert_array_max_ulp(found, np.array([exact(x) for x in rows]), 3)


def one(x):
    if x < 0:
        raise NoSolution("negative")
    return math.log1p(x)


def pair(x):
    if x < 0:
        raise NoSolution("negative")
    return one(x), x


def test_a_kernel_without_refusals_answers_nan_where_the_plain_one_raises():
    assert without_refusals(one)(1.0) == without_refusals(log1p)(1.0)
    assert math.isnan(without_refusals(one)(-0.5))
    assert without_refusals(pair)(1.0) == (without_refusals(one)(1.0), 1.0)
    assert all(map(math.isnan, without_refusals(pair)(-0.5)))
    for function in (one, pair):
        with pytest.raises(NoSolution):
            compiled_solvers.jit(function)(-0.5)
