"""Slices of a tape: all that depends on some choices, as a graph that many sets of choices share.

Steps of a slice that apply the same function to results of the same steps form one group. So the
graph does not contain the number of steps in a group or the slots of their values: the slice stores
these as indices.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Any, NamedTuple

from overlay.interpretations.probabilistic.dependent import Dependent, has_class
from overlay.interpretations.probabilistic.tape import NO_SLOT, StepKind, Tape, TapeStep

__all__ = ["CHOICE", "CLEAN", "Graph", "Group", "Slice", "Slicing"]

CLEAN = -1
"""The source of an argument that does not depend on the choice."""
CHOICE = 0
"""The source of an argument that is a changed choice; groups count from 1."""


class Group(NamedTuple):
    """Steps of a slice with the same function and sources. sources: the source of each argument.
    many: whether there are several steps. kinds: in slices for compiled code, those of the
    arguments and of the result."""

    kind: StepKind
    function: Callable[..., Any] | None
    sources: tuple[int, ...]
    many: bool
    kinds: tuple[Any, ...] = ()


Graph = tuple[Group, ...]


class Slice(NamedTuple):
    """A graph, and the slots of one slice with that graph.

    indices: for each group and each argument that is no single value, its slots, or its positions
    in a group or among several choices; then, for log densities, the slots of the old ones. outs:
    the slots that the groups compute. counts: the number of steps of each group.
    """

    graph: Graph
    indices: tuple[Any, ...]
    outs: tuple[int, ...]
    counts: tuple[int, ...]


class Slicing:
    """The slices of one tape.

    result: the program's result; steps that it needs are included. kinds: the kind of the value of
    each slot, for compiled code, in which steps of one group have values of the same kinds, and
    tests of classes are left out.
    """

    def __init__(self, tape: Tape, result: Any, kinds: Sequence[Any] | None = None) -> None:
        self.tape = tape
        self.result = result
        self.kinds = kinds

    @cached_property
    def _live(self) -> list[bool]:
        """For each step, whether a density, a guard or the result needs it."""
        steps = self.tape.steps
        needed = set(_slots_in(self.result))
        needed.update(k for site in self.tape.sites.values() for k in site.parameters)
        live = [False] * len(steps)
        for place in range(len(steps) - 1, -1, -1):
            step = steps[place]
            if step.kind is not StepKind.VALUE or step.out in needed:
                live[place] = True
                needed.update(step.args)
        return live

    @cached_property
    def _readers(self) -> dict[int, list[int]]:
        """For each slot, the live steps that read it."""
        found: dict[int, list[int]] = {}
        for place, step in enumerate(self.tape.steps):
            if self._live[place]:
                for slot in dict.fromkeys(step.args):
                    found.setdefault(slot, []).append(place)
        return found

    def slice(self, *slots: int, unscored: int = NO_SLOT) -> Slice:
        """The slice of the choices in some slots. unscored: the slot of a log density that is
        computed as an ordinary value."""
        return _Grouping(slots, unscored, self.kinds).slice(self.dependents(slots))

    def dependents(self, slots: Sequence[int]) -> list[TapeStep]:
        """The steps that depend on some slots, in order."""
        steps, readers = self.tape.steps, self._readers
        todo = [place for slot in slots for place in readers.get(slot, ())]
        heapq.heapify(todo)
        found: list[TapeStep] = []
        last = -1
        while todo:
            place = heapq.heappop(todo)
            if place != last and not (self.kinds and steps[place].function is has_class):
                last = place
                found.append(steps[place])
                for reader in readers.get(steps[place].out, ()):
                    heapq.heappush(todo, reader)
        return found


def _slots_in(value: Any) -> Iterable[int]:
    if type(value) is Dependent:
        yield value.slot
    elif isinstance(value, dict):
        for part in value.values():
            yield from _slots_in(part)
    elif isinstance(value, (tuple, list, set, frozenset)):
        for part in value:
            yield from _slots_in(part)


class _Members:
    """The steps of a group under construction. All have the same level, the distance from the
    choice."""

    def __init__(
        self, kind: StepKind, function: Any, sources: tuple[int, ...], kinds: tuple[Any, ...]
    ) -> None:
        self.kind = kind
        self.function = function
        self.sources = sources
        self.kinds = kinds
        self.steps: list[TapeStep] = []


class _Grouping:
    """The groups of one slice under construction."""

    def __init__(self, slots: Sequence[int], unscored: int, kinds: Sequence[Any] | None) -> None:
        self.slots = slots
        self.unscored = unscored
        self.kinds = kinds
        self.groups: list[_Members] = []
        # slot -> its group, and its position in the group
        self.places = {slot: (CHOICE, position) for position, slot in enumerate(slots)}

    def slice(self, steps: list[TapeStep]) -> Slice:
        """The slice of these steps."""
        levels = dict.fromkeys(self.slots, 0)
        by_level: dict[int, list[TapeStep]] = {}
        for step in steps:
            level = 1 + max(levels.get(k, 0) for k in step.args)
            levels[step.out] = level
            by_level.setdefault(level, []).append(step)
            levels.pop(NO_SLOT, None)
        for level in sorted(by_level):
            self._add_level(by_level[level])
        return self._made()

    def _add_level(self, steps: list[TapeStep]) -> None:
        """Add the steps of one level, which are independent of each other."""
        known: dict[Any, tuple[int, _Members]] = {}
        places = self.places
        for step in steps:
            is_unscored = step.out == self.unscored != NO_SLOT
            kind = StepKind.VALUE if is_unscored else step.kind
            sources = tuple(places[k][0] if k in places else CLEAN for k in step.args)
            key = kind, step.function, sources, self._kinds(step)
            if key not in known:
                self.groups.append(_Members(*key))
                known[key] = len(self.groups), self.groups[-1]
            number, members = known[key]
            if step.out != NO_SLOT:
                places[step.out] = number, len(members.steps)
            members.steps.append(step)

    def _kinds(self, step: TapeStep) -> tuple[Any, ...]:
        if self.kinds is None:
            return ()
        slots = step.args if step.out == NO_SLOT else (*step.args, step.out)
        return tuple(self.kinds[k] for k in slots)

    def _is_several(self, source: int) -> bool:
        """Whether a source has several values."""
        count = len(self.slots) if source == CHOICE else len(self.groups[source - 1].steps)
        return count > 1

    def _made(self) -> Slice:
        graph: list[Group] = []
        indices: list[Any] = []
        outs: list[int] = []
        for group in self.groups:
            many = len(group.steps) > 1
            graph.append(Group(group.kind, group.function, group.sources, many, group.kinds))
            before = len(indices)
            for number, source in enumerate(group.sources):
                if source == CLEAN:
                    found = [step.args[number] for step in group.steps]
                elif self._is_several(source):
                    found = [self.places[step.args[number]][1] for step in group.steps]
                else:
                    continue
                indices.append(tuple(found) if many else found[0])
            if many and len(indices) == before:  # all steps have the same arguments
                indices.append((0,) * len(group.steps))
            here = tuple(step.out for step in group.steps if step.out != NO_SLOT)
            if group.kind is StepKind.SCORE:
                indices.append(here if many else here[0])
            outs += here
        counts = tuple(len(group.steps) for group in self.groups)
        return Slice(tuple(graph), tuple(indices), tuple(outs), counts)
