"""Inverses of derivatives, and derivatives of inverses."""

import math

import pytest

from inversion import NotInvertible, choose, invert
from overlay.interpretations.autodiff import autodiff, derivative, gradient

F = float


def cubic(x):
    return x**3 + 2 * x


def mixed(x):
    return x**3 + math.exp(x)


def wave(x, y):
    return math.sin(x) * y


def doubled_exponential(x):
    return autodiff(math.exp, 2 * x)


def kinked(x):
    return x * x if x > 0 else -x


# ---- inverses of derivatives ----


@pytest.mark.parametrize(
    "g", [math.sin, math.exp, math.log, math.sqrt, math.atan, math.tanh, cubic, mixed]
)
def test_a_derivative_is_inverted(g):
    def slope(x):
        return autodiff(g, x)

    inverse = invert(slope, F)
    value = slope(0.7)
    theta = [inverse.recover(0.7)] if len(inverse.parameters) else []
    assert inverse(value, *theta) == pytest.approx((0.7,), rel=1e-9)


def test_a_derivative_is_inverted_in_compiled_code():
    def slope(x):
        return 1 + autodiff(math.exp, 2 * x)

    inverse = invert(slope, F)
    assert inverse.compile()(slope(0.7)) == inverse(slope(0.7)) == pytest.approx((0.7,))


def test_a_derivative_by_several_numbers_gives_one_for_each():
    def slopes(x, y):
        return autodiff(wave, x, y)

    inverse = invert(slopes, F, F)
    values = slopes(0.7, 0.3)
    assert values == (math.cos(0.7) * 0.3, math.sin(0.7))
    assert inverse(values, inverse.recover(0.7, 0.3)) == pytest.approx((0.7, 0.3))

    def by_the_same(x):
        by_first, by_second = autodiff(wave, x, x)
        return by_first + 2 * by_second

    inverse = invert(by_the_same, F)
    assert inverse(by_the_same(0.7), inverse.recover(0.7)) == pytest.approx((0.7,))


def test_a_derivative_of_a_derivative_is_inverted():
    def second(x):
        return autodiff(doubled_exponential, x)

    inverse = invert(second, F)
    assert second(0.7) == pytest.approx(2 * math.exp(1.4))
    assert inverse(second(0.7)) == pytest.approx((0.7,))
    assert inverse.log_abs_det(second(0.7)) == pytest.approx(-math.log(4 * math.exp(1.4)))


def test_what_does_not_depend_on_its_argument_has_the_derivative_0():
    inverse = invert(lambda x: x + autodiff(lambda_of_nothing, x), F)
    assert inverse(3.0) == (3.0,)


def lambda_of_nothing(x):
    return 4.0


def test_derivatives_that_are_not_read_are_refused_with_the_line():
    with pytest.raises(NotInvertible, match="no derivative is known here of") as caught:
        invert(lambda x: autodiff(kinked, x), F)
    assert "test_derivatives.py" in caught.value.where
    with pytest.raises(NotInvertible, match="a derivative of what gives tuple"):
        invert(lambda x: autodiff(lambda_of_pair, x), F)


def lambda_of_pair(x):
    return x, x


# ---- derivatives of inverses ----


def slopes_of_mixed(x):
    first, second = 3 * x * x + math.exp(x), 6 * x + math.exp(x)
    return 1 / first, -second / first**3


def test_an_inverse_has_the_derivatives_of_the_equation_that_it_solves():
    inverse = invert(mixed, F)  # finds a root, which has no derivative of its own
    value, theta = mixed(0.7), inverse.recover(0.7)

    def found(z):
        return inverse(z, theta)[0]

    first, second = slopes_of_mixed(0.7)
    assert derivative(found)(value) == pytest.approx(first)
    assert derivative(found, order=2)(value) == pytest.approx(second)
    assert math.exp(inverse.log_abs_det(value, theta)) == pytest.approx(abs(first))
    outer = derivative(lambda z: math.sin(found(z * z)))(math.sqrt(value))
    assert outer == pytest.approx(math.cos(0.7) * first * 2 * math.sqrt(value))


def test_an_inverse_is_differentiated_by_what_else_is_known():
    inverse = choose(lambda x, a: a * x + math.exp(x), F, F, known=("return", "a"))
    (x,) = inverse(3.0, 2.0, (0.5,))
    by_value, by_factor = gradient(lambda z, a: inverse(z, a, (0.5,))[0])(3.0, 2.0)
    slope = 2.0 + math.exp(x)
    assert (by_value, by_factor) == pytest.approx((1 / slope, -x / slope))


def test_a_derivative_of_several_numbers_found_is_refused():
    inverse = invert(lambda x, y: x + y, F, F)
    with pytest.raises(NotInvertible, match="find one float") as caught:
        derivative(lambda z: inverse(z, (1.0,))[0])(3.0)
    assert "log_abs_det" in str(caught.value)
