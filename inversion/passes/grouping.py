"""Grouping: statements that have to be solved together become one statement.

Solved one after the other, a point in polar coordinates would need root finding for the radius, and
every second angle with the right cosine would have the wrong sine. For statements about arrays,
grouping lets algebra and the order of solving see the equations of each element.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from inversion.program.branches import Branch
from inversion.program.causality import causalise, given_variables
from inversion.program.elementwise_statements import Elementwise, elementwise
from inversion.program.equation_systems import EquationSystem, system
from inversion.program.loop_blocks import split
from inversion.program.moved_elements import Moved, places_of
from inversion.program.statements import Constant, Operand, Program, Statement, Variable
from primitives import Domain, Relation
from primitives.arrays.domain import is_array
from primitives.complex_numbers import absolute, parts, phase, to_polar
from primitives.complex_numbers import imag as complex_imag
from primitives.complex_numbers import real as complex_real
from primitives.domains import Strings, Text
from primitives.floats.arithmetic import mul
from primitives.floats.trigonometric import angle as angle_of
from primitives.floats.trigonometric import cosine, hypotenuse, sine
from primitives.forms.polar import polar, unpolar
from primitives.sequences.chains import ConcatenationRelation, chain
from primitives.sequences.items import Apart

__all__ = [
    "absorb",
    "chained",
    "fuse_elementwise",
    "fuse_moved",
    "in_polar_coordinates",
    "with_systems",
]


def absorb(program: Program) -> Program:
    """Move statements that only a branch needs, such as its condition, into the branch."""
    kept: list[Statement] = []
    needed = Counter[Operand](program.results.values())
    needed.update(value for value, _ in program.holds)
    for statement in program.statements:
        needed.update(set(statement.arguments))
    taken: set[Statement] = set()
    for statement in reversed(program.statements):
        if statement in taken:
            continue
        kept.append(_with_its_own(program, statement, needed, taken))
    return program.replace(statements=tuple(reversed(kept)))


def _with_its_own(
    program: Program, statement: Statement, needed: Counter[Operand], taken: set[Statement]
) -> Statement:
    """The statement; a branch absorbs the statements that only it needs."""
    rule = statement.relation
    if not isinstance(rule, Branch):
        return statement
    given = dict(zip(rule.inputs, statement.arguments, strict=True))
    if any(formal != actual for formal, actual in given.items()):
        return statement  # its variables have other names outside
    before: list[Statement] = []
    wanted: set[Operand] = set(statement.arguments)
    for other in reversed(program.statements):
        if wanted.isdisjoint(other.results) or isinstance(other.relation, Branch):
            continue
        if all(needed[result] == 1 and result in wanted for result in other.results):
            taken.add(other)
            before.append(other)
            for argument in set(other.arguments) & wanted:
                needed[argument] -= 1
            wanted |= set(other.arguments)
    return rule.with_before(before[::-1]).statement() if before else statement


def chained(program: Program) -> Program:
    """Replace each concatenation that is used once, as part of another, by its parts: ``a + "/" +
    b`` becomes one chain, which can be split at its known parts.
    """
    uses = Counter[Operand](o for s in program.statements for o in s.arguments)
    uses.update(program.results.values())
    uses.update(value for value, _ in program.holds)
    inner: dict[Operand, Statement] = {}
    kept: list[Statement] = []
    for statement in program.statements:
        statement = _flat(statement, inner)
        kept.append(statement)
        if isinstance(statement.relation, ConcatenationRelation) and uses[statement.result] == 1:
            inner[statement.result] = statement
    used = {o for s in kept for o in s.arguments if isinstance(s.relation, ConcatenationRelation)}
    gone = {v for v in inner if v not in used and _is_in_chain(program, v)}
    left = tuple(s for s in kept if not gone & set(s.results))
    made: dict[Operand, Domain | None] = {
        s.result: s.relation.codomain for s in left if len(s.results) == 1
    }
    made |= _items_taken(left)
    return program.replace(statements=tuple(_bounded(s, made) for s in left))


def _items_taken(statements: Sequence[Statement]) -> dict[Variable, Domain | None]:
    """The domains of the items into which sequences are split."""
    return {
        v: s.relation.element
        for s in statements
        if isinstance(s.relation, Apart)
        for v in s.results
    }


def _bounded(statement: Statement, made: Mapping[Operand, Domain | None]) -> Statement:
    """A concatenation of strings, which may be split only into parts that the statements before it
    can give.
    """
    rule = statement.relation
    if not isinstance(rule, ConcatenationRelation) or rule.returns is not str:
        return statement
    domains: list[Domain] = [
        Strings(part.value, len(part.value), len(part.value))
        if isinstance(part, Constant)
        else made.get(part) or Text
        for part in statement.arguments
    ]
    if all(
        isinstance(p, Constant) or d.total
        for p, d in zip(statement.arguments, domains, strict=True)
    ):
        return statement
    return replace(statement, relation=chain(str, rule.singles, tuple(domains)))


def _flat(statement: Statement, inner: dict[Operand, Statement]) -> Statement:
    """A concatenation with nested ones replaced by their parts."""
    rule = statement.relation
    if not isinstance(rule, ConcatenationRelation) or not any(
        o in inner for o in statement.arguments
    ):
        return statement
    parts: list[Operand] = []
    singles: list[bool] = []
    for operand, single in zip(statement.arguments, rule.singles, strict=True):
        if operand in inner and not single:
            part = inner[operand]
            assert isinstance(part.relation, ConcatenationRelation)
            parts += part.arguments
            singles += part.relation.singles
        else:
            parts.append(operand)
            singles.append(single)
    made = chain(rule.returns, tuple(singles))
    return replace(statement, relation=made, arguments=tuple(parts))


def _is_in_chain(program: Program, operand: Operand) -> bool:
    """Return whether the only use of a variable is as a sequence in a chain."""
    return isinstance(operand, Variable) and any(
        operand == part and not single
        for s in program.statements
        if isinstance(s.relation, ConcatenationRelation)
        for part, single in zip(s.arguments, s.relation.singles, strict=True)
    )


def in_polar_coordinates(program: Program, known: Sequence[str]) -> Program:
    """Combine the products of one factor with the cosine and the sine of one angle into one
    statement, if neither the angle nor the factor follows from the known values; and likewise the
    length and the angle of a point.
    """
    program = _with_parts_together(program)
    angles, points = _angles(program), _points(program)
    if not angles and not points:
        return program
    unknown = set(causalise(program, given_variables(program, known)).open)
    found = list(program.statements)
    for (x, y), pair in points.items():
        results = tuple(one.result for one in pair)
        if {x, y} <= unknown and unknown.isdisjoint(results):
            found[found.index(pair[0])] = replace(pair[0], relation=unpolar, results=results)
            found.remove(pair[1])
    for angle in [a for a in angles if a in unknown]:
        wide, high = (_products(found, angles[angle][rule]) for rule in (cosine, sine))
        for radius in unknown & wide.keys() & high.keys() - set(angles[angle].values()):
            pair = wide[radius], high[radius]
            at = min(found.index(one) for one in pair)
            results = tuple(one.result for one in pair)
            found[at] = Statement(polar, results, (radius, angle), pair[0].where)
            found = [s for s in found if s not in pair]
    return program.replace(statements=tuple(found))


def _with_parts_together(program: Program) -> Program:
    """Combine both parts of a complex number, or its absolute value and its angle, into one
    statement.
    """
    found = list(program.statements)
    pairs = (complex_real, complex_imag, parts), (absolute, phase, to_polar)
    for one, other, both in pairs:
        firsts = {s.arguments: s for s in found if s.relation is one}
        for second in [s for s in found if s.relation is other and s.arguments in firsts]:
            first = firsts.pop(second.arguments, None)
            if first is not None:
                at = min(found.index(first), found.index(second))
                results = (first.result, second.result)
                found[at] = replace(first, relation=both, results=results)
                found = [s for s in found if s is not first and s is not second]
    if len(found) == len(program.statements):
        return program
    return program.replace(statements=tuple(found))


def _angles(program: Program) -> Mapping[Operand, Mapping[Relation, Variable]]:
    """The arguments of which both cosine and sine are computed, with the results."""
    found: dict[Operand, dict[Relation, Variable]] = {}
    for statement in program.statements:
        for rule in (cosine, sine):
            if statement.relation is rule:
                found.setdefault(statement.arguments[0], {})[rule] = statement.result
    return {angle: parts for angle, parts in found.items() if len(parts) == 2}


def _points(program: Program) -> Mapping[tuple[Operand, Operand], tuple[Statement, Statement]]:
    """The points of which both length and angle are computed, with the statements."""
    rules = hypotenuse, angle_of
    taken = {(s.relation, s.arguments): s for s in program.statements if s.relation in rules}
    return {
        (x, y): (length, taken[angle_of, (y, x)])
        for (rule, (x, y)), length in taken.items()
        if rule is hypotenuse and (angle_of, (y, x)) in taken
    }


def _products(statements: Sequence[Statement], factor: Variable) -> dict[Operand, Statement]:
    """The products of a variable with other operands, by the other factor."""
    found: dict[Operand, Statement] = {}
    for statement in statements:
        if statement.relation is mul and factor in statement.arguments:
            one, other = statement.arguments
            found[other if one == factor else one] = statement
    return found


Group = tuple[int, ...]


def fuse_moved(program: Program) -> Program:
    """Merge statements that move elements and share an array, if no other statement has to run
    between them.
    """
    return _fused(program, Moved)


def fuse_elementwise(program: Program) -> Program:
    """Merge elementwise statements of one shape that share an array, if no other statement has to
    run between them.
    """
    return _fused(program, Elementwise)


def _fused(program: Program, kind: type) -> Program:
    if not any(isinstance(s.relation, kind) for s in program.statements):
        return program
    fusion = _Fusion(program, kind)
    fusion.merge_all()
    return program.replace(statements=tuple(fusion.statements()))


class _Fusion:
    """Merging of groups of statements, which are given by number.

    The reason why two groups cannot merge remains valid while neither changes: merging others does
    not change the paths between them. So only a merged group is tried again, with the groups before
    and after it.
    """

    def __init__(self, program: Program, kind: type) -> None:
        self.program = program
        self.kind = kind
        self.users: dict[Operand, set[int]] = {}
        self.touching: dict[Variable, set[int]] = {}
        self.group_of: list[Group] = [(i,) for i in range(len(program.statements))]
        for i, statement in enumerate(program.statements):
            for operand in statement.arguments:
                self.users.setdefault(operand, set()).add(i)
        self.arrays = {group: self._arrays_in(group) for group in self.group_of}
        self.readers = {group: self._readers_of(group) for group in self.group_of}
        self.given = {*program.results.values(), *(value for value, _ in program.holds)}

    def of(self, group: Group) -> list[Statement]:
        """The statements of a group."""
        return [self.program.statements[i] for i in group]

    def _arrays_in(self, group: Group) -> frozenset[Variable]:
        """The arrays in a group of one statement, if it is of the kind to merge."""
        (statement,) = self.of(group)
        if not isinstance(statement.relation, self.kind):
            return frozenset()
        arrays = frozenset(v for v in statement.variables if is_array(v.kind))
        for array in arrays:
            self.touching.setdefault(array, set()).update(group)
        return arrays

    def _readers_of(self, group: Group) -> frozenset[int]:
        """The statements that read the results of a group of one statement."""
        (statement,) = self.of(group)
        return frozenset(i for v in statement.results for i in self.users.get(v, ()))

    def merge_all(self) -> None:
        """Merge groups until no two fit."""
        at = 0
        while at < len(self.group_of):
            at = self._merged_at(at)

    def _merged_at(self, at: int) -> int:
        """Merge the group that begins with a statement with a later one; return the statement at
        which to continue.
        """
        one = self.group_of[at]
        later = (g for g in self.near(one) if g > one) if one[0] == at else ()
        other = next((g for g in later if self.fit(one, g)), None)
        if other is None:
            return at + 1
        made = self._merge(one, other)
        before = next((g for g in self.near(made) if g < made and self.fit(g, made)), None)
        return at if before is None else self._merge(before, made)[0]

    def _merge(self, one: Group, other: Group) -> Group:
        made = tuple(sorted((*one, *other)))
        for i in made:
            self.group_of[i] = made
        self.arrays[made] = self.arrays[one] | self.arrays[other]
        self.readers[made] = self.readers[one] | self.readers[other]
        return made

    def near(self, group: Group) -> list[Group]:
        """The other groups of the kind that share an array with a group."""
        touching = (i for v in self.arrays[group] for i in self.touching[v])
        return sorted({self.group_of[i] for i in touching} - {group})

    def fit(self, one: Group, other: Group) -> bool:
        """Return whether two groups that share an array can run together."""
        relations = (self.program.statements[group[0]].relation for group in (one, other))
        shapes = {r.shape for r in relations if isinstance(r, Elementwise)}
        return len(shapes) <= 1 and self.free(one, other)

    def follows(self, group: Group) -> set[Group]:
        """The groups that read results of a group."""
        return {self.group_of[i] for i in self.readers[group]} - {group}

    def free(self, one: Group, other: Group) -> bool:
        """Return whether no path of dependencies leads from one group to the other
        through a third.
        """
        for first, last in ((one, other), (other, one)):
            seen = self.follows(first) - {last}
            waiting = list(seen)
            while waiting:
                following = self.follows(waiting.pop())
                if last in following:
                    return False
                waiting += following - seen
                seen |= following
        return True

    def statements(self) -> Iterator[Statement]:
        """A statement for each group, in the order of dependence."""
        left = sorted(set(self.group_of))
        known: set[Operand] = set(self.program.inputs)
        while left:
            group = next(g for g in left if self.ready(g, known))
            left.remove(group)
            known.update(v for s in self.of(group) for v in s.results)
            yield self.statement(group)

    def ready(self, group: Group, known: set[Operand]) -> bool:
        """Return whether all inputs of a group from other groups are known."""
        own = {v for s in self.of(group) for v in s.results}
        return all(v in known or v in own for s in self.of(group) for v in s.arguments
                   if isinstance(v, Variable))  # fmt: skip

    def statement(self, group: Group) -> Statement:
        """The single statement for a group."""
        parts = self.of(group)
        if len(parts) == 1:
            return parts[0]
        results = [
            v for s in parts for v in s.results
            if v in self.given or not self.users.get(v, set()).issubset(group)
        ]  # fmt: skip
        if isinstance(parts[0].relation, Moved):
            return places_of(parts, results)
        return _elementwise(parts, results)


def _elementwise(parts: Sequence[Statement], results: Sequence[Variable]) -> Statement:
    operands: dict[str, Operand] = {}
    inner: list[Statement] = []
    by_name: dict[str, Variable] = {}
    for part in parts:
        rule = part.relation
        assert isinstance(rule, Elementwise)
        renamed: dict[Operand, Operand] = {}  # a pass may have replaced variables
        for v, operand in zip(rule.read, part.arguments, strict=True):
            new = (
                Variable(operand.name, v.kind, operand.source)
                if isinstance(operand, Variable)
                else v
            )
            renamed[v] = new
            operands[new.name] = operand
        inner += [
            replace(s, arguments=tuple(renamed.get(a, a) for a in s.arguments))
            for s in rule.statements
        ]
        by_name.update({v.name: v for v in rule.results})
    first = parts[0].relation
    assert isinstance(first, Elementwise)
    wanted = [by_name[v.name] for v in results]
    return elementwise(
        first.name, first.shape, inner, operands, wanted, root_finding=first.root_finding
    )


def with_systems(program: Program, known: Sequence[str]) -> Program:
    """Combine each linear loop of shared arrays into one system of equations."""
    if not any(is_array(v.kind) for v in program.variables):
        return program  # loops of numbers are unrolled first
    order = causalise(program, given_variables(program, known))
    for core in _loops(order.core, set(order.open)):
        before, inside, after = split(program, core)
        made = system(inside, order.open) if len(inside) == len(core) else None
        if made is not None:
            return with_systems(program.replace(statements=(*before, made, *after)), known)
    return program


def _loops(core: Sequence[Statement], unknown: set[Variable]) -> Iterator[list[Statement]]:
    """The connected components of a core, linked by unknowns; components of elementwise statements
    need no system.
    """
    left = list(core)
    while left:
        part, reached = [left.pop(0)], set[Variable]()
        for statement in part:
            reached |= unknown.intersection(statement.variables)
            more = [s for s in left if not reached.isdisjoint(s.variables)]
            left = [s for s in left if s not in more]
            part += more
        if not all(isinstance(s.relation, (Elementwise, EquationSystem)) for s in part):
            yield [s for s in core if s in part]
