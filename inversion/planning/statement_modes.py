"""Modes of branches and of statements about whole arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from inversion.errors import NotInvertible
from inversion.passes.all_passes import simplified
from inversion.planning.parameters import Coordinates
from inversion.planning.plan import Plan
from inversion.planning.planner import plan
from inversion.program.branches import Branch
from inversion.program.elementwise_statements import Elementwise
from inversion.program.equation_systems import EquationSystem, reals_in
from inversion.program.moved_elements import Index, Moved, offsets, size_of
from inversion.program.statements import Variable
from inversion.program.structured import generated, planned
from inversion.program.variable_names import Label, subject_of
from primitives import Bool, Domain
from primitives.arrays.domain import Arrays, element_of, is_array, shape_of
from primitives.domains import domain_of
from primitives.relation import Mode

__all__ = ["Each", "Places", "Ranked", "Solution"]


@dataclass(frozen=True)
class Each(Mode):
    """Elements solved from elements, by one plan.

    chosen: the coordinate, an array, for each of its parameters. common: the unknown number, if
    there is one, on which all elements have to agree.
    """

    plan: Plan | None = None
    chosen: Mapping[str, str] = field(default_factory=dict[str, str])
    common: str | None = None

    def parts(self) -> list[tuple[str, Any, Mapping[str, str]]]:
        """The plan for an element."""
        return [] if self.plan is None else [("each element", self.plan, self.chosen)]


REST = "rest"  # the coordinate of the unknown elements


@dataclass(frozen=True, eq=False)
class Places(Mode):
    """Arrays whose elements are taken from other arrays.

    sources: the arrays from which elements are taken, concatenated. taken: for each unknown axis
    the positions of its elements in these. missing: the positions of the free elements, among those
    of all inputs.
    """

    sources: tuple[str, ...] = ()
    taken: Mapping[str, Index] = field(default_factory=dict[str, Index])
    missing: Index = field(default_factory=lambda: np.zeros(0, np.int64))


@dataclass(frozen=True)
class Solution(Mode):
    """A solved system of equations.

    found: the inputs for which it is solved. near: for each of them the coordinate near which a
    solution is searched for. given: the known results that determine them.
    """

    found: tuple[Variable, ...] = ()
    near: Mapping[str, str] = field(default_factory=dict[str, str])
    given: tuple[Variable, ...] = ()


THEN_FIRST = "then"  # the coordinate for the order of the arms


@dataclass(frozen=True)
class Ranked(Mode):
    """A branch solved for some axes: the plans of the arms, tried in the order that a coordinate
    gives.

    chosen: for each arm the coordinate of each of its parameters.
    """

    plans: tuple[Plan, Plan] | None = None
    chosen: tuple[Mapping[str, str], ...] = ()

    def parts(self) -> list[tuple[str, Any, Mapping[str, str]]]:
        """The plans of the arms."""
        return list(zip(("then", "else"), self.plans or (), self.chosen, strict=False))


@planned.register(Branch)
def _planned_branch(rule: Branch, unknown: frozenset[str]) -> Mode | None:
    axes = (*rule.outputs, *rule.axes)
    known, order = rule.divided(unknown)
    if unknown == frozenset(rule.outputs):
        return Ranked(order, generated, known, {})

    def of_arm(taken: int) -> Plan:
        program = simplified(rule.program(taken))
        return plan(program, known, {}, root_finding=rule.root_finding)

    try:
        plans = of_arm(0), of_arm(1)
    except NotInvertible as error:
        return rule.not_planned(error)
    coordinates = Coordinates(axes)
    coordinates.add(THEN_FIRST, Bool)
    chosen = tuple(coordinates.of(arm.parameters) for arm in plans)
    return Ranked(
        order, generated, (*known, *coordinates.domains), coordinates.domains, generated,
        rule.axes, plans=plans, chosen=chosen, labels=coordinates.labels,
    )  # fmt: skip


@planned.register(Elementwise)
def _planned_elementwise(rule: Elementwise, unknown: frozenset[str]) -> Mode | None:
    axes = (*rule.outputs, *rule.axes)
    known, order = rule.divided(unknown)
    if unknown == frozenset(rule.outputs):
        return Each(order, generated, known, {})
    numbers = [axis for axis in order if axis in rule.axes and axis not in rule.arrays]
    if numbers and len(order) > 1:
        return None
    try:
        found = plan(simplified(rule.program), known, {}, root_finding=rule.root_finding)
    except NotInvertible as error:
        return rule.not_planned(error)
    coordinates = Coordinates(axes)
    chosen: dict[str, str] = {}
    for parameter in found.parameters:
        whole = replace(parameter, domain=Arrays(parameter.domain, rule.shape))
        chosen |= coordinates.of([whole])
    domains = coordinates.domains
    return Each(
        order, generated, (*known, *domains), domains, generated, rule.axes,
        labels=coordinates.labels, rounding_only=bool(domains) and found.parameters.optional,
        plan=found, chosen=chosen, common=numbers[0] if numbers else None,
        overdetermined=bool(numbers),
    )  # fmt: skip


@planned.register(Moved)
def _planned_moved(rule: Moved, unknown: frozenset[str]) -> Mode | None:
    every = {v.name: v for v in (*rule.inputs, *rule.results)}
    order = tuple(axis for axis in (*rule.outputs, *rule.axes) if axis in unknown)
    start = offsets(rule.inputs)
    known = [axis for axis in (*rule.axes, *rule.outputs) if axis not in unknown]
    where = np.full(sum(map(size_of, rule.inputs)), -1, dtype=np.int64)
    count, twice = 0, False
    for axis in known:
        size = size_of(every[axis])
        at = rule.places[axis] if axis in rule.places else start[axis] + np.arange(size)
        place = count + np.arange(size)
        fresh = where[at] < 0
        where[at[fresh]] = place[fresh]
        twice = twice or not fresh.all() or len(np.unique(at)) < size
        count += size
    missing = np.flatnonzero(where < 0)
    where[missing] = count + np.arange(len(missing))
    taken = {
        axis: where[rule.places[axis]] if axis in rule.places
        else where[start[axis] : start[axis] + size_of(every[axis])]
        for axis in order
    }  # fmt: skip
    coordinates: dict[str, Domain] = {}
    if len(missing):
        element = domain_of(element_of(rule.inputs[0].kind))
        assert element is not None
        coordinates[REST] = Arrays(element, (len(missing),))
    sources = (*known, *coordinates)
    used = np.concatenate([np.zeros(0, np.int64), *taken.values()])
    if not np.any(used < count) and set(order) & set(rule.axes):
        return None  # none of their elements is known
    return Places(
        order, generated, sources, coordinates, generated, rule.axes,
        sources=sources, taken=taken, missing=missing,
        overdetermined=twice and not set(order) <= set(rule.outputs),
    )  # fmt: skip


@planned.register(EquationSystem)
def _planned_system(rule: EquationSystem, unknown: frozenset[str]) -> Mode | None:
    known, order = rule.divided(unknown)
    if unknown == frozenset(rule.outputs):
        return Solution(order, generated, known, {})
    found = tuple(v for v in rule.read if v.name in unknown)
    given = tuple(
        v for v in rule.results if v.name in known and element_of(v.kind) in (float, complex)
    )
    if not given or not found or not rule.sought.issuperset(found):
        return None
    near = {v.name: "near" if len(found) == 1 else f"near_{v.name}" for v in found}
    coordinates: dict[str, Domain] = {}
    for v in found:
        element = rule.within.get(v.name) or domain_of(element_of(v.kind))
        assert element is not None
        coordinates[near[v.name]] = (
            Arrays(element, shape_of(v.kind)) if is_array(v.kind) else element
        )
    square = sum(map(reals_in, given)) >= sum(map(reals_in, found))
    only = rule.linear and square
    return Solution(
        order, generated, (*known, *coordinates), coordinates, generated, rule.axes,
        rounding_only=only, all_or_nothing=rule.linear, found=found, near=near, given=given,
        labels={
            near[v.name]: Label(f"near_{subject_of(v)}", rule.where, subject_of(v))
            for v in found
        },
    )  # fmt: skip
