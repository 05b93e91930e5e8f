"""The relations of strings and lists in the base table."""

from __future__ import annotations

from primitives.relation import Relation
from primitives.sequences.chains import concatenation
from primitives.sequences.lists import ELEMENTS, list_of
from primitives.sequences.parts import item, length, repetition
from primitives.sequences.texts import TEXTS

__all__ = ["SEQUENCES"]

KINDS = str, *map(list_of, ELEMENTS)

SEQUENCES: tuple[Relation, ...] = (
    *(make(kind) for make in (concatenation, repetition, item, length) for kind in KINDS),
    *TEXTS,
)
