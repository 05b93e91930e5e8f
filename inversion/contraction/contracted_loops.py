"""Sets through loops that count: turn by turn to the end, and back."""

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
"""From a program and sets of axes to smaller sets of all of them. Raises Nothing."""


def through_loop(rule: Loop, outside: Mapping[str, NumberSet], through: Through) -> Sets:
    """Smaller sets of what a loop reads and gives, by name; nothing is said of most loops.

    outside: those that are known. Raises Nothing.
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
    """A turn of a loop, and what it gives at the end; made once."""
    return rule.turn(), rule.last()


def _whole(number: int) -> NumberSet:
    found = point(number)
    assert found is not None
    return found


def _turns(rule: Loop, outside: Mapping[str, NumberSet]) -> range | None:
    """What a loop counts through, where that is known and short."""
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
