"""Relations, by which single functions are solved; their domains, and the base table of them."""

import overlay_dispatch

overlay_dispatch.check("overlay")

from primitives.arrays.domain import Arrays, Shape, array_of
from primitives.base_table import relation_of, relations
from primitives.domains import (
    Bool,
    Complex,
    ComplexNumbers,
    Domain,
    Integer,
    Integers,
    Interval,
    NonNegative,
    NonZero,
    Positive,
    Real,
    WholeFloats,
)
from primitives.errors import NoSolution
from primitives.partials import partials, partials_of
from primitives.relation import Mode, Relation, parametric, relation

__all__ = [
    "Arrays",
    "Bool",
    "Complex",
    "ComplexNumbers",
    "Domain",
    "Integer",
    "Integers",
    "Interval",
    "Mode",
    "NoSolution",
    "NonNegative",
    "NonZero",
    "Positive",
    "Real",
    "Relation",
    "Shape",
    "WholeFloats",
    "array_of",
    "parametric",
    "partials",
    "partials_of",
    "relation",
    "relation_of",
    "relations",
]
