"""Checks of arguments and results against annotations, for tables made with ``check=True``."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from overlay.core.errors import CheckFailed, OverlayError
from overlay.core.location import location_of, name_of
from overlay.core.own_builtins import __builtins__
from overlay.core.signature import refusal, shown_hint, translate

if TYPE_CHECKING:
    from overlay.core.method import Method

__all__ = ["annotations_of", "checked"]

_CONTAINER = {inspect.Parameter.VAR_POSITIONAL: tuple, inspect.Parameter.VAR_KEYWORD: dict}


def checked(run: Callable[..., Any], function: Callable[..., Any], method: Method) -> Any:
    """``run`` with its arguments and its result checked at every call.

    run: an engine's form of ``function``. Containers are checked element by element.
    Raises CheckFailed from the call, and OverlayError at once where ``function`` has no
    signature to check.
    """
    signature, hints = annotations_of(function, method)
    result = hints.pop("return", Any)

    def check_arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        bound = signature.bind(*args, **kwargs).arguments if hints else {}
        for name, value in bound.items():
            if name in hints:
                _check_argument(signature.parameters[name], value, hints[name], method, function)

    def check_result(returned: Any) -> Any:
        if result is not Any:
            _check(returned, result, "the result", method, function)
        return returned

    def check(*args: Any, **kwargs: Any) -> Any:
        check_arguments(args, kwargs)
        return check_result(run(*args, **kwargs))

    async def check_awaited(*args: Any, **kwargs: Any) -> Any:
        check_arguments(args, kwargs)
        return check_result(await run(*args, **kwargs))

    return check_awaited if inspect.iscoroutinefunction(function) else check


def annotations_of(
    function: Callable[..., Any], method: Method
) -> tuple[inspect.Signature, dict[str, Any]]:
    """The signature of an implementation, and its annotations as dispatch interprets them."""
    import typing

    python = getattr(function, "py_func", function)
    try:
        signature = inspect.signature(python)
        hints = typing.get_type_hints(inspect.unwrap(python), include_extras=True)
    except (TypeError, ValueError, NameError) as error:
        raise OverlayError(
            f"table {method.table.name!r} checks its methods, and {name_of(function)} has no "
            f"annotations to check: {error}",
            where=location_of(function),
            help="give a Python function whose parameters are annotated, or leave out check=True",
        ) from error
    return signature, {name: _meaning(hint, function) for name, hint in hints.items()}


def _meaning(hint: Any, function: Callable[..., Any]) -> Any:
    """An annotation as dispatch interprets it, or unchanged where dispatch refuses it."""
    try:
        return translate(hint, refusal(function, function))
    except OverlayError:
        return hint


def _check_argument(
    parameter: inspect.Parameter,
    value: Any,
    hint: Any,
    method: Method,
    function: Callable[..., Any],
) -> None:
    container = _CONTAINER.get(parameter.kind)
    if container is None:
        _check(value, hint, f"argument {parameter.name!r}", method, function)
        return
    items: Mapping[Any, Any] = value if container is dict else dict(enumerate(value))
    for key, item in items.items():
        _check(item, hint, f"argument {parameter.name}[{key!r}]", method, function)


def _check(value: Any, hint: Any, what: str, method: Method, function: Callable[..., Any]) -> None:
    from typeguard import CollectionCheckStrategy, TypeCheckError, check_type

    try:
        check_type(value, hint, collection_check_strategy=CollectionCheckStrategy.ALL_ITEMS)
    except TypeCheckError as error:
        raise CheckFailed(
            f"table {method.table.name!r}: {what} of {method} {error}",
            where=location_of(function),
            notes=[("annotation", shown_hint(hint)), ("given", type(value).__qualname__)],
            help="correct the method or its annotation; the table was made with check=True",
        ) from error
