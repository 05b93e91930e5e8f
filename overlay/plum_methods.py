"""plum's generic functions and ours, resolved by plum on types, without a call."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import Any

from overlay.errors import AmbiguousMethod, MethodNotFound
from overlay.signature import NO_VARARGS, plum_signature, shown_hint
from overlay.target import generic_state

__all__ = ["is_function", "is_result", "methods_of", "resolved"]


def is_function(value: Any) -> bool:
    """Whether it is a generic function: plum's, or one that ``generic`` made."""
    plum = sys.modules.get("plum")
    return plum is not None and (
        issubclass(type(value), plum.Function) or generic_state(value) is not None
    )


def methods_of(function: Any) -> tuple[Any, ...]:
    """The methods that a generic function has by now; none for anything else."""
    if not is_function(function):
        return ()
    generic = generic_state(function)
    return tuple((function if generic is None else generic.plum_function).methods)


def resolved(function: Any, *readings: Sequence[Any]) -> tuple[Callable[..., Any], Any]:
    """plum's method, and the annotation of its result, for the first of these readings of the
    arguments' types that has one.

    Raises MethodNotFound and AmbiguousMethod.
    """
    from plum import AmbiguousLookupError, NotFoundLookupError

    generic = generic_state(function)
    function = function if generic is None else generic.plum_function
    for hints in readings:
        try:
            return function.resolve_method(plum_signature(hints, NO_VARARGS, 0))
        except NotFoundLookupError:
            continue
        except AmbiguousLookupError:
            raise AmbiguousMethod(
                f"{_call(function, hints)} has equally specific methods",
                notes=_nearest(function),
                help="add a method for exactly these types",
            ) from None
    raise MethodNotFound(
        f"{_call(function, readings[0])} has no method",
        notes=_nearest(function),
        help="add a method for these types, or convert the arguments",
    )


def is_result(hint: Any, annotation: Any) -> bool:
    """Whether plum returns a value that meets ``hint`` as it is, without conversion."""
    asked, declared = (plum_signature([h], NO_VARARGS, 0) for h in (hint, annotation))
    return asked <= declared


def _call(function: Any, hints: Sequence[Any]) -> str:
    return f"{function.__name__}({', '.join(map(shown_hint, hints))})"


def _nearest(function: Any) -> list[tuple[str, str]]:
    return [("candidate", str(method.signature)) for method in function.methods[:3]]
