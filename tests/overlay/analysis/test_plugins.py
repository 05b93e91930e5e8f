"""Analyses that plugins have the compiler make, and what they do with them."""

from __future__ import annotations

import math
import operator
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numba import njit

from overlay import Context, MethodTable, Plugin, call_next
from overlay.analysis import Domain, Intervals, Run, floats, integers, prove, sites
from overlay.core.errors import OverlayError

INTERVALS = Intervals()


@njit(error_model="numpy")
def divided(x, y):
    return x / y


@njit(error_model="numpy")
def floor_divided(x, y):
    return x // y


@njit(boundscheck=False)
def item(a, i):
    return a[i]


UNCHECKED = {
    operator.truediv: divided,
    operator.floordiv: floor_divided,
    operator.getitem: item,
}


class Unchecked(Plugin):
    """Takes the checks out of divisions and indices that are proved to need none."""

    def __init__(self) -> None:
        self.removed = []
        self.left = []

    def enter(self, callee, types):
        return None if callee in UNCHECKED.values() else self

    def interpreter(self, current):
        return current if isinstance(current, Intervals) else INTERVALS

    def after_inference(self, ir):
        for call in ir.calls(*UNCHECKED):
            step = ir.analysed(call)
            if step is not None and all(site.proved for site in sites(step)):
                ir.replace(call, UNCHECKED[call.target], *call.args)
                self.removed.append((ir.name, call.target))
            else:
                self.left.append((ir.name, call.target))


class Reports(Plugin):
    """Hears of each function that is analysed."""

    def __init__(self, domain: Any = INTERVALS) -> None:
        self.domain = domain
        self.runs: list[Run] = []

    def interpreter(self, current):
        return self.domain

    def analysed(self, run):
        self.runs.append(run)

    @property
    def proved(self):
        return [(run.function.__name__, [s.proved for s in found]) for run, found in self.found]

    @property
    def found(self):
        return [(run, [s for step in run.steps for s in sites(step)]) for run in self.runs]


def raises(dispatcher: Any) -> bool:
    """Whether machine code has a way out by an error: a status other than 0."""
    (text,) = dispatcher.inspect_llvm().values()
    return "ret i32 1" in text or "[ 1, " in text


# ---- checks that are not needed ----------------------------------------------------------------


def half_or_less(x):
    return 1.0 / (abs(x) + 2.0)


def reciprocal(x):
    return 1.0 / x


def test_a_check_for_zero_is_removed_where_it_is_proved_unnecessary():
    plugin = Unchecked()
    hot = Context(plugins=(plugin,)).jit(half_or_less)
    assert hot(2.0) == half_or_less(2.0)
    assert plugin.removed == [("half_or_less", operator.truediv)]
    plain = Context().jit(half_or_less)
    plain(2.0)
    assert raises(plain)
    assert not raises(hot)


def test_a_check_that_may_be_needed_stays():
    plugin = Unchecked()
    hot = Context(plugins=(plugin,)).jit(reciprocal)
    assert hot(2.0) == 0.5
    assert plugin.left == [("reciprocal", operator.truediv)]
    with pytest.raises(ZeroDivisionError):
        hot(0.0)


def total(values, far):
    found = 0.0
    for i in range(len(values)):
        found += values[i]
    return found + values[far]


def test_a_check_of_bounds_is_removed_where_it_is_proved_unnecessary():
    plugin = Unchecked()
    hot = Context(plugins=(plugin,)).jit(total, boundscheck=True)
    assert hot(np.arange(4.0), 3) == 9.0
    assert plugin.removed == [("total", operator.getitem)]
    assert plugin.left == [("total", operator.getitem)]
    with pytest.raises(IndexError):
        hot(np.arange(4.0), 4)


def quarter(n):
    return 100 // (4 * n) if n > 0 else 0


def test_integers_wrap_around_in_compiled_code():
    assert prove(quarter, integers()).proved
    plugin = Unchecked()
    hot = Context(plugins=(plugin,)).jit(quarter)
    assert hot(5) == 5
    assert plugin.left == [("quarter", operator.floordiv)]


def larger(x):
    return x - 1.0 if x > 3.0 else 2.0


def one_if(n):
    return 1 if n else 0


@pytest.mark.parametrize(
    ("function", "argument", "removed"),
    [
        (lambda n: 7 // max(n, 1), 0, 1),
        (lambda n: 7 // (n % 5 + 1), 9, 1),
        (lambda n: 7 // (n - 5), 9, 0),
        (lambda x: 7 // int(math.sqrt(x)), 4.0, 0),
        (lambda x: 1.0 / larger(x), 4.0, 1),
        (lambda n: 7 // one_if(n), 9, 0),
    ],
)
def test_what_is_removed(function, argument, removed):
    plugin = Unchecked()
    assert Context(plugins=(plugin,)).jit(function)(argument) == function(argument)
    assert len(plugin.removed) == removed


def divides_in_try(n):
    found = 1
    try:
        found = 0
        found = 10 // n
    except Exception:
        return 5 // found if found else -1
    return found


def test_functions_that_handle_exceptions_are_not_analysed():
    plugin = Unchecked()
    hot = Context(plugins=(plugin,)).jit(divides_in_try)
    assert [hot(5), hot(0)] == [2, -1]
    assert plugin.removed == []
    assert plugin.left


# ---- what is known of what is called -----------------------------------------------------------


def at_least_two(x):
    return max(x, 2)


def by_helper(x):
    return 10 // at_least_two(x)


def test_what_a_function_gives_is_known_by_its_code():
    plugin = Unchecked()
    assert Context(plugins=(plugin,)).jit(by_helper)(1) == 5
    assert ("by_helper", operator.floordiv) in plugin.removed


def test_a_method_of_the_context_is_what_is_analysed():
    table = MethodTable("table")

    @table.overlay(at_least_two)
    def zero_at_times(x: int) -> int:
        return call_next(x) - 2

    plugin = Unchecked()
    hot = Context(table, plugins=(plugin,)).jit(by_helper)
    assert hot(4) == 5
    assert plugin.removed == []
    with pytest.raises(ZeroDivisionError):
        hot(2)


def test_call_next_in_a_method_is_analysed_as_what_it_enters():
    table = MethodTable("table")

    @table.overlay(at_least_two)
    def divides(x: int) -> int:
        return 100 // call_next(x)

    plugin = Unchecked()
    hot = Context(table, plugins=(plugin,)).jit(lambda x: at_least_two(x))
    assert hot(1) == 50
    assert [name.rpartition(".")[2] for name, _ in plugin.removed] == ["divides"]


class ZeroForMax(Plugin):
    preserves = frozenset({"types"})

    def before_inference(self, ir):
        for call in ir.calls(max):
            ir.replace(call, min, *call.args)


def test_beside_plugins_that_change_values_calls_give_anything():
    plugin = Unchecked()
    hot = Context(plugins=(ZeroForMax(), plugin)).jit(by_helper)
    assert hot(1) == 10
    assert plugin.removed == []
    with pytest.raises(ZeroDivisionError):
        hot(0)


def test_an_analysis_is_of_the_function_as_it_is_edited():
    class EditsAndAsks(Unchecked):
        def before_inference(self, ir):
            for call in ir.calls(max):
                (division,) = ir.calls(operator.floordiv) or (None,)
                before = division and ir.analysed(division).args[1]
                ir.replace(call, min, *call.args)
                after = division and ir.analysed(division).args[1]
                self.seen = before, after

    def function(x):
        return 10 // max(x, 1)

    plugin = EditsAndAsks()
    assert Context(plugins=(plugin,)).jit(function)(5) == 10
    before, after = plugin.seen
    assert (before.low, after.high) == (1, 1)
    assert after.low < 0
    assert plugin.removed == []


def test_code_is_compiled_anew_when_what_was_analysed_changes():
    space: dict[str, Any] = {}
    exec("def helper(x):\n    return 3\ndef function(x):\n    return 12 // helper(x)", space)
    plugin = Unchecked()
    hot = Context(plugins=(plugin,)).jit(space["function"])
    assert hot(1) == 4
    assert len(plugin.removed) == 1
    exec("def helper(x):\n    return x", space)
    assert hot(2) == 6
    assert len(plugin.removed) == 1
    with pytest.raises(ZeroDivisionError):
        hot(0)


# ---- reports -----------------------------------------------------------------------------------


def names_and_shares(count):
    names = {str(i): f"{i}" for i in range(count)}
    return [share_of(len(name)) for name in names]


def share_of(x):
    return 100 // x


def test_a_report_of_interpreted_code():
    plugin = Reports()
    assert Context(plugins=(plugin,))(names_and_shares, 3) == [100, 100, 100]
    assert plugin.proved[-1] == ("share_of", [False])
    assert plugin.proved[0][0] == "names_and_shares"


def test_a_report_of_compiled_code_is_of_the_same_functions():
    def program(x):
        return half_or_less(x) + reciprocal(x)

    interpreted, compiled = Reports(), Reports()
    assert Context(plugins=(interpreted,))(program, 2.0) == 0.75
    assert Context(plugins=(compiled,)).jit(program)(2.0) == 0.75
    expected = {("program", ()), ("half_or_less", (True,)), ("reciprocal", (False,))}
    for plugin in (interpreted, compiled):
        assert {(name, tuple(found)) for name, found in plugin.proved} == expected


def test_interpreted_integers_have_no_last_one():
    plugin = Reports()
    assert Context(plugins=(plugin,))(quarter, 2**62) == 0
    assert plugin.proved == [("quarter", [True])]
    compiled = Reports()
    assert Context(plugins=(compiled,)).jit(quarter)(1) == 25
    assert compiled.proved == [("quarter", [False])]


def test_a_method_is_reported_in_interpreted_code():
    table = MethodTable("table")

    @table.overlay(share_of)
    def guarded(x: int) -> int:
        return call_next(max(x, 1))

    plugin = Reports()
    assert Context(table, plugins=(plugin,))(lambda x: share_of(x), 0) == 100
    by_name = {run.function.__name__: run for run in plugin.runs}
    assert by_name["guarded"].result == integers(0, 100)


def test_a_function_is_reported_once_for_its_types():
    plugin = Reports()
    context = Context(plugins=(plugin,))
    for value in (1, 2, 3):
        context(share_of, value)
    context(share_of, 0.5)
    assert [name for name, _ in plugin.proved] == ["share_of", "share_of"]


def test_arguments_by_name_may_be_any():
    def function(*, by, **rest):
        return 10 // by

    plugin = Reports()
    assert Context(plugins=(plugin,))(function, by=5) == 2
    assert plugin.proved == [("function", [False])]


# ---- a domain of one's own ---------------------------------------------------------------------


@dataclass(frozen=True)
class Parity:
    may_be: frozenset[int]


parities = MethodTable("parities")


@parities.overlay(operator.add)
def _add(x: Parity, y: Parity) -> Any:
    return Parity(frozenset((a + b) % 2 for a in x.may_be for b in y.may_be))


@parities.overlay(operator.mul)
def _mul(x: Parity, y: Parity) -> Any:
    return Parity(frozenset((a * b) % 2 for a in x.may_be for b in y.may_be))


class Parities(Domain):
    top, bottom = Parity(frozenset({0, 1})), Parity(frozenset())
    table = parities

    def join(self, one, other):
        return Parity(one.may_be | other.may_be)

    def is_below(self, one, other):
        return one.may_be <= other.may_be

    def constant(self, value):
        return Parity(frozenset({value % 2})) if type(value) is int else self.top


def successor_times_itself(n):
    return n * doubled(n) + 1


def doubled(n):
    return n + n if n % 2 else 2 * n


def test_a_domain_of_ones_own_in_both_engines():
    for run in (
        lambda plugin: Context(plugins=(plugin,))(successor_times_itself, 3),
        lambda plugin: Context(plugins=(plugin,)).jit(successor_times_itself)(3),
    ):
        plugin = Reports(Parities())
        assert run(plugin) == 19
        results = {r.function.__name__: r.result for r in plugin.runs}
        assert results["successor_times_itself"] == Parities.top
        even = [
            step.result for r in plugin.runs for step in r.steps if step.function is operator.mul
        ]
        assert Parity(frozenset({0})) in even


def test_an_interpretation_that_is_no_domain_is_the_plugins_own_matter():
    class Asks(Reports):
        def after_inference(self, ir):
            self.asked = ir.analysis, [ir.analysed(call) for call in ir.calls()]

    plugin = Asks(domain="mine")
    assert Context(plugins=(plugin,)).jit(reciprocal)(2.0) == 0.5
    assert plugin.asked == (None, [None])
    assert plugin.runs == []


def test_an_error_in_a_report_names_the_plugin():
    class Broken(Reports):
        def analysed(self, run):
            raise KeyError("x")

    for run in (
        lambda: Context(plugins=(Broken(),))(reciprocal, 2.0),
        lambda: Context(plugins=(Broken(),)).jit(reciprocal)(2.0),
    ):
        with pytest.raises(OverlayError, match="Broken> failed in analysed of reciprocal"):
            run()


def test_a_result_outside_a_context_is_the_same():
    assert prove(half_or_less, floats()).proved
