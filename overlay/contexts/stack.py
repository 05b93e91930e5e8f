"""The stack of method tables in force in a thread or task."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable
from functools import cached_property
from typing import TYPE_CHECKING, Any

from overlay import _native
from overlay.contexts.report import Hits
from overlay.core import late_binding
from overlay.core.dispatch import MethodChain
from overlay.core.in_force import be_inside, leave_outside, natively, put_in_force, stack_in_force
from overlay.core.own_builtins import __builtins__
from overlay.core.table import LOCK, MethodTable
from overlay.generics.views import View
from overlay.plugins.plugin import Plugin, composed

if TYPE_CHECKING:
    from overlay.compiled import CompiledContext
    from overlay.contexts.context import Context
    from overlay.contexts.report import CallRecord
    from overlay.generics.declared import Generic
    from overlay.python.interception import InterceptingEngine
    from overlay.python.plugin_calls import PluginCalls

__all__ = ["Stack", "entered"]


class Stack:
    """Tables and plugins of nested contexts.

    tables: innermost first, each once. plugins: outermost first, each once. context: the innermost
    context. key: generic functions cache views under it until the stack is gone.

    Raises OverlayError where a plugin cannot do its work because of one further out.
    """

    def __init__(
        self,
        context: Context,
        outside: tuple[MethodTable, ...] = (),
        outer: Stack | None = None,
        plugins: tuple[Plugin, ...] | None = None,
    ) -> None:
        self.context = context
        self.tables = tuple(dict.fromkeys((*reversed(context.tables), *outside)))
        self.plugins = context.plugins if plugins is None else plugins
        if plugins is None and outer is not None and outer.plugins:
            self.plugins = composed(outer.plugins, context.plugins)
        self.interpretation: Any = None if outer is None else outer.interpretation
        self.key: Any = object() if _native.intercept is None else _native.intercept.Key()
        self.calls: PluginCalls | None = None  # stand-ins for callees, from plugins
        self._views: dict[int, View] = {}
        self._outer = None if outer is None else weakref.ref(outer)
        self.is_whole_program = False  # modules that are imported run in it
        self.is_alone = all(table.faithful for table in self.tables)
        self._alone: Stack | None = None
        self._program: weakref.ref[Stack] | None = None

    @classmethod
    def of_program(cls, context: Context, outer: Stack | None) -> Stack:
        """A stack of a whole program: modules that are imported run in it, too. It is another than
        that of calls in the context."""
        stack = cls(context, () if outer is None else outer.tables, outer)
        stack.is_whole_program = True
        return stack

    def view(self, generic: Generic) -> View:
        """The view that resolves calls of a generic function in this stack."""
        found = self._views.get(id(generic))
        if found is None or found.generic is not generic:
            found = natively(self._new_view, generic)
        return found

    def _new_view(self, generic: Generic) -> View:
        with LOCK:
            if not self._views:
                weakref.finalize(self, _forget_key, self.key, self._views).atexit = False
            made = View(generic, MethodChain.of(generic.function, self.tables))
            made.hits = Hits(self.records)
            made.stack = weakref.ref(self)
            self._views[id(generic)] = made
            generic.remember(self.key, made)
        return made

    @property
    def of_modules(self) -> Stack | None:
        """The stack in which imported modules run: that of the whole program, if it runs in one."""
        stack: Stack | None = self
        while stack is not None and not stack.is_whole_program:
            stack = None if stack._outer is None else stack._outer()
        return stack

    @property
    def records(self) -> tuple[CallRecord, ...]:
        """The call records of its contexts, innermost first."""
        outer = None if self._outer is None else self._outer()
        return (self.context.record, *(() if outer is None else outer.records))

    @cached_property
    def python(self) -> InterceptingEngine:
        """The Python engine for these tables and plugins. Raises UnsupportedPython where there can
        be none."""
        with entered(None):
            engine = late_binding.python_engine.load()(self)
        weakref.finalize(self, engine.release).atexit = False
        return engine

    @property
    def is_intercepted(self) -> bool:
        """Whether calls of all targets are resolved, not only those of generic functions."""
        return "python" in self.__dict__ or late_binding.can_intercept.load()()

    @property
    def alone(self) -> Stack:
        """The stack of those tables that interpret or are faithful, and of all plugins, for the own
        code of interpretations; this one if there are no other tables."""
        if self.is_alone:
            return self
        return natively(self._made_alone) if self._alone is None else self._alone

    def _made_alone(self) -> Stack:
        if not self.is_intercepted:  # own code calls no generic function of the program
            return self
        tables = [table for table in reversed(self.tables) if table.faithful]
        context = self.context.replace(tables=tables, strict=False, count_calls=False)
        made = self._alone = Stack(context, plugins=self.plugins)
        made.interpretation = self.interpretation
        made._program = weakref.ref(self.program)  # which holds this one
        _ = made.python  # while nothing is dispatched
        return made

    @property
    def program(self) -> Stack:
        """The stack in which the program's functions run: of one that is ``alone``, or was entered
        in such a one, the stack with all tables."""
        found = self if self._program is None else self._program()
        assert found is not None  # in force further out, as long as this one is
        return found

    def call(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Call a function with this stack in force, in place of the one that is."""
        engine = self.python
        if engine.modules != natively(len, sys.modules):
            engine.settle()
        if self.plugins:
            function = engine.quietly(engine.enter, function)
        return engine.pinned(engine.run(self, self.key, function, *args, **kwargs), self)

    @cached_property
    def joined(self) -> Context:
        """One context with all these tables and plugins."""
        tables = tuple(reversed(self.tables))
        if len(tables) == len(self.context.tables) and _same(self.plugins, self.context.plugins):
            return self.context
        return self.context.replace(tables=tables, plugins=self.plugins)

    def with_plugins(self, plugins: tuple[Plugin, ...], interpretation: Any) -> Stack:
        """A stack of these contexts in which only these plugins are active, and an abstract
        interpretation is in force."""
        context = self.context.replace(plugins=plugins)
        context.record = self.context.record
        outer = None if self._outer is None else self._outer()
        stack = Stack(context, self.tables, outer, plugins)
        stack.interpretation = interpretation
        return stack

    @property
    def compiled(self) -> CompiledContext:
        """The compiled engine for these tables and plugins."""
        return late_binding.compiled_context.load().of(self.joined, self.interpretation)

    def push(self, context: Context) -> Stack:
        """Enter one more context inside this stack; entering the innermost again changes
        nothing."""
        return self if context is self.context else natively(self._push, context)

    def _push(self, context: Context) -> Stack:
        # Held by the inner context and, weakly, by this stack: gone when either is gone.
        stack = context.stacks.get(self)
        if stack is None:
            stack = context.stacks.setdefault(self, Stack(context, self.tables, self))
            if self._program is not None:
                stack._program = weakref.ref(self.program.push(context))
        _ = stack.python  # while nothing is dispatched
        return stack


def _same(plugins: tuple[Plugin, ...], others: tuple[Plugin, ...]) -> bool:
    return len(plugins) == len(others) and all(a is b for a, b in zip(plugins, others, strict=True))


def _forget_key(key: object, views: dict[int, View]) -> None:
    for view in views.values():
        view.generic.forget_key(key)


class entered:  # noqa: N801 (reads as a statement)
    """``with entered(stack):`` puts these contexts in force for the block; None for none."""

    __slots__ = ("_inside", "_outer", "_stack")

    def __init__(self, stack: Stack | None) -> None:
        self._stack = stack

    def __enter__(self) -> None:
        self._outer = stack_in_force.get()
        put_in_force(self._stack)
        if self._stack is None:
            leave_outside(1)
        self._inside = be_inside(self._stack)

    def __exit__(self, *error: object) -> None:
        be_inside(self._inside)
        if self._stack is None:
            leave_outside(-1)
        put_in_force(self._outer)
