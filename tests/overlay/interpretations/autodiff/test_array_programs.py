"""Programs with functions of arrays that write, iterate and call back: forward and in reverse."""

import numpy as np
import pytest

from overlay.interpretations.autodiff import gradient

X = np.array([1.6, 0.7, 2.5, -1.1, 3.2, 0.9])
W = np.arange(1.0, 7.0)
ROWS = np.array([[0], [1], [0]])


def written(write):
    """A program that writes into a copy, and weighs its elements."""

    def program(v):
        a = np.array(v * v)
        write(a, v)
        return np.sum(a * W * a)

    return program


def matrix(write):
    def program(v):
        a = np.reshape(v * v, (3, 2)) * 1.0
        write(a, v)
        return np.sum(a * np.reshape(W, (3, 2)) * a)

    return program


# fmt: off
WRITES = {
    "put":             written(lambda a, v: np.put(a, [0, -1], v[:2])),
    "put, repeated":   written(lambda a, v: np.put(a, [0, 4, 2], v[1])),
    "put, wrapped":    written(lambda a, v: np.put(a, [7], [v[2]], mode="wrap")),
    "put, constants":  written(lambda a, v: np.put(a, [1, 2], [1.0, 2.0])),
    "place":           written(lambda a, v: np.place(a, a > 1.0, v[:2])),
    "putmask":         written(lambda a, v: np.putmask(a, a > 1.0, v[:4])),
    "copyto":          written(lambda a, v: np.copyto(a, v[::-1])),
    "copyto, where":   written(lambda a, v: np.copyto(a, v[0], where=v > 1.0)),
    "put along axis":  matrix(lambda a, v: np.put_along_axis(a, ROWS, v[1], 1)),
    "fill diagonal":   matrix(lambda a, v: np.fill_diagonal(a, v[1])),
    "fill diagonal with several": matrix(lambda a, v: np.fill_diagonal(a, v[:2])),
    "fill diagonal, wrapped": matrix(lambda a, v: np.fill_diagonal(a[:, :1], v[2], wrap=True)),
    "method put":      written(lambda a, v: a.put([0, 2], v[:2])),
    "flat":            written(lambda a, v: a.flat.__setitem__(1, v[0])),
    "flat slice":      matrix(lambda a, v: a.flat.__setitem__(slice(1, 4), v[:3])),
    "a view":          written(lambda a, v: np.put(a[1:4], [0], v[5])),
    "split view":      written(lambda a, v: np.split(a, 2)[1].fill(v[0])),
}
# fmt: on


def in_jacobian(v):
    a = np.full((2, 2), v[0])
    a[0, 1] = v[1] * v[2]
    return np.sum(a @ a)


def with_step(v):
    return np.sum(np.arange(v[0], 3.9 * v[2], v[1]) ** 2) + np.sum(np.arange(v[0], 9.3)) * v[1]


def by_element(v):
    return np.sum(np.vectorize(lambda a, b: a * b if a > 1 else a - b)(v, v[0]) * W)


def two_results(v):
    first, second = np.vectorize(lambda a: (a * a, 2 * a))(v)
    return np.sum(first * second)


def decorated(v):
    pair = np.vectorize(lambda a, b: a * b[0], excluded=[1])
    return np.sum(pair(np.reshape(v, (2, 3)), v[:2]))


# fmt: off
PROGRAMS = {
    "full":             in_jacobian,
    "full, constant":   lambda v: np.sum(np.full(6, 2.0) * v) + np.full(2, v[0] * v[1])[1],
    "full_like":        lambda v: np.sum(np.full_like(v, v[1]) * v * np.full_like(W, v[0])),
    "full_like, constant": lambda v: np.sum(np.full_like(v, 3) * v),
    "arange":           with_step,
    "vectorize":        by_element,
    "vectorize, two":   two_results,
    "vectorize, excluded": decorated,
    "ndenumerate":      lambda v: sum(a * a * i[0] for i, a in np.ndenumerate(v)),
    "ndenumerate of a matrix": lambda v: sum(
        a * a * (2 * i + j) for (i, j), a in np.ndenumerate(np.reshape(v, (2, 3)))),
    "nditer":           lambda v: sum(a * a for a in np.nditer(v)),
    "flat":             lambda v: sum(a * a for a in np.reshape(v, (2, 3)).flat) + v.flat[2],
    "item":             lambda v: v[1:2].item() * v.item(2) * np.reshape(v, (2, 3)).item(1, 1),
    "tolist":           lambda v: sum(a * b for a, b in np.reshape(v, (3, 2)).tolist()),
    "methods":          lambda v: np.sum(v.reshape(2, 3).swapaxes(0, 1).repeat(2, 0).take([1, 3])
                                         * v.reshape(1, 2, 3).squeeze().transpose(1, 0)[0, 1]),
    "compress":         lambda v: np.sum(v.compress(v > 1.0) ** 2) + np.sum(v.astype(float) ** 3),
    "indices":          lambda v: np.sum(v.astype(int)[:3] * v[:3]),
    "split and stack":  lambda v: np.sum(np.vstack(np.split(v, 3)) @ np.array_split(v, 3)[1]),
    "lists":            lambda v: np.sum(np.hstack([[v[0], 1.0], v[1:] * v[0]]) * 2.0) ** 2,
    "constants":        lambda v: np.sum(np.linspace(0.0, 1.0, 6) * v * np.insert(W, 2, 1.0)[1:]),
}
# fmt: on


def slopes(f, x, step=1e-5):
    moves = step * np.eye(len(x))
    return np.array([(f(x + move) - f(x - move)) / (2 * step) for move in moves])


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("name", WRITES)
def test_writes_by_functions_of_numpy(name, mode):
    f = WRITES[name]
    assert np.allclose(gradient(f, mode=mode)(X), slopes(f, X), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_that_make_arrays_and_iterate(name, mode):
    f = PROGRAMS[name]
    assert np.allclose(gradient(f, mode=mode)(X), slopes(f, X), rtol=1e-6, atol=1e-6)
