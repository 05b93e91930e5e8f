"""Statements of Python on every version: they have its meaning, or are refused by name."""

import builtins
import math

import numpy as np
import pytest

from inversion import NotInvertible, invert
from inversion.lifting import recursion

F = float


def walrus(x):
    return (y := x + 1) * 2 + y


def walrus_in_a_condition(x):
    while (y := x * 0.5) > 1.0:
        x = y
    return x


def comprehended(x):
    return [x * i for i in range(1, 4)][1]


def comprehended_twice(x):
    return [[x + i + j for i in range(2)] for j in (1.0, 2.0)][1][0]


def comprehended_pairs(x):
    first, second = [a * b for a, b in ((x, 2.0), (3.0, x))]
    return first + second


def whose_variable_was_set(x):
    i = x * 2
    scaled = [i * x for i in (1.0, 2.0)]
    return i + scaled[1]


def whose_variable_was_not_set(x):
    scaled = [i * x for i in (1.0, 2.0)]
    i = scaled[0]
    return i + scaled[1]


def in_a_loop(x):
    for k in range(20):
        i = [x + i for i in (0.0, 1.0)][1]
        x = i + k
    return x


def iterator_with_a_name(x):
    pairs = zip((1.0, 2.0), (x, x), strict=True)
    total = 0.0
    for a, b in pairs:
        total += a * b
    return total


def filtered(x):
    return [x * i for i in (1.0, 2.0, 3.0) if x is not None][2]


def spread_later(x):
    given = (x, 2.0)
    return scaled(*given)


def scaled(x, by):
    return x * by


def starred_tuple(x):
    pair = (x, 2.0)
    return (*pair, *[x, 3.0], 1.0)[2]


def starred_list(x):
    return [0.0, *(x, 2.0)][1]


def list_of_constants(x):
    return [1.0, 2.0, 4.0][2] * x


def finally_done(x):
    y = 0.0
    try:
        y = math.log(x)
    finally:
        z = y
    return z + y


def raised_as_another(x):
    try:
        y = math.log(x)
    except ValueError as error:
        raise ArithmeticError("no logarithm") from error
    return y


def format_of_an_error(x):
    if x < 0:
        raise ValueError(f"{x:.2f} is below 0")
    return math.sqrt(x)


def conversion_in_an_error(x):
    if x < 0:
        raise ValueError(f"{x!r} is below 0")
    return x * 3


def swapped(x):
    y = 2.0
    x, y = y, x
    return y / x


ANSWERED = (
    walrus, walrus_in_a_condition, comprehended, comprehended_twice, comprehended_pairs,
    whose_variable_was_set, whose_variable_was_not_set, in_a_loop, iterator_with_a_name,
    filtered, spread_later, starred_tuple, starred_list, list_of_constants,
    finally_done, raised_as_another, format_of_an_error, conversion_in_an_error, swapped,
)  # fmt: skip


@pytest.mark.parametrize("function", ANSWERED)
def test_what_is_read_is_answered(function):
    result = function(0.75)
    assert math.isclose(function(*invert(function, F)(result)), result, rel_tol=1e-12)


def test_a_comprehension_goes_over_the_elements_of_an_array():
    def doubled(x):
        return np.array([v * 2 for v in x])

    (found,) = invert(doubled, np.zeros(3))(np.array([2.0, 4.0, 5.0]))
    assert np.array_equal(found, [1.0, 2.0, 2.5])


def returns_in_a_handler(x):
    try:
        y = math.log(x)
    except ValueError:
        return 0.0
    return y


def goes_on_after_a_handler(x):
    y = 1.0
    try:
        y = math.log(x)
    except ValueError:
        y = 0.0
    return y


def handled_further_out(x):
    try:
        try:
            y = math.log(x)
        finally:
            z = x
    except ValueError:
        return 0.0
    return y + z


def suppressed(x):
    with open(x) as file:
        return file


def may_not_be_set(x):
    if x > 0:
        y = 1.0
    return [y, x][1]


def kept_unset(x):
    y = z if x > 0 else x  # noqa: F821
    z = y
    return x + 0.0 * z


def number_varies(x, n):
    return [x * i for i in range(n)][1]


def used_twice(x):
    pairs = zip((1.0, 2.0), (x, x), strict=True)
    total = 0.0
    for a, b in pairs:
        total += a * b
    for a, b in pairs:
        total += a * b
    return total


def used_in_a_list_and_again(x):
    pairs = zip((1.0, 2.0), (x, x), strict=True)
    taken = [*pairs]
    for a, b in pairs:
        x += a * b
    return taken[0][1] + x


REFUSED = {
    returns_in_a_handler: "try, an exception that is caught",
    goes_on_after_a_handler: "try, an exception that is caught",
    handled_further_out: "try, an exception that is caught",
    suppressed: r"a call of _io\.open",
    may_not_be_set: "y may be used before it has a value",
    kept_unset: "z may be used before it has a value",
    used_twice: "an iterator that is used again",
    used_in_a_list_and_again: "an iterator that is used again",
}


@pytest.mark.parametrize("function", REFUSED)
def test_what_has_no_meaning_is_refused_by_its_name_in_python(function):
    with pytest.raises(NotInvertible, match=REFUSED[function]) as caught:
        invert(function, F)
    line = int(caught.value.where.rpartition(":")[2])
    assert line > function.__code__.co_firstlineno
    assert caught.value.help


def test_a_comprehension_of_a_number_of_items_that_varies_is_a_list():
    inverse = invert(number_varies, F, int)
    assert inverse(3.0, inverse.recover(3.0, 4)) == (3.0, 4)


def test_a_global_that_some_function_binds_anew_is_what_it_is_when_the_inverse_is_made():
    namespace = {}
    exec("G = 3.0\ndef f(x): return x * G\ndef rebind():\n    global G\n    G = 4.0", namespace)
    f = namespace["f"]
    assert invert(f, F)(6.0) == (2.0,)
    namespace["rebind"]()
    assert invert(f, F)(6.0) == (1.5,)


def test_a_variable_of_an_outer_function_that_is_not_set_is_named():
    def outer():
        def f(x):
            return x + later

        if builtins is None:
            later = 1.0
        return f

    with pytest.raises(NotInvertible, match="the name later, which is not defined"):
        invert(outer(), F)


def test_a_function_is_read_once_however_often_it_is_called(monkeypatch):
    read = []
    plain = recursion.code_of
    monkeypatch.setattr(
        recursion, "code_of", lambda f, **named: (read.append(f), plain(f, **named))[1]
    )

    def calls(x):
        return scaled(scaled(scaled(x, 2.0), 3.0), 4.0)

    assert invert(calls, F)(48.0) == (2.0,)
    assert read == [calls, scaled]
