"""Objects whose body is machine code that numba made, called by interpreted code in a context.

Each object in each way of calling it either means what its Python function means there, or is
told of: a strict context refuses it, the report of a counting one names it. The rest is listed in
docs/python_engine.md among the calls that are not seen.
"""

import ctypes
import functools
import itertools
import math

import numba
import numpy as np
import pytest
from numba import cfunc, guvectorize, njit, stencil, vectorize
from numba.extending import overload
from scipy import LowLevelCallable
from scipy.integrate import quad

from overlay import Context, MethodTable, NotCompilable, OverlayError

table = MethodTable("machine code")


@njit
def helper(x):
    return x * 2.0


@table.overlay(math.sin)
def sin(x: float) -> float:
    return x + 100.0


@table.overlay(helper)
def other_helper(x: float) -> float:
    return x + 1000.0


def of_one(x):
    return math.sin(x) + helper(x)


def of_two(x, y):
    return math.sin(x) + helper(y)


def elementwise(x, out):
    for i in range(len(x)):
        out[i] = math.sin(x[i]) + helper(x[i])


def sum_of_core(x, out):
    out[0] = math.sin(x[0]) + helper(x[0])


def window(a):
    return math.sin(a[0]) + helper(a[0])


def parallel_loop(a):
    out = np.zeros_like(a)
    for i in numba.prange(len(a)):
        out[i] = math.sin(a[i]) + helper(a[i])
    return out


def mapped(a):
    return [of_one(x) for x in a]


def values(result):
    return np.asarray(result, dtype=float).tolist()


def in_contexts(call, *args):
    """The result of a call in a context that counts and in a strict one; it leaves neither."""
    counting, strict = Context(table, count_calls=True), Context(table, strict=True)
    results = [values(context(call, *args)) for context in (counting, strict)]
    assert counting.report().left == strict.report().left == ()
    assert results[0] == results[1]
    return results[0]


# ---- kernels ------------------------------------------------------------------------------

A = np.array([0.5, 0.25, 2.0])


def at(kernel):
    a = A.copy()
    kernel.at(a, [0, 2], A[:2])
    return a


def filled(kernel):
    out = np.zeros(3, kernel.types[-1][-1])
    kernel(A, A, out=out)
    return out


WAYS = {
    "scalars": lambda kernel: kernel(0.5, 0.25),
    "arrays": lambda kernel: kernel(A, A),
    "broadcast": lambda kernel: kernel(A, A[:, None]),
    "out=": filled,
    "__call__": lambda kernel: kernel.__call__(A, A),
    "map": lambda kernel: list(map(kernel, A, A)),
    "partial": lambda kernel: functools.partial(kernel, 0.5)(A),
    "reduce": lambda kernel: kernel.reduce(A),
    "accumulate": lambda kernel: kernel.accumulate(A),
    "itertools.accumulate": lambda kernel: list(itertools.accumulate(A, kernel)),
    "reduceat": lambda kernel: kernel.reduceat(A, [0, 1]),
    "outer": lambda kernel: kernel.outer(A, A),
    "at": at,
    "a method that was bound before": lambda kernel: kernel.bound(A),
}


def lazy():
    kernel = vectorize(of_two)
    kernel(0.5, 0.5)  # its methods apply what it has compiled so far
    return kernel


KERNELS = {
    "declared": vectorize(["float64(float64, float64)"])(of_two),
    "lazy": lazy(),
    "reorderable": vectorize(["float64(float64, float64)"], identity="reorderable")(of_two),
}


class Bound:
    """A kernel and a method of it that was read outside the context."""

    def __init__(self, kernel):
        self.kernel, self.bound = kernel, kernel.reduce

    def __getattr__(self, name):
        return getattr(self.kernel, name)


@pytest.mark.parametrize("way", WAYS.values(), ids=WAYS)
@pytest.mark.parametrize("kernel", KERNELS.values(), ids=KERNELS)
def test_a_kernel_means_what_its_python_function_means(kernel, way):
    plain = np.frompyfunc(of_two, 2, 1)
    if way is WAYS["a method that was bound before"]:
        kernel, plain = Bound(kernel), Bound(plain)
    native = values(way(kernel))
    assert native == values(way(plain))
    found = in_contexts(way, kernel)
    assert found == values(Context(table)(way, plain)) != native
    assert values(way(kernel)) == native


def test_a_kernel_has_the_types_that_it_has_outside():
    @vectorize
    def kernel(x):
        return math.sin(x) * 0 + x

    kernel(2.0)
    assert kernel(3).dtype == Context(table)(kernel, 3).dtype == float


def returned(kernel):
    return kernel(A)


def given_by_place(kernel):
    out = np.zeros(3)
    kernel(A, out)
    return out


def given_by_name(kernel):
    out = np.zeros(3)
    kernel(A, out=out)
    return out


def of_rows(kernel):
    return kernel(np.array([A, A]))[1]


def each_in_place(kernel):
    a = A.copy()
    kernel.at(a, [0, 1, 2])
    return a


GENERALIZED = {
    "declared": guvectorize(["void(f8[:], f8[:])"], "(n)->(n)")(elementwise),
    "lazy": guvectorize("(n)->(n)")(elementwise),
    "of single items": guvectorize(["void(f8[:], f8[:])"], "()->()")(sum_of_core),
}


@pytest.mark.parametrize(
    ("name", "way"),
    [
        *itertools.product(["declared", "of single items"], [returned, of_rows]),
        *itertools.product(GENERALIZED, [given_by_place, given_by_name]),
        ("of single items", each_in_place),
    ],
)
def test_a_generalized_kernel_means_what_its_python_function_means(name, way):
    kernel = GENERALIZED[name]
    native = values(way(kernel))
    assert native == mapped(A)
    assert in_contexts(way, kernel) == Context(table)(mapped, A) != native


# ---- other functions ----------------------------------------------------------------------


def overloaded(x):
    return of_one(x)


@overload(overloaded)
def implementation(x):
    return lambda x: math.sin(x) + helper(x)


@functools.singledispatch
def of_type(x):
    return x


of_type.register(float)(njit(of_one))

CALLABLES = {
    "njit": njit(of_one),
    "njit with a signature": njit("float64(float64)")(of_one),
    "cfunc": cfunc("float64(float64)")(of_one),
    "cfunc in njit": njit(lambda x, f=cfunc("float64(float64)")(of_one): f(x)),
    "vectorize in njit": njit(lambda x, f=KERNELS["declared"]: f(x, x)),
    "overload": overloaded,
    "overload in njit": njit(lambda x: overloaded(x)),
    "singledispatch": of_type,
    "np.vectorize": np.vectorize(of_one),
    "np.vectorize of njit": np.vectorize(njit(of_one)),
    "np.frompyfunc": np.frompyfunc(of_one, 1, 1),
    "np.frompyfunc of njit": np.frompyfunc(njit(of_one), 1, 1),
}
CALLS = {
    "call": lambda f: f(0.5),
    "map": lambda f: next(map(f, [0.5])),
    "partial": lambda f: functools.partial(f, 0.5)(),
    "wrapper": lambda f: functools.wraps(of_one)(lambda x: f(x))(0.5),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("function", CALLABLES.values(), ids=CALLABLES)
def test_a_function_means_what_its_python_function_means(function, call):
    assert in_contexts(call, function) == 100.5 + 1000.5
    assert math.isclose(call(function), math.sin(0.5) + 1.0)


def test_a_function_in_object_mode_is_refused():
    function = numba.jit(forceobj=True)(of_one)
    with pytest.raises(NotCompilable, match="cannot compile of_one with nopython=False"):
        Context(table)(lambda: function(0.5))


def test_parallel_loops_and_integrands_of_quad_are_reached():
    assert in_contexts(njit(parallel=True)(parallel_loop), A) == Context(table)(mapped, A)
    callback = cfunc("float64(float64)")(of_one)
    (integral,) = in_contexts(lambda: quad(callback, 0, 1)[:1])
    assert math.isclose(integral, 1101.0)


# ---- machine code that no other can replace -------------------------------------------------


def read_ctypes(callback):
    return callback.ctypes(0.5)


def read_address(callback):
    return ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_double)(callback.address)(0.5)


def read_for_scipy(callback):
    return quad(LowLevelCallable(callback.ctypes), 0, 1)[0]


def with_out(kernel):
    out = np.zeros(3)
    kernel(A, out=out)
    return out


def windows(function):
    return stencil(function)


def callbacks(function):
    return cfunc("float64(float64)")(function)


UNSEEN = [
    *((windows, window, use) for use in (lambda kernel: kernel(A), with_out)),
    *((callbacks, of_one, use) for use in (read_ctypes, read_address, read_for_scipy)),
]


@pytest.mark.parametrize(("made", "function", "use"), UNSEEN)
def test_machine_code_that_misses_a_method_is_told(made, function, use):
    native = values(use(made(function)))
    counting, strict = Context(table, count_calls=True), Context(table, strict=True)
    assert values(counting(use, made(function))) == native
    (left,) = counting.report().left
    assert (left.handed, left.to, left.times) == (function.__name__, "machine code of numba", 1)
    assert left.where == f"tests/overlay/python/test_machine_code.py:{line_within(use)}"
    assert "handed to machine code of numba" in str(counting.report())
    with pytest.raises(OverlayError, match=f"{function.__name__} runs as machine code") as caught:
        strict(use, made(function))
    assert caught.value.where == left.where
    assert "which runs in the context" in caught.value.help


def line_within(function):
    """The line of the last call that a function writes, on its first line of code or the next."""
    lines = [line for _, _, line in function.__code__.co_lines() if line is not None]
    first = min(lines)
    if function is with_out:
        return first + 2
    return first if function.__name__ == "<lambda>" else first + 1


def even(a):
    return a[0] + a[1]


def cosine(x):
    return math.cos(x)


@pytest.mark.parametrize(
    ("made", "function", "use"),
    [(windows, even, lambda kernel: kernel(A)), (callbacks, cosine, read_ctypes)],
)
def test_machine_code_that_leads_to_no_method_is_not_told(made, function, use):
    native = values(use(made(function)))
    assert in_contexts(use, made(function)) == native
    assert values(Context(table)(use, made(function))) == native


def by_pointer(callback):
    pointer = callback.ctypes
    return lambda: pointer(0.5)


def by_scipy(callback):
    integrand = LowLevelCallable(callback.ctypes)
    return lambda: quad(integrand, 0, 1)[0]


def for_cores(kernel):
    many = vectorize(["float64(float64, float64)"], target="parallel")(of_two)
    return lambda: many(A, A)


def own_ufunc(kernel):
    inside = kernel.ufunc
    return lambda: inside(A, A)


@numba.experimental.jitclass([("value", numba.float64)])
class Held:
    def __init__(self, value):
        self.value = value

    @property
    def sine(self):
        return math.sin(self.value)


def property_of_jitclass(_):
    held = Held(0.5)
    return lambda: held.sine


@pytest.mark.parametrize(
    ("made", "of"),
    [
        *((each, CALLABLES["cfunc"]) for each in (by_pointer, by_scipy)),
        *((each, KERNELS["declared"]) for each in (for_cores, own_ufunc, property_of_jitclass)),
    ],
)
def test_machine_code_that_is_not_seen_runs_as_outside(made, of):
    call = made(of)
    assert in_contexts(call) == values(call())


def test_a_kernel_for_several_cores_can_be_a_target():
    many = vectorize(["float64(float64, float64)"], target="parallel")(of_two)
    own = MethodTable("for cores")
    own.overlay(many)(lambda x, y: "overlaid")
    assert Context(own)(lambda: many(A, A)) == "overlaid"
