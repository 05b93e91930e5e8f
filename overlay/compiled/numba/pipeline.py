"""The pipeline of a world: numba's passes, and those that handle targets."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from numba.core import ir, types
from numba.core.compiler import CompilerBase, DefaultPassBuilder, compile_result
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.typed_passes import NopythonTypeInference, PreLowerStripPhis
from numba.core.typing.templates import signature
from numba.core.untyped_passes import InlineInlinables, IRProcessing, LiteralUnroll

from overlay.compiled.numba.bind_pass import Bind, BindInlined, BindUnrolled
from overlay.compiled.numba.dispatchers import RESOLVED, innermost
from overlay.compiled.numba.resolve_pass import Resolve
from overlay.compiled.numba.stages import Inference, add_stages, add_untyped_stages
from overlay.compiled.numba.traced_passes import TRACED

if TYPE_CHECKING:
    from overlay.compiled.world import World
    from overlay.core.dispatch import MethodChain

__all__ = ["compiler_for"]


def compiler_for(world: World, chain: MethodChain | None) -> type[CompilerBase]:
    """The pipeline class for a function in a world. chain: the place at which its ``call_next``
    continues."""
    return type("WorldCompiler", (_WorldCompiler,), {"world": world, "chain": chain})


class _WorldCompiler(CompilerBase):
    world: World
    chain: MethodChain | None

    def define_pipelines(self) -> list[Any]:
        if self.world.only_types:
            return self.define_types()
        if self.world.target.is_device:
            return self.define_resolved()
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        _add_bindings(passes)
        passes.add_pass_after(Resolve, PreLowerStripPhis)
        passes.passes = [
            (Inference if each is NopythonTypeInference else each, why)
            for each, why in passes.passes
        ]
        if self.world.plugins:
            add_stages(passes)
        passes.passes = [(TRACED.get(each, each), why) for each, why in passes.passes]
        passes.finalize()
        return [passes]

    def define_types(self) -> list[Any]:
        """The pipeline that infers types, and compiles nothing."""
        passes = DefaultPassBuilder.define_untyped_pipeline(self.state)
        _add_bindings(passes)
        if self.world.plugins:
            add_untyped_stages(passes)
        passes.add_pass(Inference, "types")
        passes.add_pass(TypesKnown, "the result type")
        passes.finalize()
        return [passes]

    def define_resolved(self) -> list[Any]:
        """The pipeline that resolves calls, and leaves the rest to a device's compiler."""
        passes = DefaultPassBuilder.define_untyped_pipeline(self.state)
        _add_bindings(passes)
        passes.add_pass(Inference, "types")
        passes.add_pass(PreLowerStripPhis, "no phis")
        passes.add_pass(Resolve, "each call goes to what it enters")
        if self.world.plugins:
            add_stages(passes)
        passes.add_pass(TypesKnown, "the result type")
        passes.finalize()
        return [passes]

    def define_untyped(self, state: Any) -> Any:
        """The passes before types are known, for a body that replaces a call."""
        passes = DefaultPassBuilder.define_untyped_pipeline(state)
        _add_bindings(passes)
        add_untyped_stages(passes)
        return passes

    def enters_methods(self) -> None:
        """Record that the function being compiled may enter a method at run time."""
        innermost().enters_methods = True


def _add_bindings(passes: Any) -> None:
    """Add the passes that replace what the program mentions by stand-ins."""
    passes.add_pass_after(Bind, IRProcessing)
    passes.add_pass_after(BindInlined, InlineInlinables)
    passes.add_pass_after(BindUnrolled, LiteralUnroll)


@register_pass(mutates_CFG=False, analysis_only=True)
class TypesKnown(FunctionPass):
    """The last pass of a pipeline that compiles nothing; it records the function's IR."""

    _name = "overlay_types_known"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        state.cr = compile_result(
            typing_context=state.typingctx,
            target_context=state.targetctx,
            entry_point=object(),
            signature=signature(state.return_type, *state.args),
            objectmode=False,
            metadata={RESOLVED: (state.func_ir, dict(_converted(state)))},
        )
        return False


def _converted(state: Any) -> Iterator[tuple[str, Any]]:
    """The variables that an assignment converts to another number type; renewed type inference does
    not show these."""
    for block in state.func_ir.blocks.values():
        for each in block.body:
            if isinstance(each, ir.Assign) and isinstance(each.value, ir.Var):
                ty, given = (state.typemap[var.name] for var in (each.target, each.value))
                if isinstance(ty, types.Number) and ty != types.unliteral(given):
                    yield each.target.name, ty
