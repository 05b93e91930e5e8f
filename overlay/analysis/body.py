"""A function as analyses see it: blocks of assignments, each of which calls something."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

__all__ = [
    "Apply",
    "Block",
    "Body",
    "Branch",
    "Constant",
    "Copy",
    "Name",
    "Return",
    "advance",
    "first",
    "pack",
    "pick",
    "succeeds",
    "unpack",
]


class Name(str):
    """An attribute's name, as the constant that ``getattr`` is given."""


@dataclass(frozen=True)
class Constant:
    """``target = value``, where the source or the function's globals say the value."""

    target: str
    value: Any


@dataclass(frozen=True)
class Copy:
    """``target = source``."""

    target: str
    source: str


@dataclass(frozen=True)
class Apply:
    """``target = function(*args, **kwargs)``: a call, an operator, an index, an attribute.

    function: a callable, or the name of the variable that holds it; None for a step that
    analyses do not know. where: ``file:line``.
    """

    target: str
    function: Any
    args: tuple[str, ...]
    kwargs: tuple[tuple[str, str], ...]
    where: str


@dataclass(frozen=True)
class Branch:
    """Go on at ``yes`` where the condition is true, else at ``no``; the same for a jump."""

    condition: str | None
    yes: int
    no: int


@dataclass(frozen=True)
class Return:
    """Give this variable's value; None where an exception is raised."""

    value: str | None


@dataclass(frozen=True)
class Block:
    """Statements one after another, and how they end."""

    statements: tuple[Constant | Copy | Apply, ...]
    end: Branch | Return

    @property
    def next(self) -> tuple[int, ...]:
        """The blocks that can be next."""
        if isinstance(self.end, Return):
            return ()
        return tuple(dict.fromkeys((self.end.yes, self.end.no)))


@dataclass(frozen=True)
class Body:
    """A function: its parameters in order, and its blocks; it begins with the block ``first``."""

    function: Callable[..., Any]
    parameters: tuple[str, ...]
    blocks: dict[int, Block]
    first: int

    @cached_property
    def order(self) -> tuple[int, ...]:
        """Its blocks, each before those that it leads to, but for the ways back of loops."""
        seen: set[int] = set()
        left: list[int] = []
        stack = [(self.first, iter(self.blocks[self.first].next))]
        seen.add(self.first)
        while stack:
            label, following = stack[-1]
            inner = next((n for n in following if n not in seen), None)
            if inner is None:
                left.append(label)
                stack.pop()
            else:
                seen.add(inner)
                stack.append((inner, iter(self.blocks[inner].next)))
        return tuple(reversed(left))

    @cached_property
    def loop_heads(self) -> frozenset[int]:
        """The blocks that a later one leads back to."""
        place = {label: i for i, label in enumerate(self.order)}
        return frozenset(n for b in self.order for n in self.blocks[b].next if place[n] <= place[b])

    @cached_property
    def changed(self) -> dict[tuple[int, int], frozenset[str]]:
        """For each way back of a loop, from its end to its head: the variables set in the loop."""
        before: dict[int, list[int]] = {label: [] for label in self.order}
        for label in self.order:
            for after in self.blocks[label].next:
                before[after].append(label)
        place = {label: i for i, label in enumerate(self.order)}
        ways = [(b, h) for h in self.loop_heads for b in before[h] if place[h] <= place[b]]
        return {(end, head): self._set_between(before, head, end) for end, head in ways}

    def _set_between(self, before: dict[int, list[int]], head: int, end: int) -> frozenset[str]:
        inside, todo = {head}, [end]
        while todo:
            label = todo.pop()
            if label not in inside:
                inside.add(label)
                todo += before[label]
        return frozenset(s.target for label in inside for s in self.blocks[label].statements)


def pack(*items: Any) -> Any:
    """Stands for a tuple of these. Analyses know it and the others below; they do not run."""
    raise _never_runs()


def unpack(value: Any, count: int) -> Any:
    """Stands for the items of what is unpacked, of which there are as many as ``count``."""
    raise _never_runs()


def pick(items: Any, place: int) -> Any:
    """Stands for one of them."""
    raise _never_runs()


def advance(iterator: Any) -> Any:
    """Stands for what a loop asks its iterator for: an item, if there is one."""
    raise _never_runs()


def succeeds(advanced: Any) -> bool:
    """Stands for whether there was one."""
    raise _never_runs()


def first(advanced: Any) -> Any:
    """Stands for the item, where there was one."""
    raise _never_runs()


def _never_runs() -> TypeError:
    return TypeError("this stands for an instruction of a program that is analysed, not run")
