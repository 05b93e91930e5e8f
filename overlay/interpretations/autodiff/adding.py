"""``add_gradient`` and ``add_shared_gradient``: gradients added to existing arrays."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from overlay import MethodTable, nonoverlay
from overlay.contexts.rules_alone import runs_alone
from overlay.core.jitted import derive_from
from overlay.core.late_binding import LateBound
from overlay.interpretations.autodiff.errors import NotReversible, WrongPairs, refuse_pairs
from overlay.interpretations.autodiff.levels import LevelTable, written
from overlay.interpretations.autodiff.reverse.adjoints import Adjoint
from overlay.interpretations.autodiff.reverse.gradients import (
    adjoint_adding,
    calls_never,
    functions_read,
    pair_of_types,
    seeds_of,
)
from overlay.interpretations.autodiff.reverse.running import never
from overlay.kernels import atomic_add

__all__ = ["generates_adding", "gradient_at"]

# bound late: methods of a level compute gradients in interpreted code, and these enter levels
gradient_at: LateBound[Callable[..., list[Any]]] = LateBound()


_ADDING = threading.Lock()
"""Held by interpreted code that adds to arrays: threads of a simulated GPU may share one."""


def generates_adding(
    table: LevelTable, count: int, rules: tuple[MethodTable, ...], *, shares: bool
) -> Callable[..., Any]:
    """Make the method of ``add_gradient`` for this number of arguments, or, where several threads
    share the arrays, that of ``add_shared_gradient``."""
    names = [f"x{i}" for i in range(count)]
    given = ", ".join(names)

    def generate(*types: Any) -> Any:
        adjoint = adjoint_adding(types, rules, table.tables_around, shares=shares)
        if adjoint is None:
            run = functools.partial(_add, rules=rules)
            return written(f"def method(f, {given}): run(f, ({given},))", None, run=run)
        back = nonoverlay(adjoint.function)
        method = written(
            _source(adjoint, names, types[1:], shares=shares), None,
            back=back, never=never, atomic_add=atomic_add, WrongPairs=WrongPairs,
        )  # fmt: skip
        derive_from(method, functions_read(adjoint), adjoint.targets)
        return method

    return written(f"def method(f, {given}): return generate(f, {given})", None, generate=generate)


def _source(adjoint: Adjoint, names: list[str], types: tuple[Any, ...], *, shares: bool) -> str:
    """The source of the method for arguments of some types, which calls an adjoint."""
    pairs = {name: pair_of_types(t) for name, t in zip(names, types, strict=True)}
    values = {name: name if pair is None else f"{name}[0]" for name, pair in pairs.items()}
    active = [(name, pair) for name, pair in pairs.items() if pair is not None]
    arrays = [f"{name}[1]" for name, pair in active if hasattr(pair[0], "ndim")]
    numbers = [f"{name}[1]" for name, pair in active if not hasattr(pair[0], "ndim")]
    given = ", ".join(values.values())
    adds = "    atomic_add({0}, 0, found[{1}])" if shares else "    {0}[0] += found[{1}]"
    fits = [f"{name}.shape == {name[:-3]}[0].shape" for name in arrays]
    fits += [f"len({name}) == 1" for name in numbers]
    lines = [
        f"def method(f, {', '.join(names)}):",
        f"    if not ({' and '.join(fits)}):",
        "        raise WrongPairs",
        *calls_never(adjoint, given),
        f"    found = back({', '.join([given, *seeds_of(adjoint), *arrays])})",
        *(adds.format(into, i) for i, into in enumerate(numbers)),
    ]
    return "\n".join(lines)


@runs_alone
def _add(f: Any, args: tuple[Any, ...], rules: tuple[MethodTable, ...]) -> None:
    """Add the gradients in interpreted code."""
    places = [i for i, arg in enumerate(args) if _is_pair(arg)]
    if not places:
        refuse_pairs()
    given = [_array(arg[0] if i in places else arg) for i, arg in enumerate(args)]
    intos = [_array(args[i][1]) for i in places]
    for i, into in zip(places, intos, strict=True):
        if into.dtype.kind != "f" or into.shape != (np.shape(given[i]) or (1,)):
            refuse_pairs()
    slopes_at = gradient_at.load()
    try:
        slopes = slopes_at(f, given, places, rules, "reverse")
    except NotReversible:  # there is no adjoint
        slopes = slopes_at(f, given, places, rules, "forward")
    for into, slope in zip(intos, slopes, strict=True):
        with _ADDING:
            into += slope


def _is_pair(arg: Any) -> bool:
    return type(arg) is tuple and len(arg) == 2 and isinstance(_array(arg[1]), np.ndarray)


def _array(value: Any) -> Any:
    """A view of an array-like object, as in numba's simulator, as an array on the same memory."""
    if isinstance(value, (np.ndarray, np.generic)) or not hasattr(value, "__array_interface__"):
        return value
    return np.asarray(value)
