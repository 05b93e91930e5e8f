"""Errors of overlay: each names the request, its place, the nearest match and a remedy."""

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
    "closest",
    "near_names",
    "reduced",
]

LONGEST = 1000
"""The most characters of a request that an error shows; its attribute ``asked`` has all."""


def near_names(
    name: str, others: Iterable[Any], *, most: int = 3, cutoff: float = 0.65
) -> tuple[str, ...]:
    """The other names that are spelled almost like this one, the most similar first; none if no
    name is near.
    """
    import difflib  # for errors alone

    names = sorted({each for each in others if isinstance(each, str) and each != name})
    return tuple(difflib.get_close_matches(name, names, most, cutoff))


def closest(near: Iterable[str]) -> list[tuple[str, str]]:
    """The note of an error that gives the nearest names, if there are any."""
    shown = ", ".join(near)
    return [("closest", shown)] if shown else []


def reduced(self: BaseException) -> Any:
    """Reduction of an error for ``pickle``: its arguments and attributes, whatever parameters its
    class has.
    """
    return _restored, (type(self), self.args), self.__dict__


def _restored(kind: type[BaseException], args: tuple[Any, ...]) -> BaseException:
    """An error as unpickling makes it, before its attributes are set."""
    return kind.__new__(kind, *args)


class OverlayError(Exception):
    """Base class of the errors that overlay, primitives and inversion raise.

    The parameters are attributes of the error.
    Parameters
    ----------
    asked : str
        One line with the request and the reason why it cannot be met.
    where : str or None
        ``file:line`` of the request, or None if unknown.
    notes : iterable of (str, str)
        ``(label, text)`` lines, such as ``("closest", "sin(float)   model.py:5")``.
    help : str or None
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
        asked = self.asked
        if len(asked) > LONGEST:  # the representation of an object of the program may be in it
            left_out = len(asked) - LONGEST
            first, last = asked[: LONGEST // 2], asked[-LONGEST // 2 :]
            asked = f"{first} ... [{left_out} characters are left out] ... {last}"
        head = asked if self.where is None else f"{asked}   [{self.where}]"
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

    Examples
    --------
    >>> import math
    >>> from overlay import Context, MethodTable
    >>> table = MethodTable("checked", check=True)
    >>> @table.overlay(math.sqrt)
    ... def sqrt(x: float) -> float:
    ...     return "a root"
    >>> Context(table)(math.sqrt, 4.0)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    overlay.core.errors.CheckFailed: the result of sqrt is not a float
    """


class OverlayWarning(UserWarning):
    """Base class of overlay's warnings: a request is met only in part, and the message says what
    is left out.

    Examples
    --------
    >>> import warnings
    >>> from overlay import OverlayWarning
    >>> warnings.simplefilter("error", OverlayWarning)  # stop where one would be issued
    >>> warnings.simplefilter("default", OverlayWarning)
    """


class CacheWarning(OverlayWarning):
    """Compiled code could not be read from the disk cache or written to it.

    The program continues with freshly compiled code. The message gives the cause and the remedy.

    Examples
    --------
    >>> import warnings
    >>> from overlay import CacheWarning
    >>> warnings.simplefilter("ignore", CacheWarning)  # in a sandbox without a home folder
    >>> warnings.simplefilter("default", CacheWarning)
    """


class NotCompilable(OverlayError):
    """The compiled engine does not support a request, such as a call of ``ctx.jit(f)`` with
    values for which numba has no type.

    Examples
    --------
    >>> from overlay import Context
    >>> Context().jit(lambda x: x + 1)(object())  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    overlay.core.errors.NotCompilable: numba has no type for object
    """


class UnsupportedPython(OverlayError):
    """The Python engine does not work on the running Python: its version is not supported, or the
    part of overlay that is in C was not built for it.
    """
