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

__all__ = ["RULES", "Rule", "rule"]

RULES: tuple[Rule, ...] = (
    *ARITHMETIC,
    *exponential(math),
    *exponential(elementwise),
    *trigonometric(math),
    *trigonometric(elementwise),
    *hyperbolic(math),
    *hyperbolic(elementwise),
    *POWERS,
    *ARRAYS_OF_POWERS,
    *SPECIAL,
    *EXTREMES,
    *SELECTIONS,
    *ROUNDING,
)
"""Every rule, in the order of the families."""
