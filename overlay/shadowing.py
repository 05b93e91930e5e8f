"""Which methods of a stack of tables calls reach, and what lies below each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from overlay.dispatch import Call, by_types, resolve
from overlay.errors import AmbiguousMethod
from overlay.table import Method, MethodTable

__all__ = ["Layer", "layers"]


@dataclass(frozen=True)
class Layer:
    """One method among those of its target, as a call with its own types meets it.

    taken_by: the method that such a call resolves to in its place, or None. below: what
    ``call_next`` goes on to, or None for the base. is_ambiguous: it is an error, since none of
    several methods is the most specific.
    """

    method: Method
    taken_by: Method | None
    below: Method | None
    is_ambiguous: bool


def layers(tables: Sequence[MethodTable]) -> Iterator[tuple[Any, list[Layer]]]:
    """Each target with its methods. tables: outermost first, as a context holds them; methods of
    inner tables come first. Targets that are not imported are named by their text."""
    inner_first = tuple(reversed(tables))
    for table in tables:
        table.settle()
    methods = [method for table in inner_first for method in table.methods()]
    targets = {id(m.target) if not isinstance(m.target, str) else m.target: m for m in methods}
    for key, first in targets.items():
        own = [m for m in methods if m.target is first.target or m.target == key]
        yield first.target, [_layer(inner_first, method) for method in own]


def _layer(tables: Sequence[MethodTable], method: Method) -> Layer:
    if isinstance(method.target, str) or method.unresolved:
        return Layer(method, None, None, is_ambiguous=False)
    calls = list(_own_calls(method))
    firsts = [resolve(tables, method.target, call) for call in calls]
    others = [first for first in firsts if first is not None and first is not method]
    taken = others[-1] if others and len(others) == len(calls) else None
    try:
        below = resolve(tables, method.target, calls[-1], after=(method,)) if calls else None
    except AmbiguousMethod:
        return Layer(method, taken, None, is_ambiguous=True)
    return Layer(method, taken, below, is_ambiguous=False)


def _own_calls(method: Method) -> Iterator[Call]:
    """Calls with the method's own types, for each number of positional arguments it takes."""
    positional = method.shape[0]
    fewest = sum(required for _, required in positional)
    for count in range(fewest, len(positional) + 1):
        types = [hint for hint, _ in positional[:count]]
        if method.signature(count) is not None:
            yield by_types(types)
