"""Functions that take all items of an iterable whose items are known one by one."""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from inversion.lifting.heap import contents_of, frozen, made, operand_in
from inversion.lifting.lifted_values import (
    ITERABLES,
    CallSite,
    Constant,
    Generating,
    HeapObject,
    Iterating,
    KnownObject,
    Named,
    Partial,
    Raises,
    Tupled,
    Value,
    Values,
    Variable,
    is_known,
    items_in_turn,
    plain,
    refused,
    shown_kind,
    value_of,
)
from inversion.lifting.sequence_calls import characters_of
from overlay.core.short_repr import a_or_an
from primitives.arrays.domain import is_array, shape_of

if TYPE_CHECKING:
    from inversion.lifting.lifter import Lifter

__all__ = [
    "DICTS",
    "ITERATOR",
    "SETS",
    "has_own_binding",
    "held_by",
    "items_of",
    "iterable_call",
    "key_of",
    "mapping_of",
    "one_or_other",
    "set_of",
]

ZERO, ONE, NO, NONE = Constant(0), Constant(1), Constant(False), KnownObject(None)
ADD = KnownObject(operator.add)
MOST_ITEMS = 4096
"""The largest number of items of a range from which a container is made."""
MOST_ROWS = 64
"""The largest number of rows of an array that are taken one by one."""
ITERATOR = type(iter(()))
"""The class of iterators that the function makes with ``iter``."""
DICTS = (dict, defaultdict, Counter, OrderedDict)
SETS = (set, frozenset)


def iterable_call(
    lifter: Lifter, site: CallSite, target: Any, args: Values, kwargs: Named
) -> Value | None:
    """The result of a function of iterables; None for another call, or if the items are
    not known.
    """
    if type(target).__hash__ is None:
        return None
    found = CALLS.get(target)
    return None if found is None else found(lifter, site, *args, **kwargs)


def has_own_binding(target: Any) -> bool:
    """Return whether a function here binds its named arguments itself."""
    return type(target).__hash__ is not None and (target in CALLS or isinstance(target, type))


def items_of(lifter: Lifter, site: CallSite, value: Value) -> tuple[Value, ...] | None:
    """The items of an iterable if their number is known, else None."""
    if operand_in(lifter.known, value) is not None:
        return None
    if isinstance(value, HeapObject):
        if hasattr(value.kind, "__iter__") and not issubclass(value.kind, HELD):
            return items_of(lifter, site, lifter.method(site, value, "__iter__", ()))
        held = contents_of(lifter.known, value, site.where)
        if value.kind is ITERATOR:
            lifter.known[value] = held.of(())
        if value.kind in DICTS:
            return tuple(map(value_of, held.keys or ()))
        return held.items
    if isinstance(value, Generating):
        held = lifter.run_generator(site, value, Tupled(tuple, ()), _with_item)
        assert isinstance(held, Tupled)
        return held.items
    if is_array(value.kind) and isinstance(value, (Variable, Constant)):
        rows = shape_of(value.kind)[0]
        if rows > MOST_ROWS:
            return None
        return tuple(
            lifter.call(site, (operator.getitem,), (value, Constant(i)), {}) for i in range(rows)
        )
    if isinstance(value, Variable) and value.kind is str:
        return characters_of(lifter, site, value)
    return items_in_turn(value, MOST_ITEMS)


def held_by(lifter: Lifter, site: CallSite, value: Value) -> Tupled | None:
    """The contents of a container with known items; None for other values."""
    if isinstance(value, HeapObject):
        return contents_of(lifter.known, value, site.where)
    if isinstance(value, Tupled):
        return value
    if isinstance(value, (KnownObject, Constant)):
        found = value.value
        if isinstance(found, dict):
            items: dict[Any, Any] = found
            return Tupled(dict, tuple(map(value_of, items.values())), tuple(items))
        if isinstance(found, ITERABLES):
            kind = str if isinstance(found, str) else type(found)
            return Tupled(kind, tuple(map(value_of, found)))
    return None


def key_of(site: CallSite, value: Value) -> Any:
    """The key or index of an item, which has to be a constant."""
    if not is_known(value):
        help = "write the choice with if, with a constant key or index in each branch"
        raise refused("a key or an index that depends on the arguments", site.where, help)
    return plain(value)


def mapping_of(lifter: Lifter, site: CallSite, value: Value) -> dict[Any, Value]:
    """The items of a mapping, or of an iterable of pairs."""
    held = held_by(lifter, site, value)
    if held is not None and held.keys is not None and held.kind not in SETS:
        return dict(zip(held.keys, held.items, strict=True))
    pairs = items_of(lifter, site, value)
    found: dict[Any, Value] = {}
    for pair in pairs or ():
        both = items_of(lifter, site, pair)
        if both is None or len(both) != 2:
            pairs = None
            break
        found[key_of(site, both[0])] = both[1]
    if pairs is None:
        help = "make it of a dict, or of pairs of a key and a value"
        what = f"a mapping made of {a_or_an(shown_kind(value))}"
        raise refused(what, site.where, help, (value,))
    return found


HELD = (list, *DICTS, set, frozenset, bytearray, tuple, ITERATOR, deque)


def _with_item(held: Value, item: Value) -> Value:
    assert isinstance(held, Tupled)
    return held.of((*held.items, item))


# ---- containers ---------------------------------------------------------------------------


def _list(lifter: Lifter, site: CallSite, *values: Value) -> Value | None:
    items = items_of(lifter, site, values[0]) if values else ()
    return None if items is None else made(lifter.known, list, items)


def _tuple(lifter: Lifter, site: CallSite, *values: Value) -> Value | None:
    items = items_of(lifter, site, values[0]) if values else ()
    return None if items is None else Tupled(tuple, items)


def _bytes(kind: type) -> Callable[..., Value | None]:
    def found(lifter: Lifter, site: CallSite, *values: Value) -> Value | None:
        if values and isinstance(values[0], Constant) and type(values[0].value) is int:
            items: tuple[Value, ...] | None = (Constant(0),) * values[0].value
        elif len(values) > 1 or (values and isinstance(values[0], Variable)):
            return None
        else:
            items = items_of(lifter, site, values[0]) if values else ()
        if items is None:
            return None
        return Tupled(bytes, items) if kind is bytes else made(lifter.known, kind, items)

    return found


def _set(kind: type) -> Callable[..., Value | None]:
    def found(lifter: Lifter, site: CallSite, *values: Value) -> Value | None:
        items = items_of(lifter, site, values[0]) if values else ()
        if items is None:
            return None
        return set_of(lifter, site, items, kind)

    return found


def set_of(lifter: Lifter, site: CallSite, items: Iterable[Value], kind: type = set) -> Value:
    """A set of known items."""
    items = tuple(items)
    if not all(map(is_known, items)):
        what = "a set of items that depend on the arguments"
        raise refused(what, site.where, "make a tuple or a list of the items")
    keys = tuple(dict.fromkeys(map(plain, items)))
    if kind is frozenset:
        return KnownObject(frozenset(keys))
    return made(lifter.known, kind, map(value_of, keys), keys)


def _dict(lifter: Lifter, site: CallSite, *values: Value, **named: Value) -> Value | None:
    held = mapping_of(lifter, site, values[0]) if values else {}
    held = {**held, **named}
    return made(lifter.known, dict, held.values(), tuple(held))


def _defaultdict(lifter: Lifter, site: CallSite, *values: Value, **named: Value) -> Value | None:
    held = {**(mapping_of(lifter, site, values[1]) if len(values) > 1 else {}), **named}
    found = made(lifter.known, defaultdict, held.values(), tuple(held))
    if values and values[0] != KnownObject(None):
        lifter.factories[found] = values[0]
    return found


def _counter(lifter: Lifter, site: CallSite, *values: Value) -> Value | None:
    items = items_of(lifter, site, values[0]) if values else ()
    if items is None or not all(map(is_known, items)):
        return None
    if values and is_known(values[0]) and isinstance(plain(values[0]), dict):
        return None
    held = Counter(map(plain, items))
    return made(lifter.known, Counter, map(value_of, held.values()), tuple(held))


# ---- items that move ----------------------------------------------------------------------


def _moved(target: Any) -> Callable[..., Value | None]:
    """A function that only moves items: it runs on them."""

    def found(lifter: Lifter, site: CallSite, *values: Value, **named: Value) -> Value | None:
        given = [_argument(lifter, site, value) for value in values]
        options = {name: _argument(lifter, site, value) for name, value in named.items()}
        if any(value is None for value in given):
            return None
        try:
            items = list(
                target(*(one for (one,) in given), **{n: v[0] for n, v in options.items()})
            )
        except (ValueError, TypeError) as error:
            raise Raises(f"{target.__name__}: {error}", site.where) from None
        return Iterating(None, tuple(map(_moved_item, items)))

    return found


def _argument(lifter: Lifter, site: CallSite, value: Value) -> Any:
    """An argument in a tuple of one: the items of an iterable, or a constant number; None for
    another value.
    """
    if isinstance(value, Constant) and value.kind is not str and not is_array(value.kind):
        return (value.value,)
    if isinstance(value, KnownObject) and value.value is None:
        return (None,)
    items = items_of(lifter, site, value)
    return None if items is None else (list(items),)


def _moved_item(item: Any) -> Value:
    if isinstance(item, (tuple, list)):
        row: Any = item
        return Tupled(tuple, tuple(map(value_of, row)))
    return value_of(item)


def _enumerate(lifter: Lifter, site: CallSite, values: Value, start: Value = ZERO) -> Value | None:
    items = items_of(lifter, site, values)
    if items is None:
        return None
    if not is_known(start):
        help = "count from 0, and add the number in the loop"
        raise refused("enumerate from a number that depends on the arguments", site.where, help)
    pairs = enumerate(items, plain(start))
    return Iterating(None, tuple(Tupled(tuple, (Constant(i), item)) for i, item in pairs))


def _chained(lifter: Lifter, site: CallSite, values: Value) -> Value | None:
    rows = items_of(lifter, site, values)
    if rows is None:
        return None
    return CALLS[itertools.chain](lifter, site, *rows)


def _iter(lifter: Lifter, site: CallSite, values: Value) -> Value | None:
    if isinstance(values, HeapObject) and values.kind is ITERATOR:
        return values
    items = items_of(lifter, site, values)
    return None if items is None else made(lifter.known, ITERATOR, items)


def _next(lifter: Lifter, site: CallSite, values: Value, *default: Value) -> Value | None:
    if isinstance(values, HeapObject) and values.kind is ITERATOR:
        held = contents_of(lifter.known, values, site.where)
        if held.items:
            lifter.known[values] = held.of(held.items[1:])
            return held.items[0]
    else:
        items = items_of(lifter, site, values)
        if items is None:
            return None
        if items:
            return items[0]
    if not default:
        raise Raises("next of an iterator that is at its end", site.where)
    return default[0]


# ---- functions applied to items -----------------------------------------------------------


def _map(lifter: Lifter, site: CallSite, function: Value, *values: Value) -> Value | None:
    rows = [items_of(lifter, site, value) for value in values]
    if any(row is None for row in rows):
        return None
    given = zip(*(row for row in rows if row is not None), strict=False)
    return Iterating(None, tuple(lifter.called(site, function, args) for args in given))


def _starmap(lifter: Lifter, site: CallSite, function: Value, values: Value) -> Value | None:
    rows = items_of(lifter, site, values)
    if rows is None:
        return None
    found: list[Value] = []
    for row in rows:
        args = items_of(lifter, site, row)
        if args is None:
            return None
        found.append(lifter.called(site, function, args))
    return Iterating(None, tuple(found))


def _filter(lifter: Lifter, site: CallSite, function: Value, values: Value) -> Value | None:
    items = items_of(lifter, site, values)
    if items is None:
        return None
    kept: list[Value] = []
    for item in items:
        found = item if function == KnownObject(None) else lifter.called(site, function, (item,))
        truth = lifter.truth(site, found)
        if not isinstance(truth, Constant):
            raise refused(
                "a filter whose condition depends on the arguments",
                site.where,
                "use a sum, any or all instead",
            )
        if truth.value:
            kept.append(item)
    return Iterating(None, tuple(kept))


def _reduce(
    lifter: Lifter, site: CallSite, function: Value, values: Value, *first: Value
) -> Value | None:
    items = items_of(lifter, site, values)
    if items is None:
        return None
    items = (*first, *items)
    if not items:
        raise Raises("reduce of no items", site.where)
    return functools.reduce(lambda a, b: lifter.called(site, function, (a, b)), items)


def _accumulate(
    lifter: Lifter, site: CallSite, values: Value, func: Value = ADD,
    initial: Value = NONE,
) -> Value | None:  # fmt: skip
    items = items_of(lifter, site, values)
    if items is None:
        return None
    add = KnownObject(operator.add) if func == KnownObject(None) else func
    items = items if initial == KnownObject(None) else (initial, *items)
    found = itertools.accumulate(items, lambda a, b: lifter.called(site, add, (a, b)))
    return Iterating(None, tuple(found))


def _partial(lifter: Lifter, site: CallSite, *values: Value, **named: Value) -> Value | None:
    return Partial(values[0], values[1:], named)


# ---- folds --------------------------------------------------------------------------------


def _folded(
    lifter: Lifter, site: CallSite, values: Value, first: Value,
    add: Callable[[Value, Value], Value],
) -> Value | None:  # fmt: skip
    if isinstance(values, Generating):
        return lifter.run_generator(site, values, first, add)
    items = items_of(lifter, site, values)
    return None if items is None else functools.reduce(add, items, first)


def _added(lifter: Lifter, site: CallSite) -> Callable[[Value, Value], Value]:
    def add(total: Value, item: Value) -> Value:
        if total == Constant(0) and item.kind is not bool:
            return item
        return lifter.call(site, (operator.add,), (total, item), {})

    return add


def _sum(lifter: Lifter, site: CallSite, values: Value, start: Value = ZERO) -> Value | None:
    if is_array(values.kind):
        return None
    return _folded(lifter, site, values, start, _added(lifter, site))


def _fsum(lifter: Lifter, site: CallSite, values: Value) -> Value | None:
    if is_array(values.kind):
        return None
    found = _folded(lifter, site, values, Constant(0), _added(lifter, site))
    return None if found is None else lifter.call(site, (float,), (found,), {})


def _product(lifter: Lifter, site: CallSite, values: Value, start: Value = ONE) -> Value | None:
    def times(total: Value, item: Value) -> Value:
        if total == Constant(1) and item.kind is not bool:
            return item
        return lifter.call(site, (operator.mul,), (total, item), {})

    return None if is_array(values.kind) else _folded(lifter, site, values, start, times)


def _by_truth(settles: bool) -> Callable[..., Value | None]:
    """``any``, which a true item decides, or ``all``, which a false item decides."""
    connect = operator.or_ if settles else operator.and_

    def found(lifter: Lifter, site: CallSite, values: Value) -> Value | None:
        if is_array(values.kind):
            return None

        def add(total: Value, item: Value) -> Value:
            truth = lifter.truth(site, item)
            for known, rest in ((total, truth), (truth, total)):
                if isinstance(known, Constant):
                    return Constant(settles) if known.value == settles else rest
            return lifter.call(site, (connect,), (total, truth), {})

        return _folded(lifter, site, values, Constant(not settles), add)

    return found


def _extreme(target: Any) -> Callable[..., Value | None]:
    compare = operator.lt if target is min else operator.gt

    def found(
        lifter: Lifter, site: CallSite, *values: Value, key: Value | None = None,
        default: Value | None = None,
    ) -> Value | None:  # fmt: skip
        if len(values) == 1 and is_array(values[0].kind):
            return None
        items = items_of(lifter, site, values[0]) if len(values) == 1 else values
        if items is None or (len(values) == 2 and key is None and _are_numbers(values)):
            return None
        if not items:
            if default is None:
                raise Raises(f"{target.__name__} of no items", site.where)
            return default
        if key is None and _are_numbers(items):
            return functools.reduce(lambda a, b: lifter.call(site, (target,), (a, b), {}), items)
        best, measure = items[0], _measured(lifter, site, items[0], key)
        for item in items[1:]:
            new = _measured(lifter, site, item, key)
            better = lifter.truth(site, lifter.call(site, (compare,), (new, measure), {}))
            both = (Tupled(tuple, (item, new)), Tupled(tuple, (best, measure)))
            chosen = lifter.called(site, KnownObject(one_or_other), (better, *both))
            best, measure = chosen.items if isinstance(chosen, Tupled) else both[1].items
        return best

    return found


def one_or_other(is_first: bool, first: Any, second: Any) -> Any:
    """One of two values. This function is lifted."""
    return first if is_first else second


def _are_numbers(values: Iterable[Value]) -> bool:
    return all(isinstance(value, (Variable, Constant)) for value in values)


def _measured(lifter: Lifter, site: CallSite, item: Value, key: Value | None) -> Value:
    if key is None or key == KnownObject(None):
        return item
    return lifter.called(site, key, (item,))


def _sorted(
    lifter: Lifter, site: CallSite, values: Value, key: Value | None = None,
    reverse: Value = NO,
) -> Value | None:  # fmt: skip
    if is_array(values.kind):
        return None
    items = items_of(lifter, site, values)
    if items is None:
        return None
    keys = [frozen(lifter.known, _measured(lifter, site, item, key)) for item in items]
    known = _order(keys)
    if known is None:
        raise refused(
            "sorting of items that depend on the arguments",
            site.where,
            "pass them sorted, or use min and max",
        )
    order = sorted(range(len(items)), key=known.__getitem__, reverse=bool(plain(reverse)))
    return made(lifter.known, list, (items[i] for i in order))


def _order(keys: list[Value]) -> list[Any] | None:
    """Sort keys: the values themselves if they are constants, else the first parts of tuples if
    these are constants and all different.
    """
    if all(map(is_known, keys)):
        return list(map(plain, keys))
    firsts = [key.items[0] for key in keys if isinstance(key, Tupled) and key.items]
    if len(firsts) == len(keys) and all(map(is_known, firsts)):
        known = list(map(plain, firsts))
        if len(set(known)) == len(known):
            return known
    return None


def _join(lifter: Lifter, site: CallSite, separator: Value, values: Value) -> Value | None:
    if not isinstance(values, (HeapObject, Generating, Iterating)):
        return None
    items = items_of(lifter, site, values)
    if items is None:
        return None
    return lifter.call(site, (str.join,), (separator, Tupled(list, items)), {})


MOVED = (
    zip, reversed, itertools.product, itertools.chain, itertools.islice, itertools.combinations,
    itertools.permutations, itertools.combinations_with_replacement, itertools.pairwise,
    itertools.zip_longest,
)  # fmt: skip
CALLS: Mapping[Any, Callable[..., Value | None]] = {
    list: _list,
    tuple: _tuple,
    set: _set(set),
    frozenset: _set(frozenset),
    dict: _dict,
    OrderedDict: _dict,
    defaultdict: _defaultdict,
    Counter: _counter,
    bytes: _bytes(bytes),
    bytearray: _bytes(bytearray),
    **{each: _moved(each) for each in MOVED},
    enumerate: _enumerate,
    itertools.chain.from_iterable: _chained,
    iter: _iter,
    next: _next,
    map: _map,
    itertools.starmap: _starmap,
    filter: _filter,
    functools.reduce: _reduce,
    itertools.accumulate: _accumulate,
    functools.partial: _partial,
    sum: _sum,
    math.fsum: _fsum,
    math.prod: _product,
    any: _by_truth(settles=True),
    all: _by_truth(settles=False),
    min: _extreme(min),
    max: _extreme(max),
    sorted: _sorted,
    str.join: _join,
}
"""The functions of iterables."""
