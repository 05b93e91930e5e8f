"""Values of names while a function is lifted: operands of the program, and known objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MethodType
from typing import Any, Final

import numpy as np

from inversion.errors import NotInvertible
from inversion.program.statements import Constant, Operand, Variable
from inversion.program.trees import Node, Tree, defaults_of, fields_of, is_record
from overlay.code.body import is_step
from overlay.core.dispatch import MethodChain
from overlay.core.target import describe
from primitives.arrays.domain import ELEMENTS


@dataclass(frozen=True, eq=False)
class KnownObject:
    """A value known while lifting that is no number: a function, a module, an instance."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, KnownObject) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)

    @property
    def kind(self) -> Any:
        return type(self.value)


@dataclass(frozen=True)
class Tupled:
    """A tuple, named tuple, record or list of values. kind: its class."""

    kind: type
    items: tuple[Value, ...]


@dataclass(frozen=True)
class Meaningless:
    """A value that cannot be lifted; its error is raised where it is used."""

    error: NotInvertible
    kind: type = object


@dataclass(frozen=True)
class Range:
    """A range; its start, stop and step may be variables."""

    start: Operand
    stop: Operand
    step: Operand
    kind: type = range


@dataclass(frozen=True)
class Iterating:
    """An iterator over a range that is not unrolled, or over the remaining items. more: for a
    range, the condition that it continues, where that is an operand.
    """

    over: Range | None
    items: tuple[Value, ...] = ()
    more: Operand | None = None
    kind: type = object


@dataclass(frozen=True)
class Pair:
    """Result of advancing an iterator. item: None where there was none. more: whether there was
    an item; MORE where that is unknown.
    """

    item: Value | None
    more: Value
    kind: type = object


@dataclass(frozen=True, eq=False)
class Again:
    """Result of a recursive call with the given arguments, times ``scale``, plus ``shift``. of:
    the function's recursive calls.
    """

    of: Any
    args: tuple[Value, ...]
    shift: Operand
    scale: Operand
    kind: type = object


@dataclass(frozen=True)
class BoundMethod:
    """A method of a string or list that varies: the function, and its instance."""

    function: Any
    instance: Operand
    kind: type = MethodType


Value = (
    Operand | KnownObject | Tupled | Meaningless | Range | Iterating | Pair | Again | BoundMethod
)


Values = Sequence[Value]


Named = Mapping[str, Value]


@dataclass(frozen=True)
class CallSite:
    """Site of a call. name: of the variable that it assigns. where: ``file:line``.

    overlaid: whether the context is in force. chain: the position at which ``call_next``
    continues, in a method. active: the calls being inlined.
    """

    name: str
    where: str
    overlaid: bool
    chain: MethodChain | None = None
    active: tuple[Any, ...] = ()


MORE = object()
"""Sentinel for the condition that a range continues."""


UNROLLED = 16
"""Maximum length of a range of constants that is unrolled."""


def value_of(value: Any) -> Value:
    if isinstance(value, (Variable, Constant, KnownObject, Tupled, Range, Iterating, Again)):
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
        if value.kind is list:
            return list(items)
        return value.kind(*items) if is_record(value.kind) else tuple(items)
    if isinstance(value, (KnownObject, Constant)):
        return value.value
    raise NotInvertible(
        f"{value} stands where a relation needs what is known",
        help="give the relation numbers, or what the program does not change",
    )


def is_true(value: Value) -> bool:
    """Whether a value without variables counts as true."""
    return bool(value.items) if isinstance(value, Tupled) else bool(plain(value))


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


def has_list(value: Value) -> bool:
    """Whether a value is a list, or a tuple with one in it."""
    return isinstance(value, Tupled) and (value.kind is list or any(map(has_list, value.items)))


def as_tree(value: Value) -> Tree:
    if isinstance(value, Tupled):
        return Node(value.kind, tuple(map(as_tree, value.items)))
    return value


def read(known: Named, name: str, where: str) -> Value:
    """The value of a name. Raises NotInvertible where it has none that can be lifted."""
    if name not in known:
        raise not_set(name, where)
    value = known[name]
    if isinstance(value, Meaningless):
        raise value.error
    return value


def not_set(name: str, where: str) -> NotInvertible:
    """The error for a name that has no value, or an unknown one."""
    if is_step(name):
        return refused("a variable that a function made within it sets, or super()", where)
    return NotInvertible(
        f"{name} may be used before it has a value",
        where=where,
        help="give it one before the loop or branch that does",
    )


def shown_name(name: str) -> str:
    """The name of a variable in an error; a step of an expression has none."""
    return "a value" if is_step(name) else name


WRITTEN: Final = "write it with assignments, operators, branches and calls of functions"


def refused(what: str, where: str, help: str = WRITTEN) -> NotInvertible:
    """The error for a statement that cannot be lifted. help: the remedy."""
    return NotInvertible(
        f"cannot invert a statement of this kind: {what}",
        where=where,
        notes=[("modes available", "none")],
        help=help,
    )


def item_at(site: CallSite, source: Value, index: Any) -> Value:
    if isinstance(source, KnownObject):
        return value_of(source.value[index])
    if not isinstance(source, Tupled):
        raise refused(f"item of a {shown_kind(source)}", site.where)
    found = source.items[index]
    return Tupled(tuple, found) if isinstance(found, tuple) else found


def unpacked(site: CallSite, source: Value, count: int) -> Value:
    items = source.items if isinstance(source, Tupled) else None
    if items is None or len(items) != count:
        raise refused(f"a {shown_kind(source)} taken apart into {count}", site.where)
    return source


def attribute_of(site: CallSite, base: Value, attribute: str) -> Value:
    if isinstance(base, Tupled) and attribute in fields_of(base.kind):
        return base.items[fields_of(base.kind).index(attribute)]
    if not isinstance(base, KnownObject) or not hasattr(base.value, attribute):
        raise NotInvertible(
            f"cannot invert the attribute {attribute!r} of a {shown_kind(base)}",
            where=site.where,
            help="attributes of modules and of objects that the function closes over are read",
        )
    return value_of(getattr(base.value, attribute))


def function_in(site: CallSite, value: Value) -> Any:
    if not isinstance(value, KnownObject) or not callable(value.value):
        raise NotInvertible(f"cannot invert a call of a {shown_kind(value)}", where=site.where)
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
        )
    return Tupled(cls, tuple(items))


_MISSING = object()


def _is_missing(value: Value) -> bool:
    return isinstance(value, KnownObject) and value.value is _MISSING


def range_of(site: CallSite, args: Values) -> Range:
    numbers = [arg for arg in args if isinstance(arg, (Variable, Constant))]
    if len(numbers) != len(args) or not 1 <= len(args) <= 3:
        raise refused("range of these arguments", site.where)
    start, stop = (Constant(0), numbers[0]) if len(numbers) == 1 else numbers[:2]
    return Range(start, stop, numbers[2] if len(numbers) == 3 else Constant(1))


def items_in_turn(value: Value) -> tuple[Value, ...] | None:
    """The items of a value in order of iteration, where these are unrolled: those of a tuple, or
    of a short range of constants; else None.
    """
    if isinstance(value, Tupled):
        return value.items
    if isinstance(value, Iterating):
        return value.items if value.over is None else None
    if not isinstance(value, Range):
        return None
    ends = [e.value for e in (value.start, value.stop, value.step) if isinstance(e, Constant)]
    if len(ends) < 3 or len(range(*ends)) > UNROLLED:
        return None
    return tuple(map(Constant, range(*ends)))


def iterator_over(site: CallSite, value: Value) -> Iterating:
    """An iterator over a tuple or a range; a short range of constants is unrolled."""
    items = items_in_turn(value)
    if items is not None:
        return Iterating(None, items)
    if isinstance(value, Range):
        return Iterating(value)
    raise refused(f"loop over a {shown_kind(value)}", site.where)


def next_of(site: CallSite, iterator: Value) -> Pair:
    if not isinstance(iterator, Iterating):
        raise refused(f"next item of a {shown_kind(iterator)}", site.where)
    if iterator.over is not None:
        return Pair(iterator.items[0], iterator.more or KnownObject(MORE))
    return Pair(next(iter(iterator.items), None), Constant(bool(iterator.items)))


def advanced(iterator: Value) -> Value:
    if isinstance(iterator, Iterating) and iterator.over is None:
        return Iterating(None, iterator.items[1:])
    return iterator


def item_of_pair(site: CallSite, pair: Value) -> Value:
    if not isinstance(pair, Pair):
        raise refused(f"item of a {shown_kind(pair)}", site.where)
    return KnownObject(None) if pair.item is None else pair.item


def more_of_pair(site: CallSite, pair: Value) -> Value:
    if not isinstance(pair, Pair):
        raise refused(f"item of a {shown_kind(pair)}", site.where)
    return pair.more
