"""The IR that plugins see: what is found in it, and edits, before types are known and after."""

import contextlib
import math
import operator
import subprocess
import sys

import pytest

from overlay import Context, NotCompilable, OverlayError, Plugin
from overlay.compiled.numba.numba_typing import WRITTEN_BY_NUMBA
from overlay.ir import IR, UNKNOWN, Variable, read

SCALE = 3.0


def helper(x, n):
    return x * n


def program(x, n):
    """Calls of several kinds."""
    if n > 1:
        x = helper(x, n=2)
    return math.sin(x) + SCALE * math.pow(x, -2.0)


def targets(ir):
    return [call.target for call in ir.calls()]


def test_calls_are_found_in_order_operators_included():
    ir = read(program)
    expected = [operator.gt, helper, math.sin, math.pow, operator.mul, operator.add]
    assert targets(ir) == expected
    (call,) = ir.calls(helper)
    assert [variable.name for variable in call.args] == ["x"]
    assert list(call.kwargs) == ["n"]
    assert ir.constant(call.kwargs["n"]) == 2
    assert call.types is None
    assert call.caller is program
    assert ir.calls(math.cos) == ()
    assert len(ir.calls(math.sin, helper)) == 2


def test_a_place_is_file_and_line():
    ir = read(program)
    first = program.__code__.co_firstlineno
    assert ir.where.endswith(f"test_ir.py:{first}")
    (call,) = ir.calls(math.sin)
    assert call.where.endswith(f"test_ir.py:{first + 4}")


def test_the_function_and_its_arguments_have_names():
    ir = read(program)
    assert ir.name == "program"
    assert ir.arguments == (Variable("x"), Variable("n"))
    assert not ir.is_typed
    assert "helper" in str(ir)


def test_constants_are_known_where_the_source_says_them():
    outside = 7

    def closure(x):
        y = (1, SCALE, outside)
        return helper(x, y), math.pow(math.pi, 2.5)

    ir = read(closure)
    (one,), (two,) = ir.calls(helper), ir.calls(math.pow)
    assert one.constants == (UNKNOWN, (1, SCALE, 7))
    assert two.constants == (math.pi, 2.5)
    assert ir.constant(ir.arguments[0]) is UNKNOWN


def test_types_are_those_of_signatures():
    ir = read(program, float, int)
    assert ir.is_typed
    assert [ir.type_of(a) for a in ir.arguments] == [float, int]
    (call,) = ir.calls(math.sin)
    assert (call.types, call.result_type) == ((float,), float)
    assert str(ir.numba_type_of(call.result)) == "float64"
    (power,) = ir.calls(math.pow)
    assert power.types == (float, float)


def test_a_branch_is_no_call_of_the_program():
    def branches(x):
        return 1 if x else 2

    assert targets(read(branches)) == []
    assert targets(read(branches, int)) == []

    def says_bool(x):
        return bool(x)

    assert targets(read(says_bool, int)) == [bool]


def test_a_call_is_replaced():
    ir = read(program)
    (call,) = ir.calls(math.sin)
    new = ir.replace(call, math.cos, call.args[0])
    assert (new.target, new.result) == (math.cos, call.result)
    assert ir.calls(math.sin) == ()
    assert len(ir.calls(math.cos)) == 1
    with pytest.raises(OverlayError, match="no longer in it"):
        ir.replace(call, math.cos, call.args[0])


def test_a_typed_call_is_replaced_and_its_result_converted():
    ir = read(program, float, int)
    (call,) = ir.calls(math.sin)
    ir.replace(call, abs, 2)
    (new,) = ir.calls(abs)
    assert (new.types, new.result_type, new.constants) == ((int,), int, (2,))
    assert ir.type_of(call.result) is float
    with pytest.raises(OverlayError, match="cannot call cos") as info:
        ir.replace(ir.calls(math.pow)[0], math.cos, "text")
    assert len(ir.calls(math.pow)) == 1
    assert "test_ir.py" in info.value.where
    with pytest.raises(OverlayError, match="cannot put str, of type unicode_type, in place of pow"):
        ir.replace(ir.calls(math.pow)[0], str, 5)


def test_calls_are_inserted():
    for types in (), (float, int):
        ir = read(program, *types)
        (call,) = ir.calls(math.sin)
        before = ir.insert_before(call, math.floor, call.args[0])
        after = ir.insert_after(call, math.fabs, call.result)
        first = ir.insert_first(math.ceil, ir.arguments[0])
        order = [t for t in targets(ir) if t in (math.sin, math.floor, math.fabs, math.ceil)]
        assert order == [math.ceil, math.floor, math.sin, math.fabs]
        assert not any(map(ir.is_used, (before, after, first)))
        if types:
            assert [ir.type_of(v) for v in (before, after, first)] == [int, float, int]


def test_calls_are_deleted_where_nothing_reads_the_result():
    def speaks(x):
        print(x)
        return math.sin(x)

    for types in (), (float,):
        ir = read(speaks, *types)
        (said,), (sine,) = ir.calls(print), ir.calls(math.sin)
        assert ir.is_used(sine.result)
        ir.delete(said)
        assert targets(ir) == [math.sin]
        with pytest.raises(OverlayError, match=r"ir\.set_result"):
            ir.delete(sine)
        ir.set_result(sine, 1.5)
        assert targets(ir) == []
        assert ir.constant(sine.result) in (1.5, UNKNOWN)
        assert "1.5" in str(ir)


def guarded(x):
    if x < 0:
        raise ValueError("negative")
    try:
        if x > 9:
            raise ValueError("large")
    except Exception:
        return 9.0
    return math.sqrt(x)


def test_a_value_is_returned_where_a_function_raises():
    ir = read(guarded)
    (raised,) = ir.raises()
    assert raised.where.endswith(f":{guarded.__code__.co_firstlineno + 2}")
    assert ir.result_type is None
    ir.return_instead(raised, -1)
    assert ir.raises() == ()
    with pytest.raises(OverlayError, match="no longer in it"):
        ir.return_instead(raised, -1)


def returning(value, stage):
    """A context in which functions return a value where they raise."""

    def edit(self, ir):
        assert ir.result_type is (float if ir.is_typed else None)
        for raised in ir.raises():
            ir.return_instead(raised, value)

    return Context(plugins=(type("Returns", (Plugin,), {stage: edit})(),))


@pytest.mark.parametrize("stage", ["before_inference", "after_inference"])
def test_code_that_raised_returns_a_value_converted_to_the_type_of_the_result(stage):
    fast = returning(-1, stage).jit(guarded)
    assert [fast(x) for x in (-4.0, 4.0, 16.0)] == [-1.0, 2.0, 9.0]


def test_what_cannot_be_returned_is_refused():
    with pytest.raises(OverlayError, match="cannot return 'none', of type unicode_type") as info:
        returning("none", "after_inference").jit(guarded)(1.0)
    assert info.value.where.endswith(f":{guarded.__code__.co_firstlineno + 2}")


def test_what_numba_cannot_read_is_refused():
    def asynchronous(x):
        with x as y:
            return y

    with pytest.raises(NotCompilable, match="numba cannot read"):
        read(asynchronous)
    with pytest.raises(NotCompilable, match="numba cannot read"):
        read(program, str, float)
    with pytest.raises(OverlayError, match="is not one type"):
        read(program, object, float)


def test_importing_the_module_imports_no_numba():
    program = "import overlay.ir, sys; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)


def raising(x):
    if x < 0.0:
        raise ValueError("negative", x)
    return math.sqrt(x)


def raising_a_constant(x):
    if x < 0.0:
        raise AssertionError("negative")
    return math.sqrt(x)


def of_an_item(x):
    pair = (x, 2)
    return math.sqrt(pair[0]) ** 2


def printing(x):
    print("x:", x)
    return math.sqrt(x)


@pytest.mark.parametrize("function", [raising, raising_a_constant, of_an_item, printing])
def test_types_are_inferred_in_all_that_numba_compiles(function):
    ir = read(function, float)
    assert ir.result_type is float
    (call,) = ir.calls(math.sqrt)
    assert call.types == (float,)
    assert len(ir.calls(print)) == (function is printing)


def checked(x):
    y = abs(x)
    if y > 1:
        raise ValueError(y)
    return y


def others(x):
    return abs(x)


TAKEN = {  # by method, each kind of its arguments, and the others that it is given
    "definitions": ("variable",),
    "uses": ("variable",),
    "constant": ("variable",),
    "type_of": ("variable",),
    "numba_type_of": ("variable",),
    "is_used": ("variable",),
    "dominates": ("place", "place"),
    "post_dominates": ("place", "place"),
    "controls": ("place",),
    "edges_to": ("place",),
    "analysed_on": ("edge", "variable"),
    "callees": ("call",),
    "analysed": ("call",),
    "calls": ("function",),
    "replace": ("call", "function", "value"),
    "set_result": ("call", "value"),
    "delete": ("call",),
    "insert_before": ("call", "function", "value"),
    "insert_after": ("call", "function", "value"),
    "insert_first": ("function", "value"),
    "return_instead": ("raise", "value"),
    "remove": ("statement",),
    "jump": ("branch", "place"),
}


def parts(ir):
    """An argument of each kind, and the kinds of parameters that take it."""
    block = ir.blocks()[0]
    return {
        "variable": (ir.arguments[0], {"variable", "value"}),
        "no variable": (Variable("xx"), set()),
        "call": (ir.calls(abs)[0], {"call"}),
        "branch": (ir.branches()[0], {"branch"}),
        "edge": (block.edges[0], {"edge"}),
        "raise": (ir.raises()[0], {"raise"}),
        "statement": (block.statements[-2], {"statement", "place"}),
        "other statement": (read(others, float).statements()[0], set()),
        "block": (block, {"place"}),
        "label": (block.label, {"place", "value"}),
        "no label": (block.label - 1, {"value"}),
        "name": ("x", {"value"}),
        "nothing": (None, {"value"}),
        "object": (object(), set()),
        "function": (abs, {"function", "value"}),
    }


@pytest.mark.parametrize("types", [(), (float,)], ids=["before", "after"])
@pytest.mark.parametrize("method", TAKEN)
def test_arguments_of_another_kind_or_function_are_refused(method, types):
    kinds = TAKEN[method]
    assert method in dir(IR) or method == "numba_type_of"
    for position, kind in enumerate(kinds):
        for name, (_, takers) in parts(read(checked, *types)).items():
            ir = read(checked, *types)
            found = parts(ir)
            right = [next(p for p, takers in found.values() if each in takers) for each in kinds]
            right[position] = found[name][0]
            before = str(ir)
            if kind in takers:
                with contextlib.suppress(OverlayError):  # of that kind, but this one cannot be used
                    getattr(ir, method)(*right)
                continue
            is_constant = kind in ("value", "function") and name != "no variable"
            if is_constant and not types and method != "calls":
                continue  # before types are known any object may be a constant
            with pytest.raises(OverlayError) as refused:
                getattr(ir, method)(*right)
            assert refused.value.help, name
            assert str(ir) == before, name


def test_the_nearest_variable_is_told_and_a_call_has_its_statement():
    ir = read(lambda alpha: abs(alpha), float)
    with pytest.raises(OverlayError, match="alpha"):
        ir.uses(Variable("alpa"))
    (call,) = ir.calls()
    statement = next(s for s in ir.statements() if s.call == call)  # the remedy of an error
    assert ir.dominates(statement, statement)


WRITTEN = {  # functions of which numba makes calls itself, and arguments that they take
    bool: (1.0,),
    len: ((1.0, 2.0),),
    range: (3,),
    slice: (0, 2),
    str: (3,),
    tuple: ((1.0, 2.0),),
}


@pytest.mark.parametrize("types", [(), (float,)], ids=["before", "after"])
@pytest.mark.parametrize("target", WRITTEN, ids=lambda target: target.__name__)
def test_inserted_calls_of_functions_that_numba_calls_itself_are_among_the_calls(target, types):
    ir = read(lambda x: abs(x), *types)
    (call,) = ir.calls(abs)
    ir.insert_before(call, target, *WRITTEN[target])
    assert {*WRITTEN} == {*WRITTEN_BY_NUMBA}
    assert [found.target for found in ir.calls(target)] == [target]


@pytest.mark.parametrize("hook", ["before_inference", "after_inference"])
def test_the_range_of_a_loop_is_replaced(hook):
    def total(n):
        found = 0
        for i in range(n):
            found += i
        return found

    def edit(self, ir):
        for call in ir.calls(range):
            assert ir.replace(call, range, 4).target is range

    plugin = type("Four", (Plugin,), {hook: edit})
    assert Context(plugins=(plugin(),)).jit(total)(10) == 6
