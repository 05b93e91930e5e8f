"""Statements that are solved together, and calls whose value is known at lifting."""

import operator

import numpy as np
import pytest

from inversion import NotInvertible, choose, invert
from overlay import Context, MethodTable
from primitives import relation, relation_of

F = float


def generator(state):
    state ^= state << 13
    state ^= state >> 7
    return state ^ state << 17


def test_xorshift_steps_that_are_written_out_are_relations():
    inverse = invert(generator, np.uint64)
    assert not len(inverse.parameters)
    assert str(inverse).count("xorshift_left") == 4  # in the program and in the plan
    with np.errstate(over="ignore"):
        value = generator(np.uint64(88172645463325252))
        assert inverse(value) == (np.uint64(88172645463325252),)


def test_only_shifts_that_keep_bits_apart_are_xorshift_steps():
    with pytest.raises(NotInvertible, match="more than once"):
        choose(lambda n, k: n ^ (n >> k), int, int, known=("return", "k"))
    with pytest.raises(NotInvertible, match="more than once"):
        invert(lambda n: n ^ (n >> 0), int)


def test_a_relation_of_ones_own_is_not_fused_away():
    table = MethodTable("other remainder")

    @table.generated(relation_of(operator.mod))
    def other(a: int, b: int):
        return relation(operator.mod, int, int, "return = a % b", a=lambda ret, b: ret + 10 * b)

    inverse = invert(lambda n: n % 7, int, context=Context(table))
    assert inverse(3) == (73,)


# ---- loops over what is known ---------------------------------------------------------------


def scalar_product(xs, ys):
    total = 0.0
    for place, (x, y) in enumerate(zip(xs, ys, strict=True), start=1):
        total = total + place * x * y
    return total


def polynomial(x: float):
    value = 0.0
    for power, coefficient in reversed(((0, 1.0), (1, 0.0), (3, 2.0))):
        value = value + coefficient * x**power
    return value


def test_loops_over_several_tuples_at_once_are_written_out():
    ys = (2.0, 3.0, 5.0)

    def product_of(a: float, b: float, c: float):
        return scalar_product((a, b, c), ys)

    product = choose(product_of, known=("return", "a", "b"))
    assert product(scalar_product((1.0, 4.0, -2.0), ys), 1.0, 4.0) == pytest.approx((-2.0,))
    assert invert(polynomial)(55.0, (2.0,))[0] == pytest.approx(3.0)
    with pytest.raises(NotInvertible, match="zip"):
        invert(lambda x: scalar_product((x, x), (1.0,)), F)


def converted(x, unit="miles"):
    if unit == "miles" and isinstance(x, float):
        return x * 1.609344
    return x * 1000


def test_comparisons_of_what_is_no_number_are_decided_beforehand():
    assert invert(converted, F)(1.609344) == (1.0,)
    assert invert(converted, int)(3000) == (3,)
    assert invert(lambda x: converted(x, "metres"), F)(3000.0) == (3.0,)
    arrays = invert(lambda x: x + 1 if isinstance(x, np.ndarray) else x * 2, np.zeros(2))
    assert np.array_equal(arrays(np.ones(2))[0], np.zeros(2))
