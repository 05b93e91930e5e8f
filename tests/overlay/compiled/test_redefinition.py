"""A change of a table is seen at the next entry from Python of what is compiled already."""

import colorsys
import gc
import math
import subprocess
import sys
import threading
import weakref

import pytest
from numba import njit

from overlay import Context, MethodTable, nonoverlay
from overlay.compiled.numba_dispatchers import InnerDispatcher


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


rebound = helper


def through_rebound(x):
    return rebound(x) + nonoverlay(rebound)(x)


def test_a_function_rebound_in_its_module_is_read_again_when_told(table, monkeypatch):
    hot = Context(table).jit(through_rebound)
    before = 10.0 + math.sin(1.0)
    assert hot(1.0) == before
    monkeypatch.setitem(through_rebound.__globals__, "rebound", constant(50.0))
    assert hot(1.0) == before
    hot.recompile()
    assert hot(1.0) == 100.0


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
