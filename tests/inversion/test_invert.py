"""Answers and refusals of invert and choose."""

import enum
import math
from typing import Annotated

import numba
import numpy as np
import pytest
from typeguard import suppress_type_checks

from inversion import NoSolution, NotInvertible, OutsideDomain, WrongArguments, choose, invert
from overlay import OverlayError
from primitives import Integers, Positive, Real, Reals
from primitives.floats.arithmetic import squared

F, I, W = float, int, np.uint64  # noqa: E741


def arm(a, b, c):
    return math.sin(a) + 0.8 * math.sin(a + b) + 0.5 * math.sin(a + b + c)


@numba.njit
def compiled_helper(x, k=2.0):
    return x * k


def helper(x, *, scale=3.0):
    y = compiled_helper(x)
    y += scale
    return y


class Scaled:
    factor = 4.0

    def __call__(self, x):
        return self.factor * x

    def shifted(self, x):
        return self(x) + 1.0


scaled = Scaled()


def closure(offset):
    return lambda x: x - offset


# program, types, arguments
PROGRAMS = {
    "x*y + z": (lambda x, y, z: x * y + z, (F, F, F), (1.0, 2.0, 3.0)),
    "x*2 + y*3": (lambda x, y: x * 2 + y * 3, (F, F), (1.5, -2.0)),
    "a + a": (lambda a: a + a, (F,), (3.0,)),
    "x*2 + x*3": (lambda x: x * 2 + x * 3, (F,), (-1.5,)),
    "a/b + a": (lambda a, b: a / b + a, (F, F), (3.0, 4.0)),
    "x*x": (lambda x: x * x, (F,), (-3.0,)),
    "quadratic": (lambda x: 3 * x * x - x + 1, (F,), (0.75,)),
    "binomial": (lambda x, y: (x + y) * (x - y), (F, F), (2.0, -1.0)),
    "x*y + x*z": (lambda x, y, z: x * y + x * z, (F, F, F), (2.0, -1.0, 0.5)),
    "cancelled": (lambda x, y: (x + y) - x, (F, F), (2.0, -1.0)),
    "same call twice": (lambda x: math.exp(x) + math.exp(x), (F,), (0.5,)),
    "arm": (arm, (F, F, F), (0.1, 0.2, 0.3)),
    "numpy": (lambda x: np.exp(np.sin(x)) + np.sqrt(2.0), (F,), (7.0,)),
    "helpers": (helper, (F,), (1.25,)),
    "keywords": (lambda x: helper(scale=1.0, x=x), (F,), (1.25,)),
    "njit": (compiled_helper, (F,), (1.25,)),
    "closure": (closure(2.5), (F,), (1.25,)),
    "callable object": (scaled, (F,), (1.25,)),
    "bound method": (scaled.shifted, (F,), (1.25,)),
    "builtin": (math.log, (F,), (2.0,)),
    "ufunc": (np.cos, (F,), (2.0,)),
    "identity": (lambda x: x, (F,), (2.0,)),
    "constant": (lambda x: 7.0, (F,), (2.0,)),
    "unused input": (lambda x, y: 2 * x, (F, F), (2.0, 5.0)),
    "folded": (lambda x: math.sqrt(2) * x + math.pi / 2, (F,), (2.0,)),
    "division": (lambda x: 2 / x, (F,), (-4.0,)),
    "products of ints": (lambda x, y: (x + 1) * (y + 2), (I, I), (5, -8)),
    "square of an int": (lambda n: n * n - 1, (I,), (-12,)),
    "ints of any size": (lambda n: 3 * n + 2**70, (I,), (10**30,)),
    "float of int": (lambda n, x: n * x, (I, F), (3, 0.5)),
    "int / int": (lambda n, m: n / m, (I, I), (3, 4)),
    "words": (lambda x, y: x * 6 + y, (W, W), (W(2**63 + 5), W(7))),
    "signed words": (lambda x: -x * 12 + 3, (np.int64,), (np.int64(-(2**62) + 1),)),
    "square function": (squared, (F,), (-0.5,)),
}


def test_an_example_says_the_type_of_an_argument():
    def product(pair, n):
        return pair[0] * n

    by_example, by_type = invert(product, (1.0, 2), 3), invert(product, tuple[float, int], int)
    assert str(by_example) == str(by_type)
    assert by_example.axes == by_type.axes


@pytest.mark.parametrize("name", PROGRAMS)
def test_recovered_parameters_lead_back_to_the_arguments(name):
    f, types, args = PROGRAMS[name]
    inverse = invert(f, *types)
    theta = inverse.recover(*args)
    with np.errstate(over="ignore"):
        value = f(*args)
    answers = inverse(value, *((theta,) if theta else ()))
    assert answers == pytest.approx(args, rel=1e-9)
    assert all(type(a) is type(b) for a, b in zip(answers, args, strict=True))


@pytest.mark.parametrize("name", PROGRAMS)
def test_every_answer_gives_the_value_back(name):
    f, types, args = PROGRAMS[name]
    inverse = invert(f, *types)
    rng = np.random.default_rng(0)
    answered = 0
    with np.errstate(over="ignore"):
        value = f(*args)
        for _ in range(50):
            theta = inverse.parameters.sample(rng)
            try:
                answers = inverse(value, *((theta,) if theta else ()))
            except NoSolution:
                continue
            assert f(*answers) == pytest.approx(value, rel=1e-9, abs=1e-12)
            answered += 1
    assert answered > 10


def test_many_arms_reach_one_height():
    inverse = invert(arm, F, F, F)
    rng = np.random.default_rng(0)
    found = set()
    for theta in (inverse.parameters.sample(rng) for _ in range(400)):
        try:
            answer = inverse(1.2, theta)
        except NoSolution:
            continue
        assert abs(arm(*answer) - 1.2) <= 1e-9
        assert inverse(1.2, inverse.recover(*answer)) == pytest.approx(answer, rel=1e-9)
        found.add(answer)
    assert len(found) > 50


# ---- any axes known -----------------------------------------------------------------------


def test_any_axes_may_be_known():
    def f(x, y, z):
        return x * y + z

    assert choose(f, F, F, F, known=("return", "x", "z"))(11.0, 2.0, 5.0, (0.0,)) == (3.0,)
    assert choose(f, F, F, F, known=("z", "y", "x"))(5.0, 3.0, 2.0) == (11.0,)
    assert choose(f, F, F, F, known=("x",))(2.0, (3.0, 5.0)) == (3.0, 5.0, 11.0)
    assert choose(f, F, F, F, known=("return", "x", "y", "z"))(11.0, 2.0, 3.0, 5.0) == ()
    with pytest.raises(NoSolution, match="the known values disagree") as caught:
        choose(f, F, F, F, known=("return", "x", "y", "z"))(12.0, 2.0, 3.0, 5.0)
    assert ("the function gives", "11.0") in caught.value.notes


def test_a_used_argument_is_one_unknown_whatever_is_known():
    inverse = choose(lambda a, b: a / b + a, F, F, known=("return", "b"))
    assert inverse(6.0, 2.0, (0.0,)) == (4.0,)
    with pytest.raises(NoSolution, match="product with 0 is 0"):
        inverse(6.0, -1.0, (0.0,))


def test_an_axis_is_free_where_nothing_determines_it():
    inverse = choose(math.exp, F, known=())
    assert inverse((1.0,)) == (1.0, math.e)


# ---- types and domains --------------------------------------------------------------------


def test_types_come_from_annotations_and_defaults_stay():
    def f(x: float, n: Annotated[int, Integers(0, 9)], k: float = 2.0) -> float:
        return x + n * k

    inverse = invert(f)
    assert [(p.name, p.domain) for p in inverse.parameters] == [("n", Integers(0, 9))]
    assert inverse(10.0, (3,)) == (4.0, 3)
    with pytest.raises(OutsideDomain):
        inverse(10.0, (12,))


def test_declared_domains_hold_for_choices_and_answers():
    def f(x: Annotated[float, Reals(0, 1)], y: float):
        return x + y

    inverse = invert(f, domain={"y": Reals(2, 3)})
    rng = np.random.default_rng(0)
    with pytest.raises(NoSolution):
        inverse(10.0, inverse.parameters.sample(rng))
    with pytest.raises(OverlayError, match="outside Reals"):
        choose(f, known=("return", "x"))(2.0, 1.5)


def test_free_inputs_stay_where_the_program_can_take_them():
    inverse = invert(lambda x, y: math.log(x) + y, F, F)
    assert [p.domain for p in inverse.parameters] == [Positive]


def test_constants_leave_no_choice():
    assert len(invert(lambda x: 2 * x + 3, F).parameters) == 0
    assert len(invert(lambda x: 5 / x, F).parameters) == 0
    assert len(invert(lambda x: x * 7, W).parameters) == 0
    assert len(invert(lambda x: x * 6, W).parameters) == 1


# ---- refusals -----------------------------------------------------------------------------


def test_a_statement_without_a_relation_is_named_with_its_line():
    def f(x):
        y = x + 1
        return id(y)

    with pytest.raises(NotInvertible, match=r"a call of id\(float\)") as caught:
        invert(f, F)
    line = f.__code__.co_firstlineno + 2
    assert caught.value.where.endswith(f"test_invert.py:{line}")
    assert ("modes available", "none") in caught.value.notes
    assert "relation_of(id)" in caught.value.help


def test_a_function_that_only_runs_forward_says_which_modes_it_has():
    def f(x, y):
        return np.spacing(x) * 2.0**50 + y

    with pytest.raises(NotInvertible) as caught:
        choose(f, F, F, known=("return", "y"), root_finding=False)
    line = f.__code__.co_firstlineno + 1
    text = str(caught.value)
    assert text.startswith("cannot solve `v1 = spacing(x)` for {x}   [")
    assert f"test_invert.py:{line}]" in text
    assert "modes available: {return}" in text
    help = "give spacing an inverse in a method table"  # x is all that is unknown
    assert caught.value.help == f"{help}, or give root_finding=True, which searches for a root"
    assert invert(f, F, F)(10.0, (4.0,)) == (4.0, 9.0)


def test_a_loop_of_shared_variables_says_what_would_have_to_be_known():
    with pytest.raises(NotInvertible, match=r"for \{x, y\}") as caught:
        invert(lambda x, y: x * math.exp(x) + y * math.sin(y), F, F, root_finding=False)
    assert "root_finding=True" in caught.value.help
    assert "as known" not in caught.value.help  # nothing would be left to find
    with pytest.raises(NotInvertible) as caught:
        choose(
            lambda x, y: x * math.exp(x) + y * math.sin(y),
            F, F, known=("return", "y"), root_finding=False,
        )  # fmt: skip
    assert "as known" not in caught.value.help
    assert "used once" in caught.value.help


X_AND_Y = lambda x, y: (x * math.exp(y), y * math.exp(x))  # noqa: E731
IN_A_RING = lambda x, y, z: (x * math.exp(y), y * math.exp(z), z * math.exp(x))  # noqa: E731
TWO_OF_THREE = lambda x, y, z: (x * math.exp(x) + y * math.exp(y) + z, z)  # noqa: E731


@pytest.mark.parametrize(
    ("f", "kinds", "remedy"),
    [
        (X_AND_Y, (F, F), "pass x or y as known"),
        (IN_A_RING, (F, F, F), "pass x or y or z as known"),
        (TWO_OF_THREE, (F, F, F), "pass x and y as known"),
    ],
)
def test_a_loop_that_known_inputs_would_open_names_them(f, kinds, remedy):
    with pytest.raises(NotInvertible) as caught:
        invert(f, *kinds, root_finding=False)
    assert caught.value.help == f"{remedy}, or give root_finding=True, which searches for a root"
    assert invert(f, *kinds, root_finding=True) is not None


def test_a_search_is_no_remedy_where_there_is_none():
    with pytest.raises(NotInvertible) as caught:
        invert(lambda x: x * x * x + x, int, root_finding=False)
    assert "used once" in caught.value.help
    assert "root_finding" not in caught.value.help


def two_kinds(x):
    return math if x > 0 else x


def endless(x):
    while True:
        x = x / 2


def recursive(x):
    return recursive(x) + 1


def any_number(*args):
    return args


def sets_a_global(x):
    global SET
    SET = x
    return x


async def coroutine(x):
    return x + 1


def generator(x):
    yield x


NARROW = np.float32(2)
UNSUPPORTED = {
    "two kinds": (two_kinds, "on one path and a float on the other"),
    "endless loop": (endless, "never left"),
    "recursion": (recursive, "calls itself endlessly"),
    "varargs": (any_number, "any number of arguments"),
    "unpacked call": (lambda x: helper(*x), "unpacked|tuple"),
    "no number": (lambda x: math, "returns <module"),
    "nothing": (lambda x: None, "returns None"),
    "attribute": (lambda x: x.real, "attribute 'real'"),
    "call of a number": (lambda x: x(1), "call of a float"),
    "wrong call": (lambda x: helper(x, 1, 2), "cannot call"),
    "global statement": (sets_a_global, "assignment to a global"),
    "coroutine function": (coroutine, "a coroutine"),
    "generator function": (generator, "a generator"),
    "narrow floats": (lambda x: x * NARROW, r"mul\(float, float32\)"),
}


@pytest.mark.parametrize("name", UNSUPPORTED)
def test_unsupported_code_is_refused_with_its_line(name):
    f, message = UNSUPPORTED[name]
    with pytest.raises(NotInvertible, match=message) as caught:
        invert(f, F)
    assert "test_invert.py:" in caught.value.where


def test_a_value_that_no_argument_leads_to_is_refused_with_the_line():
    def f(x):
        return math.exp(x)

    with pytest.raises(NoSolution) as caught:
        invert(f, F)(-1.0)
    assert str(caught.value).startswith("`v1 = exp(x)` has no solution at return = -1.0: ")
    assert caught.value.where.endswith(f"test_invert.py:{f.__code__.co_firstlineno + 1}")


NO_PREIMAGE = {
    "sin": (lambda x: math.sin(x), F, 2.0),
    "sqrt": (lambda x: math.sqrt(x), F, -1.0),
    "square": (lambda x: x * x, F, -1.0),
    "reciprocal": (lambda x: 1 / x, F, 0.0),
    "overflow": (lambda x: math.log(x), F, 1000.0),
    "nan": (lambda x: x + 1, F, math.nan),
    "infinity": (lambda x: x + 1, F, math.inf),
    "odd": (lambda n: 2 * n, I, 3),
    "no square": (lambda n: n * n, I, 3),
    "odd word": (lambda x: x * 6, W, W(3)),
    "constant": (lambda x: 7.0, F, 6.0),
}


@pytest.mark.parametrize("name", NO_PREIMAGE)
def test_what_no_argument_leads_to_is_refused(name):
    f, kind, value = NO_PREIMAGE[name]
    inverse = invert(f, kind)
    theta = (inverse.parameters.default(),) if len(inverse.parameters) else ()
    with pytest.raises(NoSolution):
        inverse(value, *theta)


def test_answers_are_finite():
    with pytest.raises(NoSolution, match="outside Real") as caught:
        invert(lambda x: 1 / x, F)(1e-310)
    assert "1.0 / x" in str(caught.value)
    with pytest.raises(NoSolution, match="outside Real"):
        choose(lambda x: x * x, F, known=("x",))(1e200)


def test_a_result_that_overflows_is_told_from_lost_digits():
    inverse = choose(lambda x, y: x * x + y, F, F, known=("return", "x"))
    with pytest.raises(NoSolution, match=r"overflow|outside Real"):
        inverse(1.0, 1e200)
    three = choose(lambda x, y: x * x, F, F, known=("return", "x"))
    with pytest.raises(NoSolution, match="overflow") as caught:
        three(1.0, 1e200, (0.0,))
    assert ("the function gives", "inf") in caught.value.notes


def test_a_value_too_large_for_a_float_is_refused():
    inverse = invert(lambda x, y: x + y, F, F)
    with pytest.raises(NoSolution, match="too large"):
        inverse(10**400, (1.0,))
    with pytest.raises(OutsideDomain, match="outside Real"):
        inverse(1.0, (10**400,))


def test_an_answer_that_has_lost_its_digits_is_refused():
    inverse = invert(lambda x, y: x + y, F, F)
    with pytest.raises(NoSolution, match="lost digits"):
        inverse(5.0, (1e30,))
    with pytest.raises(NoSolution, match="lost digits"):
        inverse.recover(1.0, 1e30)


def test_a_wrong_number_of_coordinates_names_them():
    inverse = invert(arm, F, F, F)
    for theta in (((1.0,),), ((1.0, 2.0, 0, 4),), (5.0,)):
        with pytest.raises(TypeError, match=r"3 coordinates \(a, b, branch_of_sin") as caught:
            inverse(1.0, *theta)
        assert isinstance(caught.value, OverlayError)
    with pytest.raises(TypeError, match="it has no parameters"):
        invert(lambda x: x + 1, F)(1.0, (2.0,))


def test_a_coordinate_outside_its_domain_is_a_value_error():
    inverse = invert(arm, F, F, F)
    for theta in ((1.0, 2.0, 0.5), (math.nan, 2.0, 0), (1.0, math.inf, 0), (1.0, "2", 0)):
        with pytest.raises(OutsideDomain, match="is outside") as caught:
            inverse(1.0, theta)
        assert isinstance(caught.value, ValueError)


def test_axes_that_do_not_exist_are_named():
    with pytest.raises(WrongArguments, match="no axis 'w' for known") as caught:
        choose(lambda x: x, F, known=("w",))
    assert caught.value.notes == (("axes", "x, return"),)
    with pytest.raises(WrongArguments, match="no axis 'w' for domain"):
        invert(lambda x: x, F, domain={"w": Real})
    with pytest.raises(WrongArguments, match="twice"):
        choose(lambda x: x, F, known=("x", "x"))


def test_known_as_a_bare_string_is_refused():
    with pytest.raises(TypeError, match="not the string 'return'"):
        choose(lambda x: x, F, known="return")


def test_types_that_do_not_fit_are_refused():
    with pytest.raises(WrongArguments, match="2 types were given"):
        invert(lambda x: x, F, F)
    with pytest.raises(WrongArguments, match="does not say the type of x"):
        invert(lambda x: x)
    with pytest.raises(WrongArguments, match="not supported"):
        invert(lambda x: x, "float")
    with pytest.raises(NotInvertible, match="choose a value of type"):
        invert(lambda x, s: x, F, bytearray)


def test_subclasses_of_numbers_are_refused():
    class Colour(enum.IntEnum):
        RED = 1

    with pytest.raises(WrongArguments, match="a subclass of a supported type"):
        invert(lambda x: x + 1, Colour)


def test_domains_that_do_not_fit_are_refused():
    for kind, example in ((F, "Reals(0, 1)"), (I, "range("), (str, "Strings(")):
        for wrong in (3, (0, 1), range(0), range(0, 9, 2)):
            with (
                suppress_type_checks(),
                pytest.raises(WrongArguments, match="is not a domain") as e,
            ):
                invert(lambda x: x + x, kind, domain={"x": wrong})
            assert repr(wrong) in str(e.value)
            assert example in str(e.value)
    with pytest.raises(WrongArguments, match="holds values of type int"):
        invert(lambda x: x + 1, F, domain={"x": range(9)})
    with pytest.raises(WrongArguments, match="holds values of type float"):
        invert(lambda x: x + 1, I, domain={"x": Reals(0, 1)})
    with pytest.raises(WrongArguments, match="holds values of type int"):
        invert(lambda x: x + 1, Annotated[float, Integers(0, 9)])


@pytest.mark.parametrize("kind", [int, np.int64, np.uint64])
@pytest.mark.parametrize("given", [range(256), range(255, -1, -1)])
def test_a_range_is_the_domain_of_its_integers(kind, given):
    kept = invert(lambda x: (x << 3) & 0xFF, kind, domain={"x": given})
    again = invert(lambda x: (x << 3) & 0xFF, kind, domain={"x": Integers(0, 255, kind=kind)})
    found = {branch.point for branch in kept.solutions(kind(0x18))}
    assert found == {branch.point for branch in again.solutions(kind(0x18))}
    assert found == {(kind(x),) for x in range(256) if (x << 3) & 0xFF == 0x18}


def test_what_algebra_solves_is_not_searched_for():
    for root_finding in (True, False):
        assert invert(lambda x: x + 1, F, root_finding=root_finding)(3.0) == (2.0,)
        assert not len(invert(lambda x: 3 * x + x, F, root_finding=root_finding).parameters)
    with pytest.raises(NotInvertible):
        invert(lambda x: x + math.exp(x), F, root_finding=False)


def test_answers_of_a_bool_are_bools():
    for kind in (bool, np.bool_):
        inverse = invert(lambda x: x + 1, kind)
        assert inverse(1) == (False,)
        assert inverse(2)[0] is inverse.compile()(2)[0] is True
        with pytest.raises(NoSolution, match="outside Bool"):
            inverse(7)
        with pytest.raises(NoSolution, match="outside Bool"):
            inverse.batch(np.array([1, 7]))
        assert inverse.batch(np.array([1, 2]))[0].tolist() == [False, True]


def test_values_of_another_type_are_refused():
    with pytest.raises(WrongArguments, match="not a value of type float"):
        invert(lambda x: x + 1, F)("5")
    with pytest.raises(WrongArguments, match="not a value of type int"):
        invert(lambda x: x + 1, I)(2.5)
    with pytest.raises(WrongArguments, match="2 inputs"):
        invert(lambda x, y: x + y, F, F).recover(1.0)


# ---- looking ------------------------------------------------------------------------------


def test_an_inverse_prints_its_program_and_its_plan():
    def f(x, y):
        return 2 * x + math.exp(y)

    inverse = invert(f, F, F)
    text = str(inverse)
    assert text.startswith("inverse of ")
    for shown in (
        "v1 = 2.0 * x",
        "v3 = v1 + v2",
        "known return = v3; to find x, y",
        "choose y: Real",
        "x = v1 / 2.0",
    ):
        assert shown in text
    assert repr(inverse).endswith(".f: return -> x, y>")


def test_the_source_is_python_that_shows_statements_and_lines():
    inverse = invert(arm, F, F, F)
    compile(inverse.source, "inverse", "exec")
    line = arm.__code__.co_firstlineno + 1
    assert "def inverse(ret, theta):" in inverse.source
    assert "c = add_b(" in inverse.source
    assert f"test_invert.py:{line}]" in inverse.source


def test_names_in_the_source_do_not_clash():
    def f(theta, ret, add, inf):
        forward = theta + ret
        return forward * add + inf

    inverse = invert(f, F, F, F, F)
    args = (1.0, 2.0, 3.0, 4.0)
    assert inverse(13.0, inverse.recover(*args)) == pytest.approx(args)
