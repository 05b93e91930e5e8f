"""What cannot be a kernel is refused, with the line and a remedy."""

import math
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from overlay import Context, MethodTable, NotCompilable, OverlayError, Plugin, current_context
from overlay.interpretations.autodiff import NotDifferentiable, autodiff

ROOT = Path(__file__).parents[4]
ARRAY = "float64[::1]"
AMPERE = (8, 0)

WITHOUT = """
import sys
sys.modules["numba_cuda"] = sys.modules["numba.cuda.core"] = None
from overlay import Context, NotCompilable
try:
    Context().jit(print, target="cuda")
except NotCompilable as error:
    print(error)
"""


def test_without_numba_cuda_the_extra_is_named():
    run = subprocess.run(
        [sys.executable, "-c", WITHOUT], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert "numba-cuda is not installed" in run.stdout
    assert "pip install 'overlay-dispatch[cuda]'" in run.stdout


def test_unknown_targets_and_options():
    with pytest.raises(NotCompilable, match=r'target=.rocm.(.|\n)*target="cuda"'):
        Context().jit(lambda x: x, target="rocm")
    pytest.importorskip("numba_cuda", reason="the extra 'cuda' is not installed")
    with pytest.raises(NotCompilable, match=r"parallel=True(.|\n)*fastmath"):
        Context().jit(lambda x: None, target="cuda", parallel=True)


@pytest.fixture
def gpu():
    pytest.importorskip("numba_cuda", reason="the extra 'cuda' is not installed")
    return lambda function, context=None: (context or Context()).jit(function, target="cuda")


def writes(x):
    x[0] = 1.0


def test_no_compiler_of_nvidias(gpu, monkeypatch):
    from overlay.compiled.cuda import cuda_typing as numba_cuda_typing

    monkeypatch.setattr(numba_cuda_typing, "nvvm_is_there", lambda: False)
    with pytest.raises(
        NotCompilable, match=r"libNVVM, is not installed(.|\n)*overlay-dispatch\[cuda\]"
    ):
        gpu(writes).ptx(ARRAY, AMPERE)


@pytest.mark.parametrize("capability", [(4, 2), (99, 0), (8, 0, 1)])
def test_unknown_compute_capabilities(gpu, capability):
    with pytest.raises(NotCompilable, match=r"compute capability (.|\n)*known: (.|\n)*\(8, 0\)"):
        gpu(writes).ptx(ARRAY, capability)


def test_no_gpu_at_hand(gpu, monkeypatch):
    from overlay.compiled.cuda import cuda_typing as numba_cuda_typing

    monkeypatch.setattr(numba_cuda_typing, "capability_at_hand", lambda: None)
    with pytest.raises(NotCompilable, match=r"which GPU(.|\n)*capability=\("):
        gpu(writes).ptx(ARRAY)
    with pytest.raises(OverlayError, match=r"cannot launch writes(.|\n)*NUMBA_ENABLE_CUDASIM"):
        gpu(writes)[1, 1](np.zeros(1))


def test_kernels_are_launched_and_return_nothing(gpu):
    with pytest.raises(OverlayError, match=r"is launched(.|\n)*writes\[blocks, threads\]"):
        gpu(writes)(np.zeros(1))
    with pytest.raises(NotCompilable, match=r"returns float64(.|\n)*into an array"):
        gpu(lambda x: x[0]).ptx(ARRAY, AMPERE)


def test_types_that_are_none(gpu):
    with pytest.raises(OverlayError, match=r"does not say of which types(.|\n)*float64\[:\]"):
        gpu(writes).ptx("nonsense[:]", AMPERE)


def test_host_only_calls(gpu):
    def opens(x):
        x[0] = len(input("length"))

    def solves(x):
        x[0] = helper(x)

    def helper(x):
        return np.linalg.det(x)

    for function, named in ((opens, "input"), (solves, "det")):
        with pytest.raises(NotCompilable, match="runs on the GPU") as refused:
            gpu(function).ptx(ARRAY, AMPERE)
        assert named in str(refused.value)
        assert "test_errors.py" in refused.value.where


def test_a_derivative_without_a_rule(gpu):
    def slope(x):
        x[0] = autodiff(stepped, x[0])

    def stepped(x):
        return math.nextafter(x, 1.0)

    with pytest.raises(NotDifferentiable, match=r"math.nextafter(.|\n)*partials_of") as refused:
        gpu(slope).ptx(ARRAY, AMPERE)
    assert ("called from", "slope") in [
        (label, text.split()[0].rpartition(".")[2]) for label, text in refused.value.notes
    ]


def test_state_and_contexts_of_the_running_program_stay_on_the_host(gpu):
    def counts(x):
        current_context().state[0] += 1.0

    def replaces(x):
        x[0] = current_context().replace(metadata=x[0])(math.sin, x[0])

    with pytest.raises(NotCompilable, match=r"state(.|\n)*array to the kernel as an argument"):
        gpu(counts, Context(state=np.zeros(1))).ptx(ARRAY, AMPERE)
    with pytest.raises(NotCompilable, match=r"known only at run time(.|\n)*constant"):
        gpu(replaces).ptx(ARRAY, AMPERE)


def test_plugins_in_the_optimiser(gpu):
    class Late(Plugin):
        def after_optimisation(self, module):
            return None

    class Early(Plugin):
        def before_optimisation(self, module):
            return None

    for plugin, stage in ((Late(), "after_optimisation"), (Early(), "before_optimisation")):
        with pytest.raises(NotCompilable, match=rf"{stage}(.|\n)*libNVVM(.|\n)*after_codegen"):
            gpu(writes, Context(plugins=(plugin,))).ptx(ARRAY, AMPERE)


def test_a_call_that_no_method_takes_names_the_line(gpu):
    table = MethodTable("table")

    @table.overlay(math.comb)
    def comb(n: int, k: int) -> int:
        return n

    def calls(x):
        x[0] = math.comb(x[0], 1.0)

    with pytest.raises(NotCompilable, match="comb") as refused:
        gpu(calls, Context(table)).ptx(ARRAY, AMPERE)
    assert "test_errors.py" in str(refused.value)
