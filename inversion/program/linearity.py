"""Which statements give what is linear in what they read."""

from __future__ import annotations

import operator
from collections.abc import Collection

import numpy as np

from inversion.program.statements import Operand, Statement
from inversion.program.structured import Structured
from primitives import Relation

__all__ = ["is_linear"]

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
