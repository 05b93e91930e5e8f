"""The lifetime of compiled code that numba holds: definitions that several worlds share, deferred
machine code, and the release of code that is gone.

numba optimises the LLVM module of each function together with all that it calls, and makes
machine code of it. A function that is called n levels below an entry is optimised and made n
times. Here the module of a function waits until machine code is requested: that of an entry is
then linked with those of all functions below it, and optimised once. Where a function below it
has loops, LLVM's passes for single functions run again.

numba releases no part of a function that it has compiled: llvmlite never frees pass managers, and
each LLVM module stays in numba's execution engine. Functions of worlds are compiled with a code
generator that differs from numba's own in this respect only; it uses the same execution engine.

Machine code is never freed: pointers to it may be anywhere.
"""

from __future__ import annotations

import functools
import weakref
from collections import deque
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any, Final

from llvmlite import binding
from llvmlite.binding import newpassmanagers
from llvmlite.binding.ffi import ObjectRef
from numba.core import config, types, utils
from numba.core.base import OverloadSelector
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen, RuntimeLinker
from numba.core.compiler_lock import global_compiler_lock
from numba.core.cpu import CPUContext
from numba.core.datamodel.manager import DataModelManager
from numba.core.environment import lookup_environment
from numba.core.registry import cpu_target

from overlay.compiled.basis import Holder
from overlay.compiled.numba.chosen_functions import CandidateType
from overlay.compiled.numba.numba_types import Type
from overlay.compiled.numba.numba_typing import OURS

__all__ = [
    "ENVIRONMENT",
    "HIDDEN",
    "Annotation",
    "WorldLibrary",
    "accept_other_worlds",
    "code_deferred",
    "forget_definition",
    "free_unused_modules",
    "is_of_world",
    "target_context",
]

# ---- code generation ----------------------------------------------------------------------

# LLVM modules of libraries that are gone. A library may be collected while LLVM is running, which
# would then use a module that is freed.
_unused: Final[deque[Any]] = deque()


# llvmlite's classes of pass managers since numba 0.62; a function is optimized by one of its own.
_PASSES: Final[Any] = getattr(newpassmanagers, "NewPassManager", None)


class _Passes:
    """LLVM's passes, which are freed with their Python object."""

    def run(self, code: Any, builder: Any) -> Any:
        """Run the passes over a function or a module."""
        # reads state that earlier runs left in the builder where a function is not optimized
        if any(map(_is_not_optimized, getattr(code, "functions", (code,)))):
            builder = newpassmanagers.PassBuilder(builder._tm, builder._pto)
        return super().run(code, builder)  # type: ignore[misc]


def _is_not_optimized(function: Any) -> bool:
    return any(b"optnone" in each for each in function.attributes)


def _kinds_of_passes() -> dict[type, type]:
    """Kinds of pass managers in place of those of llvmlite, which may hide the function that frees
    them."""
    if _PASSES is None:
        return {}
    return {
        kind: type(
            kind.__name__,
            (_Passes, kind),
            {"_dispose": _PASSES._dispose} if kind._dispose is ObjectRef._dispose else {},
        )
        for kind in (newpassmanagers.ModulePassManager, newpassmanagers.FunctionPassManager)
    }


_OURS: Final = _kinds_of_passes()


def _ours(made: Any) -> Any:
    """A new pass manager, perhaps with its builder, as one of our kinds."""
    passes = made[0] if isinstance(made, tuple) else made
    if type(passes) in _OURS:
        passes.__class__ = _OURS[type(passes)]
    return made


class WorldLibrary(JITCodeLibrary):
    """Code of one function."""

    _simplifying: Any = None

    def _optimize_functions(self, ll_module: Any) -> None:
        if _PASSES is None or config.LLVM_PASS_TIMINGS:  # which are measured for each function
            super()._optimize_functions(ll_module)
            return
        # numba makes new passes for each function, and for declarations, of which llvmlite never
        # frees all
        ll_module.data_layout = self._codegen._data_layout
        if self._simplifying is None:
            self._simplifying = self._codegen._function_pass_manager()
        passes, builder = self._simplifying
        for function in ll_module.functions:
            if not function.is_declaration:
                passes.run(function, builder)

    def _finalize_final_module(self) -> None:
        self._simplifying = None
        super()._finalize_final_module()


class _WorldCodegen(JITCPUCodegen):
    """numba's code generator, with its execution engine."""

    _library_class = WorldLibrary

    def __init__(self, codegen: JITCPUCodegen) -> None:
        vars(self).update(vars(codegen))

    def _module_pass_manager(self, **options: Any) -> Any:
        return _ours(super()._module_pass_manager(**options))

    def _function_pass_manager(self, *module: Any, **options: Any) -> Any:
        return _ours(super()._function_pass_manager(*module, **options))

    def _add_module(self, module: Any) -> Callable[[], None]:
        super()._add_module(module)
        return functools.partial(_unused.append, module)


class _WorldModels(DataModelManager):
    """numba's data models of types. It keeps no model of a type that represents a function or a
    context: a model refers to its type, so that numba's weak references to types never end."""

    def __init__(self, models: DataModelManager) -> None:
        vars(self).update(vars(models))

    def lookup(self, fetype: Type) -> Any:
        if isinstance(fetype, OURS):
            return self._handlers[type(fetype)](self, fetype)
        return super().lookup(fetype)


class _WorldImplementations(OverloadSelector):
    """numba's implementations of an operation, by types. It caches none of a type that represents
    a function or a context, since the cache would keep the type alive forever.
    """

    def __init__(self, implementations: OverloadSelector) -> None:
        vars(self).update(vars(implementations))

    def find(self, sig: tuple[Type, ...]) -> Any:
        is_ours = any(isinstance(ty, OURS) for ty in sig)
        return self._find(sig) if is_ours else super().find(sig)


# not by functools.cache: two threads that ask first would be given two
_contexts: Final[dict[str, Any]] = {}


def target_context() -> Any:
    """numba's target context, which holds no code or types of worlds that are gone; one for the
    process.
    """
    found = _contexts.get("cpu")
    return _contexts.setdefault("cpu", _target_context()) if found is None else found


class _WorldContext(CPUContext):
    """numba's target context, in which one function at a time may have its own calling convention:
    that of the function which is lowered."""

    convention: Any = None

    @property
    def call_conv(self) -> Any:
        return super().call_conv if self.convention is None else self.convention


def _target_context() -> Any:
    numbas = cpu_target.target_context
    made = numbas.subtarget(
        _internal_codegen=_WorldCodegen(numbas.codegen()),
        data_model_manager=_WorldModels(numbas.data_model_manager),
        _casts=_WorldImplementations(numbas._casts),
        _get_constants=_WorldImplementations(numbas._get_constants),
    )
    made.__class__ = _WorldContext  # numba copies contexts, and has no other way to derive one
    return made


@global_compiler_lock
def free_unused_modules() -> None:
    """Free the LLVM modules of code that is gone; their machine code stays. Called while this
    thread compiles nothing: LLVM is at rest then."""
    while _unused:
        target_context().codegen()._engine._ee.remove_module(_unused.popleft())


# ---- machine code -------------------------------------------------------------------------

HIDDEN: Final = "private"
"""The linkage of symbols that only their own module uses. Of an ``internal`` function the object
code has a symbol, to which LLVM's engine binds later modules that define a function of that name
as ``linkonce_odr``, as numba does; LLVM may have dropped arguments and results of the internal
one.
"""
ENVIRONMENT: Final = "_ZN08NumbaEnv"
ADDRESS: Final = "numba.dynamic.globals"
_deferred: weakref.WeakValueDictionary[str, _DeferredLibrary] = weakref.WeakValueDictionary()
"""The libraries without machine code, by the functions in them."""
_awaited: set[str] = set()
"""The functions that recursive calls enter, and that are not compiled yet."""
_unset: set[str] = set()
"""The variables for the environments of functions that are in no machine code yet."""


@contextmanager
def code_deferred() -> Generator[None]:
    """In the block, numba makes machine code only of functions that are called from outside of
    compiled code. Needs numba's lock."""
    ours = target_context().codegen()
    # where numba compiles for a world, its present context is ours
    codegens = dict.fromkeys((cpu_target.target_context.codegen(), ours))
    if "_library_class" in vars(ours):
        yield
        return
    for codegen in codegens:
        codegen._library_class = _DeferredLibrary
        codegen.set_env = functools.partial(_set_if_made, codegen.set_env)
    try:
        yield
    finally:
        for codegen in codegens:
            del codegen._library_class, codegen.set_env


def _set_if_made(set_env: Callable[[str, Any], None], name: str, environment: Any) -> None:
    """numba's ``set_env``; variables of deferred machine code are set once it is made. LLVM ends
    the process where it is asked for the address of a symbol that does not exist.
    """
    if name not in _unset:
        set_env(name, environment)


class _DeferredLibrary(WorldLibrary):
    """The LLVM module of one function, without those of the functions that it calls until
    ``_complete``."""

    has_loops: bool | None = None
    """Whether the function has loops; None for a function that is not of the program."""
    _is_complete = False
    _linkable: Any = None

    def finalize(self) -> None:
        """End the additions to the module."""
        self._raise_if_finalized()
        self._finalized = True
        self._simplifying = None
        own = set(_defined(self._final_module))
        _deferred.update(dict.fromkeys(own, self))
        _unset.update(
            name
            for name in _environments(self._final_module)
            if not self._codegen._engine.is_symbol_defined(name)
        )
        # recursive calls enter a function by its address
        for name in _unresolved(self._final_module):
            if name in _deferred:
                _deferred[name]._complete()
            elif not self._codegen._engine.is_symbol_defined(name):
                _awaited.add(name)
        if not own.isdisjoint(_awaited):
            self._complete()
            _awaited.difference_update(own)

    def _complete(self) -> None:
        """Link the functions that it calls, optimise all, and make machine code."""
        if self._is_complete:
            return
        self._ensure_finalized()
        self._is_complete = True
        for name in _defined(self._final_module):
            _deferred.pop(name, None)
        below = _below(self)
        for library in below:
            if hasattr(library, "_reload_init"):  # since numba 0.62
                self._reload_init.update(library._reload_init)
            self._final_module.link_in(_module_of(library), preserve=True)
        loops = [getattr(library, "has_loops", None) for library in below]
        is_of_program = any(each is not None for each in loops)
        if is_of_program or _has_addresses(self._final_module):
            self._hide_linked()
        self._optimize_final_module()
        if any(loops):
            # LLVM copies loops late, and finds what the copies share in the next run only. numba
            # runs it for each function, so that the loops of callees are optimised twice
            self._optimize_functions(self._final_module)
        self._final_module.verify()
        self._finalize_final_module()
        self._linkable = None
        for name in _environments(self._final_module):
            _unset.discard(name)
            environment = lookup_environment(name)
            if environment is not None:
                self._codegen.set_env(name, environment)

    def _hide_linked(self) -> None:
        """Hide the functions that were linked in from other modules. LLVM then drops arguments
        that they ignore, and knows what they return; of a function that other modules may define,
        too, it knows neither.
        """
        for function in self._final_module.functions:
            if function.linkage == binding.Linkage.linkonce_odr:
                function.linkage = HIDDEN

    def _own_module(self) -> Any:
        """The module, to be linked into others: its functions may be defined several times."""
        if self._linkable is None:
            exported = [
                function.name
                for function in self._final_module.functions
                if not function.is_declaration and function.linkage == binding.Linkage.external
            ]
            self._linkable = self._final_module.clone() if exported else self._final_module
            for name in exported:
                self._linkable.get_function(name).linkage = "linkonce_odr"
        return self._linkable

    def get_pointer_to_function(self, name: str) -> int:
        self._ensure_finalized()
        if not self._is_complete and name not in _defined(self._final_module):
            return 0
        self._complete()
        return super().get_pointer_to_function(name)

    @classmethod
    def _unserialize(cls, codegen: Any, state: Any) -> Any:
        return JITCodeLibrary._unserialize(codegen, state)  # it has machine code

    # ---- what numba asks of libraries with machine code ----

    def _get_module_for_linking(self) -> Any:
        self._complete()
        return super()._get_module_for_linking()

    def _get_compiled_object(self) -> Any:
        self._complete()
        return super()._get_compiled_object()

    @property
    def has_dynamic_globals(self) -> bool:
        self._complete()
        return super().has_dynamic_globals

    def get_llvm_str(self) -> str:
        self._complete()
        return super().get_llvm_str()

    def get_asm_str(self) -> str:
        self._complete()
        return super().get_asm_str()


def _below(library: _DeferredLibrary) -> list[Any]:
    """The libraries of all functions that a function calls, directly or not: each after those of
    its callers, since LLVM links only what is called by then."""
    finished: list[Any] = []
    entered = {library}
    pending = [(library, iter(library._linking_libraries))]
    while pending:
        each, callees = pending[-1]
        callee = next((found for found in callees if found not in entered), None)
        if callee is None:
            finished.append(each)
            pending.pop()
            continue
        entered.add(callee)
        is_deferred = isinstance(callee, _DeferredLibrary) and not callee._is_complete
        pending.append((callee, iter(callee._linking_libraries if is_deferred else ())))
    return finished[-2::-1]


def _module_of(library: Any) -> Any:
    if isinstance(library, _DeferredLibrary) and not library._is_complete:
        return library._own_module()
    return library._get_module_for_linking()


def _has_addresses(module: Any) -> bool:
    """Whether a module holds addresses of this process, of functions that are passed on for
    example. Where the functions ignore these arguments, code without them can be stored on disk.
    """
    return any(variable.name.startswith(ADDRESS) for variable in module.global_variables)


def _defined(module: Any) -> Iterator[str]:
    """The names of the functions that a module defines."""
    return (function.name for function in module.functions if not function.is_declaration)


def _environments(module: Any) -> Iterator[str]:
    """The names of the variables in a module that hold environments."""
    names = (variable.name for variable in module.global_variables)
    return (name for name in names if name.startswith(ENVIRONMENT))


def _unresolved(module: Any) -> Iterator[str]:
    """The names of functions that recursive calls in a module enter."""
    prefix = RuntimeLinker.PREFIX
    for variable in module.global_variables:
        if variable.name.startswith(prefix):
            yield variable.name.removeprefix(prefix)


# ---- definitions --------------------------------------------------------------------------


def is_of_world(ty: Type) -> bool:
    """Whether a type refers to functions or contexts of one world."""
    if isinstance(ty, types.Dispatcher):
        return isinstance(ty.dispatcher, Holder)
    if isinstance(ty, (*OURS, CandidateType)):
        return True
    parts = [part for value in vars(ty).values() for part in _parts(value)]
    return any(map(is_of_world, parts))


def _parts(value: Any) -> tuple[Type, ...]:
    if isinstance(value, (tuple, list)):
        return tuple(part for part in value if isinstance(part, Type))
    return (value,) if isinstance(value, Type) else ()


def forget_definition(entry_point: Any) -> None:
    """Remove numba's definition of code that is gone."""
    if not utils.shutting_down():
        cpu_target.target_context._defns.pop(entry_point, None)


def accept_other_worlds(result: Any) -> None:
    """Let numba find the code for functions of other worlds as arguments, too."""
    definitions = cpu_target.target_context._defns
    if any(map(is_of_world, result.signature.args)) and result.entry_point in definitions:
        known = definitions.pop(result.entry_point)
        for args, implementation in known.versions:
            given = tuple(types.Any if is_of_world(ty) else ty for ty in args)
            definitions[result.entry_point].append(implementation, given)


class Annotation:
    """numba's type annotation of a function, held weakly: it exists as long as its world."""

    def __init__(self, annotation: Any) -> None:
        self._annotation = None if annotation is None else weakref.ref(annotation)

    def _found(self) -> Any:
        return None if self._annotation is None else self._annotation()

    def __str__(self) -> str:
        return str(self._found() or "(compiled in a context that is gone)")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._found(), name)
