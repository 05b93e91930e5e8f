"""The methods for intervals: one for each rule and combination of argument types, and
comparisons."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from overlay import MethodTable, nonoverlay, sets
from overlay.catalogue import everywhere
from overlay.core.target import describe
from overlay.interpretations.intervals.errors import Undecided
from overlay.interpretations.intervals.interval_numbers import Interval
from overlay.interpretations.intervals.interval_rules import RULES, IntervalRule
from overlay.sets import Bounds, of_integer

__all__ = ["choose", "declare", "fill", "outside", "some_integer"]


# ---- undecided questions ------------------------------------------------------------------


def choose(question: str, x: Bounds, y: Bounds) -> bool:
    """Decide a comparison that holds for some of these numbers only.

    A target: interpretations that explore paths return the answer of the current one.
    """
    raise Undecided("a comparison holds for some numbers of an interval, and not for others")


def outside(nowhere: bool, function: str, raises: Any, x: Bounds, y: Bounds) -> bool:
    """Handle a call with intervals on which a function is undefined, for some numbers, or
    ``nowhere`` defined. y: the bounds of the second argument, or x again.

    A target: interpretations that return from it exclude the numbers for which it is undefined.
    """
    if nowhere:
        raise ValueError("math domain error")
    raise Undecided("a function has no value for some numbers of an interval")


def some_integer(a: Bounds) -> int:
    """Choose one of the integers between these bounds, to which the numbers of an interval are
    truncated.

    A target: interpretations that explore paths return that of the current one.
    """
    raise Undecided("int() gives different integers for the numbers of an interval")


# ---- arguments ----------------------------------------------------------------------------


def _own(x: Any) -> Bounds:
    return x.low, x.high


def _of_float(x: float) -> Bounds:
    return x, x


KINDS = ((Interval, _own), (float, _of_float), (int, of_integer))
"""The types of arguments, each with the function that reads its bounds."""


def declare(
    table: MethodTable,
    target: Any,
    method: Callable[..., Any],
    types: Sequence[Any],
    *,
    precedence: int = 0,
) -> None:
    """Add a method for arguments of these types."""
    code = method.__code__
    method.__annotations__ = dict(zip(code.co_varnames[: code.co_argcount], types, strict=True))
    table.overlay(target, precedence=precedence)(method)


def _signatures(arity: int) -> Iterator[tuple[Any, ...]]:
    """The combinations of argument types with at least one interval."""
    for kinds in itertools.product(KINDS, repeat=arity):
        if any(kind is Interval for kind, _ in kinds):
            yield kinds


# ---- rules --------------------------------------------------------------------------------


def _declare_rule(table: MethodTable, rule: IntervalRule, function: Callable[..., Any]) -> None:
    """Declare the methods of a function that has a rule."""
    for kinds in _signatures(rule.arity):
        make = _unary if rule.arity == 1 else _binary
        method = make(rule, function, *(read for _, read in kinds))
        declare(table, function, method, [kind for kind, _ in kinds])


def _unary(rule: IntervalRule, function: Any, read: Any) -> Callable[..., Any]:
    enclosure, defined, raises = rule.enclosure, rule.defined, rule.raises
    name = describe(function)

    def method(x: Any) -> Any:
        a = nonoverlay(read)(x)
        found = nonoverlay(enclosure)(a)
        return Interval(found[0], found[1])

    def checked(x: Any) -> Any:
        a = nonoverlay(read)(x)
        status = nonoverlay(defined)(a)
        if status < 1:
            outside(status < 0, name, raises, a, a)
        found = nonoverlay(enclosure)(a)
        return Interval(found[0], found[1])

    return method if defined is everywhere else checked


def _binary(rule: IntervalRule, function: Any, read: Any, read_other: Any) -> Any:
    enclosure, defined, raises = rule.enclosure, rule.defined, rule.raises
    name = describe(function)

    def method(x: Any, y: Any) -> Any:
        found = nonoverlay(enclosure)(nonoverlay(read)(x), nonoverlay(read_other)(y))
        return Interval(found[0], found[1])

    def checked(x: Any, y: Any) -> Any:
        a, b = nonoverlay(read)(x), nonoverlay(read_other)(y)
        status = nonoverlay(defined)(a, b)
        if status < 1:
            outside(status < 0, name, raises, a, b)
        found = nonoverlay(enclosure)(a, b)
        return Interval(found[0], found[1])

    return method if defined is everywhere else checked


def _integer_power(x: Any, n: int) -> Any:
    a = (x.low, x.high)
    if n < 0 and a[0] <= 0 <= a[1]:
        outside(a[0] == a[1], "operator.pow", Undecided, a, (float(n), float(n)))
    found = nonoverlay(sets.integer_power)(a, n)
    return Interval(found[0], found[1])


def _logarithm(read: Any, read_other: Any) -> Callable[..., Any]:
    """The logarithm to a base."""

    def method(x: Any, base: Any) -> Any:
        a, b = nonoverlay(read)(x), nonoverlay(read_other)(base)
        return math.log(Interval(a[0], a[1])) / math.log(Interval(b[0], b[1]))

    return method


# ---- comparisons and conversions ----------------------------------------------------------


def _less(a: Bounds, b: Bounds) -> int:
    """1 if all of a is below all of b, -1 if no number of a is below one of b, else 0."""
    return 1 if a[1] < b[0] else -1 if a[0] >= b[1] else 0


def _equal(a: Bounds, b: Bounds) -> int:
    if a[0] == a[1] == b[0] == b[1]:
        return 1
    return -1 if a[1] < b[0] or b[1] < a[0] else 0


# the operator's text, its decision, whether the operands are swapped, whether the answer is negated
COMPARISONS = (
    (operator.lt, "<", _less, False, False),
    (operator.gt, ">", _less, True, False),
    (operator.ge, ">=", _less, False, True),
    (operator.le, "<=", _less, True, True),
    (operator.eq, "==", _equal, False, False),
    (operator.ne, "!=", _equal, False, True),
)
UFUNCS = {
    operator.lt: np.less, operator.gt: np.greater, operator.ge: np.greater_equal,
    operator.le: np.less_equal, operator.eq: np.equal, operator.ne: np.not_equal,
}  # fmt: skip


def _comparison(
    question: str, decided: Any, swapped: bool, negated: bool, read: Any, read_other: Any
) -> Callable[..., bool]:
    def method(x: Any, y: Any) -> bool:
        a, b = nonoverlay(read)(x), nonoverlay(read_other)(y)
        answer = nonoverlay(decided)(b, a) if swapped else nonoverlay(decided)(a, b)
        if answer == 0:
            return choose(question, a, b)
        return (answer > 0) != negated

    return method


def _truth(x: Any) -> bool:
    if x.low > 0 or x.high < 0:
        return True
    if x.low == 0 and x.high == 0:
        return False
    return choose("!=", (x.low, x.high), (0.0, 0.0))


def _falsehood(x: Any) -> bool:
    return not _truth(x)


def _whole(x: Any) -> int:
    """The integer to which all numbers of an interval are truncated."""
    cut = nonoverlay(sets.truncate)((x.low, x.high))
    if cut[0] == cut[1]:
        return int(cut[0])
    return some_integer(cut)


def _no(x: Any) -> bool:
    return False


def _class_of(x: Any) -> type:
    """``type`` of an interval, which counts as a float."""
    return float


def _one(x: Any) -> int:
    return 1


def _zero(x: Any) -> int:
    return 0


def _finite(x: Any) -> bool:
    return x.low > -math.inf and x.high < math.inf


def fill(table: MethodTable) -> None:
    """Declare the methods that both engines use."""
    for rule in RULES:
        for function in rule.spellings:
            _declare_rule(table, rule, function)
    for target in (operator.pow, pow, math.pow):
        declare(table, target, _integer_power, (Interval, int))
    for (kind, read), (other, read_other) in _signatures(2):
        declare(table, math.log, _logarithm(read, read_other), (kind, other))
    for function, question, decided, swapped, negated in COMPARISONS:
        for (kind, read), (other, read_other) in _signatures(2):
            method = _comparison(question, decided, swapped, negated, read, read_other)
            for target in (function, UFUNCS[function]):
                declare(table, target, method, (kind, other))
    one = {bool: _truth, operator.truth: _truth, operator.not_: _falsehood, int: _whole}
    one |= {
        type: _class_of,
        np.size: _one,
        np.ndim: _zero,
    }  # compiled code has an interval as a tuple
    for target, method in one.items():
        declare(table, target, method, (Interval,))
    for name, method in (("isnan", _no), ("isfinite", _finite)):
        declare(table, getattr(math, name), method, (Interval,))
        declare(table, getattr(np, name), method, (Interval,))
