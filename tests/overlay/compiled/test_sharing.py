"""Compiled code serves in every context in which it would be made the same."""

import contextlib
import gc
import math
import threading
import traceback
import types
import weakref

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numba import float64, njit
from numba.core import event  # noqa: TID251 - numba itself says what it compiles
from numba.experimental import jitclass

from overlay import (
    Context,
    MethodTable,
    Plugin,
    call_next,
    current_context,
    generic,
    nonoverlay,
    recurse,
)
from overlay.compiled.numba.dispatchers import InnerDispatcher
from overlay.compiled.world import World
from tests.examples import examples


class Compiled(event.Listener):
    """Names of the functions that numba compiles."""

    def __init__(self):
        self.names = []

    def on_start(self, event):
        if isinstance(event.data["dispatcher"], InnerDispatcher):
            self.names.append(event.data["dispatcher"].__name__)

    def on_end(self, event):
        pass


@contextlib.contextmanager
def compiled():
    """The names of the functions that are compiled in the block, which is full of those."""
    listener = Compiled()
    event.register("numba:compile", listener)
    try:
        yield listener.names
    finally:
        event.unregister("numba:compile", listener)


def compiles(context, function, *args, **options):
    """What a function gives under a context, and the names of what is compiled for that."""
    with compiled() as names:
        result = context.jit(function, **options)(*args)
    assert result == context(function, *args)
    return result, sorted(names)


def table_of(target, value, name="table"):
    table = MethodTable(name)
    table.overlay(target)(lambda x: value)
    return table


def module(source, **names):
    """A program of its own: nothing of it has been compiled."""
    namespace = {"math": math, "np": np, "__name__": __name__, **names}
    exec(compile(source, "program.py", "exec"), namespace)
    functions = {name: value for name, value in namespace.items() if callable(value)}
    return types.SimpleNamespace(**functions, all=namespace)


TREE = """
def a(x): return b(x) + c(x)
def b(x): return d(x) + math.sin(x)
def c(x): return e(x) * 2.0
def d(x): return x + 1.0
def e(x): return math.cos(x)
"""


# ---- what is shared ---------------------------------------------------------------------------


def test_what_does_not_lead_to_the_targets_in_which_two_contexts_differ_is_not_compiled_again():
    names, first = module(TREE), table_of(math.sin, 10.0)
    kept = Context(first)  # with its compiled code
    assert compiles(kept, names.a, 1.0)[1] == ["<lambda>", "a", "b", "c", "d", "e"]
    for changed, target in ((["a", "c"], names.e), (["a", "b"], names.d), (["a"], names.c)):
        inner = Context(first, table_of(target, 5.0))
        assert compiles(inner, names.a, 1.0)[1] == sorted([*changed, "<lambda>"])


def test_a_context_that_differs_in_nothing_that_is_reached_compiles_nothing():
    names, first = module(TREE), table_of(math.sin, 10.0)
    kept = Context(first)
    compiles(kept, names.a, 1.0)
    unreached = table_of(math.tan, 5.0)
    for context in (
        Context(first, unreached),
        Context(unreached, first),
        Context(first, metadata=1),
    ):
        assert compiles(context, names.a, 1.0) == (kept(names.a, 1.0), [])


def test_a_context_of_no_table_and_one_of_unreached_tables_share():
    names = module(TREE)
    kept = Context()
    assert compiles(kept, names.a, 1.0)[1] == ["a", "b", "c", "d", "e"]
    assert compiles(Context(table_of(math.tan, 1.0)), names.a, 1.0)[1] == []
    other = Context(table_of(math.sin, 1.0))
    assert compiles(other, names.a, 1.0)[1] == ["<lambda>", "a", "b"]
    assert compiles(Context(table_of(math.sin, 1.0)), names.c, 1.0)[1] == ["c"]  # with wrappers


def test_nonoverlay_shares_with_contexts_that_do_not_reach_it():
    names = module(TREE + "def plain(x): return nonoverlay(a)(x)", nonoverlay=nonoverlay)
    kept = Context()
    compiles(kept, names.a, 1.0)
    assert compiles(Context(table_of(math.sin, 1.0)), names.plain, 1.0)[1] == ["a", "plain"]


def test_the_order_of_tables_decides_only_where_both_have_methods():
    names = module(TREE)
    one, other = table_of(math.sin, 10.0, "one"), table_of(math.sin, 20.0, "other")
    kept = Context(one, other)
    compiles(kept, names.a, 1.0)
    assert compiles(Context(other, one), names.a, 1.0)[1] == ["<lambda>", "a", "b"]


def test_a_table_with_a_method_of_an_operator_touches_only_what_has_the_operator():
    import operator

    names = module("def a(x): return b(x) * c(x)\ndef b(x): return x - 1\ndef c(x): return (x,)[0]")
    kept = Context()
    compiles(kept, names.a, 1.0)
    for target, expected in (
        (operator.sub, ["<lambda>", "a", "b"]),
        (operator.mul, ["<lambda>", "a"]),
        (operator.getitem, ["<lambda>", "a", "c"]),
        (operator.contains, []),
        (operator.isub, []),
    ):
        table = MethodTable("operators")
        table.overlay(target)(lambda x, y: 3.0)
        assert compiles(Context(table), names.a, 1.0)[1] == expected


def test_an_operator_in_place_depends_on_the_plain_one_table_by_table():
    import operator

    names = module("def a(x):\n    x += 1.0\n    return x")
    plain, inplace = MethodTable("plain"), MethodTable("inplace")
    plain.overlay(operator.add)(lambda x, y: 10.0)
    inplace.overlay(operator.iadd)(lambda x, y: 20.0)
    kept = [Context(plain, inplace), Context(inplace, plain)]
    assert [compiles(context, names.a, 1.0)[0] for context in kept] == [20.0, 10.0]


def test_attributes_of_arrays_depend_on_their_targets():
    names = module("def a(x): return b(x) + 1.0\ndef b(x): return x.sum()")
    kept, xs = Context(), np.ones(3)
    compiles(kept, names.a, xs)
    table = MethodTable("sums")
    table.overlay(np.ndarray.sum)(lambda x: 100.0)
    assert compiles(Context(table), names.a, xs) == (101.0, ["<lambda>", "a", "b"])


def test_call_next_and_methods_of_other_tables_are_part_of_it():
    def next_plus_one(x: float):
        return call_next(x) + 1.0

    names = module(TREE)
    upper, lower = MethodTable("upper"), table_of(math.sin, 10.0)
    upper.overlay(math.sin)(next_plus_one)
    kept = [Context(upper)]
    compiles(kept[0], names.b, 1.0)
    kept.append(Context(lower, upper))
    assert compiles(kept[1], names.b, 1.0) == (13.0, ["<lambda>", "b", "next_plus_one"])
    elsewhere = Context(lower, upper, table_of(math.tan, 1.0))
    assert compiles(elsewhere, names.b, 1.0) == (13.0, [])


def test_functions_that_call_one_another_are_shared_as_a_whole_or_not_at_all():
    names = module("""
def root(n): return even(n) + leaf(n)
def even(n): return 1 if n == 0 else odd(n - 1)
def odd(n): return 0 if n == 0 else far(n - 1)
def far(n): return even(n) + math.floor(n * 0.5) * 0
def leaf(n): return abs(n)
""")
    kept = Context()
    assert compiles(kept, names.root, 9)[1] == ["even", "far", "leaf", "odd", "root"]
    assert compiles(Context(table_of(math.tan, 1.0)), names.root, 9)[1] == []
    table = MethodTable("floors")
    table.overlay(math.floor)(lambda x: 1)
    assert compiles(Context(table), names.root, 9)[1] == ["<lambda>", "even", "far", "odd", "root"]
    table = MethodTable("leaves")
    table.overlay(abs)(lambda x: 100)
    assert compiles(Context(table), names.root, 9)[1] == ["<lambda>", "leaf", "root"]
    assert compiles(Context(table_of(math.tan, 2.0)), names.odd, 9)[1] == ["odd"]  # with wrappers


def test_functions_as_arguments_are_part_of_what_decides_a_function():
    names = module("""
def root(x): return apply(helper, x) + apply(other, x) + apply(math.sin, x)
def apply(f, x): return f(x) + 1.0
def helper(x): return math.cos(x)
def other(x): return x
""")
    kept = Context()
    everything = ["apply", "apply", "apply", "helper", "other", "root"]
    assert compiles(kept, names.root, 1.0)[1] == everything
    assert compiles(Context(table_of(math.tan, 1.0)), names.root, 1.0)[1] == []
    cosines = Context(table_of(math.cos, 5.0))
    assert compiles(cosines, names.root, 1.0)[1] == ["<lambda>", "apply", "helper", "root"]
    sines = Context(table_of(math.sin, 5.0))
    assert compiles(sines, names.root, 1.0)[1] == ["<lambda>", "apply", "root"]
    both = Context(table_of(math.tan, 1.0), *sines.tables)
    assert compiles(both, names.root, 1.0)[1] == []


def test_functions_that_take_functions_which_call_them_are_shared():
    names = module("""
def root(x): return apply(outer, x)
def outer(x): return apply(inner, x) + apply(leaf, x)
def inner(x): return apply(leaf, x) * 2.0
def leaf(x): return math.sin(x)
def apply(f, x): return f(x) + 1.0
""")
    kept = Context()
    compiles(kept, names.root, 1.0)
    assert compiles(Context(table_of(math.tan, 1.0)), names.root, 1.0)[1] == []
    assert compiles(Context(table_of(names.inner, 5.0)), names.root, 1.0)[1] == (
        ["<lambda>", "apply", "apply", "outer", "root"]
    )
    names.all["root"].__code__ = (lambda x: apply(outer, x) * 2.0).__code__  # noqa: F821
    assert compiles(Context(table_of(math.tan, 2.0)), names.root, 1.0)[1] == ["root"]


def test_functions_that_numbas_own_code_calls_are_part_of_it():
    names = module("""
def root(x): return first(x) + second(x)
def first(x): return sorted([x, 2.0, 1.0], key=weight)[0]
def second(x): return sorted([x, 4.0, 1.0], key=weight)[0]
def weight(x): return math.sin(x)
""")
    kept = Context()
    compiles(kept, names.root, 0.5)
    again = compiles(Context(table_of(math.sin, 0.0)), names.root, 0.5)[1]
    assert {"root", "first", "second", "weight"} <= set(again)


def test_closures_are_shared_with_the_function_around_them():
    names = module("""
def root(x):
    y = x * 2.0
    def inside(z): return math.sin(z) + y
    return inside(x) + apply(lambda z: math.cos(z), x)
def apply(f, x): return f(x)
""")
    kept = Context()
    compiles(kept, names.root, 1.0)
    assert compiles(Context(table_of(math.tan, 1.0)), names.root, 1.0)[1] == []
    for target in (math.sin, math.cos):
        assert "root" in compiles(Context(table_of(target, 7.0)), names.root, 1.0)[1]


def test_functions_with_closures_of_their_own_are_shared_and_told_apart():
    def adding(offset):
        def add(x):
            return math.sin(x) + offset

        return add

    one, two = adding(1.0), adding(2.0)
    kept = Context()
    compiles(kept, lambda x: one(x) + two(x), 1.0)
    with compiled() as names:
        assert Context(table_of(math.tan, 1.0)).jit(lambda x: one(x))(1.0) == math.sin(1.0) + 1.0
    assert names == ["<lambda>"]


def test_generators_and_methods_of_jitclasses_are_shared():
    names = module("""
def root(x):
    total = Box(x).doubled()
    for y in numbers(x):
        total += y
    return total
def numbers(x):
    yield math.sin(x)
    yield x
class Plain:
    def __init__(self, x):
        self.x = x
    def doubled(self):
        return double(self.x)
def double(x): return math.cos(x) * 2.0
""")
    names.all["Box"] = jitclass([("x", float64)])(names.Plain)
    kept = Context()
    first = kept.jit(names.root)(1.0)
    with compiled() as seen:
        assert Context(table_of(math.tan, 1.0)).jit(names.root)(1.0) == first
    assert seen == []
    for target, expected in ((math.sin, {"numbers", "root"}), (math.cos, {"double", "doubled"})):
        with compiled() as seen:
            Context(table_of(target, 0.0)).jit(names.root)(1.0)
        assert expected < set(seen)
        assert "numbers" not in seen or target is math.sin


def test_options_that_decide_the_value_of_an_expression_keep_code_apart():
    names = module(TREE)
    kept = Context()
    compiles(kept, names.a, 1.0)
    assert len(compiles(Context(), names.a, 1.0, fastmath=True)[1]) == 5
    assert compiles(Context(metadata=1), names.a, 1.0, fastmath=True)[1] == []
    assert compiles(Context(metadata=1), names.a, 1.0, error_model="numpy")[1] != []


def test_generated_methods_and_generic_functions_are_part_of_it():
    @generic
    def size(x: int):
        return 1.0

    source = "def a(x): return b(x) + c(x)\ndef b(x): return size(x)\ndef c(x): return x"
    names = module(source, size=size)
    kept = Context()
    assert compiles(kept, names.a, 1)[1] == ["a", "b", "c", "size"]
    assert compiles(Context(table_of(math.tan, 1.0)), names.a, 1)[1] == []
    table = MethodTable("generated")
    table.generated(math.tan)(lambda ty: lambda x: 1.0)
    table.generated(size)(lambda ty: lambda x: 50.0)
    assert compiles(Context(table), names.a, 1) == (51.0, ["<lambda>", "a", "b"])


def test_a_generic_function_with_another_method_by_now_is_not_taken_for_what_it_was():
    @generic
    def size(x: float):
        return 1.0

    names = module("def a(x): return size(x)", size=size)
    kept = Context()
    assert compiles(kept, names.a, 1.0)[0] == 1.0

    @size.dispatch
    def _(x: float):
        return 2.0

    assert compiles(Context(table_of(math.tan, 1.0)), names.a, 1.0)[0] == 2.0


def test_a_compiled_function_says_how_many_functions_were_compiled_for_it():
    names = module(TREE)
    first, other = Context().jit(names.a), Context(table_of(math.cos, 2.0)).jit(names.a)
    assert first.functions_compiled == 0
    first(1.0), first(2.0)
    assert first.functions_compiled == 5
    other(1.0)
    assert other.functions_compiled == 4  # a, c, e and the method
    first.recompile()
    assert first.functions_compiled == 10


# ---- metadata, state, contexts ----------------------------------------------------------------


READING = """
def root(x): return order(x) + plain(x)
def order(x): return x ** current_context().metadata
def plain(x): return math.sin(x)
"""


def test_metadata_decides_only_what_reads_it():
    names = module(READING, current_context=current_context)
    kept = Context(metadata=2)
    assert compiles(kept, names.root, 3.0)[1] == ["order", "plain", "root"]
    assert compiles(Context(table_of(math.tan, 1.0), metadata=2), names.root, 3.0)[1] == []
    assert compiles(Context(metadata=3), names.root, 3.0)[1] == ["order", "root"]
    assert compiles(Context(metadata=3.0), names.root, 3.0)[1] == ["order", "root"]


class CosineForSine(Plugin):
    def __init__(self, token):
        self.cache_token = token

    def before_inference(self, ir):
        for call in ir.calls(math.sin):
            ir.replace(call, math.cos, *call.args)


def test_code_is_shared_below_plugins_with_the_same_tokens():
    names = module(TREE)

    def made_in(token, table="table", **metadata):
        context = Context(MethodTable(table), plugins=(CosineForSine(token),), **metadata)
        with compiled() as made:
            context.jit(names.a)(1.0)
        return len(made)

    everything = made_in("one")
    assert everything > 4
    assert made_in("one") == made_in("one", "other") == 0
    assert made_in("two") == everything
    assert made_in("one", metadata=1) == everything  # which hooks are shown
    assert made_in(None) == made_in(None) == everything
    assert compiles(Context(), names.a, 1.0)[1] != []


def test_state_decides_only_what_reads_it():
    names = module(
        """
def root(x): return note(x) + plain(x)
def note(x):
    here = current_context()
    here.state[0] += x
    return here.state[0]
def plain(x): return math.sin(x)
""",
        current_context=current_context,
    )
    state, other = np.zeros(1), np.zeros(1)
    kept = Context(state=state)
    with compiled() as seen:
        kept.jit(names.root)(1.0)
        assert sorted(seen) == ["note", "plain", "root"]
        Context(table_of(math.tan, 1.0), state=state, metadata=1).jit(names.root)(1.0)
        assert len(seen) == 3
        Context(state=other).jit(names.root)(1.0)
        assert sorted(seen[3:]) == ["note", "root"]
    assert (state[0], other[0]) == (2.0, 1.0)


def test_state_stays_where_it_is_when_the_context_that_compiled_first_is_gone():
    names = module(
        "def note(x):\n    current_context().state[0] += x", current_context=current_context
    )
    state = np.zeros(1)
    Context(state=state, metadata=1).jit(names.note)(1.0)
    first = Context(state=state, metadata=2)
    first.jit(names.note)(1.0)
    second = Context(state=state, metadata=3).jit(names.note)
    second(1.0)
    del first
    gc.collect()
    for _ in range(100):
        second(1.0)
    assert state[0] == 103.0


@pytest.mark.parametrize(
    "source",
    [
        "def inner(x): return current_context()(helper, x)",
        "def inner(x): return current_context().replace(metadata=1)(helper, x)",
        "def inner(x):\n    here = current_context()\n    return pass_on(here, x)\n"
        "def pass_on(here, x): return here(helper, x)",
        "def inner(x): return far(helper, x)",
        "def inner(x): return wrapped(x)",
        "def inner(x): return recurse(far, helper, x)",
        "def inner(x): return inside(x)",
    ],
)
def test_code_that_enters_a_context_belongs_to_its_own(source):
    def helper(x):
        return math.sin(x)

    far = Context(table_of(math.cos, 3.0))
    names = module(
        f"{source}\ndef root(x): return inner(x) + plain(x)\ndef plain(x): return helper(x)",
        current_context=current_context,
        recurse=recurse,
        helper=helper,
        far=far,
        wrapped=far.wrap(helper),
        inside=far.jit(helper),
    )
    kept = Context(metadata=0)
    compiles(kept, names.root, 1.0)
    again = compiles(Context(table_of(math.tan, 1.0)), names.root, 1.0)[1]
    assert {"inner", "root"} <= set(again)
    assert not {"plain", "helper"} & set(again)
    assert compiles(Context(table_of(math.sin, 70.0)), names.root, 1.0)[0] == 140.0


def test_code_that_enters_a_context_is_found_again_after_a_change_that_it_does_not_see():
    far_table, unrelated = table_of(math.cos, 3.0), MethodTable("unrelated")
    names = module(
        "def root(x): return far(helper, x)\ndef helper(x): return math.cos(x)",
        far=Context(far_table),
    )
    kept = Context(unrelated)
    hot = kept.jit(names.root)
    assert hot(1.0) == 3.0
    with compiled() as seen:
        unrelated.overlay(math.tan)(lambda x: 1.0)
        assert hot(1.0) == 3.0
        assert seen == []
        far_table.overlay(math.cos)(lambda x: 4.0)
        assert hot(1.0) == 4.0
        assert sorted(seen) == ["<lambda>", "helper", "root"]


# ---- redefinition -----------------------------------------------------------------------------


def test_a_change_compiles_what_leads_to_it_in_each_context_that_uses_it():
    names, table = module(TREE), table_of(math.sin, 10.0)
    hot = [context.jit(names.a) for context in (Context(table), Context(table, metadata=1))]
    hot.append(Context(table_of(math.cos, 2.0), table).jit(names.a))
    first = [each(1.0) for each in hot]
    table.overlay(math.sin)(lambda x: 20.0)
    with compiled() as seen:
        assert [each(1.0) for each in hot] == [value + 10.0 for value in first]
    # once for the first two; the third has another "a"
    assert sorted(seen) == ["<lambda>", "a", "a", "b"]


def test_a_change_of_a_target_that_is_not_reached_compiles_nothing():
    names, table = module(TREE), table_of(math.sin, 10.0)
    hot = Context(table).jit(names.a)
    hot(1.0)
    with compiled() as seen:
        table.overlay(math.tan)(lambda x: 1.0)
        hot(1.0)
        table.remove(math.tan)
        hot(1.0)
    assert seen == []


@pytest.mark.parametrize("tables", [(), (table_of(math.sin, 1.0),)])
def test_a_name_that_is_bound_anew_compiles_what_reads_it_and_what_calls_that(tables):
    names = module(TREE)
    hot = [Context(*tables, metadata=i).jit(names.a) for i in range(2)]
    first = [each(1.0) for each in hot]
    with compiled() as seen:
        exec("def e(x): return x + 100.0", names.all)
        assert [each(1.0) for each in hot] != first
        assert [each(1.0) for each in hot] == [Context(*tables)(names.a, 1.0)] * 2
    assert sorted(seen) == ["a", "c", "e"]


def test_code_is_not_taken_where_a_name_was_bound_anew_since():
    names = module("factor = 2.0\ndef a(x): return b(x)\ndef b(x): return x * factor")
    kept = Context()
    assert compiles(kept, names.a, 1.0)[0] == 2.0
    names.all["factor"] = 3.0
    assert compiles(Context(metadata=1), names.a, 1.0) == (3.0, ["a", "b"])
    assert compiles(kept, names.a, 1.0)[0] == 3.0


def test_code_that_was_taken_over_is_watched_where_it_is_used():
    names = module("factor = 2.0\ndef a(x): return b(x)\ndef b(x): return x * factor")
    first, second = Context().jit(names.a), Context(metadata=1).jit(names.a)
    assert (first(1.0), second(1.0)) == (2.0, 2.0)
    names.all["factor"] = 3.0
    assert (second(1.0), first(1.0)) == (3.0, 3.0)
    names.b.__code__ = (lambda x: x * 100.0).__code__
    assert (second(1.0), first(1.0)) == (100.0, 100.0)


def test_arrays_that_were_changed_in_place_are_read_again_in_a_new_context():
    names = module("factors = np.ones(2)\ndef a(x): return x * factors[0]")
    kept = Context()
    assert compiles(kept, names.a, 1.0)[0] == 1.0
    names.all["factors"][0] = 5.0
    assert compiles(Context(metadata=1), names.a, 1.0) == (5.0, ["a"])


def test_recompile_leaves_nothing_to_be_taken_over():
    names = module(TREE)
    hot = Context().jit(names.a)
    hot(1.0)
    with compiled() as seen:
        hot.recompile()
    assert sorted(seen) == ["a", "b", "c", "d", "e"]


def test_a_function_that_njit_inlines_is_watched():
    names = module("factor = 2.0\ndef b(x): return x * factor\ndef a(x): return inlined(x)")
    names.all["inlined"] = njit(inline="always")(names.b)
    hot = Context().jit(names.a)
    assert hot(1.0) == 2.0
    names.all["factor"] = 3.0
    assert hot(1.0) == 3.0
    assert Context(metadata=1).jit(names.a)(1.0) == 3.0


def test_plain_njit_callers_of_shared_code_see_the_changes_of_the_context_that_they_call():
    names, table = module(TREE), table_of(math.sin, 10.0)
    unrelated = table_of(math.tan, 1.0)
    first, second = Context(table).jit(names.b), Context(table, unrelated).jit(names.b)
    near, far = njit(lambda x: first(x)), njit(lambda x: second(x))
    assert (near(1.0), far(1.0)) == (12.0, 12.0)
    unrelated.overlay(math.sin)(lambda x: 20.0)
    assert (near(1.0), far(1.0)) == (12.0, 22.0)
    table.overlay(math.sin)(lambda x: 30.0)
    assert (near(1.0), far(1.0)) == (32.0, 22.0)


# ---- on disk ----------------------------------------------------------------------------------


def test_code_that_was_taken_over_is_kept_on_disk_with_all_that_it_depends_on(tmp_path):
    def kept_on_disk(source):
        names, context = module(source), Context(table_of(math.tan, 1.0))
        hot = context.jit(names.a, cache=str(tmp_path / "kept"))
        assert hot(1.0) == context(names.a, 1.0)
        return hot

    names, plain = module(TREE), Context()
    plain.jit(names.a)(1.0)
    taken = Context(table_of(math.tan, 1.0)).jit(names.a, cache=str(tmp_path / "kept"))
    taken(1.0)
    assert taken.functions_compiled == 0
    assert sum(taken.stats.cache_misses.values()) == 1
    found = kept_on_disk(TREE)
    assert (sum(found.stats.cache_hits.values()), found.functions_compiled) == (1, 0)
    for before, after in (("x + 1.0", "x + 2.0"), ("math.cos(x)", "math.tan(x) * 3.0")):
        other = kept_on_disk(TREE.replace(before, after))
        assert sum(other.stats.cache_hits.values()) == 0


# ---- errors -----------------------------------------------------------------------------------


def test_an_exception_out_of_shared_code_names_the_chain_of_calls():
    def raising(x: float):
        if x > 0.0:
            raise ValueError("too large")
        return x

    names = module(TREE)
    table = MethodTable("raising")
    table.overlay(math.sin)(raising)
    kept = Context(table)

    def chain(context):
        with pytest.raises(ValueError, match="too large") as caught:
            context.jit(names.a)(1.0)
        return [frame.name for frame in traceback.extract_tb(caught.value.__traceback__)][1:]

    first = chain(kept)
    assert first[-3:] == ["a", "b", "raising"]
    with compiled() as seen:
        assert chain(Context(table, table_of(math.tan, 1.0))) == first
    assert seen == []
    with compiled() as seen:
        assert chain(Context(table, table_of(math.cos, 1.0))) == first
    assert sorted(seen) == ["<lambda>", "a", "c", "e"]


def test_a_failure_is_found_in_each_context_and_leaves_the_rest_to_be_shared():
    names = module(TREE)

    def wrong(x: float):
        return x.nothing

    table = MethodTable("wrong")
    table.overlay(math.cos)(wrong)
    for context in (Context(table), Context(table, metadata=1)):
        with pytest.raises(Exception, match="wrong") as caught:
            context.jit(names.a)(1.0)
        assert "called from" in str(caught.value)
    # what was compiled before the failure serves, and what failed does not stand in the way
    assert compiles(Context(), names.a, 1.0)[0] == Context()(names.a, 1.0)


def test_a_call_that_is_tried_and_fails_is_part_of_what_decides_the_caller():
    names = module("""
def a(n): return even(n)
def even(n): return 1 if n == 0 else odd(n - 1)
def odd(n): return 0 if n == 0 else even(n - 1)
""")
    table = MethodTable("fails")
    table.overlay(names.odd)(lambda n: n.nothing)
    failing = Context(table)
    with pytest.raises(Exception, match="odd"):
        failing.jit(names.a)(3)
    assert compiles(Context(), names.a, 3) == (0, ["a", "even", "odd"])
    assert compiles(Context(metadata=1), names.a, 3) == (0, [])


# ---- threads and memory -----------------------------------------------------------------------


def test_threads_that_compile_one_program_in_contexts_that_share():
    names = module(TREE)
    tables = [table_of(math.tan, float(i)) for i in range(3)] + [table_of(math.sin, 50.0)]
    results = {i: [] for i in range(4)}

    def work(i):
        for round in range(3):
            results[i].append(Context(tables[i], metadata=round).jit(names.a)(1.0))

    def change():
        for value in range(10):
            tables[0].overlay(math.tan)(lambda x, value=value: float(value))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    threads.append(threading.Thread(target=change))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(4):
        assert set(results[i]) == {Context(tables[i])(names.a, 1.0)}


def ours():
    gc.collect()
    gc.collect()
    return {id(o): o for o in gc.get_objects() if type(o) in (InnerDispatcher, World)}


MEMORY = """
def root(x): return a(x) + apply(leaf, x) + even(4) + pick(x > 1.0)(x) + far(leaf, x)
def a(x): return math.sin(x) + math.cos(x)
def apply(f, x): return f(x)
def leaf(x): return x
def even(n): return 1 if n == 0 else odd(n - 1)
def odd(n): return 0 if n == 0 else even(n - 1)
def pick(which): return leaf
"""


def test_a_context_leaves_nothing_though_another_uses_what_it_compiled():
    names = module(MEMORY.replace("pick(x > 1.0)(x)", "leaf(x)"), far=Context(metadata=7))
    others = ours()
    first = Context(MethodTable("of the first"), metadata=1)
    first.jit(names.root)(1.0)
    first.jit(names.a)(1.0)
    made = [weakref.ref(o) for key, o in ours().items() if key not in others]
    gone = weakref.ref(first)
    second = Context(table_of(math.tan, 1.0), metadata=2)
    hot = second.jit(names.a)
    with compiled() as seen:
        hot(1.0)
    assert seen == []
    del first
    left = [ref() for ref in made if ref() is not None and id(ref()) in ours()]
    assert gone() is None
    assert left == []
    assert hot(1.0) == math.sin(1.0) + math.cos(1.0)


def test_contexts_one_after_the_other_share_what_the_first_has_compiled_and_leave_nothing():
    names, table = module(TREE), table_of(math.tan, 0.0)
    kept = Context(table)
    kept.jit(names.a)(1.0)
    with compiled() as seen:
        Context(table, metadata=-1).jit(names.a)(1.0)
        before = ours().keys()
        for i in range(20):
            Context(table, metadata=i).jit(names.a)(1.0)
        assert len(ours()) == len(before)
    assert seen == []


# ---- the law ----------------------------------------------------------------------------------

TARGETS = (math.sin, math.cos, math.tan, math.exp)
CALLS = (
    "math.sin(x)",
    "math.cos(x)",
    "math.tan(x)",
    "math.exp(x * 0.1)",
    "apply(math.sin, x)",
    "current_context().metadata * x",
    "nonoverlay(math.cos)(x)",
    "factor * x",
)
APPLY = "factor = 1.0\ndef apply(f, x): return f(x) + 1.0"


@st.composite
def programs(draw):
    """Functions that call targets and one another, also as arguments and in another context."""
    lines = [APPLY]
    for i in range(6):
        later = [form.format(j) for j in range(i) for form in ("f{}(x)", "apply(f{}, x)")]
        later += [f"far(f{j}, x)" for j in range(i)]
        body = draw(st.lists(st.sampled_from([*CALLS, *later, *later]), min_size=1, max_size=3))
        lines.append(f"def f{i}(x): return {' + '.join(body)}")
    return "\n".join(lines)


@settings(max_examples=examples(12))
@given(programs(), st.data())
def test_random_programs_in_contexts_that_share_give_what_they_give_when_interpreted(source, data):
    far = Context(table_of(data.draw(st.sampled_from(TARGETS)), 2.0), metadata=3.0)
    names = module(source, current_context=current_context, nonoverlay=nonoverlay, far=far)
    tables = [MethodTable(str(i)) for i in range(3)]

    def change():
        target = data.draw(st.sampled_from([*TARGETS, names.f0, names.f1]))
        constant = data.draw(st.integers(2, 9))
        table = data.draw(st.sampled_from(tables))
        if data.draw(st.booleans()):
            table.overlay(target)(lambda x: x + float(constant))
        else:
            table.overlay(target)(lambda x: call_next(x * 0.5) + float(constant))

    def held():
        return data.draw(st.lists(st.sampled_from(tables), unique_by=id))

    change()
    contexts = [Context(*held(), metadata=data.draw(st.floats(1, 2))) for _ in range(3)]
    hot = [(context, f, context.jit(f)) for context in contexts for f in (names.f5, names.f3)]
    for _ in range(3):
        for context, function, each in hot:
            assert each(0.5) == pytest.approx(context(function, 0.5), rel=1e-9)
        change()
        names.all["factor"] = data.draw(st.floats(1, 9))
