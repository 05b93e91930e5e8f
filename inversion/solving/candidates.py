"""Values of discrete choices, the most likely first, and fair interleaving of lazy searches."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import Any, TypeVar

from inversion.deadline import check_deadline
from overlay.sets import NumberSet
from primitives import Domain
from primitives.domains import Booleans, Integers
from primitives.floats.remainders import fmod, mod

__all__ = ["fairly", "is_discrete", "members", "outwards", "periods"]

INF = math.inf
MOST_MEMBERS = 20_000
"""The largest number of integers that are tried one by one; of more, only those that a coordinate
numbers.
"""


T = TypeVar("T")
S = TypeVar("S")


def fairly[T, S](
    outer: Iterator[T | None], inner: Callable[[T], Iterator[S | None]]
) -> Iterator[S | None]:
    """The results of ``inner`` for each item of ``outer``, interleaved fairly, because each may be
    infinite.

    None is a step without a result.
    """
    running: deque[Iterator[S | None]] = deque()
    more = True
    while more or running:
        check_deadline()
        if more:
            try:
                item = next(outer)
            except StopIteration:
                more = False
            else:
                if item is None:
                    yield None
                else:
                    running.append(inner(item))
        for _ in range(len(running)):
            one = running.popleft()
            try:
                found = next(one)
            except StopIteration:
                yield None  # counts as a step: infinitely many iterators may end at once
                continue
            running.append(one)
            yield found


def is_discrete(domain: Domain) -> bool:
    """Return whether the members of a domain can be enumerated."""
    return isinstance(domain, (Booleans, Integers))


def members(domain: Domain, start: Any, allowed: NumberSet | None) -> Iterator[Any]:
    """The allowed members of a discrete domain, outwards from ``start``; None for each one that is
    not allowed.
    """
    if isinstance(domain, Booleans):
        for value in (bool(start), not start):
            yield value if allowed is None or allowed.contains(value) else None
        return
    if allowed is not None and allowed.count() <= MOST_MEMBERS:
        found = [n for n in allowed.members() if domain.contains(n)]
        yield from map(domain.cast, sorted(found, key=lambda n: (abs(n - int(start)), -n)))
        return
    assert isinstance(domain, Integers)
    low = -INF if domain.low is None else domain.low
    high = INF if domain.high is None else domain.high
    if allowed is not None:
        low, high = max(low, allowed.low), min(high, allowed.high)
    for n in outwards(int(min(max(int(start), low), high)), low, high):
        fits = domain.contains(n) and (allowed is None or allowed.contains(n))
        yield domain.cast(n) if fits else None


def outwards(start: int, low: float, high: float) -> Iterator[int]:
    """The integers from ``low`` to ``high``, outwards from one of them."""
    yield start
    distance = 1
    while start + distance <= high or start - distance >= low:
        if start + distance <= high:
            yield start + distance
        if start - distance >= low:
            yield start - distance
        distance += 1


# ---- periodic solutions -------------------------------------------------------------------

PERIODIC = (mod, fmod)


def periods(relation: Any, known: Mapping[str, Any], a: NumberSet, start: float) -> Iterator[float]:
    """The arguments with a given remainder, outwards from the one near ``start``."""
    ret, b = float(known["return"]), abs(float(known["b"]))
    low, high = ((float(end) - ret) / b for end in (a.low, a.high))
    first = math.floor(low) if math.isfinite(low) else -INF
    last = math.ceil(high) if math.isfinite(high) else INF
    middle = round((start - ret) / b)
    for k in outwards(int(min(max(middle, first), last)), first, last):
        yield ret + k * b
