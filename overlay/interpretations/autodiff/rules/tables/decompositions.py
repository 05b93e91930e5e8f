"""Rules of decompositions of matrices: by eigenvalues, by singular values, QR and Cholesky.

They are those of M. Giles, "Collected matrix derivative results for forward and reverse mode
algorithmic differentiation" (2008); of I. Murray, "Differentiation of the Cholesky decomposition"
(2016); of Boeddeker et al., "On the computation of complex-valued gradients with application to
statistically optimum beamforming" (2017), for eigenvectors of matrices that are not Hermitian; and
of J. Townsend, "Differentiating the singular value decomposition" (2016).

Where eigenvalues or singular values coincide, they have a kink, and the derivative is that of the
side of the vectors that were found; their sum has a derivative, which is right. The vectors have
none there: in reverse mode the result is nan if the cotangent of one of these vectors is not zero,
in forward mode the tangents of these vectors are nan. The phases of complex vectors are those that
LAPACK chooses: a component of each vector is real. Where none is, derivatives of results that
depend on the phase are nan in reverse mode.
"""

import numpy as np

from overlay.interpretations.autodiff.errors import refuse_form
from overlay.interpretations.autodiff.rules.array_rule import (
    ArrayRule,
    defined,
    smooth,
    takes_lists,
)
from overlay.interpretations.autodiff.rules.tables.linear_algebra import (
    adjoint,
    hermitian_back,
    hermitian_part,
    inverse,
)

__all__ = [
    "DECOMPOSITIONS",
    "cholesky_back",
    "cholesky_forward",
    "eigh_back",
    "eigh_forward",
    "qr_back",
    "qr_forward",
    "svd_back",
    "svd_forward",
]

CLOSE = 8 * np.finfo(float).eps
"""The distance of values that coincide, relative to the largest one, for each row."""
PHASE = 1e-14
"""The rounding error of a component of a vector that LAPACK makes real."""


def _row(a):
    return np.expand_dims(a, -2)


def _column(a):
    return np.expand_dims(a, -1)


def _diagonal(a):
    return np.diagonal(a, 0, -2, -1)


def _diagonal_matrix(d):
    return _column(d) * np.eye(np.shape(d)[-1])


def _half_lower(a):
    """The lower triangle with half the diagonal."""
    return np.tril(a) - 0.5 * a * np.eye(np.shape(a)[-1])


def _gaps(values):
    """The inverse differences of values, zero where they coincide; and whether they do."""
    n = np.shape(values)[-1]
    differences = _row(values) - _column(values)
    largest = np.max(np.abs(values), axis=-1) if n else np.sum(np.abs(values), axis=-1)
    coincide = np.abs(differences) <= CLOSE * n * _column(_column(largest))
    return np.where(coincide, 0.0, 1.0 / np.where(coincide, 1.0, differences)), coincide


def _clashes(coincide):
    """Whether each value coincides with another."""
    return np.sum(coincide, axis=-1) > 1


def _nan_where(bad):
    return np.where(bad, np.nan, 0.0)


def _nan_of_used(d, bad):
    """nan for each matrix with a cotangent of bad vectors."""
    used = np.any(d != 0, axis=-2)
    return _column(_column(_nan_where(np.any(used & bad, axis=-1))))


# ---- Cholesky -----------------------------------------------------------------------------


def _solved_both(low, a):
    """L^-1 A L^-H."""
    return adjoint(np.linalg.solve(low, adjoint(np.linalg.solve(low, a))))


def cholesky_forward(t, ret, a, upper=False):
    if upper:
        return adjoint(cholesky_forward(adjoint(t), adjoint(ret), a))
    return ret @ _half_lower(_solved_both(ret, hermitian_part(t)))


def cholesky_back(d, ret, a, upper=False):
    if upper:
        return adjoint(cholesky_back(adjoint(d), adjoint(ret), a))
    by = adjoint(ret)
    inner = np.linalg.solve(by, _half_lower(by @ d))
    return hermitian_back(adjoint(np.linalg.solve(by, adjoint(inner))))


# ---- eigenvalues of Hermitian matrices ----------------------------------------------------


def _real_components(vectors, row):
    """The components in a row, if they are real and not zero: LAPACK has chosen the phase so."""
    found = vectors[..., row, :]
    fixed = (np.abs(np.imag(found)) < PHASE) & (np.abs(np.real(found)) > PHASE)
    return fixed, np.where(fixed, np.real(found), 1.0)


def _fixed_phase(change, vectors, row):
    """The tangents of vectors, turned so that the components in a row stay real."""
    fixed, real = _real_components(vectors, row)
    turn = np.where(fixed, np.imag(change[..., row, :]) / real, 0.0)
    return change - 1j * vectors * _row(turn)


def _fixed_phase_back(d, vectors, row):
    """The transpose of ``_fixed_phase``; nan for vectors of no known phase that matters."""
    fixed, real = _real_components(vectors, row)
    turned = np.imag(np.sum(np.conj(vectors) * d, axis=-2))
    sizes = np.sum(np.abs(d), axis=-2)
    matters = np.where(fixed, False, np.abs(turned) > 1e-8 * sizes)
    rows = np.shape(vectors)[-2]
    unit = np.expand_dims(np.arange(rows) == row % rows, -1)
    moved = np.where(fixed, turned / real, 0.0) + _nan_where(matters)
    return d - 1j * unit * _row(moved)


def _is_lower(uplo):
    return uplo in ("L", "l")


def eigh_forward(t, ret, a, UPLO="L"):  # noqa: N803
    t = hermitian_part(t, _is_lower(UPLO))
    values, vectors = ret[0], ret[1]
    inner = adjoint(vectors) @ t @ vectors
    by, coincide = _gaps(values)
    nans = _nan_where(_clashes(coincide) & np.any(np.any(t != 0, axis=-1), axis=-1)[..., None])
    change = vectors @ (by * inner) + _row(nans)
    if np.iscomplexobj(vectors):
        change = _fixed_phase(change, vectors, 0 if _is_lower(UPLO) else -1)
    return np.real(_diagonal(inner)), change


def eigh_back(d, ret, a, UPLO="L"):  # noqa: N803
    values, vectors = ret[0], ret[1]
    d_values, d_vectors = np.real(d[0]), d[1]
    by, coincide = _gaps(values)
    nans = _nan_of_used(d_vectors, _clashes(coincide))
    if np.iscomplexobj(vectors):
        d_vectors = _fixed_phase_back(d_vectors, vectors, 0 if _is_lower(UPLO) else -1)
    inner = _diagonal_matrix(d_values) + by * (adjoint(vectors) @ d_vectors)
    found = vectors @ inner @ adjoint(vectors) + nans
    return hermitian_back(found, _is_lower(UPLO))


# ---- eigenvalues --------------------------------------------------------------------------


def _largest(vectors):
    """The place of the component of each vector that LAPACK makes real: the largest."""
    rows = np.arange(np.shape(vectors)[-2])
    sizes = np.real(vectors) ** 2 + np.imag(vectors) ** 2
    sizes = np.where(np.imag(vectors) == 0, sizes, -1.0)  # several may be as large
    return np.expand_dims(rows, -1) == _row(np.argmax(sizes, axis=-2))


def _eig_forward(t, ret, a):
    values, vectors = ret[0], ret[1]
    inner = inverse(vectors) @ t @ vectors
    by, coincide = _gaps(values)
    nans = _nan_where(_clashes(coincide) & np.any(np.any(t != 0, axis=-1), axis=-1)[..., None])
    change = vectors @ (by * inner)
    along = np.real(np.sum(np.conj(vectors) * change, axis=-2))
    if np.iscomplexobj(vectors):
        chosen = _largest(vectors)
        real = np.sum(np.where(chosen, np.real(vectors), 0.0), axis=-2)
        along = along + 1j * np.sum(np.where(chosen, np.imag(change), 0.0), axis=-2) / real
    return _diagonal(inner), change - vectors * _row(along) + _row(nans)


def _eig_back(d, ret, a):
    values, vectors = ret[0], ret[1]
    d_values, d_vectors = d[0], d[1]
    by, coincide = _gaps(values)
    nans = _nan_of_used(d_vectors, _clashes(coincide))
    along = np.sum(np.conj(vectors) * d_vectors, axis=-2)
    d_vectors = d_vectors - vectors * _row(np.real(along))
    if np.iscomplexobj(vectors):
        chosen = _largest(vectors)
        real = np.sum(np.where(chosen, np.real(vectors), 0.0), axis=-2)
        d_vectors = d_vectors - 1j * chosen * _row(np.imag(along) / real)
    back = adjoint(vectors)
    inner = _diagonal_matrix(d_values) + np.conj(by) * (back @ d_vectors)
    return adjoint(inverse(vectors)) @ inner @ back + nans


# ---- singular values ----------------------------------------------------------------------


def _svd_checked(a, full_matrices, compute_uv):
    m, n = np.shape(a)[-2], np.shape(a)[-1]
    if full_matrices and compute_uv and m != n:
        refuse_form(
            np.linalg.svd,
            "full_matrices=True of a matrix that is not square",
            "its further vectors are not unique: pass full_matrices=False",
        )


def _real_row(u, v):
    """The vectors of which LAPACK has made a row real: 0 for the left, 1 for the right ones."""
    return 0 if np.all(np.abs(np.imag(u[..., 0, :])) < PHASE) else 1


def svd_forward(t, ret, a, full_matrices=True, compute_uv=True, hermitian=False):
    _svd_checked(a, full_matrices, compute_uv)
    if hermitian:
        t = hermitian_part(t)
    if not compute_uv:
        u, _, vh = np.linalg.svd(hermitian_part(a) if hermitian else a, full_matrices=False)
        return np.real(_diagonal(adjoint(u) @ t @ adjoint(vh)))
    u, s, v = ret[0], ret[1], adjoint(ret[2])
    inner = adjoint(u) @ t @ v
    by, coincide = _gaps(s)
    one = s > CLOSE * np.shape(s)[-1] * np.max(s, axis=-1, keepdims=True)
    over = np.where(one, 1.0 / np.where(one, s, 1.0), 0.0)
    moved = np.any(np.any(t != 0, axis=-1), axis=-1)[..., None]
    nans = _row(_nan_where(_clashes(coincide) & moved))
    plus = _sums(s, one)
    even, odd = 0.5 * (inner + adjoint(inner)), 0.5 * (inner - adjoint(inner))
    d_u = u @ (by * even + plus * odd) + nans
    d_v = v @ (by * even - plus * odd) + nans
    zero = _row(_nan_where(~one & moved))
    if np.shape(u)[-2] > np.shape(u)[-1]:
        rest = (t @ v) * _row(over)
        d_u = d_u + rest - u @ (adjoint(u) @ rest) + zero
    if np.shape(v)[-2] > np.shape(v)[-1]:
        rest = (adjoint(t) @ u) * _row(over)
        d_v = d_v + rest - v @ (adjoint(v) @ rest) + zero
    if np.iscomplexobj(u):
        d_u = d_u + 1j * u * _row(np.imag(_diagonal(inner)) * over) + zero
        # the phases of both turn alike
        side, change = (u, d_u) if _real_row(u, v) == 0 else (v, d_v)
        fixed, real = _real_components(side, 0)
        turn = _row(np.where(fixed, np.imag(change[..., 0, :]) / real, 0.0))
        d_u, d_v = d_u - 1j * u * turn, d_v - 1j * v * turn
    return d_u, np.real(_diagonal(inner)), adjoint(d_v)


def _sums(s, one):
    """The inverse sums of different singular values."""
    both = _row(s) + _column(s)
    off = np.eye(np.shape(s)[-1]) == 0
    some = off & (_row(one) | _column(one))
    return np.where(some, 1.0 / np.where(some, both, 1.0), 0.0)


def svd_back(d, ret, a, full_matrices=True, compute_uv=True, hermitian=False):
    _svd_checked(a, full_matrices, compute_uv)
    if not compute_uv:
        u, _, vh = np.linalg.svd(hermitian_part(a) if hermitian else a, full_matrices=False)
        found = (u * _row(np.real(d))) @ vh
        return hermitian_back(found) if hermitian else found
    u, s, v = ret[0], ret[1], adjoint(ret[2])
    d_u, d_s, d_v = d[0], np.real(d[1]), adjoint(d[2])
    by, coincide = _gaps(s)
    one = s > CLOSE * np.shape(s)[-1] * np.max(s, axis=-1, keepdims=True)
    over = np.where(one, 1.0 / np.where(one, s, 1.0), 0.0)
    clashes = _clashes(coincide)
    nans = _nan_of_used(d_u, clashes) + _nan_of_used(d_v, clashes)
    tall, wide = np.shape(u)[-2] > np.shape(u)[-1], np.shape(v)[-2] > np.shape(v)[-1]
    if tall or np.iscomplexobj(u):
        nans = nans + _nan_of_used(d_u, ~one)
    if wide or np.iscomplexobj(u):
        nans = nans + _nan_of_used(d_v, ~one)
    if np.iscomplexobj(u):
        d_u, d_v = _svd_fixed_back(d_u, d_v, u, v)
    plus = _sums(s, one)
    of_u, of_v = adjoint(u) @ d_u, adjoint(v) @ d_v
    both, apart = by * (of_u + of_v), plus * (of_u - of_v)
    inner = 0.5 * (both + adjoint(both)) + 0.5 * (apart - adjoint(apart)) + _diagonal_matrix(d_s)
    if np.iscomplexobj(u):
        inner = inner + 1j * _diagonal_matrix(np.imag(_diagonal(of_u)) * over)
    found = u @ inner @ adjoint(v)
    if tall:
        found = found + ((d_u - u @ of_u) * _row(over)) @ adjoint(v)
    if wide:
        found = found + (u * _row(over)) @ adjoint(d_v - v @ of_v)
    found = found + nans
    return hermitian_back(found) if hermitian else found


def _svd_fixed_back(d_u, d_v, u, v):
    left = _real_row(u, v) == 0
    fixed, real = _real_components(u if left else v, 0)
    turned = np.imag(np.sum(np.conj(u) * d_u, axis=-2) + np.sum(np.conj(v) * d_v, axis=-2))
    sizes = np.sum(np.abs(d_u), axis=-2) + np.sum(np.abs(d_v), axis=-2)
    matters = np.where(fixed, False, np.abs(turned) > 1e-8 * sizes)
    moved = _row(np.where(fixed, turned / real, 0.0) + _nan_where(matters))
    first = np.expand_dims(np.arange(np.shape(u if left else v)[-2]) == 0, -1)
    if left:
        return d_u - 1j * first * moved, d_v
    return d_u, d_v - 1j * first * moved


# ---- QR -----------------------------------------------------------------------------------


def _qr_factors(ret, a, mode):
    """The factors, and the inverse of the square part of R."""
    m, n = np.shape(a)[-2], np.shape(a)[-1]
    if mode == "raw" or (mode == "complete" and m > n):
        refuse_form(np.linalg.qr, f"mode={mode!r}", 'pass mode="reduced" or mode="r"')
    q, r = np.linalg.qr(a) if mode == "r" else (ret[0], ret[1])
    return q, r, inverse(r[..., :, : min(m, n)])


def _skew(c):
    """The skew-Hermitian matrix with the lower triangle of another."""
    low = np.tril(c, -1)
    found = low - adjoint(low)
    if np.iscomplexobj(c):
        found = found + 1j * np.imag(c) * np.eye(np.shape(c)[-1])
    return found


def qr_forward(t, ret, a, mode="reduced"):
    q, r, inverted = _qr_factors(ret, a, mode)
    k = np.shape(q)[-1]
    inner = adjoint(q) @ t
    turn = _skew(inner[..., :, :k] @ inverted)
    d_r = np.triu(inner - turn @ r)
    if mode == "r":
        return d_r
    d_q = q @ turn
    if np.shape(a)[-2] > k:
        rest = t[..., :, :k] @ inverted
        d_q = d_q + rest - q @ (adjoint(q) @ rest)
    return d_q, d_r


def qr_back(d, ret, a, mode="reduced"):
    q, r, inverted = _qr_factors(ret, a, mode)
    m, n, k = np.shape(a)[-2], np.shape(a)[-1], np.shape(q)[-1]
    d_r = np.triu(d if mode == "r" else d[1])
    turn = -(d_r @ adjoint(r))
    if mode != "r":
        turn = turn + adjoint(q) @ d[0]
    low = np.tril(turn - adjoint(turn), -1)
    if np.iscomplexobj(a):
        low = low + 1j * np.imag(turn) * np.eye(k)
    square = q @ low
    if mode != "r" and m > k:
        square = square + d[0] - q @ (adjoint(q) @ d[0])
    square = square @ adjoint(inverted)
    found = q @ d_r
    if n > k:
        return np.concatenate((found[..., :, :k] + square, found[..., :, k:]), axis=-1)
    return found + square


# ---- samples ------------------------------------------------------------------------------


def _array(*shape, **named):
    return lambda rng: (rng.normal(size=shape), *([named] if named else []))


def _complex(*shape, **named):
    def sample(rng):
        a = rng.normal(size=shape) + 1j * rng.normal(size=shape)
        return (a, *([named] if named else []))

    return sample


def _positive(*shape, unit=0.0, **named):
    """Positive definite matrices, whose other triangle is not read."""

    def sample(rng):
        a = rng.normal(size=shape) + unit * rng.normal(size=shape)
        a = a @ adjoint(a) + np.eye(shape[-1])
        other = np.tril if named.get("upper") else np.triu
        return (a + other(rng.normal(size=shape), 1 if other is np.triu else -1),
                *([named] if named else []))  # fmt: skip

    return sample


_SVDVALS = getattr(np.linalg, "svdvals", None)
_UPPER = np.lib.NumpyVersion(np.__version__) >= "2.0.0"
# fmt: off
DECOMPOSITIONS: tuple[ArrayRule, ...] = takes_lists(
    smooth(np.linalg.cholesky, cholesky_forward, cholesky_back, _positive(3, 3),
           _positive(2, 2, 2), _positive(3, 3, unit=1j), _positive(2, 2, 2, unit=1j),
           *([_positive(3, 3, upper=True), _positive(2, 2, 2, unit=1j, upper=True)]
             if _UPPER else [])),
    smooth(np.linalg.eigh, eigh_forward, eigh_back, _array(3, 3), _array(2, 3, 3),
           _array(3, 3, UPLO="U"), _complex(3, 3), _complex(2, 3, 3), _complex(3, 3, UPLO="U"),
           results=2),
    defined(np.linalg.eigvalsh, lambda a, UPLO="L": np.linalg.eigh(a, UPLO)[0],  # noqa: N803
            _array(3, 3), _array(2, 3, 3), _array(3, 3, UPLO="U"), _complex(3, 3)),
    smooth(np.linalg.eig, _eig_forward, _eig_back, lambda rng: (np.diag([1.0, 2, 4])
           + 0.1 * rng.normal(size=(3, 3)),), _complex(3, 3), _complex(2, 3, 3), _array(4, 4),
           _array(2, 3, 3), _array(1, 1), results=2),
    defined(np.linalg.eigvals, lambda a: np.linalg.eig(a)[0], _array(3, 3), _array(4, 4),
            _complex(2, 3, 3)),
    smooth(np.linalg.svd, svd_forward, svd_back, _array(3, 3), _array(2, 3, 3),
           _array(4, 2, full_matrices=False), _array(2, 4, full_matrices=False),
           _array(2, 3, 2, full_matrices=False), _array(3, 2, compute_uv=False),
           _array(2, 2, 3, compute_uv=False), _complex(3, 3), _complex(2, 3, 3),
           _complex(4, 2, full_matrices=False), _complex(2, 3, full_matrices=False),
           _complex(3, 2, compute_uv=False), _array(3, 3, hermitian=True),
           _array(3, 3, compute_uv=False, hermitian=True)),
    *(() if _SVDVALS is None else (
        defined(_SVDVALS, lambda x: np.linalg.svd(x, compute_uv=False), _array(3, 2),
                _complex(2, 3, 3)),)),
    smooth(np.linalg.qr, qr_forward, qr_back, _array(3, 3), _array(4, 2), _array(2, 4),
           _array(2, 3, 2), _array(4, 2, mode="r"), _array(2, 3, mode="complete"),
           _complex(3, 3), _complex(2, 3, 2), _complex(2, 3), _complex(3, 2, mode="r")),
)
# fmt: on
