"""What an annotation means, and the order between annotations."""

import math
from typing import Annotated, Any, Literal

import numpy as np
import plum
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from overlay import AmbiguousMethod, Context, MethodTable, OverlayError, call_next


def target(*args):
    return "base"


def table_with(*hints, **named):
    """A table whose methods of one argument give back their own annotation."""
    table = MethodTable("t")
    for name, hint in [*((str(i), h) for i, h in enumerate(hints)), *named.items()]:

        def method(x, name=name):
            return name

        method.__defaults__ = None
        scope = {"hint": hint, "name": name}
        exec("def method(x: hint):\n    return name", scope)
        table.overlay(target)(scope["method"])
    return table


Matrix = np.ndarray[tuple[int, int], np.dtype[np.float64]]


class User:
    pass


class Derived(User):
    pass


ACCEPTS = [
    (float, [1.0, np.float64(1)], [1, True, np.float32(1), 1j, "1"]),
    (int, [1, True, np.int64(1), np.bool_(True)], [1.0, np.int32(1), np.uint64(1), "1"]),
    (bool, [True, np.bool_(True)], [1, np.int64(1), 0.0]),
    (complex, [1j, np.complex128(1j)], [1.0, np.complex64(1j)]),
    (str, ["a"], [b"a", 1]),
    (bytes, [b"a"], ["a"]),
    (None, [None], [0, False]),
    (np.float32, [np.float32(1)], [1.0, np.float64(1)]),
    (np.uint64, [np.uint64(1)], [1, np.int64(1)]),
    (np.int64, [np.int64(1)], [1, True]),
    (np.ndarray, [np.zeros(1), np.zeros((1, 1), int)], [1.0, [1.0]]),
    (Matrix, [np.zeros((1, 1))], [np.zeros(1), np.zeros((1, 1), int), 1.0]),
    (NDArray[np.float64], [np.zeros(1), np.zeros((1, 1))], [np.zeros(1, int)]),
    (tuple[int, float], [(1, 1.0), (True, 1.0)], [(1.0, 1), (1,), [1, 1.0]]),
    (int | str, [1, "a"], [1.0]),
    (Literal["a", 2], ["a", 2], ["b", 3]),
    (Annotated[float, "metres"], [1.0], [1]),
    (User, [User(), Derived()], [1]),
    (Any, [1, "a", None, User()], []),
]


@pytest.mark.parametrize(("hint", "yes", "no"), ACCEPTS, ids=lambda p: str(p)[:30])
def test_values_that_an_annotation_accepts(hint, yes, no):
    ctx = Context(table_with(m=hint))
    assert [ctx(target, value) for value in yes] == ["m"] * len(yes)
    assert [ctx(target, value) for value in no] == ["base"] * len(no)


SPECIFIC = [
    (bool, int, True),
    (np.int64, int, np.int64(1)),
    (np.float64, float, np.float64(1)),
    (Derived, User, Derived()),
    (Literal[1], int, 1),
    (Matrix, NDArray[np.float64], np.zeros((2, 2))),
    (NDArray[np.float64], np.ndarray, np.zeros(2)),
    (float, int | float, 1.0),
    (float, Any, 1.0),
    (tuple[int, float], tuple, (1, 1.0)),
]


@pytest.mark.parametrize(("narrow", "wide", "value"), SPECIFIC, ids=lambda p: str(p)[:30])
def test_the_most_specific_annotation_wins_in_any_order(narrow, wide, value):
    assert Context(table_with(narrow=narrow, wide=wide))(target, value) == "narrow"
    assert Context(table_with(wide=wide, narrow=narrow))(target, value) == "narrow"


def test_arrays_are_told_apart_at_one_call_site():
    ctx = Context(table_with(matrix=Matrix, array=np.ndarray))
    values = [np.zeros((1, 1)), np.zeros(1), np.zeros((1, 1), int), np.zeros((2, 2))]
    assert ctx(lambda: [target(v) for v in values]) == ["matrix", "array", "array", "matrix"]


def test_values_are_told_apart_at_one_call_site():
    ctx = Context(table_with(one=Literal[1], int=int))
    assert ctx(lambda: [target(v) for v in (1, 2, 1)]) == ["one", "int", "one"]


@pytest.mark.parametrize(
    "hint",
    [list[int], dict[str, int], set[int], tuple[int, ...], 5, list[int] | int, "undefined_name"],
)
def test_a_signature_that_cannot_be_honoured_is_refused(hint):
    table = MethodTable("t")

    def method(x):
        return x

    method.__annotations__ = {"x": hint}

    def register_and_use():
        table.overlay(target)(method)
        Context(table)(target, 1)

    with pytest.raises(OverlayError, match="cannot honour the signature of") as caught:
        register_and_use()
    assert "test_signature.py" in str(caught.value)
    assert "help:" in str(caught.value)


def test_numba_types_are_refused():
    import numba

    table = MethodTable("t")

    def method(x: numba.types.float64):
        return x

    with pytest.raises(OverlayError, match="numba types say nothing about values"):
        table.overlay(target)(method)


def test_a_function_without_a_signature_is_refused():
    with pytest.raises(OverlayError, match="cannot read the signature of"):
        MethodTable("t").overlay(target)(dict.pop)


def test_an_annotation_may_be_defined_later():
    scope = {}
    exec("def method(x: 'Later'):\n    return 'later'", scope)
    table = MethodTable("t")
    table.overlay(target)(scope["method"])
    scope["Later"] = User
    assert Context(table)(target, User()) == "later"


def test_return_annotations_play_no_part():
    table = MethodTable("t")

    @table.overlay(target)
    def method(x: int) -> str:
        return x

    assert Context(table)(target, 1) == 1


def test_arity_defaults_and_varargs():
    table = MethodTable("t")

    @table.overlay(target)
    def one_or_two(x: int, y: int = 0):
        return "one or two"

    @table.overlay(target)
    def many(x: int, *rest: int):
        return "many"

    ctx = Context(table)
    assert ctx(lambda: [target(1), target(1, 2), target(1, 2, 3), target(), target(1, "a")]) == [
        "one or two",
        "one or two",
        "many",
        "base",
        "base",
    ]


def two(name, left, right, precedence=0):
    scope = {"left": left, "right": right, "name": name}
    exec("def method(x: left, y: right):\n    return name", scope)
    return scope["method"], precedence


def test_ambiguous_methods_are_named_with_their_places():
    table = MethodTable("pair")

    @table.overlay(target)
    def left(x: int, y: object):
        return "left"

    @table.overlay(target)
    def right(x: object, y: int):
        return "right"

    ctx = Context(table)
    assert ctx(lambda: (target(1, "a"), target("a", 1))) == ("left", "right")
    with pytest.raises(AmbiguousMethod) as caught:
        ctx(target, 1, 1)
    text = str(caught.value)
    assert "table 'pair' has 2 equally specific methods for target(int, int)" in text
    assert text.count("test_signature.py:") >= 2
    assert "target(int, object)" in text
    assert "target(object, int)" in text
    assert "help: add a method for exactly these types" in text


def test_precedence_breaks_a_tie():
    table = MethodTable("t")

    @table.overlay(target, precedence=1)
    def left(x: int, y: object):
        return "left"

    @table.overlay(target)
    def right(x: object, y: int):
        return "right"

    assert Context(table)(target, 1, 1) == "left"


HINTS = [int, bool, str, object, float, int | str, float | int, User, Derived]
VALUES = [1, True, "a", 1.5, User(), Derived(), None]


@given(
    st.lists(st.tuples(st.sampled_from(HINTS), st.sampled_from(HINTS)), min_size=1, max_size=5),
    st.tuples(st.sampled_from(VALUES), st.sampled_from(VALUES)),
)
def test_agrees_with_plum(signatures, values):
    """Where annotations mean the same to plum and to us, so do specificity and ambiguity."""
    dispatch = plum.Dispatcher()
    table = MethodTable("t")
    function = None
    for left, right in signatures:
        method, _ = two(f"{left}, {right}", left, right)
        method.__name__ = method.__qualname__ = "generic"
        function = dispatch(method)
        table.overlay(target)(method)
    try:
        expected = function(*values)
    except plum.NotFoundLookupError:
        expected = "base"
    except plum.AmbiguousLookupError:
        expected = AmbiguousMethod
    try:
        found = Context(table)(target, *values)
    except AmbiguousMethod:
        found = AmbiguousMethod
    assert found == expected


def test_a_context_can_be_asked_which_method_a_call_reaches():
    table = MethodTable("t")

    @table.overlay(math.sin)
    def sin(x: float):
        return x

    ctx = Context(table)
    assert ctx.method(math.sin, float).function is sin
    assert ctx.method(math.sin, int) is None
    assert ctx.method(math.cos, float) is None


NAMED = {
    np.array: {"object": [1, 2], "dtype": float},
    np.asarray: {"a": [1, 2], "dtype": float},
    np.zeros: {"shape": 2, "dtype": float},
    np.empty: {"shape": 2, "dtype": float},
    np.dot: {"a": np.ones(2), "b": np.ones(2)},
    np.copyto: {"dst": np.ones(2), "src": np.zeros(2)},
    np.unravel_index: {"indices": 3, "shape": (2, 2)},
}


@pytest.mark.parametrize("function", NAMED, ids=lambda function: function.__name__)
def test_functions_of_numpy_in_c_take_arguments_by_name(function):
    # before numpy 2.4 inspect finds no signature of them
    table, seen = MethodTable("named"), []

    @table.overlay(function)
    def method(first, second):
        seen.append((first, second))
        return call_next(first, second)

    named = NAMED[function]
    found, wanted = Context(table)(function, **named), function(**named)
    assert seen == [tuple(named.values())]
    assert np.shape(found) == np.shape(wanted)
