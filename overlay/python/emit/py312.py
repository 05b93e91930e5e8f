"""CPython 3.12: ``[NULL | method, callable | self, args...] CALL n``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bytecode import Bytecode, Instr, Label
from bytecode.instr import InstrLocation

from overlay.python.emit.common import Edits, Emitter, Guarded, Item, Stack, previous

OPTIMIZED = 0x1
# What is mapped where it is pushed, and not at the call.
PRODUCERS = frozenset({"method", "static method", "global"})


class Emitter312(Emitter):
    """CPython 3.12. 3.11 has the same layout under other names and builds on this."""

    LOAD_CHECKED = "LOAD_FAST_CHECK"
    # Holds a method for three instructions; a name no program can have.
    TEMPORARY = ".method"

    def is_method_load(self, ins: Instr) -> bool:
        return (ins.name == "LOAD_ATTR" and ins.arg[0]) or (
            ins.name == "LOAD_SUPER_ATTR" and ins.arg[0]
        )

    def arguments(self, code: Bytecode, index: int) -> tuple[int, bool, int]:
        """Of the call at ``index``: arguments, whether some are keywords, where it begins."""
        before = previous(code, index)
        keywords = before is not None and code[before].name == "KW_NAMES"
        return code[index].arg, keywords, before if keywords and before is not None else index

    def rewrite_call(
        self,
        index: int,
        code: Bytecode,
        stack: Stack,
        new_site: Callable[[int | None], Any],
        edits: Edits,
    ) -> None:
        ins = code[index]
        at = ins.location
        if ins.name == "CALL_FUNCTION_EX":
            edits.insert(index, self.map_deep(2 + (ins.arg & 1), new_site(None), at))
            return
        count, keywords, start = self.arguments(code, index)
        arity = None if keywords else count
        first, second = stack[-count - 2], stack[-count - 1]
        kind = None if first is None else first.kind
        producer = second if kind == "null" and second is not None else first
        if kind in ("exit", "function"):
            return
        if producer is not None and producer.kind in PRODUCERS and not edits.once(producer.index):
            return
        if kind == "method" and first is not None:
            depth = len(stack) - count - 1
            self.rewrite_method(first.index, code, depth, new_site(None), edits)
        elif kind == "static method" and first is not None:
            load = code[first.index]
            null = [Instr("PUSH_NULL", location=at), Instr("SWAP", 2, location=at)]
            plain = self.load_attr(self.attribute(load), load.location)
            site = self.map_top(new_site(arity), load.location)
            edits.replace(first.index, [plain, *site, *null])
        elif kind != "null":
            edits.insert(start, self.map_deep(count + 2, new_site(None), at))
        elif second is not None and second.kind == "global":
            load = code[second.index]
            edits.replace(second.index, [load, *self.map_top(new_site(arity), load.location)])
        elif second is None or second.kind != "build class":
            edits.insert(start, self.map_deep(count + 1, new_site(arity), at))

    def rewrite_method(
        self, index: int, code: Bytecode, depth: int, site: Any, edits: Edits
    ) -> None:
        """Map what a method load pushes; the stack is ``depth`` deep before it.

        Which of the two layouts it is shows by identity: the second slot is the receiver. A
        local that may stay unbound catches the one exception, an attribute that is its own
        owner, since no instruction may look at a NULL.
        """
        load = code[index]
        at = load.location

        def op(name: str, *arg: Any) -> Instr:
            return Instr(name, *arg, location=at)

        if load.name == "LOAD_SUPER_ATTR" or not code.flags & OPTIMIZED:
            plain = self.plain_load(load)
            edits.replace(index, [plain, *self.ask(site, at), op("PUSH_NULL"), op("SWAP", 2)])
            return
        bound, own, end = Label(), Label(), Label()
        items: list[Item | Guarded] = [
            op("COPY", 1),
            load,  # [receiver, method | NULL, receiver | callable]
            op("COPY", 1),
            op("COPY", 4),
            op("IS_OP", 0),
            op(self.JUMP_IF_FALSE, bound),
            op("SWAP", 3),
            op("POP_TOP"),
            op("STORE_FAST", self.TEMPORARY),
            Guarded(op(self.LOAD_CHECKED, self.TEMPORARY), own, depth),
            op("DELETE_FAST", self.TEMPORARY),
            *self.map_top(site, at),
            op("SWAP", 2),
            op("JUMP_FORWARD", end),
            bound,  # [receiver, NULL, callable]
            op("SWAP", 3),
            op("POP_TOP"),
            op("SWAP", 2),
            *self.ask(site, at),
            end,
        ]
        edits.replace(index, items)
        edits.tail += [
            own,  # [callable, exception]
            op("POP_TOP"),
            *self.ask(site, at),
            op("PUSH_NULL"),
            op("SWAP", 2),
            op("JUMP_BACKWARD", end),
        ]

    def plain_load(self, load: Instr) -> Instr:
        """The same attribute load, pushing one slot."""
        if load.name == "LOAD_SUPER_ATTR":
            return Instr("LOAD_SUPER_ATTR", (False, *load.arg[1:]), location=load.location)
        return self.load_attr(self.attribute(load), load.location)

    def call(self, count: int, function: Any, at: InstrLocation | None) -> list[Instr]:
        rotate = Instr("SWAP", count + 1, location=at)
        order = [Instr("SWAP", 2, location=at), Instr("SWAP", 3, location=at)]
        return [
            Instr("PUSH_NULL", location=at),
            rotate,
            Instr("LOAD_CONST", function, location=at),
            rotate,
            *(order if count == 3 else []),
            *self.invoke(count, at),
        ]

    def invoke(self, count: int, at: InstrLocation | None) -> list[Instr]:
        """The call instruction itself."""
        return [Instr("CALL", count, location=at)]

    def rewrite_operator(
        self, index: int, code: Bytecode, dispatcher: Callable[[Any], Any | None], edits: Edits
    ) -> None:
        rewrite_unary_plus(self, index, code, dispatcher, edits)
        super().rewrite_operator(index, code, dispatcher, edits)


def rewrite_unary_plus(
    emitter: Emitter,
    index: int,
    code: Bytecode,
    dispatcher: Callable[[Any], Any | None],
    edits: Edits,
) -> None:
    """``+x`` is an intrinsic since 3.12."""
    import operator

    from bytecode import Intrinsic1Op

    ins = code[index]
    if ins.name == "CALL_INTRINSIC_1" and ins.arg == Intrinsic1Op.INTRINSIC_UNARY_POSITIVE:
        function = dispatcher(operator.pos)
        if function is not None:
            edits.replace(index, emitter.call(1, function, ins.location))
