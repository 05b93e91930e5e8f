"""Functions that the running program chooses, from variables and containers: which method a call of
one enters, in both engines."""

import math
import re
from typing import Literal

import pytest

from overlay import Context, MethodTable, NotCompilable, Plugin, call_next, current_context, recurse
from overlay.ir import UNKNOWN
from tests.overlay.chosen_programs import (
    HELD,
    LETTERED,
    LISTED,
    LISTED_NATIVE,
    NAMED,
    NESTED,
    NUMBERED,
    PYTHON,
    WAYS,
    applied,
    beside_numbers,
    by_default,
    chosen,
    down,
    halved,
    in_a_dataclass,
    in_a_dict,
    in_a_dict_by_text,
    in_a_dict_made_there,
    in_a_dict_or_not,
    in_a_list,
    in_a_list_made_there,
    in_a_mixed_tuple,
    in_a_named_tuple,
    in_a_tuple,
    in_a_tuple_made_there,
    in_a_tuple_of_numbas,
    in_nested_containers,
    tripled,
    up,
)


def plain_and_overlaid():
    """Tables that overlay none, one, the other and both of two callables that are chosen among."""
    sine, step = MethodTable("sine"), MethodTable("step")
    sine.overlay(math.sin)(tripled)
    step.overlay(up)(tripled)
    return {"both": (sine, step), "none": (), "numba's": (sine,), "Python's": (step,)}


# which of them are overlaid: some ways are enough to see that a table is asked
OVERLAID = [
    pytest.param(name, marks=[] if name in ("both", "none") else pytest.mark.long)
    for name in plain_and_overlaid()
]


@pytest.fixture(params=["interpreted", "compiled"])
def run(request):
    """Runs a function in a context, in one engine and in the other."""
    if request.param == "compiled":
        return lambda context, function: context.jit(function)
    return lambda context, function: context.wrap(function)


@pytest.mark.filterwarnings("ignore:.*First-class.*")
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
@pytest.mark.parametrize("overlaid", OVERLAID)
def test_a_call_of_a_chosen_function_enters_its_method(way, overlaid):
    tables = plain_and_overlaid()[overlaid]
    context = Context(*tables)
    hot = context.jit(way)
    for k in (0, 1):
        assert hot(k, 0.7) == pytest.approx(context(way, k, 0.7), rel=1e-15)
        if overlaid == "none":
            assert hot(k, 0.7) == pytest.approx(way(k, 0.7), rel=1e-15)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore:.*First-class.*")
@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_method_that_is_added_is_seen(way):
    table = MethodTable("grows")
    context = Context(table)
    hot = context.jit(way)
    hot(1, 0.7)
    for target in (math.sin, up):
        table.overlay(target)(tripled)
        for k in (0, 1):
            assert hot(k, 0.7) == pytest.approx(context(way, k, 0.7), rel=1e-15)


# ---- changes of containers --------------------------------------------------------------------


def append_to_list():
    LISTED.append(halved)


def change_list():
    LISTED[0] = halved


def change_inner_list():
    NESTED["steps"][1] = halved


def change_inner_dict():
    NESTED["trigonometry"]["sine"] = halved


def change_dict():
    NUMBERED[1] = halved


def add_to_dict():
    NUMBERED[2] = halved


def change_dataclass():
    HELD.first = halved


def change_number_in_dataclass():
    HELD.scale = 5.0


def change_default():
    by_default.__defaults__[2][1] = halved


CHANGES = {
    append_to_list: (in_a_list, LISTED),
    change_list: (in_a_list, LISTED),
    change_inner_list: (in_nested_containers, NESTED["steps"]),
    change_inner_dict: (in_nested_containers, NESTED["trigonometry"]),
    change_dict: (in_a_dict, NUMBERED),
    add_to_dict: (in_a_dict_or_not, NUMBERED),
    change_dataclass: (in_a_dataclass, HELD),
    change_number_in_dataclass: (in_a_dataclass, HELD),
    change_default: (by_default, by_default.__defaults__[2]),
}


def restored(container, before):
    if isinstance(container, list):
        container[:] = before
    else:
        contents = container if isinstance(container, dict) else vars(container)
        contents.clear()
        contents.update(before)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("overlaid", ["both", pytest.param("none", marks=pytest.mark.long)])
def test_a_change_of_a_container_is_seen(change, overlaid):
    way, container = CHANGES[change]
    is_instance = not isinstance(container, (list, dict))
    before = vars(container).copy() if is_instance else container.copy()
    context = Context(*plain_and_overlaid()[overlaid])
    hot = context.jit(way)
    old = [hot(k, 0.7) for k in (0, 1)]
    try:
        change()
        new = [hot(k, 0.7) for k in (0, 1)]
        assert new == pytest.approx([context(way, k, 0.7) for k in (0, 1)], rel=1e-15)
        assert new != old
    finally:
        restored(container, before)
    assert [hot(k, 0.7) for k in (0, 1)] == old


def test_code_on_disk_is_that_of_what_the_containers_held(tmp_path):
    for way, container, key in ((in_a_dict, NUMBERED, 1), (in_a_list, LISTED, 0)):
        before = container[key]
        assert Context().jit(way, cache=tmp_path)(key, 0.7) == way(key, 0.7)
        try:
            container[key] = tripled
            assert Context().jit(way, cache=tmp_path)(key, 0.7) == way(key, 0.7)
        finally:
            container[key] = before
    HELD.scale = 7.0
    try:
        assert Context().jit(in_a_dataclass, cache=tmp_path)(0, 0.7) == in_a_dataclass(0, 0.7)
        HELD.scale = 2.0
        assert Context().jit(in_a_dataclass, cache=tmp_path)(0, 0.7) == in_a_dataclass(0, 0.7)
    finally:
        HELD.scale = 2.0


# ---- errors -----------------------------------------------------------------------------------

OUTSIDE = {
    in_a_tuple: 2,
    in_a_tuple_of_numbas: 5,
    in_a_mixed_tuple: -3,
    in_a_tuple_made_there: 3,
    in_a_list: 2,
    in_a_list_made_there: 4,
    in_a_dict: 2,
    in_a_dict_made_there: 7,
    in_a_named_tuple: 2,
    in_a_dict_by_text: 2,
    beside_numbers: -3,
}


@pytest.mark.parametrize("way", OUTSIDE, ids=lambda way: way.__name__)
def test_an_index_outside_raises_what_python_raises(way, run):
    k = OUTSIDE[way]
    if way is in_a_dict_by_text:

        def way(k, x):
            return LETTERED["abc"[k]](x)

    with pytest.raises(LookupError) as found:
        way(k, 0.7)
    for tables in ((), plain_and_overlaid()["both"]):
        with pytest.raises(type(found.value)):
            run(Context(*tables), way)(k, 0.7)


def append(k, x):
    LISTED.append(up)
    return x


def replace_item(k, x):
    NUMBERED[k] = up
    return x


def handed_to_a_function(k, x):
    return item(LISTED, k)(x)


def item(functions, k):
    return functions[k]


def given_to_numba(k, x):
    f = up if k else down
    return sum(list(map(f, [x])))


OTHER = Context(MethodTable("other"))


def given_to_another_context(k, x):
    return recurse(OTHER, PYTHON[k], x)


def given_to_a_function_of_another_context(k, x):
    return in_other(PYTHON[k], x)


def given_within_a_tuple(k, x):
    return in_other_at((up, down), k, x)


def given_to_a_context_made_there(k, x):
    return recurse(current_context().replace(metadata=k), applied, PYTHON[k], x)


def at(functions, k, x):
    return functions[k](x)


in_other, in_other_at = OTHER.wrap(applied), OTHER.wrap(at)


def handed_to_a_function_in_a_loop(k, x):
    for functions in (LISTED, LISTED_NATIVE):
        x = item(functions, k)(x)
    return x


def sliced_where_it_runs(k, x):
    return LISTED[k:][0](x)


def asked_for_an_attribute(k, x):
    return LISTED.index(up) + x


def held_in_lists_made_there(k, x):
    rows = [[up, down], [math.sin, math.cos]]
    return rows[k][0](x)


def caught_by_class(k, x):
    try:
        return NUMBERED[k + 7](x)
    except KeyError:
        return 0.0


def a_closure_in_a_tuple(k, x):
    def more(y):
        return y + x

    return (more, up)[k](x)


def by_class(k, x):
    return 1.0 if type(x) == float else up(x)  # noqa: E721


def marked(x):
    return x


class HasMarker(Plugin):
    markers = (marked,)


def a_marker_that_is_chosen(k, x):
    return (marked, up)[k](x)


WORKS = (
    handed_to_a_function,
    handed_to_a_function_in_a_loop,
    given_to_another_context,
    given_to_a_function_of_another_context,
)


@pytest.mark.parametrize("way", WORKS, ids=lambda way: way.__name__)
def test_a_chosen_function_and_its_container_may_be_handed_on(way, run):
    for tables in plain_and_overlaid().values():
        context = Context(*tables)
        found = [run(context, way)(k, 0.7) for k in (0, 1)]
        assert found == pytest.approx([context(way, k, 0.7) for k in (0, 1)], rel=1e-15)


def test_functions_and_their_containers_are_returned_as_the_program_holds_them():
    held = {"list": LISTED, "dict": NUMBERED, "function": up, "builtin": math.sin}
    for tables in plain_and_overlaid().values():
        context = Context(*tables)
        for value in held.values():
            assert context.jit(lambda value=value: value)() is value
        assert context.jit(lambda: PYTHON)() == PYTHON
        assert context.jit(lambda: NAMED)() == NAMED


REFUSED = {
    given_within_a_tuple: "in which context up is called",
    given_to_a_context_made_there: "in which context one of down, up is called",
    append: "list with functions that the program holds",
    replace_item: "dict with functions that the program holds",
    sliced_where_it_runs: "list with functions that the program holds is sliced",
    asked_for_an_attribute: "list with functions that the program holds is asked for its index",
    held_in_lists_made_there: "lists of functions that compiled code makes",
    caught_by_class: "an except clause names a class of exceptions",
    a_closure_in_a_tuple: "a closure that captures a variable",
    by_class: "are one class",
    a_marker_that_is_chosen: "a call of the marker marked is left over",
    given_to_numba: "one of numba's own functions is given one of down, up",
}


@pytest.mark.parametrize("way", REFUSED, ids=lambda way: way.__name__)
def test_what_compiled_code_cannot_follow_is_refused_by_name_with_a_remedy(way):
    plugins = (HasMarker(),) if way is a_marker_that_is_chosen else ()
    for tables in plain_and_overlaid().values():
        with pytest.raises(NotCompilable, match=re.escape(REFUSED[way])) as found:
            Context(*tables, plugins=plugins).jit(way)(1, 0.7)
        assert found.value.help
        assert "test_chosen_functions.py:" in str(found.value)


def read_there(x):
    return current_context().metadata * x


INNER_TABLE = MethodTable("inner")
INNER_TABLE.overlay(math.sin)(tripled)
INNER_TABLE.overlay(up)(halved)
in_inner = Context(INNER_TABLE, metadata=5.0).wrap(applied)
GIVEN = {
    "numba's": lambda k, x: in_inner(math.sin, x),
    "Python's": lambda k, x: in_inner(up, x),
    "of its context": lambda k, x: in_inner(read_there, x),
    "by name": lambda k, x: in_inner(f=up, x=x),
    "from a tuple": lambda k, x: in_inner(PYTHON[0], x),
}


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("overlaid", ["both", "none"])
def test_a_function_given_to_one_of_another_context_is_called_in_that(given, overlaid, run):
    context = Context(*plain_and_overlaid()[overlaid], metadata=3.0)
    found = run(context, GIVEN[given])(0, 0.7)
    wanted = {"numba's": 3.0 * 0.7, "of its context": 5.0 * 0.7}.get(given, 0.5 * 0.7)
    assert found == pytest.approx(wanted, rel=1e-15)


# ---- what is known of the callee --------------------------------------------------------------


def power(x, n):
    return x**n


def summed(x, n=2):
    return x + n


def by_literal(k, x):
    return (power, summed)[k](x, 2) + (power, summed)[k](x, 3) + (summed, power)[k - 1](x, n=2)


def test_a_literal_argument_chooses_the_method_of_a_chosen_function(run):
    table = MethodTable("literals")

    @table.overlay(power)
    def squared(x: float, n: Literal[2]) -> float:
        return 100.0

    context = Context(table)
    for k in (0, 1):
        assert run(context, by_literal)(k, 0.7) == context(by_literal, k, 0.7)
    assert run(context, by_literal)(0, 0.7) == 100.0 + 0.7**3 + 100.0


def test_a_method_may_call_the_next_one_where_it_is_chosen(run):
    table = MethodTable("next")

    @table.overlay(math.sin)
    def more(x: float) -> float:
        f = call_next if x > 0.0 else math.cos
        return 1.0 + f(x)

    assert run(Context(table), in_a_mixed_tuple)(1, 0.7) == 1.0 + math.sin(0.7)
    assert run(Context(table), in_a_mixed_tuple)(1, -0.7) == 1.0 + math.cos(-0.7)


def test_a_chosen_function_that_is_returned_is_the_programs():
    hot = Context().jit(chosen)
    assert hot(0) is up
    assert hot(1) is math.sin
    both = Context().jit(lambda k: [up, math.sin][k:])
    assert both(0) == [up, math.sin]


def test_plugins_see_the_call_of_each_candidate():
    class Sees(Plugin):
        def __init__(self):
            self.targets = []

        def after_inference(self, ir):
            self.targets += [call.target for call in ir.calls()]

    sees = Sees()
    Context(plugins=(sees,)).jit(in_a_mixed_tuple)(0, 0.7)
    assert {up, math.sin} <= {each for each in sees.targets if each is not UNKNOWN}
