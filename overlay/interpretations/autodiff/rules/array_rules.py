"""The rules of functions of whole arrays, by function."""

from __future__ import annotations

import dataclasses
import functools
import importlib
from typing import Any

from overlay.interpretations.autodiff.rules import OPTIONAL, imported
from overlay.interpretations.autodiff.rules.array_rule import ArrayRule
from overlay.interpretations.autodiff.rules.tables.applications import APPLICATIONS
from overlay.interpretations.autodiff.rules.tables.axis_reductions import REDUCTIONS, WITHOUT_NAN
from overlay.interpretations.autodiff.rules.tables.choices import CHOICES
from overlay.interpretations.autodiff.rules.tables.comparisons import COMPARISONS
from overlay.interpretations.autodiff.rules.tables.compiled_maps import COMPILED_MAPS
from overlay.interpretations.autodiff.rules.tables.complex_parts import COMPLEX_PARTS
from overlay.interpretations.autodiff.rules.tables.decompositions import DECOMPOSITIONS
from overlay.interpretations.autodiff.rules.tables.differencing import DIFFERENCING
from overlay.interpretations.autodiff.rules.tables.distinct_values import DISTINCT_VALUES
from overlay.interpretations.autodiff.rules.tables.fourier import FOURIER
from overlay.interpretations.autodiff.rules.tables.layouts import LAYOUTS
from overlay.interpretations.autodiff.rules.tables.linear_algebra import LINEAR_ALGEBRA
from overlay.interpretations.autodiff.rules.tables.norms import NORMS
from overlay.interpretations.autodiff.rules.tables.order_statistics import ORDERING
from overlay.interpretations.autodiff.rules.tables.padding import PADDING
from overlay.interpretations.autodiff.rules.tables.pieces import PIECES
from overlay.interpretations.autodiff.rules.tables.placing import PLACING
from overlay.interpretations.autodiff.rules.tables.polynomials import POLYNOMIALS
from overlay.interpretations.autodiff.rules.tables.products import PRODUCTS
from overlay.interpretations.autodiff.rules.tables.ranges import RANGES
from overlay.interpretations.autodiff.rules.tables.shapes import SHAPES
from overlay.interpretations.autodiff.rules.tables.whole_parts import WHOLE_PARTS

__all__ = ["ARRAY_RULES", "array_rule_of", "optional_array_rules"]

_ROWS: tuple[ArrayRule, ...] = (
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
    *WHOLE_PARTS,
    *COMPARISONS,
    *DISTINCT_VALUES,
)
ARRAY_RULES = tuple(
    dataclasses.replace(row, vjp_compiled=COMPILED_MAPS.get(row.function, {})) for row in _ROWS
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
