"""What a program drops is gone, also while the run goes on."""

import functools
import gc
import sys
import types
import weakref

import pytest

from overlay import Context, MethodTable
from tests.overlay.idle_plugins import Enters, Surrounds

overlays = MethodTable("memory")


PLUGINS = {"tables": (), "around": (Surrounds(),), "enter": (Enters(),)}


@pytest.fixture(params=PLUGINS)
def ctx(request):
    return Context(overlays, plugins=PLUGINS[request.param])


class Held:
    pass


def test_a_closure_that_refers_to_itself_goes_with_the_next_collection(ctx):
    def program():
        def make():
            held = Held()

            def again(n):
                return [held, again(n - 1)] if n else str(n)

            for n in range(5):  # at one site, so that it is worth keeping
                again(n)
            return weakref.ref(held), weakref.ref(again)

        gone = make()
        before = gone[0]() is not None
        gc.collect()
        return before, [reference() for reference in gone], make()[0]() is not None

    gc.disable()
    try:
        assert ctx(program) == program() == (True, [None, None], True)
    finally:
        gc.enable()


def test_a_cache_lasts_through_a_collection_and_goes_when_it_is_dropped(ctx):
    def program():
        def make():
            held = Held()

            @functools.lru_cache
            def ways(n):
                return [held, ways(n - 1)] if n else [str(n)]

            return ways, weakref.ref(held)

        ways, kept = make()
        first = ways(2)
        attributes = dict(vars(ways))
        gc.collect()
        results = [ways(2) is first, kept() is not None, vars(ways) == attributes]
        dropped = make()
        dropped[0](2)
        gone = dropped[1]
        del dropped
        gc.collect()
        return [*results, ways(2) is first, gone()]

    gc.disable()
    try:
        assert ctx(program) == program() == [True, True, True, True, None]
    finally:
        gc.enable()


def test_a_builtin_function_does_not_keep_a_module_that_was_dropped():
    """With plugins it does: tools see a function in its place, which is never freed."""

    def program():
        from test.support.import_helper import import_fresh_module

        fresh = import_fresh_module("_struct")
        gone = weakref.ref(fresh)
        sizes = [fresh.calcsize("b") for _ in range(3)]
        del fresh
        gc.collect()
        return sizes, gone()

    assert Context(overlays)(program) == ([1, 1, 1], None)


def test_a_function_that_is_called_once_is_not_kept_by_the_place_of_the_call(ctx):
    def program():
        made = eval("lambda: 7", {})
        return made(), weakref.ref(made)

    for _ in range(3):
        result, reference = ctx(program)
        assert (result, reference()) == (7, None)


def test_a_function_that_its_module_replaces_goes_with_the_next_call(monkeypatch, ctx):
    module = types.ModuleType("replaced_here")
    monkeypatch.setitem(sys.modules, "replaced_here", module)
    define = "def f(): return ({0}, abs(-1))"
    exec(define.format(0), vars(module))

    def program():
        gone, results = [], []
        for turn in range(4):
            results.append(module.f())
            gone.append(weakref.ref(module.f))
            exec(define.format(turn + 1), vars(module))
        if ctx.plugins:  # the places of calls hold what a module holds, until a collection
            gc.collect()
        return results, [reference() for reference in gone[:-1]]

    expected = [(turn, 1) for turn in range(4)], [None] * 3
    assert ctx(program) == expected


def test_a_class_that_is_made_in_a_function_goes_while_the_context_lives(ctx):
    def program():
        class Local:
            pass

        for _ in range(3):
            Local()
        return weakref.ref(Local)

    for _ in range(3):
        gone = ctx(program)
        gc.collect()
        assert gone() is None
