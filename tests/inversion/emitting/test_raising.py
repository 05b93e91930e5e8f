"""A call that raises in Python has no answer in compiled code either."""

import itertools
import math
import operator

import numba
import numpy as np
import pytest

from inversion import NoSolution, invert
from inversion.emitting.raising import as_in_python, raising
from overlay import Context, MethodTable, call_next

F = float
EDGES = (-math.inf, -1e308, -2.0, -1.0, -0.5, -0.0, 0.0, 0.5, 1.0, 2.0, 800.0, 1e308, math.inf)
# gamma of a whole number below 1, and the overflow of its logarithm, are numba's own
FUNCTIONS = [t for t in raising.targets() if t not in (operator.pow, math.gamma, math.lgamma)]
# numba before 0.62 does not compile exp2
COMPILED = [t for t in FUNCTIONS if t is not math.exp2 or numba.version_info.short >= (0, 62)]


def unused(x, y):
    root = math.sqrt(x)
    return y - 1 if y > 0 else (y, root)[0] - 2


def compared(x, y):
    if math.log(x) > 0:
        return 2 * y
    return 3 * y


def straight(x):
    return math.log(x) + 1


def outcome(f, *args):
    """The result of a call; None if it raises, or if the result is not a float."""
    try:
        found = f(*args)
    except (ValueError, ArithmeticError):
        return None
    return found if isinstance(found, float) else None


@pytest.fixture(scope="module")
def each():
    """Calls a function of a number, compiled."""
    rows = (f"    if i == {i}: return math.{f.__name__}(a)\n" for i, f in enumerate(COMPILED))
    space = {"math": math}
    exec("def each(i, a):\n" + "".join(rows) + "    return a\n", space)
    return as_in_python(None).jit(space["each"])


def test_functions_raise_in_compiled_code_where_they_do_in_python(each):
    raised = 0
    for (i, function), a in itertools.product(enumerate(COMPILED), EDGES):
        wanted = outcome(function, a)
        assert outcome(each, i, a) == pytest.approx(wanted, nan_ok=True), (function, a)
        raised += wanted is None
    assert raised > 40


@pytest.mark.parametrize("exponents", [EDGES, (-3, -1, 0, 1, 2, 5)])
def test_powers_raise_in_compiled_code_where_they_do_in_python(exponents):
    fast, raised = as_in_python(None).jit(lambda a, b: a**b), 0
    for a, b in itertools.product(EDGES, exponents):
        wanted = outcome(operator.pow, a, b)
        assert outcome(fast, a, b) == pytest.approx(wanted), (a, b)
        raised += wanted is None
    assert raised > 5


def test_arguments_at_which_the_program_raises_are_no_answer():
    inverse, interpreted, refused = invert(unused, F, F), invert(unused, F, F), 0
    fast = inverse.compile()
    thetas = inverse.parameters.sample(np.random.default_rng(0), 12)
    for theta in thetas:
        try:
            wanted = interpreted(6.0, theta)
        except NoSolution:
            refused += 1
            with pytest.raises((NoSolution, ValueError)):
                fast(6.0, tuple(theta))
            continue
        assert fast(6.0, tuple(theta)) == wanted
    (found, _) = inverse.batch(6.0, theta=thetas, on_error="nan")
    assert np.isnan(found).sum() == refused
    assert 0 < refused < 12


def test_only_where_an_error_may_be_hidden_is_it_looked_for():
    assert invert(unused, F, F)._definition.hides_errors
    assert invert(compared, F, F)._definition.hides_errors
    assert not invert(straight, F)._definition.hides_errors
    assert not invert(lambda x, y: y - x if y > 0 else y + x, F, F)._definition.hides_errors


def test_overlays_stand_before_what_raises():
    table = MethodTable("logarithms")

    @table.overlay(math.log)
    def of_size(x: float):
        return call_next(abs(x))

    inverse = invert(compared, F, F, context=Context(table))
    assert inverse.compile()(6.0, inverse.recover(-4.0, 3.0)) == (-4.0, 3.0)
