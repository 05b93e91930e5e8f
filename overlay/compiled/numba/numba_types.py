"""Types of numba as the compiled engine uses them, and the types that it adds."""

from __future__ import annotations

import types as python_types
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from numba.core import errors, types
from numba.core.dispatcher import Dispatcher
from numba.core.imputils import lower_cast
from numba.core.options import TargetOptions
from numba.core.registry import cpu_target
from numba.core.types.functions import WeakType
from numba.core.typing.context import Context as TypingContext
from numba.core.typing.templates import Signature
from numba.extending import NativeValue, models, register_model, unbox

from overlay.compiled import failures
from overlay.compiled.cpu_attempts import on_cpu
from overlay.compiled.sharing import frame
from overlay.compiled.targets import Target
from overlay.core.errors import OverlayError
from overlay.core.target import is_below
from overlay.plugins.attempts import attempted

if TYPE_CHECKING:
    from overlay.compiled.outcomes import CompiledOutcome
    from overlay.compiled.sharing import CompilingFrame
    from overlay.compiled.stand_ins import TargetStandIn
    from overlay.compiled.world import World

__all__ = [
    "CPU",
    "NUMBA_OPTIONS",
    "OWN_OPTIONS",
    "BoundCallee",
    "CalledAtOnce",
    "CalleeType",
    "Native",
    "RefusedByTyping",
    "StandIn",
    "Type",
    "TypedStandIn",
    "Unpacked",
    "Written",
    "address_of",
    "body_registered_as_jitable",
    "boxed_object",
    "class_of_instances",
    "has_code",
    "is_dispatcher",
    "is_held",
    "knows",
    "localised",
    "numba_typing",
    "options_of",
    "refused",
    "shown_types",
    "type_held",
    "type_of_constant",
    "types_in",
]

Type = types.Type


def _is_option(held: object) -> bool:
    return isinstance(held, TargetOptions.Mapping)


NUMBA_OPTIONS: Final = (
    *("cache", "locals", "target"),
    *(n for n in dir(cpu_target.options) if _is_option(getattr(cpu_target.options, n))),
)
"""The options of ``numba.njit``."""

# Options of this package, unknown to numba: whether numba's implementations are entered like any
# body; for a barrier, when a value is compiled, and how many variants are in its table.
OWN_OPTIONS: Final = ("enter_numba", "hot_after", "variants")


class _Cpu(Target):
    name = "cpu"
    is_device = False

    @property
    def typing(self) -> TypingContext:
        return cpu_target.typing_context

    def owns(self, value: Any) -> bool:
        return False

    def function_of(self, value: Any) -> Any | None:
        return on_cpu if value is attempted else None


CPU: Final = _Cpu()


def numba_typing() -> TypingContext:
    """The typing context of numba's own functions for the target being compiled for."""
    return _target().typing


def _target() -> Target:
    """The target being compiled for; by default the CPU."""
    compiled = frame()
    return CPU if compiled is None else compiled.world.target


# ---- numba's knowledge of a value ---------------------------------------------------------


def is_dispatcher(value: Any) -> bool:
    """Whether a value is a function compiled by numba for the CPU (``@njit``)."""
    return is_below(type(value), Dispatcher)  # isinstance would run code of the value


def has_code(function: Any) -> bool:
    """Whether a value is a plain Python function."""
    return isinstance(function, python_types.FunctionType)


def options_of(dispatcher: Any) -> dict[str, Any]:
    """The options that a numba dispatcher was made with."""
    return dict(dispatcher.targetoptions)


def knows(function: Any) -> bool:
    """Whether numba has its own implementation of a Python function (``@overload``)."""
    cpu_target.target_context.refresh()
    return _target().owns(function) or numba_typing()._lookup_global(function) is not None


def is_held(value: Any) -> bool:
    """Whether compiled code can hold a value."""
    return _target().owns(value) or type_held(value) is not None


def type_held(value: Any) -> Type | None:
    """The type of a value in compiled code, or None where it cannot be held there."""
    try:
        return numba_typing().resolve_value_type(value)
    except ValueError:
        return None


def body_registered_as_jitable(function: Any) -> Any | None:
    """The function itself if ``@register_jitable`` allows numba to compile its body; else None."""
    if not isinstance(function, python_types.FunctionType):
        return None
    found = numba_typing()._lookup_global(function)
    for template in getattr(found, "templates", ()):
        chooser = getattr(template, "_overload_func", None)
        if getattr(chooser, "__qualname__", "").startswith("register_jitable."):
            return function
    return None


def type_of_constant(value: Any) -> Type:
    """The numba type of a constant."""
    return numba_typing().resolve_value_type_prefer_literal(value)


def class_of_instances(ty: types.ClassInstanceType) -> type:
    """The class from ``@jitclass`` of these instances."""
    for reference, known in numba_typing()._globals.items():
        if known is ty.class_type:
            found = reference()
            if found is not None:
                return found
    raise AssertionError(f"no class for {ty}")


def types_in(ty: Any) -> tuple[Type, ...]:
    """The types of a tuple's items."""
    return tuple(ty.types)


class RefusedByTyping(errors.TypingError):
    """An error of ours in the form of numba's typing errors."""


def refused(world: World, error: OverlayError) -> RefusedByTyping:
    """Carry an error of ours through numba."""
    failure = failures.Failure(error)
    world.keep(failure)
    return RefusedByTyping(str(failure))


# ---- values and types of our own ----------------------------------------------------------


class CalleeType(WeakType, types.Callable, types.Opaque):
    """The type of a target in compiled code: a call looks for a method first.

    Types outlive their worlds, so they refer to them weakly.
    """

    def __init__(self, callee: TargetStandIn) -> None:
        self._store_object(callee)
        self._codes: dict[Any, Any] = {}
        super().__init__(repr(callee))

    @property
    def callee(self) -> TargetStandIn:
        return self._get_object()

    def get_call_type(self, context: Any, args: Sequence[Type], kws: Mapping[str, Type]) -> Any:
        world = self.callee.world
        outcome = self.outcome(args, kws)
        if outcome.method is not None:
            args, kws = self.callee.positional(args, kws)
            args = tuple(_plain(a) for a in args)
            kws = {name: _plain(a) for name, a in kws.items()}
        sig = world.typing.call(outcome, tuple(args), kws, self.callee)
        self._codes[sig.args] = outcome.callee._numba_type_
        return sig

    def outcome(self, args: Sequence[Type], kws: Mapping[str, Type]) -> CompiledOutcome:
        """The resolution of a call with these types; a typing error where there is none."""
        world = self.callee.world
        try:
            return world.outcomes.of(self.callee, args, dict(kws))
        except OverlayError as error:
            raise refused(world, error) from error

    def get_call_signatures(self) -> Any:
        return (), True

    def get_impl_key(self, sig: Signature) -> Any:
        return self._codes[sig.args].get_impl_key(sig)

    def as_dispatcher(self) -> types.Dispatcher:
        """The type of a Python function that calls the target."""
        return types.Dispatcher(self.callee.world.as_dispatcher(self.callee))

    def can_convert_to(self, typingctx: Any, other: Type) -> Any:
        if not isinstance(other, types.FunctionType):
            return None
        return self.as_dispatcher().can_convert_to(typingctx, other)

    def unify(self, typingctx: Any, other: Type) -> Type | None:
        functions = (types.Dispatcher, types.FunctionType, types.UndefinedFunctionType)
        if self.callee.arity is None or not isinstance(other, (CalleeType, *functions)):
            return None
        theirs = other.as_dispatcher() if isinstance(other, CalleeType) else other
        return typingctx.unify_pairs(self.as_dispatcher(), theirs)


class CalledAtOnce(types.Callable):
    """A type whose values are called directly, and not passed to functions as arguments."""

    def get_call_signatures(self) -> Any:
        return (), True

    def get_impl_key(self, sig: Signature) -> Any:
        raise NotImplementedError(f"{self} where it is not called at once")


class BoundCallee(CalledAtOnce, types.Opaque):
    """The type of ``receiver.attribute`` where a call of it may enter a method or a body of the
    program.

    base: numba's own type of it, used where no method accepts a call.
    """

    def __init__(self, function: Type, receiver: Type, attribute: str, base: Type | None) -> None:
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
            return numba_typing().resolve_function_type(self.base, tuple(args), dict(kws))
        return self.function.get_call_type(context, (self.receiver, *args), kws)

    def is_base(self, args: Sequence[Type], kws: Mapping[str, Type]) -> bool:
        """Whether numba's own implementation handles a call with these arguments."""
        if not isinstance(self.function, CalleeType):
            return False
        outcome = self.function.outcome((self.receiver, *args), kws)
        return outcome.method is None and self.base is not None


for _type in (CalleeType, BoundCallee):
    register_model(_type)(models.OpaqueModel)


@unbox(CalleeType)
def _unboxed(ty: CalleeType, value: Any, c: Any) -> Any:
    return NativeValue(c.context.get_dummy_value())


@lower_cast(CalleeType, types.Dispatcher)
@lower_cast(types.Function, types.Dispatcher)
def _as_dispatcher(context: Any, builder: Any, fromty: Any, toty: Type, value: Any) -> Any:
    return context.get_dummy_value()


@lower_cast(CalleeType, types.FunctionType)
@lower_cast(CalleeType, types.UndefinedFunctionType)
def _as_function(context: Any, builder: Any, fromty: Any, toty: Type, value: Any) -> Any:
    return context.cast(builder, value, fromty.as_dispatcher(), toty)


def address_of(c: Any, thing: Any) -> Any:
    """The address of an object of the program, for code that boxes: the code keeps the object."""
    compiled = frame()
    if compiled is not None:
        compiled.needs_context(thing)
    return c.context.add_dynamic_addr(c.builder, id(thing), "object")


def boxed_object(c: Any, address: Any) -> Any:
    """A new reference to the object at an address."""
    made = c.builder.bitcast(address, c.pyapi.pyobj)
    c.pyapi.incref(made)
    return made


class StandIn:
    """Replacement for an object of the program in numba's IR; deep copies return the object
    itself. is_next: whether it replaces ``call_next``."""

    is_next = False

    def in_python(self) -> Any:
        """The object that it replaces, for code that the interpreter runs."""
        raise NotImplementedError(f"{self!r} in code that the interpreter runs")

    def __deepcopy__(self, copied: dict[int, Any]) -> Any:
        return self


class Native(StandIn):
    """Stand-in for a callable that numba handles natively. inner: the dispatcher of the function of
    a kernel, None for others."""

    def __init__(self, value: Any, inner: Any = None) -> None:
        self.value = value
        self.inner = inner

    def in_python(self) -> Any:
        return self.value

    def note(self, compiled: CompilingFrame) -> None:
        """Record that the code being compiled mentions it: each function that does so depends on a
        kernel's code, also where that is compiled already."""
        if self.inner is not None:
            compiled.needs_context(self.value)
            compiled.hands_on(self.inner)

    @property
    def _numba_type_(self) -> Type:
        return numba_typing().resolve_value_type(self.value)

    @property
    def type_known(self) -> Type | None:
        """The type of the callable, or None for one that numba does not know."""
        return type_held(self.value)


class TypedStandIn(StandIn):
    """Stand-in for a function of which only the type is known."""

    def __init__(self, ty: Type) -> None:
        self._numba_type_ = ty

    def in_python(self) -> Any:
        ty = self._numba_type_
        return ty.typing_key if isinstance(ty, types.Function) else super().in_python()


def _plain(argument: Any) -> Type:
    """The type that a method's body is compiled for, from an argument or a default."""
    ty = argument if isinstance(argument, Type) else type_of_constant(argument)
    return types.unliteral(ty)


class Unpacked(int):
    """The index of an item of ``a, b = pair``, which is not a call of ``operator.getitem``."""


class Written(str):
    """The attribute of a call that numba generates for an instruction, such as the ``append`` of a
    list comprehension, which is not a call of ``list.append``."""


def shown_types(args: Sequence[Type], kws: Mapping[str, Type]) -> str:
    """The types of a call, for messages."""
    return ", ".join([*map(str, args), *(f"{name}={ty}" for name, ty in kws.items())])


def localised(world: World, ty: Type) -> Type:
    """A type in which functions are replaced by those of a world."""
    if isinstance(ty, types.Dispatcher) and not isinstance(ty, types.ObjModeDispatcher):
        stand_in = world.stand_ins.of(ty.dispatcher)
        return ty if stand_in is None else stand_in._numba_type_
    if isinstance(ty, types.BaseTuple):
        parts = [localised(world, part) for part in ty.types]
        if parts != list(ty.types):
            return types.BaseTuple.from_types(parts, getattr(ty, "instance_class", None))
    return ty
