"""A check of calls: those below a function that no method takes, found by reading the code."""

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

if TYPE_CHECKING:
    from overlay.contexts.context import Context

__all__ = ["CallError", "CallErrors", "check_calls"]


@dataclass(frozen=True)
class CallError:
    """A call that no method takes, or for which none is the most specific.

    where: ``file:line`` of the call. function: in which it stands. error: what the call would
    raise, with the argument types and the nearest methods.
    """

    where: str
    function: Callable[..., Any]
    error: OverlayError

    def __str__(self) -> str:
        return f"{self.where}  {name_of(self.function)}: {self.error.asked}"


@dataclass(frozen=True)
class CallErrors:
    """What ``check_calls`` found. unread: functions below the call whose code cannot be read, so
    that nothing in them was looked at."""

    errors: tuple[CallError, ...]
    unread: tuple[Callable[..., Any], ...]

    def __bool__(self) -> bool:
        return bool(self.errors)

    def __str__(self) -> str:
        return "\n".join(map(str, self.errors)) or "no call without a method was found"


def check_calls(context: Context, function: Callable[..., Any], *types: Any) -> CallErrors:
    """Find every call below ``context(function, ...)`` that no method takes.

    types: of the arguments, classes or unions of them, ``object`` for any; from the annotations
    where none are given. Nothing of the program runs. A value of which only some of its possible
    classes are taken counts as an error; one of which nothing is known does not. Raises
    NotCompilable where the function's own code cannot be read.
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
    """The calls whose errors nothing handles, each once."""
    seen: set[int] = set()
    for run in runs:
        for inner in run.walk(guarded=False):
            if id(inner) not in seen:
                seen.add(id(inner))
                yield from (step for step in inner.steps if not step.catches)


def _annotated(function: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Abstract values for the parameters, by place and by name, from their annotations."""
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
    """The abstract value for an annotation, which objects of classes below it meet too."""
    found = kinds_of(hint)
    exact = isinstance(found, Kinds) and found.types <= SAMPLES.keys()
    return found if exact else TOP
