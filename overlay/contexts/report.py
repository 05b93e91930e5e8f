"""Report of the calls in a context: the methods hit and never hit, and where calls left it."""

from __future__ import annotations

import functools
import sys
import threading
import weakref
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from overlay import _native
from overlay.core import late_binding
from overlay.core.errors import OverlayError
from overlay.core.location import is_ours, shown
from overlay.core.outline import Outline
from overlay.core.own_builtins import __builtins__
from overlay.core.short_repr import counted
from overlay.core.table import Method, MethodTable

if TYPE_CHECKING:
    from overlay.contexts.context import Context

__all__ = ["CallRecord", "Hit", "Hits", "Leaving", "Report", "calling_place", "report", "tell_left"]

_SHOWN_CALLERS = 3


@dataclass(frozen=True)
class Hit:
    """A method that calls have resolved to.

    Attributes
    ----------
    method : Method
        The method.
    calls : int or None
        The number of times that it ran; None where calls are not counted.
    callers : tuple of (str, int)
        The places that called it, as ``(file:line, calls)``, the most frequent first.
    """

    method: Method
    calls: int | None
    callers: tuple[tuple[str, int], ...] = ()

    def __str__(self) -> str:
        if self.calls is None:
            return str(self.method)
        places = [f"{calls} from {where}" for where, calls in self.callers[:_SHOWN_CALLERS]]
        rest = sum(calls for _, calls in self.callers[_SHOWN_CALLERS:])
        places += [f"{rest} from elsewhere"] if rest else []
        return f"{self.method}   {counted(self.calls, 'call')}: {', '.join(places)}"


@dataclass(frozen=True)
class Leaving:
    """A place where a call left the context.

    Attributes
    ----------
    handed : str
        The target whose own code ran without its table, or the function whose machine code did.
    to : str
        The thread in which it ran, as ``thread NAME``; ``machine code of numba`` for that.
    where : str
        ``file:line`` of the call.
    times : int
        The number of such calls.
    """

    to: str
    handed: str
    where: str
    times: int

    def __str__(self) -> str:
        in_thread = self.to.startswith("thread ")
        how = f"ran without its table in {self.to}" if in_thread else f"handed to {self.to}"
        return f"{self.handed} {how}   {self.where}   {counted(self.times, 'time')}"


@dataclass(frozen=True)
class Report:
    """Report of the calls in a context so far, the result of ``ctx.report()``.

    Attributes
    ----------
    hits : tuple of Hit
        The methods that calls have resolved to.
    never : tuple of Method
        The methods of its tables without a call.
    left : tuple of Leaving
        The places where a call left the context.
    watched : bool
        Whether calls were counted, and places where one left recorded: for contexts made with
        ``count_calls=True`` or ``strict=True``.
    """

    context: Context
    hits: tuple[Hit, ...]
    never: tuple[Method, ...]
    left: tuple[Leaving, ...]
    watched: bool

    @property
    def summary(self) -> str:
        """One line: the number of methods hit, of their calls, and of calls that left."""
        total = len(self.hits) + len(self.never)
        parts = [f"{len(self.hits)} of {counted(total, 'method')} hit"]
        if self.watched:
            parts.append(counted(sum(hit.calls or 0 for hit in self.hits), "call"))
            parts.append(f"left {counted(sum(place.times for place in self.left), 'time')}")
        return ", ".join(parts)

    def __repr__(self) -> str:
        return f"<Report: {self.summary}>"

    def __str__(self) -> str:
        return str(self.__rich__())

    def __rich__(self) -> Outline:
        """The lines of the report, each with those below it."""
        sections = ("hit", self.hits), ("never hit", self.never), ("left the context", self.left)
        below = [
            Outline(f"{title}:", tuple(Outline(str(row)) for row in rows))
            for title, rows in sections
            if rows
        ]
        if not self.watched:
            below.append(
                Outline("calls, and places where one left: Context(..., count_calls=True)")
            )
        return Outline(f"{self.context!r}: {self.summary}", tuple(below))

    def _repr_html_(self) -> str:
        return late_binding.drawing.load()(self)


class CallRecord:
    """Record of the calls made in a context; several threads may write at the same time.

    tables: the context's own; methods of other tables are not recorded. counts: whether calls are
    counted. strict: whether a call that has lost the context is an error.
    """

    def __init__(
        self, tables: tuple[MethodTable, ...], *, counts: bool = False, strict: bool = False
    ) -> None:
        self.tables = tables
        self.counts = counts
        self.strict = strict
        self._lock = threading.Lock()
        self._hits: dict[int, weakref.ref[Method]] = {}
        self._calls: dict[int, Counter[tuple[str, int]]] = {}
        self._left: Counter[tuple[str, str, str]] = Counter()

    @property
    def watches(self) -> bool:
        """Whether it records places where a call leaves."""
        return self.counts or self.strict

    def hit(self, method: Method) -> None:
        """Record that a call has resolved to this method."""
        key = id(method)
        with self._lock:
            met = self._hits.get(key)
            if met is None or met() is not method:
                self._hits[key] = weakref.ref(method, functools.partial(self._hits.pop, key))
                self._calls.pop(key, None)  # those of another method, which is gone

    def called(self, method: Method, place: tuple[str, int]) -> None:
        """Count a call of the method from a file and line."""
        with self._lock:
            self._calls.setdefault(id(method), Counter())[place] += 1

    def _called_from(self, method: Method) -> None:
        self.called(method, calling_place())

    def left(self, to: str, handed: str, where: str) -> None:
        """Count a call that has left the context: see ``Leaving``."""
        with self._lock:
            self._left[to, handed, where] += 1

    def hits(self) -> tuple[Hit, ...]:
        """The methods hit, in the order of their first hits."""
        with self._lock:
            methods = [reference() for reference in list(self._hits.values())]
            return tuple(self._hit(method) for method in methods if method is not None)

    def _hit(self, method: Method) -> Hit:
        if not self.counts:
            return Hit(method, None)
        places = self._calls.get(id(method), Counter[tuple[str, int]]())
        callers = tuple((shown(*place), calls) for place, calls in places.most_common())
        return Hit(method, places.total(), callers)

    def leavings(self) -> tuple[Leaving, ...]:
        """The places where a call left, the most frequent first."""
        with self._lock:
            return tuple(Leaving(*place, times) for place, times in self._left.most_common())

    def counting(self, method: Method, implementation: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap the implementation of a method so that each call of it is counted."""
        if _native.intercept is not None:  # the C wrapper leaves no frame
            note = functools.partial(self._called_from, method)
            return _native.intercept.Noting(implementation, note)

        def counted(*args: Any, **kwargs: Any) -> Any:
            self.called(method, calling_place())
            return implementation(*args, **kwargs)

        return counted


class Hits:
    """Reports the methods that calls resolve to, to the records of a stack's contexts.

    Records are held weakly: compiled call sites keep this object, and a record keeps methods.
    """

    def __init__(self, records: Iterable[CallRecord]) -> None:
        self._records = [weakref.ref(record) for record in records]

    @property
    def records(self) -> list[CallRecord]:
        """The records of the contexts that still exist."""
        return [record for reference in self._records if (record := reference()) is not None]

    def hit(self, method: Method, implementation: Callable[..., Any]) -> Callable[..., Any]:
        """Record that a call has resolved to ``method``; return the implementation to call, which
        counts where a record counts."""
        for record in self.records:
            if method.table not in record.tables:
                continue
            record.hit(method)
            if record.counts:
                implementation = self.counted(record, method, implementation)
        return implementation

    def counted(
        self, record: CallRecord, method: Method, implementation: Callable[..., Any]
    ) -> Callable[..., Any]:
        """Wrap the implementation of a method so that ``record`` counts each call of it."""
        return record.counting(method, implementation)


def calling_place(through: tuple[str, ...] = ()) -> tuple[str, int]:
    """The file and line of the innermost frame outside this package, and outside these others."""
    frame: Any = sys._getframe(1)
    while frame.f_back is not None and (
        is_ours(frame.f_code.co_filename)
        or str(frame.f_globals.get("__name__")).partition(".")[0] in through
    ):
        frame = frame.f_back
    return frame.f_code.co_filename, frame.f_lineno


def tell_left(
    records: Iterable[CallRecord],
    to: str,
    handed: str,
    why: str,
    remedy: str,
    through: tuple[str, ...] = (),
) -> None:
    """Record that a call has left contexts, in the records that watch for it; raise OverlayError
    where one is strict. to, handed: see ``Leaving``. why, remedy: texts of the error. through:
    packages whose frames are skipped when the place is found."""
    where = shown(*calling_place(through))
    for each in records:
        if each.watches:
            each.left(to, handed, where)
        if each.strict:
            raise OverlayError(why, where=where, help=remedy)


def report(context: Context) -> Report:
    """Report the calls in ``context`` so far, in all threads of this process.

    A method that was replaced or removed since is still among the hits. Calls in code compiled by
    ``ctx.jit`` are not recorded.
    """
    record = context.record
    hits = record.hits()
    known = {id(hit.method) for hit in hits}
    for table in context.tables:
        table.settle()
    never = [m for table in context.tables for m in table.methods() if id(m) not in known]
    return Report(context, hits, tuple(never), record.leavings(), record.watches)
