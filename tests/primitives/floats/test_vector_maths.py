import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from primitives.errors import NoSolution
from primitives.floats.vector_maths import VECTORISED, log1p
from primitives.solver_kernels import compiled

FORMS = list(VECTORISED.items())


@pytest.mark.parametrize(("exact", "form"), FORMS, ids=lambda f: f.__name__)
@given(x=st.one_of(st.floats(-750, 750), st.floats(-2, 2), st.floats()))
def test_a_vectorised_function_is_that_of_math_or_nan(exact, form, x):
    found = compiled(form, refuses=False)(x)
    try:
        wanted = exact(x)
    except (ValueError, OverflowError):
        wanted = math.nan
    if not math.isnan(found):
        assert abs(found - wanted) <= 3 * math.ulp(wanted)


@pytest.mark.parametrize(("exact", "form"), FORMS, ids=lambda f: f.__name__)
def test_ordinary_numbers_have_an_answer(exact, form):
    function = compiled(form, refuses=False)
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
    assert compiled(one, refuses=False)(1.0) == compiled(log1p, refuses=False)(1.0)
    assert math.isnan(compiled(one, refuses=False)(-0.5))
    assert compiled(pair, refuses=False)(1.0) == (compiled(one, refuses=False)(1.0), 1.0)
    assert all(map(math.isnan, compiled(pair, refuses=False)(-0.5)))
    for function in (one, pair):
        with pytest.raises(NoSolution):
            compiled(function)(-0.5)
