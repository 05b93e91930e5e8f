"""Operators of arrays call numpy's ufuncs: methods of these are entered, in both engines."""

import operator

import numpy as np
import pytest
from numpy.typing import NDArray

from overlay import Context, MethodTable, NotCompilable, call_next
from overlay.catalogue.operator_ufuncs import UFUNCS
from overlay.core.target import INPLACE
from overlay.interpretations.autodiff import gradient
from overlay.interpretations.batching import batched

FLOATS, OTHERS = np.array([1.0, 4.0]), np.array([3.0, 2.0])
INTEGERS, SHIFTS = np.array([1, 4]), np.array([3, 2])
OF_INTEGERS = ["lshift", "rshift", "and_", "or_", "xor", "invert"]
NOT_COMPILED = (divmod, operator.abs)  # numba has no such operators of arrays
OPERATORS = {f.__name__: (f, ufunc) for f, ufunc in UFUNCS.items() if f not in NOT_COMPILED}
BINARY = [name for name, (f, ufunc) in OPERATORS.items() if ufunc.nin == 2 and name != "matmul"]
UNARY = [name for name, (f, ufunc) in OPERATORS.items() if ufunc.nin == 1]
IN_PLACE = {
    dunder.strip("_"): plain.__name__
    for plain, dunder in INPLACE.values()
    if plain not in (operator.pow, operator.matmul)
}


def operands(name):
    return (INTEGERS, SHIFTS) if name in OF_INTEGERS else (FLOATS, OTHERS)


def both(context, function, *args):
    """The result of a function in a context, which is the same in both engines."""
    interpreted = context(function, *map(np.copy, args))
    compiled = context.jit(function)(*map(np.copy, args))
    assert np.array_equal(compiled, interpreted)
    return interpreted


def overlaid(ufunc, method):
    table = MethodTable("ufuncs")
    table.overlay(ufunc)(method)
    return Context(table)


@pytest.mark.parametrize("name", BINARY)
def test_a_binary_operator_enters_the_method_of_its_ufunc(name):
    (apply, ufunc), (a, b) = OPERATORS[name], operands(name)
    context = overlaid(ufunc, lambda a, b: np.logical_not(call_next(a, b)))
    for left, right in [(a, b), (a, b[0]), (a[0], b)]:
        if name == "pow" and np.ndim(right) == 0:
            continue
        found = both(context, lambda x, y: apply(x, y), left, right)
        assert np.array_equal(found, np.logical_not(ufunc(left, right)))


@pytest.mark.parametrize("name", UNARY)
def test_a_unary_operator_enters_the_method_of_its_ufunc(name):
    (apply, ufunc), (a, _) = OPERATORS[name], operands(name)
    context = overlaid(ufunc, lambda a: call_next(a) * 10)
    assert np.array_equal(both(context, lambda x: apply(x), a), ufunc(a) * 10)


@pytest.mark.parametrize("name", IN_PLACE)
def test_an_operator_in_place_calls_its_ufunc_with_the_array_as_result(name):
    _, ufunc = OPERATORS[IN_PLACE[name]]
    apply, (a, b) = getattr(operator, name), operands(IN_PLACE[name])

    def filled(a, b, out):
        out[:] = 7
        return out

    def program(x, y):
        given = x
        x = apply(x, y)
        return given

    for right in (b, b[0]):
        assert both(overlaid(ufunc, filled), program, a, right).tolist() == [7, 7]
        without_result = overlaid(ufunc, lambda a, b: a)
        assert np.array_equal(both(without_result, program, a, right), ufunc(a, right))


def test_a_product_of_matrices_enters_the_method_of_matmul():
    context = overlaid(np.matmul, lambda a, b: a - b)
    two = np.eye(2) * 2
    assert both(context, lambda a, b: a @ b, two, np.eye(2)).tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_operators_of_operators_enter_methods_at_each():
    context = overlaid(np.add, lambda a, b: call_next(a, b) * 2)
    found = both(context, lambda a, b: (a + b) + 1.0, FLOATS, OTHERS)
    assert found.tolist() == [2 * (2 * 4.0 + 1), 2 * (2 * 6.0 + 1)]
    # numbers of arrays are no arrays: numpy calls no ufunc
    assert both(context, lambda a: a[0] + a[1], FLOATS) == 5.0


def test_a_method_of_the_operator_comes_first_and_goes_on_to_that_of_the_ufunc():
    table = MethodTable("both")
    table.overlay(np.add)(lambda a, b: call_next(a, b) * 2)

    @table.overlay(operator.add)
    def added(a: NDArray[np.float64], b: NDArray[np.float64]):
        return call_next(a, b) + 100.0

    found = both(Context(table), lambda a, b: np.subtract(a + b, 0.0), FLOATS, FLOATS)
    assert found.tolist() == [2 * (2 * 2.0 + 100), 2 * (2 * 8.0 + 100)]


def test_arrays_that_no_method_accepts_are_numpys():
    table = MethodTable("of integers")

    @table.overlay(np.add)
    def added(a: NDArray[np.int64], b: NDArray[np.int64]):
        return a

    assert both(Context(table), lambda a: a + a, FLOATS).tolist() == [2.0, 8.0]
    assert both(Context(table), lambda a: a + a, INTEGERS).tolist() == [1, 4]
    assert both(Context(table), lambda a: a**2, FLOATS).tolist() == [1.0, 16.0]


def test_a_method_that_is_added_later_is_entered():
    table = MethodTable("later")
    context = Context(table)
    compiled = context.jit(lambda a: a + a)
    assert compiled(FLOATS).tolist() == [2.0, 8.0]
    table.overlay(np.add)(lambda a, b: call_next(a, b) * 2)
    assert compiled(FLOATS).tolist() == [4.0, 16.0]
    table.remove(np.add)
    assert compiled(FLOATS).tolist() == [2.0, 8.0]


@pytest.mark.parametrize("ufunc", [np.power, np.square, np.sqrt, np.reciprocal])
def test_a_power_with_a_number_may_be_one_of_several_ufuncs_and_is_refused(ufunc):
    table = MethodTable("powers")
    table.overlay(ufunc)(lambda *args: args[0])
    for power in (lambda a: a**2, lambda a: operator.ipow(a, 2)):
        with pytest.raises(NotCompilable, match="depends on the exponent"):
            Context(table).jit(power)(FLOATS)


def summed(a):
    return np.sum(a + a)


def test_a_method_of_the_operator_that_calls_the_ufunc_is_entered_once_by_all():
    """In derivatives and batches, too, whose operators do not enter methods of ufuncs."""
    table = MethodTable("once")

    @table.overlay(np.add)
    def doubled(a, b):
        return call_next(a, b) * 2.0

    @table.overlay(operator.add)
    def added(a: np.ndarray, b):
        return np.add(a, b)

    context = Context(table)
    assert both(context, summed, FLOATS) == 20.0
    assert context(batched(summed), np.array([FLOATS, FLOATS])).tolist() == [20.0, 20.0]
    for mode in ("auto", "forward", "reverse"):
        assert context(gradient(summed, mode=mode), FLOATS).tolist() == [4.0, 4.0]
    assert context.jit(gradient(summed))(FLOATS).tolist() == [4.0, 4.0]
