"""The domain of types: which classes a value may have, and what calls resolve to by them."""

from __future__ import annotations

import inspect
import itertools
import math
import operator
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from overlay.analysis.body import advance, pack, succeeds
from overlay.analysis.lattice import Domain
from overlay.analysis.values import BOTTOM, TOP, Known
from overlay.errors import MethodNotFound
from overlay.location import location_of, name_of
from overlay.signature import shown_hint
from overlay.table import MethodTable
from overlay.target import type_attribute

if TYPE_CHECKING:
    from overlay.context import Context

__all__ = ["Kinds", "Types", "kinds_of"]

# more classes than these in one place are any; so are more combinations in one call
_MOST = 8
_COMBINATIONS = 64

# a value of each builtin class; what operators make of their classes is asked of these
_SAMPLES: dict[Any, Callable[[], Any]] = {
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
_SCALARS = (int, float, complex, bool, str, bytes, types.NoneType)
_NAMES = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "and_", "or_", "xor"),
    *("lshift", "rshift", "lt", "le", "gt", "ge", "eq", "ne"),
    *("iadd", "isub", "imul", "itruediv", "ifloordiv", "imod", "iand", "ior", "ixor"),
)
_OPERATORS = frozenset(getattr(operator, name) for name in _NAMES)
_UNARY = frozenset((operator.neg, operator.pos, operator.invert, operator.not_, abs, len, bool))
_MATH = frozenset(f for f in vars(math).values() if isinstance(f, types.BuiltinFunctionType))
_FORMATS = (operator.mod, operator.imod)


@dataclass(frozen=True)
class Kinds:
    """A value of one of these classes exactly."""

    types: frozenset[Any]

    def __repr__(self) -> str:
        return " | ".join(sorted(map(shown_hint, self.types)))


def kinds_of(hint: Any) -> Any:
    """The abstract value for an annotation; anything where it is not a class or some of these."""
    if hint is None:
        return Kinds(frozenset({types.NoneType}))
    if typing.get_origin(hint) in (typing.Union, types.UnionType):
        domain = Types(None)
        parts = [kinds_of(each) for each in typing.get_args(hint)]
        found = parts[0]
        for each in parts[1:]:
            found = domain.join(found, each)
        return found
    plain = isinstance(hint, type) and typing.get_origin(hint) is None and hint is not object
    return Kinds(frozenset({hint})) if plain else TOP


def _unknown(*args: Any, **kwargs: Any) -> Any:
    """Stands for what runs when that is not known."""


table = MethodTable("types")


@table.overlay(_unknown)
def unknown(*args: object, **kwargs: object) -> Any:
    return TOP


@table.overlay(pack)
def packed(*items: object) -> Any:
    return Kinds(frozenset({tuple}))


@table.overlay(getattr)
def attribute(x: Known, name: Known) -> Any:
    if type(x.value) is not types.ModuleType or name.value not in vars(x.value):
        return TOP
    return Types(None).constant(vars(x.value)[name.value])


@table.overlay(iter)
def iterate(x: object) -> Any:
    return TOP


@table.overlay(advance)
def advanced(x: object) -> Any:
    return TOP


@table.overlay(succeeds)
def succeeded(x: object) -> Any:
    return Kinds(frozenset({bool}))


@table.overlay(isinstance)
def is_instance(x: object, cls: object) -> Any:
    return Kinds(frozenset({bool}))


def _applied(function: Any) -> Callable[..., Any]:
    def apply(*args: Kinds) -> Any:
        return _result(function, tuple(next(iter(a.types)) for a in args if len(a.types) == 1))

    return apply


for _each in (*_OPERATORS, *_UNARY, *_MATH):
    table.overlay(_each)(_applied(_each))


@table.overlay(range)
def ranged(*args: object) -> Any:
    return Kinds(frozenset({range}))


def _made(cls: type) -> Callable[..., Any]:
    def make(*args: object, **kwargs: object) -> Any:
        return Kinds(frozenset({cls}))

    return make


for _each in (int, float, complex, str, bytes, tuple, list, dict, set):
    table.overlay(_each)(_made(_each))


def _result(function: Any, classes: tuple[Any, ...]) -> Any:
    """The class of what a function of builtin classes gives; BOTTOM where it takes no such."""
    allowed = _SCALARS if function in _MATH else tuple(_SAMPLES)
    if not classes or any(c not in allowed for c in classes):
        return TOP
    if function in _FORMATS and classes[0] in (str, bytes):
        return TOP
    try:
        found = function(*(_SAMPLES[c]() for c in classes))
    except TypeError:
        return BOTTOM
    except (ArithmeticError, ValueError):
        return TOP
    return Kinds(frozenset({type(found)}))


class Types(Domain):
    """Classes of values. Calls resolve as they would in a context: to the methods of its tables,
    to those of generic functions, or to the function itself."""

    top = TOP
    bottom = BOTTOM
    table = table

    def __init__(self, context: Context | None) -> None:
        self.context = context

    def join(self, one: Any, other: Any) -> Any:
        if one == other or other == BOTTOM:
            return one
        if one == BOTTOM:
            return other
        if isinstance(one, Kinds) and isinstance(other, Kinds):
            both = one.types | other.types
            return Kinds(both) if len(both) <= _MOST else TOP
        return TOP

    def is_below(self, one: Any, other: Any) -> bool:
        return self.join(other, one) == other

    def constant(self, value: Any) -> Any:
        return Kinds(frozenset({type(value)})) if type(value) in _SAMPLES else Known(value)

    def known(self, value: Any) -> tuple[Any] | None:
        return (value.value,) if isinstance(value, Known) else None

    def alternatives(self, args: Sequence[Any]) -> Sequence[tuple[Any, ...]]:
        parts = [_alone(value) for value in args]
        if math.prod(map(len, parts)) > _COMBINATIONS:
            return (tuple(args),)
        return tuple(itertools.product(*parts))

    def callee(
        self, function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Callable[..., Any]:
        from overlay.compiled.plum_functions import is_function, resolved
        from overlay.dispatch import reachable

        context, dispatches = self.context, is_function(function)
        tables = () if context is None else context.tables
        if dispatches or reachable(tables, function):
            classes = [_class_of(value) for value in args]
            if kwargs or None in classes:
                return _unknown
            method = None if context is None else context.method(function, *classes)
            if method is not None:
                return _unknown if method.generated else method.function
            if dispatches:
                return resolved(function, classes)[0]
        _check_base(function, args, kwargs)
        return function

    def assume(self, function: Callable[..., Any], args: Sequence[Any], truth: bool) -> Any:
        args = tuple(args)
        if not args or not isinstance(args[0], Kinds):
            return args
        if function is isinstance and isinstance(args[1], Known):
            wanted = args[1].value
            if isinstance(wanted, type):
                return _kept(args, lambda c: issubclass(c, wanted) is truth)
        if function in (operator.is_, operator.is_not) and args[1] == kinds_of(None):
            same = truth is (function is operator.is_)
            return _kept(args, lambda c: (c is types.NoneType) is same)
        if function is bool and truth:
            return _kept(args, lambda c: c is not types.NoneType)
        return args


def _alone(value: Any) -> list[Any]:
    if not isinstance(value, Kinds):
        return [value]
    return [Kinds(frozenset({c})) for c in sorted(value.types, key=shown_hint)]


def _class_of(value: Any) -> Any:
    if isinstance(value, Known):
        return type(value.value)
    return next(iter(value.types)) if isinstance(value, Kinds) and len(value.types) == 1 else None


def _kept(args: tuple[Any, ...], holds: Callable[[Any], bool]) -> Any:
    kept = frozenset(c for c in args[0].types if holds(c))
    return (Kinds(kept), *args[1:]) if kept else None


def _check_base(function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    """Raise MethodNotFound where a function that is no generic one does not take such a call."""
    plain = getattr(function, "py_func", function)
    if type(plain) is types.FunctionType:
        try:
            inspect.signature(plain).bind(*args, **kwargs)
        except TypeError as error:
            raise MethodNotFound(
                f"{name_of(plain)} does not take such arguments: {error}",
                notes=[("defined", location_of(plain))],
            ) from None
        return
    classes = tuple(_class_of(value) for value in args)
    shown = ", ".join("?" if c is None else shown_hint(c) for c in classes)
    applies = function in _OPERATORS or function in _UNARY or function in _MATH
    if applies and not kwargs and None not in classes and _result(function, classes) == BOTTOM:
        raise MethodNotFound(f"{name_of(function)}({shown}) has no method")
    indexed = function is operator.getitem and classes[0] in _SAMPLES
    if indexed and type_attribute(classes[0], "__getitem__") is None:
        raise MethodNotFound(f"{name_of(function)}({shown}) has no method")
