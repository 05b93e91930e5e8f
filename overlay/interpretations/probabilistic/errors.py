"""Errors of probabilistic programs."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from types import FrameType
from typing import Any, NoReturn

from overlay import OverlayError
from overlay.core.errors import closest, near_names
from overlay.core.location import is_ours, shown

__all__ = [
    "DuplicateSite",
    "ImpossibleObservation",
    "NotTraceable",
    "ProbabilisticError",
    "UnknownSite",
    "count_of",
    "line_of_program",
    "place",
    "refuse_conditional",
    "refuse_distribution",
    "refuse_duplicate",
    "refuse_hamiltonian",
    "refuse_infinite",
    "refuse_missing",
    "refuse_parameters",
    "refuse_unknown",
]

_HOME = os.path.dirname(os.path.abspath(__file__)) + os.sep


class ProbabilisticError(OverlayError):
    """A probabilistic program, or a query about one, is invalid.

    Examples
    --------
    >>> import numpy as np
    >>> from overlay.interpretations.probabilistic import Normal, draw
    >>> draw(Normal(0.0, -1.0), np.random.default_rng(0))  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    overlay.interpretations.probabilistic.errors.ProbabilisticError: Normal has invalid parameters
    """


class DuplicateSite(ProbabilisticError):
    """Two sites of one run have the same name.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Normal, sample, simulate
    >>> def twice():
    ...     return sample("x", Normal()) + sample("x", Normal())
    >>> simulate(twice)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    overlay.interpretations.probabilistic.errors.DuplicateSite: two sites have the name 'x'
    """


class UnknownSite(ProbabilisticError):
    """A name refers to no site of the program.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Normal, sample, score
    >>> score(lambda: sample("x", Normal()), {"y": 1.0})  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    overlay.interpretations.probabilistic.errors.UnknownSite: no value is given for 'x'
    """


class ImpossibleObservation(ProbabilisticError):
    """No run was found in which the observations are possible.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import (
    ...     Bernoulli, metropolis_hastings, observe, sample
    ... )
    >>> def never():
    ...     sample("x", Bernoulli(0.5))
    ...     observe("y", Bernoulli(0.0), True)
    >>> metropolis_hastings(never)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    overlay.interpretations.probabilistic.errors.ImpossibleObservation: no possible run was found
    """


class NotTraceable(ProbabilisticError):
    """The values of a program that depend on its choices cannot be determined, so that its runs
    cannot be recorded.
    """


def place() -> str | None:
    """``file:line`` of the innermost frame of the program."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        where = line_of_program(frame.f_code.co_filename, frame.f_lineno)
        if where is not None:
            return where
        frame = frame.f_back
    return None


def line_of_program(file: str, line: int) -> str | None:
    """``file:line``; None for a file of this distribution."""
    return None if is_ours(file) or file.startswith(_HOME) else shown(file, line)


def _nearest(name: str, known: Iterable[str]) -> list[tuple[str, str]]:
    names = list(known)
    near = closest(map(repr, near_names(name, names)))
    return near or ([("known", ", ".join(map(repr, names[:5])))] if names else [])


def refuse_duplicate(name: str) -> NoReturn:
    """Raise DuplicateSite for a second site of the same name."""
    raise DuplicateSite(
        f"the program has two sites of the name {name!r}",
        where=place(),
        help=f"give each site a unique name, such as f'{name}{{i}}' in a loop",
    )


def refuse_unknown(
    name: str, known: Iterable[str], what: str, *, observed: bool = False
) -> NoReturn:
    """Raise UnknownSite for a site that a run did not reach as a choice. observed: it is an
    observation."""
    if observed:
        raise UnknownSite(
            f"{what} names the site {name!r}, which is an observation, not a choice",
            where=place(),
            help="leave it out; to give its value from outside, make it a choice, sample(name, "
            "distribution), of condition(model, {name: value})",
        )
    raise UnknownSite(
        f"{what} names the site {name!r}, which the program did not reach",
        where=place(),
        notes=_nearest(name, known),
        help="name a site of the program: simulate(model).sites lists those of one run",
    )


def refuse_missing(name: str, known: Iterable[str]) -> NoReturn:
    """Raise UnknownSite for a choice without a value to score."""
    raise UnknownSite(
        f"no value is given for the choice {name!r}",
        where=place(),
        notes=_nearest(name, known),
        help="score(model, values, ...) needs a value for every choice; replay(...) draws the rest",
    )


def refuse_parameters(distribution: Any, error: Exception | None) -> NoReturn:
    """Raise ProbabilisticError for invalid parameters of a distribution."""
    raise ProbabilisticError(
        f"{distribution!r} has parameters that are not allowed"
        + ("" if error is None else f": {error}"),
        where=place(),
        help="see the class's docstring; scales, rates and shapes are positive, probabilities lie "
        "between 0 and 1 and sum to 1",
    ) from error


def count_of(steps: Any) -> int:
    """A number of steps. Raises ProbabilisticError unless it is an integer, 0 or more."""
    if not hasattr(steps, "__index__") or steps < 0:
        raise ProbabilisticError(
            f"a chain has no {steps!r} steps",
            where=place(),
            help="pass steps=0 or a larger integer",
        )
    return int(steps)


def refuse_nan(distribution: Any) -> NoReturn:
    """Raise ProbabilisticError for a value that is nan."""
    raise ProbabilisticError(
        f"nan is no value of {distribution!r}",
        where=place(),
        help="leave out missing data, or make them choices: sample(name, distribution)",
    )


def refuse_distribution(distribution: Any, function: str, known: Iterable[type]) -> NoReturn:
    """Raise ProbabilisticError for an object that is no distribution."""
    name = type(distribution).__name__
    names = [cls.__name__ for cls in known]
    raise ProbabilisticError(
        f"{distribution!r} is not a distribution: {function} has no method for {name}",
        where=place(),
        notes=_nearest(name, names),
        help=f"give one of overlay.interpretations.probabilistic, or add a method with "
        f"@{function}.dispatch",
    )


def refuse_infinite(name: str, distribution: Any, finite: Iterable[type]) -> NoReturn:
    """Raise ProbabilisticError for a choice that has not finitely many values."""
    raise ProbabilisticError(
        f"{name!r}, which is {distribution!r}, has no finite set of values",
        where=place(),
        notes=[("finite", ", ".join(cls.__name__ for cls in finite))],
        help="give it another proposal: proposals={name: RandomWalk(scale)}",
    )


def refuse_conditional(name: str, value: Any) -> NoReturn:
    """Raise ProbabilisticError for a choice with a value for which the program makes different
    choices.
    """
    raise ProbabilisticError(
        f"with {value!r} for {name!r} the program makes different choices, so that it has no "
        "distribution given all others",
        where=place(),
        help=f"change it by Metropolis-Hastings: proposals={{{name!r}: Prior()}}",
    )


def refuse_hamiltonian(
    why: str,
    remedy: str = "",
    notes: Iterable[tuple[str, str]] = (),
    cause: Exception | None = None,
) -> NoReturn:
    """Raise ProbabilisticError for a program that has no Hamiltonian dynamics.

    remedy: tried before another sampler, which the message suggests in any case.
    """
    raise ProbabilisticError(
        f"hmc cannot move the choices: {why}",
        where=place(),
        notes=[*notes, *([] if cause is None else [("cause", str(cause).splitlines()[0])])],
        help=f"{remedy}; or {_ANOTHER}" if remedy else _ANOTHER,
    ) from cause


_ANOTHER = (
    "use metropolis_hastings, or gibbs for finite choices; condition(model, values) fixes some"
)
