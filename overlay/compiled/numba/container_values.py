"""Containers of functions as values of compiled code.

A list, a dict or an instance of a dataclass with functions in it has a type of its own, without
content. What reads it is a call of a generated function, in which each item is named: so its
functions are resolved like any that the program names. One of several containers is a number, as
one of several functions is (``chosen_functions``).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from numba.core import types
from numba.core.types.functions import WeakType
from numba.extending import box, models, register_model

from overlay.code.held_functions import changeable_in, contents_of, fields_read
from overlay.code.record import same_items
from overlay.compiled import failures
from overlay.compiled.glue import BY_POSITION, calling, choosing, finding, generating, returning
from overlay.compiled.numba.chosen_functions import (
    CandidateType,
    ChosenType,
    is_comparable,
    is_equal,
    is_number,
    is_true,
    uniform,
)
from overlay.compiled.numba.numba_types import (
    BoundCallee,
    CalledAtOnce,
    Native,
    StandIn,
    Type,
    address_of,
    boxed_object,
    refused,
)

if TYPE_CHECKING:
    from overlay.compiled.numba.dispatchers import InnerDispatcher
    from overlay.compiled.world import World

__all__ = [
    "METHODS",
    "ChosenContainerType",
    "ContainerType",
    "HeldContainer",
    "ReadsType",
    "attribute_of_container",
    "is_container",
    "iterated",
    "read_by_operator",
    "reader_of",
    "refuse",
]

# The methods of a dict that read it.
METHODS: Final = ("get", "keys", "values", "items")


class HeldContainer(StandIn):
    """Stand-in for a container of functions that the program holds, with what is in it now."""

    def __init__(self, world: World, container: Any) -> None:
        self.world = world
        self.container = container
        self._contents = [(each, contents_of(each)) for each in changeable_in(container)]
        self._numba_type_ = ContainerType(self)

    def is_current(self) -> bool:
        """Whether nothing in it has changed since."""
        return all(same_items(contents_of(each), known) for each, known in self._contents)

    def in_python(self) -> Any:
        return self.container


class ContainerType(WeakType, types.IterableType, CandidateType):
    """The type of one container of functions; the value has no content."""

    def __init__(self, held: HeldContainer) -> None:
        self._store_object(held)
        super().__init__(f"{type(held.container).__name__} with functions at {id(held):#x}")

    @property
    def held(self) -> HeldContainer:
        return self._get_object()

    @property
    def chosen_type(self) -> type[ChosenType]:
        return ChosenContainerType

    @property
    def containers(self) -> list[Any]:
        """The container in the program, in a list."""
        return [self.held.container]

    @property
    def python_class(self) -> type | None:
        """The class of the container in the program."""
        return type(self.held.container)

    @property
    def iterator_type(self) -> Type:
        return iterated(self.held.world, self).iterator_type


class ChosenContainerType(ChosenType, types.IterableType):
    """The type of a container of functions that is one of some; the value is its place among
    them."""

    @property
    def containers(self) -> list[Any]:
        """The containers in the program."""
        return [each.held.container for each in self.candidates]

    @property
    def python_class(self) -> type | None:
        found = set(map(type, self.containers))
        return found.pop() if len(found) == 1 else None

    @property
    def iterator_type(self) -> Type:
        return iterated(self.world, self).iterator_type

    def get_call_type(self, context: Any, args: Sequence[Type], kws: Mapping[str, Type]) -> Any:
        return None


class ReadsType(WeakType, CalledAtOnce, types.Opaque):
    """The type of a method of a dict, by its name, as a function of the dict."""

    def __init__(self, world: World, method: str) -> None:
        self._store_object(world)
        self.method = method
        super().__init__(f"dict.{method}")

    @property
    def key(self) -> Any:
        return self._wr, self.method

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ReadsType) and self.key == other.key

    def __hash__(self) -> int:
        return hash((self.method, id(self._wr())))

    def get_call_type(self, context: Any, args: Sequence[Type], kws: Mapping[str, Type]) -> Any:
        entered = self.entered(args, kws)
        return None if entered is None else self._get_object().typing.enter(entered, tuple(args))

    def entered(self, args: Sequence[Type], kws: Mapping[str, Type]) -> InnerDispatcher | None:
        """The function that a call enters; None where the dict has no such method."""
        counts = (1, 2) if self.method == "get" else (0,)
        if kws or len(args) - 1 not in counts:
            return None
        world = self._get_object()
        if self.method == "get":
            return reader_of(world, args[0], "get", len(args) - 1)
        return iterating(world, args[0], self.method)


for _type in (ContainerType, ReadsType):
    register_model(_type)(models.OpaqueModel)


@register_model(ChosenContainerType)
class _ChosenContainerModel(models.PrimitiveModel):
    def __init__(self, manager: Any, chosen: ChosenContainerType) -> None:
        super().__init__(manager, chosen, manager.lookup(types.intp).get_value_type())


@box(ContainerType)
def _boxed(ty: Any, value: Any, c: Any) -> Any:
    """The container of the program."""
    return boxed_object(c, address_of(c, ty.held.container))


def is_container(ty: Any) -> bool:
    """Whether values of a type are containers of functions that the program holds."""
    return isinstance(ty, (ContainerType, ChosenContainerType))


def refuse(world: World, ty: Type, use: str) -> Exception:
    """The error for a use of a container of functions that is no read of it."""
    return refused(world, failures.functions_held(ty.containers[0], use))


def attribute_of_container(world: World, ty: Any, name: str) -> Type:
    """The type of an attribute: a method of a dict that reads it, or a field of a dataclass."""
    if name in METHODS and all(isinstance(each, dict) for each in ty.containers):
        return BoundCallee(ReadsType(world, name), ty, name, None)
    reader = reader_of(world, ty, "field", 0, name)
    if reader is None:
        raise refuse(world, ty, f"asked for its {name}")
    return world.typing.enter(reader, (ty,)).return_type


# ---- what reads them ----------------------------------------------------------------------


def reader_of(
    world: World, ty: Type, operation: str, count: int, static: Any = None
) -> InnerDispatcher | None:
    """The function that does an operation on a container of this type, with so many more
    arguments; None where one of the containers has no such operation. static: the item or the
    field, where it is known."""
    candidates = ty.candidates if isinstance(ty, ChosenContainerType) else (ty,)
    raw = [_reader(world, each.held, operation, count, static) for each in candidates]
    if None in raw:
        return None
    ways = [BY_POSITION if static is None else None] * count

    def make() -> Any:
        functions = [world.dispatcher(each) for each in raw]
        if isinstance(ty, ContainerType):
            return calling(functions[0], (None, *ways))
        return choosing(functions, tuple(ways), is_number)

    return world.generated((ty, operation, type(static), static, count), make)


def _reader(
    world: World, held: HeldContainer, operation: str, count: int, static: Any
) -> Callable[..., Any] | None:
    """A function that does an operation on one container, without that as a parameter."""
    owner = held.container
    values = contents_of(owner)
    is_dict = isinstance(owner, dict)
    if operation == "field":
        found = fields_read(owner).get(static, _MISSING)
        return None if found is _MISSING else returning("v0", "", v0=found)
    if operation in METHODS and not is_dict:
        return None
    if not isinstance(owner, (list, dict)):
        return None
    return _of_items(world, operation, count, static, values, is_dict)


def _of_items(
    world: World, operation: str, count: int, static: Any, items: dict[Any, Any], is_dict: bool
) -> Callable[..., Any] | None:
    named = {f"v{i}": value for i, value in enumerate(items.values())}
    keys = {f"k{i}": key for i, key in enumerate(items)}
    every, every_key = (
        f"({''.join(f'{n}, ' for n in named)})",
        f"({''.join(f'{n}, ' for n in keys)})",
    )
    pairs = f"({''.join(f'({k}, {v}), ' for k, v in zip(keys, named, strict=True))})"
    parts = {"iterate": every_key if is_dict else every, "keys": every_key, "values": every}
    parts |= {"items": pairs, "unpack": parts["iterate"]}
    if operation == "size":
        return returning("count", "", count=len(items))
    if operation == "unpack" and static != len(items):
        return None
    if operation in parts:
        return returning(parts[operation], "", **named, **keys)
    if operation.startswith("at "):  # the place in an iteration
        chosen = parts[operation.removeprefix("at ")]
        return returning(f"item({chosen}, i)", "i", item=_ITEM, **named, **keys)
    if static is not None:
        found = items.get(static, _MISSING) if is_dict else _listed(items, static)
        return None if found is _MISSING else returning("v0", "", v0=found)
    if operation == "contains":
        return _containing(world, items, every, named, is_dict)
    if not is_dict:
        return returning(f"item({every}, key)", "key", item=_ITEM, **named)
    has_default = operation == "get"
    look = world.looking_up(tuple(items), has_default=has_default)
    given = "key, default" if count == 2 else "key"
    passed = "key, default, " if count == 2 else "key, None, " if has_default else "key, "
    return returning(f"look({passed}{', '.join(named)})", given, look=look, **named)


def _listed(items: dict[Any, Any], index: Any) -> Any:
    try:
        return list(items.values())[index]
    except (IndexError, TypeError):  # which the running program raises
        return _MISSING


def _containing(
    world: World, items: dict[Any, Any], every: str, named: dict[str, Any], is_dict: bool
) -> Callable[..., Any]:
    if not is_dict:
        return returning(f"has({every}, item)", "item", has=Native(operator.contains), **named)
    look = world.looking_up(tuple(items), has_default=True)
    return returning(f"look(key, False, {', '.join(['True'] * len(items))})", "key", look=look)


# How functions are compared.
COMPARING: Final = {
    operator.eq: ("same(one, other)", "one, other"),
    operator.ne: ("not same(one, other)", "one, other"),
}
# How a function, or None, is tested.
TESTING: Final = {bool: "f is not None", operator.not_: "f is None"}
_ITEM: Final = Native(operator.getitem)
_RANGE: Final = Native(range)
_MISSING: Final = object()


def iterated(world: World, ty: Type) -> Type:
    """The type of what is iterated over in place of a container: the tuple of its items, or of its
    keys; for one of several a generator of them."""
    return uniform(world, world.typing.enter(iterating(world, ty), (ty,)).return_type)


def iterating(world: World, ty: Type, part: str = "iterate") -> InnerDispatcher:
    """The function that gives what is iterated over."""
    if isinstance(ty, ContainerType):
        found = reader_of(world, ty, part, 0)
    else:
        size = reader_of(world, ty, "size", 0)
        at = reader_of(world, ty, f"at {part}", 1)
        key = ty, "iterating", part
        found = None if at is None else world.generated(key, lambda: generating(size, at, _RANGE))
    if found is None:
        raise refuse(world, ty, "iterated over")
    return found


def read_by_operator(world: World, function: Any, args: Sequence[Type]) -> InnerDispatcher | None:
    """The function that ``len``, ``in`` or a subscript of a container enters, and that ``in`` does
    with a function that is looked for in a tuple; None for other calls."""
    key = getattr(function, "typing_key", function)
    if not args:
        return None
    if any(key is each for each in COMPARING) and all(map(is_comparable, args)):
        how = COMPARING[key]
        return world.generated(("comparing", key), lambda: returning(*how, same=is_equal))
    if any(key is each for each in TESTING) and is_true(getattr(args[0], "type", args[0])):
        return world.generated(("testing", key), lambda: returning(TESTING[key], "f"))
    if is_container(args[0]):
        if key is len:
            return reader_of(world, args[0], "size", 0)
        if key is operator.contains:
            return reader_of(world, args[0], "contains", 1)
        if key is operator.getitem:
            if isinstance(args[1], types.SliceType):
                raise refuse(world, args[0], "sliced")
            return _item_reader(world, args[0], args[1])
        return None
    if key is operator.contains and isinstance(args[0], types.BaseTuple) and is_comparable(args[1]):
        return world.generated("finding", lambda: finding(is_equal))
    return None


def _item_reader(world: World, ty: Type, index: Type) -> InnerDispatcher | None:
    if isinstance(index, (types.IntegerLiteral, types.StringLiteral)):
        found = reader_of(world, ty, "item", 1, index.literal_value)
        if found is not None:
            return found
    return reader_of(world, ty, "item", 1)
