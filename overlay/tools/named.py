"""Objects named on a command line: contexts, functions and types."""

from __future__ import annotations

import builtins
import functools
import importlib
import operator
import pkgutil
import sys
from typing import Any

from overlay.contexts.context import Context
from overlay.core.errors import OverlayError, closest, near_names

__all__ = ["named", "named_context", "named_hint", "named_type"]


def named(name: str) -> Any:
    """The object that ``package.module:name`` names; the module is imported.

    Raises OverlayError if there is no such module or name. An error that the module itself raises
    propagates.
    """
    module, colon, path = name.partition(":")
    if not (module and colon and path) or module.startswith("."):
        raise OverlayError(f"{name!r} names nothing", help="write package.module:name")
    found = _imported(module, name)
    for part in path.split("."):
        if not hasattr(found, part):
            raise OverlayError(
                f"{getattr(found, '__name__', found)!r} has no {part!r}, asked for as {name!r}",
                notes=closest(near_names(part, dir(found))),
                help="check the spelling",
            )
        found = getattr(found, part)
    return found


def named_context(name: str) -> Context:
    """The context of a name. Raises OverlayError if it names something else."""
    found = named(name)
    if isinstance(found, Context):
        return found
    module = sys.modules[name.partition(":")[0]]
    contexts = [n for n, value in vars(module).items() if isinstance(value, Context)]
    raise OverlayError(
        f"{name!r} is not a Context: {found!r}",
        notes=[("contexts there", ", ".join(contexts))] if contexts else [],
        help="name a Context(...) that the module holds",
    )


def named_type(name: str) -> Any:
    """The type of a name: a builtin, ``module:Class`` or ``module.Class``. Raises OverlayError if
    it names something else."""
    if name == "None":
        return type(None)
    if ":" not in name and "." in name:
        module, _, last = name.rpartition(".")
        name = f"{module}:{last}"
    if ":" not in name and not hasattr(builtins, name):
        kinds = [n for n, value in vars(builtins).items() if isinstance(value, type)]
        raise OverlayError(
            f"there is no builtin type {name!r}",
            notes=closest(near_names(name, kinds)),
            help="write float, numpy.float64 or package.module:Class",
        )
    found = named(name) if ":" in name else getattr(builtins, name)
    if not isinstance(found, type):
        raise OverlayError(f"{name!r} is not a type: {found!r}", help="name a class")
    return found


def named_hint(name: str) -> Any:
    """The annotation of a name: a type, ``list[str]``, ``dict[str, int]``, or ``int | None``.
    Raises OverlayError if a part names something else."""
    parts = _split(name, "|")
    if len(parts) > 1:
        return functools.reduce(operator.or_, map(named_hint, parts))
    outer, bracket, inner = name.partition("[")
    if not bracket:
        return Any if name == "object" else named_type(name)
    if not inner.endswith("]"):
        raise OverlayError(f"{name!r} has no closing bracket", help="write list[str]")
    held = [... if each == "..." else named_hint(each) for each in _split(inner[:-1], ",")]
    cls = named_type(outer)
    if not hasattr(cls, "__class_getitem__"):
        raise OverlayError(f"{outer!r} takes no types of items", help="write list[str]")
    return cls[tuple(held)]


def _split(text: str, mark: str) -> list[str]:
    """The parts of a text between marks that are in no brackets."""
    parts, depth = [""], 0
    for each in text:
        depth += (each == "[") - (each == "]")
        if each == mark and depth == 0:
            parts.append("")
        else:
            parts[-1] += each
    return [part.strip() for part in parts]


def _imported(name: str, asked: str) -> Any:
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        missing = error.name or ""
        if not (name == missing or name.startswith(f"{missing}.")):
            raise
    parent, _, last = missing.rpartition(".")
    places = getattr(sys.modules.get(parent), "__path__", None) if parent else None
    others = (module.name for module in pkgutil.iter_modules(places))
    raise OverlayError(
        f"there is no module {missing!r}, asked for as {asked!r}",
        notes=closest(near_names(last, others)),
        help="check the spelling, and that it can be imported from here",
    )
