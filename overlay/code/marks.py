"""What stands for instructions that are no calls, in bodies that are analysed.

Transfer functions of a domain take them like any other target. They do not run.
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
    """Stands for a tuple of these."""
    raise _never_runs()


def new(cls: Any) -> Any:
    """Stands for a new object of a builtin class, such as a list."""
    raise _never_runs()


def unpack(value: Any, count: int) -> Any:
    """Stands for the items of what is unpacked, of which there are as many as ``count``."""
    raise _never_runs()


def pick(items: Any, place: int) -> Any:
    """Stands for one of them."""
    raise _never_runs()


def advance(iterator: Any) -> Any:
    """Stands for what a loop asks its iterator for: an item, if there is one."""
    raise _never_runs()


def succeeds(advanced: Any) -> bool:
    """Stands for whether there was one."""
    raise _never_runs()


def first(advanced: Any) -> Any:
    """Stands for the item, where there was one."""
    raise _never_runs()


class Pattern(enum.Enum):
    """A pattern ``cls(...)``: one that asks for the class alone, or for attributes too."""

    PLAIN = enum.auto()
    WITH_PARTS = enum.auto()


def matched(subject: Any, cls: Any, pattern: Pattern) -> Any:
    """Stands for what a pattern takes of an object: a tuple, or None where it does not match."""
    raise _never_runs()


def holds_items(subject: Any) -> bool:
    """Stands for whether an object is a sequence, or a mapping, to a pattern."""
    raise _never_runs()


def caught(cls: Any) -> Any:
    """Stands for whether the exception that is handled is of a class, or of one of several."""
    raise _never_runs()


def part(value: Any) -> Any:
    """Stands for one of the items of what is unpacked beside a starred target."""
    raise _never_runs()


def rest(value: Any) -> Any:
    """Stands for the list that a starred target takes."""
    raise _never_runs()


def put(container: Any, *items: Any) -> Any:
    """Stands for adding to a container that an expression makes: an item, or all of another."""
    raise _never_runs()


def outer() -> Any:
    """Stands for what a name from outside holds that may change while the program runs."""
    raise _never_runs()


def named(own: Any, otherwise: Any) -> Any:
    """Stands for what a name holds in the body of a class or module: its own variable, where that
    is set, or else what is around it."""
    raise _never_runs()


def of_super(cls: Any, above: Any, receiver: Any) -> Any:
    """Stands for an attribute of ``super()``."""
    raise _never_runs()


def other(*args: Any) -> Any:
    """Stands for an instruction of which no other statement tells what it does."""
    raise _never_runs()


UNKNOWN = (part, rest, outer, named, of_super, other, caught)
"""Those of which no analysis of values knows what they give."""


def give(value: Any) -> Any:
    """Stands for ``yield``: gives what is sent."""
    raise _never_runs()


def _never_runs() -> TypeError:
    return TypeError("this stands for an instruction of a program that is analysed, not run")
