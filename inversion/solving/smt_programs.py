"""Programs as formulas of z3: statements, branches, and loops iteration by iteration.

The statements of an arm are conditions only if the arm is taken. A loop is unrolled while its
condition may hold: it ends at an iteration that no arguments reach.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from inversion.errors import NotInvertible
from inversion.program.branches import Arm, Branch
from inversion.program.loops import Loop
from inversion.program.statements import Constant, Operand, Program, Statement, Variable
from inversion.program.structured import Structured
from inversion.solving.smt_relations import TranslationSite, is_of_bits, translated
from inversion.solving.smt_values import (
    Never,
    Term,
    Translated,
    Truth,
    Unsized,
    Untranslated,
    Value,
    as_value,
    equal,
    merged,
    named,
    no_term,
    of_model,
    sized,
    truth,
    unsized,
    z3,
)
from primitives import Domain, Relation

__all__ = ["Formula", "TurnsNotKnown"]

MOST_TURNS = 1000
"""The largest number of iterations of a loop over a range that are unrolled."""
MOST_OPEN = 100
"""The largest number of iterations of another loop that are unrolled."""
OF_BITS_ALONE = (
    "simplify", "propagate-values", "solve-eqs", "elim-uncnstr", "simplify", "bit-blast", "sat",
)  # fmt: skip
"""The tactics for formulas of bits, which are faster than the general solver there."""

Environment = dict[Operand, Value]


class TurnsNotKnown(NotInvertible):
    """The number of iterations of a loop depends on unknown values."""


class Formula:
    """The formula of a program for known values of some of its axes.

    known: these values, by axis. domains: the domains of the inputs. inputs: the values of the
    inputs, as terms. results: the values of the results. conditions: the conditions of a solution.
    Raises NotInvertible if a statement has no translation.
    """

    def __init__(
        self, program: Program, known: Mapping[str, Any], domains: Mapping[str, Domain]
    ) -> None:
        self.program = program
        self.as_bits = has_bits(program)
        self.conditions: list[Any] = []
        self.path: Any = z3.BoolVal(True)
        self.inputs: dict[Variable, Value] = {}
        for variable in program.inputs:
            self.inputs[variable] = self._input(variable, known, domains)
        self.results: dict[str, Value] = {}
        try:
            environment: Environment = {**self.inputs}
            self.run(program.statements, environment)
            self.hold(program.holds, environment, program.where)
            for axis, operand in program.results.items():
                self.results[axis] = self.value(operand, environment, program.where)
                if axis in known:
                    self.equate(axis, known[axis])
        except Never:
            self.require(z3.BoolVal(False))

    def _input(
        self, variable: Variable, known: Mapping[str, Any], domains: Mapping[str, Domain]
    ) -> Value:
        with Translating(self, variable.name, self.program.where):
            if variable.name in known:
                return as_value(known[variable.name])
            domain = domains.get(variable.name)
            value, inside = named(variable.name, variable.kind, domain, as_bits=self.as_bits)
            self.conditions += inside
            return value

    def equate(self, axis: str, value: Any) -> None:
        """Add the condition that a result has a value."""
        with Translating(self, axis, self.program.where):
            self.require(equal(self.results[axis], as_value(value)))

    # ---- conditions ----

    def require(self, condition: Any) -> None:
        """Add a condition that applies if the current statement is reached."""
        found = z3.simplify(z3.Implies(self.path, condition))
        if not z3.is_true(found):
            self.conditions.append(found)

    def hold(
        self, holds: Iterable[tuple[Operand, bool]], environment: Environment, where: str
    ) -> None:
        """Add conditions of a program."""
        for operand, is_true in holds:
            condition = self.truth(operand, environment, where)
            self.require(condition if is_true else z3.Not(condition))

    def truth(self, operand: Operand, environment: Environment, where: str) -> Any:
        """The formula of a condition."""
        value = self.value(operand, environment, where)
        if isinstance(value, Truth):
            return value.term
        return truth(z3.Not(equal(value, as_value(0)))).term

    def value(self, operand: Operand, environment: Environment, where: str) -> Value:
        """The value of an operand."""
        if operand in environment:
            return environment[operand]
        assert isinstance(operand, Constant)
        with Translating(self, str(operand), where):
            return as_value(operand.value)

    def size(self, whole: Unsized, template: tuple[Any, ...], letters: str) -> Translated:
        """Give an unknown sequence its items; those of an input are given once."""
        row, inside = sized(whole, template, as_bits=self.as_bits, letters=letters)
        for variable, value in self.inputs.items():
            if value is whole:
                self.inputs[variable] = row
        self.conditions += inside
        return row

    # ---- statements ----

    def run(self, statements: Sequence[Statement], environment: Environment) -> None:
        """Translate statements. Raises Never if one has no result for any arguments."""
        for statement in statements:
            where = statement.where
            given = [self.value(a, environment, where) for a in statement.arguments]
            rule = statement.relation
            if isinstance(rule, Branch):
                found = self.branch(rule, given)
            elif isinstance(rule, Loop):
                found = self.loop(rule, given)
            else:
                with Translating(self, str(statement), where):
                    for operand in (*statement.results, *statement.arguments):
                        if operand.kind in (float, complex):
                            raise no_term(operand.kind)
                    if isinstance(rule, Structured) or not isinstance(rule, Relation):
                        raise Untranslated("arrays have no translation", "use lists, or numbers")
                    found = translated(TranslationSite(rule, self.require, self.size), given)
            environment.update(zip(statement.results, found, strict=True))
            for before, value in zip(statement.arguments, given, strict=True):
                if isinstance(value, Unsized) and before in self.inputs:
                    environment[before] = self.inputs[before]

    def branch(self, rule: Branch, given: Sequence[Value]) -> list[Value]:
        """The results of a branch: those of the arm that is taken."""
        environment = Environment(zip(rule.inputs, given, strict=True))
        self.run(rule.before, environment)
        condition = self.truth(rule.condition, environment, rule.where)
        if z3.is_true(condition) or z3.is_false(condition):
            return self.arm(rule.arms[z3.is_false(condition)], dict(environment), rule.where)
        outside, arms = self.path, list[list[Value] | None]()
        for arm, taken in zip(rule.arms, (condition, z3.Not(condition)), strict=True):
            self.path = z3.And(outside, taken)
            try:
                arms.append(self.arm(arm, dict(environment), rule.where))
            except Never:
                self.require(z3.BoolVal(False))
                arms.append(None)
            finally:
                self.path = outside
        first, second = arms
        if first is None or second is None:
            if first is second:
                raise Never
            return first or second or []
        with Translating(self, f"the branch {rule.name}", rule.where):
            return [merged(condition, x, y) for x, y in zip(first, second, strict=True)]

    def arm(self, arm: Arm, environment: Environment, where: str) -> list[Value]:
        """The results of an arm."""
        self.run(arm.statements, environment)
        self.hold(arm.holds, environment, where)
        return [self.value(operand, environment, where) for operand in arm.gives]

    def loop(self, rule: Loop, given: Sequence[Value]) -> list[Value]:
        """The results of a loop, which is unrolled."""
        outer = Environment(zip(rule.inputs, given, strict=True))
        turns: Iterator[Any] = iter(range(MOST_OPEN))
        if rule.bounds is not None:
            turns = iter(self._range(rule, outer))
        outside = self.path
        exits: list[tuple[Any, list[Value]]] = []
        try:
            self._turns(rule, outer, turns, exits)
        except Never:
            self.require(z3.BoolVal(False))
        finally:
            self.path = outside
        if not exits:
            raise Never
        found = exits[-1][1]
        with Translating(self, f"the loop {rule.name}", rule.where):
            for leaves, gives in reversed(exits[:-1]):
                found = [merged(leaves, x, y) for x, y in zip(gives, found, strict=True)]
        return found

    def _turns(
        self,
        rule: Loop,
        outer: Environment,
        turns: Iterator[Any],
        exits: list[tuple[Any, list[Value]]],
    ) -> None:
        """Translate the iterations of a loop. exits: receives the condition and the results of each
        exit.
        """
        for turn in turns:
            environment = dict(outer)
            if rule.bounds is not None:
                environment[rule.bounds.index] = turn
            self.run(rule.before.statements, environment)
            self.hold(rule.before.holds, environment, rule.where)
            if rule.condition is not None:
                met = self.truth(rule.condition, environment, rule.where)
                leaves = z3.simplify(met if rule.leaves else z3.Not(met))
                if not z3.is_false(leaves):
                    exits.append((leaves, self._left(rule, environment, leaves)))
                if z3.is_true(leaves):
                    return
                self.path = z3.simplify(z3.And(self.path, z3.Not(leaves)))
                if z3.is_false(self.path):
                    return
            self.run(rule.after.statements, environment)
            self.hold(rule.after.holds, environment, rule.where)
            following = [self.value(o, environment, rule.where) for o in rule.following]
            outer.update(zip(rule.state, following, strict=True))
        if rule.bounds is None:
            raise TurnsNotKnown(
                f"cannot translate the loop {rule.name} for z3: it has more than {MOST_OPEN} "
                "iterations, or an unknown number of them",
                where=rule.where,
                help="declare domains that bound it, or loop over a range of known length",
            )
        environment = dict(outer)
        exits.append((z3.BoolVal(True), self._left(rule, environment, z3.BoolVal(True))))

    def _left(self, rule: Loop, environment: Environment, leaves: Any) -> list[Value]:
        outside, self.path = self.path, z3.And(self.path, leaves)
        self.hold(rule.ends, environment, rule.where)
        self.path = outside
        return [self.value(operand, environment, rule.where) for operand in rule.gives]

    def _range(self, rule: Loop, outer: Environment) -> list[Value]:
        """The values of the index of a loop that counts."""
        ends = [outer[limit] for limit in rule.limits]
        known = [end.known if isinstance(end, Term) else None for end in ends]
        counts = [one for one in known if one is not None]
        if len(counts) < len(known) or counts[2] == 0 or len(range(*counts)) > MOST_TURNS:
            raise TurnsNotKnown(
                f"cannot translate the loop {rule.name} for z3: the ends of its range are not "
                f"known, or it has more than {MOST_TURNS} iterations",
                where=rule.where,
                help="loop over a range of known length",
            )
        return [as_value(index) for index in range(*counts)]

    # ---- answers ----

    def answer(self, model: Any, variable: Variable) -> Any:
        """The value of an input in a model of z3."""
        return of_model(model, self.inputs[variable])

    def is_answer(self, variable: Variable, value: Any) -> Any:
        """The formula that an input has a value."""
        return equal(self.inputs[variable], as_value(value))

    def check_sizes(self) -> None:
        """Raise NotInvertible if an input has no known length."""
        for variable, value in self.inputs.items():
            with Translating(self, variable.name, self.program.where):
                if isinstance(value, Unsized) or (
                    isinstance(value, Translated)
                    and any(isinstance(x, Unsized) for x in value.items)
                ):
                    raise unsized(value)


class FormulaSearch:
    """The solutions of a formula, one after the other. unknown: the inputs to find."""

    def __init__(self, formula: Formula, unknown: Sequence[Variable]) -> None:
        self.formula = formula
        self.unknown = unknown
        goal = z3.Goal()
        goal.add(*formula.conditions)
        is_of_bits = z3.Probe("is-qfbv")(goal) == 1.0
        self.solver = z3.Then(*OF_BITS_ALONE).solver() if is_of_bits else z3.Solver()
        self.solver.add(*formula.conditions)

    def next(self, timeout: float) -> dict[str, Any] | str | None:
        """The unknown inputs of one more solution, by name; None if there is none; or the reason
        why z3 does not decide. timeout: in seconds.
        """
        self.solver.set("timeout", max(1, round(timeout * 1000)))
        verdict = self.solver.check()
        if verdict == z3.unsat:
            return None
        if verdict != z3.sat:
            return self.solver.reason_unknown()
        model = self.solver.model()
        found = {v.name: self.formula.answer(model, v) for v in self.unknown}
        same = [self.formula.is_answer(v, found[v.name]) for v in self.unknown]
        self.solver.add(z3.Not(z3.And(same)))
        return found


class Translating:
    """A context manager around the translation of a value: a refusal inside gets the operation and
    the line.
    """

    def __init__(self, formula: Formula, what: str, where: str) -> None:
        self.what = what
        self.where = where
        self.name = formula.program.name

    def __enter__(self) -> None:
        """Enter the context; nothing is prepared."""

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        if isinstance(error, Untranslated):
            raise NotInvertible(
                f"cannot translate {self.what} of {self.name} for z3: {error.reason}",
                where=self.where,
                help=error.remedy,
            ) from None


def has_bits(program: Program) -> bool:
    """Return whether a program has operations of bits, words, or remainders by powers of two."""
    return any(map(_has_bits, _all(program.statements)))


def _all(statements: Iterable[Statement]) -> Iterator[Statement]:
    for statement in statements:
        yield statement
        if isinstance(statement.relation, Structured):
            yield from _all(statement.relation.inside)


def _has_bits(statement: Statement) -> bool:
    if any(v.kind in (np.int64, np.uint64) for v in statement.variables):
        return True
    name, last = statement.relation.name, statement.arguments[-1:]
    if name in ("mod", "floordiv", "divmod") and isinstance(last[0], Constant):
        by = last[0].value
        return isinstance(by, int) and by > 2 and by & (by - 1) == 0
    return is_of_bits(statement.relation) and statement.results[0].kind is not bool
