"""Moved elements: slices, reshaping and concatenation, as one kind of statement.

A statement is a table of indices: each element of its results is an element of its inputs. It can
be solved for any of its arrays, because an element is read at any position where it is known.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from inversion.program.statements import Operand, Statement, Variable
from inversion.program.structured import Whole
from primitives.arrays.domain import shape_of
from primitives.relation import Mode

__all__ = ["Moved", "moved", "places_of"]

Index = NDArray[np.int64]


def size_of(variable: Variable) -> int:
    """The number of elements of an array; 1 for a number."""
    return math.prod(shape_of(variable.kind))


def offsets(variables: Sequence[Variable]) -> Mapping[str, int]:
    """The offset of each variable's elements in the concatenation of all."""
    found: dict[str, int] = {}
    start = 0
    for variable in variables:
        found[variable.name] = start
        start += size_of(variable)
    return found


@dataclass(frozen=True, eq=False)
class Moved(Whole):
    """Elements of inputs, moved to other positions.

    read: the inputs. places: for each result, the indices of its elements in the concatenated
    inputs.
    """

    name: str
    read: tuple[Variable, ...]
    results: tuple[Variable, ...]
    places: Mapping[str, Index]
    where: str
    _modes: dict[frozenset[str], Mode | None] = field(default_factory=dict)
    _reasons: list[str] = field(default_factory=list[str])

    @property
    def inside(self) -> tuple[Statement, ...]:
        """No statements: the equation is the table."""
        return ()

    @property
    def low_information(self) -> bool:
        """Whether some elements of the inputs are unused."""
        seen = np.zeros(sum(map(size_of, self.inputs)), dtype=np.bool_)
        for places in self.places.values():
            seen[places] = True
        return not seen.all()

    @property
    def identity(self) -> Hashable:
        """A key that is equal for statements that move elements in the same way."""
        kinds = tuple(v.kind for v in self.results)
        return Moved, kinds, tuple(places.tobytes() for places in self.places.values())

    def rows(self) -> list[str]:
        """No lines: the equation shows everything."""
        return []

    def is_linear(self, arguments: Sequence[Operand], varying: Collection[Operand]) -> bool:
        return True

    def giving(self, statement: Statement, wanted: Sequence[Variable]) -> Statement:
        inner = dict(zip(statement.results, self.results, strict=True))
        places = {v: self.places[inner[v].name] for v in wanted}
        return moved(self.name, self.read, statement.arguments, places, statement.where)


def moved(
    name: str,
    inputs: Sequence[Variable],
    operands: Sequence[Operand],
    places: Mapping[Variable, Index],
    where: str,
) -> Statement:
    """The statement of ``places``: its keys, the results, are elements of the inputs."""
    by_name = {v.name: index for v, index in places.items()}
    rule = Moved(name, tuple(inputs), tuple(places), by_name, where)
    return Statement(rule, tuple(places), tuple(operands), where)


def places_of(parts: Sequence[Statement], results: Sequence[Variable]) -> Statement:
    """The composition of several such statements, in order, as one that computes these
    variables.
    """
    made = {v for part in parts for v in part.results}
    inputs: dict[Operand, Variable] = {}
    for part in parts:
        assert isinstance(part.relation, Moved)
        for inner, operand in zip(part.relation.read, part.arguments, strict=True):
            if operand not in made:
                inputs[operand] = operand if isinstance(operand, Variable) else inner
    start = offsets(list(inputs.values()))
    known: dict[Operand, Index] = {
        operand: start[v.name] + np.arange(size_of(v)) for operand, v in inputs.items()
    }
    for part in parts:
        assert isinstance(part.relation, Moved)
        pool = np.concatenate([known[operand] for operand in part.arguments])
        known.update({v: pool[part.relation.places[v.name]] for v in part.results})
    return moved(
        parts[0].relation.name,
        list(inputs.values()),
        list(inputs),
        {v: known[v] for v in results},
        parts[-1].where,
    )
