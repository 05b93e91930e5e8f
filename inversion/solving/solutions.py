"""All solutions for known values, branch by branch."""

from __future__ import annotations

import itertools
import math
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np

from inversion.contraction.contracted_programs import Nothing
from inversion.deadline import OutOfTime, check_deadline, limited
from inversion.errors import NoSolution, WrongArguments
from inversion.planning.parameters import Parameter, ParameterSpace
from inversion.planning.plan import left_out
from inversion.planning.repeated import filled
from inversion.program.limits import has_floats
from inversion.program.shown import html_of
from inversion.program.trees import leaves, rebuilt, taken_apart
from inversion.running.progress import Progress, SearchProgress
from inversion.solving.argument_search import goes_on
from inversion.solving.finite import MOST_BY_TRIAL, MOST_TRIED, count_of, is_decided, listed
from inversion.solving.negative_powers import REMEDY, negative_powers
from inversion.solving.search_state import SearchState
from inversion.solving.smt import PROOF, Task, task_of
from inversion.solving.starting import box_of, infeasible, states
from inversion.solving.unproved import Unproved
from overlay.core.location import caller
from overlay.core.public_names import hides
from overlay.core.short_repr import cut, short_repr
from primitives.errors import TooHard, reason_of
from primitives.relation import RETURN

if TYPE_CHECKING:
    from inversion.inverse import Inverse

__all__ = ["SolutionBranch", "Solutions", "branch_of", "search", "solved"]

SOLVED, SEARCHED = 1e-12, 1e-7  # relative: closer solutions, and closer roots, are the same
BESIDE = 1e-5  # relative: a refused candidate as close to a solution is the same
TRIED_AT_ONCE = 100
MOST_FEW = 4096
"""The largest number of combinations of integers, after contraction, that are enumerated."""
SHOWN = 6  # branches in a repr
UNCERTAIN = re.compile("lost digits|overflow")  # refusals that do not prove that there is none

Status = Literal["searching", "complete", "limit", "timeout", "not_exhausted"]


@hides("unknown")
class SolutionBranch:
    """One branch of all solutions: a single solution, or a family with open parameters.

    A family is a set of θ that could not be excluded; it may contain no solution. Families with
    different choices may overlap. Calling a branch with values of its parameters returns the
    solution.

    Attributes
    ----------
    chosen : dict of str to object
        The coordinates of θ that are determined, by name.
    parameters : ParameterSpace
        The open coordinates, with domains narrowed to the range of solutions; empty for a single
        solution.

    Examples
    --------
    >>> from inversion import invert
    >>> (family,) = invert(lambda x, y: x * x + y, float, float).solutions(4.0)
    >>> family.is_point, family.parameters.names, family((1.0,))
    (False, ('x',), (1.0, 3.0))
    """

    def __init__(
        self,
        inverse: Inverse,
        known: tuple[Any, ...],
        chosen: Mapping[str, Any],
        parameters: ParameterSpace,
        answer: tuple[Any, ...] | None,
    ) -> None:
        self._inverse = inverse
        self._known = known
        self.chosen = dict(chosen)
        self.parameters = parameters
        self._answer = answer

    @property
    def unknown(self) -> tuple[str, ...]:
        """The names of the axes that a solution has."""
        return self._inverse.unknown

    @property
    def is_point(self) -> bool:
        """Whether it is a single solution."""
        return self._answer is not None

    @property
    def point(self) -> tuple[Any, ...]:
        """The single solution: the tuple of the unknown axes, as a call of the inverse returns it.

        Raises
        ------
        WrongArguments
            The branch is a family.
        """
        if self._answer is None:
            raise WrongArguments(
                f"{self!r} is a family, not a single solution",
                where=caller(),
                notes=[("parameter", str(parameter)) for parameter in self.parameters],
                help="call it with values of these, or draw one with .sample(rng)",
            )
        return self._answer

    def theta(self, rest: Any = ()) -> tuple[Any, ...]:
        """Complete θ: the chosen coordinates, and values for the open ones.

        Parameters
        ----------
        rest : tuple or record
            A value for each of ``parameters``.

        Returns
        -------
        tuple
            θ.

        Raises
        ------
        WrongArguments
            The number of values is wrong.
        OutsideDomain
            A value is outside its domain.
        """
        open_ = dict(zip(self.parameters.names, self.parameters.normal(rest), strict=True))
        given = {**self.chosen, **open_}
        return tuple(given[name] for name in self._inverse.parameters.names)

    def __call__(self, rest: Any = ()) -> tuple[Any, ...]:
        """The solution for values of ``parameters``, a tuple or a record. Raises NoSolution if
        there is none.
        """
        theta = self.theta(rest)
        return solved(self._inverse, self._known, theta) if self._answer is None else self._answer

    def sample(self, rng: np.random.Generator, tries: int = 100) -> tuple[Any, ...]:
        """Draw a random solution of the family.

        Parameters
        ----------
        rng : numpy.random.Generator
            The random number generator.
        tries : int
            The largest number of draws of θ.

        Returns
        -------
        tuple
            The values of the unknown axes.

        Raises
        ------
        NoSolution
            None of the drawn θ has a solution.
        """
        for _ in range(tries - 1):
            try:
                return self(self.parameters.sample(rng))
            except NoSolution:
                continue
        return self(self.parameters.sample(rng))

    def contains(self, *args: Any) -> bool:
        """Return whether arguments of the function are a solution on this branch.

        Parameters
        ----------
        *args : object
            All arguments of the function, in order.

        Returns
        -------
        bool
            True if the branch gives these arguments, within the tolerances of the inverse.
        """
        try:
            found = dict(
                zip(self._inverse.parameters.names, self._inverse.recover(*args), strict=True)
            )
            answers = self(tuple(found[name] for name in self.parameters.names))
        except (NoSolution, ValueError):
            return False
        return self._inverse.agrees(answers, args)

    def __repr__(self) -> str:
        return short_repr("SolutionBranch", self._facts)

    def _repr_html_(self) -> str:
        return html_of(self)

    @property
    def _facts(self) -> str:
        """The single solution; or else what is chosen, and what is open."""
        if self._answer is not None:
            return repr(self._answer)
        chosen = ", ".join(f"{name}={value!r}" for name, value in self.chosen.items())
        return f"{chosen or 'nothing chosen'}; open {self.parameters!r}"


def solved(inverse: Inverse, known: Sequence[Any], theta: tuple[Any, ...]) -> tuple[Any, ...]:
    """The answer of the inverse. Raises NoSolution."""
    return inverse(*known, theta) if theta else inverse(*known)


def branch_of(
    inverse: Inverse, known: tuple[Any, ...], state: SearchState, refused: _Refused | None = None
) -> SolutionBranch | None:
    """The branch of a state of the search; None if its only candidate is not a solution.

    refused: records a candidate that may still be one, because of rounding.
    """
    kept = [
        Parameter(p.name, state.kept[p.name], p.line, p.rounding_only)
        for p in inverse.parameters
        if p.name in state.kept
    ]
    chosen = {
        p.name: state.theta.get(p.name, p.domain.default)
        for p in inverse.parameters
        if p.name not in state.kept
    }
    answer: tuple[Any, ...] | None = None
    if not kept:
        try:
            answer = solved(inverse, known, tuple(chosen[n] for n in inverse.parameters.names))
        except (NoSolution, ValueError) as error:
            if refused is not None and UNCERTAIN.search(reason_of(error)):
                refused.candidates.append((chosen, error))
            return None
    return SolutionBranch(inverse, known, chosen, ParameterSpace(kept), answer)


def search(
    inverse: Inverse,
    known: tuple[Any, ...],
    fixed: Mapping[str, Any],
    budget: int | None = None,
    unproved: Unproved | None = None,
) -> Iterator[SolutionBranch | None]:
    """The branches of all solutions, each single solution once, in a fixed order; None for each
    step of the search without a result.

    fixed: coordinates of θ that are given. budget: the largest number of steps. unproved: receives
    the reasons why solutions may be missing at the end.
    """
    noted = Unproved() if unproved is None else unproved
    space = inverse.parameters
    given = {p.name: filled(p.domain, fixed[p.name]) for p in space if p.name in fixed}
    task = task_of(inverse.origin)
    if task is not None:
        yield from of_formula(inverse, task, known, given, budget, noted)
        return
    few = few_arguments(inverse, known)
    if few is not None:
        yield from enumerated(inverse, known, few, given, budget, noted)
        return
    seen = _Seen(inverse)
    refused = _Refused()
    found = states(inverse, known, given, fixed=given, unproved=noted)
    for step, state in enumerate(found):
        if budget is not None and step >= budget:
            noted.add("budget", f"the search was ended after {budget} steps")
            break
        branch = None if state is None else branch_of(inverse, known, state, refused)
        if state is None or branch is None:
            yield None
            continue
        refused.accepted.append(branch.chosen)
        if not branch.is_point or seen.is_new(branch.point, SEARCHED if state.searched else SOLVED):
            yield branch
    refused.tell(noted)
    for rule, why in left_out(inverse.program):
        noted.add(f"mode of {rule}", f"{rule}: {why}")
    for power in negative_powers(inverse.origin.statements, inverse.domains):
        why = "exponents below 0, which give floats, are not searched for"
        noted.add("power", f"{power}   {power.where}: {why}; {REMEDY}")


def is_small(inverse: Inverse) -> bool:
    """Return whether all unknowns have finite declared domains, with few combinations."""
    most = MOST_BY_TRIAL if is_decided(inverse.origin) else MOST_TRIED
    return len(inverse.unknown) > 0 and 0 < count_of(inverse.unknown_domains()) <= most


def few_arguments(inverse: Inverse, known: tuple[Any, ...]) -> list[Sequence[Any]] | None:
    """The candidate values of each unknown axis, if there are few of them and none is a float;
    else None.

    They are the members of declared domains. For integers in a program with floats, where rounding
    might lose solutions, they are the values that contraction leaves.
    """
    if is_small(inverse):
        return [listed(domain) for domain in inverse.unknown_domains()]
    program = inverse.origin
    inputs = {v.name: v for v in program.inputs}
    unknown = [inputs.get(axis) for axis in inverse.unknown]
    whole = all(v is not None and v.kind in (int, bool) for v in unknown)
    if not whole or not has_floats(program) or goes_on(inverse):
        return None
    try:
        box = box_of(inverse, known)
    except Nothing:
        return [()]
    sets = [box.get(v) for v in unknown if v is not None]
    if any(s is None or not s.whole or s.nan for s in sets):
        return None
    found = [s for s in sets if s is not None]
    if not math.prod(s.count() for s in found) <= MOST_FEW:
        return None
    kinds = [v.kind for v in unknown if v is not None]
    return [[kind(n) for n in s.members()] for kind, s in zip(kinds, found, strict=True)]


def enumerated(
    inverse: Inverse,
    known: tuple[Any, ...],
    domains: Sequence[Sequence[Any]],
    fixed: Mapping[str, Any],
    budget: int | None,
    unproved: Unproved,
) -> Iterator[SolutionBranch | None]:
    """The solutions among all values of the unknown axes, by trying each in order."""
    given = dict(zip(inverse.known, known, strict=True))
    wanted = given.pop(RETURN)
    names = inverse.parameters.names
    for step, answer in enumerate(itertools.product(*domains)):
        if step and step % TRIED_AT_ONCE == 0:
            yield None
            if budget is not None and step // TRIED_AT_ONCE >= budget:
                unproved.add("budget", f"the search was ended after {step} values")
                return
        values = {**given, **dict(zip(inverse.unknown, answer, strict=True))}
        args = [values[axis] for axis in inverse.axes.inputs]
        if not inverse.leads_to(args, wanted):
            continue
        theta = inverse.coordinates_of(args)
        chosen = {} if theta is None else dict(zip(names, theta, strict=True))
        if all(chosen.get(name, value) == value for name, value in fixed.items()):
            yield SolutionBranch(inverse, known, chosen, ParameterSpace([]), answer)


def of_formula(
    inverse: Inverse,
    task: Task,
    known: tuple[Any, ...],
    fixed: Mapping[str, Any],
    budget: int | None,
    unproved: Unproved,
) -> Iterator[SolutionBranch | None]:
    """The solutions of a function that z3 solves; the formula then excludes each one found."""
    axes, names = inverse.axes, inverse.parameters.names
    parts: dict[str, Any] = {}
    for axis, value in zip(inverse.known, known, strict=True):
        tree = axes.trees[axis]
        parts.update(zip(leaves(tree), taken_apart(tree, value), strict=True))
    try:
        for step, found in enumerate(task.answers(parts)):
            if budget is not None and step >= budget:
                unproved.add("budget", f"the search was ended after {budget} solutions")
                return
            inputs = {**parts, **found}
            args = [rebuilt(axes.trees[n], (inputs[x] for x in leaves(axes.trees[n])))
                    for n in axes.inputs]  # fmt: skip
            values = dict(zip(axes.inputs, args, strict=True))
            if not axes.given.issuperset(leaves(axes.trees[RETURN])):
                values[RETURN] = inverse.result_of(args)
            theta = inverse.coordinates_of(args)
            chosen = {} if theta is None else dict(zip(names, theta, strict=True))
            if all(chosen.get(name, value) == value for name, value in fixed.items()):
                answer = tuple(values[axis] for axis in inverse.unknown)
                yield SolutionBranch(inverse, known, chosen, ParameterSpace([]), answer)
            else:
                yield None
    except TooHard as error:
        unproved.add("z3", error.asked)


class Solutions:
    """All solutions for known values: a lazy sequence of ``SolutionBranch``.

    ``Inverse.solutions`` makes it. It can be indexed, and iterated repeatedly: branches that were
    found are stored. ``len`` searches to the end. ``status`` is the state of the search:

    | status | |
    | --- | --- |
    | ``"searching"`` | it has not ended: it continues on demand |
    | ``"complete"`` | every solution is on one of the branches, proved |
    | ``"limit"`` | the requested number of branches was found |
    | ``"timeout"`` | the time limit was reached |
    | ``"not_exhausted"`` | the search ended and may have missed solutions: see ``reason`` |

    If there is no branch and the status is ``"complete"``, it is proved that there is no solution;
    ``reason`` has the proof. Two solutions that agree to 12 digits, and two numerical roots that
    agree to 7 digits, count as one.

    Examples
    --------
    >>> from inversion import invert
    >>> found = invert(lambda x: x * x, float).solutions(4.0)
    >>> [branch.point for branch in found], found.status
    ([(2.0,), (-2.0,)], 'complete')
    """

    def __init__(
        self,
        inverse: Inverse,
        known: tuple[Any, ...],
        limit: int | None = None,
        timeout: float | None = None,
        progress: Progress = False,
        plans: Iterable[Inverse] | None = None,
    ) -> None:
        self._inverse = inverse
        self._plans = plans
        self._known = known
        self._limit = limit
        self._left = math.inf if timeout is None else timeout
        self._timeout = timeout
        self._found: list[SolutionBranch] = []
        self._unproved = Unproved()
        self._status: Status = "searching"
        self._reason: str | None = None
        self._steps = 0
        self._progress = SearchProgress(progress, limit, f"solutions of {inverse.origin.name}")
        self._search = self._begun()

    @property
    def status(self) -> Status:
        """The state of the search: ``"searching"`` until it has ended."""
        return self._status

    @property
    def reason(self) -> str | None:
        """The reason for the status: the proof that there is no solution, or the cases that were
        not exhausted; otherwise None.
        """
        return self._reason

    @property
    def found(self) -> tuple[SolutionBranch, ...]:
        """The branches found so far; it does not search."""
        return tuple(self._found)

    def __iter__(self) -> Iterator[SolutionBranch]:
        at = 0
        while at < len(self._found) or self._advanced():
            yield self._found[at]
            at += 1

    def __len__(self) -> int:
        while self._advanced():
            pass
        return len(self._found)

    def __bool__(self) -> bool:
        return bool(self._found) or self._advanced()

    @overload
    def __getitem__(self, at: int) -> SolutionBranch: ...
    @overload
    def __getitem__(self, at: slice) -> list[SolutionBranch]: ...
    def __getitem__(self, at: int | slice) -> SolutionBranch | list[SolutionBranch]:
        """One branch, or a list for a slice; searches until there are enough branches."""
        ends = (at.start, at.stop) if isinstance(at, slice) else (at, at)
        if any(end is not None and end < 0 for end in ends) or ends[1] is None:
            len(self)
        else:
            wanted = ends[1] if isinstance(at, slice) else ends[1] + 1
            while len(self._found) < wanted and self._advanced():
                pass
        return self._found[at]

    def __repr__(self) -> str:
        count = len(self._found)
        shown = [branch._facts for branch in self._found[:SHOWN]]
        if count > SHOWN or self._status == "searching":
            shown.append("...")
        found = cut(f"[{', '.join(shown)}]")
        why = f": {self._reason}" if self._reason else ""
        return f"<Solutions {found} {cut(f'{self._status}{why}')}>"

    def _repr_html_(self) -> str:
        return html_of(self)

    # ---- the search ----

    def _begun(self) -> Iterator[SolutionBranch | None]:
        if self._inverse.is_out_of_date:
            self._unproved.add("changed", "the function has changed since: call invert again")
        if self._plans is not None:
            for inverse in self._plans:
                known = inverse.known_values(self._known)
                if infeasible(inverse, known) is None:
                    yield from search(inverse, known, {}, None, self._unproved)
            reason = "arguments of other lengths than those tried are not ruled out"
            self._unproved.add("lengths", reason)
            return
        proof = infeasible(self._inverse, self._known)
        if proof is not None and not self._unproved:
            self._reason = str(proof)
            return
        yield from search(self._inverse, self._known, {}, None, self._unproved)
        if not self._found and task_of(self._inverse.origin) is not None:
            self._reason = PROOF

    def _advanced(self) -> bool:
        """Search for one more branch; return whether there is one."""
        if self._status != "searching":
            return False
        if self._limit is not None and len(self._found) >= self._limit:
            return self._ended("limit")
        if self._left <= 0:
            return self._timed_out()
        began = time.monotonic()
        try:
            if limited(self._left, self._one_more):
                return True
        except OutOfTime:
            return self._timed_out()
        except BaseException as error:
            self._ended("not_exhausted", f"it was broken off by {type(error).__name__}")
            raise
        finally:
            self._left -= time.monotonic() - began
        if self._unproved:
            return self._ended("not_exhausted", str(self._unproved))
        return self._ended("complete", self._reason)

    def _one_more(self) -> bool:
        for branch in self._search:
            check_deadline()
            self._steps += 1
            self._progress(len(self._found) + (branch is not None), self._steps)
            if branch is not None:
                self._found.append(branch)
                return True
        return False

    def _timed_out(self) -> bool:
        return self._ended("timeout", f"the search did not end in {self._timeout} s")

    def _ended(self, status: Status, reason: str | None = None) -> bool:
        self._status, self._reason = status, reason
        self._progress.close()
        return False


class _Refused:
    """Candidates that the check refused only because of its tolerances, and the coordinates of
    accepted solutions.

    A refused candidate close to an accepted solution represents that solution.
    """

    def __init__(self) -> None:
        self.candidates: list[tuple[Mapping[str, Any], Exception]] = []
        self.accepted: list[Mapping[str, Any]] = []

    def tell(self, unproved: Unproved) -> None:
        """Report refused candidates that are close to no accepted solution."""
        for chosen, error in self.candidates:
            if not any(_are_beside(chosen, other) for other in self.accepted):
                reason = reason_of(error)
                unproved.add("digits", f"a solution was refused by the check: {reason}")


def _are_beside(one: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    return one.keys() == other.keys() and all(
        abs(value - other[name]) <= BESIDE * max(1.0, abs(value))
        if isinstance(value, float) and isinstance(other[name], float)
        else value == other[name]
        for name, value in one.items()
    )


class _Seen:
    """The single solutions found so far, to drop duplicates."""

    def __init__(self, inverse: Inverse) -> None:
        self.inverse = inverse
        # by exact numbers; the others as complex numbers; and the largest size
        self.points: dict[tuple[Any, ...], list[tuple[complex, ...]]] = {}
        self.size = 0.0

    def is_new(self, answers: tuple[Any, ...], apart: float) -> bool:
        """Record a solution; return whether none was seen within this relative distance."""
        parts: list[Any] = []
        for axis, answer in zip(self.inverse.unknown, answers, strict=True):
            parts += taken_apart(self.inverse.axes.trees[axis], answer)
        others = (part for part in parts if not isinstance(part, (float, complex)))
        exact = tuple(tuple(part) if isinstance(part, list) else part for part in others)
        rounded = tuple(complex(part) for part in parts if isinstance(part, (float, complex)))
        self.size = max(self.size, *map(abs, rounded), 0.0)
        seen = self.points.setdefault(exact, [])
        if any(self._is_same(rounded, other, apart) for other in seen):
            return False
        seen.append(rounded)
        return True

    def _is_same(self, one: tuple[complex, ...], other: tuple[complex, ...], apart: float) -> bool:
        rounding = SOLVED * min(self.size, 1.0)
        return all(
            abs(a - b) <= apart * max(abs(a), abs(b)) + rounding
            for a, b in zip(one, other, strict=True)
        )
