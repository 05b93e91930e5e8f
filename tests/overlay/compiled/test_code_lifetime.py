"""Compiled code that is out of use is given back, by us, by numba and by LLVM."""

import functools
import gc
import math
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from llvmlite.binding import newpassmanagers

from overlay import Context, MethodTable
from overlay.compiled import engine
from overlay.compiled.numba.code_lifetime import free_unused_modules, target_context
from overlay.contexts import context

KINDS = (
    "InnerDispatcher",
    "World",
    "CalleeType",
    "WorldLibrary",
    "_DeferredLibrary",
    "_Library",
    "Dispatcher",
)


def constant(value):
    def method(x: float) -> float:
        return value

    return method


def held():
    """How many objects there are that hold compiled code or its types, LLVM's modules among
    them."""
    for _ in range(3):
        gc.collect()
    free_unused_modules()
    found = Counter(type(each).__name__ for each in gc.get_objects())
    modules = target_context().codegen()._engine._ee._modules
    return {**{kind: found[kind] for kind in KINDS}, "modules": len(modules)}


def test_code_of_functions_and_contexts_that_are_gone_leaves_nothing():
    def once(value):
        table = MethodTable("dropped")
        table.overlay(math.sin)(constant(value))
        helper = eval(f"lambda x: math.sin(x) + {value}", {"math": math})
        assert Context(table).jit(lambda x: helper(x))(1.0) == 2 * value

    once(1.0)
    before = held()
    for value in (2.0, 3.0, 4.0, 5.0):
        once(value)
    assert held() == before


class Recording:
    """llvmlite's library, with a list of what was called."""

    def __init__(self, library):
        self.library, self.called = library, Counter()

    def __getattr__(self, name):
        self.called[name] += 1
        return getattr(self.library, name)


@pytest.mark.skipif(
    not hasattr(newpassmanagers, "NewPassManager"), reason="this llvmlite frees what it makes"
)
def test_the_pass_managers_of_a_compilation_are_freed(monkeypatch):
    library = Recording(newpassmanagers.ffi.lib)
    monkeypatch.setattr(newpassmanagers.ffi, "lib", library)
    assert Context().jit(lambda x: x + 1.0)(1.0) == 2.0
    monkeypatch.undo()
    called = {name.removeprefix("LLVMPY_"): count for name, count in library.called.items()}
    assert called["DisposeNewModulePassManger"] == called["buildPerModuleDefaultPipeline"] > 0
    made = called["buildFunctionSimplificationPipeline"]
    assert called["DisposeNewFunctionPassManger"] == made > 0


# ---- redefinitions ------------------------------------------------------------------------

# Each check runs in a process of its own: where plain numba functions call into contexts, as in
# other tests, past worlds are kept.

REDEFINITIONS = 16


def cell(value):
    names = {"math": math}
    exec(f"def helper(x): return math.sin(x) + {value}\ndef f(x): return helper(x) * 2.0", names)
    return names["f"]


def a_method_replaced():
    table = MethodTable("replaced")
    table.overlay(math.sin)(constant(-1.0))
    hot = Context(table).jit(cell(0.0))

    def change(value):
        table.overlay(math.sin)(constant(value))
        assert hot(1.0) == 2 * value

    return change


def a_helper_rebound():
    names = {}
    exec("def program(x): return f(x) + 1.0", names)
    table = MethodTable("rebound")
    table.overlay(math.sin)(constant(0.0))
    hot = Context(table).jit(names["program"])

    def change(value):
        names["f"] = cell(value)
        assert hot(1.0) == 2 * value + 1.0

    return change


def a_cell_run_again():
    table = MethodTable("cells")
    table.overlay(math.sin)(constant(0.0))
    ctx = Context(table)
    living = ctx.jit(cell(0.5))
    names = {}

    def change(value):
        for part in range(3):
            names["hot"] = ctx.jit(cell(value + part))
            assert names["hot"](1.0) == 2 * (value + part)
            gc.collect()
        compiled = living.functions_compiled
        assert living(1.0) == 1.0
        assert living.functions_compiled == compiled or value == 0.0

    return change


def a_table_of_its_own():
    def change(value):
        table = MethodTable("own")
        table.overlay(math.sin)(constant(value))
        assert Context(table).jit(cell(1.0))(1.0) == 2 * (value + 1.0)

    return change


# the most objects of a kind by which there may be more: of cells, functions are dropped in batches
CHANGES = {a_method_replaced: 4, a_helper_rebound: 4, a_cell_run_again: 48, a_table_of_its_own: 4}


def check(make, most):
    engine.KEPT_WORLDS, engine.MOST_DROPPED, context._COMPILED = 2, 4, 2
    change = make()
    for value in range(REDEFINITIONS):
        change(float(value))
    before = held()
    for value in range(REDEFINITIONS):
        change(float(value))
    after = held()
    grown = {kind: after[kind] - before[kind] for kind in after}
    assert all(count <= most for count in grown.values()), grown


RUNNING, STOP = 0, 1  # places in an array


def code_that_a_thread_runs_is_kept():
    table = MethodTable("running")
    table.overlay(math.sin)(constant(1.0))

    def refuse(n):
        if n > 0:
            raise ValueError("stopped")
        return n

    def long(state):
        n, s = 0, 0.0
        while state[STOP] == 0.0:
            n += 1
            s += math.sin(1.0)
            state[RUNNING + 2 * (n % 2)] = 1.0
        if state[STOP] == 2.0:
            return refuse(n)
        return s - n * 1.0

    hot = Context(table).jit(long, nogil=True)
    done, state = np.full(3, 1.0), np.zeros(3)
    assert hot(done) == 0.0
    errors = []

    def run():
        try:
            hot(state)
        except ValueError as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    while not state.any():
        pass
    before = held()
    for value in range(15):
        table.overlay(math.sin)(constant(float(value)))
        assert hot(done) == 0.0
    assert held()["World"] >= before["World"] + 15
    state[STOP] = 2.0
    thread.join()
    assert [error.args for error in errors] == [("stopped",)]
    for value in range(3):
        table.overlay(math.sin)(constant(float(value)))
        assert hot(done) == 0.0
    assert held()["World"] < before["World"] + 12


def a_function_that_is_held_goes_on_with_what_is_valid():
    table = MethodTable("held")
    table.overlay(math.sin)(constant(1.0))
    hot = Context(table).jit(cell(0.0))
    run = hot.compile("(float64,)")
    assert run(1.0) == 2.0
    for value in range(20):
        table.overlay(math.sin)(constant(float(value)))
        assert hot(1.0) == run(1.0) == 2.0 * value


def a_function_that_is_held_outlives_its_context():
    runs = [Context().jit(cell(float(value))).compile("(float64,)") for value in range(20)]
    held()
    assert [bytes(40) for _ in range(100_000)]  # takes the place of what was freed
    assert [run(1.0) for run in runs] == [2 * (math.sin(1.0) + value) for value in range(20)]


def entries_that_are_gone_are_not_held_by_their_guards():
    engine.KEPT_WORLDS = 2
    table = MethodTable("entries")
    ctx = Context(table)
    kept = [ctx.jit(cell(float(value))) for value in range(8)]

    def change(value):
        table.overlay(math.sin)(constant(value))
        assert [hot(1.0) for hot in kept] == [2 * (value + each) for each in range(len(kept))]

    change(0.0)
    change(1.0)
    assert count("EntryDispatcher") == 8
    del kept[1:], ctx._jitted
    for value in range(4):
        change(float(value))
    held()
    assert count("EntryDispatcher") == 1


def count(kind):
    return sum(type(each).__name__ == kind for each in gc.get_objects())


CHECKS = {
    **{make.__name__: functools.partial(check, make, most) for make, most in CHANGES.items()},
    "code_that_a_thread_runs_is_kept": code_that_a_thread_runs_is_kept,
    "a_function_that_is_held_goes_on_with_what_is_valid": (
        a_function_that_is_held_goes_on_with_what_is_valid
    ),
    "a_function_that_is_held_outlives_its_context": a_function_that_is_held_outlives_its_context,
    "entries_that_are_gone_are_not_held_by_their_guards": (
        entries_that_are_gone_are_not_held_by_their_guards
    ),
}


@pytest.mark.parametrize("name", CHECKS)
def test_redefinitions_leave_nothing(name):
    root = Path(__file__).parents[3]
    command = [sys.executable, "-m", "tests.overlay.compiled.test_code_lifetime", name]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


if __name__ == "__main__":
    CHECKS[sys.argv[1]]()


def test_there_is_one_code_generator_also_inside_contexts():
    ours = target_context()
    assert Context(MethodTable("table"))(target_context) is ours
    assert target_context().codegen() is ours.codegen()
