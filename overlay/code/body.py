"""A function as analyses see it: blocks of assignments, each of which calls something."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from dis import Positions
from functools import cached_property
from inspect import Signature
from types import CodeType
from typing import Any, NamedTuple

from overlay.code.marks import advance, first, give, new, pack, pick, put, succeeds, unpack

__all__ = [
    "Apply",
    "Block",
    "Body",
    "Branch",
    "ConstantValue",
    "Copy",
    "Handler",
    "Make",
    "Name",
    "Return",
    "Statement",
    "WithBlock",
    "advance",
    "first",
    "give",
    "is_step",
    "new",
    "pack",
    "pick",
    "succeeds",
    "unpack",
]


_NOWHERE = Positions()


class Name(str):
    """An attribute's name, as the constant that ``getattr`` is given."""


@dataclass(frozen=True)
class ConstantValue:
    """``target = value``, where the source or the function's globals say the value.

    name: the global name that it was read from, if any. where: ``file:line`` of that.
    """

    target: str
    value: Any
    name: str | None = field(default=None, compare=False)
    where: str = field(default="", compare=False)


@dataclass(frozen=True)
class Copy:
    """``target = source``. where: ``file:line`` of one that the source has."""

    target: str
    source: str
    where: str = field(default="", compare=False)


@dataclass(frozen=True)
class Apply:
    """``target = function(*args, **kwargs)``: a call, an operator, an index, an attribute.

    function: a callable, or the name of the variable that holds it; None for a step that
    analyses do not know. where: ``file:line``. at: its place in the source. native: what it was
    read from; of a container that is written out, the variables of its items, of a dict by turns
    keys and values; of ``marks.outer`` and ``marks.of_super`` the name; of ``marks.other``, of a
    step that is not known, and of an operator that is part of another instruction, the
    instruction; of the beginning of a ``with`` statement a ``WithBlock``. instruction: by which a
    container is made or has something added, or by which an object is matched.

    A call with arguments that are not counted is a step that is not known. It is given the callee
    and the tuple of arguments, and by the name ``**`` the mapping of arguments by keyword.
    """

    target: str
    function: Any
    args: tuple[str, ...]
    kwargs: tuple[tuple[str, str], ...]
    where: str
    native: Any = field(default=None, repr=False, compare=False)
    instruction: str = field(default="", repr=False, compare=False)
    at: Positions = field(default=_NOWHERE, repr=False, compare=False)


class WithBlock(NamedTuple):
    """The beginning of a ``with`` statement. leaves: the variable that holds what it is left by."""

    instruction: str
    leaves: str


@dataclass(frozen=True)
class Make:
    """``target = a function that is defined here``.

    captured: for each free variable of its code the variable that holds its value, or None
    where that may change while the function is there. defaults, by_name: the variables that hold
    the defaults of its last parameters, and of those given by name; None for unknown ones.
    where: ``file:line``.
    """

    target: str
    code: CodeType
    captured: tuple[str | None, ...]
    defaults: tuple[str | None, ...] = ()
    by_name: bool = False
    where: str = field(default="", compare=False)


Statement = ConstantValue | Copy | Apply | Make


@dataclass(frozen=True)
class Branch:
    """Go on at ``yes`` where the condition is true, else at ``no``; the same for a jump.
    where: ``file:line``."""

    condition: str | None
    yes: int
    no: int
    where: str = field(default="", compare=False)


@dataclass(frozen=True)
class Return:
    """Give this variable's value; None where an exception is raised.

    raised: the variables of the exception and of its cause, as far as a ``raise`` has them; None
    where no ``raise`` stands there. where: ``file:line`` of a ``raise``.
    """

    value: str | None
    raised: tuple[str, ...] | None = None
    where: str = ""


@dataclass(frozen=True)
class Handler:
    """Where an exception in a block goes. dropped: variables that hold nothing there."""

    block: int
    dropped: frozenset[str]


@dataclass(frozen=True)
class Block:
    """Statements one after another, how they end, and where an exception in them goes, if not
    out of the function. catches: whether errors about arguments do not leave the function. where:
    ``file:line`` of its beginning.
    """

    statements: tuple[Statement, ...]
    end: Branch | Return
    handler: Handler | None = None
    catches: bool = False
    where: str = field(default="", compare=False)

    @cached_property
    def next(self) -> tuple[int, ...]:
        """The blocks that can be next."""
        after = () if isinstance(self.end, Return) else (self.end.yes, self.end.no)
        handler = () if self.handler is None else (self.handler.block,)
        return tuple(dict.fromkeys((*after, *handler)))

    @cached_property
    def needs(self) -> frozenset[str]:
        """The variables that it reads before it sets them."""
        found: set[str] = set()
        done: set[str] = set()
        for statement in self.statements:
            found |= _reads(statement) - done
            done.add(statement.target)
        return frozenset(found | (_read_at_end(self.end) - done))

    @cached_property
    def grown(self) -> frozenset[str]:
        """The variables whose container has more items after it."""
        return frozenset(
            each.args[0]
            for each in self.statements
            if isinstance(each, Apply) and each.function is put
        )

    @cached_property
    def sets(self) -> frozenset[str]:
        """The variables that are another value's after it, or whose container has grown."""
        return self.grown.union(each.target for each in self.statements)


@dataclass(frozen=True)
class Body:
    """A function: its parameters in order, and its blocks; it begins with the block ``first``.

    kind: ``"function"``; or ``"generator"``, which gives what its steps ``give`` are called with;
    or ``"coroutine"``, for all that runs when it is awaited. signature: what calls are bound by.
    key: what analyses of it are found again by, equal for bodies that are the same.
    """

    function: Callable[..., Any]
    parameters: tuple[str, ...]
    blocks: dict[int, Block]
    first: int
    kind: str = "function"
    signature: Signature | None = None
    key: Any = None

    @cached_property
    def place(self) -> dict[int, int]:
        """The place of each block in the order."""
        return {label: i for i, label in enumerate(self.order)}

    @cached_property
    def lasting(self) -> frozenset[str]:
        """The variables that some block has from one before it; the others are known in the
        block alone that sets them."""
        return frozenset(name for label in self.order for name in self.blocks[label].needs)

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
        place = self.place
        return frozenset(n for b in self.order for n in self.blocks[b].next if place[n] <= place[b])

    @cached_property
    def changed(self) -> dict[tuple[int, int], frozenset[str]]:
        """For each way back of a loop, from its end to its head: the variables set in the loop."""
        before: dict[int, list[int]] = {label: [] for label in self.order}
        for label in self.order:
            for after in self.blocks[label].next:
                before[after].append(label)
        place = self.place
        ways = [(b, h) for h in self.loop_heads for b in before[h] if place[h] <= place[b]]
        return {(end, head): self._set_between(before, head, end) for end, head in ways}

    def _set_between(self, before: dict[int, list[int]], head: int, end: int) -> frozenset[str]:
        inside, todo = {head}, [end]
        while todo:
            label = todo.pop()
            if label not in inside:
                inside.add(label)
                todo += before[label]
        return frozenset(name for label in inside for name in self.blocks[label].sets)


def _read_at_end(end: Branch | Return) -> set[str]:
    given = end.value if isinstance(end, Return) else end.condition
    raised = (end.raised or ()) if isinstance(end, Return) else ()
    return {*raised} if given is None else {given}


def _reads(statement: Statement) -> set[str]:
    if isinstance(statement, ConstantValue):
        return set()
    if isinstance(statement, Copy):
        return {statement.source}
    if isinstance(statement, Make):
        return {name for name in (*statement.captured, *statement.defaults) if name is not None}
    called = {statement.function} if isinstance(statement.function, str) else set[str]()
    if statement.function is new and statement.native is not None:
        called |= {*statement.native}
    return called | {*statement.args, *(name for _, name in statement.kwargs)}


def is_step(name: str) -> bool:
    """Whether a variable holds a step of an expression, and is none of the program's."""
    return name.startswith("$")
