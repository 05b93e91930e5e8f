"""Reverse derivatives in kernels: gradients that are added to arrays that a kernel has."""

import math
import re

import numpy as np
import pytest

from overlay import Context, MethodTable
from overlay.interpretations.autodiff import NotDifferentiable, add_gradient, autodiff
from overlay.kernels import local_array

pytest.importorskip("numba_cuda", reason="the extra 'cuda' is not installed")
from numba import cuda, types

AMPERE = (8, 0)
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


def compiled(kernel, types=NETS, context=None):
    return (context or Context()).jit(kernel, target="cuda").compile(types, AMPERE)


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
        (gradient_as_array, r"(?s)kernels make none.*add_gradient\(f, \(x, d_x\)\)"),
        (through_unknown_length, r"(?s)kernels make none.*constant length"),
        (through_arrays, r"(?s)kernels make none.*test_reverse\.py:\d+.*local_array"),
        (forwards_through_memory, r"(?s)local array.*add_gradient"),
    ],
)
def test_what_needs_new_memory_is_refused_with_a_remedy(kernel, says):
    with pytest.raises(NotDifferentiable, match=says):
        compiled(kernel, "float64[::1]")
