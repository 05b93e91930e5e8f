"""Rules of differentiation: those of the catalogue of functions, and those of the tables.

``array_rule``: rules of functions of whole arrays: one row of a table.
``array_rules``: the rules of functions of whole arrays, by function.
``compiled_loops``: maps of cotangents for compiled code, as loops.
``default_arguments``: forms of one call: without the arguments that are the defaults of their
parameters, and with the others by position.
``drawn_calls``: sample calls of rules, with arguments that are drawn.
``rule``: rules of differentiation: one line of a table.
``tables``: tables of rules, one for each family of functions, with one line for each function.
"""

import functools
import importlib
import math
import sys

from overlay.catalogue import FUNCTIONS, elementwise
from overlay.interpretations.autodiff.rules.rule import Rule, rule
from overlay.interpretations.autodiff.rules.tables.arithmetic import ARITHMETIC
from overlay.interpretations.autodiff.rules.tables.extremes import EXTREMES, SELECTIONS
from overlay.interpretations.autodiff.rules.tables.numerical import NUMERICAL
from overlay.interpretations.autodiff.rules.tables.powers import ARRAYS_OF_POWERS, POWERS
from overlay.interpretations.autodiff.rules.tables.rounding import ROUNDING

__all__ = [
    "BY_NUMPY",
    "OPTIONAL",
    "RULES",
    "Rule",
    "has_rule",
    "imported",
    "optional_rules",
    "rule",
    "rules_with",
]

_OF_MATH = {f: rule(f.function, f.partials(math), *f.between) for f in FUNCTIONS}
_OF_NUMPY = {
    f: rule(f.numpy[0], f.partials(elementwise), *f.between, also=f.numpy[1:])
    for f in FUNCTIONS
    if f.numpy
}
BY_NUMPY = {_OF_MATH[f].partials: one.partials for f, one in _OF_NUMPY.items()}
"""The partial derivatives of math's functions, computed with numpy's, which raise no errors."""
RULES: tuple[Rule, ...] = (
    *ARITHMETIC,
    *_OF_MATH.values(),
    *_OF_NUMPY.values(),
    *NUMERICAL,
    *POWERS,
    *ARRAYS_OF_POWERS,
    *EXTREMES,
    *SELECTIONS,
    *ROUNDING,
)
"""All rules of functions of Python and numpy, grouped by family."""
_HERE = "overlay.interpretations.autodiff.rules"
OPTIONAL = {
    "scipy.special": (
        f"{_HERE}.tables.scipy_special",
        f"{_HERE}.tables.scipy_reductions",
        f"{_HERE}.tables.scipy_several_results",
    ),
    "scipy.linalg": (f"{_HERE}.tables.scipy_linear_algebra", f"{_HERE}.tables.scipy_matrices"),
    "scipy.optimize": (f"{_HERE}.tables.scipy_optimization",),
    "scipy.integrate": (f"{_HERE}.tables.scipy_integration",),
    "scipy.interpolate": (f"{_HERE}.tables.scipy_interpolation",),
    "scipy.fft": (f"{_HERE}.tables.scipy_fourier",),
    "scipy.signal": (f"{_HERE}.tables.scipy_signals",),
    "scipy.ndimage": (f"{_HERE}.tables.scipy_images",),
    "scipy.stats": (f"{_HERE}.tables.scipy_distributions",),
}
"""Modules that take long to import: for each the tables with the rules of its functions, ``RULES``
of elementwise ones and ``ARRAY_RULES``, which hold once a program has imported the module."""


def imported() -> tuple[str, ...]:
    """The optional modules that have been imported, without those whose import is under way."""
    return tuple(
        name
        for name in OPTIONAL
        if (module := sys.modules.get(name)) is not None
        and not getattr(module.__spec__, "_initializing", False)
    )


@functools.cache
def rules_with(modules: tuple[str, ...]) -> tuple[Rule, ...]:
    """All rules, with those of the functions of some optional modules."""
    return (*RULES, *optional_rules(modules))


@functools.cache
def optional_rules(modules: tuple[str, ...]) -> tuple[Rule, ...]:
    """The elementwise rules of the functions of some optional modules."""
    tables = (importlib.import_module(name) for module in modules for name in OPTIONAL[module])
    return tuple(rule for table in tables for rule in getattr(table, "RULES", ()))


def has_rule(function: object) -> bool:
    """Whether a function has a rule for some of its calls."""
    rules = rules_with(imported())
    return any(function is each for rule in rules for each in rule.spellings)
