"""Systems of linear equations in integers: several sums of the same integers, with constant
factors.

They are solved by the Smith normal form: with U and V invertible in integers, ``U @ A @ V`` is
diagonal, so that each new unknown occurs in one equation; those in none are free.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from primitives.domains import Domain, Integer
from primitives.errors import NoSolution
from primitives.relation import Mode, Relation

__all__ = ["IntegerSystem", "system"]

Rows = tuple[tuple[int, ...], ...]


class IntegerSystem(Relation):
    """The relation of several sums, each of all inputs times constant factors, plus a shift.

    matrix: the factors, a row for each sum. shifts: the constants added. Each set of inputs has a
    mode, created on first use, with a coordinate for each free direction.
    """

    def __init__(self, matrix: Rows, shifts: tuple[int, ...]) -> None:
        names = tuple(f"x{i}" for i in range(len(matrix[0])))
        results = tuple(f"r{i}" for i in range(len(matrix)))
        super().__init__(
            sums_of(matrix, shifts),
            (int,) * len(names),
            f"{', '.join(results)} = sums({', '.join(names)})",
            domain=dict.fromkeys(names, Integer),
            codomain=None,
            returns=(int,) * len(results),
            where=None,
        )
        self.matrix, self.shifts = matrix, shifts
        self.whole = True
        self.modes[frozenset(results)] = Mode(results, self.target, names, {})
        for unknown in (*((name,) for name in names), names):
            self.mode(unknown)

    @property
    def identity(self) -> Any:
        """A key that is equal for systems with the same numbers."""
        return IntegerSystem, self.matrix, self.shifts

    def mode(self, unknown: Iterable[str]) -> Mode | None:
        wanted = frozenset(unknown)
        if wanted not in self.modes and wanted and wanted <= set(self.axes):
            self.modes[wanted] = self._made(wanted)
        return self.modes.get(wanted)

    def _made(self, wanted: frozenset[str]) -> Mode:
        places = [i for i, name in enumerate(self.axes) if name in wanted]
        solve, recover, free = solving(self.matrix, self.shifts, places)
        names = tuple(self.axes[i] for i in places)
        others = tuple(name for name in self.axes if name not in wanted)
        coordinates: Mapping[str, Domain] = {f"k{i}": Integer for i in range(free)}
        return Mode(
            names, solve, (*self.outputs, *others, *coordinates), coordinates,
            recover if free else None, names if free else (),
            overdetermined=len(places) - free < len(self.outputs),
        )  # fmt: skip


@functools.cache
def system(matrix: Rows, shifts: tuple[int, ...]) -> IntegerSystem:
    """The relation of these sums; cached."""
    return IntegerSystem(matrix, shifts)


def sums_of(matrix: Rows, shifts: tuple[int, ...]) -> Callable[..., Any]:
    """The function that returns several sums; a tuple even for one."""

    def sums(*values: int) -> tuple[int, ...]:
        pairs = zip(matrix, shifts, strict=True)
        return tuple(product(row, values) + shift for row, shift in pairs)

    return sums


def product(row: Sequence[int], values: Sequence[int]) -> int:
    """The dot product of two rows."""
    return sum(factor * value for factor, value in zip(row, values, strict=True))


def solving(
    matrix: Rows, shifts: tuple[int, ...], places: Sequence[int]
) -> tuple[Callable[..., Any], Callable[..., Any], int]:
    """The solver that maps all sums, the inputs at other positions and the free coordinates to the
    inputs at these positions; the function from these inputs to the coordinates; and the number of
    coordinates.
    """
    own = tuple(tuple(row[i] for i in places) for row in matrix)
    rest = tuple(tuple(r for i, r in enumerate(row) if i not in places) for row in matrix)
    left, diagonal, right, back = smith(own)
    rank, count, lines = len(diagonal), len(places), len(matrix)

    def solve(*given: int) -> Any:
        sums, known, free = given[:lines], given[lines:], ()
        if count > rank:
            known, free = known[: rank - count], known[rank - count :]
        lines_of = zip(sums, shifts, rest, strict=True)
        wanted = [value - shift - product(row, known) for value, shift, row in lines_of]
        turned = [product(row, wanted) for row in left]
        if any(turned[rank:]):
            raise NoSolution("the known sums disagree")
        if any(value % divisor for value, divisor in zip(turned, diagonal, strict=False)):
            raise NoSolution("no integers have these sums")
        found = [*(v // d for v, d in zip(turned, diagonal, strict=False)), *free]
        answers = tuple(product(row, found) for row in right)
        return answers if count > 1 else answers[0]

    def recover(*values: int) -> tuple[int, ...]:
        return tuple(product(row, values) for row in back[rank:])

    return solve, recover, count - rank


def smith(matrix: Rows) -> tuple[Rows, tuple[int, ...], Rows, Rows]:
    """The matrix U, the diagonal of U @ A @ V without zeros, V, and the inverse of V."""
    rows, columns = len(matrix), len(matrix[0])
    a = [list(row) for row in matrix]
    u, v, back = unit(rows), unit(columns), unit(columns)
    rank = 0
    while True:
        spots = [(abs(a[i][j]), i, j) for i in range(rank, rows) for j in range(rank, columns)]
        spots = [spot for spot in spots if spot[0]]
        if not spots:
            break
        _, i, j = min(spots)
        a[rank], a[i], u[rank], u[i] = a[i], a[rank], u[i], u[rank]
        for row in (*a, *v):
            row[rank], row[j] = row[j], row[rank]
        back[rank], back[j] = back[j], back[rank]
        for i in range(rank + 1, rows):
            times = a[i][rank] // a[rank][rank]
            for table in (a, u):
                table[i] = [x - times * y for x, y in zip(table[i], table[rank], strict=True)]
        for j in range(rank + 1, columns):
            times = a[rank][j] // a[rank][rank]
            for row in (*a, *v):
                row[j] -= times * row[rank]
            back[rank] = [x + times * y for x, y in zip(back[rank], back[j], strict=True)]
        cleared = not any(a[i][rank] for i in range(rank + 1, rows))
        if cleared and not any(a[rank][rank + 1 :]):
            rank += 1
    frozen = [tuple(map(tuple, table)) for table in (u, v, back)]
    return frozen[0], tuple(a[i][i] for i in range(rank)), frozen[1], frozen[2]


def unit(size: int) -> list[list[int]]:
    """The identity matrix."""
    return [[int(i == j) for j in range(size)] for i in range(size)]
