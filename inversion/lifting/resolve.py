"""What a call means to the inversion pass: a relation, a method to inline, or neither."""

from __future__ import annotations

from collections.abc import Sequence
from inspect import Parameter
from typing import Any, Final

import numpy as np

from overlay import Context, Method, MethodTable, OverlayError
from overlay.core.dispatch import Chain, by_types, resolve
from overlay.core.signature import NO_VARARGS
from overlay.core.target import canonical
from primitives import Relation, relation_of, relations
from primitives.arrays.domain import is_array
from primitives.sequences.lists import is_list

__all__ = ["Resolver"]

NUMBERS: Final = (float, int, bool, complex, np.int64, np.uint64)


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
        if not self.tables:
            return None
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
    asked = relation_of(canonical(target))
    for i, table in enumerate(tables):
        methods = ((method, _given_by_position(method)) for method in table.find(asked))
        accepting = [(method, hints) for method, hints in methods if _may_accept(hints, kinds)]
        exact = [method for method, hints in accepting if hints == tuple(kinds)]
        if exact and all(hints and all(map(_is_number, hints)) for _, hints in accepting):
            return max(exact, key=_added)  # nothing is more specific
        if accepting:
            return resolve(tables[i:], asked, by_types(kinds))
    return None


# Dispatch takes longer, the first time by a tenth of a second: nothing is left to it of calls with
# numbers of just the types that a relation is for, or of others than all relations are for.


def _given_by_position(method: Method) -> tuple[Any, ...] | None:
    """The types that a method is for, where it takes just so many values; else None."""
    given = method.declared
    hints = tuple(p.hint for p in given.positional if p.required)
    plain = given.unresolved is None and given.varargs is NO_VARARGS and not given.keyword_only
    return hints if plain and len(hints) == len(given.positional) else None


def _is_number(kind: Any) -> bool:
    return any(kind is number for number in NUMBERS)


def _may_accept(hints: tuple[Any, ...] | None, kinds: Sequence[Any]) -> bool:
    """Whether a method may match a call with values of these types. hints: as
    ``_given_by_position`` has them."""
    if hints is None or not all(map(_is_number, kinds)):
        return True
    return len(hints) == len(kinds) and all(map(_accepts, hints, kinds))


def _accepts(hint: Any, number: type) -> bool:
    """Whether numbers of a type may be what an annotation says."""
    if _is_number(hint):
        return hint is number or (hint is int and number in (bool, np.int64))
    if is_list(hint) or is_array(hint):
        return False
    # other metaclasses have a say in what is a subclass
    return type(hint) is not type or hint is Parameter.empty or issubclass(number, hint)


def _added(method: Method) -> int:
    """When a method was added, or took the place of one."""
    return max(method.placed, method.serial)


def _made(method: Method, kinds: Sequence[Any]) -> Relation:
    made = method.function(*kinds) if method.generated else None
    if not isinstance(made, Relation):
        raise OverlayError(
            f"{method!r} gave {made!r}, which is no relation",
            where=method.where,
            help="register it with @table.generated(relation_of(f)) and return relation(...)",
        )
    return made
