"""Active numbers that outlive a derivative are refused, wherever they are held."""

import gc
import math
import threading
from functools import partial
from types import SimpleNamespace

import pytest

from overlay.interpretations.autodiff import (
    NotDifferentiable,
    autodiff,
    derivative,
    escapes,
    gradient,
    inactive,
    jvp,
)
from overlay.interpretations.memoisation import memoised

ITEMS = [0.0]
NAMED = {}
OWNER = SimpleNamespace()
LAST = None


@pytest.fixture(autouse=True, scope="module")
def _what_holds_an_object_is_found_among_all():
    gc.unfreeze()  # conftest.py takes this module out of what is searched


def replaces(x):
    ITEMS[0] = x
    return x * x


def appends(x):
    ITEMS.append(x * x)
    return x * x


def extends(x):
    ITEMS.extend([x])
    return x * x


def puts(x):
    NAMED["x"] = x
    return x * x


def updates(x):
    NAMED.update(x=x)
    return x * x


def sets(x):
    OWNER.x = x
    return x * x


def rebinds(x):
    global LAST
    LAST = (x, 1.0)
    return x * x


@pytest.fixture(autouse=True)
def _empty():
    global LAST
    yield
    ITEMS[:], LAST = [0.0], None
    NAMED.clear()
    vars(OWNER).clear()


CASES = [
    (replaces, "a list, the variable 'ITEMS'"),
    (appends, "a list, the variable 'ITEMS'"),
    (extends, "a list, the variable 'ITEMS'"),
    (puts, "a dict, the variable 'NAMED'"),
    (updates, "a dict, the variable 'NAMED'"),
    (sets, "an object of the class SimpleNamespace"),
    (rebinds, "the variable 'LAST'"),
]


@pytest.mark.parametrize(("f", "holder"), CASES, ids=[f.__name__ for f, _ in CASES])
def test_an_active_number_that_is_left_behind_is_refused_with_its_holder(f, holder):
    with pytest.raises(NotDifferentiable, match="lets an active number escape") as caught:
        derivative(f)(2.0)
    assert holder in str(caught.value)
    assert f.__name__ in str(caught.value)


@pytest.mark.parametrize("take", [derivative, gradient, lambda f: partial(autodiff, f)])
def test_it_is_refused_each_time_by_each_way_to_take_derivatives(take):
    f = replaces
    with pytest.raises(NotDifferentiable, match="lets an active number escape"):
        take(f)(2.0)
    # also where the number of an earlier run is replaced, so that there are no more than before
    with pytest.raises(NotDifferentiable, match="lets an active number escape"):
        take(f)(2.0)


def test_what_an_earlier_run_left_does_not_count_against_another():
    with pytest.raises(NotDifferentiable):
        derivative(replaces)(2.0)
    assert derivative(lambda x: x * x)(3.0) == 6.0


def failing(x):
    raise ZeroDivisionError


def test_what_a_traceback_holds_does_not_hide_what_is_left():
    with pytest.raises(ZeroDivisionError) as caught:
        derivative(failing)(2.0)
    with pytest.raises(NotDifferentiable, match="escape"):
        derivative(replaces)(2.0)
    assert caught.value is not None


def test_a_variable_of_the_function_around_and_a_result_that_holds_active_numbers():
    last = None

    def keeps(x):
        nonlocal last
        last = x
        return x * x

    with pytest.raises(NotDifferentiable, match="a variable of the function around"):
        derivative(keeps)(2.0)
    with pytest.raises(NotDifferentiable, match="escape"):
        derivative(lambda x: SimpleNamespace(x=x))(2.0)
    assert last is not None


def test_the_inner_of_two_derivatives_is_looked_at():
    with pytest.raises(NotDifferentiable, match="'ITEMS'"):
        derivative(lambda x: x * derivative(appends)(x))(2.0)
    with pytest.raises(NotDifferentiable, match="'ITEMS'"):
        jvp(appends, (1.0,), (1.0,))


def recursive(x):
    def down(n):
        return x if n == 0 else x * down(n - 1)

    return down(3)


def test_what_ends_with_the_run_is_no_escape():
    def own(x):
        kept = {"x": [x, x * x]}
        kept["y"] = kept
        return sum(kept["x"])

    assert derivative(own)(2.0) == 5.0
    assert derivative(recursive)(2.0) == 32.0


def test_memoised_results_are_no_escape_and_what_is_kept_besides_them_is():
    memo = memoised(math.sin)
    assert derivative(lambda x: memo(math.sin, x))(0.5) == math.cos(0.5)
    assert len(memo) == 1
    with pytest.raises(NotDifferentiable, match="'ITEMS'"):
        derivative(lambda x: ITEMS.append(memo(math.sin, x)) or x)(0.75)


def test_plain_values_are_kept_by_an_inactive_call():
    def records(x):
        inactive(ITEMS.append)(x)
        return x * x

    assert derivative(records)(2.0) == 4.0
    assert ITEMS == [0.0, 2.0]


def test_duals_of_another_thread_are_not_taken_for_what_is_left():
    inside, done = threading.Event(), threading.Event()

    def waits(x):
        kept = [x]
        inside.set()
        done.wait(30)
        return kept[0] * x

    found = []
    thread = threading.Thread(target=lambda: found.append(derivative(waits)(2.0)))
    thread.start()
    assert inside.wait(30)
    assert derivative(lambda x: x * x)(3.0) == 6.0
    done.set()
    thread.join()
    assert found == [4.0]


def test_what_a_kept_exception_holds_is_looked_for_once(monkeypatch):
    """A notebook keeps the last exception, and with it the duals of the run that raised it."""
    looked = []
    alive = escapes._alive
    monkeypatch.setattr(escapes, "_alive", lambda level: looked.append(level) or alive(level))

    def raising(x):
        raise ValueError

    slope = derivative(math.sin)
    slope(0.5)  # what is made at first refers to the duals' class
    looked.clear()
    with pytest.raises(ValueError) as kept:  # noqa: PT011
        derivative(raising)(1.0)
    assert [slope(0.5) for _ in range(5)] == [math.cos(0.5)] * 5
    assert len(looked) == 1

    left = []
    with pytest.raises(NotDifferentiable):
        derivative(lambda x: left.append(x) or x)(1.0)
    del kept
    left.clear()
    slope(0.5)
    with pytest.raises(NotDifferentiable):
        derivative(lambda x: left.append(x) or x)(1.0)
