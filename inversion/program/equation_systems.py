"""Systems of equations: loops of shared variables that are solved together, as one statement.

Equations that are linear in the unknowns are solved by a matrix. For all others the unknowns are
searched for together, from a start.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from inversion.program.moved_elements import size_of
from inversion.program.statements import Statement, Variable, listed, required
from inversion.program.structured import Whole, is_linear, needed
from primitives import Domain
from primitives.arrays.domain import element_of, is_array
from primitives.domains import common
from primitives.relation import Mode

__all__ = ["EquationSystem", "nonlinear_system", "reals_in", "system"]

MOST_UNKNOWNS = 2048
MOST_SEARCHED = 64
"""The largest number of real numbers that are searched for together."""
CONTINUOUS = (float, complex)


@dataclass(frozen=True, eq=False)
class EquationSystem(Whole):
    """Statements that are solved together for the inputs ``sought``, with the other inputs known.

    linear: whether they are linear in these, as real numbers. within: the domains of the sought
    numbers, by name, if they are restricted.
    """

    name: str
    read: tuple[Variable, ...]
    sought: frozenset[Variable]
    results: tuple[Variable, ...]
    statements: tuple[Statement, ...]
    where: str
    linear: bool = True
    within: Mapping[str, Domain] = field(default_factory=dict[str, Domain])
    _modes: dict[frozenset[str], Mode | None] = field(default_factory=dict)
    _reasons: list[str] = field(default_factory=list[str])

    @property
    def inside(self) -> tuple[Statement, ...]:
        """The equations."""
        return self.statements

    @property
    def low_information(self) -> bool:
        """Whether there are fewer equations than unknowns."""
        return sum(map(reals_in, self.results)) < sum(map(reals_in, self.sought))

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
        sought = self.sought.intersection(read)
        rule = EquationSystem(
            self.name, read, sought, results, kept, self.where, self.linear, self.within
        )
        return Statement(rule, tuple(wanted), tuple(operands[v] for v in read), statement.where)

    def places(self, variables: Sequence[Variable]) -> Iterator[tuple[Variable, int, int]]:
        """Each variable with the start and end of its real numbers in one flat array."""
        start = 0
        for variable in variables:
            yield variable, start, start + reals_in(variable)
            start += reals_in(variable)


def reals_in(variable: Variable) -> int:
    """The number of real numbers in a variable: two for each complex number."""
    return size_of(variable) * (2 if element_of(variable.kind) is complex else 1)


def system(core: Sequence[Statement], unknown: Sequence[Variable]) -> Statement | None:
    """One statement for these, solved for these variables together; None if they are not linear in
    them, or more than ``MOST_UNKNOWNS``, or if only a single number is unknown.
    """
    made, sources, varying = _divided(core, unknown)
    numbers = all(element_of(v.kind) in CONTINUOUS for v in (*sources, *made))
    alone = (
        len(sources) < 2
        and not any(is_array(v.kind) for v in varying)
        and not any(v.kind is complex for v in sources)
    )
    if not sources or not numbers or made <= varying or alone:
        return None
    if sum(map(reals_in, sources)) > MOST_UNKNOWNS or not all(is_linear(s, varying) for s in core):
        return None
    return _stated(core, sources, varying, linear=True)


def nonlinear_system(
    core: Sequence[Statement], unknown: Sequence[Variable], domains: Mapping[str, Domain]
) -> Statement | None:
    """One statement for these, in which these variables are searched for together.

    domains: the declared domains of some of them. The result is None unless the sources among them,
    from which all others are computed forwards, are at most ``MOST_SEARCHED`` real numbers, and
    there are at least as many known results.
    """
    made, sources, varying = _divided(core, unknown)
    given = [v for v in made if v not in varying and element_of(v.kind) in CONTINUOUS]
    count = sum(map(reals_in, sources))
    if not sources or not all(element_of(v.kind) in CONTINUOUS for v in sources):
        return None
    if not count <= sum(map(reals_in, given)) or count > MOST_SEARCHED:
        return None
    within: dict[str, Domain] = {}
    allowed = required(core)
    for v in sources:
        stated = [domains[v.name]] if v.name in domains else []
        found = [domain for domain in (*stated, *allowed.get(v, ())) if domain.kind is v.kind]
        if found:
            within[v.name] = common(found)
    return _stated(core, sources, varying, linear=False, within=within)


def _divided(
    core: Sequence[Statement], unknown: Sequence[Variable]
) -> tuple[set[Variable], list[Variable], set[Variable]]:
    """The results of statements, the unknowns that are not results, and the unknowns that occur."""
    made = {v for s in core for v in s.results}
    read_here = {v for s in core for v in s.variables}
    sources = [v for v in unknown if v not in made and v in read_here]
    return made, sources, read_here.intersection(unknown)


def _stated(
    core: Sequence[Statement],
    sources: list[Variable],
    varying: set[Variable],
    *,
    linear: bool,
    within: Mapping[str, Domain] | None = None,
) -> Statement:
    made = {v for s in core for v in s.results}
    mentioned = dict.fromkeys(v for s in core for v in s.variables if v not in made)
    read = sources + [v for v in mentioned if v not in varying]
    results = tuple(v for s in core for v in s.results)
    name = f"system_{core[0].where.rpartition(':')[2]}"
    rule = EquationSystem(
        name, tuple(read), frozenset(sources), results, tuple(core), core[0].where, linear,
        within or {},
    )  # fmt: skip
    return Statement(rule, results, tuple(read), core[-1].where)
