"""Compiled inverses and batches have the answers of interpreted ones."""

import gc
import math
import types
import warnings
from collections import namedtuple

import numba
import numpy as np
import pytest
from typeguard import suppress_type_checks

from inversion import NoSolution, OutsideDomain, WrongArguments, choose, invert
from inversion import inverse as inverse_module
from inversion.intrinsics.checks import is_close, is_finite
from overlay import Context, MethodTable, NotCompilable
from overlay.core.background import rest
from primitives import Reals

F = float


def offset(x):
    return x * 0.8


@numba.njit
def scaled(x):
    return 0.5 * x


def arm(a, b, c):
    return math.sin(a) + offset(math.sin(a + b)) + scaled(math.sin(a + b + c))


ARM = invert(arm, F, F, F)
FAST = invert(arm, F, F, F).compile()
CUBE = invert(lambda n, m: n * m + 1, int, int)
RNG = np.random.default_rng(0)


def test_the_compiled_inverse_answers_as_the_interpreted_one():
    answered = 0
    for theta in (ARM.parameters.sample(RNG) for _ in range(200)):
        try:
            wanted = ARM(0.7, theta)
        except NoSolution:
            with pytest.raises(NoSolution):
                FAST(0.7, theta)
            continue
        assert FAST(0.7, theta) == pytest.approx(wanted, rel=1e-15)
        answered += 1
    assert answered > 20


def test_calls_after_compiling_use_it_and_say_where_they_fail():
    inverse = invert(lambda x, y: math.exp(x) + y, F, F)
    fast = inverse.compile()
    assert inverse.compile() is fast
    assert inverse(3.0, (2.0,)) == fast(3.0, (2.0,))
    with pytest.raises(NoSolution, match="lost digits") as caught:
        inverse(3.0, (80.0,))
    assert "test_compiled.py" in caught.value.where
    with pytest.raises(OutsideDomain):
        inverse(3.0, (math.inf,))
    with pytest.raises(OutsideDomain):
        fast(3.0, (math.inf,))


def test_an_inverse_is_compiled_in_the_background_after_many_calls(monkeypatch):
    monkeypatch.setattr(inverse_module, "COMPILED_AFTER", 3)
    inverse = invert(lambda x: x + 1, F)
    answers = [inverse(5.0) for _ in range(2)]
    rest()
    assert not inverse._code.inverse.is_made
    answers += [inverse(5.0) for _ in range(3)]
    rest()
    answers += [inverse(5.0)]
    assert inverse._fast is inverse.compile()
    assert answers == [(4.0,)] * 6


def test_integers_of_any_size_fall_back_on_the_interpreter():
    fast = CUBE.compile()
    theta = CUBE.recover(2**40, 2**41)
    value = 2**81 + 1
    assert CUBE(value, theta) == (2**40, 2**41)
    assert fast(13, (4, False)) == (3, 4)
    doubled = invert(lambda n: n + n, int)
    negated = invert(lambda n: -n - 1, int)
    with pytest.raises(NoSolution, match="64 bits"):
        negated.compile()(2**63 - 1)
    assert negated(2**63 - 1) == (-(2**63),)
    with pytest.raises(NoSolution, match="64 bits"):
        invert(lambda n: n - 1, int).compile()(2**63 - 1)
    assert doubled(2**64) == (2**63,)


def test_what_numba_cannot_compile_stays_interpreted():
    class Held:
        factor = 2.0

        def __call__(self, x):
            return self.factor * x

    inverse = invert(Held(), F)
    assert inverse(3.0) == (1.5,)
    with pytest.raises(NotCompilable):
        inverse.compile()
    assert inverse(3.0) == (1.5,)


# ---- batches ------------------------------------------------------------------------------


def test_a_batch_answers_row_by_row_as_calls_do():
    thetas = ARM.parameters.sample(RNG, 300)
    heights = RNG.uniform(-2, 2, 300)
    found = ARM.batch(heights, theta=thetas, on_error="nan")
    for row in range(300):
        try:
            wanted = ARM(heights[row], thetas[row])
        except NoSolution:
            assert all(np.isnan(column[row]) for column in found)
            continue
        assert tuple(column[row] for column in found) == pytest.approx(wanted, rel=1e-14)


def test_known_values_and_parameters_are_broadcast():
    inverse = invert(lambda x, y: x * 2 + y, F, F)
    thetas = np.zeros((3, 1), inverse.parameters.dtype)
    thetas[inverse.parameters.names[0]] = [[1.0], [2.0], [3.0]]
    x, y = inverse.batch(np.array([4.0, 6.0]), theta=thetas)
    assert x.shape == y.shape == (3, 2)
    assert np.allclose(2 * x + y, [4.0, 6.0])
    x, y = inverse.batch(np.array([4.0, 6.0]), theta=(1.0,))
    assert np.allclose(2 * x + y, [4.0, 6.0])
    x, y = inverse.batch(np.zeros((0, 2)), theta=(1.0,))
    assert x.shape == (0, 2)


def test_a_batch_raises_for_the_first_row_without_a_solution():
    inverse = invert(lambda x: math.exp(x), F)
    values = np.array([1.0, 2.0, -1.0, -2.0])
    with pytest.raises(NoSolution, match=r"return = -1.0") as caught:
        inverse.batch(values)
    assert ("row", "2") in caught.value.notes
    (found,) = inverse.batch(values, on_error="nan")
    assert np.array_equal(np.isnan(found), [False, False, True, True])


def test_batches_of_integers_are_exact():
    n, m = CUBE.batch(np.array([13, 22]), theta=(3, False))
    assert np.array_equal(n * m + 1, [13, 22])
    with pytest.raises(WrongArguments, match="floats"):
        CUBE.batch(np.array([13]), theta=(3, False), on_error="nan")


def test_batches_that_do_not_fit_are_refused():
    inverse = invert(lambda x, y: x + y, F, F)
    with pytest.raises(WrongArguments, match="theta="):
        inverse.batch()
    with pytest.raises(WrongArguments, match=r"1 coordinate \("):
        inverse.batch(np.ones(2), theta=(1.0, 2.0))
    with pytest.raises(OutsideDomain, match="array of object"):
        inverse.batch(np.ones(2), theta=np.ones(2, object))
    with pytest.raises(WrongArguments, match="do not broadcast"):
        inverse.batch(np.ones(2), theta=np.ones(3))
    with pytest.raises(WrongArguments, match="complex"):
        inverse.batch(np.ones(2, complex), theta=(1.0,))
    with pytest.raises(WrongArguments, match="no θ"):
        invert(lambda x: x + 1, F).batch(np.ones(2), theta=(1.0,))
    with pytest.raises(WrongArguments, match="do not broadcast"):
        inverse.batch(np.ones(2), theta=np.ones(3, inverse.parameters.dtype))


def test_a_batch_takes_no_integers_that_its_words_do_not_hold():
    less = invert(lambda x: x - 1, int)
    with pytest.raises(WrongArguments, match="uint64 from 9223372036854775813"):
        less.batch(np.array([2**63 + 5], np.uint64))
    with pytest.raises(WrongArguments, match="array of object"):
        less.batch([10**30])
    assert less.batch(np.array([5], np.uint64))[0].tolist() == [6]
    with pytest.raises(WrongArguments, match="int64 from -1"):
        invert(lambda x: x - 1, np.uint64).batch([-1])
    branches = invert(lambda x: math.sin(x), F)
    with pytest.raises(OutsideDomain, match="array of object"):
        branches.batch(np.array([0.5]), theta=(10**30,))
    with pytest.raises(OutsideDomain, match="uint64 from"):
        branches.batch(
            np.array([0.5]), theta=np.array([(2**63 + 1,)], [("branch_of_sin", np.uint64)])
        )


def test_on_error_is_raise_or_nan_where_a_nan_would_be_seen():
    inverse = invert(lambda x: math.exp(x), F)
    with suppress_type_checks(), pytest.raises(WrongArguments, match="not 'ignore'"):
        inverse.batch(np.array([-1.0]), on_error="ignore")
    checks = choose(lambda x: math.exp(x), F, known=("return", "x"))
    with pytest.raises(WrongArguments, match="answers that are floats"):
        checks.batch(np.array([-1.0]), np.array([0.0]), on_error="nan")


def test_compiled_answers_are_finite():
    inverse = invert(lambda x: 1 / x, F)
    with pytest.raises(NoSolution):
        inverse.compile()(1e-310)
    (found,) = inverse.batch(np.array([1e-310, 2.0]), on_error="nan")
    assert np.isnan(found[0])
    assert found[1] == 0.5


def test_compiled_words_wrap_as_interpreted_ones_do():
    word = np.uint64(2**63 + 9)
    inverse = invert(lambda x: x * 3 + 7, np.uint64)
    wanted = inverse(word)
    assert inverse.compile()(word) == inverse(word) == wanted
    assert inverse.batch(np.array([word]))[0][0] == wanted[0]


def test_a_compiled_inverse_refuses_arguments_of_other_types():
    with pytest.raises(WrongArguments, match=r"takes values of the types int64; 5\.5"):
        invert(lambda x: x + 1, int).compile()(5.5)
    with pytest.raises(WrongArguments, match="of the types float64"):
        FAST(0.7, (1.0, 2.0))
    with pytest.raises(TypeError):
        FAST(0.7)


# ---- after a change -----------------------------------------------------------------------


def make(source, **names):
    exec(source, names)
    return names


USER = """
def scale(x):
    return x * 2

def user(x):
    return scale(x) + 1
"""


@pytest.mark.parametrize("compile_first", [True, False])
def test_a_helper_that_changed_is_not_answered_by_compiled_code(monkeypatch, compile_first):
    monkeypatch.setattr(inverse_module, "COMPILED_AFTER", 3)
    names = make(USER)
    inverse = invert(names["user"], F)
    if compile_first:
        inverse.compile()
        inverse.batch(np.array([9.0]))
    assert inverse(9.0) == (4.0,)
    exec("def scale(x): return x * 4", names)
    for _ in range(5):
        with pytest.raises(NoSolution) as caught:
            inverse(9.0)
    assert "call invert again" in caught.value.help
    assert ("the function gives", "17.0") in caught.value.notes
    with pytest.raises(NotCompilable, match="out of date"):
        inverse.compile()
    if compile_first:
        with pytest.raises(NoSolution):
            inverse.batch(np.array([9.0]))
        assert np.isnan(inverse.batch(np.array([9.0]), on_error="nan")[0][0])
    exec("def scale(x): return x + x", names)
    assert inverse(9.0) == (4.0,)
    assert inverse.batch(np.array([9.0]), on_error="nan")[0][0] == 4.0
    exec("def scale(x): return x * 4", names)
    assert invert(names["user"], F).compile()(9.0) == (2.0,)


def test_globals_cells_and_modules_that_changed_are_seen():
    factor = 2.0
    module = types.ModuleType("settings")
    module.shift = 1.0
    names = make("def user(x): return x * factor + settings.shift", factor=2.0, settings=module)

    def closure(x):
        return x * factor

    def renew(value):
        nonlocal factor
        factor = value

    inverse, other = invert(names["user"], F), invert(closure, F)
    assert inverse.compile()(5.0) == (2.0,)
    assert other.compile()(4.0) == (2.0,)
    names["factor"] = float("2")
    assert not inverse._watch.changed
    module.shift = 3.0
    renew(5.0)
    for changed, value in ((inverse, 5.0), (other, 4.0)):
        with pytest.raises(NoSolution):
            changed(value)


def test_declared_domains_hold_in_compiled_code():
    inverse = invert(lambda x: x + 1, F, domain={"x": Reals(0, 1)})
    (found,) = inverse.batch(np.array([1.5, 2.5]), on_error="nan")
    assert found[0] == 0.5
    assert np.isnan(found[1])


def test_a_function_changed_elsewhere_leaves_a_compiled_inverse_at_work():
    theta = (0.1, 0.2, 1)
    wanted = FAST(0.7, theta)
    names = make(USER)
    assert invert(names["user"], F).compile()(9.0) == (4.0,)
    exec("def scale(x): return x * 4", names)
    assert invert(names["user"], F).compile()(9.0) == (2.0,)
    assert FAST(0.7, theta) == wanted
    with pytest.raises(WrongArguments):
        FAST("0.7", theta)


FAST_LINE = invert(lambda x: 2 * x + 3, F).compile()
HALVED = invert(lambda x: 2 * x, F).compile()


def test_compiled_inverses_are_values_of_compiled_code():
    @numba.njit
    def chosen(exact, z):
        inverse = FAST_LINE if exact else HALVED
        return inverse(z)[0]

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", numba.NumbaExperimentalFeatureWarning)
        assert (chosen(True, 8.0), chosen(False, 8.0)) == (2.5, 4.0)


@pytest.mark.parametrize("value", [math.inf, -math.inf, math.nan])
def test_what_is_not_finite_is_close_to_nothing(value):
    assert not is_finite(value)
    assert not is_close(value, 1.0, 1e-9, 1e-12)
    assert not is_close(1.0, value, 0.0, 1e-12)
    assert not is_close(1.0, value, 1e-9, 1e-12)
    assert not is_close(value, value, 1.0, math.inf)
    assert is_finite(1e308)
    assert is_close(1.0, 1.0 + 1e-10, 1e-9, 0.0)
    assert is_close(3 + 4j, 3 + 4j, 0.0, 0.0)


def answers_of_a_class(fields):
    kind = namedtuple("kind", fields)

    def turned(p):
        return kind(p[1] * 2, *p[2:], p[0])

    example = kind(*map(float, range(len(fields))))
    inverse = invert(turned, example)
    for found in (inverse(turned(example)), inverse.compile()(turned(example))):
        assert found == (example,)
        assert type(found[0]) is kind


def test_code_is_found_for_classes_of_one_name_that_come_and_go():
    for n in range(6):  # numba does not find it by itself where an earlier class is gone
        answers_of_a_class(["x", "y", "z"][: 2 + n % 2])
        gc.collect()


# ---- changes after compilation ------------------------------------------------------------

CHANGING = """
FACTOR = 2.0

def helper(x):
    return 3 * x + 1

def straight(x):
    return FACTOR * helper(helper(x))

def branching(x):
    return helper(x) if x > FACTOR else FACTOR * x

def repeating(x):
    for _ in range(3):
        x = helper(x) + FACTOR
    return x
"""


def _new_helper(names):
    names["helper"] = lambda x: x - 5


def _new_code(names):
    names["helper"].__code__ = (lambda x: x - 5).__code__


def _new_constant(names):
    names["FACTOR"] = 70.0


def _new_function(names):
    for name in ("straight", "branching", "repeating"):
        names[name].__code__ = (lambda x: 0.0 * x).__code__


CHANGES = (_new_helper, _new_code, _new_constant, _new_function)


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
@pytest.mark.parametrize("name", ["straight", "branching", "repeating"])
def test_a_compiled_inverse_keeps_its_program(name, change):
    names = {"__name__": __name__}
    exec(CHANGING, names)
    inverse = invert(names[name], F)
    theta = inverse.parameters.compiled(inverse.recover(10.0))
    given = (names[name](10.0), *([theta] if theta else []))
    compiled = inverse.compile()
    before = compiled(*given)
    assert before == pytest.approx((10.0,))
    change(names)
    gc.collect()
    assert [compiled(*given) for _ in range(2)] == [before] * 2
    with pytest.raises(NoSolution, match=r"lost digits|no solution") as caught:
        inverse(*given)
    assert "call invert again" in caught.value.help


def test_a_compiled_inverse_answers_for_the_table_that_it_was_compiled_with():
    table = MethodTable("doubled")
    table.overlay(offset)(lambda x: 2 * x)
    compiled = invert(lambda x: offset(x) + 1, F, context=Context(table)).compile()
    assert compiled(7.0) == (3.0,)
    table.overlay(offset)(lambda x: 4 * x)
    assert compiled(7.0) == (3.0,)


def test_a_compiled_inverse_says_what_is_left_out():
    square = invert(lambda x: x * x, F).compile()
    with pytest.raises(WrongArguments, match=r"4.0 was given") as caught:
        square(4.0)
    assert "inv.parameters.default()" in caught.value.help
    with pytest.raises(WrongArguments, match=r"nothing was given"):
        square()
    with pytest.raises(WrongArguments, match=r"'a', \(True,\) were given") as caught:
        square("a", (True,))
    assert caught.value.help == "convert them"
