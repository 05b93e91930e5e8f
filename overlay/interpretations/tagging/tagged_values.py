"""Values that carry metadata: instances of subclasses of numbers, text and arrays.

A float with metadata is an instance of a subclass of float: C functions accept it, it prints and
compares like the float, and the operators of its class return floats with metadata.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from types import FunctionType
from typing import Any

import numpy as np

from overlay.core.in_force import outside

__all__ = ["BASES", "base_of", "carried", "combined", "found_in", "plain", "with_tags"]

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


def with_tags(value: Any, tags: Tags) -> Any:
    """A value with this metadata instead of its own. Its ``base_of`` must not be None."""
    bare = plain(value)
    if not tags and not isinstance(bare, np.ndarray):
        return bare
    cls = _class(base_of(bare))
    made: Any = bare.view(cls) if isinstance(bare, np.ndarray) else cls.__new__(cls, bare)
    made._tags = dict(tags)
    return made


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


def combined(operation: Any, args: Iterable[Any], result: Any, depth: int = 3) -> Any:
    """The result of an operation, with the combined metadata of its arguments.

    A result that already carries metadata keeps it, such as the larger of two numbers.
    """
    if base_of(result) is None:
        return _combined_items(operation, args, result, depth)
    if carried(result):
        return result
    given = [value for arg in args for value in found_in(arg)]
    taggings = dict.fromkeys(tagging for value in given for tagging in carried(value))
    if not taggings and not isinstance(result, np.ndarray):
        return result
    tags = {
        tagging: tagging.combine(operation, [v._tags[tagging] for v in given if tagging in v._tags])
        for tagging in taggings
    }
    return with_tags(result, tags)


def _combined_items(operation: Any, args: Iterable[Any], result: Any, depth: int) -> Any:
    """A container of results, with each item combined."""
    if not depth or type(result) not in (list, tuple, dict):
        return result
    given = list(args)
    if not any(True for arg in given for _ in found_in(arg)):
        return result
    each = functools.partial(combined, operation, given, depth=depth - 1)
    if isinstance(result, dict):
        return {key: each(item) for key, item in result.items()}
    return type(result)(each(item) for item in result)


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

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = function(plain(self), *map(plain, args), **kwargs)
        return combined(operation, (self, *args, *kwargs.values()), result)

    return method


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


def _bare(value: Any) -> Any:
    """A value without metadata, items of builtin containers included."""
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(_bare(item) for item in value)
    return plain(value)


def _ufunc(self: Any, ufunc: Any, method: str, *args: Any, **kwargs: Any) -> Any:
    outs = kwargs.get("out", ())
    named = {k: tuple(map(plain, v)) if k == "out" else _bare(v) for k, v in kwargs.items()}
    result = getattr(ufunc, method)(*map(_bare, args), **named)
    operation = ufunc if method == "__call__" else f"{ufunc.__name__}.{method}"
    for out in outs:
        _written(out, operation, (out, *args))
    if outs:
        return outs[0] if len(outs) == 1 else outs
    return combined(operation, args, result)


def _function(self: Any, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
    named = {k: _bare(v) for k, v in kwargs.items()}
    result = function(*map(_bare, args), **named)
    return combined(function, (*args, *kwargs.values()), result)


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
    plain(self)[place] = _bare(value)
    _written(self, operator.setitem, (self, value))


def _written(array: Any, operation: Any, args: Iterable[Any]) -> None:
    """Update the metadata of an array after its items were written to."""
    if hasattr(type(array), "_base"):
        array._tags = dict(carried(combined(operation, args, plain(array))))
