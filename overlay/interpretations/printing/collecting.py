"""Collects the output of a program."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from overlay import Context, MethodTable, call_next, nonoverlay
from overlay.contexts.rules_alone import in_program, runs_alone
from overlay.core.location import caller
from overlay.core.markup import element, listed, place, sheet
from overlay.core.short_repr import counted, short_repr

__all__ = ["Printed", "PrintedCall", "collect", "silenced"]


@dataclass(frozen=True)
class PrintedCall:
    """One call of ``print``.

    Attributes
    ----------
    text : str
        Its text, with the end.
    where : str or None
        ``file:line`` of the call.

    Examples
    --------
    >>> from overlay.interpretations.printing import collect
    >>> (call,) = collect(lambda: print("hello")).calls
    >>> call.text.strip()
    'hello'
    """

    text: str
    where: str | None

    def __repr__(self) -> str:
        return short_repr("PrintedCall", repr(self.text), self.where)


@dataclass(eq=False)
class Printed:
    """The result of a program and its calls of ``print``.

    Attributes
    ----------
    result : object
        The result of the program.
    calls : list of PrintedCall
        The calls, in their order.

    Examples
    --------
    >>> from overlay.interpretations.printing import collect
    >>> found = collect(lambda: print("hello") or 5)
    >>> found.result, found.lines
    (5, ['hello'])
    """

    result: Any = None
    calls: list[PrintedCall] = field(default_factory=list[PrintedCall])

    def __repr__(self) -> str:
        lines = counted(len(self.lines), "line")
        return short_repr("Printed", f"{counted(len(self.calls), 'call')}, {lines}")

    def _repr_html_(self) -> str:
        calls = listed(
            ("where", "text"),
            self.calls,
            lambda call: (place(call.where or "?"), element("pre", call.text)),
        )
        return sheet("printed", "", counted(len(self.calls), "call"), calls)

    @property
    def text(self) -> str:
        """The whole output."""
        return "".join(call.text for call in self.calls)

    @property
    def lines(self) -> list[str]:
        """The output as lines."""
        return self.text.splitlines()


@runs_alone
def collect(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Printed:
    """Run a function and collect its output, which is not shown.

    Prints to a file other than ``sys.stdout`` go there. Output of other threads is shown.

    Parameters
    ----------
    f : callable
        The function to run.
    *args, **kwargs
        Its arguments.

    Returns
    -------
    Printed
        Its result and its output.

    Examples
    --------
    >>> from overlay.interpretations.printing import collect
    >>> collect(lambda name: print("hello", name), "Ada").lines
    ['hello Ada']
    """
    printed = Printed()
    keep = nonoverlay(_keep)

    def kept(*values: Any, **options: Any) -> Any:
        if _is_elsewhere(options):
            return call_next(*values, **options)
        return keep(printed, values, options)

    printed.result = in_program(_printing(kept), f, *args, **kwargs)
    return printed


@runs_alone
def silenced(f: Callable[..., Any], /) -> Callable[..., Any]:
    """A function without output to the screen; the arguments of ``print`` are still computed.

    Parameters
    ----------
    f : callable
        The function.

    Returns
    -------
    callable
        ``f`` without output.

    Examples
    --------
    >>> from overlay.interpretations.printing import silenced
    >>> silenced(lambda: print("hello") or 5)()
    5
    """

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
