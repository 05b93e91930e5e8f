"""The law checker, for the relations of the base table and for those that users add.

Floats are compared within a tolerance relative to the largest value in the equation. A solver may
deviate more only if the problem is ill-conditioned: if moving the answer by a few ulp moves the
result (or, near a pole, its reciprocal) as much, or if the result has underflowed. It may refuse
(NoSolution, ValueError, ArithmeticError) values that are not results, and underflow; a coordinate
larger than any float does not count. NaN is never an answer, and an infinity only if the solution
is larger than any float. The forward mode is compared with the function itself, if that accepts
values of these types.
"""

from __future__ import annotations

import cmath
import itertools
import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from overlay import OverlayError
from primitives.arrays.array_laws import check_arrays
from primitives.arrays.domain import is_array
from primitives.domains import Domain, domain_of
from primitives.errors import BrokenLaw, NoSolution, TooHard
from primitives.relation import RETURN, Mode, Relation

__all__ = ["BrokenLaw", "check_complete", "check_forward", "check_relation", "check_sound"]

REFUSALS = (NoSolution, ValueError, ArithmeticError, IndexError)
LARGEST = sys.float_info.max
NEARBY = (-8, -5, -2, -1, 1, 2, 5, 8)  # ulp
Values = Mapping[str, Any]


def check_relation(
    relation: Relation,
    *,
    samples: int = 200,
    seed: int = 0,
    rtol: float = 1e-9,
    atol: float = 1e-12,
) -> None:
    """Check the forward mode and both laws of every mode, at edges and at random points.

    Parameters
    ----------
    relation : Relation
        The relation.
    samples : int
        The number of random points, and the largest number of combinations of edges.
    seed : int
        The seed of the random numbers.
    rtol, atol : float
        The relative and absolute tolerances of floats. Relations of arrays are checked within 1e-6,
        relative to the largest element.

    Raises
    ------
    BrokenLaw
        A law fails; the error has the values for which it does.
    OverlayError
        The domain of an axis is unknown.

    Examples
    --------
    >>> from primitives import relation
    >>> from primitives.testing import check_relation
    >>> def half(a: float) -> float:
    ...     return a / 2
    >>> check_relation(relation(half, float, "return = a / 2", a=lambda ret: 2 * ret))
    """
    if any(map(is_array, relation.kinds.values())):
        check_arrays(relation, samples=samples, seed=seed)
        return
    rng = np.random.default_rng(seed)
    domains = [domain_at(relation, axis) for axis in relation.axes]
    for arguments in _points(domains, rng, samples):
        check_forward(relation, arguments, rtol=rtol, atol=atol)
        check_complete(relation, arguments, rtol=rtol, atol=atol)
    for mode in relation.modes.values():
        takes = [domain_at(relation, name, mode) for name in mode.takes]
        for values in _points(takes, rng, samples):
            given = dict(zip(mode.takes, values, strict=True))
            check_sound(relation, mode, given, rtol=rtol, atol=atol)


def domain_at(relation: Relation, name: str, mode: Mode | None = None) -> Domain:
    """The domain of an axis of a relation, or of a coordinate of its mode."""
    domain = relation.codomain if name == RETURN else relation.domain.get(name)
    if len(relation.outputs) > 1 and name in relation.outputs:
        domain = domain_of(relation.kinds[name])
    if domain is None and mode is not None:
        domain = mode.coordinates.get(name)
    if domain is None:
        raise OverlayError(
            f"no domain is known for {name!r} in {relation!r}",
            where=relation.where,
            help="give domain={...} or codomain=... to relation()",
        )
    return domain


def _points(
    domains: Sequence[Domain], rng: np.random.Generator, samples: int
) -> list[tuple[Any, ...]]:
    edges = list(itertools.product(*(domain.edges for domain in domains)))
    if len(edges) > samples:
        edges = [edges[i] for i in rng.choice(len(edges), samples, replace=False)]
    # equal edge values of several axes, such as 1 twice, are often degenerate cases
    usual = [tuple(domain.sample(rng) for domain in domains) for _ in range(samples)]
    wide = [tuple(_of_any_size(domain, rng) for domain in domains) for _ in range(samples)]
    return edges + usual + wide


def _of_any_size(domain: Domain, rng: np.random.Generator) -> Any:
    """A member of random magnitude, if the domain has one of that magnitude; else any random
    member.
    """
    if domain.kind is complex:
        return domain.sample(rng) * 10 ** rng.uniform(-15, 15)
    size = 10 ** (rng.uniform(-15, 15) if domain.kind is float else rng.uniform(0, 15))
    for value in (size, -size) if rng.random() < 0.5 else (-size, size):
        member = domain.cast(value) if domain.contains(math.floor(value)) else None
        if member is not None and domain.contains(member):
            return member
    return domain.sample(rng)


def check_forward(
    relation: Relation, arguments: Sequence[Any], *, rtol: float = 1e-9, atol: float = 1e-12
) -> None:
    """Check that the forward mode returns the result of the function, with its type and in the
    codomain.

    Raises BrokenLaw if it does not.
    """
    mode = relation.modes[frozenset(relation.outputs)]
    given = dict(zip(relation.axes, arguments, strict=True))
    with np.errstate(all="ignore"):
        wanted = _called(relation.target, arguments, (TypeError, *REFUSALS))
        found = _called(relation, arguments)
        answered = not isinstance(wanted, Exception) and _are_finite(relation, wanted)
        if answered and isinstance(found, Exception) and not mode.incomplete:
            raise _broken(relation, mode, given, f"refuses what gives {wanted!r}: {found}")
        if isinstance(found, Exception) or not _are_finite(relation, found):
            return
        if isinstance(wanted, REFUSALS):
            raise _broken(relation, mode, given, f"gives {found!r}, but the target: {wanted}")
        results = _by_output(relation, found)
        for name, value in results.items():
            _check_type(relation, mode, given, name, value)
            allowed = domain_at(relation, name)
            if not _inside(allowed, value) and not _underflowed(relation, {**given, **results}):
                raise _broken(relation, mode, given, f"gives {value!r}, outside {allowed!r}")
        if isinstance(wanted, TypeError):
            return
        values = {**given, **_by_output(relation, wanted)}
        gap = _worst(relation, {**values, **results}, values, rtol, atol)
        if gap and not _steep(relation, values, values, rtol, atol, gap):
            raise _broken(relation, mode, given, f"gives {found!r} where the target {wanted!r}")


def check_complete(
    relation: Relation, arguments: Sequence[Any], *, rtol: float = 1e-9, atol: float = 1e-12
) -> None:
    """Check that every mode returns these arguments, given the coordinates recovered from them.

    Raises BrokenLaw if one does not.
    """
    with np.errstate(all="ignore"):
        values = _forward(relation, arguments)
        if values is None:
            return
        for mode in relation.modes.values():
            _check_complete(relation, mode, values, rtol, atol)


def _check_complete(
    relation: Relation, mode: Mode, values: Values, rtol: float, atol: float
) -> None:
    try:
        chosen: tuple[Any, ...] = ()
        if mode.recover is not None:
            chosen = mode.recover(*(values[name] for name in mode.recovers))
        coordinates = dict(zip(mode.coordinates, chosen, strict=True))
        if any(isinstance(value, float) and math.isinf(value) for value in chosen):
            return
        answer = _solve(mode, {**values, **coordinates})
    except TooHard:
        return  # the mode refuses, which proves nothing
    except REFUSALS as error:
        if mode.incomplete or _underflowed(relation, values):
            return
        raise _broken(relation, mode, values, f"refuses its own arguments: {error}") from error
    for name, value in coordinates.items():
        if not mode.coordinates[name].contains(value):
            raise _broken(relation, mode, values, f"recovers {name}={value!r}, outside its domain")
    if mode.incomplete or _underflowed(relation, values):
        return
    scale = max(_size(value) for value in values.values())
    for name, value in answer.items():
        _check_type(relation, mode, values, name, value)
        gap = _gap(value, values[name])
        close = gap <= atol + rtol * scale or (
            gap <= 1e-6 * scale and _flat(relation, values, answer, rtol)
        )
        if not close and not _steep(relation, values, answer, rtol, atol):
            raise _broken(relation, mode, values, f"answers {name}={value!r} to its own arguments")


def check_sound(
    relation: Relation,
    mode: Mode,
    given: Values,
    *,
    rtol: float = 1e-9,
    atol: float = 1e-12,
) -> None:
    """Check that a mode's answer to these known values and coordinates satisfies the equation.

    Raises BrokenLaw if it does not.
    """
    with np.errstate(all="ignore"):
        try:
            answers = _solve(mode, given)
        except (TooHard, *REFUSALS):
            return
        values = {**given, **answers}
        for name, value in answers.items():
            _check_type(relation, mode, given, name, value)
        if set(mode.unknown) <= set(relation.outputs):
            return
        if not all(map(_is_finite, answers.values())):
            if not _beyond_floats(relation, values):
                raise _broken(relation, mode, given, f"answers {answers}, which is not finite")
            return
        for name, value in answers.items():
            if not _inside(relation.domain.get(name), value):
                raise _broken(
                    relation, mode, given, f"answers {name}={value!r}, outside its domain"
                )
        again = _forward(relation, [values[axis] for axis in relation.axes])
        if again is None:
            if not any(_moved(relation, values)):
                raise _broken(relation, mode, given, f"answers {answers}, where it has no value")
            return
        gap = _worst(relation, again, values, rtol, atol)
        if gap and not _steep(relation, values, values, rtol, atol, gap):
            shown = ", ".join(repr(again[name]) for name in relation.outputs)
            raise _broken(relation, mode, given, f"answers {answers}, which give {shown}")


# ---- evaluating ---------------------------------------------------------------------------


def _forward(relation: Relation, arguments: Sequence[Any]) -> dict[str, Any] | None:
    """All values of the equation, or None where the function is undefined for these arguments."""
    result = _called(relation, arguments)
    if isinstance(result, Exception) or not _are_finite(relation, result):
        return None
    return {**dict(zip(relation.axes, arguments, strict=True)), **_by_output(relation, result)}


def _by_output(relation: Relation, result: Any) -> dict[str, Any]:
    """The results of a function, by axis."""
    results = (result,) if len(relation.outputs) == 1 else result
    return dict(zip(relation.outputs, results, strict=True))


def _are_finite(relation: Relation, result: Any) -> bool:
    return all(map(_is_finite, _by_output(relation, result).values()))


def _worst(relation: Relation, found: Values, wanted: Values, rtol: float, atol: float) -> Any:
    """The largest deviation of a result; 0 if all are within the tolerance."""
    gaps = [
        gap
        for name in relation.outputs
        if (gap := _gap(found[name], wanted[name])) > atol + rtol * _size(wanted[name])
    ]
    return max(gaps, default=0)


def _called(
    function: Any, arguments: Sequence[Any], refusals: tuple[type[Exception], ...] = REFUSALS
) -> Any:
    """The result, or the error that the function raises."""
    try:
        return function(*arguments)
    except refusals as error:
        return error


def _is_finite(value: Any) -> bool:
    return not isinstance(value, (float, complex)) or cmath.isfinite(value)


def _inside(domain: Domain | None, value: Any) -> bool:
    """Return whether a value is in a domain, up to rounding."""
    if domain is None or domain.contains(value):
        return True
    return isinstance(value, float) and any(
        domain.contains(value + step * math.ulp(value)) for step in NEARBY
    )


def _check_type(relation: Relation, mode: Mode, given: Values, name: str, value: Any) -> None:
    kinds = relation.kinds
    domain = domain_of(kinds[name])
    if domain is None or isinstance(value, kinds[name]):
        return
    if not np.issubdtype(type(value), domain.dtype):
        shown = f"{name}={value!r}, not of type {kinds[name].__name__}"
        raise _broken(relation, mode, given, f"answers {shown}")


def _beyond_floats(relation: Relation, values: Values) -> bool:
    """Return whether the result still approaches the known one at the largest floats."""
    if any(isinstance(value, complex) for value in values.values()) or RETURN not in values:
        return False
    results: list[Any] = []
    for largest in (LARGEST / 2, LARGEST):
        held = {
            name: value if _is_finite(value) else math.copysign(largest, value)
            for name, value in values.items()
        }
        results.append(_forward(relation, [held[axis] for axis in relation.axes]))
    if any(value != value for value in values.values()) or None in results:
        return False
    half, full = (result[RETURN] for result in results)
    return half < full < values[RETURN] or half > full > values[RETURN]


def _solve(mode: Mode, values: Values) -> dict[str, Any]:
    answer = mode.solver(*(values[name] for name in mode.takes))
    answers = answer if len(mode.unknown) > 1 else (answer,)
    return dict(zip(mode.unknown, answers, strict=True))


def _size(value: Any) -> float:
    """The absolute value, limited to the largest float; 0 for a string, bytes or a list."""
    if isinstance(value, (str, bytes, list)):
        return 0.0
    if isinstance(value, complex):
        return math.hypot(value.real, value.imag)  # abs raises if this overflows
    return float(min(abs(value if isinstance(value, float) else int(value)), LARGEST))


def _gap(one: Any, other: Any) -> Any:
    kinds = float, complex
    if isinstance(one, kinds) or isinstance(other, kinds):
        gap = _size(complex(one) - complex(other))
        return math.inf if math.isnan(gap) else gap
    if isinstance(one, (str, bytes, list)):
        return 0 if one == other else math.inf
    return math.inf if int(one) != int(other) else 0


def _exact(relation: Relation) -> bool:
    if any(relation.kinds[name] is str for name in relation.outputs):  # each digit is written
        return True
    return not any(kind in (float, complex) for kind in relation.kinds.values())


def _underflowed(relation: Relation, values: Values) -> bool:
    arguments = [value for name, value in values.items() if name not in relation.outputs]
    results = [values[name] for name in relation.outputs]
    tiny = any(isinstance(ret, (float, complex)) and _size(ret) < 1e-290 for ret in results)
    return tiny and all(arguments)


def _flat(relation: Relation, values: Values, answer: Values, rtol: float) -> bool:
    """Return whether the function has equal results for the arguments and the answer."""
    again = _forward(relation, [{**values, **answer}[axis] for axis in relation.axes])
    return again is not None and not _worst(relation, again, values, 1e-15, 0.0)


def _steep(
    relation: Relation,
    values: Values,
    answer: Values,
    rtol: float,
    atol: float,
    gap: float | None = None,
) -> bool:
    """Return whether the last digits of the answer change the result by more than the tolerance, or
    by about ``gap``.
    """
    if _exact(relation):
        return False
    full = {**values, **answer}
    here = _forward(relation, [full[name] for name in relation.axes])
    return here is None or any(
        _is_steep(full[name], here[name], moved, rtol, atol, gap)
        for name in relation.outputs
        for again in _moved(relation, full)
        for moved in (None if again is None else again[name],)
    )


def _is_steep(
    wanted: Any, here: Any, moved: Any, rtol: float, atol: float, gap: float | None
) -> bool:
    """Return whether the change of a moved result is large enough to explain the deviation."""
    beside_pole = math.inf if gap is None else _gap_of_reciprocals(here, wanted)
    gap = atol + rtol * _size(wanted) if gap is None else gap
    return (
        moved is None
        or 4 * _gap(moved, here) >= gap
        or 4 * _gap_of_reciprocals(moved, here, 0) >= beside_pole
    )


def _gap_of_reciprocals(one: Any, other: Any, otherwise: float = math.inf) -> float:
    if not isinstance(one, float) or not isinstance(other, float) or not one or not other:
        return otherwise
    return _gap(1 / one, 1 / other)


def _moved(relation: Relation, values: Values) -> Iterator[dict[str, Any] | None]:
    """The values of the equation with one argument moved by a few units in its last place."""
    inexact = [axis for axis in relation.axes if isinstance(values[axis], (float, complex))]
    for axis, step in itertools.product(inexact, NEARBY):
        for direction in (1, 1j) if isinstance(values[axis], complex) else (1,):
            delta = step * math.ulp(_size(values[axis])) * direction
            moved = {**values, axis: values[axis] + delta}
            yield _forward(relation, [moved[name] for name in relation.axes])


def _broken(relation: Relation, mode: Mode, values: Values, what: str) -> BrokenLaw:
    shown = ", ".join(f"{name}={value!r}" for name, value in values.items())
    return BrokenLaw(
        f"mode {{{', '.join(mode.unknown)}}} of {relation!r} {what}",
        where=relation.where,
        notes=[("values", shown)],
        help="correct the mode, narrow the domains, or say incomplete='why'",
    )
