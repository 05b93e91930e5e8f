"""Objects of which each stack has its own: functions that cache results, and those compiled by
numba, which are compiled again under the tables."""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable
from types import FunctionType, WrapperDescriptorType
from typing import TYPE_CHECKING, Any

from overlay import _native
from overlay.core.interpreted_values import has_underlying
from overlay.core.jitted import (
    can_compile,
    compiled_classes,
    is_dispatcher,
    is_kernel,
    without_compiling,
)
from overlay.core.location import is_ours
from overlay.core.own_builtins import __builtins__
from overlay.core.table import LOCK
from overlay.core.target import LRU_CACHE, type_attribute
from overlay.generics.views import MADE_FOR_PLACE
from overlay.python.entered_functions import subclasses

if TYPE_CHECKING:
    from overlay.contexts.stack import Stack

__all__ = ["OwnObjects", "OwnValues"]

_OWN = "__overlay_own__"
_UNSEEN: Any = object()


class OwnValues[V](weakref.WeakKeyDictionary["OwnObjects", tuple[object, V]]):
    """Values of which each stack has its own, with the state of the tables that they hold for."""


def _beside_cache(cached: Callable[..., Any], function: Callable[..., Any]) -> Callable[..., Any]:
    """A cached function that does not look for values of interpretations in its cache: these are
    not found by their hashes."""

    def call(*args: Any, **kwargs: Any) -> Any:
        interpreted = any(map(has_underlying, (*args, *kwargs.values())))
        return function(*args, **kwargs) if interpreted else cached(*args, **kwargs)

    return call


class OwnObjects:
    """Maps objects to the ones that a stack calls in their place."""

    def __init__(self, stack: Stack) -> None:
        self._stack = weakref.ref(stack)
        self._kept: dict[int, tuple[weakref.ref[Any], Any]] = {}
        self._turn = object()  # replaced at each change of the tables
        self._classes: list[type] = []
        self._has_compiled = False
        self.settle()

    def settle(self) -> None:
        """Intercept calls of the classes that exist by now."""
        if not self._classes:
            self._keep_apart((LRU_CACHE,))
        numba = sys.modules.get("numba")
        is_there = numba is not None and not getattr(numba.__spec__, "_initializing", False)
        if not self._has_compiled and is_there:  # an import that is under way is left alone
            self._has_compiled = True
            self._keep_apart(compiled_classes())

    def _keep_apart(self, classes: tuple[type, ...]) -> None:
        intercept: Any = _native.intercept
        with LOCK:
            for cls in (below for each in classes for below in subclasses(each)):
                if type(type_attribute(cls, "__call__")) is WrapperDescriptorType:
                    intercept.keep_apart(cls, True)
                    self._classes.append(cls)

    def release(self) -> None:
        """Stop intercepting the classes; the stack is gone."""
        intercept: Any = _native.intercept
        while self._classes:
            intercept.keep_apart(self._classes.pop(), False)
        self._kept.clear()

    def forget(self) -> None:
        """Drop all objects that were made under the previous state of the tables."""
        self._kept.clear()
        self._turn = object()

    def of(self, callee: Any) -> Any:
        """The stack's own object for a callee; the callee itself where it needs none."""
        if type(callee) is LRU_CACHE:
            return self._cache(callee)
        kept = self._kept.get(id(callee))
        if kept is not None and kept[0]() is callee:
            return kept[1]
        made, key = self._compiled(callee), id(callee)
        self._kept[key] = weakref.ref(callee, functools.partial(self._drop, key)), made
        if made is not callee:
            self._kept[id(made)] = weakref.ref(made), made
        return made

    def _drop(self, key: int, _: Any) -> None:
        self._kept.pop(key, None)

    def _cache(self, callee: Any) -> Any:
        """The stack's own cached function. The original object holds it: the function may refer
        to the original, so any other holder would keep it alive forever.
        """
        function = getattr(callee, "__wrapped__", None)
        if function is None:
            return callee
        kept = callee.__dict__.get(_OWN, _UNSEEN)
        if kept is _UNSEEN:
            # calls within these packages reach no methods: their caches hold for all stacks
            shared = type(function) is FunctionType and is_ours(function.__code__.co_filename)
            made = None if shared else OwnValues[Any]()
            kept = callee.__dict__.setdefault(_OWN, made)
        if kept is None:
            return callee
        return self.kept_in(kept, lambda: self._cached(callee, function))

    def _cached(self, callee: Any, function: Any) -> Any:
        """Make the stack's own cached function."""
        stack = self._stack()
        calls = None if stack is None else stack.calls
        own = function if calls is None else calls.stand_in(function)
        cached = functools.lru_cache(**callee.cache_parameters())(own)
        cached.__dict__[_OWN] = None  # it has no own object itself
        interprets = stack is not None and any(table.interprets for table in stack.tables)
        return _beside_cache(cached, own) if interprets else cached

    def kept_in[V](self, store: OwnValues[V], make: Callable[[], V]) -> V:
        """The stack's own value in a store, made again once the tables have changed."""
        found = store.get(self)
        if found is None or found[0] is not self._turn:
            store[self] = found = self._turn, make()
        return found[1]

    def _compiled(self, callee: Any) -> Any:
        stack = self._stack()
        if stack is None or getattr(callee, MADE_FOR_PLACE, False):
            return callee
        if is_dispatcher(callee):
            return (
                stack.compiled.jit_method(callee, None)
                if can_compile()
                else without_compiling(callee)
            )
        if is_kernel(callee) and not any(table.runs_python for table in stack.tables):
            return stack.joined.compiled.kernel(callee)
        return callee
