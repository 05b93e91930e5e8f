"""Structures: the tape shared by runs with the same control flow, and its slices."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from overlay.interpretations.probabilistic.compiled_chain import Machine
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
"""The maximal number of cached structures."""
_TRIED = 8
"""The maximal number of cached structures with the same sites, each of which is tried for a run."""


_PATIENCE, _LONGEST = 16, 4096
"""The initial and the maximal number of steps in which the whole program runs before a run is
recorded."""


class _Ready(NamedTuple):
    """The program that recomputes a run after a choice changes, and the slots of its values."""

    program: Any
    indices: tuple[Any, ...]
    outs: tuple[int, ...]


class Structure:
    """A tape that is valid while its guards hold, at the current choices of a chain.

    changed: the slots that the interpreter has changed since compiled code saw them; None for all.
    """

    def __init__(self, structures: Structures, tape: Tape, result: Any) -> None:
        self.structures = structures
        self.tape = tape
        self.result = result
        self.slicing = Slicing(tape, result)
        self.choices = [site for site in tape.sites.values() if not site.observed]
        self.ready: dict[tuple[int, bool], _Ready] = {}
        self.changed: set[int] | None = None
        self._machine: Machine | None = None
        self._proposed: tuple[int, Any, tuple[int, ...], list[Any]] = (0, None, (), [])

    def choice(self, place: int) -> tuple[Any, Any]:
        """The distribution of a choice, and its value."""
        site = self.choices[place]
        return self.tape.distribution(site), self.tape.slots[site.value]

    def ratio(self, place: int, new: Any, from_prior: bool) -> float | None:
        """The log of the acceptance ratio of a change of one choice; None if the change leads, or
        may lead, to another structure."""
        ready = self.ready.get((place, from_prior)) or self._made(place, from_prior)
        try:
            found = ready.program(self.tape.slots, new, ready.indices)
        except Exception:  # a run of the whole program raises it at its own line
            return None
        if found is None or math.isnan(found[0]):
            return None
        self._proposed = self.choices[place].value, new, ready.outs, found[1]
        return found[0]

    def accept(self) -> None:
        """Apply the change of the last call of ``ratio``."""
        slot, new, outs, values = self._proposed
        slots = self.tape.slots
        slots[slot] = new
        for out, value in zip(outs, values, strict=True):
            slots[out] = value
        if self.changed is not None:
            self.changed.update((slot, *outs))

    def _made(self, place: int, from_prior: bool) -> _Ready:
        site = self.choices[place]
        found = self.slicing.slice(site.value, unscored=site.score if from_prior else NO_SLOT)
        program = self.structures.program(found.graph)
        made = self.ready[place, from_prior] = _Ready(program, found.indices, found.outs)
        return made

    def trace(self) -> Trace:
        """The run with the current choices."""
        made = Trace()
        made.sites = {name: self.tape.site(name) for name in self.tape.sites}
        made.result = resolved(self.result, self.tape.slots)
        return made

    def moved_to(self, trace: Trace) -> bool:
        """Move to the choices of a run, and return whether it has this structure."""
        try:
            slots = self.tape.recomputed(trace.values)
        except Exception:  # a step that the run does not have
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
        self.changed = None
        return True

    @property
    def machine(self) -> Machine:
        """The memory and the moves of compiled code, at the current choices."""
        if self._machine is None or not self._machine.load():
            self.changed = None
            self._machine = Machine(self, self.structures.interpreted)
            self._machine.load()
        return self._machine


class Structures:
    """The structures that a chain has visited, and the programs of their graphs.

    Recording a run costs as much as some tens of runs. So an unknown structure is recorded only
    after some steps of running the whole program, and the next one later if it was left early.
    recorded: the number of recorded runs. interpreted: why choices are changed by the interpreter
    in a compiled chain, by name. halts: the number of steps that compiled code left to the
    interpreter.
    """

    def __init__(self, sampler: MetropolisHastings) -> None:
        self.sampler = sampler
        self.programs: dict[Graph, Any] = {}
        self.recorded = 0
        self.interpreted: dict[str, str] = {}
        self.halts = 0
        self._known: dict[Any, list[Structure]] = {}
        self._patience = self._left = _PATIENCE
        self._recorded_at = 0

    def program(self, graph: Graph) -> Any:
        """The program of a graph, generated once."""
        found = self.programs.get(graph)
        if found is None:
            found = self.programs[graph] = program_of(graph)
        return found

    def found(self, trace: Trace) -> Structure | None:
        """The structure of a run, if it is cached; else None."""
        key = _key(trace)
        known = self._known.pop(key, [])
        self._known[key] = known  # most recently used last
        for found in known:
            if found.moved_to(trace):
                known.remove(found)
                known.insert(0, found)
                return found
        return None

    def awaited(self, trace: Trace) -> Structure | None:
        """The structure of an unknown run, recorded if it is time to; else None."""
        self._left -= 1
        if self._left > 0:
            return None
        early = self.sampler.steps - self._recorded_at < 2 * self._patience
        self._patience = min(2 * self._patience, _LONGEST) if early else _PATIENCE
        self._left = self._patience
        return self.record(trace)

    def record(self, trace: Trace) -> Structure:
        """Record a run, and return its structure."""
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
        """The places where a value that depends on choices determined the control flow: a change of
        that value runs the whole program."""
        tapes = [each.tape for group in self._known.values() for each in group]
        return list(dict.fromkeys(fixed for tape in tapes for fixed in tape.fixed))


def _key(trace: Trace) -> Any:
    """A key that is equal for runs that can have the same structure."""
    return tuple((n, type(s.distribution), s.observed) for n, s in trace.sites.items())
