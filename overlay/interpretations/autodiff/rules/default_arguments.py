"""Forms of one call: without the arguments that are the defaults of their parameters, and with the
others by position."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

__all__ = ["in_places", "without_defaults"]


def without_defaults(
    signature: inspect.Signature,
    args: Sequence[Any],
    named: dict[str, Any],
    value_of: Callable[[Any], Any],
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call without those that are their parameters' defaults: a form of a call
    that a rule or a compiler knows may be written with these.

    value_of: the value of an argument; ``inspect.Parameter.empty`` if it is unknown. A default
    before an argument that is given by position stays.
    """
    defaults = {name: each.default for name, each in signature.parameters.items()}
    positional = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    places = [each.default for each in signature.parameters.values() if each.kind in positional]
    left = list(args)
    while left and len(left) <= len(places) and _is(value_of(left[-1]), places[len(left) - 1]):
        left.pop()
    kept = {
        name: x
        for name, x in named.items()
        if name not in defaults or not _is(value_of(x), defaults[name])
    }
    return left, kept


def in_places(
    signature: inspect.Signature, args: Sequence[Any], named: dict[str, Any], value_of: Any
) -> tuple[list[Any], dict[str, Any]]:
    """The arguments of a call without defaults, by position up to the first that is left out."""
    try:
        bound = signature.bind(*args, **named)
    except TypeError:
        return list(args), named
    for name, parameter in signature.parameters.items():
        if name in bound.arguments and _is(value_of(bound.arguments[name]), parameter.default):
            del bound.arguments[name]
    return list(bound.args), dict(bound.kwargs)


def _is(value: Any, default: Any) -> bool:
    """Whether the value of an argument is the default of its parameter."""
    if value is inspect.Parameter.empty or default is inspect.Parameter.empty:
        return False
    plain = (bool, int, float, str)
    return value is default or (
        type(value) is type(default) and isinstance(value, plain) and value == default
    )
