"""``Plugin.around``: what stands around each call in interpreted code."""

import collections
import functools
import gc
import math
import operator
import pickle
import statistics
import sys
import traceback
import typing
import weakref
from concurrent.futures import ThreadPoolExecutor

import plum
import pytest

from overlay import (
    Context,
    MethodTable,
    NotCompilable,
    OverlayError,
    Plugin,
    call_next,
    current_context,
    nonoverlay,
    recurse,
)


class Logs(Plugin):
    def __init__(self, label="", log=None):
        self.label = label
        self.log = [] if log is None else log

    def around(self, callee, run):
        name = self.label + getattr(callee, "__qualname__", type(callee).__name__)

        def logged(*args, **kwargs):
            self.log.append(f"> {name}")
            try:
                return run(*args, **kwargs)
            finally:
                self.log.append(f"< {name}")

        return logged


def calls_in(f, *args, context=None):
    """The names of what was called, in order."""
    plugin = Logs()
    (context or Context()).replace(plugins=(plugin,))(f, *args)
    return [line[2:] for line in plugin.log if line.startswith(">")]


def sine(x):
    return math.sin(x)


class Holder:
    def __init__(self, value):
        self.value = value

    def get(self, scale=1):
        return self.value * scale

    def __call__(self, x):
        return sine(x)

    @classmethod
    def made(cls):
        return cls(1)


# ---- what is asked about -----------------------------------------------------------------------


def test_functions_classes_methods_and_what_is_written_in_c():
    def program():
        xs = []
        xs.append(Holder(2).get(scale=1.5))
        xs.append(Holder.made())
        Holder(3)(0.5)
        return str.join("-", "abc"), dict.fromkeys("ab"), operator.itemgetter(1)([1, 2])

    expected = [
        *("Holder", "Holder.__init__", "Holder.get", "list.append"),
        *("Holder.made", "Holder", "Holder.__init__", "list.append"),
        *("Holder", "Holder.__init__", "Holder.__call__", "sine", "sin"),
        *("str.join", "dict.fromkeys", "itemgetter"),
    ]

    class Named(Logs):
        def around(self, callee, run):
            return super().around(callee, run) if hasattr(callee, "__qualname__") else None

    plugin = Named()
    assert Context(plugins=(plugin,))(program)[1] == {"a": None, "b": None}
    found = [line[2:] for line in plugin.log if line.startswith(">")]
    assert found[1:] == expected


def test_a_function_is_asked_about_behind_what_holds_it():
    bound = Holder(1).get
    partial = functools.partial(sine, 0.5)
    cached = functools.lru_cache(sine)

    def program():
        return bound(), partial(), cached(0.5), cached(0.5)

    assert calls_in(program)[1:] == ["Holder.get", "sine", "sin", "sine", "sine", "sin", "sine"]


class Meta(type):
    def __call__(cls, *args):
        return super().__call__(*args)


class Made(metaclass=Meta):
    def __init__(self, value):
        self.value = value


class ByClass:
    @classmethod
    def __call__(cls, x):
        return sine(x)


class ByStatic:
    @staticmethod
    def __call__(x):
        return sine(x)


class ByBound:
    __call__ = Holder(2).get


dispatcher = plum.Dispatcher()


class Angle(float):
    pass


plum.add_conversion_method(float, Angle, Angle)


@dispatcher
def angle(x: float) -> Angle:
    return math.asin(x)


@dispatcher
def plain(x: float):
    return sine(x)


HELD, SINE = Holder(2), math.sin(0.5)
MAKER = operator.methodcaller("get", 3), operator.methodcaller("get", scale=3)

# ways to a callee; what is called, in order; and the result
BEHIND = {
    "method in C": (lambda: "a".upper(), ["str.upper"], "A"),
    "method in C, of a list": (lambda: [].append(1), ["list.append"], None),
    "static method in C": (lambda: str.maketrans("a", "b"), ["str.maketrans"], {97: 98}),
    "generic function of plum": (lambda: plain(0.5), ["plain", "sine", "sin"], SINE),
    "and its type of results": (lambda: type(angle(0.5)), ["angle", "asin"], Angle),
    "methodcaller": (lambda: MAKER[0](HELD), ["methodcaller", "Holder.get"], 6),
    "methodcaller with names": (lambda: MAKER[1](HELD), ["methodcaller", "Holder.get"], 6),
    "__call__ of a function": (lambda: sine.__call__(0.5), ["sine", "sin"], SINE),
    "and of its class": (lambda: type(sine).__call__(sine, 0.5), ["sine", "sin"], SINE),
    "__call__ of a function in C": (lambda: math.sin.__call__(0.5), ["sin"], SINE),
    "__call__ of a method": (lambda: HELD.get.__call__(2), ["Holder.get"], 4),
    "__call__ of a class": (
        lambda: Holder.__call__(HELD, 0.5), ["Holder.__call__", "sine", "sin"], SINE,
    ),
    "partial of what is not asked about": (
        lambda: functools.partial(sys.getrecursionlimit)(), ["partial"], sys.getrecursionlimit(),
    ),
    "type.__call__": (lambda: type.__call__(Holder, 1).value, ["Holder.__init__"], 1),
    "type.__call__ of a metaclass": (lambda: type.__call__(Made, 1).value, ["Made.__init__"], 1),
    "__call__ of a metaclass": (
        lambda: Made(1).value, ["Made", "Meta.__call__", "Made.__init__"], 1,
    ),
    "__call__ that is a class method": (
        lambda: ByClass()(0.5), ["ByClass", "ByClass.__call__", "sine", "sin"], SINE,
    ),
    "__call__ that is a static method": (
        lambda: ByStatic()(0.5), ["ByStatic", "ByStatic.__call__", "sine", "sin"], SINE,
    ),
    "__call__ that is bound": (lambda: ByBound()(4), ["ByBound", "Holder.get"], 8),
}  # fmt: skip


@pytest.mark.parametrize("way", BEHIND)
def test_each_way_to_a_callee_is_seen_and_gives_what_it_gives(way):
    program, expected, result = BEHIND[way]
    assert calls_in(program)[1:] == expected
    assert Context(plugins=(Logs(),))(program) == result == program()


def test_a_method_in_c_is_asked_about_not_its_bound_form():
    asked = []

    class Asks(Plugin):
        def around(self, callee, run):
            asked.append(callee)

    append, upper = [].append, "a".upper
    Context(plugins=(Asks(),))(lambda: (append(1), upper(), "b".lower()))
    assert asked[1:] == [list.append, str.upper, str.lower]


def test_what_lasts_is_asked_about_once_in_all_runs():
    asked = collections.Counter()

    class Asks(Plugin):
        def around(self, callee, run):
            asked[callee] += 1

    context = Context(plugins=(Asks(),))
    for _ in range(5):
        context(lambda: (int("3"), Holder(1).get(), math.floor(0.5), sine(0.5), "".join([])))
    lasting = (int, Holder, Holder.__init__, Holder.get, math.floor, sine, math.sin, str.join)
    assert [asked[callee] for callee in lasting] == [1] * len(lasting)


def test_callees_of_a_context_that_is_gone_are_called_as_they_are():
    context = Context(plugins=(Logs(),))
    context(sine, 0.5)
    calls = context._alone.calls
    assert calls.stand_in(sine) is not sine
    del context
    gc.collect()
    assert calls.stand_in(sine)(0.5) == math.sin(0.5)
    assert calls.stand_in(Holder) is Holder


def test_a_class_that_is_a_target_is_made_with_its_init_seen():
    table = MethodTable("t")

    @table.overlay(Holder)
    def other(value: str):
        return value

    called = calls_in(lambda: (Holder(2.0), Holder("a")), context=Context(table))
    assert called[1:] == ["Holder", "Holder.__init__", "Holder"]


def test_no_comparison_of_the_programs_classes_runs():
    class Meta(type):
        def __eq__(cls, other):
            raise AssertionError

        __hash__ = type.__hash__

    class Odd(metaclass=Meta):
        def __call__(self):
            return math.sin(0.0)

    name = Odd.__qualname__
    expected = [name, f"{name}.__call__", "sin"]
    assert calls_in(lambda: (Odd()(), Odd()()))[1:] == expected * 2


def test_callbacks_and_closures():
    def program():
        add = lambda y: y + math.cos(y)  # noqa: E731
        return sorted([2, 1], key=add), list(map(add, [0])), (lambda: add(1))()

    name = "test_callbacks_and_closures.<locals>.program.<locals>.<lambda>"
    found = [each for each in calls_in(program)[1:] if each not in ("map", "list")]
    assert found == ["sorted", name, "cos", name, "cos", name, "cos", name, name, "cos"]


def test_what_belongs_to_contexts_is_not_asked_about():
    inner = Context()

    def program():
        found = current_context().metadata
        return found, nonoverlay(sine)(0.5), inner(sine, 0.5), recurse(inner, sine, 0.5)

    context = Context(metadata=3)
    assert calls_in(program, context=context)[1:] == ["sine", "sin", "sin"]


def test_a_target_is_asked_about_once_and_its_method_runs_inside():
    table = MethodTable("table")

    @table.overlay(math.sin)
    def method(x: float):
        return call_next(x) + math.cos(x)

    plugin = Logs()
    found = Context(table, plugins=(plugin,))(sine, 0.5)
    assert found == math.sin(0.5) + math.cos(0.5)
    assert plugin.log == ["> sine", "> sin", "> cos", "< cos", "< sin", "< sine"]


# ---- what it may do ----------------------------------------------------------------------------


def test_none_leaves_the_call_as_it_is():
    class Nothing(Plugin):
        def __init__(self):
            self.asked = []

        def around(self, callee, run):
            self.asked.append(callee)

    plugin = Nothing()
    assert Context(plugins=(plugin,))(sine, 0.5) == math.sin(0.5)
    assert plugin.asked == [sine, math.sin]


def doubled(function):
    @functools.wraps(function)
    def run(x):
        return 2 * function(x)

    return run


@doubled
@doubled
def decorated_sine(x):
    return math.sin(x)


class Sines:
    @staticmethod
    @doubled
    def of_class(x):
        return math.sin(x)

    @classmethod
    def of_cls(cls, x):
        return math.sin(x)


def test_a_function_in_c_that_belongs_to_no_module_is_asked_about():
    assert calls_in(lambda: str.maketrans("a", "b"))[1:] == ["str.maketrans"]


def test_a_function_that_a_module_holds_below_decorators_is_asked_about_once():
    asked = []

    class Asking(Plugin):
        def around(self, callee, run):
            asked.append(callee)

    def program():
        return decorated_sine(0.5), Sines.of_class(0.5), Sines.of_cls(0.5)

    context = Context(plugins=(Asking(),))
    first = context(program)
    functions = decorated_sine, Sines.of_class, Sines.of_cls.__func__
    below = [decorated_sine.__wrapped__, decorated_sine.__wrapped__.__wrapped__]
    lasting = (*functions, *below, Sines.of_class.__wrapped__, math.sin)
    assert [asked.count(function) for function in lasting] == [1] * len(lasting)
    assert context(program) == first
    assert [asked.count(function) for function in lasting] == [1] * len(lasting)


def test_arguments_and_results_may_be_others_and_the_call_left_out():
    class Changes(Plugin):
        def around(self, callee, run):
            if callee is math.sin:
                return lambda x: run(2 * x) + 10
            return (lambda x: 100) if callee is math.cos else None

    def program(x):
        return math.sin(x), math.cos(x)

    assert Context(plugins=(Changes(),))(program, 0.5) == (math.sin(1.0) + 10, 100)
    assert program(0.5) == (math.sin(0.5), math.cos(0.5))


def test_it_may_be_any_callable():
    class Counts:
        def __init__(self, run):
            self.run, self.count = run, 0

        def __call__(self, *args):
            self.count += 1
            return self.run(*args)

    made = []

    class Wraps(Plugin):
        def around(self, callee, run):
            made.append(Counts(run))
            return made[-1]

    assert Context(plugins=(Wraps(),))(sine, 0.5) == math.sin(0.5)
    assert [counts.count for counts in made] == [1, 1]


def test_the_innermost_plugin_sees_a_call_first():
    log = []
    outer, inner = Logs("outer ", log), Logs("inner ", log)
    expected = [
        *("> inner sine", "> outer sine", "> inner sin", "> outer sin"),
        *("< outer sin", "< inner sin", "< outer sine", "< inner sine"),
    ]
    Context(plugins=(outer, inner))(sine, 0.5)
    assert log == expected
    log.clear()
    Context(plugins=(outer,))(Context(plugins=(inner,)), sine, 0.5)
    assert log == expected


def test_a_plugin_that_has_bailed_out_sees_nothing_below():
    class Bails(Logs):
        def enter(self, callee, types):
            return None if callee is sine else self

    plugin = Bails()
    Context(plugins=(plugin,))(lambda: (sine(0.5), math.cos(0.5)))
    assert plugin.log[1:-1] == ["> sine", "< sine", "> cos", "< cos"]


def test_recurse_in_what_a_plugin_puts_around_runs_in_the_context():
    class Recurses(Plugin):
        def around(self, callee, run):
            return (lambda x: recurse(current_context(), twice, x)) if callee is sine else None

    def twice(x):
        return math.sin(x) + math.sin(x)

    table, logs = MethodTable("table"), Logs()
    table.overlay(math.sin)(lambda x: 10.0)
    assert Context(table, plugins=(Recurses(), logs))(lambda: sine(0.5)) == 20.0
    assert logs.log.count("> sin") == 2


def test_calls_below_what_the_interpreter_or_c_code_calls_are_seen():
    class Thing:
        @property
        def part(self):
            return math.sin(0.5)

        def __enter__(self):
            return math.cos(0.5)

        def __exit__(self, *error):
            math.tan(0.5)

        def __eq__(self, other):
            return math.sqrt(4.0) == 2.0

        __hash__ = None

        def __iter__(self):
            yield math.floor(0.5)

    def program(thing):
        with thing as entered:
            return thing.part, entered, [thing].count(Thing), list(thing), [*thing]

    assert calls_in(program, Thing())[1:] == [
        *("cos", "sin", "list.count", "sqrt", "list", "floor", "floor", "tan"),
    ]


def test_a_target_of_another_context_is_asked_about_once():
    table = MethodTable("others")
    table.overlay(sine)(lambda x: 1.0)
    other = Context(table)
    assert other(sine, 0.5) == 1.0
    assert calls_in(lambda: sine(0.5))[1:] == ["sine", "sin"]


def test_work_that_is_handed_to_threads_is_asked_about():
    def program():
        with ThreadPoolExecutor(1) as executor:
            return executor.submit(sine, 0.5).result()

    found = calls_in(program)
    assert found.count("sine") == found.count("sin") == 1


# ---- what the program notices ------------------------------------------------------------------


def test_no_frame_stands_between_the_program_and_what_it_calls():
    def program():
        point = collections.namedtuple("point", "x")
        return (
            point.__module__,
            typing.TypeVar("T").__module__,
            type("C", (), {}).__module__,
            looks(),
        )

    def looks():
        return sys._getframe(1).f_code.co_name

    *modules, name = Context(plugins=(Logs(),))(program)
    assert (set(modules), name) == ({__name__}, "program")


def test_no_frame_of_any_of_several_plugins_stands_between():
    def looks():
        return sys._getframe(1).f_code.co_name, [each.name for each in traceback.extract_stack()]

    def program():
        return looks()

    name, stack = Context(plugins=(Logs(), Logs("inner"), Logs("third")))(program)
    assert name == "program"
    assert "logged" not in stack


@pytest.mark.parametrize("operators", [False, True])
def test_a_block_may_begin_below_a_call_that_a_plugin_surrounds(operators):
    table = MethodTable("inner")
    if operators:
        table.overlay(operator.add)(lambda a, b: ("sum", a, b))
    plugin = Logs()
    inner = Context(table) if operators else Context(plugins=(plugin,))

    def below(x):
        with inner:
            return x + 1, sine(0.0)

    found = Context(plugins=(Logs(),))(lambda: below(1))
    assert found == ((("sum", 1, 1) if operators else 2), 0.0)
    assert plugin.log == [] if operators else ["> sine", "> sin", "< sin", "< sine"]


def test_what_c_code_keeps_is_pickled_as_the_programs_own():
    made = Context(plugins=(Logs(),))(lambda: (map(sine, [0.0]), filter(abs, [0, 1])))
    if sys.version_info < (3, 14):  # later no iterator is pickled
        made = pickle.loads(pickle.dumps(made))
    assert [[*each] for each in made] == [[0.0], [1]]
    around = Context(plugins=(Logs(),))(lambda: functools.partial(sine, 0.0))
    assert pickle.loads(pickle.dumps(around)).func is sine


def test_a_bound_method_in_c_is_the_one_that_super_gives():
    class Base(typing.Generic[typing.TypeVar("T")]):
        pass

    assert Context(plugins=(Logs(),))(lambda: type("Below", (Base,), {}).__mro__[1]) is Base


def test_a_function_that_looks_at_its_own_frame_sees_it():
    class Looks(Plugin):
        def around(self, callee, run):
            def looking(x):
                own = 10
                return sorted(locals()), eval("own"), run(x)

            return looking if callee is sine else None

    def program():
        own = "the program's"
        return sine(0.0), own

    (names, own, result), _ = Context(plugins=(Looks(),))(program)
    assert ({"own", "x"} <= set(names), own, result) == (True, 10, 0.0)


def test_an_exception_passes_unchanged_with_the_programs_lines():
    def program():
        return fails()

    def fails():
        raise KeyError("lost")

    plugin = Logs()
    with pytest.raises(KeyError) as info:
        Context(plugins=(plugin,))(program)
    names = [frame.name for frame in traceback.extract_tb(info.value.__traceback__)]
    assert names[-2:] == ["program", "fails"]
    assert "logged" not in names
    assert plugin.log[-1].endswith("program")


def test_generators_and_coroutines_are_asked_about_where_they_are_made():
    def numbers():
        yield sine(0.5)
        yield 1

    assert calls_in(lambda: list(numbers()))[1:] == [
        "test_generators_and_coroutines_are_asked_about_where_they_are_made.<locals>.numbers",
        *("list", "sine", "sin"),
    ]


def test_calls_of_a_generator_that_a_plugin_gives_are_not_asked_about():
    asked = []

    class Gives(Plugin):
        def around(self, callee, run):
            asked.append(callee)
            if callee is not counted:
                return None

            def each(*args):
                for value in run(*args):
                    yield math.floor(value)

            return each

    def counted(n):
        for i in range(n):
            yield abs(i + 0.5)

    def program():
        return list(counted(3))

    assert Context(plugins=(Gives(),))(program) == [0, 1, 2]
    assert abs in asked
    assert math.floor not in asked


def test_a_redefinition_is_seen():
    def program():
        return helper()

    def helper():
        return "old"

    plugin = Logs()
    context = Context(plugins=(plugin,))
    assert context(program) == "old"
    helper.__code__ = (lambda: "new").__code__
    assert context(program) == "new"
    assert len(plugin.log) == 8


def test_a_real_program_gives_what_it_gives_and_is_seen_whole():
    data = [1.5, 2.5, 4.0, 7.25]
    plugin = Logs()
    assert Context(plugins=(plugin,))(statistics.stdev, data) == statistics.stdev(data)
    assert plugin.log.count("> _exact_ratio") == len(data)


# ---- errors and lifetimes ----------------------------------------------------------------------


def test_what_cannot_be_called_and_what_fails_is_an_error():
    class Gives(Plugin):
        def around(self, callee, run):
            return 3

    class Broken(Plugin):
        def around(self, callee, run):
            raise KeyError("lost")

    with pytest.raises(OverlayError, match=r"returned 3 for .*sine, which is not callable"):
        Context(plugins=(Gives(),))(sine, 0.5)
    with pytest.raises(OverlayError, match="failed in around of sine") as info:
        Context(plugins=(Broken(),))(sine, 0.5)
    assert isinstance(info.value.__cause__, KeyError)


def test_compilation_is_refused():
    with pytest.raises(NotCompilable, match="cannot compile sine with <plugin Logs>") as info:
        Context(plugins=(Logs(),)).jit(sine)
    assert "run it interpreted" in str(info.value)


@pytest.mark.parametrize(
    "program",
    [
        lambda: sine(0.5),
        lambda: sorted([-1, 0], key=abs),
        lambda: [].append(1),
        lambda: Holder(1).get(),
        lambda: [*map(functools.partial(math.hypot, 1.0), [1.0])],
    ],
)
def test_a_context_is_collected_with_what_stands_around_its_calls(program):
    def run():
        plugin = Logs()
        context = Context(plugins=(plugin,))
        context(program)
        return weakref.ref(plugin), weakref.ref(context)

    references = run()
    gc.collect()
    gc.collect()
    assert [reference() for reference in references] == [None, None]
