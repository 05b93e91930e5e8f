"""Whatever numba compiles of math, cmath and numpy compiles the same under a table that has
methods for all of it and is never reached."""

import cmath
import copy
import itertools
import math
import operator

import numpy as np
import pytest
from numba import njit

from overlay import Context, MethodTable
from overlay.compiled.numba.numba_types import knows, numba_typing

pytestmark = pytest.mark.filterwarnings("ignore")  # numba's advice on performance

BATCH = 12
SCALARS = ((0.5,), (2,), (0.5, 2.5), (6, 4), (0.5, 2))
VECTORS = (
    (np.array([0.5, 0.25]),),
    (np.array([3, 1]),),
    (np.array([[2.0, 1.0], [1.0, 3.0]]),),
    (np.array([0.5, 0.25]), 1),
    (np.array([0.5, 0.25]), np.array([1.5, 2.5])),
    (np.array([3, 1]), np.array([1, 2])),
)


RAISES = [operator.contains]  # of arrays: numba's own, where numpy's does not


class Unused:
    """No argument is one."""


def functions_of(module):
    """The functions of a module that numba knows; of numpy its ufuncs alone, which is enough:
    the others take minutes to compile."""
    found = [getattr(module, name) for name in dir(module) if not name.startswith("_")]
    kind = np.ufunc if module is np else object
    functions = [f for f in found if callable(f) and isinstance(f, kind) and knows(f)]
    functions = [f for f in functions if f not in RAISES]
    return list({id(f): f for f in functions if not isinstance(f, type)}.values())


def compilable(function, args):
    """Whether numba knows the type of this call, and it can be made."""
    typing = numba_typing()
    try:
        function(*copy.deepcopy(args))
        types = tuple(typing.resolve_value_type(a) for a in args)
        ty = typing.resolve_value_type(function)
        return typing.resolve_function_type(ty, types, {}) is not None
    except Exception:
        return False


def calls_of(module, choices):
    """Each function with the first of these arguments that numba takes for it."""
    for function in functions_of(module):
        for args in choices:
            if compilable(function, args):
                yield function, args
                break


def never_reached(functions):
    table = MethodTable("never")
    for function in functions:

        @table.overlay(function)
        def method(x: Unused, *rest: Unused):
            return 0.0

    return table


def program_of(batch):
    """One function that makes these calls, and the arguments of all of them."""
    namespace, calls, values = {}, [], []
    for place, (function, args) in enumerate(batch):
        names = [f"a{place}_{i}" for i in range(len(args))]
        namespace[f"f{place}"] = function
        calls.append(f"f{place}({', '.join(names)})")
        values += zip(names, args, strict=True)
    parameters = ", ".join(name for name, _ in values)
    exec(f"def program({parameters}): return ({', '.join(calls)},)", namespace)
    return namespace["program"], [value for _, value in values]


def same(one, other):
    if isinstance(one, (tuple, list)):
        return len(one) == len(other) and all(map(same, one, other))
    return type(one) is type(other) and np.array_equal(one, other, equal_nan=_is_inexact(one))


def _is_inexact(value):
    return np.issubdtype(np.asarray(value).dtype, np.inexact)


def batches(calls):
    calls = iter(calls)
    while batch := list(itertools.islice(calls, BATCH)):
        yield batch


@pytest.mark.parametrize(
    ("module", "choices", "least"),
    [
        (math, SCALARS, 40),
        (cmath, ((0.5 + 0.25j,), *SCALARS), 18),
        (operator, SCALARS, 30),
        (operator, VECTORS, 30),
        (np, SCALARS, 80),
    ],
    ids=["math", "cmath", "operator of scalars", "operator of arrays", "ufuncs"],
)
def test_functions_that_no_method_accepts_are_numbas_own(module, choices, least):
    calls = list(calls_of(module, choices))
    assert len(calls) >= least
    context = Context(never_reached(function for function, _ in calls))
    for batch in batches(calls):
        program, values = program_of(batch)
        overlaid = context.jit(program)(*copy.deepcopy(values))
        assert same(overlaid, njit(program)(*copy.deepcopy(values))), batch
