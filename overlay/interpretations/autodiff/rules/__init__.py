"""The rules of differentiation: one table for each family, one line for each function."""

import math

from overlay.interpretations import elementwise
from overlay.interpretations.autodiff.rules.arithmetic import ARITHMETIC
from overlay.interpretations.autodiff.rules.exponential import exponential
from overlay.interpretations.autodiff.rules.extremes import EXTREMES, SELECTIONS
from overlay.interpretations.autodiff.rules.hyperbolic import hyperbolic
from overlay.interpretations.autodiff.rules.powers import ARRAYS_OF_POWERS, POWERS
from overlay.interpretations.autodiff.rules.rounding import ROUNDING
from overlay.interpretations.autodiff.rules.rule import Rule, rule
from overlay.interpretations.autodiff.rules.special import SPECIAL
from overlay.interpretations.autodiff.rules.trigonometric import trigonometric

__all__ = ["BY_NUMPY", "RULES", "Rule", "rule"]

_FAMILIES = (exponential, trigonometric, hyperbolic)
_OF_MATH = tuple(each for family in _FAMILIES for each in family(math))
_OF_NUMPY = tuple(each for family in _FAMILIES for each in family(elementwise))
BY_NUMPY = {one.partials: other.partials for one, other in zip(_OF_MATH, _OF_NUMPY, strict=True)}
"""The partial derivatives of math's functions, computed with numpy's: these raise nothing."""
RULES: tuple[Rule, ...] = (
    *ARITHMETIC,
    *_OF_MATH,
    *_OF_NUMPY,
    *POWERS,
    *ARRAYS_OF_POWERS,
    *SPECIAL,
    *EXTREMES,
    *SELECTIONS,
    *ROUNDING,
)
"""Every rule, in the order of the families."""
