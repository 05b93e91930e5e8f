"""Integers whose uses are solved together: digits, quadratics, sums of the same integers."""

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies

from inversion import NoSolution, choose, invert
from overlay import NotCompilable
from primitives import Integers
from primitives.forms.congruences import sum_of_two
from primitives.forms.integer_systems import smith, system
from primitives.forms.quadratics import MAYBE_LINEAR, QUADRATIC
from primitives.testing import check_relation

# ---- digits ---------------------------------------------------------------------------------


def clock(seconds: int):
    return seconds // 3600, seconds // 60 % 60, seconds % 60


def written(seconds: int):
    return f"{seconds // 3600}:{seconds // 60 % 60}:{seconds % 60}"


def colours(word: int):
    return word // 65536 % 256, word // 256 % 256, word % 256


def ends(seconds: int):
    return seconds % 60, seconds // 3600


def nested(n: int):
    rest = n // 6
    return rest % 10 // 5, rest % 5, n % 6, rest // 10


def clock_of_words(seconds: np.uint64):
    return seconds // 3600, seconds // 60 % 60, seconds % 60


def started(total: int, extra: int):
    return *divmod(total, 60), extra


DIGITS = {
    clock: (7384,), written: (7384,), colours: (0x123456,), ends: (7384,), nested: (1234,),
    clock_of_words: (np.uint64(7384),), started: (7384, 5),
}  # fmt: skip


@pytest.mark.parametrize("f", DIGITS, ids=lambda f: f.__name__)
def test_digits_that_are_computed_one_by_one_are_put_together(f):
    inverse, args = invert(f), DIGITS[f]
    value, theta = f(*args), inverse.recover(*args)
    assert inverse(value, *([theta] if theta else [])) == args
    if f in (clock, nested, clock_of_words, started):
        assert not theta  # the digits say all
    for drawn in inverse.parameters.sample(np.random.default_rng(0), 10) if theta else ():
        assert f(*inverse(value, drawn)) == value


def test_digits_are_found_step_by_step_and_compiled():
    inverse = invert(clock)
    assert "divmod(seconds, 60)" in str(inverse)
    assert inverse.compile()((2, 3, 4)) == (7384,)
    assert [branch.point for branch in inverse.solutions((2, 3, 4))] == [(7384,)]
    with pytest.raises(NoSolution, match="between 0 and the divisor"):
        inverse((2, 63, 4))


def test_digits_beside_the_whole_or_in_bases_that_do_not_fit_are_left():
    def beside(n: int):
        return n // 10, n % 10, n

    assert invert(beside)((7, 3, 73)) == (73,)

    def unfit(n: int):
        return n % 6, n % 10

    inverse = invert(unfit)
    assert inverse((1, 3), inverse.recover(73)) == (73,)


def test_divmod_of_words_is_one_statement():
    def parts(a: np.int64, b: np.int64):
        return a // b, a % b

    inverse = invert(parts)
    assert "divmod(a, b)" in str(inverse)
    for a, b in ((17, -5), (-17, 5), (-(2**63), -1), (2**63 - 1, -(2**63))):
        args = np.int64(a), np.int64(b)
        with np.errstate(over="ignore"):
            value = parts(*args)
        assert inverse(value, inverse.recover(*args)) == args


# ---- quadratics -----------------------------------------------------------------------------


@pytest.mark.parametrize("rule", [QUADRATIC, MAYBE_LINEAR], ids=repr)
def test_quadratics_of_integers_keep_the_laws(rule):
    check_relation(rule, samples=40)


def test_an_integer_is_found_from_a_quadratic_with_a_linear_term():
    pronic = invert(lambda n: n * n + n, int)
    assert [pronic(30, (negative,)) for negative in (False, True)] == [(5,), (-6,)]
    assert [branch.point for branch in pronic.solutions(30)] == [(5,), (-6,)]
    assert pronic.compile()(30, (True,)) == (-6,)
    with pytest.raises(NoSolution):
        pronic(31, (False,))
    third = invert(lambda n: 3 * n * n - 7 * n + 2, int)
    assert third(78, third.recover(-4)) == (-4,)  # the other root is no integer
    assert third(78, (False,)) == (-4,)


def test_a_quadratic_may_turn_out_linear():
    def f(n, k):
        return k * n * n + 2 * n + k

    known = choose(f, int, int, known=("return", "k"))
    for n in (-3, 0, 4):
        for k in (-2, 0, 5):
            assert known(f(n, k), k, known.recover(n, k)) == (n,)


# ---- sums -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "matrix",
    [((1, 2), (3, -1)), ((2, 4, 6), (1, 1, 0)), ((0, 0), (0, 3)), ((2,), (3,)), ((1, 1), (2, 2))],
    ids=str,
)
def test_systems_of_integers_keep_the_laws(matrix):
    check_relation(system(matrix, (5,) * len(matrix)), samples=20)
    left, diagonal, right, back = map(np.array, smith(matrix))
    rank = len(diagonal)
    found = left @ np.array(matrix) @ right
    assert np.array_equal(found[:rank, :rank], np.diag(diagonal))
    assert not found[rank:].any()
    assert not found[:, rank:].any()
    assert np.array_equal(right @ back, np.eye(len(matrix[0])))
    assert abs(round(np.linalg.det(left))) == 1


@pytest.mark.parametrize("factors", [(3, 5), (5, -3), (-7, 2), (1, 4), (-6, -1)], ids=str)
def test_sums_of_two_keep_the_laws(factors):
    check_relation(sum_of_two(*factors), samples=20)


def test_sums_of_the_same_integers_are_solved_together():
    def sums(x: int, y: int):
        return x + 2 * y, 3 * x - y

    inverse = invert(sums)
    assert len(inverse.parameters) == 0
    assert inverse((-5, 13)) == (3, -4)
    with pytest.raises(NoSolution, match="no integers"):
        inverse((1, 1))
    with pytest.raises(NotCompilable):
        inverse.compile()


def test_a_sum_of_integers_that_are_all_multiplied_is_solved_as_one():
    def price(pens: int, books: int, bags: int):
        return 6 * pens + 10 * books + 15 * bags

    inverse = invert(price)
    assert len(inverse.parameters) == 2
    for value in (0, 1, 29, -7, 10**30 + 1):
        assert price(*inverse(value)) == value
        for drawn in inverse.parameters.sample(np.random.default_rng(0), 10):
            assert price(*inverse(value, drawn)) == value
    theta = inverse.recover(1, 1, 1)
    assert inverse(31, theta) == inverse.compile()(31, theta) == (1, 1, 1)
    even = invert(lambda x, y: 4 * x - 6 * y, int, int)
    with pytest.raises(NoSolution) as refused:
        even(7)
    assert refused.value.proved
    one = choose(price, int, int, int, known=("return", "pens", "bags"))
    assert one(31, 1, 1) == (1,)


FACTOR = strategies.integers(-20, 20).filter(bool)
BOUNDS = strategies.tuples(strategies.integers(-4, 4), strategies.integers(0, 6))


@given(
    strategies.lists(strategies.tuples(FACTOR, BOUNDS), min_size=2, max_size=3), strategies.data()
)
def test_all_integers_of_a_sum_within_bounds_are_found(terms, data):
    factors = [factor for factor, _ in terms]
    ranges = [range(low, low + width + 1) for _, (low, width) in terms]
    namespace = {}
    names = "xyz"[: len(terms)]
    body = " + ".join(f"{f} * {name}" for f, name in zip(factors, names, strict=True))
    exec(f"def total({', '.join(f'{n}: int' for n in names)}): return {body} - 4", namespace)
    total = namespace["total"]
    domain = {n: Integers(r[0], r[-1]) for n, r in zip(names, ranges, strict=True)}
    value = total(*(data.draw(strategies.sampled_from(r)) for r in ranges))
    found = invert(total, domain=domain).solutions(value, limit=500)
    wanted = [point for point in itertools.product(*ranges) if total(*point) == value]
    assert sorted(branch.point for branch in found) == wanted
    assert found.status == "complete"


@pytest.mark.parametrize(
    "f",
    [
        lambda n: 3 * (n * n) + 2 * n,
        lambda n: 2 * n + 3 * n**2,
        lambda n: 2 * (n + 1) ** 2 + 4 * n,
        lambda n: 4 * n - 6 * (n * n),
    ],
)
def test_integers_of_a_sum_that_depend_on_one_another_are_left_to_algebra(f):
    inverse = invert(f, int)
    for n in (-7, 0, 5):
        assert inverse(f(n), inverse.recover(n)) == (n,)
        assert f(*inverse(f(n))) == f(n)


def test_the_parts_of_a_division_in_a_sum_are_found_by_schrages_method():
    def following(seed: int):  # Schrage, ACM Transactions on Mathematical Software 5 (1979)
        high, low = divmod(seed, 127773)
        return 16807 * low - 2836 * high

    inverse = invert(following, domain={"seed": Integers(1, 2**31 - 2)})
    for seed in (1, 123456789, 2**31 - 2):
        found = inverse(following(seed))
        assert following(*found) == following(seed)


def test_singular_sums_leave_a_choice_or_disagree():
    def sums(x: int, y: int):
        return x + y, 2 * x + 2 * y

    inverse = invert(sums)
    assert inverse.recover(1, 2) == (2,)
    answers = {inverse((3, 6), (k,)) for k in range(-3, 4)}
    assert len(answers) == 7
    assert all(sums(*answer) == (3, 6) for answer in answers)
    with pytest.raises(NoSolution, match="disagree"):
        inverse((3, 7), (0,))


def test_sums_may_go_into_other_functions():
    def mixed(x: int, y: int):
        return f"{x + 2 * y},{x + y}"

    inverse = invert(mixed)
    assert inverse(mixed(4, -7), inverse.recover(4, -7)) == (4, -7)


@pytest.mark.parametrize("args", [(5, 9), (99, 100), (0, 0), (13, 26)])
def test_a_product_taken_modulo_a_constant_is_solved_for_the_factor_that_is_left(args):
    def f(x: int, k: int) -> tuple[int, int]:
        return 3 * x * k + 4 - 10 * 3, (3 * x * k + 4) % 26

    def g(x: int, k: int) -> tuple[int, int]:
        return (3 * x * k + 4) % 26, k * 7 % 101

    domains = {"x": Integers(0, 100), "k": Integers(0, 100)}
    for function in (f, g):
        inverse = invert(function, domain=domains)
        assert function(*inverse(function(*args))) == function(*args)
        assert inverse(function(*args), theta=inverse.recover(*args)) == args
    found = [branch.point for branch in inverse.solutions(g(*args))]
    every = itertools.product(range(101), repeat=2)
    assert sorted(found) == [pair for pair in every if g(*pair) == g(*args)]


def test_a_square_taken_modulo_a_constant_is_no_product_of_two():
    assert invert(lambda x: x * x % 13, int)(3)[0] ** 2 % 13 == 3
