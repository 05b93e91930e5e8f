"""A method that goes on with ``call_next`` is applied as often as without an interpretation around
it: for each target of the tables that interpret numbers.
"""

import functools
import operator
import warnings

import numpy as np
import pytest

from overlay import Context, MethodTable, OverlayError, call_next
from overlay.interpretations.autodiff import autodiff, derivative, gradient
from overlay.interpretations.autodiff.forward import level_of
from overlay.interpretations.batching import batched
from overlay.interpretations.batching.batch_methods import TABLE
from overlay.interpretations.intervals import Interval, enclose, intervals

X, STEP = 0.53, 1e-5
FORMS = (
    *("(x)", "(x, 0.3)", "(0.3, x)", "(x, 2)", "(x, 0.3, 0.7)", "(x, float)", "(x, 'real')"),
    *("(x, '.2f')", "('%.2f', x)", "(np.array([x, 0.3]))", "(np.array([x, 0.3]), 0.4)"),
)
BESIDES = {operator.add, operator.mul, operator.sub, print}
"""The operators of the programs and methods below, and what prints."""
NUMBERS = {"change": lambda *args: 1.0 * call_next(*args) + 0.25, "use": "{0} * x"}
# by the type of a target's results: the user's method, and how the program uses a result
OF_TYPES = {
    bool: {"change": lambda *args: call_next(*args) ^ True, "use": "x * 3 if {0} else x * 5"},
    str: {"change": lambda *args: call_next(*args) + ".", "use": "len({0}) * x"},
    type: {
        "change": lambda *args: int if call_next(*args) is float else float,
        "use": "x * 3 if {0} is int else x * 5",
    },
    tuple: {"change": lambda *args: (*call_next(*args), 0), "use": "len({0}) * x"},
    int: {"change": lambda *args: call_next(*args) + 1, "use": "{0} * x"},
    float: NUMBERS,
    np.ndarray: {**NUMBERS, "use": "np.sum({0}) * x"},
}
CONSTANT = {bool, str, type, tuple, int}


def kind_of(result):
    kinds = {np.bool_: bool, np.integer: int, np.floating: float}
    found = next((kind for of, kind in kinds.items() if isinstance(result, of)), type(result))
    return found if found in OF_TYPES else None


def written(expression, target):
    return eval(f"lambda x: {expression}", {"f": target, "np": np})


def cases():
    """For each target of the tables and each form of a call: the type of the results."""
    tables = (level_of(0, 1).table, intervals, TABLE)
    made = {}
    for target in dict.fromkeys(target for table in tables for target in table.targets()):
        module = str(getattr(target, "__module__", None))
        if module.startswith("overlay") or target in BESIDES:
            continue
        for form in FORMS:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    result = written(f"f{form}", target)(X)
                except Exception:  # noqa: BLE001 (the target does not take these)
                    continue
            if kind_of(result) is not None:
                made[f"{module}.{target.__name__}{form}"] = target, form, kind_of(result)
    return made


CASES = cases()
# Library code that runs in the program's context meets their methods.
OF_LIBRARY = {operator.eq, operator.ne, operator.getitem, isinstance, float, bool, str, repr}


class Case:
    """A program with one call of a target, and the context of a method that changes its results.

    value, slope: of the program in the context, without an interpretation.
    """

    def __init__(self, name):
        self.target, form, self.kind = CASES[name]
        table = MethodTable("user's")
        table.overlay(self.target)(OF_TYPES[self.kind]["change"])
        self.context = Context(table)
        self.f = written(OF_TYPES[self.kind]["use"].format(f"f{form}"), self.target)
        self.value = self.context(self.f, X)
        self.slope = self.slope_of(lambda x: self.context(self.f, x))

    def slope_of(self, f):
        if self.kind in CONSTANT:
            return f(X) / X
        return (f(X + STEP) - f(X - STEP)) / (2 * STEP)

    def both_orders(self, interpreted):
        """A program inside an interpretation: its own context inside it, and around it."""
        yield interpreted(self.context.wrap(self.f))
        if self.target not in OF_LIBRARY:
            yield lambda *args: self.context(interpreted(self.f), *args)


def differs(found, wanted):
    return not np.allclose(found, wanted, rtol=1e-4, atol=1e-6, equal_nan=True)


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


@functools.cache
def case_of(name):
    return Case(name)


def applicable(known, wanted):
    """Skip unless an interpretation does without the method what the program does."""
    try:
        if differs(known(), wanted):
            pytest.skip("it is not that of the program without a method either")
    except Exception as error:  # noqa: BLE001
        pytest.skip(f"it is refused without a method, too: {error!r}")


def forward(f):
    return derivative(f)


def reverse(f):
    return gradient(f, mode="reverse")


@pytest.mark.parametrize("way", [forward, reverse])
@pytest.mark.parametrize("name", CASES)
def test_a_derivative(name, way):
    case = Case(name)
    applicable(lambda: way(case.f)(X), case.slope_of(case.f))
    for differentiated in case.both_orders(way):
        assert not differs(differentiated(X), case.slope), (differentiated(X), case.slope)


@pytest.mark.parametrize("name", CASES)
def test_an_enclosure(name):
    case = Case(name)

    def enclosed(f):
        return lambda: np.ravel(bounds(enclose(f, Interval(X))))

    applicable(enclosed(case.f), case.f(X))
    for run in case.both_orders(enclosed):
        assert not differs(run(), case.value), (run(), case.value)


def bounds(found):
    return (found.low, found.high) if isinstance(found, Interval) else found


@pytest.mark.parametrize("name", CASES)
def test_a_batch(name):
    case, xs = Case(name), np.array([X, 1.7, 0.3])
    applicable(lambda: batched(case.f)(xs), [case.f(x) for x in xs])
    for run in case.both_orders(batched):
        assert not differs(run(xs), [case.context(case.f, x) for x in xs])


@pytest.mark.parametrize("name", CASES)
def test_compiled_code(name):
    case = Case(name)
    applicable(lambda: case.context.jit(case.f)(X), case.value)
    within = case.context | Context(intervals)
    slope = case.context.jit(lambda x: autodiff(case.f, x))
    for run, known, wanted in (
        (lambda: slope(X), lambda: Context().jit(lambda x: autodiff(case.f, x))(X), case.slope),
    ):
        applicable(known, case.slope_of(case.f))
        assert not differs(run(), wanted)
    known = Context(intervals).jit(case.f)
    applicable(lambda: bounds(known(Interval(X))), case.f(X))
    assert not differs(bounds(within.jit(case.f)(Interval(X))), case.value)
