"""Enclosures hold what the real functions give, as mpmath computes it with 60 digits."""

import math
import operator

import mpmath
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from overlay import sets as e
from overlay.catalogue import FUNCTIONS
from tests.examples import examples

INF = math.inf
LARGEST = 1.7976931348623157e308

ENCLOSURES = {**vars(e), **{row.name: row.enclosure for row in FUNCTIONS}}
IN_MPMATH = {
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "exp2": lambda x: mpmath.power(2, x),
    "lgamma": lambda x: mpmath.log(abs(mpmath.gamma(x))),
    "log2": lambda x: mpmath.log(x, 2),
}
"""What mpmath does not have under the name that it has in ``math``."""


def of_catalogue(arity):
    """What mpmath gives for the functions of the catalogue, by their names."""
    names = [row.name for row in FUNCTIONS if row.arity == arity]
    return {name: IN_MPMATH.get(name) or getattr(mpmath, name) for name in names}


unary = {
    **of_catalogue(1),
    "ceil": mpmath.ceil,
    "even_round": lambda x: mpmath.floor(x + 0.5) - (x % 2 == 0.5),
    "floor": mpmath.floor,
    "magnitude": abs,
    "negative": operator.neg,
    "reciprocal": lambda x: 1 / x,
    "root": mpmath.sqrt,
    "square": lambda x: x * x,
    "truncate": lambda x: mpmath.floor(x) if x >= 0 else mpmath.ceil(x),
}
binary = {
    **of_catalogue(2),
    "add": operator.add,
    "copysign": lambda x, y: abs(x) if y >= 0 else -abs(x),
    "divide": operator.truediv,
    "floor_divide": lambda x, y: mpmath.floor(x / y),
    "maximum": max,
    "minimum": min,
    "multiply": operator.mul,
    "power": mpmath.power,
    "remainder": lambda x, y: x - y * mpmath.floor(x / y),
    "subtract": operator.sub,
    "truncated_remainder": lambda x, y: mpmath.sign(x) * (abs(x) % abs(y)),
}
others = {
    *(
        "Bounds",
        "Enclosure",
        "EMPTY",
        "ENTIRE",
        "above",
        "below",
        "even",
        "falling",
        "growing",
        "hull",
    ),
    *("integer_power", "intersection", "is_empty", "of_integer", "scaled"),
    *("Bound", "Interval", "NotAnInterval", "NumberSet", "Piece", "number_set", "point"),
}
EDGES = (
    *(0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 5e-324, 1e-310, 1e-8, LARGEST, -LARGEST, 2.0**53),
    *(math.pi, math.pi / 2, 709.78, 709.8, 1e15, 1e16, 171.62, 26.6, 1.4616321449683623),
)
edges = st.sampled_from(EDGES)
moderate = st.floats(-40, 40)
numbers = st.one_of(moderate, edges, st.floats(allow_nan=False, allow_infinity=False))


@st.composite
def intervals(draw, inside=numbers):
    """An interval, and a number in it."""
    a, b = draw(inside), draw(inside)
    if draw(st.booleans()):
        b = a + abs(b) * draw(st.sampled_from([0.0, 1e-16, 1e-9, 0.1]))
        b = b if math.isfinite(b) else a
    low, high = min(a, b), max(a, b)
    part = draw(st.sampled_from([0.0, 0.25, 0.5, 1.0]))
    point = min(max(low + part * (high - low), low), high)
    point = point if math.isfinite(point) else low
    ends = draw(st.sampled_from([(low, high), (low, high), (low, INF), (-INF, high)]))
    return ends, point


def real(function, *points):
    """What a function of real numbers gives; None where it gives nothing, or mpmath cannot."""
    exact = [mpmath.mpf(point) for point in points]
    if function in (unary["gamma"], unary["lgamma"]) and not 1e-4 < points[0] < 1e4:
        return None
    if function is unary["erfc"] and points[0] > 1e3:
        return None
    large = function in (unary["sin"], unary["cos"], unary["tan"])
    try:
        with mpmath.workdps(400 if large else 60):
            found = function(*exact)
    except (ValueError, ZeroDivisionError, OverflowError):
        return None
    return found if isinstance(found, mpmath.mpf) and mpmath.isfinite(found) else None


def holds(bounds, found):
    return bounds[0] <= found <= bounds[1]


def test_every_enclosure_is_checked():
    assert {*unary, *binary, *others} == {*e.__all__, *(row.name for row in FUNCTIONS)}


@pytest.mark.parametrize("name", unary)
def test_an_enclosure_of_one_argument_holds_what_the_function_gives(name):
    tried = 0

    @settings(max_examples=60)  # all of them, since they are counted
    @given(intervals())
    @example(((1.0, 1.0), 1.0))
    @example(((0.1, 0.3), 0.2))
    @example(((1.0, 3.0), 1.5))
    def check(drawn):
        nonlocal tried
        ends, point = drawn
        found = real(unary[name], point)
        if found is not None:
            tried += 1
            assert holds(ENCLOSURES[name](ends), found), (ends, point, found)

    check()
    assert tried > 5


@pytest.mark.parametrize("name", binary)
def test_an_enclosure_of_two_arguments_holds_what_the_function_gives(name):
    tried = 0
    inside = moderate if name == "power" else numbers

    @settings(max_examples=120)
    @given(intervals(inside), intervals(inside))
    def check(one, other):
        nonlocal tried
        (a, x), (b, y) = one, other
        if "remainder" in name or name == "floor_divide":
            with mpmath.workdps(700):
                found = None if y == 0 else binary[name](mpmath.mpf(x), mpmath.mpf(y))
        else:
            found = real(binary[name], x, y)
        if found is not None:
            tried += 1
            assert holds(ENCLOSURES[name](a, b), found), (one, other, found)

    check()
    assert tried > 50


@settings(max_examples=examples(200))
@given(intervals(moderate), st.integers(-70, 70))
def test_powers_to_integers(drawn, n):
    ends, point = drawn
    if point != 0 or n >= 0:
        assert holds(e.integer_power(ends, n), mpmath.mpf(point) ** n)


@settings(max_examples=examples(100))
@given(st.integers())
def test_integers_of_any_size(n):
    low, high = e.of_integer(n)
    assert low <= n <= high
    assert (low == high) or abs(n) > 2**53


@settings(max_examples=examples(300))
@given(st.integers(-(2**24), 2**24), st.integers(-(2**24), 2**24))
def test_what_floats_hold_is_exact(a, b):
    a, b = a / 8, b / 4
    assert e.add((a, a), (b, b)) == (a + b, a + b)
    assert e.multiply((a, a), (b, b)) == (a * b, a * b)
    assert e.root((a * a, a * a)) == (abs(a), abs(a))
    if b:
        assert e.divide((a * b, a * b), (b, b)) == (a, a)


@settings(max_examples=examples(300))
@given(numbers, numbers)
def test_operations_are_rounded_to_neighbours(a, b):
    for name in ("add", "subtract", "multiply", "divide"):
        exact = real(binary[name], a, b)
        if exact is not None and (exact == 0 or abs(exact) > 1e-300):
            low, high = ENCLOSURES[name]((a, a), (b, b))
            assert low <= exact <= high
            assert math.nextafter(math.nextafter(low, INF), INF) >= high
            assert (low == high) <= (low == exact)


def test_wide_and_empty_intervals():
    assert e.divide((1.0, 2.0), (-1.0, 1.0)) == e.ENTIRE
    assert e.divide((1.0, 2.0), (0.0, 4.0)) == (0.25, INF)
    assert e.divide((1.0, 2.0), (-4.0, 0.0)) == (-INF, -0.25)
    assert e.is_empty(e.divide((1.0, 2.0), (0.0, 0.0)))
    assert e.sin((-1e300, 1e300)) == e.sin((0.0, 7.0)) == e.cos((-INF, INF)) == (-1.0, 1.0)
    assert e.sin((1.0, 2.0))[1] == 1.0 > e.sin((1.0, 1.5))[1]
    assert e.tan((1.0, 2.0)) == e.ENTIRE
    assert ENCLOSURES["exp"]((1000.0, 1000.0)) == (ENCLOSURES["exp"]((709.7, 709.7))[0], INF)
    assert e.is_empty(ENCLOSURES["log"]((-2.0, -1.0)))
    for name in {*unary, *binary}:
        given = [e.EMPTY] * (1 if name in unary else 2)
        assert e.is_empty(ENCLOSURES[name](*given)), name
    assert e.hull(e.EMPTY, (1.0, 2.0)) == e.hull((1.0, 2.0), e.EMPTY) == (1.0, 2.0)
    assert e.intersection((1.0, 3.0), (2.0, 5.0)) == (2.0, 3.0)
    assert e.is_empty(e.intersection((1.0, 2.0), (3.0, 4.0)))
