"""CPython 3.13: ``[callable, self | NULL, args...] CALL n``, and ``CALL_KW``."""

from __future__ import annotations

import dis
import operator
from collections.abc import Callable, Sequence
from typing import Any

from overlay.code.own_builtins import __builtins__  # noqa: F401
from overlay.python.assembly import Item, Label
from overlay.python.emit.common import Emitter
from overlay.python.emit.patterns import Arguments
from overlay.python.emit.sequences import Guard, Kinds
from overlay.python.emit.writer import OP, Stack, Tag, Writer

_UNARY_POSITIVE = 5  # intrinsic function
_TO_BOOL = 16  # flag of a comparison


class Emitter313(Emitter):
    """CPython 3.13."""

    CALLS = frozenset(OP[n] for n in ("CALL", "CALL_KW", "CALL_FUNCTION_EX") if n in OP)

    def __init__(self) -> None:
        super().__init__()
        pairs = {"STORE_FAST_LOAD_FAST": _store_and_load, "LOAD_FAST_LOAD_FAST": _load_two}
        self.steps.update({OP[name]: step for name, step in pairs.items() if name in OP})

    def global_call_slots(self, k: int, value: Any) -> Stack:
        return [("global", k, value), ("null", k, None)]

    def rewrite_call(self, k: int, stack: Stack, w: Writer) -> None:
        op, count = w.listing.ops[k], w.listing.args[k]
        extended = op == OP["CALL_FUNCTION_EX"]
        keywords = op == OP["CALL_KW"]
        depth = 3 + (count & 1) if extended else count + 2 + keywords
        first, second = stack[-depth], stack[-depth + 1]
        kind = None if first is None else first[0]
        if kind in ("exit", "build") or (kind == "function" and second is None):
            return
        null = second is not None and second[0] == "null"
        decorated = not null and kind not in ("method", "static method")
        arity = None if extended or keywords or decorated else count
        if arity == 1 and self.is_target(first, w):
            w.edits.before[k] = [self.filled(w, w.new_site(1), self.dispatch_inline, (), 3)]
        elif first is None or kind in ("function", "null", "super", "code"):
            w.edits.before[k] = [self.filled(w, w.new_site(arity), self.guard_deep, (), depth)]
        elif w.edits.once(first[1]):
            self._where_pushed(first, arity, w, extended)

    def _where_pushed(self, tag: Tag, arity: int | None, w: Writer, extended: bool) -> None:
        if tag[0] == "method":
            site = w.new_site(None, self.attribute(tag[1], w))
            w.edits.after[tag[1]] = [self.filled(w, site, self.method)]
        elif tag[0] == "static method":
            self.map_static(tag, w.new_site(arity), w)
        else:
            self._value(tag, arity, w, extended)

    def _value(self, tag: Tag, arity: int | None, w: Writer, extended: bool) -> None:
        """Map a callee that is pushed with NULL, or before it; extended: the slot of that NULL
        cannot hold an argument."""
        k = tag[1]
        if tag[0] == "global":
            place = self.before_null if extended else self.two_slots_anew
        elif extended or w.listing.ops[k + 1] != OP["PUSH_NULL"]:
            place = self.as_value
        else:
            place = self.under_null
        self.map_value(tag, arity, w, place)

    def before_null(self, w: Arguments, guard: Guard) -> list[Item]:
        """The place of a callee that stays one slot, and which has taken the place of two."""
        return [*guard(None), (OP["PUSH_NULL"], 0)]

    def under_null(self, w: Arguments, guard: Guard) -> list[Item]:
        """The place of a callee after which NULL is pushed."""
        done = Label(ahead=1)
        return [*guard(self.bind(done)), done]

    def bind(self, done: Label) -> list[Item]:
        """``[self, function] -> [function, self]``, and leave."""
        return [(OP["SWAP"], 2), (OP["JUMP_FORWARD"], done)]

    def two_slots(self, w: Arguments, guard: Guard) -> list[Item]:
        done = Label()
        return [*guard(self.bind(done)), (OP["PUSH_NULL"], 0), done]

    def two_slots_anew(self, w: Arguments, guard: Guard) -> list[Item]:
        return self.two_slots(w, guard)

    def method(self, w: Arguments, site: Any, loads: Sequence[Item]) -> list[Item]:
        """``[callable, self | NULL] -> [callable', self | NULL]``."""
        hit, end = Label(), Label()
        swap: Item = (OP["SWAP"], 2)
        return [
            *self.known(w, site),  # [callable, self | NULL, callable', known callable]
            (OP["COPY"], 4),
            (OP["IS_OP"], 0),
            (self.JUMP_IF_TRUE, hit),
            (OP["POP_TOP"], 0),
            swap,
            *self.ask(w, site, kinds=Kinds.FUNCTIONS),
            swap,
            (OP["JUMP_FORWARD"], end),
            hit,
            (OP["SWAP"], 3),
            (OP["POP_TOP"], 0),
            end,
        ]

    def beside_null(self) -> list[Item]:
        return [(OP["PUSH_NULL"], 0)]

    def type_of(self, w: Arguments, depth: int = 1) -> list[Item]:
        return [w.const(type), (OP["PUSH_NULL"], 0), (OP["COPY"], depth + 2), (OP["CALL"], 1)]

    def pick(self, callee: int, site: Any, w: Arguments) -> list[Item]:
        load = w.const(site.pick)
        return [
            load,
            (OP["PUSH_NULL"], 0),
            (OP["COPY"], callee + 2),
            (OP["COPY"], 4),
            (OP["CALL"], 2),
        ]

    def call(self, count: int, function: Any, w: Arguments) -> list[Item]:
        rotate: list[Item] = [(OP["SWAP"], count + 1)] if count else []
        order: list[Item] = [(OP["SWAP"], 2), (OP["SWAP"], 3)] if count == 3 else []
        null: Item = (OP["PUSH_NULL"], 0)
        return [w.const(function), *rotate, null, *rotate, *order, (OP["CALL"], count)]

    def call_pushed(self) -> list[Item]:
        return [(OP["PUSH_NULL"], 0), (OP["CALL"], 0)]

    def as_bool(self) -> list[Item]:
        return [(OP["TO_BOOL"], 0)]

    def negated(self) -> list[Item]:
        return [(OP["TO_BOOL"], 0), (OP["UNARY_NOT"], 0)]

    def comparison(self, arg: int) -> tuple[str, bool]:
        return dis.cmp_op[arg >> 5], bool(arg & _TO_BOOL)

    def _not(self, k: int, arg: int, w: Writer) -> None:
        if w.dispatcher(operator.not_) is not None and w.listing.ops[k - 1] == OP["TO_BOOL"]:
            w.edits.replaced[k - 1] = [(OP["NOP"], 0)]
            super()._not(k, arg, w)

    def more_operators(self) -> dict[str, Callable[[int, int, Writer], None]]:
        return {"CALL_INTRINSIC_1": self._positive}

    def _positive(self, k: int, arg: int, w: Writer) -> None:
        if arg == _UNARY_POSITIVE:
            self._operator(k, operator.pos, 1, w)


def _store_and_load(k: int, op: int, arg: int, stack: Stack, w: Writer) -> None:
    stack[-1] = ("value", k, None)


def _load_two(k: int, op: int, arg: int, stack: Stack, w: Writer) -> None:
    stack.append(None)
    stack.append(("value", k, None))
