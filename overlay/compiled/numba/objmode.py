"""``with objmode(...)`` blocks: Python code inside a compiled function, run in the context.

numba takes the block out of the function and has the interpreter's operations do it. Here each
call and each overlaid operator in it becomes a call that ``ctx(f, ...)`` makes.
"""

from __future__ import annotations

import pickle
from typing import TYPE_CHECKING, Any

from numba.core import ir
from numba.core.dispatcher import ObjModeLiftedWith

from overlay.compiled.numba.dispatchers import InnerDispatcher
from overlay.compiled.numba.ir_edits import STATEMENTS, operands_of
from overlay.compiled.numba.numba_types import StandIn, refused
from overlay.compiled.sharing import frame
from overlay.contexts.stack import entered
from overlay.core.errors import OverlayError
from overlay.core.target import is_below

if TYPE_CHECKING:
    from overlay.compiled.world import World

__all__ = ["enter_block"]


def enter_block(world: World, lifted: Any) -> None:
    """Have a block that numba has lifted run in the context, if it is one for the interpreter."""
    if not is_below(type(lifted), ObjModeLiftedWith):
        return
    innermost = frame()
    if innermost is not None:
        innermost.is_private()  # the block has the context in it
    if hasattr(lifted, "overlay_entered"):
        return
    lifted.overlay_entered = True
    block = _Block(world)
    for each in lifted.func_ir.blocks.values():
        each.body = [new for old in each.body for new in block.rewritten(old)]


class _Block:
    """Rewrites the statements of one lifted block."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.run = Runner(world)

    def rewritten(self, statement: Any) -> list[Any]:
        if type(statement) in STATEMENTS:
            fn, operands = STATEMENTS[type(statement)]
            return self._statement(statement, fn, operands(statement))
        if not isinstance(statement, ir.Assign):
            return [statement]
        value = statement.value
        if isinstance(value, (ir.Global, ir.FreeVar)):
            return [self._mentioned(statement, value)]
        if not isinstance(value, ir.Expr):
            return [statement]
        if value.op == "call":
            made = self._made("run", self.run, statement)
            args = [value.func, *value.args]
            call = ir.Expr.call(made.target, args, value.kws, value.loc, vararg=value.vararg)
            return [made, ir.Assign(call, statement.target, statement.loc)]
        operands = operands_of(value)
        if operands and self.world.overlays(value.fn):
            return self._operator(statement, value.fn, operands)
        return [statement]

    def _mentioned(self, assign: Any, value: Any) -> Any:
        if not isinstance(value.value, StandIn) and not value.name.startswith("overlay."):
            return assign
        try:
            meant = in_python(value.value)
        except OverlayError as error:
            raise refused(self.world, error) from error
        return ir.Assign(ir.Const(meant, assign.loc), assign.target, assign.loc)

    def _statement(self, statement: Any, fn: Any, operands: tuple[Any, ...]) -> list[Any]:
        if not self.world.overlays(fn) or None in operands:
            return [statement]
        unused = statement.target.scope.redefine("$overlay_unused", statement.loc)
        assign = ir.Assign(ir.Const(None, statement.loc), unused, statement.loc)
        return self._operator(assign, fn, operands)

    def _operator(self, assign: Any, fn: Any, operands: tuple[Any, ...]) -> list[Any]:
        run, function = (self._made("run", f, assign) for f in (self.run, fn))
        args = [function.target, *operands]
        call = ir.Expr.call(run.target, args, (), assign.loc)
        return [run, function, ir.Assign(call, assign.target, assign.loc)]

    def _made(self, name: str, value: Any, assign: Any) -> Any:
        target = assign.target.scope.redefine(f"$overlay_{name}", assign.loc)
        return ir.Assign(ir.Const(value, assign.loc), target, assign.loc)


def in_python(value: Any) -> Any:
    """What the interpreter is given for something that compiled code holds."""
    if isinstance(value, InnerDispatcher):
        return value.function
    if not isinstance(value, StandIn):
        return value
    return value.in_python()


class Runner:
    """Calls functions in the context of a world, and in no other."""

    def __init__(self, world: World) -> None:
        self._context = None if world.is_bare else world.engine.context

    def __call__(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        with entered(None):
            if self._context is None:
                return function(*args, **kwargs)
            return self._context(function, *args, **kwargs)

    def __reduce__(self) -> Any:
        # numba would run a block that can be pickled from a copy, in a copy of the context
        raise pickle.PicklingError("an object-mode block belongs to its context")
