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
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar, Token
from dataclasses import dataclass, field
from typing import Any

from overlay import Context, Plugin
from overlay.contexts.rules_alone import runs_alone
from overlay.core.location import location_of
from overlay.core.markup import Html, code, joined, place, plain, sheet
from overlay.core.markup import tree as folding
from overlay.core.public_names import completes, hides
from overlay.core.short_repr import OneLine, counted, error_text, short_repr
from overlay.core.target import describe
from overlay.plugins.plugin import HOOKS

__all__ = ["Call", "Tracer", "trace"]
__dir__ = completes(__all__)

_LONGEST = 60  # characters of a value that is shown


@dataclass(eq=False)
class Call:
    """One call of a run.

    Attributes
    ----------
    name : str
        The name by which the program calls it.
    where : str
        ``file:line`` of the callee's definition, or its module if it is written in C.
    arguments : str
        The arguments, as shown when the call began.
    begin, end : int
        Times in nanoseconds of the tracer's clock; ``end`` is None while the call runs.
    thread : int
        The native thread id.
    result : str or None
        The result, as shown when the call ended.
    error : str or None
        The exception that it raised, as shown.
    calls : list of Call
        The calls that it made.

    Examples
    --------
    >>> from overlay.interpretations.tracing import trace
    >>> (call,) = trace(abs, -1).roots
    >>> call.name, call.arguments, call.result
    ('abs', '-1', '1')
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

    def _repr_html_(self) -> str:
        return sheet("call of", self.name, None, _folded([self]))

    @property
    def duration(self) -> int:
        """The duration in nanoseconds; 0 while the call runs."""
        return 0 if self.end is None else self.end - self.begin

    def walk(self, depth: int = 0) -> Iterator[tuple[int, Call]]:
        """Iterate over this call and all below it, in the order in which they began.

        Parameters
        ----------
        depth : int
            The depth of this call.

        Yields
        ------
        (int, Call)
            The depth of a call, and the call.
        """
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
    """Plugin that records every call of the code that runs in a context with it.

    ``tracer(f, ...)`` runs ``f`` in a context with the tracer alone. For other contexts use
    ``Context(..., plugins=(tracer,))``. Each thread that enters such a context has its own roots.

    Parameters
    ----------
    only : iterable of str or None
        Modules and packages whose functions are recorded, C functions included; None: all.
    depth : int or None
        The maximal depth of recorded calls.
    values : bool
        Whether arguments and results are shown, by their ``__repr__``.
    clock : callable
        Returns the time in nanoseconds.

    Attributes
    ----------
    roots : list of Call
        The outermost calls.
    result : object
        The result of the last run.

    Examples
    --------
    >>> from overlay.interpretations.tracing import Tracer
    >>> tracer = Tracer(only=["builtins"])
    >>> tracer(lambda: max(abs(-1), 0))
    1
    >>> [call.name for _, call in tracer.walk()]
    ['abs', 'max']
    """

    shares_native_cache = True

    @runs_alone
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
        self._shown = OneLine()
        self._shown.maxstring = self._shown.maxother = _LONGEST

    def __call__(self, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Run a function with recording.

        Parameters
        ----------
        f : callable
            The function to run.
        *args, **kwargs
            Its arguments.

        Returns
        -------
        object
            Its result, which ``result`` stores, too.
        """
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
        thread = threading.get_native_id()  # trace viewers expect 32 bits
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
            call.error = error_text(error) if self.values else type(error).__name__

    def _arguments(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        if not self.values:
            return "..." if args or kwargs else ""
        shown = [self._shown.repr(value) for value in args]
        shown += [f"{name}={self._shown.repr(value)}" for name, value in kwargs.items()]
        return ", ".join(shown)

    # ---- queries ----

    def walk(self) -> Iterator[tuple[int, Call]]:
        """Iterate over all calls, root by root.

        Yields
        ------
        (int, Call)
            The depth of a call, and the call.
        """
        for root in self.roots:
            yield from root.walk()

    @runs_alone
    def find(self, name: str) -> list[Call]:
        """The calls of a function.

        Parameters
        ----------
        name : str
            Its name as the tree shows it, or a dotted suffix of that: ``"Fraction.__new__"``,
            ``"__new__"``.

        Returns
        -------
        list of Call
            The calls, in the order in which they began.
        """
        return [call for _, call in self.walk() if f".{call.name}".endswith(f".{name}")]

    @runs_alone
    def tree(self, depth: int | None = None, *, times: bool = True) -> str:
        """The calls as text, indented below their callers.

        Parameters
        ----------
        depth : int or None
            The maximal depth shown; None: all.
        times : bool
            Whether durations are shown.

        Returns
        -------
        str
            One line for each call.
        """
        return "\n".join(
            f"{'  ' * level}{call}{_time(call) if times else ''}"
            for level, call in self.walk()
            if depth is None or level < depth
        )

    __str__ = tree

    def _run_facts(self) -> str:
        count, left = 0, list(self.roots)
        while left:
            count += 1
            left += left.pop().calls
        return counted(count, "call")

    def _html_parts(self) -> tuple[object, ...]:
        return (_folded(self.roots),)

    # ---- trace files ----

    @runs_alone
    def events(self) -> list[dict[str, Any]]:
        """The calls in Chrome's trace-event format.

        Returns
        -------
        list of dict
            Complete events, times in microseconds, and the names of the threads.
        """
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

    @runs_alone
    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a trace file, which ``chrome://tracing``, Perfetto and speedscope open.

        Parameters
        ----------
        path : path-like
            The file, which is replaced if it exists.
        """
        with open(path, "w", encoding="utf-8") as file:
            json.dump({"traceEvents": self.events(), "displayTimeUnit": "ms"}, file)


def trace(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Tracer:
    """Run a function with recording.

    Exceptions of ``f`` propagate; use a ``Tracer`` to see the calls before one.

    Parameters
    ----------
    f : callable
        The function to run.
    *args, **kwargs
        Its arguments.

    Returns
    -------
    Tracer
        The tree of its calls; ``.result`` is the result of ``f``.

    Examples
    --------
    >>> from overlay.interpretations.tracing import trace
    >>> found = trace(sorted, [2, 1])
    >>> found.result, found.find("sorted")[0].arguments
    ([1, 2], '[2, 1]')
    """
    tracer = Tracer()
    tracer(f, *args, **kwargs)
    return tracer


def _folded(calls: list[Call]) -> Html:
    """Calls as a tree that folds."""
    return folding(calls, _line, lambda call: call.calls)


def _line(call: Call) -> Html:
    return joined([code(call), plain(_time(call)), " ", place(call.where)])


def _time(call: Call) -> str:
    return "" if call.end is None else f"   {call.duration / 1000:.0f} us"
