"""Loops of shared variables that algebra closes: fractions of polynomials in one variable."""

import math

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from inversion import NoSolution, choose, invert
from inversion.lifting.lifter import lift
from inversion.passes.all_passes import rewritten
from inversion.planning.joins import joins
from inversion.planning.plan import Root
from inversion.program.loop_blocks import blocks
from primitives.forms.fractions import fraction
from tests.examples import examples

small = st.integers(-9, 9).map(float)
three = st.lists(small, min_size=3, max_size=3)
F = float


def closed(f, kinds, known=("return",)):
    """The inverse, which is solved without a search."""
    inverse = choose(f, *kinds, known=known)
    assert not any(isinstance(step, Root) for step in inverse.program.steps)
    return inverse


def answered(inverse, *values):
    """All answers of an inverse, for all choices of its truth values."""
    found = []
    for negative in (False, True):
        theta = tuple(negative if p.name.startswith("neg") else 7.0 for p in inverse.parameters)
        try:
            found.append(inverse(*values, *((theta,) if theta else ())))
        except NoSolution:
            continue
    return found


def moebius(x, p, q, r, s):
    return (p * x + q) / (r * x + s)


def sum_of_fractions(x, p, q):
    return p / x + q / (x + 1) + 1 / (x * x + x)


def quadratic(x, a, b, c):
    return a * x * x + b * x + c


@pytest.mark.parametrize("f", [moebius, sum_of_fractions, quadratic], ids=lambda f: f.__name__)
@settings(max_examples=examples(30))
@given(x=small, others=st.lists(small, min_size=4, max_size=4))
def test_each_root_is_found_whatever_the_coefficients_are(f, x, others):
    count = f.__code__.co_argcount - 1
    others = others[:count]
    try:
        value = f(x, *others)
    except ZeroDivisionError:
        assume(False)
    names = f.__code__.co_varnames[1 : count + 1]
    inverse = closed(f, [F] * (count + 1), ("return", *names))
    theta = inverse.recover(x, *others)
    given_theta = (theta,) if theta else ()
    assert inverse(value, *others, *given_theta)[0] == pytest.approx(x, rel=1e-9, abs=1e-9)
    for (found,) in answered(inverse, value, *others):
        assert f(found, *others) == pytest.approx(value, rel=1e-9, abs=1e-9)


@settings(max_examples=examples(40))
@given(p=small, q=small, r=small, s=small, z=small)
def test_an_answer_is_refused_only_where_there_is_none(p, q, r, s, z):
    """Compared with the equation (p - z r) x = z s - q, of which the pole is not a solution."""
    inverse = closed(moebius, [F] * 5, ("return", "p", "q", "r", "s"))
    exists = any(
        r * x + s != 0
        for x in ([(z * s - q) / (p - z * r)] if p != z * r else [7.0] if z * s == q else [])
    )
    assert bool(answered(inverse, z, p, q, r, s)) == exists


def test_coefficients_may_be_parameters():
    inverse = closed(lambda x, a: (a * x + 1) / (x - a), [F, F])
    assert inverse.parameters.names == (
        "x",
        "a",
    )  # x only where what is chosen for a leaves it open
    assert inverse(11 / 3, inverse.recover(5.0, 2.0)) == pytest.approx((5.0, 2.0))


def test_a_leading_coefficient_of_0_leaves_a_line():
    inverse = closed(quadratic, [F] * 4, ("return", "a", "b", "c"))
    assert answered(inverse, 7.0, 0.0, 2.0, 1.0) == [(3.0,), (3.0,)]
    assert answered(inverse, 1.0, 0.0, 0.0, 1.0) == [(7.0,), (7.0,)]  # any number: θ says which
    assert answered(inverse, 2.0, 0.0, 0.0, 1.0) == []
    assert answered(inverse, 0.0, 1.0, -5.0, 6.0) == [(3.0,), (2.0,)]


def test_both_ways_to_write_a_square_are_one_quadratic():
    for f in (lambda x: x**2 + x, lambda x: x * x + x, lambda x: x * (x + 1)):
        assert answered(closed(f, [F]), 6.0) == [(2.0,), (-3.0,)]


def test_a_pole_is_no_root():
    inverse = closed(lambda x: (x * x - 1) / (x - 1), [F])
    assert answered(inverse, 2.0) == []
    assert answered(inverse, 5.0) == [(4.0,), (4.0,)]


def test_what_cancels_out_leaves_any_number():
    inverse = closed(lambda x: math.cos(x / (3 * x)) + 1, [F])
    assert inverse(math.cos(1 / 3) + 1, inverse.recover(5.0)) == (5.0,)
    wider = closed(lambda x, a: math.cos((a * x + 2) / (x + 1)), [F, F], ("return", "a"))
    assert wider(math.cos(2.0), 2.0, wider.recover(5.0, 2.0)) == (5.0,)


def test_it_is_compiled():
    inverse = closed(lambda x: 1 / x + 1 / (x + 1), [F])
    wanted = inverse(1.5, (False,))
    assert inverse.compile()(1.5, (False,)) == wanted == (1.0,)


def test_integers_are_exact_or_left_to_others():
    inverse = invert(lambda n: 3 * n + 4 * n - n, int)
    assert inverse(6 * 10**30) == (10**30,)
    with pytest.raises(NoSolution):
        inverse(7)


@settings(max_examples=examples(60))
@given(kind=st.sampled_from([float, complex]), x=small, top=three, bottom=three)
def test_the_relation_of_a_fraction_is_complete(kind, x, top, bottom):
    rule = fraction(kind, quadratic=True, free=True)
    turn = 1.0 if kind is float else 0.6 + 0.8j
    x, *numbers = (kind(value) * turn**i for i, value in enumerate((x, *top, *bottom)))
    top, bottom = numbers[:3], numbers[3:]
    try:
        value = rule(x, *top, *bottom)
    except NoSolution:
        assume(False)
    axes = dict(zip(rule.axes, (x, *top, *bottom), strict=True)) | {"return": value}
    mode = rule.mode(["x"])
    chosen = mode.recover(*(axes[name] for name in mode.recovers))
    axes.update(zip(mode.coordinates, chosen, strict=True))
    found = mode.solver(*(axes[name] for name in mode.takes))
    assert rule(found, *top, *bottom) == pytest.approx(value, rel=1e-6, abs=1e-6)


# ---- loops as graphs ----------------------------------------------------------------------


def core_of(f, *names):
    program = lift(f, [(name, F) for name in names], None).program
    return rewritten(program, ("return",))


def test_the_uses_of_a_variable_meet_in_one_statement():
    program = core_of(lambda x, y: math.exp(x * y + x) + y, "x", "y")
    unknown = [v for v in program.variables if v != program.result]
    found = {v.name: str(program.statements[at]) for at, v in joins(program.statements, unknown)}
    assert found == {"x": "v2 = v1 + x", "y": "v4 = v3 + y"}


def test_equations_fall_into_blocks_in_the_order_in_which_they_are_solved():
    program = core_of(lambda x, y: (x * math.exp(x), y * math.exp(y) + x), "x", "y")
    results = set(program.results.values())
    found = blocks(program.statements, [v for v in program.variables if v not in results])
    assert [v.name for block in found for v in block.unknown if v in program.inputs] == ["x", "y"]
    assert all(len(block.statements) == len(block.unknown) for block in found)
    assert max(len(block.statements) for block in found) == 2


def test_each_block_has_a_guess_of_its_own():
    def f(x, y, z):
        return x * math.exp(x), y * math.exp(y) + x, z * math.exp(z) + y

    inverse = invert(f, F, F, F)
    assert inverse.parameters.names == ("near_x", "near_y", "near_z")
    wanted = f(0.5, 0.25, 0.75)
    assert inverse(wanted, (0.0, 0.0, 0.0)) == pytest.approx((0.5, 0.25, 0.75))


def test_unknowns_that_are_too_many_and_equations_that_are_too_many_stay_together():
    program = core_of(lambda x, y: x * math.exp(y) + y, "x", "y")
    (block,) = blocks(program.statements, [v for v in program.variables if v != program.result])
    assert len(block.unknown) == len(block.statements) + 1
    twice = core_of(lambda x: (x + 1, x * x), "x")
    (over,) = blocks(twice.statements, twice.inputs)
    assert (len(over.statements), len(over.unknown)) == (2, 1)


def equal_to_what_is_equal(x):
    for _ in range(3):
        doubled = x + x
        x = doubled - x
    return x / 0.87


def test_what_cancels_may_be_equal_to_what_cancels():
    assert invert(equal_to_what_is_equal, F)(2.0) == (1.74,)
    nothing = invert(lambda x, y: (y - y) / x * x * 1.41 + 2.0, F, F)
    assert nothing(2.0, nothing.recover(3.0, 5.0)) == (3.0, 5.0)
