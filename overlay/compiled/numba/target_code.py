"""Compiled code in numba's target context: its definitions, which several worlds share, and its
machine code, which is made only where it is asked for.

numba optimises the LLVM module of each function together with all that it calls, and makes machine
code of it: what is called n levels below an entry is optimised and made n times. Here the module of
a function waits until machine code is asked for: that of an entry is then linked with those of all
functions below it, and optimised once.
"""

from __future__ import annotations

import functools
import weakref
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from typing import Any, Final

from llvmlite import binding
from numba.core import types, utils
from numba.core.codegen import JITCodeLibrary, RuntimeLinker
from numba.core.environment import lookup_environment
from numba.core.registry import cpu_target

from overlay.compiled.basis import Holder
from overlay.compiled.numba.numba_types import Type
from overlay.compiled.numba.numba_typing import OURS

__all__ = [
    "Annotation",
    "accept_other_worlds",
    "code_deferred",
    "forget_definition",
    "is_of_world",
]

ENVIRONMENT: Final = "_ZN08NumbaEnv"
ADDRESS: Final = "numba.dynamic.globals"
_deferred: weakref.WeakValueDictionary[str, _DeferredLibrary] = weakref.WeakValueDictionary()
"""The libraries without machine code, by the functions in them."""
_awaited: set[str] = set()
"""The functions that recursive calls enter, and that are not compiled yet."""
_unset: set[str] = set()
"""The variables for the environments of functions that are in no machine code yet."""


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


# ---- machine code -------------------------------------------------------------------------


@contextmanager
def code_deferred() -> Generator[None]:
    """In the block, numba makes machine code only of functions that are called from outside of
    compiled code. Needs numba's lock."""
    codegen = cpu_target.target_context.codegen()
    if "_library_class" in vars(codegen):
        yield
        return
    codegen._library_class = _DeferredLibrary
    codegen.set_env = functools.partial(_set_if_made, codegen.set_env)
    try:
        yield
    finally:
        del codegen._library_class, codegen.set_env


def _set_if_made(set_env: Callable[[str, Any], None], name: str, environment: Any) -> None:
    """numba's ``set_env``; what waits for machine code is set once it is made. LLVM ends the
    process where it is asked for the address of a symbol that is not there."""
    if name not in _unset:
        set_env(name, environment)


class _DeferredLibrary(JITCodeLibrary):
    """The LLVM module of one function, without those of the functions that it calls until
    ``_complete``."""

    _is_complete = False
    _linkable: Any = None

    def _optimize_functions(self, ll_module: Any) -> None:
        # numba makes new passes for each function
        ll_module.data_layout = self._codegen._data_layout
        passes, builder = self._codegen._function_pass_manager()
        for function in ll_module.functions:
            if not function.is_declaration:
                passes.run(function, builder)

    def finalize(self) -> None:
        """End the additions to the module."""
        self._raise_if_finalized()
        self._finalized = True
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
        for library in _below(self):
            self._reload_init.update(library._reload_init)
            self._final_module.link_in(_module_of(library), preserve=True)
        self._drop_unused_addresses()
        self._optimize_final_module()
        self._final_module.verify()
        self._finalize_final_module()
        self._linkable = None
        for name in _environments(self._final_module):
            _unset.discard(name)
            environment = lookup_environment(name)
            if environment is not None:
                self._codegen.set_env(name, environment)

    def _drop_unused_addresses(self) -> None:
        """Let LLVM drop arguments that functions ignore, where addresses of this process may be
        among them: functions that are passed on, for example. The code can then be kept on disk."""
        variables = self._final_module.global_variables
        if any(variable.name.startswith(ADDRESS) for variable in variables):
            for function in self._final_module.functions:
                if function.linkage == binding.Linkage.linkonce_odr:
                    function.linkage = "internal"

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
