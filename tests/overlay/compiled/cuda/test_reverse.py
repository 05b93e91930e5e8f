"""Reverse derivatives in kernels: gradients that are added to arrays that a kernel has."""

import math
import re

import numpy as np
import pytest

from overlay import Context, MethodTable
from overlay.interpretations.autodiff import (
    NotDifferentiable,
    add_gradient,
    add_shared_gradient,
    autodiff,
)
from overlay.kernels import atomic_add, local_array

pytest.importorskip("numba_cuda", reason="the extra 'cuda' is not installed")
from numba import cuda, types

from tests.overlay.compiled.cuda import gpu_code

AMPERE, BLACKWELL = (8, 0), (10, 0)
HIDDEN = 4
NETS = "float64[:, :, ::1], float64[::1], float64[::1]"


def network(w, x):
    hidden = local_array(HIDDEN)
    for j in range(HIDDEN):
        hidden[j] = math.tanh(w[0, j] * x + w[1, j])
    out = 0.0
    for j in range(HIDDEN):
        out += w[2, j] * hidden[j]
    return out


def loss(w, x, y):
    return (network(w, x) - y) ** 2


def descend(w, d_w, x, y):
    """One step down the gradient of the loss over all examples."""
    d_w[:] = 0.0
    for k in range(x.size):
        add_gradient(loss, (w, d_w), x[k], y[k])
    for r in range(3):
        for j in range(HIDDEN):
            w[r, j] -= 0.05 * d_w[r, j]


def train(weights, x, y):
    i = cuda.grid(1)
    if i < weights.shape[0]:
        descend(weights[i], cuda.local.array((3, HIDDEN), types.float64), x, y)


def descend_by_hand(w, d_w, x, y):
    d_w[:] = 0.0
    for k in range(x.size):
        hidden = local_array(HIDDEN)
        out = 0.0
        for j in range(HIDDEN):
            hidden[j] = math.tanh(w[0, j] * x[k] + w[1, j])
            out += w[2, j] * hidden[j]
        change = 2.0 * (out - y[k])
        for j in range(HIDDEN):
            d_w[2, j] += change * hidden[j]
            below = change * w[2, j] * (1.0 - hidden[j] * hidden[j])
            d_w[1, j] += below
            d_w[0, j] += below * x[k]
    for r in range(3):
        for j in range(HIDDEN):
            w[r, j] -= 0.05 * d_w[r, j]


def train_by_hand(weights, x, y):
    i = cuda.grid(1)
    if i < weights.shape[0]:
        descend_by_hand(weights[i], cuda.local.array((3, HIDDEN), types.float64), x, y)


def compiled(kernel, types=NETS, context=None, capability=AMPERE):
    return (context or Context()).jit(kernel, target="cuda").compile(types, capability)


def count(kernel, pattern):
    return len(re.findall(pattern, kernel.ptx))


def test_a_network_is_trained_by_reverse_mode_in_a_kernel():
    """The adjoint is in the kernel, each network's gradient in its thread's registers or local
    memory; nothing is called that makes memory. The CPU runs the same step."""
    kernel = compiled(train)
    names = [f.name for f in kernel.functions]
    assert any(name.startswith("adjoint_of_loss") for name in names)
    assert not re.search(r"call|malloc|NRT", kernel.ptx)
    x = np.linspace(-1, 1, 8)
    w = np.random.default_rng(1).normal(size=(3, HIDDEN))
    by_hand, ours = w.copy(), w.copy()
    step = Context().jit(descend)
    for _ in range(20):
        descend_by_hand(by_hand, np.zeros_like(w), x, x**2)
        step(ours, np.zeros_like(w), x, x**2)
    assert np.allclose(ours, by_hand, rtol=1e-12)
    assert not np.allclose(ours, w, rtol=1e-2)


def test_it_computes_and_stores_what_an_adjoint_by_hand_does():
    """As many stores to memory, and about as many operations: what is known of the slope of tanh
    is its value there."""
    made, hand = compiled(train), compiled(train_by_hand)
    stores = r"st\.(global|local)?\.?(v2\.)?[fbu]64"
    assert count(made, stores) <= count(hand, stores) + 2
    assert count(made, r"(mul|add|sub|fma|div)[.\w]*f64") <= 1.5 * count(
        hand, r"(mul|add|sub|fma|div)[.\w]*f64"
    )


def test_what_a_loop_of_constant_length_carries_is_kept_in_local_memory():
    def recurrent(w, x):
        state = 0.0 * x
        for _ in range(50):
            state = math.tanh(w[0] * state + w[1] * x)
        return state

    def kernel(w, d_w):
        add_gradient(recurrent, (w, d_w), 0.5)

    assert ".local" in compiled(kernel, "float64[::1], float64[::1]").ptx


def test_tables_reach_what_is_differentiated_in_reverse():
    table = MethodTable("table")

    @table.overlay(math.tanh)
    def tanh(x: float) -> float:
        return x

    kernel = compiled(train, context=Context(table))
    assert any(f.name.startswith("adjoint_of_loss") for f in kernel.functions)

    def slopes(w, d_w, x, y):
        add_gradient(loss, (w, d_w), x, y)

    w, x, y = np.random.default_rng(1).normal(size=(3, HIDDEN)), 0.4, 0.1
    found = np.zeros_like(w)
    Context(table).jit(slopes)(w, found, x, y)
    hidden = w[0] * x + w[1]  # the network is linear there
    change = 2 * (w[2] @ hidden - y)
    assert np.allclose(found, change * np.array([w[2] * x, w[2], hidden]))


def of_unknown_length(w, n):
    y = w[0]
    for _ in range(n):
        y = y * w[0]
    return y


def of_arrays(w):
    return (w * w)[0]


def with_memory(x):
    held = local_array(2)
    held[0] = x
    return held[0] * x


def gradient_as_array(w):
    w[0] = autodiff(of_arrays, w)[0]


def through_unknown_length(w):
    d_w = cuda.local.array(1, types.float64)
    add_gradient(of_unknown_length, (w, d_w), int(w[0]))


def through_arrays(w):
    d_w = cuda.local.array(1, types.float64)
    add_gradient(of_arrays, (w, d_w))


def forwards_through_memory(w):
    w[0] = autodiff(with_memory, w[1])


@pytest.mark.parametrize(
    ("kernel", "says"),
    [
        (
            gradient_as_array,
            r"(?s)creates an array, which kernels cannot.*add_gradient\(f, \(x, d_x\)\)",
        ),
        (through_unknown_length, r"(?s)creates an array, which kernels cannot.*constant length"),
        (
            through_arrays,
            r"(?s)creates an array, which kernels cannot.*test_reverse\.py:\d+.*local_array",
        ),
        (forwards_through_memory, r"(?s)local array.*add_gradient"),
    ],
)
def test_what_needs_new_memory_is_refused_with_a_remedy(kernel, says):
    with pytest.raises(NotDifferentiable, match=says):
        compiled(kernel, "float64[::1]")


# ---- threads that add to one array --------------------------------------------------------


def line(w, x):
    return w[0] * x + w[1]


def squares(w, x):
    total = 0.0
    for k in range(w.shape[0]):
        total += w[k] * w[k] * x
    return total


def rows(w, x):
    row = w[:2]
    return row[0] * row[1] * x


def by_number(s, x):
    return math.exp(s * x)


@pytest.mark.parametrize("function", [line, squares, rows])
def test_additions_to_a_shared_gradient_are_atomic_and_right(function):
    """Compiled for the CPU, which runs one thread after the other; the threads share ``d_w``."""

    def slopes(w, d_w, x):
        add_shared_gradient(function, (w, d_w), x[cuda.grid(1)])

    kernel = compiled(slopes, "float64[::1], float64[::1], float64[::1]")
    assert "atom.global.add.f64" in kernel.ptx
    stored = re.findall(r"st\.global", kernel.ptx)
    assert not stored  # nothing else writes to memory that threads share
    w, x = np.array([0.5, -1.5, 2.0]), np.linspace(1.0, 2.0, 6)
    found, right = np.zeros(3), np.zeros(3)
    gpu_code.run(kernel, 2, 3, w, found, x)
    for each in x:
        add_gradient(function, (w, right), each)
    assert np.allclose(found, right, rtol=1e-14)
    assert right.any()


def test_a_shared_gradient_by_a_number():
    def slopes(s, d_s, x):
        add_shared_gradient(by_number, (s[0], d_s), x[cuda.grid(1)])

    kernel = compiled(slopes, "float64[::1], float64[::1], float64[::1]")
    assert "atom.global.add.f64" in kernel.ptx
    assert "st.global" not in kernel.ptx
    x, found = np.linspace(0.0, 1.0, 4), np.zeros(1)
    gpu_code.run(kernel, 1, 4, np.array([0.5]), found, x)
    assert math.isclose(found[0], np.sum(x * np.exp(0.5 * x)), rel_tol=1e-14)


def test_an_atomic_sum_is_that_of_the_gpu():
    def counted(x, out):
        atomic_add(out, 0, x[cuda.grid(1)])

    kernel = compiled(counted, "float64[::1], float64[::1]")
    assert "atom.global.add.f64" in kernel.ptx
    found = np.zeros(1)
    gpu_code.run(kernel, 2, 2, np.array([1.0, 2.0, 3.0, 4.0]), found)
    assert found[0] == 10.0


def counted_by_numba(x, out):
    cuda.atomic.add(out, 0, x[cuda.grid(1)])


def gradient_of_line(x, out):
    add_shared_gradient(line, (x, out), 2.0)


@pytest.mark.parametrize("number", ["float32", "float64"])
@pytest.mark.parametrize("capability", [AMPERE, BLACKWELL, (12, 0)])
def test_atomic_sums_are_compiled_for_all_gpus(capability, number):
    """libNVVM refuses numba-cuda's own form of them from compute capability 10.0 on."""
    short = number.replace("loat", "")
    kernel = compiled(counted_by_numba, f"{number}[::1], {number}[::1]", capability=capability)
    assert re.search(rf"atom\S*\.add\.{short}", kernel.ptx)
    found = np.zeros(1, number)
    gpu_code.run(kernel, 2, 2, np.array([1.0, 2.0, 3.0, 4.0], number), found)
    assert found[0] == 10.0


@pytest.mark.parametrize("capability", [AMPERE, BLACKWELL])
def test_a_shared_gradient_is_right_for_all_gpus(capability):
    kernel = compiled(gradient_of_line, "float64[::1], float64[::1]", capability=capability)
    found = np.zeros(2)
    gpu_code.run(kernel, 1, 3, np.array([5.0, 7.0]), found)
    assert found.tolist() == [6.0, 3.0]


def whole_array_shared(w):
    add_shared_gradient(lambda w: np.sum(w), (w, w))


def test_a_whole_array_with_a_shared_gradient_is_refused_with_a_remedy():
    with pytest.raises(NotDifferentiable, match=r"(?s)several threads.*by its elements"):
        compiled(whole_array_shared, "float64[::1]")
