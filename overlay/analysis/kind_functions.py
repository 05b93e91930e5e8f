"""Transfer functions of the type domain, and operators that builtin classes support."""

from __future__ import annotations

import math
import operator
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from overlay.analysis.abstract_values import BOTTOM, TOP, ItemValues, KnownValue
from overlay.catalogue import FUNCTIONS
from overlay.code.constants import stored_attributes
from overlay.code.marks import holds_items, matched, new, pack, succeeds
from overlay.core.signature import shown_hint
from overlay.core.table import MethodTable
from overlay.core.target import type_attribute

__all__ = [
    "NONE",
    "SAMPLES",
    "SCALARS",
    "ClassOf",
    "Exactly",
    "Kinds",
    "MethodOfObject",
    "one",
    "result_of",
    "table",
]

# a sample value of each builtin class; the result types of operators are found by running them
SAMPLES: dict[Any, Callable[[], Any]] = {
    int: lambda: 2,
    float: lambda: 2.0,
    complex: lambda: 2j,
    bool: lambda: True,
    str: lambda: "a",
    bytes: lambda: b"a",
    types.NoneType: lambda: None,
    tuple: tuple,
    list: list,
    dict: dict,
    set: set,
}
SCALARS = (int, float, complex, bool, str, bytes, types.NoneType)
_NAMES = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "and_", "or_", "xor"),
    *("lshift", "rshift", "lt", "le", "gt", "ge", "eq", "ne"),
    *("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "iand", "ior", "ixor"),
)
_MATH = [f for f in vars(math).values() if isinstance(f, types.BuiltinFunctionType)]
_OF_CATALOGUE = frozenset(id(f.function) for f in FUNCTIONS)
_OFSCALARS = frozenset(map(id, _MATH))
_APPLIED = (
    *(getattr(operator, name) for name in _NAMES),
    *(operator.neg, operator.pos, operator.invert, operator.not_, abs, len, bool),
    *_MATH,
)
_KNOWN = frozenset(map(id, _APPLIED))
_FORMATS = (operator.mod, operator.imod)
_ITEMS = {id(f): f"__{f.__name__}__" for f in (operator.getitem, operator.setitem)}


@dataclass(frozen=True)
class Kinds:
    """Abstract value of exactly one of these classes, not of their subclasses.

    sites: where its containers and objects are made, if their contents are followed; else None.
    """

    types: frozenset[Any]
    sites: frozenset[Any] | None = None

    def __repr__(self) -> str:
        return " | ".join(sorted(map(shown_hint, self.types)))


@dataclass(frozen=True)
class Exactly(Kinds):
    """Abstract value of one of a few booleans, integers or strings, of one class."""

    values: frozenset[Any] = frozenset()

    __repr__ = Kinds.__repr__

    @property
    def only(self) -> Any:
        """The value, if there is one alone; else None."""
        return next(iter(self.values)) if len(self.values) == 1 else None


@dataclass(frozen=True)
class ClassOf:
    """Abstract class object: one of these classes."""

    types: frozenset[Any]


@dataclass(frozen=True)
class MethodOfObject:
    """Abstract bound method: a function and its abstract receiver."""

    function: KnownValue
    receiver: Any


def one(cls: Any) -> Kinds:
    """Abstract value of this class."""
    return Kinds(frozenset({cls}))


NONE = one(types.NoneType)


def result_of(function: Any, classes: tuple[Any, ...]) -> Any:
    """The class of a function's result on builtin classes, as an abstract value; BOTTOM if it does
    not accept them, TOP if nothing is known of it."""
    if id(function) in _ITEMS:
        (held, *_) = classes
        missing = held in SAMPLES and type_attribute(held, _ITEMS[id(function)]) is None
        return BOTTOM if missing else TOP
    allowed = SCALARS if id(function) in _OFSCALARS else tuple(SAMPLES)
    if id(function) not in _KNOWN or not classes or any(c not in allowed for c in classes):
        return TOP
    if any(function is each for each in _FORMATS) and classes[0] in (str, bytes):
        return TOP
    try:
        found = function(*(SAMPLES[c]() for c in classes))
    except TypeError:
        return BOTTOM
    except (ArithmeticError, ValueError):  # it accepts the class, but not the sample
        return one(float) if id(function) in _OF_CATALOGUE else TOP
    return one(type(found))


table = MethodTable("types")


def _applied(function: Any) -> Callable[..., Any]:
    def apply(*args: Kinds) -> Any:
        classes = tuple(next(iter(a.types)) for a in args if len(a.types) == 1)
        return result_of(function, classes) if len(classes) == len(args) else TOP

    return apply


for _each in _APPLIED:
    table.overlay(_each)(_applied(_each))


# ---- results of a fixed class -------------------------------------------------------------


def _made(cls: type) -> Callable[..., Any]:
    def make(*args: object, **kwargs: object) -> Any:
        return one(cls)

    return make


for _each in (int, float, complex, str, bytes, tuple, list, dict, set, range, slice):
    table.overlay(_each)(_made(_each))
for _each in (isinstance, issubclass, callable, hasattr, succeeds, holds_items):
    table.overlay(_each)(_made(bool))
for _each in (operator.contains, operator.is_, operator.is_not, all, any):
    table.overlay(_each)(_made(bool))
for _each in (repr, ascii, chr, format, hex, oct, bin):
    table.overlay(_each)(_made(str))


@table.overlay(new)
def new_object(cls: KnownValue) -> Any:
    return one(cls.value)


@table.overlay(type)
def class_of(x: Kinds) -> Any:
    return KnownValue(next(iter(x.types))) if len(x.types) == 1 else TOP


@table.overlay(matched)
def taken(x: object, cls: object, pattern: object) -> Any:
    return Kinds(frozenset({types.NoneType, tuple}))


# ---- tuples -------------------------------------------------------------------------------


@table.overlay(pack)
def packed(*items: object) -> Any:
    return ItemValues(items)


# ---- attributes ---------------------------------------------------------------------------


@table.overlay(getattr)
def attribute(x: Kinds, name: KnownValue) -> Any:
    """The bound Python method of an object of known class; TOP for another attribute."""
    if len(x.types) != 1:
        return TOP
    (cls,) = x.types
    plain = object.__dict__["__getattribute__"]
    if type(cls) is not type or type_attribute(cls, "__getattribute__") is not plain:
        return TOP
    found = type_attribute(cls, name.value)
    if type(found) is not types.FunctionType or name.value in stored_attributes(cls):
        return TOP
    return MethodOfObject(KnownValue(found), x)
