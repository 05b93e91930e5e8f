"""The public modules, their classes, and an object of each class as a program gets it."""

import contextlib
import functools
import importlib
import inspect
import itertools
import math
from types import ModuleType
from typing import Any

import overlay.ir
from inversion import choose, invert, pave
from overlay import Context, MethodTable, Plugin, generic, nonoverlay
from overlay.analysis import (
    CheckerPlugin,
    Interpreter,
    Intervals,
    array,
    check,
    check_calls,
    integers,
    prove,
)
from overlay.contracts import check_plugin
from overlay.interpretations import probabilistic
from overlay.interpretations.autodiff import RULES, adjoint_of, partials_of, residuals_of
from overlay.interpretations.first_nan import NaNFinder
from overlay.interpretations.intervals import RULES as INTERVAL_RULES
from overlay.interpretations.intervals import Interval
from overlay.interpretations.memoisation import memoised
from overlay.interpretations.mocks import Mocks
from overlay.interpretations.parallel import LoopReport, parallel
from overlay.interpretations.precision import precision_report
from overlay.interpretations.printing import Slicer, collect
from overlay.interpretations.probabilistic import DISTRIBUTIONS
from overlay.interpretations.profiling import profile
from overlay.interpretations.record_replay import Adapter
from overlay.interpretations.sandbox import Refused, Sandbox
from overlay.interpretations.seeding import seeded
from overlay.interpretations.tagging import Tagging, provenance
from overlay.interpretations.tracing import trace
from overlay.kernels import CompiledFunction, CompiledKernel
from primitives import (
    Arrays,
    Complex,
    Integers,
    Positive,
    Real,
    Shape,
    WholeFloats,
    relation,
)

# The public classes without HTML, by the reason.
WITHOUT_HTML = {
    "a record of a few fields, which its line shows": """
        inversion.Parameter overlay.Method overlay.analysis.CallError overlay.analysis.Site
        overlay.analysis.Step overlay.contracts.CheckedPlugin
        overlay.interpretations.autodiff.Rule overlay.interpretations.intervals.IntervalRule
        overlay.interpretations.parallel.LoopReport overlay.interpretations.printing.PrintedCall
        overlay.interpretations.precision.Significance
        overlay.interpretations.probabilistic.Site overlay.interpretations.profiling.ProfileRow
        overlay.interpretations.record_replay.Adapter overlay.interpretations.sandbox.RefusedCall
        overlay.interpretations.tagging.Condition overlay.interpretations.tagging.Origin
        overlay.ir.BranchPoint overlay.ir.Call overlay.ir.Edge overlay.ir.IRStatement
        overlay.ir.RaisePoint overlay.ir.Store overlay.ir.Unknown overlay.ir.Variable
        overlay.kernels.CompiledFunction primitives.Mode
    """,
    "a value, whose line is the expression that makes it": """
        overlay.analysis.Domain overlay.analysis.Intervals overlay.analysis.Lattice
        overlay.analysis.Number overlay.interpretations.autodiff.AdjointOf
        overlay.interpretations.autodiff.PartialsOf overlay.interpretations.autodiff.ResidualsOf
        overlay.interpretations.intervals.Interval overlay.interpretations.seeding.Seeding
        overlay.nonoverlay primitives.Arrays primitives.ComplexNumbers primitives.Domain
        primitives.Integers primitives.Reals primitives.Shape primitives.WholeFloats
        overlay.interpretations.probabilistic.Conditional
        overlay.interpretations.probabilistic.Prior overlay.interpretations.probabilistic.Proposal
        overlay.interpretations.probabilistic.RandomWalk
    """
    + " ".join(f"overlay.interpretations.probabilistic.{each.__name__}" for each in DISTRIBUTIONS),
    "a tool whose runs leave a few numbers, which its line shows, or nothing": """
        overlay.interpretations.memoisation.Memo overlay.interpretations.printing.Slicer
        overlay.interpretations.probabilistic.HamiltonianMonteCarlo
        overlay.interpretations.probabilistic.MetropolisHastings
    """,
}

PACKAGES = ("overlay", "primitives", "inversion")
MODULES = (
    *PACKAGES,
    *("overlay.ir", "overlay.analysis", "overlay.kernels", "overlay.contracts"),
    *(
        f"overlay.interpretations.{name}"
        for name in (
            *("autodiff", "batching", "first_nan", "intervals", "memoisation", "mocks"),
            *("parallel", "precision", "printing", "probabilistic", "profiling"),
            *("record_replay", "sandbox", "seeding", "tagging", "tracing"),
        )
    ),
)


def modules() -> list[ModuleType]:
    """The public modules."""
    return [importlib.import_module(name) for name in MODULES]


def packages() -> dict[ModuleType, set[str]]:
    """The public packages and modules, each with the public modules directly below it."""
    found = [*modules(), overlay.interpretations]
    names = {module.__name__ for module in found}
    below = {
        name: {n.rpartition(".")[2] for n in names if n.rpartition(".")[0] == name}
        for name in names
    }
    return {module: below[module.__name__] for module in found}


def classes() -> dict[str, type]:
    """The public classes, by the name that the reference has for each."""
    found: dict[type, str] = {}
    for module in modules():
        for name in sorted(module.__all__):
            value = getattr(module, name)
            if inspect.isclass(value) and value.__module__.partition(".")[0] in PACKAGES:
                found.setdefault(value, f"{module.__name__}.{name}")
    return {name: cls for cls, name in found.items()}


# ---- a program, and what each tool gives for it --------------------------------------------------


def wave(x: float, y: float) -> float:
    if x > 0.0:
        return math.sin(x) * y
    return x * y


def filled(values, n):
    total = 0.0
    for i in range(n):
        if i > 10:
            raise ValueError
        values[i] = total
        total += i
    return total


def item(values, i):
    return values[i]


@generic
def size(x: float) -> float:
    return x


def total(x, y):
    return size(x) + size(y)


def coin():
    p = probabilistic.sample("p", probabilistic.Uniform())
    probabilistic.observe("head", probabilistic.Bernoulli(p), True)
    return p


def misspelt(text):
    return text.uper()


def shout(x):
    print("<b>", x)
    return x + 1.0


def _waves() -> list[Any]:
    table = MethodTable("<b>waves")

    @table.overlay(math.sin)
    def sin(x: float) -> float:
        return x

    context = Context(table, metadata="<m>", plugins=(CheckerPlugin(),))
    report = context.report()
    return [table, context, table.methods()[0], nonoverlay(wave), Plugin(), report, size]


def _inverted() -> list[Any]:
    inverse = invert(wave)
    solutions = choose(wave, known=("return", "y")).solutions(0.5, 1.0, limit=3)
    line = invert(lambda a, b: (b, a + b, 2 * a + b), float, float)
    side = Interval(0, 1)
    paving = pave(lambda x, y: x * x + y * y, side, side, returns=Interval(1, 1), max_boxes=20)
    fit = line.fit((1.0, 3.1, 4.9))
    space = inverse.parameters
    sets = Real, Positive, Integers(0, 9), Complex, WholeFloats(0.0, 5.0), Arrays(Real, (2, 3))
    exponential = relation(math.exp, float, "return = exp(a)", a=lambda ret: math.log(ret))
    parts = exponential, exponential.mode({"a"}), Shape(2, 3)
    return [inverse, space, space[0], solutions, solutions[0], paving, fit, *sets, *parts]


def _of_ir() -> list[Any]:
    read = overlay.ir.read(filled)
    branch, blocks = read.branches()[0], read.blocks()
    parts = read.calls()[0], read.statements()[0], read.arguments[0], read.stores()[0]
    return [read, blocks[0], branch, branch.yes, *parts, read.raises()[0], overlay.ir.UNKNOWN]


def _analysed() -> list[Any]:
    interpreter = Interpreter(Intervals())
    run = interpreter.run(lambda n: n + 1, integers(0, 9))
    proofs = prove(item, array("n"), integers(0, 9))
    findings, errors = check(misspelt, str), check_calls(Context(), total, float, str)
    parts = run.steps[0], run.result, proofs.sites[0], findings[0], errors.errors[0]
    return [interpreter, Intervals(), run, proofs, findings, errors, CheckerPlugin(), *parts]


def _of_chance() -> list[Any]:
    walk = probabilistic.MetropolisHastings(coin, rng=0)
    hmc = probabilistic.HamiltonianMonteCarlo(coin, rng=0, compiled=False)
    run = probabilistic.simulate(coin, rng=0)
    proposals = probabilistic.Prior(), probabilistic.RandomWalk(1.0), probabilistic.Conditional()
    distributions = [
        cls(*[0.5] * (len(cls._fields) - len(cls._field_defaults)))
        for cls in probabilistic.DISTRIBUTIONS
    ]
    return [walk, walk.run(3), hmc, run, run.sites["p"], *proposals, *distributions]


def _of_tools() -> list[Any]:
    box = Sandbox()
    with contextlib.suppress(Refused):
        box(open, "nothing")
    origin = provenance(wave, 1.0, 2.0)
    report, printed = precision_report(wave, 1.0, 2.0), collect(shout, 1.0)
    tracer, profiler = trace(wave, 1.0, 2.0), profile(wave, 1.0, 2.0)
    memo, mocks = memoised(wave), Mocks()
    memo(wave, 1.0, 2.0)
    mocks.spy(math.sin)
    parts = tracer.roots[0], profiler.rows()[0], printed.calls[0], report.double, box.calls[0]
    tools = NaNFinder(), seeded(0), Slicer(), Tagging(), parallel(wave), Adapter(str, int)
    loop = LoopReport("file.py:1", ("wave",), None)
    graph = [*origin.operations[:1], *origin.conditions[:1]]
    made = box, origin, report, printed, tracer, profiler, memo, mocks
    return [*made, *parts, *tools, loop, *graph]


def _of_kernels() -> list[Any]:
    function = CompiledFunction("_Z4wave", "wave", "file.py:1", ("float64", "float64"))
    texts = "ptx\n", ("ll\n",), (function,)
    kernel = CompiledKernel("wave", "_Z4wave", ("float64",), (8, 0), *texts)
    checked = check_plugin(Plugin(), (wave, 1.0, 2.0))
    rules = RULES[0], INTERVAL_RULES[0], Interval(1, 2)
    targets = partials_of(math.sin), adjoint_of(math.sin), residuals_of(math.sin)
    return [function, kernel, checked, *rules, *targets]


@functools.cache
def objects() -> dict[type, Any]:
    """An object of each public class that is no error."""
    makers = _waves, _inverted, _of_ir, _analysed, _of_chance, _of_tools, _of_kernels
    found: dict[type, Any] = {}
    for made in itertools.chain.from_iterable(maker() for maker in makers):
        found.setdefault(type(made), made)
    return found
