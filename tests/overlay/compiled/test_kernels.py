"""Kernels of numba's own making, object-mode blocks and unrolled loops see the tables too."""

import math
import operator

import numba
import numpy as np
import pytest
from numba import cfunc, guvectorize, literal_unroll, njit, objmode, vectorize

from overlay import Context, MethodTable, NotCompilable, call_next, current_context, nonoverlay

table = MethodTable("kernels")


@table.overlay(math.sin)
def sin(x: float) -> float:
    return x + 100.0


context = Context(table)


@vectorize(["float64(float64)"])
def declared(x):
    return math.sin(x)


@vectorize
def dynamic(x, y):
    return math.sin(x) / y


@guvectorize(["void(float64[:], float64[:])"], "(n)->(n)")
def generalized(x, out):
    for i in range(len(x)):
        out[i] = math.sin(x[i])


@cfunc("float64(float64)")
def callback(x):
    return math.sin(x)


def test_vectorized_kernels_are_reached_with_scalars_and_arrays():
    def program(x, a):
        return declared(x), declared(a), dynamic(x, 2.0), dynamic(a, 2.0)

    expected = (101.0, [101.0, 102.0], 50.5, [50.5, 51.0])
    a = np.array([1.0, 2.0])
    for results in (context.jit(program)(1.0, a), context(program, 1.0, a)):
        assert [np.asarray(r).tolist() for r in results] == list(expected)


def test_a_kernel_keeps_the_types_that_it_declares_and_its_way_with_zero():
    def program(n):
        return declared(n), dynamic(1.0, 0.0)

    assert context.jit(program)(1) == (101.0, math.inf)


def test_generalized_kernels_are_reached():
    def program(a):
        out = np.zeros_like(a)
        generalized(a, out)
        return out

    a = np.array([1.0, 2.0])
    assert context.jit(program)(a).tolist() == [101.0, 102.0]
    assert context(generalized, a).tolist() == [101.0, 102.0]


def test_kernels_and_callbacks_are_targets():
    table = MethodTable("targets")
    for target in (declared, callback):

        @table.overlay(target)
        def method(x: float):
            return call_next(x) + 1000.0

    @table.overlay(generalized)
    def filled(x: np.ndarray, out: np.ndarray):
        out[:] = 7.0

    def program(x, a):
        generalized(a, a)
        return declared(x), callback(x), a[0]

    both = Context(table, *context.tables)
    assert both.jit(program)(1.0, np.zeros(2)) == (1101.0, 1101.0, 7.0)
    assert both(program, 1.0, np.zeros(2)) == (1101.0, 1101.0, 7.0)


def test_a_redefinition_is_seen_in_a_kernel():
    table = MethodTable("changing")
    table.overlay(math.sin)(lambda x: 1.0)

    def program(x):
        return declared(x)

    context = Context(table)
    hot = context.jit(program)
    assert (hot(0.5), context(program, 0.5)) == (1.0, 1.0)
    table.overlay(math.sin)(lambda x: 2.0)
    assert (hot(0.5), context(program, 0.5)) == (2.0, 2.0)


def test_callbacks_are_entered_where_they_are_called():
    def program(x):
        return callback(x)

    assert context.jit(program)(1.0) == context(program, 1.0) == 101.0


def test_a_compiled_function_called_in_a_callback_or_kernel_keeps_its_context():
    hot = context.jit(lambda x: math.sin(x))
    made = cfunc("float64(float64)")(lambda x: hot(x))
    kernel = vectorize(["float64(float64)"])(lambda x: hot(x))
    assert made.ctypes(1.0) == 101.0
    assert kernel(np.ones(2)).tolist() == [101.0, 101.0]


# ---- object mode -----------------------------------------------------------------------------


def helper(x):
    return math.sin(x)


def test_an_object_mode_block_runs_in_the_context():
    calls = Context(table, metadata="m")

    @table.overlay(operator.matmul)
    def matmul(x: float, y: float):
        return 7.0

    def program(x):
        with objmode(y="float64", m="unicode_type"):
            y = math.sin(x) + helper(x) + sum(map(math.sin, [x])) + (x @ x)
            m = current_context().metadata
        return y + math.sin(x), m

    assert calls.jit(program)(1.0) == (411.0, "m")


def test_a_change_of_a_table_is_seen_in_an_object_mode_block():
    changing = MethodTable("changing")
    changing.overlay(math.sin)(lambda x: 1.0)

    def program(x):
        with objmode(y="float64"):
            y = math.sin(x)
        return y + 1.0

    hot = Context(changing).jit(program)
    assert hot(0.5) == 2.0
    changing.overlay(math.sin)(lambda x: 5.0)
    assert hot(0.5) == 6.0


def test_call_next_in_an_object_mode_block_is_refused():
    table = MethodTable("blocks")

    @table.overlay(math.cos)
    def cos(x: float):
        with objmode(y="float64"):
            y = call_next(x)
        return y + 1.0

    with pytest.raises(NotCompilable, match="call_next in an object-mode block"):
        Context(table).jit(lambda x: math.cos(x))(1.0)


# ---- loops that numba makes something else of ------------------------------------------------


def numbered(x):
    return 0


for place, hint in enumerate((int, float, str)):

    @table.overlay(numbered)
    def method(x: hint, value=10**place):
        return value


def test_unrolled_loops_dispatch_each_item():
    def of_items(x):
        s = 0
        for item in literal_unroll((1, x, "a", "b")):
            s += numbered(item)
        return s

    def of_pairs(x):
        s = 0.0
        for item in literal_unroll((1, 2.0)):
            s += math.sin(item * x)
        return s

    for program, expected in ((of_items, 211), (of_pairs, 203.0)):
        assert context.jit(program)(1.0) == context(program, 1.0) == expected


OF_UNROLLED = {
    operator.add: "a, b",
    operator.contains: "a, b",
    operator.eq: "a, b",
    operator.getitem: "a, b",
    operator.iadd: "a, b",
    operator.lt: "a, b",
    operator.not_: "a",
    len: "a",
    range: "a",
}


def test_unrolled_loops_apply_only_the_operators_of_the_program():
    def plain(items):
        s = 0.0
        for item in literal_unroll(items):
            s += item
        return s

    def tested(items):
        s = 0.0
        for _ in range(2):
            for item in literal_unroll(items):
                if item in (2, 9) or item == 7.0 or item < 0:
                    continue
                s = s + item
        return s

    entered = np.zeros(1)
    for target, names in OF_UNROLLED.items():
        table = MethodTable(str(target))
        space = {"call_next": call_next, "entered": njit(lambda: note(1.0))}
        exec(f"def method({names}):\n    entered()\n    return call_next({names})", space)
        table.overlay(target)(space["method"])
        context = Context(table, state=entered)
        for program in (plain, tested):
            counts = []
            for run in (context.wrap(program), context.jit(program)):
                entered[:] = 0
                counts.append((run((1, 2.5, 3)), entered[0]))
            assert counts[0] == counts[1], (target, program)


def note(by):
    entered = current_context().state
    nonoverlay(fill)(entered, by)


def fill(entered, by):
    entered[0] += by


@pytest.mark.filterwarnings("ignore:First-class function type")
def test_unrolled_loops_over_functions_are_reached():
    @njit
    def other(x):
        return math.sin(x) + 1.0

    def program(x):
        s = 0.0
        for function in literal_unroll((math.sin, other, math.tan)):
            s += function(x)
        return s

    assert context.jit(program)(1.0) == context(program, 1.0) == 203.0 + math.tan(1.0)


def test_array_expressions_in_parallel_code_are_reached():
    table = MethodTable("parallel")

    @table.overlay(np.sin)
    def sine(x: np.ndarray):
        return x + 100.0

    @table.overlay(operator.mul)
    def product(x: np.ndarray, y: float):
        return x - y

    @table.overlay(numba.prange)
    def twice(n: int):
        return range(2 * n)

    def program(a):
        return np.sum(np.sin(a) * 2.0 + a)

    def count(n):
        s = 0
        for _ in numba.prange(n):
            s += 1
        return s

    with numba.parallel_chunksize(1):
        assert Context(table).jit(program, parallel=True)(np.zeros(4)) == 392.0
    assert Context(table).jit(count)(3) == Context(table)(count, 3) == 6
