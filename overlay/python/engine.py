"""The Python engine: runs ordinary code under a stack of contexts.

Each function that is called is replaced, for the call alone, by its *twin*: a function with
the same globals, closure and defaults whose code asks the callee map at every call. The
program only ever holds its own objects.
"""

from __future__ import annotations

import operator
import types
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from overlay.python.callees import LRU_CACHE, Callees, copied, is_dispatcher
from overlay.python.dispatcher import Dispatcher
from overlay.python.emit import emitter
from overlay.python.kept import limited
from overlay.python.rewrite import Rewriter
from overlay.python.site import Site
from overlay.table import LOCK, Method
from overlay.target import INPLACE, key_of_target

if TYPE_CHECKING:
    from overlay.context import Context, Stack

__all__ = ["Link", "PythonEngine"]

_INPLACE_OF: dict[Any, int] = {id(plain): key for key, (plain, _) in INPLACE.items()}
_OPERATORS = {id(f): f for f in vars(operator).values() if isinstance(f, types.BuiltinFunctionType)}
# how often a method must stand in the last frames of a RecursionError to be named in it
_FRAMES, _REPEATS = 40, 5


@dataclass(frozen=True)
class Link:
    """A place in a chain of methods: the target that was called, and the methods that the
    call has come through, the last of them running."""

    target: Any
    methods: tuple[Method, ...]

    def wraps(self, function: FunctionType) -> bool:
        """Whether the running method is ``function`` inside decorators."""
        inner: Any = self.methods[-1].function
        while inner is not function and (inner := getattr(inner, "__wrapped__", None)) is not None:
            pass
        return inner is function

    def key(self) -> tuple[Any, ...]:
        """Tells links apart by identity."""
        return (key_of_target(self.target), *map(id, self.methods))


class PythonEngine:
    """Callee map, twins and dispatchers for one stack of contexts. Kept as long as the stack.

    It listens to its tables: a change takes effect at the next call, also of code that is
    running; a first overlay of an operator takes effect at the next call of a function.

    Rewritten code holds its sites, and they the engine, and code objects take no part in garbage
    collection. So the engine must not keep the stack alive, and when the stack is gone it drops
    all that it has kept, and keeps nothing more: a generator that is still running goes on,
    slower, and the engine goes with it.
    """

    def __init__(self, stack: Stack) -> None:
        self._stack = weakref.ref(stack)
        self._context = weakref.ref(stack.context)
        self._as_context = stack.context.metadata, stack.context.state
        self.released = False
        self.tables = stack.tables
        self.emitter = emitter()
        self.callees = Callees(self, None)
        self._linked: dict[Any, Callees] = {}
        self._dispatchers: dict[Any, Dispatcher] = {}
        self._codes: dict[tuple[int, int, int], tuple[Any, CodeType]] = {}
        self._link_of_code: dict[int, tuple[CodeType, Callees]] = {}
        self._method_of_code: dict[int, tuple[CodeType, Method]] = {}
        self._sites: weakref.WeakSet[Site] = weakref.WeakSet()
        self._twins: weakref.WeakKeyDictionary[FunctionType, tuple[FunctionType, Callees]] = (
            weakref.WeakKeyDictionary()
        )
        self.overlaid: set[Any] = set()
        with LOCK:
            for table in self.tables:
                table.listen(self)
            self.settle()
            self._refresh()

    def release(self) -> None:
        """Drop all that was kept; the stack is gone."""
        with LOCK:
            self.released = True
            for site in list(self._sites):
                site.release()
            for callees in (self.callees, *self._linked.values()):
                callees.known.clear()
                callees.codes.clear()
            for dispatcher in self._dispatchers.values():
                dispatcher.forget()
            for kept in (self._codes, self._method_of_code, self._dispatchers):
                kept.clear()

    # ---- entering ----

    @property
    def stack(self) -> Stack:
        """The stack, or one like it where it is gone."""
        from overlay.context import Stack

        return self._stack() or Stack(self.current(), self.tables)

    def current(self) -> Context:
        """What ``current_context()`` gives in code of this engine."""
        from overlay.context import Context

        metadata, state = self._as_context
        return self._context() or Context(*reversed(self.tables), metadata=metadata, state=state)

    def enter(self, function: Any) -> Any:
        """What to call in place of ``function`` at the start of a run."""
        return self.callees[function]

    def enter_inner(self, context: Context, /, *args: Any, **kwargs: Any) -> Any:
        """A context called inside this one: its tables go on top of these."""
        from overlay.context import entered

        with entered(self.stack):
            return context(*args, **kwargs)

    def compiled(self, dispatcher: Any) -> Any:
        """A numba dispatcher, compiled anew under these tables."""
        return self.stack.joined.jit(dispatcher)

    # ---- changes of tables ----

    def settle(self) -> None:
        """Find targets whose modules have been imported since."""
        for table in self.tables:
            if table.pending:
                table.settle()

    def table_changed(self, target: Any) -> None:
        """Drop what depended on the methods of ``target``."""
        with LOCK:
            before = key_of_target(target) in self.overlaid
            self._refresh()
            for dispatcher in self._dispatchers.values():
                dispatcher.forget()
            self._forget_results()
            if (key_of_target(target) in self.overlaid) is before:
                return
            for callees in (self.callees, *self._linked.values()):
                callees.known.pop(id(target), None)
            for site in list(self._sites):
                site.forget(target)
            if id(target) in _OPERATORS:
                self._rewrite_all()

    def _forget_results(self) -> None:
        """Cached functions have to find their results anew."""
        for callees in (self.callees, *self._linked.values()):
            for callee, *_ in list(callees.known.values()):
                if type(callee) is LRU_CACHE:
                    del callees.known[id(callee)]
                    for site in list(self._sites):
                        site.forget(callee)

    def _refresh(self) -> None:
        keys = {key_of_target(t) for table in self.tables for t in table.targets()}
        inplace = {_INPLACE_OF[key] for key in keys if key in _INPLACE_OF}
        self.overlaid = keys | inplace

    def _rewrite_all(self) -> None:
        self._codes.clear()
        for callees in (self.callees, *self._linked.values()):
            callees.codes.clear()
        for twin, (original, callees) in list(self._twins.items()):
            twin.__code__ = self.rewritten(original.__code__, original.__globals__, callees)

    # ---- methods ----

    def dispatcher(self, target: Any, link: Link | None = None) -> Dispatcher:
        """The dispatcher of a target, or of ``call_next`` below a link."""
        key = key_of_target(target) if link is None else link.key()
        found = self._dispatchers.get(key)
        if found is None:
            found = Dispatcher(self, target, link)
            if not self.released:
                self._dispatchers[key] = found
        return found

    def next_of(self, link: Link) -> Callable[..., Any]:
        """What ``call_next`` stands for in the code of a link."""
        return self.dispatcher(link.target, link).generic

    def implementation(
        self, target: Any, method: Method, after: tuple[Method, ...], args: tuple[Any, ...]
    ) -> Callable[..., Any]:
        """The function to run for a method: its body in the context, with its own call_next."""
        function = method.implementation(tuple(map(type, args)))
        link = Link(target, (*after, method))
        callees = self._callees_of(link)
        if is_dispatcher(function):
            return self.stack.joined.compiled.jit_method(function, target, link.methods)
        if type(function) is not FunctionType:
            return callees[function]
        twin = self.twin(function, callees)
        if not self.released:
            self._method_of_code[id(twin.__code__)] = twin.__code__, method
        return twin

    def _callees_of(self, link: Link) -> Callees:
        return self._linked.setdefault(link.key(), Callees(self, link))

    # ---- twins ----

    def twin(self, function: FunctionType, callees: Callees | None = None) -> FunctionType:
        """The function to run in place of ``function``."""
        code = function.__code__
        if callees is None:
            owner = self._link_of_code.get(id(code))
            callees = self.callees if owner is None else owner[1]
        new = self.rewritten(code, function.__globals__, callees)
        twin = copied(function, new)
        self._twins[twin] = function, callees
        return twin

    def rewritten(self, code: CodeType, namespace: dict[str, Any], callees: Callees) -> CodeType:
        key = id(code), id(namespace), id(callees)
        entry = self._codes.get(key)
        if entry is not None and entry[0] is code:
            return entry[1]
        with LOCK:
            rewriter = Rewriter(
                self.emitter,
                lambda arity: self._site(callees, arity),
                self._operator,
                lambda nested: self._nested(nested, callees),
            )
            new = rewriter.rewrite(code, namespace)
            if not self.released:
                limited(self._codes)[key] = code, new
        return new

    def _site(self, callees: Callees, arity: int | None) -> Site:
        site = Site(callees, arity)
        self._sites.add(site)
        return site

    def _operator(self, function: Any) -> Callable[..., Any] | None:
        if id(function) not in self.overlaid:
            return None
        return self.dispatcher(function).generic

    def _nested(self, code: CodeType, callees: Callees) -> CodeType:
        """A function defined inside a method belongs to the method: its code is copied, so
        that it can be told from the same code reached in another way."""
        if callees.link is None:
            return code
        copy = code.replace()
        self._link_of_code[id(copy)] = copy, callees
        return copy

    # ---- errors ----

    def explain_recursion(self, error: RecursionError) -> None:
        """Add a note where a method that calls its own target ran out of stack."""
        trace, frames = error.__traceback__, list[CodeType]()
        while trace is not None:
            frames.append(trace.tb_frame.f_code)
            trace = trace.tb_next
        recent = [id(code) for code in frames[-_FRAMES:]]
        for key, (_, method) in self._method_of_code.items():
            if recent.count(key) >= _REPEATS:
                error.add_note(
                    f"method {method!r} reaches its own target again; "
                    "to go on below it, use call_next(...) or nonoverlay(f)(...)"
                )
                return
