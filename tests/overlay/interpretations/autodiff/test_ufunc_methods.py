"""The law of ufuncs with rules: keywords and methods are those of numpy, in both modes."""

import numpy as np
import pytest

from overlay.core.target import describe
from overlay.interpretations.autodiff import NotDifferentiable, gradient, jvp
from overlay.interpretations.autodiff.rules import RULES

STEP = 1e-6
FLAGS = np.array([[True, False, True], [True, True, False]])
BINARY = [
    pytest.param(rule, ufunc, id=describe(ufunc))
    for rule in RULES
    for ufunc in rule.spellings
    if isinstance(ufunc, np.ufunc) and ufunc.nin == 2 and not rule.constant
]
UNARY = [
    pytest.param(rule, ufunc, id=describe(ufunc))
    for rule in RULES
    for ufunc in rule.spellings
    if isinstance(ufunc, np.ufunc) and ufunc.nin == 1
]


def into_zeros(function, *args, **named):
    made = np.zeros(np.shape(args[0]))
    returned = function(*args, out=made, **named)
    assert returned is made
    return made


def reducing(ufunc, a):
    return lambda _, out: ufunc.reduce(a, out=out)


def at(ufunc, indices):
    def program(a, b):
        copy = np.array(a)
        ufunc.at(copy, indices, np.ravel(b)[: len(np.ravel(copy[indices]))])
        return copy

    return program


# numpy 2.4 skips numbers where it reduces powers along an axis that lies together in memory
# fmt: off
METHODS = {
    "reduce":            lambda u: lambda a, b: u.reduce(a),
    "reduce last":       lambda u: lambda a, b: u.reduce(np.transpose(a), axis=-1),
    "reduce, kept":      lambda u: lambda a, b: u.reduce(np.transpose(a), 1, keepdims=True),
    "reduce from":       lambda u: lambda a, b: u.reduce(a, initial=b[0, 0]),
    "reduce into":       lambda u: lambda a, b: into_zeros(reducing(u, a), a[0]),
    "accumulate":        lambda u: lambda a, b: u.accumulate(a),
    "accumulate last":   lambda u: lambda a, b: u.accumulate(a, axis=1),
    "outer":             lambda u: lambda a, b: u.outer(a, b[0]),
    "outer, constant":   lambda u: lambda a, b: u.outer([1.5, 0.7], a),
    "reduceat":          lambda u: lambda a, b: u.reduceat(a, [0, 2, 1], axis=1),
    "at":                lambda u: at(u, ([0, 1], [1, 2])),
    "at, twice":         lambda u: at(u, ([0, 0, 1], [1, 1, 2])),
    "at, slices":        lambda u: at(u, (slice(None), 1)),
    "out":               lambda u: lambda a, b: into_zeros(u, a, b),
    "out, where":        lambda u: lambda a, b: into_zeros(u, a, b, where=FLAGS),
    "dtype":             lambda u: lambda a, b: u(a, b, dtype=float, casting="same_kind"),
}
# fmt: on


def at_point(rule, rng):
    """Two matrices within the bounds of a rule."""
    bounds = [(max(low, 0.3), min(high, 1.9)) for low, high in rule.domain]
    bounds = [
        pair if pair[0] < pair[1] else given
        for pair, given in zip(bounds, rule.domain, strict=True)
    ]
    return [rng.uniform(low, high, (2, 3)) for low, high in bounds]


def compare(f, floats, rng):
    """Compare tangents with differences, and cotangents with tangents."""
    tangents = [rng.normal(size=np.shape(x)) for x in floats]
    value, found = jvp(f, floats, tangents)
    there = f(*(x + STEP * t for x, t in zip(floats, tangents, strict=True)))
    here = f(*(x - STEP * t for x, t in zip(floats, tangents, strict=True)))
    assert np.allclose(value, f(*floats), rtol=1e-12, equal_nan=True)
    with np.errstate(invalid="ignore"):
        expected = (there - here) / (2 * STEP)
    assert np.allclose(found, expected, rtol=2e-5, atol=1e-6, equal_nan=True)
    weights = rng.normal(size=np.shape(value))
    pulled = gradient(lambda *given: np.sum(f(*given) * weights), mode="reverse")(*floats)
    pulled = pulled if isinstance(pulled, tuple) else (pulled,)
    by_cotangents = sum(np.sum(d * t) for d, t in zip(pulled, tangents, strict=True))
    assert np.isclose(by_cotangents, np.sum(weights * found), rtol=1e-8, equal_nan=True)


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize(("rule", "ufunc"), BINARY)
def test_methods_of_binary_ufuncs(rule, ufunc, name):
    f = METHODS[name](ufunc)
    rng = np.random.default_rng(5)
    point = at_point(rule, rng)
    try:
        with np.errstate(all="ignore"):
            f(*point)
    except (ValueError, TypeError) as error:
        with pytest.raises(type(error)):  # numpy's own
            jvp(f, point, point)
        return
    with np.errstate(all="ignore"):
        compare(f, point, rng)


@pytest.mark.parametrize(("rule", "ufunc"), UNARY)
def test_keywords_and_at_of_unary_ufuncs(rule, ufunc):
    low, high = rule.domain[0]
    rng = np.random.default_rng(6)
    x = rng.uniform(low, high, (2, 3))

    def program(a):
        copy = np.array(a)
        ufunc.at(copy, ([0, 1], [1, 2]))
        return copy + into_zeros(ufunc, a, where=FLAGS)

    compare(program, [x], rng)


# fmt: off
REDUCTIONS = {
    "flags":          lambda a: np.multiply.reduce(a, where=FLAGS),
    "all axes":       lambda a: np.multiply.reduce(a, axis=(0, 1)),
    "no axis":        lambda a: np.maximum.reduce(a, axis=None),
    "sum of flags":   lambda a: np.add.reduce(a, axis=1, where=FLAGS, initial=2.0),
    "kept":           lambda a: np.minimum.reduce(a, axis=(0, 1), keepdims=True),
    "none chosen":    lambda a: np.multiply.reduce(a, axis=1, where=False) + np.sum(a),
    "empty":          lambda a: np.multiply.reduce(a[:0]) + np.sum(a),
    "in place":       lambda a: in_place(np.array(a), a),
    "whole":          lambda a: np.add.reduce(a, dtype=int) * a,
    "casting":        lambda a: np.add(a, a, dtype=int, casting="unsafe") * a,
    "plain into":     lambda a: np.add(FLAGS, 1.0, out=np.zeros((2, 3))) * a,
}
# fmt: on


def in_place(b, a):
    b += a[0]
    b[0] *= a[1]
    b[:, 1] -= b[0, 0] * 2
    b[1] /= a[0]
    b[0] **= 2
    return b


@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_and_operators_in_place(name):
    rng = np.random.default_rng(7)
    compare(REDUCTIONS[name], [rng.uniform(1.1, 1.9, (2, 3))], rng)


@pytest.mark.parametrize(
    "f",
    [
        lambda a: np.add(a, a, where=a > 1.5),
        lambda a: np.nextafter.outer(a, a),
        np.nextafter.reduce,
    ],
)
def test_the_rest_is_refused(f):
    with pytest.raises(NotDifferentiable, match="no derivative is known of"):
        gradient(lambda a: np.sum(f(a)))(np.array([1.2, 1.7]))


def test_programs_compose_methods():
    def program(v):
        table = np.multiply.outer(v, v)
        np.add.at(table, ([0, 0, 1], [1, 1, 2]), v)
        total = np.zeros(3)
        np.add.reduce(table, axis=1, out=total)
        return np.sum(np.maximum.accumulate(total) ** 2)

    x = np.array([0.7, 1.3, 0.4])
    steps = STEP * np.eye(3)
    expected = [(program(x + s) - program(x - s)) / (2 * STEP) for s in steps]
    for mode in ("forward", "reverse"):
        assert np.allclose(gradient(program, mode=mode)(x), expected, rtol=1e-6)


INTO = {
    "by name": lambda a, b: np.multiply(a, a, out=b),
    "by place": lambda a, b: np.multiply(a, a, b),
    "itself": lambda a, b: (np.multiply(a, a, out=a), np.copyto(b, a)),
    "divided": lambda a, b: np.divide(a, np.exp(a), out=b),
    "of one argument": lambda a, b: np.sin(a, b),
    "one number": lambda a, b: np.multiply(a[0], a[1], out=b[...][0:1].reshape(1)),
}


@pytest.mark.parametrize("mode", ["forward", "reverse"])
@pytest.mark.parametrize("name", INTO)
def test_results_are_written_into_arrays_that_the_program_makes(name, mode):
    def program(x):
        a, b = np.zeros(2), np.zeros(2)
        a[0], a[1] = x, 2 * x
        INTO[name](a, b)
        return np.sum(b)

    expected = (program(0.7 + STEP) - program(0.7 - STEP)) / (2 * STEP)
    assert gradient(program, mode=mode)(0.7) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize("mode", ["forward", "reverse"])
def test_results_are_written_into_an_array_without_axes(mode):
    def program(x):
        total = np.zeros(())
        np.sum(np.array([x, x * x]), out=total)
        return total * 2.0

    assert gradient(program, mode=mode)(0.7) == pytest.approx(4.8)
