"""Context managers that ``contextlib.contextmanager`` makes of generator functions."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Generator
from types import FunctionType
from typing import TYPE_CHECKING, Any

from overlay.analysis.abstract_values import KnownValue
from overlay.analysis.kind_functions import Kinds
from overlay.code import marks
from overlay.code.body import Apply
from overlay.code.read_bodies import body_of
from overlay.core.errors import NotCompilable

if TYPE_CHECKING:
    from overlay.analysis.object_contents import ObjectContents

__all__ = ["function_of_manager", "generator_function", "manager_made", "passes_exceptions"]


@contextlib.contextmanager
def _sample() -> Generator[None]:
    yield


_MAKER: Any = _sample
_CLASS: type = type(_sample())


def generator_function(function: Any) -> FunctionType | None:
    """The generator function of which a function makes context managers; None for others."""
    if type(function) is not FunctionType or function.__code__ is not _MAKER.__code__:
        return None
    held: Any = function.__closure__
    found = held[0].cell_contents if held else None
    is_known = type(found) is FunctionType and inspect.isgeneratorfunction(found)
    return found if is_known else None


def manager_made(contents: ObjectContents, function: FunctionType, generator: Any) -> Any:
    """The context manager of a generator that a function has made."""
    sites = frozenset({(("manager", id(function)), _CLASS)})
    contents.write(sites, ".gen", generator)
    contents.write(sites, ".func", KnownValue(function))
    return Kinds(frozenset({_CLASS}), sites)


def function_of_manager(contents: ObjectContents, value: Any) -> FunctionType | None:
    """The generator function of a context manager, if it is known."""
    if not isinstance(value, Kinds) or value.types != frozenset({_CLASS}):
        return None
    found = contents.read(value.sites, ".func")
    is_function = isinstance(found, KnownValue) and type(found.value) is FunctionType
    return found.value if is_function else None


def passes_exceptions(function: FunctionType) -> bool:
    """Whether a generator function catches no exception where it yields."""
    try:
        body = body_of(function)
    except NotCompilable:
        return False
    return not any(
        block.catches
        for block in body.blocks.values()
        for step in block.statements
        if isinstance(step, Apply) and step.function is marks.give
    )
