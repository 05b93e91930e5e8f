"""Lifting of iteration, and of functions of iterables: ranges, zip, list, sum."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from overlay.code import marks
from overlay.interpretations.autodiff.reverse.made_objects import (
    as_array,
    as_dict,
    as_sequence,
    contents_of,
    is_items,
    item_of,
    made,
    use_once,
)
from overlay.interpretations.autodiff.reverse.operands import is_same
from overlay.interpretations.autodiff.reverse.pullbacks import kind_of
from overlay.interpretations.autodiff.reverse.reverse_program import (
    INT,
    Advanced,
    Generator,
    Growing,
    IndexedItems,
    KnownBefore,
    MadeObject,
    More,
    ReverseValue,
    Steps,
)
from overlay.interpretations.autodiff.reverse.running import (
    any_of,
    every_of,
    filtered,
    mapped,
    mapped_pairs,
    total_of,
)
from overlay.interpretations.autodiff.reverse.structure import Unreadable

if TYPE_CHECKING:
    from overlay.interpretations.autodiff.reverse.calling import Calling

__all__ = ["FOLDED", "ITERATING", "all_of", "size_of"]

NO = KnownBefore(False)
ZERO, ONE = KnownBefore(0), KnownBefore(1)


def _range(lifter: Calling, *parts: Any) -> Any:
    if any(kind_of(part) != INT for part in parts):
        raise Unreadable("it has a range of values that are no whole numbers")
    start, stop, step = {1: (ZERO, *parts, ONE), 2: (*parts, ONE)}.get(len(parts), parts)
    return Steps(start, stop, step)


def _reversed(lifter: Calling, items: Any) -> Any:
    found = _iterated(lifter, items)
    if isinstance(found, Steps) and found.step == ONE:
        less = lifter.call(operator.sub, [found.stop, ONE], {})
        end = lifter.call(operator.sub, [found.start, ONE], {})
        return Steps(less, end, KnownBefore(-1))
    if isinstance(found, IndexedItems):
        last = lifter.call(operator.sub, [found.count, ONE], {})

        def item(i: Any) -> Any:
            return found.item(lifter.call(operator.sub, [last, i], {}))

        return IndexedItems(found.count, item, found.unrolled, found.check)
    raise Unreadable("it iterates backwards over a value that is not known")


def size_of(lifter: Calling, items: Any) -> Any:
    """The number of items."""
    if isinstance(items, MadeObject):
        found = contents_of(lifter, items)
        return found.length if isinstance(found, Growing) else KnownBefore(len(found.items))
    if isinstance(items, tuple):
        return KnownBefore(len(items))
    if isinstance(items, KnownBefore) and isinstance(items.value, (range, str, bytes)):
        return KnownBefore(len(items.value))
    if isinstance(items, Steps):
        return _count_of(lifter, items)
    return lifter.call_known(len, [items], {})


def _count_of(lifter: Calling, steps: Steps) -> Any:
    """The number of items of a range."""
    parts = (steps.start, steps.stop, steps.step)
    if all(isinstance(part, KnownBefore) for part in parts):
        return KnownBefore(len(range(*(part.value for part in parts))))
    if steps.step not in (ONE, KnownBefore(-1)):
        raise Unreadable("it asks for the length of a range with an unknown step")
    is_length = isinstance(steps.stop, ReverseValue) and steps.stop.is_length
    if is_length and (steps.start, steps.step) == (ZERO, ONE):
        return steps.stop
    ends = (steps.stop, steps.start) if steps.step == ONE else (steps.start, steps.stop)
    return lifter.call(max, [lifter.call(operator.sub, list(ends), {}), ZERO], {})


def _iterated(lifter: Calling, items: Any) -> Any:
    if isinstance(items, IndexedItems):
        use_once(items)
        return items
    if isinstance(items, Steps):
        return items
    if isinstance(items, KnownBefore) and isinstance(items.value, range):
        known = items.value
        return Steps(KnownBefore(known.start), KnownBefore(known.stop), KnownBefore(known.step))
    if isinstance(items, ReverseValue) and items.kind.ndim:

        def item(i: Any) -> Any:
            return lifter.call(operator.getitem, [items, i], {})

        return IndexedItems(size_of(lifter, items), item)
    if is_items(items):
        count = size_of(lifter, items)
        is_known = isinstance(count, KnownBefore)

        def check() -> None:
            if not is_same(size_of(lifter, items), count):
                raise Unreadable("it changes the length of a list over which it iterates")

        return IndexedItems(count, lambda i: item_of(lifter, items, i), is_known, check)
    if isinstance(items, MadeObject) and hasattr(items.cls, "__iter__") and items.cls is not dict:
        return _iterated(lifter, lifter.call_method(items, "__iter__", []))
    found = as_sequence(lifter, items)
    if found is None:
        raise Unreadable("it iterates over a value that is not known before it runs")
    return _iterated(lifter, found)


def _by_index(lifter: Calling, items: Any) -> IndexedItems:
    found = _iterated(lifter, items)
    if isinstance(found, IndexedItems):
        return found
    if not isinstance(found, Steps):
        raise Unreadable("it iterates over several values that are not arrays")

    def item(i: Any) -> Any:
        far = i if found.step == ONE else lifter.call(operator.mul, [i, found.step], {})
        return far if found.start == ZERO else lifter.call(operator.add, [found.start, far], {})

    return IndexedItems(_count_of(lifter, found), item)


def _enumerate(lifter: Calling, items: Any, start: Any = ZERO) -> Any:
    found = _by_index(lifter, items)

    def item(i: Any) -> Any:
        number = i if start == ZERO else lifter.call(operator.add, [start, i], {})
        return number, found.item(i)

    return IndexedItems(found.count, item, found.unrolled, found.check)


def _zipped(lifter: Calling, *items: Any, strict: Any = NO) -> Any:
    found = [_by_index(lifter, each) for each in items]
    if not found:
        return ()
    counts = [each.count for each in found]
    if strict != NO and any(count != counts[0] for count in counts):
        raise Unreadable("it zips values with strict=True, and their lengths may differ")
    count = functools.reduce(lambda a, b: lifter.call(min, [a, b], {}), counts)
    unrolled = any(each.unrolled for each in found) and isinstance(count, KnownBefore)

    def check() -> None:
        for each in found:
            each.check()

    return IndexedItems(count, lambda i: tuple(each.item(i) for each in found), unrolled, check)


def _advance(lifter: Calling, items: Any) -> Any:
    return Advanced(items)


def _first(lifter: Calling, advanced: Advanced) -> Any:
    return advanced.item


def _succeeds(lifter: Calling, advanced: Advanced) -> More:
    return More()


# ---- containers of items ------------------------------------------------------------------


def _list(lifter: Calling, items: Any = ()) -> Any:
    known = as_sequence(lifter, items)
    if known is not None:
        return made(lifter, list, known)
    if isinstance(items, MadeObject) and isinstance(contents_of(lifter, items), Growing):
        items = as_array(lifter, items)
    if isinstance(items, ReverseValue) and items.kind.ndim == 1 and items.kind.dtype == "f":
        found = made(lifter, list, ())
        copied = lifter.call(np.copy, [items], {})
        lifter.env[found] = Growing(copied, lifter.call(len, [copied], {}))
        return found
    return all_of(lifter, lifter.enter(mapped, [KnownBefore(float), items], {}))


def _tuple(lifter: Calling, items: Any = ()) -> Any:
    known = as_sequence(lifter, items)
    return _list(lifter, items) if known is None else known


def _dict(lifter: Calling, items: Any = (), **named: Any) -> Any:
    held = as_dict(lifter, items) | named
    return made(lifter, dict, held.values(), tuple(held))


def _map(lifter: Calling, function: Any, *items: Any) -> Any:
    maker = {1: mapped, 2: mapped_pairs}.get(len(items))
    if maker is None:
        raise Unreadable("it maps a function over more than two iterables")
    return lifter.enter(maker, [function, *items], {})


def _filter(lifter: Calling, function: Any, items: Any) -> Any:
    return lifter.enter(filtered, [function, items], {})


# ---- functions of items -------------------------------------------------------------------


def all_of(lifter: Calling, generator: Generator) -> Any:
    """The items of a generator, as a list."""

    def append(items: Any, value: Any) -> Any:
        lifter.call(list.append, [items, value], {})
        return items

    return folded(generator, made(lifter, list, ()), append)


def folded(generator: Generator, first: Any, add: Callable[[Any, Any], Any]) -> Any:
    """The result of a function that adds each item of a generator to an accumulator."""
    use_once(generator)
    return generator.run(first, add)


def _is_array(operand: Any) -> bool:
    return isinstance(operand, ReverseValue) and operand.kind.ndim > 0


def _sum(lifter: Calling, items: Any, start: Any = ZERO) -> Any:
    if isinstance(items, Generator):
        return folded(
            items, start, lambda total, value: lifter.call(operator.add, [total, value], {})
        )
    if _is_array(items) and items.kind.ndim == 1 and start == ZERO:
        return lifter.call_known(sum, [items], {})
    if isinstance(items, MadeObject) and isinstance(contents_of(lifter, items), Growing):
        total = lifter.call(np.sum, [as_array(lifter, items)], {})
        return total if start == ZERO else lifter.call(operator.add, [total, start], {})
    return lifter.enter(total_of, [items, start], {})


def _any(lifter: Calling, items: Any) -> Any:
    if isinstance(items, Generator):
        return folded(items, NO, _by_truth(lifter, operator.or_))
    return lifter.enter(any_of, [items], {})


def _all(lifter: Calling, items: Any) -> Any:
    if isinstance(items, Generator):
        return folded(items, KnownBefore(True), _by_truth(lifter, operator.and_))
    return lifter.enter(every_of, [items], {})


def _by_truth(lifter: Calling, function: Any) -> Callable[[Any, Any], Any]:
    return lambda found, value: lifter.call(function, [found, lifter.truth(value)], {})


def _extreme(function: Any) -> Callable[..., Any]:
    def lifted(lifter: Calling, *args: Any) -> Any:
        if len(args) == 1 and not _is_array(args[0]):
            known = as_sequence(lifter, args[0])
            if known is None:
                args = (as_array(lifter, _list(lifter, args[0])),)
            elif not known:
                raise Unreadable(f"it takes the {function.__name__} of nothing")
            else:
                args = known
        if len(args) == 1 and not _is_array(args[0]):
            return args[0]
        return lifter.call_known(function, list(args), {})

    return lifted


def _reduced(function: Any, of_two: Any, first: Any) -> Callable[..., Any]:
    """The function of an iterable that applies a function of two to its items in order."""

    def lifted(lifter: Calling, items: Any, **named: Any) -> Any:
        known = None if _is_array(items) else as_sequence(lifter, items)
        if known is None:
            array = items if _is_array(items) else as_array(lifter, _list(lifter, items))
            return lifter.call_known(function, [array], named)
        found = named.get("start", first)
        return functools.reduce(lambda a, b: lifter.call(of_two, [a, b], {}), known, found)

    return lifted


def _sorted(lifter: Calling, items: Any) -> Any:
    array = items if _is_array(items) else as_array(lifter, _list(lifter, items))
    return _list(lifter, lifter.call(np.sort, [array], {}))


def _divided(lifter: Calling, a: Any, b: Any) -> Any:
    return lifter.call(operator.floordiv, [a, b], {}), lifter.call(operator.mod, [a, b], {})


FOLDED = (sum, any, all)
"""Functions that take a generator's items one by one."""
ITERATING: dict[Any, Callable[..., Any]] = {
    marks.advance: _advance,
    marks.first: _first,
    marks.succeeds: _succeeds,
    range: _range,
    reversed: _reversed,
    len: size_of,
    iter: _iterated,
    enumerate: _enumerate,
    zip: _zipped,
    list: _list,
    tuple: _tuple,
    dict: _dict,
    map: _map,
    filter: _filter,
    sum: _sum,
    any: _any,
    all: _all,
    max: _extreme(max),
    min: _extreme(min),
    sorted: _sorted,
    divmod: _divided,
    math.fsum: _reduced(math.fsum, operator.add, KnownBefore(0.0)),
    math.prod: _reduced(math.prod, operator.mul, ONE),
}
"""The functions of iterables, and the marks of loops."""
