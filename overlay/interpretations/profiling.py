"""A call profiler: number and duration of calls, by function and the types of its arguments.

>>> import statistics
>>> from overlay.interpretations.profiling import profile
>>> found = profile(statistics.mean, [1, 2.5, 4])
>>> [(str(row), row.calls) for row in found.of("_exact_ratio")]
[('_exact_ratio(int)', 2), ('_exact_ratio(float)', 1)]
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any

from overlay import Context, OverlayError, Plugin
from overlay.contexts.rules_alone import runs_alone
from overlay.core.location import caller, location_of
from overlay.core.markup import code, listed, place
from overlay.core.public_names import completes, hides
from overlay.core.short_repr import counted, short_repr
from overlay.core.target import describe
from overlay.plugins.plugin import HOOKS

__all__ = ["ProfileRow", "Profiler", "profile"]
__dir__ = completes(__all__)

_ORDERS = ("own", "total", "calls")


@dataclass(eq=False)
class ProfileRow:
    """Measurements of one function with arguments of some types.

    Attributes
    ----------
    name : str
        The name by which the program calls it.
    types : tuple of str
        The names of the types of the arguments, keywords with theirs.
    where : str
        ``file:line`` of its definition, or its module.
    calls : int
        The number of calls that have ended.
    total : int
        Their duration in nanoseconds; nested calls of the same row count once.
    own : int
        Their duration in nanoseconds, without that of the calls they made.
    errors : int
        The number of calls that raised an exception.

    Examples
    --------
    >>> from overlay.interpretations.profiling import profile
    >>> (row,) = profile(lambda: abs(-1)).of("abs")
    >>> str(row), row.calls, row.errors
    ('abs(int)', 1, 0)
    """

    name: str
    types: tuple[str, ...]
    where: str
    calls: int = 0
    total: int = 0
    own: int = 0
    errors: int = 0

    def __repr__(self) -> str:
        return short_repr("ProfileRow", f"{self}: {counted(self.calls, 'call')}", self.where)

    def __str__(self) -> str:
        return f"{self.name}({', '.join(self.types)})"


@dataclass(eq=False)
class _Running:
    """A call in progress: its row, the enclosing calls, and the duration of the calls that it
    made."""

    row: ProfileRow
    around: _Running | None
    inside_itself: bool
    begin: int = 0
    below: int = 0


@hides(*HOOKS)
class Profiler(Plugin):
    """Plugin that counts and measures every call of the code that runs in a context with it.

    ``profiler(f, ...)`` runs ``f`` in a context with the profiler alone. For other contexts use
    ``Context(..., plugins=(profiler,))``.

    Parameters
    ----------
    clock : callable
        Returns the time in nanoseconds.

    Attributes
    ----------
    result : object
        The result of the last run.

    Examples
    --------
    >>> from overlay.interpretations.profiling import Profiler
    >>> profiler = Profiler()
    >>> profiler(lambda: abs(-1) + abs(2))
    3
    >>> profiler.of("abs")[0].calls
    2
    """

    shares_native_cache = True

    def __init__(self, clock: Callable[[], int] = time.perf_counter_ns) -> None:
        self.clock = clock
        self.result: Any = None
        self._rows: dict[Any, ProfileRow] = {}
        self._lock = threading.Lock()
        self._running: ContextVar[_Running | None] = ContextVar("running", default=None)

    def __call__(self, f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Run a function with profiling.

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

    # ---- measuring ----

    def around(self, callee: Any, run: Callable[..., Any]) -> Callable[..., Any]:
        begin, end, running = self._begin, self._end, self._running
        name, where = describe(callee), location_of(callee)

        def measured(*args: Any, **kwargs: Any) -> Any:
            call = begin(name, where, args, kwargs)
            token = running.set(call)
            failed = True
            call.begin = self.clock()
            try:
                result = run(*args, **kwargs)
                failed = False
                return result
            finally:
                end(call, failed)
                running.reset(token)

        return measured

    def _begin(
        self, name: str, where: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> _Running:
        key = (name, where, *map(type, args), *((n, type(v)) for n, v in kwargs.items()))
        row = self._rows.get(key)
        if row is None:
            types = [type(value).__qualname__ for value in args]
            types += [f"{n}={type(value).__qualname__}" for n, value in kwargs.items()]
            row = self._rows.setdefault(key, ProfileRow(name, tuple(types), where))
        around = outer = self._running.get()
        while outer is not None and outer.row is not row:
            outer = outer.around
        return _Running(row, around, outer is not None)

    def _end(self, call: _Running, failed: bool) -> None:
        duration = self.clock() - call.begin
        row = call.row
        with self._lock:
            row.calls += 1
            row.errors += failed
            row.own += duration - call.below
            row.total += 0 if call.inside_itself else duration
        if call.around is not None:
            call.around.below += duration

    # ---- queries ----

    @runs_alone
    def rows(self, by: str = "own") -> list[ProfileRow]:
        """The measurements, largest first.

        Parameters
        ----------
        by : {"own", "total", "calls"}
            The field to sort by.

        Returns
        -------
        list of ProfileRow
            The rows.

        Raises
        ------
        OverlayError
            There is no such field.
        """
        if by not in _ORDERS:
            raise OverlayError(
                f"rows are not sorted by {by!r}",
                where=caller(),
                help=f"sort them by one of {', '.join(map(repr, _ORDERS))}",
            )
        return sorted(self._rows.values(), key=lambda row: -getattr(row, by))

    @runs_alone
    def of(self, name: str) -> list[ProfileRow]:
        """The rows of a function, one for each combination of types.

        Parameters
        ----------
        name : str
            Its name as the table shows it, or a dotted suffix of that: ``"Fraction.__new__"``,
            ``"__new__"``.

        Returns
        -------
        list of ProfileRow
            The rows, by the number of calls, largest first.
        """
        return [row for row in self.rows("calls") if f".{row.name}".endswith(f".{name}")]

    @runs_alone
    def table(self, by: str = "own", limit: int | None = 30) -> str:
        """The measurements as text, times in milliseconds.

        Parameters
        ----------
        by : {"own", "total", "calls"}
            The field to sort by.
        limit : int or None
            The number of rows; None: all rows.

        Returns
        -------
        str
            One line for each row.
        """
        lines = [f"{'calls':>9}  {'own ms':>10}  {'total ms':>10}  function"]
        rows = self.rows(by)
        lines += [
            f"{row.calls:>9}  {row.own / 1e6:>10.3f}  {row.total / 1e6:>10.3f}  {row}   {row.where}"
            for row in rows[:limit]
        ]
        if limit is not None and len(rows) > limit:
            lines.append(f"... and {len(rows) - limit} more")
        return "\n".join(lines)

    def __str__(self) -> str:
        return self.table()

    def _run_facts(self) -> str:
        rows = list(self._rows.values())
        calls = counted(sum(row.calls for row in rows), "call")
        return f"{calls} in {counted(len(rows), 'row')}"

    def _html_parts(self) -> tuple[object, ...]:
        return (listed(("calls", "own ms", "total ms", "function", ""), self.rows(), _cells),)


def _cells(row: ProfileRow) -> tuple[object, ...]:
    own, total = (f"{time / 1e6:.3f}" for time in (row.own, row.total))
    return row.calls, own, total, code(row), place(row.where)


def profile(f: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Profiler:
    """Run a function with profiling.

    Parameters
    ----------
    f : callable
        The function to run.
    *args, **kwargs
        Its arguments.

    Returns
    -------
    Profiler
        The measurements; ``.result`` is the result of ``f``.

    Examples
    --------
    >>> from overlay.interpretations.profiling import profile
    >>> found = profile(sorted, [3, 1, 2])
    >>> found.result, found.of("sorted")[0].calls
    ([1, 2, 3], 1)
    """
    profiler = Profiler()
    profiler(f, *args, **kwargs)
    return profiler
