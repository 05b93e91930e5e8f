"""Compilation of generated functions by numba, which is imported when the first is compiled; and
inference of return types.
"""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from inversion.errors import WrongArguments
from overlay import NotCompilable
from overlay.core.late_binding import LateBound
from overlay.core.location import caller
from overlay.core.short_repr import one_line

__all__ = ["jitted", "result_type"]


@LateBound
def _numba() -> SimpleNamespace:
    """The parts of numba that are used. Raises NotCompilable where it has no such parts."""
    import numba
    from numba.extending import as_numba_type

    try:
        from numba.core import errors
        from numba.core.dispatcher import OmittedArg
        from numba.core.registry import cpu_target
    except ImportError as error:
        raise NotCompilable(
            f"cannot compile with numba {numba.__version__}, whose internals are not known here",
            notes=[("numba", str(error))],
            help="install a version of numba that docs/versions.md names",
        ) from error
    return SimpleNamespace(
        NumbaError=errors.NumbaError,
        OmittedArg=OmittedArg,
        as_numba_type=as_numba_type,
        target=cpu_target,
        typeof=numba.typeof,
    )


def result_type(function: Any, kinds: tuple[Any, ...]) -> type | None:
    """The Python type that a function returns for argument types, inferred by numba; None if numba
    cannot infer it, or if it is not a number.
    """
    numba = _numba.load()
    context = numba.target.typing_context
    numba.target.target_context.refresh()  # it loads the types of more functions
    context.refresh()
    try:
        asked = tuple(numba.as_numba_type(kind) for kind in kinds)
        signature = context.resolve_function_type(context.resolve_value_type(function), asked, {})
        found = signature.return_type
    except (numba.NumbaError, AttributeError, KeyError, TypeError, ValueError):
        return None
    return next(
        (kind for kind in (float, int, bool, complex) if numba.as_numba_type(kind) == found), None
    )


def jitted(
    made: Any,
    example: tuple[Any, ...],
    name: str,
    where: str,
    fitted: Callable[[tuple[Any, ...]], tuple[Any, ...]] | None = None,
    missing: str = "give all arguments",
) -> Callable[..., Any]:
    """A dispatcher compiled for arguments of the types of ``example``. Raises NotCompilable.

    fitted: converts arguments of other types to these. If Python calls the dispatcher with
    arguments that do not fit even then, it raises WrongArguments. missing: the remedy if arguments
    are left out.
    """
    numba = _numba.load()
    kinds = tuple(numba.typeof(value) for value in example)

    def again(*args: Any, **kwargs: Any) -> Callable[..., Any]:
        """The code for these arguments if numba finds none: it drops the code when a function that
        it calls is rebound, and does not find it for a class that replaces a deleted one. The code
        is that compiled first.
        """
        if not kwargs and tuple(map(numba.typeof, args)) == kinds:
            return first.entry_point
        left_out = any(isinstance(arg, numba.OmittedArg) for arg in args)
        if not kwargs and fitted is not None and len(args) == len(kinds) and not left_out:
            better = fitted(args)
            if tuple(map(numba.typeof, better)) == kinds:
                return lambda *_: made(*better)
        given = [one_line(arg) for arg in args if not isinstance(arg, numba.OmittedArg)]
        raise WrongArguments(
            f"{name}, compiled, takes values of the types {', '.join(map(str, kinds))}; "
            f"{', '.join(given) or 'nothing'} {'were' if len(given) > 1 else 'was'} given",
            where=caller(),
            help=missing if left_out else "convert them",
        )

    try:
        while (first := made.overloads.get(kinds)) is None:  # a change may drop it at once
            made.compile(kinds)
    except numba.NumbaError as error:
        raise NotCompilable(
            f"numba cannot compile {name}: {str(error).strip().splitlines()[-1]}",
            where=where,
            help="calls run in the interpreter instead",
        ) from error
    made._compile_for_args = again  # called if no signature fits
    return made
