"""The errors of overlay: each says what was asked, where, what is nearest, and a remedy."""

from __future__ import annotations

from collections.abc import Iterable

from overlay.core.own_builtins import __builtins__  # noqa: F401

__all__ = [
    "AmbiguousMethod",
    "CacheWarning",
    "CheckFailed",
    "MethodNotFound",
    "NotCompilable",
    "OverlayError",
    "OverlayWarning",
    "UnsupportedPython",
]


class OverlayError(Exception):
    """Base of every error that overlay, primitives and inversion raise on purpose.

    asked: one line saying what was asked and why it cannot be had.
    where: ``file:line`` of the place that asked, where one is known.
    notes: ``(label, text)`` lines, such as ``("closest", "sin(float)   model.py:5")``.
    help: what to do about it.
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

    def __str__(self) -> str:
        head = self.asked if self.where is None else f"{self.asked}   [{self.where}]"
        rows = (*self.notes, ("help", self.help)) if self.help else self.notes
        return "\n".join([head, *(f"  {label}: {text}" for label, text in rows)])


class MethodNotFound(OverlayError):
    """No method accepts the arguments of a call, and there is no base to fall back to."""


class AmbiguousMethod(OverlayError):
    """Two methods accept the arguments of a call and neither is more specific."""


class CheckFailed(OverlayError):
    """An argument or the result of a method is not what its annotation says, in a table made
    with ``check=True``."""


class OverlayWarning(UserWarning):
    """Something was asked that is done in part only; the message says what is left out."""


class CacheWarning(OverlayWarning):
    """Compiled code could not be read from disk, or is not kept there; the program goes on with
    code compiled now. The message says what stands in the way, and what to do."""


class NotCompilable(OverlayError):
    """The compiled engine cannot do what was asked."""


class UnsupportedPython(OverlayError):
    """The Python engine has no emitter for the running Python version."""
