"""The number of solutions, and the status of the search, compared with independently certified
counts.
"""

import itertools
import math
import signal
import time
from contextlib import suppress

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inversion import NoSolution, NotInvertible, Solutions, WrongArguments, contract, invert
from inversion.deadline import OutOfTime, check_deadline, limited
from overlay.interpretations.intervals import Interval as Enclosure
from primitives import Integers, Reals
from tests.examples import examples


def lcg(seed):
    for _ in range(10):
        seed = (seed * 1664525 + 1013904223) % 2**32
    return seed


def collatz(n):
    steps = 0
    while n != 1:
        n = n // 2 if n % 2 == 0 else 3 * n + 1
        steps += 1
    return steps


# ---- roots --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "wanted"),
    [
        (lambda x: x**4 - 2 * x**2 + 1, [-1, 1]),
        (lambda x: (x * x - 2 * x + 1) * (math.exp(x) + x), [-0.567143290409784, 1]),
        (lambda x: (x - 1) * (x - 1) * (x + 2), [-2, 1]),
        (lambda x: math.exp(x) - x - 1, [0]),
    ],
)
def test_roots_of_even_multiplicity_are_found(f, wanted):
    found = invert(f, float).solutions(0.0)
    assert sorted(b.point[0] for b in found) == pytest.approx(wanted, abs=2e-6)
    assert found.status == "complete"


@settings(max_examples=examples(8), deadline=None)
@given(st.sets(st.integers(-6, 6), min_size=2, max_size=3))
def test_a_polynomial_has_the_roots_that_it_is_made_of(roots):
    a, b, *more = sorted(roots)
    c = more[0] if more else a  # a double root, where there are two
    found = invert(lambda x: (x - a) * (x - b) * (x - c) + 0.0, float).solutions(0.0)
    assert sorted({round(p.point[0], 4) for p in found}) == sorted(roots)
    assert found.status == "complete"


def test_all_roots_of_a_dense_oscillation_are_found():
    inverse = invert(lambda x: math.sin(50 * x) * x, float, domain={"x": Reals(0.5, 10)})
    found = inverse.solutions(0.0)
    # the roots are the whole multiples of pi / 50
    wanted = [k * math.pi / 50 for k in range(8, 160) if 0.5 <= k * math.pi / 50 <= 10]
    assert sorted(b.point[0] for b in found) == pytest.approx(wanted)
    assert len(wanted) == 152
    assert found.status == "complete"


# ---- integers -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("f", "domains", "value"),
    [
        (lambda a: (a << 3) & 0xFF, {"a": (0, 255)}, 8),
        (lambda a: math.isqrt(a) * 2 + a % 2, {"a": (0, 50)}, 7),
        (collatz, {"n": (1, 1000)}, 7),
        (lambda a, b, c: (a * 3 + b * 2 + c) % 11, dict.fromkeys("abc", (0, 9)), 3),
        (lambda a, b: (a << 4 | b) ^ 0x5A, {"a": (0, 15), "b": (0, 15)}, 0x33),
        (lambda a, b: (a >> 1) & b, {"a": (-9, 20), "b": (-5, 12)}, 4),
    ],
)
def test_small_domains_are_gone_through(f, domains, value):
    kinds = [int] * len(domains)
    inverse = invert(f, *kinds, domain={k: Integers(*ends) for k, ends in domains.items()})
    found = inverse.solutions(value)
    every = itertools.product(*(range(low, high + 1) for low, high in domains.values()))
    assert [branch.point for branch in found] == [args for args in every if f(*args) == value]
    assert found.status == "complete"


def test_the_seed_of_a_generator_is_found_and_the_search_ends():
    inverse = invert(lcg, int, domain={"seed": Integers(0, 2**32 - 1)})
    found = inverse.solutions(lcg(12345))
    assert [branch.point for branch in found] == [(12345,)]
    assert found.status == "complete"


def test_bytes_are_found_from_their_sextets():
    def sextets(a, b, c):
        n = a << 16 | b << 8 | c
        return n >> 18 & 63, n >> 12 & 63, n >> 6 & 63, n & 63

    inverse = invert(sextets, int, int, int, domain=dict.fromkeys("abc", Integers(0, 255)))
    for message in (b"Man", b"\0\xff\x80", b"\xff\xff\xff"):
        assert inverse(sextets(*message)) == tuple(message)
        found = inverse.solutions(sextets(*message))
        assert [branch.point for branch in found] == [tuple(message)]
        assert found.status == "complete"


# ---- how a search ends --------------------------------------------------------------------


def test_branches_are_kept_and_indexed():
    found = invert(lambda x: math.sin(x), float).solutions(0.0)
    assert isinstance(found, Solutions)
    assert found.status == "searching"
    assert found.found == ()
    assert found[2].point == (-math.pi,)
    assert len(found.found) == 3
    assert [b is c for b, c in zip(found, found.found, strict=False)] == [True] * 3
    assert [b.point for b in found[:2]] == [(0.0,), (math.pi,)]
    assert "searching" in repr(found)
    assert "searching" in found._repr_html_()


def test_a_limit_ends_the_search():
    found = invert(lambda x: math.sin(x), float).solutions(0.0, limit=4)
    assert len(found) == 4
    assert found.status == "limit"


def test_seconds_end_an_endless_search():
    found = invert(lambda x: math.sin(x), float).solutions(0.0, timeout=0.2)
    assert len(list(found)) > 0
    assert found.status == "timeout"
    assert "0.2 s" in found.reason


def test_seconds_end_a_loop_that_does_not_look():
    def endless(n):
        while n >= 0:  # of the function itself, for each value that is tried
            n += 1
        return n

    found = invert(endless, int, domain={"n": Integers(0, 3)}).solutions(5, timeout=0.2)
    assert list(found) == []
    assert found.status == "timeout"


def test_what_ends_in_time_is_not_disturbed_later():
    for _ in range(300):
        with suppress(OutOfTime):
            limited(0.001, lambda: sum(range(20_000)))
    time.sleep(0.05)
    with pytest.raises(OutOfTime):
        limited(0.01, lambda: sum(1 for _ in itertools.count()))
    with pytest.raises(OutOfTime):
        limited(0.01, lambda: limited(60, lambda: sum(1 for _ in itertools.count())))
    check_deadline()
    assert invert(lambda x: x * 2, float).solutions(1.0, timeout=60)[0].point == (0.5,)


def test_where_there_is_no_solution_the_reason_has_the_proof():
    found = invert(lambda x: x * x + 1, float).solutions(0.5)
    assert list(found) == []
    assert not found
    assert found.status == "complete"
    assert "no solution" in found.reason


LEVEL = (
    (lambda x: abs(x) - x, (1.0, 1e-3, 1e9)),
    (lambda x: math.floor(x) - x, (1.0, 2.0, -3.0)),
    (lambda x: x / abs(x) - 1, (2.0, 3.0)),
    (lambda x: max(x, 0.0) * x, (-1.0, -2.0)),
    (lambda x: math.erf(x) + math.erf(-x), (0.5, -2.0)),
)


@pytest.mark.parametrize(("f", "roots"), LEVEL)
def test_roots_that_fill_a_range_are_a_family(f, roots):
    found = invert(f, float).solutions(0.0)
    branches = list(found)
    for root in roots:
        assert f(root) == 0.0
        assert found.status != "complete" or any(b.contains(root) for b in branches)
    for branch in branches:
        if branch.is_point:
            assert f(*branch.point) == pytest.approx(0.0, abs=1e-11)


def test_a_range_in_one_unknown_leaves_the_other_what_it_may_be():
    found = invert(lambda x, y: (x * y, abs(x) - x), float, float).solutions((0.0, 0.0))
    branches = list(found)
    for point in ((2.0, 0.0), (0.0, 3.0)):
        assert any(branch.contains(*point) for branch in branches)


BESIDE_FLOATS = (
    *((lambda n: n + 4 / 3, 1), (lambda n: n * 0.1, 3), (math.sqrt, 3), (math.log, 5)),
    *((lambda n: math.tanh(n / 7), 4), (lambda n: n * 0.1 + 0.2, -7)),
    (lambda n: math.floor(n + 4 / 3), 1),
)


@pytest.mark.parametrize(("f", "n"), BESIDE_FLOATS)
def test_an_integer_beside_floats_is_not_lost_by_rounding(f, n):
    inverse = invert(f, int)
    found = inverse.solutions(f(n))
    assert [branch.point for branch in found] == [(n,)]
    assert found.status == "complete"
    assert inverse(f(n)) == (n,)


def test_powers_with_negative_exponents_prove_nothing():
    def halves(x: float):
        total = 0.0
        for n in range(3):
            total += x * 2 ** (-n)
        return total

    assert invert(halves)(1.75) == (1.0,)
    assert [b.point for b in invert(halves).solutions(1.75)] == [(1.0,)]

    def power(n, m):
        return (n**m) * 1.0

    assert power(2, -2) == 0.25
    inverse = invert(power, int, int)
    found = inverse.solutions(0.25, limit=5, timeout=1)
    assert list(found) == []
    assert found.status in ("not_exhausted", "timeout")
    n, m = inverse(0.25)  # found by trials, which the list of all does not use
    assert n**m == 0.25
    with pytest.raises(NoSolution) as refused:
        inverse(0.3)
    assert not refused.value.proved
    with pytest.raises(NotInvertible, match="not an integer if the exponent is negative"):
        contract(lambda x, n: x * 2**n, Enclosure(-10, 10), -1, returns=0.25)
    declared = invert(power, int, int, domain={"m": Integers(0, 9), "n": Integers(-9, 9)})
    found = declared.solutions(0.25)
    assert (list(found), found.status) == ([], "complete")


def test_a_relation_that_leaves_solutions_out_is_named():
    found = invert(lambda x: math.atan(x) + 1, float).solutions(1.5)
    assert len(found) == 1
    assert found.status == "not_exhausted"
    assert "atan: beyond" in found.reason


def test_progress_is_told():
    told = []
    found = invert(lambda x: x**5 - x, float).solutions(0.0, progress=lambda *now: told.append(now))
    assert len(found) == 3
    assert max(count for count, _ in told) == 3
    assert [steps for _, steps in told] == list(range(1, len(told) + 1))


def test_what_bounds_a_search_is_checked():
    inverse = invert(lambda x: math.sin(x), float)
    with pytest.raises(WrongArguments, match="limit"):
        inverse.solutions(0.0, limit=-1)
    with pytest.raises(WrongArguments, match="timeout"):
        inverse.nearest(0.0, 1.0, timeout="soon")


def test_an_interrupt_ends_a_search_at_once():
    found = invert(lambda x: math.sin(x), float).solutions(0.0)
    before = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    interrupt = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may ignore it
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        with pytest.raises(KeyboardInterrupt):
            list(found)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
        signal.signal(signal.SIGINT, interrupt)
    assert found.status == "not_exhausted"
    assert "KeyboardInterrupt" in found.reason
    assert len(found) == len(found.found) > 0


# ---- nearest ------------------------------------------------------------------------------


def arm(a, b):
    return (
        math.cos(a) + 0.8 * math.cos(a + b),
        math.sin(a) + 0.8 * math.sin(a + b),
    )


def test_the_nearest_pose_of_an_arm_without_limits_is_found():
    inverse = invert(arm, float, float)
    found = inverse.nearest((1.2, 0.5), (0.3, 0.7), timeout=60)
    assert arm(*found) == pytest.approx((1.2, 0.5))
    poses = [found, *(b.point for b in itertools.islice(inverse.solutions((1.2, 0.5)), 6))]
    assert found == min(poses, key=lambda p: math.hypot(p[0] - 0.3, p[1] - 0.7))


def test_the_error_of_a_search_without_time_has_the_closest_found():
    with pytest.raises(NoSolution, match="was not found in 0 s") as caught:
        invert(arm, float, float).nearest((1.2, 0.5), (0.3, 0.7), timeout=0)
    assert caught.value.best is None or arm(*caught.value.best) == pytest.approx((1.2, 0.5))
