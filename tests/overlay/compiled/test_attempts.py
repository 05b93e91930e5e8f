"""Calls that are tried: the same in plain Python, in a context, compiled, and in a kernel."""

import math

import numba
import numpy as np
import pytest

from overlay import Context, MethodTable
from overlay.kernels import attempted


def wave(x):
    return math.sin(x)


def root(x):
    if x < 1.0:
        raise ValueError("too small")
    return math.sqrt(x), wave(x)


def tried(x):
    return attempted(root, x)


table = MethodTable("sevens")
table.overlay(wave)(lambda x: x * 7.0)


def test_a_call_that_ends_gives_what_it_gives_in_the_context():
    context = Context(table)
    assert tried(4.0) == (True, (2.0, math.sin(4.0)))
    assert context(tried, 4.0) == context.jit(tried)(4.0) == (True, (2.0, 28.0))


def test_one_that_raises_gives_nothing():
    assert tried(0.5) == Context(table)(tried, 0.5) == (False, None)
    hot = Context(table).jit(tried)
    assert [hot(0.5), hot(4.0), hot(0.5)] == [(False, (0.0, 0.0)), hot(4.0), (False, (0.0, 0.0))]


@pytest.mark.parametrize("inline", ["never", "always"])
def test_in_a_kernel_zeros_stand_for_what_has_raised(inline):
    """Also where the function that raises becomes part of its caller."""
    pytest.importorskip("numba_cuda", reason="the extra 'cuda' is not installed")
    from numba import cuda

    from tests.overlay.compiled.cuda import gpu_code

    helper = numba.njit(inline=inline)(root)

    def kernel(x, out):
        i = cuda.grid(1)
        ended, (first, second) = attempted(helper, x[i])
        out[i] = first + second + (100.0 if ended else -100.0)

    hot = Context(table).jit(kernel, target="cuda")
    out = np.zeros(2)
    gpu_code.run(hot.compile((numba.float64[::1],) * 2, (8, 0)), 1, 2, np.array([4.0, 0.5]), out)
    assert out.tolist() == [130.0, -100.0]
