"""What the compiled engine knows of numba's typing and dispatchers; the passes over its
intermediate representation stand in ``numba_passes``.

A world has a typing context of its own: a view of numba's that shares all of its tables, so that
it costs nothing to make, and that answers differently for the callables of the program. Whatever
is numba's own is typed, and lowered, by numba's own contexts: numba's implementations of builtins
and numpy functions are not entered by overlays, as C functions are not when interpreted.
"""

from __future__ import annotations

import operator
import types as python_types
import weakref
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numba.core import errors, sigutils, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.descriptors import TargetDescriptor
from numba.core.dispatcher import Dispatcher
from numba.core.funcdesc import qualifying_prefix
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.typing.context import CallStack
from numba.core.typing.context import Context as TypingContext
from numba.core.typing.templates import Signature, signature
from numba.extending import models, register_model

from overlay.compiled import failures
from overlay.errors import OverlayError
from overlay.table import LOCK

if TYPE_CHECKING:
    from overlay.compiled.engine import CompiledContext
    from overlay.compiled.world import Body, Callee, Outcome, World

__all__ = [
    "BoundCallee",
    "CalleeType",
    "EntryDispatcher",
    "InForce",
    "InnerDispatcher",
    "MakesBase",
    "MakesBaseType",
    "Native",
    "ReadsContext",
    "Type",
    "Typed",
    "Unpacked",
    "WorldTyping",
    "body_registered_as_jitable",
    "callee_type",
    "class_of_instances",
    "is_dispatcher",
    "knows",
    "options_of",
    "refused",
    "retire_callers",
    "type_of_constant",
]

Type = types.Type


def _numba() -> TypingContext:
    return cpu_target.typing_context


# ---- what numba knows of a value ----------------------------------------------------------


def is_dispatcher(value: Any) -> bool:
    """Whether it is a function compiled by numba for the CPU (``@njit``)."""
    return isinstance(value, Dispatcher)


def options_of(dispatcher: Any) -> dict[str, Any]:
    """The options that a numba dispatcher was made with."""
    return dict(dispatcher.targetoptions)


def knows(function: Any) -> bool:
    """Whether numba has a meaning of its own for a Python function (``@overload``)."""
    cpu_target.target_context.refresh()
    return _numba()._lookup_global(function) is not None


def body_registered_as_jitable(function: Any) -> Any | None:
    """The function itself where ``@register_jitable`` says that numba may compile its body."""
    if not isinstance(function, python_types.FunctionType):
        return None
    found = _numba()._lookup_global(function)
    for template in getattr(found, "templates", ()):
        chooser = getattr(template, "_overload_func", None)
        if getattr(chooser, "__qualname__", "") == "register_jitable.<locals>.wrap.<locals>.ov_wrap":
            return function
    return None


def type_of_constant(value: Any) -> Type:
    """The numba type of a constant."""
    return _numba().resolve_value_type_prefer_literal(value)


def class_of_instances(ty: types.ClassInstanceType) -> type:
    """The class that ``@jitclass`` made, of which these are the instances."""
    for reference, known in _numba()._globals.items():
        if known is ty.class_type:
            found = reference()
            if found is not None:
                return found
    raise AssertionError(f"no class for {ty}")


class Refused(errors.TypingError):
    """An error of ours, as numba handles errors while it infers types."""


def refused(world: World, error: OverlayError) -> Refused:
    """Carry an error of ours through numba."""
    failure = failures.Failure(error)
    world.keep(failure)
    return Refused(str(failure))


# ---- values and types of our own ----------------------------------------------------------


class CalleeType(types.Callable, types.Opaque):
    """The type of a target in compiled code: a call looks for a method first."""

    def __init__(self, callee: Callee) -> None:
        self.callee = callee
        self._codes: dict[Any, Any] = {}
        super().__init__(f"overlaid({callee!r}, {id(callee)})")

    @property
    def key(self) -> Any:
        return self.callee

    def get_call_type(self, context: Any, args: Sequence[Type], kws: Mapping[str, Type]) -> Any:
        world = self.callee.world
        outcome = self.outcome(args, kws)
        if outcome.method is not None:
            args, kws = self.callee.positional(args, kws)
            args = tuple(_plain(world, a) for a in args)
            kws = {name: _plain(world, a) for name, a in kws.items()}
        sig = world.typing.call(outcome, tuple(args), kws, self.callee)
        self._codes[sig.args] = outcome
        return sig

    def outcome(self, args: Sequence[Type], kws: Mapping[str, Type]) -> Outcome:
        """What a call with these types enters; a typing error where that cannot be said."""
        world = self.callee.world
        try:
            return world.outcome(self.callee, args, dict(kws))
        except OverlayError as error:
            raise refused(world, error) from error

    def get_call_signatures(self) -> Any:
        return (), True

    def get_impl_key(self, sig: Signature) -> Any:
        return self._codes[sig.args].callee._numba_type_.get_impl_key(sig)


class BoundCallee(types.Callable, types.Opaque):
    """The type of ``receiver.attribute`` where a call of it may enter a method or a user's body."""

    def __init__(self, function: Type, receiver: Type, attribute: str, base: Type) -> None:
        self.function = function
        self.receiver = receiver
        self.attribute = attribute
        self.base = base
        super().__init__(f"bound({function}, {receiver})")

    @property
    def key(self) -> Any:
        return self.function, self.receiver

    def get_call_type(self, context: Any, args: Sequence[Type], kws: Mapping[str, Type]) -> Any:
        if self.is_base(args, kws):
            return _numba().resolve_function_type(self.base, tuple(args), dict(kws))
        return self.function.get_call_type(context, (self.receiver, *args), kws)

    def is_base(self, args: Sequence[Type], kws: Mapping[str, Type]) -> bool:
        """Whether a call with these arguments is left to numba."""
        if not isinstance(self.function, CalleeType):
            return False
        outcome = self.function.outcome((self.receiver, *args), kws)
        return isinstance(outcome.callee, Native) and outcome.method is None

    def get_call_signatures(self) -> Any:
        return (), True

    def get_impl_key(self, sig: Signature) -> Any:
        raise NotImplementedError(f"{self} where it is not called at once")


class MakesBaseType(types.Callable, types.Opaque):
    """The type of ``nonoverlay`` itself: called with a function, it gives what that is without
    overlays."""

    def __init__(self) -> None:
        super().__init__("nonoverlay")

    def get_call_type(self, context: Any, args: Sequence[Type], kws: Mapping[str, Type]) -> Any:
        from overlay.compiled.world import bare

        (function,) = args
        if isinstance(function, CalleeType):
            found = bare().stand_in(function.callee.target)
            found = Native(function.callee.target) if found is None else found
            return signature(found._numba_type_, function)
        if isinstance(function, types.Dispatcher):
            return signature(types.Dispatcher(bare().dispatcher(_source(function))), function)
        return signature(function, function)

    def get_call_signatures(self) -> Any:
        return (), True

    def get_impl_key(self, sig: Signature) -> Any:
        raise NotImplementedError("nonoverlay where it is not called at once")


class ReadsContextType(types.Callable, types.Opaque):
    """The type of ``current_context`` itself."""

    def __init__(self) -> None:
        super().__init__("current_context")

    def get_call_type(self, context: Any, args: Sequence[Type], kws: Mapping[str, Type]) -> Any:
        raise refused(context.world, failures.context_as_value())

    def get_call_signatures(self) -> Any:
        return (), True

    def get_impl_key(self, sig: Signature) -> Any:
        raise NotImplementedError("current_context where it is not called at once")


class InForceType(types.Opaque):
    """The type of ``current_context()``."""

    def __init__(self) -> None:
        super().__init__("context")


for _type in (CalleeType, BoundCallee, MakesBaseType, ReadsContextType, InForceType):
    register_model(_type)(models.OpaqueModel)


class Native:
    """Stands for a callable as numba knows it by itself."""

    def __init__(self, value: Any) -> None:
        self.value = value

    @property
    def _numba_type_(self) -> Type:
        return _numba().resolve_value_type(self.value)


class MakesBase:
    """Stands for ``nonoverlay`` in compiled code."""

    _numba_type_ = MakesBaseType()


class ReadsContext:
    """Stands for ``current_context`` in compiled code."""

    _numba_type_ = ReadsContextType()


class InForce:
    """Stands for the context in force."""

    _numba_type_ = InForceType()


class Typed:
    """Stands for a function of which only the type is known."""

    def __init__(self, ty: Type) -> None:
        self._numba_type_ = ty


def callee_type(callee: Callee) -> Type:
    """The numba type of a callee."""
    return CalleeType(callee)


def _source(dispatcher_type: types.Dispatcher) -> Any:
    """What was given to be compiled by a dispatcher."""
    dispatcher = dispatcher_type.dispatcher
    return getattr(dispatcher, "function", dispatcher)


def _plain(world: World, argument: Any) -> Type:
    """The type that a method's body is compiled for."""
    ty = argument if isinstance(argument, Type) else type_of_constant(argument)
    return types.unliteral(ty)


# ---- typing -------------------------------------------------------------------------------


class WorldTyping(TypingContext):
    """numba's typing context, with the callables of the program as a world has them."""

    def __init__(self, world: World) -> None:
        cpu_target.target_context.refresh()
        vars(self).update(vars(_numba()))
        self.callstack = CallStack()
        self.world = world

    def refresh(self) -> None:
        cpu_target.target_context.refresh()

    def resolve_value_type(self, val: Any) -> Type:
        if not callable(val):
            return localised(self.world, _numba().resolve_value_type(val))
        try:
            stand_in = self.world.stand_in(val)
        except OverlayError as error:
            raise refused(self.world, error) from error
        if stand_in is None:
            return _numba().resolve_value_type(val)
        return stand_in._numba_type_

    def resolve_getattr(self, typ: Type, attr: str) -> Type | None:
        if isinstance(typ, types.Module):
            value = getattr(typ.pymod, attr, None)
            if callable(value):
                try:
                    return self.resolve_value_type(value)
                except ValueError:
                    return None
        if isinstance(typ, InForceType):
            raise refused(self.world, failures.context_as_value())
        found = _numba().resolve_getattr(typ, attr)
        return self._bound(typ, attr, found) or found

    def _bound(self, receiver: Type, attribute: str, base: Type | None) -> Type | None:
        if isinstance(receiver, types.ClassInstanceType) and attribute in receiver.jit_methods:
            method = self.resolve_value_type(receiver.jit_methods[attribute])
            return BoundCallee(method, receiver, attribute, base)
        target = self.world.method_target(receiver, attribute)
        if target is None:
            return None
        return BoundCallee(self.world.callee(target)._numba_type_, receiver, attribute, base)

    def resolve_function_type(self, func: Any, args: Any, kws: Any) -> Any:
        if isinstance(func, (CalleeType, BoundCallee, MakesBaseType, types.Dispatcher)):
            return func.get_call_type(self, tuple(args), dict(kws))
        if callable(func) and not isinstance(func, Type):
            stand_in = self.world.stand_in(func)
            if isinstance(stand_in, (type(None), Native)):
                return _numba().resolve_function_type(func, args, kws)
            return stand_in._numba_type_.get_call_type(self, tuple(args), dict(kws))
        return _numba().resolve_function_type(func, args, kws)

    def resolve_setitem(self, target: Type, index: Type, value: Type) -> Any:
        return self.resolve_function_type(operator.setitem, (target, index, value), {})

    def resolve_delitem(self, target: Type, index: Type) -> Any:
        return self.resolve_function_type(operator.delitem, (target, index), {})

    def resolve_static_getitem(self, value: Type, index: Any) -> Any:
        if self._is_overlaid(operator.getitem, value, index):
            return None  # numba goes on to operator.getitem
        return _numba().resolve_static_getitem(value, index)

    def resolve_static_setitem(self, target: Type, index: Any, value: Type) -> Any:
        if self._is_overlaid(operator.setitem, target, index, value):
            return None
        return _numba().resolve_static_setitem(target, index, value)

    def _is_overlaid(self, target: Any, container: Type, index: Any, *rest: Type) -> bool:
        if isinstance(index, Unpacked) or not self.world.overlays(target):
            return False
        try:
            args = (container, type_of_constant(index), *rest)
        except ValueError:
            return False
        callee = self.world.callee(target)
        return callee._numba_type_.outcome(args, {}).method is not None

    def call(self, outcome: Outcome, args: Any, kws: Any, callee: Callee) -> Signature:
        """The signature of a call of what was found for it."""
        if isinstance(outcome.callee, Native):
            sig = self._call_of_numba(outcome.callee, args, kws, callee)
        else:
            sig = self._call_of_python(outcome, args, kws, callee)
        if not self.world.accepts(outcome, sig.return_type):
            raise refused(self.world, failures.converts(callee.target, str(sig.return_type)))
        return sig

    def _call_of_numba(self, native: Native, args: Any, kws: Any, callee: Callee) -> Signature:
        try:
            function = native._numba_type_
        except ValueError:
            nearest = [m for table in self.world.tables for m in table.find(callee.target)]
            error = failures.no_meaning(callee.target, _shown(args, kws), nearest)
            raise refused(self.world, error) from None
        sig = _numba().resolve_function_type(function, args, kws)
        if sig is None:
            raise errors.TypingError(f"Invalid use of {function} with ({_shown(args, kws)})")
        return sig

    def _call_of_python(self, outcome: Outcome, args: Any, kws: Any, callee: Callee) -> Signature:
        dispatcher = outcome.callee
        pysig, folded = dispatcher.fold_argument_types(args, kws)
        frame = dispatcher.world.typing.callstack.match(dispatcher.py_func, folded)
        if frame is None:
            return types.Dispatcher(dispatcher).get_call_type(self, args, kws)
        if outcome.method is not None:
            error = failures.calls_itself(outcome.method, dispatcher.py_func, _shown(args, kws))
            raise refused(self.world, error)
        # the recursion of a target's own body, as numba's TypeInferer.resolve_call has it
        returned = frame.typeinfer.return_types_from_partial()
        if returned is None:
            raise errors.TypingError("cannot type infer runaway recursion")
        frame.add_return_type(returned)
        dispatcher.recursive[folded] = frame.func_id
        return signature(returned, *folded).replace(pysig=pysig)


class Unpacked(int):
    """The index of an item of ``a, b = pair``: not a call of ``operator.getitem``."""


def _shown(args: Sequence[Type], kws: Mapping[str, Type]) -> str:
    return ", ".join([*map(str, args), *(f"{name}={ty}" for name, ty in kws.items())])


def localised(world: World, ty: Type) -> Type:
    """A type with the functions in it as a world has them."""
    if isinstance(ty, types.Dispatcher) and not isinstance(ty, types.ObjModeDispatcher):
        stand_in = world.stand_in(ty.dispatcher)
        return ty if stand_in is None else stand_in._numba_type_
    if isinstance(ty, types.BaseTuple):
        parts = [localised(world, part) for part in ty.types]
        if parts != list(ty.types):
            return types.BaseTuple.from_types(parts, getattr(ty, "instance_class", None))
    return ty


# ---- dispatchers --------------------------------------------------------------------------


class _Descriptor(TargetDescriptor):
    """A world's typing before numba's own code generation."""

    options = cpu_target.options

    def __init__(self, typing: WorldTyping) -> None:
        super().__init__("cpu")
        self._typing = typing

    @property
    def typing_context(self) -> Any:
        return self._typing

    @property
    def target_context(self) -> Any:
        return cpu_target.target_context


class InnerDispatcher(Dispatcher):
    """Compiles one function of the program in one world.

    body: what ``call_next`` means in it. is_entry: whether Python calls the compiled code.
    """

    def __init__(
        self,
        world: World,
        function: Any,
        body: Body | None,
        options: Mapping[str, Any],
        is_entry: bool,
        pipeline: type,
    ) -> None:
        self.targetdescr = _Descriptor(world.typing)
        super().__init__(
            _twin(getattr(function, "py_func", function)),
            targetoptions={**options, "nopython": True},
            pipeline_class=pipeline,
        )
        self.world = world
        self.function = function
        self.body = body
        self.is_entry = is_entry
        self.recursive: dict[Any, Any] = {}
        if not is_entry:
            self._compiler._customize_flags = _without_wrappers

    def compile(self, sig: Any) -> Any:
        try:
            return super().compile(sig)
        except errors.ForceLiteralArg:
            raise
        except errors.NumbaError as error:
            failure = failures.failure_in(str(error))
            if failure is None and self.body is not None:
                args, _ = sigutils.normalize_signature(sig)
                raise self._failed(str(error), args) from error
            if failure is not None:
                loc = getattr(error, "loc", None)
                path, line = (loc.filename, loc.line) if loc else (self.__code__.co_filename, None)
                failure.called_from(self.py_func, path, line)
            raise

    def _failed(self, reason: str, args: Sequence[Type]) -> Refused:
        """The error that names the method whose body numba cannot compile."""
        assert self.body is not None
        method = self.body.methods[-1]
        failed = failures.of_body(method, self.py_func, _shown(args, {}), reason)
        return refused(self.world, failed)

    def get_compile_result(self, sig: Any) -> Any:
        # a function chosen when the program runs is called through its wrapper for C
        if self.is_entry:
            return super().get_compile_result(sig)
        return self.world.dispatcher(self.function, self.body, {}).get_compile_result(sig)

    def type_of_call(self, sig: Signature) -> Type:
        """The type of this function where it is called so, perhaps in its own body."""
        ty = types.Dispatcher(self)
        if sig.args in self.overloads:
            return ty
        func_id = self.recursive[sig.args]
        name = qualifying_prefix(func_id.modname, func_id.func_qualname)
        recursive = types.RecursiveCall(ty)
        recursive.add_overloads(sig.args, name, func_id.unique_id)
        return recursive


def _twin(function: Any) -> Any:
    """The same function as an object of its own: numba tells recursive calls by identity."""
    twin = python_types.FunctionType(
        function.__code__,
        function.__globals__,
        function.__name__,
        function.__defaults__,
        function.__closure__,
    )
    twin.__kwdefaults__ = function.__kwdefaults__
    twin.__qualname__ = function.__qualname__
    twin.__module__ = function.__module__
    twin.__doc__ = function.__doc__
    return twin


def _without_wrappers(flags: Any) -> Any:
    flags.no_cpython_wrapper = True
    flags.no_cfunc_wrapper = True
    return flags


class EntryDispatcher(CPUDispatcher):
    """What ``Context.jit`` gives: called from Python it costs what any numba dispatcher costs.

    It holds code of the context's present world; when a table changes, it holds none.
    """

    def __init__(self, engine: CompiledContext, function: Any, options: dict[str, Any]) -> None:
        super().__init__(
            getattr(function, "py_func", function), targetoptions={**options, "nopython": True}
        )
        self.engine = engine
        self.function = function
        self.options = options
        self.called_by_numba = False

    def compile(self, sig: Any) -> Any:
        given, return_type = sigutils.normalize_signature(sig)
        args = tuple(given)
        with global_compiler_lock, self._compiling_counter:
            while args not in self.overloads:
                world = self.engine.world(self.options)
                code = self._compiled(world, args, return_type)
                with LOCK:
                    if self.engine.holds(world):
                        self._insert([a._code for a in args], code.entry_point, False)
                        self.overloads[args] = code
            return self.overloads[args].entry_point

    def _compiled(self, world: World, args: tuple[Type, ...], return_type: Type | None) -> Any:
        given = len(args)
        while given and isinstance(args[given - 1], types.Omitted):
            given -= 1
        inner = world.entry(self.function, self.options, given, len(args))
        local = tuple(localised(world, a) for a in args)
        inner.compile(local if return_type is None else signature(return_type, *local))
        return inner.overloads[local]

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        try:
            return super()._compile_for_args(*args, **kws)
        except errors.NumbaError as error:
            failure = failures.failure_in(str(error))
            if failure is not None:
                raise failure.raised() from None
            raise failures.of_entry(self.py_func, str(error)) from None

    def get_call_template(self, args: Any, kws: Any) -> Any:
        self.called_by_numba = True
        return super().get_call_template(args, kws)

    def recompile(self) -> None:
        """Compile anew what was compiled: functions rebound in their modules are read again."""
        compiled = list(self.overloads)
        self.engine.recompile()
        for args in compiled:
            self.compile(args)

    def retire(self) -> list[Any]:
        """Hold no code any more; returns what it held, which a thread may be running."""
        retired = list(self.overloads.values())
        self._reset_overloads()
        return retired


def retire_callers(retired: Iterable[Any]) -> list[Any]:
    """Make plain ``@njit`` functions that call retired code compile anew; returns their code."""
    past = {id(code.library) for code in retired}
    found: list[Any] = []
    if not past:
        return found
    for reference in list(_numba()._globals):
        caller = reference() if isinstance(reference, weakref.ref) else None
        if not is_dispatcher(caller) or isinstance(caller, (InnerDispatcher, EntryDispatcher)):
            continue
        codes = list(caller.overloads.values())
        if any(_links(code.library, past) for code in codes):
            found.extend(codes)
            caller._reset_overloads()
            caller._compiler._failed_cache.clear()
    return found


def _links(library: Any, past: set[int]) -> bool:
    return id(library) in past or any(_links(lib, past) for lib in library._linking_libraries)
