"""Tables made with ``check=True`` check the same in both engines."""

import math
import typing

import numpy as np
import pytest

from overlay import CheckFailed, Context, MethodTable, NotCompilable, call_next


def target(x, by=1):
    return x


def use(x):
    return target(x)


def whole(x: float) -> int:
    return int(x)


def not_whole(x: float) -> int:
    return x


def numbers(x: float) -> list[int]:
    return [1, 2]


def other_numbers(x: float) -> list[int]:
    return [1.5, 2.5]


def pair(x: float) -> tuple[float, int]:
    return x, 2


def other_pair(x: float) -> tuple[float, int]:
    return x, 2.0


def either(x: float) -> int | str:
    return "text"


def anything(x: float):
    return x


def goes_on(x: float) -> float:
    return call_next(x) + 1.0


def array(x: float) -> np.ndarray:
    return np.ones(2)


def passing_and_failing():
    passing = (whole, numbers, pair, either, anything, goes_on, array)
    return [(m, True) for m in passing] + [
        (m, False) for m in (not_whole, other_numbers, other_pair)
    ]


def checked(method):
    table = MethodTable("checked", check=True)
    table.overlay(target)(method)
    return Context(table)


@pytest.mark.parametrize(("method", "passes"), passing_and_failing())
def test_results_are_checked_against_the_annotation(method, passes):
    context = checked(method)
    runs = (lambda: context(use, 1.0)), (lambda: context.jit(use)(1.0))
    if passes:
        interpreted, compiled = (run() for run in runs)
        assert np.array_equal(interpreted, compiled)
        return
    for run in runs:
        with pytest.raises(CheckFailed, match="the result of target"):
            run()


def test_arguments_by_keyword_are_checked():
    def by_keyword(x: float, *, by: int = 2):
        return x

    def program(x):
        return target(x, by=2.5)

    def outcome(run):
        try:
            return run()
        except CheckFailed as error:
            return "'by'" in error.asked

    context = checked(by_keyword)
    runs = (lambda: context(program, 1.0)), (lambda: context.jit(program)(1.0))
    assert outcome(runs[0]) == outcome(runs[1])


def test_a_check_that_fails_raises_where_the_call_is_made_and_only_there():
    context = checked(not_whole)

    def program(x):
        if x > 0.0:
            return target(x)
        return 5.0

    hot = context.jit(program)
    assert hot(-1.0) == 5.0
    with pytest.raises(CheckFailed):
        hot(1.0)


def test_what_only_the_running_program_knows_is_refused():
    def three(x: float) -> typing.Literal[3]:
        return int(x)

    def maybe(x: float) -> float:
        return x if x > 0.0 else None

    for method in (three, maybe):
        with pytest.raises(NotCompilable, match="known only at run time"):
            checked(method).jit(use)(1.0)


def test_an_unchecked_table_says_nothing_of_results():
    table = MethodTable("unchecked")
    table.overlay(math.sin)(not_whole)
    assert Context(table).jit(lambda x: math.sin(x))(1.5) == 1.5
