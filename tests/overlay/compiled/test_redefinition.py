"""A change of a table is seen at the next entry from Python of what is compiled already."""

import colorsys
import gc
import math
import subprocess
import sys
import threading
import types
import weakref

import numpy as np
import pytest
from numba import float64, njit, vectorize

from overlay import Context, MethodTable, NotCompilable, Plugin, nonoverlay
from overlay.compiled import is_dispatcher
from overlay.compiled.numba.dispatchers import InnerDispatcher
from overlay.interpretations.autodiff import autodiff


def helper(x):
    return math.sin(x)


def program(x):
    return helper(x) + 1


def constant(value):
    def method(x: float) -> float:
        return value

    return method


@pytest.fixture
def table():
    table = MethodTable("changing")
    table.overlay(math.sin)(constant(10.0))
    return table


def test_a_method_added_replaced_and_removed_is_seen_at_the_next_call(table):
    hot = Context(table).jit(program)
    assert hot(1.0) == 11.0
    table.overlay(math.sin)(constant(20.0))
    assert hot(1.0) == 21.0
    table.remove(math.sin)
    assert hot(1.0) == math.sin(1.0) + 1
    table.overlay(helper)(constant(30.0))
    assert hot(1.0) == 31.0


def test_nothing_is_compiled_again_while_no_table_changes(table):
    hot = Context(table).jit(program)
    hot(1.0)
    (code,) = hot.overloads.values()
    MethodTable("another").overlay(math.sin)(constant(20.0))
    hot(2.0)
    assert list(hot.overloads.values()) == [code]


def test_plain_njit_callers_at_any_distance_see_the_change(table):
    hot = Context(table).jit(program)

    @njit
    def near(x):
        return hot(x) + 100

    @njit
    def far(x):
        return near(x) + 1000

    assert (near(1.0), far(1.0)) == (111.0, 1111.0)
    table.overlay(math.sin)(constant(20.0))
    assert (far(1.0), near(1.0)) == (1121.0, 121.0)


def test_a_context_that_calls_into_another_sees_the_changes_of_both(table):
    other = MethodTable("other")
    other.overlay(math.cos)(constant(5.0))
    inside = Context(table).jit(program)
    hot = Context(other).jit(lambda x: inside(x) + math.cos(x))
    assert hot(1.0) == 16.0
    table.overlay(math.sin)(constant(20.0))
    assert hot(1.0) == 26.0
    other.overlay(math.cos)(constant(6.0))
    assert hot(1.0) == 27.0


def test_a_change_while_compiled_code_runs_leaves_it_running(table):
    calls = 300_000_000

    def long(n, x):
        s = 0.0
        for i in range(n):
            s += helper(x * i) + i % 3
        return s

    hot = Context(table).jit(long, nogil=True)
    hot(1, 1.0)
    result = []
    thread = threading.Thread(target=lambda: result.append(hot(calls // 10, 1.0)))
    thread.start()
    table.overlay(math.sin)(constant(20.0))
    gc.collect()
    assert hot(2, 1.0) == 41.0
    thread.join()
    assert result[0] in (calls // 10 * 11.0, calls // 10 * 21.0)


def test_threads_that_compile_while_a_table_changes_end_with_the_last_method(table):
    hot = Context(table).jit(program)
    results = []

    def call():
        for _ in range(5):
            results.append(hot(1.0))

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for value in (20.0, 30.0, 40.0):
        table.overlay(math.sin)(constant(value))
    for thread in threads:
        thread.join()
    assert set(results) <= {11.0, 21.0, 31.0, 41.0}
    assert hot(1.0) == 41.0


def test_a_target_named_before_it_is_imported_is_reached():
    table = MethodTable("late")
    table.overlay("colorsys:rgb_to_yiq")(lambda r, g, b: 5.0)
    assert Context(table).jit(lambda x: colorsys.rgb_to_yiq(x, x, x))(1.0) == 5.0


# ---- what the program binds anew --------------------------------------------------------------


def module(source):
    """A module's namespace, and what it says is run in."""
    namespace = {"math": math, "nonoverlay": nonoverlay, "__name__": "program"}
    exec(source, namespace)
    return namespace


HELPERS = """
factor = 2.0
def helper(x): return math.sin(x) * factor
def program(x): return helper(x) + nonoverlay(helper)(x)
"""


def test_a_call_compares_what_its_own_code_has_read_alone(table):
    context = Context(table)
    names, others = module(HELPERS), module(HELPERS)
    hot, other = context.jit(names["program"]), context.jit(others["program"])
    hot(1.0)
    words = compared(hot)
    assert words == hot.engine.words()
    other(1.0)
    assert compared(hot) == words
    assert set(hot.engine.words()) == {*words, *compared(other)}
    (code,) = hot.overloads.values()
    others["factor"] = 3.0
    hot(1.0)
    assert list(hot.overloads.values()) == [code]
    assert other(1.0) == 30.0 + 3 * math.sin(1.0)
    names["factor"] = 5.0
    assert hot(1.0) == 50.0 + 5 * math.sin(1.0)


class Watches(Plugin):
    """A plugin that changes nothing."""

    def infer(self, call):
        return None


def test_a_plugin_that_other_code_of_the_context_enters_does_not_change_what_is_compared(table):
    context = Context(table)
    names, others = module(HELPERS), module(HELPERS)
    others["inner"] = Context(plugins=(Watches(),))
    exec("def enters(x): return inner(program, x)", others)
    hot, other = context.jit(names["program"]), context.jit(others["enters"])
    hot(1.0)
    words = compared(hot)
    assert other(1.0) == 20.0 + 2 * math.sin(1.0)
    assert compared(hot) == words
    assert set(compared(other)) == set(context.compiled.words()) > set(words)
    others["factor"] = 3.0
    assert other(1.0) == 30.0 + 3 * math.sin(1.0)
    names["factor"] = 5.0
    assert hot(1.0) == 50.0 + 5 * math.sin(1.0)


def compared(entry):
    """The words that calls of the one compiled form of an entry compare."""
    (code,) = entry.codes.values()
    return entry.engine.words(code)


KERNELS = """
factor = 2.0
def scaled(x): return x * factor
scales = vectorize(scaled)
inner = njit(scaled)
@njit(float64(float64))
def typed(x): return x * factor
def by_kernel(x): return scales(x)
def by_tuple(x):
    total = 0.0
    for function in (typed, typed):
        total += function(x)
    return total / 2
def by_argument(x): return applied(inner, x)
def applied(function, x): return function(x)
"""


@pytest.mark.parametrize("name", ["by_kernel", "by_tuple", "by_argument"])
def test_each_entry_sees_a_change_behind_functions_that_are_values(table, name):
    """Also the second entry, for which nothing is compiled behind them any more."""
    names = module("")
    names.update(njit=njit, vectorize=vectorize, float64=float64)
    exec(KERNELS, names)
    exec(f"def again(x): return {name}(x)", names)
    exec(f"def more(x): return {name}(x) + 1.0", names)
    entries = [Context(table).jit(names[each]) for each in (name, "again", "more")]
    assert [entry(3.0) for entry in entries] == [6.0, 6.0, 7.0]
    names["factor"] = 4.0
    assert [entry(3.0) for entry in reversed(entries)] == [13.0, 12.0, 12.0]


@pytest.mark.filterwarnings("ignore:First-class function type")
def test_a_second_entry_sees_a_change_behind_a_tuple_of_functions_that_it_is_given(table):
    names = module("")
    names.update(njit=njit, vectorize=vectorize, float64=float64)
    exec(KERNELS, names)
    exec("def first(h, x): return h[0](x)\ndef second(h, x): return h[0](x) + 1.0", names)
    context, given = Context(table), (names["typed"],) * 2
    first, second = context.jit(names["first"]), context.jit(names["second"])
    assert (first(given, 3.0), second(given, 3.0)) == (6.0, 7.0)
    names["factor"] = 4.0
    assert (second(given, 3.0), first(given, 3.0)) == (13.0, 12.0)


def test_a_function_with_the_attributes_of_one_of_the_library_is_compared(table):
    names = module("factor = 2.0\ndef helper(x): return x * factor\n" + PROGRAM_OF_HELPER)
    vars(names["helper"]).update(vars(autodiff))  # as functools.wraps does
    hot = Context(table).jit(names["program"])
    assert hot(1.0) == 2.0
    names["factor"] = 3.0
    assert hot(1.0) == 3.0


PROGRAM_OF_HELPER = "def program(x): return helper(x)"


def test_a_helper_bound_anew_is_seen_at_the_next_call(table):
    names = module(HELPERS)
    hot = Context(table).jit(names["program"])
    assert hot(1.0) == 20.0 + 2 * math.sin(1.0)
    exec("def helper(x): return math.sin(x) + 1.0", names)
    assert hot(1.0) == 11.0 + math.sin(1.0) + 1.0


def test_a_global_constant_bound_anew_is_seen_and_an_equal_one_compiles_nothing(table):
    names = module(HELPERS)
    hot = Context(table).jit(names["program"])
    hot(1.0)
    code = list(hot.overloads.values())
    names["factor"] = float("2.0")
    names["unrelated"] = 1
    assert hot(1.0) == 20.0 + 2 * math.sin(1.0)
    assert list(hot.overloads.values()) == code
    names["factor"] = 3.0
    assert hot(1.0) == 30.0 + 3 * math.sin(1.0)


def test_a_function_changed_in_place_is_seen(table):
    names = module(HELPERS)
    hot = Context(table).jit(names["program"])
    hot(1.0)
    names["helper"].__code__ = (lambda x: x + 100.0).__code__
    assert hot(1.0) == 202.0


def test_defaults_and_variables_of_closures_bound_anew_are_seen(table):
    offset = 1.0

    def program(x, by=10.0):
        return math.sin(x) + offset + by

    hot = Context(table).jit(lambda x: program(x))
    assert hot(1.0) == 21.0
    offset = 2.0
    assert hot(1.0) == 22.0
    program.__defaults__ = (20.0,)
    assert hot(1.0) == 32.0


def test_an_attribute_of_a_module_bound_anew_is_seen(table):
    library = types.ModuleType("library")
    library.scale = 1.0
    names = module("def program(x): return math.sin(x) * library.scale")
    names["library"] = library
    hot = Context(table).jit(names["program"])
    assert hot(1.0) == 10.0
    library.scale = 3.0
    assert hot(1.0) == 30.0


def test_a_global_that_comes_to_hide_a_builtin_is_seen(table):
    names = module("def program(x): return abs(x) + math.sin(x)")
    hot = Context(table).jit(names["program"])
    assert hot(-1.0) == 11.0
    names["unrelated"] = 1
    assert hot(-1.0) == 11.0
    names["abs"] = 5
    with pytest.raises(NotCompilable, match="as a callable"):
        hot(-1.0)
    del names["abs"]
    assert hot(-1.0) == 11.0


def test_a_plain_njit_caller_sees_what_is_bound_anew(table):
    names = module(HELPERS)
    hot = Context(table).jit(names["program"])

    @njit
    def near(x):
        return hot(x) + 100.0

    @njit
    def far(x):
        return near(x) + 1000.0

    plain = 2 * math.sin(1.0)
    assert (far(1.0), near(1.0)) == (1120.0 + plain, 120.0 + plain)
    exec("def helper(x): return math.sin(x) * 0.0", names)
    assert (far(1.0), near(1.0), hot(1.0)) == (1100.0, 100.0, 0.0)


def test_code_that_a_thread_is_running_goes_on_while_a_helper_is_bound_anew(table):
    names = module(
        HELPERS
        + """
def long(n, started):
    s = 0.0
    for i in range(n):
        started[0] = 1
        s += helper(1.0) + i % 2 - i % 2
    return s
"""
    )
    hot = Context(table).jit(names["long"], nogil=True)
    started = np.zeros(1)
    hot(1, started)
    started[0] = 0
    results = []
    thread = threading.Thread(target=lambda: results.append(hot(30_000_000, started)))
    thread.start()
    while not started[0]:
        pass
    exec("def helper(x): return 1.0", names)
    gc.collect()
    assert hot(2, started) == 2.0
    thread.join()
    assert results == [30_000_000 * 20.0]


INLINED = """
import math
from numba import float64, njit, vectorize

factor = 1.0

def plain(x): return x + 10.0

@njit
def deep(x): return x + 100.0

@njit(inline="always")
def inner(x): return math.sin(x) * factor + plain(x) + deep(x)

@njit(inline="always")
def outer(x): return inner(x) + factor

def calls(x): return outer(x)

def calls_in_closure(x):
    def closure(y): return outer(y)
    return closure(x)
"""
CHANGES_OF_INLINED = [
    "factor = 3.0",
    "def plain(x): return x + 20.0",
    "@njit\ndef deep(x): return x + 200.0",
    '@njit(inline="always")\ndef inner(x): return 2 * math.sin(x) * factor + plain(x)',
    "factor = 4.0",
    '@njit(inline="always")\ndef outer(x): return 5 * inner(x) + factor',
    "factor = 5.0",
]


class InlinesAll(Plugin):
    cache_token = "inlines all"

    def enter(self, callee, types):
        return self

    def inline(self, call):
        return True


@pytest.mark.parametrize("name", ["calls", "calls_in_closure"])
@pytest.mark.parametrize("plugins", [(), (InlinesAll(),)])
def test_what_an_inlined_function_reads_and_calls_is_seen(table, name, plugins):
    names = {}
    exec(INLINED, names)
    context = Context(table, plugins=plugins)
    hot = context.jit(names[name])

    @njit
    def caller(x):
        return hot(x)

    expected = 10.0 + 12.0 + 102.0 + 1.0
    assert hot(2.0) == caller(2.0) == expected
    seen = [expected]
    for change in CHANGES_OF_INLINED:
        exec(change, names)
        expected = Context(table)(names[name], 2.0)
        assert hot(2.0) == caller(2.0) == expected
        seen.append(expected)
    assert len(set(seen)) == len(seen)


class Asked(type):
    """Classes that say of themselves that they are any other."""

    def __eq__(cls, other):
        asked.append(other)
        return True

    __hash__ = type.__hash__


class Odd(metaclass=Asked):
    pass


asked = []


def test_classes_that_are_equal_to_others_are_told_apart(table):
    names = {"math": math, "one": 1.0}
    exec("def calls(x): return math.sin(x) + (one if x < 9.0 else 0.0)", names)
    hot = Context(table).jit(names["calls"])
    assert hot(1.0) == 11.0
    watch, asked[:] = hot.engine.world({}).watch, []
    names["one"] = Odd()
    assert watch.changed()
    names["one"] = 1.0
    assert not watch.changed()
    assert hot(1.0) == 11.0
    assert asked == []
    assert not any(map(is_dispatcher, (Odd(), Odd)))


def test_recompile_reads_everything_again(table):
    hot = Context(table).jit(program)
    hot(1.0)
    (code,) = hot.overloads.values()
    hot.recompile()
    assert hot(1.0) == 11.0
    assert list(hot.overloads.values()) != [code]


def test_a_context_is_collected_with_all_that_it_compiled(table):
    def dispatchers():
        gc.collect()
        return {id(o): o for o in gc.get_objects() if type(o) is InnerDispatcher}

    others = dispatchers()
    context = Context(table)
    hot = context.jit(program)
    hot(1.0)
    table.overlay(math.sin)(constant(20.0))
    hot(1.0)
    made = [weakref.ref(o) for key, o in dispatchers().items() if key not in others]
    assert made
    gone = weakref.ref(context)
    del context, hot
    gc.collect()
    assert [ref() for ref in made] == [None] * len(made)
    assert gone() is None


def test_importing_overlay_does_not_import_numba():
    code = "import sys, overlay; overlay.Context(); sys.exit('numba' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
