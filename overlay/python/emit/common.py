"""What the emitters share: where each kind of callee is mapped."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any

from overlay.code.own_builtins import __builtins__  # noqa: F401
from overlay.python.construction import is_simple
from overlay.python.emit.operators import Operators
from overlay.python.emit.sequences import Kinds, Place, kinds_of
from overlay.python.emit.walk import READS, Walk
from overlay.python.emit.writer import OP, Tag, Writer, getattr_static, lookup
from overlay.target import type_attribute

__all__ = ["Emitter"]

# attributes of a function that its twin has from it
CHANGES = frozenset({"__code__", "__defaults__", "__kwdefaults__", "__name__", "__qualname__"})


class Emitter(Walk, Operators):
    """The instruction sequences of one Python minor version."""

    def map_value(self, tag: Tag, arity: int | None, w: Writer, place: Place) -> None:
        """Map the callee that one instruction pushes, where it is pushed."""
        k = tag[1]
        op, arg = w.listing.ops[k], w.listing.args[k]
        w.mapped.add(k)
        if op == OP["LOAD_GLOBAL"]:
            arg &= ~1
            if is_simple(tag[2]):
                site = w.new_site(arity, None, True)
                made = self.filled(w, site, self.guarded_class, [(op, arg)], place)
                w.edits.replaced[k] = [made]
                return
        site = w.new_site(arity)
        kinds = kinds_of(tag[2])
        if op in READS:
            loads = [(op, arg)]
            w.edits.replaced[k] = [self.filled(w, site, self.guarded, loads, place, kinds)]
        elif op == OP["LOAD_ATTR"] and self._of_module(k - 1, w):
            loads = [(OP["LOAD_GLOBAL"], w.listing.args[k - 1] & ~1), (op, arg)]
            null = OP["PUSH_NULL"] if w.listing.args[k - 1] & 1 else OP["NOP"]
            w.edits.replaced[k - 1] = [(null, 0)]
            w.edits.replaced[k] = [self.filled(w, site, self.guarded, loads, place, kinds)]
        else:
            w.edits.after[k] = [self.filled(w, site, self.guarded, (), place, Kinds.ANY)]

    def _of_module(self, k: int, w: Writer) -> bool:
        """Whether an instruction loads a module, which may be done twice, and is not edited."""
        if k < 0 or w.listing.ops[k] != OP["LOAD_GLOBAL"] or not w.edits.once(k):
            return False
        name = w.listing.code.co_names[w.listing.args[k] >> 1]
        return isinstance(lookup(w.namespace, name), ModuleType)

    def map_static(self, tag: Tag, site: Any, w: Writer) -> None:
        """Map a method load whose receiver is a module or class: it gives a plain callable."""
        k = tag[1]
        name = self.attribute(k, w)
        plain = self.load_attr(name, w)
        receiver = tag[2][0][2]
        if isinstance(receiver, type) and type(type_attribute(receiver, name)) is classmethod:
            unbound = self.filled(w, w.new_site(None, name), self.unbind)
            w.edits.replaced[k] = [plain, unbound]
        elif self._of_module(k - 1, w):
            loads = [(OP["LOAD_GLOBAL"], w.listing.args[k - 1] & ~1), plain]
            w.edits.replaced[k - 1] = [(OP["NOP"], 0)]
            kinds = kinds_of(getattr_static(receiver, name))
            made = self.filled(w, site, self.guarded, loads, self.two_slots_anew, kinds)
            w.edits.replaced[k] = [made]
        else:
            made = self.filled(w, site, self.guarded, (), self.two_slots, Kinds.FUNCTIONS)
            w.edits.replaced[k] = [plain, made]

    def is_target(self, tag: Tag | None, w: Writer) -> bool:
        """Whether what an instruction loads, as a global or from a module, is a target now."""
        if tag is None or not w.edits.once(tag[1]):
            return False
        if tag[0] in ("global", "value", "static"):
            return tag[2] is not None and w.overlaid(tag[2])
        if tag[0] != "static method":
            return False
        return w.overlaid(getattr_static(tag[2][0][2], self.attribute(tag[1], w)))

    def tell_of_changes(self, w: Writer, changed: Callable[[], None]) -> None:
        """Call ``changed`` after each instruction that sets an attribute of such a name."""
        if CHANGES.isdisjoint(w.listing.code.co_names):
            return
        for k, op in enumerate(w.listing.ops):
            if op == OP["STORE_ATTR"] and w.listing.code.co_names[w.listing.args[k]] in CHANGES:
                call = self.call(0, changed, w)
                w.edits.after[k] = [*w.edits.after.get(k, ()), *call, (OP["POP_TOP"], 0)]
