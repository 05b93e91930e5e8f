"""Programs over arrays: round trips, any θ, systems, batches, compiled inverses, and refusals."""

import math
from typing import Annotated

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from inversion import NoSolution, NotInvertible, OutsideDomain, WrongArguments, choose, invert
from inversion.planning.plan import is_quick
from inversion.program.elementwise_statements import Elementwise
from inversion.program.equation_systems import EquationSystem
from inversion.program.moved_elements import Moved
from inversion.running import array_kernels as kernels
from inversion.running import meter
from inversion.running.array_kernels import ArrayKernel
from overlay import Context, MethodTable
from overlay.core.background import rest
from overlay.core.target import describe
from overlay.interpretations.autodiff.rules.array_rules import ARRAY_RULES
from primitives import Reals, Shape, array_of, relation, relation_of
from tests.examples import examples

Z = np.zeros
SQUARE = np.array([[2.0, 1.0, 0.0], [0.0, 3.0, 1.0], [1.0, 0.0, 4.0]])
WIDE, TALL = SQUARE[:2], np.vstack([SQUARE, [1.0, 1.0, 1.0]])
OFFSET = np.array([1.0, 2.0, 3.0])


def helper(v, k):
    return np.exp(v) * k


def grown(x):
    for _ in range(30):
        x = x * 1.1 + 0.5
    return x


def signed(x):
    if x[0] > 0:
        return x * 2
    return x * 3 - 1


def weighted(x):
    total = 0.0
    for i in range(3):
        total = total + x[i] * (i + 1)
    return total


def chained(x):
    total = 1.0
    for v in x:
        total = total * v
    return total


def perceptron(x):
    return np.tanh(SQUARE @ (x * 0.1) + OFFSET * 0.1).sum()


def rescaled(x, y):
    x = x.reshape(2, 2).T.ravel() * y[0]
    x = x * x.sum()
    return x * x.sum()


PROGRAMS = {
    "scaled": (lambda x: 2 * np.exp(x) + 1, Z(3)),
    "two arrays": (lambda x, y: x * 2 + y, Z(3), Z(3)),
    "a number for all": (lambda x, s: x * s + s, Z((2, 3)), float),
    "sum and difference": (lambda x, y: (x + y, x - y), Z(3), Z(3)),
    "one used twice": (lambda x: x * x + x, Z(3)),
    "root for each element": (lambda x: x * np.exp(x), Z(3)),
    "where": (lambda x: np.where(x > 0, x * 2, x * 3), Z(4)),
    "complex": (lambda x: x * (1 + 2j), Z(3, complex)),
    "words": (lambda x: (x ^ np.uint64(5)) * np.uint64(3), Z(3, np.uint64)),
    "wrapping integers": (lambda x: x * 3 + 1, Z(3, np.int64)),
    "truth values": (lambda x: ~x ^ np.array([True, False, True]), Z(3, bool)),
    "compared": (lambda x, y: (x > y, y), Z(3), Z(3)),
    "words as floats": (lambda x: x * 1.5 + np.arange(3), Z(3, np.int64)),
    "places": (lambda x: x[[2, 0, 0]], Z(3)),
    "broadcast": (lambda x: x[:, None] * OFFSET, Z(2)),
    "sum": (lambda x: x.sum(), Z(4)),
    "sums of rows": (lambda x: np.sum(x, axis=1) * 2, Z((2, 3))),
    "mean": (lambda x: np.mean(x) + 1, Z(4)),
    "product": (lambda x: np.prod(x), Z(4)),
    "maximum": (lambda x: x.max(), Z(4)),
    "minimum": (lambda x: x.min(axis=0), Z((4, 2))),
    "dot": (lambda x, y: np.dot(x, y), Z(4), Z(4)),
    "length": (lambda x: np.sqrt(x @ x), Z(3)),
    "square matrix": (lambda x: SQUARE @ x + OFFSET, Z(3)),
    "wide matrix": (lambda x: WIDE @ x, Z(3)),
    "tall matrix": (lambda x: TALL @ x, Z(3)),
    "from the right": (lambda x: x @ SQUARE, Z((2, 3))),
    "varying matrix": (lambda a, x: a @ x, Z((3, 3)), Z(3)),
    "solve": (lambda x: np.linalg.solve(SQUARE, x), Z(3)),
    "inverse matrix": (lambda x: np.linalg.inv(x), Z((3, 3))),
    "transposed": (lambda x: x.T, Z((2, 3))),
    "reshaped": (lambda x: x.reshape(3, 2) * 2, Z((2, 3))),
    "ravel": (lambda x: x.ravel(), Z((2, 3))),
    "joined": (lambda x, y: np.concatenate((x, y, x[::-1])), Z(3), Z(2)),
    "stacked": (lambda x, y: np.stack([x, y], axis=1), Z(3), Z(3)),
    "slice": (lambda x: x[1:3], Z(5)),
    "items": (lambda x: (x[0] * 2, x[1] + x[2], x[2]), Z(3)),
    "made of numbers": (lambda a, b: np.array([a + b, a - b, 1.0]), float, float),
    "flipped and rolled": (lambda x: np.roll(np.flip(x), 1), Z((2, 2))),
    "triangle": (lambda x: np.tril(x), Z((2, 2))),
    "cumsum": (lambda x: np.cumsum(x), Z(4)),
    "cumprod": (lambda x: np.cumprod(x), Z(4)),
    "differences": (lambda x: np.diff(x), Z(4)),
    "sorted": (lambda x: np.sort(x) * 2, Z(4)),
    "helper": (lambda x, y: (helper(x, 2.0) + helper(y, 3.0), y), Z(2), Z(2)),
    "loop": (grown, Z(3)),
    "branch": (signed, Z(2)),
    "loop over items": (weighted, Z(3)),
    "loop over rows": (chained, Z(3)),
    "centred": (lambda x: (x - x.mean()) / 2 + 1e3, Z(4)),
    "neighbours": (lambda x: x[1:] + x[:-1], Z(5)),
    "two matrices": (lambda x: SQUARE @ x + np.eye(3) @ x, Z(3)),
    "crossed": (lambda x, y: (SQUARE @ x + y, x - SQUARE @ y), Z(3), Z(3)),
    "total and one": (lambda x: (x.sum(), x[0]), Z(4)),
    "shifted and total": (lambda a, s: (a + s, a.sum()), Z(3), float),
    "reversed twice": (lambda x: np.exp(x + 2 * x[::-1]), Z(4)),
}  # fmt: skip
INVERSES = {name: invert(*program) for name, program in PROGRAMS.items()}


def drawn(kind, rng):
    if not isinstance(kind, np.ndarray):
        return float(rng.normal())
    if kind.dtype.kind in "iub":
        return rng.integers(0, 2 if kind.dtype == bool else 1000, kind.shape).astype(kind.dtype)
    found = rng.normal(size=kind.shape)
    return found + 1j * rng.normal(size=kind.shape) if kind.dtype.kind == "c" else found


def called(inverse, value, theta):
    return inverse(value, theta) if len(inverse.parameters) else inverse(value)


def same(one, other):
    if isinstance(one, tuple):
        return all(map(same, one, other))
    return np.shape(one) == np.shape(other) and np.allclose(one, other, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("name", PROGRAMS)
@settings(max_examples=examples(8))
@given(seed=st.integers(0, 10**6))
def test_arguments_are_found_again_and_any_theta_gives_arguments_for_the_value(name, seed):
    f, *kinds = PROGRAMS[name]
    inverse, rng = INVERSES[name], np.random.default_rng(seed)
    arguments = [drawn(kind, rng) for kind in kinds]
    value = f(*arguments)
    assert same(called(inverse, value, inverse.recover(*arguments)), tuple(arguments))
    found = called(inverse, value, inverse.parameters.sample(rng))
    assert same(f(*found), value)


def rules(f, *kinds):
    return [type(s.relation) for s in invert(f, *kinds).program.program.statements]


def test_elementwise_statements_become_one_and_so_do_moves():
    assert rules(lambda x, y: np.exp(x * 2) + y * x, Z(3), Z(3)) == [Elementwise]
    assert rules(lambda x: np.concatenate((x[2:].ravel(), x[:2])), Z(4)) == [Moved]
    assert Elementwise in rules(*PROGRAMS["reversed twice"])
    # a sum stands between the two
    assert rules(lambda x: np.exp(x) * np.exp(x).sum(), Z(3)).count(Elementwise) == 2


def test_what_is_computed_twice_is_one_array():
    def f(x, y):
        x = np.concatenate((x[:2], y[2:]))
        x = np.concatenate((x[:2], y[2:]))
        return np.exp(y) * 2 + np.exp(y), x

    assert sorted(rules(f, Z(3), Z(3)), key=str) == [Elementwise, Moved]
    inverse = invert(f, Z(3), Z(3))
    x, y = np.array([1.0, 2.0, 3.0]), np.array([0.5, 1.0, 1.5])
    assert same(inverse(f(x, y), inverse.recover(x, y)), (x, y))


def test_a_root_inside_a_root_takes_each_coordinate_once():
    source = invert(rescaled, Z(4), Z(4)).source
    heads = [line for line in source.splitlines() if line.startswith("def equation_")]
    assert len(heads) == 2
    for head in heads:
        names = head.partition("(")[2].rstrip("):").split(", ")
        assert len(set(names)) == len(names)


def test_a_linear_loop_of_shared_arrays_is_one_system():
    assert rules(*PROGRAMS["neighbours"]) == [EquationSystem]
    assert EquationSystem in rules(*PROGRAMS["reversed twice"])
    (x,) = invert(lambda x: x + 2 * x[::-1], Z(4))(np.array([5.0, 8.0, 7.0, 10.0]))
    assert np.allclose(x, np.linalg.solve(np.eye(4) + 2 * np.eye(4)[::-1], [5, 8, 7, 10]))


def test_coordinates_are_arrays_of_the_shape_that_they_choose():
    space = INVERSES["sums of rows"].parameters
    (parameter,) = space
    assert parameter.domain.shape == (2, 2)  # all but one of each row
    assert space.dtype[0].shape == (2, 2)
    record = space.sample(np.random.default_rng(0), 3)
    assert record[space.names[0]].shape == (3, 2, 2)
    assert len(space.from_unit(np.full(4, 0.5))) == 1
    value = np.array([1.0, 2.0])
    (x,) = INVERSES["sums of rows"](value, record[0])
    assert np.allclose(x.sum(axis=1) * 2, value)


def test_shapes_come_from_examples_annotations_and_types():
    def f(
        x: Annotated[NDArray[np.float64], Shape(2), Reals(0, 10)],
        p: tuple[float, Annotated[NDArray[np.int64], Shape(3)]],
    ):
        return x * p[0], p[0], p[1] + 1

    inverse = invert(f)
    value = f(np.array([1.0, 2.0]), (3.0, np.array([1, 2, 3])))
    theta = inverse.parameters.default()
    x, (s, n) = called(inverse, value, theta)
    assert x.tolist() == [1.0, 2.0]
    assert s == 3.0
    assert n.tolist() == [1, 2, 3]
    with pytest.raises(NoSolution, match="outside"):
        called(inverse, (np.array([-1.0, 2.0]), 1.0, value[2]), theta)
    assert invert(lambda x: x * 2, array_of(float, (2,)))([2.0, 4.0])[0].tolist() == [1.0, 2.0]


def test_any_axis_may_be_known():
    inverse = choose(lambda a, x: a @ x, Z((2, 2)), Z(2), known=("return", "a"))
    (x,) = inverse(np.array([1.0, 3.0]), np.array([[1.0, 0.0], [1.0, 1.0]]))
    assert np.allclose(x, [1.0, 2.0])


# ---- large arrays -------------------------------------------------------------------------

MILLION = np.random.default_rng(0).normal(size=10**6)


@pytest.fixture
def no_python_loops(monkeypatch):
    def refuse(*_):
        raise AssertionError("a loop over elements was interpreted")

    monkeypatch.setattr(ArrayKernel, "by_calls", refuse)


def test_a_million_elements_are_solved_without_a_loop_in_python(no_python_loops):
    def f(x):
        return 3 * np.exp(2 * x + 1) - 4

    inverse = invert(f, MILLION)
    (x,) = inverse(f(MILLION))
    assert np.allclose(x, MILLION)
    assert len(inverse._definition.source.kernels) == 2  # one to run the program, one to solve it
    total = invert(lambda x: (x * 2).sum(), MILLION)
    theta = total.recover(MILLION)
    assert np.allclose(total((MILLION * 2).sum(), theta)[0], MILLION)


def test_the_element_without_a_solution_is_named():
    inverse = invert(lambda x: np.exp(x) + 1, MILLION)
    value = np.exp(MILLION) + 1
    value[777_777] = 0.5
    with pytest.raises(NoSolution) as caught:
        inverse(value)
    assert "outside Positive" in str(caught.value)
    assert "element 777777" in str(caught.value)
    assert "test_arrays.py" in str(caught.value)


def test_compiled_inverses_answer_as_interpreted_ones():
    def f(x, s):
        return np.exp(x[::-1]) * s, s

    inverse, value = invert(f, Z(3), float), (np.array([1.0, 2.0, 3.0]), 2.0)
    interpreted = inverse(value, inverse.parameters.default())
    assert same(inverse.compile()(value, inverse.parameters.default()), interpreted)


def test_rows_of_a_batch_are_arrays():
    inverse = invert(lambda x: x.sum() * 2, Z(3))
    rng = np.random.default_rng(1)
    theta = inverse.parameters.sample(rng, 5)
    value = rng.normal(size=5)
    (x,) = inverse.batch(value, theta=theta)
    assert x.shape == (5, 3)
    assert np.allclose(x.sum(axis=1) * 2, value)
    with pytest.raises(WrongArguments, match="does not end with"):
        invert(lambda x: x * 2, Z((2, 2))).batch(Z((5, 3)))


# ---- overlays -----------------------------------------------------------------------------


def turned(a):
    raise AssertionError("it has a relation, and is not entered")


def test_relations_of_ones_own_take_arrays():
    table = MethodTable("turned")
    shapes = []

    @table.generated(relation_of(turned))
    def turned_backwards(a: NDArray[np.float64]):
        shapes.append(a.shape)

        return relation(
            turned, a, "return = turned(a)", ret=lambda a: a[::-1].copy(),
            a=lambda ret: ret[::-1].copy(),
        )  # fmt: skip

    @table.overlay(turned)
    def turn(a: np.ndarray):
        return a[::-1]

    inverse = invert(lambda x: turned(x) * 2, Z(3), context=Context(table))
    assert inverse([2.0, 4.0, 6.0])[0].tolist() == [3.0, 2.0, 1.0]
    assert shapes == [(3,)]


def test_an_overlay_for_numbers_is_not_one_for_arrays():
    table = MethodTable("first order")

    @table.overlay(np.exp)
    def exp(x: float):
        return 1 + x

    context = Context(table)
    (x,) = invert(lambda x: np.exp(x) * 2, Z(2), context=context)([4.0, 6.0])
    assert np.allclose(x, np.log([2.0, 3.0]))


# ---- refusals -----------------------------------------------------------------------------


def sets_an_item(x):
    x[0] = 1.0
    return x


def adds_in_place(x):
    x += 1
    return x * 2


NOT_INVERTIBLE = {
    "no relation": (lambda x: np.flatnonzero(x), "flatnonzero.*no relation"),
    "mathematical function of an array": (lambda x: math.exp(x), "math.exp"),
    "shapes": (lambda x: x + Z(2), r"\(3,\) and \(2,\) do not broadcast"),
    "shapes of a product": (lambda x: np.ones((2, 2)) @ x, "mismatch in its core"),
    "reshape": (lambda x: x.reshape(2, 2), "cannot reshape"),
    "empty": (lambda x: x[3:], "no elements"),
    "index": (lambda x: x[5], "out of bounds"),
    "singular values": (lambda x: np.linalg.svd(np.diag(x)), "svd.*no relation"),
    "arithmetic with truth values": (lambda x: (x > 0) + (x > 1), "truth values"),
    "mask": (lambda x: x[x > 0], "known beforehand"),
    "keyword": (lambda x: np.exp(x, where=x > 0), "where"),
    "attribute": (lambda x: x.foo, "'foo' of an array"),
    "item": (sets_an_item, "a write to x, which the function did not make"),
    "in place": (adds_in_place, "a write to x, which the function did not make"),
}


@pytest.mark.parametrize("name", NOT_INVERTIBLE)
def test_what_has_no_meaning_is_refused_with_its_line(name):
    f, message = NOT_INVERTIBLE[name]
    with pytest.raises(NotInvertible, match=message) as caught:
        invert(f, Z(3))
    assert "test_arrays.py" in str(caught.value)


WRONG = {
    "empty": (lambda: invert(lambda x: x * 2, Z(0)), "no elements"),
    "float32": (lambda: invert(lambda x: x * 2, Z(3, np.float32)), "float32"),
    "no shape": (lambda: invert(lambda x: x, NDArray[np.float64]), "no known shape"),
    "another shape": (lambda: invert(lambda x: x * 2, Z(2))(Z(3)), r"\(3,\).*\(2,\)"),
    "nothing given": (lambda: invert(lambda x: x * 2, Z(2))(Z(0)), "without elements"),
    "text": (lambda: invert(lambda x: x * 2, Z(2))(["a", "b"]), "convert it"),
    "ragged": (lambda: invert(lambda x: x * 2, Z(2))([[1.0], [1.0, 2.0]]), "not an array"),
}


@pytest.mark.parametrize("name", WRONG)
def test_arrays_that_do_not_fit_are_refused(name):
    call, message = WRONG[name]
    with pytest.raises(WrongArguments, match=message):
        call()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_values_that_are_not_finite_have_no_solution(bad):
    with pytest.raises(NoSolution, match=r"return\[0, 1\] = .* is not finite"):
        invert(lambda x: x * 2, Z((2, 2)))([[1.0, bad], [1.0, 1.0]])


def test_coordinates_outside_their_domain_are_refused():
    inverse = INVERSES["sum"]
    for theta in (Z(4), np.array([1.0, 2.0, np.nan])):
        with pytest.raises(OutsideDomain, match=r"θ\.rest_x"):
            inverse(1.0, (theta,))
    with pytest.raises(OutsideDomain, match="Permutations"):
        INVERSES["sorted"](Z(4), (np.array([0, 0, 1, 2]),))


def test_values_that_nothing_leads_to_have_no_solution():
    with pytest.raises(NoSolution, match="the known values disagree"):
        INVERSES["tall matrix"]([1.0, 2.0, 3.0, 100.0])
    with pytest.raises(NoSolution, match="not sorted"):
        INVERSES["sorted"]([2.0, 1.0, 3.0, 4.0], (np.arange(4),))
    with pytest.raises(NoSolution):
        INVERSES["centred"]([1.0, 2.0, 3.0, 4.0], INVERSES["centred"].parameters.default())


def inside(x: float):
    return np.array([x, 2 * x]).sum()


def weighed(x, weights):
    return (x * weights).sum()


OF_SETS = {
    "unknown": (lambda: invert(lambda x: x * 2, Z(3)), [Z(3)], Z(3), r"x is an array .*\(3,\)"),
    "number": (lambda: invert(lambda x: x.sum(), Z(3)), [1.0], Z(3), "x is an array"),
    "known": (
        lambda: choose(weighed, float, Z(2), known=("return", "weights")),
        [3.0, np.ones(2)],
        1.0,
        "weights is an array",
    ),
    "inside": (lambda: invert(inside), [3.0], 1.0, r"v\d is an array of shape \(2,\)"),
}


@pytest.mark.parametrize("name", OF_SETS)
def test_sets_of_solutions_are_refused_by_name(name):
    make, known, guess, message = OF_SETS[name]
    inverse = make()
    with pytest.raises(NotInvertible, match=message):
        inverse.solutions(*known)
    with pytest.raises(NotInvertible, match=message):
        inverse.nearest(*known, guess)


def test_programs_of_arrays_are_not_run_without_branches():
    for inverse in (invert(lambda x: x * 2, Z(3)), invert(inside)):
        assert not is_quick(inverse.program)
    assert is_quick(invert(lambda x: x * 2, float).program)


def test_statements_of_arrays_give_only_what_is_needed():
    def both(x):
        high, low = x[1:], x[:1]
        first, second = np.exp(high), np.sinh(high)
        return first, second, low

    def one(x):
        return both(x)[0]

    program = invert(one, Z(3)).program.program
    assert [len(s.results) for s in program.statements] == [1, 1]
    assert "sinh" not in str(program)


def test_a_choice_of_arrays_is_counted_beside_one_for_each_turn():
    def turned(x, v):
        for _ in range(3):
            x = abs(x) - 1.0
        return x, v.sum()

    inverse = invert(turned, float, Z(3))
    space = inverse.parameters
    assert space.dimensions == 5
    args = (0.25, np.array([1.0, 2.0, 4.0]))
    theta = inverse.recover(*args)
    result = turned(*args)
    record = space.records([theta])[0]
    for chosen in (theta, record):
        x, v = inverse(result, chosen)
        assert x == 0.25
        assert np.allclose(v, args[1])
    xs, vs = inverse.batch(tuple(np.full(4, r) for r in result), theta=np.repeat(record, 4))
    assert np.allclose(xs, 0.25)
    assert vs.shape == (4, 3)
    assert len(space.from_unit(np.full(5, 0.5))) == len(space)
    with pytest.raises(WrongArguments, match="5 coordinates"):
        space.from_unit([0.5])


def test_loops_that_are_left_early_stand_beside_arrays():
    def grown_until(v):
        total = v.sum()
        for _ in range(10):
            if total > 100:
                return total - 1.0
            total = total * 2.0
        return total

    inverse = invert(grown_until, Z(2))
    for start in ([1.0, 2.0], [100.0, 50.0]):
        v = np.array(start)
        assert np.allclose(inverse(grown_until(v), inverse.recover(v))[0], v)


def test_each_turn_of_a_loop_has_choices_for_every_element():
    def squared(v):
        for _ in range(20):
            v = v * v + 0.25
        return v

    inverse = invert(squared, Z(2))
    (parameter,) = inverse.parameters
    assert repr(parameter.domain) == "Repeated(each=Arrays(Bool, (2,)), most=20)"
    v = np.array([0.4, -0.3])
    result, theta = squared(v), inverse.recover(v)
    record = inverse.parameters.records([theta])[0]
    for chosen in (theta, record):
        assert np.allclose(inverse(result, chosen)[0], v)
    assert np.allclose(inverse(result, ((np.array([True, False]),),))[0], [-0.4, 0.3])
    assert np.allclose(inverse.batch([result], theta=np.array([record]))[0], [v])
    (turns,) = inverse.parameters.from_unit(np.linspace(0, 1, inverse.parameters.dimensions))
    assert np.shape(turns) == (20, 2)
    assert not np.any(turns[:9])
    assert np.all(turns[11:])


def test_long_loops_of_floats_are_left_to_threads_and_what_they_miss_to_the_reason(monkeypatch):
    stretches = []
    in_threads = kernels.in_threads

    def counted(loop, columns, pace):
        stretches.append(len(columns[0]))
        return in_threads(loop, columns, pace)

    monkeypatch.setattr(kernels, "in_threads", counted)
    monkeypatch.setattr(meter, "COMPILED_AFTER", 0.0)
    x = np.linspace(-1, 3, 50_000)
    inverse = choose(lambda x, s: np.log(x + 2) + s, x, float, known=("return", "s"))
    values = np.log(x + 2) + 3.0
    assert np.allclose(inverse(values, 3.0)[0], x)
    rest()
    assert np.allclose(inverse(values, 3.0)[0], x)
    assert stretches == [50_000]
    values[40_000] = 1e4
    with pytest.raises(NoSolution, match="at element 40000"):
        inverse(values, 3.0)
    assert stretches == [50_000, 50_000]


WITH_OUT = [
    rule.function for rule in ARRAY_RULES if "out" in rule.signature.parameters and rule.samples
]


@pytest.mark.parametrize("function", WITH_OUT, ids=describe)
def test_a_function_that_writes_to_an_array_for_its_result_is_refused(function):
    with pytest.raises(NotInvertible, match="out= in a call of"):
        invert(lambda x: function(x, out=np.zeros(3)), Z(3))


OUT, NUMBER = np.zeros(3), np.zeros(())


@pytest.mark.parametrize(
    "f",
    [
        lambda x: (np.var(x, out=NUMBER), x),
        lambda x: np.clip(x, 0.0, 1.0, OUT),
        lambda x: x.sum(0, None, NUMBER),
        lambda x: np.add(x, 1.0, OUT),
        lambda x: np.add(x, 1.0, out=OUT),
        lambda x: np.dot(np.eye(3), x, OUT),
        lambda x: x.cumsum(out=OUT),
    ],
)
def test_an_array_for_the_result_is_refused_by_position_and_in_methods(f):
    with pytest.raises(NotInvertible, match="out= in a call of"):
        invert(f, Z(3))


def test_no_array_for_the_result_is_as_none_given():
    assert invert(lambda x: np.cumsum(x, out=None), Z(3)) is not None
