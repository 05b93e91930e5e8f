"""Value tagging: values carry metadata through a program that is unaware of it."""

from overlay.interpretations.tagging.errors import NotTaggable
from overlay.interpretations.tagging.provenance import Condition, Origin, Provenance, provenance
from overlay.interpretations.tagging.tags import Tagging, union

__all__ = [
    "Condition",
    "NotTaggable",
    "Origin",
    "Provenance",
    "Tagging",
    "provenance",
    "union",
]
