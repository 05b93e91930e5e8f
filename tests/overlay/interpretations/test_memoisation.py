import datetime
import decimal
import difflib
import fractions
import functools
import gc
import math
import statistics

import numpy as np
import pytest

from overlay import Context, MethodTable, NotCompilable, OverlayError, call_next
from overlay.interpretations.autodiff import derivative
from overlay.interpretations.intervals import Interval, enclose
from overlay.interpretations.memoisation import memoised
from overlay.interpretations.mocks import Mocks


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def test_a_function_runs_once_for_each_argument():
    memo = memoised(fib)
    assert memo(fib, 80) == 23416728348467685
    assert (memo.misses, memo.hits, len(memo)) == (81, 78, 81)
    assert memo.wrap(fib)(n=80) == 23416728348467685
    assert (memo.misses, memo.hits) == (81, 79)
    memo.clear()
    assert len(memo) == 0


def test_a_function_of_a_library_is_memoised_where_the_library_calls_it():
    memo = memoised(statistics._exact_ratio)
    data = [0.5, 1.5] * 50
    assert memo(statistics.mean, data) == statistics.mean(data)
    assert (memo.misses, memo.hits) == (2, 98)


def test_methods_are_memoised_by_their_object():
    memo = memoised(difflib.SequenceMatcher.ratio)
    near = difflib.SequenceMatcher(None, "abcd", "bcde")
    other = difflib.SequenceMatcher(None, "abcd", "abcd")
    assert memo(lambda: [near.ratio(), near.ratio(), other.ratio()]) == [0.75, 0.75, 1.0]
    assert (memo.misses, memo.hits) == (2, 1)


def test_types_and_signs_are_told_apart():
    memo = memoised(math.copysign, fractions.Fraction.__new__)

    def program():
        return [math.copysign(1, x) for x in (0.0, -0.0, 0, False, 0.0)]

    assert memo(program) == [1.0, -1.0, 1.0, 1.0, 1.0]
    assert (memo.misses, memo.hits) == (4, 1)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (decimal.Decimal("1.0"), decimal.Decimal("1.00")),
        (np.float64(0.0), np.float64(-0.0)),
        (np.float32(0.0), np.float32(-0.0)),
        (
            datetime.datetime(2020, 1, 1, 12, tzinfo=datetime.UTC),
            datetime.datetime(
                2020, 1, 1, 13, tzinfo=datetime.timezone(datetime.timedelta(hours=1))
            ),
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_values_that_are_equal_and_written_otherwise_are_told_apart(one, other):
    memo = memoised(str.format)
    assert one == other
    for value in (one, other, one):
        assert memo(lambda v: str.format("{}", v), value) == str(value)
    assert (memo.misses, memo.hits) == (2, 1)


def test_numbers_of_other_interpretations():
    bell = statistics.NormalDist()
    memo = memoised(statistics.NormalDist.pdf)
    slope = derivative(bell.pdf)(0.5)
    assert derivative(lambda x: memo(bell.pdf, x))(0.5) == slope
    assert derivative(lambda x: memo(bell.pdf, x))(0.5) == slope
    assert memo.hits == 1
    box = Interval(0.5, 0.6)
    assert enclose(lambda x: memo(bell.pdf, x), box).equals(enclose(bell.pdf, box))


def test_the_last_results_are_kept_where_there_is_a_limit():
    memo = memoised(math.factorial, limit=2)
    memo(lambda: [math.factorial(n) for n in (1, 2, 1, 3, 1, 2)])
    assert (memo.misses, memo.hits, len(memo)) == (4, 2, 2)


def test_an_exception_is_not_kept():
    memo = memoised(math.sqrt)
    for _ in range(2):
        with pytest.raises(ValueError, match=r"domain|nonnegative"):
            memo(math.sqrt, -1.0)
    assert (memo.misses, len(memo)) == (2, 0)


def test_what_lies_below_is_what_is_memoised():
    table = MethodTable("plus one")

    @table.overlay(math.sqrt)
    def sqrt(x: float):
        return call_next(x) + 1

    memo = memoised(math.sqrt)
    assert (Context(table) | memo.context)(lambda: math.sqrt(4.0) + math.sqrt(4.0)) == 6.0
    assert (memo.misses, memo.hits) == (1, 1)


def test_arguments_that_cannot_be_hashed_are_refused():
    with pytest.raises(OverlayError, match="cannot memoise mean: an argument cannot be hashed"):
        memoised(statistics.mean)(statistics.mean, [1, 2])


def generated(x):
    yield x


async def awaited(x):
    return x


async def generated_later(x):
    yield x


class Yielding:
    def each(self, x):
        yield x


LAZY = {"generator": generated, "coroutine": awaited, "asynchronous": generated_later}
LAZY |= {"method": Yielding.each, "partial": functools.partial(generated, 1)}


@pytest.mark.parametrize("function", LAZY.values(), ids=LAZY)
def test_generator_functions_and_coroutine_functions_are_refused(function):
    with pytest.raises(OverlayError, match=r"function, whose results .*\n.*help: "):
        memoised(function)


def passed_on(f):
    def call(*args):
        return f(*args)

    return call


USED_UP = {
    "a generator": passed_on(generated),
    "a coroutine": passed_on(awaited),
    "an asynchronous iterator": passed_on(generated_later),
    "an iterator": passed_on(lambda x: zip([x], [x], strict=True)),
}


@pytest.mark.filterwarnings("ignore:coroutine")
@pytest.mark.parametrize("kind", USED_UP)
def test_results_that_are_used_up_are_refused(kind):
    function = USED_UP[kind]
    memo = memoised(function)
    with pytest.raises(OverlayError, match=f"its result is {kind}, which its first use"):
        memo(lambda: (function(1), function(1)))
    assert len(memo) == 0
    assert memoised(math.sqrt, iter)(lambda: math.sqrt(4.0)) == 2.0
    with pytest.raises(OverlayError, match="its result is an iterator"):
        memoised(iter)(lambda: iter((1,)))


def test_compilation_is_refused():
    with pytest.raises(NotCompilable, match="run the program interpreted"):
        memoised(fib).context.jit(fib)(10)


def _overlaid():
    table = MethodTable("ten")

    @table.overlay(math.sin)
    def sin(x: float):
        return 10.0

    return Context(table), lambda: table.remove(math.sin)


def _mocked():
    mocks = Mocks()
    mocks.replace(math.sin, return_value=10.0)
    return mocks.context, lambda: mocks.restore(math.sin)


@pytest.mark.parametrize("made", [_overlaid, _mocked])
@pytest.mark.parametrize("outside_first", [True, False])
@pytest.mark.parametrize("is_inner", [True, False], ids=["memo outside", "memo inside"])
def test_a_result_does_not_leave_the_contexts_that_it_was_made_in(made, outside_first, is_inner):
    def f(x):
        return math.sin(x)

    memo = memoised(f)
    ctx, remove = made()

    def inside():
        return memo(ctx.wrap(f), 0.5) if is_inner else ctx(memo, f, 0.5)

    def outside():
        return memo(f, 0.5)

    expected = {inside: 10.0, outside: math.sin(0.5)}
    first, second = (outside, inside) if outside_first else (inside, outside)
    for run in (first, second, first, second):
        assert run() == expected[run]
    assert (memo.misses, memo.hits) == (2, 2)
    remove()
    assert inside() == outside() == math.sin(0.5)


def test_a_block_that_is_left():
    def f(x):
        return math.sin(x)

    memo = memoised(f)
    ctx, _ = _overlaid()
    with memo.context:
        with ctx:
            assert f(0.5) == 10.0
        assert f(0.5) == math.sin(0.5)


def test_results_are_dropped_with_their_context():
    memo = memoised(math.factorial)
    for n in range(5):
        (Context(MethodTable("t")) | memo.context)(math.factorial, n)
        _overlaid()[0](memo, math.factorial, n)
    gc.collect()
    assert len(memo) == 0
