"""Value tagging: values carry metadata through a program that is unaware of it.

``errors``: errors of tagging.
``plain_arguments``: C functions that are given plain values, as they look at exact classes.
``provenance``: the inputs, lines and operations that a result comes from.
``tagged_values``: values that carry metadata: instances of subclasses of numbers, text and
arrays.
``tags``: contexts in which values carry metadata.
"""

from overlay.core.public_names import completes
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
__dir__ = completes(__all__)
