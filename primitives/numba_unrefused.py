"""Kernels without refusals: where the plain form raises, these answer NaN.

A loop with nothing that can raise is one that LLVM may vectorise. What is NaN is asked for again
of the plain form, which says why there is no answer.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numba
from numba.core import ir
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.untyped_passes import IRProcessing

__all__ = ["unrefused"]


@register_pass(mutates_CFG=True, analysis_only=False)
class _AnswerNaN(FunctionPass):
    """Returns NaN, or a tuple of NaNs where the function returns a tuple, in place of raising."""

    _name = "primitives_answer_nan"

    def __init__(self) -> None:
        super().__init__()

    def run_pass(self, state: Any) -> bool:
        function: Any = state.func_ir
        ends = [b for b in function.blocks.values() if isinstance(b.terminator, _RAISING)]
        width = _width(function) if ends else None
        for block in ends:
            raised = block.body.pop()
            made = [_assigned(function, block, ir.Const(math.nan, raised.loc))]
            if width is not None:
                parts = made * width
                made = [_assigned(function, block, ir.Expr.build_tuple(parts, raised.loc))]
            given = _assigned(function, block, ir.Expr.cast(made[0], raised.loc))
            block.append(ir.Return(given, raised.loc))
        return bool(ends)


_RAISING: Any = (ir.StaticRaise, ir.Raise, ir.DynamicRaise)


def _assigned(function: Any, block: Any, value: Any) -> Any:
    variable = block.scope.redefine("$nan", loc=value.loc)
    block.append(ir.Assign(value, variable, value.loc))
    function._definitions[variable.name] = [value]
    return variable


def _width(function: Any) -> int | None:
    """How many items the tuple has that a function returns; None where it is no tuple."""
    returned = [b.terminator for b in function.blocks.values()]
    waiting = [r.value.name for r in returned if isinstance(r, ir.Return)]
    seen = set[str]()
    while waiting:
        name = waiting.pop()
        if name in seen:
            continue
        seen.add(name)
        for value in function._definitions[name]:
            if isinstance(value, ir.Expr) and value.op == "build_tuple":
                return len(value.items)
            waiting += _read(value)
    return None


def _read(value: Any) -> Iterator[str]:
    """The variables that are the same as a value."""
    if isinstance(value, ir.Var):
        yield value.name
    elif isinstance(value, ir.Expr) and value.op == "cast":
        yield value.value.name
    elif isinstance(value, ir.Expr) and value.op == "phi":
        yield from (v.name for v in value.incoming_values if isinstance(v, ir.Var))


class _Pipeline(CompilerBase):
    """numba's own, with that pass."""

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.add_pass_after(_AnswerNaN, IRProcessing)
        passes.finalize()
        return [passes]


# a division by 0 that raises would be a way out of the loop
unrefused: Any = numba.njit(pipeline_class=_Pipeline, error_model="numpy", forceinline=True)
