"""Reading code without running it: the calls that its instructions make, and with what.

The instructions are run on values of which only the object or the type is known.
"""

from __future__ import annotations

import builtins
import dis
import sys
from collections.abc import Callable, Sequence
from types import CodeType, FunctionType
from typing import Any

from overlay.code.decoding import (
    MADE,
    Instruction,
    call_slots,
    iterator_place,
    iterator_slots,
    operator_of,
    take_call,
)
from overlay.code.effects import follow
from overlay.code.events import CallEvent, Event, Implicit, Operation
from overlay.code.known_values import (
    EXIT,
    NULL,
    UNKNOWN,
    Known,
    Made,
    OfType,
    Super,
    Value,
    WrittenOut,
    attribute_of,
    global_value,
    join,
    type_of,
)
from overlay.code.listing import Listing
from overlay.code.paths import Paths, StackState
from overlay.core.own_builtins import __builtins__  # noqa: F401
from overlay.core.target import type_attribute

__all__ = ["CodeReading"]

# By the instruction that enters a block: the special methods that enter and leave it.
_BLOCKS = {
    "BEFORE_WITH": ("__enter__", "__exit__"),
    "BEFORE_ASYNC_WITH": ("__aenter__", "__aexit__"),
}


class CodeReading:
    """One code object, read with what is known of its arguments.

    ask: the value that an event results in. events: by instruction, what was read at last.
    returned: the value that the code returns, or for a generator the last of all.
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
        self.events: dict[tuple[int, int], Event] = {}
        self.returned: Value | None = None
        self._receiver = (
            arguments.get(code.co_varnames[0], UNKNOWN) if code.co_argcount else UNKNOWN
        )
        Paths(Listing(code), self._step).run(arguments)

    def _step(self, k: int, ins: Instruction, state: StackState) -> None:
        step = _STEPS.get(ins.name)
        if step is not None:
            step(self, k, ins, state)
        elif not self._operate(k, ins, state):
            self._follow(ins, state)
            if ins.name in MADE:
                state.stack[-1] = OfType(MADE[ins.name])

    def _follow(self, ins: Instruction, state: StackState) -> None:
        """Do what an instruction does to the stack, with nothing known of what it pushes."""
        follow(ins.op, ins.arg, state.stack, UNKNOWN)

    def _event(self, k: int, event: Event, part: int = 0) -> Value:
        self.events[k, part] = event
        return self.ask(event)

    # ---- constants, and the stack itself ----

    def _stay(self, k: int, ins: Instruction, state: StackState) -> None:
        pass

    def _constant(self, k: int, ins: Instruction, state: StackState) -> None:
        state.stack.append(Known(ins.value))

    def _build_class(self, k: int, ins: Instruction, state: StackState) -> None:
        state.stack.append(Known(builtins.__build_class__))

    def _null(self, k: int, ins: Instruction, state: StackState) -> None:
        state.stack.append(NULL)

    def _swap(self, k: int, ins: Instruction, state: StackState) -> None:
        stack = state.stack
        stack[-1], stack[-ins.arg] = stack[-ins.arg], stack[-1]

    def _copy(self, k: int, ins: Instruction, state: StackState) -> None:
        state.stack.append(state.stack[-ins.arg])

    def _return_constant(self, k: int, ins: Instruction, state: StackState) -> None:
        self._return(Known(ins.value))

    def _return_value(self, k: int, ins: Instruction, state: StackState) -> None:
        self._return(state.stack.pop())

    def _return(self, value: Value) -> None:
        self.returned = value if self.returned is None else join(self.returned, value)

    # ---- variables ----

    def _locals(self, k: int, ins: Instruction, state: StackState) -> None:
        """Loads and stores of locals, of which one instruction may do two."""
        names = ins.value if type(ins.value) is tuple else (ins.value,)
        parts = [part for part in ins.name.split("_") if part in ("LOAD", "STORE")]
        for part, name in zip(parts, names, strict=True):
            if part == "LOAD":
                state.stack.append(state.variables.get(name, UNKNOWN))
            else:
                state.variables[name] = state.stack.pop()

    def _store_name(self, k: int, ins: Instruction, state: StackState) -> None:
        state.variables[ins.value] = state.stack.pop()

    def _load_global(self, k: int, ins: Instruction, state: StackState) -> None:
        self._push(global_value(self.namespace, ins.value), ins, state)

    def _load_name(self, k: int, ins: Instruction, state: StackState) -> None:
        found = state.variables.get(ins.value)
        state.stack.append(global_value(self.namespace, ins.value) if found is None else found)

    def _load_name_of_scope(self, k: int, ins: Instruction, state: StackState) -> None:
        state.stack.pop()  # the namespace
        self._load_name(k, ins, state)

    def _load_cell(self, k: int, ins: Instruction, state: StackState) -> None:
        state.stack.append(self.cells.get(ins.value, UNKNOWN))

    def _load_free(self, k: int, ins: Instruction, state: StackState) -> None:
        """In a class body: a variable of its own, or of the function around it."""
        found = state.variables.get(ins.value)
        state.stack.append(self.cells.get(ins.value, UNKNOWN) if found is None else found)

    def _load_free_of_scope(self, k: int, ins: Instruction, state: StackState) -> None:
        state.stack.pop()  # the namespace
        self._load_free(k, ins, state)

    def _store_cell(self, k: int, ins: Instruction, state: StackState) -> None:
        name, value = ins.value, state.stack.pop()
        self.cells[name] = join(self.cells[name], value) if name in self.cells else value

    def _push(self, value: Value, ins: Instruction, state: StackState) -> None:
        state.stack += call_slots(value, NULL) if ins.for_call else [value]

    # ---- modules and attributes ----

    def _import(self, k: int, ins: Instruction, state: StackState) -> None:
        names, level = state.stack.pop(), state.stack.pop()
        top = isinstance(names, Known) and not names.object
        plain = isinstance(level, Known) and level.object == 0
        name = ins.value.partition(".")[0] if top else ins.value
        found = plain and name in sys.modules
        state.stack.append(Known(sys.modules[name]) if found else UNKNOWN)

    def _import_from(self, k: int, ins: Instruction, state: StackState) -> None:
        state.stack.append(attribute_of(state.stack[-1], ins.value))

    def _load_attribute(self, k: int, ins: Instruction, state: StackState) -> None:
        owner = state.stack.pop()
        kind = type_of(owner)
        if isinstance(kind, type) and not issubclass(kind, type):
            found = type_attribute(kind, ins.value)
            if type(found) is property and type(found.fget) is FunctionType:
                value = self._event(k, Implicit(ins.at, found.fget, (owner,)))
                self._push(value, ins, state)
                return
        self._push(attribute_of(owner, ins.value), ins, state)

    def _load_of_super(self, k: int, ins: Instruction, state: StackState) -> None:
        receiver, above, native = (state.stack.pop() for _ in range(3))
        self._push(attribute_of(_super(native, above, receiver), ins.value), ins, state)

    # ---- functions and calls ----

    def _make_function(self, k: int, ins: Instruction, state: StackState) -> None:
        code = state.stack[-1]
        self._follow(ins, state)
        if isinstance(code, Known) and type(code.object) is CodeType:
            state.stack[-1] = Made(code.object, self.cells, self.namespace)

    def _build_dict(self, k: int, ins: Instruction, state: StackState) -> None:
        held = state.stack[len(state.stack) - 2 * ins.arg :]
        keys, values = held[::2], held[1::2]
        if ins.name == "BUILD_CONST_KEY_MAP":
            names, values = state.stack[-1], state.stack[-1 - ins.arg : -1]
            keys = [Known(n) for n in names.object] if isinstance(names, Known) else []
        self._follow(ins, state)
        items = {
            key.object: value
            for key, value in zip(keys, values, strict=True)
            if isinstance(key, Known) and type(key.object) is str
        }
        state.stack[-1] = WrittenOut(dict, items)

    def _add_to_dict(self, k: int, ins: Instruction, state: StackState) -> None:
        self._follow(ins, state)
        state.stack[-ins.arg] = OfType(dict)

    def _set_function_attribute(self, k: int, ins: Instruction, state: StackState) -> None:
        del state.stack[-2]

    def _call_intrinsic(self, k: int, ins: Instruction, state: StackState) -> None:
        function = state.stack[-2]
        self._follow(ins, state)
        if ins.value == "INTRINSIC_SET_FUNCTION_TYPE_PARAMS":
            state.stack[-1] = function

    def _call(self, k: int, ins: Instruction, state: StackState) -> None:
        first, second, args, given, _, mapping = take_call(ins, state.stack, NULL)
        names = given.object if isinstance(given, Known) else ins.value or ()
        callee = second if first is NULL else first
        receiver = [] if first is NULL or second is NULL else [second]
        known = None if args is None else (*receiver, *args)
        if callee is EXIT:
            state.stack.append(UNKNOWN)
        elif isinstance(callee, Known) and callee.object is super and known is not None:
            state.stack.append(self._super_of(callee, known))
        else:
            spread = mapping.items if isinstance(mapping, WrittenOut) else {}
            state.stack.append(self._event(k, CallEvent(ins.at, callee, known, names, spread)))

    def _super_of(self, native: Value, args: Sequence[Value]) -> Value:
        if len(args) == 2:
            return _super(native, *args)
        return _super(native, self.cells.get("__class__", UNKNOWN), self._receiver)

    # ---- what runs without a call instruction ----

    def _operate(self, k: int, ins: Instruction, state: StackState) -> bool:
        """Whether it was an operator: then its operands are replaced by its result."""
        found = operator_of(ins)
        if found is None:
            return False
        function, order = found
        args = tuple(state.stack[-1 - place] for place in order)
        if ins.name.endswith("_SLICE"):  # the slice is made of two operands
            args = args[0], OfType(slice), *args[3:]
        self._follow(ins, state)
        result = self._event(k, Operation(ins.at, function, args))
        if not ins.name.startswith(("STORE", "DELETE")):
            state.stack[-1] = result
        return True

    def _special(self, k: int, ins: Instruction, owner: Value, name: str, part: int = 0) -> Value:
        """What a special method gives, where it is a Python function."""
        kind = type_of(owner)
        found = type_attribute(kind, name) if isinstance(kind, type) else None
        if type(found) is not FunctionType:
            return UNKNOWN
        return self._event(k, Implicit(ins.at, found, (owner,)), part)

    def _get_iterator(self, k: int, ins: Instruction, state: StackState) -> None:
        iterable = state.stack.pop()
        self._special(k, ins, iterable, "__iter__")
        state.stack += iterator_slots(iterable, NULL)

    def _next(self, k: int, ins: Instruction, state: StackState) -> None:
        iterator = state.stack[-1 - iterator_place()]
        item = self._special(k, ins, iterator, "__next__")
        state.stack.append(OfType(int) if type_of(iterator) is range else item)

    def _enter_block(self, k: int, ins: Instruction, state: StackState) -> None:
        manager = state.stack.pop()
        enter, leave = _BLOCKS[ins.name]
        entered = self._special(k, ins, manager, enter)
        self._special(k, ins, manager, leave, 1)
        state.stack += [EXIT, entered]


def _super(native: Value, above: Value, receiver: Value) -> Value:
    if not isinstance(native, Known) or native.object is not super:
        return UNKNOWN
    if not isinstance(above, Known) or not isinstance(above.object, type):
        return UNKNOWN
    return Super(above.object, receiver)


_LOCALS = [name for name in dis.opmap if name.startswith(("LOAD_FAST", "STORE_FAST"))]
_STEPS: dict[str, Callable[[CodeReading, int, Instruction, StackState], None]] = {
    **dict.fromkeys(_LOCALS, CodeReading._locals),
    "LOAD_CONST": CodeReading._constant,
    "LOAD_BUILD_CLASS": CodeReading._build_class,
    "PUSH_NULL": CodeReading._null,
    "SWAP": CodeReading._swap,
    "COPY": CodeReading._copy,
    "RETURN_CONST": CodeReading._return_constant,
    "RETURN_VALUE": CodeReading._return_value,
    "LOAD_GLOBAL": CodeReading._load_global,
    "LOAD_NAME": CodeReading._load_name,
    "STORE_NAME": CodeReading._store_name,
    "LOAD_FROM_DICT_OR_GLOBALS": CodeReading._load_name_of_scope,
    "LOAD_FROM_DICT_OR_DEREF": CodeReading._load_free_of_scope,
    "LOAD_DEREF": CodeReading._load_cell,
    "STORE_DEREF": CodeReading._store_cell,
    "IMPORT_NAME": CodeReading._import,
    "IMPORT_FROM": CodeReading._import_from,
    "LOAD_ATTR": CodeReading._load_attribute,
    "LOAD_SUPER_ATTR": CodeReading._load_of_super,
    "MAKE_FUNCTION": CodeReading._make_function,
    "SET_FUNCTION_ATTRIBUTE": CodeReading._set_function_attribute,
    "CALL": CodeReading._call,
    "CALL_KW": CodeReading._call,
    "CALL_FUNCTION_EX": CodeReading._call,
    **dict.fromkeys(("BUILD_MAP", "BUILD_CONST_KEY_MAP"), CodeReading._build_dict),
    **dict.fromkeys(("MAP_ADD", "DICT_MERGE", "DICT_UPDATE"), CodeReading._add_to_dict),
    "CALL_INTRINSIC_2": CodeReading._call_intrinsic,
    "GET_ITER": CodeReading._get_iterator,
    "FOR_ITER": CodeReading._next,
    **dict.fromkeys(_BLOCKS, CodeReading._enter_block),
}
