"""Execution paths through a function: block by block, along both paths of a fork, which are joined
again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import CellType
from typing import TYPE_CHECKING

from inversion.errors import NotInvertible
from inversion.lifting import self_calls
from inversion.lifting.exits import (
    At,
    Exit,
    Found,
    Nowhere,
    Place,
    Returned,
    Several,
    Way,
    ends_of,
    flag_of,
    not_followed,
    places_of,
)
from inversion.lifting.function_code import FunctionCode, raises
from inversion.lifting.heap import made
from inversion.lifting.iterations import looped
from inversion.lifting.joining import Join
from inversion.lifting.lifted_statements import done
from inversion.lifting.lifted_values import (
    MORE,
    Again,
    CallSite,
    Giving,
    HeapObject,
    Known,
    KnownObject,
    Raises,
    Tupled,
    Value,
    Values,
    heap_of,
    is_true,
    read,
    refused,
)
from inversion.program.branches import Arm, branch
from inversion.program.statements import Variable
from overlay.code.body import Branch, Return

if TYPE_CHECKING:
    from inversion.lifting.lifter import Lifter
    from inversion.lifting.recursion import Calls


DEEPEST = 64
"""The maximum nesting depth of branches."""


MOST_WAYS = 512
"""The largest number of paths through a function."""


@dataclass(frozen=True)
class Walk:
    """Traversal of the code of a function with given arguments.

    leaving: the labels of the loop of which one iteration is traversed up to its exit test; empty
    if exits are ordinary paths. calls: the recursive calls, if these become iterations of a loop.
    cells: the cells of the free variables of an inner function. giving: the consumer of the values
    that a generator yields.
    """

    lifter: Lifter
    site: CallSite
    code: FunctionCode
    given: Values
    leaving: frozenset[int] = frozenset()
    calls: Calls | None = None
    cells: tuple[HeapObject, ...] = ()
    giving: Giving | None = None

    def begun(self, stops: frozenset[int] = frozenset()) -> Found:
        """Traverse the code from its beginning."""
        known: Known = dict(zip(self.code.parameters, self.given, strict=True))
        known.update(heap_of(self.lifter.known))
        for name, cell in zip(self.code.free, self.cells, strict=True):
            known[name] = cell
        for name in self.code.shared:
            held = (known[name],) if name in known else ()
            known[name] = made(known, CellType, held)
        return self.run(self.code.first, known, stops)

    def run(self, label: int, known: Known, stops: frozenset[int]) -> Found:
        """Traverse blocks from a label to one of the stops, or to the end."""
        return self.went(At(label, known), stops)

    def went(self, found: Found, stops: frozenset[int]) -> Found:
        """Continue from the end of a block to one of the stops, or to the end."""
        while isinstance(found, At) and found.label not in stops:
            label, known = found.label, found.known
            loop = looped(self, label, known, stops) if label in self.code.loops else None
            found = self.block(label, known, stops) if loop is None else loop
        if isinstance(found, Several) and not {p for p in found.ends if p is not None} <= stops:
            raise not_followed(self.site.where)
        return found

    def live_at(self, place: Place) -> frozenset[str]:
        """The names that are live at a label."""
        if place is None:
            return frozenset()
        if place == self_calls.AGAIN:
            assert self.calls is not None
            return self.calls.live
        return self.code.live[place]

    def turn(self, label: int, known: Known, stops: frozenset[int]) -> Found:
        """Traverse one iteration of the loop that begins at a label, which is one of the stops."""
        return self.went(self.block(label, known, stops), stops)

    def block(self, label: int, known: Known, stops: frozenset[int]) -> Found:
        """Traverse one block."""
        block = self.code.blocks[label]
        where = block.where
        self.lifter.known = known
        if raises(block):
            return Nowhere()
        if label in self.code.caught:
            help = "test beforehand, with if, whether the exception would be raised"
            raise refused("try, an exception that is caught", block.where, help)
        try:
            for statement in block.statements:
                where = statement.where
                done(self, statement, known)
        except self_calls.Deeper:
            return Nowhere()
        except Raises:
            if self.lifter.depth == 0:
                raise
            return Nowhere()
        except NotInvertible as error:
            error.where = error.where or where
            raise
        end = block.end
        if isinstance(end, Return):
            assert end.value is not None
            value = read(known, end.value, end.where)
            return self_calls.returned(self.calls, value, known, end.where)
        if end.condition is None:
            return At(end.yes, known)
        return self._forked(end, self.code.joins[label], self._condition(end, known), known, stops)

    def _condition(self, fork: Branch, known: Known) -> Value:
        """The condition of a fork, as a truth value."""
        value = read(known, fork.condition or "", fork.where)
        self.lifter.known = known
        if isinstance(value, KnownObject) and value.value is MORE:
            return value
        site = replace(self.site, name="", where=fork.where)
        return self.lifter.call(site, (bool,), [value], {})

    def _forked(
        self,
        fork: Branch,
        join: int | None,
        condition: Value,
        known: Known,
        stops: frozenset[int],
    ) -> Found:
        """The end of a fork.

        join: the label at which both paths meet again; None if they meet only at a return.
        """
        labels = fork.yes, fork.no
        out = [self._leads_out(label) for label in labels]
        if any(out):
            outside, inside = labels if out[0] else labels[::-1]
            return Exit(condition, out[0], known, outside, inside)
        if not isinstance(condition, Variable):
            return At(fork.yes if is_true(condition) else fork.no, known)
        self._count(fork.where)
        inner = stops if join is None else stops | {join}
        ways = self._ways(labels, known, inner)
        if self._part_again(join, ways, stops):
            ways = self._ways(labels, known, stops)
        for taken, (way, other) in enumerate((ways, ways[::-1])):
            if _leads_nowhere(other, way):  # then the condition is a constant
                self.lifter.holds.append((condition, not taken))
                self.lifter.statements += way.statements
                self.lifter.holds += way.holds
                return way.found
        return self._joined(fork.where, condition, ways, known)

    def _ways(self, labels: Sequence[int], known: Known, stops: frozenset[int]) -> list[Way]:
        return [
            self.lifter.apart(lambda label=label: self.run(label, dict(known), stops))
            for label in labels
        ]

    def _part_again(self, join: int | None, ways: Sequence[Way], stops: frozenset[int]) -> bool:
        """Return whether paths have to stay separate after the join: one of them may end elsewhere,
        such as in the next iteration of a loop, or have the result of a recursive call.
        """
        places = {p for way in ways for p in places_of(way.found)}
        meets = len(places) > 1 and join in places and join not in stops
        return meets or any(map(self._calls_itself, ways))

    def _calls_itself(self, way: Way) -> bool:
        """Return whether a live name has the result of a recursive call at the end of a path."""
        end = way.found
        return (
            isinstance(end, At)
            and end.label != self_calls.AGAIN
            and any(isinstance(end.known.get(name), Again) for name in self.live_at(end.label))
        )

    def _leads_out(self, label: int) -> bool:
        """Return whether a label is outside the loop whose iteration is traversed up to
        its exit.
        """
        outside = bool(self.leaving) and label not in self.leaving
        return outside and label in self.code.returning

    def _count(self, where: str) -> None:
        self.lifter.ways += 1
        many = self.lifter.ways > MOST_WAYS
        if not many and self.lifter.depth <= DEEPEST:
            return
        why = f"it has more than {MOST_WAYS} execution paths"
        raise NotInvertible(
            f"cannot invert {self.site.name}: "
            + (why if many else f"it branches {DEEPEST} times in a row"),
            where=where,
            help="write repeated parts as a loop over a range, or move a part with branches into a "
            "function that has a relation",
        )

    def _joined(
        self, where: str, condition: Variable, ways: list[Way], known: Mapping[str, Value]
    ) -> Found:
        """Add one branch statement for two paths, and return the end with the joined values."""
        found = [way.found for way in ways]
        assert all(isinstance(one, (At, Returned, Several)) for one in found)
        sides = [one for one in found if isinstance(one, (At, Returned, Several))]
        ends = [ends_of(one) for one in sides]
        joined = Join(self, where, condition, ways, known)
        places = list(dict.fromkeys(place for side in ends for place in side))
        after = {place: joined.end(place, [side.get(place) for side in ends]) for place in places}
        flags = {
            place: joined.flag(place, flag_of(sides[0], place), flag_of(sides[1], place))
            for place in places
            if len(places) > 1
        }
        if joined.results:
            self._branch(where, condition, ways, joined)
        return Several(after, flags) if len(places) > 1 else after[places[0]]

    def _branch(self, where: str, condition: Variable, ways: list[Way], joined: Join) -> None:
        gives = zip(*joined.gives, strict=True)
        first, second = (
            Arm(tuple(way.statements), tuple(given), tuple(way.holds))
            for way, given in zip(ways, gives, strict=True)
        )
        name = self.lifter.fresh(f"if_{where.rpartition(':')[2]}")
        results = tuple(joined.results)
        self.lifter.statements.append(
            branch(
                name,
                condition,
                (first, second),
                results,
                where,
                root_finding=self.lifter.root_finding,
            )
        )


def _lacks(value: Value, other: Value) -> bool:
    """Return whether a value is None, or contains None, where another one is or contains something
    else.
    """
    if isinstance(value, Tupled) and value.is_like(other):
        return any(map(_lacks, value.items, other.items))
    return value == NONE and other != NONE


NONE = KnownObject(None)


def _leads_nowhere(way: Way, other: Way) -> bool:
    """Return whether a path raises, or returns None where the other one returns something else."""
    if isinstance(way.found, Returned) and isinstance(other.found, Returned):
        return _lacks(way.found.value, other.found.value)
    return isinstance(way.found, Nowhere)
