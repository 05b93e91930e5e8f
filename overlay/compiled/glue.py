"""Functions that the engine writes around others, which hand their arguments on."""

from __future__ import annotations

import functools
import types as python_types
import weakref
from collections.abc import Sequence
from typing import Any, Final

from overlay.core.errors import OverlayError

__all__ = [
    "BY_POSITION",
    "GLUE",
    "SPREAD",
    "Way",
    "by_position",
    "calling",
    "calling_attribute",
    "ending",
]

# The file of functions that the engine writes around others.
GLUE: Final = "<overlay>"
# How a function hands on an argument: by position, all that are in it, under a name, or not.
Way = str | None
BY_POSITION: Final = ""
SPREAD: Final = "*"

# Those that something refers to: those of one target serve in every world.
_made: weakref.WeakValueDictionary[Any, python_types.FunctionType] = weakref.WeakValueDictionary()


def calling(target: Any, ways: tuple[Way, ...] | None = None) -> Any:
    """A Python function that calls ``target`` with its arguments, each handed on in its way, or
    all by position."""
    key = id(target), ways
    found = _made.get(key)
    if found is None:
        taken, handed = _handed_on(ways)
        namespace: dict[str, Any] = {"target": target}
        source = f"def entry({taken}): return target({handed})"
        exec(compile(source, GLUE, "exec"), namespace)
        found = _made[key] = namespace["entry"]
    return found


@functools.cache
def calling_attribute(name: str) -> Any:
    """A Python function that calls a method of its first argument."""
    namespace: dict[str, Any] = {}
    source = f"def call(receiver, *args): return receiver.{name}(*args)"
    exec(compile(source, GLUE, "exec"), namespace)
    return namespace["call"]


def ending(target: Any, ways: tuple[Way, ...], error: OverlayError) -> Any:
    """A Python function that calls ``target`` so, which is to end by an exception: where it does
    not this raises an error like the one given."""
    taken, handed = _handed_on(ways)
    namespace: dict[str, Any] = {"target": target, "kind": type(error), "message": str(error)}
    source = f"def entry({taken}):\n    target({handed})\n    raise kind(message)"
    exec(compile(source, GLUE, "exec"), namespace)
    return namespace["entry"]


def by_position(count: int | None, names: Sequence[str] = ()) -> tuple[Way, ...] | None:
    """The ways of so many arguments, and of others by name; of None, of all there are."""
    return None if count is None else (*[BY_POSITION] * count, *names)


def _handed_on(ways: tuple[Way, ...] | None) -> tuple[str, str]:
    """What a function takes, and what it hands on."""
    if ways is None:
        return "*args", "*args"
    names = [f"a{i}" for i in range(len(ways))]
    handed = [_handed(name, way) for name, way in zip(names, ways, strict=True) if way is not None]
    return ", ".join(names), ", ".join(handed)


def _handed(name: str, way: str) -> str:
    if way in (BY_POSITION, SPREAD):
        return way + name
    return f"{way}={name}"
