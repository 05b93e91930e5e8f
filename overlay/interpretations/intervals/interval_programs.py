"""Methods that interpreted programs need besides the rules: plain numbers, containers, classes."""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from fractions import Fraction
from types import FunctionType
from typing import Any

import numpy as np

from overlay import MethodTable, call_next, nonoverlay
from overlay.core.interpreted_values import stands_for_another
from overlay.interpretations.intervals.errors import Undecided
from overlay.interpretations.intervals.interval_numbers import Interval, bounds_of, shown
from overlay.interpretations.intervals.interval_rules import (
    ELEMENTARY,
    ORDER,
    RULES,
    IntervalRule,
)
from overlay.interpretations.intervals.methods import declare
from overlay.sets import above, below
from overlay.sets.bounds import scaled

__all__ = ["fill_containers", "fill_plain"]


# ---- plain numbers ------------------------------------------------------------------------

_EXACT = (*(rule.function for rule in ORDER), abs, operator.neg, operator.pos)
_OF_INTEGERS = (operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod)


def fill_plain(table: MethodTable) -> None:
    """Declare methods for plain numbers that return an interval where the program would round the
    result."""
    for rule in RULES:
        if rule.function in _EXACT:
            continue
        for types in itertools.product((float, int), repeat=rule.arity):
            if rule.function in _OF_INTEGERS and float not in types:
                continue
            for function in rule.spellings:
                declare(table, function, _plain(rule), types)
    declare(table, float, _converted, (Any,))
    for rule in ELEMENTARY:
        if rule.arity == 1:
            # code in C would ask the fraction for a float
            declare(table, rule.function, _of_fraction(rule.function), (Fraction,))


def _plain(rule: IntervalRule) -> Callable[..., Any]:
    def one(x: Any) -> Any:
        found = nonoverlay(_enclosed)(rule, x)
        return call_next(x) if found is None else found

    def two(x: Any, y: Any) -> Any:
        found = nonoverlay(_enclosed)(rule, x, y)
        return call_next(x, y) if found is None else found

    return one if rule.arity == 1 else two


def _enclosed(rule: IntervalRule, *args: Any) -> Any:
    """The enclosure of a function of plain numbers: a number if it is exact, else an interval; None
    where the program's own result, or error, is used."""
    if not all(map(math.isfinite, args)):
        return None
    if rule.function is operator.pow and all(isinstance(x, int) for x in args) and args[1] >= 0:
        return None
    bounds = [bounds_of(x) for x in args]
    if rule.defined(*bounds) < 1:
        return None
    low, high = rule.enclosure(*bounds)
    return low if low == high else Interval(low, high)


def _converted(x: Any) -> Any:
    """``float`` of an object whose class says in Python what it is: that may be an interval."""
    if nonoverlay(_says_in_python)(x):
        return x.__float__()
    return call_next(x)


def _says_in_python(x: Any) -> bool:
    says = isinstance(getattr(type(x), "__float__", None), FunctionType)
    return says and not stands_for_another(x)


def _of_fraction(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(x: Any) -> Any:
        return function(float(x))

    return method


# ---- containers ---------------------------------------------------------------------------


def _sum(items: Any, start: Any = 0) -> Any:
    for item in items:
        start = start + item
    return start


def _product(items: Any, start: Any = 1) -> Any:
    for item in items:
        start = start * item
    return start


def _distance(p: Any, q: Any) -> Any:
    return math.sqrt(_sum([(x - y) ** 2 for x, y in zip(p, q, strict=True)]))


def _extreme(function: Callable[..., Any]) -> Callable[..., Any]:
    """The smallest or largest item, by pairwise comparison: intervals are not ordered."""

    def of_items(items: Any) -> Any:
        given = list(items)
        if not any(isinstance(item, Interval) for item in given):
            return call_next(given)
        found = given[0]
        for item in given[1:]:
            found = function(found, item)
        return found

    return of_items


def _of_several(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(x: Any, y: Any, z: Any, *others: Any) -> Any:
        return function([x, y, z, *others])

    return method


def _of_class(x: Any, classes: Any) -> bool:
    """``isinstance`` of an interval, which counts as a float."""
    wanted = classes if nonoverlay(isinstance)(classes, tuple) else (classes,)
    return Interval in wanted or nonoverlay(isinstance)(0.0, wanted)


def _has(x: Any, name: str) -> bool:
    """``hasattr`` of an interval, which counts as a float."""
    return nonoverlay(hasattr)(0.0, name)


def _to_digits(x: Any, digits: int) -> Any:
    return nonoverlay(_rounded)(x, digits)


def _rounded(x: Interval, digits: int) -> Interval:
    return Interval(below(round(x.low, digits)), above(round(x.high, digits)))


# ---- functions of several numbers, and texts ------------------------------------------------


def _logarithm(x: Any, base: Any) -> Any:
    return math.log(x) / math.log(base)


def _length(x: Any, y: Any, z: Any, *others: Any) -> Any:
    return math.sqrt(_sum([part * part for part in (x, y, z, *others)]))


def _size(x: Any) -> Any:
    return abs(x)


def _divided(x: Any, y: Any) -> Any:
    return x // y, x % y


def _fraction(x: Any) -> Any:
    return math.fmod(x, 1.0), math.trunc(x)


def _scaled(x: Any, exponent: int) -> Any:
    return nonoverlay(_by_power)(x, exponent)


def _by_power(x: Interval, exponent: int) -> Interval:
    return Interval(*scaled((x.low, x.high), exponent))


def _sum_of_products(p: Any, q: Any) -> Any:
    return _sum([x * y for x, y in zip(p, q, strict=True)])


def _product_and_sum(x: Any, y: Any, z: Any) -> Any:
    return x * y + z


def _text(form: str, x: Any) -> str:
    return nonoverlay(_text_of)(form, x)


def _text_of(form: str, x: Interval) -> str:
    """The common text of all numbers in an interval. Raises Undecided if there is none."""
    low, high = form % (x.low,), form % (x.high,)
    if low == high:
        return low
    raise Undecided(f"which text numbers in {shown(x)} have")


def _print(*things: Any, **named: Any) -> None:
    """Print intervals by their bounds."""
    call_next(*(shown(x) if isinstance(x, Interval) else x for x in things), **named)


def _refused(name: str) -> Callable[..., Any]:
    def method(x: Any) -> Any:
        return nonoverlay(getattr)(x, name)  # which is refused

    return method


def _fill_functions(table: MethodTable) -> None:
    table.overlay(print)(_print)
    for types in itertools.product((float, int), repeat=2):
        declare(table, math.log, _logarithm, types)
    for types in itertools.product((Interval, float, int), repeat=2):
        if Interval in types:
            declare(table, divmod, _divided, types)
    declare(table, math.hypot, _size, (Interval,))
    table.overlay(math.hypot)(_length)
    declare(table, math.modf, _fraction, (Interval,))
    declare(table, math.ldexp, _scaled, (Interval, int))
    declare(table, operator.mod, _text, (str, Interval))
    for name in ("hex", "is_integer", "as_integer_ratio"):
        declare(table, getattr(float, name), _refused(name), (Interval,))
    for name, method in (("sumprod", _sum_of_products), ("fma", _product_and_sum)):
        if hasattr(math, name):  # new in Python 3.12 and 3.13
            table.overlay(getattr(math, name))(method)


def fill_containers(table: MethodTable) -> None:
    """Declare the methods for sequences with intervals, and for functions of several numbers."""
    for target in (sum, math.fsum):
        table.overlay(target)(_sum)
    table.overlay(math.prod)(_product)
    table.overlay(math.dist)(_distance)
    for target in (min, max):
        declare(table, target, _extreme(target), (Any,))
        table.overlay(target)(_of_several(target))
    declare(table, isinstance, _of_class, (Interval, Any))
    declare(table, hasattr, _has, (Interval, str))
    for target in (round, np.round):
        declare(table, target, _to_digits, (Interval, int))
    _fill_functions(table)
