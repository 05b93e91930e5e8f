"""Stand-ins for callees in a stack with plugins: ``Plugin.around`` and ``Plugin.enter``.

Each call site has an inline cache in the C part (``overlay/_native/around.h``): before each call
in such a stack it looks up the callee's stand-in. A stand-in is the wrapper that the plugins have
put around the callee, innermost a call of the callee itself. The lookup is cached for callees
that live on, and until the run ends for others that are called again.
"""

from __future__ import annotations

import contextlib
import copy
import copyreg
import functools
import gc
import operator
import sys
import typing
import weakref
from collections.abc import Callable
from types import (
    BuiltinFunctionType,
    ClassMethodDescriptorType,
    FunctionType,
    MethodDescriptorType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any

from overlay import _native
from overlay.code.callbacks import CALLBACKS
from overlay.contexts.context import Context
from overlay.contexts.current import call_next, nonoverlay
from overlay.contexts.wrapping import Wrapped
from overlay.core.in_force import current_stack
from overlay.core.interpreted_values import plain_values
from overlay.core.location import is_ours
from overlay.core.own_builtins import __builtins__
from overlay.core.table import LOCK
from overlay.core.target import (
    BUILTINS,
    LRU_CACHE,
    attributes_of,
    generic_state,
    module_of,
    mro_of,
    type_attribute,
)
from overlay.generics.plum_methods import chosen, converted, is_plum_function
from overlay.generics.views import View
from overlay.plugins.plugin import asks_at_calls, put_around, surrounds
from overlay.python import sites
from overlay.python.entering import Entering, types_of
from overlay.python.frame_readers import FRAME_READERS
from overlay.python.hidden_frames import hidden, may_be_hidden

if TYPE_CHECKING:
    from overlay.contexts.stack import Stack

__all__ = ["PluginCalls"]

intercept: Any = _native.intercept


_TYPE_CALL: Any = type.__dict__["__call__"]
_PARTIAL_CALL: Any = functools.partial.__dict__["__call__"]
# Classes of the objects that a class or module may hold in the place of a decorated function.
_HOLDERS: Any = (FunctionType, staticmethod, classmethod, LRU_CACHE)
_METHODS = (MethodDescriptorType, ClassMethodDescriptorType)
_SLOTS = (WrapperDescriptorType, MethodWrapperType)
# Classes that inspect the frame of their caller.
_GENERIC = ("ParamSpec", "TypeAliasType", "TypeVar", "TypeVarTuple")
_LOOKING: Any = (super, type, *(getattr(typing, n) for n in _GENERIC if hasattr(typing, n)))
_OURS: Any = (Context, Wrapped, nonoverlay)
# Classes that pass calls on by themselves.
_NAMES = ("Around", "Carried", "Noting", "Run")
_PASSED_OVER: Any = (*_OURS, *(getattr(intercept, name, None) for name in _NAMES))
_LOOKING_MODULES = ("_warnings", "sys")
_LOOKERS = FRAME_READERS | {"__build_class__", "__import__"}
_MOST = 1000  # limit on the callees cached until the run ends
_CHECKED = 50  # checked again after so many new ones


class PluginCalls:
    """The stand-ins for callees of one stack. The stack holds them, as the wrappers of plugins
    may refer to the stack.
    """

    def __init__(self, stack: Stack) -> None:
        self._stack = weakref.ref(stack)
        self._callees = intercept.Callees(stack.key, self._meet)
        self.entering = Entering()
        self.surrounds = any(map(surrounds, stack.plugins))
        self.asks = any(map(asks_at_calls, stack.plugins))
        self._lasting: dict[int, Any] = {}  # those cached for the life of the callee, by identity
        self._new = 0  # how many since the last check
        self._until_end: dict[int, Any] = {}  # those cached until the run ends
        self._once: dict[int, weakref.ref[Any]] = {}  # called once so far
        key = id(self)
        _all[key] = weakref.ref(self, functools.partial(_all.pop, key))

    def stand_in(self, callee: Any) -> Any:
        """The stand-in for a callee: the callee itself where no plugin puts anything around it."""
        return self._callees.stand_in(callee)

    # ---- lifetimes of stand-ins ----

    def forget(self) -> None:
        """Drop the callees that the cache would keep alive longer than the program does: at the end
        of a run, and before a collection in the middle of one.
        """
        self.forget_passing()
        if self._new * _CHECKED >= len(self._lasting) and self._new:
            self._new = 0
            with LOCK:
                for key, callee in list(self._lasting.items()):
                    if not _lasts(callee):
                        del self._lasting[key]
                        self._callees.drop(callee)

    def forget_passing(self) -> None:
        """Drop the callees that the program may release in the middle of a run."""
        if self._until_end:
            with LOCK:
                while self._until_end:
                    self._callees.drop(self._until_end.popitem()[1])
        self._once.clear()

    def ask_anew(self, callee: Any) -> None:
        """Drop the stand-in of a callee: it has become a target, or is one no more."""
        key = id(callee)
        with LOCK:
            for kept in (self._lasting, self._until_end, self._once):
                kept.pop(key, None)
            self._callees.drop(callee)

    def _is_kept(self, callee: Any) -> bool:
        """Register a callee; return whether its stand-in is cached."""
        key = id(callee)
        if _lasts(callee):
            self._new += key not in self._lasting
            self._lasting[key] = callee
            return True
        met = self._once.get(key)
        if met is not None and met() is callee:
            if len(self._until_end) >= _MOST:
                self.forget_passing()
            self._until_end[key] = callee
            return True
        if len(self._once) >= _MOST:
            self._once.clear()
        if intercept.clears_weak_references(type(callee), PluginCalls):
            with contextlib.suppress(TypeError):  # its class has no weak references
                self._once[key] = weakref.ref(callee)
        return False

    # ---- the stand-in for each kind of callee ----

    def _meet(self, callee: Any) -> Any:
        stack = self._stack()
        if stack is None:
            return callee
        kind: Any = type(callee)
        if kind is FunctionType:
            return self._function(stack, callee)
        if kind is MethodType:
            other = self.stand_in(callee.__func__)
            return callee if other is callee.__func__ else MethodType(other, callee.__self__)
        if _is_among(kind, BUILTINS):
            return self._builtin(stack, callee)
        if _is_among(kind, _METHODS):
            return self._put(stack, callee)
        if _is_among(kind, _SLOTS):
            return self._slot(stack, callee)
        if issubclass(kind, type):
            return self._class(stack, callee)
        if kind is staticmethod:
            return self.stand_in(callee.__func__)
        if type_attribute(kind, "__call__") is _PARTIAL_CALL and kind is not Wrapped:
            other = self.stand_in(callee.func)
            if other is callee.func:
                return callee
            return functools.partial(other, *callee.args, **callee.keywords)
        return self._instance(stack, callee, kind)

    def _put(self, stack: Stack, callee: Any, run: Any = None, **how: Any) -> Any:
        """The stand-in for a callee that the plugins are asked about. run: the callable that it
        runs, by default the callee. how: as for ``Run``.
        """
        positions, named = CALLBACKS[id(callee)][1:] if id(callee) in CALLBACKS else ((), ())
        innermost = intercept.Run(
            callee if run is None else run,
            *(stack, stack.key),
            **how,
            positions=positions,
            named=named,
        )
        found: Any = innermost
        if self.surrounds:
            found = put_around(stack.plugins, callee, innermost, _prepared)
        with LOCK:
            kept = self._is_kept(callee)
            does_nothing = not how and run is None and not positions and not named
            if found is innermost and does_nothing:
                return self._callees.put(callee, None, kept)
            return self._callees.put(callee, found, kept)

    def _as_it_is(self, callee: Any) -> Any:
        with LOCK:
            return self._callees.put(callee, None, self._is_kept(callee))

    def _function(self, stack: Stack, function: FunctionType) -> Any:
        code = function.__code__
        is_inner = code.co_name.startswith("<") and code.co_name != "<lambda>"
        if is_inner or function is call_next or is_ours(code.co_filename):
            return self._as_it_is(function)
        if _is_target(stack, function) or not self.asks:
            return self._put(stack, function)
        return self._put(stack, function, enter=_enters(stack, function))

    def _builtin(self, stack: Stack, function: Any) -> Any:
        owner: Any = function.__self__
        if owner is None or type(owner) is ModuleType:
            if not _is_asked_about(function):
                return self._as_it_is(function)
            if self.asks and type(owner) is ModuleType and not _is_target(stack, function):
                return self._put(stack, function, enter=_enters(stack, function))
            return self._put(stack, function)
        descriptor = _descriptor_of(function)
        if descriptor is not None:
            other = self.stand_in(descriptor)
            return function if other is descriptor else MethodType(other, owner)
        return function if function.__name__ == "__new__" else self._put(stack, function)

    def _slot(self, stack: Stack, slot: Any) -> Any:
        """Explicit calls of ``__call__``: plugins are asked about the callee behind it, not about
        the slot."""
        if slot.__name__ != "__call__":
            return slot
        if type(slot) is MethodWrapperType:
            return self._called(stack, slot.__self__, slot)

        def call(owner: Any, /, *args: Any, **kwargs: Any) -> Any:
            native = slot.__get__(owner, type(owner))
            return self._called(stack, owner, native)(*args, **kwargs)

        return intercept.Run(hidden(call), stack, stack.key)

    def _called(self, stack: Stack, owner: Any, native: Any) -> Any:
        """The stand-in for ``__call__`` of a class in C, bound to its object."""
        if issubclass(type(owner), type):
            return intercept.Run(owner, stack, stack.key, makes=True)
        kinds = (FunctionType, *BUILTINS, MethodType, LRU_CACHE, staticmethod, functools.partial)
        return self.stand_in(owner) if _is_among(type(owner), kinds) else native

    def _class(self, stack: Stack, cls: Any) -> Any:
        if issubclass(cls, _LOOKING) or _is_among(cls, _OURS):
            return cls
        call = type_attribute(type(cls), "__call__")
        if type(call) is FunctionType:
            return self._put(stack, cls, hidden(_by_metaclass(cls)))
        if call is not _TYPE_CALL or not _is_made_in_python(cls) or _is_target(stack, cls):
            return self._put(stack, cls)
        return self._put(stack, cls, makes=True)

    def _instance(self, stack: Stack, instance: Any, kind: Any) -> Any:
        if _is_among(kind, _PASSED_OVER):
            return instance
        if kind is operator.methodcaller:
            return self._put(stack, instance, hidden(_of_method(instance)))
        is_plum = is_plum_function(instance)
        if is_plum and not _is_target(stack, instance):
            return intercept.Run(hidden(_of_plum(self, instance)), stack, stack.key)
        call = type_attribute(kind, "__call__")
        receiver: Any = instance
        if (
            _is_among(type(call), (staticmethod, classmethod))
            and type(call.__func__) is FunctionType
        ):
            receiver = kind if type(call) is classmethod else None
            call = call.__func__
        elif type(call) is MethodType:
            receiver = None  # it is already bound
        elif type(call) is not FunctionType:
            return instance if call is None else self._put(stack, instance)
        other = self.stand_in(call)
        if other is call:
            return instance
        return other if receiver is None else MethodType(other, receiver)

    # ---- the plugins active inside a call ----

    def of_base(self, function: Any, native: Any) -> Any:
        """The callable that runs where no table has a method for a target: ``native``, which
        plugins may enter. Of a class, they are asked about the functions that make its objects."""
        stack = self._stack()
        if stack is None or not _is_target(stack, function):  # or of other stacks only
            return native
        kind: Any = type(function)
        if issubclass(kind, type):
            usual = type_attribute(kind, "__call__") is _TYPE_CALL
            if usual and _is_made_in_python(function):
                return intercept.Run(function, stack, stack.key, makes=True)
        elif self.asks and (
            kind is FunctionType or (_is_among(kind, BUILTINS) and _is_asked_about(function))
        ):
            return intercept.Run(native, stack, stack.key, enter=_enters(stack, function))
        return native

    def of_method(self, function: Any, run: Any, below: View) -> Any:
        """The callable that runs for the function of a method. run: its copy whose ``call_next``
        continues with ``below``."""
        stack = self._stack()
        if stack is None or not self.asks or type(function) is not FunctionType:
            return run
        return intercept.Run(run, stack, stack.key, enter=_enters(stack, function, below))

    def entered(self, function: Any) -> Any:
        """A function's own code, wrapped so that plugins may enter it."""
        stack = self._stack()
        if stack is None or not self.asks or type(function) is not FunctionType:
            return function
        return intercept.Run(function, stack, stack.key, enter=_enters(stack, function))


def _prepared(found: Any) -> Any:
    """Prepare the function that a plugin returned for calls: without its frame, where that is
    possible.
    """
    if may_be_hidden(found):
        return hidden(found)
    if type(found) is FunctionType:  # a generator or coroutine runs by itself later
        sites.leave_alone(found.__code__)
    return found


def _enters(
    stack: Stack, function: Any, below: View | None = None
) -> Callable[[tuple[Any, ...], dict[str, Any]], Any]:
    """The resolver of a function's entry: given the arguments of a call, it returns the callable
    bound to the plugins that stay active in the function; None for the function itself."""
    held = weakref.ref(stack)

    def enter(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        stack = held()
        calls = None if stack is None else stack.calls
        if stack is None or calls is None:
            return None
        return calls.entering.found(stack, function, below, types_of(function, args, kwargs))

    return enter


def _of_method(caller: Any) -> FunctionType:
    """Convert ``operator.methodcaller(name, ...)`` to a function whose call of the method is
    intercepted like one of the program's."""
    made, given = caller.__reduce__()
    named = made is not operator.methodcaller  # then it is a partial that holds the name
    name, *args = (*made.args, *given) if named else given
    kwargs = made.keywords if named else {}

    def call(*objects: Any, **others: Any) -> Any:
        if len(objects) != 1 or others:
            return caller(*objects, **others)  # its own error
        calls = _calls_in_force()
        method = getattr(objects[0], name)
        return (method if calls is None else calls.stand_in(method))(*args, **kwargs)

    return call


def _by_metaclass(cls: Any) -> FunctionType:
    """A class as a function that calls the ``__call__`` that its metaclass has by then."""

    def call(*args: Any, **kwargs: Any) -> Any:
        calls = _calls_in_force()
        bound: Any = type_attribute(type(cls), "__call__").__get__(cls, type(cls))
        return (bound if calls is None else calls.stand_in(bound))(*args, **kwargs)

    return call


def _of_plum(calls: PluginCalls, function: Any) -> FunctionType:
    """A generic function of plum as a function: plum resolves the call, plugins see the method's
    call."""

    def choose(args: tuple[Any, ...]) -> Any:
        _ = function.methods  # registers pending methods
        return chosen(function, args, plain_values(args))

    def call(*args: Any, **kwargs: Any) -> Any:
        method, kind = intercept.undispatched(choose, args)
        result = calls.stand_in(method)(*args, **kwargs)
        return result if kind is Any else intercept.undispatched(converted, result, kind)

    return call


def _calls_in_force() -> PluginCalls | None:
    stack = current_stack()
    return None if stack is None else stack.calls


def _descriptor_of(function: Any) -> Any | None:
    """The method descriptor of a C class from which a builtin function is bound. ``super()`` binds
    those of any class."""
    owner, name = function.__self__, function.__name__
    is_class = issubclass(type(owner), type)
    for base in mro_of(owner if is_class else type(owner)) or ():  # None while it is being made
        found = attributes_of(base).get(name)
        if type(found) is ClassMethodDescriptorType:
            bound = found.__get__(None, owner if is_class else type(owner))
        elif type(found) is MethodDescriptorType and not is_class:
            bound = found.__get__(owner, type(owner))  # some crash without the class
        else:
            continue
        if bound == function:
            return found
    return None


def _is_among(kind: Any, kinds: tuple[Any, ...]) -> bool:
    """Whether a class is one of these, by identity: a metaclass may define how its classes
    compare."""
    return any(kind is each for each in kinds)


def _is_target(stack: Stack, callee: Any) -> bool:
    """Whether calls of a callee are resolved: plugins are then asked about the implementation
    instead."""
    return generic_state(callee) is not None or stack.python.intercepts(callee)


def _is_asked_about(function: Any) -> bool:
    """Whether a builtin is a C function of a module that does not inspect the frame of its
    caller."""
    owner = function.__self__
    if type(function) is not BuiltinFunctionType or type(owner) is not ModuleType:
        return owner is None
    module = getattr(owner, "__name__", "")  # the program may delete the attribute
    return module not in _LOOKING_MODULES and function.__name__ not in _LOOKERS


def _is_made_in_python(cls: Any) -> bool:
    """Whether functions of the program take part in making the objects of a class."""
    slots = (type_attribute(cls, "__new__"), type_attribute(cls, "__init__"))
    in_c = BuiltinFunctionType, WrapperDescriptorType
    return not all(_is_among(type(slot), in_c) for slot in slots)


# ---- lifetimes of callees ----------------------------------------------------------------------


def _lasts(callee: Any) -> bool:
    """Whether a module or class holds a callee, so that it lives as long as they do."""
    kind: Any = type(callee)
    if kind is FunctionType:
        return _is_at_home(callee)
    if issubclass(kind, type):
        return _is_global(callee)
    if kind is BuiltinFunctionType:
        owner: Any = callee.__self__
        return owner is None or sys.modules.get(getattr(owner, "__name__", "")) is owner
    return _is_among(kind, _METHODS) and _is_global(callee.__objclass__)


def _is_global(cls: type) -> bool:
    """Whether its module holds a class."""
    if not cls.__flags__ & _HEAP:
        return True
    found: Any = sys.modules.get(module_of(cls))
    for name in type.__dict__["__qualname__"].__get__(cls).split("."):
        kind: Any = type(found)
        if kind is ModuleType:
            found = vars(found).get(name)
        elif issubclass(kind, type):
            found = type_attribute(found, name)
        else:
            return False
    return found is cls


_HEAP = 1 << 9  # flag of a class that is made at run time


def _is_at_home(function: FunctionType) -> bool:
    """Whether its module or class holds a function."""
    module = sys.modules.get(dict.get(function.__globals__, "__name__", ""))
    if type(module) is not ModuleType or vars(module) is not function.__globals__:
        return False
    found: Any = None
    for place, name in enumerate(function.__qualname__.split(".")):
        if place == 0:
            found = dict.get(function.__globals__, name)
        else:
            holder: Any = type(found)
            found = type_attribute(found, name) if issubclass(holder, type) else None
    while found is not None and found is not function:
        kind: Any = type(found)
        inner = "__func__" if _is_among(kind, (staticmethod, classmethod)) else "__wrapped__"
        found = getattr(found, inner, None) if _is_among(kind, _HOLDERS) else None
    return found is function


_all: dict[int, weakref.ref[PluginCalls]] = {}


def _before_collection(phase: str, _: object) -> None:
    """Drop callees that may be garbage, or that keep some alive."""
    if phase != "start":
        return
    for reference in list(_all.values()):
        calls = reference()
        if calls is not None:
            calls.forget()


def _reduced(around: Any) -> Any:
    return copy.copy, (intercept.callee_of(around),)


if intercept is not None:
    copyreg.pickle(intercept.Around, _reduced)  # as the callee itself, which C code may store
    gc.callbacks.append(functools.partial(intercept.in_collection, _before_collection))
