"""What stands in the callee map for a class: ``type.__call__`` with ``__new__`` and
``__init__`` mapped."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, MethodType, WrapperDescriptorType
from typing import TYPE_CHECKING, Any, NoReturn

from overlay.code.own_builtins import __builtins__  # noqa: F401
from overlay.python.forms import with_forms
from overlay.python.unseen import unobserved, unseen
from overlay.target import type_attribute

if TYPE_CHECKING:
    from overlay.python.callees import Callees

__all__ = ["TYPE_CALL", "constructor", "is_simple", "may_make_itself"]

TYPE_CALL: Any = type.__dict__["__call__"]
NEW: Any = object.__new__
_MOST_ARGUMENTS = 6

# While the class has the __init__ that it had, and no __new__ of its own, it is made by hand.
# Without *args such a call is as fast as that of the class itself.
_SIMPLE = """
def make(cls, new, init, mapped, general, refuse, unseen):
    @unseen
    def construct({arguments}):
        if cls.__init__ is init and cls.__new__ is new:
            made = new(cls, {arguments})
            result = mapped(made, {arguments})
            return made if result is None else refuse(result)
        return general({arguments})
    return construct
"""


def constructor(callees: Callees, cls: type) -> Callable[..., Any]:
    """What makes an instance of a class whose metaclass calls it as ``type`` does; the class
    itself where no function of the program takes part."""
    new, init = type_attribute(cls, "__new__"), type_attribute(cls, "__init__")
    if all(type(slot) in (BuiltinFunctionType, WrapperDescriptorType) for slot in (new, init)):
        own_call = type_attribute(type(cls), "__call__") is not TYPE_CALL
        return functools.partial(TYPE_CALL, cls) if own_call else cls
    general = _general(callees, cls)
    if not is_simple(cls) or callees[NEW] is not NEW:
        return general
    mapped, made = callees[init], dict[int | None, Callable[..., Any]]()

    def form(arity: int | None) -> Callable[..., Any]:
        count = None if arity is None or arity > _MOST_ARGUMENTS else arity
        if count not in made:
            made[count] = _simple(count)(cls, NEW, init, mapped, general, _refuse, unseen)
        return made[count]

    return with_forms(general, form)


def is_simple(cls: Any) -> bool:
    """Whether it is a class with an ``__init__`` in Python and no ``__new__`` of its own."""
    kind: Any = type(cls)
    # attributes of a class whose metaclass looks them up in a way of its own may be anything
    if not issubclass(kind, type) or (
        type_attribute(kind, "__getattribute__") is not type.__getattribute__
    ):
        return False
    new, init = type_attribute(cls, "__new__"), type_attribute(cls, "__init__")
    return new is NEW and type(init) is FunctionType


def may_make_itself(callees: Callees, cls: type) -> bool:
    """Whether a simple class makes its instances as it is, as long as it has the ``__init__``
    that it has now: there is nothing in it to rewrite."""
    init: Any = type_attribute(cls, "__init__")
    return type(cls) is type and callees[init] is init and callees[NEW] is NEW


@functools.cache
def _simple(arity: int | None) -> Callable[..., Any]:
    names = "*args, **kwargs" if arity is None else ", ".join(f"a{i}" for i in range(arity))
    namespace: dict[str, Any] = {}
    exec(compile(_SIMPLE.format(arguments=names), __file__, "exec"), namespace)
    return namespace["make"]


@unseen
def _refuse(result: Any) -> NoReturn:
    raise TypeError(f"__init__() should return None, not '{type(result).__name__}'")


def _general(callees: Callees, cls: type) -> Callable[..., Any]:
    """``type.__call__`` with ``__new__`` and ``__init__`` looked up anew at each call."""

    @unobserved
    def new_of() -> Any:
        new = type_attribute(cls, "__new__")
        bind = type_attribute(type(new), "__get__")
        return callees[new if bind is None else bind(new, None, cls)]

    @unobserved
    def init_of(made: Any) -> Any:
        kind: Any = type(made)
        return _init(callees, made, kind) if any(base is cls for base in kind.__mro__) else None

    refuse = _refuse

    @unseen
    def construct(*args: Any, **kwargs: Any) -> Any:
        made = new_of()(cls, *args, **kwargs)
        init = init_of(made)
        if init is not None:
            result = init(*args, **kwargs)
            if result is not None:
                refuse(result)
        return made

    return construct


def _init(callees: Callees, made: Any, kind: type) -> Any:
    init = type_attribute(kind, "__init__")
    if type(init) is FunctionType:
        return MethodType(callees[init], made)
    bind = type_attribute(type(init), "__get__")
    return callees[init if bind is None else bind(init, made, kind)]
