"""Loops that algebra does not close: one unknown is guessed, and one equation tells how far off.

Tearing, as in equation-based modelling: H. Elmqvist and M. Otter, Methods for tearing systems of
equations in object-oriented modeling, European Simulation Multiconference 1994.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from inversion.causality import Order, Solved, causalise
from inversion.program import Program, Statement, Variable

__all__ = ["Guess", "Torn", "torn"]

MOST_GUESSES = 2  # one inside the other
MOST_TRIED = 24  # unknowns that are tried as a guess


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


def torn(program: Program, order: Order, depth: int = MOST_GUESSES) -> Torn | None:
    """The loop that an order leaves, closed by guessing as few unknowns as can be; or None.

    Where the loop has more unknowns than equations some of them are free.
    """
    free, loop = _freed(_part(program, order), order)
    if not loop.core:
        return Torn((*free, *loop.free), loop.solved)
    for guesses in range(1, depth + 1):
        found = _torn(_part(program, loop), loop, guesses)
        if found is not None:
            items = (*loop.first, *found.items, *loop.last) if loop is not order else found.items
            chosen = loop.free if loop is not order else ()
            return Torn((*free, *chosen, *found.free), items)
    return None


def _part(program: Program, loop: Order) -> Program:
    """A loop as a program of its own; what it needs from outside is known."""
    results = {v for s in loop.core for v in s.results}
    inputs = [v for v in program.inputs if v in loop.open]
    inputs += [v for v in loop.open if v not in results and v not in inputs]
    return program.replace(statements=loop.core, inputs=tuple(inputs), results={}, holds=())


def _known(loop: Order) -> set[Variable]:
    return {v for s in loop.core for v in s.variables} - set(loop.open)


def _freed(part: Program, loop: Order) -> tuple[tuple[Variable, ...], Order]:
    """The unknowns that a loop leaves open, and what is left of it once they are chosen."""
    known, free, left = _known(loop), list[Variable](), loop
    for _ in range(len(loop.open) - len(loop.core)):
        orders = [
            (causalise(part, [*known, *free, variable]), variable)
            for variable in (*_not_guessed(part, loop), *_candidates(part, loop))
            if variable not in free
        ]
        # none that makes an equation a mere check
        orders = [pair for pair in orders if not _checks(loop, pair[0], ())]
        if not orders:
            break
        left, variable = min(orders, key=lambda pair: len(pair[0].core))
        free.append(variable)
        if not left.core:
            break
    return tuple(free), left


def _torn(program: Program, order: Order, guesses: int) -> Torn | None:
    for variable in _candidates(program, order):
        found = _guessed(program, order, variable, guesses)
        if found is not None:
            return found
    return None


def _candidates(program: Program, order: Order) -> list[Variable]:
    """Unknowns that may be guessed: inputs first, then what stands in most statements."""
    floats = [v for v in order.open if v.kind is float]
    uses = {v: sum(v in s.variables for s in order.core) for v in floats}
    floats.sort(key=lambda v: (v not in program.inputs, -uses[v]))
    return floats[:MOST_TRIED]


def _not_guessed(program: Program, order: Order) -> list[Variable]:
    """Inputs that can be chosen, but not guessed: numbers of another type."""
    return [v for v in order.open if v.kind is not float and v in program.inputs]


def _guessed(program: Program, loop: Order, variable: Variable, guesses: int) -> Torn | None:
    """The loop closed with a guess of this variable, if a check is then left over."""
    part = _part(program, loop)
    order = causalise(part, [*_known(loop), variable])
    inner: Torn | None = None
    if order.core:
        inner = None if guesses == 1 else _torn(part, order, guesses - 1)
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
