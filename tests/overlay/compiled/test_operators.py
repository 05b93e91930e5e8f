"""Operators of a program are calls of the functions of ``operator``; what else numba writes for
an instruction is not."""

import math
import operator

import numpy as np

from overlay import Context, MethodTable, call_next


def both(context, function, *args):
    """What a function gives under the context, the same in both engines."""
    compiled = context.jit(function)(*args)
    assert compiled == context(function, *args)
    return compiled


def test_every_binary_operator_and_comparison_is_reached():
    names = ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lt", "le", "eq", "ne"]
    names += ["gt", "ge"]
    table = MethodTable("binary")
    for place, name in enumerate(names):
        value = place + 1000.0

        @table.overlay(getattr(operator, name))
        def method(x: float, y: float, value=value):
            return value

    def program(x, y):
        return (
            *(x + y, x - y, x * y, x / y, x // y, x % y, x**y),
            *(x < y, x <= y, x == y, x != y, x > y, x >= y),
        )

    assert both(Context(table), program, 3.0, 2.0) == tuple(i + 1000.0 for i in range(13))


def test_every_integer_operator_is_reached():
    names = ["lshift", "rshift", "and_", "or_", "xor"]
    table = MethodTable("integer")
    for place, name in enumerate(names):
        value = place + 1000

        @table.overlay(getattr(operator, name))
        def method(x: int, y: int, value=value):
            return value

    def program(x, y):
        return x << y, x >> y, x & y, x | y, x ^ y

    assert both(Context(table), program, 3, 2) == tuple(i + 1000 for i in range(5))


def test_unary_operators_are_reached():
    table = MethodTable("unary")
    table.overlay(operator.neg)(lambda x: 1000)
    table.overlay(operator.pos)(lambda x: 2000)
    table.overlay(operator.invert)(lambda x: 3000)
    table.overlay(operator.not_)(lambda x: 4000)  # the language makes a bool of it

    def program(x):
        return -x, +x, ~x, not x

    assert both(Context(table), program, 3) == (1000, 2000, 3000, True)


def test_in_place_falls_back_to_the_plain_operator_of_the_same_table():
    add, iadd, outer = MethodTable("add"), MethodTable("iadd"), MethodTable("outer")
    add.overlay(operator.add)(lambda x, y: 1.0)
    iadd.overlay(operator.iadd)(lambda x, y: 2.0)
    outer.overlay(operator.iadd)(lambda x, y: 3.0)

    def program(x, y):
        x += y
        return x

    assert both(Context(add), program, 5.0, 6.0) == 1.0
    assert both(Context(iadd), program, 5.0, 6.0) == 2.0
    assert both(Context(iadd, add), program, 5.0, 6.0) == 1.0
    assert both(Context(outer, iadd), program, 5.0, 6.0) == 2.0


def test_in_place_of_a_mutable_value_does_not_fall_back():
    add = MethodTable("add")

    @add.overlay(operator.add)
    def method(x: np.ndarray, y: float):
        return x

    def program(a):
        a += 1.0
        return a.sum()

    assert Context(add).jit(program)(np.zeros(3)) == 3.0


subscripts = MethodTable("subscripts")


@subscripts.overlay(operator.getitem)
def getitem_of_tuple(pair: tuple[int, float], i: int):
    return -1


@subscripts.overlay(operator.getitem)
def getitem_of_array(a: np.ndarray, i: int):
    return call_next(a, i) + 1000.0


@subscripts.overlay(operator.setitem)
def setitem_of_array(a: np.ndarray, i: int, value: float):
    call_next(a, i, value * 2)


@subscripts.overlay(operator.contains)
def contains(pair: tuple, x: int):
    return 7


@subscripts.overlay(operator.not_)
def not_(x: bool):
    return True


def test_subscripts_are_reached_and_unpacking_is_not():
    def program(a):
        pair = (1, 2.0)
        first, second = pair
        a[0] = 5.0
        a[1] += 1.0
        return pair[0], first, second, a[0], a[1], (1, "x")[1], a[:1].sum()

    compiled = Context(subscripts).jit(program)(np.zeros(3))
    assert compiled == Context(subscripts)(program, np.zeros(3))
    assert compiled == (-1, 1, 2.0, 1010.0, 3002.0, "x", 10.0)


def test_in_and_not_in_are_contains_and_no_negation():
    def program(x):
        return x in (1, 2), x not in (1, 2), not x

    assert both(Context(subscripts), program, 5) == (True, False, False)


def test_formatting_and_starred_displays_are_no_additions():
    table = MethodTable("add")
    table.overlay(operator.add)(lambda x, y: -1)

    def program(name, n):
        return f"{name}: {n}", (*(n, n), *(n,)), n + n

    assert both(Context(table), program, "n", 3) == ("n: 3", (3, 3, 3), -1)


def test_the_counter_of_an_array_display_is_no_addition():
    table = MethodTable("add")

    @table.overlay(operator.add)
    def add(x: int, y: int) -> int:
        return 0

    def program(n):
        return np.array([math.sqrt(i + 1) for i in range(n)]).sum()

    assert Context(table).jit(program)(4) == 0.0


def test_a_method_of_array_is_entered_beside_methods_of_the_operators_that_fill_it():
    for target in (operator.add, operator.sub, operator.setitem):
        table = MethodTable("beside")
        table.overlay(target)(lambda *given: call_next(*given))
        table.overlay(np.array)(lambda items: call_next(items) * 2.0)

        def program(n):
            return np.array([float(i) for i in range(n)]).sum(), np.array([1.0, n]).sum()

        assert both(Context(table), program, 3) == (6.0, 8.0)


def test_an_operator_that_no_method_accepts_is_numbas_own():
    table = MethodTable("other")
    for name in ("add", "iadd", "pow", "getitem", "setitem", "mul"):

        @table.overlay(getattr(operator, name))
        def method(x: str, *rest):
            return x

    def program(a, b):
        c = a + b * a
        c[0] = 7.0
        c += a
        mixed = (1, "two", 3.0)
        return c[0] ** 2, c.sum(), mixed[0] + mixed[2], mixed[1]

    a = np.arange(3.0)
    assert Context(table).jit(program)(a, a) == program(a, a)
