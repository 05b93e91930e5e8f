"""The callee map: what is called in a context in place of each callable of the program.

Callables are told apart by identity and exact type; no ``__hash__`` or ``__eq__`` of the
program runs. What is kept is kept under ``id`` together with the object itself.
"""

from __future__ import annotations

import contextvars
import functools
import operator
import sys
import weakref
from collections.abc import Callable
from types import (
    CodeType,
    FunctionType,
    MethodType,
    MethodWrapperType,
    ModuleType,
    WrapperDescriptorType,
)
from typing import TYPE_CHECKING, Any, NamedTuple

from overlay.code.callbacks import CALLBACKS
from overlay.code.own_builtins import __builtins__  # noqa: F401
from overlay.context import Context, call_next, current_context, current_stack, recurse, wrapped_in
from overlay.jitted import is_dispatcher, is_kernel
from overlay.location import is_ours
from overlay.plum_methods import is_plum_function, plum_function_below
from overlay.python import dynamic_code, plum_functions
from overlay.python.around import with_around
from overlay.python.construction import TYPE_CALL, constructor
from overlay.python.entering import asking, entering, is_asked_about
from overlay.python.forms import forms_of, with_forms
from overlay.python.kept import limited
from overlay.python.site import Keep
from overlay.python.twins import Family, copied
from overlay.python.unseen import unobserved, unseen
from overlay.table import LOCK
from overlay.target import (
    BUILTINS,
    DESCRIPTORS,
    LRU_CACHE,
    key_of_target,
    module_of,
    type_attribute,
)

if TYPE_CHECKING:
    from overlay.python.engine import Link, PythonEngine

__all__ = ["Callees", "Found"]

RUN: Any = contextvars.Context.run
PARTIAL_CALL: Any = functools.partial.__dict__["__call__"]
# What a class or module may hold in place of a function that was decorated.
_HOLDERS: Any = (FunctionType, staticmethod, classmethod, LRU_CACHE)

_ITSELF = object()
_LENT = "__overlay_kept__"


class Found:
    """What stands for a callee: the callee, held weakly where it is a function; what to call;
    whether a site may keep it; for a function that comes anew each time its code and that of
    its twin; and the engine's count of changes when it was found: after a later one nothing of
    it may be kept."""

    __slots__ = ("changes", "code", "forms", "keep", "of", "to")

    def __init__(self, of: Any, to: Any, keep: Keep, changes: int, code: Any = None) -> None:
        self.of = of
        self.changes = changes
        # what stands for itself must not be held by that
        self.to = _ITSELF if of is not None and of() is to else to
        self.keep = keep
        self.code = code
        self.forms = forms_of(to)

    def form(self, arity: int | None) -> Any:
        """What to call with so many positional arguments."""
        if self.forms is not None:
            return self.forms(arity)
        return self.of() if self.to is _ITSELF else self.to


class Passing(NamedTuple):
    """An entry of a callee map that the end of the run removes."""

    callees: Callees
    key: int

    def reset(self) -> None:
        """Remove it."""
        self.callees.known.pop(self.key, None)

    def lend(self) -> weakref.ref[Any] | None:
        """Have the callee itself hold what stands for it, so that garbage is known as such."""
        found = self.callees.known.pop(self.key, None)
        callee = None if found is None else found.of()
        if found is None or callee is None:
            return None
        vars(callee)[_LENT] = found
        return found.of

    def take_back(self, callee: Any) -> None:
        """Hold what stands for the callee again."""
        self.callees.known[self.key] = vars(callee).pop(_LENT)


class Callees:
    """The callee map of one engine, for code that belongs to one link of a method chain.

    link: the target and methods that ``call_next`` goes on from, or None outside methods.
    """

    def __init__(self, engine: PythonEngine, link: Link | None) -> None:
        self.engine = engine
        self.link = link
        self.known: dict[int, Found] = {}
        # by code, that of the twin, or None where it is the same
        self._codes: dict[int, tuple[weakref.ref[CodeType], CodeType | None]] = {}
        self._families: dict[int, Family] = {}

    @unobserved
    def __getitem__(self, callee: Any) -> Any:
        """What to call in place of ``callee``."""
        if type(callee) is MethodType:
            return self._bound(callee)
        return self.find(callee).form(None)

    def find(self, callee: Any) -> Found:
        """What stands for ``callee``, which is not a bound method of the program."""
        changes = self.engine.changes
        entry = self.known.get(id(callee))
        if entry is not None and entry.of() is callee:
            return entry
        kind: Any = type(callee)
        if kind is MethodType:
            return Found(None, self._bound(callee), Keep.NO, changes)
        if kind is FunctionType and id(callee) not in self.engine.overlaid:
            codes = self._codes_of(callee)
            if codes is not None:
                return Found(None, self.closure(callee, codes[1]), Keep.RUN, changes, codes)
        with LOCK:
            self.engine.settle()
            changes = self.engine.changes
            to, keep = self._map(callee)
            if self.engine.surrounds:
                to = with_around(self, callee, to)
            if self.engine.released:
                return Found(None, to, Keep.NO, changes)
            if keep is Keep.YES:
                return self._known(callee, to)
            if kind is LRU_CACHE:
                return self.keep_for_this_run(callee, to)
            if kind is not FunctionType:
                return Found(None, to, keep, changes)
            codes = self._codes_of(callee)
            if callee.__closure__ is None and codes and is_module(callee.__globals__):
                return self.keep_for_this_run(callee, to, codes)
            return Found(None, to, keep, changes, codes)

    def _codes_of(self, function: FunctionType) -> tuple[CodeType, CodeType] | None:
        """The code of a function, and its twin's, if there was a function of that code before and
        none is a target."""
        code = function.__code__
        entry = self._codes.get(id(code))
        if entry is None or entry[0]() is not code or id(code) in self.engine.overlaid_codes:
            return None
        return code, entry[1] or code

    def forget(self) -> None:
        """Keep nothing of what was found."""
        self.known.clear()
        self._codes.clear()
        self._families.clear()

    def _known(self, callee: Any, to: Any) -> Found:
        key = id(callee)
        if type(callee) is FunctionType:
            of: Any = weakref.ref(callee, functools.partial(self.known.pop, key))
        else:
            of = lambda: callee  # noqa: E731
        self.engine.met += 1
        self.known[key] = found = Found(of, to, Keep.YES, self.engine.changes)
        return found

    def forget_dropped(self) -> None:
        """Keep nothing of classes that their modules do not hold any more."""
        for callee in [found.of() for found in list(self.known.values())]:
            if issubclass(type(callee), type):
                self.lasts(callee)

    def lasts(self, callee: Any) -> bool:
        """Whether its module still holds a callee that it held; if not, it is forgotten."""
        kind: Any = type(callee)
        lasting = True
        if kind is FunctionType:
            lasting = is_at_home(callee)
        elif issubclass(kind, type):
            lasting = _is_global(callee)
        if not lasting:
            self.known.pop(id(callee), None)
        return lasting

    def keep_for_this_run(self, function: Any, twin: Any, code: Any = None) -> Found:
        """Keep what stands for a function that is called again and again, until the run ends."""
        key = id(function)
        reference = weakref.ref(function, functools.partial(self.known.pop, key))
        found = Found(reference, twin, Keep.RUN, self.engine.changes, code)
        lasts = type(function) is LRU_CACHE  # a cache that came anew would be empty
        keep = self.engine.for_whole_run if lasts else self.engine.for_this_run
        with LOCK:
            if keep(Passing(self, key)):
                self.known[key] = found
        return found

    def find_method(self, method: MethodType) -> Found | None:
        """What stands for the function of a bound method, or None where that is not enough."""
        function: Any = method.__func__
        if type(function) is not FunctionType:
            return None
        return self.find(function)

    def family(self, code: CodeType, new: CodeType) -> Family:
        """What functions of a code have in common, until the run ends."""
        key = id(code)
        found = self._families.get(key)
        if found is None:
            found = Family(code, new, functools.partial(self._families.pop, key, None))
            with LOCK:
                if self.engine.for_this_run(found):
                    self._families[key] = found
        return found

    def closure(self, function: FunctionType, code: CodeType) -> FunctionType:
        """The twin of a function by its rewritten code: itself where there is nothing to do."""
        return function if code is function.__code__ else copied(function, code)

    def _bound(self, method: MethodType) -> Any:
        function = method.__func__
        if type(function) is not FunctionType:
            plum_function = plum_function_below(method)
            if plum_function is not None:
                return MethodType(self[plum_function], method.__self__)
        mapped = self.find(function).form(None)
        return method if mapped is function else MethodType(mapped, method.__self__)

    # ---- by kind ----

    def _map(self, callee: Any) -> tuple[Any, Keep]:
        generic = plum_functions.generic_in(callee, self)
        if generic is not None:
            return generic, Keep.YES
        if key_of_target(callee) in self.engine.overlaid:
            return self.engine.dispatcher(callee).generic, Keep.YES
        return self.base(callee)

    def base(self, callee: Any) -> tuple[Any, Keep]:
        """What to call where no method applies: the callee with its body in the context."""
        found, keep = self._base(callee)
        found = self.engine.watch.over(callee, found)
        if self.engine.asks and is_asked_about(callee):
            found = asking(self.engine, callee, found)
        return found, keep

    def _base(self, callee: Any) -> tuple[Any, Keep]:
        kind: Any = type(callee)
        if kind is FunctionType:
            return self._function(callee)
        if kind in BUILTINS or kind in DESCRIPTORS:
            return self._builtin(callee)
        if kind is MethodWrapperType:
            return self._method_wrapper(callee), Keep.NO
        if issubclass(kind, type):
            # a metaclass's __call__ may be another by the next call
            fixed = type(type_attribute(kind, "__call__")) is not FunctionType
            return self._class(callee), _keep_if(_is_global(callee)) if fixed else Keep.NO
        if type_attribute(kind, "__call__") is PARTIAL_CALL:
            mapped = self[callee.func]
            if mapped is callee.func:
                return callee, Keep.NO
            return functools.partial(mapped, *callee.args, **callee.keywords), Keep.NO
        if kind is operator.methodcaller:
            return self._method_caller(callee), Keep.NO
        if kind is LRU_CACHE:
            # a cache of its own: results found here must not be met outside
            self.engine.caches = True
            cached = functools.lru_cache(**callee.cache_parameters())
            lasting = is_at_home(callee.__wrapped__, callee)
            return cached(self[callee.__wrapped__]), _keep_if(lasting)
        if kind is staticmethod:
            return self[callee.__func__], Keep.NO
        if kind is Context:
            return functools.partial(self.engine.enter_inner, callee), Keep.NO
        if is_plum_function(callee):
            return plum_functions.Resolved(callee, self), Keep.YES
        if is_dispatcher(callee):
            return self.engine.compiled(callee), Keep.YES
        if is_kernel(callee):
            return self.engine.kernel(callee), Keep.NO
        return self._instance(callee), Keep.NO

    def _function(self, function: FunctionType) -> tuple[Any, Keep]:
        if function is call_next:
            return (self.engine.next_of(self.link) if self.link else function), Keep.YES
        if function is current_context:
            return self.engine.current, Keep.YES
        if function is recurse:
            return functools.partial(self.engine.enter_inner, recurse), Keep.NO
        generic = plum_functions.base_of_generic(function, self)
        if generic is not None:
            return generic, Keep.YES
        if self.link is not None and self.link.wraps(function):
            return self.engine.twin(function, self), Keep.YES
        if is_ours(function.__code__.co_filename):
            wrapped = wrapped_in(function)
            if wrapped is None:
                return function, _keep_if(is_at_home(function))
            return functools.partial(self.engine.enter_inner, *wrapped), Keep.NO
        twin = self.engine.twin(function)
        if self.engine.plugins:
            found = entering(self.engine, function, twin) if self.engine.asks else twin
            return found, _keep_if(is_at_home(function))
        if is_at_home(function):
            return twin, Keep.YES
        if not self.engine.released:
            key = id(function.__code__)
            gone = weakref.ref(function.__code__, functools.partial(self._codes.pop, key))
            new = None if twin is function else twin.__code__
            limited(self._codes)[key] = gone, new
        return twin, Keep.RUN

    def _builtin(self, function: Any) -> tuple[Any, Keep]:
        if function is exec or function is eval:
            return dynamic_code.running(function, self), Keep.YES
        if type(function) is WrapperDescriptorType and function.__name__ == "__call__":

            @unseen
            def call(owner: Any, /, *args: Any, **kwargs: Any) -> Any:
                native = function.__get__(owner, type(owner))
                return self._called(owner, native)(*args, **kwargs)

            return call, Keep.YES
        owner: Any = getattr(function, "__self__", None)
        if type(owner) is LRU_CACHE:
            return functools.partial(self._of_own_cache, function.__name__, owner), Keep.NO
        if getattr(function, "__objclass__", None) is LRU_CACHE:
            return functools.partial(self._of_own_cache, function.__name__), Keep.YES
        if function is RUN:
            return self._run_with_variables, Keep.YES
        if id(function) in CALLBACKS and CALLBACKS[id(function)][0] is function:
            return self._with_callbacks(function), Keep.YES
        if owner is None:
            return function, Keep.YES
        if type(owner) is ModuleType:
            lasting = is_module(vars(owner))
            return function, Keep.YES if lasting else Keep.NO
        kind: Any = type(owner)
        holder: Any = owner if issubclass(kind, type) else kind
        return self._of_descriptor(type_attribute(holder, function.__name__), function), Keep.NO

    @unseen
    def _of_own_cache(self, name: str, cached: Any, *args: Any) -> Any:
        """A method of a cached function, for the cache that the context has of it."""
        if name == "cache_clear":  # calls that the context does not see have filled the other
            cached.cache_clear()
        return getattr(self[cached], name)(*args)

    @unseen
    def _run_with_variables(
        self, variables: contextvars.Context, /, *args: Any, **kwargs: Any
    ) -> Any:
        """``contextvars.Context.run``: the call sees the tables that are in force in the
        variables that it runs with, as a task or a callback of an event loop does; where none
        are, because the variables are older than the context, those in force here."""
        if not args:
            return RUN(variables, *args, **kwargs)  # its own error
        return RUN(variables, self._call_in_force, *args, **kwargs)

    @unseen
    def _call_in_force(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        stack = current_stack()
        callees = self if stack is None else stack.python.callees
        return callees[function](*args, **kwargs)

    def _with_callbacks(self, function: Any) -> Callable[..., Any]:
        _, positions, names = CALLBACKS[id(function)]

        @unseen
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
        """What stands for a C method bound to an object, where something else stands for its
        descriptor."""
        mapped = id(descriptor) in CALLBACKS or descriptor is RUN
        changed = id(descriptor) in self.engine.overlaid or mapped or self.engine.surrounds
        if type(descriptor) in DESCRIPTORS and changed:
            return functools.partial(self[descriptor], bound.__self__)
        return bound

    # ---- classes and instances ----

    def _class(self, cls: type) -> Any:
        if id(cls) in CALLBACKS:
            return self._with_callbacks(cls)
        call = type_attribute(type(cls), "__call__")
        if type(call) is FunctionType:
            return MethodType(self[call], cls)
        return constructor(self, cls) if call is TYPE_CALL else cls

    def _called(self, owner: Any, native: Any) -> Any:
        """What ``__call__`` of a C type does for ``owner``; ``native`` where it is not known."""
        kind: Any = type(owner)
        partial = type_attribute(kind, "__call__") is PARTIAL_CALL
        if partial or kind in (FunctionType, *BUILTINS, MethodType, LRU_CACHE, staticmethod):
            return self[owner]
        return constructor(self, owner) if issubclass(kind, type) else native

    def _method_caller(self, caller: Any) -> Any:
        """``operator.methodcaller(name, ...)``, whose method is called in the context."""
        made, given = caller.__reduce__()
        named = made is not operator.methodcaller  # then it is a partial, with the name in it
        name, *args = (*made.args, *given) if named else given
        kwargs = made.keywords if named else {}

        @unseen
        def call(*objects: Any, **others: Any) -> Any:
            if len(objects) != 1 or others:
                return caller(*objects, **others)  # its own error
            return self[getattr(objects[0], name)](*args, **kwargs)

        return call

    def _instance(self, instance: Any) -> Any:
        kind: Any = type(instance)
        call = type_attribute(kind, "__call__")
        receiver: Any = instance
        if call is None:  # no callable
            return instance
        if type(call) in (staticmethod, classmethod) and type(call.__func__) is FunctionType:
            receiver = kind if type(call) is classmethod else None
            call = call.__func__
        elif type(call) is MethodType or type_attribute(type(call), "__get__") is None:
            receiver = None  # it is called as it is
        elif type(call) is not FunctionType:
            return instance
        mapped = self[call]
        if mapped is call:
            return instance
        return mapped if receiver is None else MethodType(mapped, receiver)


def _keep_if(lasting: bool) -> Keep:
    return Keep.YES if lasting else Keep.RUN


def _is_global(cls: type) -> bool:
    """Whether its module holds it."""
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


def is_module(namespace: dict[str, Any]) -> bool:
    """Whether it is the namespace of a module that is imported."""
    module = sys.modules.get(dict.get(namespace, "__name__", ""))
    return type(module) is ModuleType and vars(module) is namespace


def is_at_home(function: Any, held: Any = None) -> bool:
    """Whether its module or class holds it, or what was ``held`` in place of it, so that it
    lives as long as they do."""
    if type(function) is not FunctionType or not is_module(function.__globals__):
        return False
    wanted = function if held is None else held
    found: Any = None
    for place, name in enumerate(function.__qualname__.split(".")):
        if place == 0:
            found = dict.get(function.__globals__, name)
        else:
            holder: Any = type(found)
            found = type_attribute(found, name) if issubclass(holder, type) else None
    while found is not None and found is not wanted:
        kind: Any = type(found)
        inner = "__func__" if kind in (staticmethod, classmethod) else "__wrapped__"
        found = getattr(found, inner, None) if kind in _HOLDERS else None
    return found is wanted
