"""Inverses called in code that a context compiles have the answers, refusals and derivatives of
interpreted ones.
"""

import math
import traceback

import numpy as np
import pytest

from inversion import NoSolution, NotInvertible, WrongArguments, choose, invert
from overlay import Context, MethodTable, NotCompilable
from overlay.interpretations.autodiff import autodiff, derivative


def tax(income: float):
    if income > 10_000:
        return 1_000 + 0.3 * (income - 10_000)
    return 0.1 * income


def product(x: float):
    return x * math.exp(x)


def response(x: float, a: float):
    return a * math.exp(x)


due = invert(tax)
wave = invert(lambda x: math.sin(x), float)
lambert = invert(product)
by_response = choose(response, known=("return", "a"))
theta = by_response.parameters.default()
growth = invert(lambda t: 3 * math.exp(t), float)
line = invert(lambda x, y: (x + y, x - y), float, float)
power = choose(lambda x, n: x**n, float, int, known=("return", "n"))
free = power.parameters.default()
layer = invert(lambda x: math.tanh(2 * x + 1), float)


def found(y, a):
    return by_response(y, a, theta)[0]


def slope(y, a):
    return autodiff(found, y, a)


def test_answers_are_those_of_the_interpreter():
    hot = Context().jit(lambda y, first: due(y, (first,))[0])
    for first in (True, False):
        for y in (500.0, 2_000.0, 4_000.0):
            assert hot(y, first) == due(y, (first,))[0]
    assert hot(np.float32(500.0), True) == due(500.0, (True,))[0]


def test_what_has_no_answer_shows_the_calls_that_lead_to_it():
    def asks(y):
        (x,) = growth(y)
        return x

    def around(y):
        return asks(y) + 1.0

    with pytest.raises(NoSolution) as caught:
        Context().jit(around)(-1.0)
    found = traceback.extract_tb(caught.value.__traceback__)
    here = [
        (f.name, f.lineno - asks.__code__.co_firstlineno) for f in found if f.filename == __file__
    ]
    assert here[1:] == [("around", 5), ("asks", 1)]
    assert found[-1].filename.startswith("<inverse of ")


def test_a_root_is_searched_and_what_has_none_raises():
    hot = Context().jit(lambda y: lambert(y, (0.5,))[0])
    assert hot(2.0) == lambert(2.0, (0.5,))[0]
    with pytest.raises(NoSolution):
        hot(-5.0)


def test_theta_may_be_a_record_and_be_left_out_where_it_may():
    thetas = wave.parameters.sample(np.random.default_rng(0), 4)

    def waves(y, thetas, out):
        for i in range(out.size):
            out[i] = wave(y[i], thetas[i])[0]

    y, out = np.array([0.1, -0.5, 0.9, 0.0]), np.zeros(4)
    Context().jit(waves)(y, thetas, out)
    expected = [wave(each, theta)[0] for each, theta in zip(y, thetas, strict=True)]
    assert np.array_equal(out, expected)
    assert Context().jit(lambda y: layer(y)[0])(0.5) == layer(0.5)[0]


def test_tuples_are_known_as_a_whole():
    def sphere(r: float, latitude: float, longitude: float):
        across = r * math.cos(latitude)
        return across * math.cos(longitude), across * math.sin(longitude), r * math.sin(latitude)

    globe = invert(sphere)
    theta = globe.recover(2.0, 0.3, -1.2)
    hot = Context().jit(lambda x, y, z: globe((x, y, z), theta))
    assert np.allclose(hot(*sphere(2.0, 0.3, -1.2)), (2.0, 0.3, -1.2))


def test_integers_stay_exact():
    quarter = invert(lambda n: n // 4, int)
    assert Context().jit(lambda n: quarter(n, (2,)))(2**60 // 4) == quarter(2**60 // 4, (2,))


def test_derivatives_are_those_of_the_equation():
    """Derivatives by each known value, and of second order, agree with the interpreter and with
    differences.
    """
    hot = Context().jit(slope)
    assert np.allclose(hot(2.0, 3.0), slope(2.0, 3.0), rtol=1e-12)
    assert np.allclose(hot(2.0, 3.0), (1 / 2.0, -1 / 3.0), rtol=1e-12)

    def of_second_order(y):
        return autodiff(lambda u: autodiff(lambda v: growth(v)[0], u), y)

    assert math.isclose(Context().jit(of_second_order)(2.0), -1 / 4.0, rel_tol=1e-12)


def test_what_has_no_derivative_is_refused():
    def by_theta(y):
        return autodiff(lambda t: lambert(2.0, (t,))[0], y)

    def of_several(y):
        return autodiff(lambda u: line((u, 1.0))[0], y)

    def of_integers(y):
        return autodiff(lambda u: power(u, 2, free)[0], y)

    with pytest.raises(WrongArguments, match=r"Dual.* for θ.near_x"):
        Context().jit(by_theta)(0.5)
    with pytest.raises(WrongArguments, match=r"Dual.* for return"):
        Context().jit(of_several)(0.5)
    with pytest.raises(NotInvertible, match="n is not a float"):
        Context().jit(of_integers)(0.5)


def test_other_types_are_refused_where_the_code_is_compiled():
    quarter = invert(lambda n: n // 4, int)
    for function, message in (
        (lambda y: quarter(y, (2,)), "is given a float for return"),
        (lambda y: wave(y, y), "is given a float for θ.branch_of_sin"),
        (lambda y: wave(y, (1, 2)), "2 were given"),
    ):
        with pytest.raises(WrongArguments, match=message):
            Context().jit(function)(0.5)


def test_theta_is_alone_where_there_is_one_parameter():
    hot = Context().jit(lambda y: wave(y, 2))
    assert hot(0.5) == wave(0.5, (2,)) == wave(0.5, 2)
    assert Context().jit(lambda y: wave(y))(0.5) == wave(0.5)  # the default


def test_an_inverse_is_that_of_its_own_context():
    """In both engines: a surrounding table does not change the inverted function."""
    table = MethodTable("first order")

    @table.overlay(math.exp)
    def exp(x: float) -> float:
        return 1.0 + x

    linear = invert(lambda t: 3 * math.exp(t), float, context=Context(table))

    def both(y):
        return growth(y)[0], linear(y)[0]

    inside, outside = Context(table), Context()
    assert inside.jit(both)(6.0) == inside(both, 6.0) == outside.jit(both)(6.0)
    assert np.allclose(outside.jit(both)(6.0), (math.log(2.0), 1.0))


def test_an_inverse_has_the_derivative_of_the_function_that_was_inverted():
    """The derivative is that of the inverted function, even if a table overlays a function that it
    calls.
    """
    table = MethodTable("first order")

    @table.overlay(math.exp)
    def exp(x):
        return 1.0 + x

    inner = Context(table).wrap(lambda y: growth(y)[0])

    def derived(y):
        return autodiff(inner, y)

    wanted = derivative(lambda y: growth(y)[0])(6.0)
    for run in (derived, Context().jit(derived)):
        assert math.isclose(run(6.0), wanted)


def test_an_inverse_that_is_out_of_date_is_not_compiled():
    factor = 2.0

    def scaled(x: float):
        return x * factor

    halved = invert(scaled)
    assert Context().jit(lambda y: halved(y)[0])(6.0) == 3.0
    factor = 3.0
    with pytest.raises(NotCompilable, match=r"out of date(.|\n)*call invert again"):
        Context().jit(lambda y: halved(y)[0])(6.0)
