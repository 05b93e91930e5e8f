"""Partial derivatives of the primitives, as methods that are chosen like relations.

``partials_of(f)`` is a target: its methods take f's arguments and return the tuple of partial
derivatives there. Those in ``partials`` are for the functions of floats in the base table of
relations; a table of a context adds others:

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
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from overlay import MethodTable
from overlay.target import canonical, key_of_target
from primitives import (
    arithmetic,
    exponential,
    extremes,
    gamma,
    hyperbolic,
    polar,
    powers,
    remainders,
    rounding,
    several,
    signs,
    special,
    trigonometric,
)
from primitives.comparison import where
from primitives.errors import NoSolution
from primitives.relation import Relation
from primitives.table import RelationOf

__all__ = ["PartialsOf", "partials", "partials_of"]


class PartialsOf(RelationOf):
    """The target that stands for a function's partial derivatives; made by ``partials_of``."""

    def __init__(self, function: Any) -> None:
        super().__init__(function)
        self.__name__ = self.__name__.replace("relation_of", "partials_of", 1)

    def __overlay_key__(self) -> Hashable:
        return "partials", key_of_target(self.function)


def partials_of(function: Callable[..., Any]) -> PartialsOf:
    """The target whose methods take ``function``'s arguments and return its partial derivatives
    there, one for each argument; of a function of several results, a tuple of these for each.
    They raise NoSolution where there are none."""
    return PartialsOf(canonical(function))


partials = MethodTable("partials")
"""The partial derivatives of the primitives. The tables of a context shadow them."""

Rows = tuple[tuple[float, ...], ...]
Rule = Callable[..., tuple[float, ...] | Rows]
SQRT_PI = math.sqrt(math.pi)
KINK = "the function has a kink there, and no derivative"


def _smaller(a: float, b: float) -> tuple[float, float]:
    if a == b:
        raise NoSolution(KINK)
    return (1.0, 0.0) if a < b else (0.0, 1.0)


def _larger(a: float, b: float) -> tuple[float, float]:
    return _smaller(-a, -b)


def _clipped(a: float, low: float, high: float) -> tuple[float, float, float]:
    inner, outer = _larger(a, low), _smaller(max(a, low), high)
    return inner[0] * outer[0], inner[1] * outer[0], outer[1]


def _size(a: float) -> tuple[float]:
    if a == 0:
        raise NoSolution(KINK)
    return (math.copysign(1.0, a),)


def _power(a: float, b: float) -> tuple[float, float]:
    by_exponent = math.pow(a, b) * math.log(a) if a > 0 else math.nan
    return (b * math.pow(a, b - 1) if b != 0 else 0.0), by_exponent


def _steps(a: float, whole: float) -> tuple[float]:
    """Of a function that is level between steps."""
    if a == whole:
        raise NoSolution("the function has a step there, and no derivative")
    return (0.0,)


def _steps_at_halves(a: float) -> tuple[float]:
    return _steps(a, math.floor(a) + 0.5)


def _steps_at_integers(a: float) -> tuple[float]:
    return _steps(a, float(math.floor(a)))


def _steps_but_at_0(a: float) -> tuple[float]:
    return (0.0,) if a == 0 else _steps_at_integers(a)


def _remainder(a: float, b: float) -> tuple[float, float]:
    _steps_at_integers(a / b)
    return 1.0, -float(math.floor(a / b))


def _signed_remainder(a: float, b: float) -> tuple[float, float]:
    _steps_but_at_0(a / b)
    return 1.0, -float(math.trunc(a / b))


def _quotient_steps(a: float, b: float) -> tuple[float, float]:
    _steps_at_integers(a / b)
    return 0.0, 0.0


def _quotient_and_remainder(a: float, b: float) -> Rows:
    return _quotient_steps(a, b), _remainder(a, b)


def _fraction_and_whole(a: float) -> Rows:
    _steps_but_at_0(a)
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


RULES: tuple[tuple[Relation, Rule], ...] = (
    (arithmetic.add, lambda a, b: (1.0, 1.0)),
    (arithmetic.sub, lambda a, b: (1.0, -1.0)),
    (arithmetic.neg, lambda a: (-1.0,)),
    (arithmetic.mul, lambda a, b: (b, a)),
    (arithmetic.div, lambda a, b: (1 / b, -a / b / b)),
    (arithmetic.square, lambda a: (2 * a,)),
    (arithmetic.float_of_float, lambda a: (1.0,)),
    (exponential.exp, lambda a: (math.exp(a),)),
    (exponential.exp2, lambda a: (math.exp2(a) * math.log(2),)),
    (exponential.expm1, lambda a: (math.exp(a),)),
    (exponential.log, lambda a: (1 / a,)),
    (exponential.log2, lambda a: (1 / a / math.log(2),)),
    (exponential.log10, lambda a: (1 / a / math.log(10),)),
    (exponential.log1p, lambda a: (1 / (1 + a),)),
    (exponential.sqrt, lambda a: (0.5 / math.sqrt(a),)),
    (trigonometric.sine, lambda a: (math.cos(a),)),
    (trigonometric.cosine, lambda a: (-math.sin(a),)),
    (trigonometric.tangent, lambda a: (1 + math.tan(a) ** 2,)),
    (trigonometric.asine, lambda a: (1 / math.sqrt((1 - a) * (1 + a)),)),
    (trigonometric.acosine, lambda a: (-1 / math.sqrt((1 - a) * (1 + a)),)),
    (trigonometric.atangent, lambda a: (1 / (1 + a * a),)),
    (trigonometric.angle, lambda y, x: (x / math.hypot(x, y) ** 2, -y / math.hypot(x, y) ** 2)),
    (trigonometric.hypotenuse, lambda a, b: (a / math.hypot(a, b), b / math.hypot(a, b))),
    (trigonometric.degrees, lambda a: (180 / math.pi,)),
    (trigonometric.radians, lambda a: (math.pi / 180,)),
    (hyperbolic.sinh, lambda a: (math.cosh(a),)),
    (hyperbolic.cosh, lambda a: (math.sinh(a),)),
    (hyperbolic.tanh, lambda a: (1 / math.cosh(a) ** 2 if abs(a) < 350 else 0.0,)),
    (hyperbolic.asinh, lambda a: (1 / math.hypot(1.0, a),)),
    (hyperbolic.acosh, lambda a: (1 / math.sqrt(a - 1) / math.sqrt(a + 1),)),
    (hyperbolic.atanh, lambda a: (1 / ((1 - a) * (1 + a)),)),
    (powers.power, _power),
    (powers.power_int, lambda a, b: _power(a, float(b))),
    (powers.cbrt, lambda a: (1 / (3 * math.cbrt(a) ** 2),)),
    (powers.reciprocal, lambda a: (-1 / a / a,)),
    (powers.ldexp, lambda a, b: (math.ldexp(1.0, b), math.nan)),
    (signs.magnitude, _size),
    (signs.copysign, lambda a, b: (_size(a)[0] * math.copysign(1.0, b), 0.0 * _size(b)[0])),
    (signs.sign, lambda a: (0.0 * _size(a)[0],)),
    (signs.heaviside, lambda a, h: (0.0 * _size(a)[0], 0.0)),
    (rounding.floor_float, _steps_at_integers),
    (rounding.ceil_float, _steps_at_integers),
    (rounding.trunc_float, _steps_but_at_0),
    (rounding.rint, _steps_at_halves),
    (remainders.mod, _remainder),
    (remainders.fmod, _signed_remainder),
    (remainders.floordiv, _quotient_steps),
    (extremes.minimum, _smaller),
    (extremes.maximum, _larger),
    (extremes.clip, _clipped),
    (where, lambda c, a, b: (0.0, 1.0, 0.0) if c else (0.0, 0.0, 1.0)),
    (special.erf, lambda a: (2 / SQRT_PI * math.exp(-a * a),)),
    (special.erfc, lambda a: (-2 / SQRT_PI * math.exp(-a * a),)),
    (gamma.gamma, lambda a: (math.gamma(a) * gamma.digamma(a),)),
    (gamma.lgamma, lambda a: (gamma.digamma(a),)),
    (several.divmod_float, _quotient_and_remainder),
    (several.modf, _fraction_and_whole),
    (several.frexp, _significand),
    (polar.polar, _point),
    (polar.unpolar, _coordinates),
)


def _declare(relation: Relation, rule: Rule) -> None:
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
    partials.overlay(partials_of(relation.target))(made)


for _relation, _rule in RULES:
    _declare(_relation, _rule)
