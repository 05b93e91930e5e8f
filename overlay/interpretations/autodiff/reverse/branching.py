"""Lifting of branches, and of the variables after them."""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from overlay.code.structured_tree import Alternative
from overlay.interpretations.autodiff.reverse.instances import (
    MISSING,
    by_operator,
    is_instance,
)
from overlay.interpretations.autodiff.reverse.made_objects import is_items
from overlay.interpretations.autodiff.reverse.operands import (
    common_kind,
    copied,
    has_form,
    is_function,
    is_same,
    parts_of,
    rebuilt,
    shared,
)
from overlay.interpretations.autodiff.reverse.overlaying import Overlaying
from overlay.interpretations.autodiff.reverse.pullbacks import kind_of
from overlay.interpretations.autodiff.reverse.reverse_program import (
    BOOL,
    UNSET,
    Either,
    Joined,
    KnownBefore,
    Local,
    MadeObject,
    MethodOf,
    ReverseFork,
    ReverseLoop,
    ReverseValue,
    StatementRegion,
)
from overlay.interpretations.autodiff.reverse.structure import Unreadable

__all__ = ["Branching", "PathEnd"]


@dataclass
class PathEnd:
    """The end of a path through the program. code: the number of the block where it continues;
    result: the result of the function, if it returns; raises: whether it raises an exception."""

    env: dict[Any, Any]
    code: Any = None
    result: Any = None
    raises: bool = False


class Branching(Overlaying):
    """Lifts both arms of a branch."""

    @abstractmethod
    def run(
        self,
        tree: Sequence[Any],
        env: dict[str, Any],
        ways: Mapping[int, int] | None,
        function: Any,
    ) -> PathEnd:
        """Lift a tree. ways: the number of each block at which an iteration of a loop ends."""

    @abstractmethod
    def read(self, env: Mapping[str, Any], name: str) -> Any:
        """The operand of a variable."""

    def _inside(
        self,
        region: StatementRegion,
        arm: Callable[[dict[Any, Any]], PathEnd],
        env: dict[Any, Any],
    ) -> PathEnd:
        before, self.region = self.region, region
        try:
            return arm(env)
        finally:
            self.region = before

    def _choose(
        self, item: Alternative, env: dict[str, Any], ways: Any, function: Any
    ) -> PathEnd | None:
        self.where = item.where or self.where
        condition = self.truth(self.read(env, item.condition))
        if isinstance(condition, KnownBefore):
            tree = item.yes if condition.value else item.no
            return self._after_choice(self.run(tree, env, ways, function), env)
        end = self.forked(
            condition,
            lambda inner: self.run(item.yes, inner, ways, function),
            lambda inner: self.run(item.no, inner, ways, function),
            env,
        )
        return self._after_choice(end, env)

    def forked(
        self,
        condition: ReverseValue,
        yes: Callable[[dict[Any, Any]], PathEnd],
        no: Callable[[dict[Any, Any]], PathEnd],
        env: dict[Any, Any],
    ) -> PathEnd:
        """Lift both arms of a branch; what follows an arm that raises is the other arm."""
        mark = self.mark()
        fork = ReverseFork(condition, StatementRegion(self._loop()), StatementRegion(self._loop()))
        first = self._inside(fork.yes, yes, copied(env))
        if first.raises:
            self.region.ops.append(fork)
            return no(env)
        second = self._inside(fork.no, no, copied(env))
        if second.raises:
            names = self._names
            self.back_to(mark)
            self._names = names
            self.region.ops.append(fork)
            fork.yes = StatementRegion(self._loop())
            return yes(env)
        self.region.ops.append(fork)
        return self._merged(fork, first, second)

    def call_either(self, either: Either, args: list[Any], kwargs: dict[str, Any]) -> Any:
        fork = ReverseFork(
            either.condition, StatementRegion(self._loop()), StatementRegion(self._loop())
        )
        env, before = self.env, self.region
        ends: list[PathEnd] = []
        for region, function in ((fork.yes, either.yes), (fork.no, either.no)):
            self.env, self.region = copied(env), region
            result = self.call_in_force(function, args, kwargs)
            ends.append(PathEnd(self.env, None, result))
        self.env, self.region = env, before
        self.region.ops.append(fork)
        merged = self._merged(fork, *ends)
        env.clear()
        env.update(merged.env)
        return merged.result

    def _loop(self) -> ReverseLoop | None:
        return self.loops[-1] if self.loops else None

    @staticmethod
    def _after_choice(state: PathEnd, env: dict[str, Any]) -> PathEnd | None:
        if state.code is None and state.result is None:
            found = dict(state.env)
            env.clear()
            env.update(found)
            return None
        return state

    def truth(self, condition: Any) -> Any:
        """Whether an operand is true: ``KnownBefore``, or a variable."""
        if isinstance(condition, KnownBefore):
            return KnownBefore(bool(condition.value))
        if isinstance(condition, (MethodOf, Local, Either)):
            return KnownBefore(True)
        if isinstance(condition, (MadeObject, tuple)):
            found = by_operator(self, bool, [condition])
            if found is not MISSING:
                return self.truth(found)
            if is_instance(condition) and not is_items(condition):
                return KnownBefore(True)
            return self.truth(self.call(len, [condition], {}))
        kind = kind_of(condition)
        if not isinstance(condition, ReverseValue) or kind is None or kind.ndim:
            raise Unreadable("it branches on a value that is no number")
        if kind == BOOL:
            return condition
        return self.call(operator.ne, [condition, KnownBefore(0)], {})

    def _merged(self, fork: ReverseFork, yes: PathEnd, no: PathEnd) -> PathEnd:
        if (yes.result is None) != (no.result is None):
            raise Unreadable("it returns a result in one branch and nothing in another")
        if (yes.code is None) != (no.code is None):
            raise Unreadable("its branches do not meet")
        merged = copied(yes.env)
        joins = _Joins(self, fork, yes.env, no.env, merged)
        for name in {**yes.env, **no.env}:
            a, b = yes.env.get(name, UNSET), no.env.get(name, UNSET)
            merged[name] = joins.join(a, b, str(name))
        code = None if yes.code is None else joins.join(yes.code, no.code, "left")
        result = None
        if yes.result is not None:
            result = joins.join(yes.result, no.result, "result")
            if result is UNSET:
                raise Unreadable(
                    "it returns one kind of value on one path and another kind on another",
                    help="give numbers, or arrays of as many dimensions, on all paths",
                )
        return PathEnd(merged, code, result)


class _Joins:
    """Joins the operands of both arms of a branch. merged: the variables after it."""

    def __init__(
        self, lifter: Any, fork: ReverseFork, yes: dict[Any, Any], no: dict[Any, Any], merged: Any
    ) -> None:
        self.lifter, self.fork, self.merged = lifter, fork, merged
        self.yes, self.no = yes, no
        self.made: dict[tuple[MadeObject, MadeObject], MadeObject] = {}

    def join(self, a: Any, b: Any, name: str) -> Any:
        """The operand after the branch."""
        if is_same(a, b):
            return a
        if isinstance(a, MadeObject) and isinstance(b, MadeObject) and a.cls is b.cls:
            return self._structure(a, b, name)
        if has_form(a, b):
            pairs = zip(parts_of(a) or (), parts_of(b) or (), strict=True)
            parts = tuple(self.join(x, y, name) for x, y in pairs)
            return UNSET if UNSET in parts else rebuilt(a, parts)
        if is_function(a) and is_function(b):
            return Either(self.fork.condition, a, b)
        if self.lifter.is_generated:  # it reads on a path a value that it has set on that path
            a, b = self._filled(a, b, self.fork.yes), self._filled(b, a, self.fork.no)
        kind = common_kind(kind_of(a), kind_of(b))
        if kind is None:
            return UNSET
        out = self.lifter.value(name, kind)
        out.shares = shared(a) + shared(b)
        self.fork.outs.append(Joined(out, a, b))
        return out

    def _filled(self, operand: Any, other: Any, region: StatementRegion) -> Any:
        """An operand, or a filler of the kind of the other one if it is not set."""
        kind = kind_of(other)
        if operand is not UNSET or kind is None:
            return operand
        if not kind.ndim:
            return KnownBefore({"f": 0.0, "c": 0j, "i": 0, "b": False}[kind.dtype])
        before, self.lifter.region = self.lifter.region, region
        found = self.lifter.call(np.zeros, [(KnownBefore(0),) * kind.ndim], {})
        self.lifter.region = before
        return found

    def _structure(self, a: MadeObject, b: MadeObject, name: str) -> Any:
        """One of two structures: its contents are joined, and neither is changed any more."""
        found = self.made.get((a, b))
        if found is None:
            contents = self.join(self.yes.get(a, UNSET), self.no.get(b, UNSET), name)
            if contents is UNSET:
                return UNSET
            found = self.made[a, b] = MadeObject(a.cls)
            is_new = a not in self.no and b not in self.yes
            a.fixed = b.fixed = True
            found.fixed = not is_new
            for pair, other in self.made.items():
                if pair != (a, b) and {a, b} & {*pair}:
                    other.fixed = found.fixed = True
            self.merged[found] = contents
        return found
