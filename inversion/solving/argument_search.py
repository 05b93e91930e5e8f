"""Search for arguments by least squares: without a plan, only from values of the function.

The method of Levenberg and Marquardt (D. W. Marquardt, SIAM J. Appl. Math. 11, 1963) minimises the
difference between the function's result and the known one, from a fixed sequence of starts within
the contracted sets. It finds solutions that plans miss: of overdetermined values, of several
unknowns in one loop, of guesses that depend on one another.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from inversion.contraction.contracted_programs import Nothing
from inversion.derivatives.jacobian import slopes_of
from inversion.errors import NoSolution, NotInvertible
from inversion.program.limits import has_arrays
from inversion.program.loops import Loop
from inversion.program.statements import Statement
from inversion.program.structured import Structured
from inversion.program.trees import axis_of, leaves, rebuilt, taken_apart
from inversion.solving.even_points import point_of
from inversion.solving.starting import box_of
from overlay.sets import NumberSet
from primitives import Reals
from primitives.arrays.domain import element_of, shape_of
from primitives.relation import RETURN
from primitives.sequences.lists import is_list

if TYPE_CHECKING:
    from inversion.inverse import Inverse

__all__ = [
    "STARTS",
    "ArgumentProblem",
    "argument_problem",
    "flat_numbers",
    "from_arguments",
    "goes_on",
    "has_known_numbers",
    "has_lists",
    "has_more_results",
    "has_numbers",
]

STARTS = 24
"""The number of starting points."""
DESCENTS = 60
MOST_NUMBERS = 64
"""The largest number of unknown numbers for which arguments are searched for."""
DIFFERENCE = 1e-6  # relative step of difference quotients
SCALES = (1.0, 10.0, 0.1, 100.0, 1e3, 1e4, 1e5)  # of starts for unbounded numbers
WIDEST = 1e9  # a wider set counts as unbounded

NUMBERS = (float, complex, int, bool, np.int64, np.uint64)
REFUSED = (Exception,)  # the function itself may raise any exception
Numbers = NDArray[np.float64]


def has_numbers(inverse: Inverse) -> bool:
    """Return whether arguments can be searched for: unknown floats, from results that
    are numbers.
    """
    return RETURN in inverse.known and has_known_numbers(inverse)


def has_known_numbers(inverse: Inverse) -> bool:
    """Return whether the unknowns are floats, and the known parts of the result are numbers."""
    known = [axis for axis in inverse.known if axis_of(axis)[0] == RETURN]
    unknown = [axis for axis in inverse.unknown if axis != RETURN]
    sizes = [_size(kind, (float, complex)) for kind in _kinds(inverse, unknown)]
    results = [_size(kind, NUMBERS) or _is_of_numbers(kind) for kind in _kinds(inverse, known)]
    return bool(sizes and results) and 0 not in (*sizes, *results) and sum(sizes) <= MOST_NUMBERS


def has_more_results(inverse: Inverse) -> bool:
    """Return whether more real numbers of the result are known than arguments are unknown."""
    if not has_known_numbers(inverse):
        return False
    known = [axis for axis in inverse.known if axis_of(axis)[0] == RETURN]
    unknown = [axis for axis in inverse.unknown if axis != RETURN]
    sizes = [sum(_size(kind, NUMBERS) for kind in _kinds(inverse, a)) for a in (known, unknown)]
    return sizes[0] > sizes[1]


def _kinds(inverse: Inverse, axes: Sequence[str]) -> list[Any]:
    trees = inverse.axes.trees
    return [inverse.origin.operand(leaf).kind for axis in axes for leaf in leaves(trees[axis])]


def _size(kind: Any, elements: tuple[Any, ...]) -> int:
    """The number of real numbers in a value; 0 if its elements are of another type."""
    element = element_of(kind)
    if element not in elements:
        return 0
    return math.prod(shape_of(kind)) * (2 if element is complex else 1)


def has_lists(inverse: Inverse) -> bool:
    """Return whether known numbers of the result are in lists."""
    known = [axis for axis in inverse.known if axis_of(axis)[0] == RETURN]
    return any(map(_is_of_numbers, _kinds(inverse, known)))


def _is_of_numbers(kind: Any) -> bool:
    """Return whether a type is one of lists of numbers."""
    return is_list(kind) and kind.element in NUMBERS


def goes_on(inverse: Inverse) -> bool:
    """Return whether a run of the function may not terminate: it has a loop without a range."""
    return _has_while(inverse.origin.statements)


def _has_while(statements: Iterable[Statement]) -> bool:
    for statement in statements:
        rule = statement.relation
        if isinstance(rule, Loop) and rule.bounds is None:
            return True
        if isinstance(rule, Structured) and _has_while(rule.inside):
            return True
    return False


def from_arguments(
    inverse: Inverse, known: Sequence[Any], fixed: Mapping[str, Any]
) -> Iterator[list[Any]]:
    """All arguments of the function, for each local minimum found.

    fixed: inputs of the program that are given, by name.
    """
    try:
        problem = _problem(inverse, known, fixed)
    except Nothing:
        return
    for number in range(STARTS):
        x = _descended(problem, problem.start(number))
        if x is not None:
            yield problem.arguments(x)


def _problem(inverse: Inverse, known: Sequence[Any], fixed: Mapping[str, Any]) -> ArgumentProblem:
    """The search problem. Raises Nothing if contraction proves that there is no solution."""
    box = {} if has_arrays(inverse.origin) else box_of(inverse, known)
    return argument_problem(
        inverse, known, fixed, {variable.name: found for variable, found in box.items()}
    )


def argument_problem(
    inverse: Inverse,
    known: Sequence[Any],
    fixed: Mapping[str, Any] | None = None,
    sets: Mapping[str, NumberSet] | None = None,
) -> ArgumentProblem:
    """The problem of finding the unknown inputs.

    fixed: the given inputs, by name. sets: the sets in which the inputs lie.
    """
    sets = sets or {}
    values = dict(zip(inverse.known, known, strict=True))
    trees = inverse.axes.trees
    parts = [axis for axis in inverse.known if axis_of(axis)[0] not in (axis, RETURN)]
    fixed = {
        **dict(fixed or {}),
        **{
            leaf: value
            for axis in parts
            for leaf, value in zip(
                leaves(trees[axis]), taken_apart(trees[axis], values[axis]), strict=True
            )
        },
    }
    names = [leaf for axis in inverse.unknown if axis != RETURN for leaf in leaves(trees[axis])]
    bounds: list[_Bounds] = []
    for name in names:
        if name in fixed:
            continue
        kind = inverse.origin.operand(name).kind
        own = _bounds(inverse.domains.get(name), sets.get(name))
        bounds += [own] * _size(kind, (float, complex))
    return ArgumentProblem(
        inverse, values, values.get(RETURN), names, fixed, bounds, goes_on(inverse)
    )


@dataclass(frozen=True)
class _Bounds:
    """The bounds of a number: the smallest and the largest float."""

    low: float = -math.inf
    high: float = math.inf

    def at(self, unit: float, scale: float) -> float:
        """The start for a number in (0, 1); ``scale`` is the spread of an unbounded one."""
        low, high = self.low, self.high
        if high - low <= WIDEST:
            return low + unit * (high - low)
        odds = unit / (1 - unit)
        if math.isfinite(low) and low > -WIDEST:
            return min(low + scale * odds, high)
        if math.isfinite(high) and high < WIDEST:
            return max(high - scale / odds, low)
        return scale * math.log(odds)

    def default(self) -> float:
        inside = [value for value in (1.0, 0.0) if self.low < value < self.high]
        return inside[0] if inside else self.at(0.5, 1.0)


def _bounds(domain: Any, found: NumberSet | None) -> _Bounds:
    low, high = -math.inf, math.inf
    if isinstance(domain, Reals):
        low, high = domain.ends
    if found is not None and found.pieces:
        low, high = max(low, float(found.low)), min(high, float(found.high))
    return _Bounds(low, high) if low <= high else _Bounds()


@dataclass(frozen=True)
class ArgumentProblem:
    """The numbers to solve for.

    names: the leaves of the unknown axes. fixed: those of them that are given. bounds: the bounds
    of each number that is not fixed.
    """

    inverse: Inverse
    known: Mapping[str, Any]
    wanted: Any
    names: Sequence[str]
    fixed: Mapping[str, Any]
    bounds: Sequence[_Bounds]
    may_go_on: bool

    def start(self, number: int) -> Numbers:
        if number == 0:
            return np.array([one.default() for one in self.bounds])
        scale = SCALES[(number - 1) % len(SCALES)]
        units = point_of(number, len(self.bounds))
        return np.array([b.at(u, scale) for b, u in zip(self.bounds, units, strict=True)])

    def ends(self) -> tuple[Numbers, Numbers]:
        """The lower and the upper bounds."""
        low, high = ([getattr(b, end) for b in self.bounds] for end in ("low", "high"))
        return np.array(low), np.array(high)

    def inside(self, x: Numbers) -> Numbers:
        return np.clip(x, *self.ends())

    def numbers(self, answers: Sequence[Any]) -> Numbers:
        """The real numbers of the unknown axes, from values as a call returns them."""
        trees, inverse = self.inverse.axes.trees, self.inverse
        pairs = [
            (axis, answer)
            for axis, answer in zip(inverse.unknown, answers, strict=True)
            if axis != RETURN
        ]
        parts = {
            leaf: value
            for axis, answer in pairs
            for leaf, value in zip(
                leaves(trees[axis]), taken_apart(trees[axis], answer), strict=True
            )
        }
        names = [name for name in self.names if name not in self.fixed]
        return np.concatenate([flat_numbers(parts[name]) for name in names])

    def exact_slopes(self, x: Numbers, axes: Sequence[str]) -> Numbers | None:
        """The derivatives of the numbers in these axes of the result, exact up to rounding; None if
        the program has no known derivatives.
        """
        wanted = [leaf for axis in axes for leaf in leaves(self.inverse.axes.trees[axis])]
        try:
            names = [name for name in self.names if name not in self.fixed]
            return slopes_of(self.inverse, self.arguments(x), names, wanted)
        except (NotInvertible, NoSolution, ArithmeticError, ValueError):
            return None

    def differences(self, of: Callable[[Numbers], Numbers], x: Numbers) -> Numbers:
        """The derivatives of a function of the numbers, as difference quotients."""
        return _quotients(of, self.inside, x, of(x))

    def arguments(self, x: Numbers) -> list[Any]:
        """The function's arguments for values of the unknown numbers."""
        inverse, at = self.inverse, 0
        trees, parts = inverse.axes.trees, dict[str, Any](self.fixed)
        for name in self.names:
            if name in self.fixed:
                continue
            kind = inverse.origin.operand(name).kind
            count = _size(kind, (float, complex))
            parts[name] = _value(kind, x[at : at + count])
            at += count
        return [
            self.known[axis]
            if axis in self.known
            else rebuilt(trees[axis], iter([parts[leaf] for leaf in leaves(trees[axis])]))
            for axis in inverse.axes.inputs
        ]

    def off(self, x: Numbers) -> Numbers | None:
        """The residuals of the function, relative to the known result; None if it raises."""
        args = self.arguments(x)
        if self.may_go_on and self.inverse.coordinates_of(args) is None:
            return None
        try:
            result = self.inverse.result_of(args)
            tree = self.inverse.axes.trees[RETURN]
            pairs = zip(taken_apart(tree, result), taken_apart(tree, self.wanted), strict=True)
            found, wanted = map(
                np.concatenate,
                zip(*((flat_numbers(a), flat_numbers(b)) for a, b in pairs), strict=True),
            )
            if found.shape != wanted.shape:
                return None
            size = np.abs(wanted)
            largest = float(size.max(initial=0.0))
            # a zero is scaled like the other numbers
            scale = np.where(size > 1e-9 * largest, size, largest or 1.0)
            off = (found - wanted) / scale
        except REFUSED:
            return None
        return off if np.all(np.isfinite(off)) else None


def _value(kind: Any, numbers: Numbers) -> Any:
    """The value of a type with these real numbers."""
    found: NDArray[Any] = numbers
    if element_of(kind) is complex:
        found = numbers[0::2] + 1j * numbers[1::2]
    if shape_of(kind):
        return np.array(found).reshape(shape_of(kind))
    return found[0].item()


def flat_numbers(value: Any) -> Numbers:
    """The real numbers of a value."""
    array: NDArray[Any] = np.asarray(value).reshape(-1)
    if array.dtype.kind == "c":
        array = np.stack([np.real(array), np.imag(array)], axis=-1).reshape(-1)
    return array.astype(np.float64)


@np.errstate(all="ignore")  # trial arguments overflow at large residuals
def _descended(problem: ArgumentProblem, x: Numbers) -> Numbers | None:
    """The minimum that a descent from a start finds; None if there is none."""
    off = problem.off(x)
    if off is None:
        return None
    damping = 1e-3
    for _ in range(DESCENTS):
        size = float(np.linalg.norm(off))
        if size <= 1e-15:
            break
        slopes = _quotients(problem.off, problem.inside, x, off)
        normal = slopes.T @ slopes
        if not np.isfinite(normal).all() or not np.isfinite(slopes.T @ off).all():
            break
        diagonal = np.diag(normal)
        ridge = np.diag(np.maximum(diagonal, 1e-12 * max(float(diagonal.max(initial=0.0)), 1e-300)))
        for _ in range(10):
            step = np.linalg.lstsq(normal + damping * ridge, -slopes.T @ off, rcond=None)[0]
            there = problem.inside(x + step)
            found = problem.off(there)
            if found is not None and float(np.linalg.norm(found)) < size:
                break
            damping *= 8
        else:
            break
        x, off, damping = there, found, max(damping / 10, 1e-15)
    return x


def _quotients(
    of: Callable[[Numbers], Numbers | None],
    inside: Callable[[Numbers], Numbers],
    x: Numbers,
    off: Numbers,
) -> Numbers:
    """The derivatives of the residuals by each number; 0 if they are unknown."""
    columns: list[Numbers] = []
    for i in range(len(x)):
        step = DIFFERENCE * max(abs(float(x[i])), 1e-3)
        ends: list[tuple[float, Numbers]] = []
        for side in (step, -step):
            there = x.copy()
            there[i] += side
            there = inside(there)
            found = of(there)
            ends.append((float(x[i]), off) if found is None else (float(there[i]), found))
        (right, above), (left, below) = ends
        width = right - left
        columns.append((above - below) / width if width else np.zeros(len(off)))
    slopes = np.array(columns).T
    return np.where(np.isfinite(slopes), slopes, 0.0)
