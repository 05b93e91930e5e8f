"""Metadata and plugins that change inside a call, where code is interpreted."""

import gc
import math
import weakref

import numba
import pytest

from overlay import Context, MethodTable, Plugin, current_context, nonoverlay, recurse
from overlay.core.in_force import current_stack

table = MethodTable("table")


@table.overlay(math.sin)
def sin(x):
    return x, current_context().metadata


def wave(x):
    return math.sin(x)


def test_metadata_change_for_a_call_and_below_it():
    def program(values):
        found = [recurse(current_context().replace(metadata=v), wave, 1.0) for v in values]
        return found, current_context().metadata, wave(2.0)

    ctx = Context(table, metadata="outside")
    found, after, outside = ctx(program, [1, True, 1.0, "text", (1, None), 1])
    assert [type(metadata) for _, metadata in found] == [int, bool, float, str, tuple, int]
    assert [metadata for _, metadata in found] == [1, True, 1.0, "text", (1, None), 1]
    assert after == "outside"
    assert outside == (2.0, "outside")
    assert current_context() is None


def test_metadata_change_for_calls_inside_calls():
    def deep(n):
        depth = current_context().metadata
        if n == 0:
            return [depth]
        return [depth, *recurse(current_context().replace(metadata=depth + 1), deep, n - 1)]

    assert Context(table, metadata=0)(deep, 20) == list(range(21))


def test_a_table_and_the_outer_context_stay_where_metadata_change():
    other = MethodTable("other")
    other.overlay(math.cos)(lambda x: "cosine")

    def program(n):
        inner = Context(other).replace(metadata=n)
        return inner(lambda: (math.sin(1.0), math.cos(1.0))), nonoverlay(math.cos)(0.0)

    assert Context(table)(program, 3) == (((1.0, 3), "cosine"), 1.0)


def test_an_exception_leaves_the_metadata_as_they_were():
    def fails():
        raise KeyError(current_context().metadata)

    def program(n):
        try:
            recurse(current_context().replace(metadata=n), fails)
        except KeyError as error:
            return error.args[0], current_context().metadata

    assert Context(table, metadata="outside")(program, 3) == (3, "outside")


class Enters(Plugin):
    def __init__(self, token):
        self.cache_token = token

    def enter(self, callee, types):
        return None if callee is hidden else self


def active():
    return tuple(plugin.cache_token for plugin in current_stack().plugins)


def hidden():
    return active()


def test_plugins_made_inside_a_call_are_active_below_it():
    def below():
        return active(), hidden()

    def program(values):
        return [
            recurse(current_context().replace(plugins=(Enters(v),), metadata=v), below)
            for v in values
        ], active()

    ctx = Context(plugins=(Enters("outside"),))
    found, after = ctx(program, [1, 2, 1])
    assert after == ("outside",)
    assert [inside for inside, _ in found] == [("outside", 1), ("outside", 2), ("outside", 1)]
    assert all(bailed == () for _, bailed in found)


def test_plugins_made_inside_a_call_take_part_in_compiling_once_for_each_token():
    compiled = []

    class SineIs(Plugin):
        def __init__(self, value):
            self.cache_token = value

        def before_inference(self, ir):
            for call in ir.calls(math.sin):
                compiled.append((self.cache_token, ir.metadata))
                ir.set_result(call, self.cache_token)

    @numba.njit
    def sine(x):
        return math.sin(x)

    def program(values):
        context = current_context()
        changed = [context.replace(plugins=(SineIs(v),), metadata=v) for v in values]
        return [recurse(other, sine, 0.5) for other in changed]

    gc.disable()  # a collection in the run lets go what may be made again
    try:
        assert Context()(program, [1.0, 2.0, 1.0, 2.0]) == [1.0, 2.0, 1.0, 2.0]
    finally:
        gc.enable()
    assert compiled == [(1.0, 1.0), (2.0, 2.0)]
    assert Context()(program, [2.0]) == [2.0]


def collect():
    for _ in range(3):  # what finalizers let go goes with the next
        gc.collect()


# ---- found again -------------------------------------------------------------------------------


def test_the_same_change_gives_the_same_context_and_what_was_rewritten_for_it():
    base = Context(table, metadata=0)
    one = base.replace(metadata=1)
    assert base.replace(metadata=1) is one
    assert one.replace(metadata=2) is base.replace(metadata=2)
    assert base.replace(metadata=2).replace(metadata=1) is one
    assert base.replace(metadata=True) is not one
    assert base.replace(metadata=1.0) is not one
    assert base.replace(metadata=0.0) is not base.replace(metadata=-0.0)
    assert base.replace(plugins=(Enters(1),)) is base.replace(plugins=[Enters(1)])
    assert base.replace(plugins=(Enters(1),)) is not base.replace(plugins=(Enters(True),))
    assert base.replace(metadata=1, strict=True) is not base.replace(metadata=1, strict=True)


def test_objects_as_metadata_are_told_apart_by_identity():
    class Equal:
        def __eq__(self, other):
            return True

        def __hash__(self):
            return 1

    base, one, two = Context(table), Equal(), Equal()
    assert base.replace(metadata=one).metadata is one
    assert base.replace(metadata=two).metadata is two
    assert base.replace(metadata=one) is base.replace(metadata=one)


def test_contexts_found_again_are_bounded_and_go_with_the_first():
    class Held:
        pass

    def run(base):
        held = Held()
        assert base.replace(metadata=held)(wave, 1.0)[1] is held
        return weakref.ref(held)

    base = Context(table)
    gone = [run(base) for _ in range(100)]
    collect()
    assert sum(reference() is not None for reference in gone) <= 64
    del base
    collect()
    assert all(reference() is None for reference in gone)


@pytest.mark.parametrize("field", ["count_calls", "strict"])
def test_a_context_that_counts_has_copies_with_counts_of_their_own(field):
    base = Context(table, **{field: True})
    one, two = base.replace(metadata=1), base.replace(metadata=1)
    one(math.sin, 1.0)
    assert one is not two
    assert one.report().hits
    assert not two.report().hits
