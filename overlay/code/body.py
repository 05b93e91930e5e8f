"""Intermediate representation of a function for analyses: basic blocks of assignments."""

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
    """An attribute's name, as a constant argument of ``getattr``."""


@dataclass(frozen=True)
class ConstantValue:
    """``target = value``, a constant from the source or from the function's globals.

    name: the global name that it was read from, if any. where: ``file:line`` of that read.
    """

    target: str
    value: Any
    name: str | None = field(default=None, compare=False)
    where: str = field(default="", compare=False)


@dataclass(frozen=True)
class Copy:
    """``target = source``. where: ``file:line``, if the copy is in the source."""

    target: str
    source: str
    where: str = field(default="", compare=False)


@dataclass(frozen=True)
class Apply:
    """``target = function(*args, **kwargs)``: a call, an operator, an index, an attribute.

    function: a callable, or the name of the variable that holds it; None for a step unknown to
    analyses. where: ``file:line``. at: its position in the source. native: its origin in the
    bytecode: for a container display, the variables of its items (for a dict, keys and values
    alternate); for the items beside a starred target the index, for that itself the slice; for
    ``marks.outer`` and ``marks.of_super`` the name; for ``marks.other``, for an
    unknown step, and for an operator that is part of another instruction, the instruction; for
    the beginning of a ``with`` statement a ``WithBlock``. instruction: the one that makes or
    extends a container, or matches an object; of ``DELETE_FAST`` the variable.

    A call with unpacked arguments is an unknown step. Its arguments are the callee and the tuple
    of arguments, and under the keyword ``**`` the mapping of keyword arguments.
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
    """The beginning of a ``with`` statement. leaves: the variable that holds its ``__exit__``."""

    instruction: str
    leaves: str


@dataclass(frozen=True)
class Make:
    """``target = a function that is defined here``.

    captured: for each free variable of its code the variable that holds its value, or None
    if that may change during the function's life. defaults: the variables that hold the defaults
    of its last parameters; None for unknown ones. named: that which holds the dict of the defaults
    of keyword-only parameters, if they have some. where: ``file:line``.
    """

    target: str
    code: CodeType
    captured: tuple[str | None, ...]
    defaults: tuple[str | None, ...] = ()
    named: str | None = None
    where: str = field(default="", compare=False)


Statement = ConstantValue | Copy | Apply | Make


@dataclass(frozen=True)
class Branch:
    """Continue at ``yes`` if the condition is true, else at ``no``; an unconditional jump has no
    condition and two equal labels. where: ``file:line``."""

    condition: str | None
    yes: int
    no: int
    where: str = field(default="", compare=False)


@dataclass(frozen=True)
class Return:
    """Return this variable's value; None if an exception is raised instead.

    raised: the variables of the exception and of its cause, as far as a ``raise`` has them; None
    if the block does not end with a ``raise``. where: ``file:line`` of a ``raise``.
    """

    value: str | None
    raised: tuple[str, ...] | None = None
    where: str = ""


@dataclass(frozen=True)
class Handler:
    """Exception handler of a block. dropped: the stack slots whose values are lost there."""

    block: int
    dropped: frozenset[str]


@dataclass(frozen=True)
class Block:
    """Basic block: statements, their end, and the exception handler, None if exceptions leave the
    function. catches: the classes of errors that may be caught in the function, of those that
    ``handling`` distinguishes. handled: those that something else than a ``with`` statement may
    catch. managers: the ``leaves`` of the ``with`` statements around it.
    where: ``file:line`` of its beginning.
    """

    statements: tuple[Statement, ...]
    end: Branch | Return
    handler: Handler | None = None
    catches: frozenset[type[Exception]] = frozenset()
    where: str = field(default="", compare=False)
    handled: frozenset[type[Exception]] = frozenset()
    managers: tuple[str, ...] = ()

    @cached_property
    def next(self) -> tuple[int, ...]:
        """The successor blocks."""
        after = () if isinstance(self.end, Return) else (self.end.yes, self.end.no)
        handler = () if self.handler is None else (self.handler.block,)
        return tuple(dict.fromkeys((*after, *handler)))

    @cached_property
    def needs(self) -> frozenset[str]:
        """The variables that the block reads before it sets them."""
        found: set[str] = set()
        done: set[str] = set()
        for statement in self.statements:
            found |= _reads(statement) - done
            done.add(statement.target)
        return frozenset(found | (_read_at_end(self.end) - done))

    @cached_property
    def captured(self) -> frozenset[str]:
        """The variables that functions defined in the block capture while they may change."""
        return frozenset(
            name
            for each in self.statements
            if isinstance(each, Make)
            for name, held in zip(each.code.co_freevars, each.captured, strict=True)
            if held is None
        )

    @cached_property
    def grown(self) -> frozenset[str]:
        """The variables whose containers the block adds items to."""
        return frozenset(
            each.args[0]
            for each in self.statements
            if isinstance(each, Apply) and each.function is put
        )

    @cached_property
    def sets(self) -> frozenset[str]:
        """The variables that the block assigns, or whose containers it adds items to."""
        return self.grown.union(each.target for each in self.statements)


@dataclass(frozen=True)
class Body:
    """Function body: parameters in order, and basic blocks; the entry block is ``first``.

    kind: ``"function"``; or ``"generator"``, which yields the arguments of its ``give`` steps;
    or ``"coroutine"``, for all that runs when it is awaited. signature: the one that binds the
    arguments of calls. key: cache key of analyses, equal for equal bodies.
    """

    function: Callable[..., Any]
    parameters: tuple[str, ...]
    blocks: dict[int, Block]
    first: int
    kind: str = "function"
    signature: Signature | None = None
    key: Any = None

    @cached_property
    def shared(self) -> frozenset[str]:
        """The variables that functions defined here may read or set at any time."""
        held = getattr(self.function, "__code__", None)
        own = frozenset(() if held is None else held.co_cellvars)
        captured = {name for block in self.blocks.values() for name in block.captured}
        return own & captured

    @cached_property
    def place(self) -> dict[int, int]:
        """The index of each block in ``order``."""
        return {label: i for i, label in enumerate(self.order)}

    @cached_property
    def lasting(self) -> frozenset[str]:
        """The variables that are live at the entry of some block; the others are local to the
        block that sets them."""
        return frozenset(name for label in self.order for name in self.blocks[label].needs)

    @cached_property
    def live(self) -> dict[int, frozenset[str]]:
        """The variables that are live at the entry of each reachable block."""
        found = {label: self.blocks[label].needs for label in self.order}
        changed = True
        while changed:
            changed = False
            for label in reversed(self.order):
                block = self.blocks[label]
                done = {statement.target for statement in block.statements}
                after: set[str] = set()
                for each in block.next:
                    is_handler = block.handler is not None and block.handler.block == each
                    after |= found[each] if is_handler else found[each] - done
                new = block.needs | after
                changed = changed or new != found[label]
                found[label] = new
        return found

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The reachable blocks in reverse postorder: each before its successors, but for the back
        edges of loops."""
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
        """The blocks that are targets of back edges."""
        place = self.place
        return frozenset(n for b in self.order for n in self.blocks[b].next if place[n] <= place[b])

    @cached_property
    def changed(self) -> dict[tuple[int, int], frozenset[str]]:
        """For each back edge of a loop, from its end to its head: the variables set in the
        loop."""
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
        held = (*statement.captured, *statement.defaults, statement.named)
        return {name for name in held if name is not None}
    called = {statement.function} if isinstance(statement.function, str) else set[str]()
    if statement.function is new and statement.native is not None:
        called |= {*statement.native}
    return called | {*statement.args, *(name for _, name in statement.kwargs)}


def is_step(name: str) -> bool:
    """Whether a variable is temporary: a step of an expression, not a variable of the program."""
    return name.startswith("$")
