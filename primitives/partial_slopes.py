"""Partial derivatives of the primitives, as methods that are looked up like relations.

They are the rules of ``overlay.interpretations.autodiff``, except that they raise NoSolution at a
kink or a step of a function. ``partials_of(f)`` is a target: its methods take the arguments of f
and return the tuple of partial derivatives there. The table ``base_partials`` has those of the
functions of floats in the base table of relations; a table of a context adds others:

>>> from overlay import MethodTable
>>> from primitives import partials_of
>>> def fahrenheit(celsius: float) -> float:
...     return celsius * 1.8 + 32
>>> table = MethodTable("units")
>>> @table.overlay(partials_of(fahrenheit))
... def slope(celsius: float):
...     return (1.8,)
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from overlay import MethodTable
from overlay.interpretations.autodiff import RULES as OF_FUNCTIONS
from overlay.interpretations.autodiff import PartialsOf, Rule, partials_of
from primitives import several_results as several
from primitives.base_table import RELATIONS
from primitives.errors import NoSolution
from primitives.floats import arithmetic, powers
from primitives.floats.comparison import where
from primitives.forms import polar
from primitives.relation import Relation

__all__ = ["PartialsOf", "base_partials", "partials_of"]

base_partials = MethodTable("partials")
"""The partial derivatives of the primitives. Methods in the tables of a context take precedence."""

Rows = tuple[tuple[float, ...], ...]
Partials = Callable[..., tuple[float, ...] | Rows]
KINK = "the function has a kink or a step there, and no derivative"


def _whole(a: float) -> float:
    """The largest whole number up to a; raises NoSolution at a whole number, where it steps."""
    whole = math.floor(a)
    if a == whole:
        raise NoSolution(KINK)
    return float(whole)


def _quotient_and_remainder(a: float, b: float) -> Rows:
    return (0.0, 0.0), (1.0, -_whole(a / b))


def _fraction_and_whole(a: float) -> Rows:
    if a != 0:
        _whole(a)
    return (1.0,), (0.0,)


def _significand(a: float) -> Rows:
    significand, exponent = math.frexp(a)
    if abs(significand) == 0.5:
        raise NoSolution("the exponent has a step there, and no derivative")
    return (math.ldexp(1.0, -exponent),), (0.0,)


def _point(r: float, a: float) -> Rows:
    return (math.cos(a), -r * math.sin(a)), (math.sin(a), r * math.cos(a))


def _coordinates(x: float, y: float) -> Rows:
    r = math.hypot(x, y)
    return (x / r, y / r), (-y / r / r, x / r / r)


OWN: tuple[tuple[Relation, Partials], ...] = (
    (arithmetic.square, lambda a: (2 * a,)),
    (arithmetic.float_of_float, lambda a: (1.0,)),
    (powers.ldexp, lambda a, b: (math.ldexp(1.0, b), math.nan)),
    (where, lambda c, a, b: (0.0, 1.0, 0.0) if c else (0.0, 0.0, 1.0)),
    (several.divmod_float, _quotient_and_remainder),
    (several.modf, _fraction_and_whole),
    (several.frexp, _significand),
    (polar.polar, _point),
    (polar.unpolar, _coordinates),
)
"""Partial derivatives of relations without a rule in autodiff: with arguments other than floats,
with several results (then a tuple of partial derivatives for each), or internal."""


def _rules() -> Iterator[tuple[Relation, Partials]]:
    yield from OWN
    known: dict[int, Rule] = {}
    for rule in OF_FUNCTIONS:
        for function in rule.spellings:
            known.setdefault(id(function), rule)
    for relation in RELATIONS:
        rule = known.get(id(relation.target))
        if rule is not None and relation.types[0] is float and relation.returns is float:
            yield relation, _refusing_kinks(rule)


def _refusing_kinks(rule: Rule) -> Partials:
    def found(*args: Any) -> tuple[float, ...]:
        if rule.kink is not None and rule.kink(*args):
            raise NoSolution(KINK)
        given = (*args, rule.function(*args)) if rule.takes_result else args
        slopes = rule.partials(*given)
        if any(isinstance(slope, complex) for slope in slopes):
            raise NoSolution("the function is complex there")
        return slopes

    return found


RULES: tuple[tuple[Relation, Partials], ...] = tuple(_rules())


def _declare(relation: Relation, rule: Partials) -> None:
    """Add a rule as a method for the types of a relation."""

    def made(*args: Any) -> tuple[float, ...] | Rows:
        with np.errstate(all="ignore"):
            return rule(*args)

    made.__name__ = made.__qualname__ = f"partials_{relation.name}"
    made.__annotations__ = dict(zip(relation.axes, relation.types, strict=True))
    made.__signature__ = inspect.Signature(  # type: ignore[attr-defined]
        [
            inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=kind)
            for name, kind in made.__annotations__.items()
        ]
    )
    base_partials.overlay(partials_of(relation.target))(made)


for _relation, _rule in RULES:
    _declare(_relation, _rule)
