"""The modes in which a function is compiled: for Python, inside a kernel, and entered by code of
another context that is compiled for Python. Tables, stages of plugins, markers and derivatives are
the same in each."""

import math

import numba
import numpy as np
import pytest
from llvmlite import ir as llvm

from overlay import Context, MethodTable, NotCompilable, Plugin, call_next, current_context, recurse
from overlay.interpretations.autodiff import NotDifferentiable, autodiff

pytest.importorskip("numba_cuda", reason="the extra 'cuda' is not installed")
from tests.overlay.compiled.cuda import gpu_code

ARRAY = numba.float64[::1]
STAGES = "before_inference", "after_inference", "after_codegen"


def on_host(context, function):
    return context.jit(function)


def in_kernel(context, function):
    """Its code for GPUs, which the CPU runs."""

    def kernel(x, out):
        out[0] = function(x[0])

    compiled = context.jit(kernel, target="cuda").compile((ARRAY, ARRAY), (8, 0))

    def run(x):
        out = np.full(1, np.nan)
        gpu_code.run(compiled, 1, 1, np.array([x]), out)
        return out[0]

    return run


def nested(context, function):
    """Entered by code of a context that has none of its tables and plugins."""
    return Context().jit(lambda x: recurse(context, function, x))


@pytest.fixture(params=[on_host, in_kernel, nested], ids=lambda mode: mode.__name__)
def mode(request):
    return request.param


# ---- the program --------------------------------------------------------------------------


def wave(x):
    return math.sin(x)


def helper(x):
    return wave(x) * 2.0


def program(x):
    return helper(x) + x


def marked(f, x):
    """A marker; what its body gives says of which type the result is."""
    return f(x) + 1000.0


def with_marker(x):
    return marked(helper, x) + x


# ---- tables -------------------------------------------------------------------------------

inner, outer = MethodTable("inner"), MethodTable("outer")


@outer.overlay(wave)
def cubic_wave(x):
    return x - x * x * x / 6.0


@inner.overlay(wave)
def longer_wave(x: float) -> float:
    return call_next(x) + current_context().metadata


def test_tables_in_their_order(mode):
    context = Context(outer, inner, metadata=5.0)
    assert math.isclose(mode(context, program)(0.5), 2 * (0.5 - 0.125 / 6 + 5.0) + 0.5)
    assert math.isclose(mode(Context(), program)(0.5), 2 * math.sin(0.5) + 0.5)


def test_a_change_of_a_table(mode):
    table = MethodTable("changes")
    table.overlay(wave)(lambda x: x)
    assert mode(Context(table), program)(0.5) == 1.5
    table.overlay(wave)(lambda x: -x)
    assert mode(Context(table), program)(0.5) == -0.5


# ---- plugins ------------------------------------------------------------------------------


class Notes(Plugin):
    """Notes each stage, and the function of the program that it sees."""

    def __init__(self, notes, name):
        self.notes, self.name = notes, name

    def _note(self, stage, name):
        self.notes += [(stage, f, self.name) for f in ("program", "helper", "wave") if f in name]

    def before_inference(self, ir):
        self._note("before_inference", ir.name.rpartition(".")[2])

    def after_inference(self, ir):
        self._note("after_inference", ir.name.rpartition(".")[2])

    def after_codegen(self, module):
        (defined,) = [f.name for f in module.functions if not f.is_declaration]
        self._note("after_codegen", defined)


def test_each_stage_sees_each_function_in_the_declared_order(mode):
    notes = []
    plugins = Notes(notes, "first"), Notes(notes, "second")
    mode(Context(plugins=plugins), program)(0.5)
    for stage in STAGES:
        for function in ("program", "helper", "wave"):
            seen = [name for s, f, name in notes if (s, f) == (stage, function)]
            assert seen == ["first", "second"], (stage, function)
    # a function's types follow from those of what it calls
    order = [f for s, f, name in notes if (s, name) == ("after_inference", "first")]
    assert order == ["wave", "helper", "program"]


class Renames(Plugin):
    """Calls of one function become calls of another."""

    def __init__(self, before, after):
        self.before, self.after = before, after

    def before_inference(self, ir):
        for call in ir.calls(self.before):
            ir.replace(call, self.after, *call.args)


def tripled(x):
    return 3.0 * x


def quintupled(x):
    return 5.0 * x


class Infers(Plugin):
    def infer(self, call):
        return np.float32 if call.target is wave else None


def test_plugins_change_the_program_one_after_the_other(mode):
    """Each edits what the one before has left."""
    first, then = Renames(wave, tripled), Renames(tripled, quintupled)
    assert mode(Context(plugins=(first, then)), program)(2.0) == 22.0
    assert mode(Context(plugins=(then, first)), program)(2.0) == 14.0


def test_a_plugin_infers_the_type_of_a_call(mode):
    found = mode(Context(plugins=(Infers(),)), program)(0.5)
    assert found == 2.0 * float(np.float32(math.sin(0.5))) + 0.5


class InOptimiser(Plugin):
    def __init__(self):
        self.seen = []

    def before_optimisation(self, module):
        self.seen.append("before")

    def after_optimisation(self, module):
        self.seen.append("after")


def test_stages_of_the_optimiser_are_run_or_refused(mode):
    plugin = InOptimiser()
    if mode is in_kernel:
        with pytest.raises(NotCompilable, match=r"_optimisation(.|\n)*after_codegen"):
            mode(Context(plugins=(plugin,)), program)
    else:
        mode(Context(plugins=(plugin,)), program)(0.5)
    assert set(plugin.seen) == (set() if mode is in_kernel else {"before", "after"})


# ---- markers ------------------------------------------------------------------------------


class Forwards(Plugin):
    """Puts the function that a marker is given in its place."""

    markers = (marked,)

    def __init__(self):
        self.lines = []

    def marked(self, module):
        (symbol,) = module.symbols_of(helper)
        for call in module.calls:
            self.lines.append(call.where)
            instruction = call.instruction
            args = [a for a in instruction.args if a.type != llvm.IntType(8).as_pointer()]
            result = instruction.callee.function_type.return_type
            kind = llvm.FunctionType(result, [a.type for a in args])
            callee = module.module.globals.get(symbol)
            instruction.callee = callee or llvm.Function(module.module, kind, symbol)
            instruction.operands[1:] = args
        return True


class Leaves(Plugin):
    markers = (marked,)

    def marked(self, module):
        return False


def test_a_marker_is_taken_out_where_it_is(mode):
    plugin = Forwards()
    assert math.isclose(mode(Context(plugins=(plugin,)), program)(0.5), 2 * math.sin(0.5) + 0.5)
    assert plugin.lines == []
    assert math.isclose(mode(Context(plugins=(plugin,)), with_marker)(0.5), 2 * math.sin(0.5) + 0.5)
    (line,) = plugin.lines
    assert "test_modes.py" in line


def test_a_marker_that_is_left_over_names_its_line(mode):
    with pytest.raises(NotCompilable, match=r"marker marked is left over(.|\n)*test_modes.py"):
        mode(Context(plugins=(Leaves(),)), with_marker)(0.5)


# ---- derivatives --------------------------------------------------------------------------


def slope(x):
    return autodiff(program, x)


def without_rule(x):
    return autodiff(lambda y: math.nextafter(y, 1.0), x)


def test_a_derivative_is_of_the_program_as_the_table_has_it(mode):
    assert math.isclose(mode(Context(outer), slope)(0.5), 2 * (1 - 0.125) + 1)


def test_a_derivative_without_a_rule_names_the_function(mode):
    with pytest.raises(NotDifferentiable, match="nextafter"):
        mode(Context(), without_rule)(0.5)


class Paired(Plugin):
    """Puts a wave where ``tripled`` stands before derivatives are taken, and undoes it after: what
    has no derivative is called again. Both stages share what was put in."""

    def __init__(self):
        self.put, self.undone = [], []

    def before_inference(self, ir):
        for call in ir.calls(tripled):
            self.put.append(ir.name.rpartition(".")[2])
            ir.replace(call, wave, *call.args)

    def after_inference(self, ir):
        for call in ir.calls(wave):
            if self.put and call.types == (float,):
                self.undone.append(ir.name.rpartition(".")[2])
                ir.replace(call, tripled, *call.args)


def triples(x):
    return tripled(x)


def value_and_slope(x):
    return triples(x) + 100.0 * autodiff(triples, x)


def test_what_is_changed_before_derivatives_is_undone_after(mode):
    """The value is that of ``tripled``, the slope that of the wave."""
    plugin = Paired()
    found = mode(Context(plugins=(plugin,)), value_and_slope)(0.5)
    assert math.isclose(found, 1.5 + 100.0 * math.cos(0.5))
    assert plugin.put == ["triples", "triples"]
    assert plugin.undone == ["triples"]
