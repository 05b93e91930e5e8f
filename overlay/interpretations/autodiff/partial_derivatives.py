"""Partial derivatives as methods of the target ``partials_of(f)``, and adjoints of
``adjoint_of(f)``.

The methods of ``partials_of(f)`` take f's arguments and return the tuple of its partial
derivatives there. A user's table defines them for the user's functions:

>>> from overlay import MethodTable
>>> from overlay.interpretations.autodiff import derivative, partials_of
>>> def fahrenheit(celsius: float) -> float:
...     return celsius * 1.8 + 32
>>> table = MethodTable("units")
>>> @table.overlay(partials_of(fahrenheit))
... def slope(celsius: float):
...     return (1.8,)
>>> derivative(fahrenheit, rules=table)(20.0)
1.8
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np

from overlay import MethodTable, OverlayError
from overlay.core.location import caller
from overlay.core.public_names import hides
from overlay.core.target import canonical, describe, key_of_target
from overlay.interpretations.autodiff.duals import primal
from overlay.interpretations.autodiff.errors import (
    NotDifferentiable,
    asked_of_count,
    asked_of_shape,
)
from overlay.interpretations.autodiff.levels import written

__all__ = [
    "AdjointOf",
    "PartialsOf",
    "ResidualsOf",
    "adjoint_of",
    "broadcasts",
    "counted",
    "counted_lines",
    "fitting",
    "have_adjoints",
    "partials_of",
    "residuals_of",
]


@hides("kind")
class _RuleOf:
    """A target that represents a rule of a function."""

    kind = ""

    def __init__(self, function: Any) -> None:
        self.function = function
        self.__name__ = f"{self.kind}_of({describe(function)})"

    def __repr__(self) -> str:
        return self.__name__

    def __overlay_key__(self) -> Hashable:
        return self.kind, key_of_target(self.function)

    def __call__(self, *args: Any) -> Any:
        raise OverlayError(
            f"{self} is a target for method tables, and is not called",
            where=caller(),
            help=f"Context(table).method({self}, *types) finds the method",
        )


class PartialsOf(_RuleOf):
    """The target that represents a function's partial derivatives; made by ``partials_of``.

    Examples
    --------
    >>> import math
    >>> from overlay.interpretations.autodiff import partials_of
    >>> partials_of(math.sin)
    partials_of(math.sin)
    """

    kind = "partials"


class AdjointOf(_RuleOf):
    """The target that represents a function's adjoint; made by ``adjoint_of``.

    Examples
    --------
    >>> import math
    >>> from overlay.interpretations.autodiff import adjoint_of
    >>> adjoint_of(math.sin)
    adjoint_of(math.sin)
    """

    kind = "adjoint"


class ResidualsOf(_RuleOf):
    """The target that represents a function's run with residuals; made by ``residuals_of``.

    Examples
    --------
    >>> import math
    >>> from overlay.interpretations.autodiff import residuals_of
    >>> residuals_of(math.sin)
    residuals_of(math.sin)
    """

    kind = "residuals"


def partials_of(function: Callable[..., Any]) -> PartialsOf:
    """The target for a function's partial derivatives.

    A method of it takes the arguments of ``function``, and returns the tuple of its partial
    derivatives there, one for each argument.

    Parameters
    ----------
    function : callable
        The function to which the rule belongs.

    Returns
    -------
    PartialsOf
        The target; tables treat all targets of one function as the same.

    Examples
    --------
    >>> from overlay import MethodTable
    >>> from overlay.interpretations.autodiff import gradient, partials_of
    >>> def scale(x: float, by: float) -> float:
    ...     return x * by
    >>> table = MethodTable("rules")
    >>> @table.overlay(partials_of(scale))
    ... def partials(x: float, by: float):
    ...     return by, x
    >>> gradient(scale, rules=table)(2.0, 3.0)
    (3.0, 2.0)
    """
    return PartialsOf(canonical(function))


def adjoint_of(function: Callable[..., Any]) -> AdjointOf:
    """The target for a function's adjoint.

    A method of it takes the adjoint of the result of ``function``, a number or an array, and then
    the arguments, and returns the tuple of the adjoints of the arguments.

    Parameters
    ----------
    function : callable
        The function to which the rule belongs.

    Returns
    -------
    AdjointOf
        The target; tables treat all targets of one function as the same.

    Examples
    --------
    >>> from overlay import MethodTable
    >>> from overlay.interpretations.autodiff import adjoint_of, gradient
    >>> def scale(x: float, by: float) -> float:
    ...     return x * by
    >>> table = MethodTable("rules")
    >>> @table.overlay(adjoint_of(scale))
    ... def adjoint(d: float, x: float, by: float):
    ...     return d * by, d * x
    >>> gradient(scale, rules=table, mode="reverse")(2.0, 3.0)
    (3.0, 2.0)
    """
    return AdjointOf(canonical(function))


def counted_lines(target: Any, rule: Any, count: int) -> list[str]:
    """The lines of generated code that raise unless a user's rule gave ``p``, a derivative for each
    of ``count`` arguments."""
    asked = asked_of_count(target, rule, count)
    return [f"    if len(p) != {count}:", f"        raise NotDifferentiable({asked!r})"]


def fitting(target: Any) -> Callable[[Any, Any], Any]:
    """A function of a derivative that a user's rule gave and of the argument by which it is: the
    derivative. It raises unless that is of the argument's shape, and real where the argument is."""
    asked = (
        f"the rule of {target} has to give derivatives of the shapes of the arguments, "
        "and real ones of real arguments"
    )
    return _fitted("p is None or np.shape(p) != np.shape(x)", asked)


def broadcasts(target: Any, rule: Any) -> Callable[[Any, Any], Any]:
    """A function of a derivative that a user's rule gave in forward mode and of the result: the
    derivative. It raises where the result has fewer dimensions, or is real and that is not."""
    source = "q, y = primal(p), primal(x)"
    return _fitted("len(np.shape(q)) > len(np.shape(y))", asked_of_shape(target, rule), source)


def _fitted(differs: str, asked: str, before: str = "q, y = p, x") -> Callable[[Any, Any], Any]:
    source = (
        "def method(p, x):\n"
        f"    {before}\n"
        f"    if {differs} or (\n"
        "        np.iscomplexobj(q) and not np.iscomplexobj(y)\n"
        "    ):\n"
        f"        raise NotDifferentiable({asked!r})\n"
        "    return p\n"
    )
    space = {"np": np, "primal": primal, "NotDifferentiable": NotDifferentiable}
    fitted = written(source, None, **space)
    fitted.__name__ = fitted.__qualname__ = "fitted"
    return fitted


def counted(rule: Any, target: Any, count: int, before: int) -> Any:
    """The rule of a function of ``count`` arguments, which raises unless it gives as many
    derivatives. before: how many arguments it takes before those of the function."""
    given = ", ".join(f"a{i}" for i in range(before + count))
    lines = [f"def method({given}):", f"    p = rule({given})", *counted_lines(target, rule, count)]
    source = "\n".join([*lines, "    return p"])
    method = written(source, None, rule=rule, NotDifferentiable=NotDifferentiable)
    method.__name__ = method.__qualname__ = rule.__name__
    return method


def have_adjoints(tables: Sequence[MethodTable]) -> bool:
    """Whether tables have rules of adjoints, which only reverse mode uses."""
    kinds = (AdjointOf, ResidualsOf)
    return any(isinstance(target, kinds) for table in tables for target in table.targets())


def residuals_of(function: Callable[..., Any]) -> ResidualsOf:
    """The target for a run of a function that keeps residuals for its adjoint.

    A method of it takes the arguments of ``function``, and returns its result and the values that
    its adjoint needs of this run. A method of ``adjoint_of(function)`` then takes the adjoint of
    the result, these residuals, and the arguments.

    Parameters
    ----------
    function : callable
        The function to which the rule belongs.

    Returns
    -------
    ResidualsOf
        The target; tables treat all targets of one function as the same.

    Examples
    --------
    >>> import math
    >>> from overlay import MethodTable
    >>> from overlay.interpretations.autodiff import adjoint_of, gradient, residuals_of
    >>> def bump(x: float) -> float:
    ...     return math.exp(-x * x)
    >>> table = MethodTable("rules")
    >>> @table.overlay(residuals_of(bump))
    ... def run(x: float):
    ...     y = math.exp(-x * x)
    ...     return y, y
    >>> @table.overlay(adjoint_of(bump))
    ... def adjoint(d: float, y: float, x: float):
    ...     return (-2 * x * y * d,)
    >>> gradient(bump, rules=table, mode="reverse")(0.0)
    -0.0
    """
    return ResidualsOf(canonical(function))
