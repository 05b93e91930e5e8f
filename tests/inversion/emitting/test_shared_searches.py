"""Equations of the same types share one root search, which numba compiles once."""

import math

import pytest

from inversion import invert


def two(x: float, y: float):
    return x * math.exp(x), y * math.exp(y) + math.sin(y)


def of_other_types(x: float, n: int):
    return x * math.exp(x) + n, n


def one(x: float):
    return x * math.exp(x)


def searches(inverse):
    """The beginnings of the calls that search."""
    text = inverse._definition.source.text
    return [part.partition(",")[0] for part in text.split("= find_root(")[1:]]


def test_two_equations_share_a_search():
    inverse = invert(two)
    first, second = searches(inverse)
    assert first == second == "equations"
    value = two(0.5, 0.25)
    interpreted = inverse(value)
    assert interpreted == pytest.approx((0.5, 0.25))
    assert invert(two).compile()(value, inverse.parameters.default()) == interpreted
    namespace = {}
    exec(inverse.source, namespace)
    assert namespace["inverse"](value, inverse.parameters.default()) == interpreted


@pytest.mark.parametrize("f", [one, of_other_types], ids=lambda f: f.__name__)
def test_an_equation_alone_is_called_itself(f):
    (name,) = searches(invert(f))
    assert name.startswith("equation_")
    assert "def equations" not in invert(f)._definition.source.text


def test_the_search_is_compiled_once():
    inverse = invert(two)
    alone = invert(one).compile()
    assert inverse.compile().functions_compiled < 2 * alone.functions_compiled
