"""Elementwise statements as generated functions: one for an element, and one for whole arrays."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from inversion.emitting.module_text import (
    ElementLoop,
    FunctionText,
    Module,
    PartWriter,
    RowText,
    tuple_of,
)
from inversion.passes.all_passes import simplified
from inversion.planning.plan import is_quick
from inversion.planning.statement_modes import Each
from inversion.program.elementwise_statements import Elementwise
from inversion.program.statements import Variable
from primitives.arrays.domain import element_of

Column = tuple[str, Any]
"""A name, and the type of the array's elements; None for a number."""


def run(body: FunctionText, rule: Elementwise) -> None:
    """Compute the results."""

    def write(name: str) -> list[RowText]:
        one, element = FunctionText(body.module), simplified(rule.program)
        one.names(element, ())
        one.row(f"def {name}({', '.join(map(one.shown, rule.inputs))}):", depth=0)
        one.forward(element.statements)
        one.row(f"return {', '.join(one.shown(v) for v in element.results.values())}")
        return [*one.rows, RowText("")]

    one = body.module.part((id(rule), "element"), f"{rule.name}_element", write)
    given = [(body.shown(v), v.kind if v.name in rule.arrays else None) for v in rule.inputs]
    outs = [(body.shown(v), v.kind) for v in rule.results]
    whole(body, rule, one, given, outs)
    body.row(f"return {', '.join(name for name, _ in outs)}")


def solve(module: Module, rule: Elementwise, mode: Each, name: str) -> list[RowText]:
    """The function that solves all elements."""
    kinds = {v.name: v.kind for v in (*rule.inputs, *rule.results)}
    body = FunctionText(module)
    given = [(body.name(axis), _given_kind(rule, mode, axis, kinds)) for axis in mode.takes]
    body.row(f"def {name}({', '.join(n for n, _ in given)}):", depth=0)
    outs = [(body.name(axis), kinds[axis]) for axis in mode.unknown]
    quick = mode.plan is not None and is_quick(mode.plan)
    whole(body, rule, solved_element(module, rule, mode), given, outs, quick=quick)
    found = [n for n, _ in outs]
    if mode.common is not None:  # all elements agree, except those that determine no value
        body.row(f"{found[0]} = np.sort({found[0]}.ravel())[{_size(rule) // 2}]")
    body.row(f"return {', '.join(found)}")
    return [*body.rows, RowText("")]


def _given_kind(rule: Elementwise, mode: Each, axis: str, kinds: dict[str, Any]) -> Any:
    if axis in mode.coordinates:
        return mode.coordinates[axis].kind
    return kinds[axis] if axis in rule.arrays or axis in rule.outputs else None


def solved_element(module: Module, rule: Elementwise, mode: Each) -> str:
    """The function that solves one element."""
    plan = mode.plan
    assert plan is not None

    def write(name: str) -> list[RowText]:
        body = FunctionText(module)
        body.names(plan.program, ())
        parameters = {coordinate: name for name, coordinate in mode.chosen.items()}
        takes = [body.name(parameters.get(axis, axis)) for axis in mode.takes]
        body.row(f"def {name}({', '.join(takes)}):", depth=0)
        given = {v for v in plan.program.inputs if v.name in mode.takes}
        for axis in mode.takes:  # a result that is the same variable as another one is only checked
            operand = plan.operand(axis) if axis in rule.outputs else None
            if isinstance(operand, Variable) and operand not in given:
                given.add(operand)
                if body.shown(operand) != body.name(axis):
                    body.row(f"{body.shown(operand)} = {body.name(axis)}")
        body.solve(plan)
        body.row(f"return {', '.join(body.shown(plan.operand(a)) for a in mode.unknown)}")
        return [*body.rows, RowText("")]

    return module.part(
        (id(mode), "element"), f"{rule.name}_element_{'_'.join(mode.unknown)}", write
    )


def recover(module: Module, rule: Elementwise, mode: Each, name: str) -> list[RowText]:
    """The function that recovers the coordinates, as arrays."""
    plan = mode.plan
    assert plan is not None

    def write(name: str) -> list[RowText]:
        body = FunctionText(module)
        body.names(plan.program, ())
        body.row(f"def {name}({', '.join(map(body.shown, rule.inputs))}):", depth=0)
        body.forward(plan.program.statements)
        names = body.recovered(plan)
        body.row(f"return {', '.join(names)}")
        return [*body.rows, RowText("")]

    one = module.part((id(mode), "element recover"), f"{name}_element", write)
    body = FunctionText(module)
    given = [(body.name(v.name), v.kind if v.name in rule.arrays else None) for v in rule.inputs]
    body.row(f"def {name}({', '.join(n for n, _ in given)}):", depth=0)
    outs = [(body.name(axis), element_of(d.kind)) for axis, d in mode.coordinates.items()]
    whole(body, rule, one, given, outs)
    body.row(f"return {tuple_of([n for n, _ in outs])}")
    return [*body.rows, RowText("")]


def whole(
    body: FunctionText,
    rule: Elementwise,
    one: str,
    given: Sequence[Column],
    outs: Sequence[Column],
    *,
    quick: bool = False,
) -> None:
    """Call ``one`` for each element, and fill arrays for ``outs`` from the given columns.

    quick: whether ``one`` may return NaN where it would raise.
    """
    module = body.module
    key = one, "rows", tuple(kind is not None for _, kind in given)
    rows = module.part(key, f"{one}_rows", lambda name: kernel(name, one, given, outs))
    floats = all(kind in (None, float) for _, kind in given)
    module.kernels[rows] = ElementLoop(one, len(outs), floats, quick)
    columns = [body.own(f"{name}_column") for name, _ in outs]
    for column, (_, kind) in zip(columns, outs, strict=True):
        body.row(f"{column} = np.empty({_size(rule)}, {dtype_name(kind)})")
    flat = [name if kind is None else f"{name}.ravel()" for name, kind in given]
    body.row(f"{rows}({', '.join([*columns, *flat])})")
    for column, (name, _) in zip(columns, outs, strict=True):
        body.row(f"{name} = {column}.reshape({rule.shape})")


def kernel(name: str, one: str, given: Sequence[Column], outs: Sequence[Column]) -> list[RowText]:
    """The loop over the elements."""
    found = [f"out_{i}" for i in range(len(outs))]
    columns = [f"given_{i}" for i in range(len(given))]
    each = [
        column if kind is None else f"{column}[i]"
        for column, (_, kind) in zip(columns, given, strict=True)
    ]
    texts = [
        f"def {name}({', '.join([*found, *columns])}):",
        "    for i in range(out_0.size):",
        f"        {', '.join(f'{out}[i]' for out in found)} = {one}({', '.join(each)})",
        "",
    ]
    return [RowText(text) for text in texts]


def dtype_name(kind: Any) -> str:
    """The name, in generated code, of the dtype for elements of a type."""
    return "np.bool_" if kind is bool else f"np.{np.dtype(kind).name}"


def _size(rule: Elementwise) -> int:
    return int(np.prod(rule.shape))


ELEMENTWISE = PartWriter(run, solve, recover)
