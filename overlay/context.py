"""Contexts: ordered stacks of method tables, and what code inside one can say."""

from __future__ import annotations

import contextlib
import enum
import functools
import weakref
from collections.abc import Callable, Generator
from contextvars import ContextVar
from functools import cached_property
from types import FunctionType
from typing import TYPE_CHECKING, Any, Generic, NoReturn, ParamSpec, TypeVar

from overlay.dispatch import by_types, resolve
from overlay.errors import OverlayError
from overlay.location import caller
from overlay.table import Method, MethodTable
from overlay.target import canonical

if TYPE_CHECKING:
    from overlay.compiled import CompiledContext
    from overlay.python import PythonEngine

__all__ = ["Context", "Stack", "call_next", "current_context", "nonoverlay"]

P = ParamSpec("P")
R = TypeVar("R")

_WRAPPED = "__overlay_wrapped__"
_current: ContextVar[Stack | None] = ContextVar("overlay_stack", default=None)


class _Unset(enum.Enum):
    UNSET = enum.auto()


_UNSET = _Unset.UNSET


class Context:
    """An ordered stack of method tables under which code runs; immutable.

    tables: later ones shadow earlier ones. metadata: any hashable value; part of what compiled
    code is kept under. state: any object; code reads both from ``current_context()``.

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

    def __init__(self, *tables: MethodTable, metadata: Any = None, state: Any = None) -> None:
        for table in tables:
            if not isinstance(table, MethodTable):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise OverlayError(
                    f"a context holds method tables, not {table!r}",
                    where=caller(),
                    help="join two contexts with outer | inner",
                )
        try:
            hash(metadata)
        except TypeError as error:
            raise OverlayError(
                f"metadata of a context must be hashable, not {metadata!r}",
                where=caller(),
                help="use a tuple or a frozen dataclass; what changes goes into state=",
            ) from error
        self._tables = tables
        self._metadata = metadata
        self._state = state

    @property
    def tables(self) -> tuple[MethodTable, ...]:
        """Its tables, outermost first."""
        return self._tables

    @property
    def metadata(self) -> Any:
        """Its metadata."""
        return self._metadata

    @property
    def state(self) -> Any:
        """Its state."""
        return self._state

    def __repr__(self) -> str:
        parts = [table.name for table in self._tables]
        if self._metadata is not None:
            parts.append(f"metadata={self._metadata!r}")
        return f"<Context {', '.join(parts)}>"

    def __or__(self, inner: Context) -> Context:
        """One context that shadows with ``inner`` first; its metadata and state win."""
        return Context(
            *(table for table in self._tables if table not in inner._tables),
            *inner._tables,
            metadata=self._metadata if inner._metadata is None else inner._metadata,
            state=self._state if inner._state is None else inner._state,
        )

    def replace(
        self,
        *,
        tables: tuple[MethodTable, ...] | _Unset = _UNSET,
        metadata: Any = _UNSET,
        state: Any = _UNSET,
    ) -> Context:
        """A changed copy."""
        return Context(
            *(self._tables if tables is _UNSET else tables),
            metadata=self._metadata if metadata is _UNSET else metadata,
            state=self._state if state is _UNSET else state,
        )

    def method(self, target: Any, *types: Any) -> Method | None:
        """The method that a call of ``target`` with arguments of these types resolves to, or
        None where it falls through to the base.

        Raises AmbiguousMethod where no method of a table is the most specific.
        """
        for table in self._tables:
            table.settle()
        return resolve(self._alone.tables, canonical(target), by_types(types))

    # ---- running ----

    def __call__(self, f: Callable[P, R], /, *args: P.args, **kwargs: P.kwargs) -> R:
        """Run ``f(*args, **kwargs)``: every call below it sees the tables first."""
        outer = _current.get()
        stack = self._alone if outer is None else outer.push(self)
        token = _current.set(stack)
        try:
            return stack.python.enter(f)(*args, **kwargs)
        except RecursionError as error:
            stack.python.explain_recursion(error)
            raise
        finally:
            _current.reset(token)

    def wrap(self, f: Callable[P, R], /) -> Callable[P, R]:
        """The same function, run in this context at every call."""

        @functools.wraps(f)
        def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
            return self(f, *args, **kwargs)

        wrapped.__dict__[_WRAPPED] = self, f
        return wrapped

    def jit(self, f: Callable[P, R], /, **options: Any) -> Callable[P, R]:
        """The same function compiled by numba under this context, with no run-time cost.

        options: numba's own (``parallel``, ``fastmath``, ``nogil``, ...).
        Raises NotCompilable where numba cannot hold what a method needs.
        """
        return self.compiled.jit(f, **options)

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

    tables: innermost first, each once. context: the innermost context.
    """

    def __init__(self, context: Context, outside: tuple[MethodTable, ...] = ()) -> None:
        self.context = context
        self.tables = tuple(dict.fromkeys((*reversed(context.tables), *outside)))

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
            stack = context.stacks.setdefault(self, Stack(context, self.tables))
        return stack


def wrapped_in(function: FunctionType) -> tuple[Context, Callable[..., Any]] | None:
    """The context and function that ``ctx.wrap`` joined, or None for any other function."""
    return function.__dict__.get(_WRAPPED)


@contextlib.contextmanager
def entered(stack: Stack | None) -> Generator[None]:
    """For the block, these contexts are in force."""
    token = _current.set(stack)
    try:
        yield
    finally:
        _current.reset(token)


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
    _only_inside_a_method()


def _only_inside_a_method() -> NoReturn:
    raise OverlayError(
        "call_next() was called outside a method that a context runs",
        where=caller(),
        help="call it directly in the body of a function registered by @table.overlay(...)",
    )


class nonoverlay(Generic[P, R]):  # noqa: N801 (reads as the function that it stands for)
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
        token = _current.set(None)
        try:
            return self.function(*args, **kwargs)
        finally:
            _current.reset(token)
