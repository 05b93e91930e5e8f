"""Arguments of no type that compiled code has are refused by name, with a remedy."""

import datetime
import math
from decimal import Decimal

import pytest
from numba import njit

from overlay import Context, NotCompilable


def applied(g, x):
    return g(x) + x


def double(x):
    return 2 * x


class Point:
    pass


GIVEN = {
    "a function": (double, "numba.njit"),
    "a function in C": (math.sin, "numba.njit"),
    "a class": (Point, "numba.njit"),
    "a dict": ({"a": 1.0}, "numba.typed.Dict"),
    "an object": (Point(), "numba.typed"),
    "a decimal number": (Decimal(1), "numba.typed"),
    "a date": (datetime.date(2020, 1, 1), "numba.typed"),
    "a range": (range(3), "numba.typed"),
    "a tuple with an object": ((1.0, Point()), "numba.typed"),
    "an integer of more than 64 bits": (2**70, "numba.typed"),
}


@pytest.mark.parametrize("kind", GIVEN)
def test_an_argument_without_a_type_is_named(kind):
    given, remedy = GIVEN[kind]
    hot = Context().jit(applied)
    with pytest.raises(NotCompilable, match=r"applied is given .* as 'g'") as refused:
        hot(given, 0.5)
    assert "test_arguments_not_taken.py" in refused.value.where
    assert remedy in refused.value.help
    assert "ctx(applied, ...)" in refused.value.help


def test_each_call_names_its_own_argument_and_the_remedy_works():
    hot = Context().jit(applied)
    for given in (math.sin, double, math.cos):
        with pytest.raises(NotCompilable, match=given.__name__):
            hot(given, 0.5)
    assert hot(njit(double), 0.5) == 1.5
    assert Context().jit(lambda x: applied(double, x))(0.5) == 1.5
