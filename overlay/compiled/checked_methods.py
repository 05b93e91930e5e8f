"""Methods of tables made with ``check=True``: what types tell is checked when code is compiled.

A call that fails the check raises CheckFailed where it is made, when the program runs.
"""

from __future__ import annotations

import typing
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numba import types

from overlay.compiled.dispatch_types import alternatives, hint_of, is_literal
from overlay.compiled.resolved_calls import GLUE
from overlay.core.checking import annotations_of
from overlay.core.errors import CheckFailed, NotCompilable
from overlay.core.location import location_of
from overlay.core.signature import NO_VARARGS, depends_on, plum_signature, shown_hint

if TYPE_CHECKING:
    from overlay.core.method import Method

__all__ = ["failing", "failure_of_arguments", "failure_of_result"]


def failure_of_arguments(
    method: Method, function: Any, args: Sequence[Any], kws: Mapping[str, Any]
) -> str | None:
    """What is wrong with arguments of these numba types, or None."""
    signature, hints = annotations_of(function, method)
    bound = signature.bind(*args, **kws).arguments
    for name, given in bound.items():
        several = signature.parameters[name].kind is signature.parameters[name].VAR_POSITIONAL
        for ty in given if several else (given,):
            if name in hints and isinstance(ty, types.Type):
                failed = _failure(method, function, f"argument {name!r}", ty, hints[name])
                if failed is not None:
                    return failed
    return None


def failure_of_result(method: Method, function: Any, returned: types.Type) -> str | None:
    """What is wrong with a result of this numba type, or None."""
    hint = annotations_of(function, method)[1].get("return", Any)
    return _failure(method, function, "the result", returned, hint)


def failing(run: Callable[..., Any], message: str, count: int, *, at_once: bool) -> Any:
    """A function for compiled code that raises CheckFailed: before or after it has called
    ``run`` with ``count`` arguments."""
    names = ", ".join(f"a{i}" for i in range(count))
    first = "fail()" if at_once else "pass"
    source = (
        f"def fail(): raise CheckFailed({message!r})\n"
        f"def checked({names}):\n    {first}\n    result = run({names})\n    fail()\n"
        "    return result\n"
    )
    namespace: dict[str, Any] = {"run": run, "CheckFailed": CheckFailed}
    exec(compile(source, GLUE, "exec"), namespace)
    return namespace["checked"]


def _failure(method: Method, function: Any, what: str, ty: Any, hint: Any) -> str | None:
    if hint is Any or (typing.get_origin(hint) is None and hint in (object, Any)):
        return None
    verdicts = {_meets(each, hint) for each in alternatives(ty)}
    if verdicts == {True}:
        return None
    if verdicts != {False} or (depends_on(hint) == "value" and _is_unknown(ty, hint)):
        raise NotCompilable(
            f"table {method.table.name!r} checks its methods, and whether {what} of {method!r} is "
            f"{shown_hint(hint)} is known only when the program runs",
            where=location_of(function),
            notes=[("compiled type", str(ty))],
            help="leave out check=True, or the annotation, for compiled code",
        )
    return (
        f"table {method.table.name!r}: {what} of {method!r} is not {shown_hint(hint)} but "
        f"{shown_hint(hint_of(ty))}"
    )


def _is_unknown(ty: types.Type, hint: Any) -> bool:
    """Whether the value decides, and is not known: ``Literal`` in an annotation."""
    return "Literal" in str(hint) and not is_literal(ty)


def _meets(ty: types.Type, hint: Any) -> bool:
    wanted = plum_signature([hint], NO_VARARGS, 0)
    literal = is_literal(ty)
    readings = [_whole(ty, numpy=n, literal=v) for n in (False, True) for v in {False, literal}]
    return any(plum_signature([given], NO_VARARGS, 0) <= wanted for given in readings)


def _whole(ty: types.Type, *, numpy: bool, literal: bool) -> Any:
    """The annotation that a value meets, with the types of a container's elements."""

    def inner(element: Any) -> Any:
        return _whole(element, numpy=numpy, literal=False)

    if isinstance(ty, types.List):
        return list[inner(ty.dtype)]
    if isinstance(ty, types.Set):
        return set[inner(ty.dtype)]
    if isinstance(ty, types.DictType) and not numpy:
        return dict[inner(ty.key_type), inner(ty.value_type)]
    return hint_of(ty, numpy=numpy, literal=literal)
