"""Errors for operations that produce a NaN."""

from __future__ import annotations

import reprlib
from typing import Any

from overlay import OverlayError

__all__ = ["FirstNaN", "MadeNaN"]


class FirstNaN(OverlayError):
    """An operation produced a NaN or an infinity that its arguments did not have.

    operation: its name. arguments: its arguments, or None in compiled code. result: its result.
    where: ``file:line``.
    """

    def __init__(
        self, operation: str, arguments: tuple[Any, ...] | None, result: Any, where: str | None
    ) -> None:
        shown = "..." if arguments is None else ", ".join(map(reprlib.repr, arguments))
        super().__init__(
            f"{operation}({shown}) made {reprlib.repr(result)}",
            where=where,
            help="check the values before this line, or NaNFinder(infinities=False) if "
            "infinities are meant",
        )
        self.operation = operation
        self.arguments = arguments
        self.result = result


class MadeNaN(ArithmeticError):
    """An operation in compiled code produced a NaN: its name, its place, and the result."""
