"""CPython 3.11: the layout of 3.12, with ``LOAD_METHOD`` and ``PRECALL``."""

from __future__ import annotations

import dis
from collections.abc import Callable
from types import MethodType

from overlay.python.assembly import Item, Label
from overlay.python.emit.common import OP, Stack, Tag, Writer
from overlay.python.emit.py312 import Emitter312, under


class Emitter311(Emitter312):
    """CPython 3.11."""

    CALLS = frozenset(OP[name] for name in ("PRECALL", "CALL_FUNCTION_EX") if name in OP)
    JUMP_IF_TRUE = OP.get("POP_JUMP_FORWARD_IF_TRUE", 0)
    JUMP_IF_FALSE = OP.get("POP_JUMP_FORWARD_IF_FALSE", 0)
    JUMP_IF_NONE = OP.get("POP_JUMP_FORWARD_IF_NONE", 0)
    JUMP_IF_NOT_NONE = OP.get("POP_JUMP_FORWARD_IF_NOT_NONE", 0)
    LOAD_CHECKED = OP["LOAD_FAST"]

    def __init__(self) -> None:
        super().__init__()
        self.steps[OP["CALL"]] = self._called

    def is_method_load(self, op: int, arg: int) -> bool:
        return op == OP["LOAD_METHOD"]

    def attribute(self, k: int, w: Writer) -> str:
        return w.listing.code.co_names[w.listing.args[k]]

    def load_attr(self, name: int) -> Item:
        return OP["LOAD_ATTR"], name

    def _bound(self, load: tuple[int, int], w: Writer) -> list[Item]:
        return [(OP["LOAD_ATTR"], load[1])]

    def invoke(self, count: int) -> list[Item]:
        return [(OP["PRECALL"], count), (OP["CALL"], count)]

    def comparison(self, arg: int) -> tuple[str, bool]:
        return dis.cmp_op[arg], False

    def more_operators(self) -> dict[str, Callable[[int, int, Writer], None]]:
        return {}

    def _called(self, k: int, op: int, arg: int, stack: Stack, w: Writer) -> None:
        """``super()`` gives an object whose methods come bound."""
        callee = stack[-1]
        del stack[-2:]
        is_super = callee is not None and callee[0] == "global" and callee[2] is super
        stack.append(("super", k, None) if is_super and arg == 0 else None)

    def _method(self, tag: Tag, w: Writer) -> None:
        receiver = tag[2][0]
        if receiver is None or receiver[0] != "super":
            super()._method(tag, w)
            return
        k = tag[1]
        method, hit, end = Label(), Label(), Label()
        site = w.new_site(None, self.attribute(k, w))
        jump: Item = (OP["JUMP_FORWARD"], end)
        w.edits.replaced[k] = [
            (OP["LOAD_ATTR"], w.listing.args[k]),
            *self.type_of(w),
            w.const(MethodType),
            (OP["IS_OP"], 0),
            (self.JUMP_IF_TRUE, method),
            *self.ask_other(w, site),
            *under(),
            jump,
            method,  # [bound method]
            *self.known(w, site),
            (OP["COPY"], 3),
            self.load_attr(w.name("__func__")),
            (OP["IS_OP"], 0),
            (self.JUMP_IF_TRUE, hit),
            (OP["POP_TOP"], 0),
            *self.ask_other(w, site),
            *under(),
            jump,
            hit,  # [bound method, function']
            (OP["SWAP"], 2),
            self.load_attr(w.name("__self__")),
            end,
        ]
