"""The values of a tape as words of 64 bits, which compiled code reads and writes.

A value has an address, the place of its first word, and a kind, which says how it is read. Kinds
are known when code is generated, addresses when it runs.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np

__all__ = ["LARGEST", "Kind", "Words", "kind_of", "loaded", "size_of", "stored"]

LARGEST: Final = 2**31
"""The bound of whole numbers in words: the product of two of them fits a word."""
_SHORT: Final = 8
_SCALARS: Final[dict[type, str]] = {
    float: "float",
    int: "int",
    bool: "bool",
    np.float64: "float",
    np.int64: "int",
    np.bool_: "bool",
}
_DTYPES: Final = {"f8": "float", "i8": "int", "b1": "bool"}


class Kind(NamedTuple):
    """The kind of a value.

    form: float, int or bool; array, or row for a long tuple or list of numbers; tuple; fixed for a
    value that is part of the code. of: the form of the elements, the kinds of the parts, or the
    fixed value. shape: of an array.
    """

    form: str
    of: Any = None
    shape: tuple[int, ...] = ()


def kind_of(value: Any) -> Kind | None:
    """The kind of a value; None for one that has no words."""
    form = _SCALARS.get(type(value))
    if form is not None:
        return None if form == "int" and not -LARGEST < value < LARGEST else Kind(form)
    if type(value) is np.ndarray:
        of = _DTYPES.get(value.dtype.str[1:])
        return None if of is None else Kind("array", of, value.shape)
    if type(value) in (tuple, list):
        return _kind_of_parts([kind_of(part) for part in value])
    if value is None or isinstance(value, (str, type)):
        return Kind("fixed", value)
    return None


def _kind_of_parts(parts: list[Kind | None]) -> Kind | None:
    if None in parts:
        return None
    if len(parts) > _SHORT:
        first = parts[0]
        same = first is not None and first.form in ("float", "int") and set(parts) == {first}
        return Kind("row", first.form, (len(parts),)) if first is not None and same else None
    return Kind("tuple", tuple(parts))


def size_of(kind: Kind) -> int:
    """The number of words of a value."""
    if kind.form == "tuple":
        return sum(map(size_of, kind.of))
    if kind.form == "fixed":
        return 0
    return int(np.prod(kind.shape, dtype=np.int64))


def stored(kind: Kind, value: Any, floats: Any, ints: Any, at: int) -> None:
    """Store a value at an address."""
    if kind.form == "tuple":
        for part, each in zip(kind.of, value, strict=True):
            stored(part, each, floats, ints, at)
            at += size_of(part)
    elif kind.form != "fixed":
        of = kind.of or kind.form
        words = floats if of == "float" else ints
        words[at : at + size_of(kind)] = np.asarray(value).reshape(-1)


def loaded(kind: Kind, old: Any, floats: Any, ints: Any, at: int) -> Any:
    """The value at an address, of the class of ``old``, which it replaces."""
    if kind.form in ("tuple", "row", "fixed"):
        return old  # a constant
    words = floats if (kind.of or kind.form) == "float" else ints
    if kind.form == "array":
        return words[at : at + size_of(kind)].astype(old.dtype).reshape(kind.shape)
    return type(old)(words[at].item())


class Words:
    """The memory of one tape: the same words as floating-point numbers and as whole numbers.

    kinds, places: for each slot, the kind and the address; None for a value without words.
    """

    def __init__(self, slots: list[Any], registers: int) -> None:
        self.kinds: list[Kind | None] = list(map(kind_of, slots))
        self.places: list[int] = []
        size = registers
        for kind in self.kinds:
            self.places.append(size)
            size += 0 if kind is None else size_of(kind)
        self.size = size
        self.floats = np.zeros(size)
        self.ints = self.floats.view(np.int64)

    def kind(self, slot: int) -> Kind:
        """The kind of the value of a slot that has words."""
        found = self.kinds[slot]
        assert found is not None
        return found

    def grown(self, scratch: int) -> None:
        """Make room for this many words after those of the slots."""
        more = self.size + scratch
        if more > len(self.floats):
            floats = np.zeros(more + scratch)
            floats[: len(self.floats)] = self.floats
            self.floats, self.ints = floats, floats.view(np.int64)

    def load(self, slot: int, value: Any) -> bool:
        """Store the value of a slot, and return whether it has the kind that it had."""
        kind = self.kinds[slot]
        if kind_of(value) != kind:
            return False
        if kind is not None:
            stored(kind, value, self.floats, self.ints, self.places[slot])
        return True

    def read(self, kind: Kind, at: int) -> Any:
        """The number at an address."""
        if kind.form == "float":
            return float(self.floats[at])
        found = int(self.ints[at])
        return bool(found) if kind.form == "bool" else found

    def value(self, slot: int, old: Any) -> Any:
        """The value of a slot, of the class of ``old``."""
        kind = self.kinds[slot]
        if kind is None:
            return old
        return loaded(kind, old, self.floats, self.ints, self.places[slot])
