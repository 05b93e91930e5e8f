"""Probabilistic programs: choices and observations in plain Python, with interpretations that
simulate, score, condition and infer.

``compiled_chain``: a structure in memory that compiled code works on.
``compiled_functions``: functions that compiled programs call.
``compiled_source``: source of compiled programs: a graph as Python that numba compiles.
``compiled_steps``: steps of a chain in compiled code.
``densities``: log densities of the distributions: plain functions of numbers, which numba
compiles, too.
``dependent``: values that depend on choices, in a run that is being recorded.
``distributions``: distributions, as named tuples of their parameters.
``errors``: errors of probabilistic programs.
``hamiltonian``: Hamiltonian Monte Carlo: trajectories by the gradient of the density.
``language``: the modelling language: choices and observations, as generic functions.
``markov_chain``: the states of a Markov chain.
``metropolis``: single-site Metropolis-Hastings: each step changes one choice, and recomputes what
depends on it.
``model_runs``: interpretations of programs: each is a context with methods for ``sample`` and
``observe``, and contexts nest and combine like any others.
``proposals``: proposal distributions for the values of choices.
``pruning``: programs generated from dependency graphs, which recompute a run after one choice
changes.
``random_values``: random values of distributions, and log densities.
``slices``: slices of a tape: all that depends on one choice, as a graph that many choices share.
``structures``: the tape shared by runs with the same control flow, and its slices.
``tape``: the dependency graph of one run: a tape of the computations that depend on choices.
``trace_recording``: recording of runs: calls whose arguments depend on choices become steps of a
tape.
``trace_rows``: the table of distributions: a row for each.
``words``: the values of a tape as words, which compiled code reads and writes.
"""

from overlay.core.public_names import completes
from overlay.interpretations.probabilistic.distributions import (
    Bernoulli,
    Beta,
    Binomial,
    Categorical,
    Cauchy,
    DiscreteUniform,
    Exponential,
    Gamma,
    Geometric,
    HalfNormal,
    InverseGamma,
    Laplace,
    LogNormal,
    NegativeBinomial,
    Normal,
    Poisson,
    StudentT,
    Uniform,
)
from overlay.interpretations.probabilistic.errors import (
    DuplicateSite,
    ImpossibleObservation,
    NotTraceable,
    ProbabilisticError,
    UnknownSite,
)
from overlay.interpretations.probabilistic.hamiltonian import HamiltonianMonteCarlo, hmc
from overlay.interpretations.probabilistic.language import Site, Trace, observe, sample
from overlay.interpretations.probabilistic.markov_chain import Chain
from overlay.interpretations.probabilistic.metropolis import (
    MetropolisHastings,
    gibbs,
    metropolis_hastings,
)
from overlay.interpretations.probabilistic.model_runs import (
    condition,
    conditioning,
    replay,
    replaying,
    score,
    scoring,
    simulate,
    simulating,
    tracing,
)
from overlay.interpretations.probabilistic.proposals import Conditional, Prior, Proposal, RandomWalk
from overlay.interpretations.probabilistic.random_values import draw, log_density
from overlay.interpretations.probabilistic.trace_rows import DISTRIBUTIONS

__all__ = [
    "DISTRIBUTIONS",
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Cauchy",
    "Chain",
    "Conditional",
    "DiscreteUniform",
    "DuplicateSite",
    "Exponential",
    "Gamma",
    "Geometric",
    "HalfNormal",
    "HamiltonianMonteCarlo",
    "ImpossibleObservation",
    "InverseGamma",
    "Laplace",
    "LogNormal",
    "MetropolisHastings",
    "NegativeBinomial",
    "Normal",
    "NotTraceable",
    "Poisson",
    "Prior",
    "ProbabilisticError",
    "Proposal",
    "RandomWalk",
    "Site",
    "StudentT",
    "Trace",
    "Uniform",
    "UnknownSite",
    "condition",
    "conditioning",
    "draw",
    "gibbs",
    "hmc",
    "log_density",
    "metropolis_hastings",
    "observe",
    "replay",
    "replaying",
    "sample",
    "score",
    "scoring",
    "simulate",
    "simulating",
    "tracing",
]
__dir__ = completes(__all__)
