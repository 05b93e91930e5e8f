"""Programs of Cassette.jl's tests, documentation and issues (JuliaLabs/Cassette.jl), written again
in Python. Each test names its source."""

import asyncio
import code
import ctypes
import functools
import json
import math
import operator
import pickle
import re
import sqlite3
import statistics
import threading
import traceback
import weakref
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from inversion import invert
from overlay import Context, MethodTable, Plugin, call_next, current_context, generic, nonoverlay
from overlay.interpretations.autodiff import derivative
from overlay.interpretations.memoisation import memoised
from overlay.interpretations.printing import Slicer
from overlay.interpretations.tagging import NotTaggable, Tagging
from overlay.interpretations.tracing import trace


class Hooks(Plugin):
    """Notes each call before and after it."""

    def __init__(self):
        self.before, self.after = [], []

    def around(self, callee, run):
        def hooked(*args, **kwargs):
            self.before.append((callee, args))
            result = run(*args, **kwargs)
            self.after.append((result, callee, args))
            return result

        return hooked


# ---- test/misctests.jl ---------------------------------------------------------------------------


def rosenbrock(x):
    a, b = 1.0, 100.0
    result = 0.0
    for i in range(len(x) - 1):
        result += (a - x[i]) ** 2 + b * (x[i + 1] - x[i] ** 2) ** 2
    return result


def test_rosenbrock_keeps_its_type_and_value_and_its_operations_are_logged():
    """RosCtx"""
    table, log = MethodTable("log"), []
    for target in (operator.add, operator.sub, operator.mul, operator.pow):
        table.overlay(target)(
            lambda a, b, name=target.__name__: (log.append(name), call_next(a, b))[1]
        )
    x = [0.3, 0.7]
    assert Context(table)(rosenbrock, x) == rosenbrock(x)
    assert log == ["sub", "sub", "pow", "add", "pow", "sub", "pow", "mul", "add", "add"]
    assert Context().jit(rosenbrock)(np.array(x)) == rosenbrock(x)


def test_operators_are_hooked_before_and_after_in_the_order_of_evaluation():
    """HookCtx"""
    table, log = MethodTable("hooks"), []

    def hooked(target):
        @table.overlay(target)
        def method(a, b):
            log.append(("before", target.__name__, a, b))
            result = call_next(a, b)
            log.append(("after", target.__name__, result))
            return result

    hooked(operator.add), hooked(operator.mul)
    assert Context(table)(lambda a, b, c: a + b * c, 2, 3, 4) == 14
    assert log == [
        *(("before", "mul", 3, 4), ("after", "mul", 12)),
        *(("before", "add", 2, 12), ("after", "add", 14)),
    ]


def test_arguments_that_are_spread_reach_the_hooks_flat():
    """HookCtx, ApplyCtx"""
    hooks = Hooks()
    x, y = 3.0, 4.0
    assert Context(plugins=(hooks,))(lambda: math.hypot(*(x,), *(y, 12.0))) == 13.0
    assert (math.hypot, (3.0, 4.0, 12.0)) in hooks.before


def test_calls_with_arguments_of_one_type_are_counted_wherever_they_are_made():
    """CountCtx2"""
    table, counts = MethodTable("texts"), []

    @table.overlay(str)
    def text(x: int):
        counts.append(x)
        return call_next(x)

    assert Context(table)(lambda: [*map(str, range(10)), str(2.5)]) == [
        *map(str, range(10)),
        "2.5",
    ]
    assert counts == list(range(10))


def test_a_context_that_does_nothing_leaves_closures_and_comprehensions_as_they_are():
    """SqrCtx, CompCtx"""
    empty = Context(MethodTable("empty"))

    def square(x):
        return (lambda y: y * x)(x)

    def comprehension(f, x, ys):
        return [f(x, y) for y in ys]

    assert empty(square, 1.5) == empty.jit(square)(1.5) == 2.25
    assert empty(comprehension, math.hypot, 3.0, [4.0, 0.0]) == [5.0, 3.0]


def test_a_pass_rewrites_what_a_kernel_inside_a_reduction_calls():
    """PassFallbackCtx"""

    class SineToCosine(Plugin):
        def before_inference(self, ir):
            for call in ir.calls(math.sin):
                ir.replace(call, math.cos, *call.args)

    def kernel(x):
        return math.sin(x) if x > 0.5 else x

    def total(f, xs):
        found = 0.0
        for x in xs:
            found += f(x)
        return found

    def program(xs):
        return total(kernel, xs)

    xs = np.array([0.2, 0.8, 0.4, 1.6])
    compiled = Context(plugins=(SineToCosine(),)).jit(program)
    assert compiled(xs) == total(lambda x: math.cos(x) if x > 0.5 else x, xs)


def test_a_hook_that_is_defined_later_is_seen_by_a_context_that_was_there():
    """WorldCtx"""
    table, log = MethodTable("world"), []
    old = Context(table)
    old(math.sin, 1.0)
    table.overlay(math.sin)(lambda x: (log.append("one"), call_next(x))[1])
    old(math.sin, 1.0)
    table.overlay(math.sin)(lambda x: call_next(x))
    old(math.sin, 1.0)
    assert log == ["one"]


def products(x, y, z):
    return x * y + y * z


def with_keywords(x, *, y=1.0, z=2.0):
    return products(x, y, z)


def test_a_trace_of_keyword_calls_has_the_call_itself():
    """TraceCtx, and issue 48: the call with keywords stands there, not what unpacks them"""

    found = trace(with_keywords, 0.5, y=3.0, z=4.0)
    assert found.tree(times=False) == (
        "with_keywords(0.5, y=3.0, z=4.0) -> 13.5\n  products(0.5, 3.0, 4.0) -> 13.5"
    )


def test_a_method_picked_by_hand_is_followed():
    """InvokeCtx, Invoke2Ctx: the method for numbers runs for an int, with its default"""

    @functools.singledispatch
    def invoked(x, y=4):
        return x**2 + y

    @invoked.register
    def _(x: int):
        return x + x

    hooks = Hooks()
    found = Context(plugins=(hooks,))(lambda x: invoked.dispatch(float)(x), 3)
    assert (invoked(3), found) == (6, 13)
    assert invoked.dispatch(object) in [callee for callee, _ in hooks.before]


def test_a_memo_has_an_entry_for_each_argument():
    """MemoizeCtx"""

    def fib(x):
        return 1 if x < 3 else fib(x - 2) + fib(x - 1)

    def program(n):
        return fib(2 * n) + n

    memo = memoised(fib)
    assert memo(program, 10) == program(10)
    assert memo.misses == 20


def test_contexts_that_do_nothing_nest_three_deep_without_work():
    """NoOpCtx, and issue 73"""

    def loop(x, n):
        r = x / x
        while n > 0:
            r *= math.sin(x)
            n -= 1
        return r

    contexts = [Context(MethodTable(name)) for name in "abc"]
    plain = Context().jit(loop)
    nested = functools.reduce(operator.or_, contexts).jit(loop)
    assert plain(2.0, 50) == nested(2.0, 50) == loop(2.0, 50)
    assert nested.functions_compiled == 0


def test_hooks_are_switched_off():
    """DisableHooksCtx"""
    hooks = Hooks()
    hooked = Context(plugins=(hooks,))
    off = hooked.replace(plugins=())
    assert off(math.sin, 1.0) == off(off, math.sin, 1.0) == math.sin(1.0)
    assert hooks.before == hooks.after == []


def test_prints_are_sliced_out_and_made_later():
    """The documentation's page on passes, SliceCtx, and issue 66"""

    def add(a, b):
        print("adding", a, b)
        c = a + b
        print("gives", c)
        return c

    table, later = MethodTable("later"), []
    table.overlay(print)(lambda *args: later.append(functools.partial(print, *args)))
    assert Context(table)(add, 1, 2) == 3
    assert [call.args for call in later] == [("adding", 1, 2), ("gives", 3)]
    assert "print" not in Slicer().source(add)


def test_a_callable_object_whose_method_calls_another_of_its_own_is_followed():
    """CtxCallOverload"""

    class Dense:
        def __init__(self, weights, bias):
            self.weights, self.bias = weights, bias

        def __call__(self, x):
            if x.dtype != self.weights.dtype:
                return self(x.astype(self.weights.dtype))
            return np.tanh(self.weights @ x + self.bias)

    layer, x = Dense(np.eye(3), np.zeros(3)), np.array([1, 2, 3])
    table = MethodTable("table")
    table.overlay(np.tanh)(lambda x: x)
    assert list(Context(table)(layer, x)) == [1.0, 2.0, 3.0]
    assert list(Context(MethodTable("empty"))(layer, x)) == list(np.tanh([1.0, 2.0, 3.0]))


def test_the_context_of_a_module_and_a_context_of_a_context():
    """InModuleCtx, OverdubOverdubCtx"""
    empty = Context(MethodTable("empty"))
    assert empty(empty, lambda: 2) == 2
    assert empty(lambda: empty.wrap(math.sin)(1.0)) == math.sin(1.0)


# ---- issues --------------------------------------------------------------------------------------


@generic
def foobar(*args):
    return 0


def test_a_method_that_calls_its_target_again_with_other_arguments_is_dispatched_again():
    """Issue 87, and invenia/Mocking.jl issue 59: 1 was expected, 0 came"""
    table = MethodTable("foobar")

    @table.overlay(foobar)
    def one(b: int):
        return foobar(abs, b)

    @table.overlay(foobar)
    def two(a: object, b: int):
        return b

    assert Context(table)(foobar, 1) == 1
    assert foobar(1) == 0


def test_tasks_and_threads_do_not_escape():
    """Issue 120"""
    table = MethodTable("yah")
    table.overlay(foobar)(lambda: "yah")

    def answer():
        return foobar()

    async def task():
        return answer()

    async def program():
        found = []
        thread = threading.Thread(target=lambda: found.append(answer()))
        thread.start()
        thread.join()
        return [*await asyncio.gather(task(), task(), asyncio.to_thread(answer)), *found]

    assert Context(table)(lambda: asyncio.run(program())) == ["yah"] * 4


def by_a_function_of_c():
    found = []
    kind = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)
    kind(lambda x: found.append(foobar()) or 0)(1)
    return found[0]


def by_a_database():
    database = sqlite3.connect(":memory:")
    database.create_function("answer", 0, lambda: foobar())
    try:
        return database.execute("select answer()").fetchone()[0]
    finally:
        database.close()


def by_a_finalizer():
    found = []

    class Ends:
        def __del__(self):
            found.append(foobar())

    Ends()
    return found[0]


def by_a_weak_reference():
    found, held = [], Plus(0.0)
    reference = weakref.ref(held, lambda _: found.append(foobar()))
    del held
    assert reference() is None
    return found[0]


def by_an_event_loop():
    async def main():
        loop = asyncio.get_running_loop()
        future = loop.create_future()
        loop.call_later(0.0, lambda: future.set_result(foobar()))
        return await future

    return asyncio.run(main())


def by_a_done_callback():
    found = []
    with ThreadPoolExecutor(1) as pool:
        pool.submit(int).add_done_callback(lambda _: found.append(foobar()))
    return found[0]


@pytest.mark.parametrize(
    "program",
    [
        *(by_a_function_of_c, by_a_database, by_a_finalizer, by_a_weak_reference),
        *(by_an_event_loop, by_a_done_callback),
        lambda: re.sub("x", lambda found: foobar(), "x"),
        lambda: json.loads("{}", object_hook=lambda found: foobar()),
    ],
)
def test_callbacks_do_not_escape(program):
    """Issue 120: functions that are handed out of the program's control, and called from there"""
    table = MethodTable("yah")
    table.overlay(foobar)(lambda: "yah")
    assert Context(table)(program) == "yah"


def test_what_lies_below_a_call_is_left_alone():
    """Issue 180: a hook says where to stop"""

    class Stops(Hooks):
        def enter(self, callee, types):
            return None if callee is heavy else self

    def heavy(x):
        return math.sqrt(math.fabs(x))

    def program(x):
        return heavy(x) + math.exp(0.0)

    hooks = Stops()
    assert Context(plugins=(hooks,))(program, -4.0) == 3.0
    assert [callee for callee, _ in hooks.before] == [program, heavy, math.exp]


def test_a_transform_gives_an_ordinary_function_back():
    """Issue 109: it is called, mapped and pickled without a context being named"""
    fast_logistic = FLAT.wrap(logistic)
    assert fast_logistic(0.0) == 0.5
    assert list(map(fast_logistic, [2.0, 3.0])) == [0.5, 0.5]
    assert pickle.loads(pickle.dumps(fast_logistic))(2.0) == 0.5
    assert logistic(2.0) > 0.8


def logistic(x):
    return 1 / (1 + math.exp(-x))


flat = MethodTable("flat")
flat.overlay(math.exp)(lambda x: 1.0)
FLAT = Context(flat)


def test_a_keyword_call_that_a_library_makes_is_intercepted():
    """Issue 48 and pull request 60: the inner call has keywords, the outer one is the user's"""
    table, seen = MethodTable("keywords"), []

    @table.overlay(sorted)
    def reported(xs, /, *, key=None, reverse=False):
        seen.append((key, reverse))
        return call_next(xs, key=key, reverse=reverse)

    def ranked(xs):
        return sorted(xs, key=abs, reverse=True)

    assert Context(table)(ranked, [1, -3, 2]) == [-3, 2, 1]
    assert seen == [(abs, True)]
    assert Context(table)(statistics.median, [3, 1, 2]) == 2
    assert seen[1:] == [(None, False)]


def test_a_program_in_an_inner_context_is_the_program_of_the_outer_one():
    """Issue 72: nested contexts of one kind, and nonoverlay inside. What a method calls is
    dispatched, too, whichever context is the outer one"""
    inner, outer = MethodTable("inner"), MethodTable("outer")
    inner.overlay(math.sin)(lambda x: math.cos(x))
    outer.overlay(math.cos)(lambda x: nonoverlay(math.cos)(x) + 1)
    assert Context(outer)(Context(inner), math.sin, 0.0) == 2.0
    assert Context(inner)(Context(outer), math.sin, 0.0) == 2.0
    assert Context(inner)(math.sin, 0.0) == 1.0


# ---- test/misctaggingtests.jl --------------------------------------------------------------------


class Bar:
    def __init__(self, x, y, z):
        self.x, self.y, self.z = x, y, z


class Foo:
    def __init__(self, a, b):
        self.a, self.b = a, b


def through_objects(x):
    bar = Bar(x, x + 1, x + 2)
    foo = Foo(bar, "ha")
    foo.b = bar
    foo.a = Bar(4, 5, 6)
    other = Foo(foo.a, foo.b)
    other.a = other.b
    array = []
    array.append(float(other.a.x))
    return [array[0]][0]


def test_a_tag_survives_objects_arrays_and_conversion():
    """FooBarCtx"""
    source = Tagging()
    result = source(through_objects, source.tag(1, "n"))
    assert (result, source.metadata(result)) == (1.0, "n")


def test_conditions_keywords_and_matrices_of_tagged_values():
    """TagConditionalCtx, KwargCtx, ArrayIndexCtx"""
    source = Tagging()

    def loop(b):
        i = 1
        while i > b:
            i -= 1
        return i

    def keywords(x, *, y=1):
        return x + y

    assert source(lambda x: 1 if x else 2, source.tag(1, "t")) == 1
    with pytest.raises(NotTaggable, match="True cannot carry metadata"):
        source.tag(True, "t")
    assert source(loop, source.tag(0, "zero")) == 0
    assert source(lambda y: keywords(3, y=y), source.tag(2, "y")) == 5
    matrix = source(lambda x: [[x, x], [x, x]], source.tag(1, "hi"))
    assert [[source.metadata(x) for x in row] for row in matrix] == [["hi"] * 2] * 2


HELD = []


class Plus:
    def __init__(self, x):
        self.x = x

    def __call__(self, x):
        return self.x + x


PLUS = Plus(0.0)


def crazy_sum_mul(x, y):
    """``sum(x) * sum(y)``, through globals, a callable with state, and objects that swap."""
    container, other = [x], y
    last = 0.0
    for i in range(len(y)):
        value = container[0][i]
        if i % 2:
            HELD.append(other[i])
            last = PLUS(value)
            container[0], other = x, y
        else:
            HELD.append(value)
            last = PLUS(other[i])
            container[0], other = y, x
        PLUS.x = last
    result = sum(HELD) * last
    HELD.clear()
    PLUS.x = 0.0
    return result


def test_metadata_goes_through_globals_and_callables_with_state():
    """CrazyPropCtx: what metadata are computed is what the program computes of them"""
    xs, ys = [1.0, 2.0, 3.0], [0.5, 0.25, 4.0]
    assert crazy_sum_mul(xs, ys) == sum(xs) * sum(ys)
    source = Tagging()
    tagged = [[source.tag(v, (n, i)) for i, v in enumerate(vs)] for n, vs in (("x", xs), ("y", ys))]
    result = source(crazy_sum_mul, *tagged)
    assert result == sum(xs) * sum(ys)
    assert source.metadata(result) == {(name, i) for name in "xy" for i in range(3)}


@pytest.mark.parametrize(
    ("program", "x", "expected"),
    [
        (math.sin, 1.0, math.cos(1.0)),
        (lambda x: derivative(math.sin)(x), 1.0, -math.sin(1.0)),
        (lambda x: math.sin(x) * math.cos(x), 1.0, math.cos(1.0) ** 2 - math.sin(1.0) ** 2),
        (lambda x: x * derivative(lambda y: x * y)(1.0), 2.0, 4.0),
        (lambda x: x * derivative(lambda y: x * y)(2.0), 1.0, 2.0),
        (lambda x: x * derivative(lambda y: 5 * x * y)(3.0), 2.0, 20.0),
        (lambda x: x * through_objects(x), 1.0, 2.0),
        (lambda x: (x + 2) * (3 + x), 0.3, 5.6),
        (lambda x: crazy_sum_mul([x], [x]), 0.3, 0.6),
        (lambda x: crazy_sum_mul([x, 2], [3, x]), 0.3, 5.6),
    ],
)
def test_nested_derivatives_do_not_confuse_perturbations(program, x, expected):
    """DiffCtx"""
    assert math.isclose(derivative(program)(x), expected)


def test_the_metadata_of_a_context_are_read_where_a_hook_runs():
    """RosCtx: metadata in place of a global list"""
    table = MethodTable("noted")

    @table.overlay(math.sin)
    def noted(x):
        current_context().state.append(x)
        return call_next(x)

    one, two = [], []
    for log in (one, two, two):
        Context(table, state=log)(lambda: math.sin(0.5))
    assert (one, two) == ([0.5], [0.5, 0.5])


# ---- stack traces --------------------------------------------------------------------------------


def third(x):
    if x > 1.0:
        raise ValueError("too large")
    return 1.0 / x


def second(x):
    return third(x) + 1.0


def first(x):
    return second(2.0 * x)


@pytest.mark.parametrize("way", ["wrap", "jit"])
@pytest.mark.parametrize(("x", "line"), [(1.0, 2), (0.0, 3)])
def test_a_stack_trace_shows_the_functions_and_not_the_tool(way, x, line):
    """Issue 185, pull request 186: the frames were named overdub in place of the functions"""
    table = MethodTable("unused")
    table.overlay(math.sin)(math.cos)
    native, inside = (frames_of(f, x) for f in (first, getattr(Context(table), way)(first)))
    if way == "wrap":
        assert inside.pop(0)[0] == "__call__"  # where the context is entered, and no other
    assert [name for name, _ in inside] == ["first", "second", "third"]
    assert inside[-1][1] == third.__code__.co_firstlineno + line
    assert inside == native


def frames_of(function, x):
    """The frames below the test, of whatever file, by name and line."""
    with pytest.raises((ValueError, ZeroDivisionError)) as caught:
        function(x)
    frames = traceback.extract_tb(caught.value.__traceback__)
    return [(frame.name, frame.lineno) for frame in frames][1:]


def test_an_error_in_a_pass_shows_the_line_of_the_pass():
    """Pull request 103: an index that is out of range said nothing of where it was"""

    class Wrong(Plugin):
        def before_inference(self, ir):
            return ir.calls()[77]

    with pytest.raises(Exception) as caught:  # noqa: PT011
        Context(plugins=(Wrong(),)).jit(second)(0.5)
    cause, shown = caught.value, []
    while cause is not None:
        shown += traceback.extract_tb(cause.__traceback__)
        cause = cause.__cause__ or cause.__context__
    start = Wrong.before_inference.__code__.co_firstlineno
    assert ("before_inference", start + 1) in [(frame.name, frame.lineno) for frame in shown]


# ---- a context for all that is entered later -----------------------------------------------------


def test_a_prompt_runs_each_input_in_a_context():
    """Issue 132: a console in which each line is overdubbed"""
    table, found = MethodTable("sine is cosine"), []
    table.overlay(math.sin)(math.cos)
    console = code.InteractiveConsole({"found": found, "context": Context(table)})
    for line in (
        "import math; from overlay import install",
        "found.append(math.sin(1.0))",
        "handle = install(context)",
        "found.append(math.sin(1.0))",
        "def helper(x): return math.sin(x)\n",
        "found.append(helper(1.0) + sum(map(math.sin, [1.0])))",
        "handle.remove()",
        "found.append(helper(1.0))",
    ):
        console.push(line)
    sine, cosine = math.sin(1.0), math.cos(1.0)
    assert found == [sine, cosine, 2 * cosine, sine]


# ---- overlays, derivatives and inverses ----------------------------------------------------------


def sin_plus_cos(x):
    return math.sin(x) + math.cos(x)


def in_the_context(f):
    table = MethodTable("SinCtx")
    table.overlay(math.sin)(math.cos)
    return Context(table).wrap(f)


def inverse_at(x):
    """A step that inverts a function, on the branch of this argument."""

    def step(f):
        inverse = invert(f, float)
        theta = inverse.recover(x)
        return lambda y: inverse(y, theta)[0]

    return step


AT = 0.4
SLOPE = math.cos(AT) - math.sin(AT)  # of the sum, without the context


@pytest.mark.parametrize(
    ("order", "point", "expected"),
    [
        ("OD", AT, -2 * math.sin(AT)),
        ("DO", AT, -2 * math.sin(AT)),
        ("OI", 2 * math.cos(AT), AT),
        ("IO", math.sin(AT) + math.cos(AT), AT),
        ("OID", 2 * math.cos(AT), -0.5 / math.sin(AT)),
        ("ODI", -2 * math.sin(AT), AT),
        ("DOI", -2 * math.sin(AT), AT),
        ("DIO", SLOPE, AT),
        ("IOD", math.sin(AT) + math.cos(AT), 1 / SLOPE),
        ("IDO", math.sin(AT) + math.cos(AT), 1 / SLOPE),
    ],
)
def test_a_context_a_derivative_and_an_inverse_compose_in_each_order(order, point, expected):
    """SinCtx, whose sin_plus_cos is twice the cosine; DiffCtx; an inverse is made outside of the
    context, and stays what it is"""
    steps = {"O": in_the_context, "D": derivative, "I": inverse_at(AT)}
    function = sin_plus_cos
    for step in order:
        function = steps[step](function)
    assert function(point) == pytest.approx(expected)
