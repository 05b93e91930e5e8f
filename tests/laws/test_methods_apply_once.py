"""A method that goes on with ``call_next`` is applied as often as without an interpretation around
it: for each target of the tables that interpret numbers.
"""

import functools
import operator
import warnings

import numpy as np
import pytest

from overlay import Context, MethodTable, NotCompilable, call_next
from overlay.interpretations.autodiff import autodiff, derivative, gradient
from overlay.interpretations.autodiff.forward import level_of
from overlay.interpretations.batching import batched
from overlay.interpretations.batching.batch_methods import TABLE
from overlay.interpretations.intervals import Interval, enclose, intervals

X, STEP = 0.53, 1e-5
FORMS = (
    *("(x)", "(x, 0.3)", "(0.3, x)", "(x, 2)", "(x, 0.3, 0.7)", "(x, float)", "(x, 'real')"),
    *("(x, '.2f')", "(np.array([x, 0.3]))", "(np.array([x, 0.3]), 0.4)"),
)
BESIDES = {
    *(operator.add, operator.mul, operator.sub, np.add, np.multiply, np.subtract),
    *(print, np.empty, np.empty_like),
}
"""The operators of the programs and methods below, what prints, and arrays that nothing has set."""
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
    is_text = found is np.ndarray and result.dtype.kind not in "fiub"
    return found if found in OF_TYPES and not is_text else None


def written(expression, target):
    return eval(f"lambda x: {expression}", {"f": target, "np": np})


def cases():
    """For each target of the tables and each form of a call: the type of the results. One form of
    each target has results with a derivative."""
    differentiable = set()
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
                except Exception:
                    continue
            kind = kind_of(result)
            if kind in CONSTANT or (kind is not None and target not in differentiable):
                made[f"{module}.{target.__name__}{form}"] = target, form, kind
            if kind is not None and kind not in CONSTANT:
                differentiable.add(target)
    return made


CASES = cases()


def context_of(target, method):
    table = MethodTable("user's")
    table.overlay(target)(method)
    return Context(table)


class Case:
    """A program with one call of a target, and the context of a method that changes its results.

    value, slope: of the program in the context, without an interpretation.
    """

    def __init__(self, name):
        self.target, form, self.kind = CASES[name]
        self.f = written(OF_TYPES[self.kind]["use"].format(f"f{form}"), self.target)
        if self.calls() != 1:
            pytest.skip("the function calls itself, or the method is not called")
        self.context = context_of(self.target, OF_TYPES[self.kind]["change"])
        self.value = self.context(self.f, X)
        self.slope = self.slope_of(lambda x: self.context(self.f, x))

    def calls(self):
        """The number of calls of a method of the target in a run of the program."""
        calls = []

        def counted(*args):
            calls.append(args)
            return call_next(*args)

        context_of(self.target, counted)(self.f, X)
        return len(calls)

    def slope_of(self, f):
        if self.kind in CONSTANT:
            return f(X) / X
        return (f(X + STEP) - f(X - STEP)) / (2 * STEP)

    def both_orders(self, interpreted):
        """A program inside an interpretation: its own context inside it, and around it."""
        yield interpreted(self.context.wrap(self.f))
        yield lambda *args: self.context(interpreted(self.f), *args)


def differs(found, wanted):
    return not np.allclose(found, wanted, rtol=1e-4, atol=1e-6, equal_nan=True)


@pytest.fixture(autouse=True)
def quiet():
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def applicable(known, wanted):
    """Skip unless an interpretation gives without the method what the program gives."""
    try:
        found = differs(known(), wanted())
    except Exception as error:
        pytest.skip(f"it is refused without a method, too: {error!r}")
    if found:
        pytest.skip("it is not that of the program without a method either")


def bounds(found):
    return (found.low, found.high) if isinstance(found, Interval) else found


def forward(f):
    return derivative(f)


def reverse(f):
    return gradient(f, mode="reverse")


@pytest.mark.parametrize("way", [forward, reverse])
@pytest.mark.parametrize("name", CASES)
def test_a_derivative(name, way):
    case = Case(name)
    applicable(lambda: way(case.f)(X), lambda: case.slope_of(case.f))
    for differentiated in case.both_orders(way):
        assert not differs(differentiated(X), case.slope), (differentiated(X), case.slope)


@pytest.mark.parametrize("name", CASES)
def test_an_enclosure(name):
    case, x = Case(name), Interval(X)
    applicable(lambda: bounds(enclose(case.f, x)), lambda: case.f(X))
    for enclosed in case.both_orders(lambda f: functools.partial(enclose, f)):
        assert not differs(bounds(enclosed(x)), case.value), (enclosed(x), case.value)


@pytest.mark.parametrize("name", CASES)
def test_a_batch(name):
    case, xs = Case(name), np.array([X, 0.3, 0.9])
    applicable(lambda: batched(case.f)(xs), lambda: [case.f(x) for x in xs])
    wanted = [case.context(case.f, x) for x in xs]
    for run in case.both_orders(batched):
        assert not differs(run(xs), wanted), (run(xs), wanted)


def compiled(run):
    try:
        return run()
    except NotCompilable as error:
        pytest.skip(error.asked)


# one form of each target whose results are constant
COMPILED = {case[0]: name for name, case in reversed(CASES.items()) if case[2] in CONSTANT}


@pytest.mark.parametrize("name", COMPILED.values())
def test_a_compiled_derivative(name):
    case = Case(name)
    f = case.f

    def slope(x):
        return autodiff(f, x)

    applicable(lambda: case.context.jit(f)(X), lambda: case.value)
    applicable(lambda: Context().jit(slope)(X), lambda: case.slope_of(f))
    assert not differs(compiled(lambda: case.context.jit(slope)(X)), case.slope)


@pytest.mark.parametrize("name", COMPILED.values())
def test_a_compiled_enclosure(name):
    case = Case(name)

    def enclosed(*tables):
        return bounds(Context(*tables, intervals).jit(case.f)(Interval(X)))

    applicable(enclosed, lambda: case.f(X))
    assert not differs(compiled(lambda: enclosed(*case.context.tables)), case.value)
