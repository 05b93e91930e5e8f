"""Constants from contexts: ``current_context().metadata`` and values computed from it.

Folding runs before types are known, so that numba drops the branches not taken.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from numba.core import ir
from numba.core.ir_utils import get_definition, guard, require

from overlay.compiled.numba.context_state import Box
from overlay.compiled.numba.context_values import (
    KnownContext,
    KnownStandIn,
    ReadsContext,
    constant,
    metadata_of,
    state_of,
)
from overlay.compiled.numba.made_contexts import UnknownMetadata
from overlay.compiled.sharing import frame
from overlay.contexts.context import Context
from overlay.core.errors import OverlayError
from overlay.core.location import shown
from overlay.core.target import is_below
from overlay.plugins.plugin import Plugin

if TYPE_CHECKING:
    from overlay.compiled.engine import CompiledContext
    from overlay.compiled.world import World

__all__ = ["FOLDED", "Folding"]

# Start of the name of a folded constant.
FOLDED: Final = "overlay.constant"
# The limit on worlds of metadata computed from the metadata of the enclosing context.
DEEPEST: Final = 8
# Errors of a constant expression: the program has to raise them at run time.
ERRORS: Final = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)


class FoldedConstant(NamedTuple):
    """A value known at compile time. is_ours: it comes from a context."""

    value: Any
    is_ours: bool


class Folding:
    """Finds the constants among the expressions of one function."""

    def __init__(self, world: World, func_ir: Any) -> None:
        self.world = world
        self.func_ir = func_ir

    def stand_in(self, expr: Any) -> tuple[Any] | None:
        """The stand-in for the value of an expression, in a tuple, where it follows from a context;
        a Box represents the value that it holds."""
        found: tuple[Any] | None = guard(self._folded, expr)
        if found is None:
            return None
        (value,) = found
        if isinstance(value, Context):
            return (KnownContext(value.compiled.linked.on(self.world.target)),)
        if isinstance(value, Box) or callable(value):
            return found
        if expr.op == "getattr":
            return (constant(self.world, value, self._ours(expr.value), expr.attr),)
        return (constant(self.world, value),)

    def _folded(self, expr: Any) -> tuple[Any]:
        require(expr.op in FOLDS)
        return (FOLDS[expr.op](self, expr),)

    def _known(self, var: Any) -> FoldedConstant:
        found = get_definition(self.func_ir, var)
        if isinstance(found, ir.Const):
            return FoldedConstant(found.value, False)
        if isinstance(found, ir.Expr) and found.op == "build_tuple":
            items = [self._known(item) for item in found.items]
            return FoldedConstant(tuple(i.value for i in items), any(i.is_ours for i in items))
        require(isinstance(found, (ir.Global, ir.FreeVar)))
        value = found.value
        if isinstance(value, KnownContext):
            return FoldedConstant(value.engine.context, True)
        is_ours = found.name == FOLDED
        return FoldedConstant(value.value if isinstance(value, KnownStandIn) else value, is_ours)

    def _ours(self, var: Any) -> Any:
        found = self._known(var)
        require(found.is_ours)
        return found.value

    def _evaluated(self, function: Callable[..., Any], operands: list[Any]) -> Any:
        """An operator applied to constants, at least one of which comes from a context."""
        known = [self._known(var) for var in operands]
        require(any(each.is_ours for each in known) and not self.world.overlays(function))
        try:
            return function(*(each.value for each in known))
        except ERRORS:
            return require(False)

    def _attribute(self, expr: Any) -> Any:
        owner = self._ours(expr.value)
        if isinstance(owner, Context):
            require(expr.attr in READ)
            require(expr.attr == "state" or not isinstance(owner.metadata, UnknownMetadata))
            return READ[expr.attr](owner.compiled.linked.on(self.world.target))
        require(hasattr(owner, expr.attr))
        return getattr(owner, expr.attr)

    def _call(self, expr: Any) -> Any:
        called = get_definition(self.func_ir, expr.func)
        if isinstance(called, ir.Global) and isinstance(called.value, KnownStandIn):
            return self._plugin(called.value.value, expr)
        if isinstance(called, ir.Global):
            require(isinstance(called.value, ReadsContext))
            return self._current_context(expr)
        require(isinstance(called, ir.Expr) and called.op == "getattr")
        require(called.attr == "replace" and not expr.args and expr.vararg is None)
        owner = self._ours(called.value)
        require(isinstance(owner, Context))
        known = {name: self._known(var) for name, var in expr.kws}
        made = owner.replace(**{name: found.value for name, found in known.items()})
        if "metadata" in known and known["metadata"].is_ours:
            self._go_deeper(made)
        return made

    def _go_deeper(self, made: Context) -> None:
        """Limit the depth of metadata that are computed from metadata, as in a recursion that
        counts its depth: deeper ones become run-time values."""
        depth = self.world.engine.depth
        require(depth < DEEPEST)
        engine = made.compiled.linked.on(self.world.target)
        engine.depth = max(engine.depth, depth + 1)

    def _current_context(self, expr: Any) -> Any:
        compiled = frame()
        if compiled is not None and (self.world.is_bare or not self._is_only_read(expr)):
            compiled.needs_context()
        return None if self.world.is_bare else self.world.engine.context

    def _is_only_read(self, context: Any) -> bool:
        """Whether only metadata and state of the result of an expression are read."""
        statements = [s for block in self.func_ir.blocks.values() for s in block.body]
        names = {s.target.name for s in statements if getattr(s, "value", None) is context}
        for _ in statements:
            aliases = {s.target.name for s in statements if _copied(s) in names}
            if aliases <= names:
                break
            names |= aliases
        return not any(_uses(s, names) for s in statements)

    def _plugin(self, kind: Any, expr: Any) -> Plugin:
        """A plugin made from constants."""
        require(issubclass(type(kind), type) and is_below(kind, Plugin) and expr.vararg is None)
        args = [self._known(var).value for var in expr.args]
        kwargs = {name: self._known(var).value for name, var in expr.kws}
        try:
            return kind(*args, **kwargs)
        except Exception as error:
            raise OverlayError(
                f"{kind.__qualname__} cannot be made when code is compiled: {error!r}",
                where=shown(expr.loc.filename, expr.loc.line),
                help="make the plugin outside, as a global",
            ) from error

    def _item(self, expr: Any) -> Any:
        owner = self._ours(expr.value)
        require(not self.world.overlays(operator.getitem))
        index = expr.index if expr.op == "static_getitem" else self._known(expr.index).value
        try:
            return owner[index]
        except ERRORS:
            return require(False)


def _copied(statement: Any) -> str | None:
    """The source variable of an assignment that copies one; else None."""
    value = statement.value if isinstance(statement, ir.Assign) else None
    return value.name if isinstance(value, ir.Var) else None


def _uses(statement: Any, names: set[str]) -> bool:
    """Whether a statement does more with one of these variables than copy it, or read the metadata
    or the state of its value."""
    if isinstance(statement, ir.Del) or _copied(statement) in names:
        return False
    used = statement.value if isinstance(statement, ir.Assign) else statement
    if isinstance(used, ir.Expr) and used.op == "getattr" and used.attr in READ:
        return False
    has_variables = isinstance(used, (ir.Stmt, ir.Expr, ir.Yield))
    return has_variables and any(var.name in names for var in used.list_vars())


# The attributes of a context that may be read, with their values.
READ: Final[dict[str, Callable[[CompiledContext], Any]]] = {
    "metadata": metadata_of,
    "state": state_of,
}
FOLDS: Final[dict[str, Callable[[Folding, Any], Any]]] = {
    "getattr": Folding._attribute,
    "call": Folding._call,
    "binop": lambda self, e: self._evaluated(e.fn, [e.lhs, e.rhs]),
    "unary": lambda self, e: self._evaluated(e.fn, [e.value]),
    "getitem": Folding._item,
    "static_getitem": Folding._item,
}
