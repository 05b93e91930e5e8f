"""Branches: an ``if`` as one statement, with two arms."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from inversion.program.statements import Constant, Operand, Program, Statement, Variable, listed
from inversion.program.structured import Narrowed, Structured, needed
from primitives.relation import Mode

__all__ = ["Arm", "Branch", "branch"]


@dataclass(frozen=True)
class Arm:
    """One arm of a branch: statements, conditions that must hold, and results."""

    statements: tuple[Statement, ...]
    gives: tuple[Operand, ...]
    holds: tuple[tuple[Operand, bool], ...] = ()

    @property
    def variables(self) -> Iterator[Variable]:
        """The variables that the arm mentions."""
        for statement in self.statements:
            yield from statement.variables
        for operand in (*self.gives, *(value for value, _ in self.holds)):
            if isinstance(operand, Variable):
                yield operand

    def where_gives(self, at: int, is_true: bool) -> Arm | None:
        """The arm with its result at a position known and removed; None if it never has
        that value.
        """
        give = self.gives[at]
        gives = (*self.gives[:at], *self.gives[at + 1 :])
        if isinstance(give, Variable):
            return Arm(self.statements, gives, (*self.holds, (give, is_true)))
        return Arm(self.statements, gives, self.holds) if bool(give.value) is is_true else None

    def giving(self, at: Sequence[int]) -> Arm:
        """The arm with only the results at these positions."""
        gives = tuple(self.gives[i] for i in at)
        wanted: set[Operand] = {*gives, *(value for value, _ in self.holds)}
        return Arm(needed(self.statements, wanted), gives, self.holds)


@dataclass(frozen=True, eq=False)
class Branch(Structured):
    """``if condition: ... else: ...`` as an equation between its inputs and results.

    before: statements before the condition, or shared by both arms, that no other statement needs.
    inputs: the variables from outside. results: the results of both arms. root_finding: whether the
    arms may use root finding.
    """

    name: str
    before: tuple[Statement, ...]
    condition: Operand
    arms: tuple[Arm, Arm]
    results: tuple[Variable, ...]
    where: str
    root_finding: bool
    _modes: dict[frozenset[str], Mode | None] = field(default_factory=dict)
    _reasons: list[str] = field(default_factory=list[str])

    def _inputs(self) -> tuple[Variable, ...]:
        """The variables from outside, in order of first use."""
        inside = {v for s in self.inside for v in s.results}
        mentioned = [v for s in self.before for v in s.variables]
        mentioned += [self.condition] if isinstance(self.condition, Variable) else []
        mentioned += [v for arm in self.arms for v in arm.variables]
        return tuple(v for v in dict.fromkeys(mentioned) if v not in inside)

    @property
    def inside(self) -> Iterator[Statement]:
        yield from self.before
        for arm in self.arms:
            yield from arm.statements

    # ---- as a statement rule ----

    def rows(self) -> list[str]:
        """The lines of text for both arms."""
        rows = listed(self.before)
        for word, arm in zip((f"if {self.condition}:", "else:"), self.arms, strict=True):
            given = ", ".join(map(str, arm.gives))
            inner = [*listed(arm.statements, arm.holds), f"  give {given}"]
            rows += [f"  {word}", *(f"  {row}" for row in inner)]
        return rows

    def program(self, taken: int) -> Program:
        """The program that runs if arm 0 or 1 is taken: the condition is known, and the branch is
        removed.
        """
        arm = self.arms[taken]
        return Program(
            self.name,
            self.inputs,
            (*self.before, *arm.statements),
            dict(zip(self.outputs, arm.gives, strict=True)),
            self.where,
            holds=((self.condition, not taken), *arm.holds),
        )

    # ---- rewriting ----

    def where_gives(self, statement: Statement, result: Variable, is_true: bool) -> Narrowed | None:
        at = statement.results.index(result)
        actual: dict[Operand, Operand] = dict(zip(self.inputs, statement.arguments, strict=True))
        if any(formal != operand for formal, operand in actual.items()):
            return None  # its variables have other names outside
        arms = [arm.where_gives(at, is_true) for arm in self.arms]
        first, second = arms
        if first is not None and second is not None:
            results = tuple(v for v in statement.results if v != result)
            if not results:
                return None
            rest = Branch(
                self.name, self.before, self.condition, (first, second), results, self.where,
                self.root_finding,
            )  # fmt: skip
            return Narrowed((rest.statement(),), (), {result: Constant(is_true)})
        taken = 0 if first is not None else 1
        arm = arms[taken]
        if arm is None:
            return None  # the arm never has that result
        gives = (*arm.gives[:at], Constant(is_true), *arm.gives[at:])
        instead: dict[Operand, Operand] = dict(zip(statement.results, gives, strict=True))
        holds = ((self.condition, not taken), *arm.holds)
        return Narrowed((*self.before, *arm.statements), holds, instead)

    def giving(self, statement: Statement, wanted: Sequence[Variable]) -> Statement:
        arms = [arm.giving([statement.results.index(v) for v in wanted]) for arm in self.arms]
        asked: set[Operand] = {self.condition, *(a for arm in arms for a in arm.variables)}
        rest = Branch(
            self.name, needed(self.before, asked), self.condition, (arms[0], arms[1]),
            tuple(wanted), self.where, self.root_finding,
        )  # fmt: skip
        actual: dict[Operand, Operand] = dict(zip(self.inputs, statement.arguments, strict=True))
        return Statement(rest, tuple(wanted), tuple(actual[v] for v in rest.inputs), self.where)

    def around(
        self, before: Sequence[Statement], after: Sequence[Statement], gives: Sequence[Variable]
    ) -> Statement | None:
        """The branch with the preceding statements, and with the following ones in both arms."""
        arms = [self._arm_with(arm, after, gives) for arm in self.arms]
        wider = Branch(
            self.name, (*before, *self.before), self.condition, (arms[0], arms[1]), tuple(gives),
            self.where, self.root_finding,
        )  # fmt: skip
        return wider.statement()

    def _arm_with(self, arm: Arm, after: Sequence[Statement], gives: Sequence[Variable]) -> Arm:
        known: dict[Operand, Operand] = dict(zip(self.results, arm.gives, strict=True))
        added = [
            replace(s, arguments=tuple(known.get(operand, operand) for operand in s.arguments))
            for s in after
        ]
        given = tuple(known.get(v, v) for v in gives)
        return Arm((*arm.statements, *added), given, arm.holds)

    def with_before(self, statements: Sequence[Statement]) -> Branch:
        """The branch with more statements before its condition."""
        return Branch(
            self.name, (*statements, *self.before), self.condition, self.arms, self.results,
            self.where, self.root_finding,
        )  # fmt: skip

    def statement(self) -> Statement:
        """The statement of the branch on its own variables."""
        return Statement(self, self.results, self.inputs, self.where)


def branch(
    name: str,
    condition: Operand,
    arms: tuple[Arm, Arm],
    results: tuple[Variable, ...],
    where: str,
    *,
    root_finding: bool,
) -> Statement:
    """The statement for an ``if``."""
    return Branch(name, (), condition, arms, results, where, root_finding).statement()
