"""Type domain: the classes that a value may have, by which calls are resolved."""

from __future__ import annotations

import itertools
import math
import operator
import types
import typing
from abc import ABCMeta
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from overlay.analysis.abstract_values import BOTTOM, TOP, ItemValues, KnownValue
from overlay.analysis.kind_functions import (
    NONE,
    SAMPLES,
    SCALARS,
    ClassOf,
    Kinds,
    MethodOfObject,
    one,
    result_of,
    table,
)
from overlay.analysis.lattice import Domain
from overlay.code.constants import Captured
from overlay.code.marks import Pattern, holds_items, matched
from overlay.code.read_bodies import signature_of_code
from overlay.core.errors import MethodNotFound
from overlay.core.location import location_of, name_of
from overlay.core.signature import shown_hint

__all__ = ["Kinds", "Types", "classes_of", "kinds_of"]

# limits, beyond which a value is TOP: classes of one value, combinations in one call
_MOST = 8
_COMBINATIONS = 64
# ``Union[...]`` takes any number of types, and classes that do not support ``|``.
_UNION: Any = typing.Union
# conditions that do not depend on the classes of their operands
_ORDERS = (operator.lt, operator.le, operator.gt, operator.ge, operator.contains, len)


def kinds_of(hint: Any) -> Any:
    """The abstract value of an annotation; TOP if it is neither a class nor a union of classes."""
    if hint is None:
        return NONE
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        domain = Types()
        parts = [kinds_of(each) for each in typing.get_args(hint)]
        found = parts[0]
        for each in parts[1:]:
            found = domain.join(found, each)
        return found
    plain = isinstance(hint, type) and typing.get_origin(hint) is None and hint is not object
    return one(hint) if plain else TOP


class Types(Domain):
    """Type domain: sets of possible classes, tuples item by item, known objects."""

    top = TOP
    bottom = BOTTOM
    table = table

    def join(self, one: Any, other: Any) -> Any:
        if one == other or other == BOTTOM:
            return one
        if one == BOTTOM:
            return other
        if _alike(one, other):
            pairs = zip(one.items, other.items, strict=True)
            return ItemValues(tuple(self.join(a, b) for a, b in pairs))
        left, right = _classes_in(one), _classes_in(other)
        if left is not None and right is not None:
            return ClassOf(left | right) if len(left | right) <= _MOST else TOP
        one, other = _plain(one), _plain(other)
        if isinstance(one, Kinds) and isinstance(other, Kinds):
            both = one.types | other.types
            return Kinds(both, _sites(one, other)) if len(both) <= _MOST else TOP
        return TOP

    def is_below(self, one: Any, other: Any) -> bool:
        return self.join(other, one) == other

    def widen(self, old: Any, new: Any) -> Any:
        found = self.join(old, new)
        return found if found == old else _shallow(found)

    def constant(self, value: Any) -> Any:
        if type(value) is Captured:
            return value.value
        if type(value) is tuple:
            return ItemValues(tuple(map(self.constant, value)))
        return one(type(value)) if type(value) in SAMPLES else KnownValue(value)

    def known(self, value: Any) -> tuple[Any] | None:
        if isinstance(value, MethodOfObject):
            return (types.MethodType(value.function.value, Captured(value.receiver)),)
        return (value.value,) if isinstance(value, KnownValue) else None

    def hint(self, value: Any) -> Any:
        value = _plain(value)
        return _UNION[tuple(value.types)] if isinstance(value, Kinds) else None

    def parameter(self, place: int, hint: Any) -> Any:
        return TOP if hint is None else kinds_of(hint)

    def instance(self, cls: Any) -> Any:
        return one(cls)

    def alternatives(self, args: Sequence[Any]) -> Sequence[tuple[Any, ...]]:
        parts = [_alone(value) for value in args]
        if math.prod(map(len, parts)) > _COMBINATIONS:
            return (tuple(args),)
        return tuple(itertools.product(*parts))

    def check(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        plain: Any = getattr(function, "py_func", function)
        if type(plain) is types.FunctionType:
            try:
                signature_of_code(plain).bind(*args, **kwargs)
            except TypeError as error:
                raise MethodNotFound(
                    f"{name_of(plain)} does not take such arguments: {error}",
                    notes=[("defined", location_of(plain))],
                    help="call it as it is defined",
                ) from None
            return
        classes = tuple(map(_class_of, args))
        if kwargs or None in classes or result_of(function, classes) != BOTTOM:
            return
        raise MethodNotFound(
            f"{name_of(function)}({', '.join(map(shown_hint, classes))}) has no method",
            help="add a method for these types, or convert the arguments",
        )

    # ---- conditions ----

    def assume(self, function: Callable[..., Any], args: Sequence[Any], truth: bool) -> Any:
        args = tuple(args)
        if function is isinstance and len(args) == 2:
            return _narrowed(args, truth)
        if function is operator.is_ or function is operator.eq:
            return _compared(args, truth)
        if function is operator.is_not or function is operator.ne:
            return _compared(args, not truth)
        if function is holds_items:
            return _kept(args, lambda c: c not in SCALARS) if truth else args
        if function is bool:
            return _kept(args, lambda c: c is not types.NoneType) if truth else args
        if any(function is each for each in _ORDERS):
            return args
        return tuple(TOP if isinstance(v, Kinds) and len(v.types) > 1 else v for v in args)

    def backwards(self, function: Callable[..., Any], args: Sequence[Any], result: Any) -> Any:
        if function is matched and isinstance(result, Kinds) and len(result.types) == 1:
            return _matched(tuple(args), result != NONE)
        classes = _classes_in(result)
        if function is not type or len(args) != 1 or classes is None:
            return tuple(args)
        return _kept(tuple(args), lambda c: c in classes) or (BOTTOM,)


def _alike(one: Any, other: Any) -> bool:
    """Whether both are tuples of one length."""
    both = isinstance(one, ItemValues) and isinstance(other, ItemValues)
    return both and len(one.items) == len(other.items)


def _classes_in(value: Any) -> frozenset[Any] | None:
    """The classes that an abstract class object may be; None if it is none."""
    if isinstance(value, ClassOf):
        return value.types
    is_class = isinstance(value, KnownValue) and type(value.value) is type
    return frozenset({value.value}) if is_class else None


def _plain(value: Any) -> Any:
    return one(tuple) if isinstance(value, ItemValues) else value


def _shallow(value: Any) -> Any:
    """Replace nested tuples by their class, so that widening terminates."""
    if isinstance(value, ItemValues):
        return ItemValues(tuple(map(_plain, value.items)))
    return (
        MethodOfObject(value.function, _plain(value.receiver))
        if isinstance(value, MethodOfObject)
        else value
    )


def _alone(value: Any) -> list[Any]:
    if not isinstance(value, Kinds):
        return [value]
    if len(value.types) == 1:
        return [value]
    return [Kinds(frozenset({c}), value.sites) for c in sorted(value.types, key=shown_hint)]


def _class_of(value: Any) -> Any:
    if isinstance(value, KnownValue):
        return type(value.value)
    value = _plain(value)
    return next(iter(value.types)) if isinstance(value, Kinds) and len(value.types) == 1 else None


# ---- conditions ---------------------------------------------------------------------------


def _kept(args: tuple[Any, ...], holds: Callable[[Any], bool]) -> Any:
    if not isinstance(args[0], Kinds):
        return args
    kept = frozenset(c for c in args[0].types if holds(c))
    value = args[0] if kept == args[0].types else Kinds(kept, args[0].sites)
    return (value, *args[1:]) if kept else None


def _sites(one: Kinds, other: Kinds) -> frozenset[Any] | None:
    """The sites of the containers and objects of two values; scalars have none."""
    found: frozenset[Any] = frozenset()
    for each in (one, other):
        if not each.types.issubset(SCALARS):
            if each.sites is None:
                return None
            found |= each.sites
    return found or None


def _narrowed(args: tuple[Any, ...], truth: bool) -> Any:
    """Refine the arguments of an ``isinstance`` by its result."""
    classes = classes_of(args[1])
    if classes is None:
        return (TOP, *args[1:])
    value = args[0]
    if not isinstance(value, Kinds):
        kind = _class_of(value)
        known = kind is not None and issubclass(kind, classes)
        return None if kind is not None and known is not truth else args
    return _kept(args, lambda c: issubclass(c, classes) is truth)


def _matched(args: tuple[Any, ...], truth: bool) -> Any:
    """Refine the arguments of a pattern ``cls(...)`` by whether it matched."""
    value, cls, pattern = args
    if not truth and pattern != KnownValue(Pattern.PLAIN):
        return args
    found = _narrowed((value, cls), truth)
    return (BOTTOM, cls, pattern) if found is None else (*found, pattern)


def classes_of(value: Any) -> tuple[Any, ...] | None:
    """The classes in the second argument of ``isinstance``; None if they are unknown, or have
    ``__instancecheck__`` methods of the program."""
    if isinstance(value, ItemValues):
        parts = [classes_of(item) for item in value.items]
        return None if None in parts else tuple(c for part in parts for c in part or ())
    if not isinstance(value, KnownValue):
        return None
    found = typing.get_args(value.value) if type(value.value) is types.UnionType else (value.value,)
    native = all(
        type(c) is type or (type(c) is ABCMeta and c.__module__ in ("collections.abc", "numbers"))
        for c in found
    )
    return found if native else None


def _compared(args: tuple[Any, ...], same: bool) -> Any:
    """Refine the operands of ``is`` by its result."""
    value, other = args
    if other == NONE:
        if isinstance(value, Kinds):
            return _kept(args, lambda c: (c is types.NoneType) is same)
        is_something = isinstance(value, (KnownValue, ItemValues, MethodOfObject, ClassOf))
        return None if is_something and same else args
    left, right = _classes_in(value), _classes_in(other)
    if left is not None and right is not None and len(right) == 1:
        kept = left & right if same else left - right
        return (_one_of(kept), other) if kept else None
    return tuple(TOP if isinstance(v, Kinds) and len(v.types) > 1 else v for v in args)


def _one_of(classes: frozenset[Any]) -> Any:
    return KnownValue(next(iter(classes))) if len(classes) == 1 else ClassOf(classes)
