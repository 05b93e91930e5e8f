"""Lifting of calls other than functions of numbers: attributes, tuples, ranges."""

from __future__ import annotations

import inspect
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from overlay.code import marks
from overlay.code.record import attribute_held
from overlay.core.target import describe
from overlay.interpretations.autodiff.reverse.pullbacks import Pullback, kind_of
from overlay.interpretations.autodiff.reverse.reverse_program import (
    INT,
    Advanced,
    ArrayMethod,
    IndexedItems,
    KnownBefore,
    More,
    ReverseValue,
    Span,
    Steps,
)
from overlay.interpretations.autodiff.reverse.structure import Unreadable

if TYPE_CHECKING:
    from overlay.interpretations.autodiff.reverse.lifted_bodies import ReverseLifter

__all__ = ["STRUCTURAL"]

NO = KnownBefore(False)
_CLASSES: dict[str, type] = {"f": float, "i": int, "b": bool}
_PLAIN: set[Any] = {float, int, bool, complex, str, tuple, list, dict, type(None)}


def _get_attribute(lifter: ReverseLifter, owner: Any, name: KnownBefore) -> Any:
    attribute = str(name.value)
    if isinstance(owner, KnownBefore):
        return _attribute_of_known(lifter, owner.value, attribute)
    lifter.reads_attributes = True
    if not isinstance(owner, ReverseValue):
        raise Unreadable(f"it reads the attribute {attribute!r} of what is not known")
    if owner.kind.ndim and attribute in _METHODS:
        return ArrayMethod(_METHODS[attribute], owner)
    if owner.kind.ndim and attribute == "T":
        return lifter.call(np.transpose, [owner], {})
    if owner.kind.ndim and attribute == "ndim":
        return KnownBefore(owner.kind.ndim)
    if owner.kind.ndim and attribute == "shape":
        return tuple(_length(lifter, owner, axis) for axis in range(owner.kind.ndim))
    if owner.kind.ndim and attribute == "size":
        return lifter.emit(Pullback(np.size, INT, "{0}.size", is_shape=True), [owner])
    raise Unreadable(f"it reads the attribute {attribute!r} of a number or an array")


def _length(lifter: ReverseLifter, array: ReverseValue, axis: int) -> ReverseValue:
    return lifter.emit(Pullback(np.shape, INT, f"{{0}}.shape[{axis}]", is_shape=True), [array])


def _attribute_of_known(lifter: ReverseLifter, owner: Any, name: str) -> Any:
    missing = object()
    found = getattr(owner, name, missing)
    if found is missing:
        raise Unreadable(f"{describe(owner)} has no attribute {name!r}")
    static = inspect.getattr_static(owner, name, None)
    if isinstance(static, property) or hasattr(type(owner), "__getattr__"):
        raise Unreadable(f"it reads {name!r}, which is computed")
    lifter.attributes.append((owner, name, attribute_held(owner, name)))
    return lifter.constant(found)


def _pack(lifter: ReverseLifter, *items: Any) -> Any:
    return items


def _unpack(lifter: ReverseLifter, value: Any, count: KnownBefore) -> Any:
    if isinstance(value, tuple):
        if len(value) != count.value:
            raise Unreadable("it unpacks what has another length")
        return value
    if isinstance(value, ReverseValue) and value.kind.ndim:
        return tuple(
            lifter.call(operator.getitem, [value, KnownBefore(i)], {}) for i in range(count.value)
        )
    raise Unreadable("it unpacks what is not known")


def _pick(lifter: ReverseLifter, items: Any, place: KnownBefore) -> Any:
    return items[place.value]


def _get_item(lifter: ReverseLifter, array: Any, index: Any) -> Any:
    if isinstance(array, KnownBefore) and isinstance(array.value, (list, tuple, dict)):
        if isinstance(array.value, (list, dict)) or not isinstance(index, KnownBefore):
            raise Unreadable("it reads an item of a list, or one that is not known")
        return lifter.constant(array.value[index.value])
    if isinstance(array, tuple):
        if isinstance(index, KnownBefore):
            return array[index.value]
        if isinstance(index, Span) and all(isinstance(p, KnownBefore) for p in index.parts):
            return array[slice(*(p.value for p in index.parts))]
        raise Unreadable("it reads an item of a tuple that is not known")
    return lifter.call_known(operator.getitem, [array, index], {})


def _set_item(lifter: ReverseLifter, array: Any, index: Any, value: Any) -> Any:
    lifter.write(array, index, value)
    return KnownBefore(None)


def _slice(lifter: ReverseLifter, *parts: Any) -> Any:
    filled = {
        1: (KnownBefore(None), *parts, KnownBefore(None)),
        2: (*parts, KnownBefore(None)),
    }.get(len(parts), parts)
    return Span(tuple(filled))


def _range(lifter: ReverseLifter, *parts: Any) -> Any:
    if any(kind_of(part) != INT for part in parts):
        raise Unreadable("it has a range of what are no whole numbers")
    start, stop, step = {
        1: (KnownBefore(0), *parts, KnownBefore(1)),
        2: (*parts, KnownBefore(1)),
    }.get(len(parts), parts)
    return Steps(start, stop, step)


def _reversed(lifter: ReverseLifter, items: Any) -> Any:
    if isinstance(items, tuple):
        return items[::-1]
    if isinstance(items, Steps) and isinstance(items.step, KnownBefore) and items.step.value == 1:
        less = lifter.call(operator.sub, [items.stop, KnownBefore(1)], {})
        end = lifter.call(operator.sub, [items.start, KnownBefore(1)], {})
        return Steps(less, end, KnownBefore(-1))
    raise Unreadable("it goes backwards through what is not known")


def _size(lifter: ReverseLifter, items: Any) -> Any:
    if isinstance(items, tuple):
        return KnownBefore(len(items))
    if isinstance(items, KnownBefore) and isinstance(items.value, (range, str, bytes)):
        return KnownBefore(len(items.value))
    return lifter.call_known(len, [items], {})


def _iterated(lifter: ReverseLifter, items: Any) -> Any:
    if isinstance(items, (Steps, IndexedItems, tuple)):
        return items
    if isinstance(items, KnownBefore) and isinstance(items.value, range):
        known = items.value
        return Steps(KnownBefore(known.start), KnownBefore(known.stop), KnownBefore(known.step))
    if isinstance(items, ReverseValue) and items.kind.ndim:
        return IndexedItems(
            _size(lifter, items), lambda i: lifter.call(operator.getitem, [items, i], {})
        )
    raise Unreadable("it goes through what is not known")


def _by_index(lifter: ReverseLifter, items: Any) -> IndexedItems:
    found = _iterated(lifter, items)
    if isinstance(found, IndexedItems):
        return found
    if isinstance(found, Steps) and found.start == KnownBefore(0) and found.step == KnownBefore(1):
        return IndexedItems(found.stop, lambda i: i)
    raise Unreadable("it goes through several things that are not arrays")


def _enumerate(lifter: ReverseLifter, items: Any) -> Any:
    if isinstance(items, tuple):
        return tuple((KnownBefore(i), item) for i, item in enumerate(items))
    found = _by_index(lifter, items)
    return IndexedItems(found.count, lambda i: (i, found.item(i)))


def _zipped(lifter: ReverseLifter, *items: Any, strict: Any = NO) -> Any:
    if strict != NO:
        raise Unreadable("it zips things that have to be as long as each other")
    if all(isinstance(each, tuple) for each in items):
        return tuple(zip(*items, strict=False))
    found = [_by_index(lifter, each) for each in items]
    count = found[0].count
    for each in found[1:]:
        count = lifter.call(min, [count, each.count], {})
    return IndexedItems(count, lambda i: tuple(each.item(i) for each in found))


def _advance(lifter: ReverseLifter, items: Any) -> Any:
    return Advanced(items)


def _first(lifter: ReverseLifter, advanced: Advanced) -> Any:
    return advanced.item


def _succeeds(lifter: ReverseLifter, advanced: Advanced) -> More:
    return More()


def _tuple(lifter: ReverseLifter, items: Any = ()) -> Any:
    if isinstance(items, tuple):
        return items
    raise Unreadable("it makes a tuple of what is not known")


def _compare_identity(lifter: ReverseLifter, a: Any, b: Any) -> Any:
    if isinstance(a, KnownBefore) and isinstance(b, KnownBefore):
        return KnownBefore(a.value is b.value)
    if KnownBefore(None) in (a, b):
        return KnownBefore(False)
    raise Unreadable("it asks whether two things are the same")


def _differ_in_identity(lifter: ReverseLifter, a: Any, b: Any) -> Any:
    return KnownBefore(not _compare_identity(lifter, a, b).value)


def _instance(lifter: ReverseLifter, value: Any, classes: Any) -> Any:
    wanted = classes if isinstance(classes, tuple) else (classes,)
    if not all(isinstance(each, KnownBefore) for each in wanted):
        raise Unreadable("it asks for a class that is not known")
    kinds = tuple(each.value for each in wanted)
    if isinstance(value, KnownBefore):
        return KnownBefore(isinstance(value.value, kinds))
    if isinstance(value, ReverseValue) and value.kind.ndim:
        return KnownBefore(issubclass(np.ndarray, kinds))
    if isinstance(value, ReverseValue) and value.owner is None and set(kinds) <= _PLAIN:
        lifter.reads_attributes = True
        return KnownBefore(issubclass(_CLASSES[value.kind.dtype], kinds))
    raise Unreadable("it asks for the class of a number")


def _reshaped(lifter: ReverseLifter, array: Any, *shape: Any) -> Any:
    return lifter.call(np.reshape, [array, shape[0] if len(shape) == 1 else shape], {})


def _printed(lifter: ReverseLifter, *args: Any, **kwargs: Any) -> Any:
    raise Unreadable("it prints")


_METHODS: dict[str, Any] = {
    **{name: getattr(np, name) for name in ("sum", "mean", "prod", "dot", "copy", "ravel")},
    **{name: getattr(np, name) for name in ("cumsum", "max", "min", "argmax", "argmin")},
    "reshape": np.ndarray.reshape,
    "transpose": np.transpose,
    "flatten": np.ravel,
}
STRUCTURAL: dict[Any, Callable[..., Any]] = {
    getattr: _get_attribute,
    marks.pack: _pack,
    marks.unpack: _unpack,
    marks.pick: _pick,
    marks.advance: _advance,
    marks.first: _first,
    marks.succeeds: _succeeds,
    operator.getitem: _get_item,
    operator.setitem: _set_item,
    operator.is_: _compare_identity,
    operator.is_not: _differ_in_identity,
    slice: _slice,
    range: _range,
    reversed: _reversed,
    len: _size,
    iter: _iterated,
    enumerate: _enumerate,
    zip: _zipped,
    tuple: _tuple,
    isinstance: _instance,
    print: _printed,
    np.ndarray.reshape: _reshaped,
}
