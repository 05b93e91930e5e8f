"""numba's representation of a function, as ``overlay.ir`` shows it to plugins."""

from __future__ import annotations

import types as python_types
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numba.core import errors, ir, types
from numba.core.ir_utils import get_definition, guard

from overlay.compiled import failures
from overlay.compiled.numba.dispatchers import InnerDispatcher
from overlay.compiled.numba.hints import spelt
from overlay.compiled.numba.ir_edits import defined_before, new_variable, operands_of, redefine
from overlay.compiled.numba.numba_types import (
    BoundCallee,
    CalleeType,
    StandIn,
    Type,
    is_dispatcher,
)
from overlay.compiled.numba.numba_typing import is_written_by_numba
from overlay.compiled.resolved_calls import has_code
from overlay.contexts.context import call_next
from overlay.core.errors import NotCompilable, OverlayError
from overlay.core.location import location_of, name_of, shown
from overlay.core.target import key_of_target
from overlay.ir import IR, UNKNOWN, Call, Variable

if TYPE_CHECKING:
    from overlay.analysis.runs import Run, Step

__all__ = ["NumbaIR", "callable_of", "of_program"]


class NumbaIR(IR):
    """One function; typing, typemap and calltypes where types are known.

    bind: what stands in this function for a callable of the program. analyse: analyses the
    function as it is now.
    """

    def __init__(
        self,
        func_ir: Any,
        function: Callable[..., Any],
        *,
        bind: Callable[[Any], Any] | None = None,
        typing: Any = None,
        typemap: dict[str, Type] | None = None,
        calltypes: dict[Any, Any] | None = None,
        interpretation: Any = None,
        analyse: Callable[[NumbaIR], Run | None] | None = None,
        metadata: Any = None,
    ) -> None:
        self.func_ir = func_ir
        self.function = function
        self.interpretation = interpretation
        self.metadata = metadata
        self.typemap = typemap
        self.calltypes = calltypes
        self._typing = typing
        self._bind = bind
        self._analyse = analyse
        self._analysis: tuple[Run | None] | None = None

    @property
    def arguments(self) -> tuple[Variable, ...]:
        found = [s for _, s in self._assignments() if isinstance(s.value, ir.Arg)]
        return tuple(Variable(s.target.name) for s in sorted(found, key=lambda s: s.value.index))

    @property
    def is_typed(self) -> bool:
        return self.typemap is not None

    @property
    def where(self) -> str:
        return location_of(self.function)

    def __str__(self) -> str:
        return self.func_ir.dump_to_string()

    # ---- the interpretation in force ----

    @property
    def analysis(self) -> Run | None:
        if self._analysis is None:
            self._analysis = (None if self._analyse is None else self._analyse(self),)
        return self._analysis[0]

    def analysed(self, call: Call) -> Step | None:
        steps = [] if self.analysis is None else self.analysis.steps
        _, expr = call.native
        return next((step for step in steps if step.statement.native is expr), None)

    # ---- looking ----

    def _assignments(self) -> Iterator[tuple[Any, Any]]:
        for _, block in sorted(self.func_ir.blocks.items()):
            for statement in block.body:
                if isinstance(statement, ir.Assign):
                    yield block, statement

    def calls(self, *targets: Any) -> tuple[Call, ...]:
        wanted = set(map(key_of_target, targets))
        found = [c for _, s in self._assignments() if (c := self.call_of(s)) is not None]
        return tuple(c for c in found if not targets or key_of_target(c.target) in wanted)

    def call_of(self, assign: Any, types_: Sequence[Type] | None = None) -> Call | None:
        """The call that an assignment makes, or None.

        types_: of the positional arguments, while types are being inferred.
        """
        expr = assign.value
        if not isinstance(expr, ir.Expr):
            return None
        if expr.op == "call":
            if self._is_implicit(assign):
                return None
            target, args = self._target(expr.func), self._args(expr)
            kwargs = {name: Variable(var.name) for name, var in expr.kws}
        else:
            operands = operands_of(expr)
            if not operands:
                return None
            target, kwargs = expr.fn, dict[str, Variable]()
            args = tuple(Variable(v.name) for v in operands)
        if types_ is None and self.typemap is not None:
            types_ = self._types(expr, args)
        result = Variable(assign.target.name)
        return Call(
            target,
            args,
            kwargs,
            result,
            shown(expr.loc.filename, expr.loc.line),
            self.function,
            types=None if types_ is None else tuple(map(spelt, types_)),
            result_type=self.type_of(result),
            constants=tuple(UNKNOWN if v is None else self.constant(v) for v in args),
            metadata=self.metadata,
            native=(assign, expr),
        )

    def _types(self, expr: Any, args: Sequence[Variable | None]) -> list[Type]:
        assert self.typemap is not None
        given = [self.typemap[v.name] for v in args if v is not None]
        if args and args[-1] is None:
            given += self.typemap[expr.vararg.name].types
        return given

    @staticmethod
    def _args(expr: Any) -> tuple[Variable | None, ...]:
        given = tuple(Variable(v.name) for v in expr.args)
        return given if expr.vararg is None else (*given, None)

    def _is_implicit(self, assign: Any) -> bool:
        """Whether numba wrote the call for an instruction, such as a test of a branch."""
        function = assign.value.func
        value = self._definition(function)
        if not isinstance(value, ir.Global) or not is_written_by_numba(value.value):
            return False
        if value.value is bool:
            return not self._is_read(assign.target.name, but=ir.Branch)
        return function.name.startswith("$") and "load_" not in function.name

    def _is_read(self, name: str, but: Any = ()) -> bool:
        statements = (s for block in self.func_ir.blocks.values() for s in block.body)
        return any(name in _read_by(s) for s in statements if not isinstance(s, but))

    def _definition(self, var: Any) -> Any:
        return guard(get_definition, self.func_ir, var)

    def _target(self, var: Any) -> Any:
        found = self.constant(Variable(var.name))
        if found is UNKNOWN and self.typemap is not None:
            found = callable_of(self.typemap[var.name])
        return found

    def constant(self, variable: Variable) -> Any:
        found = self._constant(self._definition(variable.name))
        known = None if self.typemap is None else self.typemap.get(variable.name)
        if found is UNKNOWN and isinstance(known, types.Literal):
            found = known.literal_value
        return found

    def _constant(self, value: Any) -> Any:
        if isinstance(value, (ir.Const, ir.Global, ir.FreeVar)):
            return of_program(value.value)
        if not isinstance(value, ir.Expr):
            return UNKNOWN
        if value.op == "build_tuple":
            items = tuple(self.constant(Variable(v.name)) for v in value.items)
            return UNKNOWN if any(item is UNKNOWN for item in items) else items
        if value.op == "unary":
            operand = self.constant(Variable(value.value.name))
            return value.fn(operand) if type(operand) in (int, float, complex) else UNKNOWN
        if value.op == "getattr":
            owner = self.constant(Variable(value.value.name))
            if isinstance(owner, python_types.ModuleType):
                return getattr(owner, value.attr, UNKNOWN)
        return UNKNOWN

    def type_of(self, variable: Variable) -> Any:
        return None if self.typemap is None else spelt(self.numba_type_of(variable))

    def numba_type_of(self, variable: Variable) -> Any:
        return None if self.typemap is None else self.typemap.get(variable.name)

    def is_used(self, variable: Variable) -> bool:
        return self._is_read(variable.name)

    # ---- editing ----

    def replace(
        self, call: Call, target: Any, *args: Any, kwargs: Mapping[str, Any] | None = None
    ) -> Call:
        block, place, assign = self._place(call)
        made, last = self._made(assign, target, args, kwargs or {})
        self._forget(assign)
        if self.typemap is not None:
            given, wanted = self.typemap[last.target.name], self.typemap[assign.target.name]
            if given != wanted:
                self._check_converts(call, target, given, wanted)
                redefine(self.func_ir, assign, last.target)
                block.body[place:place] = [*made, last]
                return self._call(last)
            del self.typemap[last.target.name]
        block.body[place:place] = made
        redefine(self.func_ir, assign, last.value)
        return self._call(assign)

    def set_result(self, call: Call, value: Any) -> None:
        block, place, assign = self._place(call)
        made: list[Any] = []
        var = self._operand(assign, value, made)
        if self.typemap is not None:
            given, wanted = self.typemap[var.name], self.typemap[assign.target.name]
            self._check_converts(call, value, given, wanted)
        self._forget(assign)
        block.body[place:place] = made
        redefine(self.func_ir, assign, var)

    def delete(self, call: Call) -> None:
        block, place, assign = self._place(call)
        if self.is_used(call.result):
            raise self._cannot(
                f"delete the call of {_shown(call.target)}, of which the result is used",
                call.where,
                "give what takes its place: ir.set_result(call, value)",
            )
        self._forget(assign)
        del block.body[place]

    def insert_before(self, call: Call, target: Any, *args: Any) -> Variable:
        block, place, assign = self._place(call)
        return self._insert(block, place, assign, target, args)

    def insert_after(self, call: Call, target: Any, *args: Any) -> Variable:
        block, place, assign = self._place(call)
        return self._insert(block, place + 1, assign, target, args)

    def insert_first(self, target: Any, *args: Any) -> Variable:
        _, block = min(self.func_ir.blocks.items())
        given = [i for i, s in enumerate(block.body) if isinstance(getattr(s, "value", 0), ir.Arg)]
        place = given[-1] + 1 if given else 0
        return self._insert(block, place, block.body[max(place - 1, 0)], target, args)

    def _insert(
        self, block: Any, place: int, near: Any, target: Any, args: Sequence[Any]
    ) -> Variable:
        self._analysis = None
        made, last = self._made(near, target, args, {})
        block.body[place:place] = [*made, last]
        return Variable(last.target.name)

    def _place(self, call: Call) -> tuple[Any, int, Any]:
        """The block of a call that is to be edited, where in it, and the assignment."""
        self._analysis = None
        assign, expr = call.native
        for block in self.func_ir.blocks.values():
            for place, statement in enumerate(block.body):
                if statement is assign and assign.value is expr:
                    return block, place, assign
        raise self._cannot(
            f"edit the call of {_shown(call.target)}, which is not in it any more",
            call.where,
            "ask for ir.calls() anew after an edit",
        )

    def _call(self, assign: Any) -> Call:
        call = self.call_of(assign)
        assert call is not None
        return call

    def _forget(self, assign: Any) -> None:
        if self.calltypes is not None:
            self.calltypes.pop(assign.value, None)

    def _made(
        self, near: Any, target: Any, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[list[Any], Any]:
        """Statements that prepare a call, and the one that makes it."""
        made: list[Any] = []
        function = self._operand(near, target, made)
        given = [self._operand(near, a, made) for a in args]
        named = [(name, self._operand(near, a, made)) for name, a in kwargs.items()]
        expr = ir.Expr.call(function, given, named, near.loc)
        last = ir.Assign(expr, new_variable(near), near.loc)
        self.func_ir._definitions[last.target.name] = [expr]
        if self.typemap is not None and self.calltypes is not None:
            sig = self._signature(target, function, given, named, near)
            self.calltypes[expr] = sig
            self.typemap[last.target.name] = sig.return_type
        return made, last

    def _operand(self, near: Any, value: Any, made: list[Any]) -> Any:
        """The variable that holds a value; what it takes to have it is added to ``made``."""
        if isinstance(value, Variable):
            return ir.Var(near.target.scope, value.name, near.loc)
        bound = self._bound(value)
        kind = ir.Global("overlay", bound, near.loc) if bound is not None else None
        assign = defined_before(self.func_ir, near, kind or ir.Const(value, near.loc))
        if self.typemap is not None:
            ty = getattr(bound, "_numba_type_", None)
            try:
                ty = ty or self._typing.resolve_value_type(value)
            except ValueError:
                where = shown(near.loc.filename, near.loc.line)
                raise self._cannot(
                    f"hold {value!r}", where, "give a value that compiled code can hold"
                ) from None
            self.typemap[assign.target.name] = ty
        made.append(assign)
        return assign.target

    def _bound(self, value: Any) -> Any | None:
        """What stands for a callable; None for any other constant."""
        if not callable(value):
            return None
        stand_in = None if self._bind is None else self._bind(value)
        return value if stand_in is None else stand_in

    def _signature(
        self, target: Any, function: Any, args: Sequence[Any], kws: Iterable[Any], near: Any
    ) -> Any:
        assert self.typemap is not None
        types_ = tuple(self.typemap[v.name] for v in args)
        named = {name: self.typemap[v.name] for name, v in kws}
        try:
            found = self._typing.resolve_function_type(self.typemap[function.name], types_, named)
        except errors.NumbaError as error:
            failure = failures.failure_in(str(error))
            if failure is not None:
                raise failure.raised() from None
            found, reason = None, failures.shortened(str(error))
        else:
            reason = []
        if found is None:
            shown_ = ", ".join(map(str, (*types_, *named.values())))
            where = shown(near.loc.filename, near.loc.line)
            notes = [("numba", line) for line in reason]
            if has_code(target) or is_dispatcher(
                target
            ):  # whose own code it is that cannot be compiled
                raise NotCompilable(
                    f"{_shown(target)}({shown_}), which was put into {self.name}, cannot be "
                    "compiled",
                    where=location_of(target),
                    notes=[*notes, ("put in", where)],
                    help=f"mend {_shown(target)}, or call it with other types",
                )
            error = self._cannot(
                f"call {_shown(target)}({shown_})",
                where,
                "insert calls before types are known, in before_inference, or of other types",
            )
            error.notes = tuple(notes)
            raise error
        return found

    def _check_converts(self, call: Call, given: Any, ty: Type, wanted: Type) -> None:
        if self._typing.can_convert(ty, wanted) is None:
            raise self._cannot(
                f"put {_shown(given)}, of type {ty}, in place of {_shown(call.target)}, whose "
                f"type is {wanted}",
                call.where,
                "give what can be converted, or edit before types are known",
            )

    def _cannot(self, what: str, where: str, remedy: str) -> OverlayError:
        return OverlayError(f"cannot {what}, in {self.name}", where=where, help=remedy)


def _shown(target: Any) -> str:
    return name_of(target) if callable(target) else repr(target)


def _read_by(statement: Any) -> set[str]:
    """The names of the variables that a statement reads."""
    if isinstance(statement, ir.Del):
        return set()
    if not isinstance(statement, ir.Assign):
        return {var.name for var in statement.list_vars()}
    value = statement.value
    if isinstance(value, ir.Var):
        return {value.name}
    return {var.name for var in value.list_vars()} if isinstance(value, ir.Inst) else set()


def of_program(value: Any) -> Any:
    """What a stand-in stands for."""
    if isinstance(value, InnerDispatcher):
        return value.function
    if getattr(value, "after", None) and isinstance(value, StandIn):
        return call_next
    if not isinstance(value, StandIn):
        return value
    try:
        return value.in_python()
    except NotImplementedError:
        return UNKNOWN


def callable_of(ty: Type) -> Any:
    """The callable that all values of a type are, or UNKNOWN."""
    if isinstance(ty, CalleeType):
        return of_program(ty.callee)
    if isinstance(ty, BoundCallee):
        return callable_of(ty.function)
    if isinstance(ty, types.Dispatcher):
        return of_program(ty.dispatcher)
    key = getattr(ty, "typing_key", None)
    return key if callable(key) else UNKNOWN
