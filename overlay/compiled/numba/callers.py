"""Plain ``@njit`` functions that call into a context: they hold its code, and have to drop it."""

from __future__ import annotations

import contextlib
import threading
import weakref
from collections.abc import Container, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Final

from numba.core import event
from numba.core.caching import NullCache
from numba.core.compiler_lock import global_compiler_lock

from overlay.compiled.numba.guard import Guard
from overlay.compiled.numba.numba_types import is_dispatcher, numba_typing
from overlay.compiled.traces import TracePlace, explain
from overlay.compiled.watching import ALWAYS
from overlay.core.table import LOCK

if TYPE_CHECKING:
    from overlay.compiled.numba.python_entries import EntryDispatcher
    from overlay.compiled.watching import Word

__all__ = ["any_called", "call_expected", "renew_callers", "retire_callers"]

# The entries to which numba has compiled calls.
_called: weakref.WeakSet[EntryDispatcher] = weakref.WeakSet()
_is_any: Final = threading.Event()

# Code retired since numba has begun each of the compilations in progress, outermost first, by
# identity: a caller may still link it. numba compiles in one thread at a time.
_retired: list[dict[int, Any]] = []
# The same for compilations that had begun before the first call of an entry was found.
_retired_first: dict[int, Any] = {}

# The guards of a caller's compiled code.
_guards: weakref.WeakKeyDictionary[Any, dict[Any, Guard]] = weakref.WeakKeyDictionary()

# The callers with a guard.
_watched: weakref.WeakSet[_Watched] = weakref.WeakSet()

# The callers whose code is retired, and that have to be compiled before the next call; with the
# former code of those that numba was to compile for declared signatures alone, and failed to.
_outdated: weakref.WeakKeyDictionary[Any, dict[Any, Any]] = weakref.WeakKeyDictionary()


def call_expected(entry: EntryDispatcher) -> None:
    """Note that numba compiles a call of an entry, in a function that is not known yet."""
    if not _called:
        event.register("numba:compile", _Compiled())
    if entry not in _called:
        _called.add(entry)
        _renew_called()  # no compilation of a caller has begun with it yet
    _is_any.set()


def any_called() -> bool:
    """Whether numba has ever compiled a call of an entry: code of the entry is then in code that
    numba holds."""
    return _is_any.is_set()


def retire_callers(retired: Iterable[Any]) -> list[Any]:
    """Make plain ``@njit`` functions that call retired code compile again; return their code."""
    past = {id(code.library): code.library for code in retired if hasattr(code, "library")}
    for each in (_retired_first, *_retired):
        each.update(past)
    found: list[Any] = []
    for caller in _plain_functions() if past else ():
        codes = list(caller.overloads.values())
        if any(_links(code, past) for code in codes):
            found.extend((*codes, *_retire(caller)))
    return found


def _retire(caller: Any) -> list[Guard]:
    """Make a caller compile again before its next call; return its guards."""
    guards = list(_guards.get(caller, {}).values())
    for guard in guards:
        guard.retire()
    _outdated.setdefault(caller, {})
    return guards


def _plain_functions() -> Iterator[Any]:
    for reference in list(numba_typing()._globals):
        caller = reference() if isinstance(reference, weakref.ref) else None
        if _is_plain(caller):
            yield caller


def _is_plain(caller: Any) -> bool:
    return is_dispatcher(caller) and not type(caller).__module__.startswith("overlay.")


def _links(code: Any, libraries: Container[int]) -> bool:
    """Whether code contains code of one of these libraries."""
    return any(each in libraries for each in _linked(code.library))


def _linked(library: Any) -> dict[int, Any]:
    """A library and all that it links, by identity."""
    found: dict[int, Any] = {}
    pending = [library]
    while pending:
        each = pending.pop()
        if id(each) not in found:
            found[id(each)] = each
            pending += each._linking_libraries
    return found


def renew_callers(entry: EntryDispatcher) -> None:
    """Make plain functions that call an entry compare the entry's present words."""
    for watched in list(_watched):
        if entry.engine in watched.engines:
            watched.renew()


def _renew_called() -> None:
    """Retire the code of entries that is out of date, before numba links it into a caller."""
    with LOCK:
        for engine in {entry.engine for entry in list(_called)}:
            if engine.rebound():
                engine.begin_anew()
    for caller in list(_outdated):
        with contextlib.suppress(Exception):  # a call of it raises the error
            _compile_again(caller)


@global_compiler_lock
def _compile_again(caller: Any) -> None:
    """Drop the retired code of a caller: numba compiles it again when it is called, or at once
    where it is limited to declared signatures.
    """
    if caller not in _outdated:
        return
    held = {**_outdated.pop(caller), **caller.overloads}
    guards = _guards.pop(caller, {})
    caller._compiler._failed_cache.clear()
    if caller._can_compile:
        caller._reset_overloads()
        return
    caller.overloads.clear()
    caller.disable_compile(False)
    try:
        for code in held.values():
            caller.compile(code.signature)
    except BaseException:
        _guards[caller], _outdated[caller] = guards, held
        caller.overloads.update(held)
        _put_in_front(caller)  # the retired guards, which try again
        caller.overloads.clear()
        raise
    finally:
        caller._can_compile = False


class _Compiled(event.Listener):
    """Listener to numba's compilations of functions."""

    def on_start(self, event: Any) -> None:
        _retired.append({})
        caller = event.data["dispatcher"]
        if _is_plain(caller) and not str(caller.py_func.__module__).startswith("numba."):
            _renew_called()

    def on_end(self, event: Any) -> None:
        with LOCK:  # code that is retired from here on finds the caller
            past = _retired.pop() if _retired else _retired_first
            caller, args = event.data["dispatcher"], event.data["args"]
            code = caller.overloads.get(tuple(args)) if _is_plain(caller) else None
            if code is None:
                return
            entries = [entry for entry in list(_called) if _calls(code, entry)]
            is_past = _links(code, past)
            if entries or is_past:
                caller._cache = NullCache()  # numba's cache checks no dependencies of entries
                _Watched(caller, code, entries).renew()
            if is_past:
                _retire(caller)


def _put_in_front(caller: Any) -> None:
    """Install the guards of a caller for calls from Python, where its codes have any."""
    guards = _guards.get(caller, {})
    caller._clear()
    for args, code in caller.overloads.items():
        guard = guards.get(code.entry_point)
        function = code.entry_point if guard is None else guard.function
        caller._insert([a._code for a in args], function, code.objectmode)


def _calls(code: Any, entry: EntryDispatcher) -> bool:
    return _links(code, {id(each.library) for each in list(entry.overloads.values())})


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

    def _words(self) -> list[Word]:
        return list(dict.fromkeys(word for engine in self.engines for word in engine.words()))

    def renew(self) -> list[Word]:
        """Compare the present words, unless one of the contexts has changed: then the code is
        retired. Returns the words."""
        with LOCK:
            words = self._words()  # first, so that the guard sees any later change
            for engine in self.engines:
                if engine.rebound():
                    engine.begin_anew()
            if not self.guard.is_retired:
                self.guard.renew(words)
            return words

    def stale(self, called: Guard, *args: Any, **kwargs: Any) -> Any:
        words, caller = self.renew(), self.caller()
        if called.is_retired:
            _compile_again(caller)
        elif ALWAYS in words:
            return called.unchecked.function(*args, **kwargs)
        return caller(*args, **kwargs)

    def failed(self, error: BaseException) -> None:
        explain(error, self.place)
