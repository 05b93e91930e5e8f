"""Trees: the structure of tuples, records and containers among arguments and results.

Records are named tuples, and dataclasses that only hold their fields. Results may also be lists,
dicts of known keys, bytes of a known number, and instances of other classes.
"""

from __future__ import annotations

import dataclasses
import functools
import re
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from overlay.core.signature import without_alias
from primitives.relation import RETURN

__all__ = [
    "Axes",
    "Node",
    "Tree",
    "Trees",
    "apart",
    "as_name",
    "axis_of",
    "classes_of",
    "declared",
    "defaults_of",
    "fields_of",
    "is_dataclass",
    "is_record",
    "leaves",
    "mapped",
    "part",
    "rebuilt",
    "taken_apart",
    "written",
]


@dataclass(frozen=True)
class Node:
    """A tuple, a record or a container: its class and its items.

    keys: the keys of the items of a dict, or the names of the attributes of an instance.
    """

    cls: type
    items: tuple[Tree, ...]
    keys: tuple[Any, ...] | None = None

    @property
    def labels(self) -> tuple[str, ...]:
        """The suffix that accesses each item: ``[0]``, ``['key']``, or ``.x`` of a record."""
        if self.cls is dict:
            return tuple(f"[{key!r}]" for key in self.keys or ())
        if self.keys is not None or is_record(self.cls):
            return tuple(f".{name}" for name in self.keys or fields_of(self.cls))
        return tuple(f"[{i}]" for i in range(len(self.items)))

    def of(self, items: Iterable[Tree]) -> Node:
        """The structure with other items."""
        return Node(self.cls, tuple(items), self.keys)

    def items_of(self, value: Any) -> tuple[Any, ...]:
        """The items of a value of this structure; a list or an array may stand for a tuple. Raises
        TypeError for a value of another structure.
        """
        if self.cls is dict:
            if not isinstance(value, dict) or value.keys() != set(self.keys or ()):
                raise TypeError
            return tuple(value[key] for key in self.keys or ())
        if self.keys is not None or is_dataclass(self.cls):
            if not isinstance(value, self.cls):
                raise TypeError
            return tuple(getattr(value, name) for name in self.keys or fields_of(self.cls))
        rows = (bytes, bytearray) if self.cls in (bytes, bytearray) else (tuple, list)
        is_row = isinstance(value, rows) or (isinstance(value, np.ndarray) and value.ndim > 0)
        if not is_row or len(value) != len(self.items):
            raise TypeError
        return tuple(value)

    def built(self, items: Sequence[Any]) -> Any:
        """The value of this structure with these items."""
        if self.cls is dict:
            return dict(zip(self.keys or (), items, strict=True))
        if self.keys is not None:
            made = object.__new__(self.cls)
            for name, item in zip(self.keys, items, strict=True):
                object.__setattr__(made, name, item)
            return made
        return self.cls(*items) if is_record(self.cls) else self.cls(items)


Tree = Any
"""A Node, or a leaf: any other object."""


def is_record(cls: Any) -> bool:
    """Return whether a class is one of named tuples, or of dataclasses that only hold
    their fields.
    """
    if isinstance(cls, type) and issubclass(cls, tuple):
        return hasattr(cls, "_fields")
    return is_dataclass(cls)


def is_dataclass(cls: Any) -> bool:
    """Return whether a class is a dataclass whose ``__init__`` takes its fields in order and does
    nothing else.
    """
    if not isinstance(cls, type) or not dataclasses.is_dataclass(cls):
        return False
    made: Any = cls
    written = "__init__" in cls.__dict__ and made.__dataclass_params__.init
    plain = all(field.init and not field.kw_only for field in dataclasses.fields(made))
    own = any(hasattr(cls, name) for name in ("__post_init__", "__getattr__"))
    read = cls.__getattribute__ is object.__getattribute__ and cls.__new__ is object.__new__
    return written and plain and read and not own


def fields_of(cls: type) -> tuple[str, ...]:
    """The field names of a class of records."""
    if is_dataclass(cls):
        made: Any = cls
        return tuple(field.name for field in dataclasses.fields(made))
    return tuple(getattr(cls, "_fields", ()))


def defaults_of(cls: type) -> Mapping[str, Any]:
    """The default values of the fields of a class of records."""
    if not is_dataclass(cls):
        return getattr(cls, "_field_defaults", {})
    made: Any = cls
    given = {f.name: f.default for f in dataclasses.fields(made)}
    return {name: value for name, value in given.items() if value is not dataclasses.MISSING}


def declared(hint: Any) -> Tree:
    """The tree of an annotation, or of an example: tuples and records are Nodes of hints."""
    hint = without_alias(hint)
    if is_dataclass(type(hint)):
        items = (declared(getattr(hint, name)) for name in fields_of(type(hint)))
        return Node(type(hint), tuple(items))
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
    """The tree with each leaf changed; ``change`` also takes its path, such as ``[0].x``."""
    if not isinstance(tree, Node):
        return change(path, tree)
    pairs = zip(tree.labels, tree.items, strict=True)
    return tree.of(mapped(item, change, path + label) for label, item in pairs)


def taken_apart(tree: Tree, value: Any) -> list[Any]:
    """The parts of a value at the leaves of a tree; a list or an array may stand for a tuple.
    Raises TypeError for a value of another structure.
    """
    if not isinstance(tree, Node):
        return [value]
    pairs = zip(tree.items, tree.items_of(value), strict=True)
    return [part for item, inner in pairs for part in taken_apart(item, inner)]


def branch(tree: Tree, path: str) -> Tree:
    """The subtree at a path, such as ``[0].x``. Raises KeyError if there is none."""
    if not path:
        return tree
    if isinstance(tree, Node):
        for label, item in zip(tree.labels, tree.items, strict=True):
            rest = path.removeprefix(label)
            if rest != path and (not rest or rest[0] in "[."):
                return branch(item, rest)
    raise KeyError(path)


def part(tree: Tree, value: Any, path: str) -> Any:
    """The part of a value at a path of its tree."""
    if not path:
        return value
    for label in tree.labels:
        rest = path.removeprefix(label)
        if rest != path and (not rest or rest[0] in "[."):
            at = tree.labels.index(label)
            return part(tree.items[at], tree.items_of(value)[at], rest)
    raise KeyError(path)


def apart(tree: Tree, expression: str) -> str:
    """The expression that turns the value of an expression into nested tuples, to be unpacked by
    patterns.
    """
    if not isinstance(tree, Node) or not _has_names(tree):
        return expression
    pairs = zip(tree.labels, tree.items, strict=True)
    items = ", ".join(apart(item, expression + label) for label, item in pairs)
    return f"({items}{',' * (len(tree.items) == 1)})"


def _has_names(tree: Tree) -> bool:
    """Return whether a tree has a structure whose items cannot be unpacked by a pattern."""
    if not isinstance(tree, Node):
        return False
    named = tree.keys is not None or is_dataclass(tree.cls)
    return named or any(map(_has_names, tree.items))


class Trees(dict[str, Tree]):
    """The trees of a function's axes, by name; a key may be the path of a part, ``o.strike``."""

    def __missing__(self, name: str) -> Tree:
        axis, path = axis_of(name)
        if not path or axis not in self:
            raise KeyError(name)
        return branch(self[axis], path)


def axis_of(name: str) -> tuple[str, str]:
    """The axis in the name of a part, and the path: ``("o", ".strike")``."""
    at = min((i for i in (name.find("."), name.find("[")) if i > 0), default=len(name))
    return name[:at], name[at:]


def as_name(name: str) -> str:
    """An identifier for an axis or a part of an axis."""
    return re.sub(r"\W", lambda sign: "" if sign[0] in "]'\"" else "_", name)


def rebuilt(tree: Tree, parts: Iterator[Any]) -> Any:
    """The value with these parts at the leaves of a tree."""
    if not isinstance(tree, Node):
        return next(parts)
    return tree.built([rebuilt(item, parts) for item in tree.items])


def written(tree: Tree) -> str:
    """The expression of a tree of expressions; a class is called by its name."""
    if not isinstance(tree, Node):
        return str(tree)
    items = ", ".join(map(written, tree.items))
    if tree.cls is dict:
        pairs = zip(tree.keys or (), tree.items, strict=True)
        return f"{{{', '.join(f'{key!r}: {written(item)}' for key, item in pairs)}}}"
    if tree.cls in (list, bytes, bytearray):
        return f"[{items}]" if tree.cls is list else f"{tree.cls.__name__}([{items}])"
    items += "," if len(tree.items) == 1 else ""
    return f"({items})" if tree.cls is tuple else f"{tree.cls.__name__}({items})"


def classes_of(tree: Tree) -> Iterator[type]:
    """The classes of records in a tree."""
    if isinstance(tree, Node):
        if tree.cls is not tuple:
            yield tree.cls
        for item in tree.items:
            yield from classes_of(item)


@dataclass(frozen=True)
class Axes:
    """The axes of a function, each with a tree of axes of the program.

    known: the known axes or parts of axes, ``o.strike``; the others are unknown.
    """

    trees: Trees
    known: tuple[str, ...]

    @functools.cached_property
    def given(self) -> frozenset[str]:
        """The known axes of the program."""
        return frozenset(leaf for name in self.known for leaf in leaves(self.trees[name]))

    @functools.cached_property
    def unknown(self) -> tuple[str, ...]:
        """The axes that are solved for, in order; an axis of which a part is known is solved as a
        whole.
        """
        return tuple(
            axis for axis, tree in self.trees.items() if not self.given.issuperset(leaves(tree))
        )

    def value(self, name: str, values: Mapping[str, Any]) -> Any:
        """The value of an axis, or of a part of one, from the values of all axes."""
        axis, path = axis_of(name)
        return part(self.trees[axis], values[axis], path)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The axes of the function's arguments."""
        return tuple(axis for axis in self.trees if axis != RETURN)
