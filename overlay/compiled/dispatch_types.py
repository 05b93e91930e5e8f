"""Annotations of numba types: the Python type of their values, so that a signature means the same
in both engines (docs/types.md)."""

from __future__ import annotations

import functools
import types as python_types
from collections.abc import Sequence
from typing import Any, Final, Literal

import numpy as np
from numba import types
from numba.typed import Dict as TypedDict
from numba.typed import List as TypedList

from overlay.compiled.numba.container_values import is_container
from overlay.compiled.numba.numba_types import class_of_instances, types_in
from overlay.core.interpreted_values import UNDERLYING
from overlay.core.signature import array_type
from overlay.core.target import type_attribute

__all__ = [
    "Unspellable",
    "alternatives",
    "classes_differ",
    "hint_of",
    "is_literal",
    "is_method_of_container",
    "underlying_type",
]


class Unspellable:
    """Annotation of compiled values that only ``Any`` and ``object`` accept: functions,
    dispatchers, generators, and others without a class common to both engines."""


# Scalars that have a Python type and a numpy type: the Python one is tried first.
TWOFOLD: Final[dict[types.Type, tuple[type, type]]] = {
    types.float64: (float, np.float64),
    types.int64: (int, np.int64),
    types.boolean: (bool, np.bool_),
    types.complex128: (complex, np.complex128),
}

SCALARS: Final[dict[types.Type, type]] = {
    types.float32: np.float32,
    types.complex64: np.complex64,
    types.int8: np.int8,
    types.int16: np.int16,
    types.int32: np.int32,
    types.uint8: np.uint8,
    types.uint16: np.uint16,
    types.uint32: np.uint32,
    types.uint64: np.uint64,
    types.none: type(None),
    types.unicode_type: str,
    types.slice2_type: slice,
    types.slice3_type: slice,
    types.ellipsis: type(...),
}

CLASSES: Final[tuple[tuple[type[types.Type], Any], ...]] = (
    (types.Bytes, bytes),
    (types.ByteArray, bytearray),
    (types.NPDatetime, np.datetime64),
    (types.NPTimedelta, np.timedelta64),
    (types.List, list),
    (types.Set, set),
    (types.ListType, TypedList),
    (types.RangeType, range),
    (types.Module, python_types.ModuleType),
    (types.NamedTupleClass, type),
    (types.ClassType, type),
    (types.TypeRef, type),
)

DTYPES: Final[tuple[tuple[type[types.Type], type], ...]] = (
    (types.Record, np.void),
    (types.CharSeq, np.bytes_),
    (types.UnicodeCharSeq, np.str_),
    (types.NPDatetime, np.datetime64),
    (types.NPTimedelta, np.timedelta64),
)


def classes_differ(args: Sequence[types.Type]) -> bool:
    """Whether two classes are compared of which numba holds one for a class of Python's and one of
    numpy's, so that its answer may be another than Python's."""
    classes = [_classes(ty) for ty in args]
    several = any(len(each) > 1 for each in classes)
    return several and len(classes) == 2 and bool(classes[0] & classes[1])


def _classes(ty: types.Type) -> set[type]:
    """The classes of which one is denoted by a value of a type; none where it denotes no class."""
    if isinstance(ty, types.NumberClass) and ty.instance_type in TWOFOLD:
        return set(TWOFOLD[ty.instance_type])
    key = getattr(ty, "typing_key", None)
    return {key} if isinstance(ty, types.Function) and isinstance(key, type) else set()


def is_literal(ty: types.Type) -> bool:
    """Whether a value of this type is known at compile time and may match ``Literal``."""
    return isinstance(ty, types.Literal) and isinstance(ty.literal_value, (int, str, bool))


def hint_of(ty: Any, *, numpy: bool = False, literal: bool = False) -> Any:
    """The annotation that a value of this numba type matches.

    numpy: the second reading of the types that have two: numpy's of four scalars, numba's of dicts.
    literal: ``Literal[value]`` where the value is known.
    """
    if literal and is_literal(ty):
        return Literal[ty.literal_value]
    inner = functools.partial(hint_of, numpy=numpy, literal=literal)
    ty = types.unliteral(ty)
    if ty in TWOFOLD:
        return TWOFOLD[ty][numpy]
    if ty in SCALARS:
        return SCALARS[ty]
    if isinstance(ty, types.DictType):  # a display in the program, or numba's own from Python
        return TypedDict if numpy else dict
    if isinstance(ty, types.Optional):
        return inner(ty.type) | None
    if isinstance(ty, (types.NamedTuple, types.NamedUniTuple)):
        return ty.instance_class
    if isinstance(ty, types.BaseTuple):
        return tuple[tuple(map(inner, types_in(ty)))]
    if isinstance(ty, types.Array):
        return array_type(_dtype(ty.dtype), ty.ndim)
    if isinstance(ty, types.ClassInstanceType):
        return class_of_instances(ty)
    if isinstance(ty, (types.EnumMember, types.IntEnumMember)):
        return ty.instance_class
    if is_container(ty):
        return ty.python_class or Unspellable
    if isinstance(ty, (types.NumberClass, types.Function)):
        cls = _class(ty)
        return Unspellable if cls is None else type[cls]
    return next((cls for kind, cls in CLASSES if isinstance(ty, kind)), Unspellable)


def underlying_type(ty: Any) -> Any:
    """The type of the plain values that values of an interpretation represent; any other type
    unchanged."""
    while isinstance(ty, (types.NamedTuple, types.NamedUniTuple)):
        name = type_attribute(ty.instance_class, UNDERLYING)
        if name is None:
            return ty
        ty = types_in(ty)[ty.fields.index(name)]
    if isinstance(ty, types.BaseTuple):
        plain = tuple(map(underlying_type, types_in(ty)))
        return ty if plain == tuple(types_in(ty)) else types.Tuple(plain)
    return ty


def is_method_of_container(function: Any) -> bool:
    """Whether a function is a method of numba's typed list or dict, which compiled code has
    natively."""
    name = getattr(function, "__name__", "")
    return any(vars(cls).get(name) is function for cls in (TypedList, TypedDict))


def alternatives(ty: types.Type) -> tuple[types.Type, ...]:
    """The possible types of a value at run time."""
    return (ty.type, types.none) if isinstance(ty, types.Optional) else (ty,)


def _class(ty: Any) -> type | None:
    """The class of numbers that a class type denotes."""
    if isinstance(ty, types.NumberClass):
        return _dtype(ty.instance_type)
    return ty.typing_key if isinstance(ty.typing_key, type) else None


def _dtype(ty: types.Type) -> type | None:
    if ty in TWOFOLD:
        return TWOFOLD[ty][1]
    if ty in SCALARS:
        return SCALARS[ty]
    return next((cls for kind, cls in DTYPES if isinstance(ty, kind)), None)
