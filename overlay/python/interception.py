"""The engine that intercepts targets; all other code runs unchanged.

While a stack lives, each target of its tables is intercepted: any call of it, whoever makes it,
enters a trampoline in C. Where no stack is in force, the trampoline calls the target's own code; in
a stack it calls the implementation that the target's ``View`` there resolves the call to.

Below the tables of each stack is one of ours, ``carrying.TABLE``, which passes the stack on to
threads and executors. Functions that cache results, and functions compiled by numba, are a separate
object in each stack: see ``OwnObjects``.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable, Coroutine, Generator
from types import AsyncGeneratorType, CoroutineType, FunctionType, GeneratorType
from typing import TYPE_CHECKING, Any, NoReturn

from overlay import _native
from overlay.contexts.report import Hits, tell_left
from overlay.contexts.stack import Stack, entered
from overlay.core.dispatch import MethodChain
from overlay.core.errors import OverlayError, UnsupportedPython
from overlay.core.in_force import natively
from overlay.core.jitted import is_dispatcher
from overlay.core.location import caller
from overlay.core.logs import INFO, noted, tell
from overlay.core.own_builtins import __builtins__
from overlay.core.table import LOCK, Method
from overlay.core.target import (
    IN_PLACE_OF,
    INPLACE,
    describe,
    generic_state,
    key_of_target,
    signature_of,
)
from overlay.generics.views import View, belonging, named_by, resolved
from overlay.plugins.plugin import asks_at_calls, refuse_stages, surrounds
from overlay.python import carrying, sites
from overlay.python.entered_functions import called_functions
from overlay.python.frame_readers import READS, for_frame_of_program
from overlay.python.own_objects import OwnObjects
from overlay.python.plugin_calls import PluginCalls

if TYPE_CHECKING:
    from overlay._native.intercept import Interception

__all__ = ["InterceptingEngine", "not_all", "obstacles", "why_not"]

intercept: Any = _native.intercept

_LOOK = -1  # equal to no number of modules: the next entry looks for targets again
# How many of the last frames one method has to fill for a recursion to be its own.
_FRAMES, _REPEATS = 60, 10
_MOST_NAMED = 8  # the most targets that a record of the log names


def obstacles(stack: Stack) -> list[tuple[Any, str]]:
    """The targets of a stack that cannot be intercepted, each with the reason."""
    targets = [target for table in stack.tables for target in table.targets()]
    reasons = [(target, why_not(target)) for target in targets]
    return [(target, reason) for target, reason in reasons if reason is not None]


def not_all(found: list[tuple[Any, str]]) -> UnsupportedPython:
    """The error for targets that cannot be intercepted."""
    return UnsupportedPython(
        "not all targets of the context can be intercepted",
        notes=[(describe(target), why) for target, why in found[:5]],
        help="overlay the functions that call them, or compile with ctx.jit",
    )


def why_not(target: Any) -> str | None:
    """The reason why a target cannot be intercepted; None where it can."""
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
    """Record of an intercepted target, for as long as a stack with a method of it lives.

    A ``View`` uses it like a generic function: ``function`` is the target, ``resolve`` gives its
    own code, ``views`` are all its views.
    """

    def __init__(self, target: Any) -> None:
        self.function = target
        self.signature = signature_of(target)
        self.views: weakref.WeakSet[View] = weakref.WeakSet()
        self.engines = 0  # number of stacks that have a method of it
        self.interception: Interception = intercept.Interception(target, self)
        self.native = self.interception
        self._service: View | None = None
        self._by_stack: weakref.WeakKeyDictionary[Stack, TargetView] = weakref.WeakKeyDictionary()

    def view(self, stack: Stack) -> TargetView:
        """The view that resolves calls of the target in a stack."""
        found = self._by_stack.get(stack)
        if found is None:
            with LOCK:
                found = TargetView(self, MethodChain.of(self.function, stack.tables))
                found.hits = Hits(stack.records)
                found.stack = weakref.ref(stack)
                self._by_stack[stack] = found
        return found

    def resolve(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, bool]:
        """The target's own code, or the method that passes the stack on around it."""
        if id(self.function) in carrying.OTHERWISE:
            found, lasting = carrying.OTHERWISE[id(self.function)][1](self.native, args)
            return found, Any, lasting
        if not carrying.TABLE.has(self.function):
            return self.native, Any, True
        if self._service is None:
            own: Any = _OwnCode(self)
            self._service = View(own, MethodChain.of(self.function, (carrying.TABLE,)))
        return self._service, Any, True


class _OwnCode:
    """The own code of an intercepted target, in the form of a generic function for a ``View``."""

    def __init__(self, record: Intercepted) -> None:
        self.function, self.signature = record.function, record.signature
        self.views: weakref.WeakSet[View] = weakref.WeakSet()
        self.native = record.native

    def resolve(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any, bool]:
        """The target's own code."""
        return self.native, Any, True


class _BelowMethods(View):
    """A view of an intercepted target below methods of it."""

    def below(self, method: Method) -> View:
        return _BelowMethods(self.generic, self.chain.after(method))

    def base(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Callable[..., Any], bool]:
        found, lasting = super().base(args, kwargs)
        if id(self.generic.function) in READS:
            found = for_frame_of_program(self.generic.function, found, self.generic)
        return found, lasting


class TargetView(_BelowMethods):
    """A view of an intercepted target; the trampoline caches its resolutions, too."""

    def __init__(self, record: Intercepted, chain: MethodChain) -> None:
        self.record = record
        generic: Any = record
        super().__init__(generic, chain)

    def base(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Callable[..., Any], bool]:
        return View.base(self, args, kwargs)  # no method stands between

    def forget(self) -> None:
        super().forget()
        self.record.interception.forget()


def _resolved(
    record: Intercepted, stack: Stack, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, bool, Any, Any]:
    """Resolve a call for a trampoline. Return the implementation, None for the target's own code;
    whether the argument types alone decide it; and the arguments, where they differ from those
    given."""
    if not stack.is_intercepted:
        return None, True, None, None
    found, lasting, positional, named = resolved(record.view(stack), None, args, kwargs)
    if found is record.native:  # the trampoline calls it with the arguments as written
        return None, lasting, None, None
    return found, lasting, positional, named


def _own(callee: Any, stack: Stack) -> Any:
    """The stack's own object for a callee that has a separate one in each stack."""
    return stack.python.own.of(callee) if stack.is_intercepted else callee


def _lost(record: Intercepted | None, stack: Stack) -> None:
    """Report that a target's own code is about to run with no stack in force, in a thread that is
    inside one, to the records that watch for it; raise OverlayError where a context is strict."""
    if record is None or not any(table.has(record.function) for table in stack.tables):
        return
    target, thread = describe(record.function), threading.current_thread().name
    tell_left(
        stack.records,
        f"thread {thread}",
        target,
        f"{target} was called outside the context, in the thread {thread}, which is inside it: the "
        "code runs in context variables that were copied before the context was entered",
        "pass on ctx.wrap(f) instead of f, or copy the context variables "
        "(contextvars.copy_context) inside the context",
    )


_records: dict[Any, Intercepted] = {}  # by the key of the target
if intercept is not None:
    intercept.set_up_engine(_resolved, _own, _lost)


class InterceptingEngine:
    """The engine of one stack: intercepts its targets for as long as the stack lives."""

    modules = 0  # number of modules when targets were last looked for
    run: Any = staticmethod(intercept.run) if intercept is not None else None
    quietly: Any = staticmethod(intercept.quietly) if intercept is not None else None

    def __init__(self, stack: Stack) -> None:
        self._stack = weakref.ref(stack)
        self._tables = (*stack.tables, carrying.TABLE)
        self._mine: dict[Any, Intercepted] = {}
        self.own = OwnObjects(stack)
        self._refused: dict[Any, tuple[Any, str]] = {}  # targets that cannot be intercepted
        self._is_begun = False  # whether the targets of the first run are intercepted
        self._asks_at_calls = False  # whether calls are instrumented, for plugins
        # whether instructions of code that runs in the stack are instrumented
        self.applies = False
        self.watches = any(record.watches for record in stack.records)
        intercept.watch(self.watches)
        with LOCK:
            for table in self._tables:
                table.listen(self)
            targets = [target for target, _ in carrying.OTHERWISE.values()]
            targets += [target for table in self._tables for target in table.targets()]
            called_functions.add(targets)
            try:
                for target in targets:
                    self.table_changed(target)
                if any(surrounds(plugin) or asks_at_calls(plugin) for plugin in stack.plugins):
                    sites.want_calls()
                    self._asks_at_calls = self.applies = True
                    stack.calls = PluginCalls(stack)
            except BaseException:
                self.release()
                raise
        self._is_begun = True
        noted(INFO, lambda: self._first_run(stack))
        tell(LOCK)

    def _first_run(self, stack: Stack) -> tuple[Any, ...]:
        """The log's message that contexts are entered for the first time, and its arguments."""
        names = ", ".join(repr(table.name) for table in stack.tables) or "no tables"
        shown = [*map(describe, dict.fromkeys(t for each in stack.tables for t in each.targets()))]
        more = f" and {len(shown) - _MOST_NAMED} others" if len(shown) > _MOST_NAMED else ""
        asks = f"; plugins asked about calls: {len(stack.plugins)}" * self._asks_at_calls
        listed = ", ".join(shown[:_MOST_NAMED]) or "nothing"
        return "first run with %s: intercepts %s%s%s", names, listed, more, asks

    def table_changed(self, target: Any) -> None:
        """Intercept a target that a table now has a method of, and release one that no table
        has."""
        stack = self._stack()
        if stack is None:
            return
        self.own.forget()
        if generic_state(target) is not None:
            return
        key = key_of_target(target)
        if id(target) in IN_PLACE_OF:  # `a += b` where a has no __iadd__
            self.table_changed(IN_PLACE_OF[id(target)])
        plain = INPLACE.get(id(target), (target, ""))[0]
        wanted = any(table.has(target) or table.has(plain) for table in self._tables)
        wanted = wanted or id(target) in carrying.OTHERWISE
        if self._is_begun:
            _note_change(stack, target, wanted=wanted, before=key in self._mine)
        if wanted and key not in self._mine:
            reason = why_not(target)
            if reason is not None:
                self._refuse(stack, target, reason)
            record = _records.get(key)
            if record is None or record.function is not target:
                record = Intercepted(target)
                if id(target) in sites.NUMBERS:
                    sites.want(target, record.interception)
                record.interception.install()
                _records[key] = record
                if target is vars(object)["__init_subclass__"]:
                    record.interception.tell(called_functions.look_at_new)
                called_functions.add((target,))
            record.engines += 1
            self._mine[key] = record
            self.applies = self.applies or id(target) in sites.NUMBERS
        elif not wanted and key in self._mine:
            _release(self._mine.pop(key))
        else:
            return
        if stack.calls is not None:
            stack.calls.ask_anew(target)

    def _refuse(self, stack: Stack, target: Any, reason: str) -> NoReturn:
        """Raise OverlayError for a new target that cannot be intercepted, and make the next entry
        raise UnsupportedPython if it is still a target then."""
        self._refused[key_of_target(target)] = target, reason
        self.modules = _LOOK
        raise OverlayError(
            f"{describe(target)} is overlaid in a table of a context that has run, and cannot be "
            f"intercepted: {reason}",
            where=caller(),
            help="overlay the function that calls it",
        )

    def settle(self) -> None:
        """Find targets whose modules have been imported since the last entry."""
        natively(self._settle)

    def _settle(self) -> None:
        self.modules = len(sys.modules)
        for key, (target, reason) in list(self._refused.items()):
            if any(table.has(target) for table in self._tables):
                self.modules = _LOOK
                raise not_all([(target, reason)])
            del self._refused[key]
        for table in self._tables:
            if table.pending:
                table.settle()
        self.own.settle()

    def release(self) -> None:
        """Release all targets; the stack is gone."""
        with LOCK:
            for record in self._mine.values():
                record.interception.forget()
                _release(record)
            self._mine.clear()
            if self._asks_at_calls:
                self._asks_at_calls = False
                sites.leave_calls()
            self.own.release()
            intercept.watch(-self.watches)
            self.watches = False

    # ---- running ----

    def intercepts(self, target: Any) -> bool:
        """Whether an object is a target of the stack."""
        return key_of_target(target) in self._mine

    def enter(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """The callable to run in the place of a function at the start of a run."""
        self.settle()
        self.refuse_stages(f)
        calls = self._calls
        return f if calls is None else calls.stand_in(f)

    def enter_base(self, f: Any) -> Callable[..., Any]:
        """A function's own code, also where the function is a target."""
        self.refuse_stages(f)
        record = _records.get(key_of_target(f))
        own = f if record is None or record.function is not f else record.interception
        calls = self._calls
        if calls is None:
            return own
        return calls.of_base(f, own) if self.intercepts(f) else calls.entered(f)

    @property
    def _calls(self) -> PluginCalls | None:
        stack = self._stack()
        return None if stack is None else stack.calls

    def refuse_stages(self, function: Any) -> None:
        """Raise OverlayError for plugins that have no effect on interpreted code, if the function
        is interpreted."""
        stack = self._stack()
        if stack is not None and stack.plugins and not is_dispatcher(function):
            refuse_stages(stack.plugins, function)

    def pinned(self, result: Any, stack: Stack) -> Any:
        """The result of a run; if it is a generator or coroutine, each of its steps runs in the
        stack."""
        if type(result) is GeneratorType:
            steps: Any = _steps(result, stack)
            steps.__name__, steps.__qualname__ = result.__name__, result.__qualname__
            return steps
        if type(result) is CoroutineType:
            return _awaited(result, stack)
        if type(result) is AsyncGeneratorType:
            return _AsyncSteps(result, stack)
        return result

    def explain_recursion(self, error: RecursionError) -> None:
        """Add a note where a method that calls its own target ran out of stack."""
        trace, methods = error.__traceback__, list[Any]()
        while trace is not None:
            view = named_by(trace.tb_frame.f_code)
            methods.append(None if view is None else view.chain.passed[-1])
            trace = trace.tb_next
        for method in filter(None, methods[-_FRAMES:]):
            if methods[-_FRAMES:].count(method) >= _REPEATS:
                error.add_note(
                    f"method {method} calls its own target again; call call_next(...) for the "
                    "next method, or nonoverlay(f)(...) for no overlay at all"
                )
                return

    def placed(self, function: FunctionType, chain: MethodChain) -> Callable[..., Any]:
        """The function of a method, bound to the stack: its ``call_next`` continues at this place
        of the chain, in the tables of the stack."""
        stack = self._stack()
        if stack is None:
            return function
        generic: Any = generic_state(chain.target)
        if generic is None:
            generic = _records.get(key_of_target(chain.target)) or Intercepted(chain.target)
        below = View(generic, MethodChain.of(chain.target, stack.tables, chain.passed))
        below.hits, below.stack = Hits(stack.records), self._stack
        return belonging(function, below)


def _note_change(stack: Stack, target: Any, *, wanted: bool, before: bool) -> None:
    """Note that methods of a target were added, replaced or removed after the first run."""
    change = {
        (True, True): "cached resolutions of its calls are dropped",
        (True, False): "it is intercepted now",
        (False, True): "it is no longer intercepted",
    }.get((wanted, before))

    def made() -> tuple[Any, ...]:
        names = ", ".join(repr(table.name) for table in stack.tables)
        return "methods of %s changed, with %s: %s", describe(target), names, change

    if change is not None:
        noted(INFO, made)


def _release(record: Intercepted) -> None:
    record.engines -= 1
    if not record.engines:
        record.interception.remove()
        if id(record.function) in sites.NUMBERS:
            sites.leave(record.function)
        called_functions.remove(record.function)
        if _records.get(key_of_target(record.function)) is record:
            del _records[key_of_target(record.function)]


# ---- generators and coroutines that outlive a run ---------------------------------------------


def _steps(inner: Any, stack: Stack | None) -> Generator[Any, Any, Any]:
    """A generator that runs each step of ``inner`` with a stack in force."""
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
