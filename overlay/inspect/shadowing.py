"""Shadowing: the methods of a stack of tables that calls reach, and the method below each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from overlay.core.dispatch import Call, MethodChain, by_types
from overlay.core.errors import AmbiguousMethod
from overlay.core.table import Method, MethodTable

__all__ = ["Layer", "layers"]


@dataclass(frozen=True)
class Layer:
    """A method among those of its target, as a call with its declared types sees it.

    taken_by: the method that such a call resolves to instead, or None. below: the method that
    ``call_next`` calls, or None for the base. is_ambiguous: whether ``call_next`` raises
    AmbiguousMethod, because no method below is the most specific.
    """

    method: Method
    taken_by: Method | None
    below: Method | None
    is_ambiguous: bool


def layers(tables: Sequence[MethodTable]) -> Iterator[tuple[Any, list[Layer]]]:
    """Each target with its methods, those of inner tables first.

    tables: outermost first, as a context stores them. A target that is not imported is identified
    by its name. For such a target, and where an annotation of a method is not defined yet,
    ``taken_by`` and ``below`` are None.
    """
    inner_first = tuple(reversed(tables))
    for table in tables:
        table.settle()
    by_target: dict[Any, list[Method]] = {}
    for method in (method for table in inner_first for method in table.methods()):
        target = method.target
        by_target.setdefault(target if isinstance(target, str) else id(target), []).append(method)
    for own in by_target.values():
        if any(isinstance(m.target, str) or m.unresolved for m in own):
            yield own[0].target, [Layer(m, None, None, is_ambiguous=False) for m in own]
        else:
            yield own[0].target, [_layer(inner_first, method) for method in own]


def _layer(tables: Sequence[MethodTable], method: Method) -> Layer:
    calls, chain = list(_own_calls(method)), MethodChain.of(method.target, tables)
    firsts = [chain.resolve(call) for call in calls]
    others = [first for first in firsts if first is not None and first is not method]
    taken = others[-1] if others and len(others) == len(calls) else None
    try:
        below = chain.after(method).resolve(calls[-1]) if calls else None
    except AmbiguousMethod:
        return Layer(method, taken, None, is_ambiguous=True)
    return Layer(method, taken, below, is_ambiguous=False)


def _own_calls(method: Method) -> Iterator[Call]:
    """Calls with the method's own types, for each number of positional arguments that it
    accepts."""
    positional = method.shape[0]
    fewest = sum(required for _, required in positional)
    for count in range(fewest, len(positional) + 1):
        types = [hint for hint, _ in positional[:count]]
        if method.signature(count) is not None:
            yield by_types(types)
