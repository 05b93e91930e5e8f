"""The engine that intercepts targets: code that is no target runs as it is.

While a stack lives, each target of its tables is intercepted: a call of it, whoever makes it,
comes to a trampoline in C. Where no stack is in force, that goes on to the target's own code; in a
stack it calls what the ``View`` of the target there resolves the call to.

It is being built: with the environment variable ``OVERLAY_INTERCEPT=1`` it serves contexts without
plugins whose targets can all be intercepted. The engine that rewrites code serves the others.
"""

from __future__ import annotations

import operator
import sys
import weakref
from collections.abc import Callable, Coroutine, Generator, Iterator
from types import AsyncGeneratorType, CoroutineType, FunctionType, GeneratorType
from typing import TYPE_CHECKING, Any

from overlay import _native
from overlay.errors import OverlayError
from overlay.location import caller
from overlay.report import Hits
from overlay.stack import Stack, entered, key_in_force, stack_in_force
from overlay.table import LOCK, MethodTable
from overlay.target import (
    as_positional,
    attributes_of,
    describe,
    generic_state,
    key_of_target,
    signature_of,
)
from overlay.views import View, may_keep

if TYPE_CHECKING:
    from overlay._native.intercept import Interception

__all__ = ["InterceptingEngine", "serves", "why_not"]

intercept: Any = _native.intercept

_OPERATORS = {id(f) for f in vars(operator).values() if callable(f) and not isinstance(f, type)}
# Calls of these, of one argument or of a generator expression, are instructions of their own.
_INLINED: tuple[Any, ...] = (type, str, tuple, super, __import__, __build_class__)
if sys.version_info >= (3, 14):
    _INLINED += (any, all)
if sys.version_info >= (3, 15):
    _INLINED += (list, set)


def serves(stack: Stack) -> bool:
    """Whether this engine can run code under a stack."""
    if intercept is None or stack.plugins:
        return False
    if any(record.counts or record.strict for record in stack.records):
        return False
    return all(why_not(target) is None for table in stack.tables for target in table.targets())


def _classes() -> Iterator[type]:
    """All classes. A metaclass may define how they are compared."""
    left: list[Any] = [object]
    seen = {id(object)}
    while left:
        cls = left.pop()
        yield cls
        for each in type.__subclasses__(cls):
            if id(each) not in seen:
                seen.add(id(each))
                left.append(each)


def _is_entered_by_class(target: Any) -> bool:
    """Whether a function is one that the interpreter enters because of what it knows of a class,
    with no call: ``__init__`` from 3.13 on, where a class that inherits it may come at any time; on
    3.14 the getter of a property."""
    if type(target) is not FunctionType or sys.version_info < (3, 13):
        return False
    getters = sys.version_info[:2] == (3, 14)
    for cls in _classes():
        attributes = attributes_of(cls)
        if attributes.get("__init__") is target:
            return True
        if getters and any(type(p) is property and p.fget is target for p in attributes.values()):
            return True
    return False


def why_not(target: Any) -> str | None:
    """Why a target cannot be intercepted; None where it can."""
    if _is_entered_by_class(target):
        return "the interpreter enters it without a call, because of its class"
    if id(target) in _OPERATORS:
        return "it is an operator"
    if any(target is one for one in _INLINED):
        return "the interpreter has instructions for calls of it"
    if generic_state(target) is not None:
        return None
    if intercept.interception_of(target) is not None:
        return None
    try:
        intercept.Interception(target, None)
    except (TypeError, ValueError) as error:
        return str(error)
    return None


class Intercepted:
    """A target that is intercepted, for as long as a stack with a method of it lives.

    It is to a ``View`` what a generic function is: ``function`` is the target, ``resolve`` gives
    its own code, ``views`` are all that has been resolved of it.
    """

    def __init__(self, target: Any) -> None:
        self.function = target
        self.signature = signature_of(target)
        self.views: weakref.WeakSet[View] = weakref.WeakSet()
        self.engines = 0  # of stacks that have a method of it
        self.interception: Interception = intercept.Interception(target, self)
        self._by_stack: weakref.WeakKeyDictionary[Stack, TargetView] = weakref.WeakKeyDictionary()

    def view(self, stack: Stack) -> TargetView:
        """The view that resolves calls of the target in a stack."""
        found = self._by_stack.get(stack)
        if found is None:
            with LOCK:
                found = TargetView(self, stack.tables)
                found.hits = Hits(stack.records)
                self._by_stack[stack] = found
        return found

    def resolve(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, bool]:
        """The target's own code."""
        return self.interception, Any, True


class TargetView(View):
    """A view of an intercepted target: the trampoline keeps what it finds, too."""

    def __init__(self, record: Intercepted, tables: tuple[MethodTable, ...]) -> None:
        self.record = record
        generic: Any = record
        super().__init__(generic, tables)

    def forget(self) -> None:
        super().forget()
        self.record.interception.forget()


def _resolved(
    record: Intercepted, stack: Stack, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, bool, Any, Any]:
    """Resolve a call for a trampoline: the implementation, None for the target's own code; whether
    the types of the arguments decide it; the arguments, where these are not as they were given."""
    view = record.view(stack)
    if kwargs:
        positional, named = as_positional(record.signature, args, kwargs)
        found = view.select(positional, named)
        if found is record.interception:
            return None, False, None, None
        return found, False, positional, named
    found = view.found(args)
    lasting = view.more.get(tuple(map(type, args))) is found if all(map(may_keep, args)) else False
    return (None if found is record.interception else found), lasting, None, None


_records: dict[Any, Intercepted] = {}  # by the key of the target
if intercept is not None:
    try:
        intercept.set_up(stack_in_force, key_in_force, _resolved)
    except ImportError:  # made for a CPython whose fields stand elsewhere
        intercept = None


class InterceptingEngine:
    """The engine of one stack: intercepts its targets for as long as the stack lives."""

    pins = True  # what a run gives and goes on later is to be given to ``pinned``

    def __init__(self, stack: Stack) -> None:
        self._stack = weakref.ref(stack)
        self._tables = stack.tables
        self._mine: dict[Any, Intercepted] = {}
        with LOCK:
            for table in stack.tables:
                table.listen(self)
                for target in table.targets():
                    self.table_changed(target)

    def table_changed(self, target: Any) -> None:
        """Intercept a target that a table has come to have, and leave alone one that none has."""
        stack = self._stack()
        if stack is None or generic_state(target) is not None:
            return
        key = key_of_target(target)
        wanted = any(table.find(target) for table in self._tables)
        if wanted and key not in self._mine:
            reason = why_not(target)
            if reason is not None:
                raise OverlayError(
                    f"{describe(target)} cannot be overlaid in a context that is in use: {reason}",
                    where=caller(),
                    help="make a new context with the table",
                )
            record = _records.get(key)
            if record is None or record.function is not target:
                record = _records[key] = Intercepted(target)
                record.interception.install()
            record.engines += 1
            self._mine[key] = record
        elif not wanted and key in self._mine:
            _release(self._mine.pop(key))

    def release(self) -> None:
        """The stack is gone."""
        with LOCK:
            for record in self._mine.values():
                record.interception.forget()
                _release(record)
            self._mine.clear()

    # ---- running ----

    def enter(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """The function itself, which needs no other form to run in the stack."""
        return f

    def enter_base(self, f: Any) -> Callable[..., Any]:
        """A function's own code, whether it is a target or not."""
        record = _records.get(key_of_target(f))
        return f if record is None or record.function is not f else record.interception

    def pinned(self, result: Any) -> Any:
        """The result of a run; each step of a generator or coroutine runs in the stack again."""
        stack = stack_in_force.get()
        if type(result) is GeneratorType:
            return _steps(result, stack)
        if type(result) is CoroutineType:
            return _awaited(result, stack)
        if type(result) is AsyncGeneratorType:
            return _AsyncSteps(result, stack)
        return result

    def leave(self) -> None:
        """A run is over."""

    def explain_recursion(self, error: RecursionError) -> None:
        """Nothing stands between the program's frames that an error could name."""


def _release(record: Intercepted) -> None:
    record.engines -= 1
    if not record.engines:
        record.interception.remove()
        if _records.get(key_of_target(record.function)) is record:
            del _records[key_of_target(record.function)]


# ---- what goes on after a run -----------------------------------------------------------------


def _steps(inner: Any, stack: Stack | None) -> Generator[Any, Any, Any]:
    """A generator of which each step is one of ``inner``, with a stack in force."""
    step, given = inner.send, (None,)
    try:
        while True:
            try:
                with entered(stack):
                    value = step(*given)
            except StopIteration as end:
                return end.value
            try:
                step, given = inner.send, ((yield value),)
            except GeneratorExit:
                raise
            except BaseException as error:
                step, given = inner.throw, (error,)
    finally:
        with entered(stack):
            inner.close()


async def _awaited(inner: Coroutine[Any, Any, Any], stack: Stack | None) -> Any:
    return await _Steps(inner, stack)


class _Steps:
    """An awaitable that runs each step of a coroutine with a stack in force."""

    def __init__(self, inner: Any, stack: Stack | None) -> None:
        self._inner, self._stack = inner, stack

    def __await__(self) -> Generator[Any, Any, Any]:
        return _steps(self._inner, self._stack)


class _AsyncSteps:
    """An asynchronous generator of which each step runs with a stack in force."""

    def __init__(self, inner: Any, stack: Stack | None) -> None:
        self._inner, self._stack = inner, stack

    def __aiter__(self) -> _AsyncSteps:
        return self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def __anext__(self) -> Any:
        return self._step(self._inner.__anext__())

    def asend(self, value: Any) -> Any:
        return self._step(self._inner.asend(value))

    def athrow(self, *error: Any) -> Any:
        return self._step(self._inner.athrow(*error))

    def aclose(self) -> Any:
        return self._step(self._inner.aclose())

    async def _step(self, step: Any) -> Any:
        return await _Steps(step, self._stack)
