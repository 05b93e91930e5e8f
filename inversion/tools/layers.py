"""Layered drawings of acyclic graphs: the position of each node, and the route of each edge.

The method of Sugiyama, Tagawa and Toda (1981): a node's layer is the length of the longest path to
it; an edge over several layers has a bend in each; connected nodes are brought close together,
first by order, then by position.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import fmean

__all__ = ["Drawn", "drawn"]

_SWEEPS = 8
_APART, _BEND = 18.0, 6.0

Place = tuple[float, float]


@dataclass(frozen=True)
class Drawn:
    """The layout of a drawing. places: the centre of each node. ways: the route of each edge, its
    bends from end to end. width, height: the size of the whole drawing, which begins at 0.
    """

    places: Mapping[Hashable, Place]
    ways: Sequence[Sequence[Place]]
    width: float
    height: float


def drawn(
    sizes: Mapping[Hashable, tuple[float, float]],
    edges: Sequence[tuple[Hashable, Hashable]],
    between: float = 30.0,
) -> Drawn:
    """The drawing of a graph. sizes: width and height of each node, in topological order. between:
    the space between layers.
    """
    level = _levels(sizes, edges)
    chains = [_chain(i, edge, level) for i, edge in enumerate(edges)]
    links = [link for chain in chains for link in pairwise(chain)]
    rows = _ordered(_rows(sizes, chains, level), links)
    widths = {node: sizes[node][0] if node in sizes else _BEND for row in rows for node in row}
    across = _across(rows, links, widths)
    left = min((across[n] - widths[n] / 2 for n in across), default=0.0)
    tall = [max(sizes[node][1] if node in sizes else 0.0 for node in row) for row in rows]
    tops = [sum(tall[:i]) + between * i for i in range(len(rows))]
    places = {
        node: (across[node] - left, tops[i] + tall[i] / 2)
        for i, row in enumerate(rows)
        for node in row
    }
    return Drawn(
        {node: places[node] for node in sizes},
        [_way(chain, places, sizes) for chain in chains],
        max((places[n][0] + widths[n] / 2 for n in places), default=0.0),
        tops[-1] + tall[-1] if rows else 0.0,
    )


def _levels(
    sizes: Mapping[Hashable, tuple[float, float]], edges: Sequence[tuple[Hashable, Hashable]]
) -> dict[Hashable, int]:
    """The length of the longest path to each node; sources are placed just above their first
    successor.
    """
    level: dict[Hashable, int] = {}
    for node in sizes:
        level[node] = 1 + max((level[a] for a, b in edges if b == node), default=-1)
    for node in reversed(list(sizes)):
        after = [level[b] for a, b in edges if a == node]
        if after and not any(b == node for _, b in edges):
            level[node] = min(after) - 1
    return level


def _chain(
    number: int, edge: tuple[Hashable, Hashable], level: Mapping[Hashable, int]
) -> list[Hashable]:
    first, last = edge
    bends = [("bend", number, i) for i in range(level[first] + 1, level[last])]
    return [first, *bends, last]


def _rows(
    sizes: Mapping[Hashable, tuple[float, float]],
    chains: Sequence[Sequence[Hashable]],
    level: Mapping[Hashable, int],
) -> list[list[Hashable]]:
    rows: list[list[Hashable]] = [[] for _ in range(1 + max(level.values(), default=-1))]
    for node in sizes:
        rows[level[node]].append(node)
    for chain in chains:
        for i, bend in enumerate(chain[1:-1], level[chain[0]] + 1):
            rows[i].append(bend)
    return rows


def _neighbours(links: Sequence[tuple[Hashable, Hashable]]) -> dict[Hashable, list[Hashable]]:
    found: dict[Hashable, list[Hashable]] = {}
    for a, b in links:
        found.setdefault(a, []).append(b)
        found.setdefault(b, []).append(a)
    return found


def _ordered(
    rows: list[list[Hashable]], links: Sequence[tuple[Hashable, Hashable]]
) -> list[list[Hashable]]:
    """Each row sorted by the mean position of its neighbours, in alternating sweeps."""
    near = _neighbours(links)
    for sweep in range(_SWEEPS):
        indices = range(len(rows)) if sweep % 2 == 0 else reversed(range(len(rows)))
        step = -1 if sweep % 2 == 0 else 1
        for i in indices:
            if not 0 <= i + step < len(rows):
                continue
            beside = rows[i + step]
            at = {node: j / max(1, len(beside) - 1) for j, node in enumerate(beside)}
            own = {node: j / max(1, len(rows[i]) - 1) for j, node in enumerate(rows[i])}
            means = {
                node: fmean([at[n] for n in near.get(node, ()) if n in at] or [own[node]])
                for node in rows[i]
            }
            rows[i] = sorted(rows[i], key=means.__getitem__)
    return rows


def _across(
    rows: Sequence[Sequence[Hashable]],
    links: Sequence[tuple[Hashable, Hashable]],
    widths: Mapping[Hashable, float],
) -> dict[Hashable, float]:
    """The horizontal position of each node: as close to the mean of its neighbours as the order
    allows.
    """
    near = _neighbours(links)
    across: dict[Hashable, float] = {}
    for row in rows:
        across.update(zip(row, _apart([0.0] * len(row), row, widths), strict=True))
    for sweep in range(_SWEEPS):
        for row in rows if sweep % 2 == 0 else reversed(rows):
            wanted = [
                fmean([across[n] for n in near.get(node, ())] or [across[node]]) for node in row
            ]
            across.update(zip(row, _apart(wanted, row, widths), strict=True))
    return across


def _apart(
    wanted: Sequence[float], row: Sequence[Hashable], widths: Mapping[Hashable, float]
) -> list[float]:
    """The positions closest to the wanted ones, by least squares, without overlaps: overlapping
    nodes are moved together, as a block.
    """
    starts, at = list[float](), 0.0
    for i, node in enumerate(row):
        at += (widths[row[i - 1]] + widths[node]) / 2 + _APART if i else 0.0
        starts.append(at)
    blocks: list[list[float]] = []
    for want, start in zip(wanted, starts, strict=True):
        blocks.append([want - start])
        while len(blocks) > 1 and fmean(blocks[-2]) > fmean(blocks[-1]):
            blocks[-2:] = [[*blocks[-2], *blocks[-1]]]
    shifts = [fmean(block) for block in blocks for _ in block]
    return [start + shift for start, shift in zip(starts, shifts, strict=True)]


def _way(
    chain: Sequence[Hashable],
    places: Mapping[Hashable, Place],
    sizes: Mapping[Hashable, tuple[float, float]],
) -> list[Place]:
    first, last = places[chain[0]], places[chain[-1]]
    start = first[0], first[1] + sizes[chain[0]][1] / 2
    end = last[0], last[1] - sizes[chain[-1]][1] / 2
    return [start, *(places[bend] for bend in chain[1:-1]), end]
