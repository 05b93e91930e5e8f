"""``with ctx:``."""

import asyncio
import contextlib
import contextvars
import math
import threading
import warnings

import pytest

from overlay import (
    Context,
    MethodTable,
    OverlayError,
    OverlayWarning,
    Plugin,
    current_context,
    generic,
    nonoverlay,
)
from overlay.core import late_binding


@generic
def label():
    return "base"


@generic
def name(x):
    return "base"


def labelled(text):
    table = MethodTable(text)
    table.overlay(label)(eval(f"lambda: {text!r}"))
    table.overlay(name)(eval(f"lambda x: {text!r}"))
    return Context(table)


ONE, TWO = labelled("one"), labelled("two")


def seen():
    return label(), name(1), current_context()


BASE = ("base", "base", None)


def test_generic_functions_see_the_tables_for_the_block_alone():
    with ONE as entered:
        assert entered is ONE
        assert seen() == ("one", "one", ONE)
    assert seen() == BASE


def test_blocks_nest_and_are_entered_again():
    with ONE:
        with TWO:
            with ONE:
                assert seen() == ("one", "one", ONE)
            assert seen() == ("two", "two", TWO)
        with ONE:
            assert seen() == ("one", "one", ONE)
        assert nonoverlay(seen)() == BASE
        assert seen() == ("one", "one", ONE)
    assert seen() == BASE


def test_an_exception_leaves_nothing_behind():
    with pytest.raises(ZeroDivisionError), ONE, TWO:
        raise ZeroDivisionError
    assert seen() == BASE


def test_calls_inside_a_block_stack_on_it():
    with ONE:
        assert TWO(label) == "two"
        assert Context()(label) == "one"
    assert (ONE | TWO)(label) == "two"


def test_threads_see_the_block_that_they_are_started_in_and_share_one_context():
    barrier, failed = threading.Barrier(8), []

    def work(i):
        try:
            barrier.wait()
            for _ in range(100):
                assert label() == "one"
                with ONE if i % 2 else TWO:
                    assert label() == ("one" if i % 2 else "two")
                    with ONE:
                        assert label() == "one"
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    with ONE:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert label() == "one"
    assert failed == []


def test_tasks_take_over_the_block_that_they_are_made_in():
    async def later():
        await asyncio.sleep(0)
        return label()

    async def main():
        with ONE:
            task = asyncio.create_task(later())
            in_thread = await asyncio.to_thread(label)
        return await task, in_thread, label()

    assert asyncio.run(main()) == ("one", "one", "base")


def test_plugins_are_asked_about_the_calls_of_a_block():
    class Doubles(Plugin):
        def around(self, callee, run):
            return (lambda x: 2 * run(x)) if callee is math.sqrt else None

    table = MethodTable("t")
    table.overlay(math.floor)(lambda x: math.sqrt(x))
    with Context(table, plugins=(Doubles(),)):
        assert math.sqrt(4.0) == 4.0
        assert [math.sqrt(x) for x in (1.0, 4.0)] == [2.0, 4.0]
        assert math.floor(9.0) == 6.0
    assert (math.sqrt(4.0), math.floor(9.0)) == (2.0, 9)


def test_plugins_that_only_compile_are_refused_before_a_block_begins():
    class Edits(Plugin):
        def before_inference(self, ir):
            return None

    with (
        pytest.raises(OverlayError, match="cannot interpret the block"),
        Context(plugins=(Edits(),)),
    ):
        raise AssertionError
    assert current_context() is None


def test_without_an_engine_entering_warns_of_targets_that_a_block_cannot_reach(monkeypatch):
    monkeypatch.setattr(late_binding.can_intercept, "load", lambda: lambda: False)
    table = MethodTable("t")
    table.overlay(label)(lambda: "overlaid")
    ctx = Context(table)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with ctx:
            assert label() == "overlaid"
    table.overlay(math.sin)(lambda x: x)
    table.overlay("math:cos")(lambda x: x)
    ctx = ctx.replace(plugins=(Plugin(),))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with ctx:
            assert label() == "overlaid"
    (warning,) = caught
    assert warning.category is OverlayWarning
    assert warning.filename == __file__
    assert "math.sin, math.cos" in str(warning.message)
    assert "ctx(f, ...)" in str(warning.message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(OverlayWarning), ctx:
            pass
    assert seen() == BASE


def test_a_yield_leaks_to_the_caller_and_blocks_that_end_out_of_order_say_so():
    def steps(ctx):
        with ctx:
            yield label()

    first, second = steps(ONE), steps(TWO)
    assert next(first) == "one"
    assert label() == "one"  # the caller is in the block too
    assert next(second) == "two"
    with pytest.raises(OverlayError, match="ended out of order") as caught:
        next(first)
    assert "do not yield inside" in str(caught.value)
    assert "test_block.py:" in str(caught.value)
    assert label() == "two"  # what is still open stays in force
    assert list(second) == []
    assert seen() == BASE


def test_a_context_manager_may_hand_its_block_on():
    @contextlib.contextmanager
    def setting():
        with ONE:
            yield

    with setting():
        assert label() == "one"
    assert seen() == BASE


def test_a_generator_that_is_dropped_leaves_its_block():
    def steps():
        with ONE:
            yield label()

    made = steps()
    assert next(made) == "one"
    made.close()
    assert seen() == BASE


def test_a_block_that_ends_in_another_place_says_so():
    elsewhere = contextvars.copy_context()
    elsewhere.run(ONE.__enter__)
    with pytest.raises(OverlayError, match="in another thread or task"):
        ONE.__exit__(None, None, None)
    assert seen() == BASE
    error = ValueError()
    ONE.__exit__(ValueError, error, None)  # the error in flight is not hidden
    assert "in another thread or task" in error.__notes__[0]


def test_what_a_block_resolved_goes_with_the_context():
    import gc
    import weakref

    def made_and_dropped():
        ctx = labelled("temporary")
        with ONE, ctx:
            assert name(1) == "temporary"
        with ctx:
            assert name(1) == "temporary"
        return weakref.ref(ctx), weakref.ref(ctx.tables[0])

    refs = made_and_dropped()
    for _ in range(3):  # what a context has kept is dropped after the context itself
        gc.collect()
    assert [ref() for ref in refs] == [None, None]
