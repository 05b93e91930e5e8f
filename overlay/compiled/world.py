"""A world: a snapshot of a context's tables, and the code compiled under it."""

from __future__ import annotations

import functools
import inspect
import operator
import typing
import weakref
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from overlay.compiled.basis import Basis, MethodsOfTarget
from overlay.compiled.dispatch_types import hint_of
from overlay.compiled.glue import Way, by_position, calling, choosing, looking_up
from overlay.compiled.gpu import Kernel
from overlay.compiled.numba.array_operators import ufunc_called
from overlay.compiled.numba.barrier_calls import Barriers
from overlay.compiled.numba.chosen_functions import as_global, is_number
from overlay.compiled.numba.dispatchers import InnerDispatcher
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
    Native,
    Type,
    is_dispatcher,
    options_of,
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

# Passed to numba explicitly: otherwise it takes these options from the first caller that has a
# function compiled.
DEFAULTS: Final = {"error_model": "python", "fastmath": False}

__all__ = ["World"]


class World:
    """Snapshot of the methods in the tables of one context, with the functions compiled under it.

    stand_ins: replace callables in its code. outcomes: the resolutions of calls in its code. watch:
    the names and objects of the program that its code has read.
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
        # whether code compiled here becomes machine code of this process
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
        self._generated: dict[Hashable, InnerDispatcher] = {}

    @property
    def is_bare(self) -> bool:
        """Whether this is a world of ``nonoverlay``, outside all contexts."""
        return self.engine.is_bare

    @property
    def is_present(self) -> bool:
        """Whether no table has changed since the world was made."""
        return self.engine.holds(self)

    @functools.cached_property
    def native(self) -> World:
        """The world without the plugins that compiled code does not depend on; it and this one can
        use each other's compiled code."""
        return self.engine.linked.native.world(self.options) if self.plugins else self

    @functools.cached_property
    def bare(self) -> World:
        """The world of ``nonoverlay`` for code of this one."""
        return self if self.is_bare else self.engine.linked.bare.world(self.options)

    @functools.cached_property
    def barriers(self) -> Barriers:
        """The barriers that its code passes through."""
        return Barriers(self)

    def keep(self, thing: Any) -> None:
        """Keep an object alive to which only numba's error messages refer."""
        self._kept.append(thing)

    def dispatchers(self) -> list[InnerDispatcher]:
        """The dispatchers that compile functions of the program in this world."""
        return [dispatcher for _, dispatcher in list(self._dispatchers.values())]

    def forget(self) -> None:
        """Bar all code of this world from use in other worlds."""
        for _, dispatcher in self._dispatchers.values():
            for code in dispatcher.codes.values():
                forget(code)

    # ---- the methods of a target ----

    def is_target(self, value: Any) -> bool:
        """Whether the arguments of a call decide which implementation it enters."""
        return self.overlays(value) or plum_methods.is_function(value)

    def view_of(self, target: Any) -> MethodsOfTarget:
        """The methods of a target."""
        found = self._views.get(id(target))
        if found is None:
            found = self._views[id(target)] = MethodsOfTarget.of(target, self.tables)
        return found

    def overlays(self, value: Any) -> bool:
        """Whether a table has a method for this target, or, where it is ``+=``, for ``+``."""
        view, compiled = self.view_of(value), frame()
        if compiled is not None:
            compiled.views(self, view)
        return bool(view.methods)

    def method_target(self, receiver: Type, attribute: str) -> Any | None:
        """The target that ``receiver.attribute(...)`` calls, if it is overlaid; else None."""
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
        """The body that replaces an implementation of numba's own for a call, or None to use
        numba's.

        function: its numba type, or the callable.
        """
        ufunc = ufunc_called(self, function, args)
        if ufunc is not None:
            return self.dispatcher(ufunc)
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
        """The dispatcher that compiles a Python function, or that of a numba dispatcher, in this
        world. chain: the place at which ``call_next`` in a method continues. options: those of an
        entry from Python, None for other functions.
        """
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
        """The dispatcher for an entry from Python with these arguments, passed in these ways: of
        its function, or if that is a target itself, of a call of it."""
        function = entry.function
        if entry.looks_up and self.is_target(function):
            return self.dispatcher(calling(function, ways), None, entry.options)
        world = self.entered(function, given_by_position(ways, args))
        return world.dispatcher(function, entry.chain, entry.options)

    def as_dispatcher(self, callee: TargetStandIn) -> InnerDispatcher:
        """A Python function that calls a target, for uses that need a function with a body."""
        ways = by_position(callee.arity)
        if callee.is_base:
            return self.dispatcher(calling(callee, ways))
        if callee.is_next:
            return self.dispatcher(calling(call_next, ways), callee.chain)
        return self.dispatcher(calling(callee.target, ways))

    def generated(self, key: Hashable, make: Callable[[], Any]) -> InnerDispatcher:
        """The dispatcher of a Python function that is generated once for a key."""
        if key not in self._generated:
            self._generated[key] = self.dispatcher(make())
        return self._generated[key]

    def choosing(self, candidates: tuple[Type, ...], ways: tuple[Way, ...]) -> InnerDispatcher:
        """A Python function that calls one of some functions, given by their types, by its
        number."""

        def make() -> Any:
            return choosing([as_global(self, each) for each in candidates], ways, is_number)

        return self.generated((candidates, ways), make)

    def looking_up(self, keys: tuple[Any, ...], *, has_default: bool) -> InnerDispatcher:
        """A Python function that finds the value of a key among these, as a dict does."""
        key = tuple((type(each), each) for each in keys), has_default
        equal = Native(operator.eq)
        return self.generated(key, lambda: looking_up(keys, equal, has_default=has_default))

    def limited(self, callee: TargetStandIn) -> InnerDispatcher:
        """The function of ``as_dispatcher``, limited to the signatures that the target declares."""
        declared = declared_by(callee.target)
        if callee not in self._limited:
            made = self.dispatcher(copied(self.as_dispatcher(callee).original))
            made.declared = declared._replace(variables={})
            self._limited[callee] = made
        return self._limited[callee]

    # ---- plugins ----

    def entered(self, function: Any, args: Sequence[Type]) -> World:
        """The world of the plugins that stay active in a function called with these types."""
        if not self.plugins:
            return self
        engine = self.engine.linked.with_plugins_of(function, tuple(map(spelt, args)))
        return self if engine is self.engine else engine.world(self.options)

    def ask_to_enter(self, function: Any, args: Sequence[Type]) -> None:
        """Call the plugins' ``enter`` for a call of one of numba's own functions, in which they
        have no effect. function: the callable, or its numba type."""
        found = callable_of(function) if isinstance(function, Type) else function
        key = id(found), tuple(args)
        if found is not UNKNOWN and key not in self._asked:
            self._asked[key] = found
            entered_plugins(self.plugins, found, tuple(map(spelt, args)))


def _key_of_options(options: Mapping[str, Any] | None) -> Any:
    """Key of an entry's options; None for other functions."""
    if options is None:
        return None
    return tuple((name, repr(value)) for name, value in sorted(options.items()))
