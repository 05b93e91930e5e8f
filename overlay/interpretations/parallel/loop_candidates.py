"""Loops that run while workers make their future calls speculatively.

The result of a speculative call is used only if the program then makes the same call: the same
function, equal arguments, and everything that the function reads unchanged.
"""

from __future__ import annotations

import builtins
import itertools
import math
import os
import pickle
import queue
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from overlay import nonoverlay
from overlay.core.short_repr import counted
from overlay.interpretations.parallel.data_kinds import DataKind
from overlay.interpretations.parallel.loop_data import (
    NotPlain,
    check,
    is_immutable,
    same,
    snapshot,
)
from overlay.interpretations.parallel.purity import prove
from overlay.interpretations.parallel.purity_proof import NotProved, Proof, plain_function
from overlay.interpretations.parallel.rewriting import AHEAD, LoopSite
from overlay.interpretations.parallel.shipping import CannotShip, packed
from overlay.interpretations.parallel.workers import Results, begin, in_processes, in_threads

__all__ = ["Helper", "LoopReport", "Options"]

_numbers = itertools.count()
_SHORTEST = 20e-6
"""The minimal duration, in seconds, of a call worth making ahead, which itself costs nearly as
much."""
_TIMED = 2
"""The number of calls that are made here and timed; the first one may be slow."""


class Options(NamedTuple):
    """Options of speculative calls. workers: the number of concurrent calls. least: the minimal
    duration of all calls of a loop, in seconds, below which none are made ahead."""

    workers: int
    least: float


@dataclass
class LoopReport:
    """Statistics on the calls of a loop.

    Attributes
    ----------
    where : str
        ``file:line``.
    calls : tuple of str
        The functions that it calls.
    reason : str or None
        The reason why calls were made sequentially.
    ahead, one_by_one : int
        The numbers of calls made ahead and sequentially.
    workers : set of int
        The threads or processes that made calls.

    Examples
    --------
    >>> from overlay.interpretations.parallel import LoopReport
    >>> print(LoopReport("model.py:3", ("square",), None, one_by_one=4))
    model.py:3  square: one by one: it made few calls
    """

    where: str
    calls: tuple[str, ...]
    reason: str | None
    ahead: int = 0
    one_by_one: int = 0
    workers: set[int] = field(default_factory=set[int])

    def __str__(self) -> str:
        calls = ", ".join(self.calls) or "no calls"
        if self.ahead:
            who = counted(len(self.workers), "worker")
            then = "" if self.reason is None else f"; then one by one: {self.reason}"
            ahead = f"{counted(self.ahead, 'call')} by {who}"
            return f"{self.where}  {calls}: {ahead}, {self.one_by_one} here{then}"
        why = self.reason or ("it made few calls" if self.one_by_one else "it did not run")
        return f"{self.where}  {calls}: one by one: {why}"


class Helper:
    """The run-time support of a function's rewritten loops. It also has the builtins that are
    called ahead."""

    def __init__(self, sites: list[LoopSite], options: Options) -> None:
        self.sites = sites
        self.options = options
        self.reports: dict[int, LoopReport] = {}
        self.plain = nonoverlay(_plain)
        for name in AHEAD:
            setattr(self, name, getattr(builtins, name))

    def report(self, number: int) -> LoopReport:
        """The report of a loop."""
        if number not in self.reports:
            site = self.sites[number]
            self.reports[number] = LoopReport(site.where, site.calls, site.reason)
        return self.reports[number]

    def loop(
        self,
        number: int,
        iterable: Iterable[Any],
        items: Callable[[], Iterable[Any]],
        calls: Callable[[Any], list[Any]],
    ) -> Iterator[tuple[Any, Any]]:
        """The items of a loop, each with the list of wrappers for its calls."""
        report = self.report(number)
        loop = _Loop(len(report.calls), items, calls, report, self.options)
        try:
            for item in iterable:
                loop.place += 1
                yield item, loop.asked
        finally:
            loop.end()


def _plain(value: Any) -> Any:
    """A value, after a check that it is plain data."""
    check(value)
    return value


class _Entry(NamedTuple):
    """A speculative call: its callee and arguments, and the place of its result."""

    callee: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    chunk: Future[Results]
    place: int


class _Loop:
    """One run of a loop. place: the index of the iteration. asked: for each call of the loop a
    wrapper, used as ``asked[0](callee)(*args)``, or None once no more calls are made ahead."""

    def __init__(
        self,
        count: int,
        items: Callable[[], Iterable[Any]],
        calls: Callable[[Any], list[Any]],
        report: LoopReport,
        options: Options,
    ) -> None:
        self.place = -1
        self.calls = [_MadeAhead(self, k, items, calls, report, options) for k in range(count)]
        self.asked: list[Any] = [nonoverlay(each.of) for each in self.calls]

    def end(self) -> None:
        """Cancel the calls that have not begun, when the loop is left."""
        for each in self.calls:
            each.end()


class _MadeAhead:
    """The speculative calls of one call site in a loop. proof: the proof that they are valid; None
    if there is none yet, or no more calls are made ahead."""

    def __init__(
        self,
        loop: _Loop,
        number: int,
        items: Callable[[], Iterable[Any]],
        calls: Callable[[Any], list[Any]],
        report: LoopReport,
        options: Options,
    ) -> None:
        self.loop = loop
        self.number = number
        self.items = items
        self.calls = calls
        self.report = report
        self.options = options
        self.seconds: list[float] = []
        self.asked_for: Any = None
        self.reached = nonoverlay(self.made)
        self.uses_processes = False
        self.lookahead_error: Exception | None = None
        self.proof: Proof | None = None
        self.entries: dict[int, _Entry] = {}
        self.coming: Iterator[tuple[int, Any]] = iter(())
        self.chunks: list[Future[Results]] = []
        self.size = 1
        self.submit: Callable[[list[Any]], Future[Results]] | None = None

    def of(self, callee: Any) -> Any:
        """Return the function that gives the result of a call of this callee."""
        self.asked_for = callee
        return self.reached

    def made(self, /, *args: Any, **kwargs: Any) -> Any:
        """The result of the call that the program makes now."""
        place, callee = self.loop.place, self.asked_for
        if self.proof is None:
            return self._timed(place, callee, args, kwargs)
        entry = self.entries.pop(place, None)
        self._fill()
        if entry is not None:
            found = self._result(entry, callee, args, kwargs)
            if found is not None:
                self.report.ahead += 1
                return found[0]
        self.report.one_by_one += 1
        return callee(*args, **kwargs)

    def _result(
        self, entry: _Entry, callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any] | None:
        """The result of the speculative call; None if it is not the call made now."""
        if self.proof is None:  # stopped in the meantime
            return None
        if entry.callee is not callee or not self.proof.holds():
            self.stop(f"{self.report.calls[self.number]} or what it reads was bound anew")
            return None
        try:
            worker, results = entry.chunk.result()
        except (CancelledError, EOFError, OSError, queue.Empty, pickle.PickleError):
            self.stop("a worker ended")
            return None
        if not (same(entry.args, args) and same(entry.kwargs, kwargs)):
            self.stop("the arguments were others than could be told before")
            return None
        self.report.workers.add(worker)
        return results[entry.place]

    def stop(self, reason: str) -> None:
        """Make no more calls ahead, and report the reason."""
        self.report.reason = reason
        self.proof = None
        self.loop.asked[self.number] = None
        self.end()

    def end(self) -> None:
        for chunk in self.chunks:
            chunk.cancel()
        self.chunks.clear()

    # ---- the first calls ----

    def _timed(self, place: int, callee: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Make one of the first calls here, to estimate the duration of the others."""
        self.report.one_by_one += 1
        start = time.perf_counter()
        found = callee(*args, **kwargs)
        self.seconds.append(time.perf_counter() - start)
        if len(self.seconds) < _TIMED:
            return found
        try:
            self._begin(place, callee, args, kwargs, min(self.seconds))
        except (NotProved, CannotShip) as error:
            self.stop(str(error))
        except NotPlain as error:
            self.stop(f"its calls are given an object of the class {error}")
        return found

    def _begin(
        self,
        place: int,
        callee: Any,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        seconds: float,
    ) -> None:
        if seconds < _SHORTEST and self.options.least > 0:
            self.stop("its calls take too little time")
            return
        self.coming = self._told(place)
        seconds = max(seconds, 1e-7)
        self.size = max(1, int(0.005 / seconds))
        enough = math.ceil(self.options.least / seconds)
        some = list(itertools.islice(self.coming, max(1, enough)))
        if not some and isinstance(self.lookahead_error, NotPlain):
            raise self.lookahead_error
        if not some or len(some) < enough:
            self.stop("its calls take too little time")
            return
        self.size = min(self.size, 1 + len(some) // self.options.workers)
        self.coming = itertools.chain(some, self.coming)
        kinds = [_kind(each) for each in args]
        named = {name: _kind(each) for name, each in kwargs.items()}
        proof = prove(callee, tuple(kinds), named)
        self.report.reason = None
        if proof.kind > DataKind.NEW:
            raise NotProved(f"{self.report.calls[self.number]} may give what it was given")
        self.submit = self._submitter(callee, proof, (*args, *kwargs.values()))
        self.kinds = kinds, named
        self.callee = callee
        self.proof = proof
        self._fill()

    def _submitter(
        self, callee: Any, proof: Proof, given: tuple[Any, ...]
    ) -> Callable[[list[Any]], Future[Results]]:
        """The function that submits calls: to threads if numba compiled the callee without the GIL,
        else to processes."""
        workers = self.options.workers
        function = plain_function(callee)
        assert function is not None
        if callee is not function:
            if not callee.targetoptions.get("nogil"):
                raise NotProved(f"{function.__name__} is compiled without nogil=True")
            if callee.targetoptions.get("parallel"):
                raise NotProved(f"{function.__name__} is compiled for several cores itself")
            return lambda calls: in_threads(workers, callee, calls)
        if proof.sets or any(map(_has_sets, given)):
            raise NotProved(f"{function.__name__} makes sets, which have an order of their own")
        self.uses_processes = True
        number, data = next(_numbers), pickle.dumps(packed(function, proof))
        return lambda calls: in_processes(workers, number, data, calls)

    # ---- speculative calls ----

    def _told(self, place: int) -> Iterator[tuple[int, Any]]:
        """The calls of later iterations, as far as they can be predicted, each with its iteration's
        index."""
        try:
            for turn, item in enumerate(self.items()):
                for calls in self.calls(item):
                    if turn > place:
                        yield turn, calls[self.number]
        except Exception as error:  # the program raises it itself when it gets there
            self.lookahead_error = error

    def _fill(self) -> None:
        """Submit calls until all workers have some."""
        self.chunks = [chunk for chunk in self.chunks if not chunk.done()]
        if self.uses_processes and not begin(self.options.workers):
            return  # the processes are starting; until then calls are made here
        while len(self.chunks) <= 2 * self.options.workers:
            if not self._hand_out(list(itertools.islice(self.coming, self.size))):
                return

    def _hand_out(self, told: list[tuple[int, Any]]) -> bool:
        """Submit the calls that match the proof, and return whether none of them was rejected."""
        calls: list[tuple[int, Any]] = []
        for turn, (callee, args, kwargs) in told:
            if turn <= self.loop.place:
                continue  # the call was already made here
            try:
                given = snapshot(args), snapshot(kwargs)
            except NotPlain:
                break
            if callee is not self.callee or not self._is_proved_for(*given):
                break
            calls.append((turn, given))
        if not calls or self.submit is None:
            return bool(told) and told[-1][0] <= self.loop.place
        chunk = self.submit([given for _, given in calls])
        self.chunks.append(chunk)
        for place, (turn, (args, kwargs)) in enumerate(calls):
            self.entries[turn] = _Entry(self.callee, args, kwargs, chunk, place)
        return calls[-1][0] == told[-1][0]

    def _is_proved_for(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
        kinds, named = self.kinds
        if len(args) != len(kinds) or kwargs.keys() != named.keys():
            return False
        known = [*zip(args, kinds, strict=True), *((kwargs[n], k) for n, k in named.items())]
        return all(_kind(value) <= kind and not _has_sets(value) for value, kind in known)


def _kind(value: Any) -> DataKind:
    if is_immutable(value):
        return DataKind.IMMUTABLE
    check(value)
    return DataKind.ARRAY if type(value) is np.ndarray else DataKind.SHARED


def _has_sets(value: Any) -> bool:
    if isinstance(value, set | frozenset):
        return True
    if isinstance(value, dict):
        return any(map(_has_sets, (*value.keys(), *value.values())))
    return isinstance(value, tuple | list) and any(map(_has_sets, value))


def default_workers() -> int:
    """The number of processors available to this process, at least 2."""
    known = getattr(os, "sched_getaffinity", None)
    return max(2, len(known(0)) if known else os.cpu_count() or 2)
