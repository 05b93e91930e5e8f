"""Collecting what a program prints."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from overlay import Context, MethodTable, call_next, nonoverlay
from overlay.core.location import caller

__all__ = ["Printed", "PrintedCall", "collect", "silenced"]


@dataclass(frozen=True)
class PrintedCall:
    """One call of ``print``: what it wrote, and ``file:line``."""

    text: str
    where: str | None


@dataclass(eq=False)
class Printed:
    """What a program gave, and what it printed meanwhile."""

    result: Any = None
    calls: list[PrintedCall] = field(default_factory=list[PrintedCall])

    @property
    def text(self) -> str:
        """All that was printed."""
        return "".join(call.text for call in self.calls)

    @property
    def lines(self) -> list[str]:
        """The same as lines."""
        return self.text.splitlines()


def collect(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Printed:
    """Run ``f(*args, **kwargs)`` and give its result with what it printed, which is not shown.

    Prints to a file of their own go there. What other threads print is shown as ever.
    """
    printed = Printed()
    keep = nonoverlay(_keep)

    def kept(*values: Any, **options: Any) -> Any:
        if _is_elsewhere(options):
            return call_next(*values, **options)
        return keep(printed, values, options)

    printed.result = _printing(kept)(f, *args, **kwargs)
    return printed


def silenced(f: Callable[..., Any], /) -> Callable[..., Any]:
    """f, that prints nothing to the screen; what is printed is computed all the same."""

    def dropped(*values: Any, **options: Any) -> Any:
        return call_next(*values, **options) if _is_elsewhere(options) else None

    return _printing(dropped).wrap(f)


def _printing(method: Callable[..., Any]) -> Context:
    table = MethodTable("prints")
    table.overlay(print)(method)
    return Context(table)


def _is_elsewhere(options: Any) -> Any:
    return not any(options.get("file") is shown for shown in (None, sys.stdout))


def _keep(printed: Printed, values: tuple[Any, ...], options: dict[str, Any]) -> None:
    buffer = io.StringIO()
    rest: Any = {name: value for name, value in options.items() if name != "file"}
    print(*values, file=buffer, **rest)
    printed.calls.append(PrintedCall(buffer.getvalue(), caller()))
