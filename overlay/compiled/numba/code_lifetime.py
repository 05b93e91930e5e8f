"""Compiled code as numba holds it: definitions that several worlds share, and what is given back
once code is gone.

numba gives nothing back of a function that it has compiled: llvmlite never frees pass managers, and
each LLVM module stays in numba's execution engine. Functions of worlds are compiled with a code
generator that differs from numba's own in this alone; it uses the same execution engine.

Machine code is never freed: pointers to it may be anywhere.
"""

from __future__ import annotations

import functools
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from llvmlite.binding import newpassmanagers
from llvmlite.binding.ffi import ObjectRef
from numba.core import types, utils
from numba.core.base import OverloadSelector
from numba.core.codegen import JITCodeLibrary, JITCPUCodegen
from numba.core.compiler_lock import global_compiler_lock
from numba.core.datamodel.manager import DataModelManager
from numba.core.registry import cpu_target

from overlay.compiled.basis import Holder
from overlay.compiled.numba.numba_types import Type
from overlay.compiled.numba.numba_typing import OURS

__all__ = [
    "Annotation",
    "accept_other_worlds",
    "forget_definition",
    "free_unused_modules",
    "is_of_world",
    "target_context",
]

# ---- code generation ----------------------------------------------------------------------

# LLVM modules of libraries that are gone. A library may be collected while LLVM is at work, which
# would then go on with a module that is freed.
_unused: Final[deque[Any]] = deque()


# llvmlite's classes of pass managers since numba 0.62; a function is optimized by one of its own.
_PASSES: Final[Any] = getattr(newpassmanagers, "NewPassManager", None)


def _freed_kinds() -> dict[type, type]:
    """Kinds of pass managers that are freed with their Python object, in place of those of which
    llvmlite hides the function that frees them."""
    if _PASSES is None:
        return {}
    kinds = newpassmanagers.ModulePassManager, newpassmanagers.FunctionPassManager
    hidden = [kind for kind in kinds if kind._dispose is ObjectRef._dispose]
    return {kind: type(kind.__name__, (kind,), {"_dispose": _PASSES._dispose}) for kind in hidden}


_FREED: Final = _freed_kinds()


def _freed(made: Any) -> Any:
    """A new pass manager, perhaps with its builder, which is freed with its Python object."""
    passes = made[0] if isinstance(made, tuple) else made
    if type(passes) in _FREED:
        passes.__class__ = _FREED[type(passes)]
    return made


class _WorldLibrary(JITCodeLibrary):
    """Code of one function."""

    def _optimize_functions(self, ll_module: Any) -> None:
        # for a declaration the passes do nothing but to allocate what llvmlite never frees
        super()._optimize_functions(ll_module if _PASSES is None else _Defined(ll_module))


class _Defined:
    """A module of which the functions that have a body are optimized."""

    def __init__(self, module: Any) -> None:
        object.__setattr__(self, "_module", module)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._module, name, value)

    @property
    def functions(self) -> list[Any]:
        return [each for each in self._module.functions if not each.is_declaration]


class _WorldCodegen(JITCPUCodegen):
    """numba's code generator, with its execution engine."""

    _library_class = _WorldLibrary

    def __init__(self, codegen: JITCPUCodegen) -> None:
        vars(self).update(vars(codegen))

    def _module_pass_manager(self, **options: Any) -> Any:
        return _freed(super()._module_pass_manager(**options))

    def _function_pass_manager(self, *module: Any, **options: Any) -> Any:
        return _freed(super()._function_pass_manager(*module, **options))

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
    """numba's implementations of an operation, by types. It remembers none of a type that
    represents a function or a context, since it would hold the type for good."""

    def __init__(self, implementations: OverloadSelector) -> None:
        vars(self).update(vars(implementations))

    def find(self, sig: tuple[Type, ...]) -> Any:
        is_ours = any(isinstance(ty, OURS) for ty in sig)
        return self._find(sig) if is_ours else super().find(sig)


@functools.cache
def target_context() -> Any:
    """numba's target context, which holds nothing of code and types of worlds that are gone."""
    numbas = cpu_target.target_context
    return numbas.subtarget(
        _internal_codegen=_WorldCodegen(numbas.codegen()),
        data_model_manager=_WorldModels(numbas.data_model_manager),
        _casts=_WorldImplementations(numbas._casts),
        _get_constants=_WorldImplementations(numbas._get_constants),
    )


@global_compiler_lock
def free_unused_modules() -> None:
    """Free the LLVM modules of code that is gone; their machine code stays. Called while this
    thread compiles nothing: LLVM is at rest then."""
    while _unused:
        target_context().codegen()._engine._ee.remove_module(_unused.popleft())


# ---- definitions --------------------------------------------------------------------------


def is_of_world(ty: Type) -> bool:
    """Whether a type refers to functions or contexts of one world."""
    if isinstance(ty, types.Dispatcher):
        return isinstance(ty.dispatcher, Holder)
    if isinstance(ty, OURS):
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
