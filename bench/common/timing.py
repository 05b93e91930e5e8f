"""Fair comparisons: the variants of a job run interleaved, in one process, in one run."""

import math
import multiprocessing
import platform
import random
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from multiprocessing.connection import Connection

Clock = Callable[[], float]


def machine() -> str:
    """One line on the machine of the figures."""
    return f"Python {platform.python_version()}, {platform.machine()}, {sys.platform}"


def interleaved(
    variants: Mapping[str, Callable[[], object]],
    rounds: int = 9,
    limit: float = math.inf,
    clock: Clock = time.perf_counter,
) -> dict[str, list[float]]:
    """Seconds of each run of each variant. The variants alternate, each round in a random order:
    otherwise a variant would always find the caches in the state in which the same other one
    leaves them.

    limit: no round starts after this many seconds, except for the first three. clock:
    ``time.process_time`` leaves out the time of other programs on the machine.
    """
    for run in variants.values():
        run()
    clocked = {name: lambda run=run: seconds(run, clock) for name, run in variants.items()}
    return in_turn(clocked, rounds, limit)


def in_turn(
    clocked: Mapping[str, Callable[[], float]], rounds: int, limit: float
) -> dict[str, list[float]]:
    """The results of each callable, round by round; see ``interleaved``."""
    times: dict[str, list[float]] = {name: [] for name in clocked}
    end = time.perf_counter() + limit
    order = random.Random(0)
    for done in range(rounds):
        if done >= 3 and time.perf_counter() > end:
            break
        for name in order.sample(list(clocked), len(clocked)):
            times[name].append(clocked[name]())
    return times


def interleaved_apart(
    made: Mapping[str, Callable[[], Callable[[], object]]],
    rounds: int = 9,
    limit: float = math.inf,
    clock: Clock = time.perf_counter,
) -> dict[str, list[float]]:
    """Like ``interleaved``, with each variant made and run in a separate forked process: the
    contexts of one do not affect another. The variants still alternate.
    """
    with ExitStack() as processes:
        clocked = {
            name: processes.enter_context(served(lambda make=make: _clocked(make(), clock)))
            for name, make in made.items()
        }
        for once in clocked.values():
            once()
        return in_turn(clocked, rounds, limit)


def _clocked(run: Callable[[], object], clock: Clock) -> Callable[[], float]:
    return lambda: seconds(run, clock)


def apart[T](function: Callable[[], T]) -> T:
    """The result of a function in a forked process, which leaves no other trace."""
    with served(lambda: function) as once:
        return once()


@contextmanager
def served[T](make: Callable[[], Callable[[], T]]) -> Iterator[Callable[[], T]]:
    """A function that calls, in a forked process, the function that ``make`` returns there."""
    forking = multiprocessing.get_context("fork")
    ours, theirs = forking.Pipe()
    process = forking.Process(target=_serve, args=(make, ours, theirs), daemon=True)
    process.start()
    theirs.close()  # so that the end of the process is the end of the pipe

    def once() -> T:
        ours.send(None)
        try:
            return ours.recv()
        except EOFError:
            raise SystemExit(
                "a process that was measured has ended: its error stands above"
            ) from None

    try:
        yield once
    finally:
        ours.close()
        process.join()


def _serve(make: Callable[[], Callable[[], object]], other: Connection, asked: Connection) -> None:
    other.close()
    called = make()
    with suppress(EOFError, BrokenPipeError):
        while True:
            asked.recv()
            asked.send(called())


def seconds(run: Callable[[], object], clock: Clock = time.perf_counter) -> float:
    """Seconds of one run."""
    start = clock()
    run()
    return clock() - start


def ratio(times: dict[str, list[float]], one: str, to: str) -> float:
    """The ratio of the fastest runs."""
    return min(times[one]) / min(times[to])


def spread(seconds: list[float]) -> float:
    """The distance of the median from the fastest run, relative to it."""
    return statistics.median(seconds) / min(seconds) - 1


def median_ratio(times: dict[str, list[float]], one: str, to: str) -> float:
    """The median of the rounds' ratios: each round ran both."""
    return statistics.median(ratios(times, one, to))


def ratio_spread(times: dict[str, list[float]], one: str, to: str) -> float:
    """Spread of the rounds' ratios: see ``spread_of``."""
    return spread_of(ratios(times, one, to))


def ratios(times: dict[str, list[float]], one: str, to: str) -> list[float]:
    return [a / b for a, b in zip(times[one], times[to], strict=True)]


def spread_of(values: list[float]) -> float:
    """Half the interquartile range, relative to the median; 0 for a single value."""
    if len(values) < 2:
        return 0.0
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive")
    return (high - low) / 2 / middle


def summary(seconds: list[float], each: int = 1) -> dict[str, float]:
    """Summary of runs with ``each`` repetitions: the fastest, the median, the spread."""
    return {
        "least": min(seconds) / each,
        "median": statistics.median(seconds) / each,
        "spread": spread_of(seconds),
    }


def table(rows: list[tuple[str, ...]]) -> str:
    """Rows as aligned columns; the first row is the head."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [
        "  ".join(
            [
                row[0].ljust(widths[0]),
                *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True)),
            ]
        )
        for row in rows
    ]
    return "\n".join([lines[0], "-" * len(lines[0]), *lines[1:]])
