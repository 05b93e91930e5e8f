"""Rules of differentiation: one line of a table."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from overlay.core.jitted import give_options
from overlay.core.public_names import hides
from overlay.core.short_repr import short_repr
from overlay.core.target import describe, refuse_values

__all__ = ["Interval", "Rule", "rule", "takes_result"]

Interval = tuple[float, float]
"""Bounds between which an argument is drawn when a rule is tested. By an argument with whole
bounds that has no derivative, whole numbers are drawn.
"""


@hides("spellings", "takes_result")
class Rule(NamedTuple):
    """The partial derivatives of a function.

    Attributes
    ----------
    function : callable
        The function.
    partials : callable
        Takes the function's arguments, and its result if the last parameter is named ``ret``;
        returns the tuple of the derivatives by each argument. At a kink or a step it returns that
        of the side whose value the function has there.
    domain : tuple of (float, float)
        For each argument the bounds between which the rule is tested.
    also : tuple of callable
        Other spellings of the function.
    arrays : bool
        Whether the rule holds elementwise for arrays.
    kink : callable or None
        Returns whether the function has no derivative at these arguments.
    constant : frozenset of int
        The places of the arguments by which no derivative is known; ``partials`` has None for
        these.
    optional : frozenset of int
        The places of the arguments that may be None.

    Examples
    --------
    >>> import math
    >>> from overlay.interpretations.autodiff import rule
    >>> rule(math.sin, lambda x: (math.cos(x),), (-3.0, 3.0)).partials(0.0)
    (1.0,)
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
    """Make a rule of differentiation.

    Parameters
    ----------
    function : callable
        The function.
    partials : callable
        The derivatives by each argument, as in ``Rule``.
    *domain : (float, float)
        For each argument the bounds between which the rule is tested.
    also, kink, constant, optional
        As in ``Rule``.
    arrays : bool or None
        Whether the rule holds elementwise for arrays; None: unless the function is one of
        ``math``.

    Returns
    -------
    Rule
        The rule.

    Examples
    --------
    >>> import numpy as np
    >>> from overlay.interpretations.autodiff import rule
    >>> rule(np.exp, lambda x, ret: (ret,), (-3.0, 3.0)).takes_result
    True
    """
    refuse_values(function, "declare a rule for", "give a function, as in rule(f, partials)")
    if inspect.isfunction(partials):
        give_options(partials, error_model="numpy")  # compiled, it divides by zero without an error
    elementwise = getattr(function, "__module__", None) != "math" if arrays is None else arrays
    places = frozenset(constant), frozenset(optional)
    return Rule(function, partials, domain, also, elementwise, kink, *places)
