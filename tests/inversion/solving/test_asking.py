"""Calls without θ: missing coordinates are searched for, always in the same order."""

from __future__ import annotations

import itertools
import math
import pickle
from typing import Annotated, Any

import numpy as np
import pytest

from inversion import NoSolution, NotInvertible, OutsideDomain, WrongArguments, choose, invert
from overlay import Context
from overlay.interpretations.autodiff import derivative
from primitives import Integers, Reals

F = float


def height(a: float, b: float, c: float):
    return math.sin(a) + 0.8 * math.sin(a + b) + 0.5 * math.sin(a + b + c)


def elbow(a: float, b: float):
    return math.cos(a) + math.cos(a + b), math.sin(a) + math.sin(a + b)


def srgb(r: float, g: float):
    return encoded(r), encoded(g)


def encoded(c: float):
    if c <= 0.0031308:
        return 12.92 * c
    return 1.055 * c ** (1 / 2.4) - 0.055


def distorted(x: float, y: float):
    r2 = x * x + y * y
    radial = 1 - 0.28 * r2 + 0.07 * r2 * r2
    return x * radial + 2e-3 * x * y, y * radial + 1e-3 * (r2 + 2 * y * y)


def in_order(a: float, b: float, c: float):
    if a > b:
        a, b = b, a
    if b > c:
        b, c = c, b
    if a > b:
        a, b = b, a
    return a, b, c


def parts_of_degrees(x: float):
    degrees = int(x)
    rest = (x - degrees) * 60
    minutes = int(rest)
    return degrees, minutes, (rest - minutes) * 60


def check_digit(a: int, b: int, c: int, d: int):
    return (11 - (5 * a + 4 * b + 3 * c + 2 * d) % 11) % 11


def clamped(t: float, k: float):
    t = min(max(t, 0.0), 1.0)
    s = t * t * (3 - 2 * t)
    return s, (1 - s) * 0.2 + s * k


def quantised(x: Annotated[float, Reals(-1, 1)]):
    y = math.copysign(math.log1p(255 * abs(x)) / math.log1p(255), x)
    return int((y + 1) / 2 * 255 + 0.5)


def collatz(n: int):
    count = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        count += 1
    return count


def softmax(x):
    e = np.exp(x)
    return e / e.sum()


def layernorm(x):
    d = x - x.mean()
    return d / np.sqrt((d * d).mean() + 1e-5)


def path(folder: str, name: str):
    return f"{folder}/{name}.txt"


def shout(text: str):
    return text.upper() + "!"


TABLE: dict[str, tuple[Any, tuple[Any, ...], list[tuple[Any, ...]]]] = {
    "height": (height, (), [(0.5, 0.3, 0.2), (-2.0, 1.0, 4.0)]),
    "elbow": (elbow, (), [(0.5, 0.3), (-2.0, 1.0)]),
    "srgb": (srgb, (), [(0.2, 0.001), (0.9, 0.5)]),
    "distorted": (distorted, (), [(0.1, 0.2), (-0.3, 0.1)]),
    "in order": (in_order, (), [(3.0, 1.0, 2.0), (-1.0, 5.0, 5.0)]),
    "degrees": (parts_of_degrees, (), [(12.3456,), (-3.25,)]),
    "check digit": (check_digit, (), [(0, 3, 0, 6), (4, 0, 6, 1)]),
    "clamped": (clamped, (), [(0.3, 0.8), (0.9, 0.1)]),
    "quantised": (quantised, (), [(0.3,), (-0.7,)]),
    "collatz": (collatz, (), [(5,)]),
    "softmax": (softmax, (np.zeros(3),), [(np.array([0.1, 0.5, -0.2]),)]),
    "layernorm": (layernorm, (np.zeros(4),), [(np.array([0.1, 0.5, -0.2, 1.0]),)]),
    "path": (path, (), [("a/b", "c")]),
    "shout": (shout, (), [("Hi",)]),
    "product": (lambda x, y, z: x * y + z, (F, F, F), [(0.0, 3.0, 1.0), (2.0, 3.0, 4.0)]),
    "gelu": (lambda x: 0.5 * x * (1 + math.erf(x / math.sqrt(2))), (F,), [(0.7,), (-1.3,)]),
}


def are_same(one: Any, other: Any) -> bool:
    if isinstance(one, tuple):
        return len(one) == len(other) and all(map(are_same, one, other))
    if isinstance(one, (str, int)):
        return one == other
    return bool(np.allclose(one, other, rtol=1e-8, atol=1e-10))


@pytest.mark.parametrize("name", TABLE)
def test_a_value_that_is_reached_is_answered_without_parameters(name: str):
    f, types, samples = TABLE[name]
    inverse = invert(f, *types)
    for args in samples:
        value = f(*args)
        answer = inverse(value)
        assert are_same(f(*answer), value)
        assert np.array_equal(  # exactly the same the second time, and of an inverse made anew
            np.concatenate([np.ravel(part) for part in answer]).astype(str),
            np.concatenate([np.ravel(part) for part in invert(f, *types)(value)]).astype(str),
        )


KEPT = ("height", "elbow", "srgb", "product", "gelu", "path", "check digit")


@pytest.mark.parametrize("name", KEPT)
def test_coordinates_that_are_given_are_kept_and_the_others_searched_for(name: str):
    f, types, samples = TABLE[name]
    inverse = invert(f, *types)
    names = inverse.parameters.names
    for args in samples:
        value = f(*args)
        theta = dict(zip(names, inverse.recover(*args), strict=True))
        assert are_same(inverse(value, **theta), args)
        assert are_same(inverse(value, theta=theta), args)
        for name, coordinate in theta.items():
            found = inverse(value, **{name: coordinate})
            assert are_same(f(*found), value)
            free = {v.name: p.name for v, p in inverse.program.free.items()}
            if free.get(name) == name and name in inverse.unknown:
                assert are_same(found[inverse.unknown.index(name)], coordinate)


def test_a_coordinate_is_given_by_name_in_a_dict_in_a_tuple_or_alone():
    square = invert(lambda x: x * x, F)
    (name,) = square.parameters.names
    for answer in (
        square(4.0, True),
        square(4.0, (True,)),
        square(4.0, {name: True}),
        square(4.0, theta=True),
        square(4.0, theta=(True,)),
        square(4.0, **{name: True}),
        square(4.0, square.parameters.records([(True,)])[0]),
    ):
        assert answer == (-2.0,)
    assert square(4.0) == square(4.0, {}) == square(4.0, theta={}) == (2.0,)


def test_known_values_are_given_by_position_or_under_the_name_of_their_axis():
    product = choose(lambda x, y: x * y, F, F, known=("return", "x"))
    (name,) = product.parameters.names
    assert (
        product(6.0, 3.0) == product(6.0, x=3.0) == product(**{"return": 6.0, "x": 3.0}) == (2.0,)
    )
    assert product(0.0, x=0.0, **{name: 7.0}) == product(0.0, 0.0, {name: 7.0}) == (7.0,)
    with pytest.raises(WrongArguments, match="takes return, x"):
        product(6.0)
    with pytest.raises(WrongArguments, match="takes return, x"):
        product(6.0, 3.0, 1.0, x=2.0)


def test_a_choice_that_is_repeated_is_given_alone_or_in_a_tuple():
    def squared(x):
        for _ in range(20):
            x = x * x + 0.25
        return x

    inverse = invert(squared, F)
    value = squared(0.4)
    (name,) = inverse.parameters.names
    for answer in (
        inverse(value, ((True,),)),
        inverse(value, (True,)),
        inverse(value, **{name: (True,)}),
    ):
        assert math.isclose(answer[0], -0.4)


# ---- where there is none -------------------------------------------------------------------


def by_halves(x: float):
    return 1 / (1 + math.exp(-x)) if x > 0 else 0.5 - x


NONE = {
    "sets": (lambda x, y: x * x + y * y, (F, F), -1.0),
    "sets, without parameters": (lambda x: math.exp(x) + 1, (F,), 0.5),
    "whole numbers": (lambda n: 2 * n, (int,), 3),
    "branches": (by_halves, (F,), 0.2),
}


@pytest.mark.parametrize("name", NONE)
def test_an_error_says_that_there_is_no_solution_at_all(name: str):
    f, types, value = NONE[name]
    with pytest.raises(NoSolution) as caught:
        invert(f, *types)(value)
    assert caught.value.proved
    assert caught.value.searched is None
    assert "no arguments of the function lead to this value" in str(caught.value)


def test_trying_all_values_is_a_proof():
    def hashed(a: Annotated[int, Integers(0, 30)], b: Annotated[int, Integers(0, 30)]):
        return (a * 7 ^ b * 3) % 64 * 2

    inverse = invert(hashed)
    assert hashed(*inverse(hashed(5, 9))) == hashed(5, 9)
    with pytest.raises(NoSolution) as caught:
        inverse(3)
    assert caught.value.proved


def test_an_error_says_how_far_was_looked():
    def one(x: float, y: float):  # always 1, which sets of values do not tell
        return math.sin(x * y) ** 2 + math.cos(x * y) ** 2

    with pytest.raises(NoSolution) as caught:
        invert(one)(1.5)
    error = caught.value
    assert not error.proved
    assert error.searched is not None
    assert "the default θ" in error.searched
    assert "steps through the solutions" in error.searched


def test_a_theta_that_is_at_fault_is_told_with_one_that_is_not():
    circle = invert(lambda x, y: x * x + y * y, F, F)
    with pytest.raises(NoSolution) as caught:
        circle(4.0, (3.0, False))
    assert not caught.value.proved
    assert "with an answer: θ: x=" in str(caught.value)
    again = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    with pytest.raises(NoSolution, match="no solution, whatever θ"):
        circle(-4.0, (3.0, False))


def test_only_some_coordinates_at_fault_are_named():
    circle = invert(lambda x, y: x * x + y * y, F, F)
    with pytest.raises(NoSolution) as caught:
        circle(4.0, x=3.0)
    assert "x=3.0" in str(caught.value)
    assert not caught.value.proved


def test_a_coordinate_outside_its_domain_is_no_reason_to_search():
    with pytest.raises(OutsideDomain):
        invert(height)(1.2, a=math.inf)


# ---- batches, compiled code, derivatives ---------------------------------------------------


def test_a_batch_answers_each_row_as_a_call_does():
    inverse = invert(lambda x: x * x * x - x, F)
    values = np.linspace(-3.0, 3.0, 9)
    (found,) = inverse.batch(values)
    assert found.tolist() == [inverse(value)[0] for value in values]
    circle = invert(lambda x, y: x * x + y * y, F, F)
    values = np.array([0.25, 4.0, -1.0])  # the default, 1, is too large for the first
    x, y = circle.batch(values, on_error="nan")
    assert np.allclose((x * x + y * y)[:2], values[:2])
    assert np.isnan(x[2])
    with pytest.raises(NoSolution, match="row: 2"):
        circle.batch(values)


def test_a_batch_takes_coordinates_by_name():
    circle = invert(lambda x, y: x * x + y * y, F, F)
    names = circle.parameters.names
    signs = np.array([True, False])
    for x, y in (
        circle.batch(np.array([4.0, 9.0]), theta={names[1]: signs}),
        circle.batch(np.array([4.0, 9.0]), **{names[1]: signs}),
    ):
        assert np.allclose(x, 1.0)
        assert (y < 0).tolist() == [True, False]
    x, y = circle.batch(np.array([0.25, 4.0]), **{names[1]: True})
    assert np.all(y < 0)
    assert np.allclose(x * x + y * y, [0.25, 4.0])


def test_compiled_code_has_the_default_where_no_theta_is_given():
    circle = invert(lambda x, y: x * x + y * y, F, F)
    hot = Context().jit(lambda z: circle(z))
    assert hot(4.0) == circle(4.0)
    with pytest.raises(NoSolution):
        hot(0.25)  # where a call searches


def test_a_derivative_is_that_with_the_theta_that_was_found():
    inverse = invert(lambda x: x * x * x - x, F)
    (x,) = inverse(6.0)
    slope = derivative(lambda z: inverse(z)[0])(6.0)
    assert math.isclose(slope, 1 / (3 * x * x - 1))
    assert math.isclose(inverse.log_abs_det(6.0), math.log(abs(slope)))
    square = invert(lambda x: x * x, F)
    (name,) = square.parameters.names
    assert math.isclose(derivative(lambda z: square(z, **{name: True})[0])(4.0), -0.25)


# ---- what messages advise ------------------------------------------------------------------


def test_strings_that_are_written_out_and_computed_meet_after_a_branch():
    def greeting(name: str, n: int):
        if n > 0:
            return "x"
        return name.upper()

    inverse = invert(greeting)
    for value in ("x", "HELLO"):
        assert greeting(*inverse(value)) == value


def test_no_input_is_advised_as_known_where_nothing_would_be_left_to_find():
    with pytest.raises(NotInvertible) as caught:
        invert(lambda z: z * z**3 / (z + 3j) + z, complex, root_finding=False)
    assert caught.value.help is not None
    assert "as known" not in caught.value.help


def test_a_refusal_that_proves_nothing_does_not_say_so():
    lossy = invert(lambda x: (x + 1e20) - 1e20, F)
    with pytest.raises(NoSolution) as caught:
        lossy(1.0)
    assert not caught.value.proved
    assert "lost digits" in str(caught.value)


# ---- results that only underflow or rounding gives ------------------------------------------


@pytest.mark.parametrize(
    ("f", "at"),
    [
        (lambda x: math.exp(x), -800.0),
        (lambda n: math.exp(-n), 800),
        (lambda n: 0.5**n, 2000),
        (lambda n: math.ldexp(1.0, n), -2000),
        (lambda x: 0.5**x, 2000.0),
        (lambda x: 1 - math.exp(-x), 40.0),
        (lambda x: math.exp(x) if x < 0 else 1 + x, -800.0),
        (lambda x: math.exp(-x * x), 30.0),
        (lambda x: 5 * math.exp(-x * x / 2), 50.0),
        (lambda x: math.exp2(-x * x), 40.0),
        (lambda x: 2.0 ** (-x * x), 40.0),
        (lambda x: 1 / (1 + math.exp(-x)), 40.0),
        (lambda x: 1 + math.exp(x), -40.0),
        (lambda x: math.expm1(-x * x), 30.0),
        (lambda x: math.tanh(x * x), 30.0),
        (lambda x: math.erfc(x * x), 30.0),
    ],
)
def test_a_result_of_rounding_is_not_said_to_have_no_solution(f, at):
    inverse, value = invert(f, type(at)), f(at)
    refusals = []
    try:
        assert math.isclose(f(*inverse(value)), value, abs_tol=1e-12)
    except NoSolution as error:
        refusals.append(error)
    assert not any(error.proved for error in refusals)
    solutions = inverse.solutions(value)
    found = list(itertools.islice(solutions, 4))
    assert found or (solutions.status, bool(solutions.reason)) == ("not_exhausted", True)


def test_a_value_below_all_results_still_has_a_proof():
    for f in (lambda x: math.exp(-x * x), lambda x: 1 + math.exp(x), lambda x: 2.0 ** (-x * x)):
        with pytest.raises(NoSolution) as caught:
            invert(f, float)(-1.0)
        assert caught.value.proved


def test_complex_parts_have_a_bracket_with_two_equal_gaps():
    def parts(z: complex):
        return z.real + 2 * z.imag, z.real - z.imag

    (found,) = invert(parts).solutions((2.0, -1.0))
    assert abs(found.point[0] - 1j) < 1e-12
