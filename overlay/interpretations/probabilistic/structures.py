"""What runs of one structure have in common: a tape, and the slices of it that were needed."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from overlay.interpretations.probabilistic.dependent import resolved
from overlay.interpretations.probabilistic.errors import NotTraceable
from overlay.interpretations.probabilistic.language import Trace
from overlay.interpretations.probabilistic.pruning import program_of
from overlay.interpretations.probabilistic.slices import Graph, Slicing
from overlay.interpretations.probabilistic.tape import NO_SLOT, Fixed, Tape, identical
from overlay.interpretations.probabilistic.trace_recording import recorded

if TYPE_CHECKING:
    from overlay.interpretations.probabilistic.metropolis import MetropolisHastings

__all__ = ["Structure", "Structures"]

_KEPT = 64
"""Structures that are found again."""
_TRIED = 8
"""Structures with the same sites of which it is tried whether they are that of a run."""


_PATIENCE, _LONGEST = 16, 4096
"""For how many steps all of a program runs, at first and at most, before a run is recorded."""


class _Ready(NamedTuple):
    """What runs again where a choice changes, and where its values are."""

    program: Any
    indices: tuple[Any, ...]
    outs: tuple[int, ...]


class Structure:
    """A tape that is right as long as its guards hold, at the choices where a chain is."""

    def __init__(self, structures: Structures, tape: Tape, result: Any) -> None:
        self.structures = structures
        self.tape = tape
        self.result = result
        self.slicing = Slicing(tape, result)
        self.choices = [site for site in tape.sites.values() if not site.observed]
        self.ready: dict[tuple[int, bool], _Ready] = {}
        self._proposed: tuple[int, Any, tuple[int, ...], list[Any]] = (0, None, (), [])

    def choice(self, place: int) -> tuple[Any, Any]:
        """The distribution of a choice, and its value."""
        site = self.choices[place]
        return self.tape.distribution(site), self.tape.slots[site.value]

    def ratio(self, place: int, new: Any, from_prior: bool) -> float | None:
        """The log of the ratio in which a change of one choice is accepted; None where the change
        leads to another structure, or it is not known to stay in this one."""
        ready = self.ready.get((place, from_prior)) or self._made(place, from_prior)
        try:
            found = ready.program(self.tape.slots, new, ready.indices)
        except Exception:  # all of the program shall raise it, at its own line
            return None
        if found is None or math.isnan(found[0]):
            return None
        self._proposed = self.choices[place].value, new, ready.outs, found[1]
        return found[0]

    def accept(self) -> None:
        """Take the change for which ``ratio`` was asked last."""
        slot, new, outs, values = self._proposed
        slots = self.tape.slots
        slots[slot] = new
        for out, value in zip(outs, values, strict=True):
            slots[out] = value

    def _made(self, place: int, from_prior: bool) -> _Ready:
        site = self.choices[place]
        found = self.slicing.slice(site.value, site.score if from_prior else NO_SLOT)
        program = self.structures.program(found.graph)
        made = self.ready[place, from_prior] = _Ready(program, found.indices, found.outs)
        return made

    def trace(self) -> Trace:
        """The run, as the choices are now."""
        made = Trace()
        made.sites = {name: self.tape.site(name) for name in self.tape.sites}
        made.result = resolved(self.result, self.tape.slots)
        return made

    def moved_to(self, trace: Trace) -> bool:
        """Go to the choices of a run, if that has this structure."""
        try:
            slots = self.tape.recomputed(trace.values)
        except Exception:  # what raises here does not run there
            return False
        if slots is None:
            return False
        for name, site in self.tape.sites.items():
            if not identical(slots[site.score], trace.sites[name].log_density):
                raise NotTraceable(
                    f"the site {name!r} depends on more than the choices of the program",
                    help="sample with incremental=False; what a program does may depend on its "
                    "arguments and choices alone",
                )
        self.tape.slots[:] = slots
        return True


class Structures:
    """The structures that a chain came to, and the programs of all graphs in them.

    To record a run costs as much as some tens of runs. So a structure that is not known is recorded
    when all of the program ran for some steps, and the next one later if that was left early.

    recorded: how often a run was recorded.
    """

    def __init__(self, sampler: MetropolisHastings) -> None:
        self.sampler = sampler
        self.programs: dict[Graph, Any] = {}
        self.recorded = 0
        self._known: dict[Any, list[Structure]] = {}
        self._patience = self._left = _PATIENCE
        self._recorded_at = 0

    def program(self, graph: Graph) -> Any:
        """The program of a graph, which is generated once."""
        found = self.programs.get(graph)
        if found is None:
            found = self.programs[graph] = program_of(graph)
        return found

    def found(self, trace: Trace) -> Structure | None:
        """The structure of a run, if it is known."""
        key = _key(trace)
        known = self._known.pop(key, [])
        self._known[key] = known  # the one that was used last stands last
        for found in known:
            if found.moved_to(trace):
                known.remove(found)
                known.insert(0, found)
                return found
        return None

    def awaited(self, trace: Trace) -> Structure | None:
        """The structure of a run that is not known, if it is time to record it."""
        self._left -= 1
        if self._left > 0:
            return None
        early = self.sampler.steps - self._recorded_at < 2 * self._patience
        self._patience = min(2 * self._patience, _LONGEST) if early else _PATIENCE
        self._left = self._patience
        return self.record(trace)

    def record(self, trace: Trace) -> Structure:
        """The structure of a run, recorded now."""
        tape, result = recorded(trace, self.sampler.model, self.sampler.args)
        self.recorded += 1
        self._recorded_at = self.sampler.steps
        made = Structure(self, tape, result)
        key = _key(trace)
        self._known[key] = [made, *self._known.get(key, [])[: _TRIED - 1]]
        while sum(map(len, self._known.values())) > _KEPT:
            del self._known[next(iter(self._known))]
        return made

    @property
    def fixed(self) -> list[Fixed]:
        """Where a value that depends on choices decided how the program goes on: a change of that
        value runs all of the program."""
        tapes = [each.tape for group in self._known.values() for each in group]
        return list(dict.fromkeys(fixed for tape in tapes for fixed in tape.fixed))


def _key(trace: Trace) -> Any:
    """Equal for runs that can have the same structure."""
    return tuple((n, type(s.distribution), s.observed) for n, s in trace.sites.items())
