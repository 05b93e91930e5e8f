"""What functions take, called from Python and in compiled code: as Python's own rules say, and as
they are by now."""

import math
import operator

import pytest
from numba import njit

from overlay import Context, MethodTable, NotCompilable, call_next

table = MethodTable("parameters")


@table.overlay(math.sin)
def sin(x: float) -> float:
    return x + 100.0


context = Context(table)


def by_name(x, y=1.0, *, scale, shift=0.5):
    return math.sin(x) * scale + 10 * y + shift


def in_order(x, y=2.0, /, z=3.0):
    return math.sin(x) + 10 * y + 100 * z


def with_rest(x, y, *rest):
    return math.sin(x) + 10 * y + 100 * len(rest) + rest[-1]


def calling_by_name(x):
    return by_name(x, scale=2.0) + by_name(x, 4.0, shift=3.0, scale=2.0)


overlaid = MethodTable("overlaid")


def chosen(x, y=2.0, *, scale=3.0):
    return x


def summed(x, *rest):
    return x


@overlaid.overlay(chosen)
def chosen_float(x: float, y: float = 5.0, *, scale: float = 7.0) -> float:
    return call_next(x) + 10 * y + 100 * scale


@overlaid.overlay(summed)
def summed_float(x: float, *rest: float) -> float:
    return x + 10 * rest[0] + 100 * rest[1]


CALLS = [
    (context, by_name, (1.0,), {"scale": 2.0}),
    (context, by_name, (1.0, 4.0), {"scale": 2.0, "shift": 1.0}),
    (context, by_name, (), {"x": 1.0, "scale": 2.0}),
    (context, in_order, (1.0,), {}),
    (context, in_order, (1.0,), {"z": 5.0}),
    (context, in_order, (1.0, 4.0, 5.0), {}),
    (context, with_rest, (1.0, 2.0, 3.0, 4.0), {}),
    (context, calling_by_name, (1.0,), {}),
    (Context(overlaid), chosen, (1.0,), {}),
    (Context(overlaid), chosen, (1.0,), {"scale": 4.0}),
    (Context(overlaid), chosen, (1.0, 3.0), {"scale": 4.0}),
    (Context(overlaid), chosen, (), {"x": 1.0}),
    (Context(overlaid), summed, (1.0, 2.0, 3.0), {}),
]


@pytest.mark.parametrize(("of", "function", "args", "named"), CALLS)
def test_arguments_are_given_as_python_has_it(of, function, args, named):
    expected = of(function, *args, **named)
    assert expected not in (1.0, math.sin(1.0))  # a method was reached
    hot = of.jit(function)
    assert hot(*args, **named) == hot(*args, **named) == expected


REFUSED = [
    (by_name, (1.0,), {}),
    (by_name, (1.0, 2.0, 3.0), {}),
    (by_name, (1.0, 2.0, 3.0, 4.0), {}),
    (by_name, (1.0,), {"scale": 1.0, "size": 1.0}),
    (in_order, (1.0,), {"y": 2.0}),
    (in_order, (), {}),
    (in_order, (1.0, 2.0, 3.0, 4.0), {}),
    (with_rest, (1.0,), {}),
]


@pytest.mark.parametrize(("function", "args", "named"), REFUSED)
def test_a_call_that_python_refuses_is_refused(function, args, named):
    hot = context.jit(function)
    for call in (hot, function):
        with pytest.raises(TypeError):
            call(*args, **named)


def test_a_call_that_python_refuses_is_refused_in_compiled_code():
    def by_position(x):
        return by_name(x, 1.0, 2.0)

    def without(x):
        return by_name(x)

    for program in (by_position, without):
        with pytest.raises(NotCompilable, match="by_name"):
            context.jit(program)(1.0)


def test_a_plain_caller_gives_arguments_by_the_same_rules():
    hot = context.jit(by_name)

    @njit
    def caller(x):
        return hot(x, scale=2.0) + hot(x, 4.0, shift=3.0, scale=2.0)

    assert caller(1.0) == context(calling_by_name, 1.0)


@pytest.mark.parametrize("source", ["x, *rest, scale=1.0", "x, **names"])
def test_parameters_that_numba_has_no_meaning_for_are_named(source):
    names = {}
    exec(f"def odd({source}): return x", names)
    with pytest.raises(NotCompilable, match=r"\*rest|\*\*names"):
        context.jit(names["odd"])(1.0)
    with pytest.raises(NotCompilable, match=r"\*rest|\*\*names"):
        context.jit(lambda x: names["odd"](x))(1.0)


def test_what_wraps_another_takes_what_it_takes_itself():
    def shown(x, y):
        return x

    def around(x):
        return math.sin(x)

    around.__wrapped__ = shown
    assert context.jit(around)(1.0) == 101.0


# ---- changed in place ----------------------------------------------------------------------


@pytest.fixture
def function():
    def function(x, y=1.0, *, scale=2.0):
        return math.sin(x) * scale + y

    return function


def set_defaults(function):
    function.__defaults__ = (5.0,)


def set_by_name(function):
    function.__kwdefaults__ = {"scale": 5.0}


def set_one_by_name(function):
    function.__kwdefaults__["scale"] = 5.0


def set_code(function):
    def other(x, y=1.0, *, scale=2.0):
        return math.sin(x) * scale - y

    function.__code__ = other.__code__


CHANGES = [set_defaults, set_by_name, set_one_by_name, set_code]


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_the_function_that_python_calls_is_seen(function, change):
    hot = context.jit(function)
    before = hot(1.0), hot(1.0, scale=3.0), hot(1.0, 2.0, scale=3.0)
    assert before == (203.0, 304.0, 305.0)
    change(function)
    after = hot(1.0), hot(1.0, scale=3.0), hot(1.0, 2.0, scale=3.0)
    expected = context.wrap(function)
    assert after == (
        expected(1.0),
        expected(1.0, scale=3.0),
        expected(1.0, 2.0, scale=3.0),
    )
    assert after != before


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_a_helper_and_of_what_plain_code_calls_is_seen(function, change):
    hot, inside = context.jit(lambda x: function(x)), context.jit(function)

    @njit
    def caller(x):
        return inside(x)

    assert hot(1.0) == caller(1.0) == 203.0
    change(function)
    assert hot(1.0) == caller(1.0) == context(function, 1.0) != 203.0


def test_a_change_before_the_first_call_is_seen(function):
    hot = context.jit(function)
    set_defaults(function)
    assert hot(1.0) == 207.0


def test_parameters_get_and_lose_defaults():
    def function(x, y):
        return math.sin(x) + y

    hot = context.jit(function)
    assert hot(1.0, 2.0) == 103.0
    function.__defaults__ = (5.0,)
    assert hot(1.0) == 106.0
    function.__defaults__ = None
    with pytest.raises(TypeError, match="'y'"):
        hot(1.0)
    assert hot(1.0, 2.0) == 103.0


def test_arguments_are_the_same_in_the_call_that_finds_a_change():
    names = {"math": math, "factor": 1.0}
    source = """
def rest(x, y=1.0, *rest): return math.sin(x) * factor + y + rest[0]
def named(x, y=1.0, z=2.0): return math.sin(x) * factor + 10 * y + 100 * z
"""
    exec(source, names)
    rest, named = context.jit(names["rest"]), context.jit(names["named"])
    assert (rest(1.0, 2.0, 3.0), named(1.0, z=3.0)) == (106.0, 411.0)
    names["factor"] = 2.0
    assert (rest(1.0, 2.0, 3.0), named(1.0, z=3.0)) == (207.0, 512.0)


def test_other_parameters_are_taken_once_the_change_is_seen():
    def function(x):
        return math.sin(x)

    def other(x, y):
        return math.sin(x) + y

    hot = context.jit(function)
    assert hot(1.0) == 101.0
    function.__code__ = other.__code__
    with pytest.raises(TypeError, match="'y'"):
        hot(1.0)
    assert hot(1.0, 2.0) == 103.0


# ---- *arguments ----------------------------------------------------------------------------


def many(a, b, c, d, e):
    return a + 10 * b + 100 * c + 1000 * d + math.sin(e)


def apply(function, *args):
    return function(*args)


def handed_on(function, *args):
    return apply(apply, function, *args)


def first_and_rest(x, rest):
    return many(x, *rest, 3.0, x)


def between(x, rest):
    return many(*rest, x, *rest)


def bound_again(x, rest):
    y = x
    y = y + 1.0
    return many(y, *rest, *rest)


def through_layers(x, rest):
    return handed_on(many, x, *rest, *rest)


SPREAD = [first_and_rest, between, bound_again, through_layers]


@pytest.mark.parametrize("program", SPREAD)
@pytest.mark.filterwarnings("error::numba.NumbaExperimentalFeatureWarning")
def test_arguments_are_spread_in_their_order(program):
    args = 2.0, (3.0, 4.0)
    assert context.jit(program)(*args) == context(program, *args) != program(*args)


def test_spreading_arguments_is_no_call_of_an_overlaid_operator():
    additions = MethodTable("additions")

    @additions.overlay(operator.add)
    def add(a: tuple, b: tuple) -> tuple:
        return (0.0,) * 5

    for program in SPREAD:
        of = Context(additions)
        assert of.jit(program)(2.0, (3.0, 4.0)) == program(2.0, (3.0, 4.0))
