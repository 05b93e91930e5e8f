"""Single statements, solved in a search when no choices are left."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from inversion.contraction.branch_ranges import RANGES
from inversion.contraction.contractors import CONTRACTORS
from inversion.contraction.variable_sets import around, every
from inversion.emitting.entry_code import WRITERS
from inversion.emitting.module_text import Module
from inversion.errors import NoSolution, OutsideDomain
from inversion.planning.parameters import Parameter
from inversion.planning.plan import PlanStep, Root
from inversion.program.causality import Solved
from inversion.program.statements import Statement
from inversion.solving.search_state import SearchFrame, SearchState, keeping, known_for
from inversion.solving.unproved import Unproved
from overlay.sets import NumberSet, number_set, point
from primitives import Domain, Reals, Relation, WholeFloats
from primitives.floats import extremes
from primitives.floats.arithmetic import clipped
from primitives.floats.tolerance import is_at, whole
from primitives.forms.congruences import is_numbered
from primitives.integers.modular_powers import power_modulo
from primitives.relation import RETURN, Mode
from primitives.sequences.chains import ConcatenationRelation

__all__ = ["REFUSALS", "Solver"]

REFUSALS = (NoSolution, OutsideDomain, ValueError, ArithmeticError, LookupError)
GOLDEN = 0.6180339887498949  # its multiples spread over the unit interval
COMPUTED = 1e-12  # relative error of a solved number


ROUNDING = 1e-9
OF_TOLERANCE = 1e-6  # the largest rounding, relative to the width of a set within the tolerances
CLAMPS = (extremes.minimum, extremes.maximum, extremes.clip)


def _number_at(mode: Mode, known: Mapping[str, Any], end: float) -> int:
    """The number of the solution of a mode at this end of a set, with solutions numbered in
    ascending order of the first unknown.
    """
    assert mode.recover is not None
    given = {**known, **dict.fromkeys(mode.unknown, int(end))}
    return mode.recover(*(given[axis] for axis in mode.recovers))[0]


def _bounds_at(known: Mapping[str, Any], allowed: NumberSet) -> tuple[list[float], list[float]]:
    """The known bounds of a clamp that its result may be, up to rounding: those for which the
    solver gives the numbers beyond them, and others.

    allowed: the results that lead to the known values within the tolerances. Rounding is far
    smaller than these.
    """
    bounds = [value for axis, value in known.items() if axis != RETURN and allowed.contains(value)]
    wanted = known[RETURN]
    near = [bound for bound in bounds if is_at(wanted, bound)]
    most = allowed.width * OF_TOLERANCE if math.isfinite(allowed.width) else 0.0
    return near, [b for b in bounds if b not in near and abs(wanted - b) <= most]


class Solver:
    """Solver of statements, with bounds of their solutions. unproved: receives the reasons why
    solutions may be missed.
    """

    def __init__(self, unproved: Unproved) -> None:
        self.unproved = unproved
        self.made: dict[int, Callable[..., Any]] = {}

    def solved(
        self,
        state: SearchState,
        step: PlanStep,
        names: Mapping[str, Parameter],
        known: Mapping[str, Any],
    ) -> SearchState | None:
        """The state after a statement is solved; None if it has no solution."""
        mode, rule = step.solved.mode, step.solved.statement.relation
        given: list[Any] = []
        for name in mode.takes:
            if name in known:
                given.append(known[name])
            elif name in names:
                given.append(state.theta[names[name].name])
            else:
                given.append(mode.coordinates[name].default)
        try:
            if RETURN in known:
                at = mode.takes.index(RETURN)
                given[at] = _in_codomain(given[at], rule.codomain)
            with np.errstate(all="ignore"):
                answer = self.solver(step)(*given)
        except REFUSALS:
            self._note_rounded(state, step, known)
            return None
        answers = answer if len(step.solved.unknown) > 1 else (answer,)
        found = dict(zip(step.solved.unknown, answers, strict=True))
        for variable, value in found.items():
            allowed = state.box.get(variable)
            if allowed is not None and allowed.whole and not _holds(allowed, value):
                return None
        return state.having(values={**state.values, **found})

    def _note_rounded(self, state: SearchState, step: PlanStep, known: Mapping[str, Any]) -> None:
        """Note that a refused statement of floats may have its value by rounding, as ``exp`` has 0
        by underflow: its solver then refuses what its contractor, which counts errors, allows."""
        unknown, results = step.solved.mode.unknown, step.solved.statement.results
        if len(unknown) != 1 or RETURN not in known or [v.kind for v in results] != [float]:
            return
        allowed = self.solutions(state, step, known, unknown[0])
        if allowed is None or allowed:  # without a contractor nothing is ruled out
            shown = f"`{step.solved.statement}`   {step.solved.statement.where}"
            reason = f"{shown}: its value may come from underflow or rounding, which is not solved"
            self.unproved.add("rounded", reason)

    def solver(self, step: PlanStep) -> Callable[..., Any]:
        """The function that solves a statement; it is generated if the statement has statements
        inside.
        """
        mode, rule = step.solved.mode, step.solved.statement.relation
        if isinstance(rule, Relation):
            return mode.solver
        if id(mode) not in self.made:
            module = Module(WRITERS)
            name = module.solver(rule, mode)
            source = module.source([])
            namespace = dict(source.names)
            exec(compile(source.text, "<a part of an inverse>", "exec"), namespace)
            self.made[id(mode)] = namespace[name]
        return self.made[id(mode)]

    def reaching(
        self,
        state: SearchState,
        step: PlanStep,
        names: Mapping[str, Parameter],
        others: Mapping[str, Parameter],
        known: Mapping[str, Any],
        value: float,
    ) -> SearchState | None:
        """The state with continuous coordinates for which the statement gives a value."""
        mode = step.solved.mode
        axes = {**known, mode.unknown[0]: value}
        try:
            given = mode.recover(*(axes[axis] for axis in mode.recovers)) if mode.recover else ()
        except REFUSALS:
            return None
        theta = dict(zip(mode.coordinates, given, strict=True))
        chosen = {p.name: theta[c] for c, p in others.items()}
        return self.solved(state.choosing(**chosen), step, names, known)

    def either(
        self,
        state: SearchState,
        step: PlanStep,
        names: Mapping[str, Parameter],
        others: Mapping[str, Parameter],
        known: Mapping[str, Any],
    ) -> SearchState | None:
        """The state after a statement whose coordinates may all have no effect; None if it has no
        solution.
        """
        trials = (
            {p.name: p.domain.default for p in others.values()},
            # all different, each at another position
            {
                p.name: p.domain.from_unit((i + 1) * GOLDEN % 1)
                for i, p in enumerate(others.values())
            },
        )
        first, second = (self.solved(state.choosing(**one), step, names, known) for one in trials)
        if first is None or second is None:
            return first if second is None else second
        answers = [(first.values[v], second.values[v]) for v in step.solved.unknown]
        if all(abs(a - b) <= COMPUTED * max(abs(a), abs(b)) for a, b in answers):
            return first
        return keeping(state, others.values())

    def solutions(
        self, state: SearchState, step: PlanStep, known: Mapping[str, Any], axis: str
    ) -> NumberSet | None:
        """The set of solutions for one unknown; None if it has no contractor."""
        rule: Any = step.solved.statement.relation
        contractor = CONTRACTORS.get(rule) if isinstance(rule, Relation) else None
        (variable,) = step.solved.unknown
        now = state.box.get(variable, every(variable.kind))
        if contractor is None or now is None:
            return None
        sets = {axis: now}
        for other, value in known.items():
            found = around(value, COMPUTED, 0.0) if isinstance(value, float) else point(value)
            if found is None:
                return None
            sets[other] = found
        if rule in CLAMPS:
            allowed = state.box.get(step.solved.statement.result, every(float))
            assert allowed is not None
            near, missed = _bounds_at(known, allowed)
            for bound in near:
                sets[RETURN] = sets[RETURN].join(point(bound) or sets[RETURN])
            if missed:
                shown = f"`{step.solved.statement}`   {step.solved.statement.where}"
                reason = f"{shown}: rounding does not show whether its result is the bound"
                self.unproved.add("bound", reason)
        _, args = contractor.contracted(sets[RETURN], [sets[a] for a in rule.axes])
        return args[rule.axes.index(axis)].numbers()

    def range_of(
        self, state: SearchState, step: PlanStep, coordinate: str, known: Mapping[str, Any] | None
    ) -> NumberSet | None:
        """The range of a coordinate that numbers the solutions in a bounded set."""
        rule: Any = step.solved.statement.relation
        if isinstance(rule, ConcatenationRelation) and known is not None:
            return number_set([(0, rule.count(known) - 1)], whole=True)
        found = state.box.get(step.solved.unknown[0])
        mode = step.solved.mode
        of_power = rule is power_modulo and coordinate == "k" and known and len(mode.unknown) == 1
        numbered = coordinate == "k" and is_numbered(rule)
        if numbered and known is not None and not self._solves(step, {**known, coordinate: 0}):
            return number_set([], whole=True)  # whether there are solutions depends on no number
        if (numbered or of_power) and found and math.isfinite(found.width):
            assert mode.recover is not None
            try:
                numbers = [_number_at(mode, known or {}, end) for end in (found.low, found.high)]
            except REFUSALS:
                return None
            return number_set([(min(numbers), max(numbers))], whole=True)
        ranges = RANGES.get(rule) if step.solved.mode.unknown == ("a",) else None
        if ranges is None or coordinate != "k" or not found:
            return None
        if not (abs(found.low) < 1e15 and abs(found.high) < 1e15):
            return None
        bounds = ranges(known or {}, found)
        return None if bounds is None else number_set([bounds], whole=True)

    def gives_one(
        self, step: PlanStep, coordinate: str, value: Any, known: Mapping[str, Any] | None
    ) -> bool:
        """Return whether a value of the only coordinate gives a solution that no other value gives,
        or this is not known. Coordinates that number a few solutions repeat them without end."""
        mode = step.solved.mode
        if known is None or mode.recover is None or list(mode.coordinates) != [coordinate]:
            return True
        if value is None:
            return False
        try:
            given = {**known, coordinate: value}
            with np.errstate(all="ignore"):
                answer = self.solver(step)(*(given[name] for name in mode.takes))
                answers = answer if len(mode.unknown) > 1 else (answer,)
                axes = {**known, **dict(zip(mode.unknown, answers, strict=True))}
                (place,) = mode.recover(*(axes[axis] for axis in mode.recovers))
        except REFUSALS:
            return False
        return bool(place == value)

    def _solves(self, step: PlanStep, given: Mapping[str, Any]) -> bool:
        """Return whether a statement has a solution for these values of all arguments of its
        solver.
        """
        mode = step.solved.mode
        try:
            self.solver(step)(*(given[name] for name in mode.takes))
        except REFUSALS:
            return False
        return True

    def sides(
        self, frame: SearchFrame, state: SearchState, root: Root, x: float
    ) -> tuple[float, float]:
        """Both sides of an equation for a guess. Raises NoSolution if they have no value."""
        there = state.having(values={**state.values, root.variable: x})
        for step in root.steps:
            assert isinstance(step, PlanStep)
            names = {c: frame.names[p.name] for c, p in step.chosen.items()}
            known = known_for(there, step.solved.statement, step.solved.mode.takes)
            found = None if known is None else self.solved(there, step, names, known)
            if found is None:
                raise NoSolution("there is no value")
            there = found
        check = root.check
        mode = check.relation.mode(check.relation.outputs)
        assert mode is not None
        known = known_for(there, check, mode.takes)
        assert known is not None
        forward = self.solver(PlanStep(_forward(check, mode), {}))
        answer = forward(*(known[name] for name in mode.takes))
        answers = answer if len(check.results) > 1 else (answer,)
        at = next(i for i, v in enumerate(check.results) if v.kind is float)
        return float(answers[at]), float(there.values[check.results[at]])


def _forward(statement: Statement, mode: Mode) -> Solved:
    return Solved(statement, mode, statement.results)


def is_near(value: Any, wanted: Any) -> bool:
    """Return whether a value equals the wanted one, up to the rounding of an inverse; every answer
    is checked forwards as well.
    """
    if type(value) is not float or type(wanted) is not float:
        return bool(value == wanted)
    return value == wanted or math.isclose(value, wanted, rel_tol=ROUNDING, abs_tol=ROUNDING)


def _holds(allowed: NumberSet, value: Any) -> bool:
    """Return whether a set of integers contains a number, up to rounding."""
    if type(value) is not float or not math.isfinite(value):
        return allowed.contains(value)
    near = float(round(value))
    return allowed.contains(near) and is_near(value, near)


def _in_codomain(value: Any, codomain: Domain | None) -> Any:
    """A known result, moved into the codomain if rounding put it outside.

    Raises NoSolution if it is not near.
    """
    if codomain is None or codomain.contains(value):
        return value
    if isinstance(codomain, WholeFloats) and isinstance(value, float):
        value = whole(value)
    if isinstance(codomain, (Reals, WholeFloats)) and isinstance(value, float):
        found = clipped(value, codomain.low, codomain.high)
        if codomain.contains(found):
            return found
    raise NoSolution("the function never gives this result")
