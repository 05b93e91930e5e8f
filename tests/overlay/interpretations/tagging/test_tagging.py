"""Values carry metadata through programs, which give what they give without."""

import array
import bisect
import collections
import colorsys
import contextlib
import contextvars
import copy
import dataclasses
import datetime
import functools
import heapq
import itertools
import json
import marshal
import math
import operator
import pickle
import random
import re
import statistics
import struct
import sys
import types
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from overlay import Context, MethodTable, OverlayError, call_next
from overlay.interpretations.tagging import NotTaggable, Tagging, provenance
from tests.examples import examples

VALUES = {
    "float": 2.5,
    "int": 7,
    "complex": 1 + 2j,
    "str": "hello world",
    "bytes": b"hello",
    "Decimal": Decimal("1.5"),
    "float64": np.float64(2.5),
    "int32": np.int32(3),
    "array": np.arange(4.0),
}


@pytest.fixture
def tags():
    return Tagging()


@pytest.mark.parametrize("value", VALUES.values(), ids=VALUES)
def test_a_value_with_metadata_is_what_it_was(tags, value):
    tagged = tags.tag(value, "a")
    assert tags.metadata(tagged) == "a"
    assert isinstance(tagged, type(value))
    assert tagged.__class__ is type(value)
    assert np.all(tagged == value)
    assert repr(tagged) == repr(value)
    assert str(tagged) == f"{tagged}" == str(value)
    assert type(pickle.loads(pickle.dumps(tagged))) is type(value)
    assert tags.metadata(copy.deepcopy([tagged])[0]) == "a"
    bare = tags.untag(tagged)
    assert type(bare) is type(value) or isinstance(value, np.ndarray)
    assert tags.metadata(bare) is None
    if not isinstance(value, np.ndarray):
        assert hash(tagged) == hash(value)
        assert {value: 1}[tagged] == 1


OPERATIONS = (
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv),
    *(operator.mod, max, min, math.hypot, math.atan2, operator.pow, divmod),
)


one, both = Tagging(), Tagging()


def stepwise(steps, x, y):
    found = x
    for operation, swapped in steps:
        found = operation(y, found) if swapped else operation(found, y)
        found = found[1] if isinstance(found, tuple) else found
    return found


def outcome(f, *args):
    try:
        return f(*args)
    except (ArithmeticError, ValueError) as error:
        return type(error)


@settings(max_examples=examples(40))
@given(
    st.lists(st.tuples(st.sampled_from(OPERATIONS), st.booleans()), min_size=1, max_size=5),
    st.one_of(st.integers(1, 9), st.floats(0.5, 4)),
    st.one_of(st.integers(1, 9), st.floats(0.5, 4)),
)
def test_results_are_the_same_and_have_the_metadata_of_what_they_are_made_of(steps, a, b):
    wanted = outcome(stepwise, steps, a, b)
    found = outcome(one, stepwise, steps, one.tag(a, "a"), b)
    also = outcome(both, stepwise, steps, both.tag(a, "a"), both.tag(b, "b"))
    assert found == also == wanted
    if not isinstance(wanted, type):
        assert one.untag(found) == wanted
        assert type(one.untag(found)) is type(wanted)
        chosen = any(operation in (max, min) for operation, _ in steps)
        assert one.metadata(found) == "a" or chosen
        assert both.metadata(also) == frozenset("ab") or chosen


def test_functions_in_c_keep_metadata_in_the_context(tags):
    x, text, array = tags.tag(2.0, "x"), tags.tag("a b", "text"), tags.tag(np.ones(3), "array")
    assert tags.metadata(math.sin(x)) is None
    for f in (
        lambda: math.sin(x),
        lambda: float(x) + int(x),
        lambda: str(x),
        lambda: round(x, 1),
        lambda: math.fsum([1.0, x]),
        lambda: math.modf(x)[1],
        lambda: np.array([x, 1.0])[1],
        lambda: sum([1, x]),
        lambda: sorted([x, 3.0])[0],
        lambda: statistics.mean([x, 4.0]),
    ):
        assert tags.metadata(tags(f)) == "x"
    assert [tags.metadata(part) for part in tags(lambda: ",".join([text, "c"]).split(","))] == [
        "text",
        "text",
    ]
    assert tags.metadata("c" + text[0].upper()) == "text"
    for f in (np.sum, np.linalg.norm, lambda a: a @ a, lambda a: a[1:].mean(), lambda a: a[0]):
        assert tags.metadata(tags(f, array)) == "array"
    assert tags(lambda: (type(x), len([x, x]), isinstance(x, float))) == (float, 2, True)
    assert tags.metadata(tags(lambda: len([x]))) is None
    assert json.dumps([x, text]) == '[2.0, "a b"]'


class Holder:
    def __init__(self, value):
        self.value = value

    def scaled(self, factor):
        return self.value * factor


def through_everything(x, y):
    holder = Holder(x)
    table = {"k": [holder.scaled(2), y]}

    def inner(z):
        return z + table["k"][0]

    if x > 1:
        return max((inner(v) for v in table["k"][1:]), default=0)
    return y


def test_attributes_containers_closures_generators_and_branches(tags):
    x, y = tags.tag(2.0, "x"), tags.tag(3.0, "y")
    assert tags.metadata(tags(through_everything, x, 3.0)) == "x"
    assert tags.metadata(tags(through_everything, x, y)) == frozenset("xy")
    assert tags.metadata(tags(through_everything, tags.tag(0.5, "x"), y)) == "y"


def test_arrays_have_the_metadata_of_what_is_written_to_them(tags):
    def program(x):
        found = np.zeros(3)
        found[1] = x
        found += 1
        np.add(found, 1, out=found)
        return found.sum(), np.ones(3).sum()

    written, other = tags(program, tags.tag(2.0, "x"))
    assert written == 8
    assert tags.metadata(written) == "x"
    assert tags.metadata(other) is None
    assert type(tags.untag(other)) is np.float64


def test_nested_taggings_stay_apart():
    outer, inner = Tagging(), Tagging(lambda operation, metadata: sum(metadata))

    def counted(x):
        return inner(lambda y: inner.metadata(math.sqrt(y * y)), inner.tag(x, 1)), x * 2

    x = outer.tag(4.0, "outer")
    count, twice = outer(counted, x)
    assert count == 2
    assert outer.metadata(twice) == "outer"
    assert inner.metadata(twice) is None
    both = inner.tag(x, 10)
    assert (outer.metadata(both + both), inner.metadata(both + both)) == ("outer", 20)
    assert outer.metadata(inner.untag(both)) == "outer"
    assert inner.metadata(outer.untag(both)) == 10


def test_metadata_is_combined_as_asked():
    seen = []

    def combine(operation, metadata):
        seen.append(operation)
        return max(metadata)

    depth = Tagging(combine)
    x, y = depth.tag(1.0, 3), depth.tag(2.0, 5)
    assert depth.metadata(depth(lambda: 2 - math.exp(x) * y)) == 5
    assert seen == [math.exp, operator.mul, operator.sub]


def test_objects_are_tagged_by_identity(tags):
    data, other = [1, 2], [1, 2]
    assert tags.tag(data, "data") is data
    assert tags.metadata(data) == "data"
    assert tags.metadata(other) is None
    assert tags.metadata(tags.untag(data)) is None
    for value in (None, True, np.bool_(True), ()):
        with pytest.raises(NotTaggable, match="cannot carry metadata"):
            tags.tag(value, "x")


def test_tables_work_beside_it(tags):
    table = MethodTable("coarse")

    @table.overlay(math.exp)
    def exp(x: float):
        return 1 + x if abs(x) < 0.1 else call_next(x)

    context = Context(table) | tags.context
    for value, wanted in ((0.05, 1.05), (1.0, math.e)):
        found = context(lambda x: math.exp(x), tags.tag(value, "x"))
        assert found == wanted
        assert tags.metadata(found) == "x"


def test_compiled_code_is_refused(tags):
    with pytest.raises(OverlayError):
        tags.context.jit(lambda x: x + 1)(1.0)


# ---- results as without metadata ----------------------------------------------------------------


class Plane:
    def __init__(self, held):
        self.held = held


CONTAINERS = {
    "list": lambda x: [x],
    "dict": lambda x: {"a": x},
    "tuple": lambda x: ([x], {"b": [x]}),
    "nested": lambda x: [[x], ([x],)],
    "array": lambda x: np.zeros(2),
}
# functions in C that return an object that was there before: of the object, and a key
RETURNING = {
    "get": lambda held, x: {x: held}.get(x),
    "get default": lambda held, x: {}.get(x, held),
    "setdefault": lambda held, x: {}.setdefault(x, held),
    "pop of a dict": lambda held, x: {x: held}.pop(x),
    "popitem": lambda held, x: {x: held}.popitem()[1],
    "pop of a list": lambda held, x: [held, x].pop(0),
    "getattr": lambda held, x: getattr(Plane(held), "held", x),
    "getattr default": lambda held, x: getattr(x, "absent", held),
    "attrgetter": lambda held, x: operator.attrgetter("held")(Plane(held)),
    "getitem": lambda held, x: operator.getitem({x: held}, x),
    "itemgetter": lambda held, x: operator.itemgetter(x)({x: held}),
    "next": lambda held, x: next(iter([held, x])),
    "next default": lambda held, x: next(iter(()), held),
    "max": lambda held, x: max([held], key=len),
    "sorted": lambda held, x: sorted([held], key=lambda each: x)[0],
    "copy of a list": lambda held, x: [held, x].copy()[0],
    "copy of a dict": lambda held, x: {"k": held, "x": x}.copy()["k"],
    "get of a context": lambda held, x: contextvars.ContextVar("held", default=held).get(
        x and held
    ),
    "popleft": lambda held, x: collections.deque([held, x]).popleft(),
    "heap": lambda held, x: heapq.heappop([(x, 1, held)])[2],
    "object array": lambda held, x: held_in_array(held).item(0),
    "reduce": lambda held, x: functools.reduce(lambda one, other: one, [held, x]),
    "iadd": lambda held, x: operator.iadd(held, type(held)()) if type(held) is list else held,
    "asarray": lambda held, x: np.asarray(held) if isinstance(held, np.ndarray) else held,
}


def held_in_array(held):
    array = np.empty(1, object)
    array[0] = held
    return array


@pytest.mark.parametrize("make", CONTAINERS.values(), ids=CONTAINERS)
@pytest.mark.parametrize("returning", RETURNING.values(), ids=RETURNING)
def test_functions_in_c_return_containers_that_were_there_before_as_they_are(returning, make):
    def program(x):
        held = make(x)
        inner = list(held.values() if isinstance(held, dict) else held)
        found = returning(held, x)
        after = list(found.values() if isinstance(found, dict) else found)
        same = isinstance(held, np.ndarray) or all(map(operator.is_, inner, after))
        return found is held and same

    for x in ("ab", 2.5):
        assert program(x)
        assert provenance(program, x).result is True


def test_what_is_written_to_containers_from_functions_in_c_is_kept():
    def grouped(words):
        groups, last, sums = {}, [], {}
        for word in words:
            groups.setdefault(word[0], []).append(word)
            groups.get(word[0], last).append(word)
            sums.setdefault(word[0], np.zeros(1))[0] += len(word)
            operator.getitem(groups, word[0]).sort()
        pair = groups.popitem()
        pair[1].append(pair[0])
        return groups, pair, {key: float(each[0]) for key, each in sums.items()}

    words = ["ab", "bb", "ac", "c"]
    found = provenance(grouped, words)
    assert found.result == grouped(words)
    assert found[0]["a"].inputs == ("words[0]", "words[2]")


def test_containers_that_functions_in_c_make_have_metadata(tags):
    text, x = tags.tag("a b\nc d", "text"), tags.tag(2.5, "x")
    for f in (
        lambda: text.split(),
        lambda: text.partition(" "),
        lambda: re.findall("[a-z]", text),
        lambda: text.splitlines(),
        lambda: divmod(text and x, 2),
        lambda: math.modf(x),
        lambda: [*json.loads(tags.tag('{"a": [1.5, 2.5]}', "text"))["a"]],
        lambda: np.array([[x]]).tolist()[0],
    ):
        assert {tags.metadata(each) for each in tags(f)} in ({"text"}, {"x"})


def test_copies_are_as_without_metadata():
    @dataclasses.dataclass
    class Record:
        value: object

    def program(x):
        shared = [x]
        made = copy.deepcopy([x, [x], {"a": x}, (x, [x]), Record(x), shared, shared])
        return made, made[5] is made[6], made[5] is shared

    for value in (2.5, "ab", 10**30, b"c"):
        assert provenance(program, value).result == program(value)


def of_numbers(x, y):
    """Values that functions in C compute from two numbers."""
    pairs, parts = [x] * 10, [x, y, 3.0]
    yield from (sum(pairs), sum(pairs, y), sum(iter(pairs), start=x), sum({x: y}.values()))
    yield from (sum(tuple(pairs)), sum(x for _ in pairs), sum([x, *pairs, Fraction(1, 3), y, x]))
    yield from (sum(iter([x, *pairs, Fraction(1, 3), y, x])), sum([1, True, x, 1j, y, *pairs]))
    yield from (
        sum([(x,), (y,)], ()),
        sum([Fraction(1, 3), x]),
        sum([], x),
        sum([np.float64(1), x]),
    )
    yield from (math.sumprod(pairs, pairs), math.sumprod(iter(pairs), tuple(pairs)))
    yield from (math.fsum(pairs), math.prod(pairs), math.dist(parts, parts[::-1]), max(parts))
    yield from (statistics.correlation([x, y, 0.3, 0.1], [*parts, x]), statistics.fmean(pairs))
    yield from (statistics.geometric_mean(parts), statistics.stdev(parts), math.hypot(*parts))
    yield from (list(itertools.accumulate(pairs)), functools.reduce(operator.add, pairs))
    yield from (
        marshal.loads(marshal.dumps(x)),
        marshal.loads(marshal.dumps([x, (y,)])),
        struct.pack("dd", x, y),
    )
    yield from (
        str(array.array("d", parts)),
        json.dumps(parts),
        f"{x:.3f} {y!r}",
    )
    yield from (datetime.timedelta(seconds=x), complex(x, y), Decimal(x), Fraction(x), round(x, 3))
    yield from (
        random.Random(x).random(),
        heapq.nsmallest(2, parts),
        bisect.bisect(sorted(parts), x),
    )
    yield from (float(np.sum(parts)), np.array(parts).tolist(), np.mean(parts).item())


def of_numpy(x, y):
    yield from (np.cross([x, 1.0, 0.0], [0.0, x, 1.0]), np.percentile([x, y], 25))
    yield from (np.quantile([[x, y], [1.0, y]], 0.3, axis=0), np.median([x, y]))
    if np.lib.NumpyVersion(np.__version__) >= "2.3.0":
        yield from (np.add(np.float64(x), y, out=...), np.modf(np.float64(x), out=...))
        yield np.add.reduce(np.array([x, y]), out=...)
    a, out = np.array([x, y]), np.zeros(2)
    yield np.modf(a, out=(out, None))
    yield np.modf(a, out=(None, out))
    given = np.add(a, 1, out=out)
    kept = out
    out += x
    yield (given is out, kept is out, np.asarray(out) is out)
    yield (np.dot(a, a, out=(single := np.zeros(()))) is single, a.take([0, 1], out=out) is out)
    yield (np.clip(a, 0, 1, out=out) is out, np.add(a, x, out) is out, kept)
    yield (np.asarray(a) is a, np.ascontiguousarray(a[:1]) is a, np.array(a, copy=None) is a)
    yield (np.asarray(a, complex) is a, np.array(a) is a, np.asarray(a[::-1]) is a)
    yield np.matmul(np.array([[x, y], [y, x]]), a, out=out) is out


@pytest.mark.parametrize("x", [0.1, 2.5, np.float64(0.7)])
@pytest.mark.parametrize("values", [of_numbers, of_numpy])
def test_functions_in_c_give_what_they_give_without_metadata(values, x):
    def program(x, y):
        return [(type(each).__name__, repr(each)) for each in values(x, y)]

    wanted = program(x, 1.7)
    found = provenance(program, x, 1.7).result
    assert found == wanted


class Reflecting(float):
    def __radd__(self, other):
        return f"{other!r} + {self!r}"


class Following(float):
    pass


def test_classes_of_operands_decide_as_without_metadata():
    def program(x, n):
        others = (np.float64(2.0), np.complex128(1j), np.int32(2), Reflecting(2.0), Following(2.0))
        pairs = [
            pair for other in others for one in (x, n, 1j) for pair in ((one, other), (other, one))
        ]
        return [
            (type(found).__name__, repr(found))
            for one, other in pairs
            for found in (one + other, one * other, one - other, one / other)
        ]

    wanted = program(2.5, 3)
    assert provenance(program, 2.5, 3).result == wanted
    both = provenance(lambda x, y: (x + y, y + x, type(x * y)), 2.5, np.float64(3.0))
    assert [type(each) for each in both.result[:2]] == [np.float64] * 2
    assert both.result[2] is np.float64
    assert both[0].inputs == both[1].inputs == ("x", "y")


def test_text_is_interned():
    def program(text):
        return sys.intern(text) + collections.namedtuple(text, "a b").__name__

    found = provenance(program, "Pair")
    assert (found.result, found.inputs) == ("PairPair", ("text",))


def test_sums_come_from_all_numbers_in_them():
    for f in (sum, lambda xs: sum(iter(xs)), lambda xs: math.sumprod(xs, iter([1.0] * 3))):
        found = provenance(lambda a, b, f=f: f([a, 1.0, b]), 0.1, 0.2)
        assert found.inputs == ("a", "b")
    mixed = provenance(lambda a, b: sum(iter([a, Fraction(1, 3), b])), 0.1, 0.2)
    assert mixed.inputs == ("a", "b")
    started = provenance(lambda a, b: sum((each for each in [1.0, b]), a), 0.1, 0.2)
    assert started.inputs == ("a", "b")


def test_sums_go_on_where_the_program_iterates():
    def program(x):
        taken = []

        def items():
            for each in (x, x, Fraction(1, 3), x):
                taken.append(type(each).__name__)
                yield each
            raise ValueError

        with contextlib.suppress(ValueError):
            sum(items())
        return taken

    assert provenance(program, 0.5).result == program(0.5)


# ---- provenance ---------------------------------------------------------------------------


def area(width, height, scale, unused):
    inside = (width - 1) * height
    if scale > 0:
        inside = inside * scale
    return inside, math.sqrt(width)


def test_where_a_result_comes_from():
    found = provenance(area, 3.0, 4.0, 2, [5.0])
    assert found.result == (16.0, math.sqrt(3))
    assert type(found.result[0]) is float
    assert found.inputs == ("height", "scale", "width")
    assert found[1].inputs == ("width",)
    first = area.__code__.co_firstlineno
    assert [line.rpartition(":")[2] for line in found[0].lines] == [str(first + 1), str(first + 3)]
    assert [one.name for one in found[0].operations] == ["sub", "mul", "mul"]
    (condition,) = found.conditions
    assert (condition.name, condition.result, condition.parts[0].name) == ("gt", True, "scale")
    shown = str(found[0]).splitlines()
    assert shown[0].startswith("#1 = sub(width)  ")
    assert shown[1].startswith("#2 = mul(#1, height)")
    assert shown[-1] == "result: #3"
    assert "because gt(scale) is True" in shown[-2]


def test_the_graph_of_a_result():
    found = provenance(colorsys.rgb_to_hls, 0.2, 0.4, 0.6)
    assert found.result == colorsys.rgb_to_hls(0.2, 0.4, 0.6)
    light = found[1]
    assert light.inputs == ("b", "r")
    assert [(str(part), one.name) for part, one in light.edges] == [
        ("b", "add"),
        ("r", "add"),
        ("#1", "truediv"),
    ]
    text = light.dot()
    assert text.startswith("digraph provenance {")
    assert text.count("->") == 3
    assert 'label="b"' in text


def test_items_of_arguments_are_inputs_of_their_own():
    found = provenance(
        lambda rows, a, *rest, k: {"s": rows["x"][1] + rest[0], "a": a[0], "k": k},
        {"x": [1, 2.0]},
        np.ones(2),
        5.0,
        k=7,
    )
    assert found["s"].inputs == ("rest[0]", "rows['x'][1]")
    assert found["a"].inputs == ("a",)
    assert found["k"].inputs == ("k",)
    assert found.result == {"s": 7.0, "a": 1.0, "k": 7}
    assert provenance(lambda x: 1.0, 2.0).inputs == ()
    slope = provenance(statistics.linear_regression, [1.0, 2.0, 3.0], [2.0, 4.0, 6.5])
    assert len(slope.inputs) == 6


def test_the_provenance_of_an_object_is_that_of_its_attributes():
    class Slotted:
        __slots__ = ("child", "value")

        def __init__(self, value):
            self.value = value
            self.child = types.SimpleNamespace(parent=self, half=value / 2)

    def program(x, y):
        return {"made": Slotted(x * y), "plain": Slotted(1.0)}

    found = provenance(program, 2.0, 3.0)
    assert found.inputs == found["made"].inputs == ("x", "y")
    assert [str(one) for one, _ in found["made"]["value"].edges] == ["x", "y"]
    assert found["made"]["child"]["half"].inputs == ("x", "y")
    assert found["plain"].inputs == ()
