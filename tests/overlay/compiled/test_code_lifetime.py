"""Compiled code that is out of use is given back, by us, by numba and by LLVM."""

import gc
import math
from collections import Counter

import pytest
from llvmlite.binding import newpassmanagers

from overlay import Context, MethodTable
from overlay.compiled.numba.code_lifetime import free_unused_modules, target_context

KINDS = ("InnerDispatcher", "World", "CalleeType", "_WorldLibrary", "Dispatcher")


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
