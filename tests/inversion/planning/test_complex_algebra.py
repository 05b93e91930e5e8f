"""Algebra of complex numbers, and of real unknowns in complex results."""

import cmath
import math

import numpy as np
import pytest

from inversion import NoSolution, choose, invert


def input_impedance(load: complex):
    """Of a lossy line: D. M. Pozar, Microwave Engineering, chapter 2."""
    t = cmath.tanh(0.1 + 0.7j)
    return 50.0 * (load + 50.0 * t) / (50.0 + load * t)


EXPRESSIONS = {
    "fraction": lambda z: (2 * z - 1) / (z + 3),
    "quadratic": lambda z: z * z + z,
    "squares": lambda z: (1 + 2j) * z**2 - 3 * z + 1j,
    "reflection": lambda z: (z - 50) / (z + 50),
    "line": input_impedance,
    "Joukowsky": lambda z: z + 1 / z,
    "cube": lambda z: z**3,
    "root": lambda z: z**0.5,
    "power": lambda z: z ** (0.5 + 0.2j),
    "of powers": lambda z: (1.5 + 1j) ** z,
    "sine": cmath.sin,
    "cosine": lambda z: cmath.cos(z) * 2,
    "tangent": cmath.tan,
    "hyperbolic": lambda z: cmath.sinh(z) + 1,
    "cosh": cmath.cosh,
    "tanh": lambda z: np.tanh(z),
    "inverse sine": cmath.asin,
    "logarithm": cmath.log10,
    "exponential": lambda z: np.exp(2j * z),
    "conjugate": lambda z: 2 * z + 1j * z.conjugate(),
    "and its square": lambda z: z * z.conjugate() + z,
    "parts": lambda z: z.real * 2 + 3j * z.imag,
    "size": lambda z: (abs(z), z.real),
    "polar": cmath.polar,
    "size and angle": lambda z: (abs(z + 1), cmath.phase(z + 1)),
    "no algebra": lambda z: cmath.exp(z) + z * z,
}
NUMBERS = (1 + 2j, 0.3 - 0.7j, 1.2 + 0.1j)


@pytest.mark.parametrize("name", EXPRESSIONS)
@pytest.mark.parametrize("z", NUMBERS)
def test_answers_lead_to_the_value_and_each_number_has_a_theta(name, z):
    function = EXPRESSIONS[name]
    inverse, value = invert(function, complex), function(z)
    (found,) = inverse(value)
    assert np.allclose(function(found), value, rtol=1e-8, atol=1e-11)
    assert np.allclose(inverse(value, theta=inverse.recover(z) or None), (z,), rtol=1e-6)


@pytest.mark.parametrize("top", [(1, -3, 2), (2j, 1, -1 + 1j), (1, 0, 4)])
def test_both_roots_are_those_of_numpy(top):
    a, b, c = top
    inverse = invert(lambda z: a * z * z + b * z + c + 0j * z, complex)
    wanted = sorted(np.roots((a, b, c - (0.3 + 0.1j))), key=lambda z: (z.real, z.imag))
    found = sorted(
        (inverse(0.3 + 0.1j, (first,))[0] for first in (True, False)),
        key=lambda z: (z.real, z.imag),
    )
    assert np.allclose(found, wanted)


def test_linear_equations_of_complex_numbers_are_one_system():
    def mesh(a: complex, b: complex):  # currents in two meshes: W. H. Hayt, chapter 10
        return (3 + 4j) * a - 2j * b, -2j * a + (5 - 1j) * b

    matrix = np.array([[3 + 4j, -2j], [-2j, 5 - 1j]])
    inverse = invert(mesh, root_finding=False)
    assert np.allclose(inverse((10 + 0j, 5j)), np.linalg.solve(matrix, [10, 5j]))


def test_a_matrix_of_complex_numbers_is_solved():
    matrix = np.array([[1 + 1j, 2.0], [0.5j, 3 - 1j]])
    inverse = invert(lambda v: matrix @ v, np.array([1j, 2.0]))
    (found,) = inverse(np.array([1.0, 2j]))
    assert np.allclose(found, np.linalg.solve(matrix, [1.0, 2j]))


@pytest.mark.parametrize("known", [np.array([0.5 + 1j, -2j]), np.array([0.25, -1.5])])
@pytest.mark.parametrize("turned", [False, True])
def test_products_with_a_constant_of_complex_numbers(known, turned):
    tall = np.array([[1 + 1j, 2.0], [0.5j, 3 - 1j], [2.0, 1j]])
    function = (lambda v: v @ tall.T) if turned else (lambda v: tall @ v)
    (found,) = invert(function, known)(function(known))
    assert np.allclose(found, known)
    wide = tall.conj().T
    inverse = invert(lambda v: wide @ v, np.array([1.0, 2j, -1j]))
    value = np.array([1.0 + 1j, 0.5])
    assert np.allclose(wide @ inverse(value)[0], value)
    around = np.array([1j, 0.3, -2.0])
    assert np.allclose(inverse(wide @ around, inverse.recover(around))[0], around)


REAL = {
    "coil": (lambda w: 1 / (50 + 1j * w * 1e-3), (300.0,)),
    "series": (lambda r, x: 1 / (r + 1j * 2.0 * x), (3.0, 4.0)),
    "parallel": (lambda r, c: 1 / (1 / r + 1j * 377.0 * c), (100.0, 2e-5)),
    "shunted": (lambda r, x: 1 / (1 / (r + 377j * x) + 377e-6j), (100.0, 0.2)),
    "measured": (lambda r, x: (abs(r + 1j * x), cmath.phase(r + 1j * x)), (50.0, -20.0)),
    "phasor": (lambda r, a: cmath.rect(r, a) * (1 + 1j), (2.0, 0.7)),
}


@pytest.mark.parametrize("name", REAL)
def test_real_unknowns_inside_complex_results(name):
    function, args = REAL[name]
    inverse, value = invert(function, *[float] * len(args)), function(*args)
    assert np.allclose(function(*inverse(value)), value, rtol=1e-8)
    again = inverse(value, theta=inverse.recover(*args) or None)
    assert again == pytest.approx(args, rel=1e-6)


@pytest.mark.parametrize("turn", [0.0, 1.0, -2.5, 7.0])
def test_the_origin_has_every_angle(turn):
    def point(r: float, angle: float):
        return cmath.rect(r, angle)

    def parts(r: float, angle: float):
        return r * math.cos(angle), r * math.sin(angle)

    for function in (point, parts):
        inverse = invert(function)
        assert inverse.recover(0.0, turn)[-1] == turn
        assert inverse(function(0.0, turn), inverse.recover(0.0, turn)) == (0.0, turn)
        assert any(b.contains(0.0, turn) for b in inverse.solutions(function(0.0, turn), limit=4))
        assert all(b.is_point for b in inverse.solutions(function(2.0, turn), limit=4))
    for r in (0.0, 2.0):
        angle = choose(point, known=("return", "r"))
        theta = angle.recover(r, turn)
        assert angle(point(r, turn), r, theta) == pytest.approx((turn,))


def test_what_no_real_number_gives_is_not_answered():
    with pytest.raises(NoSolution):
        invert(lambda x: (x + 1j) * (x - 1j) + 1j * x, float)(2 + 3j)
    with pytest.raises(NoSolution):
        invert(cmath.asin, complex)(4 + 1j)
    with pytest.raises(NoSolution):
        invert(cmath.polar, complex)((1.0, math.pi + 0.5))
