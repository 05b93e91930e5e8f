"""Rules of differentiation: one line of a table."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from overlay.core.public_names import hides
from overlay.core.short_repr import short_repr
from overlay.core.target import describe

__all__ = ["Interval", "Rule", "rule", "takes_result"]

Interval = tuple[float, float]
"""Bounds between which an argument is drawn when a rule is tested; of an argument by which there is
no derivative, whole numbers are drawn where the bounds are whole."""


@hides("spellings", "takes_result")
class Rule(NamedTuple):
    """The partial derivatives of a function.

    partials: takes the function's arguments, and its result if the last parameter is named ``ret``;
    returns the tuple of the derivatives by each argument. At a kink or a step it returns that of
    the side whose value the function has there. domain: for each argument the bounds between which
    the rule is tested. also: other spellings of the function. arrays: whether the rule holds
    elementwise for arrays. kink: whether the function has no derivative at these arguments.
    constant: the places of the arguments by which no derivative is known; ``partials`` has None
    for these. optional: the places of the arguments that may be None.
    """

    function: Callable[..., Any]
    partials: Callable[..., tuple[Any, ...]]
    domain: tuple[Interval, ...]
    also: tuple[Callable[..., Any], ...]
    arrays: bool
    kink: Callable[..., bool] | None
    constant: frozenset[int]
    optional: frozenset[int]

    def __repr__(self) -> str:
        return short_repr("Rule", f"for {describe(self.function)}")

    @property
    def takes_result(self) -> bool:
        """Whether the partial derivatives are computed from the result."""
        return takes_result(self.partials)

    @property
    def spellings(self) -> tuple[Callable[..., Any], ...]:
        """The function and its other spellings."""
        return (self.function, *self.also)


def takes_result(partials: Callable[..., Any]) -> bool:
    """Whether the last parameter of a rule is the result of its function."""
    return list(inspect.signature(partials).parameters)[-1:] == ["ret"]


def rule(
    function: Callable[..., Any],
    partials: Callable[..., tuple[Any, ...]],
    *domain: Interval,
    also: tuple[Callable[..., Any], ...] = (),
    arrays: bool | None = None,
    kink: Callable[..., bool] | None = None,
    constant: Iterable[int] = (),
    optional: Iterable[int] = (),
) -> Rule:
    """Make a rule: see ``Rule``. arrays: by default true, except for functions of ``math``."""
    elementwise = getattr(function, "__module__", None) != "math" if arrays is None else arrays
    places = frozenset(constant), frozenset(optional)
    return Rule(function, partials, domain, also, elementwise, kink, *places)
