"""Joins of two paths: values that are equal on both stay, others become results of a branch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from inversion.errors import NotInvertible
from inversion.lifting import self_calls
from inversion.lifting.exits import End, Place, Way, end_at, names_at, stand_in
from inversion.lifting.lifted_values import (
    Again,
    CallSite,
    KnownObject,
    Meaningless,
    Tupled,
    Value,
    numbers_in,
    plain,
    shown_kind,
    shown_name,
)
from inversion.program.statements import Constant, Operand, Variable
from primitives.arrays.domain import array_of, element_of, is_array, shape_of

if TYPE_CHECKING:
    from inversion.lifting.execution_paths import Walk


class Join:
    """Joins the values of two paths; where they differ, the branch gets a result. where:
    ``file:line`` of the branch.
    """

    def __init__(self, walk: Walk, where: str, ways: list[Way], known: Mapping[str, Value]) -> None:
        self.walk = walk
        self.lifter = walk.lifter
        self.where = where
        self.ways = ways
        self.known = {number for value in known.values() for number in numbers_in(value)}
        self.results: list[Variable] = []
        self.gives: list[tuple[Operand, Operand]] = []
        self.arrays: dict[tuple[Operand, Operand], Variable] = {}

    def end(self, place: Place, ends: Sequence[End | None]) -> End:
        """The joined end of both paths at a place, which one of them may not reach."""
        live = self.walk.live_at(place)
        first, second = (None if end is None else names_at(end, live) for end in ends)
        one, other = first or {}, second or {}
        if first is None:
            one = {name: stand_in(value, self.known) for name, value in other.items()}
        if second is None:
            other = {name: stand_in(value, self.known) for name, value in one.items()}
        values = {
            name: self.value(self.walk.site.name if place is None else name, one[name], other[name])
            for name in one
            if name in other
        }
        return end_at(place, values, self.where)

    def flag(self, place: Place, then: Operand, orelse: Operand) -> Operand:
        """The joined flag of whether the path taken reaches a place."""
        found = self.value("returns" if place is None else "goes_on", then, orelse)
        assert isinstance(found, (Variable, Constant))
        return found

    def value(self, name: str, then: Value, orelse: Value) -> Value:
        """The joined value of a name."""
        if then == orelse:
            return then
        for one in (then, orelse):
            if isinstance(one, Meaningless):
                return one
        if all(map(_is_text, (then, orelse))):  # written out, or computed
            then, orelse = (
                Constant(plain(one)) if isinstance(one, KnownObject) else one
                for one in (then, orelse)
            )
        if isinstance(then, Tupled) and isinstance(orelse, Tupled):
            if then.kind is orelse.kind and len(then.items) == len(orelse.items):
                pairs = zip(then.items, orelse.items, strict=True)
                return Tupled(then.kind, tuple(self.value(name, *pair) for pair in pairs))
        elif isinstance(then, (Variable, Constant)) and isinstance(orelse, (Variable, Constant)):
            return self.number(name, then, orelse)
        if isinstance(then, Again) or isinstance(orelse, Again):
            site = replace(self.walk.site, where=self.where)
            return Meaningless(self_calls.used_otherwise(site, "one way of a branch"))
        kinds = [f"a {shown_kind(one)}" for one in (then, orelse)]
        if kinds[0] == kinds[1]:
            kinds[1] = f"another {shown_kind(orelse)}"
        help = "give it the same type on both, and the same number of items"
        return Meaningless(
            NotInvertible(
                f"a value is {kinds[0]} on one way and {kinds[1]} on the other",
                where=self.where,
                help=help if kinds[1].startswith("a ") else "take it out of the branch",
            )
        )

    def number(self, name: str, then: Operand, orelse: Operand) -> Variable:
        if (then, orelse) in self.arrays:  # names of one array go on naming one
            return self.arrays[then, orelse]
        kind = then.kind
        if then.kind is not orelse.kind:
            elements = {element_of(then.kind), element_of(orelse.kind)}
            shapes = {shape_of(then.kind), shape_of(orelse.kind)}
            if not elements <= {int, float, bool, np.int64} or len(shapes) > 1:
                raise NotInvertible(
                    f"{shown_name(name)} is of type {shown_kind(then)} on one way and of type "
                    f"{shown_kind(orelse)} on the other",
                    where=self.where,
                    help="convert one of them",
                )
            kind = float if float in elements else int
            kind = array_of(kind, *shapes) if is_array(then.kind) else kind
        site = replace(self.walk.site, name=name, where=self.where)
        given = [
            self.converted(site, value, kind, way)
            for value, way in zip((then, orelse), self.ways, strict=True)
        ]
        result = self.lifter.variable(name, kind, "branch")
        self.results.append(result)
        self.gives.append((given[0], given[1]))
        if is_array(kind):
            self.arrays[then, orelse] = result
            self.lifter.arrays.joined(result, (then, orelse))
        return result

    def converted(self, site: CallSite, value: Operand, kind: Any, way: Way) -> Operand:
        """A value converted to the common type, at the end of its path."""
        outer, self.lifter.statements = self.lifter.statements, way.statements
        try:
            return self.lifter.converted(site, value, kind)
        finally:
            self.lifter.statements = outer


def _is_text(value: Value) -> bool:
    """Whether a value is a string, written out or computed."""
    if isinstance(value, KnownObject):
        return isinstance(value.value, str)
    return isinstance(value, (Variable, Constant)) and value.kind is str
