"""Generic functions: base methods by plum, overlays first, call_next, every way to call."""

import asyncio
import functools
import inspect
import math
import pickle
import threading
from typing import Literal

import numpy as np
import plum
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from overlay import (
    AmbiguousMethod,
    Context,
    MethodNotFound,
    MethodTable,
    OverlayError,
    call_next,
    generic,
    nonoverlay,
)
from overlay.interpretations.autodiff import derivative


@generic
def area(shape):
    """The area of a shape."""


@area.dispatch
def area(shape: float):
    return shape * shape


@area.dispatch
def area(shape: str):
    return f"area of {shape}"


class Odd(type):
    """A metaclass whose classes cannot be keys."""

    __hash__ = None

    def __eq__(cls, other):
        raise AssertionError("compared")


class Strange(metaclass=Odd):
    pass


def overlaid(*functions):
    table = MethodTable("t")
    for function in functions:
        table.overlay(area)(function)
    return Context(table)


# ---- base methods -------------------------------------------------------------------------


def test_base_methods_are_chosen_by_their_annotations():
    assert area(3.0) == 9.0
    assert area("square") == "area of square"
    assert area(shape=2.0) == 4.0


def test_it_reads_as_the_function_that_was_declared():
    assert area.__name__ == "area"
    assert area.__doc__ == "The area of a shape."
    assert str(inspect.signature(area)) == "(shape)"
    assert pickle.loads(pickle.dumps(area)) is area
    assert [m.signature.types for m in area.methods()] == [(float,), (str,)]


def test_a_declaration_with_a_body_is_a_base_method():
    @generic
    def size(x: list):
        return len(x)

    assert size([1, 2]) == 2
    with pytest.raises(MethodNotFound):
        size((1, 2))


def test_no_method_is_told_with_the_nearest_and_a_remedy():
    with pytest.raises(MethodNotFound) as caught:
        area([1])
    text = str(caught.value)
    assert "generic function area has no method area(list)" in text
    assert "test_generic.py:" in text
    assert "closest: area(float)" in text
    assert "help: add a method with @area.dispatch" in text


def test_another_number_of_arguments_is_refused_as_by_any_function():
    for call in (lambda: area(1.0, 2.0), lambda: area(1.0, other=2.0)):
        with pytest.raises(TypeError, match="argument"):
            call()
        with pytest.raises(TypeError, match="argument"):
            Context()(call)
    with pytest.raises(MethodNotFound):
        area()


def test_equally_specific_base_methods_are_named():
    @generic
    def pair(x, y): ...

    @pair.dispatch
    def left(x: int, y: object): ...

    @pair.dispatch
    def right(x: object, y: int): ...

    with pytest.raises(AmbiguousMethod) as caught:
        pair(1, 1)
    assert "pair(int, object)" in str(caught.value)
    assert "pair(object, int)" in str(caught.value)


def test_precedence_breaks_a_tie_between_base_methods():
    @generic
    def pair(x, y): ...

    @pair.dispatch(precedence=1)
    def left(x: int, y: object):
        return "left"

    @pair.dispatch
    def right(x: object, y: int):
        return "right"

    assert pair(1, 1) == "left"


def test_several_signatures_at_once():
    @generic
    def kind(x): ...

    @kind.dispatch_multi((int,), plum.Signature(str))
    def known(x):
        return "known"

    assert (kind(1), kind("a")) == ("known", "known")
    with pytest.raises(MethodNotFound):
        kind(1.5)


def test_annotations_may_be_defined_later():
    scope = {"generic": generic}
    exec("@generic\ndef f(x): ...\n@f.dispatch\ndef f(x: 'Later'):\n    return 'later'", scope)
    scope["Later"] = dict
    assert scope["f"]({}) == "later"


def test_results_are_converted_as_plum_does():
    @generic
    def number(x): ...

    @number.dispatch
    def number(x: int) -> float:
        return x

    plum.add_conversion_method(int, float, float)
    assert type(number(3)) is float
    assert type(Context()(lambda: number(3))) is float


def checked_plainly(x) -> float:
    return x * x


def checked_in_union(x) -> int | float:
    return x * x


def checked_by_parts(x) -> tuple[float, float]:
    return (x * x, x)


@pytest.mark.parametrize("function", [checked_plainly, checked_in_union, checked_by_parts])
def test_the_checks_of_results_are_not_the_programs_calls(function):
    table, seen = MethodTable("t"), []
    number = generic(function)

    @table.overlay(isinstance)
    def noted(x, classes):
        seen.append(x)
        return call_next(x, classes)

    assert Context(table)(lambda: number(3.0)) == function(3.0)
    assert seen == []


def test_a_generic_function_with_an_annotated_result_has_a_derivative():
    number = generic(checked_plainly)
    assert derivative(lambda x: number(x))(1.5) == 3.0  # plum's checks ran with dual numbers


def test_a_method_added_later_is_seen_in_every_context():
    @generic
    def f(x): ...

    @f.dispatch
    def wide(x: object):
        return "wide"

    ctx = Context(MethodTable("t"))

    def calls():
        with ctx:
            return f(1), nonoverlay(f)(1), ctx(f, 1), ctx(lambda: f(1))

    assert calls() == ("wide",) * 4

    @f.dispatch
    def narrow(x: int):
        return "narrow"

    assert calls() == ("narrow",) * 4


def test_values_and_arrays_decide_where_signatures_ask_for_them():
    @generic
    def f(x): ...

    @f.dispatch
    def one(x: Literal[1]):
        return "one"

    @f.dispatch
    def some(x: object):
        return "some"

    table = MethodTable("t")

    @table.overlay(f)
    def vector(x: np.ndarray[tuple[int], np.dtype[np.float64]]):
        return "vector"

    assert [f(x) for x in (1, 2, 1)] == ["one", "some", "one"]
    arrays = [np.zeros(1), np.zeros((1, 1)), np.zeros(1, int), np.zeros(2)]
    expected = ["vector", "some", "some", "vector", "one", "some"]
    with Context(table):
        assert [f(x) for x in (*arrays, 1, 2)] == expected
    assert Context(table)(lambda: [f(x) for x in (*arrays, 1, 2)]) == expected


def test_arrays_of_one_annotation_are_told_apart():
    table = MethodTable("t")

    @table.overlay(area)
    def floats(shape: NDArray[np.float64]):
        return "floats"

    with Context(table):
        assert area(np.zeros(1)) == "floats"
        with pytest.raises(MethodNotFound):
            area(np.zeros(1, int))


def test_classes_that_cannot_be_hashed_or_compared_are_arguments_too():
    @generic
    def f(x, y=None): ...

    @f.dispatch
    def anything(x: object, y: object = None):
        return "anything"

    assert [f(Strange()), f(Strange(), Strange()), f(1, Strange())] == ["anything"] * 3


# ---- shapes of calls ----------------------------------------------------------------------


@generic
def shaped(a, b=1, c=2, /, d=3, *, e=4): ...


@shaped.dispatch
def shaped(a: object, b: object = 1, c: object = 2, /, d: object = 3, *, e: object = 4):
    return a, b, c, d, e


SHAPES = [
    ((0,), {}),
    ((0, 5), {}),
    ((0, 5, 6), {}),
    ((0, 5, 6, 7), {}),
    ((0,), {"d": 7}),
    ((0, 5), {"d": 7, "e": 8}),
    ((0,), {"e": 8}),
    ((0, 5, 6), {"d": 7}),
]


@pytest.mark.parametrize(("args", "kwargs"), SHAPES)
def test_every_spelling_of_a_call_gives_what_a_plain_function_gives(args, kwargs):
    def plain(a, b=1, c=2, /, d=3, *, e=4):
        return a, b, c, d, e

    expected = plain(*args, **kwargs)
    table = MethodTable("t")

    @table.overlay(shaped)
    def through(a: int, b: object = 1, c: object = 2, /, d: object = 3, *, e: object = 4):
        return "through", *call_next(a, b, c, d, e=e)

    assert shaped(*args, **kwargs) == expected
    assert Context()(lambda: shaped(*args, **kwargs)) == expected
    with Context(table):
        assert shaped(*args, **kwargs) == ("through", *expected)
    assert Context(table)(lambda: shaped(*args, **kwargs)) == ("through", *expected)


def test_a_method_of_another_number_of_arguments_is_reached():
    @generic
    def f(x): ...

    @f.dispatch
    def two(x: int, y: int):
        return "two"

    table = MethodTable("t")

    @table.overlay(f)
    def three(x: int, y: int, z: int, *, key="none"):
        return f"three, {key}"

    assert f(1, 2) == "two"
    with Context(table):
        assert (f(1, 2, 3), f(1, 2, 3, key="k"), f(1, 2)) == ("three, none", "three, k", "two")


def test_parameters_may_have_the_names_that_its_code_uses():
    @generic
    def f(type, rest, _stack, __more): ...

    @f.dispatch
    def base(type: int, rest: int, _stack: int, __more: int):
        return type, rest, _stack, __more

    assert f(1, 2, 3, 4) == f(1, 2, _stack=3, __more=4) == (1, 2, 3, 4)


def test_methods_in_classes():
    class Base:
        @generic
        def scale(self, x): ...

        @scale.dispatch
        def scale(self, x: int):
            return "int"

    class Derived(Base):
        @generic
        def scale(self, x): ...

        @scale.dispatch
        def scale(self, x: float):
            return "float"

    table = MethodTable("t")

    @table.overlay(Derived.scale)
    def overlaid(self: Derived, x: float):
        return "overlaid", call_next(self, x)

    ctx = Context(table)
    assert [Derived().scale(x) for x in (1, 1.0)] == ["int", "float"]
    assert [ctx(Derived().scale, x) for x in (1, 1.0)] == ["int", ("overlaid", "float")]
    with ctx:
        assert [Derived().scale(x) for x in (1, 1.0)] == ["int", ("overlaid", "float")]
    with pytest.raises(MethodNotFound):
        Derived().scale("text")


def test_only_python_functions_can_be_declared():
    with pytest.raises(OverlayError, match="generic declares Python functions"):
        generic(math.sin)


# ---- in contexts --------------------------------------------------------------------------


def test_its_methods_bodies_run_in_the_context():
    @generic
    def wave(x): ...

    @wave.dispatch
    def wave(x: float):
        return math.sin(x)

    table = MethodTable("t")

    @table.overlay(math.sin)
    def sin(x: float):
        return "overlaid"

    ctx = Context(table)
    assert ctx(wave, 1.0) == ctx(lambda: wave(1.0)) == ctx(lambda: wave(x=1.0)) == "overlaid"
    assert ctx(lambda: list(map(wave, [1.0]))) == ["overlaid"]

    @table.overlay(wave)
    def through(x: float):
        return ["through", call_next(x)]

    assert ctx(wave, 1.0) == ctx(lambda: wave(1.0)) == ["through", "overlaid"]
    assert wave(1.0) == math.sin(1.0)


def both(ctx, call):
    """What a call gives under ``with ctx:`` and under ``ctx(f)``, which must be the same."""
    with ctx:
        block = call()
    assert ctx(call) == block
    return block


@pytest.mark.parametrize("error", [KeyError, TypeError])
@pytest.mark.parametrize(
    "call",
    [lambda f: f(1.0), lambda f: f(1.0, 2.0), lambda f: f(1.0, 2.0, 3.0)],
    ids=["one", "two", "three"],
)
def test_what_a_method_raises_comes_out_of_its_call_and_it_runs_once(call, error):
    runs = []

    @generic
    def fails(a, b=None, c=None): ...

    @fails.dispatch
    def fails(a: float, b: object = None, c: object = None):
        runs.append(a)
        raise error("mine")

    def program():
        for _ in range(3):
            with pytest.raises(error, match="mine"):
                call(fails)

    for run in (program, Context(MethodTable("none")).wrap(program)):
        runs.clear()
        run()
        assert runs == [1.0] * 3


def test_call_next_goes_through_the_tables_to_the_base():
    def table(name, *hints):
        made = MethodTable(name)
        for hint in hints:
            scope = {"hint": hint, "call_next": call_next, "label": f"{name}:{hint.__name__}"}
            exec("def m(x: hint):\n    return [label, *call_next(x)]", scope)
            made.overlay(f)(scope["m"])
        return made

    @generic
    def f(x): ...

    @f.dispatch
    def base(x: object):
        return ["base"]

    outer, inner = table("outer", object, bool), table("inner", int, object, bool)
    expected = [
        *("inner:bool", "inner:int", "inner:object", "outer:bool", "outer:object"),
        "base",
    ]
    assert both(Context(outer, inner), lambda: f(True)) == expected
    with Context(outer), Context(inner):
        assert f(True) == expected


def test_call_next_belongs_to_nested_functions_and_generators_wherever_they_run():
    @generic
    def f(x): ...

    @f.dispatch
    def base(x: int):
        return "base"

    table = MethodTable("t")

    @table.overlay(f)
    def method(x: int):
        def nested():
            return call_next(x)

        def steps():
            yield call_next(x)
            yield [call_next(y) for y in (x,)]

        return nested, steps(), lambda: (lambda: call_next(x))()

    with Context(table):
        nested, steps, inner = f(1)
    results = []
    thread = threading.Thread(target=lambda: results.append(nested()))
    thread.start()
    thread.join()
    assert results == ["base"]
    assert list(steps) == ["base", ["base"]]
    assert inner() == "base"
    with pytest.raises(OverlayError, match="outside a method"):
        method(1)[0]()


def test_call_next_below_decorators():
    def decorated(function):
        @functools.wraps(function)
        def wrapper(x: float):
            return ["decorated", function(x)]

        return wrapper

    @decorated
    def method(shape: float):
        return (lambda: call_next(shape))()

    @functools.lru_cache
    def cached(shape: str):
        return ["cached", call_next(shape)]

    ctx = overlaid(method, cached)
    with ctx:
        assert area(3.0) == ["decorated", 9.0]
        assert area("a") == ["cached", "area of a"]


def test_one_function_for_two_targets_knows_which_it_serves():
    @generic
    def other(shape): ...

    @other.dispatch
    def base(shape: float):
        return "other"

    table = MethodTable("t")

    @table.overlay(area)
    @table.overlay(other)
    def both_of_them(shape: float):
        return [call_next(shape)]

    with Context(table):
        assert (area(2.0), other(2.0)) == ([4.0], ["other"])


def test_call_next_takes_keywords_and_other_arguments():
    def method(shape: float):
        return call_next(shape=str(shape))

    assert both(overlaid(method), lambda: area(2.0)) == "area of 2.0"


def test_generated_methods():
    made = []
    table = MethodTable("t")

    @table.generated(area)
    def method(shape: float):
        made.append(shape)
        return lambda x: ["generated", call_next(x)]

    with Context(table):
        assert [area(2.0), area(3.0)] == [["generated", 4.0], ["generated", 9.0]]
    assert made == [float]


def test_a_compiled_method_goes_on_to_what_lies_below():
    from numba import njit

    @njit
    def method(shape: float):
        return call_next(shape) + 1.0

    assert both(overlaid(method), lambda: area(3.0)) == 10.0


def test_a_compiled_program_calls_it():
    def method(shape: float):
        return 2 * call_next(shape)

    def program(x):
        return area(x) + area(shape=x)

    assert Context().jit(program)(3.0) == 18.0
    assert overlaid(method).jit(program)(3.0) == overlaid(method)(program, 3.0) == 36.0


def test_a_block_in_code_of_a_context_is_seen_by_it():
    outer, inner = overlaid(lambda shape: "outer"), overlaid(lambda shape: "inner")

    def program():
        before = area(1.0)
        with inner:
            inside = area(1.0)
        return before, inside, area(1.0)

    for _ in range(2):
        assert outer(program) == ("outer", "inner", "outer")
        assert Context()(program) == (1.0, "inner", 1.0)


def test_a_redefined_method_is_seen_at_the_next_call():
    table = MethodTable("t")
    ctx = Context(table)
    seen = []
    with ctx:
        for answer in ("one", "two"):
            table.overlay(area)(eval(f"lambda shape: {answer!r}"))
            seen.append((area(1.0), ctx(lambda: area(1.0))))
        table.remove(area)
        seen.append((area(1.0), ctx(lambda: area(1.0))))
    assert seen == [("one", "one"), ("two", "two"), (1.0, 1.0)]


def test_tasks_and_threads_see_their_own_contexts():
    contexts = [overlaid(eval(f"lambda shape: {i}")) for i in range(4)]

    async def work(i):
        with contexts[i % 4]:
            for _ in range(20):
                assert area(1.0) == i % 4
                await asyncio.sleep(0)
        assert area(1.0) == 1.0
        return i

    async def main():
        return await asyncio.gather(*map(work, range(50)))

    assert asyncio.run(main()) == list(range(50))
    failed = []

    def thread(i):
        try:
            asyncio.run(work(i))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=thread, args=(i,)) for i in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert failed == []


# ---- the law: plum's choice ---------------------------------------------------------------

HINTS = [int, bool, str, float, object, int | str]
VALUES = [1, True, "a", 1.5, None]


@given(
    st.lists(
        st.tuples(st.lists(st.sampled_from(HINTS), max_size=3), st.booleans()),
        min_size=1,
        max_size=5,
    ),
    st.lists(st.lists(st.sampled_from(VALUES), max_size=3), min_size=1, max_size=4),
)
def test_it_chooses_as_plum_does(signatures, calls):
    dispatch = plum.Dispatcher()

    @generic
    def ours(*args): ...

    theirs = None
    for number, (hints, default) in enumerate(signatures):
        shown = [f"a{i}: h{i}" for i in range(len(hints))]
        if default and hints and hints[-1] is object:
            shown[-1] += " = None"
        scope = {f"h{i}": hint for i, hint in enumerate(hints)}
        exec(f"def f({', '.join(shown)}):\n    return {number}", scope)
        theirs = dispatch(scope["f"])
        ours.dispatch(scope["f"])
    for args in calls:
        for _ in range(2):
            assert outcome(ours, args) == outcome(theirs, args)


def outcome(function, args):
    try:
        return function(*args)
    except (plum.NotFoundLookupError, MethodNotFound):
        return "not found"
    except (plum.AmbiguousLookupError, AmbiguousMethod):
        return "ambiguous"
