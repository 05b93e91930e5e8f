"""Statements about one integer that are better understood together.

``n ^ (n >> k)`` mixes the bits of n with themselves: one relation, a xorshift step.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from inversion.lifting.resolve import Resolver
from inversion.program.statements import Constant, Operand, Program, Statement, Variable
from primitives import Relation
from primitives.integers.bits import xorshift_left, xorshift_right

__all__ = ["fuse"]

KINDS = (int, np.int64, np.uint64)
SHIFTS: Mapping[Callable[..., Any], Callable[..., Any]] = {
    operator.rshift: xorshift_right,
    operator.lshift: xorshift_left,
}


def fuse(program: Program) -> Program:
    """Xorshift steps that are written out become one statement each."""
    definitions = {v: s for s in program.statements for v in s.results}
    return program.replace(
        statements=tuple(_mixed(statement, definitions) for statement in program.statements)
    )


def _mixed(statement: Statement, definitions: Mapping[Variable, Statement]) -> Statement:
    """A xorshift step in the place of ``n ^ (n >> k)``, where it is one."""
    if not _is(statement, operator.xor):
        return statement
    for n, other in (statement.arguments, statement.arguments[::-1]):
        shifted = definitions.get(other) if isinstance(other, Variable) else None
        for shift, mixing in SHIFTS.items():
            if shifted is None or not _is(shifted, shift) or shifted.arguments[0] != n:
                continue
            k, step = shifted.arguments[1], _relation(mixing, n.kind)
            if step is not None and _allows(step, k):
                return replace(statement, relation=step, arguments=(n, k))
    return statement


def _is(statement: Statement, target: Callable[..., Any]) -> bool:
    """Whether a statement is the base table's relation of a function, for integers."""
    rule = statement.relation
    if not isinstance(rule, Relation) or rule.target is not target or rule.types[0] not in KINDS:
        return False
    return rule is _relation(target, rule.types[0])


def _relation(target: Callable[..., Any], kind: Any) -> Relation | None:
    return Resolver(None).relation(target, (kind, kind), base=True)


def _allows(step: Relation, k: Operand) -> bool:
    return isinstance(k, Constant) and step.domain[step.axes[1]].contains(k.value)
