"""The stage ``infer``: plugins set the result types of calls during type inference."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from numba.core import ir
from numba.core.typeinfer import CallConstraint, ConstraintNetwork, TypeInferer
from numba.core.typing.context import CallStack

from overlay.compiled.numba.hints import numba_type, spelt
from overlay.compiled.numba.hooks import edited, errors_carried, function_of, metadata_of
from overlay.compiled.numba.ir_edits import new_variable, redefine
from overlay.compiled.numba.numba_types import Type
from overlay.compiled.numba.shown_ir import NumbaIR
from overlay.core.errors import OverlayError
from overlay.core.location import name_of
from overlay.core.short_repr import a_or_an
from overlay.ir import Call
from overlay.plugins.plugin import answers

if TYPE_CHECKING:
    from overlay.compiled.world import World

__all__ = ["AskingCallStack", "convert_inferred"]


class Inferred(NamedTuple):
    """A call with a result type from a plugin, and its signature without that."""

    expr: Any
    signature: Any
    given: Type


class AskingCallStack(CallStack):
    """Call stack of type inference that runs the stage ``infer`` at the calls of each function."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self.world = world
        self.inferred: dict[int, Inferred] = {}

    def register(self, target: Any, typeinfer: Any, func_id: Any, args: Any) -> Any:
        if edited(self.world, typeinfer.func_ir.func_id, "infer"):
            typeinfer.constraints = _Asking(self, typeinfer)
        return super().register(target, typeinfer, func_id, args)


class _Asking(ConstraintNetwork):
    """The constraints of one function, in which those of calls consult the plugins."""

    def __init__(self, stack: AskingCallStack, typeinfer: Any) -> None:
        super().__init__()
        self.world = stack.world
        self.inferred = stack.inferred
        self.function = function_of(typeinfer.func_ir.func_id)
        self._known: dict[Any, Any] = {}

    def append(self, constraint: Any) -> None:
        if isinstance(constraint, CallConstraint):
            constraint = _AskingCall(self, constraint)
        super().append(constraint)

    def asked(self, typeinfer: Any, constraint: Any, sig: Any, args: Any) -> Any:
        """The signature of a call, with the result type from the plugins."""
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
        shown = NumbaIR(
            typeinfer.func_ir, self.function, typemap=typemap, metadata=metadata_of(self.world)
        )
        call = shown.call_of(ir.Assign(expr, target, expr.loc), args)
        if call is None:
            return None
        call = replace(call, result_type=spelt(sig.return_type))
        with errors_carried(self.world):
            return self._answer(call, sig.return_type)

    def _answer(self, call: Call, found: Type) -> Type | None:
        given = found
        for plugin, answer in answers(self.world.plugins, "infer", call, "result_type"):
            try:
                given = numba_type(answer)
            except OverlayError as error:
                error.asked = f"{plugin!r} infers {name_of(call.target)} as {error.asked}"
                error.where = call.where
                raise
            if self.world.typing.can_convert(found, given) is None:
                raise OverlayError(
                    f"{plugin!r} infers {given} as the result type of {name_of(call.target)}, to "
                    f"which its result, {a_or_an(found)}, cannot be converted",
                    where=call.where,
                    help="return a type that the result can be converted to, or None",
                )
        return given


class _AskingCall:
    """The constraint of a call that consults the plugins each time that the call is resolved."""

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


def convert_inferred(state: Any) -> None:
    """Insert conversions of the results whose types plugins have set."""
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
