"""Traversal of a plan, with all values of its discrete choices.

A statement whose known operands are numbers is solved immediately. A statement with open operands
stays open, with its continuous coordinates. After each choice the sets of all variables are
contracted, which excludes impossible choices.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from inversion.contraction.contracted_programs import Nothing, arms_of, contracted, inner_box
from inversion.contraction.variable_sets import every
from inversion.errors import NoSolution
from inversion.intrinsics.roots import find_root
from inversion.planning.loop_modes import TRIPS
from inversion.planning.parameters import Parameter
from inversion.planning.plan import Plan, PlanStep, Root, choices_of
from inversion.planning.statement_modes import THEN_FIRST, Ranked, Solution
from inversion.program.branches import Branch
from inversion.program.loops import Loop
from inversion.program.statements import Variable
from inversion.solving.candidates import (
    MOST_MEMBERS,
    PERIODIC,
    fairly,
    is_discrete,
    members,
    periods,
)
from inversion.solving.equations import REFUSALS, Solver, is_near
from inversion.solving.isolation import roots_of
from inversion.solving.search_slopes import difference, images, slope, slopes_in
from inversion.solving.search_state import (
    EFFORT,
    SearchFrame,
    SearchState,
    boxed,
    is_narrow,
    keeping,
    known_axes,
    known_for,
    value_of,
)
from inversion.solving.system_roots import Box, roots_of_system
from inversion.solving.unproved import Unproved
from overlay.sets import Bounds, NumberSet, number_set, point
from overlay.sets.rounding import LARGEST, above, below
from primitives import Reals, Relation
from primitives.relation import RETURN

__all__ = ["Search"]

TRIED_AT_ONCE = 100
UNCHECKED = 64
"""The values of a coordinate that are tried before it is asked whether one gives a solution of its
own.
"""
IN_VAIN = 1000
"""The most values in a row that give no solution of their own, after which a coordinate is left."""
OVERFLOW = LARGEST * (1 - 1e-14)
Item = tuple[Variable, Parameter] | PlanStep | Root


class Search:
    """The enumeration of the paths through a plan.

    starts: coordinates from which choices are tried outwards. fixed: coordinates that are given;
    they are in the ``theta`` of the initial state. unproved: receives the reasons why solutions may
    be missed.
    """

    def __init__(
        self, starts: Mapping[str, Any], fixed: Mapping[str, Any], unproved: Unproved
    ) -> None:
        self.starts = {**starts, **fixed}
        self.fixed = fixed
        self.unproved = unproved
        self.solver = Solver(unproved)

    def run(self, frame: SearchFrame, state: SearchState) -> Iterator[SearchState | None]:
        """The states at the end of a plan; None for each step without a result."""
        plan = frame.plan
        known = dict(state.values)
        for value, is_true in plan.program.holds:
            if isinstance(value, Variable):
                known[value] = is_true
        items: list[Item] = [*plan.free.items(), *plan.steps]
        for ended in self.onwards(frame, state.having(values=known), items, 0):
            yield ended if ended is None else self.ended(frame, ended)

    def onwards(
        self, frame: SearchFrame, state: SearchState, items: Sequence[Item], at: int
    ) -> Iterator[SearchState | None]:
        """Continue from a step: a step with choices continues from each of them."""
        for place in range(at, len(items)):
            found = self.taken(frame, state, items[place])
            if found is None:
                yield None
                return
            if not isinstance(found, SearchState):
                rest = functools.partial(self.resumed, frame, items, place + 1)
                yield from fairly(found, rest)
                return
            state = found
        yield state

    def resumed(
        self, frame: SearchFrame, items: Sequence[Item], at: int, state: SearchState
    ) -> Iterator[SearchState | None]:
        return self.onwards(frame, state, items, at)

    def taken(
        self, frame: SearchFrame, state: SearchState, item: Item
    ) -> SearchState | Iterator[SearchState | None] | None:
        """Take a step: the state after it, or the states after each of its choices."""
        if isinstance(item, Root):
            return self.rooted(frame, state, item)
        if isinstance(item, PlanStep):
            return self.stepped(frame, state, item)
        return self.freed(frame, state, *item)

    def ended(self, frame: SearchFrame, state: SearchState) -> SearchState:
        """The state, with open variables restricted to their sets."""
        kept = dict(state.kept)
        for variable, parameter in frame.plan.free.items():
            name = frame.names[parameter.name].name
            found = state.box.get(variable)
            if name in kept and found:
                kept[name] = kept[name].within(found)
        return state.having(kept=kept)

    # ---- free variables ----

    def freed(
        self, frame: SearchFrame, state: SearchState, variable: Variable, parameter: Parameter
    ) -> SearchState | Iterator[SearchState | None] | None:
        """Choose a free variable: each value of a discrete one; a continuous variable
        stays open.
        """
        name = frame.names[parameter.name].name
        allowed = state.box.get(variable)
        if name in self.fixed:
            return self.given(frame, state, variable, self.fixed[name])
        if is_discrete(parameter.domain):
            return self.valued(frame, state, variable, parameter)
        if allowed is not None and allowed.low == allowed.high:
            value = float(allowed.low)
            known = {**state.values, variable: value}
            return state.having(values=known).choosing(**{name: value})
        return state.having(kept={**state.kept, name: parameter.domain})

    def given(
        self, frame: SearchFrame, state: SearchState, variable: Variable, value: Any
    ) -> SearchState | None:
        """The state with the given value of a free variable."""
        only = point(value) if variable in state.box else None
        box = state.box if only is None else boxed(frame, state, {variable: only})
        return (
            None if box is None else state.having(values={**state.values, variable: value}, box=box)
        )

    def valued(
        self, frame: SearchFrame, state: SearchState, variable: Variable, parameter: Parameter
    ) -> Iterator[SearchState | None]:
        name = frame.names[parameter.name].name
        start = self.starts.get(name, parameter.domain.default)
        for value in members(parameter.domain, start, state.box.get(variable)):
            box = None if value is None else boxed(frame, state, {variable: point(value)})
            if box is None:
                yield None
                continue
            known = {**state.values, variable: value}
            yield state.having(values=known, box=box).choosing(**{name: value})

    # ---- statements ----

    def stepped(
        self, frame: SearchFrame, state: SearchState, step: PlanStep
    ) -> SearchState | Iterator[SearchState | None] | None:
        """Solve a statement, for each of its choices."""
        mode, statement = step.solved.mode, step.solved.statement
        if isinstance(mode, Ranked) and mode.plans is not None:
            return self.armed(frame, state, step, mode)
        names = {c: frame.names[p.name] for c, p in step.chosen.items()}
        missing = {
            c: p for c, p in names.items() if p.name not in state.theta and p.name not in state.kept
        }
        known = known_for(state, statement, mode.takes)
        if not missing:
            is_open = known is None or any(p.name in state.kept for p in names.values())
            return state if is_open else self.solver.solved(state, step, names, known or {})
        return self.chosen(frame, state, step, names, missing, known)

    def chosen(
        self,
        frame: SearchFrame,
        state: SearchState,
        step: PlanStep,
        names: Mapping[str, Parameter],
        missing: Mapping[str, Parameter],
        known: Mapping[str, Any] | None,
    ) -> Iterator[SearchState | None]:
        """The states for each choice of a statement's coordinates."""
        discrete = {c: p for c, p in missing.items() if is_discrete(p.domain)}
        by_value = None
        if known is not None and len(discrete) == len(missing):
            by_value = self.by_value(frame, state, step, names, known)
        if by_value is not None:
            return by_value
        others = {c: p for c, p in missing.items() if c not in discrete}
        found = self.discretely(state, step, list(discrete.items()), known)
        return fairly(found, lambda s: self.continued(frame, s, step, names, others, known))

    def by_value(
        self,
        frame: SearchFrame,
        state: SearchState,
        step: PlanStep,
        names: Mapping[str, Parameter],
        known: Mapping[str, Any],
    ) -> Iterator[SearchState | None] | None:
        """The states for all integers that solve a statement, if they can be enumerated."""
        unknown, rule = step.solved.unknown, step.solved.statement.relation
        sets = [state.box.get(v) for v in unknown]
        if not isinstance(rule, Relation) or rule.outputs != (RETURN,):
            return None
        if any(s is None or not s.whole for s in sets):
            return None
        count = 1
        for found in sets:
            count *= found.count() if found is not None else 0
        if count > MOST_MEMBERS:
            return None
        sets_of = [s for s in sets if s is not None]
        return self._by_value(frame, state, step, names, known, sets_of)

    def _by_value(
        self,
        frame: SearchFrame,
        state: SearchState,
        step: PlanStep,
        names: Mapping[str, Parameter],
        known: Mapping[str, Any],
        sets: Sequence[NumberSet],
    ) -> Iterator[SearchState | None]:
        unknown, mode = step.solved.unknown, step.solved.mode
        rule: Any = step.solved.statement.relation
        tried = 0
        for integers in itertools.product(*(s.members() for s in sets)):
            typed = [v.kind(n) for v, n in zip(unknown, integers, strict=True)]
            axes = {**known, **dict(zip(mode.unknown, typed, strict=True))}
            try:
                with np.errstate(all="ignore"):  # words wrap
                    fits = is_near(rule(*(axes[axis] for axis in rule.axes)), axes[RETURN])
                    given = mode.recover(*(axes[a] for a in mode.recovers)) if mode.recover else ()
            except REFUSALS:
                fits, given = False, ()
            sets_of = {v: point(n) for v, n in zip(unknown, typed, strict=True)}
            tried += 1
            box = boxed(frame, state, sets_of) if fits else None
            if box is None:
                if tried % TRIED_AT_ONCE == 0:
                    yield None
                continue
            theta = dict(zip(mode.coordinates, given, strict=True))
            chosen = {names[c].name: value for c, value in theta.items() if c in names}
            if any(value != self.fixed.get(name, value) for name, value in chosen.items()):
                yield None
                continue
            found = {**state.values, **dict(zip(unknown, typed, strict=True))}
            yield state.having(values=found, box=box).choosing(**chosen)

    def discretely(
        self,
        state: SearchState,
        step: PlanStep,
        coordinates: Sequence[tuple[str, Parameter]],
        known: Mapping[str, Any] | None,
    ) -> Iterator[SearchState | None]:
        """The states for all values of discrete coordinates."""
        if not coordinates:
            yield state
            return
        (coordinate, parameter), *rest = coordinates
        allowed = self.solver.range_of(state, step, coordinate, known)
        start = self.starts.get(parameter.name, parameter.domain.default)

        def each() -> Iterator[SearchState | None]:
            in_vain = 0
            for count, value in enumerate(members(parameter.domain, start, allowed)):
                if count >= UNCHECKED:
                    gives_one = self.solver.gives_one(step, coordinate, value, known)
                    in_vain = 0 if gives_one else in_vain + 1
                    if in_vain == IN_VAIN:
                        shown = f"`{step.solved.statement}`   {step.solved.statement.where}"
                        why = (
                            f"{IN_VAIN} values of {parameter.name} in a row gave no other solution"
                        )
                        self.solver.unproved.add("in vain", f"{shown}: {why}")
                        return
                yield None if value is None else state.choosing(**{parameter.name: value})

        yield from fairly(each(), lambda s: self.discretely(s, step, rest, known))
        loop: Any = step.solved.statement.relation
        if coordinate == TRIPS and isinstance(loop, Loop) and not loop.is_counted:
            more = f"a loop may have more than {loop.max_trips} iterations"
            self.solver.unproved.add("trips", f"{more}, which invert(..., max_trips=) allows")

    def continued(
        self,
        frame: SearchFrame,
        state: SearchState,
        step: PlanStep,
        names: Mapping[str, Parameter],
        others: Mapping[str, Parameter],
        known: Mapping[str, Any] | None,
    ) -> Iterator[SearchState | None]:
        """The states for continuous coordinates: one for each isolated solution; otherwise they
        stay open.
        """
        if known is None or not others:
            if known is None:
                yield keeping(state, others.values())
            else:
                yield self.solver.solved(state, step, names, known)
            return
        rule: Any = step.solved.statement.relation
        (axis, *more), (variable, *_) = step.solved.mode.unknown, step.solved.unknown
        if step.solved.mode.all_or_nothing:
            yield self.solver.either(state, step, names, others, known)
            return
        if isinstance(step.solved.mode, Solution):
            yield from self.of_system(frame, state, step, step.solved.mode, names, known)
            return
        allowed = None if more else self.solver.solutions(state, step, known, axis)
        if allowed is None:
            yield keeping(state, others.values())
            return
        if rule in PERIODIC and axis == "a":
            start = self.starts.get(next(iter(others.values())).name, 0.0)
            reached: Iterator[float] = periods(rule, known, allowed, start)
        elif all(is_narrow(low, high) for low, high in allowed.pieces):
            reached = ((low + high) / 2 for low, high in allowed.pieces)
        else:
            box = boxed(frame, state, {variable: allowed})
            yield None if box is None else keeping(state.having(box=box), others.values())
            return
        for value in reached:
            yield self.solver.reaching(state, step, names, others, known, value)

    def of_system(
        self,
        frame: SearchFrame,
        state: SearchState,
        step: PlanStep,
        mode: Solution,
        names: Mapping[str, Parameter],
        known: Mapping[str, Any],
    ) -> Iterator[SearchState | None]:
        """The states for each root of a system; its starts stay open if sets are not known."""
        rule: Any = step.solved.statement.relation
        found, given = mode.found, mode.given
        sets = [state.box.get(v) for v in found]
        starts = [names[mode.near[v.name]] for v in found if mode.near[v.name] in names]
        is_open = [p for p in starts if p.name not in state.theta]
        same = all(axis == str(operand) for axis, operand in step.solved.statement.bindings())
        simple = all(isinstance(s.relation, Relation) for s in rule.statements) and all(
            len(s.results) == 1 and s.result.kind is float for s in rule.statements
        )
        if not (same and simple and all(sets) and len(is_open) == len(found)):
            yield keeping(state, is_open)
            return

        def among(box: Box) -> dict[Variable, NumberSet]:
            return {v: number_set([side]) for v, side in zip(found, box, strict=True)}

        def prune(box: Box) -> Box | None:
            left = boxed(frame, state, dict(among(box)))
            if left is None:
                return None
            met = [left[v].meet(own) for v, own in among(box).items()]
            return tuple(map(_bounds, met)) if all(met) else None

        def residuals(box: Box) -> list[Bounds] | None:
            made = images(state, rule.statements, among(box))
            if made is None:
                return None
            return [_less(_bounds(made[v]), known[v.name]) for v in given]

        def slopes(box: Box) -> list[list[Bounds]] | None:
            made = images(state, rule.statements, among(box))
            columns = [
                column
                for v in (found if made is not None else ())
                if (column := slopes_in(state, rule.statements, made or {}, v)) is not None
            ]
            if len(columns) < len(found):
                return None
            return [[_bounds(column[v]) for column in columns] for v in given]

        first = {p.name: self.starts.get(p.name, p.domain.default) for p in starts}
        yield self.solver.solved(state.choosing(**first), step, names, known)
        whole = tuple(_bounds(own) for own in sets if own is not None)
        for point_ in roots_of_system(whole, prune, residuals, slopes, self.unproved):
            if point_ is None:
                yield None
                continue
            theta = {p.name: x for p, x in zip(starts, point_, strict=True)}
            ended = self.solver.solved(state.choosing(**theta), step, names, known)
            yield None if ended is None else ended.having(searched=True)

    # ---- branches ----

    def armed(
        self, frame: SearchFrame, state: SearchState, step: PlanStep, mode: Ranked
    ) -> Iterator[SearchState | None]:
        """The states after a branch: each possible arm, with its own choices."""
        rule: Any = step.solved.statement.relation
        assert isinstance(rule, Branch)
        assert mode.plans is not None
        first = frame.names[step.chosen[THEN_FIRST].name].name
        start = bool(self.starts.get(first, True))  # if it is fixed, the other arm comes after it

        def arm(taken: int) -> Iterator[SearchState | None]:
            try:
                return self.in_arm(frame, state, step, mode, taken)
            except Nothing:
                return iter((None,))

        return fairly(iter([0, 1] if start else [1, 0]), arm)

    def in_arm(
        self, frame: SearchFrame, state: SearchState, step: PlanStep, mode: Ranked, taken: int
    ) -> Iterator[SearchState | None]:
        """The states if one arm is taken. Raises Nothing if that is impossible."""
        statement = step.solved.statement
        rule: Any = statement.relation
        assert mode.plans is not None
        plan, program = mode.plans[taken], arms_of(rule)[taken]
        box = contracted(program, inner_box(state.box, statement, program), EFFORT)
        renamed = {
            inner: frame.names[step.chosen[outer].name]
            for inner, outer in mode.chosen[taken].items()
        }
        known = {
            operand: value
            for axis, value in known_axes(state, statement).items()
            if axis in plan.known and isinstance(operand := plan.operand(axis), Variable)
        }
        names = {c: frame.names[p.name] for c, p in step.chosen.items()}
        chosen = {names[THEN_FIRST].name: not taken}
        for p in names.values():
            if p.name not in {q.name for q in renamed.values()} and p.name not in chosen:
                chosen[p.name] = p.domain.default
        theta = {**state.theta, **chosen, **self.fixed}
        inner = state.having(values=known, box=box, theta=theta)
        found = self.run(SearchFrame(plan, program, renamed), inner)
        return (s and self.left(frame, state, step, plan, s) for s in found)

    def left(
        self, frame: SearchFrame, state: SearchState, step: PlanStep, plan: Plan, inner: SearchState
    ) -> SearchState | None:
        """The outer state, from the state at the end of an arm."""
        mode, found = step.solved.mode, dict(state.values)
        sets: dict[Variable, NumberSet | None] = {}
        for axis, variable in zip(mode.unknown, step.solved.unknown, strict=True):
            operand = plan.operand(axis)
            value = value_of(inner, operand)
            if value is not None:
                found[variable] = value
            elif isinstance(operand, Variable):
                sets[variable] = inner.box.get(operand)
        box = boxed(frame, state, sets) if sets else state.box
        return None if box is None else replace(inner, values=found, box=box)

    # ---- roots ----

    def rooted(
        self, frame: SearchFrame, state: SearchState, root: Root
    ) -> SearchState | Iterator[SearchState | None] | None:
        """The states for each root of an equation, if its other operands are known."""
        guess = frame.names[root.guess.name]
        is_given = guess.name in self.fixed  # from there the inverse finds the root
        inner = [frame.names[p.name] for p in choices_of(root) if p is not root.guess]
        inner = [p for p in inner if p.name not in state.theta]
        known = all(v in state.values for v in root.needs)
        if not known or not all(is_discrete(p.domain) for p in inner):
            open_ = [p for p in (guess, *inner) if p.name not in {**state.kept, **state.theta}]
            return keeping(state, open_)

        def choices(s: SearchState, left: Sequence[Parameter]) -> Iterator[SearchState | None]:
            if not left:
                return iter((s,)) if is_given else self.each_root(frame, s, root, guess)
            start = self.starts.get(left[0].name, left[0].domain.default)
            found = members(left[0].domain, start, self.range_in(frame, s, root, left[0]))
            one = (s.choosing(**{left[0].name: value}) for value in found)
            return fairly(one, lambda s: choices(s, left[1:]))

        return choices(state, inner)

    def range_in(
        self, frame: SearchFrame, state: SearchState, root: Root, parameter: Parameter
    ) -> NumberSet | None:
        """The range of a choice inside an equation, from known sets."""
        for step in root.steps:
            if not isinstance(step, PlanStep):
                continue
            for coordinate, own in step.chosen.items():
                if frame.names[own.name] == parameter:
                    known = known_for(state, step.solved.statement, step.solved.mode.takes)
                    return self.solver.range_of(state, step, coordinate, known)
        return None

    def each_root(
        self, frame: SearchFrame, state: SearchState, root: Root, guess: Parameter
    ) -> Iterator[SearchState | None]:
        def equation(x: float) -> tuple[float, float]:
            return self.solver.sides(frame, state, root, x)

        def prune(found: NumberSet) -> NumberSet | None:
            box = boxed(frame, state, {root.variable: found})
            if box is None or any(map(_overflows, box.values())):
                return None
            return box.get(root.variable, found).meet(found)

        allowed = state.box.get(root.variable, every(float))
        assert allowed is not None
        domain = guess.domain
        if guess.name in self.fixed:
            yield self.from_guess(state, root, equation, guess)
            return
        if isinstance(domain, Reals):
            allowed = allowed.meet(domain.closure)
        start = float(self.starts.get(guess.name, domain.default))

        def slopes(low: float, high: float) -> tuple[Bounds, Bounds] | None:
            middle = low + (high - low) / 2
            there = difference(frame, state, root, number_set([(middle, middle)]))
            over = difference(frame, state, root, number_set([(low, high)]))
            by = None if over is None else slope(state, root, over[1])
            if there is None or by is None:
                return None
            return _bounds(there[0]), _bounds(by)

        for x in roots_of(equation, prune, slopes, allowed, start, self.unproved):
            if isinstance(x, tuple):
                kept = keeping(state, [guess])
                yield kept.having(
                    kept={**kept.kept, guess.name: guess.domain.within(number_set([x]))}
                )
                continue
            if x is None:
                yield None
                continue
            found = {**state.values, root.variable: x}
            yield state.having(values=found, searched=True).choosing(**{guess.name: x})

    def from_guess(
        self,
        state: SearchState,
        root: Root,
        equation: Callable[[float], tuple[float, float]],
        guess: Parameter,
    ) -> SearchState | None:
        """The state for the root that a search from a given guess finds."""
        low, high = -LARGEST, LARGEST
        if isinstance(guess.domain, Reals):
            low, high = max(low, guess.domain.low), min(high, guess.domain.high)
        try:
            x = find_root(equation, self.fixed[guess.name], low, high, ())
        except NoSolution:
            return None
        return state.having(values={**state.values, root.variable: x}, searched=True)


def _less(bounds: Bounds, value: float) -> Bounds:
    """Bounds minus a number, rounded outwards."""
    return below(bounds[0] - value), above(bounds[1] - value)


def _overflows(found: NumberSet) -> bool:
    """Return whether floats are so large that only rounding separates them from infinity."""
    if found.whole or found.nan or not found:
        return False
    return all(low >= OVERFLOW or high <= -OVERFLOW for low, high in found.pieces)


def _bounds(found: NumberSet) -> Bounds:
    return float(found.low), float(found.high)
