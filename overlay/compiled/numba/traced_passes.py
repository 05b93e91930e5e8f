"""Passes of numba that lower and inline, for code whose exceptions record the calls that they
leave.
"""

from __future__ import annotations

from typing import Any, Final

from numba.core.analysis import compute_cfg_from_blocks
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.lowering import Lower
from numba.core.typed_passes import NativeLowering, NativeParforLowering
from numba.core.untyped_passes import InlineClosureLikes, InlineInlinables
from numba.parfors.parfor_lowering import ParforLower

from overlay.compiled.numba.dispatchers import innermost
from overlay.compiled.numba.exception_chains import TracedCalls, handler_of, inlined_calls_known
from overlay.compiled.numba.parallel_errors import thread_errors_raised
from overlay.compiled.traces import TracePlace

__all__ = ["TRACED", "Lowering", "ParallelLowering", "TracedLower"]


class TracedLower(Lower):
    """Lowers a function, whose exceptions then record the calls that they leave."""

    def lower(self) -> None:
        holder = innermost()
        if not holder.is_of_program:
            super().lower()
            return
        self.library.has_loops = bool(compute_cfg_from_blocks(self.func_ir.blocks).loops())
        outer = self.context
        convention = TracedCalls(outer, self, TracePlace.of(holder.original))
        model = type(outer.error_model)(convention)
        self.context = outer.subtarget(convention=convention, error_model=model)
        convention.context = self.context
        try:
            super().lower()
        finally:
            convention.end()

    def pre_block(self, block: Any) -> None:
        super().pre_block(block)
        # numba puts no test for an exception in blocks that end in a branch of the program, such
        # as those that take the next item of an iterator
        builder: Any = self.builder
        if innermost().is_of_program and not hasattr(builder, "_in_try_block"):
            handler = handler_of(self.func_ir.blocks, block)
            if handler is not None:
                builder._in_try_block = {"target": self.blkmap[handler]}


class _ParallelLower(TracedLower, ParforLower):
    """Lowers code for several cores."""


@register_pass(mutates_CFG=True, analysis_only=False)
class Lowering(NativeLowering):
    """numba's lowering, of a function whose exceptions record the calls that they leave."""

    _name = "overlay_lowering"

    @property
    def lowering_class(self) -> Any:
        return TracedLower


@register_pass(mutates_CFG=True, analysis_only=False)
class ParallelLowering(NativeParforLowering):
    """The lowering of code for several cores, which raises the exceptions of its threads."""

    _name = "overlay_parallel_lowering"

    def run_pass(self, state: Any) -> bool:
        with thread_errors_raised():
            return super().run_pass(state)

    @property
    def lowering_class(self) -> Any:
        return _ParallelLower


class _Inlining(FunctionPass):
    """A pass of numba that inlines calls; the code keeps their locations."""

    def run_pass(self, state: Any) -> bool:
        with inlined_calls_known():
            return super().run_pass(state)


@register_pass(mutates_CFG=True, analysis_only=False)
class TracedClosures(_Inlining, InlineClosureLikes):
    """numba's inlining of closures."""

    _name = "overlay_closures"


@register_pass(mutates_CFG=True, analysis_only=False)
class TracedInlinables(_Inlining, InlineInlinables):
    """numba's inlining of functions with ``inline="always"``."""

    _name = "overlay_inlinables"


# The passes that are replaced.
TRACED: Final = {
    InlineClosureLikes: TracedClosures,
    InlineInlinables: TracedInlinables,
    NativeLowering: Lowering,
    NativeParforLowering: ParallelLowering,
}
