"""Lifting of branches, and of the variables after them."""

from __future__ import annotations

import operator
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from overlay.code.structured_tree import Alternative
from overlay.interpretations.autodiff.reverse.operands import common_kind, copied, shared
from overlay.interpretations.autodiff.reverse.overlaying import Overlaying
from overlay.interpretations.autodiff.reverse.pullbacks import kind_of
from overlay.interpretations.autodiff.reverse.reverse_program import (
    BOOL,
    UNSET,
    Joined,
    KnownBefore,
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
    result: the result of the function, if it returns."""

    env: dict[str, Any]
    code: Any = None
    result: Any = None


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
        self, region: StatementRegion, tree: Sequence[Any], env: dict[str, Any], ways: Any, f: Any
    ) -> PathEnd:
        before, self.region = self.region, region
        try:
            return self.run(tree, env, ways, f)
        finally:
            self.region = before

    def _choose(
        self, item: Alternative, env: dict[str, Any], ways: Any, function: Any
    ) -> PathEnd | None:
        condition = self.read(env, item.condition)
        if isinstance(condition, KnownBefore):
            tree = item.yes if condition.value else item.no
            return self._after_choice(self.run(tree, env, ways, function), env)
        condition = self._truth(condition)
        fork = ReverseFork(condition, StatementRegion(self._loop()), StatementRegion(self._loop()))
        yes = self._inside(fork.yes, item.yes, copied(env), ways, function)
        no = self._inside(fork.no, item.no, copied(env), ways, function)
        self.region.ops.append(fork)
        return self._after_choice(self._merged(fork, yes, no), env)

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

    def _truth(self, condition: Any) -> ReverseValue:
        kind = kind_of(condition)
        if not isinstance(condition, ReverseValue) or kind is None or kind.ndim:
            raise Unreadable("it branches by what is no number")
        if kind == BOOL:
            return condition
        return self.call(operator.ne, [condition, KnownBefore(0)], {})

    def _merged(self, fork: ReverseFork, yes: PathEnd, no: PathEnd) -> PathEnd:
        if (yes.result is None) != (no.result is None):
            raise Unreadable("it gives a result in one branch and nothing in another")
        merged = copied(yes.env)
        for name in {**yes.env, **no.env}:
            a, b = yes.env.get(name, UNSET), no.env.get(name, UNSET)
            merged[name] = a if a is b else self._join(fork, a, b, name)
        code = None if yes.code is None else self._join(fork, yes.code, no.code, "left")
        if (yes.code is None) != (no.code is None):
            raise Unreadable("its branches do not meet")
        result = None
        if yes.result is not None:
            result = self._join(fork, yes.result, no.result, "result")
            if result is UNSET:
                raise Unreadable("what it gives is of one kind or another")
        return PathEnd(merged, code, result)

    def _join(self, fork: ReverseFork, a: Any, b: Any, name: str) -> Any:
        if a is b:
            return a
        if isinstance(a, KnownBefore) and isinstance(b, KnownBefore) and a.value is b.value:
            return a
        if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            return tuple(self._join(fork, x, y, name) for x, y in zip(a, b, strict=True))
        kind = common_kind(kind_of(a), kind_of(b))
        if kind is None:
            return UNSET
        out = self.value(name, kind)
        out.shares = shared(a) + shared(b)
        fork.outs.append(Joined(out, a, b))
        return out
