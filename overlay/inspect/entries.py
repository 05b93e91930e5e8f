"""Entries of a call graph: code that a call enters, with abstract values of its arguments."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import CodeType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from overlay.code.known_values import (
    UNKNOWN,
    BoundFunction,
    Known,
    Made,
    OfType,
    Value,
    declared_types,
    type_of,
)
from overlay.core.target import type_attribute

if TYPE_CHECKING:
    from overlay.core.dispatch import MethodChain
    from overlay.core.table import Method

__all__ = ["Args", "EnteredCode", "Entries", "Key"]

# Combinations of types in which a function is read; further calls are read with unknown types.
_VARIANTS = 4
# The arguments of a call, positional first; None where they are not counted.
Args = Sequence[Value] | None
Key = tuple[Any, ...]


@dataclass(frozen=True, eq=False)
class EnteredCode:
    """Code that a call enters, with its arguments. chain: the position at which ``call_next`` in
    it continues, None outside methods. function: None for one that the current code makes.
    """

    code: CodeType
    namespace: dict[str, Any]
    arguments: dict[str, Value]
    cells: Mapping[str, Value]
    chain: MethodChain | None
    function: FunctionType | None = None

    @property
    def types(self) -> tuple[Any, ...]:
        """The types of the parameters."""
        return tuple(type_of(value) for value in self.arguments.values())

    @property
    def key(self) -> tuple[Any, ...]:
        """Key of the entry: identity of the code, abstract values of the arguments, and chain."""
        values = tuple(_key_of(value) for value in self.arguments.values())
        return id(self.code), values, None if self.chain is None else self.chain.key


class Entries:
    """Makes the entries of one call graph, a bounded number for each function."""

    def __init__(self) -> None:
        self._variants: dict[int, set[Key]] = {}

    def of_function(
        self, function: FunctionType, args: Args, names: tuple[str, ...], chain: MethodChain | None
    ) -> EnteredCode:
        """The entry of a function with these arguments; unknown types are taken from the
        annotations.
        """
        code = function.__code__
        cells = {
            name: value
            for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True)
            if (value := _contents(cell)) is not None
        }
        defaults = _defaults(function)
        arguments = _bound(code, args, names, defaults, _receiver(function))
        hints = declared_types(function)
        for name, value in arguments.items():
            if type_of(value) is None and name in hints:
                arguments[name] = OfType(hints[name])
        entry = EnteredCode(code, function.__globals__, arguments, cells, chain, function)
        return self._limited(entry)

    def _limited(self, entry: EnteredCode) -> EnteredCode:
        entry = replace(entry, arguments={n: _general(v) for n, v in entry.arguments.items()})
        variants = self._variants.setdefault(id(entry.code), set())
        if entry.key in variants or len(variants) < _VARIANTS:
            variants.add(entry.key)
            return entry
        return replace(entry, arguments=dict.fromkeys(entry.arguments, UNKNOWN))

    def of_made(
        self, made: Made, args: Args, names: tuple[str, ...], chain: MethodChain | None
    ) -> EnteredCode:
        """The entry of a function that the current code makes."""
        arguments = _bound(made.code, args, names, {}, UNKNOWN)
        return self._limited(EnteredCode(made.code, made.namespace, arguments, made.cells, chain))

    def of_method(
        self, chain: MethodChain, method: Method, args: Args, names: tuple[str, ...]
    ) -> EnteredCode | None:
        """The entry of a method at its position in a chain; None where it has no readable code."""
        function = getattr(method.function, "py_func", method.function)
        if method.generated or type(function) is not FunctionType:
            return None
        return self.of_function(function, args, names, chain.after(method))


def _receiver(function: FunctionType) -> Value:
    """Default abstract value of the first argument: an instance of the class that holds the
    function under its qualified name (for a class method the class), else unknown.
    """
    found: Any = function.__globals__
    path = function.__qualname__.split(".")
    if len(path) < 2:
        return UNKNOWN
    for name in path[:-1]:
        found = found.get(name) if type(found) is dict else type_attribute(found, name)
        if not isinstance(found, type):
            return UNKNOWN
    held = type_attribute(found, path[-1])
    if type(held) is classmethod and held.__func__ is function:
        return Known(found)
    return OfType(found) if held is function else UNKNOWN


def _general(value: Value) -> Value:
    """A value reduced to what entries depend on: callables and modules stay, others become their
    type.
    """
    if isinstance(value, Known) and not callable(value.object):
        return value if type(value.object) is ModuleType else OfType(type(value.object))
    return value


def _key_of(value: Value) -> Any:
    if isinstance(value, Known):
        return "object", id(value.object)
    if isinstance(value, Made):
        return "code", id(value.code)
    if isinstance(value, BoundFunction):
        return "bound", _key_of(value.function), _key_of(value.receiver)
    kind = type_of(value)
    return "type", id(kind) if isinstance(kind, type) else repr(kind)


def _contents(cell: Any) -> Value | None:
    try:
        return Known(cell.cell_contents)
    except ValueError:  # empty
        return None


def _defaults(function: FunctionType) -> dict[str, Value]:
    code, given = function.__code__, function.__defaults__ or ()
    names = code.co_varnames[: code.co_argcount]
    found: dict[str, Value] = dict(
        zip(names[len(names) - len(given) :], map(Known, given), strict=True)
    )
    return found | {n: Known(v) for n, v in (function.__kwdefaults__ or {}).items()}


def _bound(
    code: CodeType,
    args: Args,
    names: tuple[str, ...],
    defaults: Mapping[str, Value],
    receiver: Value,
) -> dict[str, Value]:
    """The abstract values of the parameters in a call, in order."""
    count = code.co_argcount
    total = count + code.co_kwonlyargcount
    parameters = code.co_varnames[:total]
    if args is None:
        found = dict.fromkeys(parameters, UNKNOWN)
    else:
        found = {name: defaults.get(name, UNKNOWN) for name in parameters}
        positional = args[: len(args) - len(names)]
        found |= dict(zip(parameters[:count], positional, strict=False))
        named = dict(zip(names, args[len(positional) :], strict=True))
        found |= {name: value for name, value in named.items() if name in found}
    if parameters and count and found[parameters[0]] is UNKNOWN and receiver is not UNKNOWN:
        found[parameters[0]] = receiver
    if code.co_flags & inspect.CO_VARARGS:
        found[code.co_varnames[total]] = OfType(tuple)
        total += 1
    if code.co_flags & inspect.CO_VARKEYWORDS:
        found[code.co_varnames[total]] = OfType(dict)
    return found
