"""Tuples in and out: trees of numbers, as they are declared and as they are taken apart."""

from __future__ import annotations

import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

__all__ = [
    "Node",
    "Tree",
    "classes_of",
    "declared",
    "fields_of",
    "is_record",
    "leaves",
    "mapped",
    "rebuilt",
    "taken_apart",
    "written",
]


@dataclass(frozen=True)
class Node:
    """A tuple: its class and what stands at each position."""

    cls: type
    items: tuple[Tree, ...]

    @property
    def labels(self) -> tuple[str, ...]:
        """How each item is got: ``[0]``, or ``.x`` of a named tuple."""
        if is_record(self.cls):
            return tuple(f".{name}" for name in fields_of(self.cls))
        return tuple(f"[{i}]" for i in range(len(self.items)))


Tree = Any
"""A Node, or a leaf: anything else."""


def is_record(cls: Any) -> bool:
    """Whether it is a class of named tuples."""
    return isinstance(cls, type) and issubclass(cls, tuple) and hasattr(cls, "_fields")


def fields_of(cls: type) -> tuple[str, ...]:
    """The names in a class of named tuples."""
    return tuple(getattr(cls, "_fields", ()))


def declared(hint: Any) -> Tree:
    """An annotation, or an example, as a tree: tuples and named tuples are Nodes of hints."""
    if isinstance(hint, tuple):
        example: tuple[Any, ...] = hint
        cls = type(example) if is_record(type(example)) else tuple
        return Node(cls, tuple(map(declared, example)))
    if typing.get_origin(hint) is tuple and Ellipsis not in typing.get_args(hint):
        return Node(tuple, tuple(map(declared, typing.get_args(hint))))
    if is_record(hint):
        hints = typing.get_type_hints(hint, include_extras=True)
        if set(fields_of(hint)) <= set(hints):
            return Node(hint, tuple(declared(hints[name]) for name in fields_of(hint)))
    return hint


def leaves(tree: Tree) -> Iterator[Any]:
    """The leaves from left to right."""
    if isinstance(tree, Node):
        for item in tree.items:
            yield from leaves(item)
    else:
        yield tree


def mapped(tree: Tree, change: Callable[[str, Any], Any], path: str = "") -> Tree:
    """The tree with each leaf changed; ``change`` takes how it is got, such as ``[0].x``, too."""
    if not isinstance(tree, Node):
        return change(path, tree)
    pairs = zip(tree.labels, tree.items, strict=True)
    return Node(tree.cls, tuple(mapped(item, change, path + label) for label, item in pairs))


def taken_apart(tree: Tree, value: Any) -> list[Any]:
    """The parts of a value that stand at the leaves. Raises TypeError where it is built
    otherwise."""
    if not isinstance(tree, Node):
        return [value]
    if not isinstance(value, tuple) or len(value) != len(tree.items):
        raise TypeError
    pairs = zip(tree.items, value, strict=True)
    return [part for item, inner in pairs for part in taken_apart(item, inner)]


def rebuilt(tree: Tree, parts: Iterator[Any]) -> Any:
    """The value that has these parts at the leaves of a tree."""
    if not isinstance(tree, Node):
        return next(parts)
    items = [rebuilt(item, parts) for item in tree.items]
    return tuple(items) if tree.cls is tuple else tree.cls(*items)


def written(tree: Tree) -> str:
    """A tree of expressions as an expression; a class of named tuples is called by its name."""
    if not isinstance(tree, Node):
        return str(tree)
    items = ", ".join(map(written, tree.items))
    items += "," if len(tree.items) == 1 else ""
    return f"({items})" if tree.cls is tuple else f"{tree.cls.__name__}({items})"


def classes_of(tree: Tree) -> Iterator[type]:
    """The classes of named tuples in a tree."""
    if isinstance(tree, Node):
        if tree.cls is not tuple:
            yield tree.cls
        for item in tree.items:
            yield from classes_of(item)
