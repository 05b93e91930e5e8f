"""Lifting of calls: each is resolved to a function that has an adjoint, or a Python function is
inlined."""

from __future__ import annotations

import functools
import inspect
import operator
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from overlay.core.short_repr import a_or_an
from overlay.core.target import describe, read_signature
from overlay.interpretations.autodiff.reverse.adjoint_names import Naming
from overlay.interpretations.autodiff.reverse.by_rules import by_rule, refuse_compiled
from overlay.interpretations.autodiff.reverse.complex_pullbacks import complex_pullback
from overlay.interpretations.autodiff.reverse.instances import (
    MISSING,
    by_operator,
    is_instance,
    is_made_by_call,
    make_instance,
)
from overlay.interpretations.autodiff.reverse.iterating import FOLDED, all_of
from overlay.interpretations.autodiff.reverse.kernel_calls import (
    is_of_device,
    kernel_call,
    thread_number,
)
from overlay.interpretations.autodiff.reverse.known_arrays import known_result, made_of_rows
from overlay.interpretations.autodiff.reverse.made_objects import as_array, whole
from overlay.interpretations.autodiff.reverse.operands import identity
from overlay.interpretations.autodiff.reverse.pullbacks import (
    BY_OTHERS,
    INPLACE,
    UFUNCS,
    Pullback,
    kind_of,
    pullback_of,
)
from overlay.interpretations.autodiff.reverse.rearranging import register
from overlay.interpretations.autodiff.reverse.reverse_program import (
    INT,
    Either,
    Generator,
    KnownBefore,
    Local,
    Manager,
    Memory,
    MethodOf,
    ReverseCall,
    ReverseLoop,
    ReverseValue,
    Span,
    Write,
    leaves,
)
from overlay.interpretations.autodiff.reverse.structural import STRUCTURAL
from overlay.interpretations.autodiff.reverse.structure import Unreadable
from overlay.interpretations.autodiff.rules.array_rules import array_rule_of
from overlay.interpretations.autodiff.rules.default_arguments import in_places, without_defaults

__all__ = ["Calling"]

MOST_CALLS = 3000
_PLAIN = (abs, min, max, int, float, round, bool)
_COMPARED = (operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne)
_RAISED: dict[Any, tuple[type, ...]] = {
    **dict.fromkeys((operator.add, operator.sub, operator.mul, operator.neg, *_COMPARED), ()),
    **dict.fromkeys((operator.truediv, operator.floordiv, operator.mod), (ZeroDivisionError,)),
    operator.pow: (ZeroDivisionError, OverflowError),
    operator.getitem: (IndexError,),
}
"""The exceptions that functions of numbers and arrays may raise."""
WHOLE = Span((KnownBefore(None),) * 3)

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

    @abstractmethod
    def truth(self, condition: Any) -> Any:
        """Whether an operand is true: ``KnownBefore``, or a variable."""

    @abstractmethod
    def check_shares(self, value: ReverseValue) -> None:
        """Refuse part of an array that was written to since it was taken."""

    @abstractmethod
    def call_either(self, either: Either, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The result of a call of one of two functions, by a condition."""

    @abstractmethod
    def call_in_force(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The result of a call that the program makes."""

    def constant(self, value: Any) -> Any:
        number = thread_number(self, value)
        return super().constant(value) if number is None else number

    def call(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The result of a call."""
        if isinstance(function, KnownBefore):
            function = function.value
        match function:
            case MethodOf():
                return self.call(function.function, [function.receiver, *args], kwargs)
            case Local():
                return self.enter_local(function, args, kwargs)
            case Either():
                return self.call_either(function, args, kwargs)
            case Manager():
                return KnownBefore(None)
            case functools.partial():
                held = [*map(self.constant, function.args), *args]
                named = {k: self.constant(v) for k, v in function.keywords.items()} | kwargs
                return self.call_in_force(self.constant(function.func), held, named)
            case _ if is_instance(function):
                return self.call_method(function, "__call__", args, kwargs)
            case _ if not callable(function):
                raise Unreadable("it calls a function that is not known before it runs")
            case _:
                return self._call_function(function, args, kwargs)

    def _call_function(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        if any(isinstance(each, Generator) for each in args) and function not in FOLDED:
            args = [all_of(self, a) if isinstance(a, Generator) else a for a in args]
        if not kwargs and any(map(is_instance, args)) and _hashable(function):
            found = by_operator(self, function, args)
            if found is not MISSING:
                return found
        handler = STRUCTURAL.get(function) if _hashable(function) else None
        if handler is not None:
            try:
                inspect.signature(handler).bind(self, *args, **kwargs)
            except TypeError:
                raise Unreadable(
                    f"it calls {describe(function)} with arguments with which it is not followed"
                ) from None
            return handler(self, *args, **kwargs)
        if is_of_device(self, function):
            return self.call_known(function, args, kwargs)
        if isinstance(function, type) and is_made_by_call(function) and not _is_numeric(function):
            return make_instance(self, function, args, kwargs)
        return self.call_known(function, args, kwargs)

    def call_method(
        self, receiver: Any, name: str, args: list[Any], kwargs: dict[str, Any] | None = None
    ) -> Any:
        """The result of a call of a method that an instance's class defines."""
        function = getattr(receiver.cls, name, None)
        if type(function) is not FunctionType:
            raise Unreadable(f"{a_or_an(receiver.cls.__name__)} has no method {name} in Python")
        self.attributes.append((receiver.cls, name, function))
        return self.call_in_force(function, [receiver, *args], kwargs or {})

    def call_known(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        made = self.users.emitted(self, function, args, kwargs)
        if made is not None:
            return made
        if is_of_device(self, function):
            return kernel_call(self, function, args, kwargs)
        is_numeric = _is_numeric(function)
        signature = _signature(function) if args or kwargs else None
        if signature is not None:
            args, kwargs = without_defaults(signature, args, kwargs, _known)
        if kwargs:
            args, kwargs = _positional(function, args, kwargs)
        if is_numeric:
            args = [whole(self, arg) for arg in args]
            kwargs = {name: whole(self, arg) for name, arg in kwargs.items()}
            known = known_result(self, function, args, kwargs)
            if known is not None:
                return known
        given, others = args, kwargs
        if signature is not None:
            given, others = in_places(signature, args, kwargs, _known)
        found = self._by_pullback(function, given) if not others else None
        if found is None:
            found = self._by_other(function, given, others)
        if found is None:
            found = self._by_rule(function, args, kwargs)
        if found is not None:
            return found
        if not kwargs:
            rows = made_of_rows(self, function, args) if is_numeric else None
            if rows is not None:
                return rows
            numbers = [as_array(self, a) if _is_numbers(a) else a for a in args]
            if is_numeric and any(map(_is_numbers, args)):
                return self.call_known(function, numbers, {})
        if is_numeric or array_rule_of(function) is not None or isinstance(function, np.ufunc):
            raise Unreadable(f"no adjoint is known of {describe(function)} with these arguments")
        return self.enter(function, args, kwargs)

    def _by_rule(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The result of a call of a function of arrays that has a rule; None for others, and where
        the kind of the result is not known."""
        rule = array_rule_of(function)
        if rule is None or rule.kind == "calling":
            return None
        found = by_rule(self, rule, function, args, kwargs)
        if found is None and rule.kind == "defined":
            return self._enter_definition(rule.by, function, args, kwargs)
        return found

    def _by_pullback(self, function: Any, args: list[Any]) -> Any:
        """The result of a call of a function that has a pullback; None for others, and for ufuncs
        that write their results into an argument."""
        if isinstance(function, np.ufunc) and len(args) > function.nin:
            return None
        folded = self._folded(function, args)
        if folded is not None:
            return folded
        inplace = INPLACE.get(function) if _hashable(function) else None
        if inplace is not None:
            if isinstance(args[0], ReverseValue) and args[0].kind.ndim:
                return self._add_in_place(inplace, *args)
            return self.call(inplace, args, {})
        pullback = complex_pullback(_operator_of(function), args, self.name)
        if pullback is None:
            pullback = pullback_of(function, args, self.name)
        if pullback is not None:
            # compiled code runs the adjoint, not the program with duals
            self.reads_attributes |= pullback.of_items or pullback.kind.dtype == "c"
            return self.emit(pullback, args)
        if function in (max, min) and len(args) > 2:
            return self.call(function, [self.call(function, args[:-1], {}), args[-1]], {})
        return None

    def _by_other(self, function: Any, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """The result of a call of a function that is lifted as another one; None for others."""
        other = BY_OTHERS.get((id(function), len(args), *kwargs))
        given = [kind_of(a) for a in (*args, *kwargs.values())]
        if other is None or any(kind is None or kind.dtype == "c" for kind in given):
            return None
        return self.enter_own(other, args, kwargs)

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
        kinds = (int, float, bool, str) if function in _COMPARED else (int, float, bool)
        kinds = kinds if function in _COMPARED else (*kinds, complex)
        known = all(isinstance(a, KnownBefore) and isinstance(a.value, kinds) for a in args)
        module = getattr(function, "__module__", "")
        if not known or not (module in ("_operator", "math") or function in _PLAIN):
            return None
        try:
            return KnownBefore(function(*(a.value for a in args)))
        except (ArithmeticError, ValueError, TypeError):
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
        call.is_guarded = self._may_be_caught(pullback.function)
        out.is_length = pullback.is_shape and pullback.kind == INT
        if out.kind.ndim:
            self._set_memory(out, pullback, args)
        self.region.ops.append(call)
        self.region.known[key] = out
        return out

    def _may_be_caught(self, function: Any) -> bool:
        """Whether the program may handle an exception of a function at this place."""
        if not self.guarded:
            return False
        in_math = getattr(function, "__module__", "") == "math"
        raised = _RAISED.get(function, (ValueError, OverflowError) if in_math else (BaseException,))
        pairs = ((one, other) for one in raised for other in self.guarded)
        return any(issubclass(one, other) or issubclass(other, one) for one, other in pairs)

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
        if pullback.function is operator.getitem:
            out.part_of = source, args[1]

    def _add_in_place(self, function: Any, array: ReverseValue, other: Any) -> ReverseValue:
        changed = self.call(function, [array, other], {})
        if array.part_of is None:
            self.write(array, WHOLE, changed)
            return array
        base, index = array.part_of
        self.write(base, index, changed)
        return self.call(operator.getitem, [base, index], {})

    def is_never_negative(self, index: Any) -> bool:
        """Whether an index is certainly that of a loop that counts up from 0 or more."""
        return any(index is loop.index and _goes_up(loop) for loop in self.loops)

    def refreshed(self, value: ReverseValue) -> ReverseValue:
        """Part of an array as it is now, if the array was written to since the part was taken."""
        if value.part_of is None or self._is_now(value):
            return value
        base, index = value.part_of
        return self.call(operator.getitem, [self.refreshed(base), index], {})

    @staticmethod
    def _is_now(part: ReverseValue) -> bool:
        """Whether part of an array still has the elements that it was taken with."""
        return all(memory.version == version for memory, version in part.shares)

    def _in_whole(self, part: ReverseValue, index: Any) -> tuple[Any, Any]:
        """The array and the index in it of elements of a part of it."""
        assert part.part_of is not None
        base, taken = part.part_of
        outer = taken if isinstance(taken, tuple) else (taken,)
        inner = index if isinstance(index, tuple) else (index,)
        found: list[Any] = []
        rest = list(inner)
        for each in outer:
            if isinstance(each, Span):
                place = self._within_span(each, rest.pop(0) if rest else WHOLE)
                if place is None:
                    return part, index
                found.append(place)
            else:
                found.append(each)
        found += rest
        return base, found[0] if len(found) == 1 else tuple(found)

    def _within_span(self, span: Span, index: Any) -> Any:
        """The index in an array of an element, or all, of a slice of it; None if it is not
        known."""
        if span == WHOLE or index == WHOLE:
            return index if span == WHOLE else span
        start, stop, step = (p.value if isinstance(p, KnownBefore) else p for p in span.parts)
        first = 0 if start is None else start
        if step not in (None, 1) or not isinstance(first, int) or first < 0:
            return None
        if isinstance(index, KnownBefore) and isinstance(index.value, int):
            if index.value >= 0:
                return KnownBefore(first + index.value)
            return index if stop is None else None
        if self.is_never_negative(index):
            return self.call(operator.add, [index, KnownBefore(first)], {})
        return None

    def write(self, array: Any, index: Any, value: Any) -> None:
        """Add the statement ``array[index] = value``."""
        if isinstance(value, ReverseValue) and value.part_of is not None and self._is_now(value):
            base, taken = value.part_of
            if base is array and identity(taken) == identity(index):
                return  # an in-place operator has written it
        if isinstance(array, ReverseValue) and array.part_of is not None and self._is_now(array):
            array, index = self._in_whole(array, index)
        if not isinstance(array, ReverseValue) or array.memory is None or not array.memory.is_own:
            raise Unreadable(
                "it writes to an array that it did not create, or to part of one",
                help="write to the elements of an array that the function makes, as "
                "own = np.copy(array); own[i] = ...",
            )
        value = whole(self, value)
        if isinstance(value, tuple):
            value = self.call(np.array, [value], {})
        if array.kind.dtype != "f" or not _is_real(value):
            raise Unreadable("it writes a value that is no number into an array")
        kinds = [kind_of(part) for part in _parts(index)]
        if any(kind is not None and kind.ndim for kind in kinds):
            raise Unreadable("it writes to elements selected by an array")
        self._place += 1
        memory = array.memory
        memory.version += 1
        memory.last = self._place
        memory.written_in.update(self.loops)
        self.region.ops.append(Write(array, index, value, self._place, self.loops, self.where))


def _parts(index: Any) -> tuple[Any, ...]:
    return index if isinstance(index, tuple) else (index,)


def _goes_up(loop: ReverseLoop) -> bool:
    """Whether the index of a loop is never negative."""
    parts = () if loop.steps is None else (loop.steps.start, loop.steps.step)
    known = [p.value for p in parts if isinstance(p, KnownBefore)]
    return len(known) == 2 and known[0] >= 0 and known[1] > 0


def _is_numeric(function: Any) -> bool:
    """Whether a function is one of numpy or math."""
    return (getattr(function, "__module__", None) or "").partition(".")[0] in ("numpy", "math")


def _is_numbers(operand: Any) -> bool:
    """Whether an operand is a tuple of numbers."""
    return (
        isinstance(operand, tuple)
        and bool(operand)
        and all(kind_of(item) is not None for item in operand)
    )


def _is_real(operand: Any) -> bool:
    """Whether an operand is of real numbers."""
    kind = kind_of(operand)
    return kind is not None and kind.dtype != "c"


def _operator_of(function: Any) -> Any:
    """The operator that a ufunc is."""
    return UFUNCS.get(function, function) if _hashable(function) else function


def _hashable(function: Any) -> bool:
    return type(function).__hash__ is not None


def _signature(function: Any) -> inspect.Signature | None:
    """The parameters of a function that is not written in Python, or has a rule; None of others,
    and where they are unknown."""
    rule = array_rule_of(function)
    if rule is None and not _hashable(function):
        return None
    if rule is None and isinstance(function, FunctionType) and not _is_numeric(function):
        return None
    return read_signature(function) if rule is None else rule.signature


def _known(operand: Any) -> Any:
    """The value of an operand that is known before the program runs."""
    return operand.value if isinstance(operand, KnownBefore) else inspect.Parameter.empty


def _positional(function: Any, args: list[Any], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    """The arguments of a conversion to an array, without those that do not change its numbers."""
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
