"""Tables and contexts as values."""

import math
import operator
import re
import threading
from typing import Any

import pytest
import typeguard

from overlay import Context, MethodNotFound, MethodTable, OverlayError


def sin(x: float):
    return x


def test_overlay_returns_the_function_unchanged():
    assert MethodTable("t").overlay(math.sin)(sin) is sin


def test_looking_at_a_table():
    table = MethodTable("approx")
    table.overlay(math.sin)(sin)
    table.overlay("not_imported_yet:f")(sin)
    assert len(table) == 2
    assert math.sin in table
    assert math.cos not in table
    assert "not_imported_yet:f" in table
    assert [m.function for m in table.methods()] == [sin, sin]
    (method,) = table.methods(math.sin)
    assert str(method).startswith("math.sin(float)   ")
    assert "test_table.py:" in str(method)
    assert repr(table) == "<MethodTable 'approx': 2 methods for 2 targets>"


def annotated(hint):
    def method(x):
        return hint

    method.__annotations__["x"] = hint
    return method


def test_a_method_is_not_compared_with_every_other_of_its_target():
    compared = []

    class Kind(type):
        __hash__ = type.__hash__

        def __eq__(cls, other):
            compared.append(cls)
            return cls is other

    table, kinds = MethodTable("many"), [Kind(f"Kind{i}", (), {}) for i in range(200)]
    for kind in kinds:
        table.overlay(math.sin)(annotated(kind))
    assert len(compared) < 10 * len(kinds)
    last = annotated(kinds[50])
    table.overlay(math.sin)(last)
    assert [m.function for m in table.methods(math.sin)].index(last) == 50
    assert len(table) == len(kinds)


def test_a_method_replaces_one_of_an_annotation_without_a_hash():
    class Kind(type):
        def __eq__(cls, other):
            return cls is other

    table, hints = MethodTable("t"), [float, Kind("Unhashable", (), {}), str]
    for hint in (*hints, *hints):
        table.overlay(math.sin)(annotated(hint))
    assert len(table) == len(hints)


def test_the_same_signature_replaces():
    table = MethodTable("t")
    table.overlay(math.sin)(sin)
    table.overlay(math.sin)(lambda x: None)
    table.overlay(math.sin, precedence=3)(sin)
    assert [m.precedence for m in table.methods()] == [3, 0]


@pytest.mark.parametrize("hints", [(float, Any), (float,)])
def test_a_method_is_removed_by_its_annotations_of_which_any_may_stand_for_none(hints):
    table = MethodTable("t")
    table.overlay(math.hypot)(lambda: None)
    table.overlay(math.hypot)(one if len(hints) == 1 else two)
    table.remove(math.hypot, *hints)
    assert [method.function.__name__ for method in table.methods()] == ["<lambda>"]


def one(x: float):
    return x


def two(x: float, y):
    return x


def test_removing_what_is_not_there_names_what_is():
    table = MethodTable("t")
    table.overlay(math.sin)(sin)
    with pytest.raises(MethodNotFound, match=r"no method math\.sin\(int\) to remove") as caught:
        table.remove(math.sin, int)
    assert "closest: math.sin(float)" in str(caught.value)
    with pytest.raises(MethodNotFound, match=r"no method math\.cos to remove"):
        table.remove(math.cos)


@pytest.mark.parametrize("target", [3, None, [math.sin]])
def test_an_overlay_on_something_not_callable_is_refused(target):
    with pytest.raises(OverlayError, match="it is not callable") as caught:
        MethodTable("t").overlay(target)
    assert "test_table.py:" in str(caught.value)
    assert "help: target a function" in str(caught.value)


def test_a_method_bound_to_one_object_is_refused():
    with pytest.raises(OverlayError, match="bound to one object"):
        MethodTable("t").overlay(Context().wrap)


def test_a_method_that_is_not_callable_is_refused():
    with (
        pytest.raises(OverlayError, match=r"the method of math\.sin is not callable: 3"),
        typeguard.suppress_type_checks(),
    ):
        MethodTable("t").overlay(math.sin)(3)


def test_generated_methods_make_the_implementation_from_types():
    table, made = MethodTable("t"), []

    @table.generated(operator.add)
    def add(a: float, b: float):
        made.append((a, b))
        return lambda x, y: x * y

    ctx = Context(table)
    assert ctx(lambda: [operator.add(float(i), 5.0) for i in range(3)]) == [0.0, 5.0, 10.0]
    assert made == [(float, float)]


def test_a_generated_method_that_makes_nothing_to_call_is_told_so():
    table = MethodTable("t")

    @table.generated(operator.add)
    def add(a: float, b: float):
        return 3

    with pytest.raises(OverlayError, match="returned 3, which is not callable"):
        Context(table)(operator.add, 1.0, 2.0)


def test_later_tables_shadow_earlier_ones():
    def method(answer):
        table = MethodTable(answer)
        table.overlay(math.sin)(eval(f"lambda x: {answer!r}"))
        return table

    one, two = method("one"), method("two")
    assert Context(one, two)(math.sin, 1.0) == "two"
    assert (Context(two) | Context(one))(math.sin, 1.0) == "one"
    assert (Context(one, two) | Context(one))(math.sin, 1.0) == "one"


def test_the_innermost_table_with_a_match_wins_over_a_more_specific_one_further_out():
    outer, inner = MethodTable("outer"), MethodTable("inner")

    @outer.overlay(math.sin)
    def narrow(x: float):
        return "narrow"

    @inner.overlay(math.sin)
    def wide(x: object):
        return "wide"

    assert Context(outer, inner)(math.sin, 1.0) == "wide"


def test_contexts_are_immutable_values():
    table = MethodTable("t")
    ctx = Context(table, metadata=("m", 1), state=[])
    with pytest.raises(AttributeError):
        ctx.metadata = 2
    other = ctx.replace(metadata="other")
    assert (other.tables, other.metadata, other.state) == ((table,), "other", ctx.state)
    assert (ctx | Context()).metadata == ("m", 1)
    assert (ctx | other).metadata == "other"
    assert repr(ctx) == "<Context t, metadata=('m', 1)>"


def test_bad_contexts_are_refused():
    with pytest.raises(OverlayError, match="must be hashable"):
        Context(metadata=[1])
    with typeguard.suppress_type_checks():
        for given, remedy in [
            (Context(), "outer | inner"),
            ([MethodTable("t")], "Context(*tables)"),
            ("m", "MethodTable(name)"),
        ]:
            with pytest.raises(OverlayError, match="holds method tables") as refused:
                Context(given)
            assert remedy in str(refused.value)
        for given in (MethodTable("t"), 3, None):
            with pytest.raises(OverlayError, match=re.escape("tables=(table,)")):
                Context().replace(tables=given)


def test_wrap_keeps_what_describes_a_function():
    def documented(x: float) -> float:
        """Its words."""
        return x

    import inspect

    wrapped = Context().wrap(documented)
    assert wrapped.__name__ == "documented"
    assert wrapped.__doc__ == "Its words."
    assert inspect.signature(wrapped) == inspect.signature(documented)


def test_methods_that_are_added_later_are_there_when_they_are_looked_for():
    table, filled = MethodTable("large"), []

    def add(target, value):
        filled.append(value)
        table.overlay(target)(lambda x: value)

    context = Context(table)
    assert context(math.sin, 0.5) == math.sin(0.5)
    table.add_later(math.sin, lambda: add(math.sin, 1.0))
    table.add_later(math.cos, lambda: add(math.cos, 2.0))
    assert math.sin in table.targets()
    assert filled == []
    assert context(lambda x: math.sin(x), 0.5) == 1.0
    assert filled == [1.0]
    assert len(table) == 2
    assert filled == [1.0, 2.0]


def test_the_order_of_methods_is_that_of_registration_whichever_is_looked_up_first():
    def listed(*looked_up):
        table = MethodTable("large")
        for target in (math.sin, math.cos, math.tan):
            table.add_later(target, lambda target=target: table.overlay(target)(lambda x: 0.0))
        table.overlay(math.exp)(lambda x: 0.0)
        for target in looked_up:
            table.methods(target)
        return [method.target for method in table.methods()]

    assert listed() == listed(math.cos) == listed(math.tan, math.sin)
    assert listed() == [math.sin, math.cos, math.tan, math.exp]


def test_a_table_may_refuse_what_a_call_resolved_to():
    class Alone(MethodTable):
        def chosen(self, method, after, tables):
            asked.append((method.target, after, tables))
            if len(tables) > 1:
                raise ValueError("not beside others")

    asked, alone, other = [], Alone("alone"), MethodTable("other")
    alone.overlay(math.sin)(lambda x: 1.0)
    assert Context(alone)(lambda x: math.sin(x), 0.5) == 1.0
    assert Context(alone).jit(lambda x: math.sin(x))(0.5) == 1.0
    assert asked == [(math.sin, (), (alone,))] * 2
    with pytest.raises(ValueError, match="not beside"):
        Context(other, alone)(lambda x: math.sin(x), 0.5)


def test_a_thread_that_looks_for_what_is_put_off_waits_until_all_of_it_is_there():
    table, found = MethodTable("t"), []
    looks = threading.Thread(target=lambda: found.append(len(table.find(math.sin))))

    def add():
        looks.start()
        looks.join(0.2)  # it does not end, unless it finds what is not all there
        table.overlay(math.sin)(lambda x: x)

    table.add_later(math.sin, add)
    assert len(table.methods(math.sin)) == 1
    looks.join()
    assert found == [1]
