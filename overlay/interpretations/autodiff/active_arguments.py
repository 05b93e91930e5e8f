"""Arguments of derivatives: the active ones, as floats or arrays of floats."""

from __future__ import annotations

import functools
import inspect
import numbers
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from overlay import MethodTable
from overlay.core.location import caller, name_of
from overlay.interpretations.autodiff.duals import Active
from overlay.interpretations.autodiff.errors import NotDifferentiable, refuse_without_arguments
from overlay.interpretations.autodiff.level_results import check_argument

__all__ = ["Names", "Rules", "as_active", "given_arguments", "tables_of"]

Names = Sequence[str] | None
Rules = MethodTable | Sequence[MethodTable]


def as_active(f: Callable[..., Any], x: Any) -> Any:
    """An argument converted to floats or an array of floats."""
    if isinstance(x, Active):
        return x
    if isinstance(x, tuple) and isinstance(x, numbers.Number):
        return x  # a number of another interpretation, such as an interval
    check_argument(f, x)
    if np.iscomplexobj(x):
        raise NotDifferentiable(
            f"{name_of(f)} is given complex numbers, and derivatives are by real ones",
            where=caller(),
            help="differentiate by the parts: jacobian(lambda x, y: f(x + 1j * y))",
        )
    if isinstance(x, (list, tuple, np.ndarray)):
        return np.array(x, dtype=np.float64)
    return float(x)


def given_arguments(
    f: Callable[..., Any],
    args: Sequence[Any],
    kwargs: dict[str, Any],
    active: Names,
    constant: Names,
) -> tuple[Callable[..., Any], list[Any], list[int]]:
    """The function of positional arguments alone, these arguments, and the positions of the active
    ones. Keyword arguments are constant, unless ``active`` names them."""
    g, given = _by_place(f, args, kwargs) if kwargs else (f, list(args))
    places = _places(f, len(args), len(given), active, constant)
    if not places:
        refuse_without_arguments(f)
    return g, [as_active(f, x) if i in places else x for i, x in enumerate(given)], places


def _by_place(
    f: Callable[..., Any], args: Sequence[Any], kwargs: dict[str, Any]
) -> tuple[Callable[..., Any], list[Any]]:
    """A call with keyword arguments, as one with positional arguments."""
    bound = inspect.signature(f).bind(*args, **kwargs)
    bound.apply_defaults()
    g = functools.partial(f, **bound.kwargs) if bound.kwargs else f
    return g, list(bound.args)


def _places(
    f: Callable[..., Any], by_place: int, count: int, active: Names, constant: Names
) -> list[int]:
    if active is None and constant is None:
        return list(range(by_place))
    names = list(inspect.signature(f).parameters)
    wanted = active if active is not None else constant or ()
    unknown = [name for name in wanted if name not in names[:count]]
    if unknown or isinstance(wanted, str) or (active is not None and constant is not None):
        raise NotDifferentiable(
            f"{name_of(f)} is given no argument {', '.join(map(repr, unknown)) or repr(wanted)}",
            where=caller(),
            notes=[("parameters", ", ".join(names))],
            help="pass a tuple of parameters' names, as active or as constant",
        )
    if active is not None:
        return [i for i, name in enumerate(names[:count]) if name in wanted]
    return [i for i, name in enumerate(names[:by_place]) if name not in wanted]


def tables_of(rules: Rules) -> tuple[MethodTable, ...]:
    return (rules,) if isinstance(rules, MethodTable) else tuple(rules)
