"""The Python engine: runs ordinary code under a stack of contexts.

Each function that is called is replaced, for the call alone, by its *twin*: a function with
the same globals, closure and defaults whose code asks the callee map at every call. The
program only ever holds its own objects.
"""

from __future__ import annotations

import functools
import gc
import operator
import types
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FunctionType
from typing import TYPE_CHECKING, Any

from overlay.code.own_builtins import __builtins__  # noqa: F401
from overlay.dispatch import types_for
from overlay.errors import OverlayError
from overlay.jitted import can_compile, is_dispatcher, without_compiling
from overlay.location import shown
from overlay.plugin import asks_at_calls, refuse_stages, surrounds
from overlay.python.callees import Callees, Passing
from overlay.python.dispatcher import Dispatcher
from overlay.python.emit import emitter
from overlay.python.entering import entering
from overlay.python.kept import WeakObjects, limited
from overlay.python.leaving import Watch
from overlay.python.rewrite import Rewriter
from overlay.python.site import Site
from overlay.python.twins import Family, copied
from overlay.python.unseen import follow_profiler, unobserved
from overlay.stack import current_stack, entered
from overlay.table import LOCK, Method
from overlay.target import IN_PLACE_OF, LRU_CACHE, key_of_target

if TYPE_CHECKING:
    from overlay.compiled.calls import Body
    from overlay.context import Context, Stack

__all__ = ["Link", "PythonEngine"]

_OPERATORS = {id(f): f for f in vars(operator).values() if isinstance(f, types.BuiltinFunctionType)}
# how often a method must stand in the last frames of a RecursionError to be named in it
_FRAMES, _REPEATS = 40, 5
_MOST_PASSING = 1000
_MET_IN = 50
_OLDEST = len(gc.get_count()) - 1  # generation


@dataclass(frozen=True)
class Link:
    """A place in a chain of methods: the target that was called, and the methods that the
    call has come through, the last of them running."""

    target: Any
    methods: tuple[Method, ...]

    def wraps(self, function: FunctionType) -> bool:
        """Whether the running method is ``function`` inside decorators."""
        inner: Any = self.methods[-1].function
        while inner is not function and (inner := getattr(inner, "__wrapped__", None)) is not None:
            pass
        return inner is function

    def key(self) -> tuple[Any, ...]:
        """Tells links apart by identity."""
        return (key_of_target(self.target), *map(id, self.methods))


class PythonEngine:
    """Callee map, twins and dispatchers for one stack of contexts. Kept as long as the stack.

    It listens to its tables: a change takes effect at the next call, also of code that is
    running; a first overlay of an operator takes effect at the next call of a function.

    Rewritten code holds its sites, and they the engine, and code objects take no part in garbage
    collection. So the engine must not keep the stack alive, and when the stack is gone it drops
    all that it has kept, and keeps nothing more: a generator that is still running goes on,
    slower, and the engine goes with it.
    """

    pins = False  # generators and coroutines that are rewritten run in the stack by themselves

    def __init__(self, stack: Stack) -> None:
        self._stack = weakref.ref(stack)
        self._context = weakref.ref(stack.context)
        self._as_context = stack.context.metadata, stack.context.state, stack.context.plugins
        self.plugins = stack.plugins
        self.surrounds = any(surrounds(plugin) for plugin in stack.plugins)
        self.asks = any(asks_at_calls(plugin) for plugin in stack.plugins)
        self.released = False
        self.tables = stack.tables
        self.watch = Watch(self, stack.records)
        self.overlaid: set[Any] = set()
        self.overlaid_codes: set[int] = set()
        self.overlaid_kinds: set[int] = set()  # classes of targets
        self.caches = False  # whether functions with caches are known
        self.met = 0  # callees that came since what was dropped was last forgotten
        self.changes = 0  # how often all that was found has been forgotten
        self.emitter = emitter()
        self.callees = Callees(self, None)
        self._linked: dict[Any, Callees] = {}
        self._dispatchers: dict[Any, Dispatcher] = {}
        self._codes: dict[tuple[int, int], tuple[Any, CodeType | None]] = {}
        self._rewritten: dict[int, weakref.ref[CodeType]] = {}
        self._link_of_code: dict[int, tuple[CodeType, Callees]] = {}
        self._method_of_code: dict[int, tuple[CodeType, Method]] = {}
        self._sites = WeakObjects[Site]()
        # by id, a twin, its function, and the callee map that the twin asks
        self._twins: dict[int, tuple[Any, Any, Callees]] = {}
        # Functions as they were when they were rewritten: changed in place, they are again.
        self._seen: dict[int, tuple[weakref.ref[FunctionType], tuple[Any, ...]]] = {}
        self._for_this_run: list[Site | Passing | Family] = []
        self._for_whole_run: list[Passing] = []
        _engines.add(self)
        with LOCK:
            for table in self.tables:
                table.listen(self)
            self.settle()
            self._refresh()

    def release(self) -> None:
        """Drop all that was kept; the stack is gone."""
        with LOCK:
            self.released = True
            self.changes += 1
            for site in self._sites:
                site.reset()
            for callees in (self.callees, *self._linked.values()):
                callees.forget()
            for dispatcher in self._dispatchers.values():
                dispatcher.forget()
            for kept in (self._codes, self._method_of_code, self._dispatchers, self._seen):
                kept.clear()

    def for_this_run(self, holder: Site | Passing | Family) -> bool:
        """Whether something may be kept that the program may drop: it is reset in ``leave``,
        or when very much of it has come together."""
        if self.released:
            return False
        self._for_this_run.append(holder)
        if len(self._for_this_run) > _MOST_PASSING:
            self._leave(ended=False)
        return True

    def for_whole_run(self, holder: Passing) -> bool:
        """The same for what a program would notice if it came anew in the middle of a run."""
        if not self.released:
            self._for_whole_run.append(holder)
        return not self.released

    @unobserved
    def leave(self) -> None:
        """The outermost run has ended: forget the callees that would outlive the program's
        own references to them."""
        self._leave(ended=True)

    def _leave(self, ended: bool) -> None:
        if self.met * _MET_IN >= len(self._sites) and self.met:
            with LOCK:
                self._forget_dropped()
        self.forget_run(ended)

    def forget_run(self, ended: bool = True) -> None:
        """Keep nothing of what may be kept while the run lasts. ended: whether it is over."""
        if self._for_this_run or (ended and self._for_whole_run):
            with LOCK:
                holders, self._for_this_run = self._for_this_run, []
                if ended:
                    holders += self._for_whole_run
                    self._for_whole_run = []
                for holder in holders:
                    holder.reset()

    def lend(self) -> list[tuple[PythonEngine, Passing, weakref.ref[Any]]]:
        """Keep nothing of what a run keeps, while garbage is looked for."""
        self.forget_run(ended=False)
        passing, self._for_whole_run = self._for_whole_run, []
        lent = [(self, each, each.lend()) for each in passing]
        return [(engine, each, callee) for engine, each, callee in lent if callee is not None]

    def take_back(self, passing: Passing, callee: Any) -> None:
        """Keep again what was no garbage."""
        passing.take_back(callee)
        if not self.for_whole_run(passing):
            passing.reset()

    def _forget_dropped(self) -> None:
        """Keep nothing of functions and classes that their modules do not hold any more."""
        self.met = 0
        for callees in (self.callees, *self._linked.values()):
            callees.forget_dropped()
        for site in self._sites:
            if site.lasting and not site.callees.lasts(site.pair[0]):
                site.reset()

    def check_functions(self, names: bool = False) -> None:
        """Forget what stands for functions whose code, defaults or names were changed in place.

        So at each entry, and wherever code in the context may have made such a change, which
        also may be one of names.
        """
        if names:
            self.forget_run(ended=False)  # functions that are made anew are not among those seen
        for reference, parts in list(self._seen.values()):
            function = reference()
            code, defaults, keywords, *_ = parts
            if function is not None and (
                function.__code__ is not code
                or function.__defaults__ is not defaults
                or function.__kwdefaults__ is not keywords
                or (names and _parts(function)[3:] != parts[3:])
            ):
                self._seen.pop(id(function), None)
                self._forget_all()

    def _forget_all(self) -> None:
        """Look everything up again: what stands for a callee may hold what stands for others."""
        with LOCK:
            self.changes += 1  # before anything goes: another thread may be about to keep it
            for callees in (self.callees, *self._linked.values()):
                callees.known.clear()
            for site in self._sites:
                site.reset()
            for dispatcher in self._dispatchers.values():
                dispatcher.forget()

    # ---- entering ----

    @property
    def stack(self) -> Stack:
        """The stack, or one like it where it is gone."""
        from overlay.context import Stack

        return self._stack() or Stack(self.current(), self.tables)

    def current(self) -> Context:
        """What ``current_context()`` gives in code of this engine."""
        return self._context() or self._context_anew()

    def _context_anew(self) -> Context:
        from overlay.context import Context

        metadata, state, plugins = self._as_context
        return Context(*reversed(self.tables), plugins=plugins, metadata=metadata, state=state)

    @unobserved
    def enter(self, function: Any) -> Any:
        """What to call in place of ``function`` at the start of a run."""
        self._refuse(function)
        self._prepare()
        return self.callees[function]

    @unobserved
    def enter_base(self, function: Any) -> Any:
        """The same, where no method is looked up for ``function`` itself."""
        self._refuse(function)
        self._prepare()
        return self.callees.base(function)[0]

    def _refuse(self, function: Any) -> None:
        """Raise OverlayError for plugins that mean nothing to interpreted code, if it is that."""
        if self.plugins and not is_dispatcher(function):
            refuse_stages(self.plugins, function)

    def _prepare(self) -> None:
        self.check_functions()
        follow_profiler()

    def prepared(self, piece: CodeType, namespace: dict[str, Any]) -> CodeType:
        """The code to run in the place of top-level code."""
        return self.rewritten(piece, namespace, self.callees)

    def enter_inner(self, context: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """A context called inside this one: its tables go on top of these."""
        stack = self.stack
        if current_stack() is stack:
            return context(*args, **kwargs)
        with entered(stack):
            return context(*args, **kwargs)

    def compiled(self, dispatcher: Any) -> Any:
        """A numba dispatcher, compiled anew under these tables; or interpreted, with a warning,
        where numba's internals are not known."""
        if can_compile():
            return self.stack.compiled.jit(dispatcher)
        return self.callees[without_compiling(dispatcher)]

    def kernel(self, kernel: Any) -> Any:
        """A ufunc that numba made, with its function compiled anew under these tables."""
        return self.stack.joined.compiled.kernel(kernel)

    # ---- changes of tables ----

    def settle(self) -> None:
        """Find targets whose modules have been imported since."""
        for table in self.tables:
            if table.pending:
                table.settle()

    def table_changed(self, target: Any) -> None:
        """Drop what depended on the methods of ``target``."""
        with LOCK:
            for dispatcher in self._dispatchers.values():
                dispatcher.forget()
            if self.caches:
                self._forget_results()
            self._forget_removed(target)
            before = key_of_target(target) in self.overlaid
            if before and any(target in table for table in self.tables):
                return
            self._refresh()
            self._forget_all()
            if id(target) in _OPERATORS:
                self._rewrite_all()

    def _forget_results(self) -> None:
        """Cached functions have to find their results anew."""
        self.caches = False
        for callees in (self.callees, *self._linked.values()):
            found = [entry.of() for entry in list(callees.known.values())]
            for cached in (callee for callee in found if type(callee) is LRU_CACHE):
                del callees.known[id(cached)]
                for site in self._sites:
                    site.forget(cached)

    def _forget_removed(self, target: Any) -> None:
        """Keep nothing of methods for ``target`` that no table has any more."""

        def is_gone(method: Method) -> bool:
            return method not in method.table.find(method.target)

        def gone(callees: Callees) -> bool:
            link = callees.link
            return link is not None and link.target is target and any(map(is_gone, link.methods))

        removed = {key: callees for key, callees in self._linked.items() if gone(callees)}
        if not removed:
            return
        for key in removed:
            del self._linked[key]
            self._dispatchers.pop(key, None)
        maps = set(map(id, removed.values()))
        for key in [key for key in self._codes if key[1] in maps]:
            del self._codes[key]
        for kept in (self._method_of_code, self._link_of_code):
            for key, (_, of) in list(kept.items()):
                if gone(of) if isinstance(of, Callees) else is_gone(of):
                    del kept[key]

    def _refresh(self) -> None:
        targets = [target for table in self.tables for target in table.targets()]
        codes = {id(target.__code__) for target in targets if type(target) is FunctionType}
        keys = set(map(key_of_target, targets))
        inplace = {id(IN_PLACE_OF[key]) for key in keys if key in IN_PLACE_OF}
        self.overlaid, self.overlaid_codes = keys | inplace, codes
        self.overlaid_kinds = set(map(id, map(type, targets)))

    def _rewrite_all(self) -> None:
        self._codes.clear()
        for callees in (self.callees, *self._linked.values()):
            callees.forget()
        for twin_of, function_of, callees in list(self._twins.values()):
            twin, original = twin_of(), function_of()
            if twin is not None and original is not None:
                namespace = original.__globals__
                twin.__code__ = self.rewritten(original.__code__, namespace, callees)

    # ---- methods ----

    def dispatcher(self, target: Any, link: Link | None = None) -> Dispatcher:
        """The dispatcher of a target, or of ``call_next`` below a link."""
        key = key_of_target(target) if link is None else link.key()
        found = self._dispatchers.get(key)
        if found is not None:
            return found
        with LOCK:  # a second one would not hear of changes
            found = self._dispatchers.get(key) or Dispatcher(self, target, link)
            if not self.released:
                self._dispatchers[key] = found
        return found

    def next_of(self, link: Link) -> Callable[..., Any]:
        """What ``call_next`` stands for in the code of a link."""
        return self.dispatcher(link.target, link).generic

    def implementation(
        self,
        target: Any,
        method: Method,
        after: tuple[Method, ...],
        args: tuple[Any, ...],
        instead: Callable[..., Any] | None = None,
    ) -> Callable[..., Any]:
        """The function to run for a method: its body in the context, with its own call_next.
        instead: what runs in the place of its function."""
        function = instead or method.implementation(types_for(method, args))
        return method.adapted(self._entered(target, method, after, function), function, len(args))

    def _entered(
        self, target: Any, method: Method, after: tuple[Method, ...], function: Any
    ) -> Callable[..., Any]:
        link = Link(target, (*after, method))
        callees = self._callees_of(link)
        if is_dispatcher(function) and not can_compile():
            function = without_compiling(function)
        if is_dispatcher(function):
            return self.stack.compiled.jit_method(function, target, link.methods)
        if type(function) is not FunctionType:
            return callees[function]
        return self._twin_of_method(function, link)

    def _twin_of_method(self, function: FunctionType, link: Link) -> Callable[..., Any]:
        twin = self.twin(function, self._callees_of(link))
        if not self.released:
            self._method_of_code[id(twin.__code__)] = twin.__code__, link.methods[-1]
        return entering(self, function, twin, link) if self.asks else twin

    def interpreted(self, function: FunctionType, body: Body | None) -> Callable[..., Any]:
        """What runs a function that numba compiles, where it is given values that only
        interpreted code knows. body: which method's it is; None where it is none's."""
        if body is None:
            return self.callees.base(function)[0]
        return self._twin_of_method(function, Link(body.target, body.methods))

    def entered_twin(self, function: FunctionType, link: Link | None) -> Any:
        """The twin of a function that the plugins have entered, in the place of a method where
        ``link`` says of which."""
        return self.twin(function, None if link is None else self._callees_of(link))

    def _callees_of(self, link: Link) -> Callees:
        return self._linked.setdefault(link.key(), Callees(self, link))

    # ---- twins ----

    def twin(self, function: FunctionType, callees: Callees | None = None) -> FunctionType:
        """The function to run in place of ``function``: itself where nothing needs rewriting."""
        code = function.__code__
        if callees is None:
            owner = self._link_of_code.get(id(code))
            callees = self.callees if owner is None else owner[1]
        new = self.rewritten(code, function.__globals__, callees)
        if not self.released:
            key = id(function)
            gone = weakref.ref(function, functools.partial(self._seen.pop, key))
            self._seen[key] = gone, _parts(function)
        if new is code:
            return function
        twin = copied(function, new)
        made = id(twin)
        reference = weakref.ref(twin, functools.partial(self._twins.pop, made))
        self._twins[made] = reference, weakref.ref(function), callees
        return twin

    def rewritten(self, code: CodeType, namespace: dict[str, Any], callees: Callees) -> CodeType:
        key = id(code), id(callees)
        entry = self._codes.get(key)
        if entry is not None and entry[0]() is code:
            return entry[1] or code
        made = self._rewritten.get(id(code))
        if made is not None and made() is code:
            return code
        with LOCK:
            rewriter = Rewriter(
                self.emitter,
                lambda *shape: self._site(callees, *shape),
                self._operator,
                lambda nested: self._nested(nested, callees),
                overlaid=lambda function: key_of_target(function) in self.overlaid,
                changed=unobserved(functools.partial(self.check_functions, names=True)),
                operators=not _OPERATORS.keys().isdisjoint(self.overlaid),
                local=not self.plugins,  # which are asked at each call
            )
            try:
                new = rewriter.rewrite(code, namespace)
            except (LookupError, TypeError, ValueError) as error:
                raise OverlayError(
                    f"the code of {code.co_qualname} cannot be rewritten: {error!r}",
                    where=shown(code.co_filename, code.co_firstlineno),
                    help="call it by nonoverlay(f)(...); code made by CPython itself can be",
                ) from error
            if not self.released:
                gone = weakref.ref(code, functools.partial(self._codes.pop, key))
                limited(self._codes)[key] = gone, None if new is code else new
            if new is not code:
                known = id(new)
                ours = weakref.ref(new, functools.partial(self._rewritten.pop, known))
                self._rewritten[known] = ours
        return new

    def _site(self, callees: Callees, *shape: Any) -> Site:
        site = Site(callees, *shape)
        self._sites.add(site)
        return site

    def _operator(self, function: Any) -> Callable[..., Any] | None:
        if id(function) not in self.overlaid:
            return None
        return self.dispatcher(function).generic

    def _nested(self, code: CodeType, callees: Callees) -> CodeType:
        """A function defined inside a method belongs to the method: its code is copied, so
        that it can be told from the same code reached in another way."""
        if callees.link is None:
            return code
        copy = code.replace()
        self._link_of_code[id(copy)] = copy, callees
        return copy

    # ---- errors ----

    @unobserved
    def explain_recursion(self, error: RecursionError) -> None:
        """Add a note where a method that calls its own target ran out of stack."""
        trace, frames = error.__traceback__, list[CodeType]()
        while trace is not None:
            frames.append(trace.tb_frame.f_code)
            trace = trace.tb_next
        recent = [id(code) for code in frames[-_FRAMES:]]
        for key, (_, method) in self._method_of_code.items():
            if recent.count(key) >= _REPEATS:
                error.add_note(
                    f"method {method!r} reaches its own target again; "
                    "to go on below it, use call_next(...) or nonoverlay(f)(...)"
                )
                return


_engines = WeakObjects[PythonEngine]()
_lent: list[tuple[PythonEngine, Passing, weakref.ref[Any]]] = []


@unobserved
def _before_collection(phase: str, info: dict[str, int]) -> None:
    """A function that refers to itself is held by what stands for it: where all garbage is
    looked for, this must not be kept, or for a cache by nothing but the cache that it stands
    for. Whatever else holds the lock is not waited for."""
    if phase == "stop":
        while _lent:
            engine, passing, reference = _lent.pop()
            callee = reference()
            if callee is not None:
                engine.take_back(passing, callee)
    elif info["generation"] == _OLDEST and LOCK.acquire(blocking=False):
        try:
            for engine in _engines:
                _lent.extend(engine.lend())
        finally:
            LOCK.release()


gc.callbacks.append(_before_collection)


def _parts(function: FunctionType) -> tuple[Any, ...]:
    """What a twin has from its function when it is made."""
    code, defaults, keywords = function.__code__, function.__defaults__, function.__kwdefaults__
    return code, defaults, keywords, function.__name__, function.__qualname__
