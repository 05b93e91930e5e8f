"""The errors of inversion."""

from __future__ import annotations

from overlay import OverlayError
from primitives.errors import NoSolution, OutsideDomain, WrongArguments

__all__ = ["MissingPackage", "NoSolution", "NotInvertible", "OutsideDomain", "WrongArguments"]


class NotInvertible(OverlayError):
    """A program cannot be solved for the unknown axes: no mode for a statement, with its line."""


class MissingPackage(OverlayError, ImportError):
    """A package is not installed that what was asked for needs."""


class NotWritable(OverlayError):
    """Something that an inverse needs cannot be written as Python, nor imported by a name."""
