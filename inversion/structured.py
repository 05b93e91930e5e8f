"""Statements with statements inside, such as a branch or a loop: rules that are planned."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Any

from inversion.program import Statement, Variable
from primitives import Domain
from primitives.relation import Mode

__all__ = ["Structured", "generated"]


class Structured(ABC):
    """Control flow as an equation between what it reads, its inputs, and what it gives.

    It stands in a statement where other statements have a relation: its modes are plans for what
    stands inside, made when they are first asked for.
    """

    name: str
    results: tuple[Variable, ...]
    _modes: dict[frozenset[str], Mode | None]
    whole = False

    @property
    @abstractmethod
    def inputs(self) -> tuple[Variable, ...]:
        """The variables from outside."""

    @abstractmethod
    def _planned(self, unknown: frozenset[str]) -> Mode | None:
        """The mode for these axes, where what stands inside can be solved for them."""

    @property
    def weak(self) -> bool:
        """Whether its results say little of its inputs."""
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
            self._modes[key] = self._planned(key)
        return self._modes[key]

    def shown(self, names: Mapping[str, str]) -> str:
        """As ``total = for_3(0, n)``, of what it reads."""
        gives = ", ".join(names.get(axis, axis) for axis in self.outputs)
        reads = ", ".join(names.get(axis, axis) for axis in self.axes)
        return f"{gives} = {self.name}({reads})"

    def shown_modes(self) -> str:
        """What was asked for so far, and can be solved."""
        found = (sorted(key) for key, mode in self._modes.items() if mode is not None)
        return ", ".join("{" + ", ".join(names) + "}" for names in found) or "none of those asked"


def generated(*args: Any) -> Any:
    """In place of a mode's function: what solves such a statement is written out."""
    raise AssertionError("what solves this statement is generated")
