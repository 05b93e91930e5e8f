"""Recursive functions.

If constants decide whether a function calls itself, each call is inlined. Otherwise the function
becomes a loop: a recursive call is the next iteration if its result is returned, possibly after
sums and products. The accumulated shift and scale are state of the loop.
"""

from __future__ import annotations

import inspect
import operator
import types
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from types import CellType
from typing import TYPE_CHECKING, Any

from inversion.errors import NotInvertible
from inversion.lifting.execution_paths import Walk
from inversion.lifting.exits import At, End, Found, Nowhere, Place, Returned, Several, Way
from inversion.lifting.function_code import code_of
from inversion.lifting.heap import contents_of, frozen, made, thawed
from inversion.lifting.lifted_values import (
    Again,
    CallSite,
    Generating,
    Giving,
    HeapObject,
    Known,
    KnownObject,
    Raises,
    Tupled,
    Value,
    heap_of,
    refused,
    variables_in,
)
from inversion.lifting.repeating import Repeating, Turn
from inversion.lifting.resolve import forward_only
from inversion.lifting.self_calls import (
    AGAIN,
    SCALE,
    SHIFT,
    Deeper,
    UsedOtherwise,
    combined,
)
from inversion.program.statements import Constant, Operand, Variable
from overlay.code.read_bodies import signature_of_code
from overlay.core.location import location_of
from overlay.core.target import describe
from primitives.relation import RETURN

if TYPE_CHECKING:
    from inversion.lifting.lifter import Lifter


MOST_CALLS = 64
"""The maximum depth to which recursive calls are inlined."""


class CallsItself(Exception):
    """A signal: a function that is being traversed calls itself, depending on variables."""

    def __init__(self, active: ActiveCall) -> None:
        super().__init__()
        self.active = active


@dataclass(frozen=True, eq=False)
class ActiveCall:
    """A call that is being traversed.

    code: the code of its function, with its position in a chain. given: its arguments. depth: the
    number of branches around it. calls: the loop that it becomes. may_recur: whether the function
    mentions itself by name. cells, giving: as in ``Walk``.
    """

    code: tuple[Any, ...]
    given: tuple[Value, ...]
    depth: int
    calls: Calls | None = None
    may_recur: bool = False
    cells: tuple[HeapObject, ...] = ()
    giving: Giving | None = None

    def inner(self, calls: Sequence[ActiveCall]) -> ActiveCall | None:
        """The innermost of these calls of the function of this call, or None."""
        return next((one for one in reversed(calls) if one.code == self.code), None)

    @property
    def key(self) -> tuple[Any, ...]:
        """The key of its arguments: the types of variables, and the values of constants."""
        return tuple(a.kind if variables_in(a) else a for a in self.given)


def identity_of(function: types.FunctionType, cells: Sequence[HeapObject]) -> tuple[Any, ...]:
    """A key that is equal for functions that do the same: they share the code and the free
    variables.

    cells: those of a function that a lifted one makes again in each run.
    """
    closure = () if cells else function.__closure__ or ()
    return function.__code__, tuple(map(id, closure))


def entered(
    lifter: Lifter,
    site: CallSite,
    function: types.FunctionType,
    here: ActiveCall,
) -> Found:
    """Traverse a function's body, and return its end."""
    if function.__code__.co_flags & inspect.CO_GENERATOR and here.giving is None:
        used = made(lifter.known, CellType, ())
        return Returned(Generating(function, here.given, here.cells, site, used))
    again = here.inner(site.active)
    if again is not None and (again.calls is not None or lifter.depth > again.depth):
        if again.calls is None:
            raise CallsItself(again)
        return Returned(again.calls.again(here.given))
    if again is not None and (again.key == here.key or len(site.active) >= MOST_CALLS):
        raise for_ever(function, site.where)
    statements, holds = len(lifter.statements), len(lifter.holds)
    inside = replace(site, active=(*site.active, here))
    code, outer = identity_of(function, here.cells), lifter.known
    if code not in lifter.codes:
        lifter.codes[code] = code_of(function, is_inner=bool(here.cells))
    walk = Walk(
        lifter, inside, lifter.codes[code], here.given, cells=here.cells, giving=here.giving
    )
    try:
        return walk.begun()
    except CallsItself as signal:
        if signal.active is not here:
            raise
    finally:
        lifter.known = outer
    del lifter.statements[statements:], lifter.holds[holds:]
    return Calls(replace(walk, site=site), function, here).found()


def generated(
    lifter: Lifter,
    site: CallSite,
    generator: Generating,
    first: Value,
    add: Callable[[Value, Value], Value],
) -> Value:
    """The value that a function accumulates from all values that a generator yields, beginning with
    ``first``.
    """
    cell = generator.used
    if contents_of(lifter.known, cell, site.where).items:
        help = "make a list or a tuple of its items"
        raise refused("a generator that is used again", site.where, help)
    lifter.known[cell] = Tupled(cell.kind, (Constant(True),))
    held, outer = made(lifter.known, cell.kind, (first,)), generator.site
    active = ActiveCall(
        (identity_of(generator.function, generator.cells), *outer.in_force), generator.given,
        lifter.depth, cells=generator.cells, giving=Giving(held, add),
    )  # fmt: skip
    inside = site.like(outer)
    found = entered(lifter, inside, generator.function, active)
    if not isinstance(found, Returned):
        raise Raises("a generator that raises", site.where)
    lifter.known.update(found.heap)
    return contents_of(lifter.known, held, site.where).items[0]


class Calls(Repeating):
    """Builder of the loop statement of a recursive function; each call is an iteration."""

    def __init__(self, walk: Walk, function: types.FunctionType, here: ActiveCall) -> None:
        super().__init__(walk, location_of(function) or walk.site.where)
        self.word = "calls"
        self.function = function
        self.here = here
        count = len(here.given)
        self.names = tuple(signature_of_code(function).parameters)[:count]
        self.before = heap_of(self.lifter.known)
        given = (frozen(self.lifter.known, value) for value in here.given)
        self.given: Known = dict(zip(self.names, given, strict=True))
        self.constant = {n: v for n, v in self.given.items() if isinstance(v, KnownObject)}
        self.accumulated: dict[str, Operand] = {}
        self.shallow = False

    @property
    def live(self) -> frozenset[str]:
        """The names of the state that the next call needs."""
        return frozenset((*self.names, SHIFT, SCALE))

    def found(self) -> Found:
        """Add the statement for all calls, and return its exit."""
        numbers = {n: v for n, v in self.given.items() if n not in self.constant}
        try:
            state = {name: self.fresh(name, value) for name, value in numbers.items()}
            _, on, _ = self.gone(state)
            begin: Known = {
                name: numbers[name]
                for name in state
                if frozen(on.known, on.known[name]) != state[name]
            }
            if on.known[SHIFT] != Constant(0):
                self.accumulated[SHIFT] = Constant(0)
            if on.known[SCALE] != Constant(1):
                self.accumulated[SCALE] = Constant(1)
            return self.repeated({**begin, **self.accumulated})
        except UsedOtherwise:
            if self.walk.site.overlaid:
                raise
            return Returned(self.forward())

    def again(self, given: Sequence[Value]) -> Again:
        """The value of a recursive call with these arguments."""
        if self.shallow:
            raise Deeper
        return Again(self, tuple(given), Constant(0), Constant(1))

    def gone(self, state: Known) -> tuple[Way, At, Several]:
        """Traverse the body: its path, the end at the recursive call, and all ends."""
        outer = self.lifter.known
        self.lifter.known = known = {
            **outer, **{k: v for k, v in state.items() if isinstance(k, HeapObject)}
        }  # fmt: skip
        args = tuple(thawed(known, state.get(n, value)) for n, value in self.given.items())
        active = replace(self.here, calls=self)
        site = replace(self.walk.site, active=(*self.walk.site.active, active))
        walk = replace(self.walk, site=site, given=args, calls=self)
        try:
            way = self.lifter.apart(lambda: walk.begun(frozenset({AGAIN})))
        finally:
            self.lifter.known = outer
        if not isinstance(way.found, Several):
            raise for_ever(self.function, self.where)
        on = way.found.ends[AGAIN]
        assert isinstance(on, At)
        return way, on, way.found

    def another(self, name: str, one: Value, other: Value) -> NotInvertible:
        if not isinstance(one, KnownObject):
            return super().another(name, one, other)
        return NotInvertible(
            f"cannot invert {describe(self.function)}: it calls itself with another {name}",
            where=self.where,
            help="pass the same object to each call; only numbers and strings may change",
        )

    def turn(self, state: Known) -> Turn:
        arguments: Known = {
            name: value
            for name, value in state.items()
            if name in self.given or isinstance(name, HeapObject)
        }
        way, on, found = self.gone(arguments)
        result = found.ends[None]
        assert isinstance(result, Returned)
        following: Known = {**heap_of(on.known), **{n: on.known[n] for n in self.given}}
        shift, scale = state.get(SHIFT, Constant(0)), state.get(SCALE, Constant(1))
        whole = result.value

        def add() -> Found:
            nonlocal whole
            if SHIFT in state:
                more = self.product(scale, on.known[SHIFT])
                following[SHIFT] = self.sum(shift, more)
            if SCALE in state:
                following[SCALE] = self.product(scale, on.known[SCALE])
            if self.accumulated:
                whole = self.sum(shift, self.product(scale, whole))
            return Nowhere()

        added = self.lifter.apart(add)
        more = Way(way.found, way.statements + added.statements, way.holds)
        ends: dict[Place, End] = {None: Returned(whole)}
        nothing = Way(Nowhere(), [], [])
        return Turn(more, found.flags[AGAIN], False, nothing, following, ends, {})

    def sum(self, one: Value, other: Value) -> Value:
        return combined(self.lifter, self.walk.site, operator.add, one, other)

    def product(self, one: Value, other: Value) -> Value:
        return combined(self.lifter, self.walk.site, operator.mul, one, other)

    def forward(self) -> Value:
        """The calls as a statement with a forward mode only."""
        self.shallow = True
        numbers = [v for v in self.given.values() if isinstance(v, (Variable, Constant))]
        active = replace(self.here, calls=self)
        site = replace(self.walk.site, active=(*self.walk.site.active, active))
        walk = replace(self.walk, site=site, calls=self)
        found = self.lifter.apart(lambda: walk.begun()).found
        value = found.value if isinstance(found, Returned) else None
        if len(numbers) < len(self.given) or not isinstance(value, (Variable, Constant)):
            raise NotInvertible(
                f"cannot invert {describe(self.function)}: it calls itself with an argument or a "
                "result that is not a number",
                where=self.where,
                help="write it as a loop, or give it a relation in a method table",
            )
        rule = forward_only(self.function, numbers, value.kind)
        key = frozenset((RETURN,))
        rule.modes[key] = replace(rule.modes[key], solver=Interpreted(self.function))
        return self.lifter.state(self.walk.site, rule, numbers)


class Interpreted:
    """A recursive function that is never compiled, because compiled code does not check for stack
    overflow.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function

    def __call__(self, *args: Any) -> Any:
        return self.function(*args)


def for_ever(function: types.FunctionType, where: str) -> NotInvertible:
    """The error for a function with infinite recursion."""
    return NotInvertible(
        f"cannot invert {describe(function)}: it calls itself endlessly, or more than "
        f"{MOST_CALLS} times",
        where=where,
        help="end the recursion by a condition; a method calls the implementation below it with "
        "call_next or nonoverlay",
    )
