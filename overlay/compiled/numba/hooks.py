"""What the stages of plugins have in common: the IR that hooks are given, and their errors."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from overlay.compiled.numba.analysing import analysis_of
from overlay.compiled.numba.made_contexts import UnknownMetadata
from overlay.compiled.numba.numba_types import refused
from overlay.compiled.numba.shown_ir import NumbaIR
from overlay.core.errors import OverlayError
from overlay.ir import UNKNOWN
from overlay.plugins.plugin import stages_of

if TYPE_CHECKING:
    from overlay.compiled.world import World

__all__ = ["errors_carried", "function_of", "has_stage", "metadata_of", "shown_ir"]


@contextmanager
def errors_carried(world: World) -> Iterator[None]:
    """Errors of plugins travel through numba as ours do."""
    try:
        yield
    except OverlayError as error:
        raise refused(world, error) from error


def has_stage(world: World, *stages: str) -> bool:
    """Whether some plugin of a world has one of these stages."""
    return any(stage in stages_of(plugin) for plugin in world.plugins for stage in stages)


def function_of(func_id: Any) -> Any:
    """The program's function that is being compiled, or inlined."""
    return getattr(func_id.func, "of_program", func_id.func)


def metadata_of(world: World) -> Any:
    """The metadata that code of a world is compiled for, as plugins see it."""
    found = world.engine.context.metadata
    return UNKNOWN if isinstance(found, UnknownMetadata) else found


def shown_ir(state: Any) -> NumbaIR:
    world, body = state.pipeline.world, state.pipeline.body
    return NumbaIR(
        state.func_ir,
        function_of(state.func_ir.func_id),
        bind=lambda value: world.stand_ins.of(value, body),
        typing=world.typing,
        typemap=state.typemap,
        calltypes=state.calltypes,
        interpretation=world.engine.interpretation,
        analyse=lambda shown: analysis_of(shown, world, body, state.args),
        metadata=metadata_of(world),
    )
