"""CPython 3.12: ``[NULL | method, callable | self, args...] CALL n``."""

from __future__ import annotations

import dis
import operator
from collections.abc import Callable, Sequence
from typing import Any

from overlay.code.own_builtins import __builtins__  # noqa: F401
from overlay.python.assembly import Item, Label, Protected
from overlay.python.emit.common import Emitter
from overlay.python.emit.patterns import Arguments
from overlay.python.emit.sequences import Guard, Kinds
from overlay.python.emit.writer import OP, Stack, Tag, Writer

_UNARY_POSITIVE = 5  # intrinsic function


class Emitter312(Emitter):
    """CPython 3.12."""

    CALLS = frozenset(OP[name] for name in ("CALL", "CALL_FUNCTION_EX"))
    LOAD_CHECKED = OP.get("LOAD_FAST_CHECK", 0)

    def call_start(self, k: int, w: Writer) -> tuple[int, bool]:
        """Where a call begins, and whether some arguments are keywords."""
        keywords = k > 0 and w.listing.ops[k - 1] == OP["KW_NAMES"]
        return (k - 1 if keywords else k), keywords

    def rewrite_call(self, k: int, stack: Stack, w: Writer) -> None:
        count = w.listing.args[k]
        if w.listing.ops[k] == OP["CALL_FUNCTION_EX"]:
            self._pushed_or_deep(k, stack, 2 + (count & 1), None, w)
            return
        start, keywords = self.call_start(k, w)
        arity = None if keywords else count
        first, second = stack[-count - 2], stack[-count - 1]
        kind = None if first is None else first[0]
        if kind in ("exit", "function"):
            return
        if arity == 1 and self.is_target(first if kind == "static method" else second, w):
            w.edits.before[start] = [self.filled(w, w.new_site(1), self.dispatch_inline, (), 2)]
        elif first is None or kind in ("value", "static"):
            decorated = None if arity is None else arity + 1
            self._pushed_or_deep(start, stack, count + 2, decorated, w)
        elif kind == "method":
            if w.edits.once(first[1]):
                self._method(first, w)
        elif kind == "static method":
            if w.edits.once(first[1]):
                self.map_static(first, w.new_site(arity), w)
        elif second is None or second[0] != "build":
            self._pushed_or_deep(start, stack, count + 1, arity, w, first[0] == "null")

    def _pushed_or_deep(
        self, at: int, stack: Stack, depth: int, arity: int | None, w: Writer, null: bool = False
    ) -> None:
        """Map the callee where it is pushed if that is known, else where the call begins.

        null: whether the slot under it holds NULL, and may hold a receiver instead."""
        tag = stack[-depth]
        if tag is None or tag[0] not in ("value", "static", "global"):
            w.edits.before[at] = [self.filled(w, w.new_site(arity), self.guard_deep, (), depth)]
        elif w.edits.once(tag[1]):
            pushed = self.above_null if null else self.as_value
            anew = self.two_slots_anew if null else self.after_null
            self.map_value(tag, arity, w, anew if tag[0] == "global" else pushed)

    def above_null(self, w: Arguments, guard: Guard) -> list[Item]:
        """The place of a callee whose other slot was pushed before it."""
        done = Label()
        # [NULL, self, function] -> [function, self], and leave
        store: Item = (OP["STORE_FAST"], w.temporary()) if w.optimized else done
        bind = [(OP["SWAP"], 3), store, (OP["JUMP_FORWARD"], done)] if w.optimized else None
        return [*guard(bind), done]

    def two_slots(self, w: Arguments, guard: Guard) -> list[Item]:
        return [*under(), *self.above_null(w, guard)]

    def two_slots_anew(self, w: Arguments, guard: Guard) -> list[Item]:
        return [(OP["PUSH_NULL"], 0), *self.above_null(w, guard)]

    def after_null(self, w: Arguments, guard: Guard) -> list[Item]:
        """The place of a callee that stays one slot, and that was pushed together with NULL."""
        return [(OP["PUSH_NULL"], 0), *guard(None)]

    def _method(self, tag: Tag, w: Writer) -> None:
        """Map what a method load pushes."""
        k, (_, depth) = tag[1], tag[2]
        load = (w.listing.ops[k], w.listing.args[k])
        bound = self.bound(*load)
        site = w.new_site(None, self.attribute(k, w))
        if w.optimized:
            made = self.filled(w, site, self.method_load, [load, bound], depth)
            w.edits.replaced[k] = [made]
        else:
            made = self.filled(w, site, self.guarded, (), self.two_slots, Kinds.FUNCTIONS)
            w.edits.replaced[k] = [bound, made]

    def method_load(self, w: Arguments, site: Any, loads: Sequence[Item], depth: int) -> list[Item]:
        """A method load, ``depth`` slots deep, with what it pushes mapped.

        While the site knows a method, the load is the native one; a local that is unbound where
        the load pushed NULL tells the two layouts apart, since no instruction may look at a
        NULL. Else, and where such a local would be seen, the attribute is loaded as a value.
        """
        load, bound = loads
        value, hit, unbound, end = Label(), Label(), Label(), Label()
        local = w.temporary()
        jump: Item = (OP["JUMP_FORWARD"], end)
        return [
            w.const(site),
            self.load_attr("bound", w),
            (self.JUMP_IF_TRUE, value),
            load,  # [method | NULL, receiver | callable]
            (OP["SWAP"], 2),
            (OP["STORE_FAST"], local),
            *self.known(w, site),  # [receiver | callable, method', known method]
            Protected(self.LOAD_CHECKED, local, unbound, depth + 2),
            (OP["IS_OP"], 0),
            (self.JUMP_IF_TRUE, hit),
            (OP["POP_TOP"], 0),
            w.const(site),
            (OP["LOAD_FAST"], local),
            (OP["DELETE_FAST"], local),
            (OP["BINARY_SUBSCR"], 0),
            (OP["SWAP"], 2),
            jump,
            value,
            bound,
            *self.guarded(w, site, (), self.two_slots, Kinds.FUNCTIONS),
            jump,
            unbound,  # [callable, method', known method, exception]
            *[(OP["POP_TOP"], 0)] * 3,
            *self.look_up(w, site.as_value),
            *under(),
            jump,
            hit,
            (OP["DELETE_FAST"], local),
            (OP["SWAP"], 2),
            end,
        ]

    def bound(self, op: int, arg: int) -> tuple[int, int]:
        """The same attribute load, pushing one slot."""
        return op, arg & ~1

    def call(self, count: int, function: Any, w: Arguments) -> list[Item]:
        rotate: list[Item] = [(OP["SWAP"], count + 1)] if count else []
        order: list[Item] = [(OP["SWAP"], 2), (OP["SWAP"], 3)] if count == 3 else []
        load = w.const(function)
        return [(OP["PUSH_NULL"], 0), *rotate, load, *rotate, *order, *self.invoke(count)]

    def call_pushed(self) -> list[Item]:
        return [*under(), *self.invoke(0)]

    def beside_null(self) -> list[Item]:
        return under()

    def type_of(self, w: Arguments, depth: int = 1) -> list[Item]:
        return [(OP["PUSH_NULL"], 0), w.const(type), (OP["COPY"], depth + 2), *self.invoke(1)]

    def pick(self, callee: int, site: Any, w: Arguments) -> list[Item]:
        load = w.const(site.pick)
        return [
            (OP["PUSH_NULL"], 0),
            load,
            (OP["COPY"], callee + 2),
            (OP["COPY"], 4),
            *self.invoke(2),
        ]

    def invoke(self, count: int) -> list[Item]:
        """The call instruction itself."""
        return [(OP["CALL"], count)]

    def comparison(self, arg: int) -> tuple[str, bool]:
        return dis.cmp_op[arg >> 4], False

    def more_operators(self) -> dict[str, Callable[[int, int, Writer], None]]:
        return {"CALL_INTRINSIC_1": self._positive}

    def _positive(self, k: int, arg: int, w: Writer) -> None:
        if arg == _UNARY_POSITIVE:
            self._operator(k, operator.pos, 1, w)


def under() -> list[Item]:
    """``[callable] -> [NULL, callable]``."""
    return [(OP["PUSH_NULL"], 0), (OP["SWAP"], 2)]
