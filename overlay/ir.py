"""IR for compiler plugins: one function, to inspect and edit.

A plugin is given an ``IR`` by ``before_inference`` and ``after_inference``, and a ``Call`` by
``infer`` and ``inline``. Nothing else of the compiler need be known. ``read`` gives the IR of any
function, to inspect. Importing this module does not import numba.

``IR.calls`` is enough for most plugins. Beneath the calls are blocks of statements, branches with
the edges out of them, stores, and the chains from definitions to uses.

>>> import math
>>> from overlay.ir import read
>>> def height(angle):
...     return 2 * math.sin(angle)
>>> [call.target for call in read(height).calls()]
[<built-in function sin>, <built-in function mul>]
>>> (call,) = read(height, float).calls(math.sin)
>>> call.types, call.result_type
((<class 'float'>,), <class 'float'>)
>>> def clipped(x):
...     if x > 1.0:
...         x = 1.0
...     return x
>>> (branch,) = read(clipped).branches()
>>> branch.test.target, branch.test.constants
(<built-in function gt>, (UNKNOWN, 1.0))
"""

from __future__ import annotations

import enum
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from overlay.code.dominance import dominators, post_dominators
from overlay.core import late_binding
from overlay.core.public_names import hides
from overlay.core.short_repr import counted, short_repr
from overlay.core.target import describe

if TYPE_CHECKING:
    from overlay.analysis.runs import Run, Step

__all__ = [
    "IR",
    "UNKNOWN",
    "BasicBlock",
    "BranchPoint",
    "Call",
    "Edge",
    "FlowGraph",
    "IRStatement",
    "RaisePoint",
    "Store",
    "Unknown",
    "Variable",
    "read",
]


class Unknown(enum.Enum):
    """Type of ``UNKNOWN``: the constant of a value that is known only at run time."""

    UNKNOWN = enum.auto()

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown.UNKNOWN


@dataclass(frozen=True)
class Variable:
    """A variable of a function: of the program, or for an intermediate result of an expression."""

    name: str


@hides("ways")
@dataclass(frozen=True)
class Call:
    """A call in a function: of a callable, or through an operator (``a + b`` is a call of
    ``operator.add``).

    target: the callee in the program, or UNKNOWN. args, kwargs: the arguments; None in ``args`` for
    ``*rest`` of an unknown length. result: the variable that takes the result.
    where: ``file:line``. caller: the function that contains the call.
    types: of the positional arguments, as signatures have them; None before types are known.
    result_type: the type of the result; None before it is known.
    constants: the values of positional arguments that are known, UNKNOWN for others.
    metadata: of the context, as ``IR.metadata``.
    inlined: whether the callee's body replaces the call; None if undecided.
    native: the call as numba represents it, for details that are not here.
    """

    target: Any
    args: tuple[Variable | None, ...]
    kwargs: Mapping[str, Variable]
    result: Variable
    where: str
    caller: Callable[..., Any]
    types: tuple[Any, ...] | None = None
    result_type: Any = None
    constants: tuple[Any, ...] = ()
    inlined: bool | None = None
    metadata: Any = None
    native: Any = field(default=None, repr=False, compare=False)
    ways: Callable[[], tuple[Edge, ...]] | None = field(default=None, repr=False, compare=False)

    def __repr__(self) -> str:
        given = ["..." if each is None else each.name for each in self.args]
        given += [f"{name}={each.name}" for name, each in self.kwargs.items()]
        callee = "?" if self.target is UNKNOWN else describe(self.target)
        return short_repr("Call", f"{callee}({', '.join(given)})", self.where)

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The edges of branches on all ways to the call, outermost first, also in ``infer`` and
        ``inline``.

        Examples
        --------
        >>> import math
        >>> from overlay.ir import read
        >>> def root(x):
        ...     return math.sqrt(x) if x >= 0.0 else math.nan
        >>> (call,) = read(root, float).calls(math.sqrt)
        >>> (edge,) = call.edges
        >>> edge.test.target, edge.test.constants, edge.truth
        (<built-in function ge>, (UNKNOWN, 0.0), True)
        """
        return () if self.ways is None else self.ways()


@dataclass(frozen=True)
class Store:
    """An assignment to a variable of the program, to an item, or to an attribute.

    kind: ``"variable"``, ``"item"`` or ``"attribute"``. target: the variable, the container or the
    object. key: the index, a variable or a constant; the name of an attribute; None for a variable.
    value: the variable with the new value; None for a constant that a variable is given, and where
    an item or an attribute is deleted. where: ``file:line``.
    """

    kind: str
    target: Variable
    key: Any
    value: Variable | None
    where: str


@dataclass(frozen=True)
class Edge:
    """A way from the end of one block to another.

    source, target: the labels of the blocks. condition: the variable that a branch tests; None for
    a jump. truth: whether the edge is that of a true condition; None for a jump. test: the call
    whose result is the condition, such as that of ``operator.gt``; None if it is none.
    where: ``file:line`` of the branch.
    """

    source: int
    target: int
    condition: Variable | None = None
    truth: bool | None = None
    test: Call | None = field(default=None, compare=False)
    where: str = field(default="", compare=False)

    def __repr__(self) -> str:
        test = "" if self.condition is None else f", where {self.condition.name} is {self.truth}"
        return short_repr("Edge", f"{self.source} -> {self.target}{test}", self.where)


@dataclass(frozen=True, eq=False)
class BranchPoint:
    """The end of a block that goes on along one of two edges.

    block: its label. condition: the variable that it tests. test: as in ``Edge``.
    where: ``file:line``.
    """

    block: int
    condition: Variable
    yes: Edge
    no: Edge
    test: Call | None
    where: str

    def __repr__(self) -> str:
        ways = f"{self.yes.target} or {self.no.target}"
        return short_repr("BranchPoint", f"on {self.condition.name}: {ways}", self.where)


@dataclass(frozen=True, eq=False)
class IRStatement:
    """One step of a function. Statements are equal if they are the same step.

    operation: one of

    - ``"argument"``, ``"constant"``, ``"copy"``: the result is a parameter, an object of the
      program, another variable;
    - ``"call"``, ``"operator"``: a ``call``; ``"update"``: one that may change its first operand
      in place, such as ``+=``; ``"conversion"``: a call that the language makes, such as that of
      ``bool`` where a branch tests a condition;
    - ``"attribute"``: an attribute is read, whose name is ``name``;
    - ``"build"``: a new tuple, list, set or dict; ``"iterator"``: a new iterator; ``"advance"``:
      the next item of one; ``"item"``: a part of a result that numba splits;
    - ``"store"``: a ``store`` to an item or an attribute;
    - ``"branch"``, ``"jump"``, ``"return"``, ``"raise"``, ``"yield"``;
    - ``"other"``: all else.

    result: the variable that it assigns, or None. reads: the variables that it reads. block: the
    label of its block. where: ``file:line``. call, store, branch: what it is, in more detail; a
    store to a variable is also the statement that computes the value. constant: the object of the
    program that a ``"constant"`` is, UNKNOWN for others.
    native: the statement as numba represents it.
    """

    operation: str
    result: Variable | None
    reads: tuple[Variable, ...]
    block: int
    where: str
    name: str | None = None
    call: Call | None = None
    store: Store | None = None
    branch: BranchPoint | None = None
    constant: Any = UNKNOWN
    native: Any = field(default=None, repr=False)

    def __repr__(self) -> str:
        result = "" if self.result is None else f"{self.result.name} = "
        reads = ", ".join(each.name for each in self.reads)
        return short_repr("IRStatement", f"{result}{self.operation}({reads})", self.where)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IRStatement) and self.native is other.native

    def __hash__(self) -> int:
        return id(self.native)


@dataclass(frozen=True)
class BasicBlock:
    """Statements that run one after the other; only the last one branches, jumps or leaves.

    label: its number in the function; the first block has the lowest. edges: the ways out of it.
    """

    label: int
    statements: tuple[IRStatement, ...]
    edges: tuple[Edge, ...]

    def __repr__(self) -> str:
        ways = ", ".join(str(edge.target) for edge in self.edges)
        facts = f"{self.label}: {counted(len(self.statements), 'statement')}"
        return short_repr("BasicBlock", f"{facts}, then {ways}" if ways else facts)


# A statement, or a block or its label.
Place = IRStatement | BasicBlock | int


@dataclass(frozen=True)
class RaisePoint:
    """A place where a function is left by an exception that its source raises.

    where: ``file:line``. native: the statement as numba represents it, for what is not here.
    """

    where: str
    native: Any = field(default=None, repr=False, compare=False)


class FlowGraph(ABC):
    """The blocks of one function, and what follows from them: the part of ``IR`` that inspects
    control flow and data flow."""

    @abstractmethod
    def blocks(self) -> tuple[BasicBlock, ...]:
        """Its blocks, in the order of their labels.

        Examples
        --------
        >>> from overlay.ir import read
        >>> def total(xs):
        ...     found = 0.0
        ...     for x in xs:
        ...         found += x
        ...     return found
        >>> first, *others = read(total).blocks()
        >>> [statement.operation for statement in first.statements]
        ['argument', 'constant', 'iterator', 'copy', 'jump']
        >>> sorted(len(block.edges) for block in others)
        [0, 1, 2]
        """

    def statements(self) -> tuple[IRStatement, ...]:
        """Its statements, block by block."""
        return tuple(each for block in self.blocks() for each in block.statements)

    def branches(self) -> tuple[BranchPoint, ...]:
        """Its branches, in the order of their blocks."""
        return tuple(s.branch for s in self.statements() if s.branch is not None)

    def stores(self) -> tuple[Store, ...]:
        """Its stores, block by block.

        Examples
        --------
        >>> from overlay.ir import read
        >>> def mark(xs, i):
        ...     last = i - 1
        ...     xs[last] = 0.0
        >>> [(store.kind, store.target.name) for store in read(mark).stores()]
        [('variable', 'last'), ('item', 'xs')]
        """
        return tuple(s.store for s in self.statements() if s.store is not None)

    @property
    @abstractmethod
    def handles_exceptions(self) -> bool:
        """Whether it has a ``try``: ways from a statement that raises to a handler are not among
        the edges."""

    @abstractmethod
    def callees(self, call: Call) -> tuple[Any, ...]:
        """The functions one of which a call enters: its target, or those that the function chooses
        among, by branches or from tuples and dicts; none where they are not known.

        Examples
        --------
        >>> import math
        >>> from overlay.ir import UNKNOWN, read
        >>> def wave(k, x):
        ...     return (math.sin, math.cos)[k](x)
        >>> ir = read(wave)
        >>> (call,) = (call for call in ir.calls() if call.target is UNKNOWN)
        >>> ir.callees(call)
        (<built-in function sin>, <built-in function cos>)
        """

    def definitions(self, variable: Variable) -> tuple[IRStatement, ...]:
        """The statements that assign a variable. Once types are known a variable of the program
        has a variable for each assignment, and copies where two ways meet.

        Examples
        --------
        >>> from overlay.ir import Variable, read
        >>> def twice(x):
        ...     y = x + x
        ...     return y * y
        >>> ir = read(twice)
        >>> [s.operation for s in ir.definitions(Variable("y"))]
        ['operator']
        >>> [s.call.target for s in ir.uses(Variable("y"))]
        [<built-in function mul>]
        """
        return tuple(s for s in self.statements() if s.result == variable)

    def uses(self, variable: Variable) -> tuple[IRStatement, ...]:
        """The statements that read a variable."""
        return tuple(s for s in self.statements() if variable in s.reads)

    def dominates(self, one: Place, other: Place) -> bool:
        """Whether each way to ``other``, a statement or a block, passes ``one``; so does each of
        itself.

        Examples
        --------
        >>> from overlay.ir import read
        >>> def total(xs):
        ...     found = 0.0
        ...     for x in xs:
        ...         found += x
        ...     return found
        >>> ir = read(total)
        >>> (branch,) = ir.branches()
        >>> head, body, last = branch.block, branch.yes.target, branch.no.target
        >>> ir.dominates(head, last), ir.dominates(body, last)
        (True, False)
        >>> ir.post_dominates(last, body), ir.post_dominates(body, head)
        (True, False)
        >>> ir.controls(body) == (branch.yes,)
        True
        """
        found = dominators(self._successors(), self.blocks()[0].label)
        return self._is_among(one, other, found, after=False)

    def post_dominates(self, one: Place, other: Place) -> bool:
        """Whether each way from ``other``, a statement or a block, out of the function passes
        ``one``; so does each of itself. Exceptions that no ``raise`` of the function raises are no
        ways out."""
        return self._is_among(one, other, post_dominators(self._successors()), after=True)

    def controls(self, place: Place) -> tuple[Edge, ...]:
        """The edges that decide whether a statement or a block runs: its control dependences. From
        the target of such an edge each way leads there, from its source not."""
        after = post_dominators(self._successors())
        label = _label(place)
        return tuple(
            edge
            for block in self.blocks()
            for edge in block.edges
            if edge.condition is not None
            and label in after[edge.target]
            and (label == block.label or label not in after[block.label])
        )

    def edges_to(self, place: Place) -> tuple[Edge, ...]:
        """The edges of branches that each way to a statement or a block takes, outermost first."""
        before = dominators(self._successors(), self.blocks()[0].label)
        above = before.get(_label(place), set())
        edges = [edge for block in self.blocks() for edge in block.edges]
        into = Counter(edge.target for edge in edges)
        found = [e for e in edges if e.condition is not None and e.target in above]
        found = [edge for edge in found if into[edge.target] == 1]
        return tuple(sorted(found, key=lambda edge: len(before[edge.target])))

    def _successors(self) -> dict[int, list[int]]:
        return {block.label: [edge.target for edge in block.edges] for block in self.blocks()}

    def _is_among(self, one: Any, other: Any, found: dict[Any, set[Any]], *, after: bool) -> bool:
        first, second = _label(one), _label(other)
        in_one_block = isinstance(one, IRStatement) and isinstance(other, IRStatement)
        if first != second or not in_one_block:
            return first in found.get(second, ())
        order = [s for block in self.blocks() if block.label == first for s in block.statements]
        places = order.index(one), order.index(other)
        return places[0] >= places[1] if after else places[0] <= places[1]


class IR(FlowGraph):
    """A function during compilation, before or after type inference.

    Edits change it in place. For an argument or a value, give a ``Variable`` of the function, or
    anything else as a constant. An edit that is not possible raises OverlayError, and changes
    nothing.

    function: the function. interpretation: the result of ``Plugin.interpreter`` of the active
    plugins. metadata: of the context for which the function is compiled; where only types are
    inferred, UNKNOWN for values that are set at run time.
    """

    function: Callable[..., Any]
    interpretation: Any = None
    metadata: Any = None

    def __repr__(self) -> str:
        return short_repr("IR", f"of {self.name}", self.where)

    # ---- the interpretation in force ----

    @property
    def analysis(self) -> Run | None:
        """The analysis of this function in the interpretation in force, a ``Domain`` of
        ``overlay.analysis``, from the types of its arguments: the result, and each call. None where
        no such interpretation is in force, and where its code cannot be analysed."""
        return None

    def analysed(self, call: Call) -> Step | None:
        """One call in that analysis, with abstract arguments and result. None where there is no
        analysis, and for a call that is never reached."""
        return None

    # ---- the function ----

    @property
    def name(self) -> str:
        """The function's qualified name."""
        return getattr(self.function, "__qualname__", repr(self.function))

    @property
    @abstractmethod
    def arguments(self) -> tuple[Variable, ...]:
        """Its parameters."""

    @property
    @abstractmethod
    def is_typed(self) -> bool:
        """Whether types are known."""

    @property
    @abstractmethod
    def result_type(self) -> Any:
        """The type of what it returns, as a signature has it; None before types are known."""

    @property
    @abstractmethod
    def where(self) -> str:
        """``file:line`` of its definition."""

    # ---- inspecting ----

    @abstractmethod
    def calls(self, *targets: Any) -> tuple[Call, ...]:
        """Its calls in the order of the source: all, or those of these targets. A call that an
        edit has removed or replaced is no longer among them."""

    @abstractmethod
    def raises(self) -> tuple[RaisePoint, ...]:
        """Where it raises, in the order of the source; not in a ``try`` whose handlers catch it."""

    def analysed_on(self, edge: Edge, variable: Variable) -> Any:
        """The abstract value of a variable on an edge, in the analysis in force: the domain's
        ``assume`` has refined it by the condition. None where there is no analysis, for an edge
        that is never taken, and for a variable that is not read beyond it."""
        run = self.analysis
        if run is None:
            return None
        return run.edges.get((edge.source, edge.target), {}).get(variable.name)

    @abstractmethod
    def constant(self, variable: Variable) -> Any:
        """The value of a variable where the source says it (a literal, a global, a closure's
        variable, an attribute of a module, a tuple of these), else UNKNOWN."""

    @abstractmethod
    def type_of(self, variable: Variable) -> Any:
        """The type of a variable as a signature has it; None before types are known."""

    @abstractmethod
    def numba_type_of(self, variable: Variable) -> Any:
        """The numba type of a variable; None before types are known."""

    @abstractmethod
    def is_used(self, variable: Variable) -> bool:
        """Whether anything reads a variable."""

    @abstractmethod
    def __str__(self) -> str:
        """The function as text, one statement a line."""

    # ---- editing ----

    @abstractmethod
    def replace(
        self,
        call: Call,
        target: Any,
        *args: Any,
        kwargs: Mapping[str, Any] | None = None,
    ) -> Call:
        """Replace a call by one of ``target`` with these arguments. Its result replaces the old
        one: once types are known it is converted to that type."""

    @abstractmethod
    def set_result(self, call: Call, value: Any) -> None:
        """Replace a call by a value; the call is not made any more."""

    @abstractmethod
    def delete(self, call: Call) -> None:
        """Remove a call whose result is not used; for others see ``set_result``."""

    @abstractmethod
    def remove(self, *statements: IRStatement) -> None:
        """Remove statements, all at once: what they assign may be read by one another, and by
        nothing that stays. The end of a block cannot be removed.

        Examples
        --------
        >>> from overlay.ir import Variable, read
        >>> def counted(xs):
        ...     count = len(xs)
        ...     return xs
        >>> ir = read(counted)
        >>> (length,) = ir.calls(len)
        >>> unused = length.result, Variable("count")
        >>> ir.remove(*(s for s in ir.statements() if s.result in unused))
        >>> ir.calls()
        ()
        """

    @abstractmethod
    def jump(self, branch: BranchPoint, block: BasicBlock | int) -> None:
        """Let a branch always go on at one block, which need not be one of its own. Blocks that
        are not reached any more are removed.

        Examples
        --------
        >>> from overlay.ir import read
        >>> def sign(x):
        ...     return 1 if x > 0 else -1
        >>> ir = read(sign)
        >>> (branch,) = ir.branches()
        >>> ir.jump(branch, branch.yes.target)
        >>> len(ir.blocks()), ir.branches()
        (2, ())
        """

    @abstractmethod
    def insert_before(self, call: Call, target: Any, *args: Any) -> Variable:
        """Insert a call of ``target`` before a call. Return the variable of its result."""

    @abstractmethod
    def insert_after(self, call: Call, target: Any, *args: Any) -> Variable:
        """Insert a call of ``target`` after a call, whose ``result`` can be among the arguments.
        Return the variable of its result."""

    @abstractmethod
    def insert_first(self, target: Any, *args: Any) -> Variable:
        """Insert a call of ``target`` at the start of the function, whose parameters can be among
        the arguments. Return the variable of its result."""

    @abstractmethod
    def return_instead(self, raised: RaisePoint, value: Any) -> None:
        """Return a value where the function raises: once types are known it is converted to
        ``result_type``."""


def _label(place: Place) -> int:
    if isinstance(place, IRStatement):
        return place.block
    return place.label if isinstance(place, BasicBlock) else place


def read(function: Callable[..., Any], *types: Any) -> IR:
    """The IR of a function outside any context, to inspect, with the types that follow from those
    of its arguments, where they are given.

    types: Python types as in signatures, or numba's. Raises NotCompilable where numba cannot
    read the function.
    """
    return late_binding.read_ir.load()(function, types)
