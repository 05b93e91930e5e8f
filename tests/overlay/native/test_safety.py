"""What no kind of target may do to a process: end it, keep objects, or be lost where it forks,
recurses, collects, or shuts down."""

import functools
import gc
import os
import subprocess
import sys
import textwrap
import time
import weakref

import pytest

from overlay.python import interception
from overlay.python.self_test import CALLS, HOT, NotingResolver, count_of, installed, seen, site

intercept = interception.intercept
pytestmark = pytest.mark.skipif(intercept is None, reason="the part in C is not built here")
KINDS = pytest.mark.parametrize("name", CALLS)


def run(program, *args):
    """Run a program in a process of its own, which has to end well and in silence.

    Returns the lines that it prints.

    Its coverage is not measured: what measures it holds a lock in a process forked from threads.
    """
    ran = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", textwrap.dedent(program), *args],
        env={name: text for name, text in os.environ.items() if not name.startswith("COVERAGE_")},
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, ""), ran.stdout + ran.stderr
    return ran.stdout.split("\n")[:-1]


# ---- references -------------------------------------------------------------------------------


def grown(turn, turns=2_000):
    """How many blocks of memory a thousand turns keep, each time that they are made."""
    blocks = []
    for count in (200, turns, turns):
        for _ in range(count):
            turn()
        gc.collect()
        blocks.append(sys.getallocatedblocks())
    return min(blocks[1] - blocks[0], blocks[2] - blocks[1]) * 1000 / turns


@KINDS
def test_installations_and_calls_keep_nothing(name):
    _, target, text = CALLS[name]
    if "type(" in text:
        pytest.skip("it makes classes, which keep memory natively")
    calls, record = site(text), NotingResolver(target)

    def turn():
        record.interception.install()
        count_of(calls)
        record.interception.remove()
        seen.clear()

    assert grown(turn) < 50


@pytest.mark.parametrize("fails", ["resolver", "implementation", "memo"])
@pytest.mark.parametrize("name", ["function", "C method of several", "class", "slot wrapper"])
def test_errors_keep_nothing(name, fails):
    class Failing(NotingResolver):
        def found(self, args):
            if fails == "resolver":
                raise LookupError("no method")
            if fails == "memo":
                self.more = {tuple(map(type, args)): implementation}
            return implementation

    def implementation(*args, **kwargs):
        raise LookupError("of a method")

    _, target, text = CALLS[name]
    calls, record = site(text), Failing(target)
    record.interception.install()

    def turn():
        with pytest.raises(LookupError):
            count_of(calls)
        seen.clear()

    try:
        assert grown(turn, 500) < 50
    finally:
        record.interception.remove()


def test_a_record_and_what_its_memo_keeps_go_with_it():
    def target(x):
        return x

    class Value:
        pass

    class Keeping(NotingResolver):
        def found(self, args):
            self.more = {tuple(map(type, args)): self.interception}
            return self.interception

    record = Keeping(target)
    record.interception.install()
    count_of(functools.partial(target, Value()))
    record.interception.remove()
    seen.clear()
    gone = [weakref.ref(each) for each in (target, Value, record)]
    del target, Value, record, Keeping
    gc.collect()
    assert [each() for each in gone] == [None] * 3


# ---- what happens meanwhile -------------------------------------------------------------------


@KINDS
def test_a_target_may_be_taken_out_in_its_first_call(name):
    class Removing(NotingResolver):
        def found(self, args):
            seen.append(args)
            self.interception.remove()
            return self.interception

        def select(self, args, kwargs):
            return self.found(args)

    _, target, text = CALLS[name]
    cold, hot = site(text), site(text)
    for _ in range(HOT):
        hot()
    for calls in (cold, hot):
        with installed(target, Removing):
            assert count_of(calls) == 1
            assert count_of(calls) == 0


@KINDS
def test_a_target_may_be_forgotten_and_installed_anew_in_each_call(name):
    class Restless(NotingResolver):
        def found(self, args):
            seen.append(args)
            self.more = {tuple(map(type, args)): self.interception}
            self.interception.forget()
            self.interception.remove()
            self.interception.install()
            return self.interception

        def select(self, args, kwargs):
            return self.found(args)

    wanted, target, text = CALLS[name]
    calls = site(text)
    with installed(target, Restless):
        assert 1 <= count_of(calls) <= wanted


@KINDS
def test_collections_at_any_time_do_no_harm(name):
    wanted, target, text = CALLS[name]
    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(5):
            with installed(target):
                assert count_of(site(text)) == wanted
    finally:
        gc.set_threshold(*before)


RECURSIVE = {
    "function": "def target(n): return target(n + 1)",
    "function by map": "def target(n): return list(map(target, [n + 1]))",
    "function by sorted": "def target(n): return sorted([n, 1], key=target)",
    "class": """
        class target:
            def __init__(self, n):
                target(n + 1)
    """,
    "callable object": """
        class Calls:
            def __call__(self, n):
                return target(n + 1)
        target = Calls()
    """,
    "function that keeps results": """
        import functools
        @functools.lru_cache
        def target(n):
            return target(n + 1)
    """,
    "getter": """
        class Holds:
            @property
            def value(self):
                return self.value
        target = Holds.value.fget
        begin = lambda: Holds().value
    """,
    "operator": """
        class Number:
            def __add__(self, other):
                return self + other
        target = Number.__add__
        begin = lambda: Number() + 1
    """,
    "attribute": """
        class Holds:
            def __getattr__(self, name):
                return getattr(self, name + "x")
        target = Holds.__getattr__
        begin = lambda: Holds().x
    """,
    "slot wrapper": """
        class Number(int):
            def __add__(self, other):
                return int.__add__(self, Number.__radd__(self, other))
            def __radd__(self, other):
                return other.__add__(self)
        target = int.__add__
        number = Number(1)
        begin = lambda: number + number
    """,
    "C method": """
        class Text:
            def __iter__(self):
                return iter(",".join(Text()))
        target = str.join
        begin = lambda: ",".join(Text())
    """,
}


@pytest.mark.parametrize("stack", [256, 0])
@pytest.mark.parametrize("in_force", [False, True])
@pytest.mark.parametrize("kind", RECURSIVE)
def test_recursion_ends_in_an_error_on_any_stack(kind, in_force, stack):
    program = """
        import sys, threading
        from overlay import Context, MethodTable, call_next
        {0}
        begin = globals().get("begin") or (lambda: target(0))
        table = MethodTable("table")
        table.overlay(target)(lambda *args: call_next(*args))
        ctx = Context(table)
        ctx(int)
        sys.setrecursionlimit(100_000 if {2} else 1_000)
        threading.stack_size({2} * 1024)
        def run():
            try:
                ctx(begin) if {1} else begin()
            except RecursionError:
                print("ended")
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    """
    if kind == "slot wrapper" and stack == 256 and sys.version_info[:2] == (3, 13):
        pytest.skip("CPython 3.13 crashes natively")
    text = textwrap.dedent(program).format(textwrap.dedent(RECURSIVE[kind]), in_force, stack)
    assert run(text) == ["ended"]


# ---- fork, threads and the end ----------------------------------------------------------------

ALL = """
    import gc, os, sys, threading, atexit
    from overlay.python.entered_functions import called_functions
    from overlay.python.self_test import CALLS, NotingResolver, count_of, seen, site
    records, sites = [], []
    for name, (wanted, target, text) in CALLS.items():
        if not any(target is record.target for record in records):
            record = NotingResolver(target)
            record.target = target
            records.append(record)
        sites.append(site(text))
    def install():
        called_functions.add([record.target for record in records])
        for record in records:
            record.interception.install()
    def remove():
        for record in records:
            record.interception.remove()
            called_functions.remove(record.target)
    def calls():
        for each in sites:
            each()
    install()
    everything = count_of(calls)
    assert everything > 100
"""


def test_a_process_that_forks_has_its_targets_intercepted_in_both():
    assert run(
        ALL
        + """
    for turn in range(3):
        child = os.fork()
        if child == 0:
            calls()
            assert count_of(calls) == everything
            remove()
            assert count_of(calls) == 0
            install()
            assert count_of(calls) == everything
            os._exit(7)
        assert os.waitpid(child, 0)[1] == 7 << 8
        calls()
        assert count_of(calls) == everything
    print("both")
    """
    ) == ["both"]


def test_a_process_may_fork_while_threads_call_and_install():
    assert run(
        "import warnings\nwarnings.simplefilter('ignore')\n"
        + textwrap.dedent(ALL)
        + textwrap.dedent("""
    ends = threading.Event()
    def busy():
        while not ends.is_set():
            calls()
            records[0].interception.remove()
            records[0].interception.install()
    threads = [threading.Thread(target=busy, daemon=True) for _ in range(4)]
    for thread in threads:
        thread.start()
    for turn in range(10):
        child = os.fork()
        if child == 0:
            records[0].interception.install()
            os._exit(0 if count_of(calls) == everything else 1)
        assert os.waitpid(child, 0)[1] == 0
    ends.set()
    for thread in threads:
        thread.join()
    print("both")
    """)
    ) == ["both"]


ENDS = {
    "installed": "",
    "in a stack": """
        from overlay.core.in_force import key_in_force, stack_in_force
        from overlay.python.self_test import TestStack
        stack_in_force.set(TestStack()); key_in_force.set(object())
        calls()
        atexit.register(calls)
    """,
    "called by atexit": """
        atexit.register(lambda: count_of(calls))
        atexit.register(remove)
    """,
    "called by finalisers of modules": """
        class Last:
            def __del__(self, calls=calls, count_of=count_of):
                calls()
                count_of(calls)
        last = sys.last = Last()
        last.itself = last
    """,
    "called by a daemon": """
        def always():
            while True:
                count_of(calls)
        for _ in range(4):
            threading.Thread(target=always, daemon=True).start()
    """,
    "a context in force": """
        import math
        from overlay import Context, MethodTable, call_next
        remove()
        table = MethodTable("table")
        for record in records:
            table.overlay(record.target)(lambda *args, **named: call_next(*args, **named))
        Context(table).__enter__()
        calls()
        class Last:
            def __del__(self, calls=calls):
                calls()
        sys.last = Last()
        atexit.register(calls)
    """,
}


@pytest.mark.parametrize("how", ENDS)
def test_a_process_ends_well_with_targets_intercepted(how):
    assert run(
        textwrap.dedent(ALL) + textwrap.dedent(ENDS[how]) + "\nprint('end', flush=True)"
    ) == ["end"]


def test_contexts_come_and_go_in_threads_that_call_and_redefine():
    assert run("""
        import sys, threading
        from overlay import Context, MethodTable, call_next
        from overlay.python.self_test import CALLS, site
        sys.setswitchinterval(1e-5)
        sites = [site(text) for _, _, text in CALLS.values() if "type(" not in text]
        targets = {id(target): target for _, target, _ in CALLS.values()}.values()
        targets = [t for t in targets if getattr(t, "__name__", "") not in ("append", "__exit__")]
        errors = []
        def work(index):
            try:
                for turn in range(6):
                    table = MethodTable("table")
                    seen = []
                    for target in targets[index % 4 :: 4]:
                        table.overlay(target)(lambda *args, **named: call_next(*args, **named))
                    with Context(table):
                        for each in sites:
                            each()
                        for target in targets[index % 4 :: 4]:
                            def method(*args, **named):
                                seen.append(1)
                                return call_next(*args, **named)
                            table.overlay(target)(method)
                        for each in sites:
                            each()
                        assert seen
            except BaseException as error:
                import traceback
                traceback.print_exc()
                errors.append(error)
        threads = [threading.Thread(target=work, args=(i,)) for i in range(16)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert not errors
        print("done")
    """) == ["done"]


@pytest.mark.skipif(sys.version_info < (3, 14), reason="there is no public module for it")
def test_other_interpreters_with_locks_of_their_own_go_on_natively():
    assert run("""
        import textwrap, threading, time
        from concurrent import interpreters
        from overlay import Context, MethodTable, call_next
        table = MethodTable("table")
        for target in (str.upper, int, list.append):
            table.overlay(target)(lambda *args: call_next(*args))
        work = textwrap.dedent('''
            import time
            end = time.time() + 2
            while time.time() < end:
                for _ in range(200):
                    class A:
                        pass
                    xs = []
                    xs.append("a".upper())
                    int("1")
        ''')
        def main():
            own = [interpreters.create() for _ in range(2)]
            threads = [threading.Thread(target=each.exec, args=(work,)) for each in own]
            for thread in threads:
                thread.start()
            exec(work, {})
            for thread in threads:
                thread.join()
        Context(table)(main)
        print("done")
    """) == ["done"]


@pytest.mark.parametrize(
    "target", [vars(object)["__init_subclass__"], time.time, time.sleep, dict.keys, len, str.join]
)
def test_a_target_keeps_the_signature_that_is_made_of_its_flags(target):
    before = target.__text_signature__, target.__doc__
    with installed(target):
        assert (target.__text_signature__, target.__doc__) == before
    assert (target.__text_signature__, target.__doc__) == before


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_bound_method_that_another_context_holds_goes_on_to_its_class(order):
    targets = [{}.get, dict.get]
    records = [NotingResolver(each) for each in targets]
    of_class, bound = records[1], targets[0]
    for index in order:
        records[index].interception.install()
    try:
        records[0].found = lambda args: records[0].interception
        count_of(lambda: bound(1))
        assert (1,) not in seen
        assert len(seen) == 1
        of_class.interception.remove()
        assert count_of(lambda: bound(1)) == 0
    finally:
        for record in records:
            record.interception.remove()
