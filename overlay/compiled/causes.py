"""The reasons for compilations: the changes since a function was compiled before, and the calls
by which the function depends on them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import TYPE_CHECKING, Final

from overlay.code.record import Change, told_code
from overlay.compiled.basis import Basis, CompiledCode, MethodsOfTarget, world_at
from overlay.contexts.compilations import CalledFunction, Cause
from overlay.core.target import describe

if TYPE_CHECKING:
    from overlay.compiled.world import World

__all__ = ["MOST_CAUSES", "called", "causes_of"]

type Path = tuple[CalledFunction, ...]

MOST_CAUSES: Final = 20
"""The most changes that one compilation names."""


def called(function: FunctionType) -> CalledFunction:
    """A function with the place of its definition."""
    return CalledFunction(function.__qualname__, told_code(function.__code__))


def causes_of(
    code: CompiledCode, world: World, callers: Iterable[FunctionType]
) -> tuple[Cause, ...]:
    """The reasons for which code cannot be reused in a world, each change once, nearest first,
    with the calls that lead to each of its readers.

    callers: the functions on whose behalf it is compiled again, the entry first.
    """
    found: dict[Change, dict[Path, None]] = {}
    path = (*map(called, callers), called(code.function))
    for change, way in itertools.islice(_changes(code, world, path), 10 * MOST_CAUSES):
        found.setdefault(change, {})[way] = None
    return tuple(
        Cause(change, tuple(paths))
        for change, paths in itertools.islice(found.items(), MOST_CAUSES)
    )


def _changes(code: CompiledCode, world: World, path: Path) -> Iterator[tuple[Change, Path]]:
    """Each change, with the calls that lead to a function that had read what has changed."""
    pending: list[tuple[Basis, World, Path]] = [(code.basis, world, path)]
    seen = {id(code.basis)}
    for basis, at, way in pending:  # grows during the loop
        for reading in list(basis.readings.values()):
            reader = _extended(way, reading.function)
            for change in itertools.chain(reading.changes(), reading.alterations()):
                yield change, reader
        for (place, _), view in list(basis.views.items()):
            now = world_at(place, at).view_of(view.target)
            if view.methods != now.methods or not (view.same(now) or _is_read(view, basis)):
                yield _of_methods(view, now), way
        for place, below in list(basis.below):
            if id(below) not in seen:
                seen.add(id(below))
                inner = _extended(way, below.codes[-1].function) if below.codes else way
                pending.append((below, world_at(place, at), inner))


def _extended(path: Path, function: FunctionType) -> Path:
    step = called(function)
    return path if path[-1] == step else (*path, step)


def _is_read(view: MethodsOfTarget, basis: Basis) -> bool:
    """Whether the reads of a basis include the methods of a generic function."""
    generic = (each for reading in basis.readings.values() for each, _ in reading.generic)
    return any(each is view.target for each in generic)


def _of_methods(before: MethodsOfTarget, now: MethodsOfTarget) -> Change:
    """The change of the methods of a target in the tables."""
    old, new = (
        [each for table in view.methods for methods in table for each in methods]
        for view in (before, now)
    )
    both = [
        ", ".join(str(each) for each in one if not any(each is x for x in other)) or "nothing"
        for one, other in ((old, new), (new, old))
    ]
    if both == ["nothing", "nothing"]:  # base methods of a generic function, or their order
        both = ["", ""]
    return Change(f"the methods of {describe(before.target)} changed", "methods", *both)
