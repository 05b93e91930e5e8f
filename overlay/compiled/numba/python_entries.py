"""Entries from Python: functions compiled in a context."""

from __future__ import annotations

import functools
from collections.abc import Generator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Final

from numba.core import errors, sigutils, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import OmittedArg
from numba.core.registry import CPUDispatcher
from numba.core.typing.templates import signature

from overlay.compiled import failures
from overlay.compiled.numba.callers import call_expected, renew_callers
from overlay.compiled.numba.dispatchers import nothing, place_in
from overlay.compiled.numba.guard import EntryGuards, Guard, compare
from overlay.compiled.numba.held_bodies import interpreted_of_jitclass
from overlay.compiled.numba.interfaces import (
    NOTHING,
    Declarations,
    FunctionParameters,
    bind_by_python,
    carrier,
    declared_by,
    refuse_parameters,
    take_from_python,
)
from overlay.compiled.numba.numba_types import OWN_OPTIONS, Type, localised
from overlay.compiled.sharing import functions_made
from overlay.core.bounded_store import Kept
from overlay.core.content_identity import content_of
from overlay.core.in_force import current_stack, outside
from overlay.core.interpreted_values import is_interpreted
from overlay.core.jitted import converts, is_dispatcher
from overlay.core.table import LOCK
from overlay.plugins.plugin import only_compiles, refuse_edits

if TYPE_CHECKING:
    from overlay.compiled.barrier import BarrierInfo
    from overlay.compiled.basis import CompiledCode
    from overlay.compiled.cache.kept_code import Keeping
    from overlay.compiled.engine import CompiledContext
    from overlay.compiled.world import World
    from overlay.core.dispatch import MethodChain

__all__ = ["EntryDispatcher", "entry_of"]

ATTEMPTS: Final = 4
"""Limit on compilations of a function for one call, where it changes during compilation."""
MOST = 32
"""Size of the cache of functions received from other processes."""

_received: Kept[Any] = Kept(MOST)


def entry_of(
    engine: CompiledContext,
    function: Any,
    options: dict[str, Any],
    chain: MethodChain | None,
    *,
    looks_up: bool,
) -> EntryDispatcher:
    """Make the entry for a function. looks_up: whether calls look up methods of it."""
    parameters = FunctionParameters(getattr(function, "py_func", function))
    kind = NamedEntryDispatcher if parameters.has_keyword_only else EntryDispatcher
    made = kind(engine, function, options, chain, parameters)
    made.looks_up = looks_up
    return made


class EntryDispatcher(CPUDispatcher):
    """The dispatcher that ``Context.jit`` returns; a call from Python uses numba's own dispatch.

    It holds code of the context's current world; when a table changes, it drops all code.
    functions_compiled: the number of functions compiled for it so far; code that existed before,
    made for another context or before a change, is not counted.
    chain: for the function of a method, its place. looks_up: whether calls look up methods of the
    function itself; not where they run its own code.
    """

    looks_up = True

    def __init__(
        self,
        engine: CompiledContext,
        function: Any,
        options: dict[str, Any],
        chain: MethodChain | None,
        parameters: FunctionParameters,
    ) -> None:
        ours = (*OWN_OPTIONS, "cache", "locals")
        own = {name: value for name, value in options.items() if name not in ours}
        super().__init__(carrier(parameters), targetoptions={**own, "nopython": True})
        self.parameters = parameters
        self._show(getattr(function, "py_func", function))
        self.engine = engine
        self.function = function
        self.cache = options.pop("cache", False)
        self.options = options
        self.keeping: Keeping | None = None  # storage of code on disk
        self.chain = chain
        self.called_by_numba = False
        self.functions_compiled = 0
        self.declared = declared_by(function)
        self._guards = EntryGuards(self)
        self.codes: dict[tuple[Type, ...], CompiledCode] = {}

    def __overlay_wrapped__(self) -> tuple[Any, Any] | None:
        """The context that calls enter, and the function that they run."""
        return (self.engine.context, self.function) if self.looks_up else None

    def _show(self, function: Any) -> None:
        """Take the attributes of a numba dispatcher of this function, for introspection."""
        self.py_func = function
        functools.update_wrapper(self, function)
        self.func_code = self.__code__ = function.__code__
        self.__defaults__ = function.__defaults__
        self.doc = function.__doc__
        bind_by_python(self, self.parameters)

    def compile(self, sig: Any) -> Any:
        given, return_type = sigutils.normalize_signature(sig)
        args = tuple(given)
        with global_compiler_lock, self._compiling_counter:
            if args not in self.overloads and self.engine.rebound():
                self.engine.begin_anew()
            attempts = 0
            while args not in self.overloads:
                world = self.engine.world(self.options)
                made = self._compiled(world, args, return_type)
                attempts += 1
                if self._inserted(world, args, made) or self.called_by_numba:
                    continue
                if attempts >= ATTEMPTS:  # its dependencies keep changing
                    return self._guards.for_one_call(made, world, self.codes.get(args))
            return self._guards.function(args)

    def _inserted(self, world: World, args: tuple[Type, ...], made: Any) -> bool:
        """Install code for calls, unless its dependencies have changed meanwhile; return whether it
        is installed."""
        with LOCK:
            # read its words first: the guard then sees any later change
            guard = self._guards.made(made, world, args)
            if self.engine.rebound():
                self.engine.begin_anew()
                return False
            if self.engine.holds(world):
                self._insert([a._code for a in args], guard.function, False)
                self._guards.insert(args, guard)
                self.overloads[args] = made
        return args in self.overloads

    def renew(self) -> None:
        """Update the compared words after compilation of code that is called from here."""
        with LOCK:
            words = self._guards.words()
            if self.engine.rebound():
                self.engine.begin_anew()
            compare(words)
        renew_callers(self)

    def barriers(self) -> list[BarrierInfo]:
        """Statistics of the barriers in the code of its context: of calls into contexts that are
        known only at run time."""
        return self.engine.barrier_info()

    def _compiled(self, world: World, args: tuple[Type, ...], return_type: Type | None) -> Any:
        ways = self.parameters.ways(args)
        inner = world.entry(self, ways, args)
        local = tuple(localised(world, a) for a in args)
        sig = local if return_type is None else signature(return_type, *local)
        before = functions_made()
        if self.keeping is None:
            inner.compile(sig)
        else:
            further = ways, return_type, self.looks_up
            self.keeping.compile(self, world, inner, local, further, sig)
        self.functions_compiled += functions_made() - before
        made, self.codes[args] = inner.overloads[local], inner.codes[local]
        result = made.signature.return_type
        if isinstance(result, types.Module) and not self.called_by_numba:
            raise errors.UnsupportedError(f"cannot return {result} to Python")
        return made

    def typeof_pyval(self, val: Any) -> Type:
        return types.pyobject if is_interpreted(val) else super().typeof_pyval(val)

    def _interpreted(self, *args: Any) -> Any:
        """Run the Python function, for arguments or tables that compiled code cannot handle."""
        if is_dispatcher(self.function) and converts(self.function, args):
            raise failures.declares_types(self.py_func, self.declared.shown())
        refuse_edits(self.engine.plugins, self.py_func)
        given, named = self.parameters.as_called(args)
        run = interpreted_of_jitclass(self.py_func, given)
        stack = current_stack()
        if stack is None or stack.compiled is not self.engine:
            return self.engine.context(run, *given, **named)
        if self.chain is not None:
            run = stack.python.placed(run, self.chain)
        return run(*given, **named)

    def _compile_for_args(self, *args: Any) -> Any:
        """The callable for these arguments, for which there is no code. Finding it is no part of
        the program."""
        if current_stack() is None:
            return self._callable_for(*args)
        return outside(self._callable_for, *args)

    def _callable_for(self, *args: Any) -> Any:
        if any(map(is_interpreted, args)) or any(t.runs_python for t in self.engine.tables):
            return self._interpreted
        refuse_parameters(self.py_func)
        given, named = self.parameters.as_called(args)
        if self.parameters.are_past():
            self._take_anew()
            return lambda *_: self(*given, **named)
        self.parameters.bind(given, named)
        for name, value in zip(self.parameters.signature.parameters, args, strict=False):
            if not isinstance(value, OmittedArg) and self.typeof_pyval(value) is types.pyobject:
                raise failures.not_taken(self.py_func, name, value)
        with self._explaining():
            declared = self._declared()
            if declared.is_limited:
                return self._converting(declared, args)
            return super()._compile_for_args(*args)

    @contextmanager
    def _explaining(self) -> Generator[None]:
        """Turn errors of numba in the block into ours, which name the function."""
        try:
            yield
        except errors.NumbaError as error:
            failure = failures.failure_in(str(error))
            if failure is not None:
                raise failure.raised() from failure.error.__cause__
            where = place_in(self.py_func, error)
            can_interpret = not any(map(only_compiles, self.engine.plugins))
            raise failures.of_entry(
                self.py_func, str(error), where, can_interpret=can_interpret
            ) from None

    def _declared(self) -> Declarations:
        """The declarations that arguments from Python are converted by: none where methods are
        looked up for the function, since the arguments select them."""
        if self.declared.is_limited and self.looks_up:
            is_target = self.engine.world(self.options).is_target(self.function)
            return NOTHING if is_target else self.declared
        return self.declared

    def _converting(self, declared: Declarations, args: tuple[Any, ...]) -> Any:
        """The callable for these arguments, of a function that is limited to its signatures: once
        there is code for each, numba itself selects, as it does outside contexts."""
        functions = self._limited(declared)
        given = tuple(
            types.Omitted(a.value) if isinstance(a, OmittedArg) else self.typeof_pyval(a)
            for a in args
        )
        self._types_active_call.clear()
        found = self.typingctx.resolve_overload(
            self.py_func, declared.signatures(), given, {}, allow_ambiguous=False
        )
        if found is None:
            raise TypeError(declared.no_match(given))
        return functions[tuple(found.args)]

    def _limited(self, declared: Declarations) -> dict[tuple[Type, ...], Any]:
        """Compile each signature, and disable further compilation; return the callable of each."""
        functions = {args: self.compile(declared.asked(args)) for args in declared.results}
        with LOCK:
            if all(args in self.overloads for args in functions):
                self.disable_compile()
        return functions

    def _make_finalizer(self) -> Any:
        return nothing  # the code belongs to the world's dispatcher

    def __reduce__(self) -> Any:
        parts = tuple(self._reduce_states().values())
        return _compiled_again, (content_of(self, parts), *parts)

    def _reduce_states(self) -> dict[str, Any]:
        """All that it is made from; dask identifies numba's dispatchers by this."""
        options = {**self.options, "cache": self.cache}
        return {"context": self.engine.context, "function": self.function, "options": options}

    @property
    def stats(self) -> Any:
        """Statistics of the disk cache in numba's form: its folder, and hits and misses by
        types."""
        if self.keeping is None:
            return super().stats
        return type(super().stats)(self.keeping.folder.path, self.keeping.hits, self.keeping.misses)

    def get_compile_result(self, sig: Any) -> Any:
        call_expected(self)  # a function given as a value is called through its address
        return super().get_compile_result(sig)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        self.called_by_numba = True
        call_expected(self)
        declared = self._declared()
        if declared.is_limited and self._can_compile:
            self._limited(declared)
        return super().get_call_template(args, kws)

    def recompile(self) -> None:
        """Compile all existing code again: functions rebound in their modules are read again."""
        compiled = list(self.overloads)
        self.engine.recompile()
        for args in compiled:
            self.compile(args)

    def retire(self) -> tuple[list[Any], list[Guard]]:
        """Drop all code; return it and its guards, since a thread may be running it."""
        retired = list(self.overloads.values()), self._guards.retired()
        self.codes = {}
        self._reset_overloads()
        self.disable_compile(False)
        if self.parameters.are_past():
            self._take_anew()
        return retired

    def _take_anew(self) -> None:
        """Adopt new parameters of the function."""
        with LOCK:
            self._reset_overloads()
            self.parameters = FunctionParameters(self.py_func)
            take_from_python(self, self.parameters)
            self._show(self.py_func)


class NamedEntryDispatcher(EntryDispatcher):
    """An entry for a function with keyword-only parameters, which numba does not support."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) > self.parameters.positional:
            self.parameters.bind(args, kwargs)
        return CPUDispatcher.__call__(self, *args, **kwargs)


def _compiled_again(
    content: str | None, context: Any, function: Any, options: dict[str, Any]
) -> Any:
    """Rebuild an entry sent by another process, from the cache if it was received before."""
    if content is None or context.state is not None:  # each unpickled context has its own state
        return context.jit(function, **options)
    return _received.found(content, lambda: context.jit(function, **options))
