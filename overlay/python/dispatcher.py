"""Dispatchers: what stands in the callee map for a target."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from overlay.dispatch import by_values, reachable, resolve
from overlay.python.forms import with_forms
from overlay.signature import key_of
from overlay.table import LOCK
from overlay.target import as_positional, signature_of

if TYPE_CHECKING:
    from overlay.python.engine import Link, PythonEngine

__all__ = ["Dispatcher"]

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
        self.version = 0
        self.keyed_by = self._keyed_by()
        self.generic = self._make_generic()
        self._by_arity = {1: self._make_single(), 2: self._make_double()}
        for function in (self.generic, *self._by_arity.values()):
            with_forms(function, self.for_arity)

    def for_arity(self, arity: int | None) -> Callable[..., Any]:
        """The fastest form for calls with this many positional arguments and no others."""
        return self._by_arity.get(arity or 0, self.generic)

    def forget(self) -> None:
        """Resolve anew from the next call on."""
        self.version += 1
        self.memo.clear()
        self.single.clear()
        self.keyed_by = self._keyed_by()

    def _keyed_by(self) -> Callable[[Any], Any] | None:
        kinds = {m.depends_on for m in reachable(self.engine.tables, self.target)}
        if "value" in kinds:
            return None
        return key_of if "array" in kinds else type

    def select(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Callable[..., Any]:
        """The implementation for these arguments, as positional as they can be.

        A generated method runs here, and may compile: no lock is held while it does.
        """
        version, after = self.version, () if self.link is None else self.link.methods
        method = resolve(self.engine.tables, self.target, by_values(args, kwargs), after)
        if method is None:
            found = self.engine.callees.base(self.target)[0]
        else:
            found = self.engine.implementation(self.target, method, after, args)
        if self.keyed_by is not None and not kwargs:
            with LOCK:
                if version == self.version and not self.engine.released:
                    self._keep(tuple(map(self.keyed_by, args)), found)
        return found

    def _keep(self, keys: tuple[Any, ...], found: Callable[..., Any]) -> None:
        self.memo[keys] = found
        if len(keys) == 1:
            self.single[keys[0]] = found

    def _make_generic(self) -> Callable[..., Any]:
        memo = self.memo

        def dispatch(*args: Any, **kwargs: Any) -> Any:
            if kwargs:
                args, kwargs = as_positional(self.signature, args, kwargs)
            found = None
            if not kwargs and (key := self.keyed_by) is not None:
                found = memo.get(tuple(map(key, args)))
            if found is None:
                found = self.select(args, kwargs)
            return found(*args, **kwargs)

        return dispatch

    def _make_single(self) -> Callable[..., Any]:
        single = self.single

        def dispatch(a: Any, /) -> Any:
            found = None
            if self.keyed_by is type:
                found = single.get(type(a))
            return self.select((a,), {})(a) if found is None else found(a)

        return dispatch

    def _make_double(self) -> Callable[..., Any]:
        memo = self.memo

        def dispatch(a: Any, b: Any, /) -> Any:
            found = None
            if self.keyed_by is type:
                found = memo.get((type(a), type(b)))
            return self.select((a, b), {})(a, b) if found is None else found(a, b)

        return dispatch
