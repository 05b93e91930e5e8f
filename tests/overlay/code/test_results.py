"""The types that results are said to have are those that they have."""

import math
import operator

from hypothesis import given
from hypothesis import strategies as st

from overlay.code.results import of_function, of_operator

VALUES = st.sampled_from([1, True, 2.5, 1j, "a", b"a", None, [1], (1,), {}])
OPERATORS = st.sampled_from(
    [
        *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv),
        *(operator.mod, operator.pow, operator.and_, operator.lshift, operator.lt, operator.eq),
        *(operator.contains, operator.getitem, operator.is_),
    ]
)


@given(OPERATORS, VALUES, VALUES)
def test_the_type_of_an_operators_result_is_what_it_says(function, a, b):
    try:
        result = function(a, b)
    except (TypeError, ZeroDivisionError, IndexError, KeyError):
        return
    assert of_operator(function, [type(a), type(b)]) in (None, type(result))


@given(st.sampled_from([f for f in vars(math).values() if callable(f)]), st.floats(0.1, 0.9))
def test_the_type_of_a_functions_result_is_what_it_says(function, x):
    for args in ((x,), (x, x), (3,), (3, 2)):
        try:
            result = function(*args)
        except (TypeError, ValueError):
            continue
        assert of_function(function, [type(a) for a in args]) in (None, type(result))
