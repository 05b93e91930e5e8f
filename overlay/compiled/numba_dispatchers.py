"""Dispatchers: what compiles a function of the program in a world, and what Python calls."""

from __future__ import annotations

import functools
import inspect
import types as python_types
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numba.core import errors, sigutils, types, utils
from numba.core.compiler_lock import global_compiler_lock
from numba.core.descriptors import TargetDescriptor
from numba.core.dispatcher import Dispatcher
from numba.core.funcdesc import qualifying_prefix
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.typing.templates import Signature, signature

from overlay.compiled import failures
from overlay.compiled.numba_callers import call_expected, renew_callers
from overlay.compiled.numba_guard import Guard
from overlay.compiled.numba_tracing import leave_places
from overlay.compiled.numba_types import (
    OWN_OPTIONS,
    Refused,
    Type,
    localised,
    refused,
    shown_types,
)
from overlay.compiled.numba_typing import WorldTyping
from overlay.compiled.traces import Place, explain, raised_by_numba
from overlay.location import shown
from overlay.table import LOCK

if TYPE_CHECKING:
    from overlay.compiled.barrier import BarrierInfo
    from overlay.compiled.calls import Body
    from overlay.compiled.engine import CompiledContext
    from overlay.compiled.keeping import Keeping
    from overlay.compiled.world import World

__all__ = ["EntryDispatcher", "InnerDispatcher", "function_compiled", "innermost"]


class _Descriptor(TargetDescriptor):
    """A world's typing before numba's own code generation."""

    options = cpu_target.options

    def __init__(self, typing: WorldTyping) -> None:
        super().__init__("cpu")
        self._typing = typing

    @property
    def typing_context(self) -> Any:
        return self._typing

    @property
    def target_context(self) -> Any:
        return cpu_target.target_context


# The functions that are being compiled, each for the one before it.
_compiling: list[InnerDispatcher] = []


def innermost() -> InnerDispatcher:
    """The function that is being compiled, and waits for no other to be."""
    return _compiling[-1]


def function_compiled() -> Place | None:
    """The function of the program of which code is being made."""
    return Place.of(_compiling[-1].original) if _compiling else None


class InnerDispatcher(Dispatcher):
    """Compiles one function of the program in one world.

    body: what ``call_next`` means in it. is_entry: whether Python calls the compiled code.
    """

    def __init__(
        self,
        world: World,
        function: Any,
        body: Body | None,
        options: Mapping[str, Any],
        is_entry: bool,
        pipeline: type,
    ) -> None:
        self.targetdescr = _Descriptor(world.typing)
        own = {**options, "nopython": True}
        # where there are plugins, they are asked before a body takes the place of a call
        self.inlined = bool(world.plugins) and own.pop("inline", None) == "always"
        self.native: InnerDispatcher | None = None  # of a plugin that shares its code
        self.kept_calls: set[str] = set()  # names in LLVM of what is not to be inlined
        super().__init__(
            _twin(getattr(function, "py_func", function)),
            targetoptions=own,
            pipeline_class=pipeline,
        )
        self.world = world
        self.original = getattr(function, "py_func", function)
        self.py_func.of_program = function
        self.is_of_program = not str(self.original.__module__).startswith("numba.")
        self.function = function
        self.body = body
        self.is_entry = is_entry
        self.recursive: dict[Any, Any] = {}
        self.enters_methods = body is not None
        self.callees: list[InnerDispatcher] = []  # whose code is entered, linked or inlined
        self.read: list[Any] = []  # functions that code from disk was compiled of
        self.crosses_barrier = False  # whether it looks up values of this process
        self.on_disk: set[Any] = set()  # the types for which the code is kept there
        if not is_entry:
            self._compiler._customize_flags = _without_wrappers

    @global_compiler_lock
    def compile(self, sig: Any) -> Any:
        if self.is_of_program:
            self.world.watch.add(self.original)
        if _compiling:
            _compiling[-1].calls(self)
        _compiling.append(self)
        try:
            return self._compiled_or_taken_over(sig)
        except errors.ForceLiteralArg:
            raise
        except errors.NumbaError as error:
            failure = failures.failure_in(str(error))
            if failure is None and self.body is not None:
                args, _ = sigutils.normalize_signature(sig)
                raise self._failed(error, args) from error
            if failure is not None:
                loc = getattr(error, "loc", None)
                path, line = (loc.filename, loc.line) if loc else (self.__code__.co_filename, None)
                failure.called_from(self.py_func, path, line)
            raise
        finally:
            _compiling.pop()

    def calls(self, callee: InnerDispatcher) -> None:
        """Note that this function's code may enter that of another."""
        if not any(callee is each for each in self.callees):
            self.callees.append(callee)

    def share(self, native: InnerDispatcher) -> None:
        """What one of the two has compiled serves for the other."""
        self.native = native
        self.world.keep(native)
        native.world.keep(self)  # each lives as long as what the other has of it

    def _compiled_or_taken_over(self, sig: Any) -> Any:
        args, _ = sigutils.normalize_signature(sig)
        native = self.native
        if native is not None and args in native.overloads and args not in self.overloads:
            self.add_overload(native.overloads[args])
        entry_point = self._compiled_by_numba(sig)
        if native is not None and args not in native.overloads:
            native.world.watch.add(self.original)
            native.add_overload(self.overloads[args])
            native.calls(self)
        return entry_point

    def _compiled_by_numba(self, sig: Any) -> Any:
        try:
            return super().compile(sig)
        except errors.NumbaError:
            raise
        except Exception as error:
            if not raised_by_numba(error):
                raise
            message = f"{type(error).__name__}: {error}"
            raise errors.UnsupportedError(message) from error

    def _failed(self, error: Exception, args: Sequence[Type]) -> Refused:
        """The error that names the method whose body numba cannot compile."""
        assert self.body is not None
        method, types_ = self.body.methods[-1], shown_types(args, {})
        where = _place_in(self.py_func, error)
        failed = failures.of_body(method, self.py_func, types_, str(error), where)
        return refused(self.world, failed)

    def __deepcopy__(self, copied: dict[int, Any]) -> Any:
        return self  # numba copies what it unrolls

    def add_overload(self, cres: Any) -> None:
        if self.world.only_types:
            self.overloads[tuple(cres.signature.args)] = cres
            return
        super().add_overload(cres)
        if self.enters_methods:
            leave_places(cres, Place.of(self.original), function_compiled)
        self._entry_points.append(cres.entry_point)

    def _make_finalizer(self) -> Any:
        # numba's refers to the code, that to this world, and that to this dispatcher
        self._entry_points: list[Any] = []
        return functools.partial(_forget, self._entry_points)

    def get_compile_result(self, sig: Any) -> Any:
        # a function chosen when the program runs is called through its wrapper for C
        if self.is_entry:
            return super().get_compile_result(sig)
        wrapped = self.world.dispatcher(self.function, self.body, {})
        if _compiling:
            _compiling[-1].calls(wrapped)
        return wrapped.get_compile_result(sig)

    def type_of_call(self, sig: Signature) -> Type:
        """The type of this function where it is called so, perhaps in its own body."""
        ty = types.Dispatcher(self)
        if sig.args in self.overloads:
            return ty
        func_id = self.recursive[sig.args]
        name = qualifying_prefix(func_id.modname, func_id.func_qualname)
        recursive = types.RecursiveCall(ty)
        recursive.add_overloads(sig.args, name, func_id.unique_id)
        return recursive


def _place_in(function: Any, error: Exception) -> str | None:
    """The line of a function that one of numba's errors speaks of, if it speaks of one."""
    loc = getattr(error, "loc", None)
    code = function.__code__
    lines = [line for _, _, line in code.co_lines() if line is not None]
    if loc is None or loc.filename != code.co_filename or loc.line not in lines:
        return None
    return shown(loc.filename, loc.line)


def _forget(entry_points: list[Any]) -> None:
    if utils.shutting_down():
        return
    for entry_point in entry_points:
        cpu_target.target_context._defns.pop(entry_point, None)


def _twin(function: Any) -> Any:
    """The same function as an object of its own: numba tells recursive calls by identity."""
    code, defaults, by_keyword = _positional(function)
    twin = python_types.FunctionType(
        code, function.__globals__, function.__name__, defaults, function.__closure__
    )
    twin.__kwdefaults__ = by_keyword
    twin.__qualname__ = function.__qualname__
    twin.__module__ = function.__module__
    twin.__doc__ = function.__doc__
    return twin


def _positional(function: Any) -> tuple[Any, Any, Any]:
    """Code and defaults of a function with keyword-only parameters, of which numba knows none,
    as parameters like any other; dispatch and Python's rules have seen the call before."""
    code, defaults, by_keyword = function.__code__, function.__defaults__, function.__kwdefaults__
    first, count = code.co_argcount, code.co_kwonlyargcount
    given = [n for n in code.co_varnames[first : first + count] if n in (by_keyword or {})]
    optional_last = len(given) == count or (not defaults and given == _last(code, len(given)))
    if not count or code.co_flags & inspect.CO_VARARGS or not optional_last:
        return code, defaults, by_keyword
    code = code.replace(co_argcount=first + count, co_kwonlyargcount=0)
    return code, (*(defaults or ()), *(by_keyword[name] for name in given)), None


def _last(code: Any, count: int) -> list[str]:
    end = code.co_argcount + code.co_kwonlyargcount
    return list(code.co_varnames[end - count : end])


def _without_wrappers(flags: Any) -> Any:
    flags.no_cpython_wrapper = True
    flags.no_cfunc_wrapper = True
    return flags


class EntryDispatcher(CPUDispatcher):
    """What ``Context.jit`` gives: called from Python it costs what any numba dispatcher costs.

    It holds code of the context's present world; when a table changes, it holds none.
    """

    def __init__(
        self, engine: CompiledContext, function: Any, options: dict[str, Any], body: Body | None
    ) -> None:
        ours = (*OWN_OPTIONS, "cache")
        own = {name: value for name, value in options.items() if name not in ours}
        super().__init__(
            getattr(function, "py_func", function), targetoptions={**own, "nopython": True}
        )
        self.engine = engine
        self.function = function
        self.cache = options.pop("cache", False)
        self.options = options
        self.keeping: Keeping | None = None  # where code is kept on disk
        self.body = body
        self.called_by_numba = False
        self.is_entered = False  # whether plugins have been asked, and methods looked up
        self._guards: dict[tuple[Type, ...], Guard] = {}

    def compile(self, sig: Any) -> Any:
        given, return_type = sigutils.normalize_signature(sig)
        args = tuple(given)
        with global_compiler_lock, self._compiling_counter:
            if args not in self.overloads and self.engine.rebound():
                self.engine.recompile()
            while args not in self.overloads:
                world = self.engine.world(self.options)
                made = self._compiled(world, args, return_type)
                with LOCK:
                    if self.engine.holds(world):
                        guard = self._guard(made)
                        self._insert([a._code for a in args], guard.function, False)
                        self._guards[args] = guard
                        self.overloads[args] = made
            return self._guards[args].function

    def _guard(self, code: Any) -> Guard:
        """What Python calls in front of compiled code."""
        return Guard(code.entry_point, self.engine.words(), self._stale, self._failed)

    def _stale(self, *args: Any, **kwargs: Any) -> Any:
        """A call that found a name of the program bound anew, or nearly so."""
        with LOCK:
            if self.engine.rebound():
                self.engine.recompile()
            else:
                for guard in self._guards.values():
                    guard.renew(self.engine.words())
        return self(*args, **kwargs)

    def renew(self) -> None:
        """Code that is called from here has been compiled since."""
        with LOCK:
            if self.engine.rebound():
                self.engine.recompile()
            for guard in self._guards.values():
                guard.renew(self.engine.words())
        renew_callers(self)

    def barriers(self) -> list[BarrierInfo]:
        """What the barriers in the code of its context have done so far: those are calls in
        contexts that only the running program knows."""
        return self.engine.barrier_info()

    def _failed(self, error: BaseException) -> None:
        """The compiled code has raised an exception."""
        explain(error, Place.of(self.py_func))

    def _compiled(self, world: World, args: tuple[Type, ...], return_type: Type | None) -> Any:
        given = len(args)
        while given and isinstance(args[given - 1], types.Omitted):
            given -= 1
        inner = world.entry(self, given, args)
        local = tuple(localised(world, a) for a in args)
        sig = local if return_type is None else signature(return_type, *local)
        if self.keeping is None:
            inner.compile(sig)
        else:
            further = given, len(args), return_type
            self.keeping.compile(self, world, inner, local, further, sig)
        return inner.overloads[local]

    def _compile_for_args(self, *args: Any, **kws: Any) -> Any:
        try:
            return super()._compile_for_args(*args, **kws)
        except errors.NumbaError as error:
            failure = failures.failure_in(str(error))
            if failure is not None:
                raise failure.raised() from failure.error.__cause__
            where = _place_in(self.py_func, error)
            raise failures.of_entry(self.py_func, str(error), where) from None

    def _make_finalizer(self) -> Any:
        return functools.partial(_forget, [])  # the code belongs to the world's dispatcher

    def __reduce__(self) -> Any:
        options = {**self.options, "cache": self.cache}
        return _compiled_again, (self.engine.context, self.function, options)

    @property
    def stats(self) -> Any:
        """What was read from disk, as numba has it: where, and hits and misses by types."""
        if self.keeping is None:
            return super().stats
        return type(super().stats)(self.keeping.folder.path, self.keeping.hits, self.keeping.misses)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        self.called_by_numba = True
        call_expected(self)
        return super().get_call_template(args, kws)

    def recompile(self) -> None:
        """Compile anew what was compiled: functions rebound in their modules are read again."""
        compiled = list(self.overloads)
        self.engine.recompile()
        for args in compiled:
            self.compile(args)

    def retire(self) -> list[Any]:
        """Hold no code any more; returns what it held, which a thread may be running."""
        retired = [*self.overloads.values(), *self._guards.values()]
        self._reset_overloads()
        self._guards = {}
        return retired


def _compiled_again(context: Any, function: Any, options: dict[str, Any]) -> Any:
    return context.jit(function, **options)
