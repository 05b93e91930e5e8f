"""Inversion by overlays alone: a complete minimal implementation, for straight-line programs.

The function runs once, in a context, with unknowns as arguments. Each overlaid primitive returns a
new unknown, which sends a value backwards to the unknowns from which it was computed. There is no
lifting and no plan, so a variable that is used twice is refused unless both uses agree.

``inversion.invert`` supports more programs; where both have an answer, they agree.

>>> from inversion.minimal import run_backwards
>>> run_backwards(lambda x, y: x * 3 - y, 5.0, (1.0,), inputs=2)
(2.0, 1.0)
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterator, Sequence
from math import pi
from typing import Any

from inversion.errors import NoSolution, NotInvertible, WrongArguments
from overlay import Context, MethodTable
from overlay.core.location import caller, location_of

__all__ = ["UnknownNumber", "run_backwards"]

Number = float | int
Choices = Iterator[Any]


class UnknownNumber:
    """A number whose value is not known yet. ``send`` receives its value, and the choices."""

    def __init__(self, send: Callable[[float, Choices], None]) -> None:
        self.send = send


backwards = MethodTable("backwards")
CONTEXT = Context(backwards)

# the argument, from the result; the choices are the branch numbers of sin and cos
ONE: dict[Any, Callable[[float, Choices], float]] = {
    operator.neg: lambda z, _: -z,
    math.exp: lambda z, _: math.log(z),
    math.log: lambda z, _: math.exp(z),
    math.sqrt: lambda z, _: z * z,
    math.sin: lambda z, choices: (k := next(choices)) * pi + (-1) ** k * math.asin(z),
    math.cos: lambda z, choices: (
        2 * pi * (((k := next(choices)) + 1) // 2) + (-1) ** k * math.acos(z)
    ),
}
# the left argument, from the result and the right argument, and vice versa
TWO: dict[Any, tuple[Callable[[float, float], float], Callable[[float, float], float]]] = {
    operator.add: (lambda z, b: z - b, lambda z, a: z - a),
    operator.sub: (lambda z, b: z + b, lambda z, a: a - z),
    operator.mul: (lambda z, b: z / b, lambda z, a: z / a),
    operator.truediv: (lambda z, b: z * b, lambda z, a: a / z),
}


def _unary(target: Any, solve: Callable[[float, Choices], float]) -> None:
    @backwards.overlay(target)
    def unary(a: UnknownNumber) -> UnknownNumber:  # pyright: ignore[reportUnusedFunction]
        return UnknownNumber(lambda z, choices: a.send(solve(z, choices), choices))


def _binary(
    target: Any, left: Callable[[float, float], float], right: Callable[[float, float], float]
) -> None:
    @backwards.overlay(target)
    def first(a: UnknownNumber, b: Number) -> UnknownNumber:  # pyright: ignore[reportUnusedFunction]
        return UnknownNumber(lambda z, choices: a.send(left(z, b), choices))

    @backwards.overlay(target)
    def second(a: Number, b: UnknownNumber) -> UnknownNumber:  # pyright: ignore[reportUnusedFunction]
        return UnknownNumber(lambda z, choices: b.send(right(z, a), choices))

    @backwards.overlay(target)
    def both(a: UnknownNumber, b: UnknownNumber) -> UnknownNumber:  # pyright: ignore[reportUnusedFunction]
        def send(z: float, choices: Choices) -> None:
            chosen = next(choices)
            b.send(chosen, choices)
            a.send(left(z, chosen), choices)

        return UnknownNumber(send)


for _target, _solve in ONE.items():
    _unary(_target, _solve)
for _target, (_left, _right) in TWO.items():
    _binary(_target, _left, _right)


def run_backwards(
    function: Callable[..., Any],
    value: float,
    theta: Sequence[Any] = (),
    *,
    inputs: int = 1,
    context: Context = CONTEXT,
) -> tuple[float, ...]:
    """The arguments for which a function of ``inputs`` numbers gives this value.

    theta: the choices, in the order in which the value meets them on its way backwards: the right
    operand if both are unknown, and the branch number of sin and cos. context: its tables define
    how unknowns are solved for. Raises NotInvertible, NoSolution, and WrongArguments if theta is
    too short.
    """
    found: dict[int, float] = {}
    where = location_of(function)

    def keep(i: int, z: float) -> None:
        if found.setdefault(i, z) != z:
            raise NotInvertible(
                f"argument {i} is used twice, as {found[i]!r} and as {z!r}",
                where=where,
                help="use it once, or call inversion.invert",
            )

    unknowns = [UnknownNumber(lambda z, _, i=i: keep(i, z)) for i in range(inputs)]
    try:
        result = context(function, *unknowns)
    except TypeError as error:
        raise NotInvertible(
            f"a statement has no rule here: {error}",
            where=where,
            help="give context= a table with a method for it, or call inversion.invert",
        ) from error
    if not isinstance(result, UnknownNumber):
        raise NotInvertible(
            f"the result does not depend on the arguments: {result!r}",
            where=where,
            help="return what is computed from the arguments",
        )
    try:
        result.send(value, iter(theta))
        answer = tuple(found.get(i, 1.0) for i in range(inputs))  # an unused argument is free
        again = function(*answer)
    except (ValueError, ArithmeticError) as error:
        raise NoSolution(f"{value!r} has no solution here: {error}") from error
    except StopIteration as error:
        help = "give a choice for each operation of two unknowns, and for each sine and cosine"
        raise WrongArguments(f"θ = {theta!r} is too short", where=caller(), help=help) from error
    except TypeError as error:
        raise WrongArguments(
            f"θ = {theta!r} holds a choice of another type: {error}",
            where=caller(),
            help="give whole numbers for branches of sine and cosine, and numbers for the rest",
        ) from error
    if not math.isclose(again, value, rel_tol=1e-9, abs_tol=1e-12):
        raise NoSolution(f"{value!r} is not given back by {answer!r}: lost digits")
    return answer
