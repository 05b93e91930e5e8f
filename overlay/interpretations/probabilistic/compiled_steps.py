"""Steps of a chain in compiled code.

A *move* is the change of one choice: its proposal, and the program of the graph of the steps that
depend on it. Its number is the metadata of a context, in which a plugin inserts the move's
programs in the place of the functions ``propose``, ``propose_near``, ``support`` and ``change``.
The loop over steps enters that context for each step, as a barrier: a move is compiled once in a
process, and found by its number.
"""

from __future__ import annotations

import functools
import math
from collections import Counter
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import numpy as np

from overlay import Context, NotCompilable, Plugin, recurse
from overlay.interpretations.probabilistic.compiled_source import (
    COMMIT,
    COUNT,
    PARAMETERS,
    SCRATCH,
    Expressions,
    Unsupported,
    change_of,
)
from overlay.interpretations.probabilistic.random_values import draw
from overlay.interpretations.probabilistic.slices import Graph
from overlay.interpretations.probabilistic.tape import LEAF
from overlay.interpretations.probabilistic.trace_rows import DISTRIBUTIONS
from overlay.interpretations.probabilistic.words import Kind

__all__ = [
    "CONDITIONAL",
    "INTERPRETED",
    "LIMIT",
    "PRIOR",
    "PROPOSED",
    "REGISTERS",
    "STAGE",
    "UNKNOWN",
    "WALK",
    "Move",
    "chosen",
    "is_hot",
    "number_of",
    "refuse",
    "steps_made",
]

UNKNOWN, INTERPRETED, PRIOR, WALK, CONDITIONAL = range(5)
"""Forms of moves: not known yet; the interpreter's; and the proposals."""
FAILED, REJECTED, ACCEPTED = range(3)
LIMIT, STAGE, REGISTERS = range(3)
"""The first words of memory: the random number of the step, and its progress."""
CHOSEN, PROPOSED = range(2)
DONE, LOGGED, PLACE = range(3)


Programs = dict[Any, Callable[..., Any]]


class Move(NamedTuple):
    """All that determines the code of a step. kind, cls: of the choice. shape, parameters: the
    structure of the parameters of its distribution, and the kinds of their leaves."""

    graph: Graph
    form: int
    kind: Kind
    cls: type
    shape: Any
    parameters: tuple[Kind, ...]


_numbers: Final[dict[Move, int]] = {}
_moves: Final[list[Programs]] = []
_reasons: Final[dict[int, str]] = {}
_asked: Final[Counter[int]] = Counter()
PATIENCE = 200
"""The number of steps that the interpreter makes by a move before it is compiled, which takes as
long as many thousands of them: runs whose structure keeps changing have ever new moves."""


def number_of(move: Move) -> int:
    """The number of a move, which is the metadata of its context. Raises Unsupported for one that
    has no programs."""
    found = _numbers.get(move)
    if found is None:
        programs = {target: program_of(move) for target, program_of in _PROGRAMS.items()}
        found = _numbers[move] = len(_moves)
        _moves.append(programs)
    if found in _reasons:
        raise Unsupported(_reasons[found])
    return found


def is_hot(number: int) -> bool:
    """Whether a move, which is requested once more, is to be compiled."""
    _asked[number] += 1
    return _asked[number] > PATIENCE


def refuse(number: int, error: NotCompilable) -> None:
    """Note that numba cannot compile a move."""
    lines = [text for _, text in error.notes] or [str(error)]
    _reasons[number] = " ".join(lines[0].split())


# ---- programs of a move -------------------------------------------------------------------------


def propose(floats: Any, ints: Any, index: Any, at: int, rng: Any) -> None:
    """Draw the choice from its distribution."""


def propose_near(floats: Any, ints: Any, index: Any, at: int, rng: Any, scale: float) -> None:
    """Draw the choice from around its value."""


def support(floats: Any, ints: Any, index: Any, at: int) -> tuple[int, int]:
    """The first value of a finite choice, and the number of its values."""
    return 0, 0


def change(floats: Any, ints: Any, index: Any, at: int) -> float:
    """The change of the log joint density: see ``change_of``."""
    return 0.0


class Pruning(Plugin):
    """Puts the programs of the move whose number is the metadata in their places."""

    cache_token = "probabilistic.pruning"

    def before_inference(self, ir: Any) -> None:
        """Replace the calls of the functions of a move."""
        for function in _PROGRAMS:
            for call in ir.calls(function):
                ir.replace(call, _moves[ir.metadata][function], *call.args)


def _changes(move: Move) -> Callable[..., Any]:
    return change_of(move.graph, move.kind)


class _Draws(Expressions):
    """Writes programs that read the parameters of a distribution."""

    def __init__(self, move: Move) -> None:
        super().__init__()
        self.move = move
        self.leaves = 0
        self.parameters = [self._part(part) for part in move.shape[1]]

    def _part(self, shape: Any) -> str:
        if shape == LEAF:
            self.leaves += 1
            kind = self.move.parameters[self.leaves - 1]
            return self.read(kind, f"index[index[at + {PARAMETERS}] + {self.leaves - 1}]")
        return f"({''.join(self._part(part) + ', ' for part in shape[1])})"

    def made(self, name: str, more: str, *lines: str) -> Callable[..., Any]:
        """A program of these lines."""
        head = f"def {name}(floats, ints, index, at{more}):"
        source = "\n    ".join([head, f"place = index[at + {SCRATCH}]", *lines, ""])
        namespace = dict(self.functions)
        exec(compile(source, "<proposal>", "exec"), namespace)
        return namespace[name]

    def stores(self) -> list[str]:
        """Lines that store the value in its place."""
        match self.move.kind.form:
            case "float":
                return ["floats[place] = value"]
            case "bool":
                return ["ints[place] = 1 if value else 0"]
            case _:
                return ["ints[place] = value | 0"]


def _proposes(move: Move) -> Callable[..., Any]:
    writer = _Draws(move)
    parameters = ", ".join(writer.parameters)
    row = DISTRIBUTIONS.get(move.cls)
    if row is None:
        value = f"{writer.name(draw)}({writer.name(move.cls)}({parameters}), rng)"
    else:
        value = f"{writer.name(row.draw)}(rng, {parameters})"
        value = f"{row.kind.__name__}({value})"
    return writer.made("propose", ", rng", f"value = {value}", *writer.stores())


def _proposes_near(move: Move) -> Callable[..., Any]:
    writer = _Draws(move)
    old = writer.read(move.kind, f"index[index[at + {COMMIT}]]")
    value = {"float": "old + change", "int": "old + round(change)", "bool": "not old"}
    lines = [f"old = {old}", "change = rng.normal(0.0, scale)", f"value = {value[move.kind.form]}"]
    return writer.made("propose_near", ", rng, scale", *lines, *writer.stores())


def _supports(move: Move) -> Callable[..., Any]:
    row = DISTRIBUTIONS.get(move.cls)
    if row is None or row.support is None:
        return support
    writer = _Draws(move)
    parameters = ", ".join(writer.parameters)
    return writer.made("support", "", f"return {writer.name(row.support)}({parameters})")


_PROGRAMS: Final[dict[Any, Callable[[Move], Any]]] = {
    propose: _proposes,
    propose_near: _proposes_near,
    support: _supports,
    change: _changes,
}
PRUNED: Final = Context(plugins=(Pruning(),), metadata=0)


# ---- steps --------------------------------------------------------------------------------------


def prior_step(floats: Any, ints: Any, index: Any, at: int, rng: Any) -> int:
    propose(floats, ints, index, at, rng)
    return settled(floats, ints, index, at, rng)


def walk_step(floats: Any, ints: Any, index: Any, at: int, rng: Any, scale: float) -> int:
    propose_near(floats, ints, index, at, rng, scale)
    return settled(floats, ints, index, at, rng)


def settled(floats: Any, ints: Any, index: Any, at: int, rng: Any) -> int:
    """Accept or reject the value that was proposed."""
    floats[LIMIT] = math.log1p(-rng.random())
    ints[STAGE] = PROPOSED
    ratio = change(floats, ints, index, at)
    if ratio != ratio:
        return FAILED
    return ACCEPTED if floats[LIMIT] < ratio else REJECTED


def conditional_step(floats: Any, ints: Any, index: Any, at: int, rng: Any) -> int:
    """Draw a finite choice from its distribution given all others."""
    floats[LIMIT] = rng.random()
    ints[STAGE] = PROPOSED
    low, count = support(floats, ints, index, at)
    now = ints[index[index[at + COMMIT]]] - low
    place = index[at + SCRATCH]
    ratios = np.zeros(count)
    for k in range(count):
        if k != now:
            ints[place] = low + k
            ratios[k] = change(floats, ints, index, at)
            if ratios[k] != ratios[k]:
                return FAILED
    found = chosen(ratios, floats[LIMIT])
    if found == now:
        return REJECTED
    ints[place] = low + found
    change(floats, ints, index, at)
    return ACCEPTED


def chosen(ratios: Any, number: float) -> int:
    """The place of a value, from the logs of the weights and a random number from 0 to 1."""
    peak = -math.inf
    for each in ratios:
        peak = max(peak, each)
    total = 0.0
    for each in ratios:
        total += math.exp(each - peak)
    rest = number * total
    last = 0
    for k in range(len(ratios)):
        weight = math.exp(ratios[k] - peak)
        if weight > 0.0:
            last = k
            if rest < weight:
                return k
        rest -= weight
    return last


def commit(floats: Any, index: Any, at: int) -> None:
    """Put the words of a change in their places."""
    start, place = index[at + SCRATCH], index[at + COMMIT]
    for k in range(index[at + COUNT]):
        floats[index[place + k]] = floats[start + k]


def make_steps(
    floats: Any,
    ints: Any,
    index: Any,
    table: Any,
    scales: Any,
    rng: Any,
    state: Any,
    log: Any,
    values: Any,
) -> None:
    """Make steps until they are all made, the log is full, or one needs the interpreter.

    table: for each choice the form of its move, the number, and the place of the record. scales: of
    random walks. state: the number of steps left, that of log entries, and the current choice. log,
    values: for each accepted step its number, the choice, and the first word of the value.
    """
    steps = state[DONE]
    for step in range(steps):
        state[DONE] = step
        ints[STAGE] = CHOSEN
        place = rng.integers(0, len(table))
        state[PLACE] = place
        form, at = table[place, 0], table[place, 2]
        if form <= INTERPRETED:
            return
        outcome = step_of(floats, ints, index, at, rng, form, table[place, 1], scales[place])
        if outcome == FAILED:
            return
        if outcome == ACCEPTED:
            commit(floats, index, at)
            log[state[LOGGED], 0] = step
            log[state[LOGGED], 1] = place
            values[state[LOGGED]] = floats[index[index[at + COMMIT]]]
            state[LOGGED] += 1
    state[DONE] = steps
    state[PLACE] = -1


def step_of(
    floats: Any, ints: Any, index: Any, at: int, rng: Any, form: int, number: int, scale: float
) -> int:
    """Make a step of a move."""
    if form == PRIOR:
        return recurse(PRUNED.replace(metadata=number), prior_step, floats, ints, index, at, rng)
    if form == WALK:
        return recurse(
            PRUNED.replace(metadata=number), walk_step, floats, ints, index, at, rng, scale
        )
    return recurse(PRUNED.replace(metadata=number), conditional_step, floats, ints, index, at, rng)


@functools.cache
def steps_made() -> Any:
    """``make_steps``, compiled: the import of numba waits until it is needed."""
    return Context(metadata=0).jit(make_steps, hot_after=0, variants=1024)
