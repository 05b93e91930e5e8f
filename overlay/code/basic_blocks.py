"""Basic blocks of a code object, and the edges between them."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from types import CodeType

from overlay.code.body import Block, Branch, Copy, Handler, Return, Statement
from overlay.code.container_instructions import next_item
from overlay.code.decoding import Instruction, decoded_listing
from overlay.code.effects import FINAL, jumped
from overlay.code.instructions import put_down
from overlay.code.listing import Listing, Region
from overlay.code.scopes import Scope
from overlay.code.statements import NULL, SLOT, Statements

__all__ = ["Reader"]

_NAMED_TESTS = ("IF_NONE", "IF_NOT_NONE")


class Reader:
    """Reads one code object into basic blocks. A block's label is the index of its first
    instruction; blocks that only move stack slots have higher labels than all of these."""

    def __init__(self, code: CodeType, scope: Scope) -> None:
        self.listing = Listing(code)
        self.code = decoded_listing(self.listing)
        self.steps = Statements(code, scope)
        self.blocks: dict[int, Block] = {}
        self._regions: list[Region | None] = [None] * len(self.code)
        for region in self.listing.regions:
            span = range(region.start, region.end)
            self._regions[region.start : region.end] = [region] * len(span)
        self._starts = self._find_starts()
        # work list: the next instruction, and the stack there
        self._todo: list[tuple[int, list[str]]] = []

    def read(self) -> dict[int, Block]:
        """Return all blocks that are reachable from the first, which is 0."""
        self._reach(0, [])
        while self._todo:
            start, stack = self._todo.pop()
            if start not in self.blocks:
                self._block(start, stack)
        return self.blocks

    def _find_starts(self) -> frozenset[int]:
        targets = self.listing.targets
        found = {0, *targets.values(), *(k + 1 for k in targets)}
        found |= {k + 1 for k, ins in enumerate(self.code) if ins.op in FINAL}
        for region in self.listing.regions:
            found |= {region.start, region.end, region.target}
        return frozenset(found)

    def _reach(self, k: int, stack: Sequence[str]) -> None:
        """Add an instruction to the work list, with a stack of the same depth as here."""
        held = [NULL if name == NULL else f"{SLOT}{i}" for i, name in enumerate(stack)]
        self._todo.append((k, held))

    # ---- one block ----

    def _block(self, start: int, stack: list[str]) -> None:
        steps = self.steps
        before = list(stack)
        steps.begin(stack, is_first=start == 0)
        steps.at(self.code[start])
        where = steps.where
        k = start
        while True:
            steps.at(self.code[k])
            end = self._ended(k)
            if end is not None:
                break
            put_down(steps, self.code[k])
            k += 1
            if k in self._starts:
                self._pass(steps.stack, steps.statements)
                self._reach(k, steps.stack)
                end = Branch(None, k, k, steps.where)
                break
        handler = self._handler(start, before)
        self.blocks[start] = Block(tuple(steps.statements), end, handler, where=where)

    def _handler(self, start: int, stack: Sequence[str]) -> Handler | None:
        """The exception handler of a block that begins with this stack, if it has one."""
        region = self._regions[start]
        if region is None:
            return None
        kept = stack[: region.depth]
        pushed = region.depth - len(kept) + 1 + region.lasti
        self._reach(region.target, [*kept, *[SLOT] * pushed])
        deepest = self.listing.code.co_stacksize + 1
        return Handler(region.target, frozenset(f"{SLOT}{i}" for i in range(region.depth, deepest)))

    def _ended(self, k: int) -> Branch | Return | None:
        """The end of the block if this instruction ends it, else None."""
        ins, steps = self.code[k], self.steps
        if ins.op not in FINAL and k not in self.listing.targets:
            return None
        if ins.name == "RETURN_VALUE":
            return Return(steps.stack.pop(), where=steps.where)
        if ins.name == "RETURN_CONST":
            return Return(steps.constant(ins.value), where=steps.where)
        if ins.name == "RAISE_VARARGS":
            return Return(None, steps.take(ins.arg), steps.where)
        if k in self.listing.targets:
            return self._jump(k, ins)
        return Return(None)

    def _jump(self, k: int, ins: Instruction) -> Branch:
        target, stack, where = self.listing.targets[k], self.steps.stack, self.steps.where
        if ins.op in FINAL:
            self._pass(stack, self.steps.statements)
            self._reach(target, stack)
            return Branch(None, target, target, where)
        condition, jumps_if, taken = self._tested(k, ins)
        stack = self.steps.stack
        there, here = self._way(target, taken, stack), self._way(k + 1, stack, taken)
        if there == target and here == k + 1:
            self._pass(max(stack, taken, key=len), self.steps.statements)
        return Branch(condition, *((there, here) if jumps_if else (here, there)), where)

    def _tested(self, k: int, ins: Instruction) -> tuple[str, bool, list[str]]:
        """A conditional jump: the variable tested, the outcome that jumps, and the stack at the
        target."""
        steps = self.steps
        if ins.name == "FOR_ITER":
            held = list(steps.stack)
            found = next_item(steps)
            depth = len(jumped(ins.op, ins.arg, [*held]))
            return found, False, [*held, *(steps.fresh() for _ in held)][:depth]
        condition = steps.stack[-1] if steps.stack else steps.fresh()
        if ins.name.startswith("POP_JUMP"):
            steps.stack.pop()
            if ins.name.endswith(_NAMED_TESTS):
                none = steps.constant(None)
                condition = steps.apply(operator.is_, condition, none, native=ins.name)
            jumps_if = ins.name.endswith(("IF_TRUE", "IF_NONE"))
            return condition, jumps_if, list(steps.stack)
        taken = jumped(ins.op, ins.arg, steps.stack, "$?")
        put_down(steps, ins)
        return steps.fresh(), True, [steps.fresh() if name == "$?" else name for name in taken]

    def _way(self, target: int, stack: list[str], other: list[str]) -> int:
        """The successor block from which an instruction is reached with a stack: the
        instruction's own block if the other edge leaves an equal stack (up to the shorter depth),
        else a new block that moves the slots.
        """
        self._reach(target, stack)
        if stack[: len(other)] == other[: len(stack)]:
            return target
        moved: list[Statement] = []
        self._pass(stack, moved)
        label = len(self.code) + len(self.blocks) + 1
        while label in self.blocks:
            label += 1
        where = self.steps.where
        end = Branch(None, target, target, where)
        self.blocks[label] = Block(tuple(moved), end, where=where)
        return label

    def _pass(self, stack: Sequence[str], statements: list[Statement]) -> None:
        """Add copies of the stack into the slots from which the next block reads it."""
        slots = [(f"{SLOT}{i}", name) for i, name in enumerate(stack)]
        wanted = {slot: name for slot, name in slots if name not in (slot, NULL)}
        for slot in [name for name in wanted.values() if name in wanted]:
            kept = self.steps.fresh()  # a slot that is overwritten before it is read
            statements.append(Copy(kept, slot, self.steps.where))
            wanted = {to: kept if name == slot else name for to, name in wanted.items()}
        statements += [Copy(slot, name, self.steps.where) for slot, name in wanted.items()]
