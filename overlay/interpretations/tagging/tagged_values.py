"""Values that carry metadata: instances of subclasses of numbers, text and arrays.

A float with metadata is an instance of a subclass of float: C functions accept it, it prints and
compares like the float, and the operators of its class return floats with metadata.
"""

from __future__ import annotations

import functools
import operator
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from types import FunctionType
from typing import Any

import numpy as np

from overlay.core.in_force import outside

__all__ = [
    "ALONE",
    "BASES",
    "as_arrays",
    "bare",
    "base_of",
    "carried",
    "combined",
    "found_in",
    "plain",
    "with_tags",
]

Tags = Mapping[Any, Any]  # metadata by Tagging

BASES = (float, int, complex, str, bytes, Decimal, np.generic, np.ndarray)
"""Classes whose values can carry metadata themselves."""
_COMPARISONS = ("__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__", "__bool__")
_PARTS = ("real", "imag", "numerator", "denominator")
# attributes that C code and the object protocols need unchanged
_KEPT = {
    *_COMPARISONS,
    *("__new__", "__init__", "__class__", "__getattribute__", "__setattr__", "__delattr__"),
    *("__repr__", "__str__", "__format__", "__hash__", "__sizeof__", "__dir__", "__doc__"),
    *("__reduce__", "__reduce_ex__", "__getstate__", "__setstate__", "__getnewargs__"),
    *("__copy__", "__deepcopy__", "__init_subclass__", "__subclasshook__", "__getformat__"),
    *("__float__", "__int__", "__index__", "__complex__", "__len__", "__iter__", "__contains__"),
    *("__array__", "__array_ufunc__", "__array_function__", "__array_finalize__"),
    *("__array_wrap__", "__array_prepare__", "__buffer__", "__release_buffer__", "__dlpack__"),
    *("__class_getitem__", "__array_namespace__", "__dlpack_device__", "maketrans", "fromhex"),
    *("from_bytes", "from_float", "from_number", "view", "setflags", "setfield", "dump", "dumps"),
}


def base_of(value: Any) -> Any:
    """The class of a value that can carry metadata, without the subclass of tagging; None for
    others."""
    cls = type(value)
    if hasattr(cls, "_base"):
        return cls._base
    if cls in (bool, np.bool_) or not isinstance(value, BASES):
        return None
    plain = cls in BASES or (isinstance(value, np.generic) and cls.__module__ == "numpy")
    return cls if plain else None


def carried(value: Any) -> Tags:
    """The metadata that a value itself carries, by tagging."""
    return value._tags if hasattr(type(value), "_base") else {}


def plain(value: Any) -> Any:
    """A value without metadata."""
    base = getattr(type(value), "_base", None)
    if base is None:
        return value
    if base is np.ndarray:
        return value.view(np.ndarray)
    return b"".join((value,)) if base is bytes else base.__new__(base, value)


def bare(value: Any) -> Any:
    """A value without metadata, items of builtin containers included."""
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(bare(item) for item in value)
    return plain(value)


def with_tags(value: Any, tags: Tags) -> Any:
    """A value with this metadata instead of its own. Its ``base_of`` must not be None."""
    own = plain(value)
    if not tags and not isinstance(own, np.ndarray):
        return own
    cls = _class(base_of(own))
    made: Any = own.view(cls) if isinstance(own, np.ndarray) else cls.__new__(cls, own)
    made._tags = dict(tags)
    return made


def as_arrays(result: Any) -> Any:
    """The result of a ufunc with ``out=...``, which asks for arrays in the place of scalars."""
    if type(result) is tuple:
        return tuple(map(as_arrays, result))
    if isinstance(result, np.generic):
        return with_tags(np.asarray(plain(result)), carried(result))
    return result


def found_in(value: Any, depth: int = 3) -> Iterator[Any]:
    """The values with metadata in a value: itself, or items of containers and fractions."""
    if hasattr(type(value), "_base"):
        if value._tags:
            yield value
    elif depth and isinstance(value, (list, tuple, set, frozenset, dict, Fraction)):
        for item in _items(value):
            yield from found_in(item, depth - 1)


def _items(value: Any) -> Iterable[Any]:
    if isinstance(value, Fraction):
        return (value.numerator, value.denominator)
    return value.values() if isinstance(value, dict) else value


def combined(
    operation: Any, args: Iterable[Any], result: Any, depth: int = 3, *, made: bool = True
) -> Any:
    """The result of an operation, with the combined metadata of its arguments.

    A result that already carries metadata keeps it, such as the larger of two numbers.

    made: whether the operation has made the result, so that nothing else holds it. A container that
    was there before is returned as it is.
    """
    if base_of(result) is None:
        return _combined_items(operation, args, result, depth) if made else result
    if carried(result):
        return result
    given = [value for arg in args for value in found_in(arg)]
    taggings = dict.fromkeys(tagging for value in given for tagging in carried(value))
    if not taggings and (not made or not isinstance(result, np.ndarray)):
        return result
    tags = {
        tagging: tagging.combine(operation, [v._tags[tagging] for v in given if tagging in v._tags])
        for tagging in taggings
    }
    if not made and isinstance(result, np.ndarray) and hasattr(type(result), "_base"):
        result._tags = tags  # pyright: ignore[reportAttributeAccessIssue]
        return result
    return with_tags(result, tags)


def _combined_items(operation: Any, args: Iterable[Any], result: Any, depth: int) -> Any:
    """A container of results that nothing else holds, with each item combined. Lists and dicts are
    filled in place.
    """
    if not depth or type(result) not in (list, tuple, dict):
        return result
    given = list(args)
    if not any(True for arg in given for _ in found_in(arg)):
        return result
    if type(result) is dict:
        keys, items = list(result), list(result.values())
        holders = 2  # the dict and the list of items
    else:
        keys, items = range(len(result)), result
        holders = 1
    found: list[Any] = []
    for place in range(len(items)):
        item = items[place]
        made = sys.getrefcount(item) <= ALONE + holders
        found.append(combined(operation, given, item, depth - 1, made=made))
    if type(result) is tuple:
        return tuple(found)
    for key, old, new in zip(keys, list(items), found, strict=True):
        if new is not old:
            result[key] = new
    return result


def _references_of_a_new_object() -> int:
    result: Any = object()
    return sys.getrefcount(result)


ALONE = _references_of_a_new_object()
"""``sys.getrefcount`` of a variable's value that nothing else holds."""


# ---- classes ------------------------------------------------------------------------------


@functools.cache
def _class(base: Any) -> Any:
    """The subclass of a class whose instances carry metadata. Its methods are no part of the
    program: they run without dispatch."""
    space: dict[str, Any] = {"_base": base, "_tags": {}, "__module__": base.__module__}
    space["__class__"] = property(base_of)
    for name in dir(base):
        function = getattr(base, name)
        if callable(function) and name not in _KEPT:
            space[name] = _method(base, name, function)
        elif base is not np.ndarray and name in _PARTS:
            space[name] = _part(base, name, function)
    for name in _COMPARISONS:
        if hasattr(base, name):
            space[name] = _comparison(base, name, getattr(base, name))
    space["__hash__"] = base.__hash__
    space |= {"__copy__": _itself, "__deepcopy__": _itself, "__reduce_ex__": _reduced}
    space["__repr__"] = _shown
    space["__array_ufunc__"] = _ufunc
    if base is np.ndarray:
        space |= {"__array_finalize__": _finalize, "__array_function__": _function}
        space |= {"__setitem__": _setitem, "__copy__": _copied, "__deepcopy__": _copied}
    if base in (str, bytes):
        space["__radd__"] = _joined_to
    return type(base.__name__, (base,), {name: _native(each) for name, each in space.items()})


def _native(attribute: Any) -> Any:
    if type(attribute) is property:
        return property(_native(attribute.fget))
    if type(attribute) is not FunctionType:
        return attribute

    def run(*args: Any, **kwargs: Any) -> Any:
        return outside(attribute, *args, **kwargs)

    return functools.update_wrapper(run, attribute)


def _shown(self: Any) -> str:
    return repr(plain(self))


def _joined_to(self: Any, other: Any) -> Any:
    """Text appended to other text, which has no metadata."""
    return combined(operator.add, (other, self), plain(other) + plain(self))


def _part(base: Any, name: str, attribute: Any) -> property:
    def part(self: Any) -> Any:
        return combined(f"{base.__name__}.{name}", (self,), attribute.__get__(plain(self)))

    return property(part)


def _method(base: Any, name: str, function: Any) -> Callable[..., Any]:
    known = [getattr(operator, spelt, None) for spelt in (name, name.replace("__r", "__", 1))]
    operation = known[0] or known[1] or f"{base.__name__}.{name}"
    reflected = f"__r{name[2:]}"
    binary: Any = divmod if name == "__divmod__" else known[0]
    is_binary = binary is not None and hasattr(base, reflected)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        given = (self, *args)
        stripped = [plain(arg) for arg in given]
        apply: Any = function
        if is_binary and len(args) == 1 and _comes_first(base, reflected, stripped[1]):
            if base_of(args[0]) is None:
                return NotImplemented
            apply = binary
        result = apply(*stripped, **kwargs)
        made = sys.getrefcount(result) <= ALONE
        written = _written_among(given, stripped, result)
        every = (*given, *kwargs.values())
        if written is not None:
            _written(written, operation, every)
            return written
        return combined(operation, every, result, made=made)

    return method


def _comes_first(base: Any, reflected: str, other: Any) -> bool:
    """Whether Python asks a right operand before a left one of a class: that of a subclass with
    its own method."""
    kind = type(other)
    if kind is base or not issubclass(kind, base):
        return False
    return getattr(kind, reflected) is not getattr(base, reflected)


def _comparison(base: Any, name: str, function: Any) -> Callable[..., Any]:
    operation = getattr(operator, name, bool)

    def compare(self: Any, *others: Any) -> Any:
        result = function(plain(self), *map(plain, others))
        if base is np.ndarray:
            return combined(operation, (self, *others), result)
        if result is NotImplemented:
            return result
        given = [value for arg in (self, *others) for value in found_in(arg)]
        for tagging in dict.fromkeys(t for value in given for t in carried(value)):
            known = [v._tags[tagging] for v in given if tagging in v._tags]
            tagging.decided(operation, known, result)
        return result

    return compare


def _ufunc(self: Any, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
    outs = kwargs.get("out", ())
    named = {k: tuple(map(plain, v)) if k == "out" else bare(v) for k, v in kwargs.items()}
    result = getattr(ufunc, method)(*map(bare, args), **named)
    operation = ufunc if method == "__call__" else f"{ufunc.__name__}.{method}"
    if not outs:
        return combined(operation, args, result)
    results = result if len(outs) > 1 else (result,)
    found = [
        combined(operation, args, each) if out is None else out
        for out, each in zip(outs, results, strict=True)
    ]
    for out in outs:
        _written(out, operation, (out, *args))
    return found[0] if len(outs) == 1 else tuple(found)


def _function(self: Any, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    given = (*args, *kwargs.values())
    stripped = [bare(arg) for arg in given]
    named = dict(zip(kwargs, stripped[len(args) :], strict=True))
    result = function(*stripped[: len(args)], **named)
    made = sys.getrefcount(result) <= ALONE
    written = _written_among(given, stripped, result)
    if written is not None:
        _written(written, function, given)
        return written
    return combined(function, given, result, made=made)


def _written_among(given: Sequence[Any], stripped: Sequence[Any], result: Any) -> Any:
    """The array that was given as the argument that a function returns; else None."""
    if isinstance(result, np.ndarray):
        for arg, each in zip(given, stripped, strict=True):
            if result is each and arg is not each:
                return arg
    return None


def _itself(self: Any, *memo: Any) -> Any:
    return self


def _reduced(self: Any, protocol: Any) -> Any:
    """Pickle the value without metadata."""
    return plain(self).__reduce_ex__(protocol)


def _finalize(self: Any, source: Any) -> None:
    self._tags = dict(carried(source))


def _copied(self: Any, *memo: Any) -> Any:
    return with_tags(np.array(plain(self)), self._tags)


def _setitem(self: Any, place: Any, value: Any) -> None:
    plain(self)[place] = value if self.dtype.hasobject else bare(value)
    _written(self, operator.setitem, (self, value))


def _written(array: Any, operation: Any, args: Iterable[Any]) -> None:
    """Update the metadata of an array after its items were written to."""
    if hasattr(type(array), "_base"):
        array._tags = dict(carried(combined(operation, args, plain(array))))
