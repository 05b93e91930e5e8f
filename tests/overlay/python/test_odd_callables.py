"""Callables that look at how they are looked at, and targets that look different each time."""

import asyncio
import contextvars
import datetime
import functools
import math
import operator
import random
import re
import subprocess
import sys
import types
import typing
import weakref

import pytest

from overlay import Context, MethodTable, call_next
from overlay.core.location import is_ours
from primitives.integers.modular_powers import factors

table = MethodTable("marks")
ctx = Context(table)
S = ("sin", 1.0)


@table.overlay(math.sin)
def marked(x: float):
    return ("sin", x)


def helper(x):
    return math.sin(x)


class Proxy:
    @property
    def __class__(self):
        raise RuntimeError("not bound")

    def __call__(self):
        return helper(1.0)


class Answering(type):
    def __getattr__(cls, name):
        return 42


class Answered(metaclass=Answering):
    def __call__(self):
        return helper(1.0)


class Static:
    @staticmethod
    def __init__(*args):
        Static.seen = args


class Single(type):
    def __call__(cls, *args):
        return type.__call__(cls, *args)


class OnlyOne(metaclass=Single):
    def __init__(self, x):
        self.made = helper(x)


class Own(functools.partial):
    pass


def decorated_by_a_lambda():
    @(lambda f: math.sin(1.0))
    def function():
        pass

    @(lambda f: math.sin(1.0))
    class Class:
        pass

    return function, Class


REACHED = {
    "class property that raises": lambda: Proxy()(),
    "metaclass that answers everything": lambda: Answered()(),
    "type.__call__": lambda: OnlyOne(1.0).made,
    "__call__ of a function": lambda: helper.__call__(1.0),
    "__call__ of a builtin": lambda: math.sin.__call__(1.0),
    "subclass of partial": lambda: Own(helper, 1.0)(),
    "operator.call": lambda: operator.call(helper, 1.0),
}


@pytest.mark.parametrize("name", REACHED)
def test_reached(name):
    assert ctx(REACHED[name]) == S


def test_a_lambda_as_decorator_is_called_like_any_other():
    assert ctx(decorated_by_a_lambda) == (S, S)


def test_a_weak_proxy_is_called_as_it_is():
    answered = Answered()
    assert ctx(lambda: weakref.proxy(answered)()) in (S, math.sin(1.0))


def test_init_is_bound_as_the_interpreter_binds_it():
    ctx(lambda: Static(1, 2))
    assert Static.seen == (1, 2)


def test_classmethods_of_builtin_types_are_targets():
    other = MethodTable("other")

    @other.overlay(dict.fromkeys)
    def fromkeys(cls, keys: str):
        return cls.__name__, call_next(cls, keys)

    @other.overlay("datetime:datetime.now")
    def now(cls):
        return "now"

    def program():
        return dict.fromkeys("a"), {}.fromkeys("b"), dict.fromkeys([1]), datetime.datetime.now()

    expected = ("dict", {"a": None}), ("dict", {"b": None}), {1: None}, "now"
    assert Context(other)(program) == expected
    assert dict.fromkeys in other


def scaling(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        kwargs.setdefault("scale", 2)
        return function(*args, **kwargs)

    return wrapper


@scaling
def scaled(x, scale=1):
    return x * scale


def test_the_base_is_called_as_the_call_was_written():
    other = MethodTable("other")

    @other.overlay(scaled)
    def method(x: str, scale: int = 1):
        return "overlaid"

    inner = Context(other)
    assert inner(lambda: [scaled(1, scale=3), scaled(x=2), scaled(1)]) == [3, 4, 2]
    assert inner(lambda: [scaled("a", scale=3), scaled(x="a")]) == ["overlaid"] * 2


class Base:
    def go(self, a, b):
        return None


class WithCell(Base):
    def go(self, a, b):
        super().go(a, b)
        return a + b


def test_a_first_overlay_of_an_operator_reaches_methods_with_closures():
    other = MethodTable("other")
    inner = Context(other)

    def program():
        return WithCell().go(1, 2)

    assert inner(program) == 3

    @other.overlay(operator.add)
    def add(a: int, b: int):
        return "added"

    assert inner(program) == "added"


@functools.lru_cache
def cached(x):
    return math.sin(x)


def test_cached_results_do_not_outlive_a_change_of_the_table():
    other = MethodTable("other")
    inner = Context(other)
    other.overlay(math.sin)(lambda x: "one")
    assert inner(lambda: cached(1.0)) == "one"
    other.overlay(math.sin)(lambda x: "two")
    assert inner(lambda: cached(1.0)) == "two"
    other.remove(math.sin)
    assert inner(lambda: cached(1.0)) == math.sin(1.0)


def caches_of_ours():
    """The functions of these packages that cache their results."""
    kind = type(functools.lru_cache(len))
    loaded = [vars(module) for module in list(sys.modules.values())]
    for each in {id(value): value for names in loaded for value in list(names.values())}.values():
        function = each.__wrapped__ if type(each) is kind else None
        if type(function) is types.FunctionType and is_ours(function.__code__.co_filename):
            yield each


def test_the_caches_of_these_packages_hold_in_all_contexts():
    inner = Context(MethodTable("other"))
    found = list(caches_of_ours())
    assert factors in found
    for each in found:
        assert inner(lambda each=each: each.cache_info()) == each.cache_info(), each
    assert factors(360) == {2: 3, 3: 2, 5: 1}
    hits = factors.cache_info().hits
    inner(lambda: factors(360))
    assert factors.cache_info().hits == hits + 1
    cached(2.0)
    misses = cached.cache_info().misses
    inner(lambda: cached(2.0))  # the caches of others are a context's own
    assert cached.cache_info().misses == misses


def test_a_call_site_asks_a_cache_anew_after_a_change_of_the_table():
    cached = functools.lru_cache(lambda x: math.sin(x))
    table = MethodTable("t")

    def program():
        results = []
        for answer in ("one", "two", "three"):  # after the first, math.sin stays a target
            table.overlay(math.sin)(eval(f"lambda x: {answer!r}"))
            results.append([cached(1.0) for _ in range(3)])
        return results

    assert Context(table)(program) == [["one"] * 3, ["two"] * 3, ["three"] * 3]


def test_a_cache_made_in_a_run_lasts_through_it():
    results = []

    def program():
        local = functools.lru_cache(lambda x: math.sin(x) and [x])
        first = local(1.0)
        for i in range(1200):  # an engine keeps about a thousand of functions that come and go
            one = functools.lru_cache(lambda x, i=i: math.sin(x + i))
            one(1.0), one(1.0)
        results.append(local(1.0) is first)

    other = MethodTable("other")
    other.overlay(math.cos)(lambda x: "never")
    Context(other)(program)
    assert results == [True]


class Unhashable(type):
    def __eq__(cls, other):
        return True


class One(metaclass=Unhashable):
    pass


class Two(metaclass=Unhashable):
    pass


def test_classes_that_cannot_be_hashed_are_dispatched_on():
    def target(x, y=None):
        return "base"

    other = MethodTable("other")

    @other.overlay(target)
    def one(x: object):
        return "one"

    @other.overlay(target)
    def two(x: object, y: int):
        return "two"

    inner = Context(other)
    called = inner(lambda: [target(One()), target(One(), 1), target(Two(), One()), target(One())])
    assert called == ["one", "two", "base", "one"]


def test_methods_with_forward_references_live_beside_others():
    def target(x):
        return "base"

    other = MethodTable("other")
    scope = {}
    other.overlay(target)(lambda x: "any")
    for _ in range(2):  # as when a notebook's cell is run again
        exec("def method(x: 'Later'):\n    return 'later'", scope)
        other.overlay(target)(scope["method"])
    scope["Later"] = Static
    assert len(other) == 2
    assert Context(other)(lambda: [target(Static()), target(1)]) == ["later", "any"]


def test_a_target_that_is_not_imported_yet_can_be_removed():
    other = MethodTable("other")
    other.overlay("never_imported_module:f")(lambda x: x)
    other.remove("never_imported_module:f")
    assert len(other) == 0


def test_methods_in_c_of_every_class_are_targets_however_they_are_called():
    substituted = MethodTable("substituted")

    @substituted.overlay(re.Pattern.sub)
    def sub(pattern, replacement, text):
        return "overlaid"

    pattern = re.compile("a")
    kept = pattern.sub

    def uses():
        mine = pattern.sub
        return [(kept("b", "a"), mine("b", "a"), pattern.sub("b", "a")) for _ in range(3)]

    assert Context(substituted)(uses) == [("overlaid",) * 3] * 3


def test_a_keyword_may_have_the_name_of_a_positional_only_parameter():
    def named(first, /, **others):
        return first, others

    others = MethodTable("others")

    @others.overlay(named)
    def method(first, /, **others):
        return call_next(first, **others)

    assert Context(others)(lambda: named(1, first=2)) == (1, {"first": 2})


def test_a_metaclass_may_hide_its_classes_dict():
    class Hiding(type):
        __dict__ = property(lambda cls: None)
        __mro__ = property(lambda cls: ())

    class Hidden(metaclass=Hiding):
        def __init__(self):
            self.value = helper(1.0)

    assert ctx(lambda: Hidden().value) == S


def test_a_class_may_be_of_no_module():
    made = eval("type('Made', (), {'half': lambda self, x: halved(x)})", {"halved": math.sqrt})

    def program():
        return made().half(9.0), [str(made)[:6]]

    table = MethodTable("table")
    table.overlay(math.sqrt)(lambda x: x / 2)
    assert not hasattr(made, "__module__")
    assert Context(table)(program)[0] == 4.5


def test_what_makes_an_instance_may_be_any_callable():
    class Odd:
        __new__ = type.__or__.__get__(int)

    assert ctx(lambda: Odd()) == Odd()


def test_who_calls_a_class_is_who_wrote_the_call():
    class Made:
        def __new__(cls, *args, **kwargs):
            made = object.__new__(cls)
            made.of = sys._getframe(1).f_globals["__name__"]
            return made

    class Initialised:
        def __init__(self, *args, **kwargs):
            self.of = sys._getframe(1).f_globals["__name__"]

    def uses():
        made = [cls(*args).of for cls in (Made, Initialised) for args in ((), (1,), range(9))]
        return {*made, Made(a=1).of, Initialised(a=1).of, typing.NewType("N", int).__module__}

    assert ctx(uses) == ctx(uses) == {__name__}


def test_context_variables_carry_the_context():
    async def calls_soon():
        answered = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().call_soon(lambda: answered.set_result(helper(1.0)))
        return await answered

    outside = contextvars.copy_context()
    assert ctx(lambda: contextvars.copy_context().run(helper, 1.0)) == S
    assert ctx(lambda: outside.run(helper, 1.0)) == math.sin(1.0)
    assert ctx(lambda: asyncio.run(calls_soon())) == S


def test_running_in_a_context_draws_no_random_numbers():
    program = """if True:
        import random
        from overlay import Context, MethodTable
        random.seed(0)
        state = random.getstate()
        table = MethodTable("table")
        table.overlay(random.random)(lambda: 1.0)
        assert Context(table)(lambda: random.random()) == 1.0
        assert random.getstate() == state
        """
    subprocess.run([sys.executable, "-c", program], check=True)
    assert random.getstate()


def test_functions_changed_in_place_are_seen_at_the_next_call():
    def one(x=1):
        return "one", x

    def other(x=1):
        return "other", x

    def generator():
        yield

    def uses():
        seen = [one()]
        code, one.__code__ = one.__code__, other.__code__
        seen.append(one())
        one.__code__, one.__defaults__ = code, (5,)
        seen.append(one())
        one.__defaults__, generator.__name__ = (1,), "renamed"
        return [*seen, one(), generator().__name__]

    expected = [("one", 1), ("other", 1), ("one", 5), ("one", 1), "renamed"]
    assert ctx(uses) == expected
    one.__code__ = other.__code__  # between two runs
    assert ctx(lambda: one()) == ("other", 1)


class Pair:
    def __init__(self, one=1, other=2):
        self.both = one, other


class Triple(Pair):
    def __init__(self, *values):
        super().__init__(*values[:2])
        self.third = helper(1.0)


def pairs():
    return Pair(), Pair(3), Pair(3, 4), Pair(other=5), Pair(*(6, 7))


@pytest.mark.parametrize("times", [1, 2, 3])
def test_classes_are_targets_with_any_arguments(times):
    classes = MethodTable("classes")
    inside = Context(classes)
    for _ in range(times):  # sites have learnt the class before it is a target
        assert [pair.both for pair in inside(pairs)][::2] == [(1, 2), (3, 4), (6, 7)]

    @classes.overlay(Pair)
    def made(*args: int, **kwargs: int):
        return (args, tuple(kwargs))

    made_of = [((), ()), ((3,), ()), ((3, 4), ()), ((1, 5), ()), ((6, 7), ())]
    for _ in range(times):
        assert list(inside(pairs)) == made_of
    assert Pair().both == (1, 2)


def test_a_class_is_called_as_it_is_only_while_it_stays_as_it_was():
    inside = Context(MethodTable("empty")) | ctx
    assert [inside(lambda: Pair().both) for _ in range(3)] == [(1, 2)] * 3
    assert inside(lambda: Triple(1, 2, 3).third) == S
    old = Pair.__init__

    def uses():
        seen = []
        for turn in range(4):
            seen.append(getattr(Pair(), "both", None))
            if turn == 1:
                Pair.__init__ = lambda self: setattr(self, "both", helper(1.0))
        return seen

    try:
        assert inside(uses) == [(1, 2), (1, 2), S, S]
    finally:
        Pair.__init__ = old
    Pair.__new__ = lambda cls, *args: object.__new__(cls) if helper(1.0) == S else None
    try:
        assert inside(lambda: [Pair().both for _ in range(3)]) == [(1, 2)] * 3
    finally:
        del Pair.__new__


def test_object_new_may_be_a_target():
    made = MethodTable("made")

    @made.overlay(object.__new__)
    def new(cls: type):
        return "made"

    assert Context(made)(lambda: [Pair() for _ in range(3)]) == ["made"] * 3


def test_a_method_caller_calls_a_method_in_the_context():
    class Value:
        def shifted(self, by=0.0):
            return math.sin(by)

    def program(caller, *args):
        return caller(*args)

    plain, named = operator.methodcaller("sin", 1.0), operator.methodcaller("shifted", by=1.0)
    assert ctx(program, plain, math) == ctx(plain, math) == ctx(program, named, Value()) == S
    assert ctx(lambda: list(map(named, [Value()]))) == [S]
    assert ctx(lambda: sorted([Value()], key=named)[0].shifted(1.0)) == S
    for args in ((), (math, 1)):
        with pytest.raises(TypeError, match="methodcaller expected 1 argument"):
            ctx(program, plain, *args)


def test_call_of_a_callable_in_c_reaches_what_it_calls():
    cached, static = functools.lru_cache(helper), staticmethod(helper)
    partial = functools.partial(helper, 1.0)

    def uses():
        return partial.__call__(), cached.__call__(1.0), static.__call__(1.0), helper.__call__(1.0)

    assert [ctx(uses) for _ in range(3)] == [(S,) * 4] * 3
