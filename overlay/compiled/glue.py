"""Glue: generated functions that wrap another one and forward their arguments."""

from __future__ import annotations

import functools
import operator
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
    "applying",
    "by_position",
    "calling",
    "calling_attribute",
    "choosing",
    "ending",
    "finding",
    "generating",
    "looking_up",
    "returning",
]

# File name of the glue functions.
GLUE: Final = "<overlay>"
# How an argument is forwarded: by position, unpacked, as the keyword of this name, or (None) not
# at all.
Way = str | None
BY_POSITION: Final = ""
SPREAD: Final = "*"

# Held weakly by the cache: those of one target are shared by all worlds.
_made: weakref.WeakValueDictionary[Any, python_types.FunctionType] = weakref.WeakValueDictionary()


def calling(target: Any, ways: tuple[Way, ...] | None = None) -> Any:
    """A Python function that calls ``target`` with its arguments, forwarded as given, or all by
    position.
    """
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


def choosing(functions: Sequence[Any], ways: tuple[Way, ...], is_number: Any) -> Any:
    """A Python function that calls one of several functions, by a number that it takes first.

    is_number: called with that number and one of a function.
    """
    taken, handed = _handed_on(ways)
    last = len(functions) - 1
    lines = [f"    if is_number(chosen, {i}): return f{i}({handed})" for i in range(last)]
    source = "\n".join([f"def entry(chosen, {taken}):", *lines, f"    return f{last}({handed})"])
    namespace: dict[str, Any] = {f"f{i}": function for i, function in enumerate(functions)}
    namespace["is_number"] = is_number
    exec(compile(source, GLUE, "exec"), namespace)
    return namespace["entry"]


def looking_up(keys: Sequence[Any], is_equal: Any, *, has_default: bool) -> Any:
    """A Python function that takes a key, a default where it has one, and the values of the keys,
    and returns the value of the key, or the default; without one it raises KeyError.

    is_equal: compares two keys. ``stands_for`` of the function is the operation of the program.
    """
    taken = ["key", *["default"] * has_default, *(f"v{i}" for i in range(len(keys)))]
    lines = [f"    if is_equal(key, k{i}): return v{i}" for i in range(len(keys))]
    lines.append("    return default" if has_default else "    raise KeyError(key)")
    source = "\n".join([f"def entry({', '.join(taken)}):", *lines])
    namespace: dict[str, Any] = {f"k{i}": key for i, key in enumerate(keys)}
    namespace["is_equal"] = is_equal
    exec(compile(source, GLUE, "exec"), namespace)
    found = namespace["entry"]
    found.stands_for = dict.get if has_default else operator.getitem
    return found


def returning(expression: str, parameters: str, /, **namespace: Any) -> Any:
    """A Python function of these parameters that returns an expression of them and of names."""
    exec(compile(f"def read({parameters}): return {expression}", GLUE, "exec"), namespace)
    return namespace["read"]


def generating(size: Any, item: Any, numbers: Any) -> Any:
    """A generator function that yields the items of what it is given, by their places."""
    source = "def iterate(held):\n    for i in numbers(size(held)): yield item(held, i)"
    namespace: dict[str, Any] = {"size": size, "item": item, "numbers": numbers}
    exec(compile(source, GLUE, "exec"), namespace)
    return namespace["iterate"]


def finding(is_equal: Any) -> Any:
    """A Python function that tells whether something is one of some items."""
    source = (
        "def find(items, wanted):\n"
        "    for each in items:\n        if is_equal(each, wanted): return True\n"
        "    return False"
    )
    namespace: dict[str, Any] = {"is_equal": is_equal}
    exec(compile(source, GLUE, "exec"), namespace)
    return namespace["find"]


# by the partial itself, which is compared by identity
_applying: weakref.WeakKeyDictionary[Any, python_types.FunctionType] = weakref.WeakKeyDictionary()


def applying(partial: functools.partial[Any]) -> Any:
    """A Python function that calls the function of a ``functools.partial`` with its arguments."""
    found = _applying.get(partial)
    if found is None:
        namespace = {f"a{i}": value for i, value in enumerate(partial.args)}
        given = [*namespace, "*rest", *(f"{name}=k_{name}" for name in partial.keywords)]
        namespace |= {f"k_{name}": value for name, value in partial.keywords.items()}
        namespace["function"] = partial.func
        source = f"def call(*rest): return function({', '.join(given)})"
        exec(compile(source, GLUE, "exec"), namespace)
        found = _applying[partial] = namespace["call"]
    return found


def ending(target: Any, ways: tuple[Way, ...], error: OverlayError) -> Any:
    """A Python function that calls ``target`` in this way and is expected to end by an exception:
    if it does not, this raises an error like the given one."""
    taken, handed = _handed_on(ways)
    namespace: dict[str, Any] = {"target": target, "kind": type(error), "message": str(error)}
    source = f"def entry({taken}):\n    target({handed})\n    raise kind(message)"
    exec(compile(source, GLUE, "exec"), namespace)
    return namespace["entry"]


def by_position(count: int | None, names: Sequence[str] = ()) -> tuple[Way, ...] | None:
    """The ways of a number of arguments by position, and of others by keyword; None for all of an
    unknown number."""
    return None if count is None else (*[BY_POSITION] * count, *names)


def _handed_on(ways: tuple[Way, ...] | None) -> tuple[str, str]:
    """The parameters of a glue function, and the arguments that it passes, as text."""
    if ways is None:
        return "*args", "*args"
    names = [f"a{i}" for i in range(len(ways))]
    handed = [_handed(name, way) for name, way in zip(names, ways, strict=True) if way is not None]
    return ", ".join(names), ", ".join(handed)


def _handed(name: str, way: str) -> str:
    if way in (BY_POSITION, SPREAD):
        return way + name
    return f"{way}={name}"
