"""What differentiation refuses."""

from __future__ import annotations

import os
from typing import Any, NoReturn

from overlay import Method, OverlayError
from overlay.location import caller
from overlay.target import describe

__all__ = [
    "NotDifferentiable",
    "refuse_call",
    "refuse_count",
    "refuse_hidden",
    "refuse_result",
    "refuse_use",
    "refuse_write",
]


class NotDifferentiable(OverlayError):
    """A call whose derivative is not known, or a program that cannot be differentiated."""


def _place() -> str | None:
    """The program's line; None while numba compiles, which tells the chain of calls."""
    where = caller()
    return None if where is not None and f"{os.sep}numba{os.sep}" in where else where


def refuse_call(function: Any) -> NoReturn:
    """Refuse a function that was given an active value and has no rule."""
    name = describe(function)
    raise NotDifferentiable(
        f"no derivative is known of {name}, which was called with an active value",
        where=_place(),
        help=f"give partials_of({name}) a method in a table and pass it as rules=, or wrap the "
        "call in inactive(...) where its derivative does not matter",
    )


def refuse_count() -> NoReturn:
    """Refuse a number of arguments."""
    raise NotDifferentiable(
        "autodiff(f, x, ...) takes from 1 to 12 numbers",
        where=_place(),
        help="gradient(f) is for more, and for arrays",
    )


def refuse_result() -> NoReturn:
    """Refuse a result of several parts."""
    raise NotDifferentiable(
        "autodiff(f, x) is of a function that gives one number or array",
        where=_place(),
        help="derivative(f) and jacobian(f) are for functions that give tuples",
    )


def refuse_hidden(method: Method) -> NoReturn:
    """Refuse a context around a derivative whose method active values would not meet."""
    name = describe(method.target)
    raise NotDifferentiable(
        f"the context around a derivative has a method of {name}, which has a rule: the rule would "
        "shadow the method",
        where=_place(),
        notes=[("method", repr(method))],
        help="enter the context inside the derivative: derivative(context.wrap(f))",
    )


def refuse_use(what: str) -> NoReturn:
    """Refuse a use of an active value by code that does not know of derivatives."""
    raise NotDifferentiable(
        f"an active value was given to code that cannot be differentiated: {what}",
        where=_place(),
        help="wrap the call in inactive(...) where its derivative does not matter, or give the "
        "function that makes it a rule for partials_of(function)",
    )


def refuse_write() -> NoReturn:
    """Refuse a write to an array that stands outside the function that is differentiated."""
    raise NotDifferentiable(
        "a function that is differentiated writes to an array that it did not make",
        where=_place(),
        help="write to a copy that the function makes: np.copy(array), np.zeros(shape)",
    )
