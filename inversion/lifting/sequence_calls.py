"""Calls of functions and methods of strings and lists, with arguments converted to operands."""

from __future__ import annotations

import functools
import operator
import types
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeGuard

from inversion.errors import NotInvertible
from inversion.lifting.lifted_values import (
    BoundMethod,
    CallSite,
    KnownObject,
    Named,
    Tupled,
    Value,
    Values,
    numbers_of,
    plain,
    shown_kind,
    value_of,
)
from inversion.program.statements import Constant, Variable
from primitives.domains import Strings
from primitives.sequences.chains import chain
from primitives.sequences.items import apart
from primitives.sequences.lists import ELEMENTS, is_list, is_sequence, list_of
from primitives.sequences.parts import sliced

if TYPE_CHECKING:
    from inversion.lifting.lifter import Lifter

__all__ = ["bound_method", "characters_of", "sequence_call", "sequence_of", "varies"]


def varies(value: Value) -> TypeGuard[Variable]:
    """Return whether a value is an unknown string or list."""
    return isinstance(value, Variable) and is_sequence(value.kind)


def bound_method(base: Value, name: str) -> BoundMethod | None:
    """A method of a string or list that is not constant; None if it does not exist."""
    if not varies(base):
        return None
    function = getattr(str if base.kind is str else list, name, None)
    return BoundMethod(function, base) if callable(function) else None


def sequence_of(lifter: Lifter, site: CallSite, value: Value, kind: Any = None) -> Value:
    """A constant string or a list of values as an operand; other values unchanged.

    kind: the required type of a list, if it is known. Raises NotInvertible for lists with items of
    several types, or of types other than numbers and strings.
    """
    if isinstance(value, KnownObject) and isinstance(value.value, str):
        return Constant(str(value.value))
    if isinstance(value, Tupled) and value.kind is str:
        items = [sequence_of(lifter, site, item) for item in value.items]
        if all(isinstance(item, Constant) for item in items):
            return Constant("".join(map(plain, items)))
        return lifter.state(site, chain(str, (True,) * len(items)), numbers_of(items))
    if not isinstance(value, Tupled) or value.kind is not list:
        return value
    if not value.items:
        return value
    items = [sequence_of(lifter, site, item) for item in value.items]
    element = _common(site, items)
    if is_list(kind) and {element, kind.element} == {int, float}:
        element = float
    converted = [
        item if item.kind is element else lifter.converted(site, item, element)
        for item in numbers_of(items)
    ]
    if all(isinstance(item, Constant) for item in converted):
        return Constant([plain(item) for item in converted])
    return lifter.state(site, chain(list_of(element), (True,) * len(converted)), converted)


def characters_of(lifter: Lifter, site: CallSite, value: Value) -> tuple[Value, ...] | None:
    """The characters of a string whose length is known, else None."""
    if isinstance(value, (KnownObject, Constant)) and isinstance(value.value, str):
        return tuple(map(KnownObject, value.value))
    if isinstance(value, Tupled) and value.kind is str:
        return value.items
    if not isinstance(value, Variable) or value.kind is not str:
        return None
    domain = lifter.domains.get(value)
    if not isinstance(domain, Strings) or not domain.is_fixed or not domain.low:
        return None
    if domain.low == 1:
        return (value,)
    found = lifter.state(site, apart(str, (None,) * domain.low, domain.alphabet), [value])
    assert isinstance(found, Tupled)
    return found.items


def _common(site: CallSite, items: Values) -> type:
    """The element type of a list of these items."""
    kinds = {int if item.kind is bool else item.kind for item in items}
    if kinds == {int, float}:
        return float
    if len(kinds) > 1 or not kinds <= set(ELEMENTS):
        raise _mixed(site, items)
    return kinds.pop()


def _mixed(site: CallSite, items: Values) -> NotInvertible:
    shown = ", ".join(dict.fromkeys(map(shown_kind, items)))
    return NotInvertible(
        f"cannot invert a list with items of the types {shown}",
        where=site.where,
        help="lists of float, of int and of str are inverted; else use a tuple",
    )


def sequence_call(
    lifter: Lifter, site: CallSite, target: Any, args: Values, kwargs: Named
) -> Value | None:
    """The result of a call with a string or list among its arguments; None for any other call."""
    owner = getattr(target, "__self__", None)
    if isinstance(target, types.BuiltinMethodType) and isinstance(owner, str):
        target, args = getattr(str, target.__name__), (KnownObject(owner), *args)
    if kwargs or not args or not any(map(_has_sequence, args)):
        return None
    if target is str.join and len(args) == 2 and isinstance(args[1], Tupled):
        return _joined(lifter, site, args[0], args[1].items)
    known = [sequence_of(lifter, site, arg, _partner(args)) for arg in args]
    if target is operator.add and len(known) == 2:
        for one, other in (known, known[::-1]):
            if isinstance(one, Tupled) and not one.items and is_list(other.kind):
                return other
    if _is_folded(target, known):
        return value_of(target(*map(plain, known)))
    if target is operator.getitem and isinstance(known[1], KnownObject):
        return _sliced(lifter, site, *known)
    if target in (operator.add, operator.mul) and is_sequence(known[-1].kind):
        known = known[::-1] if target is operator.mul else known
    if any(not isinstance(arg, (Variable, Constant)) for arg in known):
        return None
    operands = numbers_of(known)
    found = site.resolver.relation(target, [arg.kind for arg in operands], base=not site.overlaid)
    return None if found is None else lifter.state(site, found, operands)


def _has_sequence(value: Value) -> bool:
    if isinstance(value, Tupled):
        is_list_of_texts = value.kind is list and any(map(_has_sequence, value.items))
        return value.kind is str or is_list_of_texts
    if isinstance(value, KnownObject):
        return isinstance(value.value, str)
    return isinstance(value, (Variable, Constant)) and is_sequence(value.kind)


def _partner(args: Values) -> Any:
    """The type of the first argument that is an unknown list, or None."""
    return next((a.kind for a in args if isinstance(a, Variable) and is_list(a.kind)), None)


def _is_folded(target: Any, args: Values) -> bool:
    """Return whether a call is one of a string method with constant arguments, which is computed at
    lifting.
    """
    is_method = getattr(target, "__objclass__", None) is str
    return is_method and not any(isinstance(arg, (Variable, Tupled)) for arg in args)


def _joined(lifter: Lifter, site: CallSite, separator: Value, items: Values) -> Value:
    """Strings with a separator between them."""
    if not items:
        return KnownObject("")

    def add(one: Value, other: Value) -> Value:
        for part in (separator, other):
            one = lifter.call(replace(site), (operator.add,), (one, part), {})
        return one

    return functools.reduce(add, items)


def _sliced(lifter: Lifter, site: CallSite, source: Value, index: Value) -> Value | None:
    """A slice, with constant bounds, of a string or list that is not constant."""
    part = plain(index)
    if not isinstance(part, slice) or not isinstance(source, Variable):
        return None
    ends: list[Any] = [part.start, part.stop, part.step]
    if any(end is not None and type(end) is not int for end in ends) or part.step == 0:
        raise NotInvertible(
            f"cannot invert a slice of {source} from {part.start} to {part.stop} by {part.step}",
            where=site.where,
            help="the bounds of slices are integers that are known beforehand, the step is not 0",
        )
    return lifter.state(site, sliced(source.kind, *ends), [source])
