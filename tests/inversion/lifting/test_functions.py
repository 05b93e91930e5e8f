"""Programs of the functions in the base table: every solution is reached, and edges are tested."""

import cmath
import functools
import math

import numpy as np
import pytest

from inversion import NoSolution, choose, invert

F, I, C = float, int, complex  # noqa: E741

# program, types, arguments
PROGRAMS = {
    "tan": (lambda x: 2 * math.tan(x) + 1, (F,), (4.0,)),
    "atan2": (lambda y, x: math.atan2(y, x) / 2, (F, F), (3.0, -4.0)),
    "hypot": (lambda x, y: math.hypot(x, 2 * y), (F, F), (-3.0, 2.0)),
    "tanh": (lambda x: math.tanh(2 * x + 1), (F,), (-0.75,)),
    "saturated tanh": (lambda x: math.tanh(2 * x + 1), (F,), (30.0,)),
    "power": (lambda x: 3 * x**2 + 1, (F,), (-1.5,)),
    "power of a variable": (lambda x, n: x**n, (F, I), (-1.5, 3)),
    "math.pow": (lambda x, y: math.pow(x, y) + 1, (F, F), (1.5, -0.5)),
    "exponential": (lambda x: 2.0**x, (F,), (3.5,)),
    "growth": (lambda x: math.expm1(x / 3) ** 3, (F,), (-0.5,)),
    "logarithms": (lambda x: math.log10(x) + math.log2(8), (F,), (12.0,)),
    "floor": (lambda x: math.floor(x * 10), (F,), (-0.37,)),
    "int": (lambda x: int(x) + 2, (F,), (-7.25,)),
    "round": (lambda x: round(x) * 2, (F,), (2.5,)),
    "np.floor": (lambda x: np.floor(x) / 2, (F,), (7.75,)),
    "turn": (lambda x: (x + 1) % 360.0, (F,), (1000.0,)),
    "quotient": (lambda x: x // 0.5, (F,), (1.8,)),
    "min": (lambda x, y: min(x, y) * 2, (F, F), (3.0, -1.0)),
    "max": (lambda x: max(x, 1.0), (F,), (-4.0,)),
    "abs": (lambda x: abs(x - 3), (F,), (-4.0,)),
    "copysign": (lambda x, y: math.copysign(x, y), (F, F), (-4.0, -2.0)),
    "comparison": (lambda x, y: x * 2 < y, (F, F), (3.0, 5.0)),
    "equality": (lambda x: x == 4.0, (F,), (4.5,)),
    "erf": (lambda x: math.erf(x / 2), (F,), (0.6,)),
    "gamma": (lambda x: math.gamma(x) + 1, (F,), (-2.3,)),
    "ldexp": (lambda x: math.ldexp(x, 3), (F,), (0.3,)),
    "degrees": (lambda x: math.degrees(x), (F,), (1.0,)),
    "clip": (lambda x: np.clip(x, 0.0, 1.0), (F,), (2.5,)),
    "complex line": (lambda z: (2 + 1j) * z - 3, (C,), (1 - 4j,)),
    "complex exponential": (lambda z: cmath.exp(z * 1j), (C,), (9 - 0.5j,)),
    "complex product": (lambda z, w: z * w, (C, C), (1 - 4j, 2j)),
    "size of a complex": (lambda z: abs(z), (C,), (-3 + 4j,)),
    "complex of parts": (lambda x, y: complex(x, 2 * y), (F, F), (1.5, -2.0)),
    "a float beside a complex": (lambda x, z: x * z, (F, C), (1.5, -2j)),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_recovered_parameters_lead_back_to_the_arguments(name):
    f, types, args = PROGRAMS[name]
    inverse = invert(f, *types)
    theta = inverse.recover(*args)
    answers = inverse(f(*args), *((theta,) if theta else ()))
    assert answers == pytest.approx(args, rel=1e-9)
    assert all(type(a) is type(b) for a, b in zip(answers, args, strict=True))


COMPILED = [n for n in PROGRAMS if n not in ("clip",)]  # numba has no scalar np.clip


@pytest.mark.parametrize("name", COMPILED)
def test_compiled_inverses_answer_as_interpreted_ones(name):
    f, types, args = PROGRAMS[name]
    inverse = invert(f, *types)
    fast = inverse.compile()
    theta = inverse.recover(*args)
    answers = fast(f(*args), *((theta,) if theta else ()))
    assert answers == pytest.approx(args, rel=1e-9)


def reached(inverse, *known):
    """The answers for many random θ."""
    rng, found = np.random.default_rng(0), set()
    for _ in range(200):
        try:
            found.add(inverse(*known, inverse.parameters.sample(rng)))
        except NoSolution:
            continue
    return found


def test_both_roots_of_a_square_are_reached():
    found = reached(invert(lambda x: x**2, F), 4.0)
    assert found == {(2.0,), (-2.0,)}


def test_every_branch_of_the_gamma_function_that_has_the_value_is_reached():
    found = {x for (x,) in reached(invert(math.gamma, F), 6.0)}
    assert all(math.isclose(math.gamma(x), 6.0, rel_tol=1e-9) for x in found)
    assert any(math.isclose(x, 4.0) for x in found)  # 3! is 6
    assert any(0 < x < 1 for x in found)
    # between -2 and -1, and between -4 and -3, the function is positive: two branches each
    for pole in (-2, -4):
        assert len({round(x, 9) for x in found if pole < x < pole + 1}) == 2


def test_an_integer_result_leaves_the_fraction_open():
    found = reached(invert(lambda x: math.floor(x), F), -3)
    assert len(found) == 200
    assert all(-3 <= x < -2 for (x,) in found)


def test_comparisons_hold_whichever_excess_is_chosen():
    inverse = invert(lambda x, y: x < y, F, F)
    assert all(x < y for x, y in reached(inverse, True))
    assert all(x >= y for x, y in reached(inverse, False))


def test_choices_that_only_rounding_leaves_may_be_left_out():
    inverse = invert(lambda x: math.tanh(2 * x + 1), F)
    assert len(inverse.parameters) == 1
    assert inverse.parameters.optional
    assert inverse(math.tanh(2.0)) == pytest.approx((0.5,))
    (column,) = inverse.batch(np.tanh([1.0, 3.0]))
    assert column == pytest.approx([0.0, 1.0])
    assert inverse(1.0, (75.0,)) == (37.0,)
    both = invert(lambda x, y: math.tanh(x) + y, F, F)
    assert not both.parameters.optional
    x, y = both(0.5)
    assert math.tanh(x) + y == pytest.approx(0.5)


def test_a_function_that_saturates_has_no_value_beyond_its_ends():
    with pytest.raises(NoSolution):
        invert(lambda x: math.tanh(x), F)(1.5)
    with pytest.raises(NoSolution):
        invert(lambda x: math.expm1(x), F)(-1.0)
    with pytest.raises(NoSolution):
        invert(lambda x: math.cosh(x), F)(0.5, (False,))


def test_known_arguments_that_contradict_the_result_are_refused():
    with pytest.raises(NoSolution, match="longer than the hypotenuse"):
        choose(lambda x, y: math.hypot(x, y), F, F, known=("return", "x"))(2.0, 3.0, (False,))
    with pytest.raises(NoSolution, match="larger than one of them"):
        choose(lambda x, y: min(x, y), F, F, known=("return", "x"))(2.0, 1.0, (0.0,))
    with pytest.raises(NoSolution, match="odd exponent"):
        invert(lambda x: x**2.0, F)(-4.0, (1.0,))


def given_another_name(f):
    @functools.wraps(f)
    def wrapper(y, shift=1.0):
        return f(y) + shift

    return wrapper


def given_anything(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        return f(*args, **kwargs)

    return wrapper


def test_a_wrapper_is_called_as_its_own_code_says():
    def tripled(x):
        return 3.0 * x

    wrapped = given_another_name(tripled)
    assert invert(lambda x: wrapped(x), float)(7.0) == (2.0,)
    assert invert(lambda x: wrapped(x, shift=4.0), float)(7.0) == (1.0,)
    anything = given_anything(tripled)
    assert invert(lambda x: anything(x), float)(6.0) == (2.0,)
    assert invert(anything, float)(6.0) == (2.0,)


@pytest.mark.parametrize(("x", "y"), [(2.0, 2.0), (2.0, 2.0 + 1e-7), (2.0, 2.5), (0.0, 1e-4)])
def test_numbers_that_are_close_are_told_from_others(x, y):
    def f(x, y):
        return 3.0 * x if math.isclose(x, y, rel_tol=1e-6, abs_tol=1e-3) else x + 10.0

    inverse = choose(f, float, float, known=("return", "y"))
    (found,) = inverse(f(x, y), y, theta=inverse.recover(x, y))
    assert found == pytest.approx(x)
    (other,) = inverse(f(x, y), y)
    assert f(other, y) == pytest.approx(f(x, y))
