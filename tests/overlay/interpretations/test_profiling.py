import cProfile
import itertools
import pstats
import statistics
import threading

import numpy as np
import pytest

from overlay import Context, OverlayError
from overlay.interpretations.profiling import Profiler, profile


def ticking():
    """A clock of which each reading is one nanosecond later."""
    return itertools.count().__next__


def test_calls_are_counted_by_the_types_of_their_arguments():
    found = profile(statistics.mean, [1, 2.5, 4])
    assert found.result == statistics.mean([1, 2.5, 4])
    rows = {str(row): row.calls for row in found.of("_exact_ratio")}
    assert rows == {"_exact_ratio(int)": 2, "_exact_ratio(float)": 1}


def test_counts_are_those_of_cprofile():
    def program():
        return statistics.stdev([1.5, 2.5, 4.0]), statistics.median([1, 2, 3])

    found = profile(program)
    native = cProfile.Profile()
    native.runcall(program)
    counts = {key[2]: row[0] for key, row in pstats.Stats(native).stats.items()}
    for name in ("_ss", "_exact_ratio", "median", "stdev"):
        assert sum(row.calls for row in found.of(name)) == counts[name], name


def test_own_time_is_without_that_of_calls_below():
    def outer():
        return inner() + inner()

    def inner():
        return leaf()

    def leaf():
        return 1

    profiler = Profiler(clock=ticking())
    assert profiler(outer) == 2
    figures = {str(row).rpartition(".")[2]: (row.total, row.own) for row in profiler.rows()}
    # each call reads the clock when it begins and when it ends
    assert figures == {"leaf()": (2, 2), "inner()": (6, 4), "outer()": (9, 3)}


def test_recursion_is_counted_once_in_the_total():
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    profiler = Profiler(clock=ticking())
    assert profiler(fib, 5) == 5
    (row,) = profiler.rows()
    assert row.calls == 15
    assert row.total == row.own == 29  # readings from the first to the last


def test_an_exception_passes_and_is_counted():
    profiler = Profiler()
    with pytest.raises(statistics.StatisticsError):
        profiler(statistics.mean, [])
    assert [row.errors for row in profiler.of("mean")] == [1]


def test_the_table_has_what_took_most_first():
    profiler = Profiler(clock=ticking())
    profiler(statistics.stdev, [1.0, 2.0, 4.0])
    totals = [row.total for row in profiler.rows("total")]
    assert totals == sorted(totals, reverse=True)
    lines = profiler.table("total", limit=2).splitlines()
    assert "stdev(list)" in lines[1]
    assert lines[-1] == f"... and {len(totals) - 2} more"
    assert "stdev(list)" in str(profiler)


def test_functions_are_found_by_the_end_of_their_names_and_orders_are_known():
    def local(x):
        return x

    found = profile(local, 2)
    assert [str(row).rpartition(".")[2] for row in found.of("local")] == ["local(int)"]
    with pytest.raises(OverlayError, match="not sorted by 'time'"):
        found.rows("time")


def test_keyword_arguments_and_numpy():
    found = profile(np.linalg.norm, np.ones((2, 2)), axis=0)
    assert [str(row) for row in found.of("norm")] == ["norm(ndarray, axis=int)"]


def test_threads_are_counted_together():
    profiler = Profiler()
    context = Context(plugins=(profiler,))
    threads = [
        threading.Thread(target=context.wrap(statistics.mean), args=([1, 2],)) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [row.calls for row in profiler.of("mean")] == [4]
