"""The user's rules of adjoints, with residuals: in adjoints, on tapes and compiled."""

import math

import numpy as np
import pytest
from numpy.typing import NDArray

from overlay import MethodTable, NotCompilable
from overlay.interpretations.autodiff import (
    NotDifferentiable,
    add_gradient,
    adjoint,
    adjoint_of,
    autodiff,
    derivative,
    differentiation,
    gradient,
    partials_of,
    residuals_of,
    vjp,
)

X = np.array([0.3, 0.4, 0.5])
RULES = MethodTable("rules")
runs = []


def bump(x: float) -> float:
    return math.exp(-x * x)


def squares(v):
    return np.sum(v * v)


def scaled(v):
    return v * 3.0


# each rule gives a multiple of the derivative, which shows that it was used
@RULES.overlay(residuals_of(bump))
def bump_run(x: float):
    y = math.exp(-x * x)
    return y, y


@RULES.overlay(adjoint_of(bump))
def bump_back(d: float, y: float, x: float):
    return (-2.0 * x * y * d * 10.0,)


@RULES.overlay(adjoint_of(squares))
def squares_back(d: float, v: NDArray[np.float64]):
    return (2.0 * v * d * 100.0,)


@RULES.overlay(residuals_of(scaled))
def scaled_run(v: NDArray[np.float64]):
    return v * 3.0, (3.0, v * 1.0)


@RULES.overlay(adjoint_of(scaled))
def scaled_back(d: NDArray[np.float64], kept, v: NDArray[np.float64]):
    return (d * kept[0] * 1000.0,)


def straight(v):
    return bump(v[0]) + squares(v[1:]) + np.sum(scaled(v))


def recorded(v):
    parts = set()
    parts.add("first")
    return bump(v[0]) + squares(v[1:]) + np.sum(scaled(v))


WANTED = np.array([-2 * 0.3 * math.exp(-0.09) * 10, 80.0, 100.0]) + 3000.0


@pytest.mark.parametrize("f", [straight, recorded])
@pytest.mark.parametrize("mode", ["auto", "reverse"])
def test_rules_with_residuals_are_used(f, mode):
    assert np.allclose(gradient(f, rules=RULES, mode=mode)(X), WANTED)


def test_one_has_an_adjoint_and_the_other_a_tape():
    assert "bump_run" in adjoint(straight, X, rules=RULES).source
    with pytest.raises(NotDifferentiable):
        adjoint(recorded, X, rules=RULES)


def test_compiled_code_uses_them():
    context = differentiation(RULES)
    assert np.allclose(context.jit(lambda v: autodiff(straight, v))(X), WANTED)


def test_pullbacks_of_arrays_use_them():
    value, back = vjp(scaled, X, rules=RULES)
    assert np.allclose(value, 3 * X)
    assert np.allclose(back(np.ones(3))[0], 3000.0)


def test_keywords_reach_the_rule():
    def f(v):
        return bump(x=v[0])

    assert np.allclose(gradient(f, rules=RULES)(X), [WANTED[0] - 3000.0, 0, 0])


# ---- rules that give too many or too few ---------------------------------------------------------


def product(x: float, y: float) -> float:
    return x * y


def square(x):
    return product(x, x)


WAYS = {
    "forward": lambda rules: derivative(square, rules=rules)(3.0),
    "reverse": lambda rules: gradient(square, rules=rules, mode="reverse")(3.0),
    "interpreted": lambda rules: differentiation(rules)(lambda x: autodiff(square, x), 3.0),
    "compiled": lambda rules: differentiation(rules).jit(lambda x: autodiff(square, x))(3.0),
}


@pytest.mark.parametrize("way", WAYS)
def test_partials_are_as_many_as_the_arguments(way):
    rules = MethodTable("rules")
    rules.overlay(partials_of(product))(lambda x, y: (y, x, 7.0))
    with pytest.raises(NotDifferentiable, match="give a tuple of 2, one for each argument"):
        WAYS[way](rules)
    rules.overlay(partials_of(product))(lambda x, y: (y, x))
    assert WAYS[way](rules) == 6.0


@pytest.mark.parametrize("given", [(1.0,), (1.0, 2.0, 3.0)])
def test_adjoints_are_as_many_as_the_arguments(given):
    rules = MethodTable("rules")
    rules.overlay(adjoint_of(product))(lambda d, x, y: given)
    for way in (WAYS["reverse"], lambda rules: gradient(taped, rules=rules, mode="reverse")(3.0)):
        with pytest.raises(NotDifferentiable, match="give a tuple of 2, one for each argument"):
            way(rules)


def taped(x):
    parts = set()
    parts.add("first")
    return product(x, x)


# ---- rules whose derivatives have another shape than the arguments --------------------------


def of_array(v):
    return squares(v)


def of_array_taped(v):
    parts = set()
    parts.add("first")
    return squares(v)


def of_number(x):
    return bump(x)


def of_number_taped(x):
    parts = set()
    parts.add("first")
    return bump(x)


def added(v):
    into = np.zeros(3)
    add_gradient(of_array, (v, into))
    return into


GIVEN = {
    "3 floats": lambda d, x: (np.ones(3),),
    "3 integers": lambda d, x: (np.ones(3, np.int64),),
    "too few": lambda d, x: (np.ones(2),),
    "too many": lambda d, x: (np.ones(4),),
    "1 float": lambda d, x: (np.ones(1),),
    "a column": lambda d, x: (np.ones((3, 1)),),
    "complex numbers": lambda d, x: (np.ones(3) + 1j,),
    "a complex number": lambda d, x: (1j,),
    "a number": lambda d, x: (1.0,),
    "an integer": lambda d, x: (1,),
    "nothing": lambda d, x: (None,),
}
OF_ARRAYS = {
    "adjoint": lambda rules: gradient(of_array, rules=rules, mode="reverse")(X),
    "tape": lambda rules: gradient(of_array_taped, rules=rules, mode="reverse")(X),
    "added": lambda rules: differentiation(rules)(added, X),
    "compiled": lambda rules: differentiation(rules).jit(lambda v: autodiff(of_array, v))(X),
    "added by compiled code": lambda rules: differentiation(rules).jit(added)(X),
}
OF_NUMBERS = {
    "adjoint": lambda rules: gradient(of_number, rules=rules, mode="reverse")(0.5),
    "tape": lambda rules: gradient(of_number_taped, rules=rules, mode="reverse")(0.5),
}


@pytest.mark.parametrize("given", GIVEN)
def test_derivatives_have_the_shapes_of_the_arguments(given):
    wanted = (NotDifferentiable, NotCompilable)  # types tell compiled code of some
    for function, ways, fits in (
        (squares, OF_ARRAYS, given in ("3 floats", "3 integers")),
        (bump, OF_NUMBERS, given in ("a number", "an integer")),
    ):
        rules = MethodTable("rules")
        rules.overlay(adjoint_of(function))(GIVEN[given])
        for way in ways.values():
            if fits:
                assert np.array_equal(way(rules), np.ones_like(X) if function is squares else 1.0)
                continue
            with pytest.raises(wanted) as caught:
                way(rules)
            is_typed = isinstance(caught.value, NotCompilable)
            assert is_typed or "derivatives of the shapes of the arguments" in str(caught.value)


def test_a_derivative_that_is_not_asked_for_may_have_any_shape():
    rules = MethodTable("rules")
    rules.overlay(adjoint_of(product))(lambda d, x, y: (d * y, None))
    f = lambda x: product(x, 5.0)  # noqa: E731
    assert gradient(f, rules=rules, mode="reverse")(3.0) == 5.0
