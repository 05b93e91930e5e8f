"""A world: what the tables of a context hold at one moment, and the code compiled under it."""

from __future__ import annotations

import functools
import inspect
import typing
import weakref
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from overlay.compiled import failures
from overlay.compiled.basis import Basis, MethodsOfTarget
from overlay.compiled.dispatch_types import hint_of
from overlay.compiled.glue import Way, by_position, calling
from overlay.compiled.gpu import Kernel
from overlay.compiled.numba.barrier_calls import Barriers
from overlay.compiled.numba.dispatchers import InnerDispatcher
from overlay.compiled.numba.first_class import with_functions
from overlay.compiled.numba.held_bodies import implementation
from overlay.compiled.numba.hints import spelt
from overlay.compiled.numba.inferring import AskingCallStack
from overlay.compiled.numba.interfaces import (
    copied,
    declared_by,
    given_by_position,
    refuse_parameters,
)
from overlay.compiled.numba.numba_types import (
    OWN_OPTIONS,
    Type,
    is_dispatcher,
    options_of,
    refused,
)
from overlay.compiled.numba.numba_typing import WorldTyping
from overlay.compiled.numba.pipeline import compiler_for
from overlay.compiled.numba.python_entries import EntryDispatcher
from overlay.compiled.numba.shown_ir import callable_of
from overlay.compiled.outcomes import Outcomes
from overlay.compiled.sharing import forget, frame
from overlay.compiled.stand_ins import StandIns, TargetStandIn
from overlay.compiled.watching import ReadsWatch
from overlay.contexts.context import call_next
from overlay.core.jitted import own_options
from overlay.generics import plum_methods
from overlay.ir import UNKNOWN
from overlay.plugins.plugin import entered_plugins

if TYPE_CHECKING:
    from overlay.compiled.engine import CompiledContext
    from overlay.core.dispatch import MethodChain

# Said to numba in so many words: it would take what is left unsaid from whichever caller is the
# first to have a function compiled.
DEFAULTS: Final = {"error_model": "python", "fastmath": False}

__all__ = ["World"]


class World:
    """The methods that the tables of one context have at one moment, and the functions that are
    compiled under them.

    stand_ins: what its code holds in place of callables. outcomes: what calls in its code enter.
    watch: what its code has read of the program.
    """

    def __init__(
        self, engine: CompiledContext, options: Mapping[str, Any], key: Hashable = ()
    ) -> None:
        self.engine = engine
        self.tables = engine.tables
        self.options = dict(options)
        self.key = key
        self.enters_numba = bool(options.get("enter_numba"))
        self.plugins = engine.plugins
        self.only_types = engine.only_types
        self.target = engine.target
        # whether what is compiled here becomes machine code of this process
        self.makes_code = not (self.only_types or self.target.is_device)
        self.typing = WorldTyping(self)
        if self.plugins:
            self.typing.callstack = AskingCallStack(self)
        self.stand_ins = StandIns(self)
        self.outcomes = Outcomes(self)
        self.watch = ReadsWatch()
        self.included: weakref.WeakSet[Basis] = weakref.WeakSet()
        self._views: dict[int, MethodsOfTarget] = {}
        self._dispatchers: dict[Any, tuple[Any, InnerDispatcher]] = {}
        self._implementations: dict[Any, tuple[Any, InnerDispatcher | None]] = {}
        self._limited: dict[TargetStandIn, InnerDispatcher] = {}
        self._kept: list[Any] = []
        self._asked: dict[Any, Any] = {}

    @property
    def is_bare(self) -> bool:
        """Whether it is a world of ``nonoverlay``, in no context."""
        return self.engine.is_bare

    @property
    def is_present(self) -> bool:
        """Whether no table has changed since it began."""
        return self.engine.holds(self)

    @functools.cached_property
    def native(self) -> World:
        """The world whose compiled code serves in this one, and the other way round."""
        return self.engine.linked.native.world(self.options) if self.plugins else self

    @functools.cached_property
    def bare(self) -> World:
        """The world of ``nonoverlay`` for code of this one."""
        return self if self.is_bare else self.engine.linked.bare.world(self.options)

    @functools.cached_property
    def barriers(self) -> Barriers:
        """The barriers that its code goes through."""
        return Barriers(self)

    def keep(self, thing: Any) -> None:
        """Keep alive what only messages of numba refer to."""
        self._kept.append(thing)

    def dispatchers(self) -> list[InnerDispatcher]:
        """What compiles the functions of the program here."""
        return [dispatcher for _, dispatcher in list(self._dispatchers.values())]

    def forget(self) -> None:
        """Have none of its code serve anywhere else."""
        for _, dispatcher in self._dispatchers.values():
            for code in dispatcher.codes.values():
                forget(code)

    # ---- the methods of a target ----

    def is_target(self, value: Any) -> bool:
        """Whether what a call of this callable enters is a matter of its arguments."""
        return self.overlays(value) or plum_methods.is_function(value)

    def view_of(self, target: Any) -> MethodsOfTarget:
        """The methods of a target."""
        found = self._views.get(id(target))
        if found is None:
            found = self._views[id(target)] = MethodsOfTarget.of(target, self.tables)
        return found

    def overlays(self, value: Any) -> bool:
        """Whether some table has a method for this target, or for ``+`` where it is ``+=``."""
        view, compiled = self.view_of(value), frame()
        if compiled is not None:
            compiled.views(self, view)
        return bool(view.methods)

    def method_target(self, receiver: Type, attribute: str) -> Any | None:
        """The target that ``receiver.attribute(...)`` calls, where it is overlaid."""
        hint = hint_of(receiver)
        cls = typing.get_origin(hint) or hint
        if not isinstance(cls, type):
            return None
        found = inspect.getattr_static(cls, attribute, None)
        return found if callable(found) and self.overlays(found) else None

    # ---- the functions that are compiled here ----

    def implementation(
        self, function: Any, args: Sequence[Type], kws: Mapping[str, Type]
    ) -> InnerDispatcher | None:
        """The body that a call of what is numba's own enters, or None where it is left to numba.

        function: its numba type, or the callable.
        """
        kept = function if isinstance(function, Type) else id(function)
        key = kept, tuple(args), tuple(kws.items())
        if key not in self._implementations:
            found = implementation(self, function, args, kws)
            made = None if found is None else self.dispatcher(found)
            self._implementations[key] = function, made
        return self._implementations[key][1]

    def dispatcher(
        self,
        function: Any,
        chain: MethodChain | None = None,
        options: Mapping[str, Any] | None = None,
    ) -> InnerDispatcher:
        """The dispatcher that compiles a Python function, or that of a numba dispatcher, in
        this world. chain: where ``call_next`` in it goes on, if it is a method's. options: those
        of an entry from Python."""
        if isinstance(function, InnerDispatcher):
            return function
        is_entry = options is not None
        refuse_parameters(function)
        key = id(function), chain, _key_of_options(options)
        found = self._dispatchers.get(key)
        if found is None:
            own = options_of(function) if is_dispatcher(function) else own_options(function)
            merged = {**DEFAULTS, **self.options, **own, **(options or {})}
            merged = {name: v for name, v in merged.items() if name not in OWN_OPTIONS}
            pipeline = compiler_for(self, chain)
            made = InnerDispatcher(self, function, chain, merged, is_entry, pipeline)
            if self.native is not self:
                made.share(self.native.dispatcher(function, chain, options))
            found = self._dispatchers[key] = (function, made)
        return found[1]

    def entry(
        self, entry: EntryDispatcher | Kernel, ways: tuple[Way, ...], args: Sequence[Type]
    ) -> InnerDispatcher:
        """The dispatcher for an entry from Python with these arguments, which the caller gave in
        these ways: of its function, or where that is a target itself, of a call of it."""
        function = entry.function
        if entry.chain is None and self.is_target(function):
            return self.dispatcher(calling(function, ways), None, entry.options)
        world = self.entered(function, given_by_position(ways, args))
        return world.dispatcher(function, entry.chain, entry.options)

    def as_dispatcher(self, callee: TargetStandIn) -> InnerDispatcher:
        """A Python function that calls a target, for what asks for a function with a body."""
        if any(callee.target is marker for p in self.plugins for marker in p.markers):
            raise refused(self, failures.marker_chosen(callee.target))
        ways = by_position(callee.arity)
        if callee.is_base:
            return self.dispatcher(calling(callee, ways))
        if callee.is_next:
            return self.dispatcher(calling(call_next, ways), callee.chain)
        return self.dispatcher(calling(callee.target, ways))

    def with_functions(self, value: Any) -> Any:
        """A default with the functions in it as this world has them."""
        return with_functions(self, value)

    def limited(self, callee: TargetStandIn) -> InnerDispatcher:
        """The same, limited to the signatures that the target declares."""
        declared = declared_by(callee.target)
        if callee not in self._limited:
            made = self.dispatcher(copied(self.as_dispatcher(callee).original))
            made.declared = declared._replace(variables={})
            self._limited[callee] = made
        return self._limited[callee]

    # ---- where plugins are ----

    def entered(self, function: Any, args: Sequence[Type]) -> World:
        """The world of the plugins that go on with a function, called with these types."""
        if not self.plugins:
            return self
        engine = self.engine.linked.with_plugins_of(function, tuple(map(spelt, args)))
        return self if engine is self.engine else engine.world(self.options)

    def ask_to_enter(self, function: Any, args: Sequence[Type]) -> None:
        """Tell the plugins of a call of what is numba's own, where they have nothing to go on
        with. function: the callable, or its numba type."""
        found = callable_of(function) if isinstance(function, Type) else function
        key = id(found), tuple(args)
        if found is not UNKNOWN and key not in self._asked:
            self._asked[key] = found
            entered_plugins(self.plugins, found, tuple(map(spelt, args)))


def _key_of_options(options: Mapping[str, Any] | None) -> Any:
    """What tells an entry's options from others; None where it is no entry."""
    if options is None:
        return None
    return tuple((name, repr(value)) for name, value in sorted(options.items()))
