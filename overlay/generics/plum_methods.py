"""plum's generic functions and ours, resolved by plum on types, without a call."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from types import MethodType
from typing import Any

from overlay.core.errors import AmbiguousMethod, MethodNotFound
from overlay.core.interpreted_values import has_underlying, underlying
from overlay.core.own_builtins import __builtins__
from overlay.core.signature import plum_signature, shown_hint
from overlay.core.target import generic_state, type_attribute

__all__ = [
    "chosen",
    "converted",
    "is_function",
    "is_plum_function",
    "is_result",
    "methods_of",
    "plum_function_below",
    "resolved",
]


def is_function(value: Any) -> bool:
    """Whether a value is a generic function: plum's, or one that ``generic`` made."""
    plum = sys.modules.get("plum")
    return plum is not None and (
        issubclass(type(value), plum.Function) or generic_state(value) is not None
    )


def is_plum_function(value: Any) -> bool:
    """Whether a value is a generic function of plum's own class, not of a subclass or ours."""
    plum = sys.modules.get("plum")
    return plum is not None and type(value) is plum.Function


def plum_function_below(method: MethodType) -> Any | None:
    """The generic function below ``obj.method`` where a class's method is a plum function."""
    inner = method.__func__
    if type(inner).__module__ != "plum._function" or type(inner).__name__ != "_BoundFunction":
        return None
    found = type_attribute(type(method.__self__), inner.__name__)
    return found if is_plum_function(found) else None


def methods_of(function: Any) -> tuple[Any, ...]:
    """The methods that a generic function has now; none for anything else."""
    if not is_function(function):
        return ()
    generic = generic_state(function)
    return tuple((function if generic is None else generic.plum_function).methods)


def chosen(function: Any, asked: Any, plain: Any = None) -> tuple[Callable[..., Any], Any]:
    """The method of a plum function, and the annotation of its result.

    asked: the arguments, or a signature of their types. plain: the same for the plain values that
    those of an interpretation represent, if there are any. The method for the plain values is
    taken where none accepts the arguments as they are, or only one that accepts both.

    Raises plum's errors.
    """
    from plum import NotFoundLookupError

    if plain is None:
        return function.resolve_method(asked)
    if isinstance(asked, tuple) and all(m.signature.is_faithful for m in function.methods):
        # by type: their __class__ may be that of the plain values that they represent
        asked = plum_signature(list(map(type, asked)))
    try:
        found = function.resolve_method(asked)
    except NotFoundLookupError:
        try:
            return function.resolve_method(plain)
        except NotFoundLookupError:
            pass
        raise
    if any(m.implementation is found[0] and _accepts(m.signature, plain) for m in function.methods):
        return function.resolve_method(plain)
    return found


def _accepts(signature: Any, asked: Any) -> bool:
    return signature.match(asked) if isinstance(asked, tuple) else asked <= signature


def resolved(
    function: Any, *readings: tuple[Sequence[Any], Sequence[Any] | None]
) -> tuple[Callable[..., Any], Any]:
    """plum's method, and the annotation of its result, for the first reading of a call that has
    one. A reading: the types of the arguments, and those of the plain values that they represent,
    or None where all are plain.

    Raises MethodNotFound and AmbiguousMethod.
    """
    from plum import AmbiguousLookupError, NotFoundLookupError

    generic = generic_state(function)
    function = function if generic is None else generic.plum_function
    for hints, plain in readings:
        asked = plum_signature(hints)
        below = None if plain is None else plum_signature(plain)
        try:
            return chosen(function, asked, below)
        except NotFoundLookupError:
            continue
        except AmbiguousLookupError:
            raise AmbiguousMethod(
                f"{_call(function, hints)} has equally specific methods",
                notes=_nearest(function),
                help="add a method for exactly these types",
            ) from None
    raise MethodNotFound(
        f"{_call(function, readings[0][0])} has no method",
        notes=_nearest(function),
        help="add a method for these types, or convert the arguments",
    )


def converted(result: Any, hint: Any) -> Any:
    """The result of a method, converted by plum to its return annotation. A value of an
    interpretation stays unchanged where the plain value that it represents would.
    """
    from plum import convert

    if has_underlying(result):
        plain = underlying(result)
        if convert(plain, hint) is plain:
            return result
    return convert(result, hint)


def is_result(hint: Any, annotation: Any) -> bool:
    """Whether plum returns a value that meets ``hint`` as it is, without conversion."""
    asked, declared = (plum_signature([h]) for h in (hint, annotation))
    return asked <= declared


def _call(function: Any, hints: Sequence[Any]) -> str:
    return f"{function.__name__}({', '.join(map(shown_hint, hints))})"


def _nearest(function: Any) -> list[tuple[str, str]]:
    return [("candidate", str(method.signature)) for method in function.methods[:3]]
