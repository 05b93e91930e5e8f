"""Plugins of interpreted code: which of them are active inside each callee.

At each call of a function, and of a C function of a module, each plugin decides whether it stays
active inside the callee. The callee is interpreted: hooks that take part in compiling serve what
``ctx.jit`` compiles, and the ``@njit`` functions that interpreted code calls. Decisions are cached
by callee and types of the arguments.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable
from types import FunctionType
from typing import TYPE_CHECKING, Any

from overlay import _native
from overlay.contexts.stack import Stack
from overlay.core.dispatch import limited
from overlay.core.own_builtins import __builtins__
from overlay.core.signature import array_type, key_of
from overlay.core.table import LOCK
from overlay.core.target import as_positional, signature_of
from overlay.plugins.plugin import (
    Plugin,
    ask_analysed,
    entered_plugins,
    hear_analyses,
    identity,
    interpreted,
    refuse_stages,
)
from overlay.python.hidden_frames import hidden, may_be_hidden

if TYPE_CHECKING:
    from overlay.analysis.runs import Run
    from overlay.generics.views import View

__all__ = ["Entering", "types_of"]


# limit on the functions below an entered one that are analysed for it
_ANALYSES = 500


class Entering:
    """Cache of the plugins' decisions in a stack of contexts, and of the stacks made for them.

    The stack's stand-ins for callees refer to this and not to its engine, which must not keep the
    stack alive.
    """

    def __init__(self) -> None:
        # by identities: the objects that these belong to, held weakly, and the decision
        self._known: dict[Any, tuple[tuple[weakref.ref[Any], ...], Any]] = {}
        self._stacks: dict[Any, Stack] = {}

    def found(
        self, stack: Stack, function: Any, link: View | None, types: tuple[Any, ...]
    ) -> Callable[..., Any] | None:
        """The callable to run in the place of a function with arguments of these types: bound to
        the stack of the plugins that stay active in it; None for the function itself, in this
        stack. link: for the function of a method, the view below it.
        """
        parts = (function, *types) if link is None else (function, *types, link)
        known = self._known.get(tuple(map(id, parts)))
        if known is not None and _are(known[0], parts):
            return known[1]
        found = self._find(stack, function, link, types)
        self._keep(parts, found)
        return found

    def _keep(self, parts: tuple[Any, ...], found: Any) -> None:
        key = tuple(map(id, parts))
        gone = functools.partial(self._known.pop, key)
        references = tuple(weakref.ref(part, gone) for part in parts)
        with LOCK:
            limited(self._known)[key] = references, found

    def _find(
        self, stack: Stack, function: Any, link: View | None, types: tuple[Any, ...]
    ) -> Callable[..., Any] | None:
        plugins = entered_plugins(stack.plugins, function, types)
        if type(function) is not FunctionType:  # a C function: plugins have no effect inside it
            return None
        current = interpreted(plugins, stack.interpretation, function)
        inside = stack
        if plugins is not stack.plugins or current is not stack.interpretation:
            inside = self._stack_of(stack, plugins, current)
        if plugins is not stack.plugins:
            refuse_stages(plugins, function)
        if current is not None and hear_analyses(plugins):
            ask_analysed(plugins, self._analysis(inside, function, link, types), function)
        if inside is stack:
            return None
        run, engine = function, inside.python
        if link is not None:
            run = engine.placed(function, link.chain)
        if not may_be_hidden(function):  # a generator or coroutine runs its body with these plugins
            run = _pinning(run, inside)
        return _native.intercept.Carried(run, inside, inside.key)

    @staticmethod
    def _analysis(
        stack: Stack, function: FunctionType, link: View | None, types: tuple[Any, ...]
    ) -> Run | None:
        """Analyse a function in the interpretation in force, if that is a domain."""
        from overlay.analysis.entered_bodies import analysis_of
        from overlay.analysis.interpreter import Interpreter
        from overlay.analysis.lattice import Domain
        from overlay.analysis.resolution import Setting

        domain = stack.interpretation
        if not isinstance(domain, Domain):
            return None
        # a new one, since the globals that an older one has read may have changed
        interpreter = Interpreter(domain, limit=_ANALYSES)
        chain = None if link is None else link.chain
        return analysis_of(interpreter, function, types, Setting(stack.tables, chain))

    def _stack_of(self, stack: Stack, plugins: tuple[Plugin, ...], current: Any) -> Stack:
        """The stack with these plugins in place of its own, from the cache."""
        key = (*map(identity, plugins), id(current))
        with LOCK:
            found = self._stacks.get(key)
            if found is None:
                found = self._stacks[key] = stack.with_plugins(plugins, current)
            return found


def _pinning(function: Callable[..., Any], stack: Stack) -> Callable[..., Any]:
    def run(*args: Any, **kwargs: Any) -> Any:
        result = function(*args, **kwargs)
        return stack.python.pinned(result, stack)

    return hidden(run)


def _are(references: tuple[weakref.ref[Any], ...], parts: tuple[Any, ...]) -> bool:
    return all(reference() is part for reference, part in zip(references, parts, strict=True))


def types_of(function: Any, args: Any, kwargs: Any) -> tuple[Any, ...]:
    """The argument types of a call, as dispatch sees them."""
    if kwargs:
        positional, named = as_positional(signature_of(function), args, kwargs)
        args = (*positional, *named.values())
    return tuple(_type_of(value) for value in args)


def _type_of(value: Any) -> Any:
    found = key_of(value)
    if type(found) is tuple:
        return array_type(value.dtype.type, value.ndim)
    return found
