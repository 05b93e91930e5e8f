"""What is raised where a program makes a NaN."""

from __future__ import annotations

import reprlib
from typing import Any

from overlay import OverlayError

__all__ = ["FirstNaN", "MadeNaN"]


class FirstNaN(OverlayError):
    """A program made a NaN or an infinity of numbers that were none.

    operation: the name of what made it. arguments: what it was given, or None in compiled code.
    result: what it gave. where: ``file:line``.
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
    """The same in compiled code: the operation, its place, and what it gave."""
