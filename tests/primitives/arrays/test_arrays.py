"""Arrays of a known shape: their types and domains, and the laws of their relations."""

import operator

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from primitives import Arrays, Bool, Complex, Integer, Real, Reals, Shape, array_of, parametric
from primitives import relation as relation_for
from primitives.arrays.array_table import ARRAY_RELATIONS, OF_ITSELF
from primitives.arrays.cumulative import Permutations
from primitives.arrays.domain import type_of_array
from primitives.errors import OutsideDomain, WrongArguments
from primitives.solver_forms import compiled_solvers
from primitives.testing import BrokenLaw, check_relation
from tests.examples import examples

F = float


def drawn_arguments(target, draw):
    """Types of arguments, at random, for which a function has a relation."""
    lengths = st.integers(1, 4)
    m, n, k = draw(lengths), draw(lengths), draw(lengths)
    matrix = np.random.default_rng(draw(st.integers(0, 9))).normal(size=(m, n))
    if target in (operator.matmul, np.matmul, np.dot):
        return draw(
            st.sampled_from(
                [
                    (array_of(F, (n,)), array_of(F, (n,))),
                    (array_of(F, (m, n)), array_of(F, (n,))),
                    (array_of(F, (n,)), array_of(F, (n, k))),
                    (array_of(F, (m, n)), array_of(F, (n, k))),
                    (matrix, array_of(F, (n,))),
                    (matrix, array_of(F, (n, k))),
                    (array_of(F, (k, m)), matrix),
                    (array_of(F, (m,)), matrix),
                    (matrix[0], array_of(F, (n,))),
                    (np.ones((m, n)), array_of(F, (n,))),
                ]
            )
        )
    if target is np.linalg.inv:
        return (array_of(F, (n, n)),)
    if target is np.linalg.solve:
        return array_of(F, (n, n)), array_of(F, draw(st.sampled_from([(n,), (n, k)])))
    kinds = [F] if target in (np.prod, np.cumprod) else [F, np.int64, np.uint64]
    kinds += [complex] if target in (np.sum, np.cumsum, np.diff) else []
    kinds = [F, complex] if target is np.mean else kinds
    shape = draw(st.sampled_from([(n + 1,), (m, n + 1), (k, m, n + 1)]))
    kind = array_of(draw(st.sampled_from(kinds)), shape)
    if target is np.sort:
        return kind, draw(st.sampled_from([-1, None]))
    if target is np.diff:
        return (kind,)
    return kind, draw(st.sampled_from([None, 0, -1]))


@pytest.mark.parametrize("target", ARRAY_RELATIONS, ids=lambda f: f.__name__)
@settings(max_examples=examples(15))
@given(data=st.data())
def test_the_laws_hold_for_arrays_of_any_shape(target, data):
    arguments = drawn_arguments(target, data.draw)
    found = ARRAY_RELATIONS[target](*arguments)
    assert found is not None
    assert len(found.modes) > 1
    check_relation(found, samples=5, seed=data.draw(st.integers(0, 99)))


@pytest.mark.parametrize("target", OF_ITSELF, ids=lambda f: f.__name__)
def test_a_vector_times_itself_has_any_direction(target):
    check_relation(OF_ITSELF[target](array_of(F, (3,))), samples=20)


def test_a_product_with_a_constant_leaves_as_many_choices_as_its_null_space_has_dimensions():
    wide = np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]])  # of rank 1
    (mode,) = (
        m for m in ARRAY_RELATIONS[np.matmul](wide, array_of(F, (3,))).modes.values()
        if m.coordinates
    )  # fmt: skip
    assert mode.coordinates == {"null_space": Arrays(Real, (2,))}
    regular = ARRAY_RELATIONS[np.matmul](np.eye(3) * 2, array_of(F, (3,)))
    assert not regular.mode("x").coordinates


def test_a_singular_matrix_is_solved_beside_what_theta_says():
    found = ARRAY_RELATIONS[np.matmul](array_of(F, (3, 3)), array_of(F, (3,)))
    a = np.arange(9.0).reshape(3, 3)
    x = np.array([5.0, -1.0, 2.0])
    assert np.allclose(found.mode("b").solver(a @ x, a, x), x)


@pytest.mark.parametrize(
    ("target", "arguments"),
    [
        (np.max, (array_of(F, (2, 3)), 0)),
        (np.matmul, (np.ones((1, 3)), array_of(F, (3,)))),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_compiled_solvers_answer_as_interpreted_ones(target, arguments):
    found = ARRAY_RELATIONS[target](*arguments)
    rng = np.random.default_rng(0)
    (axis,) = found.axes
    a = found.domain[axis].sample(rng)
    ret = compiled_solvers.jit(found.mode(["return"]).solver)(a)
    assert np.allclose(ret, found(a))
    mode = found.mode([axis])
    recover = compiled_solvers.jit(mode.recover)
    chosen = recover(*({axis: a, "return": ret}[n] for n in mode.recovers))
    values = {"return": ret, **dict(zip(mode.coordinates, chosen, strict=True))}
    assert np.allclose(compiled_solvers.jit(mode.solver)(*(values[name] for name in mode.takes)), a)


def test_the_checker_catches_wrong_relations_of_arrays():
    kind = array_of(F, (3,))
    wrong = relation_for(np.flip, kind, "return = flip(a)", ret=np.flip, a=lambda ret: ret)
    with pytest.raises(BrokenLaw, match="answers"):
        check_relation(wrong, samples=5)
    short = relation_for(
        np.sum, kind, "return = sum(a)", returns=F, ret=lambda a: a.sum(),
        a=parametric(
            lambda ret, rest: np.array([ret - rest.sum(), *rest]),
            rest=Arrays(Real, (2,)), recover=lambda a: (a[:2],),
        ),
    )  # fmt: skip
    with pytest.raises(BrokenLaw, match="to its own arguments"):
        check_relation(short, samples=5)


# ---- types and domains --------------------------------------------------------------------


def test_the_type_of_an_array_says_shape_and_elements_and_is_one():
    kind = type_of_array(np.zeros((2, 3)))
    assert kind is array_of(F, (2, 3))
    assert issubclass(kind, np.ndarray)
    assert isinstance(np.ones((5, 5)), kind)  # by dtype and number of dimensions, as annotations
    assert not isinstance(np.ones(3), kind)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.zeros((0, 3)), "has no elements"),
        (np.zeros(3, np.float32), "arrays of float32"),
        (np.array(["a"]), "have no relations"),
        (np.zeros(3, ">f8"), "have no relations"),
    ],
)
def test_arrays_without_a_type_are_refused(value, message):
    with pytest.raises(WrongArguments, match=message):
        type_of_array(value)


def test_a_shape_has_elements():
    assert Shape(2, 3).lengths == (2, 3)
    with pytest.raises(WrongArguments, match="no elements"):
        Shape(2, 0)


@pytest.mark.parametrize(
    ("element", "inside", "outside"),
    [
        (Reals(0, 1), [0.0, 1.0], [0.5, 1.5]),
        (Real, [1.0, -3.0], [1.0, np.nan]),
        (Reals(-1, 1, without=(0.0,)), [1.0, -1.0], [0.0, 1.0]),
        (Integer, [1, 2], [1.5, 2]),
        (Bool, [True, False], [2, 0]),
        (Complex, [1j, 2], [complex(np.inf), 1]),
    ],
)
def test_an_array_is_inside_where_all_its_elements_are(element, inside, outside):
    domain = Arrays(element, (2,))
    assert domain.contains(inside)
    assert not domain.contains(outside)
    assert not domain.contains(inside[:1])
    assert not domain.contains("text")
    test = eval(f"lambda x: {domain.condition('x')}", {"inf": np.inf})
    assert test(np.array(inside, domain.element.dtype))


def test_sampled_arrays_are_inside_and_have_the_shape():
    rng = np.random.default_rng(0)
    domain = Arrays(Reals(0, 1), (2, 3))
    assert domain.contains(domain.sample(rng))
    assert domain.sample(rng, 5).shape == (5, 2, 3)
    assert domain.contains(domain.from_unit(np.full(6, 0.5)))
    with pytest.raises(OutsideDomain):
        domain.from_unit([0.5])
    assert domain.meet(Arrays(Reals(0.5, 2), (2, 3))) == Arrays(Reals(0.5, 1), (2, 3))


def test_permutations_hold_each_place_once():
    domain = Permutations((2, 3))
    rng = np.random.default_rng(0)
    assert domain.contains(domain.sample(rng))
    assert domain.sample(rng, 4).shape == (4, 2, 3)
    assert domain.contains(domain.default)
    assert not domain.contains(np.zeros((2, 3), int))
    assert domain.from_unit([0.3, 0.1, 0.2, 0, 0.5, 1]).tolist() == [[1, 2, 0], [0, 1, 2]]
