"""Programs of ParametricInversion.jl (zenna/ParametricInversion.jl: its test functions, tests and
example models), written again in Python: inverted with parameters, all solutions reached."""

import enum
import math
from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np
import pytest

from inversion import choose, invert
from primitives import Integers

# ---- test/ParametricInversionTestUtils -----------------------------------------------------------


def sum_times(x: float, y: float, z: float):
    a = x + y
    return a * z


def product_plus(x: float, y: float, z: float):
    return x * y + z


def double(x):
    return 2 * x


def with_a_call(a: float, b: float, c: float):
    x = a + b + 3
    y = x * c
    return double(y)


def twice(a: float):
    return a + a


def thrice(a: float):
    return a + a + a


def shared(a: float, b: float, c: float):
    z = a / c
    x = a + b + z
    return x * c + b + z


def branching(a: float, b: float, c: float):
    x = a + b + 3
    y = a * c
    if x > 3:
        return double(x - y)
    return double(y + x) - 7.0


PROGRAMS = [sum_times, product_plus, with_a_call, twice, thrice, shared, branching]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("given", [(0.5, 2.0, 4.0), (-1.5, 0.25, 3.0)])
def test_an_inverse_leads_back_to_the_value_and_its_parameters_to_the_arguments(program, given):
    given = given[: program.__code__.co_argcount]
    inverse, value = invert(program), program(*given)
    assert math.isclose(program(*inverse(value)), value)
    theta = inverse.recover(*given)
    assert inverse(value, theta) == pytest.approx(given)


def test_parameters_drawn_at_random_give_arguments_of_the_value():
    """test/invert.jl and the documentation of invertapply: any θ, the same value"""
    for program, value in ((product_plus, 2.3), (sum_times, 2.3)):
        inverse = invert(program)
        found, rng = set(), np.random.default_rng(0)
        for _ in range(20):
            arguments = inverse(value, inverse.parameters.sample(rng))
            assert math.isclose(program(*arguments), value)
            found.add(arguments)
        assert len(found) == 20


def test_the_square_of_an_integer_plus_another_is_five():
    """test/invert.jl: simple invert"""

    def program(x: int, y: int):
        return x * x + y

    inverse = invert(program)
    arguments = inverse(5)
    assert program(*arguments) == 5
    assert all(type(argument) is int for argument in arguments)
    assert inverse(5, inverse.recover(-2, 1)) == (-2, 1)


# ---- ExampleModels -------------------------------------------------------------------------------


class Point(NamedTuple):
    x: float
    y: float


def forward_kinematics(a: float, b: float, c: float):
    lengths = (1.0, 0.8, 0.5)
    x = y = angle = 0.0
    for length, turn in zip(lengths, (a, b, c), strict=True):
        angle += turn
        x += length * math.cos(angle)
        y += length * math.sin(angle)
    return Point(x, y)


def test_an_arm_reaches_a_point():
    """ForwardKinematics"""
    point = forward_kinematics(0.3, 0.4, -0.2)
    inverse = invert(forward_kinematics)
    assert forward_kinematics(*inverse(point)) == pytest.approx(point)
    pose = inverse(point, inverse.recover(0.3, 0.4, -0.2))
    assert forward_kinematics(*pose) == pytest.approx(point)


class Op(enum.IntEnum):
    ADD = 1
    SUB = 2
    MUL = 3
    DIV = 4


@dataclass
class Constant:
    value: float


@dataclass
class BinaryOp:
    left: "Constant | BinaryOp"
    op: Op
    right: "Constant | BinaryOp"


def evaluate(expression):
    if isinstance(expression, Constant):
        return expression.value
    left, right = evaluate(expression.left), evaluate(expression.right)
    if expression.op == Op.ADD:
        return left + right
    if expression.op == Op.SUB:
        return left - right
    if expression.op == Op.MUL:
        return left * right
    return left / right


def expression_of(a: float, b: float, c: float):
    return evaluate(BinaryOp(BinaryOp(Constant(a), Op.MUL, Constant(b)), Op.SUB, Constant(c)))


def test_an_interpreter_of_arithmetic_is_inverted_through_its_tree():
    """Arithmetic, Interpreter: the leaves of an expression from its value"""
    inverse = invert(expression_of)
    assert expression_of(*inverse(5.0)) == pytest.approx(5.0)
    assert inverse(5.0, inverse.recover(3.0, 4.0, 7.0)) == pytest.approx((3.0, 4.0, 7.0))


def growth(x: float, b: float):
    for _ in range(3):
        x = b * (1 - x) * x
    return x


def test_a_population_before_three_steps_of_growth():
    """DiscretePopulationGrowth: the start and the rate, each from the other and the end"""
    end = growth(0.1, 2.2)
    starts = choose(growth, known=("return", "b")).solutions(end, 2.2)
    assert any(branch.point[0] == pytest.approx(0.1) for branch in starts)
    (rate,) = choose(growth, known=("return", "x"))(end, x=0.1)
    assert growth(0.1, rate) == pytest.approx(end)


Bit = Annotated[int, Integers(0, 1)]


def clauses(a: Bit, b: Bit, c: Bit):
    return (a | b) & (1 - a | c) & (1 - b | 1 - c)


def test_all_assignments_of_a_formula_are_found():
    """SATModel"""
    found = {branch.point for branch in invert(clauses).solutions(1)}
    every = [(a, b, c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
    assert found == {each for each in every if clauses(*each) == 1}


# ---- src/primitives.jl, test/choose.jl -----------------------------------------------------------


def add(x: float, y: float):
    return x + y


def add_integers(x: int, y: int):
    return x + y


def subtract(x: float, y: float):
    return x - y


def subtract_integers(x: int, y: int):
    return x - y


def multiply(x: float, y: float):
    return x * y


def divide(x: float, y: float):
    return x / y


def pair(x: float, y: float):
    return x, y


@pytest.mark.parametrize(
    ("primitive", "value"),
    [(add, 2.5), (add_integers, 7), (subtract, 2.5), (subtract_integers, 7), (multiply, 2.5),
     (divide, 2.5)],
)  # fmt: skip
def test_each_primitive_has_an_inverse_with_parameters(primitive, value):
    """primitives.jl: one more number says which of the pairs with this value it is"""
    inverse, rng = invert(primitive), np.random.default_rng(0)
    found = {inverse(value, inverse.parameters.sample(rng)) for _ in range(20)}
    assert len(found) > 10
    assert all(math.isclose(primitive(*each), value) for each in found)
    assert {type(x) for each in found for x in each} == {type(value)}
    given = (type(value)(3), type(value)(4))
    assert inverse(primitive(*given), inverse.recover(*given)) == pytest.approx(given)


def test_a_product_with_a_constant_and_a_pair_have_no_parameters():
    """primitives.jl: the other factor is known; the parts of a pair are its arguments"""
    of_constant, of_pair = invert(lambda x: x * 4.0, float), invert(pair)
    assert of_constant(10.0) == (2.5,)
    assert of_pair((1.0, 2.0)) == (1.0, 2.0)
    assert len(of_constant.parameters) == len(of_pair.parameters) == 0


def test_a_place_in_a_table_is_found_by_its_value():
    """primitives.jl: getindex, where an index is drawn; here each that holds the value"""

    def looked_up(i: Annotated[int, Integers(0, 2)]):
        return (0.5, 1.5, 0.5)[i]

    assert {branch.point for branch in invert(looked_up).solutions(0.5)} == {(0,), (2,)}
    assert {branch.point for branch in invert(looked_up).solutions(1.5)} == {(1,)}


def test_one_axis_of_a_sum_is_chosen_from_the_others():
    """test/choose.jl: the value from both arguments, an argument from the other, both from it"""
    assert choose(add_integers, known=("x", "y"))(3, 4) == (7,)
    assert choose(add_integers, known=("return", "y"))(7, 4) == (3,)
    assert choose(add_integers, known=("return", "x"))(7, 3) == (4,)
    assert sum(choose(add_integers, known=("return",))(5)) == 5
