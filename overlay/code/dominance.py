"""Dominance among the blocks of a function, from the edges between them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

__all__ = ["dominators", "post_dominators", "reachable"]

Successors = Mapping[Any, Iterable[Any]]
_EXIT = object()


def reachable(successors: Successors, entry: Any) -> list[Any]:
    """The blocks that are reached from one, itself first."""
    found, todo = {entry: None}, [entry]
    while todo:
        for after in successors[todo.pop()]:
            if after not in found:
                found[after] = None
                todo.append(after)
    return list(found)


def dominators(successors: Successors, entry: Any) -> dict[Any, set[Any]]:
    """For each block that is reached from ``entry``: its dominators, the blocks on all paths to
    it, itself among them.
    """
    order = reachable(successors, entry)
    before: dict[Any, list[Any]] = {block: [] for block in order}
    for block in order:
        for after in successors[block]:
            before[after].append(block)
    found = {block: set(order) for block in order}
    found[entry] = {entry}
    changed = True
    while changed:
        changed = False
        for block in order[1:]:
            new = {block} | set.intersection(*(found[each] for each in before[block]))
            changed = changed or new != found[block]
            found[block] = new
    return found


def post_dominators(successors: Successors) -> dict[Any, set[Any]]:
    """For each block: its post-dominators, the blocks on all paths from it out of the function,
    itself among them. A block from which no path leads out has itself alone.
    """
    backwards: dict[Any, list[Any]] = {block: [] for block in (*successors, _EXIT)}
    for block, after in successors.items():
        ends = list(after)
        for each in ends or [_EXIT]:
            backwards[each].append(block)
    found = dominators(backwards, _EXIT)
    return {block: found.get(block, {block}) - {_EXIT} for block in successors}
