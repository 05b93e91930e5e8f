"""The compiled engine of a context: its compiled code, and the tests of whether it is out of
date.
"""

from __future__ import annotations

import functools
import inspect
import types
import weakref
from collections.abc import Callable, Hashable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final

from overlay.compiled.barrier import Barrier, BarrierInfo
from overlay.compiled.basis import CompiledCode, entered_by
from overlay.compiled.cache.kept_code import Keeping
from overlay.compiled.compilation_reports import CompilationHistory
from overlay.compiled.failures import refuse_options
from overlay.compiled.gpu import Kernel, kernel_of
from overlay.compiled.linked_contexts import LinkedContexts
from overlay.compiled.numba.callers import any_called, retire_callers
from overlay.compiled.numba.context_state import Box
from overlay.compiled.numba.guard import Guard, RetiredCode
from overlay.compiled.numba.made_contexts import UnknownMetadata
from overlay.compiled.numba.numba_types import (
    CPU,
    NUMBA_OPTIONS,
    OWN_OPTIONS,
    is_dispatcher,
    options_of,
)
from overlay.compiled.numba.python_entries import EntryDispatcher, entry_of
from overlay.compiled.targets import Target
from overlay.compiled.watching import ALWAYS, LAYOUT_KNOWN, ReadsWatch, Word, of_readings
from overlay.compiled.world import World
from overlay.contexts.context import Context
from overlay.core.cache_folder import Folder
from overlay.core.dispatch import MethodChain
from overlay.core.errors import NotCompilable, OverlayError
from overlay.core.location import caller, location_of, name_of
from overlay.core.short_repr import a_or_an
from overlay.core.table import LOCK, MethodTable
from overlay.core.target import describe, refuse_values
from overlay.plugins.plugin import Plugin, identity

if TYPE_CHECKING:
    from overlay.code.record import FunctionReads
    from overlay.contexts.compilations import Compilation

__all__ = ["CompiledContext"]

KEPT_WORLDS: Final = 8
"""Number of past worlds whose code is retained for reuse in later ones."""
KEPT_FUNCTIONS: Final = 200
"""Number of functions in past worlds above which the last one alone is kept."""
MOST_DROPPED: Final = 32
"""Number of dropped functions whose code a world holds, at least, before a new one is begun."""

# Options that change the value of an expression: functions without options of their own inherit
# them.
INHERITED: Final = ("boundscheck", "error_model", "fastmath", *OWN_OPTIONS)


class CompiledContext:
    """The compiled engine of one context, or of several that are equivalent in compiled code:
    with the same tables, metadata that ``metadata_key`` calls equal, and the same state.

    Code is compiled in a *world*: a snapshot of the tables. A change of a table ends the world;
    the next entry from Python compiles in a new one. The last of the past worlds are retained,
    since their code may be valid in later ones. Earlier ones live as long as a thread may be
    running their code.
    """

    def __init__(
        self,
        context: Context,
        *,
        is_bare: bool = False,
        interpretation: Any = None,
        only_types: bool = False,
        target: Target = CPU,
    ) -> None:
        self.context = context
        self.target = target
        self.is_bare = is_bare
        self.plugins: tuple[Plugin, ...] = context.plugins
        self.interpretation = interpretation
        # whether types are inferred here without compiling anything
        self.only_types = only_types or isinstance(context.metadata, UnknownMetadata)
        self.barriers: dict[Any, Barrier] = {}
        # the number of times that compiled code derived its metadata from that of the enclosing
        # context
        self.depth = 0
        self.tables: tuple[MethodTable, ...] = tuple(dict.fromkeys(reversed(context.tables)))
        self._worlds: dict[tuple[tuple[str, Any], ...], World] = {}
        self._past: list[RetiredCode] = []
        self._kept: list[Any] = []
        self._entries_made = 0
        # whether its code may run outside of the calls that guards count
        self.lasts = False
        # the reason for the end of the last world; None before the first end
        self.change: str | None = None
        self.history = CompilationHistory()
        self._entries: weakref.WeakSet[EntryDispatcher] = weakref.WeakSet()
        self.linked = LinkedContexts(self)
        for table in self.tables:
            table.listen(self)

    @classmethod
    def of(
        cls,
        context: Context,
        interpretation: Any = None,
        *,
        only_types: bool = False,
        target: Target = CPU,
    ) -> CompiledContext:
        """The engine for this context, with an abstract interpretation in force, and for code of
        this target; cached."""
        with LOCK:
            key = (*_key(context), id(interpretation), only_types, target.name)
            found = _shared.get(key)
            if found is None:
                made = cls(
                    context, interpretation=interpretation, only_types=only_types, target=target
                )
                found = _shared[key] = made
            return found

    def jit(self, function: Callable[..., Any], **options: Any) -> Any:
        """Compile ``function`` under this context to a numba dispatcher.

        options: numba's own, for this function; of these ``fastmath``, ``error_model`` and
        ``boundscheck`` also hold for the functions below it that bring no options.
        ``enter_numba=True``: numba's own implementations in Python of builtins and numpy functions
        are entered too. ``cache=True``, or a folder: compiled code is stored on disk.
        ``hot_after``, ``variants``: for metadata that is known only at run time, the number of
        interpreted calls after which a value is compiled, and how many values compiled code
        dispatches by itself.
        Raises NotCompilable for code that cannot be compiled at all; the first call with new types
        raises it where a body cannot be compiled for these.
        """
        target = options.pop("target", "cpu")
        if isinstance(function, Kernel):
            options, inner = {**function.options, **options}, self.linked.inside(function.engine)
            return inner.jit(function.function, target="cuda", **options)
        if target == "cuda":
            return kernel_of(self, self._runnable(function), options)
        if isinstance(function, EntryDispatcher):
            return self.linked.inside(function.engine).jit(
                function.function,
                **{**function.options, "cache": function.cache, **options},
            )
        own = options_of(function) if is_dispatcher(function) else {}
        return self._entry(function, _checked(function, {**own, "target": target, **options}), None)

    def jit_method(self, function: Any, chain: MethodChain | None) -> Any:
        """Compile an ``@njit`` function under this context, for an engine that has looked up its
        methods, and enters it from Python. chain: for the function of a method, its place, at which
        its ``call_next`` continues."""
        options = options_of(function)
        if chain is None:
            if isinstance(function, EntryDispatcher):
                return self.jit(function)
            options = _checked(function, options)
        return self._entry(function, options, chain, looks_up=False)

    def kernel(self, kernel: Any) -> Any:
        """A kernel of ``@vectorize`` or ``@guvectorize``, with its function compiled under this
        context and the present tables."""
        self.lasts = True  # numpy calls it, without a guard
        return self.world({}).stand_ins.kernel(kernel)

    def _entry(
        self,
        function: Any,
        options: dict[str, Any],
        chain: MethodChain | None,
        *,
        looks_up: bool = True,
    ) -> EntryDispatcher:
        entry = entry_of(self, self._runnable(function), options, chain, looks_up=looks_up)
        if entry.cache:
            entry.keeping = Keeping(Folder.of(None if entry.cache is True else entry.cache))
        with LOCK:
            self._entries.add(entry)
            self._entries_made += 1
            dropped = self._entries_made - len(self._entries)
            if dropped >= max(MOST_DROPPED, len(self._entries) // 2) and self._reuses_all():
                self.begin_anew("functions were dropped")
                self._entries_made = len(self._entries)
        return entry

    def _reuses_all(self) -> bool:
        """Whether the code of all entries could be reused in new worlds."""
        codes = (
            code
            for engine in self.linked.all_linked()
            for entry in list(engine._entries)
            for code in list(entry.codes.values())
        )
        return not any(
            code.is_private or any(basis.is_private for basis in code.basis.all_below())
            for code in codes
        )

    def _runnable(self, function: Any) -> Any:
        """A function that runs a callable: the callable itself, if it is one."""
        is_compiled = inspect.getattr_static(function, "py_func", None) is not None
        if isinstance(function, types.FunctionType) or is_compiled:
            return function
        return _with_code(self.world({}), function)

    @functools.cached_property
    def state(self) -> Any:
        """The value of ``current_context().state`` in compiled code: the box that holds it, or
        None.

        Raises NotCompilable where numba cannot hold it.
        """
        return None if self.context.state is None else Box(self.context.state)

    def world(self, options: Mapping[str, Any]) -> World:
        """The current world for functions compiled with these options."""
        for table in self.tables:
            table.settle()
        given = {name: options.get(name) for name in INHERITED}
        inherited = {n: v for n, v in given.items() if v or type(v) is int}
        key = tuple((name, _frozen(value)) for name, value in sorted(inherited.items()))
        world = self._worlds.get(key)
        if world is None:
            made = World(self, inherited, key)  # takes numba's lock, which comes before ours
            with LOCK:
                world = self._worlds.setdefault(key, made)
        return world

    def holds(self, world: World) -> bool:
        """Whether no table has changed since this world was made."""
        return any(world is held for held in self._worlds.values())

    def table_changed(self, target: Any) -> None:
        """End the current world, since the methods of a target have changed."""
        self._end_world(f"the methods of {describe(target)} changed")

    def _end_world(self, why: str) -> None:
        """End the current world: the next entry from Python compiles in a new one."""
        for barrier in list(self.barriers.values()):
            barrier.clear()
        if not self._worlds:
            return
        self.change = why
        held: list[Any] = list(self._worlds.values())
        functions = sum(len(world.dispatchers()) for world in held)
        guards: list[Guard] = []
        self._worlds = {}
        for entry in list(self._entries):
            codes, retired = entry.retire()
            held += codes
            guards += retired
            if entry.called_by_numba:
                self._kept += retire_callers(codes)
        for outside in list(self.linked.outside):
            outside._end_world(why)
        with LOCK:  # last: no new call can reach the code any more, not even from outside
            self._past.append(RetiredCode(held, guards, functions))
            self._release_past()

    def _release_past(self) -> None:
        """Release past worlds, but for the last ones, whose code no thread can be running."""
        if any_called() or any(each.lasts or each.barriers for each in self.linked.all_linked()):
            return
        while self._is_much(self._past) and self._past[0].is_over():
            self._past.pop(0).release()

    @staticmethod
    def _is_much(past: list[RetiredCode]) -> bool:
        is_large = sum(each.functions for each in past) > KEPT_FUNCTIONS
        return len(past) > (1 if is_large else KEPT_WORLDS)

    def outlives(self, code: Any) -> None:
        """Keep code alive that is not called any more, but may be running in a thread."""
        self._kept.append(code)

    def renew(self) -> None:
        """Make the entries from Python also compare the words of code compiled since."""
        for engine in self.linked.all_outside():
            for entry in list(engine._entries):
                entry.renew()

    def barrier_info(self) -> list[BarrierInfo]:
        """Statistics of the barriers in the code of this context."""
        return [
            b.info for engine in self.linked.all_inside() for b in list(engine.barriers.values())
        ]

    def compilations(self, function: Any = None) -> tuple[Compilation, ...]:
        """The compilations of a function in this context and those that its code enters; None: of
        all functions."""
        inside = self.linked.all_inside()
        engines = {id(e): e for each in inside for e in (each, *each.linked.on_devices())}
        plain = None if function is None else _python_function(function)
        found = [each for engine in engines.values() for each in engine.history.of(plain)]
        return tuple(each for _, each in sorted(found, key=lambda pair: pair[0]))

    def recompile(self) -> None:
        """Drop all compiled code, so that the whole program is read again."""
        with LOCK:
            for engine in self.linked.all_inside():
                for world in engine._worlds.values():
                    world.forget()
            self.begin_anew("recompile() was called")

    def begin_anew(self, why: str | None = None) -> None:
        """End the current world: the next entry reuses its code as far as nothing has changed.

        why: by default the change of the program.
        """
        with LOCK:
            changes = (each for watch in self._watches() for each in watch.changes())
            why = why or str(next(changes, "a context is entered in another way"))
            for engine in self.linked.all_inside():
                engine._end_world(why)

    def words(self, code: CompiledCode | None = None) -> list[Word]:
        """Words of memory that differ where a name that was read for compilation has been rebound;
        each may be read only while those before it are unchanged.

        code: that of one function. Its words are those of what it and the code that it calls have
        read; where it may also reach other code, they are those of all code.
        """
        if not LAYOUT_KNOWN:
            return [ALWAYS]
        readings = None if code is None else self._readings_of(code)
        if readings is not None:
            return list(dict.fromkeys(of_readings(readings)))
        return list(dict.fromkeys(word for watch in self._watches() for word in watch.words()))

    def _readings_of(self, code: CompiledCode) -> list[FunctionReads] | None:
        """The reads of a function's code and of the code that it calls; None where its basis may
        not name all of these: functions and kernels that are values, barriers, and plugins."""
        if any(engine.lasts for engine in self.linked.all_inside()):
            return None
        bases = code.basis.all_below()
        # not all contexts that this one has entered: other code may have entered those
        if any(e.plugins or e.interpretation for e in (self, *entered_by(bases))):
            return None
        kept = (each for basis in bases for each in basis.kept)
        if any(basis.crosses_barrier for basis in bases) or not all(type(k) is Box for k in kept):
            return None
        found = {key: each for basis in bases for key, each in basis.readings.items()}
        return list(found.values())

    def rebound(self) -> bool:
        """Whether a name that was read for compilation has been rebound."""
        return any(watch.changed() for watch in self._watches())

    def _watches(self) -> Iterator[ReadsWatch]:
        for engine in self.linked.all_inside():
            for world in engine._worlds.values():
                yield world.watch


# The engines in use, by all that determines their code. A CompiledContext holds the tables and the
# state, so that their identities stay valid while it lives.
_shared: weakref.WeakValueDictionary[Hashable, CompiledContext] = weakref.WeakValueDictionary()


def _key(context: Context) -> tuple[Hashable, ...]:
    """All that determines the compiled code of a context."""
    tables = tuple(map(id, dict.fromkeys(reversed(context.tables))))
    plugins = tuple(map(identity, context.plugins))
    return tables, context.metadata_key, id(context.state), plugins


def _python_function(function: Any) -> types.FunctionType:
    """The Python function behind what is, or may be, compiled."""
    found = function.function if isinstance(function, Kernel) else function
    found = getattr(found, "__func__", getattr(found, "py_func", found))
    if not isinstance(found, types.FunctionType):
        raise OverlayError(
            f"{name_of(function)} has no code in Python: no compilations of it are recorded",
            where=caller(),
            help="name a function of the program, or none for all compilations of the context",
        )
    return found


def _frozen(value: Any) -> Any:
    return tuple(sorted(value)) if isinstance(value, (set, frozenset)) else value


def _checked(function: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The options for numba; raises NotCompilable for those that this engine does not support."""
    refuse_values(function, "compile", "give a Python function", NotCompilable)
    refuse_options(function, options, (*NUMBA_OPTIONS, *OWN_OPTIONS), "the CPU")
    _check_barriers(options)
    target = options.pop("target", "cpu")
    if target != "cpu":
        raise NotCompilable(
            f"cannot compile {name_of(function)} with target={target!r} under a context",
            where=caller(),
            help='pass target="cpu", which is the default, or target="cuda"',
        )
    for asked, plain in (
        ("nopython=False", options.pop("nopython", True)),
        ("forceobj=True", not options.pop("forceobj", False)),
    ):
        if not plain:
            raise NotCompilable(
                f"cannot compile {name_of(function)} with {asked} under a context",
                where=caller(),
                help="leave the option out: code in a context is always machine code",
            )
    return options


def _check_barriers(options: dict[str, Any]) -> None:
    """Raise OverlayError for invalid options of barriers."""
    for name, least in (("hot_after", 0), ("variants", 1)):
        value = options.get(name)
        if value is not None and (type(value) is not int or value < least):
            raise OverlayError(
                f"{name}={value!r}: it is a whole number, {least} or more",
                where=caller(),
                help="leave it out for the default",
            )


def _with_code(world: World, function: Any) -> Any:
    """A function that calls another callable, and whose code numba can read."""
    if isinstance(function, types.MethodType):
        raise NotCompilable(
            f"cannot compile {name_of(function)}, a method bound to an object",
            where=location_of(function.__func__),
            help="compile a function that takes the object as an argument",
        )
    if type(function) is Context or not world.stand_ins.is_callable(function):
        raise NotCompilable(
            f"cannot compile {name_of(function)}, {a_or_an(type(function).__qualname__)}",
            where=caller(),
            help="compile a Python function that does the same",
        )

    def entry(*args: Any) -> Any:
        return function(*args)

    entry.__name__ = entry.__qualname__ = getattr(function, "__name__", "entry")
    return entry
