"""A tester of rules, which compares partial derivatives with finite differences; public, for the
user's rules."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from overlay import MethodTable, OverlayError
from overlay.core.short_repr import counted
from overlay.core.target import describe
from overlay.interpretations.autodiff.partial_derivatives import PartialsOf
from overlay.interpretations.autodiff.rules import Rule
from overlay.interpretations.autodiff.rules.rule import Interval, rule

__all__ = ["WrongRule", "check_rule", "check_rules"]

COMPLEX_STEP = 1e-30
"""A step so small that analytic functions lose no digits."""


class WrongRule(OverlayError, AssertionError):
    """A rule differs from the derivative of its function."""


def check_rule(
    checked: Rule, *, samples: int = 50, seed: int = 0, rtol: float = 1e-5
) -> tuple[int, int]:
    """Compare the partial derivatives of a function with finite differences, at random arguments
    in its domain.

    They are compared with central differences, within ``rtol``, and, if the function is an
    analytic one of complex numbers, with complex steps, within 1e-10.

    Parameters
    ----------
    checked : Rule
        The rule.
    samples : int
        The number of argument tuples.
    seed : int
        The seed of the arguments.
    rtol : float
        The relative tolerance of central differences.

    Returns
    -------
    (int, int)
        The numbers of partial derivatives compared with central differences and with complex
        steps.

    Raises
    ------
    WrongRule
        A derivative is wrong, or none was compared.

    Examples
    --------
    >>> from overlay.interpretations.autodiff import rule
    >>> from overlay.interpretations.autodiff.testing import check_rule
    >>> def cube(x):
    ...     return x * x * x
    >>> check_rule(rule(cube, lambda a: (3 * a * a,), (-2.0, 2.0)), samples=10)
    (10, 10)

    References
    ----------
    W. Squire and G. Trapp, "Using complex variables to estimate derivatives of real functions",
    SIAM Review 40, 1998.
    """
    rng = np.random.default_rng(seed)
    central = exact = 0
    for _ in range(samples):
        values = [_drawn(checked, place, rng) for place in range(len(checked.domain))]
        if checked.kink is not None and checked.kink(*values):
            continue
        found = _partials(checked, values)
        for place in set(range(len(values))) - checked.constant:
            slope = _central(checked, values, place)
            _compare(checked, values, place, found[place], slope, rtol)
            central += 1
            step = _complex(checked, values, place)
            if step is not None and math.isclose(step, slope, rel_tol=1e-3, abs_tol=1e-3):
                _compare(checked, values, place, found[place], step, 1e-10)
                exact += 1
    if not central:
        raise WrongRule(
            f"no partial derivative of {describe(checked.function)} could be checked",
            help="give the rule a domain in which the function has derivatives",
        )
    return central, exact


def check_rules(table: MethodTable, *domain: Interval, samples: int = 50, seed: int = 0) -> int:
    """Check every method of ``partials_of(f)`` in a table.

    Parameters
    ----------
    table : MethodTable
        The table of rules.
    *domain : (float, float)
        Bounds of each argument; by default 0.2 and 0.9.
    samples, seed : int
        As for ``check_rule``.

    Returns
    -------
    int
        The number of partial derivatives compared.

    Raises
    ------
    WrongRule
        A derivative is wrong, or none was compared.
    """
    compared = 0
    for target in table.targets():
        if isinstance(target, PartialsOf):
            for method in table.methods(target):
                arity = len(inspect.signature(method.function).parameters)
                bounds = domain or ((0.2, 0.9),) * arity
                made = rule(target.function, method.function, *bounds)
                compared += check_rule(made, samples=samples, seed=seed)[0]
    return compared


def _drawn(checked: Rule, place: int, rng: np.random.Generator) -> float:
    """A random argument in the domain of a rule."""
    low, high = checked.domain[place]
    if place in checked.constant and isinstance(low, int) and isinstance(high, int):
        return int(rng.integers(low, high, endpoint=True))
    return float(rng.uniform(low, high))


def _partials(checked: Rule, values: Sequence[float]) -> Sequence[float]:
    given = (*values, checked.function(*values)) if checked.takes_result else values
    found = [math.nan if each is None else float(each) for each in checked.partials(*given)]
    if len(found) != len(values):
        raise WrongRule(
            f"the rule of {describe(checked.function)} gives "
            f"{counted(len(found), 'partial derivative')}",
            help=f"give one for each of its {len(values)} arguments",
        )
    return found


def _moved(values: Sequence[float], place: int, step: Any) -> list[Any]:
    return [value + step if i == place else value for i, value in enumerate(values)]


def _central(checked: Rule, values: Sequence[float], place: int) -> float:
    """The Richardson extrapolation of two central differences."""
    step = 1e-3 * max(1.0, abs(values[place])) * 0.1
    f: Callable[..., Any] = checked.function

    def slope(h: float) -> float:
        return float(f(*_moved(values, place, h)) - f(*_moved(values, place, -h))) / (2 * h)

    return (4 * slope(step / 2) - slope(step)) / 3


def _complex(checked: Rule, values: Sequence[float], place: int) -> float | None:
    """The derivative by a step along the imaginary axis; None if the function does not take complex
    numbers."""
    try:
        with warnings.catch_warnings(action="error"):
            moved = checked.function(*_moved(values, place, COMPLEX_STEP * 1j))
    except (TypeError, ValueError, Warning):
        return None
    if not isinstance(moved, complex):
        return None
    return float(moved.imag) / COMPLEX_STEP


def _compare(
    checked: Rule,
    values: Sequence[float],
    place: int,
    found: float,
    wanted: float,
    rtol: float,
) -> None:
    if math.isclose(found, wanted, rel_tol=rtol, abs_tol=rtol * max(1.0, abs(wanted))):
        return
    raise WrongRule(
        f"the rule of {describe(checked.function)} gives {found!r} by argument {place}, and not "
        f"{wanted!r}, at {tuple(values)!r}",
        help="correct the rule, or its domain where the function has no derivative there",
    )
