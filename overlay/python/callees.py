"""The callee map: what is called in a context in place of each callable of the program.

Callables are told apart by identity and exact type; no ``__hash__`` or ``__eq__`` of the
program runs. What is kept is kept under ``id`` together with the object itself.
"""

from __future__ import annotations

import functools
import itertools
import operator
import sys
from collections.abc import Callable
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    CodeType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any

from overlay.context import Context, call_next, current_context, wrapped_in
from overlay.location import is_ours
from overlay.python import dynamic_code, plum_functions
from overlay.python.forms import Forms, forms_of, with_forms
from overlay.python.kept import limited
from overlay.table import LOCK
from overlay.target import key_of_target, type_attribute

if TYPE_CHECKING:
    from overlay.python.engine import Link, PythonEngine

__all__ = ["LRU_CACHE", "Callees", "copied", "is_dispatcher"]

LRU_CACHE: Any = type(functools.lru_cache(len))
PARTIAL_CALL: Any = functools.partial.__dict__["__call__"]
TYPE_CALL: Any = type.__dict__["__call__"]
# What a class or module may hold in place of a function that was decorated.
_HOLDERS: Any = (FunctionType, staticmethod, classmethod, LRU_CACHE)
DESCRIPTORS = (MethodDescriptorType, WrapperDescriptorType, ClassMethodDescriptorType)

# C functions that call some of their arguments: by position, and by name.
_CALLERS: list[tuple[Any, tuple[int, ...], tuple[str, ...]]] = [
    (map, (0,), ()),
    (filter, (0,), ()),
    (functools.reduce, (0,), ()),
    (functools.cmp_to_key, (0,), ("mycmp",)),
    (operator.call, (0,), ()),
    (sorted, (), ("key",)),
    (min, (), ("key",)),
    (max, (), ("key",)),
    (list.sort, (), ("key",)),
    (itertools.accumulate, (1,), ("func",)),
    (itertools.dropwhile, (0,), ()),
    (itertools.filterfalse, (0,), ()),
    (itertools.groupby, (1,), ("key",)),
    (itertools.starmap, (0,), ()),
    (itertools.takewhile, (0,), ()),
]
CALLBACKS = {id(caller[0]): caller for caller in _CALLERS}


class Callees:
    """The callee map of one engine, for code that belongs to one link of a method chain.

    link: the target and methods that ``call_next`` goes on from, or None outside methods.
    """

    def __init__(self, engine: PythonEngine, link: Link | None) -> None:
        self.engine = engine
        self.link = link
        self.known: dict[int, tuple[Any, Any, Forms | None]] = {}
        self.codes: dict[int, tuple[CodeType, dict[str, Any], CodeType]] = {}

    def find(self, callee: Any, arity: int | None) -> tuple[Any, bool]:
        """What to call in place of ``callee``, and whether the site may keep it."""
        entry = self.known.get(id(callee))
        if entry is not None and entry[0] is callee:
            return entry[1] if entry[2] is None else entry[2](arity), True
        kind: Any = type(callee)
        if kind is MethodType:
            return self._bound(callee), False
        if kind is FunctionType and id(callee) not in self.engine.overlaid:
            twin = self._closure(callee)
            if twin is not None:
                return twin, False
        with LOCK:
            self.engine.settle()
            found, keep = self._map(callee)
            keep = keep and not self.engine.released
            if keep:
                self.known[id(callee)] = callee, found, forms_of(found)
        forms = forms_of(found)
        return found if forms is None else forms(arity), keep

    def _closure(self, function: FunctionType) -> FunctionType | None:
        """The twin of a function whose code was rewritten before, in a closure most often."""
        code = function.__code__
        entry = self.codes.get(id(code))
        if entry is None or entry[0] is not code or entry[1] is not function.__globals__:
            return None
        return copied(function, entry[2])

    def __getitem__(self, callee: Any) -> Any:
        """What to call in place of ``callee``."""
        return self.find(callee, None)[0]

    def _bound(self, method: MethodType) -> Any:
        function = method.__func__
        if type(function) is not FunctionType:
            plum_function = plum_functions.of_bound(method)
            if plum_function is not None:
                return MethodType(self[plum_function], method.__self__)
        mapped = self.find(function, None)[0]
        return method if mapped is function else MethodType(mapped, method.__self__)

    # ---- by kind ----

    def _map(self, callee: Any) -> tuple[Any, bool]:
        if key_of_target(callee) in self.engine.overlaid:
            return self.engine.dispatcher(callee).generic, True
        return self.base(callee)

    def base(self, callee: Any) -> tuple[Any, bool]:
        """What to call where no method applies: the callee with its body in the context."""
        kind: Any = type(callee)
        if kind is FunctionType:
            return self._function(callee)
        if kind is BuiltinFunctionType or kind in DESCRIPTORS:
            return self._builtin(callee)
        if kind is MethodWrapperType:
            return self._method_wrapper(callee), False
        if issubclass(kind, type):
            return self._class(callee), "<locals>" not in _qualified(callee)
        if type_attribute(kind, "__call__") is PARTIAL_CALL:
            mapped = self[callee.func]
            if mapped is callee.func:
                return callee, False
            return functools.partial(mapped, *callee.args, **callee.keywords), False
        if kind is LRU_CACHE:
            # a cache of its own: results found here must not be met outside
            cached = functools.lru_cache(**callee.cache_parameters())
            return cached(self[callee.__wrapped__]), True
        if kind is staticmethod:
            return self[callee.__func__], False
        if kind is Context:
            return functools.partial(self.engine.enter_inner, callee), False
        if plum_functions.is_function(callee):
            return plum_functions.Resolved(callee, self), True
        if is_dispatcher(callee):
            return self.engine.compiled(callee), True
        return self._instance(callee), False

    def _function(self, function: FunctionType) -> tuple[Any, bool]:
        if function is call_next:
            return (self.engine.next_of(self.link) if self.link else function), True
        if function is current_context:
            return self.engine.current, True
        if self.link is not None and self.link.wraps(function):
            return self.engine.twin(function, self), True
        if is_ours(function.__code__.co_filename):
            wrapped = wrapped_in(function)
            if wrapped is None:
                return function, True
            return functools.partial(self.engine.enter_inner, *wrapped), False
        twin = self.engine.twin(function)
        if _is_at_home(function):
            return twin, True
        if not self.engine.released:
            code = function.__code__
            limited(self.codes)[id(code)] = code, function.__globals__, twin.__code__
        return twin, False

    def _builtin(self, function: Any) -> tuple[Any, bool]:
        if function is exec or function is eval:
            return dynamic_code.running(function, self), True
        if type(function) is WrapperDescriptorType and function.__name__ == "__call__":

            def call(owner: Any, /, *args: Any, **kwargs: Any) -> Any:
                native = function.__get__(owner, type(owner))
                return self._called(owner, native)(*args, **kwargs)

            return call, True
        owner: Any = getattr(function, "__self__", None)
        if type(owner) is LRU_CACHE:
            return getattr(self[owner], function.__name__), False
        if getattr(function, "__objclass__", None) is LRU_CACHE:

            def of_own_cache(cached: Any, *args: Any) -> Any:
                return function(self[cached], *args)

            return of_own_cache, True
        if type(owner) is list and function.__name__ == "sort":
            return functools.partial(self[list.sort], owner), False
        if id(function) in CALLBACKS and CALLBACKS[id(function)][0] is function:
            return self._with_callbacks(function), True
        if owner is None or type(owner) is ModuleType:
            return function, True
        kind: Any = type(owner)
        holder: Any = owner if issubclass(kind, type) else kind
        return self._of_descriptor(type_attribute(holder, function.__name__), function), False

    def _with_callbacks(self, function: Any) -> Callable[..., Any]:
        _, positions, names = CALLBACKS[id(function)]

        def with_callbacks(*args: Any, **kwargs: Any) -> Any:
            mapped = list(args)
            for position in positions:
                if position < len(mapped) and callable(mapped[position]):
                    mapped[position] = self[mapped[position]]
            for name in names:
                if callable(kwargs.get(name)):
                    kwargs[name] = self[kwargs[name]]
            return function(*mapped, **kwargs)

        if positions:
            return with_callbacks
        return with_forms(with_callbacks, lambda n: with_callbacks if n is None else function)

    def _method_wrapper(self, wrapper: Any) -> Any:
        """A slot bound to an object: ``super().__call__`` in a metaclass, ``f.__call__``."""
        owner, kind = wrapper.__self__, type(wrapper.__self__)
        if wrapper.__name__ == "__call__":
            return self._called(owner, wrapper)
        return self._of_descriptor(type_attribute(kind, wrapper.__name__), wrapper)

    def _of_descriptor(self, descriptor: Any, bound: Any) -> Any:
        """What stands for a C method bound to an object, where its descriptor is overlaid."""
        if type(descriptor) in DESCRIPTORS and id(descriptor) in self.engine.overlaid:
            return functools.partial(self[descriptor], bound.__self__)
        return bound

    # ---- classes and instances ----

    def _class(self, cls: type) -> Any:
        if id(cls) in CALLBACKS:
            return self._with_callbacks(cls)
        call = type_attribute(type(cls), "__call__")
        if type(call) is FunctionType:
            return MethodType(self[call], cls)
        return self._constructor(cls) if call is TYPE_CALL else cls

    def _called(self, owner: Any, native: Any) -> Any:
        """What ``__call__`` of a C type does for ``owner``; ``native`` where it is not known."""
        kind: Any = type(owner)
        if kind in (FunctionType, BuiltinFunctionType, MethodType):
            return self[owner]
        return self._constructor(owner) if issubclass(kind, type) else native

    def _constructor(self, cls: type) -> Any:
        """``type.__call__`` with ``__new__`` and ``__init__`` looked up anew at each call."""
        slots = type_attribute(cls, "__new__"), type_attribute(cls, "__init__")
        if all(type(slot) in (BuiltinFunctionType, WrapperDescriptorType) for slot in slots):
            return functools.partial(TYPE_CALL, cls) if _has_own_call(cls) else cls

        def construct(*args: Any, **kwargs: Any) -> Any:
            new = type_attribute(cls, "__new__")
            new = new.__get__(None, cls) if type(new) is not BuiltinFunctionType else new
            made = self[new](cls, *args, **kwargs)
            kind: Any = type(made)
            if any(base is cls for base in kind.__mro__):
                result = self._init(made, kind)(*args, **kwargs)
                if result is not None:
                    shown = type(result).__name__
                    raise TypeError(f"__init__() should return None, not '{shown}'")
            return made

        return construct

    def _init(self, made: Any, kind: type) -> Any:
        init = type_attribute(kind, "__init__")
        if type(init) is FunctionType:
            return MethodType(self[init], made)
        bind = type_attribute(type(init), "__get__")
        return self[init if bind is None else bind(init, made, kind)]

    def _instance(self, instance: Any) -> Any:
        kind: Any = type(instance)
        call = type_attribute(kind, "__call__")
        if type(call) is not FunctionType:
            return instance
        mapped = self[call]
        return instance if mapped is call else MethodType(mapped, instance)


def copied(function: FunctionType, code: CodeType) -> FunctionType:
    """``function`` with other code."""
    copy = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__ = function.__kwdefaults__
    copy.__qualname__ = function.__qualname__
    return copy


def _has_own_call(cls: type) -> bool:
    """Whether calling the class runs something else than ``type.__call__``."""
    return type_attribute(type(cls), "__call__") is not TYPE_CALL


def _qualified(cls: type) -> str:
    return type.__dict__["__qualname__"].__get__(cls)


def _is_at_home(function: FunctionType) -> bool:
    """Whether its module or class holds it, so that it lives as long as they do."""
    found: Any = None
    for place, name in enumerate(function.__qualname__.split(".")):
        if place == 0:
            found = dict.get(function.__globals__, name)
        else:
            holder: Any = type(found)
            found = type_attribute(found, name) if issubclass(holder, type) else None
    while found is not None and found is not function:
        kind: Any = type(found)
        inner = "__func__" if kind in (staticmethod, classmethod) else "__wrapped__"
        found = getattr(found, inner, None) if kind in _HOLDERS else None
    return found is function


def is_dispatcher(callee: Any) -> bool:
    """Whether it is a function compiled by numba."""
    if "numba" not in sys.modules:
        return False
    from overlay.compiled import is_dispatcher

    return is_dispatcher(callee)
