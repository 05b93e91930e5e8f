"""Targets are intercepted whoever calls them: each kind of target by each instruction that calls
it, made hot before, on each Python."""

import enum
import functools
import gc
import json
import math
import operator
import re
import sys
import threading
import weakref

import numpy as np
import pytest

from overlay.in_force import key_in_force, stack_in_force
from overlay.python import interception
from overlay.python.entered_functions import called_functions

intercept = interception.intercept
pytestmark = pytest.mark.skipif(intercept is None, reason="the part in C is not built here")
HOT = 300


@pytest.fixture(scope="module", autouse=True)
def no_target_of_a_living_context():
    """Contexts that other tests keep leave their targets to these tests."""
    gc.collect()
    held = [record.interception for record in interception._records.values()]
    for each in held:
        each.remove()
    yield
    for each in held:
        each.install()


class Point:
    def __init__(self, x=1, y=2):
        self.x, self.y = x, y

    @property
    def size(self):
        return abs(self.x)

    def moved(self, by=1):
        return self.x + by

    @staticmethod
    def origin(x=0):
        return "origin"

    @classmethod
    def of(cls, x=0):
        return "of"

    def __add__(self, other):
        return "sum"

    def __getitem__(self, index):
        return "item"

    def __call__(self, *args):
        return "called"

    def __eq__(self, other):
        return "equal"

    def __hash__(self):
        return 1

    def __len__(self):
        return 3

    def __bool__(self):
        return True

    def __iter__(self):
        return iter([1])

    def __contains__(self, item):
        return True

    def __enter__(self):
        return "entered"

    def __exit__(self, *error):
        return None


class Reading:
    def __getattribute__(self, name):
        return "read"


class Slots:
    __slots__ = ("x",)


class Broken(ValueError):
    pass


def plain(x=1, *, y=2):
    return x


def closing(z):
    def closure(x=1):
        return x + z

    return closure


class Exact:
    def __init__(self, x):
        self.x = x

    @property
    def size(self):
        return self.x


class Below(Exact):
    pass


exact = Exact(1)


class Caller:
    def __call__(self, x=1):
        return x


class Colour(enum.Enum):
    RED = 1


@functools.lru_cache
def cached(x=1):
    return x


caller = Caller()
kept: list[int] = []
append, from_keys, add_one = kept.append, dict.fromkeys, (1).__add__
compiled = re.compile("a")
search, told = compiled.search, re.Pattern.search
closure = closing(5)
partial = functools.partial(plain, 3)
p = Point()
reading = Reading()
numbers = np.arange(3.0)
loads = json.loads

# a target, and code that calls it
CALLS = {
    "function": (plain, "plain(1); plain(x=1); plain(*(1,)); plain(**{'y': 1}); plain()"),
    "function, from C": (plain, "list(map(plain, [1, 2])); sorted([2, 1], key=plain)"),
    "function, from C extensions": (plain, "np.apply_along_axis(plain, 0, numbers)"),
    "function, from a hook": (plain, "loads('1.5', parse_float=plain)"),
    "closure": (closure, "closure(1); closure(x=2); [closure(i) for i in range(2)]"),
    "method": (
        Point.moved,
        "p.moved(); p.moved(2); p.moved(by=3); Point.moved(p); (m := p.moved)()",
    ),
    "static method": (Point.origin, "p.origin(); Point.origin(1)"),
    "class method": (Point.__dict__["of"].__func__, "p.of(); Point.of(1)"),
    "__bool__": (Point.__bool__, "bool(p); not p\nif p: pass"),
    "__hash__": (Point.__hash__, "hash(p); {p: 1}"),
    "__add__": (Point.__add__, "p + 1; p.__add__(2)"),
    "__getitem__": (Point.__getitem__, "p[0]; p['x']"),
    "__call__": (Point.__call__, "p(); p(1, 2)"),
    "__eq__": (Point.__eq__, "p == 1; p == p; [p].count(3)"),
    "__iter__": (Point.__iter__, "[*p]; list(p); tuple(p)\nfor _ in p: pass"),
    "__len__": (Point.__len__, "len(p)"),
    "__contains__": (Point.__contains__, "1 in p; 2 not in p"),
    "__enter__": (Point.__enter__, "with p: pass"),
    "__exit__": (Point.__exit__, "with p: pass"),
    "__getattribute__": (Reading.__getattribute__, "reading.anything; getattr(reading, 'x')"),
    "C function of one argument": (
        math.lgamma,
        "math.lgamma(1.0); math.lgamma(*(1.0,)); [*map(math.lgamma, [1.0])]",
    ),
    "C function of several": (math.hypot, "math.hypot(3.0, 4.0); math.hypot(1.0)"),
    "C function of a tuple": (math.log, "math.log(2.0); math.log(8.0, 2.0)"),
    "C function with keywords": (sorted, "sorted([2, 1]); sorted([1], reverse=True)"),
    "C function of no argument": (gc.isenabled, "gc.isenabled(); gc.isenabled(*())"),
    "len": (len, "len([]); len('abc'); len({})"),
    "isinstance": (isinstance, "isinstance(1, int); isinstance(p, Point)"),
    "C method of no argument": (str.upper, "'a'.upper(); str.upper('b'); (u := 'c'.upper)()"),
    "list.append": (list.append, "xs = []; xs.append(1); xs.append(2); list.append(xs, 3)"),
    "C method of several": (dict.get, "{}.get(1); {}.get(1, 2); dict.get({}, 3)"),
    "C method with keywords": (str.split, "'a b'.split(); 'a b'.split(sep='a'); str.split('a')"),
    "class": (Point, "Point(); Point(1); Point(1, y=2); Point(*(1,)); [*map(Point, [1])]"),
    "class without __init__": (Slots, "Slots(); Slots(*())"),
    "exception": (Broken, "Broken(); Broken('x')"),
    "int": (int, "int(); int('1'); int(2.0); int('11', base=2)"),
    "float": (float, "float(1); float('2')"),
    "dict": (dict, "dict(); dict(a=1); dict([(1, 2)])"),
    "range": (range, "range(3); range(1, 2)"),
    "ufunc": (np.sin, "np.sin(1.0); np.sin(numbers); np.sin(x=1.0) if 0 else 0"),
    "dispatcher of numpy": (np.mean, "np.mean(numbers); np.mean(numbers, axis=0)"),
    "partial": (partial, "partial(); partial(y=3); [*map(partial, [])]"),
    "property": (Point.size.fget, "p.size; getattr(p, 'size')"),
    "getter": (Exact.size.fget, "exact.size; exact.size"),
    "__init__": (
        Exact.__init__,
        "Exact(1); Exact(x=1); [*map(Exact, [1])]; Exact.__init__(exact, 2)",
    ),
    "inherited __init__": (Exact.__init__, "Below(1); Below(2); type('Later', (Below,), {})(3)"),
    "class with __init__": (Exact, "Exact(1); Exact(2)"),
    "C class method": (
        dict.__dict__["fromkeys"],
        "dict.fromkeys('ab'); {}.fromkeys('a', 1); from_keys('c')",
    ),
    "bound C method made before": (list.append, "append(1); append(*(2,)); [*map(append, [3])]"),
    "method told its class": (
        told,
        "compiled.search('a'); search('a'); re.Pattern.search(compiled, 'b')",
    ),
    "slot wrapper": (int.__add__, "int.__add__(1, 2); (1).__add__(2); add_one(3)"),
    "callable object": (caller, "caller(); caller(1); [*map(caller, [1])]; caller.__call__(2)"),
    "class of a metaclass": (Colour, "Colour(1); [*map(Colour, [1])]; Colour(value=1)"),
    "function that keeps results": (
        cached,
        "cached(1); cached(x=1); [*map(cached, [1])]; cached.__call__(1)",
    ),
}

stack, key = stack_in_force, key_in_force
seen = []


class Stack:
    """A stack to be in force while calls are counted."""

    is_intercepted, tables, records, of_modules = True, (), (), None

    def settle(self):
        pass

    @property
    def python(self):
        return self

    own = python

    def of(self, callee):
        return callee


class Record:
    """What a trampoline gives to the resolver here: each call is noted, and goes on natively."""

    def __init__(self, target):
        self.interception = intercept.Interception(target, self)
        self.signature, self.generic = None, self
        self.native = None  # what it gives is called as any implementation
        self.more = {}

    def view(self, _):
        return self

    def found(self, args):
        seen.append(args)
        return self.interception

    def select(self, args, kwargs):
        seen.append((args, kwargs))
        return self.interception


def site(text):
    """The calls as a function that keeps its specialised instructions."""
    lines = "\n".join(f"    {line}" for part in text.split("\n") for line in part.split("; "))
    space = dict(globals())
    exec(f"def calls():\n{lines}\n    return None", space)
    return space["calls"]


def count_of(calls):
    seen.clear()
    tokens = stack.set(Stack()), key.set(object())
    try:
        calls()
    finally:
        stack.reset(tokens[0])
        key.reset(tokens[1])
    return len(seen)


@pytest.mark.parametrize("name", CALLS)
def test_each_call_is_seen_and_none_where_no_stack_is_in_force(name):
    target, text = CALLS[name]
    cold, hot = site(text), site(text)
    for _ in range(HOT):
        hot()
    record = Record(target)
    try:
        record.interception.install()
        called_functions.add((target,))
        wanted = count_of(cold)
        assert wanted >= 1
        assert count_of(hot) == wanted
        for _ in range(HOT):  # specialised anew, while it is intercepted
            hot()
        assert seen == seen[:wanted]
        assert count_of(hot) == wanted
    finally:
        record.interception.remove()
        called_functions.remove(target)
    assert count_of(hot) == count_of(cold) == 0
    for _ in range(HOT):
        hot()
    assert count_of(hot) == 0


@pytest.mark.parametrize("target", [type, str, tuple, super, sum.__call__, p.moved, operator.add])
def test_what_cannot_be_intercepted_is_told_with_the_reason(target):
    assert interception.why_not(target)


def test_init_of_a_class_that_comes_later_is_called():
    record = Record(Exact.__init__)
    record.interception.install()
    called_functions.add((Exact.__init__,))
    try:

        class Later(Exact):
            pass

        class Last(Later):
            pass

        def calls():
            return Later(1), Last(2)

        for _ in range(HOT):
            calls()
        assert count_of(calls) == 2
    finally:
        record.interception.remove()
        called_functions.remove(Exact.__init__)
    for _ in range(HOT):
        calls()
    assert count_of(calls) == 0


def test_a_target_has_one_interception():
    one = Record(plain).interception
    one.install()
    try:
        with pytest.raises(ValueError, match="intercepted already"):
            Record(plain)
        one.install()
        assert intercept.interception_of(plain) is one
    finally:
        one.remove()
        one.remove()
    assert intercept.interception_of(plain) is None


def test_a_bound_method_that_was_made_meanwhile_goes_on_natively():
    record = Record(str.upper)
    record.interception.install()
    upper = "a".upper
    assert upper() == "A"
    record.interception.remove()
    assert upper() == "A"
    assert count_of(upper) == 0


def test_nothing_of_a_target_changes_for_the_program():
    targets = [target for target, _ in CALLS.values() if isinstance(target, type(len))]
    before = [(hash(f), f.__name__, f.__doc__, f.__self__, f.__text_signature__) for f in targets]
    records = [Record(target) for target in dict.fromkeys(targets)]
    for record in records:
        record.interception.install()
    after = [(hash(f), f.__name__, f.__doc__, f.__self__, f.__text_signature__) for f in targets]
    for record in records:
        record.interception.remove()
    assert after == before


def test_a_method_may_take_its_target_out_while_it_is_called():
    class Removing(Record):
        def found(self, args):
            self.interception.remove()
            return lambda x=1: "removed"

    record = Removing(plain)
    record.interception.install()
    tokens = stack.set(Stack()), key.set(object())
    try:
        assert [plain(1), plain(1)] == ["removed", 1]
    finally:
        stack.reset(tokens[0])
        key.reset(tokens[1])


def test_an_error_of_the_resolver_is_the_callers_and_leaves_the_stack_in_force():
    class Failing(Record):
        def found(self, args):
            raise LookupError("no method")

    record = Failing(plain)
    record.interception.install()
    here = Stack()
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
    class Keeping(Record):
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

    record = Record(target)
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

    record = Record(deep)
    record.interception.install()
    found = []

    def run():
        try:
            if in_force:
                stack.set(Stack())
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

    records = [Record(target), Record(math.cosh), Record(str.title)]
    errors, ends = [], threading.Event()

    def calls():
        tokens = stack.set(Stack()), key.set(object())
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
    class Keeping(Record):
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
