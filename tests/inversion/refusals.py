"""A registry of refusals: for each site that makes an error, a program or call that reaches it, and
its remedy.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import Any

HERE = "# here"
"""The comment on the line that an error names."""


@dataclass
class Refusal:
    """The program or call that reaches one place that makes an error.

    Attributes
    ----------
    site
        The name of the place, as ``raise_sites`` has it.
    function
        The program that is inverted, or the call that is refused where there are no types.
    types
        Types of the program's arguments, or examples of them.
    remedied
        The program, or the call, with the remedy applied.
    arguments
        Arguments of the remedied program for which it is inverted; none of a call.
    inherent
        Why no remedy makes the function invertible; then there is none.
    """

    site: str
    function: Callable[..., Any]
    types: tuple[Any, ...] | None
    options: dict[str, Any]
    remedied: Callable[..., Any] | None = None
    arguments: tuple[Any, ...] | None = None
    more: dict[str, Any] | None = None
    inherent: str = ""

    def lines(self) -> set[str]:
        """``file:line`` of the marked lines of the function, and of functions that it names."""
        return set(_marked(self.function))


REFUSALS: dict[str, Refusal] = {}
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def refusal(site: str, *types: Any, inherent: str = "", **options: Any) -> Decorator:
    """Register a program that is refused. options: those of ``invert``."""

    def registered(function: Callable[..., Any]) -> Callable[..., Any]:
        assert site not in REFUSALS, f"{site} has two entries"
        REFUSALS[site] = Refusal(site, function, types, options, inherent=inherent)
        return function

    return registered


def refused_call(site: str, *, inherent: str = "") -> Decorator:
    """Register a call that is refused: a function without arguments that makes it."""

    def registered(function: Callable[..., Any]) -> Callable[..., Any]:
        assert site not in REFUSALS, f"{site} has two entries"
        REFUSALS[site] = Refusal(site, function, None, {}, inherent=inherent)
        return function

    return registered


def remedy(*arguments: Any, **more: Any) -> Decorator:
    """Register the last refused program again, with its remedy applied. It is inverted at these
    arguments, with these options; without arguments it is a call that succeeds.
    """

    def registered(function: Callable[..., Any]) -> Callable[..., Any]:
        last = next(reversed(REFUSALS.values()))
        assert last.remedied is None, f"{last.site} has two remedies"
        last.remedied, last.arguments, last.more = function, arguments or None, more
        return function

    return registered


def _marked(function: Any, seen: set[Any] | None = None) -> list[str]:
    seen = set[Any]() if seen is None else seen
    code = getattr(function, "__code__", function)
    if code in seen:
        return []
    seen.add(code)
    rows, first = inspect.getsourcelines(code)
    path = inspect.getsourcefile(code)
    found = [f"{path}:{first + i}" for i, row in enumerate(rows) if HERE in row]
    for name in _names(code) if isinstance(code, CodeType) else ():
        one = function.__globals__.get(name)
        one = one if isinstance(one, (FunctionType, type)) else type(one)
        if one.__module__ == function.__module__:
            found += _marked(one, seen)
    return found


def _names(code: CodeType) -> list[str]:
    inner = [name for held in code.co_consts if isinstance(held, CodeType) for name in _names(held)]
    return [*code.co_names, *inner]
