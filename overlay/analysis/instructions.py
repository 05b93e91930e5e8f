"""What single instructions do, as assignments to variables."""

from __future__ import annotations

import builtins
import dis
import operator
import sys
from collections.abc import Callable
from dataclasses import replace
from itertools import takewhile
from types import CodeType
from typing import Any

from overlay.analysis import marks
from overlay.analysis.body import Copy, Make, Name
from overlay.analysis.constants import global_constant
from overlay.analysis.marks import Pattern
from overlay.analysis.statements import NULL, Statements
from overlay.code.decoding import (
    MADE,
    Instruction,
    iterator_place,
    iterator_slots,
    made_by,
    operator_of,
    take_call,
)
from overlay.code.effects import INERT

__all__ = ["Instructions"]

_SLICES = ("BINARY_SLICE", "STORE_SLICE")
# those that add to a container which an expression makes
_PUTS = (
    *("LIST_APPEND", "LIST_EXTEND", "SET_ADD", "SET_UPDATE", "MAP_ADD", "DICT_UPDATE"),
    "DICT_MERGE",
)


class Instructions(Statements):
    """Turns the instructions of one function into statements."""

    def step(self, ins: Instruction) -> None:
        """Do what an instruction does where it does not jump."""
        self.at(ins)
        step = _STEPS.get(ins.name)
        if step is not None:
            step(self, ins)
        elif ins.name in MADE:
            items = self._taken(ins)
            cls = self.constant(MADE[ins.name])
            self.stack[-1] = self.apply(marks.new, cls, native=items, instruction=made_by(ins))
        elif ins.op in INERT:
            self.follow(ins)
        elif not self._operate(ins):
            self._other(ins)

    def _taken(self, ins: Instruction) -> tuple[str, ...]:
        """Do what an instruction does to the stack; the values that it takes from there."""
        before = list(self.stack)
        self.follow(ins)
        kept = takewhile(lambda pair: pair[0] == pair[1], zip(before, self.stack, strict=False))
        return tuple(name for name in before[len(list(kept)) :] if name != NULL)

    def _other(self, ins: Instruction) -> None:
        """An instruction that nobody knows: what it pushes last is what it gives."""
        before = set(self.stack)
        taken = self._taken(ins)
        if ins.name.startswith("CALL_INTRINSIC"):
            given = self.apply(marks.other, *taken, native=ins.value)
        else:
            given = self.apply(marks.other, native=ins.name)
        if self.stack and self.stack[-1] not in before:
            self.stack[-1] = given

    # ---- constants, and the stack itself ----

    def _stay(self, ins: Instruction) -> None:
        pass

    def _constant(self, ins: Instruction) -> None:
        if type(ins.value) is slice:  # as where it is made when the program runs
            given = ins.value.start, ins.value.stop, ins.value.step
            count = 2 if ins.value.step is None else 3
            self.stack.append(self.apply(slice, *map(self.constant, given[:count])))
        else:
            self.stack.append(self.constant(ins.value))

    def _build_class(self, ins: Instruction) -> None:
        self.stack.append(self.constant(builtins.__build_class__))

    def _null(self, ins: Instruction) -> None:
        self.stack.append(NULL)

    def _swap(self, ins: Instruction) -> None:
        stack = self.stack
        stack[-1], stack[-ins.arg] = stack[-ins.arg], stack[-1]

    def _copy(self, ins: Instruction) -> None:
        self.stack.append(self.stack[-ins.arg])

    # ---- variables ----

    def _locals(self, ins: Instruction) -> None:
        """Loads and stores of locals, of which one instruction may do two."""
        names = ins.value if type(ins.value) is tuple else (ins.value,)
        parts = [part for part in ins.name.split("_") if part in ("LOAD", "STORE")]
        for part, name in zip(parts, names, strict=True):
            if part == "LOAD":
                self._load(name)
            else:
                self.store(name)

    def _load(self, name: str) -> None:
        self.stack.append(self.fresh() if name in self.changing else name)

    def _load_and_clear(self, ins: Instruction) -> None:
        kept = self.fresh()
        self.statements.append(Copy(kept, ins.value, self.where))
        self.stack.append(kept)

    def _load_global(self, ins: Instruction) -> None:
        found = global_constant(self.namespace, ins.value)
        if found is None:
            self.push(self.apply(marks.outer, native=ins.value), ins)
        else:
            self.push(self.constant(found[0], ins.value), ins)

    def _load_cell(self, ins: Instruction) -> None:
        if ins.value in self.free or ins.value in self.cells:
            self.stack.append(ins.value)
        elif ins.value in self.code.co_freevars:
            self.stack.append(self.apply(marks.outer, native=ins.value))
        else:
            self.stack.append(self.fresh())

    def _store_cell(self, ins: Instruction) -> None:
        if ins.value in self.code.co_cellvars:
            self.store(ins.value)
        else:
            self._other(ins)

    # ---- modules and attributes ----

    def _import(self, ins: Instruction) -> None:
        names, level = self.stack.pop(), self.stack.pop()
        self.apply(marks.other, native=ins.name)
        top = self.constants.get(names, names) is None
        plain = self.constants.get(level) == 0
        name = ins.value.partition(".")[0] if top else ins.value
        found = plain and name in sys.modules
        self.stack.append(self.constant(sys.modules[name]) if found else self.fresh())

    def _import_from(self, ins: Instruction) -> None:
        self.stack.append(self.apply(getattr, self.stack[-1], self.constant(Name(ins.value))))

    def _load_attribute(self, ins: Instruction) -> None:
        owner = self.stack.pop()
        self.push(self.apply(getattr, owner, self.constant(Name(ins.value))), ins)

    def _store_attribute(self, ins: Instruction) -> None:
        value, owner = self.take(2)
        self.apply(setattr, owner, self.constant(Name(ins.value)), value)

    def _load_of_super(self, ins: Instruction) -> None:
        self.take(3)
        self.push(self.fresh(), ins)

    # ---- functions and calls ----

    def _make_function(self, ins: Instruction) -> None:
        code = self.constants.get(self.stack.pop())
        flags = [flag for flag in (8, 4, 2, 1) if ins.arg & flag]
        held = {flag: self.stack.pop() for flag in flags}
        name = self.fresh()
        if isinstance(code, CodeType):
            captured = tuple(self._captured(each) for each in code.co_freevars)
            self.statements.append(Make(name, code, captured, where=self.where))
            for flag, value in held.items():
                self._set_attribute(flag, value)
        self.stack.append(name)

    def _captured(self, name: str) -> str | None:
        """The variable that holds what a free variable of a function defined here does."""
        return name if name in self.cells or name in self.free else None

    def _set_function_attribute(self, ins: Instruction) -> None:
        function, value = self.stack.pop(), self.stack.pop()
        self._set_attribute(ins.arg, value)
        self.stack.append(function)

    def _set_attribute(self, flag: int, value: str) -> None:
        """What is known of the function that was defined last, by the flag of an attribute."""
        defaults = self._items(value) if flag == 1 else ()
        for place, statement in reversed(list(enumerate(self.statements))):
            if isinstance(statement, Make):
                if flag == 1:
                    statement = replace(statement, defaults=defaults)
                elif flag == 2:
                    statement = replace(statement, by_name=True)
                self.statements[place] = statement
                return

    def _items(self, value: str) -> tuple[str | None, ...]:
        """The variables of which one is a tuple."""
        if value in self.packs:
            return self.packs[value]
        held = self.constants.get(value)
        if type(held) is tuple:
            return tuple(map(self._at_first, held))
        return (None,)

    def _at_first(self, value: Any) -> str:
        """A constant that is set where the block begins."""
        name = self.constant(value)
        self.statements.insert(0, self.statements.pop())
        return name

    def _call(self, ins: Instruction) -> None:
        first, second, args, named, star, _ = take_call(ins, self.stack, NULL)
        callee = second if first == NULL else first
        receiver = [] if NULL in (first, second) else [second]
        names = ins.value or () if named is None else self.constants.get(named)
        if star is not None and None not in self._items(star):
            args = [name for name in self._items(star) if name is not None]
        if args is None or names is None:
            spread = () if star is None else (star,)
            self.stack.append(self.apply(None, callee, *spread, native=ins.name))
            return
        given = [*receiver, *args]
        count = len(given) - len(names)
        kwargs = list(zip(names, given[count:], strict=True))
        self.stack.append(self.apply(callee, *given[:count], kwargs=kwargs))

    def _build_tuple(self, ins: Instruction) -> None:
        items = self.take(ins.arg)
        made = self.apply(marks.pack, *items)
        self.packs[made] = items
        self.stack.append(made)

    def _build_slice(self, ins: Instruction) -> None:
        self.stack.append(self.apply(slice, *self.take(ins.arg)))

    # ---- operators ----

    def _operate(self, ins: Instruction) -> bool:
        """Whether it was an operator: then its operands are replaced by its result."""
        found = operator_of(ins)
        if found is None:
            return False
        function, order = found
        args = [self.stack[-1 - place] for place in order]
        self.take(len(order))
        if ins.name in _SLICES:
            args[1:3] = [self.apply(slice, *args[1:3])]
        result = self.apply(function, *args)
        if ins.name == "CONTAINS_OP" and ins.arg:
            result = self.apply(operator.not_, result)
        if not ins.name.startswith(("STORE", "DELETE")):
            self.stack.append(result)
        return True

    # ---- iteration and unpacking ----

    def _get_iterator(self, ins: Instruction) -> None:
        self.stack += iterator_slots(self.apply(iter, self.stack.pop()), NULL)

    def next_item(self) -> str:
        """Push the next item of the iterator on the stack; the step that says whether there was
        one."""
        advanced = self.apply(marks.advance, self.stack[-1 - iterator_place()])
        self.stack.append(self.apply(marks.first, advanced))
        return self.apply(marks.succeeds, advanced)

    def _put(self, ins: Instruction) -> None:
        """Add to the container that lies so deep, below what is added."""
        added = self.take(2 if ins.name == "MAP_ADD" else 1)
        self.apply(marks.put, self.stack[-ins.arg], *added, instruction=ins.name)

    def _unpack_rest(self, ins: Instruction) -> None:
        """Unpack what has a starred target."""
        value = self.stack.pop()
        parts = [self.apply(marks.part, value) for _ in range(ins.arg >> 8)]
        parts.append(self.apply(marks.rest, value))
        parts += [self.apply(marks.part, value) for _ in range(ins.arg & 0xFF)]
        self.stack += parts

    def _unpack(self, ins: Instruction) -> None:
        items = self.apply(marks.unpack, self.stack.pop(), self.constant(ins.arg))
        for place in reversed(range(ins.arg)):
            self.stack.append(self.apply(marks.pick, items, self.constant(place)))

    def _length(self, ins: Instruction) -> None:
        self.stack.append(self.apply(len, self.stack[-1]))

    def _match_exception(self, ins: Instruction) -> None:
        value = self.stack.pop()
        self.stack.append(self.apply(marks.caught, value))
        names = self.packs.get(value, (value,))
        if all(name in self.constants for name in names):
            self.matches[self.stack[-1]] = tuple(self.constants[name] for name in names)

    def _match_class(self, ins: Instruction) -> None:
        subject, cls, names = self.take(3)
        plain = ins.arg == 0 and self.constants.get(names) == ()
        pattern = self.constant(Pattern.PLAIN if plain else Pattern.WITH_PARTS)
        self.stack.append(self.apply(marks.matched, subject, cls, pattern))

    def _match_kind(self, ins: Instruction) -> None:
        found = self.apply(marks.holds_items, self.stack[-1], instruction=ins.name)
        self.stack.append(found)

    def _yield(self, ins: Instruction) -> None:
        self.stack.append(self.apply(marks.give, self.stack.pop()))

    def _enter_block(self, ins: Instruction) -> None:
        manager = self.stack.pop()
        entered = self.apply(None, manager, native=ins.name)
        self.stack += [self.fresh(), entered]


_LOCALS = [name for name in dis.opmap if name.startswith(("LOAD_FAST", "STORE_FAST"))]
_STEPS: dict[str, Callable[[Instructions, Instruction], None]] = {
    **dict.fromkeys(_LOCALS, Instructions._locals),
    "LOAD_FAST_AND_CLEAR": Instructions._load_and_clear,
    "LOAD_CONST": Instructions._constant,
    "LOAD_BUILD_CLASS": Instructions._build_class,
    "PUSH_NULL": Instructions._null,
    "SWAP": Instructions._swap,
    "COPY": Instructions._copy,
    "TO_BOOL": Instructions._stay,
    "LOAD_GLOBAL": Instructions._load_global,
    "LOAD_NAME": Instructions._load_global,
    "LOAD_CLOSURE": Instructions._load_cell,
    "LOAD_DEREF": Instructions._load_cell,
    "STORE_DEREF": Instructions._store_cell,
    "IMPORT_NAME": Instructions._import,
    "IMPORT_FROM": Instructions._import_from,
    "LOAD_ATTR": Instructions._load_attribute,
    "STORE_ATTR": Instructions._store_attribute,
    "LOAD_SUPER_ATTR": Instructions._load_of_super,
    "MAKE_FUNCTION": Instructions._make_function,
    "SET_FUNCTION_ATTRIBUTE": Instructions._set_function_attribute,
    "CALL": Instructions._call,
    "CALL_KW": Instructions._call,
    "CALL_FUNCTION_EX": Instructions._call,
    "BUILD_TUPLE": Instructions._build_tuple,
    "BUILD_SLICE": Instructions._build_slice,
    "GET_ITER": Instructions._get_iterator,
    "UNPACK_SEQUENCE": Instructions._unpack,
    "UNPACK_EX": Instructions._unpack_rest,
    **dict.fromkeys(_PUTS, Instructions._put),
    "GET_LEN": Instructions._length,
    "CHECK_EXC_MATCH": Instructions._match_exception,
    "MATCH_CLASS": Instructions._match_class,
    "MATCH_SEQUENCE": Instructions._match_kind,
    "MATCH_MAPPING": Instructions._match_kind,
    "YIELD_VALUE": Instructions._yield,
    "BEFORE_WITH": Instructions._enter_block,
    "BEFORE_ASYNC_WITH": Instructions._enter_block,
}
