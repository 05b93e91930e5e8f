"""Programs: straight-line lists of relations between variables. Data only."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from primitives.relation import RETURN, Relation

__all__ = ["Constant", "Operand", "Program", "Statement", "Variable", "renumbered"]


@dataclass(frozen=True)
class Variable:
    """A value that a program computes or is given; told apart by its name."""

    name: str
    kind: Any

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Constant:
    """A number that stands in the program."""

    value: Any

    @property
    def kind(self) -> Any:
        """Its type."""
        return type(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Constant) and self._key == other._key

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[Any, ...]:
        return type(self.value), repr(self.value)

    def __str__(self) -> str:
        return repr(self.value) if isinstance(self.value, (bool, int, float)) else str(self.value)


Operand = Variable | Constant


@dataclass(frozen=True)
class Statement:
    """``result = f(arguments)``, as the relation of f. where: ``file:line`` in the source."""

    relation: Relation
    result: Variable
    arguments: tuple[Operand, ...]
    where: str

    def bindings(self) -> Iterable[tuple[str, Operand]]:
        """Each axis with what it stands for; the result first."""
        yield RETURN, self.result
        yield from zip(self.relation.axes, self.arguments, strict=True)

    def axes_of(self, variable: Variable) -> tuple[str, ...]:
        """The axes on which a variable stands."""
        return tuple(axis for axis, operand in self.bindings() if operand == variable)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """Its variables, each once."""
        operands = (operand for _, operand in self.bindings())
        return tuple(dict.fromkeys(v for v in operands if isinstance(v, Variable)))

    def __str__(self) -> str:
        return self.relation.shown({axis: str(operand) for axis, operand in self.bindings()})


@dataclass(frozen=True)
class Program:
    """A function as a list of relations.

    name, where: of the function. inputs: in the order of its parameters. result: what it
    returns, a Constant where the inputs do not matter. functions: the Python code it was read
    from.
    """

    name: str
    inputs: tuple[Variable, ...]
    statements: tuple[Statement, ...]
    result: Operand
    where: str
    functions: tuple[types.FunctionType, ...] = ()

    @property
    def variables(self) -> tuple[Variable, ...]:
        """All its variables: the inputs, then the results."""
        return (*self.inputs, *(statement.result for statement in self.statements))

    def replace(self, **changes: Any) -> Program:
        """A changed copy."""
        return replace(self, **changes)

    def rewritten(self, change: Callable[[Statement], Statement | Operand]) -> Program:
        """Each statement changed, or replaced by an operand wherever its result stands."""
        known: dict[Operand, Operand] = {}
        kept: list[Statement] = []
        for statement in self.statements:
            arguments = tuple(known.get(operand, operand) for operand in statement.arguments)
            new = change(replace(statement, arguments=arguments))
            if isinstance(new, Statement):
                kept.append(new)
            else:
                known[statement.result] = new
        return self.replace(statements=tuple(kept), result=known.get(self.result, self.result))

    def __str__(self) -> str:
        width = max((len(str(s)) for s in self.statements), default=0)
        inputs = ", ".join(map(str, self.inputs))
        lines = [f"{self.name}({inputs})   {self.where}"]
        lines += [f"  {statement!s:<{width}}   {statement.where}" for statement in self.statements]
        return "\n".join([*lines, f"  return {self.result}"])


def renumbered(wanted: str, taken: Mapping[str, Any] | Iterable[str]) -> str:
    """``wanted``, with a number where it is taken."""
    names = set(taken)
    if wanted not in names:
        return wanted
    count = 2
    while f"{wanted}_{count}" in names:
        count += 1
    return f"{wanted}_{count}"
