"""What the emitters share: reading call sites off the stack, and the sequences that do not
differ between Python versions.

A call site is rewritten by replacing the callee, not the call: ``[callee] -> [callee']`` just
before the call. Arguments, keywords, frames and traceback positions stay native.
"""

from __future__ import annotations

import builtins
import operator
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from types import CodeType, ModuleType
from typing import Any, ClassVar, NamedTuple

from bytecode import BinaryOp, Bytecode, Compare, Instr, Label, TryBegin, TryEnd
from bytecode.instr import InstrLocation

__all__ = ["BINARY", "COMPARE", "Edits", "Emitter", "Guarded", "Tag"]


class Tag(NamedTuple):
    """What is known of one stack slot: what kind of instruction pushed it, and which one."""

    kind: str
    index: int
    value: Any = None


COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
Item = Instr | Label | TryBegin | TryEnd
Stack = list[Tag | None]

_INFIX = {
    "ADD": "add",
    "AND": "and_",
    "FLOOR_DIVIDE": "floordiv",
    "LSHIFT": "lshift",
    "MATRIX_MULTIPLY": "matmul",
    "MULTIPLY": "mul",
    "REMAINDER": "mod",
    "OR": "or_",
    "POWER": "pow",
    "RSHIFT": "rshift",
    "SUBTRACT": "sub",
    "TRUE_DIVIDE": "truediv",
    "XOR": "xor",
}
BINARY: dict[int, Callable[..., Any]] = {
    **{BinaryOp[k]: getattr(operator, v) for k, v in _INFIX.items()},
    **{BinaryOp[f"INPLACE_{k}"]: getattr(operator, f"i{v.rstrip('_')}") for k, v in _INFIX.items()},
}
COMPARE: dict[int, Callable[..., Any]] = {
    Compare[name.upper()]: getattr(operator, name) for name in ("lt", "le", "eq", "ne", "gt", "ge")
}
UNARY: dict[str, Callable[..., Any]] = {
    "UNARY_NEGATIVE": operator.neg,
    "UNARY_POSITIVE": operator.pos,
    "UNARY_INVERT": operator.invert,
}


class Guarded(NamedTuple):
    """An exception region of one instruction inside emitted code: ``body`` raises only where
    the fast path does not apply, and ``handler`` then runs with one more slot on the stack,
    which is ``depth`` deep before."""

    body: Instr
    handler: Label
    depth: int


class Edits:
    """Changes to a list of instructions: what stands before, after and in place of each."""

    def __init__(self) -> None:
        self.before: dict[int, list[Item | Guarded]] = {}
        self.replaced: dict[int, list[Item | Guarded]] = {}
        self.tail: list[Item] = []

    def once(self, index: int) -> bool:
        """Whether nothing was done yet to the instruction that pushed a callee: the compiler
        may have copied a call to the end of several branches."""
        return index not in self.replaced and index not in self.before

    def insert(self, index: int, items: Iterable[Item | Guarded]) -> None:
        """Put items before an instruction."""
        self.before.setdefault(index, []).extend(items)

    def replace(self, index: int, items: Iterable[Item | Guarded]) -> None:
        """Put items in place of an instruction."""
        self.replaced[index] = list(items)

    def apply(self, code: Sequence[Item]) -> list[Item]:
        """The edited instructions, exception regions split around guarded ones."""
        out: list[Item] = []
        region: TryBegin | None = None
        for index, item in enumerate(code):
            new = [*self.before.get(index, ()), *self.replaced.get(index, (item,))]
            for each in new:
                if isinstance(each, Guarded):
                    region = _guard(out, region, each)
                    continue
                if isinstance(each, TryBegin):
                    region = each
                elif isinstance(each, TryEnd):
                    each, region = TryEnd(region or each.entry), None
                out.append(each)
        return out + self.tail


def _guard(out: list[Item], region: TryBegin | None, guarded: Guarded) -> TryBegin | None:
    if region is not None:
        out.append(TryEnd(region))
    inner = TryBegin(guarded.handler, False, guarded.depth)
    out += [inner, guarded.body, TryEnd(inner)]
    if region is None:
        return None
    again = region.copy()
    out.append(again)
    return again


class Emitter(ABC):
    """The instruction sequences of one Python minor version."""

    JUMP_IF_FALSE: ClassVar[str] = "POP_JUMP_IF_FALSE"
    CALLS: ClassVar[frozenset[str]] = frozenset({"CALL"})

    # ---- reading the stack ----

    def step(self, index: int, ins: Instr, stack: Stack, namespace: dict[str, Any]) -> None:
        """Run one instruction on the abstract stack."""
        name, arg = ins.name, ins.arg
        if name == "SWAP":
            stack[-1], stack[-arg] = stack[-arg], stack[-1]
        elif name == "COPY":
            stack.append(stack[-arg])
        elif name == "PUSH_NULL":
            stack.append(Tag("null", index))
        elif name == "LOAD_GLOBAL":
            self.load_global(index, ins, stack, namespace)
        elif self.is_method_load(ins):
            if name == "LOAD_SUPER_ATTR":  # it has super and the class below the receiver
                stack[-3:] = [None]
            receiver = stack[-1]
            static = receiver is not None and receiver.kind == "static"
            stack[-1:] = [Tag("static method" if static else "method", index)] * 2
        else:
            top = stack[-1] if stack else None
            apply_effect(ins, stack, jump=False)
            if name == "LOAD_ATTR" and top is not None and top.kind == "static":
                stack[-1] = static_tag(index, getattr_static(top.value, self.attribute(ins)))
            elif name == "LOAD_CONST" and isinstance(arg, CodeType):
                stack[-1] = Tag("code", index, arg)
            elif name == "MAKE_FUNCTION" and top is not None and top.kind == "code":
                comprehension = top.value.co_name in COMPREHENSIONS
                stack[-1] = Tag("function", index) if comprehension else None
            elif name == "SET_FUNCTION_ATTRIBUTE":
                stack[-1] = top
            elif name in ("BEFORE_WITH", "BEFORE_ASYNC_WITH"):
                stack[-2] = Tag("exit", index)
            elif name == "LOAD_BUILD_CLASS":
                stack[-1] = Tag("build class", index)

    def load_global(self, index: int, ins: Instr, stack: Stack, namespace: dict[str, Any]) -> None:
        """Push what LOAD_GLOBAL pushes; a module or class is followed through attributes."""
        null, name = ins.arg
        if null:
            stack += self.global_call_slots(index)
        else:
            stack.append(static_tag(index, lookup(namespace, name)))

    def global_call_slots(self, index: int) -> Stack:
        """The two slots of ``LOAD_GLOBAL`` with NULL, in this version's order."""
        return [Tag("null", index), Tag("global", index)]

    @abstractmethod
    def is_method_load(self, ins: Instr) -> bool:
        """Whether it pushes a function and its receiver, or NULL and a callable."""
        ...

    def attribute(self, ins: Instr) -> str:
        """The name that an attribute load looks up."""
        return ins.arg[-1] if isinstance(ins.arg, tuple) else ins.arg

    # ---- sequences ----

    def load_attr(self, name: str, at: InstrLocation | None) -> Instr:
        """Plain attribute load."""
        return Instr("LOAD_ATTR", (False, name), location=at)

    def map_top(self, site: Any, at: InstrLocation | None) -> list[Item | Guarded]:
        """``[callee] -> [callee']``: the site's constant if its key is met, else ask the site."""
        slow, end = Label(), Label()
        return [
            Instr("COPY", 1, location=at),
            Instr("LOAD_CONST", site, location=at),
            self.load_attr("key", at),
            Instr("IS_OP", 0, location=at),
            Instr(self.JUMP_IF_FALSE, slow, location=at),
            Instr("POP_TOP", location=at),
            Instr("LOAD_CONST", site, location=at),
            self.load_attr("to", at),
            Instr("JUMP_FORWARD", end, location=at),
            slow,
            *self.ask(site, at),
            end,
        ]

    def ask(self, site: Any, at: InstrLocation | None) -> list[Instr]:
        """``[callee] -> [site[callee]]``."""
        return [
            Instr("LOAD_CONST", site, location=at),
            Instr("SWAP", 2, location=at),
            Instr("BINARY_SUBSCR", location=at),
        ]

    def map_deep(self, depth: int, site: Any, at: InstrLocation | None) -> list[Item | Guarded]:
        """Map the callee that stands ``depth`` slots from the top."""
        swap = [Instr("SWAP", depth, location=at)] if depth > 1 else []
        return [*swap, *self.map_top(site, at), *swap]

    @abstractmethod
    def rewrite_call(
        self,
        index: int,
        code: Bytecode,
        stack: Stack,
        new_site: Callable[[int | None], Any],
        edits: Edits,
    ) -> None:
        """Edit one call so that its callee is mapped."""
        ...

    @abstractmethod
    def call(self, count: int, function: Any, at: InstrLocation | None) -> list[Instr]:
        """``[a1..an] -> [function(a1, .., an)]`` for n of 1 to 3."""
        ...

    def as_bool(self, at: InstrLocation | None) -> list[Instr]:
        """``[x] -> [bool(x)]``."""
        return [Instr("UNARY_NOT", location=at), Instr("UNARY_NOT", location=at)]

    def negated(self, at: InstrLocation | None) -> list[Instr]:
        """``[x] -> [not x]``."""
        return [Instr("UNARY_NOT", location=at)]

    # ---- operators ----

    def rewrite_operator(
        self, index: int, code: Bytecode, dispatcher: Callable[[Any], Any | None], edits: Edits
    ) -> None:
        """Edit one operator instruction where ``dispatcher(operator function)`` is not None."""
        ins = code[index]
        at, name = ins.location, ins.name
        if name == "BINARY_OP":
            self._plain(index, dispatcher(BINARY[ins.arg]), 2, at, edits)
        elif name == "COMPARE_OP":
            self._plain(index, dispatcher(COMPARE[int(ins.arg) & 15]), 2, at, edits)
            if index in edits.replaced and int(ins.arg) & 16:
                edits.replaced[index] += self.as_bool(at)
        elif name in UNARY:
            self._plain(index, dispatcher(UNARY[name]), 1, at, edits)
        elif name == "UNARY_NOT":
            self.rewrite_not(index, code, dispatcher(operator.not_), edits)
        elif name == "IS_OP":
            function = dispatcher(operator.is_not if ins.arg else operator.is_)
            self._plain(index, function, 2, at, edits, self.as_bool(at))
        elif name == "CONTAINS_OP":
            after = self.negated(at) if ins.arg else self.as_bool(at)
            swap = Instr("SWAP", 2, location=at)
            self._plain(index, dispatcher(operator.contains), 2, at, edits, after, [swap])
        elif name == "BINARY_SUBSCR":
            self._plain(index, dispatcher(operator.getitem), 2, at, edits)
        elif name == "DELETE_SUBSCR":
            pop = [Instr("POP_TOP", location=at)]
            self._plain(index, dispatcher(operator.delitem), 2, at, edits, pop)
        elif name == "STORE_SUBSCR":
            self._store(index, dispatcher(operator.setitem), at, edits, [])
        elif name == "BINARY_SLICE":
            build = [Instr("BUILD_SLICE", 2, location=at)]
            self._plain(index, dispatcher(operator.getitem), 2, at, edits, before=build)
        elif name == "STORE_SLICE":
            build = [Instr("BUILD_SLICE", 2, location=at)]
            self._store(index, dispatcher(operator.setitem), at, edits, build)

    def rewrite_not(self, index: int, code: Bytecode, function: Any | None, edits: Edits) -> None:
        """Edit ``not x``, whose result stays a bool."""
        at = code[index].location
        self._plain(index, function, 1, at, edits, self.as_bool(at))

    def _plain(
        self,
        index: int,
        function: Any | None,
        count: int,
        at: InstrLocation | None,
        edits: Edits,
        after: Sequence[Instr] = (),
        before: Sequence[Instr] = (),
    ) -> None:
        if function is not None:
            edits.replace(index, [*before, *self.call(count, function, at), *after])

    def _store(
        self,
        index: int,
        function: Any | None,
        at: InstrLocation | None,
        edits: Edits,
        before: Sequence[Instr],
    ) -> None:
        # [value, container, key] -> setitem(container, key, value)
        order = [Instr("SWAP", 2, location=at), Instr("SWAP", 3, location=at)]
        pop = [Instr("POP_TOP", location=at)]
        self._plain(index, function, 3, at, edits, pop, [*before, *order])


def apply_effect(ins: Instr, stack: Stack, *, jump: bool) -> None:
    """Pop and push what an instruction does, with nothing known of what it pushes."""
    pops, pushes = ins.pre_and_post_stack_effect(jump=jump)
    if pops < 0:
        del stack[pops:]
    stack.extend([None] * (pushes + max(pops, 0)))


def lookup(namespace: dict[str, Any], name: str) -> Any:
    """A global or builtin, or None."""
    if dict.__contains__(namespace, name):
        return dict.get(namespace, name)
    scope = dict.get(namespace, "__builtins__", builtins)
    return vars(scope).get(name) if isinstance(scope, ModuleType) else dict.get(scope, name)


def getattr_static(owner: Any, name: str) -> Any:
    """A submodule or class in a module, without running code of the user's."""
    return vars(owner).get(name) if isinstance(owner, ModuleType) else None


def static_tag(index: int, value: Any) -> Tag | None:
    """Marks a slot that holds a module or a class when the code is rewritten."""
    return Tag("static", index, value) if isinstance(value, (ModuleType, type)) else None


def previous(code: Bytecode, index: int) -> int | None:
    """Index of the instruction before this one, if it is always run just before it."""
    index -= 1
    return index if index >= 0 and isinstance(code[index], Instr) else None
