"""Which method a call resolves to, told by values and by types."""

import dataclasses
import operator
import re
from typing import Literal

import numpy as np
import pytest

from overlay import AmbiguousMethod, MethodTable, OverlayError
from overlay.core.dispatch import MethodChain, by_types, by_values, types_for
from overlay.core.table import Method


def target(x=None, y=None, *, z=None):
    return "base"


def table_of(*methods, name="t", of=target, precedence=0, **kind):
    table = MethodTable(name, **kind)
    for method in methods:
        table.overlay(of, precedence=precedence)(method)
    return table


def none():
    return "none"


def one(x: int):
    return "one"


def two(x: int, y: str):
    return "two"


def named(x: float, *, z: int | str = 1, **others: float):
    return "named"


# positional arguments, keywords, and the method that takes them
CALLS = [
    ((), {}, none),
    ((1,), {}, one),
    (("a",), {}, None),
    ((1, "a"), {}, two),
    ((1,), {"y": "a"}, two),
    ((1,), {"y": 2}, None),
    ((1.0,), {"z": 2}, named),
    ((1.0,), {"z": 2.0}, None),
    ((1.0,), {"w": 2.0}, named),
    ((1.0,), {"w": 2}, None),
    ((1,), {"z": 2}, None),
    ((), {"x": 1}, one),
]


@pytest.mark.parametrize(("args", "kwargs", "expected"), CALLS)
def test_a_call_is_told_by_its_values_and_by_their_types(args, kwargs, expected):
    tables = [table_of(none, one, two, named)]
    types = [type(value) for value in (*args, *kwargs.values())]
    for call in (by_values(args, kwargs), by_types(types, tuple(kwargs))):
        method = MethodChain.of(target, tables).resolve(call)
        assert (method and method.function) is expected


def test_a_class_takes_its_instances_whatever_its_bases_say_of_elements():
    class Numbers(list[int]):
        pass

    def numbers(x: Numbers):
        return "numbers"

    def numbers_and_one(x: Numbers, y: Literal[1]):
        return "numbers and one"

    chain = MethodChain.of(target, [table_of(numbers, numbers_and_one)])
    for elements in ([1], ["a"]):
        for others, expected in (((), numbers), ((1,), numbers_and_one)):
            call = by_values([Numbers(elements), *others], {})
            assert chain.resolve(call).function is expected
    assert chain.resolve(by_values([Numbers([1]), 2], {})) is None
    assert chain.resolve(by_values([[1]], {})) is None


def test_a_call_that_several_methods_take_is_shown_with_its_types():
    def other(x: int, y: object):
        return "other"

    def another(x: object, y: str):
        return "another"

    chain = MethodChain.of(target, [table_of(other, another)])
    for call, shown in [
        (by_values([1, "a"], {}), "(int, str)"),
        (by_values([1], {"y": "a"}), "(int, y: str)"),
        (by_types([int, str]), "(int, str)"),
    ]:
        with pytest.raises(AmbiguousMethod, match=re.escape(shown)):
            chain.resolve(call)


# ---- values that represent others -----------------------------------------------------------


class Dual:
    """A value of an interpretation, whose ``__class__`` is that of the value it represents."""

    __overlay_underlying__ = "value"
    __class__ = property(lambda self: type(self.value))

    def __init__(self, value):
        self.value = value


def real(x: float):
    return "real"


def anything(x: object):
    return "anything"


def dual(x: Dual):
    return "dual"


def dual_and_int(x: Dual, y: int):
    return "dual and int"


def reals(*x: float):
    return "reals"


def duals(*x: Dual):
    return "duals"


PLAIN, FAITHFUL, RULES = {}, {"faithful": True}, {"interprets": True}

# tables, innermost first, each by its kind and methods; the arguments; the method that takes them
INTERPRETED = [
    ([(PLAIN, dual)], (Dual(1.0),), dual),
    ([(PLAIN, dual)], (1.0,), None),
    ([(PLAIN, real)], (Dual(1.0),), real),
    ([(PLAIN, real)], (Dual("a"),), None),
    ([(PLAIN, real, dual)], (Dual(1.0),), dual),
    ([(PLAIN, anything)], (Dual("a"),), anything),
    ([(PLAIN, anything, real)], (Dual(1.0),), real),
    ([(PLAIN, dual_and_int)], (Dual(1.0), 2), dual_and_int),
    ([(PLAIN, dual_and_int)], (Dual(1.0), "a"), None),
    ([(PLAIN, dual_and_int)], (Dual(1.0),), None),
    ([(PLAIN, dual_and_int)], (1.0, 2), None),
    ([(PLAIN, dual)], (Dual(1.0), 2), None),
    ([(PLAIN, duals)], (Dual(1.0), Dual(2.0), Dual(3.0)), duals),
    ([(PLAIN, duals)], (Dual(1.0), 2.0), None),
    ([(PLAIN, duals)], (2.0,), None),
    ([(PLAIN, reals)], (1.0, 2.0), reals),
    ([(PLAIN, reals)], (1.0, "a"), None),
    ([(PLAIN, reals)], (Dual(1.0), 2.0), reals),
    ([(PLAIN, reals)], (Dual(1.0), "a"), None),
    ([(PLAIN, dual), (PLAIN, real)], (1.0,), real),
    ([(PLAIN, real), (PLAIN, dual)], (Dual(1.0),), real),
    # what interprets comes after the plain tables, wherever it is
    ([(RULES, dual)], (Dual(1.0),), dual),
    ([(RULES, real)], (Dual(1.0),), None),
    ([(RULES, dual), (PLAIN, real)], (Dual(1.0),), real),
    ([(RULES, dual), (PLAIN, real)], (Dual("a"),), dual),
    ([(RULES, dual), (RULES, anything)], (Dual(1.0),), dual),
    ([(RULES, dual), (RULES, anything)], (1.0,), anything),
    # unless their method is a faithful one: it has to be further inside, and to take the values
    ([(RULES, dual), (FAITHFUL, real)], (Dual(1.0),), dual),
    ([(FAITHFUL, real), (RULES, dual)], (Dual(1.0),), dual),
    ([(FAITHFUL, anything), (RULES, dual)], (Dual(1.0),), anything),
    ([(RULES, dual), (FAITHFUL, anything)], (Dual(1.0),), dual),
    ([(FAITHFUL, real), (RULES, dual)], (1.0,), real),
    ([(FAITHFUL, real), (PLAIN, anything), (RULES, dual)], (Dual(1.0),), dual),
    ([(PLAIN, anything), (FAITHFUL, real), (RULES, dual)], (Dual(1.0),), anything),
]


@pytest.mark.parametrize(("tables", "args", "expected"), INTERPRETED)
def test_values_that_represent_others_choose_as_they_are_or_by_what_they_represent(
    tables, args, expected
):
    chain = MethodChain.of(target, [table_of(*methods, **kind) for kind, *methods in tables])
    plain = [getattr(value, "value", value) for value in args]
    types = by_types(
        [type(value) for value in args],
        underlying=None if plain == list(args) else by_types([type(value) for value in plain]),
    )
    for call in (by_values(args, {}), types, by_values((), dict(zip("xy", args, strict=False)))):
        if call.count < len(args) and expected in (reals, duals):
            continue  # has no keywords
        if len(args) <= 2:
            for _ in range(2):
                method = chain.resolve(call)
                assert (method and method.function) is expected


def test_types_that_represent_different_ones_are_kept_apart():
    chain = MethodChain.of(target, [table_of(one, real)])
    for kind, expected in [(int, one), (float, real), (int, one)]:
        call = by_types([Dual], underlying=by_types([kind]))
        assert chain.resolve(call).function is expected
    assert chain.resolve(by_types([Dual])) is None


def test_a_generated_method_is_made_from_the_types_that_choose_it():
    plain, rules = MethodTable("t"), MethodTable("t", interprets=True)
    for table in (plain, rules):
        for hint in (float, Dual):
            made = eval("lambda x: None")
            made.__annotations__ = {"x": hint}
            table.generated(target)(made)
    of_float, of_dual = plain.methods(target)
    assert types_for(of_float, (1.0,)) == types_for(of_float, (np.float64(1.0),)) == (float,)
    assert types_for(of_float, (Dual(1.0),)) == types_for(of_float, (Dual(Dual(1.0)),)) == (float,)
    assert types_for(of_dual, (Dual(1.0),)) == (Dual,)
    assert {types_for(method, (Dual(1.0),)) for method in rules.methods(target)} == {(Dual,)}
    (plain_method,) = table_of(real).methods(target)
    assert types_for(plain_method, (np.float64(1.0),)) == (np.float64,)
    assert types_for(plain_method, (Dual(1.0),)) == (Dual,)


# ---- operators in place ---------------------------------------------------------------------


class Growing(list):
    pass


def add(x: object, y: object):
    return "add"


def iadd(x: list, y: object):
    return "iadd"


INPLACE = [
    # methods of the operator in place; then of the plain one, unless the class has the other
    ((add,), (), 1, add),
    ((add,), (), [], None),
    ((add,), (), Growing(), None),
    ((add,), (iadd,), Growing(), iadd),
    ((add,), (iadd,), 1, add),
    ((), (iadd,), 1, None),
]


@pytest.mark.parametrize(("plain", "inplace", "value", "expected"), INPLACE)
def test_an_operator_in_place_is_the_plain_one_for_a_class_without_its_own(
    plain, inplace, value, expected
):
    table = table_of(*plain, of=operator.add)
    for method in inplace:
        table.overlay(operator.iadd)(method)
    chain = MethodChain.of(operator.iadd, [table])
    for call in (by_values((value, 1), {}), by_types([type(value), int])):
        method = chain.resolve(call)
        assert (method and method.function) is expected
    table.overlay(operator.add)(second := (lambda x, y: "second"))
    assert second in [method.function for method in chain.methods()]
    if expected is add:
        assert chain.resolve(by_values((value, 1), {})).function is not None


# ---- what is kept ---------------------------------------------------------------------------


class Odd(type):
    """A metaclass whose classes cannot be keys."""

    __hash__ = type.__hash__

    def __eq__(cls, other):
        return cls is other


class Strange(metaclass=Odd):
    pass


def of_literal(x: Literal[3]):
    return 3


def of_elements(x: tuple[int, str]):
    return 4


def of_vector(x: np.ndarray[tuple[int], np.dtype[np.float64]]):
    return 5


def unresolved(x: "NotDefined"):  # noqa: F821
    return 6


# a method, a value, whether the method for it is kept, and whether that for its type is
KEPT = [
    (one, 1, True, True),
    (one, "a", True, True),
    (of_vector, np.zeros(2), True, True),
    (of_literal, 1, False, True),
    (of_elements, (1, "a"), False, True),
    (one, Dual(1), False, True),
    (one, (Dual(1), 2), False, True),
    (one, Strange(), False, False),
]


@pytest.mark.parametrize(
    ("method", "value", "by_value", "by_type"),
    KEPT,
    ids=[f"{method.__name__}-{type(value).__name__}" for method, value, *_ in KEPT],
)
def test_a_method_is_looked_for_once_where_nothing_but_the_types_decides(
    method, value, by_value, by_type
):
    table = table_of(method)
    for kept, call in ((by_value, by_values([value], {})), (by_type, by_types([type(value)]))):
        chain, compared = MethodChain.of(target, [table]), []
        counted = counting(call, compared)
        first, times = chain.resolve(counted), len(compared)
        assert times
        assert chain.resolve(counted) is first
        assert len(compared) == (times if kept else 2 * times)
        table.overlay(target)(method)
        chain.resolve(counted)
        assert len(compared) > (times if kept else 2 * times)


def counting(call, compared):
    """A call that notes each signature that it is compared with."""

    def matches(signature):
        compared.append(signature)
        return call.matches(signature)

    return dataclasses.replace(call, matches=matches)


@pytest.mark.parametrize(
    ("kind", "plain", "kept"),
    [(Dual, int, True), (Dual, Strange, False), (Strange, int, False), (list[int], int, False)],
)
def test_a_method_for_types_that_represent_others_is_kept_where_all_can_be_keys(kind, plain, kept):
    chain, compared = MethodChain.of(target, [table_of(one)]), []
    call = counting(by_types([kind], underlying=by_types([plain])), compared)
    first, times = chain.resolve(call), len(compared)
    assert (first is not None) == (plain is int)
    assert chain.resolve(call) is first
    assert len(compared) == (times if kept else 2 * times)


def test_a_method_is_found_before_another_whose_annotation_is_not_defined():
    chain = MethodChain.of(target, [table_of(one), table_of(unresolved)])
    for call in (by_values([1], {}), by_types([int])):
        assert [chain.resolve(call).function for _ in range(2)] == [one, one]
    with pytest.raises(OverlayError, match="NotDefined"):
        chain.resolve(by_values(["a"], {}))


def test_what_decides_is_asked_of_the_methods_once_until_they_change(monkeypatch):
    asked, depends_on = [], Method.depends_on.fget

    def asking(method):
        asked.append(method.function)
        return depends_on(method)

    monkeypatch.setattr(Method, "depends_on", property(asking))
    table = table_of(real)
    chain = MethodChain.of(target, [table])
    assert [chain.depends_on for _ in range(3)] == ["type"] * 3
    assert asked == [real]
    assert [chain.resolve(by_values([x], {})) for x in (3, 4)] == [None, None]
    table.overlay(target)(of_literal)
    assert [chain.depends_on for _ in range(3)] == ["literal"] * 3
    assert asked == [real, real, of_literal]
    found = [chain.resolve(by_values([x], {})) for x in (3, 4, 3)]
    assert [method and method.function for method in found] == [of_literal, None, of_literal]
    assert len(asked) == 3


def test_a_change_is_told_to_those_that_listen_for_the_target_alone():
    class Keeper:
        told = 0

        def forget(self):
            self.told += 1

    table, other = table_of(one), table_of(one, of=len)
    chain, keeper = MethodChain.of(target, [table, other]), Keeper()
    chain.listen(keeper)
    versions = [chain.version]
    for changed, of in ((table, len), (other, len), (table, target), (other, target)):
        changed.overlay(of)(real)
        versions.append(chain.version)
    assert versions[:3] == [versions[0]] * 3
    assert len(set(versions[2:])) == 3
    assert keeper.told == 2


def test_what_was_found_while_methods_changed_is_looked_for_again():
    table = table_of(one)
    chain, call = MethodChain.of(target, [table]), by_values([1], {})

    def matches(signature):
        if len(table) == 1:
            table.overlay(target, precedence=1)(lambda x: "later")
        return call.matches(signature)

    method = chain.resolve(dataclasses.replace(call, matches=matches))
    assert method is chain.resolve(call)
