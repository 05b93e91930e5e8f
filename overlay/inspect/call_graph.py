"""Call graph of a function in a context, read from its code and that of its callees."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from dataclasses import replace
from types import (
    AsyncGeneratorType,
    CoroutineType,
    FunctionType,
    GeneratorType,
    MethodType,
    ModuleType,
)
from typing import TYPE_CHECKING, Any

from overlay.analysis.static_dispatch import Choice, choose
from overlay.code import results
from overlay.code.events import CallEvent, Event, Implicit, Operation
from overlay.code.known_values import (
    UNKNOWN,
    BoundFunction,
    Known,
    KnownAttribute,
    Made,
    OfType,
    Value,
    declared_types,
    join,
    type_of,
)
from overlay.code.reading import CodeReading
from overlay.code.versions import require_readable
from overlay.contexts.context import Context
from overlay.contexts.current import call_next
from overlay.core.dispatch import MethodChain
from overlay.core.target import (
    BUILTINS,
    DESCRIPTORS,
    INPLACE,
    as_positional,
    describe,
    key_of_target,
    signature_of,
    type_attribute,
)
from overlay.inspect.base_calls import BaseCalls
from overlay.inspect.entries import Args, EnteredCode, Entries, Key
from overlay.inspect.outcome import Outcome, with_first

if TYPE_CHECKING:
    from overlay.core.table import Method

__all__ = ["CallGraph", "builds_class"]

# Depth of calls to which results are followed: the reading recurses on the interpreter's stack.
_DEEPEST = 6
_STARTED = {
    inspect.CO_COROUTINE: CoroutineType,
    inspect.CO_GENERATOR: GeneratorType,
    inspect.CO_ASYNC_GENERATOR: AsyncGeneratorType,
}


class CallGraph:
    """Reads the call graphs of functions in one context."""

    def __init__(self, context: Context) -> None:
        require_readable()
        self.tables = tuple(reversed(context.tables))
        self.overlaid = {key_of_target(t) for table in self.tables for t in table.targets()}
        self.overlaid |= {
            key for key, (plain, _) in INPLACE.items() if key_of_target(plain) in self.overlaid
        }
        self.entries = Entries()
        self._base = BaseCalls(self)
        self._readings: dict[Key, CodeReading | None] = {}
        self._kept: list[EnteredCode] = []
        self._depth = 0

    # ---- outcomes of calls ----

    def outcome(
        self, callee: Value, args: Args, names: tuple[str, ...], chain: MethodChain | None
    ) -> Outcome:
        """The outcome of a call. names: of the last arguments, which are given by keyword."""
        if isinstance(callee, BoundFunction):
            return self.outcome(callee.function, with_first(callee.receiver, args), names, chain)
        if isinstance(callee, Made):
            entry = self.entries.of_made(callee, args, names, chain)
            name = callee.code.co_qualname
            return Outcome(name, "base", self.result_of(entry), entries=(entry,))
        if isinstance(callee, Known):
            return self.of_object(callee.object, args, names, chain)
        if isinstance(callee, OfType) and isinstance(callee.type, type):
            return self._base.of_instance(callee.type, callee, args, names, chain)
        if isinstance(callee, KnownAttribute):
            named = [m for t in self.tables for m in t.methods() if _is_named(m, callee.name)]
            if named:
                return Outcome(callee.name, "possible", methods=tuple(named))
            return Outcome(callee.name, "undetermined")
        return Outcome("?", "undetermined")

    def of_object(
        self, callee: Any, args: Args, names: tuple[str, ...], chain: MethodChain | None
    ) -> Outcome:
        kind: Any = type(callee)
        if kind is MethodType:
            receiver = Known(callee.__self__)
            return self.of_object(callee.__func__, with_first(receiver, args), names, chain)
        owner = callee.__self__ if kind in BUILTINS else None
        if owner is not None and type(owner) is not ModuleType:
            holder: Any = owner if isinstance(owner, type) else type(owner)
            descriptor = type_attribute(holder, callee.__name__)
            if type(descriptor) in DESCRIPTORS:
                return self.of_object(descriptor, with_first(Known(owner), args), names, chain)
        if callee is call_next and chain is not None:
            return self._next(chain, args, names)
        if key_of_target(callee) in self.overlaid:
            return self._dispatched(MethodChain.of(callee, self.tables), args, names)
        return self._base.of(callee, args, names, chain)

    def _next(self, chain: MethodChain, args: Args, names: tuple[str, ...]) -> Outcome:
        found = self._dispatched(chain, args, names)
        return replace(found, target=f"next of {describe(chain.target)}")

    def _dispatched(self, chain: MethodChain, args: Args, names: tuple[str, ...]) -> Outcome:
        target = chain.target
        if args is not None and names:
            args, names = self._positional(target, args, names)
        choice = choose(chain, args, names)
        methods = choice.maybe if choice.certain is None else (choice.certain,)
        entries = [
            entry
            for method in methods
            if (entry := self.entries.of_method(chain, method, args, names)) is not None
        ]
        outcomes = [self._result_of_method(m, chain, args, names) for m in methods]
        base = self._base.of(target, args, names, None) if choice.base else None
        if base is not None:
            entries += base.entries
            outcomes.append(base.result)
        status = _status(choice)
        return Outcome(
            target=describe(target),
            status=status,
            result=functools.reduce(join, outcomes) if outcomes else UNKNOWN,
            methods=() if status == "base" else methods,
            note=choice.note,
            entries=tuple(entries),
            untaken=tuple(chain.methods()) if status == "base" and not chain.passed else (),
        )

    def _positional(
        self, target: Any, args: Sequence[Value], names: tuple[str, ...]
    ) -> tuple[Args, tuple[str, ...]]:
        count = len(args) - len(names)
        given = dict(zip(names, args[count:], strict=True))
        positional, named = as_positional(signature_of(target), tuple(args[:count]), given)
        values = [v if isinstance(v, Value) else Known(v) for v in (*positional, *named.values())]
        return values, tuple(named)

    def _result_of_method(
        self, method: Method, chain: MethodChain, args: Args, names: tuple[str, ...]
    ) -> Value:
        declared = declared_types(getattr(method.function, "py_func", method.function))
        if "return" in declared and not method.generated:
            return OfType(declared["return"])
        entry = self.entries.of_method(chain, method, args, names)
        return UNKNOWN if entry is None else self.result_of(entry)

    # ---- reading ----

    def result_of(self, entry: EnteredCode) -> Value:
        for flag, kind in _STARTED.items():
            if entry.code.co_flags & flag:
                return OfType(kind)
        reading = self.reading(entry)
        returned = None if reading is None else reading.returned
        if returned is not None and type_of(returned) is not None:
            return returned
        declared = {} if entry.function is None else declared_types(entry.function)
        return OfType(declared["return"]) if "return" in declared else UNKNOWN

    def reading(self, entry: EnteredCode) -> CodeReading | None:
        """The reading of an entry's code; None where it is recursive, or nested too deep."""
        key = entry.key
        if key in self._readings:
            return self._readings[key]
        if self._depth >= _DEEPEST:
            return None
        self._readings[key] = None
        self._kept.append(entry)  # keeps alive the objects whose ids are in the key
        self._depth += 1
        try:
            reading = CodeReading(
                entry.code,
                entry.namespace,
                dict(entry.arguments),
                dict(entry.cells),
                lambda event: self.of_event(event, entry.chain).result,
            )
        finally:
            self._depth -= 1
        self._readings[key] = reading
        return reading

    def of_event(self, event: Event, chain: MethodChain | None) -> Outcome:
        """The outcome of an event, in code that belongs to a position in a chain."""
        if isinstance(event, Operation):
            return self._of_operation(event)
        if isinstance(event, Implicit):
            return self.of_object(event.function, event.args, (), None)
        if not isinstance(event, CallEvent):
            raise TypeError(f"not an event: {event!r}")
        if builds_class(event):
            return Outcome("class", "base", UNKNOWN)
        return self.outcome(event.callee, event.args, event.names, chain)

    def _of_operation(self, event: Operation) -> Outcome:
        function = event.function
        args = event.args
        types = [type_of(value) for value in args]
        plain = INPLACE.get(id(function), (function, ""))[0]
        kind = results.of_operator(plain, types)
        if id(function) in self.overlaid:
            found = self._dispatched(MethodChain.of(function, self.tables), args, ())
            if found.status == "base" and kind is not None:
                return replace(found, result=OfType(kind))
            return found
        dunder = self._dunder(function, args)
        if dunder is not None:
            return self.of_object(dunder, args, (), None)
        return Outcome("", "", UNKNOWN if kind is None else OfType(kind))

    @staticmethod
    def _dunder(function: Callable[..., Any], args: Sequence[Value]) -> FunctionType | None:
        """The Python function by which the first operand's class defines an operator."""
        names = [f"__{function.__name__.strip('_')}__"]
        if id(function) in INPLACE:
            names.append(f"__{INPLACE[id(function)][0].__name__.strip('_')}__")
        owner = type_of(args[0])
        for name in names:
            found = type_attribute(owner, name) if isinstance(owner, type) else None
            if type(found) is FunctionType:
                return found
        return None


# ---- small parts --------------------------------------------------------------------------


def _status(choice: Choice) -> str:
    if choice.certain is not None:
        return "resolved"
    return "possible" if choice.maybe else "base"


def _is_named(method: Method, name: str) -> bool:
    """Whether a method's target has this name, so that an attribute of that name may hold it."""
    target = method.target
    path = (
        target.partition(":")[2] if isinstance(target, str) else getattr(target, "__qualname__", "")
    )
    return path.rpartition(".")[2] == name


def builds_class(event: CallEvent) -> bool:
    """Whether a call makes a class by a ``class`` statement."""
    callee = event.callee
    return isinstance(callee, Known) and callee.object is __build_class__
