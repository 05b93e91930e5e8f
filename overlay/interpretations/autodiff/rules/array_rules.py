"""The rules of functions of whole arrays, by function."""

from __future__ import annotations

import functools
import importlib
from typing import Any

from overlay.interpretations.autodiff.rules import OPTIONAL, imported
from overlay.interpretations.autodiff.rules.array_rule import ArrayRule
from overlay.interpretations.autodiff.rules.decompositions import DECOMPOSITIONS
from overlay.interpretations.autodiff.rules.linear_algebra import LINEAR_ALGEBRA
from overlay.interpretations.autodiff.rules.products import PRODUCTS
from overlay.interpretations.autodiff.rules.shapes import SHAPES

__all__ = ["ARRAY_RULES", "array_rule_of", "optional_array_rules"]

ARRAY_RULES: tuple[ArrayRule, ...] = (*SHAPES, *PRODUCTS, *LINEAR_ALGEBRA, *DECOMPOSITIONS)
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
