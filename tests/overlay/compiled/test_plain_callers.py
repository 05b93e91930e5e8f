"""Plain ``@njit`` functions that call entries of contexts see each change behind any of these."""

import itertools
import math
import runpy
import types

import numpy as np
import pytest
from numba import njit
from numba.core import event  # noqa: TID251

from overlay import Context, MethodTable, generic

NUMBER = 3  # of contexts
ORDERS = list(itertools.permutations(range(NUMBER + 3)))


def module_of(source):
    """A function ``read`` of a module of its own."""
    module = types.ModuleType("read")
    exec(source, vars(module))
    return module


# ---- kinds of words: each gives a function, and what sets the number that it reads ----------


def of_global():
    module = module_of("value = 0.0\ndef read(): return value")
    return module.read, lambda number: setattr(module, "value", number)


def of_hidden_builtin():
    module = module_of("def read(): return abs(-1.0)")

    def change(number):
        exec(f"def abs(x): return {number}", vars(module))

    return module.read, change


def of_closure():
    value = 0.0

    def read():
        return value

    def change(number):
        nonlocal value
        value = number

    return read, change


def of_code():
    module = module_of("def helper(): return 0.0\ndef read(): return helper()")

    def change(number):
        module.helper.__code__ = module_of(f"def helper(): return {number}").helper.__code__

    return module.read, change


def of_defaults():
    module = module_of("def helper(x=0.0): return x\ndef read(): return helper()")
    return module.read, lambda number: setattr(module.helper, "__defaults__", (number,))


def of_module_attribute():
    other = module_of("value = 0.0")
    module = module_of("def read(): return other.value")
    vars(module)["other"] = other
    return module.read, lambda number: setattr(other, "value", number)


def of_array():
    array = np.zeros(2)
    module = module_of("def read(): return array[1]")
    vars(module)["array"] = array
    return module.read, lambda number: array.__setitem__(1, number)


def of_generic():
    @generic
    def asked(x: float) -> float:
        return 0.0

    def read():
        return asked(1.0)

    def change(number):
        module = module_of(f"def asked(x: float) -> float: return {number}")
        asked.dispatch(module.asked)

    return read, change


def of_inlined():
    module = module_of("value = 0.0\ndef helper(): return value\ndef read(): return helper()")
    vars(module)["helper"] = njit(inline="always")(module.helper)
    return module.read, lambda number: setattr(module, "value", number)


KINDS = [
    of_global,
    of_hidden_builtin,
    of_closure,
    of_code,
    of_defaults,
    of_module_attribute,
    of_array,
    of_generic,
    of_inlined,
]


class Walk:
    """Entries of several contexts, each of which reads one word; and plain functions over them."""

    def __init__(self, kind):
        self.numbers = [0.0] * NUMBER
        self.changes = []
        self.entries = []
        for place in range(NUMBER):
            read, change = kind()
            module = module_of("def entry(x): return read() + x")
            vars(module)["read"] = read
            table = MethodTable(f"table {place}")
            table.overlay(math.sin)(lambda x: x)
            self.entries.append(Context(table).jit(module.entry))
            self.changes.append(change)
            self.change(place, 1.0)
        first, second, third = self.entries

        @njit
        def near(x):
            return first(x) + 10.0 * second(x)

        @njit
        def far(x):
            return near(x) + 100.0 * third(x)

        @njit("float64(float64)")
        def declared(x):
            return second(x) + 10.0 * third(x)

        self.callables = [*self.entries, near, far, declared]

    def change(self, place, number):
        self.numbers[place] = number
        self.changes[place](number)

    def expected(self, place):
        one, two, three = self.numbers
        return [one, two, three, one + 10 * two, one + 10 * two + 100 * three, two + 10 * three][
            place
        ]

    def check(self, order):
        for place in order:
            assert self.callables[place](0.0) == self.expected(place), place

    def check_new_caller(self):
        """A caller that numba compiles now."""
        first, second, third = self.entries
        near, declared = self.callables[NUMBER], self.callables[-1]

        @njit
        def new(x):
            return first(x) + second(x) + third(x) + near(x) + declared(x)

        expected = sum(map(self.expected, (0, 1, 2, 3, 5)))
        assert (new(0.0), new(0.0)) == (expected, expected)


def walked(kind, orders):
    walk = Walk(kind)
    walk.check(ORDERS[0])
    for number, order in enumerate(orders, 2):
        for place in range(NUMBER) if number % 4 == 0 else (number % NUMBER,):
            walk.change(place, float(number))
        if number % 3 == 0:
            walk.check_new_caller()
        walk.check(order)


@pytest.mark.parametrize("kind", KINDS)
def test_callers_of_several_contexts_see_each_change_in_whatever_order_they_are_called(kind):
    walked(kind, ORDERS[7 :: len(ORDERS) // 5])


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_callers_see_each_change_in_many_orders(kind):
    walked(kind, ORDERS[::13])


@pytest.mark.parametrize("at", ["on_start", "on_end"])
def test_a_change_while_a_caller_is_compiled_is_seen_by_the_next_call(at):
    walk = Walk(of_global)
    first, second, _ = walk.entries

    @njit
    def inner(x):
        return second(x)

    @njit
    def outer(x):
        return first(x) + inner(x)

    class Changing(event.Listener):
        def on_start(self, event):
            self.change("on_start", event)

        def on_end(self, event):
            self.change("on_end", event)

        def change(self, now, event):
            if now == at and event.data["dispatcher"] is inner:
                walk.change(0, 5.0)
                assert first(0.0) == 5.0  # which retires the code that is being linked

    with event.install_listener("numba:compile", Changing()):
        outer(0.0)
    assert outer(0.0) == 6.0
    walk.change(0, 7.0)
    assert (outer(0.0), inner(0.0)) == (8.0, 1.0)


def test_a_declared_caller_that_no_longer_compiles_says_so_until_it_does():
    module = module_of("value = 1.0\ndef read(x): return value + x")
    entry = Context(MethodTable("one")).jit(module.read)

    @njit(["float64(float64)", "float64(int64)"])
    def declared(x):
        return entry(x)

    module.value = "text"
    for _ in range(2):
        with pytest.raises(Exception, match="add"):
            declared(1.0)
    module.value = 2.0
    assert (declared(1.0), declared(1)) == (3.0, 3.0)
    assert len(declared.signatures) == 2


def test_numba_stores_no_caller_on_disk_since_it_does_not_know_what_entries_depend_on(tmp_path):
    path = tmp_path / "cached.py"
    path.write_text("""
from numba import njit
value = 1.0
def read(x): return value + x
def caller_of(entry, plain):
    @njit(cache=True)
    def caller(x): return entry(x)
    @njit(cache=True)
    def other(x): return plain(x)
    return caller, other
""")
    for value in (1.0, 2.0):
        module = runpy.run_path(str(path))
        namespace = module["read"].__globals__
        namespace["value"] = value
        entry = Context(MethodTable("one")).jit(module["read"])
        caller, other = module["caller_of"](entry, njit(lambda x: x))
        assert (caller(1.0), other(1.0)) == (value + 1.0, 1.0)
        namespace["value"] = 5.0
        assert caller(1.0) == 6.0
    assert [name.name for name in tmp_path.rglob("*.nbi") if "other" in name.name]
    assert not [name.name for name in tmp_path.rglob("*.nbi") if "locals.caller" in name.name]
