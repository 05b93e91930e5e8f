"""Tearing of loops that algebra cannot close: an unknown is guessed, and an equation gives the
residual.

H. Elmqvist and M. Otter, Methods for tearing systems of equations in object-oriented modeling,
European Simulation Multiconference 1994.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from inversion.program.causality import Order, Solved, causalise
from inversion.program.equation_systems import nonlinear_system, reals_in, system
from inversion.program.loop_blocks import blocks
from inversion.program.statements import Operand, Program, Statement, Variable
from primitives import Domain
from primitives.arrays.domain import element_of
from primitives.relation import Mode

__all__ = ["Guess", "Torn", "together", "torn"]

MOST_TRIED = 24  # unknowns tried as a guess
FEWEST_TRIED = 2
EFFORT = 10_000  # statements ordered while choices are compared


@dataclass(frozen=True)
class Guess:
    """One unknown, found as a root.

    check: the equation whose residual is computed. inner: the steps that are solved from a guess to
    compute it.
    """

    variable: Variable
    check: Statement
    inner: tuple[Solved | Guess, ...]

    @property
    def unknown(self) -> tuple[Variable, ...]:
        """The variables that it solves for."""
        return (self.variable,)

    @property
    def needs(self) -> set[Variable]:
        """The variables of the equation other than the unknown."""
        solved = {v for item in self.inner for v in item.unknown}
        mentioned = set(self.check.variables)
        for item in self.inner:
            mentioned |= needed_by(item)
        return mentioned - solved - {self.variable}


@dataclass(frozen=True)
class Torn:
    """A closed loop of statements: free variables are chosen, then the items are solved
    in order.
    """

    free: tuple[Variable, ...]
    items: tuple[Solved | Guess, ...]


def needed_by(item: Solved | Guess) -> set[Variable]:
    """The variables that a step needs."""
    if isinstance(item, Guess):
        return item.needs
    return set(item.statement.variables) - set(item.unknown)


def torn(
    program: Program, order: Order, domains: Mapping[str, Domain], *, root_finding: bool = True
) -> Torn | None:
    """The loop of an order, closed with as few guesses as possible; None if that fails.

    It is closed block by block: linear equations as a system, others by a guess, or as a system
    whose unknowns are all guessed at once, unless ``root_finding`` is off. If a block has more
    unknowns than equations, some of them are free. domains: the declared domains of inputs.
    """
    return _Tearing(program, domains, root_finding=root_finding).closed(order)


def together(
    program: Program, order: Order, domains: Mapping[str, Domain], *, root_finding: bool = True
) -> Order | None:
    """The order in which everything that is not computed from known values is solved as one system,
    if real numbers are found from complex ones while others are free; None if that does not apply.

    Each equation between complex numbers is two equations between real ones. Solved one after the
    other, those of the real unknowns would be left over, and the choices would rarely fit them.
    """
    steps = [s for s in order.solved if not _is_forward(s)]
    done = {id(s.statement) for s in order.solved}
    over = [s for s in program.statements if id(s) not in done and any(_is_complex(s.variables))]
    spare = over or any(_leaves_reals(s) for s in steps)
    chosen = order.free or any(_leaves_choice(s.mode) for s in steps)
    if order.core or not spare or not chosen:
        return None
    computed = [s for s in order.first if _is_forward(s)]
    made_before = {v for s in computed for v in s.unknown}
    kept = {id(s.statement) for s in computed}
    core = [s for s in program.statements if id(s) not in kept]
    unknown = [v for v in (*order.free, *(v for s in order.solved for v in s.unknown))
               if v not in made_before]  # fmt: skip
    made = system(core, unknown)
    if made is None and root_finding:
        made = nonlinear_system(core, unknown, domains)
    if made is None:
        return None
    return replace(order, free=(), first=(*computed, _solved_together(made, unknown)), last=())


def _is_forward(step: Solved) -> bool:
    return step.mode.unknown == step.statement.relation.outputs


def _leaves_reals(step: Solved) -> bool:
    """Return whether a step finds fewer real numbers than its known complex numbers contain."""
    known = [v for v in step.statement.variables if v not in step.unknown]
    return any(_is_complex(known)) and not any(_is_complex(step.unknown))


def _is_complex(variables: Sequence[Variable]) -> Iterator[bool]:
    return (element_of(v.kind) is complex for v in variables)


def _leaves_choice(mode: Mode) -> bool:
    """Return whether a mode has a coordinate on which its answer depends continuously, other than
    for single values of the known axes.
    """
    domains = mode.coordinates.values()
    return (
        not mode.settled
        and not mode.all_or_nothing
        and mode.determined_if is None
        and any(domain.kind in (float, complex) for domain in domains)
    )


class _Tearing:
    """Tearing of loops. effort: the largest number of statements to order while choices are
    compared; after that, the first possible choice is taken.
    """

    def __init__(
        self, program: Program, domains: Mapping[str, Domain], *, root_finding: bool
    ) -> None:
        self.program = program
        self.domains = domains
        self.root_finding = root_finding
        self.effort = EFFORT

    def closed(self, order: Order) -> Torn | None:
        """The rest of an order, closed."""
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
        """One block, closed: unknowns are chosen while there are more unknowns than equations."""
        if sum(map(reals_in, loop.open)) > sum(reals_in(v) for s in loop.core for v in s.results):
            found = self.chosen(loop)
            if found is not None:
                return found
        part = _part(self.program, loop)
        if not (order := self.order(part, loop, ())).core:
            return Torn(order.free, order.solved)
        linear = system(loop.core, loop.open)
        if linear is not None:
            return Torn((), (_solved_together(linear, loop.open),))
        found = self.searched(part, loop) if self.root_finding else None
        if found is not None:
            return found
        # some results of one statement are then only checked
        return self.chosen(loop) if len(loop.open) > len(loop.core) else None

    def chosen(self, loop: Order) -> Torn | None:
        """A block closed after an unknown is chosen; None if no choice closes it."""
        found = self.freed(loop)
        if found is None:
            return None
        left, variable = found
        rest = self.closed(left)
        if rest is None:
            return None
        return Torn((variable, *left.free, *rest.free), (*left.first, *rest.items, *left.last))

    def order(self, part: Program, loop: Order, more: Sequence[Variable]) -> Order:
        """The order of a part, with these unknowns known as well."""
        self.effort -= len(part.statements)
        return causalise(part, [*_known(loop), *more])

    def freed(self, loop: Order) -> tuple[Order, Variable] | None:
        """The rest of a loop, and the unknown whose choice makes this rest smallest."""
        part = _part(self.program, loop)
        best: tuple[Order, Variable] | None = None
        for variable in (*_not_guessed(part, loop), *_candidates(part, loop)):
            order = self.order(part, loop, [variable])
            if _checks(loop, order, ()):  # an equation would only be checked
                continue
            if best is None or len(order.core) < len(best[0].core):
                best = order, variable
            if self.effort < 0 or not order.core:
                break
        return best

    def searched(self, part: Program, loop: Order) -> Torn | None:
        """A loop closed with one guess; otherwise as a system, if there are enough equations."""
        for variable in _candidates(part, loop)[: None if self.effort > 0 else FEWEST_TRIED]:
            found = self.guess(part, loop, variable)
            if found is not None:
                return found
        made = nonlinear_system(loop.core, loop.open, self.domains)
        return None if made is None else Torn((), (_solved_together(made, loop.open),))

    def guess(self, part: Program, loop: Order, variable: Variable) -> Torn | None:
        """The loop closed with a guess of this variable, if an equation remains as a check."""
        order = self.order(part, loop, [variable])
        if order.core:
            return None
        items = [*order.first, *order.last]
        checks = _checks(loop, order, items)
        if not checks:
            return None
        before, after = _apart(items, variable)
        guess = Guess(variable, checks[0], tuple(_slice(after, set(checks[0].variables))))
        return Torn(order.free, (*before, guess, *after))


def _solved_together(statement: Statement, unknown: Sequence[Variable]) -> Solved:
    """A system of equations, solved for its unknowns."""
    wanted = set(unknown)
    axes = {axis: v for axis, v in statement.bindings() if v in wanted}
    mode = statement.relation.mode(axes)
    assert mode is not None
    return Solved(statement, mode, tuple(_answered(axes, mode)))


def _answered(axes: Mapping[str, Operand], mode: Mode) -> Iterator[Variable]:
    """The variables that a mode solves for, in its order."""
    for axis in mode.unknown:
        variable = axes[axis]
        assert isinstance(variable, Variable)
        yield variable


def _part(program: Program, loop: Order) -> Program:
    """A loop as a separate program; variables from outside are known."""
    results = {v for s in loop.core for v in s.results}
    unknown = set(loop.open)
    inputs = dict.fromkeys(v for v in program.inputs if v in unknown)
    inputs.update(dict.fromkeys(v for v in loop.open if v not in results))
    return program.replace(statements=loop.core, inputs=tuple(inputs), results={}, holds=())


def _known(loop: Order) -> set[Variable]:
    return {v for s in loop.core for v in s.variables} - set(loop.open)


def _candidates(program: Program, order: Order) -> list[Variable]:
    """Unknowns that may be guessed: inputs first, then those in most statements."""
    floats = [v for v in order.open if v.kind is float]
    uses = Counter(v for s in order.core for v in s.variables)
    inputs = set(program.inputs)
    floats.sort(key=lambda v: (v not in inputs, -uses[v]))
    return floats[:MOST_TRIED]


def _not_guessed(program: Program, order: Order) -> list[Variable]:
    """Inputs that can be chosen but not guessed: numbers that are not floats."""
    inputs = set(program.inputs)
    return [v for v in order.open if v.kind is not float and v in inputs]


def _checks(loop: Order, order: Order, items: Sequence[Solved | Guess]) -> list[Statement]:
    """The remaining equations of a loop that are of floats, so that residuals are defined."""
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
    """The steps that do not depend on a variable, and those that do."""
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
    """The steps on which some variables depend."""
    kept: list[Solved | Guess] = []
    for item in reversed(items):
        if not wanted.isdisjoint(item.unknown):
            wanted |= needed_by(item)
            kept.append(item)
    return kept[::-1]
