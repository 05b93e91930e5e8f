"""Compiled forms of solvers: each form is a context, of method tables and plugins, that compiles
all solvers in that form.
"""

from __future__ import annotations

import math
import operator
import typing
from collections.abc import Callable
from typing import Any, Final

from overlay import Context, MethodTable, Plugin, call_next
from overlay.ir import IR
from primitives.floats.vector_maths import VECTORISED

__all__ = ["compiled_forms", "compiled_solvers", "without_refusals"]

compiled_forms = MethodTable("compiled forms", faithful=True)
"""Compiled forms of functions that solvers call: integers have 64 bits there, and numba supports
fewer functions of arrays."""

compiled_solvers: Final = Context(compiled_forms)
"""Context in which solvers are compiled."""


# ---- without refusals ---------------------------------------------------------------------

vectorised = MethodTable("vectorised", faithful=True)
"""Functions that LLVM can vectorise, and that return NaN in place of an exception."""

for _function, _form in VECTORISED.items():
    vectorised.overlay(_function)(_form)


@vectorised.overlay(operator.truediv)
def quotient(a: float, b: float) -> float:
    return call_next(a, b) if b != 0.0 else math.nan


class NaNForRaise(Plugin):
    """A plugin: functions that return a float, or a tuple of floats, return NaN where they would
    raise. LLVM can vectorise only loops that cannot raise.
    """

    cache_token = "NaN for raise"
    preserves = frozenset({"types"})

    def after_inference(self, ir: IR) -> None:
        nothing = nan_of(ir.result_type)
        if nothing is not None:
            for raised in ir.raises():
                ir.return_instead(raised, nothing)

    def after_codegen(self, module: Any) -> None:
        for function in module.functions:
            if not function.is_declaration:  # a loop that contains a call is not vectorised
                function.attributes.discard("noinline")
                function.attributes.add("alwaysinline")


def nan_of(kind: Any) -> float | tuple[float, ...] | None:
    """NaN as a value of a type, a float or a tuple of floats; None for other types."""
    if kind is float:
        return math.nan
    items = typing.get_args(kind) if typing.get_origin(kind) is tuple else ()
    return (math.nan,) * len(items) if items and set(items) == {float} else None


unrefused: Final = compiled_solvers | Context(vectorised, plugins=(NaNForRaise(),))


def without_refusals(
    function: Callable[..., Any], context: Context | None = None, **options: Any
) -> Any:
    """A function compiled so that it, and the functions that it calls, return NaN in place of
    raising, if they return floats or tuples of floats.

    The caller runs the plain form again for results that are NaN, which raises the reason. context:
    another context in which the function runs. options: those of ``Context.jit``.
    """
    home = unrefused if context is None else unrefused | context
    # a division by 0 that raises would be an exit of the loop
    return home.jit(function, error_model="numpy", **options)
