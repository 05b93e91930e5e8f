"""Lifting of calls with method tables in force: the methods that they resolve to are inlined."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from types import MethodType
from typing import Any

from overlay import Context, MethodTable, OverlayError, call_next, nonoverlay
from overlay.contexts.wrapping import wrapped_in
from overlay.core.dispatch import Call, MethodChain, by_types, reads
from overlay.core.method import Method
from overlay.core.target import canonical, describe
from overlay.interpretations.autodiff.reverse.calling import Calling
from overlay.interpretations.autodiff.reverse.pullbacks import type_of
from overlay.interpretations.autodiff.reverse.reverse_program import (
    Either,
    KnownBefore,
    Local,
    MadeObject,
    Manager,
    MethodOf,
)
from overlay.interpretations.autodiff.reverse.structure import Unreadable
from overlay.plugins.plugin import follows_source

__all__ = ["Overlaying"]


class Overlaying(Calling):
    """Resolves the calls that the program itself makes; calls that the lifter makes internally are
    outside of all contexts.

    tables: those in force, innermost first. chain: the place at which ``call_next`` continues, in a
    method that is being inlined. targets: all that the program calls, by identity. enters: whether
    it enters contexts.
    """

    tables: tuple[MethodTable, ...] = ()
    chain: MethodChain | None = None
    enters = False

    def __init__(self, users: Any) -> None:
        super().__init__(users)
        self.targets: dict[int, Any] = {}

    @abstractmethod
    def enter(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any: ...

    def enter_own(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        with self._within((), None):
            return self.enter(function, args, kwargs)

    def call_in_force(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The result of a call that the program makes."""
        target = function.value if isinstance(function, KnownBefore) else function
        if isinstance(target, MethodOf):
            self._refuse_bound(target)
        if isinstance(target, (MethodOf, Local, Either, Manager, MadeObject)):
            return self.call(target, args, kwargs)
        if target is call_next:
            return self._next(args, kwargs)
        if isinstance(target, nonoverlay):
            with self._within((), None):
                return self.call(target.function, args, kwargs)
        inside = wrapped_in(target)
        if inside is None and type(target) is Context and args and isinstance(args[0], KnownBefore):
            inside, args = (target, args[0].value), args[1:]
        if inside is not None:
            self.enters = True
            context, inner = inside
            with self._within(self._pushed(context), None):
                return self.call_in_force(inner, args, kwargs)
        called = target.__func__ if isinstance(target, MethodType) else target
        known = canonical(called) if callable(called) else called
        self.targets[id(known)] = known
        if not self.tables:
            return self.call(target, args, kwargs)
        known = canonical(target) if callable(target) else target
        return self._resolved(target, args, kwargs, MethodChain.of(known, self.tables))

    def _next(self, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if self.chain is None:
            raise Unreadable("call_next is called outside of a method")
        return self._resolved(self.chain.target, args, kwargs, self.chain)

    def _resolved(
        self, target: Any, args: list[Any], kwargs: dict[str, Any], chain: MethodChain
    ) -> Any:
        """The result of a call of a target, at a place in its chain."""
        found = self._method(chain, args, kwargs)
        if found is None or found.table.faithful:
            with self._within(self.tables, None):
                return self.call(target, args, kwargs)
        if found.table.check:
            raise Unreadable(f"{found!r} has its arguments checked")
        function = found.function
        if found.generated:
            function = found.implementation(tuple(map(_type_of, [*args, *kwargs.values()])))
        with self._within(self.tables, chain.after(found)):
            return self.enter(function, args, kwargs)

    def _method(self, chain: MethodChain, args: list[Any], kwargs: dict[str, Any]) -> Method | None:
        for table in self.tables:
            self.attributes.append((table, "version", table.version))
        if not chain.methods():
            return None
        types = [_type_of(operand) for operand in (*args, *kwargs.values())]
        call = by_types(types, tuple(kwargs))
        self._refuse_unsure(chain, types, call)
        try:
            return chain.resolve(call)
        except OverlayError as error:
            raise Unreadable(error.asked) from None

    def _refuse_unsure(self, chain: MethodChain, types: Sequence[Any], call: Call) -> None:
        """Refuse a call whose method depends on more than is known of its arguments."""
        for method in chain.methods():
            unsure = method.depends_on in ("literal", "value") or object in types
            if unsure and not reads(method, call):
                raise Unreadable(f"whether {method} is called depends on what is not known")

    def _refuse_bound(self, bound: MethodOf) -> None:
        found = MethodChain.of(canonical(bound.function), self.tables).methods()
        if found:
            raise Unreadable(f"{describe(bound.function)} is called as a method: {found[0]!r}")

    def _pushed(self, context: Context) -> tuple[MethodTable, ...]:
        for plugin in context.plugins:
            if not follows_source(plugin):
                raise Unreadable(
                    f"{plugin!r} may edit it or wrap its calls, which only a run follows"
                )
        own = tuple(reversed(context.tables))
        return (*own, *(table for table in self.tables if table not in own))

    @contextmanager
    def _within(
        self, tables: tuple[MethodTable, ...], chain: MethodChain | None
    ) -> Generator[None]:
        before = self.tables, self.chain
        self.tables, self.chain = tables, chain
        try:
            yield
        finally:
            self.tables, self.chain = before


def _type_of(operand: Any) -> Any:
    """The type of an argument, as dispatch sees it; object if it is unknown."""
    found = type_of(operand)
    if found is not None:
        return found
    if isinstance(operand, MadeObject):
        return operand.cls
    if isinstance(operand, tuple):
        return tuple[tuple(map(_type_of, operand))]
    return type(operand.value) if isinstance(operand, KnownBefore) else object
