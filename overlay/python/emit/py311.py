"""CPython 3.11: the layout of 3.12, with ``LOAD_METHOD`` and ``PRECALL``."""

from __future__ import annotations

import dis
from collections.abc import Callable

from overlay.python.assembly import Item
from overlay.python.emit.patterns import Arguments
from overlay.python.emit.py312 import Emitter312
from overlay.python.emit.writer import OP, Stack, Tag, Writer
from overlay.python.own_builtins import __builtins__  # noqa: F401


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

    def load_attr(self, name: str, w: Arguments) -> Item:
        return OP["LOAD_ATTR"], w.name(name)

    def bound(self, op: int, arg: int) -> tuple[int, int]:
        return OP["LOAD_ATTR"], arg

    def class_attribute(self, name: str, w: Arguments) -> list[Item]:
        if not w.optimized:
            return super().class_attribute(name, w)
        # of a class it pushes NULL and the attribute, faster than LOAD_ATTR
        local = w.temporary()
        load: Item = (OP["LOAD_METHOD"], w.name(name))
        return [load, (OP["SWAP"], 2), (OP["STORE_FAST"], local)]

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
        stack.append(("super", k, None) if is_super else None)

    def _method(self, tag: Tag, w: Writer) -> None:
        receiver = tag[2][0]
        if receiver is None or receiver[0] != "super":
            super()._method(tag, w)
            return
        load: Item = (OP["LOAD_ATTR"], w.listing.args[tag[1]])
        site = w.new_site(None, self.attribute(tag[1], w))
        w.edits.replaced[tag[1]] = [load, self.filled(w, site, self.unbind)]
