"""Rules of differentiation: those of the catalogue of functions, and a table for each other family,
with one line for each function.

``arithmetic``: rules of the operators, for numbers and elementwise for arrays.
``array_rule``: rules of functions of whole arrays: one row of a table.
``array_rules``: the rules of functions of whole arrays, by function.
``axis_reductions``: rules of sums, means, products, extremes and variances along axes.
``choices``: rules of functions that select elements of arrays, insert and delete them.
``complex_parts``: rules of parts, absolute values and angles of complex numbers.
``differencing``: rules of differences, gradients, interpolation and weighted counts.
``drawn_calls``: sample calls of rules, with arguments that are drawn.
``extremes``: rules of signs, absolute values, extremes and selections.
``fourier``: rules of discrete Fourier transforms.
``layouts``: rules of functions that change the axes of arrays, and the order along them.
``norms``: rules of norms of vectors and matrices.
``order_statistics``: rules of functions that order elements, and of medians and quantiles.
``padding``: the rule of np.pad.
``pieces``: rules of functions that join arrays and split them.
``polynomials``: rules of polynomials by their coefficients.
``powers``: rules of powers, of numbers and elementwise of arrays.
``products``: rules of products of arrays.
``ranges``: rules of functions that make arrays of numbers between bounds, and of powers.
``rounding``: rules of piecewise constant functions.
``rule``: rules of differentiation: one line of a table.
``shapes``: rules of functions that move, repeat, join and select elements of arrays.
"""

import math

from overlay.catalogue import FUNCTIONS, elementwise
from overlay.interpretations.autodiff.rules.arithmetic import ARITHMETIC
from overlay.interpretations.autodiff.rules.extremes import EXTREMES, SELECTIONS
from overlay.interpretations.autodiff.rules.powers import ARRAYS_OF_POWERS, POWERS
from overlay.interpretations.autodiff.rules.rounding import ROUNDING
from overlay.interpretations.autodiff.rules.rule import Rule, rule

__all__ = ["BY_NUMPY", "RULES", "Rule", "rule"]

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
    *POWERS,
    *ARRAYS_OF_POWERS,
    *EXTREMES,
    *SELECTIONS,
    *ROUNDING,
)
"""All rules, grouped by family."""
