"""Results of functions that are differentiated: numbers, arrays, structures of these, and others,
which are refused in every mode."""

import math
from collections import namedtuple
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

from overlay import Context
from overlay.interpretations.autodiff import (
    NotDifferentiable,
    add_gradient,
    adjoint,
    autodiff,
    derivative,
    gradient,
    hessian,
    jacobian,
    jvp,
    vjp,
)
from overlay.interpretations.intervals import Interval, enclose

Pair = namedtuple("Pair", "first second")
X = np.array([1.5, 2.0])


def forgets_to_return(x):
    y = x * x  # noqa: F841


def sometimes_nothing(x):
    if x < 0:
        return x * x
    return None


def added(f):
    into = np.zeros(1)
    add_gradient(f, (1.5, into))
    return into[0]


def added_compiled(f):
    into = np.zeros(1)
    Context().jit(lambda x, d: add_gradient(f, (x, d)))(1.5, into)
    return into[0]


def compiled_by_array(f):
    def of_first(a):
        return f(a[0])

    return Context().jit(lambda a: autodiff(of_first, a))(X)[0]


INTERPRETED = {
    "derivative": lambda f: derivative(f)(1.5),
    "second derivative": lambda f: derivative(f, order=2)(1.5),
    "autodiff": lambda f: autodiff(f, 1.5),
    "forward": lambda f: gradient(f, mode="forward")(1.5),
    "reverse": lambda f: gradient(f, mode="reverse")(1.5),
    "by array, forward": lambda f: gradient(lambda a: f(a[0]), mode="forward")(X)[0],
    "by array, reverse": lambda f: gradient(lambda a: f(a[0]), mode="reverse")(X)[0],
    "jacobian": lambda f: jacobian(f)(1.5),
    "jacobian, reverse": lambda f: jacobian(f, mode="reverse")(1.5),
    "hessian": lambda f: hessian(f)(1.5),
    "jvp": lambda f: jvp(f, (1.5,), (1.0,))[1],
    "vjp": lambda f: vjp(f, 1.5)[1](1.0)[0],
    "vjp, reverse": lambda f: vjp(f, 1.5, mode="reverse")[1](1.0)[0],
    "add_gradient": added,
}
COMPILED = {
    "autodiff": lambda f: Context().jit(lambda x: autodiff(f, x))(1.5),
    "autodiff by an array": compiled_by_array,
    "add_gradient": added_compiled,
}
NO_NUMBERS = {
    "None": (forgets_to_return, "None"),
    "text": (lambda x: "a", "a str"),
    "bytes": (lambda x: b"a", "a bytes"),
    "a function": (lambda x: math.sin, "the function sin"),
    "a class": (lambda x: float, "the class float"),
    "a set": (lambda x: {1.0}, "a set"),
    "a range": (lambda x: range(3), "a range"),
    "an ellipsis": (lambda x: ..., "an ellipsis"),
    "an object": (lambda x: object(), "an object"),
    "an array of text": (lambda x: np.array(["a"]), "an array of the dtype <U1"),
    "an array of objects": (lambda x: np.array([None]), "an array of the dtype object"),
}
ALSO_COMPILED = ("None", "text", "a function", "an ellipsis")
CONSTANTS = {
    "bool": lambda x: True,
    "a comparison": lambda x: x > 1.0,
    "int": lambda x: 3,
    "float": lambda x: 2.5,
    "complex": lambda x: 1 + 2j,
    "np.float64": lambda x: np.float64(2.0),
    "np.bool": lambda x: np.bool_(True),
    "np.int32": lambda x: np.int32(2),
    "Fraction": lambda x: Fraction(1, 2),
    "Decimal": lambda x: Decimal(1),
}
NOT_COMPILED = ("Fraction", "Decimal")
STRUCTURES = {
    "tuple": (lambda x: (x * x, 1.0), (3.0, 0.0)),
    "list": (lambda x: [x * x, 2], (3.0, 0.0)),
    "named tuple": (lambda x: Pair(x * x, True), (3.0, 0.0)),
    "nested": (lambda x: ((x, 1.0), x * x), ((1.0, 0.0), 3.0)),
    "known before": (lambda x: CONSTANT, (0.0, 0.0)),
    "empty": (lambda x: (), ()),
    "dict": (lambda x: {"a": x * x}, {"a": 3.0}),
}
CONSTANT = (1.0, 2.0)


@pytest.mark.parametrize("result", NO_NUMBERS)
@pytest.mark.parametrize("way", INTERPRETED)
def test_a_result_that_is_no_number_is_refused(way, result):
    f, said = NO_NUMBERS[result]
    with pytest.raises(NotDifferentiable) as error:
        INTERPRETED[way](f)
    is_array = said.startswith("an array")  # of which no gradient is asked for
    assert said in str(error.value) or (
        is_array and "a gradient needs a number" in str(error.value)
    )
    assert "test_kinds_of_results.py:" in str(error.value)


@pytest.mark.parametrize("result", ALSO_COMPILED)
@pytest.mark.parametrize("way", COMPILED)
def test_compiled_it_is_refused_too(way, result):
    f, said = NO_NUMBERS[result]
    with pytest.raises(NotDifferentiable, match=said):
        COMPILED[way](f)


def test_the_error_says_what_was_returned_where_and_what_to_do():
    line = forgets_to_return.__code__.co_firstlineno
    with pytest.raises(NotDifferentiable) as error:
        derivative(forgets_to_return)(1.0)
    assert "forgets_to_return returns None, which has no derivative" in str(error.value)
    assert f"test_kinds_of_results.py:{line}" in str(error.value)
    assert "where a return statement is missing, a function returns None" in str(error.value)
    with pytest.raises(NotDifferentiable, match="it returns None"):
        adjoint(forgets_to_return, 1.0)


def test_what_is_returned_on_the_path_taken_counts():
    assert derivative(sometimes_nothing)(-1.0) == -2.0
    with pytest.raises(NotDifferentiable, match="sometimes_nothing returns None"):
        derivative(sometimes_nothing)(1.0)


@pytest.mark.parametrize("result", CONSTANTS)
@pytest.mark.parametrize("way", INTERPRETED)
def test_a_number_that_does_not_depend_on_the_argument_has_the_derivative_zero(way, result):
    assert INTERPRETED[way](CONSTANTS[result]) == 0.0


@pytest.mark.parametrize("result", [each for each in CONSTANTS if each not in NOT_COMPILED])
@pytest.mark.parametrize("way", COMPILED)
def test_compiled_it_has_the_derivative_zero_too(way, result):
    assert COMPILED[way](CONSTANTS[result]) == 0.0


@pytest.mark.parametrize("mode", ["auto", "forward", "reverse"])
@pytest.mark.parametrize("result", STRUCTURES)
def test_structures_have_jacobians_of_their_structure(result, mode):
    f, slopes = STRUCTURES[result]
    assert jacobian(f, mode=mode)(1.5) == slopes


def test_the_jacobian_by_an_array_of_a_dict_is_a_dict():
    for mode in ("forward", "reverse"):
        found = jacobian(lambda a: {"sum": np.sum(a * a), "twice": 2 * a}, mode=mode)(X)
        assert np.allclose(found["sum"], 2 * X)
        assert np.allclose(found["twice"], 2 * np.eye(2))


@pytest.mark.parametrize("result", STRUCTURES)
def test_gradients_and_pullbacks_of_structures_are_refused(result):
    f, _ = STRUCTURES[result]
    for mode in ("forward", "reverse"):
        with pytest.raises(NotDifferentiable, match="a gradient needs a number"):
            gradient(f, mode=mode)(1.5)
        with pytest.raises(NotDifferentiable, match="vjp needs one number or array"):
            vjp(f, 1.5, mode=mode)
    with pytest.raises(NotDifferentiable, match="one number or array"):
        autodiff(f, 1.5)


@pytest.mark.parametrize("part", [None, "text"])
def test_a_tuple_with_a_part_that_is_no_number_is_refused(part):
    for mode in ("forward", "reverse"):
        with pytest.raises(NotDifferentiable, match=r"returns a tuple with .* in it"):
            jacobian(lambda x: (x * x, part), mode=mode)(1.5)


def test_numbers_of_enclosing_interpretations_are_numbers():
    assert autodiff(lambda x: x * autodiff(lambda y: x, 1.0), 2.0) == 0.0
    box = Interval(1.0, 2.0)
    for slope_of in (derivative, gradient, lambda f: lambda y: autodiff(f, y)):
        assert slope_of(lambda y: box)(1.0) == 0.0
        assert 0.0 in enclose(lambda x, slope_of=slope_of: slope_of(lambda y: x)(1.0) * x, box)
