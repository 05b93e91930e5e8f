"""Functions compiled by numba, called from a program that an interpretation runs."""

import functools
import math
import pkgutil
import threading

import numba
import numba.experimental
import numpy as np
import pytest
import scipy.special

from overlay import Context, MethodTable, NotCompilable, OverlayError, call_next, recurse
from overlay import interpretations as package
from overlay.interpretations import probabilistic
from overlay.interpretations.autodiff import derivative, gradient
from overlay.interpretations.batching import batched
from overlay.interpretations.first_nan import FirstNaN, NaNFinder, first_nan
from overlay.interpretations.intervals import Interval, Undecided, enclose
from overlay.interpretations.memoisation import memoised
from overlay.interpretations.mocks import Mocks
from overlay.interpretations.parallel import parallel
from overlay.interpretations.precision import significance, single_precision
from overlay.interpretations.printing import Slicer, collect
from overlay.interpretations.profiling import profile
from overlay.interpretations.record_replay import record, replay
from overlay.interpretations.sandbox import Sandbox
from overlay.interpretations.seeding import seeded
from overlay.interpretations.tagging import Tagging, provenance
from overlay.interpretations.tracing import trace


def quotient(x):
    return x * 2.0 / 3.0


def root(x):
    return math.sqrt(x) - 1.0


def branches(x):
    return x**2 if x > 1.5 else math.log(x) + x


PLAIN = (quotient, root, branches)
COMPILED = {f: numba.njit(f) for f in PLAIN}
squared = numba.njit(lambda x: x * x)
root_of = numba.njit(root)


def _mocked(k, target, **configuration):
    mocks = Mocks()
    mock = mocks.replace(target, **configuration)
    return mocks(lambda: k(2.0) + 1.0), mock.call_count


def _spied(k):
    mocks = Mocks()
    spy = mocks.spy(k)
    return mocks(lambda: k(2.0) + k(3.0)), spy.call_count


def _memo(k, target):
    memo = memoised(target)
    return memo(lambda: k(2.0) + k(2.0)), memo.misses, memo.hits


def _recorded(k, target, folder):
    path = folder / "calls.json"
    return record(path, [target], lambda: k(2.0) + 1.0), replay(path, lambda: k(2.0) + 1.0)


def _metadata(k):
    unit = Tagging()
    return unit.metadata(unit(lambda x: k(x) + 1.0, unit.tag(2.0, "metre")))


def _first_nan(k):
    with pytest.raises(FirstNaN) as info:
        first_nan(lambda x: k(x) * x * x * x, 1e150)
    return first_nan(lambda x: k(x) + 1.0, 2.0), info.value.operation


def _model(k):
    x = probabilistic.sample("x", probabilistic.Uniform(2.0, 3.0))
    probabilistic.observe("y", probabilistic.Normal(k(x), 1.0), 1.0)
    return k(x)


def _simulated(k):
    found = probabilistic.simulate(functools.partial(_model, k), rng=1)
    return found.result, found.log_joint


def _slopes(k, mode):
    return gradient(lambda v: k(v[0]) * v[1], mode=mode)(np.array([2.0, 3.0])).tolist()


# by the module of overlay.interpretations: what is seen of a function that the program calls
CASES = {
    "autodiff": {
        "derivative": lambda k, _: derivative(lambda x: k(x) * x)(2.0),
        "forward": lambda k, _: _slopes(k, "forward"),
        "reverse": lambda k, _: _slopes(k, "reverse"),
    },
    "batching": {
        "batched": lambda k, _: batched(lambda x: k(x) + 1.0)(np.arange(1.0, 4.0)).tolist()
    },
    "first_nan": {"first_nan": lambda k, _: _first_nan(k)},
    "intervals": {
        "refuse": lambda k, _: repr(enclose(lambda x: k(x) + 1.0, Interval(2, 3))),
        "follow": lambda k, _: repr(
            enclose(lambda x: k(x) + 1.0, Interval(1, 2), undecided="follow")
        ),
        "numbers": lambda k, _: repr(enclose(lambda x: k(0.1) * x, Interval(1, 2))),
    },
    "memoisation": {
        "of it": lambda k, _: _memo(k, k),
        "of what it calls": lambda k, _: _memo(k, math.sqrt),
    },
    "mocks": {
        "of it": lambda k, _: _mocked(k, k, return_value=5.0),
        "a spy": lambda k, _: _spied(k),
        "of what it calls": lambda k, _: _mocked(k, math.sqrt, return_value=5.0),
    },
    "parallel": {"parallel": lambda k, _: parallel(_each)(k, [1.0, 2.0, 3.0])},
    "precision": {
        "single": lambda k, _: single_precision(lambda x: k(x) + 1.0, 2.0),
        "digits": lambda k, _: significance(lambda x: k(x) + 1.0, 2.0).digits > 15,
    },
    "printing": {
        "collect": lambda k, _: collect(lambda: print(k(2.0))).lines,
        "Slicer": lambda k, _: Slicer()(lambda x: k(x) + 1.0, 2.0),
    },
    "probabilistic": {
        "simulate": lambda k, _: _simulated(k),
        "score": lambda k, _: probabilistic.score(functools.partial(_model, k), {"x": 2.5}),
    },
    "profiling": {
        "counts": lambda k, _: sum(r.calls for r in profile(lambda: k(2.0) + k(3.0)).of(k.__name__))
    },
    "record_replay": {
        "of what it calls": lambda k, folder: _recorded(k, math.sqrt, folder),
    },
    "sandbox": {
        "of another": lambda k, _: Sandbox()(k, 2.0),
    },
    "seeding": {"seeded": lambda k, _: seeded(1)(lambda: k(2.0))},
    "tagging": {
        "metadata": lambda k, _: _metadata(k),
        "provenance": lambda k, _: provenance(lambda x, y: k(x) + y, 2.0, 1.0).inputs,
        "of an item": lambda k, _: provenance(lambda x, y: k([x, y][1]), 2.0, 1.0).inputs,
    },
    "tracing": {
        "calls": lambda k, _: (trace(lambda: k(2.0)).result, len(trace(k, 2.0).find("root")))
    },
}
ALL = [(module, case) for module, cases in CASES.items() for case in cases]


def _each(k, values):
    return [k(value) for value in values]


def test_every_interpretation_is_in_the_matrix():
    found = {each.name for each in pkgutil.iter_modules(package.__path__)}
    assert found == set(CASES)


@pytest.mark.parametrize("function", PLAIN, ids=lambda f: f.__name__)
@pytest.mark.parametrize(("module", "case"), ALL, ids=lambda name: name)
def test_it_gives_what_the_python_function_gives_or_is_refused_by_name(
    module, case, function, tmp_path
):
    run = CASES[module][case]
    expected = run(function, tmp_path)
    if case == "of what it calls" and function is root:  # a mock, memo or recorder of math.sqrt
        with pytest.raises(NotCompilable, match=r"f\.py_func"):
            run(COMPILED[function], tmp_path)
        assert run(COMPILED[function].py_func, tmp_path) == expected
    else:
        assert run(COMPILED[function], tmp_path) == expected


# ---- NaNs -------------------------------------------------------------------------------------


def _of_array(x):
    return squared(np.array([1.0, x])).sum()


def _in_thread(x):
    failed = threading.Thread(target=lambda: squared(x))
    failed.start()
    failed.join()
    return 1.0


def _tolerant(x):
    try:
        return squared(x)
    except OverlayError:
        return 1.0


kernel = numba.vectorize(lambda x: x * x)


@pytest.mark.parametrize(
    "program", [squared, lambda x: squared(x) * 2.0, _of_array, _in_thread, _tolerant, kernel]
)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_the_first_nan_is_found_inside_compiled_functions(program):
    with pytest.raises(FirstNaN, match=r"operator\.mul\(...\) made inf") as info:
        first_nan(program, 1e200)
    place = kernel._dispatcher if program is kernel else squared
    line = place.py_func.__code__.co_firstlineno
    assert info.value.where.endswith(f"test_numba_callees.py:{line}")
    assert first_nan(program, 2.0) == program(2.0)


def test_other_tables_hold_inside_a_function_with_checks():
    table = MethodTable("t")

    @table.overlay(math.sqrt)
    def large(x: float):
        return x * 1e300

    with pytest.raises(FirstNaN, match=r"operator\.mul"):
        Context(table)(first_nan, lambda x: root_of(x), 1e100)
    assert first_nan(lambda x: root_of(x), 4.0) == 1.0
    assert NaNFinder().jit(lambda x: root_of(x))(4.0) == 1.0


# ---- values of interpretations ------------------------------------------------------------------


def test_metadata_of_items_of_sequences():
    total = numba.njit(lambda xs: xs[0] + xs[1])
    for pack in (np.array, tuple):
        found = provenance(lambda x, y, pack=pack: total(pack((1.0, x))) + y, 2.0, 1.0)
        assert (found.result, found.inputs) == (4.0, ("x", "y"))


@pytest.mark.parametrize("pack", [list, tuple, np.array])
def test_active_values_among_plain_ones(pack):
    total = numba.njit(lambda xs: xs[0] + xs[1])
    assert derivative(lambda x: total(pack([1.0, x])))(2.0) == 1.0


def test_declared_types_are_not_ignored():
    third = numba.njit("f8(f8)")(quotient)
    power = numba.njit("f8(f8, i8)")(lambda x, n: x**n)
    assert enclose(lambda x: third(x), Interval(1, 2)).equals(enclose(quotient, Interval(1, 2)))
    assert derivative(lambda x: power(x, 2))(3.0) == 6.0
    for signature in ("f4(f4)", "i8(i8)", "i8(f8)"):
        declared = numba.njit(signature)(lambda x: x * 2)
        for run, x in ((enclose, Interval(2.5)), (lambda k, x: derivative(k)(x), 2.5)):
            with pytest.raises(NotCompilable, match="declares types") as info:
                run(lambda x, k=declared: k(x), x)
            assert "declared: (" in str(info.value)
        with pytest.raises(NotCompilable, match="declares types"):
            gradient(lambda v, k=declared: k(v[0]), mode="reverse")(np.array([2.5]))
    assert _slopes(third, "reverse") == _slopes(quotient, "reverse")
    slopes = gradient(lambda v: power(v[0], 2), mode="reverse")(np.array([3.0]))
    assert slopes.tolist() == [6.0]


def test_compiled_code_that_takes_no_intervals_is_undecided():
    for program in (scipy.special.ndtr, lambda x: np.logaddexp(x, 1.0), kernel):
        with pytest.raises(Undecided, match="compiled code of which no enclosure is known"):
            enclose(program, Interval(0, 1))
    with pytest.raises(TypeError, match="positional arguments"):
        enclose(lambda x: scipy.special.ndtr(x, x, x), Interval(0, 1))


# ---- calls --------------------------------------------------------------------------------------


def test_a_method_of_a_compiled_function_runs_once():
    def program(k):
        table = MethodTable("t")

        @table.overlay(k)
        def more(x: float):
            return call_next(x) + 1.0

        @table.overlay(k)
        def whole(x: int):
            return call_next(float(x)) + 10.0

        ctx = Context(table)
        return [
            *(ctx(lambda: k(1.0)), ctx(k, 1.0), ctx(lambda: k(1)), ctx.wrap(k)(1.0)),
            *(recurse(ctx, k, 1.0), ctx(k, 1j), ctx.jit(lambda x: k(x))(1.0), ctx.jit(k)(1.0)),
        ]

    assert program(numba.njit(lambda x: x * 2.0)) == program(lambda x: x * 2.0)


def test_a_tracer_does_not_show_how_a_function_is_compiled():
    fresh = numba.njit(lambda x: x * 2.0)
    shown = trace(lambda: fresh(2.0)).tree(times=False).splitlines()
    assert len(shown) == 2
    assert sum(row.calls for row in profile(lambda: numba_call(2.0)).rows()) == 2


numba_call = numba.njit(lambda x: x * 3.0)


# ---- jitclasses ---------------------------------------------------------------------------------


@numba.experimental.jitclass([("k", numba.float64)])
class Scaled:
    def __init__(self, k):
        self.k = k

    def sine(self, x):
        return math.sin(x) * self.k

    def sine_twice(self, x):
        return self.sine(x) * self.double

    def keeps(self, x):
        self.k = x
        return x

    @property
    def double(self):
        return self.k * 2


SCALED = Scaled(3.0)
METHODS = {
    "a method": (lambda x: SCALED.sine(x), lambda x: 3 * math.cos(x)),
    "one that calls another": (lambda x: SCALED.sine_twice(x), lambda x: 18 * math.cos(x)),
    "an attribute": (lambda x: SCALED.k * x, lambda x: 3.0),
}


@pytest.mark.parametrize("name", METHODS)
def test_methods_of_a_jitclass_are_interpreted(name):
    f, slope = METHODS[name]
    assert math.isclose(derivative(f)(0.5), slope(0.5))
    assert math.isclose(gradient(f, mode="reverse")(0.5), slope(0.5))
    found = enclose(f, Interval(0.5, 0.5))
    assert found.low - 1e-12 <= f(0.5) <= found.high + 1e-12


@pytest.mark.parametrize("f", [lambda x: Scaled(x).k, lambda x: SCALED.keeps(x)])
def test_a_jitclass_does_not_hold_what_only_interpreted_code_knows(f):
    for run in (lambda: derivative(f)(0.5), lambda: enclose(f, Interval(0.5, 0.6))):
        with pytest.raises(NotCompilable, match="the jitclass Scaled is made or changed"):
            run()
