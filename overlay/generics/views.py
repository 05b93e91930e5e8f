"""Views: resolution of a generic function's calls in a stack of tables."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterator
from types import CodeType, FrameType, FunctionType
from typing import TYPE_CHECKING, Any, cast

from overlay import _native
from overlay.core import late_binding
from overlay.core.dispatch import MethodChain, by_values, limited, may_keep, types_for
from overlay.core.in_force import natively
from overlay.core.jitted import can_compile, is_dispatcher, without_compiling
from overlay.core.location import unwrapped
from overlay.core.own_builtins import __builtins__
from overlay.core.signature import key_of, literal_key_of
from overlay.core.table import LOCK, Method
from overlay.core.target import as_positional, with_code
from overlay.generics.plum_methods import converted

if TYPE_CHECKING:
    from overlay.contexts.report import Hits
    from overlay.contexts.stack import Stack
    from overlay.generics.declared import Generic
    from overlay.python.plugin_calls import PluginCalls

__all__ = [
    "MADE_FOR_PLACE",
    "View",
    "belonging",
    "named_by",
    "resolved",
    "view_of",
]

# Attribute of code compiled for a position in a chain: no stack puts a stand-in in its place.
MADE_FOR_PLACE = "__overlay_made_for_place__"

Memo = dict[Any, Any]


if _native.intercept is None:

    class Place:
        """A position in a method chain; a call of it calls the next method."""

        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            found, _, positional, named = resolved(self, None, args, kwargs)
            if positional is None:
                return found(*args, **kwargs)
            return found(*positional, **named)

        def forget_kept(self) -> None:
            """Drop cached resolutions; there are none."""

else:
    Place = _native.intercept.Place


class View(Place):
    """Implementations that calls of one generic function run, at a position in its chain.

    The chain says which method is next; the view holds the callable that runs for it, which differs
    between stacks: hits are counted, and plugins replace callees. A method runs as a copy of its
    function whose code names the view below it. ``call_next`` finds that view by the code, in
    nested functions, generators and other threads too.

    Implementations are cached by the arguments' types, unless a signature depends on values:
    one: type -> implementation. two: type -> type -> implementation. more: by tuples of keys.
    """

    def __init__(self, generic: Generic, chain: MethodChain) -> None:
        self.generic = generic
        self.chain = chain
        self.one: Memo = {}
        self.two: Memo = {}
        self.more: Memo = {}
        self.version = 0
        self.hits: Hits | None = None
        self.stack: weakref.ref[Stack] | None = None
        # Code of the method that names this view; held weakly, as the garbage collector does not
        # traverse code objects.
        self.code: weakref.ref[CodeType] | None = None
        self._copies: dict[int, tuple[Any, Any]] = {}
        self._own: Callable[..., Any] | None = None  # the target's own code, below plugins
        with LOCK:
            generic.views.add(self)
            chain.listen(self)

    # ---- calling ----

    def found(self, args: tuple[Any, ...]) -> Callable[..., Any]:
        """The implementation for these arguments, from the cache or resolved now."""
        kept = self._kept(args)
        return self.select(args, {}) if kept is None else kept

    def _kept(self, args: tuple[Any, ...]) -> Any:
        try:
            if self.chain.depends_on == "literal":
                return self.more.get(("literal", *map(literal_key_of, args)))
            return self.more.get(tuple(map(type, args))) or self.more.get(tuple(map(key_of, args)))
        except TypeError:  # a class that cannot be hashed
            return None

    def select(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[..., Any]:
        """Resolve the implementation for these arguments, given by position as far as possible.

        Raises MethodNotFound and AmbiguousMethod.
        """
        # the resolution itself calls functions that may be targets
        return natively(self._select, args, kwargs)

    def _select(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[..., Any]:
        for table in self.chain.tables:
            table.settle()
        version = self.version
        method = self.chain.resolve(by_values(args, kwargs))
        if method is None:
            found, lasting = self.base(args, kwargs)
            may = may_keep
        else:
            # the function from which a generated method is made may depend on plain values
            may = may_keep if method.generated else self.chain.may_keep
            instead = method.table.chosen(method, self.chain.passed, self.chain.tables)
            found, lasting = self.method(method, args, instead), True
            found = found if self.hits is None else self.hits.hit(method, found)
        if lasting and not kwargs and all(map(may, args)):
            with LOCK:
                if version == self.version:
                    self._keep(args, found)
        return found

    # ---- overridden by engines ----

    def may_keep(self, value: Any) -> bool:
        """Whether the resolution of calls with a value may be cached by its type."""
        return self.chain.may_keep(value)

    def method(
        self,
        method: Method,
        args: tuple[Any, ...],
        instead: Callable[..., Any] | None = None,
    ) -> Callable[..., Any]:
        """The callable for a method of a table. instead: replaces the method's function."""
        function = instead or method.implementation(types_for(method, args))
        copy = self._copies.get(id(function))
        if copy is None or copy[0] is not function:
            below = self.below(method)
            below.hits, below.stack = self.hits, self.stack
            run, calls = belonging(function, below), self._calls
            if type(run) is FunctionType:
                below.code = weakref.ref(run.__code__)
            if calls is not None:
                run = calls.of_method(function, run, below)
            copy = self._copies[id(function)] = function, run
        return method.adapted(copy[1], function, len(args))

    def below(self, method: Method) -> View:
        """The view from which ``call_next`` in a method continues."""
        return View(self.generic, self.chain.after(method))

    def implementation(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """The callable for a base method's function, or a target's own code."""
        calls = self._calls
        if calls is None:
            return function
        if function is not self.generic.native:
            return calls.stand_in(function)
        own = self._own
        if own is None:
            own = self._own = calls.of_base(self.generic.function, function)
        return own

    def is_own(self, found: Callable[..., Any]) -> bool:
        """Whether an implementation is the target's own code."""
        return found is self.generic.native or found is self._own

    @property
    def _calls(self) -> PluginCalls | None:
        """The stack's replacements of callees by plugins, or None without plugins."""
        stack = None if self.stack is None else self.stack()
        return None if stack is None else stack.calls

    def base(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Callable[..., Any], bool]:
        """The callable where no table has a method, and whether the types alone decide it."""
        function, result, lasting = self.generic.resolve(args, kwargs)
        run = self.implementation(function)
        return (run if result is Any else _converting(run, result)), lasting

    # ---- caching ----

    def _keep(self, args: tuple[Any, ...], found: Any) -> None:
        kind = self.chain.depends_on
        if kind == "value":
            return
        if kind == "literal":
            keys = tuple(map(literal_key_of, args))
            if None not in keys:
                limited(self.more)["literal", *keys] = found
            return
        if kind == "array":
            limited(self.more)[tuple(map(key_of, args))] = found
            return
        types = tuple(map(type, args))
        limited(self.more)[types] = found
        if len(types) == 1:
            limited(self.one)[types[0]] = found
        elif len(types) == 2:
            limited(limited(self.two).setdefault(types[0], {}))[types[1]] = found

    def forget(self) -> None:
        """Drop all cached implementations."""
        with LOCK:
            self.version += 1
            self._own = None
            for memo in (self.one, self.two, self.more, self._copies):
                memo.clear()
            self.forget_kept()


def resolved(
    view: Any, _: object, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, bool, Any, Any]:
    """The implementation that a call of a view resolves to; whether the types of the arguments
    decide it; and the positional and keyword arguments as the target binds them, None where these
    are unchanged.
    """
    if kwargs:
        positional, named = as_positional(view.generic.signature, args, kwargs)
        found = view.select(positional, named) if named else view.found(positional)
        if view.is_own(found):  # called with the arguments as written
            return found, False, args, kwargs
        return found, False, positional, named
    found = view.found(args)
    lasting = all(map(view.may_keep, args)) and view.more.get(tuple(map(type, args))) is found
    return found, lasting, None, None


def _converting(run: Callable[..., Any], result: Any) -> Callable[..., Any]:
    def converting(*args: Any, **kwargs: Any) -> Any:
        # plum's checks call functions that may be targets
        return natively(converted, run(*args, **kwargs), result)

    return converting


# ---- code that names a view ---------------------------------------------------------------


def view_of(frame: FrameType | None) -> View | None:
    """The view from which ``call_next`` continues in this frame, or None outside methods.

    Code inside decorators is not a copy: it belongs to the decorated method while that runs.
    """
    if frame is None:
        return None
    code = frame.f_code
    named = named_by(code)
    while named is None and frame.f_back is not None:
        frame = frame.f_back
        outer = named_by(frame.f_code)
        if outer is not None and _is_within(code, outer.chain.passed[-1].function):
            named = outer
    return named


def named_by(code: CodeType) -> View | None:
    """The view below a method that its code names, or None."""
    last: Any = code.co_consts[-1] if code.co_consts else None
    return last if isinstance(last, View) else None


def belonging(function: Any, below: View) -> Any:
    """A copy of the function whose code names ``below``; for another callable that wraps a
    function, a function that calls it.
    """
    if is_dispatcher(function) and not can_compile():
        function = without_compiling(function)
    if is_dispatcher(function):
        return _compiled(function, below)
    if type(function) is not FunctionType and not hasattr(function, "__wrapped__"):
        return function
    named = function if type(function) is FunctionType else _calling(function)
    return with_code(named, _naming(named.__code__, below))


def _calling(function: Any) -> FunctionType:
    def run(*args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    return cast("FunctionType", run)


def _naming(code: CodeType, below: View) -> CodeType:
    inner = (_naming(c, below) if isinstance(c, CodeType) else c for c in code.co_consts)
    return code.replace(co_consts=(*inner, below))


def _is_within(code: CodeType, function: Any) -> bool:
    """Whether code is that of a function inside ``function``'s decorators, or nested in it."""
    for inner in unwrapped(function)[1:]:
        own = getattr(inner, "__code__", None)
        if isinstance(own, CodeType) and any(c is code for c in _codes(own)):
            return True
    return False


def _codes(code: CodeType) -> Iterator[CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _codes(constant)


def _compiled(function: Any, below: View) -> Any:
    compiled = late_binding.compiled_method.load()
    made = compiled(function, below.chain)
    setattr(made, MADE_FOR_PLACE, True)
    return made
