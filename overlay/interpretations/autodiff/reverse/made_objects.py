"""Lists, dicts and tuples that the program makes: their contents, items and methods."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from overlay.code import held_functions
from overlay.code.contents import METHODS as ROLES
from overlay.code.contents import Role, applied
from overlay.core.short_repr import a_or_an
from overlay.interpretations.autodiff.reverse.operands import is_function
from overlay.interpretations.autodiff.reverse.pullbacks import Pullback, kind_of
from overlay.interpretations.autodiff.reverse.reverse_program import (
    BOOL,
    FLOAT,
    INT,
    UNSET,
    Contents,
    Either,
    Generator,
    Growing,
    IndexedItems,
    KnownBefore,
    MadeObject,
    Span,
    Steps,
    leaves,
)
from overlay.interpretations.autodiff.reverse.structure import Unreadable

if TYPE_CHECKING:
    from overlay.interpretations.autodiff.reverse.calling import Calling

__all__ = [
    "METHODS",
    "UNROLLED",
    "NeedsArray",
    "as_array",
    "as_sequence",
    "change",
    "contents_of",
    "delete_item",
    "item_of",
    "items_held",
    "made",
    "named_items",
    "set_item",
    "use_once",
    "whole",
]

UNROLLED = 64
"""The maximal number of iterations of an unrolled loop."""
NONE, FIRST, LAST = KnownBefore(None), KnownBefore(0), KnownBefore(-1)


class NeedsArray(Unreadable):
    """A list that a loop changes as only an array can be changed. is_new: whether the array has
    to be of another kind than before.
    """

    def __init__(self, structure: MadeObject, asked: str, *, is_new: bool = False) -> None:
        super().__init__(asked, help="make an array of the final length, and write its elements")
        self.structure = structure
        self.is_new = is_new


# ---- contents -----------------------------------------------------------------------------


def made(lifter: Calling, cls: Any, items: Any, keys: tuple[Any, ...] | None = None) -> Any:
    """A new structure with these items."""
    found = MadeObject(cls)
    lifter.env[found] = Contents(keys, tuple(items))
    return found


def contents_of(lifter: Calling, structure: MadeObject) -> Any:
    """The contents of a structure at this place of the program."""
    found = lifter.env.get(structure, UNSET)
    if found is UNSET:
        raise Unreadable(
            f"it reads {a_or_an(structure.cls.__name__)} that has other parts on one path than "
            "on another",
            help="give it as many parts on each path, or write to the elements of an array",
        )
    for value in leaves(found):
        lifter.check_shares(value)
    return found


def change(lifter: Calling, structure: MadeObject, contents: Any) -> None:
    """Replace the contents of a structure."""
    if structure.fixed:
        raise Unreadable(
            f"it changes {a_or_an(structure.cls.__name__)} that has several names, or "
            "that may be one of several objects",
            help="change a copy of it, or make it anew with the other parts",
        )
    lifter.env[structure] = contents


def named_items(lifter: Calling, structure: MadeObject) -> dict[Any, Any]:
    """The items of a dict, or the attributes of an instance."""
    found = contents_of(lifter, structure)
    return dict(zip(found.keys, found.items, strict=True))


def set_named(lifter: Calling, structure: MadeObject, items: dict[Any, Any]) -> None:
    change(lifter, structure, Contents(tuple(items), tuple(items.values())))


def is_list(operand: Any) -> bool:
    """Whether an operand is a list that the program makes."""
    return isinstance(operand, MadeObject) and operand.cls is list


def is_items(operand: Any) -> bool:
    """Whether an operand is a tuple, or a list or named tuple that the program makes."""
    if isinstance(operand, MadeObject):
        return operand.cls is list or issubclass(operand.cls, tuple)
    return isinstance(operand, tuple)


def use_once(items: IndexedItems | Generator) -> None:
    """Refuse to iterate over an iterator again."""
    if items.used:
        raise Unreadable("it iterates twice over an iterator", help="make a list of the items")
    items.used.append(None)


# ---- as tuples and arrays -----------------------------------------------------------------


def as_sequence(lifter: Calling, operand: Any) -> tuple[Any, ...] | None:
    """The items of an iterable, if their number is known and not large."""
    match operand:
        case tuple():
            return operand
        case KnownBefore(value=range() as value) if len(value) <= UNROLLED:
            return tuple(map(KnownBefore, value))
        case KnownBefore(value=str() as value):
            return tuple(map(KnownBefore, value))
        case KnownBefore(value=list() | dict() as value):
            held = items_held(lifter, operand)
            return None if held is None else tuple(map(lifter.constant, value))
        case MadeObject(cls=cls) if cls is dict:
            return tuple(map(lifter.constant, contents_of(lifter, operand).keys))
        case MadeObject() if is_items(operand):
            found = contents_of(lifter, operand)
            return found.items if isinstance(found, Contents) else None
        case Steps(KnownBefore(value=start), KnownBefore(value=stop), KnownBefore(value=step)):
            return as_sequence(lifter, KnownBefore(range(start, stop, step)))
        case IndexedItems(count=KnownBefore(value=count)) if count <= UNROLLED:
            use_once(operand)
            operand.check()
            return tuple(operand.item(KnownBefore(i)) for i in range(count))
        case _:
            return None


def whole(lifter: Calling, operand: Any) -> Any:
    """An operand with each list in it as a tuple, or as an array if its length is not known."""
    if is_list(operand) and isinstance(contents_of(lifter, operand), Growing):
        return as_array(lifter, operand)
    items = as_sequence(lifter, operand) if is_items(operand) else None
    return operand if items is None else tuple(whole(lifter, item) for item in items)


def as_array(lifter: Calling, operand: Any) -> Any:
    """The numbers of a list or tuple as an array."""
    if is_list(operand):
        found = contents_of(lifter, operand)
        if isinstance(found, Growing):
            span = Span((NONE, found.length, NONE))
            return lifter.call(operator.getitem, [found.array, span], {})
    items = as_sequence(lifter, operand)
    if not items or any(kind_of(item) not in (FLOAT, INT) for item in items):
        raise Unreadable("it converts a value to an array that holds more than numbers")
    return lifter.call(np.array, [items], {})


def array_of(lifter: Calling, structure: MadeObject, more: Any = None) -> Growing:
    """The contents of a list of numbers in an array, with room for more."""
    found = contents_of(lifter, structure)
    whole = structure not in lifter.floats
    if isinstance(found, Growing):
        start, room = found.length, as_array(lifter, structure)
        whole = whole and found.whole
    else:
        whole = whole and all(kind_of(item) == INT for item in found.items)
        if any(kind_of(item) not in (FLOAT, INT) for item in found.items):
            raise Unreadable("a loop changes a list that holds more than numbers")
        start, room = KnownBefore(len(found.items)), found.items
    size = start if more is None else more
    if more is not None and start != FIRST:
        size = lifter.call(operator.add, [start, more], {})
    array = lifter.call(np.zeros, [size], {})
    if not isinstance(room, tuple):
        lifter.write(array, Span((NONE, start, NONE)), room)
    for i, item in enumerate(room if isinstance(room, tuple) else ()):
        lifter.write(array, KnownBefore(i), item)
    return Growing(array, start, whole=whole)


def _element(lifter: Calling, growing: Growing, place: Any) -> Any:
    """An element of a list in an array."""
    found = lifter.call(operator.getitem, [growing.array, place], {})
    return lifter.call(int, [found], {}) if growing.whole else found


def _write(lifter: Calling, items: MadeObject, growing: Growing, place: Any, value: Any) -> Growing:
    """Write an element of a list in an array, and return the contents then."""
    if growing.whole and kind_of(value) != INT:
        lifter.floats.add(items)
        if lifter.starts and items in lifter.starts[-1]:
            raise NeedsArray(items, "a list has whole numbers, and others later", is_new=True)
        growing = replace(growing, whole=False)
    lifter.write(growing.array, place, value)
    return growing


# ---- items --------------------------------------------------------------------------------


def key_of(operand: Any) -> Any:
    """The key of a dict, which is known before the program runs."""
    if isinstance(operand, tuple):
        return tuple(map(key_of, operand))
    if isinstance(operand, KnownBefore):
        return operand.value
    raise Unreadable("it looks up a dict by a key that is not known before it runs")


def _is_index(index: Any) -> TypeGuard[KnownBefore]:
    return isinstance(index, KnownBefore) and isinstance(index.value, (int, np.integer))


def _place(lifter: Calling, growing: Growing, index: Any) -> Any:
    """The element of an array for an index of the list that it holds."""
    if _is_index(index):
        if index.value >= 0:
            return index
        return lifter.call(operator.add, [growing.length, index], {})
    if kind_of(index) != INT:
        raise Unreadable("it reads an item of a list by an index that is no whole number")
    if lifter.is_never_negative(index):
        return index
    # negative ones count from the end
    return lifter.call(operator.mod, [index, growing.length], {})


def item_of(lifter: Calling, items: Any, index: Any) -> Any:
    """The item of a list, tuple or dict."""
    if isinstance(items, MadeObject) and items.cls is dict:
        held, key = named_items(lifter, items), key_of(index)
        if key not in held:
            raise Unreadable(f"it reads {key!r} of a dict, where it is not")
        return held[key]
    found = contents_of(lifter, items) if isinstance(items, MadeObject) else items
    if isinstance(found, Growing):
        if isinstance(index, Span):
            return lifter.call(operator.getitem, [as_array(lifter, items), index], {})
        return _element(lifter, found, _place(lifter, found, index))
    held = found.items if isinstance(found, Contents) else found
    kind = items.cls if isinstance(items, MadeObject) else tuple
    if isinstance(index, Span) and all(isinstance(p, KnownBefore) for p in index.parts):
        taken = held[slice(*(p.value for p in index.parts))]
        return made(lifter, list, taken) if kind is list else taken
    if _is_index(index):
        place: int = index.value
        if not -len(held) <= place < len(held):
            raise Unreadable(f"it reads item {place} of {a_or_an(kind.__name__)} of {len(held)}")
        return held[place]
    if kind_of(index) == INT and held and all(map(is_function, held)):
        return _function_at(lifter, held, index)
    if kind_of(index) == INT and held and all(kind_of(item) in (FLOAT, INT) for item in held):
        return lifter.call(operator.getitem, [as_array(lifter, items), index], {})
    raise Unreadable(
        f"it reads an item of {a_or_an(kind.__name__)} by an index that is not known before it "
        "runs",
        help="make an array of the numbers, or go over the items in a for loop",
    )


def _function_at(lifter: Calling, held: tuple[Any, ...], index: Any) -> Any:
    """One of some functions, by its place among them."""
    # an IndexError for others, also in compiled code
    places = tuple(range(len(held)))
    place = lifter.emit(Pullback(_function_at, INT, f"{places}[{{0}}]"), [index])
    chosen = held[-1]
    for i in reversed(range(len(held) - 1)):
        condition = lifter.truth(lifter.call(operator.eq, [place, KnownBefore(i)], {}))
        chosen = Either(condition, held[i], chosen)
    return chosen


def items_held(lifter: Calling, operand: Any) -> dict[Any, Any] | None:
    """The items of a list or dict of functions from outside, by place or key; None for anything
    else. What is in it is noted, since it may change."""
    value = operand.value if isinstance(operand, KnownBefore) else None
    if type(value) not in (list, dict) or not held_functions.holds_functions(value):
        return None
    changeable = held_functions.changeable_in(value)
    lifter.containers += [(each, held_functions.contents_of(each)) for each in changeable]
    return held_functions.contents_of(value)


def set_item(lifter: Calling, items: MadeObject, index: Any, value: Any) -> None:
    """Lift ``items[index] = value`` for a list or dict."""
    if items.cls is dict:
        set_named(lifter, items, {**named_items(lifter, items), key_of(index): value})
        return
    found = contents_of(lifter, items)
    if isinstance(found, Contents):
        held = list(found.items)
        if _is_index(index) and -len(held) <= index.value < len(held):
            held[index.value] = value
            change(lifter, items, Contents(None, tuple(held)))
            return
        if isinstance(index, Span) and all(isinstance(p, KnownBefore) for p in index.parts):
            new = as_sequence(lifter, value)
            if new is not None:
                held[slice(*(p.value for p in index.parts))] = new
                change(lifter, items, Contents(None, tuple(held)))
                return
        if kind_of(index) != INT or _is_index(index):
            raise Unreadable("it sets an item of a list by an invalid index")
        if lifter.starts and items in lifter.starts[-1]:
            raise NeedsArray(items, "it sets items of a list in a loop, and one is no number")
        found = array_of(lifter, items)
    if isinstance(index, Span):
        raise Unreadable("it sets a slice of a list whose length is not known")
    change(lifter, items, _write(lifter, items, found, _place(lifter, found, index), value))


def delete_item(lifter: Calling, items: Any, index: Any) -> Any:
    """Lift ``del items[index]``."""
    if isinstance(items, MadeObject) and items.cls is dict:
        held = named_items(lifter, items)
        if key_of(index) not in held:
            raise Unreadable("it deletes a key of a dict that may not be there")
        del held[key_of(index)]
        set_named(lifter, items, held)
        return NONE
    if not is_list(items):
        raise Unreadable("it deletes an item of a value that is no list or dict that it created")
    _pop(lifter, items, index)
    return NONE


# ---- methods of lists ---------------------------------------------------------------------


def _append(lifter: Calling, items: MadeObject, value: Any) -> Any:
    found = contents_of(lifter, items)
    if isinstance(found, Contents):
        change(lifter, items, Contents(None, (*found.items, value)))
        return NONE
    if kind_of(value) not in (FLOAT, INT, BOOL):
        raise Unreadable(
            "it appends a value that is no number to a list whose length is not known",
            help="loop over a range whose length is a constant, or write to the elements of an "
            "array",
        )
    if found.room and lifter.loops[-1:] == found.room:
        lifter.appended[items] = lifter.appended.get(items, 0) + 1
        found = _write(lifter, items, found, found.length, value)
        longer = lifter.call(operator.add, [found.length, KnownBefore(1)], {})
        change(lifter, items, replace(found, length=longer))
        return NONE
    if found.room or (lifter.starts and items in lifter.starts[-1]):
        raise Unreadable(
            "it appends to a list whose length is not known",
            help="make an array of the final length, and write its elements",
        )
    one = lifter.call(np.array, [(value,)], {})
    longer = lifter.call(np.concatenate, [(as_array(lifter, items), one)], {})
    length = lifter.call(operator.add, [found.length, KnownBefore(1)], {})
    whole = found.whole and kind_of(value) == INT
    change(lifter, items, Growing(longer, length, whole=whole))
    return NONE


def _extend(lifter: Calling, items: MadeObject, more: Any) -> Any:
    added = as_sequence(lifter, more)
    found = contents_of(lifter, items)
    if added is not None:
        for each in added:
            _append(lifter, items, each)
        return NONE
    if isinstance(found, Growing) or found.items or not is_list(more):
        new = lifter.call(list, [more], {})
        taken = as_array(lifter, new)
        if isinstance(found, Growing) or found.items:
            taken = lifter.call(np.concatenate, [(as_array(lifter, items), taken)], {})
        if lifter.starts and items in lifter.starts[-1]:
            raise Unreadable("it extends a list whose length is not known, in a loop")
        change(lifter, items, Growing(taken, lifter.call(len, [taken], {})))
        return NONE
    change(lifter, items, contents_of(lifter, more))
    return NONE


def _insert(lifter: Calling, items: MadeObject, index: Any, value: Any) -> Any:
    held = _known(lifter, items, index)
    held.insert(index.value, value)
    change(lifter, items, Contents(None, tuple(held)))
    return NONE


def _pop(lifter: Calling, items: MadeObject, index: Any = LAST) -> Any:
    found = contents_of(lifter, items)
    if isinstance(found, Growing) and index == LAST:
        last = lifter.call(operator.sub, [found.length, KnownBefore(1)], {})
        change(lifter, items, replace(found, length=last))
        return _element(lifter, found, last)
    held = _known(lifter, items, index)
    if not -len(held) <= index.value < len(held):
        raise Unreadable("it takes an item from a list that has none there")
    taken = held.pop(index.value)
    change(lifter, items, Contents(None, tuple(held)))
    return taken


def _known(lifter: Calling, items: MadeObject, index: Any = FIRST) -> list[Any]:
    """The items of a list of known length, changed at a known index."""
    found = contents_of(lifter, items)
    if isinstance(found, Growing) or not _is_index(index):
        raise Unreadable("it moves items of a list whose length is not known")
    return list(found.items)


def _reverse(lifter: Calling, items: MadeObject) -> Any:
    change(lifter, items, Contents(None, tuple(reversed(_known(lifter, items)))))
    return NONE


def _copy(lifter: Calling, items: MadeObject) -> Any:
    found = contents_of(lifter, items)
    if isinstance(found, Growing):
        return lifter.call(list, [items], {})
    return made(lifter, items.cls, found.items, found.keys)


def _clear(lifter: Calling, items: MadeObject) -> Any:
    change(lifter, items, Contents(() if items.cls is dict else None, ()))
    return NONE


# ---- methods of dicts ---------------------------------------------------------------------


def _of_dict(method: Any) -> Callable[..., Any]:
    """A method of dicts that moves items, which are known by their keys."""

    def lifted(lifter: Calling, items: MadeObject, *args: Any, **named: Any) -> Any:
        held = named_items(lifter, items)
        before, roles = dict(held), ROLES[method]
        given = [
            key_of(value) if role is Role.KEY else value
            for role, value in zip(roles, args, strict=False)
        ]
        if roles == (Role.MAPPING,):
            given = [{k: v for each in args for k, v in as_dict(lifter, each).items()} | named]
        try:
            found = applied(method, held, given)
        except KeyError:
            raise Unreadable("it takes a key from a dict that may not be there") from None
        if held != before or method is dict.update:
            set_named(lifter, items, held)
        return NONE if found is None else found

    return lifted


def _keys(lifter: Calling, items: MadeObject) -> Any:
    return as_sequence(lifter, items)


def _values(lifter: Calling, items: MadeObject) -> Any:
    return contents_of(lifter, items).items


def _items(lifter: Calling, items: MadeObject) -> Any:
    held = named_items(lifter, items)
    return tuple((lifter.constant(key), value) for key, value in held.items())


def as_dict(lifter: Calling, operand: Any) -> dict[Any, Any]:
    """The items of a mapping."""
    if isinstance(operand, MadeObject) and operand.cls is dict:
        return named_items(lifter, operand)
    if isinstance(operand, KnownBefore) and operand.value == {}:
        return {}
    pairs = as_sequence(lifter, operand)
    if pairs is None or not all(isinstance(p, tuple) and len(p) == 2 for p in pairs):
        raise Unreadable("it reads the items of a mapping that is not known")
    return {key_of(key): value for key, value in pairs}


METHODS: dict[Any, Callable[..., Any]] = {
    list.append: _append,
    list.extend: _extend,
    list.insert: _insert,
    list.pop: _pop,
    list.reverse: _reverse,
    list.copy: _copy,
    list.clear: _clear,
    dict.keys: _keys,
    dict.values: _values,
    dict.items: _items,
    **{each: _of_dict(each) for each in (dict.get, dict.update, dict.setdefault, dict.pop)},
    dict.copy: _copy,
    dict.clear: _clear,
}
"""The methods of lists and dicts that the program makes."""
