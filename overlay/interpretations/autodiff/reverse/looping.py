"""Lifting of loops."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from overlay.code import body as read
from overlay.code import marks
from overlay.code.structured_tree import Alternative, Exits, Leave, Repeat
from overlay.interpretations.autodiff.reverse.operands import common_kind, copied, shared
from overlay.interpretations.autodiff.reverse.pullbacks import kind_of
from overlay.interpretations.autodiff.reverse.reverse_program import (
    INT,
    UNSET,
    Carried,
    IndexedItems,
    KnownBefore,
    ReverseLoop,
    ReverseValue,
    StatementRegion,
    Steps,
)
from overlay.interpretations.autodiff.reverse.structure import Unreadable

__all__ = ["repeat"]

UNROLLED = 64
"""The maximal number of iterations of an unrolled loop."""
TRIES = 6
"""The maximal number of iterations of the search for the kinds of carried variables."""


def repeat(lifter: Any, item: Repeat, env: dict[str, Any], function: Any) -> Any:
    """Lift a loop, and return the number of the exit by which it is left, and that of its normal
    end."""
    ways = {item.head: 0, **{label: i + 1 for i, label in enumerate(item.exits)}}
    head = _head(item)
    if head is None:
        return _LoopLifting(lifter, item, ways, function, None, None).lift(env), None
    before, choice, advanced, step = head
    items = lifter.read(env, step)
    last = _label(choice.no)
    if isinstance(items, tuple):
        return _unrolled(lifter, item, env, function, (before, choice, advanced), items, ways), None
    if isinstance(items, IndexedItems):
        steps = Steps(KnownBefore(0), items.count, KnownBefore(1))
        return _LoopLifting(lifter, item, ways, function, steps, items.item).lift(
            env, ways[last]
        ), ways[last]
    if not isinstance(items, Steps):
        raise Unreadable("it goes through what is not known")
    return _LoopLifting(lifter, item, ways, function, items, None).lift(env, ways[last]), ways[last]


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
    raise Unreadable("a loop ends in a way that is not known")


def _unrolled(
    lifter: Any,
    item: Repeat,
    env: dict[str, Any],
    function: Any,
    head: tuple[list[Any], Alternative, str],
    items: tuple[Any, ...],
    ways: Mapping[int, int],
) -> Any:
    """Unroll a loop over a tuple."""
    before, choice, first = head
    if len(items) > UNROLLED:
        raise Unreadable("it goes through a long tuple")
    for each in items:
        env[first] = each
        _without_iterator(lifter, before, env, function, first)
        state = lifter.run(choice.yes, env, ways, function)
        if state.result is not None or not isinstance(state.code, KnownBefore):
            raise Unreadable("a loop over a tuple is left early")
        found = dict(state.env)
        env.clear()
        env.update(found)
        if state.code.value:
            return state.code
    return KnownBefore(ways[_label(choice.no)])


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
    """Lifts one loop."""

    def __init__(
        self, lifter: Any, item: Repeat, ways: Mapping[int, int], function: Any, steps: Any, of: Any
    ) -> None:
        self.lifter, self.item, self.ways, self.function = lifter, item, ways, function
        self.steps, self.of = steps, of

    def lift(self, env: dict[str, Any], at_end: int | None = None) -> Any:
        lifter = self.lifter
        kinds: dict[str, Any] = {}
        for _ in range(TRIES):
            mark = lifter.mark()
            loop = ReverseLoop(self.steps, ReverseValue(lifter.fresh("i"), INT))
            state, params = self._turn(loop, env, kinds)
            found = {
                name: self._joined_kinds(params[name], state.env.get(name, UNSET))
                for name in params
            }
            new = self._changed(env, state.env, params, kinds)
            if not new and all(found[n] == kinds_of(params[n]) for n in params):
                return self._finish(loop, env, state, params, at_end)
            lifter.back_to(mark)
            for name in params:
                kinds[name] = found[name]
            for name in new:
                kinds.setdefault(name, kinds_of(env[name]))
        raise Unreadable("what a loop carries is of ever other kinds")

    def _turn(self, loop: ReverseLoop, env: dict[str, Any], kinds: dict[str, Any]) -> Any:
        """Lift one iteration, with parameters for the variables known to be carried."""
        lifter = self.lifter
        loop.around = lifter.loops
        loop.body = StatementRegion(loop)
        inner = copied(env)
        params: dict[str, Any] = {}
        before, lifter.region = lifter.region, loop.body
        outer, lifter.loops = lifter.loops, (*lifter.loops, loop)
        loop.index.owner = loop.body
        for name, kind in kinds.items():
            if kind is not None:
                params[name] = self._param(name, kind, env[name])
                dict.__setitem__(inner, name, params[name])
            else:
                dict.__setitem__(inner, name, UNSET)
        try:
            tree: Any = self.item.body
            head = _head(self.item)
            if head is not None:
                begin, choice, first, _source = head
                inner[first] = loop.index if self.of is None else self.of(loop.index)
                _without_iterator(lifter, begin, inner, self.function, first)
                tree = choice.yes
            state = lifter.run(tree, inner, self.ways, self.function)
        finally:
            lifter.region, lifter.loops = before, outer
        if state.code is None:
            raise Unreadable("a turn of a loop ends in a way that is not known")
        return state, params

    def _param(self, name: str, kind: Any, first: Any) -> Any:
        if isinstance(kind, tuple):
            parts = first if isinstance(first, tuple) else (None,) * len(kind)
            return tuple(self._param(name, k, f) for k, f in zip(kind, parts, strict=True))
        value = self.lifter.value(name, kind)
        if kind.ndim:
            value.shares = shared(first)
        return value

    def _changed(
        self, env: dict[str, Any], after: dict[str, Any], params: Any, kinds: Any
    ) -> list[str]:
        """The outer variables that an iteration sets and that are not carried yet."""
        found: list[str] = []
        for name, first in env.items():
            if name in params or name in kinds or after.get(name, UNSET) is first or first is UNSET:
                continue
            now = after.get(name, UNSET)
            if (
                isinstance(now, KnownBefore)
                and isinstance(first, KnownBefore)
                and now.value is first.value
            ):
                continue
            found.append(name)
        return found

    def _joined_kinds(self, param: Any, last: Any) -> Any:
        mine, other = kinds_of(param), kinds_of(last)
        if isinstance(mine, tuple):
            if not isinstance(other, tuple) or len(mine) != len(other):
                return None
            pairs = zip(param, last, strict=True)
            joined = tuple(self._joined_kinds(p, x) for p, x in pairs)
            return None if None in joined else joined
        if other is None or isinstance(other, tuple):
            return None
        return common_kind(mine, other)

    def _finish(
        self,
        loop: ReverseLoop,
        env: dict[str, Any],
        state: Any,
        params: dict[str, Any],
        at_end: int | None,
    ) -> Any:
        lifter = self.lifter
        lifter.region.ops.append(loop)
        for name, last in state.env.items():
            if name in params:
                _carry(loop, env[name], params[name], last)
                _share(loop, params[name], last)
                env[name] = params[name]
            elif env.get(name, UNSET) is not last:
                env[name] = self._set_inside(loop, name, last, env.get(name, UNSET))
        _check_uses(loop)
        return self._left_by(loop, state.code, at_end)

    def _set_inside(self, loop: ReverseLoop, name: str, last: Any, before: Any) -> Any:
        """The value, after the loop, of a variable that is only set in the loop."""
        if isinstance(last, KnownBefore) or last is UNSET or before is not UNSET:
            same = isinstance(before, KnownBefore) and isinstance(last, KnownBefore)
            return last if same and before.value is last.value else UNSET
        if isinstance(last, tuple):
            return tuple(self._set_inside(loop, name, part, before) for part in last)
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


def _carry(loop: ReverseLoop, first: Any, param: Any, last: Any) -> None:
    if isinstance(param, tuple):
        for parts in zip(first, param, last, strict=True):
            _carry(loop, *parts)
        return
    loop.carried.append(Carried(first, param, last))


def _share(loop: ReverseLoop, param: Any, last: Any) -> None:
    """Add the arrays that the last iteration's value shares memory with to those of the variable
    after the loop."""
    if isinstance(param, tuple):
        for parts in zip(param, last, strict=True):
            _share(loop, *parts)
        return
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


def kinds_of(operand: Any) -> Any:
    """The kind of an operand, or a tuple of those of its parts."""
    if isinstance(operand, tuple):
        return tuple(map(kinds_of, operand))
    return kind_of(operand)
