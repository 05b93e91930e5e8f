"""Static resolution of a call in a context: methods of its tables, and the functions below."""

from __future__ import annotations

import enum
import functools
import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from overlay.analysis.lattice import Domain
from overlay.analysis.static_dispatch import choose
from overlay.code.known_values import UNKNOWN, Known, OfType, Value
from overlay.contexts.context import Context
from overlay.contexts.current import call_next, current_context, nonoverlay, recurse
from overlay.core.dispatch import MethodChain, by_types
from overlay.core.location import is_ours
from overlay.core.table import Method, MethodTable
from overlay.core.target import (
    LRU_CACHE,
    as_positional,
    generic_state,
    signature_of,
    type_attribute,
)
from overlay.generics.plum_methods import is_function, resolved

__all__ = ["Callee", "Setting", "callees", "setting_of"]

Args = Sequence[Any]


@dataclass(frozen=True)
class Setting:
    """Dispatch environment of a function: the tables in force, innermost first; and for the body
    of a method, the position in its chain at which ``call_next`` continues, else None."""

    tables: tuple[MethodTable, ...] = ()
    chain: MethodChain | None = None


@dataclass(frozen=True)
class Callee:
    """A function that runs in a call, with its arguments. result: the call's result, in a tuple
    of one, if it differs from the function's. then: returns, from its result, the callee that
    runs after it, or no callee; None if that is not known.
    """

    function: Callable[..., Any]
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    setting: Setting
    result: tuple[Any] | None = None
    then: Callable[[Any], list[Callee] | None] | None = None


def setting_of(context: Context | None, outer: Setting | None = None) -> Setting:
    """The setting of code that a context runs. outer: the setting in which it is entered."""
    outside = () if outer is None else outer.tables
    if context is None:
        return Setting(outside)
    for table in context.tables:
        table.settle()
    return Setting(tuple(dict.fromkeys((*reversed(context.tables), *outside))))


def callees(
    domain: Domain, function: Any, args: Args, kwargs: Mapping[str, Any], setting: Setting
) -> list[Callee] | None:
    """The functions that may run in a call; None if they are not known.

    Raises OverlayError if the call would raise because nothing accepts its arguments.
    """
    if function is call_next:
        if setting.chain is None:
            return None
        return _dispatched(domain, setting.chain, args, kwargs)
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
    return _dispatched(domain, MethodChain.of(function, setting.tables), args, kwargs)


def _recursed(
    domain: Domain, args: Args, kwargs: Mapping[str, Any], setting: Setting
) -> list[Callee] | None:
    known = [each[0] for each in map(domain.known, args[:2]) if each is not None]
    if len(known) < 2 or not issubclass(type(known[0]), Context):
        return None
    return _base(domain, known[1], args[2:], kwargs, setting_of(known[0], setting))


class _Held:
    """Wrapper that distinguishes abstract values from the default values of a signature."""

    def __init__(self, value: Any) -> None:
        self.value = value


def _dispatched(
    domain: Domain, chain: MethodChain, args: Args, kwargs: Mapping[str, Any]
) -> list[Callee] | None:
    target, setting = chain.target, Setting(chain.tables)
    if not chain.passed and not chain.methods():
        return _base(domain, target, args, kwargs, setting)
    given, named = _by_place(domain, target, args, kwargs)
    values = [_shown(domain, value) for value in (*given, *named.values())]
    choice = choose(chain, values, tuple(named))
    if choice.note:  # no method is the most specific: this raises the error
        hints = [domain.hint(value) for value in (*given, *named.values())]
        chain.resolve(by_types(hints, tuple(named)))
        return None
    methods = choice.maybe if choice.certain is None else (choice.certain,)
    if any(method.generated for method in methods):
        return None
    found = [_of_method(method, given, named, chain) for method in methods]
    if choice.base:
        below = _base(domain, target, args, kwargs, setting)
        if below is None:
            return None
        found += below
    return found


def _by_place(
    domain: Domain, target: Any, args: Args, kwargs: Mapping[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """The arguments of a call, positional as far as possible, in the form used by dispatch."""
    if not kwargs:
        return tuple(args), {}
    held = tuple(map(_Held, args)), {name: _Held(value) for name, value in kwargs.items()}
    given, named = as_positional(signature_of(target), *held)

    def plain(value: Any) -> Any:
        return value.value if type(value) is _Held else domain.constant(value)

    return tuple(map(plain, given)), {name: plain(value) for name, value in named.items()}


def _shown(domain: Domain, value: Any) -> Value:
    """The abstract value of static dispatch for a domain's abstract value."""
    known = domain.known(value)
    if known is not None:
        return Known(known[0])
    hint = domain.hint(value)
    return UNKNOWN if hint is None else OfType(hint)


def _of_method(
    method: Method, args: tuple[Any, ...], kwargs: Mapping[str, Any], chain: MethodChain
) -> Callee:
    moved = method.parameters.moved(len(args), method._of_target()) or ()
    own = len(args) - len(moved)
    named = {**dict(zip(moved, args[own:], strict=True)), **kwargs}
    inner = Setting(chain.tables, chain.after(method))
    return Callee(method.function, args[:own], named, inner)


# ---- targets below the tables -------------------------------------------------------------


def _base(
    domain: Domain, function: Any, args: Args, kwargs: Mapping[str, Any], setting: Setting
) -> list[Callee] | None:
    inner = Setting(setting.tables)
    kind: Any = type(function)
    if is_function(function):
        return _of_plum(domain, function, args, kwargs, inner)
    if kind is MethodType:
        receiver = domain.constant(function.__self__)
        bound = MethodChain.of(function.__func__, inner.tables)
        return _dispatched(domain, bound, (receiver, *args), kwargs)
    if kind is functools.partial:
        given = tuple(map(domain.constant, function.args))
        named = {name: domain.constant(value) for name, value in function.keywords.items()}
        return callees(domain, function.func, (*given, *args), {**named, **kwargs}, inner)
    if kind is LRU_CACHE:
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
    """The callees of a call of a class: its ``__new__`` and ``__init__``; None if other code of the
    program runs too."""
    new, init = type_attribute(cls, "__new__"), type_attribute(cls, "__init__")
    if isinstance(cls, enum.EnumType) and len(args) == 1 and not kwargs and len(cls):
        return [Callee(cls, tuple(args), {}, setting, (domain.parameter(0, cls),))]
    if type_attribute(type(cls), "__call__") is not type.__dict__["__call__"]:
        return None
    if type(new) is staticmethod:
        below = _dispatched(
            domain,
            MethodChain.of(new.__func__, setting.tables),
            (domain.constant(cls), *args),
            kwargs,
        )
        if below is None:
            return None
        after = functools.partial(_initialised, domain, cls, args, kwargs, setting)
        return [replace(each, then=after) for each in below]
    if type(init) is not FunctionType:
        domain.check(cls, args, kwargs)
        return [Callee(cls, tuple(args), dict(kwargs), setting)]
    if type(new) is not BuiltinFunctionType:
        return None
    made = domain.instance(cls)
    chain = MethodChain.of(init, setting.tables)
    (found,) = _dispatched(domain, chain, (made, *args), kwargs) or (None,)
    return None if found is None else [replace(found, result=(made,))]


def _initialised(
    domain: Domain, cls: Any, args: Args, kwargs: Mapping[str, Any], setting: Setting, made: Any
) -> list[Callee] | None:
    """The ``__init__`` that runs on the result of the ``__new__`` of a class."""
    kind = _class_of(domain, made)
    if kind is None:
        return None
    init = type_attribute(kind, "__init__")
    if not issubclass(kind, cls) or type(init) is not FunctionType:
        return []
    found = _dispatched(domain, MethodChain.of(init, setting.tables), (made, *args), kwargs)
    return found if found is None or len(found) == 1 else None


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
