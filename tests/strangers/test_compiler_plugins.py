"""Programs of compiler plugins of other languages (JuliaCompilerPlugins/Mixtape.jl, examples and
tests; test/compilerplugins_testsetup.jl of JuliaGPU/GPUCompiler.jl; the FastSin plugin and the
slicer of the proposal for plugins in Julia), written again in Python."""

import code
import math
import operator
import re
from dataclasses import dataclass

import numpy as np
import pytest

from overlay import Context, MethodTable, Plugin
from overlay.analysis import Domain
from overlay.contracts import BrokenContract, check_plugin


class Swaps(Plugin):
    """Calls of one function become those of another, below functions of some modules."""

    def __init__(self, old, new, allowed=None):
        self.old, self.new, self.allowed = old, new, allowed

    def enter(self, callee, types):
        return self if self.allowed is None or callee in self.allowed else None

    def before_inference(self, ir):
        for call in ir.calls(self.old):
            ir.replace(call, self.new, *call.args)


def factorial(x):
    return 1 if x <= 1 else x * factorial(x - 1)


def test_the_products_of_a_recursion_become_sums():
    """Mixtape.jl, examples: Recursion, Reflection"""
    sums = Context(plugins=(Swaps(operator.mul, operator.add),)).jit(factorial)
    assert sums(10) == 10 + 9 + 8 + 7 + 6 + 5 + 4 + 3 + 2 + 1
    assert factorial(5) == 120
    (llvm,) = sums.inspect_llvm().values()
    assert "mul" not in re.sub(r"(?m)^(declare|attributes|define).*$", "", llvm)


def draw():
    return math.sqrt(2.0)


def rosenbrock(x, y):
    return (1.0 - x) ** 2 + 100.0 * (y - x**2) ** 2


def of_draws():
    return rosenbrock(draw(), draw())


def caller():
    return of_draws()


def five():
    return 5.0


def test_calls_of_a_generator_become_a_number_one_and_two_calls_deep():
    """Mixtape.jl, test: the swap of rand in a closed set of functions"""
    swaps = Context(plugins=(Swaps(draw, five),))
    assert swaps.jit(of_draws)() == swaps.jit(caller)() == rosenbrock(5.0, 5.0)
    assert of_draws() != rosenbrock(5.0, 5.0)
    refused = Context(plugins=(Swaps(draw, five, allowed=(caller,)),))
    assert refused.jit(caller)() == caller()  # of_draws is not among those that are allowed


def test_a_call_with_literal_arguments_is_folded_after_inference():
    """Mixtape.jl, examples: Tracing, whose pass folds calls of constants"""

    class Folds(Plugin):
        folded = 0

        def after_inference(self, ir):
            for call in ir.calls(math.sin):
                value = call.constants[0]
                if isinstance(value, float):
                    ir.set_result(call, math.sin(value))
                    self.folded += 1

    folds = Folds()
    compiled = Context(plugins=(folds,)).jit(lambda x: math.sin(x) + math.sin(3.0) - 1.0)
    assert compiled(0.5) == math.sin(0.5) + math.sin(3.0) - 1.0
    assert folds.folded == 1


def test_arithmetic_of_a_part_is_contracted_and_the_rest_is_not():
    """GPUCompiler.jl: FMACompiler, whose table stands on the one that is in force"""

    class Contracts(Plugin):
        cache_token = "contracts"

        def after_codegen(self, module):
            for function in module.functions:
                for block in function.blocks:
                    for instruction in block.instructions:
                        if instruction.opname in ("fadd", "fsub", "fmul"):
                            instruction.flags.extend(["contract", "nsz"])

    table = MethodTable("outer")
    table.overlay(math.sin)(lambda x: x)

    def program(a, b, c):
        return a * b + math.sin(c)

    plain, contracted = Context(table), Context(table, plugins=(Contracts(),))
    assert contracted.jit(program)(2.0, 3.0, 4.0) == plain.jit(program)(2.0, 3.0, 4.0) == 10.0

    def text(context):
        hot = context.jit(program)
        hot(2.0, 3.0, 4.0)
        return "".join(hot.inspect_llvm().values())

    assert re.search(r"fmul .*contract", text(contracted))
    assert not re.search(r"fmul .*contract", text(plain))


def fast_sin(x):
    return x - x**3 / 6 + 0.0 * math.sin(x)


def get_sin():
    return math.sin


class FastSin(Plugin):
    preserves = frozenset({"types"})

    def enter(self, callee, types):
        return None if callee is fast_sin else self

    def after_inference(self, ir):
        for call in ir.calls(math.sin):
            if call.types == (float,):
                ir.replace(call, fast_sin, *call.args)


class Slices(Plugin):
    def before_inference(self, ir):
        for call in ir.calls(print):
            ir.delete(call)


def noisy(x):
    print("x is", x)
    return math.sin(x) + get_sin()(x) + (math.sin, math.cos)[0](x)


@pytest.mark.parametrize("order", [(FastSin, Slices), (Slices, FastSin)])
def test_a_fast_sine_and_a_slicer_compose(order, capfd):
    """The proposal: FastSin, reached by name, as a result and as an item; a slicer of prints"""
    composed = Context(plugins=tuple(plugin() for plugin in order))
    assert composed.jit(noisy)(0.5) == 3 * fast_sin(0.5)
    assert capfd.readouterr().out == ""
    assert noisy(0.5) == 3 * math.sin(0.5)


def test_code_of_a_plugin_is_apart_from_that_without_it():
    """The proposal: a plugin decides whether it shares the cache of native code"""

    class Looks(Plugin):
        shares_native_cache = True

        def before_inference(self, ir):
            pass

    def program(x):
        return math.sin(x) * 2.0

    native = Context().jit(program)
    native(0.5)
    apart, shared = (Context(plugins=(plugin,)).jit(program) for plugin in (FastSin(), Looks()))
    assert apart(0.5) == 2 * fast_sin(0.5)
    assert shared(0.5) == native(0.5) == 2 * math.sin(0.5)
    assert apart.functions_compiled > 0
    assert shared.functions_compiled == 0


@dataclass(frozen=True)
class Parity:
    parities: frozenset


parities = MethodTable("parities")


@parities.overlay(operator.add)
def add(x: Parity, y: Parity):
    return Parity(frozenset((a + b) % 2 for a in x.parities for b in y.parities))


@parities.overlay(operator.mul)
def mul(x: Parity, y: Parity):
    return Parity(frozenset(a * b for a in x.parities for b in y.parities))


class Parities(Domain):
    top, bottom = Parity(frozenset({0, 1})), Parity(frozenset())
    table = parities

    def join(self, one, other):
        return Parity(one.parities | other.parities)

    def is_below(self, one, other):
        return one.parities <= other.parities

    def constant(self, value):
        return Parity(frozenset({value % 2})) if type(value) is int else self.top


def is_odd(n):
    return n % 2 == 1


def doubled_and_one(n):
    return is_odd(2 * n + 1), is_odd(n)


def test_a_plugin_brings_an_abstract_interpretation_of_its_own():
    """The proposal: an interpreter over another domain than types decides what is compiled"""

    class Decides(Plugin):
        domain = Parities()
        decided = 0

        def interpreter(self, current):
            return self.domain

        def after_inference(self, ir):
            for call in ir.calls(is_odd):
                step = ir.analysed(call)
                known = None if step is None else step.args[0]
                if isinstance(known, Parity) and len(known.parities) == 1:
                    ir.set_result(call, bool(min(known.parities)))
                    type(self).decided += 1

    compiled = Context(plugins=(Decides(),)).jit(doubled_and_one)
    assert compiled(3) == (True, True)
    assert compiled(4) == (True, False)
    assert Decides.decided == 1


def test_dispatch_that_only_the_running_program_knows_keeps_the_plugin():
    """The proposal: what is looked up by a value, and what is called inside a loop, keep the
    plugin"""

    class Counts(Plugin):
        def __init__(self):
            self.seen = []

        def around(self, callee, run):
            self.seen.append(callee)

    counts = Counts()
    table = {"sin": math.sin, "cos": math.cos}
    assert Context(plugins=(counts,))(lambda name: table[name](0.0), "cos") == 1.0
    assert math.cos in counts.seen

    assert Context(plugins=(FastSin(),)).jit(sum_of)(np.array([0.5])) == fast_sin(0.5)


def sum_of(xs):
    found = 0.0
    for x in xs:
        found += math.sin(x)
    return found


# ---- contracts -----------------------------------------------------------------------------------


class SlicesAndClaimsMore(Slices):
    preserves = frozenset({"values", "types", "effects"})


class FastSinAndClaimsMore(FastSin):
    preserves = frozenset({"types", "values"})


class SlicesRightly(Slices):
    preserves = frozenset({"values", "types"})


def loud(x):
    print("x is", x)
    return math.sin(x) + get_sin()(x)


def test_what_a_fast_sine_and_a_slicer_declare_is_checked():
    """The proposal: contracts that restrict what may be composed; each is tried on a program"""
    check_plugin(FastSin, (loud, 0.5), samples=False)
    check_plugin(
        SlicesRightly, (loud, 0.5), beside=[FastSin()], commutes_with=[FastSin()], samples=False
    )
    for plugin, contract in ((FastSinAndClaimsMore, "values"), (SlicesAndClaimsMore, "effects")):
        with pytest.raises(BrokenContract) as caught:
            check_plugin(plugin, (loud, 0.5), samples=False)
        assert caught.value.contract == contract


def visited(n):
    total = 0
    for i in range(n):
        total += i
    return total


def test_a_pass_that_breaks_a_loop_or_fails_itself_is_caught():
    """Cassette.jl issue 19, where a loop went wrong under a pass; pull request 103, a pass with an
    index that is out of range"""

    class CountsDown(Plugin):
        def before_inference(self, ir):
            for call in ir.calls(operator.iadd):
                ir.replace(call, operator.sub, *call.args)

    class OutOfRange(Plugin):
        def before_inference(self, ir):
            return ir.calls()[77]

    for plugin, contract in ((CountsDown, "values"), (OutOfRange, "runs")):
        with pytest.raises(BrokenContract) as caught:
            check_plugin(plugin, (visited, 3), samples=False)
        assert caught.value.contract == contract


# ---- a plugin for all later top-level calls ------------------------------------------------------


class Counted(Plugin):
    """Counts the sines of interpreted code."""

    def __init__(self):
        self.count = 0

    def around(self, callee, run):
        def counted(*args):
            self.count += 1
            return run(*args)

        return counted if callee is math.sin else None


def test_a_plugin_holds_for_all_later_calls_at_the_top_level():
    """The proposal: set_plugin!, which inserts the plugin in every call that comes after it"""
    counted = Counted()
    console = code.InteractiveConsole({"context": Context(plugins=(counted,))})
    seen = []
    for line in (
        "import math; from overlay import install",
        "math.sin(0.5)",
        "handle = install(context)",
        "def late(x): return math.sin(x)\n",
        "found = late(0.5)",
        "found += max(map(late, (0.5, 0.25)))",
        "handle.remove()",
        "found += late(0.5)",
    ):
        console.push(line)
        seen.append(counted.count)
    assert seen == [0, 0, 0, 0, 1, 3, 3, 3]
    assert console.locals["found"] == 3 * math.sin(0.5)
