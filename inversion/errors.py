"""The errors of inversion."""

from __future__ import annotations

from overlay import OverlayError
from primitives.errors import NoSolution, OutsideDomain, Refusal, WrongArguments

__all__ = ["MissingPackage", "NoSolution", "NotInvertible", "OutsideDomain", "WrongArguments"]


class NotInvertible(Refusal):
    """A program cannot be solved for the unknown axes: a statement, named by line, has no mode."""


class MissingPackage(OverlayError, ImportError):
    """A package is not installed that the call needs."""


class NotWritable(OverlayError):
    """An object that an inverse needs can neither be written as Python, nor imported by a name."""
