"""Abstract execution of a function's statements on the values of its variables."""

from __future__ import annotations

import builtins
import inspect
import operator
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from types import CellType, ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from inversion.errors import NotInvertible
from inversion.lifting import self_calls
from inversion.lifting.array_methods import array_attribute, array_rows, complex_attribute
from inversion.lifting.array_writes import ArrayWrite
from inversion.lifting.class_instances import (
    PLAIN_MANAGERS,
    attribute_of_super,
    get_attribute,
    is_instance,
    method_of,
    set_attribute,
)
from inversion.lifting.function_code import unread
from inversion.lifting.heap import contents_of, frozen, made
from inversion.lifting.iterable_calls import ITERATOR, items_of, key_of, mapping_of, set_of
from inversion.lifting.lifted_values import (
    ITERABLES,
    Again,
    BoundMethod,
    Constant,
    HeapObject,
    InnerFunction,
    Iterating,
    Known,
    KnownObject,
    Meaningless,
    Raises,
    Range,
    Tupled,
    Value,
    Values,
    advanced,
    attribute_of,
    is_cell,
    item_of_pair,
    iterator_over,
    more_of_pair,
    next_of,
    plain,
    read,
    refused,
    shown_kind,
    store,
    unpacked,
    value_of,
)
from inversion.lifting.sequence_calls import bound_method
from inversion.lifting.text_calls import joined
from inversion.program.statements import Variable
from overlay import Context
from overlay.code import marks
from overlay.code.body import Apply, ConstantValue, Copy, Make, Statement, WithBlock, is_step
from overlay.code.marks import Pattern
from overlay.code.operators import PLAIN
from overlay.code.record import attribute_held, is_same
from overlay.code.statements import SLOT
from overlay.code.wording import IN_WORDS
from overlay.core.short_repr import a_or_an, counted
from primitives.arrays.domain import is_array
from primitives.sequences.lists import is_list

if TYPE_CHECKING:
    from inversion.lifting.execution_paths import Walk

__all__ = ["done"]


def done(walk: Walk, statement: Statement, known: Known) -> None:
    """Execute a statement on the values of the variables."""
    walk.lifter.known = known
    match statement:
        case ConstantValue(target=target, value=value):
            known[target] = value_of(value)
        case Copy():
            _copied(statement, known)
        case Make(target=target):
            known[target] = _made(walk, statement, known)
        case Apply(target=target):
            known[target] = StatementCall(walk, statement, known).value()


def _made(walk: Walk, statement: Make, known: Known) -> Value:
    """A function that is defined inside the function."""
    code, where = statement.code, statement.where
    if not code.co_flags & inspect.CO_OPTIMIZED:
        raise unread(walk.code.function, "a class statement", where)
    defaults: list[Value] = []
    for name in statement.defaults:
        if name is None:
            what = "defaults of an inner function that differ between execution paths"
            raise refused(what, where, "compute the defaults before, and pass them by name")
        defaults.append(read(known, name, where))
    named: dict[str, Value] = {}
    if statement.named is not None:
        held = frozen(known, read(known, statement.named, where))
        assert isinstance(held, Tupled)
        named = dict(zip(held.keys or (), held.items, strict=True))
    cells: list[HeapObject] = []
    for name in code.co_freevars:
        cell = known.get(name)
        if cell is None or not is_cell(cell):  # a constant of an outer function that has returned
            cell = made(known, CellType, () if cell is None else (cell,))
        cells.append(cell)
    return InnerFunction(code, tuple(cells), tuple(defaults), named, walk.code.function.__globals__)


def _copied(copy: Copy, known: Known) -> None:
    source, target, where = copy.source, copy.target, copy.where
    if is_step(target) and not target.startswith(SLOT) and not is_step(source):
        # a comprehension saves a variable of the function, which may have no value
        known[target] = _held(known, source, where)
    elif not is_step(source):
        store(known, target, read(known, source, where))
    elif source in known:
        store(known, target, known[source])
    else:  # pushed by a loop at its end
        known.pop(target, None)


def _held(known: Known, name: str, where: str) -> Value:
    """The value of a name, which may have none."""
    try:
        return read(known, name, where)
    except NotInvertible as error:
        return Meaningless(error)


class StatementCall:
    """Execution of one call, operator or other step of a function. site: its call site."""

    def __init__(self, walk: Walk, step: Apply, known: Known) -> None:
        self.walk = walk
        self.lifter = walk.lifter
        self.step = step
        self.known = known
        name = walk.code.names.get(step.target, step.target)
        self.site = replace(walk.site, name=name, where=step.where)

    def value(self) -> Value:
        """The result of the step."""
        function = self.step.function
        if isinstance(function, str):
            return self._called(self._read(function), self.given())
        if function is None:
            return self._entered() if isinstance(self.step.native, WithBlock) else self._unpacking()
        step = STEPS.get(function)
        if step is not None:
            return step(self)
        given = self.given()
        targets = (function,) if function not in PLAIN else (function, PLAIN[function])
        found = self.lifter.call(self.site, targets, given, {})
        if len(targets) > 1 and is_array(given[0].kind):
            return self._write(given[0]).whole(found)
        return found

    def _read(self, name: str) -> Value:
        return read(self.known, name, self.step.where)

    def given(self) -> list[Value]:
        return [self._read(name) for name in self.step.args]

    def operand(self, place: int) -> Value:
        """The argument at a position."""
        return self._read(self.step.args[place])

    def _refused(self, what: str, help: str, values: Values = ()) -> NotInvertible:
        return refused(what, self.step.where, help, values)

    def _unread(self, what: str) -> NotInvertible:
        return unread(self.walk.code.function, what, self.step.where)

    # ---- calls ----

    def _called(self, function: Value, given: list[Value]) -> Value:
        named = {key: self._read(name) for key, name in self.step.kwargs}
        if isinstance(function, KnownObject) and function.value in ATTRIBUTES:
            return _of_attribute(self, function.value, given)
        return self.lifter.called(self.site, function, given, named)

    def _unpacking(self) -> Value:
        """The arguments of a call with unpacked arguments."""
        function, *spread = self.given()
        given: list[Value] = []
        for each in spread:
            items = items_of(self.lifter, self.site, each)
            if items is None:
                what = "a call with unpacked arguments whose number depends on the arguments"
                raise self._refused(what, "give the arguments one by one", (each,))
            given += items
        named: dict[str, Value] = {}
        for _, name in self.step.kwargs:
            named |= mapping_of(self.lifter, self.site, self._read(name))
        return self.lifter.called(self.site, function, given, named)

    def _entered(self) -> Value:
        """The value of a context manager in its block; its end has no effect."""
        manager, leaves = self.operand(0), self.step.native.leaves
        enter, leave = (method_of(manager, name) for name in ("__enter__", "__exit__"))
        if isinstance(manager, KnownObject) and isinstance(manager.value, PLAIN_MANAGERS):
            self.known[leaves] = KnownObject(_left)
            return value_of(getattr(manager.value, "enter_result", None))
        if isinstance(manager, KnownObject) and isinstance(manager.value, Context):
            help = "move the block to a function, and call it there: ctx(f, ...)"
            raise self._refused("with, a context", help)
        if enter is None or leave is None:
            raise self._refused(
                "with, a manager that may change more than a setting",
                "do without it, or give it __enter__ and __exit__ in Python, and make it within "
                "the function",
            )
        self.known[leaves] = BoundMethod(leave, manager)
        return self.lifter.called(self.site, BoundMethod(enter, manager), ())

    # ---- attributes and items ----

    def attribute(self) -> Value:
        return self._attribute(self.operand(0), plain(self.operand(1)))

    def _attribute(self, base: Value, name: str) -> Value:
        if is_array(base.kind):
            return array_attribute(self.lifter, self.site, base, name)
        if is_instance(base):
            return get_attribute(self.lifter, self.site, base, name)
        method = getattr(_container(base), name, None)
        if callable(method):
            return BoundMethod(method, base)
        if base.kind is complex:
            found = complex_attribute(self.lifter, self.site, base, name)
            if found is not None:
                return found
        if isinstance(base, KnownObject) and not isinstance(base.value, ModuleType):
            found = attribute_held(base.value, name)
            if is_same(attribute_held(base.value, name), found):  # a property may make it again
                self.lifter.attributes.append((base.value, name, found))
        return bound_method(base, name) or attribute_of(self.site, base, name)

    def _item(self, source: Value, index: int) -> Value:
        return self.lifter.call(self.site, (operator.getitem,), [source, value_of(index)], {})

    def item_set(self) -> Value:
        """An assignment to an item or a slice of an array, or to an item of a container."""
        base, index, value = self.given()
        if not is_array(base.kind):
            return self.lifter.call(self.site, (operator.setitem,), [base, index, value], {})
        index, value = (frozen(self.known, each, self.step.where) for each in (index, value))
        self._write(base).item(index, value)
        return KnownObject(None)

    def _write(self, base: Value) -> ArrayWrite:
        assert isinstance(base, (Variable, Constant))
        return ArrayWrite(self.lifter, self.site, self.known, self.walk.given, base)

    # ---- unpacking and iteration ----

    def items_of(self) -> Value:
        """The value whose items are read."""
        value = self.operand(0)
        if isinstance(value, Again):
            raise self_calls.used_otherwise(self.step.where, "its items")
        return value

    def rows_of(self) -> Value:
        """The value whose items are read, an array as its rows."""
        return array_rows(self.lifter, self.site, self.items_of())

    def iterated(self) -> Value:
        value = self.rows_of()
        if isinstance(value, Range):
            return iterator_over(value)
        if isinstance(value, HeapObject) and value.kind is ITERATOR:
            return value
        items = items_of(self.lifter, self.site, value)
        if items is None:
            help = "loop over a range, or over a tuple or a list of known items"
            what = f"loop over {a_or_an(shown_kind(value))}"
            raise self._refused(what, help, (value,))
        self._used_up(self.step.args[0])
        return Iterating(None, items)

    def _used_up(self, name: str) -> None:
        """Mark a variable that has an exhausted iterator: later uses are refused."""
        if isinstance(self.known.get(name), Iterating) and not is_step(name):
            help = "make a tuple of its items first, and use that"
            error = self._refused("an iterator that is used again", help)
            self.known[name] = Meaningless(error, of_use=True)

    def advanced(self) -> Value:
        iterator = self.operand(0)
        if isinstance(iterator, HeapObject):
            held = contents_of(self.known, iterator, self.step.where)
            self.known[iterator] = held.of(held.items[1:])
            return next_of(Iterating(None, held.items))
        found = next_of(iterator)
        self.known[self.step.args[0]] = advanced(iterator)
        return found

    def picked(self) -> Value:
        return self._item(self.items_of(), plain(self.operand(1)))

    # ---- containers and strings ----

    def made(self) -> Value:
        """A container display, or a formatted string."""
        cls, items = plain(self.operand(0)), [self._read(name) for name in self.step.native]
        if cls is list:
            return made(self.known, list, items)
        if cls is str:
            return self._text(items)
        if cls is set:
            return set_of(self.lifter, self.site, items)
        if cls is dict:
            keys = (key_of(self.site, key) for key in items[::2])
            held = dict(zip(keys, items[1::2], strict=True))
            return made(self.known, dict, held.values(), tuple(held))
        raise self._unread("a template string")

    def _text(self, items: list[Value]) -> Value:
        if self.step.instruction == "FORMAT_SIMPLE":
            return self.lifter.call(self.site, (str,), items, {})
        if self.step.instruction == "CONVERT_VALUE":
            return self.lifter.call(self.site, (plain(items[1]),), items[:1], {})
        if self.step.instruction == "FORMAT_WITH_SPEC":
            return self.lifter.call(self.site, (format,), items, {})
        return joined(self.lifter, self.site, items)

    # ---- marks for other instructions ----

    def outer(self) -> Value:
        """The current value of an outer name: of a closure cell, a global or a builtin."""
        name, function = self.step.native, self.walk.code.function
        cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
        for held in (function.__globals__, vars(builtins)) if name not in cells else ():
            if name in held:
                return value_of(held[name])
        if name in cells:
            with suppress(ValueError):  # an empty cell
                return value_of(cells[name].cell_contents)
        help = f"define {name}, or import it, before the function is inverted"
        raise refused(f"the name {name}, which is not defined", self.step.where, help)

    def other(self) -> Value:
        if self.step.native == "INTRINSIC_LIST_TO_TUPLE":
            items = items_of(self.lifter, self.site, self.operand(0))
            if items is not None:
                return Tupled(tuple, items)
        if self.step.native in HARMLESS:
            return KnownObject(None)
        if self.step.native in ("LOAD_ASSERTION_ERROR", "LOAD_COMMON_CONSTANT"):
            return KnownObject(AssertionError)
        raise self._unread(IN_WORDS.get(self.step.native, self.step.native))


def _put(call: StatementCall) -> Value:
    """Append an item, or all items of another value, to a list."""
    container, *added = call.given()
    if call.step.instruction == "MAP_ADD":
        return call.lifter.call(call.site, (operator.setitem,), [container, *added], {})
    found = call.lifter.call(call.site, (PUTS[call.step.instruction],), [container, *added], {})
    if call.step.instruction == "LIST_EXTEND":
        call._used_up(call.step.args[1])
    return found


def _packed(call: StatementCall) -> Value:
    """A tuple. In the tuple of variables that an inner function shares, a variable may have no
    value.
    """
    where = call.step.where
    return Tupled(tuple, tuple(
        _held(call.known, name, where) if is_cell(call.known.get(name)) else call._read(name)
        for name in call.step.args
    ))  # fmt: skip


def _unpacked_value(call: StatementCall) -> Value:
    """The items of a value that is unpacked into targets."""
    value, count = call.items_of(), plain(call.operand(1))
    items = items_of(call.lifter, call.site, value)
    if items is None:
        return unpacked(call.site, value, count)
    if len(items) != count:
        raise Raises(f"{counted(len(items), 'item')} are unpacked into {count}", call.step.where)
    return Tupled(tuple, items)


def _starred(call: StatementCall) -> Value:
    """The items beside a starred target, or the list that is assigned to it."""
    items = items_of(call.lifter, call.site, call.items_of())
    if items is None:
        help = "take its parts by index and slice"
        raise call._refused("unpacking with a star of a sequence of unknown length", help)
    part = call.step.native
    if isinstance(part, slice):
        return made(call.known, list, items[part])
    try:
        return items[part]
    except IndexError:
        raise Raises("too few items to unpack", call.step.where) from None


def _gave(call: StatementCall) -> Value:
    """A value that a generator yields."""
    giving = call.walk.giving
    assert giving is not None  # otherwise the call gave a generator, whose code is not lifted
    (before,) = contents_of(call.known, giving.held, call.step.where).items
    after = giving.add(before, call.operand(0))
    call.known[giving.held] = Tupled(CellType, (after,))
    return KnownObject(None)


def _pattern(call: StatementCall) -> Value:
    """Return whether an object is a sequence, or a mapping, for a pattern."""
    wanted = Mapping if call.step.instruction == "MATCH_MAPPING" else Sequence
    kind = call.operand(0).kind
    fits = isinstance(kind, type) and issubclass(kind, wanted)
    return Constant(fits and not issubclass(kind, (str, bytes, bytearray)))


def _matched(call: StatementCall) -> Value:
    """The attributes that a class pattern captures, as a tuple; None without a match."""
    subject, cls, pattern = call.given()
    found = call.lifter.call(call.site, (isinstance,), [subject, cls], {})
    if not isinstance(found, Constant):
        raise call._unread("a pattern of a class")
    if not found.value:
        return KnownObject(None)
    if plain(pattern) is Pattern.PLAIN:
        return Tupled(tuple, ())
    count, names = call.step.native
    kind: Any = plain(cls)
    if count == 1 and kind in (bool, bytearray, bytes, dict, float, frozenset, int, list, set,
                               str, tuple):  # fmt: skip
        return Tupled(tuple, (subject,))
    taken = (*getattr(kind, "__match_args__", ())[:count], *names)
    return Tupled(tuple, tuple(call._attribute(subject, name) for name in taken))


def _keyed(call: StatementCall) -> Value:
    """The values that a mapping pattern captures, as a tuple; None if a key is missing."""
    subject, keys = call.given()
    held = mapping_of(call.lifter, call.site, subject)
    wanted = plain(keys)
    if any(key not in held for key in wanted):
        return KnownObject(None)
    return Tupled(tuple, tuple(held[key] for key in wanted))


def _of_super(call: StatementCall) -> Value:
    _, cls, receiver = call.given()
    return attribute_of_super(call.lifter, call.site, cls, receiver, call.step.native)


def _set_attribute_to(call: StatementCall) -> Value:
    owner, name, value = call.given()
    set_attribute(call.lifter, call.site, owner, plain(name), value)
    return KnownObject(None)


def _of_attribute(call: StatementCall, function: Any, given: list[Value]) -> Value:
    """A call of getattr, setattr or hasattr with a constant name."""
    owner, name, *rest = given
    if function is setattr:
        set_attribute(call.lifter, call.site, owner, plain(name), rest[0])
        return KnownObject(None)
    try:
        found = call._attribute(owner, plain(name))
    except NotInvertible:
        is_there = _has_attribute(owner, plain(name))  # it may be there and have no meaning here
        if function is hasattr:
            return Constant(is_there)
        if is_there or not rest:
            raise
        return rest[0]
    return Constant(True) if function is hasattr else found


def _has_attribute(base: Value, name: str) -> bool:
    """Return whether a value has an attribute in Python, according to its class."""
    if isinstance(base, KnownObject):
        return hasattr(base.value, name)
    kind = base.kind
    of_sequences = np.ndarray if is_array(kind) else list if is_list(kind) else object
    return hasattr(kind if isinstance(kind, type) else of_sequences, name)


def _left(*args: Any) -> None:
    """The end of a plain context manager, which has no effect on the program. This function is
    lifted.
    """
    return


def _container(value: Value) -> type:
    """The class of a container with known items, else object."""
    if isinstance(value, (HeapObject, Tupled)):
        return value.kind
    if isinstance(value, (KnownObject, Constant)) and isinstance(value.value, ITERABLES):
        return value.kind
    return object


HARMLESS = ("IMPORT_NAME", "DELETE_FAST", "DELETE_DEREF", "IMPORT_FROM")
ATTRIBUTES = (getattr, setattr, hasattr)
PUTS: Mapping[str, Any] = {
    "LIST_APPEND": list.append,
    "LIST_EXTEND": list.extend,
    "SET_ADD": set.add,
    "SET_UPDATE": set.update,
    "DICT_UPDATE": dict.update,
    "DICT_MERGE": dict.update,
}
STEPS: Mapping[Any, Callable[[StatementCall], Value]] = {
    getattr: StatementCall.attribute,
    setattr: _set_attribute_to,
    operator.setitem: StatementCall.item_set,
    iter: StatementCall.iterated,
    marks.advance: StatementCall.advanced,
    marks.first: lambda call: item_of_pair(call.operand(0)),
    marks.succeeds: lambda call: more_of_pair(call.operand(0)),
    marks.unpack: _unpacked_value,
    marks.pick: StatementCall.picked,
    marks.pack: _packed,
    marks.give: _gave,
    marks.new: StatementCall.made,
    marks.put: _put,
    marks.outer: StatementCall.outer,
    marks.other: StatementCall.other,
    marks.holds_items: _pattern,
    marks.of_super: _of_super,
    marks.matched: _matched,
    marks.keyed: _keyed,
    marks.part: _starred,
    marks.rest: _starred,
}
