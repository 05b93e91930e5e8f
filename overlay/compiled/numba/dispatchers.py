"""Dispatchers that compile functions of the program in a world."""

from __future__ import annotations

import functools
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from numba.core import errors, sigutils, types
from numba.core.compiler_lock import global_compiler_lock
from numba.core.descriptors import TargetDescriptor
from numba.core.dispatcher import Dispatcher
from numba.core.funcdesc import qualifying_prefix
from numba.core.registry import cpu_target
from numba.core.typing.templates import Signature

from overlay.compiled import failures
from overlay.compiled.basis import Basis, CompiledCode, Generated, Holder, place_of
from overlay.compiled.numba.code_lifetime import (
    Annotation,
    accept_other_worlds,
    code_deferred,
    forget_definition,
    free_unused_modules,
    is_of_world,
    target_context,
)
from overlay.compiled.numba.exception_chains import (
    element_errors_raised,
    forget_callee,
    record_callee,
)
from overlay.compiled.numba.interfaces import FunctionParameters, bind_by_python, declared_by, twin
from overlay.compiled.numba.numba_types import (
    CalleeType,
    RefusedByTyping,
    StandIn,
    Type,
    is_dispatcher,
    numba_typing,
    options_of,
    refused,
    shown_types,
)
from overlay.compiled.numba.numba_typing import WorldTyping
from overlay.compiled.sharing import CompilingFrame, compiling, found, frame, frames, include
from overlay.compiled.traces import TracePlace, raised_by_numba
from overlay.core.jitted import sources_of, targets_of
from overlay.core.location import shown

if TYPE_CHECKING:
    from overlay.code.record import FunctionReads
    from overlay.compiled.world import World
    from overlay.core.dispatch import MethodChain

__all__ = [
    "RESOLVED",
    "InnerDispatcher",
    "innermost",
    "note_inlined",
    "nothing",
    "place_in",
]


# Metadata key of a compile result in a world that generates no code: the function's IR, and the
# types to which variables were converted.
RESOLVED: Final = "overlay.resolved"


class _Descriptor(TargetDescriptor):
    """Target descriptor with a world's typing."""

    options = cpu_target.options

    def __init__(self, typing: WorldTyping) -> None:
        super().__init__("cpu")
        self._typing = typing

    @property
    def typing_context(self) -> Any:
        return self._typing

    @property
    def target_context(self) -> Any:
        return target_context()


def innermost() -> InnerDispatcher:
    """The innermost function being compiled."""
    return frames()[-1].holder


class InnerDispatcher(Holder, Dispatcher):
    """Compiles one function of the program in one world.

    chain: the place at which its ``call_next`` continues. is_entry: whether Python calls the
    compiled code.
    """

    def __init__(
        self,
        world: World,
        function: Any,
        chain: MethodChain | None,
        options: Mapping[str, Any],
        is_entry: bool,
        pipeline: type,
    ) -> None:
        self.targetdescr = _Descriptor(world.typing)
        own = {**options, "nopython": True}
        # plugins decide first whether a body replaces a call
        self.inlined = bool(world.plugins) and own.pop("inline", None) == "always"
        self.native: InnerDispatcher | None = None  # of a plugin that shares its code
        self.marked: list[Any] = []  # calls of markers: marker, types, and location
        self.kept_calls: set[str] = set()  # names in LLVM of functions not to inline
        self.kept_on_device: set[Any] = set()  # dispatchers and types of these, before names exist
        self.original = getattr(function, "py_func", function)
        declared = declared_by(function)
        variables = own.pop("locals", None) or declared.variables
        self.declared = declared._replace(variables=variables)
        super().__init__(
            twin(self.original),
            locals=dict(variables),
            targetoptions=own,
            pipeline_class=pipeline,
        )
        self.world = world
        bind_by_python(self, FunctionParameters(self.original), self._converted)
        self.py_func.of_program = function
        self.is_of_program = not str(self.original.__module__).startswith("numba.")
        self.function = function
        self.chain = chain
        # code serves in other tables with the same methods
        self.key_of_chain = None if chain is None else chain.key
        options_ = tuple((name, repr(value)) for name, value in sorted(own.items()))
        self.own_options = *options_, self.declared.key()
        self.codes = {}
        self.is_entry = is_entry
        self.recursive: dict[Any, Any] = {}
        self.enters_methods = chain is not None
        self.on_disk: set[Any] = set()  # the types whose code is stored on disk
        if not is_entry:
            self._compiler._customize_flags = _without_wrappers

    def _converted(self, args: tuple[Type, ...]) -> tuple[Type, ...]:
        """The types to which the arguments of a call are converted."""
        return self.declared.chosen(self.world.typing, args) if self.declared.is_limited else args

    @global_compiler_lock
    def compile(self, sig: Any) -> Any:
        args, returned = sigutils.normalize_signature(sig)
        args = tuple(args)
        if self.declared.is_limited:
            if args not in self.declared.results:
                raise errors.TypingError(self.declared.no_match(args))
            returned, sig = self.declared.results[args], self.declared.asked(args)
        code = self.codes.get(args) or self._found(args, returned)
        if code is None:
            code = self._made(sig, args, returned)
        caller = frame()
        if caller is not None:
            caller.calls(self.world, code)
        else:
            free_unused_modules()
        return self.overloads[args].entry_point

    def key_of(self, args: tuple[Type, ...]) -> Hashable:
        return self._key(args, None)

    def compiles(self, function: Any) -> bool:
        return function is self.py_func

    def _made(self, sig: Any, args: tuple[Type, ...], returned: Type | None) -> CompiledCode:
        """Compile this function for some types with numba."""
        if self._compiler._failed_cache and self.world.watch.outdated():
            self._compiler._failed_cache.clear()  # numba raises a failure of before again
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

    def _read(self, made: CompilingFrame) -> None:
        if not self.is_of_program:
            return
        reading = self.world.watch.add(self.original)
        made.has_read(reading)
        for source in sources_of(self.original):
            made.has_read(self.world.watch.add(source))
            made.is_private()
        for target in targets_of(self.original):
            self.world.overlays(target)
        note_inlined(self.world, reading.values)
        if any(issubclass(type(value), (Holder, StandIn)) for value in reading.values):
            made.is_private()  # it is valid in this world alone

    def _code(
        self, made: CompilingFrame, args: tuple[Type, ...], returned: Type | None
    ) -> CompiledCode:
        result = self.overloads[args]
        accept_other_worlds(result)
        notes = Annotation(result.type_annotation)
        if is_of_world(result.signature.return_type) or self.targetoptions.get("parallel"):
            made.is_private()
        neutral = result._replace(typing_context=numba_typing(), type_annotation=notes)
        return self._code_of(neutral, args, returned, made.basis)

    def _code_of(
        self, result: Any, args: tuple[Type, ...], returned: Type | None, basis: Basis
    ) -> CompiledCode:
        key, symbol = self._key(args, returned), getattr(result.fndesc, "llvm_func_name", "")
        release = functools.partial(_released, result.entry_point, symbol)
        return CompiledCode(self.original, key, result, basis, self.enters_methods, release)

    def take_from_disk(
        self,
        args: tuple[Type, ...],
        result: Any,
        enters_methods: bool,
        readings: Iterable[FunctionReads],
        generated: Iterable[Generated],
    ) -> None:
        """Install code from another process, of the functions in these readings."""
        self.enters_methods = self.enters_methods or enters_methods
        self.add_overload(result)
        basis = Basis.of_disk(readings, generated)
        self.codes[args] = self._code_of(result, args, None, basis)
        basis.codes.append(self.codes[args])
        self.on_disk.add(args)

    def _key(self, args: tuple[Type, ...], returned: Type | None) -> Hashable:
        """Key that tells code of this function from other code of it, in any world."""
        given = tuple(map(self._neutral, args)), returned
        is_made = self.is_entry, self.world.enters_numba, self.own_options
        return given, self.key_of_chain, is_made

    def _neutral(self, ty: Type) -> Any:
        """A type as a key that is equal in any world."""
        if isinstance(ty, types.BaseTuple):
            parts = tuple(map(self._neutral, ty.types))
            whole = type(ty), getattr(ty, "instance_class", None), parts
            return ty if parts == tuple(ty.types) else whole
        if isinstance(ty, CalleeType):
            target, place = ty.callee, place_of(ty.callee.world, self.world)
            return target.chain.key, target.is_base, place
        function = ty.dispatcher if isinstance(ty, types.Dispatcher) else None
        if not isinstance(function, InnerDispatcher):
            return ty
        place = place_of(function.world, self.world)
        return function.original, function.key_of_chain, function.own_options, place

    def _found(self, args: tuple[Type, ...], returned: Type | None) -> CompiledCode | None:
        """Find code that was made in another world and is valid here."""
        native = self.native
        if native is not None:
            return self.take_over(args, native.codes[args]) if args in native.codes else None
        code = found(self.world, self.original, self._key(args, returned))
        if code is not None:
            include(self.world, code.basis)
            self.take_over(args, code)
        return code

    def take_over(self, args: tuple[Type, ...], code: CompiledCode) -> CompiledCode:
        """Install code of another dispatcher."""
        if args not in self.codes:
            sig = code.result.signature.replace(args=args)
            super().add_overload(code.result._replace(signature=sig))
            self.codes[args] = code
            self.enters_methods = self.enters_methods or code.enters_methods
            if self.is_of_program:
                self.world.watch.add(self.original)
        return code

    def share(self, native: InnerDispatcher) -> None:
        """Let this dispatcher and ``native`` use each other's code."""
        self.native = native
        self.world.keep(native)
        native.world.keep(self)  # each lives as long as the other uses its code

    def _compiled_by_numba(self, sig: Any) -> Any:
        try:
            with code_deferred(), element_errors_raised():
                return super().compile(sig)
        except errors.NumbaError:
            raise
        except Exception as error:
            if not raised_by_numba(error):
                raise
            message = f"{type(error).__name__}: {error}"
            raise errors.UnsupportedError(message) from error

    def _explain(self, error: errors.NumbaError, args: tuple[Type, ...]) -> None:
        """Add the function in which an error occurred; raises an error that names a method's
        body."""
        failure = failures.failure_in(str(error))
        if failure is not None:
            loc = getattr(error, "loc", None)
            path, line = (loc.filename, loc.line) if loc else (self.__code__.co_filename, None)
            failure.called_from(self.py_func, path, line)
        elif self.chain is not None:
            raise self._failed(error, args) from error

    def _failed(self, error: Exception, args: Sequence[Type]) -> RefusedByTyping:
        """The error for a method whose body numba cannot compile."""
        assert self.chain is not None
        method, types_ = self.chain.passed[-1], shown_types(args, {})
        where = place_in(self.py_func, error)
        failed = failures.of_body(method, self.py_func, types_, str(error), where)
        return refused(self.world, failed)

    def __deepcopy__(self, copied: dict[int, Any]) -> Any:
        return self  # numba copies what it unrolls

    def add_overload(self, cres: Any) -> None:
        if not self.world.makes_code:
            self.overloads[tuple(cres.signature.args)] = cres
            return
        super().add_overload(cres)
        if self.is_of_program:
            record_callee(cres, TracePlace.of(self.original))

    def _make_finalizer(self) -> Any:
        return nothing  # numba's references to the code go with the code

    def get_function_type(self) -> Any:
        # numba knows it for a function that is limited to one signature
        if len(self.declared.results) != 1:
            return None
        (args,) = self.declared.results
        self.compile(args)
        return types.FunctionType(self.overloads[args].signature)

    def get_compile_result(self, sig: Any) -> Any:
        # a function chosen at run time is called through its wrapper for C
        if not self.is_entry:
            return self.world.dispatcher(self.function, self.chain, {}).get_compile_result(sig)
        found, caller = super().get_compile_result(sig), frame()
        if caller is not None:
            caller.needs_context(self)
            caller.calls(self.world, self.codes[tuple(sig.args)])
        return found

    def type_of_call(self, sig: Signature) -> Type:
        """The type of this function in a call with this signature, perhaps in its own body."""
        ty = types.Dispatcher(self)
        if sig.args in self.overloads:
            return ty
        func_id = self.recursive[sig.args]
        name = qualifying_prefix(func_id.modname, func_id.func_qualname)
        recursive = types.RecursiveCall(ty)
        recursive.add_overloads(sig.args, name, func_id.unique_id)
        return recursive


def note_inlined(world: World, values: Iterable[Any]) -> None:
    """Record the reads of functions that numba may inline, among the values that a function
    uses."""
    pending, compiled = list(values), frame()
    while pending and compiled is not None:
        called = pending.pop()
        if is_dispatcher(called) and options_of(called).get("inline", "never") != "never":
            reading = world.watch.add(called.py_func)
            if not compiled.knows(reading):
                compiled.has_read(reading)
                pending += reading.values


def place_in(function: Any, error: Exception) -> str | None:
    """The line of a function at which one of numba's errors occurred, or None."""
    loc = getattr(error, "loc", None)
    code = function.__code__
    lines = [line for _, _, line in code.co_lines() if line is not None]
    if loc is None or loc.filename != code.co_filename or loc.line not in lines:
        return None
    return shown(loc.filename, loc.line)


def _released(entry_point: Any, symbol: str) -> None:
    """Release the records about code that is gone."""
    forget_definition(entry_point)
    forget_callee(symbol)


def nothing() -> None:
    """Finalizer of code that needs none."""


def _without_wrappers(flags: Any) -> Any:
    flags.no_cpython_wrapper = True
    flags.no_cfunc_wrapper = True
    return flags
