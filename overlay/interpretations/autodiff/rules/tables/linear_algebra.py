"""Rules of inverses, determinants, solutions of linear systems and matrix products.

They are those of M. Giles, "Collected matrix derivative results for forward and reverse mode
algorithmic differentiation" (2008), of Golub and Pereyra (1973) for pseudoinverses and least
squares, for stacks of matrices and complex numbers. A pseudoinverse has a derivative where the rank
is constant; where ``rcond`` cuts off singular values that are no rounding errors it is nan, and so
are derivatives by singular matrices, except those of determinants.
"""

import numpy as np

from overlay import nonoverlay
from overlay.interpretations.autodiff.rules.array_rule import (
    ArrayRule,
    defined,
    linear,
    multilinear,
    rearranging,
    smooth,
    takes_lists,
)
from overlay.interpretations.autodiff.rules.tables.products import summed_to

__all__ = [
    "LINEAR_ALGEBRA",
    "adjoint",
    "det_back",
    "det_forward",
    "hermitian_back",
    "hermitian_part",
    "inv_back",
    "inv_forward",
    "inverse",
    "pinv_back",
    "pinv_forward",
]

_VECTOR_IS_1D = np.lib.NumpyVersion(np.__version__) >= "2.0.0"
TRUNCATED = 1e-9
"""The relative size from which a part of a matrix that its pseudoinverse leaves out counts."""


def adjoint(a):
    """The conjugate transpose."""
    transposed = np.swapaxes(a, -1, -2)
    return np.conj(transposed) if np.iscomplexobj(a) else transposed


def _of_zeros(function, shapes, *rest):
    """A function of plain zeros, which raises numpy's error for arguments of these shapes."""
    zeros = [nonoverlay(np.zeros)(shape) for shape in shapes]
    return nonoverlay(function)(*zeros, *rest)


def trace_of(a, b):
    """The traces of products of matrices."""
    return np.sum(np.swapaxes(a, -1, -2) * b, axis=(-2, -1))


def inverse(a):
    """The inverse; nan where a matrix is singular: the program has raised no error."""
    try:
        return np.linalg.inv(a)
    except np.linalg.LinAlgError:
        return np.full(np.shape(a), np.nan) + 0.0 * a


def hermitian_part(t, lower=True):
    """The tangent of the Hermitian matrix of which a function reads one triangle."""
    half = np.tril(t, -1) if lower else np.triu(t, 1)
    n = np.shape(t)[-1]
    return half + adjoint(half) + np.real(t) * np.eye(n)


def hermitian_back(d, lower=True):
    """The cotangent of the triangle that is read, from that of the Hermitian matrix."""
    both = d + adjoint(d)
    half = np.tril(both, -1) if lower else np.triu(both, 1)
    return half + np.real(d) * np.eye(np.shape(d)[-1])


# ---- inverses and determinants ------------------------------------------------------------


def inv_forward(t, ret, a):
    return -(ret @ t @ ret)


def inv_back(d, ret, a):
    by = adjoint(ret)
    return -(by @ d @ by)


def _adjugate(a, det):
    """The derivative of the determinant, transposed: of a singular matrix by its singular
    values."""
    if np.all(det != 0):
        return np.expand_dims(np.expand_dims(det, -1), -1) * inverse(a)
    u, s, vh = np.linalg.svd(a)
    n = np.shape(a)[-1]
    others = np.where(np.eye(n) == 1, 1.0, np.expand_dims(s, -2))
    sign = np.linalg.det(u) * np.linalg.det(vh)
    weights = np.expand_dims(sign, -1) * np.prod(others, axis=-1)
    return adjoint(vh) @ (np.expand_dims(weights, -1) * adjoint(u))


def det_forward(t, ret, a):
    return trace_of(_adjugate(a, ret), t)


def det_back(d, ret, a):
    return np.expand_dims(np.expand_dims(d, -1), -1) * adjoint(_adjugate(a, ret))


def _slogdet_forward(t, ret, a):
    change = trace_of(inverse(a), t)
    if np.iscomplexobj(a):
        return ret[0] * 1j * np.imag(change), np.real(change)
    return 0.0 * ret[0], change


def _slogdet_back(d, ret, a):
    weight = d[1]
    if np.iscomplexobj(a):
        weight = weight + 1j * np.real(np.conj(d[0]) * 1j * ret[0])
    return np.expand_dims(np.expand_dims(weight, -1), -1) * adjoint(inverse(a))


# ---- solutions ----------------------------------------------------------------------------


def _is_vector(a, b):
    return np.ndim(b) == 1 if _VECTOR_IS_1D else np.ndim(b) == np.ndim(a) - 1


def _solve_a_forward(t, ret, a, b):
    if _is_vector(a, b):
        return -np.linalg.solve(a, t @ np.expand_dims(ret, -1))[..., 0]
    return -np.linalg.solve(a, t @ ret)


def _solve_b_forward(t, ret, a, b):
    return np.linalg.solve(a, t)


def _solve_b_unsummed(d, a, b):
    if _is_vector(a, b):
        return np.linalg.solve(adjoint(a), np.expand_dims(d, -1))[..., 0]
    return np.linalg.solve(adjoint(a), d)


def _solve_a_back(d, ret, a, b):
    by = _solve_b_unsummed(d, a, b)
    if _is_vector(a, b):
        found = -np.expand_dims(by, -1) * np.expand_dims(np.conj(ret), -2)
    else:
        found = -(by @ adjoint(ret))
    return summed_to(found, np.shape(a))


def _solve_b_back(d, ret, a, b):
    return summed_to(_solve_b_unsummed(d, a, b), np.shape(b))


def _tensorsolve(a, b, axes=None):
    count = a.ndim
    if axes is not None:
        kept = [k for k in range(count) if k not in axes]
        a = np.transpose(a, (*kept, *axes))
    shape = a.shape[b.ndim - count :]
    size = int(np.prod(shape))
    if b.size != size:
        return _of_zeros(np.linalg.tensorsolve, (a.shape, b.shape))
    return np.reshape(np.linalg.solve(np.reshape(a, (size, size)), np.ravel(b)), shape)


def _tensorinv(a, ind=2):
    if ind <= 0:
        return _of_zeros(np.linalg.tensorinv, (a.shape,), ind)
    size = int(np.prod(a.shape[ind:]))
    inverted = np.linalg.inv(np.reshape(a, (size, -1)))
    return np.reshape(inverted, (*a.shape[ind:], *a.shape[:ind]))


# ---- least squares ------------------------------------------------------------------------


def _pinv_change(t, pinv, a):
    """The tangent of a pseudoinverse, by Golub and Pereyra."""
    m, n = np.shape(a)[-2], np.shape(a)[-1]
    by, back = adjoint(pinv), adjoint(t)
    return (
        -(pinv @ t @ pinv)
        + pinv @ by @ back @ (np.eye(m) - a @ pinv)
        + (np.eye(n) - pinv @ a) @ back @ by @ pinv
    )


def _pinv_unchecked_back(d, pinv, a):
    m, n = np.shape(a)[-2], np.shape(a)[-1]
    by = adjoint(pinv)
    return (
        -(by @ d @ by)
        + (np.eye(m) - a @ pinv) @ adjoint(d) @ pinv @ by
        + by @ pinv @ adjoint(d) @ (np.eye(n) - pinv @ a)
    )


def nan_if_truncated(a, pinv):
    """0; nan for each matrix of a stack of which the pseudoinverse leaves out more than rounding
    errors."""
    rest = np.max(np.max(np.abs(a - a @ pinv @ a), axis=-1), axis=-1)
    size = np.max(np.max(np.abs(a), axis=-1), axis=-1)
    found = np.where(rest > TRUNCATED * size, np.nan, 0.0)
    return np.expand_dims(np.expand_dims(found, -1), -1)


def pinv_forward(t, ret, a, rcond=None, hermitian=False, rtol=None):
    if hermitian:
        a, t = hermitian_part(a), hermitian_part(t)
    return _pinv_change(t, ret, a) + nan_if_truncated(a, ret)


def pinv_back(d, ret, a, rcond=None, hermitian=False, rtol=None):
    if hermitian:
        a = hermitian_part(a)
    found = _pinv_unchecked_back(d, ret, a) + nan_if_truncated(a, ret)
    return hermitian_back(found) if hermitian else found


def _pinv_of_lstsq(a, ret):
    """The pseudoinverse with the rank that least squares has found."""
    u, s, vh = np.linalg.svd(a, False)
    rank = ret[2]
    return adjoint(vh[:rank]) @ (adjoint(u[:, :rank]) / np.expand_dims(s[:rank], -1))


def _columns(b):
    return np.expand_dims(b, -1) if np.ndim(b) == 1 else b


def _lstsq_a_forward(t, ret, a, b, rcond=None):
    pinv = _pinv_of_lstsq(a, ret)
    by, x = _columns(b), _columns(ret[0])
    change = (_pinv_change(t, pinv, a) + nan_if_truncated(a, pinv)) @ by
    r = by - a @ x
    squares = -2.0 * np.real(np.sum(np.conj(r) * (t @ x), axis=0))
    u, _, vh = np.linalg.svd(a, False)
    values = np.real(np.diagonal(adjoint(u) @ t @ adjoint(vh)))
    return np.reshape(change, np.shape(ret[0])), squares[: np.size(ret[1])], ret[2], values


def _lstsq_b_forward(t, ret, a, b, rcond=None):
    pinv = _pinv_of_lstsq(a, ret)
    r = _columns(b) - a @ _columns(ret[0])
    squares = 2.0 * np.real(np.sum(np.conj(r) * _columns(t), axis=0))
    return pinv @ t, squares[: np.size(ret[1])], ret[2], 0.0 * ret[3]


def _lstsq_a_back(d, ret, a, b, rcond=None):
    pinv = _pinv_of_lstsq(a, ret)
    by, x = _columns(b), _columns(ret[0])
    found = _pinv_unchecked_back(_columns(d[0]) @ adjoint(by), pinv, a)
    if np.any(d[0] != 0):
        found = found + nan_if_truncated(a, pinv)
    if np.size(ret[1]):
        found = found - 2.0 * (by - a @ x) * np.real(d[1]) @ adjoint(x)
    u, _, vh = np.linalg.svd(a, False)
    return found + (u * d[3]) @ vh


def _lstsq_b_back(d, ret, a, b, rcond=None):
    found = adjoint(_pinv_of_lstsq(a, ret)) @ d[0]
    if np.size(ret[1]):
        r = _columns(b) - a @ _columns(ret[0])
        found = found + np.reshape(2.0 * r * np.real(d[1]), np.shape(b))
    return found


# ---- products -----------------------------------------------------------------------------


def _matrix_power(a, n):
    if n == 0 or int(n) != n or np.ndim(a) < 2 or np.shape(a)[-1] != np.shape(a)[-2]:
        return _of_zeros(np.linalg.matrix_power, (np.shape(a),), n)
    if n < 0:
        return _matrix_power(np.linalg.inv(a), -n)
    found, square = None, a
    while n:
        if n % 2:
            found = square if found is None else found @ square
        n //= 2
        if n:
            square = square @ square
    return found if found is not a else +a


def _multi_dot(arrays, *, out=None):
    if np.ndim(arrays[-1]) == 1 and np.ndim(arrays[0]) > 1:  # from the vector, which is cheaper
        found = arrays[-1]
        for each in reversed(arrays[:-1]):
            found = each @ found
        return found
    found = arrays[0]
    for each in arrays[1:]:
        found = found @ each
    return found


def _cond(x, p=None):
    if p is None or p in (2, -2):
        s = np.linalg.svd(x, compute_uv=False)
        return s[..., -1] / s[..., 0] if p == -2 else s[..., 0] / s[..., -1]
    inverted = np.linalg.inv(x)
    axes = (-2, -1)
    return np.linalg.norm(x, p, axis=axes) * np.linalg.norm(inverted, p, axis=axes)


def _outer(d, ret, x1, x2):
    return d @ np.conj(x2)


def _outer_second(d, ret, x1, x2):
    return np.conj(x1) @ d


# ---- samples ------------------------------------------------------------------------------


def _array(*shape, **named):
    return lambda rng: (rng.normal(size=shape), *([named] if named else []))


def _complex(rng, *shape):
    return rng.normal(size=shape) + 1j * rng.normal(size=shape)


def _with(shape, *rest, **named):
    return lambda rng: (rng.normal(size=shape), *rest, *([named] if named else []))


def _of_complex(*shape):
    return lambda rng: (_complex(rng, *shape),)


def _two(first, second):
    return lambda rng: (rng.normal(size=first), rng.normal(size=second))


def _two_complex(first, second):
    return lambda rng: (_complex(rng, *first), _complex(rng, *second))


def _parts(*shapes):
    return lambda rng: ([rng.normal(size=shape) for shape in shapes],)


def _optional(name, row, *args, **named):
    """The rows of a function that not every numpy has."""
    function = getattr(np.linalg, name, None)
    return () if function is None else (row(function, *args, **named),)


STACK, MATRIX = (2, 3, 3), (3, 3)
# fmt: off
LINEAR_ALGEBRA: tuple[ArrayRule, ...] = (
    *takes_lists(
        smooth(np.linalg.inv, inv_forward, inv_back, _array(3, 3), _array(2, 3, 3), _array(1, 1),
               _of_complex(2, 2, 2)),
        smooth(np.linalg.det, det_forward, det_back, _array(3, 3), _array(2, 2, 3, 3), _array(1, 1),
               _of_complex(3, 3), _of_complex(2, 2, 2), lambda rng: (np.zeros((2, 2)),),
               lambda rng: (np.array([[1.0, 2, 3], [4, 5, 6], [7, 8, 9]]),),
               lambda rng: (np.stack([np.diag([1.0, 2, 0]), rng.normal(size=(3, 3))]),)),
        smooth(np.linalg.slogdet, _slogdet_forward, _slogdet_back, _array(3, 3), _array(2, 3, 3),
               _of_complex(3, 3), _of_complex(2, 2, 2), results=2),
        smooth(np.linalg.solve, (_solve_a_forward, _solve_b_forward),
               (_solve_a_back, _solve_b_back),
               _two(MATRIX, 3), _two(MATRIX, (3, 2)), _two(STACK, (2, 3, 2)), _two(STACK, (3, 2)),
               _two(MATRIX, (2, 3, 2)), _two((2, 1, 3, 3), (4, 3, 2)), _two_complex(MATRIX, (3,)),
               _two_complex((2, 2, 2), (2, 2, 1)), *([_two(STACK, 3)] if _VECTOR_IS_1D else []),
               data=("a", "b")),
        defined(np.linalg.tensorsolve, _tensorsolve, _two((2, 3, 6), (2, 3)), _two((6, 2, 3), 6),
                lambda rng: (rng.normal(size=(2, 6, 3)), rng.normal(size=(2, 3)), {"axes": (1,)})),
        defined(np.linalg.tensorinv, _tensorinv, _array(2, 3, 6), _with((6, 2, 3), ind=1),
                _with((2, 3, 3, 2), 2)),
        smooth(np.linalg.pinv, pinv_forward, pinv_back, _array(3, 3), _array(4, 2), _array(2, 4),
               _array(2, 3, 2), _of_complex(3, 2), _of_complex(2, 2, 3), _with((3, 2), 1e-10),
               _array(3, 3, hermitian=True),
               *([_array(3, 2, rtol=1e-10)] if _VECTOR_IS_1D else [])),
        smooth(np.linalg.lstsq, (_lstsq_a_forward, _lstsq_b_forward),
               (_lstsq_a_back, _lstsq_b_back),
               lambda rng: (rng.normal(size=(4, 2)), rng.normal(size=4), {"rcond": None}),
               lambda rng: (rng.normal(size=(4, 2)), rng.normal(size=(4, 3)), None),
               lambda rng: (rng.normal(size=(3, 3)), rng.normal(size=3), None),
               lambda rng: (rng.normal(size=(2, 4)), rng.normal(size=2), None),
               lambda rng: (_complex(rng, 4, 2), _complex(rng, 4), None),
               lambda rng: (_complex(rng, 2, 3), _complex(rng, 2, 2), None),
               data=("a", "b"), results=4),
        defined(np.linalg.matrix_power, _matrix_power, _with((3, 3), 1), _with((3, 3), 2),
                _with((3, 3), 5), _with((3, 3), -3), _with((2, 2, 2), 3),
                lambda rng: (_complex(rng, 2, 2), 3)),
        defined(np.linalg.cond, _cond, _array(3, 3), _with((3, 3), -2), _with((2, 3, 3), 2),
                _array(4, 2)),
        rearranging(np.linalg.matrix_rank, _array(3, 2), _with((2, 2, 2), 1e-3),
                    data=("A", "tol", "rtol")),
        *_optional("matrix_transpose", rearranging, _array(2, 3), _array(2, 2, 3), data=("x",)),
        *_optional("diagonal", rearranging, _array(3, 3), _array(2, 2, 3, offset=1), data=("x",)),
        *_optional("outer", multilinear, (_outer, _outer_second), _two(3, 2),
                   _two_complex((2,), (3,)), data=("x1", "x2")),
        *_optional("matmul", defined, lambda x1, x2: np.matmul(x1, x2), _two((2, 3), (3, 2)),
                   _two((2, 2, 3), 3)),
        *_optional("tensordot", defined, lambda x1, x2, axes=2: np.tensordot(x1, x2, axes),
                   _two((2, 3), (2, 3)), lambda rng: (*_two((2, 3), (3, 2))(rng), {"axes": 1})),
        *_optional("vecdot", defined, lambda x1, x2, axis=-1: np.vecdot(x1, x2, axis=axis),
                   _two((2, 3), 3), _two_complex((2,), (2,)),
                   lambda rng: (*_two((3, 2), (3, 1))(rng), {"axis": 0})),
        *_optional("trace", linear, lambda d, ret, x, offset=0: (
            np.expand_dims(np.expand_dims(d, -1), -1) * np.eye(*np.shape(x)[-2:], offset)),
            _array(3, 3), _array(2, 2, 3, offset=1), _of_complex(2, 2), data=("x",)),
    ),
    defined(np.linalg.multi_dot, _multi_dot, _parts((2, 3), (3, 4), (4, 2)),
            _parts((3,), (3, 2), (2,)), _parts((2, 3), (3, 2), (2,)), _parts((2, 3), (3, 2)),
            lambda rng: ((_complex(rng, 2, 2), _complex(rng, 2, 2), _complex(rng, 2)),)),
)
# fmt: on
