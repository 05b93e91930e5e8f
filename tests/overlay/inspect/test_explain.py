"""``ctx.explain``: what each call resolves to, found by reading the code."""

import functools
import math
import operator
import sys
import threading

import numpy as np
import pytest

from overlay import Context, MethodTable, call_next, generic, nonoverlay

table = MethodTable("approx")
ctx = Context(table)


@table.overlay(math.sin)
def sin(x: float) -> float:
    return call_next(x) if x > 1 else x


@table.overlay(math.cos)
def cos(x: float) -> float:
    return 1 - x * x


class Vector:
    size: float

    def __init__(self, x):
        self.x = x

    def __add__(self, other):
        return Vector(self.x + other.x)

    def scaled(self, by: float):
        return math.sin(by)

    def of_self(self):
        return self.scaled(2.0)

    def of_field(self):
        return math.sin(self.size)

    @classmethod
    def made(cls):
        return cls(math.sin(1.0))

    @staticmethod
    def of_nobody():
        return math.sin(1.0)

    @property
    def twice(self):
        return 2 * self.x


class Derived(Vector):
    def scaled(self, by: float):
        return super().scaled(by)


@table.overlay(operator.mul)
def mul(a: Vector, b: float) -> Vector:
    return Vector(a.x)


def helper(x):
    return math.sin(x)


def found(function, *types_of_arguments, context=ctx, **options):
    """The sites of the function itself, as ``text -> status``."""
    explanation = context.explain(function, *types_of_arguments, **options)
    return {site.text: site.status for site in explanation.root.functions[0].sites}


def test_a_call_resolves_by_the_types_given():
    def program(x):
        return math.sin(x)

    (site,) = ctx.explain(program, float).sites("resolved")
    assert site.text == "math.sin(x)"
    assert site.methods == table.methods(math.sin)
    assert str(site.place).startswith("tests/overlay/inspect/test_explain.py:")
    assert site.place.line == program.__code__.co_firstlineno + 1
    assert not ctx.explain(program, int).sites("resolved")
    assert found(program, int) == {"math.sin(x)": "base"}
    assert found(program) == {"math.sin(x)": "possible"}


def test_types_come_from_annotations_where_none_are_given():
    def program(x: float, y: int):
        return math.sin(x), math.cos(y)

    assert found(program) == {"math.sin(x)": "resolved", "math.cos(y)": "base"}


def test_types_are_carried_through_arithmetic_constants_and_results():
    def program(x):
        half = x / 2 + 1
        text = "a" + "b"
        number = float(text)
        return (
            math.sin(half),
            math.sin(math.sqrt(number)),
            math.sin(math.cos(half)),
            math.sin(len(text)),
            math.sin(2.0),
            math.sin(text),
        )

    status = found(program, float)
    assert status["math.sin(half)"] == "resolved"
    assert status["math.sin(math.sqrt(number))"] == "resolved"
    assert status["math.sin(math.cos(half))"] == "resolved"  # by the annotation of the method
    assert status["math.sin(len(text))"] == "base"
    assert status["math.sin(2.0)"] == "resolved"
    assert status["math.sin(text)"] == "base"


def test_a_value_of_two_types_makes_a_call_possible():
    def program(x, flag):
        if flag:
            x = 1
        return math.sin(x)

    def loop(x):
        while x < 10:
            x = x + 1.0
        return math.sin(x)

    assert found(program, float, bool) == {"math.sin(x)": "possible"}
    assert found(loop, float) == {"math.sin(x)": "resolved"}
    assert found(loop, int) == {"math.sin(x)": "possible"}


def test_what_a_handler_sees_is_joined_over_the_guarded_code():
    def program(x):
        y = 1.0
        try:
            y = x()
        except ValueError:
            return math.sin(y)
        finally:
            math.cos(2.0)
        return y

    status = found(program)
    assert status["math.sin(y)"] == "possible"
    assert status["math.cos(2.0)"] == "resolved"
    assert status["x()"] == "undetermined"


def test_the_call_graph_is_followed_with_the_types_of_each_call():
    def program(x):
        return helper(x) + helper(1)

    functions = [site.functions[0] for site in ctx.explain(program, float).root.functions[0].sites]
    assert [f.types for f in functions] == [(float,), (int,)]
    assert [[s.status for s in f.sites] for f in functions] == [["resolved"], ["base"]]


def test_recursion_and_shared_callees_are_shown_once():
    def countdown(n):
        helper(1.0)
        helper(1.0)
        return countdown(n - 1) if n else helper(1.0)

    explanation = ctx.explain(countdown, int)
    assert [site.text for site in explanation].count("math.sin(x)") == 1
    assert str(explanation).count("(shown elsewhere)") == 0  # told where an overlay is reached
    assert explanation.tree(everything=True).count("(shown elsewhere)") >= 3


def test_depth_limits_how_far_calls_are_followed():
    def outer():
        return middle()

    def middle():
        return helper(1.0)

    assert not ctx.explain(outer, depth=2).sites("resolved")
    assert ctx.explain(outer, depth=3).sites("resolved")
    assert "deeper than asked" in ctx.explain(outer, depth=1).tree(everything=True)


def test_methods_and_the_next_of_a_method_are_followed():
    (site,) = ctx.explain(helper, float).sites("resolved")
    (body,) = site.functions
    assert body.name == "sin"
    assert [(s.target, s.status) for s in body.sites] == [("next of math.sin", "base")]

    wider = MethodTable("wider")
    wider.overlay(math.sin)(cos)
    sites = Context(wider, table).explain(helper, float).sites("resolved")
    assert [site.methods[0].table for site in sites] == [table, wider]


@pytest.mark.parametrize(
    "function",
    [Vector.of_self, Vector.made, Vector.of_nobody, Vector(1.0).of_self, Derived.of_self],
)
def test_methods_are_found_through_self_and_the_class(function):
    assert ctx.explain(function).sites("resolved")


def test_super_and_declared_attributes_are_followed():
    assert ctx.explain(Derived.scaled).sites("resolved")
    assert found(Vector.of_field) == {"math.sin(self.size)": "resolved"}


def test_operators_are_sites_where_a_table_overlays_them():
    def program(v, x):
        v *= x
        return x * x, v * x

    status = found(program, Vector, float)
    assert status == {"v *= x": "resolved", "x * x": "base", "v * x": "resolved"}
    assert "x * x" not in found(program, Vector, float, context=Context())


def test_what_the_interpreter_calls_by_itself_is_told():
    def program(v):
        return v + v, v.twice

    texts = {site.text for site in ctx.explain(program, Vector)}
    assert texts >= {"v + v", "Vector(self.x + other.x)", "v.twice"}


def test_functions_that_c_code_is_known_to_call_are_followed():
    def program():
        list(map(helper, [1.0]))
        return sorted([1.0], key=lambda x: math.sin(x))

    possible = [site.text for site in ctx.explain(program).sites("possible")]
    assert possible == ["math.sin(x)", "math.sin(x)"]


def test_what_is_called_later_is_not_followed():
    def program():
        threading.Thread(target=helper).start()
        return functools.partial(helper, 1.0)

    explanation = ctx.explain(program)
    assert not any(site.methods for site in explanation)
    first = explanation.root.functions[0].sites
    assert {site.text: site.status for site in first} == {
        "threading.Thread(target=helper)": "base",
        "threading.Thread(target=helper).start()": "base",
        "functools.partial(helper, 1.0)": "base",
    }


def test_a_method_of_something_unknown_is_possible_where_its_name_is_overlaid():
    appends = MethodTable("appends")

    @appends.overlay(list.append)
    def append(self, item):
        call_next(self, item)

    def program(xs, ys: list):
        xs.append(1)
        ys.append(1)
        xs.extend(ys)

    assert found(program, context=Context(appends)) == {
        "xs.append(1)": "possible",
        "ys.append(1)": "resolved",
        "xs.extend(ys)": "undetermined",
    }


def test_arguments_that_are_not_counted_make_a_call_possible():
    def program(*args, **kwargs):
        return math.sin(*args), helper(**kwargs)

    assert found(program)["math.sin(*args)"] == "possible"


def test_keywords_and_values_take_part():
    def target(x, y=1):
        return x

    literal = MethodTable("literal")

    @literal.overlay(target)
    def overlaid(x: float, y: int):
        return 0.0

    def program():
        return target(y=2, x=1.0), target(1.0), target(1.0, "a")

    status = found(program, context=Context(literal))
    assert status == {
        "target(y=2, x=1.0)": "resolved",
        "target(1.0)": "base",
        'target(1.0, "a")': "base",
    }


def test_array_types_that_only_a_value_decides_are_possible():
    arrays = MethodTable("arrays")

    @arrays.overlay(np.sum)
    def total(x: np.ndarray[tuple[int], np.dtype[np.float64]]):
        return 0

    def program(x):
        return np.sum(x)

    assert found(program, np.ndarray, context=Context(arrays)) == {"np.sum(x)": "possible"}


def test_ambiguity_is_told():
    both = MethodTable("both")
    both.overlay(math.hypot)(lambda x, y: x)

    @both.overlay(math.hypot)
    def left(x: float, y: object):
        return x

    @both.overlay(math.hypot)
    def right(x: object, y: float):
        return x

    def program(x):
        return math.hypot(x, x)

    (_, site) = Context(both).explain(program, float)
    assert site.status == "possible"
    assert "ambiguous" in site.note


def test_closures_partials_caches_and_generators_are_followed():
    def outer(x):
        def inner(y):
            return math.sin(y)

        return inner(x)

    def generator(x):
        yield math.sin(x)

    captured = helper
    assert ctx.explain(outer, float).sites("resolved")
    assert ctx.explain(lambda x: captured(x), float).sites("resolved")
    assert ctx.explain(functools.partial(helper, 1.0)).sites("resolved")
    assert ctx.explain(functools.lru_cache(helper), float).sites("resolved")
    assert ctx.explain(lambda x: list(generator(x)), float).sites("resolved")
    assert ctx.explain(lambda x: [math.sin(x) for _ in range(3)], float).sites("resolved")


def test_without_overlay_nothing_below_is_entered():
    def program(x):
        return nonoverlay(helper)(x)

    explanation = ctx.explain(program, float)
    assert not explanation.sites("resolved")
    assert [site.note for site in explanation][-1] == "runs with no overlay"


def test_a_target_and_a_generic_function_can_be_asked_about():
    @generic
    def area(shape): ...

    @area.dispatch
    def area(shape: int):
        return math.sin(1.0)

    shapes = MethodTable("shapes")

    @shapes.overlay(area)
    def overlaid(shape: float):
        return call_next(1)

    assert ctx.explain(math.sin, float).root.status == "resolved"
    assert Context(shapes).explain(area, float).root.status == "resolved"
    assert Context(shapes).explain(area, int).root.status == "base"
    assert ctx.explain(area, int).sites("resolved")


def test_functions_without_source_are_read():
    namespace = {"math": math}
    exec(compile("def program(x):\n    return math.sin(x)\n", "<nowhere>", "exec"), namespace)
    (site,) = ctx.explain(namespace["program"], float).sites("resolved")
    assert (site.text, str(site.place)) == ("math.sin(...)", "<nowhere>:2")


def test_nothing_of_the_program_runs():
    ran = []

    class Watched(type):
        def __hash__(cls):
            ran.append("hash")
            return 1

        def __eq__(cls, other):
            ran.append("eq")
            return True

        def __getattribute__(cls, name):
            if not name.startswith("__"):
                ran.append(name)
            return type.__getattribute__(cls, name)

    class Thing(metaclass=Watched):
        def __getattr__(self, name):
            ran.append(name)

        def method(self):
            return math.sin(1.0)

    thing = Thing()

    def program(x: Thing):
        return x.method(), thing.missing(), Thing.method(x), math.sin(x)

    ran.clear()
    explanation = ctx.explain(program)
    str(explanation)
    assert ran == []
    assert explanation.sites("resolved")


def test_it_reads_as_a_tree():
    def program(x):
        return helper(x) + len("abc")

    first = program.__code__.co_firstlineno
    lines = str(ctx.explain(program, float)).splitlines()
    name = "test_it_reads_as_a_tree.<locals>.program"
    here = "tests/overlay/inspect/test_explain.py"
    method = f"math.sin(float)   {here}:{sin.__code__.co_firstlineno}"
    assert lines == [
        "<Context approx>",
        f"{name}(float)  base",
        f"  {name}(float)   {here}:{first}",
        f"    {first + 1}: helper(x)  base",
        f"      helper(float)   {here}:{helper.__code__.co_firstlineno}",
        f"        {helper.__code__.co_firstlineno + 1}: math.sin(x)  -> {method}",
        "        ... and 1 base",
        f'    {first + 1}: len("abc")  base',
    ]


def test_methods_that_are_not_taken_are_told_at_the_call():
    def program(x):
        return below(x) + math.sin(x)

    def below(x):
        return math.sin(30)

    for types in ((), (int,)):
        explanation = ctx.explain(program, *types)
        sites = {site.text: site for site in explanation}
        assert sites["math.sin(30)"].status == "base"
        assert sites["math.sin(30)"].untaken == table.methods(math.sin)
        # also where it lies deeper than the function that is explained
        assert f"math.sin(30)  base, not taken: {table.methods(math.sin)[0]}" in str(explanation)
        assert "not taken: " in explanation._repr_html_()
    assert sites["math.sin(x)"].untaken == table.methods(math.sin)
    assert ctx.explain(program, float).sites("resolved")[0].untaken == ()


def test_without_types_the_call_shows_what_is_known_of_its_arguments():
    def program(x: float, y, z=1):
        return math.sin(x) + math.sin(y)

    explanation = ctx.explain(program)
    assert explanation.root.text.endswith("program(float, ?)")
    assert found(program) == {"math.sin(x)": "resolved", "math.sin(y)": "possible"} | {
        text: status for text, status in found(program).items() if "sin" not in text
    }


def test_an_unknown_status_is_refused():
    with pytest.raises(ValueError, match="status is one of"):
        ctx.explain(helper).sites("resolve")


def test_what_a_class_body_has_from_the_function_around_it_is_found():
    def outer(x: float):
        chosen = math.sin

        class Inner:
            value = chosen(x)

        return Inner

    assert found(outer)["chosen(x)"] == "resolved"


@pytest.mark.skipif(sys.version_info < (3, 12), reason="type parameters")
def test_a_function_with_type_parameters_is_entered():
    namespace = {"math": math}
    exec(
        "def outer(x: float):\n    def inner[T](y: T):\n        return math.sin(y)\n"
        "    return inner(x)\n",
        namespace,
    )
    (site,) = ctx.explain(namespace["outer"]).sites("resolved")
    assert site.target == "math.sin"
