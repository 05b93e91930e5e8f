"""Objects that the function makes, with their contents at one place of the program."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from inversion.errors import NotInvertible
from inversion.lifting.lifted_values import (
    Constant,
    HeapObject,
    Known,
    Meaningless,
    Operand,
    Tupled,
    Value,
    Variable,
    shown_kind,
)
from inversion.program.trees import fields_of, is_dataclass
from overlay.core.short_repr import a_or_an

__all__ = ["change", "contents_of", "frozen", "is_mutable", "made", "operand_in", "thawed"]

DEEPEST = 32
"""The maximum nesting depth of containers; one that contains itself has more."""


def made(known: Known, kind: type, items: Iterable[Value], keys: Any = None) -> HeapObject:
    """A new object with these contents."""
    found = HeapObject(kind)
    known[found] = Tupled(kind, tuple(items), keys)
    return found


def contents_of(known: Known, owner: HeapObject, where: str) -> Tupled:
    """The contents of an object."""
    found = known.get(owner)
    if isinstance(found, Meaningless):
        raise found.error
    assert not isinstance(found, (Variable, Constant)), "operand_in is asked before"
    if not isinstance(found, Tupled):
        raise NotInvertible(
            f"{a_or_an(shown_kind(owner))} is used that was made on another execution path",
            where=where,
            help="make it before the branch or the loop, or use a tuple",
        )
    return found


def operand_in(known: Known, owner: Value) -> Operand | None:
    """The operand of a list whose number of items is unknown, because a loop changes
    it; else None.
    """
    found = known.get(owner) if isinstance(owner, HeapObject) else None
    return found if isinstance(found, (Variable, Constant)) else None


def change(known: Known, owner: HeapObject, contents: Tupled | Operand, where: str) -> None:
    """Replace the contents of an object."""
    if owner.fixed:
        raise NotInvertible(
            f"{a_or_an(shown_kind(owner))} is changed that may be one of several, or has "
            "several names",
            where=where,
            help="change a copy of it, or change each of them in its own branch",
        )
    known[owner] = contents


def frozen(known: Known, value: Value, where: str = "", depth: int = 0) -> Value:
    """A value in which the contents of each object replace the object."""
    if isinstance(value, HeapObject):
        if depth > DEEPEST:
            raise NotInvertible(
                f"cannot invert {a_or_an(shown_kind(value))} that contains itself",
                where=where,
                help="return a result without it",
            )
        held = operand_in(known, value)
        if held is not None:
            return held
        found = contents_of(known, value, where)
        if is_dataclass(value.kind) and set(found.keys or ()) == set(fields_of(value.kind)):
            by_name: dict[Any, Value] = dict(zip(found.keys or (), found.items, strict=True))
            found = Tupled(value.kind, tuple(by_name[n] for n in fields_of(value.kind)))
        value = found
        depth += 1
    if isinstance(value, Tupled):
        items = tuple(frozen(known, item, where, depth) for item in value.items)
        if any(new is not old for new, old in zip(items, value.items, strict=True)):
            return value.of(items)
    return value


def is_mutable(kind: Any) -> bool:
    """Return whether objects of a class can be changed in place: all but tuples and
    frozen records.
    """
    if not isinstance(kind, type) or issubclass(kind, (tuple, str, bytes, frozenset)):
        return False
    options: Any = getattr(kind, "__dataclass_params__", None)
    return options is None or not options.frozen


def thawed(known: Known, value: Value, *, fixed: bool = False) -> Value:
    """A value in which new objects replace the contents of mutable ones."""
    if not isinstance(value, Tupled):
        return value
    items = tuple(thawed(known, item, fixed=fixed) for item in value.items)
    if not is_mutable(value.kind):
        same = all(new is old for new, old in zip(items, value.items, strict=True))
        return value if same else value.of(items)
    keys = value.keys
    if keys is None and is_dataclass(value.kind):
        keys = fields_of(value.kind)
    found = made(known, value.kind, items, keys)
    found.fixed = fixed
    return found
