"""Points in polar coordinates: products with the cosine and the sine of one angle, and back."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from inversion import NoSolution, choose, invert
from overlay import Context
from primitives import Reals, base_partials, partials_of
from primitives.forms.polar import from_polar, polar, unpolar
from tests.examples import examples

numbers = st.floats(-50, 50).filter(lambda x: abs(x) > 1e-3)


def point(r: float, angle: float):
    return r * math.cos(angle) + 1, math.sin(angle) * r


def sphere(r: float, latitude: float, longitude: float):
    across = r * math.cos(latitude)
    return across * math.cos(longitude), across * math.sin(longitude), r * math.sin(latitude)


def back(x: float, y: float):
    return math.hypot(x, y), math.atan2(y, x)


@pytest.fixture(scope="module", params=["interpreted", "compiled"])
def made(request):
    def inverse(f):
        made = invert(f)
        return made.compile() if request.param == "compiled" else made

    return inverse


def close(found, wanted):
    return all(
        math.isclose(a, b, rel_tol=1e-7, abs_tol=1e-7) for a, b in zip(found, wanted, strict=True)
    )


@given(r=numbers, angle=numbers)
@settings(max_examples=examples(60))
def test_a_radius_and_an_angle_are_recovered(r, angle):
    inverse = invert(point)
    assert any(step.solved.statement.relation is polar for step in inverse.program.steps)
    assert close(inverse(point(r, angle), inverse.recover(r, angle)), (r, angle))


@given(x=numbers, y=numbers, k=st.integers(-5, 5))
@settings(max_examples=examples(40))
def test_every_number_of_half_turns_leads_to_the_point(x, y, k):
    inverse = invert(point)
    r, angle = inverse((x, y), (k, 0.0))
    assert close(point(r, angle), (x, y))
    assert (r < 0) == (k % 2 == 1)


def test_compiled_and_interpreted_answer_alike(made):
    for x, y, theta in ((3.0, 4.0, (0, 0.0)), (1.0, 0.0, (1, 2.5)), (-2.0, 0.5, (-3, 0.0))):
        assert made(point)((x, y), theta) == pytest.approx(invert(point)((x, y), theta))


@given(r=numbers, latitude=numbers, longitude=numbers)
@settings(max_examples=examples(40))
def test_spherical_coordinates_are_two_such_points(r, latitude, longitude):
    inverse = invert(sphere)
    assert {p.name.split("_")[0] for p in inverse.parameters} == {"branch", "angle"}
    wanted = sphere(r, latitude, longitude)
    found = inverse(wanted, inverse.recover(r, latitude, longitude))
    assert close(sphere(*found), wanted)


@given(x=numbers, y=numbers)
@settings(max_examples=examples(60))
def test_a_length_and_an_angle_are_a_point(x, y):
    inverse = invert(back)
    assert not len(inverse.parameters)
    assert close(inverse(back(x, y)), (x, y))


@pytest.mark.parametrize("wrong", [(-1.0, 0.5), (1.0, 4.0), (0.0, 1.0)])
def test_coordinates_of_no_point_are_refused(wrong):
    with pytest.raises(NoSolution):
        invert(back)(wrong)


def test_where_the_angle_is_known_both_products_are_linear():
    turned = choose(
        lambda x, y, a: (
            x * math.cos(a) - y * math.sin(a),
            x * math.sin(a) + y * math.cos(a),
        ),
        float, float, float, known=("return", "a"),
    )  # fmt: skip
    assert not any(s.relation in (polar, unpolar) for s in turned.program.program.statements)


def test_a_point_has_the_slopes_of_its_coordinates():
    rows = Context(base_partials).method(partials_of(from_polar), float, float).function(2.0, 0.5)
    assert rows == (
        (math.cos(0.5), -2.0 * math.sin(0.5)),
        (math.sin(0.5), 2.0 * math.cos(0.5)),
    )
    inverse = invert(back)
    assert inverse.log_abs_det(back(3.0, -4.0)) == pytest.approx(math.log(5))


def test_what_lies_on_no_circle_of_the_domain_is_proven():
    inverse = choose(
        lambda r, a: (r * math.cos(a), r * math.sin(a)), float, float, known=("return",),
        domain={"r": Reals(0, 1)},
    )  # fmt: skip
    found = inverse.solutions((3.0, 4.0))
    assert len(found) == 0
    assert found.status == "complete"
    assert "no solution" in found.reason
