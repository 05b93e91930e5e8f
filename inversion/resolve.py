"""What a call means to the inversion pass: a relation, a method to inline, or neither."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from overlay import Context, Method, MethodTable, OverlayError
from overlay.dispatch import Chain, by_types, resolve
from overlay.target import canonical
from primitives import Relation, relation_of, relations

__all__ = ["Resolver"]


class Resolver:
    """Finds relations and overlay methods in the tables of a context, and the base relations."""

    def __init__(self, context: Context | None) -> None:
        self.tables: tuple[MethodTable, ...] = ()
        if context is not None:
            self.tables = tuple(reversed(context.tables))
        for table in self.tables:
            table.settle()
        # what was asked for before, with the function, which keeps its identity
        self.asked: dict[tuple[Any, ...], tuple[Any, Relation | None]] = {}

    def overlaid(
        self, target: Any, kinds: Sequence[Any], names: Sequence[str]
    ) -> Relation | Method | None:
        """What the context's tables say of a call, whose last arguments have these keywords.

        Of a relation and a method, the one in the inner table counts; in the same table it is
        the relation: a function that has a relation is not entered.
        """
        method = resolve(self.tables, canonical(target), by_types(kinds, names))
        found = None if names else _found(self.tables, target, kinds)
        if found is None:
            return method
        depth = self.tables.index
        if method is not None and depth(method.table) < depth(found.table):
            return method
        return _made(found, kinds)

    def below(
        self, chain: Chain, target: Any, kinds: Sequence[Any], names: Sequence[str]
    ) -> Method | None:
        """The method that ``call_next`` reaches after these, or None for the base."""
        return resolve(self.tables, canonical(target), by_types(kinds, names), chain)

    def relation(self, target: Any, kinds: Sequence[Any], *, base: bool) -> Relation | None:
        """The relation of a function for these types. base: leave out the context's tables."""
        key = id(target), tuple(kinds), base
        if key not in self.asked:
            tables = (relations,) if base else (*self.tables, relations)
            found = _found(tables, target, kinds)
            self.asked[key] = target, None if found is None else _made(found, kinds)
        return self.asked[key][1]


def _found(tables: Sequence[MethodTable], target: Any, kinds: Sequence[Any]) -> Method | None:
    return resolve(tables, relation_of(canonical(target)), by_types(kinds))


def _made(method: Method, kinds: Sequence[Any]) -> Relation:
    made = method.function(*kinds) if method.generated else None
    if not isinstance(made, Relation):
        raise OverlayError(
            f"{method!r} gave {made!r}, which is no relation",
            where=method.where,
            help="register it with @table.generated(relation_of(f)) and return relation(...)",
        )
    return made
