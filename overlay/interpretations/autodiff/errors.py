"""Errors of differentiation."""

from __future__ import annotations

import inspect
import os
from collections.abc import Sequence
from typing import Any, NoReturn

import numpy as np

from overlay import OverlayError
from overlay.core.location import PACKAGES, caller, caller_frame, location_of, name_of, shown
from overlay.core.short_repr import a_or_an
from overlay.core.target import describe
from overlay.interpretations.autodiff.rules import has_rule

__all__ = [
    "ASKED_OF_RESULT",
    "NotDifferentiable",
    "NotReversible",
    "WrongPairs",
    "asked_of_count",
    "asked_of_shape",
    "refuse_argument",
    "refuse_arguments",
    "refuse_array_in_kernel",
    "refuse_by",
    "refuse_call",
    "refuse_captured",
    "refuse_compiled",
    "refuse_count",
    "refuse_escape",
    "refuse_form",
    "refuse_inside",
    "refuse_local",
    "refuse_making",
    "refuse_mode",
    "refuse_no_number",
    "refuse_order",
    "refuse_pair_count",
    "refuse_pairs",
    "refuse_part",
    "refuse_parts",
    "refuse_raising",
    "refuse_result",
    "refuse_reverse",
    "refuse_shape",
    "refuse_stale",
    "refuse_store",
    "refuse_tangents",
    "refuse_use",
    "refuse_without_arguments",
    "refuse_write",
    "refuse_write_of_program",
]


class NotDifferentiable(OverlayError):
    """A call has no known derivative, or a program cannot be differentiated.

    Examples
    --------
    >>> from overlay.interpretations.autodiff import derivative
    >>> derivative(lambda x: x, order=-1)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    overlay.interpretations.autodiff.errors.NotDifferentiable: no derivative has order -1
    """


class NotReversible(NotDifferentiable):
    """A program has no adjoint."""


class WrongPairs(NotDifferentiable):
    """Arguments of ``add_gradient`` without a valid pair of an argument and the array for its
    gradient. Compiled code raises it by its class alone."""

    def __init__(
        self,
        asked: str = "add_gradient(f, ...) takes a pair for each argument by which to "
        "differentiate: the argument, and the array of floats to which the derivative is added",
        *,
        help: str | None = "add_gradient(f, (x, d_x), y): d_x has the shape of x, or one element "
        "for a number",
        **parts: Any,
    ) -> None:
        super().__init__(asked, help=help, **parts)


def _place() -> str | None:
    """The program's line; None while numba compiles, which reports the chain of calls itself."""
    where = caller()
    return None if where is not None and f"{os.sep}numba{os.sep}" in where else where


def refuse_arguments(f: Any, order: int, args: Sequence[Any], named: dict[str, Any]) -> NoReturn:
    """Refuse a call of the derivative, of this order, of a function of one number with other
    arguments."""
    count = len(args) + len(named)
    short = name_of(f) if name_of(f).isidentifier() else "f"
    of_order = f", order={order}" * (order > 1)
    help = f"pass the number by position: derivative({short}{of_order})(x)"
    if count > 1:
        help = (
            f"derivative(lambda x: {short}(x, ...){of_order})(x) holds the others constant; "
            f"gradient({short}) is by all"
        )
    held = ", ".join(f'"{name}"' for name in _names_after_first(f, count) or named)
    if count > 1 and order == 1 and held:
        help = (
            f"gradient({short}, constant=({held},))(x, ...) holds the others constant, as "
            f"derivative(lambda x: {short}(x, ...)) does; gradient({short}) is by all"
        )
    raise NotDifferentiable(
        f"the derivative of {name_of(f)} is by one number, and was called with "
        f"{count or 'no'} argument{'s' * (count != 1)}" + " by name" * (count == len(named) == 1),
        where=_place(),
        help=help,
    )


def _names_after_first(f: Any, count: int) -> list[str]:
    try:
        return list(inspect.signature(f).parameters)[1:count]
    except (TypeError, ValueError):
        return []


def refuse_without_arguments(f: Any) -> NoReturn:
    """Refuse a derivative by no argument."""
    raise NotDifferentiable(
        f"{name_of(f)} is given no argument by which to differentiate",
        where=_place(),
        help="pass at least one by position; a keyword argument is constant unless "
        "active=(name,) names it",
    )


def refuse_tangents(f: Any, count: int | None, given: int | None) -> NoReturn:
    """Refuse another number of tangents than of arguments; None stands for what is no sequence."""
    first, second = ("no sequence" if each is None else each for each in (count, given))
    raise NotDifferentiable(
        f"jvp of {name_of(f)} is given a tangent for each argument in two sequences of one length; "
        f"it was given {first} of arguments and {second} of tangents",
        where=_place(),
        help="jvp(f, (x, y), (d_x, d_y)); None for a tangent holds its argument constant",
    )


def refuse_call(function: Any) -> NoReturn:
    """Refuse a function that was given an active value and has no rule for this call."""
    name = describe(function)
    help = (
        f"give partials_of({name}) a method in a table and pass it as rules=, or wrap the "
        "call in inactive(...) where its derivative does not matter"
    )
    if has_rule(function):
        help = (
            f"call {name} with its first arguments by position and no others, which its rule takes"
        )
    raise NotDifferentiable(
        f"no derivative is known of {name}, which was called with an active value",
        where=_place(),
        help=help,
    )


def refuse_form(function: Any, form: str, help: str) -> NoReturn:
    """Refuse a form of a call whose derivative is unknown, of a function that has a rule."""
    raise NotDifferentiable(
        f"no derivative is known of {describe(function)} with {form}", where=_place(), help=help
    )


def refuse_by(function: Any, places: Sequence[int]) -> NoReturn:
    """Refuse an active value as an argument by which a function has no known derivative."""
    name = describe(function)
    raise NotDifferentiable(
        f"no derivative is known of {name} by its argument {' or '.join(map(str, places))}, which "
        "was active",
        where=_place(),
        help="pass a plain number there, or wrap the argument's value in inactive(...) where its "
        "derivative does not matter",
    )


def asked_of_count(target: Any, rule: Any, count: int) -> str:
    """The requirement on the number of derivatives that a user's rule gives, as text that compiled
    code raises at run time."""
    return (
        f"the rule of {target}, {location_of(rule)}, has to give a tuple of {count}, one for each "
        "argument"
    )


def refuse_parts(target: Any, rule: Any, count: int) -> NoReturn:
    """Refuse what a user's rule gave that is no tuple."""
    raise NotDifferentiable(
        asked_of_count(target, rule, count),
        where=_place(),
        help="return (slope,) for one argument, and 0.0 for one by which the derivative is zero",
    )


def refuse_part(target: Any, rule: Any, kind: type) -> NoReturn:
    """Refuse a derivative that a user's rule gave and that is no number or array."""
    raise NotDifferentiable(
        f"the rule of {target}, {location_of(rule)}, has to give numbers or arrays as derivatives, "
        f"and one is of type {kind.__name__}",
        where=_place(),
        help="return 0.0 for an argument by which the derivative is zero, and a number or an "
        "array for others",
    )


def asked_of_shape(target: Any, rule: Any) -> str:
    """The requirement on the derivatives that a user's rule gives in forward mode, as text that
    compiled code raises at run time."""
    return (
        f"the rule of {target}, {location_of(rule)}, has to give derivatives with at most as many "
        "dimensions as the result, real ones of a real result: a rule of adjoint_of may give the "
        "gradient by an array"
    )


def refuse_shape(target: Any, rule: Any) -> NoReturn:
    """Refuse a derivative that a user's rule gave for a result of fewer dimensions, or complex for
    a real one."""
    raise NotDifferentiable(
        asked_of_shape(target, rule),
        where=_place(),
        help="return as many dimensions as the result has, and the real part for a real result",
    )


def refuse_captured(f: Any) -> NoReturn:
    """Refuse an active value that a part with a checkpoint reads from outside."""
    raise NotDifferentiable(
        f"{name_of(f)}, which has a checkpoint, reads an active value that is not one of its "
        "arguments",
        where=_place(),
        help="pass it as an argument: checkpoint(f)(x, value)",
    )


def refuse_stale() -> NoReturn:
    """Refuse to read an array after a write to a part of which a tape holds other variables."""
    raise NotDifferentiable(
        "an array is read after a write to its real or imaginary part, or a part after a write to "
        "the array",
        where=_place(),
        help="write to a copy of the part: np.copy(z.real), or use forward mode",
    )


def refuse_compiled(asked: str, *, is_gradient: bool) -> NoReturn:
    """Refuse to compile what only interpreted code computes. asked: a description of it."""
    why = "with active, constant or mode given " if is_gradient else ""
    raise NotDifferentiable(
        f"{asked} {why}runs interpreted alone, and compiled code calls it",
        where=_place(),
        help="compile autodiff(f, x, ...), which is the gradient by all arguments; of a function "
        "with constants in it, by the others",
    )


def refuse_count() -> NoReturn:
    """Refuse an invalid number of arguments."""
    raise NotDifferentiable(
        "autodiff(f, x, ...) takes from 1 to 12 numbers",
        where=_place(),
        help="gradient(f) is for more, and for arrays",
    )


def refuse_pair_count() -> NoReturn:
    """Refuse an invalid number of arguments to whose gradients is added."""
    raise WrongPairs(
        "add_gradient(f, ...) takes from 1 to 12 arguments of f",
        where=_place(),
        help="add_gradient(f, (x, d_x), y); gradient(f) is for more",
    )


def refuse_escape(f: Any, holder: str) -> NoReturn:
    """Refuse an active number that outlives the differentiated function."""
    raise NotDifferentiable(
        f"{name_of(f)}, which is differentiated, lets an active number escape: {holder} holds it",
        where=_place(),
        help="return the number as part of the result; to store its plain value, wrap the call "
        "that stores it: inactive(items.append)(x)",
    )


def refuse_result(f: Any, kind: str) -> NoReturn:
    """Refuse a result with several parts. kind: the name of its class."""
    raise NotDifferentiable(
        "autodiff(f, x) differentiates a function that returns one number or array, and "
        f"{name_of(f)} returns {a_or_an(kind)}",
        where=location_of(f),
        help="derivative(f) and jacobian(f) are for functions that return tuples",
    )


ASKED_OF_RESULT = (
    "return a number, an array of numbers, or a tuple of these; where a return statement is "
    "missing, a function returns None"
)


def refuse_no_number(f: Any, what: str, *, is_part: bool = False) -> NoReturn:
    """Refuse a result that is no number. what: a description of it; is_part: whether it is part of
    a tuple."""
    raise NotDifferentiable(
        f"{name_of(f)} returns {f'a tuple with {what} in it' if is_part else what}, which has no "
        "derivative",
        where=location_of(f),
        help=ASKED_OF_RESULT,
    )


def refuse_argument(f: Any, what: str) -> NoReturn:
    """Refuse to differentiate by an argument that is no number. what: a description of it."""
    raise NotDifferentiable(
        f"{name_of(f)} is given {what}, by which it cannot be differentiated",
        where=caller(),
        help="differentiate by numbers and arrays of numbers, and hold other arguments constant: "
        "gradient(f, constant=(name,)), or a function of the numbers alone, lambda x: f(x, other)",
    )


def refuse_inside() -> NoReturn:
    """Refuse rules that are put in force inside a derivative with the same rules."""
    raise NotDifferentiable(
        "a context of differentiation(...) was entered inside a derivative that it began",
        where=_place(),
        help="enter it once, around the outermost derivative",
    )


def refuse_mode(mode: str) -> NoReturn:
    """Refuse an unknown mode."""
    raise NotDifferentiable(
        f"there is no mode {mode!r}",
        where=_place(),
        help='pass mode="auto", "forward" or "reverse"',
    )


def refuse_order(order: Any) -> NoReturn:
    """Refuse an invalid order of derivative."""
    raise NotDifferentiable(
        f"there is no derivative of the order {order!r}",
        where=_place(),
        help="pass a whole number: order=1 for the derivative, 2 for the second, 0 for f itself",
    )


def refuse_reverse(name: str, reason: str, where: str | None, help: str | None = None) -> NoReturn:
    """Refuse a program that has no adjoint. help: by default the usual remedy."""
    line = "" if where is None else where.rpartition(":")[2]
    raise NotReversible(
        f"no adjoint can be generated for {name}: {reason}" + f" (line {line})" * line.isdigit(),
        where=where or _place(),
        help=help
        or 'use forward mode, mode="forward" (in compiled code only by numbers), or write the '
        "code with numpy functions, or add a method of adjoint_of(function) for the function "
        "without an adjoint",
    )


def refuse_pairs() -> NoReturn:
    """Refuse arguments without a valid pair of an argument and the array for its gradient."""
    raise WrongPairs(where=_place())


def refuse_array_in_kernel() -> NoReturn:
    """Refuse a gradient that would be a new array, in a kernel."""
    raise NotDifferentiable(
        "autodiff(f, x) by an array creates an array, which kernels cannot",
        where=_place(),
        help="add_gradient(f, (x, d_x)) adds the gradient to an array that the kernel has: "
        "cuda.local.array(shape, dtype), filled with zeros",
    )


def refuse_making(name: str, what: str, where: str) -> NoReturn:
    """Refuse an adjoint that would create an array, in a kernel."""
    raise NotDifferentiable(
        f"the adjoint of {name} creates an array, which kernels cannot: {what}",
        where=where or _place(),
        help="loop over elements with a constant length, as in range(8), and create local arrays "
        "by overlay.kernels.local_array",
    )


def refuse_local() -> NoReturn:
    """Refuse a local array in a function that is differentiated forwards, in a kernel."""
    raise NotDifferentiable(
        "a local array cannot hold active numbers in a kernel, in forward mode",
        where=_place(),
        help="use reverse mode: add_gradient(f, (x, d_x)), with an array of one element for a "
        "number",
    )


def refuse_store() -> NoReturn:
    """Refuse to store a number that is active in an outer derivative in an array of an inner one
    whose tangents are constants of the outer one."""
    raise NotDifferentiable(
        "in a derivative inside another, an active number is written to an array whose derivatives "
        "are constant in the outer one",
        where=_place(),
        help='use reverse mode for the inner derivative, hessian(f, mode="reverse"), or write to '
        "an array that the function creates by np.zeros",
    )


def refuse_use(what: str) -> NoReturn:
    """Refuse the use of an active value by code that does not support derivatives."""
    raise NotDifferentiable(
        f"an active value was given to code that cannot be differentiated: {what}",
        where=_place(),
        help="wrap the call in inactive(...) where its derivative does not matter, or add a rule, "
        "a method of partials_of(function), for the function that makes the call",
    )


def refuse_raising(name: str, trace: Any, error: BaseException) -> None:
    """Refuse a call of a function in C that has raised an error when it was given an active value,
    which it takes for another object than a number; errors of this distribution's code remain."""
    path = trace.tb_frame.f_code.co_filename
    if path.startswith(PACKAGES):
        return
    raise NotDifferentiable(
        f"an active value was given to {name}, which cannot be differentiated, and which raised "
        f"{type(error).__name__}: {error}",
        where=shown(path, trace.tb_lineno),
        help=f"wrap the call in inactive(...), as in inactive({name})(x), where its derivative "
        "does not matter; the same error without a derivative is the program's own",
    ) from error


def refuse_write() -> NoReturn:
    """Refuse a write to an array from outside the differentiated function."""
    raise NotDifferentiable(
        "a function that is differentiated writes to an array that it did not create",
        where=_place(),
        help="write to an array that the function creates: np.copy(array), np.zeros(shape)",
    )


_NUMPY = os.path.join(os.path.dirname(np.__file__), "")


def refuse_write_of_program() -> None:
    """Refuse a write as above; functions of numpy write to arrays that they make."""
    frame = caller_frame()
    if frame is None or not frame.f_code.co_filename.startswith(_NUMPY):
        refuse_write()
