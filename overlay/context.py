"""Contexts: ordered stacks of method tables, and what code inside one can say."""

from __future__ import annotations

import contextlib
import functools
import sys
import typing
import warnings
import weakref
from collections.abc import Callable, Generator, Hashable
from contextvars import ContextVar
from functools import cached_property
from types import MethodType
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, ParamSpec, Self, TypeVar

from overlay.dispatch import by_types, resolve
from overlay.errors import OverlayError, OverlayWarning
from overlay.location import caller
from overlay.metadata import metadata_key
from overlay.pickling import home_of_caller, name_at_home, named
from overlay.report import Hits
from overlay.table import LOCK, Method, MethodTable
from overlay.target import canonical, describe, generic_state
from overlay.views import View, view_of

if TYPE_CHECKING:
    from overlay.compiled import CompiledContext
    from overlay.explain import Explanation
    from overlay.generics import Generic
    from overlay.python import PythonEngine
    from overlay.report import Record, Report

__all__ = ["Context", "Stack", "call_next", "current_context", "nonoverlay", "recurse"]

P = ParamSpec("P")
R = TypeVar("R")

_FIELDS = ("tables", "plugins", "metadata", "state", "implicit", "strict", "counts")
_current: ContextVar[Stack | None] = ContextVar("overlay_stack", default=None)
_blocks: ContextVar[_Block | None] = ContextVar("overlay_blocks", default=None)
# the stack in force, or None, and its key: what generic functions ask at every call
current_stack = _current.get
_key: ContextVar[object] = ContextVar("overlay_key", default=None)
current_key = _key.get


class Context:
    """An ordered stack of method tables under which code runs; immutable.

    tables: later ones shadow earlier ones. metadata: any hashable value; part of what compiled
    code is kept under. state: any object; code reads both from ``current_context()``.
    implicit: bodies that operators and other syntax reach by themselves are entered too.
    strict: a call that would leave the context raises an error. counts: ``report`` tells how
    often methods were called and from where, which costs time at each of their calls.

    >>> import math
    >>> from overlay import Context, MethodTable
    >>> approx = MethodTable("approx")
    >>> @approx.overlay(math.sin)
    ... def sin(x: float) -> float:
    ...     return x
    >>> def height(angle):
    ...     return 2 * math.sin(angle)
    >>> ctx = Context(approx)
    >>> ctx(height, 0.5), height(0.5) == 2 * math.sin(0.5)
    (1.0, True)
    """

    def __init__(
        self,
        *tables: MethodTable,
        plugins: tuple[Any, ...] = (),
        metadata: Any = None,
        state: Any = None,
        implicit: bool = False,
        strict: bool = False,
        counts: bool = False,
    ) -> None:
        for table in tables:
            if not isinstance(table, MethodTable):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise OverlayError(
                    f"a context holds method tables, not {table!r}",
                    where=caller(),
                    help="join two contexts with outer | inner",
                )
        if tuple(plugins):
            raise OverlayError(
                f"this version has no plugins, and was given {plugins!r}",
                where=caller(),
                help="leave plugins= out",
            )
        self._key = metadata_key(metadata)
        self._tables = tables
        self._plugins = tuple(plugins)
        self._metadata = metadata
        self._state = state
        self._implicit = implicit
        self._strict = strict
        self._counts = counts
        self._home = home_of_caller()

    @property
    def tables(self) -> tuple[MethodTable, ...]:
        """Its tables, outermost first."""
        return self._tables

    @property
    def plugins(self) -> tuple[Any, ...]:
        """Its plugins, in the order in which they run."""
        return self._plugins

    @property
    def metadata(self) -> Any:
        """Its metadata."""
        return self._metadata

    @property
    def metadata_key(self) -> Hashable:
        """Its metadata, compared by type and value: see ``metadata_key``."""
        return self._key

    @property
    def state(self) -> Any:
        """Its state."""
        return self._state

    @property
    def implicit(self) -> bool:
        """Whether bodies that operators and other syntax reach are entered too."""
        return self._implicit

    @property
    def strict(self) -> bool:
        """Whether a call that would leave the context raises an error."""
        return self._strict

    @property
    def counts(self) -> bool:
        """Whether calls of methods are counted, for ``report``."""
        return self._counts

    def __repr__(self) -> str:
        parts = [table.name for table in self._tables]
        if self._metadata is not None:
            parts.append(f"metadata={self._metadata!r}")
        parts += [
            f"{flag}=True" for flag in ("implicit", "strict", "counts") if getattr(self, flag)
        ]
        return f"<Context {', '.join(parts)}>"

    def __or__(self, inner: Context) -> Context:
        """One context that shadows with ``inner`` first; its flags win, and its metadata and
        state where it has any. Plugins are joined in order."""
        if not isinstance(inner, Context):  # pyright: ignore[reportUnnecessaryIsInstance]
            return NotImplemented
        return Context(
            *(table for table in self._tables if table not in inner._tables),
            *inner._tables,
            plugins=self._plugins + inner._plugins,
            metadata=self._metadata if inner._metadata is None else inner._metadata,
            state=self._state if inner._state is None else inner._state,
            implicit=inner._implicit,
            strict=inner._strict,
            counts=inner._counts,
        )

    def replace(self, **changes: Any) -> Context:
        """A changed copy. changes: ``tables``, ``plugins``, ``metadata``, ``state``,
        ``implicit``, ``strict``, ``counts``; a TypeError for any other name."""
        unknown = [name for name in changes if name not in _FIELDS]
        if unknown:
            raise TypeError(
                f"a context has no {unknown[0]!r} to replace; it has {', '.join(_FIELDS)}"
            )
        values = {name: getattr(self, name) for name in _FIELDS} | changes
        return Context(*values.pop("tables"), **values)

    def method(self, target: Any, *types: Any) -> Method | None:
        """The method that a call of ``target`` with arguments of these types resolves to, or
        None where it falls through to the base.

        Raises AmbiguousMethod where no method of a table is the most specific.
        """
        for table in self._tables:
            table.settle()
        return resolve(self._alone.tables, canonical(target), by_types(types))

    # ---- in other processes ----

    def __reduce__(self) -> Any:
        name = name_at_home(self, self._home)
        if name is not None:
            return named, (self._home, name)
        return object.__new__, (Context,), {name: getattr(self, name) for name in _FIELDS}

    def __setstate__(self, fields: dict[str, Any]) -> None:
        tables = fields.pop("tables")
        Context.__init__(self, *tables, **fields)
        self._home = None

    # ---- running ----

    def __call__(self, f: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run ``f(*args, **kwargs)``: every call below it sees the tables first."""
        outer = _current.get()
        stack = self._alone if outer is None else outer.push(self)
        token, key = _current.set(stack), _key.set(stack.key)
        try:
            return stack.python.enter(f)(*args, **kwargs)
        except RecursionError as error:
            stack.python.explain_recursion(error)
            raise
        finally:
            _current.reset(token)
            _key.reset(key)
            if outer is None:
                stack.python.leave()

    def __enter__(self) -> Context:
        """Generic functions see the tables until the block ends, in this thread or task.

        Ordinary code in the block is not rewritten: warns of targets that it cannot reach.
        """
        unreached = self._unreached
        if unreached:
            warnings.warn(_out_of_reach(self, unreached), OverlayWarning, stacklevel=2)
        outer = _current.get()
        stack = self._alone if outer is None else outer.push(self)
        if outer is not None and stack is not outer:
            outer.has_block_inside()
        _blocks.set(_Block(self, stack, outer, _blocks.get()))
        _put_in_force(stack)
        return self

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        block = _blocks.get()
        if block is None or block.context is not self or _current.get() is not block.stack:
            _leave_out_of_order(self, error)
            return
        _blocks.set(block.outer)
        _put_in_force(block.before)

    @property
    def _unreached(self) -> tuple[str, ...]:
        """The targets that a block cannot reach."""
        versions = tuple(table.version for table in self._tables)
        known = self.__dict__.get("_unreached_at")
        if known is None or known[0] != versions:
            targets = [t for table in self._tables for t in table.targets()]
            names = (describe(t) for t in targets if generic_state(t) is None)
            known = self._unreached_at = versions, tuple(dict.fromkeys(names))
        return known[1]

    def wrap(self, f: Callable[P, R], /) -> Callable[P, R]:
        """The same function, run in this context at every call."""
        return Wrapped(self, f)

    def jit(self, f: Callable[P, R], /, **options: Any) -> Callable[P, R]:
        """The same function compiled by numba under this context, with no run-time cost.

        options: numba's own (``parallel``, ``fastmath``, ``nogil``, ...).
        Raises NotCompilable where numba cannot hold what a method needs.
        """
        return self.compiled.jit(f, **options)

    # ---- looking ----

    def explain(
        self, f: Callable[..., Any], /, *types: Any, depth: int | None = None
    ) -> Explanation:
        """Which method each call site below ``self(f, ...)`` resolves to, by reading the code.

        types: of the arguments; from f's annotations where none are given. depth: how many
        calls deep to look, None for all. Nothing of the program runs.
        """
        from overlay.explain import explain

        return explain(self, f, *types, depth=depth)

    def report(self) -> Report:
        """The methods that calls have resolved to so far, and those that none has; where the
        context counts or is strict, also how often, from where, and where a call left it."""
        from overlay.report import report

        return report(self)

    @cached_property
    def record(self) -> Record:
        """What it remembers for ``report``."""
        from overlay.report import Record

        return Record(self._tables, counts=self._counts, strict=self._strict)

    @cached_property
    def compiled(self) -> CompiledContext:
        """This context's side of the compiled engine (imports numba)."""
        from overlay.compiled import CompiledContext

        return CompiledContext(self)

    @cached_property
    def _alone(self) -> Stack:
        return Stack(self)

    @cached_property
    def stacks(self) -> weakref.WeakKeyDictionary[Stack, Stack]:
        """By the stack that this context was entered in: the stack inside."""
        return weakref.WeakKeyDictionary()


class Stack:
    """The tables in force, as contexts were entered one inside the other.

    tables: innermost first, each once. context: the innermost context. key: what generic
    functions keep under it goes when the stack goes.
    """

    def __init__(
        self,
        context: Context,
        outside: tuple[MethodTable, ...] = (),
        outer: Stack | None = None,
    ) -> None:
        self.context = context
        self.tables = tuple(dict.fromkeys((*reversed(context.tables), *outside)))
        self.key = object()
        self._views: dict[int, View] = {}
        self._outer = None if outer is None else weakref.ref(outer)
        self.block_inside = False
        self.engine_views: weakref.WeakSet[View] = weakref.WeakSet()

    def view(self, generic: Generic) -> View:
        """What calls of a generic function resolve to here."""
        found = self._views.get(id(generic))
        if found is None or found.generic is not generic:
            with LOCK:
                if not self._views:
                    weakref.finalize(self, _forget_key, self.key, self._views).atexit = False
                found = View(generic, self.tables)
                found.hits = Hits(self.records)
                self._views[id(generic)] = found
                generic.remember(self.key, found)
        return found

    def has_block_inside(self) -> None:
        """Code that the engine runs under these tables has entered ``with ctx:``: from now on
        it looks at each call of a generic function which tables are in force."""
        with LOCK:
            self.block_inside = True
            for view in list(self.engine_views):
                view.forget()

    def is_inside(self, outer: Stack) -> bool:
        """Whether this is a stack that was entered in ``outer``."""
        stack = self
        while stack is not None and stack is not outer:
            stack = None if stack._outer is None else stack._outer()
        return stack is outer and self is not outer

    @property
    def records(self) -> tuple[Record, ...]:
        """Those of its contexts, innermost first."""
        outer = None if self._outer is None else self._outer()
        return (self.context.record, *(() if outer is None else outer.records))

    @cached_property
    def python(self) -> PythonEngine:
        """The Python engine for these tables."""
        from overlay.python import PythonEngine

        engine = PythonEngine(self)
        weakref.finalize(self, engine.release).atexit = False
        return engine

    @cached_property
    def joined(self) -> Context:
        """One context with all these tables."""
        if len(self.tables) == len(self.context.tables):
            return self.context
        return self.context.replace(tables=tuple(reversed(self.tables)))

    def push(self, context: Context) -> Stack:
        """These tables with those of one more context inside; entering the innermost again
        changes nothing."""
        if context is self.context:
            return self
        # Held by the inner context and, weakly, by this stack: gone when either is gone.
        stack = context.stacks.get(self)
        if stack is None:
            stack = context.stacks.setdefault(self, Stack(context, self.tables, self))
        return stack


class Wrapped(functools.partial[Any]):
    """What ``ctx.wrap(f)`` gives: a call of the context with the function.

    A class, so that it can be pickled; a function in all that can be asked of one.
    """

    def __new__(cls, context: Context, function: Callable[..., Any]) -> Self:
        return super().__new__(cls, context, function)

    def __init__(self, context: Context, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function)
        self._home: str | None = home_of_caller()

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self) -> Any:
        name = name_at_home(self, self._home)
        if name is not None:
            return named, (self._home, name)
        return Wrapped, (self.func, *self.args)


def _forget_key(key: object, views: dict[int, View]) -> None:
    for view in views.values():
        view.generic.forget_key(key)


def wrapped_in(function: Any) -> tuple[Context, Callable[..., Any]] | None:
    """The context and function that ``ctx.wrap`` joined, or None for anything else."""
    if type(function) is not Wrapped:
        return None
    context: Any = function.func
    return context, function.args[0]


@contextlib.contextmanager
def entered(stack: Stack | None) -> Generator[None]:
    """For the block, these contexts are in force."""
    outer = _current.get()
    _put_in_force(stack)
    try:
        yield
    finally:
        _put_in_force(outer)


def _put_in_force(stack: Stack | None) -> None:
    _current.set(stack)
    _key.set(None if stack is None else stack.key)


# ---- what code inside a context can say ---------------------------------------------------


def current_context() -> Context | None:
    """The innermost context in force, or None."""
    stack = _current.get()
    return None if stack is None else stack.context


def call_next(*args: Any, **kwargs: Any) -> Any:
    """Inside a method: the next method for these arguments, at last the base.

    Next are the less specific methods of the same table, then those of the tables further
    out, matched anew against the arguments given. A method is never entered twice.
    """
    view = view_of(sys._getframe(1))
    if view is None:
        _only_inside_a_method()
    return view.call(args, kwargs)


# ---- blocks -------------------------------------------------------------------------------


class _Block(NamedTuple):
    """A ``with ctx:`` that has begun: the stack inside, the stack before, the block around."""

    context: Context
    stack: Stack
    before: Stack | None
    outer: _Block | None


def _out_of_reach(context: Context, names: tuple[str, ...]) -> str:
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return (
        f"with {context!r}: only generic functions see the tables in a block; it cannot reach "
        f"the overlays of {shown}. Run ctx(f, ...) for code that calls them"
    )


def _leave_out_of_order(context: Context, error: BaseException | None) -> None:
    """A block ends that is not the innermost: take it out from under the others."""
    above: list[Context] = []
    block = _blocks.get()
    while block is not None and block.context is not context:
        above.append(block.context)
        block = block.outer
    if block is not None:
        stack, outer = block.before, block.outer
        for inner in reversed(above):
            inside = inner._alone if stack is None else stack.push(inner)
            outer = _Block(inner, inside, stack, outer)
            stack = inside
        _blocks.set(outer)
        _put_in_force(stack)
    message = (
        "the block ended in another thread or task than it began in"
        if block is None
        else "the block ended out of order, or what runs in it did: what was called since it "
        "began may have seen tables that were not meant for it"
    )
    remedy = "do not yield inside `with ctx:`; collect the results, or yield ctx.wrap(f)(...)"
    if error is not None:
        error.add_note(f"with {context!r}: {message}\n  help: {remedy}")
        return
    raise OverlayError(f"with {context!r}: {message}", where=caller(), help=remedy)


def _only_inside_a_method() -> NoReturn:
    raise OverlayError(
        "call_next() was called outside a method that a context runs",
        where=caller(),
        help="call it directly in the body of a function registered by @table.overlay(...)",
    )


def recurse(context: Context, f: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
    """Run f's own body under a context, even where f itself is overlaid in it.

    Calls of f further down are dispatched, like any other.
    """
    outer = _current.get()
    stack = context._alone if outer is None else outer.push(context)
    try:
        with entered(stack):
            if isinstance(f, MethodType):
                return stack.python.enter_base(f.__func__)(f.__self__, *args, **kwargs)
            return stack.python.enter_base(f)(*args, **kwargs)
    finally:
        if outer is None:
            stack.python.leave()


class nonoverlay(typing.Generic[P, R]):  # noqa: N801 (reads as the function that it stands for)
    """``nonoverlay(f)(*args)``: f and all below it, with no overlay.

    >>> import math
    >>> from overlay import nonoverlay
    >>> nonoverlay(math.sqrt)(4.0)
    2.0
    """

    __slots__ = ("__weakref__", "function")

    def __init__(self, function: Callable[P, R], /) -> None:
        self.function = function

    def __repr__(self) -> str:
        return f"nonoverlay({self.function!r})"

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        token, key = _current.set(None), _key.set(None)
        try:
            return self.function(*args, **kwargs)
        finally:
            _current.reset(token)
            _key.reset(key)
