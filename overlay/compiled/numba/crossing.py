"""The part of *Resolve* that is about contexts and plugins made when the program runs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from overlay.compiled.numba.barrier_calls import Crosses
from overlay.compiled.numba.context_values import (
    ContextType,
    KnownContext,
    PluginClassType,
    RecursesType,
    ReplacesMadeType,
    ReplacesType,
)
from overlay.compiled.numba.joined_contexts import Joins
from overlay.compiled.numba.made_contexts import MadeContextType, Makes, Named, Reads
from overlay.compiled.numba.numba_types import StandIn, Type, Typed

if TYPE_CHECKING:
    from overlay.compiled.numba.resolve_pass import Resolution

__all__ = ["Crossing"]


class Crossing:
    """Rewrites statements of one function that make such contexts, read or enter them."""

    def __init__(self, resolution: Resolution) -> None:
        self._resolution = resolution
        self._typemap: dict[str, Type] = resolution.typemap
        self.is_crossed = False  # whether a call goes through a barrier

    def attribute(self, assign: Any) -> list[Any] | None:
        """What an attribute of such a context becomes; None for other attributes."""
        expr = assign.value
        owner = self._typemap[expr.value.name]
        if not isinstance(owner, MadeContextType):
            return None
        if expr.attr != "replace" and expr.attr not in dict(owner.fields):
            return None
        reads = Reads(self._typemap[assign.target.name])
        return self._become(assign, reads, [Named((expr.attr,))], [expr.value])

    def joined(self, assign: Any, operands: tuple[Any, ...]) -> list[Any] | None:
        """What ``outer | inner`` becomes; None for other operators."""
        both = self._typemap[assign.target.name]
        if len(operands) != 2 or not isinstance(both, (ContextType, MadeContextType)):
            return None
        if isinstance(both, MadeContextType):
            return self._become(assign, Joins(both), [], list(operands))
        self._resolution.calltypes.pop(assign.value, None)
        self._resolution.set(assign, KnownContext(both.engine))
        return [assign]

    def call(self, assign: Any) -> list[Any] | None:
        """What a call becomes that makes such a context or plugin, or enters a context; None for
        other calls."""
        expr = assign.value
        function = self._typemap[expr.func.name]
        if isinstance(function, (ReplacesType, ReplacesMadeType, PluginClassType)):
            return self._make(assign)
        if isinstance(function, MadeContextType):
            spread, given = self._resolution.spread(assign)
            return spread + self._enter(assign, expr.func, given)
        if not isinstance(function, RecursesType):
            return None
        if not isinstance(self._resolution.types_of(expr)[0][0], MadeContextType):
            return None
        spread, given = self._resolution.spread(assign)
        return spread + self._enter(assign, given[0], given[1:])

    def _make(self, assign: Any) -> list[Any]:
        expr, made = assign.value, self._typemap[assign.target.name]
        args = [*expr.args, *(var for _, var in expr.kws)]
        if not isinstance(made, MadeContextType):
            return self._become(assign, Makes(made), [], args)
        names = Named(tuple(name for name, _ in expr.kws))
        return self._become(assign, Makes(made), [names], [expr.func, *args])

    def _enter(self, assign: Any, context: Any, rest: list[Any]) -> list[Any]:
        """A call of the first of ``rest`` with the others, through a barrier."""
        self.is_crossed = True
        expr, made = assign.value, self._typemap[context.name]
        args = [*rest[1:], *(var for _, var in expr.kws)]
        given = [self._typemap[var.name] for var in args]
        count = len(args) - len(expr.kws)
        barrier = self._resolution.world.barriers.stand_in(
            made,
            self._typemap[rest[0].name],
            given[:count],
            dict(zip((name for name, _ in expr.kws), given[count:], strict=True)),
            is_base=context is not expr.func,
        )
        return self._become(assign, Crosses(), [barrier], [context, *args])

    def _become(self, assign: Any, ty: Any, constants: list[StandIn], args: list[Any]) -> list[Any]:
        """Make ``assign`` a call of what has this type, with constants and variables."""
        self._resolution.calltypes.pop(assign.value, None)
        *inserted, function = (
            self._resolution.defined(assign, each) for each in (*constants, Typed(ty))
        )
        args = [*(each.target for each in inserted), *args]
        sig = ty.get_call_type(None, tuple(self._typemap[var.name] for var in args), {})
        self._resolution.become_call(assign, function, args, {}, None, sig)
        return [*inserted, function, assign]
