"""Rules of polynomials given by their coefficients."""

import numpy as np

from overlay import nonoverlay
from overlay.interpretations.autodiff.duals import primal
from overlay.interpretations.autodiff.rules.array_rule import defined, smooth, takes_lists
from overlay.interpretations.autodiff.rules.drawn_calls import call, complexes, floats, spread

__all__ = ["POLYNOMIALS"]

_plain_polyfit = nonoverlay(np.polyfit)


def _row(p):
    return np.reshape(p, (-1,)) if np.ndim(p) == 0 else p


def _polyval(p, x):
    total = 0.0 * x
    for i in range(np.shape(p)[0]):
        total = total * x + p[i]
    return total


def _padded(p, count):
    return np.concatenate((np.zeros(count - np.shape(p)[0]), p))


def _polyadd(a1, a2):
    a1, a2 = _row(a1), _row(a2)
    count = max(np.shape(a1)[0], np.shape(a2)[0])
    return _padded(a1, count) + _padded(a2, count)


def _polysub(a1, a2):
    return np.polyadd(a1, -a2)


def _trimmed(p):
    """Coefficients without zeros at the beginning."""
    p = _row(p)
    kept = np.flatnonzero(primal(p))
    return p[int(kept[0]) :] if len(kept) else p[-1:] * 0.0


def _polymul(a1, a2):
    return np.convolve(_trimmed(a1), _trimmed(a2))


def _polydiv(u, v):
    u, v = _row(u), _row(v)
    found = []
    rest = [u[i] for i in range(np.shape(u)[0])]
    count = np.shape(v)[0]
    for i in range(max(len(rest) - count + 1, 0)):
        factor = rest[i] / v[0]
        found.append(factor)
        for j in range(count):
            rest[i + j] = rest[i + j] - factor * v[j]
    left = rest[max(len(rest) - count + 1, 0) :]
    quotient = np.stack(found) if found else np.zeros(1)
    plain = np.array([primal(r) for r in left])
    small = np.isclose(plain, 0.0, rtol=1e-14)
    first = 0
    while first < len(left) - 1 and small[first]:
        first += 1
    return quotient, (np.stack(left[first:]) if left else 0.0 * u[:1])


def _polyder(p, m=1):
    for _ in range(m):
        count = np.shape(p)[0] - 1
        p = p[:-1] * np.arange(count, 0, -1)
    return p


def _polyint(p, m=1, k=None):
    constants = np.zeros(m) if k is None else _row(k)
    if np.shape(constants)[0] == 1 and m > 1:
        constants = constants * np.ones(m)
    for i in range(m):
        divided = p / np.arange(np.shape(p)[0], 0, -1)
        p = np.concatenate((divided, constants[i : i + 1]))
    return p


def _poly(seq_of_zeros):
    if np.ndim(seq_of_zeros) == 2:
        seq_of_zeros = np.linalg.eigvals(seq_of_zeros)
    found = np.ones(1)
    for i in range(np.size(seq_of_zeros)):
        root = _row(seq_of_zeros)[i]
        found = np.concatenate((found, np.zeros(1))) - root * np.concatenate((np.zeros(1), found))
    return found


def _slopes_of_roots(ret, p):
    return np.polyval(np.polyder(p), ret)


def _roots_jvp(t, ret, p):
    return -np.polyval(t, ret) / _slopes_of_roots(ret, p)


def _roots_vjp(d, ret, p):
    powers = ret[:, None] ** np.arange(np.shape(p)[0] - 1, -1, -1)
    by_root = -powers / _slopes_of_roots(ret, p)[:, None]
    return np.sum(d[:, None] * np.conj(by_root), axis=0)


# ---- fits ----------------------------------------------------------------------------------


def _polyfit(x, y, deg, rcond=None, full=False, w=None, cov=False):
    """The coefficients: the normal equations hold of them, which one step of Newton's method from
    the plain coefficients solves for its tangents."""
    if full or cov:
        np.polyfit(x, y, deg, rcond, full, w, cov)  # refused
    plain = _plain_polyfit(primal(x), primal(y), deg, rcond, w=None if w is None else primal(w))
    matrix = np.stack([x**power for power in range(deg, -1, -1)], axis=1)
    if w is not None:
        matrix = matrix * np.reshape(w, (-1, 1))
        y = y * (np.reshape(w, (-1, 1)) if np.ndim(y) == 2 else w)
    scale = np.sqrt(np.sum(primal(matrix) ** 2, axis=0))
    matrix = matrix / scale
    start = (plain.T * scale).T
    left = np.matmul(np.conj(np.transpose(matrix)), y - np.matmul(matrix, start))
    gram = np.matmul(np.conj(np.transpose(matrix)), matrix)
    step = np.linalg.solve(gram, left)
    found = start + step
    return found / (scale if np.ndim(y) == 1 else np.reshape(scale, (-1, 1)))


POLYNOMIALS = takes_lists(
    defined(
        np.polyval,
        _polyval,
        call(floats(4), floats()),
        call(floats(4), floats(2, 3)),
        call(complexes(3), floats(2)),
        call(floats(3), complexes(2)),
        call([floats(), 1.0, floats()], 2.0),
        call(floats(3), [1.0, 2.0]),
    ),
    defined(
        np.polyadd, _polyadd, call(floats(3), floats(2)), call(floats(2), [1.0, 2.0, floats()])
    ),
    defined(np.polysub, _polysub, call(floats(3), floats(2)), call(floats(2), complexes(3))),
    defined(np.polymul, _polymul, call(floats(3), floats(2)), call(complexes(2), floats(3))),
    defined(
        np.polydiv,
        _polydiv,
        call(floats(4), floats(2)),
        call(floats(5), floats(3)),
        call(floats(2), floats(3)),
    ),
    defined(np.polyder, _polyder, call(floats(4)), call(floats(4), 2), call(complexes(3), m=1)),
    defined(
        np.polyint,
        _polyint,
        call(floats(3)),
        call(floats(3), 2, k=floats(2)),
        call(floats(3), k=floats()),
    ),
    defined(np.poly, _poly, call(floats(3)), call([floats(), floats()])),
    smooth(
        np.roots,
        _roots_jvp,
        _roots_vjp,
        lambda rng: (np.array([1.0, -3.0, 1.0, 0.5]),),
        lambda rng: (np.array([2.0, 1.0, 3.0]),),
        call(complexes(4)),
        data=("p",),
    ),
    defined(
        np.polyfit,
        _polyfit,
        call(floats(5), floats(5), 2),
        call(floats(5), floats(5, 2), 1),
        call(floats(4), complexes(4), 1),
        call(floats(5), floats(5), 2, w=spread(5)),
        call(floats(5), floats(5, 2), 1, None, False, spread(5)),
    ),
)
