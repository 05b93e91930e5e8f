"""The modelling language: choices and observations, as generic functions."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from overlay import generic
from overlay.core.markup import badge, code, listed, sheet, shown_value
from overlay.core.public_names import hides
from overlay.core.short_repr import counted
from overlay.interpretations.probabilistic.errors import UnknownSite, refuse_duplicate
from overlay.interpretations.probabilistic.random_values import draw, scored

__all__ = ["Site", "Trace", "observe", "sample"]


@generic
def sample(name: str, distribution: Any) -> Any:
    """Make a choice: a value of a distribution, under a name that is unique in a run.

    The interpretation in force determines the value; by default it is drawn at random.

    Parameters
    ----------
    name : str
        The name of the choice.
    distribution : named tuple
        A distribution, such as ``Normal(0.0, 1.0)``.

    Returns
    -------
    float, int or bool
        The value.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Normal, sample, simulating
    >>> with simulating(0):
    ...     sample("x", Normal(0.0, 1.0)) == sample("y", Normal(0.0, 1.0))
    False
    """
    return draw(distribution, np.random.default_rng())


@generic
def observe(name: str, distribution: Any, value: Any) -> Any:
    """Record an observed value of a distribution.

    Parameters
    ----------
    name : str
        The name of the observation, unique in a run.
    distribution : named tuple
        A distribution, such as ``Normal(0.0, 1.0)``.
    value : float, int or bool
        The observed value.

    Returns
    -------
    float, int or bool
        The value.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Normal, observe
    >>> observe("y", Normal(0.0, 1.0), 0.5)
    0.5
    """
    return value


class Site(NamedTuple):
    """A choice or an observation of a run.

    Attributes
    ----------
    distribution : named tuple
        Its distribution.
    value : float, int or bool
        Its value.
    log_density : float
        The log density of the value.
    observed : bool
        Whether it is an observation.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Exponential, observe, simulate
    >>> simulate(lambda: observe("y", Exponential(1.0), 2.0)).sites["y"].log_density
    -2.0
    """

    distribution: Any
    value: Any
    log_density: float
    observed: bool


@hides("note")
class Trace:
    """A record of one run of a program.

    Attributes
    ----------
    sites : dict of str to Site
        The sites by name, in execution order.
    result : object
        The result of the program.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Bernoulli, sample, simulate
    >>> simulate(lambda: sample("x", Bernoulli(1.0))).values
    {'x': True}
    """

    def __init__(self) -> None:
        self.sites: dict[str, Site] = {}
        self.result: Any = None

    @property
    def values(self) -> dict[str, Any]:
        """The values of the choices, by name."""
        return {name: site.value for name, site in self.sites.items() if not site.observed}

    @property
    def log_joint(self) -> float:
        """The log joint density of choices and observations: the sum over the sites, rounded
        once."""
        return total([site.log_density for site in self.sites.values()])

    def __getitem__(self, name: str) -> Any:
        if name not in self.sites:
            raise UnknownSite(
                f"the run has no site {name!r}",
                notes=[("sites", ", ".join(map(repr, list(self.sites)[:10])))],
                help="name one of its sites",
            )
        return self.sites[name].value

    def __repr__(self) -> str:
        return f"<Trace of {counted(len(self.sites), 'site')}, log joint {self.log_joint:.6g}>"

    def _repr_html_(self) -> str:
        sites = listed(
            ("site", "distribution", "value", "log density", ""),
            [*self.sites.items()],
            lambda pair: (
                code(pair[0]),
                shown_value(pair[1].distribution),
                shown_value(pair[1].value),
                f"{pair[1].log_density:.6g}",
                badge("observed", "green") if pair[1].observed else "",
            ),
        )
        return sheet("trace", "", f"log joint {self.log_joint:.6g}", sites)

    def note(self, name: str, distribution: Any, value: Any, observed: bool) -> None:
        """Add a site.

        Parameters
        ----------
        name : str
            The name.
        distribution : named tuple
            The distribution.
        value : float, int or bool
            The value.
        observed : bool
            Whether it is an observation.

        Raises
        ------
        DuplicateSite
            The run has a site of this name.
        ProbabilisticError
            The parameters of the distribution are invalid.
        """
        if name in self.sites:
            refuse_duplicate(name)
        self.sites[name] = Site(distribution, value, scored(distribution, value), observed)


def total(terms: list[float]) -> float:
    """The sum, rounded once, also of infinite terms; nan for infinities of both signs."""
    try:
        return math.fsum(terms)
    except (OverflowError, ValueError):
        return sum(terms)
