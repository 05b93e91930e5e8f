"""Dispatchers: what stands in the callee map for a target."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from overlay.code.own_builtins import __builtins__  # noqa: F401
from overlay.dispatch import Call, by_values, reachable, resolve
from overlay.interpreted_values import has_underlying
from overlay.python.forms import with_forms
from overlay.python.kept import WeakObjects, limited
from overlay.python.site import NOWHERE
from overlay.python.unseen import unobserved, unseen
from overlay.signature import key_of, key_of_interpreted
from overlay.table import LOCK
from overlay.target import as_positional, signature_of, type_attribute

if TYPE_CHECKING:
    from overlay.method import Method
    from overlay.python.engine import Link, PythonEngine
    from overlay.python.site import Site

__all__ = ["Dispatcher"]

_as_positional = unobserved(as_positional)
_QUIET_KEY = unobserved(key_of)
_INTERPRETED_KEY = unobserved(key_of_interpreted)
_has_underlying = unobserved(has_underlying)
Memo = dict[Any, Callable[..., Any]]


class Dispatcher:
    """Resolves the calls of one target, or of ``call_next`` below one link of its chain.

    What a call resolves to is kept under the types of its arguments (for arrays: with dtype
    and number of dimensions), unless a signature depends on values.
    """

    def __init__(self, engine: PythonEngine, target: Any, link: Link | None = None) -> None:
        self.engine = engine
        self.target = target
        self.link = link
        self.signature = signature_of(target)
        self.memo: Memo = {}  # tuple of keys -> implementation
        self.single: Memo = {}  # key of the only argument -> implementation
        self.base: Any = None  # what calls fall through to, once one has
        self.version = 0
        self._inlined = WeakObjects["Site"]()
        # by what calls are kept: None where nothing is, and until a change has been looked at
        self.keyed_by: Callable[[Any], Any] | None = None
        self._stale = True
        self._takes_underlying = False  # whether some method may be chosen by underlying values
        self.generic = self._make_generic()
        self._by_arity = {1: self._make_single(), 2: self._make_double()}
        for function in (self.generic, *self._by_arity.values()):
            with_forms(function, self.for_arity)

    def for_arity(self, arity: int | None) -> Callable[..., Any]:
        """The fastest form for calls with this many positional arguments and no others."""
        return self._by_arity.get(arity or 0, self.generic)

    def forget(self) -> None:
        """Resolve anew from the next call on."""
        self.base = None
        for site in self._inlined:
            site.inline = NOWHERE
        self._inlined.clear()
        self.memo.clear()
        self.single.clear()
        self.keyed_by, self._stale = None, True
        self.version += 1  # last: who reads the new one finds nothing that is old

    def _keyed_by(self) -> Callable[[Any], Any] | None:
        methods = reachable(self.engine.tables, self.target)
        kinds = {m.depends_on for m in methods}
        if "value" in kinds:
            return None
        self._takes_underlying = not all(m.table.interprets for m in methods)
        if self._takes_underlying and any(t.interprets for t in self.engine.tables):
            return _INTERPRETED_KEY
        return _QUIET_KEY if "array" in kinds else type

    def _may_keep(self, args: tuple[Any, ...]) -> bool:
        """Whether what calls are kept by tells these arguments from others."""
        if not all(map(_compares_by_identity, args)):
            return False
        is_plain = self.keyed_by is _INTERPRETED_KEY or not self._takes_underlying
        return is_plain or not any(map(_has_underlying, args))

    @unobserved
    def select(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[..., Any]:
        """The implementation for these arguments, as positional as they can be.

        A generated method runs here, and may compile: no lock is held while it does.
        """
        if self._stale:
            with LOCK:  # no change comes in between
                self._stale = False
                self.keyed_by = self._keyed_by()
        version, method = self._resolved(by_values(args, kwargs))
        after = () if self.link is None else self.link.methods
        if method is None:
            found = self.base or self.engine.callees.base(self.target)[0]
            with LOCK:
                if version == self.version:
                    self.base = None if self.engine.released else found
        else:
            instead = method.table.chosen(method, after, self.engine.tables)
            found = self.engine.implementation(self.target, method, after, args, instead)
            found = self.engine.watch.hit(method, found)
        if self.keyed_by is not None and not kwargs and self._may_keep(args):
            with LOCK:
                if version == self.version and not self.engine.released:
                    self._keep(tuple(map(self.keyed_by, args)), found)
        return found

    def _resolved(self, call: Call) -> tuple[int, Method | None]:
        """The method for a call, and of which version: none came in while tables were looked at
        one after the other."""
        after = () if self.link is None else self.link.methods
        while True:
            version = self.version
            method = resolve(self.engine.tables, self.target, call, after)
            if version == self.version:
                return version, method

    def inline(self, site: Site, argument: Any) -> Callable[..., Any]:
        """The implementation for one argument, which the site keeps if its type decides it."""
        version = self.version
        found = self._kept((argument,)) or self.select((argument,), {})
        if self.keyed_by is type and self._may_keep((argument,)):
            with LOCK:
                if version == self.version and not self.engine.released:
                    site.inline = type(argument), self.target, found
                    self._inlined.add(site)
        return found

    def _keep(self, keys: tuple[Any, ...], found: Callable[..., Any]) -> None:
        limited(self.memo)[keys] = found
        if len(keys) == 1:
            limited(self.single)[keys[0]] = found

    @unseen
    def _kept(self, args: tuple[Any, ...]) -> Callable[..., Any] | None:
        key = self.keyed_by
        try:
            return None if key is None else self.memo.get(tuple(map(key, args)))
        except TypeError:  # a class that cannot be hashed
            return None

    def _make_generic(self) -> Callable[..., Any]:
        @unseen
        def dispatch(*args: Any, **kwargs: Any) -> Any:
            if kwargs:
                return self._with_keywords(args, kwargs)
            found = self._kept(args)
            if found is None:
                found = self.select(args, kwargs)
            return found(*args)

        return dispatch

    @unseen
    def _with_keywords(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        positional, named = _as_positional(self.signature, args, kwargs)
        found = None if named else self._kept(positional)
        if found is None:
            found = self.select(positional, named)
        if found is self.base:  # called as it was written
            return found(*args, **kwargs)
        return found(*positional, **named)

    def _make_single(self) -> Callable[..., Any]:
        single = self.single

        @unseen
        def dispatch(a: Any, /) -> Any:
            try:
                found = single.get(type(a)) if self.keyed_by is type else self._kept((a,))
            except TypeError:
                found = None
            return self.select((a,), {})(a) if found is None else found(a)

        return dispatch

    def _make_double(self) -> Callable[..., Any]:
        memo = self.memo

        @unseen
        def dispatch(a: Any, b: Any, /) -> Any:
            try:
                known = self.keyed_by is type
                found = memo.get((type(a), type(b))) if known else self._kept((a, b))
            except TypeError:
                found = None
            return self.select((a, b), {})(a, b) if found is None else found(a, b)

        return dispatch


def _compares_by_identity(value: Any) -> bool:
    """Whether a value's class can be a key: its metaclass may define how classes compare."""
    kind: Any = type(type(value))
    own = type.__hash__, type.__eq__
    return (type_attribute(kind, "__hash__"), type_attribute(kind, "__eq__")) == own
