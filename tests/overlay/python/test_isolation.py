"""A context is in force for what it runs, and for nothing beside, after or around it."""

import asyncio
import contextvars
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from overlay import Context, MethodTable, current_context


def who():
    return "nobody"


def context_of(name):
    table = MethodTable(name)
    table.overlay(who)(lambda: name)
    return Context(table, metadata=name)


A, B = context_of("a"), context_of("b")


def names():
    current = current_context()
    return who(), None if current is None else current.metadata


OUTSIDE = ("nobody", None)


def test_a_thread_started_in_a_context_runs_in_it():
    found = []

    def program():
        for target in (lambda: found.append(names()), A.wrap(lambda: found.append(names()))):
            thread = threading.Thread(target=target)
            thread.start()
            thread.join()
        return names()

    assert A(program) == ("a", "a")
    assert found == [("a", "a"), ("a", "a")]
    assert names() == OUTSIDE


def test_an_executor_runs_each_work_in_the_context_that_hands_it_over():
    def program(pool):
        plain = [pool.submit(names) for _ in range(8)]
        wrapped = [pool.submit(ctx.wrap(names)) for ctx in (A, B) * 4]
        return [f.result() for f in plain], [f.result() for f in wrapped]

    with ThreadPoolExecutor(4) as pool:
        plain, wrapped = A(program, pool)
        assert plain == [("a", "a")] * 8
        assert wrapped == [("a", "a"), ("b", "b")] * 4
        assert list(pool.map(names_of_nothing, range(8))) == [OUTSIDE] * 8


def names_of_nothing(_):
    return names()


def test_tasks_interleave_each_in_its_own_context():
    async def task():
        seen = []
        for _ in range(3):
            seen.append(names())
            await asyncio.sleep(0)
        return seen

    async def program():
        created = asyncio.create_task(A(task))
        found = await asyncio.gather(A(task), B(task), task(), A(lambda: B(task)))
        return [*found, await created, names()]

    a, b, plain, nested, created, here = asyncio.run(program())
    assert [set(a), set(b), set(plain)] == [{("a", "a")}, {("b", "b")}, {OUTSIDE}]
    assert [set(nested), set(created), here] == [{("b", "b")}, {("a", "a")}, OUTSIDE]


def test_to_thread_runs_what_is_wrapped_in_its_context():
    async def program():
        wrapped = await asyncio.to_thread(B.wrap(names))
        return wrapped, names()

    assert asyncio.run(A(program)) == (("b", "b"), ("a", "a"))
    assert names() == OUTSIDE


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit, GeneratorExit])
def test_an_exception_leaves_nothing_behind(error):
    def fail(depth):
        if depth:
            (A, B)[depth % 2](fail, depth - 1)
        raise error(who())

    for ctx in (A, B):
        with pytest.raises(error) as caught:
            ctx(fail, 5)
        assert caught.value.args == ("b",)
        assert names() == OUTSIDE

    def handled():
        try:
            B(fail, 0)
        except BaseException as caught:
            return caught.args, names()

    assert A(handled) == (("b",), ("a", "a"))


def test_a_generator_keeps_its_context_when_that_has_ended_and_gives_it_to_nobody():
    def numbers():
        try:
            while True:
                got = yield names()
                if got is not None:
                    yield got()
        finally:
            closed.append(names())

    closed = []
    first, second = A(numbers), context_of("gone")(numbers)
    assert [next(first), next(second), names()] == [("a", "a"), ("gone", "gone"), OUTSIDE]
    assert B(lambda: [next(first), names()]) == [("a", "a"), ("b", "b")]
    assert first.send(names) == ("a", "a")
    thread = threading.Thread(target=lambda: closed.append(next(second)))
    thread.start()
    thread.join()
    first.close()
    second.close()
    assert closed == [("gone", "gone"), ("a", "a"), ("gone", "gone")]
    assert names() == OUTSIDE


def test_an_async_generator_keeps_its_context():
    async def numbers():
        for _ in range(2):
            yield names()
            await asyncio.sleep(0)

    async def program():
        return [(value, names()) async for value in A(numbers)]

    assert asyncio.run(program()) == [(("a", "a"), OUTSIDE)] * 2
    assert asyncio.run(B(program)) == [(("a", "a"), ("b", "b"))] * 2


def test_a_copy_of_the_interpreters_context_carries_the_stack():
    copy = A(contextvars.copy_context)
    assert copy.run(who) == "a"
    assert A(lambda: contextvars.Context().run(who)) == "nobody"
    assert names() == OUTSIDE


REPLACED = """
import builtins
import math
import operator
import sys
from overlay import Context, MethodTable, Plugin, call_next

table = MethodTable("own")


@table.overlay(math.sin)
def sin(x: float):
    return "sin", call_next(x)


@table.overlay(operator.add)
def add(x: int, y: int):
    return "add", call_next(x, y)


class Around(Plugin):
    def around(self, callee, run):
        return lambda *args: run(*args)


class Integer(int): pass


class Float(float): pass


def refuse(*args, **kwargs):
    raise AssertionError("called by the engine")


def program(a, b, x):
    def inner():  # met, resolved for these classes and called for the first time here
        return math.sin(x), a + b, (lambda: b + a)(), [a + n for n in (b,)]

    return math.cos(0.5), inner()


space = vars(builtins)
calls = {"__build_class__"}  # of this script
for plugins in ([], [Around()]):
    for name in sorted({*space} - calls):
        for takes in (dict.pop, lambda space, name: space.update({name: refuse})):
            context = Context(table, plugins=plugins)
            context(program, 1, 2, 1.0)  # typing and plum read annotations, by its builtins
            own, given = space[name], (Integer(1), Integer(2), Float(1))
            takes(space, name)
            try:
                found = context(program, *given)
            except BaseException as error:
                found = error
            finally:
                space[name] = own
            expected = (math.cos(0.5), (("sin", math.sin(1)), *[("add", 3)] * 2, [("add", 3)]))
            assert found == expected, (plugins, name, found)
print(len(space) > 150)
"""


def test_the_engine_does_not_call_builtins_that_the_program_replaces_or_takes_away():
    # in a process of its own, where nothing checks types by these builtins
    done = subprocess.run([sys.executable, "-c", REPLACED], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "True\n", "")


def test_variables_that_are_older_than_the_context_carry_no_stack():
    older = contextvars.copy_context()

    def program():
        return older.run(lambda: names()), names()

    assert A(program) == (OUTSIDE, ("a", "a"))
    assert B(program) == (OUTSIDE, ("b", "b"))
    assert older.run(names) == OUTSIDE
