"""What one line of the tables of rules says."""

from __future__ import annotations

import functools
import inspect
import operator
from collections.abc import Callable
from typing import Any, NamedTuple

from overlay.code.decoding import decoded, operator_of

__all__ = ["Interval", "Rule", "rule", "takes_result", "used_by"]

Interval = tuple[float, float]
"""Bounds between which an argument is drawn when a rule is checked."""


class Rule(NamedTuple):
    """The partial derivatives of a function.

    partials: takes the function's arguments, and what it gives where its last parameter is
    named ``ret``; gives the derivative by each argument. At a kink or a step it gives that of
    the side whose value the function gives there.
    domain: for each argument the bounds between which the rule is checked.
    also: other spellings of the function. arrays: whether the rule holds for each element of
    arrays. kink: whether the function has no derivative at these arguments.
    """

    function: Callable[..., Any]
    partials: Callable[..., tuple[Any, ...]]
    domain: tuple[Interval, ...]
    also: tuple[Callable[..., Any], ...]
    arrays: bool
    kink: Callable[..., bool] | None

    @property
    def takes_result(self) -> bool:
        """Whether the partial derivatives are computed with the result."""
        return takes_result(self.partials)

    @property
    def spellings(self) -> tuple[Callable[..., Any], ...]:
        """The function under all its names."""
        return (self.function, *self.also)


def takes_result(partials: Callable[..., Any]) -> bool:
    """Whether the last parameter of a rule stands for what its function gives."""
    return list(inspect.signature(partials).parameters)[-1:] == ["ret"]


_OPERATORS = (
    *(operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv),
    *(operator.pow, operator.mod),
)


@functools.cache
def used_by(partials: Callable[..., Any]) -> tuple[Any, ...]:
    """The functions and operators that a rule computes with, also through functions of ours."""
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
    applied = map(operator_of, decoded(function.__code__))
    found += [each[0] for each in applied if each is not None and each[0] in _OPERATORS]
    named = inspect.getclosurevars(function)
    held = [*named.nonlocals.values(), *named.globals.values(), *named.builtins.values()]
    modules = [each for each in held if inspect.ismodule(each)]
    held += [getattr(m, n) for m in modules for n in named.unbound if hasattr(m, n)]
    for each in held:
        _collect(each, found, seen)


def rule(
    function: Callable[..., Any],
    partials: Callable[..., tuple[Any, ...]],
    *domain: Interval,
    also: tuple[Callable[..., Any], ...] = (),
    arrays: bool | None = None,
    kink: Callable[..., bool] | None = None,
) -> Rule:
    """One line of a table. arrays: left out, a rule is for arrays unless it is of ``math``."""
    elementwise = getattr(function, "__module__", None) != "math" if arrays is None else arrays
    return Rule(function, partials, domain, also, elementwise, kink)
