"""The walk over the instructions of a code object, with what is known of each stack slot."""

from __future__ import annotations

import heapq
from abc import abstractmethod
from collections.abc import Callable
from types import CodeType, ModuleType
from typing import Any, ClassVar

from overlay.code.effects import FINAL, follow, jumped
from overlay.code.listing import COMPREHENSIONS, Region
from overlay.code.own_builtins import __builtins__  # noqa: F401
from overlay.python.emit.sequences import Sequences
from overlay.python.emit.writer import OP, Stack, Writer, getattr_static, lookup

__all__ = ["READS", "Walk"]

# Instructions that push one value that they read, and that may be run twice.
_READS = {"LOAD_FAST", "LOAD_FAST_CHECK", "LOAD_DEREF"}
# Others that push one value.
_PUSHES = {"LOAD_NAME", "LOAD_CLASSDEREF"}
READS = frozenset(OP[name] for name in (*_READS, "LOAD_GLOBAL") if name in OP)
VALUES = frozenset(OP[name] for name in (*_READS, *_PUSHES) if name in OP)


class Walk(Sequences):
    """Reads call sites off the stack."""

    CALLS: ClassVar[frozenset[int]]

    def __init__(self) -> None:
        super().__init__()
        steps: dict[str, Callable[[int, int, int, Stack, Writer], None]] = {
            "SWAP": _swap,
            "COPY": _copy,
            "PUSH_NULL": lambda k, op, arg, stack, w: stack.append(("null", k, None)),
            "LOAD_GLOBAL": self._load_global,
            "LOAD_CONST": _load_const,
            "MAKE_FUNCTION": _make_function,
            "SET_FUNCTION_ATTRIBUTE": _set_attribute,
            "BEFORE_WITH": _before_with,
            "BEFORE_ASYNC_WITH": _before_with,
            "LOAD_BUILD_CLASS": lambda k, op, arg, stack, w: stack.append(("build", k, None)),
            "LOAD_ATTR": self._load_attr,
            "LOAD_SUPER_ATTR": self._load_super,
            "LOAD_FROM_DICT_OR_GLOBALS": _load_from_dict,
            "LOAD_FROM_DICT_OR_DEREF": _load_from_dict,
        }
        self.steps = {OP[name]: step for name, step in steps.items() if name in OP}

    def rewrite_calls(self, w: Writer) -> None:
        """Edit every call: walk the instructions with what is known of each stack slot."""
        listing = w.listing
        ops, args = listing.ops, listing.args
        handlers: dict[int, list[Region]] = {}
        for region in listing.regions:
            handlers.setdefault(region.start, []).append(region)
        entries: dict[int, Stack] = {}
        visited = bytearray(len(ops))
        pending: list[tuple[int, int, Stack]] = [(0, 0, [])]
        while pending:
            k, _, stack = heapq.heappop(pending)
            stack = list(stack)
            while not visited[k]:
                if k in entries:
                    stack = _common(entries[k], stack)
                visited[k] = 1
                for region in handlers.get(k, ()):
                    pushed = region.depth - len(stack[: region.depth]) + region.lasti + 1
                    _push(pending, entries, region.target, stack[: region.depth] + [None] * pushed)
                op = ops[k]
                if op in self.CALLS:
                    edits = len(w.edits)
                    self.rewrite_call(k, stack, w)
                    if len(w.edits) > edits:
                        w.depth = max(w.depth, self.depth_needed(k, stack, w))
                if k in listing.targets:
                    _push(pending, entries, listing.targets[k], jumped(op, args[k], stack))
                if op in FINAL:
                    break
                self._step(k, op, args[k], stack, w)
                k += 1

    def depth_needed(self, k: int, stack: Stack, w: Writer) -> int:
        """How deep the stack gets where the callee of a call is mapped."""
        at_call = k in w.edits.before or k - 1 in w.edits.before
        arguments = 0 if at_call else w.listing.args[k]
        return len(stack) - arguments - 1 + w.slots

    @abstractmethod
    def rewrite_call(self, k: int, stack: Stack, w: Writer) -> None:
        """Edit one call so that its callee is mapped."""
        ...

    def _step(self, k: int, op: int, arg: int, stack: Stack, w: Writer) -> None:
        step = self.steps.get(op)
        if step is not None:
            step(k, op, arg, stack, w)
        elif op in VALUES:
            stack.append(("value", k, None))
        else:
            follow(op, arg, stack)

    def _load_global(self, k: int, op: int, arg: int, stack: Stack, w: Writer) -> None:
        value = lookup(w.namespace, w.listing.code.co_names[arg >> 1])
        if arg & 1:
            stack += self.global_call_slots(k, value)
        elif isinstance(value, (ModuleType, type)):
            stack.append(("static", k, value))
        else:
            stack.append(("value", k, None))

    def global_call_slots(self, k: int, value: Any) -> Stack:
        """The two slots of ``LOAD_GLOBAL`` with NULL, in this version's order."""
        return [("null", k, None), ("global", k, value)]

    def _load_attr(self, k: int, op: int, arg: int, stack: Stack, w: Writer) -> None:
        receiver = stack.pop()
        if self.is_method_load(op, arg):
            kind = "static method" if receiver and receiver[0] == "static" else "method"
            known = (receiver, len(stack) + 1)
            stack += [(kind, k, known), (kind, k, known)]
            return
        value = None
        if receiver is not None and receiver[0] in ("static", "global"):
            value = getattr_static(receiver[2], self.attribute(k, w))
        known = isinstance(value, (ModuleType, type))
        stack.append(("static" if known else "value", k, value))

    def _load_super(self, k: int, op: int, arg: int, stack: Stack, w: Writer) -> None:
        del stack[-3:]
        if arg & 1:
            stack += [("method", k, (None, len(stack) + 1))] * 2
        else:
            stack.append(None)

    def is_method_load(self, op: int, arg: int) -> bool:
        """Whether it pushes a function and its receiver, or NULL and a callable."""
        return bool(arg & 1)

    def attribute(self, k: int, w: Writer) -> str:
        """The name that an attribute load looks up."""
        shift = 2 if w.listing.ops[k] == OP["LOAD_SUPER_ATTR"] else 1
        return w.listing.code.co_names[w.listing.args[k] >> shift]


def _push(
    pending: list[tuple[int, int, Stack]], entries: dict[int, Stack], k: int, stack: Stack
) -> None:
    """Note a way to an instruction: what all ways to it have in common is known there."""
    if k in entries:
        entries[k] = _common(entries[k], stack)
        return
    entries[k] = stack
    heapq.heappush(pending, (k, len(entries), stack))


def _common(stack: Stack, other: Stack) -> Stack:
    """What two ways to an instruction have pushed by the same instructions: a conditional
    expression pushes by one of two."""
    if len(stack) != len(other):
        return list(stack)
    return [one if one is two else None for one, two in zip(stack, other, strict=True)]


def _swap(k: int, op: int, arg: int, stack: Stack, w: Writer) -> None:
    stack[-1], stack[-arg] = stack[-arg], stack[-1]


def _copy(k: int, op: int, arg: int, stack: Stack, w: Writer) -> None:
    copied = stack[-arg]
    if copied is not None and copied[0] in ("value", "static"):  # it is not for a call alone
        stack[-arg] = copied = None
    stack.append(copied)


def _load_const(k: int, op: int, arg: int, stack: Stack, w: Writer) -> None:
    value = w.listing.code.co_consts[arg]
    stack.append(("code", k, value) if isinstance(value, CodeType) else None)


def _load_from_dict(k: int, op: int, arg: int, stack: Stack, w: Writer) -> None:
    stack[-1] = ("value", k, None)


def _make_function(k: int, op: int, arg: int, stack: Stack, w: Writer) -> None:
    code = stack[-1]
    follow(op, arg, stack)
    comprehension = code is not None and code[0] == "code" and code[2].co_name in COMPREHENSIONS
    stack[-1] = ("function", k, None) if comprehension else None


def _set_attribute(k: int, op: int, arg: int, stack: Stack, w: Writer) -> None:
    del stack[-2]


def _before_with(k: int, op: int, arg: int, stack: Stack, w: Writer) -> None:
    stack[-1:] = [("exit", k, None), None]
