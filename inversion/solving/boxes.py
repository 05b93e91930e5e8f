"""Search for arguments by branch and prune: boxes are contracted and bisected.

The smallest box comes first, so that one solution is found before the others. In each box the
middle, and the point nearest to 0, are tried. If only integers are bisected and no box is left,
there is no solution.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from inversion.contraction.contracted_programs import Box, Nothing, contracted
from inversion.program.statements import Variable
from inversion.program.trees import leaves, rebuilt
from inversion.solving.negative_powers import negative_powers
from inversion.solving.starting import box_of
from overlay.sets import NumberSet, number_set
from overlay.sets.rounding import LARGEST, nearest_finite

if TYPE_CHECKING:
    from inversion.inverse import Inverse

__all__ = ["BOXES", "from_boxes", "has_boxes"]

BOXES = 400
"""The largest number of boxes that are examined."""
EFFORT = 1_500  # the largest number of statements to contract for one box
SMALLEST = 1e-12  # relative: narrower intervals of floats are not bisected
KINDS = (int, float, bool)

Arguments = list[Any]


def has_boxes(inverse: Inverse) -> bool:
    """Return whether arguments can be searched for in boxes: all are Python's own numbers."""
    program = inverse.origin
    if any(negative_powers(program.statements, inverse.domains)):
        return False
    return all(variable.kind in KINDS for variable in program.inputs)


def from_boxes(
    inverse: Inverse, known: Sequence[Any], fixed: Mapping[str, Any]
) -> Iterator[Arguments | None]:
    """Arguments to try, some for each box; None at the end if there can be no others.

    fixed: inputs of the program that are given, by name.
    """
    given = dict(zip(inverse.known, known, strict=True))
    program = inverse.origin
    within = {name: found for name, value in fixed.items() if (found := _only(value)) is not None}
    try:
        box = dict(box_of(inverse, known, within))
    except Nothing:
        yield None
        return
    names = {leaf for axis in inverse.unknown for leaf in leaves(inverse.axes.trees[axis])}
    unknown = [v for v in program.inputs if v.name in names]
    waiting: list[tuple[float, int, Box]] = [(0.0, 0, box)]
    count, is_all = 0, True
    while waiting:
        if count == BOXES:
            return
        _, _, box = heapq.heappop(waiting)
        count += 1
        for point in _points(box, unknown):
            yield _arguments(inverse, given, point)
        halves = _halves(box, unknown)
        if not halves and any(_has_others(v, box[v]) for v in unknown):
            is_all = False  # untried numbers remain beside those that were tried
        for half in halves:
            try:
                left = contracted(program, half, EFFORT)
            except Nothing:
                continue
            size = sum(_size(left[v]) for v in unknown)
            # of boxes of equal size the later ones, which are deeper, come first
            heapq.heappush(waiting, (size, -len(waiting) - count, left))
    if is_all:
        yield None


def _only(value: Any) -> NumberSet | None:
    return number_set([(value, value)], whole=not isinstance(value, float))


def _arguments(inverse: Inverse, given: Mapping[str, Any], parts: Mapping[str, Any]) -> Arguments:
    trees = inverse.axes.trees
    return [
        given[axis]
        if axis in given
        else rebuilt(trees[axis], iter([parts[leaf] for leaf in leaves(trees[axis])]))
        for axis in inverse.axes.inputs
    ]


def _points(box: Box, unknown: Sequence[Variable]) -> list[dict[str, Any]]:
    """The middle of a box, and its point nearest to 0."""
    middle = {v.name: _middle(v, box[v]) for v in unknown}
    nearest = {v.name: _nearest(v, box[v]) for v in unknown}
    return [nearest] if middle == nearest else [nearest, middle]


def _middle(variable: Variable, found: NumberSet) -> Any:
    low, high = found.pieces[len(found.pieces) // 2]
    if low == -math.inf or high == math.inf:
        return _nearest(variable, found)
    if variable.kind is float:
        return nearest_finite(low) / 2 + nearest_finite(high) / 2
    return variable.kind((low + high) // 2)


def _nearest(variable: Variable, found: NumberSet) -> Any:
    nearest = min((min(max(0, low), high) for low, high in found.pieces), key=abs)
    return nearest_finite(nearest) if variable.kind is float else variable.kind(nearest)


def _size(found: NumberSet) -> float:
    """The size of a set, as a logarithm; that of floats counts orders of magnitude."""
    if found.whole:
        count = found.count()
        return math.log2(count) if count < math.inf else 1100.0
    low, high = _ends(found)
    return math.log2(1 + abs(_place(high) - _place(low)))


def _place(x: float) -> float:
    """A number that grows linearly with x near 0, and logarithmically further away."""
    return math.copysign(math.log1p(abs(x)) if abs(x) < LARGEST else 710.0, x) * 2**40


def _ends(found: NumberSet) -> tuple[float, float]:
    return nearest_finite(found.low), nearest_finite(found.high)


def _halves(box: Box, unknown: Sequence[Variable]) -> list[Box]:
    """The two halves of a box, bisected along its largest side."""
    wide = [v for v in unknown if _is_wide(box[v])]
    if not wide:
        return []
    variable = max(wide, key=lambda v: _size(box[v]))
    found = box[variable]
    pieces = list(found.pieces)
    if len(pieces) > 1:
        at = len(pieces) // 2
        parts = [pieces[:at], pieces[at:]]
    else:
        low, high = pieces[0]
        cut = _cut(low, high, whole=found.whole)
        parts = [[(low, cut)], [(cut + 1 if found.whole else cut, high)]]
    return [{**box, variable: number_set(part, whole=found.whole)} for part in parts]


def _has_others(variable: Variable, found: NumberSet) -> bool:
    """Return whether a box that is not bisected has more numbers than those that are tried."""
    return found.low < found.high and (variable.kind is float or not _is_wide(found))


def _is_wide(found: NumberSet) -> bool:
    if found.low > LARGEST or found.high < -LARGEST:
        return False  # integers beyond all floats are found by algebra only
    if found.whole or len(found.pieces) > 1:
        return found.low < found.high
    low, high = _ends(found)
    return high - low > SMALLEST * max(abs(low), abs(high)) and high - low > 1e-300


def _cut(low: Any, high: Any, *, whole: bool) -> Any:
    """The point of bisection: 0, or far from it the geometric mean."""
    if low < 0 <= high:
        return -1 if whole else (0.0 if high > 0 else low / 2)
    if high < 0:
        cut = _cut(-high, -low, whole=whole)
        return -cut - 1 if whole else -cut
    if high == math.inf or high > 4 * max(low, 1):
        far = min(high, LARGEST)
        cut = 2 * low + 1 if high == math.inf else math.sqrt(max(low, 1e-9)) * math.sqrt(far)
        return int(min(max(cut, low), high - 1)) if whole else min(max(cut, low), far)
    return (low + high) // 2 if whole else low + (high - low) / 2
