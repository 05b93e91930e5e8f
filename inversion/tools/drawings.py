"""Programs, plans, inverses and parameter spaces as HTML for notebooks."""

from __future__ import annotations

import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from inversion.planning.parameters import Parameter, ParameterSpace
from inversion.planning.plan import (
    Plan,
    PlanStep,
    Root,
    choices_of,
    parts_of,
    solved_by,
    statement_of,
)
from inversion.program.statements import Program, Statement, Variable
from inversion.solving.constraints import Paving
from inversion.solving.least_squares import Fit
from inversion.solving.solutions import SolutionBranch, Solutions
from inversion.tools.formulas import formula_of
from inversion.tools.layers import drawn
from inversion.tools.readable import Readable
from overlay.core.markup import (
    STYLES,
    Html,
    badge,
    bounded,
    code,
    element,
    facts,
    folded,
    grid,
    joined,
    listed,
    place,
    row,
    sheet,
    shown_value,
    title,
    view,
)
from overlay.core.markup import plain as soft
from overlay.core.short_repr import counted

__all__ = [
    "of_branch",
    "of_fit",
    "of_inverse",
    "of_parameters",
    "of_paving",
    "of_plan",
    "of_program",
    "of_solutions",
    "plan_svg",
    "program_svg",
]

_CHARACTER, _LINE, _MARGIN = 7.3, 16.0, 9.0
_LONGEST = 44
_LARGEST = 200  # statements of a drawing beside the text
_INDENT = "   "
_WITH_PLACE = re.compile(r"(.*\S)\s{3,}(\S+:\d+)")

# ---- listings -----------------------------------------------------------------------------


def of_program(program: Program) -> str:
    """The HTML of a program: its statements next to its dataflow."""
    return view(_sides(_listing(program), _drawn(program, program_svg)))


def of_plan(plan: Plan) -> str:
    """The HTML of a plan: its steps next to the order of solving."""
    return view(_sides(_steps(plan), _drawn(plan, plan_svg)))


def of_parameters(space: ParameterSpace) -> str:
    """The HTML of a parameter space: each coordinate's name, domain and line."""
    return view(title("θ", "", soft(counted(len(space), "coordinate"))), _parameters(space))


def of_inverse(inverse: Readable) -> str:
    """The HTML of an inverse: the program forwards and backwards, with marked choices, and
    collapsed drawings below.
    """
    program, plan = inverse.program.program, inverse.program
    axes = f"{', '.join(inverse.known)} → {', '.join(inverse.unknown)}"
    drawings = _sides(_drawn(program, program_svg), _drawn(plan, plan_svg))
    return view(
        title("inverse of", program.name, soft(axes)),
        _sides(
            element("div", element("div", "forward", class_="o-title"), _listing(program)),
            element("div", element("div", "backwards", class_="o-title"), _steps(plan)),
        ),
        _parameters(inverse.parameters) if len(inverse.parameters) else None,
        folded(soft("drawn"), drawings, is_open=False),
    )


def of_solutions(solutions: Solutions) -> str:
    """The HTML of a search's branches so far, one per row, and its status."""
    found = solutions.found
    rows = listed(("", "branch"), [*enumerate(found)], lambda pair: (pair[0], code(repr(pair[1]))))
    count = f" {len(found)} found " if solutions.status == "searching" else f" {len(found)} "
    return view(
        title("solutions", "", joined([soft(count), badge(solutions.status)])),
        rows,
        soft(solutions.reason) if solutions.reason else None,
    )


def of_branch(branch: SolutionBranch) -> str:
    """The HTML of one branch of solutions: the answer, or what is chosen and what is open."""
    chosen = facts(*((f"θ.{name}", shown_value(held)) for name, held in branch.chosen.items()))
    if branch.is_point:
        answer = zip(branch.unknown, branch.point, strict=True)
        return sheet("solution", "", None, facts(*((n, shown_value(v)) for n, v in answer)), chosen)
    return sheet("family of solutions", "", None, chosen, _parameters(branch.parameters))


def of_fit(fit: Fit) -> str:
    """The HTML of a fit: each value with its standard error, and how the search ended."""
    numbers = {name: np.size(held) for name, held in fit.values.items()}
    errors = None if fit.errors is None else iter(fit.errors)

    def error(name: str) -> str:
        mine = [] if errors is None else [f"{each:.3g}" for each in islice(errors, numbers[name])]
        return ", ".join(mine[:6]) + (", ..." if len(mine) > 6 else "")

    values = listed(
        ("", "value", "standard error"),
        [*fit.values],
        lambda name: (code(name), shown_value(fit[name]), error(name)),
    )
    ended = badge("converged", "green") if fit.converged else badge("not converged", "red")
    given = facts(
        ("cost", f"{fit.cost:.6g}"),
        ("largest residual", f"{np.max(np.abs(fit.residual), initial=0.0):.6g}"),
        ("result", shown_value(fit.result)),
        ("ended", joined([ended, " ", soft(fit.message)])),
        ("starts", fit.starts),
    )
    return sheet("fit", "", None, values, given)


def of_paving(paving: Paving) -> str:
    """The HTML of a paving: its boxes, the inner ones first."""
    boxes = [(True, box) for box in paving.inner] + [(False, box) for box in paving.boundary]
    word = {True: badge("inner", "green"), False: badge("boundary", "orange")}
    rows = listed(
        ("", *(f"argument {at}" for at in range(len(boxes[0][1]) if boxes else 0))),
        boxes,
        lambda pair: (word[pair[0]], *(code(repr(each)) for each in pair[1])),
    )
    more = f"{len(paving.inner)} inner, {len(paving.boundary)} on the boundary"
    return sheet("paving", "", more, rows)


def _drawn[T: (Program, Plan)](thing: T, svg: Callable[..., Html]) -> Html:
    """The drawing of a program or plan; of one with many statements only their number."""
    count = len((thing.program if isinstance(thing, Plan) else thing).statements)
    if count > _LARGEST:
        return soft(f"{count} statements are not drawn: .svg is the drawing")
    return svg(thing, is_alone=False)


def _sides(*parts: Html) -> Html:
    return element("div", *(element("div", part) for part in parts), class_="o-sides")


def _listing(program: Program) -> Html:
    inputs = ", ".join(map(str, program.inputs))
    rows = [row(code(f"{program.name}({inputs})"), place(program.where))]
    for statement in program.statements:
        rows.append(row(code(f"  {statement}"), place(statement.where)))
        rows += map(_inner, statement.relation.rows())
    rows += [row(code(f"  {value} is {is_true}"), "") for value, is_true in program.holds]
    rows.append(row(code(f"  return {_results(program)}"), ""))
    return _code_rows(rows)


def _results(program: Program) -> str:
    return ", ".join(map(str, program.results.values()))


def _inner(text: str) -> Html:
    """The row of a statement inside a branch or loop."""
    found = _WITH_PLACE.fullmatch(text)
    written, where = found.groups() if found else (text, None)
    return row(code(f"    {written}"), "" if where is None else place(where))


def _code_rows(rows: Iterable[Html]) -> Html:
    return element("table", element("tbody", *bounded(rows)), class_="o-code")


def _steps(plan: Plan) -> Html:
    return _code_rows(_step_rows(plan, ""))


def _step_rows(plan: Plan, margin: str) -> Iterator[Html]:
    """The rows of a plan; those of a branch's arms or a loop's iterations are indented."""
    yield row(joined([margin, _given(plan)]), "")
    for p in plan.free.values():
        yield row(joined([margin, "choose ", _choice(p)]), place(p.line))
    for step in plan.steps:
        chosen = [joined([" ", _choice(p)]) for p in choices_of(step)]
        solved = code(formula_of(step))
        yield row(joined([margin, solved, *chosen]), place(statement_of(step).where))
        for what, inner, _ in parts_of(step):
            yield row(joined([margin, _INDENT, soft(f"{what}:")]), "")
            yield from _step_rows(inner, margin + 2 * _INDENT)


def _given(plan: Plan) -> Html:
    known = [joined([" ", badge(axis, "green")]) for axis in plan.known]
    unknown = [joined([" ", badge(axis, "blue")]) for axis in plan.unknown]
    return joined(["known", *known, " to find", *unknown])


def _choice(parameter: Parameter) -> Html:
    return badge(f"θ.{parameter.name}", "orange")


def _parameters(space: ParameterSpace) -> Html:
    rows = [
        row(
            _choice(p),
            code(repr(p.domain)),
            place(p.line),
            badge("rounding only") if p.rounding_only else "",
        )
        for p in space
    ]
    return grid(("coordinate", "domain", "for", ""), rows)


# ---- drawings -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Node:
    """A node of a drawing. kind: ``"given"``, ``"chosen"``, ``"answer"`` or ``"step"``."""

    key: Hashable
    lines: tuple[str, ...]
    kind: str

    @property
    def size(self) -> tuple[float, float]:
        longest = max(map(len, self.lines))
        return longest * _CHARACTER + 2 * _MARGIN, len(self.lines) * _LINE + _MARGIN


class _Graph:
    """Nodes in order, and edges from the producer of a variable to each consumer."""

    def __init__(self) -> None:
        self.nodes: list[_Node] = []
        self.edges: dict[tuple[Hashable, Hashable], None] = {}
        self.gives: dict[Variable, Hashable] = {}

    def add(
        self,
        lines: Sequence[str],
        kind: str,
        takes: Iterable[object] = (),
        gives: Iterable[Variable] = (),
    ) -> Hashable:
        key = len(self.nodes)
        self.nodes.append(_Node(key, tuple(map(_cut, lines)), kind))
        for value in takes:
            if isinstance(value, Variable) and value in self.gives:
                self.edges[self.gives[value], key] = None
        self.gives.update(dict.fromkeys(gives, key))
        return key


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def program_svg(program: Program, *, is_alone: bool = True) -> Html:
    """The dataflow of a program, from its inputs to its results, as SVG. A branch or a loop is one
    node. is_alone: whether to include the styles that it needs outside a page.
    """
    graph = _Graph()
    for variable in program.inputs:
        graph.add([variable.name], "answer", gives=[variable])
    for statement in program.statements:
        graph.add([str(statement)], "step", statement.arguments, statement.results)
    for axis, value in program.results.items():
        graph.add([f"{axis} = {value}"], "given", [value])
    return _svg(graph, f"dataflow of {program.name}", is_alone=is_alone)


def plan_svg(plan: Plan, *, is_alone: bool = True) -> Html:
    """A plan as SVG: known and chosen variables at the top, each variable with the equation from
    which it is solved, and the unknown axes at the bottom.
    """
    graph = _Graph()
    for axis in plan.known:
        value = plan.operand(axis)
        graph.add([f"{axis} = {value}"], "given", gives=_variables([value]))
    for variable, parameter in plan.free.items():
        graph.add([f"θ.{parameter.name}"], "chosen", gives=[variable])
    for step in plan.steps:
        choices = [graph.add([f"θ.{p.name}"], "chosen") for p in choices_of(step)]
        statement = statement_of(step)
        key = graph.add([formula_of(step)], "step", _taken(step, statement), solved_by(step))
        graph.edges.update(dict.fromkeys((choice, key) for choice in choices))
    for axis in plan.unknown:
        value = plan.operand(axis)
        text = axis if str(value) == axis else f"{axis} = {value}"
        graph.add([text], "answer", [value])
    return _svg(graph, f"inverse of {plan.program.name}", is_alone=is_alone)


def _variables(values: Iterable[object]) -> list[Variable]:
    return [value for value in values if isinstance(value, Variable)]


def _taken(step: PlanStep | Root, statement: Statement) -> list[Variable]:
    """The variables that a step needs."""
    if isinstance(step, Root):
        return list(step.needs)
    return [v for v in statement.variables if v not in step.solved.unknown]


def _svg(graph: _Graph, title: str, *, is_alone: bool) -> Html:
    sizes = {node.key: node.size for node in graph.nodes}
    picture = drawn(sizes, list(graph.edges))
    shapes = [_edge(way) for way in picture.ways]
    shapes += [_shape(node, picture.places[node.key]) for node in graph.nodes]
    width, height = picture.width + 2, picture.height + 2
    return element(
        "svg",
        element("title", title),
        element("style", Html(STYLES)) if is_alone else None,
        *shapes,
        class_="overlay-view" if is_alone else None,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"-1 -1 {width:.0f} {height:.0f}",
        width=f"{width:.0f}",
        height=f"{height:.0f}",
        role="img",
    )


def _shape(node: _Node, at: tuple[float, float]) -> Html:
    width, height = node.size
    left, top = at[0] - width / 2, at[1] - height / 2
    frame = element(
        "rect", x=f"{left:.1f}", y=f"{top:.1f}", width=f"{width:.1f}", height=height, rx=6
    )
    base = top + _MARGIN / 2 + 12
    lines = [
        element("text", line, x=f"{at[0]:.1f}", y=f"{base + i * _LINE:.1f}", text_anchor="middle")
        for i, line in enumerate(node.lines)
    ]
    return element("g", frame, *lines, class_=f"o-node o-{node.kind}")


def _edge(way: Sequence[tuple[float, float]]) -> Html:
    (x, y), *rest = way
    parts = [f"M{x:.1f},{y:.1f}"]
    for nx, ny in rest:
        middle = (y + ny) / 2
        parts.append(f"C{x:.1f},{middle:.1f} {nx:.1f},{middle:.1f} {nx:.1f},{ny:.1f}")
        x, y = nx, ny
    tip = f"M{x:.1f},{y:.1f}l-3.5,-7h7z"
    line = element("path", class_="o-edge", d="".join(parts))
    return joined([line, element("path", class_="o-tip", d=tip)])
