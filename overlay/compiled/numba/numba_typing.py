"""Type inference of numba in a world.

A world has its own typing context: a view of numba's that shares all of its tables, which makes it
cheap, and that differs for the callables of the program. numba's own functions are typed, and
lowered, by numba's own contexts: overlays do not enter numba's implementations of builtins and
numpy functions, as they do not enter C functions in the interpreter.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from numba.core import errors, types
from numba.core.registry import cpu_target
from numba.core.typing.context import CallStack
from numba.core.typing.context import Context as TypingContext
from numba.core.typing.templates import Signature, signature

from overlay.compiled import failures
from overlay.compiled.basis import Holder
from overlay.compiled.dispatch_types import classes_differ, underlying_type
from overlay.compiled.numba.chosen_functions import (
    ChosenType,
    ObjectType,
    chosen_among,
    compared,
    has_chosen,
    uniform,
)
from overlay.compiled.numba.container_values import (
    attribute_of_container,
    is_container,
    iterated,
    refuse,
)
from overlay.compiled.numba.context_state import Box
from overlay.compiled.numba.context_values import (
    BindsType,
    ClassType,
    ContextType,
    Enters,
    KnownType,
    PluginClassType,
    ReadsContextType,
    ReplacesMadeType,
    ReplacesType,
    attribute_of,
    handed_to,
)
from overlay.compiled.numba.joined_contexts import joined
from overlay.compiled.numba.made_contexts import MadeContextType
from overlay.compiled.numba.numba_types import (
    BoundCallee,
    CalleeType,
    Native,
    Type,
    Unpacked,
    Written,
    localised,
    numba_typing,
    refused,
    shown_types,
    type_of_constant,
)
from overlay.compiled.numba.number_values import made_of_interpretation
from overlay.compiled.sharing import frame
from overlay.core.errors import OverlayError

if TYPE_CHECKING:
    from overlay.compiled.numba.dispatchers import InnerDispatcher
    from overlay.compiled.outcomes import CompiledOutcome
    from overlay.compiled.stand_ins import TargetStandIn
    from overlay.compiled.world import World

__all__ = ["OURS", "WorldTyping", "is_written_by_numba"]

# Functions that numba calls for an instruction, or for a loop that it unrolls: where the program
# itself calls an overlaid one, a stand-in has replaced it by now.
WRITTEN_BY_NUMBA = (bool, len, range, slice, str, tuple)
# Operations of numba on tuples whose items have one type only.
ONE_BY_ONE = (operator.getitem, "getiter", enumerate, zip, reversed)
IDENTITY = (operator.is_, operator.is_not)
# What a container of functions is when it is given to these.
USES: Final = {operator.setitem: "changed", operator.delitem: "changed"}
OURS = (
    CalleeType,
    BoundCallee,
    ChosenType,
    ObjectType,
    Enters,
    BindsType,
    ReadsContextType,
    MadeContextType,
    ReplacesType,
    ReplacesMadeType,
    PluginClassType,
    ClassType,
    types.Dispatcher,
)


def is_written_by_numba(value: Any) -> bool:
    """Whether numba may have generated a call of it for an instruction such as a branch."""
    return any(value is written for written in WRITTEN_BY_NUMBA)


class _Calls(CallStack):
    """The functions whose types are being inferred."""

    def match(self, py_func: Any, args: Any) -> Any:
        found, compiled = super().match(py_func, args), frame()
        if found is not None and compiled is not None:
            compiled.calls_again(py_func, tuple(args))
        return found


class WorldTyping(TypingContext):
    """numba's typing context, with the callables of the program replaced by those of a world."""

    def __init__(self, world: World) -> None:
        cpu_target.target_context.refresh()
        vars(self).update(vars(world.target.typing))
        self.callstack: CallStack = _Calls()
        self.world = world

    def __deepcopy__(self, copied: dict[int, Any]) -> WorldTyping:
        return self  # some versions of numba deep-copy the blocks that they lift

    def refresh(self) -> None:
        cpu_target.target_context.refresh()

    def resolve_value_type(self, val: Any) -> Type:
        if is_written_by_numba(val) or not callable(val):
            return localised(self.world, numba_typing().resolve_value_type(val))
        try:
            stand_in = self.world.stand_ins.of(val)
        except OverlayError as error:
            raise refused(self.world, error) from error
        if stand_in is None:
            return numba_typing().resolve_value_type(val)
        return stand_in._numba_type_

    def unify_pairs(self, first: Type, second: Type) -> Type | None:
        if first == second:
            return first
        if isinstance(first, types.List) and isinstance(second, types.List) and has_chosen(first):
            raise refused(self.world, failures.lists_of_functions())
        found = chosen_among(self.world, first, second) or super().unify_pairs(first, second)
        if found is None and _represents_array(first) != _represents_array(second):
            arrays = [each for each in (first, second) if isinstance(each, types.Array)]
            if arrays:
                raise refused(self.world, failures.arrays_joined(str(arrays[0])))
        return found

    def resolve_getattr(self, typ: Type, attr: str) -> Type | None:
        if isinstance(typ, types.Module):
            value = getattr(typ.pymod, attr, None)
            if callable(value):
                try:
                    return self.resolve_value_type(value)
                except ValueError:
                    return numba_typing().resolve_getattr(typ, attr)
        if isinstance(typ, MadeContextType):
            return self._attribute_of_made(typ, attr)
        if isinstance(typ, (ContextType, KnownType)):
            return self._attribute_of_constant(typ, attr)
        if is_container(typ):
            return attribute_of_container(self.world, typ, attr)
        found = numba_typing().resolve_getattr(typ, attr)
        return self._bound(typ, attr, found) or found

    def _attribute_of_constant(self, typ: Type, attr: str) -> Type | None:
        try:
            found = attribute_of(self.world, typ, attr)
        except AttributeError:
            return None
        if isinstance(found, Box):
            return numba_typing().resolve_function_type(found.load._numba_type_, (), {}).return_type
        return self.resolve_value_type(found)

    def _attribute_of_made(self, typ: MadeContextType, attr: str) -> Type | None:
        if attr == "replace":
            return ReplacesMadeType(typ)
        known = dict(typ.fields).get(attr)
        return known or self._attribute_of_constant(ContextType(typ.template), attr)

    def _bound(self, receiver: Type, attribute: str, base: Type | None) -> Type | None:
        if isinstance(attribute, Written):
            return None
        target = self.world.method_target(receiver, attribute)
        in_python = isinstance(receiver, types.ClassInstanceType)
        if target is not None:
            function = self.world.stand_ins.callee(target)._numba_type_
            return BoundCallee(function, receiver, attribute, None if in_python else base)
        if not in_python:
            return None
        if attribute in receiver.jit_methods:
            method = self.resolve_value_type(receiver.jit_methods[attribute])
            return BoundCallee(method, receiver, attribute, None)
        if attribute in receiver.jit_static_methods:
            return self.resolve_value_type(receiver.jit_static_methods[attribute])
        if attribute in receiver.jit_props:
            getter = self.resolve_value_type(receiver.jit_props[attribute]["get"])
            return getter.get_call_type(self, (receiver,), {}).return_type
        return None

    def resolve_setattr(self, target: Type, attr: str, value: Type) -> Signature | None:
        found = numba_typing().resolve_setattr(target, attr, value)
        if isinstance(target, types.ClassInstanceType) and "set" in target.jit_props.get(attr, ()):
            setter = self.resolve_value_type(target.jit_props[attr]["set"])
            return setter.get_call_type(self, (target, value), {})
        return found

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        if isinstance(func, types.Optional) and isinstance(func.type, OURS):
            func = func.type  # what dict.get gives: calling None is a TypeError
        if isinstance(func, CalleeType) and func.callee.context is not None:
            inner = func.callee.world
            args = [handed_to(inner, each, self.world) for each in args]
            kws = {name: handed_to(inner, each, self.world) for name, each in dict(kws).items()}
        if isinstance(func, OURS):
            return func.get_call_type(self, tuple(args), dict(kws))
        if callable(func) and not isinstance(func, Type):
            stand_in = self.world.stand_ins.of(func)
            if isinstance(stand_in, (type(None), Native)):
                return self._resolve_native(func, args, kws)
            return stand_in._numba_type_.get_call_type(self, tuple(args), dict(kws))
        return self._resolve_native(func, args, kws)

    def _resolve_native(self, func: Any, args: Any, kws: Any) -> Any:
        """Resolve a call of one of numba's own functions, which accepts functions only as
        dispatchers."""
        key = getattr(func, "typing_key", func)
        if any(key is each for each in (*IDENTITY, operator.eq, operator.ne)) and classes_differ(
            args
        ):
            raise refused(self.world, failures.classes_compared(args))
        if any(key is each for each in IDENTITY):
            functions = compared(self.world, args)
            if functions is not None:
                return signature(types.boolean, *functions)
        kws = dict(kws)
        holds = isinstance(func, types.NamedTupleClass) or has_chosen(func)
        if not (holds or any(map(has_chosen, args))):  # a container of functions
            args = tuple(self._dispatcher_type(a) for a in args)
            kws = {name: self._dispatcher_type(a) for name, a in kws.items()}
        if self.world.plugins:
            self._ask_to_enter(func, args)
        both = joined(self.world, func, args)
        if both is not None:
            return both
        entered = self.world.implementation(func, args, kws)
        if entered is not None:
            return types.Dispatcher(entered).get_call_type(self, args, kws)
        return self._of_numba(func, args, kws)

    def _of_numba(self, func: Any, args: tuple[Type, ...], kws: dict[str, Type]) -> Any:
        """The signature of a call of one of numba's own functions, which iterates over and indexes
        tuples of one type only."""
        key = getattr(func, "typing_key", func)
        if any(key is each for each in ONE_BY_ONE):
            args = tuple(
                iterated(self.world, each) if is_container(each) else uniform(self.world, each)
                for each in args
            )
        held = next(filter(is_container, (*args, *kws.values())), None)
        try:
            found = _of_numba(func, args, kws)
            is_device = self.world.target.is_device  # numba-cuda infers the types again
            if isinstance(func, types.NamedTupleClass) and found is not None and not is_device:
                found = made_of_interpretation(func.instance_class, found)
        except errors.TypingError:
            if held is None:
                raise
            found = None
        if held is not None and found is None:
            use = next((use for f, use in USES.items() if f is key), "used as a value")
            raise refuse(self.world, held, use)
        return found

    def _ask_to_enter(self, func: Any, args: tuple[Type, ...]) -> None:
        try:
            self.world.ask_to_enter(func, args)
        except OverlayError as error:
            raise refused(self.world, error) from error

    def _dispatcher_type(self, argument: Type) -> Type:
        if self.world.plugins and _is_numbas_function(argument):
            # in code of the world, where the plugins see the call
            argument = self.world.stand_ins.callee(argument.typing_key)._numba_type_
        if isinstance(argument, CalleeType):
            argument = argument.as_dispatcher()
        _note_handed_on(argument)
        return argument

    def resolve_setitem(self, target: Type, index: Type, value: Type) -> Any:
        return self.resolve_function_type(operator.setitem, (target, index, value), {})

    def resolve_delitem(self, target: Type, index: Type) -> Any:
        return self.resolve_function_type(operator.delitem, (target, index), {})

    def resolve_static_getitem(self, value: Type, index: Any) -> Any:
        in_python = isinstance(value, types.ClassInstanceType) or is_container(value)
        if in_python or self._is_overlaid(operator.getitem, value, index):
            return None  # numba then tries operator.getitem
        return numba_typing().resolve_static_getitem(value, index)

    def resolve_static_setitem(self, target: Type, index: Any, value: Type) -> Any:
        in_python = isinstance(target, types.ClassInstanceType)
        if in_python or self._is_overlaid(operator.setitem, target, index, value):
            return None
        return numba_typing().resolve_static_setitem(target, index, value)

    def _is_overlaid(self, target: Any, container: Type, index: Any, *rest: Type) -> bool:
        if isinstance(index, Unpacked) or not self.world.overlays(target):
            return False
        try:
            args = (container, type_of_constant(index), *rest)
        except ValueError:
            return False
        callee = self.world.stand_ins.callee(target)
        return callee._numba_type_.outcome(args, {}).method is not None

    def call(
        self, outcome: CompiledOutcome, args: Any, kws: Any, callee: TargetStandIn
    ) -> Signature:
        """The signature of a call with this resolution."""
        if isinstance(outcome.callee, Native):
            sig = self._call_of_numba(outcome.callee, args, kws, callee)
        else:
            self._check(outcome, args, kws, None)
            sig = self._call_of_python(outcome, args, kws, callee)
            if self._check(outcome, args, kws, sig.return_type):
                sig = self._call_of_python(outcome, args, kws, callee)
        if outcome.method is not None and _is_lost(sig.return_type):
            error = failures.returns_iterator(outcome.method, str(sig.return_type))
            raise refused(self.world, error)
        if not self.world.outcomes.accepts(outcome, sig.return_type):
            raise refused(self.world, failures.converts(callee.target, str(sig.return_type)))
        return sig

    def _check(self, outcome: CompiledOutcome, args: Any, kws: Any, returned: Type | None) -> bool:
        """Make a method of a checked table raise where the check fails; return whether it fails."""
        try:
            failing = self.world.outcomes.failing(outcome, args, kws, returned)
        except OverlayError as error:
            raise refused(self.world, error) from error
        if failing is not None:
            outcome.callee = failing
        return failing is not None

    def _call_of_numba(
        self, native: Native, args: Any, kws: Any, callee: TargetStandIn
    ) -> Signature:
        nearest = [m for table in self.world.tables for m in table.find(callee.target)]
        shown = shown_types(args, kws)
        try:
            function = native._numba_type_
        except ValueError:
            error = failures.no_meaning(callee.target, shown, nearest)
            raise refused(self.world, error) from None
        sig, reason = None, errors.TypingError(f"Invalid use of {function} with ({shown})")
        try:
            sig = self._resolve_native(function, args, kws)
        except errors.TypingError as error:
            reason = error
        if sig is not None:
            return sig
        known = all(ty.is_precise() for ty in (*args, *kws.values()))
        if type(reason) is errors.TypingError and nearest and known:
            error = failures.accepted_by_none(callee.target, shown, nearest)
            raise refused(self.world, error) from reason
        raise reason

    def _call_of_python(
        self, outcome: CompiledOutcome, args: Any, kws: Any, callee: TargetStandIn
    ) -> Signature:
        dispatcher = outcome.callee
        if outcome.method is not None and _frame_of(dispatcher, args, kws) is not None:
            error = failures.calls_itself(
                outcome.method, dispatcher.py_func, shown_types(args, kws)
            )
            raise refused(self.world, error)
        return self.enter(dispatcher, args, kws)

    def enter(
        self, dispatcher: InnerDispatcher, args: Sequence[Type], kws: Mapping[str, Type] = {}
    ) -> Signature:
        """The signature of a call of a function of the program, which may be one that is being
        compiled."""
        frame = _frame_of(dispatcher, args, kws)
        if frame is None:
            return types.Dispatcher(dispatcher).get_call_type(self, args, kws)
        pysig, folded = dispatcher.fold_argument_types(args, kws)
        returned = _returned_elsewhere(frame)
        dispatcher.recursive[folded] = frame.func_id
        return signature(returned, *folded).replace(pysig=pysig)


def _frame_of(dispatcher: Any, args: Sequence[Type], kws: Mapping[str, Type]) -> Any:
    """The frame of type inference in which a call is being compiled; None for other calls."""
    _, folded = dispatcher.fold_argument_types(args, kws)
    return dispatcher.world.typing.callstack.match(dispatcher.py_func, folded)


# Cache of numba's results for calls with numbers. They depend on nothing but the type of the
# function, which lists its implementations; numba would compute them again for each call.
_of_numbers: dict[tuple[Type, tuple[Type, ...]], Any] = {}
_PLAIN: Final = (types.Integer, types.Float, types.Boolean, types.Complex)


def _of_numba(func: Any, args: tuple[Type, ...], kws: dict[str, Type]) -> Any:
    """The signature of a call of one of numba's own functions."""
    numba = numba_typing()
    function = func if isinstance(func, Type) else numba._lookup_global(func)
    if kws or type(function) is not types.Function or not all(type(a) in _PLAIN for a in args):
        return numba.resolve_function_type(func, args, kws)
    found = _of_numbers.get((function, args))
    if found is None:
        found = numba.resolve_function_type(function, args, kws)
        if found is not None:
            _of_numbers[function, args] = found
    return found


def _note_handed_on(argument: Type) -> None:
    """Record a function passed to one of numba's own functions, which may call it."""
    compiled = frame()
    dispatcher = getattr(argument, "dispatcher", None) if compiled is not None else None
    if isinstance(dispatcher, Holder):
        compiled.hands_on(dispatcher)
    for part in argument.types if isinstance(argument, types.BaseTuple) else ():
        _note_handed_on(part)


def _is_numbas_function(ty: Type) -> bool:
    """Whether a type is that of one of numba's own functions, and of no class."""
    return isinstance(ty, types.Function) and not isinstance(ty.typing_key, type)


def _represents_array(ty: Type) -> bool:
    """Whether values of a type represent arrays, such as those of dual numbers."""
    return isinstance(ty, types.NamedTuple) and isinstance(underlying_type(ty), types.Array)


def _is_lost(returned: Type) -> bool:
    """Whether a result is an iterator that does not outlive the function that made it."""
    lasting = (types.Generator, types.RangeIteratorType)
    return isinstance(returned, types.IteratorType) and not isinstance(returned, lasting)


def _returned_elsewhere(frame: Any) -> Type:
    """The return type of a recursive function from its other branches, as far as known: numba's
    treatment of recursion (``TypeInferer.resolve_call``), for calls through a CalleeType."""
    if getattr(frame, "resumed", False):
        raise errors.TypingError("a recursive call says nothing of the type that it returns")
    frame.resumed = True
    try:
        returned = frame.typeinfer.return_types_from_partial()
    finally:
        frame.resumed = False
    if returned is None:
        raise errors.TypingError("cannot type infer runaway recursion")
    frame.add_return_type(returned)
    return returned
