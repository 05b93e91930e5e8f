"""Nesting levels: the duals of one derivative, and the context that knows what to do with them."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from overlay import Context, MethodTable
from overlay.interpretations.autodiff.duals import ActiveArray, array_class, number_class

__all__ = ["Level", "LevelTable", "declare", "refuse", "written"]


# what is shown of generated lines: messages about a user's program name the user's own lines
_FILE = os.path.join(os.path.dirname(__file__), "<derivative>")


class LevelTable(MethodTable):
    """The table of a level, or of the place outside all of them."""


class Level:
    """One derivative among those that it stands in.

    depth: how many stand around it. count: how many tangents each of its duals has.
    rules: tables with rules of the user's own. number, array: its classes of duals.
    ``pack(value, tangents)`` makes a dual of the class for the value; ``strip(x)`` takes the
    value out of one, and leaves anything else as it is.
    """

    def __init__(self, depth: int, count: int, rules: tuple[MethodTable, ...]) -> None:
        self.depth, self.count, self.rules = depth, count, rules
        self.number, self.array = number_class(depth, count), array_class(depth, count)
        self.table = LevelTable(f"derivative {depth} with {count} tangents")
        self.context = Context(self.table)
        self.number.context = self.array.context = self.context
        self.pack = written("def method(value, tangents): return number(value, tangents)", self)
        self.strip = written("def method(x): return x", self)
        self.seeded: Callable[..., Any] = self.pack  # of autodiff, made with the table
        self._declare_own()

    def _declare_own(self) -> None:
        for kind in (np.ndarray, ActiveArray):
            made = written("def method(value, tangents): return array(value, tangents)", self)
            declare(self.table, self.pack, made, (kind, Any))
        for kind in (self.number, self.array):
            bare = written("def method(x): return x.value", self)
            declare(self.table, self.strip, bare, (kind,))


def declare(
    table: MethodTable, target: Any, method: Callable[..., Any], types: Sequence[Any]
) -> None:
    """Add a method for arguments of these types."""
    _annotate(method, types)
    table.overlay(target)(method)


def refuse(table: MethodTable, target: Any, why: Callable[[], Any], types: Sequence[Any]) -> None:
    """Have calls with arguments of these types raise what ``why`` raises: when they are made, or
    where code is compiled then."""
    names = ", ".join(f"a{i}" for i in range(len(types)))
    method = written(f"def method({names}): why()", None, why=why)
    _annotate(method, types)
    table.generated(target)(method)


def _annotate(method: Callable[..., Any], types: Sequence[Any]) -> None:
    code = method.__code__
    names = code.co_varnames[: code.co_argcount]
    method.__annotations__ = dict(zip(names, types, strict=False))


@functools.cache
def _compiled(source: str) -> Any:
    return compile(source, _FILE, "exec")


def written(source: str, level: Level | None, **names: Any) -> Callable[..., Any]:
    """The function ``method`` that some lines of Python define.

    ``<<expression of #>>`` in them stands for the tuple of what the expression gives with the
    number of each tangent for ``#``: compiled code has no other way to go through a tuple of
    tangents. names: what the lines refer to; ``number`` and ``array`` are the level's classes.
    level: None for lines that need none.
    """
    parts, count = source.split("<<"), 0 if level is None else level.count
    for i, part in enumerate(parts[1:], 1):
        each, rest = part.split(">>")
        parts[i] = f"({''.join(each.replace('#', str(k)) + ', ' for k in range(count))}){rest}"
    space = dict(names)
    if level is not None:
        space.update(number=level.number, array=level.array)
    exec(_compiled("".join(parts)), space)
    return space["method"]
