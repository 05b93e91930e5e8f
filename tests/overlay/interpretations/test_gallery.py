"""What people write with contexts, each as a short program; docs/gallery.md has the list."""

import collections
import colorsys
import dataclasses
import fractions
import functools
import math
import operator
import random
import statistics
import sys

import numpy as np

from overlay import (
    Context,
    MethodTable,
    Plugin,
    call_next,
    current_context,
    nonoverlay,
)
from overlay.core.target import describe
from overlay.interpretations.autodiff import derivative
from overlay.interpretations.precision import lowered, significance, single_precision
from tests.overlay.gallery_contexts import degrees

BELL = statistics.NormalDist(0.0, 1.0)


# ---- hooks -------------------------------------------------------------------------------------


class Hooks(Plugin):
    """Calls functions before and after each call of some callees."""

    def __init__(self, before=None, after=None, only=None):
        self.before, self.after, self.only = before, after, only

    def around(self, callee, run):
        if self.only is not None and callee not in self.only:
            return None

        def hooked(*args, **kwargs):
            if self.before is not None:
                self.before(callee, args)
            result = run(*args, **kwargs)
            if self.after is not None:
                self.after(callee, result)
            return result

        return hooked


def test_calls_are_logged_before_and_after():
    log = []
    hooks = Hooks(
        lambda callee, args: log.append(f"{describe(callee)}{args}"),
        lambda callee, result: log.append(f"{describe(callee)} gave {result}"),
    )
    Context(plugins=(hooks,))(colorsys.rgb_to_yiq, 1.0, 1.0, 0.0)
    Context(plugins=(hooks,))(statistics.median_low, [3, 1, 2])
    found = colorsys.rgb_to_yiq(1.0, 1.0, 0.0)
    assert log[:2] == ["rgb_to_yiq(1.0, 1.0, 0.0)", f"rgb_to_yiq gave {found}"]
    assert log[2] == "median_low([3, 1, 2],)"
    assert "sorted gave [1, 2, 3]" in log
    assert log[-1] == "median_low gave 2"


def test_calls_are_counted_by_the_types_of_their_arguments():
    table, counts = MethodTable("counting"), collections.Counter()

    @table.overlay(statistics._exact_ratio)
    def counted(x):
        counts[type(x)] += 1
        return call_next(x)

    assert Context(table)(statistics.mean, [1, 2.5, fractions.Fraction(1, 2), 4]) == 2.0
    assert counts == {int: 2, float: 1, fractions.Fraction: 1}


def test_every_number_that_a_call_gives_is_summed():
    found = []

    def keep(callee, result):
        if type(result) in (int, float):
            found.append(result)

    def program(x):
        return math.floor(half(x)) + math.sqrt(16)

    def half(x):
        return x / 2

    assert Context(plugins=(Hooks(after=keep),))(program, 5.0) == 6.0
    assert found == [2.5, 2, 4.0, 6.0]
    assert sum(found) == 14.5


def test_a_hook_is_configured_by_metadata():
    log = []

    def note(callee, args):
        if describe(callee) in current_context().metadata:
            log.append(args)

    context = Context(plugins=(Hooks(note),), metadata=("math.exp",))
    context(BELL.pdf, 0.5)
    assert log == [(-0.125,)]
    context.replace(metadata=())(BELL.pdf, 0.5)
    assert len(log) == 1


def test_a_tree_of_calls_by_a_new_plugin_for_each_level():
    lines = []

    class Level(Plugin):
        def __init__(self, depth):
            self.depth = self.cache_token = depth

        def enter(self, callee, types):
            return Level(self.depth + 1)

        def around(self, callee, run):
            def shown(*args, **kwargs):
                lines.append("  " * self.depth + callee.__name__)
                return run(*args, **kwargs)

            return shown

    def outer(x):
        return inner(x) + inner(2 * x)

    def inner(x):
        return math.sqrt(x)

    assert Context(plugins=(Level(0),))(outer, 4.0) == 2.0 + math.sqrt(8.0)
    assert lines == ["outer", "  inner", "    sqrt", "  inner", "    sqrt"]


def test_a_callback_is_threaded_through_every_call():
    def program(data):
        return statistics.mean(data) + 1.0

    def run_with(callback, f, *args):
        return Context(plugins=(Hooks(after=callback),))(f, *args)

    seen = []
    total = run_with(lambda callee, result: seen.append(describe(callee)), program, [1.0, 3.0])
    assert total == 3.0
    assert seen[-2] == "mean"
    assert seen.count("_exact_ratio") == 2


def test_hooks_run_in_an_exact_order():
    log = []

    def hooks(label):
        return Hooks(
            lambda callee, args: log.append(f"{label}> {callee.__name__}"),
            lambda callee, result: log.append(f"{label}< {callee.__name__}"),
            only=(outer, math.sqrt),
        )

    def outer(x):
        return math.sqrt(x)

    Context(plugins=(hooks("a"),))(Context(plugins=(hooks("b"),)), outer, 4.0)
    assert log == [
        *("b> outer", "a> outer", "b> sqrt", "a> sqrt"),
        *("a< sqrt", "b< sqrt", "a< outer", "b< outer"),
    ]


def test_calls_are_counted():
    count = collections.Counter()
    hooks = Hooks(lambda callee, args: count.update([describe(callee)]))

    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    assert Context(plugins=(hooks,))(fib, 10) == 55
    assert count.total() == 177


# ---- other meanings ----------------------------------------------------------------------------


def fast_sin(x: float):
    return x - x**3 / 6 + 0.0 * math.sin(x)


def get_sin():
    return math.sin


def waves(x):
    opaque = (math.sin, math.cos)[0]
    return math.sin(x) + get_sin()(x) + opaque(x)


def test_a_function_is_redirected_inside_a_library():
    table = MethodTable("flat")
    table.overlay(math.exp)(lambda x: 1.0)
    assert Context(table)(BELL.pdf, 2.0) == 1.0 / math.sqrt(math.tau)
    assert BELL.pdf(2.0) != 1.0 / math.sqrt(math.tau)


def test_fast_sin_stands_everywhere_but_inside_itself():
    table = MethodTable("fast")

    @table.overlay(math.sin)
    def fast(x: float):
        return nonoverlay(fast_sin)(x)

    context = Context(table)
    assert context(waves, 0.5) == context.jit(waves)(0.5) == 3 * fast_sin(0.5)
    assert fast_sin(0.5) != math.sin(0.5)


def test_products_become_sums():
    table = MethodTable("sums")

    @table.overlay(operator.mul)
    def mul(a, b):
        return a + b

    def product(xs):
        found = xs[0]
        for x in xs[1:]:
            found = found * x
        return found

    context = Context(table)
    assert context(product, [3, 4, 5]) == 12
    assert context(functools.reduce, operator.mul, [3, 4, 5]) == 12
    assert context.jit(product)(np.array([3.0, 4.0, 5.0])) == 12.0


def test_a_transform_of_a_transform():
    once, twice = MethodTable("once"), MethodTable("twice")

    @once.overlay(math.sin)
    def cosine(x: float):
        return math.cos(x)

    @twice.overlay(math.cos)
    def doubled(x: float):
        return 2 * call_next(x)

    def program(x):
        return math.sin(x)

    inner = Context(once).wrap(program)
    assert Context(twice)(inner, 0.0) == 2.0  # of what the inner one made of it
    assert (Context(once) | Context(twice))(program, 0.0) == 2.0
    assert Context(twice)(program, 0.0) == 0.0


def test_a_method_bails_out_of_a_subtree():
    table = MethodTable("off in summaries")
    table.overlay(math.sqrt)(lambda x: 0.0)

    @table.overlay(statistics.NormalDist.pdf)
    def pdf(self: statistics.NormalDist, x: float):
        return nonoverlay(statistics.NormalDist.pdf)(self, x)

    def program():
        return math.sqrt(2.0), BELL.pdf(0.5)

    assert Context(table)(program) == (0.0, BELL.pdf(0.5))


# ---- what code may look like -------------------------------------------------------------------


def test_a_redefinition_is_seen_by_contexts_that_are_there():
    table = MethodTable("table")

    def program():
        return math.sqrt(4.0)

    context, hot = Context(table), Context(table).jit(program)
    assert context(program) == hot() == 2.0
    for value in (10.0, 20.0):

        @table.overlay(math.sqrt)
        def sqrt(x: float, value=value):
            return value

        assert context(program) == hot() == value


def test_closures_comprehensions_and_generators():
    table = MethodTable("tens")

    @table.overlay(math.sqrt)
    def sqrt(x: float):
        return 10.0

    def program(scale):
        def scaled(x):
            return scale * math.sqrt(x)

        lists = [scaled(x) for x in (1.0, 2.0)]
        return lists, {x: math.sqrt(x) for x in (1.0,)}, sum(scaled(x) for x in (1.0, 4.0))

    assert Context(table)(program, 2.0) == ([20.0, 20.0], {1.0: 10.0}, 40.0)


def test_objects_that_are_called():
    class Scaled:
        def __init__(self, scale):
            self.scale = scale

        def __call__(self, x):
            return self.scale * math.sqrt(x)

    table, half = MethodTable("tens"), functools.partial(Scaled(0.5))
    table.overlay(math.sqrt)(lambda x: 10.0)
    assert Context(table)(lambda: (Scaled(2)(4.0), half(4.0))) == (20, 5.0)
    assert Context(table)(Scaled(3), 4.0) == 30.0


def test_a_context_of_another_module():
    assert math.isclose(degrees(lambda: math.sin(30.0)), 0.5)
    assert math.isclose(degrees.jit(lambda: math.sin(30.0))(), 0.5)


def test_contexts_that_do_nothing_run_the_code_as_it_is_three_deep():
    def numbers(n):
        while n:
            yield n
            n -= 1

    def kernel(n):
        total = 0
        for i in range(n):
            total += i * i % 7
        return total

    one, two, three = (Context(MethodTable(name)) for name in "abc")
    made = one(two, three, numbers, 3)
    assert made.__qualname__ == numbers.__qualname__
    assert list(made) == [3, 2, 1]
    assert one(two, three, lambda: sys._getframe().f_code.co_name) == "<lambda>"
    plain, nested = Context().jit(kernel), (one | two | three).jit(kernel)
    assert plain(9) == nested(9) == kernel(9)
    assert (plain.functions_compiled, nested.functions_compiled) == (1, 0)


# ---- control -----------------------------------------------------------------------------------


class Again(Exception):
    """Another alternative is to be tried."""


def outcomes(program):
    """Every result of a program for all that its ``random.choice`` may give."""
    table, results, paths = MethodTable("amb"), [], [()]
    path, taken = (), []

    @table.overlay(random.Random.choice)
    def choice(self, options):
        if len(taken) >= len(path):
            paths.extend((*taken, i) for i in reversed(range(1, len(options))))
        taken.append(path[len(taken)] if len(taken) < len(path) else 0)
        return options[taken[-1]]

    context = Context(table)
    while paths:
        path, taken = paths.pop(), []
        try:
            results.append(context(program))
        except Again:
            continue
    return results


def test_amb_tries_every_choice():
    def coins():
        return "".join(random.choice("HT") for _ in range(2))

    def triangle():
        a, b, c = (random.choice(range(1, 6)) for _ in "abc")
        if not (a < b and a * a + b * b == c * c):
            raise Again
        return a, b, c

    assert outcomes(coins) == ["HH", "HT", "TH", "TT"]
    assert outcomes(triangle) == [(3, 4, 5)]


def shift(function):
    """Give what a continuation is called with."""
    raise AssertionError


class Captured(Exception):
    """The rest of a program is to be a function."""


def reset(program, answers=()):
    """Run a program in which ``shift(f)`` calls f with the rest of the program, a function."""
    table, left = MethodTable("continuations"), list(answers)

    @table.overlay(shift)
    def resumed(function):
        if left:
            return left.pop(0)
        raise Captured(function)

    try:
        return Context(table)(program)
    except Captured as captured:
        (function,) = captured.args
    return function(lambda value: reset(program, (*answers, value)))


def test_continuations_are_called_any_number_of_times():
    assert reset(lambda: 1 + shift(lambda rest: rest(1) * rest(10))) == 22
    assert reset(
        lambda: statistics.mean([shift(lambda k: k(2)), shift(lambda k: [k(4), k(6)])])
    ) == [*(3, 4)]
    assert reset(lambda: 1 + shift(lambda rest: "left")) == "left"


# ---- numbers -----------------------------------------------------------------------------------


@dataclasses.dataclass
class Point:
    x: float
    y: float


def test_values_are_followed_through_objects_arrays_closures_and_branches():
    def program(t):
        point = Point(t * t, 3.0)
        numbers = [point.x, point.y, t]
        held = {"sum": sum(numbers)}

        def add(other):
            return held["sum"] + other

        return add(numbers[2]) if t > 0 else 0.0

    assert derivative(program)(2.0) == 2 * 2.0 + 2


def test_stochastic_arithmetic_and_mixed_precision():
    def near(x):
        return 1.0 - BELL.cdf(x)

    assert significance(near, 8.0).digits < 3 < 15 < significance(BELL.pdf, 8.0).digits
    mixed = lowered(statistics.NormalDist.pdf)

    def program(x):
        return BELL.pdf(x) + 0.1

    assert mixed(program, 0.5) == single_precision(BELL.pdf, 0.5) + 0.1 != program(0.5)
