"""Calls through a barrier in compiled code: their types, and the lookup of a variant.

A barrier is entered as a value of its own type, so that numba treats the call like any other:
arguments are converted to the variants' types, and exceptions propagate.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numba.core import cgutils, types
from numba.core.imputils import fix_returning_optional, impl_ret_new_ref, lower_builtin
from numba.core.types.functions import WeakType
from numba.core.typing.templates import Signature, signature
from numba.extending import models, register_model

from overlay.compiled import failures
from overlay.compiled.barrier import Barrier, Passed
from overlay.compiled.numba.context_values import value_of
from overlay.compiled.numba.exception_chains import TracedCalls
from overlay.compiled.numba.lookup import look_up
from overlay.compiled.numba.made_contexts import MadeContextType
from overlay.compiled.numba.memory_words import WORD, leaves, unknown_part, words
from overlay.compiled.numba.numba_types import StandIn, Type, has_code, refused
from overlay.compiled.numba.variants import (
    can_interpret,
    parameter_of,
    result_of,
)
from overlay.compiled.sharing import frame
from overlay.compiled.traces import TracePlace
from overlay.core.errors import OverlayError
from overlay.core.location import name_of
from overlay.core.target import key_of_target

if TYPE_CHECKING:
    from overlay.compiled.world import World

__all__ = ["Barriers", "Crosses"]


class BarrierType(WeakType, types.Opaque):
    """The type of one barrier."""

    def __init__(self, barrier: Barrier) -> None:
        self._store_object(barrier)
        super().__init__(f"{barrier!r} at {id(barrier):#x}")

    @property
    def barrier(self) -> Barrier:
        return self._get_object()


class KnownBarrier(StandIn):
    """Stand-in for a barrier."""

    def __init__(self, barrier: Barrier) -> None:
        self.barrier = barrier
        self._numba_type_ = BarrierType(barrier)


class Crosses(types.Callable, types.Opaque):
    """The type of the callable that enters a barrier, with it, a context, and the arguments."""

    def __init__(self) -> None:
        super().__init__("crosses")

    def get_call_type(self, context: Any, args: Sequence[Type], kws: Mapping[str, Type]) -> Any:
        barrier = args[0].barrier
        given = tuple(parameter_of(ty).type for ty in args[2:])
        return signature(barrier.result, args[0], args[1], *given)

    def get_call_signatures(self) -> Any:
        return (), True

    def get_impl_key(self, sig: Signature) -> Any:
        return _crossing


register_model(BarrierType)(models.OpaqueModel)
register_model(Crosses)(models.OpaqueModel)


# ---- types --------------------------------------------------------------------------------


class Barriers:
    """The barriers in code of one world."""

    def __init__(self, world: World) -> None:
        self.world = world

    def signature(
        self,
        made: MadeContextType,
        args: Sequence[Type],
        kws: Mapping[str, Type],
        *,
        dropped: int,
    ) -> Signature:
        """The signature of a call ``context(f, ...)`` or ``recurse(context, f, ...)``; the function
        is the last of the first ``dropped`` arguments."""
        if len(args) < dropped:
            raise refused(self.world, failures.entered_without_function())
        function, rest = args[dropped - 1], args[dropped:]
        if self.world.target.is_device:
            raise refused(self.world, failures.entered_on_device())
        barrier = self.stand_in(made, function, rest, kws, is_base=dropped == 2)
        return signature(barrier.barrier.result, *args, *kws.values())

    def stand_in(
        self,
        made: MadeContextType,
        function: Type,
        args: Sequence[Type],
        kws: Mapping[str, Type],
        *,
        is_base: bool,
    ) -> KnownBarrier:
        """The barrier of such a call; a typing error where there cannot be one."""
        try:
            return KnownBarrier(self._barrier(made, function, args, kws, is_base))
        except OverlayError as error:
            raise refused(self.world, error) from error

    def _barrier(
        self,
        made: MadeContextType,
        function: Type,
        args: Sequence[Type],
        kws: Mapping[str, Type],
        is_base: bool,
    ) -> Barrier:
        world, target, compiled = self.world, value_of(function), frame()
        if compiled is not None:
            compiled.crosses_barrier()
        if target is None:
            raise failures.entered_without_function()
        for name, ty in made.fields:
            part = unknown_part(ty)
            if part is not None:
                raise failures.unknown_to_compiled_code(name, str(part))
        parameters = tuple(map(parameter_of, (*args, *kws.values())))
        engine = world.engine.linked.inside(made.template)
        world.keep(engine)
        result, typed_in = result_of(world, engine, made, target, parameters, tuple(kws), is_base)
        key = (
            key_of_target(target),
            is_base,
            made.fields,
            tuple(p.type if p.constant is None else id(p.constant[0]) for p in parameters),
            tuple(kws),
            tuple((name, repr(value)) for name, value in sorted(world.options.items())),
            result,
        )
        found = engine.barriers.get(key)
        if found is None:
            found = engine.barriers[key] = Barrier(
                engine,
                made.fields,
                target,
                parameters,
                tuple(kws),
                world.options,
                result,
                is_base=is_base,
                can_interpret=can_interpret(parameters, result),
            )
        found.entered_by(world.engine, typed_in)
        return found


# ---- code generation ----------------------------------------------------------------------


def _crossing() -> None:
    """Key of the implementation."""


@lower_builtin(_crossing, types.VarArg(types.Any))
def _cross(context: Any, builder: Any, sig: Any, args: Any, loc: Any = None) -> Any:
    return _Crossing(context, builder, sig, args, loc).write()


def place_of(target: Any) -> TracePlace:
    """The start of a target's body; for a target without a body, a place in no file."""
    function = getattr(target, "py_func", target)
    return (
        TracePlace.of(function) if has_code(function) else TracePlace(name_of(target), "<none>", 0)
    )


class _Crossing:
    """Generates the code of one call."""

    def __init__(self, context: Any, builder: Any, sig: Any, args: Any, loc: Any) -> None:
        self.context = context
        self.builder = builder
        self.sig = sig
        self.barrier: Barrier = sig.args[0].barrier
        self.types = sig.args[2:]
        self.values = args[2:]
        self.loc = loc
        self.callee = place_of(self.barrier.target)
        self.leaves = [
            leaf
            for index, (_, ty) in enumerate(sig.args[1].fields)
            for leaf in leaves(builder, ty, builder.extract_value(args[1], index))
        ]
        self.pyapi = context.get_python_api(builder)

    def write(self) -> Any:
        builder, barrier = self.builder, self.barrier
        given = [
            word
            for leaf, value in self.leaves
            for word in words(self.context, builder, leaf, value)
        ]
        result = cgutils.alloca_once(builder, self.context.get_value_type(self.sig.return_type))
        function = cgutils.alloca_once(builder, WORD)
        builder.store(look_up(builder, barrier.table, given), function)
        call, end = (builder.append_basic_block(f"barrier.{n}") for n in ("call", "end"))
        unseen = builder.icmp_unsigned("==", builder.load(function), WORD(0))
        with cgutils.if_unlikely(builder, unseen):
            self._ask(given, function, result, end)
        builder.branch(call)

        builder.position_at_end(call)
        builder.store(self._call(builder.load(function)), result)
        builder.branch(end)
        builder.position_at_end(end)
        return builder.load(result)

    def _call(self, function: Any) -> Any:
        """Call a variant, like numba's own ``user_function``."""
        context, builder, returned = self.context, self.builder, self.sig.return_type
        kind = context.call_conv.get_function_type(returned, self.types)
        pointer = builder.inttoptr(function, kind.as_pointer())
        status, value = context.call_conv.call_function(
            builder, pointer, returned, self.types, self.values
        )
        if isinstance(context.call_conv, TracedCalls):
            context.call_conv.enters(status, self.callee)
        with cgutils.if_unlikely(builder, status.is_error):
            context.call_conv.return_status_propagate(builder, status)
        value = fix_returning_optional(context, builder, self.sig, status, value)
        return impl_ret_new_ref(context, builder, returned, value)

    # ---- calls to Python ----

    def _ask(self, given: Sequence[Any], function: Any, result: Any, end: Any) -> None:
        """Call Python to find the variant, or to run the call."""
        builder, pyapi = self.builder, self.pyapi
        place = cgutils.alloca_once(builder, WORD, max(len(given), 1))
        for index, word in enumerate(given):
            builder.store(word, builder.gep(place, (WORD(index),)))
        gil = pyapi.gil_ensure()
        environment = self.context.get_env_manager(builder)
        address = pyapi.long_from_longlong(builder.ptrtoint(place, WORD))
        find, run = self.barrier.entrances
        found = self._call_python(find, [address, *self._boxed(environment, self.leaves)], gil)
        builder.store(pyapi.long_as_longlong(found), function)
        pyapi.decref(found)
        if self.barrier.can_interpret:
            cold = builder.icmp_unsigned("==", builder.load(function), WORD(0))
            with builder.if_then(cold):
                self._interpret(run, environment, result, gil)
                builder.branch(end)
        pyapi.gil_release(gil)

    def _interpret(self, run: Any, environment: Any, result: Any, gil: Any) -> None:
        parameters = zip(self.barrier.parameters, self.types, self.values, strict=True)
        given = [(ty, value) for each, ty, value in parameters if each.constant is None]
        objects = self._boxed(environment, [*self.leaves, *given])
        returned = self._call_python(run, objects, gil)
        native = self.pyapi.to_native_value(self.sig.return_type, returned)
        self.pyapi.decref(returned)
        if callable(native.cleanup):
            native.cleanup()
        with cgutils.if_unlikely(self.builder, native.is_error):
            self._raise(gil)
        self.builder.store(native.value, result)
        self.pyapi.gil_release(gil)

    def _boxed(self, environment: Any, values: Sequence[tuple[Type, Any]]) -> list[Any]:
        found: list[Any] = []
        for ty, value in values:
            if self.context.enable_nrt:
                self.context.nrt.incref(self.builder, ty, value)  # boxing takes a reference
            found.append(self.pyapi.from_native_value(ty, value, environment))
        return found

    def _call_python(self, function: Any, objects: list[Any], gil: Any) -> Any:
        """The result of a Python callable, which the barrier keeps alive."""
        # numba then treats the code as valid in this process only
        callee = self.context.add_dynamic_addr(self.builder, id(function), "barrier")
        callee = self.builder.bitcast(callee, self.pyapi.pyobj)
        found = self.pyapi.call_function_objargs(callee, objects)
        for each in objects:
            self.pyapi.decref(each)
        with cgutils.if_unlikely(self.builder, cgutils.is_null(self.builder, found)):
            self._raise(gil)
        return found

    def _raise(self, gil: Any) -> None:
        """Raise in compiled code the exception that Python has raised."""
        self.pyapi.err_clear()
        self.pyapi.gil_release(gil)
        convention = self.context.call_conv
        if isinstance(convention, TracedCalls):
            convention.return_passed(self.builder, Passed, self.callee)
        else:
            convention.return_user_exc(self.builder, Passed)
