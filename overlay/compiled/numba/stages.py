"""The stages of plugins in the compilation of a function.

A world without plugins runs none of these passes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from numba.core import errors, types
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.typed_passes import (
    NativeLowering,
    NativeParforLowering,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.untyped_passes import GenericRewrites, InlineClosureLikes

from overlay.compiled.numba.hooks import edited, errors_carried, shown_ir
from overlay.compiled.numba.inferring import convert_inferred
from overlay.compiled.numba.inlining import Inlining
from overlay.compiled.numba.lowering import StagedLowering, UnstagedLowering
from overlay.compiled.numba.marked_calls import note_marked
from overlay.compiled.numba.resolve_pass import Resolve
from overlay.compiled.numba.shown_flow import print_as_call
from overlay.compiled.numba.shown_ir import NumbaIR
from overlay.core.errors import OverlayError
from overlay.ir import IR
from overlay.plugins.plugin import ask_analysed, hear_analyses, run_stage

if TYPE_CHECKING:
    from overlay.compiled.world import World

__all__ = ["Inference", "add_stages", "add_untyped_stages"]


def add_untyped_stages(passes: Any) -> None:
    """Add the stages before types are known to a pipeline, after the inlining of closures that are
    called where they are defined."""
    passes.add_pass_after(BeforeInference, InlineClosureLikes)
    passes.add_pass_after(PrintsAsCalls, GenericRewrites)


def add_stages(passes: Any) -> None:
    """Add all stages to a pipeline that resolves calls just after the phis are removed."""
    add_untyped_stages(passes)
    passes.add_pass_after(TypedStages, PreLowerStripPhis)
    passes.add_pass_after(Resolved, Resolve)
    passes.passes = [(REPLACED.get(each, each), why) for each, why in passes.passes]


def _run(state: Any, stage: str, shown: IR) -> None:
    """Pass the IR from plugin to plugin through one stage."""
    world: World = state.pipeline.world
    with errors_carried(world):
        given = run_stage(world.plugins, stage, shown, shown.function)
        if not isinstance(given, NumbaIR) or given.is_typed != shown.is_typed:
            raise OverlayError(
                f"{stage} of {shown.name} returned {given!r}",
                help="return the IR that the stage was called with, edited, or None",
            )
    state.func_ir = given.func_ir
    if given.is_typed:
        state.typemap, state.calltypes = given.typemap, given.calltypes


# ---- before types are known ---------------------------------------------------------------


@register_pass(mutates_CFG=True, analysis_only=False)
class BeforeInference(FunctionPass):
    """Run the analysis, for plugins that receive it, and the stage ``before_inference``."""

    _name = "overlay_before_inference"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        world: World = state.pipeline.world
        if hear_analyses(world.plugins):
            shown = shown_ir(state)
            with errors_carried(world):
                ask_analysed(world.plugins, shown.analysis, shown.function)
        if not edited(world, state.func_ir.func_id, "before_inference"):
            return False
        print_as_call(state.func_ir)
        _run(state, "before_inference", shown_ir(state))
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class PrintsAsCalls(FunctionPass):
    """Turn prints, which numba has rewritten, back into calls, for the stages that see calls with
    types."""

    _name = "overlay_prints_as_calls"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        func_id = state.func_ir.func_id
        seen = edited(state.pipeline.world, func_id, "infer", "inline", "after_inference")
        if seen:
            print_as_call(state.func_ir)
        return seen


@register_pass(mutates_CFG=True, analysis_only=False)
class Inference(NopythonTypeInference):
    """numba's type inference, in which a function may return one of numba's own functions."""

    _name = "overlay_inference"

    def run_pass(self, state: Any) -> bool:
        try:
            return super().run_pass(state)
        except errors.TypingError:
            if not isinstance(state.return_type, types.Function):
                raise
            return True


# ---- when types are known -----------------------------------------------------------------


@register_pass(mutates_CFG=True, analysis_only=False)
class TypedStages(FunctionPass):
    """Apply the results of ``infer``, then run the stages ``inline`` and ``after_inference``."""

    _name = "overlay_typed"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        convert_inferred(state)
        with errors_carried(state.pipeline.world):
            Inlining(state).run()
        if edited(state.pipeline.world, state.func_ir.func_id, "after_inference"):
            _run(state, "after_inference", shown_ir(state))
        return True


@register_pass(mutates_CFG=False, analysis_only=True)
class Resolved(FunctionPass):
    """Record calls of markers, for the stage ``marked``."""

    _name = "overlay_resolved"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        note_marked(state)
        return False


REPLACED: Final = {
    NativeLowering: StagedLowering,
    NativeParforLowering: UnstagedLowering,
}
