"""What plugins mean where code is interpreted.

At each call of a function, and of a C function of a module, the plugins are asked with which of
them it is entered. It is interpreted: hooks that take part in compiling are for what ``ctx.jit``
compiles, and for the ``@njit`` functions that interpreted code calls. What was found is kept by
callee and types of the arguments.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import TYPE_CHECKING, Any

from overlay.code.own_builtins import __builtins__  # noqa: F401
from overlay.plugin import (
    Plugin,
    ask_analysed,
    entered_plugins,
    hear_analyses,
    identity,
    interpreted,
    refuse_stages,
)
from overlay.python.kept import limited
from overlay.python.unseen import unobserved, unseen
from overlay.signature import array_type, key_of
from overlay.stack import Stack, key_in_force, stack_in_force
from overlay.table import LOCK
from overlay.target import as_positional, signature_of

if TYPE_CHECKING:
    from overlay.analysis.runs import Run
    from overlay.python.engine import Link, PythonEngine

__all__ = ["Entering", "asking", "entering", "is_asked_about"]


# how many functions below one that is entered are analysed for it at most
_ANALYSES = 500
_LOOKING_MODULES = ("_warnings", "sys")
_LOOKERS = (
    *("__build_class__", "__import__", "breakpoint", "dir", "eval", "exec"),
    *("globals", "locals", "vars"),
)


def entering(
    engine: PythonEngine, function: FunctionType, twin: FunctionType, link: Link | None = None
) -> Callable[..., Any]:
    """What to call in place of a function: ``twin``, in the context as it is, unless the plugins
    say otherwise. link: of the method whose body it is."""

    @unseen
    def enter(*args: Any, **kwargs: Any) -> Any:
        found = _found(engine, function, link, args, kwargs)
        return (found or twin)(*args, **kwargs)

    return enter


def is_asked_about(callee: Any) -> bool:
    """Whether it is a C function of a module, and none that looks at the frame that calls it."""
    if type(callee) is not BuiltinFunctionType or type(callee.__self__) is not ModuleType:
        return False
    return callee.__self__.__name__ not in _LOOKING_MODULES and callee.__name__ not in _LOOKERS


def asking(engine: PythonEngine, function: Any, found: Any) -> Callable[..., Any]:
    """What to call in place of a C function: ``found``, once the plugins have been told."""

    @unseen
    def ask(*args: Any, **kwargs: Any) -> Any:
        _tell(engine, function, args, kwargs)
        return found(*args, **kwargs)

    return ask


@unobserved
def _found(
    engine: PythonEngine, function: FunctionType, link: Link | None, args: Any, kwargs: Any
) -> Callable[..., Any] | None:
    stack = engine.stack
    return stack.entering.found(stack, function, link, _types(function, args, kwargs))


@unobserved
def _tell(engine: PythonEngine, function: Any, args: Any, kwargs: Any) -> None:
    stack = engine.stack
    stack.entering.tell(stack, function, _types(function, args, kwargs))


class Entering:
    """What the plugins of a stack of contexts said, and the stacks that are entered so.

    The stack keeps this, not its engine, which must not keep the stack.
    """

    def __init__(self) -> None:
        # by identities, what these belong to, held weakly, and what was found
        self._known: dict[Any, tuple[tuple[weakref.ref[Any], ...], Any]] = {}
        self._stacks: dict[Any, Stack] = {}

    def found(
        self, stack: Stack, function: FunctionType, link: Link | None, types: tuple[Any, ...]
    ) -> Callable[..., Any] | None:
        """What to call in place of a function; None where it is its twin in this stack."""
        parts = (function, *types) if link is None else (function, *types, link)
        known = self._known.get(tuple(map(id, parts)))
        if known is not None and _are(known[0], parts):
            return known[1]
        found = self._find(stack, function, link, types)
        self._keep(parts, found)
        return found

    def tell(self, stack: Stack, function: Any, types: tuple[Any, ...]) -> None:
        """Ask the plugins about a C function, for which it means nothing."""
        parts = function, *types
        known = self._known.get(tuple(map(id, parts)))
        if known is None or not _are(known[0], parts):
            entered_plugins(stack.plugins, function, types)
            self._keep(parts, None)

    def _keep(self, parts: tuple[Any, ...], found: Any) -> None:
        key = tuple(map(id, parts))
        gone = functools.partial(self._known.pop, key)
        references = tuple(weakref.ref(part, gone) for part in parts)
        with LOCK:
            limited(self._known)[key] = references, found

    def _find(
        self, stack: Stack, function: FunctionType, link: Link | None, types: tuple[Any, ...]
    ) -> Callable[..., Any] | None:
        plugins = entered_plugins(stack.plugins, function, types)
        current = interpreted(plugins, stack.interpretation, function)
        inside = stack
        if plugins is not stack.plugins or current is not stack.interpretation:
            inside = self._stack_of(stack, plugins, current)
        if plugins is not stack.plugins:
            refuse_stages(plugins, function)
        if current is not None and hear_analyses(plugins):
            ask_analysed(plugins, self._analysis(inside, function, link, types), function)
        return None if inside is stack else _Elsewhere(inside, function, link)

    @staticmethod
    def _analysis(
        stack: Stack, function: FunctionType, link: Link | None, types: tuple[Any, ...]
    ) -> Run | None:
        """A function analysed in the interpretation in force, if that is a domain."""
        from overlay.analysis.entering import analysis_of
        from overlay.analysis.interpreter import Interpreter
        from overlay.analysis.lattice import Domain

        domain = stack.interpretation
        if not isinstance(domain, Domain):
            return None
        after = (None, ()) if link is None else (link.target, link.methods)
        # a new one, since what an older one has read may have changed
        interpreter = Interpreter(domain, most=_ANALYSES)
        return analysis_of(interpreter, function, types, stack.tables, *after)

    def _stack_of(self, stack: Stack, plugins: tuple[Plugin, ...], current: Any) -> Stack:
        """The stack with these plugins in place of its own."""
        key = (*map(identity, plugins), id(current))
        with LOCK:
            found = self._stacks.get(key)
            if found is None:
                found = self._stacks[key] = stack.with_plugins(plugins, current)
            return found


def _are(references: tuple[weakref.ref[Any], ...], parts: tuple[Any, ...]) -> bool:
    return all(reference() is part for reference, part in zip(references, parts, strict=True))


class _Elsewhere:
    """A function, run in a stack that has other plugins."""

    def __init__(self, stack: Stack, function: FunctionType, link: Link | None) -> None:
        self.stack = stack
        self.function, self.link = weakref.ref(function), link
        self.renew(function)

    def renew(self, function: FunctionType) -> None:
        """Run the function as it is now."""
        self.code, self.defaults = function.__code__, function.__defaults__
        self.twin = self.stack.python.entered_twin(function, self.link)

    @unseen
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        function = self.function()
        if function is not None and (
            function.__code__ is not self.code or function.__defaults__ is not self.defaults
        ):
            self.renew(function)
        token, key = stack_in_force.set(self.stack), key_in_force.set(self.stack.key)
        try:
            return self.twin(*args, **kwargs)
        finally:
            stack_in_force.reset(token)
            key_in_force.reset(key)


def _types(function: Any, args: Any, kwargs: Any) -> tuple[Any, ...]:
    """The types of a call, as dispatch sees them."""
    if kwargs:
        positional, named = as_positional(signature_of(function), args, kwargs)
        args = (*positional, *named.values())
    return tuple(_type_of(value) for value in args)


def _type_of(value: Any) -> Any:
    found = key_of(value)
    if type(found) is tuple:
        return array_type(value.dtype.type, value.ndim)
    return found
