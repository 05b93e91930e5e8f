"""Programs of GPUCompiler.jl's tests and pull requests (JuliaGPU/GPUCompiler.jl), written again in
Python: what a plugin, and a target that another extends, ask of a compiler."""

import importlib.util
import math
import re

import pytest

from overlay import Context, MethodTable, NotCompilable, Plugin
from overlay.interpretations.autodiff import autodiff

NEEDS_CUDA = pytest.mark.skipif(
    importlib.util.find_spec("numba_cuda") is None, reason="the extra 'cuda' is not installed"
)
AMPERE = (8, 0)
TWO = "float64[::1], float64[::1]"
FORTY_TWO, SEVEN = "0d4045000000000000", "0d401C000000000000"  # the numbers in PTX


def kernel_of(function, context=None, types=TWO, **options):
    return (context or Context()).jit(function, target="cuda", **options).compile(types, AMPERE)


def foo():
    return 0.0


def bar(x, out):
    out[0] = x[0] + foo()


on_gpu = MethodTable("on a GPU")
on_gpu.overlay(foo)(lambda: 42.0)


@NEEDS_CUDA
def test_a_call_is_another_one_in_kernels_alone():
    """Pull request 122: foo is 42 in kernels and 0 on the host"""
    assert FORTY_TWO in kernel_of(bar, Context(on_gpu)).ptx
    assert FORTY_TWO not in kernel_of(bar).ptx
    assert Context().jit(lambda: foo())() == foo() == 0.0


# ---- test/plugin_testsetup.jl: a plugin that takes a mark out ------------------------------------


def mark(x):
    return x + 1000.0


class RemovesMark(Plugin):
    """Calls the function in place of its mark."""

    markers = (mark,)

    def marked(self, module):
        (symbol,) = module.symbols_of(unmarked)
        for call in module.calls:
            call.instruction.callee = module.module.globals[symbol]
        return bool(module.calls)


def unmarked(x):
    return x


def marked_program(x):
    return unmarked(x) + mark(x)


def test_a_mark_is_taken_out_where_it_is_and_nowhere_else():
    """R6: the callback is called if the mark is in the module, and says whether it changed it"""
    removes = RemovesMark()
    assert Context(plugins=(removes,)).jit(marked_program)(2.0) == 4.0
    assert Context().jit(marked_program)(2.0) == 1004.0

    class NeverAsked(RemovesMark):
        def marked(self, module):
            raise AssertionError

    assert Context(plugins=(NeverAsked(),)).jit(unmarked)(2.0) == 2.0


def test_a_mark_that_is_left_is_an_error():
    class Keeps(RemovesMark):
        def marked(self, module):
            return False

    with pytest.raises(NotCompilable, match="marker mark is left over"):
        Context(plugins=(Keeps(),)).jit(marked_program)(2.0)


# ---- test/native_tests.jl ------------------------------------------------------------------------


def inner(x):
    return x + 1.0


def outer(x):
    return inner(x) * math.sqrt(x)


def test_each_symbol_is_mapped_to_its_function_and_types():
    """R8, the compilation database: exactly one symbol for each of both functions"""
    found = {}

    class Maps(Plugin):
        markers = (mark,)

        def inline(self, call):
            return False if call.target in (inner, outer) else None

        def marked(self, module):
            found.update({f: module.symbols_of(f) for f in (inner, outer, foo)})
            (symbol,) = found[outer]
            for call in module.calls:
                call.instruction.callee = module.module.globals[symbol]
            return True

    def program(x):
        return outer(x) + mark(x)

    assert Context(plugins=(Maps(),)).jit(program)(4.0) == 20.0
    types = ["float64", "float64"]
    assert {
        f: [[*map(str, each.types)] for each in symbols.values()] for f, symbols in found.items()
    } == {
        inner: [types],
        outer: [types],
        foo: [],
    }


@NEEDS_CUDA
def test_the_functions_of_a_kernel_are_listed_with_their_types():
    """R8"""

    def kernel(x, out):
        out[0] = outer(x[0])

    functions = {f.name: f for f in kernel_of(kernel).functions}
    assert functions["inner"].types == ("float64", "float64")
    assert "test_gpu_compiler.py" in functions["outer"].where


def test_what_was_compiled_is_found_and_redefinitions_of_children_are_seen(monkeypatch):
    """R16 and R18, cached compilation: a new child compiles once, an unrelated function does not"""

    class Counts(Plugin):
        def __init__(self):
            self.seen = []

        def before_inference(self, ir):
            self.seen.append(ir.name.rpartition(".")[2])

    counts = Counts()
    compiled = Context(plugins=(counts,)).jit(parent)
    assert (compiled(1), compiled(1)) == (3, 3)
    before = len(counts.seen)
    monkeypatch.setitem(globals(), "unrelated", lambda i: 42)
    assert (compiled(1), len(counts.seen)) == (3, before)
    monkeypatch.setitem(globals(), "child", lambda i: i + 10)
    assert compiled(1) == compiled(1) == 13
    assert counts.seen.count("parent") == 2


def child(i):
    return i


def parent(i):
    return child(i) + 2


def unrelated(i):
    return i


def expensive(x):
    for _ in range(20):
        x = math.sin(x) + math.exp(-x * x)
    return x


def test_what_is_inlined_is_for_a_plugin_to_say():
    """R10, always_inline: the child stays a function, or is gone, in either order"""

    class Inlines(Plugin):
        def __init__(self, wanted):
            self.wanted = wanted

        def inline(self, call):
            return self.wanted if call.target is expensive else None

    def names(wanted):
        hot = Context(plugins=(Inlines(wanted),)).jit(lambda x: expensive(x) + 1.0)
        assert hot(0.5) == expensive(0.5) + 1.0
        (llvm,) = hot.inspect_llvm().values()
        return re.search(r"call .*expensive", llvm) is not None

    assert [names(wanted) for wanted in (False, True, True, False)] == [True, False, False, True]


@NEEDS_CUDA
def test_a_child_that_a_kernel_has_used_is_compiled_for_the_host():
    """Issue 11: R1 and R12, after the code for a GPU that for the host"""

    def kernel(x, out):
        out[0] = inner(x[0])

    assert ".entry" in kernel_of(kernel).ptx
    assert Context().jit(lambda: inner(10.0))() == 11.0


# ---- test/ptx_tests.jl ---------------------------------------------------------------------------


@NEEDS_CUDA
def test_children_that_are_not_inlined_survive_and_are_no_entries():
    """Kernel functions, child functions, and their reuse by another parent"""

    class Kept(Plugin):
        def inline(self, call):
            return False if call.target is inner else None

    def one(x, out):
        out[0] = inner(x[0])

    def two(x, out):
        out[0] = inner(x[0] + 1.0)

    for parent_of in (one, two):
        ptx = kernel_of(parent_of, Context(plugins=(Kept(),))).ptx
        assert re.search(r"\.visible \.entry \S*(one|two)", ptx)
        assert re.search(r"\.func .*\n?.*inner", ptx)
        assert not re.search(r"\.visible \.entry \S*inner", ptx)


@NEEDS_CUDA
def test_the_index_of_a_thread_is_read_where_an_inner_function_asks():
    """R15, kernel state: lowered in the child that uses it, and no call is left"""
    from numba import cuda

    def uses(x):
        return x * cuda.threadIdx.x

    def does_not(x):
        return x + 2.0

    def kernel(x, out):
        out[0] = uses(x[0]) + does_not(x[0])

    ptx = kernel_of(kernel).ptx
    assert "%tid.x" in ptx
    assert "call" not in ptx


# ---- pull requests 633, 634 and 636: a plugin for derivatives on top of a target -----------------


def lifted(f, x):
    """The marker: stands for a derivative."""
    return f(x) + 1000.0


def primal(x):
    return x * x * 7.0


def adjoint(f, x):
    return autodiff(f, x)


class MockEnzyme(Plugin):
    """Has the derivative compiled with the target and flags of the caller, and calls it."""

    markers = (lifted,)
    order: tuple[str, ...] = ()

    def before_inference(self, ir):
        self.order = (*self.order, "before_inference")
        for call in ir.calls(lifted):
            ir.insert_before(call, adjoint, *call.args)

    def after_inference(self, ir):
        self.order = (*self.order, "after_inference")

    def marked(self, module):
        self.order = (*self.order, "marked")
        (symbol,) = module.symbols_of(adjoint)
        for call in module.calls:
            call.instruction.callee = module.module.globals[symbol]
        return True


def differentiates(x):
    return lifted(primal, x)


def differentiating_kernel(x, out):
    out[0] = differentiates(x[0])


def test_a_mock_of_the_plugin_works_on_the_host_with_stages_in_order():
    """R7, R9"""
    mock = MockEnzyme()
    assert Context(plugins=(mock,)).jit(differentiates)(3.0) == 42.0
    first = [mock.order.index(s) for s in ("before_inference", "after_inference", "marked")]
    assert first == sorted(first)


@NEEDS_CUDA
def test_a_mock_of_the_plugin_inherits_the_rules_of_the_target_in_a_kernel():
    """R2, R3, R12: the derivative of what the target's table puts in"""
    target = MethodTable("target")
    target.overlay(primal)(lambda x: x * 42.0)

    def code(*tables):
        return kernel_of(differentiating_kernel, Context(*tables, plugins=(MockEnzyme(),))).ptx

    assert str(0x4045000000000000) in code(target)  # 42, a constant that is stored
    assert SEVEN in code()
    assert "0d408F400000000000" not in code(target) + code()  # 1000: the marker is gone


# ---- pull requests 621 and 785, and the reviews of 636: stages inside the optimiser --------------


class Stages(Plugin):
    """Notes each stage inside the optimiser, with what it sees of the function."""

    def __init__(self, name, notes):
        self.name, self.notes = name, notes

    def after_codegen(self, module):
        self.note("after_codegen", str(module))

    def before_optimisation(self, module):
        self.note("before_optimisation", str(module))

    def after_optimisation(self, module):
        self.note("after_optimisation", str(module))

    def note(self, stage, text):
        if "folds_away" in text:
            self.notes.append((stage, self.name, text.count("alloca")))


def folds_away(x):
    y = x
    for _ in range(3):
        y = y + 1.0
    return y * 7.0


STAGES = ("after_codegen", "before_optimisation", "after_optimisation")


@pytest.mark.parametrize("names", [("early", "late"), ("late", "early")])
def test_callbacks_stand_before_and_inside_the_optimiser_in_declared_order(names):
    """R9: one callback early, one as part of the optimisation, in the order of the plugins"""
    notes = []
    hot = Context(plugins=tuple(Stages(name, notes) for name in names)).jit(folds_away)
    assert hot(2.0) == folds_away(2.0) == 35.0
    by_stage = {stage: [note for note in notes if note[0] == stage] for stage in STAGES}
    assert [stage for stage, _, _ in notes] == [stage for stage in STAGES for _ in by_stage[stage]]
    _, raw, clean = ([slots for _, _, slots in by_stage[stage]] for stage in STAGES)
    assert min(raw) > max(clean)  # variables are in registers by then
    for seen in by_stage.values():
        assert [name for _, name, _ in seen] == list(names) * (len(seen) // 2)


@NEEDS_CUDA
def test_a_callback_after_code_generation_sees_what_a_kernel_will_be():
    """R9 in a kernel: what the callback edits is in PTX"""

    class Adds(Plugin):
        cache_token = "adds"

        def after_codegen(self, module):
            for function in module.functions:
                for block in function.blocks:
                    for instruction in block.instructions:
                        if instruction.opname == "fmul":
                            instruction.opname = "fadd"

    def kernel(x, out):
        out[0] = x[0] * x[1]

    def operations(*plugins):
        return re.findall(r"(add|mul)\.\S*f64", kernel_of(kernel, Context(plugins=plugins)).ptx)

    assert (operations(), operations(Adds())) == (["mul"], ["add"])


# ---- issue 560, pull requests 140 and 561: what a compiled kernel is found by --------------------


@NEEDS_CUDA
def test_another_target_is_another_entry_of_the_cache():
    """R16: a kernel that was compiled for 8.9 was found for another capability, and ran"""
    hot = Context().jit(bar, target="cuda")
    found = [hot.compile(TWO, capability) for capability in ((8, 9), (8, 0), (8, 9))]
    assert [re.search(r"\.target (sm_\d+)", each.ptx)[1] for each in found] == [
        *("sm_89", "sm_80", "sm_89")
    ]
    with pytest.raises(Exception, match=r"2\W+0"):
        hot.compile(TWO, (2, 0))


@NEEDS_CUDA
def test_another_option_is_another_entry_of_the_cache():
    """R16, pull request 140; maxregs of test/ptx_tests.jl"""

    def kernel(x, out):
        out[0] = x[0] / x[1]

    single = "float32[::1], float32[::1]"
    options = {"plain": {}, "fast": {"fastmath": True}, "few": {"max_registers": 42}}
    found = {name: kernel_of(kernel, types=single, **each) for name, each in options.items()}
    assert ["div.rn.f32" in each.ptx for each in found.values()] == [True, False, True]
    for name, each in options.items():
        assert kernel_of(kernel, types=single, **each) == found[name]
