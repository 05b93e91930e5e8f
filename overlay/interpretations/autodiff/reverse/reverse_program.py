"""Programs for adjoints: assignments, branches and loops, in which each variable is set once."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from overlay.interpretations.autodiff.reverse.pullbacks import Pullback

__all__ = [
    "BOOL",
    "COMPLEX",
    "FLOAT",
    "INT",
    "UNSET",
    "Advanced",
    "CapturedCell",
    "Carried",
    "Contents",
    "Effect",
    "Either",
    "ExceptionOf",
    "Generator",
    "Growing",
    "IndexedItems",
    "Joined",
    "KnownBefore",
    "Local",
    "MadeObject",
    "Manager",
    "Memory",
    "MethodOf",
    "More",
    "NumberKind",
    "ReverseCall",
    "ReverseFork",
    "ReverseLoop",
    "ReverseValue",
    "Span",
    "StatementRegion",
    "Steps",
    "Text",
    "Unset",
    "Write",
    "leaves",
]


@dataclass(frozen=True)
class NumberKind:
    """The kind of numbers, or of arrays with ``ndim`` dimensions: ``"f"`` floats, ``"c"``
    complex numbers, ``"i"`` integers, ``"b"`` booleans."""

    dtype: str
    ndim: int = 0


FLOAT, INT, BOOL = NumberKind("f"), NumberKind("i"), NumberKind("b")
COMPLEX = NumberKind("c")


class Memory:
    """The memory of an array, with its writes.

    loops: those around its creation. version: the number of writes so far; last: the position of
    the last in the program; written_in: the loops around each. is_own: whether the program created
    it.
    """

    def __init__(self, loops: tuple[Any, ...], *, is_own: bool) -> None:
        self.loops = loops
        self.is_own = is_own
        self.version = 0
        self.last = -1
        self.written_in: set[Any] = set()


class ReverseValue:
    """A variable, set once. memory: of an array. shares: the memory that it shares with other
    arrays, each with its version when it was taken. part_of: for part of an array, that array and
    the index. constant: an array that is known before the program runs, unless it is written to.
    is_length: whether it is a number of elements. owner: the region in which it is set; None for
    arguments."""

    def __init__(self, name: str, kind: NumberKind, owner: StatementRegion | None = None) -> None:
        self.name = name
        self.kind = kind
        self.owner = owner
        self.memory: Memory | None = None
        self.shares: tuple[tuple[Memory, int], ...] = ()
        self.part_of: tuple[ReverseValue, Any] | None = None
        self.constant: Any = None
        self.is_length = False
        self.is_active = False
        self.is_useful = False

    @property
    def is_float(self) -> bool:
        """Whether it is of floats or complex numbers."""
        return self.kind.dtype in ("f", "c")

    @property
    def matters(self) -> bool:
        """Whether it has an adjoint: it depends on an active argument, and the result depends on
        it."""
        return self.is_float and self.is_active and self.is_useful

    def __repr__(self) -> str:
        return self.name


@dataclass(frozen=True)
class KnownBefore:
    """A value that is known before the program runs."""

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


class StatementRegion:
    """A sequence of statements. loop: the innermost loop that contains it."""

    def __init__(self, loop: ReverseLoop | None) -> None:
        self.loop = loop
        self.ops: list[Any] = []
        self.known: dict[Any, ReverseValue] = {}  # results of calls, for reuse


@dataclass(eq=False)
class ReverseCall:
    """The statement ``out = function(*args)``. place: its position in the program. loops: those
    around it. copies: copies of arguments that are written to later, by position. is_kept: whether
    its results are stored for the backward pass. is_guarded: whether it runs even if its result is
    not needed, since the program handles its exceptions."""

    out: ReverseValue
    pullback: Pullback
    args: tuple[Any, ...]
    place: int
    loops: tuple[ReverseLoop, ...]
    where: str
    copies: dict[int, ReverseValue] = field(default_factory=dict)
    is_kept: bool = False
    is_guarded: bool = False

    @property
    def reads(self) -> tuple[Memory, ...]:
        """The memory of the arrays whose elements it reads."""
        if self.pullback.is_shape:
            return ()
        found = [v.memory for a in self.args for v in leaves(a)]
        return tuple(dict.fromkeys(m for m in found if m is not None))


@dataclass(eq=False)
class Write:
    """The statement ``array[index] = value``."""

    array: ReverseValue
    index: Any
    value: Any
    place: int
    loops: tuple[ReverseLoop, ...]
    where: str


@dataclass(eq=False)
class Effect:
    """A statement without result, which the forward pass runs: ``raise``, which leaves the program,
    or a barrier of threads. source: of the statement."""

    source: str


@dataclass(eq=False)
class Joined:
    """A variable after a branch, with its values in both arms."""

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
    """A variable that an iteration of a loop takes from the previous one.

    first: its value before the loop, None if it is set only in the loop. param: its value in an
    iteration, and after the loop. last: its value at the end of an iteration.
    """

    first: Any
    param: ReverseValue
    last: Any = None


@dataclass(eq=False)
class ReverseLoop:
    """A loop: over ``steps`` with the variable ``index``, or until it is left.

    code: the number, at the end of an iteration, of the exit by which the loop is left, 0 if it
    continues; None if only the steps end it. trips: the name of the counter of iterations, if there
    is a ``code``.
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
        case MethodOf():
            yield from leaves(operand.receiver)
        case Contents():
            yield from leaves(operand.items)
        case Growing():
            yield from leaves((operand.array, operand.length))
        case _:
            return


# ---- operands that are no numbers ---------------------------------------------------------


class Unset:
    """The operand of a variable that may be unset, or has different values on different paths."""


UNSET = Unset()


@dataclass(frozen=True)
class MethodOf:
    """A method with its receiver."""

    function: Any
    receiver: Any


@dataclass(frozen=True)
class ExceptionOf:
    """An exception that the program makes. args: its arguments, if they are known."""

    cls: Any
    args: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Either:
    """One of two functions, by a condition."""

    condition: ReverseValue
    yes: Any
    no: Any


@dataclass(frozen=True)
class Manager:
    """A context manager that changes nothing that the program computes. entered: its value in the
    block."""

    entered: Any


@dataclass(frozen=True)
class Text:
    """A text that the program makes, as of an error."""


@dataclass(frozen=True, eq=False)
class Generator:
    """The items that a generator yields. run: lifts it with a function that adds each item to an
    accumulator, from a first value.
    """

    run: Callable[[Any, Callable[[Any, Any], Any]], Any]
    used: list[None] = field(default_factory=list)


@dataclass(frozen=True)
class Advanced:
    """The next item of an iterator, which a loop requests."""

    item: Any


@dataclass(frozen=True)
class More:
    """The test whether there was a next item."""


@dataclass(frozen=True, eq=False)
class IndexedItems:
    """The items that a loop accesses by index: their number, and the function for one of them.
    unrolled: whether the index has to be known. check: refuses another number than when they were
    asked for. used: holds something once they were gone through, as an iterator is."""

    count: Any
    item: Callable[[Any], Any]
    unrolled: bool = False
    check: Callable[[], None] = field(default=lambda: None)
    used: list[None] = field(default_factory=list)


@dataclass(frozen=True)
class CapturedCell:
    """The key of a variable of a function that other functions capture. frame: the call of the
    function."""

    frame: Any
    name: str


@dataclass(frozen=True)
class Local:
    """A function that is defined in the program. captured: the operands that it captures, or the
    ``CapturedCell`` that holds one."""

    code: Any
    captured: tuple[Any, ...]
    defaults: tuple[Any, ...]
    space: dict[str, Any]


# ---- objects that the program makes --------------------------------------------------------


class MadeObject:
    """A list, a dict or an instance that the program makes: the key of its contents among the
    variables. fixed: whether another operand may stand for it too, so that it is not written to."""

    def __init__(self, cls: Any) -> None:
        self.cls = cls
        self.fixed = False

    def __str__(self) -> str:
        return "part"


@dataclass(frozen=True)
class Contents:
    """The contents of a structure. keys: the keys of a dict, or the attributes of an instance; None
    for a sequence."""

    keys: tuple[Any, ...] | None
    items: tuple[Any, ...]


@dataclass(frozen=True)
class Growing:
    """The contents of a list of numbers whose length is not known: the first elements of an
    array. room: the loops in which it may grow. whole: whether they are whole numbers."""

    array: ReverseValue
    length: Any
    room: tuple[Any, ...] = ()
    whole: bool = False
