"""A structure in memory that compiled code works on, and the chain of steps on it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from overlay import NotCompilable
from overlay.interpretations.probabilistic import compiled_steps as steps
from overlay.interpretations.probabilistic.compiled_source import Index, Unsupported, recorded
from overlay.interpretations.probabilistic.markov_chain import Chain
from overlay.interpretations.probabilistic.proposals import Conditional, Prior, RandomWalk
from overlay.interpretations.probabilistic.slices import Slice, Slicing
from overlay.interpretations.probabilistic.tape import NO_SLOT
from overlay.interpretations.probabilistic.trace_rows import DISTRIBUTIONS
from overlay.interpretations.probabilistic.words import Kind, Words

if TYPE_CHECKING:
    from overlay.interpretations.probabilistic.structures import Structure

__all__ = ["Halt", "Machine"]

_LOG = 1 << 16
_GROUPS, _PARTS = 300, 64
"""The most groups of a graph, and arguments of a step, that are compiled: numba's compile time
grows faster than the length of a function.
"""
_FORMS: Final[dict[type, int]] = {
    Prior: steps.PRIOR,
    RandomWalk: steps.WALK,
    Conditional: steps.CONDITIONAL,
}
_CLASSES = {"float": float, "int": int, "bool": bool}


class Halt(NamedTuple):
    """A step that needs the interpreter: its choice, and what it has drawn already: the new value
    and the limit, or for a draw from the conditional distribution its random number."""

    place: int
    is_proposed: bool
    new: Any
    limit: float


class Machine:
    """The words of a structure, with the moves of its choices.

    reasons: why choices are changed by the interpreter, by name.
    """

    def __init__(self, structure: Structure, reasons: dict[str, str]) -> None:
        self.structure = structure
        self.reasons = reasons
        self.sampler = structure.structures.sampler
        slots = structure.tape.slots
        self.words = Words(slots, steps.REGISTERS)
        self.slicing = Slicing(structure.tape, structure.result, self.words.kinds)
        self.index = Index()
        count = len(structure.choices)
        self.table = np.zeros((count, 3), dtype=np.int64)
        self.scales = np.zeros(count)
        self.waiting: dict[int, tuple[int, int, int]] = {}
        self.outs: dict[int, tuple[int, ...]] = {}
        self.log = np.zeros((_LOG, 2), dtype=np.int64)
        self.values = np.zeros(_LOG)

    # ---- memory ---------------------------------------------------------------------------------

    def load(self) -> bool:
        """Take over the slots that have changed, and return whether their kinds are the same."""
        changed, slots = self.structure.changed, self.structure.tape.slots
        self.structure.changed = set()
        todo = range(len(slots)) if changed is None else changed
        return all(self.words.load(slot, slots[slot]) for slot in todo)

    def _unload(self, places: Any) -> None:
        """Put the values that changes of these choices have changed into their slots."""
        slots = self.structure.tape.slots
        for place in places:
            for slot in (self.structure.choices[place].value, *self.outs[place]):
                slots[slot] = self.words.value(slot, slots[slot])

    # ---- moves ----------------------------------------------------------------------------------

    def _prepare(self, place: int) -> None:
        """Make the move of a choice, and add it to the table where it is to be compiled."""
        name = self.sampler.names[place]
        try:
            made = self.waiting.get(place) or self._made(place)
        except Unsupported as reason:
            self.table[place, 0] = steps.INTERPRETED
            self.reasons[name] = str(reason)
            return
        self.reasons.pop(name, None)
        self.waiting[place] = made
        if steps.is_hot(made[1]):
            self.table[place] = self.waiting.pop(place)

    def _made(self, place: int) -> tuple[int, int, int]:
        site = self.structure.choices[place]
        proposal = self.sampler.proposal(place)
        form = _FORMS.get(type(proposal))
        if form is None:
            raise Unsupported(f"the proposal {proposal!r} is Python's to run")
        kind = self.words.kinds[site.value]
        row = DISTRIBUTIONS.get(site.cls)
        if kind is None or kind.form not in _CLASSES:
            raise Unsupported("its value is no number, or too large")
        if row is not None and _CLASSES[kind.form] is not row.kind:
            raise Unsupported(f"its value is of another class than those of {site.cls.__name__}")
        if form == steps.CONDITIONAL and (row is None or row.support is None):
            raise Unsupported("it has no finite set of values")
        unscored = site.score if form == steps.PRIOR else NO_SLOT
        found = self.slicing.slice(site.value, unscored=unscored)
        check_size(found)
        kinds = tuple(map(self._kind, site.parameters))
        move = steps.Move(found.graph, form, kind, site.cls, site.shape, kinds)
        number = steps.number_of(move)
        at, scratch = recorded(found, site.value, site.parameters, self.words, self.index)
        self.words.grown(scratch)
        self.outs[place] = found.outs
        if type(proposal) is RandomWalk:
            self.scales[place] = proposal.scale
        return form, number, at

    def _kind(self, slot: int) -> Kind:
        found = self.words.kinds[slot]
        if found is None:
            raise Unsupported("a parameter of its distribution is no number, or too large")
        return found

    # ---- steps ----------------------------------------------------------------------------------

    def run(self, chain: Chain, count: int) -> Halt | None:
        """Make steps, add them to the chain, and return the step that needs the interpreter; None
        if all were made."""
        while count > 0:
            state = np.array([min(count, _LOG), 0, -1], dtype=np.int64)
            error = self.make_steps(state)
            done, logged, place = state.tolist()
            if error is not None and place < 0:
                raise error  # of no step: the compiled code did not begin
            self._note(chain, done, self.log[:logged], self.values[:logged])
            count -= done
            if place < 0:
                continue
            if isinstance(error, NotCompilable):
                steps.refuse(int(self.table[place, 1]), error)
            if isinstance(error, NotCompilable) or self.table[place, 0] == steps.UNKNOWN:
                self._prepare(place)
            return self._halt(place)
        return None

    def make_steps(self, state: Any) -> Exception | None:
        """Make steps in compiled code, and return the error that ended them, if any. state: see
        ``compiled_steps.make_steps``."""
        words, index = self.words, self.index.array
        given = words.floats, words.ints, index, self.table, self.scales, self.sampler.rng
        try:
            steps.steps_made()(*given, state, self.log, self.values)
        except Exception as error:  # the interpreter raises it at its own line
            return error
        return None

    def _halt(self, place: int) -> Halt:
        words = self.words
        form, _, at = self.table[place].tolist()
        if form == steps.INTERPRETED or words.ints[steps.STAGE] != steps.PROPOSED:
            return Halt(place, False, None, 0.0)
        slot = self.structure.choices[place].value
        start = self.index.array[at + 2]
        kind = words.kind(slot)
        new = words.read(kind, int(start))
        return Halt(place, True, new, float(words.floats[steps.LIMIT]))

    def _note(self, chain: Chain, done: int, log: Any, values: Any) -> None:
        order = np.argsort(log[:, 1], kind="stable")
        places, starts = np.unique(log[order, 1], return_index=True)
        names = self.sampler.names
        changes: dict[str, tuple[list[int], list[Any]]] = {}
        for place, part in zip(places.tolist(), np.split(order, starts[1:]), strict=False):
            kind = self.words.kind(self.structure.choices[place].value)
            found = values[part] if kind.form == "float" else values[part].view(np.int64)
            found = found != 0 if kind.form == "bool" else found
            changes[names[place]] = log[part, 0].tolist(), found.tolist()
        chain.note_many(done, changes)
        self._unload(places.tolist())


def check_size(found: Slice) -> None:
    """Raise Unsupported for a slice that takes too long to compile."""
    if len(found.graph) > _GROUPS:
        raise Unsupported(f"{len(found.graph)} kinds of steps depend on it, one after another")
    widest = max((len(group.sources) for group in found.graph), default=0)
    if widest > _PARTS:
        raise Unsupported(f"a step takes {widest} values")
