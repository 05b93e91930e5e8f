"""The rules of functions of whole arrays, by function."""

from __future__ import annotations

import functools
import importlib
from typing import Any

from overlay.interpretations.autodiff.rules import OPTIONAL, imported
from overlay.interpretations.autodiff.rules.applications import APPLICATIONS
from overlay.interpretations.autodiff.rules.array_rule import ArrayRule
from overlay.interpretations.autodiff.rules.axis_reductions import REDUCTIONS, WITHOUT_NAN
from overlay.interpretations.autodiff.rules.choices import CHOICES
from overlay.interpretations.autodiff.rules.complex_parts import COMPLEX_PARTS
from overlay.interpretations.autodiff.rules.decompositions import DECOMPOSITIONS
from overlay.interpretations.autodiff.rules.differencing import DIFFERENCING
from overlay.interpretations.autodiff.rules.fourier import FOURIER
from overlay.interpretations.autodiff.rules.layouts import LAYOUTS
from overlay.interpretations.autodiff.rules.linear_algebra import LINEAR_ALGEBRA
from overlay.interpretations.autodiff.rules.norms import NORMS
from overlay.interpretations.autodiff.rules.order_statistics import ORDERING
from overlay.interpretations.autodiff.rules.padding import PADDING
from overlay.interpretations.autodiff.rules.pieces import PIECES
from overlay.interpretations.autodiff.rules.placing import PLACING
from overlay.interpretations.autodiff.rules.polynomials import POLYNOMIALS
from overlay.interpretations.autodiff.rules.products import PRODUCTS
from overlay.interpretations.autodiff.rules.ranges import RANGES
from overlay.interpretations.autodiff.rules.shapes import SHAPES

__all__ = ["ARRAY_RULES", "array_rule_of", "optional_array_rules"]

ARRAY_RULES: tuple[ArrayRule, ...] = (
    *SHAPES,
    *LAYOUTS,
    *PIECES,
    *CHOICES,
    *PADDING,
    *APPLICATIONS,
    *PLACING,
    *RANGES,
    *PRODUCTS,
    *LINEAR_ALGEBRA,
    *DECOMPOSITIONS,
    *REDUCTIONS,
    *WITHOUT_NAN,
    *ORDERING,
    *DIFFERENCING,
    *FOURIER,
    *COMPLEX_PARTS,
    *POLYNOMIALS,
    *NORMS,
)
"""All rules of functions of arrays, grouped by family."""


@functools.cache
def optional_array_rules(modules: tuple[str, ...]) -> tuple[ArrayRule, ...]:
    """The rules of functions of some optional modules."""
    tables = (importlib.import_module(name) for each in modules for name in OPTIONAL[each])
    return tuple(row for table in tables for row in getattr(table, "ARRAY_RULES", ()))


@functools.cache
def _by_function(modules: tuple[str, ...]) -> dict[int, ArrayRule]:
    every = (*ARRAY_RULES, *optional_array_rules(modules))
    return {id(function): each for each in every for function in each.spellings}


def array_rule_of(function: Any) -> ArrayRule | None:
    """The rule of a function; None if it has none."""
    return _by_function(imported()).get(id(function))
