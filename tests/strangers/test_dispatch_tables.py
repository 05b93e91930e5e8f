"""Programs that choose functions from tables, as others write them, written again in Python: state
machines, interpreters, registries. Each test names its source."""

import functools
import math
import operator
from dataclasses import dataclass

import numpy as np
import pytest

from overlay import Context, MethodTable


def tripled(x):
    return 3.0 * x


def overlaid():
    """A context in which a builtin and a function of these programs are others."""
    table = MethodTable("table")
    table.overlay(math.sin)(tripled)
    table.overlay(opened)(tripled)
    return Context(table)


def opened(x):
    return x + 1.0


def closed(x):
    return x - 1.0


def counted(x):
    return x + 0.125


# ---- rsmith.home.xs4all.nl, "State machines in Python": (input, state) -> (state, outputs) ----

TRANSITIONS = {
    (0, 0): (1, [opened, counted]),
    (1, 0): (0, [counted, counted]),
    (0, 1): (1, [counted, math.sin]),
    (1, 1): (0, [closed, counted]),
}


def state_machine(n, x):
    state = 0
    for i in range(n):
        state, outputs = TRANSITIONS[i % 2, state]
        for output in outputs:
            x = output(x)
    return x


# ---- the dispatch loops of PyPy's tutorial interpreters: (opcode, handler) pairs, unrolled ----


def push_one(stack, top):
    stack[top] = 1.0
    return top + 1


def add(stack, top):
    stack[top - 2] += stack[top - 1]
    return top - 1


def double(stack, top):
    stack[top - 1] *= 2.0
    return top


HANDLERS = [(0, push_one), (1, add), (2, double)]


def dispatch_loop(n, x):
    stack, top = np.zeros(16), 1
    stack[0] = x
    for i in range(n):
        code = (0, 2, 1)[i % 3]
        for opcode, handler in HANDLERS:
            if opcode == code:
                top = handler(stack, top)
    return stack[:top].sum()


# ---- corletti.xyz, "Dispatch Tables in Python": a table in a class, asked by a name ----


class Versions:
    table = {"alpha": opened, "beta": closed, "gamma": math.sin}  # noqa: RUF012


def by_name(n, x):
    name = "alpha" if n % 3 == 0 else "beta" if n % 3 == 1 else "gamma"
    return Versions.table[name](x) if name in Versions.table else x


# ---- DEAP and gplearn, symbolic regression: sets of functions with how many values they take ----


@dataclass(frozen=True)
class Primitive:
    function: object
    arity: int


UNARY = (Primitive(math.sin, 1), Primitive(math.cos, 1), Primitive(abs, 1))
BINARY = [operator.add, operator.sub, operator.mul]
PROGRAM = np.array([[0, 1], [2, 0], [1, 2], [1, 1]])


def symbolic_regression(n, x):
    found = x
    for i in range(n):
        first, second = PROGRAM[i % 4]
        value = UNARY[first].function(found)
        found = BINARY[second](value, x)
    return found


# ---- textbooks of numerical methods: explicit Runge-Kutta methods in a registry ----


def decay(t, y):
    return -y + math.sin(t)


def euler(f, t, y, h):
    return y + h * f(t, y)


def midpoint(f, t, y, h):
    return y + h * f(t + h / 2, y + h / 2 * f(t, y))


METHODS = {"euler": euler, "midpoint": midpoint}
RIGHT_SIDES = {"decay": decay, "growth": lambda t, y: y}


def integrated(n, x):
    step = METHODS.get("midpoint" if n % 2 else "other", euler)
    for f in RIGHT_SIDES.values():
        for i in range(n):
            x = step(f, 0.1 * i, x, 0.1)
    return x


# ---- micrograd and other tutorials: layers with an activation each ----

LAYERS = [
    {"weights": (0.5, -0.25), "activation": math.tanh},
    {"weights": (1.5, 0.75), "activation": math.sin},
]


def network(n, x):
    for layer in LAYERS:
        w, b = layer["weights"]
        x = layer["activation"](w * x + b)
    return x + n


# ---- toolz, pipelines: functions that are partly applied, one after the other ----


def scaled(factor, x):
    return factor * x


def clipped(low, high, x):
    return min(max(x, low), high)


PIPELINE = (functools.partial(scaled, 2.0), math.sin, functools.partial(clipped, -0.5, 0.5), opened)


def pipeline(n, x):
    for f in PIPELINE:
        x = f(x)
    return x + n


# ---- multipledispatch and ovld: a table of pairs of kinds, with a fallback ----

COLLISIONS = {("ship", "rock"): opened, ("rock", "ship"): closed, ("rock", "rock"): math.sin}
KINDS = ("ship", "rock")


def collided(n, x):
    for a in KINDS:
        for b in KINDS:
            x = COLLISIONS.get((a, b), counted)(x)
    return x * n


# ---- NumPy's ufunc-like reductions by name (pandas agg): the same table read twice ----

AGGREGATES = {"total": np.sum, "mean": np.mean, "largest": np.max}


def aggregated(n, x):
    values = np.linspace(x, x + n, 5)
    found = 0.0
    for aggregate in AGGREGATES.values():
        found += aggregate(values)
    return found * len(AGGREGATES)


# ---- schedulers: a queue of callbacks that is changed by the program between runs ----

CALLBACKS = [opened, math.sin]


def scheduled(n, x):
    for i in range(n):
        x = CALLBACKS[i % len(CALLBACKS)](x)
    return x


PROGRAMS = (
    state_machine,
    dispatch_loop,
    by_name,
    symbolic_regression,
    integrated,
    network,
    pipeline,
    collided,
    aggregated,
    scheduled,
)


@pytest.mark.filterwarnings("ignore:.*First-class.*")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_table_of_functions_is_followed_in_compiled_code(program):
    context = overlaid()
    hot = context.jit(program)
    for n in (3, 4):
        assert hot(n, 0.7) == pytest.approx(context(program, n, 0.7), rel=1e-14)


def test_callbacks_that_the_program_adds_are_called():
    context = overlaid()
    hot = context.jit(scheduled)
    before = hot(3, 0.7)
    CALLBACKS.append(closed)
    try:
        assert hot(3, 0.7) == context(scheduled, 3, 0.7) != before
    finally:
        CALLBACKS.pop()
    assert hot(3, 0.7) == before
