"""Analyses of programs in a context: what a call comes to there, and what a proof is then of."""

from __future__ import annotations

import functools
import math
import operator
from typing import Any, Literal

import numpy as np
import plum
import pytest

from overlay import Context, MethodTable, call_next, current_context, generic, nonoverlay, recurse
from overlay.analysis import Number, array, check_calls, floats, integers, prove
from overlay.analysis.abstract_values import TOP
from overlay.core.errors import MethodNotFound, NotCompilable


def size(x: Any) -> Any:
    return x


def share(x: Any) -> Any:
    return 100 // size(x)


def proved(function: Any, *args: Any, context: Context | None = None) -> list[bool]:
    return [site.proved for site in prove(function, *args, context=context).sites]


def kept(context: Context, function: Any, *args: Any) -> Any:
    """What is found, once a run has shown that the analysis is of what runs."""
    return prove(function, *args, context=context).result


def table_of(target: Any, *methods: Any) -> MethodTable:
    table = MethodTable("table")
    for method in methods:
        table.overlay(target)(method)
    return table


# ---- which method ------------------------------------------------------------------------------


def test_a_call_enters_the_method_of_the_table() -> None:
    def at_least_one(x: int) -> int:
        return max(call_next(x), 1)

    context = Context(table_of(size, at_least_one))
    assert proved(share, integers()) == [False]
    assert proved(share, integers(), context=context) == [True]
    assert context(share, -5) == 100
    with pytest.raises(ZeroDivisionError):
        share(0)


def test_what_a_method_breaks_is_not_proved() -> None:
    def zero(x: int) -> int:
        return 0

    context = Context(table_of(size, zero))
    assert proved(share, integers(1)) == [True]
    assert proved(share, integers(1), context=context) == [False]


def test_operators_and_builtins_are_targets() -> None:
    def saturated(x: int, y: int) -> int:
        return max(call_next(x, y), 0)

    def positive(x: float) -> float:
        return 1.0

    def program(x: Any, y: Any) -> Any:
        return 1 / (x - y + 1)

    def of_sine(x: Any) -> Any:
        return 1 / math.sin(x)

    assert proved(program, integers(), integers()) == [False]
    table = table_of(operator.sub, saturated)
    assert proved(program, integers(), integers(), context=Context(table)) == [True]
    assert proved(of_sine, floats()) == [False]
    assert proved(of_sine, floats(), context=Context(table_of(math.sin, positive))) == [True]


def test_only_the_method_for_the_types_is_entered() -> None:
    def of_float(x: float) -> float:
        return 0.0

    def of_bool(x: bool) -> int:
        return 0

    assert proved(share, integers(1), context=Context(table_of(size, of_float))) == [True]
    # True is among these, so that either may be entered
    context = Context(table_of(size, of_bool))
    assert proved(share, integers(1), context=context) == [False]
    assert proved(share, integers(2), context=context) == [True]
    with pytest.raises(ZeroDivisionError):
        context(share, True)


def test_inner_tables_come_first_and_call_next_goes_outward() -> None:
    def doubled(x: int) -> int:
        return 2 * call_next(x)

    def shifted(x: int) -> int:
        return call_next(x) + 1

    outer, inner = table_of(size, shifted), table_of(size, doubled)
    assert kept(Context(outer, inner), size, integers(0, 5)) == integers(2, 12)
    assert kept(Context(inner, outer), size, integers(0, 5)) == integers(1, 11)
    assert Context(outer, inner)(size, 5) == 12
    assert Context(inner, outer)(size, 5) == 11


def test_by_keyword_and_by_place() -> None:
    def scaled(value: Any, by: Any = 1) -> Any:
        return value * by

    def added(value: int, by: int) -> int:
        return value + by

    context = Context(table_of(scaled, added))
    for program in (
        lambda x: scaled(x, 3),
        lambda x: scaled(x, by=3),
        lambda x: scaled(by=3, value=x),
    ):
        assert kept(context, program, integers(1, 2)) == integers(4, 5)
        assert context(program, 2) == 5
    assert kept(context, lambda x: scaled(x), integers(1, 2)) == integers(1, 2)


def test_arrays_are_told_apart_by_dimensions() -> None:
    Vector = np.ndarray[tuple[int], np.dtype[Any]]  # noqa: N806
    Matrix = np.ndarray[tuple[int, int], np.dtype[Any]]  # noqa: N806

    def of_vector(x: Vector) -> int:
        return 1

    def of_matrix(x: Matrix) -> int:
        return 0

    of_vector.__annotations__["x"], of_matrix.__annotations__["x"] = Vector, Matrix
    context = Context(table_of(size, of_vector, of_matrix))
    assert proved(share, array("n"), context=context) == [True]
    assert proved(share, array("n", "m"), context=context) == [False]


def test_a_method_that_depends_on_the_value_may_be_entered() -> None:
    def of_seven(x: Literal[7]) -> int:
        return 0

    of_seven.__annotations__["x"] = Literal[7]
    context = Context(table_of(size, of_seven))
    assert proved(share, integers(1), context=context) == [False]


def test_an_argument_of_which_nothing_is_known_may_enter_any() -> None:
    def of_text(x: str) -> int:
        return 0

    def program(x: Any) -> Any:
        return 1 // size(unknown(x))

    context = Context(table_of(size, of_text))
    found = prove(program, integers(1), context=context)
    assert not found.proved
    assert found.unknown  # the call of unknown


unknown: Any = operator.attrgetter("real")


# ---- contexts in the program -------------------------------------------------------------------


def zero_of(x: int) -> int:
    return 0


inner_context = Context(table_of(size, zero_of))


def test_nonoverlay_and_contexts_in_the_program() -> None:
    def without(x: Any) -> Any:
        return nonoverlay(share)(x)

    def entering(x: Any) -> Any:
        return inner_context(share, x)

    def recursing(x: Any) -> Any:
        return recurse(inner_context, size, x), recurse(inner_context, share, x)

    assert proved(without, integers(1), context=inner_context) == [True]
    assert inner_context(without, 1) == 100
    assert proved(entering, integers(1)) == [False]
    assert proved(recursing, integers(1)) == [False]
    assert proved(lambda x: share(x) if current_context() else 0, integers(1)) == [True]


# ---- generic and plum functions ----------------------------------------------------------------


@generic
def width(x: Any) -> Any: ...


@width.dispatch
def _width_of_int(x: int) -> Any:
    return 3


@width.dispatch
def _width_of_float(x: float) -> Any:
    return 0


dispatch = plum.Dispatcher()


@dispatch
def height(x: int):
    return 4


@dispatch
def height(x: float):
    return 0


def by_width(x: Any) -> Any:
    return 10 // width(x)


def by_height(x: Any) -> Any:
    return 10 // height(x)


@pytest.mark.parametrize("program", [by_width, by_height])
def test_generic_functions_resolve_to_their_base_methods(program: Any) -> None:
    assert proved(program, integers(2)) == [True]
    assert proved(program, floats()) == [False]
    found = prove(program, Number(0, 5, "number"))
    assert not found.proved


def test_tables_come_before_the_methods_of_a_generic_function() -> None:
    def one(x: float) -> int:
        return 1 + call_next(x)

    context = Context(table_of(width, one))
    assert proved(by_width, floats(), context=context) == [True]
    assert context(by_width, 0.5) == 10
    assert prove(width, floats(), context=context).result == integers(1, 1)


def test_a_call_that_nothing_takes_gives_nothing() -> None:
    def program(x: Any) -> Any:
        return width("text") if x > 3 else 1

    assert prove(program, integers()).result == integers(1, 1)
    with pytest.raises(MethodNotFound):
        prove(width, array("n"))


def test_entry_of_which_the_method_is_not_known() -> None:
    with pytest.raises(NotCompilable, match="width"):
        prove(width, Number(0, 5, "number"))


# ---- what calls go through ---------------------------------------------------------------------


def test_partial_objects_methods_and_caches_are_followed() -> None:
    class Scale:
        def __init__(self, by: Any) -> None:
            self.by = by

        def down(self, x: Any) -> Any:
            return x // self.by

        @staticmethod
        def half(x: Any) -> Any:
            return x // 2

    down, part, cached = Scale(0).down, functools.partial(divide, 10), functools.cache(divide)

    assert proved(lambda x: down(x), integers()) == [False]
    assert proved(lambda x: part(x), integers(1)) == [True]
    assert proved(lambda x: cached(x, 2), integers(1)) == [True]
    assert proved(lambda x: Scale.half(x), integers(1)) == [True]
    found = prove(lambda x: Scale(x).down(5), integers(1))
    assert found.unknown  # whose method it is, is not known
    assert found.result == TOP


def divide(x: Any, y: Any) -> Any:
    return x // y


def test_what_native_code_may_call_is_told() -> None:
    def program(x: Any) -> Any:
        return sorted((1, 2), key=lambda item: item // x)

    found = prove(program, integers())
    assert not found.sites
    assert found.unknown
    assert not found.proved


# ---- check_calls -------------------------------------------------------------------------------


def asked(context: Context, function: Any, *types: Any) -> list[str]:
    return [error.error.asked for error in check_calls(context, function, *types).errors]


@generic
def pair(x: Any, y: Any) -> Any: ...


@pair.dispatch
def _of_first(x: int, y: object) -> Any:
    return 1


@pair.dispatch
def _of_second(x: object, y: int) -> Any:
    return 2


@dispatch
def couple(x: int, y: object):
    return 1


@dispatch
def couple(x: object, y: int):
    return 2


@pytest.mark.parametrize("function", [pair, couple])
def test_ambiguous_base_methods(function: Any) -> None:
    def program(x: Any) -> Any:
        return function(x, x)

    assert asked(Context(), program, int) == [
        f"{function.__name__}(int, int) has equally specific methods"
    ]
    assert asked(Context(), program, str) == [f"{function.__name__}(str, str) has no method"]
    assert asked(Context(), lambda x: function(x, "a"), int) == []
    assert asked(Context(), function, int, int) == [
        f"{function.__name__}(int, int) has equally specific methods"
    ]


def test_ambiguous_methods_of_a_table() -> None:
    def first(x: int, y: object) -> int:
        return 1

    def second(x: object, y: int) -> int:
        return 2

    def both(x: int, y: int) -> int:
        return 3

    table = table_of(pair, first, second)
    (found,) = asked(Context(table), lambda x: pair(x, x), int)
    assert found == "table 'table' has 2 equally specific methods for pair(int, int)"
    table.overlay(pair)(both)
    assert asked(Context(table), lambda x: pair(x, x), int) == []


def test_by_keyword_in_a_check() -> None:
    @generic
    def scaled(value: Any, by: Any) -> Any: ...

    @scaled.dispatch
    def of_int(value: int, by: int) -> Any:
        return value * by

    assert asked(Context(), lambda x: scaled(x, by=2), int) == []
    assert asked(Context(), lambda x: scaled(by=2, value=x), str) == [
        "scaled(str, int) has no method"
    ]


def test_call_next_is_followed() -> None:
    def of_text(x: str) -> Any:
        return call_next(x)

    context = Context(table_of(width, of_text))
    assert asked(context, by_width, str) == ["width(str) has no method"]


def test_below_nonoverlay_no_method_is_taken() -> None:
    def of_text(x: str) -> Any:
        return 1

    context = Context(table_of(width, of_text))
    assert asked(context, by_width, str) == []
    assert asked(context, lambda x: nonoverlay(by_width)(x), str) == ["width(str) has no method"]


def test_a_method_for_some_values_is_no_error() -> None:
    def of_seven(x: Literal[7]) -> int:
        return 0

    of_seven.__annotations__["x"] = Literal[7]
    assert asked(Context(table_of(width, of_seven)), by_width, int) == []


class Shape:
    def __init__(self, side: Any) -> None:
        self.side = side

    def scaled(self, by: Any) -> Any:
        return width(by)


class Square(Shape):
    def area(self, *, unit: Any = 1) -> Any:
        return self.scaled("text") * unit


def test_methods_of_objects_are_followed_where_the_class_is_known() -> None:
    assert asked(Context(), Square.area, Square) == ["width(str) has no method"]
    assert asked(Context(), lambda: Square(1).area()) == ["width(str) has no method"]
    assert asked(Context(), lambda: Square(1).scaled(2)) == []
    (found,) = asked(Context(), lambda: Square())
    assert "Shape.__init__ does not take such arguments" in found
    (found,) = asked(Context(), lambda: Square(1).area(2))
    assert "Square.area does not take such arguments" in found
