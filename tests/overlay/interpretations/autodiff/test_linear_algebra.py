"""Derivatives of programs with linear algebra: singular, degenerate, nested and with writes."""

import numpy as np
import pytest
from scipy import linalg

from overlay.interpretations.autodiff import NotDifferentiable, gradient, hessian, jvp
from tests.strangers.derivative_trials import by_differences

MODES = ("forward", "reverse")
SPD = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
BASE = np.diag([1.0, 2.0, 3.0])
TURNING = np.array([[0.0, 1.0, 0.0], [-2.0, 0.0, 1.0], [0.0, 0.5, 1.0]])
POINT = np.array([0.77, 0.43, 1.12])


def matrix(x):
    return x[:, None] * x + BASE


def written(x):
    a = np.zeros((3, 3))
    a[0, :] = x
    a[1:, 1:] = x[1:, None] * x[1:]
    a[1, 1] += 2.0
    a[2, 0] = x[1] * x[2]
    return a + 2.0 * np.eye(3)


PROGRAMS = {
    "inverse of a view": lambda x: np.sum(np.linalg.inv(written(x))[:2, 1:] ** 2),
    "determinant of a stack": lambda x: np.sum(np.linalg.det(np.stack([matrix(x), written(x)]))),
    "solution with a written matrix": lambda x: np.linalg.solve(written(x), x) @ x,
    "log-determinant": lambda x: np.linalg.slogdet(matrix(x))[1],
    "log-determinant by its field": lambda x: np.linalg.slogdet(matrix(x)).logabsdet,
    "Gaussian density": lambda x: np.sum(
        np.linalg.solve(np.linalg.cholesky(matrix(x)), np.ones(3)) ** 2
    ),
    "matrix function by eigenvectors": lambda x: (lambda w, v: np.sum((v * np.sqrt(w)) @ v.T))(
        *np.linalg.eigh(matrix(x))
    ),
    "one array twice": lambda x: np.sum(
        linalg.solve_sylvester(matrix(x), matrix(x).T @ SPD, SPD)
        + (lambda a: linalg.solve_sylvester(a, a, SPD))(matrix(x))
    ),
    "low rank": lambda x: (
        lambda u, s, v: np.sum((u[:, :1] * s[0]) @ v[:1] * np.arange(9.0).reshape(3, 3))
    )(*np.linalg.svd(written(x))),
    "spectral radius": lambda x: np.max(np.abs(np.linalg.eigvals(written(x)))),
    "complex eigenvectors": lambda x: (
        lambda w, v: np.sum(np.real((v * np.exp(w)) @ np.linalg.inv(v)))
    )(*np.linalg.eig(TURNING + written(x))),
    "moduli of complex eigenvalues": lambda x: np.sum(
        np.abs(np.linalg.eigvals(TURNING + 0.1 * matrix(x))) ** 3
    ),
    "square root with negative eigenvalues": lambda x: np.sum(
        np.abs(linalg.sqrtm(matrix(x) - 2.5 * np.eye(3))) ** 2
    ),
    "logarithm with negative eigenvalues": lambda x: np.sum(
        np.abs(linalg.logm(matrix(x) - 2.5 * np.eye(3))) ** 2
    ),
    "least squares": lambda x: np.sum(
        np.linalg.lstsq(written(x)[:, :2], x * x, rcond=None)[0] ** 2
    ),
    "power": lambda x: np.sum(np.eye(3) * np.linalg.matrix_power(written(x), 3)),
    "condition": lambda x: np.linalg.cond(written(x)),
    "qr": lambda x: np.sum(np.linalg.qr(written(x))[0][:, 1] * x),
    "sum of equal eigenvalues": lambda x: np.sum(np.linalg.eigvalsh(x[0] * np.eye(3))) ** 2,
    "rank": lambda x: np.linalg.matrix_rank(matrix(x)) * x[0],
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_gradients_are_those_of_differences(name, mode):
    program = PROGRAMS[name]
    found = gradient(program, mode=mode)(POINT.copy())
    assert np.allclose(found, by_differences(program, POINT), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    "name",
    ["inverse of a view", "determinant of a stack", "log-determinant", "Gaussian density",
     "solution with a written matrix", "power", "qr", "condition"],
)  # fmt: skip
def test_second_derivatives(name):
    program = PROGRAMS[name]
    found = hessian(program)(POINT.copy())
    slopes = gradient(program, mode="reverse")
    steps = 1e-5 * np.eye(3)
    expected = [(slopes(POINT + h) - slopes(POINT - h)) / 2e-5 for h in steps]
    assert np.allclose(found, expected, rtol=1e-5, atol=1e-6)


def test_the_determinant_of_a_singular_matrix_has_a_derivative():
    singular = np.array([[1.0, 2.0], [2.0, 4.0]])
    for mode in MODES:
        found = gradient(lambda a: np.sum(np.linalg.det(a[None])), mode=mode)(singular)
        assert np.allclose(found, [[4.0, -2.0], [-2.0, 1.0]])


def of_vectors(a):
    w, v = np.linalg.eigh(a)
    return np.sum((v * np.exp(w)) @ v.T * np.arange(9.0).reshape(3, 3))


@pytest.mark.parametrize("mode", MODES)
def test_vectors_of_equal_eigenvalues_have_no_derivative(mode):
    found = gradient(of_vectors, mode=mode)(np.diag([1.0, 1.0, 2.0]))
    assert np.all(np.isnan(found[np.tril_indices(3)]))


def test_a_vector_of_a_single_eigenvalue_has_a_derivative_beside_equal_ones():
    def f(a):
        return np.linalg.eigh(a)[1][:, 2] @ np.arange(3.0)

    a = np.diag([1.0, 1.0, 2.0])
    t = np.arange(9.0).reshape(3, 3)
    expected = (f(a + 1e-6 * t) - f(a - 1e-6 * t)) / 2e-6
    for mode in MODES:
        assert np.isclose(np.sum(gradient(f, mode=mode)(a) * t), expected)


@pytest.mark.parametrize("mode", MODES)
def test_the_inverse_of_a_decomposition_of_the_unit_matrix_is_not_wrong(mode):
    def f(a):
        u, s, vh = np.linalg.svd(a)
        return np.sum((vh.T / s) @ u.T * np.arange(9.0).reshape(3, 3))

    assert np.all(np.isnan(gradient(f, mode=mode)(np.eye(3))))


@pytest.mark.parametrize("mode", MODES)
def test_forms_with_vectors_that_are_not_unique_are_refused_by_name(mode):
    a = np.arange(6.0).reshape(3, 2) ** 2
    with pytest.raises(NotDifferentiable, match="svd with full_matrices=True"):
        gradient(lambda a: np.sum(np.linalg.svd(a)[0]), mode=mode)(a)
    with pytest.raises(NotDifferentiable, match="qr with mode='complete'"):
        gradient(lambda a: np.sum(np.linalg.qr(a, "complete")[0]), mode=mode)(a)


def test_a_pseudoinverse_that_leaves_out_a_part_has_no_derivative():
    a = np.diag([1.0, 0.01])
    for mode in MODES:
        found = gradient(lambda a: np.sum(np.linalg.pinv(a, 0.1)), mode=mode)(a)
        assert np.all(np.isnan(found))


def test_numpy_raises_its_own_errors():
    with pytest.raises(np.linalg.LinAlgError):
        jvp(np.linalg.inv, (np.ones((2, 2)),), (np.ones((2, 2)),))
    with pytest.raises(np.linalg.LinAlgError):
        jvp(lambda a: np.linalg.matrix_power(a, 2), (np.ones((2, 3)),), (np.ones((2, 3)),))
    with pytest.raises(TypeError):
        jvp(lambda a: np.linalg.matrix_power(a, 0.5), (np.ones((2, 2)),), (np.ones((2, 2)),))
