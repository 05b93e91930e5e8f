"""Abstract execution of a function's statements on the values of its variables."""

from __future__ import annotations

import builtins
import functools
import inspect
import operator
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from types import ModuleType
from typing import TYPE_CHECKING, Any

from inversion.errors import NotInvertible
from inversion.lifting import self_calls
from inversion.lifting.array_methods import array_attribute, array_rows
from inversion.lifting.array_writes import ArrayWrite
from inversion.lifting.function_code import unread
from inversion.lifting.lifted_values import (
    Again,
    BoundMethod,
    Iterating,
    KnownObject,
    Meaningless,
    Tupled,
    Value,
    advanced,
    attribute_of,
    function_in,
    item_at,
    item_of_pair,
    items_in_turn,
    iterator_over,
    more_of_pair,
    next_of,
    not_set,
    plain,
    read,
    refused,
    unpacked,
    value_of,
)
from inversion.lifting.sequence_calls import bound_method, varies
from inversion.program.statements import Constant, Variable
from overlay.code import marks
from overlay.code.body import Apply, ConstantValue, Copy, Make, Statement, is_step
from overlay.code.operators import PLAIN
from overlay.code.record import attribute_held, is_same
from overlay.code.statements import SLOT
from overlay.code.wording import IN_WORDS
from primitives.arrays.domain import is_array

if TYPE_CHECKING:
    from inversion.lifting.execution_paths import Walk

__all__ = ["done"]


def done(walk: Walk, statement: Statement, known: dict[str, Value]) -> None:
    """Execute a statement on the values of the variables."""
    match statement:
        case ConstantValue(target=target, value=value):
            known[target] = value_of(value)
        case Copy():
            _copied(statement, known)
        case Make(code=code, where=where):
            if not code.co_flags & inspect.CO_OPTIMIZED:
                raise unread(walk.code.function, "a class statement", where)
            raise refused("a function or comprehension that is made within it", where)
        case Apply(target=target):
            known[target] = StatementCall(walk, statement, known).value()


def _copied(copy: Copy, known: dict[str, Value]) -> None:
    source, target, where = copy.source, copy.target, copy.where
    if is_step(target) and not target.startswith(SLOT) and not is_step(source):
        # a comprehension saves a variable of the program, which need not be set
        known[target] = known[source] if source in known else Meaningless(not_set(source, where))
    elif not is_step(source):
        known[target] = read(known, source, where)
    elif source in known:
        known[target] = known[source]
    else:  # pushed by a loop at its end
        known.pop(target, None)


class StatementCall:
    """Execution of one call, operator or other step of a function. site: its call site."""

    def __init__(self, walk: Walk, step: Apply, known: dict[str, Value]) -> None:
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
            return self._unpacking()
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

    def _refused(self, what: str) -> NotInvertible:
        return refused(what, self.step.where)

    def _unread(self, what: str) -> NotInvertible:
        return unread(self.walk.code.function, what, self.step.where)

    # ---- calls ----

    def _called(self, function: Value, given: list[Value]) -> Value:
        if isinstance(function, BoundMethod):
            function, given = KnownObject(function.function), [function.instance, *given]
        targets = (function_in(self.site, function),)
        named = {key: self._read(name) for key, name in self.step.kwargs}
        return self.lifter.call(self.site, targets, given, named)

    def _unpacking(self) -> Value:
        """A call whose arguments are one unpacked tuple; any other unpacking is refused."""
        function, *spread = self.given()
        if self.step.kwargs or len(spread) != 1 or not isinstance(spread[0], Tupled):
            raise self._refused("call with unpacked arguments")
        return self._called(function, list(spread[0].items))

    # ---- attributes and items ----

    def attribute(self) -> Value:
        base, name = self.operand(0), plain(self.operand(1))
        if is_array(base.kind):
            return array_attribute(self.lifter, self.site, base, name)
        if isinstance(base, KnownObject) and not isinstance(base.value, ModuleType):
            found = attribute_held(base.value, name)
            if is_same(attribute_held(base.value, name), found):  # a property may make it anew
                self.lifter.attributes.append((base.value, name, found))
        return bound_method(base, name) or attribute_of(self.site, base, name)

    def _item(self, source: Value, index: int) -> Value:
        if is_array(source.kind) or varies(source):
            given = [source, value_of(index)]
            return self.lifter.call(self.site, (operator.getitem,), given, {})
        return item_at(self.site, source, index)

    def item_set(self) -> Value:
        """An assignment to an item or a slice of an array; any other is refused."""
        base, index, value = self.given()
        if not is_array(base.kind):
            raise self._refused("assignment to an item")
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
            raise self_calls.used_otherwise(self.site, "its items")
        return value

    def rows_of(self) -> Value:
        """The value whose items are read, an array as its rows."""
        return array_rows(self.lifter, self.site, self.items_of())

    def iterated(self) -> Value:
        found = iterator_over(self.site, self.rows_of())
        self._used_up(self.step.args[0])
        return found

    def _used_up(self, name: str) -> None:
        """Mark a variable that holds an exhausted iterator: later uses are refused."""
        if isinstance(self.known[name], Iterating) and not is_step(name):
            self.known[name] = Meaningless(self._refused("an iterator that is used again"))

    def advanced(self) -> Value:
        iterator = self.operand(0)
        found = next_of(self.site, iterator)
        self.known[self.step.args[0]] = advanced(iterator)
        return found

    def picked(self) -> Value:
        return self._item(self.items_of(), plain(self.operand(1)))

    # ---- containers and strings ----

    def made(self) -> Value:
        """A container display, or a formatted string."""
        cls, items = plain(self.operand(0)), [self._read(name) for name in self.step.native]
        if cls is list:
            return Tupled(list, tuple(items))
        if cls is str:
            return self._text(items)
        if cls in (dict, set):
            raise self._refused(f"a {cls.__name__}")
        raise self._unread("a template string")

    def _text(self, items: list[Value]) -> Value:
        if self.step.instruction == "FORMAT_SIMPLE":
            return self.lifter.call(self.site, (str,), items, {})
        if self.step.instruction != "BUILD_STRING":
            converts = self.step.instruction == "CONVERT_VALUE"
            raise self._unread("!r in an f-string" if converts else "a format spec in an f-string")

        def joined(one: Value, other: Value) -> Value:
            return self.lifter.call(self.site, (operator.add,), [one, other], {})

        return functools.reduce(joined, items)

    def put(self) -> Value:
        """Append an item, or all items of another value, to a list."""
        container, added = self.given()
        if not isinstance(container, Tupled) or container.kind is not list:
            raise self._refused("a container that grows")
        if self.step.instruction == "LIST_EXTEND":
            items = items_in_turn(array_rows(self.lifter, self.site, added))
            if items is None:
                raise self._refused("a list with all items of another value")
            self._used_up(self.step.args[1])
        else:
            items = (added,)
        self.known[self.step.args[0]] = Tupled(list, (*container.items, *items))
        return KnownObject(None)

    # ---- marks for other instructions ----

    def outer(self) -> Value:
        """The current value of an outer name: of a closure cell, global or builtin."""
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
            value = self.operand(0)
            if isinstance(value, Tupled):
                return Tupled(tuple, value.items)
        raise self._unread(IN_WORDS.get(self.step.native, self.step.native))

    def pattern(self) -> Value:
        kind = "mapping" if self.step.instruction == "MATCH_MAPPING" else "sequence"
        raise self._unread(f"a pattern of a {kind}")


def _no_meaning(what: str) -> Callable[[StatementCall], Value]:
    def step(call: StatementCall) -> Value:
        raise refused(what, call.step.where)

    return step


def _not_read(what: str) -> Callable[[StatementCall], Value]:
    def step(call: StatementCall) -> Value:
        raise unread(call.walk.code.function, what, call.step.where)

    return step


STEPS: Mapping[Any, Callable[[StatementCall], Value]] = {
    getattr: StatementCall.attribute,
    setattr: _no_meaning("assignment to an attribute"),
    operator.setitem: StatementCall.item_set,
    operator.delitem: _no_meaning("del of an item"),
    iter: StatementCall.iterated,
    marks.advance: StatementCall.advanced,
    marks.first: lambda call: item_of_pair(call.site, call.operand(0)),
    marks.succeeds: lambda call: more_of_pair(call.site, call.operand(0)),
    marks.unpack: lambda call: unpacked(call.site, call.rows_of(), plain(call.operand(1))),
    marks.pick: StatementCall.picked,
    marks.pack: lambda call: Tupled(tuple, tuple(call.given())),
    marks.new: StatementCall.made,
    marks.put: StatementCall.put,
    marks.outer: StatementCall.outer,
    marks.other: StatementCall.other,
    marks.holds_items: StatementCall.pattern,
    marks.of_super: _not_read("super()"),
    marks.matched: _not_read("a pattern of a class"),
    marks.part: _not_read("unpacking with a star"),
    marks.rest: _not_read("unpacking with a star"),
}
