"""Reading code without running it: the calls that its instructions make, and with what.

The instructions are run on values of which only the object or the type is known, where paths
join on what is common to them, until nothing changes.
"""

from __future__ import annotations

import builtins
import operator
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

from bytecode import Bytecode, Instr, Label
from bytecode.instr import InstrLocation, TryBegin, TryEnd

from overlay.python.values import (
    EXIT,
    NULL,
    UNKNOWN,
    Known,
    Made,
    OfType,
    Super,
    Value,
    attribute_of,
    global_value,
    join,
    type_of,
)
from overlay.target import type_attribute

__all__ = ["Call", "Event", "Implicit", "Operation", "Reading"]

_NULL_FIRST = sys.version_info < (3, 13)
_BUILT = {"LIST": list, "TUPLE": tuple, "SET": set, "MAP": dict, "STRING": str, "SLICE": slice}
_FORMATS = ("FORMAT_VALUE", "FORMAT_SIMPLE", "FORMAT_WITH_SPEC", "CONVERT_VALUE")


@dataclass(frozen=True)
class Event:
    """Something that an instruction does which may run a function. ``at``: its position."""

    at: InstrLocation | None


@dataclass(frozen=True)
class Call(Event):
    """A call instruction. args: positional, then by keyword; None where they are not counted."""

    callee: Value
    args: tuple[Value, ...] | None
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Operation(Event):
    """An operator, as a function of the module ``operator``."""

    function: Callable[..., Any]
    args: tuple[Value, ...]


@dataclass(frozen=True)
class Implicit(Event):
    """A Python function that the interpreter calls without a call instruction."""

    function: Callable[..., Any]
    args: tuple[Value, ...]


State = tuple[list[Value], dict[str, Value]]


class Reading:
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
        self.code = code
        self.namespace = namespace
        self.cells = dict(cells)
        self.ask = ask
        self.events: dict[tuple[int, int], Event] = {}
        self.returned: Value | None = None
        self._first = code.co_varnames[0] if code.co_argcount else None
        self._arguments = arguments
        self._names: tuple[str, ...] = ()
        self._items: list[Any] = list(
            Bytecode.from_code(code, conserve_exception_block_stackdepth=True)
        )
        self._where = {id(item): i for i, item in enumerate(self._items) if type(item) is Label}
        self._regions = self._regions_of_items()
        self._states: dict[int, State] = {}
        self._pending: list[int] = []
        self.cells |= {name: arguments[name] for name in code.co_cellvars if name in arguments}
        self._run()

    def _regions_of_items(self) -> list[TryBegin | None]:
        regions: list[TryBegin | None] = []
        region: TryBegin | None = None
        for item in self._items:
            if isinstance(item, TryBegin):
                region = item
            elif isinstance(item, TryEnd):
                region = None
            regions.append(region)
        return regions

    # ---- paths ----

    def _run(self) -> None:
        self._reach(0, [], dict(self._arguments))
        while self._pending:
            index = self._pending.pop()
            stack, variables = self._states[index]
            self._walk(index, list(stack), dict(variables))

    def _reach(self, index: int, stack: list[Value], variables: dict[str, Value]) -> None:
        """Join a state into what is known at an instruction; go on there if that changes it."""
        old = self._states.get(index)
        if old is None:
            self._states[index] = list(stack), dict(variables)
            self._pending.append(index)
            return
        joined = [join(a, b) for a, b in zip(old[0], stack, strict=False)]
        names = {n: join(v, variables.get(n, v)) for n, v in old[1].items()}
        names |= {n: v for n, v in variables.items() if n not in names}
        same = all(a is b for a, b in zip(joined, old[0], strict=False))
        if same and len(names) == len(old[1]) and all(names[n] is old[1][n] for n in old[1]):
            return
        self._states[index] = joined, names
        if index not in self._pending:
            self._pending.append(index)

    def _walk(self, index: int, stack: list[Value], variables: dict[str, Value]) -> None:
        start = index
        self._reach_handler(index, stack, variables)
        while index < len(self._items):
            item = self._items[index]
            if type(item) is Label and index != start:
                self._reach(index, stack, variables)
                return
            if type(item) is TryBegin:
                self._reach_handler(index, stack, variables)
            elif type(item) is Instr:
                if item.has_jump():
                    taken = list(stack)
                    _plain(item, taken, jump=True)
                    self._reach(self._where[id(item.arg)], taken, variables)
                self._step(index, item, stack, variables)
                if item.is_final():
                    return
                if item.name.startswith("STORE_FAST"):
                    self._reach_handler(index, stack, variables)
            index += 1

    def _reach_handler(self, index: int, stack: list[Value], variables: dict[str, Value]) -> None:
        region = self._regions[index]
        if region is None:
            return
        depth = int(region.stack_depth)
        kept = stack[:depth] + [UNKNOWN] * max(0, depth - len(stack))
        pushed = [UNKNOWN] * (2 if region.push_lasti else 1)
        self._reach(self._where[id(region.target)], kept + pushed, variables)

    # ---- instructions ----

    def _step(
        self, index: int, ins: Instr, stack: list[Value], variables: dict[str, Value]
    ) -> None:
        handler = getattr(self, f"_on_{ins.name.lower()}", None)
        if handler is not None:
            handler(index, ins, stack)
        elif "_FAST" in ins.name and ins.name.startswith(("LOAD", "STORE")):
            self._fast(ins, stack, variables)
        elif ins.name in ("LOAD_NAME", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_GLOBALS"):
            self._load_name(ins, stack, variables)
        elif ins.name == "STORE_NAME":
            variables[_name(ins)] = stack.pop()
        elif ins.name in ("CALL", "CALL_KW", "CALL_FUNCTION_EX"):
            self._call(index, ins, stack)
        elif ins.name.startswith("BUILD_") and ins.name[6:] in _BUILT:
            _plain(ins, stack)
            stack[-1] = OfType(_BUILT[ins.name[6:]])
        elif ins.name in _FORMATS:
            _plain(ins, stack)
            stack[-1] = OfType(str)
        elif not self._operate(index, ins, stack):
            _plain(ins, stack)

    def _fast(self, ins: Any, stack: list[Value], variables: dict[str, Value]) -> None:
        """Loads and stores of locals, of which one instruction may do two."""
        names = ins.arg if type(ins.arg) is tuple else (_name(ins),)
        parts = [part for part in ins.name.split("_") if part in ("LOAD", "STORE")]
        for part, name in zip(parts, names, strict=True):
            if part == "LOAD":
                stack.append(variables.get(name, UNKNOWN))
            else:
                variables[name] = stack.pop()

    def _event(self, index: int, event: Event, part: int = 0) -> Value:
        self.events[index, part] = event
        return self.ask(event)

    def _on_load_const(self, index: int, ins: Any, stack: list[Value]) -> None:
        stack.append(Known(ins.arg))

    def _on_return_const(self, index: int, ins: Any, stack: list[Value]) -> None:
        self._return(Known(ins.arg))

    def _on_return_value(self, index: int, ins: Any, stack: list[Value]) -> None:
        self._return(stack.pop())

    def _return(self, value: Value) -> None:
        self.returned = value if self.returned is None else join(self.returned, value)

    def _on_swap(self, index: int, ins: Any, stack: list[Value]) -> None:
        stack[-1], stack[-ins.arg] = stack[-ins.arg], stack[-1]

    def _on_copy(self, index: int, ins: Any, stack: list[Value]) -> None:
        stack.append(stack[-ins.arg])

    def _on_push_null(self, index: int, ins: Any, stack: list[Value]) -> None:
        stack.append(NULL)

    def _on_list_append(self, index: int, ins: Any, stack: list[Value]) -> None:
        stack.pop()

    _on_set_add = _on_list_append

    def _on_map_add(self, index: int, ins: Any, stack: list[Value]) -> None:
        del stack[-2:]

    def _on_precall(self, index: int, ins: Any, stack: list[Value]) -> None:
        pass

    def _on_kw_names(self, index: int, ins: Any, stack: list[Value]) -> None:
        self._names = ins.arg

    # ---- names and attributes ----

    def _on_load_global(self, index: int, ins: Any, stack: list[Value]) -> None:
        null, name = ins.arg
        value = global_value(self.namespace, name)
        stack += _slots(value) if null else [value]

    def _load_name(self, ins: Any, stack: list[Value], variables: dict[str, Value]) -> None:
        name = _name(ins)
        if ins.name == "LOAD_FROM_DICT_OR_GLOBALS":
            stack.pop()
        found = variables.get(name)
        stack.append(global_value(self.namespace, name) if found is None else found)

    def _on_load_build_class(self, index: int, ins: Any, stack: list[Value]) -> None:
        stack.append(Known(builtins.__build_class__))

    def _on_load_closure(self, index: int, ins: Any, stack: list[Value]) -> None:
        stack.append(UNKNOWN)

    def _on_load_deref(self, index: int, ins: Any, stack: list[Value]) -> None:
        stack.append(self.cells.get(_name(ins), UNKNOWN))

    def _on_load_from_dict_or_deref(self, index: int, ins: Any, stack: list[Value]) -> None:
        stack[-1] = self.cells.get(_name(ins), UNKNOWN)

    def _on_store_deref(self, index: int, ins: Any, stack: list[Value]) -> None:
        name, value = _name(ins), stack.pop()
        self.cells[name] = join(self.cells[name], value) if name in self.cells else value

    def _on_import_name(self, index: int, ins: Any, stack: list[Value]) -> None:
        names, level = stack.pop(), stack.pop()
        top = isinstance(names, Known) and not names.object
        plain = isinstance(level, Known) and level.object == 0
        name = ins.arg.partition(".")[0] if top else ins.arg
        stack.append(Known(sys.modules[name]) if plain and name in sys.modules else UNKNOWN)

    def _on_import_from(self, index: int, ins: Any, stack: list[Value]) -> None:
        stack.append(attribute_of(stack[-1], ins.arg))

    def _on_load_attr(self, index: int, ins: Any, stack: list[Value]) -> None:
        method, name = ins.arg if type(ins.arg) is tuple else (False, ins.arg)
        value = self._attribute(index, ins, stack.pop(), name)
        stack += _slots(value) if method else [value]

    def _on_load_method(self, index: int, ins: Any, stack: list[Value]) -> None:
        stack += _slots(self._attribute(index, ins, stack.pop(), ins.arg))

    def _on_load_super_attr(self, index: int, ins: Any, stack: list[Value]) -> None:
        receiver, above, native = stack.pop(), stack.pop(), stack.pop()
        value = attribute_of(_super(native, above, receiver), ins.arg[-1])
        stack += _slots(value) if ins.arg[0] else [value]

    def _attribute(self, index: int, ins: Any, owner: Value, name: str) -> Value:
        kind = type_of(owner)
        if isinstance(kind, type) and not issubclass(kind, type):
            found = type_attribute(kind, name)
            if type(found) is property and type(found.fget) is FunctionType:
                return self._event(index, Implicit(ins.location, found.fget, (owner,)))
        return attribute_of(owner, name)

    # ---- calls ----

    def _on_make_function(self, index: int, ins: Any, stack: list[Value]) -> None:
        code = stack[-1]
        _plain(ins, stack)
        if isinstance(code, Known) and type(code.object) is CodeType:
            stack[-1] = Made(code.object, self.cells, self.namespace)

    def _on_set_function_attribute(self, index: int, ins: Any, stack: list[Value]) -> None:
        del stack[-2]

    def _call(self, index: int, ins: Any, stack: list[Value]) -> None:
        names, self._names = self._names, ()
        args: tuple[Value, ...] | None = None
        if ins.name == "CALL_FUNCTION_EX":
            del stack[-1 - (ins.arg & 1) :]
        else:
            if ins.name == "CALL_KW":
                given = stack.pop()
                names = given.object if isinstance(given, Known) else ()
            args = tuple(stack[len(stack) - ins.arg :])
            del stack[len(stack) - ins.arg :]
        second, first = stack.pop(), stack.pop()
        callee, receiver = (second, NULL) if first is NULL else (first, second)
        if receiver is not NULL and args is not None:
            args = receiver, *args
        if callee is EXIT:
            stack.append(UNKNOWN)
        elif isinstance(callee, Known) and callee.object is super and args is not None:
            stack.append(self._super_of(callee, args))
        else:
            stack.append(self._event(index, Call(ins.location, callee, args, names)))

    def _super_of(self, native: Value, args: Sequence[Value]) -> Value:
        if len(args) == 2:
            return _super(native, *args)
        receiver = self._arguments.get(self._first or "", UNKNOWN)
        return _super(native, self.cells.get("__class__", UNKNOWN), receiver)

    # ---- operators ----

    def _operate(self, index: int, ins: Any, stack: list[Value]) -> bool:
        """Whether it was an operator: then its operands are replaced by its result."""
        found = _operator(ins)
        if found is None:
            return False
        function, order = found
        args = tuple(stack[-1 - place] for place in order)
        before = len(stack)
        _plain(ins, stack)
        if ins.name.endswith("_SLICE"):  # the slice is made of two operands
            args = args[0], OfType(slice), *args[3:]
        result = self._event(index, Operation(ins.location, function, args))
        if len(stack) > before - len(order) and not ins.name.startswith(("STORE", "DELETE")):
            stack[-1] = result
        return True

    def _on_get_iter(self, index: int, ins: Any, stack: list[Value]) -> None:
        self._dunder(index, ins, stack[-1], "__iter__")

    def _dunder(self, index: int, ins: Any, owner: Value, name: str, part: int = 0) -> Value:
        kind = type_of(owner)
        found = type_attribute(kind, name) if isinstance(kind, type) else None
        if type(found) is not FunctionType:
            return UNKNOWN
        return self._event(index, Implicit(ins.location, found, (owner,)), part)

    def _on_for_iter(self, index: int, ins: Any, stack: list[Value]) -> None:
        kind = type_of(stack[-1])
        item = self._dunder(index, ins, stack[-1], "__next__")
        stack.append(OfType(int) if kind is range else item)

    def _on_before_with(self, index: int, ins: Any, stack: list[Value]) -> None:
        manager = stack.pop()
        entered = self._dunder(index, ins, manager, "__enter__")
        self._dunder(index, ins, manager, "__exit__", 1)
        stack += [EXIT, entered]


def _plain(ins: Any, stack: list[Value], *, jump: bool = False) -> None:
    """Pop and push what an instruction does, with nothing known of what it pushes."""
    pops, pushes = ins.pre_and_post_stack_effect(jump=jump)
    if pops < 0:
        del stack[pops:]
    stack.extend([UNKNOWN] * (pushes + max(pops, 0)))


def _name(ins: Any) -> str:
    """A variable's name: cells are told apart from locals by their class."""
    return getattr(ins.arg, "name", ins.arg)


def _slots(value: Value) -> list[Value]:
    return [NULL, value] if _NULL_FIRST else [value, NULL]


def _super(native: Value, above: Value, receiver: Value) -> Value:
    if (
        isinstance(native, Known)
        and native.object is super
        and isinstance(above, Known)
        and isinstance(above.object, type)
    ):
        return Super(above.object, receiver)
    return UNKNOWN


_INFIX = {
    "MATRIX_MULTIPLY": "matmul",
    "FLOOR_DIVIDE": "floordiv",
    "TRUE_DIVIDE": "truediv",
    "MULTIPLY": "mul",
    "SUBTRACT": "sub",
    "REMAINDER": "mod",
    "POWER": "pow",
}
_UNARY = {
    "UNARY_NEGATIVE": operator.neg,
    "UNARY_POSITIVE": operator.pos,
    "UNARY_INVERT": operator.invert,
    "UNARY_NOT": operator.not_,
}
_COMPARISONS = ("lt", "le", "eq", "ne", "gt", "ge")


def _infix(name: str) -> Callable[..., Any]:
    """``ADD`` -> ``operator.add``, ``INPLACE_ADD`` -> ``operator.iadd``."""
    plain = name.removeprefix("INPLACE_")
    found = _INFIX.get(plain, plain.lower())
    if plain != name:
        return getattr(operator, f"i{found}")
    return getattr(operator, f"{found}_" if found in ("and", "or") else found)


def _comparison(argument: Any) -> Callable[..., Any]:
    """From 3.13 on the argument also says whether the result is made a bool."""
    name = getattr(argument, "name", None) or _COMPARISONS[int(argument) & 15]
    return getattr(operator, name.removesuffix("_CAST").lower())


_SIMPLE: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    **{name: (function, (0,)) for name, function in _UNARY.items()},
    "BINARY_SUBSCR": (operator.getitem, (1, 0)),
    "BINARY_SLICE": (operator.getitem, (2, 1, 0)),
    "DELETE_SUBSCR": (operator.delitem, (1, 0)),
    "STORE_SUBSCR": (operator.setitem, (1, 0, 2)),
    "STORE_SLICE": (operator.setitem, (2, 1, 0, 3)),
}


def _operator(ins: Any) -> tuple[Callable[..., Any], tuple[int, ...]] | None:
    """The operator function of an instruction, and how far from the top its operands lie."""
    if ins.name == "BINARY_OP":
        return _infix(ins.arg.name), (1, 0)
    if ins.name == "COMPARE_OP":
        return _comparison(ins.arg), (1, 0)
    if ins.name == "CONTAINS_OP":
        return operator.contains, (0, 1)
    if ins.name == "IS_OP":
        return (operator.is_not if ins.arg else operator.is_), (1, 0)
    if (
        ins.name == "CALL_INTRINSIC_1"
        and getattr(ins.arg, "name", "") == "INTRINSIC_UNARY_POSITIVE"
    ):
        return operator.pos, (0,)
    return _SIMPLE.get(ins.name)
