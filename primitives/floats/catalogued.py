"""The modules with relations of the catalogue's functions, and spellings of these functions."""

from __future__ import annotations

from overlay.catalogue import FUNCTIONS
from primitives.floats import exponential, gamma, hyperbolic, special, trigonometric

__all__ = ["ELEMENTARY", "SPECIAL", "SPELLINGS"]

ELEMENTARY = (exponential, trigonometric, hyperbolic)
SPECIAL = (special, gamma)
SPELLINGS = tuple((f.function, spelling) for f in FUNCTIONS for spelling in f.numpy)
"""Each function of ``math`` with an equivalent one of numpy."""
