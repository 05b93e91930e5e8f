"""Rules of products of arrays."""

import operator

import numpy as np

from overlay.interpretations.autodiff.rules.array_rule import (
    constant,
    defined,
    linear,
    multilinear,
    takes_lists,
)
from overlay.interpretations.autodiff.rules.drawn_calls import call, complexes, floats

__all__ = ["PRODUCTS", "summed_to"]


def summed_to(d, shape):
    """A cotangent summed over the axes that were broadcast from a shape."""
    while np.ndim(d) > len(shape):
        d = np.sum(d, axis=0)
    for axis, length in enumerate(shape):
        if length == 1 and d.shape[axis] != 1:
            d = np.sum(d, axis=axis, keepdims=True)
    return d


def _matmul_a(d, ret, a, b):
    first, second = len(np.shape(a)), len(np.shape(b))
    if second == 1:
        found = np.expand_dims(d, -1) * np.conj(b) if first > 1 else d * np.conj(b)
    elif first == 1:
        found = np.matmul(np.expand_dims(d, -2), np.conj(np.swapaxes(b, -1, -2)))[..., 0, :]
    else:
        found = np.matmul(d, np.conj(np.swapaxes(b, -1, -2)))
    return summed_to(found, np.shape(a))


def _matmul_b(d, ret, a, b):
    first, second = len(np.shape(a)), len(np.shape(b))
    if first == 1:
        found = np.conj(a) * d if second == 1 else np.conj(a)[:, None] * np.expand_dims(d, -2)
    elif second == 1:
        found = np.matmul(np.conj(np.swapaxes(a, -1, -2)), np.expand_dims(d, -1))[..., 0]
    else:
        found = np.matmul(np.conj(np.swapaxes(a, -1, -2)), d)
    return summed_to(found, np.shape(b))


# ---- contractions of axes ------------------------------------------------------------------


def _contracted(a, b, axes):
    """The axes of both that ``np.tensordot`` sums over."""
    if isinstance(axes, (int, np.integer)):
        return list(range(np.ndim(a) - axes, np.ndim(a))), list(range(axes))
    of_a, of_b = axes
    of_a = [of_a] if isinstance(of_a, (int, np.integer)) else list(of_a)
    of_b = [of_b] if isinstance(of_b, (int, np.integer)) else list(of_b)
    return [k % np.ndim(a) for k in of_a], [k % np.ndim(b) for k in of_b]


def _tensordot_a(d, ret, a, b, axes=2):
    of_a, of_b = _contracted(a, b, axes)
    free_a = [k for k in range(np.ndim(a)) if k not in of_a]
    free_b = [k for k in range(np.ndim(b)) if k not in of_b]
    ends = list(range(len(free_a), len(free_a) + len(free_b)))
    found = np.tensordot(d, np.conj(b), (ends, free_b))  # axes of b that remain are in order
    order = free_a + [of_a[of_b.index(k)] for k in sorted(of_b)]
    return np.transpose(found, np.argsort(order))


def _tensordot_b(d, ret, a, b, axes=2):
    of_a, of_b = _contracted(a, b, axes)
    free_a = [k for k in range(np.ndim(a)) if k not in of_a]
    free_b = [k for k in range(np.ndim(b)) if k not in of_b]
    found = np.tensordot(np.conj(a), d, (free_a, list(range(len(free_a)))))
    order = [of_b[of_a.index(k)] for k in sorted(of_a)] + free_b
    return np.transpose(found, np.argsort(order))


def _scalar_product(d, a, b):
    """The cotangent of ``a`` in its product with ``b``, of which one is a number."""
    found = d * np.conj(b)
    return np.sum(found) if np.ndim(a) == 0 else found


def _axes_of_dot(a, b):
    return [np.ndim(a) - 1], [max(np.ndim(b) - 2, 0)]


def _dot_a(d, ret, a, b, out=None):
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return _scalar_product(d, a, b)
    return _tensordot_a(d, ret, a, b, _axes_of_dot(a, b))


def _dot_b(d, ret, a, b, out=None):
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return _scalar_product(d, b, a)
    return _tensordot_b(d, ret, a, b, _axes_of_dot(a, b))


def _inner_a(d, ret, a, b):
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return _scalar_product(d, a, b)
    return _tensordot_a(d, ret, a, b, ([-1], [-1]))


def _inner_b(d, ret, a, b):
    if np.ndim(a) == 0 or np.ndim(b) == 0:
        return _scalar_product(d, b, a)
    return _tensordot_b(d, ret, a, b, ([-1], [-1]))


def _vdot_a(d, ret, a, b):
    return np.reshape(np.conj(d) * np.ravel(b), np.shape(a))


def _vdot_b(d, ret, a, b):
    return np.reshape(d * np.ravel(a), np.shape(b))


def _outer_a(d, ret, a, b, out=None):
    return np.reshape(np.matmul(d, np.conj(np.ravel(b))), np.shape(a))


def _outer_b(d, ret, a, b, out=None):
    return np.reshape(np.matmul(np.conj(np.ravel(a)), d), np.shape(b))


def _blocks(d, a, b):
    """The shapes of both with as many axes, and a Kronecker product with axes of both in turn."""
    ndim = max(np.ndim(a), np.ndim(b))
    of_a = [1] * (ndim - np.ndim(a)) + list(np.shape(a))
    of_b = [1] * (ndim - np.ndim(b)) + list(np.shape(b))
    turns = [n for pair in zip(of_a, of_b, strict=True) for n in pair]
    return of_a, of_b, np.reshape(d, turns)


def _kron_a(d, ret, a, b):
    _, of_b, blocks = _blocks(d, a, b)
    by_b = np.reshape(np.conj(b), [n for m in of_b for n in (1, m)])
    found = np.sum(blocks * by_b, axis=tuple(range(1, 2 * len(of_b), 2)))
    return np.reshape(found, np.shape(a))


def _kron_b(d, ret, a, b):
    of_a, _, blocks = _blocks(d, a, b)
    by_a = np.reshape(np.conj(a), [n for m in of_a for n in (m, 1)])
    found = np.sum(blocks * by_a, axis=tuple(range(0, 2 * len(of_a), 2)))
    return np.reshape(found, np.shape(b))


def _cross(a, b, axisa=-1, axisb=-1, axisc=-1, axis=None):
    if axis is not None:
        axisa = axisb = axisc = axis
    a, b = np.moveaxis(a, axisa, -1), np.moveaxis(b, axisb, -1)
    if np.shape(a)[-1] not in (2, 3) or np.shape(b)[-1] not in (2, 3):
        raise ValueError("incompatible dimensions for cross product\n(dimension must be 2 or 3)")
    last = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    if np.shape(a)[-1] == 2 and np.shape(b)[-1] == 2:
        return last
    a2, b2 = (x[..., 2] if np.shape(x)[-1] == 3 else 0.0 for x in (a, b))
    first, second = a[..., 1] * b2 - a2 * b[..., 1], a2 * b[..., 0] - a[..., 0] * b2
    return np.moveaxis(np.stack((first, second, last), axis=-1), -1, axisc)


def _linalg_cross(x1, x2, /, *, axis=-1):
    return np.cross(x1, x2, axis=axis)


def _trace_vjp(d, ret, a, offset=0, axis1=0, axis2=1, dtype=None, out=None):
    shape = np.shape(a)
    ones = np.eye(shape[axis1], shape[axis2], offset)
    return np.moveaxis(np.expand_dims(d, (-1, -2)) * ones, (-2, -1), (axis1, axis2))


# ---- convolutions --------------------------------------------------------------------------


def _whole(d, a, v, mode, swapped):
    """A cotangent of a full convolution. swapped: whether a result in another mode is cut out of
    its reverse, as that of ``np.correlate`` is where the second is longer."""
    count, less = np.size(a) + np.size(v) - 1, min(np.size(a), np.size(v))
    start = {"full": 0, "same": less - 1 - less // 2, "valid": less - 1}[mode]
    if swapped:
        start = count - start - np.size(d)
    ends = np.zeros(start), np.zeros(count - start - np.size(d))
    return np.concatenate((ends[0], d, ends[1]))


def _mode(mode):
    return {0: "valid", 1: "same", 2: "full", "v": "valid", "s": "same", "f": "full"}.get(
        mode, mode
    )


def _convolve_a(d, ret, a, v, mode="full"):
    whole = _whole(d, a, v, _mode(mode), False)
    return np.reshape(np.correlate(whole, np.ravel(v), "valid"), np.shape(a))


def _convolve_v(d, ret, a, v, mode="full"):
    return _convolve_a(d, ret, v, a, mode)


def _correlate_a(d, ret, a, v, mode="valid"):
    whole = _whole(d, a, v, _mode(mode), np.size(v) > np.size(a))
    return np.reshape(np.convolve(whole, np.ravel(v), "full"), (-1,))[
        np.size(v) - 1 : np.size(v) - 1 + np.size(a)
    ]


def _correlate_v(d, ret, a, v, mode="valid"):
    whole = _whole(d, a, v, _mode(mode), np.size(v) > np.size(a))
    # in the convolution of a with the conjugate of v in reverse
    return np.conj(np.correlate(whole, np.ravel(a), "valid"))[::-1]


# ---- einsum --------------------------------------------------------------------------------


def _labels(text, ndim, names, most):
    """The labels of an operand's axes: letters, and numbers for the axes of an ellipsis."""
    text = text.replace("...", ".")
    rest = ndim - (len(text) - text.count("."))
    dots = [f"dots {k}" for k in range(most - rest, most)]
    found = []
    for letter in text:
        found += dots if letter == "." else [letter]
    return [names.setdefault(each, len(names)) for each in found]


def _parsed(operands):
    """The operands, the labels of the axes of each, and those of the result; how to put cotangents
    in the places of the operands."""
    if isinstance(operands[0], str):
        text, arrays = operands[0].replace(" ", ""), list(operands[1:])
        places = range(1, len(operands))
    else:
        arrays = list(operands[: len(operands) // 2 * 2 : 2])
        lists = [*operands[1::2], *([operands[-1]] if len(operands) % 2 else [])]
        texts = ["".join("." if k is ... else chr(0x4E00 + k) for k in each) for each in lists]
        text = ",".join(texts[: len(arrays)])
        if len(operands) % 2:
            text += "->" + texts[-1]
        places = range(0, len(arrays) * 2, 2)
    text = text.replace("...", ".")
    given, arrow, result = text.partition("->")
    inputs = given.split(",")
    rests = [
        np.ndim(x) - len(each) + 1 for each, x in zip(inputs, arrays, strict=True) if "." in each
    ]
    most = max(rests, default=0)
    if not arrow:
        letters = given.replace(",", "").replace(".", "")
        result = "." * ("." in given) + "".join(
            sorted(each for each in set(letters) if letters.count(each) == 1)
        )
    names = {}
    labels = [
        _labels(each, np.ndim(x), names, most) for each, x in zip(inputs, arrays, strict=True)
    ]
    own = _labels(result, most + len(result.replace(".", "")), names, most)
    return arrays, labels, own, list(places)


def _einsum_vjp(d, ret, *operands, **named):
    arrays, labels, result, places = _parsed(operands)
    changes = [list(x) if isinstance(x, (list, tuple)) else None for x in operands]
    for i, place in enumerate(places):
        changes[place] = _of_operand(d, i, arrays, labels, result)
    return changes


def _of_operand(d, i, arrays, labels, result):
    own = list(dict.fromkeys(labels[i]))
    given = [d, result]
    for k, (x, its) in enumerate(zip(arrays, labels, strict=True)):
        if k != i:
            given += [np.conj(x), its]
    known = [k for k in own if any(k in its for its in given[1::2])]
    found = np.einsum(*given, known, optimize=len(given) > 4)
    lengths = dict(zip(labels[i], np.shape(arrays[i]), strict=True))
    # axes of length 1 that were broadcast
    wide = [k for k, n in zip(known, np.shape(found), strict=True) if n != 1 and lengths[k] == 1]
    found = np.sum(found, axis=tuple(known.index(k) for k in wide), keepdims=True)
    # axes that were summed over alone
    found = np.reshape(found, [np.shape(found)[known.index(k)] if k in known else 1 for k in own])
    found = np.broadcast_to(found, [lengths[k] for k in own])
    if len(own) == len(labels[i]):
        return found
    whole = np.zeros(np.shape(arrays[i]), found.dtype)  # a diagonal
    grid = np.meshgrid(*(np.arange(n) for n in np.shape(found)), indexing="ij")
    whole[tuple(grid[own.index(k)] for k in labels[i])] = found
    return whole


# ---- products of rows ----------------------------------------------------------------------


def _vecdot(x1, x2, axis=-1):
    return np.sum(np.conj(np.moveaxis(x1, axis, -1)) * np.moveaxis(x2, axis, -1), axis=-1)


def _matvec(x1, x2):
    return np.matmul(x1, x2[..., None])[..., 0]


def _vecmat(x1, x2):
    return np.matmul(np.conj(x1)[..., None, :], x2)[..., 0, :]


def _both(*pairs):
    return [
        call(first(*a), second(*b))
        for a, b in pairs
        for first, second in ((floats, floats), (complexes, complexes), (floats, complexes))
    ]


def _einsum_samples():
    texts = (
        ("ij,jk->ik", (2, 3), (3, 2)),
        ("ij,jk", (2, 3), (3, 2)),
        ("ij->ji", (2, 3)),
        ("ii->i", (3, 3)),
        ("ii", (3, 3)),
        ("ij->", (2, 3)),
        ("...ij,...jk->...ik", (2, 2, 3), (3, 2)),
        ("i,j,ij->", (2,), (3,), (2, 3)),
        ("...i,...i", (2, 3), (2, 3)),
        ("ij,kj->ik", (2, 1), (2, 3)),
        ("iij,j->ij", (2, 2, 3), (3,)),
        ("i,j->ij", (2,), (3,)),
        ("ij, j -> i", (2, 3), (3,)),
        ("ij,kl->k", (2, 2), (3, 2)),
    )
    for text, *shapes in texts:
        yield call(text, *(floats(*shape) for shape in shapes))
        yield call(text, *(complexes(*shape) for shape in shapes))
    yield call("ij,jk,kl->il", floats(2, 3), floats(3, 2), floats(2, 2), optimize=True)
    yield call(floats(2, 3), [0, 1], floats(3, 2), [1, 2], [0, 2])
    yield call(floats(2, 3), [0, 1], floats(3, 2), [1, 2])
    yield call(floats(2, 3), [..., 1], floats(3), [1], [...])


PRODUCTS = (
    *takes_lists(
        multilinear(
            np.dot,
            (_dot_a, _dot_b),
            *_both(
                ((2, 3), (3, 2)),
                ((3,), (3,)),
                ((2, 3), (3,)),
                ((3,), (3, 2)),
                ((2, 2, 3), (2, 3, 2)),
                ((), (3,)),
                ((2, 2), ()),
            ),
            compiled=(1, 1),
        ),
        multilinear(
            np.vdot,
            (_vdot_a, _vdot_b),
            *_both(((3,), (3,)), ((2, 3), (2, 3))),
            parameters="a, b",
            compiled=(1, 1),
        ),
        multilinear(
            np.inner,
            (_inner_a, _inner_b),
            *_both(((3,), (3,)), ((2, 3), (4, 3)), ((2, 3), (3,)), ((), (3,))),
            parameters="a, b",
            compiled=(1, 1),
        ),
        multilinear(
            np.outer, (_outer_a, _outer_b), *_both(((3,), (2,)), ((2, 2), (3,))), compiled=(1, 1)
        ),
        multilinear(
            np.kron,
            (_kron_a, _kron_b),
            *_both(((2, 3), (3, 2)), ((2,), (3,)), ((2,), (2, 3)), ((2, 1, 2), (3, 2))),
            compiled=(1, 1),
        ),
        multilinear(
            np.tensordot,
            (_tensordot_a, _tensordot_b),
            call(floats(2, 3, 4), floats(3, 4, 2)),
            call(complexes(2, 3), complexes(3, 2), 1),
            call(floats(2), floats(3), axes=0),
            call(floats(2, 3, 4), floats(4, 5, 3), axes=((1, 2), (2, 0))),
            call(floats(2, 3, 4), floats(4, 5, 3), axes=([2, -2], [0, -1])),
            call(floats(2, 3), floats(5, 3), axes=(1, 1)),
        ),
        defined(
            np.cross,
            _cross,
            *_both(((3,), (3,)), ((2, 3), (3,))),
            call(floats(3, 2), floats(3, 2), axis=0),
            call(floats(3, 2), floats(2, 3), axisa=0, axisc=0),
        ),
        multilinear(
            np.convolve,
            (_convolve_a, _convolve_v),
            *(
                call(kind(n), kind(m), mode=mode)
                for mode in ("full", "same", "valid")
                for kind in (floats, complexes)
                for n, m in ((5, 3), (5, 4), (2, 5), (3, 3))
            ),
            data=("a", "v"),
            compiled=(1, 1),
        ),
        multilinear(
            np.correlate,
            (_correlate_a, _correlate_v),
            *(
                call(kind(n), kind(m), mode=mode)
                for mode in ("full", "same", "valid")
                for kind in (floats, complexes)
                for n, m in ((5, 3), (5, 4), (2, 5), (3, 3))
            ),
            data=("a", "v"),
        ),
        linear(
            np.trace,
            _trace_vjp,
            call(floats(3, 3)),
            call(floats(3, 4), 1),
            call(complexes(2, 3), -1),
            call(floats(2, 3, 4), 0, 1, 2),
            call(floats(2, 3, 4), axis1=2, axis2=0),
            compiled=(0, 0),
        ),
    ),
    *takes_lists(
        multilinear(
            np.matmul,
            (_matmul_a, _matmul_b),
            *_both(
                ((2, 3), (3, 2)),
                ((3,), (3, 2)),
                ((2, 3), (3,)),
                ((3,), (3,)),
                ((2, 2, 3), (3, 2)),
                ((3, 2), (4, 2, 2)),
            ),
            parameters="a, b",
            also=(operator.matmul,),
            compiled=(1, 1),
        ),
        multilinear(
            np.einsum,
            (_einsum_vjp,),
            *_einsum_samples(),
            call("i,i", floats(2), [floats(), 3.0]),
            data=("operands",),
            parameters="*operands, out=None, optimize=False, **kwargs",
        ),
    ),
    constant(np.einsum_path, call("ij,jk", floats(2, 3), floats(3, 2)), data=("operands",)),
    *(
        defined(getattr(np, name), by, *_both(*pairs))
        for name, by, pairs in (
            ("vecdot", _vecdot, (((2, 3), (2, 3)), ((3,), (2, 3)))),
            ("matvec", _matvec, (((2, 3), (3,)), ((2, 3), (4, 3)))),
            ("vecmat", _vecmat, (((2,), (2, 3)), ((4, 2), (2, 3)))),
        )
        if hasattr(np, name)
    ),
    *(
        defined(np.linalg.cross, _linalg_cross, call(floats(3), floats(2, 3)))
        for _ in range(hasattr(np.linalg, "cross"))
    ),
)
