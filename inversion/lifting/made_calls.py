"""Calls with values that the function makes: objects, inner functions, iterables; and
its results.
"""

from __future__ import annotations

from collections.abc import Sequence
from types import CellType, FunctionType
from typing import TYPE_CHECKING, Any

from inversion.errors import NotInvertible
from inversion.lifting.class_instances import by_operator, instance_call, method_of
from inversion.lifting.container_calls import container_call
from inversion.lifting.heap import frozen, thawed
from inversion.lifting.iterable_calls import has_own_binding, held_by, iterable_call
from inversion.lifting.lifted_values import (
    BoundMethod,
    CallSite,
    Constant,
    Generating,
    InnerFunction,
    Iterating,
    KnownObject,
    Named,
    Partial,
    Range,
    Tupled,
    Value,
    Values,
    Variable,
    function_in,
)
from inversion.lifting.sequence_calls import sequence_of
from overlay.core.target import describe
from primitives.sequences.lists import ELEMENTS

if TYPE_CHECKING:
    from inversion.lifting.lifter import Lifter

__all__ = [
    "as_argument",
    "as_result",
    "called",
    "has_own_binding",
    "made_call",
    "without_objects",
]


def made_call(
    lifter: Lifter, site: CallSite, targets: Sequence[Any], args: Values, kwargs: Named
) -> Value | None:
    """The result of a call with values that the function makes, or of a call that makes one; None
    for another call.
    """
    return (
        by_operator(lifter, site, targets, args)
        or container_call(lifter, site, targets, args, kwargs)
        or iterable_call(lifter, site, targets[-1], args, kwargs)
        or instance_call(lifter, site, targets[-1], args, kwargs)
    )


def called(lifter: Lifter, site: CallSite, function: Value, args: Values, kwargs: Named) -> Value:
    """The value of a call of a value that is a function."""
    if isinstance(function, BoundMethod):
        return lifter.call(site, (function.function,), (function.instance, *args), kwargs)
    if isinstance(function, Partial):
        return called(
            lifter, site, function.function, (*function.args, *args), {**function.kwargs, **kwargs}
        )
    if isinstance(function, InnerFunction):
        return lifter.through(site, function_of(function), args, kwargs, function.cells)
    method = method_of(function, "__call__")
    if method is not None:
        return lifter.call(site, (method,), (function, *args), kwargs)
    return lifter.call(site, (function_in(site, function),), args, kwargs)


def function_of(inner: InnerFunction) -> FunctionType:
    """A Python function with the code and the defaults of an inner function. It is
    read, not run.
    """
    cells = tuple(CellType() for _ in inner.code.co_freevars)
    found = FunctionType(inner.code, inner.module, inner.code.co_name, inner.defaults, cells)
    found.__kwdefaults__ = dict(inner.named)
    return found


def as_argument(lifter: Lifter, value: Value) -> Value:
    """An argument of the program, with a new object for each mutable part."""
    return thawed(lifter.known, value)


def without_objects(
    lifter: Lifter, site: CallSite, args: Values, kwargs: Named
) -> tuple[Values, Named]:
    """The arguments of a call without effects, with the contents of objects in their place."""
    found = tuple(frozen(lifter.known, arg, site.where) for arg in args)
    return found, {n: frozen(lifter.known, arg, site.where) for n, arg in kwargs.items()}


def as_result(lifter: Lifter, site: CallSite, function: Any, value: Value) -> Value:
    """A result as an operand, or as a structure of operands. A list of numbers of one type, or of
    strings, is one operand.
    """
    if isinstance(value, Generating):
        raise NotInvertible(
            f"cannot invert {describe(function)}: a call gives a generator",
            where=site.where,
            help="return a tuple or a list of what it yields",
        )
    return _structure(lifter, site, frozen(lifter.known, value, site.where))


def _structure(lifter: Lifter, site: CallSite, value: Value) -> Value:
    if isinstance(value, (Iterating, Range)):
        return value
    if isinstance(value, Tupled) and value.kind is list and value.items:
        kinds = {item.kind for item in value.items}
        texts = kinds == {str}
        flat = all(isinstance(item, (Variable, Constant)) for item in value.items)
        if texts or (flat and len(kinds) == 1 and kinds <= set(ELEMENTS)):
            return sequence_of(lifter, site, value)
    if isinstance(value, Tupled) and value.kind is str:
        return sequence_of(lifter, site, value)
    if isinstance(value, Tupled):
        return value.of(_structure(lifter, site, item) for item in value.items)
    if isinstance(value, KnownObject) and isinstance(value.value, (list, dict, bytes)):
        held = held_by(lifter, site, value)
        assert held is not None
        return _structure(lifter, site, held)
    return value
