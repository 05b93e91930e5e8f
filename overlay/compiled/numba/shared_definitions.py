"""numba's definitions of compiled code that several worlds share."""

from __future__ import annotations

import weakref
from typing import Any

from numba.core import types, utils
from numba.core.registry import cpu_target

from overlay.compiled.basis import Holder
from overlay.compiled.numba.numba_types import Type
from overlay.compiled.numba.numba_typing import OURS

__all__ = ["Annotation", "accept_other_worlds", "forget_definition", "is_of_world"]


def is_of_world(ty: Type) -> bool:
    """Whether a type refers to functions or contexts of one world."""
    if isinstance(ty, types.Dispatcher):
        return isinstance(ty.dispatcher, Holder)
    if isinstance(ty, OURS):
        return True
    parts = [part for value in vars(ty).values() for part in _parts(value)]
    return any(map(is_of_world, parts))


def _parts(value: Any) -> tuple[Type, ...]:
    if isinstance(value, (tuple, list)):
        return tuple(part for part in value if isinstance(part, Type))
    return (value,) if isinstance(value, Type) else ()


def forget_definition(entry_point: Any) -> None:
    """Remove numba's definition of code that is gone."""
    if not utils.shutting_down():
        cpu_target.target_context._defns.pop(entry_point, None)


def accept_other_worlds(result: Any) -> None:
    """Let numba find the code for functions of other worlds as arguments, too."""
    definitions = cpu_target.target_context._defns
    if any(map(is_of_world, result.signature.args)) and result.entry_point in definitions:
        known = definitions.pop(result.entry_point)
        for args, implementation in known.versions:
            given = tuple(types.Any if is_of_world(ty) else ty for ty in args)
            definitions[result.entry_point].append(implementation, given)


class Annotation:
    """numba's type annotation of a function, held weakly: it exists as long as its world."""

    def __init__(self, annotation: Any) -> None:
        self._annotation = None if annotation is None else weakref.ref(annotation)

    def _found(self) -> Any:
        return None if self._annotation is None else self._annotation()

    def __str__(self) -> str:
        return str(self._found() or "(compiled in a context that is gone)")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._found(), name)
