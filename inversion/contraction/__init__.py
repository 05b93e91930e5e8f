"""Interval contraction backwards through programs: what cannot be is known before it is tried."""

from inversion.contraction.programs import Box, Nothing, contracted, first_box, narrowed
from inversion.contraction.values import Values, around, every, inside, point

__all__ = [
    "Box",
    "Nothing",
    "Values",
    "around",
    "contracted",
    "every",
    "first_box",
    "inside",
    "narrowed",
    "point",
]
