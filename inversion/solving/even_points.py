"""Points that fill the unit cube evenly, the same every time."""

from __future__ import annotations

__all__ = ["point_of"]

PRIMES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)


def point_of(number: int, dimensions: int) -> list[float]:
    """A point of the sequence of Halton, from 1 on, inside the cube.

    With more dimensions than primes the same ones are used again, further along the sequence:
    so the point is no longer spread evenly, but differs in each.
    """
    return [
        _mirrored(number + 7 * (i // len(PRIMES)), PRIMES[i % len(PRIMES)])
        for i in range(dimensions)
    ]


def _mirrored(number: int, base: int) -> float:
    """The digits of a number after the point, the last one first."""
    found, place = 0.0, 1.0
    while number:
        place /= base
        number, digit = divmod(number, base)
        found += digit * place
    return found
