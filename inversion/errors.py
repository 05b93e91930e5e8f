"""The errors of inversion."""

from __future__ import annotations

from overlay import OverlayError
from primitives.errors import NoSolution, OutsideDomain, Refusal, WrongArguments

__all__ = ["MissingPackage", "NoSolution", "NotInvertible", "OutsideDomain", "WrongArguments"]


class NotInvertible(Refusal):
    """A program cannot be solved for the unknown axes; the error names the statement and its line.

    Examples
    --------
    >>> from inversion import NotInvertible, invert
    >>> def area(width: float) -> float:
    ...     print(width)
    ...     return width * width
    >>> try:
    ...     invert(area)
    ... except NotInvertible as error:
    ...     print(error.asked)
    cannot solve a call of print(float): it has no relation
    """


class MissingPackage(OverlayError, ImportError):
    """An optional package that the call needs is not installed; the error says how to install it.

    It is also an ``ImportError``.
    """


class NotWritable(OverlayError):
    """An object that an inverse needs has neither Python source nor an importable name.

    ``Inverse.source`` and pickling raise it.
    """
