"""Contexts run by the engine that intercepts targets, on each Python."""

import asyncio
import gc
import json
import math
import threading
import unittest
import weakref
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.pool import ThreadPool

import numpy as np
import pytest

from overlay import Context, MethodTable, call_next, nonoverlay, recurse
from overlay.python import interception

pytestmark = pytest.mark.skipif(
    interception.intercept is None, reason="the part in C is not built here"
)


class Point:
    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        return self.x + other.x

    def doubled(self):
        return 2 * self.x


def helper(x):
    return x


def overlaid():
    table = MethodTable("t")

    @table.overlay(math.sin)
    def sine(x: float):
        return call_next(x) + 100.0

    @table.overlay(helper)
    def of_float(x: float):
        return "float", call_next(x)

    @table.overlay(helper)
    def of_any(x):
        return ("any", call_next(x))

    @table.overlay(Point.__add__)
    def added(self, other):
        return -call_next(self, other)

    @table.overlay(Point.doubled)
    def doubled(self):
        return call_next(self) + 1

    @table.overlay(Point)
    def point(x: float):
        return call_next(10 * x)

    return table, Context(table)


def test_a_target_is_reached_whoever_calls_it():
    _, context = overlaid()
    plain = math.sin(1.5)
    sine = plain + 100.0
    assert context(lambda: math.sin(1.5)) == sine
    assert context(lambda: list(map(math.sin, [1.5]))) == [sine]
    assert context(json.loads, "1.5", parse_float=lambda text: math.sin(float(text))) == sine
    found = context(np.apply_along_axis, lambda row: math.sin(row[0]), 0, np.array([1.5]))
    assert found == sine
    assert context(lambda: Point(1.5).x) == 15.0
    assert context(lambda: Point(2) + Point(3)) == -5
    assert context(lambda: Point(2).doubled()) == 5
    assert (math.sin(1.5), Point(1.5).x, Point(2).doubled()) == (plain, 1.5, 4)


def test_methods_are_chosen_by_types_and_call_next_goes_on():
    _, context = overlaid()
    assert context(helper, 2.0) == ("float", ("any", 2.0))
    assert context(lambda: [helper(x) for x in ("a", 1, "a")]) == [
        ("any", "a"),
        ("any", 1),
        ("any", "a"),
    ]
    assert context(lambda: nonoverlay(helper)(2.0)) == 2.0
    assert recurse(context, helper, 2.0) == 2.0


def test_a_change_of_a_table_is_seen_at_the_next_call():
    table, context = overlaid()

    def program():
        return math.sin(0.0), math.cos(0.0)

    assert context(program) == (100.0, 1.0)

    @table.overlay(math.sin)
    def replaced(x: float):
        return 5.0

    @table.overlay(math.cos)
    def added(x: float):
        return 6.0

    assert context(program) == (5.0, 6.0)
    table.remove(math.sin, float)
    assert context(program) == (0.0, 6.0)


def test_contexts_nest_and_the_inner_one_is_asked_first():
    _, outer = overlaid()
    table = MethodTable("inner")

    @table.overlay(math.sin)
    def sine(x: float):
        return 2.0 * call_next(x)

    inner = Context(table)
    assert outer(inner, lambda: math.sin(0.0)) == 200.0
    assert inner(outer, lambda: math.sin(0.0)) == 100.0
    assert outer(lambda: (inner(math.sin, 0.0), math.sin(0.0))) == (200.0, 100.0)


def test_what_a_run_gives_goes_on_in_its_context():
    _, context = overlaid()

    def numbers():
        given = yield math.sin(0.0)
        yield given, math.sin(0.0)

    generator = context(numbers)
    assert next(generator) == 100.0
    assert generator.send("here") == ("here", 100.0)
    assert math.sin(0.0) == 0.0

    async def later():
        await asyncio.sleep(0)
        return math.sin(0.0)

    assert asyncio.run(context(later)) == 100.0

    async def steps():
        yield math.sin(0.0)
        await asyncio.sleep(0)
        yield math.sin(0.0)

    async def collected():
        return [x async for x in context(steps)]

    assert asyncio.run(collected()) == [100.0, 100.0]


def test_targets_are_let_go_with_the_last_context():
    table, context = overlaid()
    assert context(helper, 0.0)[0] == "float"
    assert interception.intercept.interception_of(helper) is not None
    gone = weakref.ref(context)
    del context
    gc.collect()
    assert gone() is None
    assert interception.intercept.interception_of(helper) is None
    assert table.targets()


def test_an_error_of_a_method_leaves_the_context():
    table = MethodTable("fails")

    @table.overlay(helper)
    def fails(x):
        raise LookupError(x)

    with pytest.raises(LookupError):
        Context(table)(helper, 1)
    assert helper(1) == 1


def test_a_strict_block_in_a_task_is_no_business_of_other_tasks():
    table = MethodTable("strict")
    table.overlay(helper)(lambda x: "overlaid")
    strict, begun = Context(table, strict=True), []

    async def other():
        await begun[0].wait()
        return helper(1)

    async def main():
        begun.append(asyncio.Event())
        task = asyncio.create_task(other())
        await asyncio.sleep(0)
        with strict:
            begun[0].set()
            await asyncio.sleep(0)
            assert helper(1) == "overlaid"
            return await task

    assert asyncio.run(main()) == 1
    assert strict.report().left == ()


def test_a_warning_of_a_module_that_is_imported_names_the_line_that_imports(tmp_path, monkeypatch):
    (tmp_path / "warns_here.py").write_text(
        "import warnings\nwarnings.warn('old', DeprecationWarning, stacklevel=2)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    _, context = overlaid()

    def program():
        import warns_here  # noqa: F401  # pyright: ignore[reportMissingImports]

    with pytest.warns(DeprecationWarning, match="old") as caught:
        context(program)
    assert (caught[0].filename, caught[0].lineno) == (
        __file__,
        program.__code__.co_firstlineno + 1,
    )


def test_a_module_that_is_imported_runs_outside_and_its_targets_are_seen_after_it(
    tmp_path, monkeypatch
):
    (tmp_path / "comes_later.py").write_text(
        "import math\n\ndef late(x):\n    return x\n\nat_import = math.sin(0.0), late(1)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    table, context = overlaid()
    table.overlay("comes_later:late")(lambda x: "overlaid")

    def program():
        import comes_later  # pyright: ignore[reportMissingImports]

        return comes_later.at_import, comes_later.late(1), math.sin(0.0)

    assert context(program) == ((0.0, 1), "overlaid", 100.0)


def test_a_test_case_of_unittest_with_coroutines_runs_in_the_context():
    class Case(unittest.IsolatedAsyncioTestCase):
        async def asyncSetUp(self):
            self.found = [math.sin(0.0)]

        async def test(self):
            await asyncio.sleep(0)
            found.append([*self.found, math.sin(0.0)])

    found, case = [], Case("test")
    _, context = overlaid()
    assert context(case.run).wasSuccessful()
    assert found == [[100.0, 100.0]]


def test_the_target_of_another_engine_is_resolved_once():
    table, calls = MethodTable("plugged"), []

    @table.overlay(helper)
    def noted(x):
        calls.append(x)
        return call_next(x)

    _, intercepting = overlaid()
    assert intercepting(helper, "a") == ("any", "a")


def test_each_way_to_hand_work_to_threads_carries_the_context():
    _, context = overlaid()

    def program():
        found = []
        thread = threading.Thread(target=lambda: found.append(math.sin(0.0)))
        thread.start()
        thread.join()
        with ThreadPoolExecutor(1) as executor:
            work = executor.submit(math.sin, 0.0)
            work.add_done_callback(lambda done: found.append(done.result() + math.sin(0.0)))
            found.extend(executor.map(math.sin, [0.0]))
        with ThreadPool(1) as pool:
            found += [pool.apply(math.sin, (0.0,)), *pool.map(math.sin, [0.0])]
            found += [*pool.imap(math.sin, [0.0]), *pool.starmap(math.sin, [(0.0,)])]
        return sorted(found)

    assert context(program) == [100.0] * 6 + [200.0]


def test_work_for_other_interpreters_leaves_the_context():
    interpreters = pytest.importorskip("concurrent.futures.interpreter")

    _, context = overlaid()

    def program():
        with interpreters.InterpreterPoolExecutor(1) as executor:
            return [executor.submit(math.sin, 0.0).result(), *executor.map(math.sin, [0.0])]

    assert context(program) == [0.0, 0.0]


def test_workers_of_a_pool_serve_each_in_its_context():
    _, context = overlaid()
    with ThreadPoolExecutor(1) as executor:
        assert context(lambda: executor.submit(math.sin, 0.0).result()) == 100.0
        assert executor.submit(math.sin, 0.0).result() == 0.0
