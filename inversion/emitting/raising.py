"""Methods that make functions raise in compiled code where they raise in Python.

In compiled code ``math.sqrt(-1.0)`` is NaN. Usually the NaN propagates to the result, which is then
refused. It does not if the value is only compared, or not used.
"""

from __future__ import annotations

import dis
import math
import operator
from collections.abc import Callable
from types import FunctionType
from typing import Any

from inversion.program.statements import Program
from overlay import Context, MethodTable, call_next
from overlay.catalogue import FUNCTIONS, MathFunction
from primitives import Relation

__all__ = ["as_in_python", "as_in_python_on_device", "may_hide_errors"]

raising = MethodTable("raising")
"""The functions of ``math``, and powers, that return NaN or an infinity in compiled code."""


def method_of(f: MathFunction) -> Callable[[float], float]:
    """The method that raises where the function of ``math`` raises. It makes only the necessary
    tests, because each takes time to compile.
    """
    first, last = f.ends

    def inside(a: float) -> float:
        if a < first or a > last:
            raise ValueError("math domain error")
        return call_next(a)

    def finite(a: float) -> float:
        found = call_next(a)
        if abs(found) == math.inf and abs(a) < math.inf:
            raise OverflowError("math range error")
        return found

    def inside_and_finite(a: float) -> float:
        if a < first or a > last:
            raise ValueError("math domain error")
        found = call_next(a)
        if abs(found) == math.inf and abs(a) < math.inf:
            raise OverflowError("math range error")
        return found

    if not f.overflows:
        return inside
    return finite if f.ends == (-math.inf, math.inf) else inside_and_finite


@raising.overlay(operator.pow)
def power(a: float, b: float) -> float:
    if (a == 0.0 and -math.inf < b < 0.0) or (
        -math.inf < a < 0.0 and abs(b) < math.inf and b % 1.0 != 0.0
    ):
        raise ValueError("math domain error")  # or a complex number, which is not a float
    found = call_next(a, b)
    if abs(found) == math.inf and abs(a) < math.inf and abs(b) < math.inf:
        raise OverflowError("math range error")
    return found


@raising.overlay(operator.pow)
def power_of_int(a: float, b: int) -> float:
    if a == 0.0 and b < 0:
        raise ZeroDivisionError("zero to a negative power")
    found = call_next(a, b)
    if abs(found) == math.inf and abs(a) < math.inf:
        raise OverflowError("math range error")
    return found


for _row in FUNCTIONS:
    if _row.overflows or _row.ends != (-math.inf, math.inf):
        raising.overlay(_row.function)(method_of(_row))


dividing = MethodTable("dividing")
"""Divisions, which return infinities and zeros on a GPU if the divisor is 0."""


def quotient(a: Any, b: Any) -> Any:
    if b == 0:
        raise ZeroDivisionError("division by zero")
    return call_next(a, b)


for _division in (operator.truediv, operator.floordiv, operator.mod, divmod):
    dividing.overlay(_division)(quotient)


def as_in_python_on_device(context: Context | None) -> Context:
    """A context in which these functions and divisions raise on a GPU as in Python."""
    return Context(dividing) | as_in_python(context)


def as_in_python(context: Context | None) -> Context:
    """A context in which these functions raise as in Python."""
    return Context(raising) if context is None else Context(raising) | context


def may_hide_errors(program: Program, read: Program) -> bool:
    """Return whether compiled code may give a result where the program raises in Python, because
    values are compared or not used.

    read: the lifted program.
    """
    used = len(program.statements) == len(read.statements)
    plain = all(isinstance(statement.relation, Relation) for statement in program.statements)
    return not (used and plain) and any(map(_calls_these, program.functions))


def _calls_these(function: FunctionType) -> bool:
    """Return whether the code of a function mentions one of the functions that raise."""
    targets = [target for target in raising.targets() if target is not operator.pow]
    names = {name for target in targets for name in (target.__name__, "pow")}
    code = function.__code__
    held = [function.__globals__.get(name) for name in code.co_names]
    held += [cell.cell_contents for cell in function.__closure__ or ()]
    return (
        not names.isdisjoint(code.co_names)
        or any(value is target for value in held for target in targets)
        or any(i.argrepr in ("**", "**=") for i in dis.get_instructions(code))
    )
