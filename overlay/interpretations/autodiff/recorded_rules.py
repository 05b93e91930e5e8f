"""The user's rules of adjoints on a tape: methods of ``adjoint_of(f)``, with those of
``residuals_of(f)``."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from overlay import Context, call_next, nonoverlay
from overlay.core.signature import array_type
from overlay.interpretations.autodiff.applying import called_in_levels
from overlay.interpretations.autodiff.level_results import parts_of_result, through
from overlay.interpretations.autodiff.levels import Level, declare
from overlay.interpretations.autodiff.partial_derivatives import (
    AdjointOf,
    ResidualsOf,
    adjoint_of,
    counted,
    fitting,
    residuals_of,
)
from overlay.interpretations.autodiff.plain_values import is_container, plain

__all__ = ["copied", "declare_adjoints", "record", "type_of_value"]


def declare_adjoints(level: Level) -> None:
    """Declare the methods of a level on a tape for functions whose adjoints have rules."""
    context = Context(*level.rules)
    targets = [target for table in level.rules for target in table.targets()]
    functions = [t.function for t in targets if isinstance(t, (AdjointOf, ResidualsOf))]
    for function in dict.fromkeys(functions):
        level.later(function, _declare_adjoint, context, function)


def _declare_adjoint(level: Level, context: Context, function: Any) -> None:
    recorded = nonoverlay(functools.partial(_recorded, level, context, function))

    def method(*args: Any) -> Any:
        found = recorded(args)
        return call_next(*args) if found is None else found

    declare(level.table, function, method, ())


def _recorded(level: Level, context: Context, function: Any, args: Sequence[Any]) -> Any:
    own = (level.number, level.array)
    if not any(isinstance(x, own) for x in args):
        return None
    values = [x.value if isinstance(x, own) else x for x in args]
    places = [i for i, x in enumerate(args) if isinstance(x, own)]
    found = _run(context, function, [copied(x) for x in values], places)
    return None if found is None else record(level, args, *found)


def copied(x: Any) -> Any:
    """An argument; a copy, if it is an array, into which the program may write."""
    return x.copy() if isinstance(x, np.ndarray) else x


def record(level: Level, args: Sequence[Any], ret: Any, back: Callable[..., Sequence[Any]]) -> Any:
    """The active result of a call, with a map on the tape. ret: its values: a number, an array, or
    a tuple of these. back: maps the cotangents of these to those of the arguments."""
    own = (level.number, level.array)
    places = [i for i, x in enumerate(args) if isinstance(x, own)]
    sources = [args[i].tangents[0] for i in places]

    def pulled(*ds: Any) -> list[Any]:
        found = back(*ds)
        return [found[i] for i in places]

    parts = list(parts_of_result(ret))
    tangents = iter(sources[0].tape.record(parts, sources, pulled))

    def made(part: Any) -> Any:
        if is_container(part):
            return through(part, made)
        kind = level.array if np.ndim(plain(part)) else level.number
        return kind(part, (next(tangents),))

    return made(ret)


def _run(
    context: Context, function: Any, args: Sequence[Any], places: Sequence[int]
) -> tuple[Any, Callable[[Any], list[Any]]] | None:
    """The result of a function, and the map from its adjoint to those of its arguments, by the
    user's rule, checked at the places of active ones; None if there is none for these
    arguments."""
    types = [type_of_value(a) for a in args]
    run = context.method(residuals_of(function), *types)
    more: tuple[Any, ...] = ()
    if run is None:
        ret = called_in_levels(function, *args)
    else:
        ret, residuals = called_in_levels(run.function, *args)
        more = (residuals,)
    of_more = [type_of_value(each) for each in more]
    back = context.method(adjoint_of(function), type_of_value(ret), *of_more, *types)
    if back is None:
        return None
    rule = counted(back.function, adjoint_of(function), len(args), 1 + len(more))
    fitted = fitting(adjoint_of(function))

    def pulled(d: Any) -> list[Any]:
        found = rule(d, *more, *args)
        return [
            fitted(p, x) if i in places else p
            for i, (p, x) in enumerate(zip(found, args, strict=True))
        ]

    return ret, pulled


def type_of_value(value: Any) -> Any:
    """The type of a value without tangents, as dispatch sees it."""
    value = plain(value)
    if type(value) is np.ndarray:
        return array_type(value.dtype.type, value.ndim)
    return float if type(value) is np.float64 else type(value)
