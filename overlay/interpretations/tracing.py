"""A call tracer: every call of a run as a tree, with arguments, results and times.

>>> import colorsys
>>> from overlay.interpretations.tracing import trace
>>> found = trace(colorsys.rgb_to_hls, 0.0, 0.5, 1.0)
>>> print(found.tree(times=False))
rgb_to_hls(0.0, 0.5, 1.0) -> (0.5833333333333334, 0.5, 1.0)
  max(0.0, 0.5, 1.0) -> 1.0
  min(0.0, 0.5, 1.0) -> 0.0
"""

from __future__ import annotations

import json
import os
import reprlib
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from typing import Any

from overlay import Context, Plugin
from overlay.core.location import location_of
from overlay.core.public_names import hides
from overlay.core.short_repr import short_repr
from overlay.core.target import describe
from overlay.plugins.plugin import HOOKS

__all__ = ["Call", "Tracer", "trace"]

_LONGEST = 60  # characters of a value that is shown


@dataclass(eq=False)
class Call:
    """One call of a run.

    name: of the callee, as the program calls it. where: ``file:line`` of its definition, or its
    module if it is written in C. arguments, result: as shown when the call began and ended. error:
    the exception that it raised, as shown, or None. begin, end: in nanoseconds of the tracer's
    clock; ``end`` is None while the call runs. thread: the native thread id. calls: the calls that
    it made.
    """

    name: str
    where: str
    arguments: str
    begin: int
    thread: int
    end: int | None = None
    result: str | None = None
    error: str | None = None
    calls: list[Call] = field(default_factory=list["Call"])

    def __repr__(self) -> str:
        return short_repr("Call", str(self), self.where)

    @property
    def duration(self) -> int:
        """The duration in nanoseconds; 0 while the call runs."""
        return 0 if self.end is None else self.end - self.begin

    def walk(self, depth: int = 0) -> Iterator[tuple[int, Call]]:
        """Iterate over this call and all below it with their depths, in the order in which they
        began."""
        yield depth, self
        for call in self.calls:
            yield from call.walk(depth + 1)

    def __str__(self) -> str:
        if self.error is not None:
            outcome = f"raised {self.error}"
        else:
            outcome = "still running" if self.result is None else f"-> {self.result}"
        return f"{self.name}({self.arguments}) {outcome}"


@hides(*HOOKS)
class Tracer(Plugin):
    """Records every call of the code that runs in a context with this plugin.

    only: modules and packages whose functions are recorded, C functions included; None: all. depth:
    the maximal depth of recorded calls. values: whether arguments and results are shown, by their
    ``__repr__``. clock: returns nanoseconds.

    ``tracer(f, ...)`` runs f in a context of its own; use ``Context(..., plugins=(tracer,))`` for
    other contexts. Each thread that enters such a context has its own roots. ``result``: of the
    last run of f.
    """

    shares_native_cache = True

    def __init__(
        self,
        *,
        only: Iterable[str] | None = None,
        depth: int | None = None,
        values: bool = True,
        clock: Callable[[], int] = time.perf_counter_ns,
    ) -> None:
        self.only = None if only is None else tuple(only)
        self.depth = depth
        self.values = values
        self.clock = clock
        self.roots: list[Call] = []
        self.result: Any = None
        self._threads: dict[int, str] = {}
        # the call in progress in this thread or task, and its depth
        self._running: ContextVar[tuple[Call, int] | None] = ContextVar("running", default=None)
        self._shown = reprlib.Repr()
        self._shown.maxstring = self._shown.maxother = _LONGEST

    def __call__(self, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Run f with recording and return its result, which ``result`` keeps, too."""
        self.result = Context(plugins=(self,))(f, *args, **kwargs)
        return self.result

    # ---- recording ----

    def around(self, callee: Any, run: Callable[..., Any]) -> Callable[..., Any] | None:
        if not self._is_recorded(callee):
            return None
        name, where = describe(callee), location_of(callee)
        begin, finish, running = self._begin, self._finish, self._running

        def traced(*args: Any, **kwargs: Any) -> Any:
            call, token = begin(name, where, args, kwargs)
            if call is None:
                return run(*args, **kwargs)
            try:
                result = run(*args, **kwargs)
            except BaseException as error:
                finish(call, None, error)
                raise
            else:
                finish(call, result, None)
                return result
            finally:
                running.reset(token)

        return traced

    def _is_recorded(self, callee: Any) -> bool:
        if self.only is None:
            return True
        holder = getattr(callee, "__objclass__", callee)
        module = str(getattr(holder, "__module__", None) or "builtins")
        return any(module == name or module.startswith(f"{name}.") for name in self.only)

    def _begin(
        self, name: str, where: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Call | None, Any]:
        around = self._running.get()
        depth = 0 if around is None else around[1] + 1
        if self.depth is not None and depth >= self.depth:
            return None, None
        thread = threading.get_native_id()  # trace viewers want 32 bits
        self._threads.setdefault(thread, threading.current_thread().name)
        call = Call(name, where, self._arguments(args, kwargs), 0, thread)
        (self.roots if around is None else around[0].calls).append(call)
        token: Token[Any] = self._running.set((call, depth))
        call.begin = self.clock()
        return call, token

    def _finish(self, call: Call, result: Any, error: BaseException | None) -> None:
        call.end = self.clock()
        if error is None:
            call.result = self._shown.repr(result) if self.values else "..."
        else:
            call.error = f"{type(error).__name__}: {error}" if self.values else type(error).__name__

    def _arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        if not self.values:
            return "..." if args or kwargs else ""
        shown = [self._shown.repr(value) for value in args]
        shown += [f"{name}={self._shown.repr(value)}" for name, value in kwargs.items()]
        return ", ".join(shown)

    # ---- queries ----

    def walk(self) -> Iterator[tuple[int, Call]]:
        """Iterate over all calls with their depths, root by root."""
        for root in self.roots:
            yield from root.walk()

    def find(self, name: str) -> list[Call]:
        """The calls of a function, by its name as the tree shows it or a dotted suffix of that:
        ``"Fraction.__new__"``, ``"__new__"``."""
        return [call for _, call in self.walk() if f".{call.name}".endswith(f".{name}")]

    def tree(self, depth: int | None = None, *, times: bool = True) -> str:
        """The calls as text, indented below their callers. depth: the maximal depth shown. times:
        whether durations are shown."""
        return "\n".join(
            f"{'  ' * level}{call}{_time(call) if times else ''}"
            for level, call in self.walk()
            if depth is None or level < depth
        )

    __str__ = tree

    # ---- trace files ----

    def events(self) -> list[dict[str, Any]]:
        """The calls in Chrome's trace-event format: complete events, times in microseconds."""
        process = os.getpid()
        found: list[dict[str, Any]] = [
            {"name": "thread_name", "ph": "M", "pid": process, "tid": tid, "args": {"name": name}}
            for tid, name in self._threads.items()
        ]
        for _, call in self.walk():
            shown = {"arguments": call.arguments, "defined": call.where}
            shown |= {"result": call.result} if call.error is None else {"error": call.error}
            place = {"pid": process, "tid": call.thread, "cat": "call"}
            times = {"ts": call.begin / 1000, "dur": call.duration / 1000}
            found.append({"name": call.name, "ph": "X", **times, **place, "args": shown})
        return found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a trace file, which ``chrome://tracing``, Perfetto and speedscope open."""
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": self.events(), "displayTimeUnit": "ms"}, file)


def trace(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Tracer:
    """Run ``f(*args, **kwargs)`` and return the tracer with the tree of its calls; ``.result`` is
    the result of f. Exceptions of f propagate; to see the calls then, use a ``Tracer``."""
    tracer = Tracer()
    tracer(f, *args, **kwargs)
    return tracer


def _time(call: Call) -> str:
    return "" if call.end is None else f"   {call.duration / 1000:.0f} us"
