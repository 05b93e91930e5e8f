"""Every way of calling something reaches the overlays of a context in compiled code."""

import functools
import math
import operator
import threading
from collections import namedtuple
from math import cos as imported_cos

import numba
import numpy as np
import pytest
from numba import literal_unroll, njit
from numba.experimental import jitclass

from overlay import Context, MethodTable, NotCompilable, call_next, current_context

table = MethodTable("calls")


@table.overlay(math.sin)
def sin(x: float) -> float:
    return x + 100.0


@table.overlay(math.cos)
@njit
def cos(x: float) -> float:
    return x + 200.0


@table.overlay(np.exp)
def exp(x: float) -> float:
    return x + 300.0


@table.overlay(np.sum)
def total(x: np.ndarray) -> float:
    return 400.0


@table.overlay(np.ndarray.mean)
def mean(x: np.ndarray) -> float:
    return call_next(x) + 500.0


@table.overlay(len)
def length(x: tuple) -> int:
    return 600


@table.overlay(bool)
def truth(x: float) -> bool:
    return False


context = Context(table)


def both(function, *args):
    """What a function gives under the context, the same in both engines."""
    compiled = context.jit(function)(*args)
    assert compiled == context(function, *args)
    return compiled


def helper(x):
    return math.sin(x)


def helper_of_helper(x):
    return helper(x) + 1


@njit
def njit_helper(x):
    return math.sin(x) + helper_of_helper(x)


@njit(inline="always")
def inlined(x):
    return math.sin(x)


def test_builtins_functions_and_helpers_are_reached():
    offset = math.sin

    def program(x):
        return (
            math.sin(x),
            imported_cos(x),
            np.exp(x),
            len((x, x)),
            helper(x),
            helper_of_helper(x),
            njit_helper(x),
            inlined(x),
            offset(x),
        )

    assert both(program, 1.0) == (101.0, 201.0, 301.0, 600, 101.0, 102.0, 203.0, 101.0, 101.0)


def test_types_that_no_method_accepts_fall_through_to_numba():
    def program(n):
        return math.sin(n), len("abc"), np.exp(n)

    assert both(program, 2) == (math.sin(2), 3, np.exp(2))


def test_array_functions_and_methods_of_arrays_are_reached():
    def program(a):
        return np.sum(a), a.mean(), a.sum()

    assert both(program, np.ones(3)) == (400.0, 501.0, 3.0)


def test_functions_given_as_arguments_are_reached():
    def apply(function, x):
        return function(x)

    def program(x):
        return (
            apply(math.sin, x),
            apply(helper, x),
            apply(njit_helper, x),
            apply(lambda y: math.sin(y) + 1, x),
            apply(math.tan, x),
        )

    assert both(program, 1.0) == (101.0, 101.0, 203.0, 102.0, math.tan(1.0))
    assert context.jit(apply)(njit_helper, 1.0) == 203.0


def test_a_function_given_to_a_numba_implementation_is_reached():
    def by_sine(x):
        return -math.sin(x)

    def program(x):
        values = [x, x + 2, x + 1]
        values.sort(key=by_sine)
        return values[0]

    assert both(program, 1.0) == 3.0


@pytest.mark.filterwarnings("ignore:First-class function type")
def test_a_function_chosen_when_the_program_runs_is_reached():
    @njit
    def one(x):
        return math.sin(x)

    @njit
    def two(x):
        return math.sin(x) + 1

    def of_bodies(x, which):
        chosen = one if which else two
        return chosen(x)

    def of_targets(x, which):
        chosen = math.sin if which else factorial
        return chosen(x)

    assert (both(of_bodies, 1.0, True), both(of_bodies, 1.0, False)) == (101.0, 102.0)
    assert (both(of_targets, 1.0, True), both(of_targets, 1.0, False)) == (101.0, -1.0)


def test_closures_comprehensions_and_generators_are_reached():
    def numbers(k):
        for i in range(k):
            yield math.sin(i * 1.0)

    def of_generator(n):
        collected = 0.0
        for number in numbers(n):
            collected += number
        return collected

    def of_closures(n):
        scale = 2.0

        def scaled(x):
            return math.sin(x) * scale

        listed = [scaled(i * 1.0) for i in range(n)]
        filled = np.array([math.sin(i * 1.0) for i in range(n)])
        return listed[1], filled[1]

    assert both(of_generator, 2) == 201.0
    assert both(of_closures, 2) == (202.0, 101.0)


def factorial(n):
    return 1 if n < 2 else n * factorial(n - 1)


def is_even(n):
    return True if n == 0 else is_odd(n - 1)


def is_odd(n):
    return False if n == 0 else is_even(n - 1)


@table.overlay(factorial)
def factorial_of_float(n: float) -> float:
    return -n


@table.overlay(is_odd)
def is_odd_float(n: float) -> bool:
    return True


def test_recursion_through_a_target_reaches_its_own_body():
    def program(n):
        return factorial(n), factorial(0.5), is_even(n), is_odd(1.5)

    assert both(program, 5) == (120, -0.5, False, True)
    assert both(factorial, 5) == 120


def test_a_target_compiled_itself_is_dispatched():
    assert context.jit(factorial)(2.5) == context(factorial, 2.5) == -2.5
    assert context.jit(math.sin)(1.0) == 101.0


def scaled(x, by=2, plus=3):
    return x * by + plus


def named(x, *, scale=2):
    return x * scale


@table.overlay(scaled)
def scaled_int(x: int, factor: int = 10, shift: int = 20) -> int:
    return -(x * factor + shift)


@table.overlay(named)
def named_int(x: int, *, scale: int = 7) -> int:
    return -x * scale


def test_keywords_and_positions_reach_the_same_method():
    def program(x):
        return scaled(x, 5), scaled(x, by=5), scaled(by=5, x=x), scaled(x, plus=9), scaled(x)

    assert both(program, 2) == (-30, -30, -30, -13, -40)
    assert both(program, 2.0) == (13.0, 13.0, 13.0, 13.0, 7.0)


def test_keyword_only_parameters_are_reached():
    def program(x):
        return named(x), named(x, scale=3), named(x * 1.0), named(x * 1.0, scale=3)

    assert both(program, 2) == (-14, -6, 4.0, 6.0)


def spaced(x, *, gap=1, mark=None):
    return 100.0


spacing = MethodTable("keywords")


@spacing.overlay(spaced)
def spaced_by_float(x: float, *, gap: float = 0.5, mark=None) -> float:
    return x + gap


@spacing.overlay(spaced)
def spaced_by_int(x: float, *, gap: int, mark=None) -> float:
    return x - gap


def test_annotations_of_keyword_only_parameters_choose_the_method():
    keywords = Context(spacing)
    cases = [
        (lambda x: spaced(x, gap=0.25), 1.25),
        (lambda x: spaced(x, gap=2), -1.0),
        (lambda x: spaced(x, gap=2, mark=3), -1.0),
        (lambda x: spaced(x), 1.5),
        (lambda x: spaced(x, gap=None), 100.0),
        (lambda x: spaced(2, gap=0.25), 100.0),
    ]
    assert len(spacing.find(spaced)) == 2
    for function, expected in cases:
        assert keywords(function, 1.0) == keywords.jit(function)(1.0) == expected


def test_starred_arguments_are_dispatched_by_their_types():
    def program(x):
        pair = (x, 5)
        return scaled(*pair), math.sin(*(1.0,))

    assert both(program, 2) == (-30, 101.0)


def test_what_an_instruction_does_is_not_a_call_of_the_builtin():
    def program(x):
        called = bool(x)
        return (1, called) if x else (2, called)

    assert both(program, 1.0) == (1, False)


def test_a_partial_is_compiled_as_its_function():
    hot = context.jit(functools.partial(math.sin))
    assert hot(1.0) == context(functools.partial(math.sin), 1.0)


@pytest.mark.parametrize("thing", [operator.attrgetter("x"), threading.Event, context])
def test_what_is_no_function_is_named_when_it_is_to_be_compiled(thing):
    with pytest.raises(NotCompilable, match="cannot compile") as caught:
        context.jit(thing)(1.0)
    assert type(thing).__qualname__ in caught.value.asked
    assert "test_calls.py" in caught.value.where


instructions = MethodTable("instructions")


@instructions.overlay(list.append)
def append(items: list, x: float):
    return call_next(items, x + 1.0)


@instructions.overlay(list.extend)
def extend(items: list, others: list):
    return call_next(items, [10.0])


@instructions.overlay(range)
def one_more(n: int):
    return call_next(n + 1)


@instructions.overlay(len)
def seven(items: tuple) -> int:
    return 7


def test_a_display_or_comprehension_is_no_call_of_a_method_of_lists():
    def program(x):
        items = [1.0]
        list_append = items.append
        list_append(x)
        items.extend([x])
        return [y * 2.0 for y in items], [*items, *items]

    expected = [2.0, 12.0, 20.0], [1.0, 6.0, 10.0] * 2
    context = Context(instructions)
    assert context.jit(program)(5.0) == context(program, 5.0) == expected


def test_a_loop_that_numba_unrolls_is_no_call_of_what_it_counts_with():
    def program():
        total = 0
        for _ in literal_unroll((1, 2.5, "text")):
            total += 10
        for _ in range(3):
            total += 100
        return total, len((1, 2))

    context = Context(instructions)
    assert context.jit(program)() == context(program) == (430, 7)


@pytest.mark.parametrize("cls", [Context, threading.Event])
def test_a_class_that_compiled_code_cannot_make_instances_of_is_named(cls):
    def program(x):
        return cls().x + math.sin(x)

    with pytest.raises(NotCompilable, match=f"an instance of {cls.__qualname__}"):
        context.jit(program)(1.0)


@jitclass([("x", numba.float64)])
class Point:
    def __init__(self, x):
        self.x = x

    def height(self):
        return math.sin(self.x)

    def scaled(self, by=2):
        return self.height() * by


Named = namedtuple("Named", "x y")


@table.overlay(math.tan)
def tan_of_point(p: Point) -> float:
    return p.height() + 1


@table.overlay(Point.scaled)
def scaled_by_text(p: Point, by: str) -> float:
    return p.scaled() + 1000


@table.overlay(math.tan)
def tan_of_named(p: Named) -> float:
    return p.x * 10


def test_methods_of_jitclasses_and_user_classes_are_reached():
    def program(p):
        return (
            p.height(),
            p.scaled(),
            p.scaled(3),
            p.scaled("x"),
            math.tan(p),
            math.tan(Named(p.x, 2)),
        )

    assert context.jit(program)(Point(1.0)) == (101.0, 202.0, 303.0, 1202.0, 102.0, 10.0)


class Plain:
    """A class that numba knows nothing of."""

    @staticmethod
    def height(x):
        return math.sin(x)

    def of_instance(self, by):
        return math.sin(self) + by


@table.overlay(Plain.height)
def height_of_int(x: int) -> float:
    return 700.0


def test_functions_of_classes_are_reached_and_are_targets():
    def program(x, n):
        return Plain.height(x), Plain.height(n), Plain.of_instance(x, 1.0)

    assert both(program, 1.0, 1) == (101.0, 700.0, 102.0)


def test_parallel_loops_are_reached():
    def program(a):
        s = 0.0
        for i in numba.prange(len(a)):
            s += helper(a[i]) + math.sin(a[i]) + math.tan(a[i])
        return s + np.sum(a) + np.prod(a)

    with numba.parallel_chunksize(1):
        compiled = context.jit(program, parallel=True)
    assert compiled(np.zeros(4)) == 4 * 200.0 + 400.0


def test_metadata_is_a_constant_of_the_compiled_code():
    def program(x):
        context = current_context()
        if context.metadata == "exact":
            return x
        return "a string, which numba could not unify with a number"

    def in_helper():
        return current_context().metadata

    def through_helper():
        return in_helper()

    exact = context.replace(metadata="exact")
    assert exact.jit(program)(1.0) == 1.0
    assert context.jit(program)(1.0).startswith("a string")
    assert context.replace(metadata=(1, 2)).jit(through_helper)() == (1, 2)


def test_options_hold_for_functions_that_bring_none():
    def divide(x, y):
        return x / y

    @njit(error_model="python")
    def divide_strictly(x, y):
        return x / y

    def program(x):
        return divide(1.0, x)

    def strict(x):
        return divide_strictly(1.0, x)

    assert context.jit(program, error_model="numpy")(0.0) == math.inf
    with pytest.raises(ZeroDivisionError):
        context.jit(strict, error_model="numpy")(0.0)


def test_entries_of_one_function_with_different_options_are_apart():
    def divide(x, a):
        for i in numba.prange(len(a)):
            a[i] = x / (i + 1)
        return a[0]

    parallel, plain = context.jit(divide, parallel=True), context.jit(divide)
    assert parallel(2.0, np.zeros(2)) == plain(2.0, np.zeros(2)) == 2.0
    codes = [next(iter(hot.overloads.values())) for hot in (parallel, plain)]
    assert "parfor" in codes[0].library.get_llvm_str()
    assert "parfor" not in codes[1].library.get_llvm_str()


def test_operators_in_parallel_loops_are_reached():
    table = MethodTable("operators")

    @table.overlay(operator.mul)
    def mul(x: float, y: float):
        return call_next(x, y) + 1000.0

    @table.overlay(operator.setitem)
    def setitem(a: np.ndarray, i: int, x: float):
        call_next(a, i, x + 0.25)

    def program(a):
        for i in numba.prange(len(a)):
            a[i] = a[i] * current_context().metadata
        return a

    hot = Context(table, metadata=2.0).jit(program, parallel=True)
    assert hot(np.ones(3)).tolist() == [1002.25] * 3


def test_code_that_reaches_no_method_is_the_code_of_plain_numba():
    def program(n):
        s = 0.0
        for i in range(n):
            s += math.exp(i * 1e-3) ** 2 / (1.0 + s)
        return s

    never = MethodTable("never")

    class Unused:
        pass

    for target in (math.exp, range, operator.add, operator.iadd, operator.mul, operator.pow):

        @never.overlay(target)
        def _(x: Unused, *rest: Unused):
            return 0.0

    plain, overlaid = njit(program), Context(never).jit(program)
    assert plain(100) == overlaid(100)
    codes = [next(iter(f.inspect_asm().values())) for f in (plain, overlaid)]
    plain_code, overlaid_code = (
        [line.split()[0] for line in code.splitlines() if line.startswith("\t")] for code in codes
    )
    assert plain_code == overlaid_code
