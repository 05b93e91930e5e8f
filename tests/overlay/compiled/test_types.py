"""One signature means the same in both engines (docs/types.md)."""

import math
from collections import namedtuple
from typing import Any, Literal

import numpy as np
import plum
import pytest
from numba import njit, types
from numpy.typing import NDArray

from overlay import AmbiguousMethod, Context, MethodNotFound, MethodTable, NotCompilable
from overlay.compiled.dispatch_types import hint_of
from overlay.core.signature import array_type

Pair = namedtuple("Pair", "a b")

HINTS = {
    types.float64: float,
    types.int64: int,
    types.literal(3): int,
    types.boolean: bool,
    types.complex128: complex,
    types.float32: np.float32,
    types.uint8: np.uint8,
    types.uint64: np.uint64,
    types.int32: np.int32,
    types.complex64: np.complex64,
    types.unicode_type: str,
    types.Bytes(types.uint8, 1, "C"): bytes,
    types.none: type(None),
    types.Array(types.float64, 2, "C"): array_type(np.float64, 2),
    types.Array(types.boolean, 1, "A"): array_type(np.bool_, 1),
    types.UniTuple(types.int64, 2): tuple[int, int],
    types.Tuple((types.int64, types.float32)): tuple[int, np.float32],
    types.NamedUniTuple(types.int64, 2, Pair): Pair,
    types.Optional(types.float64): float | None,
}


@pytest.mark.parametrize("ty", HINTS, ids=str)
def test_a_numba_type_is_dispatched_on_as_a_python_type(ty):
    assert hint_of(ty) == HINTS[ty]


def test_functions_are_dispatched_on_as_no_class_but_object():
    hint = hint_of(types.Dispatcher(njit(abs_of)))
    assert not issubclass(hint, (int, float, str))


def abs_of(x):
    return abs(x)


# ---- both engines choose the same method ---------------------------------------------------

ANNOTATIONS = [
    float,
    int,
    bool,
    complex,
    str,
    None,
    np.float32,
    np.uint8,
    np.uint64,
    np.ndarray,
    NDArray[np.float64],
    np.ndarray[tuple[int, int], np.dtype[Any]],
    np.ndarray[tuple[int], np.dtype[np.int64]],
    tuple,
    tuple[int, float],
    Pair,
    int | str,
    float | None,
    Any,
    object,
]
VALUES = [
    1.5,
    2,
    True,
    1j,
    "text",
    None,
    np.float64(1.5),
    np.float32(1.5),
    np.uint8(1),
    np.uint64(1),
    np.int64(1),
    np.bool_(True),
    np.ones(2),
    np.ones((2, 2)),
    np.ones((2, 2), np.float32),
    np.ones(2, np.int64),
    (1, 2.0),
    (1, 2),
    Pair(1, 2),
]


def targets_of_each_annotation():
    """One target for each annotation, whose only method takes it; and a call of them all."""
    table, namespace = MethodTable("each"), {}
    for place, annotation in enumerate(ANNOTATIONS):

        def target(x):
            return 0

        @table.overlay(target)
        def method(x: annotation):
            return 1

        namespace[f"target{place}"] = target
    calls = ", ".join(f"{name}(x)" for name in namespace)
    exec(f"def call_all(x): return ({calls})", namespace)
    return Context(table), namespace["call_all"]


def test_both_engines_choose_the_same_method_for_every_annotation_and_value():
    context, call_all = targets_of_each_annotation()
    compiled = context.jit(call_all)
    chosen = {}
    for value in VALUES:
        interpreted = context(call_all, value)
        assert compiled(value) == interpreted, (value, type(value))
        chosen[type(value)] = interpreted
    assert len(set(chosen.values())) > 10


def test_both_engines_choose_the_same_method_for_classes_of_numbers():
    table = MethodTable("classes")

    @table.overlay(np.zeros)
    def zeros(n: int, dtype: type[float]):
        return np.full(n, 7.0)

    @table.overlay(np.ones)
    def ones(n: int, dtype: type):
        return np.full(n, 5.0)

    def made():
        return (
            np.zeros(1, float)[0], np.zeros(1, dtype=np.float64)[0], np.zeros(1, np.int64)[0],
            np.ones(1, float)[0], np.ones(1, dtype=np.uint8)[0],
        )  # fmt: skip

    context = Context(table)
    assert context.jit(made)() == context(made) == (7.0, 7.0, 0, 5.0, 5.0)


@njit
def maybe(x):
    return None if x < 0 else x


def test_the_most_specific_method_wins_and_the_innermost_table_before_it():
    inner, outer = MethodTable("inner"), MethodTable("outer")

    @inner.overlay(math.floor)
    def anything(x) -> int:
        return 1

    @outer.overlay(math.floor)
    def number(x: float) -> int:
        return 2

    @outer.overlay(math.floor)
    def anything_outside(x) -> int:
        return 3

    @outer.overlay(math.floor)
    def whole(x: int) -> int:
        return 4

    def program(x):
        return math.floor(x)

    alone, both = Context(outer).jit(program), Context(outer, inner).jit(program)
    assert (alone(1.5), alone(1), alone(True), alone(1j)) == (2, 4, 4, 3)
    assert both(1.5) == 1


def test_ambiguity_comes_out_as_our_error_and_precedence_settles_it():
    def program(x):
        return pow(x, x)

    def table(precedence):
        table = MethodTable("powers")

        @table.overlay(pow)
        def left(x: float, y):
            return 1.0

        @table.overlay(pow, precedence=precedence)
        def right(x, y: float):
            return 2.0

        return table

    with pytest.raises(AmbiguousMethod, match=r"2 equally specific methods for pow\(float, float"):
        Context(table(0)).jit(program)(1.0)
    assert Context(table(1)).jit(program)(1.0) == 2.0


def numbered(x):
    return 0


literals = MethodTable("literals")


@literals.overlay(numbered)
def three(x: Literal[3]):
    return 1


@literals.overlay(numbered)
def letter(x: Literal["a", "b"]):
    return 2


@literals.overlay(numbered)
def integer(x: int):
    return 3


def test_literal_is_met_by_values_known_when_compiled():
    def program(n):
        return numbered(3), numbered(4), numbered("b"), numbered("c"), numbered(n)

    context = Context(literals)
    assert context.jit(program)(3) == (1, 3, 2, 0, 3)
    assert context(program, 3) == (1, 3, 2, 0, 1)  # interpreted, every value is known


def test_a_numpy_scalar_is_asked_for_where_nothing_accepts_the_python_one():
    table = MethodTable("numpy")

    @table.overlay(numbered)
    def of_float64(x: np.float64):
        return 1

    @table.overlay(numbered)
    def of_int64(x: np.int64):
        return 2

    def program(x):
        return numbered(x)

    compiled = Context(table).jit(program)
    assert (compiled(np.float64(1)), compiled(np.int64(1))) == (1, 2)
    assert Context(table)(program, np.float64(1)) == 1


def test_an_optional_value_enters_a_method_only_where_none_enters_it_too():
    table, whole = MethodTable("optional"), MethodTable("whole")

    @table.overlay(numbered)
    def of_float(x: float):
        return 1

    @whole.overlay(numbered)
    def of_either(x: float | None):
        return 2

    def program(x):
        return numbered(maybe(x))

    assert Context(whole).jit(program)(1.0) == Context(whole)(program, 1.0) == 2
    with pytest.raises(NotCompilable, match="may be None"):
        Context(table).jit(program)(1.0)


# ---- generated methods and generic functions -----------------------------------------------


def test_a_generated_method_is_asked_once_for_each_combination_of_python_types():
    table, asked = MethodTable("generated"), []

    @table.generated(numbered)
    def method(x):
        asked.append(x)
        return (lambda v: v * 2) if x is float else (lambda v: v * 3)

    def program(x):
        return numbered(x), numbered(x)

    compiled = Context(table).jit(program)
    assert (compiled(1.0), compiled(1), compiled(2.0)) == ((2.0, 2.0), (3, 3), (4.0, 4.0))
    assert asked == [float, int]


@pytest.mark.parametrize(
    ("scalar", "python"),
    [(np.float64, float), (np.int64, int), (np.bool_, bool), (np.complex128, complex)],
)
def test_a_generated_method_has_one_type_for_a_scalar_that_is_a_python_type(scalar, python):
    table, asked = MethodTable("asked"), []

    @table.generated(numbered)
    def made(x):
        asked.append(x)
        return lambda v: 1

    context = Context(table)
    assert context(numbered, scalar(1)) == context.jit(numbered)(scalar(1)) == 1
    assert asked == [python, python]


@plum.dispatch
def area(x: float):
    return math.sin(x)


@plum.dispatch
def area(x: int, y: int):
    return x * y


@plum.dispatch
def declared(x: float) -> int:
    return x


generic = MethodTable("generic")


@generic.overlay(math.sin)
def hundred(x: float):
    return 100.0


@generic.overlay(area)
def area_of_text(x: str):
    return 200


def test_generic_functions_are_resolved_to_the_method_of_the_types():
    def program(x, n):
        return area(x), area(n, n), area("text")

    context = Context(generic)
    assert context.jit(program)(1.0, 3) == context(program, 1.0, 3) == (100.0, 9, 200)
    assert context.jit(area)(1.0) == 100.0


def test_a_generic_function_without_a_method_for_the_types_is_named():
    with pytest.raises(MethodNotFound, match=r"area\(complex\) has no method"):
        Context(generic).jit(lambda x: area(x))(1j)


def test_a_result_that_plum_would_convert_is_refused():
    with pytest.raises(NotCompilable, match="plum converts"):
        Context(generic).jit(lambda x: declared(x))(1.5)


# ---- the closed list of differences --------------------------------------------------------


def test_the_differences_between_the_engines_are_those_of_the_list():
    context = Context(MethodTable("none"))

    def overflow(n):
        return n * n

    def exponential(x):
        return math.exp(x)

    def root(x):
        return math.sqrt(x)

    assert context(overflow, 2**40) == 2**80
    assert context.jit(overflow)(2**40) == 0
    with pytest.raises(OverflowError):
        context(exponential, 1000.0)
    assert context.jit(exponential)(1000.0) == math.inf
    with pytest.raises(ValueError, match=r"math domain error|nonnegative"):
        context(root, -1.0)
    assert math.isnan(context.jit(root)(-1.0))

    def of_class_float(x):
        return hasattr(x, "is_integer"), isinstance(x, float)

    assert context(of_class_float, 1.0) == (True, True)
    assert context.jit(of_class_float)(1.0) == (False, True)

    def exactly_float(x):
        return type(x) is float

    assert context(exactly_float, 1.0)
    with pytest.raises(NotCompilable, match="are one class"):
        context.jit(exactly_float)(1.0)

    def to_a_power(n):
        return 2**-n

    assert (context(to_a_power, 2), context.jit(to_a_power)(2)) == (0.25, 0)

    table = MethodTable("differences")

    @table.overlay(numbered)
    def of_int(x: int):
        return 1

    @table.overlay(numbered)
    def of_uint8(x: np.uint8):
        return 2

    @table.overlay(numbered)
    def of_float64(x: np.float64):
        return 3

    def unified(n):
        x, first = n, -1
        for i in range(2):
            if i == 0:
                first = numbered(x)
            x = x + 0.5
        return first

    def promoted(n):
        return numbered(n + 1)

    def counted(n):
        found = 0
        for i in range(n):
            found = numbered(i)
        return found

    differing = Context(table)
    assert (differing(counted, True), differing.jit(counted)(True)) == (1, 0)
    assert (differing(unified, 1), differing.jit(unified)(1)) == (1, 3)
    assert (differing(numbered, 0.5), differing.jit(numbered)(0.5)) == (0, 3)
    assert (differing(promoted, np.uint8(1)), differing.jit(promoted)(np.uint8(1))) == (2, 1)
