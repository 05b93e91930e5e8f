"""The ways through a code object, along which what is known of its values is followed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from overlay.code.decoding import Instruction, decoded
from overlay.code.effects import FINAL, jumped
from overlay.code.known_values import UNKNOWN, Value, join
from overlay.code.listing import Listing, Region
from overlay.core.own_builtins import __builtins__  # noqa: F401

__all__ = ["Paths", "StackState"]


@dataclass
class StackState:
    """What is known before an instruction: of the stack, and of variables by name."""

    stack: list[Value]
    variables: dict[str, Value]

    def copy(self) -> StackState:
        """One that can be changed on its own."""
        return StackState(list(self.stack), dict(self.variables))


class Paths:
    """Takes the instructions of a code object in the order in which they run, with what is
    known before each; where paths join, on what is common to them, until nothing changes.

    step: changes the state as an instruction does that does not jump.
    """

    def __init__(
        self, listing: Listing, step: Callable[[int, Instruction, StackState], None]
    ) -> None:
        self.listing = listing
        self.instructions = decoded(listing.code)
        self.step = step
        self._regions = _by_instruction(listing)
        self._joins = {*listing.targets.values(), *(r.target for r in listing.regions)}
        self._states: dict[int, StackState] = {}
        self._pending: list[int] = []

    def run(self, variables: dict[str, Value]) -> None:
        """From the first instruction on, with what is known of variables there."""
        self._reach(0, StackState([], variables))
        while self._pending:
            k = self._pending.pop()
            self._walk(k, self._states[k].copy())

    def _walk(self, start: int, state: StackState) -> None:
        """From an instruction to where paths join or the path ends."""
        targets = self.listing.targets
        region: Region | None = None
        for k in range(start, len(self.instructions)):
            if k in self._joins and k != start:
                self._reach(k, state)
                return
            if self._regions[k] is not region:
                region = self._regions[k]
                self._reach_handler(region, state)
            ins = self.instructions[k]
            if k in targets:
                self._reach(
                    targets[k],
                    StackState(jumped(ins.op, ins.arg, state.stack, UNKNOWN), state.variables),
                )
            self.step(k, ins, state)
            if ins.op in FINAL:
                return
            if ins.name.startswith(("STORE_FAST", "STORE_NAME")):
                self._reach_handler(region, state)

    def _reach(self, k: int, state: StackState) -> None:
        """Join a state into what is known at an instruction; go on there if that changes it."""
        old = self._states.get(k)
        joined = state.copy() if old is None else _joined(old, state)
        if joined is None:
            return
        self._states[k] = joined
        if k not in self._pending:
            self._pending.append(k)

    def _reach_handler(self, region: Region | None, state: StackState) -> None:
        if region is not None:
            kept = state.stack[: region.depth]
            pushed = region.depth - len(kept) + 1 + region.lasti
            self._reach(region.target, StackState(kept + [UNKNOWN] * pushed, state.variables))


def _by_instruction(listing: Listing) -> list[Region | None]:
    found: list[Region | None] = [None] * len(listing.ops)
    for region in listing.regions:
        found[region.start : region.end] = [region] * (region.end - region.start)
    return found


def _joined(old: StackState, new: StackState) -> StackState | None:
    """What is known on both paths, or None where that is all that was known on the old one."""
    stack = [join(a, b) for a, b in zip(old.stack, new.stack, strict=True)]
    names = {n: join(v, new.variables.get(n, v)) for n, v in old.variables.items()}
    names |= {n: v for n, v in new.variables.items() if n not in names}
    same = all(a is b for a, b in zip(stack, old.stack, strict=True))
    if (
        same
        and len(names) == len(old.variables)
        and all(names[n] is v for n, v in old.variables.items())
    ):
        return None
    return StackState(stack, names)
