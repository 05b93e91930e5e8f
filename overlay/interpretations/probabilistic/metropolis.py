"""Single-site Metropolis-Hastings: each step changes one choice, and recomputes what depends on
it."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NoReturn

import numpy as np

from overlay import Context, MethodTable
from overlay.contexts.rules_alone import in_program, runs_alone
from overlay.core.public_names import hides
from overlay.core.short_repr import counted
from overlay.interpretations.probabilistic.compiled_chain import Halt, Machine
from overlay.interpretations.probabilistic.compiled_steps import chosen
from overlay.interpretations.probabilistic.errors import (
    ImpossibleObservation,
    ProbabilisticError,
    count_of,
    place,
    refuse_conditional,
    refuse_unknown,
)
from overlay.interpretations.probabilistic.language import Site, Trace, observe, sample, total
from overlay.interpretations.probabilistic.markov_chain import Chain
from overlay.interpretations.probabilistic.model_runs import Random
from overlay.interpretations.probabilistic.proposals import (
    Conditional,
    Prior,
    Proposal,
    Proposals,
    chooser,
)
from overlay.interpretations.probabilistic.random_values import (
    drawn,
    of_its_class,
    scored,
    values_of,
)
from overlay.interpretations.probabilistic.structures import Structure, Structures
from overlay.interpretations.probabilistic.trace_rows import DISTRIBUTIONS

__all__ = ["MetropolisHastings", "gibbs", "metropolis_hastings"]

_ATTEMPTS = 100


@runs_alone
def metropolis_hastings(
    model: Callable[..., Any],
    *args: Any,
    steps: int = 1000,
    rng: Random = None,
    proposals: Proposals = None,
    initial: Mapping[str, Any] | None = None,
    incremental: bool = True,
    compiled: bool = False,
) -> Chain:
    """Run a Markov chain that converges to the posterior of a program's choices, given its
    observations.

    Each step changes one choice, selected uniformly at random; choices that exist only after the
    change are drawn.

    Parameters
    ----------
    model : callable
        The program.
    *args
        Its arguments.
    steps : int
        The number of steps.
    rng : numpy.random.Generator, int or None
        Random numbers: a generator, a seed, or None for a seed from entropy.
    proposals : Proposal, mapping, callable or None
        A proposal for all choices, a mapping for some, or a function from the name of a choice to
        its proposal. A choice without one is drawn from its distribution.
    initial : mapping or None
        Initial values of choices, by name.
    incremental : bool
        Whether a step recomputes only the values that depend on the choice; this changes only the
        cost.
    compiled : bool
        Whether steps run in compiled code, which is worth its compile time for long chains. Sums
        of log densities differ by some units in the last place.

    Returns
    -------
    Chain
        The choices after each step.

    Raises
    ------
    ProbabilisticError
        The program makes no choices.
    ImpossibleObservation
        No possible initial run is found.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import (
    ...     Bernoulli, metropolis_hastings, observe, sample
    ... )
    >>> def rain_or_not():
    ...     rain = sample("rain", Bernoulli(0.2))
    ...     observe("wet", Bernoulli(0.9 if rain else 0.1), True)
    >>> chain = metropolis_hastings(rain_or_not, steps=2000, rng=1)
    >>> bool(abs(chain["rain"].mean() - 0.18 / 0.26) < 0.05)
    True

    References
    ----------
    D. Wingate, A. Stuhlmüller and N. D. Goodman, "Lightweight implementations of probabilistic
    programming languages via transformational compilation", AISTATS 2011.
    """
    sampler = MetropolisHastings(
        model,
        *args,
        rng=rng,
        proposals=proposals,
        initial=initial,
        incremental=incremental,
        compiled=compiled,
    )
    return sampler.run(steps)


@runs_alone
def gibbs(
    model: Callable[..., Any],
    *args: Any,
    steps: int = 1000,
    rng: Random = None,
    proposals: Proposals = None,
    initial: Mapping[str, Any] | None = None,
    incremental: bool = True,
    compiled: bool = False,
) -> Chain:
    """Run a Markov chain that draws finite choices from their distributions given all other
    choices and the observations.

    Each step changes one choice, selected uniformly at random. A choice that is no ``Bernoulli``,
    ``Categorical`` or ``DiscreteUniform`` changes by Metropolis-Hastings.

    Parameters
    ----------
    model : callable
        The program.
    *args
        Its arguments.
    steps, rng, initial, incremental, compiled
        As for ``metropolis_hastings``.
    proposals : Proposal, mapping, callable or None
        As for ``metropolis_hastings``. A finite choice that a mapping or function names changes
        by its proposal, too.

    Returns
    -------
    Chain
        The choices after each step.

    Raises
    ------
    ProbabilisticError
        The program makes no choices, or different choices for some values of a finite one.
    ImpossibleObservation
        No possible initial run is found.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Bernoulli, gibbs, observe, sample
    >>> def rain_or_not():
    ...     rain = sample("rain", Bernoulli(0.2))
    ...     observe("wet", Bernoulli(0.9 if rain else 0.1), True)
    >>> chain = gibbs(rain_or_not, steps=2000, rng=1)
    >>> bool(abs(chain["rain"].mean() - 0.18 / 0.26) < 0.05)
    True

    References
    ----------
    S. Geman and D. Geman, "Stochastic relaxation, Gibbs distributions, and the Bayesian restoration
    of images", IEEE Trans. Pattern Anal. Mach. Intell. 6, 1984.
    """
    sampler = MetropolisHastings(
        model,
        *args,
        rng=rng,
        proposals=proposals,
        initial=initial,
        incremental=incremental,
        compiled=compiled,
        conditional=True,
    )
    return sampler.run(steps)


@hides("args", "compiled", "model", "proposal", "rng", "structure", "structures")
class MetropolisHastings:
    """A running chain. ``step`` makes one step, ``run`` several.

    Parameters
    ----------
    model, *args, rng, proposals, initial, incremental, compiled
        As for ``metropolis_hastings``.
    conditional : bool
        Whether finite choices are drawn from their distributions given all others, as by
        ``gibbs``.

    Attributes
    ----------
    steps, accepted : int
        The numbers of steps made and accepted.
    reruns : int
        The number of runs of the whole program.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Bernoulli, MetropolisHastings, sample
    >>> sampler = MetropolisHastings(lambda: sample("x", Bernoulli(0.5)), rng=0)
    >>> len(sampler.run(10)), sampler.steps
    (10, 10)
    """

    @runs_alone
    def __init__(
        self,
        model: Callable[..., Any],
        *args: Any,
        rng: Random = None,
        proposals: Proposals = None,
        initial: Mapping[str, Any] | None = None,
        incremental: bool = True,
        compiled: bool = False,
        conditional: bool = False,
    ) -> None:
        if compiled and not incremental:
            raise ProbabilisticError(
                "a chain that runs the whole program at each step cannot be compiled",
                where=place(),
                help="leave out incremental=False, or compiled=True",
            )
        self.compiled = compiled
        self.model = model
        self.args = args
        self.rng = np.random.default_rng(rng)
        self.steps = self.accepted = self.reruns = 0
        self._rerun = Rerun(self)
        self._trace: Trace | None = self._begun(dict(initial or {}))
        self._names = tuple(self._trace.values)
        if not self._names:
            raise ProbabilisticError(
                "the program makes no choices",
                where=place(),
                help="call sample(name, distribution) for each value to infer",
            )
        self.conditional = conditional
        self._proposals = proposals
        self._proposal_for = chooser(proposals, self._names)
        self.structures = Structures(self) if incremental else None
        self._structure: Structure | None = None
        if self.structures is not None:
            self._structure = self.structures.record(self._trace)

    # ---- state --------------------------------------------------------------------------------

    @property
    def trace(self) -> Trace:
        """The current run of the chain."""
        if self._trace is None:
            assert self._structure is not None
            self._trace = self._structure.trace()
        return self._trace

    @property
    def names(self) -> tuple[str, ...]:
        """The names of its choices, in execution order."""
        return self._names

    @property
    def structure(self) -> Structure | None:
        """The recorded structure of the current run; None if it is not recorded."""
        return self._structure

    def __repr__(self) -> str:
        return f"<MetropolisHastings: {self.accepted} of {counted(self.steps, 'step')} accepted>"

    # ---- steps --------------------------------------------------------------------------------

    @runs_alone
    def run(self, steps: int) -> Chain:
        """Make some steps.

        Parameters
        ----------
        steps : int
            The number of steps, 0 or more.

        Returns
        -------
        Chain
            The choices after each.

        Raises
        ------
        ProbabilisticError
            ``steps`` is negative.
        """
        steps = count_of(steps)
        chain = Chain(self.trace.values)
        reruns = self.reruns
        while chain.steps < steps:
            if self.compiled and self._structure is not None:
                self._run_compiled(chain, self._structure.machine, steps - chain.steps)
            else:
                chain.note(self._step())
        chain.reruns = self.reruns - reruns
        return chain

    def _run_compiled(self, chain: Chain, machine: Machine, steps: int) -> None:
        """Make steps in compiled code, up to the first that needs the interpreter, and make that
        one."""
        before, accepted = chain.steps, chain.accepted
        halt = machine.run(chain, steps)
        self.steps += chain.steps - before
        if chain.accepted > accepted:
            self.accepted += chain.accepted - accepted
            self._trace = None
        if halt is not None:
            self.steps += 1
            machine.structure.structures.halts += 1
            chain.note(self._step_at(halt.place, halt))

    @runs_alone
    def step(self) -> bool:
        """Make one step.

        Returns
        -------
        bool
            Whether it was accepted.
        """
        return self._step() is not None

    def _step(self) -> dict[str, Any] | tuple[str, Any] | None:
        """Make one step, and return the changed choice with its value; all choices, if others
        changed, too; None if it was rejected."""
        self.steps += 1
        if self.structures is not None and self._structure is None:
            self._structure = self.structures.awaited(self.trace)
        return self._step_at(int(self.rng.integers(len(self._names))))

    def _step_at(
        self, place: int, drawn: Halt | None = None
    ) -> dict[str, Any] | tuple[str, Any] | None:
        """Make a step of one choice. drawn: what compiled code has drawn for it."""
        rng, name = self.rng, self._names[place]
        proposal = self.proposal(place)
        is_drawn = drawn is not None and drawn.is_proposed
        if type(proposal) is Conditional:
            number = drawn.limit if drawn is not None and is_drawn else rng.random()
            return self._redrawn(place, number)
        distribution, old = self._choice(place)
        if drawn is not None and is_drawn:
            new, limit = drawn.new, drawn.limit
            correction = None if type(proposal) is Prior else 0.0
        else:
            new, correction = proposal.propose(distribution, old, rng)
            new = of_its_class(distribution, new)
            limit = math.log1p(-rng.random())
        if correction is not None:
            if scored(distribution, new) == -math.inf:
                return None
            limit -= correction
        if self._structure is not None:
            ratio = self._structure.ratio(place, new, correction is None)
            if ratio is not None:
                return self._settled(name, new, limit < ratio)
        if type(new) is type(old) and isinstance(new, _DISCRETE) and new == old:
            return self._stayed(name, new, limit)
        return self._changed(name, new, limit, correction is None)

    def _stayed(self, name: str, value: Any, limit: float) -> tuple[str, Any] | None:
        """Make a step that proposes the present value: a run with it would be the present run,
        whose ratio is 1."""
        if not limit < 0.0:
            return None
        self.accepted += 1
        return name, value

    def _redrawn(self, place: int, number: float) -> dict[str, Any] | tuple[str, Any] | None:
        """Draw a finite choice given all others. number: random, from 0 to 1."""
        distribution, old = self._choice(place)
        values = values_of(distribution, self._names[place])
        found = [0.0 if v == old else self._ratio_with(place, v) for v in values]
        new = values[chosen(found, number)]
        if new == old:
            return None
        self.accepted += 1
        if self._structure is not None and self._structure.ratio(place, new, False) is not None:
            self._trace = None
            self._structure.accept()
            return self._names[place], new
        trace = self._rerun(self.trace, self._names[place], new)
        assert trace is not None
        return self._moved(trace)

    def _ratio_with(self, place: int, value: Any) -> float:
        """The log of the ratio of the joint densities with another value of a choice."""
        if self._structure is not None:
            ratio = self._structure.ratio(place, value, False)
            if ratio is not None:
                return ratio
        old, name = self.trace, self._names[place]
        trace = self._rerun(old, name, value)
        if trace is None or trace.log_joint == -math.inf:
            return -math.inf
        if not have_same_choices(old.sites, trace.sites):
            refuse_conditional(name, value)
        return log_ratio(old.sites, trace.sites, None)

    def proposal(self, place: int) -> Proposal:
        """The proposal for a choice.

        Parameters
        ----------
        place : int
            The place of the choice in ``names``.

        Returns
        -------
        Proposal
            The given one, else ``Conditional()`` for a finite choice of a Gibbs sampler, else
            ``Prior()``.
        """
        found = self._proposal_for(self._names[place])
        if self.conditional and (found is None or found is self._proposals):
            row = DISTRIBUTIONS.get(self._class_of(place))
            if row is not None and row.support is not None:
                return Conditional()
        return Prior() if found is None else found

    def _class_of(self, place: int) -> type:
        if self._structure is not None:
            return self._structure.choices[place].cls
        return type(self.trace.sites[self._names[place]].distribution)

    def _choice(self, place: int) -> tuple[Any, Any]:
        """The distribution of a choice, and its value."""
        if self._structure is not None:
            return self._structure.choice(place)
        site = self.trace.sites[self._names[place]]
        return site.distribution, site.value

    def _settled(self, name: str, new: Any, accepted: bool) -> tuple[str, Any] | None:
        """Accept or reject the change that was proposed to the structure."""
        assert self._structure is not None
        if not accepted:
            return None
        self.accepted += 1
        self._trace = None
        self._structure.accept()
        return name, new

    def _changed(
        self, name: str, new: Any, limit: float, from_prior: bool
    ) -> dict[str, Any] | None:
        """Make a step by running the whole program."""
        old = self.trace
        trace = self._rerun(old, name, new)
        if trace is None or not limit < log_ratio(
            old.sites, trace.sites, name if from_prior else None
        ):
            return None
        self.accepted += 1
        return self._moved(trace)

    def _moved(self, trace: Trace) -> dict[str, Any]:
        """Go to another run, and return its choices."""
        self._trace, self._names = trace, tuple(trace.values)
        if self.structures is not None:
            self._structure = self.structures.found(trace)
        return trace.values

    def _begun(self, initial: dict[str, Any]) -> Trace:
        """An initial run in which the observations are possible."""
        trace = Trace()
        for _ in range(_ATTEMPTS):
            trace = self._rerun.with_values(initial)
            for name in initial:
                if name not in trace.sites or trace.sites[name].observed:
                    refuse_unknown(name, trace.values, "initial", observed=name in trace.sites)
            if trace.log_joint > -math.inf:
                return trace
        return self._rerun.refuse_impossible(trace)


_DISCRETE = (int, str, np.integer, np.bool_)
"""The classes of values that are the same where they are equal: not floats, with two zeros."""


class _Impossible(BaseException):
    """Ends a run that is known to be rejected."""


class Rerun:
    """Runs the whole program with given values of choices; the others are drawn."""

    def __init__(self, sampler: MetropolisHastings) -> None:
        self.sampler = sampler
        self.sites: dict[str, Site] = {}
        self.values: dict[str, Any] = {}
        self.trace = Trace()
        self.impossible: str | None = None
        self.changing = False
        table = MethodTable("rerunning")
        table.overlay(sample)(self._sample_method())
        table.overlay(observe)(self._observe_method())
        self.context = Context(table)

    def _sample_method(self) -> Callable[..., Any]:
        @runs_alone
        def replayed(name: str, distribution: Any) -> Any:
            site = self.sites.get(name)
            if name in self.values:
                value = of_its_class(distribution, self.values[name])
            elif site is not None and type(site.distribution) is type(distribution):
                value = site.value
            else:
                value, site = drawn(distribution, self.sampler.rng)[0], None
            self._note(name, distribution, value, False)
            if site is not None and name not in self.values:
                self._go_on(name)
            return value

        return replayed

    def _observe_method(self) -> Callable[..., Any]:
        @runs_alone
        def seen(name: str, distribution: Any, value: Any) -> Any:
            self._note(name, distribution, value, True)
            self._go_on(name)
            return value

        return seen

    def _go_on(self, name: str) -> None:
        """End a changed run at an impossible value, before the program uses it."""
        if self.changing and self.trace.sites[name].log_density == -math.inf:
            raise _Impossible

    def _note(self, name: str, distribution: Any, value: Any, observed: bool) -> None:
        self.trace.note(name, distribution, value, observed)
        if name == self.impossible:
            raise ImpossibleObservation(
                f"{value!r} is impossible for {name!r}, which is {distribution!r}",
                where=place(),
                help="correct the distribution or the value, or begin where it is possible: "
                "initial={name: value}",
            )

    def __call__(self, old: Trace, name: str, new: Any) -> Trace | None:
        """The run with one choice changed; None if that makes another choice, or an observation,
        impossible."""
        self.sites = {each: site for each, site in old.sites.items() if not site.observed}
        self.changing = True
        try:
            return self.with_values({name: new})
        except _Impossible:
            return None
        finally:
            self.changing = False

    def with_values(self, values: dict[str, Any]) -> Trace:
        """The run with these choices, and those of ``sites``."""
        self.sampler.reruns += 1
        self.values = values
        self.trace = Trace()
        with self.context:
            self.trace.result = in_program(self.sampler.model, *self.sampler.args)
        return self.trace

    def refuse_impossible(self, trace: Trace) -> NoReturn:
        """Run the program once more, and raise ImpossibleObservation at its first impossible
        site."""
        self.sites = {each: site for each, site in trace.sites.items() if not site.observed}
        self.impossible = next(n for n, s in trace.sites.items() if s.log_density == -math.inf)
        self.with_values({})
        raise ImpossibleObservation(
            f"{self.impossible!r} is impossible, and was not reached again",
            help="make the program depend on its arguments and choices alone",
        )


def log_ratio(old: Mapping[str, Site], new: Mapping[str, Site], proposed: str | None) -> float:
    """The log of the acceptance ratio of a step from one run to another, without the proposal's
    correction.

    proposed: the choice that was drawn from its distribution. Its density cancels, like those of
    choices that only one of the runs has.
    """
    terms: list[float] = []
    for name, site in new.items():
        before = old.get(name)
        if before is not None and _is_same(before, site):
            if name != proposed and site.log_density != before.log_density:
                terms += [site.log_density, -before.log_density]
        else:
            if site.observed:
                terms.append(site.log_density)
            if before is not None and before.observed:
                terms.append(-before.log_density)
    terms += [-s.log_density for name, s in old.items() if s.observed and name not in new]
    counts = [sum(not site.observed for site in sites.values()) for sites in (old, new)]
    if counts[0] != counts[1]:
        terms += [math.log(counts[0]), -math.log(counts[1])]
    return total(terms)


def have_same_choices(old: Mapping[str, Site], new: Mapping[str, Site]) -> bool:
    """Whether two runs make the same choices, of the same classes of distributions."""
    kinds = [
        {name: type(site.distribution) for name, site in sites.items() if not site.observed}
        for sites in (old, new)
    ]
    return kinds[0] == kinds[1]


def _is_same(one: Site, other: Site) -> bool:
    """Whether both sites are observations, or choices of one class of distributions."""
    kept = type(one.distribution) is type(other.distribution)
    return one.observed == other.observed and (one.observed or kept)
