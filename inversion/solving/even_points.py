"""Points that fill the unit cube evenly, in a fixed sequence."""

from __future__ import annotations

__all__ = ["point_of"]

PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)


def point_of(number: int, dimensions: int) -> list[float]:
    """A point of the Halton sequence, from 1 on, inside the cube.

    With more dimensions than primes, primes are reused further along the sequence: points are then
    no longer spread evenly, but differ in each dimension.
    """
    return [
        _mirrored(number + 7 * (i // len(PRIMES)), PRIMES[i % len(PRIMES)])
        for i in range(dimensions)
    ]


def _mirrored(number: int, base: int) -> float:
    """The radical inverse of a number: its digits mirrored at the point."""
    found, place = 0.0, 1.0
    while number:
        place /= base
        number, digit = divmod(number, base)
        found += digit * place
    return found
