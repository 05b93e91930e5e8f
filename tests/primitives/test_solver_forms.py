"""Compiled kernels: helpers, and integers that do not fit into 64 bits."""

import inspect
import itertools
import operator

import pytest

from inversion import NoSolution, choose
from primitives.integers.exact import minus, plus, times
from primitives.solver_forms import compiled_solvers

LOWEST, HIGHEST = -(2**63), 2**63 - 1
EDGES = sorted(
    {0, 1, -1, 2, -3, 4, 3037000499, 3037000500, -3037000500, 2**32, 2**31, HIGHEST, LOWEST}
    | {sign * 2**62 + step for sign in (1, -1) for step in (-1, 0, 1)}
    | {LOWEST + 1, HIGHEST - 1, HIGHEST // 3, LOWEST // 3}
)


@pytest.mark.parametrize(
    ("checked", "exact"), [(plus, operator.add), (minus, operator.sub), (times, operator.mul)]
)
def test_compiled_integer_arithmetic_is_exact_or_refused(checked, exact):
    fast = compiled_solvers.jit(checked)
    for a, b in itertools.product(EDGES, EDGES):
        wanted = exact(a, b)
        assert checked(a, b) == wanted
        if LOWEST <= wanted <= HIGHEST:
            assert fast(a, b) == wanted
        else:
            with pytest.raises(NoSolution, match="64 bits"):
                fast(a, b)


def test_interpreted_integers_have_any_size():
    assert times(2**70, -(2**70)) == -(2**140)
    assert minus(plus(2**63, 2**63), 1) == 2**64 - 1


@pytest.mark.parametrize(
    "f",
    [
        lambda x: x * 4,
        lambda x: -x,
        lambda x: x * x,
        lambda x, y: x * 4 + y,
        lambda x, y: x - y * 3,
        lambda x, y: x * y,
        lambda x, y: x * y - x,
    ],
)
def test_compiled_programs_of_integers_never_wrap(f):
    names = tuple(inspect.signature(f).parameters)
    fast = choose(f, *(int for _ in names), known=names).compile()
    for values in itertools.product(EDGES, repeat=len(names)):
        wanted = f(*values)
        try:
            (found,) = fast(*values)
        except NoSolution:
            continue
        assert found == wanted, values
    small = tuple(range(2, 2 + len(names)))
    assert fast(*small) == (f(*small),)


def even(n: int) -> bool:
    return True if n == 0 else odd(n - 1)


def odd(n: int) -> bool:
    return False if n == 0 else even(n - 1)


def test_helpers_that_call_each_other_are_compiled():
    assert compiled_solvers.jit(even)(10)
    assert not compiled_solvers.jit(odd)(10)


def test_closures_that_call_each_other_are_compiled():
    def down(n):
        return 0 if n == 0 else up(n - 1)

    def up(n):
        return 1 if n == 0 else down(n - 1)

    assert [compiled_solvers.jit(down)(n) for n in range(4)] == [0, 1, 0, 1]
