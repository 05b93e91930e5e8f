"""Objects named on a command line: contexts, functions and types."""

from __future__ import annotations

import builtins
import functools
import importlib
import importlib.util
import operator
import os
import pkgutil
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any

from overlay.contexts.context import Context
from overlay.core.errors import OverlayError, closest, near_names
from overlay.core.short_repr import cut

__all__ = ["module_of", "named", "named_context", "named_function", "named_hint", "named_type"]


def named(name: str, fitting: str = "", fits: Callable[[Any], bool] = callable) -> Any:
    """The object that ``package.module:name`` names; the module is imported. fitting: what has to
    be named, in the plural; fits: whether an object is that.

    Raises OverlayError if there is no such module or name. An error that the module itself raises
    propagates.
    """
    module, colon, path = name.partition(":")
    if path and _module_of_file(module):
        raise OverlayError(
            f"there is no module {module!r}, which is a file, asked for as {name!r}",
            help=f"write {_module_of_file(module)}:{path}",
        )
    if not path and fitting and (only := module_of(module)):
        there = _listed(_imported(only, name), fits)
        raise OverlayError(
            f"{name!r} is a module, and names nothing in it",
            notes=[(f"{fitting} there", cut(", ".join(there)))] if there else [],
            help=f"write {only}:{there[0] if there else 'name'}",
        )
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
    found = named(name, "contexts", _is_context)
    if isinstance(found, Context):
        return found
    contexts = _listed(sys.modules[name.partition(":")[0]], _is_context)
    raise OverlayError(
        f"{name!r} is not a Context: {found!r}",
        notes=[("contexts there", ", ".join(contexts))] if contexts else [],
        help="name a Context(...) that the module holds",
    )


def named_function(name: str) -> Callable[..., Any]:
    """The function, or other callable, of a name. Raises OverlayError if it names something
    else."""
    found = named(name, "functions")
    if callable(found):
        return found
    raise OverlayError(
        f"{name!r} is not callable: {found!r}",
        help="name a function, as package.module:function",
    )


def module_of(text: str) -> str | None:
    """The module that a text names: by its name, or by that of its file in the working folder."""
    if written := _module_of_file(text):
        return written
    if not all(part.isidentifier() for part in text.split(".")):
        return None
    try:
        found = importlib.util.find_spec(text)
    except (ModuleNotFoundError, ValueError):  # of what contains it; or __main__
        return None
    return None if found is None or found.origin is None else text


def _module_of_file(path: str) -> str | None:
    if not (path.endswith(".py") and os.path.isfile(path)):
        return None
    parts = os.path.relpath(path).removesuffix(".py").split(os.sep)
    return ".".join(parts) if all(part.isidentifier() for part in parts) else None


def _is_context(value: object) -> bool:
    return isinstance(value, Context)


def _listed(module: ModuleType, fits: Callable[[Any], bool]) -> list[str]:
    """The names of what fits in a module; of functions those that it defines."""
    held = {name: value for name, value in vars(module).items() if fits(value)}
    if fits is not callable:
        return list(held)
    own = module.__name__
    return [
        name
        for name, value in held.items()
        if not name.startswith("_")
        and not isinstance(value, type)
        and getattr(value, "__module__", None) == own
    ]


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
