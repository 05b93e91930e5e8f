"""Stand-ins: objects that compiled code of a world holds in place of the program's callables."""

from __future__ import annotations

import functools
import inspect
import types as python_types
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numba import types

from overlay.compiled import failures
from overlay.compiled.basis import Holder
from overlay.compiled.dispatch_types import is_method_of_container
from overlay.compiled.glue import applying, calling_attribute
from overlay.compiled.gpu import Kernel
from overlay.compiled.numba.container_values import HeldContainer
from overlay.compiled.numba.context_values import KnownContext, MakesBase, ReadsContext, Recurses
from overlay.compiled.numba.dispatchers import InnerDispatcher
from overlay.compiled.numba.held_bodies import is_kernel, kernel_in
from overlay.compiled.numba.interfaces import callback_of
from overlay.compiled.numba.numba_types import (
    CalleeType,
    Native,
    StandIn,
    body_registered_as_jitable,
    has_code,
    is_dispatcher,
    knows,
)
from overlay.compiled.numba.python_entries import EntryDispatcher
from overlay.compiled.sharing import frame
from overlay.contexts.context import (
    Context,
    call_next,
    current_context,
    nonoverlay,
    recurse,
    wrapped_in,
)
from overlay.core.dispatch import MethodChain
from overlay.core.target import (
    as_positional,
    bound_to_object,
    describe,
    signature_of,
)
from overlay.plugins.known_functions import form_in_compiled_code

if TYPE_CHECKING:
    from overlay.compiled.engine import CompiledContext
    from overlay.compiled.world import World

__all__ = ["StandIns", "TargetStandIn"]


class TargetStandIn(StandIn):
    """Stand-in of a target in compiled code; a call resolves to a method by its types.

    chain: the position in the chain of methods at which the call begins. is_base: the call skips
    all methods. context: the context that the call enters, where the target brings its own. held:
    the callable of the program, where the target is reached by another one.
    """

    def __init__(
        self,
        world: World,
        chain: MethodChain,
        *,
        is_base: bool = False,
        context: CompiledContext | None = None,
        held: Any = None,
    ) -> None:
        self.world = world
        self.chain = chain
        self.target = chain.target
        self.is_next = bool(chain.passed)
        self.is_base = is_base
        self.context = context
        self.held = chain.target if held is None else held
        self.signature: inspect.Signature | None = signature_of(chain.target)
        self._numba_type_ = CalleeType(self)

    def __repr__(self) -> str:
        return f"<overlaid {describe(self.target)}>"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"{self!r} stands for a target in compiled code only")

    def in_python(self) -> Any:
        if self.is_next:
            raise failures.next_in_block(self.target)
        return self.target

    @functools.cached_property
    def value(self) -> Any:
        """The callable of the program that is called so: it brings its context, or none."""
        if self.held is not self.target:
            return self.held
        if self.context is not None:
            return self.context.context.wrap(self.target)
        return nonoverlay(self.target) if self.is_base else self.target

    @property
    def arity(self) -> int | None:
        """The number of arguments that the target takes, or None where it varies."""
        if self.signature is None:
            return None
        parameters = self.signature.parameters.values()
        kinds = inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD
        fixed = all(p.kind in kinds and p.default is p.empty for p in parameters)
        return len(parameters) if fixed else None

    def positional(
        self, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """The arguments of a call with as many as possible given by position."""
        return as_positional(self.signature, tuple(args), kwargs)


class StandIns:
    """The stand-ins of one world, one for each callable that its code mentions."""

    def __init__(self, world: World) -> None:
        self.world = world
        self._made: dict[int, tuple[Any, Any]] = {}
        self._callees: dict[Any, TargetStandIn] = {}
        self._kernels: dict[int, tuple[Any, Native]] = {}
        self._forms: dict[int, tuple[Any, functools.partial[Any]]] = {}
        self._containers: dict[int, HeldContainer] = {}

    def of(self, value: Any, chain: MethodChain | None = None) -> Any | None:
        """The stand-in of a callable that the program mentions, or None where numba's own
        implementation is used.

        chain: the position at which ``call_next`` continues, in the body of a method.
        """
        if value is call_next:
            if chain is None:
                raise failures.outside_method()
            return self.at(chain)
        known = self._made.get(id(value))
        if known is None:
            known = self._made[id(value)] = (value, self._stand_in_for(value))
        self._note_mention(value, known[1])
        return known[1]

    def _note_mention(self, value: Any, stand_in: Any) -> None:
        """Record that the code being compiled depends on the stand-in of a callable."""
        compiled, kind = frame(), type(value)
        if compiled is not None and isinstance(stand_in, Native):
            stand_in.note(compiled)
        if compiled is None or issubclass(kind, (Holder, StandIn, nonoverlay)):
            return
        in_context = (
            issubclass(kind, (Context, EntryDispatcher, Kernel)) or wrapped_in(value) is not None
        )
        if in_context or value is recurse:
            compiled.needs_context()
        else:
            compiled.views(self.world, self.world.view_of(value))

    def _stand_in_for(self, value: Any) -> Any | None:
        if isinstance(value, (InnerDispatcher, TargetStandIn, Native)):
            return None
        form = self._form(value)
        if form is not None:
            return self.callee(value) if self.world.is_target(value) else self.of(form)
        if isinstance(value, (EntryDispatcher, Kernel)):
            return self.in_context(value.engine, value.function, value.options, value)
        if type(value) is Context:
            return KnownContext(value.compiled.linked.on(self.world.target))
        wrapped = wrapped_in(value)
        if wrapped is not None:
            return self.in_context(wrapped[0].compiled, wrapped[1], self.world.options, value)
        if value is recurse:
            return Recurses()
        if value is nonoverlay:
            return MakesBase(self.world.bare)
        if isinstance(value, nonoverlay):
            function, bare = value.function, self.world.bare.stand_ins
            found = bare.of(function)
            if found is None or isinstance(found, InnerDispatcher):
                return bare.callee(function, held=value)
            return found
        if value is current_context:
            return ReadsContext()
        if self.world.is_target(value):
            return self.callee(value)
        target = bound_to_object(value)
        if target is not None and self.world.overlays(target):
            raise failures.bound_method(target)
        found = self.base(value)
        if isinstance(found, InnerDispatcher):
            is_asked = bool(self.world.plugins) and found.world is self.world
            # the plugins decide with which plugins it is entered; what another function stands
            # for stays itself, where it is compared or returned (numba knows callbacks)
            stands_for = found.function is not value and callback_of(value) is None
            if is_asked or stands_for:
                return self.callee(value)
        return None if isinstance(found, Native) and found.value is value else found

    def _form(self, value: Any) -> Any:
        return form_in_compiled_code(value, on_device=self.world.target.is_device)

    def in_context(
        self,
        engine: CompiledContext,
        function: Any,
        options: Mapping[str, Any],
        held: Any = None,
    ) -> Any:
        """The stand-in of a function that runs in a context of its own, inside this one; one that
        brings a context itself, or has another form in compiled code, is entered.
        """
        inner = self.world.engine.linked.inside(engine)
        while not inner.world(options).is_target(function):
            if isinstance(function, nonoverlay):  # outside all contexts
                if held is None:
                    return self.of(function)
                return self.world.bare.stand_ins.callee(function.function, held=held)
            form = self._form(function)
            wrapped = wrapped_in(function)
            if form is not None:
                function = form
            elif isinstance(function, EntryDispatcher):
                engine, options = engine.linked.inside(function.engine), function.options
                function = function.function
            elif wrapped is not None:
                engine, function = engine.linked.inside(wrapped[0].compiled), wrapped[1]
            else:
                break
            inner = self.world.engine.linked.inside(engine)
        world = inner.world(options)
        return world.stand_ins.callee(function, context=engine, held=held)

    def callee(
        self,
        target: Any,
        *,
        is_base: bool = False,
        context: CompiledContext | None = None,
        held: Any = None,
    ) -> TargetStandIn:
        """The stand-in of a target. is_base: calls skip its methods. context: the target's own
        context, which the call enters. held: the callable of the program that brings it.
        """
        chain = MethodChain.of(target, self.world.tables)
        return self.at(chain, is_base=is_base, context=context, held=held)

    def at(
        self,
        chain: MethodChain,
        *,
        is_base: bool = False,
        context: CompiledContext | None = None,
        held: Any = None,
    ) -> TargetStandIn:
        """The stand-in of a target at a position in its chain."""
        key = chain, is_base, context, id(held)  # which the stand-in keeps alive
        found = self._callees.get(key)
        if found is None:
            found = TargetStandIn(self.world, chain, is_base=is_base, context=context, held=held)
            self._callees[key] = found
        return found

    def base(self, value: Any) -> Any:
        """The stand-in of a callable that is called without method lookup: its body compiled in
        this world, or numba's own implementation.
        """
        form = self._form(value)
        if form is not None:
            found = self.of(form) or self.base(form)
            if not isinstance(found, TargetStandIn):
                return found
            # it brings its own context: a function that calls it, one for each object
            _, calling = self._forms.setdefault(id(value), (value, functools.partial(form)))
            return self.world.dispatcher(applying(calling))
        if is_kernel(value):
            return self._kernel(value)
        if type(value) is functools.partial:
            return self.world.dispatcher(applying(value))
        callback = callback_of(value)
        if callback is not None:
            return self.world.dispatcher(callback)
        of_target = self.world.target.function_of(value)
        if of_target is not None:
            return self.world.dispatcher(of_target)
        jitable = body_registered_as_jitable(value)
        if jitable is not None:
            return self.world.dispatcher(jitable)
        if is_dispatcher(value):
            return self.world.dispatcher(value)
        in_c = isinstance(value, python_types.MethodDescriptorType)
        if in_c or is_method_of_container(value):
            return self.world.bare.dispatcher(calling_attribute(value.__name__))
        if has_code(value) and not knows(value):
            return self.world.dispatcher(value)
        return Native(value)

    def container(self, value: Any) -> HeldContainer:
        """The stand-in of a container of functions, with what is in it now."""
        found = self._containers.get(id(value))
        if found is None or not found.is_current():
            found = self._containers[id(value)] = HeldContainer(self.world, value)
            self.world.keep(found)
        return found

    def is_callable(self, value: Any) -> bool:
        """Whether compiled code can call a callable that is no Python function."""
        found = self.of(value)
        if found is not None:
            return issubclass(type(found._numba_type_), types.Callable)
        return Native(value).type_known is not None

    def kernel(self, value: Any) -> Any:
        """A kernel made by ``@vectorize`` or ``@guvectorize``, with its function compiled in this
        world.
        """
        return self._kernel(value).value

    def _kernel(self, value: Any) -> Native:
        if not self.world.makes_code:
            return Native(value)
        found = self._kernels.get(id(value))
        if found is None:
            found = self._kernels[id(value)] = value, Native(*kernel_in(self.world, value))
        return found[1]
