"""Functions chosen when the program runs, among candidates that are known when it is compiled.

Such a value is the number of a candidate. A call of it is a call of a generated function that
branches over the candidates and calls each by itself, so that each is resolved like any callee that
the program names.
"""

from __future__ import annotations

import functools
import operator
import types as python_types
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from numba.core import cgutils, types
from numba.core.imputils import lower_builtin, lower_cast
from numba.core.typeconv import Conversion
from numba.core.types.functions import WeakType
from numba.core.typing.templates import Signature, signature
from numba.extending import box, intrinsic, models, register_model

from overlay.compiled import failures
from overlay.compiled.glue import BY_POSITION
from overlay.compiled.numba.numba_types import (
    CalledAtOnce,
    CalleeType,
    StandIn,
    Type,
    TypedStandIn,
    address_of,
    boxed_object,
    refused,
)
from overlay.compiled.numba.number_values import LevelNumberType
from overlay.core.jitted import is_kernel

if TYPE_CHECKING:
    from overlay.compiled.numba.dispatchers import InnerDispatcher
    from overlay.compiled.world import World

__all__ = [
    "CandidateType",
    "ChosenType",
    "ObjectType",
    "UncalledObject",
    "as_global",
    "chosen_among",
    "compared",
    "has_chosen",
    "is_comparable",
    "is_equal",
    "is_number",
    "is_true",
    "uniform",
]


class CandidateType(types.Opaque):
    """The type of one object of the program, without content, that may be one of some."""

    @property
    def chosen_type(self) -> type[ChosenType]:
        """The class of the types of values that are one of several such objects."""
        raise NotImplementedError


class ObjectType(CalledAtOnce, types.Opaque):
    """The type of a callable of the program that compiled code cannot call."""

    def __init__(self, value: Any) -> None:
        self.typing_key = value
        super().__init__(f"{type(value).__name__} at {id(value):#x}")

    def get_call_type(self, context: Any, args: Sequence[Type], kws: Mapping[str, Type]) -> Any:
        raise refused(context.world, failures.not_a_function(self.typing_key))


class UncalledObject(StandIn):
    """Stand-in for a callable that compiled code cannot call."""

    def __init__(self, value: Any) -> None:
        self.value = value
        self._numba_type_ = ObjectType(value)

    def in_python(self) -> Any:
        return self.value


register_model(ObjectType)(models.OpaqueModel)


# Types of functions, and of containers of them, that have no content when the program runs.
WITHOUT_CONTENT: Final = (
    CandidateType,
    ObjectType,
    types.Function,
    types.Dispatcher,
    CalleeType,
    types.NumberClass,
    types.ClassType,
    types.RecursiveCall,
)


class ChosenType(WeakType, CalledAtOnce):
    """The type of a function that is one of some candidates; the value is its place among them.

    The candidates are called from code of one world, that in which they were brought together.
    """

    def __init__(self, world: World, candidates: tuple[Type, ...]) -> None:
        self._store_object(world)
        self.candidates = candidates
        self._signatures: dict[Any, Signature] = {}
        super().__init__(f"one of ({', '.join(map(str, candidates))})")

    @property
    def world(self) -> World:
        return self._get_object()

    @property
    def key(self) -> Any:
        return self._wr, self.candidates

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self) or not isinstance(other, ChosenType):
            return NotImplemented
        return self._wr() is other._wr() is not None and self.candidates == other.candidates

    def __hash__(self) -> int:
        return hash((id(self._wr()), self.candidates))

    @property
    def functions(self) -> list[Any]:
        """The candidates in the program."""
        return list(map(_of_program, self.candidates))

    def get_call_type(self, context: Any, args: Sequence[Type], kws: Mapping[str, Type]) -> Any:
        """The signature of a call, without the number of the candidate."""
        if not hasattr(context, "world"):
            raise refused(self.world, failures.called_by_numba(self.functions))
        sig = self.world.typing.enter(
            self._calling(len(args), tuple(kws)), (types.intp, *args, *kws.values())
        )
        given = signature(sig.return_type, *sig.args[1:])
        self._signatures[given.args, tuple(kws)] = sig
        return given

    def entered(
        self, args: tuple[Type, ...], names: tuple[str, ...]
    ) -> tuple[InnerDispatcher, Signature]:
        """The function that calls the candidate of a number, and the signature of that for a call
        whose types are inferred. names: of the last arguments."""
        sig = self._signatures.get((args, names))
        if sig is None:
            count = len(args) - len(names)
            named = dict(zip(names, args[count:], strict=True))
            self.get_call_type(self.world.typing, args[:count], named)
            sig = self._signatures[args, names]
        return self._calling(len(args) - len(names), names), sig

    def _calling(self, count: int, names: tuple[str, ...]) -> InnerDispatcher:
        return self.world.choosing(self.candidates, (*[BY_POSITION] * count, *names))

    def can_convert_from(self, typingctx: Any, other: Type) -> Any:
        if _candidate(other) in self.candidates:
            return Conversion.safe
        if isinstance(other, ChosenType) and set(other.candidates) <= set(self.candidates):
            return Conversion.safe
        return None

    def can_convert_to(self, typingctx: Any, other: Type) -> Any:
        if not isinstance(other, types.FunctionType):
            return None
        found = [typingctx.can_convert(each, other) for each in self.candidates]
        return None if None in found else Conversion.safe


def chosen_among(world: World, one: Type, other: Type) -> Type | None:
    """The type of a value that is one of two functions, or None where it is not known which
    functions these are."""
    found: dict[Type, None] = {}
    for ty in (one, other):
        if isinstance(ty, ChosenType):
            if ty.world is not world:
                return None
            found.update(dict.fromkeys(ty.candidates))
        elif isinstance(ty, WITHOUT_CONTENT) and not isinstance(ty, types.ObjModeDispatcher):
            found[_candidate(ty)] = None
        else:
            return None
    # the same order for any two ways to bring them together
    kinds, order = set(map(_chosen_type, found)), sorted(found, key=lambda ty: ty._code)
    return kinds.pop()(world, tuple(order)) if len(kinds) == 1 else None


def _chosen_type(ty: Type) -> type[ChosenType]:
    return ty.chosen_type if isinstance(ty, CandidateType) else ChosenType


def _candidate(ty: Type) -> Type:
    """A function's type, also where it is being compiled."""
    return ty.dispatcher_type if isinstance(ty, types.RecursiveCall) else ty


def as_global(world: World, candidate: Type) -> Any:
    """The object that code of a world calls a candidate by."""
    if isinstance(candidate, CalleeType):
        return candidate.callee
    if isinstance(candidate, types.Dispatcher):
        return candidate.dispatcher
    return TypedStandIn(candidate)


def uniform(world: World, ty: Type) -> Type:
    """The type of a tuple of different functions, or of numbers of a level and plain ones, as one
    whose items have one type; any other type unchanged."""
    if not isinstance(ty, (types.Tuple, types.NamedTuple)) or not len(ty):
        return ty
    item = world.typing.unify_types(*ty.types)
    if item is None or not (has_chosen(item) or isinstance(item, LevelNumberType)):
        return ty
    return types.UniTuple(item, len(ty))


def compared(world: World, args: Sequence[Type]) -> tuple[Type, ...] | None:
    """The types of functions as types of functions chosen at run time, which can be compared; None
    for other values."""
    if not all(isinstance(ty, (ChosenType, *WITHOUT_CONTENT)) for ty in args):
        return None
    return tuple(
        ty if isinstance(ty, ChosenType) else _chosen_type(ty)(world, (_candidate(ty),))
        for ty in args
    )


def is_comparable(ty: Type) -> bool:
    """Whether values of a type are functions, or callable objects, of which it is known when the
    program is compiled whether they are equal: classes, and objects that define ``__eq__``, are
    not."""
    return _are_all(ty, lambda kind: kind.__eq__ in _BY_IDENTITY)


def is_true(ty: Type) -> bool:
    """Whether values of a type are functions, or callable objects, that are true."""
    return _are_all(ty, lambda kind: not (hasattr(kind, "__bool__") or hasattr(kind, "__len__")))


def _are_all(ty: Type, accept: Callable[[type], bool]) -> bool:
    """Whether values of a type are functions, or callable objects whose class is accepted."""
    if isinstance(ty, ChosenType):
        return all(_are_all(each, accept) for each in ty.candidates)
    other = CandidateType, types.NumberClass  # containers and classes
    if not isinstance(ty, WITHOUT_CONTENT) or isinstance(ty, other):
        return False
    if isinstance(ty, (ObjectType, CalleeType)):
        found = _of_program(ty)
        return not isinstance(found, type) and accept(type(found))
    return not isinstance(getattr(ty, "typing_key", None), type)


# equality of objects that are equal if they are the same, and of bound methods
_BY_IDENTITY: Final = (
    object.__eq__,
    python_types.MethodType.__eq__,
    python_types.BuiltinMethodType.__eq__,
)


def has_chosen(ty: Any) -> bool:
    """Whether a value of a type is, or has among its items, a function chosen at run time."""
    if isinstance(ty, types.BaseTuple):
        return any(map(has_chosen, ty.types))
    parts = getattr(ty, "dtype", None), getattr(ty, "this", None), getattr(ty, "value_type", None)
    return isinstance(ty, ChosenType) or any(isinstance(p, Type) and has_chosen(p) for p in parts)


# ---- code generation ----------------------------------------------------------------------


@register_model(ChosenType)
class _ChosenModel(models.PrimitiveModel):
    def __init__(self, manager: Any, chosen: ChosenType) -> None:
        super().__init__(manager, chosen, manager.lookup(types.intp).get_value_type())


@intrinsic
def is_number(typingctx: Any, chosen: Any, number: Any) -> Any:
    """Whether the number of a candidate is this one; out of reach of all methods and plugins."""
    return types.boolean(types.intp, types.intp), _compare_numbers


def _compare_numbers(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.icmp_signed("==", *args)


@intrinsic
def is_equal(typingctx: Any, one: Any, other: Any) -> Any:
    """Whether two functions are equal; out of reach of all methods and plugins."""
    return types.boolean(one, other), functools.partial(_compare, _as_equal)


@lower_builtin(operator.is_, ChosenType, ChosenType)
def _is_same(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Whether two values are one function of the program."""
    return _compare(_identity, context, builder, sig, args)


def _compare(key: Callable[[Type], Any], context: Any, builder: Any, sig: Any, args: Any) -> Any:
    """Whether the candidates that two values are have one key."""
    among = [ty.candidates if isinstance(ty, ChosenType) else (ty,) for ty in sig.args]
    order = list(dict.fromkeys(key(each) for candidates in among for each in candidates))
    one, other = (
        _selected(
            builder,
            value,
            [context.get_constant(types.intp, order.index(key(c))) for c in candidates],
        )
        for value, candidates in zip(args, among, strict=True)
    )
    return builder.icmp_signed("==", one, other)


@lower_builtin(operator.is_not, ChosenType, ChosenType)
def _is_other(context: Any, builder: Any, sig: Any, args: Any) -> Any:
    return builder.not_(_is_same(context, builder, sig, args))


@lower_cast(types.Integer, ChosenType)
@lower_cast(ChosenType, types.Integer)
def _as_number(context: Any, builder: Any, fromty: Any, toty: Any, value: Any) -> Any:
    return value


@lower_cast(CandidateType, ChosenType)
@lower_cast(types.Callable, ChosenType)
@lower_cast(types.RecursiveCall, ChosenType)
def _from_one(context: Any, builder: Any, fromty: Any, toty: Any, value: Any) -> Any:
    return context.get_constant(types.intp, toty.candidates.index(_candidate(fromty)))


@lower_cast(ChosenType, ChosenType)
def _from_fewer(context: Any, builder: Any, fromty: Any, toty: Any, value: Any) -> Any:
    numbers = [
        context.get_constant(types.intp, toty.candidates.index(c)) for c in fromty.candidates
    ]
    return _selected(builder, value, numbers)


@lower_cast(ChosenType, types.FunctionType)
def _as_function(context: Any, builder: Any, fromty: Any, toty: Any, value: Any) -> Any:
    dummy = context.get_dummy_value()
    found = [context.cast(builder, dummy, each, toty) for each in fromty.candidates]
    return _selected(builder, value, found)


@lower_cast(types.NamedTuple, types.UniTuple)
def _as_uniform(context: Any, builder: Any, fromty: Any, toty: Any, value: Any) -> Any:
    items = cgutils.unpack_tuple(builder, value, len(fromty))
    given = [
        context.cast(builder, item, ty, toty.dtype)
        for item, ty in zip(items, fromty.types, strict=True)
    ]
    return context.make_tuple(builder, toty, given)


@box(ChosenType)
def _boxed(ty: Any, value: Any, c: Any) -> Any:
    """The function of the program."""
    found = [address_of(c, _in_python(ty.world, each)) for each in ty.candidates]
    return boxed_object(c, _selected(c.builder, value, found))


@box(CalleeType)
def _boxed_target(ty: Any, value: Any, c: Any) -> Any:
    return boxed_object(c, address_of(c, _in_python(ty.callee.world, ty)))


@box(types.Function)
def _boxed_builtin(ty: Any, value: Any, c: Any) -> Any:
    return boxed_object(c, address_of(c, _of_program(ty)))


def _in_python(world: World, ty: Type) -> Any:
    callee = getattr(ty, "callee", None)
    in_context = callee is not None and callee.context is not None and callee.held is callee.target
    if callee is not None and (callee.is_next or callee.is_base or in_context):
        raise refused(world, failures.chosen_returned(callee.target))
    return _of_program(ty)


def _of_program(ty: Type) -> Any:
    if isinstance(ty, types.Dispatcher):
        return getattr(ty.dispatcher, "function", ty.dispatcher)
    if isinstance(ty, CalleeType):
        return ty.callee.held
    key = getattr(ty, "typing_key", ty)
    return getattr(key, "of_program", key) if is_kernel(key) else key


def _identity(ty: Type) -> Any:
    """The key of a function of the program: the function, and the context that it brings."""
    function, place = id(_of_program(ty)), None
    if isinstance(ty, CalleeType):
        callee = ty.callee
        place = callee.is_next, callee.is_base or callee.world.is_bare, callee.context
    elif isinstance(ty, types.Dispatcher):
        world = getattr(ty.dispatcher, "world", None)
        place = False, world is not None and world.is_bare, None
    return function, place or (False, False, None)


def _as_equal(ty: Type) -> Any:
    """The key of a function of the program among those with which it is compared by ``==``: two
    bound methods are equal if they are one method of one object."""
    found, (function, place) = _of_program(ty), _identity(ty)
    if isinstance(found, python_types.MethodType):
        return (id(found.__self__), id(found.__func__)), place
    if isinstance(found, python_types.BuiltinMethodType):
        return (id(found.__self__), found.__name__), place
    return function, place


def _selected(builder: Any, number: Any, values: Sequence[Any]) -> Any:
    """The value at the place of a number."""
    found = values[0]
    for place, value in enumerate(values[1:], 1):
        found = builder.select(builder.icmp_signed("==", number, number.type(place)), value, found)
    return found
