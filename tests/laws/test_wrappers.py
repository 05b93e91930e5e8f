"""A function in a wrapper takes the parameters of the wrapper's code, for every caller.

``functools.wraps`` gives the wrapper the signature of the wrapped function, whose parameters may
have other names, and be fewer.
"""

import functools

import numpy as np
import pytest

from inversion import invert
from overlay import Context, MethodTable, call_next
from overlay.interpretations.autodiff import autodiff, derivative, gradient
from overlay.interpretations.intervals import Interval, enclose
from overlay.interpretations.tracing import trace


def shifting(f):
    @functools.wraps(f)
    def wrapper(y, shift=1.0):
        return f(y) * y + shift

    return wrapper


@shifting
def tripled(x):
    return 3.0 * x


CALLS = {  # and the shift
    "positional": (lambda x: tripled(x), 1.0),
    "both positional": (lambda x: tripled(x, 4.0), 4.0),
    "named": (lambda x: tripled(x, shift=4.0), 4.0),
    "by its own name": (lambda x: tripled(y=x), 1.0),
    "all named, turned": (lambda x: tripled(shift=4.0, y=x), 4.0),
}
table = MethodTable("negated")


@table.overlay(tripled)
def negated(y, shift=1.0):
    return -call_next(y, shift)


def inverted(f):
    (found,) = invert(f, float)(f(2.0))[:1]
    return abs(found)  # both roots are answers


SLOPES = {
    "forward": lambda f: derivative(f)(2.0),
    "by dual arrays": lambda f: gradient(lambda x: f(x[0]), mode="forward")(np.array([2.0]))[0],
    "reverse": lambda f: gradient(lambda x: f(x[0]), mode="reverse")(np.array([2.0]))[0],
    "compiled": lambda f: Context().jit(lambda x: autodiff(f, x))(2.0),
}
VALUES = {
    "in a context": lambda f: Context()(f, 2.0),
    "compiled": lambda f: Context().jit(f)(2.0),
    "enclosed": lambda f: enclose(f, Interval(2.0, 2.0)).middle,
    "traced": lambda f: trace(f, 2.0).result,
    "overlaid": lambda f: -Context(table)(f, 2.0),
    "overlaid, compiled": lambda f: -Context(table).jit(f)(2.0),
}


@pytest.mark.parametrize("way", VALUES)
@pytest.mark.parametrize("call", CALLS)
def test_values(call, way):
    function, shift = CALLS[call]
    assert VALUES[way](function) == pytest.approx(12.0 + shift, rel=1e-12)


@pytest.mark.parametrize("way", SLOPES)
@pytest.mark.parametrize("call", CALLS)
def test_slopes(call, way):
    assert SLOPES[way](CALLS[call][0]) == pytest.approx(12.0, rel=1e-12)


@pytest.mark.parametrize("call", CALLS)
def test_inverses(call):
    assert inverted(CALLS[call][0]) == pytest.approx(2.0, rel=1e-12)
