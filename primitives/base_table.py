"""The base method table of relations, and the targets of its methods."""

from __future__ import annotations

import cmath
import inspect
import math
import operator
import types
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from overlay import MethodTable, OverlayError
from overlay.core.location import caller
from overlay.core.target import canonical, describe, key_of_target
from primitives import complex_numbers as complex
from primitives import logical
from primitives import several_results as several
from primitives.domains import NonZero
from primitives.floats import (
    arithmetic,
    catalogued,
    comparison,
    extremes,
    powers,
    remainders,
    rounding,
    signs,
)
from primitives.forms import polar
from primitives.integers import ordering
from primitives.integers.integer_table import INTEGER_RELATIONS
from primitives.relation import Relation
from primitives.sequences.sequence_table import SEQUENCES

__all__ = ["RelationOf", "base_relations", "relation_of"]


class RelationOf:
    """The target, in method tables, of the relations of one function; made by ``relation_of``."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.__name__ = f"relation_of({describe(function)})"

    def __repr__(self) -> str:
        return self.__name__

    def __overlay_key__(self) -> Hashable:
        return "relation", key_of_target(self.function)

    def __call__(self, *types: Any) -> Any:
        raise OverlayError(
            f"{self} is a target for method tables, and is not called",
            where=caller(),
            help=f"Context(base_relations).method({self}, *types) finds the relation",
        )


def relation_of(function: Callable[..., Any]) -> RelationOf:
    """The target whose methods give the relation of a function for argument types.

    Its methods are generated methods: they take types, and return a ``Relation``.

    Parameters
    ----------
    function : callable
        The function.

    Returns
    -------
    RelationOf
        The target, for use in method tables.

    Raises
    ------
    OverlayError
        The function cannot be a target.

    Examples
    --------
    >>> import math
    >>> from overlay import Context
    >>> from primitives import base_relations, relation_of
    >>> Context(base_relations).method(relation_of(math.sin), float).implementation((float,))
    <Relation 'return = sin(a)' for math.sin(float)>
    """
    return RelationOf(canonical(function))


base_relations = MethodTable("relations")
"""The relations of the primitives. Methods in the tables of a context take precedence."""


def _defined_in(*modules: types.ModuleType) -> list[Relation]:
    """The relations that these modules define, in order."""
    return [r for module in modules for r in vars(module).values() if isinstance(r, Relation)]


RELATIONS: tuple[Relation, ...] = (
    arithmetic.add,
    arithmetic.sub,
    arithmetic.neg,
    arithmetic.mul,
    arithmetic.div,
    arithmetic.square,
    arithmetic.float_of_int,
    arithmetic.float_of_float,
    # integers, words and truth values
    *INTEGER_RELATIONS,
    *logical.booleans,
    *logical.truth(float, NonZero),
    *several.SEVERAL,
    polar.polar,
    polar.unpolar,
    # of floats
    *_defined_in(*catalogued.ELEMENTARY),
    *_defined_in(powers),
    signs.magnitude,
    signs.copysign,
    signs.sign,
    signs.heaviside,
    *rounding.ROUNDING,
    remainders.mod,
    remainders.fmod,
    remainders.floordiv,
    extremes.minimum,
    extremes.maximum,
    extremes.clip,
    *comparison.COMPARISONS,
    comparison.where,
    *_defined_in(*catalogued.SPECIAL),
    # of complex numbers
    *complex.COMPLEX,
    # of strings and lists
    *SEQUENCES,
)

# other spellings: of a function, for all its types, or of one relation
ALIASES: tuple[tuple[Any, Any], ...] = (
    (arithmetic.squared, np.square),
    # integers, words and truth values
    (operator.and_, np.bitwise_and),
    (operator.or_, np.bitwise_or),
    (operator.xor, np.bitwise_xor),
    (operator.invert, np.invert),
    (operator.lshift, np.left_shift),
    (operator.rshift, np.right_shift),
    (operator.floordiv, np.floor_divide),
    (operator.mod, np.remainder),
    (operator.pow, pow),
    (operator.pow, np.power),
    (abs, np.absolute),
    (operator.lt, np.less),
    (operator.le, np.less_equal),
    (operator.gt, np.greater),
    (operator.ge, np.greater_equal),
    (operator.eq, np.equal),
    (operator.ne, np.not_equal),
    (min, np.minimum),
    (max, np.maximum),
    (ordering.clip, np.clip),
    (math.gcd, np.gcd),
    (operator.not_, np.logical_not),
    (bool, operator.truth),
    # of floats
    *catalogued.SPELLINGS,
    (powers.power, pow),
    (powers.power, math.pow),
    (powers.power, np.power),
    (powers.power, np.float_power),
    (powers.power_int, pow),
    (powers.power_int, np.power),
    (powers.ldexp, np.ldexp),
    (signs.magnitude, math.fabs),
    (signs.magnitude, np.abs),
    (signs.magnitude, np.fabs),
    (signs.copysign, np.copysign),
    (rounding.trunc, math.trunc),
    (rounding.trunc_float, np.fix),
    (remainders.mod, np.mod),
    (remainders.fmod, np.fmod),
    (remainders.floordiv, np.floor_divide),
    (divmod, np.divmod),
    (several.modf, np.modf),
    (several.frexp, np.frexp),
    (extremes.minimum, np.minimum),
    (extremes.minimum, np.fmin),
    (extremes.maximum, np.maximum),
    (extremes.maximum, np.fmax),
    (comparison.lt, np.less),
    (comparison.le, np.less_equal),
    (comparison.gt, np.greater),
    (comparison.ge, np.greater_equal),
    (comparison.eq, np.equal),
    (comparison.ne, np.not_equal),
    # of complex numbers
    (complex.absolute, np.abs),
    (complex.phase, cmath.phase),
    (complex.exp, np.exp),
    (complex.log, np.log),
    (complex.sqrt, np.sqrt),
    (complex.power_int, np.power),
    (complex.power_float, np.power),
    (complex.power_complex, np.power),
    (complex.sine, np.sin),
    (complex.cosine, np.cos),
    (complex.tangent, np.tan),
    (complex.hyperbolic_sine, np.sinh),
    (complex.hyperbolic_cosine, np.cosh),
    (complex.hyperbolic_tangent, np.tanh),
    (complex.arcsine, np.arcsin),
    (complex.arccosine, np.arccos),
    (complex.arctangent, np.arctan),
    (complex.area_sine, np.arcsinh),
    (complex.area_cosine, np.arccosh),
    (complex.area_tangent, np.arctanh),
    (complex.log10, np.log10),
)


def declare(table: MethodTable, relation: Relation, target: Any) -> None:
    """Add a relation to a table as a method keyed by its types."""

    def made(*types: Any) -> Relation:
        return relation

    made.__name__ = made.__qualname__ = f"relation_{relation.name}"
    made.__annotations__ = dict(zip(relation.axes, relation.types, strict=True))
    made.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=kind)
            for name, kind in made.__annotations__.items()
        ]
    )
    table.generated(relation_of(target))(made)


for _relation in RELATIONS:
    declare(base_relations, _relation, _relation.target)
    _spellings = (a for t, a in ALIASES if t is _relation or t is _relation.target)
    for _alias in dict.fromkeys(_spellings):
        declare(base_relations, _relation, _alias)
