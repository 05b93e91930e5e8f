"""The stage ``inline``: plugins decide which calls are replaced by bodies, once types are known."""

from __future__ import annotations

import inspect
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from numba.core import errors, ir, types
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.inline_closurecall import InlineWorker, callee_ir_validator
from numba.core.ir_utils import build_definitions, simplify_CFG

from overlay.compiled.numba.dispatchers import InnerDispatcher, innermost
from overlay.compiled.numba.exception_chains import inlined_calls_known
from overlay.compiled.numba.hooks import edited, shown_ir
from overlay.compiled.numba.inferring import convert_inferred
from overlay.compiled.numba.ir_edits import argument_types
from overlay.compiled.numba.numba_types import CalleeType, Type, type_of_constant
from overlay.compiled.numba.shown_ir import NumbaIR
from overlay.core.errors import NotCompilable
from overlay.core.jitted import is_rule
from overlay.core.location import location_of, name_of
from overlay.plugins.plugin import answers

if TYPE_CHECKING:
    from overlay.compiled.world import World

__all__ = ["Inlining"]


class Inlining:
    """Inlines calls as plugins and ``@njit(inline="always")`` demand."""

    def __init__(self, state: Any) -> None:
        self.state = state
        self.world: World = state.pipeline.world
        self.asks = edited(self.world, state.func_ir.func_id, "inline")
        # the dispatchers that a block was inlined from, so that recursion ends
        self.within: dict[int, tuple[InnerDispatcher, ...]] = {}
        self.seen: dict[int, Any] = {}

    def run(self) -> None:
        pending = list(self.state.func_ir.blocks)
        inlined = False
        while pending:
            label = pending.pop()
            new = self._inlined_in(label)
            inlined = inlined or bool(new)
            pending += new
        if inlined:
            func_ir = self.state.func_ir
            for dead in compute_cfg_from_blocks(func_ir.blocks).dead_nodes():
                del func_ir.blocks[dead]
            func_ir.blocks = simplify_CFG(func_ir.blocks)
            func_ir._definitions = build_definitions(func_ir.blocks)

    def _inlined_in(self, label: int) -> list[int]:
        """Inline the first call of a block that has to be; return the labels of the new blocks."""
        block, shown = self.state.func_ir.blocks[label], shown_ir(self.state)
        for place, statement in enumerate(block.body):
            callee = self._callee(statement)
            if callee is None or id(statement.value) in self.seen:
                continue
            self.seen[id(statement.value)] = statement.value
            by = self._wanted(shown, statement, callee, label)
            if by is not None:
                return self._inline(label, place, callee, by)
        return []

    def _callee(self, statement: Any) -> InnerDispatcher | None:
        """The function of the program that a statement calls."""
        expr = getattr(statement, "value", None)
        if not (isinstance(expr, ir.Expr) and expr.op == "call"):
            return None
        ty = self.state.typemap[expr.func.name]
        if isinstance(ty, CalleeType):
            found = ty.outcome(*argument_types(self.state.typemap, expr)).callee
        else:
            found = ty.dispatcher if isinstance(ty, types.Dispatcher) else None
        return found if isinstance(found, InnerDispatcher) else None

    def _wanted(
        self, shown: NumbaIR, assign: Any, callee: InnerDispatcher, label: int
    ) -> str | None:
        """The plugin or option that demands inlining of a call, or None if it remains a call."""
        by = f"@njit(inline='always') of {name_of(callee.function)}" if callee.inlined else None
        asks = self.asks and not is_rule(callee.function)  # where it would be edited
        call = shown.call_of(assign) if asks else None
        if call is not None:
            call = replace(call, inlined=callee.inlined or None)
            for plugin, answer in answers(self.world.plugins, "inline", call, "inlined"):
                by = repr(plugin) if answer else None
                if not answer:
                    self._keep(assign, callee)
        chain = (innermost(), *self.within.get(label, ()))
        return None if any(callee.function is each.function for each in chain) else by

    def _keep(self, assign: Any, callee: InnerDispatcher) -> None:
        """Keep LLVM from inlining a call."""
        _, args = callee.fold_argument_types(*argument_types(self.state.typemap, assign.value))
        found = callee.overloads.get(args)
        if found is not None and self.world.makes_code:
            innermost().kept_calls.add(found.fndesc.llvm_func_name)
        elif found is not None:
            innermost().kept_on_device.add((callee, args))

    def _inline(self, label: int, place: int, callee: InnerDispatcher, by: str) -> list[int]:
        if callee.world is not self.world:
            raise self._cannot(callee, by, "other plugins are active in it")
        state, block = self.state, self.state.func_ir.blocks[label]
        expr = block.body[place].value
        parameters = inspect.signature(callee.py_func).parameters.values()
        if not callee.inlined and (callee.declared.is_limited or callee.declared.variables):
            raise self._cannot(callee, by, "@njit declares types of it, which hold in a call only")
        if expr.vararg is not None or any(p.kind is p.VAR_POSITIONAL for p in parameters):
            raise self._cannot(callee, by, "it takes *arguments")
        _, args = callee.fold_argument_types(*argument_types(state.typemap, expr))
        given = [type_of_constant(a.value) if isinstance(a, types.Omitted) else a for a in args]
        worker = self._worker(callee, tuple(given))
        try:
            with inlined_calls_known():
                _, _, _, new = worker.inline_function(
                    state.func_ir, block, place, callee.py_func, tuple(given)
                )
        except errors.UnsupportedError as error:
            raise self._cannot(callee, by, str(error)) from error
        chain = (*self.within.get(label, ()), callee)
        convert_inferred(state)
        labels = [number for number, _ in new]
        for number in labels[1:]:
            self.within[number] = chain
        self.within[labels[0]] = chain[:-1]
        return [label, *labels]

    def _worker(self, callee: InnerDispatcher, args: tuple[Type, ...]) -> Any:
        state, flags = self.state, self.state.flags.copy()
        typing = self.world.typing
        make = callee._compiler.pipeline_class
        pipeline = make(typing, state.targetctx, None, args, None, flags, state.locals)
        given = typing, state.targetctx, state.locals, pipeline, flags, callee_ir_validator
        worker = InlineWorker(*given, state.typemap, state.calltypes)
        worker._compiler_pipeline = pipeline.define_untyped
        return worker

    @staticmethod
    def _cannot(callee: InnerDispatcher, by: str, reason: str) -> NotCompilable:
        return NotCompilable(
            f"{by} inlines {name_of(callee.function)}, which cannot be inlined: {reason}",
            where=location_of(callee.function),
            help="leave it a call: return None or False from inline()",
        )
