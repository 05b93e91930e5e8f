"""Writing of generated functions: their lines, the names in them, and the steps of a plan as
statements.
"""

from __future__ import annotations

import builtins
import keyword
import math
import re
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from inversion.errors import NoSolution, OutsideDomain
from inversion.intrinsics.checks import (
    all_close,
    all_equal,
    all_finite,
    is_close,
    is_finite,
    lists_close,
    refused,
)
from inversion.intrinsics.roots import find_root
from inversion.planning.plan import Plan, PlanStep, Root
from inversion.program.statements import (
    Constant,
    Operand,
    Program,
    Statement,
    StatementRule,
    Variable,
    renumbered,
)
from primitives import Bool, Domain, Real, Reals, WholeFloats
from primitives.arrays.cumulative import is_permutation
from primitives.arrays.domain import Arrays, element_of, is_array
from primitives.floats.arithmetic import clipped
from primitives.floats.tolerance import whole
from primitives.relation import RETURN
from primitives.sequences.lists import is_list

GIVEN: Mapping[str, Any] = {
    "NoSolution": NoSolution,
    "OutsideDomain": OutsideDomain,
    "all_close": all_close,
    "all_equal": all_equal,
    "all_finite": all_finite,
    "clipped": clipped,
    "find_root": find_root,
    "inf": math.inf,
    "is_close": is_close,
    "is_finite": is_finite,
    "is_permutation": is_permutation,
    "lists_close": lists_close,
    "np": np,
    "refused": refused,
}

WORD = re.compile(r"\w+")

# tolerance for two numbers that one computation gives along two routes: see ``margin``
ROUGHLY = 1e-6, 0.0, 1e-9


class ElementLoop(NamedTuple):
    """A loop over elements.

    one: the function that solves an element. outs: the number of arrays that it fills. floats:
    whether the elements that it takes are floats. quick: whether the function returns floats, and
    may return NaN where it would raise.
    """

    one: str
    outs: int
    floats: bool
    quick: bool


@dataclass(frozen=True)
class Source:
    """Generated code.

    text: a module with ``inverse`` and ``recover``. names: the objects of its global names, except
    ``forward``, which is the inverted function. parts: the other functions in it. lines: for each
    line that solves a statement, the statement. kernels: the loops over elements.
    """

    text: str
    names: Mapping[str, Any]
    parts: tuple[str, ...]
    lines: Mapping[int, Statement]
    kernels: Mapping[str, ElementLoop] = field(default_factory=dict[str, ElementLoop])


@dataclass(frozen=True)
class RowText:
    text: str
    statement: Statement | None = None
    search: SearchCall | None = None

    def calling(self, equation: str, given: str) -> RowText:
        """The line of the search with the start and end of its call replaced."""
        assert self.search is not None
        text = self.text.replace(f"find_root({self.search.equation}, ", equation)
        return replace(self, text=text.replace(f", {self.search.given})", given), search=None)


@dataclass(frozen=True)
class SearchCall:
    """A line that searches for a root.

    equation: the function of the equation. given: its arguments after the unknown. kinds: their
    types.
    """

    equation: str
    given: str
    kinds: tuple[Any, ...]


def _choosing(names: Sequence[str], name: str) -> list[RowText]:
    """The function that computes the equation with a given number."""
    *rows, last = [
        text
        for i, equation in enumerate(names)
        for text in (f"    if number == {float(i)}:", f"        return {equation}(x, *given)")
    ]
    texts = [f"def {name}(x, number, *given):", *rows[:-1], last[4:], ""]
    return [RowText(text) for text in texts]


class PartWriter(NamedTuple):
    """The functions that write one kind of part.

    run: adds the forward code to a body. solve, recover: return whole functions for a mode, under a
    given name.
    """

    run: Callable[[FunctionText, Any], None]
    solve: Callable[[Module, Any, Any, str], list[RowText]]
    recover: Callable[[Module, Any, Any, str], list[RowText]]


class _Either:
    """Union of two containers of names."""

    def __init__(self, one: Container[str], other: Container[str]) -> None:
        self.both = one, other

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and any(name in names for names in self.both)


class Module:
    """Generated functions, and the objects that their global names refer to."""

    def __init__(self, writers: Mapping[type, PartWriter]) -> None:
        self.writers = writers
        self.names: dict[str, Any] = dict(GIVEN)
        self.objects: dict[int, str] = {}
        self.taken = {
            *self.names, *keyword.kwlist, *dir(builtins),
            "theta", "forward", "again", "ret", "inverse", "recover", "answer", "found",
        }  # fmt: skip
        self.local: set[str] = set()  # the names used in any function
        self.parts: dict[str, list[RowText]] = {}
        self.made: dict[tuple[Any, ...], str] = {}
        self.kernels: dict[str, ElementLoop] = {}

    def named(self, wanted: str, value: Any) -> str:
        """The global name of an object."""
        if id(value) not in self.objects:
            stem = "".join(c if c.isalnum() else "_" for c in wanted) or "f"
            self.objects[id(value)] = self.fresh(stem)
            self.names[self.objects[id(value)]] = value
        return self.objects[id(value)]

    def fresh(self, wanted: str) -> str:
        """A name that is not used yet."""
        name = renumbered(wanted, _Either(self.taken, self.local))
        self.taken.add(name)
        return name

    def part(self, key: tuple[Any, ...], wanted: str, write: Callable[[str], list[RowText]]) -> str:
        """The name of a function, which is generated on first use."""
        if key not in self.made:
            self.made[key] = name = self.fresh(wanted)
            rows = write(name)
            self.parts[name] = rows
        return self.made[key]

    def source(self, entries: list[RowText]) -> Source:
        """The source of the module: the parts in the order of their calls, then these entries."""
        rows: list[RowText] = []
        shared = self.shared_searches(entries)
        for part in (*self.parts.values(), entries):
            rows += [*map(shared, part), RowText("")]
        lines = {i: row.statement for i, row in enumerate(rows, 1) if row.statement is not None}
        text = "\n".join(row.text for row in rows[:-1]) + "\n"
        return Source(text, self.names, tuple(self.parts), lines, self.kernels)

    def shared_searches(self, entries: list[RowText]) -> Callable[[RowText], RowText]:
        """Let equations that take the same types share one function, which takes the number of the
        equation, so that one search is compiled for all of them. Returns the change of each line.

        Equations that search for roots themselves keep their own functions: the search would call
        itself.
        """
        rows = [row for part in (*self.parts.values(), entries) for row in part]
        groups: dict[tuple[Any, ...], list[SearchCall]] = {}
        for search in dict.fromkeys(row.search for row in rows):
            if search is not None and not self.searches(search.equation):
                groups.setdefault(search.kinds, []).append(search)
        calls: dict[SearchCall, tuple[str, str]] = {}
        for group in groups.values():
            names = list(dict.fromkeys(search.equation for search in group))
            if len(names) > 1:
                one = self.part(("equations", *names), "equations", partial(_choosing, names))
                for search in group:
                    # a float, because numba compiles again for each integer constant
                    number = float(names.index(search.equation))
                    given = search.given.replace("(", f"({number}, ", 1)
                    calls[search] = f"find_root({one}, ", f", {given})"
        return lambda row: row if row.search not in calls else row.calling(*calls[row.search])

    def searches(self, part: str) -> bool:
        """Return whether a part, or one that it calls, searches for a root."""
        seen, left = {part}, [part]
        for name in left:
            words = {w for row in self.parts[name] for w in WORD.findall(row.text)}
            if "find_root" in words:
                return True
            left += [other for other in self.parts if other in words and other not in seen]
            seen.update(left)
        return False

    # ---- functions of parts ----

    def is_part(self, rule: StatementRule) -> bool:
        """Return whether functions are generated to run and solve a rule."""
        return type(rule) in self.writers

    def forward(self, rule: Any) -> str:
        """The function that runs a part."""

        def write(name: str) -> list[RowText]:
            body = FunctionText(self)
            body.row(f"def {name}({', '.join(map(body.shown, rule.inputs))}):", depth=0)
            self.writers[type(rule)].run(body, rule)
            return [*body.rows, RowText("")]

        return self.part((id(rule), "forward"), rule.name, write)

    def solver(self, rule: Any, mode: Any) -> str:
        """The function that solves a part."""
        if mode.unknown == rule.outputs:
            return self.forward(rule)
        writer = self.writers[type(rule)]
        wanted = f"{rule.name}_{'_'.join(mode.unknown)}"
        return self.part((id(mode),), wanted, lambda name: writer.solve(self, rule, mode, name))

    def recovery(self, rule: Any, mode: Any) -> str:
        """The function that recovers the coordinates of a part."""
        writer = self.writers[type(rule)]
        wanted = f"{rule.name}_{'_'.join(mode.unknown)}_recover"
        key = id(mode), "recover"
        return self.part(key, wanted, lambda name: writer.recover(self, rule, mode, name))


@dataclass
class FunctionText:
    """One generated function: its rows, and the names of variables and parameters in it."""

    module: Module
    rows: list[RowText] = field(default_factory=list[RowText])
    local: dict[str, str] = field(default_factory=dict[str, str])
    depth: int = 1

    def __post_init__(self) -> None:
        self.here = set(self.local.values())

    def row(self, text: str, statement: Statement | None = None, depth: int | None = None) -> None:
        """Add a line."""
        text = "    " * (self.depth if depth is None else depth) + text
        if statement is not None:
            text = f"{text:<48}  # {statement}   [{statement.where}]"
        self.rows.append(RowText(text, statement))

    def name(self, wanted: str) -> str:
        """The name of a variable or parameter in this function."""
        return self._named(wanted, wanted)

    def own(self, wanted: str) -> str:
        """The name of a local variable that is not a variable of the program."""
        return self._named(f"own {wanted}", wanted)

    def _named(self, key: str, wanted: str) -> str:
        if key not in self.local:
            taken = _Either(self.module.taken, self.here)
            self.local[key] = renumbered(wanted, taken)
            self.here.add(self.local[key])
            self.module.local.add(self.local[key])
        return self.local[key]

    def shown(self, operand: Operand) -> str:
        """The expression of an operand."""
        if isinstance(operand, Variable):
            return self.name(operand.name)
        value = operand.value
        if type(value) in (bool, int) or (type(value) is float and math.isfinite(value)):
            return repr(value)
        return self.module.named(f"constant_{len(self.module.names)}", value)

    def names(self, program: Program, parameters: Iterable[str]) -> None:
        """Give the variables of a program names, in order."""
        for wanted in (*(v.name for v in program.variables), *parameters):
            self.name(wanted)

    def refusal(self, value: str, domain: Domain, error: str) -> list[str]:
        """The lines that refuse a value outside a domain."""
        condition = domain.condition(value)
        if isinstance(domain, Arrays) and domain.total and condition != "True":
            condition = f"all_finite({value})"
        if domain == Real:
            condition = f"is_finite({value})"
        if domain == Bool:  # a relation of integers may return an integer for a bool
            condition = f"0 <= {value} <= 1"
        if condition == "True":
            return []
        return [f"if not ({condition}):", f'    raise {error}("{value} is outside {domain!r}")']

    def refuse(self, value: str, domain: Domain, error: str, statement: Statement | None) -> None:
        """Refuse a value outside a domain."""
        for text in self.refusal(value, domain, error):
            self.row(text)
            if statement is not None:
                self.rows[-1] = RowText(self.rows[-1].text, statement)

    # ---- forward ----

    def forward(self, statements: Iterable[Statement]) -> None:
        """Compute the results of statements."""
        for statement in statements:
            rule = statement.relation
            bindings = dict(statement.bindings())
            if self.module.is_part(rule):
                function = self.module.forward(rule)
                given = [self.shown(bindings[axis]) for axis in rule.axes]
            else:
                mode = rule.mode(rule.outputs)
                assert mode is not None
                function = self.module.named(rule.name, mode.solver)
                given = [self.shown(bindings[axis]) for axis in mode.takes]
            results = ", ".join(map(self.shown, statement.results))
            self.row(f"{results} = {function}({', '.join(given)})", statement)

    # ---- solving ----

    def solve(self, plan: Plan) -> None:
        """Solve the statements of a plan."""
        known = set(map(plan.operand, plan.known))
        for value, is_true in plan.program.holds:
            if value in known:
                self.row(f"if {'not ' if is_true else ''}{self.shown(value)}:")
                self.row('    raise NoSolution("the condition leads to another branch")')
            elif isinstance(value, Variable):
                shown = is_true if value.kind is bool else int(is_true)
                self.row(f"{self.shown(value)} = {shown}")
            elif bool(value.value) != is_true:
                self.row('raise NoSolution("this branch is never taken")')
        for step in plan.steps:
            self.solved(step)

    def solved(self, step: PlanStep | Root) -> None:
        """Solve one statement, or find a root."""
        if isinstance(step, Root):
            self.root(step)
        else:
            self.step(step)

    def root(self, root: Root) -> None:
        """Find a root."""
        equation = self.equation(root)
        given = [*map(self.shown, root.needs), *(self.name(p.variable) for p in root.choices)]
        domain, guess = root.guess.domain, self.name(root.guess.variable)
        low, high = (
            (domain.low, domain.high) if isinstance(domain, Reals) else (-math.inf, math.inf)
        )
        kinds = (*(v.kind for v in root.needs), *(p.domain.kind for p in root.choices))
        search = SearchCall(equation, tuple_of(given), kinds)
        asked = [equation, guess, bound(low), bound(high), search.given]
        self.row(f"{self.shown(root.variable)} = find_root({', '.join(asked)})", root.check)
        self.rows[-1] = replace(self.rows[-1], search=search)

    def equation(self, root: Root) -> str:
        """The function that maps an unknown to both sides of its equation."""

        def write(name: str) -> list[RowText]:
            body = FunctionText(self.module)
            given = [
                root.variable.name,
                *(v.name for v in root.needs),
                *(p.variable for p in root.choices),
            ]
            body.row(f"def {name}({', '.join(map(body.name, given))}):", depth=0)
            for step in root.steps:
                body.solved(step)
            again = [Variable(f"again_{v}", v.kind) for v in root.check.results]
            body.forward([replace(root.check, results=tuple(again))])
            at = next(i for i, v in enumerate(again) if v.kind is float)
            body.row(f"return {body.shown(again[at])}, {body.shown(root.check.results[at])}")
            return [*body.rows, RowText("")]

        return self.module.part((id(root), "equation"), f"equation_{root.variable}", write)

    def step(self, step: PlanStep) -> None:
        """Solve one statement."""
        solved, mode = step.solved, step.solved.mode
        bindings = dict(solved.statement.bindings())
        rule = solved.statement.relation
        given: list[str] = []
        for name in mode.takes:
            if name in bindings:
                given.append(self.guarded(name, bindings[name], solved.statement))
            elif name in step.chosen:
                given.append(self.name(step.chosen[name].variable))
            else:
                given.append(self.shown(Constant(mode.coordinates[name].default)))
        answers = ", ".join(self.shown(v) for v in solved.unknown)
        if self.module.is_part(rule):
            function = self.module.solver(rule, mode)
        else:
            label = "" if mode.unknown == (RETURN,) else "_" + "_".join(mode.unknown)
            function = self.module.named(rule.name + label, mode.solver)
        self.row(f"{answers} = {function}({', '.join(given)})", solved.statement)

    def guarded(self, axis: str, operand: Operand, statement: Statement) -> str:
        """The expression of a known result; values outside the codomain are refused."""
        value, codomain = self.shown(operand), statement.relation.codomain
        if axis != RETURN or codomain is None or codomain.total:
            return value
        if isinstance(codomain, Reals) and not codomain.without:
            closed_low = not codomain.open_low or codomain.low == -math.inf
            closed_high = not codomain.open_high or codomain.high == math.inf
            if closed_low and closed_high:
                low, high = (repr(bound) for bound in (codomain.low, codomain.high))
                return f"clipped({value}, {low}, {high})"
        if isinstance(codomain, WholeFloats):
            value = f"{self.module.named('whole', whole)}({value})"
            low, high = codomain.low, codomain.high
            bounded = math.isfinite(low) or math.isfinite(high)
            return f"clipped({value}, {low!r}, {high!r})" if bounded else value
        self.refuse(value, codomain, "NoSolution", statement)
        return value

    def compare(
        self, again: str, wanted: str, kind: Any, why: str,
        tolerance: tuple[float, ...] = ROUGHLY,
    ) -> None:  # fmt: skip
        """Refuse unless a number or an array equals the wanted one, within the tolerance."""
        margins = ", ".join(map(repr, tolerance))
        if is_array(kind):
            if element_of(kind) in (float, complex):
                self.row(f"if not all_finite({again}):")
                self.row('    raise NoSolution("overflow: the result is not finite")')
                self.row(f"if not all_close({again}, {wanted}, {margins}):")
            else:
                self.row(f"if not all_equal({again}, {wanted}):")
        elif is_list(kind) and kind.element is float:
            self.row(f"if not lists_close({again}, {wanted}, {margins}):")
        elif kind in (float, complex):
            self.row(f"if not is_close({again}, {wanted}, {margins}):")
            self.row(f"    if not is_finite({again}):")
            self.row('        raise NoSolution("overflow: the result is not finite")')
        else:
            self.row(f"if {again} != {wanted}:")
        self.row(f'    raise NoSolution("{why}")')

    # ---- recovering ----

    def recovered(self, plan: Plan) -> list[str]:
        """The names of a plan's parameters, in order, recovered from computed values."""
        chosen = [self.name(v.name) for v in plan.free]
        for step in plan.steps:
            if isinstance(step, Root):
                chosen.append(self.name(step.variable.name))
            elif step.chosen:
                chosen += self.recovered_by(step)
        return chosen

    def recovered_by(self, step: PlanStep) -> list[str]:
        statement, mode = step.solved.statement, step.solved.mode
        rule = statement.relation
        bindings = dict(statement.bindings())
        if self.module.is_part(rule):
            function = self.module.recovery(rule, mode)
        else:
            assert mode.recover is not None
            label = "_".join(mode.unknown)
            function = self.module.named(f"{rule.name}_{label}_recover", mode.recover)
        given = ", ".join(self.shown(bindings[axis]) for axis in mode.recovers)
        names = [self.name(parameter.variable) for parameter in step.chosen.values()]
        self.row(f"{tuple_of(names)} = {function}({given})", statement)
        return names


def conditions(body: FunctionText, holds: Iterable[tuple[Operand, bool]]) -> None:
    for value, is_true in holds:
        body.row(f"if {'not ' if is_true else ''}{body.shown(value)}:")
        body.row('    raise NoSolution("the function raises an exception")')


def assign(body: FunctionText, names: Sequence[Operand], values: Sequence[Operand]) -> None:
    """Assign to several names simultaneously."""
    pairs = [(body.shown(n), body.shown(v)) for n, v in zip(names, values, strict=True)]
    pairs = [(name, value) for name, value in pairs if name != value]
    if pairs:
        body.row(f"{', '.join(n for n, _ in pairs)} = {', '.join(v for _, v in pairs)}")


def bound(value: float) -> str:
    return repr(value) if math.isfinite(value) else ("inf" if value > 0 else "-inf")


def tuple_of(names: Sequence[str]) -> str:
    return f"({names[0]},)" if len(names) == 1 else f"({', '.join(names)})"
