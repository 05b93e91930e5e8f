"""Dispatchers: what compiles a function of the program in a world, and what Python calls."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from numba.core import errors, sigutils, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.descriptors import TargetDescriptor
from numba.core.dispatcher import Dispatcher
from numba.core.funcdesc import qualifying_prefix
from numba.core.registry import CPUDispatcher, cpu_target
from numba.core.typing.templates import Signature, signature

from overlay.compiled import failures
from overlay.compiled.basis import Basis, Code, Generated, Holder, place_of
from overlay.compiled.numba_callers import call_expected, renew_callers
from overlay.compiled.numba_definitions import (
    Annotation,
    accept_other_worlds,
    forget_definition,
    is_of_world,
)
from overlay.compiled.numba_guard import Guard
from overlay.compiled.numba_tracing import leave_places
from overlay.compiled.numba_twins import twin
from overlay.compiled.numba_types import (
    OWN_OPTIONS,
    CalleeType,
    Refused,
    StandIn,
    Type,
    localised,
    numba_typing,
    refused,
    shown_types,
)
from overlay.compiled.numba_typing import WorldTyping
from overlay.compiled.sharing import Frame, compiling, found, frame, frames, functions_made, include
from overlay.compiled.traces import Place, explain, raised_by_numba
from overlay.location import shown
from overlay.table import LOCK
from overlay.target import key_of_target

if TYPE_CHECKING:
    from overlay.compiled.barrier import BarrierInfo
    from overlay.compiled.calls import Body
    from overlay.compiled.engine import CompiledContext
    from overlay.compiled.keeping import Keeping
    from overlay.compiled.watching import Reading
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


def innermost() -> InnerDispatcher:
    """The function that is being compiled, and waits for no other to be."""
    return frames()[-1].holder  # type: ignore[return-value]


def function_compiled() -> Place | None:
    """The function of the program of which code is being made."""
    return Place.of(innermost().original) if frames() else None


class InnerDispatcher(Holder, Dispatcher):
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
            twin(getattr(function, "py_func", function)),
            targetoptions=own,
            pipeline_class=pipeline,
        )
        self.world = world
        self.original = getattr(function, "py_func", function)
        self.py_func.of_program = function
        self.is_of_program = not str(self.original.__module__).startswith("numba.")
        self.function = function
        self.body = body
        self.key_of_body = None if body is None else body.key
        self.own_options = tuple((name, repr(value)) for name, value in sorted(own.items()))
        self.codes = {}
        self.is_entry = is_entry
        self.recursive: dict[Any, Any] = {}
        self.enters_methods = body is not None
        self.on_disk: set[Any] = set()  # the types for which the code is kept there
        if not is_entry:
            self._compiler._customize_flags = _without_wrappers

    @global_compiler_lock
    def compile(self, sig: Any) -> Any:
        args, returned = sigutils.normalize_signature(sig)
        args = tuple(args)
        code = self.codes.get(args) or self._found(args, returned)
        if code is None:
            code = self._made(sig, args, returned)
        caller = frame()
        if caller is not None:
            caller.calls(self.world, code)
        return self.overloads[args].entry_point

    def compiles(self, function: Any) -> bool:
        return function is self.py_func

    def _made(self, sig: Any, args: tuple[Type, ...], returned: Type | None) -> Code:
        """The code of this function for some types, which numba makes."""
        with compiling(self, args) as made:
            try:
                self._read(made)
                self._compiled_by_numba(sig)
            except errors.ForceLiteralArg:
                raise
            except errors.NumbaError as error:
                self._explain(error, args)
                raise
            code = self.codes[args] = self._code(made, args, returned)
            made.ended(code)
        if self.native is not None:
            self.native.take_over(args, code)
        return code

    def _read(self, made: Frame) -> None:
        if not self.is_of_program:
            return
        reading = self.world.watch.add(self.original)
        made.has_read(reading)
        if any(issubclass(type(value), (Holder, StandIn)) for value in reading.values):
            made.is_private()  # it is of this world alone

    def _code(self, made: Frame, args: tuple[Type, ...], returned: Type | None) -> Code:
        result = self.overloads[args]
        accept_other_worlds(result)
        notes = Annotation(result.type_annotation)
        if is_of_world(result.signature.return_type) or self.targetoptions.get("parallel"):
            made.is_private()
        neutral = result._replace(typing_context=numba_typing(), type_annotation=notes)
        return self._code_of(neutral, args, returned, made.basis)

    def _code_of(
        self, result: Any, args: tuple[Type, ...], returned: Type | None, basis: Basis
    ) -> Code:
        key, release = (
            self._key(args, returned),
            functools.partial(forget_definition, result.entry_point),
        )
        return Code(self.original, key, result, basis, self.enters_methods, release)

    def take_from_disk(
        self,
        args: tuple[Type, ...],
        result: Any,
        enters_methods: bool,
        readings: Iterable[Reading],
        generated: Iterable[Generated],
    ) -> None:
        """Have code that another process made, of the functions that were read so."""
        self.enters_methods = self.enters_methods or enters_methods
        self.add_overload(result)
        basis = Basis.of_disk(readings, generated)
        self.codes[args] = self._code_of(result, args, None, basis)
        basis.codes.append(self.codes[args])
        self.on_disk.add(args)

    def _key(self, args: tuple[Type, ...], returned: Type | None) -> Hashable:
        """What tells code of this function from other code of it, in whichever world."""
        given = tuple(map(self._neutral, args)), returned
        is_made = self.is_entry, self.world.enters_numba, self.own_options
        return given, self.key_of_body, is_made

    def _neutral(self, ty: Type) -> Any:
        """A type, told from others in whichever world it is."""
        if isinstance(ty, types.BaseTuple):
            parts = tuple(map(self._neutral, ty.types))
            whole = type(ty), getattr(ty, "instance_class", None), parts
            return ty if parts == tuple(ty.types) else whole
        if isinstance(ty, CalleeType):
            target, place = ty.callee, place_of(ty.callee.world, self.world)
            return key_of_target(target.target), target.after, target.is_base, place
        function = ty.dispatcher if isinstance(ty, types.Dispatcher) else None
        if not isinstance(function, InnerDispatcher):
            return ty
        place = place_of(function.world, self.world)
        return function.original, function.key_of_body, function.own_options, place

    def _found(self, args: tuple[Type, ...], returned: Type | None) -> Code | None:
        """Code that was made in another world and serves here."""
        native = self.native
        if native is not None:
            return self.take_over(args, native.codes[args]) if args in native.codes else None
        code = found(self.world, self.original, self._key(args, returned))
        if code is not None:
            include(self.world, code.basis)
            self.take_over(args, code)
        return code

    def take_over(self, args: tuple[Type, ...], code: Code) -> Code:
        """Have code that another dispatcher made."""
        if args not in self.codes:
            sig = code.result.signature.replace(args=args)
            super().add_overload(code.result._replace(signature=sig))
            self.codes[args] = code
            self.enters_methods = self.enters_methods or code.enters_methods
            if self.is_of_program:
                self.world.watch.add(self.original)
        return code

    def share(self, native: InnerDispatcher) -> None:
        """What one of the two has compiled serves for the other."""
        self.native = native
        self.world.keep(native)
        native.world.keep(self)  # each lives as long as what the other has of it

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

    def _explain(self, error: errors.NumbaError, args: tuple[Type, ...]) -> None:
        """Say of an error which function it was met in; raises what names the method."""
        failure = failures.failure_in(str(error))
        if failure is not None:
            loc = getattr(error, "loc", None)
            path, line = (loc.filename, loc.line) if loc else (self.__code__.co_filename, None)
            failure.called_from(self.py_func, path, line)
        elif self.body is not None:
            raise self._failed(error, args) from error

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

    def _make_finalizer(self) -> Any:
        return _nothing  # what numba keeps of the code goes with the code

    def get_compile_result(self, sig: Any) -> Any:
        # a function chosen when the program runs is called through its wrapper for C
        if not self.is_entry:
            return self.world.dispatcher(self.function, self.body, {}).get_compile_result(sig)
        found, caller = super().get_compile_result(sig), frame()
        if caller is not None:
            caller.needs_context(self)
            caller.calls(self.world, self.codes[tuple(sig.args)])
        return found

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


def _nothing() -> None:
    pass


def _without_wrappers(flags: Any) -> Any:
    flags.no_cpython_wrapper = True
    flags.no_cfunc_wrapper = True
    return flags


class EntryDispatcher(CPUDispatcher):
    """What ``Context.jit`` gives: called from Python it costs what any numba dispatcher costs.

    It holds code of the context's present world; when a table changes, it holds none.
    functions_compiled: how many functions have been compiled for it so far; those that were
    there already, made for another context or before a change, are not counted.
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
        self.functions_compiled = 0
        self.is_entered = False  # whether plugins have been asked, and methods looked up
        self._guards: dict[tuple[Type, ...], Guard] = {}

    def compile(self, sig: Any) -> Any:
        given, return_type = sigutils.normalize_signature(sig)
        args = tuple(given)
        with global_compiler_lock, self._compiling_counter:
            if args not in self.overloads and self.engine.rebound():
                self.engine.begin_anew()
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
                self.engine.begin_anew()
            else:
                for guard in self._guards.values():
                    guard.renew(self.engine.words())
        return self(*args, **kwargs)

    def renew(self) -> None:
        """Code that is called from here has been compiled since."""
        with LOCK:
            if self.engine.rebound():
                self.engine.begin_anew()
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
        before = functions_made()
        if self.keeping is None:
            inner.compile(sig)
        else:
            further = given, len(args), return_type
            self.keeping.compile(self, world, inner, local, further, sig)
        self.functions_compiled += functions_made() - before
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
        return _nothing  # the code belongs to the world's dispatcher

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
