"""A batch is interpreted first, and compiled in the background if that pays off: both forms answer,
refuse and raise alike.
"""

import logging
import math
import subprocess
import sys
import threading

import numpy as np
import pytest

from inversion import NoSolution, invert
from inversion.running import meter
from overlay.core import background
from overlay.core.background import rest


def rooted(x: float):
    return x * math.exp(x)


def gamma(c: float):
    if c <= 0.0031308:
        return 12.92 * c
    return 1.055 * c ** (1 / 2.4) - 0.055


def compound(x: float):
    for _ in range(3):
        x = x * 1.5 + 1
    return x


def turned(left: float, right: float):
    return (left + right) / 2, (right - left) / 0.3


def whole(n: int):
    return 3 * n + 1


def squared(x: float):
    return x * x


def softplus(x: float):
    return math.log1p(math.exp(x))


def scaled(x):
    return x * 2 + 1


GOOD = np.linspace(0.1, 2.0, 200)
BAD = np.concatenate([GOOD, [math.nan, -3.0, math.inf, 0.0, -0.0, 1e308], GOOD])
ROWS = {
    "a root": (rooted, (), (BAD,)),
    "a branch": (gamma, (), (BAD,)),
    "a loop": (compound, (), (BAD,)),
    "a tuple": (turned, (), ((BAD, BAD[::-1]),)),
    "integers": (whole, (), (np.arange(1, 400),)),
    "a choice": (squared, (), (BAD,)),
    "in sequence": (softplus, (), (BAD,)),
    "arrays": (scaled, (np.zeros(3),), (np.stack([BAD, BAD, BAD], axis=1),)),
}
ULPS = 40  # those of numpy's functions and of libm's, and what softplus makes of them


def answered(inverse, known, **asked):
    try:
        return inverse.batch(*known, **asked)
    except NoSolution as error:
        return error.asked, error.where, error.notes


def thetas(inverse, count):
    space = inverse.parameters
    if not len(space):
        return [{}]
    drawn = space.sample(np.random.default_rng(0), count)
    return [{}, {"theta": space.default()}, {"theta": drawn}]


@pytest.mark.long
@pytest.mark.parametrize("case", ROWS)
def test_both_forms_answer_refuse_and_raise_alike(case):
    f, types, known = ROWS[case]
    interpreted, compiled = invert(f, *types), invert(f, *types)
    compiled.compile_batch()
    first = known[0][0] if isinstance(known[0], tuple) else known[0]
    for theta in thetas(interpreted, len(first)):
        for on_error in ("raise",) if f is whole else ("nan", "raise"):
            found, wanted = (
                answered(one, known, on_error=on_error, **theta) for one in (interpreted, compiled)
            )
            if isinstance(wanted[0], str):
                assert found == wanted
                continue
            assert [(a.shape, a.dtype) for a in found] == [(a.shape, a.dtype) for a in wanted]
            if interpreted._code.columns.fits:
                np.testing.assert_array_max_ulp(np.array(found), np.array(wanted), ULPS)
            else:
                np.testing.assert_array_equal(found, wanted)
    assert not interpreted._code.rows.is_made
    assert compiled._code.rows.is_made


# ---- when it is compiled ----


def test_a_small_batch_compiles_nothing():
    threads = threading.active_count()
    inverse = invert(rooted)
    inverse.batch(GOOD)
    assert threading.active_count() == threads
    assert not inverse._code.rows.is_made
    assert "_entered" not in vars(inverse._code)


def test_after_long_interpretation_later_batches_are_compiled(monkeypatch):
    monkeypatch.setattr(meter, "COMPILED_AFTER", 0.0)
    inverse, threads = invert(rooted), set()
    made = inverse._code._rows
    monkeypatch.setattr(
        inverse._code.rows, "_make", lambda: (threads.add(threading.current_thread()), made())[1]
    )
    (first,) = inverse.batch(GOOD)
    rest()
    assert threads
    assert threading.current_thread() not in threads
    monkeypatch.setattr(type(inverse._rows), "_is_answered", None)  # no row is interpreted
    np.testing.assert_array_equal(inverse.batch(GOOD)[0], first)


def test_rows_in_sequence_are_compiled_after_much_of_numpy(monkeypatch):
    monkeypatch.setattr(meter, "COMPILED_AFTER", 0.0)
    inverse = invert(softplus)
    (first,) = inverse.batch(GOOD)
    rest()
    (quick, _) = inverse._code.quick_rows
    assert quick.is_made
    np.testing.assert_array_max_ulp(inverse.batch(GOOD)[0], first, ULPS)


def test_many_rows_wait_for_their_loop(monkeypatch):
    monkeypatch.setattr(meter, "WAITED_FOR", 0.0)
    inverse = invert(rooted)
    answered = type(inverse._rows)._is_answered
    rows = []
    monkeypatch.setattr(
        type(inverse._rows), "_is_answered", lambda *given: (rows.append(1), answered(*given))[1]
    )
    (found,) = inverse.batch(GOOD)
    assert len(rows) == 1
    np.testing.assert_allclose(found * np.exp(found), GOOD, rtol=1e-9)


def test_elements_of_arrays_are_compiled_in_the_background(monkeypatch):
    monkeypatch.setattr(meter, "COMPILED_AFTER", 0.0)
    inverse = invert(lambda x: np.exp(x) + 1, np.zeros(500))
    value = np.exp(np.linspace(0.0, 1.0, 500)) + 1
    (first,) = inverse(value)
    rest()
    kernels = [k for k in inverse._code.namespace.values() if hasattr(k, "in_columns")]
    assert all(later.is_made for kernel in kernels for later in kernel.compiled.values())
    np.testing.assert_array_max_ulp(inverse(value)[0], first, ULPS)


def test_an_inverse_that_is_out_of_date_is_not_compiled(monkeypatch):
    monkeypatch.setattr(meter, "COMPILED_AFTER", 0.0)
    names = {}
    exec("def helper(x): return x * 2\ndef f(x): return helper(x) + 1", names)
    inverse = invert(names["f"], float)
    begun = []
    monkeypatch.setattr(background._worker, "take", begun.append)
    inverse.batch(np.array([9.0]))
    exec("def helper(x): return x * 4", names)
    for later in begun:
        with pytest.raises(background.GivenUp):
            later.made_in_background()
        assert not later.is_made
    with pytest.raises(NoSolution):
        inverse.batch(np.array([9.0]))


def test_a_batch_that_numba_cannot_compile_stays_interpreted_and_says_so(monkeypatch, caplog):
    class Held:
        factor = 2.0

        def __call__(self, x):
            return self.factor * x

    monkeypatch.setattr(meter, "COMPILED_AFTER", 0.0)
    inverse = invert(Held(), float)
    with caplog.at_level(logging.WARNING, "overlay.compiled"):
        for _ in range(2):
            assert inverse.batch(np.array([3.0]))[0].tolist() == [1.5]
            rest()
    found = [record.getMessage() for record in caplog.records]
    assert len(found) == 2  # for columns, and for single rows
    assert all("not compiled in the background" in each for each in found)


ENDS = """
import math, sys, threading, time
import numpy as np
from inversion import invert
from inversion.running import meter

meter.COMPILED_AFTER = 0.0
inverse = invert(lambda x: x * math.exp(x), float)
inverse.batch(np.ones(4))
time.sleep(float(sys.argv[1]))
print(threading.active_count())
"""


@pytest.mark.long
@pytest.mark.parametrize("after", [0.0, 0.3, 1.0, 2.0])
def test_a_process_may_end_while_it_compiles(after):
    done = subprocess.run(
        [sys.executable, "-c", ENDS, str(after)],
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
