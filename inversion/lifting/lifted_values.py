"""Values of names while a function is lifted: operands of the program, and known objects."""

from __future__ import annotations

import functools
from collections.abc import (
    Callable,
    ItemsView,
    Iterable,
    Iterator,
    KeysView,
    Mapping,
    Sequence,
    ValuesView,
)
from dataclasses import dataclass, replace
from types import CellType, CodeType, FunctionType, GeneratorType, MethodType
from typing import TYPE_CHECKING, Any, TypeGuard

import numpy as np

from inversion.errors import NotInvertible
from inversion.program.statements import Constant, Operand, Variable
from inversion.program.trees import Node, Tree, defaults_of, fields_of, is_record
from overlay.code.body import is_step
from overlay.core.dispatch import MethodChain
from overlay.core.short_repr import a_or_an
from overlay.core.target import describe
from primitives.arrays.domain import ELEMENTS
from primitives.sequences.lists import is_list

if TYPE_CHECKING:
    from inversion.lifting.resolve import Resolver


@dataclass(frozen=True, eq=False)
class KnownObject:
    """A value known at lifting that is not a number: a function, a module, an instance."""

    value: Any

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, KnownObject) or type(self.value) is not type(other.value):
            return False
        return self.value == other.value if self.kind is str else self.value is other.value

    def __hash__(self) -> int:
        return hash(self.value) if self.kind is str else id(self.value)

    @property
    def kind(self) -> Any:
        return type(self.value)


@dataclass(frozen=True)
class Tupled:
    """A tuple, named tuple or record of values; or the contents of a list, dict, set or instance at
    one place of the program.

    kind: its class. keys: the keys of the items of a dict or set, or the names of the attributes of
    an instance.
    """

    kind: type
    items: tuple[Value, ...]
    keys: tuple[Any, ...] | None = None

    def of(self, items: Iterable[Value]) -> Tupled:
        """The structure with other items."""
        return Tupled(self.kind, tuple(items), self.keys)

    def is_like(self, other: Value) -> TypeGuard[Tupled]:
        """Return whether another value has the same structure, apart from its items."""
        return (
            isinstance(other, Tupled)
            and self.kind is other.kind
            and len(self.items) == len(other.items)
            and self.keys == other.keys
        )


@dataclass(eq=False)
class HeapObject:
    """A list, dict, set or instance that the function makes.

    It has identity. Its contents, a ``Tupled``, are stored among the values of names, under itself
    as the key, so that paths fork and join them like other values. fixed: whether changes are
    refused, because it has been joined with another object.
    """

    kind: type
    fixed: bool = False


@dataclass(frozen=True)
class Meaningless:
    """A value that cannot be lifted; its error is raised at its use. of_use: whether the error
    belongs to the line of the use.
    """

    error: NotInvertible
    of_use: bool = False
    kind: type = object


@dataclass(frozen=True)
class Range:
    """A range, whose start, stop and step may be variables."""

    start: Operand
    stop: Operand
    step: Operand
    kind: type = range


@dataclass(frozen=True)
class Iterating:
    """An iterator over a range that is not unrolled, or over the remaining items.

    more: for a range, the condition under which it continues, if that is an operand.
    """

    over: Range | None
    items: tuple[Value, ...] = ()
    more: Operand | None = None
    kind: type = object


@dataclass(frozen=True)
class Pair:
    """The result of advancing an iterator.

    item: None if there is none. more: whether there is an item; MORE if that is unknown.
    """

    item: Value | None
    more: Value
    kind: type = object


@dataclass(frozen=True, eq=False)
class Again:
    """The result of a recursive call with the given arguments, times ``scale``, plus ``shift``.

    of: the recursive calls of the function.
    """

    of: Any
    args: tuple[Value, ...]
    shift: Operand
    scale: Operand
    kind: type = object


@dataclass(frozen=True)
class BoundMethod:
    """A method with its instance."""

    function: Any
    instance: Value
    kind: type = MethodType


@dataclass(frozen=True, eq=False)
class InnerFunction:
    """A function that the function makes.

    cells: the objects with the values of its free variables. defaults: the defaults of its last
    parameters; named: those of keyword-only ones. module: its globals.
    """

    code: CodeType
    cells: tuple[HeapObject, ...]
    defaults: tuple[Value, ...]
    named: Mapping[str, Value]
    module: dict[str, Any]
    kind: type = FunctionType


@dataclass(frozen=True, eq=False)
class Partial:
    """A function whose first arguments, and some named ones, are bound."""

    function: Value
    args: tuple[Value, ...]
    kwargs: Mapping[str, Value]
    kind: type = functools.partial


@dataclass(frozen=True, eq=False)
class Generating:
    """A generator.

    given: the arguments of its function. cells: those of the free variables of the function. used:
    the cell that is filled after it has run.
    """

    function: Any
    given: tuple[Value, ...]
    cells: tuple[HeapObject, ...]
    site: CallSite
    used: HeapObject
    kind: type = GeneratorType


@dataclass(frozen=True)
class Giving:
    """The consumer of the values that a generator yields.

    held: the cell with the accumulated value. add: computes the next accumulated value from it and
    a further value.
    """

    held: HeapObject
    add: Callable[[Value, Value], Value]


Value = (
    Operand
    | KnownObject
    | Tupled
    | HeapObject
    | Meaningless
    | Range
    | Iterating
    | Pair
    | Again
    | BoundMethod
    | InnerFunction
    | Partial
    | Generating
)


Known = dict[Any, Value]
"""Values of names, and contents of the objects that the function makes."""


Values = Sequence[Value]


Named = Mapping[str, Value]


@dataclass(frozen=True)
class CallSite:
    """The site of a call.

    name: the name of the variable that it assigns. where: ``file:line``. resolver: resolves calls
    in the contexts in force. overlaid: whether there is any. chain: in a method, the position at
    which ``call_next`` continues. active: the calls being inlined. differentiated: whether
    derivatives are computed of the statements.
    """

    name: str
    where: str
    resolver: Resolver
    overlaid: bool
    chain: MethodChain | None = None
    active: tuple[Any, ...] = ()
    differentiated: bool = False

    @property
    def in_force(self) -> tuple[Any, ...]:
        """The settings that determine the meaning of a call here."""
        return self.resolver, self.overlaid, self.chain

    def like(self, other: CallSite) -> CallSite:
        """This site with the settings in force at another one."""
        resolver, overlaid, chain = other.in_force
        return replace(self, resolver=resolver, overlaid=overlaid, chain=chain)


MORE = object()
"""A sentinel for the condition that a range continues."""


CONTAINERS = (list, set, frozenset, bytes, bytearray)
"""Classes of containers that are made from their items."""


UNROLLED = 16
"""The maximum length of a range of constants that is unrolled."""


VALUES = (
    Variable, Constant, KnownObject, Tupled, Range, Iterating, Again, HeapObject, BoundMethod,
    InnerFunction, Partial, Generating,
)  # fmt: skip


def value_of(value: Any) -> Value:
    if isinstance(value, VALUES):
        return value
    if isinstance(value, tuple):
        return Tupled(type(value), tuple(map(value_of, value)))
    if isinstance(value, np.float64):
        return Constant(float(value))
    if isinstance(value, (bool, int, float, complex, np.generic)):
        return Constant(value)
    if type(value) is np.ndarray and value.size and value.dtype.type in ELEMENTS:
        return Constant(np.ascontiguousarray(value) if value.ndim else value[()])
    return KnownObject(value)


def kinds_of(args: Values, kwargs: Named) -> tuple[Any, ...]:
    return tuple(value.kind for value in (*args, *kwargs.values()))


def numbers_of(args: Values) -> list[Operand]:
    return [arg if isinstance(arg, (Variable, Constant)) else Constant(plain(arg)) for arg in args]


def plain(value: Value) -> Any:
    """The Python object of a value without variables."""
    if isinstance(value, Tupled):
        items = map(plain, value.items)
        if value.kind is dict:
            return dict(zip(value.keys or (), items, strict=True))
        if value.kind in CONTAINERS:
            return value.kind(items)
        if value.kind is str:
            return "".join(items)
        if is_record(value.kind) or value.kind is tuple:
            return value.kind(*items) if is_record(value.kind) else tuple(items)
    if isinstance(value, (KnownObject, Constant)):
        return value.value
    raise NotInvertible(
        f"{a_or_an(shown_kind(value))} that depends on the arguments is used where a constant "
        "is needed",
        where=None,  # the caller sets the line of the statement
        help="write the choice with if, with a constant in each branch",
    )


def is_true(value: Value) -> bool:
    """Return whether a value without variables counts as true."""
    return bool(value.items) if isinstance(value, Tupled) else bool(plain(value))


def is_known(value: Value) -> bool:
    """Return whether the Python object of a value is known at lifting."""
    if isinstance(value, Tupled):
        return all(map(is_known, value.items))
    return isinstance(value, (KnownObject, Constant))


def numbers_in(value: Value) -> Iterator[Operand]:
    if isinstance(value, Tupled):
        for item in value.items:
            yield from numbers_in(item)
    elif isinstance(value, (Variable, Constant)):
        yield value


def variables_in(value: Value) -> list[Variable]:
    return [v for v in numbers_in(value) if isinstance(v, Variable)]


def same_kinds(one: Value, other: Value) -> bool:
    return [v.kind for v in numbers_in(one)] == [v.kind for v in numbers_in(other)]


def shown_kind(value: Value) -> str:
    return getattr(value.kind, "__name__", str(value.kind))


def of_tree(tree: Tree) -> Value:
    if isinstance(tree, Node):
        return Tupled(tree.cls, tuple(map(of_tree, tree.items)))
    return tree


def as_tree(value: Value) -> Tree:
    if isinstance(value, Tupled):
        return Node(value.kind, tuple(map(as_tree, value.items)), value.keys)
    return value


def read(known: Known, name: str, where: str) -> Value:
    """The value of a name. Raises NotInvertible if it has none that can be lifted."""
    if name not in known:
        raise not_set(name, where)
    value = known[name]
    if is_cell(value):
        held = known[value]
        if isinstance(held, Tupled):
            if not held.items:
                raise not_set(name, where)
            (value,) = held.items
        else:
            value = held
    if isinstance(value, Meaningless):
        if value.of_use:
            value.error.where = where
        raise value.error
    return value


def is_cell(value: Value | None) -> TypeGuard[HeapObject]:
    """Return whether a name's value is the cell of a variable that inner functions share."""
    return isinstance(value, HeapObject) and value.kind is CellType


def store(known: Known, name: str, value: Value) -> None:
    """Set a name to a value, or its cell."""
    cell = known.get(name)
    if cell is not None and is_cell(cell):
        known[cell] = Tupled(CellType, (value,))
    else:
        known[name] = value


def heap_of(known: Known) -> Known:
    """The contents of all objects."""
    return {key: value for key, value in known.items() if isinstance(key, HeapObject)}


def not_set(name: str, where: str) -> NotInvertible:
    """The error for a name that has no value, or an unknown one."""
    if is_step(name):
        help = "return the value from the inner function, and assign it outside"
        return refused("a variable that an inner function sets, or super()", where, help)
    return NotInvertible(
        f"{name} may be used before it has a value",
        where=where,
        help="assign a value before the loop or branch",
    )


def shown_name(name: str) -> str:
    """The name of a variable in an error; a step of an expression has none."""
    return "a value" if is_step(name) else name


class Raises(NotInvertible):
    """A step that raises for all values of the variables: its path has no result."""

    def __init__(self, what: str, where: str) -> None:
        super().__init__(
            what,
            where=where,
            help="it raises for all arguments: correct it, or guard it with a condition",
        )


def list_limit(values: Values) -> tuple[list[tuple[str, str]], str]:
    """The note and the remedy of an error for an operation that needs the items of these values,
    which are not known, if one of them is a list: a loop made it, and so it is a single value.
    """
    kinds = [value.kind for value in values if isinstance(value, (Variable, HeapObject))]
    if not any(kind is list or is_list(kind) for kind in kinds):
        return [], ""
    return (
        [
            (
                "limit",
                "a list that a loop or a comprehension makes in more than "
                f"{UNROLLED} iterations is one value, without single items",
            )
        ],
        "make the items in a generator expression over a known range, such as "
        f"tuple(i * x for i in range(100)), or at most {UNROLLED} of them; or ",
    )


def refused(what: str, where: str, help: str, values: Values = ()) -> NotInvertible:
    """The error for a statement that cannot be lifted. help: the remedy. values: those of which it
    needs the items.
    """
    notes, remedy = list_limit(values)
    return NotInvertible(
        f"cannot invert a statement of this kind: {what}",
        where=where,
        notes=[("modes available", "none"), *notes],
        help=remedy + help,
    )


def unpacked(site: CallSite, source: Value, count: int) -> Value:
    items = source.items if isinstance(source, Tupled) else None
    if items is None or len(items) != count:
        help = "unpack a tuple or a list of known length"
        what = f"unpacking of {a_or_an(shown_kind(source))} into {count}"
        raise refused(what, site.where, help, (source,))
    return source


def attribute_of(site: CallSite, base: Value, attribute: str) -> Value:
    if isinstance(base, Tupled) and attribute in fields_of(base.kind):
        return base.items[fields_of(base.kind).index(attribute)]
    if not isinstance(base, KnownObject) or not hasattr(base.value, attribute):
        raise NotInvertible(
            f"cannot invert the attribute {attribute!r} of {a_or_an(shown_kind(base))}",
            where=site.where,
            help="call a function of it instead; only attributes of modules, and of objects that "
            "the function makes or closes over, are supported",
        )
    return value_of(getattr(base.value, attribute))


def function_in(site: CallSite, value: Value) -> Any:
    if not isinstance(value, KnownObject) or not callable(value.value):
        raise NotInvertible(
            f"cannot invert a call of {a_or_an(shown_kind(value))}",
            where=site.where,
            help="call a function, a method or a class",
        )
    return value.value


def record(site: CallSite, cls: type, args: Values, kwargs: Named) -> Value:
    """An instance of a record class with these values."""
    given = dict(zip(fields_of(cls), args, strict=False)) | dict(kwargs)
    defaults = defaults_of(cls)
    items = [given.get(name, value_of(defaults.get(name, _MISSING))) for name in fields_of(cls)]
    if len(given) != len(args) + len(kwargs) or any(_is_missing(item) for item in items):
        raise NotInvertible(
            f"cannot call {describe(cls)} like this: its fields are {', '.join(fields_of(cls))}",
            where=site.where,
            help="give each field once",
        )
    return Tupled(cls, tuple(items))


_MISSING = object()


def _is_missing(value: Value) -> bool:
    return isinstance(value, KnownObject) and value.value is _MISSING


def range_of(site: CallSite, args: Values) -> Range:
    numbers = [arg for arg in args if isinstance(arg, (Variable, Constant))]
    if len(numbers) != len(args) or not 1 <= len(args) <= 3:
        raise refused("range of these arguments", site.where, "give it one to three integers")
    start, stop = (Constant(0), numbers[0]) if len(numbers) == 1 else numbers[:2]
    return Range(start, stop, numbers[2] if len(numbers) == 3 else Constant(1))


def items_in_turn(value: Value, most: int = UNROLLED) -> tuple[Value, ...] | None:
    """The items of a value in order of iteration, if they are unrolled: those of a tuple or known
    container, or of a range of at most ``most`` constants; else None.
    """
    if isinstance(value, Tupled):
        return tuple(map(value_of, value.keys or ())) if value.kind is dict else value.items
    if isinstance(value, (KnownObject, Constant)) and isinstance(value.value, ITERABLES):
        return tuple(map(value_of, value.value))
    if isinstance(value, Iterating):
        return value.items if value.over is None else None
    if not isinstance(value, Range):
        return None
    ends = [e.value for e in (value.start, value.stop, value.step) if isinstance(e, Constant)]
    if len(ends) < 3 or len(range(*ends)) > most:
        return None
    return tuple(map(Constant, range(*ends)))


ITERABLES = (
    str, bytes, list, tuple, dict, set, frozenset, KeysView, ValuesView, ItemsView, range,
)  # fmt: skip
"""Classes of known objects that are iterated at lifting."""


def iterator_over(value: Range) -> Iterating:
    """An iterator over a range; a short range of constants is unrolled."""
    items = items_in_turn(value)
    return Iterating(value) if items is None else Iterating(None, items)


def next_of(iterator: Value) -> Pair:
    assert isinstance(iterator, Iterating)
    if iterator.over is not None:
        return Pair(iterator.items[0], iterator.more or KnownObject(MORE))
    return Pair(next(iter(iterator.items), None), Constant(bool(iterator.items)))


def advanced(iterator: Value) -> Value:
    if isinstance(iterator, Iterating) and iterator.over is None:
        return Iterating(None, iterator.items[1:])
    return iterator


def item_of_pair(pair: Value) -> Value:
    assert isinstance(pair, Pair)
    return KnownObject(None) if pair.item is None else pair.item


def more_of_pair(pair: Value) -> Value:
    assert isinstance(pair, Pair)
    return pair.more
