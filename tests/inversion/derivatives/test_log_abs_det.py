"""The Jacobian determinant of an inverse: by hand, by differences, and where there is none."""

import math
from typing import NamedTuple

import numpy as np
import pytest

from inversion import NoSolution, NotInvertible, choose, invert
from overlay import Context, MethodTable
from primitives import partials_of, relation, relation_of

F = float


def test_scalar_chains_agree_with_formulas_by_hand():
    affine = invert(lambda x: 2 * x + 3, F)
    assert affine.log_abs_det(7.0) == pytest.approx(-math.log(2))
    exponential = invert(lambda x: 3 * math.exp(2 * x + 1), F)
    assert exponential.log_abs_det(5.0) == pytest.approx(math.log(1 / (2 * 5.0)))
    square = invert(lambda x: x * x, F)
    for negative in (False, True):
        assert square.log_abs_det(9.0, (negative,)) == pytest.approx(-math.log(6))


def polar(r: float, angle: float):
    return r * math.cos(angle), r * math.sin(angle)


def shear(x: float, y: float):
    return x * 3.0 + y * y * y, y + 1.0


def test_two_by_two_agrees_with_formulas_by_hand():
    assert invert(shear).log_abs_det(shear(0.4, -0.7)) == pytest.approx(-math.log(3))
    round_the_origin = invert(polar)
    theta = round_the_origin.recover(2.5, 0.6)
    value = polar(2.5, 0.6)
    assert round_the_origin.log_abs_det(value, theta) == pytest.approx(-math.log(2.5))


class Pair(NamedTuple):
    a: float
    b: float


def coupling(p: Pair, c: float):
    scaled = c / (1 + p.a * p.a)
    if p.a > 0:
        scaled = c * math.exp(0.5 * p.a)
    total = p.b
    for i in range(20):
        total = total * 1.1 + 0.01 * i * p.a
    return Pair(p.a, total), math.tanh(scaled)


def differences(inverse, value, theta):
    """log |det| by central differences of the inverse itself."""
    flat = [value[0].a, value[0].b, value[1]]
    rows = []
    for place, number in enumerate(flat):
        step, ends = 1e-6 * max(1.0, abs(number)), []
        for side in (step, -step):
            moved = list(flat)
            moved[place] += side
            p, c = inverse((Pair(*moved[:2]), moved[2]), *theta)
            ends.append(np.array([*p, c]))
        rows.append((ends[0] - ends[1]) / (2 * step))
    return np.linalg.slogdet(np.array(rows))[1]


@pytest.mark.parametrize("args", [(Pair(0.3, 1.0), 0.2), (Pair(-1.3, 2.0), -0.6)])
def test_branches_loops_and_tuples_agree_with_central_differences(args):
    inverse, value = invert(coupling), coupling(*args)
    theta = inverse.recover(*args)
    given = (theta,) if theta else ()
    found = inverse.log_abs_det(value, *given)
    assert found == pytest.approx(differences(inverse, value, given), rel=1e-6)


def test_known_arguments_are_held_fixed():
    inverse = choose(lambda x, y: x * math.exp(y), F, F, known=("return", "y"))
    theta = inverse.parameters.default()
    given = (theta,) if theta else ()
    assert inverse.log_abs_det(3.0, 0.7, *given) == pytest.approx(-0.7)


def test_the_derivative_is_that_of_the_function_in_its_context():
    table = MethodTable("first order")

    @table.overlay(math.exp)
    def exp(x: float):
        return 1 + x

    under = invert(lambda x: 3 * math.exp(x), F, context=Context(table))
    assert under.log_abs_det(6.0) == pytest.approx(-math.log(3))


def fahrenheit(celsius):
    return celsius * 1.8 + 32


def test_a_table_gives_the_derivative_of_a_function_with_a_relation_of_its_own():
    table = MethodTable("units")

    @table.generated(relation_of(fahrenheit))
    def backwards(celsius: float):
        return relation(
            fahrenheit, float, "return = fahrenheit(celsius)", celsius=lambda ret: (ret - 32) / 1.8
        )

    inverse = invert(lambda c: 2 * fahrenheit(c), F, context=Context(table))
    with pytest.raises(NotInvertible, match="no partial derivatives are known of `v1 = fahrenheit"):
        inverse.log_abs_det(424.0)

    @table.overlay(partials_of(fahrenheit))
    def slope(celsius: float):
        return (1.8,)

    inverse = invert(lambda c: 2 * fahrenheit(c), F, context=Context(table))
    assert inverse.log_abs_det(424.0) == pytest.approx(-math.log(3.6))


@pytest.mark.parametrize(
    ("f", "types", "value", "why"),
    [
        (lambda x, y: x + y, (F, F), 1.0, "not square: 2 unknown numbers"),
        (lambda x: (x, x + 1), (F,), (1.0, 2.0), "not square: 1 unknown numbers"),
        (lambda n: n + 1, (int,), 3, "n is of type int"),
        (lambda b: not b, (bool,), True, "b is of type bool"),
        (lambda z: z * 2, (complex,), 1j, "z is of type complex"),
        (lambda x: math.floor(x), (F,), 3, "return is of type int"),
    ],
)
def test_what_is_not_square_or_not_of_floats_is_refused(f, types, value, why):
    inverse = invert(f, *types)
    theta = inverse.parameters.default()
    with pytest.raises(NotInvertible, match=why):
        inverse.log_abs_det(value, *((theta,) if theta else ()))


def test_the_result_has_to_be_known():
    inverse = choose(lambda x: 2 * x, F, known=("x",))
    with pytest.raises(NotInvertible, match="the result is not known"):
        inverse.log_abs_det(1.0)


def test_a_singular_jacobian_and_a_kink_are_refused():
    square = invert(lambda x: x * x, F)
    with pytest.raises(NoSolution, match="not bijective around"):
        square.log_abs_det(0.0, (False,))
    size = invert(lambda x: abs(x), F)
    assert size.log_abs_det(2.0, (True,)) == 0
    with pytest.raises(NoSolution, match="kink"):
        size.log_abs_det(0.0, (True,))
