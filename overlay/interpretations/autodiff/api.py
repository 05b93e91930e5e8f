"""Derivatives of functions: of numbers and arrays, in any number."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from overlay import MethodTable
from overlay.interpretations.autodiff.duals import Active, ActiveArray
from overlay.interpretations.autodiff.errors import NotDifferentiable
from overlay.interpretations.autodiff.forward import linearised
from overlay.location import caller, name_of

__all__ = ["derivative", "gradient", "hessian", "jacobian", "jvp", "vjp"]

Names = Sequence[str] | None
Rules = MethodTable | Sequence[MethodTable]
TOGETHER = 8
"""In how many directions derivatives are computed in one run."""


def derivative(f: Callable[..., Any], *, order: int = 1, rules: Rules = ()) -> Callable[..., Any]:
    """The derivative of a function of one number, or a higher one.

    rules: tables with methods of ``partials_of(g)`` for functions that f calls.

    >>> from overlay.interpretations.autodiff import derivative
    >>> derivative(lambda x: x**4, order=2)(3.0)
    108.0
    """
    for _ in range(order):
        f = _once(f, rules)
    return f


def _once(f: Callable[..., Any], rules: Rules) -> Callable[..., Any]:
    def of(x: Any) -> Any:
        return jvp(f, (_active(x),), (1.0,), rules=rules)[1]

    return of


def jvp(
    f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], *, rules: Rules = ()
) -> tuple[Any, Any]:
    """What f gives, and how that changes where the arguments change by ``tangents``: the product
    of the Jacobian with them. A tangent of None holds its argument constant.

    >>> from overlay.interpretations.autodiff import jvp
    >>> jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 10.0))
    (6.0, 23.0)
    """
    args = [x if t is None else _active(x) for x, t in zip(primals, tangents, strict=True)]
    seeds = [None if t is None else (_active(t),) for t in tangents]
    value, (tangent,) = _run(f, args, seeds, 1, rules)
    return value, tangent


def vjp(
    f: Callable[..., Any], *primals: Any, rules: Rules = ()
) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """What f gives, and the function that takes a change of the result back to the arguments:
    the product with the Jacobian from the left. The result is one number or array.

    >>> from overlay.interpretations.autodiff import vjp
    >>> value, back = vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> back(10.0)
    (30.0, 20.0)
    """
    args = [_active(x) for x in primals]
    value, rows = _by_each(f, args, range(len(args)), rules)

    def back(cotangent: Any) -> tuple[Any, ...]:
        found = [[_total(cotangent * slope) for slope in slopes] for slopes in rows]
        return tuple(_shaped(each, x) for each, x in zip(found, args, strict=True))

    return value, back


def gradient(
    f: Callable[..., Any], *, active: Names = None, constant: Names = None, rules: Rules = ()
) -> Callable[..., Any]:
    """The gradient of a function that gives a number, by its arguments.

    active, constant: the names of the parameters by which to differentiate, or of the others;
    left out, it is by all. By one it gives a number or array in the form of that argument, by
    several a tuple.

    >>> import numpy as np
    >>> from overlay.interpretations.autodiff import gradient
    >>> gradient(lambda x: np.sum(x * x))(np.array([1.0, 2.0]))
    array([2., 4.])
    """

    def of(*args: Any) -> Any:
        given, places = _given(f, args, active, constant)
        value, slopes = _by_each(f, given, places, rules)
        if np.ndim(value):
            raise NotDifferentiable(
                f"{name_of(f)} gives an array, and a gradient is of a number",
                where=caller(),
                help="jacobian(f) is for functions that give arrays",
            )
        return _one_or_all([_shaped(s, given[i]) for s, i in zip(slopes, places, strict=True)])

    return of


def jacobian(
    f: Callable[..., Any], *, active: Names = None, constant: Names = None, rules: Rules = ()
) -> Callable[..., Any]:
    """The derivatives of what a function gives, by its arguments.

    For a result and an argument of some shapes an array of both shapes, that of the result
    first; for a result that is a tuple, a tuple. active, constant: see ``gradient``.

    >>> import numpy as np
    >>> from overlay.interpretations.autodiff import jacobian
    >>> jacobian(lambda x: 3.0 * x)(np.array([1.0, 2.0]))
    array([[3., 0.],
           [0., 3.]])
    """

    def of(*args: Any) -> Any:
        given, places = _given(f, args, active, constant)
        _, slopes = _by_each(f, given, places, rules)
        return _one_or_all([_both_shapes(s, given[i]) for s, i in zip(slopes, places, strict=True)])

    return of


def hessian(
    f: Callable[..., Any], *, active: Names = None, constant: Names = None, rules: Rules = ()
) -> Callable[..., Any]:
    """The second derivatives of a function that gives a number: the Jacobian of its gradient.

    >>> import numpy as np
    >>> from overlay.interpretations.autodiff import hessian
    >>> hessian(lambda x: x[0] * x[1])(np.array([1.0, 2.0]))
    array([[0., 1.],
           [1., 0.]])
    """
    first = gradient(f, active=active, constant=constant, rules=rules)

    def of(*args: Any) -> Any:
        given, places = _given(f, args, active, constant)
        _, slopes = _by_each(first, given, places, rules)
        return _one_or_all([_both_shapes(s, given[i]) for s, i in zip(slopes, places, strict=True)])

    return of


# ---- arguments ----------------------------------------------------------------------------


def _active(x: Any) -> Any:
    """An argument as numbers that can change."""
    if isinstance(x, Active):
        return x
    if isinstance(x, (list, tuple, np.ndarray)):
        return np.array(x, dtype=np.float64)
    return float(x)


def _given(
    f: Callable[..., Any], args: Sequence[Any], active: Names, constant: Names
) -> tuple[list[Any], list[int]]:
    """The arguments, and the places of those by which to differentiate."""
    places = _places(f, len(args), active, constant)
    return [_active(x) if i in places else x for i, x in enumerate(args)], places


def _places(f: Callable[..., Any], count: int, active: Names, constant: Names) -> list[int]:
    if active is None and constant is None:
        return list(range(count))
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
    return [i for i, name in enumerate(names[:count]) if (name in wanted) == (active is not None)]


# ---- directions ---------------------------------------------------------------------------


def _run(
    f: Callable[..., Any], args: Sequence[Any], seeds: Sequence[Any], count: int, rules: Rules
) -> tuple[Any, list[Any]]:
    """What f gives, and the tangents of that in each direction."""
    tables = (rules,) if isinstance(rules, MethodTable) else tuple(rules)
    found, level = linearised(f, args, seeds, tables)
    return _value(found, level), [_tangent(found, level, k) for k in range(count)]


def _by_each(
    f: Callable[..., Any], args: Sequence[Any], places: Sequence[int], rules: Rules
) -> tuple[Any, list[list[Any]]]:
    """What f gives, and for each of some arguments the tangents by each of its numbers."""
    directions = [(i, k) for i in places for k in range(np.size(args[i]))]
    slopes: dict[int, list[Any]] = {i: [] for i in places}
    value: Any = None
    for start in range(0, len(directions), TOGETHER):
        chosen = directions[start : start + TOGETHER]
        seeds = [
            tuple(_unit(args[i], k if i == j else None) for j, k in chosen) if i in slopes else None
            for i in range(len(args))
        ]
        value, tangents = _run(f, args, seeds, len(chosen), rules)
        for (i, _), tangent in zip(chosen, tangents, strict=True):
            slopes[i].append(tangent)
    return value, list(slopes.values())


def _unit(x: Any, place: int | None) -> Any:
    """A tangent in the form of an argument: 1 in one place, 0 elsewhere."""
    if not isinstance(x, (np.ndarray, ActiveArray)):
        return 0.0 if place is None else 1.0
    flat = [0.0] * x.size
    if place is not None:
        flat[place] = 1.0
    return np.reshape(np.array(flat), x.shape)


# ---- results ------------------------------------------------------------------------------


def _value(found: Any, level: Any) -> Any:
    if isinstance(found, (level.number, level.array)):
        return found.value
    return _through(found, lambda part: _value(part, level))


def _tangent(found: Any, level: Any, k: int) -> Any:
    if isinstance(found, (level.number, level.array)):
        return found.tangents[k]
    if isinstance(found, (np.ndarray, ActiveArray)):
        return np.zeros(found.shape)
    if isinstance(found, (tuple, list, dict)) and not isinstance(found, Active):
        return _through(found, lambda part: _tangent(part, level, k))
    return 0.0


def _through(found: Any, each: Callable[[Any], Any]) -> Any:
    """A result with each of its parts replaced."""
    if isinstance(found, Active) or not isinstance(found, (tuple, list, dict)):
        return found
    if isinstance(found, dict):
        return {name: each(part) for name, part in found.items()}
    parts = [each(part) for part in found]
    if hasattr(found, "_fields"):
        return type(found)(*parts)
    return type(found)(parts)


def _total(product: Any) -> Any:
    return np.sum(product) if np.ndim(product) else product


def _one_or_all(found: list[Any]) -> Any:
    return found[0] if len(found) == 1 else tuple(found)


def _shaped(slopes: list[Any], x: Any) -> Any:
    """Numbers, one for each number of an argument, in its form."""
    if not isinstance(x, (np.ndarray, ActiveArray)):
        return slopes[0]
    return np.reshape(np.array(slopes), x.shape)


def _both_shapes(slopes: list[Any], x: Any) -> Any:
    """What a result changes by for each number of an argument, as one array."""
    first = slopes[0]
    if isinstance(first, (tuple, list)) and not isinstance(first, Active):
        return tuple(_both_shapes([slope[i] for slope in slopes], x) for i in range(len(first)))
    if not isinstance(x, (np.ndarray, ActiveArray)):
        return first
    return np.reshape(np.moveaxis(np.array(slopes), 0, -1), (*np.shape(first), *x.shape))
