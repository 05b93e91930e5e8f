"""Errors for what cannot be meant, and none for what can."""

import functools
import importlib
import math
import operator

import pytest
import typeguard

from overlay import Context, MethodTable, OverlayError, call_next, generic, nonoverlay


class Shape:
    def __init__(self, size):
        self.size = size

    @property
    def area(self):
        return self.size**2

    def grow(self, by, *, twice=False):
        return by

    @classmethod
    def unit(cls):
        return cls(1)


def pair(x, y):
    return "base"


REFUSED = [
    (pair, "lambda x: 0"),
    (pair, "lambda x, y, z: 0"),
    (pair, "lambda x, *, z: 0"),
    (pair, "lambda x, y, *, z: 0"),
    (Shape, "lambda: 0"),
    (Shape.grow, "lambda self: 0"),
    (Shape.unit, "lambda: 0"),
    (list.append, "lambda self: 0"),
    (eval("lambda x, *, must: 0"), "lambda x: 0"),
]
ACCEPTED = [
    (pair, "lambda x, y: 0"),
    (pair, "lambda *args: 0"),
    (pair, "lambda x, y=1, z=2: 0"),
    (pair, "lambda x, *, y: 0"),
    (pair, "lambda x, y, **named: 0"),
    (Shape, "lambda size: 0"),
    (Shape.grow, "lambda self, by, twice=False: 0"),
    (Shape.grow, "lambda self, by: 0"),
    (Shape.unit, "lambda cls: 0"),
    (eval("lambda *args: 0"), "lambda a, b, c: 0"),
    (eval("lambda x, **named: 0"), "lambda x, y: 0"),
    (eval("lambda x, **named: 0"), "lambda x, *, y: 0"),
    (eval("lambda x, *, must: 0"), "lambda x, *, must: 0"),
    (eval("lambda x, *, must: 0"), "lambda x, must: 0"),
    (eval("lambda x, y=1: 0"), "lambda x: 0"),
    (min, "lambda a, b, c, d: 0"),
    (range, "lambda a: 0"),
    (functools.wraps(pair)(eval("lambda *args: 0")), "lambda x: 0"),
    (operator.add, "lambda a, b: 0"),
    (print, "lambda *args, sep=' ': 0"),
]


@pytest.mark.parametrize(("target", "method"), REFUSED)
def test_a_method_that_no_call_of_the_target_can_reach_is_refused(target, method):
    table = MethodTable("t")
    with pytest.raises(OverlayError, match=r"no call of .* can reach the method") as caught:
        table.overlay(target)(eval(method))
    text = str(caught.value)
    assert text.count("test_errors.py") >= 1
    assert "target:" in text
    assert "method:" in text
    assert len(table) == 0


@pytest.mark.parametrize(("target", "method"), ACCEPTED)
def test_a_method_that_some_call_can_reach_is_not(target, method):
    table = MethodTable("t")
    table.overlay(target)(eval(method))
    assert len(table) == 1


def test_both_signatures_are_named():
    with pytest.raises(OverlayError) as caught:
        MethodTable("t").overlay(pair)(lambda x: 0)
    assert "no call of pair(x, y)" in str(caught.value)
    assert "which takes (x)" in str(caught.value)


def test_a_parameter_by_name_alone_meets_the_targets_positional_one():
    table = MethodTable("t")

    @table.overlay(pair)
    def method(x: int, *, y: str):
        return ["method", x, y, call_next(x, y)]

    ctx = Context(table)
    expected = ["method", 1, "a", "base"]
    assert ctx(lambda: [pair(1, "a"), pair(1, y="a"), pair(x=1, y="a"), pair(1, 2)]) == [
        *([expected] * 3),
        "base",
    ]


# ---- targets ------------------------------------------------------------------------------


@pytest.mark.parametrize("target", [None, 3, [len]])
def test_what_cannot_be_called_is_no_target(target):
    with pytest.raises(OverlayError, match="it is not callable"):
        MethodTable("t").overlay(target)


class Long:
    def __repr__(self):
        return "secret" * 1000


class Filled(dict):
    def __repr__(self):
        return "secret" * 1000


@pytest.mark.parametrize(
    "ask",
    [
        lambda given: MethodTable("t").overlay(given),
        lambda given: Context(given),
        lambda given: Context()(given),
        lambda given: Context().wrap(given),
        lambda given: generic(given),
        lambda given: Context(metadata=[given]),
        lambda given: nonoverlay(given),
    ],
)
def test_objects_of_any_size_are_named_in_short(ask):
    with pytest.raises(OverlayError) as caught:
        ask(Long())
    assert len(str(caught.value)) < 1500
    with pytest.raises(OverlayError) as caught:
        ask(Filled(a=1))
    assert len(str(caught.value)) < 1500


def test_the_contents_of_a_container_are_not_shown():
    for ask in (MethodTable("t").overlay, Context, Context(), nonoverlay, generic):
        with pytest.raises(OverlayError, match="a Filled") as caught:
            ask(Filled(password="a"))
        assert "secret" not in str(caught.value)


def test_what_a_long_request_leaves_out_is_an_attribute_of_the_error():
    error = OverlayError("a" * 5000 + " is wrong")
    assert "characters are left out] ... aaa" in str(error)
    assert str(error).endswith("is wrong")
    assert len(error.asked) == 5009


@pytest.mark.parametrize("given", [2.0, "text", None])
def test_the_result_of_a_call_in_place_of_a_function_is_refused_with_the_remedy(given):
    with pytest.raises(OverlayError, match="it is not callable") as caught:
        Context()(given)
    assert "ctx(f, x), not ctx(f(x))" in str(caught.value)


def test_a_property_is_told_how_to_overlay_its_function():
    with pytest.raises(OverlayError, match=r"the property Shape\.area") as caught:
        MethodTable("t").overlay(Shape.area)
    assert "Shape.area.fget" in str(caught.value)
    table = MethodTable("t")
    table.overlay(Shape.area.fget)(lambda self: "overlaid")
    assert Context(table)(lambda: Shape.area.fget(Shape(1))) == "overlaid"


def test_a_method_bound_to_one_object_is_refused():
    with pytest.raises(OverlayError, match="bound to one object") as caught:
        MethodTable("t").overlay(Shape(1).grow)
    assert f"the class's function instead, Shape.grow, or its name, '{__name__}:Shape.grow'" in str(
        caught.value
    )


@pytest.mark.parametrize(
    ("name", "near"),
    [
        ("math:sinn", "math:sin"),
        ("collections:OrderedDict.move_to_ent", "collections:OrderedDict.move_to_end"),
        ("decimal:Decimals.sqrt", "decimal:Decimal"),
    ],
)
def test_a_name_spelled_wrong_is_told_the_nearest(name, near):
    importlib.import_module(name.partition(":")[0])
    with pytest.raises(OverlayError, match="to overlay") as caught:
        MethodTable("t").overlay(name)
    assert near in str(caught.value)
    assert repr(name) in str(caught.value)


@pytest.mark.parametrize(
    ("name", "example"),
    [
        *[(name, "scipy.special:erf") for name in ("math:", ":sin", "math:1", "sin", "a b.c")],
        *[("math.sin", "math:sin"), ("numpy.linalg.norm", "numpy.linalg:norm")],
    ],
)
def test_a_name_of_another_form_is_refused_with_what_it_may_have_meant(name, example):
    with pytest.raises(OverlayError, match="does not name a target") as caught:
        MethodTable("t").overlay(name)
    assert f"such as {example!r}" in str(caught.value)


def test_the_method_itself_must_be_callable():
    with typeguard.suppress_type_checks(), pytest.raises(OverlayError, match="not callable: None"):
        MethodTable("t").overlay(math.sin)(None)


# ---- tables that were emptied -------------------------------------------------------------


def test_a_context_whose_table_was_cleared_runs_the_base():
    table = MethodTable("t")
    table.overlay(pair)(lambda x, y: "overlaid")
    table.overlay("not_imported_yet:f")(lambda: 0)
    ctx = Context(table)

    def program():
        return pair(1, 2)

    assert ctx(program) == "overlaid"
    table.clear()
    assert (len(table), ctx(program), pair in table) == (0, "base", False)
    table.overlay(pair)(lambda x, y: "again")
    assert ctx(program) == "again"


def test_call_next_of_a_method_that_is_removed_while_it_runs_goes_on_below_its_table():
    outer, inner = MethodTable("outer"), MethodTable("inner")

    @outer.overlay(pair)
    def below(x, y):
        return ["outer", call_next(x, y)]

    @inner.overlay(pair)
    def wide(x, y):
        return "never reached"

    @inner.overlay(pair)
    def narrow(x: int, y: int):
        inner.clear()
        return ["narrow", call_next(x, y)]

    assert Context(outer, inner)(pair, 1, 2) == ["narrow", ["outer", "base"]]
    assert Context(outer, inner)(pair, 1, 2) == ["outer", "base"]
