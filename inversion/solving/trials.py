"""Search for arguments by trials (local search): numbers and characters are changed, one or two at
a time.

It is for functions of integers and strings, and for results in steps or in text, for which no
derivative shows what to change: it uses only values of the function. The distance from the known
result is measured, of numbers by their difference and of texts from the first character on. From
several starts, the best change of each round is kept. Bounded numbers are also drawn within the
bounds of the nearest points. Strings that are keys of a table are those keys, and if there are few
combinations of values, all are tried. Other strings of unknown length are tried with the first
lengths with which the function runs. The order is fixed, and so is the number of runs.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from inversion.contraction.contracted_programs import Nothing
from inversion.errors import NoSolution
from inversion.program.branches import Branch
from inversion.program.limits import has_arrays
from inversion.program.statements import Program, Statement, Variable
from inversion.program.trees import Node, leaves, rebuilt, taken_apart
from inversion.solving.argument_search import goes_on
from inversion.solving.even_points import point_of
from inversion.solving.starting import box_of
from overlay.sets import NumberSet
from primitives import Integers, Reals, Relation
from primitives.arrays.domain import element_of, shape_of
from primitives.domains import Domain, Strings
from primitives.finite_tables import FiniteTable
from primitives.relation import RETURN
from primitives.sequences.items import Apart

if TYPE_CHECKING:
    from inversion.inverse import Inverse

__all__ = ["RUNS", "Cell", "arguments_by_trials", "cells_of", "from_trials", "has_trials"]

RUNS = 12_000
"""The largest number of runs of the function."""
MOST_CELLS = 64
"""The largest number of numbers and characters that are changed."""
MOST_DRAWN = 6  # numbers that are drawn within bounds
DRAWN = 120  # points that are drawn in each round
KEPT = 12  # the nearest of these
ROUNDS = 60
STARTS = 40
DESCENTS = 3  # from the nearest of the starts
MOST_OF_PAIR = 1024
EVERY = 512  # values of one cell that are all tried
FIRST_SUMS = 1024  # combinations of 0 and 1
FEW = 1024  # combinations of numbers and characters that are all tried
LETTERS = "".join(map(chr, range(32, 127)))
LONGEST = 24  # of strings whose length is not known
MOST_LENGTHS = 3  # of these lengths that are tried
FAR = 1e6
ROUNDING = 1e-13
WHOLE = (int, np.int64, np.uint64)


@dataclass(frozen=True)
class Cell:
    """A number, a character, or a string that is a key.

    whole: whether it is an integer. low, high: the bounds. letters: the possible values, if they
    are not numbers.
    """

    low: float
    high: float
    whole: bool
    letters: Sequence[str] = ""

    @property
    def is_bounded(self) -> bool:
        return _is_finite(self.low) and _is_finite(self.high)

    @property
    def count(self) -> float:
        """The number of values."""
        return self.high - self.low + 1 if self.whole and self.is_bounded else math.inf

    def at(self, unit: float, low: float | None = None, high: float | None = None) -> Any:
        """The value for a number in (0, 1), within bounds."""
        low, high = self.low if low is None else low, self.high if high is None else high
        if not (_is_finite(low) and _is_finite(high)):
            low, high = max(low, min(high, 0) - 16), min(high, max(low, 0) + 16)
        if self.whole:
            return min(int(low) + int(unit * (int(high) - int(low) + 1)), int(high))
        return low + unit * (high - low)

    @property
    def default(self) -> Any:
        value = min(max(0, self.low), self.high)
        return int(value) if self.whole else float(value)

    def near(self, value: Any) -> Iterator[Any]:
        """The values to try in place of one: all if they are few, else outwards from it."""
        if self.whole and self.count <= EVERY:
            yield from range(int(self.low), int(self.high) + 1)
            return
        if self.whole:
            steps: Iterator[Any] = (2**k for k in range(20))
            steps = itertools.chain(range(1, 33), steps)
        else:
            steps = (2.0**-k * max(abs(value), 1.0) for k in range(40))
        for step in steps:
            for found in (value + step, value - step):
                if self.low <= found <= self.high:
                    yield found


Part = tuple[Any, Sequence[Cell]]
"""The type of a value, and its cells."""


def cells_of(
    kind: Any,
    domain: Domain | None,
    found: NumberSet | None,
    length: int,
    keys: Sequence[str] | None = None,
) -> list[Cell]:
    """The cells of a value of a type; none if it is of another type.

    length: the length of a string. keys: the strings of which it is one.
    """
    if keys is not None:
        keys = [key for key in keys if domain is None or domain.contains(key)]
        return [Cell(0, len(keys) - 1, whole=True, letters=keys)] if keys else []
    if kind is str:
        letters = domain.alphabet if isinstance(domain, Strings) and domain.alphabet else LETTERS
        return [Cell(0, len(letters) - 1, whole=True, letters=letters)] * length
    element = element_of(kind)
    if element not in (*WHOLE, float, bool):
        return []
    low, high = (0, 1) if element is bool else (-math.inf, math.inf)
    if isinstance(domain, Reals):
        low, high = domain.ends
    elif isinstance(domain, Integers):
        low = -math.inf if domain.low is None else domain.low
        high = math.inf if domain.high is None else domain.high
    if found is not None and found.pieces:
        low, high = max(low, found.low), min(high, found.high)
    return [Cell(low, high, whole=element is not float)] * math.prod(shape_of(kind))


def made_of(kind: Any, cells: Sequence[Cell], values: Sequence[Any]) -> Any:
    """The value of a type with these cells."""
    if kind is str:
        return "".join(c.letters[int(v)] for c, v in zip(cells, values, strict=True))
    if shape_of(kind):
        return np.array(values, dtype=element_of(kind)).reshape(shape_of(kind))
    return kind(values[0])


def arguments_by_trials(
    inverse: Inverse, known: Sequence[Any], fixed: Mapping[str, Any], runs: int
) -> Iterator[list[Any]]:
    """All arguments of the function at the points that trials reach.

    fixed: inputs of the program that are given, by name. runs: the largest number of runs of the
    function.
    """
    values = dict(zip(inverse.known, known, strict=True))
    trees, program = inverse.axes.trees, inverse.origin
    given = dict(fixed)
    for axis in inverse.known:
        if axis != RETURN and axis not in inverse.axes.inputs:
            return  # a part of an argument is known
    names = [leaf for axis in inverse.unknown for leaf in leaves(trees[axis]) if leaf not in given]
    kinds = [program.operand(name).kind for name in names]
    lengths, keys = _lengths(program), _keys(program.statements)
    try:
        box = {} if has_arrays(program) else box_of(inverse, known)
    except Nothing:
        return
    sets = {variable.name: found for variable, found in box.items()}
    domains = [inverse.domains.get(name) for name in names]

    def parts_for(length: int) -> list[Part]:
        """The parts, in which strings of unknown length have this length."""
        each = zip(names, kinds, domains, strict=True)
        return [
            (
                kind,
                cells_of(kind, domain, sets.get(name), lengths.get(name, length), keys.get(name)),
            )
            for name, kind, domain in each
        ]

    may_go_on = goes_on(inverse)

    def arguments(made: Sequence[Any]) -> list[Any]:
        every = {**given, **dict(zip(names, made, strict=True))}
        return [
            values[axis]
            if axis in values
            else rebuilt(trees[axis], iter([every[leaf] for leaf in leaves(trees[axis])]))
            for axis in inverse.axes.inputs
        ]

    def run(made: list[Any]) -> Any:
        args = arguments(made)
        if may_go_on and inverse.coordinates_of(args) is None:
            raise NoSolution("the function may not terminate")
        return inverse.result_of(args)

    tree, wanted = trees[RETURN], values[RETURN]
    open_ = [
        d
        for n, k, d in zip(names, kinds, domains, strict=True)
        if k is str and n not in lengths and n not in keys
    ]
    for parts, most in _attempts(parts_for, open_, runs, lambda p: _runs(run, p, tree, wanted)):
        for made in from_trials(run, parts, tree, wanted, most):
            yield arguments(made)


def _attempts(
    parts_for: Callable[[int], list[Part]],
    open_: Sequence[Domain | None],
    runs: int,
    does_run: Callable[[list[Part]], bool],
) -> Iterator[tuple[list[Part], int]]:
    """The parts to try, with the number of runs for each. open_: the domains of the strings of
    unknown length.
    """
    if not open_:
        yield parts_for(0), runs
        return
    possible = (n for n in range(1, LONGEST + 1) if all(_may_be(d, n) for d in open_))
    for parts in itertools.islice(filter(does_run, map(parts_for, possible)), MOST_LENGTHS):
        yield parts, runs // MOST_LENGTHS


def _may_be(domain: Domain | None, length: int) -> bool:
    """Return whether a string in a domain may have this length."""
    if not isinstance(domain, Strings):
        return True
    return domain.low <= length and (domain.high is None or length <= domain.high)


def _runs(run: Callable[[list[Any]], Any], parts: list[Part], tree: Any, wanted: Any) -> bool:
    """Return whether there is a start for which the function does not raise."""
    trial = _Trial(run, parts, tree, wanted, STARTS)
    can_be_tried = all(own for _, own in parts) and len(trial.cells) <= MOST_CELLS
    return can_be_tried and any(trial.off(s) < math.inf for s in trial.plain_starts())


def has_trials(inverse: Inverse) -> bool:
    """Return whether trials may find arguments: they have numbers or characters, and the result is
    known.
    """
    return RETURN in inverse.known and RETURN not in inverse.unknown


def _lengths(program: Program) -> dict[str, int]:
    """The length of each string that the program splits into items."""
    return {
        s.arguments[0].name: len(s.relation.template)
        for s in program.statements
        if isinstance(s.relation, Apart) and isinstance(s.arguments[0], Variable)
    }


def _keys(statements: Iterable[Statement]) -> dict[str, tuple[str, ...]]:
    """For each string the keys of the tables in which the program looks it up, on any path."""
    found: dict[str, tuple[str, ...]] = {}
    for statement in statements:
        rule = statement.relation
        if isinstance(rule, Branch):
            first, second = (_keys(arm.statements) for arm in rule.arms)
            both = {n: tuple(dict.fromkeys((*first[n], *second[n]))) for n in first if n in second}
            found = {**both, **_keys(rule.before), **found}
        elif isinstance(rule, Relation) and isinstance(rule.target, FiniteTable):
            (key,) = statement.arguments
            if isinstance(key, Variable) and key.kind is str:
                found.setdefault(key.name, rule.target.keys)
    return found


def from_trials(
    run: Callable[[list[Any]], Any],
    parts: Sequence[Part],
    tree: Any,
    wanted: Any,
    runs: int = RUNS,
) -> Iterator[list[Any]]:
    """Values of the parts for which the result of a function comes nearest to a known one, among
    those tried.

    run: the function of the parts; it may raise any exception. parts: the type and cells of each.
    tree: the structure of the result.
    """
    cells = [cell for _, own in parts for cell in own]
    if not 0 < len(cells) <= MOST_CELLS or not all(own for _, own in parts):
        return
    trial = _Trial(run, parts, tree, wanted, runs)
    for search in (trial.of_sums, trial.of_all, trial.of_draws, trial.of_steps, trial.of_changes):
        for values in search():
            if trial.off(values) == 0:
                yield trial.made(values)


class _Trial:
    """One search: the cells, and the distance of each point that was tried."""

    def __init__(
        self,
        run: Callable[[list[Any]], Any],
        parts: Sequence[Part],
        tree: Any,
        wanted: Any,
        runs: int,
    ) -> None:
        self.run, self.parts, self.tree = run, parts, tree
        self.wanted = _flat(tree, wanted)
        self.left = runs
        self.cells = [cell for _, own in parts for cell in own]
        self.seen: dict[tuple[Any, ...], float] = {}

    def made(self, values: Sequence[Any]) -> list[Any]:
        left, found = iter(values), list[Any]()
        for kind, own in self.parts:
            found.append(made_of(kind, own, [next(left) for _ in own]))
        return found

    def result(self, values: Sequence[Any]) -> list[Any] | None:
        """The parts of the result; None if the function raises."""
        if self.left <= 0:
            return None
        self.left -= 1
        try:
            return _flat(self.tree, self.run(self.made(values)))
        except Exception:  # of the function
            return None

    def off(self, values: Sequence[Any]) -> float:
        """The distance of the result from the known one; infinite if the function raises."""
        key = tuple(values)
        if key not in self.seen:
            found = self.result(values)
            self.seen[key] = math.inf if found is None else _distance(found, self.wanted)
        return self.seen[key]

    # ---- searches ----

    def of_sums(self) -> Iterator[list[Any]]:
        """All combinations of the first two values of integers, if they are few."""
        if 2 ** len(self.cells) <= FIRST_SUMS and all(c.whole for c in self.cells):
            for bits in itertools.product((0, 1), repeat=len(self.cells)):
                values = [c.default + b for c, b in zip(self.cells, bits, strict=True)]
                if all(c.low <= v <= c.high for c, v in zip(self.cells, values, strict=True)):
                    yield values

    def of_all(self) -> Iterator[list[Any]]:
        """All combinations of values, if they are few, or if some are keys, which are independent
        of one another.
        """
        count = math.prod(cell.count for cell in self.cells)
        few = FEW if all(isinstance(cell.letters, str) for cell in self.cells) else self.left
        if count <= min(few, self.left):
            ranges = (range(int(c.low), int(c.high) + 1) for c in self.cells)
            yield from map(list, itertools.product(*ranges))

    def of_draws(self) -> Iterator[list[Any]]:
        """Points within the bounds of the nearest ones, repeatedly."""
        cells = self.cells
        if len(cells) > MOST_DRAWN or not all(c.is_bounded and not c.letters for c in cells):
            return
        bounds = [(c.low, c.high) for c in cells]
        best: list[list[Any]] = []
        for number in range(ROUNDS):
            if self.left <= RUNS // 3:
                return
            units = (point_of(number * DRAWN + i + 1, len(cells)) for i in range(DRAWN))
            drawn = [
                [c.at(u, *b) for c, u, b in zip(cells, unit, bounds, strict=True)] for unit in units
            ]
            yield from drawn
            best = sorted((v for v in (*best, *drawn) if self.off(v) < math.inf), key=self.off)
            best = best[:KEPT]
            if not best:
                return
            bounds = [_around(c, [v[i] for v in best]) for i, c in enumerate(cells)]
        yield from self.descended(best[0])

    def of_steps(self) -> Iterator[list[Any]]:
        """Newton's steps between integers, with difference quotients over long steps: functions
        that round are nearly linear over these.
        """
        if not all(c.whole and not c.letters for c in self.cells) or len(self.cells) < 2:
            return
        values, wanted = [c.default for c in self.cells], _finite(self.wanted)
        if wanted is None:
            return
        for width in (64, 16, 4, 1):
            for _ in range(4):
                found = self.numbers(values)
                if found is None:
                    return
                columns = [self.numbers(_moved(values, i, width)) for i in range(len(values))]
                if any(column is None for column in columns):
                    break
                slopes = np.array([(c - found) / width for c in columns if c is not None]).T
                step = np.rint(np.linalg.lstsq(slopes, wanted - found, rcond=None)[0])
                there = [
                    int(min(max(v + int(s), c.low), c.high))
                    for v, s, c in zip(values, step, self.cells, strict=True)
                ]
                if self.off(there) >= self.off(values):
                    break
                values = there
            yield from self.descended(values)

    def numbers(self, values: Sequence[Any]) -> Any:
        """The result as an array of numbers; None if it is not one."""
        found = self.result(values)
        if found is None or len(found) != len(self.wanted):
            return None
        if any(isinstance(part, str) for part in (*found, *self.wanted)):
            return None  # numpy would read numbers in texts
        return _finite(found)

    def of_changes(self) -> Iterator[list[Any]]:
        """Changes of one or two cells, from the nearest of some starts."""
        starts = self.plain_starts()
        for number in range(1, STARTS):
            units = point_of(number, len(self.cells))
            starts.append([c.at(u) for c, u in zip(self.cells, units, strict=True)])
        starts = [s for s in sorted(starts, key=self.off) if self.off(s) < math.inf]
        for start in starts[:DESCENTS]:
            yield from self.descended(start)

    def plain_starts(self) -> list[list[Any]]:
        """Points with the default numbers and a single letter each."""
        starts = [[c.default for c in self.cells]]
        for letter in "0aA":
            starts.append([
                c.letters.find(letter) if isinstance(c.letters, str) and c.letters else c.default
                for c in self.cells
            ])  # fmt: skip
        return [s for s in starts if all(c.low <= v for c, v in zip(self.cells, s, strict=True))]

    def descended(self, values: list[Any]) -> Iterator[list[Any]]:
        """The point from which no change of one cell, or of two, comes nearer."""
        while self.left > 0 and self.off(values) > 0:
            found = self.best((values,), range(len(values)))
            if found is None:
                found = self.of_pairs(values)
            if found is None:
                break
            values = found
        yield values

    def best(self, firsts: Sequence[list[Any]], places: Sequence[int]) -> list[Any] | None:
        """The points after changes of each cell, one by one; None if none comes nearer."""
        (values,) = firsts
        before = self.off(values)
        for i in places:
            others = ([*values[:i], v, *values[i + 1 :]] for v in self.cells[i].near(values[i]))
            values = min(itertools.chain([values], others), key=self.off)
        return values if self.off(values) < before else None

    def of_pairs(self, values: list[Any]) -> list[Any] | None:
        """The nearest point after changes of two cells, among values that the function accepts."""
        before = self.off(values)
        taken: list[list[Any]] = []
        for i, cell in enumerate(self.cells):
            others = itertools.islice(cell.near(values[i]), EVERY)
            ways = [v for v in others if self.off([*values[:i], v, *values[i + 1 :]]) < math.inf]
            taken.append([values[i], *ways[: math.isqrt(MOST_OF_PAIR)]])
        for i, j in itertools.combinations(range(len(values)), 2):
            pairs = itertools.product(taken[i], taken[j])
            others = ([*values[:i], v, *values[i + 1 : j], w, *values[j + 1 :]] for v, w in pairs)
            there = min(others, key=self.off)
            if self.off(there) < before:
                return there
            if self.left <= 0:
                return None
        return None


def _moved(values: Sequence[Any], at: int, width: int) -> list[Any]:
    return [*values[:at], values[at] + width, *values[at + 1 :]]


def _around(cell: Cell, values: Sequence[Any]) -> tuple[float, float]:
    """The bounds of values, slightly widened, within those of the cell."""
    low, high = min(values), max(values)
    more = max((high - low) / 4, 1 if cell.whole else 0)
    return max(cell.low, low - more), min(cell.high, high + more)


def _flat(tree: Any, value: Any) -> list[Any]:
    """The numbers and texts of a result."""
    found: list[Any] = []
    for part in taken_apart(tree, value) if isinstance(tree, Node) else [value]:
        if isinstance(part, np.ndarray):
            found += part.ravel().tolist()
        elif isinstance(part, (list, tuple)):
            found += [inner for each in part for inner in _flat(None, each)]
        else:
            found.append(part)
    return found


def _distance(found: Sequence[Any], wanted: Sequence[Any]) -> float:
    total = FAR * abs(len(found) - len(wanted))
    for one, other in zip(found, wanted, strict=False):
        if isinstance(other, str):
            total += _text_distance(one, other) if isinstance(one, str) else FAR
        elif one != other:
            off = _apart(one, other)
            if isinstance(other, float):
                off /= max(1.0, abs(other))
                off = off if off > ROUNDING else 0.0
            total += off
    return total if total == total else math.inf


def _finite(numbers: Sequence[Any]) -> Any:
    """The numbers as an array of finite floats; None where one is none."""
    try:
        found = np.array(numbers, dtype=float)
    except (OverflowError, ValueError, TypeError):
        return None
    return found if np.isfinite(found).all() else None


def _is_finite(bound: float) -> bool:
    """``math.isfinite``, also for integers beyond all floats."""
    return -math.inf < bound < math.inf


def _apart(one: Any, other: Any) -> float:
    if isinstance(one, np.bool_) or isinstance(other, np.bool_):  # which have no difference
        return float(one != other)
    try:
        return float(abs(one - other))
    except OverflowError:  # an integer beyond all floats
        return math.inf


def _text_distance(one: str, other: str) -> float:
    """The distance of two texts: the difference of a character counts more than those of all
    characters after it.
    """
    total, weight = 0.0, 1.0
    for a, b in itertools.zip_longest(one, other):
        if a != b:
            apart = 1.0 if a is None or b is None else min(abs(ord(a) - ord(b)) / 128, 0.9)
            total += weight * (1 + apart)
        weight /= 4
    return total
