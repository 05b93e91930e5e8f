"""Hamiltonian Monte Carlo: all choices, which are real numbers, move along trajectories by the
gradient of the log joint density.

A choice with bounds moves as a number without: the logarithm, or the logit between two bounds. The
density accounts for it by the derivative of the transformation. The program of the density is that
of the slice of all choices, and its gradient is derived by ``autodiff``, in compiled code too.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from overlay import Context, NotCompilable
from overlay.contexts.rules_alone import runs_alone
from overlay.core.public_names import hides
from overlay.core.short_repr import a_or_an, counted
from overlay.interpretations.autodiff import NotDifferentiable, add_gradient
from overlay.interpretations.probabilistic.compiled_chain import check_size
from overlay.interpretations.probabilistic.compiled_source import (
    HAS_OUT,
    GraphWriter,
    Index,
    Unsupported,
    entries_of,
)
from overlay.interpretations.probabilistic.errors import (
    ProbabilisticError,
    count_of,
    place,
    refuse_hamiltonian,
)
from overlay.interpretations.probabilistic.markov_chain import Chain
from overlay.interpretations.probabilistic.metropolis import MetropolisHastings
from overlay.interpretations.probabilistic.model_runs import Random
from overlay.interpretations.probabilistic.slices import CHOICE, Graph, Group, Slice, Slicing
from overlay.interpretations.probabilistic.structures import Structure
from overlay.interpretations.probabilistic.tape import StepKind, Tape
from overlay.interpretations.probabilistic.trace_rows import DISTRIBUTIONS
from overlay.interpretations.probabilistic.words import Kind, Words

__all__ = ["HamiltonianMonteCarlo", "hmc"]

DOMAINS: Final = ("real", "positive", "bounded")
REALS, POSITIVES, BOUNDED, BOUNDS = range(4)
"""The first entries of the record: the numbers of choices of each domain, which come in this order,
and the place of the addresses of the lower bounds, then of the upper ones."""
DONE, ACCEPTED, DIVERGENT = range(3)
SIZE, AVERAGE, DEFICIT, ANCHOR, COUNT = range(5)
TOO_FAR: Final = 1000.0
_SHORTEST: Final = 100
"""The fewest steps of a warm-up that adapts the widths."""
_NARROWEST: Final = 1e-6
_AFTER: Final = 0.25
"""The step size with which adaptation begins again, in units of the widths."""


@runs_alone
def hmc(
    model: Callable[..., Any],
    *args: Any,
    steps: int = 1000,
    warmup: int = 500,
    leaps: int = 16,
    step_size: float = 0.1,
    target: float = 0.8,
    rng: Random = None,
    initial: Mapping[str, Any] | None = None,
    compiled: bool = True,
) -> Chain:
    """Run a Markov chain of trajectories that converges to the posterior of a program's choices,
    given its observations.

    All choices have to be real numbers, and must not decide the control flow of the program.

    Parameters
    ----------
    model : callable
        The program.
    *args
        Its arguments.
    steps : int
        The number of trajectories whose ends the chain has.
    warmup : int
        The number of trajectories before, in which the step size and the scale of each choice are
        adapted.
    leaps : int
        The most leapfrog steps of a trajectory, each of which draws their number.
    step_size : float
        The initial step size, > 0.
    target : float
        The rate of acceptance that the step size is adapted to, between 0 and 1.
    rng : numpy.random.Generator, int or None
        Random numbers: a generator, a seed, or None for a seed from entropy.
    initial : mapping or None
        Initial values of choices, by name.
    compiled : bool
        Whether the chain runs in compiled code; this changes only the cost, and values by
        rounding.

    Returns
    -------
    Chain
        The choices at the end of each trajectory.

    Raises
    ------
    ProbabilisticError
        A choice is no real number, or decides the control flow, or a step of the program has no
        derivative.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import Normal, hmc, observe, sample
    >>> def measured():
    ...     x = sample("x", Normal(0.0, 1.0))
    ...     observe("y", Normal(x, 1.0), 1.0)
    >>> chain = hmc(measured, steps=500, rng=0, compiled=False)
    >>> bool(abs(chain["x"].mean() - 0.5) < 0.1)
    True

    References
    ----------
    R. M. Neal, "MCMC using Hamiltonian dynamics", Handbook of Markov Chain Monte Carlo, 2011.
    M. D. Hoffman and A. Gelman, "The No-U-Turn sampler", J. Mach. Learn. Res. 15, 2014 (the
    adaptation of the step size by dual averaging).
    """
    sampler = HamiltonianMonteCarlo(
        model,
        *args,
        leaps=leaps,
        step_size=step_size,
        target=target,
        rng=rng,
        initial=initial,
        compiled=compiled,
    )
    sampler.warm_up(warmup)
    return sampler.run(steps)


# ---- trajectories -------------------------------------------------------------------------------


def constrained(q: Any, floats: Any, index: Any, at: int) -> tuple[Any, float]:
    """The values of the choices, and the log of the derivative of the transformation."""
    x = np.empty(q.size)
    first, second = index[at], index[at] + index[at + 1]
    bounded, bounds = index[at + 2], index[at + 3]
    logs = 0.0
    for j in range(first):
        x[j] = q[j]
    for j in range(first, second):
        x[j] = math.exp(q[j])
        logs += q[j]
    for k in range(bounded):
        j = second + k
        low, high = floats[index[bounds + k]], floats[index[bounds + bounded + k]]
        less = math.exp(-abs(q[j]))
        part = 1.0 / (1.0 + less) if q[j] > 0.0 else less / (1.0 + less)
        x[j] = low + (high - low) * part
        logs += math.log(high - low) - abs(q[j]) - 2.0 * math.log1p(less)
    return x, logs


def unconstrained(x: Any, floats: Any, index: Any, at: int) -> Any:
    """The numbers without bounds for values of the choices."""
    q = np.array(x)
    first, second = index[at], index[at] + index[at + 1]
    bounded, bounds = index[at + 2], index[at + 3]
    for j in range(first, second):
        q[j] = math.log(x[j])
    for k in range(bounded):
        j = second + k
        low, high = floats[index[bounds + k]], floats[index[bounds + bounded + k]]
        q[j] = math.log((x[j] - low) / (high - x[j]))
    return q


def trajectories_of(density: Callable[..., float]) -> Callable[..., None]:
    """The function that runs trajectories for a log density."""

    def add_slope(q: Any, d: Any, floats: Any, ints: Any, index: Any, at: int) -> None:
        add_gradient(density, (q, d), floats, ints, index, at)

    def trajectories(
        q: Any,
        widths: Any,
        memory: Any,
        at: int,
        rng: Any,
        sizes: Any,
        target: float,
        leaps: int,
        state: Any,
        out: Any,
    ) -> None:
        floats, ints, index = memory
        n = q.size
        now = density(q, floats, ints, index, at)
        slope, p = np.zeros(n), np.zeros(n)
        add_slope(q, slope, floats, ints, index, at)
        for step in range(state[DONE], len(out)):
            limit = math.log1p(-rng.random())
            count = rng.integers(1, leaps + 1)
            start = 0.0
            for j in range(n):
                p[j] = rng.normal(0.0, 1.0)
                start += 0.5 * p[j] * p[j]
            size = sizes[SIZE]
            there, d = q.copy(), slope.copy()
            for _ in range(count):
                p += 0.5 * size * widths * d
                there += size * widths * p
                d[:] = 0.0
                add_slope(there, d, floats, ints, index, at)
                p += 0.5 * size * widths * d
            new = density(there, floats, ints, index, at)
            ratio = new - now + start
            for j in range(n):
                ratio -= 0.5 * p[j] * p[j]
            if not ratio > -TOO_FAR:
                state[DIVERGENT] += 1
                ratio = -math.inf
            if target > 0.0:
                adapt(sizes, math.exp(min(0.0, ratio)), target)
            if limit < ratio:
                state[ACCEPTED] += 1
                q[:] = there
                slope[:] = d
                now = new
            out[step] = constrained(q, floats, index, at)[0]
            state[DONE] = step + 1

    return trajectories


def adapt(sizes: Any, accepted: float, target: float) -> None:
    """Adapt the step size to the rate of acceptance, by dual averaging (Hoffman and Gelman, 2014).

    accepted: the probability with which the last trajectory is accepted.
    """
    sizes[COUNT] += 1.0
    count = sizes[COUNT]
    weight = 1.0 / (count + 10.0)
    sizes[DEFICIT] = (1.0 - weight) * sizes[DEFICIT] + weight * (target - accepted)
    log_size = sizes[ANCHOR] - math.sqrt(count) / 0.05 * sizes[DEFICIT]
    part = count**-0.75
    sizes[AVERAGE] = part * log_size + (1.0 - part) * sizes[AVERAGE]
    sizes[SIZE] = math.exp(log_size)


# ---- programs -----------------------------------------------------------------------------------


class _DensityWriter(GraphWriter):
    """Writes the log density of all choices, as a function of numbers without bounds, which
    ``autodiff`` differentiates."""

    @runs_alone
    def __init__(self, graph: Graph, count: int) -> None:
        super().__init__(graph, "    g0, total = constrained(q, floats, index, at)")
        self.functions |= {"constrained": constrained, "np": np}
        self.lines += ["    g0 = g0[0]"] if count == 1 else []
        self.count = count
        self.write_groups()

    @property
    def source(self) -> str:
        """The source of the program."""
        head = "def density(q, floats, ints, index, at):"
        return "\n".join([head, *self.lines, "    return total", ""])

    def is_several(self, source: int) -> bool:
        """Whether a source has several values."""
        return self.count > 1 if source == CHOICE else super().is_several(source)

    def local(self, source: int, group: Group, kind: Kind) -> str:
        """The value of a choice, or of a step of a group of several: an element of an array."""
        where = self.entry()
        return f"g{source}[index[{where} + j]]" if group.many else f"g{source}[{where}]"

    def begin(self, name: str, group: Group, count: str) -> None:
        """Write the head of a loop, and the array of its results."""
        if group.kind is StepKind.VALUE:
            if group.kinds[-1] != Kind("float"):
                raise Unsupported("several values that depend on choices are no real numbers")
            self.lines.append(f"    {name} = np.empty({count})")
        super().begin(name, group, count)

    def write(self, name: str, group: Group, args: list[str], base: str, j: str) -> None:
        """Write a step: a variable, or a term of the density."""
        value = self.applied(group.function, args, list(group.kinds[:-1]))
        start = "        " if j else "    "
        if group.kind is StepKind.SCORE:
            self.entry()
            self.lines.append(f"{start}total += {value}")
        else:
            self.lines.append(f"{start}{name}{'[j]' if j else ''} = {value}")


@functools.lru_cache(256)
def _trajectories(graph: Graph, count: int) -> Callable[..., None]:
    """The function that runs trajectories for the choices of a graph."""
    writer = _DensityWriter(graph, count)
    namespace = dict(writer.functions)
    exec(compile(writer.source, "<pruned program>", "exec"), namespace)
    return trajectories_of(namespace["density"])


_COMPILED: Final = Context()


class _Density(NamedTuple):
    """The density of a structure: the function that runs trajectories, its memory, the place of the
    record, and the sites of the choices in the order of its numbers."""

    run: Callable[..., None]
    memory: tuple[Any, Any, Any]
    at: int
    names: list[str]


def _density_of(structure: Structure) -> _Density:
    """The density of a structure. Raises ProbabilisticError where it has none."""
    tape = structure.tape
    sites = {name: site for name, site in tape.sites.items() if not site.observed}
    for name, site in sites.items():
        row = DISTRIBUTIONS.get(site.cls)
        if row is None or row.domain not in DOMAINS:
            refuse_hamiltonian(
                f"the choice {name!r} is {a_or_an(site.cls.__name__)}, no real number"
            )
    names = sorted(sites, key=lambda name: DOMAINS.index(DISTRIBUTIONS[sites[name].cls].domain))
    counts = [sum(DISTRIBUTIONS[s.cls].domain == d for s in sites.values()) for d in DOMAINS]
    words, index = Words(tape.slots, 2 * counts[BOUNDED]), Index()
    for slot, value in enumerate(tape.slots):
        words.load(slot, value)
    slicing = Slicing(tape, None, words.kinds)
    found = slicing.slice(*(sites[name].value for name in names))
    _refuse_guards(structure, found)
    bounds = _bounds(names, tape, found)
    words.floats[: len(bounds)] = bounds
    try:
        check_size(found)
        run = _trajectories(found.graph, len(names))
    except Unsupported as reason:
        refuse_hamiltonian(str(reason))
    values = [list(range(len(names))), *(list(range(count)) for count in found.counts)]
    entries = entries_of(found, values, words, index)
    at = index.add([*counts, index.add(range(len(bounds))), *entries])
    return _Density(run, (words.floats, words.ints, index.array), at, names)


def _bounds(names: list[str], tape: Tape, found: Slice) -> list[float]:
    """The lower bounds of the choices that have bounds, then the upper ones."""
    bounds: list[tuple[float, float]] = []
    sites = tape.sites
    changing = {*found.outs, *(site.value for site in sites.values() if not site.observed)}
    for name in names:
        site = sites[name]
        if DISTRIBUTIONS[site.cls].domain != DOMAINS[BOUNDED]:
            continue
        if site.cls.__name__ == "Beta":
            bounds.append((0.0, 1.0))
        elif changing.intersection(site.parameters):
            refuse_hamiltonian(
                f"the bounds of the choice {name!r} depend on other choices",
                "sample a Uniform(0.0, 1.0), and scale it",
            )
        else:
            low, high = (float(tape.slots[slot]) for slot in site.parameters)
            bounds.append((low, high))
    return [low for low, _ in bounds] + [high for _, high in bounds]


def _refuse_guards(structure: Structure, found: Slice) -> None:
    """Raise ProbabilisticError where choices decide the control flow of the program."""
    if any(group.kind not in HAS_OUT for group in found.graph):
        fixed = [each for each in structure.tape.fixed if each.what != "its class"]
        notes = [(each.what, each.where or "") for each in fixed[:5]]
        refuse_hamiltonian(
            "choices decide the control flow of the program",
            "write np.where(condition, one, other) for a condition",
            notes,
        )


# ---- the sampler --------------------------------------------------------------------------------


@hides("density", "order", "q", "rng", "sizes")
class HamiltonianMonteCarlo:
    """A running chain of trajectories. ``run`` makes some steps.

    Parameters
    ----------
    model, *args, leaps, step_size, target, rng, initial, compiled
        As for ``hmc``.

    Attributes
    ----------
    steps, accepted : int
        The numbers of trajectories made and accepted.
    widths : array
        The scales of the choices, after the transformation to numbers without bounds.
    divergent : int
        The number of trajectories that were rejected because the density or its gradient was no
        number at a point, or the error of the energy was large.

    Examples
    --------
    >>> from overlay.interpretations.probabilistic import HamiltonianMonteCarlo, Normal, sample
    >>> sampler = HamiltonianMonteCarlo(lambda: sample("x", Normal()), rng=0, compiled=False)
    >>> sampler.warm_up(20)
    >>> len(sampler.run(10))
    10
    """

    def __init__(
        self,
        model: Callable[..., Any],
        *args: Any,
        leaps: int = 16,
        step_size: float = 0.1,
        target: float = 0.8,
        rng: Random = None,
        initial: Mapping[str, Any] | None = None,
        compiled: bool = True,
    ) -> None:
        is_count = hasattr(leaps, "__index__") and leaps >= 1
        if not (is_count and 0.0 < step_size < math.inf and 0.0 < target < 1.0):
            raise ProbabilisticError(
                f"leaps={leaps!r}, step_size={step_size}, target={target} are not allowed",
                where=place(),
                help="pass an integer leaps >= 1, a finite step_size > 0 and 0 < target < 1",
            )
        self.rng = np.random.default_rng(rng)
        self.leaps = leaps
        self.target = target
        self.steps = self.accepted = self.divergent = 0
        given = {name: _as_float(value) for name, value in (initial or {}).items()}
        start = MetropolisHastings(model, *args, rng=self.rng, initial=given)
        assert start.structure is not None
        self.density = _density_of(start.structure)
        self._run = _COMPILED.jit(self.density.run) if compiled else self.density.run
        values = start.trace.values
        x = np.array([values[name] for name in self.density.names])
        floats, _, index = self.density.memory
        self.order = start.names
        try:
            self.q = unconstrained(x, floats, index, self.density.at)
        except (ValueError, ArithmeticError) as error:
            refuse_hamiltonian(
                "an initial value is on a bound", "pass other initial values", cause=error
            )
        self.widths = np.ones(len(self.q))
        self.sizes = first_sizes(step_size)

    @property
    def step_size(self) -> float:
        """The step size of trajectories."""
        return float(self.sizes[SIZE])

    def __repr__(self) -> str:
        return f"<HamiltonianMonteCarlo: {self.accepted} of {counted(self.steps, 'step')} accepted>"

    @runs_alone
    def warm_up(self, steps: int) -> None:
        """Make some steps in which the step size is adapted; before the last half of them the
        widths, too.

        The widths become the standard deviations of the choices in the quarter before.

        Parameters
        ----------
        steps : int
            The number of trajectories.
        """
        if steps <= 0:
            return
        if steps >= _SHORTEST:
            floats, _, index = self.density.memory
            out, _, _ = self._moved(steps // 2, self.target)
            late = [unconstrained(x, floats, index, self.density.at) for x in out[steps // 4 :]]
            self.widths = np.maximum(np.std(late, axis=0), _NARROWEST)
            self.sizes = first_sizes(_AFTER)
        self._moved(steps - steps // 2, self.target)
        self.sizes[SIZE] = math.exp(self.sizes[AVERAGE])

    @runs_alone
    def run(self, steps: int) -> Chain:
        """Make some steps.

        Parameters
        ----------
        steps : int
            The number of trajectories.

        Returns
        -------
        Chain
            The choices at the end of each.
        """
        steps = count_of(steps)
        floats, _, index = self.density.memory
        start, _ = constrained(self.q, floats, index, self.density.at)
        places = {name: k for k, name in enumerate(self.density.names)}
        chain = Chain({name: float(start[places[name]]) for name in self.order})
        out, accepted, divergent = self._moved(steps, 0.0)
        rows = out.T.tolist()
        numbers = list(range(steps))
        chain.note_many(steps, {name: (numbers, rows[places[name]]) for name in self.order})
        chain.accepted, chain.divergent = accepted, divergent
        return chain

    def _moved(self, steps: int, target: float) -> tuple[Any, int, int]:
        """The choices after each of some steps, and the numbers of accepted and of divergent
        ones.
        """
        out = np.zeros((max(steps, 0), len(self.q)))
        state = np.zeros(3, dtype=np.int64)
        while state[DONE] < len(out):
            self._go_on(out, state, target)
        self.steps += len(out)
        self.accepted += int(state[ACCEPTED])
        self.divergent += int(state[DIVERGENT])
        return out, int(state[ACCEPTED]), int(state[DIVERGENT])

    def _go_on(self, out: Any, state: Any, target: float) -> None:
        """Make steps up to the first trajectory that reaches a point where the program raises."""
        _, memory, at, _ = self.density
        try:
            with np.errstate(all="ignore"):  # a density that is no number: the step is rejected
                self._run(
                    self.q,
                    self.widths,
                    memory,
                    at,
                    self.rng,
                    self.sizes,
                    target,
                    self.leaps,
                    state,
                    out,
                )
        except (ArithmeticError, ValueError, LookupError):
            floats, _, index = memory
            if target > 0.0:
                adapt(self.sizes, 0.0, target)
            out[state[DONE]] = constrained(self.q, floats, index, at)[0]
            state[DIVERGENT] += 1
            state[DONE] += 1
        except NotDifferentiable as error:
            refuse_hamiltonian("a step of the program has no derivative", cause=error)
        except NotCompilable as error:
            remedy = "compiled=False runs the same trajectories in the interpreter"
            refuse_hamiltonian("the gradient cannot be compiled", remedy, cause=error)


def first_sizes(step_size: float) -> Any:
    """The state of the adaptation of the step size, before it begins."""
    return np.array([step_size, 0.0, 0.0, math.log(10.0 * step_size), 0.0])


def _as_float(value: Any) -> Any:
    return float(value) if isinstance(value, int) else value
