"""Structured statements, such as branches and loops: rules with statements inside, which have their
own plans.
"""

from __future__ import annotations

import functools
import operator
from abc import ABC, abstractmethod
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from inversion.errors import NotInvertible
from inversion.program.late_parts import plans
from inversion.program.statements import Operand, Statement, Variable
from overlay.core.short_repr import a_or_an
from primitives import Domain, Relation
from primitives.relation import Mode

__all__ = ["Narrowed", "Structured", "Whole", "generated", "is_linear", "needed", "planned"]


@dataclass(frozen=True)
class Narrowed:
    """The reduced form of a statement. instead: the operands that replace some of its results."""

    statements: tuple[Statement, ...]
    holds: tuple[tuple[Operand, bool], ...]
    instead: Mapping[Operand, Operand]


class Structured(ABC):
    """Control flow as an equation between its inputs and its results.

    It replaces a relation in a statement: its modes are plans of the statements inside, computed on
    first use.
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
        """The variables from outside, without duplicates."""

    @property
    @abstractmethod
    def inside(self) -> Iterable[Statement]:
        """The statements inside."""

    def where_gives(self, statement: Statement, result: Variable, is_true: bool) -> Narrowed | None:
        """The reduced form of its statement if one result is known; None if that simplifies
        nothing.
        """
        return None

    @abstractmethod
    def giving(self, statement: Statement, wanted: Sequence[Variable]) -> Statement:
        """A statement with only these of its results."""

    @property
    def low_information(self) -> bool:
        """Whether the results give little information on the inputs."""
        return False

    def is_linear(self, arguments: Sequence[Operand], varying: Collection[Operand]) -> bool:
        """Return whether its results are linear in the arguments that are not constant."""
        return False

    @property
    def identity(self) -> Hashable:
        """A key that is equal for equivalent parts."""
        return id(self)

    def around(
        self, before: Sequence[Statement], after: Sequence[Statement], gives: Sequence[Variable]
    ) -> Statement | None:
        """Return None: it absorbs no other statements."""
        return None

    @property
    def axes(self) -> tuple[str, ...]:
        """The names of the inputs."""
        return tuple(v.name for v in self.inputs)

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of the results."""
        return tuple(v.name for v in self.results)

    @property
    def domain(self) -> Mapping[str, Domain]:
        """The domains of the inputs: none are known."""
        return {}

    @property
    def codomain(self) -> Domain | None:
        """The domain of the results: none is known."""
        return None

    def mode(self, unknown: Iterable[str]) -> Mode | None:
        """The mode that solves for exactly these axes, or None."""
        key = frozenset(unknown)
        if key not in self._modes:
            self._modes[key] = planned(self, key)
        return self._modes[key]

    def divided(self, unknown: frozenset[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The known axes, and the unknown ones; results first."""
        axes = (*self.outputs, *self.axes)
        known = tuple(axis for axis in axes if axis not in unknown)
        return known, tuple(axis for axis in axes if axis in unknown)

    def shown(self, names: Mapping[str, str]) -> str:
        """The equation as text, such as ``total = for_3(0, n)``."""
        gives = ", ".join(names.get(axis, axis) for axis in self.outputs)
        reads = ", ".join(names.get(axis, axis) for axis in self.axes)
        return f"{gives} = {self.name}({reads})"

    def shown_modes(self) -> str:
        """The sets of axes, among those requested so far, for which it can be solved."""
        found = (sorted(key) for key, mode in self._modes.items() if mode is not None)
        modes = ", ".join("{" + ", ".join(names) + "}" for names in found) or "none of those asked"
        return modes + "".join(f"; {why}" for why in dict.fromkeys(self._reasons))

    def not_planned(self, why: NotInvertible | str) -> None:
        """Record the reason why there is no mode."""
        if isinstance(why, NotInvertible):
            why = why.asked if why.where is None else f"{why.asked} [{why.where}]"
        self._reasons.append(why)


class Whole(Structured):
    """A statement about whole arrays, which names the variables that it reads."""

    read: tuple[Variable, ...]
    whole = True

    def _inputs(self) -> tuple[Variable, ...]:
        """The inputs."""
        return self.read


@functools.singledispatch
def planned(rule: Structured, unknown: frozenset[str]) -> Mode | None:
    """The mode of a rule for these axes, if the statements inside can be solved for them.

    ``inversion.planning`` registers an implementation for each kind, when the first is asked for.
    """
    plans.load()
    found = planned.dispatch(type(rule))
    if found is planned.dispatch(object):
        raise TypeError(f"nothing is registered that plans {a_or_an(type(rule).__name__)}")
    return found(rule, unknown)


def generated(*args: Any) -> Any:
    """A placeholder for the solver of a mode: the solver of such a statement is generated."""
    raise AssertionError("what solves this statement is generated")


def needed(statements: Iterable[Statement], wanted: set[Operand]) -> tuple[Statement, ...]:
    """The statements on which some operands depend; their arguments are added to ``wanted``."""
    kept: list[Statement] = []
    for statement in reversed(tuple(statements)):
        if not wanted.isdisjoint(statement.results):
            wanted.update(statement.arguments)
            kept.append(statement)
    return tuple(reversed(kept))


JOINTLY = (
    operator.add, operator.sub, operator.neg, np.sum, np.mean, np.cumsum, np.diff,
    complex, np.conjugate, np.real, np.imag,
)  # fmt: skip
"""Functions that are linear in all arguments at once, as real numbers."""
ONE_AT_A_TIME = (operator.mul, operator.matmul, np.matmul, np.dot)
"""Functions that are linear in one argument if the others are constant."""


def is_linear(statement: Statement, varying: Collection[Operand]) -> bool:
    """Return whether the results of a statement are linear in the variables that are
    not constant.
    """
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
