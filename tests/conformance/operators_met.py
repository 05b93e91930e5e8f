"""Contexts with a table of all operators, for types that never occur: each instruction that applies
an operator is intercepted, and behaves as without the table.
"""

import inspect
import operator

from overlay import Context, MethodTable
from overlay.code.operators import BINARY, COMPARE, UNARY

__all__ = ["context"]


class Never:
    """A class without objects."""


def one(x: Never):
    raise AssertionError("it is no operand of a program")


def two(x: Never, y: Never):
    raise AssertionError("they are no operands of a program")


def three(x: Never, key: Never, value: Never):
    raise AssertionError("they are no operands of a program")


FUNCTIONS = (
    *(*BINARY, *COMPARE.values(), *UNARY.values(), operator.not_, operator.is_, operator.is_not),
    *(operator.contains, operator.getitem, operator.setitem, operator.delitem),
    *(any, all, list, set, tuple, str, type),
)
METHODS = {1: one, 2: two, 3: three}

OPERATORS = MethodTable("operators for types that never come")
for function in FUNCTIONS:
    ours = isinstance(function, type) or function in (any, all)
    OPERATORS.overlay(function)(METHODS[1 if ours else len(inspect.signature(function).parameters)])


def context(*tables: MethodTable) -> Context:
    """A context with these tables and that of the operators."""
    return Context(*tables, OPERATORS)
