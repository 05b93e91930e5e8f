"""The control-flow graph of a function for lifting: its basic blocks, and the edges without
exceptions.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import FunctionType

from inversion.errors import NotInvertible
from overlay.code.body import Apply, Block, Body, Branch, Copy, Return, advance, is_step
from overlay.code.py314 import unthreaded
from overlay.code.read_bodies import body_of
from overlay.code.scopes import shared_scope

__all__ = ["Cycle", "FunctionCode", "code_of", "iterators", "raises", "unread"]

_END = -1  # the virtual exit node: no block has this label


@dataclass(frozen=True)
class Cycle:
    """A natural loop: its labels. after: the first label outside that is on every path to a return,
    if there is one. simple: whether it has a single exiting block, which every iteration passes.
    """

    labels: frozenset[int]
    after: int | None
    simple: bool


def code_of(function: FunctionType, *, is_inner: bool = False) -> FunctionCode:
    """The control-flow graph of a function. is_inner: whether a lifted function makes it, so that
    both share its free variables. Raises NotInvertible for coroutines.
    """
    code = unthreaded(function.__code__)
    closure = function.__closure__
    made = FunctionType(code, function.__globals__, function.__name__, None, closure)
    body = body_of(made, scope=shared_scope(made, is_inner=is_inner))
    if body.kind == "coroutine":
        raise NotInvertible(
            f"cannot invert {function.__qualname__}: a call gives a coroutine",
            where=body.blocks[body.first].where,
            help="return one number",
        )
    return FunctionCode(function, body, code.co_freevars if is_inner else ())


def unread(function: FunctionType, what: str, where: str) -> NotInvertible:
    """The error for a feature of Python that lifting does not support."""
    return NotInvertible(
        f"cannot read {function.__qualname__}: {what} is not supported",
        where=where,
        help="write it with assignments, operators, branches and calls only",
    )


def raises(block: Block) -> bool:
    """Return whether a block ends with an exception."""
    return isinstance(block.end, Return) and block.end.value is None


def iterators(block: Block) -> list[str]:
    """The variables of the iterators that a block advances."""
    return [
        each.args[0]
        for each in block.statements
        if isinstance(each, Apply) and each.function is advance
    ]


class FunctionCode:
    """The control-flow graph of a function, with the blocks that are reachable without an
    exception.

    first: the entry label. following: the successors of each label. returning: the labels from
    which a return is reachable. names: the variables to which steps are assigned. free: the
    variables that it shares with the function that makes it. shared: those that it shares with
    inner functions.
    """

    def __init__(self, function: FunctionType, body: Body, free: tuple[str, ...] = ()) -> None:
        self.function = function
        self.free = free
        self.shared = function.__code__.co_cellvars
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
        """The variable to which each step of an expression is first assigned in its block."""
        found: dict[str, str] = {}
        for block in self.blocks.values():
            made = {each.target for each in block.statements if isinstance(each, Apply)}
            for each in block.statements:
                if isinstance(each, Copy) and each.source in made and not is_step(each.target):
                    found.setdefault(each.source, each.target)
        return found

    @cached_property
    def caught(self) -> frozenset[int]:
        """The blocks whose exceptions are caught by a handler from which a return may
        be reachable.
        """
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
        ending = set(_reached(returns, before)) - set(filter(self._leaves_with, blocks))
        return frozenset(label for label, handler in handlers.items() if handler in ending)

    def _leaves_with(self, label: int) -> bool:
        """Return whether a block is the handler of a ``with`` statement whose context manager does
        not suppress exceptions.
        """
        statements = self._body.blocks[label].statements
        return any(
            isinstance(each, Apply) and each.native == "WITH_EXCEPT_START" for each in statements
        )

    @cached_property
    def live(self) -> dict[int, frozenset[str]]:
        """The live variables at the entry of each block: those that are read before
        they are set.
        """
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
        """The immediate post-dominator of each block; None if it is the exit."""
        ways = {label: list(after) or [_END] for label, after in self.following.items()}
        for labels in self._cycles.values():
            if all(after in labels for label in labels for after in self.following[label]):
                for label in labels:
                    ways[label].append(_END)
        through = _to_the_end(ways)
        return {label: _first_of(through[label] - {label}, through) for label in self.blocks}

    @cached_property
    def _cycles(self) -> dict[int, frozenset[int]]:
        """The blocks of each natural loop, by its header."""
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
        """The loops, by their headers; edges from which no return is reachable do not count."""
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
    """Return whether a loop has a single exiting block, which every iteration passes."""
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
    """The successors of a block without an exception."""
    end = block.end
    return tuple(dict.fromkeys((end.yes, end.no))) if isinstance(end, Branch) else ()


def _set_anew(block: Block) -> frozenset[str]:
    """The variables that a block sets (kill set)."""
    return frozenset(each.target for each in block.statements)


def _turned_round(ways: Mapping[int, Sequence[int]]) -> dict[int, list[int]]:
    """The predecessors of each block."""
    found: dict[int, list[int]] = {label: [] for label in ways}
    for label, after in ways.items():
        for each in after:
            found.setdefault(each, []).append(label)
    return found


def _reached[T: Hashable](
    starts: Sequence[T], ways: Mapping[T, Sequence[T]], *, without: T | None = None
) -> list[T]:
    """The nodes reachable from some nodes, including these. without: a node that paths must not
    pass.
    """
    found, todo = dict[T, None](), list(starts)
    while todo:
        label = todo.pop()
        if label not in found and label != without:
            found[label] = None
            todo += ways[label]
    return list(found)


def _in_order(first: int, ways: Mapping[int, Sequence[int]]) -> list[int]:
    """The blocks reachable from a block, in reverse postorder."""
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
    """The dominators of each block, itself included."""
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
    """The post-dominators of each block, itself included; none where the end is unreachable."""
    through = _dominators(_END, {_END: (), **_turned_round(ways)})
    return {label: through.get(label, frozenset((_END,))) - {_END} for label in ways}


def _first_of(labels: frozenset[int], through: Mapping[int, frozenset[int]]) -> int | None:
    """The first block on all paths, among post-dominators; None if there are none."""
    return max(labels, key=lambda label: len(through[label]), default=None)
