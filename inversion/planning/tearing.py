"""Loops that algebra does not close: one unknown is guessed, and one equation tells how far off.

Tearing, as in equation-based modelling: H. Elmqvist and M. Otter, Methods for tearing systems of
equations in object-oriented modeling, European Simulation Multiconference 1994.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from inversion.program.causality import Order, Solved, causalise
from inversion.program.linear_systems import system
from inversion.program.loop_blocks import blocks
from inversion.program.statements import Operand, Program, Statement, Variable
from primitives.relation import Mode

__all__ = ["Guess", "Torn", "torn"]

MOST_GUESSES = 2  # one inside the other
MOST_TRIED = 24  # unknowns that are tried as a guess
FEWEST_TRIED = 2
EFFORT = 10_000  # statements that are put in order to compare choices


@dataclass(frozen=True)
class Guess:
    """One unknown, found as a root. check: the statement that a guess of ``variable`` violates.
    inner: what is solved from the guess to tell by how much."""

    variable: Variable
    check: Statement
    inner: tuple[Solved | Guess, ...]

    @property
    def unknown(self) -> tuple[Variable, ...]:
        """What it solves."""
        return (self.variable,)

    @property
    def needs(self) -> set[Variable]:
        """The variables that the equation is made of, the unknown apart."""
        solved = {v for item in self.inner for v in item.unknown}
        mentioned = set(self.check.variables)
        for item in self.inner:
            mentioned |= needed_by(item)
        return mentioned - solved - {self.variable}


@dataclass(frozen=True)
class Torn:
    """A loop of statements, closed: free variables are chosen, then these solved in turn."""

    free: tuple[Variable, ...]
    items: tuple[Solved | Guess, ...]


def needed_by(item: Solved | Guess) -> set[Variable]:
    """The variables that a step takes."""
    if isinstance(item, Guess):
        return item.needs
    return set(item.statement.variables) - set(item.unknown)


def torn(program: Program, order: Order, *, root_finding: bool = True) -> Torn | None:
    """The loop that an order leaves, closed by guessing as few unknowns as can be; or None.

    It is closed block by block: linear equations as a system, others by a guess, unless not
    ``root_finding``. Where a block has more unknowns than equations some of them are free.
    """
    return _Tearing(program, MOST_GUESSES if root_finding else 0).closed(order)


class _Tearing:
    """Closes loops. depth: how many guesses may stand one inside the other. effort: how many
    statements may be put in order to compare choices; then the first that is possible is taken."""

    def __init__(self, program: Program, depth: int) -> None:
        self.program = program
        self.depth = depth
        self.effort = EFFORT

    def closed(self, order: Order) -> Torn | None:
        """What an order leaves, closed."""
        free, items = list[Variable](), list[Solved | Guess]()
        for block in blocks(order.core, order.open):
            loop = Order((), (), (), block.statements, block.unknown, ())
            found = self.block(loop)
            if found is None:
                return None
            free += found.free
            items += found.items
        return Torn(tuple(free), tuple(items))

    def block(self, loop: Order) -> Torn | None:
        """One block, closed: a free unknown is chosen, as long as there are too many of them."""
        if len(loop.open) > sum(len(s.results) for s in loop.core):
            found = self.chosen(loop)
            if found is not None:
                return found
        part = _part(self.program, loop)
        if not (order := self.order(part, loop, ())).core:
            return Torn(order.free, order.solved)
        linear = system(loop.core, loop.open)
        if linear is not None:
            return Torn((), (_solved_together(linear, loop.open),))
        for guesses in range(1, self.depth + 1):
            found = self.guessed(part, loop, guesses)
            if found is not None:
                return found
        # of several results of one statement, some are then only checked
        return self.chosen(loop) if len(loop.open) > len(loop.core) else None

    def chosen(self, loop: Order) -> Torn | None:
        """A block closed after an unknown is chosen; None where that closes nothing."""
        found = self.freed(loop)
        if found is None:
            return None
        left, variable = found
        rest = self.closed(left)
        if rest is None:
            return None
        return Torn((variable, *left.free, *rest.free), (*left.first, *rest.items, *left.last))

    def order(self, part: Program, loop: Order, more: Sequence[Variable]) -> Order:
        """The order of a part in which these unknowns are known, too."""
        self.effort -= len(part.statements)
        return causalise(part, [*_known(loop), *more])

    def freed(self, loop: Order) -> tuple[Order, Variable] | None:
        """An unknown to choose, of those after which least is left of a loop, and what is left."""
        part = _part(self.program, loop)
        best: tuple[Order, Variable] | None = None
        for variable in (*_not_guessed(part, loop), *_candidates(part, loop)):
            order = self.order(part, loop, [variable])
            if _checks(loop, order, ()):  # it makes an equation a mere check
                continue
            if best is None or len(order.core) < len(best[0].core):
                best = order, variable
            if self.effort < 0 or not order.core:
                break
        return best

    def guessed(self, part: Program, loop: Order, guesses: int) -> Torn | None:
        """A loop closed with so many guesses, if a check is left over for each."""
        for variable in _candidates(part, loop)[: None if self.effort > 0 else FEWEST_TRIED]:
            found = self.guess(loop, variable, guesses)
            if found is not None:
                return found
        return None

    def guess(self, loop: Order, variable: Variable, guesses: int) -> Torn | None:
        """The loop closed with a guess of this variable, if a check is then left over."""
        part = _part(self.program, loop)
        order = self.order(part, loop, [variable])
        inner: Torn | None = None
        if order.core:
            inner = None if guesses == 1 else self.guessed(part, order, guesses - 1)
            if inner is None:
                return None
        items = [*order.first, *(inner.items if inner else ()), *order.last]
        checks = _checks(loop, order, items)
        if not checks:
            return None
        before, after = _apart(items, variable)
        guess = Guess(variable, checks[0], tuple(_slice(after, set(checks[0].variables))))
        free = (*order.free, *(inner.free if inner else ()))
        return Torn(free, (*before, guess, *after))


def _solved_together(statement: Statement, unknown: Sequence[Variable]) -> Solved:
    """A system of equations, solved for its unknowns."""
    wanted = set(unknown)
    axes = {axis: v for axis, v in statement.bindings() if v in wanted}
    mode = statement.relation.mode(axes)
    assert mode is not None
    return Solved(statement, mode, tuple(_answered(axes, mode)))


def _answered(axes: Mapping[str, Operand], mode: Mode) -> Iterator[Variable]:
    """The variables that a mode answers, in its order."""
    for axis in mode.unknown:
        variable = axes[axis]
        assert isinstance(variable, Variable)
        yield variable


def _part(program: Program, loop: Order) -> Program:
    """A loop as a program of its own; what it needs from outside is known."""
    results = {v for s in loop.core for v in s.results}
    unknown = set(loop.open)
    inputs = dict.fromkeys(v for v in program.inputs if v in unknown)
    inputs.update(dict.fromkeys(v for v in loop.open if v not in results))
    return program.replace(statements=loop.core, inputs=tuple(inputs), results={}, holds=())


def _known(loop: Order) -> set[Variable]:
    return {v for s in loop.core for v in s.variables} - set(loop.open)


def _candidates(program: Program, order: Order) -> list[Variable]:
    """Unknowns that may be guessed: inputs first, then what stands in most statements."""
    floats = [v for v in order.open if v.kind is float]
    uses = Counter(v for s in order.core for v in s.variables)
    inputs = set(program.inputs)
    floats.sort(key=lambda v: (v not in inputs, -uses[v]))
    return floats[:MOST_TRIED]


def _not_guessed(program: Program, order: Order) -> list[Variable]:
    """Inputs that can be chosen, but not guessed: numbers of another type."""
    inputs = set(program.inputs)
    return [v for v in order.open if v.kind is not float and v in inputs]


def _checks(loop: Order, order: Order, items: Sequence[Solved | Guess]) -> list[Statement]:
    """The equations of a loop that are left over: for those between floats it can be told how
    far off a guess is."""
    used = {id(s) for item in (items or order.solved) for s in _statements(item)}
    used |= {id(s) for s in order.core} if not items else set()
    return [s for s in loop.core if id(s) not in used and any(v.kind is float for v in s.results)]


def _statements(item: Solved | Guess) -> Iterator[Statement]:
    if isinstance(item, Solved):
        yield item.statement
        return
    yield item.check
    for inner in item.inner:
        yield from _statements(inner)


def _apart(
    items: Sequence[Solved | Guess], variable: Variable
) -> tuple[list[Solved | Guess], list[Solved | Guess]]:
    """Steps that can be taken before a variable is known, and those after."""
    waiting = {variable}
    before: list[Solved | Guess] = []
    after: list[Solved | Guess] = []
    for item in items:
        if waiting.isdisjoint(needed_by(item)):
            before.append(item)
        else:
            after.append(item)
            waiting.update(item.unknown)
    return before, after


def _slice(items: Sequence[Solved | Guess], wanted: set[Variable]) -> list[Solved | Guess]:
    """The steps that some variables need."""
    kept: list[Solved | Guess] = []
    for item in reversed(items):
        if not wanted.isdisjoint(item.unknown):
            wanted |= needed_by(item)
            kept.append(item)
    return kept[::-1]
