"""Outcomes of calls to which no method applies: the callee itself runs."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import replace
from types import FunctionType
from typing import TYPE_CHECKING, Any

from overlay.code import results
from overlay.code.callbacks import CALLBACKS
from overlay.code.known_values import UNKNOWN, BoundFunction, Known, Made, OfType, Value, type_of
from overlay.contexts.context import Context
from overlay.contexts.current import current_context, nonoverlay
from overlay.contexts.wrapping import wrapped_in
from overlay.core.jitted import is_dispatcher
from overlay.core.location import is_ours
from overlay.core.target import (
    BUILTINS,
    DESCRIPTORS,
    LRU_CACHE,
    describe,
    generic_state,
    type_attribute,
)
from overlay.generics.plum_methods import is_plum_function
from overlay.inspect.entries import Args, EnteredCode
from overlay.inspect.outcome import Outcome, with_first

if TYPE_CHECKING:
    from overlay.core.dispatch import MethodChain
    from overlay.inspect.call_graph import CallGraph

__all__ = ["BaseCalls"]


class BaseCalls:
    """Reads calls of base functions for a call graph."""

    def __init__(self, graph: CallGraph) -> None:
        self.graph = graph

    def of(
        self, callee: Any, args: Args, names: tuple[str, ...], chain: MethodChain | None
    ) -> Outcome:
        """The outcome of a call. names: the keywords of the last arguments."""
        kind: Any = type(callee)
        generic = generic_state(callee)
        if generic is not None:
            return self._of_plum(generic.plum_function, args, names)
        if kind is FunctionType:
            return self._of_function(callee, args, names, chain)
        if kind in BUILTINS or kind in DESCRIPTORS:
            return self._of_native(callee, args, names)
        if issubclass(kind, type):
            return self._of_class(callee, args, names)
        if kind is functools.partial:
            given = [*map(Known, callee.args)] + ([] if args is None else list(args))
            known = args is not None and not callee.keywords
            return self.graph.of_object(callee.func, given if known else None, names, chain)
        if kind is LRU_CACHE:
            return self.graph.of_object(callee.__wrapped__, args, names, chain)
        if kind is staticmethod:
            return self.graph.of_object(callee.__func__, args, names, chain)
        if kind is Context:
            return Outcome(repr(callee), "base", note="enters another context")
        if is_plum_function(callee):
            return self._of_plum(callee, args, names)
        if is_dispatcher(callee):
            return self.graph.of_object(callee.py_func, args, names, chain)
        return self.of_instance(kind, Known(callee), args, names, chain)

    def _of_function(
        self, function: FunctionType, args: Args, names: tuple[str, ...], chain: MethodChain | None
    ) -> Outcome:
        if function is current_context:
            return Outcome(describe(function), "base", OfType(Context))
        if is_ours(function.__code__.co_filename):
            joined = wrapped_in(function)
            note = "" if joined is None else f"runs in {joined[0]!r}"
            return Outcome(describe(function), "base", note=note)
        entry = self.graph.entries.of_function(function, args, names, None)
        return Outcome(describe(function), "base", self.graph.result_of(entry), entries=(entry,))

    def _of_native(self, callee: Any, args: Args, names: tuple[str, ...]) -> Outcome:
        note = "runs code that is made at run time" if callee in (exec, eval) else ""
        types = None if args is None else [type_of(value) for value in args]
        kind = results.of_function(callee, types)
        return Outcome(
            describe(callee),
            "base",
            UNKNOWN if kind is None else OfType(kind),
            note=note,
            entries=self._called_back(callee, args, names),
        )

    def _of_class(self, cls: Any, args: Args, names: tuple[str, ...]) -> Outcome:
        call = type_attribute(type(cls), "__call__")
        if type(call) is FunctionType:
            return self.graph.of_object(call, with_first(Known(cls), args), names, None)
        if cls is nonoverlay:
            return Outcome("nonoverlay", "base", OfType(nonoverlay))
        enter = self.graph.entries.of_function
        entries = list(self._called_back(cls, args, names))
        made: Value = OfType(cls)
        new, init = type_attribute(cls, "__new__"), type_attribute(cls, "__init__")
        new = new.__func__ if type(new) is staticmethod else new
        if type(new) is FunctionType:
            entries.append(enter(new, with_first(Known(cls), args), names, None))
        if type(init) is FunctionType:
            entries.append(enter(init, with_first(made, args), names, None))
        if cls is type:
            made = UNKNOWN
        return Outcome(describe(cls), "base", made, entries=tuple(entries))

    def of_instance(
        self,
        kind: type,
        instance: Value,
        args: Args,
        names: tuple[str, ...],
        chain: MethodChain | None,
    ) -> Outcome:
        if kind is nonoverlay:
            return Outcome("nonoverlay", "base", note="runs with no overlay")
        call = type_attribute(kind, "__call__")
        if type(call) is FunctionType and not is_ours(call.__code__.co_filename):
            return self.graph.of_object(call, with_first(instance, args), names, chain)
        status = "undetermined" if isinstance(instance, OfType) else "base"
        return Outcome(f"{kind.__qualname__} object", status)

    def _of_plum(self, function: Any, args: Args, names: tuple[str, ...]) -> Outcome:
        name = describe(function)
        types = None if args is None else [type_of(value) for value in args]
        if types is None or names or any(kind is None for kind in types):
            return Outcome(name, "base", note="plum chooses the method at run time")
        from plum import Signature

        try:
            method, declared = function.resolve_method(Signature(*types))
        except LookupError as error:
            return Outcome(name, "base", note=str(error).partition("\n")[0])
        found = self.graph.of_object(method, args, names, None)
        known = isinstance(declared, type)
        return replace(found, target=name, result=OfType(declared) if known else found.result)

    # ---- callbacks ----

    def _called_back(
        self, callee: Any, args: Args, names: tuple[str, ...]
    ) -> tuple[EnteredCode, ...]:
        """The functions among the arguments that a C function calls."""
        found = CALLBACKS.get(id(callee))
        if found is None or args is None:
            return ()
        values = [
            v for p, v in self._by_place(args, names).items() if p in found[1] or p in found[2]
        ]
        outcomes = [
            self.graph.outcome(value, None, (), None) for value in values if _is_function(value)
        ]
        return tuple(entry for outcome in outcomes for entry in outcome.entries)

    @staticmethod
    def _by_place(args: Sequence[Value], names: tuple[str, ...]) -> dict[int | str, Value]:
        count = len(args) - len(names)
        return {**dict(enumerate(args[:count])), **dict(zip(names, args[count:], strict=True))}


def _is_function(value: Value) -> bool:
    return isinstance(value, (Made, BoundFunction)) or (
        isinstance(value, Known) and callable(value.object)
    )
