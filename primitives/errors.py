"""The errors of relations and of the inverses made from them."""

from __future__ import annotations

from typing import Any

from overlay import OverlayError

__all__ = ["BrokenLaw", "NoSolution", "OutsideDomain", "WrongArguments"]


class NoSolution(OverlayError):
    """No argument leads to this value with these parameters; says where the domain was left.

    best: the closest solution found, where a search for the nearest ran out of time.

    A solver of a relation raises it with one constant string, the reason: numba compiles that.
    """

    best: Any = None


class BrokenLaw(OverlayError, AssertionError):
    """A mode of a relation gives an answer that is not one, or misses one."""


class WrongArguments(OverlayError, TypeError):
    """A call does not fit: a wrong number of values or parameters, or names that do not exist."""


class OutsideDomain(OverlayError, ValueError):
    """A parameter or a value lies outside the domain declared for it."""
