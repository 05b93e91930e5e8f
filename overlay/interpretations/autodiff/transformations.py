"""Derivatives of functions of any number of numbers and arrays."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence, Sized
from typing import Any

import numpy as np

from overlay import MethodTable, nonoverlay
from overlay.contexts.rules_alone import in_program, runs_alone, tables_of_program
from overlay.core.location import caller, name_of
from overlay.core.short_repr import a_or_an
from overlay.core.target import refuse_values
from overlay.interpretations.autodiff.active_arguments import (
    Names,
    Rules,
    as_active,
    given_arguments,
    tables_of,
)
from overlay.interpretations.autodiff.directions import (
    are_mixed_up,
    both_shapes,
    by_each,
    by_rows,
    fresh,
    is_small,
    one_or_all,
    run_in_directions,
    shaped,
    total,
)
from overlay.interpretations.autodiff.errors import (
    NotDifferentiable,
    NotReversible,
    refuse_arguments,
    refuse_compiled,
    refuse_order,
    refuse_tangents,
    refuse_without_arguments,
)
from overlay.interpretations.autodiff.forward import autodiff, differentiation
from overlay.interpretations.autodiff.level_results import (
    is_structure,
)
from overlay.interpretations.autodiff.reverse.adjoints import Adjoint
from overlay.interpretations.autodiff.reverse.gradients import (
    Mode,
    back,
    reverse_of,
    runs_alone_follow,
    selects_reverse,
)
from overlay.interpretations.autodiff.reverse.pullbacks import kind_of
from overlay.interpretations.autodiff.reverse.reverse_program import (
    MethodOf,
    ReverseValue,
)
from overlay.interpretations.autodiff.reverse.structural import STRUCTURAL
from overlay.interpretations.autodiff.reverse.taped import taped

BY_TAPE = object()
"""Reverse mode by a tape is selected, as there is no adjoint."""

__all__ = ["Derivative", "adjoint", "derivative", "gradient", "hessian", "jacobian", "jvp", "vjp"]


def _check_function(f: Any, asked: str) -> None:
    """Raise NotDifferentiable for an object that is not callable. asked: what is asked of it."""
    refuse_values(f, "differentiate", f"give a function, as in {asked}(f)", NotDifferentiable)


@runs_alone
def derivative(f: Callable[..., Any], *, order: int = 1, rules: Rules = ()) -> Callable[..., Any]:
    """The derivative of a function of one number, of any order.

    Parameters
    ----------
    f : callable
        A function of one real number.
    order : int
        The order, 0 or more; 0 for ``f`` itself.
    rules : MethodTable or sequence of MethodTable
        Tables with methods of ``partials_of(g)`` for functions ``g`` that ``f`` calls.

    Returns
    -------
    callable
        The derivative, a function of one real number.

    Raises
    ------
    NotDifferentiable
        ``order`` is no integer of at least 0. The derivative raises it where ``f`` cannot be
        differentiated.

    Examples
    --------
    >>> from overlay.interpretations.autodiff import derivative
    >>> derivative(lambda x: x**4, order=2)(3.0)
    108.0
    """
    _check_function(f, "derivative")
    if type(order) is not int or order < 0:
        refuse_order(order)
    for _ in range(order):
        f = Derivative(f, rules)
    return f


_OF_ONE = inspect.Signature([inspect.Parameter("x", inspect.Parameter.POSITIONAL_ONLY)])


class OfFunction:
    """Base class of the derivatives of a function."""

    def __init__(self, function: Callable[..., Any], rules: Rules) -> None:
        self.function = function
        self.rules = tables_of(rules)

    @functools.cached_property
    def _compiled(self) -> Callable[..., Any]:
        """The function that compiled code calls: ``autodiff`` of the function."""
        f, rules = self.function, self.rules

        def of(*args: Any) -> Any:
            return autodiff(f, *args)

        return differentiation(*rules).wrap(of) if rules else of


class Derivative(OfFunction):
    """The derivative of a function of one number, made by ``derivative(f)``; in compiled code it
    is ``autodiff`` of f.
    """

    is_autodiff = True

    def __init__(self, function: Callable[..., Any], rules: Rules) -> None:
        super().__init__(function, rules)
        self.__signature__ = _OF_ONE

    @runs_alone
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        f = self.function
        if len(args) != 1 or kwargs:
            order = 1
            while isinstance(f, Derivative):
                f, order = f.function, order + 1
            refuse_arguments(f, order, args, kwargs)
        return jvp(f, (as_active(f, args[0]),), (1.0,), rules=self.rules)[1]

    def __overlay_compiled__(self, *, on_device: bool) -> Callable[..., Any]:
        return self._compiled

    def __reduce__(self) -> Any:
        return Derivative, (self.function, self.rules)

    def __repr__(self) -> str:
        return f"<derivative of {name_of(self.function)}>"


class OfArguments(OfFunction):
    """The gradient, Jacobian or Hessian of a function, a function of its arguments; in compiled
    code a gradient is ``autodiff`` of the function.
    """

    def __init__(
        self,
        name: str,
        run: Callable[[Any, Sequence[Any], Sequence[int], Rules, Mode], list[Any]],
        function: Callable[..., Any],
        active: Names,
        constant: Names,
        rules: Rules,
        mode: Mode,
    ) -> None:
        super().__init__(function, rules)
        self.name, self.run, self.active, self.constant = name, run, active, constant
        self.mode: Mode = mode
        try:
            signature = inspect.signature(function)
        except (TypeError, ValueError):  # a function in C that tells of none
            return
        self.__signature__ = signature.replace(return_annotation=signature.empty)

    @runs_alone
    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        f, given, places = given_arguments(self.function, args, kwargs, self.active, self.constant)
        return one_or_all(self.run(f, given, places, self.rules, self.mode))

    @property
    def is_autodiff(self) -> bool:
        """Whether ``autodiff`` of the function gives what this does."""
        return (self.run, self.active, self.constant) == (_gradient, None, None)

    def __overlay_compiled__(self, *, on_device: bool) -> Callable[..., Any]:
        if not self.is_autodiff or self.mode != "auto":
            refuse_compiled(repr(self), is_gradient=self.run is _gradient)
        return self._compiled

    def __reduce__(self) -> Any:
        own = (self.name, self.run, self.function)
        return OfArguments, (*own, self.active, self.constant, self.rules, self.mode)

    def __repr__(self) -> str:
        return f"<{self.name} of {name_of(self.function)}>"


@runs_alone
def jvp(
    f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any], *, rules: Rules = ()
) -> tuple[Any, Any]:
    """The result of a function and its directional derivative (Jacobian-vector product), by
    forward mode.

    Parameters
    ----------
    f : callable
        A function of numbers and arrays.
    primals : sequence
        Its arguments.
    tangents : sequence
        For each argument a tangent of its shape; None holds the argument constant.
    rules : MethodTable or sequence of MethodTable
        As for ``derivative``.

    Returns
    -------
    (value, tangent)
        The result, and the Jacobian times the tangents, of the shape of the result.

    Raises
    ------
    NotDifferentiable
        The function cannot be differentiated.

    Examples
    --------
    >>> from overlay.interpretations.autodiff import jvp
    >>> jvp(lambda x, y: x * y, (2.0, 3.0), (1.0, 10.0))
    (6.0, 23.0)

    References
    ----------
    A. Griewank and A. Walther, "Evaluating Derivatives", 2nd ed., SIAM 2008, chapter 3.
    """
    _check_function(f, "jvp")
    both: tuple[Any, Any] = primals, tangents
    counts = [len(given) if isinstance(given, Sized) else None for given in both]
    if None in counts or counts[0] != counts[1]:
        refuse_tangents(f, *counts)
    args = [x if t is None else as_active(f, x) for x, t in zip(primals, tangents, strict=True)]
    seeds = [None if t is None else (as_active(f, t),) for t in tangents]
    value, (tangent,) = run_in_directions(f, args, seeds, 1, rules)
    return value, tangent


@runs_alone
def vjp(
    f: Callable[..., Any], *primals: Any, rules: Rules = (), mode: Mode = "auto"
) -> tuple[Any, Callable[[Any], tuple[Any, ...]]]:
    """The result of a function and its pullback (vector-Jacobian product), by reverse mode.

    For a complex result the pullback gives the real parts of the products with the conjugate of
    the Jacobian: the real and imaginary parts of a cotangent belong to those of the result.

    Parameters
    ----------
    f : callable
        A function of numbers and arrays whose result is one number or array.
    *primals
        Its arguments.
    rules : MethodTable or sequence of MethodTable
        As for ``derivative``.
    mode : {"auto", "forward", "reverse"}
        As for ``gradient``.

    Returns
    -------
    (value, pullback)
        The result, and a function from a cotangent of the shape of the result to a tuple: for
        each argument the product of the cotangent with the Jacobian, of the shape of the
        argument.

    Raises
    ------
    NotDifferentiable
        The function cannot be differentiated.

    Examples
    --------
    >>> from overlay.interpretations.autodiff import vjp
    >>> value, back = vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> back(10.0)
    (30.0, 20.0)

    References
    ----------
    A. Griewank and A. Walther, "Evaluating Derivatives", 2nd ed., SIAM 2008, chapter 3.
    """
    _check_function(f, "vjp")
    if not primals:
        refuse_without_arguments(f)
    args = [as_active(f, x) for x in primals]
    tables = tables_of_program()
    places = range(len(args))
    adjoint = _adjoint(f, args, places, rules, tables, mode)
    if isinstance(adjoint, Adjoint) and isinstance(adjoint.result, ReverseValue):
        return in_program(f, *fresh(args)), runs_alone(
            lambda cotangent: _back_or_by_tape(f, adjoint, args, cotangent, rules)
        )
    if adjoint is BY_TAPE:
        run = taped(f, args, places, tables_of(rules))
        _check_one(f, run.value)
        return run.value, runs_alone(lambda cotangent: tuple(run.pull_back([cotangent])))
    value, rows = by_each(f, args, places, rules)
    _check_one(f, value)
    if mode == "auto" and are_mixed_up(value, rows):
        return vjp(f, *args, rules=rules, mode="reverse")

    @runs_alone
    def take_back(cotangent: Any) -> tuple[Any, ...]:
        found = [[total(_against(cotangent, slope)) for slope in slopes] for slopes in rows]
        return tuple(shaped(each, x) for each, x in zip(found, args, strict=True))

    return value, take_back


def _back_or_by_tape(
    f: Callable[..., Any], adjoint: Adjoint, args: Sequence[Any], cotangent: Any, rules: Rules
) -> tuple[Any, ...]:
    """The pullback of a cotangent by an adjoint; by a tape where a rule divides by zero."""
    try:
        return back(adjoint, fresh(args), (cotangent,), tables_of_program())
    except ArithmeticError:
        run = taped(f, fresh(args), range(len(args)), tables_of(rules))
        return tuple(run.pull_back([cotangent]))


def _against(cotangent: Any, slope: Any) -> Any:
    """The contribution of a cotangent, multiplied by the derivatives of the result, to a
    pullback.
    """
    return np.real(cotangent * np.conj(slope)) if np.iscomplexobj(slope) else cotangent * slope


@runs_alone
def gradient(
    f: Callable[..., Any],
    *,
    active: Names = None,
    constant: Names = None,
    rules: Rules = (),
    mode: Mode = "auto",
) -> Callable[..., Any]:
    """The gradient, as a function, of a function that returns a number.

    Parameters
    ----------
    f : callable
        A function of numbers and arrays whose result is a real number.
    active, constant : sequence of str or None
        The names of the parameters by which to differentiate, or of the others. By default all
        positional arguments are active, and keyword arguments are constant unless ``active``
        names them.
    rules : MethodTable or sequence of MethodTable
        As for ``derivative``.
    mode : {"auto", "forward", "reverse"}
        ``"forward"`` runs ``f`` with dual numbers, once for each eight numbers in the active
        arguments. ``"reverse"`` runs the adjoint of ``f`` once, for any number of numbers.
        ``"auto"`` is reverse mode for more than eight numbers, if there is an adjoint.

    Returns
    -------
    callable
        A function of the arguments of ``f``. By one argument the gradient is a number or array of
        its shape, by several a tuple.

    Raises
    ------
    NotDifferentiable
        Raised by the gradient where ``f`` returns an array, where it cannot be differentiated,
        and in mode ``"reverse"`` where it has no adjoint.

    Examples
    --------
    >>> import numpy as np
    >>> from overlay.interpretations.autodiff import gradient
    >>> gradient(lambda x: np.sum(x * x))(np.array([1.0, 2.0]))
    array([2., 4.])
    """

    _check_function(f, "gradient")
    return OfArguments("gradient", _gradient, f, active, constant, rules, mode)


def gradient_at(
    f: Callable[..., Any], args: Sequence[Any], places: Sequence[int], rules: Rules, mode: Mode
) -> list[Any]:
    """The gradient of f by each of its arguments in some places."""
    given = [as_active(f, x) if i in places else x for i, x in enumerate(args)]
    return _gradient(f, given, places, rules, mode)


def _gradient(
    f: Callable[..., Any], given: Sequence[Any], places: Sequence[int], rules: Rules, mode: Mode
) -> list[Any]:
    tables = tables_of_program()
    adjoint = _adjoint(f, given, places, rules, tables, mode)
    if isinstance(adjoint, Adjoint) and _is_number(adjoint.result):
        wanted = (1.0,) * isinstance(adjoint.result, ReverseValue)
        try:
            return list(back(adjoint, fresh(given), wanted, tables))
        except ArithmeticError:  # of a rule that divides by zero, or the program's: a tape tells
            adjoint = BY_TAPE
    if adjoint is BY_TAPE:
        run = taped(f, given, places, tables_of(rules))
        _check_number(f, run.value)
        return run.gradient()
    value, slopes = by_each(f, given, places, rules)
    _check_number(f, value)
    if mode == "auto" and are_mixed_up(value, slopes):
        return _gradient(f, given, places, rules, "reverse")
    return [shaped(s, given[i]) for s, i in zip(slopes, places, strict=True)]


def _check_number(f: Callable[..., Any], value: Any) -> None:
    is_whole = not is_structure(value)
    if not is_whole or np.ndim(value):
        what = "an array" if is_whole else a_or_an(type(value).__qualname__)
        raise NotDifferentiable(
            f"{name_of(f)} returns {what}, and a gradient needs a number",
            where=caller(),
            help=f"jacobian(f) is for functions that return {'arrays' if is_whole else 'tuples'}",
        )


def _check_one(f: Callable[..., Any], value: Any) -> None:
    if is_structure(value):
        raise NotDifferentiable(
            f"{name_of(f)} returns {a_or_an(type(value).__qualname__)}, and vjp needs one number "
            "or array",
            where=caller(),
            help="jacobian(f) is for functions that return tuples",
        )


@runs_alone
def jacobian(
    f: Callable[..., Any],
    *,
    active: Names = None,
    constant: Names = None,
    rules: Rules = (),
    mode: Mode = "auto",
) -> Callable[..., Any]:
    """The Jacobian, as a function, of a function.

    Parameters
    ----------
    f : callable
        A function of numbers and arrays whose result is a number, an array, or a tuple of these.
    active, constant : sequence of str or None
        As for ``gradient``.
    rules : MethodTable or sequence of MethodTable
        As for ``derivative``.
    mode : {"auto", "forward", "reverse"}
        As for ``gradient``; ``"auto"`` is reverse mode if there are at least eight numbers in the
        arguments for each number in the result.

    Returns
    -------
    callable
        A function of the arguments of ``f``. For a result and an argument the Jacobian is an
        array whose shape is that of the result followed by that of the argument; for a result
        that is a tuple, a tuple.

    Raises
    ------
    NotDifferentiable
        Raised by the Jacobian where ``f`` cannot be differentiated.

    Examples
    --------
    >>> import numpy as np
    >>> from overlay.interpretations.autodiff import jacobian
    >>> jacobian(lambda x: 3.0 * x)(np.array([1.0, 2.0]))
    array([[3., 0.],
           [0., 3.]])
    """

    _check_function(f, "jacobian")
    return OfArguments("Jacobian", _jacobian, f, active, constant, rules, mode)


def _jacobian(
    f: Callable[..., Any], given: Sequence[Any], places: Sequence[int], rules: Rules, mode: Mode
) -> list[Any]:
    tables = tables_of_program()
    adjoint = _adjoint(f, given, places, rules, tables, mode)
    if isinstance(adjoint, Adjoint) and (mode == "reverse" or is_small(adjoint, given, places)):
        try:
            return by_rows(f, adjoint, fresh(given), places, tables)
        except ArithmeticError:
            return taped(f, given, places, tables_of(rules)).jacobian()
    if adjoint is BY_TAPE and mode == "reverse":
        return taped(f, given, places, tables_of(rules)).jacobian()
    value, slopes = by_each(f, given, places, rules)
    if mode == "auto" and are_mixed_up(value, slopes):
        return _jacobian(f, given, places, rules, "reverse")
    return [both_shapes(s, given[i]) for s, i in zip(slopes, places, strict=True)]


@runs_alone
def hessian(
    f: Callable[..., Any],
    *,
    active: Names = None,
    constant: Names = None,
    rules: Rules = (),
    mode: Mode = "auto",
) -> Callable[..., Any]:
    """The Hessian, as a function, of a function that returns a number: the Jacobian, by forward
    mode, of its gradient.

    Parameters
    ----------
    f : callable
        A function of numbers and arrays whose result is a real number.
    active, constant : sequence of str or None
        As for ``gradient``.
    rules : MethodTable or sequence of MethodTable
        As for ``derivative``.
    mode : {"auto", "forward", "reverse"}
        The mode of the gradient.

    Returns
    -------
    callable
        A function of the arguments of ``f``. By one argument the Hessian is an array whose shape
        is that of the argument twice.

    Raises
    ------
    NotDifferentiable
        Raised by the Hessian where ``f`` cannot be differentiated twice.

    Examples
    --------
    >>> import numpy as np
    >>> from overlay.interpretations.autodiff import hessian
    >>> hessian(lambda x: x[0] * x[1])(np.array([1.0, 2.0]))
    array([[0., 1.],
           [1., 0.]])
    """

    _check_function(f, "hessian")
    return OfArguments("Hessian", _hessian, f, active, constant, rules, mode)


def _hessian(
    f: Callable[..., Any], given: Sequence[Any], places: Sequence[int], rules: Rules, mode: Mode
) -> list[Any]:
    @runs_alone
    def first(*inner: Any) -> Any:
        return one_or_all(gradient_at(f, inner, places, rules, mode))

    _, slopes = by_each(first, given, places, rules)
    return [both_shapes(s, given[i]) for s, i in zip(slopes, places, strict=True)]


def _derivative_of(lifter: Any, f: Any, mode: Any = None) -> MethodOf:
    """Lift ``gradient(f)`` and ``derivative(f)``."""
    return MethodOf(autodiff, f)


STRUCTURAL[gradient] = STRUCTURAL[derivative] = _derivative_of


@runs_alone
def adjoint(f: Callable[..., Any], *args: Any, rules: Rules = ()) -> Adjoint:
    """The adjoint of a function for arguments of these types and shapes, for inspection.

    Parameters
    ----------
    f : callable
        A function of numbers and arrays.
    *args
        Arguments of the types and shapes for which the adjoint is generated.
    rules : MethodTable or sequence of MethodTable
        As for ``derivative``.

    Returns
    -------
    Adjoint
        ``.source`` is its Python source; ``.function`` takes the arguments and the adjoint of
        each number or array in the result, and returns the adjoints of the arguments.

    Raises
    ------
    NotDifferentiable
        There is no adjoint.

    Examples
    --------
    >>> from overlay.interpretations.autodiff import adjoint
    >>> made = adjoint(lambda x, y: x * y, 2.0, 3.0)
    >>> made.function(2.0, 3.0, 10.0)
    (30.0, 20.0)
    """
    given = [as_active(f, x) for x in args]
    own = tables_of(rules)
    made = nonoverlay(reverse_of)(f, given, range(len(given)), own, (), "reverse")
    assert made is not None
    return made


def _adjoint(
    f: Callable[..., Any],
    args: Sequence[Any],
    places: Sequence[int],
    rules: Rules,
    tables: Sequence[MethodTable],
    mode: str,
) -> Any:
    """The adjoint of f if reverse mode is selected, BY_TAPE if it has none; else None."""
    own = tables_of(rules)
    if runs_alone_follow():
        return BY_TAPE if selects_reverse(args, places, own, tables, mode) else None
    # code that generates an adjoint is no part of the program
    try:
        made = nonoverlay(reverse_of)(f, args, places, own, tables, mode)
    except NotReversible:
        return BY_TAPE
    # an adjoint does not follow an exception that the run raises and the program handles
    return BY_TAPE if made is not None and made.is_guarded else made


def _is_number(result: Any) -> bool:
    kind = kind_of(result)
    return kind is not None and not kind.ndim
