"""The code of interpretations runs with the functions of Python and NumPy, whatever methods a
context has for them; the program runs with these methods.
"""

import builtins
import copy
import functools
import inspect
import itertools
import math
import operator
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from overlay import Context, MethodTable, call_next, nonoverlay
from overlay.interpretations.autodiff import (
    add_gradient,
    adjoint,
    autodiff,
    checkpoint,
    derivative,
    differentiation,
    gradient,
    hessian,
    inactive,
    jacobian,
    jvp,
    vjp,
)
from overlay.interpretations.batching import batched
from overlay.interpretations.first_nan import first_nan
from overlay.interpretations.intervals import Interval, enclose
from overlay.interpretations.memoisation import memoised
from overlay.interpretations.mocks import Mocks
from overlay.interpretations.precision import (
    lowered,
    precision_report,
    significance,
    single_precision,
    stochastic,
)
from overlay.interpretations.printing import collect, silenced
from overlay.interpretations.probabilistic import (
    Normal,
    condition,
    draw,
    metropolis_hastings,
    observe,
    sample,
    score,
    simulate,
)
from overlay.interpretations.profiling import profile
from overlay.interpretations.record_replay import record, replay
from overlay.interpretations.sandbox import FILES, Sandbox
from overlay.interpretations.seeding import seeded
from overlay.interpretations.tagging import provenance
from overlay.interpretations.tracing import trace

XS = np.array([0.3, 0.7, 1.1])
HALF = Interval(0.25, 0.5)


# programs that call none of the targets
def one(x):
    return math.sin(math.exp(x))


def two(x, y):
    return math.hypot(math.sin(x), y)


def curved(xs):
    return np.linalg.norm(np.sin(xs))


def many(xs):
    return np.sin(xs)


def model():
    return observe("y", Normal(sample("x", Normal(0.0, 1.0)), 1.0), 0.5)


def added():
    into = MADE.copy()
    add_gradient(two, (0.3, into), 0.5)
    return into


def recorded():
    return record(FILE, ["math:sin"], one, 0.3), replay(FILE, one, 0.3)


MADE, SLOPE, FILE = np.zeros(1), derivative(one), Path(tempfile.mkdtemp(), "run.json")
first = operator.itemgetter(0)
BACK, BACK_OF_ARRAY = vjp(two, 0.3, 0.7)[1], vjp(many, XS)[1]

ENTRIES: dict[str, Callable[[], Any]] = {
    "derivative": lambda: derivative(one)(0.3),
    "second derivative": lambda: derivative(one, order=2)(0.3),
    "a made derivative": lambda: SLOPE(0.3),
    "a derivative of a derivative": lambda: derivative(lambda x: derivative(one)(x))(0.3),
    "jvp": lambda: jvp(two, (0.3, 0.7), (1.0, None)),
    "jvp of an array": lambda: jvp(many, (XS,), (XS,)),
    "vjp": lambda: first(vjp(two, 0.3, 0.7)),
    "vjp by an adjoint": lambda: first(vjp(two, 0.3, 0.7, mode="reverse")),
    "a pullback": lambda: BACK(1.0),
    "a pullback of an array": lambda: BACK_OF_ARRAY(XS),
    "gradient": lambda: gradient(two)(0.3, 0.7),
    "gradient by a name": lambda: gradient(two, active=("x",))(0.3, y=0.7),
    "gradient by an adjoint": lambda: gradient(two, mode="reverse")(0.3, 0.7),
    "gradient by an array": lambda: gradient(curved)(XS),
    "gradient by an array, backwards": lambda: gradient(curved, mode="reverse")(XS),
    "jacobian": lambda: jacobian(many)(XS),
    "jacobian by an adjoint": lambda: jacobian(many, mode="reverse")(XS),
    "hessian": lambda: hessian(two)(0.3, 0.7),
    "hessian by an array": lambda: hessian(curved)(XS),
    "autodiff": lambda: autodiff(one, 0.3),
    "autodiff by two": lambda: autodiff(two, 0.3, 0.7),
    "autodiff by an array": lambda: autodiff(curved, XS),
    "add_gradient": added,
    "adjoint": lambda: adjoint(two, 0.3, 0.7).source,
    "inactive": lambda: derivative(inactive(one))(0.3),
    "checkpoint": lambda: gradient(checkpoint(two), mode="reverse")(0.3, 0.7),
    "differentiation": lambda: differentiation()(autodiff, one, 0.3),
    "enclose": lambda: enclose(one, HALF),
    "enclose each way": lambda: enclose(one, HALF, undecided="follow"),
    "enclose in pieces": lambda: enclose(one, HALF, pieces=3),
    "batched": lambda: batched(one)(XS),
    "batched by one of two": lambda: batched(two, axes=(0, None))(XS, 0.5),
    "first_nan": lambda: first_nan(one, 0.3),
    "memoised": lambda: memoised(one)(one, 0.3),
    "Mocks": lambda: Mocks()(one, 0.3),
    "lowered": lambda: lowered(one)(one, 0.3),
    "precision_report": lambda: precision_report(one, 0.3).single,
    "significance": lambda: significance(one, 0.3).value,
    "single_precision": lambda: single_precision(one, 0.3),
    "stochastic": lambda: stochastic(3)(one, 0.3),
    "collect": lambda: collect(one, 0.3).result,
    "silenced": lambda: silenced(one)(0.3),
    "simulate": lambda: simulate(model, rng=3).values,
    "score": lambda: score(model, MODEL_VALUES),
    "condition": lambda: simulate(condition(model, MODEL_VALUES), rng=3).result,
    "draw": lambda: draw(NORMAL, RNG),
    "metropolis_hastings": lambda: metropolis_hastings(model, steps=3, rng=3).accepted,
    "profile": lambda: first(profile(one, 0.3).of("sin")).calls,
    "record": recorded,
    "Sandbox": lambda: Sandbox(FILES)(one, 0.3),
    "seeded": lambda: seeded(3)(one, 0.3),
    "provenance": lambda: provenance(one, 0.3).result,
    "trace": lambda: trace(one, 0.3).result,
}
MODEL_VALUES, NORMAL, RNG = {"x": 0.5}, Normal(0.0, 1.0), np.random.default_rng(3)

_BUILTINS = (
    *("abs", "all", "any", "bool", "callable", "dict", "enumerate", "filter", "float", "getattr"),
    *("hasattr", "id", "int", "isinstance", "issubclass", "iter", "len", "list", "map", "max"),
    *("min", "next", "range", "repr", "reversed", "set", "sorted", "str", "sum", "tuple", "type"),
    *("zip", "complex"),
)
_OPERATORS = (
    *("contains", "is_", "is_not", "not_", "and_", "add", "mul", "sub", "truediv", "floordiv"),
    *("eq", "ne", "ge", "gt", "le", "lt", "getitem", "setitem", "neg", "iadd"),
)
_NUMPY = (
    *("asarray", "array", "zeros", "zeros_like", "ones", "empty", "sum", "shape", "ndim", "size"),
    *("stack", "concatenate", "reshape", "iscomplexobj", "broadcast_to", "multiply", "add"),
    *("negative", "copy", "moveaxis", "where", "argsort", "arange", "prod"),
)
TARGETS: dict[str, Any] = {
    **{name: getattr(builtins, name) for name in _BUILTINS},
    **{f"operator.{name}": getattr(operator, name) for name in _OPERATORS},
    **{f"np.{name}": getattr(np, name) for name in _NUMPY},
    **{"partial": functools.partial, "product": itertools.product, "deepcopy": copy.deepcopy},
    **{"signature": inspect.signature, "dict.get": dict.get, "list.append": list.append},
    "ndarray.reshape": np.ndarray.reshape,
}


class Reached(BaseException):
    """A method was called: no Exception, so that nobody catches it."""


def destroying(*names: str) -> Context:
    """A context in which each call of these targets raises Reached."""
    table = MethodTable("destroying")
    for name in names:

        def reached(*args: Any, name: str = name, **kwargs: Any) -> Any:
            raise Reached(name)

        table.overlay(TARGETS[name])(reached)
    return Context(table)


@pytest.mark.parametrize("name", ENTRIES)
def test_own_code_calls_no_method_of_the_program(name):
    entry = ENTRIES[name]
    RNG.bit_generator.state = np.random.default_rng(3).bit_generator.state
    wanted = entry()
    RNG.bit_generator.state = np.random.default_rng(3).bit_generator.state
    found = destroying(*TARGETS)(entry)
    assert repr(found) == repr(wanted)


# ---- one target after the other --------------------------------------------------------------


def other_than(found: Any) -> Any:
    """Something else of the same type, where a type has such a thing."""
    if isinstance(found, bool):
        return not found
    if isinstance(found, (int, float, complex, np.ndarray, Interval)):
        return found * 2
    return found[::-1] if isinstance(found, (list, tuple)) else found


# programs that call one target once, at a number
USES: dict[str, tuple[Any, Callable[[Any], Any]]] = {
    "len": (len, lambda x: x * len("abc")),
    "float": (float, lambda x: x * float("2")),
    "int": (int, lambda x: x * int("2")),
    "max": (max, lambda x: x * max(2.0, 3.0)),
    "isinstance": (isinstance, lambda x: x if isinstance("", int) else x * x),
    "tuple": (tuple, lambda x: x * math.dist((2.0, 3.0), tuple(range(2)))),
    "sum": (sum, lambda x: x * sum([1.0, 2.0])),
    "sorted": (sorted, lambda x: x * math.dist((2.0,), sorted([1.0]))),
    "operator.getitem": (operator.getitem, lambda x: x * PAIR[1]),
    "operator.contains": (operator.contains, lambda x: x * x if 1.0 in PAIR else x),
    "operator.eq": (operator.eq, lambda x: x * x if PAIR == 1.0 else x),
    "operator.ne": (operator.ne, lambda x: x * x if PAIR != 1.0 else x),
    "operator.sub": (operator.sub, lambda x: math.sin(x - 0.25)),
    "operator.mul": (operator.mul, lambda x: math.sin(x * 3.0)),
    "math.sin": (math.sin, lambda x: math.exp(math.sin(x))),
}
PAIR = (2.0, 5.0)

INTERPRETED: dict[str, Callable[[Any], Callable[[float], Any]]] = {
    "derivative": derivative,
    "second derivative": lambda f: derivative(f, order=2),
    "gradient": gradient,
    "reverse": lambda f: gradient(f, mode="reverse"),
    "jvp": lambda f: lambda x: jvp(f, (x,), (1.0,)),
    "autodiff": lambda f: lambda x: autodiff(f, x),
    "enclose": lambda f: lambda x: enclose(f, HALF),
    "batched": lambda f: lambda x: batched(f)(POINTS),
}
POINTS = np.array([0.3, 0.6])


def changing(target: Any) -> Context:
    table = MethodTable("changing")

    @table.overlay(target)
    def changed(*args: Any, **kwargs: Any) -> Any:
        return doubled(call_next(*args, **kwargs))

    doubled = nonoverlay(other_than)
    return Context(table)


@pytest.mark.parametrize("way", INTERPRETED)
@pytest.mark.parametrize("name", USES)
def test_a_context_further_out_changes_the_program_as_one_further_in(name, way):
    target, f = USES[name]
    context, interpreted = changing(target), INTERPRETED[way]
    wanted = interpreted(context.wrap(f))(0.3)
    run = interpreted(f)
    assert repr(context(run, 0.3)) == repr(wanted)
    with context:
        found = run(0.3)
    assert repr(found) == repr(wanted)


# a rule that one target alone does not take aside may be taken aside by the others
ALONE = (
    "derivative",
    "gradient by an array",
    "jacobian",
    "hessian by an array",
    "enclose",
    "batched",
)


@pytest.mark.parametrize("name", ALONE)
@pytest.mark.parametrize("target", TARGETS)
def test_own_code_calls_no_method_of_one(target, name):
    assert repr(destroying(target)(ENTRIES[name])) == repr(ENTRIES[name]())
