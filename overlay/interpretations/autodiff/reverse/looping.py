"""Lifting of loops."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from overlay.code import body as read
from overlay.code import marks
from overlay.code.structured_tree import Alternative, Exits, Leave, Repeat
from overlay.core.short_repr import a_or_an
from overlay.interpretations.autodiff.reverse.branching import PathEnd
from overlay.interpretations.autodiff.reverse.made_objects import UNROLLED, NeedsArray, array_of
from overlay.interpretations.autodiff.reverse.operands import (
    common_kind,
    copied,
    has_form,
    is_same,
    parts_of,
    rebuilt,
    shared,
)
from overlay.interpretations.autodiff.reverse.pullbacks import kind_of
from overlay.interpretations.autodiff.reverse.reverse_program import (
    INT,
    UNSET,
    Carried,
    Growing,
    IndexedItems,
    KnownBefore,
    MadeObject,
    ReverseCall,
    ReverseLoop,
    ReverseValue,
    StatementRegion,
    Steps,
)
from overlay.interpretations.autodiff.reverse.structure import Unreadable

__all__ = ["repeat"]

FEW = 16
"""The number of iterations up to which a loop that changes lists is unrolled; above it the lists
are put into arrays.
"""
TRIES = 8
"""The maximal number of iterations of the search for the kinds of carried variables."""


def repeat(lifter: Any, item: Repeat, env: dict[Any, Any], function: Any) -> Any:
    """Lift a loop, and return the number of the exit by which it is left, or the ``PathEnd`` of a
    return or raise in it; and the number of its normal end."""
    ways = {item.head: 0, **{label: i + 1 for i, label in enumerate(item.exits)}}
    lifter.where = item.where or lifter.where
    head = _head(item)
    if head is None:
        return _while(lifter, item, ways, env, function), None
    _, choice, _, source = head
    items = lifter.read(env, source)
    at_end = ways[_label(choice.no)]
    if not isinstance(items, (Steps, IndexedItems)):
        items = lifter.call(iter, [items], {})
    if isinstance(items, IndexedItems):
        items.check()
    steps: Any = items
    of: Callable[[Any], Any] | None = None
    if isinstance(items, IndexedItems):
        steps, of = Steps(KnownBefore(0), items.count, KnownBefore(1)), items.item
    unrolling = _Unrolling(lifter, item, ways, function)
    count = _known_count(steps)
    if isinstance(items, IndexedItems) and items.unrolled:
        if count is None or count > UNROLLED:
            raise Unreadable(
                f"it goes through more than {UNROLLED} items of a list or tuple",
                help="keep the numbers in an array",
            )
        unrolling.check = items.check
        return unrolling.lift(env, items.item, range(count)), at_end
    lifting = _LoopLifting(lifter, item, ways, function, steps, of)
    lifting.has_arrays = count is None or count > FEW
    if isinstance(items, IndexedItems):
        lifting.check = items.check
    if count is None or count > UNROLLED:
        return lifting.lift(env, at_end), at_end

    def unrolled() -> Any:
        return unrolling.lift(env, of or (lambda index: index), _range_of(steps))

    def with_arrays() -> Any:
        lifting.has_arrays = True
        return lifting.lift(env, at_end)

    def otherwise() -> Any:
        if lifting.has_arrays:
            return unrolled()
        return lifter.either_way(env, unrolled, with_arrays, is_second_better=False)

    return lifter.either_way(env, lambda: lifting.lift(env, at_end), otherwise), at_end


def _while(
    lifter: Any, item: Repeat, ways: Mapping[int, int], env: dict[Any, Any], function: Any
) -> Any:
    lifting = _LoopLifting(lifter, item, ways, function, None, None)
    unrolling = _Unrolling(lifter, item, ways, function)
    return lifter.either_way(
        env,
        lambda: lifting.lift(env),
        lambda: unrolling.lift_while(env),
        is_second_better=False,
    )


def _range_of(steps: Steps) -> range:
    return range(*(part.value for part in (steps.start, steps.stop, steps.step)))


def _known_count(steps: Steps) -> int | None:
    parts = (steps.start, steps.stop, steps.step)
    return len(_range_of(steps)) if all(isinstance(p, KnownBefore) for p in parts) else None


def _head(item: Repeat) -> tuple[list[Any], Alternative, str, str] | None:
    """The head of a ``for`` loop: the statements before the branch, the branch, and the variables
    of the item and the iterator; None for other loops."""
    before: list[Any] = []
    first = source = None
    for each in item.body:
        if isinstance(each, read.Apply) and each.function is marks.advance:
            source = each.args[0]
        elif isinstance(each, read.Apply) and each.function is marks.first:
            first = each.target
        if isinstance(each, Alternative):
            return None if first is None or source is None else (before, each, first, source)
        if isinstance(each, (Repeat, Exits, Leave)):
            return None
        before.append(each)
    return None


def _label(tree: list[Any]) -> int:
    """The block to which a path leads that only moves values on the stack."""
    for each in tree:
        if isinstance(each, Leave):
            return each.label
        if not isinstance(each, (read.Copy, read.ConstantValue)):
            break
    raise Unreadable("a loop ends by an unknown condition")


class _Unrolling:
    """Lifts one loop iteration by iteration. check: refuses a loop that changes the list over
    which it iterates.
    """

    check: Callable[[], None] = staticmethod(lambda: None)

    def __init__(self, lifter: Any, item: Repeat, ways: Mapping[int, int], function: Any) -> None:
        self.lifter, self.item, self.ways, self.function = lifter, item, ways, function

    def lift(self, env: dict[Any, Any], of: Callable[[Any], Any], indices: Sequence[int]) -> Any:
        """Lift a ``for`` loop over known indices. of: returns the item of one."""
        head = _head(self.item)
        assert head is not None
        before, choice, first, _ = head

        def turn(inner: dict[Any, Any], place: int) -> PathEnd:
            self.lifter.env = inner
            self.check()
            if place == len(indices):
                return PathEnd(inner, KnownBefore(self.ways[_label(choice.no)]))
            inner[first] = of(KnownBefore(indices[place]))
            _without_iterator(self.lifter, before, inner, self.function, first)
            end = self.lifter.run(choice.yes, inner, self.ways, self.function)
            return self._after(end, lambda later: turn(later, place + 1))

        return self._ended(env, dict(env), lambda: turn(env, 0))

    def lift_while(self, env: dict[Any, Any]) -> Any:
        """Lift a ``while`` loop whose conditions are known before the program runs."""

        def turn(inner: dict[Any, Any], place: int) -> PathEnd:
            if place > UNROLLED:
                raise Unreadable(f"a while loop has more than {UNROLLED} known iterations")
            end = self.lifter.run(self.item.body, inner, self.ways, self.function)
            if isinstance(end.code, ReverseValue):
                raise Unreadable("a while loop ends by an unknown condition")
            return self._after(end, lambda later: turn(later, place + 1))

        return self._ended(env, dict(env), lambda: turn(env, 0))

    def _after(self, end: PathEnd, later: Callable[[dict[Any, Any]], PathEnd]) -> PathEnd:
        """Continue after an iteration: with the next one, where it does not leave the loop."""
        if end.raises or end.result is not None:
            return end
        if isinstance(end.code, KnownBefore):
            return later(end.env) if end.code.value == 0 else end
        left = self.lifter.call(operator.ne, [end.code, KnownBefore(0)], {})

        def leave(inner: dict[Any, Any]) -> PathEnd:
            return PathEnd(inner, end.code)

        return self.lifter.forked(left, leave, later, end.env)

    def _ended(
        self, env: dict[Any, Any], before: dict[Any, Any], lift: Callable[[], PathEnd]
    ) -> Any:
        end = lift()
        if end.raises or end.result is not None:
            return end
        for key, value in before.items():
            if isinstance(key, MadeObject) and value is not UNSET and end.env[key] is UNSET:
                raise Unreadable("a loop gives a list or an object different parts at its exits")
        found = dict(end.env)
        self.lifter.unrolled += [
            (value, found[key])
            for key, value in before.items()
            if isinstance(found.get(key), ReverseValue) and not is_same(value, found[key])
        ]
        env.clear()
        env.update(found)
        return end.code


def _without_iterator(
    lifter: Any, before: list[Any], env: dict[str, Any], function: Any, first: str
) -> None:
    """Lift the statements before the branch, without those that advance the iterator."""
    for each in before:
        asks = isinstance(each, read.Apply) and each.function in _ASKING
        if not asks:
            lifter.state(each, env, function)


_ASKING = (marks.advance, marks.first, marks.succeeds)


class _LoopLifting:
    """Lifts one loop as a statement.

    check: refuses a loop that changes the list over which it iterates. has_arrays: whether it may
    store lists in arrays; arrays: these lists, with how many numbers an iteration may append;
    exact: those to which each appends one. deep: the objects that represent a variable in each
    iteration.
    """

    has_arrays = True
    check: Callable[[], None] = staticmethod(lambda: None)

    def __init__(
        self, lifter: Any, item: Repeat, ways: Mapping[int, int], function: Any, steps: Any, of: Any
    ) -> None:
        self.lifter, self.item, self.ways, self.function = lifter, item, ways, function
        self.steps, self.of = steps, of
        self.arrays: dict[MadeObject, int] = {}
        self.exact: set[MadeObject] = set()
        self.deep: list[MadeObject] = []
        self.begin: dict[Any, Any] = {}  # the variables at the beginning of an iteration

    def lift(self, env: dict[Any, Any], at_end: int | None = None) -> Any:
        lifter = self.lifter
        kinds: dict[Any, Any] = {}
        for _ in range(TRIES):
            mark = lifter.mark()
            loop = ReverseLoop(self.steps, ReverseValue(lifter.fresh("i"), INT))
            before = self._with_arrays(env, loop)
            try:
                end, params = self._turn(loop, before, kinds)
            except NeedsArray as error:
                held = error.structure in env and self.has_arrays
                if not held or (error.structure in self.arrays and not error.is_new):
                    raise
                end, params = None, {}
                self.arrays.setdefault(error.structure, 0)
            if end is not None and not self._grows(before, end.env):
                found = {
                    name: self._joined(kinds[name], params[name], end.env.get(name, UNSET), end.env)
                    for name in params
                }
                new = self._changed(before, end.env, kinds)
                exact = self._counted(loop, end, params)
                if not exact and not new and all(found[name] == kinds[name] for name in params):
                    return self._finish(loop, before, env, end, params, at_end)
                kinds |= found
                self.exact |= exact
                for name in exact:
                    del kinds[name]
                for name in new:
                    last = end.env.get(name, UNSET)
                    kinds[name] = self._joined(None, before[name], last, end.env)
            lifter.back_to(mark)
            lifter.env = env
        raise Unreadable("a loop gives a variable values of ever different kinds")

    # ---- lists in arrays ----

    def _with_arrays(self, env: dict[Any, Any], loop: ReverseLoop) -> dict[Any, Any]:
        """The variables before the loop, with lists that it changes in arrays."""
        lifter = self.lifter
        found: dict[Any, Any] = copied(env)
        for structure, often in self.arrays.items():
            more = None
            if often:
                more = lifter.call(len, [self.steps], {})
                if often > 1:
                    more = lifter.call(operator.mul, [more, KnownBefore(often)], {})
            made = array_of(lifter, structure, more)
            found[structure] = replace(made, room=(loop,) if often else ())
        return found

    def _grows(self, before: dict[Any, Any], after: dict[Any, Any]) -> bool:
        """Whether a list changes its length in an iteration, so that an array has to hold it."""
        again = False
        for structure, contents in before.items():
            if not isinstance(structure, MadeObject) or structure in self.deep:
                continue
            last = after.get(structure, UNSET)
            often = self.lifter.appended.get(structure, 0)
            if structure in self.arrays and often > self.arrays[structure]:
                self.arrays[structure] = often
                again = True
            elif contents is not UNSET and not has_form(contents, last):
                arrays = self.has_arrays and self.steps is not None
                if structure in self.arrays or structure.cls is not list or not arrays:
                    raise Unreadable(
                        "it appends to a list, or takes from it, in a loop of unknown length"
                        if structure.cls is list
                        else f"a loop gives {a_or_an(structure.cls.__name__)} more or other parts",
                        help="loop over a range of constant length, or write to the elements of "
                        "an array",
                    )
                self.arrays[structure] = 1
                again = True
        return again

    def _counted(self, loop: ReverseLoop, end: PathEnd, params: dict[Any, Any]) -> set[MadeObject]:
        """The lists to which each iteration appends exactly one number: their lengths follow from
        the index."""
        if loop.steps is None or loop.steps.step != KnownBefore(1) or end.code != KnownBefore(0):
            return set()
        sums = {
            op.out: op.args
            for op in loop.body.ops
            if isinstance(op, ReverseCall) and op.pullback.function is operator.add
        }
        return {
            name
            for name, often in self.arrays.items()
            if often == 1
            and name in params
            and sums.get(end.env[name].length) == (params[name].length, KnownBefore(1))
        }

    def _length(self, growing: Growing, count: Any) -> Any:
        """The length of a list to which each iteration appends one, after some iterations."""
        start = self.steps.start
        if isinstance(growing.length, KnownBefore) and isinstance(start, KnownBefore):
            more = growing.length.value - start.value
            return self.lifter.call(operator.add, [count, KnownBefore(more)], {}) if more else count
        before = self.lifter.call(operator.sub, [count, start], {})
        return self.lifter.call(operator.add, [growing.length, before], {})

    # ---- one iteration ----

    def _turn(self, loop: ReverseLoop, env: dict[Any, Any], kinds: dict[Any, Any]) -> Any:
        """Lift one iteration, with parameters for the variables known to be carried."""
        lifter = self.lifter
        loop.around = lifter.loops
        loop.body = StatementRegion(loop)
        inner = copied(env)
        params: dict[Any, Any] = {}
        self.deep = []
        before, lifter.region = lifter.region, loop.body
        outer, lifter.loops = lifter.loops, (*lifter.loops, loop)
        lifter.appended = {}
        loop.index.owner = loop.body
        for name, kind in kinds.items():
            found = self._param(str(name), kind, env[name], env, inner)
            if kind is not None:
                params[name] = found
            dict.__setitem__(inner, name, found)
        for name in self.exact:
            length = self._length(env[name], loop.index)
            dict.__setitem__(inner, name, replace(env[name], length=length))
        self.begin = dict(inner)
        lifter.starts.append(self.begin)
        lifter.env = inner
        try:
            tree: Any = self.item.body
            head = _head(self.item)
            if head is not None:
                begin, choice, first, _source = head
                inner[first] = loop.index if self.of is None else self.of(loop.index)
                _without_iterator(lifter, begin, inner, self.function, first)
                tree = choice.yes
            end = lifter.run(tree, inner, self.ways, self.function)
        finally:
            lifter.region, lifter.loops = before, outer
            lifter.starts.pop()
        if end.code is None:
            raise Unreadable("an iteration of a loop ends by an unknown condition")
        return end, params

    def _param(
        self, name: str, kind: Any, first: Any, env: dict[Any, Any], inner: dict[Any, Any]
    ) -> Any:
        """The operand of a variable in an iteration."""
        match kind:
            case None:
                return UNSET
            case Unchanged():
                return kind.operand
            case Deep():
                found = MadeObject(first.cls)
                found.fixed = True
                self.deep.append(found)
                inner[found] = self._param(name, kind.kinds, env[first], env, inner)
                return found
            case tuple():
                parts = zip(kind, parts_of(first) or (), strict=True)
                return rebuilt(first, tuple(self._param(name, k, f, env, inner) for k, f in parts))
            case _:
                value = self.lifter.value(name, kind)
                if kind.ndim:
                    value.shares = shared(first)
                return value

    def _joined(self, kind: Any, param: Any, last: Any, after: dict[Any, Any]) -> Any:
        """The kind of a variable, from its operands at the beginning and the end of an iteration.
        kind: the one found so far."""
        if last is UNSET:
            return None
        if (kind is None or isinstance(kind, Unchanged)) and is_same(param, last):
            return kind or Unchanged(param)
        if isinstance(param, MadeObject) and isinstance(last, MadeObject):
            contents = self.begin.get(param, UNSET), after.get(last, UNSET)
            if param.cls is not last.cls or UNSET in contents:
                return None
            param.fixed = last.fixed = True
            below = kind.kinds if isinstance(kind, Deep) else None
            found = self._joined(below, *contents, after)
            return None if found is None else Deep(found)
        if has_form(param, last):
            below = kind if isinstance(kind, tuple) else (None,) * len(parts_of(param) or ())
            pairs = zip(below, parts_of(param) or (), parts_of(last) or (), strict=True)
            joined = tuple(self._joined(*each, after) for each in pairs)
            return None if None in joined else joined
        return common_kind(kind_of(param), kind_of(last))

    def _changed(
        self, env: dict[Any, Any], after: dict[Any, Any], kinds: dict[Any, Any]
    ) -> list[Any]:
        """The outer variables that an iteration sets and that are not carried yet."""
        return [
            name
            for name, first in env.items()
            if name not in kinds
            and name not in self.exact
            and first is not UNSET
            and not is_same(first, after.get(name, UNSET))
        ]

    # ---- after the loop ----

    def _finish(
        self,
        loop: ReverseLoop,
        before: dict[Any, Any],
        env: dict[Any, Any],
        end: PathEnd,
        params: dict[Any, Any],
        at_end: int | None,
    ) -> Any:
        self.lifter.region.ops.append(loop)
        for name, first in before.items():
            dict.__setitem__(env, name, first)
        for name, last in end.env.items():
            if name in self.deep:
                env[name] = self.begin[name]
            elif name in params:
                self._carry(loop, before[name], params[name], last, before, end.env)
                found = params[name]
                env[name] = replace(found, room=()) if isinstance(found, Growing) else found
            elif name in self.exact:
                length = self._length(before[name], self._stop())
                env[name] = replace(before[name], length=length, room=())
            elif env.get(name, UNSET) is not last:
                env[name] = self._set_inside(loop, str(name), last, env.get(name, UNSET))
        for name in self.arrays.keys() - params.keys() - self.exact:
            env[name] = replace(before[name], room=())
        self.lifter.env = env
        self.check()
        _check_uses(loop)
        return self._left_by(loop, end.code, at_end)

    def _stop(self) -> Any:
        """The index after the last iteration."""
        count = self.lifter.call(len, [self.steps], {})
        start = self.steps.start
        return (
            count if start == KnownBefore(0) else self.lifter.call(operator.add, [start, count], {})
        )

    def _carry(
        self,
        loop: ReverseLoop,
        first: Any,
        param: Any,
        last: Any,
        before: dict[Any, Any],
        after: dict[Any, Any],
    ) -> None:
        """Add the variables of a parameter to those that the loop carries."""
        if is_same(first, param):
            return
        if isinstance(param, MadeObject):
            contents = before[first], self.begin[param], after[last]
            self._carry(loop, *contents, before, after)
            return
        parts = parts_of(param)
        if parts is not None:
            for each in zip(parts_of(first) or (), parts, parts_of(last) or (), strict=True):
                self._carry(loop, *each, before, after)
            return
        loop.carried.append(Carried(first, param, last))
        _share(loop, param, last)

    def _set_inside(self, loop: ReverseLoop, name: str, last: Any, before: Any) -> Any:
        """The value, after the loop, of a variable that is only set in the loop."""
        if isinstance(last, KnownBefore) or last is UNSET or before is not UNSET:
            return last if is_same(before, last) else UNSET
        if isinstance(last, MadeObject):
            return last
        owner = last.array.owner if isinstance(last, Growing) else None
        if owner is not None and _is_in(owner, loop):
            return UNSET
        parts = parts_of(last)
        if parts is not None:
            found = tuple(self._set_inside(loop, name, part, before) for part in parts)
            return UNSET if UNSET in found else rebuilt(last, found)
        kind = kind_of(last)
        if kind is None:
            return UNSET
        out = self.lifter.value(name, kind)
        out.shares = shared(last)
        loop.carried.append(Carried(None, out, last))
        return out

    def _left_by(self, loop: ReverseLoop, code: Any, at_end: int | None) -> Any:
        if isinstance(code, KnownBefore):
            if loop.steps is not None and code.value == 0:
                return KnownBefore(at_end)
            if loop.steps is None and code.value == 0:
                raise Unreadable("a loop does not end")
        out = self.lifter.value("left", INT)
        loop.code = Carried(None if at_end is None else KnownBefore(0), out, code)
        loop.trips = self.lifter.fresh("turns")
        return out


def _share(loop: ReverseLoop, param: ReverseValue, last: Any) -> None:
    """Add the arrays that the last iteration's value shares memory with to those of the variable
    after the loop."""
    if param.kind.ndim and last is not param:
        for memory, _ in shared(last):
            if loop in memory.written_in and len(memory.loops) <= len(loop.around):
                raise Unreadable(f"{param.name} is an array that a loop writes to, or another")
        param.shares = (*param.shares, *shared(last))


def _check_uses(loop: ReverseLoop) -> None:
    """Refuse reads of part of an array that a later iteration may have written to."""
    for value in loop.uses:
        for memory, _ in value.shares:
            if loop in memory.written_in and len(memory.loops) <= len(loop.around):
                taken_inside = value.owner is not None and _is_in(value.owner, loop)
                if not taken_inside:
                    raise Unreadable(f"{value.name} is part of an array that a loop writes to")


def _is_in(region: StatementRegion, loop: ReverseLoop) -> bool:
    inner = region.loop
    while inner is not None:
        if inner is loop:
            return True
        inner = inner.around[-1] if inner.around else None
    return False


@dataclass(frozen=True)
class Unchanged:
    """The kind of a variable that a loop does not change."""

    operand: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Unchanged) and is_same(self.operand, other.operand)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True)
class Deep:
    """The kind of a variable that is another structure in each iteration: that of its
    contents."""

    kinds: Any
