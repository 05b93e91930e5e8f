"""``ctx.compilations`` tells what was compiled, for which types, what had changed, and whose change
that was."""

import math
import types

import numpy as np
import pytest

from overlay import Context, MethodTable, OverlayError, generic
from overlay.compiled.compilation_reports import MOST_RECORDED

table = MethodTable("recorded")

SOURCE = """
factor = 2.0
array = np.zeros(2)
class Holder:
    value = 1.0
def defaults(x=1.0): return x
def replaced(): return 1.0
def closed():
    cell = 1.0
    def inner(): return cell
    def change(value):
        nonlocal cell
        cell = value
    return inner, change
inner, change = closed()
def helper(x):
    return math.sin(x) + factor + array[0] + Holder.value + module.constant + chosen(1.0)
def middle(x): return helper(x) + defaults() + replaced() + inner()
def program(x): return middle(x)
"""


@pytest.fixture
def names():
    @generic
    def chosen(x: float) -> float:
        return x

    module = types.ModuleType("beside")
    module.constant = 1.0
    table = MethodTable("recorded")
    exec("def method(x: float): return x", namespace := {"__name__": "methods"})
    table.overlay(math.sin)(namespace["method"])
    names = {"math": math, "np": np, "__name__": "cell", "module": module, "chosen": chosen}
    exec(SOURCE, names)
    return {**names, "own": names, "table": table}


def line(name):
    return next(n for n, text in enumerate(SOURCE.splitlines(), 1) if f"def {name}(" in text)


WAY = ["program", "middle", "helper"]
CHANGES = [
    ("own['factor'] = 3.0", "global", "factor in cell", "2.0", "3.0", WAY),
    ("array[0] = 5.0", "elements", "array that helper reads", "[0.0, 0.0]", "[5.0, 0.0]", WAY),
    ("Holder.value = 7.0", "attribute", "value in a class of cell", "1.0", "7.0", WAY),
    ("module.constant = 2.0", "attribute", "constant in beside", "1.0", "2.0", WAY),
    ("change(2.0)", "closure", "cell of closed", "1.0", "2.0", [*WAY[:2], "closed.<locals>.inner"]),
    (
        "defaults.__defaults__ = (4.0,)",
        "defaults",
        "the defaults of defaults",
        "(1.0)",
        "(4.0)",
        [*WAY[:2], "defaults"],
    ),
    (
        "replaced.__code__ = (lambda: 2.0).__code__",
        "code",
        "the code of replaced",
        f"<string>:{line('replaced')}",
        "<string>:1",
        [*WAY[:2], "replaced"],
    ),
    (
        "own['middle'] = lambda x: x",
        "global",
        "middle in cell",
        f"middle at <string>:{line('middle')}",
        "<lambda> at <string>:1",
        WAY[:1],
    ),
    ("del own['factor']; own['factor'] = 1.0", "global", "factor in cell", "2.0", "1.0", WAY),
    (
        "table.overlay(math.sin)(lambda x: x + 1.0)",
        "methods",
        "the methods of math.sin",
        "nothing",
        "math.sin(Any)",
        WAY,
    ),
    ("chosen.dispatch(other)", "methods", "the methods of chosen", "1 method", "2 methods", WAY),
]


def other(x: int) -> float:
    return 2.0


@pytest.mark.parametrize(("change", "kind", "text", "before", "after", "path"), CHANGES)
def test_each_change_is_told_with_its_values_and_the_calls_that_lead_to_it(
    names, change, kind, text, before, after, path
):
    context = Context(names["table"])
    hot = context.jit(names["program"])
    hot(1.0)
    assert [each.causes for each in context.compilations(hot)] == [()]
    exec(change, names | {"other": other})
    hot(1.0)
    first, second = context.compilations(names["program"])
    assert (first.call, second.call) == ("program(float64)",) * 2
    (cause,) = second.causes
    assert cause.change.kind == kind
    assert text in cause.change.text
    assert (cause.change.before, cause.change.after[: len(after)]) == (before, after)
    assert [each.name for each in cause.path] == path
    assert cause.path[0].where == f"<string>:{line('program')}"
    assert second.why == cause.change.text
    assert all(part in str(context.compilations()) for part in (before, after, " -> ".join(path)))


def test_a_change_that_the_function_does_not_depend_on_is_no_reason(names):
    context = Context(names["table"])
    hot, other = context.jit(names["program"]), context.jit(names["replaced"])
    hot(1.0), other()
    names["own"]["factor"] = 3.0
    hot(1.0), other()
    assert len(context.compilations(hot)) == 2
    found = context.compilations(other)  # as the code that Python calls, and as code below
    assert [each.why for each in found] == ["first call with these types"] * 2


def test_all_changes_since_the_last_compilation_are_told(names):
    context = Context(names["table"])
    hot = context.jit(names["program"])
    hot(1.0), hot(1)
    names["own"]["factor"], names["module"].constant = 3.0, 4.0
    names["own"]["factor"] = 5.0
    hot(1)
    last = context.compilations(hot)[-1]
    assert last.call == "program(int64)"
    values = {(each.change.before, each.change.after) for each in last.causes}
    assert values == {("2.0", "5.0"), ("1.0", "4.0")}


def test_each_function_that_had_read_what_changed_is_told(names):
    exec(
        """
def first(): return factor
def second(): return factor + first()
def both(): return first() + second()
""",
        names["own"],
    )
    context = Context()
    hot = context.jit(names["own"]["both"])
    hot()
    names["own"]["factor"] = 3.0
    hot()
    (cause,) = context.compilations(hot)[-1].causes
    found = [" ".join(each.name for each in path) for path in cause.paths]
    assert found == ["both first", "both second"]  # a path to each reader, the shortest
    shown = context.compilations(hot)
    for text in (str(shown), shown._repr_html_().replace("→", "->")):
        assert "both -> first" in text
        assert "both -> second" in text


def test_a_function_below_names_the_calls_from_the_entry(names):
    context = Context(names["table"])
    hot = context.jit(names["program"])
    hot(1.0)
    names["own"]["factor"] = 3.0
    hot(1.0)
    (cause,) = context.compilations(names["helper"])[-1].causes
    assert [each.name for each in cause.path] == WAY


def test_a_function_that_is_bound_anew_has_the_history_of_its_name(names):
    context = Context(names["table"])
    hot, former = context.jit(names["program"]), names["replaced"]
    hot(1.0)
    exec("\n" * former.__code__.co_firstlineno + "def replaced(): return 3.0", names["own"])
    hot(1.0)
    found = context.compilations(names["own"]["replaced"])
    assert [bool(each.causes) for each in found] == [False, True]
    assert found[-1].why == "replaced in cell was rebound"


def test_a_request_and_a_failure_are_told(names):
    context = Context(names["table"])
    hot = context.jit(names["program"])
    hot(1.0)
    hot.recompile()
    assert context.compilations(hot)[-1].why == "recompile() was called"
    names["own"]["factor"] = "text"
    with pytest.raises(Exception, match="add"):
        hot(1.0)
    last = context.compilations(hot)[-1]
    assert last.failure
    assert last.failure in str(last)


def test_code_from_disk_and_what_changes_behind_it_is_told(names, tmp_path):
    for way in ("compiled", "loaded from disk"):
        again = dict(names["own"], factor=2.0)
        exec(SOURCE, again)
        again["chosen"] = math.cos
        context = Context(sine())
        hot = context.jit(again["program"], cache=str(tmp_path))
        hot(1.0)
        (found,) = context.compilations(hot)
        assert found.way == way
        again["factor"] = 3.0
        hot(1.0)
        (cause,) = context.compilations(hot)[-1].causes
        assert (cause.change.before, cause.change.after) == ("2.0", "3.0")
        assert (cause.path[0].name, cause.reader.name) == ("program", "helper")


def sine():
    table = MethodTable("sine")
    exec("def method(x: float): return x", namespace := {"__name__": "methods"})
    table.overlay(math.sin)(namespace["method"])
    return table


def test_a_history_has_a_limit_and_lets_functions_go(names):
    context = Context(sine())
    hot = context.jit(names["replaced"])
    hot()
    for _ in range(MOST_RECORDED + 2):
        context.compiled.history.add(names["replaced"], 0, context.compilations(hot)[-1], None)
    assert len(context.compilations(hot)) == MOST_RECORDED


def test_what_has_no_code_in_python_is_refused():
    with pytest.raises(OverlayError, match="has no code in Python"):
        Context().compilations(math.sin)
