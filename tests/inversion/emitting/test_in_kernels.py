"""Inverses that kernels call: their GPU code, run on the CPU, gives the answers of the CPU, and NaN
where there is none.
"""

import math

import numba
import numpy as np
import pytest

from inversion import invert
from overlay import Context, NotCompilable
from overlay.interpretations.autodiff import autodiff

pytest.importorskip("numba_cuda", reason="the extra 'cuda' is not installed")
from numba import cuda

from tests.overlay.compiled.cuda import gpu_code

AMPERE = (8, 0)
ARRAY = numba.float64[::1]


def tax(income: float):
    if income > 10_000:
        return 1_000 + 0.3 * (income - 10_000)
    return 0.1 * income


def bounced(x: float):
    """It compares a value that Python refuses to compute below 0."""
    if math.sqrt(x) < 2.0:
        return x
    return 1.0 / (x - 4.0)


def written(kernel, types, *args):
    compiled = Context().jit(kernel, target="cuda").compile(types, AMPERE)
    gpu_code.run(compiled, 1, len(args[0]), *args)
    return args[-1]


softplus = invert(lambda x: math.log1p(math.exp(x)), float)


def solved(y):
    return softplus(y)[0]


def test_answers_and_their_derivatives_are_nan_where_there_is_none():
    """No number has a negative softplus. (``test_gpu_check`` runs a program with root finding.)"""

    def kernel(y, out, slopes):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = solved(y[i])
            slopes[i] = autodiff(solved, y[i])

    y = np.array([1.0, 2.0, 0.2, -1.0])
    out = np.zeros(4)
    slopes = written(kernel, (ARRAY,) * 3, y, out, np.zeros(4))
    assert np.allclose(out[:3], [solved(each) for each in y[:3]], rtol=1e-14)
    assert np.allclose(slopes[:3], 1 / -np.expm1(-y[:3]), rtol=1e-12)
    assert np.isnan(out[3])
    assert np.isnan(slopes[3])


def test_arms_are_tried_in_the_order_of_theta():
    """Each thread has a record of θ; an arm without an answer gives way to the other one."""
    due = invert(tax)
    assert due.parameters.names == ("then_income",)

    def kernel(y, thetas, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = due(y[i], thetas[i])[0]

    y = np.array([500.0, 4_000.0, 2_000.0, 2_000.0])
    thetas = np.array([(True,), (False,), (True,), (False,)], dtype=due.parameters.dtype)
    types = ARRAY, numba.from_dtype(thetas.dtype)[::1], ARRAY
    out = written(kernel, types, y, thetas, np.zeros(4))
    assert np.allclose(out, [due(a, theta)[0] for a, theta in zip(y, thetas, strict=True)])


def test_what_raises_in_python_is_no_answer_on_a_gpu():
    """A GPU gives NaN for the root of a negative number, and infinity for a quotient by 0. The
    check refuses both, although the compared and returned value would be a number.
    """
    back = invert(bounced)
    first = back.parameters.default()

    def kernel(y, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = back(y[i], first)[0]

    y = np.array([3.0, 0.5, -3.0])
    out = written(kernel, (ARRAY, ARRAY), y, np.zeros(3))
    assert np.allclose(out[:2], [back(3.0, first)[0], back(0.5, first)[0]])
    assert math.isnan(out[2])


def test_loops_are_run_backwards_in_a_kernel():
    def squared(x: float):
        for _ in range(20):
            x = x * x + 0.25
        return x

    roots = invert(squared)

    def kernel(y, signs, out):
        i = cuda.grid(1)
        if i < out.size:
            out[i] = roots(y[i], (signs[i],))[0]

    x = np.array([-0.4, 0.3])
    y = np.array([squared(each) for each in x])
    signs = np.array([roots.recover(each)[0] for each in x])
    compiled = (
        Context().jit(kernel, target="cuda").compile((ARRAY, numba.boolean[:, ::1], ARRAY), AMPERE)
    )
    assert "_param_" in compiled.ptx
    assert np.allclose([roots(a, (b,))[0] for a, b in zip(y, signs, strict=True)], x)


@pytest.mark.parametrize(
    ("inverse", "why", "remedy"),
    [
        (invert(lambda n: n // 4, int), "not all floats", "call batch"),
        (invert(lambda a: a * 2.0, np.ones(3)), "has arrays", "one element"),
    ],
)
def test_what_has_no_nan_is_refused(inverse, why, remedy):
    def kernel(y):
        inverse(y[0], (0,))

    with pytest.raises(NotCompilable, match=rf"in a kernel: .*{why}(.|\n)*{remedy}"):
        Context().jit(kernel, target="cuda").ptx((ARRAY,), AMPERE)


def test_lists_of_what_turns_have_computed_are_refused():
    def halved(x: float):
        count = 0.0
        while x > 1.0:
            x = x / 2
            count += 1
        return x

    back = invert(halved)

    def kernel(y):
        y[0] = back(y[0], (True, 3))[0]

    with pytest.raises(NotCompilable, match=r"each turn of a loop(.|\n)*call batch"):
        Context().jit(kernel, target="cuda").ptx((ARRAY,), AMPERE)
