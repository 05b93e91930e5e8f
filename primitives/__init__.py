"""How single functions are solved: relations, their domains, and the base table of them."""

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
from primitives.table import relation_of, relations

__all__ = [
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
    "WholeFloats",
    "parametric",
    "partials",
    "partials_of",
    "relation",
    "relation_of",
    "relations",
]
