"""Contractors of finite tables, and of membership in a table, by enumeration of the keys."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from inversion.contraction.contractor import Contractor
from overlay.sets import NumberSet, number_set
from primitives.finite_tables import RTOL, FiniteTable, Members

__all__ = ["of_members", "of_table"]

NUMBERS = (int, float, np.integer)
MOST_PIECES = 64
"""The largest number of pieces of the sets of keys and entries."""


@functools.lru_cache(maxsize=1024)
def of_table(table: FiniteTable) -> Contractor | None:
    """The contractor of a table; None if its keys or entries are not numbers."""
    pairs = list(table.held.items())
    if not all(isinstance(number, NUMBERS) for pair in pairs for number in pair):
        return None
    keys_whole, whole = (not any(isinstance(pair[i], float) for pair in pairs) for i in (0, 1))

    def entries(a: NumberSet) -> NumberSet:
        found = ((entry, entry) for key, entry in pairs if a.contains(key))
        return number_set(found, whole=whole).fewer(MOST_PIECES)

    def keys(ret: NumberSet, a: NumberSet) -> NumberSet:
        found = ((key, key) for key, entry in pairs if _may_be(ret, entry) and a.contains(key))
        return number_set(found, whole=keys_whole).fewer(MOST_PIECES)

    return Contractor(entries, (keys,), of_nan=None)


def _may_be(ret: NumberSet, entry: Any) -> bool:
    """Return whether a set of results may contain an entry, up to rounding."""
    if not isinstance(entry, float):
        return ret.contains(entry)
    off = 2 * RTOL * abs(entry)
    return bool(ret.numbers().meet(number_set([(entry - off, entry + off)])))


@functools.lru_cache(maxsize=1024)
def of_members(members: Members) -> Contractor | None:
    """The contractor of membership; None if the members are not numbers."""
    if not all(isinstance(key, NUMBERS) for key in members.keys):
        return None
    whole = not any(isinstance(key, float) for key in members.keys)
    inside = number_set(((key, key) for key in members.keys), whole=whole)

    def truths(a: NumberSet) -> NumberSet:
        is_one = a.low == a.high and not a.nan
        found = [int(inside.contains(a.low))] if is_one else [0, 1] if a.meet(inside) else [0]
        return number_set(((x, x) for x in found), whole=True)

    def keys(ret: NumberSet, a: NumberSet) -> NumberSet:
        if ret.low != ret.high:
            return a
        if ret.low:
            return a.meet(inside).fewer(MOST_PIECES)
        return a.without(map(int, members.keys)).fewer(MOST_PIECES) if a.whole else a

    return Contractor(truths, (keys,), of_nan=None)
