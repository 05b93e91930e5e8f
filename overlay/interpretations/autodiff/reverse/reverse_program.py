"""Programs of which adjoints are made: assignments, branches and loops, each variable set once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from overlay.interpretations.autodiff.reverse.pullbacks import Pullback

__all__ = [
    "BOOL",
    "FLOAT",
    "INT",
    "UNSET",
    "Advanced",
    "ArrayMethod",
    "Carried",
    "IndexedItems",
    "Joined",
    "KnownBefore",
    "Local",
    "Memory",
    "More",
    "NumberKind",
    "ReverseCall",
    "ReverseFork",
    "ReverseLoop",
    "ReverseValue",
    "Span",
    "StatementRegion",
    "Steps",
    "Unset",
    "Write",
    "leaves",
]


@dataclass(frozen=True)
class NumberKind:
    """Numbers, or arrays with so many dimensions: ``"f"`` floats, ``"i"`` whole, ``"b"`` truth."""

    dtype: str
    ndim: int = 0


FLOAT, INT, BOOL = NumberKind("f"), NumberKind("i"), NumberKind("b")


class Memory:
    """What an array holds, which writes change.

    loops: those around the place where it is made. version: how many writes there were so far;
    last: the place of the last in the program; written_in: the loops around each.
    is_own: whether the program made it.
    """

    def __init__(self, loops: tuple[Any, ...], *, is_own: bool) -> None:
        self.loops = loops
        self.is_own = is_own
        self.version = 0
        self.last = -1
        self.written_in: set[Any] = set()


class ReverseValue:
    """A variable, set once. memory: of an array. shares: what else may change an array, each with
    the version that it was taken of. owner: the region in which it is set; None for arguments."""

    def __init__(self, name: str, kind: NumberKind, owner: StatementRegion | None = None) -> None:
        self.name = name
        self.kind = kind
        self.owner = owner
        self.memory: Memory | None = None
        self.shares: tuple[tuple[Memory, int], ...] = ()
        self.is_active = False
        self.is_useful = False

    @property
    def is_float(self) -> bool:
        return self.kind.dtype == "f"

    @property
    def matters(self) -> bool:
        """Whether it has an adjoint: it depends on what is differentiated by, and the result on
        it."""
        return self.is_float and self.is_active and self.is_useful

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True)
class KnownBefore:
    """What is known before the program runs."""

    value: Any


@dataclass(frozen=True)
class Span:
    """A slice."""

    parts: tuple[Any, ...]


@dataclass(frozen=True)
class Steps:
    """``range(start, stop, step)``."""

    start: Any
    stop: Any
    step: Any


@dataclass(frozen=True)
class ArrayMethod:
    """A method of an array, as the function that it is."""

    function: Any
    receiver: Any


class StatementRegion:
    """Statements one after another. loop: the innermost loop of which it is part."""

    def __init__(self, loop: ReverseLoop | None) -> None:
        self.loop = loop
        self.ops: list[Any] = []
        self.known: dict[Any, ReverseValue] = {}  # what calls in it have given


@dataclass(eq=False)
class ReverseCall:
    """``out = function(*args)``. place: in the program. loops: those around it. version: of what
    is read of an array that is written to."""

    out: ReverseValue
    pullback: Pullback
    args: tuple[Any, ...]
    place: int
    loops: tuple[ReverseLoop, ...]
    where: str
    copies: dict[int, ReverseValue] = field(default_factory=dict)
    is_kept: bool = False

    @property
    def reads(self) -> tuple[Memory, ...]:
        """What the arrays hold that it reads whole, or elements of."""
        if self.pullback.is_shape:
            return ()
        found = [v.memory for a in self.args for v in leaves(a)]
        return tuple(dict.fromkeys(m for m in found if m is not None))


@dataclass(eq=False)
class Write:
    """``array[index] = value``."""

    array: ReverseValue
    index: Any
    value: Any
    place: int
    loops: tuple[ReverseLoop, ...]
    where: str


@dataclass(eq=False)
class Joined:
    """What a variable is after a branch."""

    out: ReverseValue
    yes: Any
    no: Any


@dataclass(eq=False)
class ReverseFork:
    """A branch."""

    condition: ReverseValue
    yes: StatementRegion
    no: StatementRegion
    outs: list[Joined] = field(default_factory=list)


@dataclass(eq=False)
class Carried:
    """A variable that a turn of a loop has from the one before.

    first: before the loop, None where it is set in the loop alone. param: in a turn, and after the
    loop. last: at the end of a turn.
    """

    first: Any
    param: ReverseValue
    last: Any = None


@dataclass(eq=False)
class ReverseLoop:
    """A loop: over ``steps`` with the variable ``index``, or until it is left.

    code: what tells at the end of a turn whether it is the last, 0 where it is not; None where
    only the steps end it. trips: how many turns there were, where a turn may be the last.
    """

    steps: Steps | None
    index: ReverseValue
    body: StatementRegion = field(init=False, repr=False)
    carried: list[Carried] = field(default_factory=list)
    code: Carried | None = None
    trips: str = ""
    around: tuple[ReverseLoop, ...] = ()
    uses: list[ReverseValue] = field(default_factory=list)


def leaves(operand: Any) -> Iterator[ReverseValue]:
    """The variables in an operand."""
    match operand:
        case ReverseValue():
            yield operand
        case tuple():
            for part in operand:
                yield from leaves(part)
        case Span():
            yield from leaves(operand.parts)
        case Steps():
            yield from leaves((operand.start, operand.stop, operand.step))
        case ArrayMethod():
            yield from leaves(operand.receiver)
        case _:
            return


# ---- operands that are no numbers ---------------------------------------------------------


class Unset:
    """Stands for a variable that may hold nothing, or one thing or another."""


UNSET = Unset()


@dataclass(frozen=True)
class Advanced:
    """An item that a loop asks for."""

    item: Any


@dataclass(frozen=True)
class More:
    """Whether there was one."""


@dataclass(frozen=True)
class IndexedItems:
    """What a loop goes through by an index: how many there are, and one of them."""

    count: Any
    item: Callable[[Any], Any]


@dataclass(frozen=True)
class Local:
    """A function that is defined in the program, with what it captures."""

    code: Any
    captured: tuple[Any, ...]
    defaults: tuple[Any, ...]
    space: dict[str, Any]
