"""Programs of Enzyme.jl's tests and issues (EnzymeAD/Enzyme.jl), and of the package that
GPUCompiler.jl precompiles with it, written again in Python."""

import contextvars
import importlib.util
import json
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from overlay import Context, MethodTable, NotCompilable, current_context
from overlay.interpretations.autodiff import (
    add_gradient,
    autodiff,
    derivative,
    differentiation,
    gradient,
    partials_of,
)

ROOT = Path(__file__).parents[2]
NEEDS_CUDA = pytest.mark.skipif(
    importlib.util.find_spec("numba_cuda") is None, reason="the extra 'cuda' is not installed"
)
TWO = "float64[::1], float64[::1]"


def ptx(function, context=None, types=TWO, **options):
    return (context or Context()).jit(function, target="cuda", **options).ptx(types, (8, 0))


# ---- test/cuda.jl: kernels that differentiate ----------------------------------------------------

SIMULATED = """
import json, math
import numpy as np
from numba import cuda
from overlay import Context
from overlay.interpretations.autodiff import add_gradient, autodiff

def square(x):
    return x * x

def kernel_of(f):
    def kernel(a, d_a):
        i = cuda.threadIdx.x
        if i < a.size:
            d_a[i] *= autodiff(f, a[i])
    return kernel

def relu_layer(w, b, features):
    total = 0.0
    for k in range(features.size):
        total += w[k] * features[k]
    total += b[0]
    return total if total > 0.0 else 0.0

def dense(w, d_w, b, features):
    i = cuda.threadIdx.x
    add_gradient(relu_layer, (w[i], d_w[i]), b, features[i])

found = {}
for name, f in (("mul", square), ("exp", math.exp), ("cos", math.cos)):
    a, d_a = np.ones(8), np.ones(8)
    Context().jit(kernel_of(f), target="cuda")[1, 8](a, d_a)
    found[name] = d_a.tolist()
a = np.arange(1.0, 9.0)
d_a, twice = np.ones(8), 3 * np.ones(8)
for seed in (d_a, twice):
    Context().jit(kernel_of(square), target="cuda")[1, 8](a, seed)
found["seeds"] = [d_a.tolist(), twice.tolist()]
w, features = np.ones((2, 3)), np.array([[1.0, 2.0, 3.0], [-1.0, -2.0, -3.0]])
d_w = np.zeros((2, 3))
Context().jit(dense, target="cuda")[1, 2](w, d_w, np.zeros(1), features)
found["dense"] = d_w.tolist()
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def simulated():
    """What the kernels give, each thread run by numba's simulator."""
    done = subprocess.run(
        [sys.executable, "-c", SIMULATED],
        capture_output=True,
        text=True,
        cwd=ROOT,
        env={**os.environ, "NUMBA_ENABLE_CUDASIM": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(
    ("name", "expected"), [("mul", 2.0), ("exp", math.e), ("cos", -math.sin(1.0))]
)
def test_a_derivative_that_a_kernel_takes_is_right_in_each_thread(simulated, name, expected):
    """R3: mul_kernel, exp_kernel, cos_kernel"""
    assert simulated[name] == pytest.approx([expected] * 8)


def test_several_seeds_of_a_kernel(simulated):
    """Reverse Kernel, with one seed and with two"""
    squares = [2 * x for x in range(1, 9)]
    assert simulated["seeds"] == [squares, [3 * x for x in squares]]


def test_a_dense_layer_with_a_rectifier(simulated):
    """Issue 367, DDense: the gradient by the weights of each sample, none where it is cut off"""
    assert simulated["dense"] == [[1.0, 2.0, 3.0], [0.0, 0.0, 0.0]]


def wave(x):
    return math.sin(x) * x


def slopes(x, out):
    out[0] = autodiff(wave, x[0])


@NEEDS_CUDA
def test_a_kernel_has_what_its_derivative_needs_with_no_scope_on_the_host():
    """R4, R14: the cosine is compiled though the program names the sine alone"""
    kernel = contextvars.Context().run(Context().jit, slopes, target="cuda")
    compiled = kernel.compile(TWO, (8, 0))
    assert "__nv_cos" in "".join(compiled.llvm)

    def plain(x, out):
        out[0] = wave(x[0])

    assert "__nv_cos" not in "".join(Context().jit(plain, target="cuda").compile(TWO, (8, 0)).llvm)


@NEEDS_CUDA
def test_a_constant_of_the_configuration_folds_and_one_of_the_program_is_refused():
    """R5, R11, issue 358: a size that is known when the kernel is compiled"""

    def sized(x, out):
        n = current_context().metadata
        if n > 5:
            out[0] = x[0] * 7.0
        else:
            out[0] = x[0] * 9.0

    text = ptx(sized, Context(metadata=10))
    assert "0d401C000000000000" in text
    assert "0d4022000000000000" not in text
    assert not re.search(r"\bbra\b", text)

    def of_the_program(x, out):
        out[0] = current_context().replace(metadata=x[0])(math.sin, x[0])

    with pytest.raises(NotCompilable, match="known only at run time"):
        ptx(of_the_program)


@NEEDS_CUDA
def test_flags_of_the_kernel_hold_in_the_derivative():
    """R12: a division in what is differentiated is approximate where the kernel's are"""

    def ratio(x):
        return x / (x + np.float32(1))

    def kernel(x, out):
        out[0] = autodiff(ratio, x[0])

    single = "float32[::1], float32[::1]"
    assert "div.rn.f32" in ptx(kernel, types=single)
    assert "div.rn.f32" not in ptx(kernel, types=single, fastmath=True)


# ---- test/core/deferred.jl, higher derivatives ---------------------------------------------------


def slope_of_sine(x):
    return autodiff(math.sin, x)


def test_a_derivative_of_a_derivative_on_the_host():
    """R13, gradsin: the same function serves on the host, where deferred calls were an error"""
    second = Context().jit(lambda x: autodiff(slope_of_sine, x))
    assert second(3.1) == pytest.approx(-math.sin(3.1))
    third = Context().jit(lambda x: autodiff(lambda y: autodiff(slope_of_sine, y), x))
    assert third(3.1) == pytest.approx(-math.cos(3.1))
    assert derivative(slope_of_sine)(3.1) == pytest.approx(-math.sin(3.1))


@NEEDS_CUDA
def test_a_second_derivative_in_a_kernel():
    """R13, issue 2189: a ratio of a function and its slope, differentiated once more"""

    def total(b):
        return (b - 2.0 * b) + (3.0 * b - b)

    def inner(b):
        return total(b) / (autodiff(total, b) * b)

    def kernel(x, out):
        out[0] = autodiff(inner, x[0])

    assert "st.global" in ptx(kernel)
    host = Context().jit(lambda b: autodiff(inner, b))
    assert host(2.0) == pytest.approx(0.0, abs=1e-12)


def dot_of_two(a):
    return a[0] * a[0] + a[1] * a[1]


def test_the_gradient_of_an_array_with_its_value():
    """deferred.jl: the host's entry point"""
    assert gradient(dot_of_two)(np.array([3.0, 5.0])) == pytest.approx([6.0, 10.0])

    def step(a, d_a):
        add_gradient(dot_of_two, (a, d_a))

    d_a = np.zeros(2)
    Context().jit(step)(np.array([3.0, 5.0]), d_a)
    assert d_a == pytest.approx([6.0, 10.0])


def test_what_is_constant_needs_no_room_for_its_derivative():
    """Issue 2689: res = x + theta, differentiated by theta alone"""

    def loss(theta, x):
        total = 0.0
        for i in range(x.size):
            total += x[i] + theta[i]
        return total

    x, theta, d_theta = np.ones(4), np.ones(4), np.zeros(4)
    Context().jit(lambda t, d, x: add_gradient(loss, (t, d), x))(theta, d_theta, x)
    assert (d_theta == 1.0).all()
    assert (x == 1.0).all()


# ---- rules ---------------------------------------------------------------------------------------


def squared(x):
    return x**2


def test_a_rule_that_is_defined_after_a_derivative_was_taken_is_seen():
    """R18, issue 696: 12 was expected after the rule, 2 came"""
    rules = MethodTable("rules")
    compiled = differentiation(rules).jit(lambda x: autodiff(squared, x))
    assert compiled(1.0) == 2.0

    @rules.overlay(partials_of(squared))
    def rule(x):
        return (10.0 + 2 * x,)

    assert compiled(1.0) == 12.0


@pytest.mark.parametrize("order", [1, 2])
def test_a_rule_holds_for_a_function_that_is_small_enough_to_be_inlined(order):
    """R10, issues 1795 and 1874: with a deliberate error in the rule, it shows at each order"""
    rules = MethodTable("rules")

    @rules.overlay(partials_of(squared))
    def wrong(x):
        return (3 * x,)

    def cosine(x):
        return math.cos(squared(x))

    def slope(x):
        return autodiff(cosine, x)

    context, x = differentiation(rules), 0.5
    if order == 1:
        found = context.jit(slope)(x)
        expected = -math.sin(x * x) * 3 * x
    else:
        found = context.jit(lambda x: autodiff(slope, x))(x)
        expected = -math.cos(x * x) * (3 * x) ** 2 - math.sin(x * x) * 3
    assert found == pytest.approx(expected)


# ---- test/EnzymeTest.jl of GPUCompiler.jl --------------------------------------------------------

PACKAGE = """
import sys
from overlay import Context
from overlay.interpretations.autodiff import autodiff

def f1(x):
    return x * x

def wrapper(x):
    return autodiff(f1, x)

hot = Context().jit(wrapper, cache=sys.argv[1])
print(hot(1.0), sum(hot.stats.cache_hits.values()), sum(hot.stats.cache_misses.values()))
"""


def test_a_derivative_that_was_compiled_is_loaded_by_another_process(tmp_path):
    """R17"""
    (tmp_path / "package.py").write_text(PACKAGE)

    def run():
        done = subprocess.run(
            [sys.executable, str(tmp_path / "package.py"), str(tmp_path / "cache")],
            capture_output=True,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.split()

    assert run() == ["2.0", "0", "1"]
    assert run() == ["2.0", "1", "0"]
