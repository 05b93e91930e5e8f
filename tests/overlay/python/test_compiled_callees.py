"""Functions compiled by numba, called by interpreted code in a context."""

import math
import operator
import threading

import numba
import numpy as np
import pytest

from overlay import Context, MethodTable, NotCompilable, call_next


@numba.njit
def compiled_helper(x):
    return math.sin(x) + 1.0


def program(x):
    return compiled_helper(x) * 2.0


def sines():
    table = MethodTable("t")

    @table.overlay(math.sin)
    def sin(x: float):
        return x * 100.0

    return table


def test_a_compiled_helper_is_compiled_under_the_context():
    ctx = Context(sines())
    assert ctx(program, 1.0) == 202.0
    assert program(1.0) == (math.sin(1.0) + 1.0) * 2.0


def test_a_function_compiled_in_another_context_stacks():
    halved = MethodTable("halved")

    @halved.overlay(math.sin)
    def sin(x: float):
        return call_next(x) / 2.0

    inner = Context(halved).jit(compiled_helper)
    assert inner(1.0) == math.sin(1.0) / 2.0 + 1.0
    assert Context(sines())(lambda: inner(1.0)) == 51.0


def test_a_compiled_method_goes_on_with_call_next():
    table = sines()

    @table.overlay(math.cos)
    @numba.njit
    def cos(x: float):
        return call_next(x) + math.sin(x)

    assert Context(table)(lambda: math.cos(1.0)) == math.cos(1.0) + 100.0


def test_such_a_method_runs_as_machine_code():
    table = MethodTable("t")

    @table.overlay(math.trunc)
    @numba.njit
    def trunc(x: int):
        return call_next(x) * x  # compiled integers have 64 bits

    assert Context(table)(lambda: math.trunc(2**40)) == 0


def test_generated_methods_that_compile_do_not_block_other_threads():
    """Both wait inside each other's way for a lock, were one held while a method is made."""
    table = MethodTable("t")
    making, compiling = threading.Event(), threading.Event()

    @table.generated(math.pow)
    def power(a: float, b: float):
        making.set()
        assert compiling.wait(30)
        made = numba.njit(lambda x, y: x + y)
        made(1.0, 1.0)
        return made

    ctx = Context(table)
    results = []
    thread = threading.Thread(
        target=lambda: results.append(ctx(lambda: math.pow(2.0, 3.0))), daemon=True
    )
    thread.start()
    assert making.wait(30)
    other = Context(sines()).jit(lambda x: math.sin(x))
    compiling.set()
    assert other(1.0) == 100.0
    thread.join(60)
    assert results == [5.0]


class OnlyInterpreted:
    """A value that numba knows nothing of."""

    __overlay_interpreted__ = True

    def __init__(self, value):
        self.value = value

    def __mul__(self, other):
        return OnlyInterpreted(self.value * other)


def test_a_helper_is_interpreted_where_it_is_given_what_only_interpreted_code_knows():
    def twice(x):
        return x * 2.0

    table = MethodTable("t")

    @table.overlay(twice)
    def thrice(x):
        return x * 3.0

    @numba.njit
    def helper(x, *others):
        return twice(x) * 2.0

    ctx = Context(table)
    assert ctx(helper, 1.0) == 6.0
    assert ctx(lambda x: helper(x), OnlyInterpreted(1.0)).value == 6.0
    assert ctx(lambda x: helper(x, 1, (x, 2)), 1.0) == 6.0
    assert ctx(lambda x: helper(1.0, 1, (x, 2)), OnlyInterpreted(1.0)) == 6.0
    assert ctx.jit(helper)(OnlyInterpreted(1.0)).value == 6.0


def test_what_compiles_a_kernel_is_no_part_of_the_program():
    swaps = sines()
    for target in (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne):

        @swaps.overlay(target)
        def swapped(x: int, y: int) -> bool:
            return not call_next(x, y)

    @numba.vectorize
    def dynamic(x, y):
        return math.sin(x) + y

    @numba.guvectorize(["void(float64[:], float64[:])"], "(n)->()")
    def declared(x, out):
        out[0] = math.sin(x[0])

    @numba.guvectorize("(n)->()")
    def general(x, out):
        out[0] = math.sin(x[0])

    def applied(f, *args):
        return f(*args)

    def compiled(x):
        return Context(sines()).jit(program)(x)

    array, out = np.arange(3.0), np.zeros(3)
    calls = {
        dynamic: (0.5, 1.0),
        dynamic.reduce: (array,),
        dynamic.outer: (array, array),
        dynamic.at: (out, np.array([0, 1]), 1.0),
        declared: (array,),
        general: (array, np.zeros(())),
        compiled_helper: (0.5,),
        compiled: (0.5,),
    }
    results = []
    for context in (Context(swaps), Context(sines())):
        out[:] = 0
        found = [np.asarray(context(applied, f, *args)).tolist() for f, args in calls.items()]
        results.append([*found, out.tolist()])
    assert results[0] == results[1]


def test_a_kernel_gets_the_types_for_which_it_is_compiled_outside_later():
    @numba.vectorize
    def dynamic(x, y):
        return math.sin(x) * y

    @numba.guvectorize("(n)->(n)")
    def general(x, out):
        for i in range(len(x)):
            out[i] = math.sin(x[i]) / 4

    def totals(a):
        return dynamic.reduce(a).tolist(), dynamic.accumulate(a).tolist()

    def sines_of(a, out):
        general(a, out)
        return out.tolist(), dynamic(3, 2)

    array, ints, context = np.array([0.5, 2.0, 3.0]), np.array([2, 3]), Context(sines())
    context(dynamic, np.float32(1.0), np.float32(1.0))
    context(general, np.zeros(1, np.float32), np.zeros(1, np.float32))
    dynamic(0.5, 2.0)
    general(array, np.zeros(3))  # numpy now casts integers to floats, and not to integers
    assert context(totals, array) == (30000.0, [0.5, 100.0, 30000.0])
    assert context(sines_of, ints, np.zeros(2)) == ([50.0, 75.0], 600.0)
    assert set(general.types) <= set(context(lambda: general.types))


def test_a_method_that_a_kernel_cannot_compile_is_named_as_in_other_code():
    table = MethodTable("t")
    table.overlay(math.sin)(lambda x: eval(str(x)))

    @numba.vectorize
    def dynamic(x):
        return math.sin(x)

    @numba.guvectorize("(n)->(n)")
    def general(x, out):
        out[0] = math.sin(x[0])

    def program(f, *args):
        return f(*args)

    array = np.ones(1)
    for f, *args in ((compiled_helper, 1.0), (dynamic, 1.0), (general, array, array)):
        with pytest.raises(NotCompilable, match="in table 't' cannot be compiled"):
            Context(table)(program, f, *args)
