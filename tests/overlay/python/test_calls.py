"""Every way in which ordinary code reaches a target."""

import builtins
import functools
import importlib
import itertools
import math
import typing
from math import sin as imported_sin

import pytest

from overlay import Context, MethodTable, call_next

table = MethodTable("marks")
ctx = Context(table)


@table.overlay(math.sin)
def marked(x: float):
    return ("sin", x)


def base(x, y=2, *rest, z=3, **more):
    return ("base", x, y, rest, z, more)


@table.overlay(base)
def marked_base(x: str, y: int = 20, *, z: int = 30):
    return ("overlaid", x, y, z)


def helper(x):
    return math.sin(x)


class Shape:
    size = 2.0

    def __init__(self, x):
        self.x = x
        self.made = math.sin(x)
        self.stored = math.sin

    def method(self):
        return helper(self.x)

    @classmethod
    def of_class(cls):
        return helper(cls.size)

    @staticmethod
    def of_nobody():
        return helper(3.0)

    @property
    def itself(self):
        return self

    def __call__(self, x):
        return helper(x)


class Callable:
    """Unhashable, and equal to everything: identity alone tells callees apart."""

    __hash__ = None

    def __eq__(self, other):
        return True

    def __call__(self, x):
        return helper(x)


class Derived(Shape):
    def __init__(self, x):
        super().__init__(x)

    def method(self):
        return super().method()

    @classmethod
    def of_class(cls):
        return super().of_class()


class Meta(type):
    def __call__(cls, *args):
        helper(0.0)
        return super().__call__(*args)


class Made(metaclass=Meta):
    def __new__(cls, x):
        new = super().__new__(cls)
        new.early = math.sin(x)
        return new

    def __init__(self, x):
        self.late = helper(x)


def decorated(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        return function(*args, **kwargs)

    return wrapper


@decorated
def behind_a_decorator(x):
    return helper(x)


def generator(x):
    yield math.sin(x)
    yield from (helper(y) for y in (x,))


async def coroutine(x):
    return math.sin(x)


def run(coro):
    try:
        coro.send(None)
    except StopIteration as stop:
        return stop.value


def class_body(x):
    class Local:
        attribute = math.sin(x)

    return Local.attribute


def in_handlers(x):
    try:
        raise ValueError(math.sin(x))
    except ValueError as error:
        first = error.args[0]
    finally:
        last = helper(x)
    return first, last


def conditional_callee(flag, x):
    return (math.sin if flag else helper)(x)


def with_default(x, f=math.sin):
    return f(x)


def deep(n, x):
    return deep(n - 1, x) if n else math.sin(x)


@functools.lru_cache(maxsize=8)
def cached(x):
    return helper(x)


class Caching:
    @functools.lru_cache  # noqa: B019
    def method(self, x):
        return helper(x)


@functools.singledispatch
def single(x):
    return None


@single.register
def single_float(x: float):
    return helper(x)


def executed(x):
    scope = {"math": math, "x": x}
    exec("y = math.sin(x)", scope)
    return scope["y"]


def class_with_comprehensions(x):
    class Local:
        listed: typing.ClassVar = [math.sin(x) for _ in range(1)]

        def method(self):
            return math.sin(x)

    return Local.listed, Local().method()


def class_with_functions_in_comprehensions(x):
    class Local:
        listed: typing.ClassVar = [
            f(1.0)
            for f in [lambda y: (math.sin(y), x, z) for z in range(2)]  # noqa: B023
        ]

    return Local.listed, [name for name in vars(Local) if not name.startswith("__")]


S = ("sin", 1.0)
REACHED = {
    "attribute of a module": (lambda: math.sin(1.0), S),
    "imported name": (lambda: imported_sin(1.0), S),
    "import inside the function": (lambda: importlib.import_module("math").sin(1.0), S),
    "helper": (lambda: helper(1.0), S),
    "helpers of helpers": (lambda: deep(50, 1.0), S),
    "local name": (lambda f=math.sin: f(1.0), S),
    "default argument": (lambda: with_default(1.0), S),
    "splat": (lambda: math.sin(*[1.0]), S),
    "splat and keywords": (lambda: with_default(*[1.0], **{"f": math.sin}), S),
    "from a dict": (lambda: {"f": math.sin}["f"](1.0), S),
    "returned by a function": (lambda: (lambda: math.sin)()(1.0), S),
    "conditional": (lambda: [conditional_callee(c, 1.0) for c in (True, False)], [S, S]),
    "lambda": (lambda: (lambda x: math.sin(x))(1.0), S),
    "list comprehension": (lambda: [math.sin(x) for x in (1.0,)], [S]),
    "set comprehension": (lambda: {math.sin(x) for x in (1.0,)}, {S}),
    "dict comprehension": (lambda: {x: math.sin(x) for x in (1.0,)}, {1.0: S}),
    "generator expression": (lambda: list(math.sin(x) for x in (1.0,)), [S]),  # noqa: C400
    "nested comprehension": (lambda: [[helper(y) for y in (x,)] for x in (1.0,)], [[S]]),
    "generator": (lambda: list(generator(1.0)), [S, S]),
    "coroutine": (lambda: run(coroutine(1.0)), S),
    "constructor": (lambda: Shape(1.0).made, S),
    "method": (lambda: Shape(1.0).method(), S),
    "bound method": (lambda m=Shape(1.0).method: m(), S),
    "classmethod": (lambda: Shape.of_class(), ("sin", 2.0)),
    "classmethod of an instance": (lambda: Shape(1.0).of_class(), ("sin", 2.0)),
    "staticmethod": (lambda: Shape.of_nobody(), ("sin", 3.0)),
    "function of an instance": (lambda: Shape(1.0).stored(1.0), S),
    "attribute that is its own owner": (lambda: Shape(1.0).itself(1.0), S),
    "function of a class": (lambda: Shape.method(Shape(1.0)), S),
    "callable object": (lambda: Shape(1.0)(1.0), S),
    "unhashable callable": (lambda c=Callable(): c(1.0), S),
    "super": (lambda: (Derived(1.0).method(), Derived.of_class()), (S, ("sin", 2.0))),
    "metaclass": (lambda: (Made(1.0).early, Made(1.0).late), (S, S)),
    "class body": (lambda: class_body(1.0), S),
    "class body with a comprehension": (lambda: class_with_comprehensions(1.0), ([S], S)),
    "class body with functions in a comprehension": (
        lambda: class_with_functions_in_comprehensions(5),
        ([(S, 5, 1), (S, 5, 1)], ["listed"]),
    ),
    "handlers": (lambda: in_handlers(1.0), (S, S)),
    "decorator": (lambda: behind_a_decorator(1.0), S),
    "decorating": (lambda: decorated(math.sin)(1.0), S),
    "partial": (lambda: functools.partial(helper, 1.0)(), S),
    "partial of the target": (lambda: functools.partial(math.sin, 1.0)(), S),
    "map": (lambda: list(map(math.sin, [1.0])), [S]),
    "map of a helper": (lambda: list(map(helper, [1.0])), [S]),
    "filter": (lambda: list(filter(lambda x: helper(x)[1], [0.0, 1.0])), [1.0]),
    "sorted": (lambda: sorted([2.0, 1.0], key=lambda x: helper(x)[1]), [1.0, 2.0]),
    "list.sort": (lambda xs=(2.0, 1.0): (s := list(xs), s.sort(key=math.sin))[0], [1.0, 2.0]),
    "min and max": (lambda: (min([2.0, 1.0], key=math.sin), max(2.0, 1.0, key=helper)), (1.0, 2.0)),
    "reduce": (lambda: functools.reduce(lambda a, x: math.sin(x), [0.0, 1.0]), S),
    "starmap": (lambda: list(itertools.starmap(math.sin, [(1.0,)])), [S]),
    "cached function": (lambda: cached(1.0), S),
    "cached method": (lambda c=Caching(): c.method(1.0), S),
    "singledispatch": (lambda: single(1.0), S),
    "exec": (lambda: executed(1.0), S),
    "eval": (lambda: eval(" math.sin(1.0)"), S),
    "eval of local names": (lambda: (lambda f, x: eval("f(x)"))(math.sin, 1.0), S),
    "exec of compiled code": (lambda: eval(compile("helper(1.0)", "<text>", "eval")), S),
    "walrus": (lambda: (y := math.sin(1.0)) and y, S),
    "formatted": (lambda: f"{math.sin(1.0)}", str(S)),
}


@pytest.mark.parametrize("name", REACHED)
def test_reached(name):
    function, expected = REACHED[name]
    assert ctx(function) == expected
    assert ctx(function) == expected  # by now every site has learnt its callee
    assert ctx.wrap(function)() == expected


@pytest.mark.parametrize("name", REACHED)
def test_nothing_changes_outside(name):
    function, _ = REACHED[name]
    ctx(function)
    assert math.sin is imported_sin
    assert math.sin(1.0) == pytest.approx(0.8414709848)
    assert helper(1.0) == math.sin(1.0)


def test_arguments_of_another_type_fall_through_to_the_base():
    assert ctx(helper, 1) == math.sin(1)
    assert ctx(lambda: [math.sin(x) for x in (1, 1.0)]) == [math.sin(1), S]


def test_keyword_and_positional_spellings_are_the_same_call():
    expected = ("overlaid", "a", 5, 30)
    assert ctx(lambda: base("a", 5)) == expected
    assert ctx(lambda: base("a", y=5)) == expected
    assert ctx(lambda: base(x="a", y=5)) == expected
    assert ctx(lambda: base(**{"y": 5, "x": "a"})) == expected
    assert ctx(lambda: base("a", 5, z=6)) == ("overlaid", "a", 5, 6)
    assert ctx(lambda: base("a", z=6)) == ("overlaid", "a", 20, 6)


def test_calls_that_no_method_accepts_reach_the_base_as_they_were_written():
    assert ctx(lambda: base(1, z=5, w=6)) == ("base", 1, 2, (), 5, {"w": 6})
    assert ctx(lambda: base("a", 1, 2)) == ("base", "a", 1, (2,), 3, {})
    assert ctx(lambda: base("a", "b")) == ("base", "a", "b", (), 3, {})


def test_a_target_that_is_run_directly_is_dispatched():
    assert ctx(math.sin, 1.0) == S
    assert ctx(base, "a") == ("overlaid", "a", 20, 30)


def test_builtins_are_targets():
    quiet = MethodTable("quiet")
    said = []

    @quiet.overlay(print)
    def print_(*values):
        said.append(values)

    @quiet.overlay(len)
    def len_(x: str):
        return -1

    def program():
        print("hello", 1)
        return len("abc"), len([1, 2])

    assert Context(quiet)(program) == (-1, 2)
    assert said == [("hello", 1)]
    assert builtins.print is print


def test_classes_and_methods_are_targets():
    other = MethodTable("other")

    @other.overlay(Shape)
    def shape(x: float):
        return "a shape"

    @other.overlay(Shape.of_class)
    def of_class(cls):
        return cls.__name__

    @other.overlay(Derived.method)
    def method(self):
        return "a method"

    inner = Context(other)
    assert inner(lambda: (Shape(1.0), type(Shape(1)))) == ("a shape", Shape)
    assert inner(lambda: (Shape.of_class(), Derived.of_class())) == ("Shape", "Derived")
    assert inner(lambda: Derived(1).method()) == "a method"


def numbered(number):
    def made(x):
        return number, abs(x)

    return made


@pytest.mark.parametrize("when", ["before the run", "while it runs"])
def test_one_of_several_functions_of_the_same_code_may_be_a_target(when):
    functions = [numbered(number) for number in range(4)]
    table = MethodTable("t")

    def method(x):
        return "method"

    def program():
        results = []
        for turn in range(3):
            if turn == 1:
                table.overlay(functions[2])(method)
            results.append([function(-1) for function in functions])
        return results

    if when == "before the run":
        table.overlay(functions[2])(method)
    others = [(0, 1), (1, 1), (2, 1), (3, 1)]
    reached = [(0, 1), (1, 1), "method", (3, 1)]
    first = reached if when == "before the run" else others
    assert Context(table)(program) == [first, reached, reached]


def test_methods_of_builtin_types_are_targets_in_every_spelling():
    other = MethodTable("other")

    @other.overlay(list.append)
    def append(self: list, item: int):
        call_next(self, item * 10)

    def program():
        items = []
        items.append(1)
        list.append(items, 2)
        add = items.append
        add(3)
        items.append("text")
        list(map(items.append, [4]))
        return items

    assert Context(other)(program) == [10, 20, 30, "text", 40]


def test_exceptions_pass_unchanged_and_leave_nothing_behind():
    def fails():
        helper(1.0)
        raise KeyError("mine")

    from overlay import current_context

    with pytest.raises(KeyError, match="mine") as caught:
        ctx(fails)
    assert caught.value.__context__ is None
    assert current_context() is None


def test_results_cached_in_a_context_stay_there():
    cached.cache_clear()
    outside = cached(1.0)
    assert ctx(lambda: cached(1.0)) == S
    assert cached(1.0) == outside
    assert cached.cache_info().hits == 1

    def uses():
        cached(1.0)
        cached(1.0)
        return cached.cache_info().hits >= 2

    def clears():
        cached.cache_clear()
        return cached.cache_info().hits

    assert ctx(uses)
    assert cached.cache_info().currsize == 1
    assert ctx(clears) == 0
    assert cached.cache_info().currsize == 0  # the program has cleared it


def test_exec_keeps_its_meaning():
    def program():
        x = 1
        exec("x = 2; y = 3")
        scope = {}
        exec("def f(): return z\nz = 5", scope)
        with pytest.raises(TypeError):
            exec(5)
        with pytest.raises(SyntaxError):
            eval("1 +")
        return x, eval("x + 1"), scope["f"](), sorted(k for k in scope if k != "__builtins__")

    assert ctx(program) == program() == (1, 2, 5, ["f", "z"])


def test_a_traceback_shows_the_users_lines():
    import traceback

    def fails():
        return helper("text")

    with pytest.raises(TypeError) as caught:
        ctx(fails)
    summary = traceback.extract_tb(caught.value.__traceback__)
    assert [entry.line for entry in summary if entry.filename == __file__][-2:] == [
        'return helper("text")',
        "return math.sin(x)",
    ]


def test_the_program_holds_only_its_own_objects():
    def program(f):
        def inner():
            return inner

        method = Shape(1.0).method
        return f is helper, inner() is inner, method.__func__ is Shape.method, helper.__name__

    assert ctx(program, helper) == (True, True, True, "helper")


def test_frames_show_no_extra_names():
    def program(x):
        kept = Shape(x).method()
        return kept, sorted(locals())

    assert ctx(program, 1.0) == (S, ["kept", "x"])


def test_no_frame_stands_between_caller_and_callee():
    import sys

    def callee():
        return sys._getframe(1).f_code.co_name

    def caller():
        return callee()

    assert ctx(caller) == caller() == "caller"
