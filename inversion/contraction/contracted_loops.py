"""Propagation of sets through counting loops: iteration by iteration to the end, and back."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping

from inversion.program.loops import Loop
from inversion.program.statements import Program
from overlay.sets import NumberSet, point

__all__ = ["through_loop"]

MOST_TURNS = 64

Sets = dict[str, NumberSet]
Through = Callable[[Program, Mapping[str, NumberSet]], Mapping[str, NumberSet]]
"""Contracts the sets of some axes of a program, and returns sets of all. Raises Nothing."""


def through_loop(rule: Loop, outside: Mapping[str, NumberSet], through: Through) -> Sets:
    """Smaller sets of the inputs and results of a loop, by name; empty for most loops.

    outside: the known sets. Raises Nothing if a set becomes empty.
    """
    turns = _turns(rule, outside)
    if turns is None or rule.bounds is None:
        return {}
    index, (turn, last) = rule.bounds.index.name, _programs(rule)
    state = [v.name for v in rule.state]
    free = [v.name for v in last.inputs if v.name not in state]
    fixed = {name: outside[name] for name in free if name in outside}
    at = {name: outside[name] for name in state if name in outside}
    passed: list[Sets] = []
    for number in turns:
        passed.append({**at, **fixed, index: _whole(number)})
        found = through(turn, passed[-1])
        fixed = {name: found[name] for name in fixed}
        at = {name: found[f"{name} after"] for name in state if f"{name} after" in found}
    given = {axis: outside[axis] for axis in rule.outputs if axis in outside}
    found = through(last, {**at, **fixed, **given})
    gives = {axis: found[axis] for axis in rule.outputs if axis in found}
    for before in reversed(passed):
        after = {f"{name} after": found[name] for name in state if name in found}
        known = {name: found.get(name, sets) for name, sets in before.items() if name in fixed}
        found = through(turn, {**before, **known, **after})
    return {**gives, **{name: found[name] for name in (*state, *fixed) if name in found}}


@functools.lru_cache(maxsize=256)
def _programs(rule: Loop) -> tuple[Program, Program]:
    """The program of one iteration of a loop, and that of its results at the end; cached."""
    return rule.turn(), rule.last()


def _whole(number: int) -> NumberSet:
    found = point(number)
    assert found is not None
    return found


def _turns(rule: Loop, outside: Mapping[str, NumberSet]) -> range | None:
    """The values of a loop's index, if they are known and few."""
    limits: list[int] = []
    for variable in rule.limits:
        known = outside.get(variable.name)
        if known is None or not known or known.low != known.high:
            return None
        limits.append(int(known.low))
    if len(limits) != 3 or limits[2] == 0:
        return None
    turns = range(*limits)
    return turns if len(turns) <= MOST_TURNS else None
