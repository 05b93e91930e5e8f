"""Proposals: what a choice is changed to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from overlay.interpretations.probabilistic.errors import ProbabilisticError, place, refuse_unknown
from overlay.interpretations.probabilistic.random_values import draw

__all__ = ["Prior", "Proposal", "Proposals", "RandomWalk", "chooser"]


@runtime_checkable
class Proposal(Protocol):
    """Proposes another value of a choice."""

    def propose(
        self, distribution: Any, value: Any, rng: np.random.Generator
    ) -> tuple[Any, float | None]:
        """A value, and the log density of proposing ``value`` from it, less that of proposing it
        from ``value``; None where values are drawn from the distribution itself."""
        ...


class Prior(NamedTuple):
    """Draws from the distribution of the choice, as the other choices are."""

    def propose(
        self, distribution: Any, value: Any, rng: np.random.Generator
    ) -> tuple[Any, float | None]:
        return draw(distribution, rng), None


class RandomWalk(NamedTuple):
    """Adds a normal number with standard deviation ``scale``, to a whole number a rounded one."""

    scale: float

    def propose(
        self, distribution: Any, value: Any, rng: np.random.Generator
    ) -> tuple[Any, float | None]:
        change = float(rng.normal(0.0, self.scale))
        if type(value) is bool:
            return not value, 0.0
        return value + (round(change) if isinstance(value, int) else change), 0.0


Proposals = Mapping[str, Proposal] | Callable[[str], Proposal] | Proposal | None
"""A proposal for all choices, those for some (others are drawn from their distributions), or a
function from the name of a choice."""


def chooser(proposals: Proposals, names: Any) -> Callable[[str], Proposal]:
    """The proposal for each name. Raises UnknownSite for one that is not among ``names``."""
    prior = Prior()
    if proposals is None:
        return lambda name: prior
    if isinstance(proposals, Mapping):
        for name in proposals:
            if name not in names:
                refuse_unknown(name, names, "proposals")
        given = dict[str, Proposal](proposals)
        return lambda name: given.get(name, prior)
    if isinstance(proposals, Proposal):
        return lambda name: proposals
    if callable(proposals):
        return proposals
    raise ProbabilisticError(
        f"{proposals!r} is no proposal",
        where=place(),
        help="give RandomWalk(scale), a dict of proposals by name, or a function from names",
    )
