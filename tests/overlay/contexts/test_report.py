"""``ctx.report()`` and ``Context(strict=True)``: what was hit, and where calls left."""

import asyncio
import atexit
import bisect
import contextvars
import functools
import json
import math
import re
import signal
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor

import pytest

from overlay import Context, MethodTable, OverlayError, call_next, generic, nonoverlay

table = MethodTable("waves")


@table.overlay(math.sin)
def sin(x: float):
    return "sin"


@table.overlay(math.sin)
def sin_of_text(x: str):
    return "text"


@table.overlay(math.cos)
def cos(x: float):
    return "cos"


def of_module(x):
    return math.sin(x)


def line_of(function, offset=0):
    return f"tests/overlay/contexts/test_report.py:{function.__code__.co_firstlineno + offset}"


def shown(methods):
    return [str(m).partition("   ")[0] for m in methods]


# ---- hit and never hit --------------------------------------------------------------------


def test_methods_hit_and_never_hit_are_told_without_asking_for_it():
    ctx = Context(table)
    assert ctx.report().hits == ()
    assert shown(ctx.report().never) == ["math.sin(float)", "math.sin(str)", "math.cos(float)"]
    ctx(of_module, 1.0)
    ctx(of_module, "a")
    report = ctx.report()
    assert shown(hit.method for hit in report.hits) == ["math.sin(float)", "math.sin(str)"]
    assert shown(report.never) == ["math.cos(float)"]
    assert [hit.calls for hit in report.hits] == [None, None]
    assert report.summary == "2 of 3 methods hit"
    assert Context(table).report().hits == ()  # another context


def test_methods_that_call_next_reaches_are_hit():
    outer = MethodTable("outer")
    inner = MethodTable("inner")
    outer.overlay(math.sin)(lambda x: "outer")
    inner.overlay(math.sin)(lambda x: call_next(x))
    ctx = Context(outer, inner, count_calls=True)
    assert ctx(math.sin, 1.0) == "outer"
    assert [hit.method.table for hit in ctx.report().hits] == [inner, outer]


def test_each_context_tells_of_its_own_tables():
    inner_table = MethodTable("inner")
    inner_table.overlay(math.cos)(lambda x: math.sin(x))
    outer, inner = Context(table), Context(inner_table)
    assert outer(lambda: inner(math.cos, 1.0)) == "sin"
    assert shown(hit.method for hit in outer.report().hits) == ["math.sin(float)"]
    assert shown(hit.method for hit in inner.report().hits) == ["math.cos(Any)"]


def test_generic_functions_are_told_in_a_block_and_in_a_run():
    @generic
    def area(shape): ...

    shapes = MethodTable("shapes")

    @shapes.overlay(area)
    def of_float(shape: float):
        return 1

    in_block, in_run = Context(shapes, count_calls=True), Context(shapes, count_calls=True)
    with in_block:
        area(1.0)
        area(1.0)
    in_run(lambda: area(1.0))
    assert [hit.calls for hit in in_block.report().hits] == [2]
    assert [hit.calls for hit in in_run.report().hits] == [1]


def test_a_context_and_its_tables_are_dropped_with_what_they_remember():
    def dropped():
        table = MethodTable("dropped")
        table.overlay(math.sin)(lambda x: x)
        ctx = Context(table, count_calls=True)
        ctx(of_module, 1.0)
        lasting(lambda: ctx(of_module, 1.0))
        ctx(lambda: lasting(of_module, 1.0))
        return [weakref.ref(table), weakref.ref(ctx), weakref.ref(ctx.record)]

    import gc

    lasting = Context(MethodTable("lasting"), count_calls=True)
    references = dropped()
    for _ in range(3):
        gc.collect()
    assert [reference() for reference in references] == [None] * 3


# ---- counts -------------------------------------------------------------------------------


def test_counts_tell_how_often_and_from_where():
    ctx = Context(table, count_calls=True)

    def program():
        for _ in range(3):
            math.sin(1.0)
        return of_module(1.0)

    assert ctx(program) == "sin"
    assert ctx(program) == "sin"
    (hit,) = ctx.report().hits
    assert hit.calls == 8
    assert hit.callers == ((line_of(program, 2), 6), (line_of(of_module, 1), 2))
    assert f"8 calls: 6 from {line_of(program, 2)}, 2 from {line_of(of_module, 1)}" in str(hit)
    assert ctx.report().summary == "1 of 3 methods hit, 8 calls, left 0 times"


def test_counts_of_many_threads_add_up():
    ctx = Context(table, count_calls=True)

    def work():
        for _ in range(500):
            math.sin(1.0)

    threads = [threading.Thread(target=ctx.wrap(work)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    (hit,) = ctx.report().hits
    assert hit.calls == 4000


def test_the_report_reads_as_text():
    ctx = Context(table, count_calls=True)
    ctx(of_module, 1.0)

    ctx(in_other_variables)
    assert str(ctx.report()).splitlines() == [
        "<Context waves, count_calls=True>: 1 of 3 methods hit, 1 call, left 1 time",
        "  hit:",
        f"    math.sin(float)   {line_of(sin)}   1 call: 1 from {line_of(of_module, 1)}",
        "  never hit:",
        f"    math.sin(str)   {line_of(sin_of_text)}",
        f"    math.cos(float)   {line_of(cos)}",
        "  left the context:",
        "    math.sin ran without its table in thread MainThread   "
        f"{line_of(of_module, 1)}   1 time",
    ]


# ---- leaving ------------------------------------------------------------------------------


class Worker(threading.Thread):
    def run(self):
        of_module(1.0)


def in_thread():
    thread = threading.Thread(target=of_module, args=(1.0,))
    thread.start()
    thread.join()


def in_worker():
    worker = Worker()
    worker.start()
    worker.join()


def in_timer():
    timer = threading.Timer(0, of_module, (1.0,))
    timer.start()
    timer.join()


def in_pool():
    with ThreadPoolExecutor(1) as pool:
        pool.submit(of_module, 1.0).result()


def in_pool_map():
    with ThreadPoolExecutor(1) as pool:
        list(pool.map(of_module, [1.0]))


def in_json():
    json.dumps({1j: 1}.keys(), default=lambda keys: math.sin(1.0))


def in_weak_reference():
    thing = Worker()
    reference = weakref.ref(thing, lambda _: math.sin(1.0))
    del thing
    return reference


def in_finalizer():
    thing = Worker()
    weakref.finalize(thing, of_module, 1.0)


def in_loop():
    async def main():
        asyncio.get_running_loop().call_soon(of_module, 1.0)
        await asyncio.sleep(0)

    asyncio.run(main())


def in_executor_of_loop():
    async def main():
        await asyncio.to_thread(of_module, 1.0)

    asyncio.run(main())


def at_exit():
    atexit.register(of_module, 1.0)
    atexit.unregister(of_module)


def in_signal():
    signal.signal(signal.SIGTERM, signal.signal(signal.SIGTERM, lambda *_: math.sin(1.0)))


def through_partial():
    threading.Thread(target=functools.partial(of_module, 1.0))


def target_itself():
    threading.Thread(target=math.sin)


HANDING_OVER = [
    *(in_thread, in_worker, in_timer, in_pool, in_pool_map, in_json),
    *(in_weak_reference, in_finalizer, in_loop, in_executor_of_loop, at_exit, in_signal),
    *(through_partial, target_itself),
]


@pytest.mark.parametrize("program", HANDING_OVER)
def test_what_is_handed_over_stays_in_the_context(program):
    counted, strict = Context(table, count_calls=True), Context(table, strict=True)
    counted(program)
    strict(program)
    assert counted.report().left == strict.report().left == ()


@pytest.mark.parametrize(
    "program",
    [
        *(in_thread, in_worker, in_timer, in_pool, in_pool_map, in_weak_reference),
        *(in_loop, in_executor_of_loop),
    ],
)
def test_what_is_handed_over_is_reached(program):
    ctx = Context(table, count_calls=True)
    ctx(program)
    (hit,) = ctx.report().hits
    assert hit.calls == 1


def in_other_variables():
    return contextvars.Context().run(of_module, 1.0)


def in_a_thread_with_other_variables():
    thread = threading.Thread(target=in_other_variables)
    thread.start()
    thread.join()


@pytest.mark.parametrize("program", [in_other_variables, in_a_thread_with_other_variables])
def test_a_targets_own_code_that_runs_without_its_table_is_told(program):
    ctx = Context(table, count_calls=True)
    ctx(program)
    assert ctx.report().hits == ()
    (left,) = ctx.report().left
    assert (left.handed, left.where, left.times) == ("math.sin", line_of(of_module, 1), 1)
    assert left.to.startswith("thread ")
    assert contextvars.Context().run(of_module, 1.0) == math.sin(1.0)
    assert ctx.report().left == (left,)  # a call from outside is none of its business


def test_a_strict_context_refuses_it():
    ctx = Context(table, strict=True)
    with pytest.raises(OverlayError, match=r"math\.sin was called outside the context") as caught:
        ctx(in_other_variables)
    assert caught.value.where == line_of(of_module, 1)
    assert "ctx.wrap" in caught.value.help
    assert ctx(contextvars.Context().run, ctx.wrap(of_module), 1.0) == "sin"
    with pytest.raises(OverlayError, match="outside the context"):
        ctx(lambda: Context()(in_other_variables))


def test_what_is_meant_to_run_outside_is_not_told():
    ctx = Context(table, strict=True)
    assert ctx(nonoverlay(of_module), 1.0) == math.sin(1.0)
    assert ctx(lambda: nonoverlay(in_other_variables)()) == math.sin(1.0)
    assert ctx.report().left == ()


def wrapped_in_thread(ctx):
    results = []
    thread = threading.Thread(target=ctx.wrap(lambda: results.append(math.sin(1.0))))
    thread.start()
    thread.join()
    return results == ["sin"]


def stored_and_looked_at(ctx):
    held = [of_module]
    held.append(in_thread)
    named = {"f": of_module}
    setattr(Worker, "helper", of_module)  # noqa: B010 (a call of a C function is the point)
    same = getattr(Worker, "helper") is of_module  # noqa: B009
    del Worker.helper
    return same and callable(of_module) and isinstance(of_module, object) and named and held


def called_inside(ctx):
    pairs = [*map(of_module, [1.0]), *filter(of_module, [1.0])]
    assert re.sub("a", lambda match: math.sin(1.0), "a") == "sin"
    assert bisect.bisect([1.0, 2.0], "sin", key=of_module) == 2
    return sorted([1.0, 2.0], key=of_module) and functools.reduce(lambda a, b: a, pairs)


def without_callables(ctx):
    return json.dumps({"a": 1}) and re.sub("a", "b", "a") and [weakref.WeakSet([Worker()])]


def decorated(ctx):
    class Local:
        @property
        def value(self):
            return math.sin(1.0)

        @classmethod
        def made(cls):
            return cls()

    return functools.wraps(of_module)(lambda x: x) and Local.made()


def in_event_loop(ctx):
    async def main():
        return await asyncio.gather(one(), one())

    async def one():
        await asyncio.sleep(0)
        return math.sin(1.0)

    return asyncio.run(main()) == ["sin", "sin"]


@pytest.mark.parametrize(
    "program",
    [
        *(wrapped_in_thread, stored_and_looked_at, called_inside, without_callables),
        *(decorated, in_event_loop),
    ],
)
def test_what_stays_in_the_context_is_not_refused(program):
    assert Context(table, strict=True)(program, Context(table))
