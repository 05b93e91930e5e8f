"""What runs in a call, in a context: methods of its tables, and what lies below them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import FunctionType, MethodType
from typing import Any

from overlay.analysis.lattice import Domain
from overlay.analysis.static_dispatch import choose
from overlay.code.known_values import UNKNOWN, Known, OfType, Value
from overlay.contexts.context import Context
from overlay.contexts.current import call_next, current_context, nonoverlay, recurse
from overlay.core.dispatch import by_types, reachable, resolve
from overlay.core.location import is_ours
from overlay.core.table import Method, MethodTable
from overlay.core.target import as_positional, generic_state, signature_of, type_attribute
from overlay.generics.plum_methods import is_function, resolved

__all__ = ["Callee", "Setting", "callees", "setting_of"]

Args = Sequence[Any]
_CACHED = type(functools.lru_cache(lambda: None))


@dataclass(frozen=True)
class Setting:
    """Where a function runs: the tables in force, innermost first; and for the body of a method,
    the target and the methods that ``call_next`` goes on after."""

    tables: tuple[MethodTable, ...] = ()
    target: Any = None
    after: tuple[Method, ...] = ()

    def __hash__(self) -> int:
        return hash((self.tables, id(self.target), self.after))

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Setting)
            and self.tables == other.tables
            and self.target is other.target
            and self.after == other.after
        )


@dataclass(frozen=True)
class Callee:
    """A function that runs in a call, with these arguments. result: what the call gives, in a
    tuple, where that is not what the function gives."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    setting: Setting
    result: tuple[Any] | None = None


def setting_of(context: Context | None, outer: Setting | None = None) -> Setting:
    """That of code that a context runs, entered in another."""
    outside = () if outer is None else outer.tables
    if context is None:
        return Setting(outside)
    for table in context.tables:
        table.settle()
    return Setting(tuple(dict.fromkeys((*reversed(context.tables), *outside))))


def callees(
    domain: Domain, function: Any, args: Args, kwargs: Mapping[str, Any], setting: Setting
) -> list[Callee] | None:
    """All that may run in a call; None where that is not known.

    Raises OverlayError where the call would raise because nothing takes its arguments.
    """
    if function is call_next:
        if setting.target is None:
            return None
        return _dispatched(domain, setting.target, args, kwargs, setting, setting.after)
    kind: Any = type(function)
    if function is recurse:
        return _recursed(domain, args, kwargs, setting)
    if function is current_context:
        return []
    if issubclass(kind, Context):
        if not args or (known := domain.known(args[0])) is None:
            return None
        inner = setting_of(function, setting)
        return callees(domain, known[0], args[1:], kwargs, inner)
    if kind is nonoverlay:
        return callees(domain, function.function, args, kwargs, Setting())
    return _dispatched(domain, function, args, kwargs, setting, ())


def _recursed(
    domain: Domain, args: Args, kwargs: Mapping[str, Any], setting: Setting
) -> list[Callee] | None:
    known = [each[0] for each in map(domain.known, args[:2]) if each is not None]
    if len(known) < 2 or not issubclass(type(known[0]), Context):
        return None
    return _base(domain, known[1], args[2:], kwargs, setting_of(known[0], setting))


class _Held:
    """An abstract value among the default values of a signature."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _dispatched(
    domain: Domain,
    target: Any,
    args: Args,
    kwargs: Mapping[str, Any],
    setting: Setting,
    after: tuple[Method, ...],
) -> list[Callee] | None:
    if not after and not reachable(setting.tables, target):
        return _base(domain, target, args, kwargs, setting)
    given, named = _by_place(domain, target, args, kwargs)
    values = [_shown(domain, value) for value in (*given, *named.values())]
    choice = choose(setting.tables, target, values, tuple(named), after)
    if choice.note:  # no method is the most specific: this says so
        hints = [domain.hint(value) for value in (*given, *named.values())]
        resolve(setting.tables, target, by_types(hints, tuple(named)), after)
        return None
    methods = choice.maybe if choice.certain is None else (choice.certain,)
    if any(method.generated for method in methods):
        return None
    found = [_of_method(method, target, given, named, setting, after) for method in methods]
    if choice.base:
        below = _base(domain, target, args, kwargs, setting)
        if below is None:
            return None
        found += below
    return found


def _by_place(
    domain: Domain, target: Any, args: Args, kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """A call with as much as possible given by position, as dispatch sees it."""
    if not kwargs:
        return tuple(args), {}
    held = tuple(map(_Held, args)), {name: _Held(value) for name, value in kwargs.items()}
    given, named = as_positional(signature_of(target), *held)

    def plain(value: Any) -> Any:
        return value.value if type(value) is _Held else domain.constant(value)

    return tuple(map(plain, given)), {name: plain(value) for name, value in named.items()}


def _shown(domain: Domain, value: Any) -> Value:
    """What dispatch may know of an abstract value."""
    known = domain.known(value)
    if known is not None:
        return Known(known[0])
    hint = domain.hint(value)
    return UNKNOWN if hint is None else OfType(hint)


def _of_method(
    method: Method,
    target: Any,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any],
    setting: Setting,
    after: tuple[Method, ...],
) -> Callee:
    moved = method.parameters.moved(len(args), method._of_target()) or ()
    own = len(args) - len(moved)
    named = {**dict(zip(moved, args[own:], strict=True)), **kwargs}
    inner = Setting(setting.tables, target, (*after, method))
    return Callee(method.function, args[:own], named, inner)


# ---- what lies below the tables -----------------------------------------------------------


def _base(
    domain: Domain, function: Any, args: Args, kwargs: Mapping[str, Any], setting: Setting
) -> list[Callee] | None:
    inner = Setting(setting.tables)
    kind: Any = type(function)
    if is_function(function):
        return _of_plum(domain, function, args, kwargs, inner)
    if kind is MethodType:
        receiver = domain.constant(function.__self__)
        return _dispatched(domain, function.__func__, (receiver, *args), kwargs, inner, ())
    if kind is functools.partial:
        given = tuple(map(domain.constant, function.args))
        named = {name: domain.constant(value) for name, value in function.keywords.items()}
        return callees(domain, function.func, (*given, *args), {**named, **kwargs}, inner)
    if kind is _CACHED:
        return callees(domain, function.__wrapped__, args, kwargs, inner)
    if kind is staticmethod:
        return callees(domain, function.__func__, args, kwargs, inner)
    if kind is FunctionType and is_ours(function.__code__.co_filename):
        return None
    if issubclass(kind, type):
        return _of_class(domain, function, args, kwargs, inner)
    domain.check(function, args, kwargs)
    return [Callee(function, tuple(args), dict(kwargs), inner)]


def _of_class(
    domain: Domain, cls: Any, args: Args, kwargs: Mapping[str, Any], setting: Setting
) -> list[Callee] | None:
    """A class that is called: its ``__init__`` runs, where that is all that does."""
    new, init = type_attribute(cls, "__new__"), type_attribute(cls, "__init__")
    if type(init) is not FunctionType and type(new) is not staticmethod:
        domain.check(cls, args, kwargs)
        return [Callee(cls, tuple(args), dict(kwargs), setting)]
    if type(cls) is not type or new is not object.__dict__["__new__"]:
        return None
    made = domain.instance(cls)
    (found,) = _dispatched(domain, init, (made, *args), kwargs, setting, ()) or (None,)
    return None if found is None else [replace(found, result=(made,))]


def _of_plum(
    domain: Domain, function: Any, args: Args, kwargs: Mapping[str, Any], setting: Setting
) -> list[Callee] | None:
    state = generic_state(function)
    plum_function = function if state is None else state.plum_function
    if kwargs:
        if state is None:
            return None
        args, kwargs = _by_place(domain, state.declaration, args, kwargs)
    classes = [_class_of(domain, value) for value in args]
    if kwargs or None in classes:
        return None
    if not all(method.signature.is_faithful for method in plum_function.methods):
        return None
    method, declared = resolved(function, (classes, None))
    plain = declared in (Any, object, inspect.Parameter.empty)
    return [Callee(method, tuple(args), {}, setting, None if plain else (domain.top,))]


def _class_of(domain: Domain, value: Any) -> Any:
    known = domain.known(value)
    hint = domain.hint(value) if known is None else type(known[0])
    return hint if isinstance(hint, type) else None
