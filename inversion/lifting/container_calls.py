"""Items, operators and methods of lists, dicts, sets and strings whose items are known one by one.

The contents of an object that the function makes are those at this place of the program. Other
containers are known objects, which do not change.
"""

from __future__ import annotations

import operator
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from inversion.lifting.heap import change, contents_of, frozen, made, operand_in, thawed
from inversion.lifting.iterable_calls import (
    DICTS,
    SETS,
    held_by,
    items_of,
    key_of,
    mapping_of,
    one_or_other,
)
from inversion.lifting.lifted_values import (
    CONTAINERS,
    ITERABLES,
    CallSite,
    Constant,
    HeapObject,
    KnownObject,
    Named,
    Raises,
    Tupled,
    Value,
    Values,
    Variable,
    is_known,
    plain,
    refused,
    shown_kind,
    value_of,
)
from inversion.lifting.lookups import Lookup, looked_up, member
from overlay.code.contents import METHODS, Role, applied
from overlay.core.short_repr import a_or_an

if TYPE_CHECKING:
    from inversion.lifting.lifter import Lifter

__all__ = ["container_call", "item_or"]

NO, NONE = Constant(False), KnownObject(None)
ROWS = (list, tuple, bytearray, bytes, str)


def container_call(
    lifter: Lifter, site: CallSite, targets: Sequence[Any], args: Values, kwargs: Named
) -> Value | None:
    """The result of an operator or a method of a container with known items; None for any other
    call.
    """
    target = targets[0]
    if isinstance(target, Lookup):
        return thawed(lifter.known, looked_up(lifter, site, target.held, args[0]), fixed=True)
    if args and operand_in(lifter.known, args[0]) is not None and not kwargs:
        grown = _growing(lifter, site, target, *args)
        if grown is not None:
            return grown
    if any(operand_in(lifter.known, arg) is not None for arg in args):
        return None
    roles = METHODS.get(target) if _is_hashable(target) else None
    if roles is not None and args and isinstance(args[0], HeapObject):
        given = [*args[1:], *kwargs.values()]
        if roles == (Role.MAPPING,) and kwargs:
            given = [*args[1:], Tupled(dict, tuple(kwargs.values()), tuple(kwargs))]
        return _method(lifter, site, target, roles, args[0], given)
    found = CALLS.get(target) if _is_hashable(target) else None
    if found is None:
        return None
    if not any(map(_is_container, args)):
        if target in (operator.setitem, operator.delitem):
            what = f"assignment to an item of {a_or_an(shown_kind(args[0]))}"
            raise refused(what, site.where, "change a list, a dict or an array instead")
        return None
    return found(lifter, site, *args, **kwargs)


def _growing(
    lifter: Lifter, site: CallSite, target: Any, owner: Value, *args: Value
) -> Value | None:
    """The result of a method that changes a list with an unknown number of items, else None."""
    held = operand_in(lifter.known, owner)
    assert isinstance(owner, HeapObject)
    assert held is not None

    def joined(one: Value, other: Value) -> None:
        both = lifter.call(site, (operator.add,), (one, other), {})
        assert isinstance(both, (Variable, Constant))
        change(lifter.known, owner, both, site.where)

    if target is list.append:
        joined(held, Tupled(list, args))
    elif target in (list.extend, operator.iadd):
        items = items_of(lifter, site, args[0])
        joined(held, args[0] if items is None else Tupled(list, items))
        return owner if target is operator.iadd else KnownObject(None)
    elif target is list.insert and args[0] == Constant(0):
        joined(Tupled(list, args[1:]), held)
    elif target is list.pop and not args:
        last = lifter.call(site, (operator.getitem,), (held, Constant(-1)), {})
        rest = lifter.call(site, (operator.getitem,), (held, KnownObject(slice(None, -1))), {})
        assert isinstance(rest, (Variable, Constant))
        change(lifter.known, owner, rest, site.where)
        return last
    elif target is list.reverse:
        back = KnownObject(slice(None, None, -1))
        turned = lifter.call(site, (operator.getitem,), (held, back), {})
        assert isinstance(turned, (Variable, Constant))
        change(lifter.known, owner, turned, site.where)
    elif target in (list, list.copy):
        found = HeapObject(list)
        lifter.known[found] = held
        return found
    else:
        return None
    return KnownObject(None)


def _is_hashable(target: Any) -> bool:
    return type(target).__hash__ is not None


def _is_container(value: Value) -> bool:
    if isinstance(value, HeapObject):
        return issubclass(value.kind, (*ROWS, *DICTS, *SETS))
    known = isinstance(value, KnownObject) and isinstance(value.value, ITERABLES)
    text = isinstance(value, Constant) and value.kind is str
    return known or text or (isinstance(value, Tupled) and value.keys is None)


# ---- methods ------------------------------------------------------------------------------


def _method(
    lifter: Lifter,
    site: CallSite,
    method: Any,
    roles: Sequence[Role],
    owner: HeapObject,
    args: Sequence[Value],
) -> Value:
    known = lifter.known
    contents = contents_of(known, owner, site.where)
    if roles[:1] == (Role.KEY,) and contents.kind in DICTS and not is_known(args[0]):
        return _varying_key(lifter, site, method, contents, args)
    if tuple(roles) == (Role.KEYS,):
        roles = [Role.KEYS] * len(args)
    if tuple(roles) == (Role.MAPPING,) and len(args) > 1:
        for each in args:
            _method(lifter, site, method, roles, owner, [each])
        return KnownObject(None)
    pairs = zip(roles, args, strict=False)
    given = [_by_role(lifter, site, role, value) for role, value in pairs]
    held = _python(contents)
    before = _python(contents)
    try:
        found = applied(method, held, given)
    except LookupError as error:
        raise Raises(
            f"{method.__name__} of {a_or_an(shown_kind(owner))} raises {error!r}", site.where
        ) from None
    if held != before or (isinstance(held, dict) and list(held) != list(before)):
        change(known, owner, _tupled(contents, held), site.where)
    return _returned(lifter, contents, found)


def _by_role(lifter: Lifter, site: CallSite, role: Role, value: Value) -> Any:
    if role is Role.KEY:
        return key_of(site, value)
    if role is Role.ITEM:
        return value
    if role is Role.MAPPING:
        return mapping_of(lifter, site, value)
    items = items_of(lifter, site, value)
    if items is None:
        help = "give it a tuple or a list of known items"
        what = f"all items of {a_or_an(shown_kind(value))}"
        raise refused(what, site.where, help, (value,))
    return [key_of(site, item) for item in items] if role is Role.KEYS else items


def _python(contents: Tupled) -> Any:
    """Contents as a Python container of values."""
    if contents.kind in DICTS:
        return dict(zip(contents.keys or (), contents.items, strict=True))
    if contents.kind in SETS:
        return set(contents.keys or ())
    return list(contents.items)


def _tupled(contents: Tupled, held: Any) -> Tupled:
    if contents.kind in DICTS:
        return Tupled(contents.kind, tuple(held.values()), tuple(held))
    if contents.kind in SETS:
        return Tupled(contents.kind, tuple(map(value_of, held)), tuple(held))
    return Tupled(contents.kind, tuple(held))


def _returned(lifter: Lifter, contents: Tupled, found: Any) -> Value:
    if isinstance(found, (list, dict, set)):
        new = _tupled(contents, found)
        return made(lifter.known, new.kind, new.items, new.keys)
    return value_of(found)


def _varying_key(
    lifter: Lifter, site: CallSite, method: Any, held: Tupled, args: Sequence[Value]
) -> Value:
    if method is not dict.get:
        help = "read it with get and a default, or write the choice of the key with if"
        what = f"{method.__name__} of a dict by a key that depends on the arguments"
        raise refused(what, site.where, help)
    default = args[1] if len(args) > 1 else KnownObject(None)
    return _of_key_or(lifter, site, held, args[0], default)


def _of_key_or(lifter: Lifter, site: CallSite, held: Tupled, key: Value, default: Value) -> Value:
    """The item for a key that depends on the arguments, or a default."""
    there = member(lifter, site, held, key)
    args = there, KnownObject(Lookup(held)), key, default
    return lifter.called(site, KnownObject(item_or), args)


def item_or(there: bool, lookup: Any, key: Any, default: Any) -> Any:
    """The value that a lookup returns for a key, or a default if the key is missing. This function
    is lifted.
    """
    return lookup(key) if there else default


# ---- items --------------------------------------------------------------------------------


COPIED: Final = "make a copy of it in the function first, and change that"


def _get(lifter: Lifter, site: CallSite, source: Value, index: Value) -> Value | None:
    held = held_by(lifter, site, source)
    if held is None:
        return None
    if not is_known(index):
        return looked_up(lifter, site, held, index)
    key = plain(index)
    if held.kind in DICTS:
        return _get_of_dict(lifter, site, source, held, key)
    if isinstance(key, slice):
        return _part(lifter, site, source, held, key)
    try:
        return held.items[key]
    except IndexError:
        raise Raises(
            f"item {key} of {a_or_an(held.kind.__name__)} of {len(held.items)}", site.where
        ) from None


def _get_of_dict(lifter: Lifter, site: CallSite, source: Value, held: Tupled, key: Any) -> Value:
    keys = held.keys or ()
    if key in keys:
        return held.items[keys.index(key)]
    if isinstance(source, HeapObject) and held.kind is Counter:
        return Constant(0)
    if isinstance(source, HeapObject) and held.kind is defaultdict:
        factory = lifter.factories.get(source)
        if factory is not None:
            new = lifter.called(site, factory, ())
            change(
                lifter.known, source, Tupled(held.kind, (*held.items, new), (*keys, key)),
                site.where,
            )  # fmt: skip
            return new
    raise Raises(f"the key {key!r} is not in a dict", site.where)


def _part(lifter: Lifter, site: CallSite, source: Value, held: Tupled, key: slice) -> Value:
    if isinstance(source, (KnownObject, Constant)):
        return value_of(source.value[key])
    if key.step == 0:
        raise Raises("a slice with the step 0", site.where)
    if held.kind in (list, bytearray):
        return made(lifter.known, held.kind, held.items[key])
    return Tupled(held.kind if held.kind in (bytes, str) else tuple, held.items[key])


def _set(lifter: Lifter, site: CallSite, owner: Value, index: Value, value: Value) -> Value | None:
    if not isinstance(owner, HeapObject):
        what = "assignment to an item of what the function did not make"
        raise refused(what, site.where, COPIED)
    held = contents_of(lifter.known, owner, site.where)
    new: Any = _python(held)
    if held.kind in DICTS:
        new[key_of(site, index)] = value
    elif not is_known(index):
        new = _with_item(lifter, site, held, index, value)
    else:
        key = plain(index)
        if isinstance(key, slice):
            items = items_of(lifter, site, value)
            if items is None:
                help = "assign a tuple or a list of known items"
                raise refused("assignment of unknown length to a slice", site.where, help)
            value = Tupled(tuple, items)
        try:
            new[key] = (
                value.items if isinstance(key, slice) and isinstance(value, Tupled) else value
            )
        except (IndexError, ValueError) as error:
            raise Raises(f"assignment to an item: {error}", site.where) from None
    change(lifter.known, owner, _tupled(held, new), site.where)
    return KnownObject(None)


def _with_item(
    lifter: Lifter, site: CallSite, held: Tupled, index: Value, value: Value
) -> list[Value]:
    """Items in which one is replaced, at an index that depends on the arguments."""
    new: list[Value] = []
    count = len(held.items)
    for place, item in enumerate(held.items):
        is_here = member(
            lifter, site, Tupled(tuple, (Constant(place), Constant(place - count))), index
        )
        new.append(lifter.called(site, KnownObject(one_or_other), (is_here, value, item)))
    return new


def _delete(lifter: Lifter, site: CallSite, owner: Value, index: Value) -> Value | None:
    if not isinstance(owner, HeapObject):
        what = "del of an item of what the function did not make"
        raise refused(what, site.where, COPIED)
    held = contents_of(lifter.known, owner, site.where)
    new = _python(held)
    try:
        del new[key_of(site, index)]
    except LookupError:
        raise Raises("del of an item that is not there", site.where) from None
    change(lifter.known, owner, _tupled(held, new), site.where)
    return KnownObject(None)


def _contains(lifter: Lifter, site: CallSite, container: Value, item: Value) -> Value | None:
    held = held_by(lifter, site, container)
    if held is None or held.kind is str:
        return None
    return member(lifter, site, held, item)


# ---- operators ----------------------------------------------------------------------------


def _rows_of(lifter: Lifter, site: CallSite, value: Value) -> Tupled | None:
    held = held_by(lifter, site, value)
    if held is None or held.kind not in (*ROWS, *SETS, *DICTS):
        return None
    return None if held.kind is str and is_known(value) and not held.items else held


def _new(lifter: Lifter, kind: type, items: tuple[Value, ...]) -> Value:
    if kind in (tuple, bytes, str):
        return Tupled(kind, items)
    return made(lifter.known, kind, items)


def _plain_kind(kind: type) -> type:
    return tuple if issubclass(kind, tuple) else kind


def _add(lifter: Lifter, site: CallSite, one: Value, other: Value) -> Value | None:
    first, second = (_rows_of(lifter, site, value) for value in (one, other))
    if first is None or second is None or (is_known(one) and is_known(other)):
        return None
    kind = _plain_kind(first.kind)
    if kind is not _plain_kind(second.kind) and {kind, second.kind} != {bytes, bytearray}:
        return None
    if first.keys is not None or kind not in ROWS:
        return None
    return _new(lifter, kind, (*first.items, *second.items))


def _grow(lifter: Lifter, site: CallSite, one: Value, other: Value) -> Value | None:
    if isinstance(one, HeapObject) and one.kind in (list, bytearray):
        items = items_of(lifter, site, other)
        if items is not None:
            held = contents_of(lifter.known, one, site.where)
            change(lifter.known, one, held.of((*held.items, *items)), site.where)
            return one
    return _add(lifter, site, one, other)


def _times(lifter: Lifter, site: CallSite, one: Value, other: Value) -> Value | None:
    for value, count in ((one, other), (other, one)):
        held = _rows_of(lifter, site, value)
        if held is not None and held.kind is str and is_known(value):
            return value_of(plain(value) * count.value) if isinstance(count, Constant) else None
        if held is not None and held.keys is None and isinstance(count, Constant):
            return _new(lifter, _plain_kind(held.kind), held.items * count.value)
    return None


def _merged(lifter: Lifter, site: CallSite, one: Value, other: Value) -> Value | None:
    first, second = (held_by(lifter, site, value) for value in (one, other))
    if first is None or second is None or first.keys is None or second.keys is None:
        return None
    if first.kind in DICTS and second.kind in DICTS:
        both = _python(first) | _python(second)
        return made(lifter.known, first.kind, both.values(), tuple(both))
    return None


def _of_sets(target: Any) -> Callable[..., Value | None]:
    def found(lifter: Lifter, site: CallSite, one: Value, other: Value) -> Value | None:
        first, second = (held_by(lifter, site, value) for value in (one, other))
        if first is None or second is None or first.kind not in SETS or second.kind not in SETS:
            return _merged(lifter, site, one, other) if target is operator.or_ else None
        both = target(*({*(each.keys or map(plain, each.items))} for each in (first, second)))
        if isinstance(both, bool):
            return Constant(both)
        return made(lifter.known, set, map(value_of, both), tuple(both))

    return found


def _merge_into(lifter: Lifter, site: CallSite, one: Value, other: Value) -> Value | None:
    if isinstance(one, HeapObject) and one.kind in DICTS:
        _method(lifter, site, dict.update, METHODS[dict.update], one, [other])
        return one
    return CALLS[operator.or_](lifter, site, one, other)


def _equal(lifter: Lifter, site: CallSite, one: Value, other: Value) -> Value | None:
    first, second = (held_by(lifter, site, value) for value in (one, other))
    if first is None or second is None or (is_known(first) and is_known(second)):
        known = [frozen(lifter.known, value) for value in (one, other)]
        if all(map(is_known, known)):
            return Constant(bool(plain(known[0]) == plain(known[1])))
        return None
    if _plain_kind(first.kind) is not _plain_kind(second.kind):
        return Constant(False)
    if len(first.items) != len(second.items) or set(first.keys or ()) != set(second.keys or ()):
        return Constant(False)
    others = dict(zip(second.keys or range(len(second.items)), second.items, strict=True))
    found: Value = Constant(True)
    for key, item in zip(first.keys or range(len(first.items)), first.items, strict=True):
        same = lifter.call(site, (operator.eq,), (item, others[key]), {})
        found = both_of(lifter, site, found, same)
    return found


def _unequal(lifter: Lifter, site: CallSite, one: Value, other: Value) -> Value | None:
    found = _equal(lifter, site, one, other)
    return None if found is None else negated(lifter, site, found)


def _ordered(target: Any) -> Callable[..., Value | None]:
    """The lexicographic comparison of two sequences."""
    strict = {operator.le: operator.lt, operator.ge: operator.gt}.get(target, target)

    def found(lifter: Lifter, site: CallSite, one: Value, other: Value) -> Value | None:
        first, second = (_rows_of(lifter, site, value) for value in (one, other))
        if first is None or second is None or first.kind in DICTS or second.kind in DICTS:
            return None
        if first.kind in SETS:
            return _of_sets(target)(lifter, site, one, other)
        pairs = list(zip(first.items, second.items, strict=False))
        result: Value = Constant(target(len(first.items), len(second.items)))
        for left, right in reversed(pairs):
            same = lifter.call(site, (operator.eq,), (left, right), {})
            less = lifter.call(site, (strict,), (left, right), {})
            result = either_of(lifter, site, less, both_of(lifter, site, same, result))
        return result

    return found


def both_of(lifter: Lifter, site: CallSite, one: Value, other: Value) -> Value:
    """The conjunction of two truth values."""
    for known, rest in ((one, other), (other, one)):
        if isinstance(known, Constant):
            return rest if known.value else Constant(False)
    return lifter.call(site, (operator.and_,), (one, other), {})


def either_of(lifter: Lifter, site: CallSite, one: Value, other: Value) -> Value:
    """The disjunction of two truth values."""
    for known, rest in ((one, other), (other, one)):
        if isinstance(known, Constant):
            return Constant(True) if known.value else rest
    return lifter.call(site, (operator.or_,), (one, other), {})


def negated(lifter: Lifter, site: CallSite, value: Value) -> Value:
    """The negation of a truth value."""
    if isinstance(value, Constant):
        return Constant(not value.value)
    return lifter.call(site, (operator.not_,), (value,), {})


def _length(lifter: Lifter, site: CallSite, value: Value) -> Value | None:
    held = held_by(lifter, site, value)
    return None if held is None else Constant(len(held.items))


def _truth(lifter: Lifter, site: CallSite, value: Value) -> Value | None:
    held = held_by(lifter, site, value)
    return None if held is None else Constant(bool(held.items))


def _not(lifter: Lifter, site: CallSite, value: Value) -> Value | None:
    held = held_by(lifter, site, value)
    return None if held is None else Constant(not held.items)


# ---- methods of known containers, and those that search -----------------------------------


def _index(lifter: Lifter, site: CallSite, owner: Value, item: Value) -> Value | None:
    held = held_by(lifter, site, owner)
    if held is None or (is_known(item) and is_known(held)):
        return None
    places: dict[Any, Value] = {}
    for place, each in enumerate(held.items):
        places.setdefault(key_of(site, each), Constant(place))
    return looked_up(lifter, site, Tupled(dict, tuple(places.values()), tuple(places)), item)


def _find(lifter: Lifter, site: CallSite, owner: Value, item: Value) -> Value | None:
    """``str.find`` of a character that depends on the arguments and is in the text."""
    if isinstance(owner, Variable) or is_known(item):
        return None
    return _index(lifter, site, owner, item)


def _count(lifter: Lifter, site: CallSite, owner: Value, item: Value) -> Value | None:
    held = held_by(lifter, site, owner)
    if held is None or held.kind is str:
        return None
    total: Value = Constant(0)
    for each in held.items:
        same = lifter.call(site, (operator.eq,), (each, item), {})
        number = lifter.call(site, (int,), (same,), {})
        total = lifter.call(site, (operator.add,), (total, number), {})
    return total


def _remove(lifter: Lifter, site: CallSite, owner: Value, item: Value) -> Value | None:
    if not isinstance(owner, HeapObject):
        return None
    held = contents_of(lifter.known, owner, site.where)
    if not is_known(frozen(lifter.known, owner)) or not is_known(item):
        help = "write the remaining items with if"
        raise refused("remove of an item that depends on the arguments", site.where, help)
    items = list(held.items)
    for place, each in enumerate(items):
        if plain(frozen(lifter.known, each)) == plain(item):
            del items[place]
            change(lifter.known, owner, held.of(items), site.where)
            return KnownObject(None)
    raise Raises("remove of an item that is not there", site.where)


def _sort(
    lifter: Lifter, site: CallSite, owner: Value, key: Value | None = None,
    reverse: Value = NO,
) -> Value | None:  # fmt: skip
    if not isinstance(owner, HeapObject):
        return None
    held = contents_of(lifter.known, owner, site.where)
    named = {"reverse": reverse} if key is None else {"reverse": reverse, "key": key}
    new = lifter.call(site, (sorted,), (owner,), named)
    assert isinstance(new, HeapObject)
    items = contents_of(lifter.known, new, site.where).items
    change(lifter.known, owner, held.of(items), site.where)
    return KnownObject(None)


def _keys(lifter: Lifter, site: CallSite, owner: Value) -> Value | None:
    held = held_by(lifter, site, owner)
    return None if held is None else Tupled(tuple, tuple(map(value_of, held.keys or ())))


def _values(lifter: Lifter, site: CallSite, owner: Value) -> Value | None:
    held = held_by(lifter, site, owner)
    return None if held is None else Tupled(tuple, held.items)


def _items(lifter: Lifter, site: CallSite, owner: Value) -> Value | None:
    held = held_by(lifter, site, owner)
    if held is None:
        return None
    pairs = zip(held.keys or (), held.items, strict=True)
    return Tupled(tuple, tuple(Tupled(tuple, (value_of(key), item)) for key, item in pairs))


def _from_keys(lifter: Lifter, site: CallSite, keys: Value, value: Value = NONE) -> Value | None:
    items = items_of(lifter, site, keys)
    if items is None:
        return None
    held = dict.fromkeys((key_of(site, key) for key in items), value)
    return made(lifter.known, dict, held.values(), tuple(held))


def _get_or(
    lifter: Lifter, site: CallSite, owner: Value, key: Value, default: Value = NONE
) -> Value | None:
    held = held_by(lifter, site, owner)
    if held is None:
        return None
    if not is_known(key):
        return _of_key_or(lifter, site, held, key, default)
    keys = held.keys or ()
    return held.items[keys.index(plain(key))] if plain(key) in keys else default


CALLS: Mapping[Any, Callable[..., Value | None]] = {
    operator.getitem: _get,
    operator.setitem: _set,
    operator.delitem: _delete,
    operator.contains: _contains,
    operator.add: _add,
    operator.iadd: _grow,
    operator.mul: _times,
    operator.imul: _times,
    operator.or_: _of_sets(operator.or_),
    operator.ior: _merge_into,
    operator.and_: _of_sets(operator.and_),
    operator.sub: _of_sets(operator.sub),
    operator.xor: _of_sets(operator.xor),
    operator.eq: _equal,
    operator.ne: _unequal,
    **{each: _ordered(each) for each in (operator.lt, operator.le, operator.gt, operator.ge)},
    len: _length,
    bool: _truth,
    operator.not_: _not,
    list.index: _index,
    tuple.index: _index,
    str.index: _find,
    str.find: _find,
    list.count: _count,
    tuple.count: _count,
    list.remove: _remove,
    list.sort: _sort,
    dict.keys: _keys,
    dict.values: _values,
    dict.items: _items,
    dict.get: _get_or,
    dict.fromkeys: _from_keys,
}
"""The supported operators and methods, in addition to those of ``METHODS``."""
METHODS_HERE = frozenset({*CALLS, *METHODS})
"""All supported methods of containers."""
BUILT = frozenset({*CONTAINERS, *DICTS})
"""The classes of containers whose objects are lifted."""
