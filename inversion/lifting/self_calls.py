"""Recursive calls as values, followed through sums and products to the return.

A recursive call with any other use cannot become an iteration of a loop.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from inversion.errors import NotInvertible
from inversion.lifting.exits import At, Found, Returned
from inversion.lifting.lifted_values import (
    Again,
    CallSite,
    Known,
    Tupled,
    Value,
    Values,
    heap_of,
)
from inversion.program.statements import Constant, Operand, Variable
from overlay.core.target import describe

if TYPE_CHECKING:
    from inversion.lifting.lifter import Lifter
    from inversion.lifting.recursion import Calls

AGAIN = -1  # the place of a recursive call: no block has this label
SHIFT, SCALE = "shift.", "scale."  # no variable can have these names


class Deeper(Exception):
    """A function calls itself, while only paths without recursive calls are followed."""


class UsedOtherwise(NotInvertible):
    """The result of a recursive call has another use than in sums and products."""


def through(lifter: Lifter, site: CallSite, targets: tuple[Any, ...], args: Values) -> Value:
    """The result of a call with the result of a recursive call as an argument."""
    target, tables = targets[-1], site.resolver.tables if site.overlaid else ()
    if any(one in table for table in tables for one in targets):
        raise used_otherwise(site.where, target)
    if target is operator.neg and len(args) == 1:
        return through(lifter, site, (operator.mul,), (Constant(-1), args[0]))
    if len(args) != 2 or all(isinstance(arg, Again) for arg in args):
        raise used_otherwise(site.where, target)
    one, other = args

    def made(do: Callable[..., Any], a: Value, b: Value) -> Operand:
        found = combined(lifter, site, do, a, b)
        assert isinstance(found, (Variable, Constant))
        return found

    if target is operator.sub and isinstance(other, Again):
        turned = through(lifter, site, (operator.mul,), (Constant(-1), other))
        return through(lifter, site, (operator.add,), (turned, one))
    if isinstance(other, Again) and target in (operator.add, operator.mul):
        one, other = other, one
    if not isinstance(one, Again) or not isinstance(other, (Variable, Constant)):
        raise used_otherwise(site.where, target)
    if target in (operator.add, operator.sub):
        return replace(one, shift=made(target, one.shift, other))
    if target in (operator.mul, operator.truediv):
        return replace(one, shift=made(target, one.shift, other),
                       scale=made(target, one.scale, other))  # fmt: skip
    raise used_otherwise(site.where, target)


def combined(lifter: Lifter, site: CallSite, do: Callable[..., Any], a: Value, b: Value) -> Value:
    """A sum, difference, product or quotient, simplified if one operand is 0 or 1."""
    zero, unit = Constant(0), Constant(1)
    if do is operator.mul and zero in (a, b):
        return zero
    if do is operator.mul and unit in (a, b):
        return b if a == unit else a
    if do is operator.add and zero in (a, b):
        return b if a == zero else a
    if do is operator.truediv and a == zero:
        return zero
    if isinstance(a, Constant) and isinstance(b, Constant):
        return Constant(do(a.value, b.value))
    plain = replace(site, overlaid=False, name="")
    return lifter.call(plain, (do,), (a, b), {})


def returned(calls: Calls | None, value: Value, known: Known, where: str) -> Found:
    """The end of a path that returns a value: a return, or the next iteration. where: its line."""
    if isinstance(value, Again) and value.of is calls:
        assert calls is not None
        names = dict(zip(calls.names, value.args, strict=True))
        return At(AGAIN, {**names, SHIFT: value.shift, SCALE: value.scale, **heap_of(known)})
    if isinstance(value, Tupled) and any(isinstance(item, Again) for item in value.items):
        raise used_otherwise(where, "a tuple")
    return Returned(value, heap_of(known))


def used_otherwise(where: str, target: Any) -> UsedOtherwise:
    """The error for a recursive call that cannot become an iteration of a loop."""
    name = target if isinstance(target, str) else describe(target)
    return UsedOtherwise(
        f"cannot invert a function that calls itself and uses the result for {name}",
        where=where,
        help="return it, or use it once, in sums and products; or give the function a relation",
    )
