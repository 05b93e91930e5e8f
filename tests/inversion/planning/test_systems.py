"""Equations in several unknowns that are searched for together; answers are checked forwards."""

import itertools
import math
import types
from typing import Annotated

import numpy as np
import pytest
from scipy import optimize

from inversion import NoSolution, choose, invert
from primitives import Reals


def distorted(x: float, y: float):
    """The lens model of D. C. Brown, Close-range camera calibration (1971)."""
    r2 = x * x + y * y
    radial = 1 - 0.28 * r2 + 0.07 * r2**2 - 0.01 * r2**3
    return (
        x * radial + 2e-3 * x * y - 5e-4 * (r2 + 2 * x * x),
        y * radial + 1e-3 * (r2 + 2 * y * y) - 1e-3 * x * y,
    )


def angles(w: float, x: float, y: float, z: float):
    """Quaternion to Euler angles, as in J. Diebel, Representing attitude (2006)."""
    return (
        math.atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)),
        math.asin(2 * (w * y - z * x)),
        math.atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)),
        w * w + x * x + y * y + z * z,
    )


def symmetric(x: float, y: float, z: float):
    """Elementary symmetric functions: the roots of a cubic from its coefficients."""
    return x + y + z, x * y + y * z + z * x, x * y * z


def equilibrium(a: float, b: float, c: float, d: float):
    """Four equations that share all unknowns."""
    return a * b + c, b * c + d * a, c * d + math.exp(a / 4), d + a * b * c


PROBLEMS = {
    "lens": (distorted, (0.3, -0.2)),
    "attitude": (angles, (0.8, 0.2, -0.3, 0.4)),
    "cubic": (symmetric, (1.0, 2.0, 3.5)),
    "four": (equilibrium, (1.0, 2.0, 0.5, -1.0)),
}


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_answer_leads_to_what_is_known_and_every_solution_has_a_theta(name):
    function, args = PROBLEMS[name]
    inverse, value = invert(function), function(*args)
    assert function(*inverse(value)) == pytest.approx(value, rel=1e-9, abs=1e-12)
    again = inverse(value, inverse.recover(*args))
    assert again == pytest.approx(args, rel=1e-6, abs=1e-9)


def test_a_start_leads_where_scipy_goes_from_it():
    value = distorted(0.3, -0.2)
    peer = optimize.root(lambda p: np.subtract(distorted(*p), value), (0.0, 0.0), tol=1e-12)
    assert invert(distorted)(value, (0.0, 0.0)) == pytest.approx(peer.x, rel=1e-8)


def test_answers_stay_within_declared_domains():
    def pair(
        x: Annotated[float, Reals(-4, 0)], y: Annotated[float, Reals(0, 4)]
    ) -> tuple[float, float]:
        return x * y + math.sin(x), x + y + x * x * y

    inverse = invert(pair)
    for x, y in ((-1.0, 2.0), (-3.5, 0.25), (-0.25, 3.75)):
        found = inverse(pair(x, y))
        assert -4 <= found[0] <= 0 <= found[1] <= 4
        assert pair(*found) == pytest.approx(pair(x, y), rel=1e-9, abs=1e-12)


def orbit(
    a: Annotated[float, Reals(6500, 50000)],
    e: Annotated[float, Reals(0.001, 0.95)],
    i: Annotated[float, Reals(0, math.pi)],
    node: Annotated[float, Reals(-math.pi, math.pi)],
    w: Annotated[float, Reals(-math.pi, math.pi)],
    nu: Annotated[float, Reals(-math.pi, math.pi)],
):
    """Position and velocity from elements: R. Bate and others, Fundamentals of Astrodynamics."""
    mu = 398600.4418
    p = a * (1 - e * e)
    r = p / (1 + e * math.cos(nu))
    u, k = w + nu, math.sqrt(mu / p)
    cu, su = math.cos(u), math.sin(u)
    across, along = cu + e * math.cos(w), su + e * math.sin(w)
    cn, sn, ci, si = math.cos(node), math.sin(node), math.cos(i), math.sin(i)
    return (
        r * (cn * cu - sn * su * ci), r * (sn * cu + cn * su * ci), r * su * si,
        -k * (cn * along + sn * across * ci), -k * (sn * along - cn * across * ci), k * across * si,
    )  # fmt: skip


@pytest.mark.parametrize("args", [
    (8000.0, 0.1, 0.9, 1.2, 0.4, 2.0), (26560.0, 0.74, 1.1, -2.0, -1.57, 0.3),
])  # fmt: skip
def test_orbital_elements_follow_from_position_and_velocity(args):
    found = invert(orbit)(orbit(*args))
    assert orbit(*found) == pytest.approx(orbit(*args), rel=1e-9)
    assert found == pytest.approx(args, rel=1e-5)  # within the domains there is one


def test_the_unknowns_may_have_any_size():
    def impedance(r: float, c: float):
        z = r + 1 / (1j * 1000.0 * c)
        return abs(z), z.real

    inverse = invert(impedance)
    for r, c in ((50.0, 1e-5), (1e4, 2e-9), (0.1, 1e-3)):
        found = inverse(impedance(r, c))
        assert impedance(*found) == pytest.approx(impedance(r, c), rel=1e-9)


def test_equations_that_have_no_solution_are_not_answered():
    with pytest.raises(NoSolution):
        invert(lambda x, y: (x * x + y * y * x * x, x + y * x, x * y * y), float, float)(
            (-1.0, 0.3, 5.0)
        )


def test_all_roots_of_a_system_are_proved_to_be_all():
    def pair(x: float, y: float):
        return x * x * y + y, x * y * y - x

    a, b = pair(1.0, 2.0)
    found = invert(pair).solutions((a, b))
    # with y = a / (x**2 + 1), x * (a**2 - (x**2 + 1)**2) = b * (x**2 + 1)**2
    square = np.polynomial.Polynomial([1, 0, 1]) ** 2
    x = np.polynomial.Polynomial([0, 1])
    roots = (x * (a * a - square) - b * square).roots()
    wanted = sorted(roots[abs(roots.imag) < 1e-9].real)
    assert sorted(branch.point[0] for branch in found) == pytest.approx(wanted, rel=1e-8)
    assert found.status == "complete"


@pytest.mark.long
def test_a_symmetric_system_has_its_roots_in_all_orders():
    found = invert(symmetric).solutions(symmetric(1.0, 2.0, 3.5))
    wanted = sorted(itertools.permutations((1.0, 2.0, 3.5)))
    points = sorted(tuple(round(x, 6) for x in branch.point) for branch in found)
    assert np.allclose(points, wanted)
    assert found.status == "complete"


def test_a_search_for_all_roots_says_when_it_has_not_ended(monkeypatch):
    clock = types.SimpleNamespace(monotonic=itertools.count(0, 700).__next__)  # 700 s for a root
    monkeypatch.setattr("inversion.solving.solutions.time", clock)
    found = invert(distorted).solutions(distorted(0.3, -0.2), timeout=600)
    assert len(found) == 1
    assert found.status == "timeout"
    assert distorted(*found[0].point) == pytest.approx(distorted(0.3, -0.2), rel=1e-9)


def test_the_nearest_root_of_a_system():
    def pair(x: float, y: float):
        return x * x * y + y, x * y * y - x

    inverse = invert(pair)
    assert inverse.nearest(pair(1.0, 2.0), (0.9, 2.2)) == pytest.approx((1.0, 2.0))
    assert inverse.nearest(pair(1.0, 2.0), (-3.0, 0.0))[0] < -3


def test_known_inputs_are_coefficients():
    def steady(x, y, k):
        return k * x - x * y * y, y * x * x - y * k

    inverse = choose(steady, float, float, float, known=("return", "k"))
    found = inverse(steady(0.7, 1.9, 0.4), 0.4)
    assert steady(*found, 0.4) == pytest.approx(steady(0.7, 1.9, 0.4), rel=1e-9)


@pytest.mark.long
def test_systems_are_compiled_and_solve_rows():
    inverse = invert(distorted)
    value = distorted(0.3, -0.2)
    assert inverse.compile()(value, (0.0, 0.0)) == pytest.approx((0.3, -0.2), rel=1e-8)
    points = np.random.default_rng(0).uniform(-0.4, 0.4, (2, 50))
    known = tuple(map(np.array, zip(*(distorted(*p) for p in points.T), strict=True)))
    found = inverse.batch(known, theta=(0.0, 0.0))
    assert np.allclose(found, points, rtol=1e-6)
