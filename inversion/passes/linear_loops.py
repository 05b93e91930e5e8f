"""Loops of shared arrays that are linear, found in programs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from inversion.arrays.elementwise_statements import Elementwise
from inversion.arrays.linear_systems import System, system
from inversion.planning.causality import causalise, given_variables
from inversion.planning.loop_blocks import split
from inversion.program.statements import Program, Statement, Variable
from primitives.arrays.domain import is_array

__all__ = ["with_systems"]


def with_systems(program: Program, known: Sequence[str]) -> Program:
    """The program with each loop of shared arrays that is linear as one system of equations."""
    if not any(is_array(v.kind) for v in program.variables):
        return program  # loops of numbers are taken apart first
    order = causalise(program, given_variables(program, known))
    for core in _loops(order.core, set(order.open)):
        before, inside, after = split(program, core)
        made = system(inside, order.open) if len(inside) == len(core) else None
        if made is not None:
            return with_systems(program.replace(statements=(*before, made, *after)), known)
    return program


def _loops(core: Sequence[Statement], unknown: set[Variable]) -> Iterator[list[Statement]]:
    """The statements of a core in parts that share no unknown; those about elements alone need no
    system."""
    left = list(core)
    while left:
        part, reached = [left.pop(0)], set[Variable]()
        for statement in part:
            reached |= unknown.intersection(statement.variables)
            more = [s for s in left if not reached.isdisjoint(s.variables)]
            left = [s for s in left if s not in more]
            part += more
        if not all(isinstance(s.relation, (Elementwise, System)) for s in part):
            yield [s for s in core if s in part]
