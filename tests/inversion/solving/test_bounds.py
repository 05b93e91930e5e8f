"""Results at the bound of a clamp, or at a value of a step, up to rounding in the operations after
it.
"""

import itertools
import math

import numpy as np
import pytest

from inversion import NoSolution, invert

AFTER = {
    "times": lambda v: v * 3.1,
    "divided": lambda v: v / 7.3,
    "square_root": lambda v: math.sqrt(v + 0.7),
    "logarithm": lambda v: math.log(v + 0.3),
    "exponential": math.exp,
    "cube": lambda v: v**3,
    "tanh": math.tanh,
    "reciprocal": lambda v: 1 / (v + 0.9),
    "degrees": lambda v: v * 1.8 + 32,
    "shifted": lambda v: (v + 0.1) * 3,
    "shifted_far": lambda v: (v + 32.1) * 3,
}
CLAMPS = {
    "max": lambda x, b: max(x, b),
    "min": lambda x, b: min(x, b),
    "np_maximum": lambda x, b: np.maximum(x, b),
    "clip": lambda x, b: np.clip(x, b, b + 1.3),
    "both": lambda x, b: min(max(x, b), b + 1.3),
    "if": lambda x, b: b if x < b else x,
}
BOUNDS = 0.0, 0.1, 0.7, 1.3, 3.7


def program_of(clamped, operation, bound):
    def program(x: float):
        return operation(clamped(x, bound))

    return program


@pytest.mark.parametrize(("clamp", "after"), list(itertools.product(CLAMPS, AFTER)))
def test_all_numbers_beyond_a_bound_are_reached(clamp, after):
    for bound in BOUNDS:
        program = program_of(CLAMPS[clamp], AFTER[after], bound)
        inverse = invert(program)
        below = () if clamp == "min" else (bound - 0.05, bound - 3.0)
        for x in (bound, *below, bound + 0.05, bound + 1.3, bound + 3.0):
            result = program(x)
            assert program(*inverse(result)) == pytest.approx(result, rel=1e-9)
            assert inverse(result, inverse.recover(x))[0] == pytest.approx(x, rel=1e-6, abs=1e-9)
            found = inverse.solutions(result)
            assert any(branch.contains(x) for branch in list(found)), (bound, x)
            assert found.status == "complete"


STEPS = {
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "rint": np.rint,
    "floor_division": lambda x: x // 1.0,
    "sign": np.sign,
    "heaviside": lambda x: np.heaviside(x, 0.5),
}


@pytest.mark.parametrize("step", STEPS)
def test_all_arguments_of_a_step_are_reached(step):
    operation = STEPS[step]

    def program(x: float):
        return (0.1 + operation(x)) * 3

    inverse = invert(program)
    for x in (2.0, 0.0, -1.5, 0.3):
        assert inverse(program(x), inverse.recover(x)) == pytest.approx((x,), abs=1e-9)
        assert any(branch.contains(x) for branch in inverse.solutions(program(x), limit=3))


def test_a_number_between_whole_ones_is_no_result_of_a_step():
    with pytest.raises(NoSolution):
        invert(lambda x: np.floor(x) * 3.0, float)(4.0)
    with pytest.raises(NoSolution):
        invert(lambda x: np.sign(x) * 3.0, float)(6.0)


@pytest.mark.parametrize("bound", [0.0, 1e-15])
def test_small_numbers_beside_a_bound_are_told_from_it(bound):
    inverse = invert(lambda x: max(x, bound), float)
    for x in (1e-14, 3e-13, 1e-6):
        assert inverse(x) == pytest.approx((x,), rel=1e-12)
        (branch,) = inverse.solutions(x)
        assert branch.contains(x)
        assert not branch.contains(-1.0)


def test_it_is_not_proved_that_a_result_is_no_bound_if_rounding_hides_it():
    def program(x: float):
        return (max(x, 0.0) + 1e5 + 0.1) * 3

    inverse = invert(program)
    found = inverse.solutions(program(-3.0))
    assert len(found) == 1
    assert found.status == "not_exhausted"
    assert "max(x, 0.0)" in found.reason
    found = inverse.solutions(program(2.0))
    assert len(found) == 1
    assert found.status == "complete"
