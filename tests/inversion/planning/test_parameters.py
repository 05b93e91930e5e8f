"""The parameter space: length, order, dtype, samples."""

import math

import numpy as np
import pytest

from inversion import WrongArguments, invert
from primitives import Bool, Integer, Real

F = float


def f(x, y, z):
    return math.sin(x * y) + z


INVERSE = invert(f, F, F, F)
SPACE = INVERSE.parameters


def test_coordinates_are_named_typed_and_name_their_line():
    assert len(SPACE) == 4
    assert [(p.name, p.domain) for p in SPACE] == [
        ("z", Real), ("branch_of_sin", Integer), ("v_x_y", Real), ("left_x_y", Bool),
    ]  # fmt: skip
    line = f.__code__.co_firstlineno
    assert SPACE[0].line.endswith(f"test_parameters.py:{line}")
    assert SPACE[1].line.endswith(f"test_parameters.py:{line + 1}")


def test_a_record_serves_as_well_as_a_tuple():
    assert SPACE.dtype == np.dtype(
        [("z", "f8"), ("branch_of_sin", "i8"), ("v_x_y", "f8"), ("left_x_y", "?")]
    )
    theta = (0.5, 2, 3.0, False)
    record = np.array([theta], dtype=SPACE.dtype)[0]
    assert INVERSE(1.0, record) == INVERSE(1.0, theta) == INVERSE(1.0, list(theta))


def test_records_are_read_by_field_name():
    theta = (0.5, 2, 3.0, False)
    fields = [("left_x_y", "?"), ("v_x_y", "f8"), ("branch_of_sin", "i8"), ("z", "f8")]
    record = np.array([theta[::-1]], dtype=fields)
    assert INVERSE(1.0, record[0]) == INVERSE(1.0, theta)
    columns = INVERSE.batch(np.array([1.0]), theta=record)
    assert tuple(column[0] for column in columns) == INVERSE(1.0, theta)
    for wrong in ([("w", "?"), *fields[1:]], fields[1:], [*fields, ("w", "f8")]):
        with pytest.raises(WrongArguments, match="the record has the fields"):
            INVERSE(1.0, np.zeros(1, wrong)[0])
        with pytest.raises(WrongArguments, match="the record has the fields"):
            INVERSE.batch(np.array([1.0]), theta=np.zeros(1, wrong))


def test_samples_and_points_of_the_unit_cube_are_members():
    rng = np.random.default_rng(0)
    for theta in (
        SPACE.sample(rng), SPACE.default(), SPACE.from_unit([0.0, 0.5, 1.0, 0.3]),
        SPACE.sample(rng, 3)[1],
    ):  # fmt: skip
        assert SPACE.normal(theta) == SPACE.normal(SPACE.normal(theta))
    with pytest.raises(WrongArguments, match="4 coordinates"):
        SPACE.from_unit([0.5])


def test_samples_repeat_with_the_seed():
    one, two = (SPACE.sample(np.random.default_rng(7)) for _ in range(2))
    assert one == two


def test_the_layout_depends_on_the_program_and_the_types_alone():
    assert invert(f, F, F, F).parameters == SPACE
    assert (
        repr(SPACE)
        == "ParameterSpace(z: Real, branch_of_sin: Integer, v_x_y: Real, left_x_y: Bool)"
    )


def test_values_come_back_exactly_as_they_were_chosen():
    x, y, z = INVERSE(1.0, (0.5, 2, 3.0, False))
    assert (y, z) == (3.0, 0.5)
    assert INVERSE.recover(x, y, z) == (0.5, 2, 3.0, False)
