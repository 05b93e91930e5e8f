"""Common parts of the plugin stages: the IR that hooks are given, its analysis in the
interpretation in force, and their errors."""

from __future__ import annotations

import itertools
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from numba.core import types

from overlay.analysis.interpreter import Interpreter
from overlay.analysis.lattice import Domain
from overlay.analysis.resolution import Setting
from overlay.analysis.runs import Run
from overlay.compiled.numba.control_flow import body_in
from overlay.compiled.numba.hints import spelt
from overlay.compiled.numba.made_contexts import UnknownMetadata
from overlay.compiled.numba.numba_types import refused
from overlay.compiled.numba.shown_flow import handles_exceptions, of_program
from overlay.compiled.numba.shown_ir import NumbaIR
from overlay.core.errors import OverlayError
from overlay.core.jitted import is_rule
from overlay.ir import UNKNOWN
from overlay.plugins.plugin import stages_of

if TYPE_CHECKING:
    from overlay.compiled.world import World
    from overlay.core.dispatch import MethodChain

__all__ = [
    "analysis_of",
    "edited",
    "errors_carried",
    "function_of",
    "has_stage",
    "metadata_of",
    "shown_ir",
]


@contextmanager
def errors_carried(world: World) -> Iterator[None]:
    """Carry errors of plugins through numba, like our own."""
    try:
        yield
    except OverlayError as error:
        raise refused(world, error) from error


def has_stage(world: World, *stages: str) -> bool:
    """Whether a plugin of a world has one of these stages."""
    return any(stage in stages_of(plugin) for plugin in world.plugins for stage in stages)


def edited(world: World, func_id: Any, *stages: str) -> bool:
    """Whether a plugin of a world has one of these stages for a function, given by its identity:
    no rule of an interpretation, which computes with unmodified functions."""
    return has_stage(world, *stages) and not is_rule(function_of(func_id))


def function_of(func_id: Any) -> Any:
    """The function of the program that is being compiled, or inlined."""
    return getattr(func_id.func, "of_program", func_id.func)


def metadata_of(world: World) -> Any:
    """The metadata that code of a world is compiled for, in the form that plugins get."""
    found = world.engine.context.metadata
    return UNKNOWN if isinstance(found, UnknownMetadata) else found


def shown_ir(state: Any) -> NumbaIR:
    world, chain = state.pipeline.world, state.pipeline.chain
    return NumbaIR(
        state.func_ir,
        function_of(state.func_ir.func_id),
        bind=lambda value: world.stand_ins.of(value, chain),
        typing=world.typing,
        typemap=state.typemap,
        calltypes=state.calltypes,
        interpretation=world.engine.interpretation,
        analyse=lambda shown: analysis_of(shown, world, chain, state.args),
        metadata=metadata_of(world),
    )


# cache of analysed functions, by world
_interpreters: weakref.WeakKeyDictionary[World, Interpreter] = weakref.WeakKeyDictionary()
_serials = itertools.count()


def analysis_of(
    shown: NumbaIR, world: World, chain: MethodChain | None, args: Sequence[Any]
) -> Run | None:
    """The analysis of a function's IR in its present state, for arguments of these types; None
    where no domain is in force, and for generators and functions that handle exceptions."""
    if not isinstance(shown.interpretation, Domain):
        return None
    func_ir = shown.func_ir
    if func_ir.is_generator or handles_exceptions(func_ir):
        return None
    interpreter = _interpreters.get(world)
    if interpreter is None:
        interpreter = _interpreters[world] = _interpreter(shown.interpretation, world)
    plain = getattr(shown.function, "py_func", shown.function)
    read = body_in(func_ir, plain, of_program, shown.typemap)
    setting = Setting(world.tables, chain)
    values = [_value(interpreter.domain, i, ty) for i, ty in enumerate(args)]
    run = interpreter.run_body(replace(read, key=next(_serials)), values, setting)
    for each in run.walk():
        world.watch.add(each.function)
    return run


def _interpreter(interpretation: Domain, world: World) -> Interpreter:
    """An interpreter for a world. Results of functions follow from their code only where every
    plugin that may edit it preserves values."""
    keeps = all("values" in plugin.preserves for plugin in world.plugins)
    domain = interpretation.in_compiled_code()
    return Interpreter(domain) if keeps else Interpreter(domain, limit=1)


def _value(domain: Domain, place: int, ty: Any) -> Any:
    """The abstract value of an argument of a type."""
    if isinstance(ty, types.Omitted):
        return domain.constant(ty.value)
    if isinstance(ty, (types.Literal, types.BooleanLiteral)):
        return domain.constant(ty.literal_value)
    if isinstance(ty, types.Integer) and not ty.signed:
        return domain.top
    return domain.parameter(place, spelt(ty))
