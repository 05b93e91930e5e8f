"""Operators as targets, at the instructions that apply them: in which frames, and beside whom."""

import asyncio
import gc
import marshal
import math
import operator
import os
import pathlib
import pickle
import subprocess
import sys
import threading
import types

import pytest

from overlay import Context, MethodTable, OverlayError, Plugin, call_next
from overlay.code.applied import applied
from overlay.code.depths import depths
from overlay.python import interception, sites

pytestmark = [
    pytest.mark.skipif(interception.intercept is None, reason="the part in C is not built here"),
    pytest.mark.usefixtures("no_target_of_a_living_context"),
]
monitoring = sys.monitoring
INSTRUCTION = monitoring.events.INSTRUCTION


def counting(*targets):
    """A context of which the methods note what they are called for, and go on."""
    table, seen = MethodTable("counting"), []
    for target in targets:

        def method(*args, _name=target.__name__):
            seen.append(_name)
            return call_next(*args)

        table.overlay(target)(method)
    return Context(table), seen


# ---- frames ------------------------------------------------------------------------------------


def test_each_frame_that_starts_in_the_context_applies_the_methods():
    def program(x):
        class Body:
            held = x + 1

        found = [Body.held, (lambda y: y + 2)(x), [n + 3 for n in (x,)], {n + 4 for n in (x,)}]
        found += [list(n + 5 for n in (x,)), eval("x + 6", {"x": x})]  # noqa: C400
        space = {"x": x}
        exec("y = x + 7", space)
        return [*found, space["y"], list(map(lambda y: y + 8, [x]))]  # noqa: C417

    expected = [11, 12, [13], {14}, [15], 16, 17, [18]]
    context, seen = counting(operator.add)
    assert program(10) == context(program, 10) == expected
    assert seen == ["add"] * 8
    with context:
        assert program(10) == expected
    assert seen == ["add"] * 16
    assert program(10) == expected
    assert seen == ["add"] * 16


@pytest.mark.parametrize("times", [1, 100])
def test_the_frame_of_a_block_applies_them_too(times):
    context, seen = counting(operator.add, operator.lt, operator.getitem)

    def program(x):
        before = x + 1
        with context:
            inside = x + 1, x < 2, [x][0]
        return before, inside, x + 1

    for _ in range(times):
        assert program(1) == (2, (2, True, 1), 2)
    assert seen == ["add", "lt", "getitem"] * times


@pytest.mark.parametrize("times", [1, 100])
def test_the_block_of_an_init_applies_them_too_where_the_interpreter_enters_it_by_itself(times):
    context, seen = counting(operator.add)

    class Entered:
        def __init__(self, x):
            with context:
                self.sum = x + 1

    def program():
        return Entered(1).sum

    assert [program() for _ in range(times)] == [2] * times
    assert seen == ["add"] * times


def test_a_generator_applies_them_where_it_is_advanced():
    context, seen = counting(operator.add)

    def numbers(x):
        while True:
            x = x + 1
            yield x

    outside = numbers(0)
    assert next(outside) == 1
    assert not seen
    assert context(next, outside) == 2
    assert seen == ["add"]
    assert next(outside) == 3
    assert seen == ["add"]
    inside = context(lambda: [numbers(0)])[0]  # what it returns is not pinned in a list
    assert next(inside) == 1
    assert seen == ["add"]
    assert context(inside.send, None) == 2
    assert seen == ["add"] * 2


def test_a_throw_goes_on_in_the_context():
    context, seen = counting(operator.add)

    def numbers():
        try:
            yield 1
        except KeyError:
            yield len("ab") + 1

    held = numbers()
    next(held)
    assert context(held.throw, KeyError()) == 3
    assert seen == ["add"]


def test_coroutines_apply_them_in_the_tasks_of_the_context():
    context, seen = counting(operator.add)

    async def program(x):
        await asyncio.sleep(0)
        return x + 1

    async def main():
        async def beside():
            return await program(5)

        task = asyncio.ensure_future(beside())
        found = await context(program, 1)
        return found, await task

    assert asyncio.run(main()) == (2, 6)
    assert seen == ["add"]


def test_threads_that_are_started_inside_apply_them():
    context, seen = counting(operator.xor)

    def program():
        threads = [
            threading.Thread(target=lambda n=n: [m ^ n for m in range(10)]) for n in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    context(program)
    assert seen == ["xor"] * 40


def test_sixteen_threads_apply_and_redefine():
    table = MethodTable("changing")
    context, stop, wrong = Context(table), threading.Event(), []

    def add(a, b):
        return a + b

    def applies():
        while not stop.is_set():
            if context(add, 1, 2) not in (3, 4) or add(1, 2) != 3:
                wrong.append("add")

    def redefines():
        try:
            for _ in range(100):
                table.overlay(operator.add)(lambda a, b: 4)
                table.remove(operator.add)
        finally:
            stop.set()

    threads = [threading.Thread(target=applies) for _ in range(15)]
    threads.append(threading.Thread(target=redefines))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_recursion_in_a_method_ends_in_an_error():
    table = MethodTable("deep")
    table.overlay(operator.add)(lambda a, b: a + b)
    with pytest.raises(RecursionError):
        Context(table)(lambda: len("a") + 1)
    assert len("a") + 1 == 2


def test_what_is_applied_keeps_nothing():
    table = MethodTable("none")
    table.overlay(operator.add)(lambda a, b: call_next(a, b))
    context = Context(table)

    def fails():
        try:
            return None + 1
        except TypeError:
            return None

    def program():
        for n in range(1000):
            n + 1.0
            fails()

    context(program)
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(10):
        context(program)
    gc.collect()
    assert sys.getallocatedblocks() - before < 500


def test_a_process_ends_well_with_operators_as_targets():
    program = (
        "import operator, threading\n"
        "from overlay import Context, MethodTable, call_next\n"
        "table = MethodTable('t')\n"
        "table.overlay(operator.add)(lambda a, b: call_next(a, b))\n"
        "context = Context(table)\n"
        "class Late:\n"
        "    def __del__(self):\n"
        "        len('a') + 1\n"
        "def steps():\n"
        "    x = 0\n"
        "    while True:\n"
        "        x = x + 1\n"
        "        yield x\n"
        "kept = [Late(), context(steps)]\n"
        "next(kept[1])\n"
        "context.__enter__()\n"
        "print(len('ab') + 1)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "ignore", "-c", program],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "3\n", "")


# ---- other tools -------------------------------------------------------------------------------


def summed(n):
    total = 0
    for i in range(n):
        total = total + i
    return total


@pytest.fixture
def sums():
    """A copy of ``summed``, whose code no tool was told of before."""
    return types.FunctionType(summed.__code__.replace(), {})


class Tool:
    """Another tool of ``sys.monitoring``, which hears of the instructions of a code object."""

    def __init__(self, code, everywhere):
        self.code, self.everywhere, self.heard = code, everywhere, 0

    def __enter__(self):
        self.id = next(i for i in range(5) if monitoring.get_tool(i) is None)
        monitoring.use_tool_id(self.id, "another")
        monitoring.register_callback(self.id, INSTRUCTION, self.hear)
        self.set(INSTRUCTION)
        return self

    def set(self, events):
        if self.everywhere:
            monitoring.set_events(self.id, events)
        else:
            monitoring.set_local_events(self.id, self.code, events)

    def hear(self, code, offset):
        self.heard += code is self.code

    def __exit__(self, *error):
        self.set(0)
        monitoring.free_tool_id(self.id)


class Traces:
    """A trace function, which hears of instructions where it asks for them."""

    def __init__(self, code, opcodes):
        self.code, self.opcodes, self.heard = code, opcodes, 0

    def __enter__(self):
        self.before = sys.gettrace()
        sys.settrace(self.trace)
        return self

    def trace(self, frame, event, argument):
        frame.f_trace_opcodes = self.opcodes
        self.heard += frame.f_code is self.code and event == ("opcode" if self.opcodes else "line")
        return self.trace

    def __exit__(self, *error):
        sys.settrace(self.before)


class Profiles:
    def __init__(self, code):
        self.code, self.heard = code, 0

    def __enter__(self):
        sys.setprofile(self.profile)
        return self

    def profile(self, frame, event, argument):
        self.heard += frame.f_code is self.code

    def __exit__(self, *error):
        sys.setprofile(None)


OTHERS = {
    "a tool, everywhere": lambda code: Tool(code, True),
    "a tool, in one code": lambda code: Tool(code, False),
    "a trace function": lambda code: Traces(code, False),
    "a trace function, of instructions": lambda code: Traces(code, True),
    "a profiler": Profiles,
}


@pytest.mark.parametrize("name", OTHERS)
def test_another_tool_that_comes_and_goes_takes_nothing_from_us(name, sums):
    context, seen = counting(operator.add)

    def run():
        seen.clear()
        assert context(sums, 10) == 45
        assert seen == ["add"] * 10

    run()
    with OTHERS[name](sums.__code__):  # Python 3.12 tells of no instructions the first time
        sums(10)
    for _ in range(2):
        with OTHERS[name](sums.__code__) as other:
            run()
            assert other.heard
            assert sums(10) == 45
        run()
    with OTHERS[name](sums.__code__):
        assert sums(10) == 45
    run()


@pytest.mark.parametrize("name", OTHERS)
def test_we_take_nothing_from_another_tool_that_was_there(name, sums):
    def heard_by(other, run):
        before = other.heard
        run()
        return other.heard - before

    def inside(context):
        return lambda: context(sums, 10)

    with OTHERS[name](sums.__code__) as other:
        sums(10)
        natively = heard_by(other, lambda: sums(10))
        assert natively
        for _ in range(2):
            context, seen = counting(operator.add)
            assert heard_by(other, inside(context)) == natively
            assert heard_by(other, inside(context)) == natively
            assert seen == ["add"] * 20
            assert heard_by(other, lambda: sums(10)) == natively
            del context
            gc.collect()
            assert heard_by(other, lambda: sums(10)) == natively


def test_no_tool_is_held_where_no_operator_is_a_target():
    gc.collect()
    before = [monitoring.get_tool(i) for i in range(6)]
    context, _ = counting(operator.add)
    assert context(summed, 3) == 3
    assert [monitoring.get_tool(i) for i in range(6)].count("overlay") == 1
    del context
    gc.collect()
    assert [monitoring.get_tool(i) for i in range(6)] == before
    assert sites._tool is None
    assert not sites._prepared


class Hears(Plugin):
    """Notes what is called."""

    def __init__(self):
        self.heard = []

    def around(self, callee, run):
        def noted(*args, **kwargs):
            self.heard.append(callee)
            return run(*args, **kwargs)

        return noted


def called_twice(x):
    return math.floor(x), math.floor(x)


def test_no_tool_is_held_and_no_code_instrumented_where_no_context_has_plugins():
    gc.collect()
    before = [monitoring.get_tool(i) for i in range(6)]
    context = Context(plugins=(Hears(),))
    context(called_twice, 1.5)
    tool, code = sites._tool, called_twice.__code__
    assert monitoring.get_local_events(tool, code) == INSTRUCTION
    del context
    gc.collect()
    assert [monitoring.get_tool(i) for i in range(6)] == before
    assert sites._tool is None
    assert not sites._prepared
    monitoring.use_tool_id(tool, "another")
    try:
        assert monitoring.get_local_events(tool, code) == 0
    finally:
        monitoring.free_tool_id(tool)


@pytest.mark.parametrize("plugins", [1, 2])
def test_code_that_was_looked_at_for_operators_is_looked_at_again_for_plugins(plugins):
    for_operators, _ = counting(operator.add)
    for_operators(called_twice, 1.5)
    hearing = [Hears() for _ in range(plugins)]
    contexts = [Context(plugins=(plugin,)) for plugin in hearing]
    for context in contexts:
        context(called_twice, 1.5)
    assert [plugin.heard for plugin in hearing] == [[called_twice, *[math.floor] * 2]] * plugins


def test_code_without_such_instructions_is_no_longer_instrumented():
    for_operators, _ = counting(operator.add)
    for_operators(called_twice, 1.5)
    context = Context(plugins=(Hears(),))
    context(called_twice, 1.5)
    code = called_twice.__code__
    assert monitoring.get_local_events(sites._tool, code) == INSTRUCTION
    del context
    gc.collect()
    for_more, _ = counting(operator.sub)
    for_more(called_twice, 1.5)
    assert monitoring.get_local_events(sites._tool, code) == 0


def test_where_all_ids_are_taken_the_others_are_told():
    gc.collect()
    taken = [i for i in (3, 4) if monitoring.get_tool(i) is None]
    for i in taken:
        monitoring.use_tool_id(i, f"tool {i}")
    try:
        context, seen = counting(operator.add)
        with pytest.raises(
            OverlayError, match="all tool ids of sys\\.monitoring are taken"
        ) as info:
            context(summed, 3)
        assert "4: tool 4" in str(info.value)
        assert "free_tool_id" in str(info.value)
    finally:
        for i in taken:
            monitoring.free_tool_id(i)
    seen.clear()
    assert context(summed, 3) == 3
    assert seen == ["add"] * 3  # nothing is left of the entry that was refused


@pytest.mark.parametrize("times", [1, 100])
@pytest.mark.parametrize("builtin", [type, str, tuple])
def test_our_own_code_calls_natively_what_instructions_call_where_it_is_hot(builtin, times):
    table = MethodTable("builtins")
    table.overlay(builtin)(lambda x: "another")
    space = {"builtin": builtin}
    exec(compile("def ours(x): return builtin(x)", sites.__file__, "exec"), space)
    given = (1, 2)
    for _ in range(times):
        found = Context(table)(lambda x: (builtin(x), space["ours"](x)), given)
        assert found == ("another", builtin(given))


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="frames tell where their stack ends")
def test_the_depth_of_the_stack_is_known_in_all_code_of_the_standard_library():
    walked = 0
    for path in sorted(pathlib.Path(os.__file__).parent.glob("[a-z]*.py")):
        for code in codes_of(compile(path.read_bytes(), str(path), "exec", dont_inherit=True)):
            known = depths(code)
            for offset, *_ in applied(code):
                walked += offset in known
    assert walked > 20_000


def codes_of(code):
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_of(constant)


def test_code_is_the_programs_own():
    def own():
        code = summed.__code__
        return (
            marshal.loads(marshal.dumps(code)),
            code.co_code,
            code.replace(),
            pickle.dumps(summed),
        )

    natively = own()
    context, seen = counting(operator.add)
    assert context(lambda: (summed(3), own())) == (3, natively)
    copied = type(summed)(context(summed.__code__.replace), {"range": range})
    assert copied(3) == 3
    assert context(copied, 3) == 3
    assert seen == ["add"] * 6
