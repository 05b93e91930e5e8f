"""Calls, attributes and items of arrays, as statements of a program."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from inversion.errors import NotInvertible
from inversion.lifting.array_calls import ArrayCall, operands_in
from inversion.lifting.elements import each, is_elementwise
from inversion.lifting.lifted_values import (
    CallSite,
    KnownObject,
    Named,
    Tupled,
    Value,
    Values,
    value_of,
)
from inversion.program.statements import Constant
from overlay.core.target import describe
from primitives.arrays.array_table import ARRAY_RELATIONS, MOVES
from primitives.arrays.domain import is_array, shape_of

if TYPE_CHECKING:
    from inversion.lifting.lifter import Lifter

__all__ = ["BoundArrayMethod", "array_attribute", "array_call", "complex_attribute", "holds_array"]

METHODS: Mapping[str, Any] = {
    name: getattr(np, name)
    for name in (
        "sum", "mean", "prod", "max", "min", "cumsum", "cumprod", "dot", "reshape", "ravel",
        "transpose", "swapaxes", "squeeze", "take", "repeat", "copy", "clip", "diagonal",
    )
} | {"flatten": np.ravel, "conj": np.conjugate, "conjugate": np.conjugate}  # fmt: skip

PARTS: Mapping[str, Any] = {"real": np.real, "imag": np.imag}

SHAPED = ("reshape", "transpose")  # they take a shape, or its lengths as separate arguments


@dataclass(frozen=True)
class BoundArrayMethod:
    """A method of an array, bound to it."""

    name: str
    base: Value

    def __call__(self) -> None:
        """Never called: makes the object callable, as methods are."""


def holds_array(value: Value) -> bool:
    """Whether a value is an array, or a tuple or list with one inside."""
    return any(is_array(operand.kind) for operand in operands_in(value))


def array_attribute(lifter: Lifter, site: CallSite, base: Value, name: str) -> Value:
    """An attribute of an array: one of its shape, ``T``, or a method."""
    shape = shape_of(base.kind)
    known = {"shape": shape, "ndim": len(shape), "size": int(np.prod(shape))}
    if name in known:
        return value_of(known[name])
    if name == "T":
        return lifter.call(site, (np.transpose,), [base], {})
    if name in PARTS:
        return lifter.call(site, (PARTS[name],), [base], {})
    if name in METHODS:
        return KnownObject(BoundArrayMethod(name, base))
    raise NotInvertible(
        f"cannot invert the attribute {name!r} of an array",
        where=site.where,
        notes=[("attributes that have a meaning", ", ".join((*known, "T", *METHODS)))],
        help="use a function of numpy that has a relation",
    )


def complex_attribute(lifter: Lifter, site: CallSite, base: Value, name: str) -> Value | None:
    """A part or the conjugate of a complex number; None for other attributes."""
    if name in PARTS:
        return lifter.call(site, (PARTS[name],), [base], {})
    return KnownObject(BoundArrayMethod(name, base)) if name == "conjugate" else None


def array_call(
    lifter: Lifter, site: CallSite, targets: Sequence[Any], args: Values, kwargs: Named
) -> Value | None:
    """The value of a call with arrays among its arguments; None for a function whose body is to be
    inlined.

    Raises NotInvertible where the function has no relation for these arguments.
    """
    target = targets[0]
    if isinstance(target, BoundArrayMethod):
        if target.name in SHAPED and args and not isinstance(args[0], (Tupled, KnownObject)):
            args = [Tupled(tuple, tuple(args))]
        return lifter.call(site, (METHODS[target.name],), [target.base, *args], kwargs)
    if not any(map(holds_array, (*args, *kwargs.values()))):
        return _built(lifter, site, target, args, kwargs)
    if len(targets) > 1 and is_array(args[0].kind):
        raise NotInvertible(
            f"cannot invert {describe(target)} of an array: it changes the array in place",
            where=site.where,
            help="write x = x + y in place of x += y",
        )
    if target is len:
        return Constant(shape_of(args[0].kind)[0])
    called = ArrayCall(lifter, site, target, args, kwargs)
    if called.is_constant:
        return called.folded()
    if target in MOVES:
        return called.moved()
    if is_elementwise(target):
        return each(called)
    if target in ARRAY_RELATIONS:
        return called.related()
    return None


def _built(
    lifter: Lifter, site: CallSite, target: Any, args: Values, kwargs: Named
) -> Value | None:
    """An array made of numbers: ``np.array([a, b])``, ``np.ones(3)``; None for other calls."""
    called = ArrayCall(lifter, site, target, args, kwargs)
    if called.is_constant:
        return called.array() if _makes_arrays(target) else None
    if _hashable(target) and target in MOVES and target is not operator.getitem:
        return called.moved()
    return None


def _makes_arrays(target: Any) -> bool:
    """Whether a function is a deterministic one of numpy."""
    module = getattr(target, "__module__", None) or ""
    own = module.partition(".")[0] == "numpy" and not module.startswith("numpy.random")
    return own and not isinstance(target, (type, np.ufunc))


def _hashable(target: Any) -> bool:
    return type(target).__hash__ is not None
