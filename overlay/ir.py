"""IR for compiler plugins: one function, to inspect and edit.

A plugin is given an ``IR`` by ``before_inference`` and ``after_inference``, and a ``Call`` by
``infer`` and ``inline``; it needs to know nothing else of the compiler. ``read`` gives the IR of
any function, to inspect. Importing this module does not import numba.

``IR.calls`` is enough for most plugins. Beneath the calls are basic blocks of statements,
branches with their edges, stores, and def-use chains.

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
import functools
import inspect
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar, cast

from overlay.code.dominance import dominators, post_dominators
from overlay.core import late_binding
from overlay.core.errors import OverlayError, closest, near_names
from overlay.core.location import caller
from overlay.core.markup import Html, code, listed, place, plain, sheet
from overlay.core.public_names import completes, hides
from overlay.core.short_repr import counted, cut, short_repr
from overlay.core.target import describe, refuse_values

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
__dir__ = completes(__all__)


class Unknown(enum.Enum):
    """Type of ``UNKNOWN``: the constant of a value that is known only at run time.

    Examples
    --------
    >>> from overlay.ir import UNKNOWN, Unknown
    >>> UNKNOWN is Unknown.UNKNOWN
    True
    """

    UNKNOWN = enum.auto()

    def __repr__(self) -> str:
        return "UNKNOWN"


UNKNOWN = Unknown.UNKNOWN
"""Constant of a value that is known only at run time."""


@dataclass(frozen=True)
class Variable:
    """A variable of a function: of the program, or for an intermediate result of an expression.

    Attributes
    ----------
    name : str
        Its name, unique in the function.

    Examples
    --------
    >>> from overlay.ir import read
    >>> read(lambda x: x + 1).arguments
    (Variable(name='x'),)
    """

    name: str


@hides("ways")
@dataclass(frozen=True)
class Call:
    """A call in a function: of a callable, or through an operator (``a + b`` is a call of
    ``operator.add``).

    Attributes
    ----------
    target : object
        The callee in the program, or UNKNOWN.
    args : tuple of (Variable or None)
        The positional arguments; None for ``*rest`` of an unknown length.
    kwargs : mapping of str to Variable
        The keyword arguments.
    result : Variable
        The variable that takes the result.
    where : str
        ``file:line``.
    caller : callable
        The function that contains the call.
    types : tuple or None
        The types of the positional arguments, as signatures have them; None before types are
        known.
    result_type : type or None
        The type of the result; None before it is known.
    constants : tuple
        The values of the positional arguments that are known, UNKNOWN for others.
    inlined : bool or None
        Whether the callee's body replaces the call; None if undecided.
    metadata : object
        That of the context, as ``IR.metadata``.
    native : object
        The call as numba represents it, for details that are not here.

    Examples
    --------
    >>> from overlay.ir import read
    >>> (call,) = read(lambda x: x + 1, int).calls()
    >>> call.target, call.constants, call.types
    (<built-in function add>, (UNKNOWN, 1), (<class 'int'>, <class 'int'>))
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
        """The edges of branches on all paths to the call, outermost first, also in ``infer`` and
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

    Attributes
    ----------
    kind : str
        ``"variable"``, ``"item"`` or ``"attribute"``.
    target : Variable
        The variable, the container or the object.
    key : object
        The index, a variable or a constant; the name of an attribute; None for a variable.
    value : Variable or None
        The variable with the new value; None for a constant that a variable is given, and where
        an item or an attribute is deleted.
    where : str
        ``file:line``.

    Examples
    --------
    >>> from overlay.ir import read
    >>> def clear(xs, i):
    ...     xs[i] = 0.0
    >>> (store,) = read(clear).stores()
    >>> store.kind, store.target.name, store.key.name
    ('item', 'xs', 'i')
    """

    kind: str
    target: Variable
    key: Any
    value: Variable | None
    where: str


@dataclass(frozen=True)
class Edge:
    """A control-flow edge from the end of one block to another.

    Attributes
    ----------
    source, target : int
        The labels of the blocks.
    condition : Variable or None
        The variable that a branch tests; None for a jump.
    truth : bool or None
        Whether the edge is that of a true condition; None for a jump.
    test : Call or None
        The call whose result is the condition, such as that of ``operator.gt``; None if there is
        none.
    where : str
        ``file:line`` of the branch.

    Examples
    --------
    >>> from overlay.ir import read
    >>> (branch,) = read(lambda x: 1 if x > 0 else -1).branches()
    >>> branch.yes.truth, branch.no.truth, branch.yes.source == branch.block
    (True, False, True)
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
    """The end of a block that continues along one of two edges.

    Attributes
    ----------
    block : int
        The label of the block.
    condition : Variable
        The variable that it tests.
    yes, no : Edge
        The edges of a true and of a false condition.
    test : Call or None
        As in ``Edge``.
    where : str
        ``file:line``.

    Examples
    --------
    >>> from overlay.ir import read
    >>> (branch,) = read(lambda x: 1 if x > 0 else -1).branches()
    >>> branch.test.target
    <built-in function gt>
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

    Attributes
    ----------
    operation : str
        One of

        - ``"argument"``, ``"constant"``, ``"copy"``: the result is a parameter, an object of the
          program, another variable;
        - ``"call"``, ``"operator"``: a ``call``;
        - ``"update"``: a call that may change its first operand in place, such as ``+=``;
        - ``"conversion"``: a call that the language makes, such as that of ``bool`` where a branch
          tests a condition;
        - ``"attribute"``: an attribute is read, whose name is ``name``;
        - ``"build"``: a new tuple, list, set or dict;
        - ``"iterator"``: a new iterator; ``"advance"``: the next item of one;
        - ``"item"``: a part of a result that numba splits;
        - ``"store"``: a ``store`` to an item or an attribute;
        - ``"branch"``, ``"jump"``, ``"return"``, ``"raise"``, ``"yield"``;
        - ``"other"``: all else.
    result : Variable or None
        The variable that it assigns.
    reads : tuple of Variable
        The variables that it reads.
    block : int
        The label of its block.
    where : str
        ``file:line``.
    name : str or None
        The name of the attribute that is read.
    call, store, branch : Call, Store or BranchPoint, or None
        The call, store or branch that the statement is. A store to a variable is also the
        statement that computes the value.
    constant : object
        The object of the program that a ``"constant"`` is, UNKNOWN for others.
    native : object
        The statement as numba represents it.

    Examples
    --------
    >>> from overlay.ir import read
    >>> [statement.operation for statement in read(lambda x: x + 1).statements()]
    ['argument', 'constant', 'operator', 'copy', 'return']
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
        return short_repr("IRStatement", self._written(self.operation), self.where)

    def _written(self, operation: str) -> str:
        result = "" if self.result is None else f"{self.result.name} = "
        return f"{result}{operation}({', '.join(each.name for each in self.reads)})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, IRStatement) and self.native is other.native

    def __hash__(self) -> int:
        return id(self.native)


@dataclass(frozen=True)
class BasicBlock:
    """A basic block: statements that run one after the other, of which only the last branches,
    jumps or leaves the function.

    Attributes
    ----------
    label : int
        Its number in the function; the first block has the lowest.
    statements : tuple of IRStatement
        The statements, in their order.
    edges : tuple of Edge
        The edges to its successors.

    Examples
    --------
    >>> from overlay.ir import read
    >>> (block,) = read(lambda x: x + 1).blocks()
    >>> block.edges
    ()
    """

    label: int
    statements: tuple[IRStatement, ...]
    edges: tuple[Edge, ...]

    def __repr__(self) -> str:
        ways = ", ".join(str(edge.target) for edge in self.edges)
        facts = f"{self.label}: {counted(len(self.statements), 'statement')}"
        return short_repr("BasicBlock", f"{facts}, then {ways}" if ways else facts)

    def _repr_html_(self) -> str:
        return sheet("block", self.label, None, _listed((self,)))


def _listed(blocks: tuple[BasicBlock, ...]) -> Html | None:
    """The statements of blocks as a table: the last of each block has the labels of the next."""
    ends = {block.label: block.statements[-1] for block in blocks if block.statements}
    ways = {block.label: ", ".join(str(edge.target) for edge in block.edges) for block in blocks}
    return listed(
        ("block", "", "statement", "then", "where"),
        [statement for block in blocks for statement in block.statements],
        lambda each: (
            each.block,
            plain(each.operation),
            code(_statement(each)),
            ways[each.block] if each is ends[each.block] else "",
            place(each.where),
        ),
    )


def _statement(each: IRStatement) -> str:
    """A statement, a call with the name of its target."""
    if each.operation == "constant" and type(each.constant) in _PLAIN:
        return each._written(cut(repr(each.constant))).removesuffix("()")
    if each.call is None or each.call.target is UNKNOWN:
        return each._written(each.operation)
    return each._written(describe(each.call.target))


_PLAIN = (bool, int, float, complex, str, bytes, type(None))
"""The classes of constants whose representations run no code of the program."""


# A statement, or a block or its label.
Place = IRStatement | BasicBlock | int


@dataclass(frozen=True)
class RaisePoint:
    """A place where a function is left by an exception that its source raises.

    Attributes
    ----------
    where : str
        ``file:line``.
    native : object
        The statement as numba represents it, for details that are not here.

    Examples
    --------
    >>> from overlay.ir import read
    >>> def inverse(x):
    ...     if x == 0:
    ...         raise ValueError("zero has no inverse")
    ...     return 1 / x
    >>> len(read(inverse).raises())
    1
    """

    where: str
    native: Any = field(default=None, repr=False, compare=False)


F = TypeVar("F", bound=Callable[..., Any])


def takes(*kinds: Any) -> Callable[[F], F]:
    """Decorate a method of a graph: an argument of another kind, or of another function, is an
    error. kinds: of the first parameters; ``*args`` are all of one kind.
    """

    def decorated(method: F) -> F:
        _, *parameters = inspect.signature(method).parameters.values()

        @functools.wraps(method)
        def checked(self: FlowGraph, *args: Any, **kwargs: Any) -> Any:
            for i, (kind, parameter) in enumerate(zip(kinds, parameters, strict=False)):
                several = parameter.kind is parameter.VAR_POSITIONAL
                for given in args[i:] if several else args[i : i + 1]:
                    self._check(method.__name__, kind, given)
                if parameter.name in kwargs:
                    self._check(method.__name__, kind, kwargs[parameter.name])
            return method(self, *args, **kwargs)

        return cast("F", checked)

    return decorated


class FlowGraph(ABC):
    """Control-flow graph of one function, with its def-use chains: the part of ``IR`` that
    inspects control flow and data flow.

    Examples
    --------
    >>> from overlay.ir import FlowGraph, read
    >>> graph = read(lambda x: 1 if x > 0 else -1)
    >>> isinstance(graph, FlowGraph), len(graph.blocks())
    (True, 3)
    """

    def _repr_html_(self) -> str:
        blocks = self.blocks()
        more = f"{self!r}: {counted(len(blocks), 'block')}"
        return sheet("function", "", more, _listed(blocks))

    @abstractmethod
    def blocks(self) -> tuple[BasicBlock, ...]:
        """The basic blocks, in the order of their labels.

        Returns
        -------
        tuple of BasicBlock
            The blocks; the first is the entry.

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
        """The statements, block by block.

        Returns
        -------
        tuple of IRStatement
            The statements.
        """
        return tuple(each for block in self.blocks() for each in block.statements)

    def branches(self) -> tuple[BranchPoint, ...]:
        """The branches, in the order of their blocks.

        Returns
        -------
        tuple of BranchPoint
            The branches.
        """
        return tuple(s.branch for s in self.statements() if s.branch is not None)

    def stores(self) -> tuple[Store, ...]:
        """The stores, block by block.

        Returns
        -------
        tuple of Store
            Assignments to variables, items and attributes.

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
        """Whether it has a ``try``: paths from a statement that raises to a handler are not among
        the edges.
        """

    @abstractmethod
    def callees(self, call: Call) -> tuple[Any, ...]:
        """The functions one of which a call enters.

        Parameters
        ----------
        call : Call
            A call in this function.

        Returns
        -------
        tuple
            Its target, or the functions among which the function chooses, by branches or from
            tuples and dicts; empty where they are not known.

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

    @takes(Variable)
    def definitions(self, variable: Variable) -> tuple[IRStatement, ...]:
        """The statements that assign a variable.

        Once types are known the function is in static single assignment form: a variable of the
        program has a variable for each assignment, and copies where two paths join.

        Parameters
        ----------
        variable : Variable
            A variable of this function.

        Returns
        -------
        tuple of IRStatement
            The definitions.

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

    @takes(Variable)
    def uses(self, variable: Variable) -> tuple[IRStatement, ...]:
        """The statements that read a variable.

        Parameters
        ----------
        variable : Variable
            A variable of this function.

        Returns
        -------
        tuple of IRStatement
            The uses.
        """
        return tuple(s for s in self.statements() if variable in s.reads)

    @takes(Place, Place)
    def dominates(self, one: Place, other: Place) -> bool:
        """Return whether each path to one place passes another: dominance.

        Parameters
        ----------
        one, other : IRStatement, BasicBlock or int
            Two statements, or blocks or their labels.

        Returns
        -------
        bool
            Whether each path to ``other`` passes ``one``; True where they are the same place.

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

    @takes(Place, Place)
    def post_dominates(self, one: Place, other: Place) -> bool:
        """Return whether each path from one place out of the function passes another:
        post-dominance.

        An exception that no ``raise`` of the function raises is no path out of it.

        Parameters
        ----------
        one, other : IRStatement, BasicBlock or int
            Two statements, or blocks or their labels.

        Returns
        -------
        bool
            Whether each path from ``other`` passes ``one``; True where they are the same place.
        """
        return self._is_among(one, other, post_dominators(self._successors()), after=True)

    @takes(Place)
    def controls(self, place: Place) -> tuple[Edge, ...]:
        """The control dependences of a place: the edges that decide whether it runs.

        From the target of such an edge each path leads to the place; from its source not every
        path does.

        Parameters
        ----------
        place : IRStatement, BasicBlock or int
            A statement, or a block or its label.

        Returns
        -------
        tuple of Edge
            The edges, all of branches.
        """
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

    @takes(Place)
    def edges_to(self, place: Place) -> tuple[Edge, ...]:
        """The edges of branches that each path to a place takes.

        Parameters
        ----------
        place : IRStatement, BasicBlock or int
            A statement, or a block or its label.

        Returns
        -------
        tuple of Edge
            The edges, outermost first.
        """
        before = dominators(self._successors(), self.blocks()[0].label)
        above = before.get(_label(place), set())
        edges = [edge for block in self.blocks() for edge in block.edges]
        into = Counter(edge.target for edge in edges)
        found = [e for e in edges if e.condition is not None and e.target in above]
        found = [edge for edge in found if into[edge.target] == 1]
        return tuple(sorted(found, key=lambda edge: len(before[edge.target])))

    def _check(self, asked: str, kind: Any, given: object) -> None:
        """Raise an error for an argument that is not of a kind, or not of this function."""
        help = _ORIGINS.get(kind, "")
        if not isinstance(given, kind) or isinstance(given, bool):
            raise OverlayError(f"cannot use {given!r} in ir.{asked}", where=caller(), help=help)
        if isinstance(given, Variable) and not self._has(given.name):
            raise OverlayError(
                f"no variable {given.name} is in the function",
                where=caller(),
                notes=closest(near_names(given.name, self._names())),
                help=help,
            )
        if kind in (Place, IRStatement):
            label = _label(cast("Place", given))
            blocks = [block for block in self.blocks() if block.label == label]
            inside = not isinstance(given, IRStatement) or any(
                given in block.statements for block in blocks
            )
            if not (blocks and inside):
                raise OverlayError(
                    f"{given!r} is not in the function, or no longer", where=caller(), help=help
                )

    def _has(self, name: str) -> bool:
        """Whether a variable has this name, or had it before an edit removed it."""
        return name in self._names()

    def _names(self) -> set[str]:
        found = {variable.name for s in self.statements() for variable in s.reads}
        return found | {s.result.name for s in self.statements() if s.result is not None}

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


@hides("numba_type_of")
class IR(FlowGraph):
    """A function during compilation, before or after type inference.

    Edits change it in place. For an argument or a value, give a ``Variable`` of the function, or
    anything else as a constant. An edit that is not possible raises OverlayError, and changes
    nothing.

    Attributes
    ----------
    function : callable
        The function.
    interpretation : object
        The result of ``Plugin.interpreter`` of the active plugins.
    metadata : object
        That of the context for which the function is compiled; where only types are inferred,
        UNKNOWN for values that are set at run time.

    Examples
    --------
    >>> import math
    >>> from overlay.ir import read
    >>> ir = read(lambda x: math.sin(x))
    >>> (call,) = ir.calls(math.sin)
    >>> ir.replace(call, math.cos, call.args[0]).target
    <built-in function cos>
    """

    function: Callable[..., Any]
    interpretation: Any = None
    metadata: Any = None

    def __repr__(self) -> str:
        return short_repr("IR", f"of {self.name}", self.where)

    # ---- the interpretation in force ----

    @property
    def analysis(self) -> Run | None:
        """The analysis of this function in the interpretation in force, from the types of its
        arguments.

        The interpretation is a ``Domain`` of ``overlay.analysis``, and the analysis has the
        result and each call. None where no such interpretation is in force, and where the code
        cannot be analysed.
        """
        return None

    def analysed(self, call: Call) -> Step | None:
        """One call in the analysis in force, with abstract arguments and result.

        Parameters
        ----------
        call : Call
            A call in this function.

        Returns
        -------
        Step or None
            None where there is no analysis, and for a call that is never reached.
        """
        return None

    # ---- the function ----

    @property
    def name(self) -> str:
        """The function's qualified name."""
        return getattr(self.function, "__qualname__", repr(self.function))

    @property
    @abstractmethod
    def arguments(self) -> tuple[Variable, ...]:
        """The parameters."""

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
        """The calls, in the order of the source.

        Parameters
        ----------
        *targets : callable
            The targets whose calls to return; all calls without them.

        Returns
        -------
        tuple of Call
            The calls. One that an edit has removed or replaced is no longer among them.
        """

    @abstractmethod
    def raises(self) -> tuple[RaisePoint, ...]:
        """The places where it raises, in the order of the source.

        Returns
        -------
        tuple of RaisePoint
            The places, without those in a ``try`` whose handlers catch the exception.
        """

    @takes(Edge, Variable)
    def analysed_on(self, edge: Edge, variable: Variable) -> Any:
        """The abstract value of a variable on an edge, in the analysis in force.

        The domain's ``assume`` has refined it by the condition.

        Parameters
        ----------
        edge : Edge
            An edge of this function.
        variable : Variable
            A variable that is read beyond it.

        Returns
        -------
        object or None
            The abstract value. None where there is no analysis, for an edge that is never taken,
            and for a variable that is not read beyond it.
        """
        run = self.analysis
        if run is None:
            return None
        return run.edges.get((edge.source, edge.target), {}).get(variable.name)

    @abstractmethod
    def constant(self, variable: Variable) -> Any:
        """The value of a variable, if the source says it.

        Parameters
        ----------
        variable : Variable
            A variable of this function.

        Returns
        -------
        object
            The value of a literal, a global, a closure's variable, an attribute of a module, or a
            tuple of these; else UNKNOWN.
        """

    @abstractmethod
    def type_of(self, variable: Variable) -> Any:
        """The type of a variable.

        Parameters
        ----------
        variable : Variable
            A variable of this function.

        Returns
        -------
        type or None
            The type as a signature has it; None before types are known.
        """

    @abstractmethod
    def numba_type_of(self, variable: Variable) -> Any:
        """The numba type of a variable.

        Parameters
        ----------
        variable : Variable
            A variable of this function.

        Returns
        -------
        numba.types.Type or None
            The type; None before types are known.
        """

    @abstractmethod
    def is_used(self, variable: Variable) -> bool:
        """Return whether a statement reads a variable.

        Parameters
        ----------
        variable : Variable
            A variable of this function.

        Returns
        -------
        bool
            Whether there is a use.
        """

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
        """Replace a call by one of another target.

        The result of the new call replaces the old one: once types are known it is converted to
        the type of the old result.

        Parameters
        ----------
        call : Call
            A call in this function.
        target : callable
            The new callee.
        *args
            Its positional arguments: variables of the function, or constants. A None at the end
            is the ``*arguments`` of the old call, if it has such, as in ``call.args``.
        kwargs : mapping or None
            Its keyword arguments.

        Returns
        -------
        Call
            The new call.

        Raises
        ------
        OverlayError
            The edit is not possible; nothing was changed.
        """

    @abstractmethod
    def set_result(self, call: Call, value: Any) -> None:
        """Replace a call by a value; the call is not made any more.

        Parameters
        ----------
        call : Call
            A call in this function.
        value : object
            A variable of the function, or a constant.

        Raises
        ------
        OverlayError
            The edit is not possible; nothing was changed.
        """

    @abstractmethod
    def delete(self, call: Call) -> None:
        """Remove a call whose result is not used; for others see ``set_result``.

        Parameters
        ----------
        call : Call
            A call in this function.

        Raises
        ------
        OverlayError
            The result is used; nothing was changed.
        """

    @abstractmethod
    def remove(self, *statements: IRStatement) -> None:
        """Remove statements, all at once.

        Parameters
        ----------
        *statements : IRStatement
            The statements. The variables that they assign may be read by one another, and by no
            statement that stays. The end of a block cannot be removed.

        Raises
        ------
        OverlayError
            A statement cannot be removed; nothing was changed.

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
        """Replace a branch by a jump to one block.

        Blocks that are not reached any more are removed.

        Parameters
        ----------
        branch : BranchPoint
            A branch of this function.
        block : BasicBlock or int
            The block or its label, which need not be a successor of the branch.

        Raises
        ------
        OverlayError
            The edit is not possible; nothing was changed.

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
        """Insert a call before another.

        Parameters
        ----------
        call : Call
            A call in this function.
        target : callable
            The callee of the new call.
        *args
            Its arguments: variables of the function, or constants.

        Returns
        -------
        Variable
            The variable of its result.

        Raises
        ------
        OverlayError
            The edit is not possible; nothing was changed.
        """

    @abstractmethod
    def insert_after(self, call: Call, target: Any, *args: Any) -> Variable:
        """Insert a call after another, whose ``result`` can be among the arguments.

        Parameters
        ----------
        call : Call
            A call in this function.
        target : callable
            The callee of the new call.
        *args
            Its arguments: variables of the function, or constants.

        Returns
        -------
        Variable
            The variable of its result.

        Raises
        ------
        OverlayError
            The edit is not possible; nothing was changed.
        """

    @abstractmethod
    def insert_first(self, target: Any, *args: Any) -> Variable:
        """Insert a call at the start of the function, whose parameters can be among the
        arguments.

        Parameters
        ----------
        target : callable
            The callee of the new call.
        *args
            Its arguments: parameters of the function, or constants.

        Returns
        -------
        Variable
            The variable of its result.

        Raises
        ------
        OverlayError
            The edit is not possible; nothing was changed.
        """

    @abstractmethod
    def return_instead(self, raised: RaisePoint, value: Any) -> None:
        """Return a value where the function raises.

        Once types are known the value is converted to ``result_type``.

        Parameters
        ----------
        raised : RaisePoint
            A place of ``raises``.
        value : object
            A variable of the function, or a constant.

        Raises
        ------
        OverlayError
            The edit is not possible; nothing was changed.
        """


_ORIGINS: dict[Any, str] = {
    Variable: "give a Variable of the function, as in ir.arguments, call.args and call.result",
    Call: "give a call of ir.calls()",
    Edge: "give an edge of a block of ir.blocks()",
    BranchPoint: "give a branch of ir.branches()",
    RaisePoint: "give one of ir.raises()",
    IRStatement: "give a statement of ir.statements()",
    Place: "give a statement of ir.statements(), a block of ir.blocks() or its label; for a call, "
    "next(s for s in ir.statements() if s.call == call)",
}
"""Where the arguments of a graph's methods come from."""


def _label(place: Place) -> int:
    if isinstance(place, IRStatement):
        return place.block
    return place.label if isinstance(place, BasicBlock) else place


def read(function: Callable[..., Any], *types: Any) -> IR:
    """The IR of a function outside any context, to inspect.

    Parameters
    ----------
    function : callable
        A Python or @njit function.
    *types
        The types of its arguments: Python types as in signatures, or numba's. With them the other
        types are inferred.

    Returns
    -------
    IR
        The IR; edits of it have no effect on the function.

    Raises
    ------
    NotCompilable
        numba cannot read the function.

    Examples
    --------
    >>> from overlay.ir import read
    >>> read(lambda x: x * 2.0, int).result_type
    <class 'float'>
    """
    refuse_values(function, "read", "give the function first, as in read(f, float)")
    return late_binding.read_ir.load()(function, types)
