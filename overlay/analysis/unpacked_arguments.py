"""Abstract arguments of calls that unpack values of which the items are not known."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any

from overlay.analysis.abstract_values import TOP
from overlay.code.read_bodies import signature_of_code
from overlay.core.target import type_attribute

__all__ = ["REST", "any_arguments", "python_function"]


class Rest:
    """Abstract value of any number of further positional arguments."""

    def __repr__(self) -> str:
        return "any more"


REST = Rest()


def any_arguments(
    function: Callable[..., Any], items: Sequence[Any] | None
) -> tuple[Sequence[Any], Mapping[str, Any]] | None:
    """Arguments for a function of the program that stand for all that it can be given; None if its
    signature is not known. items: the first ones, if they are known."""
    found = python_function(function)
    if found is None:
        return None
    plain, bound = found
    parameters = list(signature_of_code(plain).parameters.values())[bound:]
    given = list(items or ())
    named: dict[str, Any] = {}
    places = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    given += [TOP] * (len(places) - len(given))
    for parameter in parameters:
        if parameter.kind is parameter.VAR_POSITIONAL:
            given.append(REST)
        elif parameter.kind is parameter.KEYWORD_ONLY:
            named[parameter.name] = TOP
    return given, named


def python_function(function: Any) -> tuple[FunctionType, int] | None:
    """The Python function that a call enters, and the number of arguments bound beforehand."""
    if type(function) is MethodType and type(function.__func__) is FunctionType:
        return function.__func__, 1
    if isinstance(function, type):
        new, init = type_attribute(function, "__new__"), type_attribute(function, "__init__")
        if type(new) is not BuiltinFunctionType:
            return None
        plain = type_attribute(type(function), "__call__") is type.__dict__["__call__"]
        return (init, 1) if plain and type(init) is FunctionType else None
    plain = getattr(function, "py_func", function)
    return (plain, 0) if type(plain) is FunctionType else None
