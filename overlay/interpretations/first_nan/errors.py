"""Errors for operations that produce a NaN."""

from __future__ import annotations

from typing import Any

from overlay import OverlayError
from overlay.core.short_repr import one_line

__all__ = ["FirstNaN"]


class FirstNaN(OverlayError):
    """An operation produced a NaN or an infinity that its arguments did not have.

    Attributes
    ----------
    operation : str
        The name of the operation.
    arguments : tuple or None
        Its arguments; None in compiled code.
    result : object
        Its result.
    where : str
        ``file:line``.

    Examples
    --------
    >>> from overlay.interpretations.first_nan import first_nan
    >>> first_nan(lambda x: x * x, 1e200)  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    overlay.interpretations.first_nan.errors.FirstNaN: mul(1e+200, 1e+200) made inf
    """

    def __init__(
        self, operation: str, arguments: tuple[Any, ...] | None, result: Any, where: str | None
    ) -> None:
        shown = "..." if arguments is None else ", ".join(map(one_line, arguments))
        super().__init__(
            f"{operation}({shown}) made {one_line(result)}",
            where=where,
            help="check the values before this line, or NaNFinder(infinities=False) if "
            "infinities are meant",
        )
        self.operation = operation
        self.arguments = arguments
        self.result = result
