"""Links between compiled contexts: those that a context's code enters, and those that enter it."""

from __future__ import annotations

import weakref
from typing import TYPE_CHECKING, Any

from overlay.contexts.context import Context
from overlay.plugins.plugin import entered_plugins, interpreted

if TYPE_CHECKING:
    from overlay.compiled.engine import CompiledContext
    from overlay.compiled.targets import Target
    from overlay.plugins.plugin import Plugin

__all__ = ["LinkedContexts"]


class LinkedContexts:
    """Contexts linked to one by compiled code that enters other contexts.

    A change of a table ends the worlds of its context and of all contexts whose code enters it.

    outside: the contexts whose code enters code of this one.
    """

    def __init__(self, engine: CompiledContext) -> None:
        self._engine = engine
        self.outside: weakref.WeakSet[CompiledContext] = weakref.WeakSet()
        self._inside: dict[int, tuple[CompiledContext, CompiledContext]] = {}
        self._bare: list[CompiledContext] = []
        self._on: dict[str, CompiledContext] = {}
        self._with_plugins: list[CompiledContext] = []

    def on(self, target: Target) -> CompiledContext:
        """This context for code that is compiled for a target."""
        engine = self._engine
        if target is engine.target:
            return engine
        if target.name not in self._on:
            of, only_types = type(engine).of, engine.only_types
            made = of(engine.context, engine.interpretation, only_types=only_types, target=target)
            self._on[target.name] = made
        return self._on[target.name]

    def on_devices(self) -> list[CompiledContext]:
        """This context for code of other targets, as far as it was asked for."""
        return list(self._on.values())

    def with_plugins_of(self, function: Any, types: tuple[Any, ...]) -> CompiledContext:
        """This context with the plugins that stay active in a function, called with these
        types.
        """
        engine = self._engine
        plugins = entered_plugins(engine.plugins, function, types)
        interpretation = interpreted(plugins, engine.interpretation, function)
        if plugins is engine.plugins and interpretation is engine.interpretation:
            return engine
        return self._with(plugins, interpretation)

    @property
    def native(self) -> CompiledContext:
        """This context without the plugins that compiled code does not depend on."""
        engine = self._engine
        plugins = tuple(plugin for plugin in engine.plugins if not plugin.shares_native_cache)
        if len(plugins) == len(engine.plugins):
            return engine
        return self._with(plugins, engine.interpretation)

    def _with(self, plugins: tuple[Plugin, ...], interpretation: Any) -> CompiledContext:
        engine = self._engine
        context = engine.context.replace(plugins=plugins)
        of, only_types = type(engine).of, engine.only_types
        found = of(context, interpretation, only_types=only_types, target=engine.target)
        if found not in self._with_plugins:
            if found.rebound():
                found.begin_anew()
            self._with_plugins.append(found)
            found.linked.outside.add(engine)
        return found

    @property
    def bare(self) -> CompiledContext:
        """The context without tables in which ``nonoverlay`` compiles."""
        if not self._bare:
            engine = self._engine
            bare = type(engine)(Context(), is_bare=True, target=engine.target)
            bare.linked.outside.add(engine)
            self._bare.append(bare)
        return self._bare[0]

    def inside(self, inner: CompiledContext) -> CompiledContext:
        """This context with another one entered in it."""
        engine = self._engine
        inner = inner.linked.on(engine.target)
        if inner is engine:
            return engine
        found = self._inside.get(id(inner))
        if found is None:
            joined = inner
            if not engine.is_bare:
                # as with nested contexts in interpreted code: the inner one is the current one
                both = engine.context | inner.context
                context = inner.context.replace(tables=both.tables, plugins=both.plugins)
                joined = context.compiled.linked.on(engine.target)
            if joined.rebound():
                joined.begin_anew()
            joined.depth = max(joined.depth, inner.depth)
            joined.linked.outside.add(engine)
            found = self._inside[id(inner)] = inner, joined
        return found[1]

    def is_entered_by(self, outside: CompiledContext) -> None:
        """Record that code of another context enters code of this one: a change here ends its
        worlds too.
        """
        if outside is not self._engine:
            self.outside.add(outside)

    def all_inside(self) -> list[CompiledContext]:
        """This context and all contexts that its code enters, transitively."""
        found: list[CompiledContext] = [self._engine]
        for engine in found:
            found.extend(each for each in engine.linked._entered() if each not in found)
        return found

    def _entered(self) -> list[CompiledContext]:
        """The contexts that its own code enters directly."""
        joined = [joined for _, joined in self._inside.values()]
        barriers = list(self._engine.barriers.values())
        behind = [each for barrier in barriers for each in barrier.engines]
        return [*joined, *self._bare, *self._with_plugins, *behind]

    def all_outside(self) -> list[CompiledContext]:
        """This context and all contexts whose code enters it, transitively."""
        found: list[CompiledContext] = [self._engine]
        for engine in found:
            found.extend(each for each in list(engine.linked.outside) if each not in found)
        return found

    def all_linked(self) -> list[CompiledContext]:
        """All contexts whose worlds end where one ends that this context's code enters."""
        found = {id(e): e for inner in self.all_inside() for e in inner.linked.all_outside()}
        return list(found.values())
