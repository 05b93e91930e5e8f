"""Proposal distributions for the values of choices."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np

from overlay.interpretations.probabilistic.errors import ProbabilisticError, place, refuse_unknown
from overlay.interpretations.probabilistic.random_values import draw

__all__ = ["Conditional", "Prior", "Proposal", "Proposals", "RandomWalk", "chooser"]


@runtime_checkable
class Proposal(Protocol):
    """Protocol of proposal distributions, which propose a new value of a choice.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Proposal, RandomWalk
    >>> isinstance(RandomWalk(0.1), Proposal)
    True
    """

    def propose(
        self, distribution: Any, value: Any, rng: np.random.Generator
    ) -> tuple[Any, float | None]:
        """Propose a value.

        Parameters
        ----------
        distribution : named tuple
            The distribution of the choice.
        value : float, int or bool
            Its present value.
        rng : numpy.random.Generator
            Random numbers.

        Returns
        -------
        (value, float or None)
            The proposed value, and the correction of the acceptance ratio: the log density of
            proposing ``value`` from it, minus that of the reverse; None for a value drawn from
            the distribution itself.
        """
        ...


class Prior(NamedTuple):
    """Proposal that draws values from the distribution of the choice.

    Examples
    --------
    >>> import numpy as np
    >>> from overlay.interpretations.probabilistic import Bernoulli, Prior
    >>> Prior().propose(Bernoulli(1.0), False, np.random.default_rng(0))
    (True, None)
    """

    def propose(
        self, distribution: Any, value: Any, rng: np.random.Generator
    ) -> tuple[Any, float | None]:
        """Draw a value of the distribution.

        Parameters
        ----------
        distribution : named tuple
            The distribution of the choice.
        value : float, int or bool
            Its present value.
        rng : numpy.random.Generator
            Random numbers.

        Returns
        -------
        (value, float or None)
            The drawn value, and None: the ratio needs no correction.
        """
        return draw(distribution, rng), None


class RandomWalk(NamedTuple):
    """Proposal that adds a normal number to the value, rounded for integers; it negates booleans.

    Parameters
    ----------
    scale : float
        The standard deviation of the normal number, > 0.

    Examples
    --------
    >>> import numpy as np
    >>> from overlay.interpretations.probabilistic import Bernoulli, RandomWalk
    >>> RandomWalk(1.0).propose(Bernoulli(0.5), False, np.random.default_rng(0))
    (True, 0.0)
    """

    scale: float

    def propose(
        self, distribution: Any, value: Any, rng: np.random.Generator
    ) -> tuple[Any, float | None]:
        """Add a random number to the value.

        Parameters
        ----------
        distribution : named tuple
            The distribution of the choice.
        value : float, int or bool
            Its present value.
        rng : numpy.random.Generator
            Random numbers.

        Returns
        -------
        (value, float or None)
            The proposed value, and 0: proposals in both directions are equally likely.
        """
        change = float(rng.normal(0.0, self.scale))
        if type(value) is bool:
            return not value, 0.0
        return value + (round(change) if isinstance(value, int) else change), 0.0


class Conditional(NamedTuple):
    """Proposal that draws a finite choice from its distribution given all other choices and the
    observations: the step of Gibbs sampling.

    The sampler computes that distribution from the changes of the log joint density.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import (
    ...     Bernoulli, Conditional, metropolis_hastings, sample
    ... )
    >>> chain = metropolis_hastings(
    ...     lambda: sample("x", Bernoulli(1.0)), steps=3, proposals=Conditional()
    ... )
    >>> chain["x"].tolist()
    [True, True, True]
    """

    def propose(
        self, distribution: Any, value: Any, rng: np.random.Generator
    ) -> tuple[Any, float | None]:
        """Raise TypeError: samplers draw from the conditional distribution themselves.

        Parameters
        ----------
        distribution : named tuple
            The distribution of the choice.
        value : float, int or bool
            Its present value.
        rng : numpy.random.Generator
            Random numbers.
        """
        raise TypeError("a sampler draws from the conditional distribution by itself")


Proposals = Mapping[str, Proposal] | Callable[[str], Proposal | None] | Proposal | None
"""A proposal for all choices, a mapping for some, or a function from the name of a choice to its
proposal. A choice without a proposal is drawn from its distribution.
"""


def chooser(proposals: Proposals, names: Any) -> Callable[[str], Proposal | None]:
    """The function from names to proposals; it returns None for a choice without one. Raises
    UnknownSite for a proposal of a name that is not in ``names``, and ProbabilisticError for an
    object that is no proposal.
    """
    if proposals is None:
        return lambda name: None
    if isinstance(proposals, Mapping):
        for name in proposals:
            if name not in names:
                refuse_unknown(name, names, "proposals")
        return {name: _checked(each) for name, each in proposals.items()}.get
    if isinstance(proposals, Proposal):
        proposal = _checked(proposals)
        return lambda name: proposal
    if callable(proposals):
        return proposals
    raise _no_proposal(proposals)


def _checked(proposal: Any) -> Proposal:
    """A proposal; raises ProbabilisticError for an object that is none, or moves no value."""
    if isinstance(proposal, type) or not isinstance(proposal, Proposal):
        raise _no_proposal(proposal)
    if isinstance(proposal, RandomWalk) and not 0.0 < proposal.scale < math.inf:
        raise ProbabilisticError(
            f"{proposal!r} has a scale that is not allowed",
            where=place(),
            help="give a finite number above 0: the standard deviation of its steps",
        )
    return proposal


def _no_proposal(given: Any) -> ProbabilisticError:
    return ProbabilisticError(
        f"{given!r} is no proposal",
        where=place(),
        help="give RandomWalk(scale), a dict of proposals by name, or a function from names",
    )
