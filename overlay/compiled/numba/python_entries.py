"""What Python calls: functions compiled in a context."""

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
from overlay.compiled.numba.guard import EntryGuards
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
from overlay.core.in_force import current_stack
from overlay.core.interpreted_values import is_interpreted
from overlay.core.table import LOCK
from overlay.plugins.plugin import only_compiles

if TYPE_CHECKING:
    from overlay.compiled.barrier import BarrierInfo
    from overlay.compiled.cache.kept_code import Keeping
    from overlay.compiled.engine import CompiledContext
    from overlay.compiled.world import World
    from overlay.core.dispatch import MethodChain

__all__ = ["EntryDispatcher", "entry_of"]

ATTEMPTS: Final = 4
"""How often a function is compiled for one call, where it changes while that goes on."""
MOST = 32
"""How many functions that came from other processes are held, for when they come again."""

_received: Kept[Any] = Kept(MOST)


def entry_of(
    engine: CompiledContext, function: Any, options: dict[str, Any], chain: MethodChain | None
) -> EntryDispatcher:
    """What Python calls for a function."""
    parameters = FunctionParameters(getattr(function, "py_func", function))
    kind = NamedEntryDispatcher if parameters.has_keyword_only else EntryDispatcher
    return kind(engine, function, options, chain, parameters)


class EntryDispatcher(CPUDispatcher):
    """What ``Context.jit`` gives: called from Python it goes numba's own way.

    It holds code of the context's present world; when a table changes, it holds none.
    functions_compiled: how many functions have been compiled for it so far; those that were
    there already, made for another context or before a change, are not counted.
    """

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
        self.keeping: Keeping | None = None  # where code is kept on disk
        self.chain = chain
        self.called_by_numba = False
        self.functions_compiled = 0
        self.declared = declared_by(function)
        self._guards = EntryGuards(self)

    def _show(self, function: Any) -> None:
        """Be what numba makes of this function, for who looks at it."""
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
                if attempts >= ATTEMPTS:  # what it is made of changes all the time
                    return self._guards.for_one_call(made)
            return self._guards.function(args)

    def _inserted(self, world: World, args: tuple[Type, ...], made: Any) -> bool:
        """Have code be called from now on, unless what it was made of has changed meanwhile."""
        with LOCK:
            # its words are read first: it sees what changes after
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
        """Code that is called from here has been compiled since."""
        with LOCK:
            words = self.engine.words()
            if self.engine.rebound():
                self.engine.begin_anew()
            self._guards.compare(words)
        renew_callers(self)

    def barriers(self) -> list[BarrierInfo]:
        """What the barriers in the code of its context have done so far: those are calls in
        contexts that only the running program knows."""
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
            further = ways, return_type
            self.keeping.compile(self, world, inner, local, further, sig)
        self.functions_compiled += functions_made() - before
        made = inner.overloads[local]
        result = made.signature.return_type
        if isinstance(result, types.Module) and not self.called_by_numba:
            raise errors.UnsupportedError(f"cannot return {result} to Python")
        return made

    def typeof_pyval(self, val: Any) -> Type:
        return types.pyobject if is_interpreted(val) else super().typeof_pyval(val)

    def _interpreted(self, *args: Any) -> Any:
        """Run the Python function with arguments of which compiled code knows nothing."""
        given, named = self.parameters.as_called(args)
        stack = current_stack()
        if stack is None or stack.compiled is not self.engine:
            return self.engine.context(self.py_func, *given, **named)
        run = self.py_func
        if self.chain is not None:
            run = stack.python.placed(run, self.chain)
        return run(*given, **named)

    def _compile_for_args(self, *args: Any) -> Any:
        """What is to be called with these arguments, for which there is no code."""
        if any(map(is_interpreted, args)):
            return self._interpreted
        refuse_parameters(self.py_func)
        given, named = self.parameters.as_called(args)
        if self.parameters.are_past():
            self._take_anew()
            return lambda *_: self(*given, **named)
        self.parameters.bind(given, named)
        with self._explaining():
            declared = self._declared()
            if declared.is_limited:
                return self._converting(declared, args)
            return super()._compile_for_args(*args)

    @contextmanager
    def _explaining(self) -> Generator[None]:
        """Errors of numba in the block are ours, which name the function."""
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
        """The declarations that calls from Python are converted by: none where methods are looked
        up for the function, which are chosen by what is given."""
        if self.declared.is_limited and self.chain is None:
            is_target = self.engine.world(self.options).is_target(self.function)
            return NOTHING if is_target else self.declared
        return self.declared

    def _converting(self, declared: Declarations, args: tuple[Any, ...]) -> Any:
        """What is to be called with these arguments, of a function that is limited to its
        signatures: once there is code for each, numba itself chooses, as it does outside."""
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
        """Have code for each signature, and for nothing else; what is called for each."""
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
        """All that it is made of; dask tells what numba has made apart by this."""
        options = {**self.options, "cache": self.cache}
        return {"context": self.engine.context, "function": self.function, "options": options}

    @property
    def stats(self) -> Any:
        """What was read from disk, as numba has it: where, and hits and misses by types."""
        if self.keeping is None:
            return super().stats
        return type(super().stats)(self.keeping.folder.path, self.keeping.hits, self.keeping.misses)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        self.called_by_numba = True
        call_expected(self)
        declared = self._declared()
        if declared.is_limited and self._can_compile:
            self._limited(declared)
        return super().get_call_template(args, kws)

    def recompile(self) -> None:
        """Compile anew what was compiled: functions rebound in their modules are read again."""
        compiled = list(self.overloads)
        self.engine.recompile()
        for args in compiled:
            self.compile(args)

    def retire(self) -> list[Any]:
        """Hold no code any more; returns what it held, which a thread may be running."""
        retired = [*self.overloads.values(), *self._guards.taken_out()]
        self._reset_overloads()
        self.disable_compile(False)
        if self.parameters.are_past():
            self._take_anew()
        return retired

    def _take_anew(self) -> None:
        """The function takes something else by now."""
        with LOCK:
            self._reset_overloads()
            self.parameters = FunctionParameters(self.py_func)
            take_from_python(self, self.parameters)
            self._show(self.py_func)


class NamedEntryDispatcher(EntryDispatcher):
    """The same for a function with keyword-only parameters, of which numba knows none."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if len(args) > self.parameters.positional:
            self.parameters.bind(args, kwargs)
        return CPUDispatcher.__call__(self, *args, **kwargs)


def _compiled_again(
    content: str | None, context: Any, function: Any, options: dict[str, Any]
) -> Any:
    """What another process has sent, which need not be compiled each time that it comes."""
    if content is None or context.state is not None:  # each that is read has its own state
        return context.jit(function, **options)
    return _received.found(content, lambda: context.jit(function, **options))
