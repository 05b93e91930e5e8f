"""What every test run has: checked annotations, hypothesis profiles, documents as tests."""

import doctest
import importlib
import importlib.metadata
import json
import os
import platform
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import pytest
import typeguard
from hypothesis import settings
from hypothesis.internal.conjecture import providers
from sybil import Sybil
from sybil.parsers.markdown import PythonCodeBlockParser, SkipParser
from sybil.parsers.rest import DocTestParser

ROOT = Path(__file__).parent

# ---- our own annotations are checked in the run of the documents --------------------------

# Checked, Python code runs four to nine times as long: too long for all tests.

# numba compiles functions of these modules, their source is written out, or contexts run them:
# calls that typeguard puts in cannot be compiled, and would run in the context, too. (Those call
# globals() and locals(): no parameter of ours may have these names.)
NOT_CHECKED = (
    # they run in contexts in which type() is overlaid, and the checks ask for types
    "overlay.core.in_force",
    "overlay.contexts.current",
    "overlay.interpretations.tagging.provenance",
    "overlay.interpretations.tagging.tags",
    "overlay.interpretations.tagging.tagged_values",
    "inversion.intrinsics.checks",
    "inversion.emitting.compiled_form",
    "inversion.lifting.lifted_slopes",
    "inversion.running.quick",
    "inversion.emitting.raising",
    "inversion.intrinsics.roots",
    "overlay.plugins.attempts",
    "overlay.compiled.cpu_attempts",
    "overlay.compiled.cuda.cuda_attempts",
    "overlay.catalogue.elementary",
    "overlay.catalogue.math_function",
    "overlay.sets.bounds",
    "overlay.sets.elementary",
    "overlay.sets.interval",
    "overlay.sets.rounding",
    "overlay.interpretations.autodiff.transformations",
    "overlay.interpretations.autodiff.active_arrays",
    "overlay.interpretations.autodiff.duals",
    "overlay.interpretations.autodiff.escapes",  # asks who holds what: locals() would
    "overlay.interpretations.autodiff.forward",
    "overlay.interpretations.autodiff.active_numbers",
    "overlay.interpretations.first_nan.in_compiled_code",
    "overlay.interpretations.probabilistic.compiled_functions",
    "overlay.interpretations.probabilistic.compiled_steps",
    "overlay.interpretations.probabilistic.random_values",
    "overlay.contracts.sample_programs",
    "overlay.interpretations.intervals.interval_numbers",
    "overlay.interpretations.intervals.methods",
    "overlay.interpretations.intervals.interval_rules",
    "overlay.interpretations.probabilistic.densities",
    # a batch is asked for its class before it has one
    "overlay.interpretations.batching.batches",
    # overlays isinstance, which typeguard calls
    "overlay.interpretations.probabilistic.trace_recording",
    "overlay.interpretations.precision.single",
    "overlay.interpretations.precision.stochastic",
    "overlay.interpretations.autodiff.reverse.gradients",
    "overlay.interpretations.autodiff.reverse.running",
    "primitives.floats.arithmetic",
    "primitives.solver_forms",
    "primitives.arrays.axes",
    "primitives.arrays.cumulative",
    "primitives.arrays.elimination",
    "primitives.arrays.linear",
    "primitives.arrays.reductions",
    "primitives.floats.comparison",
    "primitives.complex_numbers",
    "primitives.forms.congruences",
    "primitives.floats.exponential",
    "primitives.floats.extremes",
    "primitives.floats.tolerance",
    "primitives.forms.fractions",
    "primitives.floats.gamma",
    "primitives.floats.hyperbolic",
    "primitives.integers.integer_arithmetic",
    "primitives.floats.powers",
    "primitives.forms.quadratics",
    "primitives.floats.remainders",
    "primitives.floats.rounding",
    "primitives.sequences.chains",
    "primitives.sequences.parts",
    "primitives.sequences.texts",
    "primitives.floats.signs",
    "primitives.floats.special",
    "primitives.floats.trigonometric",
    "primitives.floats.vector_maths",
    "primitives.integers.bits",
    "primitives.integers.division",
    "primitives.integers.integer_powers",
    "primitives.logical",
    "primitives.integers.number_theory",
    "primitives.integers.ordering",
    "primitives.forms.polar",
    "primitives.several_results",
    "primitives.integers.exact",
    "primitives.integers.shifts",
    "primitives.integers.divmod",
    "primitives.integers.integer_kinds",
    "primitives.integers.conversion",
    "primitives.integers.xorshift",
)


def _quiet(check):
    """A check of annotations that runs natively: what it calls may be a target."""

    def checks(*args):
        ours = sys.modules.get("overlay._native.intercept")
        return check(*args) if ours is None else ours.undispatched(check, *args)

    return checks


if os.environ.get("CHECK_ANNOTATIONS"):  # before anything of ours is imported
    _checks = importlib.import_module("typeguard._functions")
    for name in [name for name in vars(_checks) if name.startswith("check_")]:
        setattr(_checks, name, _quiet(getattr(_checks, name)))
    typeguard.install_import_hook(("overlay", "primitives", "inversion"), NOT_CHECKED)
    # names imported under TYPE_CHECKING cannot be looked up at run time
    typeguard.config.forward_ref_policy = typeguard.ForwardRefPolicy.IGNORE

# ---- hypothesis: no deadline, since a compilation is not slowness --------------------------

# what passes once passes always; other programs are tried where EXPLORE is set
_EXPLORES = bool(os.environ.get("EXPLORE"))
_DRAWN = {"print_blob": True} if _EXPLORES else {"derandomize": True, "database": None}
settings.register_profile("long", deadline=None, **_DRAWN)
settings.register_profile("quick", settings.get_profile("long"), max_examples=10)
settings.load_profile("long")  # where --hypothesis-profile names none
if not _EXPLORES:
    # it would draw constants of the modules that happen to be loaded, too
    providers._get_local_constants = lambda: providers._local_constants

# ---- what measures coverage goes on after each test ------------------------------------------

_TRACER = sys.gettrace()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup():
    """A test that has set a trace function of its own does not end what measures coverage."""
    if sys.gettrace() is not _TRACER:
        sys.settrace(_TRACER)


# ---- README, docs and docstrings run as tests ----------------------------------------------

# pages whose examples need what cannot be installed everywhere
NEEDS = {"docs/kernels.md": "numba_cuda", "docs/scaling.md": "distributed"}


def pytest_collection_modifyitems(items):
    """Skip, by name, the examples of pages that need what is not installed."""
    missing = {ROOT / page: m for page, m in NEEDS.items() if importlib.util.find_spec(m) is None}
    for item in items:
        if item.path in missing:
            item.add_marker(pytest.mark.skip(reason=f"{missing[item.path]} is not installed"))


_documents = Sybil(
    parsers=[PythonCodeBlockParser(doctest_optionflags=doctest.ELLIPSIS), SkipParser()],
    pattern="*.md",
)
_docstrings = Sybil(parsers=[DocTestParser()], pattern="*.py")
pytest_collect_file = (_documents + _docstrings).pytest()

# ---- what a run came to, for docs/report.md --------------------------------------------------

_STARTED = time.monotonic()


def pytest_terminal_summary(terminalreporter):
    """Add the counts of a whole run to the file that KEEP_TESTS names."""
    if not os.environ.get("KEEP_TESTS"):
        return
    path, stats = Path(os.environ["KEEP_TESTS"]), terminalreporter.stats
    python, numba = platform.python_version(), importlib.metadata.version("numba")
    asked = terminalreporter.config
    part = {"not long": "quick ", "long or hypothesis": "long "}.get(asked.option.markexpr, "")
    part += "documents" if "README.md" in asked.args else "tests"
    kept = json.loads(path.read_text()) if path.exists() else {"runs": {}}
    kept["date"] = datetime.now(UTC).strftime("%Y-%m-%d")
    kept["runs"][f"CPython {python}, numba {numba}: {part}"] = {
        **{"python": python, "numba": numba, "date": kept["date"]},
        **{kind: len(stats.get(kind, ())) for kind in ("passed", "skipped", "xfailed")},
        "failed": sum(len(stats.get(kind, ())) for kind in ("failed", "error")),
        "seconds": round(time.monotonic() - _STARTED, 1),
    }
    path.write_text(json.dumps(kept, indent=1, sort_keys=True) + "\n")
