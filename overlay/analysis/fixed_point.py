"""Fixed-point iteration: the abstract state at each block of a function."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

from overlay.analysis.abstract_state import AbstractState, assume, is_below, joined
from overlay.analysis.lattice import Domain
from overlay.code.body import Body, Branch, Return, Statement, is_step

__all__ = ["FixedPoint"]

# the number of joins at a loop head before values are widened, and of narrowing rounds after the
# fixed point, which regain the precision that widening lost
_JOINS = 2
_ROUNDS = 2

Ways = list[tuple[int, AbstractState]]


class FixedPoint:
    """Solver for the states at the entries of a function's blocks.

    execute: applies the effect of a statement to a state, and returns whether the next is reached.
    """

    def __init__(
        self,
        domain: Domain,
        body: Body,
        entry: AbstractState,
        execute: Callable[[Statement, AbstractState], bool],
    ) -> None:
        self.domain = domain
        self.body = body
        self.entry = entry
        self.execute = execute
        self.into: dict[int, AbstractState] = {body.first: entry}
        self._ways: dict[int, Ways] = {}
        self._visits: dict[int, int] = {}

    def find(self) -> dict[int, AbstractState]:
        """Return the entry states of all reachable blocks."""
        place = self.body.place
        todo = [(0, self.body.first)]
        waiting = {self.body.first}
        while todo:
            _, label = heapq.heappop(todo)
            waiting.discard(label)
            self._ways[label] = self._through(label, self.into[label])
            for after, state in self._ways[label]:
                if self._grow(after, state) and after not in waiting:
                    waiting.add(after)
                    heapq.heappush(todo, (place[after], after))
        for _ in range(_ROUNDS if self.body.loop_heads else 0):
            self._again()
        return self.into

    def on_edges(self) -> dict[tuple[int, int], dict[str, Any]]:
        """The values of variables on each edge that is taken, by the labels of its ends."""
        return {
            (label, after): state.values
            for label, ways in self._ways.items()
            for after, state in ways
        }

    def _grow(self, label: int, state: AbstractState) -> bool:
        """Join a state into a block's entry state; return whether that changed it."""
        old = self.into.get(label)
        if old is None:
            self.into[label] = state
            return True
        if is_below(self.domain, state, old):
            return False
        visits = self._visits.get(label, 0)
        widens = label in self.body.loop_heads and visits >= _JOINS
        new = joined(old, state, self.domain.widen if widens else self.domain.join)
        if is_below(self.domain, new, old):
            return False
        self._visits[label] = visits + 1
        self.into[label] = new
        return True

    def _again(self) -> None:
        """Narrow: one more round, in which values may only become more precise."""
        before: dict[int, list[int]] = {}
        for label, ways in self._ways.items():
            for after, _ in ways:
                before.setdefault(after, []).append(label)
        found: dict[int, AbstractState] = {}
        for label in self.body.order:
            states = [
                state
                for other in before.get(label, ())
                for after, state in self._ways.get(other, ())
                if after == label
            ]
            states += [self.entry] if label == self.body.first else []
            if not states:
                self._ways.pop(label, None)
                continue
            state = states[0]
            for other in states[1:]:
                state = joined(state, other, self.domain.join)
            found[label] = state
            self._ways[label] = self._through(label, state)
        self.into = found

    # ---- one block ----

    def _through(self, label: int, before: AbstractState) -> Ways:
        """The successors of a block, with the state on the edge to each."""
        block = self.body.blocks[label]
        state = before.copy()
        raised, lasting = None, frozenset[str]()
        if block.handler is not None:
            raised, live = AbstractState(before.values.copy()), self.body.live[block.handler.block]
            lasting = frozenset(n for n in self.body.lasting if n in live or not is_step(n))
        goes_on = True
        for statement in block.statements:
            if not self.execute(statement, state):
                goes_on = False
                break
            if raised is not None and statement.target in lasting:
                self._raise(raised, statement.target, state)
        ways: Ways = []
        if goes_on and not isinstance(block.end, Return):
            ways = self._branched(block.end, state)
        for _, reached in ways:
            reached.keep(self.body.lasting)
        if block.handler is not None and raised is not None:
            dropped, live = block.handler.dropped, self.body.live[block.handler.block]
            kept = {
                name: value
                for name, value in raised.values.items()
                if name not in dropped and (name in live or not is_step(name))
            }
            ways.append((block.handler.block, AbstractState(kept)))
        for after, reached in ways:
            changed = self.body.changed.get((label, after))
            if changed is not None:  # variables that the loop does not set have their old values
                kept = {name: v for name, v in reached.values.items() if name in changed}
                reached.values = kept
        return ways

    def _raise(self, raised: AbstractState, name: str, state: AbstractState) -> None:
        """Join a variable's new value into the handler's state, beside its old values."""
        if name in state.values:
            value = state.values[name]
            old = raised.values.get(name, value)
            raised.values[name] = value if old is value else self.domain.join(old, value)

    def _branched(self, end: Branch, state: AbstractState) -> Ways:
        if end.condition is None or end.yes == end.no:
            return [(end.yes, state)]
        found: Ways = []
        for after, truth in ((end.yes, True), (end.no, False)):
            refined = state.copy()
            if assume(self.domain, refined, end.condition, truth):
                found.append((after, refined))
        return found
