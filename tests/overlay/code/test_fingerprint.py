"""Fingerprints: equal for what is compiled alike, in any process; different for anything else."""

import collections
import enum
import logging
import math
import operator
import random
import string
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from overlay.code.digest import NotHashable
from overlay.code.fingerprint import ENTERED, MENTIONED, Fingerprint


class Color(enum.Enum):
    RED = 1
    BLUE = 2


class Number(enum.IntEnum):
    ONE = 1


Point = collections.namedtuple("Point", "x y")
Place = collections.namedtuple("Place", "x y")


def digest(value, entered=True, holds=lambda value: True):
    found = Fingerprint(lambda f, n: ENTERED if entered else MENTIONED, holds=holds)
    found.value(value)
    return found.digest()


def key(value):
    """Equal for values that compiled code cannot tell apart."""
    if isinstance(value, (tuple, list)):
        return type(value), tuple(map(key, value))
    if isinstance(value, (set, frozenset)):
        return type(value), frozenset(map(key, value))
    if isinstance(value, float):
        return float, value.hex() if value == value else "nan"
    return type(value), value


scalars = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False), st.text(), st.binary()
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4),
        st.lists(inner, max_size=4).map(tuple),
        st.frozensets(scalars, max_size=4),
    ),
    max_leaves=8,
)


@given(values, values)
def test_values_have_equal_fingerprints_where_they_are_equal_and_of_equal_types(one, other):
    assert (digest(one) == digest(other)) == (key(one) == key(other))


@given(values)
def test_a_copy_has_the_same_fingerprint(value):
    code = compile(repr(value).replace("inf", "1e999"), "<copy>", "eval")
    assert digest(eval(code)) == digest(value)


ALL_DIFFERENT = [
    0, 0.0, -0.0, False, 1, 1.0, True, 1 + 0j, "1", b"1", (1,), [1], {1}, frozenset({1}), None, ...,
    (1, (2, 3)), (1, 2, 3), ((1, 2), 3), ("ab", "c"), ("a", "bc"), 10**30, 2**64, -(2**64),
    Color.RED, Color.BLUE, Number.ONE, Point(1, 2), Place(1, 2), (1, 2), slice(1), range(1),
    np.float32(1), np.float64(1), np.int8(1), np.bool_(1), np.dtype("f8"), np.dtype("<i4"),
    np.dtype([("a", "f8")]), np.dtype([("b", "f8")]), np.dtype({"names": ["a"], "formats": ["f8"],
    "offsets": [8]}),
    np.ones(2), np.ones(2, "f4"), np.ones((1, 2)), np.ones((2, 1)), np.array([1, 2.0]),
    np.ones((2, 2)), np.ones((2, 2), order="F"), np.ones((4, 4))[::2, ::2],
    math.sin, math.cos, operator.add, operator.iadd, len, int, float, Color, Point, Place, math,
    np.sin, np.cos, np.add, np.add.reduce, np.interp, np.random.rand, random.random, str.join,
    bytes.join, np.ndarray.sum,
]  # fmt: skip


def test_no_two_different_values_have_the_same_fingerprint():
    frozen = np.ones(2)
    frozen.flags.writeable = False
    found = [digest(value) for value in (*ALL_DIFFERENT, frozen)]
    assert len(set(found)) == len(found)
    assert found[:-1] == [digest(value) for value in ALL_DIFFERENT]


def test_sets_have_no_order():
    letters = list(string.ascii_letters)
    assert len({digest(frozenset(random.sample(letters, 52))) for _ in range(5)}) == 1


# ---- functions ----------------------------------------------------------------------------

SOURCE = """\
import math
K = 2.0
TEXT = "text"
def helper(x, y=1.0):
    return math.sin(x) * K + y
def program(x):
    inner = lambda z: helper(z) + {1, 2, 3}.pop()
    return inner(x) if x in {"a", "b", "c"} else TEXT
def mutual(n):
    return program(n) if n else mutual(n - 1)
"""


def names(source=SOURCE):
    namespace = {"__name__": "somewhere"}
    exec(compile(source, "<somewhere>", "exec"), namespace)
    return namespace


def of_program(source=SOURCE, name="mutual"):
    return digest(names(source)[name])


def test_the_same_source_has_the_same_fingerprint_in_any_process():
    script = "from tests.overlay.code.test_fingerprint import of_program; print(of_program())"
    printed = {
        subprocess.run(
            [sys.executable, "-c", script],
            env={**environment(), "PYTHONHASHSEED": seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for seed in ("1", "2")
    }
    assert printed == {of_program()}


def environment():
    import os

    return {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))}


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("K = 2.0", "K = 2"),
        ("K = 2.0", "K = [2.0]"),
        ('"text"', 'b"text"'),
        ("y=1.0", "y=2.0"),
        ("y=1.0", "y"),
        ("math.sin", "math.cos"),
        ("* K", "/ K"),
        ("{1, 2, 3}", "{1, 2, 4}"),
        ('"c"}', '"d"}'),
        ("mutual(n - 1)", "mutual(n - 2)"),
        ("import math", "import cmath as math"),
        ("TEXT =", "\nTEXT ="),  # errors name lines
        ("return inner(x)", "return inner(x)  + 0"),
        ("def helper(x, y", "def helper(z, y"),
        ("lambda z", "lambda w"),
    ],
)
def test_code_constants_globals_defaults_and_lines_count(old, new):
    changed = SOURCE.replace(old, new)
    assert changed != SOURCE
    assert of_program(changed) != of_program()


@pytest.mark.parametrize(
    "more", ["def other(x): return K\n", "UNUSED = 1\n", "# a comment\n", "print = 3\n"]
)
def test_what_a_function_does_not_mention_does_not_count(more):
    assert of_program(SOURCE + more) == of_program()


def test_a_builtin_that_is_hidden_counts():
    source = SOURCE.replace("* K + y", "* abs(K) + y")
    assert of_program(source + "abs = 1\n") != of_program(source)


@given(st.integers(-5, 5), st.integers(-5, 5), st.sampled_from("+-*"), st.sampled_from("+-*"))
def test_functions_are_equal_where_their_sources_are(a, b, one, other):
    def made(number, sign):
        return of_program(f"K = {number}\ndef program(x): return x {sign} K\n", "program")

    assert (made(a, one) == made(b, other)) == ((a, one) == (b, other))


def test_closures_count_by_what_they_hold():
    def make(value):
        return lambda x: x + value

    assert digest(make(1)) == digest(make(1))
    assert len({digest(make(v)) for v in (1, 1.0, True, math.sin, np.ones(1))}) == 5


def test_of_a_function_that_is_not_entered_only_the_call_counts():
    helper = {"K = 2.0": "K = 3.0"}
    for old, new in helper.items():
        one, other = names()["helper"], names(SOURCE.replace(old, new))["helper"]
        assert digest(one, entered=False) == digest(other, entered=False)
        assert digest(one) != digest(other)
    changed = names(SOURCE.replace("y=1.0", "y=2.0"))["helper"]
    assert digest(changed, entered=False) != digest(names()["helper"], entered=False)
    moved = names("\n\n" + SOURCE)["helper"]
    assert digest(moved, entered=False) == digest(names()["helper"], entered=False)


def test_what_has_no_content_is_named_with_its_place():
    thing = object()

    def program(x):
        return thing if x else logging.Logger

    with pytest.raises(NotHashable, match=r"closure variable 'thing' of .*program") as caught:
        digest(program)
    assert "builtins.object" in str(caught.value)


def test_of_what_compiled_code_cannot_hold_the_type_is_enough():
    def make(thing):
        return lambda x: thing

    def held(value):
        return not isinstance(value, (logging.Logger, object)) or isinstance(value, random.Random)

    one, other = (digest(make(logging.getLogger(n)), holds=held) for n in "ab")
    assert one == other != digest(make(object()), holds=held)
    with pytest.raises(NotHashable):
        digest(make(random.Random()), holds=held)


def test_containers_that_hold_themselves_are_refused():
    loop = [1]
    loop.append(loop)
    with pytest.raises(NotHashable, match="contains itself"):
        digest(loop)


def test_no_code_of_the_program_runs():
    class Meta(type):
        def __eq__(cls, other):
            raise AssertionError("__eq__")

        def __hash__(cls):
            raise AssertionError("__hash__")

        def __getattribute__(cls, name):
            raise AssertionError(name)

    class Thing(metaclass=Meta):
        def __getattribute__(self, name):
            raise AssertionError(name)

    thing = object.__new__(Thing)
    digest(Thing)
    with pytest.raises(NotHashable):
        digest(thing)
    assert digest((lambda: (Thing, thing),), holds=lambda value: False)
