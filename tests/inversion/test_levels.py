"""Three levels of inversion: by overlays alone, with the relations, with the whole program.

Each level has the answers of the one below, and further ones.
"""

import math

import pytest

from inversion import NotInvertible, WrongArguments, invert, minimal, minimal_relations
from overlay import MethodNotFound, OverlayError

F = float


def branching(x):
    return 2 * x if x > 0 else x - 1


def looping(x):
    for _ in range(3):
        x = x / 2 + 1
    return x


def counting(x):
    while x > 1:
        x = x / 2
    return x


# name: function, θ of the first two levels, arguments
ONE_BLOCK = {
    "affine": (lambda x: 2 * x + 3, (), (1.5,)),
    "exponential": (lambda x: 3 * math.exp(2 * x + 1) - 4, (), (0.5,)),
    "two inputs": (lambda x, y: x * 3 - y, (1.0,), (2.0, 1.0)),
}
PRIMITIVES = {
    "saturating": (lambda x: math.tanh(2 * x + 1), (0.0,), (-0.3,)),
    "roots": (lambda x: 3 * math.expm1(x / 3) ** 3.0, (0.5,), (0.7,)),
    "angle": (lambda x: math.atan2(x, 2.0) / 2, (0.0,), (3.0,)),
    "distance": (lambda x, y: math.hypot(x, 2 * y), (1.0, False, 3.0, False), (3.0, 2.0)),
}
WHOLE = {
    "used again": (lambda x: x * x + x, (), (2.0,)),
    "two results": (lambda x, y: (x + y, x - y), (), (2.0, 5.0)),
    "a branch": (branching, (), (3.0,)),
    "a loop": (looping, (), (5.0,)),
    "turns that vary": (counting, (), (5.0,)),
}
REFUSALS = (NotInvertible, MethodNotFound, WrongArguments)


def inputs(f):
    return f.__code__.co_argcount


def planned(f, args):
    inverse = invert(f, *[F] * inputs(f))
    theta = inverse.recover(*args)
    return inverse(f(*args), *((theta,) if len(inverse.parameters) else ()))


def check_by_overlays(level, f, theta, args):
    found = level.run_backwards(f, f(*args), theta, inputs=inputs(f))
    assert f(*found) == pytest.approx(f(*args))
    assert planned(f, found) == pytest.approx(found)


@pytest.mark.parametrize("name", ONE_BLOCK)
def test_a_block_of_few_primitives_needs_overlays_alone(name):
    f, theta, args = ONE_BLOCK[name]
    check_by_overlays(minimal, f, theta, args)
    check_by_overlays(minimal_relations, f, theta, args)


@pytest.mark.parametrize("name", PRIMITIVES)
def test_a_block_of_any_primitives_needs_the_relations(name):
    f, theta, args = PRIMITIVES[name]
    with pytest.raises(REFUSALS):
        minimal.run_backwards(f, f(*args), theta, inputs=inputs(f))
    check_by_overlays(minimal_relations, f, theta, args)


@pytest.mark.parametrize("name", WHOLE)
def test_reuse_and_control_flow_need_the_whole_program(name):
    f, theta, args = WHOLE[name]
    for level in (minimal, minimal_relations):
        if name in ("a loop", "two results"):
            break  # a loop over a known range is a block; a result is one number there
        with pytest.raises(OverlayError):
            level.run_backwards(f, f(*args), theta or (1.0,) * 4, inputs=inputs(f))
    assert planned(f, args) == pytest.approx(args)


def test_a_choice_of_another_type_is_refused():
    with pytest.raises(WrongArguments, match="another type"):
        minimal.run_backwards(lambda x: math.sin(x), 0.5, ("up",))
