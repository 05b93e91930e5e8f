"""The front end: the blocks of Python code, read through numba.

The only module here that touches numba's internals. What it gives is plain data.
"""

from __future__ import annotations

import inspect
import operator
import re
import reprlib
import types
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numba
from numba.extending import as_numba_type

from inversion.errors import NotInvertible, WrongArguments
from overlay import NotCompilable
from overlay.code.py314 import unthreaded
from overlay.core.location import caller, shown

try:
    from numba.core import errors, ir
    from numba.core.compiler import run_frontend
    from numba.core.registry import cpu_target
    from numba.core.unsafe import eh
except ImportError as error:
    raise NotCompilable(
        f"cannot read programs with numba {numba.__version__}, whose internals are not known here",
        notes=[("numba", str(error))],
        help="install a version of numba that docs/versions.md names",
    ) from error

__all__ = [
    "ApplyOp",
    "Argument",
    "AttributeOp",
    "Build",
    "BuildList",
    "CodeBlock",
    "CopyOp",
    "Cycle",
    "First",
    "ForkOp",
    "FunctionCode",
    "Item",
    "Iterate",
    "Jump",
    "Literal",
    "Next",
    "Op",
    "Raise",
    "ReturnOp",
    "Second",
    "UnknownOp",
    "Unpack",
    "code_of",
    "jitted",
    "refused",
    "result_type",
]

WRITTEN: Final = "write it with assignments, operators, branches and calls of functions"


@dataclass(frozen=True)
class Op:
    """One statement: assigns ``name``; ``where`` is its ``file:line``."""

    name: str
    where: str


@dataclass(frozen=True)
class Argument(Op):
    """The argument at this position."""

    index: int


@dataclass(frozen=True)
class Literal(Op):
    """A constant, or what a global name or a name of an outer function stands for."""

    value: Any


@dataclass(frozen=True)
class AttributeOp(Op):
    """An attribute of a value."""

    base: str
    attribute: str


@dataclass(frozen=True)
class ApplyOp(Op):
    """A call. ``function`` is a variable's name, or the function itself where an operator is
    written; ``fallback`` is the plain operator of one that works in place."""

    function: Any
    args: tuple[str, ...]
    kwargs: dict[str, str] = field(default_factory=dict)
    fallback: Any = None


@dataclass(frozen=True)
class Derived(Op):
    """What is read off one other value."""

    source: str


class CopyOp(Derived):
    """Another name for a value."""


@dataclass(frozen=True)
class Build(Op):
    """A tuple of values."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class BuildList(Build):
    """A list of values."""


@dataclass(frozen=True)
class Item(Derived):
    """One item of a value, at a position that is written there."""

    index: Any


@dataclass(frozen=True)
class Unpack(Derived):
    """A value of so many items, taken apart."""

    count: int


class Iterate(Derived):
    """An iterator over a value."""


class Next(Derived):
    """The next item of an iterator, and whether there was one: a pair."""


class First(Derived):
    """The item of such a pair."""


class Second(Derived):
    """Whether such a pair holds an item."""


@dataclass(frozen=True)
class UnknownOp(Op):
    """A statement that has no meaning here. help: what to do about it."""

    what: str
    help: str = WRITTEN


@dataclass(frozen=True)
class ReturnOp:
    """The end of a function: the name that is returned."""

    name: str
    where: str


@dataclass(frozen=True)
class Raise:
    """The end of a path that gives nothing."""

    where: str


@dataclass(frozen=True)
class Jump:
    """On to another block."""

    label: int


@dataclass(frozen=True)
class ForkOp:
    """On to one of two blocks. join: where both ways meet again, None where only in returning."""

    condition: str
    then: int
    orelse: int
    join: int | None
    where: str


@dataclass(frozen=True)
class CodeBlock:
    """Statements without a branch, and what follows. live: the names that it reads, or leaves to
    later blocks that do."""

    ops: tuple[Op, ...]
    end: ReturnOp | Raise | Jump | ForkOp
    live: frozenset[str]


@dataclass(frozen=True)
class FunctionCode:
    """A function's blocks by label. first: where it begins. loops: by the label of their first
    block. returning: the labels from which there is a way to a return."""

    first: int
    blocks: dict[int, CodeBlock]
    loops: dict[int, Cycle]
    returning: frozenset[int]


@dataclass(frozen=True)
class Cycle:
    """A loop: its labels. after: the first label outside that every way to a return comes to, if
    there is one. simple: whether it is left from one block only, which each turn comes to."""

    labels: frozenset[int]
    after: int | None
    simple: bool


def code_of(function: types.FunctionType) -> FunctionCode:
    """The statements of a function.

    Raises NotInvertible, with the line, at what has no meaning here.
    """
    code = function.__code__
    first = shown(code.co_filename, code.co_firstlineno)
    if code.co_flags & (inspect.CO_COROUTINE | inspect.CO_GENERATOR | inspect.CO_ASYNC_GENERATOR):
        raise NotInvertible(
            f"cannot invert {function.__qualname__}: a call gives a coroutine or a generator",
            where=first,
            help="return one number",
        )
    try:
        nested = types.FunctionType(
            unthreaded(code),
            function.__globals__,
            function.__name__,
            function.__defaults__,
            function.__closure__,
        )
        nested.__kwdefaults__ = function.__kwdefaults__
        func_ir = run_frontend(nested)
    except (errors.NumbaError, errors.UnsupportedBytecodeError) as error:
        what, line = _unread(error)
        raise NotInvertible(
            f"cannot read {function.__qualname__}: {what}",
            where=first if line is None else shown(code.co_filename, line),
            help="write it with assignments, operators, branches and calls only",
        ) from error
    lifetime: Any = func_ir.variable_lifetime
    graph, live = lifetime.cfg, lifetime.livemap
    blocks: dict[int, CodeBlock] = {}
    for label in graph.nodes():
        block = func_ir.blocks[label]
        end = _end(block, _join(graph, label), code.co_filename)
        blocks[label] = CodeBlock(tuple(_ops(block, code.co_filename)), end, frozenset(live[label]))
    cycles = {loop.header: frozenset(loop.body) for loop in graph.loops().values()}
    ways = _Ways(blocks)
    loops = {header: ways.cycle(header, labels) for header, labels in cycles.items()}
    return FunctionCode(min(func_ir.blocks), blocks, loops, ways.returning)


# What stands in a program for an instruction that numba does not read.
_UNREAD: Final = {
    **{"FORMAT_WITH_SPEC": "a format spec in an f-string", "CONVERT_VALUE": "!r in an f-string"},
    **{"LOAD_BUILD_CLASS": "a class statement", "IMPORT_NAME": "an import"},
    **dict.fromkeys(("STORE_GLOBAL", "DELETE_GLOBAL"), "assignment to a global"),
    **dict.fromkeys(("MATCH_MAPPING", "MATCH_KEYS"), "a pattern of a mapping"),
    **{"MATCH_SEQUENCE": "a pattern of a sequence", "MATCH_CLASS": "a pattern of a class"},
    "UNPACK_EX": "unpacking with a star",
}


def _unread(error: Exception) -> tuple[str, int | None]:
    """What numba could not read, in words of Python, and its line where that is known."""
    text = str(error).strip().splitlines()[0]
    raised = re.search(r"\s*Raised from .* \((\d+)\)$", text)
    loc = getattr(error, "loc", None)
    line = int(raised[1]) if raised else None if loc is None else loc.line
    text = text if raised is None else text[: raised.start()]
    named = re.fullmatch(r"Use of unsupported opcode \((\w+)\) found\.?", text)
    if named is not None:
        text = f"{_UNREAD.get(named[1], named[1])} is not supported"
    return text.rstrip("."), line


class _Ways:
    """The ways between blocks, those left out that can only raise."""

    def __init__(self, blocks: Mapping[int, CodeBlock]) -> None:
        self.returns = {at for at, block in blocks.items() if isinstance(block.end, ReturnOp)}
        self.following = {at: _following(block.end) for at, block in blocks.items()}
        self.returning = frozenset(at for at in blocks if self._reached(at) & self.returns)
        self.following = {
            at: [to for to in ends if to in self.returning] for at, ends in self.following.items()
        }

    def _reached(self, start: int, without: int | None = None) -> set[int]:
        """The blocks that a way leads to, from a block on."""
        found, waiting = set[int](), [start]
        while waiting:
            at = waiting.pop()
            if at not in found and at != without:
                found.add(at)
                waiting += self.following[at]
        return found

    def cycle(self, header: int, labels: frozenset[int]) -> Cycle:
        """The loop that begins with a block, of these."""
        outside = self._reached(header) - labels
        always = [at for at in outside if not self._reached(header, at) & self.returns]
        first = [at for at in always if not (self._reached(header, at) & set(always))]
        exits = {at for at in labels for to in self.following[at] if to not in labels}
        simple = len(exits) == 1 and not any(
            header in self._reached(to, at)
            for at in exits
            for to in self.following[header]
            if at != header
        )
        return Cycle(labels, first[0] if first else None, simple)


def _following(end: ReturnOp | Raise | Jump | ForkOp) -> list[int]:
    if isinstance(end, Jump):
        return [end.label]
    return [end.then, end.orelse] if isinstance(end, ForkOp) else []


def _join(graph: Any, label: int) -> int | None:
    """The first block that every way from a block to the end goes through."""
    after = graph.post_dominators()
    meeting = after[label] - {label}
    return max(meeting, key=lambda other: len(after[other]), default=None)


def _end(block: Any, join: int | None, filename: str) -> ReturnOp | Raise | Jump | ForkOp:
    last = block.terminator
    where = shown(filename, last.loc.line)
    match last:
        case ir.Return():
            return ReturnOp(last.value.name, where)
        case ir.Jump():
            return Jump(last.target)
        case ir.Branch():
            return ForkOp(last.cond.name, last.truebr, last.falsebr, join, where)
        case ir.StaticRaise() | ir.Raise():
            return Raise(where)
        case _:
            raise refused(str(last), where)


def _ops(block: Any, filename: str) -> Iterator[Op]:
    mentioned = Counter(v.name for statement in block.body for v in statement.list_vars())
    for statement in block.body[:-1]:
        where = shown(filename, statement.loc.line)
        if not isinstance(statement, ir.Assign):
            item = isinstance(statement, (ir.SetItem, ir.StaticSetItem))
            yield UnknownOp("", where, "assignment to an item" if item else str(statement))
            continue
        once = mentioned[statement.target.name] == 1
        if once and getattr(statement.value, "op", "") == "build_tuple":
            continue  # the names of a call's keywords
        yield _op(statement.target.name, statement.value, where)


def _op(name: str, value: Any, where: str) -> Op:
    if isinstance(value, ir.Var):
        return CopyOp(name, where, value.name)
    if isinstance(value, ir.Arg):
        return Argument(name, where, value.index)
    if isinstance(value, (ir.Const, ir.Global, ir.FreeVar)):
        return _mentioned(name, where, value)
    if isinstance(value, ir.Expr):
        make = _EXPRESSIONS.get(value.op)
        if make is not None:
            return make(name, where, value)
    what = getattr(value, "op", str(value))
    return UnknownOp(name, where, _IN_WORDS.get(what, what.replace("_", " ")))


def _mentioned(name: str, where: str, value: Any) -> Op:
    """A constant, or what a name of the program stands for."""
    if value.value is ir.UNDEFINED:
        help = f"define {value.name}, or import it, before the function is inverted"
        return UnknownOp(name, where, f"the name {value.name}, which is not defined", help)
    if getattr(getattr(value.value, "_defn", None), "__module__", None) == eh.__name__:
        return UnknownOp(name, where, "try, an exception that is caught")
    return Literal(name, where, value.value)


_IN_WORDS = {
    "make_function": "a function or comprehension that is made within it",
    "undef": "a function or comprehension that is made within it",
    "build_map": "a dict",
    "build_set": "a set",
}


def _call(name: str, where: str, value: Any) -> Op:
    if value.vararg is not None or value.varkwarg is not None:
        return UnknownOp(name, where, "call with unpacked arguments")
    kwargs = {key: variable.name for key, variable in value.kws}
    return ApplyOp(name, where, value.func.name, tuple(v.name for v in value.args), kwargs)


_EXPRESSIONS: dict[str, Callable[[str, str, Any], Op]] = {
    "call": _call,
    "cast": lambda name, where, v: CopyOp(name, where, v.value.name),
    "getattr": lambda name, where, v: AttributeOp(name, where, v.value.name, v.attr),
    "build_tuple": lambda name, where, v: Build(name, where, tuple(i.name for i in v.items)),
    "build_list": lambda name, where, v: BuildList(name, where, tuple(i.name for i in v.items)),
    "getitem": lambda name, where, v: ApplyOp(
        name, where, operator.getitem, (v.value.name, v.index.name)
    ),
    "static_getitem": lambda name, where, v: Item(name, where, v.value.name, v.index),
    "exhaust_iter": lambda name, where, v: Unpack(name, where, v.value.name, v.count),
    "getiter": lambda name, where, v: Iterate(name, where, v.value.name),
    "iternext": lambda name, where, v: Next(name, where, v.value.name),
    "pair_first": lambda name, where, v: First(name, where, v.value.name),
    "pair_second": lambda name, where, v: Second(name, where, v.value.name),
    "unary": lambda name, where, v: ApplyOp(name, where, v.fn, (v.value.name,)),
    "binop": lambda name, where, v: ApplyOp(name, where, v.fn, (v.lhs.name, v.rhs.name)),
    "inplace_binop": lambda name, where, v: ApplyOp(
        name, where, v.fn, (v.lhs.name, v.rhs.name), {}, v.immutable_fn
    ),
}


def refused(what: str, where: str, help: str = WRITTEN) -> NotInvertible:
    """The error for a statement that has no meaning here. help: what to do about it."""
    return NotInvertible(
        f"cannot invert a statement of this kind: {what}",
        where=where,
        notes=[("modes available", "none")],
        help=help,
    )


def result_type(function: Any, kinds: tuple[Any, ...]) -> type | None:
    """The Python type of what a function returns for these types, where numba can tell."""
    context = cpu_target.typing_context
    cpu_target.target_context.refresh()  # what it loads says the types of more functions
    context.refresh()
    try:
        asked = tuple(as_numba_type(kind) for kind in kinds)
        signature = context.resolve_function_type(context.resolve_value_type(function), asked, {})
        found = signature.return_type
    except (errors.NumbaError, AttributeError, KeyError, TypeError, ValueError):
        return None
    return next(
        (kind for kind in (float, int, bool, complex) if as_numba_type(kind) == found), None
    )


def jitted(
    made: Any,
    example: tuple[Any, ...],
    name: str,
    where: str,
    fitted: Callable[[tuple[Any, ...]], tuple[Any, ...]] | None = None,
) -> Callable[..., Any]:
    """A dispatcher that is compiled for arguments of the types of these. Raises NotCompilable.

    fitted: makes of arguments of other types some of these. Called from Python with what does not
    fit then, it raises WrongArguments.
    """
    kinds = tuple(numba.typeof(value) for value in example)

    def again(*args: Any, **kwargs: Any) -> Callable[..., Any]:
        """What to call where no compiled code fits: there is none any more where a function that
        the code calls has been bound anew."""
        if not kwargs and tuple(map(numba.typeof, args)) == kinds:
            made.compile(kinds)
            return made
        if not kwargs and fitted is not None and len(args) == len(kinds):
            better = fitted(args)
            if tuple(map(numba.typeof, better)) == kinds:
                return lambda *_: made(*better)
        raise WrongArguments(
            f"{name}, compiled, takes values of the types {', '.join(map(str, kinds))}; "
            f"{', '.join(map(reprlib.repr, args))} were given",
            where=caller(),
            help="convert them",
        )

    try:
        made.compile(kinds)
    except errors.NumbaError as error:
        raise NotCompilable(
            f"numba cannot compile {name}: {str(error).strip().splitlines()[-1]}",
            where=where,
            help="calls stay interpreted",
        ) from error
    made._compile_for_args = again  # what a call without a fitting signature asks
    return made


def released(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that numba compiles when it is called, and that threads run at once."""
    made: Callable[..., Any] = numba.njit(nogil=True)(function)
    return made
