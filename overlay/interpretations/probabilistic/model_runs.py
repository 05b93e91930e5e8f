"""Interpretations of programs: each is a context with methods for ``sample`` and ``observe``, and
contexts nest and combine like any others."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from overlay import Context, MethodTable, call_next, nonoverlay
from overlay.contexts.rules_alone import in_program, runs_alone
from overlay.core.target import refuse_values
from overlay.interpretations.probabilistic.errors import (
    refuse_duplicate,
    refuse_missing,
    refuse_unknown,
)
from overlay.interpretations.probabilistic.language import Trace, observe, sample, total
from overlay.interpretations.probabilistic.random_values import drawn, scored

__all__ = [
    "Random",
    "condition",
    "conditioning",
    "replay",
    "replaying",
    "score",
    "scoring",
    "simulate",
    "simulating",
    "tracing",
]

Random = np.random.Generator | int | None
"""Random numbers: a generator, a seed, or None for a seed from entropy."""


# ---- contexts -------------------------------------------------------------------------------


@runs_alone
def simulating(rng: Random = None) -> Context:
    """A context in which choices are drawn at random.

    Parameters
    ----------
    rng : numpy.random.Generator, int or None
        Random numbers: a generator, a seed, or None for a seed from entropy.

    Returns
    -------
    Context
        The context.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Bernoulli, sample, simulating
    >>> with simulating(0):
    ...     sample("x", Bernoulli(1.0))
    True
    """
    numbers = np.random.default_rng(rng)
    table = MethodTable("simulating")

    @table.overlay(sample)
    @runs_alone
    def drawn_value(name: str, distribution: Any) -> Any:
        return drawn(distribution, numbers)[0]

    return Context(table)


@runs_alone
def conditioning(values: Mapping[str, Any], *, met: set[str] | None = None) -> Context:
    """A context in which some choices are observations.

    Parameters
    ----------
    values : mapping
        The observed values, by the names of the choices.
    met : set of str or None
        A set to which the names that a run reaches are added.

    Returns
    -------
    Context
        The context.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Normal, conditioning, sample
    >>> with conditioning({"x": 2.0}):
    ...     sample("x", Normal(0.0, 1.0))
    2.0
    """
    table = MethodTable("conditioning")

    @nonoverlay
    def met_value(name: str) -> Any:
        if met is not None:
            met.add(name)
        return values[name]

    @table.overlay(sample)
    def given(name: str, distribution: Any) -> Any:
        if _has(values, name):
            return observe(name, distribution, met_value(name))
        return call_next(name, distribution)

    return Context(table)


@runs_alone
def replaying(values: Mapping[str, Any]) -> Context:
    """A context in which some choices have given values; others are unaffected.

    Parameters
    ----------
    values : mapping
        The values, by the names of the choices.

    Returns
    -------
    Context
        The context.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Normal, replaying, sample
    >>> with replaying({"x": 2.0}):
    ...     sample("x", Normal(0.0, 1.0))
    2.0
    """
    table = MethodTable("replaying")

    @table.overlay(sample)
    def replayed(name: str, distribution: Any) -> Any:
        return _get(values, name) if _has(values, name) else call_next(name, distribution)

    return Context(table)


@runs_alone
def tracing(trace: Trace) -> Context:
    """A context that records the sites of a run in a trace.

    Parameters
    ----------
    trace : Trace
        The trace, to which sites are added.

    Returns
    -------
    Context
        The context.

    Raises
    ------
    DuplicateSite
        Raised by a run in which two sites have one name.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Normal, Trace, observe, tracing
    >>> trace = Trace()
    >>> with tracing(trace):
    ...     observe("y", Normal(0.0, 1.0), 0.5)
    0.5
    >>> trace["y"], trace.sites["y"].observed
    (0.5, True)
    """
    table = MethodTable("tracing")
    observed = runs_alone(trace.note)

    @runs_alone
    def note(name: str, distribution: Any, value: Any) -> None:
        if name not in trace.sites:
            trace.note(name, distribution, value, False)

    @table.overlay(sample)
    def noted(name: str, distribution: Any) -> Any:
        if _has(trace.sites, name):
            refuse_duplicate(name)
        value = call_next(name, distribution)
        note(name, distribution, value)  # unless it became an observation
        return value

    @table.overlay(observe)
    def seen(name: str, distribution: Any, value: Any) -> Any:
        value = call_next(name, distribution, value)
        observed(name, distribution, value, True)
        return value

    return Context(table)


@runs_alone
def scoring(
    values: Mapping[str, Any], terms: dict[str, float], *, met: set[str] | None = None
) -> Context:
    """A context in which all choices have given values, and the log density of each site is
    stored.

    Parameters
    ----------
    values : mapping
        The values, by the names of the choices.
    terms : dict
        Receives the log density of each site, by name.
    met : set of str or None
        A set to which the names of the choices that a run reaches are added.

    Returns
    -------
    Context
        The context.

    Raises
    ------
    UnknownSite
        Raised by a run with a choice without a value.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Uniform, sample, scoring
    >>> terms = {}
    >>> with scoring({"x": 0.5}, terms):
    ...     sample("x", Uniform(0.0, 1.0))
    0.5
    >>> terms
    {'x': -0.0}
    """
    table = MethodTable("scoring")

    @nonoverlay
    def needed(name: str) -> Any:
        if name not in values:
            refuse_missing(name, values)
        if met is not None:
            met.add(name)
        return values[name]

    @runs_alone
    def note(name: str, distribution: Any, value: Any) -> Any:
        if name in terms:
            refuse_duplicate(name)
        terms[name] = scored(distribution, value)
        return value

    @table.overlay(sample)
    def given(name: str, distribution: Any) -> Any:
        return note(name, distribution, needed(name))

    @table.overlay(observe)
    def seen(name: str, distribution: Any, value: Any) -> Any:
        return note(name, distribution, value)

    return Context(table)


_has: Any = nonoverlay(operator.contains)
_get: Any = nonoverlay(operator.getitem)


# ---- functions ------------------------------------------------------------------------------


@runs_alone
def simulate(model: Callable[..., Any], *args: Any, rng: Random = None) -> Trace:
    """Run a program with choices drawn at random.

    Parameters
    ----------
    model : callable
        The program.
    *args
        Its arguments.
    rng : numpy.random.Generator, int or None
        Random numbers: a generator, a seed, or None for a seed from entropy.

    Returns
    -------
    Trace
        The sites of the run, and its result.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Normal, sample, simulate
    >>> def model():
    ...     x = sample("x", Normal(0.0, 1.0))
    ...     return sample("y", Normal(x, 1.0))
    >>> trace = simulate(model, rng=0)
    >>> list(trace.sites), trace["y"] == trace.result
    (['x', 'y'], True)
    """
    return replay({}, model, *args, rng=rng)


@runs_alone
def replay(
    values: Mapping[str, Any] | Trace, model: Callable[..., Any], *args: Any, rng: Random = None
) -> Trace:
    """Run a program with given values of some choices; others are drawn.

    Parameters
    ----------
    values : mapping or Trace
        The values by name, or another run.
    model : callable
        The program.
    *args
        Its arguments.
    rng : numpy.random.Generator, int or None
        As for ``simulate``.

    Returns
    -------
    Trace
        The sites of the run, and its result.

    Raises
    ------
    UnknownSite
        The program does not reach a name of a mapping ``values``, or observes it.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Normal, replay, sample
    >>> replay({"x": 2.0}, lambda: sample("x", Normal(0.0, 1.0))).result
    2.0
    """
    kept = values.values if isinstance(values, Trace) else values
    trace = Trace()
    with simulating(rng), replaying(kept), tracing(trace):
        trace.result = in_program(model, *args)
    if kept is values:
        _check_met(kept, trace.values, "replay", trace.sites)
    return trace


@runs_alone
def score(model: Callable[..., Any], values: Mapping[str, Any], *args: Any) -> float:
    """The log joint density of a program's choices and observations.

    Parameters
    ----------
    model : callable
        The program.
    values : mapping
        The value of each choice, by name.
    *args
        The arguments of the program.

    Returns
    -------
    float
        The log joint density.

    Raises
    ------
    UnknownSite
        A choice has no value, or a value no choice.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Uniform, sample, score
    >>> import math
    >>> score(lambda: sample("x", Uniform(0.0, 0.5)), {"x": 0.1}) == math.log(2.0)
    True
    """
    terms: dict[str, float] = {}
    met = set[str]()
    with scoring(values, terms, met=met):
        in_program(model, *args)
    _check_met(values, met, "score", terms)
    return total(list(terms.values()))


@runs_alone
def condition(model: Callable[..., Any], values: Mapping[str, Any]) -> Callable[..., Any]:
    """Condition a program: some choices become observations.

    Parameters
    ----------
    model : callable
        The program.
    values : mapping
        The observed values, by the names of the choices.

    Returns
    -------
    callable
        The conditioned program. A run of it raises UnknownSite if it does not reach all names.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Normal, condition, sample, simulate
    >>> model = condition(lambda: sample("x", Normal(0.0, 1.0)), {"x": 2.0})
    >>> simulate(model).sites["x"].observed
    True
    """
    refuse_values(model, "condition", "give the program first: condition(model, {name: value})")
    values = dict(values)
    met = set[str]()
    context = conditioning(values, met=met)

    @runs_alone
    def conditioned(*args: Any, **kwargs: Any) -> Any:
        met.clear()
        with context:
            result = in_program(model, *args, **kwargs)
        _check_met(values, met, "condition")
        return result

    return conditioned


def _check_met(values: Mapping[str, Any], met: Any, what: str, sites: Any = ()) -> None:
    """Refuse a value of a site that is no choice of a run. sites: all that the run reached."""
    for name in values:
        if name not in met:
            refuse_unknown(name, met, what, observed=name in sites)
