"""What an AD plugin and a GPU target need of a compiler that both extend, R1 to R18, each looked
for in the code of kernels."""

import contextvars
import math
import re

import numpy as np
import pytest

from overlay import Context, MethodTable, NotCompilable, Plugin, current_context
from overlay.interpretations.autodiff import (
    autodiff,
    differentiation,
    partials_of,
)
from overlay.kernels import CompiledKernel

pytest.importorskip("numba_cuda", reason="the extra 'cuda' is not installed")
from numba import cuda

AMPERE = (8, 0)
TWO = "float64[::1], float64[::1]"
SEVEN, NINE = "0d401C000000000000", "0d4022000000000000"  # the numbers in PTX
AD = "interpretations/autodiff"  # where the rules of derivatives stand


def compiled(function, context=None, types=TWO, **options):
    return (context or Context()).jit(function, target="cuda", **options).compile(types, AMPERE)


def operations(kernel):
    """The instructions on float64 in a kernel's PTX, sorted, without their operands."""
    return sorted(re.findall(r"^\s+(\w[\w.]*\.f64)\s", kernel.ptx, re.MULTILINE))


def wave(x):
    return math.sin(x)


def response(x):
    return x * x * wave(x)


def slopes(x, out):
    i = cuda.grid(1)
    out[i] = autodiff(response, x[i])


def values(x, out):
    i = cuda.grid(1)
    out[i] = response(x[i])


def slopes_by_hand(x, out):
    i = cuda.grid(1)
    y = x[i]
    out[i] = 2 * y * math.sin(y) + y * y * math.cos(y)


sevens, nines = MethodTable("sevens"), MethodTable("nines")


@sevens.overlay(wave)
def wave_of_seven(x):
    return x * 7.0


@nines.overlay(wave)
def wave_of_nine(x: float) -> float:
    return x * 9.0


def test_r1_one_source_resolves_differently_on_cpu_and_gpu():
    """The constant of the GPU's method is in PTX; the CPU gives the other method's value."""
    cpu, gpu = Context(sevens), Context(sevens, nines)
    assert cpu.jit(response)(1.0) == 7.0
    code = compiled(values, gpu).ptx
    assert NINE in code
    assert SEVEN not in code


def test_r2_double_extension():
    """Inside ``autodiff`` its rules hold over the user's table: both are among the functions of
    the kernel. Outside, none of the rules is, and the instructions are those without AD."""
    derived, plain = compiled(slopes, Context(sevens)), compiled(values, Context(sevens))
    assert any(AD in f.where for f in derived.functions)
    assert SEVEN in derived.ptx
    assert not any(AD in f.where for f in plain.functions)

    def both(x, out):
        out[0] = response(x[0])
        out[1] = autodiff(response, x[0])

    both = compiled(both, Context(sevens))
    # response stands there twice: for numbers, and for numbers with their derivatives
    types = {f.types[0].split("_")[0] for f in both.functions if f.name == "response"}
    assert types == {"float64", "Dual0"}


def test_r3_autodiff_in_a_kernel_is_the_host_s_source():
    """The derivative is as many instructions as the one by hand, and the host's is right."""
    assert operations(compiled(slopes)) == operations(compiled(slopes_by_hand))
    host = Context().jit(lambda x: autodiff(response, x))
    assert math.isclose(host(0.5), math.sin(0.5) + 0.25 * math.cos(0.5))


def test_r4_no_scope_is_entered_on_the_host():
    """The call in the kernel is enough: compiled in an empty context, with no context active."""
    in_nothing = contextvars.Context()
    kernel = in_nothing.run(compiled, slopes, Context())
    assert any(AD in f.where for f in kernel.functions)
    assert operations(kernel) == operations(compiled(slopes_by_hand))


def test_r5_configuration_is_a_constant_or_an_error():
    """Metadata are a literal in PTX; metadata of the running program are refused."""

    def constant(x, out):
        out[0] = x[0] * current_context().metadata[0]

    def of_the_program(x, out):
        out[0] = current_context().replace(metadata=x[0])(math.sin, x[0])

    assert SEVEN in compiled(constant, Context(metadata=(7.0, "scale"))).ptx
    with pytest.raises(NotCompilable, match="known only at run time"):
        compiled(of_the_program)


class Records(Plugin):
    """Notes each stage with the function that it saw."""

    def __init__(self, notes, name):
        self.notes = notes
        self.name = name

    def before_inference(self, ir):
        self.notes.append((self.name, "before_inference", ir.name.rpartition(".")[2]))

    def after_inference(self, ir):
        self.notes.append((self.name, "after_inference", ir.name.rpartition(".")[2]))

    def after_codegen(self, module):
        (defined,) = [f.name for f in module.functions if not f.is_declaration]
        self.notes.append((self.name, "after_codegen", defined))


def test_r7_a_stage_before_anything_else():
    """It sees the calls of the source, with no types known, and what it puts in is compiled."""

    class Before(Plugin):
        def before_inference(self, ir):
            for call in ir.calls(math.sin):
                assert call.types is None
                ir.replace(call, wave_of_seven, *call.args)

    assert SEVEN in compiled(values, Context(plugins=(Before(),))).ptx


def test_r8_symbols_are_mapped_to_functions_and_signatures():
    """Each function that LLVM defines for the program is in the map, with file, line and types."""
    kernel = compiled(slopes)
    defined = re.findall(r'^define .*@"?([\w.$]+)"?\(', "\n".join(kernel.llvm), re.MULTILINE)
    ours = {f.symbol: f for f in kernel.functions}
    assert set(ours) <= set(defined)
    assert len(ours) == len(kernel.functions)
    first = ours[kernel.symbol]
    assert (first.name, first.types[-1]) == ("slopes", "none")
    assert re.search(r"test_requirements\.py:\d+", first.where)


def test_r9_stages_run_in_declared_order():
    """Of each stage, first the plugin declared first; the other way round when swapped."""
    for names in (("one", "two"), ("two", "one")):
        notes = []
        compiled(values, Context(plugins=tuple(Records(notes, name) for name in names)))
        for stage in ("before_inference", "after_inference", "after_codegen"):
            seen = [(name, function) for name, each, function in notes if each == stage]
            assert seen
            assert [name for name, _ in seen] == list(names) * (len(seen) // 2)
            assert [f for _, f in seen[::2]] == [f for _, f in seen[1::2]]


def helper(x):
    return wave(x)


def test_r10_hooks_of_inference_and_inlining():
    """A call is inferred as single precision, and is converted in PTX; a function that the plugin
    wants to see is called, where it is inlined without the plugin."""

    class Single(Plugin):
        def infer(self, call):
            return np.float32 if call.target is helper else None

    class Kept(Plugin):
        def inline(self, call):
            return False if call.target is helper else None

    def calls(x, out):
        out[0] = helper(x[0])

    plain = compiled(calls, Context(sevens))
    assert "cvt.rn.f32.f64" not in plain.ptx
    assert "call.uni" not in plain.ptx
    assert "cvt.rn.f32.f64" in compiled(calls, Context(sevens, plugins=(Single(),))).ptx
    kept = compiled(calls, Context(sevens, plugins=(Kept(),))).ptx
    assert re.search(r"call\.uni.*\n.*\n?.*helper", kept)


def test_r11_code_asks_for_the_configuration_and_folds():
    """Of two branches one is in PTX, and there is no branch."""

    def chooses(x, out):
        if current_context().metadata == "seven":
            out[0] = x[0] * 7.0
        else:
            out[0] = x[0] * 9.0

    code = compiled(chooses, Context(metadata="seven")).ptx
    assert SEVEN in code
    assert NINE not in code
    assert "bra" not in code


def test_r12_nested_compilation_takes_target_and_flags():
    """A helper's division, and that in a derivative, are approximate where the kernel's are."""

    def divides(x):
        return x / (x + np.float32(1))

    def kernel(x, out):
        out[0] = divides(x[0]) + autodiff(divides, x[1])

    single = "float32[::1], float32[::1]"
    exact, fast = compiled(kernel, types=single), compiled(kernel, types=single, fastmath=True)
    assert "div.rn.f32" in exact.ptx
    assert "div.approx" not in exact.ptx
    assert "div.rn.f32" not in fast.ptx
    assert "div.approx" in fast.ptx


def test_r13_second_and_third_derivatives():
    """The cube is compiled for duals of one level, and of duals of duals; the host has 6x and 6."""

    def cube(x):
        return x * x * x

    def slope(x):
        return autodiff(cube, x)

    def curvature(x):
        return autodiff(slope, x)

    def second(x, out):
        out[0] = curvature(x[0])

    def third(x, out):
        out[0] = autodiff(curvature, x[0])

    def deepest(kernel):
        return max(f.types[0].count("Dual") for f in kernel.functions if f.name.endswith("cube"))

    assert deepest(compiled(second)) >= 3
    assert deepest(compiled(third)) > deepest(compiled(second))
    host = Context()
    assert host.jit(curvature)(2.0) == 12.0
    assert host.jit(lambda x: autodiff(curvature, x))(2.0) == 6.0


@pytest.mark.parametrize("function", [math.sin, math.tanh])
def test_third_derivatives_of_functions_of_math_are_compiled(function):
    def slope(x):
        return autodiff(function, x)

    def curvature(x):
        return autodiff(slope, x)

    def third(x, out):
        out[0] = autodiff(curvature, x[0])

    assert "st.global" in compiled(third).ptx


def test_r14_functions_that_the_derivative_needs_are_there():
    """The program never mentions the cosine; its derivative calls libdevice's."""
    text = "\n".join(compiled(slopes).llvm)
    assert "@__nv_cos" in text.replace('"', "")
    assert "@__nv_cos" not in "\n".join(compiled(values).llvm).replace('"', "")


def test_r15_intrinsics_in_inner_functions_are_lowered():
    """The thread's index, asked for inside what is differentiated, is read from its register and
    no call is left."""

    def inner(x):
        return x * x * cuda.threadIdx.x

    def kernel(x, out):
        out[0] = autodiff(inner, x[0])

    kernel = compiled(kernel)
    assert "%tid.x" in kernel.ptx
    assert "call" not in kernel.ptx
    assert any(f.name.endswith("inner") for f in kernel.functions)


def test_r16_options_are_part_of_the_key():
    """The same function with another option, capability or metadata is other code; with the
    same, it is the same object."""

    def kernel(x, out):
        out[0] = x[0] / x[1] + current_context().metadata

    def code(capability=AMPERE, metadata=1.0, **options):
        hot = Context(metadata=metadata).jit(kernel, target="cuda", **options)
        return hot.ptx("float32[::1], float32[::1]", capability)

    found = [code(), code(fastmath=True), code((9, 0)), code(metadata=2.0)]
    assert len(set(found)) == 4
    assert code() == found[0]


def test_r17_compiled_kernels_are_text():
    """What is read back is equal, and no address stands in it."""
    kernel = compiled(slopes)
    assert CompiledKernel.from_bytes(kernel.to_bytes()) == kernel
    assert not re.search(rb"(at |at_20)0x", kernel.to_bytes())


def test_r18_redefined_rules_are_compiled_anew():
    """The constant of a rule that is redefined, and of a method that is differentiated."""
    rules, table = MethodTable("rules"), MethodTable("table")

    def step(x, out):
        out[0] = autodiff(stepped, x[0])

    def stepped(x):
        return math.nextafter(x, 1.0)

    def code():
        return differentiation(rules).jit(step, target="cuda").ptx(TWO, AMPERE)

    @rules.overlay(partials_of(math.nextafter))
    def of_seven(x, y):
        return x * 7.0, 0.0

    @table.overlay(wave)
    def other_of_seven(x):
        return x * x * 7.0

    hot = Context(table).jit(slopes, target="cuda")
    assert SEVEN in code()
    assert SEVEN in hot.ptx(TWO, AMPERE)

    @rules.overlay(partials_of(math.nextafter))
    def of_nine(x, y):
        return x * 9.0, 0.0

    @table.overlay(wave)
    def other_of_nine(x):
        return x * x * 9.0

    assert NINE in code()
    assert NINE in hot.ptx(TWO, AMPERE)
