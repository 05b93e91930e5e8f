"""Statements with statements inside, such as a branch or a loop: rules that are planned."""

from __future__ import annotations

import functools
import operator
from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from inversion.errors import NotInvertible
from inversion.program.statements import Operand, Statement, Variable
from primitives import Domain, Relation
from primitives.relation import Mode

__all__ = ["Narrowed", "Structured", "Whole", "generated", "is_linear", "needed", "planned"]


@dataclass(frozen=True)
class Narrowed:
    """What a statement comes down to. instead: for some of its results, what stands for them."""

    statements: tuple[Statement, ...]
    holds: tuple[tuple[Operand, bool], ...]
    instead: Mapping[Operand, Operand]


class Structured(ABC):
    """Control flow as an equation between what it reads, its inputs, and what it gives.

    It stands in a statement where other statements have a relation: its modes are plans for what
    stands inside, made when they are first asked for.
    """

    name: str
    results: tuple[Variable, ...]
    _modes: dict[frozenset[str], Mode | None]
    whole = False
    _reasons: list[str]

    @functools.cached_property
    def inputs(self) -> tuple[Variable, ...]:
        """The variables from outside."""
        return self._inputs()

    @abstractmethod
    def _inputs(self) -> tuple[Variable, ...]:
        """The variables from outside, each once."""

    @property
    @abstractmethod
    def inside(self) -> Iterable[Statement]:
        """The statements that stand inside."""

    def where_gives(self, statement: Statement, result: Variable, is_true: bool) -> Narrowed | None:
        """What its statement comes down to where one result is known; None where that says
        nothing of it."""
        return None

    @abstractmethod
    def giving(self, statement: Statement, wanted: Sequence[Variable]) -> Statement:
        """A statement that gives these of its results only."""

    @property
    def low_information(self) -> bool:
        """Whether its results say little of its inputs."""
        return False

    def is_linear(self, arguments: Sequence[Operand], varying: Collection[Operand]) -> bool:
        """Whether its results are linear in those of its arguments that vary."""
        return False

    @property
    def identity(self) -> Hashable:
        """The same for parts that say the same."""
        return id(self)

    def around(
        self, before: Sequence[Statement], after: Sequence[Statement], gives: Sequence[Variable]
    ) -> Statement | None:
        """It takes no other statements in."""
        return None

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of what it reads."""
        return tuple(v.name for v in self.inputs)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of what it gives."""
        return tuple(v.name for v in self.results)

    @property
    def domain(self) -> Mapping[str, Domain]:
        """Nothing is known of where its inputs lie."""
        return {}

    @property
    def codomain(self) -> Domain | None:
        """Nothing is known of where its results lie."""
        return None

    def mode(self, unknown: Iterable[str]) -> Mode | None:
        """The mode that solves for exactly these axes, where there is one."""
        key = frozenset(unknown)
        if key not in self._modes:
            self._modes[key] = planned(self, key)
        return self._modes[key]

    def divided(self, unknown: frozenset[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """All its axes, results first: those that are known, and those that are not."""
        axes = (*self.outputs, *self.axes)
        known = tuple(axis for axis in axes if axis not in unknown)
        return known, tuple(axis for axis in axes if axis in unknown)

    def shown(self, names: Mapping[str, str]) -> str:
        """As ``total = for_3(0, n)``, of what it reads."""
        gives = ", ".join(names.get(axis, axis) for axis in self.outputs)
        reads = ", ".join(names.get(axis, axis) for axis in self.axes)
        return f"{gives} = {self.name}({reads})"

    def shown_modes(self) -> str:
        """What was asked for so far, and can be solved."""
        found = (sorted(key) for key, mode in self._modes.items() if mode is not None)
        modes = ", ".join("{" + ", ".join(names) + "}" for names in found) or "none of those asked"
        return modes + "".join(f"; {why}" for why in dict.fromkeys(self._reasons))

    def not_planned(self, why: NotInvertible | str) -> None:
        """Keep the reason why there is no mode."""
        if isinstance(why, NotInvertible):
            why = why.asked if why.where is None else f"{why.asked} [{why.where}]"
        self._reasons.append(why)


class Whole(Structured):
    """A statement about arrays as wholes, which reads variables that it names itself."""

    read: tuple[Variable, ...]
    whole = True

    def _inputs(self) -> tuple[Variable, ...]:
        """What it reads."""
        return self.read


@functools.singledispatch
def planned(rule: Structured, unknown: frozenset[str]) -> Mode | None:
    """The mode of a rule for these axes, where what stands inside can be solved for them.

    ``inversion.planning`` registers how each kind is solved.
    """
    raise TypeError(f"nothing is registered that plans a {type(rule).__name__}")


def generated(*args: Any) -> Any:
    """In place of a mode's function: what solves such a statement is written out."""
    raise AssertionError("what solves this statement is generated")


def needed(statements: Iterable[Statement], wanted: set[Operand]) -> tuple[Statement, ...]:
    """The statements that some operands need; what these need besides is added to them."""
    kept: list[Statement] = []
    for statement in reversed(tuple(statements)):
        if not wanted.isdisjoint(statement.results):
            wanted.update(statement.arguments)
            kept.append(statement)
    return tuple(reversed(kept))


JOINTLY = (operator.add, operator.sub, operator.neg, np.sum, np.mean, np.cumsum, np.diff)
"""Functions that are linear in all arguments at once."""
ONE_AT_A_TIME = (operator.mul, operator.matmul, np.matmul, np.dot)
"""Functions that are linear in one argument where the others are known."""


def is_linear(statement: Statement, varying: Collection[Operand]) -> bool:
    """Whether results are linear in those of these variables that a statement reads."""
    rule = statement.relation
    if isinstance(rule, Structured):
        return rule.is_linear(statement.arguments, varying)
    if not isinstance(rule, Relation):
        return False
    varies = [argument in varying for argument in statement.arguments]
    if not any(varies):
        return True
    if rule.target is operator.truediv:
        return not varies[1]
    if rule.target in JOINTLY:
        return True
    return rule.target in ONE_AT_A_TIME and sum(varies) == 1
