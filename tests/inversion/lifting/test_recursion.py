"""Recursive functions: they become loops if their results are only added to and multiplied."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inversion import NoSolution, NotInvertible, choose, invert
from inversion.program.loops import Loop
from overlay import Context, MethodTable
from tests.examples import examples

F = float


def divisor(a, b):
    if b == 0:
        return a
    return divisor(b, a % b)


def halved(x, count=0):
    if x < 1.0:
        return x, count
    return halved(x / 2, count + 1)


def product(n):
    if n <= 0:
        return 1
    return n * product(n - 1)


def digit_sum(n):
    return n if n < 10 else n % 10 + digit_sum(n // 10)


def alternating(x, n):
    if n == 0:
        return 0.5
    return 3.0 - x * alternating(x + 0.1, n - 1) / 4


def power(x, n):
    if n == 0:
        return 1.0
    if n % 2 == 1:
        return x * power(x * x, n // 2)
    return power(x * x, n // 2)


def squared_power(x, n):
    if n == 0:
        return 1.0
    half = squared_power(x, n // 2)
    return half * half * x if n % 2 else half * half


def folded(x):
    for _ in range(20):
        x = x * 1.1
        if x > 40:
            return folded(x - 39.5)
    return x


WHOLE = st.integers(1, 99)
PROGRAMS = {divisor: (WHOLE, WHOLE), product: (st.integers(0, 12),), digit_sum: (WHOLE,)}
MADE = {f: invert(f, *[int] * len(PROGRAMS[f])) for f in PROGRAMS}
PROGRAMS |= {halved: (st.floats(0.1, 99),), folded: (st.floats(0.5, 30),)}
MADE |= {halved: invert(halved, F), folded: invert(folded, F)}


@pytest.mark.parametrize("f", PROGRAMS)
@settings(max_examples=examples(25))
@given(data=st.data())
def test_what_recover_finds_leads_back(f, data):
    args, inverse = tuple(data.draw(strategy) for strategy in PROGRAMS[f]), MADE[f]
    found = inverse(f(*args), inverse.recover(*args))
    assert found == pytest.approx(args)


@pytest.mark.parametrize("f", PROGRAMS)
def test_the_calls_are_one_loop(f):
    rules = [s.relation for s in MADE[f].program.program.statements]
    assert [type(rule) for rule in rules if not hasattr(rule, "target")] == [Loop]


@pytest.mark.parametrize("f", [alternating, power, squared_power])
def test_a_float_is_looked_for_through_the_calls(f):
    inverse = choose(f, F, int, known=("return", "n"))
    for n in (1, 2, 5, 6):
        value = f(1.25, n)
        assert inverse(value, n, inverse.recover(1.25, n)) == pytest.approx((1.25,))
        (x,) = inverse(value, n, (1.1,))
        assert f(x, n) == pytest.approx(value)


def test_what_decides_how_deep_the_calls_go_may_be_chosen():
    inverse = invert(power, F, int)
    assert inverse.parameters.names == ("n", "near_x")
    assert inverse(8.0, (3, 1.0)) == pytest.approx((2.0, 3))


def test_constants_that_decide_are_inlined():
    def tenth(x):
        return scaled(x, 10)

    def scaled(x, times):
        return x + 1 if times == 0 else 2 * scaled(x, times - 1)

    inverse = invert(tenth, F)
    assert not [s for s in inverse.program.program.statements if isinstance(s.relation, Loop)]
    assert inverse(tenth(1.5)) == (1.5,)


def test_compiled_inverses_answer_alike():
    inverse, value = MADE[digit_sum], digit_sum(98213)
    theta = inverse.recover(98213)
    assert inverse.compile()(value, theta) == inverse(value, theta) == (98213,)


def test_calls_have_an_end():
    inverse = invert(product, int, max_trips=20)
    assert inverse(math.factorial(20), inverse.recover(20)) == (20,)
    for deep in (21, 400):
        with pytest.raises(NoSolution):
            inverse.recover(deep)


def twice(n):
    return n if n < 2 else twice(n - 1) + twice(n - 2)


def compared(x):
    return x if x < 1 else max(compared(x / 2), 0.25)


def nested(x):
    return x - 1 if x > 10 else nested(nested(x + 2.5))


def paired(x):
    if x < 1:
        return x, 0.0
    first, second = paired(x / 2)
    return second, first


@pytest.mark.parametrize(
    ("f", "kind", "message"),
    [
        (twice, int, "cannot solve `result = twice"),
        (paired, F, "a result that is not a number"),
    ],
)
def test_other_recursion_is_refused(f, kind, message):
    with pytest.raises(NotInvertible, match=message) as caught:
        invert(f, kind)
    assert "test_recursion.py:" in caught.value.where


@pytest.mark.parametrize("f", [compared, nested])
def test_other_uses_are_run_forward_and_floats_looked_for(f):
    inverse = invert(f, F)
    (x,) = inverse(f(5.0), inverse.recover(5.0))
    assert f(x) == pytest.approx(f(5.0))


def test_overlays_hold_inside_the_calls():
    table = MethodTable("shifted")

    @table.overlay(math.exp)
    def exp(x: float):
        return x + 1.0

    def chain(x):
        return x if x > 5 else chain(math.exp(x))

    context = Context(table)
    inverse = invert(chain, F, context=context)
    assert context(chain, 0.25) == 5.25
    assert inverse(5.25, inverse.recover(0.25)) == (0.25,)

    other = MethodTable("added")

    @other.overlay(max)
    def largest(a: float, b: float):
        return a + b

    with pytest.raises(NotInvertible, match="uses the result for max"):
        invert(compared, F, context=Context(other))
