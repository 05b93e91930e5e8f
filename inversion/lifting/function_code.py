"""The code of a function as lifting goes through it: its blocks, and the ways between them on
which nothing is raised."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType

from inversion.errors import NotInvertible
from overlay.code.body import Apply, Block, Body, Branch, Copy, Return, WithBlock, advance, is_step
from overlay.code.py314 import unthreaded
from overlay.code.read_bodies import body_of

__all__ = ["Cycle", "FunctionCode", "code_of", "iterators", "raises", "unread"]

_END = -1  # what all ways lead to: no block


@dataclass(frozen=True)
class Cycle:
    """A loop: its labels. after: the first label outside that every way to a return comes to, if
    there is one. simple: whether it is left from one block only, which each turn comes to."""

    labels: frozenset[int]
    after: int | None
    simple: bool


def code_of(function: FunctionType) -> FunctionCode:
    """The code of a function. Raises NotInvertible where a call of it gives no value at once, and
    where it enters a context manager."""
    code = unthreaded(function.__code__)
    closure = function.__closure__
    body = body_of(FunctionType(code, function.__globals__, function.__name__, None, closure))
    if body.kind != "function":
        raise NotInvertible(
            f"cannot invert {function.__qualname__}: a call gives a coroutine or a generator",
            where=body.blocks[body.first].where,
            help="return one number",
        )
    found = FunctionCode(function, body)
    for block in found.blocks.values():
        for each in block.statements:
            if isinstance(each, Apply) and isinstance(each.native, WithBlock):
                raise unread(function, "with", each.where)
    return found


def unread(function: FunctionType, what: str, where: str) -> NotInvertible:
    """The error for what Python knows, and lifting does not."""
    return NotInvertible(
        f"cannot read {function.__qualname__}: {what} is not supported",
        where=where,
        help="write it with assignments, operators, branches and calls only",
    )


def raises(block: Block) -> bool:
    """Whether a block ends with an exception."""
    return isinstance(block.end, Return) and block.end.value is None


def iterators(block: Block) -> list[str]:
    """The variables of the iterators that a block asks for an item."""
    return [
        each.args[0]
        for each in block.statements
        if isinstance(each, Apply) and each.function is advance
    ]


class FunctionCode:
    """A function's blocks by label, those that a way without an exception leads to, and what is
    known of these ways.

    first: where it begins. following: the labels after each. returning: those from which there is
    a way to a return. names: the variables that steps are put into.
    """

    def __init__(self, function: FunctionType, body: Body) -> None:
        self.function = function
        self.first = body.first
        self.parameters = body.parameters
        ends = {label: _following(block) for label, block in body.blocks.items()}
        order = _in_order(body.first, ends)
        self.blocks = {label: body.blocks[label] for label in order}
        self.following = {label: ends[label] for label in order}
        self._before = _turned_round(self.following)
        returns = [label for label, block in self.blocks.items() if _returns(block)]
        self.returning = frozenset(_reached(returns, self._before))
        self._body = body

    @cached_property
    def names(self) -> dict[str, str]:
        """The variable that a step of an expression is put into first, in its block."""
        found: dict[str, str] = {}
        for block in self.blocks.values():
            made = {each.target for each in block.statements if isinstance(each, Apply)}
            for each in block.statements:
                if isinstance(each, Copy) and each.source in made and not is_step(each.target):
                    found.setdefault(each.source, each.target)
        return found

    @cached_property
    def caught(self) -> frozenset[int]:
        """The blocks of which an exception may come to a return."""
        handlers = {
            label: block.handler.block
            for label, block in self.blocks.items()
            if block.handler is not None
        }
        if not handlers:
            return frozenset()
        blocks = self._body.blocks
        before = _turned_round({label: block.next for label, block in blocks.items()})
        returns = [label for label, block in blocks.items() if _returns(block)]
        ending = set(_reached(returns, before))
        return frozenset(label for label, handler in handlers.items() if handler in ending)

    @cached_property
    def live(self) -> dict[int, frozenset[str]]:
        """For each block the variables that are read there, or later, before they are set."""
        blocks = self.blocks
        found = {
            label: frozenset[str]() if raises(block) else block.needs
            for label, block in blocks.items()
        }
        todo = list(blocks)
        while todo:
            label = todo.pop()
            for before in self._before[label]:
                more = found[before] | (found[label] - _set_anew(blocks[before]))
                if more != found[before]:
                    found[before] = more
                    todo.append(before)
        return found

    @cached_property
    def joins(self) -> dict[int, int | None]:
        """For each block the first one that every way from it to the end goes through."""
        ways = {label: list(after) or [_END] for label, after in self.following.items()}
        for labels in self._cycles.values():
            if all(after in labels for label in labels for after in self.following[label]):
                for label in labels:
                    ways[label].append(_END)
        through = _to_the_end(ways)
        return {label: _first_of(through[label] - {label}, through) for label in self.blocks}

    @cached_property
    def _cycles(self) -> dict[int, frozenset[int]]:
        """The blocks of each loop, by its first one."""
        through = _dominators(self.first, self.following)
        found: dict[int, frozenset[int]] = {}
        for label, after in self.following.items():
            for head in after:
                if head in through[label]:
                    inside = _reached([label], self._before, without=head)
                    found[head] = found.get(head, frozenset()) | {head, *inside}
        return found

    @cached_property
    def loops(self) -> dict[int, Cycle]:
        """The loops, by their first block; of the ways those count that do not only raise."""
        cycles = self._cycles
        if not cycles:
            return {}
        kept = {
            label: [after for after in ends if after in self.returning]
            for label, ends in self.following.items()
        }
        returns = {label: [_END] for label, block in self.blocks.items() if _returns(block)}
        through = _to_the_end(kept | returns)
        found: dict[int, Cycle] = {}
        for head, labels in cycles.items():
            after = _first_of(through[head] - labels, through)
            found[head] = Cycle(labels, after, _is_simple(head, labels, kept))
        return found


def _is_simple(head: int, labels: frozenset[int], ways: Mapping[int, Sequence[int]]) -> bool:
    """Whether a loop is left from one block only, which each turn comes to."""
    exits = {at for at in labels for after in ways[at] if after not in labels}
    return len(exits) == 1 and not any(
        head in _reached([after], ways, without=at)
        for at in exits
        for after in ways[head]
        if at != head
    )


def _returns(block: Block) -> bool:
    return isinstance(block.end, Return) and not raises(block)


def _following(block: Block) -> tuple[int, ...]:
    """The blocks that can be next where nothing is raised."""
    end = block.end
    return tuple(dict.fromkeys((end.yes, end.no))) if isinstance(end, Branch) else ()


def _set_anew(block: Block) -> frozenset[str]:
    """The variables that a block sets, whatever they were before."""
    return frozenset(each.target for each in block.statements)


def _turned_round(ways: Mapping[int, Sequence[int]]) -> dict[int, list[int]]:
    """For each block those before it."""
    found: dict[int, list[int]] = {label: [] for label in ways}
    for label, after in ways.items():
        for each in after:
            found.setdefault(each, []).append(label)
    return found


def _reached[T: Hashable](
    starts: Sequence[T], ways: Mapping[T, Sequence[T]], *, without: T | None = None
) -> list[T]:
    """What ways lead to from some blocks on, these among them."""
    found, todo = dict[T, None](), list(starts)
    while todo:
        label = todo.pop()
        if label not in found and label != without:
            found[label] = None
            todo += ways[label]
    return list(found)


def _in_order(first: int, ways: Mapping[int, Sequence[int]]) -> list[int]:
    """What ways lead to from a block, each before those that it leads to, but for the ways back of
    loops."""
    seen, left = {first}, list[int]()
    stack = [(first, iter(ways[first]))]
    while stack:
        label, following = stack[-1]
        inner = next((each for each in following if each not in seen), None)
        if inner is None:
            left.append(label)
            stack.pop()
        else:
            seen.add(inner)
            stack.append((inner, iter(ways[inner])))
    return left[::-1]


def _dominators(first: int, ways: Mapping[int, Sequence[int]]) -> dict[int, frozenset[int]]:
    """For each block those through which every way from the first to it goes, itself among
    them."""
    order = _in_order(first, ways)
    before = _turned_round({label: ways[label] for label in order})
    found = {first: frozenset((first,))}
    changed = True
    while changed:
        changed = False
        for label in order[1:]:
            known = [found[each] for each in before[label] if each in found]
            through = frozenset.intersection(*known) | {label}
            if through != found.get(label):
                found[label] = through
                changed = True
    return found


def _to_the_end(ways: Mapping[int, Sequence[int]]) -> dict[int, frozenset[int]]:
    """For each block those through which every way from it to the end goes, itself among them;
    none where there is no way."""
    through = _dominators(_END, {_END: (), **_turned_round(ways)})
    return {label: through.get(label, frozenset((_END,))) - {_END} for label in ways}


def _first_of(labels: frozenset[int], through: Mapping[int, frozenset[int]]) -> int | None:
    """The one that ways come to first, of blocks through which all of them go."""
    return max(labels, key=lambda label: len(through[label]), default=None)
