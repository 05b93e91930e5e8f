"""The law checker for relations of arrays."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from primitives.arrays.domain import shape_of
from primitives.errors import BrokenLaw, NoSolution
from primitives.relation import RETURN, Mode, Relation

__all__ = ["check_arrays"]

REFUSALS = (NoSolution, ValueError, ArithmeticError)
CLOSE = 1e-6
Values = dict[str, Any]


def check_arrays(relation: Relation, *, samples: int = 200, seed: int = 0) -> None:
    """Check both laws of every mode, at arrays of edge values and at random ones.

    Raises BrokenLaw, with the values.
    """
    rng = np.random.default_rng(seed)
    with np.errstate(all="ignore"):
        for arguments in _points(relation, rng, samples):
            values = _forward(relation, arguments)
            if values is None:
                continue
            _check_shape(relation, values)
            for mode in relation.modes.values():
                _check_complete(relation, mode, values)
                _check_sound(relation, mode, values, rng)


def _points(relation: Relation, rng: np.random.Generator, samples: int) -> Iterator[Sequence[Any]]:
    domains = [relation.domain[axis] for axis in relation.axes]
    edges = [[e for e in domain.edges if _is_moderate(e)] for domain in domains]
    for i in range(max(map(len, edges))):
        yield [found[i % len(found)] for found in edges]
    for _ in range(samples):
        yield [domain.sample(rng) for domain in domains]


def _is_moderate(edge: Any) -> bool:
    """Return whether products of many such elements stay in the range of floats."""
    sizes = np.abs(np.asarray(edge))
    return bool(np.all((sizes == 0) | ((sizes > 1e-3) & (sizes < 1e3))))


def _forward(relation: Relation, arguments: Sequence[Any]) -> Values | None:
    try:
        result = relation(*arguments)
    except REFUSALS:
        return None
    if not np.all(np.isfinite(result)):
        return None
    return {**dict(zip(relation.axes, arguments, strict=True)), RETURN: result}


def _check_shape(relation: Relation, values: Values) -> None:
    if np.shape(values[RETURN]) != shape_of(relation.returns):
        raise _broken(relation, relation.modes[frozenset((RETURN,))], values, "has another shape")


def _solved(mode: Mode, values: Mapping[str, Any]) -> Values:
    answer = mode.solver(*(values[name] for name in mode.takes))
    answers = answer if len(mode.unknown) > 1 else (answer,)
    return dict(zip(mode.unknown, answers, strict=True))


def _check_complete(relation: Relation, mode: Mode, values: Values) -> None:
    """Check that a mode returns the arguments, given the coordinates that it recovers from them."""
    if RETURN in mode.unknown:
        return
    chosen: Values = {}
    if mode.recover is not None:
        found = mode.recover(*(values[name] for name in mode.recovers))
        chosen = dict(zip(mode.coordinates, found, strict=True))
    for name, value in chosen.items():
        if not mode.coordinates[name].contains(value):
            raise _broken(relation, mode, values, f"recovers {name}={value!r}, outside its domain")
    try:
        answers = _solved(mode, {**values, **chosen})
    except REFUSALS as error:
        raise _broken(relation, mode, values, f"refuses its own arguments: {error}") from error
    for name, value in answers.items():
        if not _is_close(value, values[name], [*values.values()]):
            raise _broken(relation, mode, values, f"answers {name}={value!r} to its own arguments")


def _check_sound(relation: Relation, mode: Mode, values: Values, rng: np.random.Generator) -> None:
    """Check that the answers of a mode satisfy the equation, for any coordinates."""
    if RETURN in mode.unknown:
        return
    chosen = {name: domain.sample(rng) for name, domain in mode.coordinates.items()}
    try:
        answers = _solved(mode, {**values, **chosen})
    except REFUSALS:
        return
    again = _forward(relation, [{**values, **answers}[axis] for axis in relation.axes])
    if again is None:
        return
    if not _is_close(again[RETURN], values[RETURN], [*answers.values(), *values.values()]):
        raise _broken(relation, mode, values, f"answers {answers}, which give {again[RETURN]!r}")


def _is_close(found: Any, wanted: Any, around: Sequence[Any]) -> bool:
    if np.shape(found) != np.shape(wanted):
        return False
    if np.asarray(wanted).dtype.kind not in "fc":
        return bool(np.all(found == wanted))
    scale = max(float(np.abs(np.asarray(value)).max()) for value in around)
    return bool(np.all(np.abs(found - wanted) <= CLOSE * scale))


def _broken(relation: Relation, mode: Mode, values: Values, what: str) -> BrokenLaw:
    given = ", ".join(f"{name}={value!r}" for name, value in values.items())
    return BrokenLaw(
        f"{mode!r} of {relation!r} {what} (at {given})",
        where=relation.where,
        help="correct the solver, or what recover reads off",
    )
