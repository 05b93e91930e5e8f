"""Everything made from a program sees a change of its dependencies at the next call: engines,
derivatives, enclosures, kernels and inverses.
"""

import math

import numpy as np
import pytest

from inversion import NoSolution, contract, invert
from overlay import Context, OverlayError
from overlay.interpretations.autodiff import add_gradient, autodiff, derivative, gradient
from overlay.interpretations.intervals import Interval, enclose
from tests.laws.edits import EDITS, GENERIC, LISTS, OBJECTS, method_of_table


def interpreted(context, f):
    wrapped = context.wrap(f)
    return lambda: wrapped(2.0) / 2.0


def compiled(context, f):
    fast = context.jit(f)
    return lambda: fast(2.0) / 2.0


def with_options(context, f):
    fast = context.jit(f, fastmath=True, nogil=True)
    return lambda: fast(2.0) / 2.0


def compiled_beside(context, f):
    fast = context.jit(lambda x: f(x) + f(1.0))
    return lambda: fast(2.0) / 3.0


def interpreted_derivative(context, f):
    of = derivative(context.wrap(f))
    return lambda: of(2.0)


def interpreted_gradient(context, f):
    of = gradient(context.wrap(lambda x: f(x[0]) + 0.0 * x[1]), mode="reverse")
    return lambda: of(np.array([2.0, 1.0]))[0]


def compiled_derivative(context, f):
    of = context.jit(lambda x: autodiff(f, x))
    return lambda: of(2.0)


def compiled_gradient(context, f):
    def of_first(v):
        return f(v[0]) + 0.0 * v[1]

    of = context.jit(lambda x, d_x: add_gradient(of_first, (x, d_x)))

    def rate():
        found = np.zeros(2)
        of(np.array([2.0, 1.0]), found)
        return found[0]

    return rate


def enclosure(context, f):
    wrapped = context.wrap(f)
    return lambda: enclose(wrapped, Interval(2.0, 2.0)).low / 2.0


def inverse(context, f):
    before = invert(f, float, context=context)

    def rate():
        if before.is_out_of_date:  # it says so, and answers nothing
            with pytest.raises(NoSolution, match="has changed since"):
                before(18.0)
            return 18.0 / invert(f, float, context=context)(18.0)[0]
        return 18.0 / before(18.0)[0]

    return rate


def derivative_of_inverse(context, f):
    before = invert(f, float, context=context)

    def rate():
        of = before
        if before.is_out_of_date:
            with pytest.raises(NoSolution):
                derivative(lambda z: before(z)[0])(18.0)
            of = invert(f, float, context=context)
        return 1.0 / derivative(lambda z: of(z)[0])(18.0)

    return rate


def contraction(context, f):
    def rate():
        box = contract(f, Interval(0.0, 100.0), returns=Interval(18.0, 18.0), context=context)[0]
        return 18.0 / box.low

    return rate


CONSUMERS = (
    *(interpreted, compiled, with_options, compiled_beside),
    *(interpreted_derivative, interpreted_gradient, compiled_derivative, compiled_gradient),
    *(enclosure, inverse, derivative_of_inverse, contraction),
)


# what they cannot do, and say by name before any edit
REFUSED = {
    **dict.fromkeys(
        (compiled, with_options, compiled_beside, compiled_derivative), LISTS | OBJECTS
    ),
    compiled_gradient: LISTS | OBJECTS | GENERIC,
    **dict.fromkeys((inverse, derivative_of_inverse, contraction), GENERIC),
}


@pytest.mark.parametrize("consumer", CONSUMERS, ids=lambda c: c.__name__)
@pytest.mark.parametrize("kind", [*EDITS, method_of_table], ids=lambda k: k.__name__)
def test_an_edit_is_seen(kind, consumer):
    context, program, edit = made if len(made := kind()) == 3 else (Context(), *made)
    if kind.__name__ in REFUSED.get(consumer, ()):
        with pytest.raises(OverlayError):
            consumer(context, program)()
        return
    rate = consumer(context, program)
    assert math.isclose(rate(), 1.0)
    edit()
    assert program(2.0) == 18.0 or len(made) == 3
    assert math.isclose(rate(), 9.0)
