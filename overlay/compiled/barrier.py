"""Barriers: calls from compiled code into contexts that are known only at run time.

``recurse(context.replace(metadata=value), f, x)`` is compiled once for each value that is used
often, as a *variant*. Compiled code finds the variant of a known value by itself; for any other
value it calls Python here, and runs interpreted until the value is *hot*.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from overlay.compiled.numba.lookup import Table
from overlay.compiled.numba.memory_words import rebuilt, sequence_of_kinds
from overlay.compiled.numba.variants import BarrierArgument, Variant, checked, compiled_variant
from overlay.contexts.context import recurse
from overlay.contexts.stack import entered
from overlay.core.bounded_store import Kept
from overlay.core.location import is_ours, name_of
from overlay.core.metadata import metadata_key
from overlay.core.table import LOCK
from overlay.plugins.plugin import composed, identity, stages_of

if TYPE_CHECKING:
    from overlay.compiled.engine import CompiledContext
    from overlay.compiled.numba.numba_types import Type
    from overlay.contexts.context import Context

__all__ = ["Barrier", "BarrierInfo", "Passed"]

VARIANTS: Final = 128
# Assumed seconds to compile a variant, before the first is compiled.
COMPILATION: Final = 0.1


class BarrierInfo(NamedTuple):
    """Statistics of a barrier.

    Attributes
    ----------
    function : str
        The function called.
    changes : mapping of str to str
        The values known only at run time, with their types.
    hits : int
        The number of calls for which compiled code found a variant by itself.
    misses : int
        The number of the other calls.
    evictions : int
        The number of variants that were displaced from the table, and are looked up in Python
        again.
    compiled : int
        The number of variants that were compiled.
    interpreted : int
        The number of calls that ran interpreted.
    size, limit : int
        The number of variants in the table, and its limit.
    """

    function: str
    changes: str
    hits: int
    misses: int
    evictions: int
    compiled: int
    interpreted: int
    size: int
    limit: int


@dataclass
class _Cold:
    """A context that runs interpreted. seconds: its processor time so far."""

    calls: int = 0
    seconds: float = 0.0


class Barrier:
    """The calls of one function, with arguments of the same types, in contexts that differ in
    values known only at run time.

    engine: of the contexts without these values. fields: the types of the values. result: the type
    of all results. is_base: methods of the function itself are skipped.
    """

    def __init__(
        self,
        engine: CompiledContext,
        fields: tuple[tuple[str, Type], ...],
        target: Any,
        parameters: tuple[BarrierArgument, ...],
        names: tuple[str, ...],
        options: dict[str, Any],
        result: Type,
        *,
        is_base: bool,
        can_interpret: bool,
    ) -> None:
        self.engine = engine
        self.fields = fields
        self.target = target
        self.parameters = parameters
        self.names = names
        self.options = options
        self.result = result
        self.is_base = is_base
        self.can_interpret = can_interpret
        self.hot_after: int | None = options.get("hot_after")
        self.table = Table(sequence_of_kinds(fields), options.get("variants", VARIANTS))
        self.users: weakref.WeakSet[CompiledContext] = weakref.WeakSet()
        self.typed_in: list[CompiledContext] = []
        # compiled code holds the addresses of these objects
        self.entrances = Entrance(self.find), Entrance(self.run)
        self._variants: dict[Hashable, Variant] = {}
        self._past: list[Variant] = []
        self._contexts: Kept[Context] = Kept(4 * self.table.limit)
        self._cold: Kept[_Cold] = Kept(4 * self.table.limit)
        self._seconds = 0.0
        self._misses = self._compiled = self._interpreted = 0

    def __repr__(self) -> str:
        changes = ", ".join(f"{name}={ty}" for name, ty in self.fields)
        return f"<barrier {name_of(self.target)} {changes}>"

    @property
    def info(self) -> BarrierInfo:
        """Statistics so far."""
        return BarrierInfo(
            name_of(self.target),
            ", ".join(f"{name}={ty}" for name, ty in self.fields),
            self.table.hits,
            self._misses,
            self.table.evictions,
            self._compiled,
            self._interpreted,
            len(self.table),
            self.table.limit,
        )

    def entered_by(self, user: CompiledContext, typed_in: CompiledContext | None) -> None:
        """Register a context whose code enters the barrier. typed_in: where its type was
        inferred."""
        self.users.add(user)
        if typed_in is not None and typed_in not in self.typed_in:
            self.typed_in.append(typed_in)
        for engine in self.engines:
            engine.linked.is_entered_by(user)

    @property
    def engines(self) -> Iterator[CompiledContext]:
        """The engines whose code it enters, or that infer its type."""
        yield from self.typed_in
        for variant in list(self._variants.values()):
            yield variant.engine

    def clear(self) -> None:
        """Drop the variants: something that they depend on has changed."""
        with LOCK:
            self.table.clear()
            self._past += self._variants.values()  # a thread may be running one
            self._variants = {}
            self._cold = Kept(4 * self.table.limit)

    # ---- called by compiled code, with the GIL ----

    def find(self, address: int, *objects: Any) -> int:
        """The address of the variant for the run-time values, or 0 if this call has to run
        interpreted. address: of their words. objects: their leaves."""
        context = self._context(objects)
        key = context.metadata_key, tuple(map(identity, context.plugins))
        with LOCK:
            self._misses += 1
            variant = self._variants.get(key)
            if variant is not None:
                self.table.insert(address, variant.address)
                return variant.address
            if not self._is_hot(self._cold.found(key, _Cold), context):
                return 0
        while True:
            started = time.thread_time()
            made, world = compiled_variant(self, self._engine(context))
            made.engine.renew()
            with LOCK:
                if not made.engine.holds(world):
                    continue
                self._seconds += time.thread_time() - started
                self._compiled += key not in self._variants
                self._variants[key] = made
                self.table.insert(address, made.address)
                return made.address

    def run(self, *objects: Any) -> Any:
        """Run a call interpreted. objects: the leaves of the run-time values, then the arguments
        that are not constants."""
        count = len(objects) - sum(p.constant is None for p in self.parameters)
        context = self._context(objects[:count])
        args, named = self._arguments(iter(objects[count:]))
        key = context.metadata_key, tuple(map(identity, context.plugins))
        with LOCK:
            cold = self._cold.found(key, _Cold)
            cold.calls += 1
            self._interpreted += 1
        started = time.thread_time()
        try:
            with entered(None):
                if self.is_base:
                    result = recurse(context, self.target, *args, **named)
                else:
                    result = context(self.target, *args, **named)
        finally:
            cold.seconds += time.thread_time() - started
        return checked(self, context, result)

    # ---- contexts for the run-time values ----

    def _context(self, objects: Sequence[Any]) -> Context:
        key = tuple(map(metadata_key, objects))
        return self._contexts.found(key, lambda: self._made(iter(objects)))

    def _made(self, objects: Iterator[Any]) -> Context:
        changes = {name: rebuilt(ty, objects) for name, ty in self.fields}
        if "plugins" in changes:
            changes["plugins"] = composed(self.engine.plugins, changes["plugins"])
        return self.engine.context.replace(**changes)

    def _engine(self, context: Context) -> CompiledContext:
        made = type(self.engine).of(context, self.engine.interpretation)
        for user in list(self.users):
            made.linked.is_entered_by(user)
        return made

    def _arguments(self, objects: Iterator[Any]) -> tuple[list[Any], dict[str, Any]]:
        values = [next(objects) if p.constant is None else p.constant[0] for p in self.parameters]
        count = len(values) - len(self.names)
        return values[:count], dict(zip(self.names, values[count:], strict=True))

    def _is_hot(self, cold: _Cold, context: Context) -> bool:
        """Whether a context is to be compiled now. Machine code is never freed, so that the
        threshold doubles each time that ``limit`` more variants have been compiled."""
        if not self.can_interpret or any(map(stages_of, context.plugins)):
            return True
        factor = 2 ** (self._compiled // self.table.limit)
        if self.hot_after is not None:
            return cold.calls >= self.hot_after * factor
        compilation = self._seconds / self._compiled if self._compiled else COMPILATION
        return cold.seconds >= compilation * factor


class _HeldContexts(threading.local):
    """The exception on its way into compiled code, in each thread; and whether numba has called the
    constructor of ``Passed``, which it does twice."""

    error: BaseException | None = None
    is_asked: bool = False


_held = _HeldContexts()


class Entrance:
    """A callable for compiled code. An exception that it raises is stored for ``Passed``."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function

    def __call__(self, *args: Any) -> Any:
        try:
            return self._function(*args)
        except BaseException as error:
            _held.error, _held.is_asked = error, False
            raise


class Passed(Exception):
    """Raised by compiled code for an exception that an ``Entrance`` has raised: its constructor
    returns that exception, without our own frames."""

    def __new__(cls, *args: Any) -> Any:
        error = next(iter(args), _held.error)
        if _held.is_asked:
            _held.error = None
        _held.is_asked = True
        if not isinstance(error, BaseException):
            return super().__new__(cls)
        trace = error.__traceback__
        while trace is not None and is_ours(trace.tb_frame.f_code.co_filename):
            trace = trace.tb_next
        return error.with_traceback(trace)
