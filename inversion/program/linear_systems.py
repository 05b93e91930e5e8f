"""Linear systems: loops of shared arrays that are linear, as one statement."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from inversion.program.moved_elements import offsets, size_of
from inversion.program.statements import Statement, Variable, listed
from inversion.program.structured import Whole, is_linear, needed
from primitives.arrays.domain import element_of, is_array
from primitives.relation import Mode

__all__ = ["LinearSystem", "system"]

MOST_UNKNOWNS = 2048


@dataclass(frozen=True, eq=False)
class LinearSystem(Whole):
    """Statements that are linear in the inputs ``linear``, with the other inputs known."""

    name: str
    read: tuple[Variable, ...]
    linear: frozenset[Variable]
    results: tuple[Variable, ...]
    statements: tuple[Statement, ...]
    where: str
    _modes: dict[frozenset[str], Mode | None] = field(default_factory=dict)
    _reasons: list[str] = field(default_factory=list[str])

    @property
    def inside(self) -> tuple[Statement, ...]:
        """The equations."""
        return self.statements

    @property
    def low_information(self) -> bool:
        """Whether there are fewer equations than unknowns."""
        return sum(map(size_of, self.results)) < sum(map(size_of, self.linear))

    def rows(self) -> list[str]:
        """The lines of text for the equations."""
        return [f"  {row}" for row in listed(self.statements)]

    def giving(self, statement: Statement, wanted: Sequence[Variable]) -> Statement:
        given = dict(zip(statement.results, self.results, strict=True))
        operands = dict(zip(self.read, statement.arguments, strict=True))
        results = tuple(given[v] for v in wanted)
        kept = needed(self.statements, set(results))
        used = {v for s in kept for v in s.variables}
        read = tuple(v for v in self.read if v in used)
        rule = LinearSystem(
            self.name, read, self.linear.intersection(read), results, kept, self.where
        )
        return Statement(rule, tuple(wanted), tuple(operands[v] for v in read), statement.where)

    def places(self, variables: Sequence[Variable]) -> Iterator[tuple[Variable, int, int]]:
        """Each variable with the start and end of its elements in one flat array."""
        for name, start in offsets(variables).items():
            variable = next(v for v in variables if v.name == name)
            yield variable, start, start + size_of(variable)


def system(core: Sequence[Statement], unknown: Sequence[Variable]) -> Statement | None:
    """One statement for these, solved for these variables together; None if they are not linear in
    them, or more than ``MOST_UNKNOWNS``, or if a single number is unknown.
    """
    made = {v for s in core for v in s.results}
    sources = [v for v in unknown if v not in made and any(v in s.variables for s in core)]
    read_here = {v for s in core for v in s.variables}
    varying = read_here.intersection(unknown)
    floats = all(element_of(v.kind) is float for v in (*sources, *made))
    alone = len(sources) < 2 and not any(is_array(v.kind) for v in varying)
    if not sources or not floats or made <= varying or alone:
        return None
    if sum(map(size_of, sources)) > MOST_UNKNOWNS or not all(is_linear(s, varying) for s in core):
        return None
    mentioned = dict.fromkeys(v for s in core for v in s.variables if v not in made)
    read = sources + [v for v in mentioned if v not in varying]
    results = tuple(v for s in core for v in s.results)
    name = f"system_{core[0].where.rpartition(':')[2]}"
    rule = LinearSystem(name, tuple(read), frozenset(sources), results, tuple(core), core[0].where)
    return Statement(rule, results, tuple(read), core[-1].where)
