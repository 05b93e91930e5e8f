"""Contexts in compiled code: the one in force, others that are entered, and their contents.

A context is known at compile time, and its type identifies it: a call of it is a call of a function
in another world, and its metadata are constants.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from numba.core import types
from numba.core.types.functions import WeakType
from numba.core.typing.templates import signature
from numba.extending import models, register_model

from overlay.compiled import failures
from overlay.compiled.numba.chosen_functions import ChosenType, ObjectType
from overlay.compiled.numba.container_values import ContainerType
from overlay.compiled.numba.context_state import Box
from overlay.compiled.numba.made_contexts import (
    MadeContextType,
    fields_after,
    is_plugin_class,
    made_context,
    made_plugin,
)
from overlay.compiled.numba.numba_types import (
    CalledAtOnce,
    CalleeType,
    Native,
    StandIn,
    Type,
    is_held,
    refused,
)
from overlay.compiled.sharing import frame
from overlay.contexts.current import current_context, nonoverlay, recurse
from overlay.core.errors import OverlayError
from overlay.core.metadata import metadata_key

if TYPE_CHECKING:
    from overlay.compiled.engine import CompiledContext
    from overlay.compiled.world import World

__all__ = [
    "BindsType",
    "ClassType",
    "ContextType",
    "Enters",
    "KnownContext",
    "KnownStandIn",
    "KnownType",
    "MakesBase",
    "MakesBaseType",
    "PluginClassType",
    "ReadsContext",
    "Recurses",
    "RecursesType",
    "ReplacesMadeType",
    "ReplacesType",
    "attribute_of",
    "constant",
    "functions_within",
    "metadata_of",
    "programs_functions",
    "state_of",
    "value_of",
]


# ---- no context ---------------------------------------------------------------------------


class BindsType(WeakType, CalledAtOnce, types.Opaque):
    """The type of a callable that gives a function, or one of some functions, the context in which
    it is called."""

    @abstractmethod
    def bound(self, world: World, function: Type) -> Type:
        """The type of a function that code of ``world`` names, in that context."""

    def get_call_type(self, context: Any, args: Sequence[Type], kws: Mapping[str, Type]) -> Any:
        if len(args) != 1 or kws:
            return None
        (function,) = args
        world: World = context.world
        if isinstance(function, ChosenType):
            found = [self.bound(world, each) for each in function.candidates]
            return signature(ChosenType(world, tuple(found)), function)
        return signature(self.bound(world, function), function)


class MakesBaseType(BindsType):
    """The type of ``nonoverlay`` itself: a call with a function returns it without overlays, in
    ``bare``."""

    def __init__(self, bare: World) -> None:
        self._store_object(bare)
        super().__init__("nonoverlay")

    def bound(self, world: World, function: Type) -> Type:
        bare: World = self._get_object()
        found = function_in(bare, function)
        if isinstance(found, types.Function):  # belongs to any world it is passed to
            found = bare.stand_ins.callee(value_of(function), is_base=True)._numba_type_
        return found


class MakesBase(StandIn):
    """Stand-in for ``nonoverlay`` in compiled code."""

    def __init__(self, bare: World) -> None:
        self._numba_type_ = MakesBaseType(bare)

    def in_python(self) -> Any:
        return nonoverlay


# ---- entering a context -------------------------------------------------------------------


class Enters(CalledAtOnce, types.Opaque):
    """The type of a callable that calls its function argument in another world."""

    # the number of arguments before those of the function, itself included
    dropped = 1

    @abstractmethod
    def entered(self, world: World, args: Sequence[Type]) -> Type:
        """The type in the other world of the function among the arguments of this call."""

    @abstractmethod
    def world_inside(self, world: World, args: Sequence[Type]) -> World:
        """The other world."""

    def get_call_type(self, context: Any, args: Sequence[Type], kws: Mapping[str, Type]) -> Any:
        world: World = context.world
        function = self.entered(world, args)
        inner = self.world_inside(world, args)
        rest = tuple(handed_to(inner, a, world) for a in args[self.dropped :])
        named = {name: handed_to(inner, a, world) for name, a in kws.items()}
        found = world.typing.resolve_function_type(function, rest, named)
        if found is None:
            return None
        return found.replace(args=(*args[: self.dropped], *found.args))


class ContextType(WeakType, Enters):
    """The type of one context, which can be called with a function."""

    def __init__(self, engine: CompiledContext) -> None:
        self._store_object(engine)
        super().__init__(f"{engine.context!r}")

    @property
    def engine(self) -> CompiledContext:
        return self._get_object()

    def world_inside(self, world: World, args: Sequence[Type] = ()) -> World:
        """The world of this context, entered by code of another world."""
        compiled = frame()
        if compiled is not None:
            compiled.needs_context()
        return world.engine.linked.inside(self.engine).world(world.options)

    def entered(self, world: World, args: Sequence[Type]) -> Type:
        if not args:
            raise refused(world, failures.entered_without_function())
        return function_handed(self.world_inside(world), args[0], world)


class KnownContext(StandIn):
    """Stand-in for a context."""

    def __init__(self, engine: CompiledContext) -> None:
        self.engine = engine
        self._numba_type_ = ContextType(engine)

    def in_python(self) -> Any:
        return self.engine.context


class RecursesType(Enters):
    """The type of ``recurse`` itself."""

    dropped = 2

    def __init__(self) -> None:
        super().__init__("recurse")

    def get_call_type(self, context: Any, args: Sequence[Type], kws: Mapping[str, Type]) -> Any:
        if args and isinstance(args[0], MadeContextType):
            return context.world.barriers.signature(args[0], args, kws, dropped=self.dropped)
        return super().get_call_type(context, args, kws)

    def world_inside(self, world: World, args: Sequence[Type]) -> World:
        context = args[0]
        assert isinstance(context, ContextType)
        return context.world_inside(world)

    def entered(self, world: World, args: Sequence[Type]) -> Type:
        if len(args) < 2 or not isinstance(args[0], ContextType):
            raise refused(world, failures.entered_without_function())
        inner = self.world_inside(world, args)
        if isinstance(args[1], ChosenType):
            parts = (self._base(inner, each) for each in args[1].candidates)
            return ChosenType(inner, tuple(parts))
        return self._base(inner, args[1])

    def _base(self, inner: World, function: Type) -> Type:
        value = value_of(function)
        if value is None or not inner.is_target(value):
            return function_in(inner, function)
        return inner.stand_ins.callee(value, is_base=True)._numba_type_


class Recurses(StandIn):
    """Stand-in for ``recurse`` in compiled code."""

    _numba_type_ = RecursesType()

    def in_python(self) -> Any:
        return recurse


class WrapsType(BindsType):
    """The type of ``context.wrap``."""

    def __init__(self, engine: CompiledContext) -> None:
        self._store_object(engine)
        super().__init__(f"{engine.context!r}.wrap")

    def bound(self, world: World, function: Type) -> Type:
        compiled, value = frame(), value_of(function)
        if compiled is not None:
            compiled.needs_context()
        if value is None:
            raise refused(world, failures.context_as_value())
        home = _world_of(function)
        is_base = home is not None and home.is_bare and not world.is_bare
        if is_base or isinstance(function, ObjectType):
            return function  # the one of ``nonoverlay``; or its call says that it has no meaning
        made = world.stand_ins.in_context(self._get_object(), value, world.options)
        return made._numba_type_


class Wraps(StandIn):
    """Stand-in for ``context.wrap``."""

    def __init__(self, engine: CompiledContext) -> None:
        self._numba_type_ = WrapsType(engine)


# Types of functions, which are called as if the code that calls them named them.
FUNCTIONS: Final = (CalleeType, ChosenType, types.Dispatcher, types.Function)


def value_of(function: Type) -> Any | None:
    """The callable of the program that a type represents, or None."""
    if isinstance(function, CalleeType):
        return None if function.callee.is_next else function.callee.value
    if isinstance(function, types.RecursiveCall):
        function = function.dispatcher_type
    if isinstance(function, types.Dispatcher):
        dispatcher = function.dispatcher
        return getattr(dispatcher, "function", dispatcher)
    key = getattr(function, "typing_key", None)
    return key if callable(key) and not isinstance(key, type) else None


def function_in(world: World, function: Type) -> Type:
    """The type of a function where code of ``world`` names it."""
    value = value_of(function)
    if value is None:
        return function
    if isinstance(function, types.Dispatcher):
        body = getattr(function.dispatcher, "body", None)
        if body is not None:
            return types.Dispatcher(world.dispatcher(value, body))
    found = world.stand_ins.of(value)
    if found is None:
        return Native(value)._numba_type_ if isinstance(function, CalleeType) else function
    return found._numba_type_


def handed_to(world: World, argument: Type, caller: World) -> Type:
    """The type of an argument passed from code of ``caller`` to code of ``world``: a function is
    called as if the code of ``world`` named it. A container of functions that would be others there
    is refused."""
    if isinstance(argument, (*FUNCTIONS, ContainerType)):
        return function_handed(world, argument, caller)
    for each in functions_within(argument):
        if function_handed(world, each, caller) is not each:
            raise refused(caller, failures.handed_on(*programs_functions(each)))
    return argument


def functions_within(ty: Type) -> Iterator[Type]:
    """The types of the functions in the values of a container type."""
    if isinstance(ty, (*FUNCTIONS, ContainerType)):
        yield ty
        return
    names = ("dtype", "key_type", "value_type", "type")
    parts = ty.types if isinstance(ty, types.BaseTuple) else [getattr(ty, n, None) for n in names]
    for part in parts:
        if isinstance(part, Type) and part is not ty:
            yield from functions_within(part)


def programs_functions(ty: Type) -> list[Any]:
    """The functions of the program that a type of functions represents."""
    if isinstance(ty, ContainerType):
        return [ty.held.container]
    return ty.functions if isinstance(ty, ChosenType) else [value_of(ty)]


def function_handed(world: World, function: Type, caller: World) -> Type:
    """The type of a function passed from code of ``caller`` to code of ``world``; one bound to a
    context is called in that."""
    if isinstance(function, ChosenType):
        if function.world is world:
            return function
        parts = tuple(function_handed(world, each, caller) for each in function.candidates)
        return type(function)(world, parts)
    if isinstance(function, ContainerType):
        return world.stand_ins.container(function.held.container)._numba_type_
    if isinstance(function, CalleeType) and function.callee.context is not None:
        callee = function.callee
        return world.stand_ins.in_context(
            callee.context, callee.target, callee.world.options
        )._numba_type_
    home, value = _world_of(function), value_of(function)
    if home is not None and home.is_bare and not caller.is_bare:
        return function
    if home is None or value is None or home.tables == caller.tables:
        return function_in(world, function)
    raise refused(caller, failures.handed_on(value))


def _world_of(function: Type) -> World | None:
    """The world that compiles a function of the program; None for other functions."""
    if isinstance(function, CalleeType):
        return function.callee.world
    if isinstance(function, types.RecursiveCall):
        function = function.dispatcher_type
    dispatcher = getattr(function, "dispatcher", None)
    return getattr(dispatcher, "world", None)


# ---- attributes of a context --------------------------------------------------------------


class ReadsContextType(CalledAtOnce, types.Opaque):
    """The type of ``current_context`` itself, whose calls are constants."""

    def __init__(self) -> None:
        super().__init__("current_context")

    def get_call_type(self, context: Any, args: Sequence[Type], kws: Mapping[str, Type]) -> Any:
        raise refused(context.world, failures.context_as_value())


class ReadsContext(StandIn):
    """Stand-in for ``current_context`` in compiled code."""

    _numba_type_ = ReadsContextType()

    def in_python(self) -> Any:
        return current_context


class ReplacesType(WeakType, CalledAtOnce, types.Opaque):
    """The type of ``context.replace``, for calls with values known only at run time."""

    def __init__(self, engine: CompiledContext) -> None:
        self._store_object(engine)
        super().__init__(f"{engine.context!r}.replace")

    def get_call_type(self, context: Any, args: Sequence[Type], kws: Mapping[str, Type]) -> Any:
        fields = fields_after(context.world, {}, args, kws)
        return signature(made_context(context.world, self._get_object(), fields), *kws.values())


class Replaces(StandIn):
    """Stand-in for ``context.replace``."""

    def __init__(self, engine: CompiledContext) -> None:
        self._numba_type_ = ReplacesType(engine)


class ReplacesMadeType(CalledAtOnce):
    """The type of ``context.replace`` of a context that is made at run time."""

    def __init__(self, made: MadeContextType) -> None:
        self.made = made
        super().__init__(f"{made}.replace")

    @property
    def key(self) -> Any:
        return self.made

    def get_call_type(self, context: Any, args: Sequence[Type], kws: Mapping[str, Type]) -> Any:
        fields = fields_after(context.world, dict(self.made.fields), args, kws)
        return signature(made_context(context.world, self.made.template, fields), *kws.values())


@register_model(ReplacesMadeType)
class _ReplacesMadeModel(models.StructModel):
    def __init__(self, manager: Any, replaces: ReplacesMadeType) -> None:
        super().__init__(manager, replaces, list(replaces.made.fields))


class KnownType(types.Opaque):
    """The type of one value that compiled code cannot hold, but whose attributes it can read."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self._key = metadata_key(value)
        super().__init__(f"constant({value!r})")

    @property
    def key(self) -> Any:
        return self._key


class PluginClassType(CalledAtOnce, KnownType):
    """The type of one class of plugins, called with values known only at run time."""

    def get_call_type(self, context: Any, args: Sequence[Type], kws: Mapping[str, Type]) -> Any:
        return made_plugin(self.value, args, kws)


class ClassType(CalledAtOnce, KnownType):
    """The type of a class that numba does not know, and whose static methods can be called."""

    def get_call_type(self, context: Any, args: Sequence[Type], kws: Mapping[str, Type]) -> Any:
        raise refused(context.world, failures.makes_instance(self.value))


class KnownStandIn(StandIn):
    """Stand-in for a constant that numba has no type for."""

    def __init__(self, value: Any) -> None:
        self.value = value
        is_class = issubclass(type(value), type)
        kind = PluginClassType if is_plugin_class(value) else ClassType if is_class else KnownType
        self._numba_type_ = kind(value)

    def in_python(self) -> Any:
        return self.value


def constant(world: World, value: Any, owner: Any = None, attribute: str = "") -> Any:
    """The representation in compiled code of a value known at compile time. owner, attribute:
    where the value was read, if it is an attribute."""
    if hasattr(value, "_numba_type_"):
        return value
    if is_held(value):
        return value
    try:
        return KnownStandIn(value)
    except OverlayError:
        if attribute:
            error = failures.no_constant(owner, attribute, value)
        raise refused(world, error) from None


def metadata_of(engine: CompiledContext) -> Any:
    """The metadata of a context, recorded as a dependency of the code being compiled."""
    compiled = frame()
    if compiled is not None:
        compiled.reads_metadata(engine)
    return engine.context.metadata


def state_of(engine: CompiledContext) -> Any:
    """The box of a context's state, or None, recorded as a dependency of the code being compiled.

    Raises NotCompilable where numba cannot hold it.
    """
    if engine.target.is_device and engine.context.state is not None:
        raise failures.state_on_device()
    state, compiled = engine.state, frame()
    if compiled is not None:
        compiled.reads_state(engine, state)
    return state


def attribute_of(world: World, ty: Type, name: str) -> Any:
    """The representation of an attribute of a context or a constant: a constant, or the box of the
    state. An AttributeError where there is no such attribute."""
    if isinstance(ty, KnownType):
        return constant(world, getattr(ty.value, name), ty.value, name)
    if name == "metadata":
        return constant(world, metadata_of(ty.engine))
    if name == "state":
        try:
            state = state_of(ty.engine)
        except OverlayError as error:
            raise refused(world, error) from error
        return state if isinstance(state, Box) else constant(world, state)
    if name == "replace":
        return Replaces(ty.engine)
    if name == "wrap":
        return Wraps(ty.engine)
    raise refused(world, failures.context_as_value())


OPAQUE = (
    MakesBaseType,
    WrapsType,
    ContextType,
    RecursesType,
    ReadsContextType,
    ReplacesType,
    KnownType,
    ClassType,
    PluginClassType,
)

for _type in OPAQUE:
    register_model(_type)(models.OpaqueModel)
