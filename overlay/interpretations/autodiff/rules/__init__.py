"""Rules of differentiation: those of the catalogue of functions, and those of the tables.

``applications``: rules of functions of numpy that apply a function of Python to parts of arrays.
``array_rule``: rules of functions of whole arrays: one row of a table.
``array_rules``: the rules of functions of whole arrays, by function.
``axis_reductions``: rules of sums, means, products, extremes and variances along axes.
``choices``: rules of functions that select elements of arrays, insert and delete them.
``complex_parts``: rules of parts, absolute values and angles of complex numbers.
``decompositions``: rules of decompositions of matrices: by eigenvalues, by singular values, QR and
    Cholesky.
``differencing``: rules of differences, gradients, interpolation and weighted counts.
``drawn_calls``: sample calls of rules, with arguments that are drawn.
``fourier``: rules of discrete Fourier transforms.
``layouts``: rules of functions that change the axes of arrays, and the order along them.
``linear_algebra``: rules of inverses, determinants, solutions of linear systems and matrix
    products.
``norms``: rules of norms of vectors and matrices.
``order_statistics``: rules of functions that order elements, and of medians and quantiles.
``padding``: the rule of np.pad.
``pieces``: rules of functions that join arrays and split them.
``placing``: rules of functions of numpy that write into an array.
``polynomials``: rules of polynomials by their coefficients.
``products``: rules of products of arrays.
``ranges``: rules of functions that make arrays of numbers between bounds, and of powers.
``rule``: rules of differentiation: one line of a table.
``scipy_integration``: rules of integrals and of solutions of differential equations.
``scipy_linear_algebra``: rules of the functions of ``scipy.linalg``.
``scipy_optimization``: rules of roots, minima and fits, by the implicit function theorem.
``scipy_reductions``: rules of the functions of ``scipy.special`` that reduce arrays.
``shapes``: rules of functions that move, repeat, join and select elements of arrays.
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

__all__ = ["BY_NUMPY", "OPTIONAL", "RULES", "Rule", "has_rule", "imported", "rule", "rules_with"]

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
    "scipy.special": (f"{_HERE}.tables.scipy_special", f"{_HERE}.scipy_reductions"),
    "scipy.linalg": (f"{_HERE}.scipy_linear_algebra",),
    "scipy.optimize": (f"{_HERE}.scipy_optimization",),
    "scipy.integrate": (f"{_HERE}.scipy_integration",),
}
"""Modules that take long to import: for each the tables with the rules of its functions, ``RULES``
of elementwise ones and ``ARRAY_RULES``, which hold in derivatives that are begun after a program
has imported the module."""


def imported() -> tuple[str, ...]:
    """The optional modules that have been imported."""
    return tuple(module for module in OPTIONAL if module in sys.modules)


@functools.cache
def rules_with(modules: tuple[str, ...]) -> tuple[Rule, ...]:
    """All rules, with those of the functions of some optional modules."""
    tables = (importlib.import_module(name) for module in modules for name in OPTIONAL[module])
    return (*RULES, *(rule for table in tables for rule in getattr(table, "RULES", ())))


def has_rule(function: object) -> bool:
    """Whether a function has a rule for some of its calls."""
    rules = rules_with(imported())
    return any(function is each for rule in rules for each in rule.spellings)
