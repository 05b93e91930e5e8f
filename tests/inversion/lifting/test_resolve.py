"""The relation of a call: the shortcut by exact types finds the same one as dispatch."""

import itertools
import operator
import subprocess
import sys
from inspect import Parameter
from numbers import Real
from typing import Any

import numpy as np
import pytest

from inversion.lifting.resolve import Resolver
from overlay import Context, MethodTable
from overlay.core.dispatch import MethodChain, by_types
from primitives import base_relations, relation, relation_of

KINDS = (float, int, bool, np.int64, complex, np.uint64)


@pytest.mark.parametrize("count", [1, 2])
def test_every_relation_is_the_one_that_dispatch_finds(count):
    targets = [target for target in base_relations.targets() if base_relations.find(target)]
    found = 0
    for kinds in itertools.product(KINDS if count == 1 else KINDS[:4], repeat=count):
        call = by_types(kinds)
        resolver = Resolver(None)
        for target in targets:
            method = MethodChain.of(target, (base_relations,)).resolve(call)
            wanted = None if method is None else method.function(*kinds)
            assert resolver.relation(target.function, kinds, base=True) is wanted
            found += wanted is not None
    assert found > 100


def another_sum():
    return relation(
        operator.add, float, float, "return = a + b",
        a=lambda ret, b: ret - b, b=lambda ret, a: ret - a,
    )  # fmt: skip


@pytest.mark.parametrize("hint", [Parameter.empty, Any, object, Real, float | int])
def test_a_method_for_any_types_is_left_to_dispatch(hint):
    table = MethodTable("sums")
    wide, narrow = another_sum(), another_sum()

    def of_any(a, b):
        return wide

    if hint is not Parameter.empty:
        of_any.__annotations__ = {"a": hint, "b": hint}
    table.generated(relation_of(operator.add))(of_any)

    resolver = Resolver(Context(table))
    assert resolver.relation(operator.add, (float, float), base=False) is wide
    assert resolver.relation(operator.add, (int, int), base=False) is wide

    @table.generated(relation_of(operator.add))
    def of_floats(a: float, b: float):
        return narrow

    resolver = Resolver(Context(table))
    assert resolver.relation(operator.add, (float, float), base=False) is narrow
    assert resolver.relation(operator.add, (int, int), base=False) is wide


def giving(made):
    def of_floats(a: float, b: float):
        return made

    return of_floats


def test_a_later_method_takes_the_place_of_one_for_the_same_types():
    table = MethodTable("sums")
    first, second = another_sum(), another_sum()
    for made in (first, second):
        table.generated(relation_of(operator.add))(giving(made))
    assert Resolver(Context(table)).relation(operator.add, (float, float), base=False) is second


PROGRAM = """
import math, sys
from inversion import invert
print(invert(lambda x: 2 * math.exp(x + 1) - 3, float)(2 * math.exp(1.5) - 3)[0])
print([name for name in ("plum", "beartype") if name in sys.modules])
"""


def test_a_program_of_floats_is_inverted_without_loading_what_dispatches():
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True, timeout=120
    )
    answer, loaded = run.stdout.splitlines()
    assert float(answer) == pytest.approx(0.5)
    assert loaded == "[]"
