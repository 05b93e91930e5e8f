"""Many threads, each in a context of its own, while tables change."""

import math
import threading

from overlay import Context, MethodTable, current_context


def helper(x):
    return math.sin(x)


def program(calls):
    return [call(1.0) for call in calls], current_context().metadata


def together(count, work):
    """Run ``work(i)`` in threads that start at the same time; what they raised."""
    barrier, raised = threading.Barrier(count), []

    def run(i):
        barrier.wait()
        try:
            work(i)
        except BaseException as error:
            raised.append(error)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return raised


def test_contexts_do_not_mix():
    def work(i):
        table = MethodTable(str(i))
        table.overlay(math.sin)(eval(f"lambda x: {i}"))
        ctx = Context(table, metadata=i)
        for _ in range(50):
            assert ctx(program, [math.sin, helper, math.sin]) == ([i, i, i], i)
            assert helper(1.0) == math.sin(1.0)

    assert together(8, work) == []


def test_threads_that_share_a_site_never_call_what_another_one_meant():
    table = MethodTable("shared")
    shared = Context(table)

    def site(f):
        return f(1.0)

    functions = [eval(f"lambda x: {i}") for i in range(8)]

    def work(i):
        for _ in range(300):
            assert shared(site, functions[i]) == i

    assert together(8, work) == []


def test_a_change_is_never_missed_for_good():
    table = MethodTable("changing")
    shared = Context(table)

    def work(i):
        for _ in range(30):
            if i == 0:
                table.overlay(math.sin)(lambda x: "overlaid")
                assert shared(helper, 1.0) == "overlaid"
                table.remove(math.sin)
                assert shared(helper, 1.0) == math.sin(1.0)
            else:
                assert shared(helper, 1.0) in ("overlaid", math.sin(1.0))

    assert together(6, work) == []
    assert shared(helper, 1.0) == math.sin(1.0)
