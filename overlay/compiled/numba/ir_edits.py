"""Edits of numba's IR: new values for assignments, and new assignments before them."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from numba.core import ir, types
from numba.core.typing.templates import signature

from overlay.compiled import failures
from overlay.compiled.numba.container_values import iterating
from overlay.compiled.numba.dispatchers import InnerDispatcher
from overlay.compiled.numba.numba_types import Native, Type, refused, type_of_constant

if TYPE_CHECKING:
    from overlay.compiled.world import World

__all__ = [
    "INSERTED",
    "STATEMENTS",
    "TypedEdits",
    "argument_types",
    "defined_before",
    "new_variable",
    "operands_of",
    "redefine",
]


# ---- operators ----------------------------------------------------------------------------


def operands_of(expr: Any) -> tuple[Any, ...]:
    """The variables that an operator is applied to, in the order of the operator's function."""
    return OPERANDS[expr.op](expr) if expr.op in OPERANDS else ()


OPERANDS: Final[dict[str, Callable[[Any], tuple[Any, ...]]]] = {
    "binop": lambda e: (e.lhs, e.rhs),
    "inplace_binop": lambda e: (e.lhs, e.rhs),
    "unary": lambda e: (e.value,),
    "getitem": lambda e: (e.value, e.index),
    "static_getitem": lambda e: () if e.index_var is None else (e.value, e.index_var),
}
STATEMENTS: Final[dict[type, tuple[Any, Callable[[Any], tuple[Any, ...]]]]] = {
    ir.SetItem: (operator.setitem, lambda s: (s.target, s.index, s.value)),
    ir.StaticSetItem: (operator.setitem, lambda s: (s.target, s.index_var, s.value)),
    ir.DelItem: (operator.delitem, lambda s: (s.target, s.index)),
}


# ---- edits without types ------------------------------------------------------------------

INSERTED: Final = "$overlay."
"""Beginning of the names of inserted variables."""
_numbers = itertools.count(1)


def new_variable(statement: Any) -> Any:
    """A variable with a new name, also where numba copies blocks (``literal_unroll``)."""
    return statement.target.scope.define(f"{INSERTED}{next(_numbers)}", statement.loc)


def redefine(func_ir: Any, assign: Any, value: Any) -> None:
    """Make ``assign`` assign another value."""
    definitions = func_ir._definitions[assign.target.name]
    definitions[:] = [value if old is assign.value else old for old in definitions] or [value]
    assign.value = value


def defined_before(func_ir: Any, assign: Any, value: Any) -> Any:
    """An assignment of a constant, or of an expression, to a new variable before ``assign``."""
    if isinstance(value, Native):
        value = ir.Global("overlay", value, assign.loc)
    target = new_variable(assign)
    func_ir._definitions[target.name] = [value]
    return ir.Assign(value, target, assign.loc)


# ---- edits with types ---------------------------------------------------------------------


def argument_types(
    typemap: Mapping[str, Type], expr: Any, args: Sequence[Any] | None = None
) -> tuple[tuple[Type, ...], dict[str, Type]]:
    """The types of the arguments of a call, those of ``*arguments`` among them. args: replace the
    positional arguments of the call."""
    given = tuple(typemap[var.name] for var in (expr.args if args is None else args))
    if expr.vararg is not None:
        given += tuple(typemap[expr.vararg.name].types)
    return given, {name: typemap[var.name] for name, var in expr.kws}


class TypedEdits:
    """Edits of one function that keep its type information complete.

    entered: the functions of the program that new calls enter.
    """

    def __init__(self, state: Any) -> None:
        self.world: World = state.pipeline.world
        self.func_ir = state.func_ir
        self.typemap: dict[str, Type] = state.typemap
        self.calltypes: dict[Any, Any] = state.calltypes
        self.entered: list[InnerDispatcher] = []

    def set(self, assign: Any, value: Any) -> None:
        """Make ``assign`` assign a constant."""
        redefine(self.func_ir, assign, ir.Global("overlay", value, assign.loc))

    def enter(
        self,
        assign: Any,
        found: Any,
        sig: Any,
        args: Sequence[Any],
        kws: Mapping[str, Any] = {},
        vararg: Any = None,
    ) -> list[Any]:
        """Make ``assign`` the call of a resolved callee."""
        if isinstance(found, Native):
            value, ty = found.value, found._numba_type_
        else:
            value, ty = found, found.type_of_call(sig)
        return self.call(assign, value, ty, sig, args, kws, vararg)

    def enter_anew(self, assign: Any, found: Any, args: Sequence[Any]) -> list[Any]:
        """Make ``assign``, which was no call, that of a function of the world."""
        self.calltypes.pop(assign.value, None)
        sig = self.world.typing.enter(found, tuple(self.typemap[var.name] for var in args))
        return self.enter(assign, found, sig, args)

    def iterated(self, assign: Any, var: Any, before: list[Any]) -> Any:
        """The variable of what is iterated over in place of a container of functions. before:
        collects the statements to put before the iteration."""
        entered = iterating(self.world, self.typemap[var.name])
        sig = self.world.typing.enter(entered, (self.typemap[var.name],))
        made = self.define(assign, ir.Const(None, assign.loc), sig.return_type)
        before += self.enter(made, entered, sig, (var,))
        return made.target

    def call(
        self,
        assign: Any,
        value: Any,
        ty: Type,
        sig: Any,
        args: Sequence[Any],
        kws: Mapping[str, Any] = {},
        vararg: Any = None,
    ) -> list[Any]:
        """Make ``assign`` the call of a constant of this type."""
        function = self.define(assign, ir.Global("overlay", value, assign.loc), ty)
        expr = ir.Expr.call(
            function.target, list(args), list(kws.items()), assign.loc, vararg=vararg
        )
        self.calltypes[expr] = sig
        redefine(self.func_ir, assign, expr)
        return [function, assign]

    def define(self, assign: Any, value: Any, ty: Type) -> Any:
        """An assignment of a value of this type to a new variable before ``assign``."""
        made = defined_before(self.func_ir, assign, value)
        self.typemap[made.target.name] = ty
        self.note(ty)
        return made

    def define_stand_in(self, assign: Any, value: Any) -> Any:
        """An assignment of a stand-in to a new variable before ``assign``."""
        return self.define(assign, ir.Global("overlay", value, assign.loc), value._numba_type_)

    def define_constant(self, assign: Any, value: Any) -> Any:
        """An assignment of a constant of the program to a new variable before ``assign``."""
        return self.define(assign, ir.Const(value, assign.loc), type_of_constant(value))

    def result_unused(self, statement: Any, sig: Any) -> Any:
        """An assignment for the result of a statement that became a call; nothing reads it."""
        target = new_variable(statement)
        self.typemap[target.name] = sig.return_type
        return ir.Assign(ir.Const(None, statement.loc), target, statement.loc)

    def spread(self, assign: Any) -> tuple[list[Any], list[Any]]:
        """Unpack ``*arguments`` of a call: return the assignments to put before the call, and all
        its positional arguments."""
        expr = assign.value
        if expr.vararg is None:
            return [], list(expr.args)
        whole, expr.vararg = expr.vararg, None
        taken = [self._item(assign, whole, i) for i in range(len(self.typemap[whole.name]))]
        expr.args = [*expr.args, *(each.target for each in taken)]
        return taken, list(expr.args)

    def _item(self, assign: Any, whole: Any, index: int) -> Any:
        """The assignment of one item of a tuple to a new variable."""
        ty = self.typemap[whole.name]
        item = ir.Expr.static_getitem(whole, index, None, assign.loc)
        self.calltypes[item] = signature(ty.types[index], ty, types.literal(index))
        return self.define(assign, item, ty.types[index])

    def note(self, ty: Type) -> None:
        """Record a call of a function of the program, if this is the type of one."""
        dispatcher = getattr(ty, "dispatcher", None)
        if isinstance(dispatcher, InnerDispatcher):
            self.entered.append(dispatcher)

    def unknown(self, expr: Any, ty: Type, reason: str) -> Exception:
        """The error for a call whose callee is unknown."""
        error = failures.callee_unknown(str(ty), reason, expr.loc.filename, expr.loc.line)
        return refused(self.world, error)
