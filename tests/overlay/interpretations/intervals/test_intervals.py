"""Intervals as values, and programs that run on them, in both engines."""

import colorsys
import copy
import math
import operator
import pickle
import statistics
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay import Context, MethodTable, call_next
from overlay.interpretations.intervals import (
    EMPTY,
    ENTIRE,
    RULES,
    Interval,
    NotAnInterval,
    Undecided,
    enclose,
    intervals,
)
from tests.examples import examples

bell = statistics.NormalDist(0, 1)
BEYOND_1 = (math.acosh, np.arccosh)


def arguments(rule, function):
    first = Interval(1.2, 1.5) if function in BEYOND_1 else Interval(0.3, 0.4)
    return (first, Interval(1.25, 1.3))[: rule.arity]


SPELLED = [(rule, function) for rule in RULES for function in rule.spellings]


@pytest.mark.parametrize(("rule", "function"), SPELLED, ids=lambda x: getattr(x, "__name__", ""))
def test_a_function_gives_what_its_rule_says(rule, function):
    given = arguments(rule, function)
    wanted = Interval(*rule.enclosure(*((x.low, x.high) for x in given)))
    assert enclose(lambda *x: function(*x), *given).equals(wanted)
    for place in (0.0, 0.5, 1.0):
        numbers = [x.low + place * (x.high - x.low) for x in given]
        assert float(function(*numbers)) in wanted


def orbit(x, y):
    total = x
    for _ in range(3):
        total = total + math.sqrt(x)
        if total > y:
            total = y
    return total


def test_compiled_code_uses_the_same_rules():
    hot = Context(intervals).jit(orbit)
    for low, high in ((0.37, 0.371), (0.4, 0.4)):
        given = Interval(low, high), Interval(1.9, 1.95)
        found, wanted = hot(*given), Context(intervals)(orbit, *given)
        assert isinstance(found, Interval)
        assert found.equals(wanted)
        assert orbit(low, 1.92) in found
    with pytest.raises(Undecided, match="a comparison holds for some numbers"):
        hot(Interval(0.37, 0.371), Interval(0.3, 1.2))
    with pytest.raises(Undecided, match="has no value for some numbers"):
        hot(Interval(-0.5, 0.371), Interval(2, 3))


def test_programs_of_the_standard_library():
    found = enclose(bell.pdf, Interval(0.5, 0.6))
    assert found.low < bell.pdf(0.6) < bell.pdf(0.5) < found.high
    assert found.width < 0.0189
    hues = enclose(colorsys.rgb_to_hls, Interval(0.2, 0.25), Interval(0.4, 0.5), Interval(0.6, 0.7))
    plain = colorsys.rgb_to_hls(0.22, 0.45, 0.6)
    assert all(x in part for x, part in zip(plain, hues, strict=True))


# ---- the real-number program --------------------------------------------------------------


def polynomial(x, y):
    return ((x - y) * (x + y) + 1 / (1 + x * x)) / 3 - 0.1 * y


def waves(x, y):
    total = x
    for i in range(3):
        total = math.sin(total * (i + 1)) + math.exp(-y * y) / (2 + math.cos(x))
    return total


@pytest.mark.parametrize("f", [polynomial, waves])
def test_the_exact_result_is_enclosed(f):
    real = MethodTable("real")
    for name in ("sin", "cos", "exp"):
        real.overlay(getattr(math, name))(getattr(mpmath, name))
    precise = Context(real)

    @settings(max_examples=examples(15))
    @given(st.floats(-3, 3), st.floats(-3, 3), st.floats(0, 0.1), st.floats(0, 1))
    def check(x, y, size, part):
        box = Interval(x, x + size), Interval(y, y + size)
        with mpmath.workdps(50):
            exact = precise(f, *(mpmath.mpf(min(a.low + part * size, a.high)) for a in box))
            found = enclose(f, *box)
            assert found.low <= exact <= found.high
            assert enclose(f, Interval(x), Interval(y)).width < 1e-13
            # of floats as they are, the result is rounded, and need not be within itself
            assert enclose(f, x, y).low <= precise(f, mpmath.mpf(x), mpmath.mpf(y))

    check()


def test_what_a_program_computes_of_plain_numbers_is_enclosed():
    third = enclose(lambda n, x: 1 / n * x, 3, Interval(3))
    assert third.low <= 1 <= third.high
    assert third.low < third.high
    tenths = enclose(lambda parts: sum(parts), [0.1] * 10)
    assert Fraction(tenths.low) <= 10 * Fraction(0.1) <= Fraction(tenths.high)
    assert enclose(lambda n: n / 4 + 2, 3).equals(Interval(2.75))
    assert enclose(lambda n: 7 // n + 2**n, 3) == 10
    assert enclose(lambda x: math.sqrt(x), 2.0).width > 0


# ---- as values ----------------------------------------------------------------------------


def test_bounds_are_rounded_outwards():
    tenth = Interval("0.1")
    assert Fraction(tenth.low) < Fraction(1, 10) < Fraction(tenth.high)
    assert tenth.high == math.nextafter(tenth.low, 1)
    assert Interval(2**53 + 1).equals(Interval(2.0**53, 2.0**53 + 2))
    assert Interval(10**400).low == 1.7976931348623157e308
    for low, high in ((2, 1), ("x", 1), (math.nan, 1), (1j, 2), (None, 1)):
        with pytest.raises(NotAnInterval):
            Interval(low, high)


def test_sets():
    one, other = Interval(0, 2), Interval(1, 5)
    assert one.hull(other).equals(Interval(0, 5))
    assert one.intersection(other).equals(Interval(1, 2))
    assert one.intersection(Interval(3, 4)).is_empty
    assert one.hull(EMPTY).equals(one)
    assert Interval(1, 2).within(one)
    assert not other.within(one)
    assert 1.5 in one
    assert 3 not in one
    assert 0 in ENTIRE
    parts = Interval(0, 1).split(3)
    assert [part.low for part in parts][1:] == [part.high for part in parts][:-1]
    assert parts[0].low == 0 < parts[-1].high == 1
    assert ENTIRE.middle == 0
    assert f"{one} {one:.1f} {EMPTY}" == "[0.0, 2.0] [0.0, 2.0] empty"
    assert copy.deepcopy(one).equals(pickle.loads(pickle.dumps(one)))


def test_operators_outside_of_programs_leave_out_what_has_no_value():
    assert (Interval(1, 2) / Interval(0, 1)).equals(Interval(1, math.inf))
    assert (Interval(1, 2) / Interval(-1, 1)).equals(ENTIRE)
    assert (2 - Interval(0, 1)).equals(Interval(1, 2))
    assert (np.float32(2) * Interval(0, 1)).equals(Interval(0, 2))
    assert (Interval(-2, 3) ** 2).equals(Interval(0, 9))
    assert np.sqrt(Interval(4, 9)).equals(Interval(2, 3))
    assert abs(-Interval(-3, 2)).equals(Interval(0, 3))
    assert Interval(1, 2) < Interval(3, 4)
    assert Interval(1, 2) != Interval(3, 4)
    assert Interval(1) == 1
    with pytest.raises(Undecided, match=r"whether \[1.0, 2.0\] == \[1.0, 2.0\]"):
        bool(Interval(1, 2) == Interval(1, 2))
    with pytest.raises(TypeError):
        _ = Interval(1, 2) + "a"
    with pytest.raises(TypeError):
        hash(Interval(1, 2))


# ---- what is not decided ------------------------------------------------------------------


def pieces(x):
    if x > 1:
        return 2 * x
    return x * x if x > 0 else -x


def test_a_branch_that_is_not_decided_is_refused_with_its_line():
    assert enclose(pieces, Interval(2, 3)).equals(Interval(4, 6))
    with pytest.raises(Undecided) as caught:
        enclose(pieces, Interval(0.5, 3))
    line = pieces.__code__.co_firstlineno + 1
    assert caught.value.where.endswith(f"test_intervals.py:{line}")
    assert "whether [0.5, 3.0] > [1.0, 1.0]" in str(caught.value)
    assert 'undecided="follow"' in str(caught.value)


@settings(max_examples=examples(30))
@given(st.floats(-2, 2), st.floats(0, 3), st.floats(0, 1))
def test_following_both_ways_holds_the_results_of_all(low, size, part):
    box = Interval(low, low + size)
    found = enclose(pieces, box, undecided="follow")
    assert pieces(min(low + part * size, box.high)) in found
    assert found.within(enclose(pieces, box, undecided="follow", pieces=1))
    assert enclose(pieces, box, undecided="follow", pieces=4).within(found)


def careful(x):
    try:
        return 1 / x
    except ZeroDivisionError:
        return -5.0


def test_whether_a_call_raises_is_a_question_too():
    for f in (careful, lambda x: 1 / x, lambda x: math.log(x), lambda x: x**0.5):
        with pytest.raises(Undecided, match="has a value is not decided"):
            enclose(f, Interval(0, 1) if f is careful else Interval(-1, 1))
    assert enclose(careful, Interval(0, 1), undecided="follow").equals(Interval(-5, math.inf))
    assert enclose(lambda x: 1 / x, Interval(0, 1), undecided="follow").low == 1
    roots = enclose(lambda x: math.sqrt(x), Interval(-1, 4), undecided="follow")
    assert roots.equals(Interval(0, 2))
    with pytest.raises(ValueError, match="math domain error"):
        enclose(lambda x: math.sqrt(x), Interval(-2, -1))
    assert enclose(lambda x: math.sqrt(x), Interval(-2, -1), undecided="follow").is_empty


def test_a_program_that_catches_the_refusal_is_refused_all_the_same():
    def swallows(x):
        try:
            return 1 if x > 0 else 2
        except Exception:
            return 3

    with pytest.raises(Undecided, match=r"whether \[-1.0, 1.0\] > "):
        enclose(swallows, Interval(-1, 1))


def test_results_of_ways_are_joined_part_by_part():
    def parts(x):
        return {"a": (x, 1.0), "b": [1]} if x > 0 else {"a": (2 * x, 2.0), "b": [3]}

    found = enclose(parts, Interval(-1, 1), undecided="follow")
    assert found["a"][0].equals(Interval(-2, 2))
    assert found["a"][1].equals(Interval(1, 2))
    assert found["b"][0].equals(Interval(1, 3))
    for f in (lambda x: x > 0, lambda x: "a" if x > 0 else "b", lambda x: [1] * (1 + (x > 0))):
        with pytest.raises(Undecided, match="is not decided"):
            enclose(f, Interval(-1, 1), undecided="follow")


def test_each_way_is_given_arguments_of_its_own():
    def pops(items):
        return items.pop() if items[0] > 0 else items.pop() + 10

    found = enclose(pops, [Interval(-1, 1), 1.0, 2.0], undecided="follow")
    assert found.equals(Interval(2, 12))


def test_ways_without_end_are_refused():
    def halves(x, limit):
        while x > limit:
            x = x / 2
        return x

    assert enclose(halves, Interval(1, 1.01), 1e-3).high < 1e-3
    with pytest.raises(Undecided, match="questions"):
        enclose(halves, Interval(-1, 1), 0.0, undecided="follow")
    with pytest.raises(Undecided, match="more than 3 ways"):
        enclose(pieces_twice, Interval(-2, 2), undecided="follow", most_ways=3)
    with pytest.raises(NotAnInterval, match="pieces of each"):
        enclose(pieces, Interval(0, 1), pieces=10**6)


def pieces_twice(x):
    return pieces(x) + pieces(x)


# ---- code that knows nothing of intervals -------------------------------------------------


def test_conversions_to_one_number():
    assert enclose(lambda x: [0.5] * int(x), Interval(2.2, 2.8)) == [0.5, 0.5]
    assert enclose(lambda x: list(range(math.floor(x))), Interval(2.2, 2.8)) == [0, 1]
    with pytest.raises(Undecided, match=r"int\(\) gives different integers"):
        enclose(int, Interval(1.5, 2.5))
    with pytest.raises(Undecided, match="code that takes a float"):
        enclose(lambda x: math.nextafter(x, 1), Interval(1, 1))
    assert enclose(lambda x: isinstance(x, float) and not isinstance(x, tuple), Interval(0, 1))
    assert enclose(lambda x: round(x, 1), Interval(1.23, 1.44)).high < 1.41


def test_sequences():
    given = [Interval(1, 2), Interval(3, 4)]
    found = enclose(
        lambda xs: (min(xs), max(xs), min(1.5, *xs), sum(xs), math.fsum(xs), math.prod(xs)), given
    )
    wanted = [(1, 2), (3, 4), (1, 1.5), (4, 6), (4, 6), (3, 8)]
    assert [(x.low, x.high) for x in found] == wanted
    assert enclose(lambda xs: math.dist(xs, [1.0, 1.0]), given).high >= math.sqrt(10)


def test_functions_of_several_numbers():
    x = Interval(7.5, 8.5)
    for program in (
        lambda x: math.log(x, 2),
        lambda x: math.log(x, 2.5) + math.log(100, x),
        lambda x: math.hypot(x, 1.0, 2.0, x),
        lambda x: math.hypot(-x),
        lambda x: divmod(x, 3)[0],
        lambda x: divmod(10.0, x)[1],
        lambda x: math.modf(x)[0] + math.modf(x)[1],
        lambda x: math.ldexp(x, -3),
    ):
        found = enclose(program, x)
        assert all(program(point) in found for point in (7.5, 7.9, 8.0, 8.5))
        assert found.width < 6
    assert (
        Context(intervals)
        .jit(lambda x: math.log(x, 2))(x)
        .equals(enclose(lambda x: math.log(x, 2), x))
    )
    of_floats = enclose(lambda: math.log(8.1, 3))
    exact = mpmath.log(mpmath.mpf(8.1), 3)
    assert of_floats.low < exact < of_floats.high
    for name, args in (("sumprod", ([x, 1.0], [2.0, x])), ("fma", (x, x, 1.0))):
        if hasattr(math, name):
            assert enclose(getattr(math, name), *args).width < 20


def test_an_integer_that_is_not_decided_is_each_in_turn():
    def item(x):
        return [10.0, 20.0, 40.0][int(x)]

    with pytest.raises(Undecided, match=r"int\(\) gives different"):
        enclose(item, Interval(0.5, 1.5))
    assert enclose(item, Interval(0.5, 1.5), undecided="follow").equals(Interval(10, 20))
    assert enclose(item, Interval(0.0, 2.9), undecided="follow").equals(Interval(10, 40))
    with pytest.raises(Undecided, match="more than 500 integers"):
        enclose(item, Interval(0.0, 1e9), undecided="follow")


BY_PERCENT = "%.1f"


@pytest.mark.parametrize("text", [lambda x: f"{x:.1f}", str, lambda x: BY_PERCENT % x])
def test_the_text_of_an_interval_is_that_of_its_numbers_or_not_decided(text):
    def is_half(x):
        return 1.0 if text(x) == "0.5" else 2.0

    assert is_half(0.5) == 1.0
    assert enclose(is_half, Interval(0.5)).equals(Interval(1.0))
    assert enclose(is_half, Interval(0.7)).equals(Interval(2.0))
    with pytest.raises(Undecided, match=r"which text numbers in \[0\.4, 0\.6\] have"):
        enclose(is_half, Interval(0.4, 0.6))
    assert enclose(lambda x: BY_PERCENT % 3, Interval(1, 2)) == "3.0"


def test_intervals_are_printed_as_they_are(capsys):
    enclose(lambda x: print("here", x, 2.0, sep=": "), Interval(1, 2))
    assert capsys.readouterr().out == "here: [1.0, 2.0]: 2.0\n"
    assert f"{Interval(1, 2):.2f} {Interval(3)}" == "[1.00, 2.00] [3.0, 3.0]"


ARRAY_RULES = [f for r in RULES for f in r.spellings if isinstance(f, np.ufunc)]


@pytest.mark.parametrize("function", ARRAY_RULES, ids=lambda f: f.__name__)
def test_elementwise_functions_of_arrays(function):
    one = np.array([[Interval(1.25, 1.5)], [Interval(1.75, 2.0)]])
    if function in (np.arcsin, np.arccos, np.arctanh):
        one = one / 4
    args = (one,) if function.nin == 1 else (one, np.array([Interval(2, 2.5), 3.0]))
    points = (Interval(1.25, 1.5) if function.nin == 2 else one[0, 0], Interval(2, 2.5))
    found = enclose(function, *args)
    assert found.shape == ((2, 1) if function.nin == 1 else (2, 2))
    assert found[0, 0].equals(enclose(function, *points[: function.nin]))


def test_whole_arrays():
    given = np.array([Interval(1, 2), Interval(3, 4)])
    assert enclose(lambda a: np.clip(a, 1.5, 3.5), given)[0].equals(Interval(1.5, 2))
    assert enclose(lambda a: np.round(a * 1.01, 1), given)[1].within(Interval(2.99, 4.11))
    assert enclose(np.isnan, given).tolist() == [False, False]
    for function in (np.var, np.std):
        for ddof in (0, 1):
            found = enclose(lambda a, f=function, d=ddof: f(a, ddof=d), given)
            assert found.low >= 0
            for point in ([1.0, 3.0], [2.0, 3.0], [1.0, 4.0]):
                assert function(np.array(point), ddof=ddof) in found
    assert enclose(lambda: np.var(np.array([1.0, 2.0]))).equals(Interval(0.25))


def test_arrays_hold_intervals_as_objects():
    given = np.array([Interval(1, 2), Interval(3, 4)])
    assert given.dtype == object

    def program(a):
        b = np.zeros(2)
        for i in range(2):
            b[i] = np.sqrt(a[i]) + 1
        return np.sum(a * b) + np.max(a) + np.exp(np.array([a[0], 1.0]))[1] + a @ a

    found = enclose(program, given)
    for point in (np.array([1.0, 3.0]), np.array([2.0, 4.0]), np.array([1.5, 3.2])):
        assert program(point) in found
    assert enclose(np.sum, given).equals(Interval(4, 6))
    assert enclose(lambda a: operator.mul(a, 2.0), given)[1].equals(Interval(6, 8))
    with pytest.raises(Undecided):
        enclose(lambda a: np.array([a[0]], dtype=float), given)


KINDS = (
    *(np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64),
    *(np.longlong, np.float16, np.float32, np.float64, np.longdouble),
)
OPERATORS = (
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod),
    *(operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne, operator.pow),
    *(np.add, np.multiply, np.less),
)


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_of_numpy_on_either_side_of_an_operator(kind):
    number = kind(1)
    for function in OPERATORS:
        for f in (lambda x, f=function: f(number, x), lambda x, f=function: f(x, number)):
            for run in (f, lambda x, f=f: enclose(f, x)):
                found, plain = run(Interval(3, 3.125)), f(3.0625)
                assert found == plain if isinstance(plain, np.bool_ | bool) else plain in found
                assert np.shape(found) == np.shape(plain) or isinstance(found, Interval)
    third = np.longdouble(1) / 3
    exact = Fraction(*third.as_integer_ratio())
    for f in (lambda x: third * x, lambda x: x * third, lambda x: np.multiply(third, x)):
        assert exact in enclose(f, Interval(1))


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x + 1j * x,
        lambda x: abs(1j + x),
        lambda x: x * np.complex64(1j),
        lambda x: np.complex128(1j) * x,
        lambda x: x == 1 + 0j,
        lambda x: np.array([1j]) * x,
    ],
)
def test_complex_numbers_are_refused_with_a_remedy(f):
    for run in (f, lambda x: enclose(f, x)):
        with pytest.raises(Undecided, match="no intervals of complex numbers") as refused:
            run(Interval(1, 2))
        assert "math.hypot" in str(refused.value)


class Third:
    parts = 3

    def __float__(self):
        return 1 / self.parts


@pytest.mark.parametrize(
    "f",
    [
        lambda x: float(Fraction(1, 3)) * x,
        lambda x: Fraction(1, 3) * x,
        lambda x: x * Fraction(1, 3),
        lambda x: float(Third()) * x,
        lambda x: math.exp(Fraction(1, 3)) * x / math.exp(Fraction(1, 3)) / 3,
    ],
)
def test_objects_that_are_converted_to_floats(f):
    found = enclose(f, Interval(1))
    assert found.low < Fraction(1, 3) < found.high
    assert found.width < 1e-14
    assert enclose(lambda x: x < Fraction(7, 2), Interval(1, 2))
    assert enclose(lambda x: float("0.5") + float(x), Interval(1)).equals(Interval(1.5))


def test_methods_and_functions_of_floats_that_intervals_have_or_are_refused_by_name():
    assert enclose(lambda x: np.sqrt(x).item(), Interval(1, 4)).equals(Interval(1, 2))
    assert not enclose(lambda x: np.isclose(x, 5.0), Interval(1, 2))
    assert not enclose(lambda x: np.isclose(5.0, x), Interval(1, 2))
    assert enclose(lambda x: np.isclose(x, x + 1, atol=9), Interval(1, 2))
    with pytest.raises(Undecided, match="is not decided"):
        enclose(lambda x: np.isclose(x, 1.5), Interval(1, 2))
    assert 1.3 in enclose(lambda x: np.percentile([x, 0.5], 80), Interval(1.4, 1.6))
    selected = enclose(lambda x: np.select([x > 3, x > 0], [x, x + 1]), Interval(1, 2))
    assert selected.item().equals(Interval(2, 3))
    for name in ("hex", "is_integer", "as_integer_ratio"):
        for f in (lambda x, n=name: getattr(float, n)(x), lambda x, n=name: getattr(x, n)()):
            with pytest.raises(Undecided, match=f"float.{name} of "):
                enclose(f, Interval(1, 2))
    assert enclose(lambda x: float.hex(0.5), Interval(1, 2)) == (0.5).hex()


@pytest.mark.parametrize("undecided", ["refuse", "follow"])
def test_an_error_that_code_in_c_makes_of_a_refusal_is_the_refusal(undecided):
    for f in (
        lambda x: np.fromiter((x, x), float)[0] if x > 1.5 else x,
        lambda x: np.array([1.0, 2.0]).__setitem__(0, x) if x > 1.5 else x,
    ):
        with pytest.raises(Undecided, match="code that takes a float"):
            enclose(f, Interval(1.75, 2), undecided=undecided)
        if undecided == "follow":
            with pytest.raises(Undecided, match="code that takes a float"):
                enclose(f, Interval(1, 2), undecided=undecided)


@pytest.mark.parametrize(
    ("target", "types"),
    [
        (operator.getitem, (dict, int)),
        (operator.mul, (str, int)),
        (operator.add, (str, str)),
        (operator.truediv, (str, str)),
        (isinstance, (str, str)),
    ],
)
def test_tables_that_do_not_concern_a_program_change_nothing(target, types):
    other = MethodTable("other")

    def method(a, b):
        return call_next(a, b)

    method.__annotations__ = dict(zip("ab", types, strict=True))
    other.overlay(target)(method)

    def program(x):
        made = np.zeros((2, 2), device=None) + np.full(shape=(2, 2), fill_value=x)
        made[0, 0] = np.eye(2, dtype=float)[0, 0] * x
        return made[0, 0] + np.var(a=np.array([x, x]), ddof=1) * 0

    box = Interval(1, 2)
    expected = enclose(program, box)
    assert Context(other)(lambda: enclose(program, box)).equals(expected)
    assert enclose(Context(other).wrap(program), box).equals(expected)
