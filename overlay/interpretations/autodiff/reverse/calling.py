"""Lifting of calls: each is resolved to a function that has an adjoint, or a Python function is
inlined."""

from __future__ import annotations

import inspect
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from overlay.core.target import describe
from overlay.interpretations.autodiff.reverse.adjoint_names import Naming
from overlay.interpretations.autodiff.reverse.by_rules import by_rule, refuse_compiled
from overlay.interpretations.autodiff.reverse.operands import identity
from overlay.interpretations.autodiff.reverse.pullbacks import (
    BY_OTHERS,
    INPLACE,
    Pullback,
    kind_of,
    pullback_of,
)
from overlay.interpretations.autodiff.reverse.rearranging import register
from overlay.interpretations.autodiff.reverse.reverse_program import (
    ArrayMethod,
    KnownBefore,
    Local,
    Memory,
    ReverseCall,
    ReverseValue,
    Span,
    Write,
    leaves,
)
from overlay.interpretations.autodiff.reverse.structural import STRUCTURAL
from overlay.interpretations.autodiff.reverse.structure import Unreadable
from overlay.interpretations.autodiff.rules.array_rules import array_rule_of

__all__ = ["Calling"]

MOST_CALLS = 3000

register()


class Calling(Naming, ABC):
    """Resolves calls."""

    @abstractmethod
    def enter(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Inline a Python function, and return its result."""

    @abstractmethod
    def enter_own(self, function: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Inline a function of this package, outside of all contexts, and return its result."""

    @abstractmethod
    def enter_local(self, local: Local, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Inline a function defined in the program, and return its result."""

    def call(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The result of a call."""
        if isinstance(function, KnownBefore):
            function = function.value
        if isinstance(function, ArrayMethod):
            return self.call(function.function, [function.receiver, *args], kwargs)
        if isinstance(function, Local):
            return self.enter_local(function, args, kwargs)
        if not callable(function):
            raise Unreadable("it calls what is not known")
        if isinstance(function, type) and issubclass(function, BaseException):
            raise Unreadable("it may raise an exception")
        handler = STRUCTURAL.get(function) if _hashable(function) else None
        if handler is not None:
            try:
                inspect.signature(handler).bind(self, *args, **kwargs)
            except TypeError:
                raise Unreadable(f"{describe(function)} is called with other arguments") from None
            return handler(self, *args, **kwargs)
        return self.call_known(function, args, kwargs)

    def call_known(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        made = self.users.emitted(self, function, args, kwargs)
        if made is not None:
            return made
        if kwargs:
            args, kwargs = _positional(function, args, kwargs)
        if not kwargs:
            folded = self._folded(function, args)
            if folded is not None:
                return folded
            inplace = INPLACE.get(function) if _hashable(function) else None
            if inplace is not None:
                if isinstance(args[0], ReverseValue) and args[0].kind.ndim:
                    return self._add_in_place(inplace, *args)
                function = inplace
            pullback = pullback_of(function, args, self.name)
            if pullback is not None:
                self.reads_attributes |= pullback.of_items
                return self.emit(pullback, args)
            if function in (max, min) and len(args) > 2:
                return self.call(function, [self.call(function, args[:-1], {}), args[-1]], {})
            other = BY_OTHERS.get((id(function), len(args)))
            if other is not None and all(kind_of(a) is not None for a in args):
                return self.enter_own(other, args, {})
        rule = array_rule_of(function)
        if rule is not None:
            found = by_rule(self, rule, function, args, kwargs)
            if found is not None:
                return found
            if rule.by is not None:
                return self._enter_definition(rule.by, function, args, kwargs)
        package = (getattr(function, "__module__", None) or "").partition(".")[0]
        is_known = isinstance(function, np.ufunc) or rule is not None
        if is_known or package in ("numpy", "math"):
            raise Unreadable(f"no adjoint is known of {describe(function)} with these arguments")
        return self.enter(function, args, kwargs)

    def _enter_definition(
        self, by: Any, function: Any, args: list[Any], kwargs: dict[str, Any]
    ) -> Any:
        """Inline the function that defines a rule."""
        where = self.where
        try:
            return self.enter_own(by, args, kwargs)
        except Unreadable:
            if self.is_compiled:
                self.where = where
                refuse_compiled(function, args, kwargs)
            raise

    def _folded(self, function: Any, args: list[Any]) -> Any:
        """The result of an operator on known numbers."""
        known = all(
            isinstance(a, KnownBefore) and isinstance(a.value, (int, float, bool)) for a in args
        )
        if not known or getattr(function, "__module__", "") not in ("_operator", "math"):
            return None
        try:
            return KnownBefore(function(*(a.value for a in args)))
        except (ArithmeticError, ValueError):
            return None

    def emit(self, pullback: Pullback, args: Sequence[Any]) -> ReverseValue:
        """Add a call to the program, and return its result."""
        key = (pullback.function, pullback.text, tuple(map(identity, args)))
        if not pullback.kind.ndim and key in self.region.known:
            return self.region.known[key]
        self._place += 1
        if self._place > MOST_CALLS:
            raise Unreadable("it is too long")
        out = self.value(f"t{self._place}", pullback.kind)
        call = ReverseCall(out, pullback, tuple(args), self._place, self.loops, self.where)
        if out.kind.ndim:
            self._set_memory(out, pullback, args)
        self.region.ops.append(call)
        self.region.known[key] = out
        return out

    def _set_memory(self, out: ReverseValue, pullback: Pullback, args: Sequence[Any]) -> None:
        if not pullback.is_view:
            out.memory = Memory(self.loops, is_own=True)
            self.memories.append(out.memory)
            return
        (source,) = list(leaves(args[0]))[:1]
        shares = source.shares
        if source.memory is not None:
            shares = (*shares, (source.memory, source.memory.version))
        out.shares = shares or ((Memory((), is_own=False), 0),)

    def _add_in_place(self, function: Any, array: ReverseValue, other: Any) -> ReverseValue:
        changed = self.call(function, [array, other], {})
        self.write(array, Span((KnownBefore(None),) * 3), changed)
        return array

    def write(self, array: Any, index: Any, value: Any) -> None:
        """Add the statement ``array[index] = value``."""
        if not isinstance(array, ReverseValue) or array.memory is None or not array.memory.is_own:
            raise Unreadable(
                "it writes to an array that it did not make, or to part of one",
                help="write to the elements of an array that the function makes, as "
                "own = np.copy(array); own[i] = ...",
            )
        if array.kind.dtype != "f" or kind_of(value) is None:
            raise Unreadable("it writes something else than a number into an array")
        kinds = [kind_of(part) for part in _parts(index)]
        if any(kind is not None and kind.ndim for kind in kinds):
            raise Unreadable("it writes to elements that an array names")
        self._place += 1
        memory = array.memory
        memory.version += 1
        memory.last = self._place
        memory.written_in.update(self.loops)
        self.region.ops.append(Write(array, index, value, self._place, self.loops, self.where))


def _parts(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)


def _hashable(function: Any) -> bool:
    return type(function).__hash__ is not None


def _positional(function: Any, args: list[Any], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    if function in (np.sum, np.mean) and set(kwargs) == {"axis"}:
        return [*args, kwargs["axis"]], {}
    if function in (np.array, np.asarray, np.asanyarray, np.copy) and len(args) == 1:
        copies = kwargs.get("copy") or KnownBefore(
            True if function in (np.array, np.copy) else None
        )
        rest = [value for name, value in kwargs.items() if name not in ("copy", "order")]
        is_known = set(kwargs) <= {"copy", "order", "dtype"} and copies in (
            KnownBefore(True),
            KnownBefore(None),
        )
        if is_known:
            return [*args, *rest], {}
    return args, kwargs
