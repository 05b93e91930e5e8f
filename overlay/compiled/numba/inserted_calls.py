"""Calls and values that plugins insert into a function, in numba's IR."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from numba.core import errors, ir

from overlay.compiled import failures
from overlay.compiled.numba.ir_edits import argument_types, defined_before, new_variable
from overlay.compiled.numba.numba_types import Type, has_code, is_dispatcher
from overlay.core.errors import NotCompilable, OverlayError
from overlay.core.location import location_of, name_of, shown
from overlay.ir import Call, RaisePoint, Variable

__all__ = ["InsertedCalls", "shown_target"]


class InsertedCalls:
    """Makes the statements of calls to insert into one function.

    name: of the function, for errors. bind: returns the stand-in for a callable of the program.
    typing, typemap, calltypes: given where types are known.
    """

    def __init__(
        self,
        func_ir: Any,
        name: str,
        bind: Callable[[Any], Any] | None,
        typing: Any,
        typemap: dict[str, Type] | None,
        calltypes: dict[Any, Any] | None,
    ) -> None:
        self.func_ir = func_ir
        self.typemap = typemap
        self.calltypes = calltypes
        self._name = name
        self._bind = bind
        self._typing = typing

    def call(
        self,
        near: Any,
        target: Any,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        of: Call | None = None,
    ) -> tuple[list[Any], Any]:
        """The statements that prepare a call, and the one that makes it. of: a call whose
        ``*arguments`` it passes on, where the last of the arguments is None."""
        made: list[Any] = []
        spread = None if of is None or not args or args[-1] is not None else spread_in(of)
        if spread is not None:
            args = args[:-1]
        function = self.operand(near, target, made)
        given = [self.operand(near, a, made) for a in args]
        named = [(name, self.operand(near, a, made)) for name, a in kwargs.items()]
        expr = ir.Expr.call(function, given, named, near.loc, vararg=spread)
        last = ir.Assign(expr, new_variable(near), near.loc)
        self.func_ir._definitions[last.target.name] = [expr]
        if self.typemap is not None and self.calltypes is not None:
            sig = self._signature(target, function, expr, near)
            self.calltypes[expr] = sig
            self.typemap[last.target.name] = sig.return_type
        return made, last

    def has(self, name: str) -> bool:
        """Whether a variable has this name, or had it before an edit removed it."""
        scopes = (block.scope for block in self.func_ir.blocks.values())
        return name in (self.typemap or ()) or any(name in scope.localvars for scope in scopes)

    def operand(self, near: Any, value: Any, made: list[Any]) -> Any:
        """The variable that holds a value; its definition is added to ``made``, if it is new."""
        if isinstance(value, Variable):
            if not self.has(value.name):
                raise self.cannot(
                    f"use {value.name}, which is no variable of it",
                    shown(near.loc.filename, near.loc.line),
                    "give a variable of ir.arguments, call.args or call.result, or a constant",
                )
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
                raise self.cannot(
                    f"hold {value!r}", where, "give a value that compiled code can hold"
                ) from None
            self.typemap[assign.target.name] = ty
        made.append(assign)
        return assign.target

    def returned(
        self, scope: Any, raised: RaisePoint, value: Any, result: Type | None
    ) -> list[Any]:
        """Statements that return a value where a function raises. result: the type that it
        returns; None before types are known."""
        loc = raised.native.loc
        near = ir.Assign(ir.Const(None, loc), ir.Var(scope, "raised", loc), loc)
        made: list[Any] = []
        given = self.operand(near, value, made)
        if self.typemap is not None:
            self._check_returned(value, self.typemap[given.name], result, raised.where)
        last = defined_before(self.func_ir, near, ir.Expr.cast(given, loc))
        if self.typemap is not None:
            self.typemap[last.target.name] = result
        return [*made, last, ir.Return(last.target, loc)]

    def _check_returned(self, value: Any, ty: Type, result: Type | None, where: str) -> None:
        if result is None or self._typing.can_convert(ty, result) is None:
            raise self.cannot(
                f"return {shown_target(value)}, of type {ty}, where it raises; it returns "
                + ("nothing elsewhere" if result is None else str(result)),
                where,
                "give a value that can be converted, or edit before types are known",
            )

    def _bound(self, value: Any) -> Any | None:
        """The stand-in for a callable; None for any other constant."""
        if not callable(value):
            return None
        stand_in = None if self._bind is None else self._bind(value)
        return value if stand_in is None else stand_in

    def _signature(self, target: Any, function: Any, expr: Any, near: Any) -> Any:
        assert self.typemap is not None
        types_, named = argument_types(self.typemap, expr)
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
            if has_code(target) or is_dispatcher(target):  # its own code cannot be compiled
                raise NotCompilable(
                    f"{shown_target(target)}({shown_}), which was inserted into {self._name}, "
                    "cannot be compiled",
                    where=location_of(target),
                    notes=[*notes, ("inserted", where)],
                    help=f"correct {shown_target(target)}, or call it with other types",
                )
            error = self.cannot(
                f"call {shown_target(target)}({shown_})",
                where,
                "insert the call before types are known, in before_inference, or with other types",
            )
            error.notes = tuple(notes)
            raise error
        return found

    def check_converts(self, call: Call, given: Any, ty: Type, wanted: Type) -> None:
        """Raise OverlayError where a value cannot replace a call's result."""
        if self._typing.can_convert(ty, wanted) is None:
            raise self.cannot(
                f"put {shown_target(given)}, of type {ty}, in place of "
                f"{shown_target(call.target)}, whose type is {wanted}",
                call.where,
                "give a value that can be converted, or edit before types are known",
            )

    def cannot(self, what: str, where: str, remedy: str) -> OverlayError:
        """The error for an edit that is not possible."""
        return OverlayError(f"cannot {what}, in {self._name}", where=where, help=remedy)


def spread_in(call: Call) -> Any:
    """The variable of the ``*arguments`` of a call, or None."""
    return getattr(call.native[1], "vararg", None) if None in call.args else None


def shown_target(target: Any) -> str:
    """The name of a callee, for errors."""
    return name_of(target) if callable(target) else repr(target)
