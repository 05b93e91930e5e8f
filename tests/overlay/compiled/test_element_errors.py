"""Exceptions of the functions of elements, in loops of ``vectorize`` and ``guvectorize`` that
compiled code runs: they are raised, and caught, as in interpreted code."""

import numpy as np
import pytest
from numba import guvectorize, njit, vectorize

from overlay import Context, MethodTable

pytestmark = pytest.mark.filterwarnings("ignore:ufunc.reduce")  # numba calls it experimental


def changed(x):
    return x + 1.0


table = MethodTable("element errors")


@table.overlay(changed)
def checked(x: float):
    if x < 0:
        raise ValueError("negative")
    return x * 3.0


def positive(x):
    if x < 0:
        raise ValueError("negative")
    return x * 2.0


@njit
def positive_and_compiled(x):
    if x < 0:
        raise ValueError("negative")
    return x * 2.0


@vectorize
def by_types_of_calls(x):
    return positive_and_compiled(x)


by_signature = vectorize(["f8(f8)"])(positive)


@vectorize
def of_overlay(x):
    return changed(x)


@vectorize(["f8(f8,f8)"])
def added(x, y):
    if y < 0:
        raise ValueError("negative")
    return x + y


@guvectorize(["f8[:], f8[:]"], "(n)->(n)")
def rows(x, out):
    for i in range(x.shape[0]):
        if x[i] < 0:
            raise ValueError("negative")
        out[i] = x[i]


def elements(x):
    return by_types_of_calls(x).sum()


def signed(x):
    return by_signature(x).sum()


def one(x):
    return by_signature(x[1])


def into_array(x):
    out = np.zeros_like(x)
    by_types_of_calls(x, out)
    return out[1]


def broadcast(x):
    return added(x.reshape(2, 2), x.reshape(2, 2)[1]).sum() + added(1.0, x[1])


def in_expression(x):
    return (by_signature(x) * 2.0 + x).sum()


def through_overlay(x):
    return of_overlay(x).sum()


def reduced(x):
    return added.reduce(x)


def reduced_along_an_axis(x):
    return added.reduce(x.reshape(2, 2), axis=1).sum()


def generalized(x):
    out = np.zeros_like(x)
    rows(x, out)
    return out.sum()


def generalized_over_rows(x):
    out = np.zeros((2, 2))
    rows(x.reshape(2, 2), out)
    return out.sum()


def in_helper(x):
    return elements(x) + 1.0


def generated(x):
    for i in range(2):
        yield by_signature(x[i])


def in_generator(x):
    total = 0.0
    for each in generated(x):
        total += each
    return total


def caught(x):
    try:
        return by_signature(x).sum()
    except Exception:
        return -1.0


def caught_of_rows(x):
    out = np.zeros_like(x)
    try:
        rows(x, out)
    except Exception:
        return -1.0
    return out.sum()


def caught_and_raised_again(x):
    total = 0.0
    try:
        total = by_signature(x).sum()
    except Exception:
        total = 5.0
    return total + by_types_of_calls(x[1])


PROGRAMS = [
    elements,
    signed,
    one,
    into_array,
    broadcast,
    in_expression,
    through_overlay,
    reduced,
    reduced_along_an_axis,
    generalized,
    generalized_over_rows,
    in_helper,
    in_generator,
    caught,
    caught_of_rows,
    caught_and_raised_again,
]


def outcome(call):
    try:
        return call()
    except ValueError as error:
        return str(error)


@pytest.mark.parametrize("program", PROGRAMS)
def test_compiled_code_raises_what_interpreted_code_does(program):
    context = Context(table)
    compiled = context.jit(program)
    for x in (np.array([1.0, -1.0, 2.0, 3.0]), np.array([1.0, 2.0, 3.0, 4.0])):
        assert outcome(lambda x=x: compiled(x)) == outcome(lambda x=x: context(program, x))
