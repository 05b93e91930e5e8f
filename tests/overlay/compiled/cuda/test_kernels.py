"""``ctx.jit(f, target="cuda")``: the same tables in kernels, looked at in their code, for which no
GPU is needed."""

import gc
import math
import re
import weakref

import numba
import numpy as np
import pytest

from overlay import Context, MethodTable, Plugin, call_next, current_context, nonoverlay

pytest.importorskip("numba_cuda", reason="the extra 'cuda' is not installed")
from numba import cuda, types

ARRAY = types.float64[::1]
AMPERE = (8, 0)
SEVEN, NINE = "0d401C000000000000", "0d4022000000000000"  # the numbers in PTX
SINE = "__internal_trig_reduction_slowpathd"  # what libdevice's sin needs

sevens, nines = MethodTable("sevens"), MethodTable("nines")


@sevens.overlay(math.sin)
def sin(x: float) -> float:
    return x + 7.0


@nines.overlay(math.sin)
def sin_and_nine(x: float) -> float:
    return call_next(x) + 9.0


def through_python(x):
    return math.sin(x)


@numba.njit
def through_njit(x):
    return math.sin(x)


@cuda.jit(device=True)
def through_device(x):
    return math.sin(x)


def kernel(x):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = math.sin(x[i])


def ptx(context, function, types=(ARRAY,), capability=AMPERE):
    return context.jit(function, target="cuda").ptx(types, capability)


def body(code):
    """The instructions of a kernel's PTX, with no names of functions."""
    return re.sub(r"_Z\w+", "", code[code.index(".reg") :])


def test_a_table_reaches_into_a_kernel_and_what_it_leaves_alone_is_libdevice():
    plain, overlaid = ptx(Context(), kernel), ptx(Context(sevens), kernel)
    assert SINE in plain
    assert SEVEN not in plain
    assert SEVEN in overlaid
    assert SINE not in overlaid


def test_ptx_is_for_the_capability_that_is_named():
    assert ".target sm_80" in ptx(Context(), kernel)
    assert ".target sm_90" in ptx(Context(), kernel, capability=(9, 0))


@pytest.mark.parametrize("helper", [through_python, through_njit, through_device])
def test_functions_that_a_kernel_calls_are_entered(helper):
    def calls(x):
        x[0] = helper(x[0])

    assert SEVEN in ptx(Context(sevens), calls)
    assert SEVEN not in ptx(Context(), calls)


def test_a_table_for_the_gpu_alone_is_stacked_on_the_one_for_both():
    both = Context(sevens)
    gpu = Context(sevens, nines)
    assert both.jit(through_python)(0.5) == both(through_python, 0.5) == 7.5
    code = ptx(gpu, kernel)
    assert SEVEN in code
    assert NINE in code
    assert NINE not in ptx(both, kernel)


def test_contexts_inside_a_kernel():
    inner = Context(nines)

    def entered(x):
        x[0] = inner(math.sin, x[0])

    def left(x):
        x[0] = nonoverlay(math.sin)(x[0])

    def read(x):
        x[0] = x[0] + current_context().metadata

    code = ptx(Context(sevens), entered)
    assert SEVEN in code
    assert NINE in code
    assert SINE in ptx(Context(sevens), left)
    assert SEVEN not in ptx(Context(sevens), left)
    assert SEVEN in ptx(Context(metadata=7.0), read)


def test_never_reached_table_leaves_the_code_that_numba_cuda_makes():
    def unreached(x):
        i = cuda.grid(1)
        if i < x.size:
            x[i] = x[i] * math.cos(x[i]) + 2.0

    ours = ptx(Context(sevens), unreached)
    theirs, _ = cuda.compile(unreached, types.void(ARRAY), cc=AMPERE, device=False, abi="numba")
    assert body(ours) == body(theirs)


def test_shared_memory_barriers_atomics_and_intrinsics():
    def reduces(x, total):
        shared = cuda.shared.array(32, types.float64)
        local = cuda.local.array(2, types.float64)
        i, t = cuda.grid(1), cuda.threadIdx.x
        local[t % 2] = through_python(x[i])
        shared[t] = local[t % 2]
        cuda.syncthreads()
        if t == 0:
            cuda.atomic.add(total, 0, shared[0] + shared[1])
        x[i] = cuda.shfl_sync(0xFFFFFFFF, cuda.popc(t), 0) + cuda.fma(x[i], 2.0, 1.0)

    code = ptx(Context(sevens), reduces, (ARRAY, ARRAY))
    for found in (SEVEN, ".shared", "bar.sync", "atom.", "shfl.sync", "popc", "%tid.x"):
        assert found in code, found


def test_functions_of_libdevice_are_kept_and_can_be_overlaid():
    from numba.cuda import libdevice

    fast = MethodTable("fast")

    @fast.overlay(libdevice.fast_sinf)
    def fast_sinf(x: np.float32) -> np.float32:
        return x + np.float32(7)

    def uses(x):
        x[0] = libdevice.fast_sinf(x[0])

    single = (types.float32[::1],)
    assert "sin.approx" in ptx(Context(), uses, single)
    assert "sin.approx" not in ptx(Context(fast), uses, single)
    assert "0f40E00000" in ptx(Context(fast), uses, single)


def test_operators_are_targets():
    import operator

    table = MethodTable("operators")

    @table.overlay(operator.mul)
    def mul(x: float, y: float) -> float:
        return x + 7.0

    def squares(x):
        x[0] = x[0] * x[0]

    assert SEVEN in ptx(Context(table), squares)
    assert "mul.f64" in ptx(Context(), squares)
    assert "mul.f64" not in ptx(Context(table), squares)


def test_keywords_and_defaults():
    def scaled(x, factor=7.0, *, plus):
        return x * factor + plus

    def calls(x):
        x[0] = scaled(x[0], plus=9.0)

    code = ptx(Context(), calls)
    assert SEVEN in code
    assert NINE in code


def test_recursion():
    def power(x, n):
        if n == 0:
            return 1.0
        return x * power(x, n - 1)

    def calls(x):
        x[0] = power(x[0], int(x[1]))

    assert "call" in ptx(Context(sevens), calls)


def test_kernels_of_numba_cuda_are_taken_and_kernels_of_ours_entered():
    @cuda.jit
    def theirs(x):
        x[0] = math.sin(x[0])

    ours = Context(sevens).jit(through_python, target="cuda")

    def calls(x):
        x[0] = ours(x[0])

    assert SEVEN in ptx(Context(sevens), theirs)
    assert SEVEN in ptx(Context(nines), calls)


def test_a_change_is_seen_at_the_next_compilation():
    table = MethodTable("changes")

    @table.overlay(math.sin)
    def first_sin(x):
        return x + 7.0

    def scale():
        return 2.0

    def calls(x):
        x[0] = math.sin(x[0]) * scale()

    hot = Context(table).jit(calls, target="cuda")
    first = hot.ptx((ARRAY,), AMPERE)
    assert hot.ptx((ARRAY,), AMPERE) is first

    @table.overlay(math.sin)
    def second_sin(x: float) -> float:
        return x + 9.0

    second = hot.ptx((ARRAY,), AMPERE)
    assert SEVEN in first
    assert NINE in second

    def scale():
        return 7.0

    assert SEVEN in hot.ptx((ARRAY,), AMPERE)


def test_types_may_be_numbas_pythons_or_text():
    def writes(x, factor, n):
        x[0] = factor * n

    hot = Context().jit(writes, target="cuda")
    given = (ARRAY, float, int), (ARRAY, types.float64, types.int64), "float64[::1], float64, int64"
    assert len({hot.compile(each, AMPERE) for each in given}) == 1


def test_fastmath_is_an_option():
    def divides(x):
        x[0] = x[0] / x[1]

    def code(**options):
        hot = Context().jit(divides, target="cuda", **options)
        return hot.ptx((types.float32[::1],), AMPERE)

    assert "div.rn.f32" in code()
    assert "div.approx" in code(fastmath=True)


def test_plugins_edit_functions_and_llvm():
    class SevenForCosine(Plugin):
        def after_inference(self, ir):
            for call in ir.calls(math.cos):
                ir.replace(call, sin, *call.args)

    class Watches(Plugin):
        def __init__(self):
            self.seen = []

        def after_codegen(self, module):
            self.seen.append(str(module))

    def cosine(x):
        x[0] = math.cos(x[0])

    watches = Watches()
    assert SEVEN in ptx(Context(plugins=(SevenForCosine(), watches)), cosine)
    assert any("nvptx64" in text and "cosine" in text for text in watches.seen)


def test_the_state_of_a_context_may_go_while_a_kernel_compiles():
    """A collection comes when it comes: letting a state go compiles nothing for the GPU."""

    def count(x):
        current_context().state[0] += x
        return current_context().state[0]

    class Collects(Plugin):
        def after_codegen(self, module):
            """Of a helper first, in the middle of the kernel."""
            held.clear()
            gc.collect()

    def with_helper(x):
        kernel(x)

    state = np.zeros(1)
    gone = weakref.ref(state)
    held = [Context(state=state).jit(count)]
    assert held[0](1.0) == 1.0
    del state
    gc.disable()
    try:
        ptx(Context(sevens, plugins=(Collects(),)), with_helper)
    finally:
        gc.enable()
    assert gone() is None
