"""Calls that no method takes, found without a run."""

from __future__ import annotations

import math
from typing import Any

import pytest

from overlay import Context, MethodTable, generic
from overlay.analysis import check_calls
from overlay.core.errors import MethodNotFound


@generic
def area(shape: Any) -> Any: ...


@area.dispatch
def _of_float(shape: float) -> Any:
    return shape * shape


def asked(context: Context, function: Any, *types: Any) -> list[str]:
    return [error.error.asked for error in check_calls(context, function, *types).errors]


def direct(x: Any) -> Any:
    return area(x)


def below(x: Any, deep: Any) -> Any:
    if deep:
        return direct(x)
    return 0


def test_a_generic_function_without_a_method() -> None:
    assert asked(Context(), below, float, bool) == []
    found = check_calls(Context(), below, str, bool)
    (error,) = found.errors
    assert error.error.asked == "area(str) has no method"
    assert error.function is direct
    assert error.where.endswith(f"test_calls.py:{direct.__code__.co_firstlineno + 1}")
    with pytest.raises(MethodNotFound):
        below("a", True)


def test_a_method_of_the_context_takes_it() -> None:
    table = MethodTable("table")

    @table.overlay(area)
    def of_text(shape: str) -> Any:
        return len(shape) + None

    assert asked(Context(table), below, str, bool) == ["add(int, None) has no method"]


def chosen(flag: Any) -> Any:
    x = 1.0 if flag else "one"
    return area(x)


def narrowed(flag: Any) -> Any:
    x = 1.0 if flag else "one"
    return area(x) if isinstance(x, float) else 0.0


def optional(x: float | None) -> Any:
    if x is None:
        return 0.0
    return x + 1


def test_branches() -> None:
    assert asked(Context(), chosen, bool) == ["area(str) has no method"]
    assert asked(Context(), narrowed, bool) == []
    assert asked(Context(), optional) == []
    assert asked(Context(), lambda x: x + 1, float | None) == ["add(None, int) has no method"]


def test_what_or_gives_is_true_or_the_last() -> None:
    def program(x: Any, flag: Any) -> Any:
        held = x or {}
        return held | {} if flag else 0

    assert asked(Context(), program, dict | None, bool) == []
    assert asked(Context(), lambda x: (x and {}) | {}, dict | None) == [
        "or_(None, dict) has no method"
    ]


def with_pattern(x: Any) -> Any:
    match x:
        case str() | bytes():
            found = x
        case None:
            found = ""
        case [_, *_]:
            found = "" + str(len(x))
        case _:
            found = str(x)
    return found + "\n" if isinstance(found, str) else found + b"\n"


def test_patterns_narrow() -> None:
    for given in (str, bytes, type(None), list, int):
        assert asked(Context(), with_pattern, given) == []


def named(first: Any, *rest: Any, by: Any = 1, to: Any = (0, 1), **more: Any) -> Any:
    return first + by + len(to) + len(rest)


def test_parameters_of_every_kind_are_bound() -> None:
    assert asked(Context(), lambda: named(1, "a", b=2)) == []
    assert asked(Context(), lambda: named(1, by=2, to="ab")) == []
    assert asked(Context(), lambda: named(1, to=None)) == ["len(None) has no method"]
    (found,) = asked(Context(), lambda: named(by=2))
    assert "missing a required argument: 'first'" in found


def bounded(x: Any, most: Any = None) -> Any:
    def inner() -> Any:
        return most is not None and x >= most

    return inner()


def test_a_free_variable_is_narrowed() -> None:
    assert asked(Context(), bounded, int) == []
    assert asked(Context(), bounded, int, str) == ["ge(int, str) has no method"]


def test_calls_between_branches_have_their_arguments() -> None:
    def program(x: Any, flag: Any) -> Any:
        return two(x, 1 if flag else 2) if flag else two(*(x, x))

    assert asked(Context(), program, int, bool) == []


def test_builtins_and_operators() -> None:
    assert asked(Context(), lambda x: math.sin(x), str) == ["sin(str) has no method"]
    assert asked(Context(), lambda x: len(x), int) == ["len(int) has no method"]
    assert asked(Context(), lambda x: x[0], int) == ["getitem(int, int) has no method"]
    assert asked(Context(), lambda x: math.sin(x) + len("a") + x * 2, float) == []
    assert asked(Context(), lambda x: x + 1, object) == []


def two(a: Any, b: Any) -> Any:
    return a


def test_the_wrong_number_of_arguments() -> None:
    (error,) = check_calls(Context(), lambda x: two(x), int).errors
    assert "two does not take such arguments" in str(error)


def down(n: Any) -> Any:
    return area(n) if n == 0 else down(n - 1)


def test_recursion() -> None:
    assert asked(Context(), down, float) == []
    found = set(asked(Context(), down, str))
    assert found == {"sub(str, int) has no method", "area(str) has no method"}


def handles(x: Any) -> Any:
    try:
        return x + 1
    except TypeError:
        return area(x)


def does_not_handle(x: Any) -> Any:
    try:
        return x + 1
    except (KeyError, OSError):
        return 0


def cleans_up(x: Any) -> Any:
    try:
        return direct(x)
    finally:
        print("done")


def calls_guarded(x: Any) -> Any:
    try:
        return direct(x)
    except Exception:
        return None


def test_errors_that_the_program_handles_are_none() -> None:
    assert asked(Context(), handles, str) == ["area(str) has no method"]
    assert asked(Context(), calls_guarded, str) == []
    assert asked(Context(), lambda x: (calls_guarded(x), direct(x)), str) == [
        "area(str) has no method"
    ]
    assert asked(Context(), does_not_handle, str) == ["add(str, int) has no method"]
    assert asked(Context(), cleans_up, str) == ["area(str) has no method"]
