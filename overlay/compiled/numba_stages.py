"""The stages at which plugins take part when a function is compiled in their world.

A world without plugins has none of the passes that stand here.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from llvmlite import binding
from llvmlite import ir as llvm
from numba.core import errors, ir, types
from numba.core.analysis import compute_cfg_from_blocks
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler_machinery import FunctionPass, register_pass
from numba.core.inline_closurecall import InlineWorker, callee_ir_validator
from numba.core.ir_utils import build_definitions, simplify_CFG
from numba.core.lowering import Lower
from numba.core.typed_passes import (
    NativeLowering,
    NativeParforLowering,
    NopythonTypeInference,
    PreLowerStripPhis,
)
from numba.core.typeinfer import CallConstraint, ConstraintNetwork, TypeInferer
from numba.core.typing.context import CallStack
from numba.core.untyped_passes import InlineClosureLikes

from overlay.compiled.numba_dispatchers import InnerDispatcher, innermost
from overlay.compiled.numba_ir import NumbaIR, numba_type, spelt
from overlay.compiled.numba_resolve import new_variable, redefine
from overlay.compiled.numba_types import CalleeType, Type, refused, type_of_constant
from overlay.errors import NotCompilable, OverlayError
from overlay.ir import IR, Call
from overlay.location import location_of, name_of
from overlay.plugin import answers, run_stage, stages_of

if TYPE_CHECKING:
    from overlay.compiled.world import World

__all__ = ["AskingCallStack", "add_stages", "add_untyped_stages"]

LLVM_STAGES: Final = ("after_codegen", "before_optimisation", "after_optimisation")


def add_untyped_stages(passes: Any) -> None:
    """Put the stages before types are known into a pipeline: closures that are called where they
    stand are part of the function by then."""
    passes.add_pass_after(BeforeInference, InlineClosureLikes)


def add_stages(passes: Any) -> None:
    """Put all stages into a pipeline that resolves calls just after the phis are gone."""
    add_untyped_stages(passes)
    passes.add_pass_after(Typed, PreLowerStripPhis)
    passes.passes = [(REPLACED.get(each, each), why) for each, why in passes.passes]


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


def _function(func_id: Any) -> Any:
    """The program's function that is being compiled, or inlined."""
    return getattr(func_id.func, "of_program", func_id.func)


def _shown_ir(state: Any) -> NumbaIR:
    world, body = state.pipeline.world, state.pipeline.body
    return NumbaIR(
        state.func_ir,
        _function(state.func_ir.func_id),
        bind=lambda value: world.stand_in(value, body),
        typing=world.typing,
        typemap=state.typemap,
        calltypes=state.calltypes,
        interpretation=world.engine.interpretation,
    )


def _run(state: Any, stage: str, shown: IR) -> None:
    """Hand the IR from plugin to plugin through one stage."""
    world: World = state.pipeline.world
    with errors_carried(world):
        given = run_stage(world.plugins, stage, shown, shown.function)
        if not isinstance(given, NumbaIR) or given.is_typed != shown.is_typed:
            raise OverlayError(
                f"{stage} of {shown.name} gave {given!r}",
                help="give the IR that the stage was called with, edited, or None",
            )
    state.func_ir = given.func_ir
    if given.is_typed:
        state.typemap, state.calltypes = given.typemap, given.calltypes


# ---- before types are known ---------------------------------------------------------------


@register_pass(mutates_CFG=True, analysis_only=False)
class BeforeInference(FunctionPass):
    """The stage ``before_inference``."""

    _name = "overlay_before_inference"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        if not has_stage(state.pipeline.world, "before_inference"):
            return False
        for block in state.func_ir.blocks.values():
            block.body = [new for old in block.body for new in _as_call(block, old)]
        state.func_ir._definitions = build_definitions(state.func_ir.blocks)
        _run(state, "before_inference", _shown_ir(state))
        return True


def _as_call(block: Any, statement: Any) -> list[Any]:
    """A statement; the call of ``print`` that numba has already taken as one, in a closure."""
    if not isinstance(statement, ir.Print):
        return [statement]
    loc = statement.loc
    function, result = (block.scope.redefine(f"$overlay_{n}", loc) for n in ("print", "none"))
    call = ir.Expr.call(function, statement.args, (), loc, vararg=statement.vararg)
    return [ir.Assign(ir.Global("print", print, loc), function, loc), ir.Assign(call, result, loc)]


# ---- while types are inferred -------------------------------------------------------------


@register_pass(mutates_CFG=True, analysis_only=False)
class Inference(NopythonTypeInference):
    """numba's; a function may return one of numba's own functions, for plugins to see its calls."""

    _name = "overlay_inference"

    def run_pass(self, state: Any) -> bool:
        try:
            return super().run_pass(state)
        except errors.TypingError:
            if not isinstance(state.return_type, types.Function):
                raise
            return True


class Inferred(NamedTuple):
    """A call that plugins gave another type of result, and its signature without them."""

    expr: Any
    signature: Any
    given: Type


class AskingCallStack(CallStack):
    """Has each function whose types are inferred ask the stage ``infer`` about its calls."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world
        self.inferred: dict[int, Inferred] = {}

    def register(self, target: Any, typeinfer: Any, func_id: Any, args: Any) -> Any:
        if has_stage(self.world, "infer"):
            typeinfer.constraints = _Asking(self, typeinfer)
        return super().register(target, typeinfer, func_id, args)


class _Asking(ConstraintNetwork):
    """The constraints of one function: those of calls ask."""

    def __init__(self, stack: AskingCallStack, typeinfer: Any) -> None:
        super().__init__()
        self.world = stack.world
        self.inferred = stack.inferred
        self.function = _function(typeinfer.func_ir.func_id)
        self._known: dict[Any, Any] = {}

    def append(self, constraint: Any) -> None:
        if isinstance(constraint, CallConstraint):
            constraint = _AskingCall(self, constraint)
        super().append(constraint)

    def asked(self, typeinfer: Any, constraint: Any, sig: Any, args: Any) -> Any:
        """The signature of a call, with the result that the plugins say."""
        expr = next(expr for expr, of in typeinfer.calls if of is constraint)
        key = id(expr), tuple(args), sig
        if key not in self._known:
            self._known[key] = self._ask(typeinfer, constraint, expr, sig, args)
        given = self._known[key]
        self.inferred.pop(id(expr), None)
        if given is None or given == sig.return_type:
            return sig
        self.inferred[id(expr)] = Inferred(expr, sig, given)
        return sig.replace(return_type=given)

    def _ask(self, typeinfer: Any, constraint: Any, expr: Any, sig: Any, args: Any) -> Type | None:
        target = ir.Var(None, constraint.target, expr.loc)
        typemap = {name: var.getone() for name, var in typeinfer.typevars.items() if var.defined}
        shown = NumbaIR(typeinfer.func_ir, self.function, typemap=typemap)
        call = shown.call_of(ir.Assign(expr, target, expr.loc), args)
        if call is None:
            return None
        call = replace(call, result_type=spelt(sig.return_type))
        with errors_carried(self.world):
            return self._answer(call, sig.return_type)

    def _answer(self, call: Call, found: Type) -> Type | None:
        given = found
        for plugin, answer in answers(self.world.plugins, "infer", call, "result_type"):
            given = numba_type(answer)
            if self.world.typing.can_convert(found, given) is None:
                raise OverlayError(
                    f"{plugin!r} has the result of {name_of(call.target)}, a {found}, inferred as "
                    f"{given}, to which it cannot be converted",
                    where=call.where,
                    help="give a type that the result can be converted to, or None",
                )
        return given


class _AskingCall:
    """The constraint of a call, that asks each time that the call is resolved."""

    def __init__(self, network: _Asking, constraint: Any) -> None:
        self.network = network
        self.constraint = constraint
        self.loc = constraint.loc

    def __call__(self, typeinfer: Any) -> None:
        outer = vars(typeinfer).get("resolve_call")
        typeinfer.resolve_call = functools.partial(self._resolve, typeinfer)
        try:
            self.constraint(typeinfer)
        finally:
            if outer is None:
                del typeinfer.resolve_call
            else:
                typeinfer.resolve_call = outer

    def _resolve(self, typeinfer: Any, fnty: Any, args: Any, kws: Any) -> Any:
        sig = TypeInferer.resolve_call(typeinfer, fnty, args, kws)
        if sig is None or not sig.return_type.is_precise():
            return sig
        return self.network.asked(typeinfer, self.constraint, sig, args)


def _convert_inferred(state: Any) -> None:
    """Have calls whose result the plugins gave another type convert it."""
    inferred = state.typingctx.callstack.inferred
    for block in state.func_ir.blocks.values() if inferred else ():
        body: list[Any] = []
        for statement in block.body:
            found = inferred.pop(id(getattr(statement, "value", None)), None)
            body += [statement] if found is None else _converted(state, statement, found)
        block.body = body


def _converted(state: Any, assign: Any, found: Inferred) -> list[Any]:
    raw, given = new_variable(assign), new_variable(assign)
    state.typemap[raw.name] = found.signature.return_type
    state.typemap[given.name] = found.given
    state.calltypes.pop(found.expr)
    state.calltypes[found.expr] = found.signature
    state.func_ir._definitions[raw.name] = [found.expr]
    state.func_ir._definitions[given.name] = [raw]
    redefine(state.func_ir, assign, given)
    loc = assign.loc
    return [ir.Assign(found.expr, raw, loc), ir.Assign(raw, given, loc), assign]


# ---- when types are known -----------------------------------------------------------------


@register_pass(mutates_CFG=True, analysis_only=False)
class Typed(FunctionPass):
    """What ``infer`` said is done, then the stages ``inline`` and ``after_inference`` run."""

    _name = "overlay_typed"

    def __init__(self) -> None:
        FunctionPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        _convert_inferred(state)
        with errors_carried(state.pipeline.world):
            _Inlining(state).run()
        if has_stage(state.pipeline.world, "after_inference"):
            _run(state, "after_inference", _shown_ir(state))
        return True


class _Inlining:
    """Puts bodies in place of calls, as the plugins say and ``@njit(inline="always")`` does."""

    def __init__(self, state: Any) -> None:
        self.state = state
        self.world: World = state.pipeline.world
        self.asks = has_stage(self.world, "inline")
        # the dispatchers whose bodies a block came with, so that recursion ends
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
        """Inline the first call of a block that is to be; the labels of the blocks that came."""
        block, shown = self.state.func_ir.blocks[label], _shown_ir(self.state)
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
            found = ty.outcome(*_types(self.state, expr)).callee
        else:
            found = ty.dispatcher if isinstance(ty, types.Dispatcher) else None
        return found if isinstance(found, InnerDispatcher) else None

    def _wanted(
        self, shown: NumbaIR, assign: Any, callee: InnerDispatcher, label: int
    ) -> str | None:
        """Who wants a call inlined, or None where it is to stay a call."""
        by = f"@njit(inline='always') of {name_of(callee.function)}" if callee.inlined else None
        call = shown.call_of(assign) if self.asks else None
        if call is not None:
            call = replace(call, inlined=callee.inlined or None)
            for plugin, answer in answers(self.world.plugins, "inline", call, "inlined"):
                by = repr(plugin) if answer else None
                if not answer:
                    self._keep(assign, callee)
        chain = (innermost(), *self.within.get(label, ()))
        return None if any(callee.function is each.function for each in chain) else by

    def _keep(self, assign: Any, callee: InnerDispatcher) -> None:
        """Have LLVM leave a call as it is."""
        _, args = callee.fold_argument_types(*_types(self.state, assign.value))
        found = callee.overloads.get(args)
        if found is not None:
            innermost().kept_calls.add(found.fndesc.llvm_func_name)

    def _inline(self, label: int, place: int, callee: InnerDispatcher, by: str) -> list[int]:
        if callee.world is not self.world:
            raise self._cannot(callee, by, "other plugins are active in it")
        state, block = self.state, self.state.func_ir.blocks[label]
        expr = block.body[place].value
        parameters = inspect.signature(callee.py_func).parameters.values()
        if expr.vararg is not None or any(p.kind is p.VAR_POSITIONAL for p in parameters):
            raise self._cannot(callee, by, "it takes *arguments")
        _, args = callee.fold_argument_types(*_types(state, expr))
        given = [type_of_constant(a.value) if isinstance(a, types.Omitted) else a for a in args]
        worker = self._worker(callee, tuple(given))
        try:
            _, _, _, new = worker.inline_function(
                state.func_ir, block, place, callee.py_func, tuple(given)
            )
        except errors.UnsupportedError as error:
            raise self._cannot(callee, by, str(error)) from error
        chain = (*self.within.get(label, ()), callee)
        _convert_inferred(state)
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
            f"{by} inlines {name_of(callee.function)}, which cannot be: {reason}",
            where=location_of(callee.function),
            help="leave it a call: inline() gives None or False",
        )


def _types(state: Any, expr: Any) -> tuple[tuple[Type, ...], dict[str, Type]]:
    given = tuple(state.typemap[var.name] for var in expr.args)
    if expr.vararg is not None:
        given += tuple(state.typemap[expr.vararg.name].types)
    return given, {name: state.typemap[var.name] for name, var in expr.kws}


# ---- LLVM ---------------------------------------------------------------------------------


class _Hook:
    """What numba calls when it has lowered a function."""

    def __init__(self, lower: _Lower) -> None:
        self.lower: _Lower | None = lower

    def __call__(self, module: Any, library: Any) -> None:
        # else it is an implementation of numba's own that the function needs
        if self.lower is not None and module is self.lower.module:
            self.lower.hand_on()


class _Lower(Lower):
    """Lowers a function, and hands its LLVM module to the stage ``after_codegen``."""

    def lower(self) -> None:
        hook = _Hook(self)
        self.context = self.context.subtarget(post_lowering=hook)
        try:
            super().lower()
        finally:
            hook.lower = None  # numba keeps the context with what it compiled of its own

    def hand_on(self) -> None:
        """Let the plugins have the module."""
        dispatcher, module = innermost(), self.module
        if dispatcher.kept_calls:
            _keep_calls(module, dispatcher.kept_calls)
        world = dispatcher.world
        with errors_carried(world):
            given = run_stage(world.plugins, "after_codegen", module, dispatcher.function)
            if not isinstance(given, llvm.Module):
                raise OverlayError(
                    f"after_codegen of {name_of(dispatcher.function)} gave {given!r}",
                    help="edit the module in place, or give an llvmlite.ir.Module",
                )
        self.module = given


def _keep_calls(module: Any, names: set[str]) -> None:
    for function in module.functions:
        for block in function.blocks:
            for instruction in block.instructions:
                callee = getattr(instruction, "callee", None)
                if getattr(callee, "name", None) in names:
                    instruction.attributes.add("noinline")


class _Library(JITCodeLibrary):
    """Hands its LLVM module to plugins before it is optimised, and after."""

    dispatcher: InnerDispatcher

    def _optimize_final_module(self) -> None:
        self._hand_on("before_optimisation")
        super()._optimize_final_module()
        self._hand_on("after_optimisation")
        del self.dispatcher  # numba keeps the library until the dispatcher goes

    def _hand_on(self, stage: str) -> None:
        world, function = self.dispatcher.world, self.dispatcher.function
        if not has_stage(world, stage):
            return
        with errors_carried(world):
            given = run_stage(world.plugins, stage, self._final_module, function)
            if isinstance(given, str):
                given = _parsed(given, stage, function)
            if not isinstance(given, binding.ModuleRef):
                raise OverlayError(
                    f"{stage} of {name_of(function)} gave {given!r}",
                    help="give LLVM IR as text, or edit the module that llvmlite.binding has",
                )
        if given is not self._final_module:
            given.name = self._final_module.name
            self._final_module = given


def _parsed(text: str, stage: str, function: Any) -> Any:
    try:
        module = binding.parse_assembly(text)
        module.verify()
    except RuntimeError as error:
        raise OverlayError(
            f"{stage} of {name_of(function)} gave LLVM IR that cannot be read: {error}",
            help="give what str(module) gives, edited",
        ) from error
    return module


@register_pass(mutates_CFG=True, analysis_only=False)
class Lowering(NativeLowering):
    """numba's, with the stages of LLVM."""

    _name = "overlay_lowering"

    def run_pass(self, state: Any) -> bool:
        library = _Library(state.targetctx.codegen(), state.func_id.func_qualname)
        library.dispatcher = innermost()
        library.enable_object_caching()
        state.library = library
        return super().run_pass(state)

    @property
    def lowering_class(self) -> Any:
        return _Lower


@register_pass(mutates_CFG=True, analysis_only=False)
class ParallelLowering(NativeParforLowering):
    """numba's, of code for several cores, of which plugins see no LLVM."""

    _name = "overlay_parallel_lowering"

    def run_pass(self, state: Any) -> bool:
        world: World = state.pipeline.world
        for plugin in world.plugins:
            stages = [stage for stage in stages_of(plugin) if stage in LLVM_STAGES]
            if stages or innermost().kept_calls:
                error = NotCompilable(
                    f"{plugin!r} has {(*stages, 'inline')[0]}, which does not see code for several "
                    f"cores, and {name_of(innermost().function)} is compiled with parallel=True",
                    help="leave parallel=True out, or let enter() bail out here",
                )
                raise refused(world, error)
        return super().run_pass(state)


REPLACED: Final = {
    NopythonTypeInference: Inference,
    NativeLowering: Lowering,
    NativeParforLowering: ParallelLowering,
}
