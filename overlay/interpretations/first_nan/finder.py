"""Runs programs until an operation produces a NaN."""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import FunctionType, TracebackType
from typing import Any

import numpy as np

from overlay import Context, Method, MethodTable, OverlayWarning, call_next, nonoverlay
from overlay.contexts.rules_alone import in_program, runs_alone
from overlay.core.jitted import is_dispatcher
from overlay.core.location import PACKAGES, caller, is_ours, name_of
from overlay.core.markup import code, facts, place, sheet
from overlay.core.public_names import hides
from overlay.core.short_repr import short_repr
from overlay.core.target import describe
from overlay.interpretations.first_nan.errors import FirstNaN
from overlay.interpretations.first_nan.in_compiled_code import ChecksFloats, unchecked
from overlay.interpretations.first_nan.nan_values import NAN, flags_of, is_made

__all__ = ["NaNFinder", "first_nan"]

# The results of their C functions are checked, except of those that create arrays.
_PACKAGES = ("math", "cmath", "numpy", "scipy")
_BUILTINS = (sum, pow, divmod)
# functions that take numbers one by one, also from iterators
_OF_ITEMS = (sum, math.fsum, math.prod, math.dist, getattr(math, "sumprod", sum))
_KERNELS = "numba.np.ufunc."
_MAKERS = (np.empty, np.empty_like, np.ndarray, float, complex)
_NAMES = ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul")
_OPERATORS = [getattr(operator, f"{i}{name}") for name in _NAMES for i in ("", "i")]


@hides("noting")
class NaNFinder:
    """Finds the operation that produces the first NaN or infinity of a run.

    ``finder(f, ...)`` runs ``f`` and returns its result, or raises FirstNaN, whose traceback ends
    at the line. ``finder.jit(f)`` is ``f`` compiled with these checks.

    Parameters
    ----------
    infinities : bool
        Whether infinities count, too.

    Attributes
    ----------
    context : Context
        The context of interpreted runs.
    found : FirstNaN or None
        The error of the last run.

    Examples
    --------
    >>> from overlay.interpretations.first_nan import NaNFinder
    >>> NaNFinder(infinities=False)(lambda x: x * x, 1e200)
    inf
    """

    @runs_alone
    def __init__(self, *, infinities: bool = True) -> None:
        self.infinities = infinities
        self.found: FirstNaN | None = None
        self.context = Context(_watched_operators(self), plugins=(_Watches(self),))

    def __repr__(self) -> str:
        found = "found nothing" if self.found is None else f"found {self.found.asked}"
        return short_repr("NaNFinder", f"of NaN{' and infinities' * self.infinities}: {found}")

    def _repr_html_(self) -> str:
        found = self.found
        if found is None:
            return sheet("finder of NaN", "", "found nothing")
        where = None if found.where is None else place(found.where)
        given = facts(("made by", code(found.asked)), ("where", where), ("help", found.help))
        return sheet("finder of NaN", "", None, given)

    @runs_alone
    def __call__(self, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Run a function with checks.

        If ``f`` catches the error and continues, it is raised at the end. A result with a NaN
        that no checked operation produced is returned with a warning.

        Parameters
        ----------
        f : callable
            The function to run.
        *args, **kwargs
            Its arguments.

        Returns
        -------
        object
            Its result.

        Raises
        ------
        FirstNaN
            An operation produced a NaN or an infinity.
        """
        self.found = None
        try:
            with np.errstate(all="ignore"):
                result = in_program(self.context, f, *args, **kwargs)
        except FirstNaN as error:
            raise _shortened(error) from None
        if self.found is not None:
            raise _shortened(self.found)
        nonoverlay(self._warn_of)(f, result, (*args, *kwargs.values()))
        return result

    def _warn_of(self, f: Any, result: Any, args: tuple[Any, ...]) -> None:
        """Warn where a result is not finite and no checked operation produced the value."""
        made, given = flags_of((result,)), flags_of(args)
        if made and is_made(made, given, self.infinities):
            warnings.warn(
                f"{name_of(f)} gives {'a NaN' if made & NAN else 'an infinity'}, and none of the "
                "checked operations produced one: it is a constant, was read from elsewhere, or "
                "was written into an array by C code\n"
                "  help: inspect the intermediate values with overlay.interpretations.tracing",
                OverlayWarning,
                skip_file_prefixes=PACKAGES,
            )

    def jit(self, f: Callable[..., Any], /, **options: Any) -> Callable[..., Any]:
        """Compile a function with checks that raise FirstNaN.

        Parameters
        ----------
        f : callable
            The function to compile.
        **options
            As for ``ctx.jit``.

        Returns
        -------
        callable
            The compiled function.
        """
        return Context(plugins=(ChecksFloats(self.infinities),)).jit(f, **options)

    def noting(self, run: Callable[..., Any]) -> Callable[..., Any]:
        """Compiled code with checks, whose errors are stored: the program may catch them."""

        def noted(*args: Any, **kwargs: Any) -> Any:
            try:
                return run(*args, **kwargs)
            except FirstNaN as error:
                self.found = self.found or error
                raise

        return noted

    def check(self, operation: Any, arguments: tuple[Any, ...], result: Any) -> None:
        """Raise FirstNaN if an operation produced a result that is not finite.

        Parameters
        ----------
        operation : callable
            The operation.
        arguments : tuple
            Its arguments, as they were before the operation.
        result : object
            Its result.

        Raises
        ------
        FirstNaN
            The result has a NaN or an infinity that the arguments do not have.
        """
        made = flags_of((result,))
        if made and is_made(made, flags_of(arguments), self.infinities):
            error = FirstNaN(describe(operation), arguments, result, caller())
            self.found = self.found or error
            raise error


def first_nan(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Run a function, and stop at the line that produces a NaN or an infinity.

    Parameters
    ----------
    f : callable
        The function to run.
    *args, **kwargs
        Its arguments.

    Returns
    -------
    object
        Its result.

    Raises
    ------
    FirstNaN
        An operation produced a NaN or an infinity; the error has the operands.

    Examples
    --------
    >>> from overlay.interpretations.first_nan import first_nan
    >>> first_nan(lambda x: x * x, 2.0)
    4.0
    """
    return NaNFinder()(f, *args, **kwargs)


class _Watches(ChecksFloats):
    """Checks the results of C functions; and the operations in functions compiled by numba, which
    it takes part in compiling."""

    def __init__(self, finder: NaNFinder) -> None:
        super().__init__(finder.infinities)
        self.finder = finder

    def around(self, callee: Any, run: Callable[..., Any]) -> Callable[..., Any] | None:
        if _has_checks(callee):
            return self.finder.noting(run)
        if not _is_numeric(callee):
            return None
        check = self.finder.check

        def checked(*args: Any, **kwargs: Any) -> Any:
            if any(callee is function for function in _OF_ITEMS):
                args = tuple(map(_items, args))
            given = _before(callee, args, kwargs)
            result = run(*args, **kwargs)
            check(callee, given, result)
            return result

        return checked


def _has_checks(callee: Any) -> bool:
    """Whether a callee runs code compiled by numba, which has checks inside: a function, or the
    call of a kernel, which is a method in Python."""
    return is_dispatcher(callee) or str(getattr(callee, "__module__", "")).startswith(_KERNELS)


def _is_numeric(callee: Any) -> bool:
    """Whether a callee is a C function or method of numbers and arrays."""
    if (
        isinstance(callee, FunctionType)
        or is_dispatcher(callee)
        or any(callee is maker for maker in _MAKERS)
    ):
        return False
    if any(callee is function for function in _BUILTINS):
        return True
    holder: Any = getattr(callee, "__objclass__", callee)
    module = getattr(holder, "__module__", None) or type(holder).__module__
    return str(module).partition(".")[0] in _PACKAGES


def _items(argument: Any) -> Any:
    """The items of an iterator as a list, so that they can be checked and passed on."""
    return list(argument) if isinstance(argument, Iterator) else argument


def _before(callee: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
    """The arguments as they are before the call; arrays that it writes to are copied."""
    written = (*args[getattr(callee, "nin", len(args)) :], kwargs.get("out"))
    if all(out is None for out in written):
        return (*args, *kwargs.values())
    outs = [one for out in written for one in (out if isinstance(out, tuple) else (out,))]
    return tuple(_copied(value, outs) for value in (*args, *kwargs.values()))


def _copied(value: Any, outs: Sequence[Any]) -> Any:
    shared = isinstance(value, np.ndarray) and any(
        isinstance(out, np.ndarray) and np.may_share_memory(value, out) for out in outs
    )
    return value.copy() if shared else value


class _Operators(MethodTable):
    """A table of operators with checks, for interpreted code: a plugin checks compiled code."""

    def chosen_compiled(
        self, method: Method, after: tuple[Method, ...], tables: Sequence[MethodTable]
    ) -> Callable[..., Any]:
        return unchecked


def _watched_operators(finder: NaNFinder) -> MethodTable:
    table = _Operators("first NaN", faithful=True)
    for target in _OPERATORS:
        in_place = target.__name__.startswith("i")
        table.overlay(target)(_operation(finder, target, in_place))
    return table


def _operation(finder: NaNFinder, target: Any, in_place: bool) -> Callable[..., Any]:
    check, copied = nonoverlay(finder.check), nonoverlay(_copied)

    def operate(a: Any, b: Any) -> Any:
        result = call_next(a, b)
        check(target, (a, b), result)
        return result

    def operate_in_place(a: Any, b: Any) -> Any:
        given = copied(a, (a,)), copied(b, (a,))
        result = call_next(a, b)
        check(target, given, result)
        return result

    return operate_in_place if in_place else operate


def _shortened(error: FirstNaN) -> FirstNaN:
    """The error with its traceback cut off at the program's line."""
    last: TracebackType | None = None
    step = error.__traceback__
    while step is not None:
        path = step.tb_frame.f_code.co_filename
        if path != __file__ and not is_ours(path):
            last = step
        step = step.tb_next
    if last is not None:
        last.tb_next = None
    return error
