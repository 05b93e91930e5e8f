"""What else is a body of the program: parts of a jitclass, implementations given with
``@overload``, and numba's own where that is asked for."""

import math
import operator
import random
from typing import NamedTuple

import numba
import numpy as np
import pytest
from numba.experimental import jitclass
from numba.extending import overload
from numba.typed import Dict, List

from overlay import Context, MethodTable, NotCompilable, call_next

table = MethodTable("entering")


@table.overlay(math.sin)
def sin(x: float) -> float:
    return x + 100.0


context = Context(table)


@jitclass([("x", numba.float64)])
class Wave:
    def __init__(self, x, times=1.0):
        self.x = math.sin(x) * times

    @property
    def height(self):
        return math.sin(self.x)

    @height.setter
    def height(self, x):
        self.x = math.sin(x)

    @staticmethod
    def of(x):
        return math.sin(x)

    def __add__(self, other):
        return math.sin(self.x + other.x)

    def __iadd__(self, other):
        self.x = math.sin(other)
        return self

    def __neg__(self):
        return math.sin(1.0)

    def __getitem__(self, i):
        return math.sin(i * 1.0)

    def __setitem__(self, i, x):
        self.x = math.sin(x)

    def __contains__(self, x):
        return math.sin(x) > 10.0

    def __len__(self):
        return int(math.sin(1.0))

    def __bool__(self):
        return math.sin(1.0) > 10.0


def test_constructors_and_properties_of_jitclasses_are_reached():
    def program(x):
        wave = Wave(x)
        made = wave.x, Wave(x, times=2.0).x, wave.height, wave.of(x)
        wave.height = x
        return made, wave.x

    assert context.jit(program)(1.0) == ((101.0, 202.0, 201.0, 101.0), 101.0)


def test_operators_of_jitclasses_are_reached():
    def program(x, i):
        wave = Wave(x)
        found = wave + wave, -wave, wave[1], wave[i], x in wave, len(wave), 1 if wave else 2
        wave[i] = 2.0
        stored = wave.x
        wave += 3.0
        return found, stored, wave.x

    found, stored, added = context.jit(program)(1.0, 1)
    assert found == (302.0, 101.0, 101.0, 101.0, True, 101, 1)
    assert (stored, added) == (102.0, 103.0)


def test_the_constructor_of_a_jitclass_is_a_target():
    table = MethodTable("constructor")

    @table.overlay(Wave)
    def further(x: float):
        return call_next(x + 10.0)

    def program(x):
        return Wave(x).x

    assert Context(table, *context.tables).jit(program)(1.0) == 111.0


def library_function(x):
    return math.sin(x)


@overload(library_function)
def _implementation(x):
    if isinstance(x, numba.types.Float):
        return lambda x: math.sin(x) + 1.0
    return lambda x: -1.0


def test_implementations_given_with_overload_are_reached():
    def program(x, n):
        return library_function(x), library_function(n)

    assert context.jit(program)(1.0, 1) == (102.0, -1.0)


def test_numbas_own_implementations_are_entered_where_that_is_asked_for():
    table = MethodTable("additions")
    counted = MethodTable("never")

    @table.overlay(operator.add)
    def add(x: float, y: float):
        return 1000.0

    def interpolate(x, a):
        return np.interp(x, a, a)

    a = np.array([0.0, 1.0, 2.0])
    assert Context(table).jit(interpolate)(0.5, a) == 0.5
    assert Context(table).jit(interpolate, enter_numba=True)(0.5, a) == 1000.0
    assert Context(counted).jit(interpolate, enter_numba=True)(0.5, a) == 0.5


# ---- containers of numba's own ---------------------------------------------------------------


def kind(x):
    return 0


@table.overlay(kind)
def kind_of_list(x: List):
    return 1


@table.overlay(kind)
def kind_of_dict(x: Dict):
    return 2


@table.overlay(kind)
def kind_of_plain_list(x: list):
    return 3


def test_typed_containers_are_matched_by_their_classes():
    def program(x):
        return kind(x)

    items, table = List([1.0]), Dict.empty(numba.int64, numba.float64)
    for value, expected in ((items, 1), (table, 2), (1.0, 0)):
        assert context.jit(program)(value) == context(program, value) == expected
    assert context.jit(lambda x: kind([x]))(1.0) == 3


def test_methods_and_subscripts_of_containers_are_reached():
    table = MethodTable("containers")

    @table.overlay(List.append)
    def append(items: List, x: float):
        call_next(items, x + 10.0)

    @table.overlay(dict.get)
    def get(d: dict, key: int, default: float):
        return call_next(d, key, default) + 5.0

    @table.overlay(operator.getitem)
    def getitem(d: dict, key: int):
        return call_next(d, key) + 100.0

    def program(items, x):
        items.append(x)
        d = {1: x}
        return items[0], d.get(1, 0.0), d.get(2, 0.5), d[1]

    empty = List.empty_list(numba.float64)
    assert Context(table).jit(program)(empty, 1.0) == (11.0, 6.0, 5.5, 101.0)


def test_values_that_iterators_give_are_dispatched():
    def program(items, d):
        s = 0.0
        for x in items:
            s += math.sin(x)
        for key, value in d.items():
            s += math.sin(value) * key
        for i, (x, y) in enumerate(zip(items, items)):  # noqa: B905
            s += math.sin(x) + y + i
        return s

    items, d = List([1.0, 2.0]), Dict.empty(numba.int64, numba.float64)
    d[2] = 3.0
    assert context.jit(program)(items, d) == context(program, items, d) == 616.0


def test_targets_that_make_iterators_are_reached():
    table = MethodTable("iterators")

    @table.overlay(range)
    def twice(n: int):
        return call_next(2 * n)

    @table.overlay(next)
    def further(it):
        return call_next(it) + 5.0

    def program(n, a):
        it = iter(a)
        return len([i for i in range(n)]), next(it) + next(it)  # noqa: C416

    assert Context(table).jit(program)(3, np.ones(3)) == (6, 12.0)


def test_unpacked_results_are_those_of_the_method():
    table = MethodTable("pairs")

    @table.overlay(kind)
    def pair(x: float):
        return (x, (x + 1.0, 2))

    def program(x):
        first, (second, third) = kind(x)
        return first, second, third

    assert Context(table).jit(program)(1.0) == Context(table)(program, 1.0) == (1.0, 2.0, 2)


class Amount(NamedTuple):
    value: float

    def __bool__(self):
        return self.value > 1


def test_the_truth_of_a_named_tuple_is_what_its_class_says():
    def tested(x):
        amount = Amount(x)
        if amount:
            return 1
        return 2 if not amount else 3

    compiled = context.jit(tested)
    assert [compiled(2.0), compiled(0.5)] == [tested(2.0), tested(0.5)] == [1, 2]


@pytest.mark.parametrize(
    ("target", "program"),
    [
        (random.Random.uniform, lambda: random.uniform(1.0, 2.0)),
        (np.random.RandomState.rand, lambda: np.random.rand()),
    ],
)
def test_methods_of_what_a_module_has_bound_to_an_object_are_not_passed_over(target, program):
    bound = MethodTable("bound")
    bound.overlay(target)(lambda *args: 5.0)
    assert Context(bound)(program) == 5.0
    with pytest.raises(
        NotCompilable, match="is overlaid, and is called as a bound method of an object"
    ) as caught:
        Context(bound).jit(program)()
    assert "test_entering.py" in str(caught.value)
    assert 0.0 <= context.jit(program)() <= 2.0  # where nothing overlays it
