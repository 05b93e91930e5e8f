"""Code of interpretations, run without the tables that give functions another meaning.

A rule computes with unmodified functions: the derivative of ``sin`` is ``cos``, whatever method a
table has for ``cos``. So does the code around a program that an interpretation runs.
"""

from __future__ import annotations

import functools
import inspect
import itertools
import operator
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import TYPE_CHECKING, Any

from overlay.code.applied import applied
from overlay.contexts.context import Context
from overlay.contexts.current import call_next, nonoverlay, tables_in_force
from overlay.core.in_force import stack_in_force
from overlay.core.interpreted_values import interpreted_alone
from overlay.core.own_builtins import __builtins__

if TYPE_CHECKING:
    from overlay.core.table import Method, MethodTable

__all__ = [
    "alone",
    "as_c_calls",
    "context_alone",
    "in_program",
    "meets_others",
    "rules_alone",
    "runs_alone",
    "tables_of_program",
    "used_by",
]

KEPT = 256
_OPERATORS = frozenset(
    id(each) for each in vars(operator).values() if callable(each) and not isinstance(each, type)
)
_UFUNCS = frozenset(
    (
        *("add", "subtract", "multiply", "divide", "floor_divide", "remainder", "power", "square"),
        *("reciprocal", "sqrt", "negative", "positive", "absolute", "matmul", "equal", "not_equal"),
        *("less", "less_equal", "greater", "greater_equal"),
    )
)
"""The ufuncs that operators of arrays call."""


def rules_alone() -> Context:
    """The context of the tables in force that interpret, or are faithful, to be entered through
    ``nonoverlay``."""
    return context_alone(tables_in_force())


def runs_alone[**P, R](function: Callable[P, R]) -> Callable[P, R]:
    """Decorator: the function runs only with those tables in force that interpret, or are faithful.
    For functions of interpretations that a program may call in a context. They call the program's
    functions with ``in_program``.
    """

    @interpreted_alone
    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        stack = stack_in_force.get()
        if stack is None or (stack.is_alone and not stack.plugins):
            return function(*args, **kwargs)
        return stack.alone.call(function, *args, **kwargs)  # where plugins are told of it

    run.__annotations__ = function.__annotations__  # from Python 3.14 on ``wraps`` leaves out texts
    return run


def in_program[**P, R](function: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Call a function of the program from one that ``runs_alone``: with all tables in force, also
    those of the contexts that were entered in between."""
    stack = stack_in_force.get()
    if stack is None or (stack.program is stack and not stack.plugins):
        return function(*args, **kwargs)
    return stack.program.call(function, *args, **kwargs)


def tables_of_program() -> tuple[MethodTable, ...]:
    """The tables with which ``in_program`` calls a function, innermost first."""
    stack = stack_in_force.get()
    return () if stack is None else stack.program.tables


def as_c_calls(context: Context, function: Callable[..., Any], *args: Any, **named: Any) -> Any:
    """Call a function for code in C, whose operators and functions are unmodified: only with those
    tables of a context, and of the ones in force, that interpret or are faithful."""
    tables = dict.fromkeys((*tables_in_force(), *reversed(context.tables)))
    return nonoverlay(context_alone(tuple(tables)))(function, *args, **named)


def context_alone(tables: Sequence[MethodTable]) -> Context:
    """The context of those of the given tables, innermost first, that interpret or are faithful."""
    return _context(tuple(table for table in tables if table.faithful))


@functools.lru_cache(maxsize=KEPT)
def _context(tables: tuple[MethodTable, ...]) -> Context:
    return Context(*reversed(tables))


def meets_others(used: Sequence[Any], tables: Sequence[MethodTable]) -> bool:
    """Whether code that uses operators, of numbers or of arrays, and these functions meets a method
    of a table that gives them another meaning."""
    others = [table for table in tables if not table.faithful]
    if any(_is_operator(target) for table in others for target in table.targets()):
        return True
    return any(table.find(function) for table in others for function in used)


def _is_operator(target: Any) -> bool:
    """Whether operators call a target; those of arrays call ufuncs."""
    is_ufunc = type(target).__name__ == "ufunc"
    return id(target) in _OPERATORS or (is_ufunc and target.__name__ in _UFUNCS)


@functools.lru_cache(maxsize=KEPT)
def alone(
    method: Method, tables: tuple[MethodTable, ...], instead: Callable[..., Any] | None = None
) -> Callable[..., Any]:
    """A function that runs a method of an interpreting table with such tables alone. tables: those
    in force, innermost first. instead: runs in the place of the method's function."""
    kept = tuple(table for table in tables if table.faithful)
    below = _context(kept[kept.index(method.table) + 1 :])
    function: Any = instead or method.function
    space = {**function.__globals__}
    for name in [name for name, value in space.items() if value is call_next]:
        space[name] = nonoverlay(below.wrap(method.target))
    copy = FunctionType(function.__code__, space, None, function.__defaults__, function.__closure__)
    copy.__kwdefaults__ = function.__kwdefaults__
    heading, given = _parameters(function)
    own: dict[str, Any] = {_RUN: nonoverlay(_context(kept).wrap(copy))}
    exec(f"def rule({heading}): return {_RUN}({given})", own)
    own["rule"].__defaults__ = function.__defaults__
    own["rule"].__kwdefaults__ = function.__kwdefaults__
    return own["rule"]


_RUN = "__run"


def _parameters(function: Any) -> tuple[str, str]:
    """The source of the parameters of a function, of all kinds and without defaults, and that of
    the arguments that pass them on."""
    code = function.__code__
    names = iter(code.co_varnames)
    places = list(itertools.islice(names, code.co_argcount))
    only_named = list(itertools.islice(names, code.co_kwonlyargcount))
    rest = [f"*{next(names)}"] if code.co_flags & inspect.CO_VARARGS else []
    named = [f"**{next(names)}"] if code.co_flags & inspect.CO_VARKEYWORDS else []
    passed = [*places, *rest, *(f"{name}={name}" for name in only_named), *named]
    if code.co_posonlyargcount:
        places.insert(code.co_posonlyargcount, "/")
    mark = ["*"] if only_named and not rest else []
    return ", ".join([*places, *rest, *mark, *only_named, *named]), ", ".join(passed)


# ---- the functions that a rule uses -------------------------------------------------------


_ARITHMETIC = (
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv),
    *(operator.pow, operator.mod),
)


@functools.cache
def used_by(partials: Callable[..., Any]) -> tuple[Any, ...]:
    """The functions and operators that a rule uses, also through functions of this package."""
    found: list[Any] = []
    seen: set[int] = set()
    _collect(partials, found, seen)
    return tuple(found)


def _collect(function: Any, found: list[Any], seen: set[int]) -> None:
    if not callable(function) or id(function) in seen:
        return
    seen.add(id(function))
    if not inspect.isfunction(function):
        found.append(function)
        return
    found += [each for _, _, each, _ in applied(function.__code__) if each in _ARITHMETIC]
    named = inspect.getclosurevars(function)
    held = [*named.nonlocals.values(), *named.globals.values(), *named.builtins.values()]
    modules = [each for each in held if inspect.ismodule(each)]
    held += [getattr(m, n) for m in modules for n in named.unbound if hasattr(m, n)]
    for each in held:
        _collect(each, found, seen)
