"""Types of the results of C functions and operators, as far as they follow from the types of
the arguments."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any

from overlay.core.own_builtins import __builtins__

__all__ = ["of_function", "of_operator"]

_ARITHMETIC = {operator.add, operator.sub, operator.mul, operator.mod, operator.floordiv}
_SIGNS = {operator.neg, operator.pos, operator.abs, abs}
_BITS = {operator.and_, operator.or_, operator.xor, operator.lshift, operator.rshift}
_COMPARISONS = {operator.lt, operator.le, operator.eq, operator.ne, operator.gt, operator.ge}
_TESTS = {operator.contains, operator.not_, operator.is_, operator.is_not}
_PLAIN: set[Any] = {
    *(bool, int, float, complex, str, bytes, list, tuple, dict, set, frozenset, type(None))
}
_TOWER: list[Any] = [bool, int, float, complex]

_INT = "ceil comb factorial floor gcd isqrt lcm perm trunc"
_BOOL = "isclose isfinite isinf isnan isnormal issubnormal signbit"
_OTHER = "frexp modf prod fsum sumprod"


def _results() -> dict[int, Any]:
    """The result types of C functions, by the function's identity."""
    found: dict[Any, Any] = {len: int, id: int, hash: int, ord: int, repr: str, chr: str, hex: str}
    found |= {isinstance: bool, issubclass: bool, callable: bool, sorted: list, input: str}
    for name, function in vars(math).items():
        if callable(function) and not name.startswith("_"):
            found[function] = float
    for names, kind in ((_INT, int), (_BOOL, bool), (_OTHER, None)):
        found |= {getattr(math, n): kind for n in names.split() if hasattr(math, n)}
    found |= {math.frexp: tuple, math.modf: tuple, math.fsum: float}
    return {id(function): kind for function, kind in found.items()}


_RESULTS = _results()


def of_function(function: Any, types: Sequence[Any] | None) -> Any | None:
    """The type of a C function's result, or None if it does not follow from the arguments."""
    if any(function is sign for sign in _SIGNS):
        return of_operator(function, types) if types else None
    return _RESULTS.get(id(function))


def of_operator(function: Callable[..., Any], types: Sequence[Any]) -> Any | None:
    """The type of an operator's result for operands of these exact types, or None."""
    if function in _TESTS:
        return bool
    if not all(any(kind is plain for plain in _PLAIN) for kind in types):
        return None
    if function in _COMPARISONS:
        return bool
    numbers = [_TOWER.index(kind) for kind in types if kind in _TOWER]
    if len(numbers) < len(types):
        return _of_containers(function, types)
    widest = _TOWER[max(1, *numbers)]
    if function in _ARITHMETIC or function in _SIGNS:
        return float if widest is complex and function in (abs, operator.abs) else widest
    if function is operator.truediv:
        return complex if widest is complex else float
    if function is operator.pow:
        return _of_power(types)
    if function in _BITS and widest is int:
        shifts = function in (operator.lshift, operator.rshift)
        return bool if set(types) == {bool} and not shifts else int
    return None


def _of_power(types: Sequence[Any]) -> Any | None:
    base, exponent = types[:2]
    if complex in (base, exponent):
        return complex
    # a negative float to a fractional power is complex, an int to a negative one a float
    return float if base is float and exponent in (int, bool) else None


def _of_containers(function: Callable[..., Any], types: Sequence[Any]) -> Any | None:
    first, second = types[0], types[-1]
    joins = first is second and first in (str, bytes, list, tuple)
    if function is operator.add and joins:
        return first
    if function is operator.mod and first in (str, bytes):
        return first
    if function is operator.mul and second in (int, bool) and first in (str, bytes, list, tuple):
        return first
    if function is operator.getitem and first is str:
        return first
    return None
