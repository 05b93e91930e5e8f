"""Targets are intercepted whoever calls them: each kind of target by each instruction that calls
it, made hot before, on each Python."""

import functools
import gc
import math
import sys
import threading
import weakref

import pytest

from overlay.core.in_force import key_in_force as key
from overlay.core.in_force import stack_in_force as stack
from overlay.python import interception
from overlay.python.self_test import (
    CALLS,
    HOT,
    Exact,
    NotingResolver,
    TestStack,
    check,
    check_instructions,
    count_of,
    installed,
    p,
    plain,
    seen,
)

intercept = interception.intercept
pytestmark = pytest.mark.skipif(intercept is None, reason="the part in C is not built here")


@pytest.mark.parametrize("name", CALLS)
def test_each_call_is_seen_and_none_where_no_stack_is_in_force(name):
    check(name)


def test_instructions_that_apply_targets_and_calls_with_a_plugin_are_seen():
    check_instructions()


@pytest.mark.parametrize("target", [sum.__call__, p.moved])
def test_what_cannot_be_intercepted_is_told_with_the_reason(target):
    assert interception.why_not(target)


def test_init_of_a_class_that_comes_later_is_called():
    with installed(Exact.__init__):

        class Later(Exact):
            pass

        class Last(Later):
            pass

        def calls():
            return Later(1), Last(2)

        for _ in range(HOT):
            calls()
        assert count_of(calls) == 2
    for _ in range(HOT):
        calls()
    assert count_of(calls) == 0


def test_a_target_has_one_interception():
    one = NotingResolver(plain).interception
    one.install()
    try:
        with pytest.raises(ValueError, match="intercepted already"):
            NotingResolver(plain)
        one.install()
        assert intercept.interception_of(plain) is one
    finally:
        one.remove()
        one.remove()
    assert intercept.interception_of(plain) is None


def test_a_bound_method_that_was_made_meanwhile_goes_on_natively():
    record = NotingResolver(str.upper)
    record.interception.install()
    upper = "a".upper
    assert upper() == "A"
    record.interception.remove()
    assert upper() == "A"
    assert count_of(upper) == 0


def test_nothing_of_a_target_changes_for_the_program():
    targets = [target for _, target, _ in CALLS.values() if isinstance(target, type(len))]
    before = [(hash(f), f.__name__, f.__doc__, f.__self__, f.__text_signature__) for f in targets]
    records = [NotingResolver(target) for target in dict.fromkeys(targets)]
    for record in records:
        record.interception.install()
    after = [(hash(f), f.__name__, f.__doc__, f.__self__, f.__text_signature__) for f in targets]
    for record in records:
        record.interception.remove()
    assert after == before


def test_a_method_may_take_its_target_out_while_it_is_called():
    class Removing(NotingResolver):
        def found(self, args):
            self.interception.remove()
            return lambda x=1: "removed"

    record = Removing(plain)
    record.interception.install()
    tokens = stack.set(TestStack()), key.set(object())
    try:
        assert [plain(1), plain(1)] == ["removed", 1]
    finally:
        stack.reset(tokens[0])
        key.reset(tokens[1])


def test_an_error_of_the_resolver_is_the_callers_and_leaves_the_stack_in_force():
    class Failing(NotingResolver):
        def found(self, args):
            raise LookupError("no method")

    record = Failing(plain)
    record.interception.install()
    here = TestStack()
    tokens = stack.set(here), key.set(here)
    try:
        with pytest.raises(LookupError, match="no method"):
            plain(1)
        assert stack.get() is key.get() is here
    finally:
        stack.reset(tokens[0])
        key.reset(tokens[1])
        record.interception.remove()


def test_what_types_resolve_to_is_kept_and_forgotten():
    class Keeping(NotingResolver):
        def found(self, args):
            seen.append(args)
            found = self.interception
            self.more = {tuple(map(type, args)): found}
            return found

    record = Keeping(plain)
    record.interception.install()
    try:
        assert count_of(lambda: [plain(i) for i in range(5)]) == 1
        # another stack, so another key
        assert count_of(lambda: [plain(i) for i in (1, 2.0, "x", 3, 4.0)]) == 3
        kept = record.interception.kept
        assert kept == 4
        record.interception.forget()
        assert record.interception.kept == 0
        for i in range(100):  # more combinations of types than are kept
            cls = type(f"T{i}", (), {})
            assert count_of(lambda value=cls(): plain(value)) == 1
        assert record.interception.kept < 20
    finally:
        record.interception.remove()
    assert record.interception.kept == 0


def test_nothing_is_left_of_ten_thousand_installations():
    def target(x):
        return x

    record = NotingResolver(target)
    gc.collect()
    before = sys.getrefcount(target), len(gc.get_objects())
    for _ in range(10_000):
        record.interception.install()
        count_of(functools.partial(target, 1))
        record.interception.remove()
    assert sys.getrefcount(target) == before[0]
    gc.collect()
    assert len(gc.get_objects()) - before[1] < 200
    gone = weakref.ref(target)
    del target, record
    gc.collect()
    assert gone() is None


@pytest.mark.parametrize("in_force", [False, True])
def test_recursion_ends_in_an_error_on_any_stack(in_force):
    def deep(n):
        return deep(n + 1)

    record = NotingResolver(deep)
    record.interception.install()
    found = []

    def run():
        try:
            if in_force:
                stack.set(TestStack())
                key.set(object())
            deep(0)
        except RecursionError as error:
            found.append(str(error))

    limit = sys.getrecursionlimit()
    try:
        run_in_thread(run, None)
        run_in_thread(run, 256 * 1024)
        sys.setrecursionlimit(100_000)
        run_in_thread(run, 1024 * 1024)
    finally:
        sys.setrecursionlimit(limit)
        record.interception.remove()
    assert len(found) == 3


def run_in_thread(run, size):
    before = threading.stack_size(size or 0)
    try:
        thread = threading.Thread(target=run)
        thread.start()
    finally:
        threading.stack_size(before)
    thread.join()


def test_threads_install_call_and_remove_at_once():
    def target(x):
        return x

    records = [NotingResolver(target), NotingResolver(math.cosh), NotingResolver(str.title)]
    errors, ends = [], threading.Event()

    def calls():
        tokens = stack.set(TestStack()), key.set(object())
        try:
            while not ends.is_set():
                if (target(1), math.cosh(0.0), "ab".title()) != (1, 1.0, "Ab"):
                    raise AssertionError
        except BaseException as error:
            errors.append(error)
        finally:
            stack.reset(tokens[0])
            key.reset(tokens[1])

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    threads = [threading.Thread(target=calls) for _ in range(16)]
    try:
        for thread in threads:
            thread.start()
        for _ in range(300):
            for record in records:
                record.interception.install()
                record.interception.forget()
                record.interception.remove()
    finally:
        ends.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(interval)
    assert errors == []
    assert intercept.interception_of(target) is None


def test_collections_at_any_time_do_no_harm():
    class Keeping(NotingResolver):
        def found(self, args):
            self.more = {tuple(map(type, args)): self.interception}
            return self.interception

    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(50):
            record = Keeping(plain)
            record.interception.install()
            count_of(lambda: [plain(x) for x in (1, "a", 2.0, [], {}, ())])
            record.interception.remove()
    finally:
        gc.set_threshold(*before)
    assert plain(4) == 4
