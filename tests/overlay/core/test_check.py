"""``MethodTable(check=True)``: arguments and results against their annotations."""

import asyncio
from collections.abc import Iterator

import numpy as np
import pytest

from overlay import CheckFailed, Context, MethodTable, OverlayError, call_next, generic


@generic
def scale(x, factors=None, **named):
    return "base"


def plain(x, factors=None):
    return "base"


def table_of(*methods, target=plain, generated=False):
    table = MethodTable("checked", check=True)
    for method in methods:
        (table.generated if generated else table.overlay)(target)(method)
    return table


def wrong_result(x: int) -> str:
    return x + 1


def test_a_result_that_is_not_what_the_annotation_says():
    with pytest.raises(CheckFailed) as caught:
        Context(table_of(wrong_result))(plain, 1)
    text = str(caught.value)
    assert "table 'checked': the result of plain(int)" in text
    assert text.count("test_check.py:") >= 2
    assert "annotation: str" in text
    assert isinstance(caught.value, OverlayError)


def test_a_table_does_not_check_unless_asked():
    table = MethodTable("t")
    table.overlay(plain)(wrong_result)
    assert Context(table)(plain, 1) == 2


def test_arguments_by_name_alone_choose_the_method_and_their_elements_are_checked():
    def method(x: int, *, names: list[str] = (), **rest: list[int]) -> int:
        return x

    def target(x, *, names=(), **rest):
        return "base"

    ctx = Context(table_of(method, target=target))
    assert ctx(lambda: target(1, names=["a"], more=[2])) == 1
    assert ctx(lambda: target(1, names=("a",))) == "base"
    assert ctx(lambda: target(1, more="b")) == "base"
    with pytest.raises(CheckFailed, match="argument 'names' of"):
        ctx(lambda: target(1, names=["a", 2]))
    with pytest.raises(CheckFailed, match=r"argument rest\['more'\] of"):
        ctx(lambda: target(1, more=["b"]))


@pytest.mark.parametrize(("hint", "wrong"), [(list[int], ["a"]), (tuple[int, ...], ("a",))])
def test_the_container_chooses_the_method_and_its_elements_are_checked(hint, wrong):
    def method(x: int, factors: hint) -> int:
        return x

    ctx = Context(table_of(method))
    assert ctx(plain, 1, type(wrong)([1, 2])) == 1
    assert ctx(plain, 1, {1: 2}) == "base"
    with pytest.raises(CheckFailed, match="argument 'factors' of"):
        ctx(plain, 1, wrong)
    with pytest.raises(OverlayError, match="cannot be checked at every call"):
        MethodTable("unchecked").overlay(plain)(method)


def test_annotations_mean_what_they_mean_in_dispatch():
    def method(x: int, factors: np.ndarray[tuple[int], np.dtype[np.float64]]) -> int:
        return x

    ctx = Context(table_of(method))
    assert ctx(plain, np.int64(1), np.zeros(1)) == 1
    assert ctx(plain, True, np.zeros(1)) is True


def test_both_ways_to_run_and_call_next():
    def method(x: int) -> list[int]:
        return (lambda: [call_next(x)])()

    ctx = Context(table_of(method, target=scale))
    for run in (lambda: ctx(scale, 1), lambda: ctx(lambda: scale(1))):
        with pytest.raises(CheckFailed, match="the result"):
            run()
    with ctx, pytest.raises(CheckFailed, match="the result"):
        scale(1)

    def fitting(x: int) -> list[str]:
        return (lambda: [call_next(x)])()

    ctx = Context(table_of(fitting, target=scale))
    assert ctx(scale, 1) == ctx(lambda: scale(1)) == ["base"]
    with ctx:
        assert scale(1) == ["base"]


def test_implementations_that_a_generated_method_makes_are_checked():
    def method(x: int):
        def implementation(x: int) -> str:
            return x

        return implementation

    with pytest.raises(CheckFailed, match="the result"):
        Context(table_of(method, generated=True))(plain, 1)


def test_functions_without_source_are_checked():
    scope = {}
    exec("def method(x: int) -> str:\n    return x", scope)
    with pytest.raises(CheckFailed, match="the result"):
        Context(table_of(scope["method"]))(plain, 1)


def test_what_has_no_signature_to_check_is_refused():
    def method(x: int):
        return dict.pop

    with pytest.raises(OverlayError, match="no annotations to check"):
        Context(table_of(method, generated=True))(plain, 1)


def test_iterators_and_coroutines():
    def numbers(x: int) -> Iterator[int]:
        yield x

    assert list(Context(table_of(numbers))(plain, 1)) == [1]

    async def soon(x: int) -> str:
        return x

    with pytest.raises(CheckFailed, match="the result"):
        asyncio.run(Context(table_of(soon))(plain, 1))


def test_the_body_runs_in_the_context_and_the_checks_do_not():
    table = MethodTable("t", check=True)
    lengths = []

    @table.overlay(len)
    def length(x: object) -> int:
        lengths.append(x)
        return call_next(x)

    @table.overlay(plain)
    def method(x: list) -> list:
        return [len(x)]

    assert Context(table)(plain, [1, 2]) == [2]
    assert lengths == [[1, 2]]
