"""Calls of markers in compiled code, and the plugin stage that removes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from overlay.compiled import failures
from overlay.compiled.glue import GLUE
from overlay.compiled.numba.dispatchers import InnerDispatcher, innermost
from overlay.compiled.numba.hooks import errors_carried
from overlay.compiled.numba.numba_types import refused
from overlay.compiled.sharing import frames
from overlay.core.location import location_of, shown
from overlay.plugins.markers import MarkedCall, MarkedFunction, MarkedModule
from overlay.plugins.plugin import ask_marked

if TYPE_CHECKING:
    from overlay.compiled.world import World

__all__ = ["compiled_in", "hand_marked", "note_marked"]


def note_marked(state: Any) -> None:
    """Record the calls of markers in a function whose calls are resolved."""
    markers = [m for plugin in state.pipeline.world.plugins for m in plugin.markers]
    for block in state.func_ir.blocks.values() if markers else ():
        for expr in block.find_exprs("call"):
            dispatcher = getattr(state.typemap[expr.func.name], "dispatcher", None)
            if isinstance(dispatcher, InnerDispatcher) and _among(dispatcher.original, markers):
                where = _place_of(expr)
                innermost().marked.append((dispatcher, state.calltypes[expr].args, where))


def _place_of(expr: Any) -> str:
    """The line of a call; in a generated function, the function of the program that it is for."""
    if expr.loc.filename != GLUE:
        return shown(expr.loc.filename, expr.loc.line)
    callers = (location_of(frame.holder.original) for frame in reversed(frames()))
    return next(where for where in callers if where and not where.startswith(GLUE))


def hand_marked(
    inner: InnerDispatcher,
    module: Any,
    symbol_of: Callable[[InnerDispatcher, tuple[Any, ...]], str],
    functions: Mapping[str, MarkedFunction],
) -> None:
    """Pass the LLVM module of a function to plugins, which remove the calls of their markers.
    Raises an error for numba where one is left.
    """
    known = {symbol_of(dispatcher, args): (dispatcher.original, where)
             for dispatcher, args, where in inner.marked}  # fmt: skip
    for plugin in inner.world.plugins if known else ():
        mine = tuple(c for c in _calls(module, known) if _among(c.marker, plugin.markers))
        if not mine:
            continue
        with errors_carried(inner.world):
            changed = ask_marked(plugin, MarkedModule(module, mine, functions), inner.function)
        left = [c for c in _calls(module, known) if _among(c.marker, plugin.markers)]
        if left:
            raise refused(inner.world, failures.marker_left(plugin, left[0], changed))


def compiled_in(*worlds: World) -> dict[str, MarkedFunction]:
    """The compiled functions of worlds, by symbol."""
    return {
        result.fndesc.llvm_func_name: MarkedFunction(
            dispatcher.original, (*result.signature.args, result.signature.return_type)
        )
        for world in worlds
        for dispatcher in world.dispatchers()
        for result in dispatcher.overloads.values()
    }


def _calls(module: Any, known: Mapping[str, tuple[Any, str]]) -> Iterator[MarkedCall]:
    for function in module.functions:
        for block in function.blocks:
            for instruction in block.instructions:
                name = getattr(getattr(instruction, "callee", None), "name", None)
                if name in known:
                    yield MarkedCall(instruction, *known[name])


def _among(function: Any, markers: Any) -> bool:
    return any(function is marker for marker in markers)
