"""Contexts that only the running program knows: compiled once for each value and found again,
interpreted until then, and the same as when all is interpreted."""

import enum
import math
import operator
import struct
import threading
import traceback
from collections import namedtuple

import numba
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay import (
    Context,
    MethodTable,
    NotCompilable,
    OverlayError,
    OverlayWarning,
    Plugin,
    current_context,
    nonoverlay,
    recurse,
)
from overlay.ir import UNKNOWN
from tests.examples import examples

sines = MethodTable("sines")


@sines.overlay(math.sin)
def sin(x: float) -> float:
    return x + 1.0


ctx = Context(sines, metadata=0)
COLD = 1_000_000  # after so many calls nothing is compiled here


def scaled(x):
    return math.sin(x) * current_context().metadata


def plus(x):
    return x + current_context().metadata


def scaling(n):
    total = 0.0
    for i in range(n):
        total += recurse(current_context().replace(metadata=i % 3), scaled, 1.0)
    return total


def new(*tables):
    """A context that shares compiled code with no other."""
    return Context(sines, MethodTable("own"), *tables, metadata=0)


def info_of(hot, name):
    (found,) = (info for info in hot.barriers() if info.function.split(".")[-1] == name)
    return found


def agree(program, *args, name=None):
    """The result of a program, the same whether values are compiled at once, all interpreted, or
    the whole program is; name: of a function whose barrier is looked at."""
    expected = new()(program, *args)
    for hot_after in (0, COLD):
        hot = new().jit(program, hot_after=hot_after)
        np.testing.assert_equal(hot(*args), expected)
        if name is not None:
            info = info_of(hot, name)
            assert (info.interpreted == 0) == (hot_after == 0)
            assert (info.compiled == 0) == (hot_after > 0)
            assert info.hits + info.misses > 0
    return expected


cosines = MethodTable("cosines")


@cosines.overlay(math.cos)
def cos(x: float) -> float:
    return 10.0 * x


# ---- once for each value -----------------------------------------------------------------------


def test_a_value_is_compiled_once_and_found_again():
    hot = new().jit(scaling, hot_after=0)
    assert hot(30) == 60.0
    info = info_of(hot, "scaled")
    assert (info.misses, info.compiled, info.interpreted) == (3, 3, 0)
    assert (info.hits, info.size, info.limit) == (27, 3, 128)
    assert hot(30) == 60.0
    assert info_of(hot, "scaled")[2:6] == (57, 3, 0, 3)


def test_a_value_runs_interpreted_until_it_is_hot():
    hot = new().jit(scaling, hot_after=2)
    assert hot(6) == 12.0
    assert info_of(hot, "scaled")[2:7] == (0, 6, 0, 0, 6)
    assert hot(6) == 12.0
    assert info_of(hot, "scaled")[2:7] == (3, 9, 0, 3, 6)


def test_contexts_that_are_equal_share_what_is_compiled():
    own = MethodTable("own")
    first = Context(own, metadata=5).jit(scaling, hot_after=0)
    second = Context(own, metadata=6).jit(scaling, hot_after=0)
    assert first(3) == second(3)
    assert info_of(first, "scaled") == info_of(second, "scaled")
    assert info_of(second, "scaled")[2:6] == (3, 3, 0, 3)


def test_a_context_found_again_by_python_brings_what_was_compiled_for_it():
    base = Context(sines)

    def run(value):
        return base.replace(metadata=value).jit(scaled)

    assert run(2) is run(2)
    assert run(2)(1.0) == 4.0
    assert run(2) is not run(2.0)
    assert run(2).overloads
    assert not run(2.0).overloads
    assert base.replace(metadata=2) is base.replace(metadata=2)
    assert [base.replace(metadata=2)(scaled, 1.0) for _ in range(3)] == [4.0] * 3


def test_python_keeps_a_bounded_number_of_contexts():
    base = Context(sines)
    first = base.replace(metadata=-1)
    for i in range(1000):
        base.replace(metadata=i)
    assert len(base._copies) == 64
    assert base.replace(metadata=-1) is not first
    counting = Context(sines, count_calls=True)
    assert counting.replace(metadata=1) is not counting.replace(metadata=1)


# ---- values ------------------------------------------------------------------------------------


Order = namedtuple("Order", "mode power")


class Colour(enum.Enum):
    RED = 1
    GREEN = 2


def by_order(x):
    order = current_context().metadata
    return x**order.power if order.mode == "power" else x * order.power


def by_text(x):
    mode = current_context().metadata
    if mode == "fast":
        return x
    return 2 * x if mode == "fäst€" else 0.0


def by_pair(x):
    factor, offset = current_context().metadata
    return x * factor + offset


def by_optional(x):
    found = current_context().metadata
    return x if found is None else x + found


def by_colour(x):
    return x if current_context().metadata == Colour.RED else -x


def each(function):
    def program(values):
        total = 0.0
        for value in values:
            total += recurse(current_context().replace(metadata=value), function, 1.5)
        return total

    return program


@pytest.mark.parametrize(
    ("function", "values"),
    [
        (plus, (0.5, -1.5, 0.5, 0.5)),
        (plus, (True, False, True)),
        (plus, np.array([1, 2, 1], np.int32)),
        (plus, np.array([1, 2, 2**63], np.uint64)),
        (plus, np.array([0.25, 0.5], np.float32)),
        (by_order, (Order("power", 2), Order("times", 2), Order("power", 3))),
        (by_text, ("fast", "fäst€", "", "fast", "slow", "fäst€")),
        (by_pair, ((2, 0.5), (2, -0.5), (3, 0.5))),
        (by_colour, (Colour.RED, Colour.GREEN, Colour.RED)),
    ],
)
def test_values_are_told_apart(function, values):
    agree(each(function), values, name=function.__name__)


def test_none_or_a_number():
    def program(n):
        total = 0.0
        for i in range(n):
            value = i if i % 2 else None
            total += recurse(current_context().replace(metadata=value), by_optional, 1.0)
        return total

    agree(program, 5, name="by_optional")


def test_text_that_the_source_says_and_a_number_that_it_does_not():
    def program(n):
        total = 0.0
        for i in range(n):
            total += recurse(current_context().replace(metadata=("power", i)), staged, 2.0)
            total += recurse(current_context().replace(metadata=("text", i)), staged, 2.0)
        return total

    def staged(x):
        mode, number = current_context().metadata
        return x**number if mode == "power" else x * number

    agree(program, 4)


def bits(x: float) -> int:
    return struct.unpack("<q", struct.pack("<d", x))[0]


def itself() -> float:
    return current_context().metadata


def through(value):
    return recurse(current_context().replace(metadata=value), itself)


many = Context(sines).jit(through, hot_after=COLD)
few = Context(MethodTable("few")).jit(through, hot_after=1, variants=2)
tricky = st.sampled_from([0.0, -0.0, math.nan, math.inf, -math.inf, 1.0, 5e-324])


@settings(deadline=None, max_examples=examples(30))
@given(st.lists(tricky, min_size=1, max_size=8))
def test_a_number_comes_back_bit_for_bit_from_a_table_that_overflows(values):
    for value in values:
        assert bits(few(value)) == bits(value)
    assert info_of(few, "itself").size <= 2


@settings(deadline=None)
@given(st.lists(st.floats(), max_size=20))
def test_a_number_comes_back_bit_for_bit_when_interpreted(values):
    for value in values:
        given, found = bits(value), bits(many(value))
        assert given == found or (math.isnan(value) and math.isnan(many(value)))


def test_ints_bools_and_floats_that_are_equal_are_not_the_same():
    def program(x):
        return (
            recurse(current_context().replace(metadata=x), itself),
            recurse(current_context().replace(metadata=int(x)), itself),
            recurse(current_context().replace(metadata=x > 0), itself),
        )

    hot = new().jit(program, hot_after=0)
    hot(1.0)
    infos = [info for info in hot.barriers() if info.function == "itself"]
    assert sorted(i.changes for i in infos) == [
        "metadata=bool",
        "metadata=float64",
        "metadata=int64",
    ]


# ---- where barriers stand ----------------------------------------------------------------------


def test_arrays_are_shared_with_what_runs_behind_the_barrier():
    def grow(xs):
        xs[0] += 1
        return xs * current_context().metadata

    def program(n):
        xs, total = np.ones(3), np.zeros(3)
        for i in range(n):
            total = total + recurse(current_context().replace(metadata=i), grow, xs)
        return total, xs

    agree(program, 4, name="grow")


def test_what_the_interpreter_would_be_given_a_copy_of_is_compiled_at_once():
    def add(xs):
        xs.append(current_context().metadata)
        return len(xs)

    def program(n):
        xs = [0]
        for i in range(n):
            recurse(current_context().replace(metadata=i), add, xs)
        return xs

    hot = new().jit(program, hot_after=COLD)
    assert hot(4) == ctx(program, 4) == [0, 0, 1, 2, 3]
    assert info_of(hot, "add")[5:7] == (4, 0)


def test_several_types_of_arguments():
    def program(n):
        total = 0.0
        for i in range(n):
            other = current_context().replace(metadata=i)
            total += recurse(other, plus, 1.0) + recurse(other, plus, 2)
            total += recurse(other, plus, 1j).imag + recurse(other, plus, np.ones(2)).sum()
        return total

    agree(program, 3)


def test_a_context_is_called_read_and_handed_on():
    def handed(context, function, x):
        return recurse(context, function, x) + context.metadata

    def program(n):
        total = 0.0
        for i in range(n):
            other = current_context().replace(metadata=i)
            total += other(math.sin, 2.0) + other(scaled, 1.0) + handed(other, plus, 1.0)
            twice = other.replace(metadata=2.0 * other.metadata)
            total += recurse(twice, plus, 0.5)
        return total

    agree(program, 4, name="scaled")


def test_contexts_are_joined_when_the_program_runs():
    inner, silent = Context(cosines, metadata=7), Context(cosines)

    def waves(x):
        return math.sin(x) + math.cos(x) + 100.0 * current_context().metadata

    def program(n):
        total = 0.0
        for i in range(n):
            other = current_context().replace(metadata=i)
            total = 2.0 * total + (other | inner)(waves, 1.0)
            total = 2.0 * total + (inner | other)(waves, 1.0)
            total = 2.0 * total + recurse(other | silent, waves, 1.0)
            total = 2.0 * total + (other | current_context().replace(metadata=i + 1))(waves, 1.0)
            both = silent
            other |= both
            total = 2.0 * total + other(waves, 1.0) + other.metadata
        return total

    agree(program, 4)


def test_metadata_that_may_be_none_are_joined_where_there_are_no_others():
    silent, inner = Context(cosines), Context(cosines, metadata=7)

    def degree(x):
        known = current_context().metadata
        return math.cos(x) if known is None else known * math.cos(x)

    def program(n):
        total = 0.0
        for i in range(n):
            value = None if i % 2 else i
            total += (silent | silent.replace(metadata=value))(degree, 1.0)
        return total

    def of_two(n):
        value = None if n % 2 else n
        return (inner | silent.replace(metadata=value))(degree, 1.0)

    alone = Context(cosines)
    for hot_after in (0, COLD):
        hot = alone.jit(program, hot_after=hot_after)
        assert hot(4) == alone(program, 4) == 10.0 * (0 + 1 + 2 + 1)
    with pytest.raises(NotCompilable, match="may be None"):
        alone.jit(of_two)(1)


def test_an_overlaid_operator_joins_no_contexts():
    joining = MethodTable("joining")

    @joining.overlay(operator.or_)
    def or_(a: int, b: int) -> int:
        return 100 * a + b

    def program(n):
        other = current_context().replace(metadata=n) | current_context()
        return other(scaled, 1.0) + (n | n)

    context = Context(sines, joining)
    assert context.jit(program, hot_after=0)(3) == context(program, 3) == 2.0 * 3 + 303


@pytest.mark.filterwarnings("ignore:First-class function")  # in a tuple
def test_arguments_are_spread_over_a_call_through_a_barrier():
    def shifted(x, by):
        return math.sin(x) + by * current_context().metadata

    def below(x, by):
        return shifted(x, by)

    def program(n, *rest):
        total = 0.0
        for i in range(n):
            other = current_context().replace(metadata=i)
            whole = shifted, 3.0, 4.0
            total += other(shifted, *rest) + other(shifted, 1.0, *rest[:1]) + other(*whole)
            total += recurse(other, below, *rest) + recurse(*(other, below, 3.0, 4.0))
        return total

    agree(program, 3, 1.5, 2.5, name="shifted")
    agree(program, 3, 1.5, 2.5, name="below")


def test_keywords_defaults_and_functions_as_arguments():
    def shifted(x, by=1.0, *, scale=2.0):
        return math.sin(x) * by * scale + current_context().metadata

    def applied(function, x):
        return function(x) + current_context().metadata

    def program(n):
        total = 0.0
        for i in range(n):
            other = current_context().replace(metadata=i)
            total += recurse(other, shifted, 1.0) + recurse(other, shifted, 1.0, by=3.0)
            total += other(shifted, 1.0, scale=0.5)
            total += recurse(other, applied, plus, 1.0) + recurse(other, applied, math.sin, 1.0)
        return total

    agree(program, 3)


def test_recursion_through_a_barrier():
    def tree(x, n):
        if n == 0:
            return x
        here = current_context().metadata
        return here + recurse(current_context().replace(metadata=n), tree, x, n - 1)

    def program(n):
        return recurse(current_context().replace(metadata=n), tree, 0.5, n)

    assert agree(program, 5) == 19.5


def test_metadata_that_count_the_depth_of_a_recursion():
    def deep(x):
        depth = current_context().metadata
        if x <= 0:
            return 0.0
        return depth + recurse(current_context().replace(metadata=depth + 1), deep, x - 1)

    hot = new().jit(deep, hot_after=COLD)
    assert hot(30.0) == ctx(deep, 30.0) == sum(range(30))
    assert info_of(hot, "deep").interpreted == 1


def test_barriers_inside_what_runs_behind_a_barrier():
    def middle(x, n):
        total = 0.0
        for i in range(n):
            total += recurse(current_context().replace(metadata=i * 1.5), plus, x)
        return total + current_context().metadata

    def program(n):
        total = 0.0
        for i in range(n):
            total += recurse(current_context().replace(metadata=i), middle, 1.0, 3)
        return total

    agree(program, 3, name="middle")


def test_another_context_is_on_top_of_the_one_around():
    cosines = MethodTable("cosines")

    @cosines.overlay(math.cos)
    def cos(x: float) -> float:
        return 10.0 * current_context().metadata

    other = Context(cosines)

    def waves(x):
        return math.sin(x) + math.cos(x)

    def program(n):
        total = 0.0
        for i in range(n):
            total += recurse(other.replace(metadata=i), waves, 1.0)
        return total

    def bare(n):
        return nonoverlay(program)(n)

    assert agree(program, 3, name="waves") == 36.0
    assert agree(bare, 3) == pytest.approx(30.0 + 3 * math.sin(1.0))


def test_generators_parallel_loops_and_plain_callers():
    def values(n):
        for i in range(n):
            yield recurse(current_context().replace(metadata=i), plus, 1.0)

    def program(n):
        total = 0.0
        for value in values(n):
            total += value
        return total

    def spread(n):
        out = np.zeros(n)
        for i in numba.prange(n):
            out[i] = recurse(current_context().replace(metadata=i % 3), scaled, 1.0)
        return out

    agree(program, 4)
    for hot_after in (0, COLD):
        hot = ctx.jit(spread, parallel=True, hot_after=hot_after)
        assert list(hot(40)) == [2.0 * (i % 3) for i in range(40)]
    entry = new().jit(scaling, hot_after=1)
    plain = numba.njit(lambda n: entry(n))
    assert plain(9) == plain(9) == 18.0
    assert info_of(entry, "scaled").compiled >= 3


# ---- types -------------------------------------------------------------------------------------


def test_the_result_type_is_one_for_all_values():
    def mixed(x):
        if current_context().metadata == 0:
            return 1
        return x

    def program(n):
        total = 0.0
        for i in range(n):
            total += recurse(current_context().replace(metadata=i), mixed, 0.5)
        return total

    agree(program, 3, name="mixed")


def by_kind(x):
    if current_context().metadata == 0:
        return "text"
    return x


def test_what_does_not_follow_from_types_is_declared():
    def program(n):
        return recurse(current_context().replace(metadata=n), by_kind, 0.5)

    with pytest.raises(NotCompilable) as raised:
        ctx.jit(program)(1)
    assert "the result type of by_kind does not follow from types alone" in str(raised.value)
    assert "def by_kind(...) -> float" in str(raised.value)

    def declared(x) -> float:
        return by_kind(x)

    def program(n):
        return recurse(current_context().replace(metadata=n), declared, 0.5)

    for hot_after in (0, COLD):
        hot = ctx.jit(program, hot_after=hot_after)
        assert hot(1) == 0.5
        with pytest.raises(NotCompilable, match=r"declared returns .* expects float64") as raised:
            hot(0)
        assert "metadata=0" in str(raised.value)
        assert hot(1) == 0.5


def test_what_only_the_running_program_knows_has_to_be_told_apart():
    def array(xs):
        return recurse(current_context().replace(metadata=xs), plus, 1.0)

    def state(x):
        return recurse(current_context().replace(state=x), plus, 1.0)

    with pytest.raises(NotCompilable, match=r"cannot compare values of array\(float64"):
        ctx.jit(array)(np.ones(2))
    with pytest.raises(NotCompilable, match="cannot replace state of a context"):
        ctx.jit(state)(1.0)
    for options in ({"hot_after": -1}, {"hot_after": 1.5}, {"variants": 0}):
        with pytest.raises(OverlayError, match="it is a whole number"):
            ctx.jit(plus, **options)


# ---- exceptions --------------------------------------------------------------------------------


def fails_at_three(x):
    if current_context().metadata == 3:
        raise ValueError("three")
    return x


def handing_on(context):
    return recurse(context, fails_at_three, 1.0)


@pytest.mark.parametrize("hot_after", [0, COLD])
def test_exceptions_pass_through_a_barrier_with_their_lines(hot_after):
    def program(n):
        total = 0.0
        for i in range(n):
            total += handing_on(current_context().replace(metadata=i))
        return total

    hot = new().jit(program, hot_after=hot_after)
    for _ in range(2):
        with pytest.raises(ValueError, match="three") as raised:
            hot(5)
        frames = traceback.extract_tb(raised.value.__traceback__)
        names = [frame.name for frame in frames]
        assert names[-3:] == ["program", "handing_on", "fails_at_three"]
        assert frames[-1].line.strip().startswith("if") or "raise" in frames[-1].line
    assert hot(3) == 3.0


@pytest.mark.parametrize("hot_after", [0, COLD])
def test_compiled_code_catches_what_is_raised_behind_a_barrier(hot_after):
    def program(n):
        total = 0.0
        for i in range(n):
            context = current_context().replace(metadata=i)
            try:
                total += handing_on(context)
            except Exception:
                total += 100.0
        return total

    assert ctx.jit(program, hot_after=hot_after)(5) == ctx(program, 5) == 104.0


# ---- plugins -----------------------------------------------------------------------------------


def wave(x):
    return math.sin(x) + x


class SineIsMetadata(Plugin):
    def __init__(self):
        self.seen = []

    def before_inference(self, ir):
        for call in ir.calls(math.sin):
            self.seen.append(ir.metadata)
            ir.set_result(call, float(ir.metadata))


class SineIs(Plugin):
    made = 0

    def __init__(self, value, digits=1):
        SineIs.made += 1
        self.cache_token = round(value, digits)

    def before_inference(self, ir):
        for call in ir.calls(math.sin):
            ir.set_result(call, self.cache_token)


def test_a_plugin_rewrites_by_metadata_once_for_each_value():
    def program(n):
        total = 0.0
        for i in range(n):
            total += recurse(current_context().replace(metadata=i % 3), wave, 1.0)
        return total

    plugin = SineIsMetadata()
    context = Context(plugins=(plugin,), metadata=0)
    hot = context.jit(program)
    assert hot(9) == hot(9) == 18.0
    assert plugin.seen == [0, 1, 2]
    assert info_of(hot, "wave")[2:7] == (15, 3, 0, 3, 0)
    with pytest.raises(OverlayError, match="cannot interpret"):
        context(program, 9)


def test_a_plugin_is_made_of_what_only_the_running_program_knows():
    def program(n):
        total = 0.0
        for i in range(n):
            plugin = SineIs(i % 3 * 0.5, digits=1)
            total += recurse(current_context().replace(plugins=(plugin,)), wave, 1.0)
        return total

    SineIs.made = 0
    hot = new().jit(program)
    assert hot(9) == 13.5
    assert info_of(hot, "wave")[2:7] == (6, 3, 0, 3, 0)
    before = SineIs.made
    hot(9)
    assert SineIs.made == before


def test_plugins_made_there_share_code_by_their_token():
    def program(x):
        return recurse(current_context().replace(plugins=(SineIs(x),)), wave, 1.0)

    hot = Context(MethodTable("own")).jit(program)
    assert hot(0.5) == hot(0.51) == hot(0.49) == 1.5
    assert info_of(hot, "wave")[2:6] == (0, 3, 0, 1)
    assert hot(0.51) == 1.5
    assert info_of(hot, "wave")[2:6] == (1, 3, 0, 1)


def test_metadata_and_plugins_change_together():
    def staged(x):
        return math.sin(x) + current_context().metadata

    def program(n):
        total = 0.0
        for i in range(n):
            other = current_context().replace(plugins=(SineIs(i % 2 * 0.5),), metadata=i % 3)
            total += recurse(other, staged, 1.0)
        return total

    assert Context().jit(program)(6) == 7.5


def test_plugins_are_joined_when_the_program_runs():
    fixed = Context(cosines, plugins=(SineIs(5.0),))

    def staged(x):
        return math.sin(x) + math.cos(x) + current_context().metadata

    def program(n):
        total = 0.0
        for i in range(n):
            other = current_context().replace(plugins=(SineIs(i % 2 * 0.5),), metadata=i % 3)
            total = 2.0 * total + recurse(other | fixed, staged, 1.0)
            total = 2.0 * total + recurse(fixed | other, staged, 1.0)
        return total

    expected, cosine = 0.0, Context(cosines)(math.cos, 1.0)
    for i in range(6):  # the plugin given first has the sine
        for sine in (i % 2 * 0.5, 5.0):
            expected = 2.0 * expected + (sine + cosine + i % 3)
    assert Context(metadata=1).jit(program)(6) == expected


class Types(Plugin):
    preserves = frozenset({"calls", "values", "effects"})

    def __init__(self):
        self.seen = []

    def before_inference(self, ir):
        self.seen.append(ir.metadata)
        for call in ir.calls(math.sin):
            ir.set_result(call, "text" if ir.metadata is UNKNOWN else float(ir.metadata))


def test_where_plugins_change_types_the_result_is_declared():
    def declared(x) -> float:
        return math.sin(x)

    def undeclared(x):
        return math.sin(x)

    def program(function):
        def run(n):
            return recurse(current_context().replace(metadata=n), function, 1.0)

        return run

    plugin = Types()
    context = Context(plugins=(plugin,))
    with pytest.raises(NotCompilable, match=r"returns a float64 in .* expects unicode"):
        context.jit(program(undeclared))(3)
    assert UNKNOWN in plugin.seen
    assert context.jit(program(declared))(3) == 3.0


# ---- redefinition ------------------------------------------------------------------------------


def offset():
    return 1.0


def offset_by_metadata(x):
    return x + offset() * current_context().metadata


@pytest.mark.parametrize("hot_after", [0, COLD])
def test_redefinition_empties_the_variants(hot_after, monkeypatch):
    table = MethodTable("changing")
    table.overlay(math.tan)(lambda x: 1.0)

    def changing(x):
        return math.tan(x) + offset_by_metadata(x)

    def program(n):
        total = 0.0
        for i in range(n):
            total += recurse(current_context().replace(metadata=i), changing, 1.0)
        return total

    hot = Context(table).jit(program, hot_after=hot_after)
    assert hot(3) == hot(3) == 9.0
    table.overlay(math.tan)(lambda x: 5.0)
    assert hot(3) == 21.0
    monkeypatch.setitem(globals(), "offset", lambda: 10.0)
    assert hot(3) == 48.0
    if hot_after == 0:
        assert info_of(hot, "changing").compiled == 9


tangents = MethodTable("tangents")


def have_tangents_be(value):
    tangents.overlay(math.tan)(lambda x: value)


def change_tangents():
    have_tangents_be(100.0)


def test_code_that_is_running_sees_a_change_at_its_next_call_through_the_barrier():
    def tangent(x):
        return math.tan(x) + current_context().metadata

    def program(n):
        total = 0.0
        for i in range(n):
            if i == 2:
                with numba.objmode():
                    change_tangents()
            total += recurse(current_context().replace(metadata=i * 0), tangent, 1.0)
        return total

    have_tangents_be(1.0)
    assert Context(tangents).jit(program, hot_after=0)(4) == 202.0


def test_code_with_a_barrier_is_not_kept_on_disk(tmp_path):
    hot = new().jit(scaling, hot_after=1, cache=tmp_path / "code")
    with pytest.warns(OverlayWarning, match="enters contexts that are known only at run time"):
        assert hot(9) == 18.0
    assert hot(9) == 18.0
    assert not list(tmp_path.rglob("*.code"))


# ---- bounds ------------------------------------------------------------------------------------


def test_the_least_recently_used_value_makes_room_and_is_found_again():
    hot = Context(MethodTable("own")).jit(through, hot_after=0, variants=2)
    for value in (1.0, 2.0, 1.0, 3.0, 1.0):
        assert hot(value) == value
    info = info_of(hot, "itself")
    assert (info.hits, info.misses, info.evictions, info.compiled) == (2, 3, 1, 3)
    assert hot(2.0) == 2.0  # it had to go
    info = info_of(hot, "itself")
    assert (info.hits, info.misses, info.evictions, info.compiled) == (2, 4, 2, 3)
    assert info.size == info.limit == 2


def test_more_and_more_is_asked_of_values_before_they_are_compiled():
    hot = Context(MethodTable("own")).jit(through, hot_after=1, variants=4)
    for i in range(400):
        for _ in range(3):
            assert hot(float(i)) == i
    info = info_of(hot, "itself")
    assert info.compiled == 8  # four after one call, four after two; then four calls are asked
    assert info.size == 4


def test_threads_without_the_gil_find_the_same_variants():
    def many_values(start, n):
        total = 0.0
        for i in range(start, start + n):
            total += recurse(current_context().replace(metadata=i % 7), itself_plus, 1.0)
        return total

    def itself_plus(x):
        return x + current_context().metadata

    hot = new().jit(many_values, nogil=True, hot_after=2, variants=4)
    hot(0, 0)
    expected = [float(sum(1 + i % 7 for i in range(start, start + 200))) for start in range(6)]
    found = [0.0] * 6

    def work(start):
        found[start] = hot(start, 200)

    threads = [threading.Thread(target=work, args=(start,)) for start in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == expected
    info = info_of(hot, "itself_plus")
    assert info.evictions > 0
    assert info.compiled == 7
