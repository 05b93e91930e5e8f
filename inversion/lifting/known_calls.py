"""Calls whose results are known while a function is lifted: structure, types, identity."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from inversion.lifting.lifted_values import (
    Iterating,
    KnownObject,
    Named,
    Tupled,
    Value,
    Values,
    items_in_turn,
    plain,
    value_of,
    variables_in,
)
from inversion.program.statements import Constant, Variable
from primitives.arrays.domain import is_array

__all__ = ["known_call"]


def known_call(target: Any, args: Values, kwargs: Named) -> Value | None:
    """The result of a call if it is known at lifting, else None: iterators over known items, type
    checks, comparisons of known objects.
    """
    if target is enumerate and len(args) == 1 and set(kwargs) == {"start"}:
        args, kwargs = (*args, kwargs["start"]), {}
    if target is zip and set(kwargs) == {"strict"} and not _is_open(kwargs["strict"]):
        return _zipped(*args, strict=bool(plain(kwargs["strict"])))
    if kwargs or not args:
        return None
    if all(isinstance(arg, Tupled) and arg.kind is tuple for arg in args):
        together = _tuple_of(target, *args)
        if together is not None:
            return together
    found = ITERATORS.get(target) if _is_hashable(target) else None
    if found is not None:
        return found(*args)
    if target is isinstance and len(args) == 2:
        return _is_instance(*args)
    numbers = all(isinstance(arg, (Variable, Constant)) for arg in args)
    if target in (operator.is_, operator.is_not) and any(map(_is_none, args)) and len(args) == 2:
        return Constant(all(map(_is_none, args)) is (target is operator.is_))
    if target in (operator.is_, operator.is_not) and any(is_array(arg.kind) for arg in args):
        return Constant((args[0] == args[1]) is (target is operator.is_))
    known = not any(map(_is_open, args))
    if _is_hashable(target) and target in COMPARISONS and known and not numbers:
        return value_of(target(*map(plain, args)))
    return None


def _tuple_of(target: Any, one: Value, *others: Value) -> Value | None:
    """The result of ``tuple(a)`` or ``a + b`` for tuples, else None."""
    if target is tuple and not others:
        return one
    if target is not operator.add or len(others) != 1:
        return None
    items = (item for part in (one, *others) if isinstance(part, Tupled) for item in part.items)
    return Tupled(tuple, tuple(items))


def _is_hashable(target: Any) -> bool:
    return type(target).__hash__ is not None


def _is_none(value: Value) -> bool:
    return isinstance(value, KnownObject) and value.value is None


def _is_open(value: Value) -> bool:
    return bool(variables_in(value)) or not isinstance(value, (KnownObject, Constant, Tupled))


def _is_instance(value: Value, classes: Value) -> Value | None:
    """The result of ``isinstance``, from the type of the value in the program, or None."""
    if not isinstance(classes, (KnownObject, Tupled)) or variables_in(classes):
        return None
    if not isinstance(value, (Variable, Constant, KnownObject, Tupled)):
        return None
    kind = np.ndarray if is_array(value.kind) else value.kind
    return Constant(issubclass(kind, plain(classes)))


def _enumerated(values: Value, *start: Value) -> Value | None:
    items, first = (
        items_in_turn(values),
        [plain(number) for number in start if not _is_open(number)],
    )
    if items is None or len(first) < len(start):
        return None
    pairs = ((Constant(i), item) for i, item in enumerate(items, *first))
    return Iterating(None, tuple(Tupled(tuple, pair) for pair in pairs))


def _zipped(*values: Value, strict: bool = False) -> Value | None:
    rows = [row for row in map(items_in_turn, values) if row is not None]
    if len(rows) < len(values) or (strict and len(set(map(len, rows))) > 1):
        return None
    together = zip(*rows, strict=strict)
    return Iterating(None, tuple(Tupled(tuple, row) for row in together))


def _backwards(values: Value) -> Value | None:
    items = items_in_turn(values)
    return None if items is None else Iterating(None, items[::-1])


ITERATORS: Mapping[Any, Callable[..., Value | None]] = {
    zip: _zipped,
    enumerate: _enumerated,
    reversed: _backwards,
}
COMPARISONS = frozenset(
    (operator.eq, operator.ne, operator.is_, operator.is_not, operator.contains)
)
