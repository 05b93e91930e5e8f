"""Static check of calls: finds those below a function that no method accepts."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from overlay.analysis.abstract_values import TOP
from overlay.analysis.interpreter import Interpreter
from overlay.analysis.kind_functions import SAMPLES
from overlay.analysis.kinds import Kinds, Types, kinds_of
from overlay.analysis.runs import Run, Step
from overlay.core.errors import AmbiguousMethod, MethodNotFound, OverlayError
from overlay.core.location import location_of, name_of
from overlay.core.markup import code, facts, listed, place, sheet
from overlay.core.short_repr import counted, short_repr

if TYPE_CHECKING:
    from overlay.contexts.context import Context

__all__ = ["CallError", "CallErrors", "check_calls"]


@dataclass(frozen=True)
class CallError:
    """A call that no method accepts, or for which none is the most specific.

    Attributes
    ----------
    where
        ``file:line`` of the call.
    function
        The function that contains the call.
    error
        The exception that the call would raise, with the argument types and the nearest methods.

    Examples
    --------
    >>> from overlay import Context
    >>> from overlay.analysis import check_calls
    >>> (found,) = check_calls(Context(), lambda x: x + "a", int).errors
    >>> found.error.asked
    'add(int, str) has no method'
    """

    where: str
    function: Callable[..., Any]
    error: OverlayError

    def __repr__(self) -> str:
        return short_repr("CallError", f"{name_of(self.function)}: {self.error.asked}", self.where)

    def __str__(self) -> str:
        return f"{self.where}  {name_of(self.function)}: {self.error.asked}"


@dataclass(frozen=True)
class CallErrors:
    """Result of ``check_calls``; false if there are no errors.

    Attributes
    ----------
    errors
        A ``CallError`` for each call that would raise.
    unread
        Functions below the call whose code cannot be read, so that calls in them are not checked.

    Examples
    --------
    >>> from overlay import Context
    >>> from overlay.analysis import check_calls
    >>> print(check_calls(Context(), lambda x: x + 1, int))
    no call without a method was found
    """

    errors: tuple[CallError, ...]
    unread: tuple[Callable[..., Any], ...]

    def __repr__(self) -> str:
        return short_repr("CallErrors", counted(len(self.errors), "error"))

    def _repr_html_(self) -> str:
        found = counted(len(self.errors), "error") if self.errors else str(self)
        errors = listed(
            ("where", "function", "error", ""),
            self.errors,
            lambda each: (
                place(each.where),
                code(name_of(each.function)),
                each.error.asked,
                facts(*each.error.notes),
            ),
        )
        unread = listed(("not checked",), self.unread, lambda each: (code(name_of(each)),))
        return sheet("calls without a method", "", found, errors, unread)

    def __bool__(self) -> bool:
        return bool(self.errors)

    def __str__(self) -> str:
        return "\n".join(map(str, self.errors)) or "no call without a method was found"


def check_calls(context: Context, function: Callable[..., Any], *types: Any) -> CallErrors:
    """Find every call below ``context(function, ...)`` that no method accepts.

    Nothing of the program runs. A call is an error if any of the possible classes of an argument
    is not accepted; an argument of which nothing is known counts as accepted.

    Parameters
    ----------
    context
        The context in which the call is made.
    function
        A Python, @njit or generic function.
    *types
        Types of the arguments: classes or unions of them, ``object`` for any. By default they are
        taken from the annotations.

    Returns
    -------
    CallErrors
        The errors, and the functions that were not checked.

    Raises
    ------
    NotCompilable
        If the function's own code cannot be read.

    Examples
    --------
    >>> from overlay import Context
    >>> from overlay.analysis import check_calls
    >>> found = check_calls(Context(), lambda x: x + "a", int)
    >>> [error.error.asked for error in found.errors]
    ['add(int, str) has no method']
    """
    domain = Types()
    interpreter = Interpreter(domain, context)
    args, kwargs = (tuple(map(kinds_of, types)), {}) if types else _annotated(function)
    runs: list[Run] = []
    found: dict[tuple[Any, str], CallError] = {}
    for given in domain.alternatives(args):
        try:
            runs += interpreter.enter(function, *given, **kwargs)[1]
        except (AmbiguousMethod, MethodNotFound) as error:
            found[None, error.asked] = CallError(location_of(function), function, error)
    for step in _reached(runs):
        for error in step.errors:
            key = id(step.statement), error.asked
            found.setdefault(key, CallError(step.where, step.caller, error))
    return CallErrors(tuple(found.values()), interpreter.unread)


def _reached(runs: list[Run]) -> Iterator[Step]:
    """Yield the calls whose errors no handler catches, each once."""
    seen: set[int] = set()
    for run in runs:
        for inner in run.walk(guarded=False):
            if id(inner) not in seen:
                seen.add(id(inner))
                yield from (step for step in inner.steps if TypeError not in step.catches)


def _annotated(function: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Abstract values of the parameters, positional and keyword-only, from their annotations."""
    plain = getattr(function, "py_func", function)
    code = getattr(plain, "__code__", None)
    if code is None:
        return (), {}
    try:
        hints = typing.get_type_hints(plain)
    except (NameError, AttributeError, SyntaxError, TypeError):
        hints = {}
    values = {name: _declared(hints[name]) if name in hints else TOP for name in code.co_varnames}
    placed = code.co_varnames[: code.co_argcount]
    named = code.co_varnames[code.co_argcount :][: code.co_kwonlyargcount]
    return tuple(values[name] for name in placed), {name: values[name] for name in named}


def _declared(hint: Any) -> Any:
    """The abstract value of an annotation. It is exact only for builtin classes: for others,
    objects of subclasses may be given."""
    found = kinds_of(hint)
    exact = isinstance(found, Kinds) and found.types <= SAMPLES.keys()
    return found if exact else TOP
