"""Repetition, slices, items and length of strings and lists."""

from __future__ import annotations

import functools
import operator
from typing import Any

from primitives.domains import Integer, Integers
from primitives.errors import NoSolution
from primitives.integers.integer_kinds import Natural
from primitives.relation import Relation, parametric, relation
from primitives.sequences.chains import domain_for
from primitives.sequences.lists import element_of_sequence

__all__ = ["item", "length", "repetition", "sliced"]

MOST = 100_000
"""The largest number of items that are added to a sequence that is too short."""
Sequence = Any


# ---- repetition ---------------------------------------------------------------------------

Times = Integers(None, 1023)


def repeats(ret: Sequence, n: int) -> bool:
    """Return whether ``ret`` consists of n copies of one part."""
    return n >= 1 and len(ret) % n == 0 and ret[: len(ret) // n] * n == ret


def repeated_part(ret: Sequence, n: int, free: Sequence) -> Sequence:
    """The part that, repeated n times, is ``ret``; ``free`` for no repetition."""
    if n <= 0 and not ret:
        return free
    if not repeats(ret, n):
        raise NoSolution("the result is not a repetition of one part")
    return ret[: len(ret) // n]


def repeated_times(ret: Sequence, a: Sequence, times: int) -> int:
    """The number of repetitions of a in ``ret``; ``times``, or -times, if any number fits."""
    if not a and not ret:
        return times
    if not ret:
        return min(times, -times)
    if not a or a * (len(ret) // len(a)) != ret or len(ret) // len(a) > 1023:
        raise NoSolution("the result is not the known part, repeated up to 1023 times")
    return len(ret) // len(a)


def repeated(ret: Sequence, free: Sequence, times: int) -> tuple[Sequence, int]:
    """A part, and its number of repetitions in ``ret``: the number closest to ``times``."""
    if not ret:
        return (free if times <= 0 else ret), times
    counts = [n for n in range(1, min(len(ret), 1023) + 1) if repeats(ret, n)]
    n = min(counts, key=lambda count: abs(count - times))
    return ret[: len(ret) // n], n


def repetition(kind: type) -> Relation:
    """The relation of ``a * n``."""
    return relation(
        operator.mul, kind, int, "return = a * n", domain={"n": Times}, returns=kind,
        ret=lambda a, n: a * n,
        a=parametric(repeated_part, free=domain_for(kind), recover=lambda a: (a,)),
        n=parametric(repeated_times, times=Times, recover=lambda n: (n,)),
        an=parametric(
            repeated, free=domain_for(kind), times=Times, recover=lambda a, n: (a, n),
        ),
        edges="n <= 0, no repetition: a is free",
    )  # fmt: skip


# ---- one item -----------------------------------------------------------------------------


def item_of(a: Sequence, i: int) -> Any:
    """The item at a position."""
    if not -len(a) <= i < len(a):
        raise NoSolution("the position is beyond the end")
    return a[i]


def with_item(ret: Any, i: int, near: Sequence, one: Sequence) -> Sequence:
    """``near`` with ``one``, which contains only ``ret``, at a position; if it is too short, it is
    extended with copies of ``one``.
    """
    lacking = (i + 1 if i >= 0 else -i) - len(near)
    if lacking > MOST:
        raise NoSolution("it is far too short for this position")
    if lacking > 0:
        return near + one * lacking if i >= 0 else one * lacking + near
    at = i % len(near)
    return near[:at] + one + near[at + 1 :]


def place_of(ret: Any, a: Sequence, wish: int) -> int:
    """The position of an item that is closest to ``wish``."""
    found = [i for i in range(len(a)) if a[i] == ret]
    if not found:
        raise NoSolution("it has no such item")
    return min([*found, *(i - len(a) for i in found)], key=lambda i: abs(i - wish))


def item(kind: type) -> Relation:
    """The relation of ``a[i]``."""
    solve = text_with if kind is str else list_with
    return relation(
        operator.getitem, kind, int, "return = a[i]", returns=element_of_sequence(kind),
        ret=item_of,
        a=parametric(solve, near=domain_for(kind), recover=lambda a: (a,)),
        i=parametric(place_of, wish=Integer, recover=lambda i: (i,)),
        ai=parametric(
            lambda ret, near, wish: (solve(ret, wish, near), wish),
            near=domain_for(kind), wish=Integer, recover=lambda a, i: (a, i),
        ),
        edges="near with the result at index i; if near is too short, it is extended",
    )  # fmt: skip


def text_with(ret: str, i: int, near: str) -> str:
    """A string with this character at a position."""
    if len(ret) != 1:
        raise NoSolution("an item of a string is one character")
    return with_item(ret, i, near, ret)


def list_with(ret: Any, i: int, near: Any) -> Any:
    """A list with this item at a position."""
    return with_item(ret, i, near, [ret])


# ---- slices -------------------------------------------------------------------------------


def with_slice(ret: Sequence, near: Sequence, part: slice, more: Sequence, extra: int) -> Sequence:
    """``near`` with a slice replaced by ``ret``. If the slice has another length, ``near`` is
    shortened, or extended with ``more``, to the shortest length that fits.

    extra: the largest number of items that a sequence may need beyond those of ``ret``.
    """
    if len(near[part]) != len(ret):
        step = abs(part.step or 1)
        most = len(ret) * step + extra
        fits = [n for n in range(most + 1) if len(range(*part.indices(n))) == len(ret)]
        if not fits:
            raise NoSolution("no slice of this kind has so many items")
        near = (near + more * max(0, fits[0] - len(near)))[: fits[0]]
    places = range(*part.indices(len(near)))
    found = [near[i : i + 1] for i in range(len(near))]
    for i, at in enumerate(places):
        found[at] = ret[i : i + 1]
    whole = near[:0]
    return whole.join(found) if isinstance(whole, str) else [one for (one,) in found]


@functools.cache
def reversed_order(kind: type) -> Relation:
    """The relation of ``a[::-1]``."""
    return relation(
        operator.itemgetter(slice(None, None, -1)), kind, "return = reverse(a)",
        ret=lambda a: a[::-1],
        a=lambda ret: ret[::-1],
    )  # fmt: skip


@functools.cache
def sliced(kind: type, start: int | None, stop: int | None, step: int | None) -> Relation:
    """The relation of ``a[start:stop:step]``, with known bounds."""
    if (start, stop, step) == (None, None, -1):
        return reversed_order(kind)
    extra = sum(abs(end) for end in (start, stop) if end is not None)
    # the items that extend a sequence
    more = " " if kind is str else [domain_for(element_of_sequence(kind)).default]
    return relation(
        operator.itemgetter(slice(start, stop, step)), kind, "return = part(a)",
        ret=lambda a: a[start:stop:step],
        a=parametric(
            lambda ret, near: with_slice(ret, near, slice(start, stop, step), more, extra),
            near=domain_for(kind), recover=lambda a: (a,),
        ),
    )  # fmt: skip


# ---- length -------------------------------------------------------------------------------


def as_long(ret: int, near: Sequence, more: Sequence) -> Sequence:
    """``near``, shortened, or extended with ``more``, to ``ret`` items."""
    if not 0 <= ret <= len(near) + MOST:
        raise NoSolution("no string of such a length is searched for")
    return (near + more * max(0, ret - len(near)))[:ret]


def length(kind: type) -> Relation:
    """The relation of ``len(a)``."""
    more = " " if kind is str else [domain_for(element_of_sequence(kind)).default]
    return relation(
        len, kind, "return = len(a)", codomain=Natural, returns=int,
        ret=lambda a: len(a),
        a=parametric(
            lambda ret, near: as_long(ret, near, more),
            near=domain_for(kind), recover=lambda a: (a,),
        ),
        edges="near, shortened or extended",
    )  # fmt: skip
