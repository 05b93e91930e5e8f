"""Plain ``@njit`` functions that call into a context: they contain its code, and have to drop
it."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from numba.core import event

from overlay.compiled.numba.guard import Guard
from overlay.compiled.numba.numba_types import is_dispatcher, numba_typing
from overlay.compiled.traces import TracePlace, explain
from overlay.compiled.watching import ALWAYS
from overlay.core.table import LOCK

if TYPE_CHECKING:
    from overlay.compiled.numba.python_entries import EntryDispatcher

__all__ = ["any_called", "call_expected", "renew_callers", "retire_callers"]

# The entries to which numba has compiled calls.
_called: weakref.WeakSet[EntryDispatcher] = weakref.WeakSet()
_is_any: Final = threading.Event()

# The guards of a caller's compiled code.
_guards: weakref.WeakKeyDictionary[Any, dict[Any, Guard]] = weakref.WeakKeyDictionary()

# The callers with a guard.
_watched: weakref.WeakSet[_Watched] = weakref.WeakSet()


def call_expected(entry: EntryDispatcher) -> None:
    """Note that numba compiles a call of an entry, in a function that is not known yet."""
    if not _called:
        event.register("numba:compile", _Compiled())
    _called.add(entry)
    _is_any.set()


def any_called() -> bool:
    """Whether numba has ever compiled a call of an entry: code of the entry is then in code that
    numba holds."""
    return _is_any.is_set()


def retire_callers(retired: Iterable[Any]) -> list[Any]:
    """Make plain ``@njit`` functions that call retired code compile again; return their code."""
    past = {id(code.library) for code in retired if hasattr(code, "library")}
    found: list[Any] = []
    for caller in _plain_functions() if past else ():
        codes = list(caller.overloads.values())
        if any(_links(code.library, past) for code in codes):
            found.extend((*codes, *_guards.pop(caller, {}).values()))
            caller._reset_overloads()
            caller._compiler._failed_cache.clear()
    return found


def _plain_functions() -> Iterator[Any]:
    for reference in list(numba_typing()._globals):
        caller = reference() if isinstance(reference, weakref.ref) else None
        if _is_plain(caller):
            yield caller


def _is_plain(caller: Any) -> bool:
    return is_dispatcher(caller) and not type(caller).__module__.startswith("overlay.")


def _links(library: Any, past: set[int]) -> bool:
    return id(library) in past or any(_links(lib, past) for lib in library._linking_libraries)


def renew_callers(entry: EntryDispatcher) -> None:
    """Make plain functions that call an entry compare the words that it compares now."""
    for watched in list(_watched):
        if entry.engine in watched.engines:
            watched.renew()


class _Compiled(event.Listener):
    """Listener to numba's compilations of functions."""

    def on_start(self, event: Any) -> None:
        pass

    def on_end(self, event: Any) -> None:
        caller, args = event.data["dispatcher"], event.data["args"]
        code = caller.overloads.get(tuple(args)) if _is_plain(caller) else None
        if code is None:
            return
        entries = [entry for entry in list(_called) if _calls(code, entry)]
        if entries:
            _Watched(caller, code, entries)


def _put_in_front(caller: Any) -> None:
    """Install the guards of a caller for calls from Python, where its codes have any."""
    guards = _guards[caller]
    caller._clear()
    for args, code in caller.overloads.items():
        guard = guards.get(code.entry_point)
        function = code.entry_point if guard is None else guard.function
        caller._insert([a._code for a in args], function, code.objectmode)


def _calls(code: Any, entry: EntryDispatcher) -> bool:
    return _links(code.library, {id(each.library) for each in list(entry.overloads.values())})


class _Watched:
    """A plain function with a guard, like that of an entry."""

    def __init__(self, caller: Any, code: Any, entries: list[EntryDispatcher]) -> None:
        self.caller = weakref.ref(caller)
        self.place = TracePlace.of(caller.py_func)
        self.engines = [entry.engine for entry in entries]
        self.guard = Guard(code.entry_point, self._words(), self.stale, self.failed)
        _watched.add(self)
        _guards.setdefault(caller, {})[code.entry_point] = self.guard
        _put_in_front(caller)

    def _words(self) -> list[Any]:
        return list(dict.fromkeys(word for engine in self.engines for word in engine.words()))

    def stale(self, called: Guard, *args: Any, **kwargs: Any) -> Any:
        with LOCK:
            rebound = [engine for engine in self.engines if engine.rebound()]
            for engine in rebound:
                engine.begin_anew()
            words = self._words()
            self.guard.renew(words)
        if ALWAYS in words and not rebound:
            return called.unchecked.function(*args, **kwargs)
        return self.caller()(*args, **kwargs)

    def renew(self) -> None:
        self.guard.renew(self._words())

    def failed(self, error: BaseException) -> None:
        explain(error, self.place)
