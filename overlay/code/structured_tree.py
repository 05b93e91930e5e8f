"""Structured control flow of a function: nested branches and loops in the place of jumps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from overlay.code import marks
from overlay.code.body import Apply, Block, Body, ConstantValue, Return

__all__ = [
    "Alternative",
    "Exits",
    "Guarded",
    "Leave",
    "NotStructured",
    "Raise",
    "Repeat",
    "Result",
    "Tree",
    "structured",
]

MOST_ITEMS = 4000
"""Most statements of a tree; code after branches that do not join is duplicated."""


class NotStructured(Exception):
    """The code has no structured form: it jumps into loops, or is too long. reason: the reason."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Leave:
    """Continue at an outer block: the next iteration of a loop, or the code after a branch or
    loop."""

    label: int


@dataclass(frozen=True)
class Raise:
    """Raise an exception. source: the variable of the exception or its class, None for the one that
    is handled. handled: whether the items of the handler follow; else the exception leaves the
    function."""

    source: str | None
    where: str
    handled: bool = False


@dataclass(frozen=True)
class Guarded:
    """A statement whose exceptions a handler may catch: the items are those of the path on which
    it raises none. catches: the classes; None if it may catch all."""

    statement: Any
    catches: tuple[Any, ...] | None


@dataclass(frozen=True)
class Result:
    """Return the value of a variable."""

    value: str
    where: str


@dataclass
class Alternative:
    """A branch: the tree ``yes`` if the condition variable is true, else ``no``."""

    condition: str
    yes: Tree
    no: Tree
    where: str


@dataclass
class Repeat:
    """A loop. head: the block at which each iteration begins; an iteration ends by leaving to it
    or to one of the exits."""

    head: int
    body: Tree
    exits: tuple[int, ...]
    where: str


@dataclass
class Exits:
    """A loop with several exits, and the tree after each."""

    repeat: Repeat
    trees: dict[int, Tree]


Item = Any
Tree = list[Item]


def structured(body: Body) -> Tree:
    """Convert a function's body into a tree. Raises NotStructured if there is none.

    The handlers of exceptions are in it as far as a ``raise`` leads to them.
    """
    return _Builder(body).tree(body.first, frozenset(), None)


@dataclass
class _Builder:
    body: Body
    count: int = 0
    building: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        before = self._before()
        place = self.body.place
        heads = {h: [b for b in before.get(h, ()) if place[b] >= place[h]] for h in place}
        self.loops = {h: self._nodes(h, ends, before) for h, ends in heads.items() if ends}
        self.catches: dict[int, tuple[Any, ...] | None] = {}

    def _before(self) -> dict[int, list[int]]:
        """For each block that is reached without an implicit exception, those before it."""
        before: dict[int, list[int]] = {self.body.first: []}
        todo = [self.body.first]
        while todo:
            label = todo.pop()
            for after in self._next(label):
                if after not in before:
                    todo.append(after)
                before.setdefault(after, []).append(label)
        return before

    def _nodes(self, head: int, ends: list[int], before: dict[int, list[int]]) -> frozenset[int]:
        """The blocks of a loop. Raises NotStructured if it is entered other than at its head."""
        inside, todo = {head}, list(ends)
        while todo:
            label = todo.pop()
            if label not in inside:
                inside.add(label)
                todo += before[label]
        for label in inside - {head}:
            if any(b not in inside for b in before[label]):
                raise NotStructured("a loop is entered in its middle")
        return frozenset(inside)

    def _next(self, label: int) -> tuple[int, ...]:
        block = self.body.blocks[label]
        if not isinstance(block.end, Return):
            return tuple(dict.fromkeys((block.end.yes, block.end.no)))
        if block.handler is None or block.end.value is not None:
            return ()
        return (block.handler.block,)

    def _guarded(self, block: Block) -> Tree:
        """The statements of a block."""
        catches = () if block.handler is None else self._caught(block.handler.block)
        if catches == ():
            return list(block.statements)
        plain = (marks.advance, marks.first, marks.succeeds)
        return [
            Guarded(each, catches)
            if isinstance(each, Apply) and each.function not in plain
            else each
            for each in block.statements
        ]

    def _caught(self, handler: int) -> tuple[Any, ...] | None:
        """The classes of exceptions after which the function may continue from a handler; None
        for all.
        """
        if handler not in self.catches:
            classes: list[Any] = []
            self.catches[handler] = None if self._goes_on(handler, classes) else tuple(classes)
        return self.catches[handler]

    def _goes_on(self, handler: int, classes: list[Any]) -> bool:
        """Whether a handler may continue after an exception of a class that it does not test for.
        classes: those that it tests for are added.
        """
        seen, todo = {handler}, [handler]
        goes_on = False
        while todo:
            block = self.body.blocks[todo.pop()]
            new = set(block.next)
            if isinstance(block.end, Return):
                goes_on |= block.end.value is not None
            else:
                tested = _tested(block, block.end.condition)
                if tested is not None:
                    classes += tested
                    new -= {block.end.yes} - {block.end.no}
            todo += new - seen
            seen |= new
        return goes_on

    def tree(
        self,
        label: int,
        stops: frozenset[int],
        inside: frozenset[int] | None,
        *,
        entered: bool = False,
    ) -> Tree:
        """The tree from a block to one of ``stops``, or to the end. inside: the blocks of the loop
        whose body this is; other blocks leave it. entered: the block is that loop's head."""
        items: Tree = []
        while True:
            if not entered and (label in stops or (inside is not None and label not in inside)):
                return [*items, Leave(label)]
            if label in self.loops and not entered:
                after, loop = self._loop(label, stops, inside)
                items += loop
                if after is None:
                    return items
                label = after
                continue
            entered = False
            block = self.body.blocks[label]
            self.count += len(block.statements) + 1
            if self.count > MOST_ITEMS:
                raise NotStructured("it branches too often")
            items += self._guarded(block)
            end = block.end
            if isinstance(end, Return):
                if end.value is not None:
                    return [*items, Result(end.value, _where(block))]
                source = end.raised[0] if end.raised else None
                if block.handler is None:
                    return [*items, Raise(source, end.where or block.where)]
                items.append(Raise(source, end.where, handled=True))
                label = block.handler.block
                continue
            if end.condition is None:
                label = end.yes
                continue
            join = self._join(label, stops, inside)
            below = stops if join is None else stops | {join}
            yes, no = (self.tree(way, below, inside) for way in (end.yes, end.no))
            items.append(Alternative(end.condition, yes, no, _where(block)))
            if join is None:
                return items
            label = join

    def _loop(
        self, head: int, stops: frozenset[int], inside: frozenset[int] | None
    ) -> tuple[int | None, Tree]:
        nodes = self.loops[head]
        place = self.body.place
        exits = {n: None for b in sorted(nodes, key=place.__getitem__) for n in self._next(b)}
        ways = tuple(n for n in exits if n not in nodes)
        self.building.append(head)
        body = self.tree(head, frozenset({head}), nodes, entered=True)
        self.building.pop()
        repeat = Repeat(head, body, ways, _where(self.body.blocks[head]))
        if len(ways) < 2:
            return (ways[0] if ways else None), [repeat]
        join = self._common(ways, stops, inside)
        below = stops if join is None else stops | {join}
        trees = {way: self.tree(way, below, inside) for way in ways}
        return join, [Exits(repeat, trees)]

    # ---- where branches meet ----

    def _join(self, label: int, stops: frozenset[int], inside: frozenset[int] | None) -> int | None:
        """The block at which both sides of a branch join, or None if they only meet at the end."""
        return self._common(self._next(label), stops, inside)

    def _common(
        self, labels: tuple[int, ...], stops: frozenset[int], inside: frozenset[int] | None
    ) -> int | None:
        must = [self._always(label, stops, inside) for label in labels]
        shared = [each for each in must[0] if all(each in others for others in must[1:])]
        return shared[0] if shared else None

    def _always(
        self, start: int, stops: frozenset[int], inside: frozenset[int] | None
    ) -> list[int]:
        """The blocks on every path from ``start`` until it leaves, in order (postdominators)."""
        reached = list(self._acyclic(start, stops, inside))
        if not reached:
            return []
        always: dict[int, frozenset[int]] = {}
        for label in reversed(reached):
            after = [n for n in self._after(label, stops, inside) if n in always]
            ends = len(after) < len(self._after(label, stops, inside)) or not after
            below = (
                frozenset[int]() if ends else frozenset.intersection(*(always[n] for n in after))
            )
            always[label] = below | {label}
        return [label for label in reached if label in always[start]]

    def _after(
        self, label: int, stops: frozenset[int], inside: frozenset[int] | None
    ) -> tuple[int, ...]:
        """The successors of a block; of a loop that begins there, its exits."""
        if label in self.loops and label not in self.building:
            nodes = self.loops[label]
            found = {n for b in nodes for n in self._next(b) if n not in nodes}
            return tuple(sorted(found))
        return self._next(label)

    def _acyclic(
        self, start: int, stops: frozenset[int], inside: frozenset[int] | None
    ) -> Iterator[int]:
        """The blocks reachable from ``start`` without leaving, in topological order."""
        seen: set[int] = set()
        todo = [start]
        while todo:
            label = todo.pop()
            leaves = label in stops or (inside is not None and label not in inside)
            if label in seen or leaves or label in self.building:
                continue
            seen.add(label)
            todo += self._after(label, stops, inside)
        place = self.body.place
        yield from sorted(seen, key=place.__getitem__)


def _tested(block: Block, condition: str | None) -> list[Any] | None:
    """The classes for which a condition tests an exception; none for the test of the result of
    ``__exit__``, which is assumed to be false; None for other conditions.
    """
    for each in block.statements:
        if isinstance(each, Apply) and each.target == condition:
            if each.function is marks.other and each.native == "WITH_EXCEPT_START":
                return []
            if each.function is marks.caught:
                return _classes(block, each.args[0])
    return None


def _classes(block: Block, name: str) -> list[Any]:
    """The classes in a variable: that, or those of a tuple. Exception if they are not known."""
    for each in block.statements:
        if each.target == name and isinstance(each, ConstantValue):
            return list(each.value) if isinstance(each.value, tuple) else [each.value]
        if each.target == name and isinstance(each, Apply) and each.function is marks.pack:
            return [cls for part in each.args for cls in _classes(block, part)]
    return [BaseException]


def _where(block: Block) -> str:
    found = [each.where for each in block.statements if isinstance(each, Apply)]
    return found[-1] if found else ""
