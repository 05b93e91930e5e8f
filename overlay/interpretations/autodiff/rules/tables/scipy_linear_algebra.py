"""Rules of the functions of ``scipy.linalg``.

Those of functions of matrices are of N. Higham, "Functions of matrices" (2008): the derivative of f
at A in the direction T is the upper right block of f([[A, T], [0, A]]).
"""

import numpy as np
from scipy import linalg

from overlay.interpretations.autodiff.errors import refuse_form
from overlay.interpretations.autodiff.rules.array_rule import (
    ArrayRule,
    defined,
    linear,
    rearranging,
    smooth,
)
from overlay.interpretations.autodiff.rules.tables.decompositions import (
    cholesky_back,
    cholesky_forward,
    eigh_back,
    eigh_forward,
    qr_back,
    qr_forward,
    svd_back,
    svd_forward,
)
from overlay.interpretations.autodiff.rules.tables.linear_algebra import (
    adjoint,
    det_back,
    det_forward,
    hermitian_back,
    hermitian_part,
    inv_back,
    inv_forward,
    pinv_back,
    pinv_forward,
)

__all__ = ["ARRAY_RULES", "order_of_pivots"]


# ---- solutions ----------------------------------------------------------------------------


def _times(a, x):
    """A matrix by a vector or by columns."""
    return np.matmul(a, x)


def _outer(x, y):
    """x y^H, of vectors or summed over columns."""
    if np.ndim(x) == 1:
        return np.expand_dims(x, -1) * np.conj(y)
    return x @ adjoint(y)


def _checked_structure(assume_a):
    if assume_a not in (None, "gen", "general", "her", "hermitian", "pos", "positive definite"):
        refuse_form(linalg.solve, f"assume_a={assume_a!r}", "leave out assume_a")
    return assume_a not in (None, "gen", "general")


def _solve_a(t, ret, a, b, lower=False, overwrite_a=False, overwrite_b=False, check_finite=True,
             assume_a=None, transposed=False):  # fmt: skip
    if _checked_structure(assume_a):
        a, t = hermitian_part(a, lower), hermitian_part(t, lower)
    if transposed:
        a, t = np.swapaxes(a, -1, -2), np.swapaxes(t, -1, -2)
    return -linalg.solve(a, _times(t, ret))


def _solve_b(t, ret, a, b, *args, **named):
    return linalg.solve(a, t, *args, **named)


def _solve_back(d, ret, a, b, lower=False, overwrite_a=False, overwrite_b=False,
                check_finite=True, assume_a=None, transposed=False):  # fmt: skip
    if _checked_structure(assume_a):
        a = hermitian_part(a, lower)
    return linalg.solve(np.conj(a) if transposed else adjoint(a), d)


def _solve_a_back(d, ret, a, b, lower=False, overwrite_a=False, overwrite_b=False,
                  check_finite=True, assume_a=None, transposed=False):  # fmt: skip
    by = _solve_back(d, ret, a, b, lower, assume_a=assume_a, transposed=transposed)
    found = -_outer(by, ret)
    if transposed:
        found = np.swapaxes(found, -1, -2)
    return hermitian_back(found, lower) if _checked_structure(assume_a) else found


def _triangle(a, lower, unit_diagonal):
    shift = 1 if unit_diagonal else 0
    return np.tril(a, -shift) if lower else np.triu(a, shift)


def _turned(trans):
    return {"N": 0, "T": 1, "C": 2}.get(trans, trans)


def _triangular_a(t, ret, a, b, trans=0, lower=False, unit_diagonal=False, overwrite_b=False,
                  check_finite=True):  # fmt: skip
    t = _triangle(t, lower, unit_diagonal)
    if _turned(trans):
        t = np.swapaxes(t, -1, -2) if _turned(trans) == 1 else adjoint(t)
    return -linalg.solve_triangular(a, _times(t, ret), trans, lower, unit_diagonal)


def _triangular_b(t, ret, a, b, *args, **named):
    return linalg.solve_triangular(a, t, *args, **named)


def _triangular_b_back(d, ret, a, b, trans=0, lower=False, unit_diagonal=False,
                       overwrite_b=False, check_finite=True):  # fmt: skip
    if _turned(trans) == 0:
        return linalg.solve_triangular(a, d, 2, lower, unit_diagonal)
    by = np.conj(a) if _turned(trans) == 1 else a
    return linalg.solve_triangular(by, d, 0, lower, unit_diagonal)


def _triangular_a_back(d, ret, a, b, trans=0, lower=False, unit_diagonal=False,
                       overwrite_b=False, check_finite=True):  # fmt: skip
    found = -_outer(_triangular_b_back(d, ret, a, b, trans, lower, unit_diagonal), ret)
    if _turned(trans):
        found = np.swapaxes(found, -1, -2) if _turned(trans) == 1 else adjoint(found)
    return _triangle(found, lower, unit_diagonal)


def _cho_solve(c_and_lower, b, overwrite_b=False, check_finite=True):
    c, lower = c_and_lower
    half = linalg.solve_triangular(c, b, trans=0 if lower else 2, lower=lower)
    return linalg.solve_triangular(c, half, trans=2 if lower else 0, lower=lower)


def _cho_factor(a, lower=False, overwrite_a=False, check_finite=True):
    return linalg.cholesky(a, lower), lower


def _cholesky_forward(t, ret, a, lower=False, overwrite_a=False, check_finite=True):
    return cholesky_forward(t, ret, a, not lower)


def _cholesky_back(d, ret, a, lower=False, overwrite_a=False, check_finite=True):
    return cholesky_back(d, ret, a, not lower)


def order_of_pivots(pivots):
    """The permutation that exchanges of rows make."""
    order = np.arange(len(pivots))
    for i, j in enumerate(pivots):
        order[[i, j]] = order[[j, i]]
    return order


def _lu_factors(ret):
    lu = ret[0]
    if np.ndim(lu) != 2 or lu.shape[0] != lu.shape[1]:
        refuse_form(linalg.lu_factor, "a matrix that is not square", "factor a square matrix")
    return np.tril(lu, -1) + np.eye(lu.shape[0]), np.triu(lu), order_of_pivots(ret[1])


def _lu_forward(t, ret, a, overwrite_a=False, check_finite=True):
    low, high, order = _lu_factors(ret)
    half = linalg.solve_triangular(low, t[order], lower=True)
    inner = adjoint(linalg.solve_triangular(high, adjoint(half), trans=2))
    return low @ np.tril(inner, -1) + np.triu(inner) @ high, ret[1]


def _lu_back(d, ret, a, overwrite_a=False, check_finite=True):
    low, high, order = _lu_factors(ret)
    back = adjoint(low) @ np.tril(d[0], -1)
    inner = np.tril(back, -1) + np.triu(np.triu(d[0]) @ adjoint(high))
    half = linalg.solve_triangular(low, inner, trans=2, lower=True)
    found = adjoint(linalg.solve_triangular(high, adjoint(half)))
    return found[np.argsort(order)]


def _lu_solve(lu_and_piv, b, trans=0, overwrite_b=False, check_finite=True):
    lu, pivots = lu_and_piv
    order = order_of_pivots(pivots)
    if trans == 0:
        half = linalg.solve_triangular(lu, b[order], lower=True, unit_diagonal=True)
        return linalg.solve_triangular(lu, half)
    half = linalg.solve_triangular(lu, b, trans=trans)
    found = linalg.solve_triangular(lu, half, trans=trans, lower=True, unit_diagonal=True)
    return found[np.argsort(order)]


def _inv_forward(t, ret, a, *args, **named):
    return inv_forward(t, ret, a)


def _inv_back(d, ret, a, *args, **named):
    return inv_back(d, ret, a)


def _det_forward(t, ret, a, *args, **named):
    return det_forward(t, ret, a)


def _det_back(d, ret, a, *args, **named):
    return det_back(d, ret, a)


def _pinv_forward(t, ret, a, *args, **named):
    if named.get("return_rank"):
        refuse_form(linalg.pinv, "return_rank=True", "call numpy.linalg.matrix_rank")
    return pinv_forward(t, ret, a)


def _pinv_back(d, ret, a, *args, **named):
    return pinv_back(d, ret, a)


# ---- decompositions -----------------------------------------------------------------------


def _eigh_form(b, subset, kind):
    if b is not None or subset is not None or kind != 1:
        refuse_form(
            linalg.eigh, "a second matrix or a subset", "reduce it by cholesky to one matrix"
        )


def _eigh_forward(t, ret, a, b=None, lower=True, eigvals_only=False, overwrite_a=False,
                  overwrite_b=False, type=1, check_finite=True, subset_by_index=None,
                  subset_by_value=None, driver=None):  # fmt: skip
    _eigh_form(b, subset_by_index or subset_by_value, type)
    side = "L" if lower else "U"
    if eigvals_only:
        return eigh_forward(t, linalg.eigh(a, lower=lower), a, side)[0]
    return eigh_forward(t, ret, a, side)


def _eigh_back(d, ret, a, b=None, lower=True, eigvals_only=False, overwrite_a=False,
               overwrite_b=False, type=1, check_finite=True, subset_by_index=None,
               subset_by_value=None, driver=None):  # fmt: skip
    _eigh_form(b, subset_by_index or subset_by_value, type)
    side = "L" if lower else "U"
    if eigvals_only:
        ret = linalg.eigh(a, lower=lower)
        d = (d, 0.0 * ret[1])
    return eigh_back(d, ret, a, side)


def _svd_forward(t, ret, a, full_matrices=True, compute_uv=True, *args, **named):
    return svd_forward(t, ret, a, full_matrices, compute_uv)


def _svd_back(d, ret, a, full_matrices=True, compute_uv=True, *args, **named):
    return svd_back(d, ret, a, full_matrices, compute_uv)


def _qr_mode(a, mode, pivoting):
    if pivoting:
        refuse_form(linalg.qr, "pivoting=True", "leave out pivoting")
    modes = {"full": "complete", "economic": "reduced"}
    if mode == "r" and np.shape(a)[-2] > np.shape(a)[-1]:
        refuse_form(linalg.qr, "mode='r' of a tall matrix", 'pass mode="economic"')
    return modes.get(mode, mode)


def _qr_values(ret, mode):
    return ret[0] if mode == "r" else ret


def _qr_forward(t, ret, a, overwrite_a=False, lwork=None, mode="full", pivoting=False,
                check_finite=True):  # fmt: skip
    found = qr_forward(t, _qr_values(ret, mode), a, _qr_mode(a, mode, pivoting))
    return (found,) if mode == "r" else found


def _qr_back(d, ret, a, overwrite_a=False, lwork=None, mode="full", pivoting=False,
             check_finite=True):  # fmt: skip
    return qr_back(_qr_values(d, mode), _qr_values(ret, mode), a, _qr_mode(a, mode, pivoting))


# ---- functions of matrices ----------------------------------------------------------------


def _frechet(function, t, a):
    n = np.shape(a)[-1]
    upper = np.concatenate((a, t), axis=-1)
    lower = np.concatenate((0.0 * a, a), axis=-1)
    return function(np.concatenate((upper, lower), axis=-2))[..., :n, n:]


def _expm_forward(t, ret, a):
    return _frechet(linalg.expm, t, a)


def _expm_back(d, ret, a):
    return _frechet(linalg.expm, d, adjoint(a))


def _logm_form(ret):
    if isinstance(ret, tuple):
        refuse_form(linalg.logm, "disp=False", "leave out disp")


def _logm_forward(t, ret, a, *args, **named):
    _logm_form(ret)
    return _frechet(linalg.logm, t, a)


def _logm_back(d, ret, a, *args, **named):
    _logm_form(ret)
    return _frechet(linalg.logm, d, adjoint(a))


def _sqrtm_forward(t, ret, a, *args, **named):
    return linalg.solve_sylvester(ret, ret, t)


def _sqrtm_back(d, ret, a, *args, **named):
    return linalg.solve_sylvester(adjoint(ret), adjoint(ret), d)


# ---- matrix equations, special matrices ---------------------------------------------------


def _sylvester_a(t, ret, a, b, q):
    return -linalg.solve_sylvester(a, b, t @ ret)


def _sylvester_b(t, ret, a, b, q):
    return -linalg.solve_sylvester(a, b, ret @ t)


def _sylvester_q(t, ret, a, b, q):
    return linalg.solve_sylvester(a, b, t)


def _sylvester_q_back(d, ret, a, b, q):
    return linalg.solve_sylvester(adjoint(a), adjoint(b), d)


def _sylvester_a_back(d, ret, a, b, q):
    return -(_sylvester_q_back(d, ret, a, b, q) @ adjoint(ret))


def _sylvester_b_back(d, ret, a, b, q):
    return -(adjoint(ret) @ _sylvester_q_back(d, ret, a, b, q))


def _lyapunov_a(t, ret, a, q):
    return -linalg.solve_continuous_lyapunov(a, t @ ret + ret @ adjoint(t))


def _lyapunov_q(t, ret, a, q):
    return linalg.solve_continuous_lyapunov(a, t)


def _lyapunov_q_back(d, ret, a, q):
    return linalg.solve_continuous_lyapunov(adjoint(a), d)


def _lyapunov_a_back(d, ret, a, q):
    by = _lyapunov_q_back(d, ret, a, q)
    return -(by @ adjoint(ret) + adjoint(by) @ ret)


def _diagonal_sums(d, sign, count):
    return np.array([np.trace(d, sign * k) for k in range(count)])


def _toeplitz_c(d, ret, c, r=None):
    found = _diagonal_sums(d, -1, np.shape(c)[0])
    if r is None:
        row = np.conj(_diagonal_sums(d, 1, np.shape(c)[0]))
        row[0] = 0.0
        found = found + row
    return found


def _toeplitz_r(d, ret, c, r=None):
    found = _diagonal_sums(d, 1, np.shape(r)[0])
    found[0] = 0.0
    return found


# ---- samples ------------------------------------------------------------------------------


def _array(*shape, **named):
    return lambda rng: (rng.normal(size=shape), *([named] if named else []))


def _complex(*shape, **named):
    def sample(rng):
        a = rng.normal(size=shape) + 1j * rng.normal(size=shape)
        return (a, *([named] if named else []))

    return sample


def _arrays(*shapes, unit=0.0, **named):
    return lambda rng: (
        *(rng.normal(size=shape) + unit * rng.normal(size=shape) for shape in shapes),
        *([named] if named else []))  # fmt: skip


def _dominant(shape, other, unit=0.0, **named):
    """Samples of a system of equations that is well conditioned."""
    return lambda rng: (
        rng.normal(size=shape) + unit * rng.normal(size=shape) + 4.0 * np.eye(shape[-1]),
        rng.normal(size=other) + unit * rng.normal(size=other),
        *([named] if named else []))  # fmt: skip


def _positive(n, *others, unit=0.0, **named):
    def sample(rng):
        a = 0.3 * (rng.normal(size=(n, n)) + unit * rng.normal(size=(n, n)))
        a = a @ adjoint(a) + np.eye(n)
        return (a, *(rng.normal(size=each) for each in others), *([named] if named else []))

    return sample


def _factored(trans=0, lower=False, other=(3,), unit=0.0):
    def sample(rng):
        a = rng.normal(size=(3, 3)) + unit * rng.normal(size=(3, 3)) + 4.0 * np.eye(3)
        return (a, lower), rng.normal(size=other)

    return sample


def _lu_sample(trans, *other, unit=0.0):
    def sample(rng):
        lu, pivots = linalg.lu_factor(rng.normal(size=(3, 3)) + unit * rng.normal(size=(3, 3)))
        return (lu, pivots), rng.normal(size=other), trans

    return sample


# fmt: off
ARRAY_RULES: tuple[ArrayRule, ...] = (
    smooth(linalg.inv, _inv_forward, _inv_back, _array(3, 3), _complex(2, 2)),
    smooth(linalg.det, _det_forward, _det_back, _array(3, 3), _complex(2, 2), _array(2, 2, 2)),
    smooth(linalg.pinv, _pinv_forward, _pinv_back, _array(3, 2), _complex(2, 3)),
    smooth(linalg.solve, (_solve_a, _solve_b), (_solve_a_back, _solve_back),
           _dominant((3, 3), (3,)), _dominant((3, 3), (3, 2)), _dominant((3, 3), (3,), 1j),
           _dominant((3, 3), (3,), transposed=True), _positive(3, 3, assume_a="pos"),
           _positive(3, (3, 2), assume_a="pos", lower=True), data=("a", "b")),
    smooth(linalg.solve_triangular, (_triangular_a, _triangular_b),
           (_triangular_a_back, _triangular_b_back), _dominant((3, 3), (3,)),
           _dominant((3, 3), (3, 2), lower=True), _dominant((3, 3), (3,), 1j, trans=1),
           _dominant((3, 3), (3,), 1j, trans="C", lower=True),
           _dominant((3, 3), (3,), unit_diagonal=True), data=("a", "b")),
    smooth(linalg.cholesky, _cholesky_forward, _cholesky_back, _positive(3),
           _positive(3, lower=True), _positive(3, unit=1j)),
    defined(linalg.cho_factor, _cho_factor),
    defined(linalg.cho_solve, _cho_solve, _factored(), _factored(lower=True, other=(3, 2)),
            _factored(unit=1j)),
    smooth(linalg.lu_factor, _lu_forward, _lu_back, _array(3, 3), _complex(3, 3), results=2),
    defined(linalg.lu_solve, _lu_solve, _lu_sample(0, 3), _lu_sample(1, 3, 2),
            _lu_sample(2, 3, unit=1j)),
    smooth(linalg.eigh, _eigh_forward, _eigh_back, _array(3, 3, driver="ev"),
           _array(3, 3, lower=False, driver="ev"),
           _array(3, 3, eigvals_only=True), _complex(3, 3, eigvals_only=True), results=2),
    defined(linalg.eigvalsh, lambda a, b=None, lower=True: linalg.eigh(
        a, b, lower=lower, eigvals_only=True), _array(3, 3), _array(3, 3, lower=False)),
    smooth(linalg.svd, _svd_forward, _svd_back, _array(3, 3), _array(4, 2, full_matrices=False),
           _array(3, 2, compute_uv=False)),
    defined(linalg.svdvals, lambda a, overwrite_a=False, check_finite=True: linalg.svd(
        a, compute_uv=False), _array(3, 2), _complex(2, 3)),
    smooth(linalg.qr, _qr_forward, _qr_back, _array(3, 3), _array(4, 2, mode="economic"),
           _array(2, 3, mode="r")),
    smooth(linalg.expm, _expm_forward, _expm_back, _array(3, 3), _array(2, 2, 2), _complex(2, 2),
           data=("A",)),
    smooth(linalg.logm, _logm_forward, _logm_back, _positive(3), _positive(2, unit=1j),
           data=("A",)),
    smooth(linalg.sqrtm, _sqrtm_forward, _sqrtm_back, _positive(3), _positive(2, unit=1j),
           data=("A",)),
    rearranging(linalg.block_diag, lambda rng: (rng.normal(size=(2, 3)), 1.5, rng.normal(size=2)),
                data=("arrs",)),
    linear(linalg.toeplitz, (_toeplitz_c, _toeplitz_r), _array(3), _arrays(3, 4), _complex(3),
           _arrays(2, 3, unit=1j), data=("c", "r")),
    smooth(linalg.solve_sylvester, (_sylvester_a, _sylvester_b, _sylvester_q),
           (_sylvester_a_back, _sylvester_b_back, _sylvester_q_back),
           lambda rng: (rng.normal(size=(3, 3)) + 4 * np.eye(3), rng.normal(size=(2, 2)),
                        rng.normal(size=(3, 2))), data=("a", "b", "q")),
    smooth(linalg.solve_continuous_lyapunov, (_lyapunov_a, _lyapunov_q),
           (_lyapunov_a_back, _lyapunov_q_back), _dominant((3, 3), (3, 3)),
           _dominant((3, 3), (3, 3), 1j), data=("a", "q")),
)
# fmt: on
