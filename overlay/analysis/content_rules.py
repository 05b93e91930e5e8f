"""Transfer functions for the contents of containers: displays, methods of builtin containers,
iteration, and attributes."""

from __future__ import annotations

import functools
import io
import operator
import os
import re
import types
from collections import deque, namedtuple
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from overlay.analysis.abstract_values import BOTTOM, TOP, ItemValues, Iteration, KnownValue
from overlay.analysis.attribute_names import is_of_program
from overlay.analysis.builtin_results import LISTS, RESULTS
from overlay.analysis.kind_functions import NONE, Exactly, Kinds, one, result_of
from overlay.analysis.object_attributes import text_of
from overlay.analysis.object_contents import ITEM, KEY
from overlay.analysis.protocol_checks import ARRAYS, member_class
from overlay.analysis.unpacked_arguments import REST
from overlay.code import marks
from overlay.code.constants import Captured
from overlay.core.table import MethodTable
from overlay.core.target import type_attribute

if TYPE_CHECKING:
    from overlay.analysis.checked_types import CheckedTypes

__all__ = ["RULES", "Rules", "contents_table", "of_constants"]

_HELD = frozenset((list, set, frozenset, tuple, deque, types.GeneratorType))
_OF_ITSELF = {str: one(str), bytes: one(int), bytearray: one(int), range: one(int)}

_NO_ITEMS = ItemValues(())
_CLASSES = 500  # of named tuples that functions make

Rule = Callable[..., Any]


class Rules:
    """The transfer functions, over the contents that a domain has."""

    def __init__(self, domain: CheckedTypes) -> None:
        self.domain = domain
        self.contents = domain.contents
        # by what is applied and to what: one object for equal ones
        self.partials: dict[Any, functools.partial[Any]] = {}

    def bound(self, transfer: Rule) -> Rule:
        """A transfer function, with these contents."""
        rule = _BOUND.get(transfer)
        if rule is None:
            return transfer

        def called(*args: Any, **kwargs: Any) -> Any:
            try:
                return rule(self, *args, **kwargs)
            except TypeError:  # a call of another form
                return self.unknown(*args, *kwargs.values())

        return called

    def unknown(self, *values: Any) -> Any:
        """The result of a call about which nothing is known."""
        self.domain.handed(values)
        return TOP

    def result_beside(self, function: Any, args: Sequence[Any], found: Any) -> Any:
        """The result of a native function whose callbacks return ``found``."""
        if function is map:
            return Iteration(found)
        if function is filter:
            return Iteration(self.item_of(args[1]))
        if function is sorted and len(args) == 1:
            return self.domain.made_here(list, self.item_of(args[0]))
        if function in (min, max):
            return smallest(self, *args)
        if function is list.sort:
            return NONE
        self.domain.handed(args)
        return TOP

    def of_types(self, function: Any, args: Sequence[Any]) -> Any:
        """The result of an operator on values of builtin classes."""
        classes = tuple(map(_class_of, args))
        if np.ndarray in classes and all(cls in _IN_ARRAYS for cls in classes):
            return ARRAYS
        found = TOP if None in classes else result_of(function, classes)
        return self.unknown(*args) if found == TOP else found

    # ---- items ----

    def item_of(self, value: Any) -> Any:
        """The join of the items that iteration over a value yields."""
        if isinstance(value, ItemValues):
            return self.domain.joined(value.items)
        if isinstance(value, Iteration):
            return value.item
        if value == BOTTOM:
            return BOTTOM
        if not isinstance(value, Kinds):
            members = member_class(value)
            return self.unknown(value) if members == TOP else members
        return self.domain.joined(self._item_of_class(cls, value) for cls in value.types)

    def _item_of_class(self, cls: Any, value: Kinds) -> Any:
        if cls in _OF_ITSELF:
            return _OF_ITSELF[cls]
        if cls in _HELD or type_attribute(cls, "__iter__") is tuple.__iter__:
            return self.contents.read(value.sites, ITEM)
        if cls is dict:
            return self.contents.read(value.sites, KEY)
        if cls in (int, float, bool, types.NoneType):  # an error of the program
            return BOTTOM
        return self.unknown(value)

    def values_of(self, value: Any) -> Any:
        """The join of the values of a dict."""
        if isinstance(value, Kinds) and value.types == frozenset({dict}):
            return self.contents.read(value.sites, ITEM)
        return self.unknown(value)

    def put(self, value: Any, item: Any, key: Any = BOTTOM) -> None:
        """Add an item to a container, of a dict with its key."""
        if not isinstance(value, Kinds):
            self.domain.handed((value, item, key))
            return
        if any(cls not in _HELD and cls is not dict for cls in value.types):
            self.domain.handed((value, item, key))
        for slot, each in ((ITEM, item), (KEY, key)):
            if each != BOTTOM:
                self.contents.write(value.sites, slot, each)

    def update(self, container: Any, other: Any) -> None:
        """Add the items of another container, or of a dict."""
        if isinstance(container, Kinds) and dict in container.types:
            is_dict = isinstance(other, Kinds) and other.types == frozenset({dict})
            if not is_dict:
                self.domain.handed((container, other))
                return
            self.put(container, self.values_of(other), self.item_of(other))
            return
        self.put(container, self.item_of(other))

    def has(self, value: Any, name: Any) -> bool | None:
        """Whether a value has an attribute; None if that is not certain."""
        text = text_of(name)
        return None if text is None else self.domain.has(value, text)


# classes whose operators with an array give an array, or one of its numbers
_IN_ARRAYS = (np.ndarray, np.float64, np.int64, np.bool_, int, float, bool, complex)
# By a function's identity: the function, and its rule.
_RULES: dict[int, tuple[Any, Rule]] = {}


def _rule(*functions: Any) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        _RULES.update({id(each): (each, rule) for each in functions})
        return rule

    return register


def _fixed(result: Any) -> Rule:
    def fixed(rules: Rules, *args: Any, **kwargs: Any) -> Any:
        return result

    return fixed


def _listed(item: Any) -> Rule:
    def listed(rules: Rules, *args: Any, **kwargs: Any) -> Any:
        return rules.domain.made_here(list, item)

    return listed


for _function, _result in RESULTS.values():
    _RULES[id(_function)] = _function, _fixed(_result)
for _function, _item in LISTS.values():
    _RULES[id(_function)] = _function, _listed(_item)


# ---- iteration and unpacking --------------------------------------------------------------


@_rule(iter)
def iterator(rules: Rules, value: Any) -> Any:
    is_own = isinstance(value, Kinds) and value.types == frozenset({types.GeneratorType})
    return value if is_own else Iteration(rules.item_of(value))


@_rule(marks.advance)
def advanced(rules: Rules, value: Any) -> Any:
    return value


@_rule(marks.first)
def first_item(rules: Rules, value: Any) -> Any:
    return rules.item_of(value)


@_rule(next)
def next_item(rules: Rules, value: Any, *default: Any) -> Any:
    return rules.domain.joined((rules.item_of(value), *default))


@_rule(marks.unpack)
def unpacked(rules: Rules, value: Any, count: Any) -> Any:
    if isinstance(value, ItemValues):
        expected = count.only if isinstance(count, Exactly) else None
        return value if len(value.items) == expected else BOTTOM
    return Iteration(rules.item_of(value))


@_rule(marks.give)
def sent(rules: Rules, value: Any) -> Any:
    """The value that is sent into a generator; what it gives is among the generator's contents."""
    return TOP


@_rule(marks.pick)
def picked(rules: Rules, items: Any, place: Any) -> Any:
    if isinstance(items, ItemValues) and isinstance(place, Exactly):
        return items.items[place.only]
    return rules.item_of(items)


@_rule(marks.pack)
def packed(rules: Rules, *items: Any) -> Any:
    return one(tuple) if REST in items else ItemValues(items)


@_rule(enumerate)
def enumerated(rules: Rules, value: Any, start: Any = None) -> Any:
    return Iteration(ItemValues((one(int), rules.item_of(value))))


@_rule(zip)
def zipped(rules: Rules, *values: Any, strict: Any = None) -> Any:
    return Iteration(ItemValues(tuple(map(rules.item_of, values))))


@_rule(filter)
def filtered(rules: Rules, function: Any, value: Any) -> Any:
    rules.domain.handed((function,))
    return Iteration(rules.item_of(value))


@_rule(reversed)
def backwards(rules: Rules, value: Any) -> Any:
    return Iteration(rules.item_of(value))


@_rule(list, sorted)
def listed(rules: Rules, *values: Any, key: Any = None, reverse: Any = None) -> Any:
    if key not in (None, NONE):
        rules.domain.handed((key, *values))
    item = rules.item_of(values[0]) if values else BOTTOM
    return rules.domain.made_here(list, item)


def _collects(cls: type) -> Rule:
    def collect(rules: Rules, *values: Any) -> Any:
        if len(values) == 1 and cls is tuple and isinstance(values[0], ItemValues):
            return values[0]
        item = rules.item_of(values[0]) if values else BOTTOM
        return rules.domain.made_here(cls, item) if values or cls is not tuple else ItemValues(())

    return collect


for _cls in (set, frozenset, tuple):
    _RULES[id(_cls)] = _cls, _collects(_cls)


@_rule(deque)
def queued(rules: Rules, value: Any = None, maxlen: Any = None) -> Any:
    return rules.domain.made_here(deque, BOTTOM if value is None else rules.item_of(value))


@_rule(dict)
def mapped(rules: Rules, *values: Any, **named: Any) -> Any:
    made = rules.domain.made_here(dict, BOTTOM)
    for value in values:
        rules.update(made, value)
    for value in named.values():
        rules.put(made, value, one(str))
    if not values:
        rules.domain.names.add(made, named)
    return made


@_rule(min, max)
def smallest(rules: Rules, *values: Any, **named: Any) -> Any:
    if len(values) == 1:
        return rules.domain.joined((rules.item_of(values[0]), *named.values()))
    return rules.domain.joined((*values, *named.values()))


@_rule(len)
def length(rules: Rules, value: Any) -> Any:
    if isinstance(value, ItemValues):
        return rules.domain.constant(len(value.items))
    return one(int)


@_rule(divmod)
def divided(rules: Rules, one_value: Any, other: Any) -> Any:
    both = one_value, other
    is_int = all(isinstance(v, Kinds) and v.types <= {int, bool} for v in both)
    return ItemValues((one(int),) * 2) if is_int else ItemValues((TOP, TOP))


@_rule(operator.pow)
def raised(rules: Rules, *values: Any) -> Any:
    if all(isinstance(v, Kinds) and v.types <= {int, bool} for v in values):
        return Kinds(frozenset({int, float}))
    return rules.unknown(*values)


@_rule(re.Match.group)
def group(rules: Rules, match: Any, *names: Any) -> Any:
    if len(names) < 2:
        return Kinds(frozenset({str, bytes, types.NoneType}))
    return one(tuple)


@_rule(re.sub, re.Pattern.sub)
def substituted(
    rules: Rules, pattern: Any, replacement: Any, text: Any, *more: Any, **named: Any
) -> Any:
    rules.domain.handed((replacement,))
    return one(_class_of(text)) if _class_of(text) in (str, bytes) else TOP


@_rule(re.escape, os.fspath)
def escaped(rules: Rules, text: Any) -> Any:
    return one(_class_of(text)) if _class_of(text) in (str, bytes) else rules.unknown(text)


# ---- constants ----------------------------------------------------------------------------

# functions that conditions on the platform and its version apply, and that run no code of a program
_OF_CONSTANTS = frozenset(
    map(
        id,
        (
            *(operator.getitem, operator.contains, operator.eq, operator.ne, operator.lt),
            *(operator.le, operator.gt, operator.ge, slice, str.startswith, str.endswith),
            *(str.lower, str.upper, str.strip),
        ),
    )
)


def of_constants(function: Any, args: Sequence[Any]) -> tuple[Any] | None:
    """The result of a function of constants, such as ``sys.platform.startswith("win")``; None where
    an argument is not known, or the call raises.
    """
    if id(function) not in _OF_CONSTANTS:
        return None
    given = [constant_of(value) for value in args]
    known = [each[0] for each in given if each is not None]
    if len(known) < len(given):
        return None
    try:
        return (function(*known),)
    except Exception:
        return None


def constant_of(value: Any) -> tuple[Any] | None:
    """The constant that a value is: a string, a number, or a tuple of these; None otherwise."""
    if isinstance(value, Exactly):
        return None if value.only is None else (value.only,)
    if isinstance(value, ItemValues):
        items = [constant_of(item) for item in value.items]
        known = tuple(each[0] for each in items if each is not None)
        return (known,) if len(known) == len(items) else None
    if isinstance(value, Kinds) and value.types == NONE.types:
        return (None,)
    held: Any = value.value if isinstance(value, KnownValue) else None
    if not isinstance(held, tuple) or type(held).__eq__ is not tuple.__eq__:
        return None
    return (held,) if all(type(item) in (int, str) for item in held) else None


@_rule(slice)
def slice_of(rules: Rules, *bounds: Any) -> Any:
    found = of_constants(slice, bounds)
    return one(slice) if found is None else Exactly(one(slice).types, None, frozenset(found))


# ---- indices ------------------------------------------------------------------------------


@_rule(operator.getitem, list.__getitem__, tuple.__getitem__, dict.__getitem__)
def indexed(rules: Rules, value: Any, place: Any) -> Any:
    is_slice = isinstance(place, Kinds) and place.types == frozenset({slice})
    members = member_class(value)
    if members != TOP:
        return members
    if isinstance(value, ItemValues):
        if isinstance(place, Exactly) and type(place.only) is int:
            fits = -len(value.items) <= place.only < len(value.items)
            return value.items[place.only] if fits else BOTTOM
        item = rules.item_of(value)
        return rules.domain.made_here(tuple, item) if is_slice else item
    if not isinstance(value, Kinds) or len(value.types) != 1:
        return rules.unknown(value)
    (cls,) = value.types
    if cls is dict:
        return rules.values_of(value)
    if cls is str or (cls is bytes and is_slice):
        return one(cls)
    if is_slice:
        return value if cls in (list, tuple, range) else rules.unknown(value)
    is_int = isinstance(place, Kinds) and place.types <= {int, bool}
    return rules.item_of(value) if is_int else rules.unknown(value)


@_rule(operator.setitem)
def stored(rules: Rules, value: Any, place: Any, item: Any) -> Any:
    if isinstance(place, Kinds) and slice in place.types:
        rules.put(value, rules.item_of(item))
    elif isinstance(value, Kinds) and value.types == frozenset({dict}):
        rules.put(value, item, place)
    else:
        rules.put(value, item)
    return NONE


@_rule(operator.delitem)
def deleted(rules: Rules, value: Any, place: Any) -> Any:
    rules.domain.names.lessen(value)
    return NONE


@_rule(operator.add, operator.iadd)
def added(rules: Rules, value: Any, other: Any) -> Any:
    if isinstance(value, ItemValues) and isinstance(other, ItemValues):
        return ItemValues(value.items + other.items)
    both = value, other
    for cls in (list, tuple):
        if all(_class_of(v) is cls for v in both):
            item = rules.domain.joined(map(rules.item_of, both))
            return rules.domain.made_here(cls, item)
    return rules.of_types(operator.add, both)


@_rule(operator.mul)
def repeated(rules: Rules, value: Any, other: Any) -> Any:
    for one_value, count in ((value, other), (other, value)):
        cls = _class_of(one_value)
        if cls in (list, tuple) and _class_of(count) in (int, bool):
            return rules.domain.made_here(cls, rules.item_of(one_value))
    return rules.of_types(operator.mul, (value, other))


@_rule(operator.mod)
def formatted(rules: Rules, value: Any, other: Any) -> Any:
    if _class_of(value) in (str, bytes):
        if rules.contents.holds(other, is_of_program):
            rules.domain.handed((other,))
        return one(_class_of(value))
    return rules.of_types(operator.mod, (value, other))


def _class_of(value: Any) -> Any:
    if isinstance(value, ItemValues):
        return tuple
    is_one = isinstance(value, Kinds) and len(value.types) == 1
    return next(iter(value.types)) if is_one else None


# ---- methods of lists, dicts and sets -----------------------------------------------------


@_rule(list.append, set.add, deque.append, deque.appendleft)
def appended(rules: Rules, value: Any, item: Any) -> Any:
    rules.put(value, item)
    return NONE


@_rule(list.insert)
def inserted(rules: Rules, value: Any, place: Any, item: Any) -> Any:
    rules.put(value, item)
    return NONE


@_rule(list.extend, set.update, dict.update, deque.extend, deque.extendleft)
def extended(rules: Rules, value: Any, *others: Any, **named: Any) -> Any:
    for other in others:
        rules.update(value, other)
    for item in named.values():
        rules.put(value, item, one(str))
    return NONE


@_rule(list.pop, set.pop, deque.pop, deque.popleft)
def popped(rules: Rules, value: Any, place: Any = None) -> Any:
    return rules.item_of(value)


@_rule(list.copy, set.copy, dict.copy, frozenset.copy)
def copied(rules: Rules, value: Any) -> Any:
    return value


@_rule(
    *(list.clear, list.reverse, list.remove, set.clear, set.discard, set.remove, dict.clear),
    deque.clear,
)
def removed(rules: Rules, value: Any, item: Any = None) -> Any:
    rules.domain.names.lessen(value)
    return NONE


@_rule(list.sort)
def ordered(rules: Rules, value: Any, *, key: Any = None, reverse: Any = None) -> Any:
    return NONE


@_rule(set.union, set.intersection, set.difference)
def combined(rules: Rules, value: Any, *others: Any) -> Any:
    item = rules.domain.joined(map(rules.item_of, (value, *others)))
    return rules.domain.made_here(set, item)


@_rule(dict.pop)
def taken_out(rules: Rules, value: Any, key: Any, default: Any = NONE) -> Any:
    rules.domain.names.lessen(value)
    return got(rules, value, key, default)


@_rule(dict.get)
def got(rules: Rules, value: Any, key: Any, default: Any = NONE) -> Any:
    return rules.domain.join(rules.values_of(value), default)


@_rule(dict.setdefault)
def got_or_set(rules: Rules, value: Any, key: Any, default: Any = NONE) -> Any:
    rules.put(value, default, key)
    return rules.values_of(value)


@_rule(dict.keys)
def keys(rules: Rules, value: Any) -> Any:
    return Iteration(rules.item_of(value))


@_rule(dict.values)
def values(rules: Rules, value: Any) -> Any:
    return Iteration(rules.values_of(value))


@_rule(dict.items)
def pairs(rules: Rules, value: Any) -> Any:
    return Iteration(ItemValues((rules.item_of(value), rules.values_of(value))))


@_rule(dict.popitem)
def popped_pair(rules: Rules, value: Any) -> Any:
    rules.domain.names.lessen(value)
    return ItemValues((rules.item_of(value), rules.values_of(value)))


# ---- files, arrays ----------------------------------------------------------------------------


@_rule(io.IOBase.__enter__)
def entered_file(rules: Rules, value: Any) -> Any:
    return value


for _array in (np.zeros, np.ones, np.empty, np.full, np.arange, np.linspace, np.asarray, np.eye):
    _RULES[id(_array)] = _array, _fixed(one(np.ndarray))
for _array in (np.ndarray.reshape, np.ndarray.ravel, np.ndarray.flatten, np.ndarray.transpose):
    _RULES[id(_array)] = _array, _fixed(one(np.ndarray))
_OPENED = (io.TextIOWrapper, io.BufferedReader, io.BufferedWriter, io.BufferedRandom, io.FileIO)
_RULES[id(open)] = open, _fixed(Kinds(frozenset(_OPENED)))


# ---- attributes and objects ---------------------------------------------------------------


@functools.lru_cache(_CLASSES)
def _tuple_class(name: str, fields: str | tuple[str, ...]) -> Any:
    """The class of named tuples with these fields; None if there is none."""
    try:
        return namedtuple(name, fields, module=__name__)  # pyright: ignore[reportUntypedNamedTuple]
    except ValueError:
        return None


@_rule(namedtuple)
def tuple_class(rules: Rules, name: Any, fields: Any) -> Any:
    text, names = text_of(name), text_of(fields)
    if names is None and isinstance(fields, ItemValues):
        parts = tuple(map(text_of, fields.items))
        names = None if None in parts else parts
    made = None if text is None or names is None else _tuple_class(text, names)
    return rules.unknown(name, fields) if made is None else KnownValue(made)


@_rule(functools.partial)
def applied_in_part(rules: Rules, function: Any, *args: Any, **named: Any) -> Any:
    known = rules.domain.known(function)
    if known is None or REST in args:
        return rules.unknown(function, *args, *named.values())
    key = function, args, tuple(named.items())
    if key not in rules.partials:
        held = {name: Captured(value) for name, value in named.items()}
        rules.partials[key] = functools.partial(known[0], *map(Captured, args), **held)
    return KnownValue(rules.partials[key])


@_rule(getattr)
def attribute(rules: Rules, value: Any, name: Any, *default: Any) -> Any:
    if not default:
        return rules.domain.attributes.read(value, name)
    found = rules.has(value, name)
    if found is False:
        return default[0]
    return (
        rules.unknown(value, *default)
        if found is None
        else rules.domain.attributes.read(value, name)
    )


@_rule(hasattr)
def owned(rules: Rules, value: Any, name: Any) -> Any:
    found = rules.has(value, name)
    return one(bool) if found is None else rules.domain.constant(found)


@_rule(setattr)
def attribute_set(rules: Rules, value: Any, name: Any, item: Any) -> Any:
    rules.domain.attributes.write(value, name, item)
    return NONE


@_rule(object.__new__)
def object_made(rules: Rules, cls: Any) -> Any:
    is_plain = isinstance(cls, KnownValue) and isinstance(cls.value, type)
    return rules.domain.instance(cls.value) if is_plain else TOP


@_rule(tuple.__new__)
def tuple_made(rules: Rules, cls: Any, items: Any = _NO_ITEMS) -> Any:
    if cls == KnownValue(tuple):
        return items if isinstance(items, ItemValues) else one(tuple)
    if not isinstance(cls, KnownValue) or not isinstance(cls.value, type):
        return rules.unknown(items)
    made = rules.domain.instance(cls.value)
    rules.contents.write(made.sites, ITEM, rules.item_of(items))
    names = getattr(cls.value, "_fields", ())
    known = isinstance(items, ItemValues) and len(items.items) == len(names)
    for place, name in enumerate(names):
        item = items.items[place] if known else rules.item_of(items)
        rules.contents.write(made.sites, f".{name}", item)
    return made


def _tests(function: Any) -> Rule:
    def test(rules: Rules, value: Any, other: Any) -> Any:
        both = value, other
        ways = [truth for truth in (True, False) if rules.domain.assume(function, both, truth)]
        return rules.domain.constant(ways[0]) if len(ways) == 1 else one(bool)

    return test


for _test in (isinstance, issubclass, operator.is_, operator.is_not):
    _RULES[id(_test)] = _test, _tests(_test)


@_rule(type)
def class_of(rules: Rules, value: Any, *others: Any) -> Any:
    cls = None if others else _class_of(value)
    if cls is None and isinstance(value, KnownValue):
        cls = type(value.value)
    return TOP if cls is None else KnownValue(cls)


RULES = {key: function for key, (function, _) in _RULES.items()}
# By the function in the table, its rule.
_BOUND: dict[Any, Rule] = {}
contents_table = MethodTable("contents")


def _placed(function: Any, rule: Rule) -> None:
    @contents_table.overlay(function)
    def transfer(*args: object, **kwargs: object) -> Any:
        raise AssertionError("rules are called with the contents")

    _BOUND[transfer] = rule


for _function, _placed_rule in _RULES.values():
    _placed(_function, _placed_rule)
