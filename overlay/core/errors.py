"""The errors of overlay: each names the request, its place, the nearest match and a remedy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from overlay.core.own_builtins import __builtins__

__all__ = [
    "AmbiguousMethod",
    "CacheWarning",
    "CheckFailed",
    "MethodNotFound",
    "NotCompilable",
    "OverlayError",
    "OverlayWarning",
    "UnsupportedPython",
    "reduced",
]


def reduced(self: BaseException) -> Any:
    """The parts of an error that pickling keeps: its arguments and attributes, whatever its class
    takes."""
    return _restored, (type(self), self.args), self.__dict__


def _restored(kind: type[BaseException], args: tuple[Any, ...]) -> BaseException:
    """An error as unpickling makes it, which then sets its attributes."""
    return kind.__new__(kind, *args)


class OverlayError(Exception):
    """Base class of the errors that overlay, primitives and inversion raise.

    Attributes
    ----------
    asked
        One line with the request and the reason why it cannot be met.
    where
        ``file:line`` of the request, or None if unknown.
    notes
        ``(label, text)`` lines, such as ``("closest", "sin(float)   model.py:5")``.
    help
        The remedy, or None.

    Examples
    --------
    >>> print(OverlayError("cannot overlay 3", help="target a function"))
    cannot overlay 3
      help: target a function
    """

    def __init__(
        self,
        asked: str,
        *,
        where: str | None = None,
        notes: Iterable[tuple[str, str]] = (),
        help: str | None = None,
    ) -> None:
        self.asked = asked
        self.where = where
        self.notes = tuple(notes)
        self.help = help
        super().__init__(asked)

    __reduce__ = reduced

    def __str__(self) -> str:
        head = self.asked if self.where is None else f"{self.asked}   [{self.where}]"
        rows = (*self.notes, ("help", self.help)) if self.help else self.notes
        return "\n".join([head, *(f"  {label}: {text}" for label, text in rows)])


class MethodNotFound(OverlayError):
    """No method accepts the arguments of a call, and there is no base to fall back to.

    Examples
    --------
    >>> from overlay import generic
    >>> @generic
    ... def area(shape): ...
    >>> area("square")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    overlay.core.errors.MethodNotFound: generic function area has no method area(str)
    """


class AmbiguousMethod(OverlayError):
    """Two methods accept the arguments of a call, and neither is more specific.

    Examples
    --------
    >>> from overlay import Context, MethodTable, generic
    >>> @generic
    ... def area(width, height): ...
    >>> table = MethodTable("areas")
    >>> @table.overlay(area)
    ... def first(width: float, height): ...
    >>> @table.overlay(area)
    ... def second(width, height: float): ...
    >>> Context(table)(area, 1.0, 2.0)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    overlay.core.errors.AmbiguousMethod: table 'areas' has 2 equally specific methods
    """


class CheckFailed(OverlayError):
    """An argument or the result of a method does not match its annotation, in a table made with
    ``check=True``.
    """


class OverlayWarning(UserWarning):
    """A request is met only in part; the message says what is left out."""


class CacheWarning(OverlayWarning):
    """Compiled code could not be read from the disk cache or written to it; the program continues
    with freshly compiled code. The message gives the cause and the remedy.
    """


class NotCompilable(OverlayError):
    """The compiled engine does not support a request."""


class UnsupportedPython(OverlayError):
    """The Python engine has no emitter for the running Python version."""
