"""Calls and operators of code, with the abstract values of their operands, without running it.

The statements are interpreted over values of which at most the object or the type is known.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, FunctionType
from typing import Any

from overlay.code import marks
from overlay.code.basic_blocks import Reader
from overlay.code.body import (
    Apply,
    Block,
    Branch,
    ConstantValue,
    Copy,
    Handler,
    Return,
    Statement,
    WithBlock,
)
from overlay.code.events import CallEvent, Event, Implicit, Operation
from overlay.code.known_values import (
    EXIT,
    UNKNOWN,
    Known,
    Made,
    OfType,
    Super,
    Value,
    WrittenOut,
    attribute_of,
    join,
    type_of,
)
from overlay.code.scopes import current_scope
from overlay.code.statements import SLOT
from overlay.core.own_builtins import __builtins__
from overlay.core.target import type_attribute

__all__ = ["CodeReading"]

# By the instruction that begins a ``with`` block: the methods that enter and leave it.
_BLOCKS = {
    "BEFORE_WITH": ("__enter__", "__exit__"),
    "BEFORE_ASYNC_WITH": ("__aenter__", "__aexit__"),
}
_STEP = "$"  # tested inline, since it is for each variable at each block: see is_step
# Abstract values of variables and stack slots. A missing slot is unknown; a missing variable is
# not set yet.
State = dict[str, Value]


class CodeReading:
    """Reading of one code object with abstract values of its arguments.

    ask: gives the value of an event. events: by step, the last event read. returned: the value
    that the code returns, or of a generator the value of its final ``return``. cells: the values,
    at any time, of the variables that it shares with other functions.
    """

    def __init__(
        self,
        code: CodeType,
        namespace: dict[str, Any],
        arguments: dict[str, Value],
        cells: dict[str, Value],
        ask: Callable[[Event], Value],
    ) -> None:
        self.namespace = namespace
        self.cells = cells | {n: arguments[n] for n in code.co_cellvars if n in arguments}
        self.ask = ask
        self.events: dict[tuple[str, int], Event] = {}
        self.returned: Value | None = None
        self._receiver = (
            arguments.get(code.co_varnames[0], UNKNOWN) if code.co_argcount else UNKNOWN
        )
        self._shared = frozenset((*code.co_cellvars, *code.co_freevars))
        reader = Reader(code, current_scope(code, namespace))
        self._blocks, self._length = reader.read(), len(reader.code)
        self._joins = _joins(self._blocks)
        self._states: dict[int, State] = {0: arguments}
        self._pending = [0]
        while self._pending:
            self._run(self._pending.pop())

    # ---- control flow ----

    def _run(self, label: int) -> None:
        """Interpret a block, and propagate its state to its successors."""
        block, state = self._blocks[label], self._states[label].copy()
        handler = block.handler
        if handler is not None:
            self._reach(handler.block, _raised(state, handler))
        for statement in block.statements:
            self._follow(statement, state)
            if handler is not None and statement.target[0] != _STEP:
                self._reach(handler.block, _raised(state, handler))
        if isinstance(block.end, Return):
            if block.end.value is not None:
                value = self.value(block.end.value, state)
                self.returned = value if self.returned is None else join(self.returned, value)
            return
        left = {n: v for n, v in state.items() if n[0] != _STEP or n[:2] == SLOT}
        if block.end.condition is None:
            self._reach(block.end.yes, left)
            return
        # the earlier successor in the code is added last, and interpreted first
        for after in sorted({block.end.yes, block.end.no}, key=self._place, reverse=True):
            self._reach(after, state if self._is_move(after) else left)

    def _is_move(self, label: int) -> bool:
        """Whether a block only moves stack slots, which are steps of its predecessor."""
        return label > self._length

    def _place(self, label: int) -> int:
        """The first instruction of a block, or of its successor if it only moves slots."""
        end = self._blocks[label].end
        return end.yes if self._is_move(label) and isinstance(end, Branch) else label

    def _reach(self, label: int, state: State) -> None:
        """Join a state into that of a block with several predecessors; schedule the block if its
        state changes."""
        old = self._states.get(label) if label in self._joins else None
        joined = state if old is None else _joined(old, state)
        if joined is None:
            return
        self._states[label] = joined
        if label not in self._pending:
            self._pending.append(label)

    # ---- statements ----

    def _follow(self, statement: Statement, state: State) -> None:
        if isinstance(statement, ConstantValue):
            state[statement.target] = Known(statement.value)
        elif isinstance(statement, Apply):
            state[statement.target] = self._applied(statement, state)
        elif isinstance(statement, Copy):
            self._store(statement.target, self.value(statement.source, state), state)
        else:
            state[statement.target] = Made(statement.code, self.cells, self.namespace)

    def value(self, name: str, state: State) -> Value:
        """The abstract value of a variable."""
        return (self.cells if name in self._shared else state).get(name, UNKNOWN)

    def _store(self, name: str, value: Value, state: State) -> None:
        if name in self._shared:
            self.cells[name] = join(self.cells[name], value) if name in self.cells else value
        else:
            state[name] = value

    def _applied(self, step: Apply, state: State) -> Value:
        """The abstract value of a step's result."""
        if step.function is None:
            is_with = isinstance(step.native, WithBlock)
            return self._enter(step, state) if is_with else self._call_spread(step, state)
        if isinstance(step.function, str):
            return self._call(step, state)
        rule = _RULES.get(step.function)
        if rule is not None:
            return rule(self, step, state)
        if step.native is not None:  # part of an instruction that applies something else
            return UNKNOWN
        args = tuple(self.value(name, state) for name in step.args)
        return self._event(step, Operation(step.at, step.function, args))

    def _event(self, step: Apply, event: Event, part: int = 0) -> Value:
        self.events[step.target, part] = event
        return self.ask(event)

    # ---- calls ----

    def _call(self, step: Apply, state: State) -> Value:
        callee = self.value(step.function, state)
        given = (*step.args, *(name for _, name in step.kwargs))
        args = tuple(self.value(name, state) for name in given)
        if callee is EXIT:
            return UNKNOWN
        if isinstance(callee, Known) and callee.object is super:
            return self._super_of(callee, args)
        names = tuple(name for name, _ in step.kwargs)
        return self._event(step, CallEvent(step.at, callee, args, names))

    def _call_spread(self, step: Apply, state: State) -> Value:
        """The value of a call with unpacked arguments."""
        callee = self.value(step.args[0], state)
        mapping = self.value(step.kwargs[0][1], state) if step.kwargs else UNKNOWN
        spread = mapping.items if isinstance(mapping, WrittenOut) else {}
        return self._event(step, CallEvent(step.at, callee, None, (), spread))

    def _super_of(self, native: Value, args: Sequence[Value]) -> Value:
        if len(args) == 2:
            return _super(native, *args)
        return _super(native, self.cells.get("__class__", UNKNOWN), self._receiver)

    # ---- implicit calls ----

    def _special(self, step: Apply, owner: Value, name: str, part: int = 0) -> Value:
        """The result of a special method, if it is a Python function."""
        kind = type_of(owner)
        found = type_attribute(kind, name) if isinstance(kind, type) else None
        if type(found) is not FunctionType:
            return UNKNOWN
        return self._event(step, Implicit(step.at, found, (owner,)), part)

    def _enter(self, step: Apply, state: State) -> Value:
        manager = self.value(step.args[0], state)
        enter, leave = _BLOCKS[step.native.instruction]
        entered = self._special(step, manager, enter)
        self._special(step, manager, leave, 1)
        state[step.native.leaves] = EXIT
        return entered

    def _iterator(self, step: Apply, state: State) -> Value:
        iterable = self.value(step.args[0], state)
        self._special(step, iterable, "__iter__")
        return iterable

    def _next(self, step: Apply, state: State) -> Value:
        iterator = self.value(step.args[0], state)
        item = self._special(step, iterator, "__next__")
        return OfType(int) if type_of(iterator) is range else item

    def _attribute(self, step: Apply, state: State) -> Value:
        owner, name = self.value(step.args[0], state), _text(self.value(step.args[1], state))
        kind = type_of(owner)
        if isinstance(kind, type) and not issubclass(kind, type):
            found = type_attribute(kind, name)
            if type(found) is property and type(found.fget) is FunctionType:
                return self._event(step, Implicit(step.at, found.fget, (owner,)))
        return attribute_of(owner, name)


# ---- rules for the steps that are no calls ----


def _unknown(reading: CodeReading, step: Apply, state: State) -> Value:
    return UNKNOWN


def _first(reading: CodeReading, step: Apply, state: State) -> Value:
    return reading.value(step.args[0], state)


def _of_super(reading: CodeReading, step: Apply, state: State) -> Value:
    native, above, receiver = (reading.value(name, state) for name in step.args)
    return attribute_of(_super(native, above, receiver), step.native)


def _named(reading: CodeReading, step: Apply, state: State) -> Value:
    own, otherwise = step.args
    return state[own] if own in state else reading.value(otherwise, state)


def _new(reading: CodeReading, step: Apply, state: State) -> Value:
    cls = reading.value(step.args[0], state)
    kind = cls.object if isinstance(cls, Known) else None
    if kind is not dict:
        return OfType(kind)
    items: dict[str, Value] = {}
    for name, value in zip(step.native[::2], step.native[1::2], strict=True):
        key = reading.value(name, state)
        if isinstance(key, Known) and type(key.object) is str:
            items[key.object] = reading.value(value, state)
    return WrittenOut(dict, items)


def _tuple(reading: CodeReading, step: Apply, state: State) -> Value:
    return OfType(tuple)


def _slice(reading: CodeReading, step: Apply, state: State) -> Value:
    return OfType(slice)


def _put(reading: CodeReading, step: Apply, state: State) -> Value:
    if isinstance(reading.value(step.args[0], state), WrittenOut):
        state[step.args[0]] = OfType(dict)
    return UNKNOWN


def _other(reading: CodeReading, step: Apply, state: State) -> Value:
    is_kept = step.native == "INTRINSIC_SET_FUNCTION_TYPE_PARAMS"
    return reading.value(step.args[0], state) if is_kept else UNKNOWN


def _super(native: Value, above: Value, receiver: Value) -> Value:
    if not isinstance(native, Known) or native.object is not super:
        return UNKNOWN
    if not isinstance(above, Known) or not isinstance(above.object, type):
        return UNKNOWN
    return Super(above.object, receiver)


def _text(name: Value) -> str:
    assert isinstance(name, Known)
    return str(name.object)


def _raised(state: State, handler: Handler) -> State:
    """The state at the entry of an exception handler."""
    return {
        name: value
        for name, value in state.items()
        if (name[0] != _STEP or name[:2] == SLOT) and name not in handler.dropped
    }


def _joins(blocks: Mapping[int, Block]) -> frozenset[int]:
    """The blocks with several incoming states: the entry block, those with several predecessors,
    and handlers, since an exception may leave a block in any of its states."""
    count = Counter(after for block in blocks.values() for after in block.next)
    handlers = {b.handler.block for b in blocks.values() if b.handler is not None}
    return frozenset({0, *handlers, *(label for label, n in count.items() if n > 1)})


def _joined(old: State, new: State) -> State | None:
    """The join of two states, or None if it equals the old one."""
    joined: State = {}
    for name, value in old.items():
        if name in new:
            joined[name] = join(value, new[name])
        elif name[0] != _STEP:
            joined[name] = value
    joined |= {n: v for n, v in new.items() if n not in old and n[0] != _STEP}
    if len(joined) == len(old) and all(joined.get(n) is v for n, v in old.items()):
        return None
    return joined


_UNKNOWN = (
    *(marks.outer, marks.unpack, marks.pick, marks.part, marks.rest, marks.succeeds),
    *(marks.matched, marks.keyed, marks.holds_items, marks.caught, marks.give),
)
_RULES: dict[Any, Callable[[CodeReading, Apply, State], Value]] = {
    **dict.fromkeys((*_UNKNOWN, setattr, len), _unknown),
    getattr: CodeReading._attribute,
    marks.of_super: _of_super,
    marks.named: _named,
    marks.new: _new,
    marks.put: _put,
    marks.pack: _tuple,
    slice: _slice,
    iter: CodeReading._iterator,
    marks.advance: CodeReading._next,
    marks.first: _first,
    marks.other: _other,
}
