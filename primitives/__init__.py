"""Relations, with which single functions are solved; their domains, and the base table of them.

``base_table``: the base method table of relations, and the targets of its methods.
``complex_numbers``: arithmetic of complex numbers, their parts and angles, exponentials and roots.
``domains``: the sets of values that axes and parameters take.
``errors``: the errors of relations and of the inverses made from them.
``logical``: bool values: not, and, or, exclusive or, equality, and the truth of numbers.
``partial_slopes``: partial derivatives of the primitives, as methods that are chosen like
relations.
``relation``: equations between the arguments and the results of one function, with solvers.
``relations_document``: the base table as a document: ``python -m primitives.relations_document >
docs/relations.md``.
``several_results``: functions with two results: quotients with remainders, and decompositions of
floats.
``solver_forms``: compiled forms of solvers: each is a context, of method tables and plugins, that
compiles all solvers in that form.
``testing``: the law checker, for the relations of the base table and for those that users add.
``arrays``: arrays of known shape: their types, their domains, and the relations between them.
``floats``: relations of floats.
``forms``: relations of whole expressions, which can be solved once the uses of a variable are
collected.
``integers``: relations of the mathematical integers, and of numpy's words.
``sequences``: relations of strings and lists.
``finite_tables``: the entry at an index or key, and membership.
"""

from typing import TYPE_CHECKING

import overlay_dispatch

overlay_dispatch.check("overlay")

from overlay.core.late_binding import lazy_names
from primitives.relation import Mode, Relation, parametric, relation

if TYPE_CHECKING:
    from primitives.arrays.domain import Arrays, Shape, array_of
    from primitives.base_table import base_relations, relation_of
    from primitives.domains import (
        Bool,
        Complex,
        ComplexNumbers,
        Domain,
        Integer,
        Integers,
        NonNegative,
        NonZero,
        Positive,
        Real,
        Reals,
        WholeFloats,
    )
    from primitives.errors import NoSolution
    from primitives.partial_slopes import base_partials, partials_of

__all__ = [
    "Arrays",
    "Bool",
    "Complex",
    "ComplexNumbers",
    "Domain",
    "Integer",
    "Integers",
    "Mode",
    "NoSolution",
    "NonNegative",
    "NonZero",
    "Positive",
    "Real",
    "Reals",
    "Relation",
    "Shape",
    "WholeFloats",
    "array_of",
    "base_partials",
    "base_relations",
    "parametric",
    "partials_of",
    "relation",
    "relation_of",
]

# imported on first access: the table of relations and that of derivatives are slow to make
__getattr__, __dir__ = lazy_names(
    __name__,
    {
        "arrays.domain": ("Arrays", "Shape", "array_of"),
        "base_table": ("base_relations", "relation_of"),
        "domains": (
            "Bool",
            "Complex",
            "ComplexNumbers",
            "Domain",
            "Integer",
            "Integers",
            "Reals",
            "NonNegative",
            "NonZero",
            "Positive",
            "Real",
            "WholeFloats",
        ),
        "errors": ("NoSolution",),
        "partial_slopes": ("base_partials", "partials_of"),
    },
)
