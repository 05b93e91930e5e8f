"""plum's generic functions, and ours, inside a context: their methods' bodies are mapped."""

from __future__ import annotations

import functools
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from overlay.code.own_builtins import __builtins__  # noqa: F401
from overlay.interpreted_values import plain_values
from overlay.plum_methods import chosen, converted
from overlay.python.assembly import narrowed
from overlay.python.emit.writer import OP
from overlay.python.forms import with_forms
from overlay.python.unseen import unseen
from overlay.stack import current_stack
from overlay.target import generic_state
from overlay.views import View

if TYPE_CHECKING:
    from overlay.generics import Generic
    from overlay.python.callees import Callees
    from overlay.table import Method, MethodTable

__all__ = ["Resolved", "base_of_generic", "generic_in"]


class Resolved:
    """Stands in the callee map for a plum generic function."""

    def __init__(self, function: Any, callees: Callees) -> None:
        self.function = function
        self.callees = callees

    @unseen
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        _ = self.function.methods  # registers what is pending
        method, return_type = chosen(self.function, args, plain_values(args))
        result = self.callees[method](*args, **kwargs)
        return result if return_type is Any else converted(result, return_type)


# ---- ours ---------------------------------------------------------------------------------


def generic_in(function: Any, callees: Callees) -> Callable[..., Any] | None:
    """What stands in the callee map for a function that ``generic`` made, or None for any other:
    it takes the tables' methods first."""
    generic = generic_state(function)
    return None if generic is None else _forms(_Dispatching(generic, callees))


def base_of_generic(function: Any, callees: Callees) -> Callable[..., Any] | None:
    """The same without the tables: its base methods, with their bodies in the context."""
    generic = generic_state(function)
    return None if generic is None else _forms(_Mapped(generic, callees, ()))


class _Mapped(View):
    """What calls of a generic function resolve to in code of an engine."""

    def __init__(self, generic: Generic, callees: Callees, tables: tuple[MethodTable, ...]) -> None:
        super().__init__(generic, tables)
        self.engine = callees.engine

    def keeps(self) -> bool:
        return not self.engine.released

    def implementation(self, function: Callable[..., Any]) -> Callable[..., Any]:
        return self.engine.callees[function]


class _Dispatching(_Mapped):
    """The same with the engine's tables.

    Once a block has begun in code of the engine, it asks at each call whether one is in force.
    """

    def __init__(self, generic: Generic, callees: Callees) -> None:
        super().__init__(generic, callees, callees.engine.tables)
        self.hits = self.engine.watch
        stack = self.engine._stack()
        if stack is not None:
            stack.engine_views.add(self)

    def keeps(self) -> bool:
        stack = self.engine._stack()
        return super().keeps() and not (stack is not None and stack.block_inside)

    def select(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[..., Any]:
        own, current = self.engine._stack(), current_stack()
        if own is not None and own.block_inside and current is not None and current.is_inside(own):
            return current.python.enter(self.generic.function)
        return super().select(args, kwargs)

    def method(
        self,
        method: Method,
        args: tuple[Any, ...],
        instead: Callable[..., Any] | None = None,
    ) -> Callable[..., Any]:
        return self.engine.implementation(self.generic.function, method, self.after, args, instead)


# Calls of what is kept for the types of the arguments: of the exceptions in there only those of
# looking it up are caught. Names are globals, which are read faster than those of a closure.
_FORMS = """
def single(a, /):
    try:
        return one[type(a)](a)
    except (KeyError, TypeError):
        pass
    return call((a,), {})

def double(a, b, /):
    try:
        return two[type(a)][type(b)](a, b)
    except (KeyError, TypeError):
        pass
    return call((a, b), {})

def dispatch(*args, **kwargs):
    return call(args, kwargs)
"""
_NAMES = {"type": type, "KeyError": KeyError, "TypeError": TypeError, "__name__": __name__}


def _forms(view: View) -> Callable[..., Any]:
    """A function for calls of any shape, with the fastest forms for one and two arguments."""
    namespace = {**_NAMES, "one": view.one, "two": view.two, "call": view.call}
    single, double, dispatch = (_form(code, namespace) for code in _codes())
    by_arity = {1: single, 2: double}

    def for_arity(arity: int | None) -> Callable[..., Any]:
        return by_arity.get(arity or 0, dispatch)

    for function in (dispatch, single, double):
        with_forms(function, for_arity)
    return dispatch


def _form(code: CodeType, namespace: dict[str, Any]) -> FunctionType:
    made = unseen(FunctionType(code, namespace))
    made.__code__ = made.__code__.replace()  # what it learns of its names and calls is its own
    return made


@functools.cache
def _codes() -> list[CodeType]:
    made: dict[str, Any] = {}
    exec(compile(_FORMS, __file__, "exec"), made)
    functions = (made[name] for name in ("single", "double", "dispatch"))
    return [narrowed(function.__code__, OP["BINARY_SUBSCR"]) for function in functions]
