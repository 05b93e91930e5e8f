"""``overlay.ir`` for plugins, on top of numba's IR of a function."""

from __future__ import annotations

import functools
import types as python_types
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numba.core import errors, ir, types
from numba.core.compiler import run_frontend
from numba.core.ir_utils import build_definitions, get_definition, guard
from numba.core.registry import cpu_target
from numba.core.rewrites import rewrite_registry
from numba.core.ssa import reconstruct_ssa
from numba.core.typed_passes import PreLowerStripPhis, type_inference_stage
from numba.core.untyped_passes import RewriteDynamicRaises

from overlay.compiled import failures
from overlay.compiled.numba.chosen_functions import ChosenType
from overlay.compiled.numba.hints import numba_type, spelt
from overlay.compiled.numba.inserted_calls import InsertedCalls, shown_target
from overlay.compiled.numba.ir_edits import INSERTED, operands_of, redefine
from overlay.compiled.numba.numba_types import (
    BoundCallee,
    CalleeType,
    Type,
    has_code,
)
from overlay.compiled.numba.numba_typing import is_written_by_numba
from overlay.compiled.numba.shown_flow import (
    LOOKUPS,
    NumbaFlow,
    of_program,
    operands_read,
    print_as_call,
)
from overlay.contexts.context import Context
from overlay.core.errors import NotCompilable
from overlay.core.location import location_of, name_of, shown
from overlay.core.public_names import hides
from overlay.core.target import key_of_target, refuse_values
from overlay.ir import (
    IR,
    UNKNOWN,
    Call,
    RaisePoint,
    Variable,
    takes,
)

if TYPE_CHECKING:
    from overlay.analysis.runs import Run, Step

__all__ = ["NumbaIR", "callable_of", "read"]


RAISING = (ir.Raise, ir.StaticRaise, ir.DynamicRaise)


class _Reader:
    """Reads numba's IR of one function: its calls and constants, in terms of the program."""

    def __init__(self, func_ir: Any, typemap: dict[str, Type] | None) -> None:
        self.func_ir = func_ir
        self.typemap = typemap

    def assignments(self) -> Iterator[tuple[Any, Any]]:
        """All assignments, each with its block."""
        for _, block in sorted(self.func_ir.blocks.items()):
            for statement in block.body:
                if isinstance(statement, ir.Assign):
                    yield block, statement

    def is_read(self, name: str, but: Any = ()) -> bool:
        """Whether a variable is read, by statements of other classes than ``but``."""
        statements = (s for block in self.func_ir.blocks.values() for s in block.body)
        return any(name in operands_read(s) for s in statements if not isinstance(s, but))

    def result_type(self) -> Type | None:
        """The type of what is returned; None before types are known, and where nothing is."""
        ends = (block.terminator for block in self.func_ir.blocks.values())
        returned = next((end for end in ends if isinstance(end, ir.Return)), None)
        if returned is None or self.typemap is None:
            return None
        return self.typemap[returned.value.name]

    def is_implicit(self, assign: Any) -> bool:
        """Whether numba generated the call for an instruction, such as the test of a branch."""
        function = assign.value.func
        value = self._definition(function)
        is_inserted = function.name.startswith(INSERTED)
        if is_inserted or not (isinstance(value, ir.Global) and is_written_by_numba(value.value)):
            return False
        if value.value is bool:
            return not self.is_read(assign.target.name, but=ir.Branch)
        return function.name.startswith("$") and "load_" not in function.name

    def target(self, var: Any) -> Any:
        """The callable that a variable holds, or UNKNOWN."""
        found = self.constant(Variable(var.name))
        if found is UNKNOWN and self.typemap is not None:
            found = callable_of(self.typemap.get(var.name))
        return vars(found).get("stands_for", found) if has_code(found) else found

    def functions(self, var: Any, seen: frozenset[str] = frozenset()) -> list[Any]:
        """The functions one of which a variable holds; none where they are not known."""
        target = self.target(var)
        if target is not UNKNOWN or var.name in seen:
            return [target] if callable(target) else []
        ty = None if self.typemap is None else self.typemap.get(var.name)
        if isinstance(ty, ChosenType):
            return ty.functions
        seen |= {var.name}
        found = [self._chosen(each, seen) for each in self.func_ir._definitions[var.name]]
        return [f for each in found for f in each] if all(found) else []

    def _chosen(self, value: Any, seen: frozenset[str]) -> list[Any]:
        """The functions one of which is the value of an expression."""
        if isinstance(value, (ir.Const, ir.Global, ir.FreeVar)):
            known = of_program(value.value)
            return [known] if callable(known) else []
        if isinstance(value, ir.Var):
            return self.functions(value, seen)
        op = value.op if isinstance(value, ir.Expr) else None
        parts: Sequence[Any] = ()
        if op == "phi":
            parts = value.incoming_values
        elif op == "getattr":
            known = self._constant(value)
            return [known] if callable(known) else []
        elif op in ("getitem", "static_getitem"):
            made = self._definition(value.value)
            parts = made.items if isinstance(made, ir.Expr) and made.op == "build_tuple" else ()
        elif op == "call" and any(self.target(value.func) is each for each in LOOKUPS):
            parts = value.args[1:]
        found = [self.functions(part, seen) for part in parts]
        return [f for each in found for f in each] if all(found) else []

    @staticmethod
    def arguments(expr: Any) -> tuple[Variable | None, ...]:
        """The positional arguments of a call; None for ``*arguments``."""
        given = tuple(Variable(v.name) for v in expr.args)
        return given if expr.vararg is None else (*given, None)

    def types(self, expr: Any, args: Sequence[Variable | None]) -> list[Type | None]:
        """The types of the positional arguments, or operands, where types are known; None for those
        that are not yet."""
        assert self.typemap is not None
        given: list[Any] = [self.typemap.get(v.name) for v in args if v is not None]
        if args and args[-1] is None:
            given += getattr(self.typemap.get(expr.vararg.name), "types", ())
        return given

    def constant(self, variable: Variable) -> Any:
        """The value of a variable if it is known; else UNKNOWN."""
        found = self._constant(self._definition(variable.name))
        known = None if self.typemap is None else self.typemap.get(variable.name)
        if found is UNKNOWN and isinstance(known, types.Literal):
            found = known.literal_value
        return found

    def _definition(self, var: Any) -> Any:
        return guard(get_definition, self.func_ir, var)

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


@hides("call_of", "calltypes", "func_ir", "typemap")
class NumbaIR(NumbaFlow, IR):
    """IR of one function; typing, typemap and calltypes are given where types are known.

    bind: returns the stand-in of a callable in this function. analyse: analyses the function in its
    present state.
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
        self._reader = _Reader(func_ir, typemap)
        self._inserted = InsertedCalls(func_ir, self.name, bind, typing, typemap, calltypes)
        self._analyse = analyse
        self._analysis: tuple[Run | None] | None = None

    @property
    def arguments(self) -> tuple[Variable, ...]:
        return tuple(map(Variable, self.func_ir.arg_names))

    @property
    def is_typed(self) -> bool:
        return self.typemap is not None

    @property
    def result_type(self) -> Any:
        return spelt(self._reader.result_type())

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

    @takes(Call)
    def analysed(self, call: Call) -> Step | None:
        steps = [] if self.analysis is None else self.analysis.steps
        _, expr = call.native
        return next((step for step in steps if step.statement.native is expr), None)

    # ---- inspecting ----

    def calls(self, *targets: Any) -> tuple[Call, ...]:
        for target in targets:
            if target is not UNKNOWN:
                refuse_values(target, "find calls of", "give functions, or nothing for all calls")
        wanted = set(map(key_of_target, targets))
        found = [c for _, s in self._reader.assignments() if (c := self.call_of(s)) is not None]
        return tuple(c for c in found if not targets or key_of_target(c.target) in wanted)

    def call_of(self, assign: Any, types_: Sequence[Type | None] | None = None) -> Call | None:
        """The call that an assignment makes, or None.

        types_: of the positional arguments, while types are being inferred.
        """
        expr = assign.value
        if not isinstance(expr, ir.Expr):
            return None
        if expr.op == "call":
            if self._reader.is_implicit(assign):
                return None
            target, args = self._reader.target(expr.func), self._reader.arguments(expr)
            kwargs = {name: Variable(var.name) for name, var in expr.kws}
        else:
            operands = operands_of(expr)
            if not operands:
                return None
            target, kwargs = expr.fn, dict[str, Variable]()
            args = tuple(Variable(v.name) for v in operands)
        if types_ is None and self.typemap is not None:
            types_ = self._reader.types(expr, args)
        result = Variable(assign.target.name)
        return Call(
            target,
            args,
            kwargs,
            result,
            shown(expr.loc.filename, expr.loc.line),
            self.function,
            types=None if types_ is None else tuple(map(spelt, types_)),
            result_type=spelt((self.typemap or {}).get(result.name)),
            constants=tuple(UNKNOWN if v is None else self._reader.constant(v) for v in args),
            metadata=self.metadata,
            native=(assign, expr),
            ways=functools.partial(self._edges_to, expr),
        )

    def raises(self) -> tuple[RaisePoint, ...]:
        ends = [block.terminator for _, block in sorted(self.func_ir.blocks.items())]
        found = [end for end in ends if isinstance(end, RAISING) and not is_unreachable(end)]
        return tuple(RaisePoint(shown(end.loc.filename, end.loc.line), end) for end in found)

    @takes(Variable)
    def constant(self, variable: Variable) -> Any:
        return self._reader.constant(variable)

    @takes(Variable)
    def type_of(self, variable: Variable) -> Any:
        return None if self.typemap is None else spelt(self.numba_type_of(variable))

    @takes(Variable)
    def numba_type_of(self, variable: Variable) -> Any:
        return None if self.typemap is None else self.typemap.get(variable.name)

    @takes(Variable)
    def is_used(self, variable: Variable) -> bool:
        return self._reader.is_read(variable.name)

    # ---- editing ----

    @takes(Call)
    def replace(
        self, call: Call, target: Any, *args: Any, kwargs: Mapping[str, Any] | None = None
    ) -> Call:
        block, place, assign = self._place(call)
        made, last = self._inserted.call(assign, target, args, kwargs or {}, call)
        self._forget(assign)
        types_ = self.typemap or {}
        given, wanted = types_.get(last.target.name), types_.get(assign.target.name)
        if given == wanted:
            types_.pop(last.target.name, None)
            redefine(self.func_ir, assign, last.value)
            last = assign
        else:
            self._inserted.check_converts(call, target, given, wanted)
            redefine(self.func_ir, assign, last.target)
            made.append(last)
        block.body[place:place] = made
        replaced = self.call_of(last)
        assert replaced is not None
        return replaced

    @takes(Call)
    def set_result(self, call: Call, value: Any) -> None:
        block, place, assign = self._place(call)
        made: list[Any] = []
        var = self._inserted.operand(assign, value, made)
        if self.typemap is not None:
            given, wanted = self.typemap[var.name], self.typemap[assign.target.name]
            self._inserted.check_converts(call, value, given, wanted)
        self._forget(assign)
        block.body[place:place] = made
        redefine(self.func_ir, assign, var)

    @takes(Call)
    def delete(self, call: Call) -> None:
        block, place, assign = self._place(call)
        if self.is_used(call.result):
            raise self._inserted.cannot(
                f"delete the call of {shown_target(call.target)}, of which the result is used",
                call.where,
                "replace it by a value: ir.set_result(call, value)",
            )
        self._forget(assign)
        del block.body[place]

    @takes(Call)
    def insert_before(self, call: Call, target: Any, *args: Any) -> Variable:
        block, place, assign = self._place(call)
        return self._insert(block, place, assign, target, args, call)

    @takes(Call)
    def insert_after(self, call: Call, target: Any, *args: Any) -> Variable:
        block, place, assign = self._place(call)
        return self._insert(block, place + 1, assign, target, args, call)

    def insert_first(self, target: Any, *args: Any) -> Variable:
        _, block = min(self.func_ir.blocks.items())
        given = [i for i, s in enumerate(block.body) if isinstance(getattr(s, "value", 0), ir.Arg)]
        place = given[-1] + 1 if given else 0
        return self._insert(block, place, block.body[max(place - 1, 0)], target, args)

    @takes(RaisePoint)
    def return_instead(self, raised: RaisePoint, value: Any) -> None:
        self._analysis = None
        blocks = self.func_ir.blocks.values()
        block = next((b for b in blocks if b.terminator is raised.native), None)
        if block is None:
            raise self._inserted.cannot(
                "return at a raise that is no longer in it",
                raised.where,
                "call ir.raises() again after an edit",
            )
        made = self._inserted.returned(block.scope, raised, value, self._reader.result_type())
        block.body[-1:] = made

    def _insert(
        self,
        block: Any,
        place: int,
        near: Any,
        target: Any,
        args: Sequence[Any],
        of: Call | None = None,
    ) -> Variable:
        self._analysis = None
        made, last = self._inserted.call(near, target, args, {}, of)
        block.body[place:place] = [*made, last]
        return Variable(last.target.name)

    def _place(self, call: Call) -> tuple[Any, int, Any]:
        """The block of a call to edit, its position in it, and the assignment."""
        self._analysis = None
        assign, expr = call.native
        for block in self.func_ir.blocks.values():
            for place, statement in enumerate(block.body):
                if statement is assign and assign.value is expr:
                    return block, place, assign
        raise self._inserted.cannot(
            f"edit the call of {shown_target(call.target)}, which is no longer in it",
            call.where,
            "call ir.calls() again after an edit",
        )

    def _forget(self, assign: Any) -> None:
        if self.calltypes is not None:
            self.calltypes.pop(assign.value, None)


def target_named(func_ir: Any, var: Any) -> Any:
    """The callable that a variable holds, or UNKNOWN, as a plugin is told before types are
    known."""
    return _Reader(func_ir, None).target(var)


def is_unreachable(raised: Any) -> bool:
    """Whether numba wrote a raise, where an exception would be raised again that is caught."""
    args = getattr(raised, "exc_args", None) or ("",)
    return str(args[0]).startswith("Unreachable condition reached")


def callable_of(ty: Type | None) -> Any:
    """The single callable that a type represents, or UNKNOWN."""
    if isinstance(ty, CalleeType):
        return of_program(ty.callee)
    if isinstance(ty, BoundCallee):
        return callable_of(ty.function)
    if isinstance(ty, types.Dispatcher):
        return of_program(ty.dispatcher)
    key = getattr(ty, "typing_key", None)
    return key if callable(key) else UNKNOWN


# ---- functions outside all contexts, for inspection ---------------------------------------


def read(function: Any, types_: Sequence[Any]) -> NumbaIR:
    """The IR of a function as plain numba reads it."""
    plain = getattr(function, "py_func", function)
    try:
        func_ir = run_frontend(plain, inline_closures=True)
        if types_:  # inference does not take ``raise`` and others as they are written
            state = python_types.SimpleNamespace(func_ir=func_ir, typemap=None, calltypes=None)
            rewrite_registry.apply("before-inference", state)
            RewriteDynamicRaises().run_pass(state)
        print_as_call(func_ir)
        if not types_:
            return NumbaIR(func_ir, plain)
        func_ir = reconstruct_ssa(func_ir)
        func_ir._definitions = build_definitions(func_ir.blocks)
        typing = Context().compiled.world({}).typing
        typemap, _, calltypes, _ = type_inference_stage(
            typing, cpu_target.target_context, func_ir, tuple(map(numba_type, types_)), None
        )
    except (errors.NumbaError, errors.UnsupportedBytecodeError, NotImplementedError) as error:
        raise NotCompilable(
            f"numba cannot read {name_of(plain)}",
            where=location_of(plain),
            notes=[("numba", line) for line in failures.shortened(str(error))],
            help="give a function that numba compiles",
        ) from error
    func_ir = PreLowerStripPhis()._strip_phi_nodes(func_ir)
    func_ir._definitions = build_definitions(func_ir.blocks)
    return NumbaIR(func_ir, plain, typing=typing, typemap=typemap, calltypes=calltypes)
