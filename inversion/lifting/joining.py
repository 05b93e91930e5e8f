"""Joins of two paths: values that are equal on both remain, others become results of a branch."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from inversion.errors import NotInvertible
from inversion.lifting import self_calls
from inversion.lifting.exits import End, Place, Way, end_at, names_at, stand_in
from inversion.lifting.heap import frozen, is_mutable
from inversion.lifting.lifted_values import (
    Again,
    CallSite,
    HeapObject,
    Known,
    KnownObject,
    Meaningless,
    Tupled,
    Value,
    numbers_in,
    plain,
    shown_kind,
    shown_name,
)
from inversion.lifting.mixed_numbers import InType, OfWays, joined_kinds, parts_of
from inversion.lifting.sequence_calls import sequence_of
from inversion.program.statements import Constant, EmptyList, Operand, Variable
from overlay.core.short_repr import a_or_an, counted
from primitives.arrays.domain import array_of, element_of, is_array, shape_of
from primitives.sequences.lists import is_list

if TYPE_CHECKING:
    from inversion.lifting.execution_paths import Walk


class Join:
    """The join of the values of two paths; where they differ, the branch gets a result.

    where: ``file:line`` of the branch. condition: if it is true, the first path is taken.
    """

    def __init__(
        self,
        walk: Walk,
        where: str,
        condition: Variable,
        ways: list[Way],
        known: Mapping[str, Value],
    ) -> None:
        self.walk = walk
        self.condition = condition
        self.lifter = walk.lifter
        self.where = where
        self.ways = ways
        self.known = {number for value in known.values() for number in numbers_in(value)}
        self.before = {key for key in known if isinstance(key, HeapObject)}
        self.ends: tuple[Known, Known] = ({}, {})
        self.met: dict[tuple[HeapObject, HeapObject], HeapObject] = {}
        self.heap = Known()
        self.results: list[Variable] = []
        self.gives: list[tuple[Operand, Operand]] = []
        self.arrays: dict[tuple[Operand, Operand], Variable] = {}

    def end(self, place: Place, ends: Sequence[End | None]) -> End:
        """The joined end of both paths at a place, which possibly only one of them reaches."""
        live = self.walk.live_at(place)
        first, second = (None if end is None else names_at(end, live) for end in ends)
        one, other = first or {}, second or {}
        if first is None:
            one = {name: stand_in(value, self.known) for name, value in other.items()}
        if second is None:
            other = {name: stand_in(value, self.known) for name, value in one.items()}
        self.ends, self.met, self.heap = (one, other), {}, {}
        values: Known = {
            name: self.value(self.name_of(name, place), one[name], other[name])
            for name in one
            if name in other
        }
        return end_at(place, {**values, **self.heap}, self.where)

    def name_of(self, name: Any, place: Place) -> str:
        """The name for the joined value of a name, or for the joined contents of an object."""
        if isinstance(name, HeapObject):
            return name.kind.__name__
        return self.walk.site.name if place is None else name

    def flag(self, place: Place, then: Operand, orelse: Operand) -> Operand:
        """The joined flag that says whether a path reaches a place."""
        found = self.value("returns" if place is None else "goes_on", then, orelse)
        assert isinstance(found, (Variable, Constant))
        return found

    def value(self, name: str, then: Value, orelse: Value) -> Value:
        """The joined value of a name."""
        if then is orelse or then == orelse:
            return then
        for one in (then, orelse):
            if isinstance(one, Meaningless):
                return one
        if all(map(_is_text, (then, orelse))):  # constant, or computed
            then, orelse = (
                Constant(plain(one)) if isinstance(one, KnownObject) else one
                for one in (then, orelse)
            )
        then, orelse = self.as_lists(*self.as_texts(then, orelse))
        if isinstance(then, Tupled) and isinstance(orelse, Tupled):
            if then.is_like(orelse):
                pairs = zip(then.items, orelse.items, strict=True)
                return then.of(self.value(name, *pair) for pair in pairs)
            if then.kind is orelse.kind and is_mutable(then.kind):
                return Meaningless(self._of_two_shapes(then, orelse))
        elif isinstance(then, HeapObject) and isinstance(orelse, HeapObject):
            if then.kind is orelse.kind:
                return self.object(name, then, orelse)
        elif isinstance(then, (Variable, Constant)) and isinstance(orelse, (Variable, Constant)):
            return self.number(name, then, orelse)
        if isinstance(then, Again) or isinstance(orelse, Again):
            return Meaningless(self_calls.used_otherwise(self.where, "one path of a branch"))
        kinds = [a_or_an(shown_kind(one)) for one in (then, orelse)]
        if kinds[0] == kinds[1]:
            kinds[1] = f"another {shown_kind(orelse)}"
        help = "give it the same type on both paths, and the same number of items"
        return Meaningless(
            NotInvertible(
                f"a value is {kinds[0]} on one path and {kinds[1]} on the other",
                where=self.where,
                help=help if kinds[1].startswith("a ") else "move it out of the branch",
            )
        )

    def as_texts(self, then: Value, orelse: Value) -> tuple[Value, Value]:
        """Both values as operands, if they are strings and not characters of one number."""
        is_one = isinstance(then, Tupled) and then.is_like(orelse)
        kinds = all(one.kind is str for one in (then, orelse))
        if is_one or not kinds or not any(isinstance(one, Tupled) for one in (then, orelse)):
            return then, orelse
        one, other = (
            self.within(way, lambda value=value: sequence_of(self.lifter, self.site, value))
            for way, value in zip(self.ways, (then, orelse), strict=True)
        )
        return one, other

    def as_lists(self, then: Value, orelse: Value) -> tuple[Value, Value]:
        """Both values as operands, if one is a list with an unknown number of items."""
        kinds = {v.kind for v in (then, orelse) if is_list(v.kind) and not _is_known_list(v)}
        if len(kinds) != 1 or not any(map(_is_known_list, (then, orelse))):
            return then, orelse
        kind = kinds.pop()
        one, other = (
            self.as_list(value, kind, place) if _is_known_list(value) else value
            for place, value in enumerate((then, orelse))
        )
        return one, other

    def as_list(self, value: Value, kind: Any, place: int) -> Value:
        """A list of known items as one operand, at the end of one of the paths."""
        items = frozen(self.ends[place], value, self.where)
        if isinstance(items, Tupled) and not items.items:
            return EmptyList([], kind.element)
        site = self.site
        return self.within(self.ways[place], lambda: sequence_of(self.lifter, site, items, kind))

    @property
    def site(self) -> CallSite:
        """The site of the branch."""
        return replace(self.walk.site, where=self.where)

    def object(self, name: str, then: HeapObject, orelse: HeapObject) -> HeapObject:
        """One object for two, with their contents joined. If one of them has a name from before the
        branch, neither may be changed afterwards.
        """
        found = self.met.get((then, orelse))
        if found is None:
            found = HeapObject(then.kind, then.fixed or orelse.fixed)
            for one in {then, orelse} & self.before:
                one.fixed = found.fixed = True
            self.met[then, orelse] = found
            others = {one for pair in self.met for one in pair}
            if len(others) < 2 * len(self.met):  # one of them is joined with another object as well
                for one in (*others, *self.met.values()):
                    one.fixed = True
            contents = self.ends[0].get(then), self.ends[1].get(orelse)
            if contents[0] is not None and contents[1] is not None:
                self.heap[found] = self.value(name, contents[0], contents[1])
        return found

    def _of_two_shapes(self, then: Tupled, orelse: Tupled) -> NotInvertible:
        shown = then.kind.__name__
        shapes = [
            counted(len(one.items), "item") if one.keys is None else ", ".join(map(str, one.keys))
            for one in (then, orelse)
        ]
        return NotInvertible(
            f"{a_or_an(shown)} has {shapes[0] or 'nothing'} on one path and "
            f"{shapes[1] or 'nothing'} on the other",
            where=self.where,
            help="give it the same items on both paths, or move the code that uses it into the "
            "branch",
        )

    def number(self, name: str, then: Operand, orelse: Operand) -> Variable:
        if (then, orelse) in self.arrays:  # the names of one array continue to refer to one array
            return self.arrays[then, orelse]
        kind = then.kind
        if then.kind is not orelse.kind:
            elements = {element_of(then.kind), element_of(orelse.kind)}
            shapes = {shape_of(then.kind), shape_of(orelse.kind)}
            if not elements <= {int, float, bool, np.int64} or len(shapes) > 1:
                raise NotInvertible(
                    f"{shown_name(name)} is of type {shown_kind(then)} on one path and of type "
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
        kinds = joined_kinds(self.lifter, (then, orelse))
        if kinds:
            self.lifter.mixed[result] = OfWays(kinds, self.parts(name, kinds, then, orelse))
        return result

    def parts(
        self, name: str, kinds: tuple[type, ...], then: Operand, orelse: Operand
    ) -> tuple[InType, ...]:
        """A number in each of the types that it may have, for uses that depend on the type."""
        if not self.lifter.typed:
            return ()
        sides = [
            self.within(way, lambda value=value: parts_of(self.lifter, self.site, value))
            for way, value in zip(self.ways, (then, orelse), strict=True)
        ]
        found: list[InType] = []
        for kind in kinds:
            none = Constant(False), Constant(kind(0))
            pairs = [side.get(kind, none) for side in sides if side is not None]
            if len(pairs) < 2:
                return ()
            (first, one), (second, other) = pairs
            ends = first, second
            is_one = self.condition if ends == FIRST else self.value(f"is_{kind.__name__}", *ends)
            found.append(InType.of(is_one, self.value(name, one, other)))
        return tuple(found)

    def converted(self, site: CallSite, value: Operand, kind: Any, way: Way) -> Operand:
        """A value converted to the common type, at the end of its path."""
        return self.within(way, lambda: self.lifter.converted(site, value, kind))

    def within[T](self, way: Way, go: Callable[[], T]) -> T:
        """The result of a call at the end of a path, with its statements there."""
        outer, self.lifter.statements = self.lifter.statements, way.statements
        try:
            return go()
        finally:
            self.lifter.statements = outer


FIRST = Constant(True), Constant(False)


def _is_known_list(value: Value) -> bool:
    """Return whether a value is a list that the function makes, or its contents."""
    return isinstance(value, (Tupled, HeapObject)) and value.kind is list


def _is_text(value: Value) -> bool:
    """Return whether a value is a string, constant or computed."""
    if isinstance(value, KnownObject):
        return isinstance(value.value, str)
    return isinstance(value, (Variable, Constant)) and value.kind is str
