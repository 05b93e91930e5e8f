"""Proposal distributions for the values of choices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from overlay.interpretations.probabilistic.errors import ProbabilisticError, place, refuse_unknown
from overlay.interpretations.probabilistic.random_values import draw

__all__ = ["Conditional", "Prior", "Proposal", "Proposals", "RandomWalk", "chooser"]


@runtime_checkable
class Proposal(Protocol):
    """Proposes a new value of a choice."""

    def propose(
        self, distribution: Any, value: Any, rng: np.random.Generator
    ) -> tuple[Any, float | None]:
        """A proposed value, and the correction of the acceptance ratio: the log density of
        proposing ``value`` from it, minus that of the reverse; None for values drawn from the
        distribution itself."""
        ...


class Prior(NamedTuple):
    """Proposes values drawn from the distribution of the choice."""

    def propose(
        self, distribution: Any, value: Any, rng: np.random.Generator
    ) -> tuple[Any, float | None]:
        """A value drawn from the distribution."""
        return draw(distribution, rng), None


class RandomWalk(NamedTuple):
    """Adds a normal number with standard deviation ``scale``, rounded for integers; negates
    booleans."""

    scale: float

    def propose(
        self, distribution: Any, value: Any, rng: np.random.Generator
    ) -> tuple[Any, float | None]:
        """A value at a random distance; its correction is 0."""
        change = float(rng.normal(0.0, self.scale))
        if type(value) is bool:
            return not value, 0.0
        return value + (round(change) if isinstance(value, int) else change), 0.0


class Conditional(NamedTuple):
    """Draws a finite choice from its distribution given all other choices and the observations: the
    step of Gibbs sampling. The sampler computes it from the changes of the log joint density."""

    def propose(
        self, distribution: Any, value: Any, rng: np.random.Generator
    ) -> tuple[Any, float | None]:
        """Raises TypeError: a sampler draws from the conditional distribution by itself."""
        raise TypeError("a sampler draws from the conditional distribution by itself")


Proposals = Mapping[str, Proposal] | Callable[[str], Proposal | None] | Proposal | None
"""A proposal for all choices, a mapping for some, or a function from the name of a choice to its
proposal. Where it says nothing of a choice, that is drawn from its distribution."""


def chooser(proposals: Proposals, names: Any) -> Callable[[str], Proposal | None]:
    """The function from names to proposals, or None for a choice of which nothing is said. Raises
    UnknownSite for a proposal of a name that is not in ``names``, and ProbabilisticError for an
    object that is no proposal."""
    if proposals is None:
        return lambda name: None
    if isinstance(proposals, Mapping):
        for name in proposals:
            if name not in names:
                refuse_unknown(name, names, "proposals")
        return dict[str, Proposal](proposals).get
    if isinstance(proposals, Proposal):
        return lambda name: proposals
    if callable(proposals):
        return proposals
    raise ProbabilisticError(
        f"{proposals!r} is no proposal",
        where=place(),
        help="give RandomWalk(scale), a dict of proposals by name, or a function from names",
    )
