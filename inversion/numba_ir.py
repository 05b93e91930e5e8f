"""The front end: straight-line Python code in SSA form, read through numba.

The only module here that touches numba's internals. What it gives is plain data.
"""

from __future__ import annotations

import inspect
import reprlib
import types
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numba
from numba.extending import as_numba_type

from inversion.errors import NotInvertible, WrongArguments
from overlay import NotCompilable
from overlay.location import caller, shown

try:
    from numba.core import errors, ir, ssa
    from numba.core.compiler import run_frontend
    from numba.core.registry import cpu_target
except ImportError as error:
    raise NotCompilable(
        f"cannot read programs with numba {numba.__version__}, whose internals are not known here",
        notes=[("numba", str(error))],
        help="install a version of numba that docs/versions.md names",
    ) from error

__all__ = [
    "Apply",
    "Argument",
    "Attribute",
    "Copy",
    "Literal",
    "Op",
    "jitted",
    "result_type",
    "straight_line",
]


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
class Attribute(Op):
    """An attribute of a value."""

    base: str
    attribute: str


@dataclass(frozen=True)
class Apply(Op):
    """A call. ``function`` is a variable's name, or the function itself where an operator is
    written; ``fallback`` is the plain operator of one that works in place."""

    function: Any
    args: tuple[str, ...]
    kwargs: dict[str, str] = field(default_factory=dict)
    fallback: Any = None


@dataclass(frozen=True)
class Copy(Op):
    """Another name for a value."""

    source: str


def straight_line(function: types.FunctionType) -> tuple[list[Op], str]:
    """The statements of a function without control flow, and the name that it returns.

    Raises NotInvertible at the first line that branches, or does what has no meaning here.
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
        func_ir = ssa.reconstruct_ssa(run_frontend(function))
    except (errors.NumbaError, errors.UnsupportedBytecodeError) as error:
        loc = getattr(error, "loc", None)
        raise NotInvertible(
            f"cannot read {function.__qualname__}: {str(error).strip().splitlines()[0]}",
            where=first if loc is None else shown(code.co_filename, loc.line),
            help="write it with assignments, operators and calls only",
        ) from error
    block = func_ir.blocks[min(func_ir.blocks)]
    last = block.terminator
    if not isinstance(last, ir.Return):
        raise NotInvertible(
            f"cannot invert {function.__qualname__}: it branches or loops",
            where=shown(code.co_filename, last.loc.line),
            help="programs without control flow are inverted; move the branch out of the function",
        )
    ops = list(_ops(block, code.co_filename))
    _all_defined(ops, last.value.name, shown(code.co_filename, last.loc.line))
    return ops, last.value.name


def _all_defined(ops: list[Op], returned: str, where: str) -> None:
    """Refuse names without a value: numba drops one of the two that ``:=`` gives."""
    defined: set[str] = set()
    for op in ops:
        if not defined.issuperset(_reads(op)):
            raise _refused("assignment within an expression", op.where)
        defined.add(op.name)
    if returned not in defined:
        raise _refused("assignment within an expression", where)


def _reads(op: Op) -> tuple[str, ...]:
    match op:
        case Copy(source=name) | Attribute(base=name):
            return (name,)
        case Apply(function=function, args=args, kwargs=kwargs):
            called = (function,) if isinstance(function, str) else ()
            return (*called, *args, *kwargs.values())
        case _:
            return ()


def _ops(block: Any, filename: str) -> Iterator[Op]:
    mentioned = Counter(v.name for statement in block.body for v in statement.list_vars())
    for statement in block.body[:-1]:
        where = shown(filename, statement.loc.line)
        if isinstance(statement, ir.Del):
            continue
        if not isinstance(statement, ir.Assign):
            raise _refused(str(statement), where)
        once = mentioned[statement.target.name] == 1
        if once and getattr(statement.value, "op", "") == "build_tuple":
            continue  # the names of a call's keywords
        yield _op(statement.target.name, statement.value, where)


def _op(name: str, value: Any, where: str) -> Op:
    if isinstance(value, ir.Var):
        return Copy(name, where, value.name)
    if isinstance(value, ir.Arg):
        return Argument(name, where, value.index)
    if isinstance(value, (ir.Const, ir.Global, ir.FreeVar)):
        return Literal(name, where, value.value)
    if isinstance(value, ir.Expr):
        make = _EXPRESSIONS.get(value.op)
        if make is not None:
            return make(name, where, value)
    raise _refused(getattr(value, "op", str(value)).replace("_", " "), where)


def _call(name: str, where: str, value: Any) -> Op:
    if value.vararg is not None or value.varkwarg is not None:
        raise _refused("call with unpacked arguments", where)
    kwargs = {key: variable.name for key, variable in value.kws}
    return Apply(name, where, value.func.name, tuple(v.name for v in value.args), kwargs)


_EXPRESSIONS: dict[str, Callable[[str, str, Any], Op]] = {
    "call": _call,
    "cast": lambda name, where, v: Copy(name, where, v.value.name),
    "getattr": lambda name, where, v: Attribute(name, where, v.value.name, v.attr),
    "unary": lambda name, where, v: Apply(name, where, v.fn, (v.value.name,)),
    "binop": lambda name, where, v: Apply(name, where, v.fn, (v.lhs.name, v.rhs.name)),
    "inplace_binop": lambda name, where, v: Apply(
        name, where, v.fn, (v.lhs.name, v.rhs.name), {}, v.immutable_fn
    ),
}


def _refused(what: str, where: str) -> NotInvertible:
    return NotInvertible(
        f"cannot invert a statement of this kind: {what}",
        where=where,
        notes=[("modes available", "none")],
        help="write it with assignments, operators and calls of functions",
    )


def result_type(function: Any, kinds: tuple[Any, ...]) -> type | None:
    """The Python type of what a function returns for these types, where numba can tell."""
    context = cpu_target.typing_context
    context.refresh()
    try:
        asked = tuple(as_numba_type(kind) for kind in kinds)
        signature = context.resolve_function_type(context.resolve_value_type(function), asked, {})
        found = signature.return_type
    except (errors.NumbaError, AttributeError, KeyError, TypeError, ValueError):
        return None
    return next((kind for kind in (float, int, bool) if as_numba_type(kind) == found), None)


def jitted(
    function: Callable[..., Any], example: tuple[Any, ...], name: str, where: str
) -> Callable[..., Any]:
    """A function compiled for arguments of the types of these. Raises NotCompilable.

    Called from Python with arguments of other types, it raises WrongArguments.
    """
    made = numba.njit(function)
    kinds = tuple(numba.typeof(value) for value in example)

    def again(*args: Any, **kwargs: Any) -> Callable[..., Any]:
        """What to call where no compiled code fits: there is none any more where a function that
        the code calls has been bound anew."""
        if not kwargs and tuple(map(numba.typeof, args)) == kinds:
            made.compile(kinds)
            return made
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
