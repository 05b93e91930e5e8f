"""The LLVM stages: ``after_codegen``, ``before_optimisation`` and ``after_optimisation``."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from llvmlite import binding
from llvmlite import ir as llvm
from numba.core.compiler_machinery import register_pass

from overlay.compiled.numba.code_lifetime import WorldLibrary
from overlay.compiled.numba.dispatchers import InnerDispatcher, innermost
from overlay.compiled.numba.hooks import errors_carried, has_stage
from overlay.compiled.numba.marked_calls import compiled_in, hand_marked
from overlay.compiled.numba.numba_types import refused
from overlay.compiled.numba.traced_passes import Lowering, ParallelLowering, TracedLower
from overlay.core.errors import NotCompilable, OverlayError
from overlay.core.location import location_of, name_of
from overlay.plugins.plugin import LLVM_STAGES, run_stage, stages_of

if TYPE_CHECKING:
    from overlay.compiled.world import World

__all__ = ["StagedLowering", "UnstagedLowering", "handed_on", "keep_calls"]


class _Hook:
    """Callback of numba after it has lowered a function."""

    def __init__(self, lower: _StagedLower) -> None:
        self.lower: _StagedLower | None = lower

    def __call__(self, module: Any, library: Any) -> None:
        # else it is an implementation of numba's own that the function uses
        if self.lower is not None and module is self.lower.module:
            self.lower.hand_on()


class _StagedLower(TracedLower):
    """Lowers a function, and passes its LLVM module to the stage ``after_codegen``."""

    def lower(self) -> None:
        hook = _Hook(self)
        self.context = self.context.subtarget(post_lowering=hook)
        try:
            super().lower()
        finally:
            hook.lower = None  # numba keeps the context with its own code

    def hand_on(self) -> None:
        """Pass the module to the plugins."""
        dispatcher, module = innermost(), self.module
        if dispatcher.kept_calls:
            keep_calls(module, dispatcher.kept_calls)
        world = dispatcher.world
        wanted = {f.name: str(f.ftype) for f in module.functions if not f.is_declaration}
        with errors_carried(world):
            given = run_stage(world.plugins, "after_codegen", module, dispatcher.function)
            if not isinstance(given, llvm.Module):
                raise OverlayError(
                    f"after_codegen of {name_of(dispatcher.function)} returned {given!r}",
                    help="edit the module in place, or return an llvmlite.ir.Module",
                )
            there = {f.name: str(f.ftype) for f in given.functions if not f.is_declaration}
            _refuse_missing(wanted, there, "after_codegen", dispatcher.function)
        worlds = {world, *(callee.world for callee, _, _ in dispatcher.marked)}
        if dispatcher.marked:
            hand_marked(dispatcher, given, _symbol, compiled_in(*worlds))
        self.module = given


def _symbol(callee: InnerDispatcher, args: tuple[Any, ...]) -> str:
    return callee.overloads[args].fndesc.llvm_func_name


def keep_calls(module: Any, names: set[str]) -> None:
    """Mark calls of the functions with these symbols as not to be inlined."""
    for function in module.functions:
        for block in function.blocks:
            for instruction in block.instructions:
                callee = getattr(instruction, "callee", None)
                if getattr(callee, "name", None) in names:
                    instruction.attributes.add("noinline")


class _Library(WorldLibrary):
    """Passes its LLVM module to plugins before and after optimisation."""

    dispatcher: InnerDispatcher

    def _optimize_final_module(self) -> None:
        self._hand_on("before_optimisation")
        super()._optimize_final_module()
        self._hand_on("after_optimisation")
        del self.dispatcher  # numba keeps the library until the dispatcher goes

    def _hand_on(self, stage: str) -> None:
        world, function = self.dispatcher.world, self.dispatcher.function
        if has_stage(world, stage):
            self._final_module = handed_on(world, function, self._final_module, stage)


def handed_on(world: World, function: Any, module: Any, stage: str) -> Any:
    """Pass the linked LLVM module of a function to one stage of the world's plugins; return the
    resulting module.
    """
    wanted = _offered(module)
    with errors_carried(world):
        given = run_stage(world.plugins, stage, module, function)
        if isinstance(given, str):
            given = _parsed(given, stage, function)
        if not isinstance(given, binding.ModuleRef):
            raise OverlayError(
                f"{stage} of {name_of(function)} returned {given!r}",
                help="return LLVM IR as text, or edit the module that llvmlite.binding has",
            )
        _refuse_missing(wanted, _offered(given), stage, function)
    if given is not module:
        given.name = module.name
    return given


def _offered(module: Any) -> dict[str, str]:
    """Maps the names of the definitions that a module exports to their types."""
    values = (*module.functions, *module.global_variables)
    return {
        value.name: str(getattr(value, "global_value_type", value.type))
        for value in values
        if not value.is_declaration and value.linkage.name in ("external", "common")
    }


def _refuse_missing(
    wanted: dict[str, str], there: dict[str, str], stage: str, function: Any
) -> None:
    """Raise OverlayError where a plugin has removed a definition, or changed its type."""
    for name, kind in wanted.items():
        if there.get(name) != kind:
            found = f"as {there[name]}" if name in there else "no longer"
            raise OverlayError(
                f"{stage} of {name_of(function)} returned LLVM IR that defines {name} {found}",
                where=location_of(function),
                help=f"leave it defined, as {kind}",
            )


def _parsed(text: str, stage: str, function: Any) -> Any:
    try:
        module = binding.parse_assembly(text)
        module.verify()
    except RuntimeError as error:
        raise OverlayError(
            f"{stage} of {name_of(function)} returned LLVM IR that cannot be read: {error}",
            help="return the text of str(module), edited",
        ) from error
    return module


@register_pass(mutates_CFG=True, analysis_only=False)
class StagedLowering(Lowering):
    """The lowering, with the LLVM stages."""

    _name = "overlay_staged_lowering"

    def run_pass(self, state: Any) -> bool:
        library = _Library(state.targetctx.codegen(), state.func_id.func_qualname)
        library.dispatcher = innermost()
        library.enable_object_caching()
        state.library = library
        return super().run_pass(state)

    @property
    def lowering_class(self) -> Any:
        return _StagedLower


@register_pass(mutates_CFG=True, analysis_only=False)
class UnstagedLowering(ParallelLowering):
    """The lowering of code for several cores, which refuses plugins with LLVM stages."""

    _name = "overlay_unstaged_lowering"

    def run_pass(self, state: Any) -> bool:
        world: World = state.pipeline.world
        for plugin in world.plugins:
            stages = [stage for stage in stages_of(plugin) if stage in LLVM_STAGES]
            if stages or innermost().kept_calls:
                error = NotCompilable(
                    f"{plugin!r} has {(*stages, 'inline')[0]}, which is not given code for several "
                    f"cores, and {name_of(innermost().function)} is compiled with parallel=True",
                    help="leave parallel=True out, or return None from enter() here",
                )
                raise refused(world, error)
        return super().run_pass(state)
