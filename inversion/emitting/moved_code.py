"""Moved elements as generated functions: slices and index arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from inversion.emitting.module_text import FunctionText, Module, PartWriter, RowText
from inversion.planning.statement_modes import Places
from inversion.program.moved_elements import Index, Moved
from inversion.program.statements import Variable
from primitives.arrays.domain import is_array, shape_of

__all__ = ["MOVED"]


def run(body: FunctionText, rule: Moved) -> None:
    """Write the code that computes the results."""
    pool = joined(body, [(body.shown(v), v.kind) for v in rule.inputs])
    shown = [picked(body, pool, v, rule.places[v.name]) for v in rule.results]
    body.row(f"return {', '.join(shown)}")


def solve(module: Module, rule: Moved, mode: Places, name: str) -> list[RowText]:
    """Write the function that takes each element from its known position."""
    every = {v.name: v for v in (*rule.inputs, *rule.results)}
    kinds: dict[str, Any] = {v.name: v.kind for v in every.values()}
    kinds.update({axis: domain.kind for axis, domain in mode.coordinates.items()})
    body = FunctionText(module)
    body.row(f"def {name}({', '.join(map(body.name, mode.takes))}):", depth=0)
    pool = joined(body, [(body.name(axis), kinds[axis]) for axis in mode.sources])
    shown = [picked(body, pool, every[axis], mode.taken[axis]) for axis in mode.unknown]
    body.row(f"return {', '.join(shown)}")
    return [*body.rows, RowText("")]


def recover(module: Module, rule: Moved, mode: Places, name: str) -> list[RowText]:
    """Write the function that recovers the free elements."""
    body = FunctionText(module)
    body.row(f"def {name}({', '.join(map(body.shown, rule.inputs))}):", depth=0)
    pool = joined(body, [(body.shown(v), v.kind) for v in rule.inputs])
    (domain,) = mode.coordinates.values()
    free = Variable("rest", domain.kind)
    body.row(f"return ({picked(body, pool, free, mode.missing)},)")
    return [*body.rows, RowText("")]


def joined(body: FunctionText, parts: Sequence[tuple[str, Any]]) -> str:
    """The name of one flat array of all elements."""
    flat = [f"{name}.ravel()" if is_array(kind) else f"np.full(1, {name})" for name, kind in parts]
    name = body.own("pool")
    body.row(f"{name} = " + (flat[0] if len(flat) == 1 else f"np.concatenate(({', '.join(flat)}))"))
    return name


def picked(body: FunctionText, pool: str, variable: Variable, places: Index) -> str:
    """The array, or number, of the elements at these positions."""
    if not is_array(variable.kind):
        return f"{pool}[{places[0]}]"
    shape = shape_of(variable.kind)
    taken = f"{pool}[{between(places) or body.module.named('places', places)}]"
    text = f"np.ascontiguousarray({taken})" if between(places) is None else f"{taken}.copy()"
    return text if len(shape) == 1 else f"{text}.reshape({shape})"


def between(places: Index) -> str | None:
    """The slice for evenly spaced positions; None for others."""
    step = int(places[1] - places[0]) if len(places) > 1 else 1
    if step == 0 or not np.all(np.diff(places) == step):
        return None
    start, stop = int(places[0]), int(places[-1]) + (1 if step > 0 else -1)
    shown = "" if stop < 0 else str(stop)
    return f"{start}:{shown}" if step == 1 else f"{start}:{shown}:{step}"


MOVED = PartWriter(run, solve, recover)
