"""Contexts in compiled code mean what they mean when interpreted: entered, nested, replaced, and
read for their metadata and state."""

import math
from collections import namedtuple
from dataclasses import dataclass

import numba
import numpy as np
import pytest
from numba.experimental import jitclass
from numba.typed import Dict

from overlay import Context, MethodTable, call_next, current_context, nonoverlay, recurse

sines, cosines = MethodTable("sines"), MethodTable("cosines")


@sines.overlay(math.sin)
def sin(x: float) -> float:
    return x + 100.0


@cosines.overlay(math.cos)
def cos(x: float) -> float:
    return call_next(x) + 200.0


@cosines.overlay(math.sin)
def sin_further_in(x: float) -> float:
    return call_next(x) + 1000.0


outer, inner = Context(sines, metadata=1), Context(cosines)
wrapped = inner.wrap(math.cos)


def both(context, function, *args):
    """What a function gives under the context, the same in both engines."""
    compiled = context.jit(function)(*args)
    assert compiled == context(function, *args)
    return compiled


def waves(x):
    return math.sin(x), math.cos(x)


def test_a_context_called_in_compiled_code_is_on_top_of_the_one_around():
    def program(x):
        return inner(waves, x), waves(x), inner(math.sin, x), wrapped(x)

    c = math.cos(1.0)
    expected = ((1101.0, c + 200.0), (101.0, c), 1101.0, c + 200.0)
    assert both(outer, program, 1.0) == expected


def test_a_context_called_where_no_context_is_in_force_stands_alone():
    def program(x):
        return inner(waves, x)

    def outside(x):
        return nonoverlay(program)(x)

    result = both(outer, outside, 1.0)
    assert result == (math.sin(1.0) + 1000.0, math.cos(1.0) + 200.0)


def test_a_context_takes_functions_that_are_arguments_and_keywords():
    def apply(context, function, x):
        return context(function, x)

    def shifted(x, by=1.0):
        return math.sin(x) + by

    def program(x):
        return apply(inner, math.sin, x), apply(inner, shifted, x), inner(shifted, x, by=2.0)

    assert both(outer, program, 1.0) == (1101.0, 1102.0, 1103.0)


def test_functions_that_are_handed_to_a_context_are_called_in_it():
    def apply(function, x, other):
        return function(x) + other(x)

    def sine(x):
        return math.sin(x)

    def program(x):
        function = sine
        return (
            inner(apply, function, x, math.sin),
            inner(apply, math.sin, x, other=function),
            inner(apply, lambda y: math.cos(y), x, sine),
            recurse(inner, apply, function, x, sine),
            apply(function, x, sine),
        )

    assert both(outer, program, 1.0) == (
        *(2202.0, 2202.0),
        math.cos(1.0) + 200.0 + 1101.0,
        *(2202.0, 202.0),
    )


def test_a_function_of_a_context_of_its_own_keeps_it_where_it_is_handed_on():
    def sine(x):
        return math.sin(x)

    def apply(f, x):
        return inner(f, x)

    own, inner = Context(_tripling("own", 3)), Context(_tripling("inner", 7))
    wrapped, bare = own.wrap(sine), nonoverlay(sine)
    for program in (
        lambda x: inner(wrapped, x),
        lambda x: apply(wrapped, x),
        lambda x: inner(bare, x),
        lambda x: apply(bare, x),
        lambda x: apply(sine, x),
        lambda x: inner(nonoverlay(math.sin), x),
        lambda x: apply(nonoverlay(math.sin), x),
        lambda x: nonoverlay(math.sin)(x) + inner(math.sin, x),
    ):
        assert Context().jit(program)(0.5) == Context()(program, 0.5)


def test_a_function_of_a_context_keeps_it_also_in_code_of_that_context():
    """Whichever is around: the same one, one with its tables, or an empty one with metadata."""

    def sine(x):
        return math.sin(x) + 1000.0 * (current_context().metadata or 0)

    def apply(f, x):
        return f(x)

    def apply_in_other(f, x):
        return other(f, x)

    def programs(wrapped):
        return (
            lambda x: other(wrapped, x),
            lambda x: other(apply, wrapped, x),
            lambda x: empty(apply, wrapped, x),
            lambda x: empty(apply_in_other, wrapped, x),
        )

    own, other = Context(_tripling("own", 3)), Context(_tripling("other", 7))
    same, empty = own.replace(metadata=5), Context(metadata=2)
    for context in (own, same, empty, other):
        for program in programs(context.wrap(sine)):
            for around in (own, same, empty, other):
                assert around.jit(program)(0.5) == around(program, 0.5)


def _tripling(name, factor):
    table = MethodTable(name)
    table.overlay(math.sin)(lambda x: factor * x)
    return table


def test_the_current_context_is_the_one_that_was_entered_last():
    def metadata():
        return current_context().metadata

    def program():
        other = current_context().replace(metadata=7.5)
        return metadata(), other(metadata), inner(metadata) is None

    assert both(outer, program) == (1, 7.5, True)


def test_contexts_are_joined_by_constants():
    def program(x):
        joined = current_context() | inner
        return joined(waves, x), (inner | outer)(math.sin, x)

    assert both(outer, program, 1.0)[1] == 101.0


@pytest.mark.filterwarnings("ignore:First-class function")  # in a tuple
def test_arguments_are_spread_over_a_call_of_a_context():
    def shifted(x, by):
        return math.sin(x) + by

    def program(x, *rest):
        pair, whole = (x, 2.0), (shifted, x, 3.0)
        return (
            inner(shifted, *pair),
            inner(shifted, x, *rest),
            inner(*whole),
            recurse(inner, shifted, *pair),
            recurse(*(inner, *whole)),
        )

    expected = (1103.0, 1105.0, 1104.0, 1103.0, 1104.0)
    assert both(outer, program, 1.0, 4.0) == expected


def test_recurse_runs_the_body_of_a_target_in_the_context():
    table = MethodTable("recursion")

    def height(x):
        return math.sin(x) + 1.0

    @table.overlay(height)
    def method(x: float):
        return recurse(inner, height, x) * 10.0

    def program(x):
        return height(x), recurse(inner, math.sin, x)

    expected = both(Context(sines, table), program, 1.0)
    assert expected == (11020.0, math.sin(1.0))


def test_a_change_of_a_table_of_an_entered_context_is_seen_through_all_around():
    table = MethodTable("changing")
    table.overlay(math.tan)(lambda x: 1.0)
    far = Context(table)

    def farther(x):
        return far(math.tan, x)

    def program(x):
        return inner(farther, x) + nonoverlay(farther)(x)

    hot = outer.jit(program)
    assert hot(0.5) == 2.0
    table.overlay(math.tan)(lambda x: 5.0)
    assert hot(0.5) == 10.0


# ---- metadata ------------------------------------------------------------------------------


@dataclass(frozen=True)
class Settings:
    mode: str
    order: int = 2
    function: object = math.sin


Pair = namedtuple("Pair", "mode order")


@pytest.mark.parametrize("metadata", [Settings("exact"), Pair("exact", 2)])
def test_metadata_of_any_class_is_folded_before_types_are_known(metadata):
    def program(x):
        settings = current_context().metadata
        if settings.mode == "exact" and settings.order * 2 > 3:
            return x
        return "a string, which numba could not unify with a number"

    assert both(outer.replace(metadata=metadata), program, 1.0) == 1.0


def test_metadata_is_compared_as_a_whole_and_by_its_items():
    def program(x):
        metadata = current_context().metadata
        if metadata != ("a", 2) or metadata[1] != 2 or not metadata:
            return "a string"
        return x

    assert both(outer.replace(metadata=("a", 2)), program, 1.0) == 1.0


def test_metadata_is_handed_on_and_its_functions_are_called_in_the_context():
    def power(settings, x):
        return x**settings.order + len(settings.mode)

    def program(x):
        return power(current_context().metadata, x), current_context().metadata.function(x)

    assert both(outer.replace(metadata=Settings("exact")), program, 3.0) == (14.0, 103.0)


def test_contexts_that_mean_the_same_share_their_code_and_others_do_not():
    def metadata():
        return current_context().metadata

    def code(value):
        hot = Context(sines, metadata=value).jit(metadata)
        assert type(hot()) is type(value)
        return next(iter(hot.overloads.values()))

    kept = [Context(sines, metadata=value) for value in (1, True, 1.0)]
    assert [context.jit(metadata)() for context in kept] == [1, True, 1.0]
    first, same, other = code(1), code(1), code(True)
    assert first is same
    assert first is not other


# ---- state ---------------------------------------------------------------------------------


@jitclass([("calls", numba.int64)])
class Counter:
    def __init__(self):
        self.calls = 0

    def count(self):
        self.calls += 1


def test_state_in_an_array_is_shared_with_python_and_between_functions():
    state = np.zeros(2)
    context = outer.replace(state=state)

    def note(x):
        current_context().state[0] += x

    def program(x):
        note(x)
        note(math.sin(x))
        return current_context().state

    assert context.jit(program)(1.0) is not None
    assert state[0] == 102.0
    context(program, 1.0)
    assert state[0] == 204.0


def test_state_may_be_a_jitclass_instance_or_a_typed_dict():
    counter, table = Counter(), Dict.empty(numba.int64, numba.float64)

    def count():
        current_context().state.count()
        return current_context().state.calls

    def note(x):
        current_context().state[1] = math.sin(x)
        return len(current_context().state)

    hot = outer.replace(state=counter).jit(count)
    assert (hot(), hot(), counter.calls) == (1, 2, 2)
    assert outer.replace(state=table).jit(note)(1.0) == 1
    assert table[1] == 101.0


def test_contexts_with_different_states_do_not_mix():
    def program():
        current_context().state[0] += 1.0
        return current_context().state[0]

    first, second = (Context(sines, state=np.zeros(1)) for _ in range(2))
    hot = first.jit(program), second.jit(program)
    assert (hot[0](), hot[0](), hot[1]()) == (1.0, 2.0, 1.0)
    assert second.state[0] == 1.0
