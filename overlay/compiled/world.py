"""A world: what the tables of a context hold at one moment, and the code compiled under it."""

from __future__ import annotations

import functools
import inspect
import itertools
import types as python_types
import typing
import weakref
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from overlay.compiled import failures
from overlay.compiled.basis import Basis, Generated, Holder, View
from overlay.compiled.checked_methods import failing, failure_of_arguments, failure_of_result
from overlay.compiled.dispatch_types import (
    Unspellable,
    alternatives,
    hint_of,
    is_literal,
    is_method_of_container,
    underlying_type,
)
from overlay.compiled.gpu import Kernel
from overlay.compiled.numba.barrier_calls import Barriers
from overlay.compiled.numba.context_values import KnownContext, MakesBase, ReadsContext, Recurses
from overlay.compiled.numba.copies import copied
from overlay.compiled.numba.declared_signatures import callback_of, declared_by
from overlay.compiled.numba.dispatchers import InnerDispatcher
from overlay.compiled.numba.first_class import with_functions
from overlay.compiled.numba.hints import spelt
from overlay.compiled.numba.implementations import implementation
from overlay.compiled.numba.inferring import AskingCallStack
from overlay.compiled.numba.numba_types import (
    OWN_OPTIONS,
    Native,
    StandIn,
    Type,
    body_registered_as_jitable,
    is_dispatcher,
    knows,
    options_of,
    refused,
)
from overlay.compiled.numba.numba_typing import WorldTyping
from overlay.compiled.numba.parameter_kinds import given_by_position
from overlay.compiled.numba.pipeline import compiler_for
from overlay.compiled.numba.python_entries import EntryDispatcher
from overlay.compiled.numba.shown_ir import callable_of
from overlay.compiled.numba.ufuncs import is_kernel, kernel_in
from overlay.compiled.resolved_calls import (
    Body,
    Callee,
    Outcome,
    Way,
    as_type,
    by_position,
    calling,
    calling_attribute,
    has_code,
    readings,
    refuse_parameters,
    type_of,
)
from overlay.compiled.sharing import forget, frame
from overlay.compiled.watching import Watch
from overlay.contexts.context import (
    Context,
    call_next,
    current_context,
    nonoverlay,
    recurse,
    wrapped_in,
)
from overlay.core.dispatch import reachable, reads, resolve
from overlay.core.errors import NotCompilable
from overlay.core.jitted import own_options
from overlay.core.table import Method
from overlay.core.target import bound_to_object, describe, key_of_target
from overlay.generics import plum_methods
from overlay.ir import UNKNOWN
from overlay.plugins.known_functions import form_in_compiled_code, type_of_function
from overlay.plugins.plugin import entered_plugins

if TYPE_CHECKING:
    from overlay.compiled.engine import CompiledContext

# Said to numba in so many words: it would take what is left unsaid from whichever caller is the
# first to have a function compiled.
DEFAULTS: Final = {"error_model": "python", "fastmath": False}

__all__ = ["World"]


class World:
    """Resolves calls as the tables of one context say at one moment, and keeps what numba
    compiled so."""

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
        self.barriers = Barriers(self)
        self.watch = Watch()
        self.included: weakref.WeakSet[Basis] = weakref.WeakSet()
        self._views: dict[int, View] = {}
        self._stand_ins: dict[int, tuple[Any, Any]] = {}
        self._callees: dict[Any, Callee] = {}
        self._dispatchers: dict[Any, tuple[Any, InnerDispatcher]] = {}
        self._outcomes: dict[Any, Outcome] = {}
        self._implementations: dict[Any, tuple[Any, InnerDispatcher | None]] = {}
        self._kernels: dict[int, tuple[Any, Any, InnerDispatcher]] = {}
        self._limited: dict[Callee, InnerDispatcher] = {}
        self._kept: list[Any] = []
        self._asked: dict[Any, Any] = {}
        self._forms: dict[tuple[int, int], Any] = {}

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
        return self.engine.native.world(self.options) if self.plugins else self

    @functools.cached_property
    def bare(self) -> World:
        """The world of ``nonoverlay`` for code of this one."""
        return self if self.is_bare else self.engine.bare.world(self.options)

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

    # ---- what stands for a callable of the program ----

    def stand_in(self, value: Any, body: Body | None = None) -> Any | None:
        """What compiled code holds in place of a callable that the program mentions, or None
        where numba's own meaning is the right one.

        body: the method's body in which it is mentioned.
        """
        if value is call_next:
            if body is None:
                raise failures.outside_method()
            return self.callee(body.target, body.methods)
        known = self._stand_ins.get(id(value))
        if known is None:
            known = self._stand_ins[id(value)] = (value, self._make_stand_in(value))
        self._note_mention(value)
        return known[1]

    def _note_mention(self, value: Any) -> None:
        """The code that is being compiled depends on what stands for a callable."""
        compiled, kind = frame(), type(value)
        if compiled is None or issubclass(kind, (Holder, StandIn, nonoverlay)):
            return
        in_context = (
            issubclass(kind, (Context, EntryDispatcher, Kernel)) or wrapped_in(value) is not None
        )
        if in_context or value is recurse:
            compiled.needs_context()
        else:
            compiled.views(self, self.view_of(value))

    def _make_stand_in(self, value: Any) -> Any | None:
        if isinstance(value, (InnerDispatcher, Callee, Native)):
            return None
        form = form_in_compiled_code(value, on_device=self.target.is_device)
        if form is not None:
            return self.stand_in(form)
        if isinstance(value, (EntryDispatcher, Kernel)):
            return self.in_context(value.engine, value.function, value.options)
        if type(value) is Context:
            return KnownContext(value.compiled.on(self.target))
        wrapped = wrapped_in(value)
        if wrapped is not None:
            return self.in_context(wrapped[0].compiled, wrapped[1], self.options)
        if value is recurse:
            return Recurses()
        if value is nonoverlay:
            return MakesBase(self.bare)
        if isinstance(value, nonoverlay):
            function = value.function
            return self.bare.stand_in(function) or Native(function)
        if value is current_context:
            return ReadsContext()
        if self.is_target(value):
            return self.callee(value)
        target = bound_to_object(value)
        if target is not None and self.overlays(target):
            raise failures.bound_method(target)
        found = self.base(value)
        if self.plugins and isinstance(found, InnerDispatcher) and found.world is self:
            return self.callee(value)  # with which plugins it is entered is for them to say
        return None if isinstance(found, Native) and found.value is value else found

    def in_context(self, engine: CompiledContext, function: Any, options: Mapping[str, Any]) -> Any:
        """What stands for a function that runs in a context of its own, inside this one."""
        return self.engine.inside(engine).world(options).callee_in(engine, function)

    def is_target(self, value: Any) -> bool:
        """Whether what a call of this callable enters is a matter of its arguments."""
        return self.overlays(value) or plum_methods.is_function(value)

    def view_of(self, target: Any) -> View:
        """The methods of a target."""
        found = self._views.get(id(target))
        if found is None:
            found = self._views[id(target)] = View.of(target, self.tables)
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

    def callee(self, target: Any, after: tuple[Method, ...] = ()) -> Callee:
        """What stands for a target of which ``after`` are the methods gone through."""
        key = key_of_target(target), after
        found = self._callees.get(key)
        if found is None:
            found = self._callees[key] = Callee(self, target, after)
        return found

    def callee_in(self, context: CompiledContext, function: Any) -> Callee:
        """What stands for a function that is called in a context of its own, entered here."""
        key = key_of_target(function), context
        found = self._callees.get(key)
        if found is None:
            found = self._callees[key] = Callee(self, function, context=context)
        return found

    def callee_of_base(self, target: Any) -> Callee:
        """What stands for a target where it is called past its methods."""
        key = key_of_target(target), "base"
        found = self._callees.get(key)
        if found is None:
            found = self._callees[key] = Callee(self, target, is_base=True)
        return found

    def base(self, value: Any) -> Any:
        """What stands for a callable that no method is looked up for: its body compiled in
        this world, or what numba knows of it."""
        if is_kernel(value):
            return Native(self.kernel(value))
        callback = callback_of(value)
        if callback is not None:
            return self.dispatcher(callback)
        of_target = self.target.function_of(value)
        if of_target is not None:
            return self.dispatcher(of_target)
        jitable = body_registered_as_jitable(value)
        if jitable is not None:
            return self.dispatcher(jitable)
        if is_dispatcher(value):
            return self.dispatcher(value)
        in_c = isinstance(value, python_types.MethodDescriptorType)
        if in_c or is_method_of_container(value):
            return self.bare.dispatcher(calling_attribute(value.__name__))
        if has_code(value) and not knows(value):
            return self.dispatcher(value)
        return Native(value)

    def kernel(self, value: Any) -> Any:
        """What ``@vectorize`` or ``@guvectorize`` made, with its function compiled in this
        world."""
        if not self.makes_code:
            return value
        found = self._kernels.get(id(value))
        if found is None:
            found = self._kernels[id(value)] = value, *kernel_in(self, value)
        _, made, inner = found
        compiled = frame()
        if compiled is not None:
            compiled.needs_context(made)
            compiled.hands_on(inner)
        return made

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
        self, function: Any, body: Body | None = None, options: Mapping[str, Any] | None = None
    ) -> InnerDispatcher:
        """The dispatcher that compiles a Python function, or that of a numba dispatcher, in
        this world. options: those of an entry from Python."""
        if isinstance(function, InnerDispatcher):
            return function
        is_entry = options is not None
        refuse_parameters(function)
        key = id(function), None if body is None else body.key, _key_of_options(options)
        found = self._dispatchers.get(key)
        if found is None:
            own = options_of(function) if is_dispatcher(function) else own_options(function)
            merged = {**DEFAULTS, **self.options, **own, **(options or {})}
            merged = {name: v for name, v in merged.items() if name not in OWN_OPTIONS}
            pipeline = compiler_for(self, body)
            made = InnerDispatcher(self, function, body, merged, is_entry, pipeline)
            if self.native is not self:
                made.share(self.native.dispatcher(function, body, options))
            found = self._dispatchers[key] = (function, made)
        return found[1]

    def entry(
        self, entry: EntryDispatcher | Kernel, ways: tuple[Way, ...], args: Sequence[Type]
    ) -> InnerDispatcher:
        """The dispatcher for an entry from Python with these arguments, which the caller gave in
        these ways: of its function, or where that is a target itself, of a call of it."""
        function = entry.function
        if entry.body is None and self.is_target(function):
            return self.dispatcher(calling(function, ways), None, entry.options)
        world = self.entered(function, given_by_position(ways, args))
        return world.dispatcher(function, entry.body, entry.options)

    def as_dispatcher(self, callee: Callee) -> InnerDispatcher:
        """A Python function that calls a target, for what asks for a function with a body."""
        if any(callee.target is marker for p in self.plugins for marker in p.markers):
            raise refused(self, failures.marker_chosen(callee.target))
        ways = by_position(callee.arity)
        if callee.is_base:
            return self.dispatcher(calling(callee, ways))
        if callee.after:
            body = Body(callee.target, callee.after)
            return self.dispatcher(calling(call_next, ways), body)
        return self.dispatcher(calling(callee.target, ways))

    def with_functions(self, value: Any) -> Any:
        """A default with the functions in it as this world has them."""
        return with_functions(self, value)

    def limited(self, callee: Callee) -> InnerDispatcher:
        """The same, limited to the signatures that the target declares."""
        declared = declared_by(callee.target)
        if callee not in self._limited:
            made = self.dispatcher(copied(self.as_dispatcher(callee).original))
            made.declared = declared._replace(variables={})
            self._limited[callee] = made
        return self._limited[callee]

    # ---- what a call resolves to ----

    def outcome(self, callee: Callee, args: Sequence[Type], kwargs: Mapping[str, Type]) -> Outcome:
        """What a call of ``callee`` with arguments of these numba types enters.

        Raises AmbiguousMethod, and what a generated method raises.
        """
        self.overlays(callee.target)  # the code that is being compiled depends on the answer
        key = callee, tuple(args), tuple(kwargs.items())
        found = self._outcomes.get(key)
        if found is None:
            given, named = callee.positional(args, kwargs)
            arguments = [as_type(t) for t in (*given, *named.values())]
            found = self._resolve(callee, arguments, tuple(named))
            if self.plugins:
                self._enter(found, arguments)
            self._outcomes[key] = found
        compiled = frame()
        if compiled is not None and found.generated is not None:
            compiled.asks(found.generated)
        return found

    def _enter(self, outcome: Outcome, args: Sequence[Type]) -> None:
        """Have the plugins say in which world a call goes on."""
        run = outcome.callee
        if isinstance(run, Native):
            self.ask_to_enter(run.value, args)
        elif run.world is self:
            world = self.entered(run.function, args)
            if world is not self:
                outcome.callee = world.dispatcher(run.function, run.body)

    def entered(self, function: Any, args: Sequence[Type]) -> World:
        """The world of the plugins that go on with a function, called with these types."""
        if not self.plugins:
            return self
        engine = self.engine.entered(function, tuple(map(spelt, args)))
        return self if engine is self.engine else engine.world(self.options)

    def ask_to_enter(self, function: Any, args: Sequence[Type]) -> None:
        """Tell the plugins of a call of what is numba's own, where they have nothing to go on
        with. function: the callable, or its numba type."""
        found = callable_of(function) if isinstance(function, Type) else function
        key = id(found), tuple(args)
        if found is not UNKNOWN and key not in self._asked:
            self._asked[key] = found
            entered_plugins(self.plugins, found, tuple(map(spelt, args)))

    def _resolve(self, callee: Callee, args: list[Type], names: tuple[str, ...]) -> Outcome:
        method = self._method(callee, args, names)
        instead = None
        if method is not None:
            instead = method.table.chosen_compiled(method, callee.after, self.tables)
        for actual in itertools.product(*map(alternatives, args)):
            if list(actual) != args and self._method(callee, actual, names) is not method:
                raise NotCompilable(
                    f"{describe(callee.target)}({', '.join(map(str, args))}) is one method or "
                    "another by a value that may be None when the program runs",
                    notes=[("candidate", repr(method))] if method else (),
                    help="test for None before the call",
                )
        if method is None:
            return self._base_outcome(callee, args, names)
        implementation, generated = instead, None
        if instead is None:
            implementation, generated = self._implementation(method, args, names)
        if not (has_code(implementation) or is_dispatcher(implementation)):
            return Outcome(Native(implementation), method, generated=generated)
        body = Body(callee.target, (*callee.after, method))
        return Outcome(self.dispatcher(implementation, body), method, generated=generated)

    def _implementation(
        self, method: Method, args: Sequence[Type], names: tuple[str, ...]
    ) -> tuple[Any, Generated | None]:
        """The function of a method for these types; and of a generated one, that it was asked."""
        if not method.generated:
            return method.function, None
        if not method.table.interprets:
            below = [underlying_type(t) for t in args]
            if any(reads(method, call) for call in readings(below, names)):
                args = below
        plain, _ = readings(args, names)
        is_plain = plain.matches(method.signature(plain.count, plain.names))
        hints = tuple(self._hint_of(t, numpy=not is_plain) for t in args)
        made = Generated(method, hints, method.implementation(hints))
        return made.implementation, made

    def _hint_of(self, ty: Type, *, numpy: bool) -> Any:
        """The type that a generated method is given: for a function one that stands for it, in
        the context that it brings."""
        hint = hint_of(ty, numpy=numpy)
        function = callable_of(ty) if hint is Unspellable else UNKNOWN
        if function is UNKNOWN:
            return hint
        callee = getattr(ty, "callee", None)
        if isinstance(callee, Callee) and callee.context is not None:
            function = self._form_of(callee.context.context.wrap(function))
        elif self.tables and _has_no_tables(getattr(ty, "dispatcher", callee)):
            function = self._form_of(nonoverlay(function))
        return type_of_function(function)

    def _form_of(self, made: Any) -> Any:
        """What was first made for a function and the context that it brings: types that stand for
        functions tell them apart by identity."""
        inside = wrapped_in(made)
        context, function = inside or (None, made.function)
        return self._forms.setdefault((id(context), id(function)), made)

    def _method(
        self, callee: Callee, args: Sequence[Type], names: tuple[str, ...]
    ) -> Method | None:
        """The method for arguments of these types, by the resolver of both engines."""
        if callee.is_base:
            return None
        literal = any(map(is_literal, args)) and self._has_literals(callee.target)
        plain, numpy = readings(args, names, literal)
        return resolve(self.tables, callee.target, plain, callee.after, otherwise=numpy)

    def _has_literals(self, target: Any) -> bool:
        return any(m.depends_on == "value" for m in reachable(self.tables, target))

    def _base_outcome(self, callee: Callee, args: list[Type], names: tuple[str, ...]) -> Outcome:
        count = len(args) - len(names)
        if not plum_methods.is_function(callee.target):
            found = self.base(callee.target)
            if isinstance(found, Native):
                named = dict(zip(names, args[count:], strict=True))
                found = self.implementation(type_of(found), args[:count], named) or found
            return Outcome(found)
        given, plain = args[:count], [underlying_type(t) for t in args[:count]]
        method, result = plum_methods.resolved(
            callee.target,
            *(
                (
                    [hint_of(t, numpy=n) for t in given],
                    None if plain == given else [hint_of(t, numpy=n) for t in plain],
                )
                for n in (False, True)
            ),
        )
        return Outcome(self.base(method), None, result)

    def failing(
        self, outcome: Outcome, args: Sequence[Any], kws: Mapping[str, Any], returned: Type | None
    ) -> InnerDispatcher | None:
        """What raises CheckFailed in place of a method, if its table checks and the arguments,
        or a result of this type, are not what it says."""
        method, run = outcome.method, outcome.callee
        if method is None or not method.table.check or not isinstance(run, InnerDispatcher):
            return None
        if run.body is None:
            return None  # it raises already
        function = run.original
        if returned is None:
            message = failure_of_arguments(method, function, args, kws)
        else:
            message = failure_of_result(method, function, returned)
        if message is None:
            return None
        made = self.dispatcher(failing(run, message, len(args), at_once=returned is None))
        made.enters_methods = True
        return made

    def accepts(self, outcome: Outcome, returned: Type) -> bool:
        """Whether plum would return a result of this type as it is."""
        return outcome.result is Any or any(
            plum_methods.is_result(hint_of(ty), outcome.result)
            for ty in (returned, underlying_type(returned))
        )


def _has_no_tables(function: Any) -> bool:
    """Whether a function among the arguments is one that no table reaches."""
    is_of_world = isinstance(function, (Callee, InnerDispatcher))
    return is_of_world and not function.world.tables


def _key_of_options(options: Mapping[str, Any] | None) -> Any:
    """What tells an entry's options from others; None where it is no entry."""
    if options is None:
        return None
    return tuple((name, repr(value)) for name, value in sorted(options.items()))
