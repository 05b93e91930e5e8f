"""Calls that are refused, one for each site that refuses calls, each with its remedy."""

from __future__ import annotations

import math
from types import FunctionType
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from inversion import choose, invert, solve
from inversion.minimal import run_backwards
from overlay import Context, MethodTable
from overlay.interpretations.autodiff import derivative
from primitives import Integers, partials_of, relation, relation_of
from tests.inversion.refusals import refused_call, remedy

F, Z = float, np.zeros


def line(x, y):  # here
    return 2.0 * x + y


def curve(x):  # here
    return x * x * x


def counted(x, n):  # here
    return x + n


def of_array(x):  # here
    return x + 1.0


def of_text(text):  # here
    return text + "!"


@refused_call("implicit.check_active: the inverse of {} has no derivative here: {}")
def derivative_of_two():
    inverse = invert(line, F, F)
    derivative(lambda z: inverse(z, (1.0,))[0])(2.0)


@remedy()
def derivative_of_one():
    inverse = choose(line, F, F, known=("return", "y"))
    assert derivative(lambda z: inverse(z, 1.0)[0])(2.0) == 0.5


@refused_call("jacobian._square: the result is not known")
def determinant_forwards():
    choose(line, F, F, known=("x", "y")).log_abs_det(1.0, 2.0)


@remedy()
def determinant_backwards():
    found = choose(line, F, F, known=("return", "y")).log_abs_det(1.0, 2.0)
    assert math.isclose(found, math.log(0.5))


@refused_call("jacobian._square: {} is of type {}")
def determinant_of_an_integer():
    choose(counted, F, int, known=("return", "x")).log_abs_det(3.0, 1.0)


@remedy()
def determinant_of_a_float():
    assert choose(counted, F, int, known=("return", "n")).log_abs_det(3.0, 1) == 0.0


@refused_call("jacobian._square: it is not square: {} unknown numbers ({}) and {}")
def determinant_of_two():
    invert(line, F, F).log_abs_det(1.0, (1.0,))


@remedy()
def determinant_with_one_known():
    determinant_backwards()


@refused_call("jacobian._Forward.whole: unknown")
def determinant_of_a_relation_of_arrays():
    inverse = invert(mixed, Z(3), context=Context(rules))
    inverse.log_abs_det(np.ones(3))


def reversed_array(x):
    return x[::-1]


def mixed(x):
    return reversed_array(x)  # here


rules = MethodTable("rules")
slopes = MethodTable("slopes")


@rules.generated(relation_of(reversed_array))
def reversed_backwards(x: NDArray[np.float64]):
    return relation(
        reversed_array, x, "return = reversed_array(x)", returns=x, ret=lambda x: x[::-1],
        x=lambda ret: ret[::-1],
    )  # fmt: skip


@slopes.overlay(partials_of(reversed_array))
def slope_of_reversed(x: NDArray[np.float64]):
    return (np.eye(3)[::-1],)


@remedy()
def determinant_with_a_rule_of_arrays():
    inverse = invert(mixed, Z(3), context=Context(rules, slopes))
    assert inverse.log_abs_det(np.ones(3)) == 0.0


@refused_call("jacobian._Forward.partials: unknown")
def determinant_of_a_relation():
    choose(warm, F, known=("return",), context=Context(rules)).log_abs_det(50.0)


def fahrenheit(c):
    return c * 1.8 + 32.0


def warm(c):
    return fahrenheit(c)  # here


@rules.generated(relation_of(fahrenheit))
def celsius(c: float):
    return relation(fahrenheit, float, "return = fahrenheit(c)", c=lambda ret: (ret - 32.0) / 1.8)


@slopes.overlay(partials_of(fahrenheit))
def slope_of_fahrenheit(c: float):
    return (1.8,)


@remedy()
def determinant_with_a_rule():
    inverse = choose(warm, F, known=("return",), context=Context(rules, slopes))
    assert math.isclose(inverse.log_abs_det(50.0), math.log(1 / 1.8))


@refused_call("jacobian._Forward.applied: `{}` is complex, and derivatives are of floats")
def determinant_through_complex():
    inverse = invert(through_complex, F)
    inverse.log_abs_det(3.0)


def through_complex(x):
    return complex(x, 1.0).real + 1.0  # here


@remedy()
def determinant_through_floats():
    assert invert(of_array, F).log_abs_det(3.0) == 0.0


@refused_call("lifter._followed: cannot invert {}: its calls are nested too deeply to be followed")
def nested_deeply():
    invert(nested(2000), F)


def nested(depth):
    def found(x):  # here
        return x + 1.0

    for place in range(depth):
        found = outer(found, place)
    return found


def outer(function, place):
    def found(x):  # here
        return function(x)

    code = found.__code__.replace(co_name=f"outer_{place}")
    return FunctionType(code, globals(), closure=found.__closure__)


@remedy()
def nested_a_little():
    assert invert(nested(3), F)(3.0) == (2.0,)


@refused_call("minimal.run_backwards.keep: argument {} is used twice, as {} and as {}")
def used_twice_backwards():
    run_backwards(curve, 8.0, (2.0, 3.0))


@remedy()
def used_twice_inverted():
    assert math.isclose(invert(curve, F)(8.0)[0], 2.0)


@refused_call("minimal.run_backwards: a statement has no rule here: {}")
def without_rule():
    run_backwards(cosecant, 8.0)


def cosecant(x):  # here
    return math.atan(x)


@remedy()
def with_rule():
    assert math.isclose(invert(cosecant, F)(1.0)[0], math.tan(1.0))


@refused_call("minimal.run_backwards: the result does not depend on the arguments: {}")
def constant_backwards():
    run_backwards(constant, 8.0)


def constant(x):  # here
    return 8.0


@remedy()
def dependent_backwards():
    assert run_backwards(lambda x: x + 8.0, 8.0) == (0.0,)


@refused_call("limits.refuse_arrays: cannot {} of {}: {} is an array of shape {}")
def solutions_of_an_array():
    list(invert(of_array, Z(3)).solutions(Z(3)))


@remedy()
def answer_of_an_array():
    inverse = invert(of_array, Z(3))
    assert np.allclose(inverse(Z(3), inverse.recover(Z(3) - 1.0))[0], -1.0)


@refused_call("limits.refuse_sequences: cannot {} of {}: {} is {}")
def nearest_text():
    invert(of_text, str).nearest("a!", ("b",))


@remedy()
def solutions_of_a_text():
    assert [found.point for found in invert(of_text, str).solutions("a!")] == [("a",)]


@refused_call(
    "inverse.Inverse.nearest: cannot find the nearest solution of {}: z3 returns solutions in "
    "any order"
)
def nearest_of_a_formula():
    invert(masked, solver="z3").nearest(8, (9,))


@remedy()
def solutions_of_a_formula():
    found = invert(masked, solver="z3").solutions(8)
    assert sorted(each.point for each in found) == [(n,) for n in range(8, 16)]


def masked(n: Annotated[int, Integers(0, 15)]):  # here
    return n & 8


@refused_call("constraints._problem: {} of {} is not an integer if the exponent is negative")
def negative_power():
    solve(power, Integers(1, 5), Integers(-3, 3), returns=8)


@remedy()
def positive_power():
    assert solve(power, Integers(1, 5), Integers(0, 3), returns=8)


def power(n, k):
    return n**k  # here


@refused_call(
    "least_squares.fitted_arguments: {} has no fit: the unknown inputs have to be floats, the "
    "results numbers"
)
def fit_of_a_text():
    invert(of_text, str).fit("a!")


@remedy()
def fit_of_numbers():
    assert math.isclose(choose(line, F, F, known=("return", "y")).fit(3.0, 1.0).values["x"], 1.0)
