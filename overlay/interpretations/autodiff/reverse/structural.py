"""Lifting of calls other than functions of numbers: attributes, items, tests of identity."""

from __future__ import annotations

import contextlib
import inspect
import operator
import warnings
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from overlay.code import marks
from overlay.code.record import attribute_held
from overlay.core.short_repr import counted
from overlay.core.target import describe
from overlay.interpretations.autodiff.reverse.instances import (
    get_attribute,
    initialised,
    is_instance,
    set_attribute,
    set_directly,
)
from overlay.interpretations.autodiff.reverse.iterating import ITERATING
from overlay.interpretations.autodiff.reverse.kernel_calls import added_at_once, thread_place
from overlay.interpretations.autodiff.reverse.made_objects import (
    METHODS,
    as_array,
    as_sequence,
    change,
    contents_of,
    delete_item,
    is_items,
    item_of,
    items_held,
    key_of,
    made,
    set_item,
)
from overlay.interpretations.autodiff.reverse.pullbacks import Pullback, kind_of
from overlay.interpretations.autodiff.reverse.reverse_program import (
    INT,
    Growing,
    KnownBefore,
    MadeObject,
    Manager,
    MethodOf,
    ReverseValue,
    Span,
)
from overlay.interpretations.autodiff.reverse.structure import Unreadable
from overlay.kernels import atomic_add

if TYPE_CHECKING:
    from overlay.interpretations.autodiff.reverse.calling import Calling

__all__ = ["STRUCTURAL"]

NONE = KnownBefore(None)
_CLASSES: dict[str, type] = {"f": float, "i": int, "b": bool, "c": complex}
_POSSIBLE: dict[str, tuple[type, ...]] = {
    "f": (float, np.float64),
    "i": (int, np.int64),
    "b": (bool, np.bool_),
    "c": (complex, np.complex128),
}
"""The classes that a number of a kind may have."""
_PARTS = {"real": np.real, "imag": np.imag}
_PLAIN: set[Any] = {float, int, bool, complex, str, tuple, list, dict, type(None)}


def _get_attribute(lifter: Calling, owner: Any, name: KnownBefore, *default: Any) -> Any:
    attribute = str(name.value)
    if isinstance(owner, KnownBefore):
        place = thread_place(lifter, owner.value, attribute)
        if place is not None:
            return place
        return _attribute_of_known(lifter, owner.value, attribute)
    if isinstance(owner, MadeObject):
        return get_attribute(lifter, owner, attribute)
    lifter.reads_attributes = True
    if not isinstance(owner, ReverseValue):
        raise Unreadable(f"it reads the attribute {attribute!r} of a value that is not known")
    if owner.kind.ndim and attribute in _METHODS:
        return MethodOf(_METHODS[attribute], owner)
    if owner.kind.dtype == "c" and attribute in _PARTS:
        return lifter.call(_PARTS[attribute], [owner], {})
    if owner.kind.dtype == "c" and attribute in ("conj", "conjugate"):
        return MethodOf(np.conjugate, owner)
    if owner.kind.ndim and attribute == "T":
        return lifter.call(np.transpose, [owner], {})
    if owner.kind.ndim and attribute == "ndim":
        return KnownBefore(owner.kind.ndim)
    if owner.kind.ndim and attribute == "shape":
        return tuple(_length(lifter, owner, axis) for axis in range(owner.kind.ndim))
    if owner.kind.ndim and attribute == "size":
        return lifter.emit(Pullback(np.size, INT, "{0}.size", is_shape=True), [owner])
    raise Unreadable(f"it reads the attribute {attribute!r} of a number or an array")


def _length(lifter: Calling, array: ReverseValue, axis: int) -> ReverseValue:
    return lifter.emit(Pullback(np.shape, INT, f"{{0}}.shape[{axis}]", is_shape=True), [array])


def _attribute_of_known(lifter: Calling, owner: Any, name: str) -> Any:
    static = inspect.getattr_static(owner, name, None)
    if isinstance(static, property) and isinstance(static.fget, FunctionType):
        return lifter.call_in_force(static.fget, [KnownBefore(owner)], {})
    missing = object()
    found = getattr(owner, name, missing)
    if found is missing:
        raise Unreadable(f"{describe(owner)} has no attribute {name!r}")
    if isinstance(static, property) or hasattr(type(owner), "__getattr__"):
        raise Unreadable(f"it reads {name!r}, which is computed")
    lifter.attributes.append((owner, name, attribute_held(owner, name)))
    return lifter.constant(found)


def _unpack(lifter: Calling, value: Any, count: KnownBefore) -> Any:
    items = as_sequence(lifter, value)
    if items is not None:
        if len(items) != count.value:
            raise Unreadable(
                f"it unpacks {counted(len(items), 'item')} into {counted(count.value, 'variable')}"
            )
        return items
    if isinstance(value, MadeObject) and isinstance(contents_of(lifter, value), Growing):
        value = as_array(lifter, value)
    if isinstance(value, ReverseValue) and value.kind.ndim:
        return tuple(
            lifter.call(operator.getitem, [value, KnownBefore(i)], {}) for i in range(count.value)
        )
    raise Unreadable("it unpacks a value that is not known before it runs")


def _pick(lifter: Calling, items: Any, place: KnownBefore) -> Any:
    return items[place.value]


def _get_item(lifter: Calling, array: Any, index: Any) -> Any:
    held = items_held(lifter, array)
    if held is not None:
        return _item_held(lifter, array.value, held, index)
    if isinstance(array, KnownBefore) and isinstance(array.value, (list, tuple, dict)):
        if isinstance(array.value, (list, dict)) or not isinstance(index, KnownBefore):
            raise Unreadable(
                "it reads an item of a list or dict from outside, which may change",
                help="keep the numbers in a tuple or an array",
            )
        return lifter.constant(array.value[index.value])
    if isinstance(array, (MadeObject, tuple)) and not is_instance(array):
        return item_of(lifter, array, index)
    if is_items(array):
        return item_of(lifter, array, index)
    return lifter.call_known(operator.getitem, [array, index], {})


def _item_held(lifter: Calling, container: Any, held: dict[Any, Any], index: Any) -> Any:
    if isinstance(container, list):
        return item_of(lifter, tuple(map(lifter.constant, held.values())), index)
    if not isinstance(index, KnownBefore):
        raise Unreadable(
            "it looks up a function in a dict by a key that is not known before it runs",
            help="hold the functions in a list or a tuple, or choose by branches: "
            "f(x) if key == 0 else g(x)",
        )
    if index.value not in held:
        raise Unreadable(f"it looks up {index.value!r} in a dict, where it is not")
    return lifter.constant(held[index.value])


def _set_item(lifter: Calling, array: Any, index: Any, value: Any) -> Any:
    if isinstance(array, MadeObject) and array.cls in (list, dict):
        set_item(lifter, array, index, value)
    else:
        lifter.write(array, index, value)
    return NONE


def _contains(lifter: Calling, items: Any, item: Any) -> Any:
    if isinstance(items, MadeObject) and items.cls is dict:
        return KnownBefore(key_of(item) in (contents_of(lifter, items).keys or ()))
    known = as_sequence(lifter, items)
    both = (item, *(known or ()))
    if known is None or not all(isinstance(each, KnownBefore) for each in both):
        raise Unreadable("it tests whether a number is in a container")
    return KnownBefore(any(item.value == each.value for each in known))


def _added(lifter: Calling, a: Any, b: Any) -> Any:
    if is_items(a) and is_items(b):
        return _joined(lifter, a, b, isinstance(a, MadeObject))
    return lifter.call_known(operator.add, [a, b], {})


def _joined(lifter: Calling, a: Any, b: Any, is_list: bool) -> Any:
    first, second = as_sequence(lifter, a), as_sequence(lifter, b)
    if first is None or second is None:
        found = made(lifter, list, ())
        for each in (a, b):
            lifter.call(list.extend, [found, each], {})
        return found
    return made(lifter, list, (*first, *second)) if is_list else (*first, *second)


def _added_in_place(lifter: Calling, a: Any, b: Any) -> Any:
    if isinstance(a, MadeObject) and a.cls is list:
        lifter.call(list.extend, [a, b], {})
        return a
    return _added(lifter, a, b) if is_items(a) else lifter.call_known(operator.iadd, [a, b], {})


def _multiplied(lifter: Calling, a: Any, b: Any) -> Any:
    if not (is_items(a) or is_items(b)):
        return lifter.call_known(operator.mul, [a, b], {})
    items, count = (a, b) if is_items(a) else (b, a)
    known = as_sequence(lifter, items)
    if known is not None and isinstance(count, KnownBefore):
        again = known * int(count.value)
        return made(lifter, list, again) if isinstance(items, MadeObject) else again
    if known is None or len(known) != 1 or kind_of(count) != INT or not kind_of(known[0]):
        raise Unreadable(
            "it repeats a list a number of times that is not known before it runs",
            help="make an array: np.zeros(n), np.full(n, value)",
        )
    size = lifter.call(max, [count, KnownBefore(0)], {})
    array = lifter.call(np.zeros, [size], {})
    lifter.write(array, Span((KnownBefore(None),) * 3), known[0])
    found = made(lifter, list, ())
    lifter.env[found] = Growing(array, size)
    return found


def _multiplied_in_place(lifter: Calling, a: Any, b: Any) -> Any:
    if not (isinstance(a, MadeObject) and a.cls is list):
        if is_items(a):
            return _multiplied(lifter, a, b)
        return lifter.call_known(operator.imul, [a, b], {})
    again = _multiplied(lifter, a, b)
    change(lifter, a, contents_of(lifter, again))
    return a


def _slice(lifter: Calling, *parts: Any) -> Any:
    filled = {
        1: (KnownBefore(None), *parts, KnownBefore(None)),
        2: (*parts, KnownBefore(None)),
    }.get(len(parts), parts)
    return Span(tuple(filled))


def _compare_identity(lifter: Calling, a: Any, b: Any) -> Any:
    if isinstance(a, KnownBefore) and isinstance(b, KnownBefore):
        return KnownBefore(a.value is b.value)
    if KnownBefore(None) in (a, b):
        return KnownBefore(False)
    if isinstance(a, MadeObject) or isinstance(b, MadeObject):
        if isinstance(a, MadeObject) and isinstance(b, MadeObject) and (a.fixed or b.fixed):
            raise Unreadable("it tests the identity of two values")
        return KnownBefore(a is b)
    raise Unreadable("it tests the identity of two values")


def _differ_in_identity(lifter: Calling, a: Any, b: Any) -> Any:
    return KnownBefore(not _compare_identity(lifter, a, b).value)


def _instance(lifter: Calling, value: Any, classes: Any) -> Any:
    wanted = classes if isinstance(classes, tuple) else (classes,)
    if not all(isinstance(each, KnownBefore) for each in wanted):
        raise Unreadable("it tests for a class that is not known")
    kinds = tuple(each.value for each in wanted)
    if isinstance(value, KnownBefore):
        return KnownBefore(isinstance(value.value, kinds))
    if isinstance(value, MadeObject):
        return KnownBefore(issubclass(value.cls, kinds))
    if isinstance(value, tuple):
        return KnownBefore(issubclass(tuple, kinds))
    if isinstance(value, ReverseValue) and value.kind.ndim:
        return KnownBefore(issubclass(np.ndarray, kinds))
    if isinstance(value, ReverseValue):
        lifter.reads_attributes = True  # compiled, a dual number has no class of Python's
        answers = {issubclass(each, kinds) for each in _POSSIBLE[value.kind.dtype]}
        if len(answers) == 1:
            return KnownBefore(answers.pop())
        if value.owner is None and set(kinds) <= _PLAIN:
            return KnownBefore(issubclass(_CLASSES[value.kind.dtype], kinds))
    raise Unreadable("it reads the class of a number")


def _type(lifter: Calling, value: Any) -> Any:
    if isinstance(value, MadeObject):
        return KnownBefore(value.cls)
    raise Unreadable("it reads the class of a number")


def _set_attribute(lifter: Calling, owner: Any, name: KnownBefore, value: Any) -> Any:
    set_attribute(lifter, owner, str(name.value), value)
    return NONE


def _reshaped(lifter: Calling, array: Any, *shape: Any) -> Any:
    return lifter.call(np.reshape, [array, shape[0] if len(shape) == 1 else shape], {})


def _plain_manager(lifter: Calling, *args: Any, **kwargs: Any) -> Any:
    modes = [v.value if isinstance(v, KnownBefore) else "call" for v in (*args, *kwargs.values())]
    if set(modes) & {"raise", "call", "log"}:
        raise Unreadable("it has floating-point errors raised, or handled by a function")
    return Manager(NONE)


def _null_manager(lifter: Calling, entered: Any = NONE) -> Any:
    return Manager(entered)


def _printed(lifter: Calling, *args: Any, **kwargs: Any) -> Any:
    raise Unreadable("it prints")


_METHODS: dict[str, Any] = {
    **{name: getattr(np, name) for name in ("sum", "mean", "prod", "dot", "copy", "ravel")},
    **{name: getattr(np, name) for name in ("cumsum", "max", "min", "argmax", "argmin")},
    **{name: getattr(np, name) for name in ("std", "var", "clip", "cumprod", "trace", "diagonal")},
    **{name: getattr(np, name) for name in ("repeat", "take", "squeeze", "swapaxes")},
    "reshape": np.ndarray.reshape,
    "transpose": np.transpose,
    "flatten": np.ravel,
}
STRUCTURAL: dict[Any, Callable[..., Any]] = {
    **ITERATING,
    **METHODS,
    getattr: _get_attribute,
    setattr: _set_attribute,
    marks.unpack: _unpack,
    marks.pick: _pick,
    operator.getitem: _get_item,
    operator.setitem: _set_item,
    operator.delitem: delete_item,
    operator.contains: _contains,
    operator.add: _added,
    operator.iadd: _added_in_place,
    operator.mul: _multiplied,
    operator.imul: _multiplied_in_place,
    operator.is_: _compare_identity,
    operator.is_not: _differ_in_identity,
    slice: _slice,
    isinstance: _instance,
    type: _type,
    print: _printed,
    np.ndarray.reshape: _reshaped,
    object.__setattr__: set_directly,
    object.__init__: initialised,
    np.errstate: _plain_manager,
    warnings.catch_warnings: _plain_manager,
    contextlib.nullcontext: _null_manager,
    atomic_add: added_at_once,
}
