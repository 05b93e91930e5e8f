"""Contexts: ordered stacks of method tables under which code runs."""

from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Hashable, Iterable
from functools import cached_property
from types import AsyncGeneratorType, CoroutineType, GeneratorType
from typing import TYPE_CHECKING, Any, Final, ParamSpec, TypedDict, TypeVar, Unpack

from overlay.contexts import with_blocks as blocks
from overlay.contexts.compilations import Compilations
from overlay.contexts.current import call_next, current_context, nonoverlay, recurse
from overlay.contexts.report import CallRecord, Report, report
from overlay.contexts.stack import Stack
from overlay.contexts.wrapping import Wrapped, wrapped_in
from overlay.core import late_binding
from overlay.core.bounded_store import Kept
from overlay.core.dispatch import MethodChain, by_types
from overlay.core.errors import OverlayError
from overlay.core.in_force import natively, runs_natively, stack_in_force
from overlay.core.location import caller, name_of
from overlay.core.metadata import metadata_key
from overlay.core.own_builtins import __builtins__
from overlay.core.pickling import home_of_caller, name_at_home, named
from overlay.core.public_names import hides
from overlay.core.short_repr import named_value
from overlay.core.table import Method, MethodTable
from overlay.core.target import canonical, refuse_values
from overlay.plugins.plugin import Plugin, composed, identity, refuse_around

if TYPE_CHECKING:
    from overlay.compiled import CompiledContext
    from overlay.core.jitted import Compiled
    from overlay.inspect.explanation import Explanation

__all__ = [
    "Context",
    "call_next",
    "current_context",
    "nonoverlay",
    "recurse",
    "wrapped_in",
]


class Changes(TypedDict, total=False):
    """Fields that ``Context.replace`` may change."""

    tables: Iterable[MethodTable]
    plugins: Iterable[Plugin]
    metadata: Any
    state: Any
    strict: bool
    count_calls: bool


P = ParamSpec("P")
R = TypeVar("R")

# Sizes of two caches: copies of one context with other metadata or plugins, and functions that one
# context has compiled.
_COPIES = 64
_COMPILED = 64

# Results whose code runs later: each of their steps runs in the context, too.
GOES_ON = (GeneratorType, CoroutineType, AsyncGeneratorType)

# Types of which ``metadata_key`` calls two values equal only if they are interchangeable;
# compared by identity, since a metaclass may have an ``__eq__`` of its own.
_PLAIN: Final = {id(kind) for kind in (type(None), bool, int, float, complex, str, bytes)}

_FIELDS = ("tables", "plugins", "metadata", "state", "strict", "count_calls")


@hides("compiled", "metadata_key", "record", "stacks")
class Context:
    """An ordered stack of method tables under which code runs; immutable.

    Parameters
    ----------
    *tables : MethodTable
        The tables; later ones shadow earlier ones.
    plugins : iterable of Plugin
        Hooks into compilation and calls, in the order in which they run.
    metadata : hashable
        Any hashable value; part of the key of compiled code. Code reads it from
        ``current_context().metadata``.
    state : object
        Any object, which code reads from ``current_context().state``. It is not part of the
        key of compiled code.
    strict : bool
        Whether a call that has lost the context raises an error.
    count_calls : bool
        Whether ``report`` says how often methods were called, and from where. Counting costs time
        at each call of a method.

    Raises
    ------
    OverlayError
        One of ``tables`` is no method table, ``metadata`` is not hashable, or a plugin cannot work
        because of another.

    Examples
    --------
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

    @runs_natively
    def __init__(
        self,
        *tables: MethodTable,
        plugins: Iterable[Plugin] = (),
        metadata: Any = None,
        state: Any = None,
        strict: bool = False,
        count_calls: bool = False,
    ) -> None:
        for table in tables:
            if not isinstance(table, MethodTable):  # pyright: ignore[reportUnnecessaryIsInstance]
                raise _no_table(table)
        self._key = metadata_key(metadata)
        self._tables = tables
        self._plugins = composed(plugins)
        self._metadata = metadata
        self._state = state
        self._strict = strict
        self._count_calls = count_calls
        self._home = home_of_caller()

    @property
    def tables(self) -> tuple[MethodTable, ...]:
        """The tables, outermost first."""
        return self._tables

    @property
    def plugins(self) -> tuple[Plugin, ...]:
        """The plugins, in the order in which they run."""
        return self._plugins

    @property
    def metadata(self) -> Any:
        """The metadata, as it was given."""
        return self._metadata

    @property
    def metadata_key(self) -> Hashable:
        """Key of the metadata: equal for metadata of equal types and values (see
        ``overlay.core.metadata``).
        """
        return self._key

    @property
    def state(self) -> Any:
        """The state, as it was given."""
        return self._state

    @property
    def strict(self) -> bool:
        """Whether a call that has lost the context raises an error."""
        return self._strict

    @property
    def count_calls(self) -> bool:
        """Whether calls of methods are counted, for ``report``."""
        return self._count_calls

    def __repr__(self) -> str:
        parts = [table.name for table in self._tables]
        parts += map(repr, self._plugins)
        if self._metadata is not None:
            parts.append(f"metadata={self._metadata!r}")
        parts += [f"{flag}=True" for flag in ("strict", "count_calls") if getattr(self, flag)]
        return f"<Context {', '.join(parts)}>" if parts else "<Context without tables>"

    def _repr_html_(self) -> str:
        return late_binding.drawing.load()(self)

    @runs_natively
    def __or__(self, inner: Context) -> Context:
        """Join two contexts: the tables of ``inner`` shadow those of this one.

        The flags are those of ``inner``; metadata and state are those of ``inner`` where it has
        any. Plugins are joined in order.

        Examples
        --------
        >>> from overlay import Context
        >>> (Context(metadata=1, state="outer") | Context(metadata=2)).metadata
        2
        """
        if not isinstance(inner, Context):  # pyright: ignore[reportUnnecessaryIsInstance]
            return NotImplemented
        return Context(
            *(table for table in self._tables if table not in inner._tables),
            *inner._tables,
            plugins=self._plugins + inner._plugins,
            metadata=self._metadata if inner._metadata is None else inner._metadata,
            state=self._state if inner._state is None else inner._state,
            strict=inner._strict,
            count_calls=inner._count_calls,
        )

    @runs_natively
    def replace(self, **changes: Unpack[Changes]) -> Context:
        """Return a changed copy.

        The 64 most recently used copies with other metadata or plugins are cached, with the code
        compiled for them, unless a context is strict or counts calls.

        Parameters
        ----------
        **changes
            New values of ``tables``, ``plugins``, ``metadata``, ``state``, ``strict`` or
            ``count_calls``, as the class takes them.

        Returns
        -------
        Context
            The copy; this context is unchanged.

        Raises
        ------
        TypeError
            A context has no field of a given name.

        Examples
        --------
        >>> from overlay import Context
        >>> ctx = Context(metadata="slow")
        >>> ctx.replace(metadata="fast").metadata, ctx.metadata
        ('fast', 'slow')
        """
        unknown = [name for name in changes if name not in _FIELDS]
        if unknown:
            raise TypeError(
                f"a context has no {unknown[0]!r} to replace; it has {', '.join(_FIELDS)}"
            )
        given: dict[str, Any] = {**changes}
        if not given.keys() <= {"metadata", "plugins"} or self._strict or self._count_calls:
            return self._changed(given)
        if "plugins" in given:
            given["plugins"] = composed(given["plugins"])
        key = _copies_key(self, given)
        return self._copies.found(key, lambda: self._copy(given))

    def _changed(self, changes: dict[str, Any]) -> Context:
        values = {name: getattr(self, name) for name in _FIELDS} | changes
        tables = values.pop("tables")
        if not isinstance(tables, (tuple, list)):
            raise OverlayError(
                f"a context's tables are given in a tuple, not as {named_value(tables)}",
                where=caller(),
                help="put them in a tuple: tables=(table,)",
            )
        return Context(*tables, **values)

    def _copy(self, changes: dict[str, Any]) -> Context:
        """A changed copy that shares the cache of copies with this context."""
        made = self._changed(changes)
        made._copies = self._copies
        return made

    @cached_property
    def _copies(self) -> Kept[Context]:
        """Cache of ``replace``, shared by this context and all its copies."""
        return Kept(_COPIES)

    @runs_natively
    def method(self, target: Any, *types: Any) -> Method | None:
        """The method that a call of ``target`` with arguments of these types resolves to.

        Parameters
        ----------
        target : callable
            The function, class or operator that is called.
        *types : type
            The types of its positional arguments.

        Returns
        -------
        Method or None
            The method; None where the call falls through to the base.

        Raises
        ------
        AmbiguousMethod
            No method of a table is the most specific.

        Examples
        --------
        >>> import math
        >>> from overlay import Context, MethodTable
        >>> table = MethodTable("zeros")
        >>> @table.overlay(math.sin)
        ... def sin(x: float) -> float:
        ...     return 0.0
        >>> ctx = Context(table)
        >>> ctx.method(math.sin, float).function is sin, ctx.method(math.cos, float) is None
        (True, True)
        """
        for table in self._tables:
            table.settle()
        return MethodChain.of(canonical(target), self._alone.tables).resolve(by_types(types))

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
        """Run ``f(*args, **kwargs)``: every call below it is resolved against the tables first.

        Parameters
        ----------
        f : callable
            The function to run.
        *args, **kwargs
            Its arguments.

        Returns
        -------
        object
            The result of ``f``. The steps of a generator or coroutine run in the context, too.

        Raises
        ------
        OverlayError
            ``f`` is not callable.
        UnsupportedPython
            The Python engine does not work on this Python.

        Examples
        --------
        >>> import math
        >>> from overlay import Context, MethodTable
        >>> table = MethodTable("zeros")
        >>> @table.overlay(math.sin)
        ... def sin(x: float) -> float:
        ...     return 0.0
        >>> Context(table)(lambda x: math.sin(x) + 1, 2.0)
        1.0
        """
        outer = stack_in_force.get()
        stack = self._alone if outer is None else outer.push(self)
        engine = stack.python
        if engine.modules != natively(len, sys.modules):
            engine.settle()
        try:
            if not stack.plugins:
                result = engine.run(stack, stack.key, f, *args, **kwargs)
            else:
                result = engine.run(
                    stack, stack.key, engine.quietly(engine.enter, f), *args, **kwargs
                )
        except RecursionError as error:
            engine.explain_recursion(error)
            raise
        except TypeError:
            help = "give the function and its arguments apart: ctx(f, x), not ctx(f(x))"
            engine.quietly(refuse_values, f, "run", help)
            raise
        finally:
            if outer is None and stack.calls is not None:
                engine.quietly(stack.calls.forget)
        return engine.pinned(result, stack) if type(result) in GOES_ON else result

    __enter__ = blocks.enter
    __exit__ = blocks.leave

    @property
    def _unreached(self) -> tuple[str, ...]:
        """Description of each target and plugin that a ``with`` block cannot reach."""
        versions = tuple(table.version for table in self._tables)
        known = self.__dict__.get("_unreached_at")
        if known is None or known[0] != versions:
            known = self._unreached_at = versions, blocks.unreached(self)
        return known[1]

    def wrap(self, f: Callable[P, R], /) -> Callable[P, R]:
        """Return the function bound to this context: each call of it runs in the context.

        Parameters
        ----------
        f : callable
            The function to bind.

        Returns
        -------
        callable
            A function that behaves like ``f``, and can be pickled if ``f`` and the context can.

        Examples
        --------
        >>> from overlay import Context, current_context
        >>> ctx = Context(metadata=3)
        >>> ctx.wrap(lambda x: x + current_context().metadata)(1)
        4
        """
        refuse_values(f, "wrap", "give a function, as in ctx.wrap(f), and not its result")
        return Wrapped(self, f)

    @runs_natively
    def jit(self, f: Callable[P, R], /, **options: Any) -> Compiled[P, R]:
        """Compile a function in this context with numba.

        Calls are resolved while the code is compiled. A table that the code does not reach adds
        no instruction. The code is compiled again when something that it has read changes.

        Parameters
        ----------
        f : callable
            A function in the part of Python that numba compiles.
        **options
            Options of ``numba.njit`` (``parallel``, ``fastmath``, ``nogil``, ...). For metadata
            that is known only at run time: ``hot_after``, the number of calls after which the
            code for a value is compiled, and ``variants``, the number of values among which
            compiled code dispatches by itself. ``target="cuda"`` compiles a kernel.

        Returns
        -------
        Compiled
            The compiled function. The most recently used ones of a context are cached by ``f``
            and options.

        Raises
        ------
        NotCompilable
            numba cannot compile ``f``, or cannot hold a value that a method needs; the error is
            raised by the first call with such types. An option that is not known is refused at
            once.

        Examples
        --------
        >>> import math
        >>> from overlay import Context, MethodTable
        >>> table = MethodTable("zeros")
        >>> @table.overlay(math.sin)
        ... def sin(x: float) -> float:
        ...     return 0.0
        >>> Context(table).jit(lambda x: math.sin(x) + 1)(2.0)
        1.0
        """
        refuse_around(self._plugins, f)
        key = id(f), tuple(sorted((name, repr(value)) for name, value in options.items()))
        return self._jitted.found(key, lambda: self.compiled.jit(f, **options))

    @cached_property
    def _jitted(self) -> Kept[Any]:
        """Cache of ``jit``, which keeps the functions alive."""
        return Kept(_COMPILED)

    # ---- inspecting ----

    @runs_natively
    def explain(
        self, f: Callable[..., Any], /, *types: Any, depth: int | None = None
    ) -> Explanation:
        """The method that each call site below ``self(f, ...)`` resolves to, found by reading the
        code.

        Nothing of the program runs.

        Parameters
        ----------
        f : callable
            The function whose calls are resolved.
        *types : type
            The types of its arguments; by default those of its annotations.
        depth : int or None
            The number of levels of calls to follow; None for all.

        Returns
        -------
        Explanation
            The call sites and the method of each; it prints as a tree.

        Examples
        --------
        >>> import math
        >>> from overlay import Context, MethodTable
        >>> table = MethodTable("zeros")
        >>> @table.overlay(math.sin)
        ... def sin(x: float) -> float:
        ...     return 0.0
        >>> def height(angle: float) -> float:
        ...     return 2 * math.sin(angle)
        >>> "zeros" in str(Context(table).explain(height))
        True
        """
        return late_binding.explain.load()(self, f, *types, depth=depth)

    @runs_natively
    def report(self) -> Report:
        """Report which methods the calls so far have resolved to, and which methods no call has.

        Returns
        -------
        Report
            The methods hit and never hit. Where the context counts calls or is strict, also how
            often each was called, from where, and where a call left the context.

        Examples
        --------
        >>> import math
        >>> from overlay import Context, MethodTable
        >>> table = MethodTable("zeros")
        >>> @table.overlay(math.sin)
        ... def sin(x: float) -> float:
        ...     return 0.0
        >>> ctx = Context(table)
        >>> ctx(math.sin, 1.0)
        0.0
        >>> [hit.method.function is sin for hit in ctx.report().hits]
        [True]
        """
        return report(self)

    @runs_natively
    def compilations(self, f: Callable[..., Any] | None = None, /) -> Compilations:
        """The compilations of a function in this context, and in those that its code enters.

        Parameters
        ----------
        f : callable or None
            A function of the program, or the result of ``jit`` for it; None for all functions.

        Returns
        -------
        Compilations
            Each compilation, with its types, and with the changes since the last one for the same
            types: the values before and after, and the calls that lead to the reader.

        Raises
        ------
        OverlayError
            ``f`` has no code in Python.

        Examples
        --------
        >>> from overlay import Context
        >>> gain = 2.0
        >>> def scaled(x):
        ...     return x * gain
        >>> ctx = Context()
        >>> hot = ctx.jit(scaled)
        >>> hot(1.0)
        2.0
        >>> gain = 3.0
        >>> hot(1.0)
        3.0
        >>> cause = ctx.compilations(scaled)[-1].causes[0]
        >>> cause.change.kind, cause.change.before, cause.change.after
        ('global', '2.0', '3.0')
        """
        found = self.compiled.compilations(f)
        return Compilations(self, "" if f is None else name_of(f), found)

    @cached_property
    def record(self) -> CallRecord:
        """The calls recorded for ``report``."""
        return CallRecord(self._tables, counts=self._count_calls, strict=self._strict)

    @cached_property
    def compiled(self) -> CompiledContext:
        """The compiled engine of this context (imports numba); contexts that are equivalent in
        compiled code share it."""
        return late_binding.compiled_context.load().of(self)

    @cached_property
    def _alone(self) -> Stack:
        return Stack(self)

    @cached_property
    def stacks(self) -> weakref.WeakKeyDictionary[Stack, Stack]:
        """Maps the stack in which this context was entered to the stack inside."""
        return weakref.WeakKeyDictionary()


def compiled_method(function: Any, chain: MethodChain) -> Any:
    """A method's function, compiled for its place in a chain, at which its ``call_next``
    continues.
    """
    return Context(*reversed(chain.tables)).compiled.jit_method(function, chain)


def _copies_key(context: Context, changes: dict[str, Any]) -> Hashable:
    """Key of a copy of a context with other metadata or plugins: plain metadata by its key, other
    objects by identity."""
    metadata = changes.get("metadata", context.metadata)
    plugins = tuple(map(identity, changes.get("plugins", context.plugins)))
    return (metadata_key(metadata) if _is_plain(metadata) else id(metadata)), plugins


def _is_plain(value: Any) -> bool:
    return id(type(value)) in _PLAIN or (type(value) is tuple and all(map(_is_plain, value)))


def _no_table(given: object) -> OverlayError:
    if isinstance(given, Context):
        remedy = "join two contexts with outer | inner"
    elif isinstance(given, (tuple, list)):
        remedy = "give each table as an argument: Context(*tables)"
    else:
        remedy = "make a table with MethodTable(name), and add a method with table.overlay(target)"
    return OverlayError(
        f"a context holds method tables, not {named_value(given)}", where=caller(), help=remedy
    )
