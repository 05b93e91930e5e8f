"""Marks: placeholder functions, in analysed bodies, for instructions that are no calls.

A domain's transfer functions may be registered for them as for any other target. They do not run.
"""

from __future__ import annotations

import enum
from typing import Any

__all__ = [
    "UNKNOWN",
    "Pattern",
    "advance",
    "caught",
    "first",
    "give",
    "holds_items",
    "keyed",
    "matched",
    "named",
    "new",
    "of_super",
    "other",
    "outer",
    "pack",
    "part",
    "pick",
    "put",
    "rest",
    "succeeds",
    "unpack",
]


def pack(*items: Any) -> Any:
    """Mark: a tuple of the items."""
    raise _never_runs()


def new(cls: Any) -> Any:
    """Mark: a new object of a builtin class, such as a list."""
    raise _never_runs()


def unpack(value: Any, count: int) -> Any:
    """Mark: the items of an unpacked value, exactly ``count``."""
    raise _never_runs()


def pick(items: Any, place: int) -> Any:
    """Mark: one item of an ``unpack``."""
    raise _never_runs()


def advance(iterator: Any) -> Any:
    """Mark: a loop's step of its iterator, which gives an item if there is one."""
    raise _never_runs()


def succeeds(advanced: Any) -> bool:
    """Mark: whether an ``advance`` gave an item."""
    raise _never_runs()


def first(advanced: Any) -> Any:
    """Mark: the item of an ``advance``, if it gave one."""
    raise _never_runs()


class Pattern(enum.Enum):
    """Kind of class pattern: ``cls()`` tests the class alone, another one attributes too."""

    PLAIN = enum.auto()
    WITH_PARTS = enum.auto()


def matched(subject: Any, cls: Any, pattern: Pattern) -> Any:
    """Mark: the attributes that a class pattern extracts: a tuple, or None without a match."""
    raise _never_runs()


def holds_items(subject: Any) -> bool:
    """Mark: whether an object is a sequence, or a mapping, for a pattern."""
    raise _never_runs()


def keyed(subject: Any, keys: Any) -> Any:
    """Mark: the values that a mapping pattern extracts: a tuple, or None where a key is missing."""
    raise _never_runs()


def caught(cls: Any) -> Any:
    """Mark: whether the handled exception is an instance of a class, or of one of a tuple."""
    raise _never_runs()


def part(value: Any) -> Any:
    """Mark: one of the items unpacked beside a starred target."""
    raise _never_runs()


def rest(value: Any) -> Any:
    """Mark: the list that is assigned to a starred target."""
    raise _never_runs()


def put(container: Any, *items: Any) -> Any:
    """Mark: an item, or all items of another container, added to one that is being built."""
    raise _never_runs()


def outer() -> Any:
    """Mark: the value of an outer name that may be rebound while the program runs."""
    raise _never_runs()


def named(own: Any, otherwise: Any) -> Any:
    """Mark: the value of a name in the body of a class or module: its own variable if that is set,
    else the enclosing scope's."""
    raise _never_runs()


def of_super(cls: Any, above: Any, receiver: Any) -> Any:
    """Mark: an attribute of ``super()``."""
    raise _never_runs()


def other(*args: Any) -> Any:
    """Mark: an instruction that no other statement describes."""
    raise _never_runs()


UNKNOWN = (part, rest, outer, named, of_super, other, caught, keyed)
"""The marks whose results are unknown to every analysis of values."""


def give(value: Any) -> Any:
    """Mark: ``yield`` of a value; its result is the value sent."""
    raise _never_runs()


def _never_runs() -> TypeError:
    return TypeError("this stands for an instruction of a program that is analysed, not run")
