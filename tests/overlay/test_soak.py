"""Very many contexts at once and one after the other: nothing is mixed up, nothing stays.

Each check runs in a process of its own: no object of an earlier test is counted, and nothing
checks the types of each of our calls.
"""

import asyncio
import functools
import gc
import subprocess
import sys
import threading
import types
import weakref

import pytest

from overlay import Context, MethodTable, current_context
from overlay.core.dispatch import MethodChain
from overlay.python.interception import Intercepted, InterceptingEngine, TargetView
from overlay.python.plugin_calls import PluginCalls

OURS = (InterceptingEngine, Intercepted, TargetView, MethodChain, PluginCalls)
THREADS, ROUNDS, TASKS = 64, 2, 1_000


def number():
    return -1


def changing():
    return "never"


def own_context(i):
    """A context whose method of ``number`` gives ``i``."""
    table = MethodTable(str(i))
    table.overlay(number)(lambda: i)
    return Context(table, metadata=i)


CELL = "def helper(): return {0}, number()\ndef program(): return helper(), number()"


def threads_and_tasks_each_have_a_context_while_code_changes():
    module = types.ModuleType("changing_cell")
    module.__dict__["number"] = number
    exec(CELL.format(0), module.__dict__)
    shared = MethodTable("shared")
    shared.overlay(changing)(lambda: 0)
    stop, wrong, calls = threading.Event(), [], []

    def change():
        version = 0
        while not stop.wait(0.1):
            version += 1
            exec(CELL.format(version), module.__dict__)
            shared.overlay(changing)(eval(f"lambda: {version}"))

    def check(i, found, version):
        (_, inner), outer = found
        if (inner, outer) != (i, i) or type(version) is not int or number() != -1:
            wrong.append((i, found, version))
        calls.append(i)

    def once():
        if number() == 13:
            raise ValueError(number())
        return module.program(), changing()

    def work(i):
        ctx = Context(shared) | own_context(i) if i % 2 else own_context(i)
        for _ in range(ROUNDS):
            try:
                found = ctx(once) if i % 2 else Context(shared)(lambda: ctx(once))
                check(i, *found)
            except ValueError as error:
                calls.append(i if i == error.args[0] == 13 else error)
            assert current_context() is None

    def guarded(i):
        try:
            work(i)
        except BaseException as error:
            wrong.append((i, error))

    async def task():
        seen = []
        for _ in range(3):
            seen.append((once(), current_context().metadata))
            await asyncio.sleep(0)
        return seen

    async def tasks():
        coroutines = [(Context(shared) | own_context(i + 100))(task) for i in range(TASKS)]
        for i, seen in enumerate(await asyncio.gather(*coroutines)):
            for found, metadata in seen:
                check(i + 100, *found)
                if metadata != i + 100:
                    wrong.append((i, metadata))

    changer = threading.Thread(target=change)
    threads = [threading.Thread(target=guarded, args=(i,)) for i in range(THREADS)]
    changer.start()
    for thread in threads:
        thread.start()
    try:
        asyncio.run(tasks())
        for thread in threads:
            thread.join()
    finally:
        stop.set()
        changer.join()
    assert wrong == []
    assert len(calls) == THREADS * ROUNDS + TASKS * 3


def counts():
    """How many objects of ours there are."""
    gc.collect()
    gc.collect()
    return {kind.__name__: sum(type(o) is kind for o in gc.get_objects()) for kind in OURS}


def more_than(before):
    """Of what there are more objects than before."""
    return {name: n for name, n in counts().items() if n > before[name]}


def use_everything(xs):
    """Call sites of many kinds; what stays alive when it ends would show."""

    class Thing:
        def __init__(self, x):
            self.x = x

        def __call__(self, x):
            return self.x + x

        def method(self):
            return number()

    def numbers():
        yield number()
        yield number()

    abandoned = numbers()
    next(abandoned)
    thing = Thing(1)
    made = functools.partial(thing, 2)()
    return [made, thing(1), thing.method(), sorted(xs, key=lambda x: -x), *map(Thing(2), xs)]


def contexts_made_and_dropped_leave_nothing():
    def one(i):
        return own_context(i)(use_everything, [1, 2])[2]

    def short(i):
        return own_context(i)(number)

    assert one(0) == 0
    before = counts()
    assert [one(i) for i in range(30)] == list(range(30))
    assert more_than(before) == {}
    assert [short(i) for i in range(300)] == list(range(300))
    assert more_than(before) == {}


def nested_contexts_leave_nothing():
    outer = own_context(1)

    def inside(i):
        return own_context(i)(use_everything, [1])[2], number()

    assert outer(inside, 5) == (5, 1)
    before = counts()
    for i in range(60):
        assert outer(inside, i) == (i, 1)
    assert more_than(before) == {}


def dead(references):
    gc.collect()
    gc.collect()
    return {name: reference() is None for name, reference in references.items()}


def what_a_program_makes_in_a_context_is_freed_when_the_program_drops_it():
    ctx = own_context(1)

    def program():
        class Thing:
            def method(self):
                return number()

            def __call__(self):
                return number()

        def closure():
            return number(), thing

        def values():
            yield closure()
            yield number()

        thing = Thing()
        bound, partial, running = thing.method, functools.partial(closure), values()
        lambdas = [lambda i=i: number() + i for i in range(3)]
        for _ in range(3):
            assert (bound(), thing(), partial()[0], closure()[0]) == (1, 1, 1, 1)
            assert [f() for f in lambdas] == [1, 2, 3]
        assert next(running)[0] == 1
        made = (Thing, thing, closure, bound, partial, running, lambdas[0], values)
        names = ("class", "instance", "closure", "bound", "partial", "generator", "lambda", "def")
        return dict(zip(names, map(weakref.ref, made), strict=True))

    for _ in range(3):
        found = dead(ctx(program))
        assert found == dict.fromkeys(found, True)
    assert ctx(number) == 1


def what_a_long_run_drops_is_freed_soon():
    ctx = own_context(1)

    def program():
        references = []
        for i in range(1200):
            f = eval("lambda i: lambda: (number(), i)", {"number": number})(i)
            f(), f()
            references.append(weakref.ref(f))
        return sum(reference() is not None for reference in references)

    assert ctx(program) < 1100


def redefined_functions_of_a_module_are_freed():
    module = types.ModuleType("redefined_in_module")
    sys.modules[module.__name__] = module
    module.__dict__["number"] = number
    ctx = own_context(1)
    cell = "class C:\n    def f(self): return number()\ndef f(): return C().f(), number()"
    exec(cell, module.__dict__)
    assert ctx(lambda: module.f()) == (1, 1)
    for _ in range(5):
        references = {"f": weakref.ref(module.f), "C": weakref.ref(module.C)}
        references["C.f"] = weakref.ref(module.C.f)
        exec(cell, module.__dict__)
        assert ctx(lambda: module.f()) == (1, 1)
        found = dead(references)
        assert found == dict.fromkeys(found, True)


CHECKS = (
    threads_and_tasks_each_have_a_context_while_code_changes,
    contexts_made_and_dropped_leave_nothing,
    nested_contexts_leave_nothing,
    what_a_program_makes_in_a_context_is_freed_when_the_program_drops_it,
    what_a_long_run_drops_is_freed_soon,
    redefined_functions_of_a_module_are_freed,
)


@pytest.mark.parametrize("name", [check.__name__ for check in CHECKS])
def test_in_a_process_of_its_own(name):
    done = subprocess.run([sys.executable, __file__, name], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


if __name__ == "__main__":
    globals()[sys.argv[1]]()
