"""Rules of further functions of ``scipy.linalg``: norms, banded systems, special matrices, and
those that others define."""

import numpy as np
from scipy import linalg

from overlay.interpretations.autodiff.errors import refuse_form
from overlay.interpretations.autodiff.rules.array_rule import ArrayRule, defined, smooth
from overlay.interpretations.autodiff.rules.drawn_calls import call, floats, positive
from overlay.interpretations.autodiff.rules.tables.linear_algebra import adjoint
from overlay.interpretations.autodiff.rules.tables.scipy_linear_algebra import order_of_pivots

__all__ = ["ARRAY_RULES"]


def _array(x):
    return np.array(x) if type(x) in (list, tuple) else x


# ---- banded systems -----------------------------------------------------------------------


def _bands(counts, n):
    """For each row of banded storage its diagonal, as the places of rows and of columns."""
    low, high = counts
    for r in range(low + high + 1):
        k = high - r
        columns = slice(max(k, 0), max(min(n, n + k), max(k, 0)))
        yield r, slice(columns.start - k, columns.stop - k), columns


def _column(a, x):
    return a if np.ndim(x) == 1 else np.expand_dims(a, -1)


def _banded_times(l_and_u, ab, x):
    found = np.zeros(np.shape(x), np.result_type(ab, x))
    for r, rows, columns in _bands(l_and_u, np.shape(ab)[-1]):
        found[rows] += _column(ab[r, columns], x) * x[columns]
    return found


def _banded_adjoint(l_and_u, ab):
    low, high = l_and_u
    found = np.zeros(np.shape(ab), ab.dtype)
    for r, rows, columns in _bands(l_and_u, np.shape(ab)[-1]):
        found[low + high - r, rows] = np.conj(ab[r, columns])
    return (high, low), found


def _solve_banded_ab(t, ret, l_and_u, ab, b, *args, **named):
    return -linalg.solve_banded(l_and_u, ab, _banded_times(l_and_u, t, ret))


def _solve_banded_b(t, ret, l_and_u, ab, b, *args, **named):
    return linalg.solve_banded(l_and_u, ab, t)


def _solve_banded_b_back(d, ret, l_and_u, ab, b, *args, **named):
    return linalg.solve_banded(*_banded_adjoint(l_and_u, ab), d)


def _solve_banded_ab_back(d, ret, l_and_u, ab, b, *args, **named):
    by = _solve_banded_b_back(d, ret, l_and_u, ab, b)
    found = np.zeros(np.shape(ab), np.result_type(by, ret))
    for r, rows, columns in _bands(l_and_u, np.shape(ab)[-1]):
        products = -by[rows] * np.conj(ret[columns])
        found[r, columns] = products if np.ndim(ret) == 1 else np.sum(products, axis=-1)
    return found


def _solveh_banded(ab, b, overwrite_ab=False, overwrite_b=False, lower=False, check_finite=True):
    ab, b = _array(ab), _array(b)
    count, n = np.shape(ab)[0] - 1, np.shape(ab)[1]
    rows = []
    for k in range(count, 0, -1):  # above the diagonal
        if lower:
            rows.append(np.concatenate((np.zeros(k), np.conj(ab[k, : n - k]))))
        else:
            rows.append(ab[count - k])
    rows.append(ab[0] if lower else ab[count])
    for k in range(1, count + 1):
        if lower:
            rows.append(ab[k])
        else:
            rows.append(np.concatenate((np.conj(ab[count - k, k:]), np.zeros(k))))
    return linalg.solve_banded((count, count), np.stack(rows), b)


# ---- norms and decompositions -------------------------------------------------------------


def _norm(a, ord=None, axis=None, keepdims=False, check_finite=True):
    return np.linalg.norm(_array(a), ord, axis, keepdims)


def _lu(a, permute_l=False, overwrite_a=False, check_finite=True, p_indices=False):
    lu, pivots = linalg.lu_factor(a)
    low = np.tril(lu, -1) + np.eye(np.shape(lu)[-1])
    order = np.argsort(order_of_pivots(pivots))
    if permute_l:
        return low[order], np.triu(lu)
    return (order if p_indices else np.eye(len(order))[order]), low, np.triu(lu)


def _eig_form(function, b, other):
    if b is not None or other:
        refuse_form(
            function, "a second matrix, left vectors or homogeneous values",
            "reduce it to one matrix by solve")  # fmt: skip


def _eig(a, b=None, left=False, right=True, overwrite_a=False, overwrite_b=False,
         check_finite=True, homogeneous_eigvals=False):  # fmt: skip
    _eig_form(linalg.eig, b, left or homogeneous_eigvals)
    values, vectors = np.linalg.eig(a)
    return (values + 0j, vectors) if right else values + 0j


def _eigvals(a, b=None, overwrite_a=False, check_finite=True, homogeneous_eigvals=False):
    _eig_form(linalg.eigvals, b, homogeneous_eigvals)
    return np.linalg.eigvals(a) + 0j


def _lstsq(a, b, cond=None, overwrite_a=False, overwrite_b=False, check_finite=True,
           lapack_driver=None):  # fmt: skip
    a, b = _array(a), _array(b)
    x, squares, rank, values = np.linalg.lstsq(a, b, np.finfo(float).eps if cond is None else cond)
    if np.ndim(b) == 1 and np.shape(squares)[0]:
        squares = squares[0]
    return x, squares, rank, (None if lapack_driver == "gelsy" else values)


def _expm_frechet(A, E, method=None, compute_expm=True, check_finite=True):  # noqa: N803
    n = np.shape(A)[-1]
    both = linalg.expm(np.concatenate((
        np.concatenate((A, E), axis=-1), np.concatenate((0.0 * A, A), axis=-1))))  # fmt: skip
    return (both[:n, :n], both[:n, n:]) if compute_expm else both[:n, n:]


def _not_unique(function, help):
    def by(*args, **named):
        refuse_form(function, "an active matrix: its vectors are not unique", help)

    return by


# ---- special matrices ---------------------------------------------------------------------


def _circulant(c):
    c, places = _array(c), np.arange(np.shape(c)[-1])
    return c[..., (places[:, None] - places) % len(places)]


def _hankel(c, r=None):
    c = np.ravel(_array(c))
    r = np.zeros(np.shape(c)) if r is None else np.ravel(_array(r))
    every = np.concatenate((c, r[1:]))
    return every[np.arange(np.shape(c)[0])[:, None] + np.arange(np.shape(r)[0])]


def _companion(a):
    a = _array(a)
    n = np.shape(a)[-1] - 1
    return np.concatenate((np.expand_dims(-a[1:] / a[0], 0), np.eye(n)[:-1]))


def _solve_toeplitz(c_or_cr, b, check_finite=True):
    c, r = c_or_cr if type(c_or_cr) is tuple else (c_or_cr, None)
    return linalg.solve(linalg.toeplitz(c, r), b)


def _solve_circulant(c, b, singular="raise", tol=None, caxis=-1, baxis=0, outaxis=0):
    if np.ndim(c) != 1 or singular != "raise":
        refuse_form(linalg.solve_circulant, "several matrices or singular=", "call it for each")
    if (baxis, outaxis) != (0, 0):
        refuse_form(linalg.solve_circulant, "baxis= or outaxis=", "move the axes of b")
    return linalg.solve(linalg.circulant(c), b)


# ---- matrix equations ---------------------------------------------------------------------


def _discrete_a(t, ret, a, q, method=None):
    by = adjoint(a)
    return linalg.solve_discrete_lyapunov(a, t @ ret @ by + a @ ret @ adjoint(t))


def _discrete_q(t, ret, a, q, method=None):
    return linalg.solve_discrete_lyapunov(a, t)


def _discrete_q_back(d, ret, a, q, method=None):
    return linalg.solve_discrete_lyapunov(adjoint(a), d)


def _discrete_a_back(d, ret, a, q, method=None):
    by = _discrete_q_back(d, ret, a, q)
    return by @ a @ adjoint(ret) + adjoint(by) @ a @ ret


def _tridiagonal(*other):
    def sample(rng):
        return (1, 1), rng.normal(size=(3, 4)) + np.array([[0], [4], [0]]), rng.normal(size=other)

    return sample


def _wide(rng):
    ab = rng.normal(size=(4, 5))
    ab[2] += 6.0
    return (1, 2), ab, rng.normal(size=5)


def _definite(lower):
    def sample(rng):
        ab = 0.3 * rng.normal(size=(2, 4))
        ab[0 if lower else 1] += 3.0
        return ab, rng.normal(size=4), {"lower": lower}

    return sample


# fmt: off
ARRAY_RULES: tuple[ArrayRule, ...] = (
    smooth(linalg.solve_banded, (_solve_banded_ab, _solve_banded_b),
           (_solve_banded_ab_back, _solve_banded_b_back), _tridiagonal(4), _tridiagonal(4, 2),
           _wide, data=("ab", "b")),
    defined(linalg.solveh_banded, _solveh_banded, _definite(False), _definite(True)),
    defined(linalg.norm, _norm, call(floats(4)), call(floats(4), 1), call(floats(2, 3)),
            call(floats(2, 3), 1), call(floats(2, 3), 2, axis=1), call(floats(2, 3), "nuc")),
    defined(linalg.lu, _lu, call(floats(3, 3)), call(floats(3, 3), permute_l=True),
            call(floats(3, 3), p_indices=True)),
    defined(linalg.eig, _eig, call(floats(3, 3)), call(floats(3, 3), right=False)),
    defined(linalg.eigvals, _eigvals, call(floats(3, 3))),
    defined(linalg.lstsq, _lstsq, call(floats(4, 2), floats(4)), call(floats(4, 2), floats(4, 2))),
    defined(linalg.expm_frechet, _expm_frechet, call(floats(3, 3), floats(3, 3)),
            call(floats(2, 2), floats(2, 2), compute_expm=False)),
    defined(linalg.null_space, _not_unique(
        linalg.null_space, "use the projector: np.eye(n) - pinv(a) @ a")),
    defined(linalg.orth, _not_unique(linalg.orth, "use the projector: a @ pinv(a)")),
    defined(linalg.circulant, _circulant, call(floats(3))),
    defined(linalg.hankel, _hankel, call(floats(3)), call(floats(3), floats(4))),
    defined(linalg.companion, _companion, call(positive(4))),
    defined(linalg.solve_toeplitz, _solve_toeplitz, call(positive(3), floats(3)),
            call((positive(3), positive(3)), floats(3, 2))),
    defined(linalg.solve_circulant, _solve_circulant, call(positive(3), floats(3))),
    smooth(linalg.solve_discrete_lyapunov, (_discrete_a, _discrete_q),
           (_discrete_a_back, _discrete_q_back),
           lambda rng: (0.3 * rng.normal(size=(3, 3)), rng.normal(size=(3, 3))), data=("a", "q")),
)
# fmt: on
