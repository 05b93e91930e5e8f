"""Exceptions in the threads of parallel loops, which the call raises, with the frames of the
program."""

import subprocess
import sys
import traceback

import numba
import numpy as np
import pytest
from numba import njit, prange

from overlay import Context, MethodTable

N = 1000


def checked(v):
    if v < 0.0:
        raise ValueError("negative")
    return v


def through(v):
    return checked(v) + 1.0


compiled_by_numba = njit(checked)


def a_sum(x):
    total = 0.0
    for i in prange(x.size):
        total += through(x[i])
    return total


def of_njit(x):
    total = 0.0
    for i in prange(x.size):
        total += compiled_by_numba(x[i])
    return total


def into_an_array(x):
    out = np.zeros(x.size)
    for i in prange(x.size):
        out[i] = through(x[i])
    return out


def after_another_loop(x):
    y = np.zeros(x.size)
    for i in prange(x.size):
        y[i] = 2.0 * x[i]
    total = 0.0
    for i in prange(x.size):
        total += checked(y[i])
    return total


summed_by_threads = njit(parallel=True)(a_sum)


def below(x):
    return summed_by_threads(x) + np.sum(x)


PROGRAMS = [a_sum, of_njit, into_an_array, after_another_loop, below]


@pytest.fixture(params=[1, 2])
def threads(request):
    if request.param > numba.config.NUMBA_NUM_THREADS:
        pytest.skip("numba has one thread here")
    before = numba.get_num_threads()
    numba.set_num_threads(request.param)
    yield
    numba.set_num_threads(before)


@pytest.mark.parametrize("place", [0, N // 2, N - 1])
@pytest.mark.parametrize("program", PROGRAMS)
def test_the_exception_of_any_thread_is_raised(program, place, threads):
    hot, x = Context().jit(program, parallel=True), np.ones(N)
    right = hot(x)
    x[place] = -1.0
    for _ in range(3):
        with pytest.raises(ValueError, match="negative") as caught:
            hot(x)
        frames = [each.name for each in traceback.extract_tb(caught.value.__traceback__)]
        assert frames[-1] == "checked"
        assert program.__name__ in frames
    x[place] = 1.0
    assert np.all(hot(x) == right)


def test_many_exceptions_are_one():
    hot = Context().jit(a_sum, parallel=True)
    with pytest.raises(ValueError, match="negative"):
        hot(np.full(N, -1.0))
    assert hot(np.ones(N)) == 2.0 * N


def test_the_exception_of_a_method_is_raised():
    table = MethodTable("table")

    @table.overlay(checked)
    def refused(v: float) -> float:
        if v > 0.5:
            raise KeyError("large")
        return v

    with pytest.raises(KeyError, match="large"):
        Context(table).jit(a_sum, parallel=True)(np.linspace(0.0, 1.0, N))


CACHED = """
import sys
import numpy as np
from overlay import Context
from tests.overlay.compiled import test_parallel_errors as given

x = np.ones(given.N)
x[-1] = -1.0
hot = Context().jit(given.a_sum, parallel=True, cache=sys.argv[1])
try:
    hot(x)
except ValueError as error:
    print(error)
"""


def test_in_code_from_disk(tmp_path):
    for _ in range(2):
        run = subprocess.run(
            [sys.executable, "-c", CACHED, str(tmp_path)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.stdout == "negative\n", run.stderr
